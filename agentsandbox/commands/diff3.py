"""`diff3` (GNU diffutils): compare three files line by line."""

from __future__ import annotations

import errno

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._diff_programs import changes_by
from agentsandbox.commands._diff_usage import with_hint
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.languages.diff.lines import is_binary, split_lines
from agentsandbox.languages.diff.threeway import MergeRules, blocks_of, compare_two, merge, print_blocks, print_script
from agentsandbox.manners import Manners
from agentsandbox.streams import InputError, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.languages.diff.comparison import Change

_TROUBLE = 2
_RULES = {
    "show-all": MergeRules(flagging=True, show_old=True),
    "ed": MergeRules(),
    "show-overlap": MergeRules(flagging=True),
    "easy-only": MergeRules(simple_only=True),
    "overlap-only": MergeRules(overlap_only=True),
    "X": MergeRules(overlap_only=True),
}
_FLAGGING = frozenset({"show-all", "show-overlap"})
"""Those that put labels into their output."""


@command(
    "diff3",
    manners=Manners(
        long_options="""
            diff-program easy-only ed help initial-tab label merge overlap-only show-all
            show-overlap strip-trailing-cr text version
        """,
        write_error=("NAME: standard output: REASON", 2),
    ),
    raw=True,
    usage_status=2,
    usage="""
    Usage: diff3 [OPTION]... MYFILE OLDFILE YOURFILE
    Compare three files line by line; one of them may be - for standard input.

      -A, --show-all           all changes as an ed script, conflicts in brackets
      -e, --ed                 an ed script with the changes from OLDFILE to YOURFILE
      -E, --show-overlap       as -e, conflicts in brackets
      -3, --easy-only          as -e, only changes that do not overlap
      -x, --overlap-only       as -e, only changes that overlap
      -X                       the same
      -i                       'w' and 'q' after ed scripts
      -m, --merge              the merged file itself, as by -A without another option
      -a, --text               all files are text
          --strip-trailing-cr  leave out the CR of CR LF
      -T, --initial-tab        a tab before each line
      -L, --label=LABEL        instead of a file name; may be repeated
          --diff-program=PROGRAM  compare by PROGRAM, which prints changes as diff does
      -v, --version            display the version and exit
          --help               display this help and exit

    Status is 0 if there were no conflicts, 1 if there were, 2 if there was trouble.
    """,
)
def diff3(ctx: CommandContext, args: Arguments) -> int:
    return with_hint(ctx, lambda: _diff3(ctx, diff3.parser().parse(args.operands), args.operands), diff3.usage)


def _diff3(ctx: CommandContext, args: Arguments, words: list[str]) -> int:
    if args.flag("version"):
        ctx.print("diff3 (GNU diffutils) 3.8")
        return 0
    names = args.operands
    chosen = {key for key, _value in args.given if key in _RULES}
    if len(args.values("label")) > 3:
        raise UsageError("too many file label options", _TROUBLE)
    flagging = args.flag("merge") if not chosen else not chosen.isdisjoint(_FLAGGING)
    if len(chosen) > 1 or (args.flag("i") and args.flag("merge")) or (args.flag("label") and not flagging):
        raise UsageError("incompatible options", _TROUBLE)
    if len(names) < 3:
        raise UsageError(f"missing operand after '{words[-1] if words else 'diff3'}'", _TROUBLE)
    if len(names) > 3:
        raise UsageError(f"extra operand '{names[3]}'", _TROUBLE)
    if names.count("-") > 1:
        raise CommandError("'-' specified for more than one input file", _TROUBLE)
    if args.flag("merge") and names[0] == "-":
        raise CommandError("failed to reopen \u2018-\u2019 with mode \u2018r\u2019: No such file or directory", _TROUBLE)
    files = [_read(ctx, args, name) for name in names]
    labels = [encode(label) for label in (args.values("label") + names[len(args.values("label")) :])[:3]]
    merging = args.flag("merge")
    parts: list[bytes] = []
    conflicts = False
    if not chosen and not merging:
        common = 1 if names[2] == "-" else 2
        blocks = blocks_of(files, common, _threads(ctx, args, names, files, common), ctx.budget)
        print_blocks(files, blocks, parts.append, b"\t" if args.flag("initial-tab") else b"  ")
    else:
        rules = _RULES[chosen.pop() if chosen else "show-all"]
        threads = _threads(ctx, args, names, files, 1)
        if not merging:
            files = _ended_files(ctx, files, threads)
        blocks = blocks_of(files, 1, threads, ctx.budget)
        conflicts = (merge if merging else print_script)(files, blocks, rules, labels, parts.append)
        if args.flag("i"):
            parts.append(b"w\nq\n")
    ctx.stdout.write(b"".join(parts))
    return int(conflicts)


