"""`wait`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.kernel.processes import SIGNAL_NUMBERS
from agentsandbox.shell.builtins import define, is_number, parse_letters
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.jobs import find_job
from agentsandbox.shell.interpreter.notices import tell_jobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.processes import Process
    from agentsandbox.shell.interpreter.shell import Shell


@define("wait", "wait [-fn] [-p var] [id ...]")
def wait(shell: Shell, words: list[str]) -> int:
    """Wait for background jobs."""
    options, position = parse_letters(words, "fnp:")
    operands = words[position:]
    variable = options.get("p")
    shell.jobs.reap()
    if variable is not None:
        if shell.reference(variable) is None:
            raise CommandError(f"`{variable}': not a valid identifier", 1)
        try:
            shell.variables.unset(variable)
        except ExpansionError as error:
            raise CommandError(error.message, 1) from None
    if "n" in options:
        return _wait_next(shell, operands, variable)
    if not operands:
        return _wait_for_all(shell)
    status = 0
    for operand in operands:
        try:
            named = find_process(shell, operand, "wait")
        except CommandError as error:
            shell.complain(f"wait: {error.message}")
            status = error.status
            continue
        if named is None:
            status = 127
            continue
        if _is_elsewhere(shell, named):
            status = 127
            continue
        if not _wait_for(shell, named):
            return _interrupted(shell)
        tell_jobs(shell)
        status = named.status or 0
        if variable is not None:
            _assign(shell, variable, named.pid)
        _forget(shell, named)
    return status


def _assign(shell: Shell, variable: str, pid: int) -> None:
    """Give the variable or element of `-p` a process number."""
    if "[" in variable:
        shell.variables.assign_element(*shell.element_key(variable), str(pid))
    else:
        shell.variables.assign(variable, str(pid))


def _wait_for_all(shell: Shell) -> int:
    left = {}
    for process in shell.jobs.running():
        if _is_elsewhere(shell, process):
            left[process.pid] = process
        elif not _wait_for(shell, process):
            return _interrupted(shell)
    tell_jobs(shell)
    shell.jobs.jobs = [job for job in shell.jobs.jobs if job.process.pid in left]
    shell.jobs.processes = left
    return 127 if left else 0


def _is_elsewhere(shell: Shell, process: Process) -> bool:
    """Report a child that only another thread can continue; return whether it is one."""
    if process not in shell.machine.scheduler.elsewhere:
        return False
    shell.complain(
        f"wait: pid {process.pid} goes on only in the thread that started it (D-threads)"
    )
    return True


def _wait_for(shell: Shell, process: Process) -> bool:
    """Wait for a process; return False if a trapped signal came first."""
    scheduler = shell.machine.scheduler
    scheduler.block(lambda: process.status is not None or bool(shell.traps.pending))
    return process.status is not None and all(name == "CHLD" for name in shell.traps.pending)


def _interrupted(shell: Shell) -> int:
    return 128 + SIGNAL_NUMBERS.get(shell.traps.pending[0], 0)


def _forget(shell: Shell, process: Process) -> None:
    for job in list(shell.jobs.jobs):
        if job.process is process:
            shell.jobs.remove(job)


def _wait_next(shell: Shell, operands: list[str], variable: str | None) -> int:
    processes = [job.process for job in shell.jobs.jobs]
    if operands:
        named = []
        for operand in operands:
            if not is_number(operand) and not operand.startswith("%"):
                shell.complain(f"wait: {operand}: no such job")
            elif (process := find_process(shell, operand, "wait")) is not None:
                named.append(process)
        for process in named:
            if process not in processes:
                shell.complain(f"wait: {process.pid}: no such job")
        processes = [process for process in named if process in processes]
    processes = [process for process in processes if not _is_elsewhere(shell, process)]
    if not processes:
        return 127
    shell.machine.scheduler.block(
        lambda: (
            bool(shell.traps.pending) or any(process.status is not None for process in processes)
        )
    )
    if shell.traps.pending:
        return _interrupted(shell)
    ended = next(process for process in processes if process.status is not None)
    tell_jobs(shell)
    if variable is not None:
        _assign(shell, variable, ended.pid)
    _forget(shell, ended)
    shell.jobs.kept = frozenset(
        [job.process.pid for job in shell.jobs.jobs if job.process.status is not None]
    )
    return ended.status or 0


def find_process(shell: Shell, operand: str, command: str) -> Process | None:
    """Return the child of a pid or job specification; None, after a message, if there is none."""
    if operand.startswith("%"):
        job = find_job(shell.jobs.jobs, operand)
        if job is None:
            shell.complain(f"{command}: {operand}: no such job")
            return None
        return job.process
    if not is_number(operand) or len(operand) > 18:
        raise CommandError(f"`{operand}': not a pid or valid job spec", 1)
    process = shell.jobs.processes.get(int(operand))
    if process is None:
        shell.complain(f"{command}: pid {operand} is not a child of this shell")
    return process
