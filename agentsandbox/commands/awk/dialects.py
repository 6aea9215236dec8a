"""What `--posix`, `--traditional` and `--sandbox` take away from awk.

The first two are for programs that use nothing of what they change: there they change nothing else, and a program that does is
refused with the name of what it uses.
"""

from __future__ import annotations

import itertools
import re

from agentsandbox.commands.awk.arrays import Array
from agentsandbox.commands.awk.channels import Channels
from agentsandbox.commands.awk.lexer import Source, tokenize
from agentsandbox.commands.awk.values import AwkFatal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentsandbox.commands.awk.channels import _Coprocess
    from agentsandbox.commands.awk.lexer import Token
    from agentsandbox.commands.awk.runtime import Runtime
    from agentsandbox.commands.awk.values import Value
    from agentsandbox.limits import Budget

__all__ = ["Arguments", "SandboxedChannels", "extension_in", "is_extended_value"]

_FUNCTIONS = frozenset(
    "gensub strftime systime mktime asort asorti and or xor lshift rshift compl strtonum patsplit typeof isarray mkbool "
    "bindtextdomain dcgettext dcngettext".split()
)
_VARIABLES = frozenset("IGNORECASE PROCINFO ERRNO RT FPAT FIELDWIDTHS TEXTDOMAIN BINMODE LINT ARGIND FUNCTAB SYMTAB PREC ROUNDMODE".split())
_SYNTAX = frozenset(("switch", "BEGINFILE", "ENDFILE", "|&", "@", "STRONG"))
_OPERATORS = re.compile(r"\\[yB<>wWsS`']")
_OLD_NUMBER = re.compile(r"0[0-9xX]")


def extension_in(source: Source, *, posix: bool, budget: Budget) -> str:
    """The message on the first thing in a program that POSIX or the old awk lacks or reads otherwise; "" if there is none."""
    tokens = tokenize(source, lambda message, line: None, budget)
    arrays = {token.value for token, after in itertools.pairwise(tokens) if token.kind == "NAME" and after.kind == "["}
    for number, token in enumerate(tokens):
        budget.step()
        if token.kind == "BUILTIN" and token.value in _FUNCTIONS:
            return f"{source.name}:{token.line}: fatal: function `{token.value}' not defined"
        used = _used(source.text, token, tokens[number + 1 : number + 3], arrays, posix=posix)
        if used:
            mode = "--posix" if posix else "--traditional"
            return f"{source.name}:{token.line}: error: {used} is read otherwise with {mode}, which is not available for it"
    return ""


def _used(text: str, token: Token, following: Sequence[Token], arrays: set[str], *, posix: bool) -> str:
    kind, value = token.kind, token.value
    written = text[token.position : token.position + 4]
    if kind in _SYNTAX:
        return f"`{'@/' if kind == 'STRONG' else kind}'"
    if kind == "NAME" and value in _VARIABLES:
        return f"`{value}'"
    if kind == "NUMBER" and _OLD_NUMBER.match(value):
        return f"the number `{value}'"
    if kind == "ERE" and _OPERATORS.search(value):
        return f"/{value}/"
    if kind == "STRING" and (_OPERATORS.search(value) or (posix and re.match(r'"(?:[^"\\]|\\.)*?\\x', text[token.position :], re.DOTALL))):
        return "an escape sequence in a string"
    if posix and (written.startswith("**") or (kind == "function" and not text.startswith("function", token.position))):
        return "`**'" if written.startswith("**") else "`func'"
    if kind == "]" and following and following[0].kind == "[":
        return "an array in an array"
    if kind == "NAME" and value in ("RS", "FS") and following and following[0].kind == "=":
        given = following[1] if len(following) > 1 else None
        if given is None or given.kind != "STRING" or is_extended_value(value, given.value):
            return f"this {value}"
    return _extended_call(value, text[token.position :], arrays, posix=posix) if kind == "BUILTIN" else ""


def is_extended_value(name: str, value: str) -> bool:
    """Whether a value of RS or FS means something else to gawk than to an older awk."""
    return (name == "RS" and len(value) > 1) or (name == "FS" and not value)


def _extended_call(name: str, text: str, arrays: set[str], *, posix: bool) -> str:
    call = re.match(r"\w+[ \t]*\(([^()]*)\)", text)
    given = call[1] if call is not None else ""
    if name == "length" and posix and given.strip() in arrays:
        return "`length' of an array"
    if name == "match" and (call is None or given.count(",") > 1):
        return "`match' with an array"
    return ""


class Arguments(Array):
    """ARGV under `--sandbox`: it takes no file that was not there from the start."""

    __slots__ = ("_known",)

    def __init__(self, words: Iterable[str]) -> None:
        super().__init__("ARGV")
        self._known = frozenset(words)

    def __setitem__(self, key: str, value: Value | Array) -> None:
        if isinstance(value, str) and value not in self._known:
            raise AwkFatal(f"cannot add a new file ({value}) to ARGV in sandbox mode")
        super().__setitem__(key, value)


class SandboxedChannels(Channels):
    """Under `--sandbox`: no commands, no files but the operands."""

    def __init__(self, rt: Runtime) -> None:
        super().__init__(rt)

    def read_file(self, name: str) -> float:
        raise _forbidden()

    def read_command(self, command: str) -> float:
        raise _forbidden()

    def coprocess(self, command: str) -> _Coprocess:
        raise _forbidden()

    def write(self, kind: str, name: str, text: str) -> None:
        raise _forbidden()

    def system(self, command: str) -> float:
        raise AwkFatal("'system' function not allowed in sandbox mode")


def _forbidden() -> AwkFatal:
    return AwkFatal("redirection not allowed in sandbox mode")
