"""`uudecode` (POSIX 1003.1-2017): files from the text that uuencode wrote."""

from __future__ import annotations

import binascii

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.errors import CommandError
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.streams import ByteReader

_WORDS = 3


def _decode(ctx: CommandContext, source: ByteReader, name: str, output: str | None) -> None:
    """The first encoded file of a source."""
    header: list[bytes] = []
    parts: list[bytes] = []
    for line in source.lines():
        ctx.budget.step()
        if not header:
            words = line.rstrip(b"\r\n").split(b" ", _WORDS - 1)
            if words[0] in (b"begin", b"begin-base64") and len(words) == _WORDS and not words[1].strip(b"01234567"):
                header = words
            continue
        text = line.rstrip(b"\r\n")
        if text == (b"====" if header[0] == b"begin-base64" else b"end"):
            break
        try:
            part = binascii.a2b_base64(text) if header[0] == b"begin-base64" else binascii.a2b_uu(text)
        except binascii.Error:
            raise CommandError(f"{name}: malformed input") from None
        ctx.budget.charge(len(part))
        parts.append(part)
    else:
        raise CommandError(f"{name}: {'No `end' + chr(39) + ' line' if header else 'No `begin' + chr(39) + ' line'}")
    target = output if output is not None else decode(header[2])
    if target in ("-", "/dev/stdout"):
        ctx.stdout.write(b"".join(parts))
        return
    mode = int(header[1][-4:] or b"644", 8) & 0o777
    file = ctx.fs.open(ctx.path(target), "w", permissions=mode & ~ctx.umask)
    try:
        file.write(b"".join(parts))
    finally:
        file.release()
    ctx.fs.chmod(ctx.path(target), mode)


@command(
    "uudecode",
    usage="""
    Usage: uudecode [-o OUTFILE] [FILE]...
    Turn FILEs (or standard input) that uuencode wrote into the files they are made of.

      -o, --output-file=OUTFILE  write to OUTFILE, not to the name in the text
          --help                 display this help and exit
    """,
)
def uudecode(ctx: CommandContext, args: Arguments) -> int:
    for name in args.operands or ["-"]:
        try:
            _decode(ctx, ctx.open_input(name), "stdin" if name == "-" else name, args.value("output-file"))
        except CommandError as error:
            ctx.stderr.write(encode(f"{ctx.name}: {error.message}\n"))
            ctx.status = 1
        except OSError as error:
            ctx.warn(describe_os_error(error, name))
    return ctx.status
