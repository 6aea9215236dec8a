"""`git stash`.

A stash is a commit of the worktree with two parents: HEAD and a commit of the index; a third one,
if there is one, holds untracked files. `refs/stash` is the last one, its log has the others.
"""

from __future__ import annotations

import re

from agentsandbox.git.carrying import file_entry, forget_operation, note_reset, worktree_tree
from agentsandbox.git.errors import Fatal, GitError, Plain
from agentsandbox.git.index import Index
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.merge_state import print_texts, put_merge
from agentsandbox.git.merging import Options as HowToMerge
from agentsandbox.git.merging import TreeMerge
from agentsandbox.git.objects import NULL, SUBMODULE, format_commit
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.revisions import Resolver
from agentsandbox.git.sparse_index import keep_skips, put_back
from agentsandbox.git.texts import subject_of
from agentsandbox.git.trees import diff_index, flat_tree, index_of_tree, write_index_tree
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.git.worktree import Worktree, scan_worktree
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository

REF = "refs/stash"
_PUSH = """
    -k, --keep-index      keep what is staged
    -S, --staged          stash only what is staged
    -p, --patch           choose changes in a dialog
    -q, --quiet           print no reports
    -u, --include-untracked
                          stash untracked files too
    -a, --all             stash ignored files too
    -m, --message <message>
                          describe the stash
    --pathspec-from-file <file>
                          read the files from a file
    --pathspec-file-nul   they end with NUL there
"""
USAGES = {
    "stash": """
git stash [push [<options>] [--] [<pathspec>...]]
   or: git stash list [<log options>]
   or: git stash show [<diff options>] [<stash>]
   or: git stash (pop | apply) [--index] [-q] [<stash>]
   or: git stash drop [-q] [<stash>]
   or: git stash branch <branch> [<stash>]
   or: git stash clear
   or: git stash create [<message>]
   or: git stash store [-m <message>] [-q] <commit>
"""
    + _PUSH,
    "apply": """
git stash apply [--index] [-q] [<stash>]

    -q, --quiet           print no reports
    --index               restore the index too
""",
    "store": """
git stash store [-m <message>] [-q] <commit>

    -q, --quiet           print no reports
    -m, --message <message>
                          describe the stash
""",
}


def stash(git: Invocation, words: list[str]) -> int:
    git.repository.need_worktree()
    actions = {
        "push": _push, "save": _save, "list": _list, "show": _show, "pop": _pop, "apply": _apply,
        "drop": _drop, "clear": _clear, "branch": _branch, "create": _create, "store": _store,
    }  # fmt: skip
    if words and words[0] in actions:
        return actions[words[0]](git, words[1:])
    if words and not words[0].startswith("-"):
        raise Fatal(
            f"subcommand wasn't specified; 'push' can't be assumed due to unexpected token "
            f"'{words[0]}'"
        )
    return _push(git, words)


class Stash:
    """One stash."""

    def __init__(self, git: Invocation, words: list[str]) -> None:
        if len(words) > 1:
            raise Plain("Too many revisions specified: " + " ".join(f"'{w}'" for w in words), 1)
        repository = git.repository
        name = words[0] if words else ""
        if not name and repository.refs.read(REF) is None:
            raise Plain("No stash entries found.", 1)
        if re.fullmatch(r"\d{1,9}", name):
            name = f"{REF}@{{{name}}}"
        self.name = name or f"{REF}@{{0}}"
        found = Resolver(git).find(self.name)
        if found is None:
            raise GitError(f"{self.name} is not a valid reference")
        self.oid = found
        parents = repository.parents(found)
        if len(parents) < 2:
            raise Fatal(f"'{found}' is not a stash-like commit")
        trees = [repository.objects.commit(oid).tree for oid in (found, *parents[:3])]
        self.work, self.base, self.index = trees[:3]
        self.base_commit = parents[0]
        self.untracked = trees[3] if len(trees) > 3 else None

    @property
    def is_entry(self) -> bool:
        """Whether it is an entry of the log, which can be dropped."""
        return re.fullmatch(r"(?:refs/)?stash(?:@\{.*\})?", self.name) is not None

    @property
    def number(self) -> int:
        found = re.search(r"@\{(\d{1,9})\}", self.name)
        return int(found[1]) if found else 0


# making


