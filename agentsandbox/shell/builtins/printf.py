"""`printf`"""

from __future__ import annotations

import os

from agentsandbox.errors import CommandError
from agentsandbox.kernel.formats.printf import compile_format
from agentsandbox.kernel.formats.rendering import Rendering
from agentsandbox.kernel.streams import decode
from agentsandbox.shell.builtins import UsageFailure, define
from agentsandbox.shell.expansion.errors import BAD_SUBSCRIPT, ExpansionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("printf", "printf [-v var] format [arguments]")
def printf(shell: Shell, words: list[str]) -> int:
    """Write formatted output."""
    position = 1
    variable = None
    while position < len(words) and words[position].startswith("-v"):
        variable = words[position][2:]
        position += 1
        if not variable:
            if position >= len(words):
                raise UsageFailure("-v: option requires an argument")
            variable = words[position]
            position += 1
        _check(shell, variable)
    if position < len(words) and words[position] == "--":
        position += 1
    elif position < len(words) and words[position].startswith("-") and len(words[position]) > 1:
        raise UsageFailure(f"{words[position][:2]}: invalid option")
    if position >= len(words):
        shell.write("printf: usage: printf [-v var] format [arguments]\n", 2)
        return 2
    host = shell.machine.host

    def assign(name: str, count: int) -> None:
        shell.variables.assign(name, count)

    def warn(message: str) -> None:
        stream = shell.fds.get(1)
        # whole lines come before the complaint, as from a line buffer
        if variable is None and stream is not None:
            written = b"".join(rendering.output)
            end = written.rfind(b"\n") + 1
            stream.write(written[:end])
            rendering.output[:] = [written[end:]]
        shell.complain(f"printf: {message}")

    rendering = Rendering(
        compile_format(words[position], shell.budget),
        words[position + 1 :],
        warn,
        shell.budget,
        now=host.clock(),
        started=host.started,
        zone=shell.variables.get("TZ") or "UTC0",
        assign=assign,
        in_bytes=shell.variables.bytewise,
    )
    output, status = rendering.run()
    if variable is None:
        stream = shell.fds.get(1)
        if stream is None:
            raise OSError(9, os.strerror(9))
        if output:
            stream.write(output)
        return status
    _assign(shell, variable, decode(output.partition(b"\0")[0]))
    return status


def _check(shell: Shell, variable: str) -> None:
    if shell.reference(variable) is None:
        raise CommandError(f"`{variable}': not a valid identifier", 2)


def _assign(shell: Shell, variable: str, text: str) -> None:
    try:
        if "[" in variable:
            shell.variables.assign_element(*shell.element_key(variable), text)
        else:
            shell.variables.assign(variable, text)
    except ExpansionError as error:
        if error.readonly or error.message.endswith(BAD_SUBSCRIPT):
            raise ExpansionError(error.message, fatal=False, readonly=error.readonly) from None
        raise
