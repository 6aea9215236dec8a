"""`os` as a script on Linux knows it: permission bits, owners, ids, and calls that WASI lacks.

The host packs what WASI's file status has no room for into the device number: the twelve mode
bits, the owner (from bit 12) and the group (from bit 32). `os.stat` and its relatives unpack it, so
no question through the door is needed for them. What changes permissions, asks for access or
concerns processes goes through the door; functions for processes are loaded when they are called.
"""

import os
import posix
import sys

MODE = 0o7777
S_IFIFO = 0o010000  # the kind that WASI has no name for
UID_SHIFT, UID_BITS = 12, 0xFFFFF
GID_SHIFT = 32
DEVICE = 1
KIB, NAME_MAX = 1024, 255

here = sys.modules["_agentsandbox"]


def unpack(raw):
    """Return the stat_result with permission bits, owner and group from the packed device."""
    packed = raw.st_dev
    size = raw.st_size
    return os.stat_result(
        (
            (raw.st_mode & ~MODE or S_IFIFO) | packed & MODE,
            raw.st_ino,
            DEVICE,
            raw.st_nlink,
            packed >> UID_SHIFT & UID_BITS,
            packed >> GID_SHIFT,
            size,
            *raw[7:10],
            raw.st_atime,
            raw.st_mtime,
            raw.st_ctime,
            raw.st_atime_ns,
            raw.st_mtime_ns,
            raw.st_ctime_ns,
            4096,
            (size + 511) // 512,
            0,
        )
    )


def stat(path, *, dir_fd=None, follow_symlinks=True):
    """Return the status of a file or open descriptor."""
    return unpack(posix.stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks))


def lstat(path, *, dir_fd=None):
    """Return the status of a file or symbolic link."""
    return unpack(posix.lstat(path, dir_fd=dir_fd))


def fstat(fd):
    """Return the status of an open descriptor."""
    return unpack(posix.fstat(fd))


class DirEntry:
    """One entry of `os.scandir`."""

    __slots__ = ("_entry", "name", "path")

    def __init__(self, entry):
        self._entry = entry
        self.name = entry.name
        self.path = entry.path

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"<DirEntry {self.name!r}>"

    def inode(self):
        """Return the inode number."""
        return self._entry.inode()

    def is_dir(self, *, follow_symlinks=True):
        """Whether the entry is a directory."""
        return self._entry.is_dir(follow_symlinks=follow_symlinks)

    def is_file(self, *, follow_symlinks=True):
        """Whether the entry is a regular file."""
        return self._entry.is_file(follow_symlinks=follow_symlinks)

    def is_symlink(self):
        """Whether the entry is a symbolic link."""
        return self._entry.is_symlink()

    def is_junction(self):
        """Return False: junctions exist on Windows only."""
        return False

    def stat(self, *, follow_symlinks=True):
        """Return the status of the entry."""
        return unpack(self._entry.stat(follow_symlinks=follow_symlinks))


DirEntry.__module__ = "posix"


class ScandirIterator:
    """The iterator and context manager that `os.scandir` returns."""

    __slots__ = ("_entries",)

    def __init__(self, entries):
        self._entries = entries

    def __iter__(self):
        return self

    def __next__(self):
        return DirEntry(next(self._entries))

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self._entries.close()

    def close(self):
        """Close the directory."""
        self._entries.close()


def scandir(path="."):
    """Return an iterator of the entries of a directory."""
    return ScandirIterator(posix.scandir("." if path is None else path))


# --- making files --------------------------------------------------------------------------


def open_(path, flags, mode=0o777, *, dir_fd=None):
    """Open a file; a new file gets `mode` without the bits of the umask."""
    if not flags & (os.O_RDONLY | os.O_WRONLY | os.O_RDWR):
        flags |= os.O_RDONLY  # 0 on Linux, a bit of its own in WASI
    if not flags & os.O_CREAT:
        return posix.open(path, flags, mode, dir_fd=dir_fd)
    new = dir_fd is None and (flags & os.O_EXCL or not os.path.lexists(path))
    fd = posix.open(path, flags, mode, dir_fd=dir_fd)
    wanted = mode & ~here.process.umask & MODE
    if new and wanted != 0o666 & ~here.process.umask:
        chmod(path, wanted)
    return fd


def mkdir(path, mode=0o777, *, dir_fd=None):
    """Make a directory; it gets `mode` without the bits of the umask."""
    posix.mkdir(path, mode, dir_fd=dir_fd)
    if mode & MODE != 0o777 and dir_fd is None:
        chmod(path, mode & ~here.process.umask & MODE)


