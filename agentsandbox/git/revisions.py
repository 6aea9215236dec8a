"""Revisions: the names of objects that git understands (gitrevisions(7))."""

from __future__ import annotations

import re

from agentsandbox.git.dates import DEFAULT, approxidate, parse_zone, show_date
from agentsandbox.git.errors import Fatal, GitError
from agentsandbox.git.objects import NULL, is_object_name, seconds_of
from agentsandbox.git.pathspecs import normalized
from agentsandbox.git.texts import text_search
from agentsandbox.git.trees import tree_entry
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.refs import LogEntry
    from agentsandbox.git.repository import Repository

_RULES = (
    ("", ""), ("refs/", ""), ("refs/tags/", ""), ("refs/heads/", ""), ("refs/remotes/", ""),
    ("refs/remotes/", "/HEAD"),
)  # fmt: skip
_DESCRIBED = re.compile(r".*-g([0-9a-f]{4,40})\Z")
_SHORT = re.compile(r"[0-9a-fA-F]{4,40}\Z")
_FITTING = ("commit", "tree", "blob", "committish", "treeish", "only commit")
_HEX_REFERENCE = """Git normally never creates a ref that ends with 40 hex characters
because it will be ignored when you just specify 40-hex. These refs
may be created by mistake. For example,

  git switch -c $br $(git rev-parse ...)

where "$br" is somehow empty and a 40-hex ref is created. Please
examine these refs and maybe delete them. Turn this message off by
running "git config advice.objectNameWarning false\""""


def find_ref(repository: Repository, name: str, *, warn: bool = False) -> tuple[str, str] | None:
    """Return (full name, object) of the reference that a short name means."""
    name = interpreted(repository, name)
    found: tuple[str, str] | None = None
    several = False
    for before, after in _RULES:
        full = f"{before}{name}{after}"
        oid = repository.refs.read(full)
        if oid is not None:
            if found is None:
                found = (full, oid)
                if not warn:
                    break
            else:
                several = True
        elif found is None and before and repository.refs.symbolic(full) is not None:
            repository.git.warn(f"ignoring dangling symref {full}")
    if several:
        repository.git.warn(f"refname '{name}' is ambiguous.")
    return found


def count_refs(repository: Repository, name: str) -> int:
    """Return how many references a short name may mean."""
    name = interpreted(repository, name)
    fulls = [f"{before}{name}{after}" for before, after in _RULES]
    return sum(repository.refs.read(full) is not None for full in fulls)


_NTH = re.compile(r"@\{-([0-9]{1,6})\}")
_UPSTREAM = re.compile(r"@\{(u|upstream|push)\}\Z", re.IGNORECASE)


def interpreted(repository: Repository, name: str) -> str:
    """Return a name with @{-N} at its beginning, and @{upstream} at its end, replaced.

    A branch is named by its short name, an upstream by its full one.
    """
    if "@{" not in name:
        return name
    nth = _NTH.match(name)
    if nth is not None:
        before = nth_branch(repository, int(nth[1]))
        if before is None:
            return name
        name = before + name[nth.end() :]
    mark = _UPSTREAM.search(name)
    if mark is None or "@{" in name[: mark.start()]:
        return name
    return upstream(repository, name[: mark.start()], push=mark[1].lower() == "push")


def branch_named(repository: Repository, text: str) -> str:
    """Return the name of a branch that a command line names, perhaps as @{-N} or @{upstream}."""
    if "@{" not in text:
        return text
    name = interpreted(repository, text)
    return text if name.startswith("refs/remotes/") else name.removeprefix("refs/heads/")


def nth_branch(repository: Repository, number: int) -> str | None:
    """Return the branch (or commit) that was checked out `number` checkouts ago."""
    for entry in reversed(repository.refs.read_log("HEAD")):
        found = re.match(rb"checkout: moving from (\S+) to ", entry.message)
        if found is not None:
            number -= 1
            if number == 0:
                return decode(found[1])
    return None


