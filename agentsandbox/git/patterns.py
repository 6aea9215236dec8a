"""Patterns of git: wildmatch, pathspecs, and the ignore and attribute files made of them.

`wildmatch` is `fnmatch` with "**": alone between slashes it matches any number of directories.
Stars do not backtrack: a pattern becomes a regular expression in which each "*" before fixed text
is an atomic group, or is matched component by component.
"""

from __future__ import annotations

import functools
import re

from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_STARS = 24
_MOST_DOUBLE_STARS = 4
_LONGEST = 2048
_CLASSES = {
    b"alnum": rb"0-9A-Za-z", b"alpha": rb"A-Za-z", b"blank": rb" \t", b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9", b"graph": rb"!-~", b"lower": rb"a-z", b"print": rb" -~",
    b"punct": rb"!-/:-@\[-`{-~", b"space": rb" \t-\r", b"upper": rb"A-Z", b"xdigit": rb"0-9A-Fa-f",
}  # fmt: skip
SPECIAL = re.compile(rb"[*?\[\\]")


def has_glob(pattern: bytes) -> bool:
    """Whether a pattern has a special character."""
    return SPECIAL.search(pattern) is not None


def _bracket(pattern: bytes, at: int) -> tuple[bytes, int] | None:
    """Return a class as regular expression and where it ends; None if it never ends."""
    size = len(pattern)
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    out: list[bytes] = []
    first = True
    while True:
        if at >= size:
            return None
        if pattern[at : at + 1] == b"]" and not first:
            break
        first = False
        if pattern.startswith(b"[:", at):
            end = pattern.find(b":]", at + 2)
            if end >= 0:
                if pattern[at + 2 : end] not in _CLASSES:
                    return None
                out.append(_CLASSES[pattern[at + 2 : end]])
                at = end + 2
                continue
        if pattern[at : at + 1] == b"\\":
            at += 1
            if at >= size:
                return None
        low = pattern[at : at + 1]
        at += 1
        if pattern[at : at + 1] == b"-" and pattern[at + 1 : at + 2] not in (b"]", b""):
            at += 1
            if pattern[at : at + 1] == b"\\":
                at += 1
            high = pattern[at : at + 1]
            at += 1
            if low <= high:
                out.append(re.escape(low) + b"-" + re.escape(high))
        else:
            out.append(re.escape(low))
    body = b"".join(out)
    if not body:
        return (b"[^/]" if negated else b"(?!)"), at + 1
    return (b"(?!/)[" + (b"^" if negated else b"") + body + b"]"), at + 1


@functools.lru_cache(maxsize=2048)
def _compiled(pattern: bytes, pathname: bool, ignore_case: bool) -> re.Pattern[bytes]:
    """Return the regular expression of a pattern.

    A star is `(?>[^/]*?FOLLOWING)` up to the next star: once the text behind a star was found, the
    next star can do no better with an earlier place, so the group is atomic.
    """
    # long: one scan over a pattern
    if pattern.count(b"*") > _MOST_STARS * 2 or len(pattern) > _LONGEST:
        raise LimitReached("value_bytes", "the pattern is too complex")
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    pieces: list[tuple[bytes, bytes]] = [(b"", b"")]  # (star, what follows it)

    def add(text: bytes) -> None:
        star, body = pieces[-1]
        pieces[-1] = (star, body + text)

    at, size, double = 0, len(pattern), 0
    while at < size:
        character = pattern[at : at + 1]
        if character == b"*":
            start = at
            while pattern[at : at + 1] == b"*":
                at += 1
            if not pathname:
                pieces.append((b".*", b""))
            elif (
                at - start >= 2
                and (start == 0 or pattern[start - 1 : start] == b"/")
                and (at == size or pattern[at : at + 1] == b"/")
            ):
                double += 1
                if double > _MOST_DOUBLE_STARS:
                    return re.compile(rb"(?!)")
                if at == size:
                    pieces.append((b".*", b""))
                else:
                    at += 1
                    pieces.append((b"(?:.*/)?", b""))
            else:
                pieces.append((b"[^/]*", b""))
        elif character == b"?":
            add(rb"[^/]" if pathname else rb".")
            at += 1
        elif character == b"[":
            found = _bracket(pattern, at + 1)
            if found is None:
                return re.compile(rb"(?!)")
            text, at = found
            add(text if pathname else text.removeprefix(rb"(?!/)"))
        else:
            if character == b"\\":
                at += 1
                if at >= size:
                    return re.compile(rb"(?!)")
                character = pattern[at : at + 1]
            add(re.escape(character))
            at += 1
    return re.compile(_joined(pieces), flags)


