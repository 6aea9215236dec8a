"""The arguments of a test or an action of `find`: the visited file, and the outputs."""

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
        """The options of the search that tests depend on."""

        ctx: CommandContext
        follow: str
        now: float


_BUFFER = 4096
"""The size of the buffer, as that of the C library when stdout is not a terminal."""
_LINK = stat.S_IFLNK


class Visit:
    """The file that the walk is at; one object for the whole walk."""

    __slots__ = (
        "absolute", "depth", "directory", "fs", "kind", "known", "name", "path", "prune", "top",
    )  # fmt: skip

    def __init__(self, fs: FileSystem) -> None:
        self.fs = fs
        self.path = ""
        """Its path as it is printed."""
        self.name = ""
        """Its last component."""
        self.absolute = ""
        self.top = ""
        """The starting point above it."""
        self.directory = ""
        """The absolute path of its directory."""
        self.depth = 0
        self.kind = 0
        """Its type, as `stat.S_IFMT` returns it."""
        self.prune = False
        self.known: Stat | None = None

    @property
    def info(self) -> Stat:
        """Its `Stat`, read on the first access."""
        known = self.known
        if known is None:
            known = self.known = self.fs.stat(self.absolute, follow=False)
        return known

    def target(self) -> Stat:
        """Return the `Stat` of its target, or its own if there is none."""
        if self.kind != _LINK:
            return self.info
        try:
            return self.fs.stat(self.absolute)
        except FileNotFoundError:
            return self.info


class Output:
    """The output of an action, written in blocks."""

    __slots__ = ("parts", "size", "writer")

    def __init__(self, writer: ByteWriter) -> None:
        self.writer = writer
        self.parts: list[str] = []
        self.size = 0

    def write(self, text: str) -> None:
        """Add text; write a block if it is full."""
        self.parts.append(text)
        self.size += len(text)
        if self.size >= _BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write the text in the buffer."""
        if self.parts:
            text = "".join(self.parts)
            self.parts.clear()
            self.size = 0
            self.writer.write(encode(text))
