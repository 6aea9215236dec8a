"""`git gc`, `prune`, `prune-packed`, `repack`, `pack-refs`, `count-objects`."""

from __future__ import annotations

from agentsandbox.git.dates import approxidate
from agentsandbox.git.errors import BadUsage, Fatal, GitError
from agentsandbox.git.expiry import Expiry
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import parse_options
from agentsandbox.git.packing import Missing, make_pack, place_pack
from agentsandbox.git.reachability import reflog_tips, tips_of
from agentsandbox.git.revisions import Resolver
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.repository import Repository

USAGES = {
    "gc": """
git gc [<options>]

    -q, --quiet           suppress progress reporting
    --[no-]prune[=<date>] prune unreferenced objects
    --cruft               is not supported
    --aggressive          changes nothing: no deltas are made
    --auto                enable auto-gc mode
    --force               changes nothing: nothing else runs
    --keep-largest-pack   is not supported
""",
    "prune": """
git prune [-n] [-v] [--progress] [--expire <time>] [--] [<head>...]

    -n, --dry-run         do not remove, show only
    -v, --verbose         report pruned objects
    --progress            show progress
    --expire <expiry-date>
                          expire objects older than <time>
""",
    "prune-packed": """
git prune-packed [-n | --dry-run] [-q | --quiet]

    -n, --dry-run         dry run
    -q, --quiet           be quiet
""",
    "repack": """
git repack [<options>]

    -a                    pack everything in a single pack
    -A                    same as -a, and turn unreachable objects loose
    -d                    remove redundant packs, and run git-prune-packed
    -f                    changes nothing: no deltas are made
    -F                    changes nothing: no deltas are made
    -l, --local           leave out objects of other repositories
    -q, --quiet           be quiet
    --window <n>          changes nothing: no deltas are made
    --depth <n>           changes nothing: no deltas are made
""",
    "pack-refs": """
git pack-refs [<options>]

    --all                 pack everything
    --[no-]prune          prune loose refs (default)
""",
    "count-objects": """
git count-objects [-v] [-H | --human-readable]

    -v, --verbose         be verbose
    -H, --human-readable  print sizes in human readable format
""",
}
_TWO_WEEKS = 14 * 86400
_BLOCK = 4096


def pack_refs(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["pack-refs"], words)
    if options.operands:
        raise BadUsage
    _pack_refs(git.repository, everything=options.on("all"), prune=options.on("prune", True))
    return 0


def _pack_refs(repository: Repository, *, everything: bool, prune: bool) -> None:
    refs, objects = repository.refs, repository.objects
    packed = refs.packed()
    names = {
        name: oid
        for name, oid in refs.all().items()
        if refs.symbolic(name) is None
        and (everything or name.startswith("refs/tags/") or name in packed)
        and refs.path(name).startswith(f"{repository.common}/")
    }
    for name, oid in names.items():
        if oid not in objects:
            raise Fatal(f"{name} does not point to a valid object!")
    if prune:
        refs.pack(objects.peel, names)
        return
    kept = {name: refs.path(name) for name in names if repository.fs.exists(refs.path(name))}
    refs.pack(objects.peel, names)
    for name, path in kept.items():
        repository.fs.makedirs(path.rpartition("/")[0])
        refs.write_file(path, encode(f"{names[name]}\n"))


# objects


