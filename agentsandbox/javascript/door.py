"""What a JavaScript program may ask of the sandbox: files, streams, commands.

A question is a JSON object with `op`, and bytes; so is the answer. An error of the system is
`{"errno": 2, "code": "ENOENT"}`. Paths are absolute; names that are not UTF-8 use surrogate
escapes. The prelude builds node's `fs`, `child_process` and `process` from these.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import posixpath
import stat as stat_module
import zlib

from agentsandbox.kernel.streams import Buffer, BytesReader, Null
from agentsandbox.wasm.requests import number, read_request, table, text, whole, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import File, Mode, Stat
    from agentsandbox.kernel.streams import ByteReader, ByteWriter

    Reply = tuple[dict[str, Any], bytes]

MAX_FILES = 1024
"""Files that one program may have open."""

_FIRST_DESCRIPTOR = 3
_HASHES = frozenset(("md5", "sha1", "sha224", "sha256", "sha384", "sha512"))


class Door:
    """Answers the questions of one program. `ctx` is the command that runs it."""

    __slots__ = ("_ctx", "_files", "_next")

    def __init__(self, ctx: CommandContext) -> None:
        self._ctx = ctx
        self._files: dict[int, File] = {}
        self._next = _FIRST_DESCRIPTOR

    def answer(self, header: str, payload: bytes) -> tuple[str, bytes]:
        """Return header and payload of the answer to a question."""
        try:
            question = read_request(header, _FORMS)
            reply, data = OPERATIONS[question["op"]](self, question, payload)
        except OSError as error:
            number = error.errno or errno.EIO
            reply, data = {"errno": number, "code": errno.errorcode.get(number, "EIO")}, b""
        except (KeyError, ValueError):
            reply, data = {"errno": errno.EINVAL, "code": "EINVAL"}, b""
        return json.dumps(reply), data

    def close(self) -> None:
        """Close the files that the program left open."""
        while self._files:
            self._files.popitem()[1].release()

    # files by path

    def _read(self, question: dict[str, Any], _: bytes) -> Reply:
        path = question["path"]
        info = self._ctx.fs.stat(path)
        if info.is_dir:
            raise OSError(errno.EISDIR, "")
        if info.is_file:
            self._ctx.budget.charge(info.size)
        with self._ctx.fs.open(path, "r") as file:
            return {}, file.read()

    def _write(self, question: dict[str, Any], payload: bytes) -> Reply:
        mode: Mode = {"a": "a", "x": "x"}.get(question.get("flag", "w")[:1], "w")  # type: ignore[assignment]
        permissions = question.get("mode", 0o666) & ~self._ctx.umask
        with self._ctx.fs.open(question["path"], mode, permissions=permissions) as file:
            file.write(payload)
        return {}, b""

    def _list(self, question: dict[str, Any], _: bytes) -> Reply:
        fs, path = self._ctx.fs, question["path"]
        names = fs.listdir(path)
        self._ctx.budget.step(len(names))
        reply: dict[str, Any] = {"names": names}
        if question.get("kinds"):
            found = [fs.stat(posixpath.join(path, name), follow=False) for name in names]
            reply["modes"] = [info.mode for info in found]
        return reply, b""

    def _stat(self, question: dict[str, Any], _: bytes) -> Reply:
        info = self._ctx.fs.stat(question["path"], follow=question.get("follow", True))
        return {"stat": _described(info)}, b""

    def _find(self, question: dict[str, Any], _: bytes) -> Reply:
        """Return the first path that is a file, or whether the first one is a folder."""
        fs = self._ctx.fs
        folder = False
        for at, path in enumerate(question["paths"][:16]):
            self._ctx.budget.step(4)
            if fs.is_file(path):
                return {"path": path, "real": fs.realpath(path)}, b""
            folder = folder or (at == 0 and fs.is_dir(path))
        return {"folder": folder}, b""

    def _describe(self, question: dict[str, Any], _: bytes) -> Reply:
        """Return the nearest package.json at or above a folder."""
        folder = question["path"]
        for _level in range(64):
            self._ctx.budget.step(4)
            path = posixpath.join(folder, "package.json")
            if self._ctx.fs.is_file(path):
                return {"folder": folder}, self._ctx.fs.read_bytes(path)
            if folder == "/" or question.get("only"):
                break
            folder = posixpath.dirname(folder)
        return {"folder": None}, b""

    def _mkdir(self, question: dict[str, Any], _: bytes) -> Reply:
        fs, path = self._ctx.fs, question["path"]
        mode = question.get("mode", 0o777) & ~self._ctx.umask
        if not question.get("recursive"):
            fs.mkdir(path, mode)
            return {}, b""
        first = None
        missing = []
        while not fs.exists(path):
            self._ctx.budget.step()
            missing.append(path)
            path = posixpath.dirname(path)
        if not fs.is_dir(path):
            raise OSError(errno.EEXIST if not missing else errno.ENOTDIR, "")
        for path in reversed(missing):
            fs.mkdir(path, mode)
            first = first or path
        return {"first": first}, b""

    def _remove(self, question: dict[str, Any], _: bytes) -> Reply:
        fs, path = self._ctx.fs, question["path"]
        try:
            info = fs.stat(path, follow=False)
        except FileNotFoundError:
            if question.get("force"):
                return {}, b""
            raise
        if not info.is_dir:
            fs.unlink(path)
        elif question.get("recursive"):
            self._remove_tree(path)
        else:
            raise OSError(errno.EISDIR, "")
        return {}, b""

    def _remove_tree(self, path: str) -> None:
        fs, todo, folders = self._ctx.fs, [path], []
        while todo:
            folder = todo.pop()
            folders.append(folder)
            for name in fs.listdir(folder):
                self._ctx.budget.step()
                entry = posixpath.join(folder, name)
                if fs.stat(entry, follow=False).is_dir:
                    todo.append(entry)
                else:
                    fs.unlink(entry)
        for folder in reversed(folders):
            fs.rmdir(folder)

    def _simple(self, question: dict[str, Any], _: bytes) -> Reply:
        """Do what one call of the filesystem does."""
        fs, op, path = self._ctx.fs, question["op"], question["path"]
        if op == "rmdir":
            fs.rmdir(path)
        elif op == "unlink":
            fs.unlink(path)
        elif op == "rename":
            fs.rename(path, question["to"])
        elif op == "symlink":
            fs.symlink(question["text"], path)
        elif op == "link":
            fs.link(path, question["to"])
        elif op == "chmod":
            fs.chmod(path, question["mode"] & 0o7777)
        elif op == "utimes":
            fs.utime(path, float(question["mtime"]), atime=float(question["atime"]))
        elif op == "readlink":
            return {"path": fs.readlink(path)}, b""
        else:
            return {"path": fs.realpath(path)}, b""
        return {}, b""

    def _access(self, question: dict[str, Any], _: bytes) -> Reply:
        path, bits = question["path"], question.get("bits", 0)
        self._ctx.fs.stat(path)
        if bits and not self._ctx.fs.access(path, bits):
            raise OSError(errno.EACCES, "")
        return {}, b""

    # open files

    def _open(self, question: dict[str, Any], _: bytes) -> Reply:
        if len(self._files) >= MAX_FILES:
            raise OSError(errno.EMFILE, "")
        flag = question.get("flag", "r").replace("s", "")
        mode = _MODES.get(flag)
        if mode is None:
            raise OSError(errno.EINVAL, "")
        permissions = question.get("mode", 0o666) & ~self._ctx.umask
        file = self._ctx.fs.open(question["path"], mode, permissions=permissions)
        if flag in ("w+", "wx+"):
            file.release()
            file = self._ctx.fs.open(question["path"], "r+")
        number, self._next = self._next, self._next + 1
        self._files[number] = file
        return {"fd": number}, b""

    def _file(self, question: dict[str, Any]) -> File:
        file = self._files.get(question["fd"])
        if file is None:
            raise OSError(errno.EBADF, "")
        return file

    def _close(self, question: dict[str, Any], _: bytes) -> Reply:
        file = self._file(question)
        del self._files[question["fd"]]
        file.release()
        return {}, b""

    def _read_at(self, question: dict[str, Any], _: bytes) -> Reply:
        size = max(0, question["size"])
        self._ctx.budget.charge(min(size, 1 << 20))
        if question["fd"] == 0:
            return {}, self._ctx.stdin.read(size)
        file = self._file(question)
        position = question.get("position")
        if position is None:
            return {}, file.read(size)
        before = file.seek(0, 1)
        file.seek(position)
        try:
            return {}, file.read(size)
        finally:
            file.seek(before)

    def _write_at(self, question: dict[str, Any], payload: bytes) -> Reply:
        number = question["fd"]
        if number in (1, 2):
            (self._ctx.stdout if number == 1 else self._ctx.stderr).write(payload)
            return {}, b""
        file = self._file(question)
        position = question.get("position")
        if position is not None:
            file.seek(position)
        file.write(payload)
        return {}, b""

    def _stat_open(self, question: dict[str, Any], _: bytes) -> Reply:
        if question["fd"] < _FIRST_DESCRIPTOR:
            return {"stat": _described(self._ctx.fs.stat("/dev/null"))}, b""
        return {"stat": _described(self._file(question).stat())}, b""

    def _truncate(self, question: dict[str, Any], _: bytes) -> Reply:
        size = max(0, question.get("size", 0))
        if "fd" in question:
            self._file(question).truncate(size)
            return {}, b""
        with self._ctx.fs.open(question["path"], "r+") as file:
            file.truncate(size)
        return {}, b""

    def _stdin(self, question: dict[str, Any], _: bytes) -> Reply:
        del question
        return {}, self._ctx.stdin.read()

    # the machine

    def _sleep(self, question: dict[str, Any], _: bytes) -> Reply:
        self._ctx.host.scheduler.sleep(min(max(0.0, question["seconds"]), 86400.0))
        return {}, b""

    def _run(self, question: dict[str, Any], payload: bytes) -> Reply:
        ctx = self._ctx
        words = question["argv"]
        env = question.get("env")
        if not self._is_there(words[0], question["cwd"], ctx.env if env is None else env):
            raise OSError(errno.ENOENT, "")
        out, err = Buffer(ctx.budget.value_bytes), Buffer(ctx.budget.value_bytes)
        outputs: dict[str, ByteWriter] = {"data": out, "null": Null()}
        errors: dict[str, ByteWriter] = {"data": err, "null": Null(), "stdout": out}
        stdin: ByteReader = {"data": BytesReader(payload), "inherit": ctx.stdin}.get(
            question.get("stdin", "null"), Null()
        )
        process = ctx.start(
            words,
            stdin=stdin,
            stdout=outputs.get(question.get("stdout", "data"), ctx.stdout),
            stderr=errors.get(question.get("stderr", "data"), ctx.stderr),
            env=env,
            cwd=question["cwd"],
        )
        status = ctx.host.scheduler.wait(process, question.get("timeout"))
        late = status is None
        if late:
            process.kill(15)
            status = ctx.host.scheduler.wait(process, 1.0)
        data = out.getvalue()
        reply = {"status": 143 if status is None else status, "out": len(data), "late": late}
        return reply | {"signal": process.killed_by, "pid": process.pid}, data + err.getvalue()

    def _is_there(self, name: str, cwd: str, env: Any) -> bool:
        """Whether a program is found as `execvp` finds it."""
        fs = self._ctx.fs
        if "/" in name:
            return fs.exists(posixpath.join(cwd, name))
        if name in self._ctx.host.commands():
            return True
        folders = str(env.get("PATH", "/usr/bin:/bin")).split(":")[:64]
        return any(fs.is_file(posixpath.join(cwd, folder, name)) for folder in folders)

    def _which(self, question: dict[str, Any], _: bytes) -> Reply:
        return {"found": self._is_there(question["name"], question["cwd"], self._ctx.env)}, b""

    # bytes

    def _hash(self, question: dict[str, Any], payload: bytes) -> Reply:
        name = question["name"].lower().replace("-", "")
        if name not in _HASHES:
            raise OSError(errno.EINVAL, "")
        self._ctx.budget.step(len(payload) >> 8)
        return {}, hashlib.new(name, payload, usedforsecurity=False).digest()

    def _random(self, question: dict[str, Any], _: bytes) -> Reply:
        size = min(max(0, question["size"]), 1 << 20)
        host = self._ctx.host
        return {}, host.random.randbytes(size) if host.is_seeded else os.urandom(size)

    def _deflate(self, question: dict[str, Any], payload: bytes) -> Reply:
        self._ctx.budget.step(len(payload) >> 6)
        packer = zlib.compressobj(wbits=_WINDOWS[question["form"]])
        return {}, packer.compress(payload) + packer.flush()

    def _inflate(self, question: dict[str, Any], payload: bytes) -> Reply:
        limit = self._ctx.budget.value_bytes
        unpacker = zlib.decompressobj(wbits=_WINDOWS[question["form"]])
        try:
            data = unpacker.decompress(payload, limit)
        except zlib.error:
            raise OSError(errno.EINVAL, "") from None
        self._ctx.budget.charge(len(data) + bool(unpacker.unconsumed_tail))
        if not unpacker.eof:
            raise OSError(errno.EINVAL, "")
        return {}, data


_MODES: dict[str, Mode] = {
    "r": "r", "r+": "r+", "w": "w", "w+": "w", "wx": "x", "xw": "x", "wx+": "x", "a": "a",
    "ax": "x",
}  # fmt: skip
"""The modes of a filesystem by node's flags."""

