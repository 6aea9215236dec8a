"""Built-in functions that a program calls by a name in a variable: `@f(…)`."""

from __future__ import annotations

import math

from agentsandbox.commands.awk import functions
from agentsandbox.commands.awk.arrays import Array
from agentsandbox.commands.awk.values import AwkFatal, to_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from agentsandbox.commands.awk.channels import Channels
    from agentsandbox.commands.awk.patterns import Pattern
    from agentsandbox.commands.awk.protocols import Run

    class Runtime(Run, Protocol):
        """A run of a program, as these calls use it."""

        def dynamic_pattern(self, source: str) -> Pattern: ...
        def gensub(self, pattern: Pattern, replacement: str, how: Any, text: str) -> str: ...
        def index(self, text: str, sought: str) -> float: ...
        def match(self, text: str, pattern: Pattern, captures: Array | None) -> float: ...
        def mktime(self, text: str, utc: bool) -> float: ...
        def patsplit(
            self, text: str, array: Array, separator: Any, between: Array | None
        ) -> float: ...
        def rand(self) -> float: ...
        def record(self) -> str: ...
        def set_record_value(self, value: Any) -> Any: ...
        def sort(
            self, source: Array, target: Array | None, how: str | None, by_index: bool
        ) -> float: ...
        def split_apart(
            self, text: str, array: Array, separator: Any, between: Array | None
        ) -> float: ...
        def sprintf(self, template: str, values: list[Any]) -> str: ...
        def srand(self, seed: float | None = None) -> float: ...
        def strftime(
            self, template: str | None = None, when: float | None = None, utc: object = 0.0
        ) -> str: ...
        def systime(self) -> float: ...
        def use_channels(self) -> Channels: ...


_NUMBERS: dict[str, Callable[..., float]] = {
    "sin": functions.sine,
    "cos": functions.cosine,
    "atan2": math.atan2,
    "int": functions.integer,
    "lshift": functions.lshift,
    "rshift": functions.rshift,
    "compl": functions.compl,
}
_COUNTS = {
    "asort": (1, 3), "asorti": (1, 3), "atan2": (2, 2), "bindtextdomain": (1, 2),
    "dcgettext": (1, 3), "dcngettext": (3, 5), "mkbool": (1, 1),
    "close": (1, 2), "compl": (1, 1), "cos": (1, 1), "exp": (1, 1),
    "fflush": (0, 1), "gensub": (3, 4), "gsub": (2, 2), "index": (2, 2), "int": (1, 1),
    "isarray": (1, 1), "length": (0, 1), "log": (1, 1), "lshift": (2, 2), "match": (2, 3),
    "mktime": (1, 2), "patsplit": (2, 4), "rand": (0, 0), "rshift": (2, 2), "sin": (1, 1),
    "split": (2, 4), "sqrt": (1, 1), "srand": (0, 1), "strftime": (0, 3), "strtonum": (1, 1),
    "sub": (2, 2), "substr": (2, 3), "system": (1, 1), "systime": (0, 0), "tolower": (1, 1),
    "toupper": (1, 1), "typeof": (1, 1),
}  # fmt: skip


