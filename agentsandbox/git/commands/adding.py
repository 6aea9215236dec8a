"""`git add`, `rm`."""

from __future__ import annotations

from agentsandbox.git.errors import Fatal
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.modules import FILE, refuse_linked_path, remove_section
from agentsandbox.git.nested import enter_path, folder_of, uses_file
from agentsandbox.git.objects import SUBMODULE
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import Pathspec, is_safe_path
from agentsandbox.git.pathspecs import advise_outside, parse_pathspec
from agentsandbox.git.status import Status
from agentsandbox.git.superproject import absorb
from agentsandbox.git.trees import flat_tree
from agentsandbox.git.worktree import Worktree, mode_of, refuse_beyond_link, scan_worktree
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "add": """
git add [<options>] [--] <pathspec>...

    -n, --dry-run         only say what would be added
    -v, --verbose         say what is added

    -i, --interactive     choose in a dialog
    -p, --patch           choose hunks in a dialog
    -e, --edit            edit the changes
    -f, --force           add ignored files too
    -u, --update          update files of the index only
    --renormalize         convert line ends of the files of the index again
    -N, --intent-to-add   only note that the files will be added
    -A, --all             add, update and remove
    --ignore-removal      do not remove files that are missing
    --refresh             only refresh the index
    --ignore-errors       go on after a file that cannot be read
    --ignore-missing      with -n: check whether missing files would be ignored
    --sparse              update files outside of the sparse checkout
    --[no-]warn-embedded-repo
                          warn when adding an embedded repository
    --chmod (+|-)x        set or clear the executable bit in the index
    --pathspec-from-file <file>
                          read the files from a file
    --pathspec-file-nul   they end with NUL there
""",
    "rm": """
git rm [<options>] [--] <file>...

    -n, --dry-run         only say what would be removed
    -q, --quiet           print nothing
    --cached              remove from the index only
    -f, --force           remove files that changed too
    -r                    remove directories
    --ignore-unmatch      succeed if nothing matches
    --sparse              remove files outside of the sparse checkout
    --pathspec-from-file <file>
                          read the files from a file
    --pathspec-file-nul   they end with NUL there
""",
}


def pathspec_words(git: Invocation, options: Options) -> list[str]:
    """Return the operands, or those of --pathspec-from-file."""
    name = options.get("pathspec-from-file")
    if name is None:
        if options.on("pathspec-file-nul"):
            raise Fatal("the option '--pathspec-file-nul' requires '--pathspec-from-file'")
        return options.operands
    if options.operands:
        raise Fatal("'--pathspec-from-file' and pathspec arguments cannot be used together")
    data = git.read_input() if name == "-" else git.fs.read_bytes(git.path(name))
    separator = b"\0" if options.on("pathspec-file-nul") else b"\n"
    from agentsandbox.git.paths import unquote_path

    return [
        decode(each if separator == b"\0" else unquote_path(each.rstrip(b"\r")))
        for each in data.split(separator)
        if each
    ]


