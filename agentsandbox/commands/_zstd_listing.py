"""`zstd --list`: frames by their headers, without expanding them (RFC 8878, section 3)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget

__all__ = ["HEADING", "Facts", "ListError", "human_size", "read_facts", "row", "show_details"]

HEADING = "Frames  Skips  Compressed  Uncompressed  Ratio  Check  Filename"
_MAGIC = 0xFD2FB528
_SKIPPED = 0x184D2A50
_UNITS = ((1 << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB"))
_RLE = 1


class ListError(Exception):
    """The file's frames cannot be listed. `facts` are what was learnt before its end, None for what is no such file."""

    def __init__(self, facts: Facts | None = None) -> None:
        self.facts = facts
        super().__init__("not compressed by zstd")


class Facts:
    """What is known of one file, or of several together. `plain` is None where a frame does not tell."""

    __slots__ = ("check", "checksum", "dictionary", "files", "frames", "plain", "size", "skips", "window")

    def __init__(self) -> None:
        self.frames = self.skips = self.size = self.window = self.dictionary = 0
        self.plain: int | None = 0
        self.check = False
        self.checksum = b""
        self.files = 1

    def add(self, other: Facts) -> None:
        """Another file counts as well."""
        self.frames += other.frames
        self.skips += other.skips
        self.size += other.size
        self.plain = None if self.plain is None or other.plain is None else self.plain + other.plain
        self.check = other.check if self.files == 0 else self.check and other.check
        self.files += 1


def read_facts(data: bytes, budget: Budget) -> Facts:
    """All frames of a file."""
    facts = Facts()
    facts.size = len(data)
    at = 0
    while at < len(data) or not data:
        budget.step()
        magic = int.from_bytes(data[at : at + 4], "little")
        if magic & 0xFFFFFFF0 == _SKIPPED:
            at += 8 + int.from_bytes(_field(data, at + 4, 4, facts), "little")
            facts.skips += 1
        elif magic == _MAGIC:
            at = _read_frame(data, at + 4, facts, budget)
            facts.frames += 1
        else:
            raise ListError
        if at > len(data):
            raise ListError(facts)
    return facts


def _field(data: bytes, at: int, size: int, facts: Facts) -> bytes:
    if at + size > len(data):
        raise ListError(facts)
    return data[at : at + size]


def _read_frame(data: bytes, at: int, facts: Facts, budget: Budget) -> int:
    """Read a frame from its descriptor on; where it ends."""
    descriptor = _field(data, at, 1, facts)[0]
    facts.check = bool(descriptor & 4)
    at += 1
    single = descriptor & 0x20
    window = 0
    if not single:
        exponent, mantissa = divmod(_field(data, at, 1, facts)[0], 8)
        window = (1 << (10 + exponent)) // 8 * (8 + mantissa)
        at += 1
    width = (0, 1, 2, 4)[descriptor & 3]
    facts.dictionary = int.from_bytes(_field(data, at, width, facts), "little")
    at += width
    width = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    if width:
        plain = int.from_bytes(_field(data, at, width, facts), "little") + (256 if width == 2 else 0)
        facts.plain = None if facts.plain is None else facts.plain + plain
        window = window or plain
    else:
        facts.plain = None
    facts.window = window
    at += width
    last = 0
    while not last:
        budget.step()
        header = int.from_bytes(_field(data, at, 3, facts), "little")
        last = header & 1
        at += 3 + (1 if header >> 1 & 3 == _RLE else header >> 3)
    if facts.check:
        facts.checksum = _field(data, at, 4, facts)
        at += 4
    return at


def human_size(size: int) -> tuple[str, str]:
    """A size with up to three digits that count, and its unit."""
    for unit, name in _UNITS:
        if size >= unit:
            value = size / unit
            digits = 0 if value >= 100 or value == size else 1 if value >= 10 else 2
            return f"{value:.{digits}f}", name
    return str(size), " B"


def row(facts: Facts, name: str, *, none: str = "None") -> str:
    """A line of the table; `none` is how the check is called that is not there."""
    size, unit = human_size(facts.size)
    line = f"{facts.frames + facts.skips:6}  {facts.skips:5}  {size:>6}{unit:>4}"
    if facts.plain is None:
        line += " " * 21
    else:
        plain, plain_unit = human_size(facts.plain)
        line += f"  {plain:>8}{plain_unit:>4}  {facts.plain / facts.size if facts.size else 0:5.3f}"
    return f"{line}  {'XXH64' if facts.check else none:>5}  {name}"


def show_details(facts: Facts, name: str) -> str:
    """`-lv`: a paragraph on a file."""

    def shown(size: int) -> str:
        return f"{''.join(human_size(size))} ({size} B)"

    lines = [f"{name} ", f"# Zstandard Frames: {facts.frames}"]
    if facts.skips:
        lines.append(f"# Skippable Frames: {facts.skips}")
    lines += [f"DictID: {facts.dictionary}", f"Window Size: {shown(facts.window)}", f"Compressed Size: {shown(facts.size)}"]
    if facts.plain is not None:
        lines += [f"Decompressed Size: {shown(facts.plain)}", f"Ratio: {facts.plain / facts.size if facts.size else 0:.4f}"]
    check = "XXH64" if facts.check else "None"
    lines.append(f"Check: {check}" + (f" {facts.checksum[::-1].hex()}" if facts.check and facts.frames == 1 else ""))
    return "\n".join([*lines, ""])
