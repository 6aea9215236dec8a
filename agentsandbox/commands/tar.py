"""`tar` (GNU tar): archives of files, plain or compressed with gzip, bzip2 or xz."""

from __future__ import annotations

import errno
import os
import posixpath
import re

from agentsandbox.command import CommandContext, command
from agentsandbox.commands._block_sizes import SizeFormat
from agentsandbox.commands._quoting import quote, quote_as
from agentsandbox.commands._tar_checkpoints import Checkpoints
from agentsandbox.commands._tar_comparison import compare_member
from agentsandbox.commands._tar_create import Creation
from agentsandbox.commands._tar_extract import Extraction
from agentsandbox.commands._tar_format import BLOCK, Member, TarFormatError, build_headers, read_members
from agentsandbox.commands._tar_incremental import Snapshot, read_dump
from agentsandbox.commands._tar_listing import Listing
from agentsandbox.commands._tar_names import Choice, SafeNames, show, show_in_message
from agentsandbox.commands._tar_options import TarOptions
from agentsandbox.commands._tar_stream import ArchiveReader, ArchiveWriter, open_archive, tell_child
from agentsandbox.commands._tar_usage import USAGE
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.globs import compile_glob
from agentsandbox.manners import Manners, Release
from agentsandbox.streams import BytesReader, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agentsandbox.command import Arguments
    from agentsandbox.streams import ByteWriter

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
    if options.index is not None:
        stream = options.index
    return Listing(
        ctx, stream, verbose, zone="UTC0" if args.flag("utc") else ctx.env.get("TZ", ""), full_time=args.flag("full-time"),
        numeric=args.flag("numeric-owner"), block_numbers=args.flag("block-number"), show=_shown_by(args),
    )  # fmt: skip


def _shown_by(args: Arguments) -> Callable[[str], str]:
    """How listings show names: by --quoting-style, --quote-chars and --no-quote-chars."""
    style = args.value("quoting-style")
    more, less = args.value("quote-chars") or "", args.value("no-quote-chars") or ""
    if style is None and not more and not less:
        return show
    if style not in (None, "escape"):
        return lambda name: quote_as(name, style or "")

    def shown(name: str) -> str:
        return "".join([c if c in less else "\\" + c if c in more else show(c) for c in name])

    return shown


def _confirmation(ctx: CommandContext, doing: str) -> Callable[[str], bool]:
    """`-w`: a question for every file; the end of the input is a no."""

    def confirm(name: str) -> bool:
        ctx.print(f"{doing} {quote(show(name))}?", end="")
        answer = ctx.stdin.readline()
        if not answer:
            ctx.print()
        return answer[:1] in (b"y", b"Y")

    return confirm


def _tell_totals(ctx: CommandContext, options: TarOptions, what: str, size: int) -> None:
    if not any(key == "totals" and not value for key, value in options.args.given):
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

    args = options.args
    ignore_zeros = args.flag("ignore-zeros")
    start = args.value("starting-file")
    first = True
    omitted = args.flag("show-omitted-dirs")
    for member in read_members(archive, warn, ignore_zeros=ignore_zeros):
        ctx.budget.step()
        if first and args.flag("label"):
            _check_label(args.value("label") or "", member, volumes=options.multi_volume)
        first = False
        if member.kind in ("label", "rest"):
            yield member
            continue
        if start not in (None, member.name):
            continue
        start = None
        chosen = choice.match(member.name) and not options.exclusions.match(member.name, ctx.budget)
        if not chosen and omitted and member.kind == "dir":
            ctx.warn(f"{show_in_message(member.name.rstrip('/'))}: Omitting", ctx.status)
        if chosen and options.newer is not None and member.kind != "dir" and member.mtime < options.newer:
            continue
        if chosen:
            yield member


def _is_label(name: str, pattern: str, *, volumes: bool) -> bool:
    patterns = [pattern, f"{pattern} Volume [1-9]*"] if volumes else [pattern]
    return any(compile_glob(text, extglob=False).match(name) for text in patterns)


def _check_label(pattern: str, member: Member, *, volumes: bool) -> None:
    if member.kind != "label":
        raise CommandError(f"Archive not labeled to match {quote(pattern)}\ntar: {_FATAL}", 2)
    if not _is_label(member.name, pattern, volumes=volumes):
        raise CommandError(f"Volume {quote(member.name)} does not match {quote(pattern)}\ntar: {_FATAL}", 2)


