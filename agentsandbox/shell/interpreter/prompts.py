"""The escapes of prompt strings: PS1, PS4 and ${x@P}."""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.interpreter.words import expand_quoted_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.parts import ShellParts

_ESCAPE = lazily(r"\\(?:([0-7]{1,3})|D\{([^}]*)\}|(.))", re.DOTALL)
_PLAIN = {
    "a": "\a",
    "e": "\x1b",
    "n": "\n",
    "r": "\r",
    "[": "",
    "]": "",
    "\\": "\\\\",
    "s": "bash",
    "v": "5.2",
    "V": "5.2.15",
    "l": "tty",
    "j": "0",
}
_TIMES = {"d": "%a %b %d", "t": "%H:%M:%S", "T": "%I:%M:%S", "@": "%I:%M %p", "A": "%H:%M"}
_COST = 8
"""Steps that an escape takes: a time is as slow as that."""


def expand_prompt(shell: ShellParts, text: str) -> str:
    """Expand the prompt escapes of a text, then the rest as inside double quotes."""
    budget = shell.budget
    size = len(text)

    def replace(match: re.Match[str]) -> str:
        nonlocal size
        octal, form, letter = match.groups()
        budget.step(_COST)
        if octal is not None:
            return chr(int(octal, 8) & 255)
        value = _time(shell, form or "%X") if form is not None else _letter(shell, letter)
        size += len(value)
        if size > budget.value_bytes:
            budget.charge(size)
        return value

    expanded = _ESCAPE.sub(replace, text)
    if "$" not in expanded and "`" not in expanded:
        return expanded.replace("\\\\", "\\")
    return expand_quoted_text(shell, expanded, keep_quotes=True)


def _time(shell: ShellParts, form: str) -> str:
    from agentsandbox.kernel.formats.strftime import strftime

    return strftime(int(shell.machine.host.clock()), form, shell.variables.get("TZ") or "UTC0")


def _letter(shell: ShellParts, letter: str) -> str:
    if letter in _PLAIN:
        return _PLAIN[letter]
    if letter in _TIMES:
        return _time(shell, _TIMES[letter])
    if letter == "u":
        return shell.machine.user
    if letter in "hH":
        name = shell.machine.host.hostname
        return name.partition(".")[0] if letter == "h" else name
    if letter in "wW":
        home = shell.variables.get("HOME") or ""
        here = shell.cwd
        if home and (here == home or here.startswith(home + "/")):
            here = "~" + here[len(home) :]
        return here if letter == "w" or here in ("/", "~") else here.rpartition("/")[2]
    if letter == "$":
        return "\\$"
    if letter == "!":
        return str(len(shell.machine.history) + 1)
    if letter == "#":
        return "0"
    return "\\" + letter
