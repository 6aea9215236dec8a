"""From a path to a node, the way a kernel walks: link by link, "..", mounts and search permission included."""

from __future__ import annotations

import errno

from agentsandbox.fs.base import MAX_LINKS, NAME_MAX, PATH_MAX, FileSystem, os_error
from agentsandbox.fs.nodes import DIR, GRAFT, HARD, LINK, MOUNT, Dir, Inner
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.fs.nodes import Entry, Graft, Mount, Node, Plain

__all__ = ["Place", "Tree"]

CACHED = 4096
"""Directories whose resolution is remembered."""
_LONG = 900  # a cached directory and a name stay below PATH_MAX without being measured


class Place:
    """Where a path leads: the directories passed on the way (root first), the last name, and what is there.

    `name` is "" when the path ends in ".", ".." or the root; `node` is None when there is nothing; `entry` is what
    stands in the directory (a mount or one name of a hard link, where `node` is what is behind it).
    """

    __slots__ = ("entry", "mount", "must_be_dir", "name", "names", "node", "stack")

    def __init__(
        self,
        stack: list[Dir | Inner],
        names: list[str],
        name: str,
        node: Node | None,
        entry: Entry | None,
        mount: Graft | Mount | None,
        must_be_dir: bool,  # noqa: FBT001
    ) -> None:
        self.stack = stack
        self.names = names
        self.name = name
        self.node = node
        self.entry = entry
        self.mount = mount
        self.must_be_dir = must_be_dir

    @property
    def path(self) -> str:
        """The canonical path."""
        return "/" + "/".join([*self.names, self.name] if self.name else self.names)


