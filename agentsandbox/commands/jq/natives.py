"""Built-in functions of values: (machine, input, arguments…) → output."""

from __future__ import annotations

import re

from agentsandbox.commands._json.json_text import JsonError, parse_number, parse_one
from agentsandbox.commands._json.printing import dump, dump_within
from agentsandbox.commands._json.values import CONTAINERS, EXACT, KINDS, JqError, Literal, is_number
from agentsandbox.commands.jq import operations
from agentsandbox.commands.jq.code import members
from agentsandbox.commands.jq.dates import DATES
from agentsandbox.commands.jq.formats import find_format, text_of
from agentsandbox.commands.jq.forms.collections import largest, smallest, unique
from agentsandbox.commands.jq.machine import Halt, Machine
from agentsandbox.commands.jq.mathematics import MATHEMATICS
from agentsandbox.commands.jq.operations import describe
from agentsandbox.commands.jq.paths import delete_paths, get, occurrences, put_path
from agentsandbox.commands.jq.regexes import REGEXES
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentsandbox.commands._json.values import Value
    from agentsandbox.kernel.budget import Budget

    Native = Callable[..., Value]

_SIZED = frozenset((str, list, dict))


def _length(machine: Machine, value: Value) -> Value:
    if type(value) in _SIZED:
        return len(value)
    if value is None:
        return 0
    if is_number(value):
        if value:
            return _absolute(machine, value)
        return Literal(0.0, value.text.lstrip("-")) if type(value) is Literal else 0
    raise JqError(f"{describe(value)} has no length")


def _abs(machine: Machine, value: Value) -> Value:
    if value is None or value is False or value is True:  # they come before 0
        raise JqError(f"{describe(value)} cannot be negated")
    return _absolute(machine, value) if is_number(value) else value


def _absolute(machine: Machine, value: Value) -> Value:
    if not is_number(value):
        raise JqError(f"{describe(value)} has no absolute value")
    if type(value) is Literal:
        text = value.text
        return Literal(abs(float(value)), text[1:]) if text.startswith("-") and value < 0 else value
    return abs(value) if value < 0 else value


def _utf8_length(machine: Machine, value: Value) -> Value:
    if not isinstance(value, str):
        raise JqError(f"{describe(value)} only strings have UTF-8 byte length")
    return len(encode(value))


def _keys(machine: Machine, value: Value) -> Value:
    if isinstance(value, dict):
        return sorted(value)
    return _keys_unsorted(machine, value)


def _keys_unsorted(machine: Machine, value: Value) -> Value:
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, list):
        return list(range(len(value)))
    raise JqError(f"{describe(value)} has no keys")


def _has(machine: Machine, value: Value, key: Value) -> Value:
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and is_number(key):
        return bool(0 <= key < len(value))
    if value is None:
        return False
    raise JqError(f"Cannot check whether {KINDS[type(value)]} has a {KINDS[type(key)]} key")


def _setpath(machine: Machine, value: Value, path: Value, item: Value) -> Value:
    if not isinstance(path, list):
        raise JqError("Path must be specified as an array")
    return put_path(value, path, item, machine.budget)


# strings


def _tostring(machine: Machine, value: Value) -> Value:
    kind = type(value)
    if kind is str:
        return value
    return _tojson(machine, value) if kind in CONTAINERS else dump(value)


def _tojson(machine: Machine, value: Value) -> Value:
    text = dump_within(value, machine.budget.charge)
    machine.charge_text(len(text))
    return text


def _fromjson(machine: Machine, value: Value) -> Value:
    if not isinstance(value, str):
        raise JqError(f"{describe(value)} only strings can be parsed")
    machine.budget.step(len(value) // 1000 + 1)
    try:
        return parse_one(value)
    except JsonError as error:
        shown = value.partition("\0")[0]  # a string of C
        raise JqError(f"{error} (while parsing '{shown}')") from None


_NUMERIC = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|nan|NaN|inf|Infinity)"
)


