"""Aliases: their texts take the places of their names in the text that is parsed."""

from __future__ import annotations

from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.syntax.protocols import Parser


_LONGEST_MATCHED = 4096
"""Characters of a word that may be the name of an alias."""
_FD_WORD = lazily(r"[0-9]+|[^\s|&;()<>]+")


def expand_alias(parser: Parser) -> bool:
    """Replace the alias name at the cursor by its text; return whether there was one."""
    if not parser.aliases:
        return False
    end = parser.position + _LONGEST_MATCHED
    match = _FD_WORD.match(parser.text, parser.position, end)
    if match is None or match[0] not in parser.aliases:
        return False
    name, start, end = match[0], parser.position, match.end()
    parser.alias_ends = [(stop, used) for stop, used in parser.alias_ends if stop > start]
    if any(used == name for _, used in parser.alias_ends):
        return False
    value = parser.aliases[name]
    # as in bash a blank follows, lest the last word of it becomes the number of a redirection
    blank = " " if parser.text[end : end + 1] in ("<", ">") else ""
    growth = len(value) + len(blank) - (end - start)
    parser.text = parser.text[:start] + value + blank + parser.text[end:]
    parser.alias_texts = [
        (first, stop + growth if start < stop else stop) for first, stop in parser.alias_texts
    ]
    if "\n" in value:
        parser.alias_texts.append((start, start + len(value)))
    parser.alias_ends = [(stop + growth, used) for stop, used in parser.alias_ends]
    parser.alias_ends.append((start + len(value), name))
    if len(parser.alias_ends) > 200:
        raise parser.error("alias expansion is too deep")
    parser.skip_blanks()
    return True


def after_blank_alias(parser: Parser) -> bool:
    """Whether an alias whose text ends in a blank ends right before the next word."""
    saved = parser.position
    parser.skip_blanks()
    return any(
        saved <= stop <= parser.position and parser.text[stop - 1 : stop] in (" ", "\t")
        for stop, _ in parser.alias_ends
    )
