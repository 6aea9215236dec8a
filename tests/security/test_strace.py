"""The observer of system calls finds what it must find (`make strace` runs it on attacks)."""

from __future__ import annotations

from tests.security.strace import BEGIN, END, judged

HARMLESS = (
    "mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0) = 0x7f0000000000",
    "clone3({flags=CLONE_VM|CLONE_THREAD|CLONE_FS, child_tid=0x7f}, 88) = 12",
    'openat(3, "a", O_RDONLY|O_NOFOLLOW) = 5',
    "fcntl(5, F_DUPFD_CLOEXEC, 0) = 6",
    'newfstatat(6, "b", {st_mode=S_IFREG|0644}, AT_SYMLINK_NOFOLLOW) = 0',
    'symlinkat("../up", 3, "l") = 0',
    "close(5) = 0",
    'write(9, "\\1\\0\\0\\0\\0\\0\\0\\0", 8) = 8',
    'openat(AT_FDCWD, "/proc/self/statm", O_RDONLY|O_CLOEXEC) = 7',
    'read(7, "984569 818390", 8192) = 13',
    "close(7) = 0",
    'openat(AT_FDCWD, "/usr/share/zoneinfo/Europe/Berlin", O_RDONLY|O_CLOEXEC) = 7',
    'read(7, "TZif2", 3552) = 3552',
    "close(7) = 0",
)
HARMFUL = (
    'openat(AT_FDCWD, "/etc/passwd", O_RDONLY|O_CLOEXEC) = 7',
    'openat(3, "../secret", O_RDONLY) = 7',
    'openat(3, "/etc/passwd", O_RDONLY) = 7',
    'newfstatat(5, "x", {st_mode=S_IFREG|0644}, 0) = 0',  # 5 is closed
    'read(7, "x", 8192) = 1',  # 7 is closed
    'openat(AT_FDCWD, "/dev/urandom", O_WRONLY) = 7',
    "socket(AF_INET, SOCK_STREAM, IPPROTO_TCP) = -1 EPERM (Operation not permitted)",
    "clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD, child_tidptr=0x7f) = 12",
    'execve("/bin/true", ["true"], 0x7f) = -1 EPERM (Operation not permitted)',
    "kill(1, SIGTERM) = 0",
    'write(1, "out", 3) = 3',
)


def between(*lines: str, before: tuple[str, ...] = ()) -> list[str]:
    marks = [f'write(1, "{mark}", 9) = 9' for mark in (BEGIN, END)]
    return [f"10 {line}" for line in (*before, marks[0], *lines, marks[1])]


MOUNTED = ('openat(AT_FDCWD, "/tmp/mounted-x", O_RDONLY|O_PATH|O_DIRECTORY) = 3',)


def test_what_is_not_harmless_is_found() -> None:
    bad, seen = judged(between(*HARMLESS, *HARMFUL, before=MOUNTED), "thread")
    assert (seen, sum(bad.values())) == (len(HARMLESS) + len(HARMFUL), len(HARMFUL)), bad


def test_calls_that_other_threads_interrupt_are_put_together() -> None:
    lines = between("x")
    lines[1:2] = [
        '11 openat(AT_FDCWD, "/etc/shadow", O_RDONLY <unfinished ...>',
        "12 futex(0x7f, FUTEX_WAIT) = 0",
        "11 <... openat resumed>) = -1 EACCES (Permission denied)",
    ]
    bad, _ = judged(lines, "thread")
    assert list(bad) == ['openat(AT_FDCWD, "/etc/shadow", O_RDONLY) = -1']


def test_a_worker_may_use_its_connection_only() -> None:
    lines = [
        "20 socket(AF_UNIX, SOCK_STREAM, 0) = 3",
        "20 prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, {len=152}) = 0",
        f'10 write(1, "{BEGIN}", 9) = 9',
        '10 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 4',
        "20 recvfrom(3, ..., 8, 0, NULL, NULL) = 8",
        "20 writev(3, [{iov_base=...}], 1) = 8",
        "20 writev(4, [{iov_base=...}], 1) = 8",
        f'10 write(1, "{END}", 9) = 9',
    ]
    bad, seen = judged(lines, "process")
    assert (seen, [call[:9] for call in bad]) == (3, ["writev(4,"])
