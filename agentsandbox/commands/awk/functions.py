"""What the generated code calls that needs no state but CONVFMT and OFMT: conversions, comparisons,
arithmetic, strings.
"""

from __future__ import annotations

import math
import operator
import re

from agentsandbox.commands.awk.arrays import Array
from agentsandbox.commands.awk.formats import as_bytes, format_one, format_values
from agentsandbox.commands.awk.values import (
    UNSET,
    AwkExit,
    AwkFatal,
    AwkNext,
    AwkNextFile,
    Strnum,
    Unset,
    array_as_scalar,
    from_input,
    integral_text,
    numeric_input,
    parse_number,
    to_number,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from agentsandbox.commands.awk.protocols import Run

_BIGGEST = 2.0**53
_ACCOUNTED = 4096
"""Characters of a text above which its making is accounted."""
_OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}


def number_formatter(
    convert: Callable[[], str], charge: Callable[[int], None], text: Callable[[object], str] = str
) -> Callable[[float], str]:
    """Number to text: integers as they are, others by the format that `convert` gives; `text` is
    for a `%s` in that.
    """

    def number_text(number: float) -> str:
        if number.is_integer():
            return "" if type(number) is Unset else str(int(number))
        special = integral_text(number)
        if special is not None:
            return special
        template = convert()
        if template == "%.6g":
            return f"{number:.6g}"
        return format_values(template, (number,), text, charge)

    return number_text


def conversions(rt: Run) -> dict[str, Callable[..., Any]]:
    number_text = number_formatter(lambda: rt.CONVFMT, rt.budget.charge)
    printed_number = number_formatter(
        lambda: rt.OFMT, rt.budget.charge, lambda number: number_text(float(number))
    )  # type: ignore[arg-type]
    keys: dict[float, str] = {}

    def text(value: object) -> str:
        kind = value.__class__
        if kind is str:
            return value  # type: ignore[return-value]
        if kind is float:
            return number_text(value)  # type: ignore[arg-type]
        if kind is Unset:
            return ""
        if isinstance(value, str):
            return str(value)
        if isinstance(value, float):
            return number_text(value)
        raise array_as_scalar(value)

    def printed(value: object) -> str:
        return printed_number(value) if type(value) is float else text(value)

    def key_of(number: float) -> str:
        found = keys.get(number)
        if found is not None and type(number) is float:
            return found
        made = number_text(number)
        if len(keys) < 16384 and type(number) is float and number.is_integer():
            keys[number] = made
        return made

    def key(value: object) -> str:
        kind = value.__class__
        if kind is str:
            return value  # type: ignore[return-value]
        return key_of(value) if kind is float else text(value)  # type: ignore[arg-type]

    return {
        "text": text,
        "printed": printed,
        "number_text": number_text,
        "printed_number": printed_number,
        "key_of": key_of,
        "key": key,
    }


def _against_field(
    text: Callable[[object], str], compare: Callable[[Any, Any], bool]
) -> Callable[[str, float], bool]:
    """The comparison of a field with a number."""

    def compared(field: str, number: float) -> bool:
        try:
            mine = float(field)
        except ValueError:
            return compare(field, text(number))
        if mine - mine == 0.0 and "_" not in field and field.isascii():
            return compare(mine, number)
        looks = numeric_input(field)
        return compare(field, text(number)) if looks is None else compare(looks, number)

    return compared


def _field_against(
    text: Callable[[object], str], compare: Callable[[Any, Any], bool]
) -> Callable[[str, Any], bool]:
    """The comparison of a field with any value. A value is often the same as before, or the field
    before.
    """
    before: Any = None
    before_number = 0.0
    last_field = ""
    last_number = 0.0

    def compared(field: str, value: Any) -> bool:
        nonlocal before, before_number, last_field, last_number
        if value is before:
            number = before_number
        else:
            kind = value.__class__
            if kind is str:
                return compare(field, value)
            if kind is not float and kind is not Unset and kind is not Strnum:
                return compare(field, text(value))
            before = value
            before_number = number = (
                last_number if kind is Strnum and value == last_field else to_number(value)
            )
        try:
            mine = float(field)
        except ValueError:
            return compare(field, text(value))
        if mine - mine == 0.0 and "_" not in field and field.isascii():
            last_field, last_number = field, mine
            return compare(mine, number)
        looks = numeric_input(field)
        return compare(field, text(value)) if looks is None else compare(looks, number)

    return compared


