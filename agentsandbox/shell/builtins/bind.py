"""`bind`: there is no line editor in a sandbox."""

from __future__ import annotations

from agentsandbox.shell.builtins import define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define(
    "bind",
    "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] "
    "[keyseq:readline-function or readline-command]",
)
def bind(shell: Shell, words: list[str]) -> int:
    shell.complain("bind: warning: line editing not enabled")
    parse_letters(words, "lpsvPSVXm:f:q:u:r:x:")
    return 0
