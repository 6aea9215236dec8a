"""`git checkout`, `switch`, `restore`."""

from __future__ import annotations

import re

from agentsandbox.git.branches import set_upstream
from agentsandbox.git.commands.adding import pathspec_words
from agentsandbox.git.commands.comparing import tree_to_worktree
from agentsandbox.git.diff.options import DiffOptions
from agentsandbox.git.errors import Fatal, MissingObject, Plain, Quit
from agentsandbox.git.history import Walk
from agentsandbox.git.hooks import run_hook
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.modules import refuse_recursion
from agentsandbox.git.objects import NULL
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import Pathspec, quote_path
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.refs import is_branch_name
from agentsandbox.git.remotes import remote_names
from agentsandbox.git.revisions import (
    Resolver,
    branch_named,
    find_ref,
    tracking_ref,
    verify_not_filename,
)
from agentsandbox.git.status import tracking_text
from agentsandbox.git.texts import subject_of
from agentsandbox.git.trees import flat_tree
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.git.worktree import Worktree
from agentsandbox.git.worktrees import checked_out_elsewhere
from agentsandbox.kernel.streams import decode, encode

_COMMON = """    -q, --quiet           print no reports
    --progress            show progress
    -m, --merge           merge local changes with the new branch
    --conflict <style>    the style of conflicts
    --recurse-submodules  update submodules
"""
USAGES = {
    "checkout": """
git checkout [<options>] <branch>
   or: git checkout [<options>] [<branch>] -- <file>...

    -b <branch>           make a branch and switch to it
    -B <branch>           make or reset a branch and switch to it
    -l                    make a log
    --guess               guess a branch by its remote name
    --overlay             keep files that the tree does not have
"""
    + _COMMON
    + """    -d, --detach          detach HEAD
    -t, --track[=(direct|inherit)]
                          set the upstream
    -f, --force           throw local changes away
    --orphan <new-branch> a branch without parents
    --overwrite-ignore    overwrite ignored files
    --ignore-other-worktrees
                          do not check other worktrees
    -2, --ours            take our version of files with conflicts
    -3, --theirs          take their version of files with conflicts
    -p, --patch           choose changes in a dialog
    --ignore-skip-worktree-bits
                          do not limit to the sparse checkout
    --pathspec-from-file <file>
                          read the files from a file
    --pathspec-file-nul   they end with NUL there
""",
    "switch": """
git switch [<options>] [<branch>]

    -c, --create <branch> make a branch and switch to it
    -C, --force-create <branch>
                          make or reset a branch and switch to it
    --guess               guess a branch by its remote name
    --discard-changes     throw local changes away
"""
    + _COMMON
    + """    -d, --detach          detach HEAD
    -t, --track[=(direct|inherit)]
                          set the upstream
    -f, --force           throw local changes away
    --orphan <new-branch> a branch without parents
    --overwrite-ignore    overwrite ignored files
    --ignore-other-worktrees
                          do not check other worktrees
""",
    "restore": """
git restore [<options>] [--source=<branch>] <file>...

    -s, --source <tree-ish>
                          the tree to take the files from
    -S, --staged          restore the index
    -W, --worktree        restore the worktree (default)
    --ignore-unmerged     skip files with conflicts
    --overlay             keep files that the tree does not have
"""
    + _COMMON
    + """    -2, --ours            take our version of files with conflicts
    -3, --theirs          take their version of files with conflicts
    -p, --patch           choose changes in a dialog
    --ignore-skip-worktree-bits
                          do not limit to the sparse checkout
    --pathspec-from-file <file>
                          read the files from a file
    --pathspec-file-nul   they end with NUL there
""",
}

_ADVICE = """Note: switching to '{name}'.

You are in 'detached HEAD' state. You can look around, make experimental
changes and commit them, and you can discard any commits you make in this
state without impacting any branches by switching back to a branch.

If you want to create a new branch to retain commits you create, you may
do so (now or later) by using -c with the switch command. Example:

  git switch -c <new-branch-name>

Or undo this operation with:

  git switch -

Turn off this advice by setting config variable advice.detachedHead to false
"""


_SEVERAL_REMOTES = """If you meant to check out a remote tracking branch on, e.g. 'origin',
you can do so by fully qualifying the name with the --track option:

    git checkout --track origin/<name>

If you'd like to always have checkouts of an ambiguous <name> prefer
one remote, e.g. the 'origin' remote, consider setting
checkout.defaultRemote=origin in your config."""