def _comparisons(rt: Run, text: Callable[[object], str]) -> dict[str, Callable[..., bool]]:
    def sides(left: object, right: object) -> tuple[Any, Any]:
        """Both as numbers, or both as text."""
        a, b = left.__class__, right.__class__
        if (a is float or a is Strnum or a is Unset) and (b is float or b is Strnum or b is Unset):
            return to_number(left), to_number(right)
        return text(left), text(right)

    def folded(symbol: str, left: object, right: object) -> bool:
        """A comparison of a program that knows IGNORECASE."""
        a, b = sides(left, right)
        if rt.IGNORECASE and isinstance(a, str):
            a, b = a.casefold(), b.casefold()
        return bool(_OPERATORS[symbol](a, b))

    def lt(left: object, right: object) -> bool:
        a, b = sides(left, right)
        return bool(a < b)

    def le(left: object, right: object) -> bool:
        a, b = sides(left, right)
        return bool(a <= b)

    def eq(left: object, right: object) -> bool:
        a, b = sides(left, right)
        return bool(a == b)

    return {
        "folded": folded, "lt": lt, "le": le, "eq": eq,
        "gt": lambda left, right: lt(right, left), "ge": lambda left, right: le(right, left),
        "ne": lambda left, right: not eq(left, right), "field_lt": _against_field(text, operator.lt),
        "field_le": _against_field(text, operator.le),
        "field_gt": _against_field(text, operator.gt), "field_ge": _against_field(text, operator.ge),
        "field_eq": _against_field(text, operator.eq),
        "field_ne": _against_field(text, operator.ne),
        "field_against_lt": _field_against(text, operator.lt), "field_against_le": _field_against(text, operator.le),
        "field_against_gt": _field_against(text, operator.gt), "field_against_ge": _field_against(text, operator.ge),
        "field_against_eq": _field_against(text, operator.eq), "field_against_ne": _field_against(text, operator.ne),
        "same_number": lambda value, number: type(value) is not str and to_number(value) == number,
        "same_text": lambda value, other: isinstance(value, str) and not isinstance(value, Strnum) and text(value) == other,
    }  # fmt: skip


def _strings(rt: Run, text: Callable[[object], str]) -> dict[str, Callable[..., Any]]:
    # long: the table of the functions of texts, which share the run
    charge = rt.budget.charge

    def checked(joined: str) -> str:
        if len(joined) > _ACCOUNTED:
            rt.account(len(joined))
        return joined

    def join(parts: Sequence[str]) -> str:
        total = 0
        for part in parts:
            total += len(part)
        if total > _ACCOUNTED:
            rt.account(total)
        return "".join(parts)

    def substr(subject: str, start: float, count: float = math.inf) -> str:
        if not count >= 1.0 or start > len(subject) + 1.0:
            return ""
        first = int(start) - 1 if start >= 1.0 else 0
        made = subject[first : first + int(count)] if count < _BIGGEST else subject[first:]
        if len(made) > _ACCOUNTED:
            rt.account(len(made))
        return made

    def length_of(value: object, text: Callable[[object], str]) -> float:
        return float(len(value)) if isinstance(value, Array) else float(len(text(value)))

    def known(subject: str) -> str:
        """The text with the replacement character for bytes that are no characters."""
        if rt.bytewise or _NO_CHARACTER.search(subject) is None:
            return subject
        if not rt.told_of_bytes:
            rt.told_of_bytes = True
            rt.warn(
                "Invalid multibyte data detected. There may be a mismatch between your data and your locale"
            )
        return _NO_CHARACTER.sub("\ufffd", subject)

    def upper(subject: str) -> str:
        if len(subject) > _ACCOUNTED:
            rt.account(len(subject))
        return (
            subject.upper()
            if subject.isascii()
            else "".join([_single(character, character.upper()) for character in known(subject)])
        )

    def lower(subject: str) -> str:
        if len(subject) > _ACCOUNTED:
            rt.account(len(subject))
        return (
            subject.lower()
            if subject.isascii()
            else "".join([_single(character, character.lower()) for character in known(subject)])
        )

    def integer_text(template: str, number: float, flags: str, width: int) -> str:
        if number - number != 0.0:
            return format_one("d", flags, width, None, number, text)
        return template % int(number)

    def real_text(template: str, number: float, flags: str, width: int) -> str:
        if number - number != 0.0:
            return format_one(template[-1], flags, width, None, number, text)
        return template % number

    return {
        "checked": checked, "join": join, "substr": substr, "length_of": length_of, "upper": upper, "lower": lower, "sound": rt.sound,
        "integer_text": integer_text, "real_text": real_text, "charge": charge,
        "format_one": (lambda *given: as_bytes(format_one(*given))) if rt.bytewise else format_one,
    }  # fmt: skip


