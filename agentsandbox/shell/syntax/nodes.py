"""The syntax tree. Nodes are values: the parser builds them once, every sandbox shares them.

`line` (from 1) and `source` (the text of a word) say where a node came from; comparisons ignore
them. Here are words, simple commands and what joins commands; `compound_nodes` has the others.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PLACES = frozenset("line source last_line opening outside spans constant fields compiled".split())
"""Attributes that no comparison looks at."""
UNKNOWN = "\0"
"""For a value that has not been computed; no text of a script holds a NUL."""


class Node:
    """Base of all nodes: equality and representation by slots, except for places."""

    __slots__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not other.__class__:
            return False
        return all(
            getattr(self, name) == getattr(other, name)
            for name in self.__slots__
            if name not in PLACES
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(
            f"{name}={getattr(self, name)!r}" for name in self.__slots__ if name not in PLACES
        )
        return f"{self.__class__.__name__}({fields})"


# words


class Part(Node):
    """A piece of a word."""

    __slots__ = ()


class Word(Node):
    """One word as written: its parts, and its text in the script.

    fields    what expands it to fields, once it is compiled; commands share words (`known_word`)
    constant  the one field that it always is, or None; `UNKNOWN` until somebody asks
    """

    __slots__ = ("constant", "fields", "parts", "source")

    def __init__(self, parts: tuple[Part, ...], source: str) -> None:
        self.parts = parts
        self.source = source
        self.fields: Any = None
        self.constant: str | None = UNKNOWN


class Literal(Part):
    """Unquoted text: subject to tilde, brace and pathname expansion."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Quoted(Part):
    """Quoted text without its quotes: '…', $'…', an escaped character, plain text in "…"."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Slot(Part):
    """A text without expansions that is not part of the tree: `Shell.slots` has it at `number`."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class DoubleQuoted(Part):
    """ "…": its parts are never split, nor matched against file names."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts


TRANSFORMATIONS = frozenset("UuLQEPAKak")
"""The letters of ${x@…}."""
CHOICES = frozenset(("-", ":-", "=", ":=", "?", ":?", "+", ":+"))
"""Operators of a parameter that take their operand in its place, or not."""


class Parameter(Part):
    """$name and every ${…}.

    `prefix` is "" or "#" (length) or "!" (indirect; names with operator "*" or "@"; keys with
    subscript @ or *). `operator` is one of "" - :- = := ? :? + :+ # ## % %% / // /# /% ^ ^^ , ,, ~
    ~~ : @ and for ${!prefix*} "names*" "names@".
    """

    __slots__ = ("name", "operands", "operator", "prefix", "source", "subscript")

    def __init__(
        self,
        name: str,
        subscript: Word | None = None,
        prefix: str = "",
        operator: str = "",
        operands: tuple[Word, ...] = (),
        source: str = "",
    ) -> None:
        self.name = name
        self.subscript = subscript
        self.prefix = prefix
        self.operator = operator
        self.operands = operands
        self.source = source


class CommandSubstitution(Part):
    """$(…) or `…`; the body is None for an empty one.

    `source` is how $(…) was written. It is "" for `…`, and for a substitution in a pattern list,
    which bash prints as it was written. `outside` are its here-documents whose bodies begin behind
    the line in which the substitution ends.
    """

    __slots__ = ("body", "outside", "source")

    def __init__(
        self, body: Command | None, source: str = "", outside: tuple[HereDocument, ...] = ()
    ) -> None:
        self.body = body
        self.source = source
        self.outside = outside


class ArithmeticSubstitution(Part):
    """$((…)): the expression as double-quoted words, parsed once they are expanded."""

    __slots__ = ("expression",)

    def __init__(self, expression: Word) -> None:
        self.expression = expression


class ProcessSubstitution(Part):
    """<(…) or >(…), by `direction`; `outside` as in `CommandSubstitution`."""

    __slots__ = ("body", "direction", "outside", "source")

    def __init__(
        self,
        body: Command | None,
        direction: str,
        source: str = "",
        outside: tuple[HereDocument, ...] = (),
    ) -> None:
        self.body = body
        self.direction = direction
        self.source = source
        self.outside = outside


# commands


class Command(Node):
    """Anything that runs and has a status."""

    __slots__ = ()

    redirections: tuple[Redirection, ...] = ()
    has_line = False
    """Whether bash has a line for a compound command while it is redirected."""


class ArrayElement(Node):
    """[subscript]=value, or a bare value whose words become elements."""

    __slots__ = ("append", "subscript", "value")

    def __init__(self, value: Word, subscript: Word | None = None, append: bool = False) -> None:
        self.value = value
        self.subscript = subscript
        self.append = append

    @property
    def written(self) -> str:
        """Its text."""
        return (
            self.value.source
            if self.subscript is None
            else f"[{self.subscript.source}]{'+' if self.append else ''}={self.value.source}"
        )


class ArrayLiteral(Node):
    """( … ) on the right of an assignment."""

    __slots__ = ("elements", "source")

    def __init__(self, elements: tuple[ArrayElement, ...], source: str = "") -> None:
        self.elements = elements
        self.source = source

    @property
    def written(self) -> str:
        """Its text as bash keeps it: one blank between elements."""
        return f"({' '.join([element.written for element in self.elements])})"


class Assignment(Node):
    """name=value, name+=value, name[subscript]=value, name=(…)."""

    __slots__ = ("append", "name", "source", "subscript", "value")

    def __init__(
        self,
        name: str,
        value: Word | ArrayLiteral,
        subscript: Word | None = None,
        append: bool = False,
        source: str = "",
    ) -> None:
        self.name = name
        self.value = value
        self.subscript = subscript
        self.append = append
        self.source = source

    @property
    def written(self) -> str:
        """Its text as bash keeps it."""
        subscript = "" if self.subscript is None else f"[{self.subscript.source}]"
        value = self.value.written if isinstance(self.value, ArrayLiteral) else self.value.source
        return f"{self.name}{subscript}{'+' if self.append else ''}={value}"


class HereDocument(Node):
    """The text of a here-document; `quoted` is for its delimiter. Then it is one quoted part."""

    __slots__ = ("body", "delimiter", "quoted")

    def __init__(self, delimiter: str, quoted: bool) -> None:
        self.delimiter = delimiter
        self.quoted = quoted
        self.body = Word((), "")


class Redirection(Node):
    """[n]op word, {variable}op word, [n]<<word."""

    __slots__ = ("descriptor", "line", "operator", "target", "variable")

    def __init__(
        self,
        operator: str,
        target: Word | HereDocument,
        descriptor: int | None = None,
        variable: str | None = None,
        line: int = 0,
    ) -> None:
        self.operator = operator
        self.target = target
        self.descriptor = descriptor
        self.variable = variable
        self.line = line


class SimpleCommand(Command):
    """Assignments, words and redirections. An argument of `declare` and its kin may be an
    Assignment.

    line    the line on which its second word ends, as bash counts
    spans   whether the command covers several lines
    source  its text, for a command that `known_command` shares between scripts; else ""
    """

    __slots__ = ("assignments", "line", "redirections", "source", "spans", "words")

    def __init__(
        self,
        assignments: tuple[Assignment, ...],
        words: tuple[Word | Assignment, ...],
        redirections: tuple[Redirection, ...] = (),
        line: int = 0,
        spans: bool = False,
        source: str = "",
    ) -> None:
        self.assignments = assignments
        self.words = words
        self.redirections = redirections
        self.line = line
        self.spans = spans
        self.source = source


class Pipeline(Command):
    """Commands joined by | (|& became 2>&1 and |); `timed` is "", "time" or "time -p"."""

    __slots__ = ("commands", "line", "negated", "timed")

    def __init__(
        self, commands: tuple[Command, ...], negated: bool = False, timed: str = "", line: int = 0
    ) -> None:
        self.commands = commands
        self.negated = negated
        self.timed = timed
        self.line = line


class AndOr(Command):
    """first && … || …: `rest` holds (operator, command) in order."""

    __slots__ = ("first", "rest")

    def __init__(self, first: Command, rest: tuple[tuple[str, Command], ...]) -> None:
        self.first = first
        self.rest = rest


class Background(Command):
    """command &"""

    __slots__ = ("command", "line")

    def __init__(self, command: Command, line: int = 0) -> None:
        self.command = command
        self.line = line


class CommandList(Command):
    """Commands one after another."""

    __slots__ = ("commands",)

    def __init__(self, commands: tuple[Command, ...]) -> None:
        self.commands = commands


class Subshell(Command):
    """( … )"""

    __slots__ = ("body", "line", "redirections")
    has_line = True

    def __init__(
        self, body: Command, redirections: tuple[Redirection, ...] = (), line: int = 0
    ) -> None:
        self.body = body
        self.redirections = redirections
        self.line = line


class Group(Command):
    """{ …; }"""

    __slots__ = ("body", "line", "redirections")

    def __init__(
        self, body: Command, redirections: tuple[Redirection, ...] = (), line: int = 0
    ) -> None:
        self.body = body
        self.redirections = redirections
        self.line = line


class Unreadable(Command):
    """A substitution whose text breaks the grammar; the error comes when it is expanded."""

    __slots__ = ("line", "message", "source_line")

    def __init__(self, message: str, line: int, source_line: str | None) -> None:
        self.message = message
        self.line = line
        self.source_line = source_line


class FunctionDefinition(Command):
    """name () body; the body is a compound command with its redirections.

    compiled  what runs the body, once it was called
    opening   the line before the first command of the body, and after the last one
    """

    __slots__ = ("body", "compiled", "line", "name", "opening")

    def __init__(self, name: str, body: Command, line: int = 0, opening: int = 0) -> None:
        self.name = name
        self.body = body
        self.line = line
        self.opening = opening
        self.compiled: Any = None


class ArithmeticCommand(Command):
    """(( expression ))"""

    __slots__ = ("expression", "line", "redirections")
    has_line = True

    def __init__(
        self, expression: Word, redirections: tuple[Redirection, ...] = (), line: int = 0
    ) -> None:
        self.expression = expression
        self.redirections = redirections
        self.line = line


def fields(node: Node) -> dict[str, Any]:
    """What a node compares by."""
    return {name: getattr(node, name) for name in node.__slots__ if name not in PLACES}
