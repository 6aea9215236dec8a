"""`du` (POSIX, GNU coreutils): the space of files, directories in the order of names."""

from __future__ import annotations

import errno
import re

from agentsandbox.commands._files.block_sizes import (
    SizeFormat,
    block_size_from,
    disk_usage,
    parse_block_size,
)
from agentsandbox.commands._files.copying import join, single_slash
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.patterns.filenames import compile_glob
from agentsandbox.kernel.streams import InputError, decode, encode

_GROUP = 256


class _Sum:
    """The size of a directory with all below it; `own` leaves subdirectories out."""

    __slots__ = ("depth", "entries", "name", "own", "size")

    def __init__(self, name: str, depth: int, size: int) -> None:
        self.name = name
        self.depth = depth
        self.entries: list[str] = []
        self.size = self.own = size


class _Counter:
    """Adds up operands, each file once."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.all = args.flag("all")
        self.apparent = args.flag("apparent-size") or args.flag("bytes")
        self.separate = args.flag("separate-dirs")
        self.sizes = _choose_sizes(ctx, args)
        self.max_depth = _read_depth(ctx, args)
        self.follow = (
            args.last("dereference", "dereference-args", "no-dereference") or "no-dereference"
        )
        self.excluded = [compile_glob(text, extglob=False) for text in args.values("exclude")]
        self.total = 0
        self._seen: set[int] = set()
        self.many = False
        """Whether there are several operands: then no file counts twice."""

    def count(self, operand: str) -> None:
        """Print the lines for one operand, and add its size to the total."""
        stack: list[_Sum] = []
        self._visit(stack, single_slash(operand), 0)
        while stack:
            here = stack[-1]
            if here.entries:
                self.ctx.budget.step()
                self._visit(stack, join(here.name, here.entries.pop()), here.depth + 1)
                continue
            stack.pop()
            self._add(stack, here.size, directory=True)
            self._print(here.name, here.depth, here.own if self.separate else here.size)

    def _visit(self, stack: list[_Sum], name: str, depth: int) -> None:
        if name and self._is_excluded(name):
            return
        try:
            follow = self.follow == "dereference" or (
                self.follow == "dereference-args" and depth == 0
            )
            info = self.ctx.fs.stat(self.ctx.path(name), follow=follow)
        except OSError as error:
            self._complain(name, error, dangling=follow and self._is_link(name))
            return
        linked = info.nlink > 1 or self.many
        if (info.is_dir or linked or self.follow == "dereference") and info.ino:
            if info.ino in self._seen:
                return
            self._seen.add(info.ino)
        size = info.size if self.apparent else disk_usage(info)
        if not info.is_dir:
            self._add(stack, size, directory=False)
            if self.all or depth == 0:
                self._print(name, depth, size)
            return
        here = _Sum(name, depth, size)
        try:
            path = self.ctx.path(name)
            here.entries = self._add_plain(here, path, self.ctx.fs.listdir(path))[::-1]
        except OSError as error:
            self.ctx.warn(
                f"cannot read directory {quote_always(name)}: {describe_os_error(error, '')}"
            )
        stack.append(here)

    def _add_plain(self, here: _Sum, path: str, names: list[str]) -> list[str]:
        """Add the sizes of files that are not shown; return the names that need a closer look."""
        if self.all or self.excluded or self.follow == "dereference" or self.many:
            return names
        others: list[str] = []
        for start in range(0, len(names), _GROUP):
            group = names[start : start + _GROUP]
            self.ctx.budget.step(len(group))
            for name, info in zip(group, self.ctx.fs.examine(path, group), strict=True):
                if info is None or info.is_dir or info.nlink > 1:
                    others.append(name)
                    continue
                size = info.size if self.apparent else disk_usage(info)
                here.size += size
                here.own += size
        return others

    def _is_link(self, name: str) -> bool:
        try:
            return self.ctx.fs.stat(self.ctx.path(name), follow=False).is_link
        except OSError:
            return False

    def _complain(self, name: str, error: OSError, *, dangling: bool) -> None:
        if not name:
            self.ctx.warn("invalid zero-length file name")
            return
        reason = f": {describe_os_error(error, '')}"
        if dangling and error.errno == errno.ENOENT:
            reason = ""  # GNU du gives none for a dangling link
        self.ctx.warn(f"cannot access {quote_always(name)}{reason}")

    def _add(self, stack: list[_Sum], size: int, *, directory: bool) -> None:
        if not stack:
            self.total += size
            return
        stack[-1].size += size
        if not directory:
            stack[-1].own += size

    def _print(self, name: str, depth: int, size: int) -> None:
        if self.max_depth is None or depth <= self.max_depth:
            self.print(name, size)

    def print(self, name: str, size: int) -> None:
        """Print one line."""
        self.ctx.stdout.write(encode(f"{self.sizes.show(size)}\t{name}\n"))

    def _is_excluded(self, name: str) -> bool:
        if not self.excluded:
            return False
        parts = name.split("/")
        tails = ["/".join(parts[number:]) for number in range(len(parts))]
        return any(pattern.match(tail) for pattern in self.excluded for tail in tails)


def _choose_sizes(ctx: CommandContext, args: Arguments) -> SizeFormat:
    chosen = block_size_from(ctx.env, "DU_BLOCK_SIZE")
    units = {"bytes": 1, "k": 1024, "m": 1024 * 1024}
    for key, value in args.given:
        if key in units:
            chosen = SizeFormat(units[key])
        elif key in ("human-readable", "si"):
            chosen = SizeFormat(human=True, base=1000 if key == "si" else 1024)
        elif key == "block-size":
            chosen = parse_block_size(value or "", "--block-size")
    return chosen or SizeFormat(1024)


_DEPTH = re.compile(r"[ \t\n\v\f\r]*\+?(0[xX][0-9a-fA-F]{1,9}|0[0-7]{0,9}|[1-9][0-9]{0,9})\Z")


def _depth(text: str) -> int:
    found = _DEPTH.match(text)
    if found is None:
        raise UsageError(f"invalid maximum depth {quote(text)}")
    digits = found[1].lower()
    return int(digits, 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10)


def _read_depth(ctx: CommandContext, args: Arguments) -> int | None:
    text = args.value("max-depth")
    depth = None if text is None else _depth(text)
    if args.flag("summarize"):
        if args.flag("all"):
            raise UsageError("cannot both summarize and show all entries")
        if depth == 0:
            ctx.warn("warning: summarizing is the same as using --max-depth=0", ctx.status)
        elif depth is not None:
            raise UsageError(f"warning: summarizing conflicts with --max-depth={depth}")
        return 0
    return depth


def _read_operands(ctx: CommandContext, args: Arguments) -> list[str]:
    name = args.value("files0-from")
    if name is None:
        return args.operands or ["."]
    if args.operands:
        both = "file operands cannot be combined with --files0-from"
        raise UsageError(f"extra operand {quote(args.operands[0])}\n{both}")
    try:
        data = ctx.open_input(name).read()
    except (InputError, IsADirectoryError) as error:
        raise CommandError(f"{name}: read error: {error.strerror}") from None
    except OSError as error:
        raise CommandError(
            f"cannot open {quote_always(name)} for reading: {describe_os_error(error, '')}"
        ) from None
    return [decode(part) for part in data.split(b"\0") if part]


@command(
    "du",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            all apparent-size block-size bytes count-links dereference dereference-args
            exclude exclude-from files0-from human-readable inodes si max-depth null
            no-dereference one-file-system separate-dirs summarize total threshold time
            time-style help version
        """,
        fatal_options=("time",),
        full_write_error=("NAME: write error", 1),
    ),
    values={
        "-block-size": lambda text: parse_block_size(text, "-B"),
        "block-size": lambda text: parse_block_size(text, "--block-size"),
        "max-depth": _depth,
    },
    usage="""
    Usage: du [OPTION]... [FILE]...
      or:  du [OPTION]... --files0-from=F
    Print the space that each FILE takes, for directories with all below them.

      -a, --all             print files, not just directories
          --apparent-size   print sizes, not disk usage
      -B, --block-size=SIZE sizes in units of SIZE
      -b, --bytes           same as --apparent-size --block-size=1
      -c, --total           print a total
      -D, --dereference-args  follow links that are operands
      -H                    same as --dereference-args
      -d, --max-depth=N     print nothing more than N levels below an operand
          --files0-from=F   read operands, ended by NUL, from the file F
      -h, --human-readable  sizes like 1K 234M 2G
      -k                    same as --block-size=1K
      -L, --dereference     follow all links
      -m                    same as --block-size=1M
      -P, --no-dereference  follow no links (default)
      -S, --separate-dirs   leave subdirectories out of sizes
          --si              like -h by powers of 1000
      -s, --summarize       print only a total for each operand
          --exclude=PATTERN leave out what matches PATTERN
      -x, --one-file-system stay on one filesystem (there is one)
          --help            display this help and exit
    """,
)
def du(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("H"):
        args.given.append(("dereference-args", None))
    counter = _Counter(ctx, args)
    operands = _read_operands(ctx, args)
    counter.many = len(operands) > 1
    for name in operands:
        counter.count(name)
    if args.flag("total"):
        counter.print("total", counter.total)
    return ctx.status
