"""The mathematical functions, as the C library's: no errors, but nan and infinities."""

from __future__ import annotations

import math

from agentsandbox.commands._json.values import JqError, is_number, number, to_float
from agentsandbox.commands.jq.operations import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.machine import Machine


def _required(value: Value) -> float:
    if not is_number(value):
        raise JqError(f"{describe(value)} number required")
    return to_float(value)


def _safely(function: Callable[..., float], *values: float) -> float:
    try:
        return float(function(*values))
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


def _of_input(function: Callable[[float], float]) -> Callable[..., Value]:
    return lambda machine, value: number(_safely(function, _required(value)))


def _of_arguments(function: Callable[..., float]) -> Callable[..., Value]:
    return lambda machine, value, *arguments: number(_safely(function, *map(_required, arguments)))


def _whole(function: Callable[[float], float]) -> Callable[[float], float]:
    """A rounding that leaves infinities and nan as they are, and zeros their sign."""

    def rounded(value: float) -> float:
        if math.isinf(value) or value != value:
            return value
        return function(value) or math.copysign(0.0, value)

    return rounded


def _round(value: float) -> float:
    """Halves away from zero."""
    return (
        math.copysign(math.floor(abs(value) + 0.5), value)
        if abs(value) < 4503599627370496.0
        else value
    )


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda value: -math.inf if value == 0 else function(value)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        negative = base < 0 and exponent % 2 == 1
        return -math.inf if negative else math.inf
    except ValueError:
        return math.inf if base == 0 and exponent < 0 else math.nan


def _chosen(choose: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """Return `fmin` or `fmax`: a number counts, nan does not."""
    return lambda one, other: other if one != one else one if other != other else choose(one, other)


def _significand(value: float) -> float:
    if value == 0 or math.isinf(value) or value != value:
        return value
    return math.frexp(value)[0] * 2


def _exponent(value: float) -> float:
    if value == 0:
        return -math.inf
    return math.inf if math.isinf(value) else value if value != value else math.frexp(value)[1] - 1


def _scaled(value: float, exponent: float) -> float:
    if math.isinf(exponent) or exponent != exponent:
        return value * math.pow(2, exponent)
    try:
        return math.ldexp(value, int(max(min(exponent, 5000), -5000)))
    except OverflowError:
        return math.copysign(math.inf, value)


def _lgamma(value: float) -> float:
    return math.inf if value <= 0 and value == math.floor(value) else math.lgamma(value)


def _frexp(machine: Machine, value: Value) -> Value:
    operand = _required(value)
    if math.isinf(operand) or operand != operand:
        return [operand, 0]
    mantissa, exponent = math.frexp(operand)
    return [number(mantissa), exponent]


def _modf(machine: Machine, value: Value) -> Value:
    operand = _required(value)
    if math.isinf(operand):
        return [math.copysign(0.0, operand) if operand < 0 else 0, operand]
    fraction, whole = math.modf(operand)
    return [number(fraction), number(whole)]


def _lgamma_r(machine: Machine, value: Value) -> Value:
    operand = _required(value)
    negative = operand < 0 and math.floor(operand) % 2 == 1 and operand != math.floor(operand)
    return [number(_safely(_lgamma, operand)), -1 if negative else 1]


def _ldexp(machine: Machine, value: Value, base: Value, exponent: Value) -> Value:
    return number(_scaled(_required(base), _required(exponent)))


def _is_normal(machine: Machine, value: Value) -> Value:
    if not is_number(value):
        return False
    operand = to_float(value)
    return math.isfinite(operand) and abs(operand) >= 2.2250738585072014e-308


_ONE: dict[str, Callable[[float], float]] = {
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "round": _whole(_round),
    "rint": _whole(round),
    "nearbyint": _whole(round),
    "sqrt": math.sqrt,
    "cbrt": math.cbrt,
    "fabs": abs,
    "exp": math.exp,
    "exp2": lambda value: math.pow(2.0, value),
    **dict.fromkeys(("exp10", "pow10"), lambda value: math.pow(10.0, value)),
    "expm1": math.expm1,
    "log": _logarithm(math.log),
    "log2": _logarithm(math.log2),
    "log10": _logarithm(math.log10),
    "log1p": math.log1p,
    "logb": _exponent,
    "significand": _significand,
    "gamma": _lgamma,
    "lgamma": _lgamma,
    "tgamma": lambda value: math.copysign(math.inf, value) if value == 0 else math.gamma(value),
    "erf": math.erf,
    "erfc": math.erfc,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": math.acosh,
    "atanh": lambda value: math.copysign(math.inf, value) if abs(value) == 1 else math.atanh(value),
}

_SEVERAL: dict[str, Callable[..., float]] = {
    "pow/2": _power,
    "atan2/2": math.atan2,
    "fmod/2": math.fmod,
    "hypot/2": math.hypot,
    "copysign/2": math.copysign,
    "nextafter/2": math.nextafter,
    "nexttoward/2": math.nextafter,
    "fmin/2": _chosen(min),
    "fmax/2": _chosen(max),
    "fdim/2": lambda one, other: max(one - other, 0.0),
    "fma/3": lambda one, other, more: one * other + more,
    "drem/2": math.remainder,
    "remainder/2": math.remainder,
    "scalb/2": _scaled,
    "scalbln/2": _scaled,
}

MATHEMATICS: dict[str, Callable[..., Value]] = {
    **{f"{name}/0": _of_input(function) for name, function in _ONE.items()},
    **{name: _of_arguments(function) for name, function in _SEVERAL.items()},
    "ldexp/2": _ldexp,
    "frexp/0": _frexp,
    "modf/0": _modf,
    "lgamma_r/0": _lgamma_r,
    "infinite/0": lambda machine, value: math.inf,
    "nan/0": lambda machine, value: math.nan,
    "isinfinite/0": lambda machine, value: is_number(value) and math.isinf(to_float(value)),
    "isnan/0": lambda machine, value: is_number(value) and math.isnan(to_float(value)),
    "isnormal/0": _is_normal,
}
