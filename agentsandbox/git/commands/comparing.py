"""`git diff`, `diff-files`, `diff-index`, `diff-tree`."""

from __future__ import annotations

from agentsandbox.git.diff.options import DiffOptions, refuse_drivers
from agentsandbox.git.diff.printing import DiffPrinter
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.modules import checked_rule
from agentsandbox.git.objects import NULL
from agentsandbox.git.paths import Pathspec
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.revisions import Revisions, verify_filename, verify_not_filename
from agentsandbox.git.status import Looking
from agentsandbox.git.trees import Delta, diff_index, diff_trees
from agentsandbox.git.worktree import Worktree, scan_worktree
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "diff": """
git diff [<options>] [<commit>] [--] [<path>...]
   or: git diff [<options>] --cached [--merge-base] [<commit>] [--] [<path>...]
   or: git diff [<options>] [--merge-base] <commit> [<commit>...] <commit> [--] [<path>...]
   or: git diff [<options>] <commit>...<commit> [--] [<path>...]
   or: git diff [<options>] <blob> <blob>
   or: git diff [<options>] --no-index [--] <path> <path>
""",
    "diff-files": """
git diff-files [-q] [-0 | -1 | -2 | -3 | -c | --cc] [<common-diff-options>] [<path>...]
""",
    "diff-index": """
git diff-index [-m] [--cached] [--merge-base] [<common-diff-options>] <tree-ish> [<path>...]
""",
    "diff-tree": """
git diff-tree [--stdin] [-m] [-c | --cc] [-s] [-v] [--pretty] [-t] [-r] [-z] [--root] [--merge-base]
              <tree-ish> [<tree-ish>] [<path>...]
""",
}


class DiffWords:
    """A command line of differences: options, revisions and paths."""

    def __init__(
        self, git: Invocation, words: list[str], own: tuple[str, ...] = (), *, usage: str = "diff"
    ) -> None:
        self.git = git
        self.options = DiffOptions()
        self.own: list[str] = []
        self.operands: list[str] = []
        self.paths: list[str] | None = None
        pending = list(reversed(words))
        while pending:
            word = pending.pop()
            if word == "--":
                self.paths = list(reversed(pending))
                break
            if not word.startswith("-") or word == "-":
                self.operands.append(word)
            elif word in own:
                self.own.append(word)
            elif word == "-h" and not words[1:]:
                raise BadUsage
            elif not self.options.take(word, lambda: pending.pop() if pending else None):
                raise BadUsage(f"invalid option: {word}")

    def split(self) -> tuple[Revisions, list[tuple[str, str]], list[str]]:
        """Return the revisions, the objects that are no commits or trees, and the paths."""
        revisions = Revisions(self.git)
        paths: list[str] = []
        for at, word in enumerate(self.operands):
            if revisions.add(word):
                if self.paths is None:
                    verify_not_filename(self.git, word)
                continue
            if self.paths is not None:
                raise Fatal(f"bad revision '{word}'")
            paths = self.operands[at:]
            for number, each in enumerate(paths):
                verify_filename(self.git, each, first=number == 0)
            break
        blobs = [
            (text, oid)
            for text, oid, _ in revisions.given
            if self.git.repository.objects.peel(oid, "tree") is None
        ]
        return revisions, blobs, paths + (self.paths or [])


def _finish(printer: DiffPrinter, deltas: list[Delta]) -> int:
    printer.print(deltas)
    options = printer.options
    if "check" in options.formats and printer.failed_check:
        return 2
    asked = options.exit_code or options.quiet
    return 1 if asked and printer.has_changes(deltas) else 0


def _looking(git: Invocation, options: DiffOptions) -> Looking:
    """Return how a comparison looks at submodules."""
    rule = options.ignore_submodules
    default = git.config.get("diff.ignoresubmodules", "untracked")
    return Looking(
        git, checked_rule(rule or default), fixed=bool(rule), both="patch" in options.formats
    )


