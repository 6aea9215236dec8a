"""The table of built-in functions: forms that compile their arguments themselves, plain functions of values
(`natives`, `mathematics`, `dates`, `regexes`), and definitions in jq.
"""

from __future__ import annotations

from itertools import islice

from agentsandbox.languages.jq import nodes
from agentsandbox.languages.jq.code import EMPTY, Code, invalid_path, members
from agentsandbox.languages.jq.expressions.construction import collected
from agentsandbox.languages.jq.expressions.flow import piped
from agentsandbox.languages.jq.paths import delete_paths, get_path
from agentsandbox.languages.jq.values import EXACT, JqError, add, is_number, number, sorted_values, to_float

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    from agentsandbox.languages.jq.code import Environment, Path
    from agentsandbox.languages.jq.compiler import Compiler
    from agentsandbox.languages.jq.values import Value
    from agentsandbox.limits import Budget

    Form: TypeAlias = Callable[[Compiler, list[Code]], Code]
    Native: TypeAlias = Callable[..., Value]

__all__ = ["all_names", "find_builtin"]

_PIECE = 2048
"""Items between two chances for the event loop."""

_DEFINITIONS = """
def halt_error: halt_error(5);
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def todateiso8601: todate;
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def fromdate: fromdateiso8601;
def date: todate;
def dateadd(u; n): . + n;
def datesub(u; n): . - n;
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def normals: select(isnormal);
def finites: select(isfinite);
def isfinite: type == "number" and (isinfinite | not);
def isvalid(f): try (f | true) catch false;
def strings: select(type == "string");
def nulls: select(. == null);
def values: select(. != null);
def scalars: select(type | . != "array" and . != "object");
def leaf_paths: paths(scalars);
def paths(node_filter): path(recurse | select(node_filter)) | select(length > 0);
def with_entries(f): to_entries | map(f) | from_entries;
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def nth($n; f): if $n < 0 then error("nth doesn't support negative indices") else first(skip($n; f)) end;
def in(xs): . as $x | xs | has($x);
def inside(xs): . as $x | xs | contains($x);
def combinations:
  if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $rest | [$x] + $rest end;
def combinations(n): . as $dot | [range(n) | $dot] | combinations;
def transpose: [range(0; map(length) | max // 0) as $i | [.[][$i]]];
def ascii: [.] | implode;
def capture($re; $flags): match($re; $flags) | _capture;
def capture($re): match($re) | _capture;
def scan($re; $flags): match($re; "g" + $flags) | if .captures | length > 0 then [.captures[].string] else .string end;
def scan($re): scan($re; null);
def match($re; $flags): _match($re; $flags) | .[];
def match($re): _match($re) | .[];
def splits($re; flags): split($re; flags) | .[];
def splits($re): splits($re; null);
def sub($re; s): sub($re; s; "");
def gsub($re; s; $flags): sub($re; s; $flags + "g");
def gsub($re; s): sub($re; s; "g");
def truncate_stream(stream):
  . as $n | null | stream | . as $input | if (.[0] | length) > $n then setpath([0]; $input[0][$n:]) else empty end;
def _fromstream(events):
  {x: null, e: false} as $init
  | foreach events as $i ($init;
      if .e then $init end
      | if $i | length == 2
        then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1])
        else setpath(["e"]; $i[0] | length == 1) end;
      if .e then .x else empty end);
def pick(pathexps): . as $top | reduce path(pathexps) as $p (null; setpath($p; $top | getpath($p)));
def debug(msgs): (msgs | debug | empty), .;
def GROUP_BY(f): group_by(f);
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def JOIN($idx; idx_expr): [.[] | [., $idx[idx_expr]]];
def JOIN($idx; stream; idx_expr): stream | [., $idx[idx_expr]];
def JOIN($idx; stream; idx_expr; join_expr): stream | [., $idx[idx_expr]] | join_expr;
def _until(cond; update): def u: if cond then . else (update | u) end; u;
def _while(cond; update): def w: if cond then ., (update | w) else empty end; w;
"""

_forms: dict[str, Form] = {}
_definitions: dict[str, nodes.Definition] = {}


def find_builtin(name: str) -> Form | nodes.Definition | None:
    """What a name such as "map/1" stands for."""
    form = _forms.get(name)
    if form is not None:
        return form
    native = _native_table().get(name)
    if native is not None:
        form = _forms[name] = _native_form(native, int(name.rpartition("/")[2]))
        return form
    return _definition_table().get(name)


