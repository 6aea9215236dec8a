"""Times of files: exact, and as text in the time zone of the environment."""

from __future__ import annotations

from agentsandbox.languages.strftime import format_date, longest_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext

__all__ = ["LocalTime", "nanoseconds"]

_BILLION = 10**9


def nanoseconds(seconds: float) -> int:
    """A time in whole nanoseconds, as exactly as it is known."""
    exact: int | None = getattr(seconds, "ns", None)
    if exact is not None:
        return exact
    whole = int(seconds // 1)
    return whole * _BILLION + int((seconds - whole) * _BILLION)


class LocalTime:
    """Turns nanoseconds since the epoch into text in one time zone."""

    __slots__ = ("budget", "zone")

    def __init__(self, ctx: CommandContext) -> None:
        self.budget = ctx.budget
        self.zone = ctx.env.get("TZ", "")

    def format(self, format: str, ns: int) -> str:
        """`format` as that of GNU `date`."""
        self.budget.charge(longest_width(format) + 64 * len(format))
        return format_date(ns, format, self.zone)
