"""`awk` (POSIX 1003.1-2017, gawk 5.2): scan and transform text by patterns and actions."""

from __future__ import annotations

import re

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_USAGE = """
Usage: awk [OPTION]... 'PROGRAM' [FILE | VAR=VALUE]...
  or:  awk [OPTION]... -f PROGFILE [FILE | VAR=VALUE]...
Run an awk program over each FILE, or over standard input.

  -f, --file=PROGFILE         read the program from PROGFILE; may be repeated
  -F, --field-separator=FS    the field separator
  -v, --assign=VAR=VALUE      assign VAR before BEGIN
  -b, --characters-as-bytes   take each byte for a character
  -e, --source=TEXT           program text, also beside -f
  -i, --include=inplace       edit each FILE in place
  -r, --re-interval           allow {n,m} in regular expressions (the default)
  -V, --version               print the version and exit
  -h, --help                  display this help and exit
"""


_LETTERS = {"f": "file", "F": "field-separator", "v": "assign", "e": "source", "i": "include"}
_PARSER = OptionParser(_USAGE, permute=False, usage_status=1)
_LETTER = re.compile(
    r"option (?:'--(?P<long>[a-z-]+)' requires an argument|requires an argument -- '(?P<letter>.)')"
)


_REFUSED = frozenset("CDEILMNOPSYcdgklnopst")
_REFUSED_WORDS = (
    "bignum copyright debug dump-variables exec gen-pot lint lint-old load no-optimize non-decimal-data optimize posix "
    "pretty-print profile sandbox trace traditional use-lc-numeric"
).split()
_UNKNOWN = re.compile(
    r"(?:invalid option -- '(?P<letter>.)'|unrecognized option '--(?P<long>[a-z-]+)(?:=.*)?')$",
    re.DOTALL,
)


def _read_options(words: Sequence[str]) -> Arguments:
    """The options. Where the program is in a file, an option that gawk does not know is the first
    operand: scripts may have their own.
    """
    try:
        return _PARSER.parse(words)
    except UsageError:
        for at, word in enumerate(words):
            if not _is_unknown(word):
                continue
            try:
                args = _PARSER.parse(words[:at])
            except UsageError:  # it is the value of the option before it
                continue
            if args.operands or not any(key in ("file", "source") for key, _ in args.given):
                break
            args.operands.extend(words[at:])
            return args
        raise


def _is_unknown(word: str) -> bool:
    """Whether the word is an option that gawk does not have."""
    if word.startswith("--"):
        name = word[2:].partition("=")[0]
        return bool(name) and f"--{name}" not in _USAGE and not _is_refused(None, name)
    return (
        word[:1] == "-"
        and len(word) > 1
        and not _is_refused(word[1], None)
        and f"  -{word[1]}," not in _USAGE
    )


def _is_refused(letter: str | None, name: str | None) -> bool:
    """Whether gawk has an option that is not available here."""
    return (
        letter in _REFUSED
        if letter
        else any(known.startswith(name or "\n") for known in _REFUSED_WORDS)
    )


def _run(ctx: CommandContext, args: Arguments) -> int:
    try:
        return _run_words(ctx, _read_options(args.operands))
    except UsageError as error:
        message = error.message
        if (unknown := _UNKNOWN.match(message)) is not None and _is_refused(
            unknown["letter"], unknown["long"]
        ):
            shown = f"-{unknown['letter']}" if unknown["letter"] else f"--{unknown['long']}"
            raise CommandError(f"gawk's option {shown} is not available here", 1) from None
        found = _LETTER.match(message)
        if found is not None:
            letter = found["letter"] or next(
                (known for known, name in _LETTERS.items() if name == found["long"]), ""
            )
            message = f"option requires an argument -- {letter}"
        ctx.stderr.write(
            encode((f"{ctx.name}: {message}\n" if message else "") + _USAGE.lstrip("\n"))
        )
        return 1


def _run_words(ctx: CommandContext, args: Arguments) -> int:
    from agentsandbox.commands.awk.program import run_program

    if args.flag("version"):
        ctx.print("GNU Awk 5.2.1, as agentsandbox understands it")
        return 0
    if args.flag("help"):
        ctx.stdout.write(encode(awk.usage))
        return 0
    sources: list[tuple[bool, str]] = []
    variables: list[str] = []
    inplace = False
    for key, value in args.given:
        text = value or ""
        if key == "file":
            sources.append((True, text))
        elif key == "source":
            sources.append((False, text))
        elif key == "include" and text in ("inplace", "inplace.awk"):
            inplace = True
        elif key == "include":
            raise CommandError(f"gawk's option -i {text} is not available here", 1)
        elif key == "assign":
            if "=" not in text:
                raise UsageError(f"`{text}' argument to `-v' not in `var=value' form\n")
            variables.append(text)
        elif key == "field-separator":
            lone = (len(text) - len(text.rstrip("\\"))) % 2  # -v would drop it
            variables.append(f"FS={text}" + "\\" * lone)
    operands = list(args.operands)
    if not any(key in ("file", "source") for key, _ in args.given):
        if not operands:
            raise UsageError("")
        sources.append((False, operands.pop(0)))
    return run_program(
        ctx,
        sources,
        variables,
        operands,
        inplace=inplace,
        by_bytes=args.flag("characters-as-bytes"),
    )


_MANNERS = Manners(
    pure=True,
    read_error=("NAME: fatal: error reading input file `-': REASON", 2),
    write_error=("NAME: warning: error writing standard output: REASON", 1),
)

awk = command("awk", _USAGE, raw=True, manners=_MANNERS)(_run)
gawk = mawk = nawk = awk
