"""The message of a merge: what is merged, by its kind, and where it is from.

Each head has a line in the form of FETCH_HEAD: "branch 'topic' of URL", "tag 'v1' of ." and so on,
"." for this repository. Heads of one source are joined: "Merge branches 'a' and 'b', tag 'v1' of
URL; commit 'c0ffee'". Texts of annotated tags follow, and the subjects of the commits if asked for.
"""

from __future__ import annotations

from agentsandbox.git.history import Walk
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.revisions import Resolver, find_ref, interpreted
from agentsandbox.git.texts import subject_of
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.repository import Repository

_KINDS = (
    ("branch ", "branch ", "branches "),
    ("remote-tracking branch ", "remote-tracking branch ", "remote-tracking branches "),
    ("tag ", "tag ", "tags "),
)


class Head:
    """A commit that is merged."""

    __slots__ = ("commit", "line", "name", "oid")

    def __init__(self, name: str, oid: str, commit: str, line: str) -> None:
        self.name = name
        """As it was given."""
        self.oid = oid
        """The commit, or a tag of it."""
        self.commit = commit
        self.line = line
        """What it is, and where from, in the form of FETCH_HEAD."""


def read_head(git: Invocation, name: str) -> Head | None:
    """Return the head that a revision names, None if it is no commit."""
    repository = git.repository
    oid = Resolver(git).find(name, kind="commit")
    commit = repository.objects.peel(oid, "commit") if oid is not None else None
    if oid is None or commit is None:
        return None
    return Head(name, oid, commit, _line_of(git, name, oid))


def fetched_heads(repository: Repository) -> list[Head]:
    """Return the heads that the last fetch brought for a merge."""
    found = []
    for line in (repository.read_file("FETCH_HEAD") or "").split("\n"):
        oid, _, rest = line.partition("\t")
        mark, _, text = rest.partition("\t")
        commit = repository.objects.peel(oid, "commit") if len(oid) == 40 and not mark else None
        if commit is not None:
            found.append(Head(oid, oid, commit, text))
    return found


def _line_of(git: Invocation, name: str, oid: str) -> str:
    repository = git.repository
    name = interpreted(repository, name)
    ref = find_ref(repository, name)
    if ref is not None:
        for start, kind in (
            ("refs/heads/", "branch"), ("refs/tags/", "tag"),
            ("refs/remotes/", "remote-tracking branch"),
        ):  # fmt: skip
            if ref[0].startswith(start):
                short = name.removeprefix("refs/").removeprefix(start.removeprefix("refs/"))
                return f"{kind} '{short}' of ."
    base = _without_steps(name)
    if base not in ("", name) and repository.refs.read(f"refs/heads/{base}") is not None:
        is_early = not (name.startswith(f"{base}~") and not name[len(base) + 1 :].strip("0")
                        and len(name) > len(base) + 1)  # fmt: skip
        return f"branch '{base}'{' (early part)' * is_early} of ."
    if repository.objects.type_of(oid) == "tag":
        return f"tag '{name}'"
    return f"commit '{name}'"


def _without_steps(name: str) -> str:
    """Return a revision without the `^` or `~N` at its end."""
    if name.endswith("^"):
        return name.rstrip("^")
    base, tilde, number = name.rpartition("~")
    return base if tilde and (not number or number.isdigit()) else name


class MergeMessage:
    """The parts of a message for some heads."""

    def __init__(self, repository: Repository, heads: list[Head], into: str = "") -> None:
        self.repository = repository
        self.heads = heads
        self.into = into or repository.branch().removeprefix("refs/heads/") or "HEAD"

    def title(self) -> str:
        """Return the first line."""
        sources: dict[str, list[str]] = {}
        for head in self.heads:
            line, of, source = head.line.partition(" of ")
            if of:
                sources.setdefault(source, []).append(line)
            else:
                sources.setdefault(line, [])
        parts = []
        for source, lines in sources.items():
            if not lines:
                parts.append(source)
                continue
            text = ", ".join(_joined(lines))
            parts.append(text + ("" if source == "." else f" of {source}"))
        into = "" if self._is_suppressed() else f" into {self.into}"
        return f"Merge {'; '.join(parts)}{into}"

    def _is_suppressed(self) -> bool:
        """Whether the branch is not named (merge.suppressDest)."""
        patterns = ["main", "master"]
        given = self.repository.config.get_all("merge.suppressdest")
        if given:
            patterns = given[len(given) - given[::-1].index("") :] if "" in given else given
        return any(wildmatch(encode(pattern), encode(self.into)) for pattern in patterns)

    def _origin(self, head: Head) -> str:
        line, of, source = head.line.partition(" of ")
        name = line.removeprefix("remote-tracking ").removeprefix("branch ")
        if not of or source == ".":
            quoted = name.startswith("'") and name.endswith("'") and len(name) > 1
            return name[1:-1] if quoted else name
        return f"{name} of {source}"

    def tags(self) -> str:
        """Return the texts of the annotated tags, with an empty line before."""
        objects = self.repository.objects
        found = [head for head in self.heads if objects.type_of(head.oid) == "tag"]
        texts = []
        for number, head in enumerate(found):
            name = f"# {self._origin(head)}\n" if len(found) > 1 else ""
            text = decode(objects.tag(head.oid).message)
            text += "" if text.endswith("\n") or not text else "\n"
            texts.append(("\n" if name or not number else "") + name + text)
        joined = "".join(texts)
        return joined if len(found) < 2 else "\n" + joined

    def shortlog(self, most: int, head: str) -> str:
        """Return the subjects of the commits that come in, for each head up to the limit."""
        out = []
        for each in self.heads:
            walk = Walk(self.repository)
            walk.tips, walk.hidden = [each.commit], [head]
            walk.most_parents = 1
            commits = list(walk.run())
            count = f" ({len(commits)} commits)" if len(commits) > most else ""
            objects = self.repository.objects
            subjects = [
                f"  {decode(subject_of(objects.commit(oid).message)) or oid}\n"
                for oid in commits[:most]
            ]
            more = "  ...\n" if len(commits) > most else ""
            out.append(f"\n* {self._origin(each)}:{count}\n" + "".join(subjects) + more)
        return "".join(out)


def _joined(lines: list[str]) -> list[str]:
    """Return "branches 'a' and 'b'" and so on for each kind of lines."""
    if lines == ["HEAD"]:
        return ["HEAD"]
    parts = []
    left = list(lines)
    for start, one, many in _KINDS:
        names = [line.removeprefix(start) for line in left if line.startswith(start)]
        left = [line for line in left if not line.startswith(start)]
        if names:
            parts.append((one if len(names) == 1 else many) + _enumerated(names))
    if left:
        parts.append(("commit " if len(left) == 1 else "commits ") + _enumerated(left))
    return parts


def _enumerated(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"
