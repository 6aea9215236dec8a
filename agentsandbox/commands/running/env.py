"""`env` (POSIX, GNU coreutils): run a program in a changed environment, or show it."""

from __future__ import annotations

import posixpath
import re
from itertools import dropwhile

from agentsandbox.commands._processes.programs import find_problem, problem_status
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SHEBANG_HINT = "use -[v]S to pass options in shebang lines"
_BLANK_OPTION = lazily(r"-- '[ \t\n\v\f\r]'$")


_WORD = lazily(r"[ \t\n\v\f\r]+|'[^']*'|\"[^\"]*\"|[^ \t\n\v\f\r'\"]+|.")
_SPLIT_STRING = lazily(r"(?:(-[i0]*)S(.+)?|--split-string(?:=(.*))?)\Z", re.DOTALL)


def _split(text: str) -> list[str]:
    """Split the value of `-S` into words, which quotes may join; a `#` begins a comment."""
    if "\\" in text or "$" in text:
        raise CommandError("escapes and variables are not available in -S here", 125)
    words: list[str] = []
    word: str | None = None
    for found in _WORD.finditer(f"{text} "):
        piece = found[0]
        if piece.isspace():
            words += [] if word is None else [word]
            word = None
        elif piece in ("'", '"'):
            raise CommandError("no terminating quote in -S string", 125)
        elif piece[0] == "#" and word is None:
            break
        else:
            word = (word or "") + (piece[1:-1] if piece[0] in "'\"" else piece)
    return words


def _expand_split_string(words: Sequence[str]) -> Sequence[str]:
    """Return the words with the first `-S STRING` replaced by the words of STRING."""
    at = 0
    while at < len(words) and words[at][:1] == "-" and words[at] not in ("-", "--"):
        found = _SPLIT_STRING.match(words[at])
        if found is not None:
            rest = words[at + 1 :]
            text = found[2] or found[3]
            if text is None and not rest:
                break
            text, rest = (rest[0], rest[1:]) if text is None else (text, rest)
            flags = [found[1]] if found[1] not in (None, "-") else []
            return [*words[:at], *flags, *_split(text), *rest]
        at += 2 if words[at] in ("-u", "--unset", "-C", "--chdir") else 1
    return words


def _environment(ctx: CommandContext, args: Arguments) -> tuple[dict[str, str], list[str]]:
    """Return the changed environment and the words of the program."""
    operands = args.operands
    clear = args.flag("ignore-environment")
    if operands and operands[0] == "-":
        clear, operands = True, operands[1:]
    env = {} if clear else dict(ctx.env)
    for name in [] if clear else args.values("unset"):
        if not name or "=" in name:
            raise CommandError(f"cannot unset {quote(name)}: Invalid argument", 125)
        env.pop(name, None)
    words = _program_words(args)
    for word in operands[: len(operands) - len(words)]:
        name, _, value = word.partition("=")
        if name:
            env[name] = value
    return env, words


def _program_words(args: Arguments) -> list[str]:
    """Return the program and its words: the operands after "-" and the variables."""
    operands = args.operands[1:] if args.operands[:1] == ["-"] else args.operands
    return list(dropwhile(lambda word: "=" in word, operands))


@command(
    "env",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            ignore-environment null unset chdir debug split-string help version
        """,
        unbuffered=True,
        write_error=("NAME: write error: REASON", 125),
    ),
    usage="""
    Usage: env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]
    Set each NAME to VALUE in the environment and run COMMAND; without one, print the environment.

      -i, --ignore-environment  start with an empty environment
      -0, --null                end each output line with NUL, not newline
      -u, --unset=NAME          remove a variable from the environment
      -C, --chdir=DIR           run COMMAND in the directory DIR
      -S, --split-string=S      split S into separate words, for "#!" lines
          --help                display this help and exit

    A mere - implies -i.
    """,
    permute=False,
    usage_status=125,
    raw=True,
)
def env(ctx: CommandContext, args: Arguments) -> int:
    words = _expand_split_string(args.operands)
    try:
        args = env.parser().parse(words)
    except UsageError as error:
        if not _BLANK_OPTION.search(error.message):
            raise
        ctx.warn(error.message)
        raise UsageError(_SHEBANG_HINT) from None
    if args.flag("version"):
        ctx.stdout.write(encode(env.version()))
        return 0
    if args.flag("help"):
        ctx.stdout.write(encode(env.usage))
        return 0
    environment, words = _environment(ctx, args)
    directory = args.value("chdir")
    if not words:
        if directory is not None:
            raise UsageError("must specify command with --chdir (-C)")
        end = b"\0" if args.flag("null") else b"\n"
        ctx.stdout.write(
            b"".join([encode(f"{name}={value}") + end for name, value in environment.items()])
        )
        return 0
    if args.flag("null"):
        raise UsageError("cannot specify --null (-0) with command")
    cwd = ctx.cwd
    if directory is not None:
        try:
            cwd = ctx.fs.realpath(ctx.path(directory))
            if not ctx.fs.is_dir(cwd):
                raise NotADirectoryError(20, "Not a directory", directory)
        except OSError as error:
            raise CommandError(
                f"cannot change directory to {quote_always(directory)}: {error.strerror}", 125
            ) from None
    problem = find_problem(ctx, words[0], environment, cwd)
    if problem:
        reason, status = problem_status(problem)
        ctx.warn(f"{quote(words[0])}: {reason}")
        if any(letter in " \t\n\v\f\r" for letter in words[0]) and status == 127:
            ctx.warn(_SHEBANG_HINT)
        return status
    return ctx.run(words, env=environment, cwd=posixpath.normpath(cwd))
