"""The options of `tree`, and its two forms: a drawing and JSON."""

from __future__ import annotations

import stat

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

_KINDS = {
    stat.S_IFDIR: "directory", stat.S_IFLNK: "link", stat.S_IFREG: "file", stat.S_IFIFO: "fifo",
    stat.S_IFCHR: "char", stat.S_IFBLK: "block", stat.S_IFSOCK: "socket",
}  # fmt: skip
_ASCII_LINES = ("|   ", "|-- ", "`-- ")
_UTF8_LINES = ("│\xa0\xa0 ", "├── ", "└── ")
_HALF_YEAR = 6 * 30 * 24 * 3600
_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
}  # fmt: skip


class TreeOptions:
    """Every option as an attribute of a plain name."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.all = args.flag("a")
        self.directories_only = args.flag("d")
        self.follow = args.flag("l")
        self.level = int((args.value("L") or "0")[:9])
        self.patterns = _compile(args.values("P"), ignore_case=args.flag("ignore-case"))
        self.ignored = _compile(args.values("I"), ignore_case=args.flag("ignore-case"))
        self.prune = args.flag("prune")
        self.git_ignore = args.flag("gitignore")
        self.permissions = args.flag("p")
        self.user = args.flag("u")
        self.group = args.flag("g")
        self.human = args.flag("h")
        self.usage = args.flag("du")
        self.sizes = args.flag("s") or self.human or self.usage
        self.time_format = args.value("timefmt") or ""
        self.times = args.flag("D") or args.flag("timefmt")
        self.use_ctime = args.flag("c")
        self.inodes = args.flag("inodes")
        self.classify = args.flag("F") and not self.directories_only
        self.full_path = args.flag("f")
        self.quotes = args.flag("Q")
        sort = args.last("v", "t", "c", "U", "sort") or "name"
        letters = {"v": "version", "t": "mtime", "c": "ctime", "U": "none"}
        self.sort = args.value("sort") or "" if sort == "sort" else letters.get(sort, sort)
        self.reverse = args.flag("r")
        self.directories_first = args.flag("dirsfirst")
        self.no_indent = args.flag("i")
        forced = "CLICOLOR_FORCE" in ctx.env and not args.flag("n")
        self.colors = "TERM" in ctx.env and (args.last("C", "n") == "C" or forced)
        charset = args.value("charset") or ("ascii" if ctx.is_bytewise() else "utf-8")
        self.lines = _ASCII_LINES if charset.lower().endswith("ascii") else _UTF8_LINES
        self.report = not args.flag("noreport")


def _compile(patterns: list[str], *, ignore_case: bool) -> list[tuple[GlobMatcher, bool]]:
    """Return (matcher, whether for directories alone) of each alternative."""
    return [
        (compile_glob(text.rstrip("/"), ignore_case=ignore_case, extglob=False), text.endswith("/"))
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


class _Form:
    """The part that both forms share: facts about files, and the output."""

    def __init__(self, ctx: CommandContext, options: TreeOptions) -> None:
        self.ctx = ctx
        self.options = options
        self.local = LocalTime(ctx)
        self.owners = Owners(ctx)
        self.palette = Palette(ctx.env)

    def write(self, text: str) -> None:
        """Write text."""
        self.ctx.stdout.write(encode(text))

    def begin(self) -> None:
        """Write the text before the first tree."""

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        """Write a starting point with all below it; None is one that cannot be read."""

    def end(self, directories: int, files: int, size: int) -> None:
        """Write the text after the last tree."""

    def time(self, info: Stat) -> str:
        """Return the time in the format asked for."""
        when = info.ctime if self.options.use_ctime else info.mtime
        format = self.options.time_format
        if not format:
            now = self.ctx.host.clock()
            format = "%b %e %H:%M" if now - _HALF_YEAR < when <= now else "%b %e  %Y"
        return self.local.show(format, nanoseconds(when))

    def size_of(self, size: int) -> str:
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


class Drawing(_Form):
    """Lines and branches."""

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        if node is None:
            self.write(f"{self._name(name)}  [error opening dir]\n")
            return
        mark = indicator(node.info, "classify") if self.options.classify else ""
        comment = f"  [{node.comment}]" if node.children is None else ""
        self.write(f"{self._facts(node)}{self._painted_name(name, node)}{mark}{comment}\n")
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
            self.write(f"{stem}{self._facts(child)}{self._shown(child)}\n")
            if child.children is not None:
                below = prefix + ("    " if is_last else pipe)
                stack.append((iter(child.children), below, len(child.children)))
                positions.append(0)

    def end(self, directories: int, files: int, size: int) -> None:
        if not self.options.report:
            return
        counted = f"{directories} director{'y' if directories == 1 else 'ies'}"
        if not self.options.directories_only:
            counted += f", {files} file{'' if files == 1 else 's'}"
        if self.options.usage:
            unit = "" if self.options.human else " bytes"
            counted = f" {self.size_of(size)}{unit} used in {counted}"
        self.write(f"\n{counted}\n")

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
            parts.append(self.size_of(node.size))
        if options.times:
            parts.append(self.time(info))
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
        if not name.isprintable():
            name = "".join(
                [c if is_printable(c) else "".join([f"\\{b:03o}" for b in encode(c)]) for c in name]
            )
        return f'"{name}"' if self.options.quotes else name


class Json(_Form):
    """`-J`: an item for each file, with its facts as pairs."""

    def begin(self) -> None:
        self._line(0, "[")

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        comma = "" if last else ","
        if node is not None and node.children:
            self._walk(node, name, last=last)
        elif node is not None and node.children is not None:
            self._line(1, f"{self._item(node, name, 1)}}}")
        else:
            indent, end = ("", "") if self.options.no_indent else ("  ", "\n")
            item = (
                f',"name":{_json(name)}' if node is None else f"{indent}{self._item(node, name, 1)}"
            )
            error = _error("error opening dir" if node is None else node.comment)
            self.write(f'{item},"contents":[{error}{end}{comma}{end}{indent}]}}{comma}{end}')

    def end(self, directories: int, files: int, size: int) -> None:
        if self.options.report:
            counted = f'"directories":{directories}'
            if not self.options.directories_only:
                counted += f',"files":{files}'
            used = f'"size":{size},' if self.options.usage else ""
            self._line(0, ",")
            self._line(1, f'{{"type":"report",{used}{counted}}}')
        elif not self.options.no_indent:
            self.write("\n")
        self._line(0, "]")
        if self.options.no_indent:
            self.write("\n")

    def _walk(self, node: Node, name: str, *, last: bool) -> None:
        """Write the item and all below it."""
        self._open(node, name, 1, last=last)
        stack = [(node, iter(node.children or ()), 1)]
        left = [len(node.children or ())]
        while stack:
            self.ctx.budget.step()
            parent, children, depth = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                left.pop()
                if parent.children:
                    self._line(depth, f"]}}{'' if (left[-1] == 0 if left else last) else ','}")
                continue
            left[-1] -= 1
            shown = child.path if self.options.full_path else child.name
            self._open(child, shown, depth + 1, last=left[-1] == 0)
            if child.children is not None:
                stack.append((child, iter(child.children), depth + 1))
                left.append(len(child.children))

    def _open(self, node: Node, name: str, level: int, *, last: bool) -> None:
        """Write an item, or its beginning if files are below it."""
        comma = "" if last else ","
        item = self._item(node, name, level)
        end = "" if self.options.no_indent else "\n"
        if node.children:
            self._line(level, f'{item},"contents":[')
        elif not node.comment:
            self._line(level, f"{item}}}{comma}")
        elif node.target is not None:
            self._line(level, f"{item}}}{_error(node.comment)}{end}{comma}")
        else:
            margin = "" if self.options.no_indent else "  " * level
            self._line(level, f'{item},"contents":[{_error(node.comment)}{end}{margin}]}}{comma}')

    def _item(self, node: Node, name: str, level: int) -> str:
        kind = _KINDS.get(stat.S_IFMT(node.info.mode), "unknown")
        pairs: list[tuple[str, str | int]] = [("type", kind), ("name", name)]
        if node.target is not None:
            pairs.append(("target", node.target))
        pairs += self._facts(node, level)
        return "{" + ",".join(
            [
                f"{_json(key)}:{value if isinstance(value, int) else _json(value)}"
                for key, value in pairs
            ]
        )

    def _facts(self, node: Node, level: int) -> list[tuple[str, str | int]]:
        """Return (name, value) of the facts that are asked for."""
        options, info = self.options, node.info
        facts: list[tuple[str, str | int]] = []
        if options.inodes:
            found = node.target_info if node.target is not None else info if level > 1 else None
            facts.append(("inode", found.ino if found is not None else 0))
        if options.permissions:
            facts += [("mode", f"{info.permissions:04o}"), ("prot", format_mode(info.mode))]
        if options.user:
            facts.append(("user", self.owners.user(info.uid)))
        if options.group:
            facts.append(("group", self.owners.group(info.gid)))
        if options.sizes:
            facts.append(("size", self.size_of(node.size).strip() if options.human else node.size))
        if options.times:
            facts.append(("time", self.time(info)))
        return facts

    def _line(self, level: int, text: str) -> None:
        """Write a line at an indentation; with -i neither."""
        self.write(text if self.options.no_indent else f"{'  ' * level}{text}\n")


def _error(comment: str) -> str:
    return f'{{"error": {_json(comment)}}}'


def _json(text: str) -> str:
    """Return a JSON string, as `tree` escapes it."""
    escaped = [_ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text]
    return f'"{"".join(escaped)}"'
