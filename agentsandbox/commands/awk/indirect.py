"""Built-in functions that a program calls by a name in a variable: `@f(…)`."""

from __future__ import annotations

import math

from agentsandbox.commands.awk import arithmetic, elements, texts
from agentsandbox.commands.awk.values import Array, AwkFatal, to_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from agentsandbox.commands.awk.patterns import Pattern

    class Library(Protocol):
        """The functions of a run, as these calls use them."""

        rt: Any

        def gensub(self, pattern: Pattern, replacement: str, how: Any, text: str) -> str: ...
        def index(self, text: str, sought: str) -> float: ...
        def match(self, text: str, pattern: Pattern, captures: Array | None) -> float: ...
        def mktime(self, text: str, utc: bool) -> float: ...
        def patsplit(
            self, text: str, array: Array, separator: Any, between: Array | None
        ) -> float: ...
        def rand(self) -> float: ...
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
        def substitute(
            self, pattern: Pattern, replacement: str, text: str, every: bool
        ) -> float: ...
        def systime(self) -> float: ...


_NUMBERS: dict[str, Callable[..., float]] = {
    "sin": arithmetic.sine,
    "cos": arithmetic.cosine,
    "atan2": math.atan2,
    "int": arithmetic.integer,
    "lshift": arithmetic.lshift,
    "rshift": arithmetic.rshift,
    "compl": arithmetic.compl,
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


def call_builtin(library: Library, name: str, values: list[Any]) -> Any:
    """Return what a built-in function gives for these values."""
    rt = library.rt
    if name in ("and", "or", "xor"):
        if len(values) < 2:
            raise AwkFatal(f"{name}: called with less than two arguments")
        return arithmetic.bitwise(name, [to_number(value) for value in values])
    if name == "sprintf" and values:
        return library.sprintf(rt.text(values[0]), values[1:])
    counts = _COUNTS.get(name)
    if counts is None:
        raise AwkFatal(f"`{name}' is not a function, so it cannot be called indirectly")
    if name in ("sub", "gsub") and len(values) != 2:
        raise AwkFatal(f"{name}: can be called indirectly only with two arguments")
    if not counts[0] <= len(values) <= counts[1]:
        raise AwkFatal(f"{name}: called with {len(values)} arguments")
    if name in _NUMBERS:
        return _NUMBERS[name](*map(to_number, values))
    if name in ("exp", "log", "sqrt"):
        word = {"exp": "exponential", "log": "logarithm", "sqrt": "square_root"}[name]
        return arithmetic.functions(rt)[word](to_number(values[0]))
    if name in ("asort", "asorti"):
        if not all(isinstance(value, Array) for value in values[:2]):
            raise AwkFatal(f"{name}: first argument is not an array")
        how = rt.text(values[2]) if len(values) > 2 else None
        target = values[1] if len(values) > 1 else None
        return library.sort(values[0], target, how, name == "asorti")
    if name in ("sub", "gsub", "gensub", "match", "split", "patsplit"):
        return _with_pattern(library, name, values)
    return _plain(library, name, values)


def _plain(library: Library, name: str, values: list[Any]) -> Any:
    rt, text = library.rt, library.rt.text
    if name == "length":
        return texts.length_of(values[0] if values else rt.record(), text)
    if name == "index":
        return library.index(text(values[0]), text(values[1]))
    if name in ("toupper", "tolower"):
        word = name.removeprefix("to")
        return texts.functions(rt)[word](text(values[0]), rt.line)
    if name == "substr":
        return texts.functions(rt)["substr"](text(values[0]), *map(to_number, values[1:]))
    if name == "strtonum":
        return arithmetic.strtonum(values[0])
    if name == "typeof":
        return elements.kind_of(values[0])
    if name == "mkbool":
        return elements.mkbool(values[0])
    if name == "bindtextdomain":
        return text(values[0])
    if name in ("dcgettext", "dcngettext"):
        return _translated(library, name, values)
    if name == "isarray":
        return elements.is_array(values[0])
    if name == "mktime":
        return library.mktime(text(values[0]), bool(values[1:] and to_number(values[1])))
    if name == "strftime":
        template = text(values[0]) if values else None
        return library.strftime(template, *map(to_number, values[1:]))
    if name in ("rand", "systime"):
        return library.rand() if name == "rand" else library.systime()
    if name == "srand":
        return library.srand(*map(to_number, values))
    channels = rt.use_channels()
    methods: dict[str, Callable[..., float]] = {
        "close": channels.close,
        "fflush": channels.fflush,
        "system": channels.system,
    }
    return methods[name](*map(text, values))


def _translated(library: Library, name: str, values: list[Any]) -> str:
    rt = library.rt
    count = 2 if name == "dcngettext" else 1
    number = to_number(values.pop(2)) if count == 2 else 1.0
    strings = [rt.text(value) for value in values[:count]]
    category = rt.text(values[count + 1]) if len(values) > count + 1 else None
    return texts.translated(name, strings, number, category)


def _with_pattern(library: Library, name: str, values: list[Any]) -> Any:
    rt, text = library.rt, library.rt.text
    if name in ("sub", "gsub"):
        pattern = rt.dynamic_pattern(text(values[0]))
        count = library.substitute(pattern, text(values[1]), rt.record(), name == "gsub")
        if count:
            rt.set_record_value(rt.got)
        return count
    if name == "gensub":
        subject = text(values[3]) if len(values) > 3 else rt.record()
        pattern = rt.dynamic_pattern(text(values[0]))
        return library.gensub(pattern, text(values[1]), values[2], subject)
    for value in values[2:] if name == "match" else [values[1], *values[3:]]:
        if not isinstance(value, Array):
            raise AwkFatal(f"{name}: argument is not an array")
    if name == "match":
        captures = values[2] if len(values) > 2 else None
        return library.match(text(values[0]), rt.dynamic_pattern(text(values[1])), captures)
    between = values[3] if len(values) > 3 else None
    by = text(values[2]) if len(values) > 2 else None
    method = library.patsplit if name == "patsplit" else library.split_apart
    return method(text(values[0]), values[1], by, between)
