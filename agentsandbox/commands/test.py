"""`test` and `[` (POSIX 1003.1-2017) as programs, by the same rules as the shell's builtins."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError
from agentsandbox.kernel.formats.predicates import TestError, evaluate_test

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.fs.base import FileSystem


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


_EXPRESSIONS = """\
    Exit with the status that EXPRESSION determines: 0 for true, 1 for false, 2 for an error.

    ( EXPRESSION )  ! EXPRESSION  EXPRESSION -a EXPRESSION  EXPRESSION -o EXPRESSION
    Strings: -n -z = == != < >   Numbers: -eq -ne -lt -le -gt -ge   Files: -nt -ot -ef
    One file: -b -c -d -e -f -g -G -h -k -L -N -O -p -r -s -S -t -u -w -x
"""


@command(
    "test",
    usage=f"""
    Usage: test EXPRESSION
      or:  test
{_EXPRESSIONS}    """,
    raw=True,
)
def test(ctx: CommandContext, args: Arguments) -> int:
    return _evaluate(ctx, args.operands)


@command(
    "[",
    usage=f"""
    Usage: test EXPRESSION
      or:  [ EXPRESSION ]
      or:  [ ]
{_EXPRESSIONS}    """,
    raw=True,
)
def bracket(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if words == ["--help"]:
        ctx.print(bracket.usage, end="")
        return 0
    if not words or words[-1] != "]":
        raise CommandError("missing ‘]’", 2)
    return _evaluate(ctx, words[:-1])


def _evaluate(ctx: CommandContext, words: Sequence[str]) -> int:
    ctx.budget.step(len(words) + 1)
    try:
        return 0 if evaluate_test(words, _Environment(ctx)) else 1
    except TestError as error:
        raise CommandError(error.message, 2) from None