class _Maker:
    """What the commits of a new stash are made of."""

    def __init__(self, git: Invocation, options: Options) -> None:
        self.git = git
        self.repository = git.repository
        self.options = options
        self.objects = git.repository.objects
        self.wanted = parse_pathspec(git, options.operands)
        head = self.repository.head()
        if head is None:
            raise Plain("You do not have the initial commit yet", 1)
        self.head = head
        self.head_tree = self.objects.commit(head).tree
        self.index = self.repository.index()
        self.tree = Worktree(self.repository)
        mode = "all" if options.on("include-untracked") or options.on("all") else "no"
        self.scan = scan_worktree(
            self.tree, self.index, self.wanted, untracked=mode,
            ignored="matching" if options.on("all") else "no",
        )  # fmt: skip
        self.untracked: list[bytes] = []
        if mode == "all":
            self.untracked = sorted(self.scan.untracked)
            if options.on("all"):
                self.untracked += sorted(self.scan.ignored)
        self.staged = diff_index(self.repository, self.head_tree, self.index, self.wanted or None)

    @property
    def is_empty(self) -> bool:
        if self.options.on("staged"):
            return not self.staged
        kept = [path for path in self.scan.changed if not self._is_submodule(path)]
        staged = [one for one in self.staged if not one.is_submodule]
        return not (kept or staged or self.untracked)

    def _is_submodule(self, path: bytes) -> bool:
        entry = self.index.get(path)
        return entry is not None and entry.mode == self.scan.changed[path][1] == SUBMODULE

    def make(self, message: str) -> tuple[str, str]:
        """Write the commits; return (stash, its message)."""
        repository = self.repository
        branch = repository.branch().removeprefix("refs/heads/") or "(no branch)"
        subject = decode(subject_of(self.objects.commit(self.head).message))
        text = f"{branch}: {repository.short(self.head)} {subject}"
        parents = [
            self.head,
            self._commit(write_index_tree(repository, self.index), [self.head],
                         f"index on {text}\n"),
        ]  # fmt: skip
        if self.options.on("include-untracked") or self.options.on("all"):
            parents.append(self._commit(self._untracked_tree(), [], f"untracked files on {text}\n"))
        title = f"On {branch}: {message}" if message else f"WIP on {text}"
        return self._commit(self._work_tree(), parents, title), title

    def _commit(self, tree: str, parents: list[str], message: str) -> str:
        repository = self.repository
        author, committer = repository.ident("author"), repository.ident("committer")
        return self.objects.write(
            "commit", format_commit(tree, parents, author, committer, encode(message))
        )

    def _untracked_tree(self) -> str:
        made = Index()
        for path in self.untracked:
            entry = file_entry(self.tree, path)
            if entry is not None:
                made.set(entry)
        return write_index_tree(self.repository, made)

    def _work_tree(self) -> str:
        if self.options.on("staged"):
            return worktree_tree(self.tree, self.index, ())
        removed = [delta.path for delta in self.staged if not delta.new_mode]  # if only there
        return worktree_tree(self.tree, self.index, [*self.scan.changed, *removed])

    # afterwards

    def clear_worktree(self) -> None:
        """Make index and worktree as in HEAD, or as in the index with --keep-index."""
        git, repository = self.git, self.repository
        for path in self.untracked:
            self.tree.remove(path)
        if not self.wanted and not self.options.on("staged"):
            staged = write_index_tree(repository, self.index)
            switch_trees(git, None, self.head_tree, action="reset", reset=True, one_way=True)
            note_reset(git)
            forget_operation(repository)
            if self._keeps():
                switch_trees(git, None, staged, action="reset", reset=True, one_way=True)
            return
        index = repository.index()
        before = flat_tree(self.objects, self.head_tree)
        paths = {delta.path for delta in self.staged}
        if not self.options.on("staged"):
            paths |= set(self.scan.changed)
        for path in sorted(paths):
            entry = index.get(path)
            side = (entry.mode, entry.oid) if entry and self._keeps() else before.get(path)
            if side is None:
                index.remove(path)
                self.tree.remove(path)
            else:
                put_back(repository, self.tree, index, path, side)
        repository.write_index(index)

    def _keeps(self) -> bool:
        return self.options.on("keep-index")


def _push(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["stash"], words)
    return _push_with(git, options, options.text("message"))


def _save(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["stash"], words)
    message = options.text("message") or " ".join(options.operands)
    options.operands = []
    return _push_with(git, options, message)


