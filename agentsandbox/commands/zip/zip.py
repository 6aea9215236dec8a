"""`zip` (Info-ZIP): make and change zip archives."""

from __future__ import annotations

import posixpath

from agentsandbox.commands._files.compressed_files import LEVELS
from agentsandbox.commands.zip.archive import Archive, FailureError
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LISTS = {"-i": "-i", "--include": "-i", "-x": "-x", "--exclude": "-x"}
_MEANINGS = {"-i": "include only files matching patterns", "-x": "exclude files matching patterns"}
_RELEASE = """\
A command of agentsandbox, written to behave like the release that calls itself so:
This is Zip 3.0 (July 5th 2008), by Info-ZIP."""


def _wrong(problem: str) -> FailureError:
    return FailureError(f"Invalid command arguments ({problem})", 16)


def _cut_lists(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the words without the lists of -i and -x, which end at an option or "@", and those."""
    kept: list[str] = []
    lists: dict[str, list[str]] = {"-i": [], "-x": []}
    current = kept
    for at, word in enumerate(words):
        name, equals, pattern = word.partition("=")
        if word == "--":
            kept += words[at:]
            break
        if word in _LISTS:
            current = lists[_LISTS[word]]
            if at + 1 == len(words):
                meaning = _MEANINGS[_LISTS[word]]
                raise _wrong(f"option '{word.lstrip('-')}' ({meaning}) requires a value")
        elif word.startswith("--") and equals and name in _LISTS:
            lists[_LISTS[name]].append(pattern)
            current = kept
        elif word[:2] in lists:
            lists[word[:2]].append(word[2:].removeprefix("="))
        elif current is not kept and word == "@":
            current = kept
        elif current is not kept and word.startswith("-") and len(word) > 1:
            current = kept
            kept.append(word)
        else:
            current.append(word)
    return kept, lists["-i"], lists["-x"]


def _refusal(error: UsageError) -> FailureError:
    """Return the error for an option that `zip` does not know here."""
    long = error.message.partition("'--")[2].rstrip("'")
    short = error.message.rpartition("-- '")[2].rstrip("'")
    what = f"long option '{long}'" if long else f"short option '{short}'"
    return _wrong(f"{what} not supported")


@command(
    "zip",
    manners=Manners(write_error=SILENT),
    usage=f"""
Usage: zip [-options] [zipfile list] [-xi list]
Add files of the list to zipfile, or replace them in it; "-" for standard input or output.

  -d, --delete          delete entries in zipfile
  -D, --no-dir-entries  do not add directory entries
  -i, --include         include only the following names
  -j, --junk-paths      do not record directory names
  -m, --move            move into zipfile (delete files)
  -q, --quiet           quiet operation
  -r, --recurse-paths   recurse into directories
  -T, --test            test zipfile integrity
  -u, --update          only changed or new files
  -v, --verbose         verbose operation; alone it shows the release that this command follows
      --version         show that release
  -x, --exclude         exclude the following names
  -X, --strip-extra     exclude extra file attributes
  -y, --symlinks        store symbolic links as the link, not what it points to
  -@, --names-stdin     read names from standard input
  -0                    store only
  -1                    compress faster
{LEVELS}  -9                    compress better
  -h, --help            show this help
""",
    raw=True,
)
def zip(ctx: CommandContext, args: Arguments) -> int:
    archive = ""
    try:
        words, include, exclude = _cut_lists(args.operands)
        try:
            options = zip.parser().parse(words)
        except UsageError as error:
            raise _refusal(error) from None
        if words in (["-v"], ["--version"]):
            ctx.print(_RELEASE)
            return 0
        if options.flag("help"):
            ctx.print(zip.usage, end="")
            return 0
        if "--" in words and not any(word[:1] != "-" for word in words[: words.index("--")]):
            raise _wrong("can't use -- before archive name")
        if len(options.operands) < 2 and (include or exclude) and not options.flag("update"):
            raise _wrong("nothing to select from")
        if options.flag("delete") and options.operands[:1] in ([], ["-"]):
            raise _wrong("can't use -d, -f, -u, -U, or -g on stdout\n")
        names = options.operands[1:] if words else ["-"]
        archive = options.operands[0] if options.operands else "-"
        if options.flag("names-stdin"):
            for line in ctx.stdin.lines():
                ctx.budget.step()
                names.append(decode(line.rstrip(b"\n")))
        if archive != "-" and "." not in posixpath.basename(archive):
            archive += ".zip"
        return Archive(ctx, options, archive, include, exclude, words).run(names)
    except FailureError as failure:
        target = ctx.stderr if archive == "-" else ctx.stdout
        target.write(encode(f"\nzip error: {failure.message}\n"))
        return failure.status
