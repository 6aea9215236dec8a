"""Compiles each command to a closure, which `Editor.run` calls.

A closure returns None to go on with the next command, or the number of the command to go to.
"""

from __future__ import annotations

from agentsandbox.commands.sed.editor import (
    DELETE,
    DELETE_LINE,
    END,
    QUIT,
    QUIT_SILENTLY,
    Editor,
    Program,
)
from agentsandbox.commands.sed.nodes import Address, Command, Script, SedError
from agentsandbox.commands.sed.substitution import build_replacer, replace
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.sed.editor import Operation
    from agentsandbox.commands.sed.output import Settings

    Test = Callable[[Editor], bool]

_NO_LINE = 1 << 60


def compile_script(script: Script, settings: Settings) -> Program:
    """Return the program of a script."""
    ranges: list[Range] = []
    operations = [compile_command(command, settings, ranges) for command in script.commands]
    for at, command in enumerate(script.commands):
        if command.name == "N" and command.first is None and _repeats_to_end(script.commands, at):
            operations[at] = _gather
    busy, last = _busy_lines(script)
    return Program(operations, busy, last=last, ranges=ranges, where=script.where)


def _repeats_to_end(commands: list[Command], at: int) -> bool:
    """Whether the N at this place is a loop up to the last line: `:a;N;$!ba` or `:a;$!{N;ba}`."""
    block = commands[at - 1] if at else None
    branch = commands[at + 1] if at + 1 < len(commands) else None
    if branch is None or branch.name != "b":
        return False
    start = at
    if block is not None and block.name == "{" and block.target == at + 2 and branch.first is None:
        condition = block
        start = at - 1
    else:
        condition = branch
    if (
        condition.first is None
        or condition.first.kind != "last"
        or condition.second is not None
        or not condition.negated
    ):
        return False
    return branch.target <= start and all(
        command.name == ":" for command in commands[branch.target : start]
    )


def _gather(editor: Editor) -> int | None:
    """`N` for all lines that are left at once: one by one, each would copy those before it."""
    outcome = _append_next(editor)
    if outcome is None:
        editor.append_lines()
    return outcome


def _busy_lines(script: Script) -> tuple[list[tuple[int, int]] | None, bool]:
    """Return the ranges of lines at which a command applies, and whether one does at the last line.

    The ranges are None if they are not known by number.
    """
    busy: list[tuple[int, int]] = []
    last = False
    skips = any(command.name in "nN" for command in script.commands)
    index = 0
    while index < len(script.commands):
        command = script.commands[index]
        index = command.target if command.name == "{" else index + 1
        first, second = command.first, command.second
        if command.name == ":":
            continue
        if first is None or command.negated or first.kind not in ("line", "last"):
            return None, False
        if first.kind == "last":
            last = True
            if second is not None:
                return None, False
        elif second is None:
            busy.append((first.number, first.number))
        elif second.kind in ("line", "plus"):
            end = (
                second.number
                if second.kind == "line"
                else _NO_LINE
                if skips
                else first.number + second.number
            )
            busy.append((first.number, max(first.number, end)))
        else:
            busy.append((first.number, _NO_LINE))
    return busy, last


def compile_command(command: Command, settings: Settings, ranges: list[Range]) -> Operation:
    """Return what a command does where its addresses apply; two of them join `ranges`."""
    range_test: Range | None = None
    if command.first is not None and command.second is not None:
        range_test = Range(command.first, command.second)
        ranges.append(range_test)
    skip = command.target if command.name == "{" else None
    if command.name == "c":
        operation = _change(command, settings, range_test)
    else:
        operation = _PLAIN.get(command.name) or _MADE[command.name](command, settings)
    test: Test | None = range_test.test if range_test is not None else _address_test(command.first)
    if test is None:
        if not command.negated:
            return operation
        return lambda _editor: skip
    if command.negated:
        return lambda editor: skip if test(editor) else operation(editor)
    return lambda editor: operation(editor) if test(editor) else skip


# addresses


