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
_CHECK_SIZES = (0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64)
_PLAIN_LIMIT = 10000
_LZMA2, _DELTA = 0x21, 3
_BRANCHES = {4: "x86", 5: "powerpc", 6: "ia64", 7: "arm", 8: "armthumb", 9: "sparc", 10: "arm64"}
_CODER_SIZES = {_LZMA2: 65592, _DELTA: 352}
"""What the library needs beside the dictionary; 1024 bytes for a branch converter."""
_FIRST_RELEASE, _WITH_EMPTY_BLOCKS = 50000002, 50020022


class ListError(Exception):
    """The file has no index that can be read; `message` is worded as xz words it."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


def _dictionary(bits: int) -> int:
    return (2 | (bits & 1)) << (bits // 2 + 11)


def _scaled(size: int) -> str:
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if not size % (1 << shift):
            return f"{size >> shift}{unit}"
    return str(size)


class Block:
    """A block as the index tells of it, and what its header tells: sizes, filters, the check."""

    __slots__ = ("compressed", "filters", "flags", "header", "memory", "plain", "total", "unpadded", "value")

    def __init__(self, unpadded: int, plain: int) -> None:
        self.unpadded = unpadded
        self.plain = plain
        self.total = -(-unpadded // 4) * 4
        self.value = self.filters = ""
        self.flags = "--"
        self.header = self.compressed = self.memory = 0

    def ratio(self) -> str:
        return _ratio(self.total, self.plain)

    def read(self, data: bytes, check: int) -> None:
        """Read the header, with the bytes of the whole block given."""
        if len(data) < self.total or not data or not data[0]:
            raise ListError("Compressed data is corrupt")
        self.header = (data[0] + 1) * 4
        self.compressed = self.unpadded - self.header - _CHECK_SIZES[check]
        value = data[self.total - _CHECK_SIZES[check] : self.total]
        self.value = (value[::-1] if len(value) in (4, 8) else value).hex() or "---"
        kind = data[1]
        self.flags = ("c" if kind & 0x40 else "-") + ("u" if kind & 0x80 else "-")
        at = 2
        for _ in self.flags.replace("-", ""):
            _, at = _number(data, at)
        shown = []
        for _ in range((kind & 3) + 1):
            name, at = _number(data, at)
            size, at = _number(data, at)
            shown.append(self._filter(name, data[at : at + size]))
            at += size
        self.filters = " ".join(shown)

    def _filter(self, name: int, properties: bytes) -> str:
        self.memory += _CODER_SIZES.get(name, 1024)
        if name == _LZMA2 and properties:
            self.memory += _dictionary(properties[0])
            return f"--lzma2=dict={_scaled(_dictionary(properties[0]))}"
        if name == _DELTA and properties:
            return f"--delta=dist={properties[0] + 1}"
        start = int.from_bytes(properties, "little")
        if name not in _BRANCHES:
            raise ListError("Unsupported options")
        return f"--{_BRANCHES[name]}" + (f"=start={_scaled(start)}" if start else "")


class _Stream:
    """One stream: where it begins, its blocks, its check, the padding after it."""

    def __init__(self, start: int, size: int, check: int, blocks: list[Block], padding: int) -> None:
        self.start = start
        self.size = size
        self.check = check
        self.blocks = blocks
        self.padding = padding
        self.plain = sum(block.plain for block in blocks)


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
    def memory(self) -> int:
        """Bytes that expanding takes."""
        return max([block.memory for stream in self.streams for block in stream.blocks], default=0)

    @property
    def sized(self) -> bool:
        """Whether all blocks tell their sizes."""
        return all(block.flags == "cu" for stream in self.streams for block in stream.blocks)

    @property
    def oldest(self) -> int:
        """The first release that can expand it."""
        empty = any(not block.plain for stream in self.streams for block in stream.blocks)
        return _WITH_EMPTY_BLOCKS if empty else _FIRST_RELEASE

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
    if not data.startswith(b"\xfd7zXZ\0"):
        raise ListError("File format not recognized")
    facts = Facts()
    end = len(data)
    if end % 4:
        raise ListError("Compressed data is corrupt")
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
        raise ListError("Compressed data is corrupt")
    size = (int.from_bytes(footer[4:8], "little") + 1) * 4
    start = end - _HEADER - size
    if start < _HEADER or zlib.crc32(footer[4:10]) != int.from_bytes(footer[:4], "little"):
        raise ListError("Compressed data is corrupt")
    index = data[start : start + size]
    if index[0] or zlib.crc32(index[:-4]) != int.from_bytes(index[-4:], "little"):
        raise ListError("Compressed data is corrupt")
    count, at = _number(index, 1)
    blocks: list[Block] = []
    for _ in range(count):
        budget.step()
        unpadded, at = _number(index, at)
        plain, at = _number(index, at)
        blocks.append(Block(unpadded, plain))
    length = _HEADER + sum(block.total for block in blocks) + size + _HEADER
    begin = end - length
    if begin < 0 or data[begin : begin + 6] != b"\xfd7zXZ\0":
        raise ListError("Compressed data is corrupt")
    at = begin + _HEADER
    for block in blocks:
        budget.step()
        block.read(data[at : at + block.total], footer[9] & 15)
        at += block.total
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


def show_facts(facts: Facts, title: str, show: Callable[[str], None], *, details: bool) -> None:
    """`-lv`: every stream and every block of a file; `-lvv`: what is in the headers of blocks as well."""
    width = max([8, *[2 * _CHECK_SIZES[stream.check] for stream in facts.streams]])
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
        for place, block in enumerate(stream.blocks, 1):
            line = f"    {number:6} {place:9} {at:15} {plain_at:15} {block.total:15} {block.plain:15}  {block.ratio():>5}  {check}"
            if details:
                line += f"{'':{11 - len(check)}}{block.value:<{width}}  {block.header:6}  {block.flags:<5} {block.compressed:15}"
                line += f"  {_mebibytes(block.memory):>10}  {block.filters}"
            blocks.append(line)
            at += block.total
            plain_at += block.plain
    if blocks:
        heading = f"      {'CheckVal':<{width}}  Header  Flags        CompSize    MemUsage  Filters" if details else ""
        lines += ["  Blocks:", _BLOCKS + heading, *blocks]
    show("\n".join([*lines, *_needs(facts)] if details else lines))


def _mebibytes(size: int) -> str:
    return f"{-(-size // 1048576)} MiB"


def _needs(facts: Facts) -> list[str]:
    return [
        f"  Memory needed:     {_mebibytes(facts.memory)}",
        f"  Sizes in headers:  {'Yes' if facts.sized else 'No'}",
        f"  Minimum XZ Utils version: {'5.0.0' if facts.oldest < _WITH_EMPTY_BLOCKS else '5.2.2'}",
    ]


def show_total_facts(facts: Facts, show: Callable[[str], None], *, details: bool) -> None:
    """`-lv`: all files together."""
    lines = ["", "Totals:", f"  Number of files:   {facts.files}", *_summary(facts)]
    show("\n".join([*lines, *_needs(facts)] if details else lines))


def _robot(facts: Facts) -> str:
    return f"{len(facts.streams)}\t{facts.blocks}\t{facts.size}\t{facts.plain}\t{facts.ratio()}\t{facts.checks(',')}\t{facts.padding}"


def _robot_needs(facts: Facts) -> str:
    return f"{facts.memory}\t{'yes' if facts.sized else 'no'}\t{facts.oldest}"


def show_robot(facts: Facts, name: str, show: Callable[[str], None], *, verbose: bool, details: bool) -> None:
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
        for place, block in enumerate(stream.blocks, 1):
            count += 1
            line = f"block\t{number}\t{place}\t{count}\t{at}\t{plain_at}\t{block.total}\t{block.plain}\t{block.ratio()}\t{check}"
            if details:
                line += f"\t{block.value}\t{block.header}\t{block.flags}\t{block.compressed}\t{block.memory}\t{block.filters}"
            blocks.append(line)
            at += block.total
            plain_at += block.plain
    if details:
        blocks.append(f"summary\t{_robot_needs(facts)}")
    show("\n".join(lines + blocks if verbose else lines[:2]))


def show_robot_totals(facts: Facts, show: Callable[[str], None], *, details: bool) -> None:
    """The last line for programs."""
    show(f"totals\t{_robot(facts)}\t{facts.files}" + (f"\t{_robot_needs(facts)}" if details else ""))
