"""`nl` (POSIX 1003.1-2017, GNU coreutils): number the lines of files, by sections and pages."""

from __future__ import annotations

from itertools import count

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import inputs, line_blocks
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands._text.sizes import parse_signed
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.streams import ByteReader

_SECTIONS = ("header", "body", "footer")
_INT_MAX = 2**31 - 1
_LOW = -(2**63)
_MOST = 1 << 20
"""Bytes that numbers and separators may take before they are written."""


def _style(ctx: CommandContext | None, text: str, section: str) -> Callable[[bytes], bool] | str:
    """Return the letter of a numbering style, or a function of a line for `pREGEX`."""
    if text in ("a", "t", "n"):
        return text
    if text.startswith("p"):
        from agentsandbox.kernel.regexps import RegexError, compile_posix  # only for this style

        try:
            pattern = compile_posix(text[1:], extended=False, dialect="grep", empty_ranges=True)
        except RegexError as error:
            raise CommandError(str(error)) from None
        return lambda line: ctx is not None and pattern.test(decode(line), ctx.budget)
    raise UsageError(f"invalid {section} numbering style: {quote(text)}")


def _start(text: str) -> int:
    return parse_signed(text, "starting line number", low=_LOW, high=-_LOW - 1)


def _increment(text: str) -> int:
    return parse_signed(text, "line number increment", low=_LOW, high=-_LOW - 1)


def _join(text: str) -> int:
    return parse_signed(text, "line number of blank lines", low=1, high=2**63 - 1)


def _width(text: str) -> int:
    return parse_signed(text, "line number field width", low=1, high=_INT_MAX)


def _format(text: str) -> str:
    if text not in ("ln", "rn", "rz"):
        raise UsageError(f"invalid line numbering format: {quote(text)}")
    return text


