"""An archive that `unzip` lists, tests and extracts.

An archive is untrusted. Names lose leading slashes and ".." components, and control characters;
files are created exclusively after what was in the way is removed; and symbolic links are made when
all files are written, so that no member is written through a link. Contents are expanded in blocks
that draw on the budget, and a file whose checksum is wrong is reported.
"""

from __future__ import annotations

import errno
import os
import posixpath
import zlib

from agentsandbox.commands.zip.format import (
    DEFLATED,
    STORED,
    ZipFormatError,
    expand,
    leading_bytes,
    read_members,
)
from agentsandbox.commands.zip.listing import list_short, visible
from agentsandbox.kernel.fs.base import Timestamp
from agentsandbox.kernel.patterns.filenames import compile_glob
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.commands.zip.format import Entry
    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.streams import ByteWriter

_PROMPT = "replace {}? [y]es, [n]o, [A]ll, [N]one, [r]ename: "
_PROBLEMS = {
    "directory": "bad zipfile offset (local header sig)",
    "method": "unsupported compression method",
    "password": "unable to get password",
    "data": "invalid compressed data to inflate",
}


_VERBS = {STORED: " extracting"}
_EXPANDED = (STORED, DEFLATED)


def _padded(name: str) -> str:
    """Return a name in 22 columns, counted in bytes."""
    return name + " " * max(0, 22 - len(encode(name)))


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


_NO_START = """\
error [{}]:  start of central directory not found;
  zipfile corrupt.
"""
_NO_HEADER = "error:  expected central file header signature not found (file #{}).\n"
_ADVICE = """\
  (please check that you have transferred or created the zipfile in the
  appropriate BINARY mode and that you have compiled UnZip properly)
"""


def _doing(error: OSError) -> str:
    """Return what failed: removing what is in the way, or making the file."""
    return "delete old" if error.errno in (errno.EISDIR, errno.EPERM) else "create"


