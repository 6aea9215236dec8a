"""Words as the interpreter compiles them, and texts that become words while a script runs."""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.caching import cache_short
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.words import WordCompiler
from agentsandbox.shell.interpreter.dispatch import compile_substitution
from agentsandbox.shell.syntax.contexts import HERE
from agentsandbox.shell.syntax.nodes import Word
from agentsandbox.shell.syntax.parser import Parser, read_arithmetic

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.expansion.compiling import Text
    from agentsandbox.shell.expansion.host import ExpansionHost

WORDS = WordCompiler(compile_substitution)
"""The compiler of all words of all scripts."""


@cache_short(256)
def _quoted_text(text: str) -> Text:
    parser = Parser(text)
    parts = parser.scan(HERE, "")
    return WORDS.string(Word(parts, text))


def expand_quoted_text(shell: ExpansionHost, text: str, *, keep_quotes: bool = False) -> str:
    """Expand a text as a here-document is expanded; remove quotes unless `keep_quotes`."""
    if not keep_quotes and ('"' in text or "'" in text):
        text = _without_quotes(text)
    try:
        return _quoted_text(text)(shell)
    except ShellSyntaxError as error:
        raise ExpansionError(error.message) from None


def expand_index(shell: ExpansionHost, text: str) -> str:
    """Expand the subscript of an indexed array."""
    return _index_text(text)(shell)


def expand_key(shell: ExpansionHost, text: str) -> str:
    """Expand the subscript of an associative array: a word that is not split."""
    try:
        return _key_text(text)(shell)
    except ShellSyntaxError as error:
        raise ExpansionError(error.message) from None


@cache_short(256)
def _key_text(text: str) -> Text:
    return WORDS.subscript(Parser(f"[{text}]").read_subscript())


@cache_short(256)
def _index_text(text: str) -> Text:
    return WORDS.string(Word(read_arithmetic(text), text))


def _without_quotes(text: str) -> str:
    """Drop the quotes around a subscript such as ["a b"] or ['k']."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text.replace('"', "")
