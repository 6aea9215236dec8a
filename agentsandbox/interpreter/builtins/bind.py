"""`bind`: there is no line editor in a sandbox."""

from __future__ import annotations

from agentsandbox.interpreter.builtins import define

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.interpreter.shell import Shell


@define("bind", "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [keyseq:readline-function]")
def bind(shell: Shell, words: list[str]) -> int:
    del words
    shell.complain("bind: warning: line editing not enabled")
    return 0
