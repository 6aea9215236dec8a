"""`exec`"""

from __future__ import annotations

import os

from agentsandbox.errors import CommandError, Exit
from agentsandbox.shell.builtins import UsageFailure, define, parse_letters
from agentsandbox.shell.interpreter.programs import refusal_of, run_file
from agentsandbox.shell.interpreter.search import locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


@define("exec", "exec [-cl] [-a name] [command [argument ...]] [redirection ...]")
def exec(shell: Shell, words: list[str]) -> int:
    """Replace the shell by a command, or change its descriptors."""
    try:
        status = _replace(shell, words)
    except UsageFailure:
        _keep_redirections(shell)
        raise
    _keep_redirections(shell)
    return status


def _replace(shell: Shell, words: list[str]) -> int:
    """Run the command in the place of the shell. Return a status only if the shell continues."""
    options, position = parse_letters(words, "cla:")
    argv = words[position:]
    if not argv:
        return 0
    refused = refusal_of(shell, argv)
    if refused is not None:
        raise Exit(refused)
    environment = {} if "c" in options else _environment(shell)
    located = locate(shell, argv[0])
    if located is None:
        is_dir = bool(argv[0]) and shell.fs.is_dir(shell.path(argv[0]))
        shell.complain(
            f"exec: {argv[0]}: {'cannot execute: Is a directory' if is_dir else 'not found'}"
        )
        status = 126 if is_dir else 127
        if not shell.options.shopt["execfail"] or shell.process.level:
            raise Exit(status)
        return status
    if not located.startswith("/"):
        located = f"{shell.cwd.rstrip('/')}/{located.removeprefix('./')}"
    name = options.get("a", argv[0])
    argv = [f"-{name}" if "l" in options else name, *argv[1:]]
    traps, shell.traps.handlers = shell.traps.handlers, shell.traps.ignored()
    shell.control.tail_depth = shell.budget.depth
    try:
        shell.fs.stat(shell.path(located))
        raise Exit(run_file(shell, located, argv, environment))
    except (CommandError, OSError) as error:
        status = _tell(shell, located, error)
    finally:
        shell.control.tail_depth = -1
    if not shell.options.shopt["execfail"] or shell.process.level:
        raise Exit(status)
    shell.traps.handlers = traps
    return status


def _environment(shell: Shell) -> dict[str, str]:
    """Return the environment of the command. SHLVL is one less, except in a subshell."""
    environment = dict(shell.variables.environment())
    level = environment.get("SHLVL", "")
    if not shell.process.level and level.isdigit() and level.isascii():
        environment["SHLVL"] = str(int(level[:9]) - 1)
    return environment


def _tell(shell: Shell, located: str, error: CommandError | OSError) -> int:
    """Report a file that cannot be executed; return the status."""
    if isinstance(error, OSError):
        shell.complain(f"{located}: {os.strerror(error.errno or 5)}")
        return 127 if error.errno == 2 else 126
    shell.complain(error.message)
    reason = error.message.removeprefix(f"{located}: ")
    if reason in (os.strerror(13), os.strerror(21)):
        shell.complain(f"exec: {located}: cannot execute: {reason}")
    return error.status


def _keep_redirections(shell: Shell) -> None:
    """Make the redirections of an `exec` without a command permanent."""
    shell.descriptors.keep = True
    owned = dict(shell.descriptors.owned)
    for number, stream in list(owned.items()):
        if shell.fds.get(number) is not stream:
            del owned[number]
            stream.release()
    for number, stream in shell.fds.items():
        if owned.get(number) is not stream and shell.descriptors.base.get(number) is not stream:
            stream.acquire()
            owned[number] = stream
    shell.descriptors.owned = owned
    if shell.descriptors.process_files:  # exec > >(…): the process lives as long as the descriptor
        kept = {id(stream) for stream in shell.fds.values()}
        for number, stream, process in shell.descriptors.process_files:
            if id(stream) in kept or number in shell.fds:
                shell.jobs.processes.setdefault(process.pid, process)
