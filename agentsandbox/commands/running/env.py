"""`env` (POSIX 1003.1-2017, GNU coreutils): run a program in a changed environment, or show the
environment.
"""

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
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ESCAPES = {
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    '"': '"',
    "'": "'",
    "#": "#",
    "$": "$",
    "_": " ",
}
_SHEBANG_HINT = "use -[v]S to pass options in shebang lines"
_BLANK_OPTION = re.compile(r"-- '[ \t\n\v\f\r]'$")


class _Splitter:
    """Splits the value of `-S` into words: quotes, escapes, ${VARIABLES}, comments."""

    def __init__(self, text: str, env: Mapping[str, str]) -> None:
        self.text = text
        self.env = env
        self.words: list[str] = []
        self.word: list[str] | None = None

    def _add(self, text: str) -> None:
        if self.word is None:
            self.word = []
        self.word.append(text)

    def _end_word(self) -> None:
        if self.word is not None:
            self.words.append("".join(self.word))
            self.word = None

    def split(self) -> list[str]:
        text, at = self.text, 0
        mark = ""
        while at < len(text):
            character = text[at]
            if character == mark:
                mark = ""
                at += 1
            elif character in "'\"" and not mark:
                mark = character
                self._add("")
                at += 1
            elif character == "\\":
                at = self._escape(at, mark)
                if at < 0:
                    break
            elif character == "$" and mark != "'":
                at = self._variable(at)
            elif mark:
                self._add(character)
                at += 1
            elif character in " \t\n\v\f\r":
                self._end_word()
                at += 1
            elif character == "#" and self.word is None:
                break
            else:
                self._add(character)
                at += 1
        if mark:
            raise CommandError("no terminating quote in -S string", 125)
        self._end_word()
        return self.words

    def _escape(self, at: int, mark: str) -> int:
        """After the escape at `at`; −1 for `\\c`."""
        letter = self.text[at + 1 : at + 2]
        if mark == "'" and letter not in ("\\", "'"):
            self._add("\\")
            return at + 1
        if not letter:
            raise CommandError("invalid backslash at end of string in -S", 125)
        if letter == "c":
            if mark == '"':
                raise CommandError("'\\c' must not appear in double-quoted -S string", 125)
            return -1
        if letter == "_" and not mark:
            self._end_word()
            return at + 2
        if letter not in _ESCAPES:
            raise CommandError(f"invalid sequence '\\{letter}' in -S", 125)
        self._add(_ESCAPES[letter])
        return at + 2

    def _variable(self, at: int) -> int:
        close = self.text.find("}", at)
        name = self.text[at + 2 : close] if close > 0 and self.text.startswith("${", at) else ""
        if not name.isidentifier() or not name.isascii():
            raise CommandError(
                f"only ${{VARNAME}} expansion is supported, error at: {self.text[at:]}", 125
            )
        if name in self.env:
            self._add(self.env[name])
        return close + 1


def _expand_split_string(words: Sequence[str], env: Mapping[str, str]) -> Sequence[str]:
    """The words with `-S STRING` (also `-iSSTRING` and the long form) replaced by what it splits
    into.
    """
    for at, word in enumerate(words):
        if word == "--" or len(word) < 2 or word[0] != "-":
            break
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            if (
                not equals
                and len(name) > 2
                and any(option.startswith(name) for option in ("--unset", "--chdir"))
            ):
                return [*words[: at + 2], *_expand_split_string(words[at + 2 :], env)]
            if len(name) > 2 and "--split-string".startswith(name):
                rest = words[at + 1 :]
                if not equals:
                    if not rest:
                        break
                    value, rest = rest[0], rest[1:]
                return [*words[:at], *_Splitter(value, env).split(), *rest]
            continue
        letter = next((index for index in range(1, len(word)) if word[index] in "uCS"), 0)
        if word[1 : letter or None].strip("i0"):
            break  # the parser refuses it
        if not letter:
            continue
        if word[letter] != "S":
            if letter < len(word) - 1:
                continue
            return [*words[: at + 2], *_expand_split_string(words[at + 2 :], env)]
        value, rest = word[letter + 1 :], words[at + 1 :]
        if not value:
            if not rest:
                break
            value, rest = rest[0], rest[1:]
        flags = [word[:letter]] if letter > 1 else []
        return [*words[:at], *flags, *_Splitter(value, env).split(), *rest]
    return words


def _environment(ctx: CommandContext, args: Arguments) -> tuple[dict[str, str], list[str]]:
    """The changed environment, and the words of the program."""
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
    """The program and its words: what is behind "-" and the variables."""
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
    words = _expand_split_string(args.operands, ctx.env)
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
        environment = environment | ({"PWD": cwd} if "PWD" in environment else {})
    problem = find_problem(ctx, words[0], environment, cwd)
    if problem:
        reason, status = problem_status(problem)
        ctx.warn(f"{quote(words[0])}: {reason}")
        if any(letter in " \t\n\v\f\r" for letter in words[0]) and status == 127:
            ctx.warn(_SHEBANG_HINT)
        return status
    return ctx.run(words, env=environment, cwd=posixpath.normpath(cwd))
