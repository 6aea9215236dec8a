"""`help`: one line about every builtin, and the usage text of every command."""

from __future__ import annotations

from agentsandbox.kernel.patterns.matchers import compile_shell_pattern
from agentsandbox.shell.builtins import NAMES, define, find_builtin, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell

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
    "ulimit": "Show or set the limits of the shell.",
    "umask": "Show or set the mode mask of new files.",
    "unalias": "Remove aliases.",
    "unset": "Remove variables and functions.",
    "wait": "Wait for background jobs.",
}


_GRAMMAR = {
    "%": ("job_spec [&]", "Continue a job in the foreground, with & in the background."),
    "(( ... ))": ("(( expression ))", "Evaluate arithmetic; 0 is false."),
    "[[ ... ]]": ("[[ expression ]]", "Evaluate a condition; words are not split in it."),
    "case": (
        "case WORD in [PATTERN [| PATTERN]...) COMMANDS ;;]... esac",
        "Run the commands of the first pattern that matches.",
    ),
    "coproc": (
        "coproc [NAME] command [redirections]",
        "Run a command in the background, its input and output in an array.",
    ),
    "for": ("for NAME [in WORDS ... ] ; do COMMANDS; done", "Run commands once for each word."),
    "for ((": (
        "for (( exp1; exp2; exp3 )); do COMMANDS; done",
        "Run commands while arithmetic says so.",
    ),
    "function": ("function name { COMMANDS ; } or name () { COMMANDS ; }", "Define a function."),
    "if": (
        "if COMMANDS; then COMMANDS; [ elif COMMANDS; then COMMANDS; ]... [ else COMMANDS; ] fi",
        "Run commands if others succeed.",
    ),
    "select": (
        "select NAME [in WORDS ... ;] do COMMANDS; done",
        "Run commands for words chosen from a menu.",
    ),
    "time": ("time [-p] pipeline", "Tell how long a pipeline took."),
    "until": ("until COMMANDS; do COMMANDS-2; done", "Run commands until others succeed."),
    "variables": ("variables - Names and meanings of some shell variables", "See `set`."),
    "while": ("while COMMANDS; do COMMANDS-2; done", "Run commands as long as others succeed."),
    "{ ... }": ("{ COMMANDS ; }", "Group commands."),
}
"""What is no builtin but has a help topic: usage and summary."""


@define("help", "help [-dms] [pattern ...]")
def help(shell: Shell, words: list[str]) -> int:
    options, position = parse_letters(words, "dms")
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
        shell.complain(
            f"help: no help topics match `{last}'.  Try `help help' or `man -k {last}' or `info {last}'."
        )
    return 0 if found else 1


def _topics(pattern: str) -> list[str]:
    """The topics that a name, the beginning of one or a pattern means."""
    topics = sorted((*NAMES, *_GRAMMAR))
    if pattern in topics:
        return [pattern]
    test = compile_shell_pattern(pattern)
    return [name for name in topics if test.match(name)] or [
        name for name in topics if name.startswith(pattern)
    ]


def _summary(name: str) -> str:
    return _GRAMMAR[name][1] if name in _GRAMMAR else _SUMMARIES[name]


def _usage(name: str) -> str:
    if name in _GRAMMAR:
        return _GRAMMAR[name][0]
    found = find_builtin(name)
    return (found.usage if found is not None else "") or name


def explain(shell: Shell, name: str) -> None:
    """What `NAME --help` and `help NAME` print."""
    shell.write(f"{name}: {_usage(name)}\n    {_summary(name)}\n")


def _print_one(shell: Shell, name: str, options: dict[str, str]) -> None:
    if "d" in options:
        shell.write(f"{name} - {_summary(name)}\n")
    elif "s" in options:
        shell.write(f"{name}: {_usage(name)}\n")
    elif "m" in options:
        summary = _summary(name)
        sections = (
            ("NAME", f"{name} - {summary}"),
            ("SYNOPSIS", _usage(name)),
            ("DESCRIPTION", summary),
            ("SEE ALSO", "bash(1)"),
        )
        shell.write("".join([f"{title}\n    {text}\n\n" for title, text in sections]))
    else:
        explain(shell, name)


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
