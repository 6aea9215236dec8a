"""The colors of `rg`: what it writes around names, numbers and matches."""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RgColors"]

_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_STYLES = {"bold": "1", "underline": "4"}
_DEFAULTS = ("path:fg:magenta", "line:fg:green", "match:fg:red", "match:style:bold")


class RgColors:
    """`paint` puts the escapes of a part around a text: path, line, column or match."""

    def __init__(self, specs: Sequence[str]) -> None:
        self._parts: dict[str, dict[str, str]] = {"path": {}, "line": {}, "column": {}, "match": {}}
        for spec in (*_DEFAULTS, *specs):
            self._set(spec)

    def _set(self, spec: str) -> None:
        fields = spec.split(":")
        if len(fields) < 2 or len(fields) > 3 or (len(fields) == 2 and fields[1] != "none"):
            raise CommandError(f"invalid color spec format: '{spec}'. Valid format is '(path|line|column|match):(fg|bg|style):(value)'.", 2)
        kind, attribute = fields[0].lower(), fields[1].lower()
        if kind not in self._parts:
            raise CommandError(f"unrecognized output type '{fields[0]}'. Choose from: path, line, column, match.", 2)
        part = self._parts[kind]
        if attribute == "none":
            part.clear()
        elif attribute in ("fg", "bg"):
            part[attribute] = _color(fields[2], 38 if attribute == "fg" else 48)
        elif attribute == "style":
            self._set_style(part, fields[2])
        else:
            raise CommandError(f"unrecognized spec type '{fields[1]}'. Choose from: fg, bg, style, none.", 2)

    @staticmethod
    def _set_style(part: dict[str, str], value: str) -> None:
        name = value.lower()
        if name.removeprefix("no") in _STYLES or name.removeprefix("no") == "intense":
            key = name.removeprefix("no")
            if name.startswith("no"):
                part.pop(key, None)
            else:
                part[key] = _STYLES.get(key, "")
            return
        raise CommandError(
            f"unrecognized style attribute '{value}'. Choose from: nobold, bold, nointense, intense, nounderline, underline.", 2
        )

    def paint(self, kind: str, text: str) -> str:
        """The text with its escapes."""
        part = self._parts[kind]
        if not part and kind == "match":
            return text
        codes = ["0", *[part[key] for key in ("bold", "underline") if key in part]]
        for key in ("fg", "bg"):
            code = part.get(key)
            if code is not None and "intense" in part and len(code) == 2:
                code = f"{code[0]}8;5;{int(code[1]) + 8}"
            if code is not None:
                codes.append(code)
        return "".join([f"\33[{code}m" for code in codes]) + f"{text}\33[0m"


def _color(value: str, base: int) -> str:
    name = value.lower()
    if name in _NAMES:
        return f"{base // 10}{_NAMES.index(name)}"
    numbers = [int(part, 0) for part in name.split(",") if re.fullmatch("0|[1-9][0-9]{0,2}|0x[0-9a-f]{1,2}", part)]
    if len(numbers) == name.count(",") + 1 and len(numbers) in (1, 3) and max(numbers) < 256:
        return f"{base};5;{numbers[0]}" if len(numbers) == 1 else f"{base};2;{numbers[0]};{numbers[1]};{numbers[2]}"
    raise CommandError(f"unrecognized color name '{value}'. Choose from: black, blue, green, red, cyan, magenta, yellow, white", 2)
