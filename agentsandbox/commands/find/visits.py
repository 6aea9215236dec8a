"""What a test or an action of `find` is given: the file that is looked at, and where to write."""

from __future__ import annotations

import stat

from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import FileSystem, Stat
    from agentsandbox.kernel.streams import ByteWriter

    Test = Callable[["Visit"], bool]

    class Settings(Protocol):
        """What tests need to know of the search."""

        ctx: CommandContext
        follow: str
        now: float


_BUFFER = 4096
"""Bytes that are held back before they are written, as the C library does when stdout is no
terminal."""
_LINK = stat.S_IFLNK


class Visit:
    """The file that is looked at now; one object for the whole walk."""

    __slots__ = (
        "absolute",
        "depth",
        "directory",
        "follow",
        "fs",
        "kind",
        "known",
        "name",
        "path",
        "prune",
        "top",
    )

    def __init__(self, fs: FileSystem) -> None:
        self.fs = fs
        self.path = ""
        """Its name as it is printed."""
        self.name = ""
        """Its last component."""
        self.absolute = ""
        self.top = ""
        """The starting point below which it was found."""
        self.directory = ""
        """The absolute path of the directory it is in."""
        self.depth = 0
        self.kind = 0
        """Its type, as `stat.S_IFMT` tells it."""
        self.follow = False
        self.prune = False
        self.known: Stat | None = None

    @property
    def info(self) -> Stat:
        """Its `Stat`, read when first asked for."""
        known = self.known
        if known is None:
            known = self.known = self.fs.stat(self.absolute, follow=False)
        return known

    def target(self) -> Stat:
        """The `Stat` of what it points to, its own if it points to nothing."""
        if self.kind != _LINK:
            return self.info
        try:
            return self.fs.stat(self.absolute)
        except FileNotFoundError:
            return self.info


class Output:
    """Where an action writes to."""

    __slots__ = ("parts", "size", "writer")

    def __init__(self, writer: ByteWriter) -> None:
        self.writer = writer
        self.parts: list[str] = []
        self.size = 0

    def write(self, text: str) -> None:
        """Write text, in blocks."""
        self.parts.append(text)
        self.size += len(text)
        if self.size >= _BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write what has been held back."""
        if self.parts:
            text = "".join(self.parts)
            self.parts.clear()
            self.size = 0
            self.writer.write(encode(text))
