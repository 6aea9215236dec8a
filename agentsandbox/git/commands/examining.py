"""`git verify-pack`."""

from __future__ import annotations

from collections import Counter
from hashlib import sha1

from agentsandbox.git.errors import BadUsage, Fatal, GitError
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import parse_options
from agentsandbox.git.packs import open_pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.packs import Pack

USAGES = {
    "verify-pack": """
git verify-pack [-v | --verbose] [-s | --stat-only] [--] <pack>.idx...

    -v, --verbose         list the objects and count the chains of deltas
    -s, --stat-only       only count the chains
    --object-format <hash>
                          only sha1
"""
}


def verify_pack(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["verify-pack"], words)
    if not options.operands:
        raise BadUsage
    if options.text("object-format", "sha1") != "sha1":
        raise Fatal("repositories with SHA-256 names are not supported in this sandbox")
    status = 0
    for word in options.operands:
        stem = word.removesuffix(".idx")
        name = stem if stem.endswith(".pack") and stem == word else f"{stem}.pack"
        try:
            pack = _opened(git, name)
            if options.on("verbose") or options.on("stat-only"):
                _report(git, pack, lists=not options.on("stat-only"))
        except GitError as error:
            git.flush()
            git.say(f"fatal: {error.message}")
            status = 1
            if options.on("verbose") or options.on("stat-only"):
                git.print(f"{name}: bad")
        else:
            if options.on("verbose") and not options.on("stat-only"):
                git.print(f"{name}: ok")
    return status


def _opened(git: Invocation, name: str) -> Pack:
    """Return a pack whose objects are all sound; GitError for another one."""
    path = git.path(name)
    index = f"{path.removesuffix('.pack')}.idx"
    if not git.fs.is_file(index):
        raise Fatal(f"Cannot open existing pack file '{name.removesuffix('.pack')}.idx'")
    if not git.fs.is_file(path):
        raise Fatal(f"cannot open packfile '{name}'")
    pack = open_pack(git.fs, index, git.budget)
    if pack is None:
        raise Fatal("pack signature mismatch")
    git.budget.step(1 + len(pack.data) // 4096)
    if sha1(memoryview(pack.data)[:-20]).digest() != pack.data[-20:]:
        raise Fatal("pack is corrupted (SHA1 mismatch)")
    store = git.repository.objects
    for oid in pack.names():
        if pack.read(oid, store) is None:
            raise Fatal(f"packed object {oid} is missing")
    return pack


def _report(git: Invocation, pack: Pack, *, lists: bool) -> None:
    """Print the objects in the order of the pack, and how long the chains of deltas are."""
    store = git.repository.objects
    offsets = {pack.offset(at): oid for at, oid in enumerate(pack.names())}
    ordered = sorted(offsets)
    ends = [*ordered[1:], len(pack.data) - 20]
    depths: dict[str, int] = {}
    lengths: Counter[int] = Counter()
    for offset, end in zip(ordered, ends, strict=True):
        git.budget.step()
        oid = offsets[offset]
        size, base = pack.stored(offset)
        depth, link = 0, base
        while link is not None:
            depth += 1
            if link in depths:
                depth += depths[link]
                break
            at = pack.find(link)
            if at is None:
                break
            link = pack.stored(at)[1]
            git.budget.step()
        depths[oid] = depth
        lengths[depth] += 1
        if lists:
            kind = pack.read_at(offset, store)[0]
            chain = f" {depth} {base}" if base is not None else ""
            git.print(f"{oid} {kind:<6} {size} {end - offset} {offset}{chain}")
    for depth in sorted(lengths):
        count = lengths[depth]
        what = f"chain length = {depth}" if depth else "non delta"
        git.print(f"{what}: {count} object{'' if count == 1 else 's'}")


COMMANDS = {"verify-pack": verify_pack}
