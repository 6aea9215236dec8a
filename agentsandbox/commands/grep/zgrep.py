"""`zgrep`: what gzip makes of files, given to grep one after the other."""

from __future__ import annotations

import re

from agentsandbox.commands._files.gzip_files import Gzip, GzipOptions
from agentsandbox.commands._text.lines import read_all
from agentsandbox.commands.grep.grep import run_grep
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import SILENT, Manners
from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import Buffer, BytesReader, decode, encode

_PATH = "/usr/bin/zgrep"
"""How the script of gzip calls itself in messages, with lines of its own."""
_WITH_VALUE = frozenset("efmABCDX")
_LONG_WITH_VALUE = frozenset({"--binary-files", "--file", "--label", "--max-count", "--regexp"})
_REFUSED = frozenset("drRzZ")
_REFUSED_LONG = re.compile("--(?:dir|exc|inc|nu|rec)")


class _Words:
    """The words of the command: `options` for grep, whether they hold a pattern, and the other
    words.
    """

    def __init__(self, words: list[str]) -> None:
        self.options: list[str] = []
        self.has_pattern = False
        self.operands: list[str] = []
        self.asked: str | None = None
        """"help" or "version" if that is all that is wanted."""
        self.lists_names = False
        """Whether grep prints names of files only."""
        position = 0
        while position < len(words) and self.asked is None:
            word = words[position]
            position += 1
            if word == "--":
                self.operands += words[position:]
                break
            if word == "-" or not word.startswith("-"):
                self.operands.append(word)
                continue
            self.options.append(word)
            if self._long(word) if word.startswith("--") else self._cluster(word):
                if position == len(words):
                    raise CommandError(f"75: 1: {word} option requires an argument", 2)
                self.options.append(words[position])
                position += 1

    def _long(self, word: str) -> bool:
        """Note what a long option asks for; whether its value is the next word."""
        if _REFUSED_LONG.match(word):
            raise CommandError(f"{word}: option not supported", 2)
        if word.startswith(("--h", "--vers")):
            self.asked = "help" if word.startswith("--h") else "version"
        self.has_pattern |= word.startswith(("--reg", "--file=")) or word == "--file"
        self.lists_names |= word.startswith("--files-with")
        return word in _LONG_WITH_VALUE

    def _cluster(self, word: str) -> bool:
        """The same for letters behind one dash."""
        for at, letter in enumerate(word[1:], 2):
            if letter in _REFUSED:
                raise CommandError(f"-{letter}: option not supported", 2)
            if letter == "V":
                self.asked = "version"
            self.lists_names |= letter in "lL"
            if letter in _WITH_VALUE:
                self.has_pattern |= letter in "ef"
                return at == len(word)
        return False


@command(
    "zgrep",
    manners=Manners(checks_output=True, closed_write_error=SILENT),
    usage="""
    Usage: zgrep [GREP-OPTION]... PATTERN [FILE]...
    Search files for lines that match, as grep does; those that gzip compressed are expanded first.

    Options are those of grep, but for -d, -r, -R, -z, -Z and those that choose among files.

          --help    display this help and exit
    """,
    raw=True,
    usage_status=2,
)
def zgrep(ctx: CommandContext, args: Arguments) -> int:
    ctx.name = _PATH
    words = _Words(args.operands)
    if words.asked == "help":
        ctx.print(zgrep.usage, end="")
        return 0
    if words.asked == "version":
        ctx.print("zgrep (gzip) 1.12")
        return 0
    if not words.has_pattern and not words.operands:
        raise CommandError(f"188: 1: missing pattern; try `{_PATH} --help' for help", 2)
    pattern = [] if words.has_pattern else [words.operands.pop(0)]
    names = words.operands or ["-"]
    options = _with_patterns(ctx, words.options)
    ctx.name = "grep"
    status = 1
    for name in names:
        ctx.budget.step()
        label = [] if name == "-" and not words.lists_names else [f"--label={name}"]
        found = _search(
            ctx, name, [*(["-H"] if len(names) > 1 else []), *label, *options, "--", *pattern, "-"]
        )
        status = 2 if found > 1 or status > 1 else min(status, found)
    return status


def _with_patterns(ctx: CommandContext, options: list[str]) -> list[str]:
    """The options, with the patterns of `-f -` in its place: each file is looked through for
    them.
    """
    if "-f" not in options or options[options.index("-f") + 1] != "-":
        return options
    at = options.index("-f")
    text = decode(read_all(ctx.budget, ctx.stdin))
    return [
        *options[:at],
        *(["-e", text.removesuffix("\n")] if text else ["-f", "/dev/null"]),
        *options[at + 2 :],
    ]


def _search(ctx: CommandContext, name: str, words: list[str]) -> int:
    """Search one file; grep's status, or 2 where gzip fails."""
    stdin, stdout = ctx.stdin, ctx.stdout
    if name == "-" and stdin.unreadable:
        error = stdin.input_error()
        ctx.stderr.write(
            encode(
                f"gzip: standard input: {error.strerror}\n"
                if error.errno == 9
                else f"\ngzip: stdin: {error.strerror}\n"
            )
        )
        return 2
    options = GzipOptions()
    options.decompress = options.stdout = options.force = options.quiet = True
    found = Buffer(ctx.budget.value_bytes)
    ctx.stdout, ctx.status = found, 0
    try:
        failed = Gzip(ctx, options).run([name]) == 1
    finally:
        ctx.stdout, ctx.status = stdout, 0
    ctx.stdin = BytesReader(found.getvalue())
    try:
        status = run_grep(ctx, words)
    except CommandError as error:  # each file has a grep of its own
        ctx.warn(error.message)
        status = error.status
    finally:
        ctx.stdin = stdin
    return 2 if failed else status
