"""`parallel` (GNU parallel 20221122): run a command for each argument, several at once.

The words of the command are joined to one line of shell, in which replacement strings stand for
arguments; each argument is quoted for the shell. A sandbox has one processor, so one job runs at
a time unless `-j` says more. What a job writes appears when it has ended.
"""

from __future__ import annotations

import itertools

from agentsandbox.commands._processes.programs import find_problem
from agentsandbox.commands.running.parallel_arguments import (
    Replacements,
    Source,
    records_of,
    shell_quote,
    split_records,
)
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import Buffer, BytesReader, Null, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.processes import Process
    from agentsandbox.kernel.streams import ByteReader

_MOST_JOBS = 64
_MOST_FAILED = 101
_SEPARATORS = (":::", "::::", ":::+", "::::+")
_BLOCK = 1 << 20
_LONG_LINE = 131071
_SECOND = 1.0


class _Job:
    """One line of shell that runs, or has run."""

    __slots__ = ("began", "errors", "line", "output", "process", "seq", "slot", "status", "tag")

    def __init__(self, line: str, seq: int, slot: int, tag: str | None) -> None:
        self.line = line
        self.seq = seq
        self.slot = slot
        self.tag = tag
        self.process: Process | None = None
        self.status = 0
        self.output = self.errors = Buffer(0)
        self.began = 0.0


def _halt(text: str) -> tuple[str, str, int, bool]:
    """Return (when, what, how many, whether per cent) of the value of --halt."""
    short = {"0": "never", "1": "soon,fail=1", "2": "now,fail=1"}
    when, _, rule = short.get(text, text).partition(",")
    if when == "never":
        return "never", "fail", 0, False
    what, equals, number = rule.partition("=")
    digits = number.removesuffix("%")
    if (
        when not in ("now", "soon")
        or what not in ("fail", "success", "done")
        or not equals
        or (not digits.isdecimal() or len(digits) > 9)
    ):
        raise UsageError(f"--halt must have this form: now,fail=1 (not {text})", 255)
    return when, what, int(digits), number.endswith("%")


