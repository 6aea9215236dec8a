"""`dos2unix`, `unix2dos`, `mac2unix` and `unix2mac` (7.4.3): convert line ends in place.

A file with other control characters is binary and is skipped. Files are replaced when all of the
new text is there, so an error loses nothing.
"""

from __future__ import annotations

import re

from agentsandbox.commands._text.lines import read_all
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Command

_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")
_BOM = b"\xef\xbb\xbf"
_LONE_CR = re.compile(rb"\r(?!\n)")
_LONE_LF = re.compile(rb"(?<!\r)\n")
_INFO_LETTERS = frozenset("dumbtc")
_MODES = ("ascii", "mac", "7bit", "iso")


class _Conversion:
    """A run over some files."""

    def __init__(self, ctx: CommandContext, args: Arguments, to: str, mode: str) -> None:
        self.ctx = ctx
        self.to = to
        self.is_mac = mode == "mac"
        self.quiet, self.force = args.flag("quiet"), args.flag("force")
        self.keep_date = args.flag("keepdate")
        self.adds_line = args.flag("newline")
        bom = args.last("keep-bom", "remove-bom", "add-bom")
        self.bom = bom or ("remove-bom" if to == "Unix" else "keep-bom")
        self.status = 0

    def say(self, text: str) -> None:
        """Write a message, unless -q is given."""
        if not self.quiet:
            self.ctx.stderr.write(encode(f"{self.ctx.name}: {text}\n"))

    def convert(self, data: bytes) -> bytes | None:
        """Return the converted text; None, after a message, if it is binary."""
        budget = self.ctx.budget
        budget.step(1 + (len(data) >> 10))
        found = None if self.force else _BINARY.search(data)
        if found is not None:
            line = data.count(b"\n", 0, found.start()) + 1
            self.say(f"Binary symbol 0x{found[0][0]:02X} found at line {line}")
            return None
        has_bom = data.startswith(_BOM)
        body = data[len(_BOM) :] if has_bom else data
        budget.charge(3 * len(body))
        if self.to == "Unix":
            end = b"\n\n" if self.adds_line else b"\n"
            body = _LONE_CR.sub(end, body) if self.is_mac else body.replace(b"\r\n", end)
        elif self.is_mac:
            body = _LONE_LF.sub(b"\r\r" if self.adds_line else b"\r", body)
        else:
            body = _LONE_LF.sub(b"\r\n\r\n" if self.adds_line else b"\r\n", body)
        keeps = self.bom == "add-bom" or (has_bom and self.bom == "keep-bom")
        return _BOM + body if keeps else body

    @property
    def _form(self) -> str:
        return "Unix format" if self.to == "Unix" else "Mac format" if self.is_mac else "DOS format"

    def file(self, source: str, target: str) -> None:
        """Convert a file, in place or into another one."""
        ctx = self.ctx
        path = ctx.path(source)
        if not ctx.fs.is_file(path):
            if not ctx.fs.exists(path):
                self.say(f"{source}: No such file or directory")
                self.status = 2
            self.say(f"Skipping {source}, not a regular file.")
            return
        info = ctx.fs.stat(path)
        if source == target and not ctx.fs.exists(path, follow=False):
            return
        converted = self.convert(ctx.fs.read_bytes(path))
        if converted is None:
            self.say(f"Skipping binary file {source}")
            return
        if source == target:
            self.say(f"converting file {source} to {self._form}...")
        else:
            self.say(f"converting file {source} to file {target} in {self._form}...")
        goal = ctx.path(target)
        with ctx.fs.open(goal, "w", permissions=info.permissions) as file:
            file.write(converted)
        if self.keep_date:
            ctx.fs.utime(goal, info.mtime)

    def describe(self, name: str, data: bytes, letters: str) -> None:
        """Print what `-i` asks for."""
        dos = data.count(b"\r\n")
        mac = len(_LONE_CR.findall(data))
        unix = data.count(b"\n") - dos
        if "c" in letters:
            changes = (mac if self.is_mac else dos) if self.to == "Unix" else unix
            if changes and not _BINARY.search(data):
                self.ctx.print(name)
            return
        columns = {
            "d": f"  {dos:6}",
            "u": f"  {unix:6}",
            "m": f"  {mac:6}",
            "b": "  UTF-8   " if data.startswith(_BOM) else "  no_bom  ",
            "t": "  binary" if _BINARY.search(data) else "  text  ",
        }
        shown = [columns[letter] for letter in "dumbt" if not letters or letter in letters]
        self.ctx.print("".join(shown) + (f"  {name}" if name else ""))


