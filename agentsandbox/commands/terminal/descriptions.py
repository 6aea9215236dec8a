"""Terminals by name: what `tput` and `clear` print for each."""

from __future__ import annotations

import re

_STRINGS = {
    "bel": "\a", "cr": "\r", "cud1": "\n", "ind": "\n", "blink": "\x1b[5m", "bold": "\x1b[1m",
    "civis": "\x1b[?25l", "cnorm": "\x1b[?12l\x1b[?25h", "cub1": "\b", "cuf1": "\x1b[C",
    "cuu1": "\x1b[A", "dim": "\x1b[2m", "ed": "\x1b[J", "el": "\x1b[K", "el1": "\x1b[1K",
    "home": "\x1b[H", "invis": "\x1b[8m", "op": "\x1b[39;49m", "rc": "\x1b8", "rev": "\x1b[7m",
    "ritm": "\x1b[23m", "rmcup": "\x1b[?1049l\x1b[23;0;0t", "rmso": "\x1b[27m",
    "rmul": "\x1b[24m", "sc": "\x1b7", "sgr0": "\x1b(B\x1b[m", "sitm": "\x1b[3m",
    "smcup": "\x1b[?1049h\x1b[22;0;0t", "smso": "\x1b[7m", "smul": "\x1b[4m",
}  # fmt: skip
"""Strings of an xterm, without those that take parameters."""
_OF_DUMB = ("bel", "cr", "cud1", "ind")
_WINDOWS: dict[str, str | None] = {
    "cnorm": "\x1b[34h\x1b[?25h", "cuu1": "\x1bM", "rmcup": "\x1b[?1049l", "sgr0": "\x1b[m\x0f",
    "smcup": "\x1b[?1049h",
}  # fmt: skip
"""What screen and tmux have instead."""
_SCREEN: dict[str, str | None] = {
    "invis": None, "ritm": None, "sitm": None, "rmso": "\x1b[23m", "smso": "\x1b[3m",
}  # fmt: skip
"""The strings that screen alone has instead; None for missing ones."""
_PARAMETRIC = {
    "cuu": "\x1b[%p1%dA", "cud": "\x1b[%p1%dB", "cuf": "\x1b[%p1%dC", "cub": "\x1b[%p1%dD",
    "il": "\x1b[%p1%dL", "dl": "\x1b[%p1%dM", "hpa": "\x1b[%i%p1%dG", "vpa": "\x1b[%i%p1%dd",
    "cup": "\x1b[%i%p1%d;%p2%dH", "csr": "\x1b[%i%p1%d;%p2%dr", "setaf": "\x1b[3%p1%dm",
    "setab": "\x1b[4%p1%dm",
}  # fmt: skip
"""Strings with numbers in them; `%i` counts them from one."""
_COLORS = 256
_NAMES = frozenset(
    f"{name}{colors}" for name in ("xterm", "screen", "tmux") for colors in ("", "-256color")
)


def is_terminal(name: str) -> bool:
    """Whether there is a terminal of that name."""
    return name == "dumb" or name in _NAMES


def clearing(terminal: str, *, scrollback: bool) -> str:
    """Return the string that clears the terminal and its scrollback, "" for none."""
    if terminal == "dumb":
        return ""
    base = terminal.removesuffix("-256color")
    text = "\x1b[H\x1b[2J" if base == "xterm" else "\x1b[H\x1b[J"
    return text + "\x1b[3J" if scrollback and base != "screen" else text


def parameters_of(capability: str) -> int:
    """Return how many numbers a capability takes."""
    return len(re.findall("%p", _PARAMETRIC.get(capability, "")))


def capability_text(terminal: str, name: str, parameters: list[int], columns: int) -> str | None:
    """Return what `tput` prints, None for what the terminal does not have.

    Raises KeyError for a capability that no terminal has.
    """
    dumb = terminal == "dumb"
    base = terminal.removesuffix("-256color")
    if name in ("cols", "lines"):
        return f"{columns if name == 'cols' else 24}\n"
    if name == "colors":
        return f"{-1 if dumb else _COLORS if terminal != base else 8}\n"
    if name in _PARAMETRIC:
        return None if dumb else _with_numbers(terminal, name, parameters)
    text: str | None = _STRINGS[name]
    if dumb:
        return text if name in _OF_DUMB else None
    if base == "screen":
        text = _SCREEN.get(name, text)
    return text if base == "xterm" else _WINDOWS.get(name, text)


def _with_numbers(terminal: str, name: str, parameters: list[int]) -> str:
    """Return the string with its numbers filled in, if there are any."""
    text = _PARAMETRIC[name]
    if not parameters:
        return text
    numbers = [*parameters, 0]
    if name in ("setaf", "setab") and terminal.endswith("-256color") and numbers[0] > 7:
        layer = 3 if name == "setaf" else 4
        bright = numbers[0] < 16
        return f"\x1b[{layer + 6}{numbers[0] - 8}m" if bright else f"\x1b[{layer}8;5;{numbers[0]}m"
    more = 1 if "%i" in text else 0
    for number in numbers:
        text = re.sub(r"(?:%i)?%p[12]%d", str(number + more), text, count=1)
    return text
