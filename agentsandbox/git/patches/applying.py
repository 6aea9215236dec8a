"""Applying patches to the files of a worktree, and to the index.

First all patches are applied in memory; if one of them fails, nothing is written (but with
`--reject`). Then old files are removed, and new ones written. A name that git would not track, one
outside of the worktree, below `.git` or behind a symbolic link, is refused before that.
"""

from __future__ import annotations

import posixpath

from agentsandbox.git.errors import GitError, Quit
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.objects import LINK, NULL, SUBMODULE, is_object_name, object_name
from agentsandbox.git.patches.images import HowToApply, Image
from agentsandbox.git.paths import is_safe_path, quote_path
from agentsandbox.git.worktree import Worktree, mode_of
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.patches.parsing import Patch
    from agentsandbox.git.repository import Repository
    from agentsandbox.kernel.fs.base import Stat

_GONE, _GOING = "gone", "going"
_TYPE = 0o170000


class Files:
    """The files that patches change: those of a worktree, or of a folder without a repository."""

    def __init__(self, git: Invocation, repository: Repository | None) -> None:
        self.git = git
        self.fs = git.fs
        self.tree = None
        if repository is not None and repository.worktree is not None:
            self.tree = Worktree(repository)
        self.root = self.tree.root if self.tree is not None else git.cwd.rstrip("/")

    def path(self, name: bytes) -> str:
        return f"{self.root}/{decode(name)}"

    def stat(self, name: bytes) -> Stat | None:
        """Return the `stat` of a file, None if it is missing; GitError for other errors."""
        try:
            return self.fs.stat(self.path(name), follow=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise GitError(f"{decode(name)}: {error.strerror}") from None

    def is_link(self, name: bytes) -> bool:
        try:
            return self.fs.stat(self.path(name), follow=False).is_link
        except OSError:
            return False

    def has_link_above(self, name: bytes) -> bool:
        at = name.find(b"/")
        while at >= 0:
            if self.is_link(name[:at]):
                return True
            at = name.find(b"/", at + 1)
        return False

    def read(self, name: bytes, info: Stat, *, keeps_crlf: bool) -> bytes:
        where = self.path(name)
        if info.is_link:
            return encode(self.fs.readlink(where))
        if not info.is_file:
            raise GitError(f"failed to read {decode(name)}")
        self.git.budget.charge(info.size)
        data = self.fs.read_bytes(where)
        if self.tree is None or keeps_crlf or b"\r" not in data:
            return data
        return self.tree.attributes.to_git(name, data, known=None)

    def remove(self, name: bytes, *, prune: bool) -> None:
        """Remove a file, and with `prune` the directories that become empty."""
        try:
            info = self.fs.stat(self.path(name), follow=False)
            if info.is_dir:
                self.fs.rmdir(self.path(name))
            else:
                self.fs.unlink(self.path(name))
        except FileNotFoundError:
            return
        except OSError as error:
            self.git.warn(f"unable to unlink '{decode(name)}': {error.strerror}")
            return
        folder = name.rpartition(b"/")[0]
        here = self.git.cwd.rstrip("/")
        while prune and folder:
            where = self.path(folder)
            if here == where or here.startswith(f"{where}/"):
                return
            try:
                self.fs.rmdir(where)
            except OSError:
                return
            folder = folder.rpartition(b"/")[0]

    def _make_folders(self, folder: str) -> None:
        try:
            self.fs.makedirs(folder, 0o777 & ~self.git.ctx.umask)
        except FileExistsError:
            raise NotADirectoryError(20, "Not a directory", folder) from None

    def write(self, name: bytes, mode: int, data: bytes) -> None:
        """Write a file that is not there; GitError if it cannot be written."""
        fs, umask = self.fs, self.git.ctx.umask
        where = self.path(name)
        try:
            self._make_folders(posixpath.dirname(where))
            info = None if not fs.exists(where, follow=False) else fs.stat(where, follow=False)
            if mode == SUBMODULE:
                if info is None:
                    fs.mkdir(where, 0o777 & ~umask)
                return
            if info is not None and info.is_dir:
                fs.rmdir(where)
            elif info is not None:
                fs.unlink(where)
            if mode == LINK:
                fs.symlink(decode(data), where)
                return
            if self.tree is not None:
                data = self.tree.attributes.to_worktree(name, data)
            self.git.budget.step(1 + len(data) // 8192)
            permissions = (0o777 if mode & 0o100 else 0o666) & ~umask
            fs.write_bytes(where, data, permissions=permissions)
        except OSError as error:
            raise GitError(
                f"unable to write file '{decode(name)}' mode {mode:o}: {error.strerror}", 128
            ) from None


class Applier:
    """Applies the patches of one text."""

    def __init__(self, git: Invocation, repository: Repository | None) -> None:
        self.git = git
        self.repository = repository
        self.files = Files(git, repository)
        self.how = HowToApply()
        self.checks_index = self.cached = self.threeway = self.intends = False
        self.rejects = False
        self.verbosity = 0
        self.index: Index | None = None
        self._known: dict[bytes, Patch | str] = {}
        self._removed_links: set[bytes] = set()
        self._kept_links: set[bytes] = set()

    # messages

    def say(self, text: str) -> None:
        if self.verbosity >= 0:
            self.git.say(text)

    def error(self, text: str) -> None:
        self.say(f"error: {text}")

    def explain(self, text: str) -> None:
        """Write a line that only --verbose shows."""
        if self.verbosity > 0:
            self.git.say(text)

    def shown(self, patch: Patch) -> str:
        old, new = patch.old_name, patch.new_name
        if old is not None and new is not None and old != new:
            return f"{quote_path(old)} => {quote_path(new)}"
        return quote_path(patch.name)

    # checking

    def check(self, patches: list[Patch]) -> bool:
        """Apply the patches in memory; return whether all could be applied."""
        for patch in patches:
            if patch.old_name is not None and patch.old_mode & _TYPE == LINK and (
                patch.is_rename or patch.is_delete
            ):  # fmt: skip
                self._removed_links.add(patch.old_name)
            if patch.new_name is not None and patch.new_mode & _TYPE == LINK:
                self._kept_links.add(patch.new_name)
            if patch.old_name is not None and (patch.new_name is None or patch.is_rename):
                self._known[patch.old_name] = _GOING
        clean = True
        for patch in patches:
            self.git.budget.step()
            self.explain(f"Checking patch {self.shown(patch)}...")
            try:
                self._check(patch)
            except GitError as error:
                if error.status == 128:
                    raise
                if error.message:
                    self.error(error.message)
                clean = False
        return clean

    def _check(self, patch: Patch) -> None:
        """Apply a patch in memory; GitError if that is not possible."""
        patch.rejected = True
        name = patch.old_name if patch.old_name is not None else patch.new_name
        entry, info = self._check_old(patch)
        new = patch.new_name
        if new is not None and (patch.is_new or patch.is_rename or patch.is_copy):
            self._check_new(patch, new)
        if new is not None and patch.old_name is not None:
            self._check_modes(patch, new)
        for path, mode in self._touched(patch):
            if not is_safe_path(path, mode):
                raise GitError(f"invalid path '{decode(path)}'", 128)
        if new is not None and not patch.is_delete and self._is_beyond_link(new):
            raise GitError(f"affected file '{decode(new)}' is beyond a symbolic link")
        try:
            self._apply(patch, entry, info)
        except GitError as error:
            if error.message:
                self.error(error.message)
            raise GitError(f"{decode(name or b'')}: patch does not apply") from None
        patch.rejected = False

    def _touched(self, patch: Patch) -> list[tuple[bytes, int]]:
        found = []
        if patch.old_name is not None and (
            patch.is_delete or not (patch.is_new or patch.is_copy)
        ):
            found.append((patch.old_name, patch.old_mode))
        if patch.new_name is not None and not patch.is_delete:
            found.append((patch.new_name, patch.new_mode))
        return found

    def _previous(self, patch: Patch) -> Patch | None:
        """Return the patch that already changed the file of this one."""
        if patch.is_copy or patch.is_rename or patch.old_name is None:
            return None
        known = self._known.get(patch.old_name)
        if known == _GONE:
            raise GitError(f"path {decode(patch.old_name)} has been renamed/deleted")
        return None if known is None or isinstance(known, str) else known

    def _check_old(self, patch: Patch) -> tuple[Entry | None, Stat | None]:
        """Return the entry and the `stat` of the file that a patch changes."""
        # long: the cases of index and worktree
        name = patch.old_name
        if name is None:
            return None, None
        previous = self._previous(patch)
        entry: Entry | None = None
        info: Stat | None = None
        if previous is None and not self.cached:
            info = self.files.stat(name)
        if previous is not None:
            mode = previous.new_mode
        elif self.checks_index:
            assert self.index is not None
            entry = self.index.get(name)
            if entry is None:
                if patch.is_new is None:
                    self._make_new(patch)
                    return None, None
                raise GitError(f"{decode(name)}: does not exist in index")
            if self.cached:
                mode = entry.mode
            else:
                info = self._matching(entry, info)
                mode = mode_of(info, known=entry.mode)
        elif info is None:
            if patch.is_new is None:
                self._make_new(patch)
                return None, None
            raise GitError(f"{decode(name)}: No such file or directory")
        else:
            file_mode = self.files.tree is None or self.files.tree.file_mode
            mode = mode_of(info, file_mode=file_mode, known=patch.old_mode)
        if patch.is_new is None:
            patch.is_new = False
        patch.old_mode = patch.old_mode or mode
        if mode & _TYPE != patch.old_mode & _TYPE:
            raise GitError(f"{decode(name)}: wrong type")
        if mode != patch.old_mode and self.verbosity >= 0:
            self.git.warn(f"{decode(name)} has type {mode:o}, expected {patch.old_mode:o}")
        if not patch.new_mode and not patch.is_delete:
            patch.new_mode = mode
        return entry, info

    def _make_new(self, patch: Patch) -> None:
        patch.is_new, patch.is_delete = True, False
        patch.old_name = None

    def _matching(self, entry: Entry, info: Stat | None) -> Stat:
        """Return the `stat` of the file of an entry, which must be as in the index."""
        tree = self.files.tree
        assert tree is not None and self.index is not None
        if info is None:
            fresh = tree.write(entry.path, entry.mode, entry.oid)
            self.index.set(fresh)
            return self.files.fs.stat(tree.path(entry.path), follow=False)
        if entry.mode != SUBMODULE and tree.is_changed(entry, info):
            raise GitError(f"{decode(entry.path)}: does not match index")
        return info

    def _check_new(self, patch: Patch, name: bytes) -> None:
        """Check that the file that a patch makes is not there."""
        may_exist = self._known.get(name) in (_GONE, _GOING)
        problem = ""
        if self.checks_index and not (may_exist and self.cached):
            assert self.index is not None
            entry = self.index.get(name)
            if entry is not None and not may_exist and not entry.intends:
                problem = "already exists in index"
            elif entry is not None and entry.intends and not self.cached:
                problem = "does not match index"
        if not problem and not self.cached and not may_exist:
            info = self.files.stat(name)
            if info is not None and not info.is_dir and not self.files.has_link_above(name):
                problem = "already exists in working directory"
        if problem:
            if not self.threeway:
                raise GitError(f"{decode(name)}: {problem}")
            patch.merges = True
        if not patch.new_mode:
            patch.new_mode = 0o100644 if patch.is_new else patch.old_mode

    def _check_modes(self, patch: Patch, new: bytes) -> None:
        patch.new_mode = patch.new_mode or patch.old_mode
        if patch.old_mode & _TYPE == patch.new_mode & _TYPE:
            return
        text = f"new mode ({patch.new_mode:o}) of {decode(new)} does not match old mode "
        text += f"({patch.old_mode:o})"
        if new != patch.old_name:
            text += f" of {decode(patch.old_name or b'')}"
        raise GitError(text)

    def _is_beyond_link(self, name: bytes) -> bool:
        above = name.rpartition(b"/")[0]
        while above:
            if above in self._kept_links:
                return True
            if above not in self._removed_links:
                if self.checks_index and self.index is not None:
                    entry = self.index.get(above)
                    if entry is not None and entry.mode == LINK:
                        return True
                    if not self.cached and self.files.is_link(above):
                        return True
                elif self.files.is_link(above):
                    return True
            above = above.rpartition(b"/")[0]
        return False

    # applying in memory

    def _load(self, patch: Patch, entry: Entry | None, info: Stat | None) -> bytes:
        previous = self._previous(patch)
        if previous is not None:
            return previous.result
        name = patch.old_name
        if name is None:
            return b""
        if self.checks_index:
            return self._blob(entry.oid, entry.mode) if entry is not None else b""
        if patch.old_mode == SUBMODULE:
            patch.hunks = []
            return b""
        if self.files.has_link_above(name):
            raise GitError(f"reading from '{decode(name)}' beyond a symbolic link")
        if info is None:
            raise GitError(f"failed to read {decode(name)}")
        return self.files.read(name, info, keeps_crlf=patch.has_crlf)

    def _blob(self, oid: str, mode: int) -> bytes:
        if mode == SUBMODULE:
            return encode(f"Subproject commit {oid}\n")
        assert self.repository is not None
        return self.repository.objects.blob(oid)

    def _apply(self, patch: Patch, entry: Entry | None, info: Stat | None) -> None:
        data = self._load(patch, entry, info)
        merged = self._merge(patch, data) if self.threeway else None
        if merged is None:
            if self.threeway and not patch.merges:
                self.say("Falling back to direct application...")
            if patch.merges:
                raise Quit(1)
            merged = self.patched(patch, data)
        patch.result = merged
        if patch.new_name is not None:
            self._known[patch.new_name] = patch
        if patch.old_name is not None and (patch.new_name is None or patch.is_rename):
            self._known[patch.old_name] = _GONE
        if patch.is_delete and merged:
            raise GitError("removal patch leaves file contents")

    def patched(self, patch: Patch, data: bytes) -> bytes:
        """Return a content with the hunks of a patch applied."""
        if patch.is_binary:
            return self._binary(patch, data)
        how = self.how
        how.say = self.say
        how.explain = self.explain if self.verbosity > 0 else None
        image = Image(data, patch.rules, how, self.git.budget)
        name = patch.old_name if patch.old_name is not None else patch.new_name
        for number, hunk in enumerate(patch.hunks, 1):
            self.git.budget.step(len(hunk.lines))
            if image.apply(hunk, number):
                continue
            self.error(f"patch failed: {decode(name or b'')}:{hunk.old}")
            if not self.rejects:
                raise Quit(1)
            hunk.rejected = True
        return image.data()

    def _binary(self, patch: Patch, data: bytes) -> bytes:
        # long: one check after the other
        name = decode((patch.old_name if patch.old_name is not None else patch.new_name) or b"")
        if not (is_object_name(patch.old_oid) and is_object_name(patch.new_oid)):
            raise GitError(f"cannot apply binary patch to '{name}' without full index line")
        if patch.old_name is not None:
            oid = object_name("blob", data)
            if oid != patch.old_oid:
                raise GitError(
                    f"the patch applies to '{name}' ({oid}), which does not match the current "
                    "contents."
                )
        elif data:
            raise GitError(f"the patch applies to an empty '{name}' but it is not empty")
        if patch.new_oid == NULL:
            return b""
        if self.repository is not None and patch.new_oid in self.repository.objects:
            return self.repository.objects.blob(patch.new_oid)
        parts = patch.parts
        new_name = decode(patch.name)
        if not parts:
            raise GitError(f"missing binary patch data for '{new_name}'")
        if self.how.reverse and len(parts) < 2:
            raise GitError(
                "cannot reverse-apply a binary patch without the reverse hunk to "
                f"'{new_name}'"
            )
        kind, content = parts[1] if self.how.reverse else parts[0]
        if kind == "delta":
            content = self._delta(data, content, name)
        oid = object_name("blob", content)
        if oid != patch.new_oid:
            raise GitError(
                f"binary patch to '{name}' creates incorrect result (expecting {patch.new_oid}, "
                f"got {oid})"
            )
        return content

    def _delta(self, data: bytes, delta: bytes, name: str) -> bytes:
        from agentsandbox.git.packs import patched

        try:
            return patched(data, delta, self.git.budget)
        except ValueError:
            raise GitError(f"binary patch does not apply to '{name}'") from None

    # three-way merges

    def _merge(self, patch: Patch, data: bytes) -> bytes | None:
        """Return the merge of a file with what the patch was made for; None if there is none."""
        # long: git's cases of a merge
        assert self.repository is not None and self.index is not None
        submodule = SUBMODULE in (patch.old_mode, patch.new_mode)
        if (
            patch.is_delete
            or submodule
            or (patch.is_new and not patch.merges)
            or (patch.is_rename and not patch.added and not patch.deleted)
        ):
            return None
        objects = self.repository.objects
        if patch.is_new:
            base, base_oid = b"", objects.write("blob", b"")
        else:
            found = self._old_blob(patch)
            if found is None:
                self.error("repository lacks the necessary blob to perform 3-way merge.")
                return None
            base, base_oid = objects.blob(found), found
        if patch.merges:
            self.say("Performing three-way merge...")
        try:
            theirs = self.patched(patch, base)
        except GitError as error:
            if error.message:
                self.error(error.message)
            return None
        theirs_oid = objects.write("blob", theirs)
        ours = data
        if patch.is_new:
            try:
                ours = self._current(patch)
            except GitError as error:
                self.error(error.message)
                self.error(f"cannot read the current contents of '{decode(patch.name)}'")
                return None
        ours_oid = objects.write("blob", ours)
        merged, conflicts = self._merged_texts(patch, (base, ours, theirs))
        if conflicts:
            patch.stages = ["" if patch.is_new else base_oid, ours_oid, theirs_oid]
            self.say(f"Applied patch to '{decode(patch.name)}' with conflicts.")
        else:
            self.say(f"Applied patch to '{decode(patch.name)}' cleanly.")
        return merged

    def _old_blob(self, patch: Patch) -> str | None:
        assert self.repository is not None
        objects = self.repository.objects
        if len(patch.old_oid) < 4:
            return None
        if is_object_name(patch.old_oid):
            return patch.old_oid if patch.old_oid in objects else None
        found = [
            oid for oid in dict.fromkeys(objects.with_prefix(patch.old_oid))
            if objects.type_of(oid) == "blob"
        ]  # fmt: skip
        return found[0] if len(found) == 1 else None

    def _current(self, patch: Patch) -> bytes:
        """Return the content of the file that a patch wants to make."""
        assert self.index is not None
        name = patch.name
        entry = self.index.get(name)
        if entry is None:
            raise GitError(f"{decode(name)}: does not exist in index")
        if not self.cached:
            self._matching(entry, self.files.stat(name))
        return self._blob(entry.oid, entry.mode)

    def _merged_texts(
        self, patch: Patch, texts: tuple[bytes, bytes, bytes]
    ) -> tuple[bytes, bool]:
        from agentsandbox.git.diff.merge import TextMerge

        base, ours, theirs = texts
        if base == ours:
            return theirs, False
        if theirs in (base, ours):
            return ours, False
        if any(b"\0" in text[:8000] for text in texts):
            self.git.warn(f"Cannot merge binary files: {decode(patch.name)} (ours vs. theirs)")
            return ours, True
        assert self.repository is not None
        work = TextMerge(
            self.git.budget, labels=("ours", "base", "theirs"),
            style=self.repository.config.get("merge.conflictstyle", "merge"),
        )  # fmt: skip
        self.git.budget.charge(sum(len(text) for text in texts))
        merged = work.merge(base, ours, theirs)
        return merged, bool(work.conflicts)

    # writing

    def write(self, patches: list[Patch]) -> int:
        """Write the results; return 1 if something was rejected or has conflicts."""
        status = 0
        updates = self.index is not None and (self.checks_index or self.intends)
        for patch in patches:
            if patch.rejected:
                status = 1
            elif not patch.is_new and not patch.is_copy and patch.old_name is not None:
                if updates and not self.intends and self.index is not None:
                    self.index.remove(patch.old_name)
                if not self.cached:
                    prune = bool(patch.is_delete or patch.is_rename)
                    self.files.remove(patch.old_name, prune=prune)
        conflicts: list[bytes] = []
        for patch in patches:
            if patch.rejected:
                continue
            if not patch.is_delete:
                self._create(patch, updates)
            if self._write_rejects(patch):
                status = 1
            if patch.stages is not None:
                conflicts.append(patch.name)
                status = 1
        for name in sorted(conflicts):
            self.say(f"U {decode(name)}")
        return status

    def _create(self, patch: Patch, updates: bool) -> None:
        name, mode = patch.name, patch.new_mode or 0o100644
        if not self.cached:
            if self._is_beyond_link(name) or self.files.has_link_above(name):
                raise GitError(f"affected file '{decode(name)}' is beyond a symbolic link", 128)
            self.files.write(name, mode, patch.result)
        if not updates or self.index is None:
            return
        if patch.stages is not None:
            self.index.remove(name)
            for stage, oid in enumerate(patch.stages, 1):
                if oid:
                    self.index.set(Entry(name, mode, oid, stage))
            return
        entry = self._entry(patch, name, mode)
        self.index.set_replacing(entry)

    def _entry(self, patch: Patch, name: bytes, mode: int) -> Entry:
        assert self.repository is not None
        if self.intends:
            if self.index is not None and (known := self.index.get(name)) is not None:
                return known
            entry = Entry(name, mode, self.repository.objects.write("blob", b""))
            entry.intends = True
            return entry
        if mode == SUBMODULE:
            oid = decode(patch.result).removeprefix("Subproject commit ").rstrip("\n")
            if not is_object_name(oid):
                raise GitError(f"corrupt patch for submodule {decode(name)}", 128)
            return Entry(name, mode, oid)
        entry = Entry(name, mode, self.repository.objects.write("blob", patch.result))
        if not self.cached:
            entry.remember(self.files.fs.stat(self.files.path(name), follow=False))
        return entry

    def _write_rejects(self, patch: Patch) -> bool:
        """Write the hunks that could not be applied to a file; return whether there are any."""
        count = sum(hunk.rejected for hunk in patch.hunks)
        if not count:
            self.explain(f"Applied patch {self.shown(patch)} cleanly.")
            return False
        self.say(
            f"Applying patch {self.shown(patch)} with {count} reject{'s' if count > 1 else ''}..."
        )
        name = decode(patch.name)
        made = [encode(f"diff a/{name} b/{name}\t(rejected hunks)\n")]
        for number, hunk in enumerate(patch.hunks, 1):
            if not hunk.rejected:
                self.say(f"Hunk #{number} applied cleanly.")
                continue
            self.say(f"Rejected hunk #{number}.")
            text = b"".join(hunk.lines)
            made.append(text if text.endswith(b"\n") else text + b"\n")
        self.files.write(patch.name + b".rej", 0o100644, b"".join(made))
        return True
