"""`iconv` (POSIX 1003.1-2017, glibc): convert text from one encoding to another."""

from __future__ import annotations

import codecs

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.errors import CommandError
from agentsandbox.streams import InputError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.streams import ByteWriter

__all__ = ["find_encoding", "iconv"]

_NAMES = (
    "ascii utf-8 utf-16 utf-16le utf-16be utf-32 utf-32le utf-32be utf-7 latin-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 "
    "iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11 iso8859-13 iso8859-14 iso8859-15 iso8859-16 cp037 cp437 cp500 cp775 cp850 "
    "cp852 cp855 cp857 cp858 cp860 cp861 cp862 cp863 cp864 cp865 cp866 cp869 cp874 cp932 cp949 cp950 cp1250 cp1251 cp1252 cp1253 "
    "cp1254 cp1255 cp1256 cp1257 cp1258 koi8-r koi8-u mac-roman mac-cyrillic big5 euc-jp euc-kr gb2312 gbk gb18030 shift_jis "
    "iso2022-jp tis-620 hz johab"
)
_ENCODINGS = frozenset(_NAMES.split())
_ALIASES = {
    "ucs-2": "utf-16le", "ucs2": "utf-16le", "ucs-2le": "utf-16le", "ucs-2be": "utf-16be", "ucs-4": "utf-32be", "ucs4": "utf-32be",
    "ucs-4le": "utf-32le", "ucs-4be": "utf-32be", "latin1": "latin-1",
    "iso-8859-1": "latin-1", "iso8859-1": "latin-1", "iso_8859-1": "latin-1",
    "l1": "latin-1", "utf8": "utf-8", "utf16": "utf-16", "utf32": "utf-32", "us-ascii": "ascii", "ansi_x3.4-1968": "ascii", "646": "ascii",
    "sjis": "shift_jis", "shift-jis": "shift_jis", "eucjp": "euc-jp", "euckr": "euc-kr", "macintosh": "mac-roman", "win-1252": "cp1252",
}  # fmt: skip
_MARKS = {"utf-16": codecs.BOM_UTF16_LE, "utf-32": codecs.BOM_UTF32_LE}
_PLAIN = {
    "\u00a0": " ", "\u00a9": "(C)", "\u00ab": "<<", "\u00ae": "(R)", "\u00bb": ">>", "\u00d7": "x", "\u00df": "ss", "\u00c6": "AE",
    "\u00e6": "ae", "\u0152": "OE", "\u0153": "oe", "\u00d8": "O", "\u00f8": "o", "\u0142": "l", "\u0141": "L", "\u2010": "-",
    "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2015": "-", "\u2018": "'", "\u2019": "'", "\u201a": ",",
    "\u201c": '"', "\u201d": '"', "\u201e": ",,", "\u2022": "o", "\u2026": "...", "\u2039": "<", "\u203a": ">", "\u20ac": "EUR",
    "\u2122": "(TM)", "\u2212": "-",
}  # fmt: skip


def find_encoding(name: str) -> str | None:
    """Our name of an encoding; only character encodings are known, none of Python's other codecs."""
    plain = name.lower().replace("_", "-") if name else "utf-8"
    plain = _ALIASES.get(plain, plain)
    if plain.startswith(("iso-8859-", "windows-")):
        plain = plain.replace("iso-8859-", "iso8859-").replace("windows-", "cp")
    if plain.startswith("ibm"):
        plain = f"cp{plain[3:]}"
    return plain if plain in _ENCODINGS else plain.replace("-", "_") if plain.replace("-", "_") in _ENCODINGS else None


class _Conversion:
    """One conversion over all inputs."""

    def __init__(self, ctx: CommandContext, source: str, target: str, output: ByteWriter, *, omit: bool, transliterate: bool) -> None:
        self.ctx = ctx
        self.decoder = codecs.getincrementaldecoder(source)("strict")
        self.unmarked = source if source in _MARKS else None
        """The source, while it is not known in which order its bytes are."""
        self.start = b""
        self.omitted = False
        self.target = target
        self.output = output
        self.omit = omit
        self.transliterate = transliterate
        self.position = 0
        self.mark = _MARKS.get(target, b"")
        self.encoding = {"utf-16": "utf-16le", "utf-32": "utf-32le"}.get(target, target)

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
            pending = len(self.decoder.getstate()[0])
            try:
                text = self.decoder.decode(data, final)
            except UnicodeDecodeError as error:
                self.write(error.object[: error.start].decode(error.encoding) if error.start else "")
                if final and not data:
                    raise CommandError("incomplete character or shift sequence at end of buffer") from None
                if not self.omit:
                    raise CommandError(f"illegal input sequence at position {self.position - pending + error.start}") from None
                self.omitted = True
                self.decoder.reset()
                skipped = max(0, error.end - pending)
                self.position += skipped
                data = data[skipped:]
                continue
            self.write(text)
            self.position += len(data)
            return

    def _unmark(self, source: str, data: bytes) -> bytes:
        """The data without its byte order mark, which decides about the order; little end first without one."""
        self.unmarked = None
        marks = {"utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE), "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)}[source]
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
            self.output.write(mark + text.encode(self.encoding, "strict"))
            return
        except UnicodeEncodeError:
            pass
        parts = [mark]
        for done, character in enumerate(text):
            self.ctx.budget.step()
            try:
                parts.append(character.encode(self.encoding, "strict"))
            except UnicodeEncodeError:
                parts.append(self.instead(character, text, done, parts))
        self.output.write(b"".join(parts))

    def instead(self, character: str, text: str, done: int, parts: list[bytes]) -> bytes:
        """What stands for a character that the target lacks."""
        if self.transliterate:
            from unicodedata import normalize  # only //TRANSLIT needs it

            plain = _PLAIN.get(character)
            if plain is None:
                plain = "".join([piece for piece in normalize("NFKD", character) if piece.isascii()]) or "?"
            return plain.encode(self.encoding, "replace")
        if self.omit:
            self.omitted = True
            return b""
        self.output.write(b"".join(parts))
        raise CommandError(f"illegal input sequence at position {self.position + len(encode(text[:done]))}")


@command(
    "iconv",
    usage="""
    Usage: iconv [OPTION...] [FILE...]
    Convert encoding of given files from one encoding to another.

      -f, --from-code=NAME  encoding of original text (UTF-8)
      -t, --to-code=NAME    encoding for output (UTF-8); with //TRANSLIT or //IGNORE for characters it lacks
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
        ctx.print("".join([f"{name.upper()}//\n" for name in sorted(_ENCODINGS)]), end="")
        return 0
    target_name, *suffixes = (args.value("to-code", "") or "").split("//")
    source, target = find_encoding((args.value("from-code", "") or "").split("//")[0]), find_encoding(target_name)
    if source is None or target is None:
        raise CommandError("failed to start conversion processing: No such file or directory")
    name = args.value("output")
    output: ByteWriter = ctx.stdout if name in (None, "-") else ctx.fs.open(ctx.path(name or ""), "w", permissions=0o666 & ~ctx.umask)
    omit = args.flag("c") or "IGNORE" in suffixes
    conversion = _Conversion(ctx, source, target, output, omit=omit, transliterate="TRANSLIT" in suffixes)
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
    if conversion.omitted and not args.flag("c"):
        raise CommandError(f"illegal input sequence at position {conversion.position}")
    return ctx.status
