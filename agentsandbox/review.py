"""`SandboxGit`, the public class behind `sandbox.git`: the host reviews what an agent committed."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from agentsandbox.errors import RepositoryError, RevisionError, SandboxError
from agentsandbox.files.turns import Turn
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, NoReturn, Protocol

    from agentsandbox.files.arguments import StrPath
    from agentsandbox.files.turns import Owner
    from agentsandbox.git.diff.printing import FileStat
    from agentsandbox.git.host_view import HostView
    from agentsandbox.git.objects import Commit
    from agentsandbox.git.trees import Delta

    Status = Literal["added", "deleted", "modified", "renamed", "type changed"]

    class GitOwner(Owner, Protocol):
        """The part of a sandbox that `SandboxGit` uses."""

        def now(self) -> float: ...
        def _refuse_use(self) -> None: ...


__all__ = ["GitChange", "GitCommit", "GitDiff", "GitPatch", "GitPerson", "SandboxGit"]

_STATUSES: dict[str, Status] = {
    "A": "added", "D": "deleted", "M": "modified", "R": "renamed", "T": "type changed",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GitPerson:
    """Who wrote or committed a change, and when: as the commit says, which nobody checked.

    name, email  texts; bytes that are not UTF-8 show as U+FFFD
    time         seconds since the epoch
    """

    name: str
    email: str
    time: int


@dataclass(frozen=True, slots=True)
class GitCommit:
    """A commit.

    id         40 hexadecimal digits
    parents    the ids of its parents; two or more for a merge, none for a first commit
    message    the whole text, its last newline included
    """

    id: str
    parents: tuple[str, ...]
    author: GitPerson
    committer: GitPerson
    message: str

    @property
    def subject(self) -> str:
        """The first paragraph of the message, on one line."""
        return " ".join(self.message.strip().partition("\n\n")[0].split())


@dataclass(frozen=True, slots=True)
class GitChange:
    """A file that differs.

    path            below the top of the worktree; of a deleted file, where it was
    status          "added", "deleted", "modified", "renamed" or "type changed" (file, link …)
    old_path        where a renamed file was, `path` for all others
    added, deleted  numbers of lines; None for a binary file
    """

    path: str
    status: Status
    old_path: str
    added: int | None
    deleted: int | None


@dataclass(frozen=True, slots=True)
class GitDiff:
    """The difference between two states of the files.

    patch  what `git apply` takes, binary files included; b"" if there is no difference
    files  the files that differ, in order of path
    """

    patch: bytes
    files: tuple[GitChange, ...]

    @property
    def text(self) -> str:
        """The patch as text for a reader; bytes that are not UTF-8 show as U+FFFD."""
        return str(self.patch, "utf-8", "replace")

    def __bool__(self) -> bool:
        return bool(self.files)


@dataclass(frozen=True, slots=True)
class GitPatch:
    """A commit as a mail for `git am`.

    name     of a file: "0001-subject.patch"
    commit   the id of the commit
    content  the mail
    """

    name: str
    commit: str
    content: bytes


class SandboxGit:
    """The git repositories of a sandbox, for the program that owns it: `sandbox.git`.

    `path` is a directory of a repository, or below one; by default the shell's working directory.
    `base` and `head` are revisions as git writes them: an object's name, a branch, a tag, "HEAD~2".
    What a branch or a tag names is the agent's choice: a host that must be sure gives the full name
    of a commit that it knows.

    Nothing is written, and no program, hook or setting of the repository is used. Contents are
    checked against their names. It acts with the agent's permissions.

    Raises `RepositoryError` (a `SandboxError`) if there is no repository or it is damaged, and
    `RevisionError` (a `RepositoryError`) for a text that names no commit; `TimeoutError` after
    `limits.timeout` seconds; `ClosedError` when the sandbox is closed, `SandboxError` while the
    same thread executes a script in it. Another thread waits.
    """

    __slots__ = ("_owner",)

    def __init__(self, sandbox: GitOwner) -> None:
        if importlib.util.find_spec("dulwich") is None:
            raise SandboxError(
                "sandbox.git needs the optional library dulwich: pip install 'agentsandbox[git]'"
            )
        self._owner = sandbox

    def __repr__(self) -> str:
        return f"<SandboxGit of {self._owner!r}>"

    def diff(self, base: str = "HEAD", head: str | None = None, *, path: StrPath = ".") -> GitDiff:
        """Return what changed from the commit `base` to the files as they are now, or to `head`.

        The files are those of the worktree, also those that were not added; files that a
        `.gitignore` names are left out unless they are tracked.
        """
        _check_revision(base, "base")
        if head is not None:
            _check_revision(head, "head")
        with _Review(self._owner, path) as view:
            patch, changes = view.changes(base, head)
            return GitDiff(patch, tuple([_change(delta, stat) for delta, stat in changes]))

    def commits(
        self, base: str | None = None, head: str = "HEAD", *, path: StrPath = "."
    ) -> list[GitCommit]:
        """Return the commits that `head` has and `base` has not, newest first; all without a base.

        A commit comes before its parents. A repository without commits has [].
        """
        if base is not None:
            _check_revision(base, "base")
        _check_revision(head, "head")
        with _Review(self._owner, path) as view:
            return [_commit(commit) for commit in view.commits(base, head)]

    def format_patches(
        self, base: str, head: str = "HEAD", *, path: StrPath = "."
    ) -> list[GitPatch]:
        """Return the commits that `head` has and `base` has not, as mails for `git am`, in order.

        Merges are left out, as `git format-patch` leaves them out.
        """
        _check_revision(base, "base")
        _check_revision(head, "head")
        with _Review(self._owner, path) as view:
            return [
                GitPatch(name, commit, content)
                for commit, name, content in view.patches(base, head)
            ]


class _Review(Turn):
    """One question about a repository: it holds the lock, and raises public errors only."""

    __slots__ = ("_path",)

    def __init__(self, owner: GitOwner, path: StrPath) -> None:
        super().__init__(owner, False)
        self._path = path

    def __enter__(self) -> HostView:  # type: ignore[override]  # the view, not the turn
        owner: GitOwner = self._owner  # type: ignore[assignment]
        super().__enter__()
        try:
            owner._refuse_use()
            return self._open(owner)
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise

    def _open(self, owner: GitOwner) -> HostView:
        from random import Random

        from agentsandbox.contract.command import CommandContext
        from agentsandbox.contract.host import Host
        from agentsandbox.git.host_view import HostView
        from agentsandbox.kernel.processes import Scheduler
        from agentsandbox.kernel.streams import Buffer, Null

        path = self.path(self._path)
        if not self.fs.is_dir(path):
            raise RepositoryError(f"there is no directory '{path}'")
        budget = self.budget()
        messages = Buffer(budget.value_bytes)
        host = Host(clock=owner.now, random=Random, scheduler=Scheduler(budget))
        ctx = CommandContext(
            "git", [], stdin=Null(), stdout=messages, stderr=messages, fs=self.fs, cwd=path, env={},
            budget=budget, run=_refuse_to_run, start=_refuse_to_run, host=host,
        )  # fmt: skip
        return HostView(ctx, path)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        super().__exit__(kind, error, trace)
        from agentsandbox.git.errors import GitError
        from agentsandbox.git.host_view import UnknownRevision

        if isinstance(error, UnknownRevision):
            raise RevisionError(error.message) from None
        if isinstance(error, GitError):
            raise RepositoryError(error.message) from None
        if isinstance(error, OSError):
            name = f"{error.filename}: " if error.filename else ""
            raise RepositoryError(f"{name}{error.strerror}") from error


def _refuse_to_run(*_: object, **__: object) -> NoReturn:
    raise RepositoryError("a review runs no programs")


def _check_revision(value: object, argument: str) -> None:
    if type(value) is not str:
        raise TypeError(f"{argument} must be a str, not {type(value).__name__}")


def _person(ident: bytes) -> GitPerson:
    from agentsandbox.git.pretty import Person

    person = Person(ident)
    name, email = (str(encode(each), "utf-8", "replace") for each in (person.name, person.mail))
    return GitPerson(name, email, person.seconds)


def _commit(commit: Commit) -> GitCommit:
    return GitCommit(
        commit.oid,
        commit.parents,
        _person(commit.author),
        _person(commit.committer),
        str(commit.message, "utf-8", "replace"),
    )


def _change(delta: Delta, stat: FileStat) -> GitChange:
    added, deleted = (None, None) if stat.binary else (stat.added, stat.deleted)
    return GitChange(
        decode(delta.new_path), _STATUSES[delta.status], decode(delta.old_path), added, deleted
    )
