"""The single `%` directive of a format, as `seq -f` and `numfmt --format` take one."""

from __future__ import annotations

from agentsandbox.commands._text.quoting import quote
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re


def find_directive(text: str, directive: re.Pattern[str]) -> re.Match[str]:
    """Return the match of the first directive other than `%%`.

    The last group of the pattern is its letter, which may be empty.
    """
    at = text.find("%")
    while text[at : at + 2] == "%%":
        at = text.find("%", at + 2)
    if at < 0:
        raise CommandError(f"format {quote(text)} has no % directive")
    found = directive.match(text, at)
    assert found is not None
    if not found[found.re.groups]:
        raise CommandError(f"format {quote(text)} ends in %")
    return found


def check_rest(text: str, found: re.Match[str]) -> None:
    """Refuse a second directive."""
    if "%" in text[found.end() :].replace("%%", ""):
        raise CommandError(f"format {quote(text)} has too many % directives")
