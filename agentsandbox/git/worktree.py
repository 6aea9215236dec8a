"""The worktree beside the index: what changed, what is untracked, and writing files.

`scan_worktree` visits each directory once and asks the filesystem for the marks of all its names
in one call. If those of the files are as they were at an earlier comparison that found no
difference, that is all. Otherwise a file whose `stat` is as it was when it was hashed is unchanged;
others are read and hashed. An entry that is not older than the index file may have changed
unnoticed, and counts as others (the "racy" case of git).

A directory in memory has a version, which changes with everything below. One in whose version a
comparison found no difference is not visited again: that makes the time of `git diff` one of what
changed, not of the size of the tree.

Files are written without following links: a link in the place of a directory is removed first.
"""

from __future__ import annotations

import stat as stat_module
from hashlib import sha1

from agentsandbox.git.attributes import Attributes
from agentsandbox.git.errors import Fatal, GitError
from agentsandbox.git.index import Entry, Folder, Index
from agentsandbox.git.objects import LINK, SUBMODULE
from agentsandbox.git.paths import Pathspec, is_safe_path
from agentsandbox.git.patterns import IgnoreRule, find_rule, parse_ignores
from agentsandbox.kernel.fs.base import raise_failure
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentsandbox.git.repository import Repository
    from agentsandbox.kernel.fs.base import Mark, Stat

    Look = Callable[[Entry, bool], tuple[bool, int]]
    """From an entry of a submodule and whether its commit is another one: what of that counts, and
    what is in its worktree (`MODIFIED`, `UNTRACKED`)."""

_DIRECTORY = stat_module.S_IFDIR
_REGULAR = stat_module.S_IFREG
_LINK = stat_module.S_IFLNK
_EVERYTHING = Pathspec()
MODIFIED, UNTRACKED = 1, 2
"""What may be in the worktree of a submodule: changes that are not committed, untracked files."""
_FEW_FOLDERS = 32
"""Up to as many, visiting all of them costs less than new versions at the next change."""


def mode_of(info: Stat, *, file_mode: bool = True, known: int = 0) -> int:
    """Return the mode that a file has in the index; 0 for one that git does not keep."""
    kind = info.mode & 0o170000
    if kind == _LINK:
        return LINK
    if kind != _REGULAR:
        return SUBMODULE if kind == _DIRECTORY else 0
    if not file_mode and known & 0o170000 == _REGULAR:
        return known
    return 0o100755 if info.mode & 0o100 else 0o100644