_WINDOWS = {"gzip": 31, "zlib": 15, "raw": -15}

_FORMS: dict[str, Callable[[Any], Any]] = {
    "op": text, "path": text, "to": text, "text": text, "paths": words, "argv": words, "cwd": text,
    "env": table, "fd": whole, "mode": whole, "bits": whole, "flag": text, "position": whole,
    "size": whole, "kinds": bool, "recursive": bool, "force": bool, "follow": bool, "only": bool,
    "atime": number, "mtime": number, "seconds": number, "timeout": number, "stdin": text,
    "stdout": text, "stderr": text, "name": text, "form": text,
}  # fmt: skip
"""The forms of the fields of all questions."""

OPERATIONS: dict[str, Callable[[Door, dict[str, Any], bytes], Reply]] = {
    "read": Door._read,
    "write": Door._write,
    "list": Door._list,
    "stat": Door._stat,
    "find": Door._find,
    "describe": Door._describe,
    "mkdir": Door._mkdir,
    "remove": Door._remove,
    "access": Door._access,
    "open": Door._open,
    "close": Door._close,
    "read_at": Door._read_at,
    "write_at": Door._write_at,
    "fstat": Door._stat_open,
    "truncate": Door._truncate,
    "stdin": Door._stdin,
    "sleep": Door._sleep,
    "run": Door._run,
    "which": Door._which,
    "hash": Door._hash,
    "random": Door._random,
    "deflate": Door._deflate,
    "inflate": Door._inflate,
} | dict.fromkeys(
    ("rmdir", "unlink", "rename", "symlink", "link", "chmod", "utimes", "readlink", "realpath"),
    Door._simple,
)
"""What may be asked, by `op`."""


def _described(info: Stat) -> dict[str, Any]:
    """Return a `Stat` as numbers; times in seconds."""
    return {
        "mode": info.mode, "size": 4096 if stat_module.S_ISDIR(info.mode) else info.size,
        "ino": info.ino, "nlink": info.nlink, "uid": info.uid, "gid": info.gid,
        "mtime": info.mtime, "atime": info.atime, "ctime": info.ctime,
    }  # fmt: skip
