"""`tree` (version 2.1): directories as drawings. Names are in the order of their code points."""

from __future__ import annotations

import posixpath
import stat

from agentsandbox.command import Arguments, CommandContext, command, normalize
from agentsandbox.commands._copying import join
from agentsandbox.commands._tree_forms import Drawing, Form, Json, Node, Xml
from agentsandbox.commands._tree_options import TreeOptions
from agentsandbox.commands._versions import version_key
from agentsandbox.errors import CommandError
from agentsandbox.fs.base import Stat
from agentsandbox.manners import SILENT, Manners
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.commands._ignore_rules import IgnoreRules
    from agentsandbox.commands._tree_info import InfoFile
    from agentsandbox.globs import GlobMatcher

USAGE = """
Usage: tree [OPTION]... [DIRECTORY]...
Draw the contents of directories.

Files:    -a all, also hidden ones   -d directories only   -l follow links to directories   -L LEVEL so many levels
          -P PATTERN only files that match   -I PATTERN nothing that matches (alternatives by |)   --ignore-case   --matchdirs -P for
          directories too   --prune no empty directories   --filelimit N no directories with more entries   -x stay on the filesystem
          --gitignore nothing that .gitignore files name   --gitfile FILE nor what this file names
          --fromfile draw the paths in files (. for standard input)   --fflinks NAME -> TARGET in them is a link
          --info comments from .info files   --infofile FILE and from this file
Facts:    -p permissions   -u user   -g group   -s size   -h, --si readable sizes   -D time   --timefmt FORMAT   --inodes   --device
          -F append */=|   --du sizes with all below   --metafirst facts before the lines
Names:    -f full paths   -Q in double quotes   -q ? for what does not print   -N as they are
Order:    -v by version   -t by time   -c by time of status   -U unsorted   -r reversed   --sort NAME   --dirsfirst   --filesfirst
Form:     -i no lines   -A, -S, --charset NAME (lines of a terminal, CP437, utf-8 or ascii)   -C colours   -n none
          -J JSON   -X XML   -o FILE   --noreport
HTML:     -H BASE pages with links that begin with BASE   -T TITLE   --nolinks   --hintro FILE what is before the tree
          --houtro FILE what is behind it
"""