def _tonumber(machine: Machine, value: Value) -> Value:
    if is_number(value):
        return value
    if isinstance(value, str) and _NUMERIC.fullmatch(value):
        bare = value[1:] if value[0] == "+" else value
        return float(bare) if bare[-1].isalpha() else parse_number(bare)
    raise JqError(f"{describe(value)} cannot be parsed as a number")


def _toboolean(machine: Machine, value: Value) -> Value:
    if value is True or value is False:
        return value
    if isinstance(value, str) and value in ("true", "false"):
        return value == "true"
    raise JqError(f"{describe(value)} cannot be parsed as a boolean")


def _both_strings(name: str, value: Value, other: Value) -> None:
    if not (isinstance(value, str) and isinstance(other, str)):
        raise JqError(f"{name}() requires string inputs")


def _startswith(machine: Machine, value: Value, start: Value) -> Value:
    _both_strings("startswith", value, start)
    return value.startswith(start)


def _endswith(machine: Machine, value: Value, end: Value) -> Value:
    _both_strings("endswith", value, end)
    return value.endswith(end)


def _ltrimstr(machine: Machine, value: Value, start: Value) -> Value:
    _both_strings("startswith", value, start)
    return value.removeprefix(start)


def _rtrimstr(machine: Machine, value: Value, end: Value) -> Value:
    _both_strings("endswith", value, end)
    # nothing is left before an empty end: jq cuts off the last 0 characters by `.[:-0]`
    return value.removesuffix(end) if end else ""


def _trimstr(machine: Machine, value: Value, text: Value) -> Value:
    return _rtrimstr(machine, _ltrimstr(machine, value, text), text)


_WHITE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def _trimming(strip: Callable[[str, str], str]) -> Native:
    def trim(machine: Machine, value: Value) -> Value:
        if not isinstance(value, str):
            raise JqError("trim input must be a string")
        return strip(value, _WHITE)

    return trim


def _split(machine: Machine, value: Value, separator: Value) -> Value:
    if not (isinstance(value, str) and isinstance(separator, str)):
        raise JqError("split input and separator must be strings")
    machine.budget.charge(len(value) * 4)
    return operations.split(value, separator)


def _explode(machine: Machine, value: Value) -> Value:
    if not isinstance(value, str):
        raise JqError("explode input must be a string")
    machine.budget.charge(len(value) * 4)
    return list(map(ord, value))


def _implode(machine: Machine, value: Value) -> Value:
    if not isinstance(value, list):
        raise JqError("implode input must be an array")
    made: list[str] = []
    for item in value:
        if not is_number(item) or item != item:
            raise JqError(
                f"{describe(item)} can't be imploded, unicode codepoint needs to be numeric"
            )
        valid = 0 <= item < 0x110000 and not 0xD800 <= item < 0xE000
        made.append(chr(int(item)) if valid else "\ufffd")
    return "".join(made)


