"""The functions that a compiled program calls: conversions, comparisons, arithmetic, texts, arrays.

Those that depend on the run (CONVFMT, IGNORECASE, warnings, the budget) are closures made for it;
all others are plain functions of this module.
"""

from __future__ import annotations

import math
import operator

from agentsandbox.commands.awk.arrays import Array
from agentsandbox.commands.awk.values import (
    UNASSIGNED,
    UNSET,
    AwkExit,
    AwkFatal,
    AwkNext,
    AwkNextFile,
    Boolean,
    Strnum,
    Typed,
    Unset,
    array_as_scalar,
    from_input,
    integral_text,
    numeric_input,
    parse_number,
    text_number,
    to_number,
)
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from agentsandbox.commands.awk.protocols import Run

_CATEGORIES = frozenset(
    f"LC_{name}" for name in ("ALL", "COLLATE", "CTYPE", "MESSAGES", "MONETARY", "NUMERIC", "TIME")
)
_BIGGEST = 2.0**53
_ACCOUNTED = 4096
"""Characters of a text above which its making is accounted."""
_NUMBERS = (float, Strnum)
_MOST_KEYS = 16_384
_NO_CHARACTER = lazily("[\udc80-\udcff]")
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
_KINDS: dict[type, str] = {
    float: "number",
    str: "string",
    Strnum: "strnum",
    Boolean: "number|bool",
    Typed: "regexp",
    Unset: "untyped",
    Array: "array",
}


