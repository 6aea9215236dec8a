"""`unzip` (Info-ZIP): list, test and extract zip archives, into the directory and nowhere else."""

from __future__ import annotations

import os
import posixpath
import re
import zlib

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._zip_format import ZipFormatError, expand, read_directory
from agentsandbox.commands._zip_listing import list_long, list_short, list_verbose, totals
from agentsandbox.errors import UsageError
from agentsandbox.fs.base import Timestamp
from agentsandbox.patterns import compile_glob
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.commands._zip_format import Entry
    from agentsandbox.fs.base import Stat

_NO_SIGNATURE = """\
  End-of-central-directory signature not found.  Either this file is not
  a zipfile, or it constitutes one disk of a multi-part archive.  In the
  latter case the central directory and zipfile comment will be found on
  the last disk(s) of this archive.
unzip:  cannot find zipfile directory in one of {0} or
        {0}.zip, and cannot find {0}.ZIP, period.
"""
_PROMPT = "replace {}? [y]es, [n]o, [A]ll, [N]one, [r]ename: "
_PROBLEMS = {
    "directory": "bad zipfile offset (local header sig)",
    "method": "unsupported compression method",
    "encrypted": "incorrect password",
    "password": "unable to get password",
    "data": "invalid compressed data to inflate",
}


_VERBS = {0: " extracting", 12: " bunzipping"}
_ALL = 2
"""So often is -D given for no file at all to get its time."""


def _padded(name: str) -> str:
    """A name in 22 columns, counted in bytes."""
    return name + " " * max(0, 22 - len(encode(name)))


