"""`diff` (POSIX 1003.1-2017, GNU diffutils): compare files line by line."""

from __future__ import annotations

import re

from agentsandbox.commands.diff import formats
from agentsandbox.commands.diff.columns import Columns
from agentsandbox.commands.diff.files import Comparer, Rules
from agentsandbox.commands.diff.templates import check_template, print_by_templates
from agentsandbox.commands.diff.usage import with_hint
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.patterns.filenames import compile_glob
from agentsandbox.kernel.quoting import quote_if_needed
from agentsandbox.kernel.regexps import RegexError, compile_posix
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.diff.comparison import Change
    from agentsandbox.commands.diff.formats import Pair

_STYLES = {
    "normal": "normal",
    "c": "context",
    "C": "context",
    "context": "context",
    "u": "unified",
    "U": "unified",
    "unified": "unified",
    "ed": "ed",
    "forward-ed": "forward-ed",
    "side-by-side": "columns",
    **dict.fromkeys(
        [f"{kind}line-format" for kind in ("old-", "new-", "unchanged-", "")], "templates"
    ),
}


def parse_number(text: str, what: str, least: int = 0) -> int:
    """Return the numeric value of an option."""
    if not (text.isascii() and text.isdigit()) or int(text[:12]) < least:
        raise UsageError(f"invalid {what} '{text}'", 2)
    return min(int(text[:12]), 1 << 30)


def _style(args: Arguments) -> tuple[str, int]:
    """Return the output format and the number of lines of context."""
    style = ""
    context = -1
    for key, value in args.given:
        if key in ("C", "U", "context", "unified", "c", "u") and value is not None:
            context = max(context, parse_number(value, "context length"))
        elif key in ("c", "u", "context", "unified"):
            context = max(context, 3)
        if key not in _STYLES:
            continue
        if style and style != _STYLES[key]:
            raise UsageError("conflicting output style options", 2)
        style = _STYLES[key]
    given = [value for key, value in args.given if key == "NUM"]
    if given and style in ("context", "unified"):
        context = parse_number(given[-1] or "", "context length")
    if args.flag("show-c-function") and not style:
        style = "context"
    if context < 0:
        context = 3 if style in ("context", "unified") else 0
    return style or "normal", context


def _matcher(ctx: CommandContext, patterns: list[str]) -> Callable[[bytes], bool] | None:
    """Whether a line matches any of the basic regular expressions."""
    if not patterns:
        return None
    try:
        compiled = [compile_posix(pattern, extended=False, dialect="grep") for pattern in patterns]
    except RegexError as error:
        raise CommandError(f"{patterns[-1]}: {error}", 2) from None
    return lambda line: any(regex.test(decode(line), ctx.budget) for regex in compiled)


def _function_matcher(ctx: CommandContext, args: Arguments) -> Callable[[bytes], bool] | None:
    return _matcher(ctx, ["^[[:alpha:]$_]"] if args.flag("show-c-function") else [])


def _excluder(ctx: CommandContext, args: Arguments) -> Callable[[str], bool]:
    """Return whether -x or -X excludes a name."""
    patterns = args.values("exclude")
    for name in args.values("exclude-from"):
        try:
            patterns.extend(
                decode(line) for line in ctx.open_input(name).read().splitlines() if line
            )
        except OSError as error:
            raise CommandError(f"{name}: {error.strerror}", 2) from None
    compiled = [compile_glob(pattern, extglob=False) for pattern in patterns]
    return lambda name: any(pattern.match(name) for pattern in compiled)


def _printer(
    args: Arguments, name: str, style: formats.Style
) -> Callable[[Pair, list[Change]], None]:
    """Return the function that prints the changes in the output format `name`."""
    if name == "columns":
        width = parse_number(args.value("width") or "130", "width", 1)
        suppress_common = args.flag("suppress-common-lines")
        return Columns(style, width=width, suppress_common=suppress_common).print
    if name == "templates":
        templates = _templates(args)
        return lambda pair, changes: print_by_templates(pair, changes, style, templates)
    show = {
        "normal": formats.print_normal,
        "context": formats.print_context,
        "unified": formats.print_unified,
        "ed": formats.print_ed,
        "forward-ed": formats.print_forward_ed,
    }[name]
    return lambda pair, changes: show(pair, changes, style)


def _templates(args: Arguments) -> dict[str, bytes]:
    """Return the template of each kind of line: --old-line-format, --line-format and the like."""
    given: dict[str, bytes] = {}
    for key, value in args.given:
        if not key.endswith("line-format"):
            continue
        template = check_template(encode(value or ""))
        kind = key.removesuffix("line-format").removesuffix("-")
        for name in [kind] if kind else ["old", "new", "unchanged"]:
            if given.setdefault(name, template) != template:
                raise UsageError(f"conflicting --{key} option value '{value}'", 2)
    return given


def _operands(args: Arguments, words: list[str]) -> tuple[str, str]:
    """Return the two files to compare."""
    operands = args.operands
    if len(operands) < 2:
        raise UsageError(f"missing operand after '{words[-1] if words else 'diff'}'", 2)
    if len(operands) > 2:
        raise UsageError(f"extra operand '{operands[2]}'", 2)
    return operands[0], operands[1]


def _switches(words: list[str], operands: list[str]) -> str:
    """Return the options, as the headings of a recursive comparison repeat them."""
    left = list(operands)
    kept: list[str] = []
    for word in reversed(words):
        if left and word == left[-1]:
            left.pop()
        else:
            kept.append(word)
    return "".join(
        f" '{word}'" if "=" in word and "'" not in word else f" {quote_if_needed(word)}"
        for word in reversed(kept)
    )