class _Reader:
    """Reads trees into nodes, counting what is shown."""

    def __init__(self, ctx: CommandContext, options: TreeOptions) -> None:
        self.ctx = ctx
        self.options = options
        self.directories = 0
        self.files = 0
        self.size = 0
        self._rules: dict[str, IgnoreRules | None] = {}
        """What the .gitignore files of directories say, by path."""
        self._given = self._given_rules()
        self._comments: dict[str, InfoFile | None] = {}
        """What the .info files of directories say, by path."""
        self._given_comments = self._given_info()

    def _given_rules(self) -> IgnoreRules | None:
        """What the files of --gitfile say, each of which counts from its own directory."""
        rules: IgnoreRules | None = None
        for name in self.options.ignore_files:
            from agentsandbox.commands._ignore_rules import IgnoreRules, read_rules

            path = normalize(self.ctx.path(name))
            if not self.ctx.fs.exists(path):
                raise CommandError("Could not load gitignore file")
            rules = IgnoreRules(posixpath.dirname(path), read_rules(self.ctx.fs, path), rules)
        return rules

    def _given_info(self) -> InfoFile | None:
        """What the files of --infofile say."""
        info: InfoFile | None = None
        for name in self.options.info_files:
            from agentsandbox.commands._tree_info import read_info

            found = read_info(self.ctx.fs, self.ctx.path(name), info, ignore_case=self.options.ignore_case)
            if found is None:
                raise CommandError("Could not load infofile")
            info = found
        return info

    def read(self, name: str) -> Node | None:
        """A starting point with all below it; None if there is none."""
        info = self._stat_top(name)
        if info is None:
            return None
        path = name.rstrip("/") or name
        top = Node(name, path, self.ctx.fs.stat(self.ctx.path(path if self.options.full_path else name), follow=False))
        top.is_dir, top.target_info, top.slash = info.is_dir, info, path != name
        if not info.is_dir and not self.options.from_file:
            top.comment = "error opening dir"
            self.files += 1
            return top
        order: list[tuple[Node, Node]] = []
        pending: list[tuple[Node, int]] = [(top, 0)]
        seen: set[int] = set()
        while pending:
            node, depth = pending.pop()
            self.ctx.budget.step()
            ino = (node.target_info or node.info).ino
            if node.target is not None and ino in seen:
                node.comment = "recursive, not followed"
                continue
            seen.add(ino)
            if self._fill(node, depth):
                below = [child for child in node.children or () if child.is_dir or child.leads_to_directory]
                order += [(node, child) for child in below]
                pending += [(child, depth + 1) for child in reversed(below) if child.is_dir]
        self._finish(top, order)
        if top.comment and (self.options.usage or self.options.prune or self.options.match_directories):
            top.comment = "error opening dir"
            self.files += 1
        elif top.children or top.comment or self.options.from_file:
            self.directories += 1
        return top

    def _stat_top(self, name: str) -> Stat | None:
        path = self.ctx.path(name)
        try:
            return self.ctx.fs.stat(path)
        except OSError:
            try:
                return self.ctx.fs.stat(path, follow=False)
            except OSError:
                return None

    def _names(self, path: str) -> list[str]:
        return self.ctx.fs.listdir(self.ctx.path(path))

    def _stat(self, path: str) -> Stat:
        return self.ctx.fs.stat(self.ctx.path(path), follow=False)

    def _read_link(self, node: Node) -> None:
        absolute = self.ctx.path(node.path)
        node.target = self.ctx.fs.readlink(absolute)
        try:
            node.target_info = self.ctx.fs.stat(absolute)
        except OSError:
            node.target_info = None

    def _rules_of(self, path: str, parent: IgnoreRules | None) -> IgnoreRules | None:
        """What .gitignore files say in a directory."""
        if not self.options.git_ignore:
            return None
        from agentsandbox.commands._ignore_rules import IgnoreRules, read_rules

        absolute = normalize(self.ctx.path(path))
        return IgnoreRules(absolute, read_rules(self.ctx.fs, join(absolute, ".gitignore")), parent)

    def _read_comments(self, path: str) -> bool:
        """Look for an .info file in a directory; whether there is one."""
        above = self._comments.get(posixpath.dirname(path), self._given_comments)
        self._comments[path] = above
        if not self.options.info or self.options.from_file:
            return False
        from agentsandbox.commands._tree_info import read_info

        own = read_info(self.ctx.fs, self.ctx.path(join(path, ".info")), above, ignore_case=self.options.ignore_case)
        self._comments[path] = own or above
        return own is not None

    def _fill(self, node: Node, depth: int) -> bool:
        """Read what is in a directory, if it is to be entered."""
        if self.options.level and depth >= self.options.level:
            return False
        try:
            names = self._names(node.path)
        except OSError:
            self._refuse(node, depth, "error opening dir")
            return False
        self._rules[node.path] = self._rules_of(node.path, self._rules.get(posixpath.dirname(node.path), self._given))
        children = [child for name in names if (child := self._examine(node, name)) is not None]
        if self.options.file_limit and len(children) > self.options.file_limit:
            self._refuse(node, depth, f"{len(children)} entries exceeds filelimit, not opening dir")
            return False
        own = self._read_comments(node.path)
        comments = self._comments[node.path]
        if comments is not None and not self.options.from_file:
            for child in children:
                child.notes = comments.comment(self.ctx.budget, child.path, child.name, is_dir=child.leads_to_directory, own=own)
        node.children = self._sorted(children)
        return True

    def _refuse(self, node: Node, depth: int, why: str) -> None:
        node.comment = why
        if depth:
            self.ctx.status = 2

    def _examine(self, parent: Node, name: str) -> Node | None:
        options = self.options
        if name.startswith(".") and not (options.all or options.from_file):
            return None
        self.ctx.budget.step()
        path = join(parent.path, name)
        absolute = self.ctx.path(path)
        try:
            node = Node(name, path, self._stat(path))
        except OSError:
            return None
        node.device = 0 if options.from_file else node.device
        rules = self._rules.get(parent.path)
        if rules is not None and rules.ignores(normalize(absolute), is_dir=node.is_dir):
            return None
        node.free = parent.free
        if node.info.is_link:
            self._read_link(node)
            if node.target_info is not None and node.target_info.is_dir:
                if options.follow:
                    node.is_dir = True
                    target = node.target or ""
                    node.path = target if target.startswith("/") else join(parent.path, target)
                elif options.directories_only:
                    return node if self._passes(node) else None
        if options.directories_only and not node.is_dir:
            return None
        return node if self._passes(node) else None

    def _passes(self, node: Node) -> bool:
        leads = node.leads_to_directory
        if self.options.ignored and _matches(self.options.ignored, node.name, is_dir=leads):
            return False
        if not self.options.patterns or node.free or (node.is_dir and not self.options.match_directories):
            return True
        matched = _matches(self.options.patterns, node.name, is_dir=leads)
        node.free = node.free or (node.is_dir and matched)
        return node.is_dir or matched

    def _sorted(self, nodes: list[Node]) -> list[Node]:
        options = self.options
        if options.sort == "version":
            nodes.sort(key=lambda node: version_key(node.name))
        elif options.sort == "mtime":
            nodes.sort(key=lambda node: int(node.info.mtime))
        elif options.sort == "ctime":
            nodes.sort(key=lambda node: int(node.info.ctime))
        elif options.sort == "size":
            nodes.sort(key=lambda node: -node.info.size)
        if options.reverse:
            nodes.reverse()
        if options.directories_first:
            nodes.sort(key=lambda node: not node.leads_to_directory)
        elif options.files_first:
            nodes.sort(key=lambda node: node.leads_to_directory)
        return nodes

    def _finish(self, top: Node, order: list[tuple[Node, Node]]) -> None:
        """From the leaves up: leave out empty directories, add up sizes; then count."""
        for parent, child in reversed(order):
            if (
                self.options.prune
                and not self.options.from_file
                and not self.options.directories_only
                and not child.children
                and not child.comment
            ):
                assert parent.children is not None
                parent.children.remove(child)
            elif self.options.usage:
                child.size += sum([each.size for each in child.children or ()])
        if self.options.usage:
            top.size += sum([each.size for each in top.children or ()])
        pending = [top]
        while pending:
            for child in pending.pop().children or ():
                self.ctx.budget.step()
                self.size += child.size
                if child.leads_to_directory:
                    self.directories += 1
                else:
                    self.files += 1
                pending.append(child)


