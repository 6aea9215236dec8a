"""What `sandbox.files` returns: `FileInfo` describes a file, `Match` a line that a search found."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Kind = Literal["file", "directory", "link", "other"]


class _Value:
    """A frozen value with the fields of `__match_args__`. A dataclass would cost its import."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def _assign(self, *values: object) -> None:
        for name, value in zip(self.__match_args__, values, strict=True):
            object.__setattr__(self, name, value)

    def _fields(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__match_args__}

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Value) or type(other) is not type(self):
            return False
        return self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(tuple(self._fields().values()))

    def __repr__(self) -> str:
        shown = [
            f"{name}={value:#o}" if name == "mode" else f"{name}={value!r}"
            for name, value in self._fields().items()
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


class FileInfo(_Value):
    """A file, directory or link of the sandbox.

    path    absolute
    kind    "file", "directory", "link", or "other" for a device or a named pipe
    size    bytes of a file's content, 0 for everything else
    mode    the permission bits, as in `0o644`
    mtime   the time of the last change, in seconds since the epoch
    target  the text of a link, None for everything else
    """

    __slots__ = ("kind", "mode", "mtime", "path", "size", "target")
    __match_args__ = ("path", "kind", "size", "mode", "mtime", "target")

    if TYPE_CHECKING:
        path: str
        kind: Kind
        size: int
        mode: int
        mtime: float
        target: str | None

    def __init__(
        self,
        path: str,
        kind: Kind,
        *,
        size: int = 0,
        mode: int = 0o644,
        mtime: float = 0.0,
        target: str | None = None,
    ) -> None:
        self._assign(path, kind, size, mode, mtime, target)

    @property
    def name(self) -> str:
        """The last component of the path."""
        return self.path.rstrip("/").rpartition("/")[2] or "/"

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return self.kind == "file"

    @property
    def is_dir(self) -> bool:
        """Whether it is a directory."""
        return self.kind == "directory"

    @property
    def is_link(self) -> bool:
        """Whether it is a symbolic link."""
        return self.kind == "link"


class Match(_Value):
    """A line that a search found.

    path    of the file, absolute
    line    the number of the line, from 1
    text    the line without its newline; bytes that are not UTF-8 show as U+FFFD
    before  the lines directly before it, as many as `context` asked for and the file has
    after   the lines directly after it
    """

    __slots__ = ("after", "before", "line", "path", "text")
    __match_args__ = ("path", "line", "text", "before", "after")

    if TYPE_CHECKING:
        path: str
        line: int
        text: str
        before: tuple[str, ...]
        after: tuple[str, ...]

    def __init__(
        self,
        path: str,
        line: int,
        text: str,
        *,
        before: tuple[str, ...] = (),
        after: tuple[str, ...] = (),
    ) -> None:
        self._assign(path, line, text, before, after)
