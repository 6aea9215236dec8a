"""`git fsck`: every object is read and checked, then everything that is named must be there."""

from __future__ import annotations

import re
import zlib
from hashlib import sha1

from agentsandbox.git.dotfiles import modules_problems, tree_problems
from agentsandbox.git.errors import Fatal, GitError
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import (
    EMPTY_TREE,
    NULL,
    SUBMODULE,
    Commit,
    Tag,
    is_directory,
    parse_tree,
    tree_order,
)
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import is_dot_git
from agentsandbox.git.reachability import heads_of, index_tips, reflog_tips
from agentsandbox.git.refs import is_ref_name
from agentsandbox.git.revisions import Resolver
from agentsandbox.git.surroundings import visible
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "fsck": """
git fsck [--tags] [--root] [--unreachable] [--cache] [--no-reflogs]
         [--[no-]full] [--strict] [--verbose] [--lost-found]
         [--[no-]dangling] [--[no-]progress] [--connectivity-only]
         [--[no-]name-objects] [<object>...]

    -v, --verbose         be verbose
    --unreachable         show unreachable objects
    --[no-]dangling       show dangling objects
    --tags                report tags
    --root                report root nodes
    --cache               make index objects head nodes
    --[no-]reflogs        make reflogs head nodes (default)
    --[no-]full           also consider packs and alternate objects
    --connectivity-only   check only connectivity
    --strict              enable more strict checking
    --lost-found          write dangling objects in .git/lost-found
    --[no-]progress       show progress
    --name-objects        is not supported
"""
}
_MODES = {0o100644, 0o100755, 0o120000, 0o040000, 0o160000, 0o100664}


def fsck(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["fsck"], words)
    if options.on("name-objects"):
        raise Fatal("git fsck --name-objects is not supported in this sandbox")
    return _Checker(git, options).run()


