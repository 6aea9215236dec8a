"""Commands in PATH: the sandbox's own tools, scripts by their first line, `sh` and `bash`."""

from __future__ import annotations

import os

from agentsandbox.contract.command import prepared_context
from agentsandbox.errors import CommandError, Exit, Interrupted, Killed, PipeClosed
from agentsandbox.kernel.fs.debian_tree import COMMAND_MARK, command_of
from agentsandbox.kernel.streams import Closed, encode
from agentsandbox.shell.builtins import find_builtin
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.search import (
    SHELL_NAMES,
    locate,
    located_tool,
    remember_tool,
    skill_hint,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentsandbox.contract.command import Command
    from agentsandbox.kernel.streams import ByteReader, ByteWriter
    from agentsandbox.shell.interpreter.children import Children
    from agentsandbox.shell.interpreter.shell import Shell


def run_external(
    shell: Shell,
    argv: Sequence[str],
    environment: Mapping[str, str],
    *,
    path: str | None = None,
    size: int | None = None,
) -> int:
    """Run a command that is neither function nor builtin.

    size  the characters of the environment's names and values at most, if known
    """
    name = argv[0]
    budget = shell.budget
    budget.left -= 1
    if budget.left < 0:
        budget.tick()
    if "/" not in name:
        own = shell.machine.commands.get(name)
        if own is None and path is None:
            own = located_tool(shell, name)
            if own is not None and _is_too_long(argv, environment, size):
                own = None
        if own is not None:
            return run_tool(shell, own, argv, environment, sum(map(len, argv)))
    located = locate(shell, name, path) if name else None
    if located is None:
        from agentsandbox.shell.interpreter.unknown_commands import not_found

        return not_found(shell, argv, shell.variables.get("PATH") if path is None else path)
    return run_file(shell, located, argv, environment)


def run_file(shell: Shell, path: str, argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the file at a path by what it holds: one of our commands, or a script."""
    full = shell.path(path)
    fs = shell.fs
    if full.startswith("/dev/fd/") and any(
        f"/dev/fd/{number}" == full for number, _, _ in shell.descriptors.process_files
    ):
        raise CommandError(f"{path}: Permission denied", 126)
    content = fs.program(full)
    if content is None:
        from agentsandbox.shell.interpreter.script_files import read_program

        try:
            content = read_program(shell, path, full)
        except OSError as error:
            status = 127 if error.errno == 2 else 126
            if error.errno == 2 and "/" in argv[0]:
                hint = skill_hint(shell, path)
                shell.complain(f"{path}: {os.strerror(2)}")
                if hint and 2 in shell.fds:
                    shell.fds[2].write(encode(f"{hint}\n"))
                return status
            raise CommandError(f"{path}: {os.strerror(error.errno or 5)}", status) from None
    if _is_too_long(argv, environment):
        raise CommandError(f"{path}: {os.strerror(7)}", 126)
    if content.startswith(COMMAND_MARK):
        name = command_of(content) or ""
        if name in SHELL_NAMES:
            from agentsandbox.shell.interpreter.scripts import run_shell_command

            return run_shell_command(shell, argv, environment)
        tool = shell.machine.find_command(name)
        if tool is None:
            return _run_builtin_tool(shell, name, argv, environment)
        if path == f"/usr/bin/{name}":
            remember_tool(shell, path, tool)
        return run_tool(shell, tool, argv, environment, sum(map(len, argv)))
    from agentsandbox.shell.interpreter.script_files import run_script_file

    return run_script_file(
        shell, path, full, content, argv, environment, run_file=run_file, run_external=run_external
    )


LONGEST_WORD = 131_072
"""Bytes of one argument or variable with the zero behind it: what Linux passes on to a program."""
LONGEST_LIST = 2_097_152
"""Bytes of all of them, each with a pointer to it."""
SHORT_LIST = LONGEST_WORD // 4
"""Fewer characters than this are never too long, however they are encoded."""


def _is_too_long(
    argv: Sequence[str], environment: Mapping[str, str], size: int | None = None
) -> bool:
    """Whether these words and variables exceed what Linux passes to a program."""
    if size is None:
        size = sum(map(len, (*environment, *environment.values())))
    if size + sum(map(len, argv)) < SHORT_LIST:
        return False
    words, values = sum(map(len, argv)), sum(map(len, environment.values()))
    if max(map(len, argv)) >= LONGEST_WORD or words + values > LONGEST_LIST:
        return True
    sizes = [len(encode(word)) + 1 for word in argv]
    sizes += [len(encode(name)) + len(encode(value)) + 2 for name, value in environment.items()]
    return max(sizes) > LONGEST_WORD or sum(sizes) + 8 * len(sizes) > LONGEST_LIST


def _run_builtin_tool(
    shell: Shell, name: str, argv: Sequence[str], environment: Mapping[str, str]
) -> int:
    """Run /usr/bin/[ and other files whose command is a builtin of the shell."""
    builtin = find_builtin(name)
    if builtin is None:
        raise CommandError(f"{argv[0]}: command not found", 127)
    del environment
    from agentsandbox.shell.interpreter.subshells import run_subshell

    return run_subshell(shell, lambda child: builtin.call(child, [name, *argv[1:]]), shell.fds)


def run_tool(
    shell: Shell, tool: Command, argv: Sequence[str], environment: Mapping[str, str], length: int
) -> int:
    """Run one of our commands; its words have `length` characters."""
    if shell.policy is not None and argv[0] != tool.name:  # called by a path or a link
        refused = refusal_of(shell, [tool.name, *argv[1:]])
        if refused is not None:
            return refused
    budget = shell.budget
    budget.left -= 1 + (length >> 3)  # its work may grow with its words
    if budget.left < 0:
        budget.tick()
    fds = shell.fds
    machine = shell.machine
    streams = fds.get(0) or Closed(), fds.get(1) or Closed(), fds.get(2) or Closed()
    context = prepared_context(
        argv[0],
        argv[1:],
        streams,
        machine.fs,
        shell.cwd,
        environment,
        budget,
        (_children, (shell, environment, streams)),
        machine.host,
        shell.process.umask,
    )
    process = machine.scheduler.current
    table, process.descriptors = process.descriptors, fds
    try:
        return tool.run(context) & 255
    except PipeClosed:
        return 141
    except Interrupted as end:
        return 128 + end.signal
    except OSError:  # even the report of an error could not be written
        return 1
    finally:
        process.descriptors = table


def _children(
    shell: Shell,
    environment: Mapping[str, str],
    streams: tuple[ByteReader, ByteWriter, ByteWriter],
) -> Children:
    """Return what runs the commands that a command runs."""
    from agentsandbox.shell.interpreter.children import Children

    return Children(shell, environment, streams, _run_for_command)


def refusal_of(shell: Shell, argv: Sequence[str]) -> int | None:
    """Report why the policy refuses a command and return its status; None if it is allowed."""
    message = None if shell.policy is None else shell.policy(shell, argv, shell.line)
    if message is None:
        return None
    shell.complain(f"{argv[0]}: {message}")
    return 126


def _run_for_command(child: Shell, argv: list[str], environment: Mapping[str, str]) -> int:
    """Run on behalf of a command, which words "not found" and "not executable" itself."""
    refused = refusal_of(child, argv)
    if refused is not None:
        return refused
    child.control.tail_depth = child.budget.depth
    try:
        return run_external(child, argv, environment)
    except CommandError as error:
        child.fds[2].write(encode(f"{error.message}\n"))
        return error.status
    except ExpansionError as error:
        child.complain(error.message)
        return error.status
    except Exit as end:
        return end.status
    except PipeClosed:
        return 141
    except Killed as end:
        if end.target != child.process.pid:
            raise
        return 128 + end.signal
