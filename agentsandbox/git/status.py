"""The state of a worktree: what a commit would have, what it would not have, in all formats."""

from __future__ import annotations

from agentsandbox.git.config import word_as_bool
from agentsandbox.git.errors import Fatal
from agentsandbox.git.history import count_between
from agentsandbox.git.modules import IgnoreRules, checked_rule, refuse_linked_path
from agentsandbox.git.nested import enter, folder_of, run_git
from agentsandbox.git.objects import NULL, SUBMODULE
from agentsandbox.git.paths import Pathspec, mode_text, quote_path, relative_to
from agentsandbox.git.pretty import shorten_ref
from agentsandbox.git.revisions import upstream_of
from agentsandbox.git.trees import Delta, diff_index
from agentsandbox.git.worktree import MODIFIED, UNTRACKED, Worktree, mode_of, scan_worktree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeGuard

    from agentsandbox.git.index import Entry
    from agentsandbox.git.invocation import Invocation

_LABELS = {
    "A": "new file:   ", "C": "copied:     ", "D": "deleted:    ", "M": "modified:   ",
    "R": "renamed:    ", "T": "typechange: ",
}  # fmt: skip
_UNMERGED = {
    1: ("both deleted:    ", "DD"), 2: ("added by us:     ", "AU"),
    3: ("deleted by them: ", "UD"), 4: ("added by them:   ", "UA"),
    5: ("deleted by us:   ", "DU"), 6: ("both added:      ", "AA"),
    7: ("both modified:   ", "UU"),
}  # fmt: skip


class Looking(IgnoreRules):
    """Looks at submodules as the rules say.

    `both` looks into the worktree of a submodule even if its commit has changed.
    """

    def __init__(
        self, git: Invocation, rule: str, *, fixed: bool = False, both: bool = False
    ) -> None:
        super().__init__(git, rule, fixed=fixed)
        self.both = both

    def __call__(self, entry: Entry, changed: bool) -> tuple[bool, int]:
        rule = self.rule_for(entry.path)
        if rule == "all":
            return False, 0
        if rule == "dirty" or (changed and not self.both):
            return changed, 0
        return changed, dirt_of(self.git, decode(entry.path), untracked=rule == "none")


def dirt_of(git: Invocation, path: str, *, untracked: bool) -> int:
    """Return what is in the worktree of a submodule beside its commit: `MODIFIED`, `UNTRACKED`."""
    repository = git.repository
    refuse_linked_path(git, path)
    if folder_of(repository, path) is None:
        dot = f"{repository.work_path(encode(path))}/.git"
        if repository.fs.is_dir(dot):
            raise Fatal(f"'{path}/.git' not recognized as a git repository")
        return 0
    inner = enter(git, repository.work_path(encode(path)))
    mode = inner.config.get("status.showuntrackedfiles", "normal") if untracked else "no"
    status = git.budget.nested(lambda: Status(inner, untracked=mode, renames=False))
    found = MODIFIED if status.staged or status.conflicts else 0
    for delta in status.changed:
        if delta.dirt & UNTRACKED:
            found |= UNTRACKED
        only = delta.new_mode == SUBMODULE and delta.old_oid == delta.new_oid
        if not (only and delta.dirt == UNTRACKED):
            found |= MODIFIED
    if untracked and status.scan.untracked:
        found |= UNTRACKED
    return found


class Conflict:
    """The stages of a path with a conflict."""

    __slots__ = ("mask", "modes", "oids", "path")

    def __init__(self, path: bytes) -> None:
        self.path = path
        self.mask = 0
        self.modes = [0, 0, 0]
        self.oids = [NULL, NULL, NULL]


