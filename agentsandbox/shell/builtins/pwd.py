"""`pwd`"""

from __future__ import annotations

from agentsandbox.shell.builtins import define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("pwd", "pwd [-LP]")
def pwd(shell: Shell, words: list[str]) -> int:
    parse_letters(words, "LP")
    physical = shell.options.physical
    for word in words[1:]:
        if word.startswith("-"):
            for letter in word[1:]:
                physical = letter == "P" if letter in "LP" else physical
    here = shell.cwd
    if physical:
        here = shell.fs.realpath(here)
        if shell.cwd.startswith(
            "//"
        ):  # POSIX leaves the meaning of two slashes open, and bash keeps them
            here = "/" + here
    shell.write(here + "\n")
    return 0
