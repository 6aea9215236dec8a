"""`tree` (version 2.1): directories as drawings. Names are in the order of their code points."""

from __future__ import annotations

import posixpath

from agentsandbox.commands._files.copying import join
from agentsandbox.commands._text.versions import version_key
from agentsandbox.commands.tree.forms import Drawing, Node, TreeOptions
from agentsandbox.contract.command import Arguments, CommandContext, command, normalize
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands._files.ignore_rules import IgnoreRules
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.patterns.filenames import GlobMatcher


class _Reader:
    """Reads trees into nodes and counts what is shown."""

    def __init__(self, ctx: CommandContext, options: TreeOptions) -> None:
        self.ctx = ctx
        self.options = options
        self.directories = 0
        self.files = 0
        self.size = 0
        self._rules: dict[str, IgnoreRules | None] = {}
        """The rules of the .gitignore files that hold in each directory, by its path."""

    def read(self, name: str) -> Node | None:
        """Return a starting point with all below it, None for a name that does not exist."""
        info = self._stat_top(name)
        if info is None:
            return None
        path = name.rstrip("/") or name
        shown = path if self.options.full_path else name
        top = Node(name, path, self.ctx.fs.stat(self.ctx.path(shown), follow=False))
        top.is_dir, top.target_info = info.is_dir, info
        if not info.is_dir:
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
                below = [child for child in node.children or () if child.leads_to_directory]
                order += [(node, child) for child in below]
                pending += [(child, depth + 1) for child in reversed(below) if child.is_dir]
        self._finish(top, order)
        if top.children or top.comment:
            self.directories += 1
        return top

    def _stat_top(self, name: str) -> Stat | None:
        for follow in (True, False):
            try:
                return self.ctx.fs.stat(self.ctx.path(name), follow=follow)
            except OSError:
                pass
        return None

    def _read_link(self, node: Node) -> None:
        path = self.ctx.path(node.path)
        node.target = self.ctx.fs.readlink(path)
        try:
            node.target_info = self.ctx.fs.stat(path)
        except OSError:
            node.target_info = None

    def _rules_of(self, path: str) -> IgnoreRules | None:
        """Return the rules of the .gitignore files for a directory."""
        if not self.options.git_ignore:
            return None
        from agentsandbox.commands._files.ignore_rules import IgnoreRules, read_rules

        absolute = normalize(self.ctx.path(path))
        rules = read_rules(self.ctx.fs, join(absolute, ".gitignore"))
        return IgnoreRules(absolute, rules, self._rules.get(posixpath.dirname(path)))

    def _fill(self, node: Node, depth: int) -> bool:
        """Read the entries of a directory unless it is too deep; return whether that was done."""
        if self.options.level and depth >= self.options.level:
            return False
        try:
            names = self.ctx.fs.listdir(self.ctx.path(node.path))
        except OSError:
            node.comment = "error opening dir"
            self.ctx.status = 2 if depth else self.ctx.status
            return False
        self._rules[node.path] = self._rules_of(node.path)
        children = [child for name in names if (child := self._examine(node, name)) is not None]
        node.children = self._sorted(children)
        return True

    def _examine(self, parent: Node, name: str) -> Node | None:
        """Return the node of a directory's entry, None for one that is left out."""
        options = self.options
        if name.startswith(".") and not options.all:
            return None
        self.ctx.budget.step()
        path = join(parent.path, name)
        absolute = self.ctx.path(path)
        try:
            node = Node(name, path, self.ctx.fs.stat(absolute, follow=False))
        except OSError:
            return None
        rules = self._rules.get(parent.path)
        if rules is not None and rules.ignores(normalize(absolute), is_dir=node.is_dir):
            return None
        if node.info.is_link:
            self._read_link(node)
            if options.follow and node.leads_to_directory:
                node.is_dir = True
                node.path = posixpath.join(parent.path, node.target or "")
        if options.directories_only and not node.leads_to_directory:
            return None
        return node if self._passes(node) else None

    def _passes(self, node: Node) -> bool:
        leads = node.leads_to_directory
        if _matches(self.options.ignored, node.name, is_dir=leads):
            return False
        if not self.options.patterns or node.is_dir:
            return True
        return _matches(self.options.patterns, node.name, is_dir=leads)

    def _sorted(self, nodes: list[Node]) -> list[Node]:
        if self.options.sort == "v":
            nodes.sort(key=lambda node: version_key(node.name))
        elif self.options.sort == "t":
            nodes.sort(key=lambda node: int(node.info.mtime))
        if self.options.reverse:
            nodes.reverse()
        if self.options.directories_first:
            nodes.sort(key=lambda node: not node.leads_to_directory)
        return nodes

    def _finish(self, top: Node, order: list[tuple[Node, Node]]) -> None:
        """Remove empty directories and add up sizes, from the leaves up; then count."""
        options = self.options
        for parent, child in reversed(order):
            empty = not child.children and not child.comment
            if options.prune and not options.directories_only and empty:
                assert parent.children is not None
                parent.children.remove(child)
            elif options.usage:
                child.size += sum([each.size for each in child.children or ()])
        if options.usage:
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


def _matches(patterns: list[tuple[GlobMatcher, bool]], name: str, *, is_dir: bool) -> bool:
    return any(pattern.match(name) and (is_dir or not only) for pattern, only in patterns)


def _check_level(text: str) -> None:
    if not text.isdecimal() or int(text[:9]) < 1:
        raise CommandError("Invalid level, must be greater than 0.")


def _check_charset(text: str) -> None:
    if text.lower() not in ("ascii", "us-ascii", "utf-8", "utf8"):
        raise CommandError(f"Character set '{text}' not available, should be one of: ascii,utf-8")


@command(
    "tree",
    values={"L": _check_level, "charset": _check_charset},
    usage="""
    Usage: tree [OPTION]... [DIRECTORY]...
    Draw the contents of directories.

    Files:
      -a                 show all files, also hidden ones
      -d                 show directories only
      -l                 follow links to directories
      -L LEVEL           descend LEVEL levels
      -P PATTERN         show only files that match (alternatives are separated by |)
      -I PATTERN         show nothing that matches
          --prune        leave out empty directories
          --gitignore    leave out what .gitignore files name

    Facts:
      -p                 permissions
      -u                 user
      -g                 group
      -s                 size in bytes
      -h                 size in powers of 1024
          --du           size of directories with all below
      -D                 time of the last change
          --inodes       inode number
      -F                 append /, *, =, | to names

    Names and order:
      -f                 show full paths
      -v                 sort by version
      -t                 sort by time
      -r                 reverse the order
          --dirsfirst    directories before files

    Form:
      -i                 no lines before names
      -C                 colours
          --charset X    lines of ascii or utf-8
          --noreport     no report at the end
          --version      show the release that this command follows
          --help         display this help and exit
    """,
    manners=Manners(unreadable_is_empty=("", ""), write_error=SILENT),
)
def tree(ctx: CommandContext, args: Arguments) -> int:
    if args.flag("version"):
        ctx.print("tree v2.1.0 (as agentsandbox draws it)")
        return 0
    options = TreeOptions(ctx, args)
    drawing = Drawing(ctx, options)
    reader = _Reader(ctx, options)
    for name in args.operands or ["."]:
        node = reader.read(name)
        drawing.top(node, node.path if options.full_path and node is not None else name)
        if node is None:
            ctx.status = 2
    drawing.end(reader.directories, reader.files, reader.size)
    return ctx.status