_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_UPPER = str.maketrans("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def _translating(table: dict[int, int]) -> Native:
    def translate(machine: Machine, value: Value) -> Value:
        if not isinstance(value, str):
            raise JqError("explode input must be a string")
        return value.translate(table)

    return translate


def _join(machine: Machine, value: Value, separator: Value) -> Value:
    items = members(value)
    if not value:
        return ""
    pieces: list[str] = []
    for at, item in enumerate(items):
        if at:
            if not isinstance(separator, str):
                operations.add("".join(pieces), separator, machine.budget)
            pieces.append(separator or "")
        if isinstance(item, str):
            pieces.append(item)
        elif item is None:
            continue
        elif isinstance(item, CONTAINERS):
            operations.add("".join(pieces), item, machine.budget)
        else:
            pieces.append(dump(item))
    machine.charge_text(sum(map(len, pieces)))
    return "".join(pieces)


def _indices(machine: Machine, value: Value, wanted: Value) -> Value:
    if value is None and KINDS[type(wanted)] == "array":
        raise JqError("Cannot index null with array")
    if value is None and wanted is not None:
        return None
    if isinstance(value, str) and isinstance(wanted, str):
        return _occurrences(machine, value, wanted)
    if isinstance(value, list):
        return occurrences(value, wanted if isinstance(wanted, list) else [wanted], machine.budget)
    return get(value, wanted)


def _occurrences(machine: Machine, value: str, wanted: str) -> list[Value]:
    found: list[Value] = []
    at = value.find(wanted) if wanted else -1
    while at >= 0:
        machine.budget.step()
        found.append(at)
        at = value.find(wanted, at + 1)
    return found


def _index(machine: Machine, value: Value, wanted: Value) -> Value:
    return get(_indices(machine, value, wanted), 0)


def _rindex(machine: Machine, value: Value, wanted: Value) -> Value:
    found = _indices(machine, value, wanted)
    if KINDS[type(found)] not in ("array", "string", "null"):
        raise JqError(f"Cannot index {KINDS[type(found)]} with object")
    return get(found, -1)


# arrays and objects


def _total(machine: Machine, value: Value) -> Value:
    items = list(members(value))
    machine.budget.breathe()
    kinds = set(map(type, items))
    machine.budget.breathe()
    if kinds == {str}:
        machine.charge_text(sum(map(len, items)))
        return "".join(items)
    if kinds == {list}:
        machine.budget.charge(16 * sum(map(len, items)))
        return [item for part in items for item in part]
    if kinds == {dict}:
        merged: dict[str, Value] = {}
        for part in items:
            machine.budget.step()
            merged.update(part)
        return merged
    if kinds == {int}:
        machine.budget.step(len(items) // 16 + 1)
        if sum(map(abs, items)) <= EXACT:
            return sum(items)
    result: Value = None
    for item in items:
        machine.budget.step()
        result = operations.add(result, item, machine.budget)
    return result


def _sort(machine: Machine, value: Value) -> Value:
    if not isinstance(value, list):
        raise JqError(f"{describe(value)} cannot be sorted, as it is not an array")
    machine.budget.step(len(value) // 4 + 1)
    return operations.sorted_values(value, value, machine.budget)


def _unique(machine: Machine, value: Value) -> Value:
    if not isinstance(value, list):
        raise JqError(f"{describe(value)} cannot be sorted, as it is not an array")
    return unique(value, value, machine.budget)


def _extreme(find: Callable[[list[Value], list[Value], Budget], Value]) -> Native:
    def extreme(machine: Machine, value: Value) -> Value:
        if not isinstance(value, list):
            raise JqError(f"{describe(value)} and {describe(value)} cannot be iterated over")
        return find(value, value, machine.budget)

    return extreme


def _reverse(machine: Machine, value: Value) -> Value:
    if isinstance(value, list):
        return value[::-1]
    if not _length(machine, value):
        return []
    return get(value, 0)


def _flatten(machine: Machine, value: Value, depth: Value) -> Value:
    if is_number(depth) and depth < 0:
        raise JqError("flatten depth must not be negative")
    flattened = list(_flat(machine, members(value), depth))
    machine.budget.charge(len(flattened) * 16)
    return flattened


def _flat(machine: Machine, items: Iterable[Value], depth: Value) -> Iterator[Value]:
    pending = [(iter(items), depth)]
    while pending:
        here, left = pending[-1]
        for item in here:
            machine.budget.step()
            if isinstance(item, list) and left != 0:
                pending.append((iter(item), left - 1 if is_number(left) else left))
                break
            yield item
        else:
            pending.pop()


def _to_entries(machine: Machine, value: Value) -> Value:
    if not isinstance(value, dict):
        return [{"key": key, "value": get(value, key)} for key in _keys_unsorted(machine, value)]
    return [{"key": name, "value": item} for name, item in value.items()]


_KEY_NAMES = ("key", "Key", "name", "Name")
_VALUE_NAMES = ("value", "Value")


def _from_entries(machine: Machine, value: Value) -> Value:
    made: dict[str, Value] = {}
    for entry in members(value):
        machine.budget.step()
        get(entry, "key")
        key: Value = None
        for name in _KEY_NAMES:
            key = entry.get(name) if entry is not None else None
            if key is not None and key is not False:
                break
        if not isinstance(key, str):
            raise JqError(f"Cannot use {describe(key if key is not False else None)} as object key")
        made[key] = next((entry[name] for name in _VALUE_NAMES if name in entry), None)
    return made


def _bsearch(machine: Machine, value: Value, wanted: Value) -> Value:
    if not isinstance(value, list):
        raise JqError(f"{describe(value)} cannot be searched from")
    low, high = 0, len(value)
    while low < high:
        middle = (low + high) // 2
        order = operations.compare(value[middle], wanted)
        if order == 0:
            return middle
        if order < 0:
            low = middle + 1
        else:
            high = middle
    return -1 - low


# the world around


def _environment(machine: Machine, value: Value) -> Value:
    return dict(machine.environment)


def _halt(machine: Machine, value: Value) -> Value:
    raise Halt(0)


def _halt_error(machine: Machine, value: Value, status: Value) -> Value:
    if not is_number(status):
        raise JqError(f"{describe(value)} halt_error/1: number required")
    text = value if isinstance(value, str) else dump(value) + "\n"
    raise Halt(int(status) & 255, b"" if value is None else encode(text))


def _error(machine: Machine, value: Value) -> Value:
    raise JqError(value)


def _debug(machine: Machine, value: Value) -> Value:
    machine.warn(f'["DEBUG:",{dump(value)}]\n')
    return value


def _stderr(machine: Machine, value: Value) -> Value:
    machine.warn(value if isinstance(value, str) else dump(value))
    return value


NATIVES: dict[str, Native] = {
    "not/0": lambda machine, value: value is None or value is False,
    "type/0": lambda machine, value: KINDS[type(value)],
    "length/0": _length,
    "utf8bytelength/0": _utf8_length,
    "abs/0": _abs,
    "keys/0": _keys,
    "keys_unsorted/0": _keys_unsorted,
    "has/1": _has,
    "contains/1": lambda machine, value, other: operations.contains(value, other, machine.budget),
    "setpath/2": _setpath,
    "delpaths/1": lambda machine, value, paths: delete_paths(value, paths, machine.budget),
    "tostring/0": _tostring,
    "tojson/0": _tojson,
    "fromjson/0": _fromjson,
    "tonumber/0": _tonumber,
    "toboolean/0": _toboolean,
    "toarray/0": lambda machine, value: value if isinstance(value, list) else [value],
    "startswith/1": _startswith,
    "endswith/1": _endswith,
    "ltrimstr/1": _ltrimstr,
    "rtrimstr/1": _rtrimstr,
    "trimstr/1": _trimstr,
    "trim/0": _trimming(str.strip),
    "ltrim/0": _trimming(str.lstrip),
    "rtrim/0": _trimming(str.rstrip),
    "split/1": _split,
    "explode/0": _explode,
    "implode/0": _implode,
    "ascii_downcase/0": _translating(_LOWER),
    "ascii_upcase/0": _translating(_UPPER),
    "join/1": _join,
    "indices/1": _indices,
    "index/1": _index,
    "rindex/1": _rindex,
    "add/0": _total,
    "sort/0": _sort,
    "unique/0": _unique,
    "min/0": _extreme(smallest),
    "max/0": _extreme(largest),
    "reverse/0": _reverse,
    "flatten/0": lambda machine, value: _flatten(machine, value, None),
    "flatten/1": _flatten,
    "to_entries/0": _to_entries,
    "from_entries/0": _from_entries,
    "bsearch/1": _bsearch,
    "env/0": _environment,
    "halt/0": _halt,
    "halt_error/1": _halt_error,
    "error/0": _error,
    "debug/0": _debug,
    "stderr/0": _stderr,
    "input/0": lambda machine, value: machine.next_input(),
    "input_filename/0": lambda machine, value: machine.filename(),
    "input_line_number/0": lambda machine, value: machine.line(),
    "now/0": lambda machine, value: machine.clock(),
    "format/1": lambda machine, value, name: find_format(text_of(name), machine.budget.charge)(
        value
    ),
    "have_literal_numbers/0": lambda machine, value: True,
    "have_decnum/0": lambda machine, value: True,
    **MATHEMATICS,
    **DATES,
    **REGEXES,
}
