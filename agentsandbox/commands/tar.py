"""`tar` (GNU tar): archives of files, plain or compressed with gzip, bzip2 or xz."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.command import CommandContext, command
from agentsandbox.commands import _tar_names
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._tar_comparison import compare_member
from agentsandbox.commands._tar_create import Creation, CreationOptions
from agentsandbox.commands._tar_extract import Extraction, ExtractionOptions
from agentsandbox.commands._tar_format import BLOCK, TarFormatError, build_headers, read_members
from agentsandbox.commands._tar_listing import Listing
from agentsandbox.commands._tar_names import Choice, Exclusions, Transformation, show
from agentsandbox.commands._tar_stream import FORMAT_OF_SUFFIX, ArchiveReader, ArchiveWriter, open_archive
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.streams import BytesReader, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.command import Arguments
    from agentsandbox.commands._tar_format import Member
    from agentsandbox.streams import ByteWriter

_ACTIONS = {
    "create": "c", "extract": "x", "list": "t", "append": "r", "update": "u", "diff": "d", "catenate": "A", "delete": "D",
}  # fmt: skip
_FORMATS = {"gzip": "gzip", "bzip2": "bzip2", "xz": "xz", "lzma": "lzma", "zstd": "zstd"}
_PROGRAMS = {"gzip": "gzip", "pigz": "gzip", "bzip2": "bzip2", "pbzip2": "bzip2", "xz": "xz", "pixz": "xz", "lzma": "lzma", "zstd": "zstd"}
_EXISTING = {
    "keep-old-files": "keep", "skip-old-files": "skip", "keep-newer-files": "newer", "overwrite": "overwrite", "unlink-first": "replace",
}  # fmt: skip
_EXITING = "Exiting with failure status due to previous errors"
_FATAL = "Error is not recoverable: exiting now"
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", "?": "\x7f"}
_HINT = "Try 'tar --help' or 'tar --usage' for more information.\n"


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """Options in the old style: letters without a dash, their values in the words after them."""
    if not words or words[0].startswith("-") or not words[0]:
        return words
    rewritten: list[str] = []
    rest = list(words[1:])
    for letter in words[0]:
        option = tar.parser().short.get(letter)
        rewritten.append(f"-{letter}")
        if option is not None and option.takes == 1:
            if not rest:
                raise UsageError(f"Old option '{letter}' requires an argument.", 2)
            rewritten[-1] += rest.pop(0)
    return rewritten + rest


def _unquote(name: str) -> str:
    """A name from -T with its escapes read as C reads them."""
    return _ESCAPE.sub(_unescape, name) if "\\" in name else name


def _unescape(found: re.Match[str]) -> str:
    return decode(bytes([int(found[1], 8) & 255])) if found[1] else _ESCAPES.get(found[2], found[0])


class _Operand:
    """A name on the command line (or from -T) and the directory it stands in."""

    __slots__ = ("directory", "name", "recursive")

    def __init__(self, name: str, directory: str, recursive: bool) -> None:
        self.name = name
        self.directory = directory
        self.recursive = recursive


class _Options:
    """All options, read in order: -C, --exclude and their like apply to what comes after them."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.action = ""
        self.archive = "-"
        self.format: str | None = None
        self.verbose = 0
        self.operands: list[_Operand] = []
        self.exclusions = Exclusions()
        self.transformation = Transformation()
        self.directory = ctx.cwd
        self.anchored = False
        self.anchored_choice = True
        self.wildcards: bool | None = None
        self.ignore_case = False
        self.match_slash = True
        self.recursive = True
        self.null = False
        self.record = 20 * BLOCK
        self.args = args
        for key, value in args.given:
            self._read(key, value or "")
        if args.flag("auto-compress") and self.format is None and self.action == "c":
            self.format = FORMAT_OF_SUFFIX.get(posixpath.splitext(self.archive)[1])

    def _read(self, key: str, value: str) -> None:
        if key in _ACTIONS:
            if self.action and self.action != _ACTIONS[key]:
                raise UsageError("You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option", 2)
            self.action = _ACTIONS[key]
        elif key in _FORMATS:
            self._compress(_FORMATS[key])
        elif key in _SETTERS:
            attribute, setting = _SETTERS[key]
            setattr(self, attribute, setting)
        elif key == "":
            self.operands.append(_Operand(value, self.directory, self.recursive))
        else:
            reader = getattr(self, f"_{key.replace('-', '_')}", None)
            if reader is not None:
                reader(value)

    def _compress(self, format: str) -> None:
        if self.format is not None and self.format != format:
            raise UsageError("Conflicting compression options", 2)
        self.format = format

    def _file(self, value: str) -> None:
        self.archive = value

    def _verbose(self, _value: str) -> None:
        self.verbose += 1

    def _directory(self, value: str) -> None:
        path = posixpath.join(self.directory, value)
        try:
            self.ctx.fs.listdir(path)
        except OSError as error:
            raise CommandError(f"{value}: Cannot open: {error.strerror}\ntar: {_FATAL}", 2) from None
        self.directory = posixpath.normpath(path)

    def _use_compress_program(self, value: str) -> None:
        format = _PROGRAMS.get(posixpath.basename(value.partition(" ")[0]))
        if format is None:
            raise CommandError(f"{value}: this program is not available for compression: use gzip, bzip2 or xz", 2)
        self._compress(format)

    def _exclude(self, value: str) -> None:
        self.exclusions.add(
            value,
            anchored=self.anchored,
            wildcards=self.wildcards is not False,
            ignore_case=self.ignore_case,
            match_slash=self.match_slash,
        )

    def _exclude_vcs(self, _value: str) -> None:
        for name in _tar_names.VCS:
            self._exclude(name)

    def _exclude_from(self, value: str) -> None:
        for line in self._lines(value, b"\n"):
            if line:
                self._exclude(line)

    def _files_from(self, value: str) -> None:
        options = not self.null and not self.args.flag("verbatim-files-from")
        for line in self._lines(value, b"\0" if self.null else b"\n"):
            if options and (found := re.match(r"-C *(.+)|--directory=(.+)", line)):
                self._directory(found[1] or found[2])
            elif line:
                name = line if self.null or self.args.flag("no-unquote") else _unquote(line)
                self.operands.append(_Operand(name, self.directory, self.recursive))

    def _lines(self, name: str, end: bytes) -> Iterator[str]:
        try:
            source = self.ctx.open_input(name)
        except OSError as error:
            raise CommandError(f"{name}: Cannot open: {error.strerror}\ntar: {_FATAL}", 2) from None
        for line in source.lines(end):
            self.ctx.budget.step()
            yield decode(line[:-1] if line.endswith(end) else line)

    def _transform(self, value: str) -> None:
        self.transformation.add(value)

    def _blocking_factor(self, value: str) -> None:
        if not value.isdigit() or not 0 < int(value[:8]) <= 4096:
            raise UsageError("Invalid blocking factor", 2)
        self.record = int(value) * BLOCK

    # what the actions need

    def creation(self) -> CreationOptions:
        args, ctx = self.args, self.ctx
        made = CreationOptions(self.exclusions, self.transformation)
        made.absolute = args.flag("absolute-names")
        made.dereference = args.flag("dereference")
        made.remove = args.flag("remove-files")
        made.owner = self._owner(args.value("owner"))
        made.group = self._owner(args.value("group"))
        mode = args.value("mode")
        if mode is not None:
            from agentsandbox.languages.modes import compile_mode  # only --mode needs them

            made.mode = compile_mode(mode, ctx.umask)
            if made.mode is None:
                raise UsageError("Invalid mode given on option", 2)
        if args.value("sort") not in (None, "none", "name", "inode"):
            raise UsageError(f"invalid argument {quote(args.value('sort') or '')} for {quote('--sort')}", 2)
        text = args.value("mtime")
        if text is not None:
            made.mtime = self._mtime(text)
        return made

    def _owner(self, text: str | None) -> tuple[str, int] | None:
        if text is None:
            return None
        name, colon, number = text.partition(":")
        if colon and number.isdigit() and len(number) < 10:
            return name, int(number)
        if text.isdigit() and len(text) < 10:
            return "", int(text)
        return name, 0 if name == "root" else 1000

    def _mtime(self, text: str) -> int:
        from agentsandbox.commands._times import nanoseconds
        from agentsandbox.languages.dates import DateError, parse_date  # only --mtime needs them

        if text.startswith(("/", ".")):
            try:
                return nanoseconds(self.ctx.fs.stat(self.ctx.path(text)).mtime)
            except OSError as error:
                raise CommandError(f"{text}: Cannot stat: {error.strerror}\ntar: {_FATAL}", 2) from None
        try:
            return parse_date(text, self.ctx.host.clock(), self.ctx.env.get("TZ", ""))
        except DateError:
            raise CommandError(f"Invalid date given on option\ntar: {_FATAL}", 2) from None

    def choice(self) -> Choice:
        return Choice(
            [operand.name for operand in self.operands],
            wildcards=self.wildcards is True,
            anchored=self.anchored_choice,
            ignore_case=self.ignore_case,
        )

    def extraction(self) -> ExtractionOptions:
        args = self.args
        made = ExtractionOptions(self.transformation)
        made.absolute = args.flag("absolute-names")
        made.keep_mtime = not args.flag("touch")
        made.permissions = args.last("preserve-permissions", "no-same-permissions") == "preserve-permissions"
        made.to_stdout = args.flag("to-stdout")
        policy = args.last(*_EXISTING)
        made.existing = _EXISTING[policy] if policy is not None else "replace"
        strip = args.value("strip-components")
        if strip is not None:
            if not strip.isdigit() or len(strip) > 6:
                raise UsageError(f"{strip}: Invalid number of elements", 2)
            made.strip = int(strip)
        top = args.value("one-top-level")
        if top is not None:
            made.one_directory = top or re.sub(r"(\.tar)?\.[A-Za-z0-9]+$", "", posixpath.basename(self.archive))
        return made


