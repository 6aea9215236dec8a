"""`git rev-parse`."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.git.dates import approxidate
from agentsandbox.git.errors import Fatal, GitError, Quit
from agentsandbox.git.history import merge_bases
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.nested import enter
from agentsandbox.git.objects import SUBMODULE
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.revisions import Resolver, find_ref, shortest_name, verify_filename
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository

USAGES = {
    "rev-parse": """
git rev-parse --parseopt [<options>] -- [<args>...]
   or: git rev-parse --sq-quote [<arg>...]
   or: git rev-parse [<options>] [<arg>...]
""",
}


_REVISION_FLAGS = re.compile(
    r"--(?:all|bisect|dense|branches|header|ignore-missing|max-age|max-count|merge-base|min-age"
    r"|no-merges|no-renames|not|objects|objects-edge|parents|pretty|remotes|sparse|tags|topo-order"
    r"|date-order|unpacked)(?![\w-])|-n"
)


def rev_parse(git: Invocation, words: list[str]) -> int:
    if words[:1] == ["--sq-quote"]:
        git.print("".join([f" '{_quoted(word)}'" for word in words[1:]]))
        return 0
    if words[:1] == ["--parseopt"]:
        raise Fatal("git rev-parse --parseopt is not supported in this sandbox; use getopt")
    return _Parser(git).run(words)


def _quoted(word: str) -> str:
    return word.replace("'", "'\\''").replace("!", "'\\!'")


class _Parser:
    """Options and revisions take effect in their order."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.verify = self.quiet = False
        self.short: int | None = None
        self.symbolic = ""
        self.abbrev_ref = False
        self.negated = False
        self.flags = self.no_flags = self.revs_only = self.no_revs = False
        self.default = ""
        self.absolute = ""
        self.found = 0
        self.pending: list[tuple[str, str, bool, str | None]] = []
        """What `--verify` has found: it is shown at the end, if it is one."""
        self.excluded: list[str] = []
        self.is_path = False
        self.shell = False
        self.prefix = ""

    def run(self, words: list[str]) -> int:
        # long: one word after the other
        pending = list(reversed(words))
        dashes = "--" in words
        ended = only_paths = False
        while pending:
            word = pending.pop()
            if only_paths:
                if self._file(word):
                    verify_filename(self.git, word)
            elif word == "--":
                if self.flags or not self.revs_only or not self.no_revs:
                    self._file(word, prefix="")
                for each in reversed(pending):
                    self._file(each)
                break
            elif word.startswith("-") and word != "-" and not ended:
                if word == "--end-of-options":
                    ended = True
                    self._file(word, prefix="")
                elif not self._option(word, pending) and self._flag(word) and self.verify:
                    self._die_single()
            elif not self._revision(word):
                if self.verify:
                    self._die_single()
                if dashes:
                    raise Fatal(f"bad revision '{word}'")
                only_paths = True
                if self._file(word):
                    verify_filename(self.git, word, first=True)
        if self.verify:
            if not self.pending:
                self._use_default()
            if len(self.pending) != 1:
                self._die_single()
            self.verify = False
            self._show(*self.pending[0])
            return 0
        self._use_default()
        return 0

    def _die_single(self) -> None:
        if self.quiet:
            raise Quit(1)
        raise Fatal("Needed a single revision")

    def _use_default(self) -> None:
        text, self.default = self.default, ""
        if text and not self.found:
            self._revision(text)

    def _print(self, text: str) -> None:
        self.git.print(f"'{_quoted(text)}'" if self.shell else text)

    def _flag(self, word: str) -> bool:
        is_revision = bool(_REVISION_FLAGS.match(word))
        if self.no_flags or (self.no_revs if is_revision else self.revs_only):
            return self.verify
        self._print(word)
        return True

    def _file(self, word: str, prefix: str | None = None) -> bool:
        self._use_default()
        if self.revs_only or self.flags or self.verify:
            return False
        self._print((self.prefix if prefix is None else prefix) + word)
        return True

    # options

    def _option(self, word: str, pending: list[str]) -> bool:
        # long: a table of short answers
        name, equals, value = word.partition("=")
        git = self.git
        simple = _SIMPLE.get(word)
        if simple is not None:
            simple(self)
            return True
        if word == "-q" or word == "--quiet":
            self.quiet = True
        elif name == "-n" and word == "-n":
            if not pending:
                raise Fatal("-n requires an argument")
            count = pending.pop()
            if not self.no_flags and not self.no_revs:
                self._print("-n")
                self._print(count)
        elif name == "--short":
            self.short = max(4, min(40, int(value))) if value.isdigit() else 0
            self.verify = True
        elif name == "--abbrev-ref":
            if equals and value not in ("strict", "loose"):
                raise Fatal(f"unknown mode for --abbrev-ref: {value}")
            self.abbrev_ref = True
        elif name == "--default":
            self.default = value if equals else pending.pop() if pending else ""
        elif name == "--prefix":
            self.prefix = value if equals else pending.pop() if pending else ""
        elif name == "--path-format":
            if value not in ("absolute", "relative"):
                raise Fatal(f"unknown argument to --path-format: {value}")
            self.absolute = value
        elif name == "--git-path":
            path = value if equals else pending.pop() if pending else ""
            self._place(self._git_path(path), f"{git.repository.file(path)}")
        elif name in ("--since", "--after"):
            self._print(f"--max-age={approxidate(value, git.now, git.tz)}")
        elif name in ("--until", "--before"):
            self._print(f"--min-age={approxidate(value, git.now, git.tz)}")
        elif name in ("--all", "--branches", "--tags", "--remotes", "--glob"):
            self._refs(name, value if equals else None)
        elif name == "--exclude":
            self.excluded.append(value)
        elif name == "--disambiguate":
            for oid in git.repository.objects.with_prefix(value):
                self._print(oid)
        elif name == "--resolve-git-dir":
            path = value if equals else pending.pop() if pending else ""
            from agentsandbox.git.repository import is_repository, linked_folder

            found = path if is_repository(git.fs, git.path(path)) else None
            found = found or linked_folder(git.fs, posixpath.normpath(git.path(path)))
            if found is None:
                raise Fatal(f"not a gitdir '{path}'")
            git.print(found)
        elif name == "--show-object-format":
            if equals and value not in ("storage", "input", "output"):
                raise Fatal(f"unknown mode for --show-object-format: {value}")
            git.print("sha1")
        else:
            return False
        return True

    def _git_path(self, path: str) -> str:
        repository = self.git.repository
        if repository.common != repository.folder:
            return repository.file(path)
        folder = _folder_from_here(repository)
        return f"{folder}/{path}" if folder != "." else path

    def _place(self, shown: str, whole: str) -> None:
        """Print a path, made absolute or relative if that was asked for."""
        if self.absolute == "absolute":
            shown = posixpath.normpath(whole)
        elif self.absolute == "relative":
            shown = posixpath.relpath(whole, self.git.cwd)
            if re.fullmatch(r"\.|(?:\.\./)*\.\.", shown):
                shown += "/"
        self._print(shown)

    def _refs(self, name: str, pattern: str | None) -> None:
        prefixes = {"--branches": "refs/heads/", "--tags": "refs/tags/",
                    "--remotes": "refs/remotes/"}  # fmt: skip
        prefix = prefixes.get(name, "refs/")
        for ref, oid in self.git.repository.refs.all(prefix).items():
            if pattern is not None:
                full = (
                    pattern
                    if name == "--glob" and pattern.startswith("refs/")
                    else (f"refs/{pattern}" if name == "--glob" else prefix + pattern)
                )
                if not re.search(r"[*?\[]", full):
                    full = full.rstrip("/") + "/*"
                if not wildmatch(encode(full), encode(ref), pathname=False):
                    continue
            if any(
                wildmatch(encode(each), encode(ref.removeprefix(prefix)), pathname=False)
                or wildmatch(encode(each), encode(ref), pathname=False)
                for each in self.excluded
            ):
                continue
            self._show(ref, oid, self.negated, ref)
        self.excluded.clear()

    # revisions

    def _show(self, text: str, oid: str, negated: bool, full: str | None = None) -> None:
        if self.verify:
            self.pending.append((text, oid, negated, full))
            return
        self.found += 1
        if self.no_revs:
            return
        mark = "^" if negated else ""
        if (self.symbolic or self.abbrev_ref) and text:
            if self.symbolic == "full" or self.abbrev_ref:
                name = full
                if name is None:
                    found = find_ref(self.git.repository, text)
                    name = found[0] if found else None
                    if name == "HEAD" or (name and self.git.repository.refs.symbolic(name)):
                        name = self.git.repository.refs.target(name)
                if name is None:
                    return
                if self.abbrev_ref:
                    name = shortest_name(self.git.repository, name)
                self._print(mark + name)
                return
            self._print(mark + text)
            return
        if self.short is not None:
            self._print(mark + self.git.repository.short(oid, self.short or None))
        else:
            self._print(mark + oid)

    def _revision(self, word: str) -> bool:
        git = self.git
        if self._range(word):
            return True
        negated = word.startswith("^")
        name = word[1:] if negated else word
        resolver = Resolver(git)
        if name.endswith(("^@", "^!")) or re.search(r"\^-\d*\Z", name):
            return self._parents(name)
        if self.quiet and self.verify:
            try:
                oid = resolver.find(name)
            except Fatal:
                raise Quit(1) from None
        else:
            oid = resolver.find(name)
        if oid is None:
            return False
        self._show(name, oid, negated != self.negated)
        return True

    def _range(self, word: str) -> bool:
        at = word.find("..")
        if at < 0 or word in ("..", "..."):
            return False
        dots = 3 if word.startswith("...", at) else 2
        first, second = word[:at] or "HEAD", word[at + dots :] or "HEAD"
        resolver = Resolver(self.git)
        one, two = resolver.find(first, kind="commit"), resolver.find(second, kind="commit")
        if one is None or two is None:
            return False
        self._show(second, two, self.negated)
        self._show(first, one, not self.negated if dots == 2 else self.negated)
        if dots == 3:
            repository = self.git.repository
            a, b = (repository.objects.peel(oid, "commit") for oid in (one, two))
            if a is not None and b is not None:
                for base in merge_bases(repository, a, [b]):
                    self._show("", base, not self.negated)
        return True

    def _parents(self, name: str) -> bool:
        base, _, mark = name.rpartition("^")
        repository = self.git.repository
        oid = Resolver(self.git).find(base, kind="commit")
        commit = repository.objects.peel(oid, "commit") if oid else None
        if commit is None:
            return False
        parents = repository.parents(commit)
        if mark != "@":
            self._show(base, commit, self.negated)
        for number, parent in enumerate(parents, 1):
            if mark.startswith("-") and number != int(mark[1:] or 1):
                continue
            self._show(f"{base}^{number}", parent, (mark != "@") != self.negated)
        return True


