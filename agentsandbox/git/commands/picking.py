"""`git cherry-pick` and `revert`.

Picking a commit merges it into HEAD with its parent as the base; reverting one merges its parent,
with the commit as the base. With more than one commit `.git/sequencer` holds where it began
(`head`) and what is left (`todo`), so that it can go on after a conflict.
"""

from __future__ import annotations

from agentsandbox.git.commands.committing import print_summary
from agentsandbox.git.errors import BadUsage, Fatal, GitError, Quit
from agentsandbox.git.history import Walk
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.merge_state import (
    conflict_lines,
    print_texts,
    put_merge,
    refuse_unmerged,
    staged_paths,
)
from agentsandbox.git.merging import Options as HowToMerge
from agentsandbox.git.merging import TreeMerge
from agentsandbox.git.objects import EMPTY_TREE, format_commit
from agentsandbox.git.options import favored_side, parse_options
from agentsandbox.git.revisions import Resolver
from agentsandbox.git.texts import clean_message, subject_of
from agentsandbox.git.trailers import with_trailer
from agentsandbox.git.trees import write_index_tree
from agentsandbox.kernel.streams import decode, encode

_SHARED = """    --quit                forget the operation in progress
    --continue            go on after a conflict
    --abort               end the operation in progress and go back
    --skip                go on without the commit of the conflict
    --cleanup <mode>      how to clean the message
    -n, --no-commit       change index and worktree, and make no commit
    -e, --edit            edit the message
    -s, --signoff         add a Signed-off-by trailer
    -m, --mainline <n>    the parent of a merge with which it is compared
    -X, --strategy-option <option>
                          which side wins conflicts: ours or theirs
    --strategy <strategy> ort
    -S, --gpg-sign[=<key-id>]
                          sign the commit
"""
USAGES = {
    "cherry-pick": """
git cherry-pick [<options>] <commit>...
   or: git cherry-pick (--continue | --skip | --abort | --quit)

"""
    + _SHARED
    + """    -x                    note the name of the commit in the message
    --ff                  fast-forward where that is possible
    --allow-empty         keep commits without changes
    --allow-empty-message keep commits without a message
    --keep-redundant-commits
                          keep commits whose changes are there already
""",
    "revert": """
git revert [<options>] <commit>...
   or: git revert (--continue | --skip | --abort | --quit)

"""
    + _SHARED,
}
_HEADS = {"cherry-pick": "CHERRY_PICK_HEAD", "revert": "REVERT_HEAD"}
_CLEANUPS = {
    "default": "strip", "strip": "strip", "whitespace": "whitespace", "scissors": "whitespace",
    "verbatim": "verbatim",
}  # fmt: skip
_STATE = ("CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_MSG", "sequencer")


def cherry_pick(git: Invocation, words: list[str]) -> int:
    return _Picking(git, "cherry-pick", words).run()


def revert(git: Invocation, words: list[str]) -> int:
    return _Picking(git, "revert", words).run()