def _plain_lines(blocks: Iterator[bytes], entry: Entry) -> Iterator[bytes]:
    """Text with the line ends of Unix; the checksum is that of the text before."""
    crc = 0
    held = b""
    for block in blocks:
        crc = zlib.crc32(block, crc)
        text = (held + block).translate(None, b"\x1a")
        held = text[-1:] if text.endswith(b"\r") else b""
        yield text[: len(text) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if held:
        yield b"\n"
    if crc != entry.crc:
        raise ZipFormatError("data")


class _Unzip:
    """One archive and what is done with its members. Statuses: 1 warnings, 2 corrupt, 11 nothing matched, 81 not supported."""

    def __init__(self, ctx: CommandContext, args: Arguments, name: str, data: bytes) -> None:
        self.ctx = ctx
        self.args = args
        self.name = name
        self.data = data
        self.quiet = sum(key == "q" for key, _ in args.given)
        self.zone = ctx.env.get("TZ", "")
        directory = args.value("d")
        self.prefix = "" if directory is None else f"{directory.rstrip('/')}/" if directory.rstrip("/") else directory
        self.policy = args.last("n", "o") or ""
        password = args.value("P")
        self.password = None if password is None else encode(password)
        self.text = min(2, sum(key == "a" for key, _ in args.given))
        self.lower = sum(key == "L" for key, _ in args.given)
        self.timeless = sum(key == "D" for key, _ in args.given)
        self.skipped = 0
        self.deferred: list[tuple[str, str]] = []
        self.directories: list[tuple[str, Entry]] = []

    def out(self, text: str, quiet: int = 1) -> None:
        """Tell on stdout, unless -q was given `quiet` times."""
        if self.quiet < quiet:
            self.ctx.stdout.write(encode(text))

    def warn(self, text: str, status: int = 1) -> None:
        self.ctx.stderr.write(encode(text))
        self.ctx.status = max(self.ctx.status, status)

    # choosing

    def choose(self, entries: list[Entry], names: Sequence[str], excluded: Sequence[str]) -> tuple[list[Entry], list[str]]:
        """The members meant, and the operands that matched none."""
        ignore_case, stop = self.args.flag("C"), self.args.flag("W")
        wanted = [(name, compile_glob(name, ignore_case=ignore_case, pathname=stop, extglob=False)) for name in names]
        unwanted = [compile_glob(name, ignore_case=ignore_case, pathname=stop, extglob=False) for name in excluded]
        found: set[str] = set()
        chosen: list[Entry] = []
        for entry in entries:
            self.ctx.budget.step(1 + len(wanted) + len(unwanted))
            hits = [name for name, pattern in wanted if pattern.match(entry.name)]
            found.update(hits)
            if (hits or not wanted) and not any(pattern.match(entry.name) for pattern in unwanted):
                chosen.append(entry)
        return chosen, [name for name in names if name not in found]

    def expand(self, entry: Entry) -> Iterator[bytes]:
        return expand(self.data, entry, self.ctx.budget, self.password)

    # testing and printing

    def check(self, entry: Entry) -> str:
        """Whether the content is as promised: "OK", or what is wrong."""
        crc = 0
        try:
            for block in self.expand(entry):
                crc = zlib.crc32(block, crc)
        except ZipFormatError as error:
            return _PROBLEMS[error.problem]
        return "OK" if crc == entry.crc else f"bad CRC {crc:08x}  (should be {entry.crc:08x})"

    def test(self, entries: list[Entry], missing: list[str]) -> None:
        failed = bool(missing)
        for entry in entries:
            result = self.check(entry)
            if result != "OK":
                failed = True
                self.ctx.status = max(self.ctx.status, 2)
            self.out(f"    testing: {_padded(entry.name)}  {' OK' if result == 'OK' else ' ' + result}\n")
        for name in missing:
            self.out(f"caution: filename not matched:  {name}\n", 3)
        if failed:
            self.out(f"At least one error was detected in {self.name}.\n", 3)
        else:
            self.out(f"No errors detected in compressed data of {self.name}.\n", 2)

    def print_content(self, entry: Entry) -> None:
        """`-p` and `-c`."""
        crc = 0
        try:
            for block in self.expand(entry):
                crc = zlib.crc32(block, crc)
                self.ctx.stdout.write(block)
        except ZipFormatError as error:
            self.warn(f"{entry.name:<22}  {_PROBLEMS[error.problem]}\n", 2)
            return
        if crc != entry.crc:
            self.warn(f"{entry.name:<22}   bad CRC {crc:08x}  (should be {entry.crc:08x})\n", 2)

    # extracting

    def safe_name(self, entry: Entry) -> str:
        """The name without what would lead out of the directory."""
        name = entry.name
        if name.startswith("/"):
            self.warn(f"warning:  stripped absolute path spec from {name}\n")
            name = name.lstrip("/")
        if self.lower > 1 or (self.lower and not entry.unix):
            name = name.lower()
        parts = name.split("/")
        if ".." in parts and not self.args.flag(":"):
            self.out(f'warning:  skipped "../" path component(s) in {entry.name}\n', 3)
            self.ctx.status = max(self.ctx.status, 1)
        dropped = ("", ".") if self.args.flag(":") else ("", "..", ".")
        kept = [part for part in parts if part not in dropped]
        name = "/".join(kept)
        if self.args.flag("j"):
            name = kept[-1] if kept else ""
        if self.args.flag("^"):
            return name
        return "".join([character for character in name if character >= " " and character != "\x7f"])

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
            existing = self.existing(path)
            if existing is not None:
                replaced = self.replace(entry, shown, existing)
                if replaced is None:
                    return
                shown = replaced
                path = self.ctx.path(shown)
            elif self.args.flag("f"):
                return
            self.ctx.fs.makedirs(posixpath.dirname(path), 0o777 & ~self.ctx.umask)
            self.write(entry, shown, path)
        except OSError as error:
            self.warn(f"error:  cannot create {shown}\n        {os.strerror(error.errno or 5)}\n", 50 if error.errno == 28 else 2)

    def existing(self, path: str) -> Stat | None:
        try:
            return self.ctx.fs.stat(path, follow=False)
        except OSError:
            return None

    def replace(self, entry: Entry, shown: str, existing: Stat) -> str | None:
        """The name to write to instead of an existing file, None to leave it alone."""
        if (self.args.flag("f") or self.args.flag("u")) and existing.mtime // 1 >= entry.mtime:
            return None
        if self.policy == "n":
            return None
        if self.policy != "o":
            return self.ask(shown)
        return shown

    def ask(self, shown: str) -> str | None:
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
                self.ctx.stderr.write(encode(f"error:  invalid response [{answer.rstrip()[:40]}]\n"))

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
        if entry.flags & 1 and not self.may_decrypt(entry):
            return
        kind = ("[text]  " if entry.text else "[binary]") if self.text == 1 else ""
        self.out(f"{_VERBS.get(entry.method, '  inflating')}: {_padded(shown)}  {kind}")
        info = self.existing(path)
        if info is not None and not info.is_dir:
            if self.args.flag("B"):
                fs.rename(path, f"{path}~")
            else:
                fs.unlink(path)
        file = fs.open(path, "x", permissions=0o644)
        crc = 0
        try:
            convert = (self.text == 1 and entry.text) or self.text > 1
            for block in _plain_lines(self.expand(entry), entry) if convert else self.expand(entry):
                crc = entry.crc if convert else zlib.crc32(block, crc)
                file.write(block)
        except ZipFormatError as error:
            self.warn(f"{_PROBLEMS[error.problem]}\n", 81 if error.problem == "method" else 2)
            return
        finally:
            file.release()
        if crc != entry.crc and (entry.size or not convert):
            self.warn(f" bad CRC {crc:08x}  (should be {entry.crc:08x})\n", 2)
        else:
            self.out("\n")
        mode = entry.mode & (0o7777 if self.args.flag("K") else 0o777) or 0o644
        fs.chmod(path, mode & ~self.ctx.umask)
        if self.timeless < _ALL:
            fs.utime(path, Timestamp.from_ns(entry.mtime * 1_000_000_000))

    def may_decrypt(self, entry: Entry) -> bool:
        """Whether the password is there and right; if not, the member is skipped."""
        problem = ""
        try:
            for _ in self.expand(entry):
                break
        except ZipFormatError as error:
            problem = error.problem
        if problem not in ("password", "encrypted"):
            return True
        self.warn(f"   skipping: {_padded(entry.name)}  {_PROBLEMS[problem]}\n", 0)
        self.skipped += 1
        return False

    def defer_link(self, entry: Entry, shown: str, path: str) -> None:
        """Links are made when all files are there, so that no member is written through one."""
        self.ctx.budget.charge(entry.size)
        try:
            target = decode(b"".join(self.expand(entry)))
        except ZipFormatError as error:
            self.warn(f"{_PROBLEMS[error.problem]}\n", 2)
            return
        self.out(f"    linking: {shown:<22}  -> {target} \n")
        if self.existing(path) is not None:
            self.ctx.fs.unlink(path)
        self.ctx.fs.open(path, "x", permissions=0o600).release()
        self.deferred.append((shown, target))

    def finish(self) -> None:
        """Make the links; give directories their times, the deepest first."""
        if self.deferred:
            self.out("finishing deferred symbolic links:\n")
        for shown, target in self.deferred:
            path = self.ctx.path(shown)
            self.out(f"  {shown:<22} -> {target}\n")
            try:
                self.ctx.fs.unlink(path)
                self.ctx.fs.symlink(target, path)
            except OSError as error:
                self.warn(f"warning:  symbolic link ({shown}) failed: {os.strerror(error.errno or 5)}\n")
        for path, entry in sorted(self.directories, key=lambda pair: -pair[0].count("/")):
            self.ctx.budget.step()
            if entry.mode & 0o777:
                self.ctx.fs.chmod(path, entry.mode & 0o777 & ~self.ctx.umask)
            if not self.timeless:
                self.ctx.fs.utime(path, Timestamp.from_ns(entry.mtime * 1_000_000_000))

    def run(self, names: Sequence[str], excluded: Sequence[str]) -> int:
        """Do what the options say."""
        args = self.args
        entries, comment = read_directory(self.data, self.ctx.budget, self.zone)
        chosen, missing = self.choose(entries, names, excluded)
        if args.flag("T"):
            if entries:
                self.ctx.fs.utime(self.ctx.path(self.name), Timestamp.from_ns(max(entry.mtime for entry in entries) * 1_000_000_000))
            self.out(f"Updated time stamp for {self.name}.\n")
            return 0
        else:
            pipe = args.flag("p")
            if not pipe:
                self.out(f"Archive:  {self.name}\n")
                if comment and (args.flag("z") or not args.flag("t")):
                    self.out(decode(comment.replace(b"\r\n", b"\n")) + "\n")
            self.check_start(entries)
            if args.flag("z"):
                return self.ctx.status
            if not entries:
                self.warn(f"warning [{self.name}]:  zipfile is empty\n")
                return 1
            self.work(chosen, missing)
        if self.skipped and self.skipped == len([entry for entry in chosen if not entry.is_dir]):
            return 82 if self.password is not None else 5
        if missing and args.flag("p"):
            self.ctx.status = 11
        elif missing and not args.flag("t"):
            for name in missing:
                self.warn(f"caution: filename not matched:  {name}\n", 11)
        elif missing:
            self.ctx.status = max(self.ctx.status, 11)
        return self.ctx.status

    def check_start(self, entries: Sequence[Entry]) -> None:
        """Warn of bytes before the first member."""
        extra = min((entry.offset for entry in entries), default=0)
        if extra and self.data[:4] != b"PK\3\4":
            text = f"warning [{self.name}]:  {extra} extra bytes at beginning or within zipfile\n  (attempting to process anyway)\n"
            self.warn(text)

    def work(self, chosen: list[Entry], missing: list[str]) -> None:
        args = self.args
        if args.flag("l") or args.flag("v"):
            lister = list_verbose if args.flag("v") else list_short
            lister(chosen, self.zone, self.quiet, self.ctx.print)
        elif args.flag("t"):
            self.test(chosen, missing)
        elif args.flag("p") or args.flag("c"):
            for entry in chosen:
                if entry.is_dir:
                    continue
                if args.flag("c"):
                    self.out(f"{_VERBS.get(entry.method, '  inflating')}: {_padded(entry.name)}  \n")
                self.print_content(entry)
                if args.flag("c"):
                    self.out("\n", 1)
        else:
            if self.prefix:
                self.ctx.fs.makedirs(self.ctx.path(self.prefix.rstrip("/") or "/"), 0o777 & ~self.ctx.umask)
            try:
                for entry in chosen:
                    self.ctx.budget.step()
                    self.extract(entry)
            finally:
                self.finish()


def _open(ctx: CommandContext, name: str) -> tuple[str, bytes] | None:
    for candidate in (name, f"{name}.zip", f"{name}.ZIP"):
        try:
            if ctx.fs.is_file(ctx.path(candidate)):
                return candidate, ctx.fs.read_bytes(ctx.path(candidate))
        except OSError:
            continue
    return None


def _cut_lists(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words without what follows -x, and that."""
    kept: list[str] = []
    excluded: list[str] = []
    target = kept
    for word in words:
        if word == "-x":
            target = excluded
        elif target is excluded and re.match("-[a-wyz]", word):
            target = kept
            target.append(word)
        else:
            target.append(word)
    return kept, excluded


@command(
    "unzip",
    usage="""
    Usage: unzip [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]
    Extract files in list, except those in xlist, to exdir.

      -a         end lines of text files with LF (-aa: of all files)
      -b         accepted: files are binary unless -a says otherwise
      -B         keep files that are overwritten, with "~" behind their names
      -p         extract files to pipe, no messages
      -c         extract files to standard output, with their names
      -l         list files (short format)
      -v         list verbosely
      -f         freshen existing files, create none
      -u         update files, create if necessary
      -t         test compressed archive data
      -z         display archive comment only
      -x         exclude the files that follow
      -d EXDIR   extract files into EXDIR
      -n         never overwrite existing files
      -o         overwrite files WITHOUT prompting
      -q         quiet mode (-qq for quieter)
      -j         junk paths (do not make directories)
      -D         do not restore the times of directories (-DD: of anything)
      -K         keep setuid, setgid and sticky bits
      -L         make names from case-insensitive systems lowercase (-LL: all names)
      -M         accepted: there is no terminal to page on
      -P WORD    the password of encrypted files
      -T         give the archive the time of its latest file
      -U         accepted: names are shown as they are
      -V         accepted: no file has a VMS version
      -W         wildcards do not match "/"
      -X         accepted: there is one user
      -:         allow names that lead out of the directory with ".."
      -^         allow control characters in names
      -C         match filenames case-insensitively
      -Z         ZipInfo mode: must be the first option
      -h         display this help and exit
    """,
    raw=True,
)
def unzip(ctx: CommandContext, args: Arguments) -> int:
    if args.operands and args.operands[0].startswith("-Z"):
        letters = args.operands[0][2:]
        ctx.words = [*([f"-{letters}"] if letters else []), *args.operands[1:]]
        return zipinfo.run(ctx)
    words, excluded = _cut_lists(args.operands)
    try:
        options = unzip.parser().parse(words)
    except UsageError as error:
        if error.message.startswith("option requires"):
            ctx.stderr.write(b"error:  must specify directory to which to extract with -d option\n")
        else:
            ctx.stderr.write(encode(f"error:  {error.message}\n{unzip.usage}"))
        return 10
    if words == ["-v"]:
        ctx.print("UnZip 6.00 of 20 April 2009: a command of agentsandbox, written to behave like this release.")
        return 0
    if options.flag("h") or not options.operands:
        ctx.print(unzip.usage, end="")
        return 0
    name = options.operands[0]
    opened = _open(ctx, name)
    if opened is None:
        ctx.stderr.write(encode(f"unzip:  cannot find or open {name}, {name}.zip or {name}.ZIP.\n"))
        return 9
    found, data = opened
    try:
        return _Unzip(ctx, options, found, data).run(options.operands[1:], excluded)
    except ZipFormatError as error:
        if error.problem == "signature":
            ctx.print(f"Archive:  {found}")
            out = ctx.stdout if options.flag("t") else ctx.stderr
            out.write(encode(_NO_SIGNATURE.replace("{0}", found)))
            return 9
        ctx.stderr.write(encode(f"error [{found}]:  the central directory cannot be read\n"))
        return 3


@command(
    "zipinfo",
    usage="""
    Usage: zipinfo [-12smlChMtTz] file[.zip] [list] [-x xlist]
    List a zip archive in the manner of "ls -l".

      -1         names only
      -2         names only, but -h, -t and -z are allowed
      -s         short lines (default)
      -m         medium lines: with the part saved
      -l         long lines: with the compressed size
      -h         a header line
      -t         totals
      -T         times as numbers that sort
      -z         the archive's comment
      -C         match filenames case-insensitively
      -M         accepted: there is no terminal to page on
      -x         exclude the files that follow
    """,
    raw=True,
)
def zipinfo(ctx: CommandContext, args: Arguments) -> int:
    words, excluded = _cut_lists(args.operands)
    try:
        options = zipinfo.parser().parse(words)
    except UsageError as error:
        ctx.stderr.write(encode(f"error:  {error.message}\n{zipinfo.usage}"))
        return 10
    if not options.operands:
        ctx.print(zipinfo.usage, end="")
        return 0
    name = options.operands[0]
    opened = _open(ctx, name)
    if opened is None:
        ctx.print(f"{ctx.name}:  cannot find or open {name}, {name}.zip or {name}.ZIP.")
        return 9
    found, data = opened
    try:
        return _show_info(ctx, options, found, data, excluded)
    except ZipFormatError:
        ctx.stderr.write(encode(_NO_SIGNATURE.replace("{0}", found).replace("unzip:", f"{ctx.name}:")))
        return 9


def _show_info(ctx: CommandContext, options: Arguments, name: str, data: bytes, excluded: Sequence[str]) -> int:
    """Header, members and totals, as the options and operands ask for them."""
    unzipped = _Unzip(ctx, options, name, data)
    entries, comment = read_directory(data, ctx.budget, unzipped.zone)
    names = options.operands[1:]
    chosen, missing = unzipped.choose(entries, names, excluded)
    form = options.last("1", "2", "s", "m", "l") or ""
    extras = options.flag("h"), options.flag("t")
    whole = not names and not excluded and form != "2" and (not any(extras) or bool(form))
    bare = not form and any(extras) and not names and not excluded
    if form != "1" and (extras[0] or whole):
        ctx.print(f"Archive:  {name}\nZip file size: {len(data)} bytes, number of entries: {len(entries)}")
    if form != "1" and options.flag("z") and comment:
        ctx.print(decode(comment.replace(b"\r\n", b"\n")))
    if not entries:
        ctx.print("Empty zipfile.")
        return 1
    if form in ("1", "2"):
        ctx.stdout.write(encode("".join([f"{entry.name}\n" for entry in chosen])))
    elif not bare:
        list_long(chosen, unzipped.zone, form or "s", ctx.print, sortable=options.flag("T"))
    if form != "1" and (extras[1] or whole):
        ctx.print(totals(chosen))
    for name in missing:
        unzipped.warn(f"caution: filename not matched:  {name}\n", 11)
    return ctx.status