# TM-GIT-2
class Worktree:
    """Reads and writes the files of a repository's worktree."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.fs = repository.fs
        self.root = repository.need_worktree().rstrip("/")
        self.attributes = Attributes(repository)
        self.file_mode = repository.config.flag("core.filemode", True)
        self._ignores: dict[bytes, list[IgnoreRule]] = {}
        self._left_out: dict[bytes, str] | None = None
        """Content of the files of rules that a sparse checkout leaves out."""
        self._base: list[list[IgnoreRule]] | None = None
        self.real: set[str] = {""}

    # reading

    def path(self, path: bytes) -> str:
        """Return the absolute path of a file."""
        return f"{self.root}/{decode(path)}"

    def stat(self, path: bytes) -> Stat | None:
        """Return the `stat` of a file, None if it is missing or beyond a link."""
        if not self.has_real_parent(path):
            return None
        try:
            return self.fs.stat(self.path(path), follow=False)
        except OSError as error:
            raise_failure(error)
            return None

    def has_real_parent(self, path: bytes) -> bool:
        """Whether the directories above a file are directories, and not links."""
        folder = decode(path.rpartition(b"/")[0])
        pending: list[str] = []
        while folder not in self.real:
            pending.append(folder)
            folder = folder.rpartition("/")[0]
        for folder in reversed(pending):
            try:
                if not self.fs.stat(f"{self.root}/{folder}", follow=False).is_dir:
                    return False
            except OSError as error:
                raise_failure(error)
                return False
            self.real.add(folder)
        return True

    def forget_parents(self) -> None:
        """Look at the directories again: some may be gone."""
        self.real = {""}

    def read(
        self, path: bytes, info: Stat, *, known: str | None = None, warns: bool = False,
        stores: bool = True,
    ) -> bytes:  # fmt: skip
        """Return the content of a file as git stores it: with a link, its target.

        known  the object that the index has, looked up if its ends of lines matter
        warns  whether to say which ends of lines get lost (core.safecrlf)
        stores whether the content is stored, which the setting may forbid
        """
        where = self.path(path)
        if info.is_link:
            return encode(self.fs.readlink(where))
        if not info.is_file:
            return b""
        self.repository.git.budget.charge(info.size)
        data = self.fs.read_bytes(where)
        attributes = self.attributes
        if b"\r" not in data and not (warns and attributes.writes_pairs(path)):
            return data
        stored = None
        converted = attributes.to_git(path, data)
        if converted is not data:
            known = known or self._stored(path)
            if known is not None and known in self.repository.objects:
                stored = self.repository.objects.read(known)[1]
                converted = attributes.to_git(path, data, known=stored)
        if warns:
            self._warn_of_ends(path, attributes.lost_ends(path, data, known=stored), stores)
        return converted

    def _stored(self, path: bytes) -> str | None:
        """Return the object of a path in the index, ours of a conflict."""
        index = self.repository.index()
        entry = index.get(path) or index.get(path, 2)
        return entry.oid if entry is not None else None

    def _warn_of_ends(self, path: bytes, lost: str, stores: bool) -> None:
        setting = self.repository.config.get("core.safecrlf", "warn").lower()
        if not lost or setting in ("false", "no", "off", "0"):
            return
        name = decode(path)
        if setting != "warn" and stores:
            raise Fatal(f"{lost.replace('will', 'would')} in {name}")
        self.repository.git.warn(
            f"in the working copy of '{name}', {lost} the next time Git touches it"
        )

    def hash(self, path: bytes, info: Stat, *, known: str | None = None) -> str:
        """Return the name of the blob that a file would be."""
        if info.is_dir:
            return self.head_of_nested(path) or "0" * 40
        data = self.read(path, info, known=known)
        self.repository.git.budget.step(1 + len(data) // 8192)
        return sha1(b"blob %d\0" % len(data) + data).hexdigest()

    def head_of_nested(self, path: bytes) -> str | None:
        """Return the commit of the repository in a directory, None without one."""
        from agentsandbox.git.repository import nested_folder

        folder = nested_folder(self.fs, self.path(path))
        if folder is None:
            return None
        from agentsandbox.git.refs import Refs

        return Refs(self.fs, folder, folder, self.repository.git.budget, 0).read("HEAD")

    def is_changed(self, entry: Entry, info: Stat) -> bool:
        """Whether a file differs from its entry, by its content."""
        mode = mode_of(info, file_mode=self.file_mode, known=entry.mode)
        if mode != entry.mode or entry.intends:
            return True
        if mode == SUBMODULE:
            head = self.head_of_nested(entry.path)
            return head is not None and head != entry.oid
        return self.hash(entry.path, info, known=entry.oid) != entry.oid

    # ignoring

    def _levels(self, folder: bytes) -> list[list[IgnoreRule]]:
        """Return the rules for the names in a directory, the strongest first."""
        levels: list[list[IgnoreRule]] = []
        here = folder
        while True:
            rules = self._ignores.get(here)
            if rules is None:
                name = here + b"/.gitignore" if here else b".gitignore"
                base = here + b"/" if here else b""
                rules = self._ignore_file(self.path(name), base, decode(name))
                if not rules and self.repository.is_sparse:
                    rules = self._ignores_left_out(name, base)
                self._ignores[here] = rules
            if rules:
                levels.append(rules)
            if not here:
                break
            here = here.rpartition(b"/")[0]
        return levels + self._base_levels()

    def _ignores_left_out(self, name: bytes, base: bytes) -> list[IgnoreRule]:
        """Return the rules of a file that a sparse checkout leaves out of the worktree."""
        if self._left_out is None:
            self._left_out = {
                entry.path: entry.oid
                for entry in self.repository.index()
                if entry.skips and entry.path.rpartition(b"/")[2] == b".gitignore"
            }
        oid = self._left_out.get(name)
        if oid is None:
            return []
        return parse_ignores(self.repository.objects.blob(oid), base, decode(name))

    def _base_levels(self) -> list[list[IgnoreRule]]:
        if self._base is None:
            repository, config = self.repository, self.repository.config
            xdg = repository.git.env.get("XDG_CONFIG_HOME") or f"{config.home}/.config"
            place = config.get("core.excludesfile") or f"{xdg}/git/ignore"
            self._base = [
                self._ignore_file(f"{repository.common}/info/exclude", b"", ".git/info/exclude"),
                self._ignore_file(config.expand(place), b"", place),
            ]
            self._base = [rules for rules in self._base if rules]
        return self._base

    def use_own_ignores(self) -> None:
        """Let only the rules of files in the worktree hold, none of the repository or the user."""
        self._base = []
        self._left_out = {}

    def add_ignores(self, levels: Iterable[list[IgnoreRule]]) -> None:
        """Add the rules of a command line, which are the strongest of the general ones."""
        self._base = [*levels, *self._base_levels()]

    def _ignore_file(self, path: str, base: bytes, origin: str) -> list[IgnoreRule]:
        try:
            info = self.fs.stat(path, follow=not path.startswith(f"{self.root}/"))
            if not info.is_file or info.size > 8_000_000:
                return []
            data = self.fs.read_bytes(path)
        except OSError as error:
            raise_failure(error)
            return []
        self.repository.git.budget.step(len(data) // 16)
        return parse_ignores(data, base, origin)

    def rule_for(self, path: bytes, is_dir: bool) -> IgnoreRule | None:
        """Return the rule that decides about a path, not those about directories above it."""
        return find_rule(self._levels(path.rpartition(b"/")[0]), path, is_dir)

    def deciding_rule(self, path: bytes, is_dir: bool) -> IgnoreRule | None:
        """Return the rule that ignores a path or a directory above it, or keeps it."""
        at = path.find(b"/")
        while at >= 0:
            rule = self.rule_for(path[:at], True)
            if rule is not None and not rule.negated:
                return rule
            at = path.find(b"/", at + 1)
        return self.rule_for(path, is_dir)

    def is_ignored(self, path: bytes, is_dir: bool) -> bool:
        """Whether a path is ignored, by itself or with a directory above it."""
        rule = self.deciding_rule(path, is_dir)
        return rule is not None and not rule.negated

    # writing

    def make_parents(self, path: bytes) -> None:
        """Make the directories above a file; what is in their way is removed."""
        if self.has_real_parent(path):
            return
        parts = path.split(b"/")[:-1]
        here = self.root
        for part in parts:
            here += "/" + decode(part)
            try:
                info = self.fs.stat(here, follow=False)
            except OSError as error:
                raise_failure(error)
                info = None
            if info is not None and not info.is_dir:
                self.fs.unlink(here)
                info = None
            if info is None:
                self.fs.mkdir(here, 0o777 & ~self.repository.git.ctx.umask)
            self.real.add(here[len(self.root) + 1 :])

    def write(self, path: bytes, mode: int, oid: str) -> Entry:
        """Write a file of the index to the worktree and return its entry."""
        data = b"" if mode == SUBMODULE else self.repository.objects.blob(oid)
        if mode != LINK and mode != SUBMODULE:
            data = self.attributes.to_worktree(path, data)
        self.write_data(path, mode, data)
        entry = Entry(path, mode, oid)
        entry.remember(self.fs.stat(self.path(path), follow=False))
        return entry

    def write_data(self, path: bytes, mode: int, data: bytes) -> None:
        """Write a file with a content."""
        if not is_safe_path(path, mode):
            raise GitError(f"invalid path '{decode(path)}'", 128)
        self.repository.git.budget.step(1 + len(data) // 8192)
        self.make_parents(path)
        where = self.path(path)
        umask = self.repository.git.ctx.umask
        try:
            info = self.fs.stat(where, follow=False)
        except OSError:
            info = None
        if mode == SUBMODULE:
            if info is not None and not info.is_dir:
                self.fs.unlink(where)
            if info is None or not info.is_dir:
                self.fs.mkdir(where, 0o777 & ~umask)
            return
        if info is not None:
            if info.is_dir:
                self.fs.remove_tree(where)
                self.forget_parents()
            else:
                self.fs.unlink(where)
        if mode == LINK:
            self.fs.symlink(decode(data), where)
        else:
            permissions = (0o777 if mode & 0o100 else 0o666) & ~umask
            self.fs.write_bytes(where, data, permissions=permissions)

    def remove(self, path: bytes) -> bool:
        """Remove a file and the directories that become empty; return whether it was there."""
        if not is_safe_path(path) or not self.has_real_parent(path):
            return False
        where = self.path(path)
        try:
            info = self.fs.stat(where, follow=False)
        except OSError:
            return False
        if info.is_dir:
            try:
                self.fs.rmdir(where)
            except OSError:
                return False
        else:
            self.fs.unlink(where)
        self.prune(path)
        return True

    def prune(self, path: bytes) -> None:
        """Remove the directories above a path that are empty; not the working directory."""
        here = self.repository.git.cwd.rstrip("/")
        folder = path.rpartition(b"/")[0]
        while folder:
            where = self.path(folder)
            if where == here or here.startswith(f"{where}/"):
                return
            try:
                self.fs.rmdir(where)
            except OSError:
                return
            self.real.discard(decode(folder))
            folder = folder.rpartition(b"/")[0]


# comparing


class Scan:
    """What `scan_worktree` found."""

    def __init__(self) -> None:
        self.changed: dict[bytes, tuple[str, int, Stat | None]] = {}
        """(status "M", "T" or "D", mode now, stat) by path, of entries that differ."""
        self.untracked: list[bytes] = []
        """Paths, directories with a final "/"."""
        self.ignored: list[bytes] = []
        self.submodules: dict[bytes, tuple[bool, int]] = {}
        """(whether the commit is another one, what is in the worktree) of changed submodules."""
        self.refreshed = False
        """Whether entries got a new `stat`."""


def scan_worktree(
    tree: Worktree,
    index: Index,
    wanted: Pathspec = _EVERYTHING,
    *,
    untracked: str = "no",
    ignored: str = "no",
    look: Look | None = None,
) -> Scan:
    """Compare the index with the worktree. Entries that are the same but for `stat` are refreshed.

    untracked  "no", "normal" (a directory with only untracked files is one path) or "all"
    ignored    "no", "traditional" or "matching": whether ignored paths are listed
    look       how submodules are looked at; without it, only their commits count
    """
    return _Scanner(tree, index, wanted, untracked, ignored, look).run()


class _Visit:
    """What a comparison found in a directory of the index."""

    __slots__ = ("alone", "below", "folder", "same", "version", "versions")

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.version: Mark = ()
        """Of the directory, in the filesystem."""
        self.same = False
        """Whether no file differs."""
        self.alone = False
        """Whether nothing is there besides."""
        self.versions: list[tuple[bytes, Mark | None]] = []
        """Its directories: path and version."""
        self.below: list[tuple[bytes, Mark]] = []
        """Those of them that were visited too."""

    def remember(self, folders: dict[bytes, Folder]) -> None:
        """Note the version in which nothing differed, after those of the directories below."""
        below = [(folders[path], version) for path, version in self.versions]
        if all(version and folder.same == version for folder, version in below):
            self.folder.same = self.version
            if self.alone and all(folder.alone == version for folder, version in below):
                self.folder.alone = self.version


class _Scanner:
    def __init__(
        self, tree: Worktree, index: Index, wanted: Pathspec, untracked: str, ignored: str,
        look: Look | None = None,
    ) -> None:  # fmt: skip
        self.look = look
        self.tree = tree
        self.fs = tree.fs
        self.index = index
        self.wanted = wanted
        self.untracked = untracked
        self.ignored = ignored
        self.found = Scan()
        self.budget = tree.repository.git.budget
        self.old = index.mtime

    def run(self) -> Scan:
        found = self.found
        folders = self.index.folders()
        if len(folders) > _FEW_FOLDERS:
            self.fs.keep_versions()
        pending: list[tuple[bytes, Mark]] = [(b"", ())]
        visits: list[_Visit] = []
        while pending:
            path, version = pending.pop()
            if self.wanted and path and not self.wanted.may_be_below(path):
                continue
            visit = self._visit(path, folders)
            if version and visit.same:
                visit.version = version
                visits.append(visit)
            pending += visit.below
        for visit in reversed(visits):
            visit.remember(folders)
        found.changed = dict(sorted(found.changed.items()))
        found.untracked.sort()
        found.ignored.sort()
        return found

    def _visit(self, path: bytes, folders: dict[bytes, Folder]) -> _Visit:
        """Compare a directory; return which of its directories are to be visited too."""
        folder, visit = folders[path], _Visit(folders[path])
        if folder.path not in self.tree.real and not self.tree.has_real_parent(path + b"/x"):
            self._all_gone(folder.entries)
            visit.below = [(below, ()) for below in folder.below.values()]
            return visit
        where = (f"{self.tree.root}/{folder.path}" if path else self.tree.root) or "/"
        count = len(folder.entries)
        self.budget.step(1 + count // 8)
        marks = self.fs.marks(where, folder.asked)
        looks = self.untracked != "no" or self.ignored != "no"
        if folder.below:
            real, base = self.tree.real, f"{folder.path}/" if path else ""
            for name, mark in zip(folder.asked[count:], marks[count:], strict=True):
                if mark is not None:
                    real.add(base + name)
                below = folder.below[name]
                visit.versions.append((below, mark))
                known = folders[below].alone if looks else folders[below].same
                if not mark or known != mark:
                    visit.below.append((below, mark or ()))
            del marks[count:]
        visit.same = self._compare(folder, marks)
        if looks:
            visit.alone = self._look_around(
                path, where, folder, visit.same and None not in [mark for _, mark in visit.versions]
            )
        return visit

    def _all_gone(self, entries: list[Entry]) -> None:
        for entry in entries:
            if self._is_wanted(entry):
                self.found.changed[entry.path] = ("D", 0, None)

    def _is_wanted(self, entry: Entry) -> bool:
        if self.wanted and not self.wanted.matches(entry.path):
            return False
        return not (entry.skips or entry.assumed)

    def _compare(self, folder: Folder, marks: list[Mark | None]) -> bool:
        """Compare the files of a directory; return whether all are certainly unchanged."""
        old, wanted = self.old, self.wanted
        if marks == folder.marks and folder.newest < old:
            return True
        for entry, mark in zip(folder.entries, marks, strict=True):
            if mark is not None and mark == entry.seen and entry.seen[0] < old:
                continue
            if not wanted or wanted.matches(entry.path):
                self._compare_closely(entry)
        seen = [entry.seen for entry in folder.entries]
        if None in seen or marks != seen:
            return False
        folder.marks = seen
        folder.newest = max([mark[0] for mark in seen if mark], default=0.0)
        return folder.newest < old

    def _compare_closely(self, entry: Entry) -> None:
        if entry.skips or entry.assumed:
            return
        path = entry.path
        info = self.tree.stat(path)
        if info is None or (
            info.is_dir and entry.mode != SUBMODULE and self.tree.head_of_nested(path) is None
        ):
            self.found.changed[path] = ("D", 0, None)
            return
        mode = mode_of(info, file_mode=self.tree.file_mode, known=entry.mode)
        if mode == SUBMODULE == entry.mode and self.look is not None and not entry.stage:
            changed, dirt = self.look(entry, self.tree.is_changed(entry, info))
            if changed or dirt:
                self.found.changed[path] = ("M", mode, info)
                self.found.submodules[path] = changed, dirt
            return
        if entry.stage:
            self.found.changed.setdefault(path, ("M", mode, info))
            return
        if mode == entry.mode and not entry.intends and mode != SUBMODULE and entry.is_fresh(info):
            if info.mtime < self.old:
                entry.note(info)
                return
            if self.tree.hash(path, info, known=entry.oid) == entry.oid:
                return
        elif not self.tree.is_changed(entry, info):
            fresh = entry.copy()
            fresh.remember(info)
            self.index.replace(fresh)
            self.found.refreshed = self.found.refreshed or mode != SUBMODULE
            return
        kind = "T" if mode & 0o170000 != entry.mode & 0o170000 else "M"
        self.found.changed[path] = (kind, mode, info)

    # untracked files

    def _look_around(self, path: bytes, where: str, folder: Folder, same: bool) -> bool:
        """Find what is not in the index; return whether a directory has nothing else.

        same  whether all its names are files and directories as in the index
        """
        try:
            there, kinds = self.fs.scan(where)
        except OSError as error:
            raise_failure(error)
            return False
        replaced = frozenset[str]() if same else _replaced(folder, there, kinds)
        if there == (folder.sorted if same else folder.names) and not replaced:
            return same
        tracked = frozenset(folder.names) - replaced
        base = path + b"/" if path else b""
        for name, kind in zip(there, kinds, strict=True):
            self.budget.step()
            if name in tracked or (kind == _DIRECTORY and name in folder.below):
                continue
            if name == ".git":
                continue
            self._untracked(base + encode(name), kind)
        return False

    def _untracked(self, path: bytes, kind: int) -> None:
        is_dir = kind == _DIRECTORY
        if kind not in (_DIRECTORY, _REGULAR, _LINK):
            return
        wanted = self.wanted
        if wanted and not (wanted.matches(path, is_dir) or (is_dir and wanted.may_be_below(path))):
            return
        rule = self.tree.rule_for(path, is_dir)
        if rule is not None and not rule.negated:
            if self.ignored != "no":
                self._add_ignored(path, is_dir)
            return
        if not is_dir:
            if self.untracked != "no":
                self.found.untracked.append(path)
            return
        if self._is_repository(path):
            if self.untracked != "no":
                self._note_folder(path)
            return
        self._untracked_folder(path)

    def _note_folder(self, path: bytes) -> None:
        """Note an untracked directory; git only lists it if the index has no file of its name."""
        if not self.index.has_path(path):
            self.found.untracked.append(path + b"/")

    def _is_repository(self, path: bytes) -> bool:
        where = self.tree.path(path)
        if not self.fs.exists(f"{where}/.git", follow=False):
            return False
        from agentsandbox.git.repository import nested_folder

        return nested_folder(self.fs, where) is not None

    def _add_ignored(self, path: bytes, is_dir: bool) -> None:
        if is_dir and self._is_repository(path):
            self.found.ignored.append(path + b"/")
        elif is_dir and self.untracked == "all" and self.ignored == "traditional":
            for file in self._files(path):
                self.found.ignored.append(file)
        elif not is_dir or self.ignored == "matching" or self._has_files(path):
            self.found.ignored.append(path + b"/" if is_dir else path)

    def _files(self, folder: bytes) -> list[bytes]:
        found = []
        pending = [folder]
        while pending:
            here = pending.pop()
            try:
                names, kinds = self.fs.scan(self.tree.path(here))
            except OSError as error:
                raise_failure(error)
                continue
            for name, kind in zip(names, kinds, strict=True):
                self.budget.step()
                path = here + b"/" + encode(name)
                if kind == _DIRECTORY:
                    pending.append(path)
                else:
                    found.append(path)
        return sorted(found)

    def _has_files(self, folder: bytes) -> bool:
        pending = [folder]
        while pending:
            here = pending.pop()
            try:
                names, kinds = self.fs.scan(self.tree.path(here))
            except OSError as error:
                raise_failure(error)
                continue
            self.budget.step(1 + len(names) // 16)
            for name, kind in zip(names, kinds, strict=True):
                if kind != _DIRECTORY:
                    return True
                pending.append(here + b"/" + encode(name))
        return False

    def _untracked_folder(self, folder: bytes) -> None:
        """List a directory in which nothing is tracked."""
        inner = _Scanner(self.tree, Index(), self.wanted, "all", self.ignored)
        pending = [folder]
        whole = (
            self.untracked == "normal"
            and (not self.wanted or self.wanted.covers(folder))
            and not self.wanted.excluded
        )
        while pending:
            here = pending.pop()
            try:
                names, kinds = self.fs.scan(self.tree.path(here))
            except OSError as error:
                raise_failure(error)
                continue
            for name, kind in zip(names, kinds, strict=True):
                self.budget.step()
                path = here + b"/" + encode(name)
                if kind != _DIRECTORY:
                    if name != ".git":
                        inner._untracked(path, kind)
                elif name == ".git":
                    continue
                elif inner._is_repository(path):
                    inner.found.untracked.append(path + b"/")
                else:
                    rule = self.tree.rule_for(path, True)
                    if rule is not None and not rule.negated:
                        if self.ignored != "no":
                            inner._add_ignored(path, True)
                    elif not self.wanted or self.wanted.may_be_below(path):
                        pending.append(path)
            if whole and inner.found.untracked and self.ignored == "no":
                break
        if self.untracked != "no" and inner.found.untracked:
            if whole:
                self._note_folder(folder)
            else:
                self.found.untracked += inner.found.untracked
        if inner.found.ignored:
            if (
                self.untracked == "normal"
                and not inner.found.untracked
                and (self.ignored == "traditional")
            ):
                self.found.ignored.append(folder + b"/")
            elif self.untracked == "normal" and self.ignored == "traditional":
                self.found.ignored += _collapsed(inner.found, folder)
            else:
                self.found.ignored += inner.found.ignored


def _collapsed(found: Scan, folder: bytes) -> list[bytes]:
    """Return the ignored paths below a directory; one path for a directory without others."""
    mixed = {folder}
    for path in found.untracked:
        at = path.rfind(b"/", 0, len(path) - 1)
        while at > len(folder) and path[:at] not in mixed:
            mixed.add(path[:at])
            at = path.rfind(b"/", 0, at)
    shown: list[bytes] = []
    for path in found.ignored:
        at = path.find(b"/", len(folder) + 1)
        while 0 <= at < len(path) - 1 and path[:at] in mixed:
            at = path.find(b"/", at + 1)
        shown.append(path if at < 0 else path[: at + 1])
    return list(dict.fromkeys(shown))


def smudge_racy(repository: Repository, index: Index) -> None:
    """Mark entries that changed within the clock's tick in which the old index was written."""
    if not index.mtime or repository.worktree is None:
        return
    tree: Worktree | None = None
    second = int(index.mtime)
    for entry in [one for one in index.entries.values() if one.mtime >= second and one.mtime]:
        if entry.mtime + entry.mtime_ns / 1e9 < index.mtime:
            continue
        tree = tree or Worktree(repository)
        info = tree.stat(entry.path)
        if (
            info is not None
            and entry.is_fresh(info)
            and not info.is_dir
            and (tree.hash(entry.path, info, known=entry.oid) != entry.oid)
        ):
            smudged = entry.copy()
            smudged.size = 0
            index.replace(smudged)


def refuse_beyond_link(tree: Worktree, path: bytes, shown: str) -> None:
    """Raise if a path leads through a link."""
    at = path.find(b"/")
    while at >= 0:
        try:
            if tree.fs.stat(tree.path(path[:at]), follow=False).is_link:
                raise Fatal(f"pathspec '{shown}' is beyond a symbolic link")
        except OSError:
            return
        at = path.find(b"/", at + 1)


def _replaced(folder: Folder, there: list[str], kinds: list[int]) -> frozenset[str]:
    """Return the names of files of the index where a directory is now; not those of submodules."""
    directories = {name for name, kind in zip(there, kinds, strict=True) if kind == _DIRECTORY}
    found = directories.intersection(folder.names)
    if found:
        found -= {
            name
            for name, entry in zip(folder.names, folder.entries, strict=True)
            if entry.mode == SUBMODULE
        }
    return frozenset(found)
