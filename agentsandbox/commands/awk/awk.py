"""`awk` (POSIX 1003.1-2017, gawk 5.2): scan and transform text by patterns and actions."""

from __future__ import annotations

from agentsandbox.commands.awk.modes import DEFAULT, NON_DECIMAL, POSIX, TRADITIONAL
from agentsandbox.commands.awk.program import run_program
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.expressions import DOTALL, lazily
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.commands.awk.modes import Mode

_USAGE = """
Usage: awk [OPTION]... 'PROGRAM' [FILE | VAR=VALUE]...
  or:  awk [OPTION]... -f PROGFILE [FILE | VAR=VALUE]...
Run an awk program over each FILE, or over standard input.

  -f, --file=PROGFILE         read the program from PROGFILE; may be repeated
  -F, --field-separator=FS    the field separator
  -v, --assign=VAR=VALUE      assign VAR before BEGIN
  -b, --characters-as-bytes   take each byte for a character
  -c, --traditional           without the extensions of gawk
  -e, --source=TEXT           program text, also beside -f
  -i, --include=FILE          read FILE, a library, before the program
  -k, --csv                   the input is comma-separated values, as in gawk 5.3
  -n, --non-decimal-data      octal and hexadecimal numbers in the input
  -P, --posix                 without the extensions of gawk and of other awks
  -r, --re-interval           allow {n,m} in regular expressions (the default)
  -V, --version               print the version and exit
  -h, --help                  display this help and exit
"""
_PARSER = OptionParser(_USAGE, permute=False, usage_status=1)
_PROGRAM_OPTIONS = ("file", "source")
_REFUSED_LETTERS = frozenset("CDEILMNOSYdglopst")
_REFUSED_NAMES = (
    "bignum copyright debug dump-variables exec gen-pot lint lint-old load no-optimize"
    " optimize pretty-print profile sandbox trace use-lc-numeric"
).split()
_UNKNOWN = lazily(
    r"(?:invalid option -- '(?P<letter>.)'|unrecognized option '--(?P<name>[a-z-]+)(?:=.*)?')$",
    DOTALL,
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
        return _run_words(ctx, _parsed(ctx, args.operands))
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


def _parsed(ctx: CommandContext, words: Sequence[str]) -> Arguments:
    """Return the options and operands. With `-f`, an unknown option is the first operand."""
    try:
        return _PARSER.parse(words)
    except UsageError as error:
        if _UNKNOWN.match(error.message) is None or _refused(error.message):
            raise
        before = _before_unknown(words)
        given = _PARSER.parse(words[:before])
        has_program = any(key in _PROGRAM_OPTIONS for key, _ in given.given)
        if not has_program or _is_posix(ctx, given):
            raise
        return _PARSER.parse([*words[:before], "--", *words[before:]])


def _before_unknown(words: Sequence[str]) -> int:
    """Return the number of words before the first one with an unknown option."""
    low, high = 0, len(words)
    while low < high:
        middle = (low + high) // 2
        try:
            _PARSER.parse(words[: middle + 1])
        except UsageError as error:
            if _UNKNOWN.match(error.message) is not None:
                high = middle
                continue
        low = middle + 1
    return low


def _is_posix(ctx: CommandContext, args: Arguments) -> bool:
    return args.flag("posix") or "POSIXLY_CORRECT" in ctx.env


def _run_words(ctx: CommandContext, args: Arguments) -> int:
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
    mode = _mode(ctx, args)
    if mode.traditional and not mode.posix:
        variables = ["FS=\t" if variable == "FS=t" else variable for variable in variables]
    by_bytes = args.flag("characters-as-bytes") or ctx.is_bytewise()
    return run_program(
        ctx,
        libraries + sources,
        variables,
        operands,
        by_bytes=by_bytes,
        mode=mode,
        csv=args.flag("csv"),
    )


def _mode(ctx: CommandContext, args: Arguments) -> Mode:
    """Return the mode that the options ask for; tell which of them others overrule."""
    posix = _is_posix(ctx, args)
    mode = POSIX if posix else TRADITIONAL if args.flag("traditional") else DEFAULT
    overruled = []
    if posix and args.flag("traditional"):
        overruled.append("`--posix' overrides `--traditional'")
    if args.flag("non-decimal-data"):
        if mode.traditional:
            overruled.append("`--posix'/`--traditional' overrides `--non-decimal-data'")
        else:
            mode = NON_DECIMAL
    if posix and args.flag("characters-as-bytes"):
        overruled.append("`--posix' overrides `--characters-as-bytes'")
    for message in overruled:
        ctx.stderr.write(encode(f"{ctx.name}: warning: {message}\n"))
    return mode


_MANNERS = Manners(
    pure=True,
    read_error=("NAME: fatal: error reading input file `-': REASON", 2),
    write_error=("NAME: warning: error writing standard output: REASON", 1),
)

awk = command("awk", _USAGE, raw=True, manners=_MANNERS)(_run)
gawk = mawk = nawk = awk
