"""What the words after `.mode` of `sqlite3` choose."""

from __future__ import annotations

from agentsandbox.commands._sqlite_output import MODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Choice", "read_mode"]

_WRAP = 60
_ORDER = (
    "line",
    "column",
    "list",
    "html",
    "tcl",
    "csv",
    "tabs",
    "insert",
    "quote",
    "ascii",
    "markdown",
    "table",
    "box",
    "count",
    "off",
    "json",
)
"""The order in which a beginning of a name is looked up."""
_OPTIONS = "options:\n  --noquote\n  --quote\n  --wordwrap on/off\n  --wrap N\n  --ww"


class Choice:
    """A mode, or None for the present one, and its options; `problem` is what is wrong with them."""

    __slots__ = ("mode", "problem", "quote", "table", "word_wrap", "wrap")

    def __init__(self) -> None:
        self.mode: str | None = None
        self.table: str | None = None
        self.wrap = _WRAP
        self.word_wrap = False
        self.quote = False
        self.problem = ""


def read_mode(words: list[str], is_on: Callable[[str], bool]) -> Choice:
    """Read the words of `.mode`."""
    choice = Choice()
    rest = iter(words)
    for at, word in enumerate(rest):
        option = word.lstrip("-") if word.startswith("-") and len(word) - len(word.lstrip("-")) <= 2 else ""
        has_value = at + 1 < len(words)
        if option == "wrap" and has_value:
            digits = next(rest, "")
            choice.wrap = int(digits[:5]) if digits.isdecimal() else 0
        elif option == "ww":
            choice.word_wrap = True
        elif option == "wordwrap" and has_value:
            choice.word_wrap = is_on(next(rest, ""))
        elif option in ("quote", "noquote"):
            choice.quote = option == "quote"
        elif choice.mode is None:
            choice.mode = _full_name(word)
            if word == "qbox":
                choice.mode, choice.wrap, choice.word_wrap, choice.quote = "box", _WRAP, False, True
        elif choice.table is None:
            choice.table = word
        else:
            choice.problem = f"unknown option: {word}\n{_OPTIONS}" if word.startswith("-") else f'extra argument: "{word}"'
            break
    return choice


def _full_name(word: str) -> str:
    """The mode that a word begins; the word itself if none."""
    if word in MODES.split():
        return word
    return next((name for name in _ORDER if f"{name}s".startswith(word)), word)
