"""Files and commands ("|CMD") that `sqlite3` writes to and reads from."""

from __future__ import annotations

from agentsandbox.commands.sqlite3.words import DotError
from agentsandbox.kernel.streams import Buffer, BytesReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.sqlite3.protocols import Shell
    from agentsandbox.contract.command import CommandContext


class PipeOutput(Buffer):
    """The input of a command, which runs when it is complete."""

    __slots__ = ("command", "ctx")

    def __init__(self, ctx: CommandContext, command: str) -> None:
        super().__init__(ctx.budget.value_bytes)
        self.ctx = ctx
        self.command = command

    def release(self) -> None:
        self.ctx.run(
            ["sh", "-c", self.command], stdin=BytesReader(self.getvalue()), cwd=self.ctx.cwd
        )


def _redirect(shell: Shell, words: list[str]) -> None:
    """Send output to the file or command that the words name, to stdout without any."""
    if words and words[0].startswith("-"):
        raise DotError(f'ERROR: unknown option: "{words[0]}".')
    if len(words) > 1 and not words[0].startswith("|"):
        raise DotError(f'ERROR: extra parameter: "{words[1]}".')
    name = " ".join(words)
    shell.end_output()
    if name in ("", "stdout", "off"):
        return
    if name.startswith("|"):
        shell.output = PipeOutput(shell.ctx, name[1:])
    else:
        shell.output = shell.ctx.fs.open(
            shell.ctx.path(name), "w", permissions=0o666 & ~shell.ctx.umask
        )


def set_output(shell: Shell, words: list[str]) -> None:
    """`.output`"""
    _redirect(shell, words)


def set_once(shell: Shell, words: list[str]) -> None:
    """`.once`"""
    _redirect(shell, words)
    shell.once = shell.output is not None


def read_source(shell: Shell, name: str) -> bytes:
    """Return the content of a file, or the output of "|CMD", without a byte-order mark."""
    if name.startswith("|"):
        shell.flush()
        printed = Buffer(shell.ctx.budget.value_bytes)
        shell.ctx.run(["sh", "-c", name[1:]], stdout=printed, cwd=shell.ctx.cwd)
        return printed.getvalue().removeprefix(b"\xef\xbb\xbf")
    try:
        return shell.ctx.fs.read_bytes(shell.ctx.path(name)).removeprefix(b"\xef\xbb\xbf")
    except OSError:
        raise DotError(f'Error: cannot open "{name}"') from None
