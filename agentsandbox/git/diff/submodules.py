"""`--submodule=log` and `--submodule=diff`: what changed within a submodule."""

from __future__ import annotations

from agentsandbox.git.errors import GitError
from agentsandbox.git.history import merge_bases
from agentsandbox.git.nested import enter, folder_of, run_git
from agentsandbox.git.objects import EMPTY_TREE, NULL, SUBMODULE
from agentsandbox.git.worktree import MODIFIED, UNTRACKED
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from agentsandbox.git.diff.options import DiffOptions
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.repository import Repository
    from agentsandbox.git.trees import Delta
    from agentsandbox.git.worktree import Worktree

    class Printer(Protocol):
        """What prints the patch around."""

        git: Invocation
        options: DiffOptions

        @property
        def repository(self) -> Repository:
            """Return the repository."""

        worktree: Worktree | None
        color: bool
        prefixes: tuple[str, str]

        def write(self, data: bytes) -> None: ...
        def colored(self, slot: str, text: bytes) -> bytes: ...


def print_submodule(printer: Printer, delta: Delta) -> None:
    """Print the header of a changed submodule, then its commits or its patch."""
    _Printing(printer, delta).run()


class _Printing:
    def __init__(self, printer: Printer, delta: Delta) -> None:
        self.printer = printer
        self.delta = delta
        self.path = delta.new_path if delta.new_mode else delta.old_path
        self.old = self._oid(delta.old_mode, delta.old_oid)
        self.new = self._oid(delta.new_mode, delta.new_oid)
        self.inner = self._open()
        self.left = self._commit(self.old)
        self.right = self._commit(self.new)

    def _oid(self, mode: int, oid: str) -> str:
        if mode != SUBMODULE:
            return NULL
        worktree = self.printer.worktree
        if not oid and worktree is not None:
            return worktree.head_of_nested(self.path) or NULL
        return oid or NULL

    def _open(self) -> Invocation | None:
        """Return an invocation in the submodule, or in its folder if it is not checked out."""
        git, repository = self.printer.git, self.printer.repository
        if repository.worktree is None:
            return None
        path = decode(self.path)
        if folder_of(repository, path) is not None:
            return enter(git, repository.work_path(self.path), quiet=True)
        from agentsandbox.git.modules import module_folder, read_modules
        from agentsandbox.git.repository import is_repository

        module = read_modules(git).at(path)
        if module is None:
            return None
        folder = module_folder(repository, module.name)
        if not is_repository(git.fs, folder):
            return None
        return enter(git, folder, {"GIT_DIR": ".", "GIT_WORK_TREE": "."}, quiet=True)

    def _commit(self, oid: str) -> str | None:
        if self.inner is None or oid == NULL:
            return None
        try:
            objects = self.inner.repository.objects
            return objects.peel(oid, "commit") if oid in objects else None
        except GitError:
            return None

    def run(self) -> None:
        self._header()
        if self.printer.options.submodule == "log":
            if self.left and self.right:
                self._commits()
        elif (self.left or self.old == NULL) and (self.right or self.new == NULL):
            self._patch()

    def _header(self) -> None:
        path, write = decode(self.path), self.printer.write
        if self.delta.dirt & UNTRACKED:
            write(encode(f"Submodule {path} contains untracked content\n"))
        if self.delta.dirt & MODIFIED:
            write(encode(f"Submodule {path} contains modified content\n"))
        message = ""
        if self.old == NULL:
            message = "(new submodule)"
        elif self.new == NULL:
            message = "(submodule deleted)"
        if self.inner is None:
            message = message or "(commits not present)"
        elif (self.old != NULL and not self.left) or (self.new != NULL and not self.right):
            message = "(commits not present)"
        dots, end = "...", ":"
        if self.inner is not None:
            if self.left and self.right:
                bases = merge_bases(self.inner.repository, self.left, [self.right])
                if bases and bases[0] == self.left:
                    dots = ".."
                elif bases and bases[0] == self.right:
                    dots, end = "..", " (rewind):"
            if self.old == self.new:
                return
        abbreviate = self.printer.repository.short
        ids = f"{abbreviate(self.old)}{dots}{abbreviate(self.new)}"
        write(encode(f"Submodule {path} {ids}{f' {message}' if message else end}\n"))

    def _output(self, words: list[str]) -> bytes:
        assert self.inner is not None
        self.inner.sink = []
        status = run_git(self.inner, words)
        out = b"".join(self.inner.sink)
        return out if status == 0 else b""

    def _commits(self) -> None:
        span = f"{self.left}...{self.right}"
        out = self._output(["log", "--no-color", "--first-parent", "--format=  %m %s", span])
        for line in out.splitlines(keepends=True):
            slot = "old" if line.startswith(b"  <") else "new"
            self.printer.write(self.printer.colored(slot, line.rstrip(b"\n")) + b"\n")

    def _patch(self) -> None:
        printer, path = self.printer, decode(self.path)
        one, two = printer.prefixes
        if printer.options.reverse:
            one, two = two, one
        words = [
            "diff", "--submodule=diff", f"--color={'always' if printer.color else 'never'}",
            f"--src-prefix={one}{path}/", f"--dst-prefix={two}{path}/", self.left or EMPTY_TREE,
        ]  # fmt: skip
        if not self.delta.dirt & MODIFIED:
            words.append(self.right or EMPTY_TREE)
        for line in self._output(words).splitlines(keepends=True):
            printer.write(line)
