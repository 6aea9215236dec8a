"""`zip` (Info-ZIP): make and change zip archives."""

from __future__ import annotations

import posixpath
import zlib

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._times import nanoseconds
from agentsandbox.commands._zip_format import (
    BLOCK,
    DEFLATED,
    STORED,
    Entry,
    ZipFormatError,
    build_archive,
    dos_time,
    raw_data,
    read_directory,
)
from agentsandbox.commands._zip_listing import percent
from agentsandbox.errors import UsageError
from agentsandbox.patterns import compile_glob
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from agentsandbox.fs.base import Stat
    from agentsandbox.patterns import ExtendedGlob
    from agentsandbox.streams import ByteReader

_TEXT = bytes([9, 10, 13, *range(32, 256)])
_BINARY = bytes([*range(7), *range(14, 26), *range(28, 32)])
_DAMAGED = (
    "\tzip warning: missing end signature--probably not a zip file (did you\n"
    "\tzip warning: remember to use binary mode when you transferred it?)\n"
    "\tzip warning: (if you are trying to read a damaged archive try -F)\n"
)


class _FailureError(Exception):
    """The archive cannot be made: "zip error: MESSAGE", and the status."""

    def __init__(self, message: str, status: int) -> None:
        self.message = message
        self.status = status
        super().__init__(message)


def _is_text(data: bytes) -> bool:
    """Whether it holds printing characters and no control characters that texts do not have."""
    return len(data.translate(None, _BINARY)) == len(data) > len(data.translate(None, _TEXT))


