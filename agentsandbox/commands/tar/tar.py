"""`tar` (GNU tar): archives of files, plain or compressed with gzip, bzip2 or xz."""

from __future__ import annotations

import errno
import os
import posixpath
import re

from agentsandbox.commands._files.block_sizes import SizeFormat
from agentsandbox.commands._text.quoting import quote_as
from agentsandbox.commands.tar.checkpoints import Checkpoints
from agentsandbox.commands.tar.comparison import compare_member
from agentsandbox.commands.tar.create import Creation
from agentsandbox.commands.tar.extract import Extraction
from agentsandbox.commands.tar.format import Member, TarFormatError, read_members
from agentsandbox.commands.tar.listing import Listing
from agentsandbox.commands.tar.names import Choice, SafeNames, show, show_in_message
from agentsandbox.commands.tar.options import TarOptions
from agentsandbox.commands.tar.stream import ArchiveReader, ArchiveWriter, open_archive, tell_child
from agentsandbox.commands.tar.usage import USAGE
from agentsandbox.contract.command import CommandContext, command
from agentsandbox.contract.manners import Manners, Release
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import BytesReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.contract.command import Arguments
    from agentsandbox.kernel.streams import ByteWriter

_EXITING = "Exiting with failure status due to previous errors"
_FATAL = "Error is not recoverable: exiting now"
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
            rewritten.append(rest.pop(0))
    return rewritten + rest


def _listing(ctx: CommandContext, options: TarOptions, stream: ByteWriter, verbose: int) -> Listing:
    args = options.args
    return Listing(
        ctx, stream, verbose, zone="UTC0" if args.flag("utc") else ctx.env.get("TZ", ""), full_time=args.flag("full-time"),
        numeric=args.flag("numeric-owner"), show=_shown_by(args),
    )  # fmt: skip


def _shown_by(args: Arguments) -> Callable[[str], str]:
    """How listings show names: by --quoting-style."""
    style = args.value("quoting-style") or "escape"
    return show if style == "escape" else lambda name: quote_as(name, style)


def _tell_totals(ctx: CommandContext, options: TarOptions, what: str, size: int) -> None:
    if not options.args.flag("totals"):
        return
    spent = ctx.host.clock() - options.started
    human = SizeFormat(human=True)

    def shown(count: int) -> str:
        text = human.show(count)
        return f"{text}iB" if text[-1:].isalpha() else f"{text}B"

    rate = shown(int(size / spent)) if spent > 0 else "?B"
    ctx.stderr.write(encode(f"Total bytes {what}: {size} ({shown(size)}, {rate}/s)\n"))


def _members(options: TarOptions, archive: ArchiveReader, choice: Choice) -> Iterator[Member]:
    """The members that operands and exclusions leave."""
    ctx = options.ctx

    def warn(message: str) -> None:
        options.warn("alone-zero-block" if message.startswith("A lone") else "", message)

    for member in read_members(archive, warn, ignore_zeros=options.args.flag("ignore-zeros")):
        ctx.budget.step()
        if member.kind == "label":
            yield member
            continue
        chosen = choice.match(member.name) and not options.exclusions.match(member.name, ctx.budget)
        if (
            chosen
            and options.newer is not None
            and member.kind != "dir"
            and member.mtime < options.newer
        ):
            continue
        if chosen:
            yield member


def _tell_missing(options: TarOptions, choice: Choice) -> None:
    """Report the operands that no member has the name of."""
    ctx = options.ctx
    missing = choice.missing()
    if missing and choice.looks_like_pattern():
        ctx.warn("Pattern matching characters used in file names", ctx.status)
        ctx.warn(
            "Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning",
            ctx.status,
        )
    for name in missing:
        ctx.warn(f"{show_in_message(name)}: Not found in archive", 2)


def _finish_reading(options: TarOptions, archive: ArchiveReader, choice: Choice) -> None:
    _tell_missing(options, choice)
    if archive.failed:
        options.ctx.status = 2


