"""Brace expansion: {a,b} and {1..9}, before all other expansions and only on unquoted text."""

from __future__ import annotations

import itertools
import re

from agentsandbox.limits import Budget
from agentsandbox.syntax.nodes import Literal, Parameter, Part, Quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.expansion.host import ExpansionHost
    from agentsandbox.expansion.words import Fields, WordCompiler

__all__ = ["brace_fields", "expand_braces"]

_LONG = 65536
"""Characters from which on a word is weighed with the others."""
_FEW = 256
"""Words that are compiled beforehand; more are made one by one."""
_BACKSLASH = 92
_SEQUENCE = re.compile(r"(?:([-+]?[0-9]+)\.\.([-+]?[0-9]+)|([A-Za-z])\.\.([A-Za-z]))(?:\.\.([-+]?[0-9]+))?")
_PADDED = re.compile(r"-?0[0-9]")
_CANDIDATE = re.compile(r"\{.*[,}]", re.DOTALL)

Item = "str | Part"


def brace_fields(parts: tuple[Part, ...], words: WordCompiler) -> Fields:
    """A word with brace expansions as the fields it expands to."""
    counter = Budget()
    alternatives: list[Fields] = []
    for alternative in expand_braces(parts, counter):
        if len(alternatives) >= _FEW:
            return lambda host, out: _many_fields(parts, words, host, out)
        alternatives.append(words.fields_of(alternative))
    if len(alternatives) == 1:
        return alternatives[0]

    def all_fields(host: ExpansionHost, out: list[str]) -> None:
        for alternative in alternatives:
            alternative(host, out)
            if len(out[-1:] and out[-1]) > _LONG:
                _weigh(host, out)

    return all_fields


def _many_fields(parts: tuple[Part, ...], words: WordCompiler, host: ExpansionHost, out: list[str]) -> None:
    budget = host.budget
    size = 0
    for alternative in expand_braces(parts, budget):
        constant = words.constant_field(alternative)
        if constant is not None and not constant.startswith("~"):
            out.append(constant)
            size += len(constant) + 16
        else:
            words.fields_of(alternative)(host, out)
            size += 64
        budget.charge(size >> 2)
        if len(out) & 15 == 0:
            _weigh(host, out)


def _weigh(host: ExpansionHost, words: list[str]) -> None:
    """Refuse words that are too large together."""
    if words and len(words[-1]) > _LONG and sum(map(len, words)) > 4 * host.budget.value_bytes:
        host.budget.charge(sum(map(len, words)))


def expand_braces(parts: tuple[Part, ...], budget: Budget) -> Iterator[tuple[Part, ...]]:
    """Each word that the parts stand for, in order; draws on the budget, one step a word."""
    items: list[str | Part] = []  # characters of unquoted text, other parts whole
    for part in parts:
        if isinstance(part, Literal):
            items.extend(part.text)
        else:
            items.append(part)
    for expanded in _expand(items, budget, 0):
        budget.step()
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
    """`$a` with a character of a brace expansion behind it: bash puts texts together, so that the name goes on."""
    if isinstance(part, Parameter) and part.source == "$" + part.name and part.name.isidentifier():
        return Parameter(part.name + char, source=part.source + char)
    return None


def _expand(items: list[str | Part], budget: Budget, depth: int) -> Iterator[list[str | Part]]:
    if depth > 100:
        yield items
        return
    start = 0
    while True:
        try:
            opening = items.index("{", start)
        except ValueError:
            yield items
            return
        found = _match(items, opening)
        if found is not None:
            break
        start = opening + 1
    closing, commas = found
    prefix = items[:opening]
    suffix = items[closing + 1 :]
    alternatives = _alternatives(items, opening, closing, commas, budget, depth)
    # the suffix expands once for each alternative, innermost loop last, as bash orders them
    if "{" not in suffix:
        for alternative in alternatives:
            budget.step()
            yield prefix + alternative + suffix
        return
    for alternative in alternatives:
        head = prefix + alternative
        for tail in _expand(suffix, budget, depth + 1):
            budget.step()
            yield head + tail


def _alternatives(
    items: list[str | Part], opening: int, closing: int, commas: list[int], budget: Budget, depth: int
) -> Iterator[list[str | Part]]:
    if not commas:
        text = "".join(item for item in items[opening + 1 : closing] if isinstance(item, str))
        for element in _sequence(text):
            yield list(element) or [Quoted("")]
        return
    edges = [opening, *commas, closing]
    for left, right in itertools.pairwise(edges):
        yield from _expand(items[left + 1 : right], budget, depth + 1)


def _match(items: list[str | Part], opening: int) -> tuple[int, list[int]] | None:
    """Where the brace closes and its commas, None if it is not a brace expansion."""
    depth = 0
    commas: list[int] = []
    for position in range(opening, len(items)):
        item = items[position]
        if item == "{":
            depth += 1
        elif item == "}":
            depth -= 1
            if not depth:
                if commas:
                    return position, commas
                inside = items[opening + 1 : position]
                if not inside:
                    return None
                text = "".join(["\0" if isinstance(piece, Part) else piece for piece in inside])
                if ".." in text:
                    return (position, []) if _valid_sequence(text) else None
                depth = 1  # a brace before the first comma closes nothing
        elif item == "," and depth == 1:
            commas.append(position)
        elif isinstance(item, Parameter) and item.source.startswith("${") and depth:
            continue
    return None


def _valid_sequence(text: str) -> bool:
    match = _SEQUENCE.fullmatch(text)
    if match is None:
        return False
    return all(abs(int(number)) <= 1 << 63 for number in (match[1], match[2], match[5]) if number and len(number) < 25) and not any(
        number and len(number) >= 25 for number in (match[1], match[2], match[5])
    )


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
        for value in range(first, last + 1, step) if first <= last else range(first, last - 1, -step):
            yield str(value).zfill(width) if width else str(value)
        return
    first, last = ord(first_letter), ord(last_letter)
    for code in range(first, last + 1, step) if first <= last else range(first, last - 1, -step):
        yield chr(code) if code != _BACKSLASH else ""  # it quotes what follows, and is taken away