def worktree_deltas(
    git: Invocation, tree: Worktree, wanted: Pathspec, options: DiffOptions
) -> tuple[list[Delta], list[bytes]]:
    """Return the changes of the worktree since the index, and the paths with conflicts."""
    repository = tree.repository
    index = repository.index()
    scan = scan_worktree(tree, index, wanted, look=_looking(git, options))
    unmerged = [path for path in index.unmerged() if not wanted or wanted.matches(path)]
    conflicted = set(unmerged)
    found = []
    for path, (kind, mode, _) in scan.changed.items():
        entry = index.get(path)
        if path in conflicted or entry is None:
            continue
        if entry.intends and kind != "D":
            found.append(Delta(path, 0, NULL, mode, "", "A"))
        else:
            found.append(
                Delta(
                    path,
                    entry.mode,
                    entry.oid,
                    mode,
                    "" if mode else NULL,
                    kind if kind != "D" else "D",
                )
            )
        if path in scan.submodules:
            changed, found[-1].dirt = scan.submodules[path]
            found[-1].new_oid = "" if changed else entry.oid
    found.sort(key=lambda delta: delta.new_path)
    return found, unmerged


def diff(git: Invocation, words: list[str]) -> int:
    # long: the number and kinds of the operands choose what is compared
    from agentsandbox.git.commands.comparing_files import diff_no_index, is_outside

    explicit = "--no-index" in words
    if explicit or git.find_repository() is None or is_outside(git, words):
        rest = [word for word in words if word != "--no-index"]
        return diff_no_index(git, rest, explicit=explicit)
    line = DiffWords(
        git,
        words,
        (
            "--cached",
            "--staged",
            "--merge-base",
            "-0",
            "-1",
            "-2",
            "-3",
            "--base",
            "--ours",
            "--theirs",
        ),
    )
    options = line.options
    options.configure(git)
    if not options.formats and not options.no_patch:
        options.formats.add("patch")
    refuse_drivers(options, git)
    revisions, blobs, words = line.split()
    cached = bool({"--cached", "--staged"} & set(line.own))
    wanted = parse_pathspec(git, words)
    repository = git.repository
    objects = repository.objects
    given = revisions.given
    if blobs:
        return _diff_blobs(git, options, given)
    if "--merge-base" in line.own:
        given = _with_merge_base(git, given, cached)
    if not given or (cached and len(given) == 1):
        if cached:
            return _diff_cached(git, options, given, wanted)
        return _diff_worktree(git, options, wanted, line)
    if len(given) == 1:
        return _diff_commit(git, options, given[0][1], wanted)
    if cached:
        raise BadUsage
    if len(given) == 2 or revisions.symmetric:
        if revisions.symmetric:
            bases = [each for each in given if each[2]]
            tips = [each for each in given if not each[2]]
            old, new = (bases or tips)[0][1], tips[-1][1]
        else:
            old, new = given[0][1], given[1][1]
            if given[0][2] is False and given[1][2] is True:
                old, new = new, old
        printer = DiffPrinter(git, options, mnemonic=("c/", "c/"))
        found = diff_trees(
            objects, objects.peel(old, "tree"), objects.peel(new, "tree"), wanted or None
        )
        return _finish(printer, printer.prepare(found, _unchanged(options, objects, old)))
    from agentsandbox.git.diff.combined import print_combined_trees

    trees = [objects.peel(oid, "tree") or "" for _, oid, _ in given]
    print_combined_trees(git, options, trees[0], trees[1:], wanted)
    return 0


def _unchanged(options: DiffOptions, objects, oid: str) -> list[Delta] | None:  # type: ignore[no-untyped-def]
    """Return all files of a tree as sources of copies, if these are looked for."""
    if options.renames < 3:
        return None
    from agentsandbox.git.trees import flat_tree

    return [
        Delta(path, mode, entry, mode, entry, "M")
        for path, (mode, entry) in flat_tree(objects, objects.peel(oid, "tree")).items()
    ]