class Status:
    """What `git status` knows."""

    def __init__(
        self,
        git: Invocation,
        *,
        wanted: Pathspec | None = None,
        untracked: str = "normal",
        ignored: str = "no",
        renames: bool = True,
        least: int = 30000,
        base: tuple[str | None] | None = None,
        ignore: str | None = None,
    ) -> None:
        self.git = git
        self.repository = repository = git.repository
        self.worktree = Worktree(repository)
        self.index = index = repository.index()
        self.untracked_mode = untracked
        self.head = repository.head() if base is None else base[0]
        self.is_initial = self.head is None
        tree = None if self.head is None else repository.objects.commit(self.head).tree
        wanted = wanted or Pathspec()
        self.ignore = None if ignore is None else checked_rule(ignore)
        self.scan = scan_worktree(
            self.worktree, index, wanted, untracked=untracked, ignored=ignored, look=self._look()
        )
        staged = diff_index(repository, tree, index, wanted)
        if self.ignore == "all":
            staged = [one for one in staged if not one.is_submodule]
        self.conflicts = self._conflicts(wanted)
        self.staged = [delta for delta in staged if not delta.unmerged]
        if renames and len(self.staged) > 1:
            from agentsandbox.git.diff.options import DiffOptions
            from agentsandbox.git.diff.printing import DiffPrinter

            options = DiffOptions()
            options.renames = 1
            options.ignore_submodules = self.ignore or "dirty"
            options.least = least
            options.rename_limit = git.config.number(
                "status.renamelimit", git.config.number("diff.renamelimit", 1000)
            )
            self.staged = DiffPrinter(git, options).prepare(self.staged)
        conflicted = {one.path for one in self.conflicts}
        self.changed: list[Delta] = []
        for path, (kind, mode, _) in sorted(self.scan.changed.items()):
            if path in conflicted:
                continue
            entry = index.get(path)
            if entry is None:
                continue
            old = 0 if entry.intends else entry.mode
            status = "A" if entry.intends and kind != "D" else kind
            delta = Delta(path, old, entry.oid, mode, "", status)
            if path in self.scan.submodules:
                changed, delta.dirt = self.scan.submodules[path]
                delta.new_oid = "" if changed else entry.oid
            self.changed.append(delta)
        if renames and any(one.status == "D" for one in self.changed):
            self._find_moves(least)

    def _find_moves(self, least: int) -> None:
        """Show a file that was moved in the worktree as that.

        Where it went is a file that is to be added, or one with conflicts: then only those count.
        """
        from agentsandbox.git.diff.options import DiffOptions
        from agentsandbox.git.diff.printing import DiffPrinter

        tree = Worktree(self.repository)
        targets = [
            Delta(one.path, 0, NULL, mode_of(info), "", "A")
            for one in self.conflicts
            if (info := tree.stat(one.path)) is not None and not info.is_dir
        ]
        gone = [one for one in self.changed if one.status == "D"]
        new = [one for one in self.changed if one.status == "A"]
        if not targets and not new:
            return
        options = DiffOptions()
        options.renames, options.least = 1, least
        printer = DiffPrinter(self.git, options, worktree=tree)
        sides = [Delta(one.old_path, one.old_mode, one.old_oid, 0, NULL, "D") for one in gone]
        found = printer.prepare(sorted([*sides, *new, *targets], key=lambda one: one.new_path))
        moved = {one.old_path for one in found if one.status == "R"}
        conflicted = {one.new_path for one in targets}
        kept = [one for one in self.changed if one not in new and one.old_path not in moved]
        kept += [one for one in found if one.status in "RA" and one.new_path not in conflicted]
        self.changed = sorted(kept, key=lambda one: one.new_path)

    def _look(self) -> Looking:
        default = "untracked" if self.untracked_mode == "no" else "none"
        rule = self.ignore or checked_rule(self.git.config.get("diff.ignoresubmodules", default))
        return Looking(self.git, rule, fixed=self.ignore is not None, both=True)

    def _conflicts(self, wanted: Pathspec) -> list[Conflict]:
        found: list[Conflict] = []
        for path in self.index.unmerged():
            if wanted and not wanted.matches(path):
                continue
            one = Conflict(path)
            for stage, entry in self.index.stages(path).items():
                one.mask |= 1 << (stage - 1)
                one.modes[stage - 1] = entry.mode
                one.oids[stage - 1] = entry.oid
            found.append(one)
        return found

    @property
    def has_staged(self) -> bool:
        """Whether a commit would differ from HEAD."""
        return bool(self.staged)

    def save_refreshed(self) -> None:
        """Write the index if only `stat` results changed, as git does when it may."""
        if self.scan.refreshed and self.git.env.get("GIT_OPTIONAL_LOCKS", "1") != "0":
            try:
                self.repository.write_index(self.index)
            except OSError:
                return


