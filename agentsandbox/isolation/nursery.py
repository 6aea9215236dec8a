"""The process that makes workers: it has imported everything, and forks.

A worker shares its memory until one of them writes. Everything is imported and used once, then the
garbage collector is told to leave it alone (`gc.freeze`), so that a worker adds little of its own.

The nursery itself runs no script of anybody. It is started with an environment of its own, in "/",
without descriptors of the host but its socket, and ends when the host closes that.
"""

from __future__ import annotations

import array
import ctypes
import gc
import importlib
import os
import pkgutil
import signal
import socket

from agentsandbox.commands import COMMANDS, names
from agentsandbox.isolation.confinement import die_with_parent
from agentsandbox.isolation.guests import load
from agentsandbox.isolation.worker import new_session, serve
from agentsandbox.kernel.fs.debian_tree import debian_tree
from agentsandbox.kernel.fs.memory import MemoryFileSystem

_WARM_UP = """
x=1; for i in a b; do echo "$i ${x:-2}" | cat | wc -l; done > /tmp/x; [[ -f /tmp/x ]] && ls -l /tmp
f() { local y=$((x + 1)); printf '%s\\n' "$y"; }; f; z=$(f); case $z in 2) ;; esac
sort /tmp/x | uniq | head -n 1; grep -c a /tmp/x; sed s/a/b/ /tmp/x; awk '{print $1}' /tmp/x
rm /tmp/x; (sleep 0) & wait; find /tmp -name '*.x' | xargs echo; date -u +%s
echo '{"a":1}' | jq .a; md5sum /etc/passwd
"""

_ROOMS = ("commands", "contract", "kernel", "shell", "runtime", "network", "git")
"""What scripts run through: all of its modules are loaded before the first fork."""

_LIBRARIES = (
    "binascii", "bz2", "decimal", "encodings.ascii", "encodings.idna", "encodings.latin_1",
    "encodings.utf_16", "encodings.utf_16_be", "encodings.utf_16_le", "encodings.utf_32",
    "encodings.utf_32_be", "encodings.utf_32_le", "hashlib", "json",
    "lzma", "sqlite3", "ssl", "zlib", "zoneinfo", "greenlet", "regex", "yaml", "zstandard",
)  # fmt: skip
"""Libraries with compiled code that commands import in their functions. A worker cannot load the
shared libraries below them, which are outside of the folders that it may read."""


def main(descriptor: int, guests: list[str]) -> None:
    """Fork a worker for each connection that arrives over the socket, until it is closed.

    `guests` names what else workers run: "python", "javascript".
    """
    _warm_up()
    if guests:
        load(guests)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's interrupt is the host's affair
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # until a worker can be cancelled
    gc.collect()
    gc.freeze()
    parent = socket.socket(fileno=descriptor)
    parent.send(b"r")
    here = os.getpid()
    while True:
        message, ancillary, _, _ = parent.recvmsg(1, socket.CMSG_SPACE(4))
        if not message:
            return
        connection = socket.socket(fileno=array.array("i", ancillary[0][2])[0])
        try:
            child = os.fork()
        except OSError:  # no room for a process: the host sees that the connection is closed
            child = -1
        if child == 0:
            parent.close()
            die_with_parent(here)
            try:
                serve(connection)
            finally:
                os._exit(0)
        connection.close()


def _warm_up() -> None:
    """Import every module that scripts run through, and use the most frequent ones."""
    ctypes.CDLL(None)
    for name in _LIBRARIES:
        _import(name)
    for room in _ROOMS:
        package = importlib.import_module(f"agentsandbox.{room}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            _import(found.name)
    for name in names():
        COMMANDS.find(name)
    fs = MemoryFileSystem(base=debian_tree("agent", "sandbox", sorted(names())))
    fs.uid = 0
    options = {
        "seed": None, "user": "agent", "hostname": "sandbox", "script_errexit": "sh",
        "jobs": "detach", "env": {"PATH": "/usr/bin:/bin"}, "cwd": "/tmp", "network": None,
    }  # fmt: skip
    session = new_session(fs, options, _midnight, None)
    for _ in range(2):
        session.call(_WARM_UP, None).run()
    session.close()


def _import(name: str) -> None:
    try:
        importlib.import_module(name)
    except ImportError:  # an extra that is not installed, or a Python without it
        pass


def _midnight() -> float:
    return 0.0