def all_names() -> list[str]:
    """Every built-in function as "name/arity"."""
    found = {*_forms, *_native_table(), *_definition_table()}
    return sorted(name for name in found if not name.startswith("_"))


def _definition_table() -> dict[str, nodes.Definition]:
    if not _definitions:
        from agentsandbox.languages.jq.parser import parse

        for definition in parse(_DEFINITIONS + ".").definitions:
            _definitions[f"{definition.name}/{len(definition.parameters)}"] = definition
    return _definitions


def _native_table() -> dict[str, Native]:
    from agentsandbox.languages.jq.natives import NATIVES

    return NATIVES


def _native_form(function: Native, arity: int) -> Form:
    """A function of the machine, the input and its arguments; the last argument is the outermost loop, as in jq."""

    def compile_call(compiler: Compiler, codes: list[Code]) -> Code:
        machine = compiler.machine
        ones = [code.one for code in codes if code.one is not None and code.total]
        if arity == 0:
            return Code(lambda value, environment: function(machine, value))
        if len(ones) == arity == 1:
            only = ones[0]
            return Code(lambda value, environment: function(machine, value, only(value, environment)))
        if len(ones) == arity:
            return Code(lambda value, environment: function(machine, value, *[one(value, environment) for one in ones]))

        def many(value: Value, environment: Environment) -> Iterator[Value]:
            def spread(at: int, chosen: tuple[Value, ...]) -> Iterator[Value]:
                if at < 0:
                    yield function(machine, value, *chosen)
                    return
                for result in codes[at].many(value, environment):
                    yield from spread(at - 1, (result, *chosen))

            return spread(arity - 1, ())

        return Code(many=many)

    return compile_call


def _form(name: str) -> Callable[[Form], Form]:
    def register(form: Form) -> Form:
        _forms[name] = form
        return form

    return register


# nothing, errors, choice


@_form("empty/0")
def _empty(compiler: Compiler, codes: list[Code]) -> Code:
    return Code(lambda value, environment: EMPTY, total=False, paths=lambda path, value, environment: ())


@_form("error/0")
def _error(compiler: Compiler, codes: list[Code]) -> Code:
    def fail(value: Value, environment: Environment) -> Value:
        raise JqError(value)

    return Code(fail)


@_form("error/1")
def _error_with(compiler: Compiler, codes: list[Code]) -> Code:
    message = codes[0]

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for result in message.many(value, environment):
            raise JqError(result)
        yield from ()

    one = message.one
    if one is None or not message.total:
        return Code(many=many)

    def fail(value: Value, environment: Environment) -> Value:
        raise JqError(one(value, environment))

    return Code(fail)


@_form("select/1")
def _select(compiler: Compiler, codes: list[Code]) -> Code:
    condition = codes[0]

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for answer in condition.many(value, environment):
            if answer is not None and answer is not False:
                yield path, value

    decide = condition.one
    if decide is not None:

        def one(value: Value, environment: Environment) -> Value:
            answer = decide(value, environment)
            return EMPTY if answer is None or answer is False or answer is EMPTY else value

        return Code(one, total=False, paths=paths)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for answer in condition.many(value, environment):
            if answer is not None and answer is not False:
                yield value

    return Code(many=many, paths=paths)


@_form("map/1")
def _map(compiler: Compiler, codes: list[Code]) -> Code:
    body, machine = codes[0], compiler.machine
    each = body.one
    if each is None:
        return collected(machine, piped(Code(many=lambda value, environment: members(value)), body, machine.budget))

    def one(value: Value, environment: Environment) -> Value:
        items = members(value)
        made: list[Value] = []
        machine.budget.step(len(value))
        for part in _pieces(items, machine.budget):
            for item in part:
                result = each(item, environment)
                if result is not EMPTY:
                    made.append(result)
        machine.hold(len(made))
        return made

    return Code(one)


def _pieces(items: Iterable[Value], budget: Budget) -> Iterator[list[Value]]:
    """The items in lists, the event loop running between them."""
    iterator = iter(items)
    while part := list(islice(iterator, _PIECE)):
        yield part
        budget.breathe()


