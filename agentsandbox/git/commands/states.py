"""`git status`, `ls-files`, `update-index`, `check-ignore`."""

from __future__ import annotations

import re

from agentsandbox.git.commands.adding import refuse_in_submodule
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.index import Entry
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import LINK, SUBMODULE, is_object_name
from agentsandbox.git.options import parse_options
from agentsandbox.git.paths import is_safe_path, mode_text, quote_path, relative_to, unquote_path
from agentsandbox.git.pathspecs import normalized, parse_pathspec
from agentsandbox.git.patterns import parse_ignores
from agentsandbox.git.progress import whence
from agentsandbox.git.sparse_index import collapsed
from agentsandbox.git.status import Status, StatusPrinter
from agentsandbox.git.texts import expand_elements
from agentsandbox.git.trees import diff_index
from agentsandbox.git.worktree import Worktree, mode_of, scan_worktree
from agentsandbox.kernel.streams import decode, encode

_NO_COLUMNS = ("never", "auto", "")
USAGES = {
    "status": """
git status [<options>] [--] <pathspec>...

    -v, --verbose         show the changes too
    -s, --short           one line for each file
    -b, --branch          show the branch too
    --show-stash          show the number of stashes
    --ahead-behind        count the commits that the upstream lacks
    --porcelain[=<version>]
                          a form for scripts
    --long                the long form (default)
    -z, --null            end entries with NUL
    -u, --untracked-files[=<mode>]
                          show untracked files: all, normal, no
    --ignored[=<mode>]    show ignored files: traditional, matching, no
    --ignore-submodules[=<when>]
                          which submodules are not shown: all, dirty, untracked, none
    --column[=<style>]    only never and auto, which change nothing here
    --no-renames          do not look for renames
    -M, --find-renames[=<n>]
                          look for renames, with a least similarity
""",
    "ls-files": """
git ls-files [<options>] [<file>...]

    -z                    end entries with NUL
    -t                    show a letter for the state of a file
    -v                    the same, in lower case if assumed unchanged
    -c, --cached          show files of the index (default)
    -d, --deleted         show files that are missing
    -m, --modified        show files that changed
    -o, --others          show untracked files
    -i, --ignored         show only ignored files
    -s, --stage           show modes, objects and stages
    -k, --killed          show files that are in the way
    --directory           show a directory instead of its untracked files
    --no-empty-directory  leave out empty directories
    -u, --unmerged        show files with conflicts
    -x, --exclude <pattern>
                          ignore files that match
    -X, --exclude-from <file>
                          read patterns from a file
    --exclude-per-directory <file>
                          read patterns from this file of each directory
    --exclude-standard    ignore what git ignores
    --full-name           print paths from the top
    --error-unmatch       fail if a file is not in the index
    --deduplicate         print each path once
    --sparse              print a directory that a sparse index has as one entry
    --abbrev[=<n>]        shorten objects
    --eol                 show line ends
    --format <format>     print in a format
""",
    "update-index": """
git update-index [<options>] [--] [<file>...]

    -q                    go on if files need an update
    --ignore-submodules   do not look into submodules
    --add                 add files that are not in the index
    --replace             let files replace directories
    --remove              remove files that are missing
    --unmerged            refresh in spite of conflicts
    --refresh             refresh the stat information
    --really-refresh      the same, also of assumed unchanged files
    --cacheinfo           add an entry: mode, object, path
    --chmod (+|-)x        set or clear the executable bit
    --assume-unchanged    take files to be unchanged
    --no-assume-unchanged
                          take this back
    --skip-worktree       do not look at the worktree
    --no-skip-worktree    take this back
    --ignore-skip-worktree-entries
                          with --remove: keep entries that skip the worktree
    --info-only           add entries without objects
    --force-remove        remove from the index, even if the file is there
    -z                    input lines end with NUL
    --stdin               read paths from standard input
    --index-info          read entries from standard input
    --again               update what differs from HEAD
    --verbose             report what is done
""",
    "check-ignore": """
git check-ignore [<options>] <pathname>...

    -q, --quiet           print nothing
    -v, --verbose         print the pattern too
    --stdin               read paths from standard input
    -z                    end lines with NUL
    -n, --non-matching    print paths that do not match too
    --no-index            do not look at the index
""",
}


