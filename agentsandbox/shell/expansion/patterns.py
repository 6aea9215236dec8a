"""Words compiled to patterns: of `case` and ${x#…}, and the right sides of [[ == ]] and [[ =~ ]].

What was quoted in the word matches itself.
"""

from __future__ import annotations

from agentsandbox.kernel.quoting import quote_glob
from agentsandbox.shell.expansion.regexes import join_regex, quote_regex
from agentsandbox.shell.expansion.tildes import Home
from agentsandbox.shell.syntax.nodes import DoubleQuoted, Literal, Part, Quoted, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.expansion.compiling import Text, Words


def compile_pattern(word: Word, words: Words) -> Text:
    """Compile the word to a shell pattern, in which quoted text matches itself."""
    parts = words.tildes(word.parts, False)
    return _joined_patterns([_pattern_part(part, quote_glob, words) for part in parts])


def compile_traced_pattern(word: Word, words: Words) -> Text:
    """Compile the pattern as `set -x` shows it: quoted characters behind a backslash."""
    return _joined_patterns(
        [_pattern_part(part, _quote_all, words) for part in words.tildes(word.parts, False)]
    )


def compile_regular_expression(word: Word, words: Words) -> Text:
    """Compile the word to an extended regular expression; quoted text matches itself."""
    parts = words.tildes(word.parts, False)
    if len(parts) == 1:
        return _pattern_part(parts[0], quote_regex, words)
    if all(isinstance(part, (Literal, Quoted)) for part in parts):
        known = join_regex(
            [
                (part.text, isinstance(part, Quoted))
                for part in parts
                if isinstance(part, (Literal, Quoted))
            ]
        )
        return lambda host: known
    pieces = [(words.text(part), isinstance(part, (Quoted, DoubleQuoted, Home))) for part in parts]
    return lambda host: join_regex([(text(host), quoted) for text, quoted in pieces])


def compile_replacement(word: Word, words: Words) -> Text:
    """Compile the word to the replacement of ${x/y/z}; a quoted & or backslash is text."""
    return _joined_patterns(
        [_pattern_part(part, _quote_ampersand, words) for part in words.tildes(word.parts, False)]
    )


def _joined_patterns(texts: list[Text]) -> Text:
    if len(texts) == 1:
        return texts[0]
    return lambda host: "".join([text(host) for text in texts])


def _pattern_part(part: Part, quote: Callable[[str], str], words: Words) -> Text:
    if isinstance(part, Literal):
        text = part.text
        return lambda host: text
    if isinstance(part, Quoted):
        quoted = quote(part.text)
        return lambda host: quoted
    value = words.text(part)
    if isinstance(part, (DoubleQuoted, Home)):
        return lambda host: quote(value(host))
    return value


def _quote_all(text: str) -> str:
    return "".join(["\\" + character for character in text])


def _quote_ampersand(text: str) -> str:
    return text.replace("\\", "\\\\").replace("&", "\\&") if "&" in text or "\\" in text else text
