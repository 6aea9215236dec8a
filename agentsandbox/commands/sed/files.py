"""The files of one sed: inputs, and the files that w writes."""

from __future__ import annotations

import errno

from agentsandbox.commands.sed.nodes import Script, SedError
from agentsandbox.commands.sed.output import Output, Settings
from agentsandbox.contract.command import CommandContext, describe_os_error
from agentsandbox.kernel.streams import LateWriter, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.kernel.fs.base import File
    from agentsandbox.kernel.streams import ByteReader


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
        self.edited: Output | None = None
        """The new text of a file that is edited in place, meanwhile."""

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
        if self.edited is not None:
            self.edited.flush()

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
