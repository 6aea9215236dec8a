"""Differences between files that no repository has to know (`git diff --no-index`).

Both sides are files or directories, named as the user wrote them; directories are compared name by
name. A file beside a directory is compared with the file of its name in it.
"""

from __future__ import annotations

import posixpath

from agentsandbox.git.attributes import Attributes
from agentsandbox.git.diff.options import DiffOptions
from agentsandbox.git.diff.printing import DiffPrinter, FileStat, renamed_name
from agentsandbox.git.errors import Quit
from agentsandbox.git.index import Index
from agentsandbox.git.objects import LINK, NULL, object_name
from agentsandbox.git.trees import Delta
from agentsandbox.git.worktree import mode_of
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.kernel.fs.base import Stat

    Side = tuple[int, str]

_STDIN, _NOTHING = "-", "/dev/null"


class _NoAttributes:
    """The attributes of paths outside of a repository."""

    def of(self, path: bytes) -> dict[str, str | bool | None]:
        del path
        return {}


class _LoosePrinter(DiffPrinter):
    """Reads contents by their names, and does not need a repository."""

    contents: dict[str, bytes]

    def __init__(self, git: Invocation, options: DiffOptions) -> None:
        self.is_inside = git.find_repository() is not None
        super().__init__(
            git, options, mnemonic=("1/", "2/"),
            attributes=(
                Attributes(git.repository, index=Index()) if self.is_inside else _NoAttributes()
            ),
        )  # fmt: skip
        self.prefix = b""
        self.contents = {}
        self.hashes = False
        """Whether git knows the names of objects, because it looked for renames."""

    def content(self, mode: int, oid: str, path: bytes, dirt: int = 0) -> bytes:
        del path, dirt
        return self.contents[oid] if mode else b""

    def abbreviated(self, oid: str, *, patch: bool = False) -> str:
        if self.is_inside:
            return super().abbreviated(oid, patch=patch)
        if patch and self.options.full_index:
            return oid
        length = self.options.abbrev
        if length is None:
            text = self.git.config.get("core.abbrev", "auto").lower()
            length = 40 if text in ("no", "off", "false") else 7
            if text.isdigit() and len(text) < 3:
                length = max(4, min(40, int(text)))
        return oid[:length]

    def _oid(self, mode: int, oid: str, path: bytes) -> str:
        return NULL if path == b"-" else super()._oid(mode, oid, path)

    def _print_name(self, delta: Delta) -> None:
        formats = self.options.formats
        shown = Delta(delta.new_path, delta.old_mode, delta.old_oid, delta.new_mode,
                      delta.new_oid, delta.status)  # fmt: skip
        shown.old_path, shown.score = delta.old_path, delta.score
        if delta.status not in "RC":
            if "name-only" not in formats:
                shown.new_path = delta.old_path if delta.old_mode else delta.new_path
            elif self.options.nul and not delta.new_mode:
                shown.new_path = encode(_NOTHING)
            if "raw" in formats and (delta.status in "MT" or not self.hashes):
                shown.old_oid = shown.new_oid = NULL
        super()._print_name(shown)

    def stat_of(self, delta: Delta) -> FileStat:
        found = super().stat_of(delta)
        old = self.shown(delta.old_path) if delta.old_mode else _NOTHING
        new = self.shown(delta.new_path) if delta.new_mode else _NOTHING
        found.name = renamed_name(old, new) if old != new else new
        return found

    def _names(self, delta: Delta) -> tuple[str, str]:
        """Return the names of a patch, in which absolute paths follow the prefix."""
        bare = Delta(delta.new_path.lstrip(b"/"), 0, NULL, 0, NULL, delta.status)
        bare.old_path = delta.old_path.lstrip(b"/")
        return super()._names(bare)


