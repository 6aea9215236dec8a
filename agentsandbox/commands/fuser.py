"""`fuser` (psmisc): the processes of the sandbox that have a file open."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._processes import command_name, running
from agentsandbox.errors import CommandError
from agentsandbox.fs.base import File
from agentsandbox.processes import SIGNAL_NUMBERS, SIGNALS
from agentsandbox.releases import release_of
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.processes import Process

_FLAGS = {
    "a": "all", "k": "kill", "l": "list", "s": "silent", "u": "user", "v": "verbose", "V": "version", "I": "inode",
}  # fmt: skip
_LONG = {
    "--all": "a",
    "--kill": "k",
    "--list-signals": "l",
    "--silent": "s",
    "--user": "u",
    "--verbose": "v",
    "--version": "V",
    "--inode": "I",
}
_NAME, _COLUMN = 20, 21
_FIRST_LINE = 16
_LAST_SIGNAL = 31


@command(
    "fuser",
    usage="""
    Usage: fuser [-aIklsuvV] [-SIGNAL] NAME...
    Show which processes of the sandbox have the named files open. Directories that a process works in are not shown.

      -a, --all           show unused files too
      -k, --kill          kill the processes that use the file
      -l, --list-signals  list the names of signals
      -s, --silent        print nothing
      -SIGNAL             the signal for -k; KILL if not given
      -u, --user          show the user behind each process
      -v, --verbose       show user, access and command
      -I, --inode         compare files by their inodes: always so
      -V, --version       show the release that this command follows
    """,
    raw=True,
)
def fuser(ctx: CommandContext, args: Arguments) -> int:
    flags, signal, names = _read(args.operands)
    if "V" in flags:
        ctx.stdout.write(encode(release_of("fuser")))
        return 0
    if "l" in flags:
        _list_signals(ctx)
        return 0
    if not names:
        ctx.stderr.write(encode(f"No process specification given\n{fuser.usage}\n"))
        return 1
    if "v" in flags and "s" not in flags:
        ctx.stderr.write(b" " * _COLUMN + b"USER        PID ACCESS COMMAND\n")
    status = 1
    ctx.host.scheduler.sleep(0.02)  # a job that has just been started opens its files now
    for name in names:
        if not ctx.fs.exists(ctx.path(name)):
            ctx.stderr.write(encode(f"Specified filename {name} does not exist.\n"))
            if "a" in flags:
                ctx.stderr.write(encode(f"{name}:\n"))
            continue
        path = ctx.fs.realpath(ctx.path(name))
        users = _users(ctx, path)
        if "s" not in flags:
            _show(ctx, path, users, flags)
        if users:
            status = 0
        if "k" in flags:
            for process, _ in users:
                if process is not ctx.host.scheduler.current:
                    process.kill(signal, group=True)
    return status


def _read(words: list[str]) -> tuple[str, int, list[str]]:
    """Letters of the options, the signal, the operands."""
    flags, signal = "", SIGNAL_NUMBERS["KILL"]
    names: list[str] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            names += reversed(rest)
            break
        if word in _LONG:
            flags += _LONG[word]
        elif len(word) < 2 or word[0] != "-":
            names.append(word)
        elif word[1:] in SIGNAL_NUMBERS:
            signal = SIGNAL_NUMBERS[word[1:]]
        elif word[1:].isascii() and word[1:].isdecimal() and len(word) < 4 and int(word[1:]) in SIGNALS:
            signal = int(word[1:])
        elif all(letter in _FLAGS for letter in word[1:]):
            flags += word[1:]
        else:
            wrong = word if word.startswith("--") else next(letter for letter in word[1:] if letter not in _FLAGS)
            raise CommandError(f"Invalid option {wrong}\n{fuser.usage}")
    return flags, signal, names


def _users(ctx: CommandContext, path: str) -> list[tuple[Process, str]]:
    """The processes that have the file open, and how: F for writing, f for reading."""
    inode = ctx.fs.stat(path).ino
    found = []
    for process in running(ctx):
        if process is ctx.host.scheduler.current and process is not ctx.host.scheduler.main:
            continue
        access = ""
        for number, stream in sorted((process.descriptors or {}).items()):
            ctx.budget.step()
            if isinstance(stream, File) and _inode(stream) == inode:
                access = "F" if number in (1, 2) else access or "f"
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
