"""Parameter expansion (POSIX 2.6.2 and bash): $name and every ${…}, compiled to closures.

A parameter is single (one text or unset) or a list ("$@", "${a[*]}", "${!prefix@}"); operators work
on either.
"""

from __future__ import annotations

import re

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.caching import cache_short
from agentsandbox.kernel.quoting import declare_quote_double, shell_quote_single
from agentsandbox.kernel.streams import bytewise, decode, encode
from agentsandbox.shell.expansion.errors import ExpansionError, unbound
from agentsandbox.shell.expansion.transformations import (
    OPERATORS,
    slice_list,
    slice_text,
    transform,
)
from agentsandbox.shell.expansion.variables import (
    ASSOCIATIVE,
    HIDDEN,
    AssociativeArray,
    IndexedArray,
    NameReference,
    is_name,
)
from agentsandbox.shell.syntax.braced import NAME
from agentsandbox.shell.syntax.nodes import CHOICES, TRANSFORMATIONS, Literal, Parameter, Word
from agentsandbox.shell.syntax.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.expansion.compiling import Words
    from agentsandbox.shell.expansion.host import ExpansionHost

    MaybeText = Callable[[ExpansionHost], str | None]
    Text = Callable[[ExpansionHost], str]
    Texts = Callable[[ExpansionHost], list[str]]

_SPECIAL_READERS: dict[str, MaybeText] = {
    "?": lambda host: str(host.status),
    "$": lambda host: str(host.shell_pid()),
    "#": lambda host: str(len(host.stack.positional)),
    "-": lambda host: host.option_letters(),
    "0": lambda host: host.invocation.name,
}


def _background(host: ExpansionHost) -> str | None:
    pid = host.background_pid()
    return None if pid is None else str(pid)


_SPECIAL_READERS["!"] = _background


_TURN = 4096
"""Elements of a list between two looks at the clock."""


class ParameterReader:
    """Closures that read a parameter.

    shown    its name for messages
    single   returns the text, None when unset
    many     returns the list; None for a parameter that is no list
    star     whether the list joins with the first character of IFS, as "$*" does
    keys     returns the subscripts of an array, for ${!a[@]}
    """

    __slots__ = ("keys", "many", "shown", "single", "star")

    def __init__(
        self, shown: str, single: MaybeText, many: Texts | None = None, star: bool = False
    ) -> None:
        self.shown = shown
        self.single = single
        self.many = many
        self.star = star
        self.keys: Texts | None = None


def join(host: ExpansionHost, items: list[str], star: bool) -> str:
    """Join a list to one text: "$*" with the first character of IFS, "$@" with a blank."""
    total = sum(map(len, items))
    if total > 65536:
        host.budget.charge(total)
    if star:
        return (host.variables.ifs[:1]).join(items)
    return " ".join(items)


def read_text(reader: ParameterReader) -> Text:
    """Return the parameter as one text, "" when unset."""
    single, many, star = reader.single, reader.many, reader.star
    if many is not None:
        return lambda host: join(host, many(host), star)
    return lambda host: single(host) or ""


def _positional(number: int) -> MaybeText:
    def read(host: ExpansionHost) -> str | None:
        positional = host.stack.positional
        return positional[number - 1] if number <= len(positional) else None

    return read


def _variable(name: str) -> MaybeText:
    def read(host: ExpansionHost) -> str | None:
        value = host.values.get(name)
        if type(value) is str:
            return value
        if type(value) is int:
            return str(value)
        return host.variables.text_of(name, value)

    return read


