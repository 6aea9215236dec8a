"""WASI preview 1 over a sandbox: what each of the guest's system calls does.

Every call arrives in the guest's own thread with numbers only. `System` checks addresses and
descriptors, and answers at once what concerns nobody else: arguments, clocks, bytes that were
already taken, files of the runtime's `image`. What concerns the sandbox is *asked* of the home (see
`guest`). A method returns WASI's error number; it raises `OSError` and `Fault`, which `call` turns
into numbers. Nothing else may come out of it: `call` would end the guest.

The guest has one preopened directory, `/`. wasi-libc makes every path relative to it and keeps the
working directory itself. Links are followed by the sandbox's filesystem, never here.
"""

from __future__ import annotations

import errno
import os
import stat as stat_module
from time import monotonic_ns

from agentsandbox.kernel.fs.base import Stat, os_error
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.wasm import preview1 as wasi
from agentsandbox.wasm.descriptors import Contents, Descriptor, Directory, Opened, PipeEnd
from agentsandbox.wasm.memory import MASK, Fault, GuestMemory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol, TypeVar

    from agentsandbox.kernel.fs.base import FileSystem, Mode

    T = TypeVar("T")

    class Home(Protocol):
        """The command that started the guest, as its system calls see it."""

        fs: FileSystem
        umask: int

        def ask(self, work: Callable[[], T]) -> T:
            """Return `work()`, called where the sandbox's code runs."""

        def peek(self, look: Callable[[], T]) -> T | None:
            """Return `look()` if the sandbox is at rest; it may only read, and from memory."""

        def wait(
            self, ready: Callable[[], bool], look: Callable[[], T], seconds: float | None
        ) -> T:
            """Let others run until `ready()` or for `seconds`, and return `look()`."""

        def sleep(self, seconds: float) -> None: ...
        def clock_ns(self) -> int: ...
        def entropy(self, size: int) -> bytes: ...
        def answer(self, request: bytes) -> bytes: ...
        def exit(self, status: int) -> None: ...


MAX_DESCRIPTORS = 1024
_READ = 1 << 20
"""The most bytes of one read or write."""
_REQUEST = 64 << 20
_PATH = 4096
_EXPONENT = 1_000_000_000
_UID_SHIFT, _GID_SHIFT = 12, 32
_PICTURES, _MOST_PICTURES = (".png", ".svg"), 64
_MOST_SUBSCRIPTIONS = 1024

TYPES = {
    "args_get": "ii", "args_sizes_get": "ii", "environ_get": "ii", "environ_sizes_get": "ii",
    "clock_res_get": "ii", "clock_time_get": "iIi", "fd_advise": "iIIi", "fd_allocate": "iII",
    "fd_close": "i", "fd_datasync": "i", "fd_fdstat_get": "ii", "fd_fdstat_set_flags": "ii",
    "fd_fdstat_set_rights": "iII", "fd_filestat_get": "ii", "fd_filestat_set_size": "iI",
    "fd_filestat_set_times": "iIIi", "fd_pread": "iiiIi", "fd_prestat_get": "ii",
    "fd_prestat_dir_name": "iii", "fd_pwrite": "iiiIi", "fd_read": "iiii", "fd_readdir": "iiiIi",
    "fd_renumber": "ii", "fd_seek": "iIii", "fd_sync": "i", "fd_tell": "ii", "fd_write": "iiii",
    "path_create_directory": "iii", "path_filestat_get": "iiiii",
    "path_filestat_set_times": "iiiiIIi", "path_link": "iiiiiii", "path_open": "iiiiiIIii",
    "path_readlink": "iiiiii", "path_remove_directory": "iii", "path_rename": "iiiiii",
    "path_symlink": "iiiii", "path_unlink_file": "iii", "poll_oneoff": "iiii", "proc_exit": "i",
    "proc_raise": "i", "sched_yield": "", "random_get": "ii", "sock_accept": "iii",
    "sock_recv": "iiiiii", "sock_send": "iiiii", "sock_shutdown": "ii",
}  # fmt: skip
"""The parameters of each function: i for 32 bits, I for 64. All but `proc_exit` return 32 bits."""