class Target:
    """Where to switch to."""

    __slots__ = ("branch", "commit", "name")

    def __init__(self, name: str, commit: str | None, branch: str = "") -> None:
        self.name = name
        """As it is printed."""
        self.commit = commit
        self.branch = branch
        """The full name of a branch, "" to detach HEAD."""


def checkout(git: Invocation, words: list[str]) -> int:
    # long: branches and files share one command line
    options = parse_options(USAGES["checkout"], words)
    _refuse(git, options, "checkout")
    repository = git.repository
    repository.need_worktree()
    operands = list(options.operands)
    new = options.get("b") or options.get("B") or options.get("orphan")
    made = sum(options.given(name) for name in ("b", "B", "orphan"))
    if made > 1:
        raise Fatal("options '-b', '-B', and '--orphan' cannot be used together")
    paths: list[str] = []
    if options.has_dashes:
        before = operands[: options.before_dashes]
        if len(before) > 1:
            raise Fatal(f"only one reference expected, {len(before)} given.")
        paths, operands = operands[options.before_dashes :], before
    if not made and not options.has_dashes and options.on("track") and operands:
        name = operands[0].removeprefix("refs/").removeprefix("remotes/").partition("/")[2]
        if not name:
            raise (
                Fatal("--track needs a branch name")
                if not operands
                else Fatal("missing branch name; try -b")
            )
        return _switch_to_new(git, options, name, operands[:1], force=False)
    if made and not paths:
        if options.given("orphan"):
            return _switch_orphan(git, options, options.text("orphan"), operands)
        return _switch_to_new(git, options, new or "", operands, force=options.given("B"))
    tree, branch, rest = _arguments(git, options, operands)
    paths += rest
    if options.get("pathspec-from-file") is not None:
        options.operands = paths
        paths = pathspec_words(git, options)
    if paths:
        if made:
            raise Fatal(
                f"'{paths[0]}' is not a commit and a branch '{new}' cannot be created from it"
            )
        if options.on("detach"):
            raise Fatal(f"git checkout: --detach does not take a path argument '{paths[0]}'")
        return _checkout_paths(git, options, tree, branch, paths)
    if options.has_dashes and not operands and not paths:
        return _report_only(git, options)
    if branch is None:
        return (
            _report_only(git, options)
            if not options.on("detach")
            else _switch(git, options, Target("HEAD", repository.head()), "HEAD")
        )
    target = _target(git, branch, detach=options.on("detach"))
    if target is None:
        guessed = _guess(git, options, branch, is_file=False)
        if guessed is not None:
            return _switch_to_new(git, options, branch, [guessed], force=False, guessed=True)
        raise Fatal(f"reference is not a tree: {branch}")
    return _switch(git, options, target, branch)


def _refuse(git: Invocation, options: Options, name: str) -> None:
    if options.on("patch"):
        raise Fatal(f"git {name} --patch needs a terminal; name the files instead")
    if options.on("recurse-submodules"):
        raise Fatal(f"git {name} --recurse-submodules is not supported in this sandbox")
    if not options.given("recurse-submodules"):
        refuse_recursion(git, name)


def _arguments(
    git: Invocation, options: Options, operands: list[str]
) -> tuple[str | None, str | None, list[str]]:
    """Return (tree, branch or revision, paths) of `checkout`'s operands."""
    if not operands:
        return None, None, []
    word, rest = operands[0], operands[1:]
    name = "@{-1}" if word == "-" else word
    oid = _commit_or_tree(git, name) or git.repository.refs.read(f"refs/heads/{name}")
    if oid is None:
        is_file = not options.has_dashes and git.fs.exists(git.path(word), follow=False)
        may_guess = len(options.operands) == 1 and (
            options.has_dashes or not re.search(r"[*?\[\\]", word)
        )
        if may_guess and _guess(git, options, word, is_file=is_file) is not None:
            return None, word, []
        if options.has_dashes:
            raise Fatal(f"invalid reference: {word}")
        return None, None, operands
    if not options.has_dashes and rest:
        verify_not_filename(git, word)
    return git.repository.objects.peel(oid, "tree"), name, rest


