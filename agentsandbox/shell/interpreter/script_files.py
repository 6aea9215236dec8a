"""Executable files that hold a script: its first line says what runs it, or its extension.

An interpreter is a program in its turn, so `programs` gives the functions that run one.
"""

from __future__ import annotations

import errno
import os
import stat as stat_module

from agentsandbox.errors import CommandError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.fs.debian_tree import command_of
from agentsandbox.kernel.fs.shebang import is_binary, shebang_of
from agentsandbox.kernel.streams import decode
from agentsandbox.shell.interpreter.search import POSIX_SHELLS, SHELL_NAMES, locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentsandbox.shell.interpreter.shell import Shell

    RunFile = Callable[[Shell, str, Sequence[str], Mapping[str, str]], int]
    RunWords = Callable[[Shell, Sequence[str], Mapping[str, str]], int]

_BY_EXTENSION = {"py": "python3", "js": "node", "rb": "ruby", "pl": "perl"}
_LETTERS = lazily(r"(?:-[abefhklmnptuvxBCEHPT]+)?")
"""What may follow the name of a shell in a `#!` line: nothing, or options of one letter each."""


def read_program(shell: Shell, path: str, full: str) -> bytes:
    """Return the content of an executable file, or raise `OSError` or `CommandError`."""
    fs = shell.fs
    info = fs.stat(full)
    if info.is_dir:
        raise CommandError(f"{path}: Is a directory", 126)
    executable = bool(info.mode & 0o111) and fs.access(full, 1)
    if not executable and shell.machine.skill_at(full) is None:
        raise CommandError(f"{path}: Permission denied", 126)
    if not stat_module.S_ISREG(info.mode):
        raise CommandError(f"{path}: Permission denied", 126)
    return fs.read_bytes(full)


def run_script_file(
    shell: Shell,
    shown: str,
    full: str,
    content: bytes,
    argv: Sequence[str],
    environment: Mapping[str, str],
    *,
    run_file: RunFile,
    run_external: RunWords,
) -> int:
    """Run a file that is not ours: by its first line, its extension, or as a shell script."""
    line = shebang_of(content)
    if line is not None:
        return _run_interpreted(shell, line, shown, full, content, argv, environment, run_file)
    if is_binary(content):
        raise CommandError(f"{shown}: cannot execute binary file: Exec format error", 126)
    language = _BY_EXTENSION.get(full.rpartition(".")[2] if "." in full.rpartition("/")[2] else "")
    if language is None:
        return _run_shell_script(shell, shown, full, content, argv, environment)
    if locate(shell, language) is None:
        return _no_interpreter(shell, shown, language)
    return run_external(shell, [language, shown, *argv[1:]], environment)


def _run_interpreted(
    shell: Shell,
    line: tuple[str, str],
    shown: str,
    full: str,
    content: bytes,
    argv: Sequence[str],
    environment: Mapping[str, str],
    run_file: RunFile,
) -> int:
    """Run a script whose first line names an interpreter: a shell directly, even after `env`."""
    interpreter, argument = line
    try:
        program = _program_at(shell, interpreter)
    except OSError as error:
        if error.errno == errno.ENOENT:
            return _no_interpreter(shell, shown, interpreter.rpartition("/")[2])
        reason = os.strerror(error.errno or errno.EIO)
        shell.write(f"{shell.error_name}: {shown}: {interpreter}: bad interpreter: {reason}\n", 2)
        return 126
    if program == "env" and argument in SHELL_NAMES and locate(shell, argument) is not None:
        program, argument = argument, ""
    if program in SHELL_NAMES and _LETTERS.fullmatch(argument):
        return _run_shell_script(
            shell, shown, full, content, argv, environment, options=argument, interpreter=program
        )
    words = (
        [interpreter, argument, shown, *argv[1:]] if argument else [interpreter, shown, *argv[1:]]
    )
    status = run_file(shell, interpreter, words, environment)
    if status == 127 and program == "env" and locate(shell, argument) is None:
        _hint_at(shell, argument)
    return status


def _run_shell_script(
    shell: Shell,
    shown: str,
    full: str,
    content: bytes,
    argv: Sequence[str],
    environment: Mapping[str, str],
    *,
    options: str = "",
    interpreter: str = "",
) -> int:
    """Run a script in a shell: the one that its first line names, if any (`interpreter`)."""
    posix = interpreter in POSIX_SHELLS
    if is_binary(content) and not posix:
        shell.write(f"{shown}: {shown}: cannot execute binary file\n", 2)
        return 126
    from agentsandbox.shell.interpreter.scripts import expand_escapes, run_script_text

    return run_script_text(
        shell,
        decode(content.replace(b"\0", b"")),
        shown,
        argv[1:],
        environment,
        full_path=full,
        options=[options] if options else [],
        start_file=not posix,
        errexit=shell.machine.stops_at_errors(interpreter in ("", "sh")),
        prepare=expand_escapes if posix else None,
    )


def _program_at(shell: Shell, path: str) -> str:
    """Return the name of our command at a path, "" for another executable file."""
    full = shell.path(path)
    info = shell.fs.stat(full)
    if not (stat_module.S_ISREG(info.mode) and info.mode & 0o111 and shell.fs.access(full, 1)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return command_of(shell.fs.read_bytes(full)) or ""


def _no_interpreter(shell: Shell, shown: str, name: str) -> int:
    """Report a script for a language that the sandbox does not have."""
    shell.complain(f"{shown}: cannot execute: required file not found")
    _hint_at(shell, name)
    return 127


def _hint_at(shell: Shell, name: str) -> None:
    from agentsandbox.shell.interpreter.suggestions import suggest

    hint = suggest(shell, name)
    if hint:
        shell.write(f"{hint}\n", 2)
