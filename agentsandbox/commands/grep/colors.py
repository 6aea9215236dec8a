"""The colours of what grep prints."""

from __future__ import annotations

import re


class Colors:
    """The parts' colours, as GREP_COLORS gives them; GREP_COLOR is that of the matches if this says
    nothing of them.

    `obsolete` is GREP_COLOR where it counts, else "".
    """

    _DEFAULTS = {
        "ms": "01;31",
        "mc": "01;31",
        "sl": "",
        "cx": "",
        "fn": "35",
        "ln": "32",
        "bn": "32",
        "se": "36",
    }

    def __init__(self, setting: str, obsolete: str, *, inverted: bool) -> None:
        parts = dict(self._DEFAULTS)
        matches = {"ms", "mc"}
        self._erase = "\33[K"
        reverse = False
        for piece in setting.split(":"):
            name, equals, value = piece.partition("=")
            if equals and not re.fullmatch(r"[0-9;]*", value):
                break
            if name == "mt" and equals:
                parts["ms"] = parts["mc"] = value
                matches.clear()
            elif name in parts and equals:
                parts[name] = value
                matches.discard(name)
            elif name == "ne" and not equals:
                self._erase = ""
            elif name == "rv" and not equals:
                reverse = True
        if inverted and reverse:
            parts["sl"], parts["cx"] = parts["cx"], parts["sl"]
        self.obsolete = obsolete if matches and re.fullmatch(r"[0-9;]*", obsolete) else ""
        if self.obsolete:
            parts.update(dict.fromkeys(matches, obsolete))
        self.parts = parts

    def paint(self, part: str, text: str) -> str:
        """The text in the colour of a part, as it is when the part has none."""
        if not self.parts[part]:
            return text
        return f"{self.begin(part)}{text}\33[m{self._erase}"

    def begin(self, part: str) -> str:
        """What turns the colour of a part on."""
        code = self.parts[part]
        return f"\33[{code}m{self._erase}" if code else ""
