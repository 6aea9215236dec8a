"""The process that makes workers: it has imported everything, and forks.

A worker shares its memory until one of them writes. Everything is imported and used once, then the
garbage collector is told to leave it alone (`gc.freeze`), so that a worker adds little of its own.
"""

from __future__ import annotations

import array
import gc
import os
import signal
import socket
import sys

_WARM_UP = """
x=1; for i in a b; do echo "$i ${x:-2}" | cat | wc -l; done > /tmp/x; [[ -f /tmp/x ]] && ls -l /tmp
f() { local y=$((x + 1)); printf '%s\\n' "$y"; }; f; z=$(f); case $z in 2) ;; esac
sort /tmp/x | uniq | head -n 1; grep -c a /tmp/x; sed s/a/b/ /tmp/x; awk '{print $1}' /tmp/x; rm /tmp/x
"""


def main(descriptor: int) -> None:
    """Fork a worker for each connection that arrives over the socket, until it is closed."""
    from agentsandbox.isolation.worker import serve

    _warm_up()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries workers
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's interrupt is the host's affair
    parent = socket.socket(fileno=descriptor)
    parent.send(b"r")
    while True:
        message, ancillary, _, _ = parent.recvmsg(1, socket.CMSG_SPACE(4))
        if not message:
            return
        connection = socket.socket(fileno=array.array("i", ancillary[0][2])[0])
        if os.fork() == 0:
            parent.close()
            try:
                serve(connection)
            finally:
                os._exit(0)
        connection.close()


def _warm_up() -> None:
    """Import every command and the engine, and run a few of them."""
    from agentsandbox.commands import COMMANDS, names
    from agentsandbox.sandbox import Sandbox

    for name in names():
        COMMANDS.find(name)
    with Sandbox() as sandbox:
        sandbox.execute(_WARM_UP)


if __name__ == "__main__":
    main(int(sys.argv[1]))