class _Numbering:
    """The state of one run: the number, the section, the empty lines joined so far."""

    __slots__ = (
        "blanks", "ctx", "delimiters", "format", "increment", "join", "number", "renumber",
        "section", "separator", "start", "styles", "width",
    )  # fmt: skip

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        given = {"header": "n", "body": "t", "footer": "n"}
        for section in _SECTIONS:
            given[section] = args.value(f"{section}-numbering", given[section]) or ""
        self.start = _start(args.value("starting-line-number", "1") or "")
        self.increment = _increment(args.value("line-increment", "1") or "")
        self.join = _join(args.value("join-blank-lines", "1") or "")
        self.width = _width(args.value("number-width", "6") or "")
        self.format = _format(args.value("number-format", "rn") or "")
        self.styles = {section: _style(ctx, text, section) for section, text in given.items()}
        self.separator = encode(args.value("number-separator", "\t") or "")
        ctx.budget.charge(self.width + len(self.separator))
        self.renumber = not args.flag("no-renumber")
        self.number: int | None = self.start
        self.blanks = 0
        self.section = "body"
        self.delimiters = self._delimiters(args.value("section-delimiter", "\\:") or "")

    def _delimiters(self, text: str) -> dict[bytes, str]:
        mark = encode(text + ":" if len(text) == 1 else text)
        if not mark:
            return {}
        return {mark * 3: "header", mark * 2: "body", mark: "footer"}

    def prefix(self) -> bytes:
        """Return the number as it is shown, and count on."""
        if self.number is None:
            raise CommandError("line number overflow")
        digits = str(self.number)
        if self.format == "ln":
            shown = digits.ljust(self.width)
        elif self.format == "rn":
            shown = digits.rjust(self.width)
        else:
            shown = digits.zfill(self.width)
        following = self.number + self.increment
        self.number = following if -(2**63) <= following < 2**63 else None
        return encode(shown) + self.separator

    def counts(self, line: bytes) -> bool:
        """Whether the line gets a number."""
        style = self.styles[self.section]
        if style == "a":
            if line or self.join == 1:
                self.blanks = 0
                return True
            self.blanks += 1
            if self.blanks == self.join:
                self.blanks = 0
                return True
            return False
        if isinstance(style, str):
            return style == "t" and bool(line)
        return style(line)

    def run(self, source: ByteReader) -> None:
        """Number one file."""
        ctx, blank = self.ctx, b" " * (self.width + len(self.separator))
        most = max(1, _MOST // (len(blank) + 1))
        for block in line_blocks(ctx.budget, source):
            lines = block.split(b"\n")
            if not lines[-1]:
                lines.pop()
            if self._is_simple(block):
                self._number_block(lines, blank)
                continue
            parts: list[bytes] = []
            try:
                for line in lines:
                    ctx.budget.step()
                    self._add(line, parts, blank)
                    if len(parts) > most:
                        ctx.stdout.write(b"".join(parts))
                        parts.clear()
            finally:
                ctx.stdout.write(b"".join(parts))

    def _is_simple(self, block: bytes) -> bool:
        """Whether the block has no sections, and all its lines or all nonempty ones get numbers."""
        style = self.styles[self.section]
        if not (style == "t" or (style == "a" and self.join == 1)) or self.number is None:
            return False
        return (
            not any(mark in block for mark in self.delimiters)
            and abs(self.number) < 2**62
            and abs(self.increment) < 2**40
        )

    def _number_block(self, lines: list[bytes], blank: bytes) -> None:
        number, increment = self.number or 0, self.increment
        flag = {"ln": b"-", "rn": b"", "rz": b"0"}[self.format]
        form = b"%%%b%dd%b%%b\n" % (flag, self.width, self.separator.replace(b"%", b"%%"))
        most = max(1, _MOST // (self.width + len(self.separator) + 1))
        for start in range(0, len(lines), most):
            part = lines[start : start + most]
            self.ctx.budget.step(len(part) // 16 + 1)
            if self.styles[self.section] == "a" or all(part):
                found = [form % pair for pair in zip(count(number, increment), part, strict=False)]
                number += increment * len(part)
            else:
                numbers = count(number, increment)
                found = [form % (next(numbers), line) if line else blank + b"\n" for line in part]
                number = next(numbers)
            self.ctx.stdout.write(b"".join(found))
        self.number = number

    def _add(self, line: bytes, parts: list[bytes], blank: bytes) -> None:
        section = self.delimiters.get(line)
        if section is not None:
            self.section = section
            if self.renumber:
                self.number = self.start
            parts.append(b"\n")
        elif self.counts(line):
            parts += (self.prefix(), line, b"\n")
        else:
            parts += (blank, line, b"\n")


@command(
    "nl",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="""
            header-numbering body-numbering footer-numbering starting-line-number
            line-increment no-renumber join-blank-lines number-separator number-width
            number-format section-delimiter help version
        """,
        fatal_options=(),
        closing_error="NAME: -: REASON",
    ),
    values={
        "header-numbering": lambda text: _style(None, text, "header"),
        "body-numbering": lambda text: _style(None, text, "body"),
        "footer-numbering": lambda text: _style(None, text, "footer"),
        "starting-line-number": _start,
        "line-increment": _increment,
        "join-blank-lines": _join,
        "number-width": _width,
        "number-format": _format,
    },
    usage="""
    Usage: nl [OPTION]... [FILE]...
    Write each FILE to standard output, with line numbers added.

    With no FILE, or when FILE is -, read standard input.

      -b, --body-numbering=STYLE      which lines of bodies get a number (t)
      -d, --section-delimiter=CC      characters that mark sections (\\:)
      -f, --footer-numbering=STYLE    which lines of footers get a number (n)
      -h, --header-numbering=STYLE    which lines of headers get a number (n)
      -i, --line-increment=NUMBER     add NUMBER at each line (1)
      -l, --join-blank-lines=NUMBER   count NUMBER empty lines as one (1)
      -n, --number-format=FORMAT      ln left, rn right, rz right with zeros (rn)
      -p, --no-renumber               do not start again at sections
      -s, --number-separator=STRING   write STRING after the number (TAB)
      -v, --starting-line-number=NUMBER  start with NUMBER (1)
      -w, --number-width=NUMBER       columns for the number (6)
          --help                      display this help and exit

    STYLE is a (all lines), t (lines that are not empty), n (none) or pBRE (lines that match a basic
    expression). Sections begin with a line of \\:\\:\\: (header), \\:\\: (body) or \\: (footer).
    """,
)
def nl(ctx: CommandContext, args: Arguments) -> int:
    numbering = _Numbering(ctx, args)
    for _name, source in inputs(ctx, args.operands):
        numbering.run(source)
    return ctx.status
