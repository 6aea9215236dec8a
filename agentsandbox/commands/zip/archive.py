"""An archive that `zip` makes or changes."""

from __future__ import annotations

import errno
import os
import posixpath
import re
import stat as stat_module
import zlib

from agentsandbox.commands._time.times import nanoseconds
from agentsandbox.commands.zip.format import (
    BLOCK,
    DEFLATED,
    Entry,
    ZipFormatError,
    build_archive,
    dos_time,
    raw_data,
    read_directory,
)
from agentsandbox.commands.zip.listing import percent, visible
from agentsandbox.kernel.patterns.filenames import compile_glob
from agentsandbox.kernel.streams import Buffer, BytesReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.patterns.filenames import ExtendedGlob
    from agentsandbox.kernel.streams import ByteReader

_TEXT = bytes([9, 10, 13, *range(32, 256)])
_BINARY = bytes([*range(7), *range(14, 26), *range(28, 32)])
_PACKED = (".Z", ".zip", ".zoo", ".arc", ".lzh", ".arj")
"""The suffixes of files that are stored: they are compressed already."""

_FIFO = "ignoring FIFO (Named Pipe) - use -FI to read: "
_DAMAGED = (
    "\tzip warning: missing end signature--probably not a zip file (did you\n"
    "\tzip warning: remember to use binary mode when you transferred it?)\n"
    "\tzip warning: (if you are trying to read a damaged archive try -F)\n"
)


_UNTESTED = "Zip file invalid, could not spawn unzip, or wrong unzip (original files unmodified)"


class FailureError(Exception):
    """`zip` ends with "zip error: MESSAGE" and this status."""

    def __init__(self, message: str, status: int) -> None:
        self.message = message
        self.status = status
        super().__init__(message)


def _is_text(data: bytes) -> bool:
    """Whether data contains printing characters and none of the control characters of binaries."""
    return len(data.translate(None, _BINARY)) == len(data) > len(data.translate(None, _TEXT))


