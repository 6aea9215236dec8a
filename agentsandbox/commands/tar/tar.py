"""`tar` (GNU tar): archives of files, plain or compressed with gzip, bzip2 or xz."""

from __future__ import annotations

import errno
import os
import re
import shlex

from agentsandbox.commands.tar.comparison import compare_member
from agentsandbox.commands.tar.create import Creation
from agentsandbox.commands.tar.extract import Extraction
from agentsandbox.commands.tar.format import Member, TarFormatError, read_members
from agentsandbox.commands.tar.listing import Listing
from agentsandbox.commands.tar.names import Choice, SafeNames, show_in_message
from agentsandbox.commands.tar.options import TarOptions
from agentsandbox.commands.tar.stream import (
    FATAL,
    ArchiveReader,
    ArchiveWriter,
    fatal,
    open_archive,
    report_child,
)
from agentsandbox.commands.tar.usage import USAGE
from agentsandbox.contract.command import CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.fs.base import File
from agentsandbox.kernel.streams import BytesReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.contract.command import Arguments
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.streams import ByteWriter

_EXITING = "Exiting with failure status due to previous errors"
_HINT = "Try 'tar --help' or 'tar --usage' for more information.\n"


def _rewrite(words: Sequence[str]) -> Sequence[str]:
    """Return the words with old-style options (letters without a dash) as usual ones."""
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
            rewritten.append(rest.pop(0))
    return rewritten + rest


def _members(options: TarOptions, archive: ArchiveReader, choice: Choice) -> Iterator[Member]:
    """Yield the members that operands, exclusions and dates choose."""
    budget = options.ctx.budget
    ignore_zeros = options.args.flag("ignore-zeros")
    for member in read_members(archive, options.warn, ignore_zeros=ignore_zeros):
        budget.step()
        if member.kind != "label":
            if not choice.match(member.name) or options.exclusions.match(member.name, budget):
                continue
            is_old = options.newer is not None and member.mtime < options.newer
            if is_old and member.kind != "dir":
                continue
        yield member


def _warn_missing(options: TarOptions, choice: Choice) -> None:
    """Report the operands that match no member."""
    missing = choice.missing()
    if missing and choice.looks_like_pattern():
        options.warn("Pattern matching characters used in file names")
        options.warn(
            "Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning"
        )
    for name in missing:
        options.ctx.warn(f"{show_in_message(name)}: Not found in archive", 2)


def _finish_reading(options: TarOptions, archive: ArchiveReader, choice: Choice) -> None:
    _warn_missing(options, choice)
    if archive.failed:
        options.ctx.status = 2


def _list(ctx: CommandContext, options: TarOptions) -> None:
    archive = options.open()
    choice = options.choice()
    listing = Listing(ctx, ctx.stdout, options.verbose, numeric=options.numeric)
    names = SafeNames(options.warn, options.absolute)
    for member in _members(options, archive, choice):
        options.last_directory()
        options.shape(member.name, names)  # for its warnings
        listing.write(member, member.name)
    archive.close()
    _finish_reading(options, archive, choice)


def _extract(ctx: CommandContext, options: TarOptions) -> None:
    archive = options.open()
    archive.patient = True
    choice = options.choice()
    extraction = Extraction(ctx, archive, options)
    stream = ctx.stderr if options.to_stdout else ctx.stdout
    listing = Listing(ctx, stream, options.verbose - 1, numeric=options.numeric)
    try:
        for member in _members(options, archive, choice):
            operand = options.operand_of(choice)
            options.last_directory()
            if operand is not None:
                options.enter(operand)
                extraction.directory = operand.directory
            name = extraction.target_name(member)
            if not options.absolute and ".." in member.name.split("/"):
                extraction.fail(member.name, "Member name contains '..'")
                continue
            if not name:
                continue
            if options.verbose:
                listing.write(member, member.name)
            extraction.extract(member, name)
        archive.close()
    finally:
        extraction.finish()
    _finish_reading(options, archive, choice)


