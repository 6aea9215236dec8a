"""`zdiff` and `zcmp` (gzip 1.12): compare files that gzip compressed."""

from __future__ import annotations

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import Buffer, BytesReader

_WITH_VALUES = frozenset("CDFISUWXx")
_SUFFIXES = (".gz", ".z", ".Z", "-gz", "-z", ".tgz", ".taz")


def _operands(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the options for the comparing tool, and the names of files."""
    options: list[str] = []
    names: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            names += words[at:]
            break
        if len(word) > 1 and word[0] == "-":
            options.append(word)
            if len(word) == 2 and word[1] in _WITH_VALUES:
                if at == len(words):
                    raise CommandError(f"option requires an argument -- {word}", 2)
                options.append(words[at])
                at += 1
        elif not word:
            raise CommandError("empty file name", 2)
        else:
            names.append(word)
    if len(names) > 2:
        raise CommandError(f"extra operand '{names[2]}'", 2)
    if not names:
        raise CommandError("missing operand", 2)
    return options, names


def _text(ctx: CommandContext, name: str) -> bytes:
    """Return what a file holds, expanded if its name says that it is compressed."""
    if name == "-":
        data = ctx.stdin.read()
        ctx.budget.charge(len(data))
        return data
    if not name.endswith(_SUFFIXES):
        return ctx.fs.read_bytes(ctx.path(name))
    output = Buffer(ctx.budget.value_bytes)
    status = ctx.run(["gzip", "-cd", "--", name], stdout=output)
    if status == 1:
        raise CommandError("", 2)
    return output.getvalue()


def _compare(ctx: CommandContext, tool: str, words: list[str]) -> int:
    options, names = _operands(words)
    if len(names) == 1:
        first = names[0]
        if first.endswith(_SUFFIXES):
            stem = (
                first[:-4] + ".tar"
                if first.endswith((".tgz", ".taz"))
                else first.rpartition("-" if first.endswith(("-gz", "-z")) else ".")[0]
            )
            names = [first, stem]
        else:
            raise CommandError(f"{first}: unknown compressed file extension", 2)
    for name in names:
        if name != "-" and not ctx.fs.exists(ctx.path(name)) and name.endswith(_SUFFIXES):
            raise CommandError(f"{name}: No such file or directory", 2)
    second = names[1]
    data = _text(ctx, names[0])
    if not second.endswith(_SUFFIXES):
        return ctx.run([tool, *options, "--", "-", second], stdin=BytesReader(data))
    number = ctx.host.random.randrange(10**9)
    path = f"/tmp/{ctx.name}{number:09}"
    try:
        ctx.fs.write_bytes(path, _text(ctx, second), permissions=0o600)
        return ctx.run([tool, *options, "--", "-", path], stdin=BytesReader(data))
    finally:
        if ctx.fs.exists(path):
            ctx.fs.unlink(path)


@command(
    "zdiff",
    usage="""
    Usage: zdiff [DIFF-OPTION]... FILE1 [FILE2]
    Compare files that gzip compressed, with diff. FILE2 defaults to FILE1 without its suffix.

          --help  display this help and exit
    """,
    raw=True,
    usage_status=2,
)
def zdiff(ctx: CommandContext, args: Arguments) -> int:
    if args.operands[:1] == ["--help"]:
        ctx.print(zdiff.usage, end="")
        return 0
    return _compare(ctx, "diff", args.operands)


@command(
    "zcmp",
    usage="""
    Usage: zcmp [CMP-OPTION]... FILE1 [FILE2]
    Compare files that gzip compressed, with cmp. FILE2 defaults to FILE1 without its suffix.

          --help  display this help and exit
    """,
    raw=True,
    usage_status=2,
)
def zcmp(ctx: CommandContext, args: Arguments) -> int:
    if args.operands[:1] == ["--help"]:
        ctx.print(zcmp.usage, end="")
        return 0
    return _compare(ctx, "cmp", args.operands)
