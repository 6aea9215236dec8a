"""Words as the interpreter compiles them, and texts that become words while a script runs."""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.caching import cache_short
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.splitting import has_magic
from agentsandbox.shell.expansion.words import QUOTES, WordCompiler
from agentsandbox.shell.interpreter.dispatch import compile_substitution
from agentsandbox.shell.syntax.contexts import HERE
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
from agentsandbox.shell.syntax.parser import Parser, read_arithmetic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.shell.expansion.compiling import Text
    from agentsandbox.shell.expansion.host import ExpansionHost

WORDS = WordCompiler(compile_substitution)
"""The compiler of all words of all scripts."""


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
            fields[place] = word[1:-1] if word[0] in QUOTES else word
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


def makes_one_field(word: Word) -> bool:
    """Whether a word is always exactly one field."""
    if not word.parts:
        return False
    for part in word.parts:
        if isinstance(part, (Quoted, Slot)):
            continue
        if isinstance(part, Literal):
            if has_magic(part.text) or "{" in part.text or "~" in part.text:
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


@cache_short(256)
def _quoted_text(text: str) -> Text:
    parser = Parser(text)
    parts = parser.scan(HERE, "")
    return WORDS.string(Word(parts, text))


def expand_quoted_text(shell: ExpansionHost, text: str, *, keep_quotes: bool = False) -> str:
    """Expand a text as a here-document is expanded; remove quotes unless `keep_quotes`."""
    if not keep_quotes and ('"' in text or "'" in text):
        text = _without_quotes(text)
    try:
        return _quoted_text(text)(shell)
    except ShellSyntaxError as error:
        raise ExpansionError(error.message) from None


def expand_index(shell: ExpansionHost, text: str) -> str:
    """Expand the subscript of an indexed array."""
    return _index_text(text)(shell)


def expand_key(shell: ExpansionHost, text: str) -> str:
    """Expand the subscript of an associative array: a word that is not split."""
    try:
        return _key_text(text)(shell)
    except ShellSyntaxError as error:
        raise ExpansionError(error.message) from None


@cache_short(256)
def _key_text(text: str) -> Text:
    return WORDS.subscript(Parser(f"[{text}]").read_subscript())


@cache_short(256)
def _index_text(text: str) -> Text:
    return WORDS.string(Word(read_arithmetic(text), text))


def _without_quotes(text: str) -> str:
    """Drop the quotes around a subscript such as ["a b"] or ['k']."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text.replace('"', "")