def _by_name(functions: Iterable[Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    return {function.__name__: function for function in functions}


def number_formatter(
    convert: Callable[[], str], charge: Callable[[int], None], text: Callable[[object], str] = str
) -> Callable[[float], str]:
    """Return the conversion of numbers to text: integers as they are, others by a format.

    convert  gives the format: CONVFMT or OFMT
    text     is for a `%s` in it
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
        from agentsandbox.commands.awk.formats import format_values

        return format_values(template, (number,), text, charge)

    return number_text


def conversions(rt: Run) -> dict[str, Callable[..., Any]]:
    """Return the conversions of values to text and to subscripts."""
    number_text = number_formatter(lambda: rt.CONVFMT, rt.budget.charge)
    printed_number = number_formatter(
        lambda: rt.OFMT, rt.budget.charge, lambda number: number_text(to_number(number))
    )
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
        raise array_as_scalar(value)

    def printed(value: object) -> str:
        return printed_number(value) if type(value) is float else text(value)

    def key_of(number: float) -> str:
        found = keys.get(number)
        if found is not None and type(number) is float:
            return found
        made = number_text(number)
        if len(keys) < _MOST_KEYS and type(number) is float and number.is_integer():
            keys[number] = made
        return made

    def key(value: object) -> str:
        kind = value.__class__
        if kind is str:
            return value  # type: ignore[return-value]
        return key_of(value) if kind is float else text(value)  # type: ignore[arg-type]

    found = _by_name((text, printed, key_of, key))
    return {**found, "number_text": number_text, "printed_number": printed_number}


# comparisons


def _field_against(
    text: Callable[[object], str], compare: Callable[[Any, Any], bool]
) -> Callable[[str, Any], bool]:
    """Return the comparison of a field with any value.

    The value is often the same as before, or the field of the record before: its number is kept.
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
            if kind is not float and kind is not Unset and not issubclass(kind, Strnum):
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


def same_number(value: object, number: float) -> bool:
    """Whether a number of a `case` is the value of the `switch`."""
    return type(value) is not str and to_number(value) == number


def same_text(value: object, other: str) -> bool:
    """Whether a string of a `case` is the value of the `switch`."""
    return type(value) is str and value == other


def _comparisons(rt: Run, text: Callable[[object], str]) -> dict[str, Callable[..., Any]]:
    def sides(left: object, right: object) -> tuple[Any, Any]:
        """Return both as numbers, or both as text."""
        a, b = left.__class__, right.__class__
        if (a is float or a is Strnum or a is Unset) and (b is float or b is Strnum or b is Unset):
            return to_number(left), to_number(right)
        if a is not str and b is not str and issubclass(a, _NUMBERS) and issubclass(b, _NUMBERS):
            return to_number(left), to_number(right)
        return text(left), text(right)

    def folded(symbol: str, left: object, right: object) -> bool:
        """Compare in a program that knows IGNORECASE."""
        a, b = sides(left, right)
        if rt.IGNORECASE and isinstance(a, str):
            a, b = a.casefold(), b.casefold()
        return _OPERATORS[symbol](a, b)

    def lt(left: object, right: object) -> bool:
        a, b = sides(left, right)
        return bool(a < b)

    def le(left: object, right: object) -> bool:
        a, b = sides(left, right)
        return bool(a <= b)

    def eq(left: object, right: object) -> bool:
        a, b = sides(left, right)
        return bool(a == b)

    def gt(left: object, right: object) -> bool:
        return lt(right, left)

    def ge(left: object, right: object) -> bool:
        return le(right, left)

    def ne(left: object, right: object) -> bool:
        return not eq(left, right)

    fields = {
        f"field_{compare.__name__}": _field_against(text, compare)
        for compare in _OPERATORS.values()
    }
    return {**_by_name((folded, lt, le, eq, gt, ge, ne)), **fields}


# texts


def _texts(rt: Run, text: Callable[[object], str]) -> dict[str, Callable[..., Any]]:
    # long: the functions of texts, which share the run
    def checked(joined: str) -> str:
        if len(joined) > _ACCOUNTED:
            rt.account(len(joined))
        return joined

    def join(parts: Sequence[str]) -> str:
        total = sum(map(len, parts))
        if total > _ACCOUNTED:
            rt.account(total)
        return "".join(parts)

    def substr(subject: str, start: float, count: float = math.inf) -> str:
        if not count >= 1.0 or start > len(subject) + 1.0:
            return ""
        first = int(start) - 1 if start >= 1.0 else 0
        return checked(subject[first : first + int(count)] if count < _BIGGEST else subject[first:])

    def characters(subject: str, line: int) -> str:
        """Return the text with the replacement character for bytes that are no characters."""
        if rt.bytewise or _NO_CHARACTER.search(subject) is None:
            return subject
        if not rt.told_of_bytes:
            rt.told_of_bytes = True
            rt.line = line
            rt.warn(
                "Invalid multibyte data detected."
                " There may be a mismatch between your data and your locale"
            )
        return _NO_CHARACTER.sub("\ufffd", subject)

    def upper(subject: str, line: int) -> str:
        if len(subject) > _ACCOUNTED:
            rt.account(len(subject))
        if subject.isascii():
            return subject.upper()
        return "".join([_single(letter, letter.upper()) for letter in characters(subject, line)])

    def lower(subject: str, line: int) -> str:
        if len(subject) > _ACCOUNTED:
            rt.account(len(subject))
        if subject.isascii():
            return subject.lower()
        return "".join([_single(letter, letter.lower()) for letter in characters(subject, line)])

    def integer_text(template: str, number: float, flags: str, width: int) -> str:
        if number - number != 0.0:
            from agentsandbox.commands.awk.formats import format_one

            return format_one("d", flags, width, None, number, text)
        return template % int(number)

    def real_text(template: str, number: float, flags: str, width: int) -> str:
        if number - number != 0.0:
            from agentsandbox.commands.awk.formats import format_one

            return format_one(template[-1], flags, width, None, number, text)
        return template % number

    def one_text(*given: Any) -> str:
        from agentsandbox.commands.awk.formats import as_bytes, format_one

        made = format_one(*given)
        return as_bytes(made) if rt.bytewise else made

    return _by_name((checked, join, substr, upper, lower, integer_text, real_text, one_text))


def _single(character: str, converted: str) -> str:
    """As towupper and towlower of C, which know single characters only."""
    return converted if len(converted) == 1 else character


def length_of(value: object, text: Callable[[object], str]) -> float:
    """`length(value)`."""
    return float(len(value)) if isinstance(value, Array) else float(len(text(value)))


# arrays and variables


def array_of(value: object, name: str) -> Array:
    """Return the array that a parameter is."""
    if isinstance(value, Array):
        return value
    raise AwkFatal(f"attempt to use scalar parameter `{name}' as an array")


def not_an_array(value: object, which: str) -> Array:
    """Refuse an argument that must be an array."""
    raise AwkFatal(f"{which} argument is not an array")


def fatal(message: str) -> object:
    """Refuse what can only be refused when it runs."""
    raise AwkFatal(message)


def scalar(value: object, name: str) -> object:
    """Return the value of a name that is an array elsewhere."""
    if isinstance(value, Array):
        if not value and name == value.where:
            raise array_as_scalar(value)
        shown = name if name == value.where else f"{name} (from {value.where})"
        raise AwkFatal(f"attempt to use array `{shown}' in a scalar context")
    return value


def element(value: object) -> object:
    """Return the value of an element that may be an array."""
    if type(value) is Array:
        raise array_as_scalar(value)
    return value


def element_or_array(array: Array, key: str) -> object:
    """Return an element as an argument: one never set becomes an array."""
    found = array.get(key)
    return array.sub(key) if found is None or type(found) is Unset else found


def set_element(value: Any, array: Array, key: str) -> object:
    """`array[key] = value`."""
    array[key] = value
    return value


def step_element(array: Array, key: str, amount: float) -> float:
    """`array[key]++`."""
    before = to_number(array[key])
    array[key] = before + amount
    return before


def count_element(array: Any, key: str, amount: float) -> float:
    """`array[key]++` where all elements are numbers."""
    before: float = array[key] + 0.0
    array[key] = before + amount
    return before


def peek(array: Array, key: str) -> object:
    """Return an element without creating it."""
    return array.get(key)


def is_array(value: object) -> float:
    """`isarray`."""
    return 1.0 if isinstance(value, Array) else 0.0


def mkbool(value: object) -> Boolean:
    """`mkbool`."""
    return Boolean("1" if value else "0")


def same_type(before: object, text: str) -> str:
    """Return what `sub` made of a value: a typed regular expression stays one."""
    return Typed(text) if type(before) is Typed else text


def translated(name: str, texts: Sequence[str], number: float, category: str | None) -> str:
    """`dcgettext` and `dcngettext`: there are no translations."""
    if category is not None and category not in _CATEGORIES:
        raise AwkFatal(f"{name}: `{category}' is not a valid locale category")
    return texts[0] if 1.0 <= number < 2.0 else texts[-1]


def used(value: object) -> object:
    """Return a value that is read, in a program that asks for types."""
    return UNASSIGNED if value is UNSET else value


def kind_of(value: object) -> str:
    """`typeof`."""
    if value is UNASSIGNED:
        return "unassigned"
    return _KINDS.get(value.__class__) or ("strnum" if isinstance(value, Strnum) else "untyped")


# numbers


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


def _warning_functions(rt: Run) -> dict[str, Callable[..., Any]]:
    """Return the functions of numbers that warn of their arguments."""

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

    return _by_name((exponential, logarithm, square_root))


_FIXED: dict[str, Any] = {
    "__builtins__": {}, "float": float, "int": int, "str": str, "list": list, "len": len,
    "zip": zip, "ValueError": ValueError, "num": to_number,
    "numeric_input": numeric_input, "field_number": text_number, "from_input": from_input,
    "UNASSIGNED": UNASSIGNED, "UNSET": UNSET, "Typed": Typed, "INF": math.inf, "NAN": math.nan,
    "Array": Array,
    "AwkExit": AwkExit,
    "AwkNext": AwkNext, "AwkNextFile": AwkNextFile, "atan2": math.atan2,
    **_by_name((
        array_of, bitwise, compl, cosine, count_element, divided, element, element_or_array,
        fatal, integer, is_array, kind_of, length_of, lshift, mkbool, modulo, modulo_assigned,
        not_an_array, peek, power, rshift, same_number, same_text, same_type, scalar, set_element,
        sine, step_element, strtonum, translated, used,
    )),
}  # fmt: skip
"""The global names that are the same for all programs."""


def namespace(rt: Run) -> dict[str, Any]:
    """Return the global names of a compiled program; there are no others, not even Python's."""
    text = rt.text
    return {
        **_FIXED,
        **rt.numbers,
        **rt.conversions,
        **_comparisons(rt, text),
        **_texts(rt, text),
        **_warning_functions(rt),
        "emit": rt.out.append,
        "write": rt.write,
        "sound": rt.sound,
        "split_fields": rt.split_fields,
        "walk": rt.walk,
        "other_field": rt.other_field,
        "other_value": rt.other_value,
    }