def _list(ctx: CommandContext, options: TarOptions) -> None:
    archive = options.open()
    choice = options.choice()
    listing = _listing(ctx, options, ctx.stdout, options.verbose)
    names = SafeNames(
        lambda message: ctx.warn(message, ctx.status), options.args.flag("absolute-names")
    )
    wanted = options.extraction()
    for member in _members(options, archive, choice):
        options.last_directory()
        name = wanted.shape(member.name, names, ctx.budget)
        if member.kind == "dir" and not name.endswith("/"):
            name += "/"
        listing.write(member, name if options.args.flag("show-transformed-names") else member.name)
    archive.close()
    _tell_totals(ctx, options, "read", _records(options, archive.position))
    _finish_reading(options, archive, choice)


def _extract(ctx: CommandContext, options: TarOptions) -> None:
    archive = options.open(Checkpoints(options, "Read"))
    archive.patient = True
    choice = options.choice()
    wanted = options.extraction()
    extraction = Extraction(ctx, archive, wanted, options.directory)
    listing = _listing(
        ctx, options, ctx.stderr if wanted.to_stdout else ctx.stdout, options.verbose - 1
    )
    transformed = options.args.flag("show-transformed-names")
    try:
        for member in _members(options, archive, choice):
            operand = options.operand_of(choice)
            options.last_directory()
            if operand is not None:
                options.enter(operand)
                extraction.directory = operand.directory
            name = extraction.target_name(member)
            if not wanted.absolute and ".." in member.name.split("/"):
                extraction.fail(f"{show_in_message(member.name)}: Member name contains '..'")
                continue
            if name is None:
                continue
            if options.verbose:
                listing.write(member, name if transformed else member.name)
            extraction.extract(member, name)
        archive.close()
    finally:
        extraction.finish()
    _tell_totals(ctx, options, "read", _records(options, archive.position))
    _finish_reading(options, archive, choice)


def _compare(ctx: CommandContext, options: TarOptions) -> None:
    archive = options.open()
    choice = options.choice()
    listing = _listing(ctx, options, ctx.stdout, options.verbose - 1)
    for member in _members(options, archive, choice):
        if options.verbose:
            listing.write(member, member.name)
        operand = options.operand_of(choice)
        directory = options.last_directory() if operand is None else operand.directory
        compare_member(ctx, archive, member, directory)
    archive.close()
    _finish_reading(options, archive, choice)


def _records(options: TarOptions, size: int) -> int:
    """A size in whole records."""
    return -(-size // options.record) * options.record


def _creating(ctx: CommandContext, options: TarOptions) -> Listing:
    """What `-v` writes about members that are added."""
    return _listing(
        ctx, options, ctx.stderr if options.archive == "-" else ctx.stdout, options.verbose - 1
    )


def _open_target(ctx: CommandContext, options: TarOptions) -> tuple[ByteWriter, str | None]:
    """Where a new archive goes, and its path."""
    if options.archive == "-":
        return ctx.stdout, None
    try:
        if options.archive.endswith("/"):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), options.archive)
        path = posixpath.normpath(posixpath.join(ctx.cwd, options.archive))
        return ctx.fs.open(path, "w", permissions=0o666 & ~ctx.umask), path
    except OSError as error:
        if options.format is not None:
            tell_child(ctx, options.archive, error)
            raise CommandError(
                f"{options.archive}: Cannot write: Broken pipe\ntar: Child returned status 2\ntar: {_FATAL}",
                2,
            ) from None
        raise CommandError(
            f"{options.archive}: Cannot open: {error.strerror}\ntar: {_FATAL}", 2
        ) from None


def _add_operands(
    ctx: CommandContext, options: TarOptions, creation: Creation, listing: Listing
) -> None:
    wanted = creation.options
    if options.verbose:
        for text in options.dates:
            ctx.warn(text, ctx.status)
    transformed = options.args.flag("show-transformed-names")
    if options.verbose:
        wanted.verbose = lambda member, name: listing.write(
            member, member.name if transformed else name
        )
    for operand in options.operands:
        wanted.recursive = operand.recursive
        options.enter(operand)
        creation.add(operand.name, operand.directory)
    options.enter_last()
    options.tell_unused()