def compare_paths(git: Invocation, options: DiffOptions, old: str, new: str) -> int:
    """Print the differences between two files or directories; 1 if there are any."""
    options.configure(git)
    if not options.formats and not options.no_patch:
        options.formats.add("patch")
    printer = _LoosePrinter(git, options)
    comparison = _Comparison(git, printer.contents, reverse=options.reverse)
    deltas = comparison.run(old, new)
    printer.hashes = options.renames > 0 and {"A", "D"} <= {delta.status for delta in deltas}
    reverse, options.reverse = options.reverse, False  # the files are swapped already
    found = printer.prepare(deltas)
    options.reverse = reverse
    printer.print(found)
    if "check" in options.formats and printer.failed_check:
        return 3 if printer.has_changes(found) else 2
    return 1 if printer.has_changes(found) else 0


class _Comparison:
    """Finds what differs between two paths."""

    def __init__(
        self, git: Invocation, contents: dict[str, bytes], *, reverse: bool
    ) -> None:
        self.git = git
        self.reverse = reverse
        self.contents = contents
        self.found: list[Delta] = []

    def run(self, old: str, new: str) -> list[Delta]:
        """Return the changes, in the order of the names of each directory."""
        if _STDIN not in (old, new) and self._is_folder(old) != self._is_folder(new):
            if self._is_folder(old):
                old = f"{old.rstrip('/')}/{posixpath.basename(new)}"
            else:
                new = f"{new.rstrip('/')}/{posixpath.basename(old)}"
        pending: list[tuple[str | None, str | None]] = [(old, new)]
        while pending:
            one, two = pending.pop()
            self.git.budget.step()
            pending += reversed(self._compare(one, two))
        return self.found

    def _is_folder(self, word: str) -> bool:
        return word != _NOTHING and self.git.fs.is_dir(self.git.path(word))

    def _stat(self, name: str | None) -> Stat | None:
        if name is None or name in (_NOTHING, _STDIN):
            return None
        try:
            return self.git.fs.stat(self.git.path(name), follow=False)
        except OSError:
            self.git.error(f"Could not access '{name}'")
            raise Quit(1) from None

    def _compare(
        self, one: str | None, two: str | None
    ) -> list[tuple[str | None, str | None]]:
        """Note a change of files; return what is to be compared in directories."""
        infos = self._stat(one), self._stat(two)
        folders = [info is not None and info.is_dir for info in infos]
        if not any(folders):
            if self.reverse:
                self._add(two, one, infos[::-1])
            else:
                self._add(one, two, infos)
            return []
        if not folders[0] and infos[0] is not None:
            self._add(one, None, (infos[0], None))
        if not folders[1] and infos[1] is not None:
            self._add(None, two, (None, infos[1]))
        tops = [
            name.rstrip("/") if name is not None and is_folder else None
            for name, is_folder in zip((one, two), folders, strict=True)
        ]
        names = [
            set(self.git.fs.listdir(self.git.path(top) or "/")) if top is not None else set()
            for top in tops
        ]
        return [
            (
                f"{tops[0]}/{name}" if name in names[0] else None,
                f"{tops[1]}/{name}" if name in names[1] else None,
            )
            for name in sorted(names[0] | names[1])
        ]

    def _add(
        self, one: str | None, two: str | None, infos: tuple[Stat | None, Stat | None]
    ) -> None:
        before, after = self._side(one, infos[0]), self._side(two, infos[1])
        if before == after:
            return
        paths = [
            encode(name) if side is not None and name is not None else None
            for name, side in ((one, before), (two, after))
        ]
        new = paths[1] if paths[1] is not None else paths[0]
        assert new is not None
        delta = Delta(new, *(before or (0, NULL)), *(after or (0, NULL)))
        delta.old_path = paths[0] if paths[0] is not None else new
        self.found.append(delta)

    def _side(self, name: str | None, info: Stat | None) -> Side | None:
        """Return (mode, name of the content) of a file, None if it is missing."""
        git = self.git
        if name == _STDIN:
            mode, data = 0o100644, git.read_input()
        elif name is None or info is None:
            return None
        elif info.is_link:
            mode, data = LINK, encode(git.fs.readlink(git.path(name)))
        elif info.is_file:
            git.budget.charge(info.size)
            mode, data = mode_of(info), git.fs.read_bytes(git.path(name))
        else:
            git.error(f"{decode(encode(name))}: unsupported file type")
            raise Quit(1)
        oid = object_name("blob", data)
        self.contents[oid] = data
        return mode, oid