@_form("map_values/1")
def _map_values(compiler: Compiler, codes: list[Code]) -> Code:
    body, budget = codes[0], compiler.budget

    def one(value: Value, environment: Environment) -> Value:
        items = members(value)
        budget.step(len(value))
        if isinstance(value, dict):
            changed = {}
            for name, item in value.items():
                for result in body.many(item, environment):
                    changed[name] = result
                    break
            return changed
        made: list[Value] = []
        for part in _pieces(items, budget):
            for item in part:
                for result in body.many(item, environment):
                    made.append(result)
                    break
        return made

    return Code(one)


# paths


def _path_list(compiler: Compiler, body: Code, value: Value, environment: Environment) -> Iterator[list[Value]]:
    """The paths of all outputs, as arrays."""
    hold = compiler.machine.hold
    for path, found in body.paths((), value, environment):
        if path is None:
            raise invalid_path(found)
        hold((len(path) >> 1) + 5)
        yield list(path)


@_form("path/1")
def _path(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]
    return Code(many=lambda value, environment: _path_list(compiler, body, value, environment))


@_form("del/1")
def _del(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]
    return Code(lambda value, environment: delete_paths(value, list(_path_list(compiler, body, value, environment)), compiler.budget))


@_form("getpath/1")
def _getpath(compiler: Compiler, codes: list[Code]) -> Code:
    where = codes[0]

    def look(value: Value, path: Value) -> Value:
        if not isinstance(path, list):
            raise JqError("Path must be specified as an array")
        return get_path(value, path)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for more in where.many(value, environment):
            if path is None:
                raise invalid_path(value)
            found = look(value, more)
            yield (*path, *more), found

    one = where.one
    if one is not None and where.total:
        return Code(lambda value, environment: look(value, one(value, environment)), paths=paths)
    return Code(many=lambda value, environment: (look(value, path) for path in where.many(value, environment)), paths=paths)


# repetition