def upstream(repository: Repository, branch: str, *, push: bool = False) -> str:
    """Return the full name of a branch's upstream ("" is the current branch); Fatal without."""
    if branch in ("", "HEAD", "@"):
        full = repository.branch()
        if not full:
            raise Fatal("HEAD does not point to a branch")
    else:
        full = f"refs/heads/{branch}"
    name = full.removeprefix("refs/heads/")
    found, error = push_place(repository, name) if push else _upstream(repository, name)
    if error:
        raise Fatal(error)
    if found is None:
        merge = repository.config.get(f"branch.{name}.merge")
        raise Fatal(f"upstream branch '{merge}' not stored as a remote-tracking branch")
    return found


def _upstream(repository: Repository, name: str) -> tuple[str | None, str]:
    """Return the upstream of a branch, None if it is not kept here, and what is wrong."""
    config = repository.config
    if config.get(f"branch.{name}.merge") and config.get(f"branch.{name}.remote"):
        return upstream_of(repository, name), ""
    if repository.refs.read(f"refs/heads/{name}") is None and repository.branch() != (
        f"refs/heads/{name}"
    ):
        return None, f"no such branch: '{name}'"
    return None, f"no upstream configured for branch '{name}'"


class Resolver:
    """Finds objects by name."""

    def __init__(self, git: Invocation, *, quiet: bool = False) -> None:
        self.git = git
        self.repository = git.repository
        self.objects = self.repository.objects
        self.quiet = quiet
        """Whether the candidates for an ambiguous short name stay unsaid."""
        self.ambiguous = False
        """Whether a short name was ambiguous."""

    def find(self, text: str, *, kind: str = "") -> str | None:
        """Return the object that a text names, None without one. `kind` prefers among short names.

        Fatal for a text with its own error, such as a reflog that is too short.
        """
        return self._find(text, kind)

    def _find(self, text: str, kind: str = "", depth: int = 0) -> str | None:
        # long: the suffixes, from the last one on
        if depth > 100 or len(text) > 4096 or "\0" in text:
            return None
        if text.endswith("}") and "^{" in text:
            base, _, inner = text.rpartition("^{")
            if inner.count("}") == 1 and not inner[:-1].startswith("/") and ":" not in base:
                return self._peeled(base, inner[:-1], depth)
            if ":" not in text.split("^{", 1)[0]:
                base, _, inner = text.partition("^{")
                if inner.startswith("/"):
                    start = self._find(base, "commit", depth + 1)
                    return self._by_message(inner[1:-1], start) if start else None
        if text.startswith(":/"):
            return self._by_message(text[2:], None)
        colon = _colon(text)
        if colon >= 0:
            return self._by_path(text, colon, depth)
        suffix = re.match(r"(?s)(.+?)([\^~])([0-9]*)\Z", text)
        if suffix is not None and not re.search(r"@\{[^}]*\Z", suffix[1]):
            head, sign, digits = suffix.groups()
            if len(digits) > 9:
                return None
            count = int(digits) if digits else 1
            start = self._find(head, "commit", depth + 1)
            if start is None:
                return None
            return self._parent(start, count) if sign == "^" else self._ancestor(start, count)
        return self._basic(text, kind)

    def _peeled(self, base: str, kind: str, depth: int) -> str | None:
        start = self._find(base, kind if kind in ("commit", "tree", "blob") else "", depth + 1)
        if start is None:
            return None
        if kind == "object":
            return start if start in self.objects else None
        if kind not in ("", "commit", "tree", "blob", "tag"):
            return None
        if kind == "tag":
            return start if self.objects.type_of(start) == "tag" else None
        return self.objects.peel(start, kind or None)

    def _parent(self, oid: str, number: int) -> str | None:
        commit = self.objects.peel(oid, "commit")
        if commit is None:
            return None
        if number == 0:
            return commit
        parents = self.repository.parents(commit)
        return parents[number - 1] if number <= len(parents) else None

    def _ancestor(self, oid: str, count: int) -> str | None:
        commit = self.objects.peel(oid, "commit")
        for _ in range(count):
            if commit is None:
                return None
            self.git.budget.step()
            parents = self.repository.parents(commit)
            commit = parents[0] if parents else None
        return commit

    def _by_message(self, pattern: str, start: str | None) -> str | None:
        from agentsandbox.git.history import Walk

        negated = pattern.startswith("!-")
        if negated:
            pattern = pattern[2:]
        elif pattern.startswith("!!"):
            pattern = pattern[1:]
        elif pattern.startswith("!"):
            return None
        matches = text_search(pattern, self.git.budget)
        walk = Walk(self.repository)
        if start is not None:
            commit = self.objects.peel(start, "commit")
            tips = [commit] if commit else []
        else:
            head = self.repository.head()
            tips = [head] if head else []
            tips += [
                peeled
                for oid in self.repository.refs.all().values()
                if (peeled := self.objects.peel(oid, "commit")) is not None
            ]
        walk.tips = list(dict.fromkeys(tips))
        for oid in walk.run():
            if bool(matches(self.objects.commit(oid).message)) != negated:
                return oid
        return None

    def _by_path(self, text: str, colon: int, depth: int) -> str | None:
        rev, path = text[:colon], text[colon + 1 :]
        if not rev:
            stage, path = staged(path)
            entry = self.repository.index().get(self._path(path), stage)
            return entry.oid if entry is not None else None
        start = self._find(rev, "tree", depth + 1)
        if start is None:
            return None
        tree = self.objects.peel(start, "tree")
        if tree is None:
            return None
        found_entry = tree_entry(self.objects, tree, self._path(path))
        return found_entry[1] if found_entry is not None else None

    def _path(self, path: str) -> bytes:
        if path.startswith(("./", "../")) or path in (".", ".."):
            top = (self.repository.worktree or "").rstrip("/")
            if not top or not f"{self.git.cwd}/".startswith(f"{top}/"):
                raise Fatal("relative path syntax can't be used outside working tree")
            return normalized(self.git, path).rstrip(b"/")
        return encode(path.rstrip("/"))

    def _basic(self, text: str, kind: str) -> str | None:
        if text == "@":
            text = "HEAD"
        if _ends_in_log_entry(text) and not _UPSTREAM.search(text) and not _NTH.fullmatch(text):
            return self._by_log(text)
        if len(text) == 40 and is_object_name(text.lower()):
            if find_ref(self.repository, text) is not None:
                self._warn_of(text)
                if self.git.config.flag("advice.objectnamewarning", True):
                    self.git.say(_HEX_REFERENCE)
            return text.lower()
        found = find_ref(self.repository, text, warn=self._warns()) if text else None
        if found is not None:
            if _SHORT.match(text) and len(self.objects.with_prefix(text.lower())) == 1:
                self._warn_of(text)
            return found[1]
        if text.startswith("@{-"):
            name = interpreted(self.repository, text)
            return name if is_object_name(name) else None
        described = _DESCRIBED.match(text)
        if described is not None:
            return self._short(described[1], "only commit")
        if _SHORT.match(text):
            return self._short(text.lower(), kind)
        return None

    def _warns(self) -> bool:
        return self.git.config.flag("core.warnambiguousrefs", True)

    def _warn_of(self, text: str) -> None:
        if self._warns():
            self.git.warn(f"refname '{text}' is ambiguous.")

    def _short(self, text: str, kind: str) -> str | None:
        names = self.objects.with_prefix(text)
        kind = kind or self.git.config.get("core.disambiguate") or ""
        if len(names) > 1 and kind in _FITTING:
            fitting = [oid for oid in names if self._fits(oid, kind)]
            if len(fitting) == 1:
                return fitting[0]
            names = fitting or names
        if len(names) > 1:
            self.ambiguous = True
            if self.quiet:
                return None
            self.git.error(f"short object ID {text} is ambiguous")
            shown = ["The candidates are:"]
            order = {"tag": 0, "commit": 1, "tree": 2, "blob": 3}
            for oid in sorted(names, key=lambda oid: (order[self.objects.type_of(oid)], oid)):
                shown.append(self._candidate(oid))
            self.git.say("\n".join(f"hint: {line}" for line in shown))
            return None
        return names[0] if names else None

    def _candidate(self, oid: str) -> str:
        found = self.objects.type_of(oid)
        short = self.repository.short(oid)
        if found == "commit":
            commit = self.objects.commit(oid)
            from agentsandbox.git.dates import parse_style

            zone = parse_zone(decode(commit.author.rpartition(b" ")[2]))
            style = parse_style("short")
            assert style is not None
            date = show_date(seconds_of(commit.author), zone, style, 0, "UTC")
            subject = decode(commit.message.partition(b"\n")[0])
            return f"  {short} commit {date} - {subject}"
        return f"  {short} {found}"

    def _fits(self, oid: str, kind: str) -> bool:
        found = self.objects.type_of(oid)
        if kind in ("commit", "committish"):
            return self.objects.peel(oid, "commit") is not None
        if kind in ("tree", "treeish"):
            return found == "tree" or self.objects.peel(oid, "tree") is not None
        return found == kind.removeprefix("only ")

    # reflogs and upstreams

    def _by_log(self, text: str) -> str | None:
        base, _, inner = text.rpartition("@{")
        inner = inner.removesuffix("}")
        if inner.startswith("-"):
            return None
        if base:
            found = find_ref(self.repository, "HEAD" if base == "@" else base)
            if found is None:
                return None
            full = found[0]
            if full == "HEAD" or self.repository.refs.symbolic(full) is None:
                name = base
            else:
                full = name = self.repository.refs.target(full)
        else:
            full = self.repository.branch() or "HEAD"
            name = full.removeprefix("refs/heads/")
        return self._log_at(full, name, inner)

    def _log_at(self, full: str, name: str, inner: str) -> str | None:
        entries = self.repository.refs.read_log(full)
        if re.fullmatch(r"[0-9]{1,8}", inner):
            number = int(inner)
            if not entries:
                if number == 0:
                    return self.repository.refs.read(full)
                raise (
                    Fatal(f"log for '{name}' is empty")
                    if self.git.fs.exists(self.repository.refs.log_path(full))
                    else Fatal(f"log for '{name}' only has 0 entries")
                )
            if number == 0:
                return entries[-1].new
            return self._before_entry(full, name, entries, number)
        when = approxidate(inner.replace(".", " "), self.git.now, self.git.tz)
        if not entries:
            return self.repository.refs.read(full)
        later: LogEntry | None = None
        for entry in reversed(entries):
            if seconds_of(entry.ident) <= when:
                return self._log_entry(full, entry, later, when)
            later = entry
        first = entries[0]
        self.git.warn(f"log for '{name}' only goes back to {_log_date(first)}")
        return first.old if first.old != NULL else first.new

    def _before_entry(
        self, full: str, name: str, entries: list[LogEntry], number: int
    ) -> str:
        """Return what a reference was before its last `number` entries.

        An entry that made it anew says nothing about that: the next one before it does.
        """
        later = entries[-number + 1] if 1 < number <= len(entries) + 1 else None
        for entry in reversed(entries[: len(entries) - number + 1]):
            if entry.old != NULL:
                if later is not None and later.old not in (NULL, entry.new):
                    self.git.warn(f"log for ref {full} has gap after {_log_date(entry)}")
                return entry.old
            later = entry
        raise Fatal(f"log for '{name}' only has {len(entries)} entries")

    def _log_entry(
        self, full: str, entry: LogEntry, later: LogEntry | None, when: int
    ) -> str | None:
        """Return the object after an entry; warn if the entry after it, or the end, contradicts."""
        if later is not None:
            if later.old not in (NULL, entry.new):
                self.git.warn(f"log for ref {full} has gap after {_log_date(entry)}")
            return entry.new
        now = self.repository.refs.read(full)
        if seconds_of(entry.ident) == when or now == entry.new:
            return entry.new
        self.git.warn(f"log for ref {full} unexpectedly ended on {_log_date(entry)}")
        return now