class _ListReader(_Reader):
    """`--fromfile`: the names are lines of a file, or of standard input."""

    def __init__(self, ctx: CommandContext, options: TreeOptions) -> None:
        super().__init__(ctx, options)
        self._listed: dict[str, dict[str, None]] = {}
        self._links: dict[str, str] = {}
        self._held = 0

    def _stat_top(self, name: str) -> Stat | None:
        info = super()._stat_top(name)
        if info is not None:
            source = self.ctx.stdin if name == "." else self.ctx.open_input(name)
            for line in source.lines():
                self.ctx.budget.step()
                text, arrow, target = decode(line).rstrip("\n"), "", ""
                if self.options.link_lines:
                    text, arrow, target = text.partition(" -> ")
                path = self._add(name, text.rstrip("/") if arrow else text)
                if arrow:
                    self._links[path] = target
        return info

    def _add(self, top: str, text: str) -> str:
        here = top
        parts = [part for part in text.split("/") if part]
        for number, part in enumerate(parts, 1):
            self.ctx.budget.step()
            self._listed.setdefault(here, {})[part] = None
            self._held += len(here) + len(part)  # every directory is kept by its whole path
            self.ctx.budget.charge(self._held)
            here = join(here, part)
            if number == len(parts) and text.endswith("/"):
                self._listed.setdefault(here, {})
        return here

    def _names(self, path: str) -> list[str]:
        return sorted(self._listed.get(path, ()))

    def _stat(self, path: str) -> Stat:
        kind = stat.S_IFDIR if path in self._listed else stat.S_IFLNK if path in self._links else stat.S_IFREG
        return Stat(kind, 0, 0.0, uid=0, gid=0)

    def _read_link(self, node: Node) -> None:
        node.target = self._links[node.path]
        node.target_info = Stat(0, 0, 0.0)


def _matches(patterns: Sequence[tuple[GlobMatcher, bool]], name: str, *, is_dir: bool) -> bool:
    return any(pattern.match(name) and (is_dir or not only) for pattern, only in patterns)


def _form(options: TreeOptions) -> type[Form]:
    if options.form == "html":
        from agentsandbox.commands._tree_html import Html

        return Html
    return {"json": Json, "xml": Xml}.get(options.form, Drawing)


@command(
    "tree",
    manners=Manners(unreadable_is_empty=("", ""), write_error=SILENT),
    usage=USAGE,
    raw=True,
)
def tree(ctx: CommandContext, args: Arguments) -> int:
    if "--help" in args.operands:
        ctx.stdout.write(encode(USAGE.lstrip()))
        return 0
    if "--version" in args.operands:
        ctx.print("tree v2.1.0 (as agentsandbox draws it)")
        return 0
    options = TreeOptions(args.operands)
    options.charset = options.charset or ctx.env.get("TREE_CHARSET") or (None if ctx.is_bytewise() else "UTF-8")
    if "TERM" not in ctx.env:
        options.colors = options.colors and options.form == "html"
    else:
        options.colors = options.colors or ("CLICOLOR_FORCE" in ctx.env and not options.plain)
    form_type = _form(options)
    file = None if options.output is None else ctx.fs.open(ctx.path(options.output), "w", permissions=0o666 & ~ctx.umask)
    try:
        form = form_type(ctx, options, ctx.stdout if file is None else file)
        reader = _ListReader(ctx, options) if options.from_file else _Reader(ctx, options)
        form.begin()
        names = options.operands or ["."]
        for number, name in enumerate(names):
            node = reader.read(name)
            shown = node.path if options.full_path and node is not None else name
            form.top(node, shown, last=number == len(names) - 1)
            if node is None:
                ctx.status = 2
        form.end(reader.directories, reader.files, reader.size)
    finally:
        if file is not None:
            file.release()
    return ctx.status
