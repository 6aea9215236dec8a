"""The door: what a Python program asks of the sandbox that WASI has no call for.

A request and its answer are frames: four bytes with the length of a header, the header (JSON), then
bytes without a form: the input of a command, or its output. A failed request is answered with
`{"errno": N}` in Linux's numbers.
"""

from __future__ import annotations

import errno
import json
import os
import struct

from agentsandbox.kernel.fs.base import os_error
from agentsandbox.kernel.fs.debian_tree import COMMAND_MARK
from agentsandbox.kernel.processes import SIGNAL_NUMBERS
from agentsandbox.kernel.streams import Pipe, PipeReader, encode
from agentsandbox.wasm.descriptors import Contents, Opened, PipeEnd, Standard
from agentsandbox.wasm.requests import read_request, table, text, whole, wholes, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.processes import Process
    from agentsandbox.kernel.streams import ByteReader, ByteWriter
    from agentsandbox.python.runtime import PythonRuntime
    from agentsandbox.python.sockets import Sockets
    from agentsandbox.wasm.guest import Guest

    Header = dict[str, Any]

_LENGTH = struct.Struct("<I")
_DEFAULT_PATH = "/bin:/usr/bin"
_AGENT = 1000
_BROKEN_PIPE = 141
_MOST_ENDS = 256
"""Ends of pipes that a program may have open: each pipe may hold 128 KiB that nobody reads."""


