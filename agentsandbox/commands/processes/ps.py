"""`ps` (procps): the processes of the sandbox, by options of UNIX, BSD and GNU."""

from __future__ import annotations

import re

from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands._processes.listing import command_name, parent_pid, running
from agentsandbox.commands._suites import PROCPS
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.formats.strftime import strftime
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.processes import Process

    Show = Callable[[CommandContext, Process], str]

_HINT = """
Usage:
 ps [options]

 Try 'ps --help <simple|list|output|threads|misc|all>'
  or 'ps --help <s|l|o|t|m|a>'
 for additional help text.

For more details see ps(1).
"""


def _parent(ctx: CommandContext, process: Process) -> str:
    return str(parent_pid(ctx, process))


def _pid(_: CommandContext, process: Process) -> str:
    return str(process.pid)


def _time(format: str) -> Show:
    return lambda ctx, _: strftime(int(ctx.host.started), format, ctx.env.get("TZ", ""))


def _fixed(text: str) -> Show:
    return lambda _ctx, _process: text


def _niceness(base: int, sign: int) -> Show:
    return lambda _ctx, process: str(base + sign * process.niceness)


def _user(ctx: CommandContext, _: Process) -> str:
    return ctx.host.user


def _seconds(ctx: CommandContext) -> int:
    return max(0, int(ctx.host.clock() - ctx.host.started))


def _elapsed(ctx: CommandContext, _: Process) -> str:
    hours, rest = divmod(_seconds(ctx), 3600)
    days, hours = divmod(hours, 24)
    start = (f"{days}-" if days else "") + (f"{hours:02d}:" if hours or days else "")
    return f"{start}{rest // 60:02d}:{rest % 60:02d}"


def _short_name(_: CommandContext, process: Process) -> str:
    return command_name(process)


_COLUMNS: dict[str, tuple[str, int, Show]] = {
    "pid": ("PID", -5, _pid), "ppid": ("PPID", -5, _parent), "pgid": ("PGID", -5, _pid),
    "sid": ("SID", -5, _pid), "user": ("USER", 8, _user), "group": ("GROUP", 8, _user),
    "uid": ("UID", -5, _fixed("1000")), "gid": ("GID", -5, _fixed("1000")),
    "tty": ("TT", 8, _fixed("?")), "tname": ("TTY", 8, _fixed("?")),
    "stat": ("STAT", 4, _fixed("S")), "s": ("S", 1, _fixed("S")),
    "time": ("TIME", -8, _fixed("00:00:00")), "bsdtime": ("TIME", -6, _fixed("0:00")),
    "etime": ("ELAPSED", -11, _elapsed),
    "etimes": ("ELAPSED", -7, lambda ctx, _: str(_seconds(ctx))),
    "start": ("STARTED", -8, _time("%H:%M:%S")),
    "lstart": ("STARTED", -24, _time("%a %b %e %H:%M:%S %Y")),
    "stime": ("STIME", 5, _time("%H:%M")), "start_time": ("START", 5, _time("%H:%M")),
    "pcpu": ("%CPU", -4, _fixed("0.0")), "pmem": ("%MEM", -4, _fixed("0.0")),
    "c": ("C", -2, _fixed("0")), "vsz": ("VSZ", -6, _fixed("0")), "rss": ("RSS", -5, _fixed("0")),
    "ni": ("NI", -3, _niceness(0, 1)), "pri": ("PRI", -3, _niceness(19, -1)),
    "wchan": ("WCHAN", 6, _fixed("-")), "f": ("F", -1, _fixed("0")),
    "addr_sz": ("ADDR SZ", -7, _fixed("-     0")), "comm": ("COMMAND", 15, _short_name),
    "args": ("COMMAND", 27, lambda _, process: process.name),
}  # fmt: skip
_SYNONYMS = {
    "command": "args", "cmd": "args", "ucmd": "comm", "tt": "tty", "state": "s", "%cpu": "pcpu",
    "%mem": "pmem", "cputime": "time", "nice": "ni", "rsz": "rss", "vsize": "vsz", "pgrp": "pgid",
}  # fmt: skip
_HEADERS = {"cmd": "CMD", "ucmd": "CMD", "pgrp": "PGRP"}
_LAYOUTS = {
    "": "pid tname time ucmd",
    "f": "user=UID pid ppid c stime tname time cmd",
    "l": "f s uid pid ppid c pri ni addr_sz wchan tname time ucmd",
    "bsd": "pid tname stat bsdtime args",
    "bsd u": "user pid pcpu pmem vsz rss tname stat start_time bsdtime args",
}
_LISTS = {
    "p": "pid", "C": "name", "u": "user", "U": "user", "t": "tty", "g": "pid", "G": "user",
    "s": "pid",
}  # fmt: skip
_LONG_LISTS = {"pid": "pid", "ppid": "parent", "user": "user"}
_LONG_LAYOUTS = {"format": "format", "sort": "sort"}
_LONG_FLAGS = {
    "no-headers": "bare", "no-heading": "bare", "no-headings": "bare", "forest": "forest",
}  # fmt: skip