def _address_test(address: Address | None) -> Test | None:
    """Return the test whether an address applies to the current line; None for all lines."""
    if address is None:
        return None
    number, step = address.number, address.step
    if address.kind == "last":
        return lambda editor: editor.input.is_last()
    if address.kind == "step" and step > 0:
        return lambda editor: editor.number >= number and (editor.number - number) % step == 0
    if address.kind == "regex":
        regex = address.regex
        if regex is not None and regex.fast_test is not None and regex.literal is not None:
            literal = regex.literal

            def contains(editor: Editor) -> bool:
                editor.last_regex = regex
                return literal in editor.space

            return contains
        return lambda editor: editor.regex(regex).test(editor.space, editor.budget)
    return lambda editor: editor.number == number


class Range:
    """Two addresses: true from the first to the second."""

    __slots__ = ("_closed", "_end", "_first", "_second", "_starts", "_stops", "active")

    def __init__(self, first: Address, second: Address) -> None:
        self._first = first
        self._second = second
        self._starts = _address_test(first)
        self._stops = _address_test(second) if second.kind in ("regex", "last", "step") else None
        self._end = 0
        self.reset()

    def reset(self) -> None:
        """Begin again, as at the first line."""
        self.active = self._first.kind == "zero"
        self._closed = False

    def test(self, editor: Editor) -> bool:
        """Whether the current line is in the range."""
        number = editor.number
        if not self.active:
            return self._start(editor, number)
        if self._stops is not None:
            if self._stops(editor):
                self._close()
            return True
        if number >= self._end:
            self._close()
        return number <= self._end or self._second.kind != "line"

    def _close(self) -> None:
        self.active = False
        self._closed = True

    def _start(self, editor: Editor, number: int) -> bool:
        first, second = self._first, self._second
        if first.kind == "line":
            if self._closed or number < first.number:
                return False
        elif self._starts is None or not self._starts(editor):
            return False
        if second.kind == "line":
            if number >= second.number:
                self._closed = True
                return first.kind != "line" or number in (first.number, second.number)
            self._end = second.number
        elif second.kind == "plus":
            self._end = number + second.number
            if not second.number:
                self._closed = True
                return True
        elif second.kind == "last" and editor.input.is_last():
            self._closed = True
            return True
        self.active = True
        return True


# commands


def _append(command: Command, _: Settings) -> Operation:
    text = command.text

    def append(editor: Editor) -> None:
        editor.appended.append(lambda later: later.output.text(text))

    return append


def _with_end(text: str, settings: Settings) -> str:
    """Return the text of i or c with the end that lines have."""
    return f"{text[:-1]}\0" if settings.null_lines and text else text


def _insert(command: Command, settings: Settings) -> Operation:
    text = _with_end(command.text, settings)

    def insert(editor: Editor) -> None:
        editor.output.text(text)

    return insert


def _change(command: Command, settings: Settings, range_test: Range | None) -> Operation:
    text = _with_end(command.text, settings)

    def change(editor: Editor) -> int:
        if text and (range_test is None or not range_test.active or command.negated):
            editor.output.text(text)
        return DELETE

    return change


def _get(editor: Editor) -> None:
    editor.space, editor.complete = editor.hold, editor.hold_complete


def _get_append(editor: Editor) -> None:
    hold = editor.hold
    editor.budget.charge(len(editor.space) + len(hold))
    editor.space = f"{editor.space}{editor.output.end}{hold}"
    editor.complete = editor.hold_complete


def _hold(editor: Editor) -> None:
    editor.hold, editor.hold_complete = editor.space, editor.complete


def _exchange(editor: Editor) -> None:
    editor.space, editor.hold = editor.hold, editor.space
    editor.complete, editor.hold_complete = editor.hold_complete, editor.complete


def _next(_: Command, settings: Settings) -> Operation:
    quiet = settings.quiet

    def next_line(editor: Editor) -> int | None:
        if editor.input.is_last():
            return END
        if not quiet:
            editor.print_space()
        if editor.appended:
            editor.write_appended()
        editor.next_line()
        editor.substituted = False
        return None

    return next_line


def _append_next(editor: Editor) -> int | None:
    if editor.input.is_last():
        return END
    if editor.appended:
        editor.write_appended()
    editor.append_line()
    editor.substituted = False
    return None


def _print_line(editor: Editor) -> None:
    line, newline, _ = editor.space.partition(editor.output.end)
    editor.output.line(line, complete=bool(newline) or editor.complete)


def _quit(command: Command, _: Settings) -> Operation:
    status = command.number or 0
    outcome = QUIT if command.name == "q" else QUIT_SILENTLY

    def leave(editor: Editor) -> int:
        editor.status = status
        return outcome

    return leave


