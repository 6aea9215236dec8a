"""One run of `find`: options, outputs and the walk.

Where the expression is an `EntryPrinter` (names and types only, then -print), `_print_below` hands
groups of neighbours to it. Otherwise the walk visits every file by itself: `levels` is the stack of
open directories, `_walk` continues in the innermost one, `_meet` visits a directory and enters it.
"""

from __future__ import annotations

import errno
import os
import stat

from agentsandbox.commands._files.names import quote
from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands.find.tests import EntryPrinter
from agentsandbox.commands.find.visits import Output, Visit
from agentsandbox.errors import Unwind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.find.visits import Test
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import Stat

_DIR, _LINK = stat.S_IFDIR, stat.S_IFLNK
_GROUP = 256


class Quit(Unwind):
    """`-quit`: the search ends."""


class _Listing:
    """The names and types in a directory, and the position of the next one."""

    __slots__ = ("at", "kinds", "names", "path", "prefix")

    def __init__(self, path: str, prefix: str) -> None:
        self.path = path
        self.prefix = prefix
        self.names: list[str] = []
        self.kinds: list[int] = []
        self.at = 0


class _Level:
    """An open directory whose files are visited one by one, and the rest of its names."""

    __slots__ = ("depth", "ino", "path", "prefix", "rest", "visited")

    def __init__(self, listing: _Listing, depth: int, ino: int) -> None:
        self.path = listing.path
        self.prefix = listing.prefix
        self.rest = zip(listing.names, listing.kinds, strict=True)
        """The names not yet visited, each with its type."""
        self.depth = depth
        self.ino = ino
        self.visited: tuple[str, str, str, int, Stat | None] | None = None
        """The directory itself, if it is visited after its contents (`-depth`)."""