def _has_new_commits(delta: Delta) -> bool:
    return delta.new_mode == SUBMODULE and delta.old_oid != delta.new_oid


def _submodule_changes(delta: Delta) -> str:
    """Return what the long form says of a submodule."""
    parts = ["new commits"] * _has_new_commits(delta)
    parts += ["modified content"] * bool(delta.dirt & MODIFIED)
    parts += ["untracked content"] * bool(delta.dirt & UNTRACKED)
    return f" ({', '.join(parts)})" if parts else ""


def _short_state(delta: Delta) -> str:
    """Return the letter of the short form for a change of the worktree."""
    if delta.new_mode != SUBMODULE or _has_new_commits(delta):
        return "M" if delta.new_mode == SUBMODULE else delta.status
    return "m" if delta.dirt & MODIFIED else "?" if delta.dirt & UNTRACKED else delta.status


def _state_letters(delta: Delta | None) -> str:
    """Return "S<c><m><u>" of --porcelain=v2."""
    if delta is None:
        return "S..."
    commits = "C" if _has_new_commits(delta) else "."
    modified = "M" if delta.dirt & MODIFIED else "."
    return f"S{commits}{modified}{'U' if delta.dirt & UNTRACKED else '.'}"


def _is_move(delta: object) -> TypeGuard[Delta]:
    """Whether a change is a rename or a copy."""
    return isinstance(delta, Delta) and delta.status in "RC"