def _run(ctx: CommandContext, tool: Command, to: str, mode: str) -> int:
    args = tool.parser().parse(ctx.words, in_order=True)
    if args.flag("help"):
        ctx.print(tool.usage, end="")
        return 0
    if args.flag("version"):
        ctx.print(tool.version(), end="")
        return 0
    mode = (args.value("convmode") or mode).lower()
    if mode not in _MODES:
        raise UsageError(f"invalid {mode} conversion mode specified", 1)
    if mode in ("7bit", "iso"):
        raise UsageError(f"conversion mode {mode} is not available; use iconv", 1)
    letters = args.value("info")
    if letters is not None and not set(letters) <= _INFO_LETTERS:
        raise UsageError(f"-i{letters}: only the letters d, u, m, b, t and c are available", 1)
    run = _Conversion(ctx, args, to, mode)
    if not args.operands:
        return _filter(run, letters)
    is_new, source = False, ""
    for key, value in args.given:
        ctx.budget.step()
        if key in ("newfile", "oldfile"):
            is_new = key == "newfile"
        elif key:
            continue
        elif letters is not None:
            path = ctx.path(value or "")
            if ctx.fs.is_file(path):
                run.describe(value or "", ctx.fs.read_bytes(path), letters)
            else:
                run.file(value or "", value or "")
        elif not is_new:
            run.file(value or "", value or "")
        elif not source:
            source = value or ""
        else:
            run.file(source, value or "")
            source = ""
    if source:
        run.say(f"target of file {source} not specified in new-file mode")
        return 1
    return run.status


def _filter(run: _Conversion, letters: str | None) -> int:
    data = read_all(run.ctx.budget, run.ctx.stdin)
    if letters is not None:
        run.describe("", data, letters)
        return 0
    converted = run.convert(data)
    if converted is None:
        return 1
    run.ctx.stdout.write(converted)
    return 0


def _usage(name: str, what: str) -> str:
    return f"""
    Usage: {name} [OPTION]... [FILE]... [-n IN OUT]...
    {what} Without a FILE, standard input goes to standard output.

      -b, --keep-bom        keep a byte order mark
      -c, --convmode=MODE   ascii (default) or mac: lone carriage returns
      -f, --force           convert binary files, too
      -i[FLAGS], --info[=FLAGS]  print counts of line ends (d, u, m), b: byte order mark, t: text or
                            binary; c: only the names of files that would change
      -k, --keepdate        keep the time of the file
      -l, --newline         add one more newline to each
      -m, --add-bom         add a byte order mark
      -n, --newfile         of each two files after it the second is written
      -o, --oldfile         convert the files after it in place (default)
      -q, --quiet           no messages
      -r, --remove-bom      remove a byte order mark
      -s, --safe            skip binary files (default)
      -h, --help            display this help and exit
    """


_RELEASE = Manners(Release("NAME 7.4.3 (2022-06-05)", "-V, --version"))


@command(
    "dos2unix",
    manners=_RELEASE,
    usage=_usage("dos2unix", "Convert files from DOS to Unix line ends, in place."),
    raw=True,
)
def dos2unix(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, dos2unix, "Unix", "ascii")


@command(
    "mac2unix",
    manners=_RELEASE,
    usage=_usage("mac2unix", "Convert files from Mac to Unix line ends, in place."),
    raw=True,
)
def mac2unix(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, mac2unix, "Unix", "mac")


@command(
    "unix2dos",
    manners=_RELEASE,
    usage=_usage("unix2dos", "Convert files from Unix to DOS line ends, in place."),
    raw=True,
)
def unix2dos(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, unix2dos, "DOS", "ascii")