_SETTERS: dict[str, tuple[str, bool]] = {
    "anchored": ("anchored", True),
    "no-anchored": ("anchored", False),
    "wildcards": ("wildcards", True),
    "no-wildcards": ("wildcards", False),
    "ignore-case": ("ignore_case", True),
    "no-ignore-case": ("ignore_case", False),
    "wildcards-match-slash": ("match_slash", True),
    "no-wildcards-match-slash": ("match_slash", False),
    "recursion": ("recursive", True),
    "no-recursion": ("recursive", False),
    "null": ("null", True),
    "no-null": ("null", False),
}


def _listing(ctx: CommandContext, options: _Options, stream: ByteWriter, verbose: int) -> Listing:
    args = options.args
    return Listing(
        ctx, stream, verbose, zone="UTC0" if args.flag("utc") else ctx.env.get("TZ", ""), full_time=args.flag("full-time"),
        numeric=args.flag("numeric-owner"), block_numbers=args.flag("block-number"),
    )  # fmt: skip


def _members(options: _Options, archive: ArchiveReader, choice: Choice) -> Iterator[Member]:
    """The members that operands and exclusions leave."""
    ctx = options.ctx

    def warn(message: str) -> None:
        ctx.warn(message, ctx.status)

    ignore_zeros = options.args.flag("ignore-zeros")
    for member in read_members(archive, warn, ignore_zeros=ignore_zeros):
        ctx.budget.step()
        if choice.match(member.name) and not options.exclusions.match(member.name, ctx.budget):
            yield member


