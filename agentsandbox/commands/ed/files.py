"""The files that `ed` reads and writes, and the commands of the shell."""

from __future__ import annotations

import os

from agentsandbox.commands._text.lines import read_all
from agentsandbox.commands.ed.errors import EdError
from agentsandbox.kernel.streams import (
    Buffer as Collected,
)
from agentsandbox.kernel.streams import (
    BytesReader,
    decode,
    decode_bytewise,
    encode,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.ed.buffer import Buffer
    from agentsandbox.contract.command import CommandContext


class Files:
    """What is outside the buffer.

    quiet       no reasons on standard error (`-q`)
    restricted  files of the working directory only, no commands (`-r`)
    scripted    no sizes and no `!` (`-s`)
    strip_cr    no carriage returns before newlines
    """

    def __init__(
        self,
        ctx: CommandContext,
        buffer: Buffer,
        *,
        quiet: bool,
        restricted: bool,
        scripted: bool,
        strip_cr: bool,
    ) -> None:
        self.ctx = ctx
        self.buffer = buffer
        self.quiet = quiet
        self.restricted = restricted
        self.scripted = scripted
        self.strip_cr = strip_cr
        self.name = ""
        """The default name."""
        self._command: str | None = None
        """The last command of the shell."""

    def check(self, name: str) -> None:
        """Refuse what a restricted editor may not use."""
        if not self.restricted:
            return
        if name[:1] == "!":
            raise EdError("Shell access restricted")
        if name == ".." or "/" in name:
            raise EdError("Directory access restricted")

    def _failed(self, name: str, error: OSError, message: str) -> EdError:
        """Tell the reason on standard error; return the error."""
        if not self.quiet:
            reason = os.strerror(error.errno or 5)
            self.ctx.stderr.write(encode(f"{name}: {reason}\n"))
        return EdError(message)

    def _tell(self, size: int) -> None:
        if not self.scripted:
            self.ctx.print(str(size))

    # commands

    def expand(self, text: str) -> tuple[str, bool]:
        r"""Return a command with the last one for `!` and the name for `%`; whether it has any.

        `\%` is a percent sign.
        """
        parts: list[str] = []
        replaced = False
        at = size = 0
        if text.startswith("!"):
            if self._command is None:
                raise EdError("No previous command")
            parts.append(self._command)
            replaced, at = True, 1
        while at < len(text):
            self.ctx.budget.step()
            piece = text[at]
            at += 1
            if piece == "%":
                if not self.name:
                    raise EdError("No current filename")
                piece, replaced = self.name, True
            elif piece == "\\" and at < len(text):
                piece = text[at] if text[at] == "%" else piece + text[at]
                at += 1
            size += len(piece)
            self.ctx.budget.charge(size)
            parts.append(piece)
        self._command = "".join(parts)
        return self._command, replaced

    def system(self, command: str) -> None:
        """`!command`."""
        self.ctx.run(["sh", "-c", command])
        if not self.scripted:
            self.ctx.print("!")

    # reading

    def read(self, name: str, at: int) -> int:
        """Read a file or the output of a command behind line `at`; return the number of lines."""
        if name[:1] == "!":
            output = Collected(self.ctx.budget.limits.value_bytes)
            status = self.ctx.run(["sh", "-c", name[1:]], stdout=output)
            data = output.getvalue()
        else:
            data, status = self._data(name), 0
        count = self._take(data, at)
        if status:
            if not self.quiet:
                self.ctx.stderr.write(encode(f"{name}: Success\n"))
            raise EdError("Cannot close input file")
        return count

    def _data(self, name: str) -> bytes:
        try:
            source = self.ctx.fs.open(self.ctx.path(name), "r")
        except IsADirectoryError as error:
            raise FatalReadError(self._failed(name, error, "Cannot read input file")) from None
        except OSError as error:
            raise self._failed(name, error, "Cannot open input file") from None
        try:
            if source.unreadable:
                raise source.input_error(name)
            return read_all(self.ctx.budget, source)
        except OSError as error:
            raise FatalReadError(self._failed(name, error, "Cannot read input file")) from None
        finally:
            source.release()

    def _take(self, data: bytes, at: int) -> int:
        """Put the lines of the data behind line `at`; tell what was added to them."""
        buffer, budget = self.buffer, self.ctx.budget
        budget.charge(len(data))
        was_binary, appended = buffer.binary, at == buffer.last
        was_unterminated = buffer.last > 0 and buffer.lines[-1] is buffer.unterminated
        buffer.binary = was_binary or b"\0" in data
        size = len(data)
        added = bool(data) and not data.endswith(b"\n")
        if added:
            size += not buffer.binary
            data += b"\n"
        if self.strip_cr:
            size -= data.count(b"\r\n")
            data = data.replace(b"\r\n", b"\n")
        text = (decode_bytewise if self.ctx.is_bytewise() else decode)(data)
        lines = text.split("\n")[:-1]
        buffer.current = at
        if lines:
            buffer.insert(at, lines)
        if at and appended and size and was_unterminated:
            self.ctx.print("Newline inserted")
        elif added and (not appended or not buffer.binary):
            self.ctx.print("Newline appended")
        if not appended and buffer.binary and not was_binary and added:
            size += 1
        if appended and buffer.binary and (added or not size):
            buffer.unterminated = buffer.lines[-1] if buffer.lines else None
        self._tell(size)
        return len(lines)

    # writing

    def write(self, name: str, first: int, last: int, *, append: bool) -> int:
        """Write lines to a file or a command; return their number."""
        data = self._data_of(first, last)
        if name[:1] == "!":
            status = self.ctx.run(["sh", "-c", name[1:]], stdin=BytesReader(data))
            if status:
                if not self.quiet:
                    self.ctx.stderr.write(encode(f"{name}: Success\n"))
                raise EdError("Cannot close output file")
        else:
            self._store(name, data, append=append)
        self._tell(len(data))
        return last - first + 1 if first else 0

    def _data_of(self, first: int, last: int) -> bytes:
        if not first:
            return b""
        buffer = self.buffer
        lines = buffer.lines[first - 1 : last]
        self.ctx.budget.step(len(lines) + 1)
        self.ctx.budget.charge(sum(len(line.text) + 1 for line in lines))
        data = encode("\n".join([line.text for line in lines]) + "\n")
        is_open = last == buffer.last and buffer.binary and lines[-1] is buffer.unterminated
        return data[:-1] if is_open else data

    def _store(self, name: str, data: bytes, *, append: bool) -> None:
        try:
            target = self.ctx.fs.open(
                self.ctx.path(name), "a" if append else "w", permissions=0o666 & ~self.ctx.umask
            )
        except OSError as error:
            raise self._failed(name, error, "Cannot open output file") from None
        try:
            target.write(data)
        except OSError as error:
            raise self._failed(name, error, "Cannot write file") from None
        finally:
            target.release()


class FatalReadError(EdError):
    """A file that could be opened, but not read."""

    def __init__(self, error: EdError) -> None:
        super().__init__(str(error))
