"""`ls` (POSIX 1003.1-2017, GNU coreutils): list directories. Output is never a terminal."""

from __future__ import annotations

from contextlib import suppress
from operator import attrgetter

from agentsandbox.commands._files.listing import Entry
from agentsandbox.commands._files.modes import type_letter
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote_always, quote_as
from agentsandbox.commands._text.versions import version_key
from agentsandbox.commands._text.widths import text_width
from agentsandbox.commands.ls.options import READERS, Options
from agentsandbox.commands.ls.output import Printer
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.kernel.fs.base import Stat

USAGE = """
Usage: ls [OPTION]... [FILE]...
List FILEs (the current directory by default), sorted by name unless told otherwise.

  -a, --all                  do not leave out names that begin with .
  -A, --almost-all           the same, but for . and ..
  -b, --escape               C escapes for what does not print
      --block-size=SIZE      with -l and -s, sizes in units of SIZE
  -B, --ignore-backups       leave out names that end in ~
  -c                         with -lt: sort by and show the time of the last change of status;
                               with -l: show it and sort by name; otherwise sort by it
  -C                         names in columns
      --color[=WHEN]         colours: 'always' (default if omitted), 'auto' or 'never'
  -d, --directory            list directories themselves, not what is in them
  -f                         list all in directory order
  -F                         append one of */=>@| to names
      --classify[=WHEN]      the same; WHEN as for --color
      --file-type            the same, but for '*'
      --format=WORD          across (-x), commas (-m), horizontal (-x), long (-l),
                               single-column (-1), verbose (-l) or vertical (-C)
      --full-time            like -l --time-style=full-iso
  -g                         like -l without the owner
      --group-directories-first  directories before files
  -G, --no-group             with -l, no group
  -h, --human-readable       with -l and -s, sizes like 1K 234M 2G
      --si                   the same by powers of 1000
  -H, --dereference-command-line  follow links that are operands
      --indicator-style=WORD what to append to names: none, slash (-p), file-type, classify (-F)
  -i, --inode                show inode numbers
  -I, --ignore=PATTERN       leave out names that match PATTERN
  -k, --kibibytes            disk usage in blocks of 1024 bytes
  -l                         long listing
  -L, --dereference          show what a link points to, not the link
  -m                         names separated by commas
  -n, --numeric-uid-gid      like -l with numbers of users and groups
  -N, --literal              names as they are
  -o                         like -l without the group
  -p                         append / to directories
  -q, --hide-control-chars   ? for characters that do not print
      --show-control-chars   such characters as they are
  -Q, --quote-name           names in double quotes
      --quoting-style=WORD   literal, shell, shell-always, shell-escape, shell-escape-always, c,
                               escape, locale
  -r, --reverse              reverse order
  -R, --recursive            list subdirectories too
  -s, --size                 show the blocks that each file takes
  -S                         largest first
      --sort=WORD            none (-U), size (-S), time (-t), version (-v), extension (-X) or width
      --time=WORD            which time: atime, access, use (-u); ctime, status (-c); mtime;
                               birth, creation
      --time-style=STYLE     full-iso, long-iso, iso, locale or +FORMAT as for date
  -t                         newest first
  -u                         as -c, with the time of the last access
  -U                         do not sort
  -v                         sort numbers within names by value
  -w, --width=COLS           the width of the output; 0 is no limit
  -x                         names in lines, not in columns
  -X                         sort by extension
      --zero                 end lines with NUL
  -Z, --context              show the security context (there is none: ?)
  -1                         one name a line
      --help                 display this help and exit

Status 1 for a minor problem (a subdirectory cannot be read), 2 for a serious one (an operand
cannot).
"""


_GROUP = 256


