"""`sed --debug`: the program in one spelling, and what each command does to the two spaces."""

from __future__ import annotations

from agentsandbox.languages.sed.compiler import Range, compile_command
from agentsandbox.languages.sed.escapes import unescape
from agentsandbox.languages.sed.nodes import Address, Command, Replacement, Script, Substitution
from agentsandbox.languages.sed.runtime import DELETE, DELETE_LINE, QUIT, Editor, Program, Settings
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.languages.sed.runtime import Operation
    from agentsandbox.regexps.matcher import Match

__all__ = ["DebugEditor", "Tracer"]

_NAMED = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}
_SHOWN_BYTES = [
    _NAMED.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\o{byte:03o}" if byte < 128 else f"\\o{byte | 0xFFFFFF00:o}")
    for byte in range(256)
]
"""Bytes from 128 on are negative numbers in C."""
_IN_PATTERNS = "afnrtvcdox"
"""The letters of escapes that a pattern has as characters."""
_PATTERN_AFTER = "syzGNn"
_HOLD_AFTER = "ghH"


def _visible(text: str) -> str:
    return "".join([_SHOWN_BYTES[byte] for byte in encode(text)])


def _pattern(source: str) -> str:
    """A regular expression between slashes; an empty one stays empty."""
    out = []
    position = 0
    while position < len(source):
        character = source[position]
        position += 1
        if character == "\\" and source[position : position + 1] and source[position] in _IN_PATTERNS:
            character, position = unescape(source, position)
        elif character == "\\" and position < len(source):
            character += source[position]
            position += 1
        out.append("\\/" if character == "/" else _visible(character))
    return f"/{''.join(out)}/"


def _address(address: Address) -> str:
    number = address.number
    if address.kind == "regex":
        return _pattern(address.source) + address.flags
    if address.kind in ("plus", "multiple"):
        return f"{'+' if address.kind == 'plus' else '~'}{number}" if number else "[ADDR-NULL]"
    shown = {"last": "$", "zero": "0", "step": f"{number}~{address.step}"}
    return shown.get(address.kind, str(number))


def _replacement(replacement: Replacement) -> str:
    """The right side of `s`; a letter case is named where it changes, its end is \\E."""
    out: list[str] = []
    case = kept = last = prefix = ""

    def part(text: str) -> None:
        nonlocal last, case
        if case != last:
            out.append(f"\\{case[-1:] or 'E'}")
            last = case
        out.append(text)
        case = kept

    for kind, value in replacement.pieces:
        if kind == "text":
            prefix = str(value)
            continue
        if kind == "group":
            part(prefix + ("&" if value == 0 else f"\\{value}"))
        else:
            part(prefix)
            if value in ("l", "u"):
                case = kept + str(value)
            else:
                case = kept = "" if value == "E" else str(value)
        prefix = ""
    if prefix:
        part(prefix)
    return "".join(out)


def _substitution(found: Substitution) -> str:
    flags = found.flags + "g" * found.everywhere + "e" * found.evaluate + "p" * bool(found.prints)
    number = str(found.number) if found.number else ""
    file = f"w{found.file}" if found.file is not None else ""
    return f"{_pattern(found.source)}{_replacement(found.replacement)}/{flags}{number}{file}"


def _transliteration(command: Command, *, bytewise: bool) -> str:
    if not bytewise:
        return f"/{command.text}/"
    pairs = sorted((before, after) for before, after in command.table.items() if chr(before) != after)
    return f"/{''.join([chr(before) for before, _ in pairs])}/{''.join([after for _, after in pairs])}/"