def add(git: Invocation, words: list[str]) -> int:
    # long: the checks come before anything is added, as in git
    options = parse_options(USAGES["add"], words)
    for name in ("interactive", "patch", "edit"):
        if options.on(name):
            raise Fatal(f"git add --{name} needs a terminal; name the files instead")
    repository = git.repository
    repository.need_worktree()
    operands = pathspec_words(git, options)
    everything = options.on("all") or options.on("update")
    if options.on("all") and options.on("update"):
        raise Fatal("options '-A' and '-u' cannot be used together")
    if options.get("chmod") not in (None, "+x", "-x"):
        raise Fatal(f"--chmod param '{options.get('chmod')}' must be either -x or +x")
    if options.on("ignore-missing") and not options.on("dry-run"):
        raise Fatal("the option '--ignore-missing' requires '--dry-run'")
    if not operands and not everything and not options.on("renormalize"):
        git.say("Nothing specified, nothing added.")
        if git.config.flag("advice.addemptypathspec", True):
            git.say(
                "hint: Maybe you wanted to say 'git add .'?\n"
                "hint: Turn this message off by running\n"
                'hint: "git config advice.addEmptyPathspec false"'
            )
        return 0
    wanted = parse_pathspec(git, operands) if operands else Pathspec()
    tree = Worktree(repository)
    repository.refuse_locked_index()
    index = repository.index()
    for item in wanted.items:
        if item.literal:
            refuse_beyond_link(tree, item.path.rstrip(b"/"), item.given)
    for item in wanted.items:
        refuse_in_submodule(index, item.path, item.given)
    adder = _Adder(git, tree, index, options)
    untracked_mode = "no" if options.on("update") or options.on("renormalize") else "all"
    removal = not options.off("all") and not options.on("ignore-removal")
    scan = scan_worktree(
        tree, index, wanted, untracked=untracked_mode,
        ignored="no" if not options.on("force") or untracked_mode == "no" else "traditional",
    )  # fmt: skip
    outside = _Outside(git, index, wanted, everything=options.on("sparse"))
    for item in wanted.items:
        item.matched = False
    for entry in index:
        if not outside.hides(entry):
            wanted.matches(entry.path)
    if not options.on("refresh"):
        for path in scan.untracked:
            wanted.matches(path.rstrip(b"/"), path.endswith(b"/"))
    found = list(scan.untracked) + (list(scan.ignored) if options.on("force") else [])
    outside.find_words()
    refused = _missing(git, tree, wanted, options, outside)
    if refused:
        return refused
    if options.on("refresh"):
        repository.write_index(index)
        return 1 if outside.words else 0
    if options.on("renormalize"):
        for entry in list(index):
            if (
                entry.mode & 0o170000 == 0o100000
                and not outside.has(entry)
                and wanted.matches(entry.path)
            ):
                adder.add(entry.path)
    for path, (kind, _, _) in sorted(scan.changed.items()):
        if outside.leaves_out(path):
            continue
        if kind == "D":
            if removal:
                adder.remove(path)
        else:
            adder.add(path)
    left = [path for path in sorted(found) if outside.leaves_out(path)]
    for path in sorted(found):
        if not outside.leaves_out(path):
            adder.add(path)
    if left:
        advise_outside(git, map(decode, left))
        adder.failed = True
    if options.get("chmod"):
        adder.set_executable(wanted, options.text("chmod"), outside)
    if not options.on("dry-run"):
        repository.write_index(index)
    return 1 if adder.failed or outside.words else 0


class _Outside:
    """The files of the index that are outside of the sparse checkout."""

    def __init__(
        self, git: Invocation, index: Index, wanted: Pathspec, *, everything: bool
    ) -> None:
        self.git = git
        self.index = index
        self.wanted = wanted
        self.everything = everything
        """Whether nothing counts as outside (--sparse)."""
        self.words: list[str] = []
        """Words that match only files outside."""

    def leaves_out(self, path: bytes) -> bool:
        """Whether a path is outside."""
        return not self.everything and self.git.repository.leaves_out(path)

    def hides(self, entry: Entry) -> bool:
        """Whether an entry is outside, or has no file in the worktree."""
        return entry.skips or self.git.repository.leaves_out(entry.path)

    def has(self, entry: Entry) -> bool:
        """The same, if that counts."""
        return not self.everything and self.hides(entry)

    def find_words(self) -> None:
        """Look which words match only files outside; they count as matched."""
        if self.everything:
            return
        entries: list[Entry] | None = None
        for item in self.wanted.items:
            if item.matched:
                continue
            if entries is None:
                entries = [entry for entry in self.index if self.has(entry)]
            if any(item.matches(entry.path) for entry in entries):
                self.words.append(item.given)
                item.matched = True

    def advise(self) -> None:
        """Say which these words are."""
        if self.words:
            advise_outside(self.git, self.words)


def refuse_in_submodule(index: Index, path: bytes, given: str) -> None:
    """Raise if a path is within a submodule."""
    at = path.find(b"/")
    while 0 <= at < len(path) - 1:
        entry = index.get(path[:at])
        if entry is not None and entry.mode == SUBMODULE:
            raise Fatal(f"Pathspec '{given}' is in submodule '{decode(path[:at])}'")
        at = path.find(b"/", at + 1)


_HINT_IGNORED = "The following paths are ignored by one of your .gitignore files:\n"


