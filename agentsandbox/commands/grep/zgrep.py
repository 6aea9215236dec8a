"""`zgrep` (gzip 1.12): expand files with gzip and search each with a grep of its own."""

from __future__ import annotations

import errno

from agentsandbox.commands._files.gzip_files import Gzip, GzipOptions
from agentsandbox.commands._text.lines import read_all
from agentsandbox.commands.grep.grep import run_grep
from agentsandbox.commands.grep.options import PARSER
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import Buffer, BytesReader, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Command

_REFUSED = frozenset(
    {
        "directories",
        "recursive",
        "dereference-recursive",
        "null-data",
        "null",
        "include",
        "exclude",
        "exclude-dir",
    }
)


@command(
    "zgrep",
    manners=Manners(checks_output=True, closed_write_error=SILENT),
    usage="""
    Usage: zgrep [GREP-OPTION]... PATTERN [FILE]...
    Search files for lines that match, as grep does; those that gzip compressed are expanded first.

    Options are those of grep, but for -d, -r, -R, -z, -Z and those that choose among files.

          --help    display this help and exit
    """,
    raw=True,
    usage_status=2,
)
def zgrep(ctx: CommandContext, args: Arguments) -> int:
    if args.operands[:1] == ["--help"]:
        ctx.print(zgrep.usage, end="")
        return 0
    parsed = PARSER.parse(args.operands)
    options: list[str] = []
    for key, value in parsed.given:
        if key in _REFUSED:
            raise CommandError(f"--{key}: option not supported", 2)
        if key == "file" and value == "-":  # read now: each file has a grep of its own
            text = decode(read_all(ctx.budget, ctx.stdin))
            options += ["-e", text.removesuffix("\n")] if text else ["-f", "/dev/null"]
        else:
            name = f"-{key}" if len(key) == 1 else f"--{key}"
            options.append(name if value is None else f"{name}={value}")
    names = parsed.operands
    if not (parsed.flag("regexp") or parsed.flag("file")):
        if not names:
            raise CommandError("missing pattern; try `zgrep --help' for help", 2)
        options += ["-e", names.pop(0)]
    if len(names) > 1:
        options = ["-H", *options]
    lists_names = parsed.flag("files-with-matches") or parsed.flag("files-without-match")
    ctx.name = "grep"
    status = 1
    for name in names or ["-"]:
        ctx.budget.step()
        label = [] if name == "-" and not lists_names else [f"--label={name}"]
        found = _search(ctx, name, [*label, *options])
        status = 2 if found > 1 or status > 1 else min(status, found)
    return status


def _search(ctx: CommandContext, name: str, words: list[str]) -> int:
    """Search one file; return grep's status, or 2 where gzip fails."""
    stdin, stdout = ctx.stdin, ctx.stdout
    if name == "-" and stdin.unreadable:
        error = stdin.input_error()
        is_closed = error.errno == errno.EBADF
        name = "gzip: standard input" if is_closed else "\ngzip: stdin"
        ctx.stderr.write(encode(f"{name}: {error.strerror}\n"))
        return 2
    options = GzipOptions()
    options.decompress = options.stdout = options.force = options.quiet = True
    found = Buffer(ctx.budget.value_bytes)
    ctx.stdout, ctx.status = found, 0
    try:
        failed = Gzip(ctx, options).run([name]) == 1
    finally:
        ctx.stdout, ctx.status = stdout, 0
    ctx.stdin = BytesReader(found.getvalue())
    try:
        status = run_grep(ctx, words)
    except CommandError as error:  # the greps of the other files still run
        ctx.warn(error.message)
        status = error.status
    finally:
        ctx.stdin = stdin
    return 2 if failed else status


def _variant(name: str, option: str) -> Command:
    @command(
        name,
        manners=Manners(checks_output=True, closed_write_error=SILENT),
        usage=f"""
    Usage: {name} [GREP-OPTION]... PATTERN [FILE]...
    The same as zgrep {option}.

          --help    display this help and exit
    """,
        raw=True,
        usage_status=2,
    )
    def run(ctx: CommandContext, args: Arguments) -> int:
        if args.operands[:1] == ["--help"]:
            ctx.print(run.usage, end="")
            return 0
        args.operands = [option, *args.operands]
        return zgrep.function(ctx, args)  # type: ignore[return-value]

    return run


zegrep = _variant("zegrep", "-E")
zfgrep = _variant("zfgrep", "-F")
