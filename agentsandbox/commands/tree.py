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
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.commands._ignore_rules import IgnoreRules
    from agentsandbox.patterns import GlobMatcher

USAGE = """
Usage: tree [OPTION]... [DIRECTORY]...
Draw the contents of directories.

Files:    -a all, also hidden ones   -d directories only   -l follow links to directories   -L LEVEL so many levels
          -P PATTERN only files that match   -I PATTERN nothing that matches (alternatives by |)   --ignore-case   --matchdirs -P for
          directories too   --prune no empty directories   --filelimit N no directories with more entries   -x stay on the filesystem
          --gitignore nothing that .gitignore files name   --gitfile FILE nor what this file names
          --fromfile draw the paths in files (. for standard input)
Facts:    -p permissions   -u user   -g group   -s size   -h, --si readable sizes   -D time   --timefmt FORMAT   --inodes
          -F append */=|   --du sizes with all below   --metafirst facts before the lines
Names:    -f full paths   -Q in double quotes   -q ? for what does not print   -N as they are
Order:    -v by version   -t by time   -c by time of status   -U unsorted   -r reversed   --sort NAME   --dirsfirst   --filesfirst
Form:     -i no lines   -A, -S, --charset NAME (lines of a terminal, CP437, utf-8 or ascii)   -C colours   -n none
          -J JSON   -X XML   -o FILE   --noreport
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

    def read(self, name: str) -> Node | None:
        """A starting point with all below it; None if there is none."""
        info = self._stat_top(name)
        if info is None:
            return None
        top = Node(name, name, info)
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
                below = [child for child in node.children or () if child.is_dir or _leads_to_directory(child)]
                order += [(node, child) for child in below]
                pending += [(child, depth + 1) for child in reversed(below) if child.is_dir]
        self._finish(top, order)
        if top.children or top.comment or self.options.from_file:
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

    def _rules_of(self, path: str, parent: IgnoreRules | None) -> IgnoreRules | None:
        """What .gitignore files say in a directory."""
        if not self.options.git_ignore:
            return None
        from agentsandbox.commands._ignore_rules import IgnoreRules, read_rules

        absolute = normalize(self.ctx.path(path))
        return IgnoreRules(absolute, read_rules(self.ctx.fs, join(absolute, ".gitignore")), parent)

    def _fill(self, node: Node, depth: int) -> bool:
        """Read what is in a directory, if it is to be entered."""
        if self.options.level and depth >= self.options.level:
            return False
        try:
            names = self._names(node.path)
        except OSError:
            node.comment = "error opening dir"
            return False
        self._rules[node.path] = self._rules_of(node.path, self._rules.get(posixpath.dirname(node.path), self._given))
        children = [child for name in names if (child := self._examine(node, name)) is not None]
        if self.options.file_limit and len(children) > self.options.file_limit:
            node.comment = f"{len(children)} entries exceeds filelimit, not opening dir"
            return False
        node.children = self._sorted(children)
        return True

    def _examine(self, parent: Node, name: str) -> Node | None:
        options, fs = self.options, self.ctx.fs
        if name.startswith(".") and not (options.all or options.from_file):
            return None
        self.ctx.budget.step()
        path = join(parent.path, name)
        absolute = self.ctx.path(path)
        try:
            node = Node(name, path, self._stat(path))
        except OSError:
            return None
        rules = self._rules.get(parent.path)
        if rules is not None and rules.ignores(normalize(absolute), is_dir=node.is_dir):
            return None
        node.free = parent.free
        if node.info.is_link:
            node.target = fs.readlink(absolute)
            try:
                node.target_info = fs.stat(absolute)
            except OSError:
                node.target_info = None
            if node.target_info is not None and node.target_info.is_dir:
                if options.follow:
                    node.is_dir = True
                elif options.directories_only:
                    return node if self._passes(node, is_dir=True) else None
        if options.directories_only and not node.is_dir:
            return None
        return node if self._passes(node, is_dir=node.is_dir) else None

    def _passes(self, node: Node, *, is_dir: bool) -> bool:
        if self.options.ignored and _matches(self.options.ignored, node.name, is_dir=is_dir):
            return False
        if not self.options.patterns or node.free or (is_dir and not self.options.match_directories):
            return True
        if is_dir and _matches(self.options.patterns, node.name, is_dir=True):
            node.free = True
        return is_dir or _matches(self.options.patterns, node.name, is_dir=is_dir)

    def _sorted(self, nodes: list[Node]) -> list[Node]:
        options = self.options
        if options.sort == "version":
            nodes.sort(key=lambda node: version_key(node.name))
        elif options.sort == "mtime":
            nodes.sort(key=lambda node: node.info.mtime)
        elif options.sort == "ctime":
            nodes.sort(key=lambda node: node.info.ctime)
        elif options.sort == "size":
            nodes.sort(key=lambda node: -node.info.size)
        if options.reverse:
            nodes.reverse()
        if options.directories_first:
            nodes.sort(key=lambda node: not _leads_to_directory(node))
        elif options.files_first:
            nodes.sort(key=_leads_to_directory)
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
                if _leads_to_directory(child):
                    self.directories += 1
                else:
                    self.files += 1
                pending.append(child)


class _ListReader(_Reader):
    """`--fromfile`: the names are lines of a file, or of standard input."""

    def __init__(self, ctx: CommandContext, options: TreeOptions) -> None:
        super().__init__(ctx, options)
        self._listed: dict[str, dict[str, None]] = {}
        self._held = 0

    def _stat_top(self, name: str) -> Stat | None:
        info = super()._stat_top(name)
        if info is not None:
            source = self.ctx.stdin if name == "." else self.ctx.open_input(name)
            for line in source.lines():
                self.ctx.budget.step()
                self._add(name, decode(line).rstrip("\n"))
        return info

    def _add(self, top: str, text: str) -> None:
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

    def _names(self, path: str) -> list[str]:
        return sorted(self._listed.get(path, ()))

    def _stat(self, path: str) -> Stat:
        return Stat(stat.S_IFDIR if path in self._listed else stat.S_IFREG, 0, 0.0)


def _leads_to_directory(node: Node) -> bool:
    return node.info.is_dir or (node.target_info is not None and node.target_info.is_dir)


def _matches(patterns: Sequence[tuple[GlobMatcher, bool]], name: str, *, is_dir: bool) -> bool:
    return any(pattern.match(name) and (is_dir or not only) for pattern, only in patterns)


@command("tree", usage=USAGE, raw=True)
def tree(ctx: CommandContext, args: Arguments) -> int:
    if "--help" in args.operands:
        ctx.stdout.write(encode(USAGE.lstrip()))
        return 0
    if "--version" in args.operands:
        ctx.print("tree v2.1.0 (as agentsandbox draws it)")
        return 0
    options = TreeOptions(args.operands)
    options.lines = options.lines or ("ascii" if ctx.is_bytewise() else "utf-8")
    options.colors = "TERM" in ctx.env and (options.colors or ("CLICOLOR_FORCE" in ctx.env and not options.plain))
    form_type: type[Form] = Json if options.json else Xml if options.xml else Drawing
    file = None if options.output is None else ctx.fs.open(ctx.path(options.output), "w", permissions=0o666 & ~ctx.umask)
    try:
        form = form_type(ctx, options, ctx.stdout if file is None else file)
        reader = _ListReader(ctx, options) if options.from_file else _Reader(ctx, options)
        form.begin()
        names = options.operands or ["."]
        for number, name in enumerate(names):
            node = reader.read(name)
            form.top(node, name, last=number == len(names) - 1)
            if node is None:
                ctx.status = 2
        form.end(reader.directories, reader.files, reader.size)
    finally:
        if file is not None:
            file.release()
    return ctx.status
