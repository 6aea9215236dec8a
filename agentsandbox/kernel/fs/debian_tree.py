"""The tree of a new sandbox: a small Debian, built once and shared by all sandboxes."""

from __future__ import annotations

from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.fs.nodes import DEVICES
from agentsandbox.kernel.fs.trees import FrozenTree, build_tree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

COMMAND_MARK = b"#!command "
"""The beginning of the file of a built-in command, before its name; a renamed copy works too."""

_MTIME = 1_704_067_200.0  # 2024-01-01, so that listings don't depend on when the process started
_SYSTEM_DIRECTORIES = (
    "/boot", "/etc/alternatives", "/etc/profile.d", "/media", "/mnt", "/opt", "/run", "/run/lock",
    "/srv", "/sys", "/usr/games", "/usr/include", "/usr/lib", "/usr/local/bin", "/usr/local/lib",
    "/usr/local/share", "/usr/sbin", "/usr/share", "/usr/share/doc", "/usr/share/misc", "/usr/src",
    "/var/cache", "/var/lib", "/var/log", "/var/spool",
)  # fmt: skip
_COMMON_DIRECTORIES = ("/", "/dev/shm", "/tmp", "/var/tmp")
"""Directories in which anyone may create names."""
_LINKS = {
    "/bin": "usr/bin",
    "/dev/fd": "/proc/self/fd",
    "/dev/stderr": "/proc/self/fd/2",
    "/dev/stdin": "/proc/self/fd/0",
    "/dev/stdout": "/proc/self/fd/1",
    "/etc/mtab": "/proc/mounts",
    "/etc/os-release": "../usr/lib/os-release",
    "/lib": "usr/lib",
    "/sbin": "usr/sbin",
    "/var/lock": "/run/lock",
    "/var/run": "/run",
}

_OS_RELEASE = b"""\
PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION="12 (bookworm)"
VERSION_CODENAME=bookworm
ID=debian
"""

_SHELLS = b"/bin/sh\n/usr/bin/sh\n/bin/bash\n/usr/bin/bash\n/bin/dash\n/usr/bin/dash\n"

_PROC = {
    "/proc/1/cgroup": b"0::/\n",
    "/proc/1/comm": b"bash\n",
    "/proc/cmdline": b"root=sandbox rw\n",
    "/proc/cpuinfo": b"processor\t: 0\nvendor_id\t: sandbox\ncpu family\t: 6\nmodel\t\t: 1\n"
    b"model name\t: sandbox\nstepping\t: 1\ncpu MHz\t\t: 1000.000\ncache size\t: 0 KB\n"
    b"siblings\t: 1\ncore id\t\t: 0\ncpu cores\t: 1\nflags\t\t: fpu\nbogomips\t: 2000.00\n\n",
    "/proc/diskstats": b"",
    "/proc/filesystems": b"nodev\ttmpfs\nnodev\tproc\n",
    "/proc/loadavg": b"0.00 0.00 0.00 1/1 1\n",
    "/proc/meminfo": b"".join(
        encode(f"{name + ':':<16}{size:>8} kB\n")
        for name, size in (
            ("MemTotal", 524288),
            ("MemFree", 524288),
            ("MemAvailable", 524288),
            ("Buffers", 0),
            ("Cached", 0),
            ("SwapTotal", 0),
            ("SwapFree", 0),
        )
    ),
    "/proc/mounts": b"sandbox / tmpfs rw 0 0\nproc /proc proc rw 0 0\n",
    "/proc/modules": b"",
    "/proc/net/dev": b"Inter-|   Receive                                                "
    b"|  Transmit\n"
    b" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop"
    b" fifo colls carrier compressed\n"
    b"    lo:       0       0    0    0    0     0          0         0        0       0    0    0"
    b"    0     0       0          0\n",
    "/proc/partitions": b"major minor  #blocks  name\n\n",
    "/proc/stat": b"cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\nintr 0\nctxt 0\n"
    b"btime 1704067200\nprocesses 1\nprocs_running 1\nprocs_blocked 0\n",
    "/proc/swaps": b"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n",
    "/proc/uptime": b"1.00 1.00\n",
    "/proc/version": b"Linux version 6.1.0 (sandbox) #1 SMP\n",
    "/proc/self/cgroup": b"0::/\n",
    "/proc/self/limits": b"Limit                     Soft Limit           Hard Limit           "
    b"Units     \n"
    b"Max open files            1024                 1024                 files     \n",
    "/proc/self/mounts": b"sandbox / tmpfs rw 0 0\nproc /proc proc rw 0 0\n",
    "/proc/self/cmdline": b"bash\0",
    "/proc/self/comm": b"bash\n",
    "/proc/self/status": b"Name:\tbash\nState:\tR (running)\nUid:\t1000\t1000\t1000\t1000\n"
    b"Gid:\t1000\t1000\t1000\t1000\n",
    "/proc/sys/kernel/ostype": b"Linux\n",
    "/proc/sys/fs/file-max": b"1048576\n",
    "/proc/sys/kernel/osrelease": b"6.1.0\n",
    "/proc/sys/kernel/pid_max": b"4194304\n",
    "/proc/sys/kernel/threads-max": b"256\n",
    "/proc/sys/kernel/version": b"#1 SMP\n",
    "/proc/sys/net/core/somaxconn": b"4096\n",
    "/proc/sys/net/ipv4/ip_forward": b"0\n",
    "/proc/sys/vm/overcommit_memory": b"0\n",
    "/proc/sys/vm/swappiness": b"0\n",
}


