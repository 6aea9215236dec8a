"""`stat` (GNU coreutils): the status of files and of their filesystem."""

from __future__ import annotations

import errno
import re

from agentsandbox.commands._files.block_sizes import BLOCK_SIZE, disk_usage
from agentsandbox.commands._files.canonical import canonicalize
from agentsandbox.commands._files.modes import describe_type, format_mode
from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands._files.space import Space
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always, quote_as, style_of_environment
from agentsandbox.commands._time.times import LocalTime, nanoseconds
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import bytewise, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.fs.base import Stat

_DIRECTIVE = re.compile(
    r"%([-#+ 0']*+)([0-9]*+)(?:\.([0-9]*+))?([HL]?)(.|\Z)", re.ASCII | re.DOTALL
)
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.|\Z)", re.DOTALL)
_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", '"': '"',
}  # fmt: skip
_TIME_FORMAT = "%Y-%m-%d %H:%M:%S.%N %z"
_DEFAULT = """\
  File: %N
  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F
Device: %Hd,%Ld\tInode: %-10i  Links: %h{device}
Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)
Access: %x
Modify: %y
Change: %z
 Birth: %w
"""
_FILESYSTEM = """\
  File: "%n"
    ID: %-8i Namelen: %-7l Type: %T
Block size: %-10s Fundamental block size: %S
Blocks: Total: %-10b Free: %-10f Available: %a
Inodes: Total: %-10c Free: %d
"""
_TERSE = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n"
_TERSE_FILESYSTEM = "%n %i %l %t %s %S %b %f %a %c %d\n"
DEVICE = 0xFE00
"""The number of the device that files are said to be on: 254, 0."""
MAX_WIDTH = 1 << 16


_MACOS = (
    "-f FORMAT is macOS's; GNU stat has -c: stat -c %s FILE (size), -c %Y (time of change), -c %a "
    "(mode), -c %U (owner)"
)


