"""Paths of files in a repository: which are allowed, how they are printed, pathspecs.

A path in a tree or an index is untrusted: one that leads out of the worktree or into `.git` on any
system that may check it out is refused (`is_safe_path`): "..", ".git" in any case, with the
characters that HFS+ ignores, or in the forms that NTFS takes for it.
"""

from __future__ import annotations

import re

from agentsandbox.git.objects import LINK, is_directory
from agentsandbox.git.patterns import has_glob, wildmatch
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HFS_IGNORED = re.compile(
    rb"\xe2\x80[\x8c-\x8f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf"
)
_HFS_MAY = re.compile(rb"[\xe2\xef]")
_PLAIN = re.compile(rb"[\w.+@,=~/ -]*\Z")
_DOT_GIT = re.compile(rb"(?:\.git|git~1)(?=[. ]*(?:\Z|:))", re.IGNORECASE)
_MODULES = re.compile(
    rb"(?:\.gitmodules|gitmod~[1-4]|gi7eba~[1-9])(?=[. ]*(?:\Z|:))", re.IGNORECASE
)


def is_dot_git(part: bytes) -> bool:
    """Whether a component is `.git`, as some filesystem understands it."""
    if _DOT_GIT.match(part):
        return True
    return bool(_HFS_MAY.search(part)) and _HFS_IGNORED.sub(b"", part).lower() == b".git"


# TM-GIT-1
def is_safe_path(path: bytes, mode: int = 0) -> bool:
    """Whether a path may be in an index or a tree, and be checked out."""
    if not path or path[:1] == b"/" or b"\0" in path:
        return False
    link = mode & 0o170000 == LINK
    for part in path.split(b"/"):
        if part in (b"", b".", b".."):
            return False
        if part[:1] in b".gG\xe2\xef" and (is_dot_git(part) or (link and _is_modules(part))):
            return False
        if b"\\" in part and any(
            is_dot_git(piece) or piece == b".." for piece in part.split(b"\\")
        ):
            return False
        if _HFS_MAY.search(part) and is_dot_git(part):
            return False
    return True


def _is_modules(part: bytes) -> bool:
    return _MODULES.match(part) is not None or (
        bool(_HFS_MAY.search(part))
        and _HFS_IGNORED.sub(b"", part).lower() == b".gitmodules"
    )


# printing

_ESCAPES = {
    7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\",
}  # fmt: skip


def quote_path(path: bytes, *, high: bool = True, spaces: bool = False) -> str:
    """Return a path in C's quotation marks if it has special characters (core.quotePath)."""
    if _PLAIN.match(path) and path.isascii() and not (spaces and b" " in path):
        return decode(path)
    out: list[str] = []
    special = spaces and b" " in path
    plain = bytearray()

    def put() -> None:
        out.append(decode(bytes(plain)))
        plain.clear()

    for byte in path:
        if byte in _ESCAPES:
            put()
            out.append(_ESCAPES[byte])
            special = True
        elif byte < 32 or byte == 127 or (byte > 127 and high):
            put()
            out.append(f"\\{byte:03o}")
            special = True
        else:
            plain.append(byte)
    put()
    text = "".join(out)
    return f'"{text}"' if special else text


def unquote_path(text: bytes) -> bytes:
    """Return the path that `quote_path` wrote."""
    if not (len(text) > 1 and text.startswith(b'"') and text.endswith(b'"')):
        return text
    back = {escape[1]: byte for byte, escape in _ESCAPES.items()}

    def plain(found: re.Match[bytes]) -> bytes:
        digits = found[1]
        if digits[0] in b"01234567":
            return bytes([int(digits, 8) & 255])
        return bytes([back.get(decode(digits), digits[0])])

    return re.sub(rb"\\([0-7]{1,3}|.)", plain, text[1:-1])


_QUOTED = re.compile(rb'"((?:[^"\\]|\\(?:[0-3][0-7]{2}|[abfnrtv"\\]))*+)"')


