"""How `tree` writes what it has found: as a drawing, as JSON, as XML (as HTML: `_tree_html`)."""

from __future__ import annotations

import stat

from agentsandbox.commands._listing import indicator
from agentsandbox.commands._quoting import is_printable, printable
from agentsandbox.commands._times import LocalTime, nanoseconds
from agentsandbox.commands._tree_charsets import ANSI, lines_of
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

__all__ = ["DEVICE", "Drawing", "Form", "Json", "Node", "Xml"]

_KINDS = {
    stat.S_IFDIR: "directory", stat.S_IFLNK: "link", stat.S_IFREG: "file", stat.S_IFIFO: "fifo", stat.S_IFCHR: "char",
    stat.S_IFBLK: "block", stat.S_IFSOCK: "socket",
}  # fmt: skip
DEVICE = 0xFE00
"""The number of the one device that there is: 254, 0."""
_HALF_YEAR = 6 * 30 * 24 * 3600


class Node:
    """A file in the tree; `children` is None for what is not entered."""

    __slots__ = (
        "children",
        "comment",
        "device",
        "free",
        "info",
        "is_dir",
        "name",
        "notes",
        "path",
        "size",
        "slash",
        "target",
        "target_info",
    )

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
        self.device = DEVICE
        self.slash = False
        """Whether it is a starting point that was given with a slash behind it."""
        self.notes: tuple[str, ...] | None = None
        """What an .info file says of it, by lines."""

    @property
    def leads_to_directory(self) -> bool:
        """Whether it is a directory or a link to one."""
        return self.info.is_dir or (self.target_info is not None and self.target_info.is_dir)


class Form:
    """What all forms share: columns of facts, names, and where they go."""

    def __init__(self, ctx: CommandContext, options: TreeOptions, writer: ByteWriter) -> None:
        self.ctx = ctx
        self.options = options
        self.writer = writer
        self.local = LocalTime(ctx)
        self.owners = Owners(ctx)
        self.palette = Palette(ctx.env)
        self.lines = lines_of(options.charset)

    def write(self, text: str) -> None:
        """Write text."""
        self.writer.write(encode(text))

    def begin(self) -> None:
        """Before the first tree."""

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        """A starting point; None if it cannot be read."""

    def end(self, directories: int, files: int, size: int) -> None:
        """After the last tree."""

    def report(self, directories: int, files: int, size: int) -> str:
        """What was found, in words."""
        counted = f"{directories} director{'y' if directories == 1 else 'ies'}"
        if not self.options.directories_only:
            counted += f", {files} file{'' if files == 1 else 's'}"
        if self.options.usage:
            counted = f" {self.size_of(size)}{'' if self.options.human else ' bytes'} used in {counted}"
        return counted

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

    blank = "    "

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        if node is None or node.children is None:
            self.unread(node, name)
            return
        self.entry("", node, self.facts(node), self.shown_top(node, name))
        pipe, branch, corner = (ANSI if self.options.ansi else self.lines)[:3]
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
            stem = "" if self.options.no_indent else self.stem(f"{prefix}{corner if is_last else branch}")
            facts = self.facts(child)
            below = prefix + (self.blank if is_last else pipe)
            self.entry(stem, child, facts, self.shown(child))
            self.comment(child, self.stem(below), " " * len(facts) if self.options.facts_first else "")
            if child.children is not None:
                stack.append((iter(child.children), below, len(child.children)))
                position.append(0)

    def end(self, directories: int, files: int, size: int) -> None:
        if self.options.report:
            self.write(f"\n{self.report(directories, files, size)}\n")

    def unread(self, node: Node | None, name: str) -> None:
        """A starting point that is not entered."""
        if node is None:
            self.write(f"{self._name(name)}  [error opening dir]\n")
        else:
            self.entry("", node, self.facts(node), f"{self.shown_top(node, name)}  [{node.comment}]")

    def entry(self, stem: str, node: Node, facts: str, shown: str) -> None:
        """The line of a file."""
        self.write(f"{facts}{stem}{shown}\n" if self.options.facts_first else f"{stem}{facts}{shown}\n")

    def stem(self, lines: str) -> str:
        """What stands before a name, as the terminal needs it."""
        return f"\x1b(0{lines}\x1b(B" if self.options.ansi else lines

    def comment(self, node: Node, stem: str, margin: str) -> None:
        """What an .info file says of the file, below its line."""
        notes = node.notes or ()
        single, first, second, others, last = self.lines.braces
        for number, line in enumerate(notes):
            self.ctx.budget.step()
            brace = last if number == len(notes) - 1 else (first, second)[number] if number < 2 else others
            self.write(f"{margin}{stem} {single if len(notes) == 1 else brace} {line}\n")

    @property
    def _marks(self) -> str:
        return "classify" if self.options.classify else "none"

    def facts(self, node: Node) -> str:
        """What is asked for, in brackets."""
        options, info = self.options, node.info
        parts = []
        if options.inodes:
            parts.append(f"{info.ino:7d}")
        if options.device:
            parts.append(f"{node.device:3d}")
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

    def shown_top(self, node: Node, name: str) -> str:
        """The name of a starting point."""
        return f"{self._colored_name(name, node)}{indicator(node.info, self._marks)}"

    def shown(self, node: Node) -> str:
        """The name of a file, what it leads to, and why it is not entered."""
        name = node.path if self.options.full_path else node.name
        text = self._colored_name(name, node)
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

    def _colored_name(self, name: str, node: Node) -> str:
        shown = self._name(name)
        if not self.options.colors:
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

    def facts(self, node: Node, level: int) -> list[tuple[str, str | int]]:
        """(name, value) of what is known, as asked for. Of a starting point neither inode nor device are."""
        options, info = self.options, node.info
        found = node.target_info if node.target is not None else info if level > 1 else None
        facts: list[tuple[str, str | int]] = []
        if options.inodes:
            facts.append(("inode", found.ino if found is not None else 0))
        if options.device:
            facts.append(("dev", node.device if found is not None else 0))
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
        if node.notes is not None:
            named.append(("info", "\n".join(node.notes)))
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
    """`-J`. What cannot be read is told as `tree` tells it, which is not always JSON."""

    def begin(self) -> None:
        self._refused = False
        """Whether a directory below a starting point was not entered: files behind it have contents then, as `tree` tells it."""
        self.line(0, "[")

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        comma = "" if last else ","
        if node is not None and node.children:
            self.walk(node, name, 1, last=last)
        elif node is not None and node.children is not None:
            self.line(1, f"{self._item(node, name, 1)}}}")
        else:
            self._refused = True
            item = f"{self._margin(1)}{self._item(node, name, 1)}" if node is not None else f',"name":{_json(name)}'
            self.write(f'{item},"contents":[{_error(node)}{self._newline}{comma}{self._newline}{self._margin(1)}]}}{comma}{self._newline}')

    def end(self, directories: int, files: int, size: int) -> None:
        if self.options.report:
            counted = f'"directories":{directories}'
            if not self.options.directories_only:
                counted += f',"files":{files}'
            used = f'"size":{size},' if self.options.usage else ""
            self.line(0, ",")
            self.line(1, f'{{"type":"report",{used}{counted}}}')
        else:
            self.write(self._newline)
        self.line(0, "]")
        if self.options.no_indent:
            self.write("\n")

    def open(self, node: Node, name: str, level: int, *, last: bool) -> None:
        comma = "" if last else ","
        item = self._item(node, name, level)
        if node.children:
            self.line(level, f'{item},"contents":[')
        elif not node.comment and self._refused and not node.leads_to_directory:
            self.line(level, f'{item},"contents":[{self._margin(1)}]}}{comma}')
        elif not node.comment:
            self.line(level, f"{item}}}{comma}")
        elif node.target is not None:
            self.line(level, f"{item}}}{_error(node)}{self._newline}{comma}")
        else:
            self._refused = True
            self.line(level, f'{item},"contents":[{_error(node)}{self._newline}{self._margin(1)}]}}{comma}')

    def _item(self, node: Node, name: str, level: int) -> str:
        pairs = [("type", _kind(node)), *self.names(node, name), *self.facts(node, level)]
        return "{" + ",".join([f"{_json(key)}:{value if isinstance(value, int) else _json(value)}" for key, value in pairs])

    def _margin(self, level: int) -> str:
        return "" if self.options.no_indent else "  " * level

    @property
    def _newline(self) -> str:
        return "" if self.options.no_indent else "\n"

    def close(self, node: Node, level: int, *, last: bool) -> None:
        if node.children:
            self.line(level, f"]}}{'' if last else ','}")


