"""Which host a command line means."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def host_of(words: Sequence[str]) -> str:
    """Return the host of the first URL among the words, or the last word without one."""
    for word in words:
        found = re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*://(?:[^/@]*@)?([^/:?#]*)", word)
        if found is not None:
            return found[1]
    return re.split(r"[/:?#]", words[-1])[0]
