"""`strings` (GNU binutils): the printable runs in files."""

from __future__ import annotations

import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import read_all
from agentsandbox.errors import CommandError
from agentsandbox.streams import encode

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
_CHARACTER = re.compile(rb"[\xc0-\xff][\x80-\xbf]+")
_UNICODE = {"default": "d", "locale": "l", "escape": "e", "invalid": "i", "hex": "x", "highlight": "h"}
_DIGITS = re.compile(r"-([0-9]+)\Z")


def _rewrite(words: Sequence[str]) -> list[str]:
    """`-8` is `-n 8`."""
    rewritten = []
    for word in words:
        found = _DIGITS.match(word)
        rewritten.append(f"-n{found[1]}" if found else word)
    return rewritten


def _least(text: str) -> int:
    if not re.fullmatch("0[xX][0-9a-fA-F]{1,8}|[0-9]{1,9}", text):
        raise CommandError(f"invalid integer argument {text}")
    least = int(text, 16 if text[:2] in ("0x", "0X") else 8 if text.startswith("0") and not text.strip("01234567") else 10)
    if least < 1:
        raise CommandError(f"invalid minimum string length {least}")
    return least


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


def _unicode_mode(args: Arguments) -> str:
    text = args.value("unicode") or "d"
    mode = _UNICODE.get(text, text)
    if mode not in _UNICODE.values():
        raise CommandError(f"invalid argument to -U/--unicode: {text}")
    return mode


@command(
    "strings",
    rewrite=_rewrite,
    usage="""
    Usage: strings [OPTION]... [FILE]...
    Print the runs of printable characters in each FILE (standard input without one).

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
    least = _least(args.value("bytes", "4") or "")
    ctx.budget.charge(least)
    radix = "o" if args.last("o", "radix") == "o" else args.value("radix")
    encoding = args.value("encoding", "s") or ""
    names = [name for name in args.operands if name != "-"]  # means -a there
    if (args.operands and not names) or radix not in (None, "o", "d", "x") or encoding not in _ENCODINGS:
        ctx.stderr.write(encode(strings.usage))
        return 1
    mode = _unicode_mode(args)
    shape = _ENCODINGS[encoding] if mode == "d" else _ENCODINGS["s"] if mode == "i" else _UTF8
    pattern = re.compile(shape % (_SPACES if args.flag("include-all-whitespace") else _PLAIN, least))
    separator = encode(args.value("output-separator", "\n") or "")
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
        for found in pattern.finditer(data):
            ctx.budget.step()
            place = b"" if radix is None else encode(f"{found.start():7{radix}} ")
            text = found[0] if encoding in "sS" or mode != "d" else found[0].replace(b"\0", b"")
            if mode in _SHOWN:
                text = _CHARACTER.sub(_SHOWN[mode], text)
            ctx.stdout.write(shown + place + text + separator)
    return ctx.status
