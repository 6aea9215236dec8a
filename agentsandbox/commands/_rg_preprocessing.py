"""`rg --pre`: what a program makes of a file is searched, not the file."""

from __future__ import annotations

import os

from agentsandbox.commands._programs import find_problem
from agentsandbox.streams import Buffer, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import Arguments, CommandContext
    from agentsandbox.commands._ignore_rules import Rule
    from agentsandbox.streams import ByteReader

__all__ = ["Preprocessor"]

_RULE = "-" * 79


class Preprocessor:
    """The program, and the files that it is for."""

    def __init__(self, ctx: CommandContext, args: Arguments, rules: list[Rule]) -> None:
        self.ctx = ctx
        chosen = args.last("pre", "no-pre", "search-zip")
        self.program = (args.value("pre") or "") if chosen == "pre" else ""
        self.rules = rules
        """The globs of --pre-glob: none for all files."""

    def wants(self, name: str) -> bool:
        """Whether the program is run for a file of that name."""
        if not self.program:
            return False
        relative = name.removeprefix("./")
        for rule in reversed(self.rules):
            if rule.regex.fullmatch(relative):
                return not rule.keeps
        return not any(not rule.keeps for rule in self.rules)

    def run(self, source: ByteReader, name: str) -> tuple[bytes | None, str]:
        """(what the program makes of the file, None if it cannot be run; what to say of its failure)."""
        ctx = self.ctx
        command = f'"{self.program}" "{name}"'
        missing = find_problem(ctx, self.program)
        if missing:
            reason = f"{os.strerror(missing)} (os error {missing})"
            return None, f"{name}: preprocessor command could not start: '{command}': {reason}\n"
        output, errors = Buffer(ctx.budget.value_bytes), Buffer(ctx.budget.value_bytes)
        problem = ""
        if ctx.run([self.program, name], stdin=source, stdout=output, stderr=errors):
            said = decode(errors.getvalue()).strip()
            shown = f"\n{_RULE}\n{said}\n{_RULE}" if said else "<stderr is empty>"
            problem = f"{name}: preprocessor command failed: '{command}': {shown}\n"
        return output.getvalue(), problem
