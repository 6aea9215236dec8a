"""`fg`, `bg`, `disown` and `suspend`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("fg", "fg [job_spec]")
def fg(shell: Shell, words: list[str]) -> int:
    if not shell.options.monitor or shell.process.level:
        raise CommandError("no job control", 1)
    spec = words[1] if len(words) > 1 else "%+"
    job = shell.jobs.find(spec)
    if job is None:
        raise CommandError(f"{spec if len(words) > 1 else 'current'}: no such job", 1)
    shell.write(f"{job.text}\n")
    status = shell.machine.scheduler.wait(job.process)
    shell.jobs.remove(job)
    return status or 0


@define("bg", "bg [job_spec ...]")
def bg(shell: Shell, words: list[str]) -> int:
    if not shell.options.monitor or shell.process.level:
        raise CommandError("no job control", 1)
    for spec in words[1:] or ["%+"]:
        job = shell.jobs.find(spec)
        if job is None:
            raise CommandError(f"{spec if len(words) > 1 else 'current'}: no such job", 1)
        shell.complain(f"bg: job {job.number} already in background")
    return 0


@define("disown", "disown [-h] [-ar] [jobspec ... | pid ...]")
def disown(shell: Shell, words: list[str]) -> int:
    options, position = parse_letters(words, "har")
    table = shell.jobs
    table.reap()
    if "a" in options or ("r" in options and position >= len(words)):
        table.jobs = [
            job for job in table.jobs if "r" in options and job.process.status is not None
        ]
        return 0
    status = 0
    for spec in words[position:] or ["%+"]:
        job = (
            table.find(spec)
            if spec.startswith("%")
            else next((each for each in table.jobs if str(each.process.pid) == spec), None)
        )
        if job is None:
            shell.complain(f"disown: {spec if position < len(words) else 'current'}: no such job")
            status = 1
        elif "h" not in options:
            table.remove(job)
    return status


@define("suspend", "suspend [-f]")
def suspend(shell: Shell, words: list[str]) -> int:
    del shell, words
    raise CommandError("cannot suspend: no job control", 1)