def _read(command: Command, _: Settings) -> Operation:
    name = command.text

    def write(editor: Editor) -> None:
        editor.output.text(editor.settings.decode(editor.read_file(name)))

    def read(editor: Editor) -> None:
        editor.appended.append(write)

    return read


def _number(editor: Editor) -> None:
    editor.output.text(f"{editor.number}{editor.output.end}")


def _write(command: Command, _: Settings) -> Operation:
    name = command.text

    def write(editor: Editor) -> None:
        editor.outputs[name].line(editor.space, complete=editor.complete)

    return write


def _clear(editor: Editor) -> None:
    editor.space = ""


def _transliterate(command: Command, _: Settings) -> Operation:
    table = command.table

    def transliterate(editor: Editor) -> None:
        editor.space = editor.space.translate(table)

    return transliterate


def _branch(command: Command, _: Settings) -> Operation:
    target = command.target
    return lambda _editor: target


def _branch_if(command: Command, _: Settings) -> Operation:
    """`t` and `T`, which branches if nothing was substituted."""
    target, wanted = command.target, command.name == "t"

    def branch(editor: Editor) -> int | None:
        changed, editor.substituted = editor.substituted, False
        return target if changed == wanted else None

    return branch


_NAMED = {7: "a", 8: "b", 12: "f", 10: "n", 13: "r", 9: "t", 11: "v", 92: "\\"}
_LISTED = [
    f"\\{_NAMED[byte]}" if byte in _NAMED else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
    for byte in range(256)
]


def _list(command: Command, settings: Settings) -> Operation:
    width = settings.line_length if command.number is None else command.number

    def write(editor: Editor) -> None:
        out: list[str] = []
        column = 0
        budget = editor.budget
        for byte in encode(editor.space):
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            shown = _LISTED[byte]
            if width and column + len(shown) > width - 1:
                out.append(f"\\{editor.output.end}")
                column = 0
            out.append(shown)
            column += len(shown)
        editor.output.text(f"{''.join(out)}${editor.output.end}")

    return write


def _substitute(command: Command, _: Settings) -> Operation:
    substitution = command.substitution
    assert substitution is not None
    given = substitution.regex
    replacer = build_replacer(substitution.replacement)
    highest = substitution.replacement.highest_group
    text = substitution.replacement.text
    prints, file = substitution.prints, substitution.file
    literal = (
        given.literal
        if given is not None and not substitution.number and text is not None
        else None
    )
    limit = -1 if substitution.everywhere else 1

    def substitute(editor: Editor) -> None:
        space = editor.space
        if literal and text is not None:
            editor.last_regex = given
            if literal not in space:
                return
            if len(text) > len(literal):
                editor.budget.charge(
                    len(space)
                    + (len(text) - len(literal)) * (space.count(literal) if limit < 0 else 1)
                )
            result: str | None = space.replace(literal, text, limit)
        else:
            regex = editor.regex(given)
            if given is None and highest > regex.groups:
                raise SedError(
                    f"{editor.program.where}: invalid reference \\{highest} on `s' command's RHS"
                )
            result = replace(regex, substitution, replacer, space, editor.budget)
            if result is None:
                return
        assert result is not None
        editor.space = result
        editor.substituted = True
        if prints:
            editor.print_space()
        if file is not None:
            editor.outputs[file].line(editor.space, complete=editor.complete)

    return substitute


_PLAIN: dict[str, Operation] = {
    "{": lambda _editor: None,
    ":": lambda _editor: None,
    "=": _number,
    "d": lambda _editor: DELETE,
    "D": lambda _editor: DELETE_LINE,
    "g": _get,
    "G": _get_append,
    "h": _hold,
    "N": _append_next,
    "H": Editor.append_to_hold,
    "p": Editor.print_space,
    "P": _print_line,
    "x": _exchange,
    "z": _clear,
}
_MADE: dict[str, Callable[[Command, Settings], Operation]] = {
    "a": _append,
    "b": _branch,
    "i": _insert,
    "l": _list,
    "n": _next,
    "q": _quit,
    "Q": _quit,
    "r": _read,
    "s": _substitute,
    "t": _branch_if,
    "T": _branch_if,
    "w": _write,
    "y": _transliterate,
}
