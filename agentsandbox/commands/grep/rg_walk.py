"""The files that rg searches: those below a directory that are not hidden, ignored or excluded.

The rules of `.gitignore`, `.ignore` and `.rgignore` hold for their directory and all below, so the
walk begins with the rules of the directories above. `.gitignore` counts inside a repository only.
Globs of -g come before all rules: the last glob that matches decides.
"""

from __future__ import annotations

import posixpath
import stat

from agentsandbox.commands._files.ignore_rules import IgnoreRules, Rule, compile_rule, read_rules
from agentsandbox.errors import CommandError
from agentsandbox.kernel.patterns.filenames import glob_matcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.contract.command import CommandContext


class Walk:
    """The directories to enter and the files to search. Errors go to `complain`."""

    def __init__(self, ctx: CommandContext, complain: Callable[[OSError, str], None]) -> None:
        self.ctx = ctx
        self.complain = complain
        self.hidden = False
        self.ignore_files = True
        self.git_ignore = True
        self.needs_git = True
        self.follow = False
        self.max_depth: int | None = None
        self.by_time = False
        """Whether the entries of a directory are sorted by their modification times."""
        self.newest_first = False
        self.globs: list[Rule] = []
        self.selects = False
        """Whether a glob without "!" was given: then only files that match a glob are searched."""
        self.types: list[Callable[[str], object]] = []
        self.types_not: list[Callable[[str], object]] = []

    def add_glob(self, glob: str, *, ignore_case: bool) -> None:
        """Add a -g GLOB: files to search, or with "!" files to exclude."""
        rule = compile_glob_rule(glob, ignore_case=ignore_case)
        if rule is None:
            return
        self.selects = self.selects or not rule.keeps
        self.globs.append(rule)

    def add_type(self, patterns: tuple[str, ...], *, wanted: bool) -> None:
        """Add the patterns of one -t or -T."""
        (self.types if wanted else self.types_not).extend(
            [glob_matcher(pattern) for pattern in patterns]
        )

    def files(self, path: str, shown: str) -> Iterator[tuple[str, str]]:
        """Yield (name to show, path) of each file below a directory, in the order of the names."""
        yield from self._walk(path, shown, self._rules_above(path), 1, frozenset())

    def _rules_above(self, path: str) -> IgnoreRules | None:
        """Return the rules of the directories above the one where the search begins."""
        if not self.ignore_files:
            return None
        above: list[str] = []
        here = posixpath.normpath(path)
        while here != "/":
            here = posixpath.dirname(here)
            above.append(here)
        rules: IgnoreRules | None = None
        inside_git = self._in_repository(path)
        for directory in reversed(above):
            rules = self._rules_of(directory, rules, inside_git=inside_git)
        return rules

    def _in_repository(self, path: str) -> bool:
        here = posixpath.normpath(path)
        while True:
            if self.ctx.fs.exists(posixpath.join(here, ".git")):
                return True
            if here == "/":
                return False
            here = posixpath.dirname(here)

    def _rules_of(
        self, directory: str, parent: IgnoreRules | None, *, inside_git: bool
    ) -> IgnoreRules | None:
        found: list[Rule] = []
        if self.git_ignore and (inside_git or not self.needs_git):
            found.extend(read_rules(self.ctx.fs, posixpath.join(directory, ".gitignore")))
        for name in (".ignore", ".rgignore"):
            found.extend(read_rules(self.ctx.fs, posixpath.join(directory, name)))
        return IgnoreRules(directory, found, parent) if found else parent

    def _walk(
        self, path: str, shown: str, rules: IgnoreRules | None, depth: int, above: frozenset[int]
    ) -> Iterator[tuple[str, str]]:
        fs, budget = self.ctx.fs, self.ctx.budget
        budget.deeper()
        try:
            if self.follow:
                number = fs.stat(path).ino
                if number in above:
                    return
                above = above | {number}
            try:
                entries = list(zip(*fs.scan(path), strict=True))
            except OSError as error:
                self.complain(error, shown.rstrip("/") or ".")
                return
            names = {name for name, _ in entries}
            if self.ignore_files and names & {".gitignore", ".ignore", ".rgignore"}:
                rules = self._rules_of(path, rules, inside_git=self._in_repository(path))
            for name, kind in self._in_order(path, entries):
                budget.step()
                child = posixpath.join(path, name)
                if kind == stat.S_IFLNK:
                    if not self.follow:
                        continue
                    try:
                        kind = stat.S_IFMT(fs.stat(child).mode)
                    except OSError as error:
                        self.complain(error, shown + name)
                        continue
                is_dir = kind == stat.S_IFDIR
                if not self._admits(shown + name, child, name, rules, is_dir=is_dir):
                    continue
                if is_dir:
                    if self.max_depth is None or depth < self.max_depth:
                        yield from self._walk(child, f"{shown}{name}/", rules, depth + 1, above)
                elif kind == stat.S_IFREG:
                    yield shown + name, child
        finally:
            budget.shallower()

    def _in_order(self, path: str, entries: Sequence[tuple[str, int]]) -> Sequence[tuple[str, int]]:
        if not self.by_time:
            return entries

        def modified(entry: tuple[str, int]) -> float:
            try:
                return self.ctx.fs.stat(posixpath.join(path, entry[0])).mtime
            except OSError:
                return 0.0

        return sorted(entries, key=modified, reverse=self.newest_first)

    def _admits(
        self, shown: str, path: str, name: str, rules: IgnoreRules | None, *, is_dir: bool
    ) -> bool:
        chosen = self._glob_says(shown, is_dir=is_dir)
        if chosen is not None:
            return chosen
        if name.startswith(".") and not self.hidden:
            return False
        if rules is not None and rules.ignores(path, is_dir=is_dir):
            return False
        if is_dir:
            return True
        if any(match(name) for match in self.types_not):
            return False
        return not self.types or any(match(name) for match in self.types)

    def _glob_says(self, shown: str, *, is_dir: bool) -> bool | None:
        """Return whether -g includes an entry, or None if no glob decides."""
        relative = shown.removeprefix("./")
        for rule in reversed(self.globs):
            if (is_dir or not rule.directories_only) and rule.regex.fullmatch(relative):
                return not rule.keeps
        return False if self.selects and not is_dir else None


def compile_glob_rule(glob: str, *, ignore_case: bool = False) -> Rule | None:
    """Return the rule of a glob of the command line, or None if the glob is empty."""
    problem = _glob_problem(glob)
    if problem:
        raise CommandError(f"error parsing glob '{glob}': {problem}", 2)
    return compile_rule(glob, ignore_case=ignore_case)


def _glob_problem(glob: str) -> str:
    """Return what is wrong with a glob, or ""."""
    at = int(glob.startswith("!"))
    depth = 0
    while at < len(glob):
        character = glob[at]
        at += 1
        if character == "\\":
            if at >= len(glob):
                return "dangling '\\'"
            at += 1
        elif character == "[":
            end = glob.find("]", at + (2 if glob[at : at + 1] in ("!", "^") else 1))
            if end < 0:
                return "unclosed character class; missing ']'"
            at = end + 1
        elif character == "{":
            depth += 1
        elif character == "}" and depth:
            depth -= 1
    return "unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)" if depth else ""
