"""The files of databases, and the statements that attach further ones."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext

_BLANKS = r"(?>(?:\s|--[^\n]*|/\*.*?\*/)*)"
_WORD = r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`|\w+)"""
_ATTACH = re.compile(
    rf"(?is){_BLANKS}attach\b{_BLANKS}(?:database\b)?{_BLANKS}{_WORD}"
    rf"{_BLANKS}\bas\b{_BLANKS}{_WORD}[\s;]*"
)
_DETACH = re.compile(rf"(?is){_BLANKS}detach\b{_BLANKS}(?:database\b)?{_BLANKS}{_WORD}[\s;]*")


class OpenError(Exception):
    """The database cannot be opened."""

    def __init__(self, name: str, why: str = "unable to open database file") -> None:
        super().__init__(f'unable to open database "{name}": {why}')


class DatabaseFile:
    """A file that holds a database, not stored if named ":memory:" or "". Raises `OpenError`."""

    def __init__(self, ctx: CommandContext, name: str, *, read_only: bool = False) -> None:
        self.ctx = ctx
        if name.startswith("file:"):
            raise OpenError(name, "URIs are not available here")
        self.read_only = read_only
        self.path = "" if name in (":memory:", "") else ctx.path(name)
        self.existed = bool(self.path) and ctx.fs.exists(self.path)
        if self.path and not self.existed:
            if read_only or not ctx.fs.is_dir(self.path.rpartition("/")[0] or "/"):
                raise OpenError(name)
        elif self.path and ctx.fs.is_dir(self.path):
            raise OpenError(name)
        self.original = ctx.fs.read_bytes(self.path) if self.existed else b""
        self.logged = self.original[18:20] == b"\2\2"
        """Whether its header asks for a write-ahead log, which a database in memory cannot have."""

    def content(self) -> bytes:
        """Return the content as a database in memory can take it."""
        return self.original[:18] + b"\1\1" + self.original[20:] if self.logged else self.original

    def store(self, data: bytes) -> None:
        """Write the new content, if it differs."""
        if not self.path or self.read_only:
            return
        if self.logged and data:
            data = data[:18] + b"\2\2" + data[20:]
        if (data and data != self.original) or not self.existed:
            self.ctx.fs.write_bytes(self.path, data, permissions=0o666 & ~self.ctx.umask)


def _bare(word: str) -> str:
    """Return a name or a text without its quotes."""
    if word[0] in "'\"`":
        return word[1:-1].replace(word[0] * 2, word[0])
    return word[1:-1] if word[0] == "[" else word


def parse_attach(statement: str) -> tuple[str, str] | None:
    """Return (file, name) of `ATTACH 'FILE' AS NAME`, None for any other statement."""
    found = _ATTACH.fullmatch(statement)
    if found is None or found[1][0] not in "'\"":
        return None
    return _bare(found[1]), _bare(found[2])


def parse_detach(statement: str) -> str | None:
    """Return the name in `DETACH NAME`, None for any other statement."""
    found = _DETACH.fullmatch(statement)
    return None if found is None else _bare(found[1])