class Search:
    """Options, streams and state of one run."""

    def __init__(self, ctx: CommandContext, problem_of: Callable[[str, str | None], int]) -> None:
        self.ctx = ctx
        self.problem_of = problem_of
        """A function: the errno why a program cannot be run from a directory, or 0."""
        self.follow = "P"
        self.max_depth = -1
        self.min_depth = 0
        self.depth_first = False

        self.now = ctx.host.clock()
        self.outputs: dict[str, Output] = {}
        self.stdout = Output(ctx.stdout)
        self.at_end: list[Callable[[], None]] = []
        """Functions to call at the end of the search: the rest of `-exec … +`."""
        self.visit = Visit(ctx.fs)
        self._owners: Owners | None = None

    @property
    def owners(self) -> Owners:
        """The users and groups by name."""
        if self._owners is None:
            self._owners = Owners(self.ctx)
        return self._owners

    def fail(self, name: str, error: OSError | int) -> None:
        """Report an error about a file, and continue."""
        number = error if isinstance(error, int) else error.errno or errno.EIO
        self.warn(f"{quote(name)}: {os.strerror(number)}")

    def warn(self, message: str) -> None:
        """Report an error, and continue."""
        self.stdout.flush()
        self.ctx.warn(message)

    def flush(self) -> None:
        """Write what the outputs hold back."""
        self.stdout.flush()
        for output in self.outputs.values():
            output.flush()

    # walking

    def run(self, tops: list[str], test: Test) -> int:
        """Visit every starting point and all files below it; return the exit status."""
        try:
            try:
                for top in tops:
                    self._search(top, test)
            except Quit:
                pass
            for end in self.at_end:
                end()
        finally:
            self.flush()
        return self.ctx.status

    def _search(self, top: str, test: Test) -> None:
        visit = self.visit
        try:
            absolute = self.ctx.path(top)
            info = self._examine(absolute, operand=True)
        except OSError as error:
            self.fail(top, error)
            return
        name = top.rstrip("/").rpartition("/")[2] or "/"
        visit.top = top
        visit.directory = absolute.rstrip("/").rpartition("/")[0] or "/"
        if top.rstrip("/") in ("", ".", "..") or "/" not in top.rstrip("/"):
            visit.directory = self.ctx.cwd
        kind = stat.S_IFMT(info.mode)
        if (
            kind == _DIR
            and isinstance(test, EntryPrinter)
            and self.follow != "L"
            and not self.depth_first
        ):
            self.ctx.budget.step()
            if not self.min_depth:
                self._look(test, top, name, absolute, kind, info, 0)
            if self.max_depth:
                self._print_below(test, top, absolute)
            return
        levels: list[_Level] = []
        self._meet(levels, test, top, name, absolute, kind, info, 0)
        while levels:
            level = levels[-1]
            if not self._walk(levels, level, test):
                levels.pop()
                self._leave(level, test)

    def _walk(self, levels: list[_Level], level: _Level, test: Test) -> bool:
        """Continue in a directory; return True if a directory in it was entered."""
        visit, budget = self.visit, self.ctx.budget
        prefix, above, depth = level.prefix, level.path, level.depth + 1
        wanted = depth >= self.min_depth
        follows = self.follow == "L"
        visit.directory = prefix
        for child, kind in level.rest:
            if kind == _DIR or (kind == _LINK and follows):
                if self._step_in(levels, test, above + child, child, prefix + child, kind, depth):
                    return True
                continue
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            if not wanted:
                continue
            visit.path = above + child
            visit.name = child
            visit.absolute = prefix + child
            visit.kind = kind
            visit.known = None
            visit.depth = depth
            try:
                test(visit)
            except OSError as error:
                self._cannot_look(visit.absolute, visit.path, error)
        return False

    def _print_below(self, printer: EntryPrinter, path: str, absolute: str) -> None:
        """Print the files below a directory, in groups of neighbours that end with a directory."""
        levels = [self._listing(path, absolute)]
        while levels:
            level = levels[-1]
            names, kinds, at = level.names, level.kinds, level.at
            if at == len(names):
                levels.pop()
                continue
            group = kinds[at : at + _GROUP]
            stop = at + (group.index(_DIR) + 1 if _DIR in group else len(group))
            level.at = stop
            self.ctx.budget.step(stop - at)
            depth = len(levels)
            if depth >= self.min_depth:
                printer.print_all(level.path, names[at:stop], kinds[at:stop])
            if kinds[stop - 1] == _DIR and depth != self.max_depth:
                name = names[stop - 1]
                levels.append(self._listing(level.path + name, level.prefix + name))

    def _listing(self, path: str, absolute: str, *, read: bool = True) -> _Listing:
        listing = _Listing(
            path if path.endswith("/") else f"{path}/",
            absolute if absolute.endswith("/") else f"{absolute}/",
        )
        if read:
            try:
                listing.names, listing.kinds = self.ctx.fs.scan(absolute)
            except OSError as error:
                self.fail(path, error)
        return listing

    def _step_in(
        self,
        levels: list[_Level],
        test: Test,
        path: str,
        name: str,
        absolute: str,
        kind: int,
        depth: int,
    ) -> bool:
        """Visit a directory, or a link that is followed; return whether it was entered."""
        known: Stat | None = None
        if kind == _LINK:
            try:
                known = self._examine(absolute, operand=False)
            except OSError as error:
                self.fail(path, error)
                return False
            kind = stat.S_IFMT(known.mode)
        count = len(levels)
        self._meet(levels, test, path, name, absolute, kind, known, depth)
        return len(levels) > count

    def _examine(self, path: str, *, operand: bool) -> Stat:
        """Return the `Stat` of a file: of the target of a link if links are followed."""
        fs = self.ctx.fs
        if self.follow == "P" or (self.follow == "H" and not operand):
            return fs.stat(path, follow=False)
        try:
            return fs.stat(path)
        except FileNotFoundError:
            return fs.stat(path, follow=False)

    def _meet(
        self,
        levels: list[_Level],
        test: Test,
        path: str,
        name: str,
        absolute: str,
        kind: int,
        info: Stat | None,
        depth: int,
    ) -> None:
        """Visit a file; enter it if it is a directory."""
        budget = self.ctx.budget
        budget.left -= 1
        if budget.left < 0:
            budget.tick()
        if kind != _DIR:
            if depth >= self.min_depth:
                self._look(test, path, name, absolute, kind, info, depth)
            return
        visit = self.visit
        ino = 0
        if self.follow == "L":
            info = info or self._examine(absolute, operand=False)
            ino = info.ino
            for level in levels:
                if level.ino == ino:
                    above = quote(level.path.rstrip("/") or "/")
                    loop = f"{quote(path)} is part of the same file system loop as {above}."
                    self.warn(f"File system loop detected; {loop}")
                    return
        visit.prune = False
        if not self.depth_first and depth >= self.min_depth:
            self._look(test, path, name, absolute, kind, info, depth)
            if visit.prune:
                return
        listing = self._listing(path, absolute, read=depth != self.max_depth)
        level = _Level(listing, depth, ino)
        if self.depth_first and depth >= self.min_depth:
            level.visited = (path, name, absolute, depth, info)
        elif not listing.names:
            return
        levels.append(level)

    def _leave(self, level: _Level, test: Test) -> None:
        if level.visited is None:
            return
        path, name, absolute, depth, info = level.visited
        if depth:
            self.visit.directory = absolute.rstrip("/").rpartition("/")[0] or "/"
        else:
            self.visit.directory = self.ctx.cwd
        self._look(test, path, name, absolute, _DIR, info, depth)

    def _look(
        self,
        test: Test,
        path: str,
        name: str,
        absolute: str,
        kind: int,
        info: Stat | None,
        depth: int,
    ) -> None:
        visit = self.visit
        visit.path = path
        visit.name = name
        visit.absolute = absolute
        visit.kind = kind
        visit.known = info
        visit.depth = depth
        try:
            test(visit)
        except OSError as error:
            self._cannot_look(absolute, path, error)

    def _cannot_look(self, absolute: str, path: str, error: OSError) -> None:
        if error.filename != absolute:
            raise error
        self.visit.prune = True  # do not enter what cannot be examined
        self.fail(path, error)