def _commit_or_tree(git: Invocation, name: str) -> str | None:
    if "..." in name:
        first, _, second = name.partition("...")
        resolver = Resolver(git)
        one, two = (resolver.find(each or "HEAD", kind="commit") for each in (first, second))
        if one is not None and two is not None:
            from agentsandbox.git.history import merge_bases

            bases = merge_bases(git.repository, one, [two])
            return bases[0] if len(bases) == 1 else None
    found = Resolver(git).find(name, kind="commit")
    if found is None or git.repository.objects.peel(found, "tree") is None:
        return None
    return found


def _guess(git: Invocation, options: Options, name: str, *, is_file: bool) -> str | None:
    """Return the one remote-tracking branch that a name means, None without one.

    Fatal if several remotes have such a branch, or if it is also the name of a file.
    """
    if options.given("track") or not options.on(
        "guess", default=git.config.flag("checkout.guess", True)
    ):
        return None
    repository = git.repository
    found: dict[str, str] = {}
    for remote in remote_names(git):
        ref = tracking_ref(repository, remote, f"refs/heads/{name}")
        if ref is not None and repository.refs.read(ref) is not None:
            found[remote] = ref
    default = git.config.get("checkout.defaultremote") or ""
    if len(found) > 1 and default not in found:
        git.hint(_SEVERAL_REMOTES, "checkoutAmbiguousRemoteBranchName")
        raise Fatal(f"'{name}' matched multiple ({len(found)}) remote tracking branches")
    if not found:
        return None
    if is_file:
        raise Fatal(
            f"'{name}' could be both a local file and a tracking branch.\n"
            "Please use -- (and optionally --no-guess) to disambiguate"
        )
    ref = found[default] if len(found) > 1 else next(iter(found.values()))
    return ref.removeprefix("refs/remotes/")


def _target(git: Invocation, name: str, *, detach: bool) -> Target | None:
    repository = git.repository
    shown = name = branch_named(repository, name)
    full = f"refs/heads/{name}"
    if not detach and is_branch_name(name) and repository.refs.read(full) is not None:
        return Target(shown, repository.refs.read(full), full)
    oid = _commit_or_tree(git, name)
    commit = repository.objects.peel(oid, "commit") if oid is not None else None
    return None if commit is None else Target(shown, commit)


def switch(git: Invocation, words: list[str]) -> int:
    # long: one form after the other
    options = parse_options(USAGES["switch"], words)
    _refuse(git, options, "switch")
    repository = git.repository
    repository.need_worktree()
    if options.on("discard-changes"):
        options.counts["force"] = 1
    operands = options.operands
    made = [name for name in ("create", "force-create", "orphan") if options.given(name)]
    if len(made) > 1:
        raise Fatal("options '-c', '-C', and '--orphan' cannot be used together")
    if len(operands) > 1:
        raise Fatal("only one reference expected")
    if made == ["orphan"]:
        if operands:
            raise Fatal("'--orphan' cannot take <start-point>")
        return _switch_orphan(git, options, options.text("orphan"), [], empty=True)
    if made:
        return _switch_to_new(
            git, options, options.text(made[0]), operands, force=made[0] == "force-create"
        )
    if options.on("track") and operands:
        name = operands[0].removeprefix("refs/").removeprefix("remotes/").partition("/")[2]
        if not name:
            raise Fatal("missing branch name; try -c")
        return _switch_to_new(git, options, name, operands, force=False)
    if not operands:
        if options.on("detach"):
            return _switch(git, options, Target("HEAD", repository.head()), "HEAD")
        raise Fatal("missing branch or commit argument")
    word = operands[0]
    name = "@{-1}" if word == "-" else word
    target = _target(git, name, detach=options.on("detach"))
    if target is None:
        guessed = _guess(git, options, word, is_file=False)
        if guessed is not None:
            return _switch_to_new(git, options, word, [guessed], force=False, guessed=True)
        raise Fatal(f"invalid reference: {word}")
    if not target.branch and not options.on("detach"):
        found = find_ref(repository, name)
        kind = "commit "
        if found is not None:
            kinds = {"refs/tags/": "tag ", "refs/remotes/": "remote branch "}
            kind = next((what for start, what in kinds.items() if found[0].startswith(start)), "")
        git.say(f"fatal: a branch is expected, got {kind}'{target.name}'")
        git.hint(
            "If you want to detach HEAD at the commit, try again with the --detach option.",
            "suggestDetachingHead",
        )
        raise Quit(128)
    return _switch(git, options, target, name)


