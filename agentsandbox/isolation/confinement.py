"""What the kernel takes away from a worker before its first script.

Four layers, of which each holds without the others:

* **Limits** (`setrlimit`): address space, open files, no bytes to files, no core dump. With soft
  and hard limit equal, they can only go down.
* **No new privileges**: a setuid program would gain nothing, and the next two need no root.
* **Landlock**: the only files that can be opened are those of Python's and the package's own
  modules, which are imported when first used, and the time zones; for reading. Where the kernel
  knows them: no TCP, no signal and no abstract socket to processes outside.
* **Seccomp**: a list of the system calls that an interpreter needs for memory, clocks, threads and
  the connection that it has; every other one fails with EPERM. There is no `socket`, `connect`,
  `execve`, `fork`, `kill`, `ptrace`, `mount` or `bpf` in it. Some are in it with a condition on
  their arguments: `openat` for reading only, `clone` for threads only, `fcntl` without owners of
  signals, `prlimit64` for asking only. `clone3` passes its flags in memory, where a filter cannot
  look: it fails with ENOSYS, and libc uses `clone`.

A filter is a program of the classic BPF machine over the number and the arguments of a call. The
numbers depend on the processor: x86-64 and AArch64 are known. Where the kernel or the processor
lacks a layer the report says so, and the others stay in force.

Sources: the kernel's Documentation/userspace-api/{landlock,seccomp_filter}.rst, the tables of
system calls, setrlimit(2), prctl(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import struct
import sys
import sysconfig
import zoneinfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.limits import Limits

_MIB = 1 << 20
_SPARE_MEMORY = 256 * _MIB
_VALUES = 6
"""All values together may take as much as this many of the largest size (`kernel.budget`)."""
_OPEN_FILES = 64

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SIGKILL = 9


# TM-ISO-1
def confine(
    limits: Limits, addresses: int = 0, memory: int = 0, folders: Sequence[str] = ()
) -> dict[str, str]:
    """Give up everything that scripts do not need; return what is in force, layer by layer.

    addresses  bytes of address space that guests reserve besides
    memory     bytes of memory that guests may use besides
    folders    what guests read besides
    """
    libc = ctypes.CDLL(None, use_errno=True)
    report = {
        "memory": _limit_memory(limits, addresses, memory),
        "resources": _limit_resources(),
    }
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        reason = _reason()
        return {**report, **dict.fromkeys(("landlock", "seccomp"), f"not in force: {reason}")}
    report["landlock"] = _landlock(libc, folders)
    report["seccomp"] = _seccomp(libc)
    return report


def die_with_parent(parent: int) -> None:
    """End this process when its parent ends, whose process number is `parent`."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def _reason() -> str:
    return os.strerror(ctypes.get_errno())


# limits


def _limit_memory(limits: Limits, addresses: int, memory: int) -> str:
    """Limit memory to what is there and what the sandbox's limits allow.

    The address space is enough for that, but a guest reserves 4 GiB of it and uses less. So what
    can be written is limited too (RLIMIT_DATA): private memory, whatever it was reserved as.
    """
    with open("/proc/self/statm", encoding="ascii") as file:
        sizes = file.read().split()
    now, written = (int(sizes[at]) * resource.getpagesize() for at in (0, 5))
    further = limits.total_bytes + limits.output_bytes + memory
    further += _VALUES * limits.value_bytes + _SPARE_MEMORY
    _lower(resource.RLIMIT_AS, now + further + addresses)
    if addresses:
        _lower(resource.RLIMIT_DATA, written + further)
    return f"in force: {further // _MIB} MiB besides the interpreter's own {now // _MIB} MiB"


def _limit_resources() -> str:
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_CORE, 0)
    return f"in force: {_OPEN_FILES} open files, no bytes to files, no core dumps"


def _lower(kind: int, value: int) -> None:
    """Set a limit, unless there is a lower one already."""
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


# landlock

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_RIGHTS = ((1, 13), (2, 14), (3, 15), (5, 16))
"""From which version on how many rights on files are known."""
_NETWORK_SINCE, _SCOPES_SINCE = 4, 6


def _landlock(libc: ctypes.CDLL, further: Sequence[str]) -> str:
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)
    if version < 1:
        return f"not in force: {_reason()}"
    rights = max(count for since, count in _FILE_RIGHTS if version >= since)
    network = 3 if version >= _NETWORK_SINCE else 0
    scopes = 3 if version >= _SCOPES_SINCE else 0
    size = 24 if scopes else 16 if network else 8
    handled = struct.pack("=QQQ", (1 << rights) - 1, network, scopes)[:size]
    rules = libc.syscall(_CREATE_RULESET, handled, ctypes.c_size_t(size), 0)
    if rules < 0:
        return f"not in force: {_reason()}"
    try:
        wanted = dict.fromkeys([*_readable(), *further])
        folders = [path for path in wanted if _allow(libc, rules, path)]
        if libc.syscall(_RESTRICT_SELF, rules, 0) != 0:
            return f"not in force: {_reason()}"
    finally:
        os.close(rules)
    network_too = ", no TCP" if network else ""
    return f"in force, version {version}: reads {', '.join(folders)}; writes nothing{network_too}"


def _allow(libc: ctypes.CDLL, rules: int, path: str) -> bool:
    """Allow reading below a path; return False if there is nothing."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        rights = _READ_FILE | _READ_DIR if os.path.isdir(path) else _READ_FILE
        rule = struct.pack("=Qi", rights, descriptor)
        return bool(libc.syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0) == 0)
    finally:
        os.close(descriptor)


def _readable() -> list[str]:
    """Return the folders of Python's modules, of installed packages, of this one, of time zones."""
    paths = sysconfig.get_paths()
    of_python = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    installed = [path for path in sys.path if os.path.basename(path) in _INSTALLED]
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return list(dict.fromkeys([*of_python, *installed, own, *zoneinfo.TZPATH]))


