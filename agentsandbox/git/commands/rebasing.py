"""`git rebase`: commits made anew on top of others.

The commits of a branch that its upstream lacks become a list of picks; HEAD is detached at the new
base, the list carried out (`replaying`), and the branch moved to the result. With `-i` the editor
gets the list first.
"""

from __future__ import annotations

from agentsandbox.git.autostash import (
    apply_autostash,
    create_autostash,
    demand_clean,
    has_unstaged,
    save_autostash,
)
from agentsandbox.git.errors import BadUsage, Fatal, GitError, Plain, Quit
from agentsandbox.git.history import merge_bases
from agentsandbox.git.hooks import run_hook
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.merge_state import print_change
from agentsandbox.git.objects import EMPTY_TREE, format_commit
from agentsandbox.git.options import favored_side, parse_options
from agentsandbox.git.rebase_lists import ListMaker
from agentsandbox.git.rebase_state import AUTOSTASH, FOLDER, RebaseState
from agentsandbox.git.reflogs import fork_point
from agentsandbox.git.replaying import Replay
from agentsandbox.git.revisions import Resolver, upstream_of
from agentsandbox.git.todo import add_commands, autosquash, format_todo, parse_todo
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.kernel.streams import decode

USAGES = {
    "rebase": """
git rebase [-i] [options] [--exec <cmd>] [--onto <newbase> | --keep-base] [<upstream> [<branch>]]
   or: git rebase [-i] [options] [--exec <cmd>] [--onto <newbase>] --root [<branch>]
   or: git rebase --continue | --abort | --skip | --edit-todo

    --onto <revision>     another base than the upstream
    --keep-base           keep the base of the branch
    --no-verify           run no pre-rebase hook
    -q, --quiet           print no reports
    -v, --verbose         show what changed upstream and in the branch
    -n, --no-stat         show no diffstat
    --stat                show a diffstat of what changed upstream
    --signoff             add a Signed-off-by trailer to each commit
    --committer-date-is-author-date
                          take the author's date for the committer
    --reset-author-date   take the current date for the author
    --ignore-date         the same
    -C <n>                belongs to --apply
    --ignore-whitespace   belongs to --apply
    --whitespace <action> belongs to --apply
    -f, --force-rebase    make all commits anew, even if nothing changed
    --no-ff               the same
    --continue            go on after a conflict or a stop
    --skip                go on without the commit of the conflict
    --abort               end the rebase and go back
    --quit                end the rebase and stay where HEAD is
    --edit-todo           edit the list of an interactive rebase
    --show-current-patch  show the commit of the conflict
    --apply               not supported
    -m, --merge           merge each commit (default)
    -i, --interactive     edit the list of commits first
    --rerere-autoupdate   not supported
    --empty <{drop,keep,ask}>
                          what to do with commits that become empty
    -k, --keep-empty      keep commits that begin empty (default)
    --autosquash          put squash! and fixup! commits where they belong (with -i)
    --update-refs         not supported
    -S, --gpg-sign[=<key-id>]
                          sign the commits
    --autostash           stash local changes and apply them at the end
    -x, --exec <exec>     run a command after each commit
    -r, --rebase-merges[=<mode>]
                          make merges anew instead of leaving them out
    --fork-point          find the base by the log of the upstream
    -s, --strategy <strategy>
                          ort
    -X, --strategy-option <option>
                          which side wins conflicts: ours or theirs
    --root                all commits down to the first one
    --reschedule-failed-exec
                          put a command back that failed
    --allow-empty-message keep commits without a message (default)
    --reapply-cherry-picks
                          keep commits whose change is upstream already
""",
}
_ACTIONS = ("continue", "skip", "abort", "quit", "edit-todo", "show-current-patch")
_IN_PROGRESS = """It seems that there is already a {} directory, and
I wonder if you are in the middle of another rebase.  If that is the
case, please try
	git rebase (--continue | --abort | --skip)
If that is not the case, please
	rm -fr "{folder}"
and run me again.  I am stopping in case you still have something
valuable there.
"""


def rebase(git: Invocation, words: list[str]) -> int:
    return Rebase(git, words).run()