def _ended_files(ctx: CommandContext, files: list[list[bytes]], threads: list[list[Change]]) -> list[list[bytes]]:
    """The files as ed sees them, each line with its end; a message for each change that shows that an end is missing."""
    count = 0
    for changes, lines in zip(threads, (files[0], files[2]), strict=True):
        last = changes[-1] if changes else None
        if last is not None:
            count += _lacks_end(lines, last.old, last.deleted) + _lacks_end(files[1], last.new, last.inserted)
    ctx.stderr.write(b"diff3: No newline at end of file\n" * count)
    return [[*lines[:-1], lines[-1].removesuffix(b"\n") + b"\n"] if lines else lines for lines in files]


def _lacks_end(lines: list[bytes], start: int, count: int) -> bool:
    return bool(count) and start + count == len(lines) and not lines[-1].endswith(b"\n")


def _threads(ctx: CommandContext, args: Arguments, names: list[str], files: list[list[bytes]], common: int) -> list[list[Change]]:
    """The changes from the other two files; by a program of the caller's choice the last one is compared first."""
    if not args.flag("text"):
        _check_text(names, files, common)
    program = args.value("diff-program")
    if program is None:
        return compare_two(files, common, ctx.budget)
    options = ["-a" if key == "text" else f"--{key}" for key, _ in args.given if key in ("text", "strip-trailing-cr")]
    first, last = [at for at in range(3) if at != common]
    later = changes_by(ctx, program, options, (names[last], names[common]), (files[last], files[common]))
    sooner = changes_by(ctx, program, options, (names[first], names[common]), (files[first], files[common]))
    return [sooner, later]


def _check_text(names: list[str], files: list[list[bytes]], common: int) -> None:
    """Refuse binary files, in the words of the first diff that has to do with one."""
    for at in [other for other in (2, 1, 0) if other != common]:
        pair = files[at], files[common]
        if pair[0] != pair[1] and any(is_binary(b"".join(lines)) for lines in pair):
            raise CommandError(f"diff failed: Binary files {names[at]} and {names[common]} differ", _TROUBLE)


def _read(ctx: CommandContext, args: Arguments, name: str) -> list[bytes]:
    try:
        data = ctx.stdin.read() if name == "-" else ctx.fs.read_bytes(ctx.path(name))
    except InputError as error:
        problem = f"diff: -: {error.strerror}"
        ctx.stderr.write(encode(f"{problem}\ndiff3: subsidiary program 'diff' failed (exit status 2)\n"))
        raise CommandError("", _TROUBLE) from None
    except OSError as error:
        problem = describe_os_error(error, name)
        if error.errno == errno.EACCES:
            ctx.stderr.write(encode(f"diff: {problem}\n"))
            problem = "subsidiary program 'diff' failed (exit status 2)"
        raise CommandError(problem, _TROUBLE) from None
    ctx.budget.charge(len(data))
    if args.flag("strip-trailing-cr"):
        data = data.replace(b"\r\n", b"\n")
    return split_lines(data, ctx.budget)
