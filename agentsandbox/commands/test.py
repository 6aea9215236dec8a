"""`test` (POSIX 1003.1-2017) as a program; scripts get the shell's builtin, by the same rules."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError
from agentsandbox.languages.predicates import TestError, evaluate_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.fs.base import FileSystem


class _Environment:
    """What a program knows: files, but no variables of the shell."""

    def __init__(self, ctx: CommandContext) -> None:
        self.ctx = ctx
        self.fs: FileSystem = ctx.fs

    def path(self, name: str) -> str:
        return self.ctx.path(name)

    def is_terminal(self, descriptor: int) -> bool:
        streams = (self.ctx.stdin, self.ctx.stdout, self.ctx.stderr)
        return descriptor < 3 and bool(getattr(streams[descriptor], "is_terminal", False))

    def is_set(self, name: str) -> bool:
        return name in self.ctx.env

    def is_reference(self, _name: str) -> bool:
        return False

    def option_on(self, _name: str) -> bool:
        return False


@command(
    "test",
    usage="""
    Usage: test EXPRESSION
      or:  test
    Exit with the status that EXPRESSION determines: 0 for true, 1 for false, 2 for an error.

    ( EXPRESSION )  ! EXPRESSION  EXPRESSION -a EXPRESSION  EXPRESSION -o EXPRESSION
    Strings: -n -z = == != < >   Numbers: -eq -ne -lt -le -gt -ge   Files: -nt -ot -ef
    One file: -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -t -u -w -x
    """,
    raw=True,
)
def test(ctx: CommandContext, args: Arguments) -> int:
    ctx.budget.step(len(args.operands) + 1)
    try:
        return 0 if evaluate_test(args.operands, _Environment(ctx)) else 1
    except TestError as error:
        raise CommandError(error.message, 2) from None