def _jobs(text: str) -> int:
    """Return how many jobs run at once: N, N% or +N of the one processor, 0 for many."""
    digits = text.strip().lstrip("+-").removesuffix("%")
    if not digits.isdecimal() or len(digits) > 9:
        raise UsageError(f'Value "{text}" invalid for option j (number expected)', 255)
    number = int(digits)
    if text.endswith("%"):
        number = max(1, number // 100)
    elif text[:1] == "+":
        number += 1
    elif text[:1] == "-":
        number = 1
    return min(number or _MOST_JOBS, _MOST_JOBS)


class _Run:
    """All jobs of one call."""

    def __init__(self, ctx: CommandContext, args: Arguments, template: list[str]) -> None:
        self.ctx = ctx
        self.args = args
        self.jobs = _jobs(args.value("jobs", "1") or "1")
        quoted = args.flag("quote")
        self.template = " ".join([shell_quote(word) if quoted else word for word in template])
        self.replacements = Replacements(args.value("replace", "{}") or "{}")
        self.is_ordered = args.flag("keep-order")
        self.is_grouped = not (args.flag("ungroup") or args.flag("line-buffer"))
        self.tag = "{}" if args.flag("tag") else args.value("tagstring")
        self.halt = _halt(args.value("halt", "never") or "never")
        self.when = ""
        """"soon" or "now" after --halt has decided."""
        self.total = 0
        self.failed = self.succeeded = self.halt_status = 0
        self.seq = 0
        self.running: list[_Job] = []
        self.done: dict[int, _Job] = {}
        self.printed = 0
        self.log = args.value("joblog")
        if self.log is not None:
            self._log("Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n",
                      "w")  # fmt: skip

    def _log(self, text: str, mode: str = "a") -> None:
        assert self.log is not None
        with self.ctx.fs.open(self.ctx.path(self.log), "w" if mode == "w" else "a") as file:
            file.write(encode(text))

    # Lines

    def line_for(self, record: list[str], seq: int, slot: int) -> str:
        """Return the line of shell for some arguments."""
        if not self.template:
            return " ".join(record)
        return self.replacements.fill(self.template, record, seq, slot)

    def start(self, record: list[str], stdin: ByteReader | None = None) -> None:
        """Start a job, when one of the others has ended if there are too many."""
        while len(self.running) >= self.jobs:
            self.reap()
            if self.when:
                return
        self.seq += 1
        slot = min(set(range(1, self.jobs + 1)) - {job.slot for job in self.running})
        line = self.line_for(record, self.seq, slot)
        tag = (
            None
            if self.tag is None
            else self.replacements.fill_plain(self.tag, record, self.seq, slot)
        )
        job = _Job(line, self.seq, slot, tag)
        self._execute(job, stdin)

    def _execute(self, job: _Job, stdin: ByteReader | None) -> None:
        ctx, args = self.ctx, self.args
        ctx.budget.step()
        if args.flag("dry-run") or args.flag("verbose"):
            ctx.print(job.line)
        if args.flag("t"):
            ctx.stderr.write(encode(f"{job.line}\n"))
        if args.flag("dry-run"):
            return
        shell = ctx.env.get("PARALLEL_SHELL", "/bin/bash")
        words = [shell, "-c", job.line]
        problem = find_problem(ctx, shell)
        if problem:
            raise CommandError(f"cannot run the shell {shell}", 255)
        env = {**ctx.env, "PARALLEL_SEQ": str(job.seq), "PARALLEL_JOBSLOT": str(job.slot)}
        job.began = ctx.host.clock()
        stdout, stderr = ctx.stdout, ctx.stderr
        if self.is_grouped and (self.jobs > 1 or self.is_tagged or self.log is not None):
            job.output = Buffer(ctx.budget.value_bytes)
            job.errors = Buffer(ctx.budget.value_bytes)
            stdout, stderr = job.output, job.errors
        source = Null() if stdin is None else stdin
        cwd = args.value("wd")
        where = None if cwd is None else ctx.fs.realpath(ctx.path(cwd))
        self.running.append(job)
        if self.jobs > 1 or args.value("timeout") is not None:
            job.process = ctx.start(
                words, stdin=source, stdout=stdout, stderr=stderr, env=env, cwd=where
            )
        else:
            status = ctx.run(words, stdin=source, stdout=stdout, stderr=stderr, env=env, cwd=where)
            self._ended(job, status)
        self._wait_in_between()

    def _wait_in_between(self) -> None:
        delay = _seconds(self.args, "delay")
        if delay:
            self.ctx.host.scheduler.sleep(delay)

    @property
    def is_tagged(self) -> bool:
        """Whether lines begin with a tag."""
        return self.tag is not None

    # Ends

    def reap(self) -> None:
        """Wait until one job ends."""
        scheduler = self.ctx.host.scheduler
        seconds = _seconds(self.args, "timeout")
        processes = [job.process for job in self.running if job.process is not None]
        scheduler.block(lambda: any(process.finished() for process in processes), seconds)
        for job in list(self.running):
            process = job.process
            if process is None:
                continue
            if process.finished():
                self._ended(job, process.status or 0)
            elif seconds is not None and self.ctx.host.clock() - job.began >= seconds:
                self.ctx.stderr.write(
                    encode(
                        "parallel: Warning: This job was killed because it timed out:\n"
                        f"parallel: Warning: {job.line}\n"
                    )
                )
                process.kill(15)
                scheduler.wait(process)
                self._ended(job, 1)

    def _ended(self, job: _Job, status: int) -> None:
        self.running.remove(job)
        job.status = status
        if self.log is not None:
            took = self.ctx.host.clock() - job.began
            signal = status - 128 if status > 128 else 0
            self._log(
                f"{job.seq}\t:\t{job.began:.3f}\t{took:10.3f}\t0\t{job.output.size}\t"
                f"{0 if signal else status}\t{signal}\t{job.line}\n"
            )
        if status:
            self.failed += 1
        else:
            self.succeeded += 1
        self._print(job)
        self._decide(job)

    def _decide(self, job: _Job) -> None:
        """Stop if --halt says so."""
        when, what, number, is_share = self.halt
        if when == "never" or self.when:
            return
        counts = {"fail": self.failed, "success": self.succeeded,
                  "done": self.failed + self.succeeded}  # fmt: skip
        if what != "done" and (what == "fail") is not bool(job.status):
            return
        word = {"fail": "failed", "success": "succeeded", "done": "finished"}[what]
        self.ctx.stderr.write(encode(f"parallel: This job {word}:\n{job.line}\n"))
        needed = number
        if is_share:
            needed = max(3, -(-self.total * number // 100)) if self.total else number
        if counts[what] < needed:
            return
        self.when = when
        self.halt_status = job.status if number == 1 else min(self.failed, _MOST_FAILED)
        if when == "soon" and self.running:
            self.ctx.stderr.write(
                encode(
                    "parallel: Starting no more jobs. Waiting for "
                    f"{len(self.running)} jobs to finish.\n"
                )
            )

    def _print(self, job: _Job) -> None:
        if not self.is_ordered:
            self._show(job)
            return
        self.done[job.seq] = job
        while (following := self.done.pop(self.printed + 1, None)) is not None:
            self.printed += 1
            self._show(following)

    def _show(self, job: _Job) -> None:
        for stream, target in ((job.output, self.ctx.stdout), (job.errors, self.ctx.stderr)):
            data = stream.getvalue()
            if data and job.tag is not None:
                lines = data.splitlines(keepends=True)
                self.ctx.budget.step(len(lines))
                mark = encode(f"{job.tag}\t")
                data = b"".join([mark + line for line in lines])
            if data:
                target.write(data)

    def finish(self) -> int:
        """Wait for what runs and return the status."""
        if self.when == "now":
            for job in self.running:
                if job.process is not None:
                    job.process.kill(15)
        while self.running:
            self.reap()
        for seq in sorted(self.done):
            self._show(self.done[seq])
        if self.when:
            return self.halt_status
        return min(self.failed, _MOST_FAILED)


def _split_operands(
    operands: list[str],
) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """Return the words of the command, and (separator, words) of each source of arguments."""
    command: list[str] = []
    sources: list[tuple[str, list[str]]] = []
    for word in operands:
        if word in _SEPARATORS:
            sources.append((word, []))
        elif sources:
            sources[-1][1].append(word)
        else:
            command.append(word)
    return command, sources


def _sources(
    ctx: CommandContext, args: Arguments, given: list[tuple[str, list[str]]]
) -> list[Source]:
    """Return where the arguments come from."""
    end = b"\0" if args.flag("null") else b"\n"
    delimiter = args.value("delimiter")
    if delimiter is not None:
        text = delimiter.replace("\\n", "\n").replace("\\t", "\t").replace("\\0", "\0")
        if len(encode(text)) != 1:
            raise UsageError("-d: the delimiter must be one byte here", 255)
        end = encode(text)
    found: list[Source] = []
    for name in args.values("arg-file"):
        found.append(Source(ctx, None, name, end))
    for separator, words in given:
        linked = separator.endswith("+")
        if separator.startswith("::::"):
            for name in words:
                found.append(Source(ctx, None, name, end, linked=linked))
        else:
            found.append(Source(ctx, words, "", end, linked=linked))
    if not found:
        found.append(Source(ctx, None, "-", end))
    if args.flag("link"):
        for source in found[1:]:
            source.linked = source.wraps = True
    return found


def _seconds(args: Arguments, key: str) -> float | None:
    """Return the value of an option in seconds; None if it is not given."""
    text = args.value(key)
    if text is None:
        return None
    whole, _, part = text.partition(".")
    if not whole.isdecimal() or not (part or "0").isdecimal() or len(text) > 18:
        raise UsageError(f"--{key}: {text!r} is not a number of seconds", 255)
    return float(text)


def _number(args: Arguments, *keys: str) -> int:
    key = args.last(*keys)
    text = "0" if key is None else args.value(key) or ""
    if not text.isdecimal() or len(text) > 9:
        raise UsageError(f'Value "{text}" invalid for option {key} (number expected)', 255)
    return int(text)


def _grouped(run: _Run, args: Arguments, records: Iterator[list[str]]) -> Iterator[list[str]]:
    """Yield the arguments of each job."""
    if args.flag("X") or args.flag("m"):
        most = _number(args, "max-args", "max-replace-args", "L")
        everything = list(records)
        share = -(-len(everything) // run.jobs) if everything else 1
        step = min(most or share, share) or 1
        batch: list[str] = []
        size = count = 0
        for record in everything:
            length = sum(len(word) + 1 for word in record)
            if batch and (count >= step or size + length > _LONG_LINE):
                yield batch
                batch, size, count = [], 0, 0
            batch += record
            size += length
            count += 1
        if batch:
            yield batch
        return
    count = _number(args, "max-args", "max-replace-args", "L") or 1
    while group := list(itertools.islice(records, count)):
        yield [word for record in group for word in record]


def _pipe(run: _Run, args: Arguments) -> None:
    """Give each job a block of standard input."""
    block = args.value("block", str(_BLOCK)) or ""
    scale = {"k": 1000, "K": 1024, "m": 10**6, "M": 1 << 20, "g": 10**9, "G": 1 << 30}
    digits = block[:-1] if block[-1:] in scale else block
    if not digits.isdecimal() or len(digits) > 9:
        raise UsageError(f"--block: invalid size {block}", 255)
    size = int(digits) * scale.get(block[-1:], 1)
    for data in split_records(
        run.ctx, size, _number(args, "max-args", "max-replace-args"),
        encode((args.value("recend", "\n") or "\n").replace("\\n", "\n")),
    ):  # fmt: skip
        if run.when:
            return
        run.start([], BytesReader(data))


@command(
    "parallel",
    manners=Manners(Release("GNU NAME 20221122", "-V, --version"), unbuffered=True),
    permute=False,
    usage_status=255,
    values={"jobs": _jobs, "halt": _halt},
    usage="""
    Usage: parallel [OPTION]... [COMMAND [ARG]...] [::: ARGUMENT...]... [:::: FILE...]...
    Run COMMAND, a line of shell, for each argument: those after :::, the lines of FILE, or those of
    standard input. Without COMMAND the arguments are the commands.

      -0, --null               arguments end with NUL
      -a, --arg-file=FILE      read arguments from FILE
          --block=SIZE         with --pipe: so much for each job, 1M by default
      -C, --colsep=REGEXP      split each argument into columns {1}, {2} …
      -d, --delimiter=BYTE     arguments end with BYTE
          --delay=SECONDS      wait after each start
          --dry-run, --dryrun  print the commands, do not run them
          --halt=WHEN          never, or now or soon with fail=N, success=N, done=N, as now,fail=1
          --header=SEP         the first argument of each source is its name; only : is available
      -I, --replace=STRING     what stands for the argument, {} by default
      -j, --jobs=N, --max-procs=N  run N jobs at once, 1 by default; 0 for as many as possible
          --joblog=FILE        write a line for each job to FILE
      -k, --keep-order         print in the order of the arguments
      -L N                     as -n
          --line-buffer, --lb  print at once, as -u
          --link, --xapply     take one argument of each source, do not combine them
      -m                       put many arguments into one command
      -n, --max-args=N         N arguments for each job
      -N, --max-replace-args=N  the same, as {1}, {2} …; with --pipe: N records
          --pipe, --spreadstdin  split standard input, not arguments
      -q, --quote              quote the words of COMMAND
      -r, --no-run-if-empty    skip empty arguments
          --recend=STRING      with --pipe: where records end, a newline by default
          --retries=N          run a job that fails up to N times
      -t                       print each command on standard error
          --tag                begin each line with the argument
          --tagstring=STRING   begin each line with STRING
          --timeout=SECONDS    kill a job that takes longer
          --trim=HOW           remove blanks of arguments: l, r, lr or n
      -u, --ungroup            print at once
      -v, --verbose            print each command first
          --wd=DIR, --workdir=DIR  run jobs in DIR
          --will-cite          the notice about citations is never printed here
      -X                       as -m, and repeat the text around {}
      -h, --help               display this help and exit

    In COMMAND {} is the argument, {.} without its extension, {/} its last part, {//} its directory,
    {/.} both, {#} the number of the job, {%} of its slot; {2}, {2.} … those of the second source.
    The status is the number of jobs that failed, at most 101.
    """,
)
def parallel(ctx: CommandContext, args: Arguments) -> int:
    words, given = _split_operands(args.operands)
    run = _Run(ctx, args, words)
    if args.flag("pipe"):
        if not words:
            raise UsageError("--pipe must have a command to pipe into", 255)
        _pipe(run, args)
        return run.finish()
    sources = _sources(ctx, args, given)
    header = args.value("header")
    if header is not None:
        if header != ":":
            raise UsageError("--header: only ':' is available", 255)
        for source in sources:
            source.take_name()
        run.replacements.names = [source.name for source in sources]
    if run.template and not args.flag("pipe"):
        run.template = run.replacements.completed(run.template)
    run.replacements.repeats_context = args.flag("X")
    run.replacements.joins_all = (
        args.flag("m") or args.flag("X") or bool(_number(args, "max-args", "L"))
    )
    records = records_of(ctx, args, sources)
    if args.value("halt", "never").endswith("%"):  # type: ignore[union-attr]
        kept = list(records)
        run.total, records = len(kept), iter(kept)
    retries = _number(args, "retries")
    for record in _grouped(run, args, records):
        if run.when:
            break
        if args.flag("no-run-if-empty") and not any(record):
            continue
        run.start(record)
        while retries > 1 and run.jobs == 1 and run.failed:
            retries -= 1
            run.failed -= 1
            run.seq -= 1
            run.start(record)
        retries = _number(args, "retries")
    return run.finish()
