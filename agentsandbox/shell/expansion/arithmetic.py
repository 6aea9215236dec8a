"""Arithmetic: trees compiled to closures over 64-bit integers.

The text of an expression takes two steps. `syntax.arithmetic` parses it to a tree, and here each
node of the tree becomes a closure `evaluate(host, operands)`, where `operands` are the values of
the expansions in the text (see `operands`).

* Numbers are Python integers, wrapped to 64 bits (two's complement) after each operation that may
  leave the range.
* A variable that holds an integer costs one look-up. The results of arithmetic are stored as
  integers, so counters never become text.
* A variable that holds any other text is an expression itself, evaluated recursively, as in bash:
  with a=b+1 and b=2, $((a)) is 3. The depth is bounded (`MAX_RECURSION`), and every 32 levels go on
  another stack.
* Trees of texts are cached. The text of an expression that fails is part of its message, so
  closures that can fail know it.
* Subscripts stay texts: an associative array takes them as keys, an indexed one evaluates them.
"""

from __future__ import annotations

import functools

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import ASSOCIATIVE, AssociativeArray, IndexedArray
from agentsandbox.shell.syntax.arithmetic import (
    ArithmeticSyntaxError,
    parse_arithmetic,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from agentsandbox.shell.expansion.host import ExpansionHost
    from agentsandbox.shell.syntax.arithmetic import Tree

    class Evaluator(Protocol):
        """Evaluates a tree with the values of the expansions in its text."""

        def __call__(self, host: ExpansionHost, operands: Sequence[int] = ..., /) -> int: ...


MAX_RECURSION = 1024
"""Variables whose values are expressions that name further variables: as deep as bash goes."""

_ON_A_STACK = 32
"""How many of them nest on one stack."""

_seen: dict[str, int] = {}
"""Small numbers by their texts, which scripts compute with again and again."""
_LOW, _HIGH = -0x8000000000000000, 0x7FFFFFFFFFFFFFFF
_SPAN = 0x10000000000000000
INTEGER = lazily(r"[ \t\n]*+-?(?:[1-9][0-9]{0,17}|0)[ \t\n]*+\Z")


def wrap(number: int) -> int:
    """Wrap a number to 64 bits, two's complement."""
    if _LOW <= number <= _HIGH:
        return number
    return ((number - _LOW) & (_SPAN - 1)) + _LOW


LONGEST = 100_000
"""Characters of an expression."""
SHORT = 512
"""Characters of an expression that is worth remembering."""


def evaluate_text(host: ExpansionHost, text: str) -> int:
    """The value of an expression given as text, its expansions already made."""
    if len(text) <= SHORT and INTEGER.match(text):
        return int(text)
    budget = host.budget
    budget.left -= 1 + (len(text) >> 3)
    if budget.left < 0:
        budget.tick()
    host.control.expressions += 1
    try:
        if host.control.expressions > MAX_RECURSION:
            raise ExpansionError(
                f'{text}: expression recursion level exceeded (error token is "{text}")'
            )
        if host.control.expressions % _ON_A_STACK == 0:
            return budget.on_fresh_stack(lambda: compile_text(text)(host, ()))
        return compile_text(text)(host, ())
    finally:
        host.control.expressions -= 1


def compile_text(text: str) -> Evaluator:
    """Parse and compile; errors are worded with the whole text, as bash does."""
    if len(text) > LONGEST:
        raise LimitReached("value_bytes", "the expression is too long")
    return (_cached_text if len(text) <= SHORT else _compile_text)(text)


def _compile_text(text: str) -> Evaluator:
    try:
        return compile_tree(parse_arithmetic(text), text)
    except ArithmeticSyntaxError as error:
        message = f'{error.text.lstrip(_BLANKS)}: {error.message} (error token is "{error.token}")'
        before = None if error.before is None else compile_tree(error.before, text)

    def fail(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
        if before is not None:
            before(host, operands)
        raise ExpansionError(message)

    return fail


_BLANKS = " \t"
_cached_text = functools.lru_cache(maxsize=2048)(_compile_text)


def compile_tree(tree: Tree, text: str) -> Evaluator:
    """Return the closure of a tree."""
    return _COMPILERS[tree[0]](tree, text)


def _number(tree: Tree, text: str) -> Evaluator:
    value: int = tree[1]
    return lambda host, operands=(): value


def _operand(tree: Tree, text: str) -> Evaluator:
    index: int = tree[1]
    return lambda host, operands=(): operands[index]


def read_variable(host: ExpansionHost, name: str) -> int:
    """Return a variable as a number: an unset one is 0, a text is an expression."""
    value = host.values.get(name)
    if type(value) is int:
        return value
    if type(value) is not str:
        array = value
        value = host.variables.text_of(name, value)
        if value is None:
            if host.options.nounset and not isinstance(array, AssociativeArray):
                raise ExpansionError(f"{name}: unbound variable", status=127)
            return 0
    text: str = value
    number = _seen.get(text)
    if number is not None:
        return number
    if text.isdigit() and text[0] != "0" and len(text) < 19 and text.isascii():
        number = int(text)
        if len(text) < 6 and len(_seen) < 10000:
            _seen[text] = number
        return number
    if not text:
        return 0
    return evaluate_text(host, text)


def _variable(tree: Tree, text: str) -> Evaluator:
    _, name, subscript = tree
    if subscript is not None:
        if type(subscript) is tuple:
            key = _key(subscript)
            return lambda host, operands=(): read_element(host, name, key(operands), expanded=True)
        return lambda host, operands=(): read_element(host, name, subscript)

    def read(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
        value = host.values.get(name)
        if type(value) is int:
            return value
        number = _seen.get(value) if type(value) is str else None
        return read_variable(host, name) if number is None else number

    return read


def _key(pieces: tuple[Any, ...]) -> Callable[[Sequence[int | str]], str]:
    """A subscript with expansions, whose texts are among the operands."""
    texts: Sequence[str] = pieces[::2]
    indices: Sequence[int] = pieces[1::2]

    def key(operands: Sequence[int | str]) -> str:
        return texts[0] + "".join(
            [f"{operands[index]}{text}" for index, text in zip(indices, texts[1:], strict=True)]
        )

    return key


def read_element(host: ExpansionHost, name: str, subscript: str, *, expanded: bool = False) -> int:
    """An array element as a number."""
    value = host.variables.lookup(name)
    if not expanded:
        subscript = host.key(name, subscript)
    if isinstance(value, AssociativeArray):
        element = value.items.get(subscript)
    elif value is None and host.attributes.get(name, 0) & ASSOCIATIVE:
        element = None
    elif subscript in ("", "@", "*"):
        host.fault(f"{name}[{subscript}]: bad array subscript")
        return 0
    else:
        index = host.variables.evaluate(subscript)
        if isinstance(value, IndexedArray) and -index <= value.end():
            element = value.get(index)
        else:
            if index < 0:
                host.fault(f"{name}: bad array subscript")
            element = host.variables.get(name) if index == 0 else None
    if element is None:
        if host.options.nounset and value is None:
            raise ExpansionError(f"{name}: unbound variable", status=127)
        return 0
    return evaluate_text(host, element)


def write_variable(host: ExpansionHost, name: str, value: int) -> None:
    """Assign a number to a variable."""
    if name in host.attributes:
        host.variables.assign(name, value)
    else:
        host.values[name] = value


def write_element(
    host: ExpansionHost,
    name: str,
    subscript: str,
    value: int,
    *,
    expanded: bool = False,
    shown: str | None = None,
) -> None:
    """Assign a number to an array element; `shown` is the subscript that messages show."""
    key = subscript if expanded else host.key(name, subscript)
    array = host.variables.lookup(name)
    by_number = (
        not isinstance(array, AssociativeArray) and not host.attributes.get(name, 0) & ASSOCIATIVE
    )
    if not key:
        host.complain(f"`{name}[{key}]': not a valid identifier")
        return
    if by_number:
        if key in ("@", "*"):
            host.complain(f"{name}[{key}]: bad array subscript")
            return
        index = host.variables.evaluate(key)
        if index < -(
            array.end() if isinstance(array, IndexedArray) else 1 if array is not None else 0
        ):
            host.fault(f"{name}[{subscript if shown is None else shown}]: bad array subscript")
            return
        key = str(index)
    host.variables.assign_element(name, key, str(value))


def _writer(target: Tree) -> Callable[[ExpansionHost, Sequence[int], int], None]:
    _, name, subscript = target
    if subscript is None:
        return lambda host, operands, value: write_variable(host, name, value)
    if type(subscript) is tuple:
        key = _key(subscript)
        return lambda host, operands, value: write_element(
            host, name, key(operands), value, expanded=True
        )
    return lambda host, operands, value: write_element(host, name, subscript, value)


def _step(tree: Tree, text: str) -> Evaluator:
    _, operator, target = tree
    change = 1 if "+" in operator else -1
    after = operator.startswith("x")
    name: str = target[1]
    if target[2] is None:
        read = _variable(target, text)

        def step_variable(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
            value = host.values.get(name)
            if type(value) is int and name not in host.attributes:
                new = value + change
                if not _LOW <= new <= _HIGH:
                    new = wrap(new)
                host.values[name] = new
                return value if after else new
            old = read(host, operands)
            new = wrap(old + change)
            write_variable(host, name, new)
            return old if after else new

        return step_variable

    place = _place(target)

    def step(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
        key, shown = place(host, operands)
        old = read_element(host, name, key, expanded=True)
        new = wrap(old + change)
        write_element(host, name, key, new, expanded=True, shown=shown)
        return old if after else new

    return step


def _assign(tree: Tree, text: str) -> Evaluator:
    operator, target, source = tree[1:4]
    value_of = compile_tree(source, text)
    name: str = target[1]
    write = _writer(target)
    if not operator:
        if target[2] is None:

            def assign_variable(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
                value = value_of(host, operands)
                if name in host.attributes:
                    host.variables.assign(name, value)
                else:
                    host.values[name] = value
                return value

            return assign_variable

        def assign(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
            value = value_of(host, operands)
            write(host, operands, value)
            return value

        return assign
    if target[2] is not None:
        return _assign_element(tree, text)
    combined = _binary(("binary", *tree[1:]), text)

    def assign_combined(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
        value = combined(host, operands)
        write(host, operands, value)
        return value

    return assign_combined


def _assign_element(tree: Tree, text: str) -> Evaluator:
    """Compile `a[…] += value`: the subscript is evaluated once, before the value."""
    target = tree[2]
    name: str = target[1]
    place = _place(target)
    combined = _binary(("binary", tree[1], ("operand", -1), *tree[3:]), text)

    def assign(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
        key, shown = place(host, operands)
        old = read_element(host, name, key, expanded=True)
        value = combined(host, (*operands, old))
        write_element(host, name, key, value, expanded=True, shown=shown)
        return value

    return assign


def _place(target: Tree) -> Callable[[ExpansionHost, Sequence[int]], tuple[str, str]]:
    """Return what evaluates the subscript of an element: to a key, or a number as text.

    The second text is the subscript before that.
    """
    _, name, subscript = target
    key = _key(subscript) if type(subscript) is tuple else None

    def place(host: ExpansionHost, operands: Sequence[int]) -> tuple[str, str]:
        text = host.key(name, subscript) if key is None else key(operands)
        array = host.variables.lookup(name)
        if isinstance(array, AssociativeArray) or host.attributes.get(name, 0) & ASSOCIATIVE:
            return text, text
        if text in ("", "@", "*"):
            return text, text
        return str(host.variables.evaluate(text)), text

    return place


def _unary(tree: Tree, text: str) -> Evaluator:
    _, operator, inner_tree = tree
    inner = compile_tree(inner_tree, text)
    if operator == "-":
        return lambda host, operands=(): wrap(-inner(host, operands))
    if operator == "!":
        return lambda host, operands=(): 0 if inner(host, operands) else 1
    if operator == "~":
        return lambda host, operands=(): ~inner(host, operands)
    return inner


def _divide(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return wrap(-quotient if (left < 0) != (right < 0) else quotient)


def _remainder(left: int, right: int) -> int:
    remainder = abs(left) % abs(right)
    return -remainder if left < 0 else remainder


def _power(base: int, exponent: int) -> int:
    return wrap(pow(base, exponent, _SPAN))


_PURE: dict[str, Callable[[int, int], int]] = {
    "-": lambda left, right: wrap(left - right),
    "*": lambda left, right: wrap(left * right),
    "<<": lambda left, right: wrap(left << (right & 63)),
    ">>": lambda left, right: left >> (right & 63),
    "&": lambda left, right: left & right,
    "^": lambda left, right: left ^ right,
    "|": lambda left, right: left | right,
    "<": lambda left, right: 1 if left < right else 0,
    "<=": lambda left, right: 1 if left <= right else 0,
    ">=": lambda left, right: 1 if left >= right else 0,
    ">": lambda left, right: 1 if left > right else 0,
    "==": lambda left, right: 1 if left == right else 0,
    "!=": lambda left, right: 1 if left != right else 0,
}


def _binary(tree: Tree, text: str) -> Evaluator:
    operator, left_tree, right_tree = tree[1:4]
    left = compile_tree(left_tree, text)
    if right_tree[0] == "number" and operator in "+-" and left_tree[0] == "variable":
        if left_tree[2] is None:
            return _counted(left_tree[1], right_tree[1] if operator == "+" else -right_tree[1])
    right = compile_tree(right_tree, text)
    if operator == "+":
        return _add(left, right)
    if operator in ("/", "%"):
        return _division(operator, left, right, _failure("division by 0", tree, text))
    if operator == "**":
        failure = _failure("exponent less than 0", tree, text)

        def power(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
            base, exponent = left(host, operands), right(host, operands)
            if exponent < 0:
                raise ExpansionError(failure)
            return _power(base, exponent)

        return power
    apply = _PURE[operator]
    return lambda host, operands=(): apply(left(host, operands), right(host, operands))


def _failure(message: str, tree: Tree, text: str) -> str:
    """Return the message of a failed operation, with the text from that place on."""
    return f'{text.lstrip(_BLANKS)}: {message} (error token is "{text[tree[4] :]}")'


def _division(operator: str, left: Evaluator, right: Evaluator, failure: str) -> Evaluator:
    apply = _divide if operator == "/" else _remainder

    def divide(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
        dividend, divisor = left(host, operands), right(host, operands)
        if divisor == 0:
            raise ExpansionError(failure)
        if dividend >= 0 and divisor > 0:
            return dividend // divisor if operator == "/" else dividend % divisor
        return apply(dividend, divisor)

    return divide


def _add(left: Evaluator, right: Evaluator) -> Evaluator:
    def add(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
        total = left(host, operands) + right(host, operands)
        return total if _LOW <= total <= _HIGH else wrap(total)

    return add


def _counted(name: str, change: int) -> Evaluator:
    """Compile i+1, what loops compute most."""

    def count(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
        value = host.values.get(name)
        if type(value) is not int:
            number = _seen.get(value) if type(value) is str else None
            value = read_variable(host, name) if number is None else number
        total = value + change
        return total if _LOW <= total <= _HIGH else wrap(total)

    return count


def _and(tree: Tree, text: str) -> Evaluator:
    left, right = compile_tree(tree[1], text), compile_tree(tree[2], text)
    return lambda host, operands=(): 1 if left(host, operands) and right(host, operands) else 0


def _or(tree: Tree, text: str) -> Evaluator:
    left, right = compile_tree(tree[1], text), compile_tree(tree[2], text)
    return lambda host, operands=(): 1 if left(host, operands) or right(host, operands) else 0


def _choose(tree: Tree, text: str) -> Evaluator:
    condition, yes, no = (compile_tree(branch, text) for branch in tree[1:])
    return lambda host, operands=(): (
        yes(host, operands) if condition(host, operands) else no(host, operands)
    )


def _comma(tree: Tree, text: str) -> Evaluator:
    left, right = compile_tree(tree[1], text), compile_tree(tree[2], text)

    def both(host: ExpansionHost, operands: Sequence[int] = ()) -> int:
        left(host, operands)
        return right(host, operands)

    return both


_COMPILERS: dict[str, Callable[[Tree, str], Evaluator]] = {
    "number": _number,
    "operand": _operand,
    "variable": _variable,
    "unary": _unary,
    "binary": _binary,
    "and": _and,
    "or": _or,
    "choose": _choose,
    "comma": _comma,
    "assign": _assign,
    "step": _step,
}
