"""What several tests need: one command in a filesystem of its own, without a shell around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from agentsandbox.commands import find_command, names
from agentsandbox.contract.command import CommandContext
from agentsandbox.contract.host import Host
from agentsandbox.kernel.budget import Budget
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.processes import Process, Scheduler
from agentsandbox.kernel.streams import Buffer, ByteReader, BytesReader, ByteWriter, encode


class Ran:
    """What one command did."""

    def __init__(self, status: int, stdout: bytes, stderr: bytes, fs: MemoryFileSystem) -> None:
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.fs = fs

    def __repr__(self) -> str:
        return f"Ran({self.status}, {self.stdout!r}, {self.stderr!r})"


class Caller:
    """Finds commands by their names, and nothing else: what a shell is to the commands that run
    others.
    """

    def __init__(
        self, fs: MemoryFileSystem, env: Mapping[str, str], stdin: bytes, now: float
    ) -> None:
        self.fs = fs
        self.env = env
        self.stdin = BytesReader(stdin)
        self.stdout, self.stderr = Buffer(1 << 26), Buffer(1 << 20)
        self.budget = Budget()
        self.scheduler = Scheduler(self.budget)
        self.scheduler.begin(self.budget)
        self.host = Host(
            clock=lambda: now,
            random=lambda: Random(1),
            scheduler=self.scheduler,
            commands=lambda: sorted(names()),
        )

    def run(
        self,
        words: Sequence[str],
        *,
        stdin: ByteReader | None = None,
        stdout: ByteWriter | None = None,
        stderr: ByteWriter | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> int:
        command = find_command(words[0])
        errors = stderr or self.stderr
        if command is None:
            errors.write(encode(f"{words[0]}: command not found\n"))
            return 127
        context = CommandContext(
            words[0],
            words[1:],
            stdin=stdin or self.stdin,
            stdout=stdout or self.stdout,
            stderr=errors,
            fs=self.fs,
            cwd=cwd or "/work",
            env=env or self.env,
            budget=self.budget,
            run=self.run,
            start=self.start,
            host=self.host,
        )
        return command.run(context)

    def start(
        self,
        words: Sequence[str],
        *,
        stdin: ByteReader | None = None,
        stdout: ByteWriter | None = None,
        stderr: ByteWriter | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
    ) -> Process:
        return self.scheduler.start(
            lambda: self.run(words, stdin=stdin, stdout=stdout, stderr=stderr, env=env, cwd=cwd),
            words[0],
        )


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
        fs.write_bytes(path, encode(content) if isinstance(content, str) else content)
    caller = Caller(fs, {"HOME": "/home/agent", "PATH": "/usr/bin:/bin", **(env or {})}, stdin, now)
    status = caller.run(words)
    return Ran(status, caller.stdout.getvalue(), caller.stderr.getvalue(), fs)
