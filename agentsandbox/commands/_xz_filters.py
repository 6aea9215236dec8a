"""The filters of `xz`: chains like --x86 --lzma2=dict=1MiB, and data without a header."""

from __future__ import annotations

import lzma
import re

from agentsandbox.commands._compression import CompressionError
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agentsandbox.commands._compression import Compressor, Source
    from agentsandbox.limits import Budget

    Filter = dict[str, int]

__all__ = ["check_number", "expand_raw", "filtered_compressor", "read_filters"]

_BLOCK = 262144
_LARGEST = 8 * 1024 * 1024
"""A larger dictionary needs ten times its size: it is taken as this one."""

_LEAST, _MOST = 4096, 1536 * 1024 * 1024
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_LAST = {"lzma1": lzma.FILTER_LZMA1, "lzma2": lzma.FILTER_LZMA2}
_BRANCHES = {
    "x86": lzma.FILTER_X86, "arm": lzma.FILTER_ARM, "armthumb": lzma.FILTER_ARMTHUMB, "powerpc": lzma.FILTER_POWERPC,
    "ia64": lzma.FILTER_IA64, "sparc": lzma.FILTER_SPARC,
}  # fmt: skip
_FINDERS = {"hc3": lzma.MF_HC3, "hc4": lzma.MF_HC4, "bt2": lzma.MF_BT2, "bt3": lzma.MF_BT3, "bt4": lzma.MF_BT4}
_MODES = {"fast": lzma.MODE_FAST, "normal": lzma.MODE_NORMAL}
_RANGES = {
    "dict": (_LEAST, _MOST), "lc": (0, 4), "lp": (0, 4), "pb": (0, 4), "nice": (2, 273), "depth": (0, 0xFFFFFFFF), "dist": (1, 256),
    "start": (0, 0xFFFFFFFF),
}  # fmt: skip
_KEYS = {"dict": "dict_size", "nice": "nice_len", "start": "start_offset"}
_MOST_FILTERS = 4


def check_number(text: str, *, percents: bool = False) -> int:
    """A number with a suffix like KiB, or max."""
    if text == "max":
        return 1 << 64
    found = re.match(r"[0-9]+", text)
    if found is None:
        raise CommandError(f"{text}: Value is not a non-negative decimal integer")
    rest = text[found.end() :]
    if percents and rest == "%":
        return int(found[0])
    unit = re.fullmatch(r"([kKmMgG]?)(?:i?B?)", rest)
    if unit is None or (rest and not unit[1]):
        raise CommandError(f"{rest}: Invalid multiplier suffix\nxz: Valid suffixes are `KiB' (2^10), `MiB' (2^20), and `GiB' (2^30).")
    return int(found[0]) * _UNITS[unit[1].lower()]


def read_filters(given: Sequence[tuple[str, str | None]]) -> list[Filter]:
    """The chain that the options ask for, none for the usual one."""
    filters: list[Filter] = []
    for key, value in given:
        if key in _LAST:
            filters.append({"id": _LAST[key], **_read_lzma(key, value or "")})
        elif key == "delta":
            filters.append({"id": lzma.FILTER_DELTA, "dist": 1, **_read_options(key, value or "", ("dist",))})
        elif key in _BRANCHES:
            filters.append({"id": _BRANCHES[key], **_read_options(key, value or "", ("start",))})
    if len(filters) > _MOST_FILTERS:
        raise CommandError("Maximum number of filters is four")
    return filters


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for part in text.split(","):
        if not part:
            continue
        name, equals, value = part.partition("=")
        if not equals or not value:
            raise CommandError(f"{text}: Options must be `name=value' pairs separated with commas")
        yield name, value


def _read_number(name: str, value: str) -> int:
    number = check_number(value)
    least, most = _RANGES[name]
    if not least <= number <= most:
        raise CommandError(f"Value of the option `{name}' must be in the range [{least}, {most}]")
    return number


def _read_options(key: str, text: str, known: Sequence[str]) -> Filter:
    found: Filter = {}
    for name, value in _pairs(text):
        if name not in known:
            raise CommandError(f"{name}: Invalid option name")
        found[_KEYS.get(name, name)] = _read_number(name, value)
    return found


def _read_lzma(key: str, text: str) -> Filter:
    found: Filter = {"preset": 6}
    for name, value in _pairs(text):
        if name == "preset":
            if not re.fullmatch("[0-9]e?", value):
                raise CommandError(f"Unsupported LZMA1/LZMA2 preset: {value}")
            extreme = lzma.PRESET_EXTREME if value.endswith("e") else 0
            found = {"preset": min(int(value[0]), 6) | extreme}
        elif name in ("mode", "mf"):
            table = _MODES if name == "mode" else _FINDERS
            if value not in table:
                raise CommandError(f"{value}: Invalid option value")
            found[name] = table[value]
        elif name in ("dict", "lc", "lp", "pb", "nice", "depth"):
            found[_KEYS.get(name, name)] = _read_number(name, value)
        else:
            raise CommandError(f"{name}: Invalid option name")
    if found.get("lc", 0) + found.get("lp", 0) > _RANGES["lc"][1]:
        raise CommandError("The sum of lc and lp must not exceed 4")
    if "dict_size" in found:
        found["dict_size"] = min(found["dict_size"], _LARGEST)
    return found


_FORMATS = {"auto": lzma.FORMAT_XZ, "xz": lzma.FORMAT_XZ, "lzma": lzma.FORMAT_ALONE, "raw": lzma.FORMAT_RAW}


def filtered_compressor(format: str, filters: Sequence[Filter], check: int) -> Compressor:
    """Makes a stream with a chain of filters."""
    is_xz = _FORMATS[format] == lzma.FORMAT_XZ
    if not is_xz and format == "lzma" and [step["id"] for step in filters] != [lzma.FILTER_LZMA1]:
        raise CommandError("The .lzma format supports only the LZMA1 filter")
    if is_xz and any(step["id"] == lzma.FILTER_LZMA1 for step in filters):
        raise CommandError("LZMA1 cannot be used with the .xz format")
    try:
        return lzma.LZMACompressor(_FORMATS[format], check if is_xz else -1, filters=filters)
    except (lzma.LZMAError, ValueError):
        raise CommandError("Unsupported filter chain or filter options") from None


def expand_raw(source: Source, filters: Sequence[Filter], budget: Budget) -> Iterator[bytes]:
    """The data of a stream without a header, in blocks."""
    try:
        expander = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)
    except (lzma.LZMAError, ValueError):
        raise CommandError("Unsupported filter chain or filter options") from None
    while not expander.eof:
        block = source.block() if expander.needs_input else b""
        if not block and expander.needs_input:
            raise CompressionError("end")
        budget.step(200)
        try:
            found = expander.decompress(block, _BLOCK)
        except (EOFError, ValueError, lzma.LZMAError):
            raise CompressionError("data") from None
        if found:
            yield found
