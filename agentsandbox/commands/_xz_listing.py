"""`xz --list`: the streams and blocks of a file by its index, without expanding it (The .xz File Format, sections 2 and 4)."""

from __future__ import annotations

import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.limits import Budget

__all__ = [
    "Facts", "ListError", "read_facts", "show_facts", "show_robot", "show_robot_totals", "show_row", "show_total_facts", "show_total_row",
]  # fmt: skip

_CHECKS = {0: "None", 1: "CRC32", 4: "CRC64", 10: "SHA-256"}
_HEADER = 12
_LEAST = 24
_HEADING = "Strms  Blocks   Compressed Uncompressed  Ratio  Check   Filename"
_STREAMS = "    Stream    Blocks      CompOffset    UncompOffset        CompSize      UncompSize  Ratio  Check      Padding"
_BLOCKS = "    Stream     Block      CompOffset    UncompOffset       TotalSize      UncompSize  Ratio  Check"
_PLAIN_LIMIT = 10000


class ListError(Exception):
    """The file has no index that can be read; `message` is worded as xz words it."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class _Stream:
    """One stream: where it begins, its blocks as (total size, plain size), its check, the padding after it."""

    def __init__(self, start: int, size: int, check: int, blocks: list[tuple[int, int]], padding: int) -> None:
        self.start = start
        self.size = size
        self.check = check
        self.blocks = blocks
        self.padding = padding
        self.plain = sum(block[1] for block in blocks)


class Facts:
    """What is known of one file, or of several together."""

    def __init__(self) -> None:
        self.streams: list[_Stream] = []
        self.files = 1

    @property
    def size(self) -> int:
        return sum(stream.size + stream.padding for stream in self.streams)

    @property
    def plain(self) -> int:
        return sum(stream.plain for stream in self.streams)

    @property
    def blocks(self) -> int:
        return sum(len(stream.blocks) for stream in self.streams)

    @property
    def padding(self) -> int:
        return sum(stream.padding for stream in self.streams)

    def checks(self, separator: str) -> str:
        """The names of all checks used, in the order of their numbers."""
        found = sorted({stream.check for stream in self.streams})
        return separator.join([_CHECKS.get(check, f"Unknown-{check}") for check in found])

    def ratio(self) -> str:
        """Compressed to plain."""
        return _ratio(self.size, self.plain)


def _ratio(compressed: int, plain: int) -> str:
    if not plain or compressed / plain > 9.999:
        return "---"
    return f"{compressed / plain:.3f}"


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = 0
    for shift in range(0, 63, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, at
    raise ListError("Compressed data is corrupt")


def read_facts(data: bytes, budget: Budget) -> Facts:
    """The streams of a file, read from its end."""
    if not data:
        raise ListError("File is empty")
    if len(data) < _LEAST:
        raise ListError("Too small to be a valid .xz file")
    facts = Facts()
    end = len(data)
    while end:
        budget.step()
        padding = 0
        while end >= 4 and data[end - 4 : end] == bytes(4):
            budget.step()
            padding += 4
            end -= 4
        facts.streams.insert(0, _read_stream(data, end, padding, budget))
        end = facts.streams[0].start
    return facts


def _read_stream(data: bytes, end: int, padding: int, budget: Budget) -> _Stream:
    footer = data[max(0, end - _HEADER) : end]
    if len(footer) < _HEADER or footer[10:] != b"YZ":
        raise ListError("File format not recognized")
    size = (int.from_bytes(footer[4:8], "little") + 1) * 4
    start = end - _HEADER - size
    if start < _HEADER or zlib.crc32(footer[4:10]) != int.from_bytes(footer[:4], "little"):
        raise ListError("Compressed data is corrupt")
    index = data[start : start + size]
    if index[0] or zlib.crc32(index[:-4]) != int.from_bytes(index[-4:], "little"):
        raise ListError("Compressed data is corrupt")
    count, at = _number(index, 1)
    blocks: list[tuple[int, int]] = []
    for _ in range(count):
        budget.step()
        unpadded, at = _number(index, at)
        plain, at = _number(index, at)
        blocks.append((-(-unpadded // 4) * 4, plain))
    length = _HEADER + sum(block[0] for block in blocks) + size + _HEADER
    begin = end - length
    if begin < 0 or data[begin : begin + 6] != b"\xfd7zXZ\0":
        raise ListError("Compressed data is corrupt")
    return _Stream(begin, length, footer[9] & 15, blocks, padding)


def _nice(size: int, *, exact: bool = False) -> str:
    """A size as people read it; with `exact` in bytes as well."""
    if size < _PLAIN_LIMIT:
        return f"{size} B"
    value = float(size)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if value < 9999.95 or unit == "TiB":
            break
    return f"{value:.1f} {unit}{f' ({size} B)' if exact else ''}"


def _row(facts: Facts, last: str) -> str:
    return (
        f"{len(facts.streams):5} {facts.blocks:7}  {_nice(facts.size):>11}  {_nice(facts.plain):>11}  {facts.ratio():>5}  "
        f"{facts.checks(','):<7} {last}"
    )


def show_row(facts: Facts, name: str, show: Callable[[str], None], *, first: bool) -> None:
    """A file in the table."""
    if first:
        show(_HEADING)
    show(_row(facts, name))


def show_total_row(facts: Facts, show: Callable[[str], None]) -> None:
    """The end of the table."""
    show("-" * 79)
    show(_row(facts, f"{facts.files} files"))


def _summary(facts: Facts) -> list[str]:
    return [
        f"  Streams:           {len(facts.streams)}",
        f"  Blocks:            {facts.blocks}",
        f"  Compressed size:   {_nice(facts.size, exact=True)}",
        f"  Uncompressed size: {_nice(facts.plain, exact=True)}",
        f"  Ratio:             {facts.ratio()}",
        f"  Check:             {facts.checks(', ')}",
        f"  Stream Padding:    {_nice(facts.padding, exact=True)}",
    ]


def show_facts(facts: Facts, title: str, show: Callable[[str], None]) -> None:
    """`-lv`: every stream and every block of a file."""
    lines = [title, *_summary(facts), "  Streams:", _STREAMS]
    blocks: list[str] = []
    plain_at = 0
    for number, stream in enumerate(facts.streams, 1):
        check = _CHECKS.get(stream.check, f"Unknown-{stream.check}")
        lines.append(
            f"    {number:6} {len(stream.blocks):9} {stream.start:15} {plain_at:15} {stream.size:15} {stream.plain:15}  "
            f"{_ratio(stream.size, stream.plain):>5}  {check:<10} {stream.padding:7}"
        )
        at = stream.start + _HEADER
        for place, (total, plain) in enumerate(stream.blocks, 1):
            blocks.append(f"    {number:6} {place:9} {at:15} {plain_at:15} {total:15} {plain:15}  {_ratio(total, plain):>5}  {check}")
            at += total
            plain_at += plain
    if blocks:
        lines += ["  Blocks:", _BLOCKS, *blocks]
    show("\n".join(lines))


def show_total_facts(facts: Facts, show: Callable[[str], None]) -> None:
    """`-lv`: all files together."""
    show("\n".join(["", "Totals:", f"  Number of files:   {facts.files}", *_summary(facts)]))


def _robot(facts: Facts) -> str:
    return f"{len(facts.streams)}\t{facts.blocks}\t{facts.size}\t{facts.plain}\t{facts.ratio()}\t{facts.checks(',')}\t{facts.padding}"


def show_robot(facts: Facts, name: str, show: Callable[[str], None], *, verbose: bool) -> None:
    """`--robot -l`: columns for programs."""
    lines = [f"name\t{name}", f"file\t{_robot(facts)}"]
    blocks: list[str] = []
    plain_at = count = 0
    for number, stream in enumerate(facts.streams, 1):
        check = _CHECKS.get(stream.check, f"Unknown-{stream.check}")
        lines.append(
            f"stream\t{number}\t{len(stream.blocks)}\t{stream.start}\t{plain_at}\t{stream.size}\t{stream.plain}\t"
            f"{_ratio(stream.size, stream.plain)}\t{check}\t{stream.padding}"
        )
        at = stream.start + _HEADER
        for place, (total, plain) in enumerate(stream.blocks, 1):
            count += 1
            blocks.append(f"block\t{number}\t{place}\t{count}\t{at}\t{plain_at}\t{total}\t{plain}\t{_ratio(total, plain)}\t{check}")
            at += total
            plain_at += plain
    show("\n".join(lines + blocks if verbose else lines[:2]))


def show_robot_totals(facts: Facts, show: Callable[[str], None]) -> None:
    """The last line for programs."""
    show(f"totals\t{_robot(facts)}\t{facts.files}")
