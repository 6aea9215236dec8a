"""Scripts: files and texts run by a shell of their own (`sh FILE`, `bash -c`, ./x.sh)."""

from __future__ import annotations

import errno
import os

from agentsandbox.errors import CommandError, Killed, PipeClosed, ShellSyntaxError, Stopped
from agentsandbox.kernel.fs.shebang import is_binary
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.shell.builtins import find_builtin
from agentsandbox.shell.interpreter.ends import run_in_shell
from agentsandbox.shell.interpreter.options import OPTIONS, SHOPT_DEFAULTS
from agentsandbox.shell.interpreter.redirections import open_file
from agentsandbox.shell.interpreter.search import POSIX_SHELLS, find_on_path, skill_hint
from agentsandbox.shell.interpreter.shell import Shell
from agentsandbox.shell.interpreter.state import Invocation, Stops
from agentsandbox.shell.interpreter.texts import run_commands
from agentsandbox.shell.interpreter.traps import SignalHandler
from agentsandbox.shell.syntax.parser import Parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentsandbox.kernel.streams import Stream
    from agentsandbox.shell.interpreter.shell import Run


def child_shell(shell: Shell, environment: Mapping[str, str], name: str) -> Shell:
    """Return a shell as a new process of `bash` has it: with the environment and nothing else."""
    child = Shell(shell.machine, environment, shell.cwd, shell.fds, name)
    child.policy = shell.policy
    child.process.umask = shell.process.umask
    child.process.ceilings = shell.process.ceilings
    child.process.task = shell.process.task
    if shell.control.tail_depth == shell.budget.depth:
        pid, parent = shell.process.pid, shell.process.parent
    else:
        pid, parent = shell.machine.scheduler.new_pid(), shell.process.pid
    child.process.pid = child.process.top_pid = pid
    child.process.parent = child.process.top_parent = parent
    child.specials.last_argument = name
    child.traps.handlers = shell.traps.ignored()
    for option in environment.get("SHELLOPTS", "").split(":"):
        child.set_option(option, True)
    child.update_flags()
    return child


def expand_escapes(shell: Shell) -> None:
    """Make `echo` expand escapes, as Debian's `sh` does."""
    shell.options = shell.options.with_shopt("xpg_echo", True)


def run_script_text(
    shell: Shell,
    text: str,
    name: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    *,
    full_path: str = "",
    options: Sequence[str] = (),
    errexit: bool = False,
    start_file: bool = False,
    prepare: Callable[[Shell], None] | None = None,
) -> int:
    """Run the text of a script file in a shell of its own, `start_file` after that of BASH_ENV."""
    skill = shell.machine.skill_at(full_path) if full_path else None
    if skill is not None:
        environment = {
            **environment,
            "SKILL_ROOT": skill[0],
            "SKILL_NAME": skill[1],
            "CLAUDE_SKILL_DIR": skill[0],
        }
    child = child_shell(shell, environment, name)
    child.invocation = Invocation(name, name, name, tuple(arguments))
    child.stack.positional = list(arguments)
    if errexit:
        child.set_option("errexit", True)
        child.options = child.options.replace(errexit_is_default=True)
        child.control.stops = Stops(shell.fds.get(2))
    for option in options:
        _set_letters(child, option[1:])
    if prepare is not None:
        prepare(child)
    notify = shell.machine.on_skill_script
    if skill is not None and notify is not None:
        notify(skill[1], full_path)
    return run_child(shell, child, lambda inner: _run_script_commands(inner, text, start_file))


def _run_script_commands(shell: Shell, text: str, start_file: bool) -> int:
    """Run a script file; say so if it stops only because the sandbox sets errexit for files."""
    try:
        if start_file:
            from agentsandbox.shell.builtins.source import run_start_file

            run_start_file(shell)
        return run_commands(shell, text, main=True)
    except Stopped as end:
        if shell.options.errexit_is_default:
            from agentsandbox.shell.interpreter.stops import tell_stop

            tell_stop(shell, end, text)
        raise


