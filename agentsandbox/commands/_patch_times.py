"""The times in a patch's headers, which `patch -Z` and `patch -T` set."""

from __future__ import annotations

import re

from agentsandbox.languages.dates import DateError, parse_date
from agentsandbox.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext

__all__ = ["header_time"]

_STAMP = re.compile(rb"[^\t\n]*\t([^\n]+)|[^ \n]+ ([^\n]+)")


def header_time(ctx: CommandContext, header: bytes, *, utc: bool) -> int | None:
    """When a file was changed, in nanoseconds since the epoch; None if its header line does not say."""
    found = _STAMP.match(header[4:])
    if found is None:
        return None
    try:
        return parse_date(decode(found[1] or found[2]), ctx.host.clock(), "UTC0" if utc else ctx.env.get("TZ", ""))
    except DateError:
        return None