_OLD_CONTEXT = re.compile(r"(-[abBdeEfHilNpqrstvwyZ]*+[cu][abBcdeEfHilNpqrstuvwyZ]*+)([0-9]++)")


@command(
    "diff",
    manners=Manners(
        long_options="""
            binary brief changed-group-format color context ed exclude exclude-from
            expand-tabs forward-ed from-file help horizon-lines ifdef ignore-all-space
            ignore-blank-lines ignore-case ignore-file-name-case ignore-matching-lines
            ignore-space-change ignore-tab-expansion ignore-trailing-space
            inhibit-hunk-merge initial-tab label left-column line-format minimal
            new-file new-group-format new-line-format no-dereference
            no-ignore-file-name-case normal old-group-format old-line-format paginate
            palette rcs recursive report-identical-files sdiff-merge-assist
            show-c-function show-function-line side-by-side speed-large-files
            starting-file strip-trailing-cr suppress-blank-empty suppress-common-lines
            tabsize text to-file unchanged-group-format unchanged-line-format
            unidirectional-new-file unified version width -presume-output-tty
        """,
        write_error=("NAME: standard output: REASON", 2),
    ),
    usage_status=2,
    digits="NUM",
    raw=True,
    usage="""
    Usage: diff [OPTION]... FILES
    Compare FILES line by line: FILE1 FILE2, DIR1 DIR2, FILE DIR or DIR FILE; - is standard input.

          --normal                  the default format
      -q, --brief                   only tell whether files differ
      -s, --report-identical-files  also tell when two files are the same
      -c                            three lines of copied context
      -C NUM                        NUM lines of copied context
          --context[=NUM]           the same, 3 if NUM is missing
      -u                            three lines of unified context
      -U NUM                        NUM lines of unified context
          --unified[=NUM]           the same, 3 if NUM is missing
      -e, --ed                      an ed script
      -f, --forward-ed              something like an ed script, in forward order
      -y, --side-by-side            two columns
      -W, --width=NUM               columns of the output (default 130)
          --suppress-common-lines   no common lines
          --line-format=LFMT        how lines are shown
          --old-line-format=LFMT    … only in the first file
          --new-line-format=LFMT    … only in the second file
          --unchanged-line-format=LFMT  … in both files

      -p, --show-c-function         the C function that each change is in
      -L, --label=LABEL             instead of file name and time; may be repeated
          --color[=WHEN]            never or auto, which is the same here

      -r, --recursive               compare subdirectories as well
      -N, --new-file                a file that is missing is empty
      -x, --exclude=PAT             leave out files that match PAT
      -X, --exclude-from=FILE       leave out files that match a pattern in FILE

      -i, --ignore-case             letter case does not count
      -E, --ignore-tab-expansion    tabs are the same as spaces
      -Z, --ignore-trailing-space   blanks at line ends do not count
      -b, --ignore-space-change     amounts of blanks do not count
      -w, --ignore-all-space        blanks do not count
      -B, --ignore-blank-lines      changes of blank lines do not count
      -I, --ignore-matching-lines=RE  changes of lines that all match RE do not count

      -a, --text                    all files are text
          --strip-trailing-cr       leave out the CR of CR LF
      -d, --minimal                 find the smallest difference
      -H, --speed-large-files       (changes nothing: the result is the same)
      -v, --version                 display the version and exit
          --help                    display this help and exit

    LFMT has %L for a line, %l for one without its newline, %dn for its number, also as %5dn, and %%
    for a percent sign.
    Status is 0 if the files are the same, 1 if they differ, 2 if there was trouble.
    """,
)
def diff(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    return with_hint(
        ctx, lambda: _diff(ctx, diff.parser().parse(_respelled(words)), words), diff.usage
    )


def _diff(ctx: CommandContext, args: Arguments, words: list[str]) -> int:
    if args.flag("version"):
        ctx.print("diff (GNU diffutils) 3.8")
        return 0
    style_name, context = _style(args)
    color = args.value("color")
    if color not in (None, "never", "auto") and ("color", None) not in args.given:
        known = "colors are not available here" if color == "always" else f"invalid color '{color}'"
        raise UsageError(known, 2)
    parse_number(args.value("width") or "130", "width", 1)
    held: list[bytes] = []  # the output for one file: one write, not thousands
    style = formats.Style(
        held.append, ctx.budget, context=context, function=_function_matcher(ctx, args)
    )
    matching = _matcher(ctx, args.values("ignore-matching-lines"))
    horizon = context if style_name in ("unified", "context") else 0
    rules = Rules(args, matching, _excluder(ctx, args), horizon)
    show = _printer(args, style_name, style)

    def show_and_flush(pair: Pair, changes: list[Change]) -> None:
        show(pair, changes)
        ctx.stdout.write(b"".join(held))
        held.clear()

    old, new = _operands(args, words)
    comparer = Comparer(ctx, rules, show_and_flush, _switches(words, args.operands))
    comparer.robust = style_name not in ("ed", "forward-ed")
    comparer.merges = style_name == "templates"
    comparer.always_shows = style_name in ("columns", "templates")
    return comparer.compare(old, new)


def _respelled(words: list[str]) -> list[str]:
    """Return the words with the old spelling "-u5" as -u -5."""
    spelled: list[str] = []
    for at, word in enumerate(words):
        if word == "--":
            return spelled + words[at:]
        old = _OLD_CONTEXT.fullmatch(word)
        spelled.extend((old[1], f"-{old[2]}") if old else (word,))
    return spelled
