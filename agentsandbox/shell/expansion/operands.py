"""Arithmetic with expansions in it: `$((x + $y * ${#z}))`.

$x in an expression is text in bash. Where each expansion is a whole operand and turns out to be an
integer, its value is put into the tree that was compiled once; anything else is expanded and parsed
anew.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.caching import cache_short
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.expansion.arithmetic import compile_tree, evaluate_text, read_variable
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.syntax.arithmetic import (
    FIRST_OPERAND,
    OPERAND,
    ArithmeticSyntaxError,
    parse_arithmetic,
)
from agentsandbox.shell.syntax.nodes import Literal, Parameter, Part, Quoted, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.shell.expansion.compiling import Text, Words
    from agentsandbox.shell.expansion.host import ExpansionHost

    Number = Callable[[ExpansionHost], int]

_CHANGES = lazily(r"\+\+|--|(?<![=<>!])=(?!=)|<<=|>>=")
_IDENTIFIER_EDGE = lazily(r"[A-Za-z0-9_#@.]")
_INTEGER = lazily(r"-?(?:[1-9][0-9]{0,17}|0)")


def compile_expression(word: Word, words: Words) -> Number:
    """The word as an arithmetic expression."""
    if not word.parts:
        return lambda host: 0
    if all(isinstance(part, (Literal, Quoted)) for part in word.parts):
        return _constant_expression(_filled(word.parts, ()))
    texts = [words.text(part) for part in word.parts]
    as_text = words.joined(texts, word.parts)
    by_operand = _operand_expression(word, texts, as_text, words)
    if by_operand is not None:
        return by_operand
    return lambda host: evaluate_text(host, as_text(host))


def _operand_expression(
    word: Word, all_texts: Sequence[Text], as_text: Text, words: Words
) -> Number | None:
    """The expression with its expansions as operands; None where they are not whole operands."""
    found = _whole_operands(word.parts)
    if found is None:
        return None
    source, operands, keys = found
    try:
        evaluate = compile_tree(parse_arithmetic(source, operands=True), source)
    except (ArithmeticSyntaxError, ExpansionError):
        return None
    # an error shows the text with the values in it
    again = not keys and not _CHANGES.search(source)
    texts = [
        text
        for part, text in zip(word.parts, all_texts, strict=True)
        if not isinstance(part, (Literal, Quoted))
    ]
    readers = [
        _operand_reader(part, text)
        if number not in keys
        else text
        if isinstance(part, Parameter) and not part.operator
        else None
        for number, (part, text) in enumerate(zip(operands, texts, strict=True))
    ]
    if all(reader is not None for reader in readers):
        return _by_readers(readers, evaluate, as_text, again=again)  # type: ignore[arg-type]

    def operands_once(host: ExpansionHost) -> int:
        expanded = [text(host) for text in texts]
        values = [
            text if number in keys else int(text) if _INTEGER.fullmatch(text) else None
            for number, text in enumerate(expanded)
        ]
        if None in values:
            return evaluate_text(host, _filled(word.parts, expanded))
        try:
            return evaluate(host, values)  # type: ignore[arg-type]
        except ExpansionError as error:
            error.message = _with_values(error.message, expanded)
            raise

    return operands_once


def _by_readers(
    readers: list[Callable[[ExpansionHost], object]],
    evaluate: Callable[[ExpansionHost, Sequence[object]], int],
    as_text: Text,
    *,
    again: bool,
) -> Number:
    """The expression with operands that readers find; it is parsed anew where one is no integer.

    `again` says that the expression may be evaluated twice, so an error comes from the text.
    """

    def of_text(host: ExpansionHost, values: Sequence[object], error: ExpansionError) -> int:
        if not again:
            error.message = _with_values(error.message, values)
            raise error
        return evaluate_text(host, as_text(host))

    if len(readers) == 1:
        only = readers[0]

        def one_operand(host: ExpansionHost) -> int:
            value = only(host)
            if value is None:
                return evaluate_text(host, as_text(host))
            try:
                return evaluate(host, (value,))
            except ExpansionError as error:
                return of_text(host, (value,), error)

        return one_operand

    def plain_operands(host: ExpansionHost) -> int:
        values = [reader(host) for reader in readers]
        if None in values:
            return evaluate_text(host, as_text(host))
        try:
            return evaluate(host, values)
        except ExpansionError as error:
            return of_text(host, values, error)

    return plain_operands


def _whole_operands(parts: tuple[Part, ...]) -> tuple[str, list[Part], set[int]] | None:
    """Return the text with a mark for each expansion, the expansions, and which of them are keys.

    None without expansions, with too many, where one is not a whole operand, and for a text that
    holds the mark itself.
    """
    pieces: list[str] = []
    operands: list[Part] = []
    keys: set[int] = set()  # operands inside a subscript, which are text
    depth = 0
    for number, part in enumerate(parts):
        if isinstance(part, (Literal, Quoted)):
            if OPERAND in part.text:
                return None
            pieces.append(part.text)
            depth += part.text.count("[") - part.text.count("]")
            continue
        if depth > 0:
            keys.add(len(operands))
        elif not _is_operand(parts, number):
            return None
        if len(operands) >= 200:
            return None
        pieces.append(OPERAND + chr(FIRST_OPERAND + len(operands)))
        operands.append(part)
    return ("".join(pieces), operands, keys) if operands else None


def _operand_reader(part: Part, text: Text) -> Callable[[ExpansionHost], int | None] | None:
    """Compile an expansion without side effects to a reader of an integer; None for others."""
    if not isinstance(part, Parameter) or part.subscript is not None or part.operator:
        return None
    name = part.name
    if part.prefix == "" and (name[0].isalpha() or name[0] == "_"):

        def read(host: ExpansionHost) -> int | None:
            value = host.values.get(name)
            if type(value) is int:
                return value
            if type(value) is str:
                digits: str = value
                if digits.isdigit() and digits[0] != "0" and len(digits) < 19 and digits.isascii():
                    return int(digits)
                return int(digits) if _INTEGER.fullmatch(digits) else None
            return None

        return read
    if part.prefix == "#" and (name[0].isalpha() or name[0] == "_"):

        def length(host: ExpansionHost) -> int | None:
            value = host.values.get(name)
            return len(value) if type(value) is str and not host.variables.bytewise else None

        return length
    if part.prefix not in ("", "#"):
        return None

    def read_text(host: ExpansionHost) -> int | None:
        value = text(host)
        if value.isdigit() and value[0] != "0" and len(value) < 19 and value.isascii():
            return int(value)
        return int(value) if _INTEGER.fullmatch(value) else None

    return read_text


@cache_short(512)
def _constant_expression(source: str) -> Number:
    """Compile an expression without expansions; a syntax error in it is raised when it runs."""
    try:
        tree = parse_arithmetic(source)
    except ArithmeticSyntaxError:
        return lambda host: evaluate_text(host, source)
    if tree[0] == "number":
        value: int = tree[1]
        return lambda host: value
    if tree[0] == "variable" and tree[2] is None:
        name: str = tree[1]
        return lambda host: read_variable(host, name)
    return compile_tree(tree, source)


def _filled(parts: tuple[Part, ...], values: Sequence[object]) -> str:
    """Return the text of an expression with the values of its expansions."""
    rest = iter(values)
    return "".join(
        part.text if isinstance(part, (Literal, Quoted)) else str(next(rest)) for part in parts
    )


def _with_values(message: str, values: Sequence[object]) -> str:
    """Return a message with the values in the place of the operands."""
    return _OPERANDS.sub(lambda match: str(values[ord(match[1]) - FIRST_OPERAND]), message)


_OPERANDS = lazily(f"{OPERAND}(.)")


def _is_operand(parts: tuple[Part, ...], number: int) -> bool:
    """Whether an expansion is a whole operand by its neighbours."""
    before = parts[number - 1] if number else None
    after = parts[number + 1] if number + 1 < len(parts) else None
    for neighbour, edge in ((before, -1), (after, 0)):
        if neighbour is None:
            continue
        if not isinstance(neighbour, (Literal, Quoted)):
            return False
        text = neighbour.text
        if text and (_IDENTIFIER_EDGE.match(text[edge]) or (edge == 0 and text[0] == "[")):
            return False
        # `$a $b` has no operator between, `$x = 1`, `$x++` and `++$x` need a name
        if edge == 0 and re.match(r"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\s*(?:\+\+|--)", text):
            return False
        if edge == -1 and re.search(r"(?:\+\+|--)\s*\Z", text):
            return False
    return True
