"""The commands that a command runs: `ctx.run` and `ctx.start` of the contract.

Each runs in a subshell of the shell that runs the command, as a program that `execvp` has found: a
function of the shell does not count.
"""

from __future__ import annotations

from agentsandbox.kernel.processes import SIGNALS
from agentsandbox.kernel.streams import Stream
from agentsandbox.shell.interpreter.search import DEFAULT_PATH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from agentsandbox.kernel.processes import Process
    from agentsandbox.kernel.streams import ByteReader, ByteWriter
    from agentsandbox.shell.interpreter.shell import Shell

    RunWords = Callable[[Shell, list[str], Mapping[str, str]], int]


class Children:
    """The commands that a command runs: with its streams, environment and directory by default."""

    __slots__ = ("_run", "environment", "shell", "stderr", "stdin", "stdout")

    def __init__(
        self,
        shell: Shell,
        environment: Mapping[str, str],
        streams: tuple[ByteReader, ByteWriter, ByteWriter],
        run: RunWords,
    ) -> None:
        self._run = run
        self.shell = shell
        self.environment = environment
        self.stdin, self.stdout, self.stderr = streams

    def _prepare(
        self,
        stdin: ByteReader | None,
        stdout: ByteWriter | None,
        stderr: ByteWriter | None,
        env: Mapping[str, str] | None,
        cwd: str | None,
        ignoring: Collection[int] | None,
    ) -> Shell:
        child = self.shell.fork(subshell=True)
        if ignoring is None:
            child.traps.handlers = self.shell.traps.ignored()
        else:
            child.traps.handlers = {SIGNALS[number]: "" for number in ignoring}
        child.options = child.options.without("errexit")
        child.update_flags()
        fds: dict[int, Stream] = {**self.shell.fds}
        reader, writers = stdin or self.stdin, (stdout or self.stdout, stderr or self.stderr)
        fds[0] = reader if isinstance(reader, Stream) else _borrowed(reader=reader)
        for number, writer in enumerate(writers, 1):
            fds[number] = writer if isinstance(writer, Stream) else _borrowed(writer=writer)
        child.fds = fds
        if cwd is not None:
            child.cwd = cwd
        if env is not None:
            child.variables.assign("PATH", env.get("PATH", DEFAULT_PATH))
            child.specials.hashed = {}
        child.definitions = child.definitions.replace(functions={})
        return child

    def run(
        self,
        words: Sequence[str],
        *,
        stdin: ByteReader | None = None,
        stdout: ByteWriter | None = None,
        stderr: ByteWriter | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        ignoring: Collection[int] | None = None,
    ) -> int:
        """Run a command and return its status."""
        child = self._prepare(stdin, stdout, stderr, env, cwd, ignoring)
        process = child.machine.scheduler.current
        handler = process.on_signal
        if ignoring is not None:
            from agentsandbox.shell.interpreter.traps import SignalHandler

            process.on_signal = SignalHandler(child)
        environment = self.environment if env is None else env
        try:
            return child.budget.nested(lambda: self._run(child, list(words), environment))
        finally:
            process.on_signal = handler
            child.variables.owner = None

    def start(
        self,
        words: Sequence[str],
        *,
        stdin: ByteReader | None = None,
        stdout: ByteWriter | None = None,
        stderr: ByteWriter | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        ignoring: Collection[int] | None = None,
        umask: int | None = None,
    ) -> Process:
        """Start a command as a process of its own."""
        child = self._prepare(stdin, stdout, stderr, env, cwd, ignoring)
        if umask is not None:
            child.process.umask = umask
        held = [stream for stream in child.fds.values() if isinstance(stream, Stream)]
        for stream in held:
            stream.acquire()

        def end() -> None:
            for stream in held:
                stream.release()

        scheduler = child.machine.scheduler
        environment = self.environment if env is None else env

        def body() -> int:
            try:
                return self._run(child, list(words), environment)
            finally:
                end()

        name = words[0] if words else ""
        process = scheduler.start(body, name, child.process.pid, give_up=end)
        from agentsandbox.shell.interpreter.traps import SignalHandler

        process.on_signal = SignalHandler(child)
        child.process.task = process
        return process


def _borrowed(*, reader: ByteReader | None = None, writer: ByteWriter | None = None) -> Stream:
    from agentsandbox.kernel.borrowed import Borrowed

    return Borrowed(reader=reader, writer=writer)
