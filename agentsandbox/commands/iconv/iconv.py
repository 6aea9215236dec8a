"""`iconv` (POSIX 1003.1-2017, glibc): convert text from one encoding to another."""

from __future__ import annotations

import codecs
import contextlib
import re

from agentsandbox.commands._suites import GLIBC
from agentsandbox.commands._text.encoding_names import find_encoding, list_names
from agentsandbox.commands.iconv.letters import replacements
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import Buffer, InputError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.streams import ByteWriter

_MARKS = {"utf-16": codecs.BOM_UTF16_LE, "utf-32": codecs.BOM_UTF32_LE}
_PIECE = 4096
"""Bytes that are decoded at a time after an error, as the rest is copied then."""
_NO_TARGET = "utf-7"
"""Python writes another of the allowed forms than glibc."""


class _Conversion:
    """One conversion over all inputs."""

    def __init__(
        self,
        ctx: CommandContext,
        source: str,
        target: str,
        output: ByteWriter,
        *,
        omit: bool,
        transliterate: bool,
    ) -> None:
        self.ctx = ctx
        self.decoder = codecs.getincrementaldecoder(source.replace("ucs-2", "utf-16"))("strict")
        self.unmarked = source if source in _MARKS else None
        """The source, as long as its byte order is unknown."""
        self.start = b""
        self.omitted = False
        self.target = target
        self.output = output
        self.omit = omit
        self.transliterate = transliterate
        self.position = 0
        self.mark = _MARKS.get(target, b"")
        self.narrow = target.startswith("ucs-2")
        self.encoding = {"utf-16": "utf-16le", "utf-32": "utf-32le"}.get(
            target, target.replace("ucs-2", "utf-16")
        )

    def encode(self, text: str) -> bytes:
        """Return the text in the target; UnicodeEncodeError if that lacks a character."""
        if self.narrow and max(text, default="") > "\uffff":
            raise UnicodeEncodeError("ucs-2", text, 0, len(text), "no pairs")
        return text.encode(self.encoding, "strict")

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Convert a block; positions in messages count bytes of the input."""
        if self.unmarked is not None:
            self.start += data
            if len(self.start) < 4 and not final:
                return
            data, self.start = self._unmark(self.unmarked, self.start), b""
            if final and data:
                self.feed(data)
                data = b""
        while True:
            before = self.decoder.getstate()
            pending = len(before[0])
            try:
                text = self.decoder.decode(data, final)
            except UnicodeDecodeError as error:
                self.write(
                    self._decode_before(error, before, data[: max(0, error.start - pending)])
                )
                if final and not data:
                    raise CommandError(
                        "incomplete character or shift sequence at end of buffer"
                    ) from None
                if not self.omit:
                    raise self.illegal(self.position - pending + error.start) from None
                self.omitted = True
                self.ctx.budget.step()
                skipped = max(0, error.end - pending)
                self.position += skipped
                if len(data) > _PIECE:
                    for start in range(skipped, len(data), _PIECE):
                        self.feed(data[start : start + _PIECE])
                    data = b""
                else:
                    data = data[skipped:]
                continue
            self.write(text)
            self.position += len(data)
            return

    def _decode_before(
        self, error: UnicodeDecodeError, state: tuple[bytes, int], data: bytes
    ) -> str:
        """Decode the bytes before an error; the decoder keeps its shift state."""
        self.decoder.setstate(state if error.start else (b"", state[1]))
        try:
            text = self.decoder.decode(data, True)
        except UnicodeDecodeError:  # what had been put off is a part of the error
            text = ""
        self.decoder.setstate((b"", self.decoder.getstate()[1]))
        return text

    def _unmark(self, source: str, data: bytes) -> bytes:
        """Remove the byte order mark, which sets the byte order (little-endian without one)."""
        self.unmarked = None
        marks = {
            "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
            "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
        }[source]
        big = data.startswith(marks[1])
        self.decoder = codecs.getincrementaldecoder(f"{source}-{'be' if big else 'le'}")("strict")
        if not big and not data.startswith(marks[0]):
            return data
        self.position += len(marks[0])
        return data[len(marks[0]) :]

    def write(self, text: str) -> None:
        if not text:
            return
        mark, self.mark = self.mark, b""
        try:
            self.output.write(mark + self.encode(text))
            return
        except UnicodeEncodeError:
            pass
        parts = [mark]
        for done, character in enumerate(text):
            self.ctx.budget.step()
            try:
                parts.append(self.encode(character))
            except UnicodeEncodeError:
                parts.append(self.instead(character, text, done, parts))
        self.output.write(b"".join(parts))

    def instead(self, character: str, text: str, done: int, parts: list[bytes]) -> bytes:
        """Return the replacement of a character that the target lacks."""
        if self.transliterate:
            in_unicode = not self.ctx.is_bytewise()
            for text_instead in (*replacements(character, in_unicode=in_unicode), "?"):
                with contextlib.suppress(UnicodeEncodeError):
                    return self.encode(text_instead)
        if self.omit:
            self.omitted = True
            return b""
        self.output.write(b"".join(parts))
        raise self.illegal(self.position + len(encode(text[:done])))

    def illegal(self, position: int) -> CommandError:
        """Return the error for a sequence that cannot be converted."""
        return CommandError(f"illegal input sequence at position {position}")


@command(
    "iconv",
    manners=Manners(
        GLIBC,
        long_options="""
            from-code to-code list output silent verbose help usage program-name HANG
            version
        """,
        read_error=("NAME: error while reading the input: REASON", 1),
        write_error=("NAME: error while closing output file: REASON", 1),
    ),
    usage="""
    Usage: iconv [OPTION...] [FILE...]
    Convert encoding of given files from one encoding to another.

      -f, --from-code=NAME  encoding of original text (UTF-8)
      -t, --to-code=NAME    encoding for output (UTF-8); with //TRANSLIT or //IGNORE for characters
                            it lacks
      -c                    omit invalid characters from output
      -l, --list            list all known coded character sets
      -o, --output=FILE     output file
      -s, --silent          suppress warnings
          --verbose         name each FILE on stderr
          --usage           display a short help and exit
      -?, --help            display this help and exit
    """,
    usage_status=64,
    hint="Try `NAME --help' or `NAME --usage' for more information.",
)
def iconv(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("usage"):
        ctx.print(iconv.usage.partition("\n")[0])
        return 0
    if args.flag("help"):
        ctx.print(iconv.usage, end="")
        return 0
    if args.flag("list"):
        ctx.print("".join([f"{name}//\n" for name in list_names()]), end="")
        return 0
    own = "ascii" if ctx.is_bytewise() else "utf-8"
    target_name, *suffixes = re.split("//|,", (args.value("to-code", "") or "").upper())
    source = find_encoding((args.value("from-code", "") or own).split("//")[0] or own)
    target = find_encoding(target_name or own)
    if source is None or target is None:
        raise CommandError("failed to start conversion processing: No such file or directory")
    if target == _NO_TARGET:
        raise CommandError(f"conversion to {target_name} is not available here")
    name = args.value("output")
    collected = None if name in (None, "-") else Buffer(ctx.budget.value_bytes)
    conversion = _Conversion(
        ctx,
        source,
        target,
        ctx.stdout if collected is None else collected,
        omit=args.flag("c") or "IGNORE" in suffixes,
        transliterate="TRANSLIT" in suffixes,
    )
    try:
        _convert(ctx, args, conversion)
    finally:
        if collected is not None and collected.size:
            _write_file(ctx, name or "", collected.getvalue())
    if conversion.omitted and not args.flag("c"):
        raise conversion.illegal(conversion.position)
    return ctx.status


def _write_file(ctx: CommandContext, name: str, data: bytes) -> None:
    """Write the output of `-o`, which may be the file that was read."""
    try:
        ctx.fs.write_bytes(ctx.path(name), data, permissions=0o666 & ~ctx.umask)
    except OSError as error:
        raise CommandError(f"cannot open output file: {error.strerror}") from None


def _convert(ctx: CommandContext, args: Arguments, conversion: _Conversion) -> None:
    """Convert all inputs, one after the other."""
    for operand in args.operands or ["-"]:
        if args.flag("verbose") and args.operands:
            ctx.stderr.write(encode(f"{operand}:\n"))
        try:
            reader = ctx.open_input(operand)
        except InputError:
            raise
        except OSError as error:
            if isinstance(error, IsADirectoryError):
                ctx.warn(f"error while reading the input: {error.strerror}")
                break
            ctx.warn(f"cannot open input file `{operand}': {error.strerror}")
            continue
        conversion.position = 0
        for block in reader.blocks():
            ctx.budget.step()
            conversion.feed(block)
    conversion.feed(b"", final=True)
