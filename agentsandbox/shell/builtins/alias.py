"""`alias` and `unalias`"""

from __future__ import annotations

from agentsandbox.kernel.quoting import single_quote
from agentsandbox.shell.builtins import define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("alias", "alias [-p] [name[=value] ... ]")
def alias(shell: Shell, words: list[str]) -> int:
    """Define or show aliases."""
    options, position = parse_letters(words, "p")
    definitions = shell.definitions
    if "p" in options or position >= len(words):
        for name, value in sorted(definitions.aliases.items()):
            shell.write(f"alias {name}={single_quote(value)}\n")
        if not definitions.aliases:
            return 0
    status = 0
    for word in words[position:]:
        name, equals, value = word.partition("=")
        if equals and name:
            if any(char in name for char in " \t\n/$`=|&;()<>'\""):
                shell.complain(f"alias: `{name}': invalid alias name")
                status = 1
                continue
            definitions = shell.definitions = definitions.replace(
                aliases={**definitions.aliases, name: value}
            )
        elif word in definitions.aliases:
            shell.write(f"alias {word}={single_quote(definitions.aliases[word])}\n")
        else:
            shell.complain(f"alias: {word}: not found")
            status = 1
    return status


@define("unalias", "unalias [-a] name [name ...]")
def unalias(shell: Shell, words: list[str]) -> int:
    """Remove aliases."""
    options, position = parse_letters(words, "a")
    if "a" in options:
        shell.definitions = shell.definitions.replace(aliases={})
        return 0
    if position >= len(words):
        shell.write("unalias: usage: unalias [-a] name [name ...]\n", 2)
        return 2
    status = 0
    aliases = dict(shell.definitions.aliases)
    for name in words[position:]:
        if aliases.pop(name, None) is None:
            shell.complain(f"unalias: {name}: not found")
            status = 1
    shell.definitions = shell.definitions.replace(aliases=aliases)
    return status