def _set(name: str, value: object = True):  # type: ignore[no-untyped-def]
    return lambda parser: setattr(parser, name, value)


def _toplevel(parser: _Parser) -> None:
    repository = parser.git.repository
    parser._place(repository.need_worktree(), repository.need_worktree())


def _git_dir(parser: _Parser) -> None:
    repository = parser.git.repository
    parser._place(repository.shown_folder, repository.folder)


def _common_dir(parser: _Parser) -> None:
    repository = parser.git.repository
    same = repository.common == repository.folder
    parser._place(_folder_from_here(repository) if same else repository.common, repository.common)


def _folder_from_here(repository: Repository) -> str:
    """Return the folder of a repository as a path from the working directory, if it is above."""
    depth = decode(repository.prefix).count("/")
    if (
        repository.shown_folder.startswith("/")
        and depth
        and (repository.folder == f"{(repository.worktree or '').rstrip('/')}/.git")
    ):
        return "../" * depth + ".git"
    return repository.shown_folder


def _absolute_dir(parser: _Parser) -> None:
    parser._print(parser.git.repository.folder)


def _inside_tree(parser: _Parser) -> None:
    repository = parser.git.repository
    inside = repository.worktree is not None and (
        f"{parser.git.cwd.rstrip('/')}/".startswith(f"{repository.worktree.rstrip('/')}/")
    )
    parser._print("true" if inside else "false")