def _single(character: str, converted: str) -> str:
    """C's towupper and towlower know single characters alone."""
    return converted if len(converted) == 1 else character


def _elements() -> dict[str, Callable[..., Any]]:
    # long: the table of the functions of arrays and variables
    def array_of(value: object, name: str) -> Array:
        if isinstance(value, Array):
            return value
        raise AwkFatal(f"attempt to use scalar parameter `{name}' as an array")

    def undefined_function(name: str) -> object:
        raise AwkFatal(f"function `{name}' not defined")

    def scalar(value: object, name: str) -> object:
        if isinstance(value, Array):
            if not value and name == value.where:
                raise array_as_scalar(value)
            shown = name if name == value.where else f"{name} (from {value.where})"
            raise AwkFatal(f"attempt to use array `{shown}' in a scalar context")
        return value

    def element(value: object) -> object:
        if type(value) is Array:
            raise array_as_scalar(value)
        return value

    def element_or_array(array: Array, key: str) -> object:
        found = array.get(key)
        return array.sub(key) if found is None or type(found) is Unset else found

    def set_element(value: Any, array: Array, key: str) -> object:
        array[key] = value
        return value

    def step_element(array: Array, key: str, amount: float) -> float:
        before = to_number(array[key])
        array[key] = before + amount
        return before

    def count_element(array: Any, key: str, amount: float) -> float:
        """The same where all elements are numbers."""
        before: float = array[key] + 0.0
        array[key] = before + amount
        return before

    def peek(array: Array, key: str) -> object:
        return array.get(key)

    def is_array(value: object) -> float:
        return 1.0 if isinstance(value, Array) else 0.0

    def not_an_array(value: object, which: str) -> Array:
        raise AwkFatal(f"{which} argument is not an array")

    return {
        "array_of": array_of, "scalar": scalar, "element": element, "element_or_array": element_or_array, "set_element": set_element,
        "undefined_function": undefined_function, "step_element": step_element, "count_element": count_element, "peek": peek,
        "is_array": is_array, "kind_of": kind_of, "not_an_array": not_an_array,
    }  # fmt: skip


_KINDS: dict[type, str] = {
    float: "number",
    str: "string",
    Strnum: "strnum",
    Unset: "untyped",
    Array: "array",
}


def kind_of(value: object) -> str:
    return _KINDS.get(value.__class__, "untyped")


