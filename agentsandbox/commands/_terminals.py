"""Terminals by name: what `tput` and `clear` print for each."""

from __future__ import annotations

import re

__all__ = ["clearing", "expand", "is_terminal", "parameters_of"]

_XTERM_FLAGS = "am bce xenl km mir msgr npc"
_XTERM: dict[str, str | None] = {
    "bel": "\a", "blink": "\x1b[5m", "bold": "\x1b[1m", "civis": "\x1b[?25l", "cnorm": "\x1b[?12l\x1b[?25h", "cr": "\r", "cub1": "\b",
    "cud1": "\n", "cuf1": "\x1b[C", "cuu1": "\x1b[A", "dim": "\x1b[2m", "ed": "\x1b[J", "el": "\x1b[K", "el1": "\x1b[1K",
    "home": "\x1b[H", "invis": "\x1b[8m", "op": "\x1b[39;49m", "rc": "\x1b8", "rev": "\x1b[7m", "rmcup": "\x1b[?1049l\x1b[23;0;0t",
    "ritm": "\x1b[23m", "rmso": "\x1b[27m", "rmul": "\x1b[24m", "sc": "\x1b7", "sgr0": "\x1b(B\x1b[m", "sitm": "\x1b[3m",
    "smcup": "\x1b[?1049h\x1b[22;0;0t", "smso": "\x1b[7m", "smul": "\x1b[4m", "ind": "\n", "ri": "\x1bM", "ht": "\t", "cbt": "\x1b[Z",
    "dl1": "\x1b[M", "il1": "\x1b[L", "dch1": "\x1b[P", "smacs": "\x1b(0", "rmacs": "\x1b(B", "smkx": "\x1b[?1h\x1b=",
    "rmkx": "\x1b[?1l\x1b>", "smir": "\x1b[4h", "rmir": "\x1b[4l", "kcuu1": "\x1bOA", "kcud1": "\x1bOB", "kcub1": "\x1bOD",
    "kcuf1": "\x1bOC", "khome": "\x1bOH", "kend": "\x1bOF", "kdch1": "\x1b[3~", "kich1": "\x1b[2~", "kpp": "\x1b[5~", "knp": "\x1b[6~",
    "kbs": "\x7f", "is2": "\x1b[!p\x1b[?3;4l\x1b[4l\x1b>", "rs1": "\x1bc", "rs2": "\x1b[!p\x1b[?3;4l\x1b[4l\x1b>",
    "flash": "\x1b[?5h\x1b[?5l", "cvvis": "\x1b[?12;25h", "nel": "\x1bE", "rmam": "\x1b[?7l", "smam": "\x1b[?7h",
}  # fmt: skip
"""Strings of an xterm, without those that take parameters."""
_OTHERS: dict[str, dict[str, str | None]] = {
    "ansi": {
        "civis": None, "cnorm": None, "cub1": "\x1b[D", "cud1": "\x1b[B", "dim": None, "rc": None, "rmcup": None, "ritm": None,
        "rmso": "\x1b[m", "rmul": "\x1b[m", "sc": None, "sgr0": "\x1b[0;10m", "sitm": None, "smcup": None, "ri": None, "ht": "\x1b[I",
        "smacs": "\x1b[11m", "rmacs": "\x1b[10m", "smkx": None, "rmkx": None, "smir": None, "rmir": None, "kcuu1": "\x1b[A",
        "kcud1": "\x1b[B", "kcub1": "\x1b[D", "kcuf1": "\x1b[C", "khome": "\x1b[H", "kend": None, "kdch1": None, "kich1": "\x1b[L",
        "kpp": None, "knp": None, "kbs": "\b", "is2": None, "rs1": None, "rs2": None, "flash": None, "cvvis": None, "nel": "\r\x1b[S",
        "rmam": None, "smam": None,
    },
    "linux": {
        "civis": "\x1b[?25l\x1b[?1c", "cnorm": "\x1b[?25h\x1b[?0c", "invis": None, "rmcup": None, "ritm": None, "sgr0": "\x1b[m\x0f",
        "sitm": None, "smcup": None, "cbt": None, "ich1": "\x1b[@", "smacs": "\x0e", "rmacs": "\x0f", "enacs": "\x1b)0", "smkx": None,
        "rmkx": None, "kcuu1": "\x1b[A", "kcud1": "\x1b[B", "kcub1": "\x1b[D", "kcuf1": "\x1b[C", "khome": "\x1b[1~", "kend": "\x1b[4~",
        "is2": None, "rs1": "\x1bc\x1b]R", "rs2": None, "cvvis": "\x1b[?25h\x1b[?8c", "nel": "\r\n",
    },
    "screen": {
        "cnorm": "\x1b[34h\x1b[?25h", "cuu1": "\x1bM", "invis": None, "rmcup": "\x1b[?1049l", "ritm": None, "rmso": "\x1b[23m",
        "sgr0": "\x1b[m\x0f", "sitm": None, "smcup": "\x1b[?1049h", "smso": "\x1b[3m", "smacs": "\x0e", "rmacs": "\x0f",
        "enacs": "\x1b(B\x1b)0", "khome": "\x1b[1~", "kend": "\x1b[4~", "is2": "\x1b)0", "rs1": None, "rs2": "\x1bc\x1b[?1000l\x1b[?25h",
        "flash": "\x1bg", "cvvis": "\x1b[34l", "rmam": None, "smam": None,
    },
    "tmux": {
        "cnorm": "\x1b[34h\x1b[?25h", "cuu1": "\x1bM", "rmcup": "\x1b[?1049l", "sgr0": "\x1b[m\x0f", "smcup": "\x1b[?1049h",
        "smacs": "\x0e", "rmacs": "\x0f", "enacs": "\x1b(B\x1b)0", "khome": "\x1b[1~", "kend": "\x1b[4~", "is2": "\x1b)0", "rs1": None,
        "rs2": "\x1bc\x1b[?1000l\x1b[?25h", "flash": "\x1bg", "cvvis": "\x1b[34l", "rmam": None, "smam": None,
    },
    "vt100": {
        "civis": None, "cnorm": None, "dim": None, "invis": None, "op": None, "rmcup": None, "ritm": None, "rmso": "\x1b[m",
        "rmul": "\x1b[m", "sgr0": "\x1b[m\x0f", "sitm": None, "smcup": None, "cbt": None, "dl1": None, "il1": None, "dch1": None,
        "smacs": "\x0e", "rmacs": "\x0f", "enacs": "\x1b(B\x1b)0", "smir": None, "rmir": None, "khome": None, "kend": None,
        "kdch1": None, "kich1": None, "kpp": None, "knp": None, "kbs": "\b", "is2": None, "rs1": None,
        "rs2": "\x1b<\x1b>\x1b[?3;4;5l\x1b[?7;8h\x1b[r", "flash": None, "cvvis": None, "nel": None,
    },
    "vt102": {
        "civis": None, "cnorm": None, "dim": None, "invis": None, "op": None, "rmcup": None, "ritm": None, "rmso": "\x1b[m",
        "rmul": "\x1b[m", "sgr0": "\x1b[m\x0f", "sitm": None, "smcup": None, "cbt": None, "smacs": "\x0e", "rmacs": "\x0f",
        "enacs": "\x1b(B\x1b)0", "khome": None, "kend": None, "kdch1": None, "kich1": None, "kpp": None, "knp": None, "kbs": "\b",
        "is2": None, "rs1": None, "rs2": "\x1b<\x1b>\x1b[?3;4;5l\x1b[?7;8h\x1b[r", "flash": None, "cvvis": None, "nel": None,
    },
    "vt220": {
        "cnorm": "\x1b[?25h", "dim": None, "invis": None, "op": None, "rmcup": None, "ritm": None, "sgr0": "\x1b[m\x1b(B", "sitm": None,
        "smcup": None, "ind": "\x1bD", "cbt": None, "enacs": "\x1b)0", "smkx": None, "rmkx": None, "kcuu1": "\x1b[A", "kcud1": "\x1b[B",
        "kcub1": "\x1b[D", "kcuf1": "\x1b[C", "khome": None, "kend": None, "kbs": "\b", "is2": "\x1b[?7h\x1b[>\x1b[?1l\x1b F\x1b[?4l",
        "rs1": "\x1b[?3l", "rs2": None, "cvvis": None,
    },
}  # fmt: skip
"""What other terminals have instead; None for what they don't have."""
_FLAGS = {
    "ansi": "am mir msgr", "linux": "am bce xenl mir msgr xon", "screen": "am xenl km mir msgr", "tmux": "am xenl km mir msgr",
    "vt100": "am xenl msgr xon", "vt102": "am xenl msgr xon", "vt220": "am xenl mir msgr xon",
}  # fmt: skip
_KNOWN_FLAGS = frozenset("am bce xenl km mir msgr npc xon".split())
_PARAMETRIC = {
    "cuu": "\x1b[%p1%dA", "cud": "\x1b[%p1%dB", "cuf": "\x1b[%p1%dC", "cub": "\x1b[%p1%dD", "il": "\x1b[%p1%dL", "dl": "\x1b[%p1%dM",
    "dch": "\x1b[%p1%dP", "ich": "\x1b[%p1%d@", "ech": "\x1b[%p1%dX", "indn": "\x1b[%p1%dS", "rin": "\x1b[%p1%dT",
    "hpa": "\x1b[%i%p1%dG", "vpa": "\x1b[%i%p1%dd", "cup": "\x1b[%i%p1%d;%p2%dH", "csr": "\x1b[%i%p1%d;%p2%dr",
    "setaf": "\x1b[3%p1%dm", "setab": "\x1b[4%p1%dm", "setf": "\x1b[3%p1%dm", "setb": "\x1b[4%p1%dm",
}  # fmt: skip
"""Strings with numbers in them; `%i` counts them from one."""
_WITHOUT = {
    "ansi": "setf setb csr", "linux": "indn rin setf setb", "screen": "ech setf setb", "tmux": "ech setf setb",
    "vt100": "il dl dch ich ech vpa hpa indn rin setf setb setaf setab",
    "vt102": "il dl dch ich ech vpa hpa indn rin setf setb setaf setab",
    "vt220": "vpa hpa indn rin setf setb setaf setab", "xterm-256color": "setf setb",
}  # fmt: skip
_OLD_COLORS = (0, 4, 2, 6, 1, 5, 3, 7)
"""The colours of `setf` and `setb`, which count red and blue the other way round."""
_NUMBERS = {"colors": 8, "it": 8, "lines": 24, "ncv": -1, "pairs": 64}
_LONG_NAMES = {
    "xterm": "xterm terminal emulator (X Window System)", "xterm-256color": "xterm with 256 colors",
    "ansi": "ansi/pc-term compatible with color",
    "linux": "Linux console", "screen": "VT 100/ANSI X3.64 virtual terminal", "screen-256color": "GNU Screen with 256 colors",
    "tmux": "tmux terminal multiplexer", "tmux-256color": "tmux with 256 colors", "vt100": "DEC VT100 (w/advanced video)",
    "vt102": "DEC VT102", "vt220": "DEC VT220", "dumb": "80-column dumb tty",
}  # fmt: skip
_DUMB = {"bel": "\a", "cr": "\r", "cud1": "\n", "ind": "\n"}
_MOST_COLORS = 256


