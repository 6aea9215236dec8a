"""The files and pipes of a running awk program, by the name the program gives them."""

from __future__ import annotations

import errno
import os

from agentsandbox.commands.awk.csv_input import CsvSource
from agentsandbox.commands.awk.records import RecordReader
from agentsandbox.commands.awk.values import AwkFatal
from agentsandbox.errors import PipeClosed
from agentsandbox.kernel.streams import Pipe, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.commands.awk.coprocesses import Coprocess
    from agentsandbox.commands.awk.protocols import Run
    from agentsandbox.kernel.processes import Process
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

HELD = 16384
"""Characters that are collected for a file before they are written."""
PIPE_HELD = 32768
"""Characters that are collected for a command before it is started."""

_SOCKETS = ("/inet/", "/inet4/", "/inet6/")
_STDOUT = frozenset(("/dev/stdout", "/dev/fd/1", "-"))
_STDERR = frozenset(("/dev/stderr", "/dev/fd/2"))
"""What is printed to these is written at once; standard output is held back."""


class _Output:
    """A file, a command's input, or one of the standard streams."""

    __slots__ = ("command", "held", "name", "pipe", "process", "size", "stream")

    def __init__(self, name: str, stream: ByteWriter | None, command: bool = False) -> None:
        self.name = name
        self.stream = stream
        self.command = command
        self.held: list[str] = []
        self.size = 0
        self.pipe: Pipe | None = None
        self.process: Process | None = None


class _Input:
    """A file or a command's output."""

    __slots__ = ("pipe", "process", "reader", "source")

    def __init__(
        self,
        reader: RecordReader,
        source: Any,
        process: Process | None = None,
        pipe: Pipe | None = None,
    ) -> None:
        self.reader = reader
        self.source = source
        self.process = process
        self.pipe = pipe


