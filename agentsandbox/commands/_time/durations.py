"""Lengths of time on command lines: `sleep 1.5m`, `timeout 2h`."""

from __future__ import annotations

from agentsandbox.kernel.formats.long_double import parse_long_double

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_duration(text: str) -> float | None:
    """Return the seconds of a number with a unit, possibly infinite; None for anything else."""
    value, end, _ = parse_long_double(text)
    unit = _UNITS.get(text[end:])
    negative = value.negative and (value.mantissa or value.special)
    if not end or unit is None or value.special == "nan" or negative:
        return None
    if value.special or value.mantissa.bit_length() + value.exponent > 900:
        return float("inf")
    seconds = float(value.mantissa) * 2.0**value.exponent if value.exponent > -1000 else 0.0
    return seconds * unit
