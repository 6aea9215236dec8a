"""`strftime` and `mktime`, in the zone that TZ names."""

from __future__ import annotations

from agentsandbox.kernel.formats.strftime import longest_width, strftime
from agentsandbox.kernel.formats.timezones import days_from_civil, find_zone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_FARTHEST = 60_000_000_000  # seconds: about the year 3871


def format_time(
    template: str, seconds: float, utc: bool, env: Mapping[str, str], charge: Callable[[int], None]
) -> str:
    """Return a time by a format; times out of reach become the farthest that is known."""
    charge(longest_width(template) + 64 * len(template))
    if seconds != seconds:
        seconds = 0.0
    moment = int(max(-_FARTHEST, min(_FARTHEST, seconds)))
    return strftime(moment, template, "GMT0" if utc else env.get("TZ", ""))


def make_time(text: str, utc: bool, env: Mapping[str, str]) -> float:
    """Return "YYYY MM DD HH MM SS [DST]" as seconds since the epoch; -1 if it is no time."""
    words = text.split()
    numbers: list[int] = []
    for word in words[:7]:
        if not word.lstrip("+-").isdecimal() or len(word) > 12:
            break
        numbers.append(int(word))
    if len(numbers) < 6:
        return -1.0
    year, month, day, hour, minute, second = numbers[:6]
    daylight = numbers[6] if len(numbers) > 6 else -1
    year += (month - 1) // 12
    month = (month - 1) % 12 + 1
    if not -10_000 < year < 10_000:
        return -1.0
    local = (days_from_civil(year, month, 1) + day - 1) * 86400 + hour * 3600 + minute * 60 + second
    if utc:
        return float(local)
    zone = find_zone(env.get("TZ", ""))
    moment = zone.to_utc(local, None if daylight < 0 else daylight > 0)
    if daylight > 0 and moment == zone.to_utc(local, False):
        return moment - 3600.0  # as the C library takes it where there is no daylight saving time
    return float(moment)
