"""`unzip` (Info-ZIP): list, test and extract zip archives, into the directory and nowhere else."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.commands.zip.extraction import Unzip
from agentsandbox.commands.zip.format import ZipFormatError, read_members
from agentsandbox.commands.zip.listing import list_long, totals, visible
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.patterns.filenames import compile_glob
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.streams import ByteWriter

_END = b"PK\5\6"
_NO_ARCHIVE = 9
_NO_SIGNATURE = """\
  End-of-central-directory signature not found.  Either this file is not
  a zipfile, or it constitutes one disk of a multi-part archive.  In the
  latter case the central directory and zipfile comment will be found on
  the last disk(s) of this archive.
unzip:  cannot find zipfile directory in one of {0} or
        {0}.zip, and cannot find {1}.ZIP, period.
"""
_COUNTS = (
    ("archive was successfully processed.", "archives were successfully processed."),
    ("archive had warnings but no fatal errors.", "archives had warnings but no fatal errors."),
    ("archive had fatal errors.", "archives had fatal errors."),
    ("file had no zipfile directory.", "files had no zipfile directory."),
)


def _open(ctx: CommandContext, name: str) -> tuple[str, bytes] | None:
    for candidate in (name, f"{name}.zip", f"{name}.ZIP"):
        try:
            if ctx.fs.is_file(ctx.path(candidate)):
                return candidate, ctx.fs.read_bytes(ctx.path(candidate))
        except OSError:
            continue
    return None


def _matching(ctx: CommandContext, name: str) -> list[str]:
    """The files that a name with wildcards stands for."""
    directory, base = posixpath.split(name)
    if not re.search(r"[*?\[]", base):
        return []
    pattern = compile_glob(base, extglob=False)
    try:
        entries = ctx.fs.listdir(ctx.path(directory or "."))
    except OSError:
        return []
    found = [
        posixpath.join(directory, entry)
        for entry in entries
        if pattern.match(entry) and not entry.startswith(".")
    ]
    return [entry for entry in found if ctx.fs.is_file(ctx.path(entry))]


def _tell_no_signature(ctx: CommandContext, options: Arguments, found: str, text: str) -> None:
    """Say that an archive is none; with -q or -p the name stands with the reason."""
    out = ctx.stdout if options.flag("t") else ctx.stderr
    if options.flag("p") or options.flag("q"):
        text = f"[{found}]\n{text}"
    else:
        ctx.print(f"Archive:  {found}")
    out.write(encode(text.partition("unzip:")[0] if options.flag("p") else text))


def _one(
    ctx: CommandContext,
    options: Arguments,
    name: str,
    opened: tuple[str, bytes],
    excluded: Sequence[str],
) -> int:
    """Do what the options say to one archive, which the operand calls `name`."""
    found, data = opened
    ctx.status = 0
    unzipped = Unzip(ctx, options, found, data)
    try:
        return unzipped.run(options.operands[1:], excluded)
    except ZipFormatError as error:
        if error.problem == "signature":
            text = _NO_SIGNATURE.replace("{0}", name).replace(
                "{1}", found if "*" in name or "?" in name else name
            )
            _tell_no_signature(ctx, options, found, text)
            return 9
        ctx.stdout.write(
            encode(
                f"Archive:  {found}\n" if not options.flag("p") and not options.flag("q") else ""
            )
        )
        return unzipped.tell_broken(0, ctx.stdout if options.flag("t") else ctx.stderr)


def _several(
    ctx: CommandContext, options: Arguments, name: str, matches: list[str], excluded: Sequence[str]
) -> int:
    """Do it to all archives that match, and count."""
    statuses: list[int] = []
    archives = [(match, ctx.fs.read_bytes(ctx.path(match))) for match in matches]
    told = len(archives) == 1
    for archive in archives:
        ctx.budget.step()
        if (
            statuses
            and statuses[-1] != _NO_ARCHIVE
            and not options.flag("p")
            and not options.flag("q")
        ):
            ctx.print()
        if _END in archive[1] or told:
            statuses.append(_one(ctx, options, name, archive, excluded))
        else:
            _tell_no_signature(ctx, options, archive[0], _NO_SIGNATURE.partition("unzip:")[0])
            statuses.append(_NO_ARCHIVE)
    counts = [
        statuses.count(0),
        statuses.count(1),
        sum(status not in (0, 1, 9) for status in statuses),
        statuses.count(9),
    ]
    lines = [
        f"{count} {one if count == 1 else many}\n"
        for count, (one, many) in zip(counts, _COUNTS, strict=True)
        if count
    ]
    out = ctx.stdout if options.flag("t") else ctx.stderr
    if len(statuses) > 1 and not options.flag("p"):
        out.write(encode("\n" + "".join(lines)))
    if not any(counts[:3]):
        out.write(b"No zipfiles found.\n" if len(statuses) > 1 else b"\nNo zipfiles found.\n")
    return max(statuses)


def _members(options: Arguments) -> list[str]:
    """Take from the operands what stands behind -x: the patterns of members to leave out. The first
    -d there is still one.
    """
    if not options.operands:
        return []
    archive, *rest = options.operands
    chosen: list[str] = []
    excluded: list[str] = []
    target: list[str] | None = chosen
    at = 0
    while at < len(rest):
        word = rest[at]
        at += 1
        if word.startswith("-d") and not options.flag("d"):
            if word == "-d":
                if at == len(rest):
                    raise UsageError("option requires an argument -- 'd'")
                word = "-d" + rest[at]
                at += 1
                target = chosen if at == 2 else None
            else:
                target = chosen if at == 1 else None
            options.given.append(("d", word[2:]))
        elif word == "-x" and target is not excluded:
            target = excluded
        elif target is not None:
            target.append(word)
    options.operands[:] = [archive, *chosen]
    return excluded


@command(
    "unzip",
    manners=Manners(write_error=SILENT),
    usage="""
    Usage: unzip [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]
    Extract files in list, except those in xlist, to exdir.

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
      -X         accepted: there is one user
      -C         match filenames case-insensitively
      -Z         ZipInfo mode: must be the first option
      -h         display this help and exit
    """,
    raw=True,
    permute=False,
)
def unzip(ctx: CommandContext, args: Arguments) -> int:
    if args.operands and args.operands[0].startswith("-Z"):
        letters = args.operands[0][2:]
        ctx.words = [*([f"-{letters}"] if letters else []), *args.operands[1:]]
        return zipinfo.run(ctx)
    words = args.operands
    try:
        options = unzip.parser().parse(words)
        excluded = _members(options)
    except UsageError as error:
        if error.message.startswith("option requires"):
            ctx.stderr.write(b"error:  must specify directory to which to extract with -d option\n")
        else:
            ctx.stderr.write(encode(f"error:  {error.message}\n{unzip.usage}"))
        return 10
    if words == ["-v"]:
        ctx.print(
            "UnZip 6.00 of 20 April 2009: a command of agentsandbox, written to behave like this release."
        )
        return 0
    if options.flag("h") or not words:
        ctx.print(unzip.usage, end="")
        return 0
    if not options.operands:
        ctx.stderr.write(encode(unzip.usage))
        return 10
    name = options.operands[0]
    opened = _open(ctx, name)
    if opened is not None:
        return _one(ctx, options, name, opened, excluded)
    matches = _matching(ctx, name)
    if not matches:
        out = ctx.stdout if options.flag("t") else ctx.stderr
        if not options.flag("p"):
            out.write(encode(f"unzip:  cannot find or open {name}, {name}.zip or {name}.ZIP.\n"))
        if re.search(r"[*?\[]", name):
            ctx.stderr.write(b"\nNo zipfiles found.\n")
        return 9
    return _several(ctx, options, name, matches, excluded)


@command(
    "zipinfo",
    manners=Manners(write_error=SILENT),
    usage="""
    Usage: zipinfo [-12smlChtz] file[.zip] [list] [-x xlist]
    List a zip archive in the manner of "ls -l".

      -1         names only
      -2         names only, but -h, -t and -z are allowed
      -s         short lines (default)
      -m         medium lines: with the part saved
      -l         long lines: with the compressed size
      -h         a header line
      -t         totals
      -z         the archive's comment
      -C         match filenames case-insensitively
      -x         exclude the files that follow
    """,
    raw=True,
    permute=False,
)
def zipinfo(ctx: CommandContext, args: Arguments) -> int:
    try:
        options = zipinfo.parser().parse(args.operands)
        excluded = _members(options)
    except UsageError as error:
        ctx.stderr.write(encode(f"error:  {error.message}\n{zipinfo.usage}"))
        return 10
    if not options.operands:
        ctx.print(zipinfo.usage, end="")
        return 0
    name = options.operands[0]
    opened = _open(ctx, name)
    if opened is None and (matches := _matching(ctx, name)):
        for place, match in enumerate(matches):
            if place:
                ctx.print()
            _inform(ctx, options, name, (match, ctx.fs.read_bytes(ctx.path(match))), excluded)
        if len(matches) > 1 and options.last("1", "2", "s", "m", "l") not in ("1", "2"):
            ctx.print(f"\n{len(matches)} archives were successfully processed.")
        return ctx.status
    if opened is None:
        ctx.print(f"{ctx.name}:  cannot find or open {name}, {name}.zip or {name}.ZIP.")
        return 9
    return _inform(ctx, options, name, opened, excluded)


def _inform(
    ctx: CommandContext,
    options: Arguments,
    name: str,
    opened: tuple[str, bytes],
    excluded: Sequence[str],
) -> int:
    """Tell of one archive, which the operand calls `name`."""
    found, data = opened
    unzipped = Unzip(ctx, options, found, data)
    form = options.last("1", "2", "s", "m", "l") or ""
    whole = not options.operands[1:] and not excluded and form not in ("1", "2")
    out = (
        ctx.stdout
        if options.flag("t") or (whole and (form or not options.flag("h")))
        else ctx.stderr
    )
    try:
        return _show_info(ctx, options, unzipped, excluded, out)
    except ZipFormatError as error:
        if form != "1" and (options.flag("h") or (whole and not options.flag("t"))):
            ctx.print(f"Archive:  {found}")
        if error.problem != "signature":
            return unzipped.tell_broken(0, out)
        text = (
            _NO_SIGNATURE.replace("{0}", name)
            .replace("{1}", name)
            .replace("unzip:", "zipinfo:")
            .replace("  " * 4, "  " * 5)
        )
        out.write(encode(f"[{found}]\n{text}"))
        return 9


def _show_info(
    ctx: CommandContext,
    options: Arguments,
    unzipped: Unzip,
    excluded: Sequence[str],
    out: ByteWriter,
) -> int:
    """Header, members and totals, as the options and operands ask for them."""
    name, data = unzipped.name, unzipped.data
    entries, comment, count = read_members(data, ctx.budget, unzipped.zone)
    complete = len(entries) == count
    names = options.operands[1:]
    chosen, missing = unzipped.choose(entries, names, excluded)
    form = options.last("1", "2", "s", "m", "l") or ""
    extras = options.flag("h"), options.flag("t")
    whole = not names and not excluded and form != "2" and (not any(extras) or bool(form))
    bare = not form and any(extras) and not names and not excluded
    headed = form != "1" and (extras[0] or whole)
    if headed:
        ctx.print(f"Archive:  {name}")
    if form != "1" and options.flag("z") and comment:
        ctx.print(decode(comment.replace(b"\r\n", b"\n")))
    if headed:
        ctx.print(f"Zip file size: {len(data)} bytes, number of entries: {count}")
    unzipped.check_start(entries, out)
    if not entries and not complete:
        return unzipped.tell_broken(0, out)
    if not entries:
        ctx.print("Empty zipfile.")
        return 1
    if form in ("1", "2"):
        ctx.stdout.write(encode("".join([f"{visible(entry.name)}\n" for entry in chosen])))
    elif not bare:
        list_long(chosen, unzipped.zone, form or "s", ctx.print)
    if not complete:
        return unzipped.tell_broken(len(entries) + 1, out)
    if form != "1" and (extras[1] or whole):
        ctx.print(totals(chosen))
    for name in missing:
        unzipped.warn(f"caution: filename not matched:  {name}\n", 11)
    return ctx.status