def _push_with(git: Invocation, options: Options, message: str) -> int:
    from agentsandbox.git.commands.adding import pathspec_words

    if options.on("patch"):
        raise Fatal("git stash --patch needs a terminal; name the files instead")
    options.operands = pathspec_words(git, options)
    repository = git.repository
    unmerged = repository.index().unmerged()
    if unmerged:
        for path in unmerged:
            git.print(f"{decode(path)}: needs merge")
        git.flush()
        raise GitError("could not write index")
    maker = _Maker(git, options)
    if not (options.on("include-untracked") or options.on("all")):
        tracked = parse_pathspec(git, options.operands)
        for entry in maker.index:
            tracked.matches(entry.path)
        missing = tracked.unmatched()
        if missing is not None:
            shown = f":(,prefix:0){missing.given}"
            git.error(f"pathspec '{shown}' did not match any file(s) known to git")
            git.say("Did you forget to 'git add'?")
            return 1
    if maker.is_empty:
        if not options.on("quiet"):
            git.print("No local changes to save")
        return 0
    oid, title = maker.make(message)
    _put(git, oid, title)
    if not options.on("quiet"):
        git.print(f"Saved working directory and index state {title}")
    maker.clear_worktree()
    return 0


def _put(git: Invocation, oid: str, title: str) -> None:
    """Make a commit the newest stash."""
    refs = git.repository.refs
    if refs.read(REF) is None:
        refs.write_log(REF, [])
    refs.write(REF, oid, title)


def make_stash(git: Invocation, message: str) -> str:
    """Write the commits of a stash and return it, "" without local changes."""
    maker = _Maker(git, parse_options(USAGES["stash"], []))
    return "" if maker.is_empty else maker.make(message)[0]


def apply_quietly(git: Invocation, oid: str) -> int:
    """Take the changes of a stash into index and worktree, and print nothing."""
    options = parse_options(USAGES["apply"], ["--index", "--quiet"])
    return _apply_to(git, Stash(git, [oid]), options, leaves_traces=False)


def store_stash(git: Invocation, oid: str, title: str) -> None:
    """Make a commit the newest stash."""
    _put(git, oid, title)


def _create(git: Invocation, words: list[str]) -> int:
    oid = make_stash(git, " ".join(words))
    if oid:
        git.print(oid)
    return 0


def _store(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["store"], words)
    if len(options.operands) != 1:
        if not options.on("quiet"):
            git.say('"git stash store" requires one <commit> argument')
        return 1
    found = Resolver(git).find(options.operands[0], kind="commit")
    if found is None:
        raise Plain(f"Cannot update refs/stash with {options.operands[0]}", 1)
    _put(git, found, options.text("message", 'Created via "git stash store".'))
    return 0


# looking


def _list(git: Invocation, words: list[str]) -> int:
    from agentsandbox.git.commands.logging import COMMANDS

    if git.repository.refs.read(REF) is None:
        return 0
    return COMMANDS["log"](
        git, ["--format=%gd: %gs", "-g", "--first-parent", "-m", *words, "stash", "--"]
    )


def _show(git: Invocation, words: list[str]) -> int:
    from agentsandbox.git.commands.comparing import diff

    names = [word for word in words if not word.startswith("-")]
    options = [word for word in words if word.startswith("-")]
    for name in ("--include-untracked", "-u", "--only-untracked"):
        if name in options:
            raise Fatal(f"git stash show {name} is not supported in this sandbox")
    found = Stash(git, names)
    config = git.config
    if not options:
        options = ["--stat"] if config.flag("stash.showstat", True) else []
        options += ["-p"] if config.flag("stash.showpatch") else []
    return diff(git, [*options, found.base_commit, found.oid])


# taking back


def _apply(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["apply"], words)
    return _apply_to(git, Stash(git, options.operands), options)


def _pop(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["apply"], words)
    found = Stash(git, options.operands)
    if not found.is_entry:
        raise GitError(f"'{found.name}' is not a stash reference")
    status = _apply_to(git, found, options)
    if status:
        git.print("The stash entry is kept in case you need it again.")
        return status
    return _drop_it(git, found, quiet=options.on("quiet"))