def _compare(ctx: CommandContext, options: TarOptions) -> None:
    archive = options.open()
    choice = options.choice()
    listing = Listing(ctx, ctx.stdout, options.verbose - 1, numeric=options.numeric)
    for member in _members(options, archive, choice):
        if options.verbose:
            listing.write(member, member.name)
        operand = options.operand_of(choice)
        directory = options.last_directory() if operand is None else operand.directory
        compare_member(ctx, archive, member, directory)
    archive.close()
    _finish_reading(options, archive, choice)


def _open_target(ctx: CommandContext, options: TarOptions) -> File:
    """Open a new archive for writing."""
    try:
        if options.archive.endswith("/"):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), options.archive)
        return ctx.fs.open(ctx.path(options.archive), "w", permissions=0o666 & ~ctx.umask)
    except OSError as error:
        if options.format is None:
            raise fatal(f"{options.archive}: Cannot open: {error.strerror}") from None
        report_child(ctx, options.archive, error)
        raise fatal(
            f"{options.archive}: Cannot write: Broken pipe\ntar: Child returned status 2"
        ) from None


def _add_operands(
    ctx: CommandContext,
    options: TarOptions,
    target: ByteWriter,
    archive: Stat | None,
    start: bytes = b"",
    newer_than: Callable[[str, int | None], bool] | None = None,
) -> None:
    """Write an archive that begins with the members in `start`: all operands that are
    `newer_than` their members follow. `archive` describes the file that the archive becomes.
    """
    stream = ctx.stderr if options.archive == "-" else ctx.stdout
    listing = Listing(ctx, stream, options.verbose - 1, numeric=options.numeric)
    writer = ArchiveWriter(ctx, target, options.format)
    writer.write(start)
    tell = listing.write if options.verbose else None
    creation = Creation(ctx, writer, options, archive, tell)
    creation.newer_than = newer_than
    if options.verbose:
        for text in options.dates:
            options.warn(text)
    for operand in options.operands:
        creation.recursive = operand.recursive
        options.enter(operand)
        creation.add(operand.name, operand.directory)
    options.enter_last()
    options.warn_unused()
    writer.finish()
    creation.remove_added()


def _create(ctx: CommandContext, options: TarOptions) -> None:
    if not options.operands and not options.args.flag("files-from"):
        raise UsageError("Cowardly refusing to create an empty archive", 2)
    if options.archive == "-":
        out = ctx.stdout
        archive = out.stat() if isinstance(out, File) and options.format is None else None
        _add_operands(ctx, options, out, archive)
        return
    target = _open_target(ctx, options)
    _add_operands(ctx, options, target, target.stat())
    target.release()


def _existing_content(ctx: CommandContext, options: TarOptions) -> bytes:
    """Return the content of the plain archive that -r or -u extends, b"" for a new one."""
    if options.format is not None:
        raise UsageError("Cannot update compressed archives", 2)
    if options.archive == "-":
        raise UsageError("Options '-Aru' are incompatible with '-f -'", 2)
    if options.archive.endswith("/"):
        raise fatal(
            f"{options.archive}: Cannot read: Bad file descriptor\n"
            "tar: At beginning of tape, quitting now"
        )
    if not ctx.fs.exists(ctx.path(options.archive)):
        return b""
    data = open_archive(ctx, options.archive).read()
    if ArchiveReader(ctx, BytesReader(data), None).format is not None:
        raise fatal("Cannot update compressed archives")
    return data


def _append(ctx: CommandContext, options: TarOptions) -> None:
    data = _existing_content(ctx, options)
    path = ctx.path(options.archive)
    archive = ArchiveReader(ctx, BytesReader(data), None)
    times: dict[str, int] = {}
    end = 0
    if data:
        for member in read_members(archive, options.warn):
            times[member.name.rstrip("/")] = member.mtime // 1_000_000_000
            archive.skip_rest()
            end = archive.position

    def newer_than(name: str, mtime: int | None) -> bool:
        if options.action == "r" or name not in times:
            return True
        return mtime is not None and times[name] < mtime

    target = ctx.fs.open(path, "w", permissions=0o666 & ~ctx.umask)
    _add_operands(ctx, options, target, target.stat(), data[:end], newer_than)
    target.release()


