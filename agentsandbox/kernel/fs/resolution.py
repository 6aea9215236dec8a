"""From a path to a node, as a kernel walks: links, "..", mounts and search permissions."""

from __future__ import annotations

import errno
from _thread import get_ident

from agentsandbox.kernel.fs.base import (
    MAX_LINKS,
    MAX_STEPS,
    NAME_MAX,
    PATH_MAX,
    FileSystem,
    os_error,
)
from agentsandbox.kernel.fs.nodes import (
    DIR,
    FILE,
    GRAFT,
    HARD,
    LINK,
    MOUNT,
    Dir,
    Inner,
    InnerLink,
    Mount,
    SharedTree,
)
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.fs.nodes import Entry, Node, Own, Plain

SPECIAL = frozenset(("", ".", ".."))
"""Path components that are not names."""

_INNER_STEPS = 10
"""Steps for a look into a mounted filesystem: up to some ten microseconds."""
_CACHED = 4096  # directories whose resolution is remembered
_SHORT = 64  # a name of fewer characters is never too long
# below this length a cached directory and a name stay within PATH_MAX without being measured
_LONG = 900

DESCRIPTORS = ("/dev/fd/", "/dev/std", "/proc/self/fd/")
"""What the paths of open descriptors begin with."""


class Place:
    """Where a path leads: the directories on the way (root first), the last name, its node.

    name     the last name, "" for a path that ends in "." or ".." or is the root
    entry    what the directory holds: a mount, or one name of a hard link
    node     what is behind `entry`; None if there is nothing
    slashed  whether the path requires a directory
    """

    __slots__ = ("_mounts", "entry", "name", "names", "node", "slashed", "stack")

    def __init__(self, root: Dir, *, slashed: bool) -> None:
        self.stack: list[Dir | Inner] = [root]
        self.names: list[str] = []
        self.name = ""
        self.node: Node | None = None
        self.entry: Entry | None = None
        self.slashed = slashed
        self._mounts: list[tuple[int, SharedTree | Mount]] = []

    @property
    def path(self) -> str:
        """Return the canonical path."""
        return "/" + "/".join([*self.names, self.name] if self.name else self.names)

    @property
    def mount(self) -> SharedTree | Mount | None:
        """Return the innermost mount on the way, or None."""
        return self._mounts[-1][1] if self._mounts else None

    def enter(self, name: str, entry: Entry | None, node: Dir | Inner) -> None:
        """Go down into a directory by the name that it has here."""
        if type(entry) is SharedTree or type(entry) is Mount:
            self._mounts.append((len(self.stack), entry))
        self.stack.append(node)
        self.names.append(name)

    def leave(self) -> None:
        """Go up; the root is its own parent."""
        if self.names:
            self.stack.pop()
            self.names.pop()
            while self._mounts and self._mounts[-1][0] >= len(self.stack):
                self._mounts.pop()

    def restart(self) -> None:
        """Go back to the root."""
        del self.stack[1:], self.names[:], self._mounts[:]


