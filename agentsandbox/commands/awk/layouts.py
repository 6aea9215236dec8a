"""Fields by what they hold or how wide they are: FPAT, `patsplit` and FIELDWIDTHS."""

from __future__ import annotations

import re

from agentsandbox.commands.awk.values import AwkFatal
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.awk.patterns import Pattern

_SKIP = lazily(r"^[0-9]++:", re.ASCII)
_WIDTH = lazily(r"(?:([0-9]{1,9}):)?([0-9]{1,9}|\*)", re.ASCII)


def matches(
    pattern: Pattern, text: str, step: Callable[[], None], gaps: list[str] | None = None
) -> list[str]:
    """Return the matches in a text, which are the fields by FPAT; `gaps` gets what is between."""
    found: list[str] = []
    position = last = 0
    after_match = False
    while text and position <= len(text):
        step()
        match = pattern.search(text, position)
        if match is None:
            break
        left, right = match.span()
        if left == right and after_match and left == last:
            position = left + 1
            after_match = False
            continue
        found.append(text[left:right])
        if gaps is not None:
            gaps.append(text[last:left])
        last = right
        position = right if right > left else right + 1
        after_match = right > left
    if gaps is not None:
        gaps.append(text[last:])
    return found


def width_splitter(widths: str) -> Callable[[str], list[str]]:
    """Return the splitter by FIELDWIDTHS: numbers, `skip:width`, and a last `*` for the rest."""
    words = widths.split()
    plan: list[tuple[int, int]] = []
    for number, word in enumerate(words, 1):
        found = _WIDTH.fullmatch(word)
        if found is None or found[2] == "0":
            near = " ".join([_SKIP.sub("", word), *words[number:]])
            raise AwkFatal(f"invalid FIELDWIDTHS value, for field {number}, near `{near}'")
        if found[2] == "*" and number < len(words):
            raise AwkFatal("`*' must be the last designator in FIELDWIDTHS")
        plan.append((int(found[1] or 0), -1 if found[2] == "*" else int(found[2])))

    def split(text: str) -> list[str]:
        fields: list[str] = []
        position = 0
        for skip, width in plan:
            if position >= len(text):
                break
            position = min(position + skip, len(text))
            end = len(text) if width < 0 else position + width
            fields.append(text[position:end])
            position = end
        return fields

    return split
