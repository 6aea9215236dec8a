"""`unzip` and `zipinfo` (Info-ZIP): list, test and extract archives, into the directory only."""

# TM-MOUNT-6

from __future__ import annotations

import errno
import os
import posixpath
import re

from agentsandbox.commands.zip.extraction import Unzip
from agentsandbox.commands.zip.format import ZipFormatError, read_members
from agentsandbox.commands.zip.listing import list_long, totals, visible
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.patterns.filenames import compile_glob
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_END = b"PK\5\6"
_NO_ARCHIVE = 9
_NO_SIGNATURE = """\
  End-of-central-directory signature not found.  Either this file is not
  a zipfile, or it constitutes one disk of a multi-part archive.  In the
  latter case the central directory and zipfile comment will be found on
  the last disk(s) of this archive.
"""
_NOT_FOUND = """\
unzip:  cannot find zipfile directory in one of {0} or
        {0}.zip, and cannot find {1}.ZIP, period.
"""
_COUNTS = (
    ("archive was successfully processed.", "archives were successfully processed."),
    ("archive had warnings but no fatal errors.", "archives had warnings but no fatal errors."),
    ("archive had fatal errors.", "archives had fatal errors."),
    ("file had no zipfile directory.", "files had no zipfile directory."),
)
_RELEASE = (
    "UnZip 6.00 of 20 April 2009: a command of agentsandbox, written to behave like this release."
)


def _find(ctx: CommandContext, name: str) -> list[str]:
    """Return the archives that a name means, with or without its suffix, or as a pattern."""
    for candidate in (name, f"{name}.zip", f"{name}.ZIP"):
        if candidate and ctx.fs.is_file(ctx.path(candidate)):
            if ctx.fs.access(ctx.path(candidate), 4):
                return [candidate]
            reason = os.strerror(errno.EACCES)
            what = f"error:  cannot open zipfile [ {candidate} ]\n        {reason}\n"
            ctx.stderr.write(encode(what))
            return []
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


def _warn_no_signature(ctx: CommandContext, options: Arguments, found: str, text: str) -> None:
    """Report a file that is not an archive; with -q or -p its name is part of the message."""
    out = ctx.stdout if options.flag("t") else ctx.stderr
    if options.flag("p") or options.flag("q"):
        out.write(encode(f"[{found}]\n"))
    else:
        ctx.print(f"Archive:  {found}")
    out.write(encode(_NO_SIGNATURE if options.flag("p") else _NO_SIGNATURE + text))


def _unzip_one(
    ctx: CommandContext, options: Arguments, found: str, data: bytes, excluded: Sequence[str]
) -> int:
    """List, test or extract one archive."""
    ctx.status = 0
    unzipped = Unzip(ctx, options, found, data)
    try:
        return unzipped.run(options.operands[1:], excluded)
    except ZipFormatError as error:
        if error.problem == "signature":
            name = options.operands[0]
            upper = found if "*" in name or "?" in name else name
            text = _NOT_FOUND.replace("{0}", name).replace("{1}", upper)
            _warn_no_signature(ctx, options, found, text)
            return _NO_ARCHIVE
        unzipped.out("" if options.flag("p") else f"Archive:  {found}\n")
        return unzipped.report_damage(0, ctx.stdout if options.flag("t") else ctx.stderr)


def _unzip_several(
    ctx: CommandContext, options: Arguments, found: Sequence[str], excluded: Sequence[str]
) -> int:
    """Work on all archives that a pattern matches, and count them."""
    statuses: list[int] = []
    silent = options.flag("p") or options.flag("q")
    for name in found:
        ctx.budget.step()
        data = ctx.fs.read_bytes(ctx.path(name))
        if statuses and statuses[-1] != _NO_ARCHIVE and not silent:
            ctx.print()
        if _END in data or len(found) == 1:
            statuses.append(_unzip_one(ctx, options, name, data, excluded))
        else:
            _warn_no_signature(ctx, options, name, "")
            statuses.append(_NO_ARCHIVE)
    damaged = sum(status not in (0, 1, _NO_ARCHIVE) for status in statuses)
    counts = [statuses.count(0), statuses.count(1), damaged, statuses.count(_NO_ARCHIVE)]
    out = ctx.stdout if options.flag("t") else ctx.stderr
    if len(statuses) > 1 and not options.flag("p"):
        out.write(b"\n")
        for count, words in zip(counts, _COUNTS, strict=True):
            if count:
                out.write(encode(f"{count} {words[count > 1]}\n"))
    if not any(counts[:3]):
        out.write(b"No zipfiles found.\n" if len(statuses) > 1 else b"\nNo zipfiles found.\n")
    return max(statuses)


