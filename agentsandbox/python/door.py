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
from agentsandbox.kernel.processes import SIGNAL_NUMBERS
from agentsandbox.kernel.streams import Buffer, BytesReader, Null, encode
from agentsandbox.wasm.descriptors import Opened, Standard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.streams import ByteReader, ByteWriter
    from agentsandbox.python.runtime import PythonRuntime
    from agentsandbox.wasm.guest import Guest

    Header = dict[str, Any]

_LENGTH = struct.Struct("<I")
_KILL = SIGNAL_NUMBERS["KILL"]
_AGENT = 1000


class Door:
    """Answers the requests of one guest, in its home."""

    def __init__(
        self, runtime: PythonRuntime, ctx: CommandContext, guest: Guest, executable: str
    ) -> None:
        self.runtime = runtime
        self.ctx = ctx
        self.guest = guest
        self.executable = executable
        self._works: Mapping[str, Callable[[Header, bytes], tuple[Header, bytes]]] = {
            "begin": self._begin, "run": self._run, "chmod": self._chmod, "stat": self._stat,
            "umask": self._umask, "access": self._access, "kill": self._kill,
            "isatty": self._isatty, "mkfifo": self._mkfifo, "which": self._which,
            "chdir": self._chdir, "dup": self._dup, "errnos": self._errnos,
        }  # fmt: skip

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request."""
        try:
            (size,) = _LENGTH.unpack_from(request)
            header = json.loads(request[4 : 4 + size])
            work = self._works.get(header["op"])
            if work is None:
                raise os_error(errno.ENOSYS)
            found, payload = work(header, request[4 + size :])
        except (struct.error, ValueError, KeyError, TypeError):
            found, payload = {"errno": errno.EINVAL}, b""
        except OSError as error:
            found, payload = {"errno": error.errno or errno.EIO}, b""
        text = encode(json.dumps(found))
        return b"".join((_LENGTH.pack(len(text)), text, payload))

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

    def _run(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        """Run a command of the sandbox and return its status and what it wrote."""
        ctx, runtime = self.ctx, self.runtime
        words = _words(header["argv"])
        self._find(words[0], header)
        limit = ctx.budget.value_bytes
        stdin = self._input(header.get("stdin", "inherit"), payload)
        out, err = Buffer(limit), Buffer(limit)
        stdout = self._output(header.get("stdout", "inherit"), out, 1)
        how = header.get("stderr", "inherit")
        stderr = stdout if how == "stdout" else self._output(how, err, 2)
        env, cwd = header.get("env"), header.get("cwd")
        waits = runtime.nest(ctx.host.scheduler)
        try:
            process = ctx.start(
                words,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                env=None if env is None else {str(key): str(env[key]) for key in env},
                cwd=None if cwd is None else self._path(cwd),
            )
            timeout = header.get("timeout")
            status = ctx.host.scheduler.wait(
                process, None if timeout is None else max(0.0, float(timeout))
            )
            timed_out = status is None
            if timed_out:
                process.kill(_KILL)
                ctx.host.scheduler.wait(process)
        finally:
            waits()
        found = out.getvalue()
        signal = process.killed_by
        return {
            "status": -signal if signal else process.status,
            "out": len(found),
            "timed_out": timed_out,
        }, found + err.getvalue()

    def _find(self, name: str, header: Header) -> None:
        """Raise the error of `execvp` if there is no such program."""
        fs = self.ctx.fs
        env = header.get("env") or self.ctx.env
        cwd = header.get("cwd")
        folder = self.ctx.cwd if cwd is None else self._path(cwd)
        if not fs.stat(folder).is_dir:
            raise os_error(errno.ENOTDIR)
        if "/" in name:
            path = name if name.startswith("/") else f"{folder}/{name}"
            if fs.stat(path).is_dir or not fs.access(path, 1):
                raise os_error(errno.EACCES)
        elif self._in_path(name, str(env.get("PATH", "/usr/bin:/bin"))) is None:
            raise os_error(errno.ENOENT)

    def _in_path(self, name: str, search: str) -> str | None:
        for folder in search.split(":"):
            path = f"{self._path(folder or '.')}/{name}"
            if self.ctx.fs.is_file(path) and self.ctx.fs.access(path, 1):
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
        if found is not None and found.path:  # opened for reading: its bytes were taken
            return self.ctx.keep(self.ctx.fs.open(found.path, "r"))
        raise os_error(errno.EBADF)

    def _input(self, how: object, payload: bytes) -> ByteReader:
        if how == "null":
            return Null()
        if how == "data":
            return BytesReader(payload)
        return self._stream(0 if how == "inherit" else how)  # type: ignore[return-value]

    def _output(self, how: object, buffer: Buffer, number: int) -> ByteWriter:
        if how == "null":
            return Null()
        if how == "data":
            return buffer
        return self._stream(number if how == "inherit" else how)  # type: ignore[return-value]

    def _which(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        return {"path": self._in_path(_text(header["name"]), self.ctx.env.get("PATH", ""))}, b""

    def _kill(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        scheduler = self.ctx.host.scheduler
        pid, signal = header["pid"], header["signal"]
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

    def _path(self, name: object) -> str:
        text = _text(name)
        if "\0" in text:
            raise os_error(errno.EINVAL)
        return self.ctx.path(text)

    def _chmod(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        path = self._path(header["path"]) if "path" in header else self._path_of(header["fd"])
        if not header.get("follow", True) and self.ctx.fs.stat(path, follow=False).is_link:
            raise os_error(errno.ENOTSUP)
        self.ctx.fs.chmod(path, int(header["mode"]) & 0o7777)
        return {}, b""

    def _path_of(self, number: object) -> str:
        """Return the path of an open file of the guest."""
        system = self.guest.system
        if system is None or not isinstance(number, int):
            raise os_error(errno.EBADF)
        return system.descriptor(number).path or "/"

    def _stat(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        info = self.ctx.fs.stat(self._path(header["path"]), follow=bool(header.get("follow", True)))
        return {"mode": info.mode, "uid": info.uid, "gid": info.gid, "nlink": info.nlink}, b""

    def _umask(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        before = self.guest.umask
        self.guest.umask = self.ctx.umask = int(header["mode"]) & 0o777
        return {"mode": before}, b""

    def _access(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        path, bits = self._path(header["path"]), int(header["bits"])
        self.ctx.fs.stat(path, follow=bool(header.get("follow", True)))
        if not self.ctx.fs.access(path, bits & 7):
            raise os_error(errno.EACCES)
        return {}, b""

    def _mkfifo(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        mode = int(header.get("mode", 0o666)) & 0o777 & ~self.guest.umask
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
        return {
            "fd": system.duplicate(int(header["fd"]), None if target is None else int(target))
        }, b""

    def _isatty(self, header: Header, payload: bytes) -> tuple[Header, bytes]:
        del payload
        return {"isatty": self._is_terminal(header["fd"])}, b""

    def _is_terminal(self, number: object) -> bool:
        system = self.guest.system
        found = None if system is None else system.descriptors.get(number)  # type: ignore[call-overload]
        return bool(getattr(found, "is_terminal", False))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return os.fsdecode(os.fsencode(value))


def _words(value: object) -> Sequence[str]:
    if not isinstance(value, list) or not value:
        raise TypeError
    return [_text(word) for word in value]