def _log_date(entry: LogEntry) -> str:
    from agentsandbox.git.dates import parse_style

    zone = parse_zone(decode(entry.ident.rpartition(b" ")[2]))
    style = parse_style("rfc") or DEFAULT
    return show_date(seconds_of(entry.ident), zone, style, 0, "UTC")


def staged(path: str) -> tuple[int, str]:
    """Return the stage and the path of what follows the colon of ":N:PATH" or ":PATH"."""
    found = re.match(r"([0-3]):", path)
    return (int(found[1]), path[2:]) if found is not None else (0, path)


def upstream_of(repository: Repository, name: str) -> str | None:
    """Return the full name of the reference that follows a branch's upstream, None without one."""
    config = repository.config
    remote, merge = config.get(f"branch.{name}.remote"), config.get(f"branch.{name}.merge")
    if not remote or not merge:
        return None
    if remote == ".":
        return merge
    return tracking_ref(repository, remote, merge)


def tracking_ref(repository: Repository, remote: str, ref: str) -> str | None:
    """Return the reference in which a remote's reference is kept, None without one."""
    return _mapped(repository, f"remote.{remote}.fetch", ref)


def _mapped(repository: Repository, key: str, ref: str) -> str | None:
    """Return what the refspecs of a key of the configuration make of a reference."""
    for spec in repository.config.get_all(key):
        source, colon, target = spec.removeprefix("+").partition(":")
        target = target if colon else source
        if source == ref:
            return target
        if "*" in source:
            before, _, after = source.partition("*")
            if ref.startswith(before) and ref.endswith(after) and len(ref) >= len(source) - 1:
                middle = ref[len(before) : len(ref) - len(after)]
                return target.replace("*", middle, 1)
    return None