class _Checker:
    def __init__(self, git: Invocation, options: Options) -> None:
        self.git = git
        self.options = options
        self.repository = git.repository
        self.objects = git.repository.objects
        self.status = 0
        self.links: dict[str, tuple[str, list[tuple[str, str]]]] = {}
        """(type, [(type, object)] that it names) by object."""
        self.failed: set[str] = set()
        self.modules: list[str] = []
        """The objects that are `.gitmodules` in some tree."""
        self.missing: dict[str, str] = {}
        """The types of objects that are named and not there."""

    def run(self) -> int:
        for oid in dict.fromkeys(self.objects.names()):
            self.git.budget.step()
            self._read(oid)
        if not self.options.on("connectivity-only"):
            self._check_modules()
        tips = self._tips()
        reached = self._follow(tips)
        self._report(reached)
        return self.status

    # objects

    def _read(self, oid: str) -> None:
        try:
            kind, data = self.objects.read(oid)
        except GitError as error:
            self._damaged(oid, error)
            return
        found: list[tuple[str, str]] = []
        problems: list[tuple[str, str, str]] = []
        if kind == "tree":
            try:
                entries = parse_tree(data)
            except ValueError:
                entries = []
                problems.append(("error", "badTree", "cannot be parsed as a tree"))
            found = [
                ("tree" if is_directory(mode) else "blob", each)
                for _, mode, each in entries
                if mode != SUBMODULE
            ]
            problems += _tree_problems(data, entries, strict=self.options.on("strict"))
            more, modules = tree_problems(entries)
            problems += more
            self.modules += modules
        elif kind == "commit":
            if not re.match(rb"tree [0-9a-f]{40}\n", data):
                self.status |= 1
                self.git.say(f"error: bogus commit object {oid}")
                self.git.say(f"error: {oid}: object could not be parsed: {self._shown(oid)}")
                return
            commit = Commit(oid, data)
            found = [("tree", commit.tree), *[("commit", each) for each in commit.parents]]
            problems = _commit_problems(data)
            if not commit.parents and self.options.on("root"):
                self.git.print(f"root {oid}")
        elif kind == "tag":
            tag = Tag(oid, data)
            found = [(tag.kind, tag.object)]
            problems = _tag_problems(data)
            if self.options.on("tags"):
                name = decode(tag.name)
                self.git.print(f"tagged {tag.kind} {tag.object} ({name}) in {oid}")
        self.links[oid] = (kind, found)
        if self.options.on("connectivity-only"):
            return
        self._print(kind, oid, problems)

    def _print(self, kind: str, oid: str, problems: list[tuple[str, str, str]]) -> None:
        for level, name, text in problems:
            if level == "warning" and self.options.on("strict"):
                level = "error"
            level = "warning" if level == "info" else level
            self.git.say(visible(f"{level} in {kind} {oid}: {name}: {text}"))
            if level == "error":
                self.status |= 1

    def _check_modules(self) -> None:
        """Check the files `.gitmodules` of all trees."""
        for oid in dict.fromkeys(self.modules):
            self.git.budget.step()
            if oid not in self.objects:
                text = "unable to read .gitmodules blob"
                self._print("blob", oid, [("error", "gitmodulesMissing", text)])
                continue
            try:
                kind, data = self.objects.read(oid)
            except GitError:
                continue
            problems = [("error", "gitmodulesBlob", "non-blob found at .gitmodules")]
            self._print(kind, oid, modules_problems(data) if kind == "blob" else problems)

    def _damaged(self, oid: str, error: GitError) -> None:
        """Report an object that cannot be read."""
        self.failed.add(oid)
        self.status |= 1
        shown = self._shown(oid)
        lines = [
            line for line in error.message.split("\n") if not line.startswith("fatal: loose object")
        ]
        if any("hash mismatch" in line for line in lines):
            path = f"{self.objects.folder}/{oid[:2]}/{oid[2:]}"
            real = sha1(zlib.decompress(self.git.fs.read_bytes(path))).hexdigest()
            self.git.say(f"error: {real}: hash-path mismatch, found at: {shown}")
            return
        for line in lines:
            text = line.replace(f"unpack {oid} header", f"unpack header of {shown}")
            if f"header for {oid} too long" in text:
                text = f"error: unable to unpack header of {shown}"
            self.git.say(text if text.startswith("error: ") else f"error: {text}")
        if lines == [f"error: corrupt loose object '{oid}'"]:
            self.git.say(f"error: unable to unpack contents of {shown}")
        self.git.say(f"error: {oid}: object corrupt or missing: {shown}")

    def _shown(self, oid: str) -> str:
        path = f"{self.objects.folder}/{oid[:2]}/{oid[2:]}"
        return path[path.find("/.git/") + 1 :] if "/.git/" in path else path

    # what is named

    def _tips(self) -> list[str]:
        options, repository = self.options, self.repository
        if options.operands:
            tips = []
            resolver = Resolver(self.git)
            for word in options.operands:
                oid = resolver.find(word)
                if oid is None:
                    self.git.error(f"invalid parameter: expected sha1, got '{word}'")
                    self.status |= 1
                else:
                    tips.append(oid)
            return tips
        tips = []
        if repository.head() is None and repository.branch():
            branch = repository.branch().removeprefix("refs/heads/")
            self.git.say(f"notice: HEAD points to an unborn branch ({branch})")
        heads = heads_of(repository)
        for name, oid in heads.items():
            if oid in self.links:
                tips.append(oid)
            else:
                self.git.error(f"{name}: invalid sha1 pointer {oid}")
                self.status |= 2
        if not heads:
            self.git.say("notice: No default references")
        if not options.off("reflogs"):
            for name, oid in reflog_tips(repository):
                if oid in self.links:
                    tips.append(oid)
                elif oid != NULL:
                    self.git.error(f"{name}: invalid reflog entry {oid}")
                    self.status |= 2
        tips += index_tips(repository)
        return list(dict.fromkeys(tips))

    def _follow(self, tips: list[str]) -> set[str]:
        """Return what is reached, and report what is missing on the way."""
        reached: set[str] = set()
        missing: dict[str, str] = {}
        pending = list(tips)
        for oid in tips:
            if oid not in self.links and oid != EMPTY_TREE:
                missing.setdefault(oid, "blob")
        while pending:
            oid = pending.pop()
            if oid in reached or oid not in self.links:
                continue
            self.git.budget.step()
            reached.add(oid)
            kind, names = self.links[oid]
            if kind == "commit" and not self.repository.parents(oid):
                names = [each for each in names if each[0] != "commit"]
            for other, each in names:
                if each in self.links:
                    pending.append(each)
                elif each != EMPTY_TREE and each not in missing:
                    missing[each] = other
                    self.status |= 2
                    if each not in self.failed:
                        self.git.print(f"broken link from {kind:>7} {oid}")
                        self.git.print(f"              to {other:>7} {each}")
        self.missing = missing
        self.status |= 2 * bool(missing)
        return reached

    def _report(self, reached: set[str]) -> None:
        """Print what is not reached."""
        options = self.options
        left = [oid for oid in self.links if oid not in reached] + list(self.missing)
        size = 32
        while size - 1 <= 2 * (len(self.links) + len(self.missing)):
            size *= 2
        left.sort(key=lambda oid: int.from_bytes(bytes.fromhex(oid[:8]), "little") % size)
        if options.on("unreachable"):
            for oid in left:
                if oid in self.missing:
                    self.git.print(f"missing {self.missing[oid]} {oid}")
                else:
                    self.git.print(f"unreachable {self.links[oid][0]} {oid}")
            return
        used = {each for oid in left if oid in self.links for _, each in self.links[oid][1]}
        for oid in left:
            if oid in self.missing:
                self.git.print(f"missing {self.missing[oid]} {oid}")
                continue
            if oid in used:
                continue
            kind = self.links[oid][0]
            if options.on("dangling", True):
                self.git.print(f"dangling {kind} {oid}")
            if options.on("lost-found"):
                folder = "commit" if kind == "commit" else "other"
                text = encode(f"{oid}\n")
                self.repository.write_file(
                    f"lost-found/{folder}/{oid}",
                    self.objects.read(oid)[1] if kind == "blob" else text,
                )


