"""Remotes that the host offers to git, for an isolated sandbox.

In an ordinary sandbox git itself works in the host's repository, and its own code keeps a push in
quarantine. A worker that was taken over would not keep to that code. So it never sees the
repository: it names what it wants and has, and gets a pack, as from a server; or it sends a pack,
which is read, checked and put into quarantine here (`git.offered`). Only what hangs from a
reference that is shown can be fetched, because the folder may hold commits that nobody published.
"""

from __future__ import annotations

from typing import NamedTuple

from agentsandbox.git.errors import GitError
from agentsandbox.git.objects import NULL, is_object_name
from agentsandbox.git.offered import FolderPeer, Offer, host_repository
from agentsandbox.git.offers import GitPush, GitUpdate
from agentsandbox.git.remotes import Peer, change_shallow, say_remote, shallow_of
from agentsandbox.isolation.messages import ProtocolError
from agentsandbox.kernel.host_functions import ask_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.remotes import Update
    from agentsandbox.git.repository import Repository
    from agentsandbox.isolation.messages import Message
    from agentsandbox.isolation.relay import Relay

    Answer = tuple[dict[str, Any], bytes]

_MOST_NAMES = 100_000
"""Objects and references that one message may name."""
_LONGEST_NAME = 4096

# the host


def remotes_for_worker(remotes: Mapping[str, object]) -> dict[str, str]:
    """Return what a worker may know of the remotes: which are folders, which functions."""
    return {
        name: "folder" if isinstance(offered, str) else "function"
        for name, offered in remotes.items()
    }


# TM-ISO-5
class HostRemotes:
    """Serves the remotes to one worker; a service of `Operations`."""

    __slots__ = ("_context", "_remotes", "works")

    def __init__(self, remotes: Mapping[str, Any], context: Callable[[], CommandContext]) -> None:
        self._remotes = remotes
        self._context = context
        self.works: Mapping[str, Callable[[int, Message], Answer]] = {
            "git refs": self._refs,
            "git fetch": self._fetch,
            "git push": self._push,
            "git call": self._call,
        }

    def drop(self, number: int) -> None:
        """Do nothing: nothing stays open."""

    def close(self) -> None:
        """Do nothing."""

    def _peer(self, message: Message) -> FolderPeer:
        name = message.text("remote")
        folder = self._remotes.get(name)
        if not isinstance(folder, str):
            raise ProtocolError("a remote that is no folder")
        from agentsandbox.git.invocation import Invocation

        git = Invocation(self._context(), {}, "/")
        return FolderPeer(host_repository(git, folder), name)

    def _refs(self, number: int, message: Message) -> Answer:
        del number
        try:
            peer = self._peer(message)
            refs = peer.refs()
            peeled = {
                name: tip
                for name, oid in refs.items()
                if name.startswith("refs/tags/") and (tip := peer.peeled(name, oid)) is not None
            }
            return {"refs": refs, "peeled": peeled, "head": peer.head()}, b""
        except GitError as error:
            return {"fatal": error.message}, b""

    def _fetch(self, number: int, message: Message) -> Answer:
        del number
        wanted, known, cut = (_oids(message, name) for name in ("wanted", "known", "shallow"))
        depth = None if message.head.get("depth") is None else message.number("depth", 1)
        from agentsandbox.git.packing import make_pack, missing_beyond

        try:
            peer = self._peer(message)
            repository = peer.repository
            shown = peer.refs()
            tips = {tip for tag, oid in shown.items() if (tip := peer.peeled(tag, oid)) is not None}
            for oid in wanted:
                if oid not in tips and oid not in shown.values():
                    text = f"Server does not allow request for unadvertised object {oid}"
                    return {"fatal": f"remote error: {text}"}, b""
            missing = missing_beyond(repository, wanted, known, depth)
            pack, _ = make_pack(repository.objects, missing.names())
            edge = set(missing.shallow)
            if depth is None:
                edge |= shallow_of(repository) & {*missing.commits}
            deepened = (missing.deepened - edge) & set(cut)
            return {"edge": sorted(edge), "deepened": sorted(deepened)}, pack
        except GitError as error:
            return {"fatal": error.message}, b""

    def _push(self, number: int, message: Message) -> Answer:
        del number
        updates = _updates(message)
        atomic = message.flag("atomic")
        (pack,) = message.parts(1)
        try:
            return {"reasons": self._peer(message).take(updates, pack, atomic=atomic)}, b""
        except GitError as error:
            return {"fatal": error.message}, b""

    def _call(self, number: int, message: Message) -> Answer:
        del number
        function = self._remotes.get(message.text("remote"))
        if not callable(function):
            raise ProtocolError("a remote that is no function")
        (pack,) = message.parts(1)
        answer = ask_host(function, GitPush(message.text("remote"), _updates(message), pack))
        return {"answer": None if answer is None else str(answer)}, b""


