"""`tail` (POSIX 1003.1-2017, GNU coreutils): the last part of files."""

from __future__ import annotations

import re
from collections import deque

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.choices import choose
from agentsandbox.commands._text.lines import blocks
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.commands._text.sizes import parse_size
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import BLOCK, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.streams import ByteReader

_OBSOLETE = lazily(r"([+-])([0-9]*)([bcl]?)(f?)\Z")
_FOLLOW = (("descriptor",), ("name",))
_PAUSE = 0.1
"""Seconds between two looks at files that are followed."""


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """`-5`, `+3`, `-2c`, `-5f` as the first word, followed by one file at most."""
    if not words:
        return words
    found = _OBSOLETE.match(words[0])
    alone = (
        len(words) == 1
        or (len(words) == 2 and not re.match("-.", words[1]))
        or (2 <= len(words) <= 3 and words[1] == "--")
    )
    if found is None or not alone or words[0] == "-" or (found[1] == "-" and not found[2]):
        return words
    sign = "+" if found[1] == "+" else ""
    unit = "-c" if found[3] in ("b", "c") and found[3] else "-n"
    number = (found[2] or "10") + ("b" if found[3] == "b" else "")
    return [unit, sign + number, *(["-f"] if found[4] else []), *words[1:]]


def _refuse_digits(text: str) -> None:
    raise CommandError(f"option used in invalid context -- {text[0]}")


def _count(text: str, unit: str) -> int:
    return parse_size(text.removeprefix("-"), f"number of {unit}")


class _Part:
    """The part to print: `count` lines or bytes from the end, or all from number `count` on."""

    __slots__ = ("count", "end", "from_start", "unit")

    def __init__(self, args: Arguments) -> None:
        self.unit, self.count, self.from_start = "lines", 10, False
        self.end = b"\0" if args.flag("zero-terminated") else b"\n"
        for key, value in args.given:
            if key in ("lines", "bytes"):
                text = value or ""
                self.unit, self.from_start = key, self.from_start or text.startswith("+")
                self.count = _count(text, key)


def _size_of(source: ByteReader) -> int | None:
    """Return the number of bytes up to the end of a file; None for a pipe or a device."""
    if not hasattr(source, "stat") or not hasattr(source, "seek"):
        return None
    try:
        here: int = source.seek(0, 1)
        size: int = source.seek(0, 2)
        source.seek(min(here, size), 0)
    except OSError:
        return None
    return max(0, size - here) if source.stat().is_file else None


def _from_number(ctx: CommandContext, source: ByteReader, part: _Part) -> None:
    """Print everything from line or byte number `count` on."""
    skip = max(0, part.count - 1)
    for block in blocks(ctx.budget, source):
        if skip and part.unit == "bytes":
            cut = min(skip, len(block))
            skip -= cut
        elif skip:
            here = block.count(part.end)
            cut = len(block)
            if here >= skip:
                cut = 0
                for _ in range(skip):
                    cut = block.find(part.end, cut) + 1
            skip -= min(here, skip)
        else:
            cut = 0
        if cut < len(block):
            ctx.stdout.write(block[cut:] if cut else block)


def _last_lines_of_file(ctx: CommandContext, source: ByteReader, part: _Part, size: int) -> None:
    """Search backwards from the end in blocks, then copy."""
    start: int = source.seek(0, 1)  # type: ignore[attr-defined]
    position = start + size
    wanted = part.count
    first = True
    cut = start
    while position > start and wanted >= 0:
        ctx.budget.step()
        begin = max(start, position - BLOCK)
        source.seek(begin, 0)  # type: ignore[attr-defined]
        block = source.read(position - begin)
        if first:
            first = False
            if not block.endswith(part.end):
                wanted -= 1
        here = block.count(part.end)
        if here <= wanted:
            wanted -= here
        else:
            at = len(block)
            for _ in range(wanted + 1):
                at = block.rfind(part.end, 0, at)
            cut = begin + at + 1
            break
        position = begin
    source.seek(cut, 0)  # type: ignore[attr-defined]
    for block in blocks(ctx.budget, source):
        ctx.stdout.write(block)