def _finish_reading(options: _Options, archive: ArchiveReader, choice: Choice) -> None:
    ctx = options.ctx
    missing = choice.missing()
    if missing and choice.looks_like_pattern():
        ctx.warn("Pattern matching characters used in file names", ctx.status)
        ctx.warn("Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning", ctx.status)
    for name in missing:
        ctx.warn(f"{show(name)}: Not found in archive", 2)
    if archive.failed:
        ctx.status = 2


def _list(ctx: CommandContext, options: _Options) -> None:
    archive = ArchiveReader(ctx, open_archive(ctx, options.archive), options.format)
    choice = options.choice()
    listing = _listing(ctx, options, ctx.stdout, options.verbose)
    names = _tar_names.SafeNames(lambda message: ctx.warn(message, ctx.status), options.args.flag("absolute-names"))
    for member in _members(options, archive, choice):
        names.strip(member.name)
        name = options.transformation.apply(member.name, ctx.budget) if options.transformation else member.name
        listing.write(member, name if options.args.flag("show-transformed-names") else member.name)
    _finish_reading(options, archive, choice)


def _extract(ctx: CommandContext, options: _Options) -> None:
    archive = ArchiveReader(ctx, open_archive(ctx, options.archive), options.format)
    choice = options.choice()
    wanted = options.extraction()
    extraction = Extraction(ctx, archive, wanted, options.directory)
    listing = _listing(ctx, options, ctx.stderr if wanted.to_stdout else ctx.stdout, options.verbose - 1)
    transformed = options.args.flag("show-transformed-names")
    try:
        for member in _members(options, archive, choice):
            name = extraction.target_name(member)
            if name is None:
                continue
            if options.verbose:
                listing.write(member, name if transformed else member.name)
            extraction.extract(member, name)
    finally:
        extraction.finish()
    _finish_reading(options, archive, choice)


