"""Steps that replace a plain text by a plain text, as in `s/old/new/` and `s/old/new/g`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.sed.nodes import Command, Substitution
    from agentsandbox.commands.sed.selected import Step
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps import PosixRegex

SAMPLE = 1000
GROWTH = 50
"""A block may grow to this many times its length."""
_FEW = 32
"""In a block of fewer lines it does not pay to look for those that match."""


def adds_newline(substitution: Substitution) -> bool:
    """Whether a replacement may make two lines of one."""
    return any(
        kind == "text" and "\n" in str(value) for kind, value in substitution.replacement.pieces
    )


def text_steps(commands: list[Command], budget: Budget) -> list[Step] | None:
    """Return the steps of a script that only replaces texts in all lines; None for any other."""
    steps: list[Step] = []
    for command in commands:
        substitution = command.substitution
        if substitution is None or command.first is not None or command.negated:
            return None
        step = text_step(substitution, budget)
        if step is None or (command is not commands[-1] and adds_newline(substitution)):
            return None
        steps.append(step)
    return steps


def text_step(substitution: Substitution, budget: Budget) -> Step | None:
    """Return the step that replaces a text, by a text; None if one of the two is not plain."""
    regex = substitution.regex
    literal = None if regex is None else regex.literal
    if regex is None or not literal or "\n" in literal:
        return None
    replacement = substitution.replacement
    text = replacement.text
    if text is None or substitution.number or substitution.prints or substitution.file is not None:
        return None
    if substitution.everywhere:
        return _replace_text(literal, text, budget)
    if replacement.growth(SAMPLE, len(literal)) > GROWTH * SAMPLE:
        return None
    return _change_few(regex, _replace_first_text(literal, text, budget), budget)


def _change_few(regex: PosixRegex, change: Step, budget: Budget) -> Step:
    """Return a change that touches only the lines that match, if they are few of many."""
    chosen: Step | None = None

    def step(block: str) -> str | None:
        nonlocal chosen
        if chosen is None:
            if block.count("\n") < _FEW:
                return change(block)
            from agentsandbox.commands.sed.selected import change_few
            from agentsandbox.kernel.regexps.lines import LineSearch

            chosen = change_few(LineSearch([regex.for_blocks()], [], budget), change)
        return chosen(block)

    return step


def _replace_text(literal: str, text: str, budget: Budget) -> Step:
    def step(block: str) -> str:
        if len(text) > len(literal):
            budget.charge(len(block) + (len(text) - len(literal)) * block.count(literal))
        return block.replace(literal, text)

    return step


def _replace_first_text(literal: str, text: str, budget: Budget) -> Step:
    """As `_replace_text`, once in each line."""

    def step(block: str) -> str:
        lines = block.split("\n")
        budget.step(len(lines) // 16 + 1)
        if len(text) > len(literal):
            budget.charge(len(block) + (len(text) - len(literal)) * len(lines))
        return "\n".join([line.replace(literal, text, 1) for line in lines])

    return step
