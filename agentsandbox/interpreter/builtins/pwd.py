"""`pwd`"""

from __future__ import annotations

from agentsandbox.interpreter.builtins import define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.interpreter.shell import Shell


@define("pwd", "pwd [-LP]")
def pwd(shell: Shell, words: list[str]) -> int:
    parse_letters(words, "LP")
    physical = shell.physical
    for word in words[1:]:
        if word.startswith("-"):
            for letter in word[1:]:
                physical = letter == "P" if letter in "LP" else physical
    shell.write((shell.fs.realpath(shell.cwd) if physical else shell.cwd) + "\n")
    return 0
