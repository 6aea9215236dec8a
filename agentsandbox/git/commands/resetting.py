"""`git reset`."""

from __future__ import annotations

from agentsandbox.git.carrying import forget_operation
from agentsandbox.git.commands.adding import pathspec_words
from agentsandbox.git.errors import Fatal, Plain, Quit
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.modules import refuse_recursion
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.revisions import Resolver, verify_filename, verify_not_filename
from agentsandbox.git.sparse_index import keep_skips
from agentsandbox.git.texts import subject_of
from agentsandbox.git.trees import diff_index, flat_tree, index_of_tree
from agentsandbox.git.unpacking import Switch, switch_trees
from agentsandbox.git.worktree import Worktree, scan_worktree
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository

USAGES = {
    "reset": """
git reset [--mixed | --soft | --hard | --merge | --keep] [-q] [<commit>]
   or: git reset [-q] [<tree-ish>] [--] <pathspec>...
   or: git reset [-q] [--pathspec-from-file [--pathspec-file-nul]] [<tree-ish>]
   or: git reset --patch [<tree-ish>] [--] [<pathspec>...]

    -q, --quiet           report only errors
    --no-refresh          do not refresh the index
    --refresh             refresh the index
    --mixed               reset HEAD and index
    --soft                reset only HEAD
    --hard                reset HEAD, index and worktree
    --merge               reset HEAD, index and unchanged files
    --keep                reset HEAD but keep local changes
    -p, --patch           choose changes in a dialog
    -N, --intent-to-add   note that removed files will be added
    --pathspec-from-file <file>
                          read the files from a file
    --pathspec-file-nul   they end with NUL there
""",
}


def reset(git: Invocation, words: list[str]) -> int:
    # long: the forms of the command line
    options = parse_options(USAGES["reset"], words)
    if options.on("patch"):
        raise Fatal("git reset --patch needs a terminal; name the files instead")
    repository = git.repository
    operands = list(options.operands)
    revision, paths = "HEAD", []
    if options.has_dashes:
        before = operands[: options.before_dashes]
        if len(before) > 1:
            raise Fatal(f"bad revision '{before[1]}'")
        revision = before[0] if before else "HEAD"
        paths = operands[options.before_dashes :]
    elif operands:
        kind = "tree" if len(operands) > 1 else "commit"
        found = Resolver(git).find(operands[0], kind=kind)
        if found is not None and repository.objects.peel(found, kind) is not None:
            verify_not_filename(git, operands[0])
            revision, paths = operands[0], operands[1:]
        else:
            verify_filename(git, operands[0], first=True)
            paths = operands
    options.operands = paths
    paths = pathspec_words(git, options)
    mode = next(
        (name for name in ("soft", "hard", "merge", "keep", "mixed") if options.on(name)), ""
    )
    oid = Resolver(git).find(revision, kind="tree" if paths else "commit")
    unborn = oid is None and revision == "HEAD" and repository.head() is None
    if oid is None and not unborn:
        what = "tree" if paths else "revision"
        raise Fatal(f"Failed to resolve '{revision}' as a valid {what}.")
    if paths:
        if mode == "mixed":
            git.warn("--mixed with paths is deprecated; use 'git reset -- <paths>' instead.")
        elif mode:
            raise Fatal(f"Cannot do {mode} reset with paths.")
        tree = repository.objects.peel(oid, "tree") if oid is not None else None
        if oid is not None and tree is None:
            raise Fatal(f"Could not parse object '{revision}'.")
        return _reset_paths(git, tree, paths, options)
    commit = repository.objects.peel(oid, "commit") if oid is not None else None
    if oid is not None and commit is None:
        raise Fatal(f"Could not parse object '{revision}'.")
    return _reset_commit(git, commit, mode or "mixed", options, revision)


