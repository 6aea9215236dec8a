"""Substitution in a text: the matches that are replaced, and their replacements."""

from __future__ import annotations

from agentsandbox.kernel.regexps import PosixRegex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.sed.nodes import Replacement, Substitution
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps.spans import Match

_SMALL = 4096
_PIECES = 1 << 16
"""Pieces of a long line that are collected before they are joined."""
_MANY = 200_000
"""Characters of a text above which it is changed match by match, within the budget."""


class _Part:
    """Text, then a group or none (-1), both in one letter case."""

    __slots__ = ("bytewise", "case", "first", "group", "text")

    def __init__(self, text: str, group: int, case: str, first: str, *, bytewise: bool) -> None:
        self.bytewise = bytewise
        self.text = text
        self.group = group
        self.case = case
        self.first = first


def _parts_of(replacement: Replacement) -> list[_Part]:
    """Return the replacement as parts, each in one letter case."""
    parts: list[_Part] = []
    text = ""
    case = first = ""
    for kind, value in replacement.pieces:
        if kind == "text":
            text += str(value)
            continue
        parts.append(
            _Part(
                text,
                int(value) if kind == "group" else -1,
                case,
                first,
                bytewise=replacement.bytewise,
            )
        )
        text = first = ""
        if kind == "case":
            if value in ("u", "l"):
                first = str(value)
            else:
                case = "" if value == "E" else str(value)
    parts.append(_Part(text, -1, case, first, bytewise=replacement.bytewise))
    return parts


def _upper(text: str) -> str:
    """Return the text up to a NUL in capitals, character by character as in C."""
    if "\0" in text:
        head, _, rest = text.partition("\0")
        return f"{_upper(head)}\0{rest}"
    return (
        text.upper()
        if text.isascii()
        else "".join([_single(character, character.upper()) for character in text])
    )


def _lower(text: str) -> str:
    """Return the text up to a NUL in small letters, character by character as in C."""
    if "\0" in text:
        head, _, rest = text.partition("\0")
        return f"{_lower(head)}\0{rest}"
    return (
        text.lower()
        if text.isascii()
        else "".join([_single(character, character.lower()) for character in text])
    )


def _single(character: str, converted: str) -> str:
    return converted if len(converted) == 1 else character


def _modified(text: str, case: str, first: str, *, bytewise: bool) -> str:
    """Return the text in a case (U, L or none), its first letter in another (u, l or none).

    Only up to a NUL, unless characters are bytes.
    """
    if not text or not (case or first):
        return text
    if "\0" in text and bytewise:
        head, _, rest = text.partition("\0")
        changed = _modified(rest, case, "", bytewise=True)
        return f"{_modified(head, case, first, bytewise=True)}\0{changed}"
    if text[0] == "\0":
        return text
    head, tail = text[0], text[1:]
    if case:
        head, tail = (_upper(head), _upper(tail)) if case == "U" else (_lower(head), _lower(tail))
    if first:
        head = _upper(text[0]) if first == "u" else _lower(text[0])
    return head + tail


def build_replacer(replacement: Replacement) -> Callable[[Match], str]:
    """Return a function from a match to its replacement."""
    text = replacement.text
    if text is not None:
        return lambda _match: text
    pieces = replacement.pieces
    if any(kind == "case" for kind, _ in pieces):
        parts = _parts_of(replacement)
        return lambda match: _with_cases(parts, match)
    if len(pieces) <= 3 and sum(kind == "group" for kind, _ in pieces) == 1:
        at = next(index for index, (kind, _) in enumerate(pieces) if kind == "group")
        before = "".join([str(value) for _, value in pieces[:at]])
        after = "".join([str(value) for _, value in pieces[at + 1 :]])
        number = int(pieces[at][1])
        return lambda match: f"{before}{match.group(number) or ''}{after}"
    items = [(str(value), -1) if kind == "text" else ("", int(value)) for kind, value in pieces]
    return lambda match: "".join(
        [text if number < 0 else match.group(number) or "" for text, number in items]
    )


def _with_cases(parts: list[_Part], match: Match) -> str:
    out: list[str] = []
    waiting = ""
    for part in parts:
        first = part.first or waiting
        waiting = ""
        if part.text:
            out.append(_modified(part.text, part.case, first, bytewise=part.bytewise))
            first = ""
        if part.group >= 0:
            group = match.group(part.group) or ""
            if group:
                out.append(_modified(group, part.case, first, bytewise=part.bytewise))
            elif part.first:
                waiting = first
    return "".join(out)


def replace(
    regex: PosixRegex,
    substitution: Substitution,
    replacer: Callable[[Match], str],
    space: str,
    budget: Budget,
) -> str | None:
    """Return the text after the substitution; None if nothing was replaced."""
    if len(space) > regex.safe_length or not regex.exact:
        return replace_slowly(regex, substitution, replacer, space, budget)
    found = regex.for_text(space).search(space)
    if found is None:
        return None
    if not substitution.number and not substitution.everywhere:
        result = f"{space[: found.start()]}{replacer(found)}{space[found.end() :]}"
        if len(result) > _SMALL:
            budget.charge(len(result))
        return result
    return replace_slowly(regex, substitution, replacer, space, budget)


def replace_slowly(
    regex: PosixRegex,
    substitution: Substitution,
    replacer: Callable[[Match], str],
    space: str,
    budget: Budget,
) -> str | None:
    """As `replace`, match by match."""
    wanted = substitution.number or 1
    if (
        wanted == 1
        and regex.exact
        and regex.shortest
        and len(space) <= min(regex.safe_length, _MANY)
    ):
        longest = substitution.replacement.growth(len(space), regex.shortest)
        if longest <= budget.value_bytes:  # then no intermediate size needs a look
            budget.step(len(space) // 64 + 1)
            result, count = regex.for_text(space).subn(
                replacer, space, 0 if substitution.everywhere else 1
            )
            return result if count else None
    done: list[str] = []
    out: list[str] = []
    position = count = size = 0
    for match in regex.finditer(space, 0, budget):
        count += 1
        if count < wanted:
            continue
        start, end = match.span()
        piece = replacer(match)
        size += len(piece) + start - position
        budget.charge(size)
        out.append(space[position:start])
        out.append(piece)
        position = end
        if len(out) >= _PIECES:
            done.append("".join(out))
            out.clear()
        if not substitution.everywhere:
            break
    if count < wanted:
        return None
    budget.charge(size + len(space) - position)
    return "".join([*done, *out, space[position:]])
