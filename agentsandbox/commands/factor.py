"""`factor` (GNU coreutils): the prime factors of numbers up to 2^1024, by trial division and Pollard's rho."""

from __future__ import annotations

import re
from array import array
from functools import cache
from math import gcd, isqrt, prod

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import line_blocks
from agentsandbox.commands._quoting import quote
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.manners import Manners
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget

_NUMBER = re.compile(r"\s*\+?([0-9]+)\Z", re.ASCII)
_TOKEN = re.compile(r"[^ \t\n]+")
_LARGEST = 2**1024
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
_FEW, _FEW_SUFFICE = 7, 341_550_071_728_321
_TRIAL_LIMIT = 20_000
_SMALL = 1 << 20
_MANY = 2000
"""After so many numbers the divisors of all small ones are worked out."""
_PLAIN_DIGITS = 18
_CHUNK = 256


def _is_prime(number: int) -> bool:
    """Miller and Rabin's test; with these witnesses exact far beyond 2^64, and without known exception above."""
    if number in _WITNESSES:
        return True
    if any(number % witness == 0 for witness in _WITNESSES):
        return False
    odd, twos = number - 1, 0
    while not odd & 1:
        odd >>= 1
        twos += 1
    for witness in _WITNESSES[:_FEW] if number < _FEW_SUFFICE else _WITNESSES:
        power = pow(witness, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def _divisor(budget: Budget, number: int) -> int:
    """A proper divisor of an odd composite number: Pollard's rho as Brent has it."""
    for constant in range(1, 100):
        slow = fast = saved = 2
        length = divisor = product = 1
        while divisor == 1:
            slow = fast
            for _ in range(length):
                budget.step()
                fast = (fast * fast + constant) % number
            done = 0
            while done < length and divisor == 1:
                saved = fast
                for _ in range(min(128, length - done)):
                    budget.step()
                    fast = (fast * fast + constant) % number
                    product = product * abs(slow - fast) % number
                divisor = gcd(product, number)
                done += 128
            length *= 2
        if divisor == number:
            divisor = 1
            while divisor == 1:
                budget.step()
                saved = (saved * saved + constant) % number
                divisor = gcd(abs(slow - saved), number)
        if divisor != number:
            return divisor
    return 1


@cache
def _groups() -> list[tuple[int, int, list[int]]]:
    """The primes below the limit in growing groups: the first of each, the product of all, and all."""
    marks = bytearray([1]) * _TRIAL_LIMIT
    for number in range(2, isqrt(_TRIAL_LIMIT) + 1):
        marks[number * number :: number] = bytes(len(range(number * number, _TRIAL_LIMIT, number)))
    primes = [number for number in range(2, _TRIAL_LIMIT) if marks[number]]
    groups = []
    start, size = 0, 8
    while start < len(primes):
        group = primes[start : start + size]
        groups.append((group[0], prod(group), group))
        start += size
        size *= 2
    return groups


def _smallest_divisors() -> array[int]:
    """The smallest prime divisor of each number below a limit, 0 of a prime."""
    smallest = array("H", bytes(2 * _SMALL))
    primes = [prime for _, _, group in _groups() for prime in group if prime * prime < _SMALL]
    for prime in reversed(primes):
        smallest[prime * prime :: prime] = array("H", [prime]) * len(range(prime * prime, _SMALL, prime))
    return smallest


class _Factors:
    """Finds the prime factors of numbers; where there are many, small ones are looked up."""

    __slots__ = ("_asked", "_budget", "_smallest")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._asked = 0
        self._smallest = array("H")

    def of(self, number: int) -> list[int]:
        """In ascending order; none of 0 and 1."""
        found: list[int] = []
        known = len(self._smallest)
        if number >= known:
            self._asked += 1
            if self._asked == _MANY:
                self._smallest = _smallest_divisors()
                known = len(self._smallest)
            bound, number = self._divide(number, found)
            if number >= known:
                return found + self._large(number, bound) if number > 1 else found
        smallest = self._smallest
        while number > 1:
            prime = smallest[number] or number
            found.append(prime)
            number //= prime
        return found

    def _divide(self, number: int, found: list[int]) -> tuple[int, int]:
        """Take small primes out of a number until what is left is known or has no divisors below a bound; the bound and the rest."""
        known = len(self._smallest)
        for bound, product, primes in _groups():
            if number < known or bound * bound > number:
                return bound, number
            self._budget.step()
            common = gcd(number, product)
            for prime in primes if common > 1 else ():
                if common % prime == 0:
                    while number % prime == 0:
                        found.append(prime)
                        number //= prime
        return _TRIAL_LIMIT, number

    def _large(self, number: int, bound: int) -> list[int]:
        """Of a number without divisors below a bound."""
        found: list[int] = []
        pending = [number]
        while pending:
            part = pending.pop()
            if part < bound * bound or _is_prime(part):
                found.append(part)
                continue
            divisor = _divisor(self._budget, part)
            pending += [divisor, part // divisor]
        return sorted(found)

    def line(self, number: int) -> str:
        """A number and its factors as they are printed."""
        return f"{number}: {' '.join(map(str, self.of(number)))}\n" if number > 1 else f"{number}:\n"


def _print_factors(ctx: CommandContext, factors: _Factors, text: str) -> None:
    found = _NUMBER.match(text)
    if found is None:
        ctx.warn(f"{quote(text)} is not a valid positive integer")
        return
    digits = found[1].lstrip("0") or "0"
    if len(digits) > 309 or int(digits) >= _LARGEST:
        ctx.warn(f"{quote(text)} is too large")
        return
    ctx.stdout.write(encode(factors.line(int(digits))))


def _print_block(ctx: CommandContext, factors: _Factors, block: bytes) -> None:
    """All numbers of some lines: many at once if they are plain and small."""
    if block.translate(None, b"0123456789 \t\n"):
        words = None
    else:
        words = block.split()
    if words is None or max(map(len, words), default=0) > _PLAIN_DIGITS:
        for word in _TOKEN.findall(decode(block)):
            ctx.budget.step()
            _print_factors(ctx, factors, word.partition("\0")[0])
        return
    for start in range(0, len(words), _CHUNK):
        part = words[start : start + _CHUNK]
        ctx.budget.step(len(part))
        ctx.stdout.write(encode("".join([factors.line(int(word)) for word in part])))


@command(
    "factor",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="-debug help version",
        unreadable_is_empty=("", ""),
    ),
    late=True,
    usage="""
    Usage: factor [NUMBER]...
    Print the prime factors of each NUMBER, or of the numbers in standard input.

          --help   display this help and exit
    """,
)
def factor(ctx: CommandContext, args: Arguments) -> int:
    factors = _Factors(ctx.budget)
    for word in args.operands:
        _print_factors(ctx, factors, word)
    if not args.operands:
        for block in line_blocks(ctx.budget, ctx.stdin):
            _print_block(ctx, factors, block)
    return ctx.status
