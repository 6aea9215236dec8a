"""A repository of a sandbox as the host sees it, who reviews what an agent did.

The agent may have written every byte of the repository, so nothing in it may decide what the host
gets to see. Of the configuration only what the format needs is read: no external programs, no
`diff.*`, no `core.worktree`. The worktree is compared by its contents: the index and what it claims
about files (`stat`, assume-unchanged) only says which ignored files are tracked. Of the ignore
rules only those in files of the worktree hold, which are part of the difference themselves.
Contents have the names that they claim (`ObjectStore` checks each), and `.git/shallow` hides no
parent that is there. What a name such as "main" means is still the agent's choice; an object's full
name means one commit.
"""

from __future__ import annotations

from agentsandbox.git.attributes import Attributes
from agentsandbox.git.diff.options import DiffOptions
from agentsandbox.git.diff.printing import DiffPrinter
from agentsandbox.git.errors import Fatal
from agentsandbox.git.history import Walk
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import NULL, SUBMODULE
from agentsandbox.git.patch_mails import (
    mail_header,
    mail_options,
    patch_name,
    subject_mark,
    write_patch_mail,
)
from agentsandbox.git.revisions import Resolver
from agentsandbox.git.trees import Delta, diff_trees, flat_tree
from agentsandbox.git.worktree import Worktree, mode_of, scan_worktree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.git.attributes import State
    from agentsandbox.git.diff.printing import FileStat
    from agentsandbox.git.objects import Commit
    from agentsandbox.git.repository import Repository

_SETTINGS = {"core.repositoryformatversion", "core.bare", "core.autocrlf", "core.eol"}
_ENV = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "",
    "GIT_COMMITTER_NAME": "host",
    "GIT_COMMITTER_EMAIL": "host",
}


class NoRepository(Fatal):
    """There is no repository at a path or above it."""

    def __init__(self, path: str) -> None:
        super().__init__(f"there is no git repository at '{path}'")


class UnknownRevision(Fatal):
    """A text names no commit of the repository."""

    def __init__(self, text: str) -> None:
        super().__init__(f"'{text}' is not a commit of the repository")