def _last_of_pipe(ctx: CommandContext, source: ByteReader, part: _Part) -> None:
    """Read a pipe to its end, keeping the blocks that may belong to the last part."""
    waiting: deque[tuple[bytes, int]] = deque()
    total = size = 0
    by_lines = part.unit == "lines"
    for block in blocks(ctx.budget, source):
        weight = block.count(part.end) if by_lines else len(block)
        waiting.append((block, weight))
        total += weight
        size += len(block)
        while len(waiting) > 1 and total - waiting[0][1] > part.count:
            first, its_weight = waiting.popleft()
            total -= its_weight
            size -= len(first)
        ctx.budget.charge(size)
        if size > LARGE:
            ctx.budget.hold_input(size)
    rest = b"".join([block for block, _ in waiting])
    if not by_lines:
        ctx.stdout.write(rest[max(0, len(rest) - part.count) :])
        return
    if rest and not rest.endswith(part.end):
        total += 1
    cut = 0
    for _ in range(total - part.count):
        cut = rest.find(part.end, cut) + 1
    ctx.stdout.write(rest[cut:])


def _print_part(ctx: CommandContext, source: ByteReader, part: _Part) -> None:
    if part.from_start:
        _from_number(ctx, source, part)
        return
    size = _size_of(source)
    if not part.count:
        if size is None:
            for _ in blocks(ctx.budget, source):
                pass
        else:
            source.seek(0, 2)  # type: ignore[attr-defined]
    elif size is None:
        _last_of_pipe(ctx, source, part)
    elif part.unit == "lines":
        _last_lines_of_file(ctx, source, part, size)
    else:
        source.seek(-min(part.count, size), 2)  # type: ignore[attr-defined]
        for block in blocks(ctx.budget, source):
            ctx.stdout.write(block)


class _Follower:
    """Implements `tail -f`: print data that is appended until the process ends."""

    __slots__ = ("by_name", "ctx", "files", "headers", "inodes", "last")

    def __init__(
        self,
        ctx: CommandContext,
        files: dict[str, ByteReader | None],
        last: str,
        *,
        headers: bool,
        by_name: bool,
    ) -> None:
        self.ctx = ctx
        self.files = files
        """The files by name; None for one that is missing."""
        self.inodes = {name: self._inode(source) for name, source in files.items()}
        self.last = last
        """The name under the last header."""
        self.headers = headers
        self.by_name = by_name

    @staticmethod
    def _inode(source: ByteReader | None) -> int:
        return source.stat().ino if source is not None and hasattr(source, "stat") else -1

    def run(self) -> int:
        """Print appended data as long as there are files; return the status."""
        ctx = self.ctx
        while self.by_name or any(source is not None for source in self.files.values()):
            grown = False
            for name in self.files:
                ctx.budget.step()
                if self.by_name:
                    self._reopen(name)
                grown = self._print_new(name) or grown
            if not grown:
                ctx.host.scheduler.sleep(_PAUSE)
        ctx.warn("no files remaining")
        return 1

    def _reopen(self, name: str) -> None:
        """Follow the name, not the file: after a rename it may mean another file."""
        ctx, missing = self.ctx, self.files[name] is None
        try:
            inode = ctx.fs.stat(ctx.path(name)).ino
            if not missing and inode == self.inodes[name]:
                return
            self.files[name] = ctx.open_input(name)
        except OSError as error:
            if not missing:
                ctx.warn(f"{quote_always(name)} has become inaccessible: {error.strerror}")
                self.files[name] = None
            return
        self.inodes[name] = inode
        verb = "has appeared" if missing else "has been replaced"
        ctx.warn(f"{quote_always(name)} {verb};  following new file")

    def _print_new(self, name: str) -> bool:
        source = self.files[name]
        if source is None:
            return False
        if hasattr(source, "stat") and hasattr(source, "seek"):
            position: int = source.seek(0, 1)
            if source.stat().size < position:
                self.ctx.warn(f"{name}: file truncated")
                source.seek(0, 0)
        block = source.read(BLOCK)
        if not block:
            if not hasattr(source, "stat"):
                self.files[name] = None  # a pipe has ended for good
            return False
        if self.headers and self.last != name:
            self.ctx.stdout.write(encode(f"\n==> {_shown(name)} <==\n"))
        self.last = name
        self.ctx.stdout.write(block)
        return True