def _element(name: str, subscript: Word, words: Words) -> MaybeText:
    key_text, index_text = words.subscripts(subscript)
    constant = subscript.source if re.fullmatch(r"0|[1-9][0-9]{0,8}", subscript.source) else None
    number = int(constant) if constant is not None else None
    blank = not subscript.source.strip()

    def read(host: ExpansionHost) -> str | None:
        value = host.values.get(name)
        if isinstance(value, NameReference):
            target = host.variables.resolve(name)
            if not target or "[" in target:
                return None
            value = host.variables.lookup(target)
        if isinstance(value, IndexedArray):
            if number is not None:
                return value.items.get(number)
            if blank and not subscript.source:
                raise ExpansionError(f"${{{name}[]}}: bad substitution")
            text = index_text(host)
            index = (
                int(text)
                if text.isdigit() and len(text) < 10 and text.isascii() and text[0] != "0"
                else host.variables.evaluate(text)
            )
            if index < 0 and -index > value.end():
                host.fault(f"{name}: bad array subscript")
                return None
            return value.get(index)
        if isinstance(value, AssociativeArray):
            key = key_text(host)
            if not key:
                host.fault(f"{name}: bad array subscript")
            return value.items.get(key)
        scalar = host.variables.lookup(name)
        if isinstance(scalar, (IndexedArray, AssociativeArray)):
            return host.variables.element(name, key_text(host))
        if scalar is None and host.attributes.get(name, 0) & ASSOCIATIVE:
            key_text(host)
            return None
        index = number if number is not None else host.variables.evaluate(index_text(host))
        if index < 0:
            host.fault(f"{name}: bad array subscript")
        return str(scalar) if scalar is not None and index == 0 else None

    return read


def _is_all(subscript: Word | None) -> str:
    """Return "@" or "*" for a subscript that means all elements, "" for another."""
    if subscript is not None and len(subscript.parts) == 1:
        part = subscript.parts[0]
        if isinstance(part, Literal) and part.text in ("@", "*"):
            return part.text
    return ""


def reader_for(name: str, subscript: Word | None, words: Words) -> ParameterReader:
    """Return the reader of `name` or `name[subscript]`."""
    every = _is_all(subscript)
    if every:
        reader = ParameterReader(
            f"{name}[{every}]",
            lambda host: (
                join(host, host.variables.elements(name), every == "*")
                if host.variables.elements(name)
                else None
            ),
            lambda host: host.variables.elements(name),
            every == "*",
        )
        reader.keys = lambda host: host.variables.keys(name)
        return reader
    if subscript is not None:
        return ParameterReader(f"{name}[{subscript.source}]", _element(name, subscript, words))
    if name in ("@", "*"):
        star = name == "*"
        return ParameterReader(
            name,
            lambda host: join(host, host.stack.positional, star) if host.stack.positional else None,
            lambda host: host.stack.positional,
            star,
        )
    if name in _SPECIAL_READERS:
        return ParameterReader(name, _SPECIAL_READERS[name])
    if name.isdigit():
        number = int(name) if len(name) < 10 else 1 << 30
        return ParameterReader(name, _positional(number) if number else _SPECIAL_READERS["0"])
    return ParameterReader(name, _variable(name))


def compile_parameter(node: Parameter, words: Words) -> ParameterReader:
    """Compile the whole expansion to a reader, which raises under `set -u` where bash does."""
    operator = node.operator
    if operator == "bad":
        return _bad(node)
    if operator.startswith("names"):
        names: Texts = lambda host: host.variables.names_with_value(node.name)  # noqa: E731
        star = operator.endswith("*")
        return ParameterReader(node.name, lambda host: join(host, names(host), star), names, star)
    if node.prefix == "!":
        return _indirect(node, words)
    reader = reader_for(node.name, node.subscript, words)
    if node.prefix == "#":
        return _length(reader)
    if not operator:
        return _plain(reader, node.source)
    if operator in CHOICES:
        return reader  # the word compiler makes the choice: the operand may be several fields
    return _operated(node, reader, words)


def _bad(node: Parameter, status: int = 1) -> ParameterReader:
    given = node.operands[1:] if node.operator == "@" else node.operands
    message = given[0].source if given else f"{node.source}: bad substitution"

    def fail(host: ExpansionHost) -> str:
        raise ExpansionError(message, status=status)

    return ParameterReader("", fail)