_INSTALLED = ("site-packages", "dist-packages")

# seccomp

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_X32 = 0x40000000
"""The numbers of x86-64's second table of system calls begin here."""

_TMPFILE = 0o20000000
"""The kernel's own bit of O_TMPFILE, without that of O_DIRECTORY."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | _TMPFILE
_CLONE_THREAD = 0x10000
_HARMLESS_FCNTL = (0, 1, 2, 3, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC."""

_NUMBERS = {
    "x86_64": (0xC000003E, """
        read 0, write 1, close 3, stat 4, fstat 5, lstat 6, poll 7, lseek 8, mmap 9, mprotect 10,
        munmap 11, brk 12, rt_sigaction 13, rt_sigprocmask 14, rt_sigreturn 15, pread64 17,
        readv 19, writev 20, access 21, sched_yield 24, mremap 25, madvise 28, dup 32,
        nanosleep 35, getpid 39, sendto 44, recvfrom 45, clone 56, exit 60, uname 63, fcntl 72,
        getcwd 79, readlink 89, gettimeofday 96, getrusage 98, sysinfo 99, times 100, getuid 102,
        getgid 104, geteuid 107, getegid 108, getppid 110, sigaltstack 131, gettid 186, futex 202,
        sched_getaffinity 204, getdents64 217, restart_syscall 219, clock_gettime 228,
        clock_getres 229, clock_nanosleep 230, exit_group 231, openat 257, newfstatat 262,
        readlinkat 267, ppoll 271, set_robust_list 273, prlimit64 302, getrandom 318,
        membarrier 324, statx 332, rseq 334, clone3 435"""),
    "aarch64": (0xC00000B7, """
        getcwd 17, dup 23, fcntl 25, openat 56, close 57, getdents64 61, lseek 62, read 63,
        write 64, readv 65, writev 66, pread64 67, ppoll 73, readlinkat 78, newfstatat 79,
        fstat 80, exit 93, exit_group 94, futex 98, set_robust_list 99, nanosleep 101,
        clock_gettime 113, clock_getres 114, clock_nanosleep 115, sched_getaffinity 123,
        sched_yield 124, restart_syscall 128, sigaltstack 132, rt_sigaction 134,
        rt_sigprocmask 135, rt_sigreturn 139, times 153, uname 160, getrusage 165,
        gettimeofday 169, getpid 172, getppid 173, getuid 174, geteuid 175, getgid 176,
        getegid 177, gettid 178, sysinfo 179, sendto 206, recvfrom 207, brk 214, munmap 215,
        mremap 216, clone 220, mmap 222, mprotect 226, madvise 233, prlimit64 261, getrandom 278,
        membarrier 283, statx 291, rseq 293, clone3 435"""),
}  # fmt: skip
"""The kernel's name of each architecture, and the numbers of what a worker may call."""


def _seccomp(libc: ctypes.CDLL) -> str:
    machine = os.uname().machine
    known = _NUMBERS.get(machine)
    if known is None or sys.byteorder != "little" or sys.maxsize < 1 << 32:
        return f"not in force: no table of system calls for {machine}"
    program = filter_program(machine)
    buffer = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    if libc.prctl(_PR_SET_SECCOMP, 2, head, 0, 0) != 0:
        return f"not in force: {_reason()}"
    return f"in force: {len(known[1].split(','))} system calls, no sockets, processes or signals"


def filter_program(machine: str) -> bytes:
    """Return the filter for a processor, as the kernel takes it."""
    architecture, table = _NUMBERS[machine]
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_JUMP_EQUAL, architecture, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_JUMP_AT_LEAST, _X32, 0, 1),
        _step(_RETURN, _KILL),
    ]
    for entry in table.split(","):
        name, number = entry.split()
        body = _CONDITIONS.get(name, [_step(_RETURN, _ALLOW)])
        program += [_step(_JUMP_EQUAL, int(number), 0, len(body)), *body]
    program.append(_step(_RETURN, _ERRNO | errno.EPERM))
    return b"".join(program)


def _step(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """Return an instruction: what to do, with what, and how many to skip if true or false."""
    return struct.pack("=HBBI", code, then, otherwise, value)


_REFUSE, _PASS = _step(_RETURN, _ERRNO | errno.EPERM), _step(_RETURN, _ALLOW)

_CONDITIONS = {
    "openat": [_step(_LOAD, _ARGUMENTS + 8 * 2), _step(_JUMP_BITS, _WRITING, 0, 1), _REFUSE, _PASS],
    "clone": [_step(_LOAD, _ARGUMENTS), _step(_JUMP_BITS, _CLONE_THREAD, 1, 0), _REFUSE, _PASS],
    "clone3": [_step(_RETURN, _ERRNO | errno.ENOSYS)],
    "fcntl": [
        _step(_LOAD, _ARGUMENTS + 8),
        *[
            _step(_JUMP_EQUAL, each, len(_HARMLESS_FCNTL) - at, 0)
            for at, each in enumerate(_HARMLESS_FCNTL)
        ],
        _REFUSE,
        _PASS,
    ],
    "prlimit64": [
        _step(_LOAD, _ARGUMENTS + 8 * 2),
        _step(_JUMP_EQUAL, 0, 1, 0),
        _REFUSE,
        _step(_LOAD, _ARGUMENTS + 8 * 2 + 4),
        _step(_JUMP_EQUAL, 0, 1, 0),
        _REFUSE,
        _PASS,
    ],
}
"""What follows the number of a call that depends on its arguments."""
