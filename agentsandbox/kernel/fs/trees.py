"""Immutable trees, built once and shared by any number of sandboxes."""

from __future__ import annotations

import posixpath

from agentsandbox.kernel.fs.nodes import DIR, FILE, LINK, Device, Dir, File, Link
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentsandbox.kernel.fs.nodes import Entry


class FrozenTree:
    """A tree that no filesystem owns; `nodes` and `size` (bytes) exclude the root."""

    __slots__ = ("nodes", "root", "size")

    def __init__(self, root: Dir) -> None:
        self.root = root
        self.nodes = self.size = 0
        pending = [root]
        while pending:
            entries = pending.pop().entries.values()
            self.nodes += len(entries)
            for entry in entries:
                if entry.kind == FILE:
                    self.size += len(entry.data)
                elif entry.kind == DIR:
                    pending.append(entry)
                elif entry.kind == LINK:
                    self.size += len(encode(entry.text))

    def _entries(self) -> Iterator[tuple[str, Entry]]:
        pending = [("", self.root)]
        while pending:
            path, directory = pending.pop()
            for name, entry in directory.entries.items():
                yield f"{path}/{name}", entry
                if entry.kind == DIR:
                    pending.append((f"{path}/{name}", entry))

    def files(self) -> dict[str, bytes]:
        """Return the content of every regular file by its absolute path."""
        return {path: bytes(entry.data) for path, entry in self._entries() if entry.kind == FILE}


def build_tree(
    files: Mapping[str, bytes | tuple[bytes, int]],
    *,
    mtime: float = 0.0,
    uid: int = 0,
    links: Mapping[str, str] | None = None,
    directories: Mapping[str, int] | None = None,
    devices: Mapping[str, str] | None = None,
    owners: Mapping[str, int] | None = None,
) -> FrozenTree:
    """Build a tree of `files` (path → content, or content and permissions), with their parents.

    links        path → target of the symbolic link
    directories  path → permissions, for directories that are empty or not 0755
    devices      path → the name of the device
    owners       path of a directory → an owner other than `uid`
    """
    root = Dir(None, 0o040755, mtime, uid)
    for path, mode in (directories or {}).items():
        _make(root, path, mtime, uid).mode = 0o040000 | mode
    latest, here = "", root
    for path, given in files.items():
        content, mode = given if isinstance(given, tuple) else (given, 0o644)
        parent, name = _split(path)
        if parent != latest:  # most files stand beside the one before
            latest, here = parent, _make(root, parent, mtime, uid)
        here.entries[name] = File(None, 0o100000 | mode, mtime, uid, bytes(content))
    for path, text in (links or {}).items():
        parent, name = _split(path)
        _make(root, parent, mtime, uid).entries[name] = Link(None, text, mtime, uid)
    for path, device in (devices or {}).items():
        parent, name = _split(path)
        _make(root, parent, mtime, uid).entries[name] = Device(None, device, mtime, uid)
    for path, owner in (owners or {}).items():
        _make(root, path, mtime, uid).uid = owner
    return FrozenTree(root)


def _split(path: str) -> tuple[str, str]:
    if path[:1] == "/" and "//" not in path and "/." not in path:
        parent, _, name = path.rpartition("/")
    else:
        parent, name = posixpath.split(posixpath.normpath(path))
    if name in ("", ".") or ".." in path.split("/") or "\0" in path:
        raise ValueError(f"not the path of a file: {path!r}")
    return parent, name


def _make(root: Dir, path: str, mtime: float, uid: int) -> Dir:
    """Return the directory at a path, made if it is missing."""
    here = root
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part == "..":
            raise ValueError(f"a path of a tree leaves it: {path!r}")
        entry = here.entries.get(part)
        if entry is None:
            entry = here.entries[part] = Dir(None, 0o040755, mtime, uid)
            here.links += 1
        if not isinstance(entry, Dir):
            raise ValueError(f"{part!r} of {path!r} is a file and a directory")
        here = entry
    return here
