"""The shell's builtins, and what they share.

`builtins/<name>.py` is the builtin `<name>`; `_MODULES` says where the others are. `find_builtin`
loads a builtin at its first use. The docstring of its function is what `help` says about it.

A builtin gets the shell and its words and returns a status. It reports faults by raising:
`CommandError` for a message and a status, `UsageFailure` to have the usage printed as well,
`OSError` for a failed write. `Builtin.call` words them as bash does.
"""

from __future__ import annotations

import errno
import os

from agentsandbox.errors import CommandError, Exit
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.streams import encode
from agentsandbox.shell.expansion.errors import ExpansionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from agentsandbox.shell.interpreter.shell import Shell

_MODULES = {
    ".": ("source", "dot"),
    ":": ("true", "colon"),
    "[": ("test", "bracket"),
    "break": ("leaving", "break_"),
    "continue": ("leaving", "continue_"),
    "return": ("leaving", "return_"),
    "exit": ("leaving", "exit"),
    "pwd": ("cd", "pwd"),
    "eval": ("source", "eval"),
    "builtin": ("command", "builtin"),
    "bind": ("complete", "bind"),
    "typeset": ("declare", "typeset"),
    "local": ("declare", "local"),
    "export": ("export", "export"),
    "readonly": ("export", "readonly"),
    "false": ("true", "false"),
    "unalias": ("alias", "unalias"),
    "readarray": ("mapfile", "readarray"),
    "popd": ("pushd", "popd"),
    "dirs": ("pushd", "dirs"),
    "bg": ("jobs", "bg"),
    "disown": ("jobs", "disown"),
    "fg": ("jobs", "fg"),
    "logout": ("leaving", "logout"),
    "compgen": ("complete", "compgen"),
    "compopt": ("complete", "compopt"),
    "fc": ("history", "fc"),
    "suspend": ("jobs", "suspend"),
}
NAMES = frozenset(
    """. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare
    dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill
    let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt
    source suspend test times trap true type typeset ulimit umask unalias unset wait""".split()
)
PURE = frozenset(("echo", "printf", "pwd"))
"""Those that leave no trace in the shell; `printf` only without -v."""
_WITHOUT_HELP = frozenset((":", "[", "bind", "echo", "false", "test", "true"))
_UNCHECKED = frozenset(("caller", "command", "compgen", "complete", "help", "kill", "ulimit"))
"""Those that bash lets write without a look at what became of it."""
SPECIAL = frozenset(
    """. : break continue eval exec exit export readonly return set shift source times trap
    unset""".split()
)
"""POSIX's special builtins."""