def _arithmetic(rt: Run, _text: Callable[[object], str]) -> dict[str, Callable[..., Any]]:
    # long: the table of the functions of numbers, which share the run
    def modulo(left: float, right: float) -> float:
        if right == 0.0:
            raise AwkFatal("division by zero attempted in `%'")
        if left - left != 0.0 or right != right:
            return math.nan
        return math.fmod(left, right)

    def modulo_assigned(left: float, right: float) -> float:
        if right == 0.0:
            raise AwkFatal("division by zero attempted in `%='")
        return modulo(left, right)

    def divided(left: float, right: float) -> float:
        if right == 0.0:
            raise AwkFatal("division by zero attempted in `/='")
        return left / right

    def power(left: float, right: float) -> float:
        try:
            return math.pow(left, right)
        except OverflowError:
            return -math.inf if left < 0 and right % 2 == 1 else math.inf
        except ValueError:
            return math.inf if left == 0 else -math.nan

    def integer(number: float) -> float:
        return float(int(number)) if number - number == 0.0 else number

    def sine(number: float) -> float:
        return math.sin(number) if number - number == 0.0 else -math.nan

    def cosine(number: float) -> float:
        return math.cos(number) if number - number == 0.0 else -math.nan

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

    def bitwise(name: str, numbers: Sequence[float]) -> float:
        result = _bits(name, numbers[0])
        for number in numbers[1:]:
            other = _bits(name, number)
            result = (
                result & other
                if name == "and"
                else result | other
                if name == "or"
                else result ^ other
            )
        return float(result)

    return {
        "modulo": modulo, "modulo_assigned": modulo_assigned, "divided": divided, "power": power,
        "integer": integer, "sine": sine, "cosine": cosine, "atan2": math.atan2,
        "exponential": exponential, "logarithm": logarithm, "square_root": square_root, "bitwise": bitwise,
        "lshift": _left_shift, "rshift": lambda number, count: float(_bits("rshift", number) >> min(_bits("rshift", count), 64)),
        "compl": lambda number: float(~_bits("compl", number) & ((1 << 53) - 1)), "strtonum": _strtonum,
    }  # fmt: skip


def _bits(name: str, number: float) -> int:
    if number < 0:
        raise AwkFatal(
            f"{name}: argument 1 negative value {integral_text(number) or f'{number:.6g}'} is not allowed"
        )
    return int(number) & ((1 << 64) - 1) if number - number == 0.0 else 0


def _left_shift(number: float, count: float) -> float:
    bits = _bits("lshift", number) << min(_bits("lshift", count), 64)
    return float(bits & ((1 << 64) - 1))


def _strtonum(value: object) -> float:
    """A number in decimal, octal (0…) or hexadecimal (0x…)."""
    if isinstance(value, (float, Strnum)):
        return to_number(value) + 0.0
    text = str(value)[:400]
    if text[:2].lower() == "0x":
        return _prefix_in(text[2:], "0123456789abcdef", 16)
    if text[:1] == "0" and text[1:2].isdigit() and "." not in text and "e" not in text.lower():
        octal = [character for character in text if character.isdigit()]
        if not set(octal) & {"8", "9"}:
            return _prefix_in(text, "01234567", 8)
    return parse_number(str(value))


def _prefix_in(text: str, alphabet: str, base: int) -> float:
    value = 0.0
    for character in text.lower():
        if character not in alphabet:
            break
        value = value * base + alphabet.index(character)
    return value


_NO_CHARACTER = re.compile("[\udc80-\udcff]")
_ELEMENTS = _elements()
_GROUPS = (
    (
        frozenset(
            "folded lt le eq gt ge ne field_lt field_le field_gt field_ge field_eq field_ne field_against_lt field_against_le "
            "field_against_gt field_against_ge field_against_eq field_against_ne same_number same_text".split()
        ),
        _comparisons,
    ),
    (
        frozenset(
            "checked join sound substr length_of upper lower integer_text real_text charge format_one".split()
        ),
        _strings,
    ),
    (
        frozenset(
            "modulo modulo_assigned divided power integer sine cosine atan2 exponential logarithm square_root bitwise lshift rshift "
            "compl strtonum".split()
        ),
        _arithmetic,
    ),
)
"""What each of them gives: made only for a program that uses one of its names."""


def namespace(rt: Run, used: frozenset[str]) -> dict[str, Any]:
    """The global names of a generated program that uses these; there are no others, not even
    Python's.
    """
    text = rt.text
    names: dict[str, Any] = {
        "__builtins__": {}, "float": float, "int": int, "str": str, "list": list, "len": len, "zip": zip,
        "num": to_number, "from_input": from_input,
        "UNSET": UNSET, "INF": math.inf, "NAN": math.nan, "Array": Array, "AwkExit": AwkExit, "AwkNext": AwkNext,
        "AwkNextFile": AwkNextFile, "emit": rt.out.append, "write": rt.write, "split_fields": rt.split_fields,
        "walk": rt.walk, "other_field": rt.other_field, "other_value": rt.other_value,
        **rt.conversions, **_ELEMENTS,
    }  # fmt: skip
    for given, make in _GROUPS:
        if not used.isdisjoint(given):
            names.update(make(rt, text))
    return names