class Image:
    """Read-only files of the runtime, by their paths in the guest; not in the sandbox's tree.

    `late` has folders whose files are read when a guest first asks for one of them: a function for
    each that returns them by path in the guest.
    """

    def __init__(
        self,
        files: Mapping[str, bytes | memoryview],
        late: Mapping[str, Callable[[], Mapping[str, bytes]]] | None = None,
    ) -> None:
        self.files: dict[str, bytes | memoryview] = {}
        self.folders: dict[str, set[str]] = {}
        self._late = dict(late or {})
        self._late_paths = tuple(self._late)
        self._add(files)

    def _add(self, files: Mapping[str, bytes | memoryview], top: str = "") -> None:
        """Add files and the folders that lead to them, `top` at most."""
        self.files.update(files)
        for path in files:
            while path != top and path.count("/") > 1:
                parent, _, name = path.rpartition("/")
                self.folders.setdefault(parent, set()).add(name)
                path = parent

    def find(self, path: str) -> bytes | memoryview | None:
        """Return the bytes of a file, or None for a folder and what is not of the image."""
        if path.startswith(self._late_paths):
            self._read_late(path)
        return self.files.get(path)

    def _read_late(self, path: str) -> None:
        for folder in list(self._late):
            if path == folder or path.startswith(f"{folder}/"):
                read = self._late.get(folder)
                if read is not None:
                    self._add(read(), folder)
                    self._late.pop(folder, None)
                    self._late_paths = tuple(self._late)

    def stat(self, path: str) -> Stat | None:
        """Return the `Stat` of a file or folder, or None if it is not of the image."""
        data = self.find(path)
        if data is not None:
            return Stat(stat_module.S_IFREG | 0o644, len(data), 0.0, uid=0, gid=0)
        if path in self.folders:
            return Stat(stat_module.S_IFDIR | 0o755, 4096, 0.0, uid=0, gid=0)
        return None


class ImageFolder(Directory):
    """A directory of the image."""

    def __init__(self, image: Image, path: str) -> None:
        self._image = image
        self.path = path
        self._entries = [(".", wasi.DIRECTORY), ("..", wasi.DIRECTORY)] + [
            (name, wasi.DIRECTORY if f"{path}/{name}" in image.folders else wasi.REGULAR)
            for name in sorted(image.folders[path])
        ]

    def stat(self) -> Stat:
        return self._image.stat(self.path) or Stat(stat_module.S_IFDIR | 0o755, 4096, 0.0)

    def entries(self, start: int):  # type: ignore[no-untyped-def]
        yield from self._entries[start:]  # type: ignore[index]


