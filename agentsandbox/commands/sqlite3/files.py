"""The files of databases: how they are named, what is read and written of them, and the statements
that attach further ones.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext

_BLANKS = r"(?>(?:\s|--[^\n]*|/\*.*?\*/)*)"
_WORD = r"""('(?:[^']|'')*'|"(?:[^"]|"")*"|\[[^\]]*\]|`[^`]*`|\w+)"""
_ATTACH = re.compile(
    rf"(?is){_BLANKS}attach\b{_BLANKS}(?:database\b)?{_BLANKS}{_WORD}{_BLANKS}\bas\b{_BLANKS}{_WORD}[\s;]*"
)
_DETACH = re.compile(rf"(?is){_BLANKS}detach\b{_BLANKS}(?:database\b)?{_BLANKS}{_WORD}[\s;]*")
_VACUUM = re.compile(
    rf"(?is){_BLANKS}vacuum\b{_BLANKS}(?:(?!into\b){_WORD}{_BLANKS})?\binto\b{_BLANKS}{_WORD}[\s;]*"
)
_MODES = ("ro", "rw", "rwc", "memory")


class OpenError(Exception):
    """The database cannot be opened."""

    def __init__(self, name: str, why: str = "unable to open database file") -> None:
        super().__init__(f'unable to open database "{name}": {why}')


class DatabaseFile:
    """A file that holds a database. `name` may be a URI, or ":memory:" or "" for one that is never
    stored. Raises `OpenError`.
    """

    def __init__(self, ctx: CommandContext, name: str, *, read_only: bool = False) -> None:
        self.ctx = ctx
        bare, parameters = _parse_uri(name)
        mode = parameters.get("mode", "")
        if mode and mode not in _MODES:
            raise OpenError(name, f"no such access mode: {mode}")
        self.read_only = read_only or mode == "ro" or parameters.get("immutable") == "1"
        self.path = "" if bare in (":memory:", "") or mode == "memory" else ctx.path(bare)
        self.existed = bool(self.path) and ctx.fs.exists(self.path)
        if self.path and not self.existed:
            if (
                self.read_only
                or mode == "rw"
                or not ctx.fs.is_dir(self.path.rpartition("/")[0] or "/")
            ):
                raise OpenError(name)
        elif self.path and ctx.fs.is_dir(self.path):
            raise OpenError(name)
        self.original = ctx.fs.read_bytes(self.path) if self.existed else b""
        self.logged = self.original[18:20] == b"\2\2"
        """Whether it has a write-ahead log, which a database in memory cannot have."""

    def content(self) -> bytes:
        """What a database in memory can take."""
        return self.original[:18] + b"\1\1" + self.original[20:] if self.logged else self.original

    def store(self, data: bytes) -> None:
        """Write what became of it, if that is anything else."""
        if not self.path or self.read_only:
            return
        if self.logged and data:
            data = data[:18] + b"\2\2" + data[20:]
        if (data and data != self.original) or not self.existed:
            self.ctx.fs.write_bytes(self.path, data, permissions=0o666 & ~self.ctx.umask)


def _parse_uri(name: str) -> tuple[str, dict[str, str]]:
    """(the file, the parameters) of `file:NAME?mode=ro&…`; any other name is a file's."""
    if not name.startswith("file:"):
        return name, {}
    from urllib.parse import unquote_to_bytes  # only URIs need it

    path, _, query = name[5:].partition("#")[0].partition("?")
    if path.startswith("//"):
        path = "/" + path[2:].partition("/")[2]
    pairs = [pair.partition("=") for pair in query.split("&")]
    return decode(unquote_to_bytes(path)), {key: value for key, _, value in pairs}


def _bare(word: str) -> str:
    """A name or a text without its quotes."""
    if word[0] in "'\"`":
        return word[1:-1].replace(word[0] * 2, word[0])
    return word[1:-1] if word[0] == "[" else word


def parse_attach(statement: str) -> tuple[str, str] | None:
    """(the file, the name) of `ATTACH 'FILE' AS NAME`; None for anything else."""
    found = _ATTACH.fullmatch(statement)
    if found is None or found[1][0] not in "'\"":
        return None
    return _bare(found[1]), _bare(found[2])


def parse_vacuum(statement: str) -> tuple[str, str] | None:
    """(the name, the file) of `VACUUM NAME INTO 'FILE'`; None for anything else."""
    found = _VACUUM.fullmatch(statement)
    if found is None or found[2][0] not in "'\"":
        return None
    return _bare(found[1] or "main"), _bare(found[2])


def parse_detach(statement: str) -> str | None:
    """The name in `DETACH NAME`."""
    found = _DETACH.fullmatch(statement)
    return None if found is None else _bare(found[1])