def _create(ctx: CommandContext, options: TarOptions) -> None:
    if not options.operands and not options.args.flag("files-from"):
        raise UsageError("Cowardly refusing to create an empty archive", 2)
    wanted = options.creation()
    target, path = _open_target(ctx, options)
    listing = _creating(ctx, options)
    writer = ArchiveWriter(
        ctx, target, options.format, options.record, Checkpoints(options, "Write")
    )
    creation = Creation(ctx, writer, wanted, path)
    _add_operands(ctx, options, creation, listing)
    writer.finish()
    _tell_totals(ctx, options, "written", writer.size)
    if path is not None:
        target.release()  # type: ignore[attr-defined]
    creation.remove_added()


def _rewritable(ctx: CommandContext, options: TarOptions, *, create: bool) -> tuple[bytes, str]:
    """The content and path of a plain archive that is to be changed."""
    if options.format is not None:
        raise UsageError("Cannot update compressed archives", 2)
    if options.archive == "-":
        raise UsageError("Options '-Aru' are incompatible with '-f -'", 2)
    path = posixpath.normpath(posixpath.join(ctx.cwd, options.archive))
    if create and options.archive.endswith("/"):
        raise CommandError(
            f"{options.archive}: Cannot read: Bad file descriptor\ntar: At beginning of tape, quitting now\ntar: {_FATAL}",
            2,
        )
    if create and not ctx.fs.exists(path):
        return b"", path
    reader = open_archive(ctx, options.archive)
    data = reader.read()
    if ArchiveReader(ctx, BytesReader(data), None).format is not None:
        raise CommandError(f"Cannot update compressed archives\ntar: {_FATAL}", 2)
    return data, path


def _append(ctx: CommandContext, options: TarOptions) -> None:
    data, path = _rewritable(ctx, options, create=True)
    archive = ArchiveReader(ctx, BytesReader(data), None)
    times: dict[str, int] = {}
    end = 0
    for member in (
        read_members(archive, lambda message: ctx.warn(message, ctx.status)) if data else ()
    ):
        times[member.name.rstrip("/")] = member.mtime // 1_000_000_000
        archive.skip_rest()
        end = archive.position
    wanted = options.creation()
    target = ctx.fs.open(path, "w", permissions=0o666 & ~ctx.umask)
    writer = ArchiveWriter(ctx, target, None, options.record)
    writer.write(data[:end])
    creation = Creation(ctx, writer, wanted, path)
    if options.action == "u":
        creation.newer_than = lambda name, mtime: times.get(name, -(2**62)) < mtime
    _add_operands(ctx, options, creation, _creating(ctx, options))
    creation.remove_added()
    writer.finish()
    target.release()


def _delete(ctx: CommandContext, options: TarOptions) -> None:
    data, path = _rewritable(ctx, options, create=False)
    archive = ArchiveReader(ctx, BytesReader(data), None)
    choice = options.choice()
    kept: list[bytes] = []
    begin = 0
    for member in read_members(archive, lambda message: ctx.warn(message, ctx.status)):
        archive.skip_rest()
        if not (choice.names and choice.match(member.name)):
            kept.append(data[begin : archive.position])
        begin = archive.position
    target = ctx.fs.open(path, "w", permissions=0o666 & ~ctx.umask)
    writer = ArchiveWriter(ctx, target, None, options.record)
    for part in kept:
        writer.write(part)
    writer.finish()
    target.release()
    _finish_reading(options, archive, choice)


_DO = {
    "c": _create, "x": _extract, "t": _list, "r": _append, "u": _append, "d": _compare, "D": _delete,
}  # fmt: skip


def _run(ctx: CommandContext, words: Sequence[str]) -> int:
    try:
        args = tar.parser().parse(_rewrite(words), in_order=True)
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
    options = TarOptions(ctx, args, tar.parser())
    if not options.action:
        raise UsageError(
            "You must specify one of the '-Acdtrux', '--delete' or '--test-label' options", 2
        )
    try:
        _DO[options.action](ctx, options)
    except TarFormatError as error:
        ctx.warn(error.message, 2)
        if error.fatal:
            raise CommandError(_FATAL, 2) from None
        if options.action in ("x", "t"):
            _tell_missing(options, options.choice())
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
        raise CommandError(f"{error.filename}: {error.strerror}\ntar: {_FATAL}", 2) from None
