"""Brace expansion: {a,b} and {1..9}, before all other expansions and only on unquoted text."""

from __future__ import annotations

import itertools

from agentsandbox.kernel.budget import Budget
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.nodes import Literal, Parameter, Part, Quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    from agentsandbox.shell.expansion.compiling import Fields, Words
    from agentsandbox.shell.expansion.host import ExpansionHost

    # characters of unquoted text and other parts whole; a plain word is a text
    Items = TypeVar("Items", str, list[str | Part])

_LONG = 65536
"""Characters from which on a word is weighed with the others."""
_FEW = 256
"""Words that are compiled beforehand; more are made one by one."""
_SHORT = 1024
"""Characters up to which a word is looked at beforehand, where no limit of the sandbox counts
yet."""
_BLOCK = 16384
"""Characters of words between two looks at what all of them take."""
_WORD = 24
"""Characters that a word counts beside its own; all together may be twice as large as one value."""
_DEPTH = 100
"""Braces in a row, or in one another, that are expanded."""
_BACKSLASH = 92
_SEQUENCE = lazily(
    r"(?:([-+]?[0-9]+)\.\.([-+]?[0-9]+)|([A-Za-z])\.\.([A-Za-z]))(?:\.\.([-+]?[0-9]+))?"
)
_PADDED = lazily(r"-?0[0-9]")
_NOT_PLAIN = lazily(r"[*?\[(~\\]|[A-Z]\.\.[a-z]|[a-z]\.\.[A-Z]")
"""What may make more of a word than its text: patterns, homes, and the letters between Z and a."""


def brace_fields(parts: tuple[Part, ...], words: Words) -> Fields:
    """A word with brace expansions as the fields it expands to."""
    short = sum(len(part.text) for part in parts if isinstance(part, Literal)) <= _SHORT
    counter = Budget()
    plain = _plain_text(parts)
    if plain is not None:
        texts = list(itertools.islice(_expand(plain, counter, 0), _FEW)) if short else []
        if not 0 < len(texts) < _FEW:
            return lambda host, out: _many_texts(plain, host, out)
        texts = [text for text in texts if text]
        return lambda host, out: out.extend(texts)
    few = list(itertools.islice(expand_braces(parts, counter), _FEW)) if short else []
    if not 0 < len(few) < _FEW:
        return lambda host, out: _many_fields(parts, words, host, out)
    alternatives = [words.fields_of(alternative) for alternative in few]
    if len(alternatives) == 1:
        return alternatives[0]

    def all_fields(host: ExpansionHost, out: list[str]) -> None:
        for alternative in alternatives:
            alternative(host, out)
            if len(out[-1:] and out[-1]) > _LONG:
                _weigh(host, out)

    return all_fields


def _plain_text(parts: tuple[Part, ...]) -> str | None:
    """Return the text of a word whose expansions are plain texts; None for other words."""
    if len(parts) != 1 or not isinstance(parts[0], Literal):
        return None
    text = parts[0].text
    return text if len(text) <= _LONG and not _NOT_PLAIN.search(text) else None


def _many_texts(plain: str, host: ExpansionHost, out: list[str]) -> None:
    budget = host.budget
    expanded = _expand(plain, budget, 0)
    count = 1 + _BLOCK // (len(plain) + 1)
    size = 0
    while block := list(itertools.islice(expanded, count)):
        budget.step(len(block))
        size += sum(map(len, block)) + _WORD * len(block)
        budget.charge(size >> 1)
        out.extend(filter(None, block))


def _many_fields(
    parts: tuple[Part, ...], words: Words, host: ExpansionHost, out: list[str]
) -> None:
    budget = host.budget
    size = charged = 0
    for alternative in expand_braces(parts, budget):
        constant = words.constant_field(alternative)
        if constant is not None and not constant.startswith("~"):
            out.append(constant)
            size += len(constant) + _WORD
        else:
            words.fields_of(alternative)(host, out)
            size += len(out[-1]) + 4 * _WORD if out else _WORD
        if size - charged > _BLOCK:
            budget.charge(size >> 1)
            charged = size
        if len(out) & 15 == 0:
            _weigh(host, out)


def _weigh(host: ExpansionHost, words: list[str]) -> None:
    """Refuse words that are too large together."""
    if words and len(words[-1]) > _LONG and sum(map(len, words)) > 4 * host.budget.value_bytes:
        host.budget.charge(sum(map(len, words)))


def expand_braces(parts: tuple[Part, ...], budget: Budget) -> Iterator[tuple[Part, ...]]:
    """Yield the parts of each word, in order; each word is a step of the budget."""
    items: list[str | Part] = []  # characters of unquoted text, other parts whole
    for part in parts:
        if isinstance(part, Literal):
            items.extend(part.text)
        else:
            items.append(part)
    # every brace keeps what is behind it
    budget.charge(8 * len(items) * min(items.count("{"), _DEPTH))
    for expanded in _expand(items, budget, 0):
        budget.step(1 + (len(expanded) >> 4))
        yield _join(expanded)