class Tracer:
    """Shows commands, in the depth that blocks have reached by then: leaving one with `d` does not make it less."""

    def __init__(self, script: Script, settings: Settings) -> None:
        self.script = script
        self.settings = settings
        self._depth = 0
        self._executed: set[Command] = set()

    def program(self) -> str:
        """The text of the whole program."""
        self._depth = 1
        text = "SED PROGRAM:\n" + "".join([self.command(command) for command in self.script.commands])
        self._depth = 0
        return text

    def command(self, command: Command) -> str:
        """The line of one command."""
        if command.name == "}":
            self._depth = max(0, self._depth - 1)
        where = "" if command.first is None else _address(command.first)
        where += "" if command.second is None else f",{_address(command.second)}"
        where += "! " if where and command.negated else "!" if command.negated else " " if where else ""
        text = f"{'  ' * self._depth}{where}{command.name}{self._arguments(command)}\n"
        if command.name == "{":
            self._depth += 1
        return text

    def _arguments(self, command: Command) -> str:
        name = command.name
        if name in "aic":
            return f"\\{command.text}"
        if name in "btT":
            return f" {command.label}" if command.label else ""
        if name in "lqQ":
            return "" if command.number is None else f" {command.number}"
        if name == "e":
            return f" {command.text}{chr(0) if command in self._executed else chr(10)}" if command.text else " "
        if name == "s" and command.substitution is not None:
            return _substitution(command.substitution)
        if name == "y":
            return _transliteration(command, bytewise=self.settings.bytewise)
        return {":": command.label, "r": f" {command.text}", "R": f" {command.text}"}.get(name, command.text)

    def compiled(self) -> Program:
        """The program, each command of which says what it does."""
        ranges: list[Range] = []
        operations = [self._traced(command, ranges) for command in self.script.commands]
        return Program(operations, None, last=True, ranges=ranges, where=self.script.where)

    def _traced(self, command: Command, ranges: list[Range]) -> Operation:
        operation = compile_command(command, self.settings, ranges, self._shown)

        def traced(editor: Editor) -> int | None:
            editor.standard_output.note(f"COMMAND: {self.command(command)}")
            return operation(editor)

        return traced

    def _shown(self, command: Command, operation: Operation) -> Operation:
        """The operation, after which the spaces are shown that it may have changed."""
        substitution = command.substitution
        name = command.name

        def shown(editor: Editor) -> int | None:
            if substitution is not None:
                match = editor.regex(substitution.regex).search(editor.space, 0, editor.budget)
                if match is not None:
                    editor.standard_output.note(_registers(match, editor.space))
            outcome = operation(editor)
            if outcome is not None:
                if name == "n" and isinstance(editor, DebugEditor):  # there is no next line
                    editor.print_early()
                return outcome
            if name in _PATTERN_AFTER or name == "x":
                editor.standard_output.note(f"PATTERN: {_visible(editor.space)}\n")
            if name in _HOLD_AFTER or name == "x":
                editor.standard_output.note(f"HOLD:    {_visible(editor.hold)}\n")
            if name == "e":
                self._executed.add(command)
            return None

        return shown


def _registers(match: Match, space: str) -> str:
    """Where the groups are, in bytes, up to the first that took no part."""
    lines = ["MATCHED REGEX REGISTERS\n"]
    for number in range(10):
        try:
            start, end = match.span(number)
        except IndexError:
            break
        if start < 0:
            break
        places = len(encode(space[:start])), len(encode(space[:end]))
        lines.append(f"  regex[{number}] = {places[0]}-{places[1]} '{decode(encode(space[start:end]))}'\n")
    return "".join(lines)


class DebugEditor(Editor):
    """An editor that tells when a cycle begins and ends."""

    printed = False
    """Whether the pattern space was printed before the cycle ended."""

    def print_early(self) -> None:
        """Print the pattern space where `n` has found no line."""
        if not self.settings.quiet:
            self.print_space()
        self.printed = True

    def end_cycle(self) -> None:
        """Print the pattern space, unless that is done, and what is queued."""
        if not self.printed:
            super().end_cycle()
        elif self.appended:
            self.write_appended()

    def run(self) -> bool:
        """Edit all of the input; whether the script said to quit."""
        note = self.standard_output.note
        restart = False
        while True:
            if not restart:
                if not self.next_line():
                    return False
                name = "STDIN" if self.input.name == "-" else self.input.name
                note(f"INPUT:   '{name}' line {self.number}\n")
            note(f"PATTERN: {_visible(self.space)}\n")
            self.substituted = self.printed = False
            at = self._run_commands()
            restart = at == DELETE_LINE and self._delete_line()
            if at == DELETE or at >= 0:
                note("END-OF-CYCLE:\n")
            if at >= 0 or at == QUIT:
                self.end_cycle()
            if at == DELETE and self.appended:
                self.write_appended()
            if at >= 0 or at in (DELETE, DELETE_LINE):
                continue
            if at == QUIT:
                self.output.text("")
            self.appended.clear()
            return True

    def _run_commands(self) -> int:
        """Run one cycle; where it ended."""
        at = 0
        while 0 <= at < len(self.operations):
            self.budget.step()
            target = self.operations[at](self)
            at = at + 1 if target is None else target
        return at