def _apply_to(
    git: Invocation, found: Stash, options: Options, *, leaves_traces: bool = True
) -> int:
    # long: the steps of one merge
    repository = git.repository
    index = repository.index()
    if index.unmerged():
        for path in index.unmerged():
            git.print(f"{decode(path)}: needs merge")
        git.flush()
        raise GitError("could not write index")
    now = write_index_tree(repository, index)
    staged = None
    if options.on("index") and found.index not in (found.base, now):
        if now == found.base:
            staged = found.index
        else:
            both = TreeMerge(repository, ("", "", ""), HowToMerge(repository)).run(
                found.base, now, found.index
            )
            if not both.is_clean:
                raise GitError("conflicts in index. Try without --index.")
            staged = both.tree
        if leaves_traces:
            note_reset(git)
    status = _merge_stash(git, found, now, staged, options)
    if found.untracked is not None:
        status |= _restore_untracked(git, found.untracked)
    if not options.on("quiet"):
        from agentsandbox.git.commands.states import COMMANDS

        COMMANDS["status"](git, [])
    return status


def _merge_stash(
    git: Invocation, found: Stash, now: str, staged: str | None, options: Options
) -> int:
    """Merge the changes of a stash into index and worktree."""
    repository = git.repository
    if found.base == found.work and not options.on("quiet"):
        git.print("Already up to date.")
    labels = ("Updated upstream", "Stash base", "Stashed changes")
    merged = TreeMerge(repository, labels, HowToMerge(repository)).run(found.base, now, found.work)
    try:
        put_merge(git, now, merged)
    except Plain as error:
        git.say(error.message)
        return 1
    print_texts(git, merged)
    if not merged.is_clean:
        if options.on("index"):
            git.flush()
            git.say("Index was not unstashed.")
        return 1
    _settle_index(git, now, staged)
    return 0


def _settle_index(git: Invocation, now: str, staged: str | None) -> None:
    """Leave in the index what was staged, and the files that are new."""
    repository = git.repository
    index = repository.index()
    made = index_of_tree(repository, staged or now, index)
    if staged is None:
        known = flat_tree(repository.objects, now)
        _write_skipped(repository, index, known)
    keep_skips(repository, index, made)
    if staged is None:
        for entry in index:
            if entry.path not in known:
                made.set_replacing(entry)
    repository.write_index(made)


def _write_skipped(
    repository: Repository, index: Index, before: dict[bytes, tuple[int, str]]
) -> None:
    """Write files that changed and are outside of a sparse checkout: they belong there now."""
    work = Worktree(repository)
    for entry in list(index):
        if entry.skips and before.get(entry.path) != (entry.mode, entry.oid):
            index.replace(work.write(entry.path, entry.mode, entry.oid))


def _restore_untracked(git: Invocation, tree: str) -> int:
    """Write the untracked files of a stash; return a status."""
    work = Worktree(git.repository)
    files = flat_tree(git.repository.objects, tree)
    there = [path for path in files if work.stat(path) is not None]
    for path in there:
        git.say(f"{decode(path)} already exists, no checkout")
    if there:
        return git.error("could not restore untracked files from stash")
    for path, side in files.items():
        work.write(path, *side)
    return 0


# removing


def _drop(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["apply"], words)
    found = Stash(git, options.operands)
    if not found.is_entry:
        raise GitError(f"'{found.name}' is not a stash reference")
    return _drop_it(git, found, quiet=options.on("quiet"))


def _drop_it(git: Invocation, found: Stash, *, quiet: bool) -> int:
    refs = git.repository.refs
    entries = refs.read_log(REF)
    at = len(entries) - 1 - found.number
    if at >= 0:  # the log may have expired
        del entries[at]
    if not entries:
        refs.delete(REF)
    else:
        if at < len(entries):
            entries[at].old = entries[at - 1].new if at else NULL
        refs.write_log(REF, entries)
        if at == len(entries):
            refs.write_file(refs.path(REF), encode(f"{entries[-1].new}\n"))
    if not quiet:
        git.print(f"Dropped {found.name} ({found.oid})")
    return 0


def _clear(git: Invocation, words: list[str]) -> int:
    if words:
        raise GitError("git stash clear with arguments is unimplemented")
    if git.repository.refs.read(REF) is not None:
        git.repository.refs.delete(REF)
    return 0


def _branch(git: Invocation, words: list[str]) -> int:
    from agentsandbox.git.commands.switching import checkout

    if not words:
        git.say("No branch name specified")
        return 1
    found = Stash(git, words[1:])
    status = checkout(git, ["-b", words[0], found.base_commit])
    if status:
        return status
    options = parse_options(USAGES["apply"], ["--index"])
    status = _apply_to(git, found, options)
    if status == 0 and found.is_entry:
        status = _drop_it(git, found, quiet=False)
    return status


COMMANDS = {"stash": stash}
