"""Which files a search leaves out: .gitignore, .ignore and .rgignore, in the pattern language of
gitignore(5).
"""

from __future__ import annotations

import re

from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import FileSystem

_MAX_BYTES = 1_000_000
_MAX_PATTERN = 1000


class Rule:
    """One line: `regex` matches a path relative to the file's directory; `keeps` undoes earlier
    lines.
    """

    __slots__ = ("directories_only", "keeps", "regex")

    def __init__(self, regex: re.Pattern[str], *, keeps: bool, directories_only: bool) -> None:
        self.regex = regex
        self.keeps = keeps
        self.directories_only = directories_only


def compile_rule(line: str, *, ignore_case: bool = False) -> Rule | None:
    """A line of an ignore file; None for blanks, comments and what is not a pattern."""
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
    source = _translate(line)
    try:
        regex = re.compile(
            source if anchored else f"(?:.*/)?{source}",
            re.DOTALL | (re.IGNORECASE if ignore_case else 0),
        )
    except re.error:
        return None
    return Rule(regex, keeps=keeps, directories_only=directories_only)


def _translate(pattern: str) -> str:
    """The regular expression of a gitignore pattern. Stars between fixed texts are atomic: matching
    stays linear.
    """
    out: list[str] = []
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if pattern.startswith("**/", position) and (position == 0 or pattern[position - 1] == "/"):
            out.append("(?:.*/)?")
            position += 3
        elif pattern.startswith("/**", position) and position + 3 == len(pattern):
            out.append("/.+")
            position += 3
        elif character == "*":
            while position < len(pattern) and pattern[position] == "*":
                position += 1
            out.append("[^/]*")
        elif character == "?":
            out.append("[^/]")
            position += 1
        elif character == "{" and "}" in pattern[position:]:
            end = pattern.index("}", position)
            choices = [_translate(choice) for choice in pattern[position + 1 : end].split(",")]
            out.append(f"(?:{'|'.join(choices)})")
            position = end + 1
        elif character == "[" and "]" in pattern[position + 2 :]:
            end = pattern.index("]", position + 2)
            inside = pattern[position + 1 : end].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]")
            position = end + 1
        else:
            if character == "\\" and position + 1 < len(pattern):
                position += 1
                character = pattern[position]
            out.append(re.escape(character))
            position += 1
    return "".join(out)


def read_rules(fs: FileSystem, path: str, *, ignore_case: bool = False) -> list[Rule]:
    """The rules of an ignore file, none if it cannot be read."""
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
        """Whether the file at the absolute path is left out. The nearest rule that matches
        decides.
        """
        level: IgnoreRules | None = self
        while level is not None:
            relative = path.removeprefix(level._directory)
            for rule in reversed(level._rules):
                if (is_dir or not rule.directories_only) and rule.regex.fullmatch(relative):
                    return not rule.keeps
            level = level._parent
        return False
