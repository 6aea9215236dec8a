"""The output of `-printf` and `-ls`.

A format of -printf is compiled once, to a list of texts and of functions of a `Visit`.
"""

from __future__ import annotations

import re
import stat

from agentsandbox.commands._files.modes import format_mode, type_letter
from agentsandbox.commands._files.names import quote_as
from agentsandbox.errors import CommandError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.formats.strftime import format_date
from agentsandbox.kernel.fs.base import nanoseconds
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.find.search import Search
    from agentsandbox.commands.find.visits import Visit
    from agentsandbox.kernel.fs.base import Stat

_DIRECTIVE = lazily(r"%([-#+ 0]*)([0-9]*)(\.[0-9]*)?([ABCT].|.|\Z)", re.ASCII | re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_FRACTION = {"S": "%S", "T": "%H:%M:%S", "X": "%H:%M:%S", "+": "%Y-%m-%d+%H:%M:%S"}
_TIME_LETTERS = frozenset("aAbBcCdDeFgGhHIjklmMnpPrRstuUVwWxyYzZ")
_HALF_YEAR = 31556952 // 2
_BLOCK = 4096
MAX_WIDTH = 1 << 16


def disk_blocks(info: Stat) -> int:
    """Return the space on the disk in units of 512 bytes."""
    if stat.S_ISDIR(info.mode):
        return _BLOCK // 512
    return -(-info.size // _BLOCK) * _BLOCK // 512 if stat.S_ISREG(info.mode) else 0


def _time(search: Search, seconds: float, letter: str) -> str:
    """Return a time in the format of one letter, as in `%Tk`."""
    ns = nanoseconds(seconds)
    zone = search.ctx.env.get("TZ", "")
    fraction = f".{ns % 10**9:09d}0"
    if letter == "@":
        whole = ns // 10**9
        return f"{whole}{fraction}"
    if letter in _FRACTION:
        return format_date(ns, _FRACTION[letter], zone) + fraction
    if letter in _TIME_LETTERS:
        return format_date(ns, f"%{letter}", zone)
    return "%" if letter == "%" else f"%{letter}"


def _full_time(search: Search, seconds: float) -> str:
    """Return a time as C's `ctime` does, with the fraction of the second (`%t`)."""
    ns = nanoseconds(seconds)
    zone = search.ctx.env.get("TZ", "")
    day, year = format_date(ns, "%a %b %e %H:%M:%S", zone), format_date(ns, "%Y", zone)
    return f"{day}.{ns % 10**9:09d}0 {year}"


def _parent(visit: Visit) -> str:
    """Return the path up to the last slash (`%h`); one at the end counts if there is no other."""
    bare = visit.path.rstrip("/")
    above, slash, _ = bare.rpartition("/")
    return above if slash else "." if bare == visit.path else bare


def _below(visit: Visit) -> str:
    """Return the path without the starting point (`%P`)."""
    return visit.path[len(visit.top) :].lstrip("/") if visit.depth else ""


def _link_text(visit: Visit) -> str:
    return visit.fs.readlink(visit.absolute) if visit.kind == stat.S_IFLNK else ""


def _kind(visit: Visit) -> str:
    return type_letter(visit.kind).replace("-", "f")


def _target_kind(visit: Visit) -> str:
    """Return the type of the target of a link (`%Y`); N for nothing, L for a loop."""
    if visit.kind != stat.S_IFLNK:
        return _kind(visit)
    try:
        return type_letter(visit.fs.stat(visit.absolute).mode).replace("-", "f")
    except FileNotFoundError:
        return "N"
    except OSError as error:
        return "L" if error.errno == 40 else "?"


def _base(visit: Visit) -> str:
    if visit.depth:
        return visit.name
    bare = visit.path.rstrip("/")
    return bare.rpartition("/")[2] + visit.path[len(bare) :]


def _values(search: Search) -> dict[str, Callable[[Visit], str]]:
    """Return the function of each directive."""
    return {
        "p": lambda v: v.path,
        "f": _base,
        "h": _parent,
        "P": _below,
        "H": lambda v: v.top,
        "d": lambda v: str(v.depth),
        "D": lambda _: str(0xFE00),
        "F": lambda _: "ext4",
        "g": lambda v: search.owners.group(v.info.gid),
        "u": lambda v: search.owners.user(v.info.uid),
        "G": lambda v: str(v.info.gid),
        "U": lambda v: str(v.info.uid),
        "i": lambda v: str(v.info.ino),
        "k": lambda v: str(-(-disk_blocks(v.info) // 2)),
        "b": lambda v: str(disk_blocks(v.info)),
        "l": _link_text,
        "m": lambda v: f"{v.info.permissions:o}",
        "M": lambda v: format_mode(v.info.mode),
        "n": lambda v: str(v.info.nlink),
        "s": lambda v: str(v.info.size),
        "y": _kind,
        "Y": _target_kind,
        "a": lambda v: _full_time(search, v.info.atime),
        "c": lambda v: _full_time(search, v.info.ctime),
        "t": lambda v: _full_time(search, v.info.mtime),
    }


def _time_value(search: Search, which: str, letter: str) -> Callable[[Visit], str]:
    if which == "A":
        return lambda v: _time(search, v.info.atime, letter)
    if which == "C":
        return lambda v: _time(search, v.info.ctime, letter)
    return lambda v: _time(search, v.info.mtime, letter)


def _padded(
    value: Callable[[Visit], str], flags: str, width: int, precision: int | None, letter: str
) -> Callable[[Visit], str]:
    """Return a function that pads and cuts the value as C's `printf` does."""
    is_number = letter in "dm"
    fill = "0" if "0" in flags and is_number and precision is None else " "

    def show(visit: Visit) -> str:
        text = value(visit)
        if "#" in flags and letter == "m":
            text = f"0{text}"
        text = text.rjust(precision or 0, "0") if is_number else text[:precision]
        return text.ljust(width) if "-" in flags else text.rjust(width, fill)

    return show


def compile_format(search: Search, format: str) -> tuple[list[str | Callable[[Visit], str]], bool]:
    """Return the pieces of a format, and whether `\\c` ended it."""
    pieces: list[str | Callable[[Visit], str]] = []
    values = _values(search)
    position, size = 0, len(format)
    while position < size:
        search.ctx.budget.step()
        character = format[position]
        if character == "\\":
            text, position = _escape(search, format, position + 1)
            if text is None:
                return pieces, True
            pieces.append(text)
        elif character == "%":
            found = _DIRECTIVE.match(format, position)
            assert found is not None
            position = found.end()
            pieces.append(_directive(search, values, found))
        else:
            stop = position
            while stop < size and format[stop] not in "\\%":
                stop += 1
            pieces.append(format[position:stop])
            position = stop
    return pieces, False


def _escape(search: Search, format: str, position: int) -> tuple[str | None, int]:
    """Return the meaning of the escape at `position` (None for `\\c`), and its end."""
    octal = re.compile(r"[0-7]{1,3}").match(format, position)
    if octal:
        return decode(bytes([int(octal[0], 8) & 255])), octal.end()
    letter = format[position : position + 1]
    if letter == "c":
        return None, position + 1
    if letter in _ESCAPES and letter:
        return _ESCAPES[letter], position + 1
    if not letter:
        search.ctx.warn("warning: escape `\\' followed by nothing at all", search.ctx.status)
        return "\\", position
    search.ctx.warn(f"warning: unrecognized escape `\\{letter}'", search.ctx.status)
    return f"\\{letter}", position + 1


def _directive(
    search: Search, values: dict[str, Callable[[Visit], str]], found: re.Match[str]
) -> str | Callable[[Visit], str]:
    flags, digits, dot, letter = found.groups()
    if not letter:
        raise CommandError("error: % at end of format string")
    if letter == "%":
        return found[0][:-1]
    if len(digits) > 9 or len(dot or "") > 9:
        raise CommandError(f"error: the width of {found[0][:20]} is too large")
    width = int(digits or 0)
    precision = None if dot is None else int(dot[1:] or 0)
    search.ctx.budget.charge(max(width, precision or 0) * 4)
    if letter in ("A", "B", "C", "T"):
        search.ctx.warn(
            f"warning: format directive `%{letter}' should be followed by another character",
            search.ctx.status,
        )
        return f"%{letter}"
    value = _time_value(search, letter[0], letter[1]) if len(letter) == 2 else values.get(letter)
    if value is None:
        search.ctx.warn(f"warning: unrecognized format directive `%{letter}'", search.ctx.status)
        return found[0]
    if not (flags or width or precision is not None):
        return value
    return _padded(value, flags, width, precision, letter)


def _listed(name: str) -> str:
    """Return a name as `-ls` shows it, in printable ASCII."""
    shown = quote_as(name, "escape").replace('"', '\\"')
    return re.sub(
        r"[^\0-\x7f]", lambda found: "".join([f"\\{byte:03o}" for byte in encode(found[0])]), shown
    )


def long_lister(search: Search) -> Callable[[Visit], str]:
    """Return a function that makes the line of `-ls`; a column that has grown stays wide."""
    widths = {"inode": 9, "blocks": 6, "links": 3, "user": 8, "group": 8, "size": 8}

    def fit(column: str, text: str) -> str:
        widths[column] = max(widths[column], len(text))
        pad = text.ljust if column in ("user", "group") else text.rjust
        return pad(widths[column])

    def show(visit: Visit) -> str:
        info = visit.info
        zone = search.ctx.env.get("TZ", "")
        recent = search.now - _HALF_YEAR < info.mtime <= search.now + 3600
        when = format_date(nanoseconds(info.mtime), "%b %e %H:%M" if recent else "%b %e  %Y", zone)
        size = str(info.size)
        if stat.S_ISCHR(info.mode) or stat.S_ISBLK(info.mode):
            size = f"{info.rdev >> 8:3d}, {info.rdev & 255:3d}"
        name = _listed(visit.path)
        if info.is_link:
            name += f" -> {_listed(visit.fs.readlink(visit.absolute))}"
        fields = (
            fit("inode", str(info.ino)),
            fit("blocks", str(-(-disk_blocks(info) // 2))),
            format_mode(info.mode),
            fit("links", str(info.nlink)),
            fit("user", search.owners.user(info.uid)),
            fit("group", search.owners.group(info.gid)),
            fit("size", size),
            f"{when} {name}\n",
        )
        return " ".join(fields)

    return show
