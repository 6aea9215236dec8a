"""Commands in PATH: the sandbox's own tools, scripts by their first line, `sh` and `bash`."""

from __future__ import annotations

import errno
import os
import stat as stat_module

from agentsandbox.contract.command import prepared_context
from agentsandbox.errors import CommandError, Exit, Interrupted, Killed, PipeClosed
from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.fs.debian_tree import COMMAND_MARK, command_of
from agentsandbox.kernel.fs.shebang import is_binary, shebang_of
from agentsandbox.kernel.processes import SIGNALS
from agentsandbox.kernel.quoting import ansi_quote, needs_ansi
from agentsandbox.kernel.streams import Closed, Stream, decode, encode
from agentsandbox.shell.builtins import find_builtin
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.search import (
    DEFAULT_PATH,
    POSIX_SHELLS,
    SHELL_NAMES,
    locate,
    located_tool,
    remember_tool,
    skill_hint,
)
from agentsandbox.shell.interpreter.subshells import run_subshell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from agentsandbox.contract.command import Command
    from agentsandbox.kernel.processes import Process
    from agentsandbox.kernel.streams import ByteReader, ByteWriter
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
        return _not_found(shell, argv, shell.variables.get("PATH") if path is None else path)
    return run_file(shell, located, argv, environment)


def _not_found(shell: Shell, argv: Sequence[str], path: str | None) -> int:
    name = argv[0]
    handler = shell.definitions.functions.get("command_not_found_handle")
    if handler is not None:
        from agentsandbox.shell.interpreter.functions import call_function

        return run_subshell(
            shell, lambda child: call_function(child, handler, list(argv)), shell.fds
        )
    if name.startswith("%"):
        foreground = find_builtin("fg")
        assert foreground is not None
        return foreground.call(shell, ["fg", name])
    pieces = shell.budget.pieces
    if len(name) > LARGE:
        shell.budget.charge(4 * len(name))  # `$'\377'` for a byte
    shown = ansi_quote(name, pieces) if needs_ansi(name, pieces) else name
    if name and not path:
        shell.complain(f"{shown}: {os.strerror(2)}")
        return 127
    shell.complain(f"{shown}: command not found")
    from agentsandbox.shell.interpreter.suggestions import suggest

    hint = suggest(shell, name)
    if hint and shell.machine.hints:
        stream = shell.fds.get(2)
        if stream is not None:
            stream.write(encode(f"{hint}\n"))
    return 127


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
        try:
            content = _read_program(shell, path, full)
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
    return _run_script(shell, path, full, content, argv, environment)


def _read_program(shell: Shell, path: str, full: str) -> bytes:
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
        (_Children, (shell, environment, streams)),
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


class _Children:
    """The commands that a command runs: with its streams, environment and directory by default."""

    __slots__ = ("environment", "shell", "stderr", "stdin", "stdout")

    def __init__(
        self,
        shell: Shell,
        environment: Mapping[str, str],
        streams: tuple[ByteReader, ByteWriter, ByteWriter],
    ) -> None:
        self.shell = shell
        self.environment = environment
        self.stdin, self.stdout, self.stderr = streams

    def _prepare(
        self,
        stdin: ByteReader | None,
        stdout: ByteWriter | None,
        stderr: ByteWriter | None,
        env: Mapping[str, str] | None,
        cwd: str | None,
        ignoring: Collection[int] | None,
    ) -> Shell:
        child = self.shell.fork(subshell=True)
        if ignoring is None:
            child.traps.handlers = self.shell.traps.ignored()
        else:
            child.traps.handlers = {SIGNALS[number]: "" for number in ignoring}
        child.options = child.options.without("errexit")
        child.update_flags()
        fds: dict[int, Stream] = {**self.shell.fds}
        reader, writers = stdin or self.stdin, (stdout or self.stdout, stderr or self.stderr)
        fds[0] = reader if isinstance(reader, Stream) else _borrowed(reader=reader)
        for number, writer in enumerate(writers, 1):
            fds[number] = writer if isinstance(writer, Stream) else _borrowed(writer=writer)
        child.fds = fds
        if cwd is not None:
            child.cwd = cwd
        if env is not None:
            child.variables.assign("PATH", env.get("PATH", DEFAULT_PATH))
            child.specials.hashed = {}
        child.definitions = child.definitions.replace(functions={})
        return child

    def run(
        self,
        words: Sequence[str],
        *,
        stdin: ByteReader | None = None,
        stdout: ByteWriter | None = None,
        stderr: ByteWriter | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        ignoring: Collection[int] | None = None,
    ) -> int:
        """Run a command and return its status."""
        child = self._prepare(stdin, stdout, stderr, env, cwd, ignoring)
        process = child.machine.scheduler.current
        handler = process.on_signal
        if ignoring is not None:
            from agentsandbox.shell.interpreter.traps import SignalHandler

            process.on_signal = SignalHandler(child)
        environment = self.environment if env is None else env
        try:
            return child.budget.nested(lambda: _run_for_command(child, list(words), environment))
        finally:
            process.on_signal = handler
            child.variables.owner = None

    def start(
        self,
        words: Sequence[str],
        *,
        stdin: ByteReader | None = None,
        stdout: ByteWriter | None = None,
        stderr: ByteWriter | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        ignoring: Collection[int] | None = None,
        umask: int | None = None,
    ) -> Process:
        """Start a command as a process of its own."""
        child = self._prepare(stdin, stdout, stderr, env, cwd, ignoring)
        if umask is not None:
            child.process.umask = umask
        held = [stream for stream in child.fds.values() if isinstance(stream, Stream)]
        for stream in held:
            stream.acquire()

        def end() -> None:
            for stream in held:
                stream.release()

        scheduler = child.machine.scheduler
        environment = self.environment if env is None else env

        def body() -> int:
            try:
                return _run_for_command(child, list(words), environment)
            finally:
                end()

        name = words[0] if words else ""
        process = scheduler.start(body, name, child.process.pid, give_up=end)
        from agentsandbox.shell.interpreter.traps import SignalHandler

        process.on_signal = SignalHandler(child)
        child.process.task = process
        return process


def _borrowed(*, reader: ByteReader | None = None, writer: ByteWriter | None = None) -> Stream:
    from agentsandbox.kernel.borrowed import Borrowed

    return Borrowed(reader=reader, writer=writer)


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


def _run_script(
    shell: Shell,
    shown: str,
    full: str,
    content: bytes,
    argv: Sequence[str],
    environment: Mapping[str, str],
) -> int:
    """Run a file that is not ours: by its first line, its extension, or as a shell script."""
    line = shebang_of(content)
    if line is not None:
        return _run_interpreted(shell, line, shown, full, content, argv, environment)
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


_BY_EXTENSION = {"py": "python3", "js": "node", "rb": "ruby", "pl": "perl"}
_LETTERS = lazily(r"(?:-[abefhklmnptuvxBCEHPT]+)?")
"""What may stand behind the name of a shell: nothing, or options that are one letter each."""
