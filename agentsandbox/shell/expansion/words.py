"""Words compiled to closures: to one text, to fields, to a pattern.

A word goes through up to six expansions, in this order (POSIX 2.6): braces, tildes, then
parameters, commands and arithmetic together, field splitting, pathnames, quote removal. Doing them
one after the other on a text would need marks for what was quoted. Here the tree of the word knows
that, so one pass is enough: each part adds its result in the way that its quoting allows.

How a word is used decides what is compiled of it. `fields` is for arguments (`expansion.fields`).
`string` is for assignments, redirections and `case`: one text, no splitting (`expansion.texts`).
`pattern` and `regular_expression` quote what was quoted (`expansion.patterns`). `subscript` and
`arithmetic` are for what is between brackets.

What is known when a word is compiled costs nothing later: a constant word is one closure that
returns its text. Most words are constant, so the modules for the others are loaded at the first
word that is not. These modules get the compiler as an argument, because words hold words.
"""

from __future__ import annotations

from agentsandbox.kernel.caching import lru_cache
from agentsandbox.shell.syntax.nodes import DoubleQuoted, Literal, Quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from agentsandbox.shell.expansion.compiling import Emit, Fields, Number, Text
    from agentsandbox.shell.syntax.nodes import (
        CommandSubstitution,
        Part,
        ProcessSubstitution,
        Word,
    )

_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.,:%^=@+-"
"""Characters that mean nothing but themselves in a word."""


@lru_cache(maxsize=None)
def _texts() -> ModuleType:
    """Load what compiles texts; an import statement takes a microsecond at each word."""
    import agentsandbox.shell.expansion.texts

    return agentsandbox.shell.expansion.texts


@lru_cache(maxsize=None)
def _fields() -> ModuleType:
    """Load what compiles fields, likewise."""
    import agentsandbox.shell.expansion.fields

    return agentsandbox.shell.expansion.fields


@lru_cache(maxsize=None)
def _patterns() -> ModuleType:
    """Load what compiles patterns, likewise."""
    import agentsandbox.shell.expansion.patterns

    return agentsandbox.shell.expansion.patterns


class WordCompiler:
    """Compiles words. `substitution` compiles $(…) and <(…), which only the interpreter can."""

    def __init__(
        self,
        substitution: Callable[[CommandSubstitution | ProcessSubstitution], Callable[[Any], str]],
    ) -> None:
        self.substitution = substitution

    # one text

    def string(self, word: Word, *, assignment: bool = False, in_word: bool = False) -> Text:
        """Compile the word to one text: no splitting, no pathname or brace expansion."""
        if _is_plain(word.parts):
            plain: str = word.parts[0].text  # type: ignore[attr-defined]
            return lambda host: plain
        parts = self.tildes(word.parts, assignment, in_word=in_word)
        text: Text = _texts().compile_text(parts, self, assignment)
        return text

    def subscript(self, word: Word) -> Text:
        """The word between brackets as one text, in which a tilde is not expanded."""
        text: Text = _texts().compile_text(word.parts, self)
        return text

    def subscripts(self, word: Word) -> tuple[Text, Text]:
        """The word between brackets as the key of an associative array, and as an index."""
        texts: tuple[Text, Text] = _texts().compile_subscripts(word, self)
        return texts

    def joined(self, texts: list[Text], parts: tuple[Part, ...]) -> Text:
        """Compile the texts of parts to one text."""
        text: Text = _texts().join_texts(texts, parts, self)
        return text

    def text(self, part: Part) -> Text:
        """A part as one text."""
        text: Text = _texts().part_text(part, self)
        return text

    # numbers

    def arithmetic(self, word: Word) -> Number:
        """The word as an arithmetic expression."""
        from agentsandbox.shell.expansion.operands import compile_expression

        return compile_expression(word, self)

    # fields

    def fields(self, word: Word, *, in_list: bool = False) -> Fields:
        """Compile the word to the fields it expands to; `in_list` is for array literals."""
        if in_list:
            return self._new_fields(word, True)
        known: Fields | None = word.fields
        if known is None:
            known = word.fields = self._new_fields(word, False)
        return known

    def _new_fields(self, word: Word, in_list: bool) -> Fields:
        parts = word.parts
        if len(parts) == 1:
            part = parts[0]
            if type(part) is DoubleQuoted and len(part.parts) == 1:
                part = part.parts[0]
            if type(part) is Quoted or (part is parts[0] and _is_plain(parts)):
                constant: str = part.text  # type: ignore[attr-defined]
                return lambda host, out: out.append(constant)
        fields: Fields = _fields().word_fields(word, self, in_list=in_list)
        return fields

    def fields_of(self, parts: tuple[Part, ...], *, in_word: bool = False) -> Fields:
        """As `fields`, for parts without brace expansions."""
        fields: Fields = _fields().fields_of(self.tildes(parts, False, in_word=in_word), self)
        return fields

    def constant_field(self, parts: tuple[Part, ...]) -> str | None:
        """Return the field that constant parts make; None if any part depends on the shell."""
        constant: str | None = _fields().constant_field(parts, self)
        return constant

    def constant_text(self, parts: tuple[Part, ...]) -> str | None:
        """Return the text of constant parts; None if any part depends on the shell."""
        texts: list[str] = []
        for part in parts:
            if isinstance(part, (Literal, Quoted)):
                texts.append(part.text)
            elif isinstance(part, DoubleQuoted):
                inner = self.constant_text(part.parts)
                if inner is None:
                    return None
                texts.append(inner)
            else:
                return None
        return "".join(texts)

    def emit_quoted(self, part: Part) -> Emit:
        """A part inside double quotes: "$@" makes a field of each element."""
        emit: Emit = _fields().emit_quoted(part, self)
        return emit

    def emit_operand(self, part: Part) -> Emit:
        """A part of an unquoted ${x-word}: its unquoted text splits as an expansion does."""
        emit: Emit = _fields().emit_operand(part, self)
        return emit

    # patterns

    def pattern(self, word: Word) -> Text:
        """Compile the word to a shell pattern, in which quoted text matches itself."""
        pattern: Text = _patterns().compile_pattern(word, self)
        return pattern

    def traced_pattern(self, word: Word) -> Text:
        """Compile the pattern as `set -x` shows it: quoted characters behind a backslash."""
        pattern: Text = _patterns().compile_traced_pattern(word, self)
        return pattern

    def regular_expression(self, word: Word) -> Text:
        """Compile the word to an extended regular expression; quoted text matches itself."""
        expression: Text = _patterns().compile_regular_expression(word, self)
        return expression

    def replacement(self, word: Word) -> Text:
        """Compile the word to the replacement of ${x/y/z}; a quoted & or backslash is text."""
        replacement: Text = _patterns().compile_replacement(word, self)
        return replacement

    # tildes

    def tildes(
        self, parts: tuple[Part, ...], assignment: bool, *, in_word: bool = False
    ) -> tuple[Part, ...]:
        """Replace the ~ prefixes of unquoted text by parts that expand to a home directory.

        With `in_word`, a word that looks like an assignment is expanded like one.
        """
        for part in parts:
            if type(part) is Literal and "~" in part.text:
                from agentsandbox.shell.expansion.tildes import replace_tildes

                return replace_tildes(parts, assignment, in_word)
        return parts


def _is_plain(parts: tuple[Part, ...]) -> bool:
    """Whether a word is one literal of characters that mean nothing but themselves."""
    if len(parts) != 1 or type(parts[0]) is not Literal:
        return False
    text = parts[0].text
    return text != "" and not text.strip(_PLAIN)
