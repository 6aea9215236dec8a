"""`zip` (Info-ZIP): make and change zip archives."""

from __future__ import annotations

import posixpath

from agentsandbox.commands.zip.archive import Archive, FailureError
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


_MEANINGS = {
    "i": "include only files matching patterns",
    "x": "exclude files matching patterns",
    "n": "suffixes to not compress: .gz:.zip",
}


def _value_missing(name: str, letters: str) -> FailureError:
    """The option needs a value, be it spelled as it is."""
    return FailureError(
        f"Invalid command arguments (option '{name}' ({_MEANINGS[letters]}) requires a value)", 16
    )


def _cut_lists(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """The words without the lists of -x and -i (up to the next option or "@"), and those lists."""
    kept: list[str] = []
    lists: dict[str, list[str]] = {"-x": [], "-i": []}
    current = kept
    for at, word in enumerate(words):
        if word == "--":
            return kept + list(words[at:]), lists["-i"], lists["-x"]
        long = {"--exclude": "-x", "--include": "-i"}.get(word, word)
        if long in lists:
            current = lists[long]
            if at + 1 == len(words):
                raise _value_missing(word.lstrip("-"), long[1])
        elif word.startswith(("--exclude=", "--include=")):
            name, _, pattern = word.partition("=")
            lists[f"-{'x' if name == '--exclude' else 'i'}"].append(pattern)
            current = kept
        elif current is not kept and word == "@":
            current = kept
        elif current is not kept and word.startswith("-") and len(word) > 1:
            current = kept
            kept.append(word)
        elif word[:2] in lists and len(word) > 2:
            lists[word[:2]].append(word[2:].removeprefix("="))
        else:
            current.append(word)
    return kept, lists["-i"], lists["-x"]


_RELEASE = """\
A command of agentsandbox, written to behave like the release that calls itself so:
This is Zip 3.0 (July 5th 2008), by Info-ZIP."""
_FLAGS = {
    "d": "delete", "D": "no-dir-entries", "f": "freshen", "j": "junk-paths", "m": "move",
    "q": "quiet", "r": "recurse-paths", "T": "test", "u": "update", "v": "verbose",
    "X": "strip-extra", "y": "symlinks", "@": "names-stdin", "h": "help", "g": "grow",
    "FS": "filesync", "e": "encrypt", "MM": "must-match",
}  # fmt: skip


def _spell_out(words: Sequence[str]) -> list[str]:
    """Short options as long ones: some have two letters, and a value may follow at once, after "="
    or in the next word.
    """
    found: list[str] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            return [*found, word, *reversed(rest)]
        if len(word) < 2 or word[0] != "-" or word[1] == "-":
            found.append(word)
            continue
        at = 1
        while at < len(word):
            size = 2 if word[at : at + 2] in _FLAGS else 1
            letters = word[at : at + size]
            at += size
            if letters == "n":
                value = word[at:].removeprefix("=")
                if not value and not rest:
                    raise _value_missing(letters, letters)
                value = value or rest.pop()
                found.append(f"--suffixes={value}")
                break
            if letters not in _FLAGS and not letters.isdigit():
                raise UsageError(f"invalid option -- '{letters}'")
            found.append(f"--{_FLAGS[letters]}" if letters in _FLAGS else f"-{letters}")
    return found


@command(
    "zip",
    manners=Manners(write_error=SILENT),
    usage="""
    Usage: zip [-options] [zipfile list] [-xi list]
    Add files of the list to zipfile, or replace them in it; "-" for standard input or output.

      -d, --delete          delete entries in zipfile
      -D, --no-dir-entries  do not add directory entries
      -e, --encrypt         refused: there is no terminal to ask for a password
      -f, --freshen         only changed files
          --filesync        (-FS) only changed or new files, and delete entries without a file
      -g, --grow            accepted: it makes no difference to the archive
      -i, --include         include only the following names
      -j, --junk-paths      do not record directory names
      -m, --move            move into zipfile (delete files)
          --must-match      (-MM) every name must be that of a file
      -n, --suffixes=LIST   do not compress files with these suffixes (.gz:.png)
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
      -2                    a level between
      -3                    a level between
      -4                    a level between
      -5                    a level between
      -6                    the default
      -7                    a level between
      -8                    a level between
      -9                    compress better
      -h, --help            show this help
    """,
    raw=True,
)
def zip(ctx: CommandContext, args: Arguments) -> int:
    try:
        words, include, exclude = _cut_lists(args.operands)
        options = zip.parser().parse(_spell_out(words))
    except UsageError as error:
        long = error.message.partition("'--")[2].rstrip("'")
        short = error.message.rpartition("-- '")[2].rstrip("'")
        what = (
            f"long option '{long}' not supported"
            if long
            else f"short option '{short}' not supported"
        )
        ctx.stdout.write(encode(f"\nzip error: Invalid command arguments ({what})\n"))
        return 16
    except FailureError as failure:
        ctx.stdout.write(encode(f"\nzip error: {failure.message}\n"))
        return failure.status
    if words in (["-v"], ["--version"]):
        ctx.print(_RELEASE)
        return 0
    if "--" in words and not any(word[:1] != "-" for word in words[: words.index("--")]):
        ctx.stdout.write(
            b"\nzip error: Invalid command arguments (can't use -- before archive name)\n"
        )
        return 16
    if options.flag("help"):
        ctx.print(zip.usage, end="")
        return 0
    if not options.operands and (include or exclude):
        ctx.stdout.write(b"\nzip error: Invalid command arguments (nothing to select from)\n")
        return 16
    names = options.operands[1:] if words else ["-"]
    archive = options.operands[0] if options.operands else "-"
    if options.flag("names-stdin"):
        for line in ctx.stdin.lines():
            ctx.budget.step()
            names.append(decode(line.rstrip(b"\n")))
    if archive != "-" and "." not in posixpath.basename(archive):
        archive += ".zip"
    try:
        return Archive(ctx, options, archive, include, exclude, words).run(names)
    except FailureError as failure:
        target = ctx.stderr if archive == "-" else ctx.stdout
        target.write(encode(f"\nzip error: {failure.message}\n"))
        return failure.status