def _plain(reader: ParameterReader, source: str) -> ParameterReader:
    if reader.many is not None:
        return reader
    single = reader.single
    shown = reader.shown if source[1:2] == "{" or is_name(reader.shown) else source or reader.shown

    def read(host: ExpansionHost) -> str | None:
        text = single(host)
        if text is None and host.options.nounset:
            raise unbound(shown)
        return text

    return ParameterReader(shown, read)


def _length(reader: ParameterReader) -> ParameterReader:
    many, single, shown = reader.many, reader.single, reader.shown
    if many is not None:
        name = reader.shown.partition("[")[0]

        def count(host: ExpansionHost) -> str:
            value = (
                host.variables.lookup(name)
                if host.options.nounset and name.isidentifier()
                else None
            )
            if (
                host.options.nounset
                and name.isidentifier()
                and not isinstance(value, (IndexedArray, AssociativeArray, NameReference))
            ):
                raise ExpansionError(f"{name}: unbound variable")
            return str(len(many(host)))

        return ParameterReader(shown, count)

    array = shown.partition("[")[0] if "[" in shown else ""

    def length(host: ExpansionHost) -> str:
        text = single(host)
        # bash wants an array there
        if array and host.options.nounset and isinstance(host.values.get(array), (str, int)):
            raise ExpansionError(f"{array}: unbound variable")
        if text is None:
            if host.options.nounset and not (
                array and isinstance(host.values.get(array), (IndexedArray, AssociativeArray))
            ):
                raise unbound(shown)
            return "0"
        return str(len(bytewise(text) if host.variables.bytewise else text))

    return ParameterReader(shown, length)


