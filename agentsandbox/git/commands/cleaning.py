"""`git clean`."""

from __future__ import annotations

from functools import partial

from agentsandbox.git.errors import Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import quote_path, relative_to
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.patterns import IgnoreRule, find_rule, parse_ignores
from agentsandbox.git.repository import is_repository
from agentsandbox.git.worktree import Worktree
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "clean": """
git clean [-d] [-f] [-i] [-n] [-q] [-e <pattern>] [-x | -X] [--] [<pathspec>...]

    -q, --quiet           do not print names of files removed
    -n, --dry-run         dry run
    -f, --force           force
    -i, --interactive     is not supported
    -d                    remove whole directories
    -e, --exclude <pattern>
                          add <pattern> to ignore rules
    -x                    remove ignored files, too
    -X                    remove only ignored files
""",
}
_DIRECTORY = 0o040000


def clean(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["clean"], words)
    if options.on("interactive"):
        raise Fatal("git clean -i is not supported in this sandbox: there is nobody to ask")
    required = git.config.find("clean.requireforce")
    if (
        git.config.flag("clean.requireforce", True)
        and not options.on("force")
        and not options.on("dry-run")
    ):
        how = "defaults to" if required is None else "set to"
        raise Fatal(
            f"clean.requireForce {how} true and neither -i, -n, nor -f given; refusing to clean"
        )
    if options.on("x") and options.on("X"):
        raise Fatal("-x and -X cannot be used together")
    return _Cleaner(git, options).run()