class _Store:
    """The files of an object database."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.repository = git.repository
        self.objects = git.repository.objects
        self.fs = git.fs
        self.folder = self.objects.folder

    def loose(self) -> list[str]:
        """Return the names of the loose objects of this repository, sorted."""
        found: list[str] = []
        for first in self._listed(self.folder):
            if len(first) == 2 and _is_hex(first):
                rest = self._listed(f"{self.folder}/{first}")
                self.git.budget.step(1 + len(rest))
                found += [first + each for each in rest if len(each) == 38 and _is_hex(each)]
        return sorted(found)

    def _listed(self, folder: str) -> list[str]:
        try:
            return self.fs.listdir(folder)
        except OSError:
            return []

    def path(self, oid: str) -> str:
        return f"{self.folder}/{oid[:2]}/{oid[2:]}"

    def remove(self, oid: str) -> None:
        """Remove a loose object."""
        self.fs.unlink(self.path(oid))
        try:
            self.fs.rmdir(f"{self.folder}/{oid[:2]}")
        except OSError:
            return

    def packs(self) -> list[str]:
        """Return the paths of the packs of this repository, without ending."""
        return [
            f"{self.folder}/pack/{name[:-5]}"
            for name in self._listed(f"{self.folder}/pack")
            if name.endswith(".pack")
        ]

    def packed_names(self) -> set[str]:
        found: set[str] = set()
        for pack in self.objects.packs():
            for name in pack.names():
                self.git.budget.step()
                found.add(name)
        return found

    def prune_packed(self, *, dry_run: bool = False) -> None:
        """Remove loose objects that are in packs."""
        packed = self.packed_names()
        for oid in self.loose():
            if oid in packed:
                if dry_run:
                    shown = self.path(oid)
                    top = (self.repository.worktree or "").rstrip("/") + "/"
                    self.git.print(f"rm -f {shown.removeprefix(top)}")
                else:
                    self.remove(oid)

    def reachable(self, heads: list[str]) -> set[str]:
        missing = Missing(self.repository, None)
        missing.add(dict.fromkeys(heads))
        return set(missing.names())

    def repack(self, *, everything: bool, loosen: bool, remove: bool, quiet: bool) -> None:
        """Put objects into one pack: all that are reachable, or only loose ones."""
        missing = Missing(self.repository, None)
        missing.add(dict.fromkeys(tips_of(self.repository)))
        names = missing.names()
        old = self.packs()
        if not everything:
            packed = self.packed_names()
            names = [oid for oid in names if oid not in packed]
        kept = {pack for pack in old if self.fs.exists(f"{pack}.keep")}
        if not names:
            if not quiet:
                self.git.print("Nothing new to pack.")
        else:
            made = f"{self.folder}/pack/pack-" + place_pack(
                self.repository, *make_pack(self.objects, names)
            )
            if everything and remove:
                if loosen:
                    self._loosen(set(names))
                for pack in old:
                    if pack != made and pack not in kept:
                        for ending in (".idx", ".pack", ".rev", ".bitmap"):
                            if self.fs.exists(pack + ending):
                                self.fs.unlink(pack + ending)
        self.objects.forget_packs()
        if remove:
            self.prune_packed()

    def _loosen(self, reachable: set[str]) -> None:
        """Write the objects of packs that nothing reaches as loose ones."""
        for oid in sorted(self.packed_names() - reachable):
            if not self.fs.exists(self.path(oid)):
                self.objects.write_loose(*self.objects.read(oid))

    def prune(self, heads: list[str], before: int | None, *, dry_run: bool, loud: bool) -> None:
        """Remove loose objects that nothing reaches, if they are older than a time."""
        reachable = self.reachable([*tips_of(self.repository), *heads])
        for oid in self.loose():
            if oid in reachable:
                continue
            if before is not None and self.fs.stat(self.path(oid)).mtime > before:
                continue
            if dry_run or loud:
                self.git.print(f"{oid} {self.objects.type_of(oid)}")
            if not dry_run:
                self.remove(oid)
        self.prune_packed(dry_run=dry_run)


def _is_hex(text: str) -> bool:
    return all(character in "0123456789abcdef" for character in text)


def _expiry(git: Invocation, text: str) -> int | None:
    """Return the time before which something is old; None for all times."""
    if text in ("now", "all"):
        return None
    if text == "never":
        return -1
    return approxidate(text, git.now, git.tz)


def prune(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["prune"], words)
    heads: list[str] = []
    resolver = Resolver(git)
    for word in options.operands:
        oid = resolver.find(word)
        if oid is None:
            raise Fatal(f"unrecognized argument: {word}")
        heads.append(oid)
    expire = options.get("expire")
    _Store(git).prune(
        heads, None if expire is None else _expiry(git, expire),
        dry_run=options.on("dry-run"), loud=options.on("verbose"),
    )  # fmt: skip
    return 0


def prune_packed(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["prune-packed"], words)
    if options.operands:
        raise Fatal("too many arguments")
    _Store(git).prune_packed(dry_run=options.on("dry-run"))
    return 0


def repack(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["repack"], words)
    if options.operands:
        raise BadUsage
    everything = options.on("a") or options.on("A")
    _Store(git).repack(
        everything=everything, loosen=options.on("A"), remove=options.on("d"),
        quiet=options.on("quiet"),
    )  # fmt: skip
    return 0


def gc(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["gc"], words)
    if options.operands:
        raise BadUsage
    for name in ("cruft", "keep-largest-pack"):
        if options.on(name):
            raise Fatal(f"git gc --{name} is not supported in this sandbox")
    store = _Store(git)
    most = git.config.number("gc.auto", 6700)
    if options.on("auto") and (most <= 0 or len(store.loose()) <= most):
        return 0
    text = options.get("prune") or git.config.get("gc.pruneexpire") or "2.weeks.ago"
    keeps = options.off("prune")
    _pack_refs(git.repository, everything=True, prune=True)
    _expire_logs(git)
    now = not keeps and text in ("now", "all")
    try:
        store.repack(everything=True, loosen=not now, remove=True, quiet=True)
    except GitError as error:
        git.say(f"{error.prefix}{error.message}")
        raise Fatal("failed to run repack") from None
    if not keeps:
        store.prune([], _expiry(git, text), dry_run=False, loud=False)
    from agentsandbox.git.commands.linking import prune_worktrees

    prune_worktrees(git, dry_run=False, loud=False)
    return 0


def _expire_logs(git: Invocation) -> None:
    """Drop old entries of reflogs, as gc.reflogExpire and gc.reflogExpireUnreachable say."""
    work = Expiry(git)
    for name in dict.fromkeys([each for each, _ in reflog_tips(git.repository)]):
        work.expire(name)


def count_objects(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["count-objects"], words)
    if options.operands:
        raise BadUsage
    store = _Store(git)
    loose = store.loose()
    size = sum(_on_disk(git, store.path(oid)) for oid in loose)

    def shown(count: int) -> str:
        return _human(count) if options.on("human-readable") else str(count // 1024)

    if not options.on("verbose"):
        unit = "" if options.on("human-readable") else " kilobytes"
        git.print(f"{len(loose)} objects, {shown(size)}{unit}")
        return 0
    packed = store.packed_names()
    packs = store.packs()
    rows = {
        "count": str(len(loose)), "size": shown(size), "in-pack": str(len(packed)),
        "packs": str(len(packs)),
        "size-pack": shown(
            sum(git.fs.stat(pack + end).size for pack in packs for end in (".pack", ".idx"))
        ),
        "prune-packable": str(sum(oid in packed for oid in loose)),
        "garbage": "0", "size-garbage": shown(0),
    }  # fmt: skip
    for name, text in rows.items():
        git.print(f"{name}: {text}")
    return 0


def _on_disk(git: Invocation, path: str) -> int:
    return -(-git.fs.stat(path).size // _BLOCK) * _BLOCK


def _human(count: int) -> str:
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count > unit:
            return f"{count // unit}.{count % unit * 100 // unit:02d} {name}"
    return f"{count} byte{'' if count == 1 else 's'}"


COMMANDS = {
    "count-objects": count_objects, "gc": gc, "pack-refs": pack_refs, "prune": prune,
    "prune-packed": prune_packed, "repack": repack,
}  # fmt: skip
