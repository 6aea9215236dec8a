"""`sub`, `gsub` and `gensub`.

A pattern and a replacement that are constants get a function of their own (`substituter`): finding
a text or calling `re` once for a record is 1.8 to 2.5 times as fast as going match by match.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from re import Match
    from re import Pattern as RePattern

    from agentsandbox.commands.awk.patterns import Pattern
    from agentsandbox.commands.awk.protocols import Run
    from agentsandbox.kernel.budget import Budget

_MIDDLE = 1 << 16
_LONG = 1 << 20
"""Characters above which no single call replaces all matches."""
_SHORT = 4096
_SHORT_REPLACEMENT = 256
"""Characters of a text and of a replacement up to which nothing needs accounting."""
_AMPERSAND = lazily(r"(\\*)&|[^\\&]+|\\+")
_POSIX_PIECE = lazily(r"\\([&\\])|&|[^\\&]+|\\")
_GROUP = lazily(r"\\([0-9])|\\(.?)|&|[^\\&]+", re.DOTALL)


def substituter(
    rt: Run, pattern: Pattern, replacement: str, every: bool, general: Callable[[str], float]
) -> Callable[[str], float]:
    """Return what `general` does, faster, for a constant pattern and a constant replacement."""
    parts = _parts(replacement, rt.mode.posix)
    matches = [at for at, part in enumerate(parts) if part == 0]
    if len(replacement) > _SHORT_REPLACEMENT or len(matches) > 1:
        return general
    at = matches[0] if matches else len(parts)
    before, after = "".join(map(str, parts[:at])), "".join(map(str, parts[at + 1 :]))
    whole = pattern.never_empty
    if not every:
        return _first_substituter(rt, pattern, before, after if matches else None, general)
    if pattern.literal and not matches:
        return _literal_substituter(rt, pattern.literal, before, general)
    if whole is None or ("\\" in before and not matches):
        return general
    return _every_substituter(rt, whole, before, after if matches else None, general)


def _first_substituter(
    rt: Run, pattern: Pattern, before: str, after: str | None, general: Callable[[str], float]
) -> Callable[[str], float]:
    search, literal = pattern.search, pattern.literal or ""

    def first_literal(text: str) -> float:
        start = text.find(literal)
        if start < 0:
            return 0.0
        if len(text) > _SHORT:
            return general(text)
        rt.got = text[:start] + before + text[start + len(literal) :]
        return 1.0

    if literal and after is None:
        return first_literal

    def first(text: str) -> float:
        if len(text) > _SHORT:
            return general(text)
        found = search(text)
        if found is None:
            return 0.0
        start, end = found.span()
        rt.got = (
            text[:start] + before + text[end:]
            if after is None
            else text[:start] + before + text[start:end] + after + text[end:]
        )
        return 1.0

    return first


def _literal_substituter(
    rt: Run, literal: str, replacement: str, general: Callable[[str], float]
) -> Callable[[str], float]:
    grows = len(replacement) > len(literal)

    def replace(text: str) -> float:
        count = text.count(literal)
        if not count:
            return 0.0
        if grows and len(text) > _SHORT:
            return general(text)
        rt.got = text.replace(literal, replacement)
        if grows and len(rt.got) > _SHORT:
            rt.account(len(rt.got))
        return float(count)

    return replace


def _every_substituter(
    rt: Run,
    pattern: RePattern[str],
    before: str,
    after: str | None,
    general: Callable[[str], float],
) -> Callable[[str], float]:
    new: str | Callable[[Match[str]], str] = before
    if after is not None:
        new = lambda found: f"{before}{found[0]}{after}"  # noqa: E731
    replace = pattern.subn

    def every(text: str) -> float:
        if len(text) > _SHORT:
            return general(text)
        rt.got, count = replace(new, text)
        if len(rt.got) > _SHORT:
            rt.account(len(rt.got))
        return float(count)

    return every


def substitute(
    pattern: Pattern,
    replacement: str,
    text: str,
    every: bool,
    budget: Budget,
    *,
    posix: bool = False,
) -> tuple[str, int]:
    """Return the text with the first or every match replaced, and the number of replacements.

    In the replacement `&` is the match.
    """
    parts = _parts(replacement, posix)
    if len(parts) > 1 or not isinstance(parts[0], str):
        short = len(text) <= _SHORT and len(replacement) <= _SHORT_REPLACEMENT
        if every and short and pattern.never_empty is not None:
            return pattern.never_empty.subn(lambda found: _expand(parts, found), text)
        which = 0 if every else 1
        return _replace(pattern, text, which, lambda found: _expand(parts, found), budget)
    replacement = parts[0]
    if pattern.literal:
        count = text.count(pattern.literal)
        if not count:
            return text, 0
        count = count if every else 1
        budget.charge(len(text) + count * (len(replacement) - len(pattern.literal)))
        return text.replace(pattern.literal, replacement, count), count
    small = len(text) < _LONG if len(replacement) < 2 else len(text) < _MIDDLE
    if every and small and pattern.never_empty is not None and "\\" not in replacement:
        budget.charge(len(text) * (len(replacement) + 1))
        budget.step(len(text) // 256)
        return pattern.never_empty.subn(replacement, text)
    return _replace(pattern, text, 0 if every else 1, replacement, budget)


def _merged(pieces: Iterable[str | int]) -> list[str | int]:
    """Return the pieces with adjacent texts joined: at least one."""
    parts: list[str | int] = []
    for piece in pieces:
        if isinstance(piece, str) and parts and isinstance(parts[-1], str):
            parts[-1] += piece
        else:
            parts.append(piece)
    return parts or [""]


def _parts(replacement: str, posix: bool = False) -> list[str | int]:
    """Return literal text, and 0 where the match goes.

    Before an ampersand two backslashes are one, and a single one makes it a character. By POSIX two
    are one everywhere.
    """
    if "&" not in replacement and "\\" not in replacement:
        return [replacement]
    pieces: list[str | int] = []
    if posix:
        pieces += [
            found[1] or (0 if found[0] == "&" else found[0])
            for found in _POSIX_PIECE.finditer(replacement)
        ]
        return [part for part in _merged(pieces) if part != ""] or [""]
    for found in _AMPERSAND.finditer(replacement):
        if found[1] is None:
            pieces.append(found[0])
            continue
        count = len(found[1])
        pieces.append("\\" * (count // 2) + "&" * (count % 2))
        if not count % 2:
            pieces.append(0)
    return [part for part in _merged(pieces) if part != ""] or [""]


def _expand(parts: list[str | int], found: Match[str]) -> str:
    """Return the parts with what the groups matched for their numbers."""
    groups = len(found.groups())
    return "".join(
        [
            part if isinstance(part, str) else (found[part] or "") if part <= groups else ""
            for part in parts
        ]
    )


def _piece(found: Match[str]) -> str | int:
    """Return the text or the number of a group that a piece of `gensub`'s replacement means."""
    if found[1]:
        return int(found[1])
    if found[2] is not None:
        return found[2] or "\0"
    return 0 if found[0] == "&" else found[0]