def run_child(shell: Shell, child: Shell, run: Run) -> int:
    """Run a new shell on the caller's stack."""
    process = shell.machine.scheduler.current
    handler, process.on_signal = process.on_signal, SignalHandler(child, process.on_signal)
    table, process.descriptors = process.descriptors, None  # of the command that runs the shell
    try:
        return shell.budget.nested(lambda: run_in_shell(child, run))
    except PipeClosed:
        return 141
    except Killed as end:
        if end.target != child.process.pid or end.target == shell.process.pid:
            raise
        shell.control.killed = (end.signal, child.process.pid)
        return 128 + end.signal
    finally:
        process.on_signal, process.descriptors = handler, table
        child.variables.owner = None


def _set_letters(shell: Shell, letters: str, on: bool = True) -> None:
    for letter in letters:
        for name, (short, _) in OPTIONS.items():
            if short == letter:
                shell.set_option(name, on)


_LONG_OPTIONS = (
    "debug debugger dump-po-strings dump-strings help init-file login noediting noprofile norc"
    " posix pretty-print rcfile restricted verbose version"
).split()


def _usage(name: str) -> str:
    """Return the usage that follows the message about an unknown option."""
    lines = [
        f"Usage:\t{name} [GNU long option] [option] ...",
        f"\t{name} [GNU long option] [option] script-file ...",
        "GNU long options:",
    ]
    lines += [f"\t--{option}" for option in _LONG_OPTIONS]
    lines += [
        "Shell options:",
        "\t-ilrsD or -c command or -O shopt_option\t\t(invocation only)",
        "\t-abefhkmnptuvxBCEHPT or -o option",
    ]
    return "\n".join(lines) + "\n"


_IGNORED_LONG = frozenset(
    "--norc --noprofile --login --noediting --debugger --dump-strings --dump-po-strings".split()
)