def _texts(value: object) -> list[str]:
    if type(value) is not list or len(value) > _MOST_NAMES:
        raise ProtocolError("no list of names")
    if not all(type(each) is str and len(each) <= _LONGEST_NAME for each in value):
        raise ProtocolError("a name that is none")
    return value


def _oids(message: Message, name: str) -> list[str]:
    found = _texts(message.head.get(name))
    if not all(map(is_object_name, found)):
        raise ProtocolError("no name of an object")
    return found


def _updates(message: Message) -> tuple[GitUpdate, ...]:
    texts = _texts(message.head.get("updates"))
    if len(texts) % 3:
        raise ProtocolError("an update that is cut off")
    found = tuple(GitUpdate(*texts[at : at + 3]) for at in range(0, len(texts), 3))
    if not all(is_object_name(oid) for each in found for oid in each[1:]):
        raise ProtocolError("no name of an object")
    return found


# the worker


def worker_remotes(known: Mapping[str, str], relay: Relay) -> dict[str, object]:
    """Return the remotes of a worker, from what `remotes_for_worker` said."""
    return {
        name: _FolderOffer(relay) if kind == "folder" else _function(name, relay)
        for name, kind in known.items()
    }


def _function(name: str, relay: Relay) -> Callable[[GitPush], str | None]:
    def call(push: GitPush) -> str | None:
        names = [text for update in push.updates for text in update]
        _, head, _ = relay.call("git call", {"remote": name, "updates": names}, push.pack)
        answer: str | None = head["answer"]
        return answer

    return call


class _FolderOffer(Offer):
    """A folder of the host, as a worker knows it."""

    __slots__ = ("_relay",)

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    def open(self, git: Invocation, name: str) -> Peer:
        return _DistantPeer(git, name, self._relay)


class _Shown(NamedTuple):
    refs: dict[str, str]
    peeled: dict[str, str]
    head: str


class _DistantPeer(Peer):
    """A repository in a folder of the host."""

    def __init__(self, git: Invocation, name: str, relay: Relay) -> None:
        self.git = git
        self.url = name
        self._relay = relay
        self._shown = self._ask_refs()

    def _ask(
        self, what: str, arguments: dict[str, Any], *blobs: bytes
    ) -> tuple[dict[str, Any], bytes]:
        from agentsandbox.git.errors import Fatal

        self.git.flush()
        _, head, data = self._relay.call(what, {**arguments, "remote": self.url}, *blobs)
        if "fatal" in head:
            raise Fatal(head["fatal"])
        return head, data

    def _ask_refs(self) -> _Shown:
        head, _ = self._ask("git refs", {})
        return _Shown(head["refs"], head["peeled"], head["head"])

    def refs(self) -> dict[str, str]:
        return dict(self._shown.refs)

    def head(self) -> str:
        return self._shown.head

    def peeled(self, name: str, oid: str) -> str | None:
        del oid
        return self._shown.peeled.get(name)

    def fetch(self, target: Repository, wanted: list[str], depth: int | None) -> None:
        from agentsandbox.git.http import known_commits
        from agentsandbox.git.packing import receive_pack

        known, cut = known_commits(target), sorted(shallow_of(target))
        arguments = {"wanted": wanted, "known": known, "shallow": cut, "depth": depth}
        head, pack = self._ask("git fetch", arguments)
        receive_pack(target, pack)
        change_shallow(target, set(head["edge"]), set(head["deepened"]))

    def push(
        self, git: Invocation, updates: list[Update], options: list[str], *, atomic: bool = False
    ) -> None:
        from agentsandbox.git.packing import make_pack, missing_beyond

        del options
        source = git.repository
        wanted = [update for update in updates if update.status == "ok"]
        new = [update.new for update in wanted if update.new != NULL]
        missing = missing_beyond(source, new, self._shown.refs.values())
        if shallow_of(source) & {*missing.commits}:
            for update in wanted:
                update.status, update.reason = "remote rejected", "shallow update not allowed"
            return
        pack, _ = make_pack(source.objects, missing.names())
        names = [text for each in wanted for text in (each.name, each.old, each.new)]
        head, _ = self._ask("git push", {"updates": names, "atomic": atomic}, pack)
        for update, reason in zip(wanted, head["reasons"], strict=True):
            if reason:
                update.status, update.reason = "remote rejected", reason
        if any(update.status == "ok" for update in wanted):
            say_remote(git, "the push waits for the host's review")