def _compare(ctx: CommandContext, options: _Options) -> None:
    archive = ArchiveReader(ctx, open_archive(ctx, options.archive), options.format)
    choice = options.choice()
    listing = _listing(ctx, options, ctx.stdout, options.verbose - 1)
    for member in _members(options, archive, choice):
        if options.verbose:
            listing.write(member, member.name)
        compare_member(ctx, archive, member, options.directory)
    _finish_reading(options, archive, choice)


def _open_target(ctx: CommandContext, options: _Options) -> tuple[ByteWriter, str | None]:
    """Where a new archive goes, and its path."""
    if options.archive == "-":
        return ctx.stdout, None
    path = posixpath.normpath(posixpath.join(ctx.cwd, options.archive))
    try:
        return ctx.fs.open(path, "w", permissions=0o666 & ~ctx.umask), path
    except OSError as error:
        raise CommandError(f"{options.archive}: Cannot open: {error.strerror}\ntar: {_FATAL}", 2) from None


def _add_operands(ctx: CommandContext, options: _Options, creation: Creation) -> None:
    wanted = creation.options
    listing = _listing(ctx, options, ctx.stderr if options.archive == "-" else ctx.stdout, options.verbose - 1)
    transformed = options.args.flag("show-transformed-names")
    if options.verbose:
        wanted.verbose = lambda member, name: listing.write(member, member.name if transformed else name)
    for operand in options.operands:
        wanted.recursive = operand.recursive
        creation.add(operand.name, operand.directory)


def _create(ctx: CommandContext, options: _Options) -> None:
    if not options.operands and not options.args.flag("files-from"):
        raise UsageError("Cowardly refusing to create an empty archive", 2)
    wanted = options.creation()
    target, path = _open_target(ctx, options)
    writer = ArchiveWriter(ctx, target, options.format, options.record)
    creation = Creation(ctx, writer, wanted, path)
    _add_operands(ctx, options, creation)
    writer.finish()
    if path is not None:
        target.release()  # type: ignore[attr-defined]
    creation.remove_added()


