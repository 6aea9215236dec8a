"""`zstd`, `unzstd` and `zstdcat`: files compressed with Zstandard, where the host has installed the extra `zstd`."""

from __future__ import annotations

import posixpath

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._compression import CompressionError, Source, compress_stream, compressor, decompress, detect, load_zstandard
from agentsandbox.commands._zstd_listing import HEADING, Facts, ListError, human_size, read_facts, row, show_details
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.fs.base import File
from agentsandbox.manners import Manners
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentsandbox.commands._compression import Compressor
    from agentsandbox.streams import ByteReader, ByteWriter

_SUFFIXES = {
    ".zst": "", ".tzst": ".tar", ".gz": "", ".tgz": ".tar", ".lzma": "", ".xz": "", ".txz": ".tar", ".lz4": "", ".tlz4": ".tar",
}  # fmt: skip
_FORMATS = {"zstd": ".zst", "gzip": ".gz", "xz": ".xz", "lzma": ".lzma"}
_PACKED = (
    ".zst", ".tzst", ".gz", ".tgz", ".lzma", ".xz", ".txz", ".lz4", ".tlz4", ".bz2", ".7z", ".zip", ".rar", ".jpg", ".png", ".mp4",
)  # fmt: skip
"""What --exclude-compressed leaves alone."""

_PROBLEMS = {
    "end": "Read error (39) : premature end",
    "data": "Decoding error (36) : Data corruption detected",
    "check": "Decoding error (36) : Restored data doesn't match checksum",
}
_CONCATENATED = """\
zstd: WARNING: all input files will be processed and concatenated into a single output file: {}\x20
The concatenated output CANNOT regenerate original file names nor directory structure.\x20
"""
_MAGIC_SIZE = 4
_DICTIONARY = 112640
_SAMPLES = 4 * 1024 * 1024
_LEAST_SAMPLES = 5
_TRAININGS = {
    "train-cover": "k d steps split shrink", "train-fastcover": "k d f steps split accel shrink", "train-legacy": "s selectivity",
}  # fmt: skip
"""Other ways to train, and what may be said of them."""
_SEGMENT = 256
"""How long the pieces are that a dictionary is made of."""

_HIGHEST, _ULTRA, _FASTEST = 19, 22, 131072
_RELEASE = "*** Zstandard CLI (64-bit) v1.5.4, by Yann Collet ***"


