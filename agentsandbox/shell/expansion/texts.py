"""Words compiled to one text: no splitting, no pathname expansion, no braces.

Texts joined of constants and variables need no builder. Memory is drawn on the budget where a text
may be large, and what a word has made so far is held (`Budget.keep`) while a command substitution
in it runs.
"""

from __future__ import annotations

from agentsandbox.kernel.accounts import LARGE
from agentsandbox.shell.expansion.compiling import compiled_later
from agentsandbox.shell.expansion.errors import unbound
from agentsandbox.shell.expansion.tildes import Home
from agentsandbox.shell.syntax.nodes import (
    CHOICES,
    ArithmeticSubstitution,
    CommandSubstitution,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    ProcessSubstitution,
    Quoted,
    Slot,
    Word,
)
from agentsandbox.shell.syntax.parser import read_arithmetic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.expansion.compiling import Text, Words
    from agentsandbox.shell.expansion.host import ExpansionHost

_QUOTES = ("'", '"')


def compile_text(parts: tuple[Part, ...], words: Words, assignment: bool = False) -> Text:
    """Compile parts to one text."""
    if len(parts) == 1:
        return part_text(parts[0], words, assignment)
    return join_texts([part_text(part, words, assignment) for part in parts], parts, words)


def join_texts(texts: list[Text], parts: tuple[Part, ...], words: Words) -> Text:
    """Compile the texts of parts to one text."""
    constant = words.constant_text(parts)
    if constant is not None:
        return lambda host: constant
    if len(texts) == 1:
        return texts[0]
    if substitutes(parts[1:]):
        return _joined_around_substitutions(texts)
    if len(texts) == 2:
        first, second = texts

        def two(host: ExpansionHost) -> str:
            text = first(host) + second(host)
            if len(text) > 65536:
                host.budget.make(len(text))
            return text

        return two
    if len(texts) == 3:
        first, second, third = texts

        def three(host: ExpansionHost) -> str:
            text = first(host) + second(host) + third(host)
            if len(text) > 65536:
                host.budget.make(len(text))
            return text

        return three

    def concatenate(host: ExpansionHost) -> str:
        pieces = [text(host) for text in texts]
        total = sum(map(len, pieces))
        if total > 65536:
            host.budget.make(total)
        return "".join(pieces)

    return concatenate


def part_text(part: Part, words: Words, assignment: bool = False) -> Text:
    """A part as one text."""
    if isinstance(part, (Literal, Quoted)):
        text = part.text
        return lambda host: text
    if isinstance(part, Slot):
        return _slot_text(part.number)
    if isinstance(part, DoubleQuoted):
        return compile_text(part.parts, words)
    if isinstance(part, Parameter):
        return parameter_text(part, words, assignment)
    if isinstance(part, (CommandSubstitution, ProcessSubstitution)):
        return words.substitution(part)
    if isinstance(part, ArithmeticSubstitution):
        number = words.arithmetic(part.expression)
        return lambda host: str(number(host))
    if isinstance(part, Home):
        return part.text
    raise TypeError(part)


def parameter_text(node: Parameter, words: Words, assignment: bool = False) -> Text:
    """Compile $name or ${…} to one text."""
    if node.operator == "" and node.prefix == "" and node.subscript is None:
        fast = _plain_text(node)
        if fast is not None:
            return fast
    if node.operator in CHOICES:
        from agentsandbox.shell.expansion.default_values import choice_text

        return choice_text(node, words, assignment)
    from agentsandbox.shell.expansion.parameters import compile_parameter, read_text

    return read_text(compile_parameter(node, words))


def _plain_text(node: Parameter) -> Text | None:
    """Compile $name, the most common expansion."""
    name = node.name
    if not (name[0].isalpha() or name[0] == "_"):
        if name.isdigit() and name != "0":
            return _positional_text(
                int(name[:9]), name if node.source[1:2] == "{" else node.source or name
            )
        return None

    def read(host: ExpansionHost) -> str:
        value = host.values.get(name)
        if type(value) is str:
            return value
        if type(value) is int:
            return str(value)
        text = host.variables.text_of(name, value)
        if text is None:
            if host.options.nounset:
                raise unbound(name)
            return ""
        return text

    return read


def compile_subscripts(word: Word, words: Words) -> tuple[Text, Text]:
    """Compile the word between brackets: the key of an associative array, and an index.

    An index is arithmetic, which sees single quotes and backslashes: it is read anew.
    """
    key = compile_text(word.parts, words)
    if "'" not in word.source and "\\" not in word.source:
        return key, key
    return key, compiled_later(lambda: compile_text(read_arithmetic(word.source), words))


def substitutes(parts: tuple[Part, ...]) -> bool:
    """Whether a command substitution may run in these parts while earlier results wait."""
    for part in parts:
        if isinstance(part, CommandSubstitution):
            return True
        if isinstance(part, DoubleQuoted):
            if substitutes(part.parts):
                return True
        elif isinstance(part, (Parameter, ArithmeticSubstitution)):
            source = part.source if isinstance(part, Parameter) else part.expression.source
            if "(" in source or "`" in source:
                return True
    return False


def _joined_around_substitutions(texts: list[Text]) -> Text:
    """Join texts; large ones are held on the budget while a later part runs a command."""

    def join(host: ExpansionHost) -> str:
        pieces: list[str] = []
        kept = None
        for text in texts:
            piece = text(host)
            pieces.append(piece)
            if kept is None and len(piece) > LARGE:
                kept = host.budget.keep(pieces)
        joined = "".join(pieces)
        if len(joined) > LARGE:
            host.budget.make(len(joined))
        if kept is not None:
            kept.release()
        return joined

    return join


def _slot_text(number: int) -> Text:
    """Compile a slot: the word there is plain, or a text in one pair of quotes."""

    def read(host: ExpansionHost) -> str:
        word = host.slots[number]
        return word[1:-1] if word[0] in _QUOTES else word

    return read


def _positional_text(number: int, shown: str) -> Text:
    def read(host: ExpansionHost) -> str:
        positional = host.stack.positional
        if number <= len(positional):
            return positional[number - 1]
        if host.options.nounset:
            raise unbound(shown)
        return ""

    return read