class UsageFailure(CommandError):
    """A builtin was called wrongly: the usage follows the message."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message, status)


class HelpAsked(UsageFailure):
    """The option --help was given."""

    def __init__(self) -> None:
        super().__init__("--: invalid option")


class SpecialFailed(Exit):
    """Ends a shell in POSIX mode: a special builtin failed, and not behind `command`."""


class Builtin:
    """One builtin.

    function   gets the shell and the words, the name first; returns the status
    usage      what follows "name: usage: " in messages
    declares   whether its arguments may be assignments, as those of `declare`
    """

    __slots__ = ("declares", "function", "name", "usage")

    def __init__(
        self, name: str, function: Callable[[Shell, Any], int], usage: str, declares: bool
    ) -> None:
        self.name = name
        self.function = function
        self.usage = usage
        self.declares = declares

    @property
    def summary(self) -> str:
        """What it does, in one line: the docstring of the function."""
        return self.function.__doc__ or ""

    def call(self, shell: Shell, words: Sequence[Any]) -> int:
        """Run the builtin with its words, the name first; report its errors as bash words them."""
        try:
            if len(words) > 1 and words[1] == "--help" and self.name not in _WITHOUT_HELP:
                raise HelpAsked
            return self.function(shell, words)
        except HelpAsked:
            _load("help").call(shell, ["help", "--", self.name])
            return 2
        except UsageFailure as error:
            shell.complain(f"{words[0]}: {error.message}")
            stream = shell.fds.get(2)
            if stream is not None and self.usage:
                stream.write(encode(f"{words[0]}: usage: {self.usage}\n"))
            if shell.options.posix and self.name in SPECIAL:
                raise SpecialFailed(error.status) from None
            return error.status
        except CommandError as error:
            shell.complain(f"{words[0]}: {error.message}")
            return error.status
        except ExpansionError as error:
            if error.named and error.message:
                error.named = False
                error.message = f"{words[0]}: {error.message}"
            raise
        except OSError as error:
            reason = os.strerror(error.errno or 5)
            if error.filename == "-":  # its standard input
                shell.complain(f"{words[0]}: read error: 0: {reason}")
                return 1
            writing = error.filename is None or error.errno in (
                errno.EBADF,
                errno.ENOSPC,
                errno.EFBIG,
                errno.EIO,
            )
            if writing and self.name in _UNCHECKED:
                return 0
            shell.complain(
                f"{words[0]}: write error: {reason}"
                if writing
                else f"{words[0]}: {error.filename}: {reason}"
            )
            return 1


def define(
    name: str, usage: str = "", *, declares: bool = False
) -> Callable[[Callable[[Shell, Any], int]], Builtin]:
    """Make a function the builtin `name`; `usage` is what follows "name: usage: "."""

    def decorate(function: Callable[[Shell, Any], int]) -> Builtin:
        return Builtin(name, function, usage, declares)

    return decorate


@lru_cache(maxsize=None)
def _load(name: str) -> Builtin:
    module_name, attribute = _MODULES.get(name, (name, name))
    module = __import__(f"agentsandbox.shell.builtins.{module_name}", fromlist=[attribute])
    found: Builtin = module.__dict__[attribute]
    return found


def find_builtin(name: str) -> Builtin | None:
    """Return the builtin of that name, None if there is none."""
    return _load(name) if name in NAMES else None


def is_number(text: str) -> bool:
    """Whether a text is all ASCII digits; `str.isdigit` alone also accepts "²"."""
    return text.isdigit() and text.isascii()


def invalid_number(text: str) -> str:
    """Return bash's message for a text that should be a number."""
    kind = (
        "octal "
        if text[:1] == "0" and is_number(text[1:2])
        else "hex "
        if text.startswith("0x")
        else ""
    )
    return f"{text}: invalid {kind}number"


def parse_letters(
    words: Sequence[str],
    letters: str,
    *,
    plus: bool = False,
    check: Callable[[str, str], None] | None = None,
) -> tuple[dict[str, str], int]:
    """Parse the options of a builtin; return the letters given with their values, and the position
    of the first operand.

    "x:" in `letters` takes a value. With `plus`, "+x" is reported as "+x". An unknown letter raises
    `UsageFailure`; `check(letter, value)` may raise for a wrong value.
    """
    found: dict[str, str] = {}
    position = 1
    while position < len(words):
        word = words[position]
        if not isinstance(word, str) or len(word) < 2 or word[0] not in ("-+" if plus else "-"):
            break
        position += 1
        if word == "--":
            break
        if word == "--help":
            raise HelpAsked
        sign = "+" if word[0] == "+" else ""
        at = 1
        while at < len(word):
            letter = word[at]
            at += 1
            place = letters.find(letter)
            if place < 0 or letter == ":":
                raise UsageFailure(f"{word[0]}{letter}: invalid option")
            if letters[place + 1 : place + 2] == ":":
                if at < len(word):
                    found[sign + letter] = word[at:]
                elif position < len(words):
                    found[sign + letter] = words[position]
                    position += 1
                else:
                    raise UsageFailure(f"-{letter}: option requires an argument")
                if check is not None:
                    check(letter, found[sign + letter])
                break
            found[sign + letter] = ""
    return found, position
