"""Remotes that the host offers: a folder with a repository, or a function.

Of a folder the sandbox sees the references and objects. What it pushes waits in quarantine: a push
to `refs/heads/main` becomes `refs/quarantine/heads/main`, and the host's own references, its
configuration, hooks and worktree stay as they are. To the sandbox, what waits looks as if it were
accepted, until the host removes or merges it. No hook of the host runs.

A function is called with each push and returns None to accept it, or a text that refuses it. What
it accepted is known from the tracking branches of the sandbox's repository.
"""

from __future__ import annotations

from agentsandbox.git.errors import Fatal, MissingObject
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import NULL, Cache
from agentsandbox.git.offers import GitPush, GitUpdate
from agentsandbox.git.packing import (
    Missing,
    check_connected,
    copy_objects,
    make_pack,
    missing_beyond,
    receive_pack,
)
from agentsandbox.git.ref_transactions import Change, change_refs
from agentsandbox.git.refs import is_ref_name
from agentsandbox.git.remotes import LocalPeer, Peer, Update, find_remote, say_remote, shallow_of
from agentsandbox.git.repository import Repository, is_repository
from agentsandbox.kernel.host_functions import ask_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_QUARANTINE = "refs/quarantine/"


def open_offered(git: Invocation, name: str, offered: object) -> Peer:
    """Return the remote that the host offers under a name or URL."""
    if isinstance(offered, Offer):
        return offered.open(git, name)
    if isinstance(offered, str):
        return FolderPeer(host_repository(git, offered), name)
    return FunctionPeer(git, name, offered)  # type: ignore[arg-type]


class Offer:
    """A remote that another process has."""

    __slots__ = ()

    def open(self, git: Invocation, name: str) -> Peer:
        """Return the other side, as `open_peer` does."""
        raise NotImplementedError


def host_repository(git: Invocation, folder: str) -> Repository:
    """Return the repository in a folder of the host; Fatal if there is none."""
    from agentsandbox.kernel.fs.host import HostFileSystem

    try:
        fs = HostFileSystem(folder, read_only=False, limits=git.budget.limits)
    except OSError as error:
        raise Fatal(f"the offered remote cannot be read: {error.strerror}") from None
    other = Invocation(git.ctx, {**_idents(git), "GIT_CONFIG_NOSYSTEM": "1"}, "/")
    other.fs = fs
    place = next((place for place in ("/.git", "") if is_repository(fs, place or "/")), None)
    if place is None:
        raise Fatal("the offered remote is not a git repository")
    repository = Repository(other, place, None, "/")
    repository.cache = repository.objects.cache = Cache()
    repository.settle(repository.config)
    repository.refs.logs = False
    return repository


def _idents(git: Invocation) -> dict[str, str]:
    return {name: value for name, value in git.env.items() if name.startswith("GIT_COMMITTER_")}


