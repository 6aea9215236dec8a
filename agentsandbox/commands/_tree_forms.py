"""How `tree` writes what it has found: as a drawing, as JSON, as XML."""

from __future__ import annotations

import stat

from agentsandbox.commands._listing import indicator
from agentsandbox.commands._quoting import is_printable, printable
from agentsandbox.commands._times import LocalTime, nanoseconds
from agentsandbox.commands._tree_colors import Palette
from agentsandbox.languages.modes import format_mode
from agentsandbox.languages.owners import Owners
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext
    from agentsandbox.commands._tree_options import TreeOptions
    from agentsandbox.fs.base import Stat
    from agentsandbox.streams import ByteWriter

__all__ = ["Drawing", "Form", "Json", "Node", "Xml"]

_KINDS = {
    stat.S_IFDIR: "directory", stat.S_IFLNK: "link", stat.S_IFREG: "file", stat.S_IFIFO: "fifo", stat.S_IFCHR: "char",
    stat.S_IFBLK: "block", stat.S_IFSOCK: "socket",
}  # fmt: skip
_LINES = {
    "utf-8": ("│\xa0\xa0 ", "├── ", "└── "), "ascii": ("|   ", "|-- ", "`-- "),
    "ansi": ("x   ", "tqq ", "mqq "),
    "cp437": ("\udcb3   ", "\udcc3\udcc4\udcc4 ", "\udcc0\udcc4\udcc4 "),
}  # fmt: skip
_HALF_YEAR = 6 * 30 * 24 * 3600


class Node:
    """A file in the tree; `children` is None for what is not entered."""

    __slots__ = ("children", "comment", "free", "info", "is_dir", "name", "path", "size", "target", "target_info")

    def __init__(self, name: str, path: str, info: Stat) -> None:
        self.name = name
        self.path = path
        self.info = info
        self.is_dir = info.is_dir
        self.size = info.size
        self.target: str | None = None
        self.target_info: Stat | None = None
        self.children: list[Node] | None = None
        self.free = False
        """Whether the patterns of -P do not matter for what is below it."""
        self.comment = ""
        """Why it was not entered."""


class Form:
    """What all forms share: columns of facts, names, and where they go."""

    def __init__(self, ctx: CommandContext, options: TreeOptions, writer: ByteWriter) -> None:
        self.ctx = ctx
        self.options = options
        self.writer = writer
        self.local = LocalTime(ctx)
        self.owners = Owners(ctx)
        self.palette = Palette(ctx.env)

    def write(self, text: str) -> None:
        """Write text."""
        self.writer.write(encode(text))

    def begin(self) -> None:
        """Before the first tree."""

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        """A starting point; None if it cannot be read."""

    def end(self, directories: int, files: int, size: int) -> None:
        """After the last tree."""

    def time(self, info: Stat) -> str:
        """The time in the format asked for."""
        when = info.ctime if self.options.use_ctime else info.mtime
        format = self.options.time_format
        if not format:
            now = self.ctx.host.clock()
            format = "%b %e %H:%M" if now - _HALF_YEAR < when <= now else "%b %e  %Y"
        return self.local.show(format, nanoseconds(when))

    def size_of(self, size: int) -> str:
        """The size as -s, -h or --si show it."""
        if not self.options.human:
            return f"{size:11d}"
        base = 1000 if self.options.si else 1024
        if size < base:
            return f"{size:4d}"
        value, unit = float(size), -1
        while value >= base and unit < 5:
            value /= base
            unit += 1
        letter = ("kMGTPE" if self.options.si else "KMGTPE")[unit]
        return f"{value:3.0f}{letter}" if value >= 10 else f"{value:3.1f}{letter}"