def _join(items: list[str | Part]) -> tuple[Part, ...]:
    parts: list[Part] = []
    text: list[str] = []
    for item in items:
        if isinstance(item, str):
            if not text and parts and (item.isalnum() or item == "_") and item.isascii():
                longer = _longer_name(parts[-1], item)
                if longer is not None:
                    parts[-1] = longer
                    continue
            text.append(item)
            continue
        if text:
            parts.append(Literal("".join(text)))
            text = []
        parts.append(item)
    if text:
        parts.append(Literal("".join(text)))
    return tuple(parts)


def _longer_name(part: Part, char: str) -> Part | None:
    """`$a` before a letter of a brace expansion: bash joins the texts, so the name gets longer."""
    if isinstance(part, Parameter) and part.source == "$" + part.name and part.name.isidentifier():
        return Parameter(part.name + char, source=part.source + char)
    return None


def _expand(items: Items, budget: Budget, depth: int) -> Iterator[Items]:
    found = _first_braces(items, budget) if depth <= _DEPTH else None
    if found is None:
        yield items
        return
    opening, closing = found
    prefix = items[:opening]
    suffix = items[closing + 1 :]
    alternatives = _alternatives(items[opening + 1 : closing], budget, depth)
    # the suffix expands once for each alternative, innermost loop last, as bash orders them
    cost = 1 + (len(items) >> 8)
    if "{" not in suffix:
        for alternative in alternatives:
            budget.step(cost)
            yield prefix + alternative + suffix
        return
    for alternative in alternatives:
        head = prefix + alternative
        for tail in _expand(suffix, budget, depth + 1):
            budget.step(cost)
            yield head + tail


def _first_braces(items: str | list[str | Part], budget: Budget) -> tuple[int, int] | None:
    """Return where the first brace expansion opens and closes."""
    origin = start = 0
    while True:
        try:
            opening = items.index("{", start)
        except ValueError:
            return None
        start = opening + 1
        if opening == origin and _at(items, start) == "}":
            continue
        closing = _closing(items, opening, budget)
        if closing is None:
            continue
        inside = items[start:closing]
        if "," in inside or _valid_sequence(_text(inside)):
            return opening, closing
        origin = start = closing + 1  # they stay as they are, whatever is between them


def _closing(items: str | list[str | Part], opening: int, budget: Budget) -> int | None:
    """Return where a brace closes that holds a comma or two dots of its own."""
    level = 0
    separated = False
    for position in range(opening + 1, len(items)):
        item = items[position]
        if item == "}" and not level:
            if separated:
                budget.step(position - opening >> 4)
                return position
        elif item == "}":
            level -= 1
        elif item == "{":
            level += 1
        elif not level and not separated:
            separated = item == "," or (
                item == "." == _at(items, position + 1) and _at(items, position + 2) != "}"
            )
    budget.step(len(items) - opening >> 4)
    return None


def _at(items: str | list[str | Part], position: int) -> str | Part | None:
    return items[position] if position < len(items) else None


def _alternatives(inside: Items, budget: Budget, depth: int) -> Iterator[Items]:
    if "," not in inside:
        text = _text(inside)
        if isinstance(inside, str):
            yield from _sequence(text)
        else:
            for element in _sequence(text):
                yield list(element) or [Quoted("")]
        return
    left = level = 0
    for position, item in enumerate(inside):
        if item == "{":
            level += 1
        elif item == "}" and level:
            level -= 1
        elif item == "," and not level:
            yield from _expand(inside[left:position], budget, depth + 1)
            left = position + 1
    yield from _expand(inside[left:], budget, depth + 1)


def _text(items: str | list[str | Part]) -> str:
    """Return the characters, with a NUL for each part that is no text."""
    return (
        items
        if isinstance(items, str)
        else "".join([item if isinstance(item, str) else "\0" for item in items])
    )


def _valid_sequence(text: str) -> bool:
    match = _SEQUENCE.fullmatch(text)
    if match is None:
        return False
    return all(
        abs(int(number)) <= 1 << 63
        for number in (match[1], match[2], match[5])
        if number and len(number) < 25
    ) and not any(number and len(number) >= 25 for number in (match[1], match[2], match[5]))


def _sequence(text: str) -> Iterator[str]:
    match = _SEQUENCE.fullmatch(text)
    assert match is not None
    first_number, last_number, first_letter, last_letter, step_text = match.groups()
    step = abs(int(step_text)) if step_text else 1
    step = step or 1
    if first_number is not None:
        first, last = int(first_number), int(last_number)
        width = 0
        if any(_PADDED.match(number) for number in (first_number, last_number)):
            width = max(len(first_number), len(last_number))
        for value in (
            range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
        ):
            yield str(value).zfill(width) if width else str(value)
        return
    first, last = ord(first_letter), ord(last_letter)
    for code in range(first, last + 1, step) if first <= last else range(first, last - 1, -step):
        yield chr(code) if code != _BACKSLASH else ""  # it quotes what follows, and is taken away
