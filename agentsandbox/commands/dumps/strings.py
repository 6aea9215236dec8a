"""`strings` (GNU binutils): the printable runs in files."""

from __future__ import annotations

import re
from itertools import islice

from agentsandbox.commands._text.lines import read_all
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAIN = rb"\t -~"
_SPACES = rb"\t\n\v\f\r -~"
_ENCODINGS = {
    "s": rb"[%b]{%d,}",
    "S": rb"[%b\x80-\xff]{%d,}",
    "l": rb"(?:[%b]\x00){%d,}",
    "b": rb"(?:\x00[%b]){%d,}",
    "L": rb"(?:[%b]\x00\x00\x00){%d,}",
    "B": rb"(?:\x00\x00\x00[%b]){%d,}",
}
_UTF8 = rb"(?:[%b]|[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xff][\x80-\xbf]{3}){%d,}"
_BATCH, _LONG = 256, 4096
_CHARACTER = re.compile(rb"[\xc0-\xff][\x80-\xbf]+")
_UNICODE = {"default": "d", "locale": "l", "escape": "e", "invalid": "i", "hex": "x", "highlight": "h"}
_TAKES_VALUE = re.compile(r"-[adfow]*[entTsU]\Z|--(?:bytes|radix|encoding|unicode|target|output-separator)\Z")
_DIGITS = re.compile(r"-([0-9]+)\Z")


def _rewrite(words: Sequence[str]) -> list[str]:
    """`-8` is `-n 8`: the word itself before operands, behind them what has taken its place when all options stand first."""
    options: list[str] = []
    operands: list[str] = []
    number: int | None = None
    is_value = False
    for at, word in enumerate(words):
        if word == "--" and not is_value:
            options.append(word)
            operands += words[at + 1 :]
            break
        if not is_value and (len(word) < 2 or word[0] != "-"):
            operands.append(word)
            continue
        if not is_value and _DIGITS.match(word):
            number = at
        options.append(word)
        is_value = not is_value and _TAKES_VALUE.match(word) is not None
    if number is None:
        return list(words)
    text = [*options, *operands][number][1:]
    kept = [word for at, word in enumerate(options) if not _DIGITS.match(word) or (at and _TAKES_VALUE.match(options[at - 1]))]
    end = len(kept) - ("--" in kept[-1:])
    return [*kept[:end], f"-n{text or '0'}", *kept[end:], *operands]


def _least(text: str) -> int:
    """The number of characters that a string has at least, 2**32 for more than there can be."""
    found = re.fullmatch(r"[ \t]*([+-]?)(0[xX][0-9a-fA-F]+|[0-9]*)", text)
    if found is None:
        raise CommandError(f"invalid integer argument {text}")
    digits = found[2]
    if len(digits) > 9 or found[1] == "-":
        return 2**32
    return int(digits or "0", 16 if digits[:2] in ("0x", "0X") else 8 if digits.startswith("0") and not digits.strip("01234567") else 10)


def _escape(found: re.Match[bytes]) -> bytes:
    """A character as -Ue shows it: longer ones by numbers of their own kind."""
    first, *rest = found[0]
    if len(rest) < 3:
        value = first & (0x1F if len(rest) == 1 else 0x0F)
        for byte in rest:
            value = value << 6 | byte & 0x3F
        return b"\\u%04x" % value
    one, two, three = rest
    high = (first & 7) << 6 | (one & 0x3C) >> 2
    return b"\\u%02x%02x%02x" % (high, (one & 3) << 6 | (two & 0x3C) >> 2, (two & 3) << 6 | three & 0x3F)


_SHOWN = {
    "l": lambda found: found[0][:1],
    "x": lambda found: b"<0x%b>" % encode(found[0].hex()),
    "e": _escape,
    "h": _escape,
}
"""How -U shows a character; "l" prints its first byte alone, as binutils does."""


def _are_sound(args: Arguments) -> bool:
    """Whether the values are such as there are: the first that is none is told, by an error or by False."""
    for key, value in args.given:
        text = value or ""
        if key == "bytes":
            _least(text)
        elif key == "unicode":
            _unicode_mode(text)
        elif (key == "radix" and text not in ("o", "d", "x")) or (key == "encoding" and len(text) != 1):
            return False
    return True


