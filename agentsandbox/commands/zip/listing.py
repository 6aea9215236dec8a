"""How `unzip -l` and `zipinfo` list an archive."""

from __future__ import annotations

from agentsandbox.commands._files.modes import format_mode
from agentsandbox.kernel.formats.strftime import strftime
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.commands.zip.format import Entry

_DEFLATED = 8
_METHODS = {0: "stor", 12: "bzp2", 14: "lzma"}


_CONTROLS = {code: f"^{chr(code + 64)}" for code in range(32)}


def visible(name: str) -> str:
    """Return a name with control characters as people type them: ^A."""
    return name if name.isprintable() else name.translate(_CONTROLS)


def percent(size: int, compressed: int) -> int:
    """Return the part saved, in whole percent, as Info-ZIP rounds it."""
    if not size:
        return 0
    doubled = 200 * abs(size - compressed) // size
    doubled = doubled if size >= compressed else -doubled
    return int((1 + doubled) / 2)


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def list_short(
    entries: Sequence[Entry],
    zone: str,
    quiet: int,
    show: Callable[[str], None],
    *,
    summed: bool = True,
) -> None:
    """`unzip -l`."""
    if quiet < 2:
        show("  Length      Date    Time    Name")
        show("---------  ---------- -----   ----")
    for entry in entries:
        time = strftime(entry.mtime, "%Y-%m-%d %H:%M", zone)
        show(f"{entry.size:9d}  {time}   {visible(entry.name)}")
        _comment(entry, show)
    if quiet < 2 and summed:
        size, _ = _sums(entries)
        show("---------                     -------")
        show(f"{size:9d}                     {_files(len(entries))}")


def list_long(entries: Sequence[Entry], zone: str, show: Callable[[str], None]) -> None:
    """`zipinfo`."""
    for entry in entries:
        kind = 0 if entry.mode & 0o170000 else 0o040000 if entry.is_dir else 0o100000
        mode = format_mode(entry.mode | kind)
        letter = "t" if entry.text else "b"
        letter = letter.upper() if entry.flags & 1 else letter
        extra = "x" if entry.extra else "-"
        made_by = "3.0 unx" if entry.unix else "2.0 fat"
        time = strftime(entry.mtime, "%y-%b-%d %H:%M", zone)
        what = f"{entry.size:8d} {letter}{extra} {_method(entry)} {time} {visible(entry.name)}"
        show(f"{mode}  {made_by} {what}")


def _sums(entries: Sequence[Entry]) -> tuple[int, int]:
    """Return the sums of sizes and of compressed sizes."""
    return sum(entry.size for entry in entries), sum(entry.compressed for entry in entries)


def totals(entries: Sequence[Entry]) -> str:
    """Return the last line of `zipinfo`."""
    size, compressed = _sums(entries)
    saved = (1000 * (size - compressed) + (size >> 1)) // size if size else 0
    tenths = f"{'-' if saved < 0 else ''}{abs(saved) // 10}.{abs(saved) % 10}"
    sizes = f"{size} bytes uncompressed, {compressed} bytes compressed"
    return f"{_files(len(entries))}, {sizes}:  {tenths}%"


def _method(entry: Entry) -> str:
    """Return the short name of the compression method."""
    if entry.method == _DEFLATED:
        return "def" + "NXFS"[entry.flags >> 1 & 3]
    return _METHODS.get(entry.method, f"u{entry.method:03d}")


def _comment(entry: Entry, show: Callable[[str], None]) -> None:
    if entry.comment:
        show(decode(entry.comment))
