"""The options of `tree`, its nodes, and the drawing."""

from __future__ import annotations

from agentsandbox.commands._files.listing import indicator
from agentsandbox.commands._files.modes import format_mode
from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands._text.quoting import is_printable
from agentsandbox.commands._time.times import LocalTime, nanoseconds
from agentsandbox.commands.tree.colors import Palette
from agentsandbox.kernel.patterns.filenames import compile_glob
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.patterns.filenames import GlobMatcher

_ASCII_LINES = ("|   ", "|-- ", "`-- ")
_UTF8_LINES = ("│\xa0\xa0 ", "├── ", "└── ")
_HALF_YEAR = 6 * 30 * 24 * 3600


class TreeOptions:
    """Every option as an attribute of a plain name."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.all = args.flag("a")
        self.directories_only = args.flag("d")
        self.follow = args.flag("l")
        self.level = int((args.value("L") or "0")[:9])
        self.patterns = _compile(args.values("P"))
        self.ignored = _compile(args.values("I"))
        self.prune = args.flag("prune")
        self.git_ignore = args.flag("gitignore")
        self.permissions = args.flag("p")
        self.user = args.flag("u")
        self.group = args.flag("g")
        self.human = args.flag("h")
        self.usage = args.flag("du")
        self.sizes = args.flag("s") or self.human or self.usage
        self.times = args.flag("D")
        self.inodes = args.flag("inodes")
        self.classify = args.flag("F") and not self.directories_only
        self.full_path = args.flag("f")
        self.sort = args.last("v", "t") or "name"
        self.reverse = args.flag("r")
        self.directories_first = args.flag("dirsfirst")
        self.no_indent = args.flag("i")
        self.colors = "TERM" in ctx.env and args.flag("C")
        charset = args.value("charset") or ("ascii" if ctx.is_bytewise() else "utf-8")
        self.lines = _ASCII_LINES if charset.lower().endswith("ascii") else _UTF8_LINES
        self.report = not args.flag("noreport")


def _compile(patterns: list[str]) -> list[tuple[GlobMatcher, bool]]:
    """Return (matcher, whether for directories alone) of each alternative."""
    return [
        (compile_glob(text.rstrip("/"), extglob=False), text.endswith("/"))
        for pattern in patterns
        for text in pattern.split("|")
    ]


class Node:
    """A file in the tree; `children` is None for a directory that is not entered."""

    __slots__ = (
        "children", "comment", "info", "is_dir", "name", "path", "size", "target",
        "target_info",
    )  # fmt: skip

    def __init__(self, name: str, path: str, info: Stat) -> None:
        self.name = name
        self.path = path
        self.info = info
        self.is_dir = info.is_dir
        self.size = info.size
        self.target: str | None = None
        self.target_info: Stat | None = None
        self.children: list[Node] | None = None
        self.comment = ""
        """The reason why it was not entered."""

    @property
    def leads_to_directory(self) -> bool:
        """Whether it is a directory or a link to one."""
        return self.info.is_dir or (self.target_info is not None and self.target_info.is_dir)


class Drawing:
    """Draws nodes as lines with branches."""

    def __init__(self, ctx: CommandContext, options: TreeOptions) -> None:
        self.ctx = ctx
        self.options = options
        self.local = LocalTime(ctx)
        self.owners = Owners(ctx)
        self.palette = Palette(ctx.env)

    def _write(self, text: str) -> None:
        self.ctx.stdout.write(encode(text))

    def _time(self, info: Stat) -> str:
        now, when = self.ctx.host.clock(), info.mtime
        format = "%b %e %H:%M" if now - _HALF_YEAR < when <= now else "%b %e  %Y"
        return self.local.show(format, nanoseconds(when))

    def _size(self, size: int) -> str:
        """Return the size as -s or -h show it."""
        if not self.options.human:
            return f"{size:11d}"
        if size < 1024:
            return f"{size:4d}"
        value, unit = float(size), -1
        while value >= 1024 and unit < 5:
            value /= 1024
            unit += 1
        letter = "KMGTPE"[unit]
        return f"{value:3.0f}{letter}" if value >= 10 else f"{value:3.1f}{letter}"

    def top(self, node: Node | None, name: str) -> None:
        """Write a starting point with all below it; None is one that cannot be read."""
        if node is None:
            self._write(f"{self._name(name)}  [error opening dir]\n")
            return
        mark = indicator(node.info, "classify") if self.options.classify else ""
        comment = f"  [{node.comment}]" if node.children is None else ""
        self._write(f"{self._facts(node)}{self._painted_name(name, node)}{mark}{comment}\n")
        pipe, branch, corner = self.options.lines
        stack = [(iter(node.children or ()), "", len(node.children or ()))]
        positions = [0]
        while stack:
            self.ctx.budget.step()
            children, prefix, count = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                positions.pop()
                continue
            positions[-1] += 1
            is_last = positions[-1] == count
            self.ctx.budget.charge(len(prefix) * 4)
            stem = "" if self.options.no_indent else f"{prefix}{corner if is_last else branch}"
            self._write(f"{stem}{self._facts(child)}{self._shown(child)}\n")
            if child.children is not None:
                below = prefix + ("    " if is_last else pipe)
                stack.append((iter(child.children), below, len(child.children)))
                positions.append(0)

    def end(self, directories: int, files: int, size: int) -> None:
        """Write the report."""
        if not self.options.report:
            return
        counted = f"{directories} director{'y' if directories == 1 else 'ies'}"
        if not self.options.directories_only:
            counted += f", {files} file{'' if files == 1 else 's'}"
        if self.options.usage:
            unit = "" if self.options.human else " bytes"
            counted = f" {self._size(size)}{unit} used in {counted}"
        self._write(f"\n{counted}\n")

    def _facts(self, node: Node) -> str:
        """Return the facts that are asked for, in brackets."""
        options, info = self.options, node.info
        parts = []
        if options.inodes:
            parts.append(f"{info.ino:7d}")
        if options.permissions:
            parts.append(format_mode(info.mode))
        if options.user:
            parts.append(f"{self.owners.user(info.uid):<8.32}")
        if options.group:
            parts.append(f"{self.owners.group(info.gid):<8.32}")
        if options.sizes:
            parts.append(self._size(node.size))
        if options.times:
            parts.append(self._time(info))
        return f"[{' '.join(parts)}]  " if parts else ""

    def _shown(self, node: Node) -> str:
        """Return a name, the target of a link, and the comment."""
        text = self._painted_name(node.path if self.options.full_path else node.name, node)
        style = "classify" if self.options.classify else "none"
        if node.target is None:
            text += indicator(node.info, style)
        else:
            shown = self._name(node.target)
            if self.options.colors:
                shown = self.palette.paint(shown, node.target_info, node.target)
            text += f" -> {shown}{indicator(node.target_info, style)}"
        return f"{text}  [{node.comment}]" if node.comment else text

    def _painted_name(self, name: str, node: Node) -> str:
        shown = self._name(name)
        if not self.options.colors:
            return shown
        if node.target is not None:
            return self.palette.paint_link(shown, node.target_info, node.target)
        return self.palette.paint(shown, node.info, node.name)

    def _name(self, name: str) -> str:
        if name.isprintable():
            return name
        return "".join(
            [c if is_printable(c) else "".join([f"\\{b:03o}" for b in encode(c)]) for c in name]
        )