def _kind(node: Node) -> str:
    return _KINDS.get(stat.S_IFMT(node.info.mode), "unknown")


def _error(node: Node | None) -> str:
    return f'{{"error": {_json(_comment(node))}}}'


def _comment(node: Node | None) -> str:
    return "error opening dir" if node is None else node.comment


def _json(text: str | int) -> str:
    """A JSON string, as `tree` escapes it."""
    escapes = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join([escapes.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in str(text)]) + '"'


class Xml(_Markup):
    """`-X`."""

    def begin(self) -> None:
        charset = self.options.charset
        self.line(0, '<?xml version="1.0"' + (f' encoding="{charset}"?>' if charset is not None else "?>"))
        self.line(0, "<tree>")

    def top(self, node: Node | None, name: str, *, last: bool) -> None:
        if node is None:
            self.write(f' name="{_xml(name)}"><error>{_comment(node)}</error>\n')
            self.line(1, "</unknown>")
        elif node.children:
            self.walk(node, name, 1, last=last)
        else:
            error = f"<error>{node.comment}</error>" if node.comment else ""
            self._opened(1, f"{self._item(node, name, 1)}{error}")
            self.line(1, f"</{_kind(node)}>")

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
        item = self._item(node, name, level)
        if node.children:
            self._opened(level, item)
        else:
            error = f"<error>{node.comment}</error>" if node.comment else ""
            self.line(level, f"{item}{error}</{_kind(node)}>")

    def close(self, node: Node, level: int, *, last: bool) -> None:
        if node.children:
            self.line(level, f"</{_kind(node)}>")

    def _item(self, node: Node, name: str, level: int) -> str:
        pairs = [*self.names(node, name), *self.facts(node, level)]
        return f"<{_kind(node)}" + "".join([f' {key}="{_xml(value)}"' for key, value in pairs]) + ">"

    def _opened(self, level: int, text: str) -> None:
        self.write(f"{'' if self.options.no_indent else '  ' * level}{text}\n")


def _xml(text: str | int) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = str(text).replace(character, entity)
    return str(text)