def _joined(pieces: list[tuple[bytes, bytes]]) -> bytes:
    """Return the expression of (star, what follows) pieces, stars atomic where they may be."""
    out = [pieces[0][1]]
    last = len(pieces) - 1
    for number, (star, body) in enumerate(pieces[1:], 1):
        if number == last:
            out.append(star + body + rb"\Z")
            break
        following = pieces[number + 1][0]
        # a star within a component gives way only to one that may match as much
        if (star == following or following == b".*") and star != b"(?:.*/)?":
            out.append(b"(?>" + star + b"?" + body + b")")
        else:
            out.append(star + body)
    if last == 0:
        out.append(rb"\Z")
    return b"".join(out)


def wildmatch(
    pattern: bytes, text: bytes, *, pathname: bool = True, ignore_case: bool = False
) -> bool:
    """Whether a text matches a pattern; with `pathname` "*" does not match "/"."""
    return _compiled(pattern, pathname, ignore_case).match(text) is not None


# ignore files


class IgnoreRule:
    """A line of an ignore file."""

    __slots__ = (
        "anchored", "base", "directories", "line", "literal", "negated", "number", "origin",
        "pattern", "suffix", "text",
    )  # fmt: skip

    def __init__(self, text: bytes, pattern: bytes, base: bytes, origin: str, number: int) -> None:
        self.text = text
        """The line as it is written, for check-ignore -v."""
        self.base = base
        """The directory of the file, "" or with a final "/"."""
        self.origin = origin
        self.number = number
        self.negated = pattern.startswith(b"!")
        if self.negated:
            pattern = pattern[1:]
        self.directories = pattern.endswith(b"/")
        if self.directories:
            pattern = pattern[:-1]
        self.anchored = b"/" in pattern
        if pattern.startswith(b"/"):
            pattern = pattern[1:]
        self.pattern = pattern
        special = has_glob(pattern)
        self.literal = None if special else pattern
        self.suffix = (
            pattern[1:]
            if pattern[:1] == b"*" and not has_glob(pattern[1:]) and not self.anchored
            else None
        )

    def matches(self, path: bytes, name: bytes, is_dir: bool, ignore_case: bool) -> bool:
        """Whether it matches a path of the worktree, whose last part is `name`."""
        if self.directories and not is_dir:
            return False
        if not self.anchored:
            if ignore_case:
                return wildmatch(self.pattern, name, ignore_case=True)
            if self.literal is not None:
                return name == self.literal
            if self.suffix is not None:
                return name.endswith(self.suffix)
            return wildmatch(self.pattern, name)
        if not path.startswith(self.base):
            return False
        rest = path[len(self.base) :]
        if self.literal is not None and not ignore_case:
            return rest == self.literal
        return wildmatch(self.pattern, rest, ignore_case=ignore_case)


def parse_ignores(data: bytes, base: bytes, origin: str) -> list[IgnoreRule]:
    """Return the rules of an ignore file, the last one first: it decides."""
    found: list[IgnoreRule] = []
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.endswith(b"\r"):
            line = line[:-1]
        pattern = _without_trailing_spaces(line)
        if not pattern or pattern.startswith(b"#") or len(pattern) > _LONGEST:
            continue
        found.append(IgnoreRule(line, pattern, base, origin, number))
    return found[::-1]


def _without_trailing_spaces(line: bytes) -> bytes:
    end = len(line)
    while end and line[end - 1 : end] == b" ":
        if end > 1 and line[end - 2 : end - 1] == b"\\":
            break
        end -= 1
    return line[:end]


def find_rule(
    levels: Sequence[Sequence[IgnoreRule]], path: bytes, is_dir: bool, ignore_case: bool = False
) -> IgnoreRule | None:
    """Return the rule that decides about a path, None without one; `levels` begins with the
    strongest.
    """
    name = path.rpartition(b"/")[2]
    for rules in levels:
        for rule in rules:
            if rule.matches(path, name, is_dir, ignore_case):
                return rule
    return None