def absolute(path):
    """Return `path` as the host wants it: absolute, as str."""
    text = os.fsdecode(path)
    return text if text.startswith("/") else os.path.join(os.getcwd(), text)


def demand(op, path, **fields):
    """Ask the host about `path`; raise its error with the path as the script wrote it."""
    from _agentsandbox import errors

    answer, _ = here.door.ask(op, path=absolute(path), **fields)
    if number := answer.get("errno"):
        raise errors.error(number, path)
    return answer


def chmod(path, mode, *, dir_fd=None, follow_symlinks=True):
    """Change the permission bits of a file."""
    if isinstance(path, int):
        return fchmod(path, mode)
    unsupported("chmod", dir_fd)
    demand("chmod", path, mode=mode & MODE, follow=follow_symlinks)
    return None


def lchmod(path, mode):
    """Change the permission bits of a file without following a symbolic link."""
    chmod(path, mode, follow_symlinks=False)


def fchmod(fd, mode):
    """Change the permission bits of an open file; the host knows its descriptor."""
    from _agentsandbox import errors

    answer, _ = here.door.ask("chmod", fd=fd, mode=mode & MODE, follow=True)
    if number := answer.get("errno"):
        raise errors.error(number)


def chown(path, uid, gid, *, dir_fd=None, follow_symlinks=True):
    """Check the file and the ids: only the own ids may be given, and they change nothing."""
    unsupported("chown", dir_fd)
    if isinstance(path, int):
        fstat(path)
    else:
        stat(path, follow_symlinks=follow_symlinks)
    if uid not in (-1, here.process.uid) or gid not in (-1, here.process.gid):
        from _agentsandbox import errors

        raise errors.error(1, *([] if isinstance(path, int) else [path]))


def lchown(path, uid, gid):
    """Do what `chown` does, without following a symbolic link."""
    chown(path, uid, gid, follow_symlinks=False)


def fchown(fd, uid, gid):
    """Do what `chown` does, with an open file."""
    chown(fd, uid, gid)


