"""The file that a patch is for: the names in its headers, and the choice between them."""

from __future__ import annotations

import re

from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.diff.patches import FilePatch
    from agentsandbox.contract.command import CommandContext

_EPOCH = re.compile(
    rb"\t(?:1970-01-01 00:00:00(?:\.0++)?+(?: \+0000)?+"
    rb"|19(?:69-12-31|70-01-01) [0-9:.]*+ [+-]\d{4})\s*+\Z"
)
_QUOTED = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_LETTERS = {
    b"n": b"\n",
    b"t": b"\t",
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"r": b"\r",
    b"v": b"\v",
}


def is_nothing(header: bytes) -> bool:
    """Whether a header line means "no such file": /dev/null, or a time at the epoch."""
    name = header[4:].split(b"\t")[0].rstrip()
    return name == b"/dev/null" or (_EPOCH.search(header) is not None and b" 00:00:00" in header)


def _raw_name(header: bytes) -> bytes:
    text = header[4:].lstrip()
    quoted = _QUOTED.match(text)
    if quoted is not None:

        def unescape(found: re.Match[bytes]) -> bytes:
            code = found[1]
            return bytes([int(code, 8) & 255]) if len(code) == 3 else _LETTERS.get(code, code)

        return _ESCAPE.sub(unescape, quoted[1])
    name = text.split(b"\t")[0].rstrip(b"\r\n")
    return re.sub(rb"(?s)(?<! ) ++\d{4}-\d\d-\d\d .*+", b"", name).rstrip()


def header_name(header: bytes, strip: int) -> str | None:
    """Return the file name in a header line, without `strip` leading components (-1: all)."""
    name = _raw_name(header)
    if not name or name == b"/dev/null":
        return None
    if strip < 0:
        return decode(name.rpartition(b"/")[2]) or None
    for _ in range(strip):
        name = name.partition(b"/")[2].lstrip(b"/") if b"/" in name else b""
        if not name:
            return None
    return decode(name)


def _is_dangerous(name: str) -> bool:
    return name.startswith("/") or ".." in name.split("/")


def choose_name(ctx: CommandContext, patch: FilePatch, strip: int, *, reverse: bool) -> str | None:
    """Return the best of the names in the headers, or None.

    A file that exists is best; then the one with the fewest components, and the shortest.
    """
    headers = [patch.old_header, patch.new_header]
    if patch.index:
        headers.append(b"*** " + patch.index)
    names: list[str] = []
    for header in headers:
        name = header_name(header, strip) if header else None
        if name is None:
            continue
        if _is_dangerous(name):
            ctx.print(f"Ignoring potentially dangerous file name {name}")
            continue
        names.append(name)
    there = [name for name in names if ctx.fs.exists(ctx.path(name))]
    if there:
        return min(there, key=_rank)
    creates = (
        is_nothing(patch.new_header if reverse else patch.old_header)
        or b"new file mode" in patch.git
    )
    hunks = [hunk.reversed() if reverse else hunk for hunk in patch.hunks[:1]]
    changes = any(not hunk.old_lines() or hunk.leaves_nothing() for hunk in hunks)
    if not names or not (creates or changes):
        return None
    if creates or not hunks[0].old_lines():
        return min(names, key=_rank)
    new = header_name(patch.new_header, strip) if patch.new_header else None
    return new if new in names else names[0]


def _rank(name: str) -> tuple[int, int, int]:
    return name.count("/"), len(name.rpartition("/")[2]), len(name)