class _Request:
    """What the words ask for."""

    def __init__(self) -> None:
        self.selections: list[tuple[str, list[str]]] = []
        self.formats: list[str] = []
        self.sorts: list[str] = []
        self.letters = ""
        self.bsd = ""
        self.flags: set[str] = set()

    def read(self, words: Sequence[str]) -> None:
        rest = list(reversed(words))
        while rest:
            word = rest.pop()
            if word.startswith("--"):
                self._long(word[2:], rest)
            elif word.startswith("-") and len(word) > 1:
                self._unix(word[1:], rest)
            elif word[:1].isdecimal():
                self.selections.append(("pid", _pids(word)))
            else:
                self._bsd(word, rest)

    def _long(self, text: str, rest: list[str]) -> None:
        name, equals, value = text.partition("=")
        if name in _LONG_FLAGS:
            self.flags.add(_LONG_FLAGS[name])
            return
        if name not in _LONG_LISTS and name not in _LONG_LAYOUTS:
            raise _wrong("unknown gnu long option")
        if not equals:
            if not rest:
                layout = name in _LONG_LAYOUTS
                start = "garbage option: --" if layout else "list of process IDs must follow --"
                raise _wrong(start + name)
            value = rest.pop()
        self._take(_LONG_LISTS.get(name) or _LONG_LAYOUTS[name], value)

    def _unix(self, letters: str, rest: list[str]) -> None:
        for at, letter in enumerate(letters):
            kind = "format" if letter == "o" else _LISTS.get(letter)
            if kind is not None:
                value = letters[at + 1 :] or (rest.pop() if rest else None)
                if value is None:
                    if kind == "pid":
                        raise _wrong(f"list of process IDs must follow -{letter}")
                    raise _wrong(f"option -{letter} requires an argument")
                self._take(kind, value)
                return
            if letter not in "AeaflwHxV":
                raise _wrong("unsupported SysV option")
            self.flags.add({"V": "version", "H": "forest"}.get(letter, ""))
            self.letters += letter

    def _bsd(self, letters: str, rest: list[str]) -> None:
        self.bsd += "."
        for at, letter in enumerate(letters):
            kind = {"p": "pid", "U": "user", "o": "format", "k": "sort"}.get(letter)
            if kind is not None:
                value = letters[at + 1 :] or (rest.pop() if rest else None)
                if value is None:
                    raise _wrong(f"option {letter} requires an argument")
                self._take(kind, value)
                return
            if letter not in "axufwhVg":
                raise _wrong("unsupported option (BSD syntax)")
            self.flags.add({"h": "bare", "f": "forest", "V": "version"}.get(letter, ""))
            self.bsd += letter

    def _take(self, kind: str, value: str) -> None:
        if kind == "format":
            self.formats.append(value)
        elif kind == "sort":
            self.sorts += value.split(",")
        else:
            split = _pids if kind in ("pid", "parent") else _split_list
            self.selections.append((kind, split(value)))

    def layout(self) -> list[tuple[str, str]]:
        """Return (column, header) of each column to show."""
        if self.formats:
            return [column for text in self.formats for column in _columns(text)]
        form = next((each for each in "fl" if each in self.letters), "")
        if self.bsd:
            form = "bsd u" if "u" in self.bsd else "bsd"
        return [column for name in _LAYOUTS[form].split() for column in _columns(name)]


def _wrong(message: str) -> CommandError:
    return CommandError(f"error: {message}\n{_HINT}")


def _split_list(text: str) -> list[str]:
    return re.split("[ ,]", text)


def _pids(text: str) -> list[str]:
    found = _split_list(text)
    if not all(each.isascii() and each.isdecimal() for each in found):
        raise _wrong("process ID list syntax error")
    return found