def _with_merge_base(
    git: Invocation, given: list[tuple[str, str, bool]], cached: bool
) -> list[tuple[str, str, bool]]:
    from agentsandbox.git.history import merge_bases

    repository = git.repository
    if not 1 <= len(given) <= 2 or any(each[2] for each in given):
        raise BadUsage
    del cached
    head = repository.head()
    other = given[1][1] if len(given) == 2 else head
    one, two = (repository.objects.peel(oid or "", "commit") for oid in (given[0][1], other))
    if one is None or two is None:
        raise Fatal("--merge-base only works with commits")
    bases = merge_bases(repository, one, [two])
    if not bases:
        raise Fatal("no merge base found")
    if len(bases) > 1:
        raise Fatal("multiple merge bases found")
    return [(given[0][0], bases[0], False), *given[1:]]


def _diff_worktree(git: Invocation, options: DiffOptions, wanted: Pathspec, line: DiffWords) -> int:
    repository = git.repository
    repository.need_worktree()
    tree = Worktree(repository)
    found, unmerged = worktree_deltas(git, tree, wanted, options)
    printer = DiffPrinter(git, options, worktree=tree, mnemonic=("i/", "w/"))
    for one in found:
        if not one.new_mode:
            one.new_oid = NULL
    if not unmerged:
        return _finish(printer, printer.prepare(found))
    from agentsandbox.git.diff.combined import print_conflicts

    rows = print_conflicts(printer, found, unmerged, _stage(line))
    printer.print(printer.prepare(rows))
    if "check" in options.formats and printer.failed_check:
        return 2
    return 1 if options.exit_code or options.quiet else 0


def _stage(line: DiffWords) -> str | None:
    """Return the option that chooses a version of files in conflict."""
    stages = ("-0", "-1", "-2", "-3", "--base", "--ours", "--theirs")
    return next((word for word in line.own if word in stages), None)


def _diff_cached(
    git: Invocation, options: DiffOptions, given: list[tuple[str, str, bool]], wanted: Pathspec
) -> int:
    repository = git.repository
    if given:
        tree = repository.objects.peel(given[0][1], "tree")
    else:
        head = repository.head()
        tree = repository.objects.commit(head).tree if head is not None else None
    printer = DiffPrinter(git, options, mnemonic=("c/", "i/"))
    return _finish(
        printer, printer.prepare(diff_index(repository, tree, repository.index(), wanted))
    )


def tree_to_worktree(
    git: Invocation, tree: Worktree, base: str | None, wanted: Pathspec, options: DiffOptions, *,
    exact: bool = True, missing_matches: bool = False,
) -> list[Delta]:  # fmt: skip
    """Return what differs between a tree and the worktree, for the files of the index.

    Without `exact`, also what differs from the index and is again as in the tree. With
    `missing_matches`, a file that is not in the worktree counts as it is in the index.
    """
    repository = git.repository
    index = repository.index()
    scan = scan_worktree(tree, index, wanted, look=_looking(git, options))
    staged = {one.new_path: one for one in diff_index(repository, base, index, wanted)}
    found: list[Delta] = []
    for path in sorted(staged.keys() | scan.changed.keys()):
        one, change = staged.get(path), scan.changed.get(path)
        entry = index.get(path)
        if one is not None:
            old_mode, old_oid = one.old_mode, one.old_oid
            new_mode, new_oid = one.new_mode, one.new_oid
        else:
            assert entry is not None or change is not None
            if entry is None:
                continue
            old_mode, old_oid = (0, NULL) if entry.intends else (entry.mode, entry.oid)
            new_mode, new_oid = entry.mode, entry.oid
        if one is not None and one.unmerged:
            info = tree.stat(path)
            if info is not None:
                from agentsandbox.git.worktree import mode_of

                new_mode, new_oid = mode_of(info), ""
            elif missing_matches:
                first = min(index.stages(path).items())[1]
                new_mode, new_oid = first.mode, first.oid
            else:
                new_mode, new_oid = 0, NULL
        elif change is not None and not (missing_matches and change[0] == "D"):
            kind, mode, _ = change
            new_mode, new_oid = (0, NULL) if kind == "D" else (mode, "")
        changed, dirt = scan.submodules.get(path, (True, 0))
        if not changed and entry is not None:
            new_oid = entry.oid
        is_same = bool(new_oid) and (old_mode, old_oid) == (new_mode, new_oid) and not dirt
        if is_same or not (old_mode or new_mode):
            continue
        if exact and not new_oid and old_mode == new_mode and not dirt:
            info = tree.stat(path)
            if info is not None and tree.hash(path, info) == old_oid:
                continue
        found.append(Delta(path, old_mode, old_oid, new_mode, new_oid))
        found[-1].dirt = dirt
    return found