class Tree(FileSystem):
    """The part of `MemoryFileSystem` that finds things."""

    __slots__ = ("_dirs", "_hard", "_root", "_uid")

    _root: Dir
    _hard: dict[int, Plain]
    _dirs: dict[str, Dir]
    _uid: int

    def _may(self, node: Dir | Plain, bits: int) -> bool:
        """Whether the user has these permissions: 4 read, 2 write, 1 search or execute."""
        uid = self._uid
        if uid == 0:
            return bits != 1 or node.kind == DIR or node.mode & 0o111 != 0
        return (node.mode >> 6 if node.uid == uid else node.mode) & bits == bits

    def _directory(self, path: str, whole: str) -> Dir | Inner:
        """The directory at `path` ("" is the root), remembered when it is one of ours; `whole` is for the error."""
        if not path:
            node: Node | None = self._root
        else:
            node = self._walk(path, whole=whole).node
        if node is None:
            raise os_error(errno.ENOENT, whole)
        if isinstance(node, Inner):
            if not node.info.is_dir:
                raise os_error(errno.ENOTDIR, whole)
            return node
        if node.kind != DIR:
            raise os_error(errno.ENOTDIR, whole)
        assert isinstance(node, Dir)
        if not self._may(node, 1):
            raise os_error(errno.EACCES, whole)
        if len(path) < _LONG:
            if len(self._dirs) >= CACHED:
                self._dirs.clear()
            self._dirs[path] = node
        return node

    def _find(self, path: str, *, follow: bool = True) -> Node:
        """The node at a path; ENOENT when there is none."""
        cut = path.rfind("/")
        directory = self._dirs.get(path[:cut])
        if directory is None and cut >= 0 and path[cut + 1 :] not in _SPECIAL and len(path) < _LONG:
            found = self._directory(path[:cut], path)
            directory = found if type(found) is Dir else None
        if directory is not None:
            entry = directory.entries.get(path[cut + 1 :])
            if entry is not None:
                kind = entry.kind
                if kind < LINK or (kind == LINK and not follow):
                    return entry  # type: ignore[return-value]
        node = self._walk(path, follow=follow).node
        if node is None:
            raise os_error(errno.ENOENT, path)
        return node

    def _walk(self, path: str, *, follow: bool = True, whole: str | None = None) -> Place:
        """Walk all of `path`. Only the last component may be missing; of a link there, follow=False tells of itself."""
        whole = path if whole is None else whole
        _check_length(path, whole)
        todo = [part for part in path.split("/") if part][::-1]
        must_be_dir = path.endswith("/")
        stack: list[Dir | Inner] = [self._root]
        names: list[str] = []
        mounts: list[tuple[int, Graft | Mount]] = []
        hops = 0
        while todo:
            part = todo.pop()
            here = stack[-1]
            if type(here) is Dir and not self._may(here, 1):
                raise os_error(errno.EACCES, whole)
            if part == ".":
                continue
            if part == "..":
                if names:
                    stack.pop()
                    names.pop()
                    while mounts and mounts[-1][0] >= len(stack):
                        mounts.pop()
                continue
            entry, node = self._child(here, part, whole)
            if node is None:
                if not todo:
                    return Place(stack, names, part, None, None, mounts[-1][1] if mounts else None, must_be_dir)
                raise os_error(errno.ENOENT, whole)
            if node.kind == LINK and (todo or follow or must_be_dir):
                hops += 1
                if hops > MAX_LINKS:
                    raise os_error(errno.ELOOP, whole)
                text: str = node.text  # type: ignore[union-attr]
                if not text:
                    raise os_error(errno.ENOENT, whole)
                if text.startswith("/"):
                    del stack[1:], names[:], mounts[:]
                if not todo and text.endswith("/"):
                    must_be_dir = True
                todo.extend([piece for piece in text.split("/") if piece][::-1])
                continue
            is_dir = node.kind == DIR or (type(node) is Inner and node.info.is_dir)
            if not todo:
                if must_be_dir and not is_dir:
                    raise os_error(errno.ENOTDIR, whole)
                return Place(stack, names, part, node, entry, mounts[-1][1] if mounts else None, must_be_dir)
            if not is_dir:
                raise os_error(errno.ENOTDIR, whole)
            if entry is not None and (entry.kind == GRAFT or entry.kind == MOUNT):
                mounts.append((len(stack), entry))  # type: ignore[arg-type]
            stack.append(node)  # type: ignore[arg-type]
            names.append(part)
        return Place(stack, names, "", stack[-1], None, mounts[-1][1] if mounts else None, must_be_dir=True)

    def _child(self, here: Dir | Inner, name: str, whole: str) -> tuple[Entry | None, Node | None]:
        """(what stands in the directory under a name, the node behind it)."""
        if type(here) is Inner:
            path = here.child(name)
            try:
                return None, Inner(here.filesystem, path, here.filesystem.stat(path, follow=False))
            except OSError as error:
                if error.errno == errno.ENOENT:
                    return None, None
                raise os_error(error.errno or errno.EIO, whole) from None
        entry = here.entries.get(name)  # type: ignore[union-attr]
        if entry is None:
            if len(name) > 63 and len(encode(name)) > NAME_MAX:
                raise os_error(errno.ENAMETOOLONG, whole)
            return None, None
        kind = entry.kind
        if kind == HARD:
            return entry, self._hard[entry.number]  # type: ignore[union-attr]
        if kind == GRAFT:
            return entry, entry.root  # type: ignore[union-attr]
        if kind == MOUNT:
            filesystem: FileSystem = entry.filesystem  # type: ignore[union-attr]
            try:
                return entry, Inner(filesystem, "/", filesystem.stat("/"))
            except OSError as error:
                raise os_error(error.errno or errno.EIO, whole) from None
        return entry, entry  # type: ignore[return-value]


_SPECIAL = frozenset(("", ".", ".."))


def _check_length(path: str, whole: str) -> None:
    if not path:
        raise os_error(errno.ENOENT, whole)
    if len(path) >= PATH_MAX // 4 and len(encode(path)) >= PATH_MAX:
        raise os_error(errno.ENAMETOOLONG, whole)
