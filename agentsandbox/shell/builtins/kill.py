"""`kill`"""

from __future__ import annotations

from agentsandbox.errors import Killed
from agentsandbox.kernel.processes import (
    IGNORED_BY_DEFAULT,
    SIGNAL_NUMBERS,
    SIGNALS,
    SIGSTOP,
    STOPPING,
)
from agentsandbox.shell.builtins import define, is_number
from agentsandbox.shell.builtins.trap import condition_name, signal_table
from agentsandbox.shell.interpreter.jobs import find_job
from agentsandbox.shell.interpreter.traps import SignalHandler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

_USAGE = (
    "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]\n"
)


@define("kill", "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]")
def kill(shell: Shell, words: list[str]) -> int:
    """Send a signal to a job or process."""
    operands = words[1:]
    signal = "TERM"
    if operands[:1] == ["-l"] or operands[:1] == ["-L"]:
        return _list(shell, operands[1:])
    while operands and operands[0].startswith("-"):
        option = operands.pop(0)
        if option == "--":
            break
        if option in ("-s", "-n"):
            if not operands:
                shell.complain(f"kill: {option}: option requires an argument")
                return 1
            option = "-" + operands.pop(0)
        name = condition_name(option[1:])
        if name is None or (name not in SIGNAL_NUMBERS and name != "EXIT"):
            shell.complain(f"kill: {option[1:]}: invalid signal specification")
            return 1
        signal = name
        break
    if operands[:1] == ["--"]:
        operands.pop(0)
    if not operands:
        shell.write(_USAGE, 2)
        return 2
    status = 0
    for operand in operands:
        if not _send(shell, operand, signal):
            status = 1
    return status


def _send(shell: Shell, operand: str, signal: str) -> bool:
    number = 0 if signal == "EXIT" else SIGNAL_NUMBERS[signal]
    if operand.startswith("%"):
        shell.jobs.reap()
        job = find_job(shell.jobs.jobs, operand)
        if job is None:
            shell.complain(f"kill: {operand}: no such job")
            return False
        if number:
            job.process.kill(number)
        return True
    if not is_number(operand.removeprefix("-")) or len(operand) > 18:
        shell.complain(
            f"kill: {operand}: arguments must be process or job IDs"
            if operand
            else "kill: `': not a pid or valid job spec"
        )
        return False
    pid = int(operand) if len(operand) < 10 else -1
    if pid in (0, -shell.process.top_pid):
        pid = shell.process.top_pid
    scheduler = shell.machine.scheduler
    if pid == shell.process.pid:
        return _send_to_self(shell, number)
    if _send_outwards(shell, pid, number):
        return True
    if pid == shell.process.top_pid or pid == scheduler.main.pid:
        if number:
            scheduler.main.kill(number)
            if scheduler.current is scheduler.main:
                scheduler.turn()
        return True
    process = next((each for each in scheduler.processes if each.pid == pid), None)
    if process is None:
        shell.complain(f"kill: ({operand}) - No such process")
        return False
    if number:
        process.kill(number)
    return True


def _send_outwards(shell: Shell, pid: int, number: int) -> bool:
    """Send a signal to a shell that waits on the stack for one that it runs, if `pid` is its own.

    It runs the commands of its trap when that one has ended.
    """
    scheduler = shell.machine.scheduler
    for process in (scheduler.current, scheduler.main):
        inner = process.on_signal
        found = inner.of_shell(pid) if isinstance(inner, SignalHandler) else None
        if found is None or number == SIGSTOP or number in STOPPING:
            continue
        is_ignored = not number or number in process.blocked or number in IGNORED_BY_DEFAULT
        if is_ignored or found(number) is not None:
            return True
        if process is scheduler.current and pid != scheduler.main.pid:
            raise Killed(number, pid)
    return False


def _send_to_self(shell: Shell, number: int) -> bool:
    if not number or number in shell.process.task.blocked:
        return True
    name = SIGNALS[number]
    text = shell.traps.handlers.get(name)
    if text is not None and name not in ("KILL", "STOP"):
        if text:
            shell.traps.pending.append(name)
        return True
    if number in IGNORED_BY_DEFAULT:
        return True
    if number == SIGSTOP or number in STOPPING:
        shell.machine.scheduler.stop(shell.process.task)
        return True
    raise Killed(number, shell.process.pid)


def _list(shell: Shell, operands: list[str]) -> int:
    if not operands:
        shell.write(signal_table())
        return 0
    status = 0
    for operand in operands:
        if is_number(operand):
            number = int(operand) if len(operand) < 6 else -1
            if number > 128:
                number -= 128
            name = "EXIT" if number == 0 else SIGNALS.get(number)
        else:
            found = condition_name(operand)
            name = (
                str(SIGNAL_NUMBERS[found])
                if found in SIGNAL_NUMBERS
                else ("0" if found == "EXIT" else None)
            )
        if name is None:
            shell.complain(f"kill: {operand}: invalid signal specification")
            status = 1
        else:
            shell.write(f"{name}\n")
    return status
