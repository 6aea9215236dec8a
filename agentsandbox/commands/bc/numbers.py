"""Decimal numbers of any length, with the rules for scales that bc and dc share.

A number is a `Decimal` whose exponent is minus its scale. Operations calculate exactly, then
truncate to the scale. Those on long numbers first check the size of the result and the deadline, so
that no single one takes more than a fraction of a second.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_DOWN, Context, Decimal
from math import isqrt

from agentsandbox.errors import LimitReached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget

MAX_DIGITS = 1_000_000
"""The most digits of a result; a product of this length takes less than a tenth of a second."""
MAX_QUOTIENT = 300_000
MAX_ROOT = 30_000
MAX_CONVERTED = 20_000
"""The most digits of a number that is converted from or to another base."""

ZERO = Decimal(0)
ONE = Decimal(1)
EXACT = Context(prec=2 * MAX_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[], rounding=ROUND_DOWN)
"""A context wide enough that it never rounds."""
_DIGITS = "0123456789ABCDEF"
_LETTER = re.compile("[A-Z]")


class CalculationError(Exception):
    """An operation has no result; `message` is bc's phrase."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


def scale_of(number: Decimal) -> int:
    """Return the number of digits after the point."""
    if number.same_quantum(ONE):
        return 0
    text = str(number)
    mantissa, _, exponent = text.partition("E")
    point = mantissa.find(".")
    return (len(mantissa) - point - 1 if point >= 0 else 0) - int(exponent or 0)


def digits_of(number: Decimal) -> int:
    """Return about how many digits a number has."""
    return abs(number.adjusted()) + 1 if number else 1


def truncate(number: Decimal, scale: int) -> Decimal:
    """Return a number with exactly `scale` digits after the point, cut off or filled up."""
    return number.quantize(Decimal((0, (1,), -scale)), ROUND_DOWN, EXACT)


def length_of(number: Decimal) -> int:
    """Return the number of significant digits, as `length` counts them."""
    scale = scale_of(number)
    whole = max(number.adjusted() + 1, 0) if number else 0
    return whole + scale if whole or scale else 1


