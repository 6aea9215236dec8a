"""The order in which `for (key in array)` walks an array.

Scripts see that order, so gawk's is reproduced. gawk has three kinds of tables, chosen by the first
key: for natural numbers trees, walked upwards as long as the numbers are dense; for other integers
and for strings hash tables, whose order depends on the keys' hashes and on the order of insertion.
"""

from __future__ import annotations

from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentsandbox.commands.awk.values import Array

ORDERED_UP_TO = 100_000
"""Elements above which an array is walked in the order of insertion."""

_SIZES = (13, 127, 1021, 8191, 16381, 32749, 65497, 131101)
_CHAIN = 2
_MASK = 0xFFFFFFFF
_DENSE_BITS = 10  # integers below 2 ** 10 share one tree
_SPARSE = 2048  # unused places a tree of integers may have
_PIECE = 512  # keys between two looks at the meter


def walk_order(array: Array, step: Callable[[int], None]) -> list[str]:
    """Return the keys in the order of gawk's `for (key in array)`."""
    keys = list(array)
    if len(keys) < 2 or len(keys) > ORDERED_UP_TO:
        return keys
    first = _integer(keys[0] if array.first is None else array.first)
    if first is None:
        return _string_order(keys, step)
    if first < 0:
        return _integer_order(keys, step)
    return _tree_order(keys, step)


def _integer(key: str) -> int | None:
    """Return the number of a key that gawk keeps as one: canonical decimal within 32 bits."""
    if not key or not (key.isascii() and key.lstrip("-").isdecimal()) or len(key) > 11:
        return None
    number = int(key) if key[0] != "-" or key[1:].isdecimal() else None
    if number is None or str(number) != key or not -(2**31) < number < 2**31:
        return None
    return number


def _hash(key: str) -> int:
    value = 0
    for byte in encode(key):
        shifted = (value << 6) & _MASK
        value = ((byte - 256 if byte > 127 else byte) + shifted + (shifted << 10) - value) & _MASK
    return value


def _string_order(keys: list[str], breathe: Callable[[int], None]) -> list[str]:
    entries: list[tuple[int, str]] = []
    for start in range(0, len(keys), _PIECE):
        piece = keys[start : start + _PIECE]
        breathe(len(piece))
        entries += [(_hash(key), key) for key in piece]
    step = 0
    table: list[list[tuple[int, str]]] = [[] for _ in range(_SIZES[0])]
    for count, entry in enumerate(entries, 1):
        if count // _SIZES[step] > _CHAIN and step + 1 < len(_SIZES):
            step += 1
            table = _regrown(table, _SIZES[step])
        table[entry[0] % _SIZES[step]].append(entry)
    # each chain holds its newest entry first; the lists here hold it last
    return [key for chain in table for _, key in reversed(chain)]


def _regrown(table: list[list[tuple[int, str]]], size: int) -> list[list[tuple[int, str]]]:
    grown: list[list[tuple[int, str]]] = [[] for _ in range(size)]
    for chain in table:
        for entry in reversed(chain):
            grown[entry[0] % size].append(entry)
    return grown


def _mix(number: int) -> int:
    value = number & _MASK
    value ^= (value << 3) & _MASK
    value = (value + (value >> 5)) & _MASK
    value ^= (value << 4) & _MASK
    value = (value + (value >> 17)) & _MASK
    value ^= (value << 25) & _MASK
    return (value + (value >> 6)) & _MASK


def _integer_order(keys: Iterable[str], breathe: Callable[[int], None]) -> list[str]:
    """Return strings first, then integers by hash; a chain's links hold two numbers each."""
    strings: list[str] = []
    step, count = 0, 0
    table: list[list[list[int]]] = [[] for _ in range(_SIZES[0])]

    def insert(number: int) -> None:
        chain = table[_mix(number) % len(table)]
        if chain and len(chain[-1]) < 2:
            chain[-1].append(number)
        else:
            chain.append([number])

    for key in keys:
        breathe(1)
        number = _integer(key)
        if number is None:
            strings.append(key)
            continue
        count += 1
        if count // _SIZES[step] > _CHAIN and step + 1 < len(_SIZES):
            step += 1
            old, table = table, [[] for _ in range(_SIZES[step])]
            for chain in old:
                for link in reversed(chain):
                    for member in link:
                        insert(member)
        insert(number)
    numbers = [str(number) for chain in table for link in reversed(chain) for number in link]
    return (_string_order(strings, breathe) if strings else []) + numbers


def _tree_order(keys: list[str], breathe: Callable[[int], None]) -> list[str]:
    """Return keys that do not fit a dense tree of natural numbers, then the tree upwards."""
    capacity = 0
    leaves: set[tuple[int, int]] = set()
    inside: list[int] = []
    outside: list[str] = []
    for key in keys:
        breathe(1)
        number = _integer(key)
        if number is None or number < 0:
            outside.append(key)
            continue
        bits = max(number.bit_length() - 1, _DENSE_BITS)
        guess = bits
        while guess >= _DENSE_BITS:
            guess = (guess + 1) // 2
        if capacity + (1 << guess) - len(inside) > _SPARSE:
            outside.append(key)
            continue
        base, size = _leaf(number, bits)
        if (base, size) not in leaves:
            leaves.add((base, size))
            capacity += size
        inside.append(number)
    inside.sort()
    # the first of the others decides on their table
    order = _integer_order if outside and _integer(outside[0]) is not None else _string_order
    return order(outside, breathe) + [str(number) for number in inside]


def _leaf(number: int, bits: int) -> tuple[int, int]:
    """Return where the leaf that holds `number` begins, and how many places it has."""
    base = 1 << bits if number >= 1 << _DENSE_BITS else 0
    while True:
        half = (bits + 1) // 2
        size = 1 << half
        base += (number - base) // size * size
        if half <= _DENSE_BITS:
            return base, size
        bits = half