def _reset_commit(
    git: Invocation, commit: str | None, mode: str, options: Options, revision: str
) -> int:
    repository = git.repository
    if mode != "soft" and mode != "mixed" and repository.worktree is None:
        raise Fatal("this operation must be run in a work tree")
    if mode == "mixed" and repository.worktree is None:
        raise Fatal("mixed reset is not allowed in a bare repository")
    if mode in ("soft", "keep"):
        in_merge = repository.read_file("MERGE_HEAD") is not None
        if in_merge or repository.index().unmerged():
            raise Fatal(f"Cannot do a {mode} reset in the middle of a merge.")
    if mode in ("hard", "merge", "keep"):
        refuse_recursion(git, "reset")
    tree = repository.objects.commit(commit).tree if commit is not None else None
    head = repository.head()
    old = repository.objects.commit(head).tree if head is not None else None
    if mode in ("hard", "merge", "keep"):
        try:
            if mode == "hard":
                switch_trees(git, None, tree, action="reset", reset=True, one_way=True)
            else:
                _careful(git, old, tree, mode)
        except (Plain, Quit) as error:
            if error.message:
                git.say(error.message)
            raise Fatal(f"Could not reset index file to revision '{revision}'.") from None
        if mode == "keep":
            _unstage(git, tree)
    elif mode == "mixed":
        index = repository.index()
        made = index_of_tree(repository, tree, index)
        keep_skips(repository, index, made)
        if options.on("intent-to-add"):
            _keep_intent(repository, index, made)
        _refresh(
            git, made, quiet=options.on("quiet"), write=True, refresh=not options.on("no-refresh")
        )
    if commit is not None:
        _move_head(git, commit, head, revision)
    if mode == "hard" and not options.on("quiet") and commit is not None:
        subject = decode(subject_of(repository.objects.commit(commit).message))
        end = f" {subject}" if subject else ""
        git.print(f"HEAD is now at {repository.short(commit)}{end}")
    if repository.read_file("MERGE_AUTOSTASH") is not None:
        from agentsandbox.git.autostash import save_autostash

        save_autostash(git, "MERGE_AUTOSTASH")
    forget_operation(repository)
    return 0


def _unstage(git: Invocation, tree: str | None) -> None:
    """Make the index that of a tree; the worktree stays."""
    index = git.repository.index()
    made = index_of_tree(git.repository, tree, index)
    keep_skips(git.repository, index, made)
    git.repository.write_index(made)


def _careful(git: Invocation, old: str | None, tree: str | None, mode: str) -> None:
    """Reset as --merge and --keep do: local changes stay, or the reset is refused."""
    if mode == "keep":
        switch_trees(git, old, tree, action="reset")
        return
    switch = Switch(git, action="reset", conflicts=git.repository.index().unmerged())
    switch.drop_conflicts()
    switch.one_way(tree)
    switch.finish(tree)


def reset_carefully(git: Invocation, old: str, tree: str) -> None:
    """Move from one tree to another: staged changes go, local changes stay."""
    _careful(git, old, tree, "merge")


def _keep_intent(repository: Repository, before: Index, made: Index) -> None:
    for entry in before:
        if not entry.stage and made.get(entry.path) is None:
            fresh = Entry(entry.path, entry.mode, repository.objects.write("blob", b""))
            fresh.intends = True
            made.set(fresh)


def _refresh(git: Invocation, index: Index, *, quiet: bool, write: bool, refresh: bool) -> None:
    """Compare the index with the worktree, and list what differs."""
    repository = git.repository
    if refresh:
        scan = scan_worktree(Worktree(repository), index)
        lines = []
        for path, (kind, _, _) in sorted(scan.changed.items()):
            entry = index.get(path)
            if entry is not None:
                lines.append((path, "A" if entry.intends and kind != "D" else kind))
        if lines and not quiet:
            git.print("Unstaged changes after reset:")
            for path, kind in lines:
                git.print(f"{kind}\t{decode(path)}")
    if write:
        repository.write_index(index)


def _move_head(git: Invocation, commit: str, head: str | None, revision: str) -> None:
    repository = git.repository
    action = git.env.get("GIT_REFLOG_ACTION")
    message = f"reset: moving to {revision}" if action is None else f"{action}: updating HEAD"
    if head is not None:
        repository.refs.write("ORIG_HEAD", head, "")
    repository.refs.write("HEAD", commit, message)


def _reset_paths(git: Invocation, tree: str | None, paths: list[str], options: Options) -> int:
    repository = git.repository
    wanted = parse_pathspec(git, paths)
    index = repository.index()
    before = flat_tree(repository.objects, tree)
    for delta in diff_index(repository, tree, index, wanted):
        path = delta.new_path
        side = before.get(path)
        if side is None:
            entry = index.get(path)
            index.remove(path)
            if options.on("intent-to-add") and entry is not None:
                fresh = Entry(path, entry.mode, repository.objects.write("blob", b""))
                fresh.intends = True
                index.set(fresh)
        else:
            fresh = Entry(path, *side)
            known = index.get(path)
            if known.skips if known is not None else repository.leaves_out(path):
                fresh.skips = True
            index.set_replacing(fresh)
    _refresh(
        git, index, quiet=options.on("quiet"), write=True, refresh=not options.on("no-refresh")
    )
    return 0


COMMANDS = {"reset": reset}