def _missing(
    git: Invocation, tree: Worktree, wanted: Pathspec, options: Options, outside: _Outside
) -> int:
    """Complain about words that match nothing; return a status if that ends the command."""
    ignored: list[str] = []
    for item in wanted.items:
        if item.matched:
            continue
        path = item.path.rstrip(b"/")
        info = tree.stat(path) if path else tree.fs.stat(tree.root or "/")
        if (
            path
            and tree.is_ignored(path, info is not None and info.is_dir)
            and item.literal
            and (info is not None or options.on("ignore-missing"))
        ):
            if not options.on("force"):
                rule_path = _ignored_part(tree, path)
                ignored.append(decode(rule_path) if rule_path != path else item.given)
            continue
        if info is not None and item.literal:
            continue  # an empty directory
        if options.on("ignore-missing"):
            continue
        raise Fatal(f"pathspec '{item.given}' did not match any files")
    outside.advise()
    if ignored:
        git.say(_HINT_IGNORED + "\n".join(dict.fromkeys(ignored)))
        if git.config.flag("advice.addignoredfile", True):
            git.say(
                "hint: Use -f if you really want to add them.\n"
                "hint: Turn this message off by running\n"
                'hint: "git config advice.addIgnoredFile false"'
            )
        return 0 if options.on("ignore-errors") else 1
    return 0


def _ignored_part(tree: Worktree, path: bytes) -> bytes:
    at = path.find(b"/")
    while at >= 0:
        rule = tree.rule_for(path[:at], True)
        if rule is not None and not rule.negated:
            return path[:at]
        at = path.find(b"/", at + 1)
    return path


class _Adder:
    def __init__(self, git: Invocation, tree: Worktree, index: Index, options: Options) -> None:
        self.git = git
        self.tree = tree
        self.index = index
        self.dry = options.on("dry-run")
        self.loud = options.on("verbose") or self.dry
        self.intent = options.on("intent-to-add")
        self.ignore_errors = options.on("ignore-errors")
        self.warns = options.on("warn-embedded-repo", True) and not options.on("update")
        self.failed = False
        self.hinted = False

    def add(self, path: bytes) -> None:
        """Add or update a file."""
        self.git.budget.step(4)
        name = path.rstrip(b"/")
        if not is_safe_path(name):
            raise Fatal(f"invalid path '{decode(name)}'")
        info = self.tree.stat(name)
        if info is None:
            return
        known = self.index.get(name)
        if self.loud:
            self.git.print(f"add '{decode(name)}'")
        if self.dry:
            return
        if path.endswith(b"/") or info.is_dir:
            self._add_repository(name)
            return
        if self.intent and known is not None:
            return
        mode = mode_of(info, file_mode=self.tree.file_mode, known=known.mode if known else 0)
        if self.intent:
            entry = Entry(name, mode, self.git.repository.objects.write("blob", b""))
            entry.intends = True
        else:
            try:
                data = self.tree.read(name, info, known=known.oid if known else None, warns=True)
            except OSError as error:
                self.git.error(f'open("{decode(name)}"): {error.strerror}')
                self.git.error(f"unable to index file '{decode(name)}'")
                if not self.ignore_errors:
                    raise Fatal("adding files failed") from None
                self.failed = True
                return
            entry = Entry(name, mode, self.tree.repository.objects.write("blob", data))
            entry.remember(info)
        self.index.set_replacing(entry)

    def _add_repository(self, name: bytes) -> None:
        head = self.tree.head_of_nested(name)
        shown = decode(name)
        if head is None:
            self.git.error(f"'{shown}/' does not have a commit checked out")
            raise Fatal("adding files failed")
        known = self.index.stages(name).values()
        if self.warns and not any(entry.mode == SUBMODULE for entry in known):
            self.git.warn(f"adding embedded git repository: {shown}")
            if not self.hinted:
                self.git.hint(_EMBEDDED.replace("{name}", shown), "addEmbeddedRepo")
                self.hinted = True
        entry = Entry(name, SUBMODULE, head)
        info = self.tree.stat(name)
        if info is not None:
            entry.remember(info)
        self.index.set_replacing(entry)

    def remove(self, path: bytes) -> None:
        """Remove a file that is missing from the index."""
        if self.loud:
            self.git.print(f"remove '{decode(path)}'")
        if not self.dry:
            self.index.remove(path)

    def set_executable(self, wanted: Pathspec, how: str, outside: _Outside) -> None:
        """Set or clear the executable bit of the files that were named."""
        for entry in list(self.index):
            if outside.has(entry) or not wanted.matches(entry.path):
                continue
            if entry.mode & 0o170000 != 0o100000:
                self.git.error(f"cannot chmod {how} '{decode(entry.path)}'")
                self.failed = True
                continue
            fresh = entry.copy()
            fresh.mode = 0o100755 if how == "+x" else 0o100644
            if not self.dry:
                self.index.set(fresh)