class _Zip:
    """One archive: its members by name, in order, old and new."""

    def __init__(self, ctx: CommandContext, args: Arguments, archive: str, include: Sequence[str], exclude: Sequence[str]) -> None:
        self.ctx = ctx
        self.args = args
        self.archive = archive
        self.zone = ctx.env.get("TZ", "")
        self.include = [compile_glob(name, extglob=False) for name in include]
        self.exclude = [compile_glob(name, extglob=False) for name in exclude]
        level = args.last(*"0123456789")
        self.level = 6 if level is None else int(level)
        self.entries: dict[str, Entry] = {}
        self.old: frozenset[str] = frozenset()
        self.comment = b""
        self.path = "" if archive == "-" else ctx.path(archive)
        self.removals: list[tuple[str, bool]] = []
        self.changed = 0
        self.output = ctx.stderr if archive == "-" else ctx.stdout

    def tell(self, text: str) -> None:
        if not self.args.flag("quiet"):
            self.output.write(encode(text))

    def warn(self, message: str) -> None:
        if not self.args.flag("quiet"):
            self.output.write(encode(f"\tzip warning: {message}\n"))

    def read_old(self) -> None:
        """The members that the archive has already."""
        if not self.path or not self.ctx.fs.exists(self.path):
            return
        data = self.ctx.fs.read_bytes(self.path)
        try:
            entries, self.comment = read_directory(data, self.ctx.budget, self.zone)
            for entry in entries:
                start, end = raw_data(data, entry)
                entry.data = (data[start:end],)
                self.entries[entry.name] = entry
        except ZipFormatError:
            self.output.write(encode(_DAMAGED))
            raise _FailureError(f"Zip file structure invalid ({self.archive})", 3) from None
        self.old = frozenset(self.entries)

    # choosing

    def wanted(self, name: str) -> bool:
        self.ctx.budget.step(1 + len(self.include) + len(self.exclude))
        if self.include and not _any(self.include, name):
            return False
        return not _any(self.exclude, name)

    def add_operand(self, name: str) -> None:
        """Add a file, or a directory with what is below it if -r was given."""
        if name == "-":
            self.add_stdin()
            return
        try:
            info = self.stat(name)
        except OSError:
            self.warn(f"name not matched: {name}")
            return
        pending: list[tuple[str, Stat]] = [(name.rstrip("/") or "/", info)]
        while pending:
            self.ctx.budget.step()
            here, info = pending.pop()
            if info.is_dir:
                self.add_directory(here, info)
                if self.args.flag("recurse-paths"):
                    entries = reversed(self.ctx.fs.listdir(self.ctx.path(here)))
                    below = [posixpath.join(here, entry) for entry in entries]
                    pending.extend([(path, self.stat(path)) for path in below if self.stat_or_none(path)])
            elif info.is_file or info.is_link:
                self.add_file(here, info)

    def stat(self, name: str) -> Stat:
        return self.ctx.fs.stat(self.ctx.path(name), follow=not self.args.flag("symlinks"))

    def stat_or_none(self, name: str) -> bool:
        try:
            self.stat(name)
        except OSError:
            self.warn(f"could not open for reading: {name}")
            return False
        return True

    def stored_name(self, name: str) -> str:
        if self.args.flag("junk-paths"):
            return posixpath.basename(name)
        parts = [part for part in name.split("/") if part not in ("", ".")]
        return "/".join(parts)

    def is_needed(self, name: str, info: Stat) -> bool:
        """By -u and -f: whether the file is newer than the member, or there is none."""
        old = self.entries.get(name)
        if old is None:
            return not self.args.flag("freshen")
        if self.args.flag("freshen") or self.args.flag("update"):
            return int(info.mtime) > old.mtime
        return True

    # adding

    def add_directory(self, name: str, info: Stat) -> None:
        stored = self.stored_name(name)
        if not stored or self.args.flag("no-dir-entries") or self.args.flag("junk-paths"):
            return
        entry = self.entry(f"{stored}/", info)
        if self.wanted(entry.name) and self.is_needed(entry.name, info):
            self.keep(entry)
            self.removals.append((name, True))

    def entry(self, name: str, info: Stat) -> Entry:
        entry = Entry(name)
        entry.mode = info.mode
        entry.mtime = nanoseconds(info.mtime) // 1_000_000_000
        entry.stamp = dos_time(entry.mtime, self.zone)
        entry.extra = not self.args.flag("no-extra")
        return entry

    def add_file(self, name: str, info: Stat) -> None:
        stored = self.stored_name(name)
        if posixpath.normpath(self.ctx.path(name)) == self.path or not self.wanted(stored) or not self.is_needed(stored, info):
            return
        entry = self.entry(stored, info)
        if info.is_link:
            data = encode(self.ctx.fs.readlink(self.ctx.path(name)))
            entry.data, entry.size, entry.compressed, entry.crc = (data,), len(data), len(data), zlib.crc32(data)
        else:
            try:
                self.read_content(entry, name)
            except OSError as error:
                self.warn(f"could not open for reading: {name} ({error.strerror})")
                return
        self.keep(entry)
        self.removals.append((name, False))

    def read_content(self, entry: Entry, name: str) -> None:
        path = self.ctx.path(name)
        file = self.ctx.fs.open(path, "r")
        try:
            plain = self.squeeze(entry, file)
        finally:
            file.release()
        if plain:
            data = self.ctx.fs.read_bytes(path)
            entry.data, entry.compressed, entry.method, entry.flags = (data,), len(data), STORED, 0

    def squeeze(self, entry: Entry, reader: ByteReader) -> bool:
        """Compress into the entry; whether it is better stored as it is."""
        stream = zlib.compressobj(max(self.level, 1), zlib.DEFLATED, -15)
        parts: list[bytes] = []
        first = True
        for block in reader.blocks(BLOCK // 2):
            self.ctx.budget.step(200)
            if first:
                entry.text = _is_text(block)
                first = False
            entry.crc = zlib.crc32(block, entry.crc)
            entry.size += len(block)
            if self.level:
                parts.append(stream.compress(block))
        parts.append(stream.flush())
        entry.compressed = sum(map(len, parts))
        entry.data, entry.method = parts, DEFLATED
        entry.flags = 2 if self.level in (8, 9) else 4 if self.level == 2 else 6 if self.level == 1 else 0
        return not self.level or entry.compressed >= entry.size

    def add_stdin(self) -> None:
        entry = Entry("-")
        entry.mtime = int(self.ctx.host.clock())
        entry.stamp = dos_time(entry.mtime, self.zone)
        entry.mode = 0o010600
        self.squeeze(entry, self.ctx.stdin)
        self.keep(entry)

    def keep(self, entry: Entry) -> None:
        """Put the entry into the archive and tell of it."""
        verb = "freshening" if self.args.flag("freshen") else "updating" if entry.name in self.old else "  adding"
        if entry.name in self.entries and entry.name not in self.old:
            return
        self.entries[entry.name] = entry
        self.changed += 1
        how = f"deflated {percent(entry.size, entry.compressed)}%" if entry.method else "stored 0%"
        sizes = f"\t(in={entry.size}) (out={entry.compressed})" if self.args.flag("verbose") else ""
        self.tell(f"{verb}: {entry.name}{sizes} ({how})\n")

    # the rest

    def delete(self, names: Sequence[str]) -> None:
        for name in names:
            pattern = compile_glob(name, extglob=False)
            hits = [known for known in self.entries if pattern.match(known)]
            if not hits:
                self.warn(f"name not matched: {name}")
            for hit in hits:
                self.ctx.budget.step()
                self.changed += 1
                self.tell(f"deleting: {hit}\n")
                del self.entries[hit]

    def write(self) -> None:
        """Write the archive; remove it when nothing is left in it."""
        if not self.path:
            for part in build_archive(list(self.entries.values()), self.comment, self.ctx.budget):
                self.ctx.stdout.write(part)
            return
        if not self.entries:
            self.warn("zip file empty")
            self.ctx.fs.unlink(self.path)
            return
        file = self.ctx.fs.open(self.path, "w", permissions=0o666 & ~self.ctx.umask)
        try:
            for part in build_archive(list(self.entries.values()), self.comment, self.ctx.budget):
                file.write(part)
        finally:
            file.release()

    def remove_added(self) -> None:
        for name, is_dir in reversed(self.removals):
            self.ctx.budget.step()
            try:
                if is_dir:
                    self.ctx.fs.rmdir(self.ctx.path(name))
                else:
                    self.ctx.fs.unlink(self.ctx.path(name))
            except OSError:
                continue

    def run(self, names: Sequence[str]) -> int:
        self.read_old()
        if self.path and not self.ctx.fs.is_dir(posixpath.dirname(self.path)):
            self.output.write(b"zip I/O error: No such file or directory")
            raise _FailureError(f"Could not create output file ({self.archive})", 15)
        for verb in ("delete", "freshen", "update"):
            if self.args.flag(verb) and not self.old:
                self.warn(f"{self.archive} not found or empty")
        if self.args.flag("freshen") and not self.old:
            return 12
        if self.args.flag("delete"):
            if self.old:
                self.delete(names)
        else:
            for name in names or (sorted(self.old) if self.args.flag("freshen") or self.args.flag("update") else ()):
                self.add_operand(name)
        if self.args.flag("test") and not names and self.old:
            self.tell(f"test of {self.archive} OK\n")
            return 0
        if not self.changed:
            if (self.args.flag("freshen") or self.args.flag("update")) and self.old:
                return 12
            raise _FailureError(f"Nothing to do! ({self.archive})", 12)
        self.write()
        if self.args.flag("verbose"):
            size, compressed = (sum(getattr(entry, key) for entry in self.entries.values()) for key in ("size", "compressed"))
            self.tell(f"total bytes={size}, compressed={compressed} -> {percent(size, compressed)}% savings\n")
        if self.args.flag("test"):
            self.tell(f"test of {self.archive} OK\n")
        if self.args.flag("move"):
            self.remove_added()
        return 0


def _any(patterns: Sequence[re.Pattern[str] | ExtendedGlob], name: str) -> bool:
    return any(pattern.match(name) for pattern in patterns)


def _cut_lists(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The words without the lists of -x and -i (up to the next option or "@"), and those lists."""
    kept: list[str] = []
    lists: dict[str, list[str]] = {"-x": [], "-i": []}
    current = kept
    for word in words:
        long = {"--exclude": "-x", "--include": "-i"}.get(word, word)
        if long in lists:
            current = lists[long]
        elif current is not kept and word == "@":
            current = kept
        elif current is not kept and word.startswith("-") and len(word) > 1:
            current = kept
            kept.append(word)
        elif word[:2] in lists and len(word) > 2:
            lists[word[:2]].append(word[2:])
        else:
            current.append(word)
    return kept, lists["-i"], lists["-x"]


@command(
    "zip",
    usage="""
    Usage: zip [-options] [zipfile list] [-xi list]
    Add files of the list to zipfile, or replace them in it; "-" for standard input or output.

      -d, --delete          delete entries in zipfile
      -D, --no-dir-entries  do not add directory entries
      -f, --freshen         only changed files
      -i, --include         include only the following names
      -j, --junk-paths      do not record directory names
      -m, --move            move into zipfile (delete files)
      -q, --quiet           quiet operation
      -r, --recurse-paths   recurse into directories
      -T, --test            test zipfile integrity
      -u, --update          only changed or new files
      -v, --verbose         verbose operation
      -x, --exclude         exclude the following names
      -X, --no-extra        exclude extra file attributes
      -y, --symlinks        store symbolic links as the link, not what it points to
      -@, --names-stdin     read names from standard input
      -0                    store only
      -1                    compress faster
      -2                    a level between
      -3                    a level between
      -4                    a level between
      -5                    a level between
      -6                    the default
      -7                    a level between
      -8                    a level between
      -9                    compress better
      -h, --help            show this help
    """,
    raw=True,
)
def zip(ctx: CommandContext, args: Arguments) -> int:
    words, include, exclude = _cut_lists(args.operands)
    try:
        options = zip.parser().parse(words)
    except UsageError as error:
        long = error.message.partition("'--")[2].rstrip("'")
        short = error.message.rpartition("-- '")[2].rstrip("'")
        what = f"long option '{long}' not supported" if long else f"short option '{short}' not supported"
        ctx.stdout.write(encode(f"\nzip error: Invalid command arguments ({what})\n"))
        return 16
    if options.flag("help") or not words:
        ctx.print(zip.usage, end="")
        return 0
    names = options.operands[1:]
    archive = options.operands[0] if options.operands else "-"
    if options.flag("names-stdin"):
        for line in ctx.stdin.lines():
            ctx.budget.step()
            names.append(decode(line.rstrip(b"\n")))
    if archive != "-" and "." not in posixpath.basename(archive):
        archive += ".zip"
    try:
        return _Zip(ctx, options, archive, include, exclude).run(names)
    except _FailureError as failure:
        target = ctx.stderr if archive == "-" else ctx.stdout
        target.write(encode(f"\nzip error: {failure.message}\n"))
        return failure.status
