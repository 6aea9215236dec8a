"""Fetching and pushing over `https://`: git's smart HTTP protocol, versions 0 and 1.

`GET URL/info/refs?service=SERVICE` lists the references and what the server can do. To fetch,
`POST URL/git-upload-pack` names what is wanted and what is there already, and the answer is a pack.
To push, `POST URL/git-receive-pack` brings a line "old new name" for each reference and a pack of
what the server lacks; the answer says of each reference whether it was changed. Both answers come
in a side band, between messages of the server for the user.

All requests go through the network policy of the sandbox, which adds credentials that the script
never sees. What the server sends is bounded by the policy's `max_bytes` and by the budget, and is
not believed; what is sent is bounded by its `max_request_bytes`.
"""

from __future__ import annotations

import re

from agentsandbox.git.errors import Fatal, MissingObject
from agentsandbox.git.objects import NULL, is_object_name
from agentsandbox.git.packing import check_connected, make_pack, missing_beyond, receive_pack
from agentsandbox.git.refs import is_ref_name
from agentsandbox.git.remotes import Peer, change_shallow, say_remote, shallow_of
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.network.errors import NetworkError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.remotes import Update
    from agentsandbox.git.repository import Repository

_AGENT = "agent=git/2.39.5"
_MOST_HAVES = 256
_MOST_REFS = 1_000_000


def packet(text: str) -> bytes:
    """Return a line of the protocol: four hexadecimal digits of its length, and the text."""
    data = encode(text)
    return b"%04x" % (len(data) + 4) + data


def packets(data: bytes, at: int = 0) -> Iterator[tuple[bytes | None, int]]:
    """Yield (line, where the next one begins); None for a flush packet."""
    while at < len(data):
        head = data[at : at + 4]
        if not re.fullmatch(rb"[0-9a-fA-F]{4}", head):
            raise Fatal(f"protocol error: bad line length character: {decode(head)}")
        size = int(head, 16)
        if size == 0:
            at += 4
            yield None, at
            continue
        if size < 4 or at + size > len(data):
            raise Fatal("protocol error: bad line length " + str(size))
        line = data[at + 4 : at + size]
        at += size
        yield line, at


