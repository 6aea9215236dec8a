"""`ps` (procps): the processes of the sandbox."""

from __future__ import annotations

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._processes import running
from agentsandbox.errors import CommandError
from agentsandbox.languages.dates import strftime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.processes import Process

    Column = tuple[str, int, Callable[[CommandContext, Process], str]]

_COLUMNS: dict[str, Column] = {
    "pid": ("PID", -5, lambda ctx, p: str(p.pid)),
    "ppid": ("PPID", -5, lambda ctx, p: str(1 if p is ctx.host.scheduler.main else ctx.host.scheduler.main.pid)),
    "pgid": ("PGID", -5, lambda ctx, p: str(p.pid)),
    "user": ("USER", 8, lambda ctx, p: ctx.host.user),
    "uid": ("UID", -5, lambda ctx, p: "1000"),
    "tty": ("TT", 8, lambda ctx, p: "?"),
    "stat": ("STAT", 4, lambda ctx, p: "R" if p is ctx.host.scheduler.current else "S"),
    "time": ("TIME", -8, lambda ctx, p: "00:00:00"),
    "etime": ("ELAPSED", -11, lambda ctx, p: _elapsed(ctx)),
    "stime": ("STIME", 5, lambda ctx, p: strftime(int(ctx.host.started), "%H:%M", ctx.env.get("TZ", ""))),
    "pcpu": ("%CPU", -4, lambda ctx, p: "0.0"),
    "pmem": ("%MEM", -4, lambda ctx, p: "0.0"),
    "vsz": ("VSZ", -6, lambda ctx, p: "0"),
    "rss": ("RSS", -5, lambda ctx, p: "0"),
    "ni": ("NI", -3, lambda ctx, p: "0"),
    "comm": ("COMMAND", 15, lambda ctx, p: p.name.rpartition("/")[2]),
    "args": ("COMMAND", 27, lambda ctx, p: p.name),
}
_SYNONYMS = {
    "command": "args", "cmd": "args", "ucmd": "comm", "tt": "tty", "tname": "tty", "state": "stat", "s": "stat", "%cpu": "pcpu",
    "%mem": "pmem", "start": "stime", "cputime": "time", "euser": "user", "nice": "ni", "rssize": "rss", "ruser": "user",
}  # fmt: skip
_HEADERS = {"cmd": "CMD", "ucmd": "CMD"}
_SHORT = (("pid", ""), ("tty", "TTY"), ("time", ""), ("comm", "CMD"))
_FULL = (("user", "UID"), ("pid", ""), ("ppid", ""), ("ni", "C"), ("stime", ""), ("tty", "TTY"), ("time", ""), ("args", "CMD"))
_BSD = (
    ("user", ""), ("pid", ""), ("pcpu", ""), ("pmem", ""), ("vsz", ""), ("rss", ""), ("tty", "TTY"), ("stat", ""), ("stime", "START"),
    ("time", ""), ("args", ""),
)  # fmt: skip


def _elapsed(ctx: CommandContext) -> str:
    seconds = max(0, int(ctx.host.clock() - ctx.host.started))
    hours, rest = divmod(seconds, 3600)
    return (f"{hours:02d}:" if hours else "") + f"{rest // 60:02d}:{rest % 60:02d}"


def _columns(texts: Sequence[str]) -> list[tuple[str, str]]:
    """(column, its own header or "") from the values of -o."""
    columns: list[tuple[str, str]] = []
    for text in texts:
        rest = text
        while rest:
            name, _, rest = rest.partition(",")
            name, equals, header = name.partition("=")
            if equals and rest:
                header, rest = f"{header},{rest}", ""
            key = _SYNONYMS.get(name, name)
            if key not in _COLUMNS:
                raise CommandError(f"error: unknown user-defined format specifier \"{name}\"")
            columns.append((key, (header or "\0") if equals else _HEADERS.get(name, "")))
    return columns


def _show(ctx: CommandContext, columns: Sequence[tuple[str, str]], processes: Sequence[Process], header: bool) -> None:
    titles = [own.replace("\0", "") if own else _COLUMNS[key][0] for key, own in columns]
    rows = [[_COLUMNS[key][2](ctx, process) for key, _ in columns] for process in processes]
    if header and any(titles):
        rows.insert(0, titles)
    for row in rows:
        cells = []
        for at, (text, (key, _)) in enumerate(zip(row, columns, strict=True)):
            width = _COLUMNS[key][1]
            cells.append(text.rjust(-width) if width < 0 else text if at == len(row) - 1 else text.ljust(width))
        ctx.print(" ".join(cells))


@command(
    "ps",
    usage="""
    Usage: ps [options]
    Report the processes of the sandbox. Also in the old style: `ps aux`.

      -A, -e                 all processes
      -a                     all with a terminal
      -f                     full format
      -o, --format=FORMAT    columns: pid, ppid, user, stat, time, etime, comm, args, …; "=" after one sets its header
      -p, --pid=LIST         these processes only
      -u, --user=LIST        accepted: there is one user
      -w                     wide output
      -x                     processes without a terminal as well
          --no-headers       print no header line
          --help             display this help and exit
    """,
    raw=True,
)
def ps(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    bsd = bool(words) and not words[0].startswith("-") and set(words[0]) <= set("auxwef")
    options = ps.parser().parse(words[1:] if bsd else words)
    if options.flag("help"):
        ctx.print(ps.usage, end="")
        return 0
    processes = running(ctx)
    lists = [*options.values("pid"), *options.operands]
    if lists:
        wanted = {text for value in lists for text in value.replace(",", " ").split()}
        if not all(text.isascii() and text.isdigit() for text in wanted):
            raise CommandError("error: process ID list syntax error")
        processes = [process for process in processes if str(process.pid) in wanted]
    given = options.values("format")
    columns: Sequence[tuple[str, str]] = _columns(given) if given else _SHORT
    if not given and (options.flag("f") or (bsd and "u" in words[0])):
        columns = _BSD if bsd and "u" in words[0] else _FULL
    _show(ctx, columns, processes, not options.flag("no-headers"))
    return 0 if processes else 1
