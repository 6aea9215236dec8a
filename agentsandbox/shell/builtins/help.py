"""`help`: a line about every builtin, and the usage text of every command."""

from __future__ import annotations

from agentsandbox.kernel.patterns.matchers import compile_shell_pattern
from agentsandbox.shell.builtins import NAMES, define, find_builtin, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("help", "help [-ds] [pattern ...]")
def help(shell: Shell, words: list[str]) -> int:
    """Show this."""
    options, position = parse_letters(words, "ds")
    patterns = words[position:]
    if not patterns:
        _print_all(shell)
        return 0
    found = False
    for pattern in patterns:
        names = _topics(pattern)
        if names:
            if any(character in pattern for character in "*?"):
                shell.write(f"Shell commands matching keyword `{pattern}'\n\n")
            for name in names:
                _print_one(shell, name, options)
            found = True
            continue
        command = shell.machine.find_command(pattern)
        if command is None:
            continue
        found = True
        if "d" in options or "s" in options:
            shell.write(
                f"{pattern} - {command.summary}\n"
                if "d" in options
                else command.usage.partition("\n")[0] + "\n"
            )
        else:
            shell.write(command.usage)
    if not found:
        last = patterns[-1]
        tries = f"Try `help help' or `man -k {last}' or `info {last}'."
        shell.complain(f"help: no help topics match `{last}'.  {tries}")
    return 0 if found else 1


def _topics(pattern: str) -> list[str]:
    """Return the builtins that a name, a prefix or a pattern means."""
    names = sorted(NAMES)
    if pattern in names:
        return [pattern]
    test = compile_shell_pattern(pattern)
    return [name for name in names if test.match(name)] or [
        name for name in names if name.startswith(pattern)
    ]


def _print_one(shell: Shell, name: str, options: dict[str, str]) -> None:
    builtin = find_builtin(name)
    assert builtin is not None
    usage = builtin.usage or name
    if "d" in options:
        shell.write(f"{name} - {builtin.summary}\n")
    elif "s" in options:
        shell.write(f"{name}: {usage}\n")
    else:
        shell.write(f"{name}: {usage}\n    {builtin.summary}\n")


def _print_all(shell: Shell) -> None:
    shell.write("These commands are part of the shell; `help NAME' tells more about one.\n\n")
    for name in sorted(NAMES):
        builtin = find_builtin(name)
        shell.write(f"  {name:<10} {builtin.summary if builtin is not None else ''}\n")
    shell.write("\nOther commands, each with --help:\n\n")
    line = " "
    for name in shell.machine.host.commands():
        if len(line) + len(name) > 78:
            shell.write(line + "\n")
            line = " "
        line += f" {name}"
    shell.write(line + "\n")
