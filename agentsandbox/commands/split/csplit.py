"""`csplit` (POSIX, GNU coreutils): a file in pieces, cut at line numbers and patterns."""

from __future__ import annotations

import errno
import os
import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import read_all, shown_name
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.commands._text.sizes import parse_signed
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import InputError, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.regexps import PosixRegex
    from agentsandbox.kernel.streams import ByteReader

_FOREVER = -1
_PIECE = 1 << 16
"""Lines that are joined together: Python takes 80 bytes more for each meanwhile."""


class _Pattern:
    """Where to cut: a line number, or the next line that matches."""

    __slots__ = ("line", "offset", "regex", "repeat", "skip", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.line = self.offset = self.repeat = 0
        self.regex: PosixRegex | None = None
        self.skip = False


def _parse_patterns(ctx: CommandContext, words: list[str]) -> list[_Pattern]:
    patterns: list[_Pattern] = []
    last_line = 0
    for word in words:
        if word[:1] in ("/", "%"):
            patterns.append(_regex_pattern(word))
        elif word.startswith("{") and patterns:
            patterns[-1].repeat = _repeat_count(word)
        else:
            pattern = _Pattern(word)
            if not re.fullmatch("[0-9]{1,19}", word):
                raise CommandError(f"{quote(word)}: invalid pattern")
            pattern.line = int(word)
            if not pattern.line:
                raise CommandError(f"{word}: line number must be greater than zero")
            if pattern.line < last_line:
                raise CommandError(
                    f"line number {quote(word)} is smaller than preceding line number, {last_line}"
                )
            if pattern.line == last_line:
                same = "is the same as preceding line number"
                ctx.warn(f"warning: line number {quote(word)} {same}", ctx.status)
            last_line = pattern.line
            patterns.append(pattern)
    return patterns


def _regex_pattern(word: str) -> _Pattern:
    from agentsandbox.kernel.regexps import RegexError, compile_posix  # only for this kind

    pattern = _Pattern(word)
    mark = word[0]
    end = word.rfind(mark)
    if not end:
        raise CommandError(f"{word}: closing delimiter '{mark}' missing")
    pattern.skip = mark == "%"
    try:
        pattern.regex = compile_posix(
            word[1:end], extended=False, dialect="grep", empty_ranges=True
        )
    except RegexError as error:
        raise CommandError(f"{quote(word)}: invalid regular expression: {error}") from None
    offset = word[end + 1 :]
    if offset:
        if not re.fullmatch("[+-]?[0-9]{1,18}", offset):
            raise CommandError(f"{quote(word)}: integer expected after delimiter")
        pattern.offset = int(offset)
    return pattern


def _repeat_count(word: str) -> int:
    if not word.endswith("}"):
        raise CommandError(f"{word}: '}}' is required in repeat count")
    inside = word[1:-1]
    if inside == "*":
        return _FOREVER
    if not re.fullmatch("[0-9]{1,18}", inside):
        raise CommandError(f"{quote(word[:-1])}}}: integer required between '{{' and '}}'")
    return int(inside)


class _OutOfRangeError(Exception):
    """A pattern asks for a line that the input does not have."""


class _Splitter:
    """The lines, the position, the files made; patterns are searched from line `searched`."""

    __slots__ = ("at", "ctx", "digits", "lines", "made", "prefix", "quiet", "searched")

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.lines: list[bytes] = []
        self.at = self.searched = 0
        self.made: list[str] = []
        self.quiet = args.flag("quiet")
        self.prefix = args.value("prefix", "xx") or ""
        self.digits = _digits(args.value("digits", "2") or "")

    def name(self, number: int) -> str:
        """Return the name of a file by its number."""
        return f"{self.prefix}{number:0{self.digits}d}"

    def make(self, data: bytes) -> None:
        """Make the next file."""
        name = self.name(len(self.made))
        try:
            self.ctx.fs.write_bytes(self.ctx.path(name), data, permissions=0o666 & ~self.ctx.umask)
        except OSError as error:
            raise CommandError(describe_os_error(error, shown_name(name))) from None
        self.made.append(name)

    def write(self, end: int) -> None:
        """Write the lines up to `end` to the next file."""
        parts = range(self.at, min(end, len(self.lines)), _PIECE)
        data = b"".join([b"".join(self.lines[at : min(at + _PIECE, end)]) for at in parts])
        self.at = max(self.at, end)
        self.make(data)
        if not self.quiet:
            self.ctx.print(str(len(data)))

    def apply(self, pattern: _Pattern) -> None:
        """Apply one pattern with its repetitions."""
        turn = 0
        while pattern.repeat == _FOREVER or turn <= pattern.repeat:
            self.ctx.budget.step()
            try:
                done = (
                    self._at_line(pattern, turn)
                    if pattern.regex is None
                    else self._at_match(pattern, turn)
                )
            except _OutOfRangeError:
                raise CommandError(self._message(pattern, turn)) from None
            if done:
                return
            turn += 1

    def _message(self, pattern: _Pattern, turn: int) -> str:
        on = f" on repetition {turn}" if turn else ""
        kind = "match not found" if pattern.regex is not None else "line number out of range"
        return f"{quote(pattern.text)}: {kind}{on}"

    def _at_line(self, pattern: _Pattern, turn: int) -> bool:
        wanted = pattern.line * (turn + 1) - 1
        is_empty = self.at >= len(self.lines)
        self.write(min(wanted, len(self.lines)))
        if is_empty or wanted >= len(self.lines):
            raise _OutOfRangeError
        return False

    def _at_match(self, pattern: _Pattern, turn: int) -> bool:
        assert pattern.regex is not None
        at = max(self.at, self.searched)
        while at < len(self.lines):
            self.ctx.budget.step()
            if pattern.regex.test(decode(self.lines[at].removesuffix(b"\n")), self.ctx.budget):
                break
            at += 1
        else:
            if pattern.repeat == _FOREVER:
                if pattern.skip:
                    self.at = len(self.lines)
                return True
            if not pattern.skip:
                self.write(len(self.lines))
            raise _OutOfRangeError
        end = at + pattern.offset
        self.searched = max(at, end) + 1
        if end < self.at or end > len(self.lines):
            if not pattern.skip:
                self.write(max(end, self.at))
            raise CommandError(f"{quote(pattern.text)}: line number out of range")
        if pattern.skip:
            self.at = end
        else:
            self.write(end)
        return False


def _digits(text: str) -> int:
    return parse_signed(text, "number", low=0, high=255)


@command(
    "csplit",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            digits quiet silent keep-files elide-empty-files prefix suffix-format
            suppress-matched help version
        """,
        read_error=("NAME: read error: REASON", 1),
    ),
    values={"digits": _digits},
    usage="""
    Usage: csplit [OPTION]... FILE PATTERN...
    Write pieces of FILE to xx00, xx01, ..., cut at PATTERNs, and print their sizes.

    When FILE is -, read standard input.

      -f, --prefix=PREFIX          use PREFIX, not xx
      -k, --keep-files             keep the files after errors
      -n, --digits=DIGITS          use DIGITS digits, not 2
      -s, -q, --quiet, --silent    do not print the sizes
          --help                   display this help and exit

    PATTERN is INTEGER (up to that line), /REGEXP/[OFFSET] (up to a line that matches),
    %REGEXP%[OFFSET] (skip up to a line that matches), {INTEGER} or {*} (repeat the pattern before).
    """,
)
def csplit(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if len(words) < 2:
        raise UsageError(f"missing operand after {quote(words[0])}" if words else "missing operand")
    splitter = _Splitter(ctx, args)
    name = words[0]
    source: ByteReader | None = None
    try:
        source = ctx.open_input(name)
    except (InputError, IsADirectoryError):
        pass  # that is found out when it is read
    except OSError as error:
        raise CommandError(
            f"cannot open {quote_always(name)} for reading: {error.strerror}"
        ) from None
    patterns = _parse_patterns(ctx, words[1:])
    try:
        if source is None:
            raise (
                ctx.stdin.input_error()
                if name == "-"
                else IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            )
        splitter.lines = _lines(read_all(ctx.budget, source))
    except (InputError, IsADirectoryError) as error:
        splitter.make(b"")
        if not args.flag("quiet"):
            ctx.print("0")
        if not args.flag("keep-files"):
            ctx.fs.unlink(ctx.path(splitter.name(0)))
        raise CommandError(f"read error: {error.strerror}") from None
    try:
        for pattern in patterns:
            splitter.apply(pattern)
        splitter.write(len(splitter.lines))
    except CommandError as error:
        if not args.flag("keep-files"):
            for made in splitter.made:
                ctx.fs.unlink(ctx.path(made))
        ctx.stderr.write(encode(f"{ctx.name}: {error.message}\n"))
        return 1
    return ctx.status


def _lines(data: bytes) -> list[bytes]:
    """Return the lines with their newlines."""
    parts = data.split(b"\n")
    last = parts.pop()
    return [part + b"\n" for part in parts] + ([last] if last else [])