class Archive:
    """One archive: its members by name, in order, old and new."""

    def __init__(
        self,
        ctx: CommandContext,
        args: Arguments,
        archive: str,
        include: Sequence[str],
        exclude: Sequence[str],
        words: Sequence[str],
    ) -> None:
        self.ctx = ctx
        self.args = args
        self.words = words
        """The command line without the lists of -x and -i."""
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
        self.unread = False
        """Whether a file could not be read."""
        self.skipped: list[int] = []
        """Sizes of such files without an old member."""
        self.added: list[int] = []
        """Sizes of the files that were read."""
        self.output = ctx.stderr if archive == "-" else ctx.stdout
        self.sources: dict[str, str] = {}
        """The file of each name in the archive, for -j."""

    def tell(self, text: str) -> None:
        """Print, unless -q is given."""
        if not self.args.flag("quiet"):
            self.output.write(encode(text))

    def warn(self, message: str) -> None:
        if not self.args.flag("quiet"):
            self.output.write(encode(f"\tzip warning: {message}\n"))

    def read_old(self) -> None:
        """Read the members of an existing archive."""
        if not self.path or not self.ctx.fs.exists(self.path):
            return
        data = self.ctx.fs.read_bytes(self.path)
        try:
            entries, self.comment = read_directory(data, self.ctx.budget, self.zone)
            for entry in entries:
                start, end = raw_data(data, entry)
                entry.data = (data[start:end],)
                self.entries[entry.name] = entry
        except ZipFormatError as error:
            if error.problem == "entries":
                self.warn("expected {} entries but found {}".format(*error.counts))
            else:
                self.output.write(encode(_DAMAGED))
            raise FailureError(f"Zip file structure invalid ({self.archive})", 3) from None
        self.old = frozenset(self.entries)

    # choosing

    def wanted(self, name: str) -> bool:
        self.ctx.budget.step(1 + len(self.include) + len(self.exclude))
        if self.include and not _any(self.include, name):
            return False
        return not _any(self.exclude, name)

    def add_operand(self, name: str) -> None:
        """Add a file, or a directory; with -r, also everything below it."""
        if name == "-":
            self.add_stdin()
            return
        try:
            info = self.stat(name)
        except OSError:
            return
        pending: list[tuple[str, Stat]] = [(name.rstrip("/") or "/", info)]
        while pending:
            self.ctx.budget.step()
            here, info = pending.pop()
            if info.is_dir:
                self.add_directory(here, info)
                if self.args.flag("recurse-paths"):
                    pending.extend(self.below(here))
            elif info.is_file or info.is_link:
                self.add_file(here, info)
            elif stat_module.S_ISFIFO(info.mode) and here != name:
                self.warn(_FIFO + self.stored_name(here))

    def below(self, name: str) -> list[tuple[str, Stat]]:
        """Return the files in a directory, the last first; one that is closed counts as empty."""
        try:
            entries = self.ctx.fs.listdir(self.ctx.path(name))
        except OSError:
            return []
        found: list[tuple[str, Stat]] = []
        for entry in reversed(entries):
            path = posixpath.join(name, entry)
            try:
                found.append((path, self.stat(path)))
            except OSError:
                self.warn(f"name not matched: {self.stored_name(path)}")
        return found

    def check_operand(self, name: str) -> None:
        """Warn of a name without a file, before anything is added."""
        try:
            if name != "-" and stat_module.S_ISFIFO(self.stat(name).mode):
                self.warn(_FIFO + name)
        except OSError:
            if name not in self.old:
                self.warn(f"name not matched: {name}")

    def stat(self, name: str) -> Stat:
        return self.ctx.fs.stat(self.ctx.path(name), follow=not self.args.flag("symlinks"))

    def stored_name(self, name: str) -> str:
        if self.args.flag("junk-paths"):
            return posixpath.basename(name)
        parts = [part for part in name.split("/") if part not in ("", ".")]
        return "/".join(parts)

    def is_needed(self, name: str, info: Stat) -> bool:
        """Whether -u lets the file in: it is newer than the member, or there is no member."""
        old = self.entries.get(name)
        return old is None or not self.args.flag("update") or int(info.mtime) > old.mtime

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
        entry.extra = not self.args.flag("strip-extra")
        return entry

    def add_file(self, name: str, info: Stat) -> None:
        stored = self.stored_name(name)
        is_archive = posixpath.normpath(self.ctx.path(name)) == self.path
        if is_archive or not self.wanted(stored) or not self.is_needed(stored, info):
            return
        if self.sources.setdefault(stored, name) != name and self.args.flag("junk-paths"):
            self.warn(
                f"  first full name: {self.sources[stored]}\n{'':22}second full name: {name}\n"
                f"{'':21}name in zip file repeated: {stored}\n"
                f"{'':21}this may be a result of using -j"
            )
            raise FailureError("Invalid command arguments (cannot repeat names in zip file)", 16)
        entry = self.entry(stored, info)
        if info.is_link:
            data = encode(self.ctx.fs.readlink(self.ctx.path(name)))
            entry.store(data)
            entry.size, entry.crc = len(data), zlib.crc32(data)
        else:
            try:
                self.read_content(entry, name)
            except OSError as error:
                self.skip(stored, info, error)
                return
        self.keep(entry)
        self.removals.append((name, False))

    def skip(self, name: str, info: Stat, error: OSError) -> None:
        """Report a file that cannot be read; an old member of that name stays."""
        self.unread = True
        is_old = name in self.old
        self.tell(f"{'updating' if is_old else '  adding'}: {visible(name)}\n")
        reason = os.strerror(error.errno or 5)
        self.ctx.stderr.write(encode(f"{name if is_old else 'zip warning'}: {reason}\n"))
        self.warn(f"could not open for reading: {name}")
        if is_old:
            self.warn(f"will just copy entry over: {name}")
            self.changed += 1
        else:
            self.skipped.append(info.size)

    def read_content(self, entry: Entry, name: str) -> None:
        path = self.ctx.path(name)
        file = self.ctx.fs.open(path, "r")
        try:
            plain = self.compress(entry, file) or name.endswith(_PACKED)
        finally:
            file.release()
        if plain:
            entry.store(self.ctx.fs.read_bytes(path))

    def compress(self, entry: Entry, reader: ByteReader) -> bool:
        """Compress into the entry; whether the data is better stored."""
        stream = zlib.compressobj(max(self.level, 1), zlib.DEFLATED, -15)
        parts: list[bytes] = []
        for block in reader.blocks(BLOCK // 2):
            self.ctx.budget.step(200)
            if not entry.size:
                entry.text = _is_text(block)
            entry.crc = zlib.crc32(block, entry.crc)
            entry.size += len(block)
            if self.level:
                parts.append(stream.compress(block))
        parts.append(stream.flush())
        entry.compressed = sum(map(len, parts))
        entry.data, entry.method = parts, DEFLATED
        entry.flags = 2 if self.level in (8, 9) else 4 if self.level in (1, 2) else 0
        return not self.level or entry.compressed >= entry.size

    def add_stdin(self) -> None:
        entry = Entry("-")
        entry.mtime = int(self.ctx.host.clock())
        entry.stamp = dos_time(entry.mtime, self.zone)
        entry.mode = 0o010600
        parts: list[bytes] = []
        size = 0
        for block in self.ctx.stdin.blocks(BLOCK):
            size += len(block)
            self.ctx.budget.charge(size)
            parts.append(block)
        data = b"".join(parts)
        if self.compress(entry, BytesReader(data)):
            entry.store(data)
        self.keep(entry)

    def keep(self, entry: Entry) -> None:
        """Put the entry into the archive, unless this run has added that name."""
        if entry.name in self.entries and entry.name not in self.old:
            return
        verb = "updating" if entry.name in self.old else "  adding"
        old = self.entries.get(entry.name)
        entry.comment = old.comment if old is not None else b""
        self.entries[entry.name] = entry
        self.changed += 1
        self.added.append(entry.size)
        how = f"deflated {percent(entry.size, entry.compressed)}%" if entry.method else "stored 0%"
        sizes = f"\t(in={entry.size}) (out={entry.compressed})" if self.args.flag("verbose") else ""
        self.tell(f"{verb}: {visible(entry.name)}{sizes} ({how})\n")

    # the rest

    def delete(self, names: Sequence[str]) -> None:
        patterns = [(name, compile_glob(name, extglob=False)) for name in names]
        matched: set[str] = set()
        for name, pattern in patterns:
            hits = [known for known in self.entries if pattern.match(known)]
            if not hits:
                self.warn(f"name not matched: {name}")
            matched.update(hits)
        for hit in [known for known in self.entries if known in matched and self.wanted(known)]:
            self.ctx.budget.step()
            self.changed += 1
            self.tell(f"deleting: {visible(hit)}\n")
            del self.entries[hit]

    def write(self) -> None:
        """Write the archive."""
        parts = build_archive(list(self.entries.values()), self.comment, self.ctx.budget)
        if not self.path:
            for part in parts:
                self.ctx.stdout.write(part)
            return
        if not self.entries:
            self.warn("zip file empty")
        file = self.ctx.fs.open(self.path, "w", permissions=0o666 & ~self.ctx.umask)
        try:
            for part in parts:
                file.write(part)
        finally:
            file.release()

    def remove_added(self) -> None:
        """`-m`: delete the files that were added."""
        for name, is_dir in reversed(self.removals):
            self.ctx.budget.step()
            try:
                if is_dir:
                    self.ctx.fs.rmdir(self.ctx.path(name))
                else:
                    self.ctx.fs.unlink(self.ctx.path(name))
            except OSError:
                continue

    def add_operands(self, operands: Sequence[str]) -> None:
        """Add all operands. With -j, messages wait until it is sure that no name comes twice."""
        output, held = self.output, Buffer(self.ctx.budget.value_bytes)
        if self.args.flag("junk-paths"):
            self.output = held
        try:
            for name in operands:
                self.add_operand(name)
        except FailureError:
            lines = held.getvalue().splitlines(keepends=True)
            output.write(b"".join([line for line in lines if not line.startswith(b"  adding: ")]))
            raise
        finally:
            self.output = output
        output.write(held.getvalue())

    def test(self) -> int:
        """`-T`: run `unzip` on the archive."""
        if self.ctx.run(["unzip", "-tqq", self.archive], stdout=self.output):
            self.output.write(encode(f"test of {self.archive} FAILED\n"))
            raise FailureError(_UNTESTED, 8)
        self.tell(f"test of {self.archive} OK\n")
        return 0

    def run(self, names: Sequence[str]) -> int:
        """Do what the options ask for; return the exit status."""
        self.check_writable()
        self.read_old()
        updates = self.args.flag("update")
        if (self.args.flag("delete") or updates) and not self.old:
            self.warn(f"{self.archive} not found or empty")
        if self.args.flag("delete"):
            self.delete(names if self.old else ())
        else:
            operands = names or (sorted(self.old) if updates else ())
            for name in operands:
                self.ctx.budget.step()
                self.check_operand(name)
            self.add_operands(operands)
        if self.args.flag("test") and not names and self.old:
            return self.test()
        if not self.changed and not self.skipped:
            if updates and self.old:
                return 12
            self.check_nothing(names)
        if self.skipped:
            self.tell_skipped()
        self.write()
        if self.args.flag("verbose"):
            size = sum(entry.size for entry in self.entries.values())
            compressed = sum(entry.compressed for entry in self.entries.values())
            saved = percent(size, compressed)
            self.tell(f"total bytes={size}, compressed={compressed} -> {saved}% savings\n")
        if self.args.flag("test"):
            self.test()
        if self.args.flag("move"):
            self.remove_added()
        return 18 if self.unread else 0

    def check_writable(self) -> None:
        """Raise the error for an archive that cannot be written, before anything else happens."""
        fs, directory = self.ctx.fs, posixpath.dirname(self.path)
        if not self.path:
            return
        if not fs.is_dir(directory):
            reason = errno.ENOENT
        elif fs.access(*((self.path, 2) if fs.exists(self.path) else (directory, 3))):
            return
        else:
            reason = errno.EACCES
        self.output.write(encode(f"zip I/O error: {os.strerror(reason)}"))
        raise FailureError(f"Could not create output file ({self.archive})", 15)

    def tell_skipped(self) -> None:
        """Sum up what was read and what was not."""
        read = self.added
        self.tell(
            "\nzip warning: Not all files were readable\n"
            f"  files/entries read:  {len(read)} ({sum(read)} bytes)"
            f"  skipped:  {len(self.skipped)} ({sum(self.skipped)} bytes)\n"
        )

    def check_nothing(self, names: Sequence[str]) -> None:
        """Raise the error that nothing was added; a new archive may be empty with -i."""
        if self.include and not self.old:
            return
        hint = self.archive
        if self.args.flag("recurse-paths") and names and not self.exclude and not self.include:
            operands = list(self.args.operands)
            asked = [
                word
                for word in self.words
                if not (operands and word == operands[0] and operands.pop(0))
            ]
            hint = f"try: zip {' '.join(asked)} {self.args.operands[0]} . -i {' '.join(names)}"
        raise FailureError(f"Nothing to do! ({hint})", 12)


def _any(patterns: Sequence[re.Pattern[str] | ExtendedGlob], name: str) -> bool:
    return any(pattern.match(name) for pattern in patterns)