# TM-GIT-7
class HttpPeer(Peer):
    """A repository behind `http://` or `https://`."""

    def __init__(self, git: Invocation, url: str, *, push: bool = False) -> None:
        self.git = git
        self.url = url
        self._service = "git-receive-pack" if push else "git-upload-pack"
        self._base = re.sub(r"(://)[^/@]*@", r"\1", url.rstrip("/"))
        self._refs: dict[str, str] | None = None
        self._peeled: dict[str, str] = {}
        self._head = ""
        self._capabilities: set[str] = set()

    def _ask(self, body: bytes) -> bytes:
        """Return the service's answer to a request."""
        kind = ("Content-Type", f"application/x-{self._service}-request")
        return self._request("POST", self._service, body, kind)

    def _request(self, method: str, path: str, body: bytes = b"", *more: tuple[str, str]) -> bytes:
        headers = [("User-Agent", "git/2.39.5"), ("Accept", "*/*"), *more]
        url = f"{self._base}/{path}"
        self.git.flush()
        try:
            with self.git.ctx.host.network.fetch(method, url, headers=headers, body=body) as reply:
                status = reply.status
                data = b"".join(reply.read_decoded())
        except NetworkError as error:
            raise Fatal(f"unable to access '{self._base}/': {error}") from None
        self.git.budget.charge(len(data))
        self.git.budget.step(1 + len(data) // 4096)
        if status == 404:
            raise Fatal(f"repository '{self._base}/' not found")
        if status == 401:
            raise Fatal(
                f"Authentication failed for '{self._base}/': credentials belong to the host"
            )
        if status != 200:
            raise Fatal(
                f"unable to access '{self._base}/': The requested URL returned error: {status}"
            )
        return data

    def refs(self) -> dict[str, str]:
        if self._refs is None:
            data = self._request("GET", f"info/refs?service={self._service}")
            self._refs = self._parse(data)
        return self._refs

    def _parse(self, data: bytes) -> dict[str, str]:
        # long: the service line, the capabilities, then references
        found: dict[str, str] = {}
        if not data[4:].startswith(encode(f"# service={self._service}")):
            raise Fatal(f"{self._base}/info/refs not valid: is this a git repository?")
        is_first = True
        for line, _ in packets(data):
            self.git.budget.step()
            if line is None or line.startswith((b"# service=", b"version ")):
                continue
            text = decode(line).rstrip("\n")
            if is_first:
                is_first = False
                text, _, capabilities = text.partition("\0")
                self._capabilities = set(capabilities.split())
                for word in self._capabilities:
                    if word.startswith("symref=HEAD:") and is_ref_name(word[12:]):
                        self._head = word[12:]
            if text.startswith("ERR "):
                raise Fatal(f"remote error: {text[4:]}")
            oid, _, name = text.partition(" ")
            if not is_object_name(oid) or len(found) > _MOST_REFS:
                raise Fatal("protocol error: unexpected '" + text[:60] + "'")
            if name.endswith("^{}"):
                if name != "capabilities^{}":
                    self._peeled[name[:-3]] = oid
            elif name == "HEAD" or (name.startswith("refs/") and is_ref_name(name)):
                found[name] = oid
            # git ignores a name that cannot be a reference
        return found

    def head(self) -> str:
        self.refs()
        return self._head

    def peeled(self, name: str, oid: str) -> str | None:
        return self._peeled.get(name)

    def fetch(self, target: Repository, wanted: list[str], depth: int | None) -> None:
        self.refs()
        offered = [
            word
            for word in ("ofs-delta", "thin-pack", "no-progress", "include-tag", "side-band-64k")
            if word in self._capabilities
        ]
        if depth is not None and "shallow" not in self._capabilities:
            raise Fatal("Server does not support shallow clients")
        lines = [
            packet(f"want {oid}" + (f" {' '.join([*offered, _AGENT])}" if not at else "") + "\n")
            for at, oid in enumerate(wanted)
        ]
        edge = shallow_of(target)
        lines += [packet(f"shallow {oid}\n") for oid in sorted(edge)]
        if depth is not None:
            lines.append(packet(f"deepen {min(depth, 0x7FFFFFFF)}\n"))
        lines.append(b"0000")
        lines += [packet(f"have {oid}\n") for oid in known_commits(target)]
        lines.append(packet("done\n"))
        data = self._ask(b"".join(lines))
        pack, cut, deepened = self._answer(data)
        names = receive_pack(target, pack)
        change_shallow(target, cut, deepened)
        try:
            check_connected(target, wanted, set(names))
        except MissingObject as error:
            raise Fatal(f"bad object {error.oid}: {self._base} did not send all objects") from None

    def _answer(self, data: bytes) -> tuple[bytes, set[str], set[str]]:
        """Return (pack, commits at which history ends now, commits at which it no longer does)."""
        cut: set[str] = set()
        deepened: set[str] = set()
        parts: list[bytes] = []
        has_bands = "side-band-64k" in self._capabilities
        for line, at in packets(data):
            self.git.budget.step()
            if line is None:
                continue
            text = decode(line[:200])
            oid = text.rstrip("\n").partition(" ")[2]
            if text.startswith("shallow ") and is_object_name(oid):
                cut.add(oid)
            elif text.startswith("unshallow ") and is_object_name(oid):
                deepened.add(oid)
            elif text.startswith(("ACK ", "NAK")):
                if not has_bands and text.startswith("NAK"):
                    return data[at:], cut, deepened
            elif text.startswith("ERR "):
                raise Fatal(f"remote error: {text[4:].rstrip()}")
            else:
                parts.append(self._from_band(line))
        return b"".join(parts), cut, deepened

    def _from_band(self, line: bytes) -> bytes:
        """Return the data of a line of the side band, b"" if it is a message, which is shown."""
        if line[:1] == b"\1":
            return line[1:]
        if line[:1] == b"\2":
            say_remote(self.git, _printable(decode(line[1:])).removesuffix("\n"))
            return b""
        if line[:1] == b"\3":
            raise Fatal(f"remote error: {_printable(decode(line[1:])).rstrip()}")
        raise Fatal("protocol error: unexpected answer")

    # pushing

    def takes_options(self) -> bool:
        return "push-options" in self._capabilities

    def push(
        self, git: Invocation, updates: list[Update], options: list[str], *, atomic: bool = False
    ) -> None:
        theirs = self.refs()
        if atomic and "atomic" not in self._capabilities:
            raise Fatal("the receiving end does not support --atomic push")
        wanted = [update for update in updates if update.status == "ok"]
        if "delete-refs" not in self._capabilities:
            for update in wanted:
                if update.new == NULL:
                    update.status = "rejected"
                    update.reason = "remote does not support deleting refs"
            wanted = [update for update in wanted if update.status == "ok"]
        if not wanted:
            return
        body = self._commands(wanted, options, atomic=atomic)
        new = [update.new for update in wanted if update.new != NULL]
        if new:
            missing = missing_beyond(git.repository, new, theirs.values())
            body += make_pack(git.repository.objects, missing.names())[0]
        answer = self._ask(body)
        if "report-status" in self._capabilities:
            self._report(wanted, answer)

    def _commands(self, wanted: list[Update], options: list[str], *, atomic: bool) -> bytes:
        """Return what a push asks for, without its pack."""
        asked = ["report-status", "side-band-64k"]
        asked += ["atomic"] * atomic + ["push-options"] * bool(options)
        words = [word for word in asked if word in self._capabilities]
        lines = [packet(f"shallow {oid}\n") for oid in sorted(shallow_of(self.git.repository))]
        for at, update in enumerate(wanted):
            end = "" if at else f"\0 {' '.join([*words, _AGENT])}"
            lines.append(packet(f"{update.old} {update.new} {update.name}{end}"))
        lines.append(b"0000")
        if options:
            lines += [*map(packet, options), b"0000"]
        return b"".join(lines)

    def _report(self, wanted: list[Update], data: bytes) -> None:
        """Read what became of each reference."""
        if "side-band-64k" in self._capabilities:
            lines = [line for line, _ in packets(data) if line is not None]
            self.git.budget.step(len(lines))
            data = b"".join([self._from_band(line) for line in lines])
        said: dict[str, str] = {}
        for line, _ in packets(data):
            self.git.budget.step()
            word, _, rest = _printable(decode(line or b"").rstrip("\n")).partition(" ")
            name, _, reason = rest.partition(" ")
            if word == "unpack" and rest != "ok":
                self.git.error(f"remote unpack failed: {rest}")
            elif word == "ok":
                said[name] = ""
            elif word == "ng":
                said[name] = reason or "failed"
        for update in wanted:
            reason = said.get(update.name, "remote failed to report status")
            if reason:
                update.status, update.reason = "remote rejected", reason
                if update.name not in said:
                    update.status = "remote failure"


def _printable(text: str) -> str:
    """Return a server's text without what would control a terminal."""
    return re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", "?", text)


def known_commits(repository: Repository) -> list[str]:
    """Return commits that are here, the tips first."""
    found: dict[str, None] = {}
    pending = [
        commit
        for oid in repository.refs.all().values()
        if oid in repository.objects
        and (commit := repository.objects.peel(oid, "commit")) is not None
    ]
    while pending and len(found) < _MOST_HAVES:
        following: list[str] = []
        for oid in pending:
            repository.git.budget.step()
            if oid not in found and len(found) < _MOST_HAVES:
                found[oid] = None
                following += repository.parents(oid)
        pending = following
    return list(found)