class _Picking:
    """One call of `git cherry-pick` or `git revert`."""

    def __init__(self, git: Invocation, name: str, words: list[str]) -> None:
        self.git = git
        self.name = name
        self.options = parse_options(USAGES[name], words)
        self.repository = git.repository
        self.repository.need_worktree()
        self.favor = ""

    def run(self) -> int:
        options = self.options
        for name, action in (
            ("quit", self._quit), ("continue", self._continue), ("abort", self._abort),
            ("skip", self._skip),
        ):  # fmt: skip
            if options.on(name):
                if options.operands:
                    raise BadUsage
                return action()
        if favor := favored_side(options):
            self.favor = favor
        if options.text("cleanup", "default") not in _CLEANUPS:
            raise Fatal(f"Invalid cleanup mode {options.text('cleanup')}")
        if not options.operands:
            raise BadUsage
        commits = self._commits(options.operands)
        if self.repository.read_file("sequencer/todo") is not None:
            self.git.error(f"{self._in_progress()} is already in progress")
            self.git.hint('try "git cherry-pick (--continue | --abort | --quit)"', "sequencerInUse")
            raise Fatal(f"{self.name} failed")
        refuse_unmerged(self.git, {"revert": "Reverting"}.get(self.name, "Cherry-picking"))
        if len(commits) > 1:
            self._write_todo(commits, first=True)
        return self._pick_all(commits, several=len(commits) > 1)

    def _in_progress(self) -> str:
        todo = self.repository.read_file("sequencer/todo") or ""
        return "revert" if todo.startswith("revert") else "cherry-pick"

    # which commits

    def _commits(self, words: list[str]) -> list[str]:
        if not any(".." in word or word.startswith("^") for word in words):
            return [self._commit(word) for word in words]
        walk = Walk(self.repository)
        for word in words:
            if word.startswith("^"):
                walk.hidden.append(self._commit(word[1:]))
            elif ".." in word:
                before, _, after = word.partition("..")
                if after.startswith("."):
                    raise Fatal(f"{word}: a symmetric difference is not supported here")
                walk.hidden.append(self._commit(before or "HEAD"))
                walk.tips.append(self._commit(after or "HEAD"))
            else:
                walk.tips.append(self._commit(word))
        walk.reverse = self.name == "cherry-pick"
        found = list(walk.run())
        if not found:
            self.git.error("empty commit set passed")
            raise Fatal(f"{self.name} failed")
        return found

    def _commit(self, word: str) -> str:
        found = Resolver(self.git).find(word, kind="commit")
        oid = self.repository.objects.peel(found, "commit") if found is not None else None
        if oid is None:
            raise Fatal(f"bad revision '{word}'")
        return oid

    # state

    def _write_todo(self, commits: list[str], *, first: bool = False) -> None:
        repository = self.repository
        word = "pick" if self.name == "cherry-pick" else "revert"
        if first:
            repository.write_file("sequencer/head", f"{repository.head() or '0' * 40}\n")
        lines = [
            f"{word} {repository.short(oid)} "
            f"{decode(subject_of(repository.readable(oid).message))}\n"
            for oid in commits
        ]
        repository.write_file("sequencer/todo", "".join(lines))
        flags = ["no-commit", "edit", "signoff", "allow-empty", "keep-redundant-commits", "x"]
        known = [name for name in flags if self.options.on(name)]
        if first and known:
            body = "".join([f"\t{_SETTINGS[name]} = true\n" for name in known])
            repository.write_file("sequencer/opts", f"[options]\n{body}")

    def _read_todo(self) -> list[str]:
        text = self.repository.read_file("sequencer/todo") or ""
        options = self.repository.read_file("sequencer/opts") or ""
        for name, key in _SETTINGS.items():
            if f"\t{key} = true" in options:
                self.options.counts[name] = 1
        return [self._commit(line.split(" ")[1]) for line in text.split("\n") if " " in line]

    def _pick_all(self, commits: list[str], *, several: bool) -> int:
        for at, oid in enumerate(commits):
            self.git.budget.step()
            if several:
                self._write_todo(commits[at:])
            try:
                status = self._pick(oid)
            except GitError as error:
                if not isinstance(error, Quit):
                    self.git.say(f"{error.prefix}{error.message}")
                raise Fatal(f"{self.name} failed") from None
            if status:
                return status
        self.repository.remove_file("sequencer")
        return 0

    def _fail(self) -> Fatal:
        return Fatal(f"{self.name} failed")

    def _quit(self) -> int:
        self.repository.remove_file("sequencer", "CHERRY_PICK_HEAD", "REVERT_HEAD")
        return 0

    def _is_active(self) -> bool:
        repository = self.repository
        return (
            repository.read_file("sequencer/todo") is not None
            or repository.read_file("CHERRY_PICK_HEAD") is not None
            or repository.read_file("REVERT_HEAD") is not None
        )

    def _demand_active(self) -> None:
        if not self._is_active():
            self.git.error("no cherry-pick or revert in progress")
            raise self._fail()

    def _continue(self) -> int:
        from agentsandbox.git.commands.committing import commit

        self._demand_active()
        repository = self.repository
        several = repository.read_file("sequencer/todo") is not None
        left = self._read_todo()
        if any(repository.read_file(name) is not None for name in _HEADS.values()):
            status = commit(self.git, [])
            if status:
                return status
        left = left[1:]
        return self._pick_all(left, several=several) if left else self._quit()

    def _abort(self) -> int:
        from agentsandbox.git.commands.resetting import reset

        self._demand_active()
        head = (self.repository.read_file("sequencer/head") or "").strip()
        if not head:
            head = self.repository.head() or ""
        status = reset(self.git, ["--merge", *([head] if head.strip("0") else [])])
        self.repository.remove_file(*_STATE)
        return status

    def _skip(self) -> int:
        from agentsandbox.git.commands.resetting import reset

        if self.repository.read_file(_HEADS[self.name]) is None and (
            self.repository.read_file("sequencer/todo") is None
        ):
            self.git.error(f"no {self.name} in progress")
            raise self._fail()
        several = self.repository.read_file("sequencer/todo") is not None
        left = self._read_todo()[1:]
        head = self.repository.head()
        status = reset(self.git, ["--merge", *([head] if head is not None else [])])
        if status:
            return status
        return self._pick_all(left, several=several) if left else self._quit()

    # one commit

    def _parent(self, oid: str) -> str | None:
        parents = self.repository.parents(oid)
        number = self.options.number("mainline", 0)
        if len(parents) > 1 and not number:
            raise GitError(f"commit {oid} is a merge but no -m option was given.")
        if number > max(1, len(parents)):
            raise GitError(f"commit {oid} does not have parent {number}")
        return parents[max(number, 1) - 1] if parents else None

    def _pick(self, oid: str) -> int:
        # long: the steps of one merge, in git's order
        git, repository, objects = self.git, self.repository, self.repository.objects
        head = repository.head()
        ours = objects.commit(head).tree if head is not None else EMPTY_TREE
        if self.options.on("no-commit"):
            ours = write_index_tree(repository, repository.index())
        elif staged_paths(git, ours if head is not None else None):
            git.error(f"your local changes would be overwritten by {self.name}.")
            git.hint("commit your changes or stash them to proceed.", "commitBeforeMerge")
            raise Quit(128)
        parent = self._parent(oid)
        if self.options.on("ff") and head is not None and parent == head:
            from agentsandbox.git.unpacking import switch_trees

            switch_trees(git, ours, objects.commit(oid).tree, action="merge")
            repository.refs.write("HEAD", oid, "cherry-pick: fast-forward", old=head)
            return 0
        before = objects.commit(parent).tree if parent is not None else EMPTY_TREE
        subject = decode(subject_of(self.repository.readable(oid).message))
        label = f"{repository.short(oid)} ({subject})"
        how = HowToMerge(repository)
        how.favor = self.favor
        if self.name == "cherry-pick":
            work = TreeMerge(repository, ("HEAD", f"parent of {label}", label), how)
            merged = work.run(before, ours, objects.commit(oid).tree)
        else:
            work = TreeMerge(repository, ("HEAD", label, f"parent of {label}"), how)
            merged = work.run(objects.commit(oid).tree, ours, before)
        put_merge(git, ours, merged)
        print_texts(git, merged)
        message = self._message(oid, parent, subject)
        if not merged.is_clean:
            lines = encode(conflict_lines(list(merged.stages)))
            repository.write_file("MERGE_MSG", message + lines)
            if self.name == "revert" or not self.options.on("no-commit"):
                repository.write_file(_HEADS[self.name], f"{oid}\n")
            self._advise(oid, subject)
            return 1
        if self.options.on("no-commit"):
            repository.write_file("MERGE_MSG", message)
            if self.name == "revert":
                repository.write_file("REVERT_HEAD", f"{oid}\n")
            return 0
        return self._make(oid, message, merged.tree, head, is_empty=self._is_empty(
            oid, before, merged.tree, ours))  # fmt: skip

    def _is_empty(self, oid: str, before: str, tree: str, ours: str) -> bool:
        """Whether the new commit has no changes and must not be made."""
        if tree != ours or self.options.on("keep-redundant-commits"):
            return False
        was_empty = self.repository.objects.commit(oid).tree == before
        return not (was_empty and self.options.on("allow-empty"))

    def _message(self, oid: str, parent: str | None, subject: str) -> bytes:
        repository = self.repository
        if self.name == "cherry-pick":
            text = repository.readable(oid).message
            if self.options.on("x"):
                text = with_trailer(text, encode(f"(cherry picked from commit {oid})"))
        else:
            body = f"This reverts commit {oid}"
            if len(repository.parents(oid)) > 1:
                body += f", reversing\nchanges made to {parent}"
            text = encode(f'Revert "{subject}"\n\n{body}.\n')
        if self.options.on("signoff"):
            ident = repository.ident("committer").rpartition(b">")[0] + b">"
            text = with_trailer(text, b"Signed-off-by: " + ident)
        return text

    def _advise(self, oid: str, subject: str) -> None:
        git, name = self.git, self.name
        word = "apply" if name == "cherry-pick" else "revert"
        git.flush()
        git.error(f"could not {word} {self.repository.short(oid)}... {subject}")
        if self.options.on("no-commit"):
            git.hint(
                "after resolving the conflicts, mark the corrected paths\n"
                "with 'git add <paths>' or 'git rm <paths>'",
                "mergeConflict",
            )
            return
        git.hint(
            "After resolving the conflicts, mark them with\n"
            '"git add/rm <pathspec>", then run\n'
            f'"git {name} --continue".\n'
            f'You can instead skip this commit with "git {name} --skip".\n'
            f'To abort and get back to the state before "git {name}",\n'
            f'run "git {name} --abort".',
            "mergeConflict",
        )

    def _make(
        self, oid: str, message: bytes, tree: str, head: str | None, *, is_empty: bool
    ) -> int:
        from agentsandbox.git.commands.committing import commit

        git, repository = self.git, self.repository
        if is_empty or self.options.on("edit"):
            repository.write_file("MERGE_MSG", message)
            if self.name == "cherry-pick":
                repository.write_file(_HEADS[self.name], f"{oid}\n")
            git.env.setdefault("GIT_REFLOG_ACTION", self.name)
            return commit(git, ["-e"] if self.options.on("edit") else ["--no-edit"])
        if self.options.given("cleanup"):
            message = clean_message(message, _CLEANUPS[self.options.text("cleanup")])
        old = repository.readable(oid)
        author = old.author if self.name == "cherry-pick" else repository.ident("author")
        made = repository.objects.write(
            "commit",
            format_commit(
                tree, [head] if head is not None else [], author, repository.ident("committer"),
                message,
            ),
        )  # fmt: skip
        subject = decode(subject_of(message))
        repository.refs.write("HEAD", made, f"{self.name}: {subject}", old=head or "0" * 40)
        repository.remove_file("CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_MSG")
        print_summary(git, made, is_initial=False, date=True)
        return 0


_SETTINGS = {
    "no-commit": "no-commit", "edit": "edit", "signoff": "signoff", "allow-empty": "allow-empty",
    "keep-redundant-commits": "keep-redundant-commits", "x": "record-origin",
}  # fmt: skip

COMMANDS = {"cherry-pick": cherry_pick, "revert": revert}