def _tell_missing(options: TarOptions, choice: Choice) -> None:
    """Report the operands that no member has the name of."""
    ctx = options.ctx
    missing = choice.missing()
    if missing and choice.looks_like_pattern():
        ctx.warn("Pattern matching characters used in file names", ctx.status)
        ctx.warn("Use --wildcards to enable pattern matching, or --no-wildcards to suppress this warning", ctx.status)
    what = "Required occurrence not found in archive" if options.args.flag("occurrence") else "Not found in archive"
    for name in missing:
        ctx.warn(f"{show_in_message(name)}: {what}", 2)


def _finish_reading(options: TarOptions, archive: ArchiveReader, choice: Choice) -> None:
    _tell_missing(options, choice)
    if archive.failed:
        options.ctx.status = 2


def _list(ctx: CommandContext, options: TarOptions) -> None:
    archive = options.open()
    choice = options.choice()
    listing = _listing(ctx, options, ctx.stdout, options.verbose)
    names = SafeNames(lambda message: ctx.warn(message, ctx.status), options.args.flag("absolute-names"))
    wanted = options.extraction()
    for member in _members(options, archive, choice):
        options.last_directory()
        name = wanted.shape(member.name, names, ctx.budget)
        if member.kind == "dir" and not name.endswith("/"):
            name += "/"
        listing.write(member, name if options.args.flag("show-transformed-names") else member.name)
        if member.is_dump and options.incremental and options.verbose > 1:
            for code, entry in read_dump(archive.dump_of(member)):
                ctx.print(f"{code} {entry}")
            ctx.print()
    if archive.end:
        listing.end(archive.end)
    archive.close()
    _tell_totals(ctx, options, "read", _records(options, archive.position) - archive.changes * options.record)
    _finish_reading(options, archive, choice)


def _extract(ctx: CommandContext, options: TarOptions) -> None:
    archive = options.open(Checkpoints(options, "Read"))
    archive.patient = True
    choice = options.choice()
    wanted = options.extraction()
    extraction = Extraction(ctx, archive, wanted, options.directory)
    listing = _listing(ctx, options, ctx.stderr if wanted.to_stdout else ctx.stdout, options.verbose - 1)
    transformed = options.args.flag("show-transformed-names")
    confirm = _confirmation(ctx, "extract") if options.args.flag("interactive") else None
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
            if name is None or (confirm is not None and not confirm(member.name)):
                continue
            if options.verbose:
                listing.write(member, name if transformed else member.name)
            extraction.extract(member, name)
        archive.close()
    finally:
        extraction.finish()
    _tell_totals(ctx, options, "read", _records(options, archive.position) - archive.changes * options.record)
    _finish_reading(options, archive, choice)


def _compare(ctx: CommandContext, options: TarOptions) -> None:
    archive = options.open()
    choice = options.choice()
    listing = _listing(ctx, options, ctx.stdout, options.verbose - 1)
    for member in _members(options, archive, choice):
        if options.verbose:
            listing.write(member, member.name)
        if member.kind == "label":
            continue
        operand = options.operand_of(choice)
        compare_member(ctx, archive, member, options.last_directory() if operand is None else operand.directory)
    archive.close()
    _finish_reading(options, archive, choice)


