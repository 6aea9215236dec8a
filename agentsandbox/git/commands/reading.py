"""`git read-tree`."""

from __future__ import annotations

from agentsandbox.git.errors import Fatal, Plain, Quit
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import is_safe_path
from agentsandbox.git.revisions import resolve
from agentsandbox.git.three_way import ThreeWay
from agentsandbox.git.trees import flat_tree, index_of_tree
from agentsandbox.git.unpacking import Switch
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "read-tree": """
git read-tree [(-m [--trivial] [--aggressive] | --reset | --prefix=<prefix>)] [-u | -i]
              (--empty | <tree-ish1> [<tree-ish2> [<tree-ish3>]])

    --empty               empty the index
    -v, --verbose         be verbose

Merging
    -m                    merge with the index
    --trivial             only trivial merges
    --aggressive          also those of removed files
    --reset               like -m, without unmerged entries
    --prefix <subdirectory>/
                          read into a directory
    -u                    update the worktree
    --exclude-per-directory <gitignore>
                          overwrite ignored files, as is done anyway
    -i                    do not look at the worktree
    -n, --dry-run         write nothing
    --no-sparse-checkout  ignore the sparse checkout
    -q, --quiet           print no errors of files in the way
""",
}


def read_tree(git: Invocation, words: list[str]) -> int:
    # long: the checks come in git's order
    options = parse_options(USAGES["read-tree"], words)
    repository = git.repository
    prefix = options.get("prefix")
    modes = [options.on("m"), options.on("reset"), prefix is not None]
    if sum(modes) > 1:
        raise Fatal("Which one? -m, --reset, or --prefix?")
    if prefix is not None and prefix.startswith("/"):
        raise Fatal("Invalid prefix, prefix cannot start with '/'")
    unmerged = any(modes) and repository.index().unmerged()
    if unmerged and not options.on("reset"):
        raise Fatal("You need to resolve your current index first")
    trees = [_tree_to_read(git, word) for word in options.operands]
    if not trees and not options.on("empty") and not any(modes):
        git.warn(
            "read-tree: emptying the index with no arguments is deprecated; use --empty"
        )
    elif trees and options.on("empty"):
        raise Fatal("passing trees as arguments contradicts --empty")
    if options.on("i") and options.on("u"):
        raise Fatal("-u and -i at the same time makes no sense")
    for name in ("u", "i"):
        if options.on(name) and not any(modes):
            raise Fatal(f"-{name} is meaningless without -m, --reset, or --prefix")
    if options.given("exclude-per-directory"):
        if not options.on("u"):
            raise Fatal("--exclude-per-directory is meaningless unless -u")
        if options.text("exclude-per-directory") != ".gitignore":
            raise Fatal("--exclude-per-directory argument must be .gitignore")
    if any(modes) and not options.on("i"):
        repository.need_worktree()
    if any(modes) and not trees:
        raise Fatal("you must specify at least one tree to merge")
    if len(trees) > 8:
        raise Fatal("I cannot read more than 8 trees")
    if prefix is not None:
        if len(trees) > 1:
            raise Fatal("read-tree --prefix reads one tree in this sandbox")
        return _bind(git, options, prefix, trees[0])
    if any(modes):
        return _merge_trees(git, options, trees)
    made = Index()
    for tree in trees:
        for path, (mode, oid) in flat_tree(repository.objects, tree).items():
            if not is_safe_path(path, mode):
                raise Fatal(f"invalid path '{decode(path)}'")
            made.set_replacing(Entry(path, mode, oid))
    if len(trees) == 1:
        made = index_of_tree(repository, trees[0])
    if not options.on("dry-run"):
        repository.write_index(made)
    return 0


def _tree_to_read(git: Invocation, word: str) -> str:
    oid = resolve(git, word, kind="tree")
    tree = git.repository.objects.peel(oid, "tree")
    if tree is None:
        raise Fatal(f"failed to unpack tree object {word}")
    return tree


def _bind(git: Invocation, options: Options, prefix: str, tree: str) -> int:
    """Read a tree into a directory of the index."""
    base = encode(prefix.rstrip("/") + "/" if prefix else "")
    switch = Switch(
        git, action="read-tree", update=options.on("u"), looks=not options.on("i"),
        limits=not options.on("no-sparse-checkout"),
    )  # fmt: skip
    for path, (mode, oid) in flat_tree(git.repository.objects, tree).items():
        known = switch.index.get(base + path)
        if known is not None:
            shown = decode(base + path)
            git.error(f"Entry '{shown}' overlaps with '{shown}'.  Cannot bind.")
            raise Quit(128)
        if not is_safe_path(base + path, mode):
            raise Fatal(f"invalid path '{decode(base + path)}'")
        switch.add(base + path, (mode, oid))
    switch.finish(None, dry_run=options.on("dry-run"))
    return 0


def _merge_trees(git: Invocation, options: Options, trees: list[str]) -> int:
    """Merge one, two or more trees with the index."""
    merge = ThreeWay(
        git, action="read-tree", update=options.on("u"), reset=options.on("reset"),
        looks=not options.on("i"), limits=not options.on("no-sparse-checkout"),
    )  # fmt: skip
    if options.on("reset"):
        merge.drop_conflicts()
    if len(trees) == 1:
        merge.one_way(trees[0])
    elif len(trees) == 2:
        merge.two_way(*trees)
    else:
        merge.three_way(trees[:-2], *trees[-2:], aggressive=options.on("aggressive"))
    if options.on("trivial") and merge.stages:
        git.error("Merge requires file-level merging")
        raise Quit(128)
    try:
        merge.finish(trees[-1] if len(trees) < 3 else None, dry_run=options.on("dry-run"))
    except Plain as error:
        if options.on("quiet"):
            raise Quit(error.status) from None
        raise
    return 0


COMMANDS = {"read-tree": read_tree}
