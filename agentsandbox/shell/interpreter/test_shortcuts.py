"""Shortcuts for `[` and `test` with one comparison, the most common conditions of loops."""

from __future__ import annotations

import re

from agentsandbox.kernel.formats.predicates import NUMERIC, TEXTUAL
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.constants import makes_one_field
from agentsandbox.shell.interpreter.failures import command_failed, expansion_failed, finish
from agentsandbox.shell.interpreter.words import WORDS
from agentsandbox.shell.syntax.nodes import Assignment, DoubleQuoted, Parameter, SimpleCommand, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.interpreter.shell import Run, Shell


def compile_test(node: SimpleCommand, general: Run) -> Run | None:
    """Return the shortcut for `[ … ]` or `test …`; None if there is none."""
    operands = list(node.words[1:])
    if node.words[0].source == "[":
        last = operands.pop() if operands else None
        if not isinstance(last, Word) or last.source != "]":
            return None
    return _test_words(node, operands, general)


def _test_words(node: SimpleCommand, operands: list[Word | Assignment], general: Run) -> Run | None:
    words = [word for word in operands if isinstance(word, Word)]
    line = node.line
    if len(words) == 3:
        left, operator, right = words
        if operator.source in NUMERIC:
            return _compare_numbers(left, operator.source, right, line, general)
        if operator.source in TEXTUAL and makes_one_field(left) and makes_one_field(right):
            return _compare_texts(left, operator.source, right, line, general)
    if len(words) == 2 and words[0].source in ("-z", "-n") and makes_one_field(words[1]):
        text = WORDS.string(words[1])
        wants_empty = words[0].source == "-z"

        def run_empty(shell: Shell) -> int:
            if shell.slow:
                return general(shell)
            shell.line = line
            try:
                status = 0 if (text(shell) == "") is wants_empty else 1
            except ExpansionError as error:
                status = expansion_failed(shell, error)
            return finish(shell, status, line)

        return run_empty
    return None


def _number_reader(word: Word) -> Callable[[Shell], int | None] | None:
    """Compile an operand to a reader of an integer; it returns None for other values."""
    if re.fullmatch(r"-?[0-9]{1,18}", word.source):
        constant = int(word.source)
        return lambda shell: constant
    part = word.parts[0] if len(word.parts) == 1 else None
    if isinstance(part, DoubleQuoted) and len(part.parts) == 1:
        part = part.parts[0]
    if not isinstance(part, Parameter):
        return None
    if (
        not part.operator
        and not part.prefix
        and part.subscript is None
        and part.name.isidentifier()
    ):
        name = part.name

        def read(shell: Shell) -> int | None:
            value = shell.values.get(name)
            if type(value) is int:
                return value
            if (
                type(value) is str
                and value.isdigit()
                and len(value) < 19
                and value.isascii()
                and shell.variables.plain_ifs
            ):
                return int(value)
            return None

        return read
    if part.name in ("@", "*") or (
        part.subscript is not None and part.subscript.source in ("@", "*") and part.prefix != "#"
    ):
        return None
    if part.operator or part.prefix == "!":
        return None
    text = WORDS.string(Word((part,), ""))

    def read_text(shell: Shell) -> int | None:
        value = text(shell)
        return (
            int(value)
            if value.isdigit() and len(value) < 19 and value.isascii() and shell.variables.plain_ifs
            else None
        )

    return read_text


def _compare_numbers(left: Word, operator: str, right: Word, line: int, general: Run) -> Run | None:
    read_left, read_right = _number_reader(left), _number_reader(right)
    if read_left is None or read_right is None:
        return None
    compare = NUMERIC[operator]
    if re.fullmatch(r"-?[0-9]{1,18}", right.source):
        constant = int(right.source)

        def run_constant(shell: Shell) -> int:
            first = read_left(shell)
            if first is None or shell.slow:
                return general(shell)
            status = 0 if compare(first, constant) else 1
            shell.specials.last_argument = "]"
            shell.status = status
            if status and shell.check:
                command_failed(shell, status, line)
            return status

        return run_constant

    def run(shell: Shell) -> int:
        if shell.slow:
            return general(shell)
        try:
            first, second = read_left(shell), read_right(shell)
        except ExpansionError:
            return general(shell)
        if first is None or second is None:
            return general(shell)
        status = 0 if compare(first, second) else 1
        shell.status = status
        if status and shell.check:
            command_failed(shell, status, line)
        return status

    return run


def _compare_texts(left: Word, operator: str, right: Word, line: int, general: Run) -> Run:
    first, second = WORDS.string(left), WORDS.string(right)
    compare = TEXTUAL[operator]

    def run(shell: Shell) -> int:
        if shell.slow:
            return general(shell)
        shell.line = line
        try:
            status = 0 if compare(first(shell), second(shell)) else 1
        except ExpansionError as error:
            status = expansion_failed(shell, error)
        shell.status = status
        if status and shell.check:
            command_failed(shell, status, line)
        return status

    return run