def _shown(name: str) -> str:
    return "standard input" if name == "-" else name


def _follows_name(args: Arguments) -> bool:
    """Whether to follow names rather than open files, as the last of the options says."""
    by_name = False
    for key, value in args.given:
        if key in ("follow", "f", "F"):
            chosen = None if value is None else choose(value, "--follow", _FOLLOW)
            by_name = key == "F" or chosen == "name"
    return by_name


@command(
    "tail",
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="""
            bytes follow lines max-unchanged-stats -disable-inotify pid
            -presume-input-pipe quiet retry silent sleep-interval verbose
            zero-terminated help version
        """,
        macos={"r": "-r is macOS's; tac prints lines in reverse"},
        read_error=("NAME: error reading 'standard input': REASON", 1),
        closed_read_error=("NAME: cannot fstat 'standard input': REASON", 1),
        closing_error="NAME: -: REASON",
    ),
    rewrite=_rewrite,
    digits="digits",
    values={
        "digits": _refuse_digits,
        "lines": lambda text: _count(text, "lines"),
        "bytes": lambda text: _count(text, "bytes"),
        "follow": lambda text: choose(text, "--follow", _FOLLOW),
    },
    usage="""
    Usage: tail [OPTION]... [FILE]...
    Print the last 10 lines of each FILE, after a header with its name if there are several.

    With no FILE, or when FILE is -, read standard input.

      -c, --bytes=[+]NUM         print the last NUM bytes; with '+', everything from byte NUM on
      -f                         print what is appended, until the command is ended
          --follow[={name|descriptor}]  the same, of the name or of the file that has it now
      -F                         same as --follow=name, also of files that are missing
      -n, --lines=[+]NUM         print the last NUM lines; with '+', everything from line NUM on
      -q, --quiet, --silent      never print headers
      -v, --verbose              always print headers
      -z, --zero-terminated      lines end with NUL, not newline
          --help                 display this help and exit

    NUM may have a suffix: b 512, kB 1000, K 1024, MB 1000*1000, M 1024*1024, and so on.
    """,
)
def tail(ctx: CommandContext, args: Arguments) -> int:
    part = _Part(args)
    follow = args.last("follow", "f", "F")
    by_name = _follows_name(args)
    if not part.count and not part.from_start and follow is None:
        return 0
    names = args.operands or ["-"]
    if by_name and "-" in names:
        raise CommandError(f"cannot follow {quote_always('-')} by name")
    last_flag = args.last("quiet", "verbose")
    headers = last_flag == "verbose" or (last_flag is None and len(names) > 1)
    separator, last = "", ""
    followed: dict[str, ByteReader | None] = {}
    for name in names:
        try:
            source: ByteReader | None = ctx.open_input(name)
        except IsADirectoryError:
            source = None
        except OSError as error:
            ctx.warn(f"cannot open {quote_always(name)} for reading: {error.strerror}")
            if args.flag("F"):
                followed[name] = None
            continue
        if headers:
            ctx.stdout.write(encode(f"{separator}==> {_shown(name)} <==\n"))
            separator = "\n"
        if source is None:
            _warn_of_directory(ctx, name, follow=follow is not None and part.unit != "bytes")
            if part.unit == "bytes":
                return 1
            continue
        _print_part(ctx, source, part)
        last = name
        if name != "-" or hasattr(source, "stat"):
            followed[name] = source
    if follow is None or (names == ["-"] and not followed):
        return ctx.status
    if not followed:
        ctx.warn("no files remaining")
        return 1
    return _Follower(ctx, followed, last, headers=headers, by_name=by_name).run()


def _warn_of_directory(ctx: CommandContext, name: str, *, follow: bool) -> None:
    ctx.warn(f"error reading {quote_always(_shown(name))}: Is a directory")
    if follow:
        wrong = "cannot follow end of this type of file; giving up on this name"
        ctx.warn(f"{_shown(name)}: {wrong}")
