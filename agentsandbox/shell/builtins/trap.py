"""`trap`"""

from __future__ import annotations

from agentsandbox.kernel.processes import SIGNAL_NUMBERS, SIGNALS
from agentsandbox.kernel.quoting import single_quote
from agentsandbox.shell.builtins import define, is_number, parse_letters
from agentsandbox.shell.interpreter.traps import SignalHandler, inherited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

_CONDITIONS = ("EXIT", "ERR", "DEBUG", "RETURN")


def signal_table() -> str:
    """Return what `trap -l` and `kill -l` print."""
    shown = [f"{number:2}) SIG{name}" for number, name in SIGNALS.items()]
    return (
        "".join(name + ("\n" if at % 5 == 0 else "\t") for at, name in enumerate(shown, 1)) + "\n"
    )


def condition_name(text: str) -> str | None:
    """Return the name of a signal or condition, given by number or name; None for others."""
    if is_number(text):
        number = int(text) if len(text) < 4 else -1
        return "EXIT" if number == 0 else SIGNALS.get(number)
    name = text.upper().removeprefix("SIG")
    return (
        name
        if name in SIGNAL_NUMBERS or (name in _CONDITIONS and not text.upper().startswith("SIG"))
        else None
    )


@define("trap", "trap [-lp] [[arg] signal_spec ...]")
def trap(shell: Shell, words: list[str]) -> int:
    """Run commands when a signal or an event comes."""
    if len(words) > 1 and words[1].startswith("-") and words[1] not in ("-", "--"):
        options, position = parse_letters(words, "lp")
    else:
        options, position = {}, 2 if words[1:2] == ["--"] else 1
    if "l" in options:
        shell.write(signal_table())
        return 0
    operands = words[position:]
    if "p" in options or not operands:
        return _print(shell, operands)
    if (len(operands) == 1 and condition_name(operands[0]) is not None) or (
        is_number(operands[0]) and condition_name(operands[0]) is not None
    ):
        commands, conditions = "-", operands
    else:
        commands, conditions = operands[0], operands[1:]
        if not conditions:
            shell.write("trap: usage: trap [-lp] [[arg] signal_spec ...]\n", 2)
            return 2
    status = 0
    for condition in conditions:
        name = condition_name(condition)
        if name is None:
            shell.complain(f"trap: {condition}: invalid signal specification")
            status = 1
            continue
        _set(shell, name, commands)
    return status


def _set(shell: Shell, name: str, commands: str) -> None:
    traps = dict(shell.traps.handlers)
    if commands == "-":
        traps.pop(name, None)
    else:
        traps[name] = commands
    shell.traps.handlers = traps
    shell.traps.outer = {}
    if name == "RETURN":
        depth = len(shell.stack.frames)
        others = shell.traps.of_functions - {depth}
        shell.traps.of_functions = others if commands == "-" else others | {depth}
    elif name == "ERR" and shell.stack.frames:
        shell.traps.of_functions |= {-len(shell.stack.frames)}
    if (
        shell.process.task is shell.machine.scheduler.main
        and shell.process.level == 0
        and shell.process.task.on_signal is None
    ):
        shell.process.task.on_signal = SignalHandler(shell)
    shell.update_flags()


def _order(name: str) -> int:
    if name == "EXIT":
        return 0
    return SIGNAL_NUMBERS.get(name, 100 + _CONDITIONS.index(name) if name in _CONDITIONS else 200)


def _print(shell: Shell, operands: list[str]) -> int:
    traps = {
        name: text
        for name, text in {**shell.traps.outer, **shell.traps.handlers}.items()
        if inherited(shell, name)
    }
    status = 0
    names = sorted(traps, key=_order)
    if operands:
        names = []
        for operand in operands:
            name = condition_name(operand)
            if name is None:
                shell.complain(f"trap: {operand}: invalid signal specification")
                status = 1
            elif name in traps:
                names.append(name)
    for name in names:
        shown = name if name in _CONDITIONS or shell.options.posix else f"SIG{name}"
        text = traps[name]
        shell.write(f"trap -- {single_quote(text)} {shown}\n")
    return status
