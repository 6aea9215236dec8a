"""The functions of numbers that a compiled program calls, and the operators that Python lacks."""

from __future__ import annotations

import math
import operator

from agentsandbox.commands.awk.values import (
    AwkFatal,
    Strnum,
    integral_text,
    parse_number,
    to_number,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from agentsandbox.commands.awk.protocols import Run


def modulo(left: float, right: float) -> float:
    """`left % right`."""
    if right == 0.0:
        raise AwkFatal("division by zero attempted in `%'")
    if left - left != 0.0 or right != right:
        return math.nan
    return math.fmod(left, right)


def modulo_assigned(left: float, right: float) -> float:
    """`left %= right`."""
    if right == 0.0:
        raise AwkFatal("division by zero attempted in `%='")
    return modulo(left, right)


def divided(left: float, right: float) -> float:
    """`left /= right`."""
    if right == 0.0:
        raise AwkFatal("division by zero attempted in `/='")
    return left / right


def power(left: float, right: float) -> float:
    """`left ^ right`."""
    try:
        return math.pow(left, right)
    except OverflowError:
        return -math.inf if left < 0 and right % 2 == 1 else math.inf
    except ValueError:
        return math.inf if left == 0 else -math.nan


def integer(number: float) -> float:
    """`int`."""
    return float(int(number)) if number - number == 0.0 else number


def sine(number: float) -> float:
    """`sin`."""
    return math.sin(number) if number - number == 0.0 else -math.nan


def cosine(number: float) -> float:
    """`cos`."""
    return math.cos(number) if number - number == 0.0 else -math.nan


def bitwise(name: str, numbers: Sequence[float]) -> float:
    """`and`, `or`, `xor`."""
    combine: Callable[[int, int], int] = getattr(operator, f"{name}_" if name != "xor" else "xor")
    result = _bits(name, numbers[0])
    for number in numbers[1:]:
        result = combine(result, _bits(name, number))
    return float(result)


def compl(number: float) -> float:
    """`compl`."""
    return float(~_bits("compl", number) & ((1 << 53) - 1))


def lshift(number: float, count: float) -> float:
    """`lshift`."""
    bits = _bits("lshift", number) << min(_bits("lshift", count), 64)
    return float(bits & ((1 << 64) - 1))


def rshift(number: float, count: float) -> float:
    """`rshift`."""
    return float(_bits("rshift", number) >> min(_bits("rshift", count), 64))


def _bits(name: str, number: float) -> int:
    if number < 0:
        shown = integral_text(number) or f"{number:.6g}"
        raise AwkFatal(f"{name}: argument 1 negative value {shown} is not allowed")
    return int(number) & ((1 << 64) - 1) if number - number == 0.0 else 0


def strtonum(value: object) -> float:
    """`strtonum`: a number in decimal, octal (0…) or hexadecimal (0x…)."""
    if isinstance(value, (float, Strnum)):
        return to_number(value) + 0.0
    text = str(value)[:400]
    if text[:2].lower() == "0x":
        return _prefix_in(text[2:], "0123456789abcdef", 16)
    if text[:1] == "0" and text[1:2].isdigit() and "." not in text and "e" not in text.lower():
        if not {character for character in text if character.isdigit()} & {"8", "9"}:
            return _prefix_in(text, "01234567", 8)
    return parse_number(str(value))


def _prefix_in(text: str, alphabet: str, base: int) -> float:
    value = 0.0
    for character in text.lower():
        if character not in alphabet:
            break
        value = value * base + alphabet.index(character)
    return value


_FIXED: dict[str, Callable[..., Any]] = {
    "atan2": math.atan2,
    **{
        function.__name__: function
        for function in (
            bitwise, compl, cosine, divided, integer, lshift, modulo, modulo_assigned, power,
            rshift, sine, strtonum,
        )
    },
}  # fmt: skip


def functions(rt: Run) -> dict[str, Callable[..., Any]]:
    """Return the functions of numbers, by their names in a program; these three may warn."""

    def exponential(number: float) -> float:
        try:
            return math.exp(number)
        except OverflowError:
            rt.warn(f"exp: argument {rt.text(number)} is out of range")
            return math.inf

    def logarithm(number: float) -> float:
        if number < 0:
            rt.warn(f"log: received negative argument {rt.text(number)}")
            return -math.nan
        return math.log(number) if number > 0 else -math.inf if number == 0 else number

    def square_root(number: float) -> float:
        if number < 0:
            rt.warn(f"sqrt: received negative argument {rt.text(number)}")
            return -math.nan
        return math.sqrt(number)

    return {
        **_FIXED,
        "exponential": exponential,
        "logarithm": logarithm,
        "square_root": square_root,
    }
