"""Members: files, directories and links with relative paths, on their way in or out.

Nothing that comes in is trusted. Nor is what goes out, because a script may have made it. Three
rules hold for every source and every target.

* A path is relative, has no ".." and no empty component, and nothing but a directory has anything
  below it. So writing members one by one never leads anywhere but below the top, as long as the
  writer follows no link on the way.
* A link leads to a place below the top (`stays_inside`). Its text alone decides: ".." is allowed at
  its beginning only, where the directory that it counts from is known. Behind a name it would count
  from wherever that name leads: `s -> .` and `l -> s/../x` look harmless one by one and lead out
  together. The names in a text may be links, but they obey the same rule, so every step of the way
  stays inside.
* `Room` counts what is read while it is read: the members, the bytes of each and of all of them. A
  declared size is refused before the content is read, and content beyond its declared size is
  refused too.
"""

from __future__ import annotations

import errno
import os

from agentsandbox.kernel.fs.base import NAME_MAX, PATH_MAX
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from agentsandbox.limits import Limits

    MemberKind = Literal["file", "directory", "link"]

_LATEST = 1 << 34
"""Seconds since the epoch beyond which a time is taken for damaged."""


class Member:
    """A file, directory or link on its way in or out.

    path     relative to the top, "a/b"
    content  of a file; empty while what is to be written out has not been read
    text     of a link
    mode     the nine permission bits
    mtime    seconds since the epoch
    """

    __slots__ = ("content", "kind", "mode", "mtime", "path", "text")

    def __init__(
        self,
        path: str,
        kind: MemberKind,
        *,
        mode: int = 0o644,
        mtime: float = 0.0,
        content: bytes = b"",
        text: str = "",
    ) -> None:
        self.path = path
        self.kind: MemberKind = kind
        self.mode = mode & 0o777
        self.mtime = mtime
        self.content = content
        self.text = text

    def __repr__(self) -> str:
        return f"Member({self.path!r}, {self.kind!r}, mode={self.mode:#o})"


class Room:
    """How much may still come in: what the limits allow at most, not what is free."""

    __slots__ = ("_bytes", "_file_bytes", "_names")

    def __init__(self, limits: Limits) -> None:
        self._bytes = limits.total_bytes
        self._names = limits.files
        self._file_bytes = limits.file_bytes

    def take(self, path: str, size: int = 0) -> None:
        """Count a name and `size` bytes. Raises EFBIG for a large file, ENOSPC for too much."""
        if size > self._file_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        self._names -= 1
        self._bytes -= size
        if self._names < 0 or self._bytes < 0:
            raise too_much(path)


def too_much(path: str) -> OSError:
    """Return the error for more names or bytes than the limits allow."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


def clean_path(name: str) -> str | None:
    """Return a member's path without "." and extra slashes; None for an unsafe or long name."""
    if name.startswith("/") or "\0" in name or len(encode(name)) >= PATH_MAX:
        return None
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts or any(
        len(part) > NAME_MAX // 4 and len(encode(part)) > NAME_MAX for part in parts
    ):
        return None
    return "/".join(parts)


def above(path: str) -> Iterator[str]:
    """Yield the directories that a relative path passes through, the nearest first."""
    while path := path.rpartition("/")[0]:
        yield path


# TM-MOUNT-5
def stays_inside(path: str, text: str) -> bool:
    """Whether a link at `path` that says `text` leads to a place below the top."""
    parts = [part for part in text.split("/") if part not in ("", ".")]
    up = 0
    while up < len(parts) and parts[up] == "..":
        up += 1
    return (
        text != ""
        and not text.startswith("/")
        and "\0" not in text
        and up <= path.count("/")
        and ".." not in parts[up:]
    )


def as_time(seconds: float) -> float:
    """Return a time that was read from outside, 0 for one that cannot be right."""
    return seconds if 0 <= seconds < _LATEST else 0.0


def special_file(path: str) -> OSError:
    """Return the error for a device, a named pipe or a socket where a file is needed."""
    return OSError(errno.EINVAL, "Not a regular file", path)
