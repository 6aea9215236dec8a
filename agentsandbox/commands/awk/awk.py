"""`awk` (POSIX 1003.1-2017, gawk 5.2): scan and transform text by patterns and actions."""

from __future__ import annotations

import re

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

_USAGE = """
Usage: awk [OPTION]... 'PROGRAM' [FILE | VAR=VALUE]...
  or:  awk [OPTION]... -f PROGFILE [FILE | VAR=VALUE]...
Run an awk program over each FILE, or over standard input.

  -f, --file=PROGFILE         read the program from PROGFILE; may be repeated
  -F, --field-separator=FS    the field separator
  -v, --assign=VAR=VALUE      assign VAR before BEGIN
  -b, --characters-as-bytes   take each byte for a character
  -e, --source=TEXT           program text, also beside -f
  -i, --include=FILE          read FILE, a library, before the program
  -k, --csv                   the input is comma-separated values, as in gawk 5.3
  -r, --re-interval           allow {n,m} in regular expressions (the default)
  -V, --version               print the version and exit
  -h, --help                  display this help and exit
"""
_PARSER = OptionParser(_USAGE, permute=False, usage_status=1)
_PROGRAM_OPTIONS = ("file", "source")
_REFUSED_LETTERS = frozenset("CDEILMNOPSYcdglnopst")
_REFUSED_NAMES = (
    "bignum copyright debug dump-variables exec gen-pot lint lint-old load no-optimize"
    " non-decimal-data optimize posix pretty-print profile sandbox trace traditional"
    " use-lc-numeric"
).split()
_UNKNOWN = lazily(
    r"(?:invalid option -- '(?P<letter>.)'|unrecognized option '--(?P<name>[a-z-]+)(?:=.*)?')$",
    re.DOTALL,
)
_NO_ARGUMENT = lazily(
    r"option (?:'--(?P<name>[a-z-]+)' requires an argument|requires an argument -- '(?P<letter>.)')"
)


def _refused(message: str) -> str:
    """Return the option that an error of usage is about if gawk has it, else ""."""
    unknown = _UNKNOWN.match(message)
    if unknown is None:
        return ""
    if unknown["letter"]:
        return f"-{unknown['letter']}" if unknown["letter"] in _REFUSED_LETTERS else ""
    known = any(name.startswith(unknown["name"]) for name in _REFUSED_NAMES)
    return f"--{unknown['name']}" if known else ""


def _run(ctx: CommandContext, args: Arguments) -> int:
    try:
        return _run_words(ctx, _PARSER.parse(args.operands))
    except UsageError as error:
        message = error.message
        if shown := _refused(message):
            raise CommandError(f"gawk's option {shown} is not available here", 1) from None
        if (found := _NO_ARGUMENT.match(message)) is not None:
            letter = found["letter"] or _PARSER.long[found["name"]].spellings[0][1:]
            message = f"option requires an argument -- {letter}"
        shown = f"{ctx.name}: {message}\n" if message else ""
        ctx.stderr.write(encode(shown + _USAGE.lstrip("\n")))
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
    libraries: list[tuple[bool, str]] = []
    variables: list[str] = []
    for key, value in args.given:
        text = value or ""
        if key in _PROGRAM_OPTIONS:
            sources.append((key == "file", text))
        elif key == "include":
            libraries.append((True, text))
        elif key == "assign":
            if "=" not in text:
                raise UsageError(f"`{text}' argument to `-v' not in `var=value' form\n")
            variables.append(text)
        elif key == "field-separator":
            lone = (len(text) - len(text.rstrip("\\"))) % 2  # -v would drop it
            variables.append(f"FS={text}" + "\\" * lone)
    operands = list(args.operands)
    if not sources:
        if not operands:
            raise UsageError("")
        sources.append((False, operands.pop(0)))
    by_bytes = args.flag("characters-as-bytes") or ctx.is_bytewise()
    return run_program(
        ctx, libraries + sources, variables, operands, by_bytes=by_bytes, csv=args.flag("csv")
    )


_MANNERS = Manners(
    pure=True,
    read_error=("NAME: fatal: error reading input file `-': REASON", 2),
    write_error=("NAME: warning: error writing standard output: REASON", 1),
)

awk = command("awk", _USAGE, raw=True, manners=_MANNERS)(_run)
gawk = mawk = nawk = awk