def _operated(node: Parameter, reader: ParameterReader, words: Words) -> ParameterReader:
    operator = node.operator
    if operator == ":":
        return _slice(node, reader, words)
    if operator == "@":
        letter = node.operands[0].source
        if letter not in TRANSFORMATIONS:
            return _no_transformation(node, reader)
        return _transformed(node, reader, letter)
    pattern = words.pattern(node.operands[0])
    replacement = words.replacement(node.operands[1]) if len(node.operands) > 1 else None
    apply = OPERATORS[operator]
    single, many, shown = reader.single, reader.many, reader.shown

    def operate(host: ExpansionHost) -> str | None:
        text = single(host)
        if text is None:
            if host.options.nounset:
                raise unbound(shown)
            return None
        return apply(
            host, text, pattern(host), replacement(host) if replacement is not None else ""
        )

    if many is None:
        return ParameterReader(shown, operate)

    def operate_all(host: ExpansionHost) -> list[str]:
        items = many(host)
        if not items:
            return []
        by, to = pattern(host), replacement(host) if replacement is not None else ""
        operated: list[str] = []
        for start in range(0, len(items), _TURN):
            host.budget.step(1 + min(len(items), _TURN) // 8)
            operated += [apply(host, item, by, to) for item in items[start : start + _TURN]]
        return operated

    return ParameterReader(
        shown, lambda host: join(host, operate_all(host), reader.star), operate_all, reader.star
    )


def _no_transformation(node: Parameter, reader: ParameterReader) -> ParameterReader:
    """${x@Z} for an unknown Z: an error, unless x is unset."""
    bad, is_set = _bad(node, 127).single, reader.single

    def fail(host: ExpansionHost) -> str | None:
        if is_set(host) is not None:
            bad(host)
        elif host.options.nounset and reader.many is None:
            raise unbound(reader.shown)
        return None

    def fail_for_all(host: ExpansionHost) -> list[str]:
        fail(host)
        return []

    return ParameterReader(
        reader.shown, fail, fail_for_all if reader.many is not None else None, reader.star
    )


def _named(number: Callable[[ExpansionHost], int], shown: str) -> Callable[[ExpansionHost], int]:
    """Compile an offset or a length; its errors name the parameter."""

    def evaluate(host: ExpansionHost) -> int:
        try:
            return number(host)
        except ExpansionError as error:
            error.message = f"{shown}: {error.message}"
            raise

    return evaluate


def _slice_elements(value: object, items: list[str], start: int, count: int | None) -> list[str]:
    """Return elements from `start` on; bash counts those of an associative array from 1."""
    if isinstance(value, IndexedArray):
        end = value.end()
        start = start + end if start < 0 else start
        if start < 0:
            return []
        kept = [text for index, text in value.pairs() if int(index) >= start]
        return kept if count is None else kept[:count]
    if isinstance(value, AssociativeArray):
        first = start + len(items) if start < 0 else max(start - 1, 0)
        taken = items[max(first, 0) :] if first >= -1 else []
        return taken if count is None else taken[: max(count, 1)]
    return slice_list(items, start, count, len(items))


def _slice(node: Parameter, reader: ParameterReader, words: Words) -> ParameterReader:
    shown = node.name if node.subscript is None else f"{node.name}[{node.subscript.source}]"
    offset = _named(words.arithmetic(node.operands[0]), node.prefix + shown)
    length = (
        _named(words.arithmetic(node.operands[1]), node.prefix + shown)
        if len(node.operands) > 1
        else None
    )
    single, many, shown = reader.single, reader.many, reader.shown
    length_source = node.operands[1].source if length is not None else ""

    def cut(host: ExpansionHost, text: str) -> tuple[int, str]:
        start, count = offset(host), length(host) if length is not None else None
        if host.variables.bytewise and not text.isascii():
            return start, decode(encode(slice_text(bytewise(text), start, count, length_source)))
        return start, slice_text(text, start, count, length_source)

    def slice_single(host: ExpansionHost) -> str | None:
        text = single(host)
        if text is None:
            if host.options.nounset:
                raise unbound(shown)
            return None
        return cut(host, text)[1]

    if many is None:
        return ParameterReader(shown, slice_single)

    def slice_many(host: ExpansionHost) -> list[str]:
        value = None if node.name in ("@", "*") else host.variables.lookup(node.name)
        if isinstance(value, (str, int)):  # no array, but a text: nothing is beyond its ends
            start, text = cut(host, str(value))
            return [text] if abs(start) <= len(str(value)) else []
        start, count = offset(host), length(host) if length is not None else None
        if count is not None and count < 0:
            if node.name in ("@", "*"):
                end = len(host.stack.positional) + 1
            else:
                end = value.end() if isinstance(value, IndexedArray) else len(many(host))
            if start > end or start < -end:
                return []
            raise ExpansionError(f"{length_source.strip()}: substring expression < 0")
        if node.name in ("@", "*"):
            arguments = host.stack.positional
            items = [host.invocation.name, *arguments]
            return slice_list(items, start, count, len(arguments) + 1)
        return _slice_elements(value, many(host), start, count)

    return ParameterReader(
        shown, lambda host: join(host, slice_many(host), reader.star), slice_many, reader.star
    )


def _transformed(node: Parameter, reader: ParameterReader, letter: str) -> ParameterReader:
    single, many, shown, name = reader.single, reader.many, reader.shown, node.name

    def one(host: ExpansionHost) -> str | None:
        text = single(host)
        if text is None:
            value = host.values.get(name)
            has_elements = isinstance(value, (IndexedArray, AssociativeArray)) and len(value) > 0
            if host.options.nounset and not (letter in ("a", "A") and has_elements):
                raise unbound(shown)
            if letter not in ("a", "A"):
                return None
        return transform(host, name, text, letter)

    if many is None:
        return ParameterReader(shown, one)
    star = reader.star

    def every(host: ExpansionHost) -> list[str]:
        value = host.variables.lookup(name) if name not in ("@", "*") else None
        if letter == "A":
            if name in ("@", "*"):
                quoted = [shell_quote_single(item) for item in host.stack.positional]
                if star and quoted:
                    return [f"set -- {join(host, quoted, star)}"]
                return ["set", "--", *quoted] if quoted else []
            whole = transform(host, name, host.variables.text_of(name, value), "A", whole=True)
            if not whole:
                return []
            return (
                whole.split(" ", 2) if whole.startswith(("declare -a", "declare -A")) else [whole]
            )
        if letter in ("K", "k") and isinstance(value, (IndexedArray, AssociativeArray)):
            pairs = value.pairs()
            if letter == "k":
                return [text for pair in pairs for text in pair]
            from agentsandbox.shell.expansion.transformations import quote_key

            associative = isinstance(value, AssociativeArray)
            return [
                " ".join(
                    f"{quote_key(key) if associative else key} {declare_quote_double(text)}"
                    for key, text in pairs
                )
                + (" " if associative and pairs else "")
            ]
        items = many(host)
        if letter == "a" and value is None and not items:
            letters = transform(host, name, None, "a")
            return [letters] if letters else []
        return [transform(host, name, text, letter) or "" for text in items]

    return ParameterReader(shown, lambda host: join(host, every(host), star), every, star)


@cache_short(512)
def _parse_target(text: str) -> tuple[str, Word | None] | None:
    """Parse the text of a parameter: a name, a special parameter, or name[subscript]."""
    if text in _SPECIAL_READERS or text in ("@", "*") or (text.isdigit() and text.isascii()):
        return text, None
    match = NAME.match(text)
    if match is None:
        return None
    if match.end() == len(text):
        return text, None
    if text[match.end()] == "[" and text.endswith("]") and match.end() + 2 < len(text):
        reader = Parser(text)
        reader.position = match.end()
        try:
            subscript = reader.read_subscript()
        except ShellSyntaxError:
            return None
        return (match[0], subscript) if reader.position == len(text) else None
    return None


def _named_reader(
    node: Parameter, name: str, subscript: Word | None, shown: str, words: Words
) -> ParameterReader:
    """Compile what `node` does to the parameter that it names; messages show it as `shown`."""
    twin = Parameter(name, subscript, "", node.operator, node.operands, node.source)
    if node.operator == "bad" or node.operator.startswith("names"):
        return compile_parameter(twin, words)
    found = reader_for(name, subscript, words)
    found.shown = shown
    if not node.operator:
        return _plain(found, "${")
    return found if node.operator in CHOICES else _operated(twin, found, words)


def _indirect(node: Parameter, words: Words) -> ParameterReader:
    """Compile ${!name}, the parameter that `name` names, and ${!a[@]}, the subscripts."""
    pointer = reader_for(node.name, node.subscript, words)
    if pointer.keys is not None and not node.operator:
        keys = pointer.keys
        return ParameterReader(
            pointer.shown, lambda host: join(host, keys(host), pointer.star), keys, pointer.star
        )
    cache: dict[str, ParameterReader] = {}

    def target(host: ExpansionHost) -> ParameterReader:
        value = host.values.get(node.name)
        if isinstance(value, NameReference) and node.subscript is None:
            shown = host.variables.resolve(node.name)
            if not value.target:
                raise ExpansionError(f"{node.name}: invalid indirect expansion")
            return ParameterReader(node.name, lambda _: shown.removeprefix(HIDDEN) or value.shown)
        text = pointer.single(host)
        if text is None:
            if node.name in ("@", "*"):
                return ParameterReader("", lambda _: None)
            if node.name not in host.values and not node.name.isdigit():
                raise ExpansionError(f"{pointer.shown}: invalid indirect expansion")
            if host.options.nounset:
                raise ExpansionError(f"!{pointer.shown}: unbound variable", status=127)
            return ParameterReader("", lambda _: None)
        found = cache.get(text)
        if found is None:
            parsed = _parse_target(text)
            if parsed is None:
                raise ExpansionError(f"{text}: invalid variable name")
            found = _named_reader(node, *parsed, f"!{pointer.shown}", words)
            if len(cache) < 64:
                cache[text] = found
        return found

    def single(host: ExpansionHost) -> str | None:
        return target(host).single(host)

    reader = ParameterReader(node.name, single)
    choice = node.operator in CHOICES

    def many(host: ExpansionHost) -> list[str]:
        found = target(host)
        if found.many is not None and not found.star:
            return found.many(host)
        text = found.single(host)
        if text is None:
            return [] if choice else [""]
        return [text]

    reader.keys = many
    return reader