@command(
    "stat",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="dereference file-system format printf terse help version",
        macos={"%": _MACOS},
    ),
    usage="""
    Usage: stat [OPTION]... FILE...
    Show what is known of each FILE, or of its filesystem.

      -L, --dereference     follow links
      -f, --file-system     of the filesystem, not of the file
      -c, --format=FORMAT   print FORMAT, and a newline, for each FILE
          --printf=FORMAT   the same without the newline; backslash escapes are understood
      -t, --terse           in one line
          --help            display this help and exit

    For files: %a octal mode, %A mode, %b blocks, %B size of those, %d device, %D in hex, %f raw
    mode in hex, %F type, %g %G group, %h links, %i inode, %m mount point, %n name, %N quoted name
    and where it points, %o size for transfers, %s size, %r %R device type, %t %T in hex, %u %U
    user, %w %W birth, %x %X access, %y %Y change, %z %Z change of status. For filesystems: %a %b %c
    %d %f %i %l %n %s %S %t %T.
    """,
)
def stat(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing operand")
    printer = _Printer(ctx, args)
    for name in args.operands:
        ctx.budget.step()
        printer.print(name)
    if printer.asks_macos:
        ctx.advise_macos(_MACOS)
    return ctx.status


class _Printer:
    """Prints files by a format."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.follow = args.flag("dereference")
        self.filesystem = args.flag("file-system")
        self.asks_macos = False
        """Whether a format was given as a file, as macOS's -f takes one."""
        given = args.last("format", "printf")
        terse = args.flag("terse")
        self.newline = given == "format"
        self.escapes = given == "printf"
        self.default = given is None and not terse and not self.filesystem
        if given is not None:
            self.format = args.value(given) or ""
        elif self.filesystem:
            self.format = _TERSE_FILESYSTEM if terse else _FILESYSTEM
        else:
            self.format = _TERSE if terse else _DEFAULT
        self.quoting = "literal" if self.default else ""
        self.local = LocalTime(ctx)
        self._owners: Owners | None = None

    def print(self, name: str) -> None:
        ctx = self.ctx
        if self.filesystem and name == "-":
            raise CommandError(
                "using '-' to denote standard input does not work in file system mode"
            )
        if name == "-" and ctx.stdin.unreadable == errno.EBADF:
            ctx.warn("cannot stat standard input: Bad file descriptor")
            return
        try:
            path = "/dev/stdin" if name == "-" else ctx.path(name)
            info = ctx.fs.stat(path, follow=self.follow or self.filesystem or name == "-")
        except OSError as error:
            what = "cannot read file system information for" if self.filesystem else "cannot statx"
            ctx.warn(f"{what} {quote_always(name)}: {describe_os_error(error, '')}")
            self.asks_macos = self.asks_macos or (self.filesystem and "%" in name)
            return
        format = self.format
        if self.default:
            special = info.mode & 0o170000 in (0o020000, 0o060000)
            format = format.replace("{device}", "     Device type: %Hr,%Lr" if special else "")
        ctx.stdout.write(
            encode(self._expand(format, name, path, info)) + (b"\n" if self.newline else b"")
        )

    def _quoted(self, name: str) -> str:
        if not self.quoting:
            self.quoting = style_of_environment(self.ctx) or "shell-escape-always"
        return quote_as(bytewise(name) if self.ctx.is_bytewise() else name, self.quoting)

    def _expand(self, format: str, name: str, path: str, info: Stat) -> str:
        parts: list[str] = []
        position = 0
        pattern = (
            re.compile(f"{_DIRECTIVE.pattern}|{_ESCAPE.pattern}", re.ASCII | re.DOTALL)
            if self.escapes
            else _DIRECTIVE
        )
        for found in pattern.finditer(format):
            self.ctx.budget.step()
            parts.append(format[position : found.start()])
            position = found.end()
            if found[0][0] == "\\":
                parts.append(self._escape(found[6]))
            else:
                parts.append(self._directive(found, name, path, info))
        parts.append(format[position:])
        return "".join(parts)

    def _escape(self, text: str) -> str:
        if text in _ESCAPES:
            return _ESCAPES[text]
        if text[:1] == "x" and len(text) > 1:
            return decode(bytes([int(text[1:], 16)]))
        if text[:1] in "01234567" and text:
            return decode(bytes([int(text, 8) & 255]))
        if not text:
            self.ctx.warn("warning: backslash at end of format", self.ctx.status)
            return "\\"
        self.ctx.warn(f"warning: unrecognized escape '\\{text}'", self.ctx.status)
        return text

    def _directive(self, found: re.Match[str], name: str, path: str, info: Stat) -> str:
        flags, width, precision, modifier, letter = found.group(1, 2, 3, 4, 5)
        if letter == "%":
            if found[0] != "%%":
                raise CommandError(f"{quote(found[0])}: invalid directive")
            return "%"
        if not letter:
            if flags or width or precision is not None:
                raise CommandError(f"{quote(found[0])}: invalid directive")
            return "%" + modifier
        if len(width) > 9 or len(precision or "") > 9:
            raise CommandError(f"{quote(found[0])}: invalid directive")
        size = int(width or 0)
        self.ctx.budget.charge(max(size, int(precision or 0)) * 4)
        value = (
            self._filesystem_value(letter, name)
            if self.filesystem
            else self._value(modifier + letter, name, path, info)
        )
        if value is None:
            return "?" if not modifier else f"?{letter}"
        if letter in "XYZW" and not self.filesystem:
            return self._seconds(value, flags, size, precision)
        if "#" in flags and letter in _ALTERNATIVE:
            value = _ALTERNATIVE[letter] + value
        if letter == "s" and not self.filesystem:
            return _pad(value, flags, size, precision, sign=_sign(flags))
        return _pad(value, flags, size, precision)

    def _seconds(self, value: str, flags: str, width: int, precision: str | None) -> str:
        """Return a time in seconds; a precision without a number means nine decimals."""
        ns = int(value)
        whole, fraction = divmod(ns, 10**9)
        if precision is None:
            return _pad(str(whole), flags, width, None, sign=_sign(flags))
        digits = int(precision) if precision else 9
        decimals = f"{fraction:09d}"[:digits].ljust(min(digits, MAX_WIDTH), "0")
        return _pad(f"{whole}.{decimals}" if digits else str(whole), flags, width, None)

    def _value(self, letter: str, name: str, path: str, info: Stat) -> str | None:
        if letter.lower() in ("w", "x", "y", "z"):
            ns = nanoseconds(
                {"x": info.atime, "y": info.mtime, "z": info.ctime}.get(letter.lower(), info.mtime)
            )
            return str(ns) if letter in "XYZW" else self.local.show(_TIME_FORMAT, ns)
        compute = _FILE.get(letter)
        if compute is not None:
            return compute(info)
        if letter == "n":
            return name
        if letter == "N":
            shown = self._quoted(name)
            if info.is_link:
                shown += f" -> {self._quoted(self.ctx.fs.readlink(path))}"
            return shown
        if letter == "m":
            return Space(self.ctx).mount_point(canonicalize(self.ctx, name, "missing"))
        if letter in "UG" and letter:
            if self._owners is None:
                self._owners = Owners(self.ctx)
            return self._owners.user(info.uid) if letter == "U" else self._owners.group(info.gid)
        return None

    def _filesystem_value(self, letter: str, name: str) -> str | None:
        space = Space(self.ctx)
        values = {
            "n": name, "i": "fe0000000000", "l": "255", "t": "ef53", "T": "ext2/ext3",
            "s": str(BLOCK_SIZE), "S": str(BLOCK_SIZE), "b": str(space.total // BLOCK_SIZE),
            "f": str(space.free // BLOCK_SIZE), "a": str(space.free // BLOCK_SIZE),
            "c": str(space.files), "d": str(space.free_files),
        }  # fmt: skip
        return values.get(letter)


_FILE: dict[str, Callable[[Stat], str]] = {
    "a": lambda info: f"{info.permissions:o}",
    "A": lambda info: format_mode(info.mode),
    "b": lambda info: str(disk_usage(info) // 512),
    "B": lambda _: "512",
    "d": lambda _: str(DEVICE),
    "Hd": lambda _: str(DEVICE >> 8),
    "Ld": lambda _: str(DEVICE & 255),
    "D": lambda _: f"{DEVICE:x}",
    "f": lambda info: f"{info.mode:x}",
    "F": lambda info: describe_type(info.mode, info.size),
    "g": lambda info: str(info.gid),
    "u": lambda info: str(info.uid),
    "h": lambda info: str(info.nlink),
    "i": lambda info: str(info.ino),
    "o": lambda _: str(BLOCK_SIZE),
    "s": lambda info: str(info.size),
    "r": lambda info: str(info.rdev),
    "R": lambda info: f"{info.rdev:x}",
    "Hr": lambda info: str(info.rdev >> 8),
    "Lr": lambda info: str(info.rdev & 255),
    "t": lambda info: f"{info.rdev >> 8:x}",
    "T": lambda info: f"{info.rdev & 255:x}",
}


_ALTERNATIVE = {"a": "0", "f": "0x", "D": "0x", "R": "0x"}


def _sign(flags: str) -> str:
    """Return the sign of a number that is not negative."""
    return "+" if "+" in flags else " " if " " in flags else ""


def _pad(value: str, flags: str, width: int, precision: str | None, *, sign: str = "") -> str:
    if sign and not value.startswith("-"):
        value = sign + (value.rjust(width - 1, "0") if "0" in flags and "-" not in flags else value)
    if precision is not None and not value.isdecimal():
        value = value[: int(precision or 0)]
    if "-" in flags:
        return value.ljust(width)
    if "0" in flags:
        return value.rjust(width, "0")
    return value.rjust(width)