Problem = tuple[str, str, str]


def _tree_problems(
    data: bytes, entries: list[tuple[bytes, int, str]], *, strict: bool
) -> list[Problem]:
    found: list[Problem] = []

    def add(condition: bool, level: str, name: str, text: str) -> None:
        if condition:
            found.append((level, name, text))

    names = [name for name, _, _ in entries]
    add(any(oid == NULL for _, _, oid in entries), "warning", "nullSha1",
        "contains entries pointing to null sha1")  # fmt: skip
    add(any(b"/" in name for name in names), "warning", "fullPathname",
        "contains full pathnames")  # fmt: skip
    add(b"" in names, "warning", "emptyName", "contains empty pathname")
    add(b"." in names, "warning", "hasDot", "contains '.'")
    add(b".." in names, "warning", "hasDotdot", "contains '..'")
    add(any(is_dot_git(name) for name in names), "warning", "hasDotgit", "contains '.git'")
    add(_has_padded_mode(data, entries),
        "warning", "zeroPaddedFilemode", "contains zero-padded file modes")  # fmt: skip
    bad = {mode for _, mode, _ in entries} - _MODES
    add(bool(bad) or (strict and any(mode == 0o100664 for _, mode, _ in entries)), "info",
        "badFilemode", "contains bad file modes")  # fmt: skip
    add(len(set(names)) < len(names), "error", "duplicateEntries",
        "contains duplicate file entries")  # fmt: skip
    keys = [tree_order(name, mode) for name, mode, _ in entries]
    add(keys != sorted(keys), "error", "treeNotSorted", "not properly sorted")
    return [("warning" if level == "info" else level, name, text) for level, name, text in found]