class _Zstd:
    """One run over all operands."""

    def __init__(self, ctx: CommandContext, args: Arguments, *, expand: bool, stdout: bool) -> None:
        load_zstandard()
        self.ctx = ctx
        mode = args.last("decompress", "compress", "test")
        self.test = mode == "test"
        self.expand = mode == "decompress" or (mode is None and expand)
        self.output = args.value("output")
        to_file = args.last("output", "stdout") == "output" and self.output != "-"
        self.stdout = not to_file and (stdout or args.flag("stdout") or self.output == "-")
        self.force = args.flag("force")
        self.remove = args.last("rm", "keep") == "rm"
        self.silent = args.flag("quiet")
        self.quiet = self.stdout or self.silent
        self.pass_through = self.force or stdout
        self.directory = args.value("output-dir-flat")
        self.mirror = args.value("output-dir-mirror")
        self.format = args.value("format", "zstd") or ""
        if self.format not in _FORMATS:
            raise UsageError(f"the format {self.format!r} is not available in this sandbox")
        self.excluded = _PACKED if args.flag("exclude-compressed") and not self.expand and not self.test else ()
        self.dictionary = self._dictionary(args.value("D"), args.value("patch-from"))
        self.with_id = not args.flag("no-dictID")
        self.recursive = args.flag("r")
        self.check = args.last("no-check", "check") != "no-check"
        self.details = _loudness([key for key, _ in args.given], stdout=stdout) > 0
        self.level = self._level(args)

    def _level(self, args: Arguments) -> int:
        key = args.last("level", "fast")
        text = (args.value(key) or ("3" if key == "level" else "1")) if key is not None else "3"
        if not text.isdecimal() or len(text) > 6 or (key == "fast" and not int(text)):
            raise UsageError("Incorrect parameters")
        if key == "fast":
            return -min(int(text), _FASTEST)
        most = _ULTRA if args.flag("ultra") else _HIGHEST
        if int(text) > most and not self.silent:
            self.ctx.stderr.write(encode(f"Warning : compression level higher than max, reduced to {most} \n"))
        return min(int(text), most) or 3

    def _dictionary(self, name: str | None, reference: str | None) -> Any:
        """The dictionary of -D, or the file that --patch-from differs from; None for neither."""
        chosen = name if name is not None else reference
        if chosen is None:
            return None
        zstandard = load_zstandard()
        try:
            data = self.ctx.fs.read_bytes(self.ctx.path(chosen))
        except OSError as error:
            raise CommandError(f"error 31 : Stat failed on dictionary file {chosen}: {error.strerror} ", 31) from None
        kind = zstandard.DICT_TYPE_AUTO if name is not None else zstandard.DICT_TYPE_RAWCONTENT
        return zstandard.ZstdCompressionDict(data, dict_type=kind)

    def warn(self, message: str) -> None:
        self.ctx.stderr.write(encode(f"{message}\n"))
        self.ctx.status = 1

    def tell(self, message: str) -> None:
        if not self.quiet:
            self.ctx.stderr.write(encode(f"{message}\n"))

    def run(self, operands: list[str]) -> int:
        names = self.below(operands) if self.recursive else operands or ["-"]
        if len(names) > 1 and self.output is not None and not self.stdout and not self.test:
            return self.run_joined(names)
        sizes = [size for name in names if (size := self.operand(name, alone=len(names) == 1)) is not None]
        if len(names) > 1 and not self.expand and not self.test:
            before, after = (sum(column) for column in zip(*sizes, strict=True)) if sizes else (0, 0)
            self.tell_total(len(sizes), before, after)
        elif len(names) > 1:
            self.tell(f"{len(sizes)} files decompressed :{sum(after for _, after in sizes):7d} bytes total ")
        return self.ctx.status

    def tell_total(self, count: int, before: int, after: int) -> None:
        ratio = 100 * after / before if before else 0.0
        self.tell(f"{count:3d} files compressed : {ratio:.2f}% ({_size(before, 4)} => {_size(after, 4)})")

    def run_joined(self, names: list[str]) -> int:
        """Put all results into one file, if that is what is wanted."""
        output = self.output or ""
        if self.silent and not self.force:
            text = "Concatenating multiple processed inputs into a single output loses file metadata. \nAborting. \n"
            self.ctx.stderr.write(encode(text))
            return 1
        if not self.silent:
            self.ctx.stderr.write(encode(_CONCATENATED.replace("{}", output)))
        if not self.force:
            self.ctx.stderr.write(b"Proceed? (y/n): ")
            if self.ctx.stdin.readline()[:1] not in (b"y", b"Y"):
                self.ctx.stderr.write(b"Aborting... \n")
                return 1
        sizes = []
        target = self.ctx.fs.open(self.ctx.path(output), "w", permissions=0o666 & ~self.ctx.umask)
        try:
            for name in names:
                with self.ctx.keep(self.ctx.fs.open(self.ctx.path(name), "r")) as source:
                    found = self.stream(source, target, name, output, alone=False)
                if found is not None:
                    sizes.append(found)
        finally:
            target.release()
        before, after = (sum(column) for column in zip(*sizes, strict=True)) if sizes else (0, 0)
        if self.expand:
            self.tell(f"{len(sizes)} files decompressed :{after:7d} bytes total ")
        else:
            self.tell_total(len(sizes), before, after)
        return self.ctx.status

    def list_files(self, operands: list[str]) -> int:
        """`-l`: what is in each file."""
        names = [name for name in operands if name != "-"]
        if len(names) < len(operands) or not operands:
            self.warn("zstd: --list does not support reading from standard input ")
        if not names:
            self.warn("No files given ")
            return 1
        total = Facts()
        total.files, total.check = 0, True
        if not self.details:
            self.ctx.print(HEADING)
        for name in names:
            self.list_file(name, total)
        if len(names) > 1 and not self.details:
            self.ctx.print("-" * 65 + " ")
            self.ctx.print(row(total, f"{total.files} files", none=""))
        return self.ctx.status

    def list_file(self, name: str, total: Facts) -> None:
        try:
            path = self.ctx.path(name)
            if not self.ctx.fs.is_file(path):
                self.warn(f"Error : {name} is not a file ")
                return
            data = self.ctx.fs.read_bytes(path)
            if len(data) < _MAGIC_SIZE:
                self.warn("Error: reached end of file with incomplete frame ")
            facts = read_facts(data, self.ctx.budget)
        except ListError as error:
            if error.facts is None:
                self.ctx.print(f'File "{name}" not compressed by zstd ' + ("\n" if self.details else ""))
                self.ctx.status = 1
                return
            facts = error.facts
            self.warn(f'Error: could not read checksum \nError while parsing "{name}" ')
        self.ctx.print(show_details(facts, name) if self.details else row(facts, name))
        total.add(facts)

    def train(self, operands: list[str], args: Arguments) -> int:
        """`--train`: make a dictionary of samples."""
        samples = [self.ctx.fs.read_bytes(self.ctx.path(name)) for name in operands if self.ctx.fs.exists(self.ctx.path(name))]
        size = int(args.value("maxdict") or _DICTIONARY)
        if sum(map(len, samples)) > _SAMPLES:
            raise CommandError(f"--train takes no more than {_SAMPLES} bytes in this sandbox", 1)
        if len(samples) < _LEAST_SAMPLES:
            self.warn("!  Warning : nb of samples too low for proper processing ! ")
            self.warn("!  Please provide _one file per sample_. ")
            self.warn("!  Alternatively, split files into fixed-size blocks representative of samples, with -B# ")
            self.warn("Error 14 : nb of samples too low")
            return 14
        total = sum(map(len, samples))
        self.ctx.budget.step(total // 100)
        zstandard = load_zstandard()
        try:
            made = zstandard.train_dictionary(size, samples, k=_SEGMENT, d=8, dict_id=int(args.value("dictID") or 0))
        except (zstandard.ZstdError, ValueError):
            self.warn("dictionary training failed : Src size is incorrect ")
            return 1
        output = self.ctx.path(self.output or "dictionary")
        file = self.ctx.fs.open(output, "w", permissions=0o666 & ~self.ctx.umask)
        file.write(made.as_bytes())
        file.release()
        return 0

    def below(self, operands: list[str]) -> list[str]:
        """The operands, and in the place of directories all files below them."""
        names: list[str] = []
        pending = operands[::-1]
        while pending:
            name = pending.pop()
            self.ctx.budget.step()
            path = self.ctx.path(name)
            if self.ctx.fs.is_dir(path):
                pending += [posixpath.join(name, entry) for entry in reversed(self.ctx.fs.listdir(path))]
            else:
                names.append(name)
        return names

    def check_threads(self, args: Arguments) -> None:
        """Refuse what a single thread cannot do."""
        if args.last("single-thread", "threads") == "single-thread" and args.flag("rsyncable") and not (self.expand or self.test):
            raise CommandError("error 1 : Rsyncable mode is not compatible with single thread mode \n ", 1)

    def operand(self, name: str, *, alone: bool) -> tuple[int, int] | None:
        """The sizes before and after; None where it did not go well."""
        fs = self.ctx.fs
        if name == "-" and self.output is not None and not self.stdout and not self.test:
            stdin = "/*stdin*\\"
            return self.to_file(self.ctx.stdin, self.output, stdin, 0o666 & ~self.ctx.umask, self.ctx.host.clock(), alone=alone)
        if name == "-":
            return self.stream(self.ctx.stdin, None if self.test else self.ctx.stdout, "/*stdin*\\", "stdout", alone=False)
        if name.endswith(self.excluded):
            return 0, 0
        path = self.ctx.path(name)
        target = None if self.test or self.stdout else self.target_name(name)
        if target is None and self.expand and not (self.test or self.stdout):
            return None
        try:
            if not self.force and not self.stdout and fs.stat(path, follow=False).is_link:
                self.warn(f"Warning : {name} is a symbolic link, ignoring ")
                return None
            info = fs.stat(path)
        except OSError as error:
            self.warn(f"zstd: can't stat {name} : {error.strerror} -- ignored ")
            return None
        if info.is_dir:
            self.warn(f"zstd: {name} is a directory -- ignored ")
            return None
        try:
            source = fs.open(path, "r")
        except OSError as error:
            self.warn(f"zstd: {name}: {error.strerror} ")
            return None
        try:
            if target is None:
                return self.stream(source, None if self.test else self.ctx.stdout, name, "stdout", alone=alone and self.test)
            sizes = self.to_file(source, target, name, info.permissions, info.mtime, alone=alone)
        finally:
            source.release()
        if sizes is not None and self.remove:
            fs.unlink(path)
        return sizes

    def target_name(self, name: str) -> str | None:
        if self.output is not None:
            return self.output
        if self.directory is not None:
            name = posixpath.join(self.directory, posixpath.basename(name))
        elif self.mirror is not None:
            name = posixpath.join(self.mirror, name.lstrip("/"))
            if ".." not in name.split("/"):
                self.ctx.fs.makedirs(self.ctx.path(posixpath.dirname(name)), 0o777 & ~self.ctx.umask)
        if not self.expand:
            return f"{name}{_FORMATS[self.format]}"
        suffix = next((suffix for suffix in _SUFFIXES if name.endswith(suffix) and len(name) > len(suffix)), None)
        if suffix is None:
            self.warn(
                f"zstd: {name}: unknown suffix ({'/'.join(_SUFFIXES)} expected). Can't derive the output file name. "
                "Specify it with -o dstFileName. Ignoring."
            )
            return None
        return name[: -len(suffix)] + _SUFFIXES[suffix]

    def to_file(self, source: ByteReader, target: str, name: str, permissions: int, mtime: float, *, alone: bool) -> tuple[int, int] | None:
        fs = self.ctx.fs
        path = self.ctx.path(target)
        if fs.exists(path, follow=False):
            if not self.force and not self.may_overwrite(target):
                return None
            fs.unlink(path)
        file = fs.open(path, "x", permissions=permissions)
        sizes = None
        try:
            sizes = self.stream(source, file, name, target, alone=alone)
        finally:
            file.release()
            if sizes is None:
                fs.unlink(path)
        if sizes is not None:
            fs.utime(path, mtime)
        return sizes

    def may_overwrite(self, target: str) -> bool:
        if self.silent:
            self.warn(f"zstd: {target} already exists; not overwritten  ")
            return False
        self.ctx.stderr.write(encode(f"zstd: {target} already exists; overwrite (y/n) ? "))
        if self.ctx.stdin.readline()[:1] in (b"y", b"Y"):
            return True
        self.warn("Not overwritten  \n ")
        return False

    def stream(self, source: ByteReader, target: ByteWriter | None, name: str, shown: str, *, alone: bool) -> tuple[int, int] | None:
        if self.expand or self.test:
            return self.unpack(Source(source), target, name, alone=alone)
        assert target is not None
        packer = self.packer(source.stat().size if isinstance(source, File) and source.stat().is_file else -1)
        steps = 100 + 100 * max(self.level, 0)
        before, after = compress_stream(packer, source, target, self.ctx.budget, block=65536, steps=steps)
        if alone:
            ratio = f"{100 * after / before:6.2f}%" if before else "  0.00%"
            self.tell(f"{name:<20} :{ratio}   ({_size(before)} => {_size(after)}, {shown}) ")
        return before, after

    def packer(self, size: int) -> Compressor:
        """Makes a stream for so many bytes; −1 if that is not known."""
        if self.format != "zstd":
            return compressor(self.format, min(max(self.level, 1), 9))
        make = load_zstandard().ZstdCompressor
        settings = make(level=self.level, write_checksum=self.check, dict_data=self.dictionary, write_dict_id=self.with_id)
        made: Compressor = settings.compressobj(size=size)
        return made

    def unpack(self, source: Source, target: ByteWriter | None, name: str, *, alone: bool) -> tuple[int, int] | None:
        size = 0
        start = source.peek(6)
        passes = self.pass_through and self.stdout and target is not None
        format = detect(start)
        try:
            if start and passes and format in (None, "bzip2"):
                raise CompressionError("format")
            for block in decompress(source, "zstd" if format in (None, "bzip2") else format, self.ctx.budget, dictionary=self.dictionary):
                size += len(block)
                if target is not None:
                    target.write(block)
        except CompressionError as error:
            if error.problem == "format" and start and passes and target is not None:
                while block := source.block():
                    self.ctx.budget.step()
                    size += len(block)
                    target.write(block)
                return source.taken, size
            if error.problem == "format":
                self.warn(f"zstd: {name}: {'unknown header' if len(source.peek(4)) < 4 else 'unsupported format'} ")
            elif start:
                self.warn(f"{name} : {_PROBLEMS.get(error.problem, _PROBLEMS['data'])} ")
            else:
                self.warn(f"zstd: {name}: unexpected end of file ")
            return None
        if alone:
            self.tell(f"{name:<20}: {size} bytes ")
        return source.taken, size


def _size(size: int, unit_width: int = 0) -> str:
    """A size as zstd shows it: six columns and a unit."""
    number, unit = human_size(size)
    return f"{number:>6}{unit:>{unit_width}}"


_OPTIONS = """
      -z, --compress           compress (the default of zstd)
      -d, --decompress, --uncompress  decompress
      -t, --test               test compressed files
      -o, --output=FILE        write to FILE
      -c, --stdout             write to standard output
      -k, --keep               keep input files (the default)
          --rm                 remove input files that went well
      -f, --force              overwrite without asking; with -dc pass on what is not compressed
          --level=N            compress more (1 to 19, default 3), also as -N
          --ultra              levels to 22
          --fast[=N]           compress less, but faster
          --format=FORMAT      zstd (default), gzip, xz or lzma
      -D DICT                  use DICT as dictionary
          --patch-from=FILE    compress the difference to FILE, or expand it
      -l, --list               tell what is in compressed files; more with -v
          --train              make a dictionary of samples, into the file of -o or "dictionary"
          --train-cover[=PARAMETERS]  the same: dictionaries are made in one way here
          --train-fastcover[=PARAMETERS]  the same
          --train-legacy[=PARAMETERS]  the same
          --maxdict=SIZE       the most that a dictionary may hold (112640)
          --dictID=N           the dictionary's number
      -T, --threads=N          accepted: a sandbox has one thread
      -q, --quiet              no summary
          --no-progress        accepted: no progress is shown
          --check              add a checksum (the default)
          --no-check           add none
      -r                       directories stand for all files below them
          --output-dir-flat=DIR  put all results into DIR
          --output-dir-mirror=DIR  … into directories below DIR
          --exclude-compressed  leave files alone whose names say that they are compressed
          --filelist=FILE      read names of files, one on a line, from FILE
      -v, --verbose            tell the release first
      -V, --version            print the release and exit
          --long[=N]           accepted: memory is limited by the sandbox
      -M, --memory=SIZE        accepted: see --long
          --single-thread      accepted: see -T
          --auto-threads=KIND  accepted: see -T
          --rsyncable          accepted: the result is as without it
          --adapt[=RANGE]      accepted: see --rsyncable
          --stream-size=SIZE   accepted: see --rsyncable
          --size-hint=SIZE     accepted: see --rsyncable
          --no-dictID          do not write the dictionary's number
      -B SIZE                  accepted: see --rsyncable
      -S                       accepted: only benchmarks make a difference of it
          --target-compressed-block-size=SIZE  accepted: see --rsyncable
          --content-size       accepted: see --rsyncable
          --sparse             accepted: files in a sandbox have no holes
          --no-sparse          accepted: see --sparse
          --priority=KIND      accepted: nothing depends on it here
      -h, -H, --help               display this help and exit

    With no FILE, or when FILE is -, read standard input and write standard output.
"""


def _check_training(name: str, text: str) -> None:
    """Refuse parameters of a training that it does not have."""
    known = _TRAININGS.get(name, "").split()
    for parameter in text.split(",") if text else ():
        key, equals, value = parameter.partition("=")
        if key not in known or not (equals or key == "shrink") or (value and not value.isdecimal()):
            raise CommandError("Incorrect parameters", 1)


def _loudness(given: list[str], *, stdout: bool) -> int:
    """How much more to tell than zstd does without options: -1 for zstdcat."""
    return given.count("verbose") - given.count("quiet") - int(stdout)


def _tell_release(ctx: CommandContext, given: list[str], *, stdout: bool) -> None:
    """Its number alone where -q makes the output short, more where -v stands before."""
    loudness = _loudness(given[: given.index("version")], stdout=stdout)
    if loudness < 0:
        ctx.print(_RELEASE.partition("v")[2].partition(",")[0])
        return
    ctx.print(_RELEASE)
    if loudness > 0:
        ctx.print("*** supports: zstd, gzip, lzma, xz ")


def _run(ctx: CommandContext, args: Arguments, usage: str, *, expand: bool, stdout: bool) -> int:
    if args.flag("help"):
        ctx.print(usage, end="")
        return 0
    if args.flag("version"):
        _tell_release(ctx, [key for key, _ in args.given], stdout=stdout)
        return 0
    if _loudness([key for key, _ in args.given], stdout=stdout) > 0:
        ctx.stderr.write(encode(f"{_RELEASE}\n"))
    names = list(args.operands)
    for value in args.values("filelist"):
        try:
            names += [decode(line) for line in ctx.open_input(value).read().split(b"\n") if line]
        except OSError as error:
            ctx.stderr.write(encode(f"{ctx.name}: error reading {value} \n"))
            del error
            return 1
    try:
        run = _Zstd(ctx, args, expand=expand, stdout=stdout)
        run.check_threads(args)
        training = args.last("train", *_TRAININGS)
        if training is not None:
            _check_training(training, args.value(training) or "")
            return run.train(names, args)
        return run.list_files(names) if args.flag("list") else run.run(names)
    except CommandError as error:
        if error.status != 2:
            raise
        raise CommandError(error.message, 127) from None


@command(
    "zstd",
    manners=Manners(
        read_error=("NAME: error 37 : Read error ", 37),
        write_error=("NAME: /*stdout*\\: REASON ", 1),
    ),
    usage=f"    Usage: zstd [OPTION]... [FILE]...\n    Compress or expand FILEs with Zstandard.\n{_OPTIONS}",
    digits="level",
)
def zstd(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, args, zstd.usage, expand=False, stdout=False)


@command("unzstd", usage=f"    Usage: unzstd [OPTION]... [FILE]...\n    Decompress FILEs.\n{_OPTIONS}", digits="level")
def unzstd(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, args, unzstd.usage, expand=True, stdout=False)


@command(
    "zstdcat",
    manners=Manners(read_error=("zstd: error 37 : Read error ", 37)),
    usage=f"    Usage: zstdcat [OPTION]... [FILE]...\n    Decompress FILEs to standard output.\n{_OPTIONS}",
    digits="level",
)
def zstdcat(ctx: CommandContext, args: Arguments) -> int:
    return _run(ctx, args, zstdcat.usage, expand=True, stdout=True)
