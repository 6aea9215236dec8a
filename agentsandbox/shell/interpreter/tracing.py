"""`set -x`: each command before it runs, quoted so that it could be run again."""

from __future__ import annotations

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.quoting import trace_quote
from agentsandbox.kernel.streams import encode_pieces
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.shell.interpreter.assignments import BoundAssignment
    from agentsandbox.shell.interpreter.shell import Shell


def trace_text(shell: Shell, text: str) -> None:
    """Write "+ text" to the trace descriptor; PS4's first character repeats for each level."""
    number = shell.variables.get("BASH_XTRACEFD")
    chosen = (
        int(number) if number and number.isdigit() and number.isascii() and len(number) < 10 else 2
    )
    stream = shell.fds.get(chosen) or shell.fds.get(2)
    if stream is None:
        return
    prefix = shell.variables.get("PS4")
    if prefix is None:
        prefix = "+ "
    if "$" in prefix or "`" in prefix or "\\" in prefix:
        options, shell.options = shell.options, shell.options.without("xtrace")
        status = shell.status
        try:
            prefix = shell.prompt(prefix)
        except ExpansionError as error:
            shell.complain(error.message)
            prefix = ""
        except LimitReached:  # the next call would spend its time on it as well
            options = options.without("xtrace")
            raise
        finally:
            shell.options = options
            shell.update_flags()
            shell.status = status
    if shell.control.trace_level and prefix:
        prefix = prefix[0] * shell.control.trace_level + prefix
    stream.write(encode_pieces(shell.budget.pieces(f"{prefix}{text}\n")))


def trace_words(
    shell: Shell, assignments: Sequence[BoundAssignment], argv: Sequence[str | BoundAssignment]
) -> None:
    """Trace a simple command: array literals before it, what `export` assigns behind it."""
    for assignment in assignments:
        trace_text(shell, assignment.text())
    words: list[str] = []
    arrays: list[str] = []
    scalars: list[str] = []
    for word in argv:
        if isinstance(word, str):
            words.append(trace_quote(shell.seen(word), shell.budget.pieces))
            name, equals, value = word.partition("=")
            if equals and is_name(name.removesuffix("+")):
                scalars.append(f"{name}={trace_quote(shell.seen(value)) if value else ''}")
        elif isinstance(word.value, list):
            arrays.append(word.elements_text())
            words.append(word.name)
        else:
            words.append(trace_quote(shell.seen(word.word())))
            scalars.append(word.text())
    named = next((word for word in words if word not in ("command", "builtin")), "")
    for text in (*arrays, " ".join(words), *(scalars if named in ("export", "readonly") else ())):
        trace_text(shell, text)
