"""Chance from a file, as `--random-source` asks: the same bytes make the same choices as in GNU's tools."""

from __future__ import annotations

from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

    from agentsandbox.streams import ByteReader

__all__ = ["Chance", "FileChance", "HostChance"]


class HostChance:
    """The sandbox's own chance."""

    def __init__(self, random: Random) -> None:
        self.choose = random.randrange


class FileChance:
    """Numbers from the bytes of a file; what one choice leaves of a byte serves the next."""

    def __init__(self, source: ByteReader, name: str) -> None:
        self._source = source
        self._name = name
        self._number = 0
        self._largest = 0

    def choose(self, count: int) -> int:
        """A number from 0 up to, but not with, `count`."""
        largest = count - 1
        while True:
            while self._largest < largest:
                byte = self._source.read(1)
                if not byte:
                    raise CommandError(f"{quote(self._name)}: end of file", 1)
                self._number = (self._number << 8) + byte[0]
                self._largest = (self._largest << 8) + 255
            if self._largest == largest:
                chosen, self._number, self._largest = self._number, 0, 0
                return chosen
            excess = self._largest - largest
            unusable = excess % count
            last = self._largest - unusable
            if self._number <= last:
                self._number, chosen = divmod(self._number, count)
                self._largest = excess // count
                return chosen
            self._number -= last + 1
            self._largest = unusable - 1


Chance = HostChance | FileChance