class Door:
    """Answers the requests of one guest, in its home."""

    def __init__(
        self, runtime: PythonRuntime, ctx: CommandContext, guest: Guest, executable: str
    ) -> None:
        self.runtime = runtime
        self.ctx = ctx
        self.guest = guest
        self.executable = executable
        self._children: dict[int, Process] = {}
        """Those that nobody has waited for, by process id."""
        self._unnest: Callable[[], None] | None = None
        self._works: Mapping[str, Callable[[Header, bytes], tuple[Header, bytes]]] = {
            "begin": self._begin, "spawn": self._spawn, "wait": self._wait, "pipe": self._pipe,
            "chmod": self._chmod, "stat": self._stat,
            "umask": self._umask, "access": self._access, "kill": self._kill,
            "isatty": self._isatty, "mkfifo": self._mkfifo, "which": self._which,
            "chdir": self._chdir, "dup": self._dup, "errnos": self._errnos,
        }  # fmt: skip
        self._sockets: Sockets | None = None

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request."""
        try:
            (size,) = _LENGTH.unpack_from(request)
            header = read_request(request[4 : 4 + size], _FORMS)
            work = self._works.get(header["op"]) or self._socket_work(header["op"])
            if work is None:
                raise os_error(errno.ENOSYS)
            found, payload = work(header, request[4 + size :])
        except (struct.error, ValueError, KeyError):
            found, payload = {"errno": errno.EINVAL}, b""
        except OSError as error:
            found, payload = {"errno": error.errno or errno.EIO}, b""
        text = encode(json.dumps(found))
        return b"".join((_LENGTH.pack(len(text)), text, payload))

    def _socket_work(self, op: str) -> Callable[[Header, bytes], tuple[Header, bytes]] | None:
        """Return the work of a request about sockets; the module is imported at the first one."""
        if not op.startswith("socket-"):
            return None
        if self._sockets is None:
            from agentsandbox.python.sockets import Sockets

            self._sockets = Sockets(self.ctx, self.guest)
        return self._sockets.works.get(op.removeprefix("socket-"))

    def _begin(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del header, payload
        ctx = self.ctx
        home = ctx.env.get("HOME", "/")
        return {
            "cwd": ctx.cwd,
            "umask": ctx.umask,
            "argv0": ctx.name,
            "executable": self.executable,
            "uid": _AGENT,
            "gid": _AGENT,
            "user": ctx.host.user,
            "home": home,
            "columns": ctx.host.columns,
            "hostname": ctx.host.hostname,
            "pid": ctx.host.scheduler.current.pid,
            "ppid": ctx.host.scheduler.main.pid,
            "isatty": [self._is_terminal(number) for number in range(3)],
            "prefix": "/usr/local",
        }, b""

    # commands

    def _spawn(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Start a command of the sandbox and return its process id.

        `streams` are the guest's descriptors that it gets as 0, 1 and 2.
        """
        del payload
        words = header["argv"]
        folder = self._path(header["cwd"])
        try:
            if not self.ctx.fs.stat(folder).is_dir:
                raise os_error(errno.ENOTDIR)
        except OSError as error:
            return {"errno": error.errno, "cwd": True}, b""
        env = header["env"]
        self._find(words[0], folder, env)
        stdin, stdout, stderr = [self._stream(number) for number in header["streams"]]
        self._reap()
        if self._unnest is None:
            self._unnest = self.runtime.nest(self.ctx.host.scheduler)
        process = self.ctx.start(
            words,
            stdin=stdin,  # type: ignore[arg-type]
            stdout=stdout,  # type: ignore[arg-type]
            stderr=stderr,  # type: ignore[arg-type]
            env=env,
            cwd=folder,
            umask=header["umask"] & 0o777,
        )
        self._children[process.pid] = process
        return {"pid": process.pid}, b""

    def _running(self) -> bool:
        return any(not child.finished() for child in self._children.values())

    def _reap(self) -> None:
        """Count this program no more among those that wait once all its children ended."""
        if self._unnest is not None and not self._running():
            self._unnest()
            self._unnest = None

    def _wait(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Return the process id and status (negative for a signal) of a child that ended.

        `pid` -1 means any child; without `block` the answer may be process id 0.
        """
        del payload
        pid = header["pid"]
        children = [c for number, c in self._children.items() if pid in (-1, number)]
        if not children:
            raise os_error(errno.ECHILD)

        def ended() -> Process | None:
            return next((child for child in children if child.finished()), None)

        if header["block"]:
            self.ctx.host.scheduler.block(lambda: ended() is not None)
        child = ended()
        if child is None:
            return {"pid": 0, "status": 0}, b""
        del self._children[child.pid]
        self._reap()
        status = child.status
        if status == _BROKEN_PIPE and child.name.rpartition("/")[2] not in ("sh", "bash"):
            status = -SIGNAL_NUMBERS["PIPE"]  # commands here end by PIPE without being killed
        return {"pid": child.pid, "status": -child.killed_by or status}, b""

    def leave_children(self) -> None:
        """Let the children that run go on after the program, as background jobs do."""
        for child in self._children.values():
            child.is_job = True

    def _pipe(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Return the numbers of the reading and the writing end of a new pipe."""
        del header, payload
        system, clock = self.guest.system, self.ctx.host.clock
        assert system is not None
        ends = [end for end in system.descriptors.values() if isinstance(end, PipeEnd)]
        if len(ends) >= _MOST_ENDS:
            raise os_error(errno.EMFILE)
        pipe = Pipe(self.ctx.host.scheduler)
        made = [PipeEnd(self.guest.ask, end, clock) for end in (PipeReader(pipe), pipe)]
        return {"fds": [system.add(end) for end in made]}, b""

    def close(self) -> None:
        """Wait for no children any more."""
        if self._unnest is not None:
            self._unnest()
            self._unnest = None

    def _find(self, name: str, folder: str, env: Mapping[str, str]) -> None:
        """Raise the error of `execvp` if there is no such program."""
        fs = self.ctx.fs
        if "/" not in name:
            search = env.get("PATH", _DEFAULT_PATH)
            found = self._in_path(name, search, folder)
            if found is None:
                there = self._in_path(name, search, folder, mode=0)
                raise os_error(errno.ENOENT if there is None else errno.EACCES)
            path = found
        else:
            path = name if name.startswith("/") else f"{folder}/{name}"
            if not fs.stat(path).is_file or not fs.access(path, 1):
                raise os_error(errno.EACCES)
        content = fs.program(path)
        if content is None:
            with fs.open(path, "r") as file:
                content = file.read(len(COMMAND_MARK))
        if not content.startswith((b"#!", COMMAND_MARK)):
            raise os_error(errno.ENOEXEC)

    def _in_path(self, name: str, search: str, cwd: str, mode: int = 1) -> str | None:
        for folder in search.split(":"):
            where = f"{cwd}/{folder}" if not folder.startswith("/") else folder
            path = f"{where}/{name}"
            if self.ctx.fs.is_file(path) and self.ctx.fs.access(path, mode):
                return path
        return None

    def _stream(self, number: object) -> ByteReader | ByteWriter:
        """Return the stream behind a descriptor of the guest."""
        system = self.guest.system
        found = None if system is None or not isinstance(number, int) else system.descriptors.get(
            number
        )  # fmt: skip
        if isinstance(found, Standard) and found.stream is not None:
            return found.stream
        if isinstance(found, Opened):
            return found.file
        if isinstance(found, Contents):  # its bytes were taken
            file = self.ctx.keep(self.ctx.fs.open(found.path, "r"))
            file.seek(found.seek(0, os.SEEK_CUR))
            return file
        raise os_error(errno.EBADF)

    def _which(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        search = self.ctx.env.get("PATH", "")
        return {"path": self._in_path(header["name"], search, self.ctx.cwd)}, b""

    def _kill(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        scheduler = self.ctx.host.scheduler
        pid, signal = header["pid"], header["signal"]
        if pid in self._children and self._children[pid].finished():
            return {}, b""  # nobody has waited for it yet
        for process in (scheduler.main, *scheduler.processes):
            if process.pid == pid and process.status is None:
                if signal:
                    process.kill(signal)
                return {}, b""
        raise os_error(errno.ESRCH)

    def _errnos(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """From now on tell errors apart that WASI's numbers would confuse with Linux's."""
        del header, payload
        self.guest.linux_errors = True
        return {}, b""

    # files

    def _path(self, name: str) -> str:
        return self.ctx.path(name)

    def _chmod(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        path = self._path(header["path"]) if "path" in header else self._path_of(header["fd"])
        if not header.get("follow", True) and self.ctx.fs.stat(path, follow=False).is_link:
            raise os_error(errno.ENOTSUP)
        self.ctx.fs.chmod(path, header["mode"] & 0o7777)
        return {}, b""

    def _path_of(self, number: object) -> str:
        """Return the path of an open file of the guest."""
        system = self.guest.system
        if system is None or not isinstance(number, int):
            raise os_error(errno.EBADF)
        return system.descriptor(number).path or "/"

    def _stat(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        info = self.ctx.fs.stat(self._path(header["path"]), follow=header.get("follow", True))
        return {"mode": info.mode, "uid": info.uid, "gid": info.gid, "nlink": info.nlink}, b""

    def _umask(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        before = self.guest.umask
        self.guest.umask = self.ctx.umask = header["mode"] & 0o777
        return {"mode": before}, b""

    def _access(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        path, bits = self._path(header["path"]), header["bits"]
        self.ctx.fs.stat(path, follow=header.get("follow", True))
        if not self.ctx.fs.access(path, bits & 7):
            raise os_error(errno.EACCES)
        return {}, b""

    def _mkfifo(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        mode = header.get("mode", 0o666) & 0o777 & ~self.guest.umask
        self.ctx.fs.mkfifo(self._path(header["path"]), mode)
        return {}, b""

    def _chdir(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        path = self._path(header["path"])
        if not self.ctx.fs.stat(path).is_dir:
            raise os_error(errno.ENOTDIR)
        if not self.ctx.fs.access(path, 1):
            raise os_error(errno.EACCES)
        return {}, b""

    def _dup(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        system, target = self.guest.system, header.get("to")
        assert system is not None
        return {"fd": system.duplicate(header["fd"], target)}, b""

    def _isatty(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        return {"isatty": self._is_terminal(header["fd"])}, b""

    def _is_terminal(self, number: object) -> bool:
        system = self.guest.system
        found = None if system is None else system.descriptors.get(number)  # type: ignore[call-overload]
        return bool(getattr(found, "is_terminal", False))


_FORMS: dict[str, Callable[[Any], Any]] = {
    "op": text, "argv": words, "cwd": text, "env": table, "streams": wholes, "umask": whole,
    "pid": whole, "block": bool, "path": text, "fd": whole, "mode": whole, "follow": bool,
    "bits": whole, "signal": whole, "name": text, "to": whole, "host": text, "port": whole,
    "backlog": whole, "how": whole, "verify": bool,
}  # fmt: skip
"""The forms of the fields of all requests."""