def _rewritable(ctx: CommandContext, options: _Options, *, create: bool) -> tuple[bytes, str]:
    """The content and path of a plain archive that is to be changed."""
    if options.format is not None:
        raise UsageError("Cannot update compressed archives", 2)
    if options.archive == "-":
        raise CommandError(f"Options '-Aru' are incompatible with '-f -'\ntar: {_FATAL}", 2)
    path = posixpath.normpath(posixpath.join(ctx.cwd, options.archive))
    if create and not ctx.fs.exists(path):
        return b"", path
    reader = open_archive(ctx, options.archive)
    data = reader.read()
    if ArchiveReader(ctx, BytesReader(data), None).format is not None:
        raise CommandError(f"Cannot update compressed archives\ntar: {_FATAL}", 2)
    return data, path


def _append(ctx: CommandContext, options: _Options) -> None:
    data, path = _rewritable(ctx, options, create=True)
    archive = ArchiveReader(ctx, BytesReader(data), None)
    times: dict[str, int] = {}
    end = 0
    for member in read_members(archive, lambda message: ctx.warn(message, ctx.status)):
        times[member.name] = member.mtime // 1_000_000_000
        archive.skip_rest()
        end = archive.position
    wanted = options.creation()
    others = [_members_of(ctx, operand.name) for operand in options.operands] if options.action == "A" else []
    target = ctx.fs.open(path, "w", permissions=0o666 & ~ctx.umask)
    writer = ArchiveWriter(ctx, target, None, options.record)
    writer.write(data[:end])
    for other in others:
        writer.write(other)
    if options.action != "A":
        creation = Creation(ctx, writer, wanted, path)
        if options.action == "u":
            creation.newer_than = lambda name, mtime: times.get(name, -(2**62)) < mtime
        _add_operands(ctx, options, creation)
        creation.remove_added()
    writer.finish()
    target.release()


def _members_of(ctx: CommandContext, name: str) -> bytes:
    """Another archive without its end."""
    data = open_archive(ctx, name).read()
    archive = ArchiveReader(ctx, BytesReader(data), None)
    end = 0
    for _ in read_members(archive, lambda message: ctx.warn(message, ctx.status)):
        archive.skip_rest()
        end = archive.position
    return data[:end]


def _delete(ctx: CommandContext, options: _Options) -> None:
    data, path = _rewritable(ctx, options, create=False)
    archive = ArchiveReader(ctx, BytesReader(data), None)
    choice = options.choice()
    kept: list[bytes] = []
    for member in read_members(archive, lambda message: ctx.warn(message, ctx.status)):
        archive.skip_rest()
        if not (choice.names and choice.match(member.name)):
            kept.append(build_headers(member) + data[member.offset + BLOCK : archive.position])
    target = ctx.fs.open(path, "w", permissions=0o666 & ~ctx.umask)
    writer = ArchiveWriter(ctx, target, None, options.record)
    for part in kept:
        writer.write(part)
    writer.finish()
    target.release()
    _finish_reading(options, archive, choice)


_DO = {"c": _create, "x": _extract, "t": _list, "r": _append, "u": _append, "A": _append, "d": _compare, "D": _delete}


def _run(ctx: CommandContext, words: Sequence[str]) -> int:
    args = tar.parser().parse(_rewrite(words), in_order=True)
    if args.flag("help"):
        ctx.print(tar.usage, end="")
        return 0
    options = _Options(ctx, args)
    if not options.action:
        raise UsageError("You must specify one of the '-Acdtrux', '--delete' or '--test-label' options", 2)
    try:
        _DO[options.action](ctx, options)
    except TarFormatError as error:
        ctx.warn(error.message, 2)
        if error.fatal:
            raise CommandError(_FATAL, 2) from None
    if ctx.status == 2:
        ctx.warn(_EXITING, 2)
    return ctx.status