def is_terminal(name: str) -> bool:
    """Whether there is a terminal of that name."""
    return name in _LONG_NAMES


def clearing(terminal: str, *, scrollback: bool) -> str:
    """What clears the terminal, and what cannot be seen of it any more; "" if nothing does."""
    base = terminal.removesuffix("-256color")
    if base == "dumb":
        return ""
    text = "\x1b[H\x1b[2J" if base == "xterm" else "\x1b[H\x1b[J"
    return text + "\x1b[3J" if scrollback and base in ("xterm", "linux", "tmux") else text


def parameters_of(capability: str) -> int:
    """How many numbers a capability takes."""
    text = _PARAMETRIC.get(capability, "")
    return 2 if "%p2" in text else 1 if text else 0


def expand(terminal: str, capability: str, parameters: list[int], columns: int) -> str | None:
    """What `tput` prints; None for what the terminal doesn't have. KeyError: there is no such capability."""
    base = terminal.removesuffix("-256color")
    if capability == "longname":
        return _LONG_NAMES[terminal]
    if capability == "clear":
        return clearing(terminal, scrollback=True) or None
    if capability == "cols":
        return f"{columns}\n"
    if capability in _NUMBERS:
        return f"{_number(terminal, base, capability)}\n"
    if capability in _KNOWN_FLAGS:
        flags = "am" if base == "dumb" else _FLAGS.get(base, _XTERM_FLAGS)
        return "" if capability in flags.split() else None
    if capability in _PARAMETRIC:
        without = f"{_WITHOUT.get(terminal, '')} {_WITHOUT.get(base, '')}".split()
        return None if base == "dumb" or capability in without else _with_numbers(terminal, capability, parameters)
    known = any(capability in table for table in (_XTERM, *_OTHERS.values()))
    if not known:
        raise KeyError(capability)
    if base == "dumb":
        return _DUMB.get(capability)
    if terminal == "xterm-256color" and capability == "rs1":
        return "\x1bc\x1b]104\a"
    own = _OTHERS.get(base, {})
    return own[capability] if capability in own else _XTERM.get(capability)


