"""`fuser` (psmisc): the processes of the sandbox that have a file open."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._paths import canonicalize
from agentsandbox.commands._processes import command_name, running
from agentsandbox.commands._space import Space
from agentsandbox.fs.base import File, PositionedFile
from agentsandbox.manners import Manners, Release
from agentsandbox.processes import SIGNAL_NUMBERS, SIGNALS
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.processes import Process

_FLAGS = {
    "a": "all", "i": "interactive", "I": "inode", "k": "kill", "l": "list-signals", "m": "mount", "M": "ismountpoint", "s": "silent",
    "u": "user", "v": "verbose", "w": "writeonly", "V": "version", "4": "ipv4", "6": "ipv6", "c": "", "f": "",
}  # fmt: skip
_LONG = {f"--{name}": letter for letter, name in _FLAGS.items() if name}
_SPACES = ("file", "tcp", "udp")
_PORT = re.compile(r"[0-9]*(?:,[^,/]*){0,2}")
_NAME, _COLUMN = 20, 21
_FIRST_LINE = 16
_LAST_SIGNAL = 31


class _CallError(Exception):
    """The words are wrong."""


@dataclass(slots=True)
class _Call:
    """What the words ask for: letters of options, the signal, the names each in its space ("" for none that there is)."""

    flags: str = ""
    signal: int = SIGNAL_NUMBERS["KILL"]
    space: str = "file"
    names: list[tuple[str, str]] = field(default_factory=list)


@command(
    "fuser",
    manners=Manners(Release("NAME (PSmisc) 23.6", "-V, --version")),
    usage="""
    Usage: fuser [-acfIikMmsuvw46] [-n SPACE] [-SIGNAL] NAME...
      or:  fuser -l | -V
    Show which processes of the sandbox have the named files open. Directories that a process works in are not shown, and
    there are no sockets.

      -a, --all              show unused files too
      -c                     the same as -m
      -f                     (ignored)
      -i, --interactive      with -k: ask before each process
      -I, --inode            compare files by their inodes: always so
      -k, --kill             kill the processes that use the file
      -l, --list-signals     list the names of signals
      -m, --mount            all processes that use the filesystem that NAME is on: there is one
      -M, --ismountpoint     leave out NAMEs at which no filesystem is mounted
      -n, --namespace SPACE  NAMEs are of this space: file, tcp or udp
      -s, --silent           print nothing
      -SIGNAL                the signal for -k; KILL if not given
      -u, --user             show the user behind each process
      -v, --verbose          show user, access and command
      -w, --writeonly        with -k: only processes that have the file open for writing
      -V, --version          show the release that this command follows
      -4, --ipv4             only sockets of IPv4
      -6, --ipv6             only sockets of IPv6
    """,
    raw=True,
)
def fuser(ctx: CommandContext, args: Arguments) -> int:
    try:
        call = _read(ctx, args.operands)
        if not {"V", "l"} & set(call.flags):
            _check(call)
    except _CallError as refusal:
        ctx.stderr.write(encode(f"{refusal}\n"))
        return 1
    flags = call.flags
    if "V" in flags:
        ctx.stdout.write(encode(fuser.version()))
        return 0
    if "l" in flags:
        _list_signals(ctx)
        return 0
    if "M" in flags:
        call.names = [(space, name) for space, name in call.names if _is_mount_point(ctx, name)]
        if not call.names:
            return 1
    if "v" in flags and "s" not in flags and ("a" in flags or _anything_used(ctx, call)):
        ctx.stderr.write(b" " * _COLUMN + b"USER        PID ACCESS COMMAND\n")
    ctx.host.scheduler.sleep(0.02)  # a job that has just been started opens its files now
    status = 1
    for space, name in call.names:
        if not space:
            continue
        users: list[tuple[Process, str]] = []
        shown = name
        if space == "file" and ctx.fs.exists(ctx.path(name)):
            shown = ctx.fs.realpath(ctx.path(name))
            users = _users(ctx, shown, whole="m" in flags or "c" in flags)
        if "s" not in flags:
            _show(ctx, shown, users, flags)
        if users:
            status = 0
        if "k" in flags:
            _kill(ctx, call, users)
    return status


def _read(ctx: CommandContext, words: list[str]) -> _Call:
    call = _Call()
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word in ("-", "--"):
            break
        if word == "--namespace":
            _choose_space(call, rest)
        elif word in _LONG:
            call.flags += _LONG[word]
        elif word[:2] == "--":
            raise _misused(f"fuser: Invalid option {word}")
        elif word[:1] == "-":
            _read_letters(call, word[1:], rest)
        else:
            _add_name(ctx, call, word)
    return call


def _misused(message: str) -> _CallError:
    return _CallError(f"{message}\n{fuser.usage}")


def _choose_space(call: _Call, rest: list[str]) -> None:
    if not rest:
        raise _misused("Namespace option requires an argument.")
    call.space = rest.pop()
    if call.space not in _SPACES:
        raise _misused("Invalid namespace name")


def _read_letters(call: _Call, word: str, rest: list[str]) -> None:
    """Letters of options; the whole word is a signal where a capital or a digit is none of them."""
    for letter in word:
        if letter == "n":
            _choose_space(call, rest)
            return
        if letter in _FLAGS:
            call.flags += letter
        elif letter.isascii() and (letter.isupper() or letter.isdecimal()):
            call.signal = _signal(word)
            return
        else:
            raise _misused(f"fuser: Invalid option {letter}")


def _signal(word: str) -> int:
    name = word.removeprefix("SIG")
    if name in SIGNAL_NUMBERS:
        return SIGNAL_NUMBERS[name]
    number = re.match("[0-9]{1,9}", word)
    if number is None:
        raise _CallError(f"{name}: unknown signal; fuser -l lists signals.")
    return int(number[0])


def _add_name(ctx: CommandContext, call: _Call, name: str) -> None:
    """Keep a name; one that is no file is told at once, and kept for -a and -M alone."""
    port, slash, space = name.rpartition("/")
    if call.space == "file" and not (slash and space in _SPACES[1:] and not ctx.fs.exists(ctx.path(name))):
        if not ctx.fs.exists(ctx.path(name)):
            ctx.stderr.write(encode(f"Specified filename {name} does not exist.\n"))
        call.names.append(("file", name))
        return
    if call.space != "file":
        port, space = name, call.space
    if not _PORT.fullmatch(port):
        ctx.stderr.write(encode(f"Cannot resolve local port {port.partition(',')[0]}: Servname not supported for ai_socktype\n"))
        space = ""
    call.names.append((space, f"{port}/{space}"))


def _check(call: _Call) -> None:
    if not call.names:
        raise _misused("No process specification given")
    if "a" in call.flags and "s" in call.flags:
        raise _misused("all option cannot be used with silent option.")
    if "4" in call.flags and "6" in call.flags:
        raise _misused("You cannot search for only IPv4 and only IPv6 sockets at the same time")
    if any(letter in call.flags for letter in "mcM") and any(space != "file" for space, _ in call.names):
        raise _misused("You can only use files with mountpoint options")


def _is_mount_point(ctx: CommandContext, name: str) -> bool:
    path = canonicalize(ctx, name, "missing")
    if Space(ctx).mount_point(path) == path:
        return True
    shown = path if ctx.fs.exists(path) else name
    ctx.stderr.write(encode(f"Specified filename {shown} is not a mountpoint.\n"))
    return False


def _anything_used(ctx: CommandContext, call: _Call) -> bool:
    whole = "m" in call.flags or "c" in call.flags
    files = [ctx.path(name) for space, name in call.names if space == "file"]
    return any(_users(ctx, path, whole=whole) for path in files if ctx.fs.exists(path))


def _kill(ctx: CommandContext, call: _Call, users: list[tuple[Process, str]]) -> None:
    for process, access in users:
        if process is ctx.host.scheduler.current or ("w" in call.flags and access != "F"):
            continue
        if "i" in call.flags:
            ctx.stderr.write(b"Kill process %d ? (y/N) " % process.pid)
            if ctx.stdin.readline()[:1] not in (b"y", b"Y"):
                continue
        process.kill(call.signal, group=True)


def _users(ctx: CommandContext, path: str, *, whole: bool) -> list[tuple[Process, str]]:
    """The processes that have the file open, or any file with `whole`, and how: F for writing, f for reading."""
    inode = ctx.fs.stat(path).ino
    found = []
    for process in running(ctx):
        if process is ctx.host.scheduler.current and process is not ctx.host.scheduler.main:
            continue
        access = ""
        for stream in (process.descriptors or {}).values():
            ctx.budget.step()
            if isinstance(stream, File) and (whole or _inode(stream) == inode):
                access = "F" if isinstance(stream, PositionedFile) and stream.writable else access or "f"
        if access:
            found.append((process, access))
    return found


def _inode(stream: File) -> int:
    try:
        return stream.stat().ino
    except OSError:
        return 0


def _show(ctx: CommandContext, path: str, users: list[tuple[Process, str]], flags: str) -> None:
    """The name on stderr, the numbers on stdout, as the real one divides them."""
    if not users:
        if "a" in flags:
            ctx.stderr.write(encode(f"{path}:\n"))
        return
    verbose = "v" in flags
    ctx.stderr.write(encode(f"{path}:".ljust(_COLUMN if verbose else _NAME)))
    for position, (process, access) in enumerate(users):
        if verbose:
            margin = " " * _COLUMN if position else ""
            ctx.stderr.write(encode(f"{margin}{ctx.host.user:<8} "))
        ctx.stdout.write(b"%6d" % process.pid)
        if verbose:
            ctx.stderr.write(encode(f" {access}.... {command_name(process)}\n"))
        elif "u" in flags:
            ctx.stderr.write(encode(f"({ctx.host.user})"))
    if not verbose:
        ctx.stderr.write(b"\n")


def _list_signals(ctx: CommandContext) -> None:
    names = ["POLL" if number == SIGNAL_NUMBERS["IO"] else SIGNALS[number] for number in range(1, _LAST_SIGNAL + 1)]
    ctx.print(" ".join(names[:_FIRST_LINE]))
    ctx.print(" ".join(names[_FIRST_LINE:]))