def shortest_name(repository: Repository, full: str) -> str:
    """Return the shortest form of a full name that no other reference has."""
    for before in ("refs/remotes/", "refs/heads/", "refs/tags/", "refs/"):
        if not full.startswith(before):
            continue
        short = full.removeprefix(before)
        rules = (f"{one}{short}{two}" for one, two in _RULES)
        if short and all(rule == full or repository.refs.read(rule) is None for rule in rules):
            return short
    return full


def push_remote(repository: Repository, branch: str) -> str | None:
    """Return the remote to which a branch is pushed by the configuration, None without one."""
    config = repository.config
    for key in (f"branch.{branch}.pushremote", "remote.pushdefault", f"branch.{branch}.remote"):
        if found := config.get(key):
            return found
    return None


def push_target(repository: Repository, branch: str) -> str | None:
    """Return the name that a branch gets on the other side by the remote's refspecs."""
    remote = push_remote(repository, branch)
    full = f"refs/heads/{branch}"
    return None if remote is None else _mapped(repository, f"remote.{remote}.push", full)


def push_ref(repository: Repository, branch: str) -> str | None:
    """Return the reference that follows where a branch is pushed (@{push}), None without one."""
    return push_place(repository, branch)[0]


def push_place(repository: Repository, branch: str) -> tuple[str | None, str]:
    """Return the reference that follows where a branch is pushed, else None and the reason."""
    config = repository.config
    remote = push_remote(repository, branch) or (
        "origin" if config.get("remote.origin.url") else None
    )
    if remote is None:
        return None, f"branch '{branch}' has no remote for pushing"
    full = f"refs/heads/{branch}"
    default = config.get("push.default", "simple")
    place: str | None = full
    if config.get_all(f"remote.{remote}.push"):
        place = _mapped(repository, f"remote.{remote}.push", full)
        if place is None:
            return None, f"push refspecs for '{remote}' do not include '{branch}'"
    elif config.flag(f"remote.{remote}.mirror"):
        pass
    elif default == "nothing":
        return None, "push has no destination (push.default is 'nothing')"
    elif default in ("upstream", "tracking"):
        return _upstream(repository, branch)
    elif default == "simple":
        kept, error = _upstream(repository, branch)
        if error:
            return None, error
        if tracking_ref(repository, remote, full) != kept:
            return None, "cannot resolve 'simple' push to a single destination"
    found = tracking_ref(repository, remote, place or full)
    if found is None:
        return None, (
            f"push destination '{place}' on remote '{remote}' has no local tracking branch"
        )
    return found, ""