def _force(options: Options) -> bool:
    return options.on("force")


def _move_trees(git: Invocation, options: Options, commit: str | None, name: str) -> bool:
    """Change index and worktree; return whether `-f` found a content missing."""
    repository = git.repository
    head = repository.head()
    has_index = git.fs.exists(repository.index_path)
    old = repository.objects.commit(head).tree if head is not None and has_index else None
    new = repository.objects.commit(commit).tree if commit is not None else None
    if _force(options):
        return switch_trees(git, None, new, action="checkout", reset=True, one_way=True)
    unmerged = repository.index().unmerged()
    if unmerged:
        for path in unmerged:
            git.print(f"{decode(path)}: needs merge")
        git.error("you need to resolve your current index first")
        raise Quit(1)
    try:
        switch_trees(
            git, old, new, action="checkout", overwrite_ignored=not options.off("overwrite-ignore")
        )
    except Plain:
        if not (options.on("merge") or options.given("conflict")) or head is None:
            raise
        assert new is not None
        from agentsandbox.git.carrying import carry

        before = repository.branch().removeprefix("refs/heads/") or repository.short(head)
        had = repository.objects.commit(head).tree
        carry(git, had, new, (before, name), options.text("conflict"))
    return False


def _moves(git: Invocation, options: Options, commit: str | None) -> bool:
    """Whether index and worktree may have to change for a commit."""
    repository = git.repository
    return (
        repository.head() != commit
        or _force(options)
        or repository.is_sparse
        or not repository.fs.exists(repository.index_path)
        or bool(repository.index().unmerged())
    )


def _refuse_in_progress(git: Invocation, options: Options) -> None:
    if git.name != "switch" or options.on("ignore-in-progress"):
        return
    repository = git.repository
    for name, what, quit_ in (
        ("MERGE_HEAD", "merging", "git merge --quit"),
        ("CHERRY_PICK_HEAD", "cherry-picking", "git cherry-pick --quit"),
        ("REVERT_HEAD", "reverting", "git revert --quit"),
    ):
        if repository.read_file(name) is not None:
            raise Fatal(
                f'cannot switch branch while {what}\nConsider "{quit_}" or "git worktree add".'
            )
    from agentsandbox.git.progress import rebase_folder

    if rebase_folder(repository):
        raise Fatal(
            'cannot switch branch while rebasing\nConsider "git rebase --quit" or '
            '"git worktree add".'
        )


def _switch(git: Invocation, options: Options, target: Target, given: str) -> int:
    """Switch to a branch or commit that exists."""
    # long: the reports come in git's order
    repository = git.repository
    quiet = options.on("quiet")
    head = repository.head()
    before = repository.branch()
    _refuse_in_progress(git, options)
    if target.commit is None:
        raise Fatal(f"invalid reference: {target.name}")
    if target.branch and not options.on("ignore-other-worktrees"):
        elsewhere = checked_out_elsewhere(repository, target.branch)
        if elsewhere is not None:
            name = target.branch.removeprefix("refs/heads/")
            raise Fatal(f"'{name}' is already checked out at '{elsewhere.path}'")
    lacks = False
    if _moves(git, options, target.commit):
        lacks = _move_trees(git, options, target.commit, target.name)
    if not quiet and not _force(options):
        _show_changes(git, target.commit)
    if not quiet and not before and head is not None and head != target.commit:
        _leave(git, head, target.commit)
    old_name = before.removeprefix("refs/heads/") if before else head or ""
    moving = f"checkout: moving from {old_name} to {target.name}"
    message = git.env.get("GIT_REFLOG_ACTION", moving)
    if target.branch:
        repository.refs.write_symbolic("HEAD", target.branch)
        repository.refs.log("HEAD", head or NULL, target.commit, message)
        if not quiet:
            if before == target.branch:
                git.say(f"Already on '{target.name}'")
            else:
                git.say(f"Switched to branch '{target.name}'")
            _report_tracking(git, target.branch)
    elif target.name != "HEAD" or options.on("detach"):
        _detach(
            git,
            target,
            head,
            before,
            message,
            quiet=quiet,
            advise=not options.on("detach") and given != "HEAD",
        )
    repository.remove_file(
        "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD"
    )
    return run_hook(repository, "post-checkout", head or NULL, target.commit, "1") or int(lacks)