def call_builtin(rt: Runtime, name: str, values: list[Any]) -> Any:
    """Return what a built-in function gives for these values."""
    if name in ("and", "or", "xor"):
        if len(values) < 2:
            raise AwkFatal(f"{name}: called with less than two arguments")
        return functions.bitwise(name, [to_number(value) for value in values])
    if name == "sprintf" and values:
        return rt.sprintf(rt.text(values[0]), values[1:])
    counts = _COUNTS.get(name)
    if counts is None:
        raise AwkFatal(f"`{name}' is not a function, so it cannot be called indirectly")
    if name in ("sub", "gsub") and len(values) != 2:
        raise AwkFatal(f"{name}: can be called indirectly only with two arguments")
    if not counts[0] <= len(values) <= counts[1]:
        raise AwkFatal(f"{name}: called with {len(values)} arguments")
    if name in _NUMBERS:
        return _NUMBERS[name](*map(to_number, values))
    names = functions.namespace(rt)
    if name in ("exp", "log", "sqrt"):
        word = {"exp": "exponential", "log": "logarithm", "sqrt": "square_root"}[name]
        return names[word](to_number(values[0]))
    if name in ("asort", "asorti"):
        if not all(isinstance(value, Array) for value in values[:2]):
            raise AwkFatal(f"{name}: first argument is not an array")
        how = rt.text(values[2]) if len(values) > 2 else None
        return rt.sort(values[0], values[1] if len(values) > 1 else None, how, name == "asorti")
    if name in ("sub", "gsub", "gensub", "match", "split", "patsplit"):
        return _with_pattern(rt, name, values)
    return _plain(rt, name, values, names)


def _plain(rt: Runtime, name: str, values: list[Any], names: dict[str, Any]) -> Any:
    text = rt.text
    if name == "length":
        return functions.length_of(values[0] if values else rt.record(), text)
    if name == "index":
        return rt.index(text(values[0]), text(values[1]))
    if name in ("toupper", "tolower"):
        return names["upper" if name == "toupper" else "lower"](text(values[0]), rt.line)
    if name == "substr":
        return names["substr"](text(values[0]), *map(to_number, values[1:]))
    if name == "strtonum":
        return functions.strtonum(values[0])
    if name == "typeof":
        return functions.kind_of(values[0])
    if name == "mkbool":
        return functions.mkbool(values[0])
    if name == "bindtextdomain":
        return text(values[0])
    if name in ("dcgettext", "dcngettext"):
        return _translated(rt, name, values)
    if name == "isarray":
        return functions.is_array(values[0])
    if name == "mktime":
        return rt.mktime(text(values[0]), bool(values[1:] and to_number(values[1])))
    if name == "strftime":
        template = text(values[0]) if values else None
        return rt.strftime(template, *map(to_number, values[1:]))
    if name in ("rand", "systime"):
        return rt.rand() if name == "rand" else rt.systime()
    if name == "srand":
        return rt.srand(*map(to_number, values))
    channels = rt.use_channels()
    methods: dict[str, Callable[..., float]] = {
        "close": channels.close,
        "fflush": channels.fflush,
        "system": channels.system,
    }
    return methods[name](*map(text, values))


def _translated(rt: Runtime, name: str, values: list[Any]) -> str:
    count = 2 if name == "dcngettext" else 1
    number = to_number(values.pop(2)) if count == 2 else 1.0
    texts = [rt.text(value) for value in values[:count]]
    category = rt.text(values[count + 1]) if len(values) > count + 1 else None
    return functions.translated(name, texts, number, category)


def _with_pattern(rt: Runtime, name: str, values: list[Any]) -> Any:
    text = rt.text
    if name in ("sub", "gsub"):
        pattern = rt.dynamic_pattern(text(values[0]))
        count = rt.substitute(pattern, text(values[1]), rt.record(), name == "gsub")
        if count:
            rt.set_record_value(rt.got)
        return count
    if name == "gensub":
        subject = text(values[3]) if len(values) > 3 else rt.record()
        return rt.gensub(rt.dynamic_pattern(text(values[0])), text(values[1]), values[2], subject)
    for value in values[2:] if name == "match" else [values[1], *values[3:]]:
        if not isinstance(value, Array):
            raise AwkFatal(f"{name}: argument is not an array")
    if name == "match":
        captures = values[2] if len(values) > 2 else None
        return rt.match(text(values[0]), rt.dynamic_pattern(text(values[1])), captures)
    between = values[3] if len(values) > 3 else None
    by = text(values[2]) if len(values) > 2 else None
    method = rt.patsplit if name == "patsplit" else rt.split_apart
    return method(text(values[0]), values[1], by, between)