def access(path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
    """Whether this process may use a file so."""
    unsupported("access", dir_fd)
    answer, _ = here.door.ask("access", path=absolute(path), bits=mode, follow=follow_symlinks)
    return not answer.get("errno") and answer.get("ok", True)


def umask(mask):
    """Set the umask and return the one before."""
    before, here.process.umask = here.process.umask, mask & 0o777
    here.door.ask("umask", mode=mask & 0o777)
    return before


def mkfifo(path, mode=0o666, *, dir_fd=None):
    """Make a named pipe."""
    unsupported("mkfifo", dir_fd)
    demand("mkfifo", path, mode=mode & ~here.process.umask)


def unsupported(function, dir_fd):
    """Raise what CPython raises where a function takes no `dir_fd`."""
    if dir_fd is not None:
        raise NotImplementedError(f"{function}: dir_fd unavailable on this platform")


def statvfs(path):
    """Return the size of the sandbox's filesystem, as the command `df` tells it."""
    from _agentsandbox import errors, processes

    stat(path)
    found = []
    for unit in ("-k", "-i"):
        source, sink = processes.pipe()
        pid = processes.begin(["df", "-P", unit, "/"], streams=(0, sink, 2))
        os.close(sink)
        with open(source) as output:
            numbers = output.read().splitlines()[-1].split()[1:4]
        processes.wait_for(pid)
        if len(numbers) != 3:
            raise errors.error(38, path)
        found += map(int, numbers)
    blocks, _, free, files, _, free_files = found
    return os.statvfs_result(
        (4096, KIB, blocks, free, free, files, free_files, free_files, 0, NAME_MAX)
    )


def strerror(code):
    """Return the text of an error number."""
    from _agentsandbox import errors

    return errors.strerror(code)


def get_terminal_size(fd=1):
    """Return the size of the terminal; without one, raise what CPython raises."""
    if fd in (0, 1, 2) and here.process.isatty[fd]:
        return os.terminal_size((here.process.columns, 24))
    from _agentsandbox import errors

    raise errors.error(25)


def dup(fd, /):
    """Return another number for an open descriptor."""
    return here.door.demand("dup", fd=fd)["fd"]


def dup2(fd, fd2, inheritable=True):
    """Make `fd2` refer to what `fd` does."""
    return here.door.demand("dup", fd=fd, to=fd2)["fd"]


def isatty(fd):
    """Whether a descriptor is a terminal."""
    return bool(here.process.isatty[fd]) if fd in (0, 1, 2) else False


def ttyname(fd, /):
    """Raise what Linux raises where no terminal is."""
    from _agentsandbox import errors

    fstat(fd)
    raise errors.error(25)


# --- ids -----------------------------------------------------------------------------------


def uname():
    """Return the names that the sandbox's own `uname` prints."""
    return os.uname_result(("Linux", here.process.hostname, "6.1.0", "#1 SMP", "x86_64"))


def identities(process):
    """Return the functions that answer with an id of this process."""
    return {
        "getpid": lambda: process.pid,
        "getppid": lambda: process.ppid,
        "getpgrp": lambda: process.pid,
        "getpgid": lambda pid: process.pid,
        "getsid": lambda pid: process.pid,
        "getuid": lambda: process.uid,
        "geteuid": lambda: process.uid,
        "getgid": lambda: process.gid,
        "getegid": lambda: process.gid,
        "getgroups": lambda: [process.gid],
        "getlogin": lambda: process.user,
        "getresuid": lambda: (process.uid,) * 3,
        "getresgid": lambda: (process.gid,) * 3,
        "getloadavg": lambda: (0.0, 0.0, 0.0),
        "cpu_count": lambda: 1,
        "process_cpu_count": lambda: 1,
        "sched_getaffinity": lambda pid: {0},
        "register_at_fork": lambda *, before=None, after_in_child=None, after_in_parent=None: None,
        "sync": lambda: None,
        "nice": lambda increment: 0,
        "ctermid": lambda: "/dev/tty",
    }


LATE = """
    system popen execv execve execvp execvpe execl execle execlp execlpe spawnv spawnve spawnvp
    spawnvpe spawnl spawnle spawnlp spawnlpe posix_spawn posix_spawnp fork forkpty kill killpg
    wait waitpid wait3 wait4 waitid pipe pipe2 setsid setpgid setuid setgid seteuid setegid
    WIFEXITED WEXITSTATUS WIFSIGNALED WTERMSIG WIFSTOPPED WSTOPSIG WIFCONTINUED WCOREDUMP
    waitstatus_to_exitcode
""".split()

CONSTANTS = {
    "P_WAIT": 0, "P_NOWAIT": 1, "P_NOWAITO": 1, "WNOHANG": 1, "WUNTRACED": 2, "WCONTINUED": 8,
    "WEXITED": 4, "P_ALL": 0, "P_PID": 1, "P_PGID": 2, "PRIO_PROCESS": 0, "ST_RDONLY": 1,
    "O_NDELAY": 2048, "O_TMPFILE": 4259840,
}  # fmt: skip


def late(name):
    """Return a function that loads `processes` when it is called."""

    def call(*args, **more):
        from _agentsandbox import processes

        return getattr(processes, name)(*args, **more)

    call.__name__ = call.__qualname__ = name
    call.__module__ = "os"
    return call


def install(process):
    """Replace and add functions of `os`; go to the working directory."""
    own = {
        "stat": stat, "lstat": lstat, "fstat": fstat, "scandir": scandir, "DirEntry": DirEntry,
        "open": open_, "mkdir": mkdir, "chmod": chmod, "lchmod": lchmod, "fchmod": fchmod,
        "chown": chown, "lchown": lchown, "fchown": fchown, "access": access, "umask": umask,
        "mkfifo": mkfifo, "strerror": strerror, "get_terminal_size": get_terminal_size,
        "dup": dup, "dup2": dup2, "isatty": isatty, "uname": uname, "statvfs": statvfs,
        "ttyname": ttyname, "getrandom": lambda size, flags=0: os.urandom(size),
    }  # fmt: skip
    swapped = {getattr(posix, name): own[name] for name in own if hasattr(posix, name)}
    for kind in ("dir_fd", "fd", "follow_symlinks", "effective_ids"):
        functions = getattr(os, "supports_" + kind)
        for old in swapped.keys() & functions:
            functions.remove(old)
            functions.add(swapped[old])
    os.supports_dir_fd -= {chmod, access}
    names = vars(os)
    names.update(own)
    names.update(identities(process))
    names.update({name: late(name) for name in LATE})
    names.update({name: value for name, value in CONSTANTS.items() if name not in names})
    os.chdir(process.cwd)
