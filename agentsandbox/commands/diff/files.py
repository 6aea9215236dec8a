"""The walk of `diff` over files and directories.

Two files are compared by the cheapest means that decides: their kinds, their inode numbers and
sizes, their bytes, and only then their lines (`comparison.compare`).
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat

from agentsandbox.commands._files.modes import describe_type
from agentsandbox.commands._files.names import quote_as
from agentsandbox.commands.diff.comparison import Change, compare
from agentsandbox.commands.diff.formats import Pair
from agentsandbox.commands.diff.lines import Sameness, is_binary, split_lines
from agentsandbox.contract.command import Arguments, CommandContext, describe_os_error
from agentsandbox.errors import CommandError
from agentsandbox.kernel.formats.strftime import format_date
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.fs.base import Stat

_SAME, _DIFFERENT, _TROUBLE = 0, 1, 2
_TIME = "%Y-%m-%d %H:%M:%S.%N %z"


class Rules:
    """The options: which differences count, and which files are compared."""

    def __init__(
        self,
        args: Arguments,
        matching: Callable[[bytes], bool] | None,
        excluded: Callable[[str], bool],
        horizon: int,
    ) -> None:
        space_change = args.flag("ignore-space-change")
        all_space = args.flag("ignore-all-space")
        trailing_space = args.flag("ignore-trailing-space")
        self.sameness = Sameness(
            ignore_case=args.flag("ignore-case"),
            all_space=all_space,
            space_change=space_change,
            trailing_space=trailing_space,
            tab_expansion=args.flag("ignore-tab-expansion"),
        )
        self.blank_lines = args.flag("ignore-blank-lines")
        self.blank_means_white = space_change or all_space or trailing_space
        self.matching = matching
        self.strip_cr = args.flag("strip-trailing-cr")
        self.text = args.flag("text")
        self.minimal = args.flag("minimal")
        self.horizon = horizon
        self.recursive = args.flag("recursive")
        self.new_file = args.flag("new-file")
        self.brief = args.flag("brief")
        self.report_same = args.flag("report-identical-files")
        self.excluded = excluded
        self.labels = args.values("label")
        if len(self.labels) > 2:
            raise CommandError("too many file label options", 2)

    @property
    def is_exact(self) -> bool:
        """Whether files of different sizes cannot be the same."""
        return not (
            self.sameness.steps or self.blank_lines or self.strip_cr or self.matching is not None
        )


class _Side:
    """One of two files: its name and its status, which is None if there is no such file."""

    __slots__ = ("data", "info", "name")

    def __init__(self, name: str, info: Stat | None) -> None:
        self.name = name
        self.info = info
        self.data: bytes | None = None

    @property
    def is_dir(self) -> bool:
        return self.info is not None and self.info.is_dir


def escape_name(name: str) -> str:
    """Return a file name for a header: in C's quotes if a blank or an escape is in it."""
    quoted = quote_as(name, "c")
    return quoted if " " in name or len(quoted) > len(name) + 2 else name