def _colon(text: str) -> int:
    """Return where the ":" before a path is, -1 without one; not one inside of braces."""
    depth = 0
    for at, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth = max(0, depth - 1)
        elif character == ":" and not depth:
            return at
    return -1


def resolve(git: Invocation, text: str, *, kind: str = "") -> str:
    """Return the object that a text names; Fatal with "Not a valid object name"."""
    found = Resolver(git).find(text, kind=kind)
    if found is None:
        raise Fatal(f"Not a valid object name {text}")
    return found


def resolve_commit(git: Invocation, text: str, message: str = "") -> str:
    """Return the commit that a text names; Fatal without one."""
    found = Resolver(git).find(text, kind="commit")
    commit = git.repository.objects.peel(found, "commit") if found is not None else None
    if commit is None:
        raise Fatal(message or f"bad revision '{text}'")
    return commit


def path_error(git: Invocation, word: str) -> Fatal | None:
    """Return the error for "REV:PATH" or ":PATH" when only the path is wrong, else None."""
    colon = _colon(word)
    if colon < 0 or (word[0] == ":" and not word[1:2].isalnum()):
        return None
    rev, given = word[:colon], word[colon + 1 :]
    resolver = Resolver(git, quiet=True)
    stage, given = staged(given) if not rev else (0, given)
    path = decode(resolver._path(given))
    full = decode(git.repository.prefix) + path
    exists = git.fs.exists(f"{git.repository.worktree or git.cwd}/{path}", follow=False)
    if not rev:
        return _index_error(git, stage, path, full, exists)
    start = resolver.find(rev, kind="tree")
    tree = resolver.objects.peel(start, "tree") if start is not None else None
    if tree is None:
        return Fatal(f"invalid object name '{rev}'.")
    if exists and path:
        return Fatal(f"path '{path}' exists on disk, but not in '{rev}'")
    if full != path and tree_entry(resolver.objects, tree, encode(full)) is not None:
        return Fatal(
            f"path '{full}' exists, but not '{path}'\n"
            f"hint: Did you mean '{rev}:{full}' aka '{rev}:./{path}'?"
        )
    return Fatal(f"path '{path}' does not exist in '{rev}'")


