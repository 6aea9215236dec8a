"""The parts of a shell, for the modules below it: what special variables and prompts read."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from agentsandbox.kernel.streams import Stream
    from agentsandbox.shell.expansion.host import ExpansionHost
    from agentsandbox.shell.interpreter.machine import Machine
    from agentsandbox.shell.interpreter.options import Options
    from agentsandbox.shell.interpreter.state import (
        CallStack,
        Definitions,
        Invocation,
        ProcessState,
        SpecialState,
        Traps,
    )

    class ShellParts(ExpansionHost, Protocol):
        """A shell, as far as modules below `shell` know it."""

        machine: Machine
        options: Options
        invocation: Invocation
        definitions: Definitions
        traps: Traps
        fds: dict[int, Stream]
        stack: CallStack
        process: ProcessState
        specials: SpecialState
        directories: list[str]