class Drawing(Form):
    """Lines and branches."""

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        if node is None or node.children is None:
            self.write(f"{self._colored_name(name, None)}  [{node.comment if node is not None else 'error opening dir'}]\n")
            return
        self.write(f"{self._facts(node)}{self._painted(node, name)}{indicator(node.info, self._marks)}\n")
        pipe, branch, corner = _LINES[self.options.lines]
        if self.options.no_indent:
            pipe = branch = corner = ""
        blank = " " * (4 if pipe else 0)
        stack = [(iter(node.children), "", len(node.children))]
        position = [0]
        while stack:
            self.ctx.budget.step()
            children, prefix, count = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                position.pop()
                continue
            position[-1] += 1
            is_last = position[-1] == count
            self.ctx.budget.charge(len(prefix) * 4)
            stem = f"{prefix}{corner if is_last else branch}"
            if self.options.lines == "ansi" and stem:
                stem = f"\x1b(0{stem}\x1b(B"
            facts, shown = self._facts(child), self._described(child)
            self.write(f"{facts}{stem}{shown}\n" if self.options.facts_first else f"{stem}{facts}{shown}\n")
            if child.children is not None:
                stack.append((iter(child.children), prefix + (blank if is_last else pipe), len(child.children)))
                position.append(0)

    def end(self, directories: int, files: int, size: int) -> None:
        if not self.options.report:
            return
        counted = f"{directories} director{'y' if directories == 1 else 'ies'}"
        if not self.options.directories_only:
            counted += f", {files} file{'' if files == 1 else 's'}"
        if self.options.usage:
            counted = f" {self.size_of(size)}{'' if self.options.human else ' bytes'} used in {counted}"
        self.write(f"\n{counted}\n")

    @property
    def _marks(self) -> str:
        return "classify" if self.options.classify else "none"

    def _facts(self, node: Node) -> str:
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

    def _described(self, node: Node) -> str:
        name = node.path if self.options.full_path else node.name
        text = self._painted(node, name)
        if node.target is None:
            text += indicator(node.info, self._marks)
        else:
            shown = self._name(node.target)
            if self.options.colors:
                shown = self.palette.paint(shown, node.target_info, node.target)
            text += f" -> {shown}"
            if node.target_info is not None:
                text += indicator(node.target_info, self._marks)
        return f"{text}  [{node.comment}]" if node.comment else text

    def _painted(self, node: Node, name: str) -> str:
        return self._colored_name(name, node)

    def _colored_name(self, name: str, node: Node | None) -> str:
        shown = self._name(name)
        if not self.options.colors or node is None:
            return shown
        if node.target is not None:
            return self.palette.paint_link(shown, node.target_info, node.target)
        return self.palette.paint(shown, node.info, node.name)

    def _name(self, name: str) -> str:
        if self.options.question_marks:
            name = printable(name)
        elif not self.options.raw_names and not name.isprintable():
            name = "".join([c if is_printable(c) else "".join([f"\\{byte:03o}" for byte in encode(c)]) for c in name])
        if self.options.quotes:
            return f'"{name}"'
        return name


class _Markup(Form):
    """What JSON and XML share: an item for each file, with its facts as pairs."""

    def facts(self, node: Node) -> list[tuple[str, str | int]]:
        """(name, value) of what is known, as asked for."""
        options, info = self.options, node.info
        facts: list[tuple[str, str | int]] = []
        if options.inodes:
            facts.append(("inode", info.ino))
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

    def names(self, node: Node, name: str) -> list[tuple[str, str | int]]:
        """The name, and what a link points to."""
        named: list[tuple[str, str | int]] = [("name", name)]
        if node.target is not None:
            named.append(("target", node.target))
        return named

    def walk(self, node: Node, name: str, level: int, *, last: bool) -> None:
        """The item and all below it."""
        self.open(node, name, level, last=last)
        stack = [(node, iter(node.children or ()), level)]
        left = [len(node.children or ())]
        while stack:
            self.ctx.budget.step()
            parent, children, depth = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                left.pop()
                self.close(parent, depth, last=left[-1] == 0 if left else last)
                continue
            left[-1] -= 1
            shown = child.path if self.options.full_path else child.name
            self.open(child, shown, depth + 1, last=left[-1] == 0)
            if child.children is not None:
                stack.append((child, iter(child.children), depth + 1))
                left.append(len(child.children))

    def open(self, node: Node, name: str, level: int, *, last: bool) -> None:
        """The beginning of an item, all of it if nothing is below it."""

    def close(self, node: Node, level: int, *, last: bool) -> None:
        """The end of an item that has something below it."""

    def line(self, level: int, text: str) -> None:
        """A line at an indentation; with -i neither."""
        self.write(text if self.options.no_indent else f"{'  ' * level}{text}\n")


