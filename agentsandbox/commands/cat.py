"""`cat` (POSIX 1003.1-2017, GNU coreutils): copy files to standard output."""

from __future__ import annotations

import errno
import os
from codecs import charmap_encode
from itertools import count

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import inputs, line_blocks
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import BLOCK, Closed, OutputError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.streams import ByteReader

_CONTROL = {**{byte: "^" + chr(byte + 64) for byte in range(32)}, 127: "^?"}
_BLANK_LINES = lazily("\n{3,}")
_GROUP, _SMALL = 256, 8192


def _visible(byte: int, tabs: bool) -> str:
    """One byte in `^` and `M-` notation; newline as it is, TAB only if asked."""
    if byte == 10 or (byte == 9 and not tabs):
        return chr(byte)
    if byte >= 128:
        low = byte - 128
        return "M-" + _CONTROL.get(low, chr(low))
    return _CONTROL.get(byte, chr(byte))


class _Shape:
    """Numbers lines and squeezes blank ones by blocks; a line may continue in the next file."""

    def __init__(self, *, number: bool, number_nonblank: bool, squeeze: bool) -> None:
        self.number = number
        self.number_nonblank = number_nonblank
        self.squeeze = squeeze
        self.count = 0
        self.at_start = True
        self.blank_before = False

    def apply(self, text: str) -> str:
        """Return a block of whole lines (the last may lack its newline) as it is shown."""
        if self.squeeze:
            text = self._squeezed(text)
        if text and (self.number or self.number_nonblank):
            text = self._numbered(text)
        if text:
            self.at_start = text[-1] == "\n"
        return text

    def _squeezed(self, text: str) -> str:
        if "\n\n\n" in text:
            text = _BLANK_LINES.sub("\n\n", text)
        if self.at_start and text.startswith("\n"):
            text = ("" if self.blank_before else "\n") + text.lstrip("\n")
            if text in ("", "\n"):
                self.blank_before = True
                return text
        self.blank_before = text.endswith("\n\n")
        return text

    def _numbered(self, text: str) -> str:
        lines = text.split("\n")
        last = [] if lines[-1] else [lines.pop()]
        first = [] if self.at_start else [lines.pop(0)]
        start = self.count + 1
        if self.number or all(lines):
            lines = [f"{number:6d}\t{line}" for number, line in enumerate(lines, start)]
            self.count += len(lines)
        else:
            numbers = count(start)
            lines = [f"{next(numbers):6d}\t{line}" if line else "" for line in lines]
            self.count = next(numbers) - 1
        return "\n".join(first + lines + last)


def _is_output(ctx: CommandContext, source: ByteReader) -> bool:
    """Whether the input is the output, so that reading would never end."""
    out = ctx.stdout
    if not isinstance(out, File) or not isinstance(source, File):
        return False
    try:
        ours, theirs = source.stat(), out.stat()
    except OSError:
        return False
    return ours.is_file and theirs.is_file and ours.ino == theirs.ino and ours.size > 0


def _copy(ctx: CommandContext, names: Sequence[str]) -> None:
    """Copy the files; small ones that are in memory are written together."""
    if len(names) < 2 or isinstance(ctx.stdout, File) or "" in names:
        _copy_each(ctx, names)
        return
    for start in range(0, len(names), _GROUP):
        group = names[start : start + _GROUP]
        ctx.budget.step(len(group))
        waiting: list[bytes] = []
        for name, data in zip(group, ctx.at_hand(group), strict=True):
            if data is not None and len(data) <= _SMALL and name != "-":
                waiting.append(data)
                continue
            if waiting:
                ctx.stdout.write(b"".join(waiting))
                waiting.clear()
            _copy_each(ctx, [name])
        if waiting:
            ctx.stdout.write(b"".join(waiting))


def _copy_each(ctx: CommandContext, names: Sequence[str]) -> None:
    for name, source in inputs(ctx, names):
        if _is_output(ctx, source):
            ctx.warn(f"{name}: input file is output file")
            continue
        for block in source.blocks(4 * BLOCK):
            ctx.budget.step()
            ctx.stdout.write(block)


@command(
    "cat",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="""
            number-nonblank number squeeze-blank show-nonprinting show-ends show-tabs
            show-all help version
        """,
        unbuffered=True,
        checks_output=True,
        closing_error="NAME: closing standard input: REASON",
        closed_write_error=("NAME: standard output: REASON", 1),
    ),
    usage="""
    Usage: cat [OPTION]... [FILE]...
    Concatenate FILE(s) to standard output.

    With no FILE, or when FILE is -, read standard input.

      -A, --show-all           equivalent to -vET
      -b, --number-nonblank    number nonempty output lines, overrides -n
      -e                       equivalent to -vE
      -E, --show-ends          display $ at end of each line
      -n, --number             number all output lines
      -s, --squeeze-blank      suppress repeated empty output lines
      -t                       equivalent to -vT
      -T, --show-tabs          display TAB characters as ^I
      -u                       (ignored: output is never held back)
      -v, --show-nonprinting   use ^ and M- notation, except for LFD and TAB
          --help               display this help and exit
    """,
)
def cat(ctx: CommandContext, args: Arguments) -> int:
    if isinstance(ctx.stdout, Closed):  # it looks at its output first
        raise OutputError(errno.EBADF, os.strerror(errno.EBADF))
    show_all = args.flag("show-all")
    ends = show_all or args.flag("show-ends") or args.flag("e")
    tabs = show_all or args.flag("show-tabs") or args.flag("t")
    visible = show_all or args.flag("show-nonprinting") or args.flag("e") or args.flag("t")
    number_nonblank = args.flag("number-nonblank")
    number = args.flag("number") and not number_nonblank
    squeeze = args.flag("squeeze-blank")
    if not (ends or tabs or visible or number or number_nonblank or squeeze):
        _copy(ctx, args.operands)
        return ctx.status

    shape = _Shape(number=number, number_nonblank=number_nonblank, squeeze=squeeze)
    table = (
        {byte: shown for byte in range(256) if (shown := _visible(byte, tabs)) != chr(byte)}
        if visible
        else {9: "^I"}
        if tabs
        else {}
    )
    encoded = {byte: encode(table.get(byte, chr(byte))) for byte in range(256)} if visible else {}
    for name, source in inputs(ctx, args.operands):
        if _is_output(ctx, source):
            ctx.warn(f"{name}: input file is output file")
            continue
        for block in line_blocks(ctx.budget, source):
            text = str(block, "latin-1")
            if visible and not text.isascii():  # which `translate` is slow for
                text = str(charmap_encode(text, "strict", encoded)[0], "ascii")
            elif table:
                text = text.translate(table)
            text = shape.apply(text)
            if ends:
                text = (text if visible else text.replace("\r\n", "^M\n")).replace("\n", "$\n")
            ctx.stdout.write(text.encode("latin-1"))
    return ctx.status
