"""What several tests need: one command in a filesystem of its own, without a shell around it."""

from __future__ import annotations

from random import Random

from agentsandbox.command import CommandContext, Host
from agentsandbox.commands import find_command, names
from agentsandbox.fs.memory import MemoryFileSystem
from agentsandbox.limits import Budget
from agentsandbox.processes import Scheduler
from agentsandbox.streams import Buffer, BytesReader


class Ran:
    """What one command did."""

    def __init__(self, status: int, stdout: bytes, stderr: bytes, fs: MemoryFileSystem) -> None:
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.fs = fs

    def __repr__(self) -> str:
        return f"Ran({self.status}, {self.stdout!r}, {self.stderr!r})"


def run_command(
    *words: str,
    stdin: bytes = b"",
    files: dict[str, str | bytes] | None = None,
    env: dict[str, str] | None = None,
    fs: MemoryFileSystem | None = None,
    now: float = 1_700_000_000.0,
) -> Ran:
    """Run `words` in /work of a filesystem that holds `files` (relative to /work)."""
    fs = MemoryFileSystem() if fs is None else fs
    fs.makedirs("/work")
    fs.makedirs("/tmp")
    for name, content in (files or {}).items():
        path = f"/work/{name}"
        fs.makedirs(path.rsplit("/", 1)[0])
        fs.write_bytes(path, content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
    budget = Budget()
    scheduler = Scheduler(budget)
    scheduler.begin(budget)
    host = Host(clock=lambda: now, random=Random(1), scheduler=scheduler, commands=lambda: sorted(names()))
    out, err = Buffer(1 << 26), Buffer(1 << 20)

    def run(inner, *, stdin=None, stdout=None, stderr=None, env=None, cwd=None):  # type: ignore[no-untyped-def]
        command = find_command(inner[0])
        target_err = stderr or err
        if command is None:
            target_err.write(f"{inner[0]}: command not found\n".encode())
            return 127
        return command.run(context(inner[0], inner[1:], stdin or source, stdout or out, target_err, env or environment, cwd or "/work"))

    def start(inner, **streams):  # type: ignore[no-untyped-def]
        return scheduler.start(lambda: run(inner, **streams), inner[0])

    def context(name, operands, stdin, stdout, stderr, env, cwd):  # type: ignore[no-untyped-def]
        return CommandContext(
            name,
            operands,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            fs=fs,
            cwd=cwd,
            env=env,
            budget=budget,
            run=run,
            start=start,
            host=host,
        )

    environment = {"HOME": "/home/agent", "PATH": "/usr/bin:/bin", **(env or {})}
    source = BytesReader(stdin)
    status = run(words)
    return Ran(status, out.getvalue(), err.getvalue(), fs)
