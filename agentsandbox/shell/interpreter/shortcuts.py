"""Shortcuts for the commands that scripts run most: no list of words, no look-up of a command.

Each makes a closure for a plain form of one builtin, and gets the general closure of the command.
Every shortcut begins by asking `shell.slow`, which is set as soon as anything could make a
difference: a trace, a DEBUG trap, a policy, a function with a builtin's name. It then calls the
general closure instead.

A shortcut stays only if `benchmarks/ablation.py` shows a factor of 1.5 for it.
"""

from __future__ import annotations

from agentsandbox.errors import Break, Continue, Return
from agentsandbox.kernel.accounts import is_large
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.constants import (
    PlainWords,
    constant_of,
    constants_of,
    plain_words,
)
from agentsandbox.shell.interpreter.failures import command_failed, expansion_failed
from agentsandbox.shell.syntax.nodes import (
    DoubleQuoted,
    Literal,
    Quoted,
    SimpleCommand,
    Slot,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.interpreter.shell import Run, Shell

_STATUS = lazily(r"[0-9]{1,3}")


def inline_command(node: SimpleCommand, general: Run) -> Run | None:
    """Return the shortcut for a command without assignments; None if there is none."""
    first = node.words[0]
    if not isinstance(first, Word):
        return None
    if node.redirections:
        return None
    if first.source == "read":
        return _read(node, general)
    if node.assignments:
        return None
    maker = _INLINES.get(first.source)
    return maker(node, general) if maker is not None else None


def _nothing(status: int) -> Callable[[SimpleCommand, Run], Run | None]:
    def make(node: SimpleCommand, general: Run) -> Run | None:
        last = ""
        for word in node.words:
            constant = constant_of(word) if isinstance(word, Word) else None
            if constant is None:
                return None
            last = constant
        line = node.line

        def run(shell: Shell) -> int:
            if shell.slow:
                return general(shell)
            shell.status = status
            shell.specials.last_argument = last
            if status and shell.check:
                command_failed(shell, status, line)
            return status

        return run

    return make


def _may_be_option(word: Word) -> bool:
    """Whether the first argument of echo may turn out to be an option."""
    first = word.parts[0] if word.parts else None
    if isinstance(first, DoubleQuoted):
        first = first.parts[0] if first.parts else None
    if isinstance(first, Slot):  # which never begins with a dash
        return False
    return not isinstance(first, (Literal, Quoted)) or first.text.startswith("-")


def _echo(node: SimpleCommand, general: Run) -> Run | None:
    words: list[Word] = list(node.words[1:])  # type: ignore[arg-type]
    if words and _may_be_option(words[0]):
        return None
    constants = constants_of(words)
    if constants is not None:
        return _echo_constant(constants, general)
    from agentsandbox.shell.interpreter.words import WORDS

    line = node.line
    plain = plain_words(words)
    if plain is not None:
        return _echo_plain(plain, line, general)
    fields = [WORDS.fields(word) for word in words]

    def run(shell: Shell) -> int:
        stream = shell.fds.get(1)
        if shell.slow or stream is None:
            return general(shell)
        shell.line = line
        out: list[str] = []
        budget, kept = shell.budget, None
        larges, budget.whole = budget.larges, True
        try:
            for field in fields:
                field(shell, out)
        except ExpansionError as error:
            budget.whole = False
            shell.status = expansion_failed(shell, error)
            return shell.status
        try:
            if budget.larges != larges and is_large(out):
                kept = budget.keep(out)
            budget.whole = False
            stream.write(_echoed(shell, " ".join(out)))
        except OSError as error:
            return _write_failed(shell, error)
        finally:
            if kept is not None:
                kept.release()
        shell.specials.last_argument = out[-1] if out else "echo"
        shell.status = 0
        return 0

    return run


def _echo_constant(words: list[str], general: Run) -> Run:
    """Compile echo of constant words."""
    text = " ".join(words)
    data = encode(text + "\n")
    last = words[-1] if words else "echo"
    escaped = "\\" in text

    def run(shell: Shell) -> int:
        stream = shell.fds.get(1)
        if shell.slow or stream is None or (escaped and shell.options.shopt["xpg_echo"]):
            return general(shell)
        try:
            stream.write(data)
        except OSError as error:
            return _write_failed(shell, error)
        shell.specials.last_argument = last
        shell.status = 0
        return 0

    return run


def _echo_plain(words: PlainWords, line: int, general: Run) -> Run:
    """Compile echo of words some of which are slots."""

    def run(shell: Shell) -> int:
        stream = shell.fds.get(1)
        if shell.slow or stream is None:
            return general(shell)
        shell.line = line
        out = words.fields(shell)
        try:
            stream.write(_echoed(shell, " ".join(out)))
        except OSError as error:
            return _write_failed(shell, error)
        shell.specials.last_argument = out[-1]
        shell.status = 0
        return 0

    return run


def _echoed(shell: Shell, text: str) -> bytes:
    """Return the output of echo for joined words, none of which can be an option."""
    if "\\" in text and shell.options.shopt["xpg_echo"]:
        from agentsandbox.kernel.formats.echo import render_echo

        return render_echo([text], xpg=True, posix=True)
    return encode(text + "\n")


def _write_failed(shell: Shell, error: OSError) -> int:
    import os

    shell.complain(f"echo: write error: {os.strerror(error.errno or 5)}")
    shell.status = 1
    if shell.check:
        command_failed(shell, 1)
    return 1


def _jump(kind: type[Break | Continue]) -> Callable[[SimpleCommand, Run], Run | None]:
    def make(node: SimpleCommand, general: Run) -> Run | None:
        if len(node.words) > 1:
            return None

        def run(shell: Shell) -> int:
            if shell.slow or not shell.control.loops:
                return general(shell)
            shell.control.break_levels = 1
            shell.status = 0
            raise kind

        return run

    return make


def _return(node: SimpleCommand, general: Run) -> Run | None:
    if len(node.words) > 2:
        return None
    constant: int | None = None
    if len(node.words) == 2:
        word = node.words[1]
        if not isinstance(word, Word) or not _STATUS.fullmatch(word.source):
            return None
        constant = int(word.source) & 255
    line = node.line

    def run(shell: Shell) -> int:
        if shell.slow or not shell.stack.frames:
            return general(shell)
        shell.line = line
        if constant is not None:
            shell.status = constant
        raise Return

    return run


def _local(node: SimpleCommand, general: Run) -> Run | None:
    from agentsandbox.shell.interpreter.variable_shortcuts import compile_local

    return compile_local(node, general)


def _read(node: SimpleCommand, general: Run) -> Run | None:
    from agentsandbox.shell.interpreter.variable_shortcuts import compile_read

    return compile_read(node, general)


def _test(node: SimpleCommand, general: Run) -> Run | None:
    from agentsandbox.shell.interpreter.test_shortcuts import compile_test

    return compile_test(node, general)


_INLINES: dict[str, Callable[[SimpleCommand, Run], Run | None]] = {
    ":": _nothing(0),
    "true": _nothing(0),
    "false": _nothing(1),
    "echo": _echo,
    "[": _test,
    "test": _test,
    "local": _local,
    "break": _jump(Break),
    "continue": _jump(Continue),
    "return": _return,
}
