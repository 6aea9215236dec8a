"""The check of PCRE for look-behinds: each alternative must have a single length.

The `regex` package would accept any look-behind; this module reads the body in tokens and adds up
the lengths.
"""

from __future__ import annotations

import re

_LONGEST = 2_000
"""A longer body counts as fixed, because nested look-behinds are read once for each level."""
_TOKEN = re.compile(
    r"""
    (?P<literal> \\Q .*? (?:\\E|$) )
  | (?P<empty> \\[bBAzZGKE] | [\^$] | \(\?\#[^)]*\) | \(\?[a-zA-Z-]+\) )
  | (?P<varying> \\[RX] | [*+?] )
  | (?P<count> \{(\d+)(?:,(\d*))?\} )
  | (?P<nothing> \(\?<?[=!] )
  | (?P<open> \( (?: \?(?: [a-zA-Z-]*: | > | \| | P?<\w+> | '\w+' ) )? )
  | (?P<close> \) )
  | (?P<branch> \| )
  | (?P<one> \\[xopPN]\{[^}]*\} | \\.| \[\^?\]?(?: \[:\w+:\] | \\. | [^\]\\] )*\] | . )
    """,
    re.VERBOSE | re.DOTALL,
)


def is_fixed(pattern: str, start: int) -> bool:
    """Whether each alternative of the look-behind at `start` has a single length."""
    length = last = 0
    seen: set[int] = set()
    outer: list[tuple[int, set[int], bool]] = []
    for found in _TOKEN.finditer(pattern, start, start + _LONGEST):
        kind = found.lastgroup
        if kind == "varying":
            return False
        if kind == "count":
            if found[6] is not None and found[6] != found[5]:
                return False
            length += last * (int(found[5][:5]) - 1)
        elif kind in ("open", "nothing"):
            outer.append((length, seen, kind == "nothing"))
            length, seen = 0, set()
        elif kind == "branch":
            seen.add(length)
            length = 0
        elif kind == "close":
            seen.add(length)
            if not outer:
                return True
            if len(seen) > 1:
                return False
            before, seen, nothing = outer.pop()
            last = 0 if nothing else length
            length = before + last
        else:
            last = {"one": 1, "empty": 0}.get(kind or "", len(found[0]) - 4)
            length += last
    return True