def _is_inside_folder(parser: _Parser) -> bool:
    return f"{parser.git.cwd.rstrip('/')}/".startswith(f"{parser.git.repository.folder}/")


def _inside_dir(parser: _Parser) -> None:
    parser._print("true" if _is_inside_folder(parser) else "false")


def _bare(parser: _Parser) -> None:
    repository = parser.git.repository
    is_bare = repository.is_bare and repository.config.flag("core.bare", True)
    parser._print("true" if is_bare else "false")


def _shallow(parser: _Parser) -> None:
    parser._print("true" if parser.git.repository.read_file("shallow") is not None else "false")


def _show_prefix(parser: _Parser) -> None:
    parser._print(decode(parser.git.repository.prefix))


def _show_cdup(parser: _Parser) -> None:
    parser._print("../" * parser.git.repository.prefix.count(b"/"))


def _superproject(parser: _Parser) -> None:
    """Print the worktree around this one if that has it as a submodule."""
    git, top = parser.git, parser.git.repository.worktree
    if top is None or top == "/":
        return
    above = posixpath.dirname(top)
    try:
        around = enter(git, above, searches=True).find_repository()
    except GitError:
        return
    if around is None or around.worktree is None:
        return
    path = encode(posixpath.relpath(top, around.worktree))
    if any(entry.mode == SUBMODULE for entry in around.index().stages(path).values()):
        parser._print(around.worktree)


def _env_vars(parser: _Parser) -> None:
    for name in (
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_COUNT",
        "GIT_OBJECT_DIRECTORY",
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_REPLACE_REF_BASE",
        "GIT_PREFIX",
        "GIT_SHALLOW_FILE",
        "GIT_COMMON_DIR",
        "GIT_INTERNAL_SUPER_PREFIX",
    ):
        parser._print(name)


_SIMPLE = {
    "--verify": _set("verify"), "--sq": _set("shell"),
    "--symbolic": _set("symbolic", "plain"), "--symbolic-full-name": _set("symbolic", "full"),
    "--not": lambda parser: setattr(parser, "negated", not parser.negated),
    "--flags": _set("flags"), "--no-flags": _set("no_flags"), "--revs-only": _set("revs_only"),
    "--no-revs": _set("no_revs"),
    "--show-toplevel": _toplevel, "--git-dir": _git_dir, "--git-common-dir": _common_dir,
    "--absolute-git-dir": _absolute_dir, "--is-inside-work-tree": _inside_tree,
    "--is-inside-git-dir": _inside_dir, "--is-bare-repository": _bare,
    "--is-shallow-repository": _shallow, "--show-prefix": _show_prefix, "--show-cdup": _show_cdup,
    "--show-superproject-working-tree": _superproject, "--local-env-vars": _env_vars,
}  # fmt: skip

COMMANDS = {"rev-parse": rev_parse}
