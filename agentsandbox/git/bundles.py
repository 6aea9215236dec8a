"""Bundles: a file with references and a pack, which is read like a remote."""

from __future__ import annotations

from agentsandbox.git.errors import Fatal
from agentsandbox.git.objects import is_object_name
from agentsandbox.git.packing import receive_pack
from agentsandbox.git.refs import is_ref_name
from agentsandbox.git.remotes import Peer
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.repository import Repository


class BundlePeer(Peer):
    """A bundle."""

    def __init__(self, git: Invocation, path: str, url: str) -> None:
        self.git = git
        self.url = url
        self.path = path
        where = git.path(path)
        git.budget.charge(git.fs.stat(where).size)
        data = git.fs.read_bytes(where)
        if not data.startswith((b"# v2 git bundle\n", b"# v3 git bundle\n")):
            raise Fatal(f"'{path}' does not look like a v2 or v3 bundle file")
        head, found, self.pack = data.partition(b"\n\n")
        if not found:
            raise Fatal(f"unrecognized header in '{path}'")
        self.needed: list[tuple[str, str]] = []
        self._refs: dict[str, str] = {}
        for line in decode(head).split("\n")[1:]:
            git.budget.step()
            if line.startswith("@"):
                if line != "@object-format=sha1":
                    raise Fatal(f"unknown capability '{line[1:]}'")
                continue
            is_needed = line.startswith("-")
            oid, _, name = line.removeprefix("-").partition(" ")
            if not is_object_name(oid):
                raise Fatal(f"unrecognized header: {line[:80]}")
            if is_needed:
                self.needed.append((oid, name))
            elif name == "HEAD" or (name.startswith("refs/") and is_ref_name(name)):
                self._refs[name] = oid

    def refs(self) -> dict[str, str]:
        return self._refs

    def peeled(self, name: str, oid: str) -> str | None:
        return None

    def fetch(self, target: Repository, wanted: list[str], depth: int | None) -> None:
        if depth is not None:
            raise Fatal("a bundle has one depth")
        lacking = [f"error: {oid} {text}" for oid, text in self.needed if oid not in target.objects]
        if lacking:
            for line in ("error: Repository lacks these prerequisite commits:", *lacking):
                self.git.say(line)
            raise Fatal(f"bundle '{self.path}' cannot be used")
        receive_pack(target, self.pack)


def open_bundle(git: Invocation, path: str, url: str) -> Peer:
    """Return the bundle in a file; Fatal if it is not one."""
    return BundlePeer(git, path, url)