class Rebase:
    """One call of `git rebase`."""

    def __init__(self, git: Invocation, words: list[str]) -> None:
        self.git = git
        self.options = parse_options(USAGES["rebase"], words)
        self.words = words
        self.repository = git.repository
        self.repository.need_worktree()
        self.objects = self.repository.objects
        self.state = RebaseState(git)
        self.upstream: str | None = None
        self.upstream_name = self.onto_name = ""
        self.restrict: str | None = None
        self.switch_to = ""
        self.branch_name = "HEAD"

    def run(self) -> int:
        options, repository = self.options, self.repository
        if repository.read_file("rebase-apply/applying") is not None:
            raise Fatal("It looks like 'git am' is in progress. Cannot rebase.")
        actions = [name for name, _, _ in options.order if name in _ACTIONS]
        if len(set(actions)) > 1:
            first, second = dict.fromkeys(actions)
            raise BadUsage(f"option `{second}' is incompatible with --{first}", usage=False)
        if len(options.operands) > 2 or (actions and len(self.words) > 1):
            raise BadUsage
        in_progress = repository.fs.is_dir(repository.file(FOLDER))
        if repository.fs.is_dir(repository.file("rebase-apply")):
            raise Fatal("a rebase of the apply backend is in progress; this sandbox has only the "
                        "merge backend")  # fmt: skip
        if not actions:
            if in_progress:
                folder = f"{repository.shown_folder}/{FOLDER}"
                raise Fatal(_IN_PROGRESS.replace("{}", FOLDER).replace("{folder}", folder))
            return self._begin()
        if not in_progress:
            raise Fatal("No rebase in progress?")
        if actions[0] == "edit-todo" and not self.state.exists("interactive"):
            raise Fatal("The --edit-todo action can only be used during interactive rebase.")
        return {
            "continue": self._continue, "skip": self._skip, "abort": self._abort,
            "quit": self._quit, "edit-todo": self._edit_todo, "show-current-patch": self._show,
        }[actions[0]]()  # fmt: skip

    # a rebase in progress

    def _continue(self) -> int:
        git = self.git
        if self.repository.head() is None:
            raise Fatal("Cannot read HEAD")
        for path in self.repository.index().unmerged():
            git.print(f"{decode(path)}: needs merge")
        if has_unstaged(git):
            git.print("You must edit all merge conflicts and then")
            git.print("mark them as resolved using git add")
            return 1
        return 1 if Replay(git, self.state).go_on() else 0

    def _reset(self, oid: str) -> None:
        tree = self.objects.commit(oid).tree
        switch_trees(self.git, None, tree, action="reset", reset=True, one_way=True)
        self.repository.remove_file(
            "CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_HEAD", "MERGE_RR", "MERGE_MSG", "MERGE_MODE",
            "SQUASH_MSG", "AUTO_MERGE",
        )

    def _skip(self) -> int:
        head = self.repository.head()
        if head is None:
            raise Fatal("could not discard worktree changes")
        self._reset(head)
        return 1 if Replay(self.git, self.state).go_on() else 0

    def _abort(self) -> int:
        git, state, repository = self.git, self.state, self.repository
        state.load()
        if state.orig_head not in self.objects:
            raise Fatal(f"could not move back to {state.orig_head}")
        self._reset(state.orig_head)
        action = git.env.get("GIT_REFLOG_ACTION") or "rebase"
        if state.head_name.startswith("refs/"):
            message = f"{action} (abort): returning to {state.head_name}"
            repository.refs.write_symbolic("HEAD", state.head_name, message)
            if repository.refs.read(state.head_name) != state.orig_head:
                repository.refs.write(state.head_name, state.orig_head, message)
        else:
            message = f"{action} (abort): returning to {state.orig_head}"
            repository.refs.write("HEAD", state.orig_head, message, deref=False)
        repository.refs.delete("REBASE_HEAD")
        apply_autostash(git, AUTOSTASH)
        state.remove_all()
        return 0

    def _quit(self) -> int:
        save_autostash(self.git, AUTOSTASH)
        self.state.remove_all()
        return 0

    def _edit_todo(self) -> int:
        git, state = self.git, self.state
        text = state.read("git-rebase-todo") or ""
        from agentsandbox.git.texts import strip_space
        from agentsandbox.kernel.streams import encode

        text = decode(strip_space(encode(text), b"#"))
        items, valid = parse_todo(git, text, continued=state.exists("done"))
        replay = Replay(git, state)
        found = replay.edit_list(items, incorrect=not valid or state.exists("dropped"))
        if found is None or isinstance(found, str):
            return 1
        letters = git.config.flag("rebase.abbreviatecommands")
        state.write(
            "git-rebase-todo", format_todo(self.repository, found, short=False, letters=letters)
        )
        return 0

    def _show(self) -> int:
        from agentsandbox.git.commands.logging import COMMANDS

        return int(COMMANDS["show"](self.git, ["REBASE_HEAD", "--"]))

    # a new one

    def _begin(self) -> int:
        # long: git's order of steps
        git, options, state = self.git, self.options, self.state
        self._check()
        self._find_upstream()
        if not options.on("keep-base"):
            self._find_onto()
        self._find_branch()
        if options.on("keep-base"):
            self.onto_name = f"{self.upstream_name}...{self.branch_name}"
            self._find_onto()
        fork = options.on("fork-point") or (
            not options.given("fork-point")
            and not options.operands
            and not options.on("root")
            and git.config.flag("rebase.forkpoint", True)
        )
        if fork and self.upstream_name:
            self.restrict = fork_point(self.repository, self.upstream_name, state.orig_head)
        stashes = options.on("autostash", git.config.flag("rebase.autostash"))
        if stashes:
            create_autostash(git, AUTOSTASH)
        if not demand_clean(git, "rebase", "Please commit or stash them."):
            self._end()
            return 1
        if self._may_stay() and self._is_based():
            if not state.forces:
                self._stay()
                return 0
            if not state.quiet:
                who = "HEAD is" if self.branch_name == "HEAD" else (
                    f"Current branch {self.branch_name} is"
                )  # fmt: skip
                git.print(f"{who} up to date, rebase forced.")
        if not options.on("no-verify") and run_hook(
            self.repository, "pre-rebase", self.upstream_arg,
            *([self.switch_to] if self.switch_to else []),
        ):
            self._end()
            raise Fatal("The pre-rebase hook refused to rebase.")
        self._print_upstream()
        return self._run()

    def _check(self) -> None:
        # long: one option after the other
        options, state, config = self.options, self.state, self.git.config
        for name in ("C", "ignore-whitespace", "whitespace", "apply"):
            if options.given(name) and not options.off(name):
                dashes = "-" if name == "C" else "--"
                raise Fatal(
                    f"git rebase {dashes}{name} is not supported in this sandbox: it has only the "
                    "merge backend"
                )
        if config.get("rebase.backend", "merge") not in ("merge", ""):
            raise Fatal("rebase.backend=apply is not supported in this sandbox")
        if options.on("rerere-autoupdate"):
            raise Fatal("git rebase --rerere-autoupdate is not supported in this sandbox")
        if options.on("update-refs", config.flag("rebase.updaterefs")):
            raise Fatal("git rebase --update-refs is not supported in this sandbox")
        if favor := favored_side(options):
            state.favor, state.strategy = favor, "ort"
        if options.given("strategy"):
            state.strategy = options.text("strategy")
        if options.on("keep-base"):
            if options.given("onto"):
                raise Fatal("options '--keep-base' and '--onto' cannot be used together")
            if options.on("root"):
                raise Fatal("options '--keep-base' and '--root' cannot be used together")
        if options.on("root") and options.on("fork-point"):
            raise Fatal("options '--root' and '--fork-point' cannot be used together")
        for command in options.all("exec"):
            if not command.strip():
                raise GitError("empty exec command")
            if "\n" in command:
                raise GitError("exec commands cannot contain newlines")
        if options.given("reschedule-failed-exec") and not (
            options.given("exec") or options.on("interactive")
        ):
            raise Fatal("--reschedule-failed-exec requires --exec or --interactive")
        mode = options.get("rebase-merges")
        if mode not in (None, "", "no-rebase-cousins", "rebase-cousins"):
            raise Fatal(f"Unknown mode: {mode}")
        state.reschedules = options.on(
            "reschedule-failed-exec", config.flag("rebase.reschedulefailedexec")
        )
        empty = options.get("empty")
        if empty not in (None, "drop", "keep", "ask"):
            raise Fatal(
                f"unrecognized empty type '{empty}'; valid values are \"drop\", \"keep\", and "
                '"ask".'
            )
        if empty is None:
            empty = "ask" if options.on("interactive") else "keep" if options.given("exec") else (
                "drop"
            )  # fmt: skip
        state.drop_redundant = empty == "drop"
        state.keep_redundant = empty == "keep"
        state.quiet = options.on("quiet")
        state.verbose = options.on("verbose") and not state.quiet
        state.signoff = options.on("signoff")
        state.author_dates = options.on("committer-date-is-author-date")
        state.ignore_date = options.on("reset-author-date") or options.on("ignore-date")
        state.forces = (
            state.signoff or state.author_dates or state.ignore_date
            or options.on("force-rebase") or options.on("no-ff")
        )  # fmt: skip

    def _commit(self, name: str) -> str | None:
        found = Resolver(self.git).find(name, kind="commit")
        return self.objects.peel(found, "commit") if found is not None else None

    def _find_upstream(self) -> None:
        options = self.options
        self.upstream_arg = "--root"
        if options.on("root"):
            if not options.given("onto"):
                ident = self.repository.ident("committer")
                author = self.repository.ident("author")
                self.state.squash_onto = self.objects.write(
                    "commit", format_commit(EMPTY_TREE, [], author, ident, b"")
                )
                self.onto_name = self.state.squash_onto
            return
        if options.operands:
            self.upstream_name = options.operands[0]
            if self.upstream_name == "-":
                self.upstream_name = "@{-1}"
        else:
            self.upstream_name = self._configured_upstream()
        self.upstream = self._commit(self.upstream_name)
        if self.upstream is None:
            raise Fatal(f"invalid upstream '{self.upstream_name}'")
        self.upstream_arg = self.upstream_name

    def _configured_upstream(self) -> str:
        git, repository = self.git, self.repository
        full = repository.branch()
        found = upstream_of(repository, full.removeprefix("refs/heads/")) if full else None
        if found is not None:
            return found
        git.print(
            "There is no tracking information for the current branch."
            if full
            else "You are not currently on a branch."
        )
        git.print(
            "Please specify which branch you want to rebase against.\n"
            "See git-rebase(1) for details.\n\n    git rebase '<branch>'\n"
        )
        if full:
            from agentsandbox.git.remotes import remote_names

            names = remote_names(git)
            remote = names[0] if len(names) == 1 else "<remote>"
            git.print(
                "If you wish to set tracking information for this branch you can do so with:\n\n"
                f"    git branch --set-upstream-to={remote}/<branch> "
                f"{full.removeprefix('refs/heads/')}\n"
            )
        raise Quit(1)

    def _find_onto(self) -> None:
        options, state = self.options, self.state
        if not self.onto_name:
            self.onto_name = options.text("onto") or self.upstream_name
        if "..." in self.onto_name:
            left, _, right = self.onto_name.partition("...")
            one, two = self._commit(left or "HEAD"), self._commit(right or "HEAD")
            bases = merge_bases(self.repository, one, [two]) if one and two else []
            if len(bases) != 1:
                raise Fatal(
                    f"'{self.upstream_name}': need exactly one merge base with branch"
                    if options.on("keep-base")
                    else f"'{self.onto_name}': need exactly one merge base"
                )
            state.onto = bases[0]
            return
        onto = self._commit(self.onto_name)
        if onto is None:
            raise Fatal(f"Does not point to a valid commit '{self.onto_name}'")
        state.onto = onto

    def _find_branch(self) -> None:
        options, state, refs = self.options, self.state, self.repository.refs
        names = options.operands if options.on("root") else options.operands[1:]
        if len(names) > 1:
            raise BadUsage
        if names:
            name = self.switch_to = self.branch_name = names[0]
            oid = refs.read(f"refs/heads/{name}")
            if oid is not None:
                state.head_name = f"refs/heads/{name}"
            else:
                oid = self._commit(name)
                state.head_name = "detached HEAD"
            if oid is None:
                raise Fatal(f"no such branch/commit '{name}'")
            state.orig_head = oid
            return
        branch = self.repository.branch()
        state.head_name = branch or "detached HEAD"
        self.branch_name = branch.removeprefix("refs/heads/") if branch else "HEAD"
        head = self.repository.head()
        if head is None:
            raise Fatal("Could not resolve HEAD to a commit")
        state.orig_head = head

    def _end(self) -> None:
        """End before anything was done."""
        apply_autostash(self.git, AUTOSTASH)
        self.state.remove_all()

    # nothing to do

    def _may_stay(self) -> bool:
        options = self.options
        return not (
            options.on("interactive")
            or options.given("exec")
            or self._autosquashes()
        )

    def _autosquashes(self) -> bool:
        return self.options.on("autosquash", self.git.config.flag("rebase.autosquash"))

    def _is_based(self) -> bool:
        """Whether the branch is a line of commits on top of the new base already."""
        repository, state = self.repository, self.state
        if merge_bases(repository, state.onto, [state.orig_head]) != [state.onto]:
            return False
        if self.restrict is not None and self.restrict != state.onto:
            return False
        if self.upstream is None:
            return False
        if merge_bases(repository, self.upstream, [state.orig_head]) != [state.onto]:
            return False
        here = state.orig_head
        while here != state.onto:
            self.git.budget.step()
            parents = repository.parents(here)
            if len(parents) != 1:
                return not parents
            here = parents[0]
        return True

    def _stay(self) -> None:
        git, state = self.git, self.state
        if self.switch_to:
            self._switch()
        if not state.quiet:
            if self.branch_name == "HEAD":
                git.print("HEAD is up to date.")
            else:
                git.print(f"Current branch {self.branch_name} is up to date.")
        git.flush()
        self._end()

    def _switch(self) -> None:
        """Check the branch of the command line out."""
        repository, state = self.repository, self.state
        head = repository.head()
        old = self.objects.commit(head).tree if head is not None else None
        try:
            switch_trees(
                self.git, old, self.objects.commit(state.orig_head).tree, action="checkout"
            )
        except Plain as error:
            self.git.say(error.message)
            self._end()
            raise GitError(f"could not switch to {self.switch_to}") from None
        action = self.git.env.get("GIT_REFLOG_ACTION") or "rebase"
        message = f"{action}: checkout {self.switch_to}"
        if state.head_name.startswith("refs/"):
            before = head or "0" * 40
            repository.refs.write_symbolic("HEAD", state.head_name)
            repository.refs.log("HEAD", before, state.orig_head, message)
        else:
            repository.refs.write("HEAD", state.orig_head, message, deref=False)
        run_hook(repository, "post-checkout", head or "0" * 40, state.orig_head, "1")

    def _print_upstream(self) -> None:
        """Print what changed from the old base to the new one."""
        options, state, git = self.options, self.state, self.git
        shown = state.verbose or git.config.flag("rebase.stat")
        for name, _, negated in options.order:
            if name in ("stat", "no-stat", "quiet", "verbose"):
                shown = not negated if name in ("stat", "verbose") else negated
        if not shown:
            return
        bases = merge_bases(self.repository, state.onto, [state.orig_head])
        base = bases[0] if len(bases) == 1 else None
        if state.verbose:
            if base is None:
                git.print(f"Changes to {state.onto}:")
            else:
                git.print(f"Changes from {base} to {state.onto}:")
        print_change(git, base, state.onto)
        git.flush()

    # the list

    def _run(self) -> int:
        git, options, state, repository = self.git, self.options, self.state, self.repository
        repository.fs.makedirs(repository.file(FOLDER), 0o777 & ~git.ctx.umask)
        repository.refs.delete("REBASE_HEAD")
        state.write("interactive", "")
        state.save()
        if state.squash_onto:
            state.write("squash-onto", state.squash_onto)
        replay = Replay(git, state)
        base = self.upstream or state.onto
        maker = ListMaker(
            git, base, state.orig_head, self.restrict,
            keep_empty=not options.off("keep-empty"),
            reapplies=options.on("reapply-cherry-picks", options.on("keep-base")),
        )  # fmt: skip
        if options.on("rebase-merges"):
            items = maker.with_merges(
                cousins=options.get("rebase-merges") == "rebase-cousins",
                root_onto=options.on("root") and not state.squash_onto,
            )
        else:
            items = maker.picks()
        if options.on("interactive") and self._autosquashes():
            items = autosquash(git, items)
        if options.given("exec"):
            items = add_commands(items, options.all("exec"))
        short = repository.short
        if self.upstream is not None or not state.squash_onto:
            revisions = f"{short(base)}..{short(state.orig_head)}"
        else:
            revisions = short(state.orig_head)
        head = repository.head()
        old = self.objects.commit(head).tree if head is not None else EMPTY_TREE
        return replay.start(
            items, revisions=revisions, onto_name=self.onto_name,
            edits=options.on("interactive"), old_tree=old,
        )  # fmt: skip


COMMANDS = {"rebase": rebase}