class Channels:
    """The files and pipes of `getline`, `print >`, `|`, `close`, `fflush` and `system`."""

    def __init__(self, rt: Run) -> None:
        self.rt = rt
        self.ctx = rt.ctx
        self.outputs: dict[str, _Output] = {}
        self.inputs: dict[tuple[str, bool], _Input] = {}
        self.coprocesses: dict[str, Coprocess] = {}
        self._latest: dict[str, _Input | _Output] = {}
        """The channel that was opened last by each name."""

    def _is_nonfatal(self, name: str) -> bool:
        """Whether PROCINFO says that an output that cannot be opened does not end the program."""
        info = () if self.rt.mode.traditional else self.rt.arrays.get("PROCINFO", ())
        return "NONFATAL" in info or f"{name}{self.rt.SUBSEP}NONFATAL" in info

    # processes

    def start(
        self,
        command: str,
        stdin: ByteReader | None,
        stdout: ByteWriter | None,
        finish: Callable[[], None],
    ) -> Process:
        """Run a shell command beside the program; `finish` closes its ends of the pipes."""
        ctx = self.ctx

        def run() -> int:
            try:
                return ctx.run(["sh", "-c", command], stdin=stdin, stdout=stdout)
            finally:
                finish()

        return ctx.host.scheduler.start(run, "sh", give_up=finish)

    def wait(self, process: Process) -> int:
        """Wait for a process to end; return its status."""
        return self.ctx.host.scheduler.wait(process) or 0

    # reading

    def read_file(self, name: str) -> float:
        """`getline < name`."""
        found = self.inputs.get((name, False))
        if found is None:
            if not name:
                raise AwkFatal("expression for `<' redirection has null string value")
            try:
                if name in ("-", "/dev/stdin"):
                    source: Any = self.ctx.stdin
                    if source.unreadable:
                        raise source.input_error()
                else:
                    path = self.ctx.path(name)
                    if self.ctx.fs.is_dir(path):
                        raise IsADirectoryError(21, os.strerror(21), name)
                    source = self.ctx.fs.open(path, "r")
            except OSError as error:
                self.rt.ERRNO = os.strerror(error.errno or 5)
                return -1.0
            found = self.inputs[(name, False)] = _Input(
                RecordReader(self._decorated(source), self.ctx.budget, bytewise=self.rt.bytewise),
                source,
            )
            self._latest[name] = found
        return self.rt.read_record(found.reader)

    def read_command(self, command: str) -> float:
        """`command | getline`."""
        found = self.inputs.get((command, True))
        if found is None:
            if not command:
                raise AwkFatal("expression for `|' redirection has null string value")
            pipe = Pipe(self.ctx.host.scheduler)
            process = self.start(command, None, pipe, pipe.release)
            source = self._decorated(pipe)
            reader = RecordReader(source, self.ctx.budget, bytewise=self.rt.bytewise)
            found = self.inputs[(command, True)] = _Input(reader, None, process, pipe)
            self._latest[command] = found
        return self.rt.read_record(found.reader)

    def _decorated(self, source: ByteReader) -> ByteReader:
        """Return the input, with marks at the ends of records if it is read as `--csv`."""
        return CsvSource(source) if self.rt.csv else source

    # coprocesses

    def _coprocess(self, name: str) -> Coprocess | None:
        """Return the coprocess of that name, which is started if it does not run.

        None after an error that PROCINFO says is not fatal.
        """
        found = self.coprocesses.get(name)
        if found is not None:
            return found
        if not name:
            raise AwkFatal("expression for `|&' redirection has null string value")
        self.flush_everything()
        if name.startswith(_SOCKETS):
            reason = os.strerror(errno.ENETUNREACH)
            if not self._is_nonfatal(name):
                message = f"cannot open two way pipe `{name}' for input/output: {reason}"
                raise AwkFatal(message)
            self.rt.ERRNO = reason
            return None
        from agentsandbox.commands.awk.coprocesses import Coprocess

        found = Coprocess(self.rt, name, self.start, self.wait, self._decorated)
        self.coprocesses[name] = found
        return found

    def write_both(self, word: str, name: str, text: str) -> None:
        """`print |& name`; `word` is the statement, for messages."""
        coprocess = self._coprocess(name)
        if coprocess is None:
            return
        if coprocess.can_write:
            coprocess.write(text)
        elif self._is_nonfatal(name):
            self.rt.ERRNO = os.strerror(errno.EBADF)
        else:
            self.ctx.host.scheduler.turn()  # the command may write before gawk ends
            raise AwkFatal(f"{word}: attempt to write to closed write end of two-way pipe")

    def read_both(self, name: str) -> float:
        """`name |& getline`."""
        coprocess = self._coprocess(name)
        if coprocess is None:
            return -1.0
        coprocess.check_reading()
        self.flush_everything()
        return self.rt.read_record(coprocess.reader)

    def _close_coprocess(self, coprocess: Coprocess, side: str) -> int:
        """`close` of a coprocess or of one of its sides."""
        self.flush_everything()
        if side == "to":
            coprocess.close_input()
        elif side == "from":
            coprocess.close_output()
        if side and not coprocess.is_closed:
            return 0
        del self.coprocesses[coprocess.name]
        return coprocess.close()

    # writing

    def write(self, kind: str, name: str, text: str) -> None:
        """`print kind name`."""
        output = self.outputs.get(name)
        if output is None:
            opened = self._open_output(kind, name)
            if opened is None:
                return
            output = self.outputs[name] = self._latest[name] = opened
        if name in _STDOUT:
            self.rt.write(text)
            return
        output.held.append(text)
        output.size += len(text)
        if output.size > HELD or name in _STDERR:
            self._write_out(output)

    def _open_output(self, kind: str, name: str) -> _Output | None:
        """Open a file or a command; None after an error that PROCINFO says is not fatal."""
        ctx = self.ctx
        if not name:
            raise AwkFatal(f"expression for `{kind}' redirection has null string value")
        if kind == "|":
            self.flush_everything()
            return _Output(name, None, command=True)
        if name in _STDOUT:
            return _Output(name, ctx.stdout)
        if name in _STDERR:
            return _Output(name, ctx.stderr)
        try:
            stream = ctx.fs.open(
                ctx.path(name), "a" if kind == ">>" else "w", permissions=0o666 & ~ctx.umask
            )
        except OSError as error:
            if self._is_nonfatal(name):
                self.rt.ERRNO = os.strerror(error.errno or 5)
                return None
            raise AwkFatal(
                f"cannot redirect to `{name}': {os.strerror(error.errno or 5)}"
            ) from None
        return _Output(name, stream)

    def _write_out(self, output: _Output) -> None:
        """Write what is held."""
        if output.command and output.pipe is None and output.size <= PIPE_HELD:
            return
        if not output.held:
            return
        data = encode("".join(output.held))
        output.held.clear()
        output.size = 0
        if output.command:
            self._feed(output, data)
            return
        assert output.stream is not None
        try:
            output.stream.write(data)
        except OSError as error:
            raise AwkFatal(
                f'print to "{output.name}" failed: {os.strerror(error.errno or 5)}'
            ) from None

    def _feed(self, output: _Output, data: bytes) -> None:
        """Write to a command's input; the command is started if it does not run."""
        if output.pipe is None:
            pipe = output.pipe = Pipe(self.ctx.host.scheduler)
            output.process = self.start(output.name, pipe, None, pipe.close_reader)
        try:
            output.pipe.write(data)
        except PipeClosed:
            output.held.clear()  # the command has ended: as with SIGPIPE ignored, the rest is lost

    # closing

    def flush_files(self) -> None:
        """Write what is held for files and commands."""
        for output in self.outputs.values():
            self._write_out(output)
        for coprocess in list(self.coprocesses.values()):
            coprocess.flush()

    def flush_everything(self) -> None:
        """Write everything that is held, standard output first."""
        self.rt.flush_output()
        self.flush_files()

    def fflush(self, name: str = "") -> float:
        """`fflush`."""
        if not name:
            self.flush_everything()
            return 0.0
        coprocess = self.coprocesses.get(name)
        if coprocess is not None:
            if coprocess.can_write:
                coprocess.flush()
                return 0.0
            self.rt.warn(f"fflush: cannot flush: two-way pipe `{name}' has closed write end")
            return -1.0
        output = self.outputs.get(name)
        if output is None:
            if name == "/dev/stdout":
                self.rt.flush_output()
                return 0.0
            self.rt.warn(f"fflush: `{name}' is not an open file, pipe or co-process")
            return -1.0
        self._write_out(output)
        return 0.0

    def system(self, command: str) -> float:
        """`system`."""
        self.flush_everything()
        status = self.ctx.run(["sh", "-c", command])
        if self.rt.mode.traditional:
            raw = status * 256 if status < 128 else status - 128  # as `wait` gives it
            return float(raw) if self.rt.mode.posix else raw / 256
        return float(status if status < 128 else 256 + status - 128)

    def close(self, name: str, side: str = "") -> float:
        """`close`: return the status of a command, 0 for a file, -1 if nothing is open."""
        side = side.lower()
        if side not in ("", "to", "from"):
            raise AwkFatal("close: second argument must be `to' or `from'")
        coprocess = self.coprocesses.get(name)
        if coprocess is not None:
            return float(self._close_coprocess(coprocess, side))
        if not isinstance(self._latest.pop(name, None), _Input):
            output = self.outputs.pop(name, None)
            if output is not None:
                self.rt.flush_output()
                status = self._close_output(output)
                return 0.0 if self.rt.mode.posix else float(status)
        for key in ((name, True), (name, False)):
            found = self.inputs.pop(key, None)
            if found is not None:
                status = self._close_input(found)
                return 0.0 if self.rt.mode.posix else float(status)
        self.rt.ERRNO = "close of redirection that was never opened"
        return -1.0

    def _close_output(self, output: _Output) -> int:
        if not output.command:
            self._write_out(output)
            if (
                output.stream is not self.ctx.stdout
                and output.stream is not self.ctx.stderr
                and output.stream is not None
            ):
                output.stream.release()  # type: ignore[attr-defined]
            return 0
        if output.pipe is None:
            from agentsandbox.kernel.streams import BytesReader

            data = encode("".join(output.held))
            output.held.clear()
            return self.ctx.run(["sh", "-c", output.name], stdin=BytesReader(data))
        if output.held:
            output.size = PIPE_HELD + 1
            self._write_out(output)
        output.pipe.release()
        assert output.process is not None
        return self.wait(output.process)

    def _close_input(self, channel: _Input) -> int:
        if channel.process is None:
            if channel.source is not self.ctx.stdin:
                channel.source.release()
            return 0
        assert channel.pipe is not None
        channel.pipe.close_reader()
        return self.wait(channel.process)

    def close_all(self) -> None:
        """Close all: as in gawk, commands finish before standard output is written."""
        for output in list(self.outputs.values()):
            self._close_output(output)
        self.outputs.clear()
        for found in list(self.inputs.values()):
            self._close_input(found)
        self.inputs.clear()
        for coprocess in list(self.coprocesses.values()):
            coprocess.close()
        self.coprocesses.clear()

    def abandon(self) -> None:
        """Close what a program that was stopped has open, so that its commands end."""
        ctx = self.ctx
        for output in self.outputs.values():
            if output.pipe is not None:
                output.pipe.release()
            elif output.stream not in (None, ctx.stdout, ctx.stderr):
                output.stream.release()  # type: ignore[attr-defined]
        for coprocess in self.coprocesses.values():
            coprocess.abandon()
        for found in self.inputs.values():
            if found.pipe is not None:
                found.pipe.close_reader()
            elif found.source is not ctx.stdin:
                found.source.release()
        self.outputs.clear()
        self.inputs.clear()
        self.coprocesses.clear()
