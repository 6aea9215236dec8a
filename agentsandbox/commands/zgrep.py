"""`zgrep`: grep in files that may be compressed by gzip."""

from __future__ import annotations

import zlib

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands.grep import run_grep
from agentsandbox.errors import CommandError
from agentsandbox.streams import BytesReader, encode

__all__ = ["zgrep"]

_STEP = 65536
_WITH_VALUE = frozenset("efmABCdD")


@command(
    "zgrep",
    usage="""
    Usage: zgrep [GREP-OPTION]... PATTERN [FILE]...
    Search files for lines that match, as grep does; those that gzip compressed are expanded first.

    Options are those of grep, but for recursion.

          --help    display this help and exit
    """,
    raw=True,
    usage_status=2,
)
def zgrep(ctx: CommandContext, args: Arguments) -> int:
    options, pattern_given, operands = _split(args.operands)
    if "--help" in options:
        ctx.print(zgrep.usage, end="")
        return 0
    if not pattern_given:
        if not operands:
            raise CommandError("missing pattern; try `zgrep --help' for help", 2)
        options += ["-e", operands.pop(0)]
    names = operands or ["-"]
    labelled = len(names) > 1 and not {"-h", "--no-filename"} & set(options)
    status = 1
    for name in names:
        ctx.budget.step()
        found = _search(ctx, options, name, labelled=labelled)
        status = 2 if found > 1 or status > 1 else min(status, found)
    return status


def _split(words: list[str]) -> tuple[list[str], bool, list[str]]:
    """(grep's options, whether they hold a pattern, the other words)."""
    options: list[str] = []
    operands: list[str] = []
    pattern_given = False
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if word == "--":
            operands.extend(words[position:])
            break
        if word == "-" or not word.startswith("-"):
            operands.append(word)
            continue
        options.append(word)
        if word.startswith("--"):
            pattern_given |= word.startswith(("--regexp", "--file="))
            if word in ("--regexp", "--file") and position < len(words):
                options.append(words[position])
                position += 1
            continue
        for at, letter in enumerate(word[1:], 2):
            if letter in _WITH_VALUE:
                pattern_given |= letter in "ef"
                if at == len(word) and position < len(words):
                    options.append(words[position])
                    position += 1
                break
    return options, pattern_given, operands


def _refuse_input(ctx: CommandContext, error: OSError) -> int:
    """Standard input cannot be read: gzip's words."""
    ctx.stderr.write(encode(f"gzip: standard input: {error.strerror}\n" if error.errno == 9 else f"\ngzip: stdin: {error.strerror}\n"))
    return 2


def _search(ctx: CommandContext, options: list[str], name: str, *, labelled: bool) -> int:
    """Search one file; grep's status."""
    try:
        source = ctx.open_input(name)
    except OSError as error:
        if name == "-":
            return _refuse_input(ctx, error)
        if error.errno == 21:
            return 1
        shown = f"{name}.gz" if error.errno == 2 and not name.endswith(".gz") else name
        ctx.stderr.write(encode(f"gzip: {shown}: {error.strerror}\n"))
        return 2
    if source.unreadable:
        return _refuse_input(ctx, source.input_error())
    head = source.read(_STEP)
    pieces = [head]
    while block := source.read(_STEP):
        pieces.append(block)
        ctx.budget.charge(len(pieces) * _STEP)
    data = b"".join(pieces)
    if data.startswith(b"\x1f\x8b"):
        data = _expand(ctx, data, name)
    extra = [f"--label={name}", "-H"] if labelled else [f"--label={name if name != '-' else '(standard input)'}"]
    stdin, ctx.stdin = ctx.stdin, BytesReader(data)
    try:
        return run_grep(ctx, [*options, *extra, "--", "-"])
    finally:
        ctx.stdin = stdin


def _expand(ctx: CommandContext, data: bytes, name: str) -> bytes:
    """The content of one or more gzip members."""
    out: list[bytes] = []
    size = 0
    while data.startswith(b"\x1f\x8b"):
        member = zlib.decompressobj(31)
        pending = data
        try:
            while pending and not member.eof:
                ctx.budget.step()
                piece = member.decompress(pending, 4 * _STEP)
                size += len(piece)
                ctx.budget.charge(size)
                out.append(piece)
                pending = member.unconsumed_tail
        except zlib.error:
            raise CommandError(f"{name}: invalid compressed data", 2) from None
        if not member.eof:
            raise CommandError(f"{name}: unexpected end of file", 2)
        data = member.unused_data
    return b"".join(out)
