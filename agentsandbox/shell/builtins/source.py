"""`source` and `.`"""

from __future__ import annotations

import os

from agentsandbox.errors import CommandError, Exit, Return
from agentsandbox.kernel.fs.debian_tree import COMMAND_MARK
from agentsandbox.kernel.streams import decode
from agentsandbox.shell.builtins import UsageFailure, define, parse_letters
from agentsandbox.shell.builtins.shift import given
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.state import Frame
from agentsandbox.shell.interpreter.texts import run_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("source", "source filename [arguments]")
def source(shell: Shell, words: list[str]) -> int:
    _, position = parse_letters(words, "")
    if position >= len(words):
        raise UsageFailure("filename argument required")
    name, *arguments = words[position:]
    shown = _find(shell, name) if name else None
    path = None if shown is None else shell.path(shown)
    if path is None and shell.options.posix:
        shell.complain(f"{words[0]}: {name}: file not found")
        raise Exit(1)
    try:
        if path is None:
            raise FileNotFoundError(2, os.strerror(2))
        special = path.startswith("/dev/")
        if not special and shell.fs.is_dir(path):
            raise CommandError(f"{name}: is a directory", 1)
        content = _read(shell, path)
        if content.startswith(COMMAND_MARK):
            raise CommandError(f"{shown}: cannot execute binary file", 126)
    except (CommandError, OSError) as error:
        shell.complain(
            f"{words[0]}: {error.message}"
            if isinstance(error, CommandError)
            else f"{name}: {os.strerror(error.errno or 5)}"
        )
        if "RETURN" in shell.traps.handlers:
            _trap(shell)
        status = error.status if isinstance(error, CommandError) else 1
        if (
            isinstance(error, OSError) and shell.options.errexit and not shell.control.ignore
        ):  # at once: the trap for ERR does not run
            raise Exit(status) from None
        return status
    saved = shell.stack.positional
    if arguments:
        shell.stack.positional = arguments
    shell.stack.frames.append(
        Frame("source", name, shell.line, is_function=False, has_arguments=bool(arguments))
    )
    line = shell.line
    recorded = shell.stack.recorded
    if arguments and shell.options.shopt["extdebug"]:
        shell.stack.recorded = (*recorded, (len(shell.stack.frames), tuple(arguments)))
    shell.control.trace_level += 1
    debug = None if shell.options.functrace else shell.traps.handlers.get("DEBUG")
    if debug is not None:  # without functrace it does not count in the file
        shell.traps.handlers = shell.traps.without("DEBUG")
        shell.update_flags()
    try:
        shell.budget.charge(len(content))
        status = shell.budget.nested(
            lambda: run_commands(shell, decode(content.replace(b"\0", b"")))
        )
        if shell.traps.handlers and "RETURN" in shell.traps.handlers:
            _trap(shell)
        return status
    except Return:
        if shell.traps.handlers and "RETURN" in shell.traps.handlers:
            _trap(shell)
        return shell.status
    except ExpansionError as error:
        error.place = error.place or shell.error_prefix()
        raise
    finally:
        shell.control.trace_level -= 1
        shell.stack.recorded = recorded
        if debug is not None:
            shell.traps.handlers = {"DEBUG": debug, **shell.traps.handlers}
            shell.update_flags()
        shell.stack.frames.pop()
        shell.line = line
        if arguments and given(shell.stack.positional) is arguments:  # `set` in the file lasts
            shell.stack.positional = saved


def _trap(shell: Shell) -> None:
    from agentsandbox.shell.interpreter.traps import run_trap

    run_trap(shell, "RETURN")


def _read(shell: Shell, path: str) -> bytes:
    from agentsandbox.shell.interpreter.redirections import open_file

    stream = open_file(shell, path, "<")
    try:
        return stream.read()
    finally:
        stream.release()


def _find(shell: Shell, name: str) -> str | None:
    """Where the file is: a name without a slash is looked for in PATH, then in the working
    directory.
    """
    if "/" in name:
        return name
    if shell.options.shopt["sourcepath"]:
        path = shell.variables.get("PATH")
        for directory in path.split(":") if path else ():
            candidate = f"{directory or '.'}/{name}"
            if shell.fs.is_file(shell.path(candidate)):
                return candidate
    if shell.options.posix:
        return None
    return name if shell.fs.exists(shell.path(name)) else None


@define(".", ". filename [arguments]")
def dot(shell: Shell, words: list[str]) -> int:
    return source.function(shell, words)