def _columns(text: str) -> list[tuple[str, str]]:
    """Return (column, header) of each column that a value of -o names."""
    columns: list[tuple[str, str]] = []
    rest = text
    while rest:
        found = re.match(r"[ ,]*([^ ,=]+)(?:=(.*))?", rest, re.DOTALL)
        if found is None:
            break
        name, header = found.groups()
        key = _SYNONYMS.get(name, name)
        if key not in _COLUMNS:
            raise _wrong(f'unknown user-defined format specifier "{name}"')
        rest = rest[found.end() :] if header is None else ""
        if header is not None and re.fullmatch(r"[^,]*(?:,[a-z%_]+=?[^,]*)+", header):
            header, _, rest = header.partition(",")
        columns.append((key, _HEADERS.get(name, _COLUMNS[key][0]) if header is None else header))
    return columns


def _is_ours(owners: Owners, values: Sequence[str]) -> bool:
    return any(owners.user_number(value) == 1000 for value in values)


def _is_no_terminal(_: Owners, values: Sequence[str]) -> bool:
    return "?" in values or "-" in values


def _selected(ctx: CommandContext, request: _Request) -> list[Process]:
    everyone = running(ctx)
    if not request.selections:
        return everyone
    owners = Owners(ctx)
    chosen = set()
    for kind, values in request.selections:
        for process in everyone:
            ctx.budget.step()
            shown = {"pid": _pid, "parent": _parent, "name": _short_name}.get(kind)
            ours = {"user": _is_ours, "tty": _is_no_terminal}.get(kind)
            if (shown is not None and shown(ctx, process) in values) or (
                ours is not None and ours(owners, values)
            ):
                chosen.add(process.pid)
        if kind == "user" and any(owners.user_number(value) is None for value in values):
            raise _wrong("user name does not exist")
    return [process for process in everyone if process.pid in chosen]


def _sort(ctx: CommandContext, processes: list[Process], keys: Sequence[str]) -> None:
    for key in reversed(keys):
        name = key.lstrip("+-")
        column = _COLUMNS.get(_SYNONYMS.get(name, name))
        if column is None:
            raise _wrong("unknown sort specifier")
        show = column[2]

        def value(process: Process, show: Show = show) -> tuple[int, str]:
            text = show(ctx, process)
            return (int(text), "") if text.isdecimal() else (0, text)

        processes.sort(key=value, reverse=key.startswith("-"))


def _show(ctx: CommandContext, request: _Request, processes: Sequence[Process]) -> None:
    columns = request.layout()
    rows = [[_COLUMNS[key][2](ctx, process) for key, _ in columns] for process in processes]
    if "forest" in request.flags:
        for row, process in zip(rows, processes, strict=True):
            if process is not ctx.host.scheduler.main and columns[-1][0] in ("comm", "args"):
                row[-1] = f" \\_ {row[-1]}"
    titles = [header for _, header in columns]
    if "bare" not in request.flags and any(titles):
        rows.insert(0, titles)
    widths = [max(abs(_COLUMNS[key][1]), len(header)) for key, header in columns]
    for row in rows:
        cells = []
        for at, (text, width, (key, _)) in enumerate(zip(row, widths, columns, strict=True)):
            last = at == len(row) - 1
            right = _COLUMNS[key][1] < 0
            cells.append(text.rjust(width) if right else text if last else text.ljust(width))
        ctx.print(" ".join(cells))


@command(
    "ps",
    manners=Manners(PROCPS),
    usage="""
    Usage: ps [options]
    Report the processes of the sandbox.

    UNIX options, after a dash:
      -A -e -a -x            all processes, as there is no terminal
      -f -l                  longer formats
      -o FORMAT              columns: pid, ppid, user, stat, time, etime, comm, args, …; "=" after
                               one sets its header
      -p LIST                these processes
      -C LIST                processes of these names
      -u, -U, -g, -G, -s, -t LIST  processes of these users, groups, sessions, terminals
      -H -w -V               show children below parents; wide output; version
    BSD options, without a dash:
      a x u f w h            all processes; a longer format; forest; wide output; no header
      p LIST, U LIST, o FORMAT, k KEYS
    GNU options:
          --pid LIST --ppid LIST --user LIST --format FORMAT --sort KEYS --forest --no-headers
          --help             display this help and exit
    """,
    raw=True,
)
def ps(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if words[:1] in (["--help"], ["--version"]):
        ctx.stdout.write(encode(ps.usage if words[0] == "--help" else ps.version()))
        return 0
    request = _Request()
    try:
        request.read(words)
        if "version" in request.flags:
            ctx.stdout.write(encode(ps.version()))
            return 0
        processes = _selected(ctx, request)
        _sort(ctx, processes, request.sorts)
        _show(ctx, request, processes)
    except CommandError as error:
        ctx.stderr.write(encode(error.message))
        return error.status
    return 0 if processes else 1
