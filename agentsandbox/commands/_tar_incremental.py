"""Incremental archives: the snapshot of --listed-incremental, and what of a tree has changed since.

The snapshot is GNU's format 2: a line with the release, the time of the run, then the directories, each with time, device,
inode, name and its entries, all of it in fields that end with NUL. An entry is a letter and a name: Y is in the archive,
N is not, D is a directory.
"""

from __future__ import annotations

import posixpath

from agentsandbox.commands._quoting import quote
from agentsandbox.commands._tar_names import show, show_in_message
from agentsandbox.commands._times import nanoseconds
from agentsandbox.errors import CommandError
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.command import CommandContext
    from agentsandbox.fs.base import Stat

__all__ = ["Directory", "Snapshot", "Tree", "read_dump"]

_HEADING = b"GNU tar-1.34-2\n"
_FATAL = "Error is not recoverable: exiting now"
_FIELDS = 5
_DEVICE = 40
"""All files are on one: the number tells nothing."""


class Directory:
    """A directory as a run knows it. `entries` are letters by names; `found` means that it is still there."""

    __slots__ = ("dev", "entries", "everything", "found", "ino", "mtime", "name", "origin", "renames")

    def __init__(self, name: str, mtime: int, dev: int, ino: int) -> None:
        self.name = name
        self.mtime = mtime
        self.dev = dev
        self.ino = ino
        self.entries: dict[str, str] = {}
        self.everything = False
        """Whether all files in it count as new."""
        self.found = False
        self.origin: Directory | None = None
        """What it was before it got another name."""
        self.renames: list[tuple[str, str]] = []

    def dump(self) -> bytes:
        """The entries as the archive and the snapshot hold them, without the NUL at the end."""
        return encode("".join([f"{code}{name}\0" for name, code in self.entries.items()]))

    def contents(self) -> bytes:
        """What the member of the directory holds."""
        renames = "".join([f"R{old}\0T{new}\0" for old, new in self.renames])
        return self.dump() + encode(renames) + b"\0"


def read_dump(data: bytes) -> list[tuple[str, str]]:
    """The letters and names that the member of a directory holds."""
    return [(decode(entry[:1]), decode(entry[1:])) for entry in data.split(b"\0") if entry]


class Snapshot:
    """The file of --listed-incremental; without a path (-G) nothing is known of earlier runs. Names in it start at `base`."""

    def __init__(self, ctx: CommandContext, path: str | None, base: str, *, fresh: bool) -> None:
        self.ctx = ctx
        self.base = base
        self.path = path
        self.time: int | None = None
        self.directories: dict[str, Directory] = {}
        self.by_inode: dict[tuple[int, int], Directory] = {}
        if path is None:
            return
        try:
            place = ctx.path(path)
            if not ctx.fs.exists(place):
                ctx.fs.open(place, "w", permissions=0o666 & ~ctx.umask).release()
            data = b"" if fresh else ctx.fs.read_bytes(place)
        except OSError as error:
            ctx.warn(f"{show_in_message(path)}: Cannot open: {error.strerror}", 2)
            self.path = None
            return
        if data:
            self._read(data)

    def _read(self, data: bytes) -> None:
        heading, _, rest = data.partition(b"\n")
        if not heading.startswith(b"GNU tar-"):
            raise CommandError(f"{self.path}:1: Invalid time stamp: Invalid argument\ntar: {_FATAL}", 2)
        if not heading.endswith(b"-2"):
            raise CommandError(f"{self.path}: this snapshot's format is not available here: only format 2 is\ntar: {_FATAL}", 2)
        fields = rest.split(b"\0")
        try:
            self.time = int(fields[0]) * 1_000_000_000 + int(fields[1])
            at = 2
            while at + _FIELDS < len(fields):
                self.ctx.budget.step()
                seconds, fraction, dev, ino = map(int, fields[at + 1 : at + _FIELDS])
                directory = Directory(decode(fields[at + _FIELDS]), seconds * 1_000_000_000 + fraction, dev, ino)
                at += _FIELDS + 1
                while fields[at]:
                    directory.entries[decode(fields[at][1:])] = decode(fields[at][:1])
                    at += 1
                at += 2
                self.note(directory)
        except (ValueError, IndexError):
            raise CommandError(f"{self.path}: Unexpected EOF in snapshot file\ntar: {_FATAL}", 2) from None

    def note(self, directory: Directory, path: str | None = None) -> None:
        """Remember a directory by its path and by its inode."""
        place = path or posixpath.normpath(posixpath.join(self.base, directory.name))
        self.directories[place] = directory
        self.by_inode[directory.dev, directory.ino] = directory

    def rename_below(self, old: str, new: str) -> None:
        """What stands below a directory is called by the directory's new name."""
        for directory in self.directories.values():
            self.ctx.budget.step()
            if directory.name.startswith(f"{old}/"):
                directory.name = new + directory.name[len(old) :]

    def write(self, started: int) -> None:
        """Write what the next run needs to know."""
        if self.path is None:
            return
        parts = [_HEADING, b"%d\0%d\0" % divmod(started, 1_000_000_000)]
        for directory in self.directories.values():
            self.ctx.budget.step(1 + len(directory.entries))
            if directory.found:
                numbers = (*divmod(directory.mtime, 1_000_000_000), directory.dev, directory.ino)
                parts.append(b"0\0" + b"".join([b"%d\0" % number for number in numbers]) + encode(directory.name) + b"\0")
                parts.append(directory.dump() + b"\0\0")
        file = self.ctx.fs.open(self.ctx.path(self.path), "w", permissions=0o666 & ~self.ctx.umask)
        file.write(b"".join(parts))
        file.release()


