"""`git submodule summary`."""

from __future__ import annotations

from agentsandbox.git.commands.submodule_words import QUIET, Words, refused_usage
from agentsandbox.git.diff.options import DiffOptions
from agentsandbox.git.errors import Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.nested import ask_git, enter, run_git
from agentsandbox.git.objects import EMPTY_TREE, NULL, SUBMODULE
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.revisions import Resolver
from agentsandbox.git.superproject import Superproject
from agentsandbox.git.trees import Delta, diff_index
from agentsandbox.git.worktree import Worktree
from agentsandbox.kernel.streams import decode

_KINDS = {True: "submodule", False: "blob"}


def submodule_summary(git: Invocation, words: list[str]) -> int:
    given = Words(git, words, {
        **QUIET, "--cached": "cached", "--files": "files", "--for-status": "for-status",
        "-n": "limit=", "--summary-limit": "limit=",
    })  # fmt: skip
    limit = given.given.get("limit", "-1")
    if not limit.removeprefix("-").isdigit():
        raise refused_usage(git)
    if int(limit[:9]) == 0:
        return 0
    if given.on("files") and given.on("cached"):
        raise Fatal("options '--cached' and '--files' cannot be used together")
    summary = Summary(git, limit=int(limit[:9]), cached=given.on("cached"))
    summary.for_status = given.on("for-status")
    return summary.run(given.operands, files=given.on("files"))


class Summary:
    """Prints the commits that submodules gained and lost."""

    def __init__(self, git: Invocation, *, limit: int, cached: bool) -> None:
        self.git = git
        self.top = Superproject(git)
        self.tree = Worktree(git.repository)
        self.limit = limit
        self.cached = cached
        self.for_status = False

    def run(self, words: list[str], *, files: bool) -> int:
        """Compare a commit (HEAD by default), or with `files` the index."""
        base, paths = self._base(words)
        for delta in self._deltas(base, paths, files=files):
            if SUBMODULE in (delta.old_mode, delta.new_mode) and self._is_shown(delta):
                self._print(delta)
        return 0

    def _base(self, words: list[str]) -> tuple[str | None, list[str]]:
        """Return the tree to compare with and the paths."""
        objects, resolver = self.git.repository.objects, Resolver(self.git)
        name = words[0] if words else "HEAD"
        oid = resolver.find(name)
        tree = objects.peel(oid, "tree") if oid is not None else None
        if tree is not None:
            return tree, words[1:]
        if name == "HEAD":
            return EMPTY_TREE, words[1:]
        head = self.git.repository.head()
        if head is None:
            raise Fatal("could not fetch a revision for HEAD")
        return objects.commit(head).tree, words

    def _deltas(self, base: str | None, paths: list[str], *, files: bool) -> list[Delta]:
        from agentsandbox.git.commands.comparing import tree_to_worktree, worktree_deltas

        git = self.git
        options = DiffOptions()
        options.ignore_submodules = "dirty"
        wanted = parse_pathspec(git, paths)
        if files:
            return worktree_deltas(git, self.tree, wanted, options)[0]
        if self.cached:
            return diff_index(git.repository, base, git.repository.index(), wanted)
        return tree_to_worktree(git, self.tree, base, wanted, options, exact=False)

    def _is_shown(self, delta: Delta) -> bool:
        if delta.status in "DT":
            return True
        path = decode(delta.new_path)
        module = self.top.modules.at(path)
        if self.for_status and delta.status != "A" and module is not None:
            setting = self.top.modules.setting(module, "ignore")
            if (setting if setting is not None else module.ignore) == "all":
                return False
        return self.top.is_populated(path)

    def _new_oid(self, delta: Delta) -> str:
        if self.cached or delta.new_oid not in ("", NULL):
            return delta.new_oid or NULL
        if delta.new_mode == SUBMODULE:
            return self.tree.head_of_nested(delta.new_path) or NULL
        info = self.tree.stat(delta.new_path)
        if info is None or not delta.new_mode:
            return NULL
        return self.tree.hash(delta.new_path, info)

    def _commit(self, path: str, oid: str) -> str | None:
        """Return the abbreviation of a commit in a submodule, None if it is not there."""
        place = self.top.place(path)
        if not self.git.fs.is_dir(place):
            reason = "Not a directory" if self.git.fs.exists(place) else "No such file or directory"
            self.git.say(f"fatal: exec 'rev-parse': cd to '{path}' failed: {reason}")
            return None
        if not self.top.is_populated(path):
            return None
        return ask_git(self.git, place, "rev-parse", "-q", "--short", f"{oid}^0", "--")

    def _print(self, delta: Delta) -> None:
        path, new = decode(delta.new_path), self._new_oid(delta)
        old = delta.old_oid or NULL
        was, is_now = delta.old_mode == SUBMODULE, delta.new_mode == SUBMODULE
        source = self._commit(path, old) if was and delta.status != "D" else None
        target = self._commit(path, new) if is_now else None
        missing = [
            oid for oid, found, wanted in ((old, source, was), (new, target, is_now))
            if wanted and found is None
        ]  # fmt: skip
        one, two = (source or old[:7]), (target or new[:7])
        two_sided = was and is_now
        total, shown = -1, self.top.shown(path)
        if not missing:
            span = f"{one}...{two}" if two_sided else one if was else two
            words = ("rev-list", "--first-parent", "--count", span, "--")
            total = int(ask_git(self.git, self.top.place(path), *words) or -1)
        ids = f"{one}({_KINDS[was]})->{two}({_KINDS[is_now]})"
        head = f"* {shown} {ids if delta.status == 'T' else f'{one}...{two}'}"
        self.git.print(f"{head}:" if total < 0 else f"{head} ({total}):")
        if missing and is_now:
            names = " and ".join(missing)
            number = "s" if len(missing) > 1 else ""
            self.git.print(f"  Warn: {shown} doesn't contain commit{number} {names}")
        elif total > 0:
            self._log(path, one, two, was, is_now)
        self.git.print()

    def _log(self, path: str, one: str, two: str, was: bool, is_now: bool) -> None:
        words = ["log"]
        if was and is_now:
            if self.limit > 0:
                words.append(f"-{self.limit}")
            words += ["--pretty=  %m %s", "--first-parent", f"{one}...{two}"]
        elif is_now:
            words += ["--pretty=  > %s", "-1", two]
        else:
            words += ["--pretty=  < %s", "-1", one]
        run_git(enter(self.git, self.top.place(path)), words)
