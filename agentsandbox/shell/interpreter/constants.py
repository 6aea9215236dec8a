"""Constant words: those that are the same field whenever they are expanded."""

from __future__ import annotations

from agentsandbox.shell.syntax.nodes import (
    UNKNOWN,
    Assignment,
    DoubleQuoted,
    Literal,
    Parameter,
    Quoted,
    Slot,
    Word,
)
from agentsandbox.shell.syntax.plain_commands import PLAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.shell.expansion.host import ExpansionHost

_QUOTES = "'", '"'


def constant_of(word: Word) -> str | None:
    """Return the one field that a word always is; None if it depends on the shell."""
    constant = word.constant
    if constant is UNKNOWN:
        is_known = makes_one_field(word) and "$" not in word.source
        constant = word.constant = "".join(map(_part_text, word.parts)) if is_known else None
    return constant


def constants_of(words: Sequence[Word | Assignment]) -> list[str] | None:
    """Return the fields of words that are all constant; None for others."""
    constants: list[str] = []
    for word in words:
        constant = word.constant if isinstance(word, Word) else None
        if constant is UNKNOWN:
            constant = constant_of(word)  # type: ignore[arg-type]
        if constant is None:
            return None
        constants.append(constant)
    return constants


class PlainWords:
    """Words that expand to themselves: constants, and slots that the running text fills.

    Nothing runs while they are expanded, and all of them together are short.
    """

    __slots__ = ("_slots", "_template")

    def __init__(self, template: list[str], slots: list[tuple[int, int]]) -> None:
        self._template = template
        self._slots = slots
        """(place in the words, number of the slot)."""

    def fields(self, shell: ExpansionHost) -> list[str]:
        """Return the fields, one for each word."""
        fields = self._template.copy()
        for place, number in self._slots:
            word = shell.slots[number]
            fields[place] = word[1:-1] if word[0] in _QUOTES else word
        return fields


def plain_words(words: Sequence[Word | Assignment]) -> PlainWords | None:
    """Return the words if each is a constant or a slot; None for others."""
    template: list[str] = []
    slots: list[tuple[int, int]] = []
    for place, word in enumerate(words):
        constant = constant_of(word) if isinstance(word, Word) else None
        if constant is None:
            if not isinstance(word, Word) or len(word.parts) != 1:
                return None
            slot = word.parts[0]
            if not isinstance(slot, Slot):
                return None
            slots.append((place, slot.number))
        template.append(constant or "")
    return PlainWords(template, slots)


def _part_text(part: object) -> str:
    """The text of a constant part."""
    if isinstance(part, DoubleQuoted):
        return "".join(map(_part_text, part.parts))
    return part.text  # type: ignore[attr-defined, no-any-return]


def _may_expand(text: str) -> bool:
    """Whether an unquoted text may be a pattern, or hold braces or a tilde that expand."""
    if "{" in text or "~" in text:
        return True
    from agentsandbox.shell.expansion.magic import has_magic

    return has_magic(text)


def makes_one_field(word: Word) -> bool:
    """Whether a word is always exactly one field."""
    if not word.parts:
        return False
    for part in word.parts:
        if isinstance(part, (Quoted, Slot)):
            continue
        if isinstance(part, Literal):
            if part.text.strip(PLAIN) and _may_expand(part.text):
                return False
            continue
        if isinstance(part, DoubleQuoted) and all(
            isinstance(piece, Quoted)
            or (
                isinstance(piece, Parameter)
                and piece.name not in ("@", "*")
                and not piece.prefix
                and piece.subscript is None
                and not piece.operator
            )
            for piece in part.parts
        ):
            continue
        return False
    return True