# TM-GIT-9
class FolderPeer(LocalPeer):
    """A repository in a folder of the host, whose pushes wait in quarantine."""

    def takes_options(self) -> bool:
        return False  # no hook runs that could read them

    def refs(self) -> dict[str, str]:
        found = super().refs()
        waiting = {name: oid for name, oid in found.items() if name.startswith(_QUARANTINE)}
        for name, oid in waiting.items():
            del found[name]
            found[f"refs/{name[len(_QUARANTINE) :]}"] = oid
        head = found.pop("HEAD", None)
        shown = {} if head is None else {"HEAD": found.get(self.head(), head)}
        return {**shown, **dict(sorted(found.items()))}

    def local(self) -> Repository | None:
        return None

    def push(
        self, git: Invocation, updates: list[Update], options: list[str], *, atomic: bool = False
    ) -> None:
        repository, source = self.repository, git.repository
        wanted = [update for update in updates if update.status == "ok"]
        missing = Missing(source, repository.objects)
        missing.add([update.new for update in wanted if update.new != NULL])
        if shallow_of(source) & {*missing.commits}:
            for update in wanted:
                update.status, update.reason = "remote rejected", "shallow update not allowed"
            return
        copy_objects(source.objects, repository, missing.names())
        changes = [GitUpdate(update.name, update.old, update.new) for update in wanted]
        for update, reason in zip(wanted, self._store(changes, atomic=atomic), strict=True):
            if reason:
                update.status, update.reason = "remote rejected", reason
        if any(update.status == "ok" for update in wanted):
            say_remote(git, "the push waits for the host's review")

    def take(self, updates: Sequence[GitUpdate], pack: bytes, *, atomic: bool = False) -> list[str]:
        """Take the objects of a pack, and put references into quarantine.

        Return for each why it was refused, "" if it was not. The pack comes from whom nobody
        trusts: Fatal if it is corrupt, and an object that lacks others is refused.
        """
        new = set(receive_pack(self.repository, pack))
        return self._store(updates, new, atomic=atomic)

    def _store(
        self, updates: Sequence[GitUpdate], received: set[str] | None = None, *, atomic: bool
    ) -> list[str]:
        """Put references into quarantine and return for each why not, "" if it is there.

        `received` are the objects that were just sent, if it is not known whether they lack others.
        """
        reasons = [self._refusal(update, received) for update in updates]
        changes = [
            Change(_QUARANTINE + update.ref.removeprefix("refs/"), update.new, None, deref=False)
            for update in updates
        ]
        return change_refs(self.repository, changes, reasons, atomic=atomic)

    def _refusal(self, update: GitUpdate, received: set[str] | None) -> str:
        """Return why one reference does not come into quarantine, "" if it may."""
        name = update.ref
        if not is_ref_name(name) or not name.startswith("refs/") or name.startswith(_QUARANTINE):
            return "funny refname"
        if update.new == NULL:
            is_own = self.repository.refs.read(name) is not None
            return "the host's references are not deleted" if is_own else ""
        try:
            if received is not None:
                check_connected(self.repository, [update.new], received)
        except MissingObject:
            return "missing necessary objects"
        return ""


class FunctionPeer(Peer):
    """A function of the host that receives pushes."""

    def __init__(
        self, git: Invocation, name: str, function: Callable[[GitPush], str | None]
    ) -> None:
        self.git = git
        self.url = name
        self.function = function

    def refs(self) -> dict[str, str]:
        repository = self.git.find_repository()
        if repository is None:
            return {}
        found = {}
        for spec in find_remote(self.git, self._name()).fetch:
            for name, oid in repository.refs.all("refs/remotes/").items():
                source = spec.maps_back(name)
                if source:
                    found[source] = oid
        return found

    def _name(self) -> str:
        for key in self.git.config.below("remote."):
            name, _, kind = key.rpartition(".")
            if kind == "url" and self.git.config.get(f"remote.{key}") == self.url:
                return name
        return self.url

    def peeled(self, name: str, oid: str) -> str | None:
        return None

    def fetch(self, target: Repository, wanted: list[str], depth: int | None) -> None:
        raise Fatal(f"there is nothing to fetch from '{self.url}': it only receives pushes")

    def push(
        self, git: Invocation, updates: list[Update], options: list[str], *, atomic: bool = False
    ) -> None:
        repository = git.repository
        wanted = [update for update in updates if update.status == "ok"]
        new = [update.new for update in wanted if update.new != NULL]
        missing = missing_beyond(repository, new, self.refs().values())
        pack, _ = make_pack(repository.objects, missing.names())
        changes = tuple(GitUpdate(update.name, update.old, update.new) for update in wanted)
        git.flush()
        answer = ask_host(self.function, GitPush(self.url, changes, pack))
        if answer is not None:
            reason = " ".join(str(answer).split()) or "refused by the host"
            for update in wanted:
                update.status, update.reason = "remote rejected", reason