def _diff_commit(git: Invocation, options: DiffOptions, oid: str, wanted: Pathspec) -> int:
    repository = git.repository
    repository.need_worktree()
    tree = Worktree(repository)
    base = repository.objects.peel(oid, "tree")
    printer = DiffPrinter(git, options, worktree=tree, mnemonic=("c/", "w/"))
    return _finish(printer, printer.prepare(tree_to_worktree(git, tree, base, wanted, options)))


def _diff_blobs(git: Invocation, options: DiffOptions, given: list[tuple[str, str, bool]]) -> int:
    if len(given) != 2:
        raise Fatal(f"unhandled object '{given[0][0]}' given.") if len(given) > 2 else BadUsage()
    sides = []
    for text, oid, _ in given:
        path = text.partition(":")[2] if ":" in text else text
        sides.append((encode(path), oid))
    from agentsandbox.git.trees import tree_entry

    modes = []
    for text, _, _ in given:
        mode = 0o100644
        rev, colon, path = text.partition(":")
        if colon and rev:
            tree = git.repository.objects.peel(Revisions(git).resolver.find(rev) or "", "tree")
            entry = tree_entry(git.repository.objects, tree or "", encode(path)) if tree else None
            mode = entry[0] if entry else mode
        modes.append(mode)
    delta = Delta(sides[1][0], modes[0], sides[0][1], modes[1], sides[1][1], "M")
    delta.old_path = sides[0][0]
    printer = DiffPrinter(git, options)
    if sides[0][1] == sides[1][1]:
        return 0
    return _finish(printer, [delta])


def diff_files(git: Invocation, words: list[str]) -> int:
    own = ("-q", "-0", "-1", "-2", "-3", "--base", "--ours", "--theirs")
    line = DiffWords(git, words, own, usage="diff-files")
    options = line.options
    options.configure(git, porcelain=False)
    if not options.formats and not options.no_patch:
        options.formats.add("raw")
    if options.abbrev is None and not options.abbreviates and "raw" in options.formats:
        options.abbrev = 40
    wanted = parse_pathspec(git, line.operands + (line.paths or []))
    tree = Worktree(git.repository)
    found, unmerged = worktree_deltas(git, tree, wanted, options)
    printer = DiffPrinter(git, options, worktree=tree)
    if unmerged:
        from agentsandbox.git.diff.combined import print_conflicts

        found = print_conflicts(printer, found, unmerged, _stage(line), by_stat=True)
    return _finish(printer, printer.prepare(found))


def diff_index_command(git: Invocation, words: list[str]) -> int:
    line = DiffWords(git, words, ("--cached", "-m", "--merge-base"), usage="diff-index")
    options = line.options
    options.configure(git, porcelain=False)
    if not options.formats and not options.no_patch:
        options.formats.add("raw")
    if options.abbrev is None and not options.abbreviates and "raw" in options.formats:
        options.abbrev = 40
    revisions, _, paths = line.split()
    if len(revisions.given) != 1:
        raise BadUsage
    repository = git.repository
    base = repository.objects.peel(revisions.given[0][1], "tree")
    wanted = parse_pathspec(git, paths)
    if "--cached" in line.own:
        printer = DiffPrinter(git, options)
        found = diff_index(repository, base, repository.index(), wanted, intents=True)
    else:
        tree = Worktree(repository)
        printer = DiffPrinter(git, options, worktree=tree)
        found = tree_to_worktree(
            git, tree, base, wanted, options, exact=False, missing_matches="-m" in line.own
        )
    return _finish(printer, printer.prepare(found))