_EMBEDDED = """You've added another git repository inside your current repository.
Clones of the outer repository will not contain the contents of
the embedded repository and will not know how to obtain it.
If you meant to add a submodule, use:

\tgit submodule add <url> {name}

If you added this path by mistake, you can remove it from the
index with:

\tgit rm --cached {name}

See "git help submodule" for more information."""


def rm(git: Invocation, words: list[str]) -> int:
    # long: the checks come before anything is removed
    options = parse_options(USAGES["rm"], words)
    repository = git.repository
    operands = pathspec_words(git, options)
    if not operands:
        raise Fatal("No pathspec was given. Which files should I remove?")
    cached = options.on("cached")
    tree = Worktree(repository)
    index = repository.index()
    wanted = parse_pathspec(git, operands)
    paths: list[bytes] = []
    outside = _Outside(git, index, wanted, everything=options.on("sparse"))
    submodules: set[bytes] = set()
    for entry in index:
        if outside.has(entry):
            continue
        if wanted.matches(entry.path, entry.mode == SUBMODULE) and (
            not paths or paths[-1] != entry.path
        ):
            paths.append(entry.path)
            if entry.mode == SUBMODULE:
                submodules.add(entry.path)
                demand_staged_modules(tree, index)
    found = [item for item in wanted.items if item.matched]
    if not options.on("ignore-unmatch"):
        outside.find_words()
    for item in wanted.items:
        if not item.matched:
            if not options.on("ignore-unmatch"):
                raise Fatal(f"pathspec '{item.given}' did not match any files")
            continue
        if item not in found:
            continue
        if (
            not options.on("r")
            and item.path.rstrip(b"/")
            and index.has_folder(item.path.rstrip(b"/"))
            and not index.has_path(item.path.rstrip(b"/"))
            and item.literal
        ) or (not options.on("r") and not item.path):
            raise Fatal(f"not removing '{item.given}' recursively without -r")
    outside.advise()
    status = 1 if outside.words else 0
    if not found:
        return status
    if not cached:
        _absorb_folders(git, index, [path for path in paths if path in submodules])
    if not options.on("force"):
        problems = _refusals(git, tree, index, paths, cached)
        if problems:
            return 1
    for path in paths:
        if not options.on("quiet"):
            git.print(f"rm '{decode(path)}'")
        if not options.on("dry-run"):
            index.remove(path)
    if options.on("dry-run"):
        return 0
    if not cached:
        staged = removed = False
        for path in paths:
            if path in submodules:
                staged = _remove_submodule(git, tree, path) or staged
                removed = True
            elif tree.remove(path) or tree.stat(path) is None:
                removed = True
            elif not removed:
                raise Fatal(f"git rm: '{decode(path)}': Is a directory")
        if staged:
            stage_modules(tree, index)
    repository.write_index(index)
    return status


# submodules


def demand_staged_modules(tree: Worktree, index: Index) -> None:
    """Raise if `.gitmodules` has changes that are not staged: they would be staged along."""
    name = encode(FILE)
    entry, info = index.get(name), tree.stat(name)
    if entry is not None and info is not None and tree.is_changed(entry, info):
        word = "please" if tree.repository.git.name == "rm" else "Please"
        raise Fatal(f"{word} stage your changes to .gitmodules or stash them to proceed")


def stage_modules(tree: Worktree, index: Index) -> None:
    """Add `.gitmodules` to the index."""
    name = encode(FILE)
    info = tree.stat(name)
    if info is None or not info.is_file:
        raise Fatal("staging updated .gitmodules failed")
    entry = Entry(name, mode_of(info, file_mode=tree.file_mode),
                  tree.repository.objects.write("blob", tree.read(name, info)))  # fmt: skip
    entry.remember(info)
    index.set_replacing(entry)