def command_of(content: bytes) -> str | None:
    """Return the built-in command whose file this is, or None."""
    if not content.startswith(COMMAND_MARK):
        return None
    return decode(content[len(COMMAND_MARK) :]).rstrip("\n")


def debian_tree(user: str, hostname: str, command_names: Sequence[str]) -> FrozenTree:
    """Return the tree; the same object for the same arguments.

    Everything belongs to root but the user's home. Anyone may create names in "/", as in /tmp,
    but not remove those of the system.
    """
    return _build(user, hostname, tuple(command_names))


@lru_cache(maxsize=32)
def _build(user: str, hostname: str, command_names: tuple[str, ...]) -> FrozenTree:
    name = encode(hostname)
    files: dict[str, bytes | tuple[bytes, int]] = {
        "/etc/debian_version": b"12.0\n",
        "/etc/group": encode(f"root:x:0:\nnogroup:x:65534:\n{user}:x:1000:\n"),
        "/etc/hostname": name + b"\n",
        "/etc/hosts": b"127.0.0.1\tlocalhost " + name + b"\n::1\tlocalhost\n",
        "/etc/passwd": encode(
            "root:x:0:0:root:/root:/bin/bash\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
            f"{user}:x:1000:1000:{user}:/home/{user}:/bin/bash\n"
        ),
        "/etc/shells": _SHELLS,
        "/etc/timezone": b"Etc/UTC\n",
        "/usr/lib/os-release": _OS_RELEASE,
    }
    files.update({path: (content, 0o444) for path, content in _PROC.items()})
    files["/proc/sys/kernel/hostname"] = (name + b"\n", 0o444)
    for command in command_names:
        if command not in ("", ".", "..") and "/" not in command and "\0" not in command:
            files[f"/usr/bin/{command}"] = (COMMAND_MARK + encode(command) + b"\n", 0o755)
    links = _LINKS | ({"/proc/self/exe": "/usr/bin/bash"} if "bash" in command_names else {})
    devices = {f"/dev/{device}": device for device in DEVICES} | {
        f"/proc/self/fd/{number}": "fd" for number in range(3)
    }
    directories = dict.fromkeys(_SYSTEM_DIRECTORIES, 0o755) | dict.fromkeys(
        _COMMON_DIRECTORIES, 0o1777
    )
    return build_tree(
        files,
        mtime=_MTIME,
        links=links,
        directories=directories,
        devices=devices,
        owners={f"/home/{user}": 1000},
    )
