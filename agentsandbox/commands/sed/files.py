"""The files of one sed: inputs, the files of r and w, and those edited in place."""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.commands.sed.nodes import Script, SedError
from agentsandbox.commands.sed.runtime import Editor, Output, Program, Settings
from agentsandbox.contract.command import CommandContext, describe_os_error
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import BLOCK, Buffer, BytesReader, LateWriter, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.streams import ByteReader, Stream

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


class Original:
    """A file that is edited in place, open for reading. `info` is its `stat`, behind links."""

    __slots__ = ("info", "is_link", "name", "path", "reader")

    def __init__(self, name: str, path: str, info: Stat, reader: Stream, *, is_link: bool) -> None:
        self.name = name
        self.path = path
        self.info = info
        self.reader = reader
        self.is_link = is_link


class Files:
    """The files of one run. `status` is 2 after a missing input, 4 after one that is unreadable."""

    def __init__(self, ctx: CommandContext, settings: Settings, *, late: bool) -> None:
        self.ctx = ctx
        self.settings = settings
        self.end = "\0" if settings.null_lines else "\n"
        self._late = LateWriter(ctx.stdout) if late else None
        self.standard_output = Output(self._late or ctx.stdout, self.end)
        self.outputs: dict[str, Output] = {}
        self.status = 0
        self._open: list[File] = []
        self._result: Buffer | None = None
        self._result_output: Output | None = None
        self._writable = ""
        """The directory of the file that was edited last."""

    # outputs of w

    def open_outputs(self, script: Script) -> None:
        """Open the files that w and s///w write: they are emptied even if nothing is written."""
        for command in script.commands:
            if command.name == "w":
                self._open_output(command.text)
            elif command.substitution is not None and command.substitution.file is not None:
                self._open_output(command.substitution.file)

    def _open_output(self, name: str) -> None:
        if name in self.outputs:
            return
        ctx = self.ctx
        if name == "/dev/stdout":
            self.outputs[name] = Output(self.standard_output.writer, self.end, self.standard_output)
        elif name == "/dev/stderr":
            self.outputs[name] = Output(ctx.stderr, self.end)
        else:
            try:
                file = ctx.fs.open(ctx.path(name), "w", permissions=0o666 & ~ctx.umask)
            except OSError as error:
                raise SedError(f"couldn't open file {describe_os_error(error, name)}", 4) from None
            self._open.append(file)
            self.outputs[name] = Output(file, self.end)

    def flush(self) -> None:
        """Hand all output to the writers."""
        self.standard_output.flush()
        for output in self.outputs.values():
            output.flush()
        if self._result_output is not None:
            self._result_output.flush()

    def close(self) -> None:
        """Write what was held back, and close what is open."""
        if self._late is not None:
            self._late.flush()
        for file in self._open:
            file.release()
        self._open.clear()

    # inputs

    def sources(self, names: Sequence[str]) -> Iterator[tuple[str, ByteReader]]:
        """Open each operand in turn; report those that fail and continue."""
        ctx = self.ctx
        for name in names:
            if name == "-":
                yield "-", ctx.stdin
                continue
            try:
                file = ctx.fs.open(ctx.path(name), "r")
            except OSError as error:
                self._cannot_read(error, name)
                continue
            self._open.append(file)
            yield name, file
            self._open.remove(file)
            file.release()

    def _cannot_read(self, error: OSError, name: str) -> None:
        self.flush()
        if error.errno == errno.EISDIR:
            raise SedError(f"read error on {describe_os_error(error, name)}", 4)
        self.ctx.stderr.write(
            encode(f"{self.ctx.name}: can't read {name}: {describe_os_error(error, '')}\n")
        )
        self.status = 2

    def editor(self, program: Program) -> Editor:
        """Return an editor that uses these files; `Editor.begin` sets its input and output."""
        editor = Editor(program, self.settings, self.ctx.budget)
        editor.standard_output = self.standard_output
        editor.outputs = self.outputs
        editor.flush_all = self.flush
        editor.read_file = self._read_file
        return editor

    def _read_file(self, name: str) -> bytes:
        """Return what r adds: a file's content, nothing if it cannot be read."""
        output = self.outputs.get(name)
        if output is not None:
            output.flush()
        try:
            if name == "/dev/stdin":
                stdin = self.ctx.stdin
                # a file is read from its beginning
                again = stdin.reopened("r") if isinstance(stdin, File) else stdin
                return b"".join(list(again.blocks()))
            path = self.ctx.path(name)
            self.ctx.budget.charge(self.ctx.fs.stat(path).size)
            return self.ctx.fs.read_bytes(path)
        except OSError:
            return b""

    # editing in place

    def open_for_editing(self, name: str) -> Original | None:
        """Open a file for editing; return None after a message if it cannot be edited."""
        ctx = self.ctx
        try:
            path = ctx.path(name)
            info = ctx.fs.stat(path, follow=False)
            is_link = info.is_link
            if is_link:
                info = ctx.fs.stat(path)
            if not info.is_file:
                ctx.stderr.write(encode(f"{ctx.name}: couldn't edit {name}: not a regular file\n"))
                self.status = 4
                return None
            reader = (
                BytesReader(ctx.fs.read_bytes(path))
                if info.size <= BLOCK
                else ctx.fs.open(path, "r")
            )
            original = Original(name, path, info, reader, is_link=is_link)
        except OSError as error:
            ctx.stderr.write(
                encode(f"{ctx.name}: can't read {name}: {describe_os_error(error, '')}\n")
            )
            self.status = 2
            return None
        above = path[: path.rfind("/")] or "/"
        if above != self._writable and not ctx.fs.access(above, os.W_OK | os.X_OK):
            directory = posixpath.dirname(name) or "."
            letters = "".join(ctx.host.random.choices(_LETTERS, k=6))
            reason = os.strerror(errno.EACCES)
            raise SedError(f"couldn't open temporary file {directory}/sed{letters}: {reason}", 4)
        self._writable = above
        return original

    def start_result(self) -> Output:
        """Return the output for the edited text of the next file."""
        self._result = Buffer(self.ctx.budget.limits.file_bytes)
        self._result_output = Output(self._result, self.end)
        return self._result_output

    def finish_result(self) -> bytes:
        """Return what was written to the output of `start_result`."""
        assert self._result is not None
        assert self._result_output is not None
        self._result_output.flush()
        data = self._result.getvalue()
        self._result = self._result_output = None
        return data

    def replace(self, original: Original, data: bytes, suffix: str) -> None:
        """Put the edited text in the file's place, after a backup if a suffix is given."""
        path, fs = original.path, self.ctx.fs
        failed = "couldn't open file"
        if len(data) > self.ctx.budget.limits.file_bytes:
            raise LimitReached("value_bytes")
        try:
            if suffix:
                name = original.name  # with its directories: `b_*` of `d/f` means `b_d/f`
                backup = suffix.replace("*", name) if "*" in suffix else name + suffix
                failed = "cannot rename"
                fs.rename(path, self.ctx.path(backup))
                failed = "couldn't open file"
            elif (
                original.is_link or original.info.nlink > 1 or not original.info.permissions & 0o200
            ):
                fs.unlink(path)
            with fs.open(path, "w", permissions=original.info.permissions) as file:
                file.write(data)
        except OSError as error:
            raise SedError(f"{failed} {describe_os_error(error, original.name)}", 4) from None
