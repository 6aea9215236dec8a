"""Carrying out the list of a rebase, as git's sequencer does it.

Before an item is carried out it moves from `git-rebase-todo` to `done`. A pick merges the commit
into HEAD with its parent as the base. If that is not clean, or an item asks to stop, files of the
state say what was going on, the command ends, and `rebase --continue` commits what is staged and
goes on. An item that could not even begin is put back.

Commits without an editor are made here; for others `git commit` runs, with the author of the
commit in its environment. A commit whose parent is HEAD already is taken as it is.
"""

from __future__ import annotations

from agentsandbox.git.autostash import (
    apply_autostash,
    demand_clean,
    has_uncommitted,
    has_unstaged,
)
from agentsandbox.git.editor import edit
from agentsandbox.git.errors import GitError, Plain, Quit
from agentsandbox.git.hooks import run_hook
from agentsandbox.git.merge_state import conflict_lines
from agentsandbox.git.objects import EMPTY_TREE
from agentsandbox.git.rebase_state import AUTOSTASH, FOLDER, RebaseState
from agentsandbox.git.replaying_commits import Commits
from agentsandbox.git.squashing import Squash, body_from_subject
from agentsandbox.git.texts import strip_space, subject_of
from agentsandbox.git.todo import (
    COMMENT,
    Item,
    check_level,
    count,
    dropped_commits,
    format_todo,
    help_text,
    parse_todo,
)
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.git.invocation import Invocation

_TODO = "git-rebase-todo"
_REBASE_HINT = """Resolve all conflicts manually, mark them as resolved with
"git add/rm <conflicted_files>", then run "git rebase --continue".
You can instead skip this commit: run "git rebase --skip".
To abort and get back to the state before "git rebase", run "git rebase --abort"."""
_AMEND = """You can amend the commit now, with

  git commit --amend 

Once you are satisfied with your changes, run

  git rebase --continue"""  # noqa: W291
_RESCHEDULED = """Could not execute the todo command

    {}

It has been rescheduled; To edit the command before continuing, please
edit the todo list first:

    git rebase --edit-todo
    git rebase --continue"""
_EDIT_ADVICE = """You can fix this with 'git rebase --edit-todo' and then run \
'git rebase --continue'.
Or you can abort the rebase with 'git rebase --abort'."""
_DROPPED = """Warning: some commits may have been dropped accidentally.
Dropped commits (newer to older):
{}To avoid this message, use "drop" to explicitly remove a commit.

Use 'git config rebase.missingCommitsCheck' to change the level of warnings.
The possible behaviours are: ignore, warn, error.
"""


def clear_line(git: Invocation) -> None:
    """Erase the line of progress, as git does on a terminal."""
    if git.env.get("TERM", "dumb") == "dumb":
        columns = git.env.get("COLUMNS", "")
        width = int(columns) if columns.isdigit() and 0 < int(columns[:6]) < 10000 else 80
        git.say_raw(f"\r{' ' * width}\r")
    else:
        git.say_raw("\r\x1b[K")


