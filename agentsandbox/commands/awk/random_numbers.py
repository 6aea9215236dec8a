"""`rand`: the generator of gawk, so that a seed gives the same numbers."""

from __future__ import annotations

_DEGREE, _SEPARATION = 63, 1
_TABLE = 512
_MASK = 0xFFFFFFFF
_RANGE = float(1 << 31)


class RandomNumbers:
    """An additive feedback generator of degree 63, its output shuffled through a table of 512."""

    __slots__ = ("_front", "_last", "_rear", "_state", "_table")

    def __init__(self, seed: int) -> None:
        value = seed & _MASK
        self._state = [value]
        for _ in range(1, _DEGREE):
            value = _follow(value)
            self._state.append(value)
        self._front = _SEPARATION
        self._rear = 0
        self._table = [self._step() for _ in range(_TABLE)]
        self._last = self._step()
        for _ in range(10 * _DEGREE):
            self._shuffled()

    def _step(self) -> int:
        state = self._state
        value = state[self._front] = (state[self._front] + state[self._rear]) & _MASK
        self._front = (self._front + 1) % _DEGREE
        self._rear = (self._rear + 1) % _DEGREE
        return value >> 1

    def _shuffled(self) -> int:
        place = self._last % _TABLE
        self._last = self._table[place]
        self._table[place] = self._step()
        return self._last

    def next(self) -> float:
        """Return a number from 0 to 1, without 1."""
        while True:
            low = self._shuffled()
            value = 0.5 + (low / _RANGE + self._shuffled()) / _RANGE - 0.5
            if value != 1.0:
                return value


def _follow(value: int) -> int:
    """Return the next of the minimal standard generator: 16807 x mod 2^31 - 1, in 32 bits."""
    if value == 0:
        value = 123459876
    number = value - (1 << 32) if value & 0x80000000 else value
    quotient, remainder = _divide(number, 127773)
    number = 16807 * remainder - 2836 * quotient
    if number < 0:
        number += 0x7FFFFFFF
    return number & _MASK


def _divide(number: int, by: int) -> tuple[int, int]:
    """Return quotient and remainder as C does: towards zero."""
    quotient = abs(number) // by * (1 if number >= 0 else -1)
    return quotient, number - quotient * by