def status(git: Invocation, words: list[str]) -> int:
    # long: the options choose between four forms
    options = parse_options(USAGES["status"], words)
    config = git.config
    repository = git.repository
    repository.need_worktree()
    mode = config.get("status.showuntrackedfiles", "normal")
    if options.given("untracked-files"):
        mode = options.get("untracked-files") or "all"
        if options.off("untracked-files"):
            mode = "no"
    mode = {"true": "normal", "false": "no"}.get(mode, mode)
    if mode not in ("no", "normal", "all"):
        raise Fatal(f"Invalid untracked files mode '{mode}'")
    ignored = "no"
    if options.on("ignored"):
        ignored = options.get("ignored") or "traditional"
        if ignored not in ("traditional", "matching", "no"):
            raise Fatal(f"Invalid ignored mode '{ignored}'")
        if ignored == "matching" and mode == "no":
            raise Fatal("Unsupported combination of ignored and untracked-files arguments")
    form = "long"
    version = 1
    for name, value, negated in options.order:
        if name == "short":
            form = "long" if negated else "short"
        elif name == "porcelain":
            form = "long" if negated else "porcelain"
            if value in ("2", "v2"):
                version = 2
            elif value not in (None, "1", "v1"):
                raise Fatal(f"unsupported porcelain version '{value}'")
        elif name == "long":
            form = "long"
    if (
        form == "long"
        and config.flag("status.short")
        and not options.given("long")
        and not (options.given("short"))
    ):
        form = "short"
    nul = options.on("null")
    if nul and form == "long":
        form = "porcelain"
    branch = options.on("branch") or (
        form == "short" and config.flag("status.branch") and not options.given("branch")
    )
    wanted = parse_pathspec(git, options.operands)
    least = 30000
    if options.get("find-renames"):
        from agentsandbox.git.diff.options import parse_score

        least = parse_score(options.text("find-renames"))
    if options.text("column", "always" if options.on("column") else "never") not in _NO_COLUMNS:
        raise Fatal("--column is not supported in this sandbox: each name has a line of its own")
    head = repository.head()
    if head is not None and head not in repository.objects:
        raise Fatal("bad object HEAD")
    found = Status(
        git,
        ignore=(options.get("ignore-submodules") or "all")
        if options.on("ignore-submodules")
        else None,
        least=least,
        wanted=wanted,
        untracked=mode,
        ignored=ignored,
        renames=options.on("find-renames")
        or (
            config.flag("status.renames", config.get("diff.renames", "true") != "false")
            and not options.on("no-renames")
        ),
    )
    found.save_refreshed()
    printer = StatusPrinter(found)
    printer.whence = whence(repository)
    printer.ahead_behind = options.on("ahead-behind", config.flag("status.aheadbehind", True))
    printer.show_stash = options.on("show-stash", config.flag("status.showstash"))
    if form == "long":
        if config.flag("status.displaycommentprefix"):
            printer.mark = config.get("core.commentchar", "#")[:1]
        staged = None
        if options.on("verbose"):
            head = repository.head()
            tree = repository.objects.commit(head).tree if head is not None else None
            staged = diff_index(repository, tree, repository.index())
        text = printer.long(staged, twice=options.count("verbose") > 1)
        git.write(encode(text))
    elif form == "porcelain" and version == 2:
        printer.relative = False
        git.write(printer.version2(branch=branch, nul=nul))
    else:
        git.write(printer.short(branch=branch, nul=nul, porcelain=form == "porcelain"))
    return 0


def ls_files(git: Invocation, words: list[str]) -> int:
    return _Listing(git, words).run()


