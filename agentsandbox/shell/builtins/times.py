"""`times`"""

from __future__ import annotations

from agentsandbox.shell.builtins import define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("times", "times")
def times(shell: Shell, words: list[str]) -> int:
    """Show the time used."""
    from time import thread_time

    parse_letters(words, "")
    seconds = max(0.0, thread_time() - shell.machine.cpu_base)
    shown = f"{int(seconds // 60)}m{seconds % 60:.3f}s"
    shell.write(f"{shown} 0m0.000s\n0m0.000s 0m0.000s\n")
    return 0
