"""`factor` (GNU coreutils): prime factors, by trial division and Pollard's rho."""

from __future__ import annotations

import re
from math import gcd

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import lines
from agentsandbox.commands._text.quoting import quote
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget

_NUMBER = lazily(r"\s*\+?([0-9]+)\Z", re.ASCII)
_LARGEST = 2**1024
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
_TRIAL_LIMIT = 1000


def _is_prime(number: int) -> bool:
    """Miller and Rabin's test; with these witnesses it is exact far beyond 2^64."""
    if number in _WITNESSES:
        return True
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
    """Return a proper divisor of an odd composite number: Pollard's rho."""
    constant = 1
    while True:
        slow = fast = 2
        divisor = 1
        while divisor == 1:
            budget.step()
            slow = (slow * slow + constant) % number
            fast = (fast * fast + constant) % number
            fast = (fast * fast + constant) % number
            divisor = gcd(abs(slow - fast), number)
        if divisor != number:
            return divisor
        constant += 1


def _factors(budget: Budget, number: int) -> list[int]:
    """Return the prime factors in ascending order, none of 0 and 1."""
    found: list[int] = []
    divisor = 2
    while divisor < _TRIAL_LIMIT and divisor * divisor <= number:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1 if divisor == 2 else 2
    budget.step(divisor // 64 + 1)
    pending = [number] if number > 1 else []
    while pending:
        part = pending.pop()
        if part < _TRIAL_LIMIT * _TRIAL_LIMIT or _is_prime(part):
            found.append(part)
        else:
            divisor = _divisor(budget, part)
            pending += [divisor, part // divisor]
    return sorted(found)


@command(
    "factor",
    manners=Manners(
        COREUTILS, bytewise=True, long_options="-debug help version", unreadable_is_empty=("", "")
    ),
    late=True,
    usage="""
    Usage: factor [NUMBER]...
    Print the prime factors of each NUMBER, or of the numbers in standard input.

          --help   display this help and exit
    """,
)
def factor(ctx: CommandContext, args: Arguments) -> int:
    words = iter(args.operands)
    if not args.operands:
        found_lines = lines(ctx.budget, ctx.stdin)
        words = (word for line in found_lines for word in re.findall(r"[^ \t]+", decode(line)))
    for word in words:
        found = _NUMBER.match(word)
        if found is None:
            ctx.warn(f"{quote(word)} is not a valid positive integer")
        elif len(found[1].lstrip("0")) > 309 or int(found[1]) >= _LARGEST:
            ctx.warn(f"{quote(word)} is too large")
        else:
            number = int(found[1])
            ctx.print(" ".join([f"{number}:", *map(str, _factors(ctx.budget, number))]))
    return ctx.status
