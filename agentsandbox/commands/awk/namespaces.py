"""Names in namespaces, what begins with `@`, and names in a language without gawk's extensions."""

from __future__ import annotations

import re

from agentsandbox.commands.awk.literals import read_regex
from agentsandbox.commands.awk.modes import EXTENSION_WORDS, EXTENSIONS
from agentsandbox.commands.awk.syntax_errors import point_at
from agentsandbox.commands.awk.tokens import (
    COLONS,
    KEYWORDS,
    AwkSyntaxError,
    internal,
    kind_of_name,
)
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.awk.tokens import Lexer

_DIRECTIVE = lazily(r"@(?:/|[A-Za-z_][A-Za-z_0-9]*(?:::[A-Za-z_][A-Za-z_0-9]*)?|)")
_NAMESPACE = lazily(r'@namespace[ \t]*+"([^"\n]*+)"')
_IDENTIFIER = lazily(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
RESERVED = KEYWORDS | frozenset(
    "atan2 close cos exp fflush gsub index int length log match rand sin split sprintf sqrt srand"
    " sub substr system tolower toupper".split()
)
"""Words that no namespace can have for itself: those of POSIX, and what gawk adds to the syntax."""


def read_qualified(lexer: Lexer, value: str, start: int) -> bool:
    """Add a name or a word of the language; false if it is wrong."""
    namespace, _, last = value.rpartition("::")
    if namespace and namespace != "awk" and last in RESERVED:
        message = (
            f"error: using reserved identifier `{last}' as second component of a qualified"
            " name is not allowed"
        )
        at = lexer.position
        while lexer.text.startswith((" ", "\t"), at):
            at += 1
        pointed = point_at(lexer.source, at, "syntax error")
        place = lexer.source.place(lexer.line)
        return lexer.fail(at, AwkSyntaxError(f"{place}: {message}", *pointed.lines))
    if namespace in RESERVED:
        return lexer.fail(start, _reserved(lexer, namespace))
    if namespace in ("", "awk"):
        word = last if namespace or lexer.namespace == "awk" else value
        is_word = word in RESERVED or namespace == "awk" or lexer.namespace == "awk"
        kind = kind_of_name(word, lexer.text, lexer.position) if is_word else "NAME"
        if kind not in ("NAME", "CALL"):
            lexer.add(kind, word, start)
            return True
    kind = "CALL" if lexer.text.startswith("(", lexer.position) else "NAME"
    lexer.add(kind, _qualified(lexer, value), start)
    return True


def _qualified(lexer: Lexer, name: str) -> str:
    """Return a name with its namespace; those in capitals are all awk's."""
    namespace, _, last = name.rpartition("::")
    namespace = namespace or ("awk" if last.isupper() else lexer.namespace)
    return last if namespace == "awk" else f"{namespace}{COLONS}{last}"


def _reserved(lexer: Lexer, name: str) -> AwkSyntaxError:
    message = f"error: using reserved identifier `{name}' as a namespace is not allowed"
    return AwkSyntaxError(f"{lexer.source.place(lexer.line)}: {message}")


def read_directive(lexer: Lexer, start: int) -> bool:
    """Add what begins with `@`; false if it is wrong."""
    found = _DIRECTIVE.match(lexer.text, start)
    if found is not None and found[0] == "@/":
        return read_regex(lexer, start + 1, "TYPED")
    is_call = found is not None and lexer.text.startswith("(", found.end())
    if not lexer.has_extensions and not is_call:
        return lexer.fail(start, point_at(lexer.source, start + 1, "syntax error"))
    if (namespace := _NAMESPACE.match(lexer.text, start)) is not None:
        return _change_namespace(lexer, namespace, start)
    if found is not None and lexer.text.startswith("(", found.end()) and found[0][1:]:
        lexer.add("INDIRECT", _qualified(lexer, found[0][1:]), start)
        lexer.position = found.end()
        return True
    shown = "@" if found is None else found[0]
    message = f"error: gawk's `{shown}' is not available here"
    return lexer.fail(start, AwkSyntaxError(f"{lexer.source.place(lexer.line)}: {message}"))


def _change_namespace(lexer: Lexer, found: re.Match[str], start: int) -> bool:
    """Take `@namespace "name"`; false if the name is wrong."""
    name = found[1]
    if name in RESERVED:
        return lexer.fail(start, _reserved(lexer, name))
    if _IDENTIFIER.fullmatch(name) is None:
        message = f"error: namespace name `{name}' must meet identifier naming rules"
        place = lexer.source.place(lexer.line)
        return lexer.fail(start, AwkSyntaxError(f"{place}: {message}"))
    lexer.namespace = name
    lexer.position = found.end()
    return True


def read_standard_name(lexer: Lexer, value: str, start: int) -> None:
    """Add a name or a word in a language without gawk's extensions."""
    value = value.partition(":")[0]
    lexer.position = start + len(value)
    kind = kind_of_name(value, lexer.text, lexer.position)
    is_extension = value in EXTENSIONS or value in EXTENSION_WORDS
    if is_extension or (value == "func" and lexer.mode.posix):
        kind = "CALL" if lexer.text.startswith("(", lexer.position) else "NAME"
    lexer.add(kind, internal(value, lexer.mode) if kind == "NAME" else value, start)


def refuse_nested(lexer: Lexer, start: int) -> bool:
    """Refuse `a[1][2]` in a language without it; false if there is another bracket."""
    at = lexer.position
    while lexer.text.startswith((" ", "\t"), at):
        at += 1
    if not lexer.text.startswith("[", at):
        return True
    place = lexer.source.place(lexer.line)
    message = f"{place}: fatal: multidimensional arrays are a gawk extension"
    return lexer.fail(start, AwkSyntaxError(message))
