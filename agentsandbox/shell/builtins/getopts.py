"""`getopts`"""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.shell.builtins import define, is_number, parse_letters
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import READONLY, is_name

_DIGITS = frozenset("123456789")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("getopts", "getopts optstring name [arg ...]")
def getopts(shell: Shell, words: list[str]) -> int:
    """Parse options, one a call."""
    _, position = parse_letters(words, "")
    operands = words[position:]
    if len(operands) < 2:
        shell.write("getopts: usage: getopts optstring name [arg ...]\n", 2)
        return 2
    letters, name, *given = operands
    scan = _Scan(shell, letters, given or shell.stack.positional)
    option = scan.next_option()
    status = 1 if option is None else 0
    option = option or "?"
    if (
        scan.argument is None
        and not status
        and option != "?"
        and shell.attributes.get("OPTARG", 0) & READONLY
    ):
        shell.complain("OPTARG: readonly variable")
    _set_argument(shell, scan.argument)
    if shell.attributes.get("OPTIND", 0) & READONLY:
        shell.complain("OPTIND: readonly variable")
    else:
        shell.values["OPTIND"] = str(scan.index)
    shell.specials.getopts_position = scan.started, scan.place
    if not is_name(name):
        raise CommandError(f"`{name}': not a valid identifier", 1)
    try:
        shell.variables.assign(name, option)
    except ExpansionError as error:
        if not error.readonly:
            raise
        shell.report(error)
        return 1 if status == 1 else 2
    return status


class _Scan:
    """One step of `getopts`.

    index      OPTIND: the argument to look at next
    started    the argument whose cluster of letters (-abc) is being read; it stays the same
               argument though OPTIND is changed
    place      the next letter in it, 0 outside of a cluster
    argument   OPTARG
    """

    def __init__(self, shell: Shell, letters: str, arguments: list[str]) -> None:
        self.shell = shell
        self.letters = encode(letters)  # options are bytes
        self.arguments = arguments
        text = shell.variables.get("OPTIND") or "1"
        self.index = max(int(text), 1) if is_number(text) else 1
        self.started, self.place = shell.specials.getopts_position
        self.argument: str | None = None

    def next_option(self) -> str | None:
        """Return the next option, "?" for a wrong one, ":" without its argument, None after all."""
        if self.index > len(self.arguments):
            self.index = len(self.arguments) + 1
            return None
        is_within = 0 < self.started <= len(self.arguments)
        word = encode(self.arguments[self.started - 1]) if is_within else b""
        if self.place >= len(word):
            self.place = 0
        if self.place == 0:
            text = self.arguments[self.index - 1]
            if text == "--":
                self.index += 1
                return None
            if len(text) < 2 or text[0] != "-":
                return None
            self.started, self.place = self.index, 1
            word = encode(text)
        letter = word[self.place : self.place + 1]
        self.place += 1
        if self.place >= len(word):
            self.place = 0
        return self._option(letter, word)

    def _option(self, letter: bytes, word: bytes) -> str:
        """The option `letter` of the cluster `word`, with its argument."""
        option, silent = decode(letter), self.letters.startswith(b":")
        at = self.letters.find(letter, 1 if silent else 0)
        known = at >= 0 and letter != b":"
        if known and self.letters[at + 1 : at + 2] == b":":
            return self._with_argument(option, word, silent=silent)
        if self.place == 0:
            self.index += 1
        if known:
            return option
        if silent:
            self.argument = option
        elif _tells_errors(self.shell):
            self.shell.write(f"{self.shell.invocation.name}: illegal option -- {option}\n", 2)
        return "?"

    def _with_argument(self, option: str, word: bytes, *, silent: bool) -> str:
        """An option with its argument: the rest of the cluster, or the next word."""
        self.index += 1
        if self.place:
            self.argument = decode(word[self.place :])
            self.place = 0
            return option
        if self.index <= len(self.arguments):
            self.argument = self.arguments[self.index - 1]
            self.index += 1
            return option
        if silent:
            self.argument = option
            return ":"
        if _tells_errors(self.shell):
            name = self.shell.invocation.name
            self.shell.write(f"{name}: option requires an argument -- {option}\n", 2)
        return "?"


def _tells_errors(shell: Shell) -> bool:
    """Whether OPTERR begins with a number other than 0, or is unset or empty."""
    text = shell.variables.get("OPTERR")
    return not text or text.lstrip("-0")[:1] in _DIGITS


def _set_argument(shell: Shell, argument: str | None) -> None:
    """Set OPTARG. A readonly one is unset all the same, but not assigned."""
    if argument is None:
        shell.variables.drop("OPTARG", READONLY)
        shell.variables.unset("OPTARG")
    elif shell.attributes.get("OPTARG", 0) & READONLY:
        shell.complain("OPTARG: readonly variable")
    else:
        shell.variables.assign("OPTARG", argument)