def _ident_problems(ident: bytes) -> list[Problem]:
    """Return what is wrong with "Name <mail> seconds zone": the first thing only."""
    name, mark, rest = _upto(ident, b"<>")
    _, close, when = _upto(rest, b"<>")
    time, _, zone = when[1:].partition(b" ")
    for is_bad, kind, text in (
        (ident.startswith(b"<"), "missingNameBeforeEmail", "missing space before email"),
        (mark == b">", "badName", "bad name"),
        (mark != b"<", "missingEmail", "missing email"),
        (not name.endswith(b" "), "missingSpaceBeforeEmail", "missing space before email"),
        (close != b">", "badEmail", "bad email"),
        (not when.startswith(b" "), "missingSpaceBeforeDate", "missing space before date"),
        (time.startswith(b"0") and len(time) > 1, "zeroPaddedDate", "zero-padded date"),
        (not time.isdigit(), "badDate", "bad date"),
        (re.fullmatch(rb"[+-][0-9]{4}", zone) is None, "badTimezone", "bad time zone"),
    ):
        if is_bad:
            return [("error", kind, f"invalid author/committer line - {text}")]
    return []


def _upto(text: bytes, marks: bytes) -> tuple[bytes, bytes, bytes]:
    """Return a text before, at and behind the first of some bytes."""
    at = min([place for place in (text.find(bytes([mark])) for mark in marks) if place >= 0],
             default=len(text))  # fmt: skip
    return text[:at], text[at : at + 1], text[at + 1 :]


def _has_padded_mode(data: bytes, entries: list[tuple[bytes, int, str]]) -> bool:
    at = 0
    for name, _, _ in entries:
        if data[at : at + 1] == b"0":
            return True
        at = data.find(b" ", at) + len(name) + 22
    return False


def _commit_problems(data: bytes) -> list[Problem]:
    head = data.partition(b"\n\n")[0].split(b"\n")
    found: list[Problem] = []
    if b"\0" in data.partition(b"\n\n")[0]:
        text = f"unterminated header: NUL at offset {data.index(0)}"
        return [("error", "nulInHeader", text)]
    at = 1
    while at < len(head) and head[at].startswith(b"parent "):
        if not re.fullmatch(rb"parent [0-9a-f]{40}", head[at]):
            return [("error", "badParentSha1", "invalid 'parent' line format - bad sha1")]
        at += 1
    authors = 0
    while at < len(head) and head[at].startswith(b"author "):
        authors += 1
        found += _ident_problems(head[at][7:])
        if found:
            return found
        at += 1
    if not authors:
        return [("error", "missingAuthor", "invalid format - expected 'author' line")]
    if authors > 1:
        return [("error", "multipleAuthors", "invalid format - multiple 'author' lines")]
    if at >= len(head) or not head[at].startswith(b"committer "):
        return [("error", "missingCommitter", "invalid format - expected 'committer' line")]
    found += _ident_problems(head[at][10:])
    if not found and b"\0" in data:
        found.append(("warning", "nulInCommit", "NUL byte in the commit object body"))
    return found


def _tag_problems(data: bytes) -> list[Problem]:
    head = data.partition(b"\n\n")[0].split(b"\n")
    wanted = (
        (rb"object [0-9a-f]{40}", "missingObject", "invalid format - expected 'object' line"),
        (rb"type [a-z]+", "missingTypeEntry", "invalid format - expected 'type' line"),
        (rb"tag .+", "missingTagEntry", "invalid format - expected 'tag' line"),
    )
    for number, (pattern, name, text) in enumerate(wanted):
        if number >= len(head) or not re.fullmatch(pattern, head[number]):
            return [("error", name, text)]
    if not is_ref_name(f"refs/tags/{decode(head[2][4:])}"):
        return [("warning", "badTagName", f"invalid 'tag' name: {decode(head[2][4:])}")]
    if len(head) < 4 or not head[3].startswith(b"tagger "):
        return [("warning", "missingTaggerEntry", "invalid format - expected 'tagger' line")]
    return _ident_problems(head[3][7:])


COMMANDS = {"fsck": fsck}