class _CommandLine:
    """A command line of `bash` or `sh`.

    options      options of `set -o` with their values, and `shopts` those of `shopt`
    command      whether -c was given
    lists        whether -o had no argument, which prints the options
    read_input   whether -s was given
    arguments    the other words
    """

    def __init__(self, name: str, words: Sequence[str], environment: Mapping[str, str]) -> None:
        self.name = name
        self.environment = environment
        self.options: list[tuple[str, bool]] = []
        self.shopts: list[tuple[str, bool]] = []
        self.command = self.lists = self.read_input = False
        self.arguments = self._parse(words)

    @property
    def base_name(self) -> str:
        """The name without its directory: "sh", "bash" and so on."""
        return self.name.rpartition("/")[2]

    @property
    def has_start_file(self) -> bool:
        """Whether the shell begins with the file of BASH_ENV: `sh` does not."""
        return self.base_name not in POSIX_SHELLS

    def _parse(self, words: Sequence[str]) -> list[str]:
        """Read the options; return the words behind them."""
        position = 0
        only_long = True
        while position < len(words):
            word = words[position]
            if word in ("--", "-"):
                position += 1
                break
            if only_long and word[:1] == "-" and word[1:] in _LONG_OPTIONS:  # one dash will do
                word = f"-{word}"
            if word.startswith("--"):
                if word == "--posix":
                    self.options.append(("posix", True))
                elif word == "--verbose":
                    self.options.append(("verbose", True))
                elif word in ("--rcfile", "--init-file"):
                    position += 1
                elif word not in _IGNORED_LONG:
                    raise CommandError(f"{word}: invalid option", 2)
                position += 1
                continue
            if len(word) < 2 or word[0] not in "-+":
                break
            only_long = False
            on = word[0] == "-"
            position += 1
            for letter in word[1:]:
                if letter == "c":
                    self.command = True
                elif letter == "s" and on:
                    self.read_input = True
                elif letter in "il":
                    continue
                elif letter == "o" and position >= len(words):
                    self.lists = True
                elif letter in "oO":
                    if position >= len(words):
                        raise CommandError(f"-{letter}: option requires an argument", 2)
                    chosen = words[position]
                    if letter == "o" and chosen not in OPTIONS:
                        raise CommandError(f"line 0: bash: {chosen}: invalid option name", 2)
                    if letter == "O" and chosen not in SHOPT_DEFAULTS:
                        raise CommandError(f"line 0: {chosen}: invalid shell option name", 2)
                    (self.options if letter == "o" else self.shopts).append((chosen, on))
                    position += 1
                else:
                    option = next(
                        (full for full, (short, _) in OPTIONS.items() if short == letter), None
                    )
                    if option is None:
                        raise CommandError(f"{word[0]}{letter}: invalid option", 2)
                    self.options.append((option, on))
        return list(words[position:])

    def prepare(self, child: Shell) -> None:
        """Give a new shell the options."""
        if self.base_name in POSIX_SHELLS:
            expand_escapes(child)
        for option, on in self.options:
            child.set_option(option, on)
        for option, on in self.shopts:
            child.options = child.options.with_shopt(option, on)
        child.update_flags()
        if self.lists:
            show_options = find_builtin("set")
            assert show_options is not None
            show_options.call(child, ["set", "-o"])

    def run_text(self, shell: Shell) -> int:
        """Run the text of -c."""
        if not self.arguments:
            shell.write(f"{self.name}: -c: option requires an argument\n", 2)
            return 2
        text, *rest = self.arguments
        called = rest[0] if rest else self.name
        child = child_shell(shell, self.environment, called)
        child.invocation = Invocation(called, called, arguments=tuple(rest[1:]))
        child.stack.positional = rest[1:]
        child.values["BASH_EXECUTION_STRING"] = text
        self.prepare(child)

        def run(inner: Shell) -> int:
            if self.has_start_file:
                from agentsandbox.shell.builtins.source import run_start_file

                run_start_file(inner)
            return run_commands(inner, text, origin="-c: ", ends=True)

        return run_child(shell, child, run)

    def run_file(self, shell: Shell) -> int:
        """Run a script file, which may be a descriptor or a device."""
        shown = file = self.arguments[0]
        fs = shell.fs
        errexit = False
        try:
            path = shell.path(file)
            if path.startswith("/dev/"):
                stream = open_file(shell, path, "<")
                try:
                    content = stream.read()
                finally:
                    stream.release()
            else:
                is_posix = self.base_name in POSIX_SHELLS
                if not fs.exists(path) and "/" not in file and not is_posix:
                    where = shell.variables.get("PATH")
                    shown = find_on_path(shell, file, where, readable=True) or file
                    path = shell.path(shown)
                if fs.is_dir(path):
                    shell.write(f"{file}: {file}: Is a directory\n", 2)
                    return 126
                content = fs.read_bytes(path)
                if is_binary(content):
                    shell.write(f"{shown}: {shown}: cannot execute binary file\n", 2)
                    return 126
                content = content.replace(b"\0", b"")
                errexit = shell.machine.stops_at_errors(self.base_name == "sh")
        except OSError as error:
            return self._not_opened(shell, file, error)
        return run_script_text(
            shell,
            decode(content),
            file,
            self.arguments[1:],
            self.environment,
            full_path=path,
            errexit=errexit,
            start_file=self.has_start_file,
            prepare=self.prepare,
        )

    def _not_opened(self, shell: Shell, file: str, error: OSError) -> int:
        """Report a script that cannot be read, in the words of the shell; return the status."""
        is_missing = error.errno == errno.ENOENT
        if self.base_name == "dash" and is_missing:
            shell.write(f"{self.name}: 0: cannot open {file}: No such file\n", 2)
            return 2
        reason = os.strerror(error.errno or 5)
        if self.base_name == "sh" and is_missing:
            reason = "No such file"
        shell.write(f"{self.name}: {file}: {reason}\n", 2)
        hint = skill_hint(shell, file) if is_missing else None
        if hint:
            shell.write(f"{hint}\n", 2)
        if ("errexit", True) in self.options:
            return 1
        return 127 if is_missing else 126

    def run_input(self, shell: Shell) -> int:
        """Run commands from standard input, line by line because the commands may read from it."""
        stream = shell.fds.get(0)
        child = child_shell(shell, self.environment, self.name)
        child.invocation = Invocation(self.name, self.name, "main", tuple(self.arguments))
        child.stack.positional = self.arguments
        self.prepare(child)
        if stream is None or getattr(stream, "is_empty_terminal", False):
            if self.name == "sh" and not self.read_input:
                shell.write("sh: missing script path\n", 2)
                return 2
            return 0

        def run(inner: Shell) -> int:
            if self.has_start_file:
                from agentsandbox.shell.builtins.source import run_start_file

                run_start_file(inner)
            return _run_stream(inner)

        return run_child(shell, child, run)