class Unzip:
    """One archive. The exit status is 1 for warnings, 2 for damage, 11 if a name matches nothing,
    81 for methods that are not supported.
    """

    def __init__(self, ctx: CommandContext, args: Arguments, name: str, data: bytes) -> None:
        self.ctx = ctx
        self.args = args
        self.name = name
        self.data = data
        self.quiet = sum(key == "q" for key, _ in args.given)
        self.zone = ctx.env.get("TZ", "")
        directory = args.value("d")
        self.prefix = "" if directory is None else directory.rstrip("/") or directory
        if self.prefix.strip("/"):
            self.prefix += "/"
        self.policy = args.last("n", "o") or ""
        self.unknown = self.encrypted = 0
        """Members that cannot be expanded, because of their method and for want of a password."""
        self.numbers: dict[int, int] = {}
        """The number of each chosen member, by its place in the directory."""
        self.unused: list[str] = []
        """Patterns of -x that match nothing."""
        self.deferred: list[tuple[str, str]] = []
        self.directories: list[tuple[str, Entry]] = []

    def out(self, text: str, quiet: int = 1) -> None:
        """Print on stdout, unless -q was given `quiet` times."""
        if self.quiet < quiet:
            self.ctx.stdout.write(encode(text))

    def warn(self, text: str, status: int = 1) -> None:
        """Print on stderr; the exit status becomes `status` if that is higher."""
        self.ctx.stderr.write(encode(text))
        self.ctx.status = max(self.ctx.status, status)

    # choosing

    def choose(
        self, entries: list[Entry], names: Sequence[str], excluded: Sequence[str]
    ) -> tuple[list[Entry], list[str]]:
        """Return the chosen members, and the operands that match nothing."""
        wanted = [(name, compile_glob(name, extglob=False)) for name in names]
        unwanted = [compile_glob(name, extglob=False) for name in excluded]
        found: set[str] = set()
        hit: set[int] = set()
        chosen: list[Entry] = []
        for entry in entries:
            self.ctx.budget.step(1 + len(wanted) + len(unwanted))
            hits = [name for name, pattern in wanted if pattern.match(entry.name)]
            found.update(hits)
            out = {at for at, pattern in enumerate(unwanted) if pattern.match(entry.name)}
            hit |= out
            if (hits or not wanted) and not out:
                chosen.append(entry)
        self.unused = [name for at, name in enumerate(excluded) if at not in hit]
        return chosen, [name for name in names if name not in found]

    # testing and printing

    def is_there(self, entry: Entry) -> bool:
        """Whether the member is where the directory says; reports it if not."""
        if self.data[entry.offset : entry.offset + 4] == b"PK\3\4":
            return True
        out = self.ctx.stdout if self.args.flag("t") else self.ctx.stderr
        beyond = entry.offset + 4 > len(self.data)
        where = f"({'EOF' if beyond else 'local header sig'}):  {entry.offset}"
        out.write(encode(f"file #{self.numbers[entry.place]}:  bad zipfile offset {where}\n"))
        self.ctx.status = max(self.ctx.status, 3 if beyond else 2)
        return False

    def check(self, entry: Entry) -> str:
        """Return "OK", or what is wrong with the content."""
        crc = 0
        try:
            for block in expand(self.data, entry, self.ctx.budget):
                crc = zlib.crc32(block, crc)
        except ZipFormatError as error:
            return _PROBLEMS[error.problem]
        return "OK" if crc == entry.crc else f"bad CRC {crc:08x}  (should be {entry.crc:08x})"

    def test(self, entries: list[Entry], missing: list[str], *, failed: bool) -> None:
        for entry in entries:
            if not self.is_there(entry):
                failed = True
                continue
            if self.is_locked(entry):
                continue
            result = self.check(entry)
            if result != "OK":
                failed = True
                self.ctx.status = max(self.ctx.status, 2)
                if self.quiet:
                    self.ctx.stdout.write(encode(f"{visible(entry.name):<22}  {result}\n"))
            self.out(f"    testing: {_padded(visible(entry.name))}   {result}\n")
        for name in missing:
            self.out(f"caution: filename not matched:  {name}\n", 3)
        tested = len(entries)
        if failed or self.encrypted:
            self.out(f"At least one error was detected in {self.name}.\n", 2)
        elif not self.unknown and tested:
            self.out(f"No errors detected in compressed data of {self.name}.\n", 2)
        elif tested:
            self.out(f"No errors detected in {self.name} for the {_files(tested)} tested.\n", 2)
        else:
            self.out(f"Caution:  zero files tested in {self.name}.\n", 2)
        if self.unknown:
            skipped = "skipped because of unsupported compression or encoding"
            self.out(f"{_files(self.unknown)} {skipped}.\n", 2)

    def print_content(self, entry: Entry) -> None:
        """`-p`: write the content to stdout."""
        crc = 0
        try:
            for block in expand(self.data, entry, self.ctx.budget):
                crc = zlib.crc32(block, crc)
                self.ctx.stdout.write(block)
        except ZipFormatError as error:
            self.warn(f"{entry.name:<22}  {_PROBLEMS[error.problem]}\n", 2)
            return
        if crc != entry.crc:
            self.warn(f"{entry.name:<22}  bad CRC {crc:08x}  (should be {entry.crc:08x})\n", 2)

    # extracting

    def safe_name(self, entry: Entry) -> str:
        """Return the name without parts that lead out of the directory, "" if nothing is left."""
        # control characters first: without them, ".\1." would be ".."
        name = "".join([each for each in entry.name if each >= " " and each != "\x7f"])
        if name.startswith("/"):
            self.warn(f"warning:  stripped absolute path spec from {name}\n")
            name = name.lstrip("/")
        parts = name.split("/")
        if ".." in parts:
            self.out(f'warning:  skipped "../" path component(s) in {entry.name}\n', 3)
            self.ctx.status = max(self.ctx.status, 1)
        kept = [part for part in parts if part not in ("", "..", ".")]
        if self.args.flag("j"):
            kept = kept[-1:]
        return "/".join(kept)

    def extract(self, entry: Entry) -> None:
        name = self.safe_name(entry)
        if not name:
            return
        shown = self.prefix + name
        path = self.ctx.path(shown)
        try:
            if entry.is_dir:
                if not self.args.flag("j"):
                    self.make_directory(entry, shown, path)
                return
            if self.is_locked(entry):
                return
            existing = self.existing(path)
            if existing is not None:
                replaced = self.replace(shown)
                if replaced is None:
                    return
                shown = replaced
                path = self.ctx.path(shown)
            self.ctx.fs.makedirs(posixpath.dirname(path), 0o777 & ~self.ctx.umask)
            self.write(entry, shown, path)
        except OSError as error:
            self.warn(
                f"error:  cannot {_doing(error)} {shown}\n"
                f"        {os.strerror(error.errno or 5)}\n",
                50,
            )

    def existing(self, path: str) -> Stat | None:
        try:
            return self.ctx.fs.stat(path, follow=False)
        except OSError:
            return None

    def replace(self, shown: str) -> str | None:
        """Return the name to write where a file exists, None to leave it alone."""
        if self.policy:
            return shown if self.policy == "o" else None
        while True:
            self.ctx.stderr.write(encode(_PROMPT.format("\0").replace("\0", shown)))
            answer = decode(self.ctx.stdin.readline())
            if not answer:
                self.ctx.stderr.write(b' NULL\n(EOF or read error, treating as "[N]one" ...)\n')
                self.policy = "n"
                self.ctx.status = max(self.ctx.status, 1)
                return None
            letter = answer[:1]
            if letter in "AN":
                self.policy = "o" if letter == "A" else "n"
            if letter in "yYA":
                return shown
            if letter in "nN":
                return None
            if letter in "rR":
                self.ctx.stderr.write(b"new name: ")
                fresh = decode(self.ctx.stdin.readline()).rstrip("\n")
                if fresh and ".." not in fresh.split("/"):
                    return self.prefix + fresh.lstrip("/")
            else:
                self.ctx.stderr.write(
                    encode(f"error:  invalid response [{answer.rstrip()[:40]}]\n")
                )

    def make_directory(self, entry: Entry, shown: str, path: str) -> None:
        if not self.ctx.fs.is_dir(path):
            self.ctx.fs.makedirs(path, 0o777 & ~self.ctx.umask)
            self.out(f"   creating: {shown}/\n")
            self.directories.append((path, entry))

    def write(self, entry: Entry, shown: str, path: str) -> None:
        fs = self.ctx.fs
        if entry.is_link:
            self.defer_link(entry, shown, path)
            return
        if self.existing(path) is not None:
            fs.unlink(path)
        file = fs.open(path, "x", permissions=0o644)
        self.out(f"{_VERBS.get(entry.method, '  inflating')}: {_padded(shown)}  ")
        crc = 0
        try:
            for block in expand(self.data, entry, self.ctx.budget):
                crc = zlib.crc32(block, crc)
                file.write(block)
        except ZipFormatError as error:
            self.warn(f"{_PROBLEMS[error.problem]}\n", 2)
            return
        finally:
            file.release()
        if crc != entry.crc:
            named = f"{shown:<22} " if self.quiet else ""
            self.warn(f"{named} bad CRC {crc:08x}  (should be {entry.crc:08x})\n", 2)
        else:
            self.out("\n")
        mode = entry.mode & 0o777 or 0o644
        fs.chmod(path, mode & ~self.ctx.umask)
        fs.utime(path, Timestamp.from_ns(entry.mtime * 1_000_000_000))

    def is_locked(self, entry: Entry) -> bool:
        """Whether the member is encrypted; reports that it is skipped."""
        if not entry.flags & 1:
            return False
        self.encrypted += 1
        out = self.ctx.stdout if self.args.flag("t") else self.ctx.stderr
        name = _padded(visible(entry.name))
        out.write(encode(f"   skipping: {name}  {_PROBLEMS['password']}\n"))
        return True

    def defer_link(self, entry: Entry, shown: str, path: str) -> None:
        """Keep a link for `finish`; an empty file takes its place until then."""
        self.ctx.budget.charge(entry.size)
        try:
            target = decode(b"".join(expand(self.data, entry, self.ctx.budget)))
        except ZipFormatError as error:
            self.warn(f"{_PROBLEMS[error.problem]}\n", 2)
            return
        self.out(f"    linking: {shown:<22}  -> {target} \n")
        if self.existing(path) is not None:
            self.ctx.fs.unlink(path)
        self.ctx.fs.open(path, "x", permissions=0o600).release()
        self.deferred.append((shown, target))

    def finish(self) -> None:
        """Make the links; set modes and times of directories, the deepest first."""
        if self.deferred:
            self.out("finishing deferred symbolic links:\n")
        for shown, target in self.deferred:
            path = self.ctx.path(shown)
            self.out(f"  {shown:<22} -> {target}\n")
            try:
                self.ctx.fs.unlink(path)
                self.ctx.fs.symlink(target, path)
            except OSError as error:
                self.warn(
                    f"warning:  symbolic link ({shown}) failed: {os.strerror(error.errno or 5)}\n"
                )
        for path, entry in sorted(self.directories, key=lambda pair: -pair[0].count("/")):
            self.ctx.budget.step()
            if entry.mode & 0o777:
                self.ctx.fs.chmod(path, entry.mode & 0o777 & ~self.ctx.umask)
            self.ctx.fs.utime(path, Timestamp.from_ns(entry.mtime * 1_000_000_000))

    def run(self, names: Sequence[str], excluded: Sequence[str]) -> int:
        """Do what the options ask for; return the exit status."""
        args = self.args
        entries, comment, count = read_members(self.data, self.ctx.budget, self.zone)
        whole = len(entries) == count
        chosen, missing = self.choose(entries, names, excluded)
        self.numbers = {entry.place: number for number, entry in enumerate(chosen, 1)}
        if not args.flag("p"):
            self.out(f"Archive:  {self.name}\n")
            if comment:
                self.out(decode(comment.replace(b"\r\n", b"\n")) + "\n")
        out = self.ctx.stdout if args.flag("t") else self.ctx.stderr
        self.check_start(entries, out)
        if not entries and not whole:
            return self.report_damage(0, out)
        if not entries:
            self.warn(f"warning [{self.name}]:  zipfile is empty\n")
            return 1
        if args.flag("l"):
            list_short(chosen, self.zone, self.quiet, self.ctx.print, summed=whole)
            if not whole:
                return self.report_damage(len(entries) + 1, out)
            self.ctx.status = max(self.ctx.status, 0 if chosen else 11)
            return self.ctx.status
        chosen = self.without_unknown(chosen, out)
        if not whole:
            self.report_damage(len(chosen) + 1, out)
        self.work(chosen, missing, whole=whole)
        if self.unknown and self.ctx.status <= 1:
            self.ctx.status = 81
        if self.encrypted:
            self.ctx.status = max(self.ctx.status, 5)
        if missing or not (chosen or self.unknown):
            self.ctx.status = max(self.ctx.status, 11 if whole else 3)
        for name in () if args.flag("t") else missing:
            self.warn(f"caution: filename not matched:  {name}\n")
        for name in self.unused:
            self.warn(f"caution: excluded filename not matched:  {name}\n", 0)
        return self.ctx.status

    def without_unknown(self, chosen: list[Entry], out: ByteWriter) -> list[Entry]:
        """Return the members whose method is known; report the others."""
        known: list[Entry] = []
        for entry in chosen:
            if entry.method in _EXPANDED:
                known.append(entry)
                continue
            self.unknown += 1
            if not self.quiet and not self.args.flag("p"):
                problem = f"unsupported compression method {entry.method}"
                out.write(encode(f"   skipping: {_padded(visible(entry.name))}  {problem}\n"))
        return known

    def report_damage(self, number: int, out: ByteWriter) -> int:
        """Report that the central directory ends before entry `number`, or is missing (0)."""
        if number:
            text = _NO_HEADER.replace("{}", str(number))
        else:
            text = _NO_START.replace("{}", self.name)
        out.write(encode(text + _ADVICE))
        self.ctx.status = max(self.ctx.status, 3)
        return self.ctx.status

    def check_start(self, entries: Sequence[Entry], out: ByteWriter) -> None:
        """Warn of bytes before the first member."""
        if entries and (extra := leading_bytes(self.data)):
            what = f"{extra} extra bytes at beginning or within zipfile"
            text = f"warning [{self.name}]:  {what}\n  (attempting to process anyway)\n"
            out.write(encode(text))
            self.ctx.status = max(self.ctx.status, 1)

    def make_root(self) -> bool:
        """Make the directory of -d if it is not there, but none above it; report a failure."""
        name = self.prefix.rstrip("/") or "/"
        path = self.ctx.path(name)
        try:
            if not self.ctx.fs.is_dir(path):
                self.ctx.fs.mkdir(path, 0o777 & ~self.ctx.umask)
        except OSError as error:
            what = f"checkdir:  cannot create extraction directory: {name}"
            self.warn(f"{what}\n           {os.strerror(error.errno or 5)}\n", 2)
            return False
        return True

    def work(self, chosen: list[Entry], missing: list[str], *, whole: bool) -> None:
        """Test, print or extract the members."""
        if self.args.flag("t"):
            self.test(chosen, missing, failed=bool(missing) or not whole)
            return
        if self.args.flag("p"):
            for entry in chosen:
                if self.is_there(entry) and not self.is_locked(entry):
                    self.print_content(entry)
            return
        if self.prefix and not self.make_root():
            return
        try:
            for entry in chosen:
                self.ctx.budget.step()
                if self.is_there(entry):
                    self.extract(entry)
        finally:
            self.finish()