def _records(options: TarOptions, size: int) -> int:
    """A size in whole records."""
    return -(-size // options.record) * options.record


def _verify(ctx: CommandContext, options: TarOptions) -> None:
    """`-W`: what was written is compared with the files."""
    archive = ArchiveReader(ctx, open_archive(ctx, options.archive), None)
    for member in read_members(archive, lambda message: ctx.warn(message, ctx.status)):
        if options.verbose:
            ctx.print(f"Verify {show(member.name)}")
        if member.kind != "label":
            compare_member(ctx, archive, member, options.directory)


def _test_label(ctx: CommandContext, options: TarOptions) -> None:
    """`--test-label`: print the label; with operands, whether it is one of them."""
    archive = options.open()
    member = next(read_members(archive, lambda message: ctx.warn(message, ctx.status)), None)
    label = member.name if member is not None and member.kind == "label" else None
    names = [operand.name for operand in options.operands]
    if names:
        ctx.status = int(label is None or not any(_is_label(label, name, volumes=options.multi_volume) for name in names))
    if label is not None and (not names or options.verbose):
        ctx.print(show(label))


def _label(options: TarOptions, volume: int) -> Member | None:
    """The member that names an archive, or one of its volumes."""
    name = options.args.value("label")
    if name is None:
        return None
    if options.multi_volume:
        name += f" Volume {volume}"
    return Member(name, "label", mode=0, mtime=int(options.started) * 1_000_000_000)


def _told_label(options: TarOptions, listing: Listing, volume: int) -> bytes:
    """The header that names an archive, which `-v` tells of; b"" for none."""
    label = _label(options, volume)
    if label is None:
        return b""
    headers = build_headers(label, options.style)
    label.mtime = 0
    if options.verbose:
        listing.write(label, label.name)
    return headers


def _creating(ctx: CommandContext, options: TarOptions) -> Listing:
    """What `-v` writes about members that are added."""
    return _listing(ctx, options, ctx.stderr if options.archive == "-" else ctx.stdout, options.verbose - 1)


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
            raise CommandError(f"{options.archive}: Cannot write: Broken pipe\ntar: Child returned status 2\ntar: {_FATAL}", 2) from None
        raise CommandError(f"{options.archive}: Cannot open: {error.strerror}\ntar: {_FATAL}", 2) from None


def _writer(ctx: CommandContext, options: TarOptions, target: ByteWriter, listing: Listing) -> ArchiveWriter:
    checkpoints = Checkpoints(options, "Write")
    if options.volumes is None or not options.multi_volume:
        return ArchiveWriter(ctx, target, options.format, options.record, checkpoints)
    if options.style.form == "pax":
        raise CommandError(f"archives of several volumes are not written with --format=posix in this sandbox\ntar: {_FATAL}", 2)
    from agentsandbox.commands._tar_volumes import VolumeWriter  # few archives have several volumes

    return VolumeWriter(options, options.volumes, target, lambda volume: _told_label(options, listing, volume), checkpoints)


def _add_operands(ctx: CommandContext, options: TarOptions, creation: Creation, listing: Listing) -> None:
    wanted = creation.options
    if options.args.flag("interactive"):
        wanted.confirm = _confirmation(ctx, "add")
    if options.verbose:
        for text in options.dates:
            ctx.warn(text, ctx.status)
    transformed = options.args.flag("show-transformed-names")
    if options.verbose:
        wanted.verbose = lambda member, name: listing.write(member, member.name if transformed else name)
    if options.incremental:
        base = options.operands[0].directory if options.operands else ctx.cwd
        changes = len(options.args.values("directory"))
        if options.snapshot is not None and changes > 1:
            raise UsageError("Only one -C option is allowed with --listed-incremental", 2)
        if options.snapshot is not None and changes and base == ctx.cwd:
            raise UsageError("Using -C option inside file list is not allowed with --listed-incremental", 2)
        snapshot = Snapshot(ctx, options.snapshot, base, fresh=options.level == 0)
        creation.add_changed([(operand.name, operand.directory, operand.recursive) for operand in options.operands], snapshot)
        creation.snapshot = snapshot
    else:
        for operand in options.operands:
            wanted.recursive = operand.recursive
            options.enter(operand)
            creation.add(operand.name, operand.directory)
    options.enter_last()
    options.tell_unused()
    if options.args.flag("check-links"):
        creation.tell_missing_links()


def _create(ctx: CommandContext, options: TarOptions) -> None:
    if not options.operands and not options.args.flag("files-from"):
        raise UsageError("Cowardly refusing to create an empty archive", 2)
    if options.archive == "-" and options.args.flag("verify"):
        raise CommandError(f"Cannot verify stdin/stdout archive\ntar: {_FATAL}", 2)
    wanted = options.creation()
    target, path = _open_target(ctx, options)
    listing = _creating(ctx, options)
    writer = _writer(ctx, options, target, listing)
    creation = Creation(ctx, writer, wanted, path)
    if label := _told_label(options, listing, 1):
        writer.write(label)
    _add_operands(ctx, options, creation, listing)
    writer.finish()
    _tell_totals(ctx, options, "written", writer.size)
    if path is not None and not options.multi_volume:
        target.release()  # type: ignore[attr-defined]
    if options.args.flag("verify"):
        _verify(ctx, options)
    creation.remove_added()
    if creation.snapshot is not None:
        creation.snapshot.write(int(options.started * 1_000_000_000))


def _rewritable(ctx: CommandContext, options: TarOptions, *, create: bool) -> tuple[bytes, str]:
    """The content and path of a plain archive that is to be changed."""
    if options.format is not None:
        raise UsageError("Cannot update compressed archives", 2)
    if options.tape_length or len(options.archives) > 1:
        raise CommandError(f"archives of several volumes cannot be changed in this sandbox\ntar: {_FATAL}", 2)
    if options.archive == "-":
        raise UsageError("Options '-Aru' are incompatible with '-f -'", 2)
    path = posixpath.normpath(posixpath.join(ctx.cwd, options.archive))
    if create and options.archive.endswith("/"):
        raise CommandError(
            f"{options.archive}: Cannot read: Bad file descriptor\ntar: At beginning of tape, quitting now\ntar: {_FATAL}", 2
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
    for member in read_members(archive, lambda message: ctx.warn(message, ctx.status)) if data else ():
        times[member.name.rstrip("/")] = member.mtime // 1_000_000_000
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
        _add_operands(ctx, options, creation, _creating(ctx, options))
        creation.remove_added()
    writer.finish()
    target.release()


def _members_of(ctx: CommandContext, name: str) -> bytes:
    """Another archive without its end."""
    try:
        data = open_archive(ctx, name).read()
    except CommandError as error:
        ctx.warn(error.message.partition("\n")[0], 2)
        return b""
    archive = ArchiveReader(ctx, BytesReader(data), None)
    end = 0
    for _ in read_members(archive, lambda message: ctx.warn(message, ctx.status)):
        archive.skip_rest()
        end = archive.position
    return data[:end]


def _delete(ctx: CommandContext, options: TarOptions) -> None:
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


_FIELD_RANGES = """This tar's snapshot file field ranges are
   (field name      => [ min, max ]):

    nfs             => [ 0, 1 ],
    timestamp_sec   => [ -9223372036854775808, 9223372036854775807 ],
    timestamp_nsec  => [ 0, 999999999 ],
    dev             => [ 0, 18446744073709551615 ],
    ino             => [ 0, 18446744073709551615 ],
"""
_DO = {"T": _test_label, "c": _create, "x": _extract, "t": _list, "r": _append, "u": _append, "A": _append, "d": _compare, "D": _delete}


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
    if args.flag("show-defaults"):
        ctx.print("--format=gnu -f- -b20 --quoting-style=escape --rmt-command=/usr/sbin/rmt --rsh-command=/usr/bin/rsh")
        return 0
    if args.flag("show-snapshot-field-ranges"):
        ctx.print(_FIELD_RANGES)
        return 0
    if args.flag("usage"):
        ctx.print(_short_usage())
        return 0
    if args.flag("version"):
        ctx.print(tar.version(), end="")
        return 0
    options = TarOptions(ctx, args, tar.parser())
    index = args.value("index-file")
    if index is not None:
        options.index = ctx.fs.open(ctx.path(index), "w", permissions=0o666 & ~ctx.umask)
    if not options.action:
        raise UsageError("You must specify one of the '-Acdtrux', '--delete' or '--test-label' options", 2)
    if options.multi_volume or args.flag("volno-file"):
        from agentsandbox.commands._tar_volumes import Volumes  # few archives have several volumes

        options.volumes = Volumes(options)
    try:
        _DO[options.action](ctx, options)
    except TarFormatError as error:
        ctx.warn(error.message, 2)
        if error.fatal:
            raise CommandError(_FATAL, 2) from None
        if options.action in ("x", "t", "d"):
            _tell_missing(options, options.choice())
    finally:
        if options.index is not None:
            options.index.release()  # type: ignore[attr-defined]
    if options.volumes is not None:
        options.volumes.save_number()
    if ctx.status == 2:
        ctx.warn(_EXITING, 2)
    return ctx.status


def _short_usage() -> str:
    """One line of all letters and long options."""
    known = tar.parser()
    letters = "".join([letter for letter, option in known.short.items() if not option.takes])
    valued = " ".join([f"[-{letter} VALUE]" for letter, option in known.short.items() if option.takes])
    long = " ".join([f"[--{name}{'=VALUE' if option.takes else ''}]" for name, option in known.long.items()])
    return f"Usage: tar [-{letters}] {valued} {long} [FILE]..."


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