class Replay(Commits):
    """The carrying out of a list."""

    def __init__(self, git: Invocation, state: RebaseState) -> None:
        super().__init__(git, state)
        self.items: list[Item] = []
        self.previous: Item | None = None
        """The item before the first one; git notes it as done again when it puts one back."""
        self.done = self.total = 0

    # the list

    def load(self) -> bool:
        """Read the list; return whether it is valid, with a message if not."""
        text = self.state.read(_TODO)
        if text is None:
            shown = f"{self.repository.shown_folder}/{FOLDER}/{_TODO}"
            self.git.error(f"could not open '{shown}': No such file or directory")
            return False
        self.items, valid = parse_todo(self.git, text, continued=self.state.exists("done"))
        if not valid:
            self.git.error("please fix this using 'git rebase --edit-todo'.")
            return False
        if not self.items and not self.state.exists("done"):
            self.git.error("no commits parsed.")
            return False
        done, _ = parse_todo(self.git, self.state.read("done") or "", continued=True)
        self.done = count(done)
        self._count()
        return True

    def _count(self) -> None:
        self.total = self.done + count(self.items)
        self.state.write("end", f"{self.total}\n")

    def _save(self, rest: Sequence[Item], taken: Item | None) -> None:
        """Write what is left, and add what was taken to what is done."""
        self.state.write(_TODO, "".join([self._line(item) + "\n" for item in rest]))
        if taken is not None:
            self.state.append("done", self._line(taken) + "\n")

    def _line(self, item: Item) -> str:
        return item.raw if item.raw is not None else item.line(self.repository, short=False)

    # the ways in

    def start(
        self, items: list[Item], *, revisions: str, onto_name: str, edits: bool, old_tree: str
    ) -> int:
        """Show the list to the editor and begin; return a status."""
        state, git = self.state, self.git
        if not count(items):
            return self._nothing()
        short_onto = self.repository.short(state.onto)
        found = self.edit_list(
            items, revisions=revisions, onto=short_onto,
            sequence_editor=None if edits else ":",
        )  # fmt: skip
        if found is None:
            apply_autostash(git, AUTOSTASH)
            state.remove_all()
            return 1
        if found == "nothing":
            return self._nothing()
        onto = state.onto
        if found == "invalid":
            self._checkout(onto, onto_name, old_tree)
            return 1
        assert not isinstance(found, str)
        self.items = list(found)
        for item in self.items:
            item.raw = None
        skipped = len(found)
        if not state.forces:
            onto = self._skip_unchanged(onto)
        skipped -= len(self.items)
        self._save(self.items, None)
        if not self._checkout(onto, onto_name, old_tree):
            return 1
        if not demand_clean(git, "rebase"):
            return 1
        self.total = skipped + len(self.items)
        state.write("end", f"{self.total}\n")
        return self.run()

    def _nothing(self) -> int:
        apply_autostash(self.git, AUTOSTASH)
        self.state.remove_all()
        return self.git.error("nothing to do")

    def edit_list(
        self, items: list[Item], *, revisions: str = "", onto: str = "",
        sequence_editor: str | None = None, incorrect: bool = False,
    ) -> list[Item] | str | None:  # fmt: skip
        """Let the editor change the list and return it; None if the editor failed.

        Returns "nothing" for an empty list and "invalid" for one with errors, which stays.
        """
        git, state, repository = self.git, self.state, self.repository
        letters = git.config.flag("rebase.abbreviatecommands")
        comments = help_text(git, count(items), revisions=revisions, onto=onto)
        shown = format_todo(repository, items, short=True, letters=letters)
        state.write(_TODO, shown + comments)
        if not incorrect:
            full = format_todo(repository, items, short=False, letters=letters)
            state.write("git-rebase-todo.backup", full + comments)
        path = repository.file(f"{FOLDER}/{_TODO}")
        if sequence_editor is None:
            try:
                edit(git, path, path, sequence=True)
            except Quit:
                return None
        text = decode(strip_space(encode(state.read(_TODO) or ""), b"#"))
        if revisions and not text:
            return "nothing"
        found, valid = parse_todo(git, text, continued=state.exists("done"))
        if not valid:
            git.say(_EDIT_ADVICE)
            return "invalid"
        if incorrect:
            items, _ = parse_todo(git, self._backup(), continued=True)
        if not self._check_dropped(items, found):
            state.write("dropped", "")
            return "invalid"
        state.remove("dropped")
        return found

    def _backup(self) -> str:
        text = self.state.read("git-rebase-todo.backup") or ""
        return decode(strip_space(encode(text), b"#"))

    def _check_dropped(self, before: Sequence[Item], after: Sequence[Item]) -> bool:
        """Return whether the list may have lost the commits that it lost."""
        level = check_level(self.git)
        if level == "ignore":
            return True
        lost = dropped_commits(before, after)
        if not lost:
            return True
        lines = "".join(
            [f" - {self.repository.short(item.oid or '')} {item.argument}\n" for item in lost]
        )
        self.git.say(_DROPPED.replace("{}", lines))
        self.git.say(_EDIT_ADVICE)
        return level == "warn"

    def _skip_unchanged(self, onto: str) -> str:
        """Take the commits at the beginning that need not be made anew; return the last one."""
        at = 0
        for item in self.items:
            if item.command in ("noop", "drop", COMMENT):
                at += 1
                continue
            if item.command != "pick" or item.oid is None:
                break
            if self.repository.parents(item.oid) != (onto,):
                break
            onto = item.oid
            at += 1
        if at:
            self.state.write("done", format_todo(self.repository, self.items[:at], short=False))
            self.done += at
            del self.items[:at]
            if self._next_is_fixup(0):
                self.record_rewritten(onto, 0)
        return onto

    def _checkout(self, oid: str, name: str, old_tree: str) -> bool:
        """Detach HEAD at a commit; return whether that worked."""
        git, state, repository = self.git, self.state, self.repository
        head = repository.head() or "0" * 40
        try:
            switch_trees(git, old_tree, self.objects.commit(oid).tree, action="checkout")
        except Plain as error:
            git.say(error.message)
            apply_autostash(git, AUTOSTASH)
            state.remove_all()
            git.error("could not detach HEAD")
            return False
        repository.refs.write("ORIG_HEAD", state.orig_head, "")
        repository.refs.write(
            "HEAD", oid, f"{self.message('start')}: checkout {name}", deref=False
        )
        run_hook(repository, "post-checkout", head, oid, "1")
        return True

    def go_on(self) -> int:
        """Commit what is staged, if something is, and carry out the rest."""
        state = self.state
        state.load()
        if not self.load():
            return 1
        if state.exists("dropped"):
            before, _ = parse_todo(self.git, self._backup(), continued=True)
            if not self._check_dropped(before, self.items):
                return 1
            state.remove("dropped")
        action, self.git.env["GIT_REFLOG_ACTION"] = self.action, self.message("continue")
        try:
            failed = self._commit_staged()
        finally:
            self.git.env["GIT_REFLOG_ACTION"] = action
        if failed:
            return 1
        stopped = state.line("stopped-sha")
        if stopped:
            self.record_rewritten(stopped, 0)
        return self.run()

    # carrying out

    def run(self) -> int:
        """Carry out the list; return a status."""
        while self.items:
            self.git.budget.step()
            status = self._next()
            if status is not None:
                return status
        return self._finish()

    def _next(self) -> int | None:
        """Carry out one item; return a status if that ends the command."""
        git, state, repository = self.git, self.state, self.repository
        item = self.items[0]
        self._save(self.items[1:], item)
        if item.command != COMMENT:
            self.done += 1
            state.write("msgnum", f"{self.done}\n")
            if not state.quiet:
                end = "\n" if state.verbose else "\r"
                git.say_raw(f"Rebasing ({self.done}/{self.total}){end}")
        state.remove("message", "author-script", "stopped-sha", "amend")
        repository.remove_file("MERGE_HEAD", "AUTO_MERGE")
        repository.refs.delete("REBASE_HEAD")
        if item.command == "break":
            self._end_progress()
            self._say_stopped()
            return 0
        before = state.read(_TODO)
        if item.is_pick:
            status = self._pick_item(item)
        elif item.command == "exec":
            status = self._exec(item)
        elif item.command in ("label", "reset", "merge"):
            status = self._carry_out_merge(item)
        else:
            status = 0
        if status is not None and status != 0:
            return 1
        if status is None:
            return 0
        changes = item.command in ("exec", "reword", "merge") or item.is_fixup
        if changes and state.read(_TODO) != before:
            if not self.load():
                return 1
            self.previous = None
        else:
            self.previous = self.items.pop(0)
        return None

    def _carry_out_merge(self, item: Item) -> int:
        from agentsandbox.git.replaying_merges import carry_out

        try:
            status = carry_out(self, item)
        except GitError as error:
            self.git.flush()
            if error.message:
                self.git.say(f"{error.prefix}{error.message}")
            self.reschedule(item)
            if item.oid is not None:
                self.stop(item, 1)
            return 1
        if status:
            self.stop(item, 1)
        elif item.command == "merge" and item.oid is not None:
            self.record_rewritten(item.oid, 1)
        return status

    def _end_progress(self) -> None:
        if not self.state.verbose:
            clear_line(self.git)

    def _say_stopped(self) -> None:
        head = self.repository.head()
        if head is None:
            self.git.say("Stopped at HEAD")
            return
        subject = decode(subject_of(self.repository.readable(head).message))
        self.git.say(f"Stopped at {self.repository.short(head)} ({subject})")

    def reschedule(self, item: Item) -> None:
        """Put an item back that could not be carried out."""
        text = _RESCHEDULED.replace("{}", self._line(item))
        self.git.say("\n".join(f"hint: {line}" for line in text.split("\n")))
        self._save(self.items, self.previous)

    def _pick_item(self, item: Item) -> int | None:
        """Pick a commit; return 0, None for a stop that was asked for, or another status."""
        git, state = self.git, self.state
        assert item.oid is not None
        self.merge_action = self.message(item.command)
        self.has_picked = True
        try:
            status = self._pick(item)
        except GitError as error:
            git.flush()
            if not isinstance(error, Quit):
                git.say(f"{error.prefix}{error.message}")
            self.reschedule(item)
            status = -1
        if item.command == "edit":
            if not status:
                self._end_progress()
                git.say(f"Stopped at {self.repository.short(item.oid)}...  {item.argument}")
            self.stop(item, status, amends=not status)
            return status or None
        if not status:
            self.record_rewritten(item.oid, 1)
            return 0
        if item.is_fixup:
            if status == 1:
                self._intend_to_amend()
            text = state.read("message-squash") or ""
            state.write("message", text)
            self.repository.write_file("MERGE_MSG", text)
            self.stop(item, 1)
            return 1
        amends = item.command == "reword" and self.repository.head() in (
            item.oid, state.squash_onto or None,
        )  # fmt: skip
        self.stop(item, status, amends=amends)
        return status

    def stop(self, item: Item, status: int, *, amends: bool = False) -> None:
        """Write what is known about a commit at which the rebase stops, and say what to do."""
        git, state = self.git, self.state
        if item.oid is not None:
            self.describe(item.oid)
        else:
            text = self.repository.read_file("MERGE_MSG")
            folder = self.repository.shown_folder
            if text is None:
                git.error(f"unable to copy '{folder}/MERGE_MSG' to '{folder}/{FOLDER}/message'")
                return
            state.write("message", text)
        if amends:
            self._intend_to_amend()
            git.say(_AMEND)
        elif status:
            if item.oid is None:
                git.say(f"Could not merge {item.argument}")
            else:
                git.say(f"Could not apply {self.repository.short(item.oid)}... {item.argument}")

    def _intend_to_amend(self) -> None:
        self.state.write("amend", f"{self.repository.head()}\n")

    # one commit

    def _pick(self, item: Item) -> int:
        # long: the steps of one pick, in git's order
        git, state, repository, objects = self.git, self.state, self.repository, self.objects
        oid, command = item.oid, item.command
        assert oid is not None
        commit = self.repository.readable(oid)
        head = repository.head()
        is_root = head is None or head == state.squash_onto
        if is_root and item.is_fixup:
            raise GitError("cannot fixup root commit")
        ours = EMPTY_TREE if is_root or head is None else objects.commit(head).tree
        self.demand_staged(ours)
        parents = repository.parents(oid)
        if len(parents) > 1:
            raise GitError(f"commit {oid} is a merge but no -m option was given.")
        parent = parents[0] if parents else None
        follows = parent == head if parent is not None else is_root
        if not state.forces and not item.is_fixup and follows:
            state.save_author(commit.author)
            self.fast_forward(oid, ours, head)
            return self._commit_edited(item, empty=False) if command == "reword" else 0
        before = objects.commit(parent).tree if parent is not None else EMPTY_TREE
        message = encode(body_from_subject(commit.message))
        if command == "revert":
            raise GitError("revert in a rebase is not supported in this sandbox")
        source = self._message_source(item) if item.is_fixup else ""
        if state.signoff and not item.is_fixup:
            message = self.signed(message)
        state.save_author(commit.author)
        merged = self.merge(item, before, ours, commit.tree)
        text = message if merged.is_clean else message + encode(conflict_lines([*merged.stages]))
        repository.write_file("MERGE_MSG", text)
        if not merged.is_clean:
            subject = decode(subject_of(commit.message))
            git.flush()
            git.error(f"could not apply {repository.short(oid)}... {subject}")
            git.say("\n".join(f"hint: {line}" for line in _REBASE_HINT.split("\n")))
            repository.remove_file("CHERRY_PICK_HEAD")
            return 1
        if not item.is_fixup:
            repository.refs.write("CHERRY_PICK_HEAD", oid, "")
        empty = merged.tree == ours
        if empty and not state.keep_redundant and commit.tree != before:
            if state.drop_redundant:
                repository.remove_file("CHERRY_PICK_HEAD", "MERGE_MSG", "AUTO_MERGE")
                subject = decode(subject_of(commit.message))
                git.say(f"dropping {oid} {subject} -- patch contents already upstream")
                return 0
            if not item.is_fixup:
                repository.refs.write("REBASE_HEAD", oid, "")
                return self.run_commit(
                    item.command, ["-F", repository.file("MERGE_MSG")], quiet=True
                )
        status = self._make(item, message, source, merged.tree, head, is_root, empty)
        if not status and item.is_fixup and self._is_final_fixup():
            state.forget_fixups()
        return status

    def _message_source(self, item: Item) -> str:
        """Add a fixup's message to those of the chain; return the file of the new message."""
        state = self.state
        Squash(state).add(item, self.signoff() if state.signoff else "")
        if not self._is_final_fixup():
            return f"{FOLDER}/message-squash"
        if state.exists("message-fixup"):
            return f"{FOLDER}/message-fixup"
        self.repository.write_file("SQUASH_MSG", state.read("message-squash") or "")
        self.repository.remove_file("MERGE_MSG")
        return "SQUASH_MSG"

    def _make(
        self, item: Item, message: bytes, source: str, tree: str, head: str | None,
        is_root: bool, empty: bool,
    ) -> int:  # fmt: skip
        """Make the commit of a pick; return a status."""
        repository, state = self.repository, self.state
        commit = self.repository.readable(item.oid or "")
        if source == "SQUASH_MSG":
            words = ["-n", "--amend", "-F", repository.file("SQUASH_MSG"), "-e"]
            words += ["--allow-empty"] if empty else []
            return self.run_commit(item.command, words, author=True)
        if item.is_fixup:
            assert head is not None
            text = encode(repository.read_file(source) or "")
            old = self.objects.commit(head)
            parents = list(repository.parents(head))
            base = self.objects.commit(parents[0]).tree if parents else EMPTY_TREE
            if tree == base and not empty:
                words = ["-n", "--amend", "-F", repository.file(source), "--cleanup=verbatim",
                         "--allow-empty-message"]  # fmt: skip
                return self.run_commit(item.command, words, author=True, quiet=True)
            self.commit(item.command, text, tree, parents, old.author, head, amends=head)
            return 0
        parents = [] if is_root or head is None else [head]
        self.commit(item.command, message, tree, parents, commit.author, head)
        if item.command == "reword":
            return self._commit_edited(item, empty=empty)
        del state
        return 0

    def _commit_edited(self, item: Item, *, empty: bool) -> int:
        words = ["--amend", "-e", *(["--allow-empty"] if empty else [])]
        return self.run_commit(item.command, words)

    # chains of fixups, and what became of commits

    def _next_is_fixup(self, start: int) -> bool:
        for item in self.items[start:]:
            if not item.is_idle:
                return item.is_fixup
        return False

    def _is_final_fixup(self) -> bool:
        return not self._next_is_fixup(1)

    def record_rewritten(self, oid: str, start: int) -> None:
        """Note that HEAD is what a commit became; the item at `start` comes next."""
        self.state.append("rewritten-pending", f"{oid}\n")
        if not self._next_is_fixup(start):
            self._flush_rewritten()

    def _flush_rewritten(self) -> None:
        pending = self.state.read("rewritten-pending")
        head = self.repository.head()
        if pending and head is not None:
            lines = [f"{oid} {head}\n" for oid in pending.split("\n") if oid]
            self.state.append("rewritten-list", "".join(lines))
            self.state.remove("rewritten-pending")

    # other commands of the list

    def _exec(self, item: Item) -> int:
        git, state, repository = self.git, self.state, self.repository
        self._end_progress()
        git.say(f"Executing: {item.argument}")
        env = {"GIT_REFLOG_ACTION": self.action}
        top = repository.need_worktree()
        if repository.folder != f"{top.rstrip('/')}/.git":
            env |= {"GIT_DIR": repository.folder, "GIT_WORK_TREE": top}
        status, _ = git.run(["sh", "-c", item.argument, item.argument], cwd=top, env=env)
        git.forget_config()
        dirty = has_unstaged(git) or has_uncommitted(git)
        if status:
            demand_clean(git, "rebase")
            changes = "and made changes to the index and/or the working tree\n" if dirty else ""
            git.warn(
                f"execution failed: {item.argument}\n{changes}You can fix the problem, and then "
                "run\n\n  git rebase --continue\n\n"
            )
            if state.reschedules:
                self.reschedule(item)
            return 1
        if not dirty:
            return 0
        demand_clean(git, "rebase")
        git.warn(
            f"execution succeeded: {item.argument}\nbut left changes to the index and/or the "
            "working tree\nCommit or stash your changes, and then run\n\n"
            "  git rebase --continue\n\n"
        )
        if state.reschedules:
            self.reschedule(item)
        return 1

    # going on

    def _commit_staged(self) -> bool:
        """Commit what is staged; return whether that failed."""
        # long: the cases of git, which share their last step
        git, state, repository = self.git, self.state, self.repository
        if has_unstaged(git):
            git.error("cannot rebase: You have unstaged changes.")
            return True
        clean = not has_uncommitted(git)
        words = ["-n"]
        edits, final = True, False
        amends = state.line("amend")
        if amends:
            head = repository.head()
            if not clean and head != amends:
                git.error(
                    "\nYou have uncommitted changes in your working tree. Please, commit them\n"
                    "first and then run 'git rebase --continue' again."
                )
                return True
            if clean and state.fixups:
                if head != amends or not state.exists("stopped-sha"):
                    if not self._next_is_fixup(0):
                        state.forget_fixups()
                else:
                    final, edits = self._leave_chain()
            words.append("--amend")
        if clean:
            repository.remove_file("CHERRY_PICK_HEAD", "MERGE_MSG")
            if not final:
                return False
        if not final:
            words += ["-F", repository.file(f"{FOLDER}/message")]
        elif not edits:
            words += ["-C", "HEAD"]
        words += ["-e"] if edits else ["--cleanup=strip", "--allow-empty-message"]
        words.append("--allow-empty")
        if self.run_commit("continue", words, author=not final, quiet=not edits):
            git.error("could not commit staged changes.")
            return True
        state.remove("amend")
        repository.remove_file("MERGE_HEAD", "AUTO_MERGE")
        if final:
            state.remove("message-fixup", "message-squash")
        if state.fixups:
            state.remove("current-fixups")
            state.fixups = []
        return False

    def _leave_chain(self) -> tuple[bool, bool]:
        """Forget the fixup that was skipped; return (whether to commit again, with the editor)."""
        state = self.state
        state.fixups.pop()
        state.save_fixups()
        if state.fixups and not self._next_is_fixup(0):
            return True, Squash(state).has_squash()
        if self._next_is_fixup(0):
            head = self.repository.head()
            if head is not None:
                message = self.repository.readable(head).message
                state.write("message-squash", body_from_subject(message))
        return False, True

    # the end

    def _finish(self) -> int:
        git, state, repository = self.git, self.state, self.repository
        head = repository.head()
        if state.head_name.startswith("refs/") and head is not None:
            repository.refs.write(
                state.head_name, head,
                f"{self.message('finish')}: {state.head_name} onto {state.onto}",
                old=state.orig_head,
            )  # fmt: skip
            repository.refs.write_symbolic(
                "HEAD", state.head_name, f"{self.message('finish')}: returning to {state.head_name}"
            )
        if state.verbose:
            self._print_change()
        self._flush_rewritten()
        rewritten = state.read("rewritten-list")
        if rewritten:
            run_hook(repository, "post-rewrite", "rebase", stdin=encode(rewritten))
        apply_autostash(git, AUTOSTASH)
        if not state.quiet:
            git.flush()
            self._end_progress()
            git.say(f"Successfully rebased and updated {state.head_name}.")
        state.remove_all()
        repository.remove_file("REBASE_HEAD")
        return 0

    def _print_change(self) -> None:
        from agentsandbox.git.diff.options import DiffOptions
        from agentsandbox.git.diff.printing import DiffPrinter
        from agentsandbox.git.trees import diff_trees

        head = self.repository.head()
        if head is None:
            return
        options = DiffOptions()
        options.formats = {"stat"}
        options.configure(self.git)
        printer = DiffPrinter(self.git, options)
        old, new = (self.objects.commit(oid).tree for oid in (self.state.orig_head, head))
        printer.print(printer.prepare(diff_trees(self.objects, old, new)))

