"""Shortcuts for the builtins that assign plain variables, `local` and `read` (see `shortcuts`)."""

from __future__ import annotations

import itertools

from agentsandbox.kernel.streams import decode
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.fields import has_braces
from agentsandbox.shell.expansion.splitting import split_read
from agentsandbox.shell.expansion.variables import SPECIAL, Variables, is_name
from agentsandbox.shell.interpreter.assignments import number_of
from agentsandbox.shell.interpreter.failures import expansion_failed, finish
from agentsandbox.shell.interpreter.words import WORDS
from agentsandbox.shell.syntax.nodes import Assignment, SimpleCommand, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.streams import Stream
    from agentsandbox.shell.interpreter.shell import Run, Shell


def compile_local(node: SimpleCommand, general: Run) -> Run | None:
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


def compile_read(node: SimpleCommand, general: Run) -> Run | None:
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
