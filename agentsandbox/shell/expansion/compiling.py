"""What a compiled word is, and what parts of the word compiler need of the whole."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ParamSpec, Protocol, TypeVar

    from agentsandbox.shell.expansion.host import ExpansionHost
    from agentsandbox.shell.expansion.splitting import FieldBuilder
    from agentsandbox.shell.syntax.nodes import (
        CommandSubstitution,
        Part,
        ProcessSubstitution,
        Word,
    )

    P = ParamSpec("P")
    T = TypeVar("T")

    Text = Callable[[ExpansionHost], str]
    Fields = Callable[[ExpansionHost, list[str]], None]
    Emit = Callable[[ExpansionHost, FieldBuilder], None]
    Number = Callable[[ExpansionHost], int]

    class Words(Protocol):
        """The word compiler, as operands and brace expansions use it."""

        @property
        def substitution(
            self,
        ) -> Callable[[CommandSubstitution | ProcessSubstitution], Callable[[Any], str]]: ...
        def string(self, word: Word, *, assignment: bool = False) -> Text: ...
        def subscript(self, word: Word) -> Text: ...
        def subscripts(self, word: Word) -> tuple[Text, Text]: ...
        def pattern(self, word: Word) -> Text: ...
        def replacement(self, word: Word) -> Text: ...
        def arithmetic(self, word: Word) -> Number: ...
        def joined(self, texts: list[Text], parts: tuple[Part, ...]) -> Text: ...
        def text(self, part: Part) -> Text: ...
        def fields_of(self, parts: tuple[Part, ...], *, in_word: bool = False) -> Fields: ...
        def constant_text(self, parts: tuple[Part, ...]) -> str | None: ...
        def constant_field(self, parts: tuple[Part, ...]) -> str | None: ...
        def tildes(self, parts: tuple[Part, ...], assignment: bool) -> tuple[Part, ...]: ...
        def emit_quoted(self, part: Part) -> Emit: ...
        def emit_operand(self, part: Part) -> Emit: ...


# TM-TIME-7
def compiled_later(compile_it: Callable[[], Callable[P, T]]) -> Callable[P, T]:
    """Return a closure that is compiled when it is first called.

    For the second of two readings of one word, of which the value of a variable or an option
    decides: compiled both at once, words inside words take a time that doubles with each level.
    """
    made: Callable[P, T] | None = None

    def compiled(*args: P.args, **kwargs: P.kwargs) -> T:
        nonlocal made
        if made is None:
            made = compile_it()
        return made(*args, **kwargs)

    return compiled
