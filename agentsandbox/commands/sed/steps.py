"""The steps of commands with patterns, and of those that select lines."""

from __future__ import annotations

import re

from agentsandbox.commands.sed.nodes import Command, Substitution
from agentsandbox.commands.sed.plain_texts import GROWTH, SAMPLE, adds_newline, text_step
from agentsandbox.commands.sed.selected import change_few, change_selected
from agentsandbox.commands.sed.substitution import build_replacer, replace_slowly
from agentsandbox.kernel.regexps import PosixRegex
from agentsandbox.kernel.regexps.lines import LineSearch
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.sed.output import Settings
    from agentsandbox.commands.sed.selected import Step
    from agentsandbox.kernel.budget import Budget

_LONG = 1 << 20
"""A longer block holds one line, which is changed match by match."""


class UnfitError(Exception):
    """The script needs the line-by-line editor."""


def compile_steps(commands: list[Command], settings: Settings, budget: Budget) -> list[Step] | None:
    """Return the steps of a script; None if it needs the line-by-line editor."""
    try:
        return _Compiler(settings, budget).steps(commands)
    except UnfitError:
        return None


class _Compiler:
    """Compiles the steps; raises `UnfitError` for a command that has none."""

    def __init__(self, settings: Settings, budget: Budget) -> None:
        self.settings = settings
        self.budget = budget

    def steps(self, commands: list[Command]) -> list[Step]:
        if self.settings.quiet:
            return self._quiet(commands)
        steps = []
        for command in commands:
            if (
                command.substitution is not None
                and command is not commands[-1]
                and adds_newline(command.substitution)
            ):
                raise UnfitError  # the next command sees one pattern space of two lines
            if command.name == "s" and command.first is None and not command.negated:
                steps.append(self._substitute(command))
            elif command.name == "s" and not command.negated:
                change = self._substitute(command)
                steps.append(change_selected(self._search(command), change))
            elif command.name == "y" and command.first is None and not command.negated:
                steps.append(self._transliterate(command))
            elif command.name == "d" and command.first is not None and command is commands[-1]:
                steps.append(self._select(command, keep=command.negated))
            else:
                raise UnfitError
        return steps

    def _quiet(self, commands: list[Command]) -> list[Step]:
        """Return the steps with -n: of `/…/p`, `s/…/…/p` and `/…/s/…/…/p`."""
        command, substitution = commands[0], commands[0].substitution
        if len(commands) > 1:
            raise UnfitError
        if command.name == "p" and command.first is not None:
            return [self._select(command, keep=not command.negated)]
        if substitution is None or command.negated or not substitution.prints:
            raise UnfitError
        selected = [] if command.first is None else [self._select(command, keep=True)]
        return [*selected, *self._print_changed(substitution)]

    def _print_changed(self, substitution: Substitution) -> list[Step]:
        """Return the steps of `s/…/…/p`: only lines in which something was replaced."""
        silent = Substitution(substitution.regex, substitution.replacement)
        silent.number, silent.everywhere = substitution.number, substitution.everywhere
        silent.file = substitution.file
        command = Command("s", None, None, negated=False)
        command.substitution = silent
        change = self._substitute(command)
        search = LineSearch([self._line_regex(substitution.regex)], [], self.budget)

        def kept(block: str) -> str | None:
            lines = search.filter(block)
            return "\n".join(lines) if lines else None

        return [kept, change]

    def _line_regex(self, regex: PosixRegex | None) -> PosixRegex:
        """Return the pattern in its form for blocks."""
        if regex is None:
            raise UnfitError
        return regex.for_blocks()

    def _select(self, command: Command, *, keep: bool) -> Step:
        """Return the step that keeps the lines that match, or the others."""
        search = self._search(command)

        def kept(block: str) -> str | None:
            lines = search.filter(block)
            return "\n".join(lines) if lines else None

        def dropped(block: str) -> str | None:
            places = search.places(block)
            if not places:
                return block
            pieces: list[str] = []
            position = 0
            for start, stop in places:
                if start > position:
                    pieces.append(block[position : start - 1])
                position = stop + 1
            if position <= len(block):
                pieces.append(block[position:])
            return "\n".join(pieces) if pieces else None

        return kept if keep else dropped

    def _substitute(self, command: Command) -> Step:
        substitution = command.substitution
        assert substitution is not None
        regex, text = substitution.regex, substitution.replacement.text
        if (
            regex is None
            or substitution.number
            or substitution.prints
            or substitution.file is not None
        ):
            raise UnfitError
        plain = text_step(substitution, self.budget)
        if plain is not None:
            return plain
        if regex.pattern_source in ("^", "$") and text is not None:
            return self._add_text(text, before=regex.pattern_source == "^")
        blocks = self._line_regex(regex)
        run = blocks.edge_run() if text == "" else None
        if run is not None:
            return self._strip(self._slowly(blocks, substitution), *run)
        if not blocks.exact or (not blocks.shortest and not blocks.empty):
            raise UnfitError
        slowly = self._slowly(blocks, substitution)
        replacer = build_replacer(substitution.replacement)
        if substitution.replacement.growth(SAMPLE, blocks.shortest) > GROWTH * SAMPLE:
            raise UnfitError
        if substitution.everywhere or blocks.once_per_line:
            if text is None or "\\" in text:
                return self._replace_all(blocks, replacer, slowly)
            return self._replace_all(blocks, text, slowly)
        first = self._replace_first(blocks, replacer, slowly)
        return change_few(LineSearch([blocks], [], self.budget), first)

    def _search(self, command: Command) -> LineSearch:
        address = command.first
        if (
            address is None
            or command.second is not None
            or address.kind != "regex"
            or address.regex is None
        ):
            raise UnfitError
        return LineSearch([self._line_regex(address.regex)], [], self.budget)

    def _slowly(self, regex: PosixRegex, substitution: Substitution) -> Step:
        """Return the step that changes each line match by match, also where `re` is not safe."""
        replacer, budget = build_replacer(substitution.replacement), self.budget

        def changed(line: str) -> str:
            result = replace_slowly(regex, substitution, replacer, line, budget)
            return line if result is None else result

        return lambda block: "\n".join(map(changed, block.split("\n")))

    def _strip(self, slowly: Step, characters: str, anchor: str) -> Step:
        """Return the step that removes a run of characters at one end of each line."""
        budget = self.budget

        def step(block: str) -> str | None:
            lines = block.split("\n")
            budget.step(len(lines) // 16 + 1)
            if not block.isascii():
                return slowly(block)
            if anchor == "^":
                return "\n".join([line.lstrip(characters) for line in lines])
            return "\n".join([line.rstrip(characters) for line in lines])

        return step

    def _transliterate(self, command: Command) -> Step:
        table = command.table
        if 10 in table or "\n" in table.values():
            raise UnfitError
        if all(code < 128 and target < "\x80" for code, target in table.items()):
            codes = bytes(
                ord(table.get(code, chr(code))) if code < 128 else code for code in range(256)
            )
            return lambda block: decode(encode(block).translate(codes))
        return lambda block: block.translate(table)

    def _add_text(self, text: str, *, before: bool) -> Step:
        """Return the step that adds a text before or after each line."""
        budget = self.budget

        def step(block: str) -> str:
            budget.charge(len(block) + len(text) * (block.count("\n") + 1))
            return (
                text + block.replace("\n", f"\n{text}")
                if before
                else block.replace("\n", f"{text}\n") + text
            )

        return step

    def _replace_all(
        self,
        regex: PosixRegex,
        replacement: str | Callable[[re.Match[str]], str],
        slowly: Step,
    ) -> Step:
        def step(block: str) -> str | None:
            if len(block) > _LONG or regex.has_long_line(block):
                return slowly(block)
            return regex.for_text(block).sub(replacement, block)

        return step

    def _replace_first(
        self, regex: PosixRegex, replacer: Callable[[re.Match[str]], str], slowly: Step
    ) -> Step:
        def step(block: str) -> str | None:
            if regex.has_long_line(block):
                return slowly(block)
            sub = regex.for_text(block).sub
            return "\n".join([sub(replacer, line, 1) for line in block.split("\n")])

        return step
