"""`sub`, `gsub` and `gensub`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from re import Match
    from re import Pattern as RePattern

    from agentsandbox.commands.awk.patterns import Pattern
    from agentsandbox.commands.awk.protocols import Run
    from agentsandbox.kernel.budget import Budget

_LONG = 1 << 20
"""Characters above which no single call replaces all matches."""
_SHORT = 4096
_SHORT_REPLACEMENT = 256
"""A text and a replacement up to these need no account."""


def substituter(rt: Run, pattern: Pattern, replacement: str, every: bool) -> Callable[[str], float]:
    """`Runtime.substitute` for a pattern and a replacement that stay the same."""

    def general(text: str) -> float:
        return rt.substitute(pattern, replacement, text, every)

    parts = _parts(replacement) if "&" in replacement or "\\" in replacement else [replacement]
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
    pattern: Pattern, replacement: str, text: str, every: bool, budget: Budget
) -> tuple[str, int]:
    """The text with the first or every match replaced, and how many were. In the replacement `&` is
    the match.
    """
    if "&" in replacement or "\\" in replacement:
        parts = _parts(replacement)
        if len(parts) == 1 and isinstance(parts[0], str):
            replacement = parts[0]
        else:
            if (
                every
                and pattern.never_empty is not None
                and len(text) <= _SHORT
                and len(replacement) <= _SHORT_REPLACEMENT
            ):
                return pattern.never_empty.subn(lambda found: _expand(parts, found), text)
            return _replace(
                pattern, text, 0 if every else 1, lambda found: _expand(parts, found), budget
            )
    if pattern.literal:
        count = text.count(pattern.literal)
        if not count:
            return text, 0
        count = count if every else 1
        budget.charge(len(text) + count * (len(replacement) - len(pattern.literal)))
        return text.replace(pattern.literal, replacement, count), count
    if (
        every
        and pattern.never_empty is not None
        and "\\" not in replacement
        and (len(text) < 65536 or len(replacement) < 2)
    ):
        budget.charge(len(text) * (len(replacement) + 1))
        budget.step(len(text) // 256)
        if len(text) > _LONG:
            return _substitute_all(pattern.never_empty, replacement, text, budget)
        return pattern.never_empty.subn(replacement, text)
    return _replace(pattern, text, 0 if every else 1, replacement, budget)


def _substitute_all(
    pattern: RePattern[str], replacement: str, text: str, budget: Budget
) -> tuple[str, int]:
    """As `subn`, in pieces that are each short."""
    pieces: list[str] = []
    position = count = 0
    for found in pattern.finditer(text):
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        start, end = found.span()
        pieces += (text[position:start], replacement)
        position = end
        count += 1
    pieces.append(text[position:])
    return "".join(pieces), count


def _parts(replacement: str) -> list[str | int]:
    r"""Literal text, and 0 where the match goes: before an ampersand two backslashes are one, and a last one takes its meaning."""
    parts: list[str | int] = []
    literal = ""
    position = 0
    while position < len(replacement):
        character = replacement[position]
        if character == "\\":
            after = position
            while replacement[after : after + 1] == "\\":
                after += 1
            count = after - position
            if replacement[after : after + 1] == "&":
                literal += "\\" * (count // 2) + "&" * (count % 2)
                position = after + count % 2
            else:
                literal += "\\" * count
                position = after
            continue
        if character == "&":
            if literal:
                parts.append(literal)
                literal = ""
            parts.append(0)
            position += 1
            continue
        literal += character
        position += 1
    if literal or not parts:
        parts.append(literal)
    return parts


def _expand(parts: list[str | int], found: Match[str]) -> str:
    matched = found.group()
    return "".join([part if isinstance(part, str) else matched for part in parts])


def general_substitute(
    pattern: Pattern, replacement: str, text: str, which: int, budget: Budget
) -> str:
    r"""`gensub`: every match for `which` 0, else that one; `\0`…`\9` and `&` are what the groups matched."""
    parts: list[str | int] = []
    literal = ""
    position = 0
    while position < len(replacement):
        character = replacement[position]
        group = -1
        if character == "\\":
            position += 1
            following = replacement[position : position + 1] or "\0"
            if following.isdigit() and following.isascii():
                group = int(following)
            else:
                literal += following
        elif character == "&":
            group = 0
        else:
            literal += character
        if group >= 0:
            if literal:
                parts.append(literal)
                literal = ""
            parts.append(group)
        position += 1
    if literal:
        parts.append(literal)

    def expand(found: Match[str]) -> str:
        groups = len(found.groups())
        return "".join(
            [
                part
                if isinstance(part, str)
                else (found.group(part) or "")
                if part <= groups
                else ""
                for part in parts
            ]
        )

    return _replace(pattern, text, which, expand, budget, only=which > 0)[0]


def _replace(
    pattern: Pattern,
    text: str,
    which: int,
    replacement: str | Callable[[Match[str]], str],
    budget: Budget,
    only: bool = False,
) -> tuple[str, int]:
    """Replace match number `which`, or all for 0. An empty match right after a match does not
    count.
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
            new = replacement if type(replacement) is str else replacement(found)  # type: ignore[operator]
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
    return "".join(pieces), count if not only else 1