def _detach(
    git: Invocation, target: Target, head: str | None, before: str, message: str, *, quiet: bool,
    advise: bool,
) -> None:  # fmt: skip
    repository = git.repository
    assert target.commit is not None
    repository.refs.write_file(repository.refs.path("HEAD"), encode(f"{target.commit}\n"))
    repository.refs.log("HEAD", head or NULL, target.commit, message)
    if quiet:
        return
    if before and advise and git.config.flag("advice.detachedhead", True):
        git.say(_ADVICE.replace("{name}", target.name))
    git.say(f"HEAD is now at {_described(git, target.commit)}")


def _described(git: Invocation, commit: str) -> str:
    repository = git.repository
    subject = decode(subject_of(repository.objects.commit(commit).message))
    return f"{repository.short(commit)} {subject}"


def _leave(git: Invocation, head: str, new: str) -> None:
    """Say which commits no reference reaches any more."""
    repository = git.repository
    walk = Walk(repository)
    walk.tips = [head]
    walk.hidden = [new] + [
        commit
        for oid in repository.refs.all().values()
        if oid in repository.objects
        and (commit := repository.objects.peel(oid, "commit")) is not None
    ]
    lost = list(walk.run())
    if not lost:
        git.say(f"Previous HEAD position was {_described(git, head)}")
        return
    one = len(lost) == 1
    lines = "\n".join([f"  {_described(git, oid)}" for oid in lost[:4]])
    if len(lost) > 4:
        lines += f"\n ... and {len(lost) - 4} more."
    git.say(
        f"Warning: you are leaving {len(lost)} commit{'' if one else 's'} behind, not connected "
        f"to\nany of your branches:\n\n{lines}\n"
    )
    if git.config.flag("advice.detachedhead", True):
        git.say(
            f"If you want to keep {'it' if one else 'them'} by creating a new branch, this may be "
            f"a good time\nto do so with:\n\n git branch <new-branch-name> "
            f"{repository.short(head)}\n"
        )


def _show_changes(git: Invocation, commit: str | None) -> None:
    """List the local changes that were kept."""
    if commit is None:
        return
    repository = git.repository
    tree = Worktree(repository)
    base = repository.objects.commit(commit).tree
    found = tree_to_worktree(git, tree, base, Pathspec(), DiffOptions(), exact=False)
    for delta in found:
        git.print(f"{delta.status}\t{quote_path(delta.new_path)}")


def _report_tracking(git: Invocation, branch: str) -> None:
    text = tracking_text(git.repository, branch.removeprefix("refs/heads/"))
    if text:
        git.print(text)


def _report_only(git: Invocation, options: Options) -> int:
    """Report local changes, as `git checkout` without operands does."""
    repository = git.repository
    head = repository.head()
    if head is None:
        raise Fatal("You are on a branch yet to be born")
    if _moves(git, options, head):
        _move_trees(git, options, head, "HEAD")
    if not options.on("quiet"):
        if not _force(options):
            _show_changes(git, head)
        branch = repository.branch()
        if branch:
            _report_tracking(git, branch)
    return 0