class Arithmetic:
    """The operations; long ones draw on a budget."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def check(self, digits: int, limit: int = MAX_DIGITS) -> None:
        """Refuse a result of too many digits; a long one draws steps and checks the deadline."""
        if digits > limit:
            raise LimitReached("value_bytes", "the number is too long")
        if digits > 500:
            self.budget.step(digits // 100)
            if digits > 20_000:
                self.budget.check_time()

    def _size(self, number: Decimal) -> int:
        size = abs(number.adjusted()) + 1
        return size if size > 100 or number.same_quantum(ONE) else size + scale_of(number)

    def _check_both(self, left: Decimal, right: Decimal) -> None:
        """Check the size of a sum: most numbers are short and whole."""
        if not (
            left.same_quantum(ONE)
            and right.same_quantum(ONE)
            and left.adjusted() < 100
            and right.adjusted() < 100
        ):
            self.check(max(self._size(left), self._size(right)))

    def add(self, left: Decimal, right: Decimal) -> Decimal:
        """Return a sum, with the larger scale of the two."""
        self._check_both(left, right)
        return EXACT.add(left, right)

    def subtract(self, left: Decimal, right: Decimal) -> Decimal:
        """Return a difference, with the larger scale of the two."""
        self._check_both(left, right)
        return EXACT.subtract(left, right)

    def multiply(self, left: Decimal, right: Decimal, scale: int) -> Decimal:
        """Return a product with min(a + b, max(scale, a, b)) digits after the point."""
        self.check(self._size(left) + self._size(right))
        product = EXACT.multiply(left, right)
        mine, other = scale_of(left), scale_of(right)
        wanted = min(mine + other, max(scale, mine, other))
        return truncate(product, wanted) if wanted != mine + other else product

    def divide(self, left: Decimal, right: Decimal, scale: int) -> Decimal:
        """Return a quotient with `scale` digits after the point."""
        if not right:
            raise CalculationError("Divide by zero")
        self.check(self._size(left) + scale + self._size(right), MAX_QUOTIENT)
        quotient = EXACT.divide_int(EXACT.scaleb(left, scale), right)
        return truncate(EXACT.scaleb(quotient, -scale), scale)

    def remainder(self, left: Decimal, right: Decimal, scale: int) -> Decimal:
        """Return what the quotient at `scale` leaves."""
        if not right:
            raise CalculationError("Modulo by zero")
        quotient = self.divide(left, right, scale)
        product = EXACT.multiply(quotient, right)
        wanted = max(scale_of(left), scale_of(right) + scale)
        return truncate(EXACT.subtract(left, product), wanted)

    def raise_power(self, base: Decimal, exponent: int, scale: int) -> Decimal:
        """Return a power, by squaring; every square checks the deadline."""
        if not exponent:
            return ONE
        if exponent < 0 and not base:
            raise CalculationError("divide by zero")
        negative, exponent = exponent < 0, abs(exponent)
        own = scale_of(base)
        wanted = scale if negative else min(own * exponent, max(scale, own))
        if abs(base) != 1:
            self.check((digits_of(base) - (base.adjusted() >= 0) + own) * exponent if base else 0)
        self.check(own * exponent)
        result: Decimal | None = None
        power = base
        while True:
            self.budget.step()
            if exponent & 1:
                result = power if result is None else EXACT.multiply(result, power)
            exponent >>= 1
            if not exponent:
                break
            self.check(2 * self._size(power), 2 * MAX_DIGITS)
            power = EXACT.multiply(power, power)
        assert result is not None
        if negative:
            return self.divide(ONE, result, wanted)
        return truncate(result, wanted) if scale_of(result) > wanted else result

    def square_root(self, number: Decimal, scale: int) -> Decimal:
        """Return a root with max(scale, the number's own) digits after the point."""
        if number < 0:
            raise CalculationError("Square root of a negative number")
        if not number:
            return ZERO
        wanted = max(scale, scale_of(number))
        if number == 1:
            return ONE
        self.check(digits_of(number) + wanted, MAX_ROOT)
        root = isqrt(int(EXACT.scaleb(number, 2 * wanted)))
        return EXACT.scaleb(Decimal(root), -wanted)


def number_in_base(arithmetic: Arithmetic, text: str, base: int) -> Decimal:
    """Return the value of a constant in an input base.

    A single digit before the point keeps its value in other bases than 10; of several, each is cut
    to base - 1.
    """
    if len(text) == 1:
        return Decimal(int(text, 36))
    whole, _, fraction = text.partition(".")
    if len(whole) == 1 and base != 10:
        value = digits_in_base(arithmetic, "", fraction, base, base - 1)
        return EXACT.add(Decimal(int(whole, 36)), value)
    return digits_in_base(arithmetic, whole, fraction, base, base - 1)


def digits_in_base(
    arithmetic: Arithmetic, whole: str, fraction: str, base: int, highest: int
) -> Decimal:
    """Return the value of the digits around a point; none counts for more than `highest`."""
    length = len(whole) + len(fraction)
    if base == 10 and not _LETTER.search(whole + fraction):
        arithmetic.check(length)
        return Decimal(f"{whole or '0'}.{fraction}" if fraction else whole or "0")
    arithmetic.check(length, MAX_CONVERTED)
    value = 0
    for count, character in enumerate(whole + fraction):
        if not count % 500:
            arithmetic.budget.step(count // 100 + 1)
        value = value * base + min(int(character, 36), highest)
    if not fraction:
        return Decimal(value)
    return arithmetic.divide(Decimal(value), Decimal(base ** len(fraction)), len(fraction))


def format_number(arithmetic: Arithmetic, number: Decimal, base: int) -> str:
    """Return a number in an output base."""
    if not number:
        return "0"
    sign = "-" if number < 0 else ""
    if base == 10:
        text = format(number.copy_abs(), "f")
        return sign + (text[1:] if text.startswith("0.") else text)
    scale = scale_of(number)
    arithmetic.check(digits_of(number) + scale, MAX_CONVERTED)
    whole = truncate(number, 0).copy_abs()
    digits = _whole_digits(arithmetic, int(whole), base)
    space = " " if base > 16 and digits else ""
    text = sign + space + _joined(digits, base)
    if not scale:
        return text
    fraction = EXACT.subtract(number.copy_abs(), whole)
    return text + "." + _joined(_fraction_digits(arithmetic, fraction, scale, base), base)


def _joined(digits: list[int], base: int) -> str:
    """Return digits; those of bases beyond 16 are decimal numbers of equal width."""
    if base <= 16:
        return "".join(_DIGITS[digit] for digit in digits)
    width = len(str(base - 1))
    return " ".join(f"{digit:0{width}d}" for digit in digits)


def _whole_digits(arithmetic: Arithmetic, number: int, base: int) -> list[int]:
    """Return the digits of a whole number, which has at most `MAX_CONVERTED`."""
    digits: list[int] = []
    while number:
        arithmetic.budget.step(number.bit_length() // 5000 + 1)
        number, digit = divmod(number, base)
        digits.append(digit)
    digits.reverse()
    return digits


def _fraction_digits(arithmetic: Arithmetic, fraction: Decimal, scale: int, base: int) -> list[int]:
    """Return digits until base ** n has more than `scale` decimal digits."""
    denominator: int = 10**scale
    numerator = int(EXACT.scaleb(fraction, scale))
    digits: list[int] = []
    reached = 1
    while reached < denominator:
        arithmetic.budget.step(scale // 500 + 1)
        digit, numerator = divmod(numerator * base, denominator)
        digits.append(digit)
        reached *= base
    return digits