def _deeper(compiler: Compiler, first: Any, follow: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """`first`, and depth first all that follows from each, without recursion."""
    budget, machine = compiler.budget, compiler.machine
    yield first
    pending = [iter(follow(first))]
    parents = [first]
    token = object()
    machine.suspended[token] = (parents,)
    try:
        while pending:
            for item in pending[-1]:
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                yield item
                below = follow(item)
                if below or type(below) is not tuple:
                    pending.append(iter(below))
                    parents.append(item)
                    if not len(pending) & 1023:
                        budget.charge(len(pending) * 64)
                    break
            else:
                pending.pop()
                parents.pop()
    finally:
        del machine.suspended[token]


def _recursion(compiler: Compiler, body: Code) -> Code:
    budget = compiler.budget

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        return _deeper(compiler, (path, value), lambda pair: body.paths(pair[0], pair[1], environment))

    one = body.one
    if one is not None:

        def chain(value: Value, environment: Environment) -> Iterator[Value]:
            while value is not EMPTY:
                budget.step()
                yield value
                value = one(value, environment)

        return Code(many=chain, paths=paths)
    return Code(many=lambda value, environment: _deeper(compiler, value, lambda item: body.many(item, environment)), paths=paths)


@_form("repeat/1")
def _repeat(compiler: Compiler, codes: list[Code]) -> Code:
    body, budget = codes[0], compiler.budget

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        while True:
            budget.step()
            yield from body.many(value, environment)

    return Code(many=many)


@_form("recurse/1")
def _recurse(compiler: Compiler, codes: list[Code]) -> Code:
    return _recursion(compiler, codes[0])


@_form("recurse/2")
def _recurse_while(compiler: Compiler, codes: list[Code]) -> Code:
    kept = _select(compiler, [codes[1]])

    return _recursion(compiler, piped(codes[0], kept, compiler.budget))


@_form("recurse/0")
def _recurse_all(compiler: Compiler, codes: list[Code]) -> Code:
    def inner(value: Value) -> Iterable[Value]:
        if type(value) is list:
            return value
        return value.values() if type(value) is dict else ()

    hold = compiler.machine.hold

    def inner_paths(pair: tuple[Path, Value]) -> Iterable[tuple[Path, Value]]:
        path, value = pair
        if path is None:
            raise JqError(f"Invalid path expression near attempt to iterate through {value}")
        hold((len(path) >> 1) + 8)
        if type(value) is list:
            return (((*path, at), item) for at, item in enumerate(value))
        return (((*path, name), item) for name, item in value.items()) if type(value) is dict else ()

    return Code(
        many=lambda value, environment: _deeper(compiler, value, inner),
        paths=lambda path, value, environment: _deeper(compiler, (path, value), inner_paths),
    )


@_form("until/2")
def _until(compiler: Compiler, codes: list[Code]) -> Code:
    stop, update = codes[0].one, codes[1].one
    if stop is None or update is None:
        return _defined(compiler, "_until/2", codes)
    budget, roots = compiler.budget, compiler.machine.roots

    def one(value: Value, environment: Environment) -> Value:
        place = len(roots)
        roots.append(())
        try:
            return run(value, environment, place)
        finally:
            del roots[place:]

    def run(value: Value, environment: Environment, place: int) -> Value:
        while True:
            roots[place] = (value, environment)
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            answer = stop(value, environment)
            if answer is EMPTY:
                return EMPTY
            if answer is not None and answer is not False:
                return value
            value = update(value, environment)
            if value is EMPTY:
                return EMPTY

    return Code(one, total=codes[0].total and codes[1].total)


@_form("while/2")
def _while(compiler: Compiler, codes: list[Code]) -> Code:
    go_on, update = codes[0].one, codes[1].one
    if go_on is None or update is None:
        return _defined(compiler, "_while/2", codes)
    budget = compiler.budget

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        while value is not EMPTY:
            budget.step()
            answer = go_on(value, environment)
            if answer is None or answer is False or answer is EMPTY:
                return
            yield value
            value = update(value, environment)

    return Code(many=many)


def _defined(compiler: Compiler, name: str, codes: list[Code]) -> Code:
    """A call of a definition in jq with arguments that are compiled already."""
    from agentsandbox.languages.jq.scopes import Scope

    definition = _definition_table()[name]
    scope = Scope()
    for parameter in definition.parameters:
        scope = scope.closure(parameter.name)
    body = compiler.compile(definition.body, scope)

    def enter(environment: Environment) -> Environment:
        return tuple((code, environment) for code in codes)

    return Code(
        many=lambda value, environment: body.many(value, enter(environment)),
        paths=lambda path, value, environment: body.paths(path, value, enter(environment)),
    )


def _count(value: Value, message: str) -> float:
    if value is None or value is False or value is True or (is_number(value) and value < 0):
        raise JqError(message)  # they all come before 0
    if not is_number(value):
        return float("inf")
    return to_float(value)


def _limited(items: Iterator[Any], count: float) -> Iterator[Any]:
    if count <= 0:
        return
    for taken, item in enumerate(items, 1):
        yield item
        if taken >= count:
            return


@_form("limit/2")
def _limit(compiler: Compiler, codes: list[Code]) -> Code:
    count, body = codes
    message = "limit doesn't support negative count"

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for most in count.many(value, environment):
            if _count(most, message) > 0:
                yield from _limited(iter(body.many(value, environment)), _count(most, message))

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for most in count.many(value, environment):
            if _count(most, message) > 0:
                yield from _limited(iter(body.paths(path, value, environment)), _count(most, message))

    return Code(many=many, paths=paths)


@_form("skip/2")
def _skip(compiler: Compiler, codes: list[Code]) -> Code:
    count, body = codes
    message = "skip doesn't support negative count"

    def skipped(items: Iterable[Any], least: float) -> Iterator[Any]:
        for passed, item in enumerate(items):
            compiler.budget.step()
            if passed >= least:
                yield item

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for least in count.many(value, environment):
            passed = _count(least, message)
            yield from skipped(body.many(value, environment), passed)

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        for least in count.many(value, environment):
            passed = _count(least, message)
            yield from skipped(body.paths(path, value, environment), passed)

    return Code(many=many, paths=paths)


@_form("first/1")
def _first(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        return _limited(iter(body.paths(path, value, environment)), 1)

    def one(value: Value, environment: Environment) -> Value:
        for result in body.many(value, environment):
            return result
        return EMPTY

    return Code(body.one or one, total=body.one is not None and body.total, paths=paths)


@_form("last/1")
def _last(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def paths(path: Path, value: Value, environment: Environment) -> Iterator[tuple[Path, Value]]:
        found: tuple[Path, Value] | None = None
        for found in body.paths(path, value, environment):  # noqa: B007  # the last one is wanted
            compiler.budget.step()
        if found is not None:
            yield found

    def one(value: Value, environment: Environment) -> Value:
        found: Value = EMPTY
        for found in body.many(value, environment):  # noqa: B007  # the last one is wanted
            compiler.budget.step()
        return found

    return Code(one, total=False, paths=paths)


@_form("isempty/1")
def _isempty(compiler: Compiler, codes: list[Code]) -> Code:
    body = codes[0]

    def one(value: Value, environment: Environment) -> Value:
        return not any(True for _ in body.many(value, environment))

    return Code(one)


def _range(compiler: Compiler, start: Code, end: Code) -> Code:
    budget = compiler.budget

    def count(low: Value, high: Value) -> Iterable[Value]:
        if type(low) is int and type(high) is int and -EXACT <= low <= EXACT and -EXACT <= high <= EXACT:
            return range(low, high)
        if not (is_number(low) and is_number(high)):
            raise JqError("Range bounds must be numeric")
        return steps(to_float(low), to_float(high))

    def steps(here: float, high: float) -> Iterator[Value]:
        while here < high:
            budget.step()
            yield number(here)
            here += 1

    first, last = start.one, end.one
    if first is not None and last is not None and start.total and end.total:
        return Code(many=lambda value, environment: count(first(value, environment), last(value, environment)))

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for low in start.many(value, environment):
            for high in end.many(value, environment):
                yield from count(low, high)

    return Code(many=many)


@_form("range/1")
def _range_to(compiler: Compiler, codes: list[Code]) -> Code:
    return _range(compiler, Code(lambda value, environment: 0), codes[0])


@_form("range/2")
def _range_between(compiler: Compiler, codes: list[Code]) -> Code:
    return _range(compiler, codes[0], codes[1])


@_form("range/3")
def _range_by(compiler: Compiler, codes: list[Code]) -> Code:
    start, end, by = codes
    budget = compiler.budget

    def run(here: Value, last: Value, step: Value) -> Iterator[Value]:
        from agentsandbox.languages.jq.values import compare

        direction = compare(step, 0)
        while direction and compare(here, last) * direction < 0:
            budget.step()
            yield here
            here = add(here, step, budget)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for low in start.many(value, environment):
            for high in end.many(value, environment):
                for step in by.many(value, environment):
                    yield from run(low, high, step)

    return Code(many=many)


# folds


def _quantifier(compiler: Compiler, items: Code | None, condition: Code | None, wanted: bool) -> Code:
    def answers(value: Value, environment: Environment) -> Iterator[Value]:
        for item in members(value) if items is None else items.many(value, environment):
            compiler.budget.step()
            if condition is None:
                yield item
            else:
                yield from condition.many(item, environment)

    def one(value: Value, environment: Environment) -> Value:
        for answer in answers(value, environment):
            if (answer is not None and answer is not False) is wanted:
                return wanted
        return not wanted

    return Code(one)


for _name, _wanted in (("any", True), ("all", False)):
    _forms[f"{_name}/0"] = lambda compiler, codes, wanted=_wanted: _quantifier(compiler, None, None, wanted)  # type: ignore[misc]
    _forms[f"{_name}/1"] = lambda compiler, codes, wanted=_wanted: _quantifier(compiler, None, codes[0], wanted)  # type: ignore[misc]
    _forms[f"{_name}/2"] = lambda compiler, codes, wanted=_wanted: _quantifier(compiler, codes[0], codes[1], wanted)  # type: ignore[misc]


@_form("add/1")
def _add_all(compiler: Compiler, codes: list[Code]) -> Code:
    from agentsandbox.languages.jq.natives import total

    body = collected(compiler.machine, codes[0]).one
    assert body is not None
    return Code(lambda value, environment: total(compiler.machine, body(value, environment)))


def _keys_of(compiler: Compiler, body: Code) -> Callable[[Value, Environment], tuple[Value, list[Value]]]:
    """The input and, for each member, the key that the expression gives it."""
    from agentsandbox.languages.jq.values import describe

    single = body.one if body.total else None

    def keys(value: Value, environment: Environment) -> tuple[Value, list[Value]]:
        items = members(value)
        budget = compiler.budget
        found: list[Value] = []
        for item in items:
            budget.left -= 1
            if budget.left < 0:
                budget.tick()
            found.append(single(item, environment) if single is not None else list(body.many(item, environment)))
        if not isinstance(value, list):
            listed = found if single is None else [[key] for key in found]
            raise JqError(f"{describe(value)} and {describe(listed)} cannot be sorted, as they are not both arrays")
        return value, found

    return keys


def _not_sortable(value: Value) -> str:
    from agentsandbox.languages.jq.values import describe

    return f"{describe(value)} cannot be sorted, as it is not an array"


@_form("sort_by/1")
def _sort_by(compiler: Compiler, codes: list[Code]) -> Code:
    keys = _keys_of(compiler, codes[0])
    return Code(lambda value, environment: sorted_values(*keys(value, environment), compiler.budget))


def _groups(items: list[Value], keys: list[Value], budget: Budget) -> list[list[Value]]:
    """The items with equal keys together, in the order of the keys."""
    from agentsandbox.languages.jq.values import equals

    kinds = set(map(type, keys))
    if kinds in ({str}, {int}):
        found: dict[Value, list[Value]] = {}
        for item, key in zip(items, keys, strict=True):
            found.setdefault(key, []).append(item)
        budget.step(len(items) // 8)
        return [found[key] for key in sorted(found)]
    groups: list[list[Value]] = []
    last: Value = EMPTY
    for item, key in sorted_values(list(zip(items, keys, strict=True)), keys, budget):
        budget.step()
        if not groups or not equals(key, last):
            groups.append([])
        groups[-1].append(item)
        last = key
    return groups


@_form("group_by/1")
def _group_by(compiler: Compiler, codes: list[Code]) -> Code:
    keys = _keys_of(compiler, codes[0])
    return Code(lambda value, environment: _groups(*keys(value, environment), compiler.budget))


@_form("unique_by/1")
def _unique_by(compiler: Compiler, codes: list[Code]) -> Code:
    keys = _keys_of(compiler, codes[0])
    return Code(lambda value, environment: [group[0] for group in _groups(*keys(value, environment), compiler.budget)])


@_form("unique/0")
def _unique(compiler: Compiler, codes: list[Code]) -> Code:
    def one(value: Value, environment: Environment) -> Value:
        if not isinstance(value, list):
            raise JqError(_not_sortable(value))
        return [group[0] for group in _groups(value, value, compiler.budget)]

    return Code(one)


def _extreme(compiler: Compiler, body: Code, largest: bool) -> Code:
    from agentsandbox.languages.jq.values import compare, describe

    single = body.one if body.total else None

    def one(value: Value, environment: Environment) -> Value:
        keys = [single(item, environment) if single else list(body.many(item, environment)) for item in members(value)]
        if not isinstance(value, list):
            raise JqError(f"{describe(value)} and {describe(keys)} cannot be iterated over")
        best: Value = None
        best_key: Value = EMPTY
        for item, key in zip(value, keys, strict=True):
            compiler.budget.step()
            order = 1 if best_key is EMPTY else compare(key, best_key)
            if best_key is EMPTY or (order >= 0 if largest else order < 0):
                best, best_key = item, key
        return best

    return Code(one)


@_form("min_by/1")
def _min_by(compiler: Compiler, codes: list[Code]) -> Code:
    return _extreme(compiler, codes[0], largest=False)


@_form("max_by/1")
def _max_by(compiler: Compiler, codes: list[Code]) -> Code:
    return _extreme(compiler, codes[0], largest=True)


@_form("walk/1")
def _walk(compiler: Compiler, codes: list[Code]) -> Code:
    body, budget = codes[0], compiler.budget

    def walked(value: Value, environment: Environment) -> Iterable[Value]:
        budget.step()
        if type(value) is list:
            value = [result for item in value for result in walked(item, environment)]
        elif type(value) is dict:
            made = {}
            for name, item in value.items():
                for result in walked(item, environment):
                    made[name] = result
                    break
            value = made
        return body.many(value, environment)

    return Code(many=walked)


# input and diagnostics


@_form("inputs/0")
def _inputs(compiler: Compiler, codes: list[Code]) -> Code:
    machine = compiler.machine

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for item in machine.inputs:
            machine.budget.step()
            yield item

    return Code(many=many)


def _passing(action: Callable[[Compiler, Value], None]) -> Form:
    """A form whose output is its input, in paths as well."""

    def form(compiler: Compiler, codes: list[Code]) -> Code:
        def one(value: Value, environment: Environment) -> Value:
            action(compiler, value)
            return value

        def run(path: Path, value: Value, environment: Environment) -> Iterable[tuple[Path, Value]]:
            action(compiler, value)
            return ((path, value),)

        return Code(one, paths=run)

    return form


def _debug(compiler: Compiler, value: Value) -> None:
    from agentsandbox.languages.jq.json_text import dump

    compiler.machine.warn(f'["DEBUG:",{dump(value)}]\n')


def _stderr(compiler: Compiler, value: Value) -> None:
    from agentsandbox.languages.jq.json_text import dump

    compiler.machine.warn(value if isinstance(value, str) else dump(value))


_forms["debug/0"] = _passing(_debug)
_forms["stderr/0"] = _passing(_stderr)


@_form("tostream/0")
def _tostream(compiler: Compiler, codes: list[Code]) -> Code:
    from agentsandbox.languages.jq.streaming import events

    return Code(many=lambda value, environment: events(value, compiler.budget, compiler.machine.hold))


@_form("paths/0")
def _paths(compiler: Compiler, codes: list[Code]) -> Code:
    from agentsandbox.languages.jq.streaming import paths_of

    return Code(many=lambda value, environment: paths_of(value, compiler.budget, compiler.machine.hold))


@_form("fromstream/1")
def _fromstream(compiler: Compiler, codes: list[Code]) -> Code:
    from agentsandbox.languages.jq.streaming import rebuilt

    body = codes[0]

    def others(stream: Iterable[Value]) -> Iterable[Value]:
        return _defined(compiler, "_fromstream/1", [Code(many=lambda value, environment: stream)]).many(None, ())

    return Code(many=lambda value, environment: rebuilt(body.many(value, environment), compiler.budget, others))


def _index_by(compiler: Compiler, rows: Callable[[Value, Environment], Iterable[Value]], key: Code) -> Code:
    from agentsandbox.languages.jq.json_text import dump

    machine = compiler.machine

    def one(value: Value, environment: Environment) -> Value:
        made: dict[str, Value] = {}
        machine.roots.append((made,))
        try:
            for row in rows(value, environment):
                machine.budget.step()
                machine.hold(8)
                for name in key.many(row, environment):
                    made[name if type(name) is str else dump(name)] = row
        finally:
            machine.roots.pop()
        return made

    return Code(one)


@_form("INDEX/2")
def _index_stream(compiler: Compiler, codes: list[Code]) -> Code:
    return _index_by(compiler, codes[0].many, codes[1])


@_form("INDEX/1")
def _index(compiler: Compiler, codes: list[Code]) -> Code:
    return _index_by(compiler, lambda value, environment: members(value), codes[0])


@_form("_capture/0")
def _captures(compiler: Compiler, codes: list[Code]) -> Code:
    def one(value: Value, environment: Environment) -> Value:
        return {found["name"]: found["string"] for found in value["captures"] if found["name"] is not None}

    return Code(one)


@_form("sub/3")
def _sub(compiler: Compiler, codes: list[Code]) -> Code:
    from agentsandbox.languages.jq.regexes import find_all

    pattern, replacement, flags = codes
    machine, budget = compiler.machine, compiler.budget

    def substitute(value: Value, environment: Environment, wanted: Value, modifiers: Value) -> Iterator[Value]:
        results: list[Value] = []
        previous = 0
        for found in find_all(machine, value, wanted, modifiers):
            budget.step()
            gap = value[previous : found["offset"]]
            captures = {item["name"]: item["string"] for item in found["captures"] if item["name"] is not None}
            for at, text in enumerate(replacement.many(captures, environment)):
                if at == len(results):
                    results.append([])
                if not isinstance(text, str):
                    add(gap, text, budget)
                results[at].append(gap)
                results[at].append(text)
            previous = found["offset"] + found["length"]
        if not results:
            yield value
        for pieces in results:
            pieces.append(value[previous:])
            machine.charge_text(sum(len(piece) for piece in pieces if piece is not None))
            yield "".join(piece for piece in pieces if piece is not None)

    def many(value: Value, environment: Environment) -> Iterator[Value]:
        for wanted in pattern.many(value, environment):
            for modifiers in flags.many(value, environment):
                yield from substitute(value, environment, wanted, modifiers)

    if not (pattern.one and flags.one and replacement.one and pattern.total and flags.total and replacement.total):
        return Code(many=many)

    def one(value: Value, environment: Environment) -> Value:
        for result in many(value, environment):
            return result
        return EMPTY

    return Code(one)


@_form("builtins/0")
def _builtins(compiler: Compiler, codes: list[Code]) -> Code:
    return Code(lambda value, environment: list(all_names()))
