"""`git worktree`."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.git.branches import create_branch
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.hooks import run_hook
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.refs import is_branch_name
from agentsandbox.git.repository import Repository
from agentsandbox.git.revisions import Resolver
from agentsandbox.git.texts import subject_of
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.git.worktrees import (
    LinkedTree,
    copy_settings,
    linked_names,
    list_worktrees,
    read_linked,
)
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "worktree": """
git worktree add [<options>] <path> [<commit-ish>]
   or: git worktree list [<options>]
   or: git worktree lock [<options>] <worktree>
   or: git worktree move <worktree> <new-path>
   or: git worktree prune [<options>]
   or: git worktree remove [<options>] <worktree>
   or: git worktree unlock <worktree>
"""
}
_ADD = """
git worktree add [<options>] <path> [<commit-ish>]

    -f, --force           checkout <branch> even if already checked out in other worktree
    -b <branch>           create a new branch
    -B <branch>           create or reset a branch
    -d, --detach          detach HEAD at named commit
    --checkout            populate the new working tree
    --lock                keep the new working tree locked
    --reason <string>     reason for locking
    -q, --quiet           suppress progress reporting
    --[no-]track          set up tracking mode (see git-branch(1))
    --[no-]guess-remote   try to match the new branch name with a remote-tracking branch
"""
_LIST = """
git worktree list [<options>]

    --porcelain           machine-readable output
    -v, --verbose         show extended annotations and reasons, if available
    --expire <expiry-date>
                          is not supported
    -z                    terminate records with a NUL character
"""
_LOCK = """
git worktree lock [<options>] <worktree>

    --reason <string>     reason for locking
"""
_MOVE = """
git worktree move <worktree> <new-path>

    -f, --force           force move even if worktree is dirty or locked
"""
_PRUNE = """
git worktree prune [<options>]

    -n, --dry-run         do not remove, show only
    -v, --verbose         report pruned working trees
    --expire <expiry-date>
                          is not supported
"""
_REMOVE = """
git worktree remove [<options>] <worktree>

    -f, --force           force removal even if worktree is dirty or locked
