"""Chance from a file, as `--random-source` asks: the same bytes make the same choices as in GNU's tools."""

from __future__ import annotations

from itertools import chain

from agentsandbox.commands._text.quoting import quote
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from agentsandbox.kernel.streams import ByteReader

__all__ = ["Chance", "FileChance", "HostChance"]

_FEW = 1 << 32
"""Below this a floating-point number chooses evenly enough."""
_BLOCK = 4096


class HostChance:
    """The sandbox's own chance."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def choose_each(self, counts: Iterable[int]) -> Iterable[int]:
        """For each count a number from 0 up to, but not with, it."""
        random, randrange = self._random.random, self._random.randrange
        return [int(random() * count) if count < _FEW else randrange(count) for count in counts]


class FileChance:
    """Numbers from the bytes of a file; what one choice leaves of a byte serves the next."""

    def __init__(self, source: ByteReader, name: str) -> None:
        self._bytes = chain.from_iterable(source.blocks(_BLOCK))
        self._name = name
        self._number = 0
        self._largest = 0

    def choose_each(self, counts: Iterable[int]) -> Iterable[int]:
        """For each count a number from 0 up to, but not with, it."""
        return map(self._choose, counts)

    def _choose(self, count: int) -> int:
        wanted = count - 1
        number, largest = self._number, self._largest
        while True:
            while largest < wanted:
                byte = next(self._bytes, None)
                if byte is None:
                    raise CommandError(f"{quote(self._name)}: end of file", 1)
                number = (number << 8) + byte
                largest = (largest << 8) + 255
            if largest == wanted:
                self._number = self._largest = 0
                return number
            excess = largest - wanted
            unusable = excess % count
            last = largest - unusable
            if number <= last:
                self._largest = excess // count
                self._number, chosen = divmod(number, count)
                return chosen
            number -= last + 1
            largest = unusable - 1


Chance = HostChance | FileChance
