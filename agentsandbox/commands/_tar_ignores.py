"""Files in directories that say what of them `tar` leaves out: --exclude-ignore, --exclude-vcs-ignores."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.globs import compile_glob
from agentsandbox.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.command import CommandContext
    from agentsandbox.limits import Budget

    Matcher = Callable[[str, Budget], bool]

__all__ = ["VCS_IGNORES", "Ignores"]

VCS_IGNORES = (".cvsignore", ".gitignore", ".bzrignore", ".hgignore")
"""What --exclude-vcs-ignores reads."""


def _glob(pattern: str) -> Matcher:
    if not re.search(r"[*?\[\\]", pattern):
        return lambda name, budget: name == pattern
    compiled = compile_glob(pattern, pathname=True, extglob=False)
    return lambda name, budget: compiled.match(name) is not None


def _regex(pattern: str) -> Matcher | None:
    """None for what is no regular expression; without certain characters the pattern is a name."""
    pattern = pattern.rstrip("/")
    if not re.search(r"[.{}()?*\[]", pattern):
        return lambda name, budget: name == pattern
    from agentsandbox.regexps import RegexError, compile_posix  # only these files need them

    try:
        compiled = compile_posix(pattern, extended=True)
    except RegexError:
        return None
    return lambda name, budget: next(compiled.finditer(name, 0, budget), None) is not None


class _Patterns:
    """The patterns of one file; those that include undo earlier ones."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self._patterns: list[tuple[Matcher, bool]] = []
        self._regular = name == ".hgignore"
        reader = {".cvsignore": self._read_cvs, ".gitignore": self._read_git, ".bzrignore": self._read_bzr, ".hgignore": self._read_hg}.get(
            name, self._add
        )
        for line in lines:
            reader(line)

    def match(self, name: str, budget: Budget) -> bool:
        """Whether the name is left out; where no pattern says anything, the first one's opposite holds."""
        for matches, includes in reversed(self._patterns):
            budget.step()
            if matches(name, budget):
                return not includes
        return bool(self._patterns) and self._patterns[0][1]

    def _add(self, pattern: str, *, regular: bool = False, includes: bool = False) -> None:
        matcher = _regex(pattern) if regular else _glob(pattern)
        if pattern and matcher is not None:
            self._patterns.append((matcher, includes))

    def _read_cvs(self, line: str) -> None:
        """Wildcards among the words match everything: so do they in `tar`."""
        for word in line.split():
            self._add("*" if re.search(r"[*?\[]", word) else word)

    def _read_git(self, line: str) -> None:
        line = line.lstrip()
        if not line.startswith("#"):
            self._add(line[1:] if line.startswith("\\#") else line)

    def _read_bzr(self, line: str) -> None:
        line = line.lstrip()
        if line.startswith("#"):
            return
        includes = line.startswith("!") and not line.startswith("!!")
        line = line[2:] if line.startswith("!!") else line[includes:]
        self._add(line.removeprefix("RE:"), regular=line.startswith("RE:"), includes=includes)

    def _read_hg(self, line: str) -> None:
        line = line.lstrip()
        found = re.match(r"syntax:\s*(\S*)$", line)
        if found is not None:
            self._regular = {"regexp": True, "glob": False}.get(found[1], self._regular)
        elif not line.startswith("#"):
            self._add(line.rstrip("/"), regular=self._regular)


class Ignores:
    """The ignore files met on the way: each counts in its directory and below. `wanted` are their names."""

    def __init__(self, ctx: CommandContext, wanted: list[str]) -> None:
        self._ctx = ctx
        self._wanted = wanted
        self._read: list[tuple[str, _Patterns]] = []

    def enter(self, name: str, path: str) -> None:
        """Read what stands in the directory of this name."""
        for file in self._wanted:
            try:
                source = self._ctx.fs.open(posixpath.join(path, file), "r")
            except OSError:
                continue
            lines: list[str] = []
            for line in source.lines():
                self._ctx.budget.step()
                lines.append(decode(line.removesuffix(b"\n")))
            self._read.append((name, _Patterns(file, lines)))

    def match(self, name: str) -> bool:
        """Whether a pattern of the directories above the name leaves it out."""
        if not self._read:
            return False
        budget = self._ctx.budget
        base = posixpath.basename(name)
        plain = re.sub(r"^(\./)+", "", name)
        for directory, patterns in self._read:
            budget.step()
            if name.startswith(f"{directory}/") and any(patterns.match(variant, budget) for variant in (name, plain, base)):
                return True
        return False
