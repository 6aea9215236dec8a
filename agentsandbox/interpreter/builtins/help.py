"""`help`: one line about every builtin, and the usage text of every command."""

from __future__ import annotations

from agentsandbox.interpreter.builtins import NAMES, define, find_builtin, parse_letters
from agentsandbox.patterns import compile_shell_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.interpreter.shell import Shell

_SUMMARIES = {
    ".": "Run the commands of a file in this shell.",
    ":": "Do nothing, successfully.",
    "[": "Evaluate a condition.",
    "alias": "Define or show aliases.",
    "bg": "Continue a job in the background.",
    "bind": "Set key bindings (there is no line editor in a sandbox).",
    "break": "Leave a loop.",
    "builtin": "Run a builtin, past any function of its name.",
    "caller": "Show where the current function was called.",
    "cd": "Change the working directory.",
    "command": "Run a command past any function of its name, or tell what it is.",
    "compgen": "Show possible completions.",
    "complete": "Say how arguments are completed.",
    "compopt": "Change the options of a completion.",
    "continue": "Go on with the next round of a loop.",
    "declare": "Set values and attributes of variables.",
    "dirs": "Show the directory stack.",
    "disown": "Forget a job.",
    "echo": "Write the arguments to standard output.",
    "enable": "Enable and disable builtins.",
    "eval": "Run the arguments as a command.",
    "exec": "Replace the shell by a command, or change its descriptors.",
    "exit": "End the shell.",
    "export": "Give variables to the commands that are run.",
    "false": "Do nothing, unsuccessfully.",
    "fc": "List the history.",
    "fg": "Continue a job in the foreground.",
    "getopts": "Parse options, one a call.",
    "hash": "Remember or show where commands are.",
    "help": "Show this.",
    "history": "Show the history.",
    "jobs": "Show background jobs.",
    "kill": "Send a signal to a job or process.",
    "let": "Evaluate arithmetic expressions.",
    "local": "Make variables local to a function.",
    "logout": "End a login shell.",
    "mapfile": "Read lines into an array.",
    "popd": "Go back to a directory of the stack.",
    "printf": "Write formatted output.",
    "pushd": "Put a directory on the stack and go there.",
    "pwd": "Show the working directory.",
    "read": "Read a line and split it into variables.",
    "readarray": "Read lines into an array.",
    "readonly": "Protect variables from change.",
    "return": "Return from a function.",
    "set": "Set shell options and positional parameters.",
    "shift": "Drop the first positional parameters.",
    "shopt": "Set bash's further options.",
    "source": "Run the commands of a file in this shell.",
    "suspend": "Stop the shell (not in a sandbox).",
    "test": "Evaluate a condition.",
    "times": "Show the time used.",
    "trap": "Run commands when a signal or an event comes.",
    "true": "Do nothing, successfully.",
    "type": "Tell what a name means.",
    "typeset": "Set values and attributes of variables.",
    "ulimit": "Show the limits of the sandbox.",
    "umask": "Show or set the mode mask of new files.",
    "unalias": "Remove aliases.",
    "unset": "Remove variables and functions.",
    "wait": "Wait for background jobs.",
}


@define("help", "help [-dms] [pattern ...]")
def help(shell: Shell, words: list[str]) -> int:
    options, position = parse_letters(words, "dms")
    patterns = words[position:]
    if not patterns:
        _print_all(shell)
        return 0
    status = 0
    for pattern in patterns:
        test = compile_shell_pattern(pattern)
        names = [pattern] if pattern in NAMES else [name for name in sorted(NAMES) if test.match(name) or name.startswith(pattern)]
        if names:
            for name in names:
                _print_one(shell, name, options)
            continue
        command = shell.machine.find_command(pattern)
        if command is None:
            shell.complain(f"help: no help topics match `{pattern}'.  Try `help help' or `man -k {pattern}' or `info {pattern}'.")
            status = 1
        elif "d" in options or "s" in options:
            shell.write(f"{pattern} - {command.summary}\n" if "d" in options else command.usage.partition("\n")[0] + "\n")
        else:
            shell.write(command.usage)
    return status


def _usage(name: str) -> str:
    found = find_builtin(name)
    return (found.usage if found is not None else "") or name


def _print_one(shell: Shell, name: str, options: dict[str, str]) -> None:
    summary = _SUMMARIES[name]
    if "d" in options:
        shell.write(f"{name} - {summary}\n")
    elif "s" in options:
        shell.write(f"{name}: {_usage(name)}\n")
    else:
        shell.write(f"{name}: {_usage(name)}\n    {summary}\n")


def _print_all(shell: Shell) -> None:
    shell.write("These commands are part of the shell; `help NAME' tells more about one.\n\n")
    for name in sorted(NAMES):
        shell.write(f"  {name:<10} {_SUMMARIES[name]}\n")
    shell.write("\nOther commands, each with --help:\n\n")
    line = " "
    for name in shell.machine.host.commands():
        if len(line) + len(name) > 78:
            shell.write(line + "\n")
            line = " "
        line += f" {name}"
    shell.write(line + "\n")