def general_substitute(
    pattern: Pattern, replacement: str, text: str, which: int, budget: Budget
) -> str:
    r"""`gensub`: replace every match for `which` 0, else that one.

    In the replacement `\0` and `&` are the match, `\1` to `\9` its groups.
    """
    parts = _merged(map(_piece, _GROUP.finditer(replacement)))
    expand: Callable[[Match[str]], str] = lambda found: _expand(parts, found)  # noqa: E731
    return _replace(pattern, text, which, expand, budget)[0]


def _replace(
    pattern: Pattern,
    text: str,
    which: int,
    replacement: str | Callable[[Match[str]], str],
    budget: Budget,
) -> tuple[str, int]:
    """Replace match number `which`, or all for 0.

    An empty match right after a match does not count.
    """
    pieces: list[str] = []
    position = copied = count = size = 0
    after_match = False
    end = len(text)
    search = pattern.search
    while position <= end:
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        found = search(text, position)
        if found is None:
            break
        left, right = found.span()
        if left == right and after_match and left == copied:
            position = left + 1
            after_match = False
            continue
        count += 1
        if not which or count == which:
            new = replacement if isinstance(replacement, str) else replacement(found)
            size += left - copied + len(new)
            budget.charge(size)
            pieces.append(text[copied:left])
            pieces.append(new)
            copied = right
        if count == which:
            break
        position = right if right > left else right + 1
        after_match = right > left
    if not pieces:
        return text, 0
    pieces.append(text[copied:])
    return "".join(pieces), count