# TM-GIT-8
class HostView:
    """What the host asks about one repository."""

    def __init__(self, ctx: CommandContext, path: str) -> None:
        git = _HostInvocation(ctx, dict(_ENV), path)
        repository = git.find_repository()
        if repository is None:
            raise NoRepository(path)
        repository.keep_real_parents()
        self._git = git
        self._repository: Repository = repository

    def _commit(self, text: str) -> str:
        oid = Resolver(self._git).find(text, kind="commit") if text else None
        if oid is None or oid not in self._repository.objects:
            raise UnknownRevision(text)
        commit = self._repository.objects.peel(oid, "commit")
        if commit is None:
            raise UnknownRevision(text)
        return commit

    def commits(self, base: str | None, head: str) -> list[Commit]:
        """Return the commits that are reached from `head` and not from `base`, newest first."""
        objects = self._repository.objects
        if base is None and head == "HEAD" and self._repository.head() is None:
            return []
        return [objects.commit(oid) for oid in self._walk(base, head).run()]

    def _walk(self, base: str | None, head: str) -> Walk:
        walk = Walk(self._repository)
        walk.tips = [self._commit(head)]
        walk.hidden = [] if base is None else [self._commit(base)]
        walk.order = "topo"
        return walk

    def patches(self, base: str, head: str) -> Iterator[tuple[str, str, bytes]]:
        """Yield (commit, file's name, mail) for each commit that is not a merge, oldest first."""
        git, repository = self._git, self._repository
        walk = self._walk(base, head)
        walk.most_parents = 1
        walk.reverse = True
        found = list(walk.run())
        total = len(found) if len(found) > 1 else 0
        for number, oid in enumerate(found, 1):
            commit = repository.objects.commit(oid)
            header = mail_header(commit, subject_mark(number, total))
            mail = git.collect(
                lambda commit=commit, header=header: write_patch_mail(  # type: ignore[misc]
                    git, commit, header, mail_options(git)
                )
            )
            yield oid, patch_name(commit, number), mail

    def changes(self, base: str, head: str | None) -> tuple[bytes, list[tuple[Delta, FileStat]]]:
        """Return the patch from a commit to another one, or to the worktree, and its files."""
        git, repository = self._git, self._repository
        objects = repository.objects
        old = objects.peel(self._commit(base), "tree")
        options = DiffOptions()
        options.formats.add("patch")
        options.binary = options.full_index = True
        options.renames = 1
        options.color = "never"
        options.ignore_submodules, options.submodule = "none", "short"
        options.configure(git)
        if head is not None:
            printer = DiffPrinter(git, options)
            deltas = diff_trees(objects, old, objects.peel(self._commit(head), "tree"))
        else:
            if repository.worktree is None:
                raise Fatal("a bare repository has no worktree: name the commit to compare with")
            tree = Worktree(repository)
            tree.file_mode = True
            tree.use_own_ignores()
            printer = DiffPrinter(git, options, worktree=tree)
            deltas = self._against_worktree(tree, flat_tree(objects, old))
        printer.attributes = _NoAttributes(repository)
        deltas = printer.prepare(deltas)
        patch = git.collect(lambda: printer.print(deltas))
        return patch, [(delta, printer.stat_of(delta)) for delta in deltas]

    def _against_worktree(self, tree: Worktree, base: dict[bytes, tuple[int, str]]) -> list[Delta]:
        """Return what differs between a tree and the worktree, files that nobody added included."""
        hidden: dict[bytes, Entry] = {}
        tracked = {path: Entry(path, mode, oid) for path, (mode, oid) in base.items()}
        for entry in self._repository.index():
            if entry.skips:
                hidden[entry.path] = entry
            tracked.setdefault(entry.path, Entry(entry.path, entry.mode, entry.oid))
        files = Index()
        for path, entry in tracked.items():
            info = tree.stat(path)
            if info is None or not info.is_dir or entry.mode == SUBMODULE:
                files.set(entry)  # what became a directory hides nothing in it
        untracked = scan_worktree(tree, files, untracked="all").untracked
        found = []
        for path in sorted({*tracked, *untracked}):
            self._git.budget.step()
            mode, oid = base.get(path, (0, NULL))
            new_mode, new_oid = self._now(tree, path, mode, hidden)
            if mode == SUBMODULE and (new_oid == NULL or not new_mode):
                continue  # a submodule that is not checked out
            if (mode, oid) != (new_mode, new_oid):
                found.append(Delta(path, mode, oid, new_mode, new_oid if not new_mode else ""))
                if new_mode and new_mode & 0o170000 == SUBMODULE:
                    found[-1].new_oid = new_oid
        return found

    def _now(
        self, tree: Worktree, path: bytes, known: int, hidden: dict[bytes, Entry]
    ) -> tuple[int, str]:
        """Return (mode, object) of a path in the worktree; (0, NULL) if it is missing."""
        path = path.rstrip(b"/")
        info = tree.stat(path)
        if info is None:
            left_out = hidden.get(path)
            return (left_out.mode, left_out.oid) if left_out is not None else (0, NULL)
        mode = mode_of(info, known=known)
        if mode == SUBMODULE and known != SUBMODULE and tree.head_of_nested(path) is None:
            return 0, NULL
        return (mode, tree.hash(path, info)) if mode else (0, NULL)


class _HostInvocation(Invocation):
    """A call of git that reads only the settings of the format, and keeps its output."""

    def __init__(self, ctx: CommandContext, env: dict[str, str], cwd: str) -> None:
        super().__init__(ctx, env, cwd)
        self.accepts = lambda key: key in _SETTINGS or key.startswith("extensions.")
        self._kept: list[bytes] = []
        self._held = 0

    def write(self, data: bytes) -> None:
        self._held += len(data)
        self.budget.charge(self._held)
        self._kept.append(data)

    def collect(self, work: Callable[[], object]) -> bytes:
        """Return what is written to stdout while `work` runs."""
        self._kept = []
        work()
        return b"".join(self._kept)


class _NoAttributes(Attributes):
    """Attributes that hide nothing: what is text is shown as text."""

    def of(self, path: bytes) -> dict[str, State]:
        return {}