# TM-GUEST-1
class System:
    """The system calls of one guest."""

    def __init__(
        self,
        home: Home,
        memory: GuestMemory,
        words: Sequence[str],
        env: Mapping[str, str],
        image: Image,
        descriptors: Mapping[int, Descriptor],
    ) -> None:
        self.home = home
        self.fs = home.fs
        self.memory = memory
        self.image = image
        self._words = [encode(word) for word in words]
        self._env = [encode(f"{name}={value}") for name, value in env.items()]
        self.descriptors: dict[int, Descriptor] = dict(descriptors)
        self.allocate: Callable[[int], int] | None = None
        """The guest's allocator, once it runs."""
        self.pictures: list[str] = []
        """PNG and SVG files that the guest opened for writing."""
        self.descriptors[3] = Directory(home.ask, home.fs, "")

    # arguments, environment, clocks

    def _write_strings(self, strings: Sequence[bytes], places: int, buffer: int) -> int:
        texts = b"".join([text + b"\0" for text in strings])
        self.memory.write(buffer, texts)
        at = buffer & MASK
        table = []
        for text in strings:
            table.append(wasi.U32.pack(at & MASK))
            at += len(text) + 1
        self.memory.write(places, b"".join(table))
        return wasi.SUCCESS

    def _write_sizes(self, strings: Sequence[bytes], count: int, size: int) -> int:
        self.memory.write_u32(count, len(strings))
        self.memory.write_u32(size, sum([len(text) + 1 for text in strings]))
        return wasi.SUCCESS

    def args_get(self, places: int, buffer: int) -> int:
        return self._write_strings(self._words, places, buffer)

    def args_sizes_get(self, count: int, size: int) -> int:
        return self._write_sizes(self._words, count, size)

    def environ_get(self, places: int, buffer: int) -> int:
        return self._write_strings(self._env, places, buffer)

    def environ_sizes_get(self, count: int, size: int) -> int:
        return self._write_sizes(self._env, count, size)

    def clock_res_get(self, clock: int, result: int) -> int:
        del clock
        self.memory.write_u64(result, 1000)
        return wasi.SUCCESS

    def clock_time_get(self, clock: int, precision: int, result: int) -> int:
        del precision
        self.memory.write_u64(
            result, self.home.clock_ns() if clock == wasi.REALTIME else monotonic_ns()
        )
        return wasi.SUCCESS

    def random_get(self, buffer: int, size: int) -> int:
        size &= MASK
        self.memory.check(buffer, size)
        done = 0
        while done < size:
            part = self.home.entropy(min(size - done, _READ))
            self.memory.write(buffer + done, part)
            done += len(part)
        return wasi.SUCCESS

    def sched_yield(self) -> int:
        self.home.sleep(0)
        return wasi.SUCCESS

    def proc_exit(self, status: int) -> None:
        self.home.exit(status & 255)

    def proc_raise(self, signal: int) -> int:
        del signal
        return wasi.NOSYS

    def poll_oneoff(self, events: int, results: int, count: int, done: int) -> int:
        count &= MASK
        if not 0 < count <= _MOST_SUBSCRIPTIONS:
            return wasi.INVAL
        now = {wasi.REALTIME: self.home.clock_ns(), 1: monotonic_ns()}
        raw = self.memory.read(events, count * wasi.SUBSCRIPTION.size)
        ready: list[bytes] = []
        timers: list[tuple[int, bytes]] = []
        watched: list[tuple[Descriptor, bool, bytes]] = []
        for data, kind, clock, time, _, flags in wasi.SUBSCRIPTION.iter_unpack(raw):
            if kind == wasi.EVENT_CLOCK:
                if flags & wasi.ABSOLUTE_TIME:
                    time -= now[wasi.REALTIME if clock == wasi.REALTIME else 1]
                timers.append((max(0, time), wasi.EVENT.pack(data, 0, kind, 0, 0)))
                continue
            found = self.descriptors.get(clock & MASK)
            if found is None:
                ready.append(wasi.EVENT.pack(data, wasi.BADF, kind, 0, 0))
            else:
                to_write = kind == wasi.EVENT_WRITE
                watched.append((found, to_write, wasi.EVENT.pack(data, 0, kind, 1, 0)))
        least = min([time for time, _ in timers], default=None)
        if watched:
            ready += self._ready(watched, 0 if ready else least)
        elif not ready and least is not None:
            self.home.sleep(least / _EXPONENT)
        if not ready:
            ready = [event for time, event in timers if time == least]
        self.memory.write(results, b"".join(ready))
        self.memory.write_u32(done, len(ready))
        return wasi.SUCCESS

    def _ready(
        self, watched: Sequence[tuple[Descriptor, bool, bytes]], wait: int | None
    ) -> list[bytes]:
        """Return the events of the descriptors that are ready within `wait` nanoseconds."""

        def look() -> list[bytes]:
            return [event for found, way, event in watched if found.is_ready(to_write=way)]

        seconds = None if wait is None else wait / _EXPONENT
        return self.home.ask(look) or (
            [] if wait == 0 else self.home.wait(lambda: bool(look()), look, seconds)
        )

    # descriptors

    def descriptor(self, number: int) -> Descriptor:
        """Return what a number refers to; EBADF for none."""
        found = self.descriptors.get(number & MASK)
        if found is None:
            raise os_error(errno.EBADF)
        return found

    def add(self, descriptor: Descriptor) -> int:
        """Return the number of a new descriptor, the lowest that is free; EMFILE at the limit."""
        numbers = self.descriptors
        if len(numbers) >= MAX_DESCRIPTORS:
            descriptor.release()
            raise os_error(errno.EMFILE)
        number = 0
        while number in numbers:
            number += 1
        numbers[number] = descriptor
        return number

    def duplicate(self, number: int, target: int | None = None) -> int:
        """Return another number for what a number refers to, as `dup` and `dup2` do."""
        found = self.descriptor(number)
        if target is None:
            found.references += 1
            return self.add(found)
        if not 0 <= target < MAX_DESCRIPTORS:
            raise os_error(errno.EBADF)
        if target != number:
            before = self.descriptors.get(target)
            found.references += 1
            self.descriptors[target] = found
            if before is not None:
                before.release()
        return target

    def close_all(self) -> None:
        """Close the descriptors that the guest left open, in the home."""
        for descriptor in list(self.descriptors.values()):
            if isinstance(descriptor, PipeEnd):
                descriptor.close()
            elif isinstance(descriptor, Opened) and descriptor.file.references > 0:
                descriptor.file.release()
        self.descriptors.clear()

    def fd_close(self, number: int) -> int:
        found = self.descriptor(number)
        del self.descriptors[number & MASK]
        found.release()
        return wasi.SUCCESS

    def fd_renumber(self, number: int, target: int) -> int:
        found = self.descriptor(number)
        target &= MASK
        if target >= MAX_DESCRIPTORS:
            return wasi.BADF
        if target != number & MASK:
            before = self.descriptors.get(target)
            self.descriptors[target] = found
            del self.descriptors[number & MASK]
            if before is not None:
                before.release()
        return wasi.SUCCESS

    def fd_advise(self, number: int, offset: int, size: int, advice: int) -> int:
        del offset, size, advice
        self.descriptor(number)
        return wasi.SUCCESS

    def fd_allocate(self, number: int, offset: int, size: int) -> int:
        found = self.descriptor(number)
        if found.stat().size < offset + size:
            found.truncate(offset + size)
        return wasi.SUCCESS

    def fd_datasync(self, number: int) -> int:
        self.descriptor(number)
        return wasi.SUCCESS

    fd_sync = fd_datasync

    def fd_fdstat_get(self, number: int, result: int) -> int:
        found = self.descriptor(number)
        rights = wasi.ALL_RIGHTS
        if found.kind == wasi.CHARACTER_DEVICE:  # wasi-libc takes what cannot seek for a terminal
            rights &= ~(1 << 2 | 1 << 5)
        self.memory.write(result, wasi.FDSTAT.pack(found.kind, found.flags, rights, rights))
        return wasi.SUCCESS

    def fd_fdstat_set_flags(self, number: int, flags: int) -> int:
        self.descriptor(number).flags = flags & (wasi.FD_APPEND | wasi.FD_NONBLOCK)
        return wasi.SUCCESS

    def fd_fdstat_set_rights(self, number: int, base: int, inheriting: int) -> int:
        del base, inheriting
        self.descriptor(number)
        return wasi.SUCCESS

    def _write_stat(self, result: int, info: Stat) -> int:
        mtime, ctime, atime = info.mtime, info.ctime, info.atime
        changed = _nanoseconds(mtime)
        packed = wasi.FILESTAT.pack(
            info.mode & 0o7777 | info.uid << _UID_SHIFT | info.gid << _GID_SHIFT,
            info.ino,
            wasi.file_type(info.mode),
            info.nlink,
            info.size,
            changed if atime is mtime else _nanoseconds(atime),
            changed,
            changed if ctime is mtime else _nanoseconds(ctime),
        )
        self.memory.write(result, packed)
        return wasi.SUCCESS

    def fd_filestat_get(self, number: int, result: int) -> int:
        return self._write_stat(result, self.descriptor(number).stat())

    def fd_filestat_set_size(self, number: int, size: int) -> int:
        self.descriptor(number).truncate(size)
        return wasi.SUCCESS

    def fd_filestat_set_times(self, number: int, atime: int, mtime: int, flags: int) -> int:
        found = self.descriptor(number)
        if not found.path:
            return wasi.INVAL
        return self._set_times(found.path, atime, mtime, flags, follow=True)

    def _set_times(self, path: str, atime: int, mtime: int, flags: int, *, follow: bool) -> int:
        now = self.home.clock_ns() / _EXPONENT

        def work() -> None:
            info = self.fs.stat(path, follow=follow)
            new, accessed = info.mtime, info.atime
            if flags & wasi.SET_MTIME:
                new = mtime / _EXPONENT
            elif flags & wasi.SET_MTIME_NOW:
                new = now
            if flags & wasi.SET_ATIME:
                accessed = atime / _EXPONENT
            elif flags & wasi.SET_ATIME_NOW:
                accessed = now
            self.fs.utime(path, new, atime=accessed, follow=follow)

        self.home.ask(work)
        return wasi.SUCCESS

    def fd_prestat_get(self, number: int, result: int) -> int:
        if number != 3:
            return wasi.BADF
        self.memory.write(result, wasi.PRESTAT.pack(0, 1))
        return wasi.SUCCESS

    def fd_prestat_dir_name(self, number: int, path: int, size: int) -> int:
        if number != 3:
            return wasi.BADF
        if size & MASK < 1:
            return wasi.NAMETOOLONG
        self.memory.write(path, b"/")
        return wasi.SUCCESS

    def _read_into(
        self, vectors: int, count: int, result: int, read: Callable[[int], bytes]
    ) -> int:
        total = 0
        for start, length in self.memory.vectors(vectors, count):
            if not length:
                continue
            data = read(min(length, _READ))
            self.memory.write(start, data)
            total += len(data)
            if len(data) < length:
                break
        self.memory.write_u32(result, total)
        return wasi.SUCCESS

    def _write_from(
        self, vectors: int, count: int, result: int, write: Callable[[bytes], None]
    ) -> int:
        parts: list[bytes] = []
        room = _READ
        for start, length in self.memory.vectors(vectors, count):
            parts.append(self.memory.read(start, min(length, room)))
            room -= len(parts[-1])
        data = b"".join(parts)
        if data:
            write(data)
        self.memory.write_u32(result, len(data))
        return wasi.SUCCESS

    def fd_read(self, number: int, vectors: int, count: int, result: int) -> int:
        return self._read_into(vectors, count, result, self.descriptor(number).read)

    def fd_write(self, number: int, vectors: int, count: int, result: int) -> int:
        return self._write_from(vectors, count, result, self.descriptor(number).write)

    def fd_pread(self, number: int, vectors: int, count: int, offset: int, result: int) -> int:
        found, at = self.descriptor(number), offset & (1 << 63) - 1

        def read(size: int) -> bytes:
            nonlocal at
            data = found.read_at(size, at)
            at += len(data)
            return data

        return self._read_into(vectors, count, result, read)

    def fd_pwrite(self, number: int, vectors: int, count: int, offset: int, result: int) -> int:
        found = self.descriptor(number)
        at = offset & (1 << 63) - 1
        return self._write_from(vectors, count, result, lambda data: found.write_at(data, at))

    def fd_seek(self, number: int, offset: int, whence: int, result: int) -> int:
        if not 0 <= whence <= 2:
            return wasi.INVAL
        self.memory.write_u64(result, self.descriptor(number).seek(offset, whence))
        return wasi.SUCCESS

    def fd_tell(self, number: int, result: int) -> int:
        self.memory.write_u64(result, self.descriptor(number).seek(0, os.SEEK_CUR))
        return wasi.SUCCESS

    def fd_readdir(self, number: int, buffer: int, size: int, cookie: int, result: int) -> int:
        found = self.descriptor(number)
        if not isinstance(found, Directory):
            return wasi.NOTDIR
        size &= MASK
        self.memory.check(buffer, size)
        parts: list[bytes] = []
        total = 0
        start = cookie & (1 << 62) - 1
        for following, (name, kind) in enumerate(found.entries(start), start + 1):
            text = encode(name)
            parts.append(wasi.DIRENT.pack(following, following, len(text), kind) + text)
            total += len(parts[-1])
            if total >= size:
                break
        data = b"".join(parts)[:size]
        self.memory.write(buffer, data)
        self.memory.write_u32(result, len(data))
        return wasi.SUCCESS

    # paths

    def _path(self, number: int, address: int, size: int) -> str:
        """Return the absolute path of a name relative to a directory."""
        found = self.descriptor(number)
        if not isinstance(found, Directory):
            raise os_error(errno.ENOTDIR)
        if size & MASK > _PATH:
            raise os_error(errno.ENAMETOOLONG)
        data = self.memory.read(address, size)
        if b"\0" in data:
            raise os_error(errno.EINVAL)
        name = decode(data)
        if name.startswith("/"):
            raise os_error(errno.EPERM)
        if not name:
            raise os_error(errno.ENOENT)
        if name in (".", "./"):
            return found.path or "/"
        return f"{found.path}/{name.removeprefix('./')}"

    def path_create_directory(self, number: int, path: int, size: int) -> int:
        name = self._path(number, path, size)
        self.home.ask(lambda: self.fs.mkdir(name.rstrip("/"), 0o777 & ~self.home.umask))
        return wasi.SUCCESS

    def path_filestat_get(self, number: int, flags: int, path: int, size: int, result: int) -> int:
        name = self._path(number, path, size)
        info = self.image.stat(name)
        if info is None:
            info = self.home.peek(lambda: self._look(name))
        follow = bool(flags & wasi.FOLLOW)
        if info is None or (info.is_link and follow):
            info = self.home.ask(lambda: self.fs.stat(name, follow=follow))
        return self._write_stat(result, info)

    def _look(self, name: str) -> Stat | None:
        """Return the `Stat` of a file in memory, of a link itself; None if that is not known."""
        folder, _, last = name.rpartition("/")
        if last in ("", ".", ".."):
            return None
        (info,) = self.fs.examine(folder or "/", [last])
        return info

    def _look_into(self, name: str) -> Contents | None:
        """Return a regular file in memory, opened for reading; None if it is something else."""
        (data,) = self.fs.at_hand("/", [name])
        info = None if data is None else self._look(name)
        if data is None or info is None or not info.is_file:
            return None
        return Contents(data, info, name)

    def path_filestat_set_times(
        self,
        number: int,
        flags: int,
        path: int,
        size: int,
        atime: int,
        mtime: int,
        which: int,
    ) -> int:
        name = self._path(number, path, size)
        return self._set_times(name, atime, mtime, which, follow=bool(flags & wasi.FOLLOW))

    def path_link(
        self,
        number: int,
        flags: int,
        path: int,
        size: int,
        new_number: int,
        new_path: int,
        new_size: int,
    ) -> int:
        del flags
        source = self._path(number, path, size)
        target = self._path(new_number, new_path, new_size)
        self.home.ask(lambda: self.fs.link(source, target))
        return wasi.SUCCESS

    def path_open(
        self,
        number: int,
        flags: int,
        path: int,
        size: int,
        opening: int,
        rights: int,
        inheriting: int,
        mode: int,
        result: int,
    ) -> int:
        del inheriting
        name = self._path(number, path, size)
        made = self._open_image(name, opening, rights)
        if made is None:
            if not (opening or rights & wasi.RIGHT_WRITE):
                made = self.home.peek(lambda: self._look_into(name))
        if made is None:
            follow = bool(flags & wasi.FOLLOW)
            made = self.home.ask(lambda: self._open(name, opening, rights, mode, follow))
        made.flags |= mode & wasi.FD_NONBLOCK
        self.memory.write_u32(result, self.add(made))
        return wasi.SUCCESS

    def _open_image(self, name: str, opening: int, rights: int) -> Descriptor | None:
        data = self.image.find(name)
        if data is None and name not in self.image.folders:
            return None
        if opening & (wasi.O_TRUNC | wasi.O_EXCL):
            raise os_error(errno.EROFS)
        if data is None:
            return ImageFolder(self.image, name)
        if opening & wasi.O_DIRECTORY:
            raise os_error(errno.ENOTDIR)
        if rights & wasi.RIGHT_WRITE:
            raise os_error(errno.EACCES)
        return Contents(data, self.image.stat(name), name)  # type: ignore[arg-type]

    def _open(self, name: str, opening: int, rights: int, mode: int, follow: bool) -> Descriptor:
        """Open a file of the sandbox, in the home."""
        fs, ask = self.fs, self.home.ask
        reads, writes = bool(rights & wasi.RIGHT_READ), bool(rights & wasi.RIGHT_WRITE)
        info = None
        try:
            info = fs.stat(name, follow=follow)
        except FileNotFoundError:
            if not opening & wasi.O_CREAT:
                raise
        if info is not None:
            if opening & wasi.O_CREAT and opening & wasi.O_EXCL:
                raise os_error(errno.EEXIST)
            if info.is_link:
                raise os_error(errno.ELOOP)
            if info.is_dir:
                if writes and not opening & wasi.O_DIRECTORY:
                    raise os_error(errno.EISDIR)
                fs.listdir(name)  # whether it may be read
                return Directory(ask, fs, name.rstrip("/"))
            if opening & wasi.O_DIRECTORY:
                raise os_error(errno.ENOTDIR)
        permissions = 0o666 & ~self.home.umask
        if not writes and not opening & wasi.O_TRUNC and info is not None:
            with fs.open(name, "r") as file:
                if info.is_file:
                    return Contents(file.read(), info, name)
                file.acquire()
                return Opened(ask, file, info, name, reads=True, appends=False)
        if name.endswith(_PICTURES) and len(self.pictures) < _MOST_PICTURES:
            self.pictures.append(name)
        if info is None:
            kind: Mode = "x" if opening & wasi.O_EXCL else "w"  # "w" creates what a link names
            fs.open(name, kind, permissions=permissions).release()
        elif opening & wasi.O_TRUNC and info.is_file:
            fs.open(name, "w").release()
        appends = bool(mode & wasi.FD_APPEND)
        file = fs.open(name, "a" if appends and not reads else "r+")
        return Opened(ask, file, info or file.stat(), name, reads=reads, appends=appends)

    def path_readlink(
        self, number: int, path: int, size: int, buffer: int, room: int, result: int
    ) -> int:
        name = self._path(number, path, size)
        text = encode(self.home.ask(lambda: self.fs.readlink(name)))[: room & MASK]
        self.memory.write(buffer, text)
        self.memory.write_u32(result, len(text))
        return wasi.SUCCESS

    def path_remove_directory(self, number: int, path: int, size: int) -> int:
        name = self._path(number, path, size)
        self.home.ask(lambda: self.fs.rmdir(name.rstrip("/")))
        return wasi.SUCCESS

    def path_rename(
        self, number: int, path: int, size: int, new_number: int, new_path: int, new_size: int
    ) -> int:
        source = self._path(number, path, size)
        target = self._path(new_number, new_path, new_size)
        self.home.ask(lambda: self.fs.rename(source, target))
        return wasi.SUCCESS

    def path_symlink(self, text: int, length: int, number: int, path: int, size: int) -> int:
        if length & MASK > _PATH:
            return wasi.NAMETOOLONG
        target = decode(self.memory.read(text, length))
        name = self._path(number, path, size)
        self.home.ask(lambda: self.fs.symlink(target, name))
        return wasi.SUCCESS

    def path_unlink_file(self, number: int, path: int, size: int) -> int:
        name = self._path(number, path, size)
        self.home.ask(lambda: self.fs.unlink(name))
        return wasi.SUCCESS

    # sockets: there are none

    def sock_accept(self, number: int, flags: int, result: int) -> int:
        del number, flags, result
        return wasi.NOTSUP

    def sock_recv(self, *numbers: int) -> int:
        del numbers
        return wasi.NOTSUP

    def sock_send(self, *numbers: int) -> int:
        del numbers
        return wasi.NOTSUP

    def sock_shutdown(self, number: int, how: int) -> int:
        del number, how
        return wasi.NOTSUP

    # the door

    def door(self, address: int, size: int, allocate: Callable[[int], int]) -> tuple[int, int]:
        """Answer a request; return where the answer lies in the guest's memory."""
        if size & MASK > _REQUEST:
            raise Fault
        found = self.home.answer(self.memory.read(address, size))
        place = allocate(len(found)) & MASK
        if not place:
            raise Fault
        self.memory.write(place, found)
        return place, len(found)


def _nanoseconds(seconds: float) -> int:
    whole = getattr(seconds, "ns", None)
    return (int(seconds * _EXPONENT) if whole is None else whole) & 0xFFFFFFFFFFFFFFFF
