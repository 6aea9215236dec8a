"""Assignments, alone, before a command, and as arguments of `declare` and its kin."""

from __future__ import annotations

from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.quoting import shell_quote_single, trace_quote
from agentsandbox.shell.expansion.compiling import compiled_later
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import (
    ASSOCIATIVE,
    INTEGER,
    AssociativeArray,
    IndexedArray,
    NameReference,
)
from agentsandbox.shell.interpreter.words import WORDS
from agentsandbox.shell.syntax.nodes import (
    ArithmeticSubstitution,
    ArrayElement,
    ArrayLiteral,
    Assignment,
    DoubleQuoted,
    Literal,
    Parameter,
    Part,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from agentsandbox.shell.interpreter.shell import Shell

    Element = tuple[str | None, bool, str]

    class Binder(Protocol):
        """Expands the words of an assignment; `associative` is for associative arrays."""

        def __call__(self, shell: Shell, associative: bool = False, /) -> BoundAssignment: ...


class BoundAssignment:
    """An assignment with its words expanded: a text, a number, or the elements of an array."""

    __slots__ = ("append", "name", "raw", "source", "subscript", "value", "written")

    def __init__(
        self,
        name: str,
        value: str | int | list[Element],
        subscript: str | None,
        append: bool,
        source: str = "",
        raw: str | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.subscript = subscript
        self.append = append
        self.source = source
        self.raw = raw  # the subscript before it was expanded
        self.written: Sequence[str] = ()
        """The elements of an array literal outside of a command, for errors."""

    def apply(self, shell: Shell) -> None:
        """Assign."""
        variables = shell.variables
        value = self.value
        if isinstance(value, list):
            try:
                assign_array(shell, self.name, value, self.append, self.written)
            except ExpansionError as error:
                error.named = False
                raise
        elif self.subscript is not None:
            (variables.append_element if self.append else variables.assign_element)(
                self.name, self.subscript, str(value)
            )
        elif self.append:
            variables.append(self.name, value)
        else:
            variables.assign(self.name, value)

    def _target(self, subscript: str | None) -> str:
        name = self.name if subscript is None else f"{self.name}[{subscript}]"
        return f"{name}+=" if self.append else f"{name}="

    def word(self) -> str:
        """Return the assignment as an argument; an array literal as it was written."""
        return (
            self.source
            if isinstance(self.value, list)
            else f"{self._target(self.subscript)}{self.value}"
        )

    def text(self) -> str:
        """Return the assignment as `set -x` shows it."""
        if isinstance(self.value, list):
            return self.source
        shown = str(self.value)
        return f"{self._target(self.raw)}{trace_quote(shown) if shown else ''}"

    def elements_text(self) -> str:
        """Return an array literal with its elements expanded, as `set -x` shows it."""
        assert isinstance(self.value, list)
        return f"{self._target(None)}({' '.join([_quoted(element) for element in self.value])})"


def assign_array(
    shell: Shell, name: str, elements: list[Element], append: bool, written: Sequence[str] = ()
) -> None:
    """Make name=(…) or name+=(…). `written` are the elements as error messages show them."""
    variables = shell.variables
    value = shell.values.get(name)
    if isinstance(value, NameReference):
        name = variables.resolve(name) or name
        if "[" in name:
            raise ExpansionError(f"{name}: cannot assign list to array member", fatal=False)
        value = shell.values.get(name)
    flags = shell.attributes.get(name, 0)
    size = len(value) if append and isinstance(value, (IndexedArray, AssociativeArray)) else 0
    shell.budget.charge(32 * (size + len(elements)))
    if isinstance(value, AssociativeArray) or flags & ASSOCIATIVE:
        _assign_associative(
            shell, name, elements, append, written or [_quoted(element) for element in elements]
        )
        return
    if append:
        array = variables.array_for_writing(name)
        assert isinstance(array, IndexedArray)
        if len(elements) == 1 and elements[0][0] is None and flags >> 2 == ARRAY_ONLY:
            array.append(elements[0][2])
            return
    else:
        array = IndexedArray()
        variables.replace(name, array)
    index = array.end() if append else 0
    convert = flags & ~(1 << 7)
    for key, adds, text in elements:
        if key == "":
            shell.fault(f"[]={text}: bad array subscript")
            continue
        if key in ("@", "*"):
            shell.complain(f"[{key}]={text}: cannot assign to non-numeric index")
            continue
        if key is not None:
            wanted = variables.evaluate(shell.key(name, key))
            if wanted < -array.end():
                shell.fault(f"[{key}]={text}: bad array subscript")
                continue
            index = wanted + array.end() if wanted < 0 else wanted
            if adds and convert & INTEGER:
                variables.append_element(name, str(index), text)
                index += 1
                continue
            if adds:
                text = (array.get(index) or "") + text
        if convert:
            variables.assign_element(name, str(index), text)
        else:
            array.set(index, text)
        index += 1


ARRAY_ONLY = 1 << 5
"""The attribute ARRAY after the bits for EXPORT and READONLY are shifted out."""


def _quoted(element: Element) -> str:
    """Return an expanded element as `set -x` shows it."""
    key, adds, text = element
    subscript = "" if key is None else f"[{shell_quote_single(key)}]{'+' if adds else ''}="
    return subscript + shell_quote_single(text)


def _assign_associative(
    shell: Shell, name: str, elements: list[Element], append: bool, written: Sequence[str]
) -> None:
    variables = shell.variables
    if append:
        array = variables.array_for_writing(name, associative=True)
    else:
        array = AssociativeArray()
        variables.replace(name, array)
    assert isinstance(array, AssociativeArray)
    # (key value key value …)
    if elements and elements[0][0] is None and not written[0].startswith("["):
        texts = [text for _, _, text in elements]
        for position in range(0, len(texts), 2):
            if not texts[position]:
                shell.fault(f"{written[position]}: bad array subscript")
                continue
            array.set(
                texts[position],
                variables.converted(name, texts[position + 1] if position + 1 < len(texts) else ""),
            )
        return
    for (key, adds, text), shown in zip(elements, written, strict=True):
        if key is None:
            shell.fault(f"{name}: {shown}: must use subscript when assigning associative array")
            continue
        if not key:
            shell.fault(f"{shown}: bad array subscript")
            continue
        if adds:
            text = (array.get(key) or "") + text
        if shell.attributes.get(name, 0) & ~((1 << 8) | 3):
            variables.assign_element(name, key, text)
        else:
            array.set(key, text)


def _compile_elements(
    literal: ArrayLiteral, *, argument: bool
) -> Callable[[Shell, bool], list[Element]]:
    first = literal.elements[0] if literal.elements else None
    pairs = (
        first is not None
        and first.subscript is None
        and (argument or not first.value.source.startswith("["))
    )
    """Whether an associative array gets (key value key value …), where [key]=value is a text as any
    other."""

    def compile_one(element: ArrayElement) -> Callable[[Shell, bool, list[Element]], None]:
        if element.subscript is not None:
            key, text, append = (
                WORDS.subscript(element.subscript),
                WORDS.string(element.value, assignment=True),
                element.append,
            )
            untilded = compiled_later(lambda: WORDS.subscript(element.value))

            def keyed(shell: Shell, associative: bool, out: list[Element]) -> None:
                if pairs and associative:
                    out.append(
                        (None, False, f"[{key(shell)}]{'+' if append else ''}={untilded(shell)}")
                    )
                else:
                    out.append((key(shell), append, (untilded if associative else text)(shell)))

            return keyed
        fields = WORDS.fields(element.value, in_list=True)
        whole = compiled_later(lambda: WORDS.subscript(element.value))

        def bare(shell: Shell, associative: bool, out: list[Element]) -> None:
            found: list[str] = []
            if associative:  # a key or a value, which is not split
                found.append(whole(shell))
            else:
                fields(shell, found)
            out.extend([(None, False, text) for text in found])

        return bare

    compiled = [compile_one(element) for element in literal.elements]
    runs_commands = any(
        "(" in element.value.source or "`" in element.value.source for element in literal.elements
    )

    def elements(shell: Shell, associative: bool) -> list[Element]:
        out: list[Element] = []
        kept = shell.budget.keep(out) if runs_commands else None
        for each in compiled:
            each(shell, associative, out)
        if kept is not None:
            kept.release()
        return out

    return elements


def written_literal(node: Assignment) -> str:
    """Return the text that bash keeps of an array literal; "" for any other assignment."""
    return node.written if isinstance(node.value, ArrayLiteral) else ""


def _refuse_list(shown: str) -> Binder:
    def refuse(shell: Shell, associative: bool = False) -> BoundAssignment:
        raise ExpansionError(f"{shown}: cannot assign list to array member")

    return refuse


def bind_assignment(node: Assignment, *, argument: bool = False) -> Binder:
    """Compile an assignment to a closure that expands its words and returns it bound."""
    name, append, source = node.name, node.append, node.source
    if isinstance(node.value, ArrayLiteral):
        if node.subscript is not None:
            return _refuse_list(f"{name}[{node.subscript.source}]")
        elements = _compile_elements(node.value, argument=argument)
        source = written_literal(node)
        written = () if argument else [element.written for element in node.value.elements]

        def bind_list(shell: Shell, associative: bool = False) -> BoundAssignment:
            if not argument and isinstance(shell.values.get(name), (str, int)):
                # which it already is for the words of the list
                shell.variables.array_for_writing(name)
            associative = associative or shell.variables.is_associative(name)
            bound = BoundAssignment(name, elements(shell, associative), None, append, source)
            if associative:
                bound.written = written
            return bound

        return bind_list
    text = WORDS.string(node.value, assignment=True)
    if node.subscript is None:
        return lambda shell, associative=False: BoundAssignment(
            name, text(shell), None, append, source
        )
    subscript, index = WORDS.subscripts(node.subscript)
    raw = node.subscript.source

    def bind(shell: Shell, associative: bool = False) -> BoundAssignment:
        value = text(shell)
        as_text = argument or raw in ("@", "*") or shell.variables.is_associative(name)
        key = (subscript if as_text else index)(shell)
        if not key and not argument and (not raw or shell.variables.is_associative(name)):
            raise ExpansionError(f"{name}[{raw}]: bad array subscript")
        return BoundAssignment(name, value, key, append, source, raw if key or not argument else "")

    return bind


def bind_prefix(node: Assignment) -> Binder | None:
    """As `bind_assignment`, for an array literal before a command; None for other assignments."""
    if not isinstance(node.value, ArrayLiteral):
        return None
    parts: list[Part] = []
    for element in node.value.elements:
        parts.append(Literal(" " if parts else "("))
        if element.subscript is not None:
            parts.extend(
                (
                    Literal("["),
                    *element.subscript.parts,
                    Literal(f"]{'+' if element.append else ''}="),
                )
            )
        parts.extend(element.value.parts)
    word = Word((*parts, Literal(")" if parts else "()")), node.value.written)
    text = compiled_later(lambda: WORDS.string(word))
    name, append = node.name, node.append
    subscript = None if node.subscript is None else node.subscript.source
    return lambda shell, associative=False: BoundAssignment(
        name, text(shell), subscript, append, node.source
    )


def compile_assignment(node: Assignment) -> Callable[[Shell], None]:
    """Compile an assignment without a command."""
    name = node.name
    if isinstance(node.value, ArrayLiteral) or node.subscript is not None:
        bind = bind_assignment(node)
        return lambda shell: bind(shell).apply(shell)
    if node.append:
        return _append(name, node.value)
    number = number_of(node.value)
    if number is not None:

        def assign_number(shell: Shell) -> None:
            value = number(shell)
            if name in shell.attributes:
                shell.variables.assign(name, value)
            else:
                shell.values[name] = value

        return assign_number
    grown = _grows(name, node.value)
    if grown is not None:
        return grown
    text = WORDS.string(node.value, assignment=True)

    def assign(shell: Shell) -> None:
        value = text(shell)
        if len(value) > LARGE:
            shell.budget.check_time()
        if name in shell.attributes:
            shell.variables.assign(name, value)
        else:
            shell.values[name] = value

    return assign


def number_of(value: Word) -> Callable[[Shell], int] | None:
    """Compile name=$((…)), whose result stays a number; None for any other value."""
    parts = value.parts
    if len(parts) == 1 and isinstance(parts[0], DoubleQuoted):
        parts = parts[0].parts
    if len(parts) == 1 and isinstance(parts[0], ArithmeticSubstitution):
        return WORDS.arithmetic(parts[0].expression)
    return None


def _append(name: str, value: Word) -> Callable[[Shell], None]:
    """Compile name+=text in place: CPython extends a string that nobody else holds."""
    text = WORDS.string(value, assignment=True)

    def append(shell: Shell) -> None:
        added = text(shell)
        values = shell.values
        current = values.get(name)
        if type(current) is str and name not in shell.attributes:
            if len(current) + len(added) > shell.budget.value_bytes:
                shell.budget.charge(len(current) + len(added))
            if len(added) > 65536:
                shell.budget.make(len(added))
            if len(current) > LARGE:  # it is copied if somebody else holds it
                shell.budget.check_time()
            del current
            grown: str = values.pop(name)  # type: ignore[assignment]
            grown += added
            values[name] = grown
        else:
            shell.variables.append(name, added)

    return append


def _grows(name: str, value: Word) -> Callable[[Shell], None] | None:
    """Compile name="$name…" as an append, if the rest does not read the name; else None."""
    parts: tuple[Part, ...] = value.parts
    quoted = len(parts) == 1 and isinstance(parts[0], DoubleQuoted)
    if quoted:
        parts = parts[0].parts  # type: ignore[attr-defined]
    if len(parts) < 2 or not isinstance(parts[0], Parameter):
        return None
    first = parts[0]
    if first.name != name or first.operator or first.prefix or first.subscript is not None:
        return None
    rest = parts[1:]
    if any(not isinstance(part, Parameter) and not hasattr(part, "text") for part in rest):
        return None
    if any(
        isinstance(part, Parameter) and (part.operator or part.prefix or part.name == name)
        for part in rest
    ):
        return None
    rest_word = Word((DoubleQuoted(rest),) if quoted else rest, "")
    append = _append(name, rest_word)
    whole = WORDS.string(value, assignment=True)

    def grow(shell: Shell) -> None:
        if type(shell.values.get(name)) is str and name not in shell.attributes:
            append(shell)
            return
        text = whole(shell)
        if name in shell.attributes:
            shell.variables.assign(name, text)
        else:
            shell.values[name] = text

    return grow
