"""`test` and `[` as in bash: by the number of words up to four, by precedence beyond."""

from __future__ import annotations

import operator
import re
import stat as stat_module

from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from agentsandbox.kernel.fs.base import FileSystem, Stat

    class TestEnvironment(Protocol):
        """What the operators need to know of the shell."""

        fs: FileSystem

        def path(self, name: str) -> str:
            """Return the absolute path of an operand; raise `OSError` for ""."""

        def is_terminal(self, descriptor: int) -> bool:
            """Whether a file descriptor is a terminal (`-t`)."""

        def is_set(self, name: str) -> bool:
            """Whether a variable or an array element is set (`-v`)."""

        def is_reference(self, name: str, /) -> bool:
            """Whether a variable is a name reference (`-R`)."""

        def option_on(self, name: str, /) -> bool:
            """Whether a shell option is on (`-o`)."""


class TestError(Exception):
    """The words are no expression. `message` is bash's, without the command's name. Status 2."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


_INTEGER = lazily(r"[ \t\n\v\f\r]*([+-]?[0-9]+)[ \t]*", re.ASCII)


def parse_test_integer(text: str) -> int | None:
    """Parse a decimal integer of 64 bits with blanks around it, or return None."""
    found = _INTEGER.fullmatch(text)
    digits = "" if found is None else found[1].lstrip("+-0")
    if found is None or len(digits) > 19:
        return None
    number = int(digits or "0")
    if found[1][0] == "-":
        number = -number
    return number if -(2**63) <= number < 2**63 else None


def _stat(env: TestEnvironment, name: str, follow: bool = True) -> Stat | None:
    try:
        return env.fs.stat(env.path(name), follow=follow)
    except OSError:
        return None


def _same_file(env: TestEnvironment, first: str, second: str) -> bool:
    try:
        one, two = env.path(first), env.path(second)
        if env.fs.realpath(one) == env.fs.realpath(two):
            return True
        left, right = env.fs.stat(one), env.fs.stat(two)
    except OSError:
        return False
    return (
        left.ino == right.ino != 0
        and left.nlink == right.nlink > 1
        and left.size == right.size
        and left.mtime == right.mtime
    )


def compare_files(operator: str, first: str, second: str, env: TestEnvironment) -> bool:
    """Evaluate `-nt`, `-ot` or `-ef`; a missing file is older than any."""
    if operator == "-ef":
        return _same_file(env, first, second)
    one, two = _stat(env, first), _stat(env, second)
    if operator == "-ot":
        one, two = two, one
    if one is None:
        return False
    return two is None or one.mtime > two.mtime


def _mode(check: Callable[[int], bool]) -> Callable[[str, TestEnvironment], bool]:
    def evaluate(name: str, env: TestEnvironment) -> bool:
        info = _stat(env, name)
        return info is not None and check(info.mode)

    return evaluate


def _bit(bit: int) -> Callable[[str, TestEnvironment], bool]:
    return _mode(lambda mode: bool(mode & bit))


def _exists(name: str, env: TestEnvironment) -> bool:
    return _stat(env, name) is not None


def _was_written(name: str, env: TestEnvironment) -> bool:
    """Evaluate `-N`: modified since last read. Reads are not recorded, so any content counts."""
    info = _stat(env, name)
    return info is not None and (
        info.mtime > info.atime or (info.mtime == info.atime and info.size > 0)
    )


def _is_link(name: str, env: TestEnvironment) -> bool:
    info = _stat(env, name, follow=False)
    return info is not None and info.is_link


def _has_size(name: str, env: TestEnvironment) -> bool:
    info = _stat(env, name)
    return info is not None and info.size > 0


def _is_terminal(name: str, env: TestEnvironment) -> bool:
    number = parse_test_integer(name)
    return number is not None and 0 <= number < 2**31 and env.is_terminal(number)


_UNARY: dict[str, Callable[[str, TestEnvironment], bool]] = {
    "-a": _exists,
    "-e": _exists,
    "-f": _mode(stat_module.S_ISREG),
    "-d": _mode(stat_module.S_ISDIR),
    "-b": _mode(stat_module.S_ISBLK),
    "-c": _mode(stat_module.S_ISCHR),
    "-p": _mode(stat_module.S_ISFIFO),
    "-S": _mode(stat_module.S_ISSOCK),
    "-h": _is_link,
    "-L": _is_link,
    "-r": _bit(0o400),
    "-w": _bit(0o200),
    "-x": _bit(0o100),
    "-g": _bit(0o2000),
    "-u": _bit(0o4000),
    "-k": _bit(0o1000),
    "-s": _has_size,
    "-O": _exists,
    "-G": _exists,
    "-N": _was_written,
    "-t": _is_terminal,
    "-z": lambda text, _: not text,
    "-n": lambda text, _: bool(text),
    "-v": lambda name, env: env.is_set(name),
    "-o": lambda name, env: env.option_on(name),
    "-R": lambda name, env: env.is_reference(name),
}
UNARY_OPERATORS = frozenset(_UNARY)
NUMERIC: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}
"""The operators between numbers."""
TEXTUAL: dict[str, Callable[[str, str], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
"""The operators between strings."""
_FILES = ("-nt", "-ot", "-ef")
BINARY_OPERATORS = frozenset([*NUMERIC, *TEXTUAL, *_FILES])


def evaluate_unary(operator: str, operand: str, env: TestEnvironment) -> bool:
    """Evaluate one of `UNARY_OPERATORS`, for `[[` too."""
    return _UNARY[operator](operand, env)


def _evaluate_binary(left: str, operator: str, right: str, env: TestEnvironment) -> bool:
    textual = TEXTUAL.get(operator)
    if textual is not None:
        return textual(left, right)
    arithmetic = NUMERIC.get(operator)
    if arithmetic is None:
        return compare_files(operator, left, right, env)
    numbers: list[int] = []
    for text in (left, right):
        number = parse_test_integer(text)
        if number is None:
            raise TestError(f"{text}: integer expression expected")
        numbers.append(number)
    return arithmetic(*numbers)


class _Expression:
    """The words of one `test` and a position in them. `!` and parentheses use an explicit stack."""

    __slots__ = ("env", "position", "words")

    def __init__(self, words: Sequence[str], env: TestEnvironment) -> None:
        self.words = words
        self.env = env
        self.position = 0

    def _need(self) -> None:
        if self.position >= len(self.words):
            raise TestError("argument expected")

    def _two(self, first: str, second: str) -> bool:
        if first == "!":
            return not second
        if first not in UNARY_OPERATORS:
            raise TestError(f"{first}: unary operator expected")
        return evaluate_unary(first, second, self.env)

    def _three(self, left: str, operator: str, right: str) -> bool:
        if operator in BINARY_OPERATORS:
            return _evaluate_binary(left, operator, right, self.env)
        if operator in ("-a", "-o"):
            return bool(left and right) if operator == "-a" else bool(left or right)
        if left == "!":
            return not self._two(operator, right)
        if left == "(" and right == ")":
            return bool(operator)
        raise TestError(f"{operator}: binary operator expected")

    def evaluate(self) -> bool:
        words = self.words
        count = len(words)
        if count == 0:
            return False
        if count == 1:
            return bool(words[0])
        if count == 2:
            return self._two(words[0], words[1])
        if count == 3:
            return self._three(words[0], words[1], words[2])
        if count == 4 and words[0] == "!":
            return not self._three(words[1], words[2], words[3])
        if count == 4 and words[0] == "(" and words[3] == ")":
            return self._two(words[1], words[2])
        value = self._disjunction()
        if self.position < count:
            word = words[self.position]
            raise TestError(
                f"syntax error: `{word}' unexpected"
                if word.startswith("-")
                else "too many arguments"
            )
        return value

    def _primary(self) -> bool:
        words, at = self.words, self.position
        if at + 3 <= len(words) and words[at + 1] in BINARY_OPERATORS:
            self.position += 3
            return _evaluate_binary(words[at], words[at + 1], words[at + 2], self.env)
        if at + 2 <= len(words) and words[at] in UNARY_OPERATORS:
            if words[at] == "-t" and parse_test_integer(words[at + 1]) is None:
                self.position += 1
                return False
            self.position += 2
            return evaluate_unary(words[at], words[at + 1], self.env)
        self.position += 1
        return bool(words[at])

    def _disjunction(self) -> bool:
        """Evaluate `-o`, `-a`, `!`, primaries and parentheses; as in bash both sides always."""
        words = self.words
        outer: list[tuple[bool, bool, bool]] = []
        either, both = False, True
        while True:
            self._need()
            negated = False
            while words[self.position] == "!":
                negated = not negated
                self.position += 1
                self._need()
            if words[self.position] == "(":
                self.position += 1
                outer.append((either, both, negated))
                either, both = False, True
                continue
            value = self._primary() != negated
            while True:
                both = both and value
                word = words[self.position] if self.position < len(words) else ""
                if word == "-a":
                    self.position += 1
                    break
                if word == "-o":
                    self.position += 1
                    either, both = either or both, True
                    break
                value = either or both
                if not outer:
                    return value
                if self.position >= len(words):
                    raise TestError("`)' expected")
                if word != ")":
                    raise TestError(f"`)' expected, found {word}")
                self.position += 1
                either, both, negated = outer.pop()
                value = value != negated


def evaluate_test(words: Sequence[str], env: TestEnvironment) -> bool:
    """Return the truth of the words between `[` and `]`, or raise `TestError`."""
    return _Expression(words, env).evaluate()
