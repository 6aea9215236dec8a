"""`jobs`"""

from __future__ import annotations

from agentsandbox.shell.builtins import define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.jobs import Job
    from agentsandbox.shell.interpreter.shell import Shell


@define("jobs", "jobs [-lnprs] [jobspec ...] or jobs -x command [args]")
def jobs(shell: Shell, words: list[str]) -> int:
    options, position = parse_letters(words, "lnprsx")
    table = shell.jobs
    table.reap()
    if "x" in options:
        from agentsandbox.shell.interpreter.simple import run_words

        argv = [
            str(job.process.pid) if word.startswith("%") and (job := table.find(word)) else word
            for word in words[position:]
        ]
        return run_words(shell, argv) if argv else 0
    chosen: list[Job] = []
    status = 0
    for operand in words[position:]:
        job = table.find(operand)
        if job is None:
            shell.complain(f"jobs: {operand}: no such job")
            status = 1
        else:
            chosen.append(job)
    if not words[position:]:
        chosen = list(table.jobs)
    current, previous = table.current(), table.previous()
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