class Tree(FileSystem):
    """The part of `MemoryFileSystem` that finds nodes."""

    __slots__ = ("_dirs", "_hard", "_root", "_uid", "maker", "pay", "script_thread")

    pay: Callable[[int], None] | None
    """Draws steps on the budget of the running script; None while none runs."""
    script_thread: int
    """The thread that runs a script, 0 while only the host uses the filesystem."""
    _root: Dir
    _hard: dict[int, Plain]
    _dirs: dict[str, Dir]
    """Directories by path, links resolved and search permission checked."""
    _uid: int
    """The user whose permissions are checked."""
    maker: int
    """The owner of what is created."""

    # TM-TIME-6
    def _pay(self) -> None:
        """Charge a call into a mounted filesystem, which takes longer than one into this.

        Opening a file costs as much: whoever does it does something with the file.
        """
        if self.pay is not None and self.script_thread == get_ident():
            self.pay(_INNER_STEPS)

    def _may(self, node: Own, bits: int) -> bool:
        """Whether the user has these permissions: 4 read, 2 write, 1 search or execute."""
        uid = self._uid
        if uid == 0:
            return bits != 1 or node.kind == DIR or node.mode & 0o111 != 0
        return (node.mode >> 6 if node.uid == uid else node.mode) & bits == bits

    def _directory(self, path: str, whole: str) -> Dir | Inner:
        """Return the directory at `path` ("" is the root), cached if ours; errors name `whole`."""
        if self._uid != self.maker:  # only what the user may pass through too is remembered
            uid, self._uid = self._uid, self.maker
            try:
                return self._directory(path, whole)
            except OSError:
                pass
            finally:
                self._uid = uid
        node = self._walk(path, whole).node if path else self._root
        if node is None:
            raise os_error(errno.ENOENT, whole)
        if isinstance(node, Inner) and node.info.is_dir:
            return node
        if not isinstance(node, Dir):
            raise os_error(errno.ENOTDIR, whole)
        if not self._may(node, 1):
            raise os_error(errno.EACCES, whole)
        if len(path) < _LONG and self._uid == self.maker:
            if len(self._dirs) >= _CACHED:
                self._dirs.clear()
            self._dirs[path] = node
        return node

    def _remember(self, path: str) -> None:
        """Cache the directory of a path."""
        cut = path.rfind("/")
        if path[cut + 1 :] not in SPECIAL and cut >= 0:
            self._directory(path[:cut], path)

    def _find(self, path: str, *, follow: bool = True) -> Node:
        """Return the node at a path, or raise ENOENT."""
        if len(path) >= PATH_MAX:
            raise os_error(errno.ENAMETOOLONG, path)
        cut = path.rfind("/")
        name = path[cut + 1 :]
        directory: Dir | Inner | None = self._dirs.get(path[:cut])
        if directory is None and name not in SPECIAL and 0 <= cut < _LONG:
            directory = self._directory(path[:cut], path)
        if type(directory) is Dir:
            entry = directory.entries.get(name)
            if entry is None:
                if name not in SPECIAL:
                    raise missing(name, path)
            elif entry.kind == FILE or entry.kind == DIR or (entry.kind == LINK and not follow):
                return entry
            elif entry.kind == HARD and (not follow or self._hard[entry.number].kind != LINK):
                return self._hard[entry.number]
        node = self._walk(path, follow=follow).node
        if node is None:
            raise os_error(errno.ENOENT, path)
        return node

    def _walk(self, path: str, whole: str | None = None, *, follow: bool = True) -> Place:
        """Walk `path`: only its last component may be missing; a link there needs `follow`."""
        if whole is None:
            whole = path
        _check_length(path, whole)
        todo = [part for part in path.split("/") if part][::-1]
        place = Place(self._root, slashed=path.endswith("/"))
        stack = place.stack
        hops = steps = 0
        while todo:
            name = todo.pop()
            here = stack[-1]
            if type(here) is Dir and not self._may(here, 1):
                raise os_error(errno.EACCES, whole)
            if name == ".":
                continue
            if name == "..":
                place.leave()
                continue
            entry, node = self._child(here, name, whole)
            if node is None:
                if todo:
                    raise os_error(errno.ENOENT, whole)
                place.name = name
                break
            if node.kind == LINK and (todo or follow or place.slashed):
                hops += 1
                text = _link_text(node.text, hops, whole)
                steps += len(text) // 2
                if steps > MAX_STEPS:
                    raise os_error(errno.ELOOP, whole)
                if text.startswith("/"):
                    place.restart()
                if not todo and text.endswith("/"):
                    place.slashed = True
                todo.extend([piece for piece in text.split("/") if piece][::-1])
                continue
            directory = (
                node if type(node) is Dir or (type(node) is Inner and node.info.is_dir) else None
            )
            if directory is None and (todo or place.slashed):
                raise os_error(errno.ENOTDIR, whole)
            if directory is None or not todo:
                place.name, place.node, place.entry = name, node, entry
                break
            place.enter(name, entry, directory)
        else:
            place.node = stack[-1]
            place.slashed = True
        return place

    def _child(self, here: Dir | Inner, name: str, whole: str) -> tuple[Entry | None, Node | None]:
        """Return the entry of a name in a directory, and the node behind it."""
        if type(here) is Inner:
            self._pay()
            return None, _inner(here.filesystem, here.child(name), whole)
        assert type(here) is Dir
        entry = here.entries.get(name)
        if entry is None:
            error = missing(name, whole)
            if error.errno != errno.ENOENT:
                raise error
            return None, None
        if entry.kind == HARD:
            return entry, self._hard[entry.number]
        if entry.kind == GRAFT:
            return entry, entry.root
        if entry.kind == MOUNT:
            self._pay()
            return entry, _inner(entry.filesystem, "/", whole)
        return entry, entry


def is_ordinary(name: str) -> bool:
    """Whether it is a name, and certainly not too long."""
    return len(name) < _SHORT and name not in SPECIAL and "\0" not in name


def missing(name: str, whole: str) -> OSError:
    """Return ENOENT, or ENAMETOOLONG for a name that no directory can hold."""
    size = len(name)
    too_long = size > NAME_MAX or (size > NAME_MAX // 4 and len(encode(name)) > NAME_MAX)
    return os_error(errno.ENAMETOOLONG if too_long else errno.ENOENT, whole)


def _inner(filesystem: FileSystem, path: str, whole: str) -> Inner | InnerLink | None:
    """Return what a mounted filesystem has at one of its paths, or None."""
    try:
        info = filesystem.stat(path, follow=False)
    except OSError as error:
        if error.errno == errno.ENOENT:
            return None
        raise os_error(error.errno or errno.EIO, whole) from None
    return InnerLink(filesystem, path, info) if info.is_link else Inner(filesystem, path, info)


def _link_text(text: str, hops: int, whole: str) -> str:
    if hops > MAX_LINKS:
        raise os_error(errno.ELOOP, whole)
    if not text:
        raise os_error(errno.ENOENT, whole)
    return text


def _check_length(path: str, whole: str) -> None:
    if not path:
        raise os_error(errno.ENOENT, whole)
    size = len(path)  # a character has at least one byte
    if size >= PATH_MAX or (size >= PATH_MAX // 4 and len(encode(path)) >= PATH_MAX):
        raise os_error(errno.ENAMETOOLONG, whole)