def _index_error(git: Invocation, stage: int, path: str, full: str, exists: bool) -> Fatal:
    stages = [entry.stage for entry in git.repository.index() if entry.path == encode(path)]
    if stages:
        return Fatal(
            f"path '{path}' is in the index, but not at stage {stage}\n"
            f"hint: Did you mean ':{stages[0]}:{path}'?"
        )
    stages = [entry.stage for entry in git.repository.index() if entry.path == encode(full)]
    if stages:
        return Fatal(
            f"path '{full}' is in the index, but not '{path}'\n"
            f"hint: Did you mean ':{stages[0]}:{full}' aka ':{stages[0]}:./{path}'?"
        )
    if exists:
        return Fatal(f"path '{path}' exists on disk, but not in the index")
    return Fatal(f"path '{path}' does not exist (neither on disk nor in the index)")


def ambiguous(word: str) -> Fatal:
    """Return the error for a word that is neither a revision nor a file."""
    return Fatal(
        f"ambiguous argument '{word}': unknown revision or path not in the working tree.\n"
        "Use '--' to separate paths from revisions, like this:\n"
        "'git <command> [<revision>...] -- [<file>...]'"
    )


def verify_filename(git: Invocation, word: str, *, first: bool = False) -> None:
    """Raise unless a word is the name of a file (or a pattern).

    first  whether it could as well be a revision
    """
    if word.startswith("-"):
        raise Fatal(f"option '{word}' must come before non-option arguments")
    if _looks_like_path(git, word):
        return
    if not first:
        raise Fatal(
            f"{word}: no such path in the working tree.\n"
            "Use 'git <command> -- <path>...' to specify paths that do not exist locally."
        )
    raise path_error(git, word) or ambiguous(word)


def _looks_like_path(git: Invocation, word: str) -> bool:
    if word.startswith(":("):
        return True
    name = word
    if word.startswith(":/"):
        name = word[2:]
        if not name:
            return True
        base = git.repository.worktree or git.cwd
        return git.fs.exists(f"{base}/{name}", follow=False)
    if re.match(r":[!^]", word):
        return True
    if re.search(r"[*?\[]", re.sub(r"\\.", "", word)):
        return True
    return bool(word) and git.fs.exists(git.path(name), follow=False)


def verify_not_filename(git: Invocation, word: str) -> None:
    """Raise if a revision is also the name of a file."""
    if git.repository.worktree is None or word.startswith("-"):
        return
    if git.fs.exists(git.path(word), follow=False):
        raise Fatal(
            f"ambiguous argument '{word}': both revision and filename\n"
            "Use '--' to separate paths from revisions, like this:\n"
            "'git <command> [<revision>...] -- [<file>...]'"
        )