def _switch_to_new(
    git: Invocation, options: Options, name: str, operands: list[str], *, force: bool,
    guessed: bool = False,
) -> int:  # fmt: skip
    # long: the checks come before anything is changed
    repository = git.repository
    if len(operands) > 1:
        raise Fatal(f"Cannot update paths and switch to branch '{name}' at the same time.")
    name = branch_named(repository, name)
    if not is_branch_name(name):
        raise Fatal(f"'{name}' is not a valid branch name")
    full = f"refs/heads/{name}"
    exists = repository.refs.read(full) is not None
    if exists and not force:
        raise Fatal(f"a branch named '{name}' already exists")
    start = operands[0] if operands else "HEAD"
    start = "@{-1}" if start == "-" else start
    quiet = options.on("quiet")
    head, before = repository.head(), repository.branch()
    if start == "HEAD" and head is None:
        if before:  # before the first commit
            repository.refs.write_symbolic("HEAD", full)
            if not quiet:
                git.say(f"Switched to a new branch '{name}'")
            return 0
    oid = _commit_or_tree(git, start)
    commit = repository.objects.peel(oid, "commit") if oid is not None else None
    if commit is None:
        if git.name == "switch":
            raise Fatal(f"invalid reference: {start}")
        raise Fatal(f"'{start}' is not a commit and a branch '{name}' cannot be created from it")
    _refuse_in_progress(git, options)
    stays = git.name == "switch" and not operands
    if not stays and _moves(git, options, commit):
        _move_trees(git, options, commit, start)
    if not quiet and not _force(options) and operands:
        _show_changes(git, commit)
    if not quiet and not before and head is not None and head != commit:
        _leave(git, head, commit)
    track = True if options.on("track") or guessed else False if options.off("track") else None
    repository.refs.write(
        full, commit, f"branch: {'Reset to' if exists else 'Created from'} {start}"
    )
    old_name = before.removeprefix("refs/heads/") if before else head or ""
    repository.refs.write_symbolic("HEAD", full)
    moving = f"checkout: moving from {old_name} to {name}"
    repository.refs.log(
        "HEAD", head or NULL, commit, git.env.get("GIT_REFLOG_ACTION", moving)
    )
    if not quiet:
        if exists and before == full:
            git.say(f"Reset branch '{name}'")
        elif exists:
            git.say(f"Switched to and reset branch '{name}'")
        else:
            git.say(f"Switched to a new branch '{name}'")
    ref = find_ref(repository, start)
    if ref is not None and ref[0] == "HEAD":
        ref = (before, ref[1]) if options.on("track") and before else None
    if ref is not None and track is not False and (track or ref[0].startswith("refs/remotes/")):
        set_upstream(git, name, ref[0], quiet=quiet)
    return run_hook(repository, "post-checkout", head or NULL, commit, "1")


def _switch_orphan(
    git: Invocation, options: Options, name: str, operands: list[str], *, empty: bool = False
) -> int:
    repository = git.repository
    if not is_branch_name(name):
        raise Fatal(f"'{name}' is not a valid branch name")
    full = f"refs/heads/{name}"
    if repository.refs.read(full) is not None:
        raise Fatal(f"a branch named '{name}' already exists")
    if empty:
        head = repository.head()
        old = repository.objects.commit(head).tree if head is not None else None
        switch_trees(git, old, None, action="checkout")
    elif operands:
        oid = _commit_or_tree(git, operands[0])
        commit = repository.objects.peel(oid, "commit") if oid is not None else None
        if commit is None:
            raise Fatal(
                f"'{operands[0]}' is not a commit and a branch '{name}' cannot be created from it"
            )
        _move_trees(git, options, commit, operands[0])
    repository.refs.write_symbolic("HEAD", full)
    if not options.on("quiet"):
        git.say(f"Switched to a new branch '{name}'")
    return 0


# files


def _checkout_paths(
    git: Invocation, options: Options, tree: str | None, name: str | None, paths: list[str]
) -> int:
    count, source = _restore(
        git, options, tree, paths, staged=tree is not None, worktree=True,
        overlay=not options.off("overlay"),
    )  # fmt: skip
    if not options.on("quiet") and not options.has_dashes:
        if name is None:
            where = "the index"
        else:
            where = git.repository.short(source or "")
        git.say(f"Updated {count} path{'' if count == 1 else 's'} from {where}")
    return 0