def _number(terminal: str, base: str, capability: str) -> int:
    if capability in ("colors", "pairs") and (base == "dumb" or base.startswith("vt")):
        return -1
    if terminal != base and capability in ("colors", "pairs"):
        return _MOST_COLORS if capability == "colors" else _MOST_COLORS * _MOST_COLORS
    if capability == "ncv":
        return {"ansi": 3, "linux": 18}.get(base, -1)
    return -1 if base == "dumb" and capability == "it" else _NUMBERS[capability]


def _with_numbers(terminal: str, capability: str, parameters: list[int]) -> str:
    """The string with its numbers, or as it is if there are none."""
    text = _PARAMETRIC[capability]
    if not parameters:
        return text
    numbers = [*parameters, 0, 0]
    if capability in ("setaf", "setab") and terminal.endswith("-256color") and numbers[0] > 7:
        layer = 3 if capability == "setaf" else 4
        return f"\x1b[{layer + 6}{numbers[0] - 8}m" if numbers[0] < 16 else f"\x1b[{layer}8;5;{numbers[0]}m"
    if capability in ("setf", "setb") and 0 <= numbers[0] < len(_OLD_COLORS):
        numbers[0] = _OLD_COLORS[numbers[0]]
    more = 1 if "%i" in text else 0
    return re.sub(r"%i|%p([12])%d", lambda found: str(numbers[int(found[1]) - 1] + more) if found[1] else "", text)