"""


def worktree(git: Invocation, words: list[str]) -> int:
    actions = {
        "add": _add, "list": _list, "lock": _lock, "move": _move, "prune": _prune,
        "remove": _remove, "unlock": _unlock,
    }  # fmt: skip
    if not words or words == ["-h"]:
        raise BadUsage
    if words[0] == "repair":
        raise Fatal("git worktree repair is not supported in this sandbox")
    if words[0] not in actions:
        raise BadUsage(f"unknown subcommand: `{words[0]}'")
    return actions[words[0]](git, words[1:])


# add


def _add(git: Invocation, words: list[str]) -> int:
    # long: which commit and which branch, in git's order
    options = parse_options(_ADD, words)
    chosen = [name for name in ("b", "B", "detach") if options.given(name)]
    if len(chosen) > 1:
        raise Fatal("options '-b', '-B', and '--detach' cannot be used together")
    if options.on("reason") and not options.on("lock"):
        raise Fatal("the option '--reason' requires '--lock'")
    if not 1 <= len(options.operands) <= 2:
        raise BadUsage
    word = options.operands[0]
    path = posixpath.normpath(git.path(word))
    start = options.operands[1] if len(options.operands) == 2 else "HEAD"
    start = "@{-1}" if start == "-" else start
    new = options.get("b") or options.get("B")
    repository = git.repository
    remote = False
    if len(options.operands) == 1 and not new and not options.on("detach"):
        name = posixpath.basename(path)
        if is_branch_name(name) and repository.refs.read(f"refs/heads/{name}") is not None:
            start = name
        else:
            new = name
            guesses = options.on("guess-remote", git.config.flag("worktree.guessremote"))
            tracking = _unique_remote(repository, name) if guesses else None
            if tracking is not None:
                start, remote = tracking, True
    elif len(options.operands) == 2 and not new and not options.on("detach"):
        if Resolver(git).find(start, kind="commit") is None:
            tracking = _unique_remote(repository, start)
            if tracking is not None:
                new, start, remote = start, tracking, True
    force = options.on("force")
    if options.get("B") and not force:
        _refuse_checked_out(repository, f"refs/heads/{new}")
    if not options.on("quiet"):
        _say_preparing(git, start, new, detach=options.on("detach"), resets=options.given("B"))
    if new:
        track = options.on("track") if options.given("track") else None
        create_branch(
            git, new, start, force=options.given("B"), track=track or (True if remote else None),
            quiet=options.on("quiet"),
        )  # fmt: skip
        start = new
    elif options.given("track"):
        raise Fatal("--[no-]track can only be used if a new branch is created")
    return _create(git, options, path, word, start)


def _unique_remote(repository: Repository, name: str) -> str | None:
    """Return "remote/name" if exactly one remote has a branch of this name."""
    found = [
        full.removeprefix("refs/remotes/")
        for full in repository.refs.all("refs/remotes/")
        if full.split("/", 3)[3:] == [name]
    ]
    return found[0] if len(found) == 1 else None


def _say_preparing(git: Invocation, start: str, new: str | None, *, detach: bool, resets: bool
                   ) -> None:  # fmt: skip
    repository, resolver = git.repository, Resolver(git)
    if new:
        old = repository.refs.read(f"refs/heads/{new}") if resets else None
        if old is not None:
            text = f"resetting branch '{new}'; was at {repository.short(old)}"
        else:
            text = f"new branch '{new}'"
    elif not detach and repository.refs.read(f"refs/heads/{start}") is not None:
        text = f"checking out '{start}'"
    else:
        oid = resolver.find(start, kind="commit")
        commit = repository.objects.peel(oid, "commit") if oid is not None else None
        if commit is None:
            raise Fatal(f"invalid reference: {start}")
        text = f"detached HEAD {repository.short(commit)}"
    git.say(f"Preparing worktree ({text})")


def _refuse_checked_out(repository: Repository, branch: str) -> None:
    for tree in list_worktrees(repository):
        if tree.branch == branch and not tree.bare:
            name = branch.removeprefix("refs/heads/")
            raise Fatal(f"'{name}' is already checked out at '{tree.path}'")


def _create(git: Invocation, options: Options, path: str, word: str, start: str) -> int:
    # long: what has to be there, in git's order
    fs, repository, mode = git.fs, git.repository, 0o777 & ~git.ctx.umask
    if fs.exists(path, follow=False) and not (fs.is_dir(path) and not fs.listdir(path)):
        raise Fatal(f"'{word}' already exists")
    force = options.count("force")
    for each in list_worktrees(repository)[1:]:
        if each.path == path:
            if each.lock is not None and force < 2:
                raise Fatal(
                    f"'{word}' is a missing but locked worktree;\n"
                    "use 'add -f -f' to override, or 'unlock' and 'prune' or "
                    "'remove' to clear"
                )
            if not force:
                raise Fatal(
                    f"'{word}' is a missing but already registered worktree;\n"
                    "use 'add -f' to override, or 'prune' or 'remove' to clear"
                )
            fs.remove_tree(each.folder)
    branch = f"refs/heads/{start}"
    is_branch = not options.on("detach") and repository.refs.read(branch) is not None
    if is_branch and not force:
        _refuse_checked_out(repository, branch)
    oid = Resolver(git).find(start, kind="commit")
    commit = repository.objects.peel(oid, "commit") if oid is not None else None
    if commit is None:
        raise Fatal(f"invalid reference: {start}")
    name = re.sub(r"[^\w.+@-]+|\.lock$|^\.", "-", posixpath.basename(path)) or "worktree"
    taken = set(linked_names(repository))
    unique, number = name, 0
    while unique in taken:
        git.budget.step()
        number += 1
        unique = f"{name}{number}"
    folder = f"{repository.common}/worktrees/{unique}"
    fs.makedirs(folder, mode)
    fs.makedirs(path, mode)
    path = fs.realpath(path)
    permissions = 0o666 & ~git.ctx.umask
    for file, text in (
        (f"{folder}/gitdir", f"{path}/.git\n"), (f"{folder}/commondir", "../..\n"),
        (f"{folder}/HEAD", f"{'0' * 40}\n"), (f"{path}/.git", f"gitdir: {folder}\n"),
    ):  # fmt: skip
        fs.write_bytes(file, encode(text), permissions=permissions)
    copy_settings(repository, folder)
    _fill(git, options, folder, path, branch if is_branch else "", commit)
    if options.on("lock"):
        fs.write_text(f"{folder}/locked", options.text("reason") + "\n" * options.given("reason"))
    return 0


def _fill(
    git: Invocation, options: Options, folder: str, path: str, branch: str, commit: str
) -> None:
    """Set HEAD of a new worktree and write its files."""
    before = git.repository
    made = Repository(git, folder, path, folder)
    made.settle(made.config)
    if branch:
        made.refs.write_symbolic("HEAD", branch)
    else:
        made.refs.write("HEAD", commit, "")
    if not options.off("checkout"):
        git.use(made)
        try:
            tree = made.objects.commit(commit).tree
            switch_trees(git, None, tree, action="reset", reset=True, one_way=True)
            made.write_file("ORIG_HEAD", f"{commit}\n")
            made.refs.log("HEAD", commit, commit, "reset: moving to HEAD")
            if not options.on("quiet"):
                subject = decode(subject_of(made.objects.commit(commit).message))
                git.print(f"HEAD is now at {made.short(commit)} {subject}")
            run_hook(made, "post-checkout", "0" * 40, commit, "1")
        finally:
            git.use(before)


# the others


def _list(git: Invocation, words: list[str]) -> int:
    options = parse_options(_LIST, words)
    if options.operands:
        raise BadUsage
    if options.given("expire"):
        raise Fatal("git worktree list --expire is not supported in this sandbox")
    if options.on("verbose") and options.on("porcelain"):
        raise Fatal("options '--verbose' and '--porcelain' cannot be used together")
    if options.on("z") and not options.on("porcelain"):
        raise Fatal("the option '-z' requires '--porcelain'")
    trees = list_worktrees(git.repository)
    if options.on("porcelain"):
        end = "\0" if options.on("z") else "\n"
        for tree in trees:
            git.write(encode("".join([line + end for line in [*_porcelain(tree), ""]])))
        return 0
    widest = max(len(tree.path) for tree in trees)
    shorts = [git.repository.short(tree.head) if tree.head else "0000000" for tree in trees]
    width = max(len(short) for short in shorts)
    for tree, short in zip(trees, shorts, strict=True):
        line = f"{tree.path:<{widest + 1}} "
        if tree.bare and not tree.name:
            line += "(bare)"
        else:
            line += f"{short:<{width}} "
            if tree.branch:
                line += f"[{tree.branch.removeprefix('refs/heads/')}]"
            else:
                line += "(detached HEAD)" if tree.head else "(error)"
        for mark, reason in (("locked", tree.lock), ("prunable", tree.problem or None)):
            if reason is not None:
                line += f"\n\t{mark}: {reason}" if options.on("verbose") and reason else f" {mark}"
        git.print(line)
    return 0


def _porcelain(tree: LinkedTree) -> list[str]:
    lines = [f"worktree {tree.path}"]
    if tree.bare and not tree.name:
        lines.append("bare")
    else:
        lines.append(f"HEAD {tree.head or '0' * 40}")
        lines.append(f"branch {tree.branch}" if tree.branch else "detached")
    if tree.lock is not None:
        lines.append(f"locked {tree.lock}".rstrip())
    if tree.problem:
        lines.append(f"prunable {tree.problem}")
    return lines


def _named(git: Invocation, options: Options, count: int = 1) -> LinkedTree:
    """Return the worktree that the first operand names."""
    if len(options.operands) != count:
        raise BadUsage
    word = options.operands[0]
    trees = list_worktrees(git.repository)
    ends = [
        tree for tree in trees
        if tree.path == word or tree.path.endswith(f"/{word.strip('/')}")
    ]  # fmt: skip
    path = posixpath.normpath(git.path(word))
    exact = [tree for tree in trees if tree.path == path]
    if exact or len(ends) == 1:
        return (exact or ends)[0]
    raise Fatal(f"'{word}' is not a working tree")


def _linked(git: Invocation, options: Options, main: str, count: int = 1) -> LinkedTree:
    tree = _named(git, options, count)
    if not tree.name:
        raise Fatal(main.replace("{}", options.operands[0]))
    return tree


def _lock(git: Invocation, words: list[str]) -> int:
    options = parse_options(_LOCK, words)
    tree = _linked(git, options, "The main working tree cannot be locked or unlocked")
    if tree.lock is not None:
        reason = f", reason: {tree.lock}" if tree.lock else ""
        raise Fatal(f"'{options.operands[0]}' is already locked{reason}")
    text = options.text("reason")
    git.fs.write_text(f"{tree.folder}/locked", f"{text}\n" if text else "")
    return 0


def _unlock(git: Invocation, words: list[str]) -> int:
    options = parse_options("git worktree unlock <worktree>\n", words)
    tree = _linked(git, options, "The main working tree cannot be locked or unlocked")
    if tree.lock is None:
        raise Fatal(f"'{options.operands[0]}' is not locked")
    git.fs.unlink(f"{tree.folder}/locked")
    return 0


def _refuse_locked(tree: LinkedTree, verb: str, force: int) -> None:
    if tree.lock is None or force >= 2:
        return
    reason = f", lock reason: {tree.lock}" if tree.lock else ""
    if tree.lock:
        raise Fatal(
            f"cannot {verb} a locked working tree{reason}\n"
            f"use '{verb} -f -f' to override or unlock first"
        )
    raise Fatal(
        f"cannot {verb} a locked working tree;\nuse '{verb} -f -f' to override or unlock first"
    )


def _remove(git: Invocation, words: list[str]) -> int:
    options = parse_options(_REMOVE, words)
    tree = _linked(git, options, "'{}' is a main working tree")
    word, fs = options.operands[0], git.fs
    _refuse_locked(tree, "remove", options.count("force"))
    if fs.exists(tree.path):
        if not fs.is_file(f"{tree.path}/.git"):
            raise Fatal(
                f"validation failed, cannot remove working tree: '{tree.path}/.git' does not exist"
            )
        if not options.on("force") and _has_changes(git, tree):
            raise Fatal(f"'{word}' contains modified or untracked files, use --force to delete it")
        fs.remove_tree(tree.path)
    fs.remove_tree(tree.folder)
    _remove_empty(git)
    return 0


def _has_changes(git: Invocation, tree: LinkedTree) -> bool:
    from agentsandbox.git.status import Status

    before = git.repository
    made = Repository(git, tree.folder, tree.path, tree.folder)
    git.use(made)
    try:
        status = Status(git, renames=False)
    finally:
        git.use(before)
    return bool(status.staged or status.changed or status.conflicts or status.scan.untracked)


def _remove_empty(git: Invocation) -> None:
    """Remove the folder of linked worktrees once it is empty."""
    try:
        git.fs.rmdir(f"{git.repository.common}/worktrees")
    except OSError:
        return


def _prune(git: Invocation, words: list[str]) -> int:
    options = parse_options(_PRUNE, words)
    if options.operands:
        raise BadUsage
    if options.given("expire"):
        raise Fatal("git worktree prune --expire is not supported in this sandbox")
    prune_worktrees(git, dry_run=options.on("dry-run"), loud=options.on("verbose"))
    return 0


def prune_worktrees(git: Invocation, *, dry_run: bool, loud: bool) -> None:
    """Remove the folders of worktrees that are gone."""
    repository = git.repository
    for name in linked_names(repository):
        tree = read_linked(repository, name)
        if not tree.problem:
            continue
        if dry_run or loud:
            git.say(f"Removing worktrees/{name}: {tree.problem}")
        if not dry_run:
            git.fs.remove_tree(tree.folder)
    _remove_empty(git)


def _move(git: Invocation, words: list[str]) -> int:
    options = parse_options(_MOVE, words)
    tree = _linked(git, options, "'{}' is a main working tree", 2)
    fs, target = git.fs, posixpath.normpath(git.path(options.operands[1]))
    if fs.is_dir(target):
        target = f"{target}/{posixpath.basename(tree.path)}"
    if fs.exists(target, follow=False):
        raise Fatal(f"target '{target}' already exists")
    _refuse_locked(tree, "move", options.count("force"))
    if not fs.is_file(f"{tree.path}/.git"):
        raise Fatal(
            f"validation failed, cannot move working tree: '{tree.path}/.git' does not exist"
        )
    try:
        fs.rename(tree.path, target)
    except OSError as error:
        raise Fatal(f"failed to move '{tree.path}' to '{target}': {error.strerror}") from None
    fs.write_text(f"{tree.folder}/gitdir", f"{fs.realpath(target)}/.git\n")
    return 0


COMMANDS = {"worktree": worktree}