@command(
    "tar",
    usage="""
    Usage: tar [OPTION...] [FILE]...
    Store files in an archive and get them back: `tar -cf archive.tar foo bar`, `tar -tvf archive.tar`, `tar -xf archive.tar`.

      -A, --catenate, --concatenate   append archives to an archive
      -c, --create                    create an archive
      -d, --diff, --compare           find differences between archive and files
          --delete                    delete members from the archive
      -r, --append                    append files to the end of an archive
      -t, --list                      list the contents
      -u, --update                    append only files newer than those in the archive
      -x, --extract, --get            extract files

      -f, --file=ARCHIVE              the archive; "-" (default) for standard input or output
      -C, --directory=DIR             change to DIR
      -v, --verbose                   list the files processed; twice for details
      -z, --gzip, --gunzip, --ungzip  compress or decompress with gzip
      -j, --bzip2                     … with bzip2
      -J, --xz                        … with xz
          --lzma                      … with lzma
          --zstd                      refused: zstd is not available
      -a, --auto-compress             compress by the archive's suffix
      -I, --use-compress-program=PROG  gzip, bzip2 or xz by the name of its program
      -b, --blocking-factor=BLOCKS    512 times BLOCKS bytes for each record (20)
      -i, --ignore-zeros              ignore empty blocks in the archive

      -T, --files-from=FILE           get names to create or extract from FILE
          --null                      -T reads names that end with NUL
          --no-null                   disable --null
          --verbatim-files-from       -T reads names verbatim, no options
          --unquote                   -T takes escapes out of names (default)
          --no-unquote                -T leaves them in
      -X, --exclude-from=FILE         exclude the patterns in FILE
          --exclude=PATTERN           exclude files that match PATTERN
          --exclude-vcs               exclude version control directories
          --anchored                  patterns match from the beginning of names
          --no-anchored               patterns match after any "/" (default for exclusion)
          --wildcards                 use wildcards (default for exclusion)
          --no-wildcards              verbatim string matching
          --wildcards-match-slash     wildcards match "/" (default)
          --no-wildcards-match-slash  wildcards do not match "/"
          --ignore-case               ignore case
          --no-ignore-case            case sensitive matching (default)
          --recursion                 recurse into directories (default)
          --no-recursion              do not

      -h, --dereference               archive what symbolic links point to
      -P, --absolute-names            keep leading "/" in names
          --mode=CHANGES              the mode of added files
          --mtime=DATE-OR-FILE        the time of added files
          --owner=NAME[:UID]          the owner of added files
          --group=NAME[:GID]          the group of added files
          --numeric-owner             always use numbers for owners and groups
          --sort=ORDER                name, none or inode; a sandbox lists by name
          --remove-files              remove files after adding them

      -k, --keep-old-files            existing files are errors
          --skip-old-files            leave existing files alone, silently
          --keep-newer-files          leave files alone that are newer than the archive's
          --overwrite                 overwrite existing files in place
      -U, --unlink-first              remove existing files first (default)
      -O, --to-stdout                 extract files to standard output
      -m, --touch                     do not restore times
      -p, --preserve-permissions, --same-permissions  restore permissions exactly
          --no-same-permissions       apply the umask (default)
      -o, --no-same-owner             extract files as yourself (default)
          --one-top-level[=DIR]       extract into a directory named for the archive
          --strip-components=NUMBER   strip leading components from names
          --transform, --xform=EXPRESSION  change names with sed's s/// expressions
          --show-transformed-names, --show-stored-names  show names after that

          --full-time                 show times in full
          --utc                       show times in UTC
      -R, --block-number              show the block of each member
      -?, --help                      display this help and exit
    """,
    raw=True,
    usage_status=64,
)
def tar(ctx: CommandContext, args: Arguments) -> int:
    try:
        return _run(ctx, args.operands)
    except UsageError as error:
        ctx.stderr.write(encode(f"{ctx.name}: {error.message}\n{_HINT}"))
        return error.status if error.has_status else 64
    except OSError as error:
        raise CommandError(f"{error.filename}: {error.strerror}\ntar: {_FATAL}", 2) from None
