"""`factor` (GNU coreutils): the prime factors of numbers up to 2^1024, by trial division and Pollard's rho."""

from __future__ import annotations

import re
from math import gcd

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._lines import lines
from agentsandbox.commands._quoting import quote
from agentsandbox.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.limits import Budget

_NUMBER = re.compile(r"\s*\+?([0-9]+)\Z", re.ASCII)
_TOKEN = re.compile(r"[^ \t\n]+")
_LARGEST = 2**1024
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
_WHEEL = (4, 2, 4, 2, 4, 6, 2, 6)
_TRIAL_LIMIT = 20_000


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
    for witness in _WITNESSES:
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


def factors(budget: Budget, number: int) -> list[int]:
    """The prime factors in ascending order."""
    found = []
    for prime in (2, 3, 5):
        while number % prime == 0 and number > 1:
            found.append(prime)
            number //= prime
    candidate, turn = 7, 0
    while candidate * candidate <= number and candidate < _TRIAL_LIMIT:
        budget.step()
        while number % candidate == 0:
            found.append(candidate)
            number //= candidate
        candidate += _WHEEL[turn]
        turn = (turn + 1) & 7
    pending = [number] if number > 1 else []
    while pending:
        part = pending.pop()
        if part < candidate * candidate or _is_prime(part):
            found.append(part)
            continue
        divisor = _divisor(budget, part)
        pending += [divisor, part // divisor]
    return sorted(found)


def _print_factors(ctx: CommandContext, text: str) -> None:
    found = _NUMBER.match(text)
    if found is None:
        ctx.warn(f"{quote(text)} is not a valid positive integer")
        return
    digits = found[1].lstrip("0") or "0"
    if len(digits) > 309 or int(digits) >= _LARGEST:
        ctx.warn(f"{quote(text)} is too large")
        return
    number = int(digits)
    shown = "".join([f" {factor}" for factor in (factors(ctx.budget, number) if number > 1 else [])])
    ctx.print(f"{digits}:{shown}")


@command(
    "factor",
    late=True,
    usage="""
    Usage: factor [NUMBER]...
    Print the prime factors of each NUMBER, or of the numbers in standard input.

          --help   display this help and exit
    """,
)
def factor(ctx: CommandContext, args: Arguments) -> int:
    for word in args.operands:
        _print_factors(ctx, word)
    if not args.operands:
        for line in lines(ctx.budget, ctx.stdin):
            for word in _TOKEN.findall(decode(line)):
                _print_factors(ctx, word.partition("\0")[0])
    return ctx.status
