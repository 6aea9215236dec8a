"""The rules of .gitignore, .ignore and .rgignore, in the pattern language of gitignore(5).

Patterns are untrusted, and a star that backtracks makes a match take exponential time. So each
component of a path is translated by the kernel's globs, whose stars do not backtrack, and the
number of "**" and of alternatives is limited.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.patterns.filenames import compile_glob
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import FileSystem

_MAX_BYTES = 1_000_000
_MAX_PATTERN = 1000
_MAX_ALTERNATIVES = 64
_MAX_DOUBLE_STARS = 3
_BRACES = lazily(r"(?<!\\)\{([^{}]*)\}")


class Rule:
    """One line: `regex` matches paths below the ignore file; `keeps` undoes earlier lines."""

    __slots__ = ("directories_only", "keeps", "regex")

    def __init__(self, regex: re.Pattern[str], *, keeps: bool, directories_only: bool) -> None:
        self.regex = regex
        self.keeps = keeps
        self.directories_only = directories_only


def compile_rule(line: str, *, ignore_case: bool = False) -> Rule | None:
    """Return the rule of a line, None for blanks, comments and patterns that are not valid."""
    line = line.rstrip("\r")
    if not line.endswith("\\ "):
        line = line.rstrip(" ")
    if not line or line.startswith("#") or len(line) > _MAX_PATTERN:
        return None
    keeps = line.startswith("!")
    line = line[keeps:]
    directories_only = line.endswith("/")
    line = line.rstrip("/") if directories_only else line
    anchored = "/" in line
    line = line.removeprefix("/")
    if not line:
        return None
    source = "|".join([_translate(each) for each in _expand_braces(line)])
    if not source:
        return None
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    regex = re.compile(f"(?:{source})" if anchored else f"(?:.*/)?(?:{source})", flags)
    return Rule(regex, keeps=keeps, directories_only=directories_only)


def _expand_braces(pattern: str) -> list[str]:
    """Return the alternatives of a pattern such as `*.{a,b}`, none if there are too many."""
    done: list[str] = []
    pending = [pattern]
    while pending:
        here = pending.pop()
        found = _BRACES.search(here)
        if found is None:
            done.append(here)
            continue
        before, after = here[: found.start()], here[found.end() :]
        pending += [f"{before}{choice}{after}" for choice in found[1].split(",")]
        if len(done) + len(pending) > _MAX_ALTERNATIVES:
            return []
    return done


def _translate(pattern: str) -> str:
    """Return the regular expression of a pattern; one that never matches for too many "**"."""
    components = re.sub(r"(?<![^/])\*\*(?:/\*\*(?![^/]))+", "**", pattern).split("/")
    if components.count("**") > _MAX_DOUBLE_STARS:
        return "(?!)"
    out: list[str] = []
    for number, component in enumerate(components, 1):
        last = number == len(components)
        if component == "**":
            out.append(".+" if last else "(?:.*/)?")
            continue
        glob = compile_glob(component, pathname=True, extglob=False)
        out.append(glob.pattern.removesuffix(r"\Z") if isinstance(glob, re.Pattern) else "(?!)")
        out.append("" if last else "/")
    return "".join(out)


def read_rules(fs: FileSystem, path: str, *, ignore_case: bool = False) -> list[Rule]:
    """Return the rules of an ignore file, none if it cannot be read."""
    try:
        if fs.stat(path).size > _MAX_BYTES:
            return []
        text = decode(fs.read_bytes(path))
    except OSError:
        return []
    return [
        rule
        for line in text.split("\n")
        if (rule := compile_rule(line, ignore_case=ignore_case)) is not None
    ]


class IgnoreRules:
    """The rules that hold in one directory: its own, then those of the directories above."""

    __slots__ = ("_directory", "_parent", "_rules")

    def __init__(self, directory: str, rules: list[Rule], parent: IgnoreRules | None) -> None:
        self._directory = directory.rstrip("/") + "/"
        self._rules = rules
        self._parent = parent

    def ignores(self, path: str, *, is_dir: bool) -> bool:
        """Whether the file at the absolute path is left out: the nearest matching rule decides."""
        level: IgnoreRules | None = self
        while level is not None:
            relative = path.removeprefix(level._directory)
            for rule in reversed(level._rules):
                if (is_dir or not rule.directories_only) and rule.regex.fullmatch(relative):
                    return not rule.keeps
            level = level._parent
        return False
