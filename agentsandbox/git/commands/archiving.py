"""`git archive`, `bundle`."""

from __future__ import annotations

import io
import re
import zlib
from hashlib import sha1

from agentsandbox.git.attributes import Attributes
from agentsandbox.git.bundles import BundlePeer
from agentsandbox.git.commands.logging import LogWords
from agentsandbox.git.dates import local_zone, zone_seconds
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.index import Entry, Index
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.objects import is_directory
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.packing import Missing, make_pack, receive_pack
from agentsandbox.git.paths import Pathspec, PathspecItem
from agentsandbox.git.pretty import Pretty
from agentsandbox.git.revisions import Resolver, find_ref
from agentsandbox.git.texts import subject_of
from agentsandbox.git.trees import flat_tree, tree_entry
from agentsandbox.kernel.formats.timezones import civil_from_days
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "archive": """
git archive [<options>] <tree-ish> [<path>...]
   or: git archive --list

    --format <fmt>        archive format
    --prefix <prefix>     prepend prefix to each pathname in the archive
    --add-file <file>     is not supported
    --add-virtual-file <path:content>
                          is not supported
    -o, --output <file>   write the archive to this file
    --worktree-attributes read .gitattributes in working directory
    -v, --verbose         report archived files on stderr
    -l, --list            list supported archive formats
    -0                    store only
    -1                    compress faster
    -2                    compression level 2
    -3                    compression level 3
    -4                    compression level 4
    -5                    compression level 5
    -6                    compression level 6
    -7                    compression level 7
    -8                    compression level 8
    -9                    compress better
    --remote <repo>       is not supported
    --exec <command>      is not supported
""",
    "bundle": """
git bundle create [<options>] <file> <git-rev-list args>
   or: git bundle verify [<options>] <file>
   or: git bundle list-heads <file> [<refname>...]
   or: git bundle unbundle <file> [<refname>...]
""",
}
_FORMATS = {"tar": ".tar", "tgz": ".tgz", "tar.gz": ".tar.gz", "zip": ".zip"}
_RECORD, _BLOCK = 512, 10240


def archive(git: Invocation, words: list[str]) -> int:
    # long: the options, the tree, the format
    options = parse_options(USAGES["archive"], words)
    for name in ("add-file", "add-virtual-file", "remote", "exec"):
        if options.given(name):
            raise Fatal(f"git archive --{name} is not supported in this sandbox")
    if options.on("list"):
        for name in _FORMATS:
            git.print(name)
        return 0
    if not options.operands:
        raise BadUsage
    output, format = options.get("output"), options.get("format")
    if format is None and output is not None:
        ends = [name for name, end in _FORMATS.items() if output.endswith(end)]
        format = max(ends, key=len) if ends else None
    format = format or "tar"
    if format not in _FORMATS:
        raise Fatal(f"Unknown archive format '{format}'")
    word, *paths = options.operands
    source = _Source(git, options, word, paths)
    level = next((int(name) for name in "9876543210" if options.on(name)), -1)
    if format == "zip":
        data = _Zip(git, source, level).make()
    else:
        data = _Tar(git, source).make()
        if format != "tar":
            engine = zlib.compressobj(level, zlib.DEFLATED, 31)
            data = engine.compress(data) + engine.flush()
    if output is None:
        git.write(data)
    else:
        try:
            git.fs.write_bytes(git.path(output), data, permissions=0o666 & ~git.ctx.umask)
        except OSError as error:
            raise Fatal(f"could not create archive file '{output}': {error.strerror}") from None
    return 0