class _Listing:
    def __init__(self, git: Invocation, words: list[str]) -> None:
        self.git = git
        self.options = parse_options(USAGES["ls-files"], words)
        self.repository = git.repository
        self.index = self.repository.index()
        self.nul = self.options.on("z")
        self.full = self.options.on("full-name")
        self.high = git.config.flag("core.quotepath", True)
        words = self.options.operands
        self.wanted = parse_pathspec(git, words)
        self.prefix = self.repository.prefix
        if not words and self.prefix:
            self.wanted = parse_pathspec(git, ["."])
        self.last = b""

    def run(self) -> int:
        options = self.options
        wants = {
            name
            for name in (
                "cached",
                "deleted",
                "modified",
                "others",
                "ignored",
                "stage",
                "unmerged",
                "killed",
            )
            if options.on(name)
        }
        if "ignored" in wants and not wants & {"others", "cached"}:
            raise Fatal("ls-files -i must be used with either -o or -c")
        if "ignored" in wants and not (
            options.on("exclude-standard")
            or options.given("exclude")
            or options.given("exclude-from")
            or options.given("exclude-per-directory")
        ):
            raise Fatal("ls-files --ignored needs some exclude pattern")
        if options.given("exclude-per-directory") and (
            options.text("exclude-per-directory") != ".gitignore"
        ):
            raise Fatal("--exclude-per-directory knows only .gitignore in this sandbox")
        if options.on("eol"):
            raise Fatal("ls-files --eol is not supported in this sandbox")
        if not wants - {"ignored"} or "stage" in wants or "unmerged" in wants:
            wants.add("cached")
        if "others" in wants or "killed" in wants:
            self._others(wants)
        if "cached" in wants:
            self._cached(wants)
        if wants & {"deleted", "modified"}:
            self._changed(wants)
        if options.on("error-unmatch"):
            missing = self.wanted.unmatched()
            if missing is not None:
                self.git.error(f"pathspec '{missing.given}' did not match any file(s) known to git")
                self.git.say("Did you forget to 'git add'?")
                return 1
        return 0

    def _tree(self) -> Worktree:
        tree = Worktree(self.repository)
        options = self.options
        levels = []
        for number, pattern in enumerate(options.all("exclude"), 1):
            levels += parse_ignores(encode(pattern), b"", "")
            del number
        rules = [levels] if levels else []
        for name in options.all("exclude-from"):
            rules.append(parse_ignores(self.git.fs.read_bytes(self.git.path(name)), b"", name))
        if not options.on("exclude-standard"):
            tree._base = []
            if not options.given("exclude-per-directory"):
                tree._levels = lambda folder: tree._base or []  # type: ignore[method-assign]
        if rules:
            tree.add_ignores(rules)
        return tree

    def _others(self, wants: set[str]) -> None:
        tree = self._tree()
        mode = "normal" if self.options.on("directory") else "all"
        ignored = "ignored" in wants
        found = scan_worktree(
            tree, self.index, self.wanted, untracked=mode,
            ignored=("traditional" if mode == "normal" else "matching") if ignored else "no",
        )  # fmt: skip
        paths = found.ignored if ignored else found.untracked
        if ignored and mode == "all":
            paths = self._expanded(tree, paths)
        for path in paths:
            self._print(path, "?" if self._tagged() else "")

    def _expanded(self, tree: Worktree, paths: list[bytes]) -> list[bytes]:
        found: list[bytes] = []
        for path in paths:
            if path.endswith(b"/"):
                for here, _, names in tree.fs.walk(tree.path(path.rstrip(b"/"))):
                    base = encode(here[len(tree.root) + 1 :])
                    found += [base + b"/" + encode(name) for name in names]
            else:
                found.append(path)
        return sorted(found)

    def _tagged(self) -> bool:
        return self.options.on("t") or self.options.on("v")

    def _cached(self, wants: set[str]) -> None:
        only_unmerged = "unmerged" in wants
        staged = "stage" in wants or only_unmerged
        tree = self._tree() if "ignored" in wants else None
        index = self.index
        if self.options.on("sparse") and index.is_collapsed:
            index = collapsed(self.repository, index.copy()) or index
        for entry in index:
            if self.wanted and not self.wanted.matches(entry.path):
                continue
            if only_unmerged and not entry.stage:
                continue
            if tree is not None and not tree.is_ignored(entry.path, False):
                continue
            letter = ""
            if self._tagged():
                letter = "M" if entry.stage else "S" if entry.skips else "H"
                if self.options.on("v") and entry.assumed:
                    letter = letter.lower()
            self._print(entry.path, letter, entry if staged else None, entry)

    def _changed(self, wants: set[str]) -> None:
        tree = Worktree(self.repository)
        found = scan_worktree(tree, self.index, self.wanted)
        for entry in self.index:
            change = found.changed.get(entry.path)
            if change is None:
                continue
            if self.wanted:
                self.wanted.matches(entry.path)
            if "deleted" in wants and change[0] == "D":
                self._print(entry.path, "R" if self._tagged() else "", None, entry)
            if "modified" in wants:
                self._print(entry.path, "C" if self._tagged() else "", None, entry)

    def _print(
        self, path: bytes, letter: str, staged: Entry | None = None, entry: Entry | None = None
    ) -> None:
        if self.options.on("deduplicate") and path == self.last and staged is None:
            return
        self.last = path
        seen = path if self.full else relative_to(path, self.prefix)
        name = seen if self.nul else encode(quote_path(seen, high=self.high))
        head = f"{letter} " if letter else ""
        if self.options.get("format") is not None and entry is not None:
            line = encode(self._formatted(self.options.text("format"), entry, decode(name)))
        else:
            if staged is not None:
                oid = staged.oid
                if self.options.given("abbrev"):
                    oid = self.repository.short(oid, self.options.number("abbrev", 7))
                head += f"{mode_text(staged.mode)} {oid} {staged.stage}\t"
            line = encode(head) + name
        self.git.write(line + (b"\0" if self.nul else b"\n"))

    def _formatted(self, format: str, entry: Entry, name: str) -> str:
        values = {
            "objectmode": mode_text(entry.mode), "objectname": entry.oid,
            "stage": str(entry.stage), "path": name,
        }  # fmt: skip

        def value(key: str) -> str:
            if key == "objecttype":
                return self.repository.objects.type_of(entry.oid)
            if key == "objectsize":
                return str(len(self.repository.objects.read(entry.oid)[1]))
            if key not in values:
                raise Fatal(f"bad ls-files format: %({key})")
            return values[key]

        return expand_elements(format, value, "bad ls-files format: ", literals=True)