def _unicode_mode(text: str) -> str:
    mode = _UNICODE.get(text, text)
    if mode not in _UNICODE.values():
        raise CommandError(f"invalid argument to -U/--unicode: {text}")
    return mode


@command(
    "strings",
    manners=Manners(
        Release("GNU NAME (GNU Binutils for Debian) 2.40", "-v, -V, --version"),
        long_options="""
            all bytes data encoding help include-all-whitespace output-separator
            print-file-name radix target unicode version
        """,
        write_error=SILENT,
    ),
    rewrite=_rewrite,
    usage="""
    Usage: strings [option(s)] [file(s)]
    Print the runs of printable characters in each file (standard input without one).

      -a, -d, --all, --data          scan the whole file (always)
      -f, --print-file-name          print the name of the file before each string
      -n, --bytes=NUMBER             at least NUMBER (4) characters
      -t, --radix=RADIX              print where a string stands, in o, d or x
      -o                             the same as -t o
      -w, --include-all-whitespace   newlines and other white space belong to strings
      -e, --encoding=ENCODING        s 7 bits, S 8 bits, l and b 16 bits, L and B 32 bits, little and big endian
      -U, --unicode=MODE             characters of UTF-8: d no part of strings (as i), l, e (\\u), x (hexadecimal), h (as e)
      -T, --target=FORMAT            format of the file, which counts for its sections only
      -s, --output-separator=STRING  write STRING after each string, not a newline
      -h, --help                     display this help and exit
    """,
)
def strings(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("help"):
        ctx.stdout.write(encode(strings.usage))
        return 0
    if not _are_sound(args):
        ctx.stderr.write(encode(strings.usage))
        return 1
    least = _least(args.value("bytes") or "") if args.flag("bytes") else 4
    if least < 1:
        raise CommandError(f"invalid minimum string length {least}")
    radix = "o" if args.last("o", "radix") == "o" else args.value("radix")
    encoding = args.value("encoding", "s") or ""
    names = [name for name in args.operands if name != "-"]  # means -a there
    mode = _unicode_mode(args.value("unicode") or "d")
    if (args.operands and not names) or (mode == "d" and encoding not in _ENCODINGS):
        ctx.stderr.write(encode(strings.usage))
        return 1
    shape = _ENCODINGS[encoding] if mode == "d" else _ENCODINGS["s"] if mode == "i" else _UTF8
    pattern = re.compile(shape % (_SPACES if args.flag("include-all-whitespace") else _PLAIN, least)) if least < 2**31 else None
    separator = encode(args.value("output-separator", "\n") or "")
    size = _BATCH if len(separator) < _LONG else 1
    for name in names or ["-"]:
        try:
            data = b"" if name == "-" and ctx.stdin.unreadable else read_all(ctx.budget, ctx.open_input(name))
        except IsADirectoryError:
            ctx.warn(f"Warning: '{name}' is a directory")
            continue
        except FileNotFoundError:
            ctx.warn(f"'{name}': No such file")
            continue
        except PermissionError as error:
            ctx.warn(f"{name}: {error.strerror}")
            continue
        except OSError as error:
            ctx.warn(f"Warning: could not locate '{name}'.  reason: {error.strerror}")
            continue
        shown = encode("{standard input}: " if name == "-" else f"{name}: ") if args.flag("print-file-name") else b""
        wide = mode == "d" and encoding not in "sS"
        runs = pattern.finditer(data) if pattern is not None else iter(())
        while batch := list(islice(runs, size)):
            ctx.budget.step(len(batch))
            texts = [found[0].replace(b"\0", b"") if wide else found[0] for found in batch]
            if mode in _SHOWN:
                texts = [_CHARACTER.sub(_SHOWN[mode], text) for text in texts]
            if radix is not None:
                texts = [encode(f"{found.start():7{radix}} ") + text for found, text in zip(batch, texts, strict=True)]
            texts.append(b"")
            ctx.stdout.write(shown + (separator + shown).join(texts)[: -len(shown) or None])
    return ctx.status