def unquote_prefix(text: bytes) -> tuple[bytes, int] | None:
    """Return what a text in quotes at the beginning means, and its length; None for a bad one."""
    found = _QUOTED.match(text)
    return None if found is None else (unquote_path(found[0]), found.end())


def relative_to(path: bytes, prefix: bytes) -> bytes:
    """Return a path of the worktree as seen from a directory (`prefix`, with a final "/")."""
    if not prefix:
        return path
    if path.startswith(prefix) and path != prefix:
        return path[len(prefix) :]
    here, there = prefix.rstrip(b"/").split(b"/"), path.split(b"/")
    same = 0
    while same < len(here) and same < len(there) - 1 and here[same] == there[same]:
        same += 1
    rest = b"/".join(there[same:])
    return b"../" * (len(here) - same) + rest or b"./"


# pathspecs


class PathspecItem:
    """One pattern of a pathspec."""

    __slots__ = (
        "excludes",
        "given",
        "glob",
        "icase",
        "literal",
        "matched",
        "path",
        "prefix_length",
    )

    def __init__(self, given: str, path: bytes, magic: set[str], special: bool) -> None:
        self.given = given
        self.path = path
        """From the top of the worktree, without final "/" unless only directories match."""
        self.excludes = "exclude" in magic
        self.icase = "icase" in magic
        self.glob = "glob" in magic
        self.literal = not special or not has_glob(path)
        self.matched = False

    def matches(self, path: bytes, is_dir: bool = False) -> bool:
        """Whether it matches a path, or a directory above it."""
        own = self.path
        if self.icase:
            own, path = own.lower(), path.lower()
        only_directory = own.endswith(b"/")
        bare = own.rstrip(b"/")
        if not bare:
            return True
        if path == bare:
            return not only_directory or is_dir
        if path.startswith(bare) and path[len(bare) : len(bare) + 1] == b"/":
            return True
        return not self.literal and wildmatch(own, path, pathname=self.glob, ignore_case=self.icase)

    def may_be_below(self, folder: bytes) -> bool:
        """Whether it may match something in a directory."""
        own = self.path.rstrip(b"/")
        if self.icase:
            own, folder = own.lower(), folder.lower()
        if not own or own == folder or folder.startswith(own + b"/"):
            return True
        if own.startswith(folder + b"/"):
            return True
        if self.literal:
            return False
        fixed = re.split(rb"[*?\[\\]", own, maxsplit=1)[0]
        return fixed.startswith(folder + b"/") or (folder + b"/").startswith(fixed)


class Pathspec:
    """The pathspecs of a command line. An empty one matches everything."""

    def __init__(self, items: Sequence[PathspecItem] = ()) -> None:
        self.items = [item for item in items if not item.excludes]
        self.excluded = [item for item in items if item.excludes]

    def __bool__(self) -> bool:
        return bool(self.items or self.excluded)

    def matches(self, path: bytes, is_dir: bool = False) -> bool:
        """Whether a path is meant; each item that matches is noted."""
        if self.items:
            found = False
            for item in self.items:
                if item.matches(path, is_dir):
                    item.matched = True
                    found = True
            if not found:
                return False
        return not any(item.matches(path, is_dir) for item in self.excluded)

    def may_be_below(self, folder: bytes) -> bool:
        """Whether something in a directory may be meant."""
        return not self.items or any(item.may_be_below(folder) for item in self.items)

    def covers(self, folder: bytes) -> bool:
        """Whether a directory itself, or one above it, is named."""
        return not self.items or any(item.matches(folder, True) for item in self.items)

    def unmatched(self) -> PathspecItem | None:
        """Return the first item that matched nothing so far."""
        return next((item for item in self.items if not item.matched), None)


def mode_text(mode: int) -> str:
    """Return the six digits of a mode."""
    return f"{mode:06o}"


def kind_of_mode(mode: int) -> str:
    """Return the type of the object that an entry with a mode names."""
    if is_directory(mode):
        return "tree"
    return "commit" if mode & 0o170000 == 0o160000 else "blob"
