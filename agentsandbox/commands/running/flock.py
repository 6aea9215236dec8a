"""`flock` (util-linux): hold an advisory lock while a command runs, or on a descriptor."""

from __future__ import annotations

import errno
import os

from agentsandbox.commands._processes.programs import find_problem
from agentsandbox.commands._suites import UTIL_LINUX
from agentsandbox.commands._time.durations import parse_duration
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_USAGE_STATUS, _DATA_ERROR, _NO_INPUT, _UNAVAILABLE, _OS_ERROR = 64, 65, 66, 69, 71
_MOST = 1024
"""How many files may be locked at a time."""


class _Lock:
    """One attempt at a lock on an open file."""

    def __init__(self, ctx: CommandContext, inode: int, holder: Stream, *, shared: bool) -> None:
        self.locks = ctx.host.locks
        self.inode = inode
        self.holder = holder
        self.shared = shared

    def take(self) -> bool:
        """Take the lock unless another excludes it; an own one is converted."""
        if not self.inode:
            return True
        others = [
            each
            for each in self.locks.get(self.inode, ())
            if each[0] is not self.holder and each[0].references > 0
        ]
        if any(not (self.shared and shared) for _, shared in others):
            return False
        self.locks[self.inode] = [*others, (self.holder, self.shared)]
        return True

    def drop(self) -> None:
        """Give the lock back."""
        left = [each for each in self.locks.get(self.inode, ()) if each[0] is not self.holder]
        if left:
            self.locks[self.inode] = left
        else:
            self.locks.pop(self.inode, None)


@command(
    "flock",
    manners=Manners(
        UTIL_LINUX,
        long_options="""
            shared exclusive unlock nonblocking nb timeout wait conflict-exit-code close
            no-fork verbose help version
        """,
        unbuffered=True,
    ),
    usage="""
    Usage: flock [OPTION]... FILE|DIRECTORY COMMAND [ARGUMENT]...
      or:  flock [OPTION]... FILE|DIRECTORY -c COMMAND
      or:  flock [OPTION]... DESCRIPTOR
    Run COMMAND while a lock on FILE is held, or lock an open file until it is closed.

      -s, --shared             get a shared lock
      -x, -e, --exclusive      get an exclusive lock (the default)
      -u, --unlock             give back a lock
      -n, --nb, --nonblock, --nonblocking  fail, do not wait
      -w, --wait, --timeout=SECS  wait no longer than this
      -E, --conflict-exit-code=NUMBER  the status after a conflict or a timeout (1)
      -h, --help               display this help and exit
    """,
    permute=False,
    usage_status=_USAGE_STATUS,
)
def flock(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("not enough arguments")
    seconds, conflict = _read_wait(args), _read_status(args)
    kind = args.last("shared", "exclusive", "unlock") or "exclusive"
    name, words = args.operands[0], _words(args.operands[1:], ctx.env.get("SHELL") or "/bin/sh")
    inode, holder = _open(ctx, name) if words is not None else _descriptor(ctx, name)
    lock = _Lock(ctx, inode, holder, shared=kind == "shared")
    try:
        if kind == "unlock":
            lock.drop()
        elif not _wait(ctx, lock, seconds):
            return conflict
        if words is None:
            return 0
        problem = find_problem(ctx, words[0])
        if problem:
            raise CommandError(
                f"failed to execute {words[0]}: {os.strerror(problem)}", _UNAVAILABLE
            )
        return ctx.run(words)
    finally:
        if words is not None:
            lock.drop()


def _words(rest: Sequence[str], shell: str) -> Sequence[str] | None:
    """Return the command to run; None for the form that only locks."""
    if not rest:
        return None
    if rest[0] in ("-c", "--command"):
        if len(rest) != 2:
            raise CommandError(f"{rest[0]} requires exactly one command argument", _USAGE_STATUS)
        return (shell, "-c", rest[1])
    return rest


def _read_wait(args: Arguments) -> float | None:
    """Return how long to wait, None for ever."""
    if args.flag("nb"):
        return 0.0
    text = args.value("wait")
    if text is None:
        return None
    seconds = parse_duration(text) if text[-1:].isdecimal() or text[-1:] == "." else None
    if seconds is None:
        if text.startswith("-") and parse_duration(text[1:]) is not None:
            raise CommandError("cannot set up timer: Invalid argument", _OS_ERROR)
        raise CommandError(f"invalid timeout value: '{text}'", _USAGE_STATUS)
    return seconds


def _read_status(args: Arguments) -> int:
    text = args.value("conflict-exit-code", "1") or ""
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise CommandError(f"invalid exit code: '{text}'", _USAGE_STATUS)
    if int(text) > 255:
        raise CommandError("exit code out of range (expected 0 to 255)", _USAGE_STATUS)
    return int(text)


def _open(ctx: CommandContext, name: str) -> tuple[int, Stream]:
    """Return (inode, lock holder) of a file, which is made if it is missing."""
    try:
        if not name:
            raise FileNotFoundError(errno.ENOENT, "")
        path = ctx.path(name)
        if not ctx.fs.exists(path):
            ctx.fs.open(path, "a", permissions=0o666 & ~ctx.umask).release()
        elif not ctx.fs.access(path, 4):
            raise PermissionError(errno.EACCES, "")
        return ctx.fs.stat(path).ino, Stream()
    except OSError as error:
        raise CommandError(
            f"cannot open lock file {name}: {describe_os_error(error, '')}", _NO_INPUT
        ) from None


def _descriptor(ctx: CommandContext, text: str) -> tuple[int, Stream]:
    """Return (inode, stream) of an open file; the stream holds the lock until it is closed."""
    if not (text.isascii() and text.isdecimal()):
        raise CommandError(f"bad file descriptor: '{text}'", _USAGE_STATUS)
    if len(text) > 10 or int(text) > 2**31 - 1:
        raise CommandError(
            f"bad file descriptor: '{text}': Numerical result out of range", _USAGE_STATUS
        )
    stream = (ctx.host.scheduler.current.descriptors or {}).get(int(text))
    if stream is None:
        raise CommandError(f"{int(text)}: Bad file descriptor", _DATA_ERROR)
    return (stream.stat().ino if isinstance(stream, File) else 0), stream


def _wait(ctx: CommandContext, lock: _Lock, seconds: float | None) -> bool:
    """Whether the lock was got in time."""
    locks = ctx.host.locks
    for inode in [
        inode
        for inode, held in locks.items()
        if not any(holder.references > 0 for holder, _ in held)
    ]:
        del locks[inode]
    if len(locks) >= _MOST:
        raise CommandError("cannot lock: No locks available", _OS_ERROR)
    if lock.take():
        return True
    return seconds != 0.0 and ctx.host.scheduler.block(lock.take, seconds)