class Json(_Markup):
    """`-J`."""

    def begin(self) -> None:
        self.line(0, "[")

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        if node is None or node.children is None:
            self.line(1, f'{{"type":"directory","name":{_json(name)},"contents":[{{"error": "opening dir"}}')
            self.write("  ]}" if not self.options.no_indent else "]}")
            if not self.options.no_indent:
                self.write("\n")
        else:
            self.walk(node, name, 1, last=last)

    def end(self, directories: int, files: int, size: int) -> None:
        if self.options.report:
            counted = f'"directories":{directories}'
            if not self.options.directories_only:
                counted += f',"files":{files}'
            used = f'"size":{size},' if self.options.usage else ""
            self.line(0, ",")
            self.line(1, f'{{"type":"report",{used}{counted}}}')
        self.line(0, "]")
        if self.options.no_indent:
            self.write("\n")

    def open(self, node: Node, name: str, level: int, *, last: bool) -> None:
        kind = _KINDS.get(stat.S_IFMT(node.info.mode), "unknown")
        pairs = [("type", kind), *self.names(node, name), *self.facts(node)]
        text = "{" + ",".join([f"{_json(key)}:{value if isinstance(value, int) else _json(value)}" for key, value in pairs])
        if node.children is not None and node.children:
            self.line(level, f'{text},"contents":[')
            return
        if node.comment:
            text += f',"error": {_json(node.comment)}'
        self.line(level, f"{text}}}{'' if last else ','}")

    def close(self, node: Node, level: int, *, last: bool) -> None:
        if node.children:
            self.line(level, f"]}}{'' if last else ','}")


def _json(text: str | int) -> str:
    """A JSON string, as `tree` escapes it."""
    escapes = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join([escapes.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in str(text)]) + '"'


class Xml(_Markup):
    """`-X`."""

    def begin(self) -> None:
        self.line(0, f'<?xml version="1.0" encoding="{"US-ASCII" if self.options.lines == "ascii" else "UTF-8"}"?>')
        self.line(0, "<tree>")

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        if node is None or node.children is None:
            self.line(1, f'<directory name="{_xml(name)}"><error>opening dir</error></directory>')
        else:
            self.walk(node, name, 1, last=last)

    def end(self, directories: int, files: int, size: int) -> None:
        if self.options.report:
            self.line(1, "<report>")
            if self.options.usage:
                self.line(2, f"<size>{size}</size>")
            self.line(2, f"<directories>{directories}</directories>")
            if not self.options.directories_only:
                self.line(2, f"<files>{files}</files>")
            self.line(1, "</report>")
        self.line(0, "</tree>")
        if self.options.no_indent:
            self.write("\n")

    def open(self, node: Node, name: str, level: int, *, last: bool) -> None:
        kind = _KINDS.get(stat.S_IFMT(node.info.mode), "unknown")
        pairs = [*self.names(node, name), *self.facts(node)]
        text = f"<{kind}" + "".join([f' {key}="{_xml(value)}"' for key, value in pairs]) + ">"
        self.line(level, text if node.children else f"{text}</{kind}>")

    def close(self, node: Node, level: int, *, last: bool) -> None:
        if node.children:
            self.line(level, f"</{_KINDS.get(stat.S_IFMT(node.info.mode), 'unknown')}>")


def _xml(text: str | int) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = str(text).replace(character, entity)
    return str(text)