def _restore(
    git: Invocation, options: Options, tree: str | None, paths: list[str], *, staged: bool,
    worktree: bool, overlay: bool,
) -> tuple[int, str | None]:  # fmt: skip
    """Restore files from a tree, or from the index; return how many and the tree."""
    # long: conflicts, the two places, files that are gone
    repository = git.repository
    wanted = parse_pathspec(git, paths)
    index = repository.index()
    work = Worktree(repository)
    before = flat_tree(repository.objects, tree) if tree is not None else None
    chosen: dict[bytes, tuple[int, str]] = {}
    unmerged: list[bytes] = []
    everything = options.on("ignore-skip-worktree-bits")
    if before is not None:
        chosen = {
            path: side
            for path, side in before.items()
            if (everything or not _is_skipped(index, path, side)) and wanted.matches(path)
        }
        gone = [
            entry.path
            for entry in index
            if not overlay
            and (everything or not entry.skips)
            and wanted.matches(entry.path)
            and entry.path not in before
        ]
    else:
        gone = []
        side = 2 if options.on("ours") else 3 if options.on("theirs") else 0
        for entry in index:
            if (entry.skips and not everything) or not wanted.matches(entry.path):
                continue
            if not entry.stage:
                chosen[entry.path] = (entry.mode, entry.oid)
            elif entry.path not in unmerged:
                unmerged.append(entry.path)
                if side and (other := index.get(entry.path, side)) is not None:
                    chosen[entry.path] = (other.mode, other.oid)
    missing = wanted.unmatched()
    if missing is not None:
        git.error(f"pathspec '{missing.given}' did not match any file(s) known to git")
        raise Quit(1)
    if unmerged and not (options.on("ours") or options.on("theirs")):
        if options.on("merge") or options.given("conflict"):
            raise Fatal(f"git {git.name} --merge is not supported in this sandbox")
        if options.on("force") or options.on("ignore-unmerged"):
            for path in unmerged:
                git.warn(f"path '{decode(path)}' is unmerged")
        else:
            for path in unmerged:
                git.error(f"path '{decode(path)}' is unmerged")
            raise Quit(1)
    elif unmerged:
        for path in unmerged:
            if path not in chosen:
                git.error(
                    f"path '{decode(path)}' does not have "
                    f"{'our' if options.on('ours') else 'their'} version"
                )
                raise Quit(1)
    count = 0
    broken = False
    for path, (mode, oid) in chosen.items():
        known = index.get(path)
        fresh: Entry | None = known
        if worktree:
            info = work.stat(path)
            same = (
                known is not None
                and info is not None
                and (known.mode, known.oid) == (mode, oid)
                and known.is_fresh(info)
                and info.mtime < index.mtime
            )
            if not same:
                if (
                    info is None
                    or known is None
                    or (known.mode, known.oid) != (mode, oid)
                    or (work.is_changed(known, info))
                ):
                    count += 1
                try:
                    fresh = work.write(path, mode, oid)
                except MissingObject:
                    git.error(f"unable to read sha1 file of {decode(path)} ({oid})")
                    work.remove(path)
                    if staged:
                        index.set_replacing(Entry(path, mode, oid))
                    broken = True
                    count -= 1
                    continue
                if path in unmerged and before is None:
                    continue
                stays = known is not None and (known.mode, known.oid) == (mode, oid)
                if stays and known is not None:
                    fresh.assumed = known.assumed
                if staged or stays:
                    index.set_replacing(fresh)
            elif before is not None:
                count += 0
        if staged and not worktree and (known is None or (known.mode, known.oid) != (mode, oid)):
            index.set_replacing(Entry(path, mode, oid))
            count += 1
    if before is not None and not overlay:
        for path in gone:
            if staged:
                index.remove(path)
            if worktree:
                work.remove(path)
            count += 1
    repository.write_index(index)
    if broken:
        raise Quit(255)
    return count, tree


def _is_skipped(index: Index, path: bytes, side: tuple[int, str]) -> bool:
    """Whether a file of a tree is as in the index, and its entry skips the worktree."""
    entry = index.get(path)
    return entry is not None and entry.skips and (entry.mode, entry.oid) == side


def restore(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["restore"], words)
    _refuse(git, options, "restore")
    repository = git.repository
    repository.need_worktree()
    options.operands = pathspec_words(git, options)
    if not options.operands:
        raise Fatal("you must specify path(s) to restore")
    staged = options.on("staged")
    worktree = options.on("worktree") or not staged
    source = options.get("source")
    if (options.on("ours") or options.on("theirs") or options.on("merge")) and source is not None:
        name = "ours" if options.on("ours") else "theirs" if options.on("theirs") else "merge"
        raise Fatal(f"'--{name}' cannot be used with --source")
    if staged and source is None:
        source = "HEAD"
    tree = None
    if source is not None:
        oid = _commit_or_tree(git, source)
        if oid is None:
            if source == "HEAD" and repository.head() is None:
                raise Fatal("could not resolve HEAD")
            raise Fatal(f"could not resolve {source}")
        tree = repository.objects.peel(oid, "tree")
    _restore(
        git,
        options,
        tree,
        options.operands,
        staged=staged,
        worktree=worktree,
        overlay=options.on("overlay"),
    )
    return 0


COMMANDS = {"checkout": checkout, "switch": switch, "restore": restore}