def diff_tree(git: Invocation, words: list[str]) -> int:
    # long: one or two trees, commits with their heads
    own = (
        "-r",
        "-t",
        "--root",
        "-m",
        "-v",
        "--stdin",
        "--always",
        "--no-commit-id",
        "--merge-base",
    )
    pretty = [word for word in words if word.startswith(("--pretty", "--format="))]
    line = DiffWords(git, [word for word in words if word not in pretty], own, usage="diff-tree")
    options = line.options
    options.configure(git, porcelain=False)
    if not options.formats and not options.no_patch:
        options.formats.add("patch" if options.combined == "cc" else "raw")
    if options.abbrev is None and not options.abbreviates and "raw" in options.formats:
        options.abbrev = 40
    recursive = bool({"-r", "-t"} & set(line.own)) or bool(
        options.formats - {"raw", "name-only", "name-status"}
    )
    repository = git.repository
    objects = repository.objects
    from agentsandbox.git.diff.combined import print_combined_trees

    def compare(old: str | None, new: str | None, wanted: Pathspec) -> list[Delta]:
        return diff_trees(
            objects, old, new, wanted or None, recursive=recursive, show_trees="-t" in line.own
        )

    def show_combined(commit: str, parents: tuple[str, ...], wanted: Pathspec) -> bool:
        if "--no-commit-id" not in line.own:
            git.write(encode(commit) + (b"\0" if options.nul else b"\n"))
        trees = [objects.commit(oid).tree for oid in (*parents, commit)]
        return print_combined_trees(git, options, trees[-1], trees[:-1], wanted)

    def show(commit: str, wanted: Pathspec) -> bool:
        parents = repository.parents(commit)
        if not parents and "--root" not in line.own and not git.config.flag("log.showroot", True):
            return False
        if not parents and "--root" not in line.own:
            return False
        if len(parents) > 1 and "-m" not in line.own:
            return bool(options.combined) and show_combined(commit, parents, wanted)
        any_found = False
        for parent in parents or (None,):
            old = objects.commit(parent).tree if parent is not None else None
            printer = DiffPrinter(git, options)
            found = printer.prepare(compare(old, objects.commit(commit).tree, wanted))
            if (found or "--always" in line.own) and "--no-commit-id" not in line.own:
                git.write(encode(commit) + (b"\0" if options.nul else b"\n"))
            _finish(printer, found)
            any_found = any_found or bool(found)
        return any_found

    if pretty:
        raise Fatal("git diff-tree --pretty is not supported in this sandbox; use git show")
    if "--stdin" in line.own:
        wanted = parse_pathspec(git, line.operands + (line.paths or []))
        for text in decode(git.read_input()).split("\n"):
            ids = text.split()
            if len(ids) == 1 and objects.type_of(ids[0]) == "commit":
                show(ids[0], wanted)
            elif len(ids) == 2:
                printer = DiffPrinter(git, options)
                git.print(text)
                _finish(
                    printer,
                    printer.prepare(
                        compare(objects.peel(ids[0], "tree"), objects.peel(ids[1], "tree"), wanted)
                    ),
                )
        return 0
    revisions, _, paths = line.split()
    wanted = parse_pathspec(git, paths)
    if len(revisions.given) == 1:
        commit = objects.peel(revisions.given[0][1], "commit")
        if commit is None:
            raise BadUsage
        any_found = show(commit, wanted)
        return 1 if any_found and options.exit_code else 0
    if len(revisions.given) != 2:
        raise BadUsage
    (_, old, excluded), (_, new, other) = revisions.given
    if other and not excluded:
        old, new = new, old
    printer = DiffPrinter(git, options)
    return _finish(
        printer,
        printer.prepare(compare(objects.peel(old, "tree"), objects.peel(new, "tree"), wanted)),
    )


COMMANDS = {
    "diff": diff, "diff-files": diff_files, "diff-index": diff_index_command,
    "diff-tree": diff_tree,
}  # fmt: skip
