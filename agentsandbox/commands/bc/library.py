"""bc's mathematics library (`bc -l`).

Its functions are sine, cosine, arctangent, logarithm, exponential and Bessel.

They are computed as series in binary fixed point, with spare digits, and then cut to the scale.
Each step of a series draws on the budget.
"""

from __future__ import annotations

from decimal import Decimal
from math import isqrt

from agentsandbox.commands.bc.numbers import EXACT, Arithmetic, scale_of, truncate
from agentsandbox.errors import LimitReached

LIBRARY = frozenset("esclaj")
MAX_PRECISION = 12_000
"""The most digits that a function is computed to."""


def evaluate(arithmetic: Arithmetic, name: str, values: list[Decimal], scale: int) -> Decimal:
    """Return the value of a library function at `scale`."""
    fixed = _Fixed(arithmetic, values[-1], scale, name)
    if name == "l" and values[0] <= 0:
        return truncate(EXACT.subtract(Decimal(1), Decimal((0, (1,), scale))), scale)
    if name == "j":
        order = int(truncate(values[0], 0)) if values[0].adjusted() < 6 else 10**6
        return fixed.result(fixed.bessel(order))
    return fixed.result(
        {
            "e": fixed.exponential,
            "l": fixed.logarithm,
            "s": fixed.sine,
            "c": fixed.cosine,
            "a": fixed.arctangent,
        }[name]()
    )


class _Fixed:
    """An argument and the precision that its function needs.

    A number is an integer, of which `bits` bits are behind the point.
    """

    def __init__(self, arithmetic: Arithmetic, argument: Decimal, scale: int, name: str) -> None:
        self.budget = arithmetic.budget
        self.scale = scale
        magnitude = max(argument.adjusted() + 1, 0) if argument else 0
        spare = 12 + magnitude
        if name in "ej" and magnitude > 5:
            raise LimitReached("value_bytes", "the number is too long")
        if name in "ej":
            spare += int(abs(argument) * Decimal("0.45")) + 2
        digits = (
            scale + spare + (0 if name == "e" else max(-argument.adjusted(), 0) if argument else 0)
        )
        if digits + scale_of(argument) // 8 > MAX_PRECISION:
            raise LimitReached("value_bytes", "the number is too long")
        self.bits = digits * 10 // 3 + 64
        self.one = 1 << self.bits
        own = scale_of(argument)
        self.argument: int = (int(EXACT.scaleb(argument, own)) << self.bits) // int(10**own)
        self.cost = self.bits // 2000 + 1

    def result(self, value: int) -> Decimal:
        """Return a value cut to the scale; just below a whole unit it counts as that unit."""
        negative = value < 0
        # bc's own library has a few digits more than the scale: what rounds up there is not cut
        units = (abs(value) * 10 ** (self.scale + 4) + (self.one >> 1)) // (self.one * 10**4)
        number = EXACT.scaleb(Decimal(units), -self.scale)
        return number.copy_negate() if negative and units else number

    def step(self) -> None:
        self.budget.step(self.cost)

    def exponential(self) -> int:
        value: int = abs(self.argument)
        halvings = max((value >> self.bits).bit_length(), 0) + 8
        # each squaring doubles the error
        bits = self.bits + 2 * halvings
        value = (value << 2 * halvings) >> halvings
        total = term = 1 << bits
        count = 1
        while term:
            self.step()
            term = (term * value >> bits) // count
            total += term
            count += 1
        for _ in range(halvings):
            self.step()
            total = total * total >> bits
        if self.argument < 0:
            total = (1 << 2 * bits) // total
        return int(total >> 2 * halvings)

    def logarithm(self) -> int:
        """Return the logarithm, from a mantissa near 1 and a power of two."""
        value = self.argument
        shift = value.bit_length() - self.bits
        mantissa = value >> shift if shift >= 0 else value << -shift
        return int(self._log_near_one(mantissa)) + shift * self._log_near_one(self.one << 1)

    def _log_near_one(self, value: int) -> int:
        roots = 10
        bits = self.bits + 2 * roots
        value <<= 2 * roots
        one = 1 << bits
        for _ in range(roots):
            self.step()
            value = isqrt(value << bits)
        ratio = ((value - one) << bits) // (value + one)
        square = ratio * ratio >> bits
        total, term, count = 0, ratio, 1
        while term not in (0, -1):
            self.step()
            total += term // count
            term = term * square >> bits
            count += 2
        return (total << (roots + 1)) >> 2 * roots

    def arctangent(self) -> int:
        return self._arctangent(self.argument)

    def _arctangent(self, value: int) -> int:
        if value < 0:
            return -self._arctangent(-value)
        halvings = 8
        one = self.one
        for _ in range(halvings):
            self.step()
            value = (value << self.bits) // (one + isqrt((one << self.bits) + value * value))
        square = value * value >> self.bits
        total, term, count, sign = 0, value, 1, 1
        while term:
            self.step()
            total += sign * (term // count)
            term = term * square >> self.bits
            count += 2
            sign = -sign
        return total << halvings

    def sine(self) -> int:
        return self._sine(self.argument)

    def cosine(self) -> int:
        return self._sine(self.argument + 2 * self._arctangent(self.one))

    def _sine(self, value: int) -> int:
        quarter = self._arctangent(self.one)
        pi = 4 * quarter
        turns, value = divmod(value + pi // 2, pi)
        value -= pi // 2
        square = value * value >> self.bits
        total = term = value
        count = 2
        while term and term != -1:
            self.step()
            term = -(term * square >> self.bits) // (count * (count + 1))
            total += term
            count += 2
        return -total if turns & 1 else total

    def bessel(self, order: int) -> int:
        sign = -1 if order < 0 and order & 1 else 1
        order = abs(order)
        half = self.argument >> 1
        term = self.one
        for factor in range(1, order + 1):
            self.step()
            term = (term * half >> self.bits) // factor
            if not term:
                return 0
        square = half * half >> self.bits
        total, count = term, 1
        while term and term != -1:
            self.step()
            term = -(term * square >> self.bits) // (count * (count + order))
            total += term
            count += 1
        return sign * total
