"""What the `.info` files of `tree --info` say: patterns, each to a line, and below them the comment, a tab before each line."""

from __future__ import annotations

from agentsandbox.globs import compile_glob
from agentsandbox.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.fs.base import FileSystem
    from agentsandbox.globs import GlobMatcher
    from agentsandbox.limits import Budget

__all__ = ["InfoFile", "read_info"]

_MAX_BYTES = 1_000_000


class InfoFile:
    """The comments of one file, in its order. `parent` is the file that is asked when this one says nothing."""

    __slots__ = ("_comments", "_parent")

    def __init__(self, comments: list[tuple[list[_Pattern], tuple[str, ...]]], parent: InfoFile | None) -> None:
        self._comments = comments
        self._parent = parent

    def comment(self, budget: Budget, path: str, name: str, *, is_dir: bool, own: bool) -> tuple[str, ...] | None:
        """The lines for a file by its path; by its name too if this is the file of its directory (`own`)."""
        level: InfoFile | None = self
        while level is not None:
            for patterns, lines in level._comments:
                budget.step(len(patterns))
                if any(each.matches(path, is_dir=is_dir) or (own and each.matches(name, is_dir=is_dir)) for each in patterns):
                    return lines
            level, own = level._parent, False
        return None


class _Pattern:
    """Alternatives by `|`; with a slash at its end for directories alone."""

    __slots__ = ("_choices",)

    def __init__(self, text: str, *, ignore_case: bool) -> None:
        self._choices: list[tuple[GlobMatcher, bool]] = []
        for choice in text.removeprefix("/").split("|"):
            matcher = compile_glob(choice.rstrip("/"), ignore_case=ignore_case, pathname="**" not in choice, extglob=False)
            self._choices.append((matcher, choice.endswith("/")))

    def matches(self, text: str, *, is_dir: bool) -> bool:
        """Whether one of the alternatives is the whole of the text."""
        return any((is_dir or not only) and matcher.match(text) is not None for matcher, only in self._choices)


def read_info(fs: FileSystem, path: str, parent: InfoFile | None, *, ignore_case: bool) -> InfoFile | None:
    """The comments in a file; None if it cannot be read."""
    try:
        if fs.stat(path).size > _MAX_BYTES:
            return None
        text = decode(fs.read_bytes(path))
    except OSError:
        return None
    comments: list[tuple[list[_Pattern], tuple[str, ...]]] = []
    patterns: list[_Pattern] = []
    lines: list[str] = []
    for line in text.split("\n"):
        line = line.rstrip(" ")
        if line.startswith("\t"):
            lines.append(line[1:])
        elif line and not line.startswith("#"):
            if lines:
                comments.append((patterns, tuple(lines)))
                patterns, lines = [], []
            patterns.append(_Pattern(line, ignore_case=ignore_case))
    comments.append((patterns, tuple(lines)))
    return InfoFile(comments, parent)
