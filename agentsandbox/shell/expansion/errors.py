"""What an expansion can fail with."""

from __future__ import annotations

BAD_SUBSCRIPT = ": bad array subscript"
"""How the message ends for an element that an array cannot have."""


class ExpansionError(Exception):
    """A word, an assignment or an expression cannot be expanded; the message follows "name: line N:
    ".

    fatal     ends a shell that reads a script, as bash does for `${x?}`, unset variables under -u
              and bad arithmetic
    readonly  an assignment to a readonly variable
    ends      ends what `eval`, `source` and -c read as well: bad arithmetic in a subscript or a
              variable with the integer attribute
    named     after the builtin at work, if there is one: "read: …"
    number    of an arithmetic expression: the next line runs even under `set -e`
    place     the function or sourced file it happened in, as messages begin, once that has been
              left
    """

    place: str | None = None
    ends = False
    named = False

    def __init__(
        self, message: str, *, fatal: bool = True, readonly: bool = False, status: int = 1
    ) -> None:
        self.message = message
        self.fatal = fatal
        self.readonly = readonly
        self.status = status
        self.number = "(error token is" in message
        super().__init__(message)


def unbound(shown: str) -> ExpansionError:
    """The error of `set -u`."""
    return ExpansionError(f"{shown}: unbound variable", status=127)
