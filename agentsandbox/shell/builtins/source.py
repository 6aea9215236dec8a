"""`source`, `.` and `eval`: commands of a file or a text, run in this shell."""

from __future__ import annotations

import errno
import os

from agentsandbox.errors import CommandError, Return
from agentsandbox.kernel.fs.debian_tree import COMMAND_MARK
from agentsandbox.kernel.streams import decode
from agentsandbox.shell.builtins import SpecialFailed, UsageFailure, define, parse_letters
from agentsandbox.shell.builtins.shift import given
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.frames import Frame
from agentsandbox.shell.interpreter.redirections import open_file
from agentsandbox.shell.interpreter.texts import run_commands
from agentsandbox.shell.interpreter.traps import run_trap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("source", "source filename [arguments]")
def source(shell: Shell, words: list[str]) -> int:
    """Run the commands of a file in this shell."""
    _, position = parse_letters(words, "")
    if position >= len(words):
        raise UsageFailure("filename argument required")
    name, *arguments = words[position:]
    shown = _find(shell, name) if name else None
    path = None if shown is None else shell.path(shown)
    if path is None and shell.options.posix:
        shell.complain(f"{words[0]}: {name}: file not found")
        raise SpecialFailed(1)
    try:
        content = _read(shell, name, shown, path)
    except (CommandError, OSError) as error:
        return _refused(shell, f"{words[0]}: ", name, error)
    return _run(shell, name, arguments, content)


def run_start_file(shell: Shell) -> None:
    """Run the file that BASH_ENV names, as bash does before its own commands, if there is one."""
    given = shell.variables.get("BASH_ENV")
    if not given or shell.options.posix or shell.options.privileged:
        return
    name = shell.expand_text(given)
    if not name or not shell.fs.exists(shell.path(name)):
        return
    try:
        content = _read(shell, name, name, shell.path(name))
    except CommandError as error:
        shell.write(f"{shell.invocation.called}: {error.message}\n", 2)
        return
    except OSError as error:
        reason = os.strerror(error.errno or errno.EIO)
        shell.write(f"{shell.invocation.called}: {name}: {reason}\n", 2)
        return
    stops = shell.options.errexit
    if stops:
        shell.use_options(shell.options.replace(errexit=False))
    _run(shell, name, [], content)
    if stops:
        shell.use_options(shell.options.replace(errexit=True))


def _refused(shell: Shell, prefix: str, name: str, error: CommandError | OSError) -> int:
    """Report a file that cannot be read; return the status."""
    if isinstance(error, CommandError):
        shell.complain(f"{prefix}{error.message}")
    else:
        shell.complain(f"{name}: {os.strerror(error.errno or errno.EIO)}")
    if "RETURN" in shell.traps.handlers:
        run_trap(shell, "RETURN")
    if isinstance(error, CommandError):
        return error.status
    if shell.options.posix:
        raise SpecialFailed(1)
    if shell.options.errexit and not shell.control.ignore:  # the trap for ERR does not run
        raise shell.stopped(1)
    return 1


def _run(shell: Shell, name: str, arguments: list[str], content: bytes) -> int:
    """Run the commands of a file in this shell; `arguments` replace the positional parameters."""
    stack = shell.stack
    saved, line, recorded = stack.positional, shell.line, stack.recorded
    if arguments:
        stack.positional = arguments
    stack.frames.append(
        Frame("source", name, line, is_function=False, has_arguments=bool(arguments))
    )
    if arguments and shell.options.shopt["extdebug"]:
        stack.recorded = (*recorded, (len(stack.frames), tuple(arguments)))
    shell.control.trace_level += 1
    debug = None if shell.options.functrace else shell.traps.handlers.get("DEBUG")
    if debug is not None:  # without functrace it does not count in the file
        shell.traps.handlers = shell.traps.without("DEBUG")
        shell.update_flags()
    try:
        shell.budget.charge(len(content))
        text = decode(content.replace(b"\0", b""))
        try:
            status = shell.budget.nested(lambda: run_commands(shell, text))
        except Return:
            status = None
        if "RETURN" in shell.traps.handlers:
            run_trap(shell, "RETURN")
        return shell.status if status is None else status
    except ExpansionError as error:
        error.place = error.place or shell.error_prefix()
        raise
    finally:
        shell.control.trace_level -= 1
        stack.recorded = recorded
        if debug is not None:
            shell.traps.handlers = {"DEBUG": debug, **shell.traps.handlers}
            shell.update_flags()
        stack.frames.pop()
        shell.line = line
        if arguments and given(stack.positional) is arguments:  # `set` in the file lasts
            stack.positional = saved


def _read(shell: Shell, name: str, shown: str | None, path: str | None) -> bytes:
    """Return the content of the file. Raise `OSError` or `CommandError` if it cannot be sourced."""
    if path is None:
        raise FileNotFoundError(2, os.strerror(2))
    if not path.startswith("/dev/") and shell.fs.is_dir(path):
        raise CommandError(f"{name}: is a directory", 1)
    stream = open_file(shell, path, "<")
    try:
        content = stream.read()
    finally:
        stream.release()
    if content.startswith(COMMAND_MARK):
        raise CommandError(f"{shown}: cannot execute binary file", 126)
    return content


def _find(shell: Shell, name: str) -> str | None:
    """Return the path of the file. A name without a slash is searched in PATH first."""
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
    """Run the commands of a file in this shell."""
    return source.function(shell, words)


@define("eval", "eval [arg ...]")
def eval(shell: Shell, words: list[str]) -> int:
    """Run the arguments as a command."""
    _, position = parse_letters(words[:2], "")
    text = " ".join(words[position:])
    if not text.strip():
        return 0
    shell.budget.charge(len(text))
    shell.control.trace_level += 1
    line = shell.line
    try:
        status = shell.budget.nested(
            lambda: run_commands(shell, text, first_line=line, origin="eval: ")
        )
    finally:
        shell.control.trace_level -= 1
        shell.line = line
    return status