class _Source:
    """What goes into an archive, in order."""

    def __init__(self, git: Invocation, options: Options, word: str, paths: list[str]) -> None:
        self.git = git
        self.repository = repository = git.repository
        objects = repository.objects
        oid = Resolver(git).find(word)
        if oid is None:
            raise Fatal(f"not a valid object name: {word}")
        self.commit = objects.peel(oid, "commit")
        tree = objects.peel(oid, "tree")
        if tree is None:
            raise Fatal(f"not a tree object: {oid}")
        self.time = objects.commit(self.commit).time if self.commit else git.now
        if repository.prefix:
            found = tree_entry(objects, tree, repository.prefix)
            if found is None or not is_directory(found[0]):
                raise Fatal("current working directory is untracked")
            tree = found[1]
        self.tree = tree
        self.prefix = encode(options.text("prefix"))
        self.verbose = options.on("verbose")
        self.attributes = self._attributes(worktree=options.on("worktree-attributes"))
        self.wanted = Pathspec([
            PathspecItem(path, encode(path.removeprefix("./").rstrip("/")), set(), True)
            for path in paths
        ])  # fmt: skip
        self.pretty = Pretty(repository)

    def _attributes(self, *, worktree: bool) -> Attributes:
        if worktree:
            return Attributes(self.repository)
        index = Index()
        for path, (mode, oid) in flat_tree(self.repository.objects, self.tree).items():
            if path.endswith(b".gitattributes"):
                index.set(Entry(path, mode, oid))
        return Attributes(self.repository, from_index=True, index=index)

    def entries(self) -> list[tuple[bytes, int, str]]:
        """Return (path, mode, object) of what goes in; directories end in "/"."""
        objects = self.repository.objects
        found: list[tuple[bytes, int, str]] = []
        if self.prefix.endswith(b"/"):
            found.append((self.prefix.rstrip(b"/") + b"/", 0o40777, self.tree))
        waiting: list[tuple[bytes, str]] = []
        pending = [(b"", iter(objects.tree(self.tree)))]
        while pending:
            base, entries = pending[-1]
            for name, mode, oid in entries:
                self.git.budget.step()
                path = base + name
                if self.attributes.of(path).get("export-ignore") is True:
                    continue
                if is_directory(mode):
                    if self.attributes.of(path + b"/").get("export-ignore") is True:
                        continue
                    if self.wanted and not self.wanted.may_be_below(path):
                        continue
                    if self.wanted.matches(path, True) or not self.wanted:
                        waiting = [*[one for one in waiting if path.startswith(one[0])]]
                    waiting.append((path + b"/", oid))
                    pending.append((path + b"/", iter(objects.tree(oid))))
                    break
                if self.wanted and not self.wanted.matches(path):
                    continue
                for folder, tree in waiting:
                    if path.startswith(folder):
                        found.append((self.prefix + folder, 0o40777, tree))
                waiting = []
                end = b"/" if mode == 0o160000 else b""
                found.append((self.prefix + path + end, mode, oid))
            else:
                pending.pop()
                waiting = [one for one in waiting if one[0] != base]
        missing = self.wanted.unmatched()
        if missing is not None:
            raise Fatal(f"pathspec '{missing.given}' did not match any files")
        return found

    def content(self, path: bytes, mode: int, oid: str) -> bytes:
        """Return what an entry has in the archive."""
        self.git.budget.step()
        data = self.repository.objects.blob(oid)
        if mode & 0o170000 != 0o100000:
            return data
        inner = path[len(self.prefix) :]
        data = self.attributes.to_worktree(inner, data)
        if self.commit is not None and self.attributes.of(inner).get("export-subst") is True:
            commit = self.repository.objects.commit(self.commit)
            data = re.sub(
                rb"\$Format:([^$\n]*)\$",
                lambda found: encode(self.pretty.expand(decode(found[1]), commit)),
                data,
            )
        return data


class _Tar:
    """Writes an archive as git does, byte for byte."""

    def __init__(self, git: Invocation, source: _Source) -> None:
        self.git = git
        self.source = source
        text = git.config.get("tar.umask", "0002")
        self.umask = git.ctx.umask if text == "user" else int(text, 8) if text.isdigit() else 2
        self.parts: list[bytes] = []
        self.size = 0

    def make(self) -> bytes:
        source = self.source
        if source.commit is not None:
            record = _record(b"comment", encode(source.commit))
            self._add(self._head(b"pax_global_header", 0o666, len(record), b"g"), record)
        for path, mode, oid in source.entries():
            if source.verbose:
                self.git.say(decode(path))
            self._entry(path, mode, oid)
        tail = _BLOCK - self.size % _BLOCK
        self.parts.append(bytes(tail if tail >= 2 * _RECORD else tail + _BLOCK))
        return b"".join(self.parts)

    def _add(self, head: bytes, data: bytes = b"") -> None:
        padding = -len(data) % _RECORD
        self.git.budget.charge(self.size + len(data))
        self.parts += [head, data, bytes(padding)]
        self.size += len(head) + len(data) + padding

    def _entry(self, path: bytes, mode: int, oid: str) -> None:
        data, link, extended = b"", b"", b""
        if mode & 0o170000 in (0o40000, 0o160000):
            kind, mode = b"5", (mode | 0o777) & ~self.umask
        elif mode & 0o170000 == 0o120000:
            kind, mode = b"2", mode | 0o777
            link = self.source.content(path, 0o120000, oid)
        else:
            kind = b"0"
            data = self.source.content(path, mode, oid)
            mode = (mode | (0o777 if mode & 0o100 else 0o666)) & ~self.umask
        name, before = path, b""
        if len(path) > 100:
            cut = path.rstrip(b"/").rfind(b"/", 0, 156)
            if 0 <= cut <= 155 and 0 < len(path) - cut - 1 <= 100:
                before, name = path[:cut], path[cut + 1 :]
            else:
                name = encode(f"{oid}.data")
                extended += _record(b"path", path)
        if len(link) > 100:
            extended += _record(b"linkpath", link)
            link = encode(f"see {oid}.paxheader")
        if extended:
            self._add(
                self._head(encode(f"{oid}.paxheader"), 0o100666, len(extended), b"x"), extended
            )
        self._add(self._head(name, mode, len(data), kind, link, before), data)

    def _head(
        self, name: bytes, mode: int, size: int, kind: bytes, link: bytes = b"",
        before: bytes = b"",
    ) -> bytes:  # fmt: skip
        time = max(0, min(self.source.time, 0o77777777777))
        fields = [
            name.ljust(100, b"\0"), b"%07o\0" % (mode & 0o7777), b"0000000\0", b"0000000\0",
            b"%011o\0" % size, b"%011o\0" % time, b" " * 8, kind, link.ljust(100, b"\0"),
            b"ustar\x0000", b"root".ljust(32, b"\0"), b"root".ljust(32, b"\0"), b"0000000\0",
            b"0000000\0", before.ljust(155, b"\0"), bytes(12),
        ]  # fmt: skip
        fields[6] = b"%07o\0" % sum(b"".join(fields))
        return b"".join(fields)