class Revisions:
    """The revisions of a command line: tips and what is excluded."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.resolver = Resolver(git)
        self.repository = git.repository
        self.included: list[str] = []
        self.excluded: list[str] = []
        self.given: list[tuple[str, str, bool]] = []
        """(text, object, whether excluded), in order."""
        self.left: set[str] = set()
        self.symmetric = False
        self.any = False
        """Whether any revision, or option for some, was given."""

    def add(self, text: str, *, negated: bool = False) -> bool:
        """Add a revision or a range; return whether it is one."""
        if self._add_range(text, negated):
            return True
        name = text
        exclude = negated
        if text.startswith("^"):
            name, exclude = text[1:], not negated
        if name.endswith(("^@", "^!")) or re.search(r"\^-[0-9]*\Z", name):
            return self._add_parents(name, exclude)
        oid = self.resolver.find(name, kind="commit")
        if oid is None:
            return False
        self._put(name, oid, exclude)
        return True

    def _put(self, text: str, oid: str, exclude: bool) -> None:
        self.any = True
        self.given.append((text, oid, exclude))
        if oid not in self.repository.objects:
            raise Fatal(f"bad object {text}")
        peeled = self.repository.objects.peel(oid, "commit")
        if peeled is not None:
            (self.excluded if exclude else self.included).append(peeled)

    def _add_parents(self, name: str, exclude: bool) -> bool:
        base, _, mark = name.rpartition("^")
        oid = self.resolver.find(base, kind="commit")
        commit = self.repository.objects.peel(oid, "commit") if oid is not None else None
        if commit is None:
            return False
        parents = list(self.repository.parents(commit))
        if mark.startswith("-"):
            number = int(mark[1:] or 1)
            if not 1 <= number <= len(parents):
                return False
            parents = [parents[number - 1]]
        if mark == "@":
            for parent in parents:
                self._put(name, parent, exclude)
            return True
        for parent in parents:
            self._put(name, parent, not exclude)
        self._put(name, commit, exclude)
        return True

    def _add_range(self, text: str, negated: bool) -> bool:
        at = text.find("..")
        if (
            at < 0
            or text in (".", "..", "...")
            or text.startswith("../")
            or ("@{" in text[:at] and ("}" not in text[:at]))
        ):
            return False
        dots = 3 if text.startswith("...", at) else 2
        first, second = text[:at] or "HEAD", text[at + dots :] or "HEAD"
        one = self.resolver.find(first, kind="commit")
        two = self.resolver.find(second, kind="commit")
        if one is None or two is None:
            return False
        objects = self.repository.objects
        a, b = objects.peel(one, "commit"), objects.peel(two, "commit")
        if a is None or b is None:
            missing = first if a is None else second
            raise (
                Fatal(f"Invalid symmetric difference expression {text}")
                if dots == 3
                else Fatal(f"Invalid revision range {text}" if missing else "")
            )
        if dots == 2:
            self._put(first, one, not negated)
            self._put(second, two, negated)
            return True
        from agentsandbox.git.history import merge_bases

        self.symmetric = True
        for base in merge_bases(self.repository, a, [b]):
            self._put(text, base, not negated)
        self._put(first, one, negated)
        self._put(second, two, negated)
        self.left.add(a)
        return True

    def add_refs(self, refs: dict[str, str], *, negated: bool = False) -> None:
        """Add all commits that references name."""
        self.any = True
        for name, oid in refs.items():
            if oid not in self.repository.objects:
                continue
            peeled = self.repository.objects.peel(oid, "commit")
            if peeled is not None:
                self.given.append((name, oid, negated))
                (self.excluded if negated else self.included).append(peeled)

    def split(self, words: list[str], *, has_dashes: bool, before: int, negated: bool = False
              ) -> list[str]:  # fmt: skip
        """Add the revisions at the beginning of the operands, and return the paths behind them.

        `before` is the number of operands before "--".
        """
        if has_dashes:
            for word in words[:before]:
                if not self.add(word, negated=negated):
                    raise Fatal(f"bad revision '{word}'")
            return words[before:]
        for at, word in enumerate(words):
            if not self.add(word, negated=negated):
                rest = words[at:]
                for number, each in enumerate(rest):
                    verify_filename(self.git, each, first=number == 0)
                return rest
            verify_not_filename(self.git, word)
        return []


def describe_error(error: GitError) -> str:
    """Return an error with its prefix."""
    return f"{error.prefix}{error.message}"


def _ends_in_log_entry(text: str) -> bool:
    """Whether a text ends in @{…}."""
    _, at, place = text.rpartition("@{")
    return bool(at) and place.endswith("}") and place.count("}") == 1