_DO = {"c": _create, "x": _extract, "t": _list, "r": _append, "u": _append, "d": _compare}


def _run(ctx: CommandContext, words: Sequence[str]) -> int:
    try:
        defaults = shlex.split(ctx.env.get("TAR_OPTIONS", ""))
    except ValueError:
        raise fatal("cannot split TAR_OPTIONS: missing closing quote") from None
    try:
        args = tar.parser().parse([*defaults, *_rewrite(words)], in_order=True)
    except UsageError as error:
        if re.fullmatch(r"invalid option -- '[0-7]'", error.message):
            raise UsageError("Options '-[0-7][lmh]' not supported by *this* tar") from None
        raise
    if args.flag("help"):
        ctx.print(tar.usage, end="")
        return 0
    if args.flag("version"):
        ctx.print(tar.version(), end="")
        return 0
    options = TarOptions(ctx, args)
    if not options.action:
        raise UsageError(
            "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options", 2
        )
    try:
        _DO[options.action](ctx, options)
    except TarFormatError as error:
        ctx.warn(error.message, 2)
        if error.fatal:
            raise CommandError(FATAL, 2) from None
        if options.action in ("x", "t"):
            _warn_missing(options, options.choice())
    if ctx.status == 2:
        ctx.warn(_EXITING, 2)
    return ctx.status


@command(
    "tar",
    manners=Manners(
        Release("NAME (GNU tar) 1.34"),
        long_options="""
            list extract get create diff compare append update catenate concatenate
            delete test-label sparse hole-detection sparse-version incremental
            listed-incremental level ignore-failed-read occurrence seek no-seek
            no-check-device check-device verify remove-files keep-old-files
            skip-old-files keep-newer-files overwrite unlink-first recursive-unlink
            no-overwrite-dir overwrite-dir keep-directory-symlink one-top-level
            to-stdout to-command ignore-command-error no-ignore-command-error owner
            group owner-map group-map mtime clamp-mtime mode atime-preserve touch
            same-owner no-same-owner numeric-owner preserve-permissions same-permissions
            no-same-permissions preserve-order same-order delay-directory-restore
            no-delay-directory-restore sort xattrs no-xattrs xattrs-include
            xattrs-exclude selinux no-selinux acls no-acls file force-local rmt-command
            rsh-command multi-volume tape-length info-script new-volume-script
            volno-file blocking-factor record-size ignore-zeros read-full-records format
            old-archive portability posix pax-option label auto-compress
            no-auto-compress use-compress-program bzip2 gzip gunzip ungzip compress
            uncompress lzip lzma lzop xz zstd one-file-system absolute-names dereference
            hard-dereference starting-file newer after-date newer-mtime backup suffix
            strip-components transform xform checkpoint checkpoint-action check-links
            totals utc full-time index-file block-number show-defaults
            show-snapshot-field-ranges show-omitted-dirs show-transformed-names
            show-stored-names quoting-style quote-chars no-quote-chars interactive
            confirmation verbose warning restrict add-file directory files-from null
            no-null unquote no-unquote verbatim-files-from no-verbatim-files-from
            exclude exclude-from exclude-caches exclude-caches-under exclude-caches-all
            exclude-tag exclude-ignore exclude-ignore-recursive exclude-tag-under
            exclude-tag-all exclude-vcs exclude-vcs-ignores exclude-backups recursion
            no-recursion anchored no-anchored ignore-case no-ignore-case wildcards
            no-wildcards wildcards-match-slash no-wildcards-match-slash help usage
            program-name HANG version
        """,
        write_error=("NAME: stdout: write error", 2),
    ),
    usage=USAGE,
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
        raise CommandError(f"{error.filename}: {error.strerror}\ntar: {FATAL}", 2) from None
