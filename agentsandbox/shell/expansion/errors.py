"""What an expansion can fail with."""

from __future__ import annotations

BAD_SUBSCRIPT = ": bad array subscript"
"""How the message ends for an element that an array cannot have."""


class ExpansionError(Exception):
    """A word, an assignment or an expression cannot be expanded. `message` follows "name: line N:
    ".

    fatal     ends a shell that reads a script, as in bash for `${x?}`, unset variables under -u and
              bad arithmetic
    readonly  an assignment to a readonly variable
    ends      ends also what `eval`, `source` and -c read: bad arithmetic in a subscript or in a
              variable with the integer attribute
    named     the message begins with the name of the running builtin: "read: …"
    number    an arithmetic expression: the next line runs even under `set -e`
    place     the prefix of messages of the function or file where it happened, once that was left
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
