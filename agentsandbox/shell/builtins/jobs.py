"""`jobs`, `fg`, `bg`, `disown` and `suspend`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.shell.builtins import define, parse_letters
from agentsandbox.shell.interpreter.jobs import current_job, find_job, previous_job
from agentsandbox.shell.interpreter.simple import run_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.jobs import Job
    from agentsandbox.shell.interpreter.shell import Shell


@define("jobs", "jobs [-lnprs] [jobspec ...] or jobs -x command [args]")
def jobs(shell: Shell, words: list[str]) -> int:
    """Show background jobs."""
    options, position = parse_letters(words, "lnprsx")
    table = shell.jobs
    table.reap()
    if "x" in options:
        argv = [
            str(job.process.pid)
            if word.startswith("%") and (job := find_job(table.jobs, word))
            else word
            for word in words[position:]
        ]
        return run_words(shell, argv) if argv else 0
    chosen: list[Job] = []
    status = 0
    for operand in words[position:]:
        job = find_job(table.jobs, operand)
        if job is None:
            shell.complain(f"jobs: {operand}: no such job")
            status = 1
        else:
            chosen.append(job)
    if not words[position:]:
        chosen = list(table.jobs)
    current, previous = current_job(table.jobs), previous_job(table.jobs)
    for job in chosen:
        running = job.process.status is None
        if (running and "n" in options) or (not running and "r" in options) or "s" in options:
            continue
        if "p" in options:
            shell.write(f"{job.process.pid}\n")
            continue
        mark = "+" if job is current else "-" if job is previous else " "
        pid = f" {job.process.pid:>5} " if "l" in options else "  "
        text = f"{job.text} &" if running and not job.text.endswith("&") else job.text
        shell.write(f"[{job.number}]{mark}{pid}{job.state:<24}{text}\n")
        if not running:
            table.remove(job)
    return status


@define("fg", "fg [job_spec]")
def fg(shell: Shell, words: list[str]) -> int:
    """Continue a job in the foreground."""
    if not shell.options.monitor or shell.process.level:
        raise CommandError("no job control", 1)
    spec = words[1] if len(words) > 1 else "%+"
    job = find_job(shell.jobs.jobs, spec)
    if job is None:
        raise CommandError(f"{spec if len(words) > 1 else 'current'}: no such job", 1)
    if not job.monitored:
        raise CommandError(f"job {job.number} started without job control", 1)
    shell.write(f"{job.text}\n")
    status = shell.machine.scheduler.wait(job.process)
    shell.jobs.remove(job)
    return status or 0


@define("bg", "bg [job_spec ...]")
def bg(shell: Shell, words: list[str]) -> int:
    """Continue a job in the background."""
    if not shell.options.monitor or shell.process.level:
        raise CommandError("no job control", 1)
    for spec in words[1:] or ["%+"]:
        job = find_job(shell.jobs.jobs, spec)
        if job is None:
            raise CommandError(f"{spec if len(words) > 1 else 'current'}: no such job", 1)
        shell.complain(f"bg: job {job.number} already in background")
    return 0


@define("disown", "disown [-h] [-ar] [jobspec ... | pid ...]")
def disown(shell: Shell, words: list[str]) -> int:
    """Forget a job."""
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
            find_job(table.jobs, spec)
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
    """Stop the shell (not in a sandbox)."""
    del shell, words
    raise CommandError("cannot suspend: no job control", 1)