class Tree:
    """All directories below the operands, with what is to be archived of each."""

    def __init__(
        self,
        ctx: CommandContext,
        snapshot: Snapshot,
        *,
        is_old: Callable[[Stat], bool],
        is_excluded: Callable[[str], bool],
        enter: Callable[[str, str], None],
        tell: Callable[[str, str], None],
    ) -> None:
        self.ctx = ctx
        self.snapshot = snapshot
        self.is_old = is_old
        self.is_excluded = is_excluded
        self.enter = enter
        self.tell = tell
        self.names: dict[str, tuple[str, Directory | None]] = {}
        """What is archived first, sorted by name later: the directory each name stands in, and what it is itself."""

    def add(self, name: str, base: str, *, recursive: bool) -> None:
        """An operand, and all directories below it."""
        path = posixpath.join(base, name)
        if self._is_done(path):
            return
        try:
            info = self.ctx.fs.stat(path, follow=False)
        except OSError as error:
            self.ctx.warn(f"{show_in_message(name)}: Cannot stat: {error.strerror}", 2)
            info = None
        if info is None or not info.is_dir:
            self.names[name] = base, None
            return
        directory = self._meet(name, path, info, within=None)
        pending = [(name, directory)]
        while pending:
            self.ctx.budget.step()
            here, directory = pending.pop()
            self.names[here] = base, directory
            pending += self._scan(here, posixpath.join(base, here), directory, recursive=recursive)

    def renamed(self) -> None:
        """The first directory tells of all that have another name now."""
        first = next((directory for _, (_, directory) in sorted(self.names.items()) if directory is not None), None)
        for directory in list(self.snapshot.directories.values()):
            if first is not None and directory.origin is not None:
                first.renames.append((directory.origin.name, directory.name))

    def _meet(self, name: str, path: str, info: Stat, *, within: Directory | None) -> Directory:
        """The directory as the snapshot knows it, or a new one."""
        known = self.snapshot.directories.get(posixpath.normpath(path))
        other = self.snapshot.by_inode.get((_DEVICE, info.ino))
        directory = known
        if directory is None or (directory.dev, directory.ino) != (_DEVICE, info.ino):
            directory = Directory(name, nanoseconds(info.mtime), _DEVICE, info.ino)
            if other is not None and other.name != name:
                self.tell("rename-directory", f"{show_in_message(name)}: Directory has been renamed from {quote(show(other.name))}")
                directory.entries = dict(other.entries)
                directory.origin = other
                self.snapshot.rename_below(other.name, name)
            elif other is not None:
                pass  # it moved with a directory above it
            elif known is not None:
                self.tell("rename-directory", f"{show_in_message(name)}: Directory has been renamed")
                directory.everything = True
            else:
                self.tell("new-directory", f"{show_in_message(name)}: Directory is new")
                directory.everything = self.snapshot.path is not None or self.is_old(info)
            self.snapshot.note(directory, posixpath.normpath(path))
        if within is not None and within.everything:
            directory.everything = True
        directory.name = name
        directory.found = True
        return directory

    def _is_done(self, path: str) -> bool:
        """Whether a directory was met already, by another operand."""
        known = self.snapshot.directories.get(posixpath.normpath(path))
        return known is not None and known.found

    def _scan(self, name: str, path: str, directory: Directory, *, recursive: bool) -> list[tuple[str, Directory]]:
        """Say what is new in a directory; the directories in it that are to be looked at."""
        known = {} if directory.everything else directory.entries
        directory.entries = {}
        below: list[tuple[str, Directory]] = []
        try:
            entries = self.ctx.fs.listdir(path)
        except OSError as error:
            self.ctx.warn(f"{show_in_message(name)}: Cannot open: {error.strerror}", 2)
            return below
        self.enter(name, path)
        for entry in sorted(entries, key=encode):
            self.ctx.budget.step()
            full = posixpath.join(name, entry)
            directory.entries[entry] = "N"
            if self.is_excluded(full):
                continue
            try:
                info = self.ctx.fs.stat(posixpath.join(path, entry), follow=False)
            except OSError:
                continue
            if info.is_dir and self._is_done(posixpath.join(path, entry)):
                continue
            if info.is_dir:
                met = self._meet(full, posixpath.join(path, entry), info, within=directory)
                if recursive:
                    directory.entries[entry] = "D"
                    below.append((full, met))
            elif entry not in known or not self.is_old(info):
                directory.entries[entry] = "Y"
        return below
