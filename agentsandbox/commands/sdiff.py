"""`sdiff` (GNU diffutils): two files side by side, and merging them by dialogue."""

from __future__ import annotations

import os

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._diff_files import Comparer
from agentsandbox.commands._diff_usage import with_hint
from agentsandbox.commands._programs import find_problem
from agentsandbox.commands._sdiff_merge import Merger, whole_name
from agentsandbox.commands.diff import diff, parse_number, rules_from
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.languages.diff.columns import Columns
from agentsandbox.languages.diff.formats import Style
from agentsandbox.manners import Manners

_TROUBLE = 2
_SAME_IN_DIFF = (
    "ignore-case", "ignore-tab-expansion", "ignore-trailing-space", "ignore-space-change", "ignore-all-space",
    "ignore-blank-lines", "strip-trailing-cr", "text", "left-column", "suppress-common-lines", "expand-tabs", "minimal",
    "speed-large-files",
)  # fmt: skip


@command(
    "sdiff",
    manners=Manners(
        long_options="""
            diff-program expand-tabs help ignore-all-space ignore-blank-lines
            ignore-case ignore-matching-lines ignore-space-change ignore-tab-expansion
            ignore-trailing-space left-column minimal output speed-large-files
            strip-trailing-cr suppress-common-lines tabsize text version width
        """,
        write_error=("NAME: standard output: REASON", 2),
    ),
    raw=True,
    usage_status=2,
    usage="""
    Usage: sdiff [OPTION]... FILE1 FILE2
    Show two files side by side, with a mark where they differ.

      -o, --output=FILE            merge into FILE, as commands on standard input say
      -i, --ignore-case            letter case does not count
      -E, --ignore-tab-expansion   tabs are the same as spaces
      -Z, --ignore-trailing-space  blanks at line ends do not count
      -b, --ignore-space-change    amounts of blanks do not count
      -W, --ignore-all-space       blanks do not count
      -B, --ignore-blank-lines     changes of blank lines do not count
      -I, --ignore-matching-lines=RE  changes of lines that all match RE do not count
          --strip-trailing-cr      leave out the CR of CR LF
      -a, --text                   all files are text
      -w, --width=NUM              columns of the output (default 130)
      -l, --left-column            only the left column of common lines
      -s, --suppress-common-lines  no common lines
      -t, --expand-tabs            tabs as spaces
          --tabsize=NUM            tab stops every NUM columns (default 8)
      -d, --minimal                find the smallest difference
      -H, --speed-large-files      (the same result here)
          --diff-program=PROGRAM   run PROGRAM for diff; with -o it has to be diff itself
      -v, --version                display the version and exit
          --help                   display this help and exit

    The commands: l the left lines, r the right ones, el er eb ed e (nothing) to edit first the left, the right, both, both
    with headings, or nothing; s and v to leave out and to show common lines, q to quit.
    Status is 0 if the files are the same, 1 if they differ, 2 if there was trouble.
    """,
)
def sdiff(ctx: CommandContext, args: Arguments) -> int:
    return with_hint(ctx, lambda: _sdiff(ctx, sdiff.parser().parse(args.operands), args.operands), sdiff.usage)


def _sdiff(ctx: CommandContext, args: Arguments, words: list[str]) -> int:
    if args.flag("version"):
        ctx.print("sdiff (GNU diffutils) 3.8")
        return 0
    operands = args.operands
    if len(operands) < 2:
        raise UsageError(f"missing operand after '{words[-1] if words else 'sdiff'}'", _TROUBLE)
    if len(operands) > 2:
        raise UsageError(f"extra operand '{operands[2]}'", _TROUBLE)
    program = args.value("diff-program", "diff") or ""
    output = args.value("output")
    if output is None:
        return _run_program(ctx, args, program)
    if program != "diff":
        raise CommandError(f"with --output the files are compared by diff, not by '{program}'", _TROUBLE)
    options = ["--side-by-side"]
    for key, value in args.given:
        if key in _SAME_IN_DIFF:
            options.append(f"--{key}")
        elif key in ("ignore-matching-lines", "width", "tabsize"):
            options.append(f"--{key}={value}")
    return _merge(ctx, diff.parser().parse(options), (operands[0], operands[1]), output)


_FOR_PROGRAMS = {
    "ignore-case": "-i", "ignore-tab-expansion": "-E", "ignore-trailing-space": "-Z", "ignore-space-change": "-b",
    "ignore-all-space": "-w", "ignore-blank-lines": "-B", "text": "-a", "minimal": "-d", "speed-large-files": "-H", "expand-tabs": "-t",
    "left-column": "--left-column", "strip-trailing-cr": "--strip-trailing-cr", "ignore-matching-lines": "-I", "width": "-W",
    "tabsize": "--tabsize",
}  # fmt: skip


def _run_program(ctx: CommandContext, args: Arguments, program: str) -> int:
    """Let another program show the files side by side, with the options that it would get from sdiff."""
    options = []
    for key, value in args.given:
        if key in _FOR_PROGRAMS:
            options += [_FOR_PROGRAMS[key], *([] if value is None else [value])]
    if args.flag("suppress-common-lines"):
        options.append("--suppress-common-lines")
    if problem := find_problem(ctx, program):
        raise CommandError(f"{program}: {os.strerror(problem)}", _TROUBLE)
    return ctx.run([program, *options, "-y", "--", *args.operands])


def _merge(ctx: CommandContext, args: Arguments, operands: tuple[str, str], output: str) -> int:
    """Compare as `diff` does with its own options, and ask about each change."""
    left, right = operands
    if ctx.fs.is_dir(ctx.path(left)) and ctx.fs.is_dir(ctx.path(right)):
        raise CommandError("both files to be compared are directories", _TROUBLE)
    names = (whole_name(ctx, left, right), whole_name(ctx, right, left))
    tab_size = parse_number(args.value("tabsize") or "8", "tabsize", 1)
    shown: list[bytes] = []
    columns = Columns(
        Style(shown.append, ctx.budget, expand=tab_size if args.flag("expand-tabs") else 0),
        ctx.budget,
        width=parse_number(args.value("width") or "130", "width", 1),
        tab_size=tab_size,
        left_column=args.flag("left-column"),
    )
    merger = Merger(ctx, names, output, columns, shown, silent=args.flag("suppress-common-lines"))
    comparer = Comparer(ctx, rules_from(ctx, args, tab_size), merger.show, "")
    comparer.always_shows = True
    status = comparer.compare(*names)
    return _TROUBLE if merger.quit else status