def _absorb_folders(git: Invocation, index: Index, paths: list[bytes]) -> None:
    """Move the `.git` folders out of submodules that are to be removed."""
    for path in paths:
        name = decode(path)
        where = git.repository.work_path(path)
        entry = index.get(path) or index.get(path, 2)
        if entry is None or not git.fs.is_dir(where) or not git.fs.listdir(where):
            continue
        refuse_linked_path(git, name)
        if not _uses_files(git, name):
            absorb(git, name)


def _uses_files(git: Invocation, path: str) -> bool:
    """Whether `.git` of a submodule, and of all within, is a file."""
    if not uses_file(git.repository, path):
        return False
    inner = enter_path(git, path)
    return all(
        not inner.fs.is_dir(f"{inner.repository.work_path(entry.path)}/.git")
        and (
            folder_of(inner.repository, decode(entry.path)) is None
            or git.budget.nested(lambda entry=entry: _uses_files(inner, decode(entry.path)))  # type: ignore[misc]
        )
        for entry in inner.repository.index()
        if entry.mode == SUBMODULE
    )


def _would_lose(git: Invocation, path: str) -> bool:
    """Whether a submodule has something that would be lost with its worktree."""
    where = git.repository.work_path(encode(path))
    refuse_linked_path(git, path)
    if not git.fs.is_dir(where) or not git.fs.listdir(where):
        return False
    if not _uses_files(git, path):
        return True
    status = Status(enter_path(git, path), untracked="all", renames=False, ignore="none")
    return bool(status.staged or status.conflicts or status.changed or status.scan.untracked)


def _remove_submodule(git: Invocation, tree: Worktree, path: bytes) -> bool:
    """Remove the worktree and the section of a submodule; return whether the section was there."""
    where = tree.path(path)
    refuse_linked_path(git, decode(path))
    if git.fs.is_dir(where):
        git.fs.remove_tree(where)
    return remove_section(git, decode(path))


def _refusals(
    git: Invocation, tree: Worktree, index: Index, paths: list[bytes], cached: bool
) -> bool:
    """Complain about files whose changes would be lost; return whether there are any."""
    head = git.repository.head()
    base = flat_tree(
        git.repository.objects,
        git.repository.objects.commit(head).tree if head is not None else None,
    )
    both, staged, local = [], [], []
    for path in paths:
        entry = index.get(path)
        if entry is None:
            entry = index.get(path, 2)
            where = tree.path(path)
            if (
                entry is None
                or entry.mode != SUBMODULE
                or (tree.fs.is_dir(where) and not tree.fs.listdir(where))
            ):
                continue
        info = tree.stat(path)
        if info is None:
            if not cached:
                continue
        elif info.is_dir and entry.mode != SUBMODULE:
            continue
        changed = (
            info is not None
            and not info.is_dir
            and not (entry.is_fresh(info) and info.mtime < index.mtime)
            and tree.is_changed(entry, info)
        )
        if info is not None and entry.mode == SUBMODULE:
            changed = tree.is_changed(entry, info) or _would_lose(git, decode(path))
        old = base.get(path)
        differs = head is None or old is None or old != (entry.mode, entry.oid)
        if changed and differs:
            if not cached or not entry.intends:
                both.append(path)
        elif not cached and differs:
            staged.append(path)
        elif not cached and changed:
            local.append(path)
    hints = git.config.flag("advice.rmhints", True)
    _complain(
        git,
        both,
        "staged content different from both the\nfile and the HEAD",
        "\n(use -f to force removal)" if hints else "",
        only_first=True,
    )
    if not cached:
        keep = "\n(use --cached to keep the file, or -f to force removal)" if hints else ""
        _complain(git, staged, "changes staged in the index", keep)
        _complain(git, local, "local modifications", keep)
    return bool(both or (not cached and (staged or local)))


def _complain(
    git: Invocation, paths: list[bytes], what: str, hint: str, *, only_first: bool = False
) -> None:
    if not paths:
        return
    one = len(paths) == 1
    names = "\n".join(f"    {decode(path)}" for path in paths)
    if only_first:
        head = (
            "the following file has " if one else "the following files have "
        ) + "staged content different from both the\nfile and the HEAD:"
    else:
        head = f"the following file{' has' if one else 's have'} {what}:"
    git.error(f"{head}\n{names}{hint}")


COMMANDS = {"add": add, "rm": rm}
