"""Times of files: exact, and as text in the time zone of the environment."""

from __future__ import annotations

from agentsandbox.kernel.formats.strftime import format_date, longest_width
from agentsandbox.kernel.fs.base import nanoseconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext

__all__ = ["LocalTime", "nanoseconds"]


class LocalTime:
    """Turns nanoseconds since the epoch into text in one time zone."""

    __slots__ = ("budget", "zone")

    def __init__(self, ctx: CommandContext) -> None:
        self.budget = ctx.budget
        self.zone = ctx.env.get("TZ", "")

    def show(self, format: str, ns: int) -> str:
        """Return a time in a format of GNU `date`."""
        self.budget.charge(longest_width(format) + 64 * len(format))
        return format_date(ns, format, self.zone)
