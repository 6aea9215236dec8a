"""`shred` (GNU coreutils): overwrite files; their old content is never readable here."""

from __future__ import annotations

from agentsandbox.commands._files.block_sizes import BLOCK_SIZE
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.choices import choice_of
from agentsandbox.commands._text.lines import shown_name
from agentsandbox.commands._text.sizes import parse_number, parse_size
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_MOST_PASSES = 1000
_PIECE = 1 << 20


def _passes(text: str) -> int:
    return parse_number(text, "number of passes", high=_MOST_PASSES)


def _size(text: str) -> int:
    return parse_size(text, "file size", suffixes="cbBkMGTPEZY0")


@command(
    "shred",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            exact force iterations size random-source remove verbose zero help version
        """,
    ),
    values={
        "iterations": _passes,
        "size": _size,
        "remove": choice_of("--remove", (("unlink",), ("wipe",), ("wipesync",))),
    },
    usage="""
    Usage: shred [OPTION]... FILE...
    Overwrite each FILE with random bytes.

      -f, --force         make a FILE writable if it is not
      -n, --iterations=N  overwrite N times, not 3
      -s, --size=N        overwrite N bytes (K, M, G are units)
      -u                  remove the FILE after that
          --remove[=HOW]  the same; HOW the name goes (unlink, wipe, wipesync) makes no difference
      -v, --verbose       say what is done
      -x, --exact         do not round sizes up to a whole block
      -z, --zero          overwrite with zeros at last
          --help          display this help and exit
    """,
)
def shred(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing file operand")
    passes = _passes(args.value("iterations", "3") or "")
    text = args.value("size")
    size = None if text is None else _size(text)
    for name in args.operands:
        ctx.budget.step()
        _shred(ctx, args, name, passes, size)
    return ctx.status


def _shred(ctx: CommandContext, args: Arguments, name: str, passes: int, size: int | None) -> None:
    if name == "-":
        ctx.warn("-: invalid file type")
        return
    try:
        path = ctx.path(name)
        if args.flag("force") and not ctx.fs.access(path, 2):
            ctx.fs.chmod(path, ctx.fs.stat(path).permissions | 0o200)
        file = ctx.fs.open(path, "r+")
    except OSError as error:
        ctx.warn(f"{shown_name(name)}: failed to open for writing: {describe_os_error(error, '')}")
        return
    try:
        length = file.stat().size if size is None else size
        if not args.flag("exact") and size is None:
            length = -(-length // BLOCK_SIZE) * BLOCK_SIZE
        kinds = ["random"] * passes + ["000000"] * args.flag("zero")
        for number, kind in enumerate(kinds, 1):
            if args.flag("verbose"):
                ctx.warn(f"{shown_name(name)}: pass {number}/{len(kinds)} ({kind})...", ctx.status)
            file.seek(0)
            left = length
            while left > 0:
                ctx.budget.step()
                piece = min(left, _PIECE)
                file.write(ctx.host.random.randbytes(piece) if kind == "random" else bytes(piece))
                left -= piece
        if args.last("u", "remove"):
            file.truncate(0)  # for its other names
    except OSError as error:
        ctx.warn(f"{shown_name(name)}: error writing: {describe_os_error(error, '')}")
        return
    finally:
        file.release()
    if args.last("u", "remove"):
        ctx.fs.unlink(path)
        if args.flag("verbose"):
            ctx.warn(f"{shown_name(name)}: removing", ctx.status)
            ctx.warn(f"{shown_name(name)}: removed", ctx.status)