class StatusPrinter:
    """Prints a status."""

    def __init__(self, status: Status, *, comment: str = "", verbose: bool = False) -> None:
        self.status = status
        self.git = status.git
        self.repository = status.repository
        self.prefix = self.repository.prefix
        self.high = self.git.config.flag("core.quotepath", True)
        self.relative = self.git.config.flag("status.relativepaths", True)
        self.hints = not comment and self.git.config.flag("advice.statushints", True)
        self.color = False
        self.lines: list[str] = []
        self.comment = comment
        """The character of comments in the text of an editor, "" elsewhere."""
        self.mark = comment
        """What each line begins with."""
        self.whence = "commit"
        self.amend = False
        self.no_commit_line = self.for_commit = False
        self.ahead_behind = True
        self.show_stash = False
        self.branch_line = True
        del verbose

    # the long form

    def long(self, staged: list[Delta] | None = None, *, twice: bool = False) -> str:
        """Return the long form; if `staged` is given, print it with a patch and return the end."""
        status = self.status
        self._head()
        if status.is_initial and not self.no_commit_line:
            self._add("")
            self._add("Initial commit" if self.comment or self.for_commit else "No commits yet")
            self._add("")
        self._staged()
        self._unmerged()
        self._changed()
        self._summaries()
        if status.untracked_mode != "no":
            self._others("Untracked files", "add", status.scan.untracked)
            self._others("Ignored files", "add -f", status.scan.ignored)
        elif status.has_staged:
            hint = " (use -u option to show untracked files)" if self.hints else ""
            self._add(f"Untracked files not listed{hint}")
        if staged is not None:
            self.verbose(staged, twice=twice)
        if not self.comment:
            mark, self.mark = self.mark, ""
            self._conclusion()
            self.mark = mark
        if self.show_stash:
            count = len(self.repository.refs.read_log("refs/stash"))
            if count:
                self._add(f"Your stash currently has {count} entr{'y' if count == 1 else 'ies'}")
        return "".join(self.lines)

    def verbose(self, staged: list[Delta], *, twice: bool) -> None:
        """Print the changes that are staged as a patch; `twice`: also those that are not."""
        prefixes = None
        if twice and self.status.has_staged:
            if self.comment:
                self._add("")
            self._add("Changes to be committed:")
            prefixes = ("c/", "i/")
        self._patch(staged, prefixes)
        if twice and self.status.changed:
            self._add("-" * 50)
            self._add("Changes not staged for commit:")
            worktree = [
                Delta(one.new_path, one.old_mode, one.old_oid, one.new_mode,
                      "" if one.new_mode else NULL, one.status)
                for one in self.status.changed
            ]  # fmt: skip
            self._patch(worktree, ("i/", "w/"))

    def _patch(self, deltas: list[Delta], prefixes: tuple[str, str] | None) -> None:
        from agentsandbox.git.diff.options import DiffOptions
        from agentsandbox.git.diff.printing import DiffPrinter

        self.git.write(encode("".join(self.lines)))
        self.lines.clear()
        options = DiffOptions()
        options.formats.add("patch")
        if self.comment:
            options.color = "never"
        options.configure(self.git)
        if prefixes is not None:
            options.prefixes = prefixes
        printer = DiffPrinter(
            self.git, options, worktree=Worktree(self.repository), mnemonic=("c/", "i/")
        )
        printer.print(printer.prepare(deltas))

    def _add(self, text: str) -> None:
        if self.mark:
            for line in text.split("\n"):
                space = "" if not line or line.startswith("\t") else " "
                self.lines.append(f"{self.mark}{space}{line}\n")
        else:
            self.lines.append(f"{text}\n")

    def _hint(self, text: str) -> None:
        if self.hints:
            self._add(f"  ({text})")

    def _head(self) -> None:
        from agentsandbox.git.progress import describe_state, head_line

        self._add(head_line(self.repository))
        branch = self.repository.branch()
        if branch and not self.status.is_initial:
            text = tracking_text(
                self.repository, branch.removeprefix("refs/heads/"), counts=self.ahead_behind
            )
            if text:
                for line in text.split("\n"):
                    self._add(line)
                self._add("")
        for line in describe_state(
            self.repository, unmerged=bool(self.status.conflicts), hints=self.hints,
            amend=self.amend, splits=not branch and bool(
                self.amend or self.comment or self.status.scan.changed
            ),
        ):  # fmt: skip
            self._add(line)
        self._sparse()

    def _sparse(self) -> None:
        index = self.status.index
        if not self.repository.is_sparse or not len(index):
            return
        share = ""
        if not index.is_collapsed:
            skipped = sum([entry.skips for entry in index])
            share = f" with {100 - 100 * skipped // len(index)}% of tracked files present"
        self._add(f"You are in a sparse checkout{share}.")
        self._add("")

    def _shown(self, path: bytes) -> str:
        seen = relative_to(path, self.prefix) if self.relative else path
        return quote_path(seen, high=self.high)

    def _staged(self) -> None:
        staged = self.status.staged
        if not staged:
            return
        self._add("Changes to be committed:")
        if self.whence == "commit":
            if self.status.is_initial:
                self._hint('use "git rm --cached <file>..." to unstage')
            elif self.amend:
                self._hint('use "git restore --source=HEAD^1 --staged <file>..." to unstage')
            else:
                self._hint('use "git restore --staged <file>..." to unstage')
        for delta in staged:
            name = self._shown(delta.new_path)
            if delta.status in "RC":
                name = f"{self._shown(delta.old_path)} -> {name}"
            self._add(f"\t{_LABELS[delta.status]}{name}")
        self._add("")

    def _unmerged(self) -> None:
        conflicts = self.status.conflicts
        if not conflicts:
            return
        self._add("Unmerged paths:")
        if self.whence == "commit":
            if self.status.is_initial:
                self._hint('use "git rm --cached <file>..." to unstage')
            else:
                self._hint('use "git restore --staged <file>..." to unstage')
        masks = {one.mask for one in conflicts}
        both_deleted = 1 in masks
        one_sided = bool(masks & {3, 5})
        not_deleted = bool(masks & {2, 4, 6, 7})
        if not both_deleted:
            if one_sided:
                self._hint('use "git add/rm <file>..." as appropriate to mark resolution')
            else:
                self._hint('use "git add <file>..." to mark resolution')
        elif not one_sided and not not_deleted:
            self._hint('use "git rm <file>..." to mark resolution')
        else:
            self._hint('use "git add/rm <file>..." as appropriate to mark resolution')
        for one in conflicts:
            self._add(f"\t{_UNMERGED[one.mask][0]}{self._shown(one.path)}")
        self._add("")

    def _changed(self) -> None:
        changed = self.status.changed
        if not changed:
            return
        self._add("Changes not staged for commit:")
        gone = any(delta.status == "D" for delta in changed)
        self._hint(
            f'use "git add{"/rm" if gone else ""} <file>..." to update what will be committed'
        )
        self._hint('use "git restore <file>..." to discard changes in working directory')
        if any(delta.dirt for delta in changed):
            self._hint("commit or discard the untracked or modified content in submodules")
        for delta in changed:
            label = _LABELS[delta.status]
            name = self._shown(delta.new_path)
            if _is_move(delta):
                name = f"{self._shown(delta.old_path)} -> {name}"
            self._add(f"\t{label}{name}{_submodule_changes(delta)}")
        self._add("")

    def _summaries(self) -> None:
        """Add the commits of changed submodules, if status.submoduleSummary asks for them."""
        text = self.git.config.get("status.submodulesummary", "0")
        on = word_as_bool(text)
        limit = text if text.lstrip("-").isdigit() else "-1" if on else "0"
        if limit == "0" or self.status.ignore == "all":
            return
        base = "HEAD^" if self.amend else "HEAD"
        for title, words in (
            ("Submodule changes to be committed:", ["--cached", base]),
            ("Submodules changed but not updated:", ["--files"]),
        ):
            made = enter(self.git, self.repository.need_worktree(), quiet=True)
            kind, *rest = words
            run_git(made, ["submodule", "summary", kind, "--for-status", "-n", limit, *rest])
            found = decode(b"".join(made.sink or []))
            if found:
                self._add(f"{title}\n\n{found.removesuffix(chr(10))}")

    def _others(self, title: str, command: str, paths: list[bytes]) -> None:
        if not paths:
            return
        self._add(f"{title}:")
        self._hint(f'use "git {command} <file>..." to include in what will be committed')
        for path in paths:
            self._add(f"\t{self._shown(path)}")
        self._add("")

    def _conclusion(self) -> None:
        status, hints = self.status, self.hints
        if status.has_staged:
            return
        if self.amend:
            self._add("No changes")
        elif status.changed or status.conflicts:
            self._add(
                "no changes added to commit"
                + (' (use "git add" and/or "git commit -a")' if hints else "")
            )
        elif status.scan.untracked:
            self._add(
                "nothing added to commit but untracked files present"
                + (' (use "git add" to track)' if hints else "")
            )
        elif status.is_initial:
            self._add(
                "nothing to commit"
                + (' (create/copy files and use "git add" to track)' if hints else "")
            )
        elif status.untracked_mode == "no":
            self._add("nothing to commit" + (" (use -u to show untracked files)" if hints else ""))
        else:
            self._add("nothing to commit, working tree clean")

    # the short forms

    def _pairs(self, *, letters: bool = False) -> dict[bytes, list[object]]:
        """Return [index status, worktree status, staged delta] by path.

        With `letters`, submodules that did not change their commit have "m" or "?".
        """
        found: dict[bytes, list[object]] = {}
        for delta in self.status.staged:
            found[delta.new_path] = [delta.status, " ", delta, None]
        for delta in self.status.changed:
            found.setdefault(delta.new_path, [" ", " ", None, None])
            found[delta.new_path][1] = _short_state(delta) if letters else delta.status
            found[delta.new_path][3] = delta
        return found

    def short(self, *, branch: bool, nul: bool, porcelain: bool) -> bytes:
        """Return the short form."""
        out: list[bytes] = []
        end = b"\0" if nul else b"\n"
        if branch:
            out.append(encode(self._branch_line(porcelain)) + end)
        relative = not porcelain and self.relative and not nul

        def name(path: bytes) -> bytes:
            seen = relative_to(path, self.prefix) if relative else path
            return seen if nul else encode(quote_path(seen, high=self.high, spaces=True))

        pairs = self._pairs(letters=not porcelain)
        rows: list[tuple[bytes, bytes]] = []
        for path, (first, second, staged, changed) in pairs.items():
            code = encode(f"{first}{second} ")
            delta = next((one for one in (staged, changed) if _is_move(one)), None)
            if delta is not None:
                if nul:
                    rows.append((path, code + name(path) + b"\0" + delta.old_path))
                else:
                    rows.append((path, code + name(delta.old_path) + b" -> " + name(path)))
            else:
                rows.append((path, code + name(path)))
        for one in self.status.conflicts:
            rows.append((one.path, encode(_UNMERGED[one.mask][1]) + b" " + name(one.path)))
        out += [row + end for _, row in sorted(rows)]
        out += [b"?? " + name(path) + end for path in self.status.scan.untracked]
        out += [b"!! " + name(path) + end for path in self.status.scan.ignored]
        return b"".join(out)

    def _branch_line(self, porcelain: bool) -> str:
        repository = self.repository
        branch = repository.branch()
        del porcelain
        if not branch:
            return "## HEAD (no branch)"
        name = branch.removeprefix("refs/heads/")
        line = "## No commits yet on " if self.status.is_initial else "## "
        line += name
        upstream = upstream_of(repository, name)
        if upstream is None:
            return line
        line += f"...{shorten_ref(upstream)}"
        oid = repository.refs.read(upstream)
        if oid is None:
            return f"{line} [gone]"
        if self.status.head is None:
            return line
        ahead, behind = count_between(repository, self.status.head, oid)
        if not self.ahead_behind:
            return f"{line} [different]" if ahead or behind else line
        parts = [f"ahead {ahead}"] * bool(ahead) + [f"behind {behind}"] * bool(behind)
        return f"{line} [{', '.join(parts)}]" if parts else line

    def version2(self, *, branch: bool, nul: bool) -> bytes:
        """Return the form of --porcelain=v2."""
        end = b"\0" if nul else b"\n"
        out: list[bytes] = []
        if branch:
            out += [encode(line) + end for line in self._branch_headers()]
        if self.show_stash:
            count = len(self.repository.refs.read_log("refs/stash"))
            if count:
                out.append(encode(f"# stash {count}") + end)

        def name(path: bytes) -> bytes:
            seen = relative_to(path, self.prefix) if self.relative and not nul else path
            return seen if nul else encode(quote_path(seen, high=self.high))

        rows: list[tuple[bytes, bytes]] = []
        for path, pair in self._pairs().items():
            rows.append((path, self._row(path, pair, name, nul)))
        rows.sort()
        out += [row + end for _, row in rows]
        for one in self.status.conflicts:
            info = self.status.worktree.stat(one.path)
            mode = 0 if info is None else mode_of(info)
            modes = " ".join([mode_text(each) for each in [*one.modes, mode]])
            code = _UNMERGED[one.mask][1]
            sub = "S..." if SUBMODULE in (*one.modes, mode) else "N..."
            out.append(
                encode(f"u {code} {sub} {modes} {' '.join(one.oids)} ") + name(one.path) + end
            )
        out += [b"? " + name(path) + end for path in self.status.scan.untracked]
        out += [b"! " + name(path) + end for path in self.status.scan.ignored]
        return b"".join(out)

    def _row(
        self, path: bytes, pair: list[object], name: Callable[[bytes], bytes], nul: bool
    ) -> bytes:
        first, second, staged, changed = pair
        entry = self.status.index.get(path)
        code = f"{first}{second}".replace(" ", ".")
        head_mode, head_oid = 0, NULL
        index_mode, index_oid = (entry.mode, entry.oid) if entry is not None else (0, NULL)
        if isinstance(staged, Delta):
            head_mode, head_oid = staged.old_mode, staged.old_oid
            index_mode, index_oid = staged.new_mode, staged.new_oid
        elif entry is not None and not entry.intends:
            head_mode, head_oid = entry.mode, entry.oid
        if entry is not None and entry.intends:
            is_gone = second == "D"  # what is gone was there: git shows the empty file of the index
            index_mode, index_oid = (entry.mode, entry.oid) if is_gone else (0, NULL)
            if not isinstance(staged, Delta):
                head_mode, head_oid = index_mode, index_oid
        work_mode = changed.new_mode if isinstance(changed, Delta) else index_mode
        modes = f"{mode_text(head_mode)} {mode_text(index_mode)} {mode_text(work_mode)}"
        sub = "N..."
        if SUBMODULE in (head_mode, index_mode, work_mode):
            sub = _state_letters(changed if isinstance(changed, Delta) else None)
        moved = next((one for one in (staged, changed) if _is_move(one)), None)
        if moved is not None and moved is not staged:
            head_mode, head_oid = moved.old_mode, moved.old_oid
            index_mode, index_oid = head_mode, head_oid
            modes = f"{mode_text(head_mode)} {mode_text(index_mode)} {mode_text(work_mode)}"
        head = f"{code} {sub} {modes} {head_oid} {index_oid} "
        if moved is not None:
            score = f"{moved.status}{moved.score * 100 // 60000} "
            between = b"\0" if nul else b"\t"
            return encode(f"2 {head}{score}") + name(path) + between + name(moved.old_path)
        return encode(f"1 {head}") + name(path)

    def _branch_headers(self) -> list[str]:
        repository, head = self.repository, self.status.head
        lines = [f"# branch.oid {head or '(initial)'}"]
        branch = repository.branch()
        name = branch.removeprefix("refs/heads/")
        lines.append(f"# branch.head {name or '(detached)'}")
        if not branch:
            return lines
        upstream = upstream_of(repository, name)
        if upstream is None:
            return lines
        lines.append(f"# branch.upstream {shorten_ref(upstream)}")
        oid = repository.refs.read(upstream)
        if oid is not None and head is not None:
            ahead, behind = count_between(repository, head, oid)
            lines.append(f"# branch.ab +{ahead} -{behind}")
        return lines