class Comparer:
    """The comparison of two operands. `show` prints the changes of a pair of files."""

    robust = True
    """Whether the output format can tell that the last line has no newline."""
    merges = False
    """Whether the output is one text made of both files, which directories cannot be."""
    always_shows = False
    """Whether files without differences are printed too."""

    def __init__(
        self,
        ctx: CommandContext,
        rules: Rules,
        show: Callable[[Pair, list[Change]], None],
        options: str,
    ) -> None:
        self.ctx = ctx
        self.rules = rules
        self.show = show
        self.options = options
        self._stdin: bytes | None = None

    def compare(self, old: str, new: str) -> int:
        """Return the exit status for two operands."""
        if old == new == "-":
            return _SAME
        sides = [self._look(old, top=True), self._look(new, top=True)]
        if self._missing(sides):
            return _TROUBLE
        for this, that in ((0, 1), (1, 0)):
            if not sides[this].is_dir or sides[that].info is None or sides[that].is_dir:
                continue
            if sides[that].name == "-":
                self.ctx.warn("cannot compare '-' to a directory", _TROUBLE)
                return _TROUBLE
            base = posixpath.basename(sides[that].name.rstrip("/"))
            sides[this] = self._look(posixpath.join(sides[this].name, base), top=True)
            if sides[this].info is None:
                self._no_such_file(sides[this])
                return _TROUBLE
            break
        return self._compare(sides[0], sides[1], "")

    def _no_such_file(self, side: _Side) -> None:
        self.ctx.warn(f"{side.name}: {os.strerror(errno.ENOENT)}", _TROUBLE)

    def _missing(self, sides: Sequence[_Side]) -> bool:
        """Report the files that do not exist, but for one of two with -N."""
        absent = [side for side in sides if side.info is None]
        if self.rules.new_file and len(absent) < 2:
            return False
        for side in absent:
            self._no_such_file(side)
        return bool(absent)

    def _look(self, name: str, *, top: bool = False) -> _Side:
        if name == "-" and top:
            from agentsandbox.kernel.fs.base import Stat

            mode = 0o040755 if self.ctx.stdin.unreadable == errno.EISDIR else 0o100644
            return _Side(name, Stat(mode, 0, self.ctx.host.clock()))
        try:
            return _Side(name, self.ctx.fs.stat(self.ctx.path(name)))
        except (FileNotFoundError, NotADirectoryError):
            return _Side(name, None)

    def _compare(self, old: _Side, new: _Side, parent: str) -> int:
        """Compare two files of any kind; `parent` is the directory of the old one, if any."""
        if (old.is_dir or old.info is None) and (new.is_dir or new.info is None):
            return self._compare_existing_directories(old, new, parent)
        there = [side.info for side in (old, new) if side.info is not None]
        special = parent != "" and any(_is_special(info) for info in there)
        if len(there) < 2 and special:
            directory, name = posixpath.split(old.name if old.info is not None else new.name)
            self.ctx.print(f"Only in {directory}: {name}")
            return _DIFFERENT
        if len(there) == 2:
            kinds = [describe_type(info.mode, info.size) for info in there]
            differ = stat.S_IFMT(there[0].mode) != stat.S_IFMT(there[1].mode)
            if parent and (special or differ):
                self.ctx.print(
                    f"File {old.name} is a {kinds[0]} while file {new.name} is a {kinds[1]}"
                )
                return _DIFFERENT
            known = self._compare_by_status(old, new, there, parent)
            if known is not None:
                return known
        try:
            old.data, new.data = self._read(old), self._read(new)
        except OSError as error:
            self._warn_of(error, old, new)
            return _TROUBLE
        return self._compare_data(old, new, parent)

    def _compare_existing_directories(self, old: _Side, new: _Side, parent: str) -> int:
        quiet = self.rules.brief or not self.always_shows
        if old.info is not None and new.info is not None and old.info.ino == new.info.ino and quiet:
            return _SAME
        if self.rules.recursive or not parent:
            return self._compare_directories(old, new)
        self.ctx.print(f"Common subdirectories: {old.name} and {new.name}")
        return _SAME

    def _compare_by_status(
        self, old: _Side, new: _Side, there: list[Stat], parent: str
    ) -> int | None:
        """Compare two files without reading them; None if their contents decide."""
        if "-" in (old.name, new.name) or self.always_shows:
            return None
        first, second = there
        if first.ino == second.ino and first.ino:
            return self._same(old, new, parent)
        exact = self.rules.brief and self.rules.is_exact and first.is_file and second.is_file
        if exact and first.size and second.size and first.size != second.size:
            return self._differ(old, new)
        return None

    def _warn_of(self, error: OSError, *sides: _Side) -> None:
        """Report an error with the name of the file as it was given."""
        name = error.filename
        for side in sides:
            if name and self.ctx.path(side.name) == name:
                name = side.name
                break
        self.ctx.warn(describe_os_error(error, name), _TROUBLE)

    def _read(self, side: _Side) -> bytes:
        if side.info is None:
            return b""
        if side.name == "-":
            if self._stdin is None:
                self._stdin = self.ctx.stdin.read()
            data = self._stdin
        else:
            if side.info.size:
                self.ctx.budget.charge(side.info.size)
            data = self.ctx.fs.read_bytes(self.ctx.path(side.name))
        self.ctx.budget.charge(len(data))
        return data.replace(b"\r\n", b"\n") if self.rules.strip_cr else data

    # two files

    def _compare_data(self, old: _Side, new: _Side, parent: str) -> int:
        rules, ctx = self.rules, self.ctx
        assert old.data is not None and new.data is not None
        binary = not rules.text and (is_binary(old.data) or is_binary(new.data))
        trouble: list[str] = []
        if not (self.robust or binary or (rules.brief and rules.is_exact)):
            trouble = [side.name for side in (old, new) if self._complete(side)]
            if trouble and old.data == new.data:
                self._tell_incomplete(trouble)
                return _TROUBLE
        if old.data == new.data:
            return self._same(old, new, parent)
        if binary:
            what = "Files" if rules.brief else "Binary files"
            ctx.print(f"{what} {' and '.join(self._called_in_output(old, new))} differ")
            return _DIFFERENT
        if rules.brief and rules.is_exact:
            return self._differ(old, new)
        pair = Pair(split_lines(old.data, ctx.budget), split_lines(new.data, ctx.budget))
        budget = ctx.budget
        old_keys, new_keys = (rules.sameness.keys(lines, budget) for lines in (pair.old, pair.new))
        files = (pair.old, pair.new)
        changes = compare(
            old_keys, new_keys, budget, minimal=rules.minimal, horizon=rules.horizon, files=files
        )
        self._mark_ignored(pair, changes)
        if all(change.ignored for change in changes):
            self._show_same(pair, changes)
            self._tell_incomplete(trouble)
            return _TROUBLE if trouble else self._same(old, new, parent)
        if rules.brief:
            self._differ(old, new)
        else:
            pair.old_header = self._header(old, 0)
            pair.new_header = self._header(new, 1)
            self._head(old, new, shown=bool(parent))
            self.show(pair, changes)
        self._tell_incomplete(trouble)
        return _TROUBLE if trouble else _DIFFERENT

    def _differ(self, old: _Side, new: _Side) -> int:
        """Report that two files differ, without their lines."""
        self.ctx.print(f"Files {' and '.join(self._called_in_output(old, new))} differ")
        return _DIFFERENT

    def _tell_incomplete(self, names: list[str]) -> None:
        for name in names:
            self.ctx.warn(f"{name}: No newline at end of file\n", _TROUBLE)

    def _complete(self, side: _Side) -> bool:
        """Add a missing newline at the end, and return whether it was missing."""
        if not side.data or side.data.endswith(b"\n"):
            return False
        side.data += b"\n"
        return True

    def _show_same(self, pair: Pair, changes: list[Change]) -> None:
        if not self.rules.brief and self.always_shows:
            self.show(pair, changes)

    def _same(self, old: _Side, new: _Side, parent: str) -> int:
        binary = old.data is not None and is_binary(old.data) and not self.rules.text
        if (
            self.always_shows
            and not self.rules.brief
            and not binary
            and old.data is not None
            and old.data == new.data
        ):
            self._head(old, new, shown=bool(parent))
            lines = split_lines(old.data, self.ctx.budget)
            self.show(Pair(lines, lines), [])
        if self.rules.report_same:
            self.ctx.print(f"Files {' and '.join(self._called_in_output(old, new))} are identical")
        return _SAME

    def _head(self, old: _Side, new: _Side, *, shown: bool) -> None:
        """Print the line above the changes of one of many files."""
        if shown:
            names = " ".join(map(escape_name, self._called_in_output(old, new)))
            self.ctx.print(f"diff{self.options} {names}")

    def _called_in_output(self, old: _Side, new: _Side) -> list[str]:
        """Return the names of two files, or their labels."""
        labels = self.rules.labels
        return [labels[at] if at < len(labels) else side.name for at, side in enumerate((old, new))]

    def _mark_ignored(self, pair: Pair, changes: list[Change]) -> None:
        rules = self.rules
        if not rules.blank_lines and rules.matching is None:
            return

        def trivial(line: bytes) -> bool:
            text = line.removesuffix(b"\n")
            visible = text.strip(b" \t\v\f\r") if rules.blank_means_white else text
            if rules.blank_lines and not visible:
                return True
            return rules.matching is not None and rules.matching(text)

        for change in changes:
            lines = (
                pair.old[change.old : change.old + change.deleted]
                + pair.new[change.new : change.new + change.inserted]
            )
            self.ctx.budget.step(len(lines))
            change.ignored = all(trivial(line) for line in lines)

    def _header(self, side: _Side, at: int) -> bytes:
        if at < len(self.rules.labels):
            return encode(self.rules.labels[at])
        seconds = side.info.mtime if side.info is not None else 0.0
        nanoseconds = round(seconds % 1 * 1e9) + int(seconds // 1) * 1_000_000_000
        time = format_date(nanoseconds, _TIME, self.ctx.env.get("TZ", ""))
        return encode(f"{escape_name(side.name)}\t{time}")

    # two directories

    def _names(self, side: _Side) -> list[str]:
        if side.info is None:
            return []
        names = self.ctx.fs.listdir(self.ctx.path(side.name))
        return [name for name in names if not self.rules.excluded(name)]

    def _compare_directories(self, old: _Side, new: _Side) -> int:
        ctx = self.ctx
        if self.merges:
            raise CommandError("-D option not supported with directories", _TROUBLE)
        try:
            olds, news = set(self._names(old)), set(self._names(new))
        except OSError as error:
            self._warn_of(error, old, new)
            return _TROUBLE
        status = _SAME
        ctx.budget.deeper()
        try:
            for name in sorted(olds | news, key=encode):
                ctx.budget.step()
                found = self._compare_entry(old, new, name, (name in olds, name in news))
                status = max(status, found)
        finally:
            ctx.budget.shallower()
        return status

    def _compare_entry(self, old: _Side, new: _Side, name: str, there: tuple[bool, bool]) -> int:
        """Compare the files of one name; `there` has a flag for each directory."""
        for present, other in ((there[0], new), (there[1], old)):
            if not present and not self.rules.new_file:
                self.ctx.print(f"Only in {other.name}: {name}")
                return _DIFFERENT
        sides = (
            self._entry(old.name, name, there=there[0]),
            self._entry(new.name, name, there=there[1]),
        )
        dangling = [
            side
            for side, present in zip(sides, there, strict=True)
            if present and side.info is None
        ]
        for side in dangling:
            self._no_such_file(side)
        return _TROUBLE if dangling else self._compare(*sides, old.name)

    def _entry(self, directory: str, name: str, *, there: bool) -> _Side:
        path = posixpath.join(directory, name)
        return self._look(path) if there else _Side(path, None)


def _is_special(info: Stat) -> bool:
    """Whether it is a FIFO or a device: a comparison of directories does not read these."""
    return not (info.is_dir or info.is_file)
