"""What the items of a rebase have in common: merging, making commits, moving HEAD."""

from __future__ import annotations

from agentsandbox.git.errors import GitError, Quit
from agentsandbox.git.hooks import hook_path, run_hook
from agentsandbox.git.merge_state import print_texts, put_merge
from agentsandbox.git.merging import Options as HowToMerge
from agentsandbox.git.merging import TreeMerge
from agentsandbox.git.objects import format_commit
from agentsandbox.git.pretty import Person
from agentsandbox.git.squashing import body_from_subject
from agentsandbox.git.texts import strip_space, subject_of
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.merging import Merged
    from agentsandbox.git.rebase_state import RebaseState
    from agentsandbox.git.todo import Item


_STAGED = """you have staged changes in your working tree
If these changes are meant to be squashed into the previous commit, run:

  git commit --amend 

If they are meant to go into a new commit, run:

  git commit 

In both cases, once you're done, continue with:

  git rebase --continue
"""  # noqa: W291


class Commits:
    """Makes commits of a rebase and moves HEAD to them."""

    def __init__(self, git: Invocation, state: RebaseState) -> None:
        self.git = git
        self.state = state
        self.repository = git.repository
        self.objects = git.repository.objects
        self.action = git.env.get("GIT_REFLOG_ACTION") or "rebase"
        self.merge_action = self.action
        """What git writes into the reflog for a merge: as for the pick or reset before it."""
        self.has_picked = False

    def message(self, step: str, text: str = "") -> str:
        """Return a line of the reflog, or its beginning: "rebase (pick)"."""
        return f"{self.action} ({step})" + (f": {text}" if text else "")

    def describe(self, oid: str) -> None:
        """Write the files about a commit at which the rebase stops."""
        from agentsandbox.git.diff.options import DiffOptions
        from agentsandbox.git.diff.printing import DiffPrinter
        from agentsandbox.git.trees import diff_trees

        state = self.state
        state.write("stopped-sha", f"{oid}\n")
        self.repository.refs.write("REBASE_HEAD", oid, "")
        commit = self.repository.readable(oid)
        parents = self.repository.parents(oid)
        quiet = self.git.child(quiet=True)
        if len(parents) < 2:
            options = DiffOptions()
            options.formats, options.color = {"patch"}, "never"
            options.configure(quiet)
            base = self.objects.commit(parents[0]).tree if parents else None
            printer = DiffPrinter(quiet, options)
            printer.print(printer.prepare(diff_trees(self.objects, base, commit.tree)))
            quiet.flush()
        state.write("patch", b"".join(quiet.sink or ()))
        if not state.exists("message"):
            state.write("message", body_from_subject(commit.message) + "\n")

    def demand_staged(self, tree: str) -> None:
        """End the command if the index is not that of a tree."""
        from agentsandbox.git.merge_state import staged_paths

        if staged_paths(self.git, tree):
            self.git.error("your local changes would be overwritten by rebase.")
            self.git.hint("commit your changes or stash them to proceed.", "commitBeforeMerge")
            raise Quit(1)

    def merge(self, item: Item, before: str, ours: str, theirs: str) -> Merged:
        """Merge the change of an item's commit into index and worktree; return the result."""
        assert item.oid is not None
        how = HowToMerge(self.repository)
        how.favor = self.state.favor
        subject = decode(subject_of(self.repository.readable(item.oid).message))
        label = f"{self.repository.short(item.oid)} ({subject})"
        work = TreeMerge(self.repository, ("HEAD", f"parent of {label}", label), how)
        merged = work.run(before, ours, theirs)
        put_merge(self.git, ours, merged)
        self.repository.write_file("AUTO_MERGE", f"{merged.tree}\n")
        if not merged.is_clean:
            print_texts(self.git, merged)
        self.git.flush()
        return merged

    def signed(self, message: bytes) -> bytes:
        """Return a message with the trailer of --signoff."""
        from agentsandbox.git.trailers import with_trailer

        return with_trailer(message, encode(self.signoff()))

    def signoff(self) -> str:
        """Return the trailer of --signoff."""
        ident = self.repository.ident("committer").rpartition(b">")[0] + b">"
        return "Signed-off-by: " + decode(ident)

    def commit(
        self, step: str, message: bytes, tree: str, parents: list[str], author: bytes,
        head: str | None, *, amends: str | None = None,
    ) -> None:  # fmt: skip
        """Write a commit and move HEAD to it."""
        repository, state = self.repository, self.state
        if hook_path(repository, "prepare-commit-msg"):
            message = self._prepared(message)
        if state.signoff:
            message = strip_space(message)
        date = None
        if state.ignore_date:
            author = author.rpartition(b"> ")[0] + b"> " + self._now()
        elif state.author_dates:
            person = Person(author)
            date = f"@{person.seconds} {person.zone:+05d}"
        committer = repository.ident("committer", date=date)
        if state.ignore_date and state.author_dates:
            committer = committer.rpartition(b"> ")[0] + b"> " + self._now()
        data = format_commit(tree, parents, author, committer, message)
        made = self.objects.write("commit", data)
        first = decode(message.partition(b"\n")[0])
        repository.refs.write(
            "HEAD", made, f"{self.message(step)}: {first}", old=head or "0" * 40
        )  # fmt: skip
        repository.remove_file("CHERRY_PICK_HEAD", "MERGE_MSG")
        run_hook(repository, "post-commit")
        if amends is not None:
            run_hook(repository, "post-rewrite", "amend", stdin=encode(f"{amends} {made}\n"))

    def _now(self) -> bytes:
        from agentsandbox.git.repository import ident_date

        return ident_date(self.git, "", None)

    def _prepared(self, message: bytes) -> bytes:
        repository = self.repository
        repository.write_file("COMMIT_EDITMSG", message)
        shown = f"{repository.shown_folder}/COMMIT_EDITMSG"
        if run_hook(repository, "prepare-commit-msg", shown, "message"):
            raise GitError("'prepare-commit-msg' hook failed")
        return encode(repository.read_file("COMMIT_EDITMSG") or "")

    def fast_forward(self, oid: str, ours: str, head: str | None) -> None:
        """Take a commit as it is."""
        switch_trees(self.git, ours, self.objects.commit(oid).tree, action="merge")
        self.repository.refs.write(
            "HEAD", oid, "rebase: fast-forward", old=head or "0" * 40, deref=False
        )

    def run_commit(
        self, step: str, words: list[str], *, author: bool = False, quiet: bool = False
    ) -> int:
        """Run `git commit`; with `quiet` its output is shown only if it fails."""
        from agentsandbox.git.commands.committing import commit

        git, state = self.git, self.state
        env = {"GIT_REFLOG_ACTION": self.merge_action if step == "merge" else self.message(step)}
        if author:
            found = state.author()
            if found is None:
                git.error(_STAGED.rstrip("\n"))
                return 1
            env |= found
            if state.author_dates:
                env["GIT_COMMITTER_DATE"] = "" if state.ignore_date else found["GIT_AUTHOR_DATE"]
            if state.ignore_date:
                env["GIT_AUTHOR_DATE"] = ""
        child = git.child(env, quiet=quiet)
        child.name = "commit"
        try:
            status = commit(child, words)
        except GitError as error:
            if not isinstance(error, Quit):
                child.say(f"{error.prefix}{error.message}")
            status = error.status
        child.flush()
        if status and quiet:
            git.say_raw("".join([decode(piece) for piece in child.sink or ()]))
        return status