def _record(key: bytes, value: bytes) -> bytes:
    """Return a record of an extended header; its length counts itself."""
    rest = len(key) + len(value) + 3
    size = rest + len(str(rest))
    if len(str(size)) > len(str(rest)):
        size = rest + len(str(size))
    return b"%d %s=%s\n" % (size, key, value)


class _Zip:
    """Writes an archive for unzip."""

    def __init__(self, git: Invocation, source: _Source, level: int) -> None:
        self.git = git
        self.source = source
        self.level = level

    def make(self) -> bytes:
        import zipfile

        source = self.source
        days, clock = divmod(
            source.time + zone_seconds(local_zone(source.time, self.git.tz)), 86400
        )
        year, month, day = civil_from_days(days)
        date = (min(max(year, 1980), 2107), month, day)
        moment = (*date, clock // 3600, clock // 60 % 60, clock % 60)
        buffer = io.BytesIO()
        level = None if self.level < 0 else self.level
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as made:
            made.comment = encode(source.commit or "")
            for path, mode, oid in source.entries():
                if source.verbose:
                    self.git.say(decode(path))
                info = zipfile.ZipInfo(re.sub("[\udc80-\udcff]", "\ufffd", decode(path)), moment)
                info.create_system = 3
                data = b""
                if mode & 0o170000 in (0o40000, 0o160000):
                    info.external_attr = 0o40755 << 16 | 16
                else:
                    data = source.content(path, mode, oid)
                    info.external_attr = mode << 16
                    info.compress_type = (
                        zipfile.ZIP_DEFLATED if data and self.level else zipfile.ZIP_STORED
                    )
                self.git.budget.charge(buffer.tell() + len(data))
                made.writestr(info, data)
        return buffer.getvalue()


# bundles


def bundle(git: Invocation, words: list[str]) -> int:
    actions = {"create": _create, "verify": _verify, "list-heads": _list, "unbundle": _unbundle}
    if not words or words == ["-h"]:
        raise BadUsage
    if words[0] not in actions:
        raise BadUsage(f"unknown subcommand: `{words[0]}'")
    return actions[words[0]](git, words[1:])


_CREATE = """
git bundle create [<options>] <file> <git-rev-list args>

    -q, --quiet           do not show progress meter
    --progress            show progress meter
    --version <n>         specify bundle format version
"""
_VERIFY = """
git bundle verify [<options>] <file>

    -q, --quiet           do not show bundle details
"""


def _create(git: Invocation, words: list[str]) -> int:
    # long: what is asked for, what is missing, the file
    options = parse_options(_CREATE, words, stop=True)
    if not options.operands:
        raise BadUsage("need a <file> argument", usage=False)
    version = options.number("version", 2)
    if version not in (2, 3):
        raise Fatal(f"unsupported bundle version {version}")
    name, *rest = options.operands
    repository = git.repository
    objects = repository.objects
    line = LogWords(git, "rev-list")
    line.default_head = False
    line.read(rest)
    if line.stdin:
        line.prepare()
    given = line.revisions.given
    if not given:
        raise Fatal("Refusing to create empty bundle.")
    hidden = [oid for _, oid, excluded in given if excluded]
    excluded_all = _ancestors(git, [objects.peel(oid, "commit") or oid for oid in hidden])
    heads: dict[str, str] = {}
    for text, oid, excluded in given:
        if excluded:
            continue
        commit = objects.peel(oid, "commit")
        found = ("HEAD", oid) if text == "HEAD" else (
            (text, oid) if text.startswith("refs/") else find_ref(repository, text)
        )  # fmt: skip
        if found is None:
            continue
        full, target = found[0], repository.refs.read(found[0]) or oid
        if commit in excluded_all and objects.type_of(target) != "tag":
            continue
        heads[full] = target
    if line.revisions.any and not heads:
        raise Fatal("Refusing to create empty bundle.")
    missing = Missing(repository, None)
    missing._seen |= excluded_all
    missing.add(heads.values())
    if line.walk.most is not None or line.walk.since is not None:
        raise Fatal("git bundle create takes ranges in this sandbox, not --max-count or --since")
    edge = dict.fromkeys(
        parent
        for oid in missing.commits
        for parent in repository.parents(oid)
        if parent in excluded_all
    )
    known: set[str] = set()
    for oid in edge:
        tree = objects.commit(oid).tree
        known |= {tree, *[each for _, each in flat_tree(objects, tree).values()]}
    names = [oid for oid in missing.names() if oid not in known]
    head = b"# v%d git bundle\n" % version
    if version == 3:
        head += b"@object-format=sha1\n"
    for oid in edge:
        subject = subject_of(objects.commit(oid).message)
        head += b"-%s %s\n" % (encode(oid), subject)
    for full, oid in heads.items():
        head += encode(f"{oid} {full}\n")
    data = head + b"\n" + (make_pack(objects, names)[0] if names else _empty_pack())
    if name == "-":
        git.write(data)
        return 0
    git.fs.write_bytes(git.path(name), data, permissions=0o666 & ~git.ctx.umask)
    return 0


def _empty_pack() -> bytes:
    body = b"PACK\0\0\0\2\0\0\0\0"
    return body + sha1(body).digest()


def _ancestors(git: Invocation, tips: list[str]) -> set[str]:
    found: set[str] = set()
    pending = list(tips)
    while pending:
        oid = pending.pop()
        if oid not in found:
            git.budget.step()
            found.add(oid)
            pending += git.repository.parents(oid)
    return found


def _verify(git: Invocation, words: list[str]) -> int:
    options = parse_options(_VERIFY, words)
    if len(options.operands) != 1:
        raise BadUsage("need a <file> argument", usage=False)
    path = options.operands[0]
    found = _opened(git, path)
    if found is None:
        return 1
    repository = git.repository
    lacking = [each for each in found.needed if each[0] not in repository.objects]
    if lacking:
        git.error("Repository lacks these prerequisite commits:")
        for oid, _ in lacking:
            git.error(f"{oid} ")
        return 1
    if not options.on("quiet"):
        refs = found.refs()
        count = len(refs)
        git.print(
            "The bundle contains this ref:" if count == 1 else
            f"The bundle contains these {count} refs:"
        )  # fmt: skip
        for name, oid in refs.items():
            git.print(f"{oid} {name}")
        needed = found.needed
        if not needed:
            git.print("The bundle records a complete history.")
        else:
            git.print(
                "The bundle requires this ref:" if len(needed) == 1 else
                f"The bundle requires these {len(needed)} refs:"
            )  # fmt: skip
            for oid, _ in needed:
                git.print(f"{oid} ")
        git.print("The bundle uses this hash algorithm: sha1")
    git.say(f"{path} is okay")
    return 0


def _opened(git: Invocation, path: str) -> BundlePeer | None:
    """Return a bundle; say what is wrong and return None if there is none."""
    if not git.fs.exists(git.path(path)):
        git.error(f"could not open '{path}'")
        return None
    try:
        return BundlePeer(git, path, path)
    except Fatal as error:
        git.error(error.message)
        return None


def _list(git: Invocation, words: list[str]) -> int:
    options = parse_options("git bundle list-heads <file> [<refname>...]\n", words)
    if not options.operands:
        raise BadUsage("need a <file> argument", usage=False)
    found = _opened(git, options.operands[0])
    if found is None:
        return 1
    _print_heads(git, found, options.operands[1:])
    return 0


def _print_heads(git: Invocation, found: BundlePeer, wanted: list[str]) -> None:
    for name, oid in found.refs().items():
        if not wanted or name in wanted:
            git.print(f"{oid} {name}")


def _unbundle(git: Invocation, words: list[str]) -> int:
    options = parse_options("git bundle unbundle <file> [<refname>...]\n", words)
    if not options.operands:
        raise BadUsage("need a <file> argument", usage=False)
    found = _opened(git, options.operands[0])
    if found is None:
        return 1
    lacking = [each for each in found.needed if each[0] not in git.repository.objects]
    if lacking:
        git.error("Repository lacks these prerequisite commits:")
        for oid, _ in lacking:
            git.error(f"{oid} ")
        return 1
    receive_pack(git.repository, found.pack)
    _print_heads(git, found, options.operands[1:])
    return 0


COMMANDS = {"archive": archive, "bundle": bundle}