def tracking_text(repository, name: str, *, counts: bool = True) -> str:  # type: ignore[no-untyped-def]
    """Return how a branch and its upstream differ, "" without an upstream."""
    upstream = upstream_of(repository, name)
    if upstream is None:
        return ""
    shown = shorten_ref(upstream)
    hints = repository.config.flag("advice.statushints", True)
    oid, head = repository.refs.read(upstream), repository.refs.read(f"refs/heads/{name}")
    if oid is None:
        hint = '\n  (use "git branch --unset-upstream" to fixup)' if hints else ""
        return f"Your branch is based on '{shown}', but the upstream is gone.{hint}"
    if head is None:
        return ""
    ahead, behind = count_between(repository, head, oid)
    if not ahead and not behind:
        return f"Your branch is up to date with '{shown}'."
    if not counts:
        return f"Your branch and '{shown}' refer to different commits." + (
            '\n  (use "git status --ahead-behind" for details)' if hints else ""
        )

    def commits(number: int) -> str:
        return f"{number} commit{'' if number == 1 else 's'}"

    if not behind:
        hint = '\n  (use "git push" to publish your local commits)' if hints else ""
        return f"Your branch is ahead of '{shown}' by {commits(ahead)}.{hint}"
    if not ahead:
        hint = '\n  (use "git pull" to update your local branch)' if hints else ""
        text = f"Your branch is behind '{shown}' by {commits(behind)}, and can be fast-forwarded."
        return text + hint
    hint = '\n  (use "git pull" to merge the remote branch into yours)' if hints else ""
    return (
        f"Your branch and '{shown}' have diverged,\n"
        f"and have {ahead} and {behind} different commits each, respectively.{hint}"
    )


def shown_untracked(path: bytes) -> str:
    """Return an untracked path as text."""
    return decode(path)