def run_shell_command(shell: Shell, argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run `sh` or `bash` as a command: -c TEXT, FILE, -s or standard input."""
    name, *words = argv
    if "--version" in words[:1]:
        shell.write("GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n")
        return 0
    if "--help" in words[:1]:
        shell.write(
            f"Usage: {name} [-abefhkmnptuvxBCEHPT] [-o option] [-O option]"
            " [-c command | -s | file] [argument ...]\n"
        )
        return 0
    try:
        line = _CommandLine(name, words, environment)
    except CommandError as error:
        usage = _usage(name) if error.message.endswith(": invalid option") else ""
        shell.fds[2].write(encode(f"{name}: {error.message}\n{usage}"))
        return error.status
    if line.command:
        return line.run_text(shell)
    if line.arguments and not line.read_input:
        return line.run_file(shell)
    return line.run_input(shell)


def _run_stream(shell: Shell) -> int:
    """Run commands from standard input, which they may read from or replace.

    A command is read line by line until it is complete, and no further. While it is not, the lines
    ahead are looked at, twice as much each time, so that a command of many lines is not parsed once
    for each of them.
    """
    line = 1
    status = 0
    while True:
        stream = shell.fds.get(0)
        try:
            text, is_last = ("", True) if stream is None else _next_command_text(shell, stream)
        except OSError as error:
            reason = os.strerror(error.errno or errno.EIO)
            shell.write(f"{shell.invocation.called}: error reading input file: {reason}\n", 2)
            return 2
        if text:
            status = run_commands(shell, text, first_line=line, main=True)
            line += text.count("\n")
        if is_last:
            return status


def _next_command_text(shell: Shell, stream: Stream) -> tuple[str, bool]:
    """Read the lines of the next commands; return them, and whether they are the last."""
    text = ""
    while True:
        data = stream.readline()
        if not data:
            return text, True
        shell.budget.step()
        text += decode(data.replace(b"\0", b""))
        shell.budget.charge(len(text))
        end = _command_end(shell, text)
        ahead = b""
        while end is None and (ahead := _lines_ahead(stream, len(data) + len(text))):
            more = decode(ahead)
            shell.budget.charge(len(text) + len(more))
            end = _command_end(shell, text + more)
            if end is None:
                stream.read(len(ahead))
                text += more
            elif end >= 0:
                more = more[: end - len(text)]
                stream.read(len(encode(more)))
                return text + more, False
            else:
                stream.read(len(ahead))
                return text + more, True
        if end is not None:
            return text, end < 0


def _lines_ahead(stream: Stream, size: int) -> bytes:
    """Return whole lines that can be read at once, about `size` bytes; b"" where that is unknown.

    They are valid text without nulls, so that it is known how many bytes a part of them has.
    """
    ahead = stream.peek(size)
    ahead = ahead[: ahead.rfind(b"\n") + 1]
    return b"" if b"\0" in ahead else ahead


def _command_end(shell: Shell, text: str) -> int | None:
    """Return where the first complete command ends; None if it is incomplete, -1 for an error.

    Further commands on its last line belong to it.
    """
    if text.endswith("\\\n"):
        return None
    parser = Parser(text, extglob=shell.options.extglob, aliases=shell.active_aliases())
    parser.pairs_quotes = shell.options.reading[1]
    parser.meter = shell.budget
    try:
        if parser.next_command() is None:
            return len(text)
    except ShellSyntaxError as error:
        if (
            error.at_end
            or "unexpected end of file" in error.message
            or "unexpected EOF" in error.message
        ):
            return None
        return len(text) if error.in_array else -1
    if parser.warnings and parser.position >= len(parser.text):
        return None
    return len(text) - (len(parser.text) - parser.position)
