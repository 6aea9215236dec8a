"""What uuencode and uudecode of GNU sharutils share: how they read their options and word what goes
wrong.
"""

from __future__ import annotations

from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Arguments, Command, CommandContext

_LETTERS = {"o": "output-file"}


class FatalError(Exception):
    """The command cannot go on; `message` stands under its heading."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    def show(self, ctx: CommandContext) -> int:
        """Write it; the status."""
        ctx.stderr.write(encode(f"{ctx.name} fatal error:\n{self.message}"))
        return self.status


def reason(error: OSError, action: str, name: str) -> str:
    """The message about a system call that failed."""
    return f"fserr {error.errno} ({error.strerror}) performing '{action}' on {name}\n"


def _wording(name: str, message: str) -> str:
    """What the option parser has to say, as sharutils says it."""
    option = message.partition("'")[2].partition("'")[0].lstrip("-").partition("=")[0]
    if "requires an argument" in message:
        return f"/usr/bin/{name}: The '{_LETTERS.get(option, option)}' option requires an argument."
    if "doesn't allow" in message:
        return f"/usr/bin/{name}: The '{option}' option cannot have an argument."
    return f"/usr/bin/{name}: illegal option -- {option}"


def parse_words(ctx: CommandContext, of: Command, heading: str) -> Arguments | int:
    """The options and operands; the status where nothing is left to do."""
    try:
        args = of.parser().parse(ctx.words)
    except UsageError as error:
        ctx.stderr.write(encode(f"{_wording(ctx.name, error.message)}\n{heading}"))
        return 1
    if args.flag("help"):
        ctx.print(of.usage, end="")
        return 0
    if args.flag("version"):
        ctx.print(of.version(), end="")
        return 0
    return args
