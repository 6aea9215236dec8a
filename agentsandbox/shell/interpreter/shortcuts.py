"""Shortcuts for the commands that scripts run most: no list of words, no look-up of a command.

Each makes a closure for a plain form of one builtin, and gets the general closure of the command.
Every shortcut begins by asking `shell.slow`, which is set as soon as anything could make a
difference: a trace, a DEBUG trap, a policy, a function with a builtin's name. It then calls the
general closure instead.

A shortcut stays only if `benchmarks/ablation.py` shows a factor of 1.5 for it.
"""

from __future__ import annotations

import itertools

from agentsandbox.errors import Break, Continue, Return
from agentsandbox.kernel.accounts import is_large
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.splitting import split_read
from agentsandbox.shell.expansion.variables import SPECIAL, Variables, is_name
from agentsandbox.shell.expansion.words import has_braces
from agentsandbox.shell.interpreter.assignments import number_of
from agentsandbox.shell.interpreter.failures import command_failed, expansion_failed, finish
from agentsandbox.shell.interpreter.words import (
    WORDS,
    PlainWords,
    constant_of,
    constants_of,
    plain_words,
)
from agentsandbox.shell.syntax.nodes import (
    Assignment,
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

    from agentsandbox.kernel.streams import Stream
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


def _local(node: SimpleCommand, general: Run) -> Run | None:
    """Compile local name=value … for plain variables."""
    assignments: list[tuple[str, Callable[[Shell], object]]] = []
    for word in node.words[1:]:
        if (
            not isinstance(word, Assignment)
            or word.append
            or word.subscript is not None
            or not isinstance(word.value, Word)
        ):
            return None
        if "{" in word.value.source and has_braces(word.value.parts):
            return None
        value: Callable[[Shell], object] = number_of(word.value) or WORDS.string(
            word.value, assignment=True
        )
        assignments.append((word.name, value))
    if not assignments:
        return None
    line = node.line
    if len(assignments) == 1:
        return _one_local(*assignments[0], line, general)

    def run(shell: Shell) -> int:
        variables = shell.variables
        if shell.slow or not variables.scopes or variables.temporary:
            return general(shell)
        attributes = shell.attributes
        for name, _ in assignments:
            if name in attributes:
                return general(shell)
        shell.line = line
        values = shell.values
        scope = variables.scopes[-1]
        try:
            texts = [value(shell) for _, value in assignments]  # before any of them is assigned
            for (name, _), text in zip(assignments, texts, strict=True):
                if name not in scope:
                    scope[name] = (values.get(name, variables.missing), 0)
                values[name] = text
        except ExpansionError as error:
            shell.status = expansion_failed(shell, error)
            return shell.status
        shell.status = 0
        return 0

    return run


def _one_local(name: str, value: Callable[[Shell], object], line: int, general: Run) -> Run:
    nothing = (Variables.missing, 0)

    def run(shell: Shell) -> int:
        variables = shell.variables
        scopes = variables.scopes
        if shell.slow or not scopes or name in shell.attributes or variables.temporary:
            return general(shell)
        shell.line = line
        try:
            text = value(shell)
        except ExpansionError as error:
            shell.status = expansion_failed(shell, error)
            return shell.status
        scope = scopes[-1]
        values = shell.values
        if name not in scope:
            scope[name] = (values[name], 0) if name in values else nothing
        values[name] = text
        shell.status = 0
        return 0

    return run


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

    def run(shell: Shell) -> int:
        if shell.slow or not shell.stack.frames:
            return general(shell)
        if constant is not None:
            shell.status = constant
        raise Return

    return run


def _read(node: SimpleCommand, general: Run) -> Run | None:
    """Compile [IFS=…] read [-r] name…, the most common condition of a loop."""
    separators: str | None = None
    if node.assignments:
        only = node.assignments[0]
        if (
            len(node.assignments) > 1
            or only.name != "IFS"
            or only.append
            or only.subscript is not None
            or not isinstance(only.value, Word)
        ):
            return None
        separators = WORDS.constant_field(only.value.parts)
        if separators is None or "~" in separators:
            return None
    words = [word.source for word in node.words[1:] if isinstance(word, Word)]
    raw = words[:1] == ["-r"]
    names = words[1:] if raw else words
    if not names or len(words) != len(node.words) - 1 or not all(map(is_name, names)):
        return None
    if len(names) > 1 or separators:
        return _read_fields(names, raw, separators, node.line, general)
    name = names[0]
    keep_blanks = separators == ""
    line = node.line

    def run(shell: Shell) -> int:
        stream = shell.fds.get(0)
        if shell.slow or stream is None or stream.unreadable or name in shell.attributes:
            return general(shell)
        if not keep_blanks and not shell.variables.default_ifs:
            return general(shell)
        text, escaped, complete = _read_line(shell, stream, raw)
        if escaped and not keep_blanks:
            text = "".join(split_read(text, " \t\n", 1, escaped, shell.budget))
        elif not keep_blanks:
            text = text.strip(" \t\n")
        shell.values[name] = text
        shell.specials.last_argument = name
        return finish(shell, 0 if complete else 1, line)

    return run


def _read_fields(
    names: list[str], raw: bool, separators: str | None, line: int, general: Run
) -> Run:
    """Compile [IFS=…] read [-r] name… where a line must be split."""
    count = len(names)
    plain = set(names).isdisjoint

    def run(shell: Shell) -> int:
        stream = shell.fds.get(0)
        if shell.slow or stream is None or stream.unreadable or not plain(shell.attributes):
            return general(shell)
        if separators is not None and shell.attributes.get("IFS") != SPECIAL:
            return general(shell)
        ifs = shell.variables.ifs if separators is None else separators
        text, escaped, complete = _read_line(shell, stream, raw)
        fields = split_read(text, ifs, count, escaped, shell.budget) if ifs else [text]
        shell.values.update(itertools.zip_longest(names, fields, fillvalue=""))
        shell.specials.last_argument = names[-1]
        return finish(shell, 0 if complete else 1, line)

    return run


def _read_line(shell: Shell, stream: Stream, raw: bool) -> tuple[str, set[int], bool]:
    """Return (text of a line, positions of quoted characters, whether the newline was there)."""
    data = stream.readline()
    if b"\0" in data or (not raw and b"\\" in data):
        text, escaped = _careful_line(shell, stream, data, raw)
        complete = text.endswith("\n")
        return text[:-1] if complete else text, escaped, complete
    if data[-1:] == b"\n":
        return decode(data[:-1]), _NONE, True
    return decode(data), _NONE, False


_NONE: set[int] = set()


def _careful_line(shell: Shell, stream: Stream, data: bytes, raw: bool) -> tuple[str, set[int]]:
    """Return (text, positions of quoted characters) of a line with NULs or backslashes."""
    data = data.replace(b"\0", b"")
    if raw:
        return decode(data), set()
    from agentsandbox.shell.builtins.read import unescape

    while data.endswith(b"\\\n") and (len(data) - 1 - len(data[:-1].rstrip(b"\\"))) % 2:
        more = stream.readline()
        data = data[:-2] + more
        shell.budget.charge(len(data))
        if not more:
            break
    return unescape(decode(data))


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