def update_index(git: Invocation, words: list[str]) -> int:
    if words == ["-h"]:
        raise BadUsage
    return _IndexUpdate(git).run(words)


class _IndexUpdate:
    """Options and paths take effect in their order."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.repository = git.repository
        self.index = self.repository.index()
        self.tree = Worktree(self.repository) if self.repository.worktree is not None else None
        self.flags: set[str] = set()
        self.mark: tuple[str, bool] | None = None
        self.chmod = ""
        self.failed = False

    def run(self, words: list[str]) -> int:
        # long: one option after the other
        pending = list(reversed(words))
        only_paths = False
        while pending:
            word = pending.pop()
            if only_paths or not word.startswith("-"):
                self._path(normalized(self.git, word), word)
            elif word == "--":
                only_paths = True
            elif word in (
                "--add",
                "--remove",
                "--replace",
                "--force-remove",
                "--info-only",
                "-q",
                "--unmerged",
                "--ignore-submodules",
                "--ignore-skip-worktree-entries",
                "--verbose",
                "-z",
            ):
                self.flags.add(word.lstrip("-"))
            elif word in ("--refresh", "--really-refresh"):
                self._refresh(word == "--really-refresh")
            elif word == "--cacheinfo":
                self._cacheinfo(pending)
            elif word.startswith("--cacheinfo="):
                self._add_info(*self._fields(word[12:]))
            elif word.startswith("--chmod="):
                self.chmod = word[8:]
                if self.chmod not in ("+x", "-x"):
                    raise BadUsage('option \'chmod\' expects "+x" or "-x"', usage=False)
            elif word in ("--assume-unchanged", "--no-assume-unchanged"):
                self.mark = ("assumed", word == "--assume-unchanged")
            elif word in ("--skip-worktree", "--no-skip-worktree"):
                self.mark = ("skips", word == "--skip-worktree")
            elif word == "--stdin":
                end = b"\0" if "z" in self.flags else b"\n"
                for line in self.git.read_input().split(end):
                    if line:
                        name = line if end == b"\0" else unquote_path(line)
                        self._path(normalized(self.git, decode(name)), decode(name))
            elif word == "--index-info":
                self._index_info()
            elif word == "-h":
                raise BadUsage
            elif word.startswith("--"):
                raise BadUsage(f"unknown option `{word[2:]}'")
            else:
                raise BadUsage(f"unknown switch `{word[1]}'")
        self.repository.write_index(self.index)
        return 1 if self.failed else 0

    def _cacheinfo(self, pending: list[str]) -> None:
        if pending and "," in pending[-1]:
            self._add_info(*self._fields(pending.pop()))
            return
        if len(pending) < 3:
            raise BadUsage("option 'cacheinfo' expects <mode>,<sha1>,<path>", usage=False)
        mode, oid, path = pending.pop(), pending.pop(), pending.pop()
        self._add_info(mode, oid, encode(path))

    def _fields(self, text: str) -> tuple[str, str, bytes]:
        parts = text.split(",", 2)
        if len(parts) < 3:
            raise BadUsage("option 'cacheinfo' expects <mode>,<sha1>,<path>", usage=False)
        return parts[0], parts[1], encode(parts[2])

    def _add_info(self, mode: str, oid: str, path: bytes, stage: int = 0) -> None:
        if not re.fullmatch(r"[0-7]{1,6}", mode) or not is_object_name(oid):
            raise BadUsage("option 'cacheinfo' expects <mode>,<sha1>,<path>", usage=False)
        number = int(mode, 8)
        if not is_safe_path(path, number):
            self.git.error(f"Invalid path '{decode(path)}'")
            raise Fatal(f"git update-index: --cacheinfo cannot add {decode(path)}")
        if not stage and not self.index.has_path(path) and "add" not in self.flags:
            self.git.error(f"{decode(path)}: cannot add to the index - missing --add option?")
            raise Fatal(f"git update-index: --cacheinfo cannot add {decode(path)}")
        self.index.set_replacing(Entry(path, _normal_mode(number), oid, stage))

    def _index_info(self) -> None:
        end = b"\0" if "z" in self.flags else b"\n"
        for line in self.git.read_input().split(end):
            if not line:
                continue
            self.git.budget.step()
            head, tab, path = line.partition(b"\t")
            words = decode(head).split(" ")
            if not tab or len(words) < 2:
                raise Fatal(f"malformed index info {decode(line)}")
            path = path if end == b"\0" else unquote_path(path)
            stage = 0
            mode, oid = words[0], words[1]
            if len(words) == 3 and words[2].isdigit():
                stage = int(words[2][:1])
            elif len(words) == 3:
                oid = words[2]
            if not re.fullmatch(r"[0-7]{1,6}", mode) or not is_object_name(oid):
                raise Fatal(f"malformed index info {decode(line)}")
            if int(mode, 8) == 0:
                self.index.remove(path)
                continue
            if not is_safe_path(path, int(mode, 8)):
                self.git.error(f"Invalid path '{decode(path)}'")
                continue
            self.index.set_replacing(Entry(path, _normal_mode(int(mode, 8)), oid, stage))

    def _path(self, path: bytes, shown: str) -> None:
        path = path.rstrip(b"/")
        if not is_safe_path(path):
            self.git.say(f"Ignoring path {shown}")
            return
        if self.mark is not None:
            entry = self.index.get(path)
            if entry is None:
                raise Fatal(f"Unable to mark file {shown}")
            fresh = entry.copy()
            if self.mark[0] == "assumed":
                fresh.assumed = self.mark[1]
            else:
                fresh.skips = self.mark[1]
            self.index.set(fresh)
            return
        if "force-remove" in self.flags:
            self.index.remove(path)
            return
        self._update(path, shown)
        if self.chmod:
            entry = self.index.get(path)
            if entry is None or entry.mode & 0o170000 != 0o100000:
                raise Fatal(f"git update-index: cannot chmod {self.chmod} '{shown}'")
            fresh = entry.copy()
            fresh.mode = 0o100755 if self.chmod == "+x" else 0o100644
            self.index.set(fresh)

    def _update(self, path: bytes, shown: str) -> None:
        tree = self.tree
        if tree is None:
            self.repository.need_worktree()
            return
        known = self.index.get(path)
        if known is not None and known.skips:
            if "remove" in self.flags and "ignore-skip-worktree-entries" not in self.flags:
                self.index.remove(path)
            return
        info = tree.stat(path)
        if info is None:
            if "remove" in self.flags:
                self.index.remove(path)
                return
            self.git.error(f"{shown}: does not exist and --remove not passed")
            raise Fatal(f"Unable to process path {shown}")
        if info.is_dir and known is not None and known.mode != SUBMODULE:
            if "remove" in self.flags:
                self.index.remove(path)
                return
            self.git.error(f"{shown}: does not exist and --remove not passed")
            raise Fatal(f"Unable to process path {shown}")
        if info.is_dir and (known is not None or not self.index.has_folder(path)):
            head = tree.head_of_nested(path)
            if head is not None and known is None and "add" not in self.flags:
                self.git.error(f"{shown}: cannot add to the index - missing --add option?")
                raise Fatal(f"Unable to process path {shown}")
            if head is not None:
                entry = Entry(path, SUBMODULE, head)
                entry.remember(info)
                self.index.set_replacing(entry)
                return
            if known is not None:
                return
        if info.is_dir:
            kind = "individual files" if self.index.has_folder(path) else "files inside"
            self.git.error(f"{shown}: is a directory - add {kind} instead")
            raise Fatal(f"Unable to process path {shown}")
        if known is None and "add" not in self.flags:
            self.git.error(f"{shown}: cannot add to the index - missing --add option?")
            raise Fatal(f"Unable to process path {shown}")
        if known is None and self.index.has_folder(path) and "replace" not in self.flags:
            self.git.error(f"'{shown}' appears as both a file and as a directory")
            self.git.error(f"{shown}: cannot add to the index - missing --add option?")
            raise Fatal(f"Unable to process path {shown}")
        mode = mode_of(info, file_mode=tree.file_mode, known=known.mode if known else 0)
        data = tree.read(path, info, known=known.oid if known else None, warns=True)
        if "info-only" in self.flags:
            from agentsandbox.git.objects import object_name

            oid = object_name("blob", data)
        else:
            oid = self.repository.objects.write("blob", data)
        entry = Entry(path, mode, oid)
        entry.remember(info)
        self.index.set_replacing(entry)

    def _refresh(self, really: bool) -> None:
        if self.tree is None:
            self.repository.need_worktree()
            return
        if really:
            for entry in list(self.index):
                if entry.assumed:
                    fresh = entry.copy()
                    fresh.assumed = False
                    self.index.replace(fresh)
        found = scan_worktree(self.tree, self.index)
        for path in self.index.unmerged():
            if "unmerged" not in self.flags and "q" not in self.flags:
                self.git.print(f"{decode(path)}: needs merge")
                self.failed = True
        for path, (kind, _, _) in sorted(found.changed.items()):
            known = self.index.get(path)
            if known is None or "q" in self.flags:
                continue
            if known.mode == SUBMODULE and "ignore-submodules" in self.flags:
                continue
            del kind
            self.git.print(f"{decode(path)}: needs update")
            self.failed = True


def _normal_mode(mode: int) -> int:
    kind = mode & 0o170000
    if kind == LINK:
        return LINK
    if kind in (0o040000, 0o160000):
        return 0o160000
    return 0o100755 if mode & 0o100 else 0o100644


def check_ignore(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["check-ignore"], words)
    end = "\0" if options.on("z") else "\n"
    if options.on("stdin"):
        if options.operands:
            raise Fatal("cannot specify pathnames with --stdin")
        separator = b"\0" if options.on("z") else b"\n"
        names = [decode(each) for each in git.read_input().split(separator) if each]
    else:
        names = options.operands
        if options.on("z"):
            raise Fatal("-z only makes sense with --stdin")
        if not names:
            raise Fatal("no path specified")
    if options.on("quiet") and options.on("verbose"):
        raise Fatal("cannot have both --quiet and --verbose")
    if options.on("quiet") and len(names) != 1:
        raise Fatal("--quiet is only valid with a single pathname")
    if options.on("non-matching") and not options.on("verbose"):
        raise Fatal("--non-matching is only valid with --verbose")
    tree = Worktree(git.repository)
    index = git.repository.index()
    matched = 0
    for name in names:
        path = normalized(git, name).rstrip(b"/")
        refuse_in_submodule(index, path, name)
        rule = None
        if options.off("index") or not index.has_path(path):
            info = tree.stat(path)
            is_dir = info.is_dir if info is not None else name.endswith("/")
            rule = tree.deciding_rule(path, is_dir)
        if rule is not None and rule.negated and not options.on("verbose"):
            rule = None
        matched += rule is not None
        if options.on("quiet"):
            continue
        shown = name if end == "\0" else quote_path(encode(name))
        if not options.on("verbose"):
            if rule is not None:
                git.write(encode(shown + end))
        elif rule is not None:
            if end == "\0":
                git.write(
                    encode(f"{rule.origin}\0{rule.number}\0") + rule.text + encode(f"\0{shown}\0")
                )
            else:
                git.write(
                    encode(f"{rule.origin}:{rule.number}:") + rule.text + encode(f"\t{shown}\n")
                )
        elif options.on("non-matching"):
            git.write(encode(f"\0\0\0{shown}\0" if end == "\0" else f"::\t{shown}\n"))
    return 0 if matched else 1


COMMANDS = {
    "status": status, "ls-files": ls_files, "update-index": update_index,
    "check-ignore": check_ignore,
}  # fmt: skip