def _cut_excluded(options: Arguments) -> list[str]:
    """Take from the operands the patterns after -x, and the first -d, which may follow operands."""
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
      -l         list files (short format)
      -v         alone: the release that this command follows
      -t         test compressed archive data
      -x         exclude the files that follow
      -d EXDIR   extract files into EXDIR
      -n         never overwrite existing files
      -o         overwrite files WITHOUT prompting
      -q         quiet mode (-qq for quieter)
      -j         junk paths (do not make directories)
      -Z         ZipInfo mode: must be the first option
      -h         display this help and exit
    """,
    raw=True,
    permute=False,
)
def unzip(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    if words and words[0].startswith("-Z"):
        letters = words[0][2:]
        ctx.words = [*([f"-{letters}"] if letters else []), *words[1:]]
        return zipinfo.run(ctx)
    if words == ["-v"]:
        ctx.print(_RELEASE)
        return 0
    try:
        options = unzip.parser().parse(words)
        if options.flag("v"):
            raise UsageError("-v of an archive is not available here: use unzip -l or zipinfo")
        excluded = _cut_excluded(options)
    except UsageError as error:
        text = f"{error.message}\n{unzip.usage}"
        if error.message.startswith("option requires"):
            text = "must specify directory to which to extract with -d option\n"
        ctx.stderr.write(encode(f"error:  {text}"))
        return 10
    if options.flag("h") or not words:
        ctx.print(unzip.usage, end="")
        return 0
    if not options.operands:
        ctx.stderr.write(encode(unzip.usage))
        return 10
    name = options.operands[0]
    found = _find(ctx, name)
    if len(found) == 1 and found[0] in (name, f"{name}.zip", f"{name}.ZIP"):
        return _unzip_one(ctx, options, found[0], ctx.fs.read_bytes(ctx.path(found[0])), excluded)
    if found:
        return _unzip_several(ctx, options, found, excluded)
    out = ctx.stdout if options.flag("t") else ctx.stderr
    if not options.flag("p"):
        out.write(encode(f"unzip:  cannot find or open {name}, {name}.zip or {name}.ZIP.\n"))
    if re.search(r"[*?\[]", name):
        ctx.stderr.write(b"\nNo zipfiles found.\n")
    return _NO_ARCHIVE


@command(
    "zipinfo",
    manners=Manners(write_error=SILENT),
    usage="""
    Usage: zipinfo [-1] file[.zip] [list] [-x xlist]
    List a zip archive in the manner of "ls -l".

      -1         names only
      -x         exclude the files that follow
    """,
    raw=True,
    permute=False,
)
def zipinfo(ctx: CommandContext, args: Arguments) -> int:
    try:
        options = zipinfo.parser().parse(args.operands)
        excluded = _cut_excluded(options)
    except UsageError as error:
        ctx.stderr.write(encode(f"error:  {error.message}\n{zipinfo.usage}"))
        return 10
    if not options.operands:
        ctx.print(zipinfo.usage, end="")
        return 0
    name = options.operands[0]
    found = _find(ctx, name)
    if not found:
        ctx.print(f"{ctx.name}:  cannot find or open {name}, {name}.zip or {name}.ZIP.")
        return _NO_ARCHIVE
    for place, archive in enumerate(found):
        if place:
            ctx.print()
        _inform(ctx, options, archive, excluded)
    if len(found) > 1 and not options.flag("1"):
        ctx.print(f"\n{len(found)} archives were successfully processed.")
    return ctx.status


def _inform(ctx: CommandContext, options: Arguments, found: str, excluded: Sequence[str]) -> None:
    """List one archive: header, members and totals; only the members if some are chosen."""
    data = ctx.fs.read_bytes(ctx.path(found))
    unzipped = Unzip(ctx, options, found, data)
    names, bare = options.operands[1:], options.flag("1")
    whole = not names and not excluded and not bare
    out = ctx.stdout if whole else ctx.stderr
    try:
        entries, _, count = read_members(data, ctx.budget, unzipped.zone)
    except ZipFormatError as error:
        if whole:
            ctx.print(f"Archive:  {found}")
        if error.problem != "signature":
            unzipped.report_damage(0, out)
            return
        name = options.operands[0]
        text = _NOT_FOUND.replace("{0}", name).replace("{1}", name)
        text = text.replace("unzip:", "zipinfo:").replace("  " * 4, "  " * 5)
        out.write(encode(f"[{found}]\n{_NO_SIGNATURE}{text}"))
        ctx.status = _NO_ARCHIVE
        return
    chosen, missing = unzipped.choose(entries, names, excluded)
    if whole:
        ctx.print(f"Archive:  {found}")
        ctx.print(f"Zip file size: {len(data)} bytes, number of entries: {count}")
    unzipped.check_start(entries, out)
    if not entries:
        if count:
            unzipped.report_damage(0, out)
        else:
            ctx.print("Empty zipfile.")
            ctx.status = 1
        return
    if bare:
        ctx.stdout.write(encode("".join([f"{visible(entry.name)}\n" for entry in chosen])))
    else:
        list_long(chosen, unzipped.zone, ctx.print)
    if len(entries) != count:
        unzipped.report_damage(len(entries) + 1, out)
        return
    if whole:
        ctx.print(totals(chosen))
    if not chosen:
        ctx.status = 11
    for name in missing:
        unzipped.warn(f"caution: filename not matched:  {name}\n", 11)