class _Cleaner:
    def __init__(self, git: Invocation, options: Options) -> None:
        self.git = git
        self.fs = git.fs
        self.repository = git.repository
        self.repository.need_worktree()
        self.tree = Worktree(self.repository)
        self.index = self.repository.index()
        self.dry = options.on("dry-run")
        self.quiet = options.on("quiet")
        self.nested = options.count("force") > 1
        """Whether repositories in untracked directories are removed too."""
        self.whole = options.on("d") or bool(options.operands)
        self.only_ignored = options.on("X")
        self.all = options.on("x")
        text = "\n".join(options.all("exclude"))
        self.own: list[IgnoreRule] = parse_ignores(encode(text), b"", "--exclude option")
        self.wanted = parse_pathspec(git, options.operands)
        self.failed = False
        self.found: list[bytes] = []
        """What to remove: directories end in "/"."""

    def run(self) -> int:
        prefix = self.repository.prefix
        self._walk(b"" if self.wanted else prefix.rstrip(b"/"))
        for path in sorted(self.found):
            self.git.budget.step()
            if path.endswith(b"/"):
                removed: list[bytes] = []
                if self._remove_folder(path.rstrip(b"/"), removed):
                    self._say("Removing", "Would remove", path)
                else:
                    for each in removed:
                        self._say("Removing", "Would remove", each)
            elif self._unlink(path):
                self._say("Removing", "Would remove", path)
        return 1 if self.failed else 0

    def _say(self, done: str, dry: str, path: bytes) -> None:
        if not self.quiet:
            self.git.print(f"{dry if self.dry else done} {self._shown(path)}")

    def _shown(self, path: bytes) -> str:
        return quote_path(relative_to(path, self.repository.prefix))

    # what to remove

    def _is_ignored(self, path: bytes, is_dir: bool) -> bool:
        rule = find_rule([self.own], path, is_dir)
        if rule is None and not self.all:
            rule = self.tree.rule_for(path, is_dir)
        return rule is not None and not rule.negated

    def _scan(self, folder: bytes) -> list[tuple[bytes, bool]]:
        where = self.tree.path(folder) if folder else self.tree.root or "/"
        try:
            names, kinds = self.fs.scan(where)
        except OSError:
            return []
        base = folder + b"/" if folder else b""
        self.git.budget.step(1 + len(names))
        return [
            (base + encode(name), kind == _DIRECTORY)
            for name, kind in zip(names, kinds, strict=True)
            if name != ".git"
        ]

    def _walk(self, folder: bytes) -> None:
        """Collect what is untracked in a directory with tracked files."""
        pending = [folder]
        while pending:
            for path, is_dir in self._scan(pending.pop()):
                if not is_dir:
                    if not self.index.has_path(path) and self._matches(path, False):
                        if self._is_ignored(path, False) == self.only_ignored:
                            self.found.append(path)
                elif self.index.get(path) is not None:
                    continue  # a submodule
                elif self.index.has_folder(path):
                    if not self.wanted or self.wanted.may_be_below(path):
                        pending.append(path)
                else:
                    self._untracked(path)

    def _matches(self, path: bytes, is_dir: bool) -> bool:
        return not self.wanted or self.wanted.matches(path, is_dir)

    def _untracked(self, path: bytes) -> None:
        """Collect a directory without tracked files, or what is in it."""
        whole = self.whole
        if self._is_ignored(path, True):
            if self.only_ignored and whole and self._matches(path, True):
                self.found.append(path + b"/")
            return
        if self._is_repository(path):
            if self.nested and whole and not self.only_ignored and self._matches(path, True):
                self.found.append(path + b"/")
            return
        inner = self._below(path)
        if whole and (
            all(self._matches(each, False) for each, _ in inner)
            if inner
            else self._matches(path, True)
        ):
            kept = [each for each, goes in inner if not goes]
            if not kept and (inner or not self.only_ignored):
                self.found.append(path + b"/")
                return
        elif not whole and not self.wanted:
            return
        if not whole and not self.wanted.may_be_below(path):
            return
        self.found += self._parts(path)

    def _below(self, folder: bytes) -> list[tuple[bytes, bool]]:
        """Return (path, whether it goes) of the files below an untracked directory."""
        found: list[tuple[bytes, bool]] = []
        pending = [folder]
        while pending:
            here = pending.pop()
            for path, is_dir in self._scan(here):
                ignored = self._is_ignored(path, is_dir)
                if is_dir and not ignored and not self._is_repository(path):
                    pending.append(path)
                elif is_dir and not ignored:
                    found.append((path, not self.only_ignored))
                else:
                    found.append((path, ignored == self.only_ignored))
        return found

    def _parts(self, folder: bytes) -> list[bytes]:
        """Return what goes of a directory that stays."""
        found: list[bytes] = []
        pending = [folder]
        while pending:
            for path, is_dir in self._scan(pending.pop()):
                ignored = self._is_ignored(path, is_dir)
                if not is_dir:
                    if ignored == self.only_ignored and self._matches(path, False):
                        found.append(path)
                elif ignored:
                    if self.only_ignored and self.whole:
                        found.append(path + b"/")
                elif not self._is_repository(path):
                    inner = self._below(path)
                    goes = all(each[1] for each in inner) and (inner or not self.only_ignored)
                    if goes and self._matches(path, True) and (self.whole or not self.wanted):
                        found.append(path + b"/")
                    else:
                        pending.append(path)
        return found

    def _is_repository(self, path: bytes) -> bool:
        where = f"{self.tree.path(path)}/.git"
        return self.fs.is_file(where) or is_repository(self.fs, where)

    # removing

    def _unlink(self, path: bytes) -> bool:
        if self.dry:
            return True
        try:
            self.fs.unlink(self.tree.path(path))
        except OSError as error:
            self.git.warn(f"failed to remove {self._shown(path)}: {error.strerror}")
            self.failed = True
            return False
        return True

    def _remove_folder(self, folder: bytes, removed: list[bytes]) -> bool:
        """Remove a directory; return whether it is gone, and add what is."""
        if self._is_repository(folder) and not self.nested:
            self._say("Skipping repository", "Would skip repository", folder)
            return False
        gone = True
        mine: list[bytes] = []
        for path, is_dir in self._scan(folder):
            if is_dir:
                inner: list[bytes] = []
                if self.git.budget.nested(partial(self._remove_folder, path, inner)):
                    mine.append(path)
                else:
                    gone = False
                    mine += inner
            elif self._unlink(path):
                mine.append(path)
            else:
                gone = False
        here = self.git.cwd.rstrip("/") + "/"
        where = self.tree.path(folder)
        if here.startswith(f"{where}/"):
            gone = False
        if gone and not self.dry:
            try:
                if self.nested and self.fs.exists(f"{where}/.git", follow=False):
                    self._remove_git(f"{where}/.git")
                self.fs.rmdir(where)
            except OSError as error:
                self.git.warn(f"failed to remove {decode(folder)}: {error.strerror}")
                self.failed, gone = True, False
        if not gone:
            removed += mine
        return gone

    def _remove_git(self, path: str) -> None:
        if self.fs.is_dir(path):
            self.fs.remove_tree(path)
        else:
            self.fs.unlink(path)


COMMANDS = {"clean": clean}