class _Lister:
    """One run of `ls`."""

    def __init__(self, ctx: CommandContext, options: Options) -> None:
        self.ctx = ctx
        self.options = options
        self.printer = Printer(ctx, options)
        self.printed = False
        self._key, self._reverse = _order(options)

    def run(self, operands: list[str]) -> int:
        files: list[Entry] = []
        pending: list[tuple[str, bool]] = []
        directories: list[Entry] = []
        for name in operands or ["."]:
            entry = self._operand(name)
            if entry is None:
                continue
            info = entry.info
            if info is not None and info.is_dir and not self.options.directory:
                directories.append(entry)
            else:
                files.append(entry)
        if files:
            self.printer.print_files(self._sorted(files), beside=directories)
            if directories:
                self.printer.print_gap()
        headers = len(operands) > 1 or self.options.recursive
        pending = [(entry.name, True) for entry in reversed(self._sorted(directories))]
        self._list_directories(pending, headers)
        return self.ctx.status

    def _list_directories(self, pending: list[tuple[str, bool]], headers: bool) -> None:
        """List directories depth first; a name of "" marks the end of the innermost one."""
        active: list[int] = []
        while pending:
            name, operand = pending.pop()
            if not name:
                active.pop()
                continue
            try:
                info = self.ctx.fs.stat(self.ctx.path(name))
                names = self.ctx.fs.listdir(self.ctx.path(name))
            except OSError as error:
                self._complain(
                    f"cannot open directory {quote_always(name)}", error, 2 if operand else 1
                )
                continue
            if self.options.recursive:
                if info.ino in active:
                    self.ctx.warn(f"{name}: not listing already-listed directory", 2)
                    continue
                active.append(info.ino)
                pending.append(("", False))
            subdirectories = self._list_directory(name, names, headers)
            pending.extend([(path, False) for path in reversed(subdirectories)])

    def _list_directory(self, name: str, names: list[str], headers: bool) -> list[str]:
        """Print one directory and return the paths of its subdirectories to list."""
        entries = self._entries(name, names)
        if headers:
            self.printer.print_header(name, first=not self.printed)
        self.printed = True
        total = self.printer.total(entries) if self.options.needs_total else None
        self.printer.print_files(entries, total=total)
        if not self.options.recursive:
            return []
        return [
            e.path
            for e in entries
            if e.info is not None and e.info.is_dir and e.name not in (".", "..")
        ]

    def _entries(self, directory: str, names: list[str]) -> list[Entry]:
        options, step = self.options, self.ctx.budget.step
        step(len(names) // 16 + 1)
        if options.leaves_out_some:
            names = [name for name in names if not options.leaves_out(name)]
        if options.all:
            names = [".", "..", *names]
        prefix = directory if directory.endswith("/") else f"{directory}/"
        entries = [Entry(name, prefix + name) for name in names]
        if options.needs_stat:
            path = self.ctx.path(directory)
            for start in range(0, len(names), _GROUP):
                group = names[start : start + _GROUP]
                step(len(group))
                for entry, info in zip(
                    entries[start : start + _GROUP], self.ctx.fs.examine(path, group), strict=True
                ):
                    if info is None or info.is_link:
                        self._examine(entry, follow=options.dereference)
                    else:
                        entry.info = info
        return self._sorted(entries)

    def _examine(self, entry: Entry, *, follow: bool) -> None:
        fs = self.ctx.fs
        path = self.ctx.path(entry.path)
        try:
            entry.info = info = fs.stat(path, follow=follow)
        except OSError as error:
            try:
                if not follow:
                    raise
                entry.kind = type_letter(fs.stat(path, follow=False).mode)
            except OSError:
                pass
            self._complain(f"cannot access {quote_always(entry.path.removeprefix('./'))}", error, 1)
            return
        if info.is_link and self.options.needs_target:
            self._read_link(entry, path)

    def _read_link(self, entry: Entry, path: str) -> None:
        try:
            entry.target = self.ctx.fs.readlink(path)
        except OSError as error:
            shown = quote_always(entry.path.removeprefix("./"))
            self._complain(f"cannot read symbolic link {shown}", error, 1)
            return
        try:
            entry.target_info = self.ctx.fs.stat(path)
        except OSError:
            pass  # a dangling link is listed like any other

    def _operand(self, name: str) -> Entry | None:
        options = self.options
        entry = Entry(name, name)
        try:
            path = self.ctx.path(name)
            if options.dereference or options.dereference_operands == "all":
                entry.info = self.ctx.fs.stat(path)
            elif options.dereference_operands == "directories":
                entry.info = self._stat_operand(path)
            else:
                entry.info = self.ctx.fs.stat(path, follow=False)
        except OSError as error:
            self._complain(f"cannot access {quote_always(name)}", error, 2)
            return None
        if entry.info.is_link and options.needs_target:
            self._read_link(entry, path)
        return entry

    def _stat_operand(self, path: str) -> Stat:
        """Return the status of the directory that a link leads to, otherwise of the link."""
        info = self.ctx.fs.stat(path, follow=False)
        if info.is_link:
            with suppress(FileNotFoundError):
                target = self.ctx.fs.stat(path)
                return target if target.is_dir else info
        return info

    def _sorted(self, entries: list[Entry]) -> list[Entry]:
        if self._key is not None:
            entries.sort(key=_by_name)
            if self._key is not _by_name:
                entries.sort(key=self._key)
            if self._reverse:
                entries.reverse()
        if self.options.directories_first:
            entries.sort(key=_is_not_directory)
        return entries

    def _complain(self, message: str, error: OSError, status: int) -> None:
        self.ctx.warn(f"{message}: {describe_os_error(error, '')}", max(status, self.ctx.status))


_by_name = attrgetter("name")


def _is_not_directory(entry: Entry) -> bool:
    info = entry.target_info if entry.info is not None and entry.info.is_link else entry.info
    return info is None or not info.is_dir


def _order(options: Options) -> tuple[Callable[[Entry], Any] | None, bool]:
    """Return (sort key, whether to reverse)."""

    def by_time(entry: Entry) -> float:
        return -options.time_of(entry.info) if entry.info is not None else float("inf")

    def by_size(entry: Entry) -> int:
        return -entry.info.size if entry.info is not None else 0

    def by_extension(entry: Entry) -> str:
        dot = entry.name.rfind(".")
        return entry.name[dot:] if dot >= 0 else ""

    def by_width(entry: Entry) -> int:
        return text_width(quote_as(entry.name, options.quoting))

    def by_version(entry: Entry) -> Any:
        return version_key(entry.name)

    keys: dict[str, Callable[[Entry], Any] | None] = {
        "none": None, "name": _by_name, "time": by_time, "size": by_size,
        "extension": by_extension, "version": by_version, "width": by_width,
    }  # fmt: skip
    return keys[options.sort], options.reverse


@command(
    "ls",
    usage=USAGE,
    usage_status=2,
    values=READERS,
    manners=Manners(
        COREUTILS,
        pure=True,
        bytewise=True,
        long_options="""
            all escape directory dired full-time group-directories-first human-readable
            inode kibibytes numeric-uid-gid no-group hide-control-chars reverse size
            width almost-all ignore-backups classify file-type si
            dereference-command-line dereference-command-line-symlink-to-dir hide ignore
            indicator-style dereference literal quote-name quoting-style recursive
            format show-control-chars sort tabsize time time-style zero color hyperlink
            block-size context author help version
        """,
        macos={"T": "-T is macOS's; GNU ls shows whole times with --time-style=full-iso"},
        write_error=("NAME: write error: REASON", 2),
    ),
)
def ls(ctx: CommandContext, args: Arguments) -> int:
    return _Lister(ctx, Options(ctx, args)).run(args.operands)
