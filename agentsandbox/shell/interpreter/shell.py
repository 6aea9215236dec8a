"""A shell: its parts, how it is copied, and what words, commands and builtins ask of it."""

from __future__ import annotations

import os
import posixpath

from agentsandbox.errors import ShellSyntaxError, Stopped
from agentsandbox.kernel.budget import PIECE
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import Stream, bytewise, encode, encode_pieces
from agentsandbox.shell.expansion.variables import EXPORT, UNSET, Variables, is_name
from agentsandbox.shell.interpreter.options import DEFAULT_OPTIONS, OPTIONS
from agentsandbox.shell.interpreter.special_variables import (
    NOTHING_RUN,
    READERS,
    SPECIAL_ATTRIBUTES,
    WRITERS,
)
from agentsandbox.shell.interpreter.state import (
    DERIVED,
    HOST,
    KEPT,
    NO_DEFINITIONS,
    NONE_OWNED,
    NOWHERE,
    RUNNING,
    UNSEEDED,
    CallStack,
    Control,
    Descriptors,
    Invocation,
    JobTable,
    ProcessState,
    SpecialState,
    Traps,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import ClassVar, TypeVar

    from agentsandbox.kernel.accounts import Scale
    from agentsandbox.shell.expansion.errors import ExpansionError
    from agentsandbox.shell.interpreter.machine import Machine
    from agentsandbox.shell.interpreter.options import Options

    T = TypeVar("T")
    Run = Callable[["Shell"], int]
    Policy = Callable[["Shell", Sequence[str], int], str | None]


class Shell:
    """One shell: the main one, a subshell, or a script's. `state` explains its parts and the kinds
    of slots.

    machine       everything that all shells of the sandbox share
    fs, budget    those of the machine, for speed
    policy        asked before each simple command here and in all that this shell starts: None
                  allows it, a text denies it
    options       options of `set -o` and `shopt`; replaced, never changed
    invocation    how it was started: $0, the beginning of messages; replaced, never changed
    variables     variables, attributes and scopes
    values        those of `variables`, for speed, as are `attributes`
    definitions   functions, aliases and so on; replaced, never changed
    traps         traps and pending signals
    fds           the table of descriptors; replaced, never changed
    descriptors   which of the descriptors this shell owns
    stack         running functions and files, positional parameters
    control       loops, conditions and substitutions around the command
    process       pid, umask, resource limits
    jobs          background jobs
    specials      RANDOM, SECONDS, OPTIND, $_ and so on
    cwd           the working directory; `directories` are the others on the stack of `pushd`
    status        $?
    line          LINENO
    slots         words of the running text that are not in its tree (`shapes`)
    check         whether failures need a look: errexit, or a trap for ERR
    slow          whether every command needs a look: xtrace, a DEBUG trap, a policy and so on
    """

    SLOTS: ClassVar[Mapping[str, str]] = {
        "machine": HOST,
        "fs": HOST,
        "budget": HOST,
        "policy": HOST,
        "options": KEPT,
        "invocation": KEPT,
        "variables": KEPT,
        "definitions": KEPT,
        "traps": KEPT,
        "fds": KEPT,
        "descriptors": KEPT,
        "stack": KEPT,
        "control": RUNNING,
        "process": KEPT,
        "jobs": KEPT,
        "specials": KEPT,
        "cwd": KEPT,
        "directories": KEPT,
        "status": KEPT,
        "line": RUNNING,
        "slots": RUNNING,
        "values": DERIVED,
        "attributes": DERIVED,
        "check": DERIVED,
        "slow": DERIVED,
    }
    __slots__ = tuple(SLOTS)

    def __init__(
        self,
        machine: Machine,
        environment: Mapping[str, str],
        cwd: str,
        fds: dict[int, Stream],
        name: str = "bash",
    ) -> None:
        self.machine = machine
        self.fs = machine.fs
        self.budget = machine.budget
        self.policy: Policy | None = None
        self.options: Options = DEFAULT_OPTIONS
        self.invocation = Invocation(name)
        self.definitions = NO_DEFINITIONS
        self.traps = Traps()
        self.fds = fds
        self.descriptors = Descriptors(fds)
        self.stack = CallStack()
        self.control = Control()
        self.process = ProcessState(machine.scheduler.main)
        self.jobs = JobTable()
        self.specials = SpecialState(machine.host.time_at_start(), name)
        self.cwd = cwd
        self.directories: list[str] = []
        self.status: int = NOTHING_RUN
        self.line = 1
        self.slots: Sequence[str] = ()
        self.variables = Variables(machine.budget.value_bytes, self, READERS, WRITERS)
        self.values = self.variables.values
        self.attributes = self.variables.attributes
        self._initial_variables(environment)
        self.variables.choose_locale()
        self.update_flags()

    def weigh(self, scale: Scale) -> None:
        """Put everything that this shell holds on the scale of the memory limit."""
        scale.add(self.values)
        for scope in self.variables.scopes:
            scale.add(scope)
        for _, temporary in self.variables.temporary:
            scale.add(temporary)
        scale.add(self.stack.positional)
        for arguments in self.stack.outer:
            scale.add(arguments)
        scale.add(self.stack.recorded)
        scale.add(self.invocation.arguments)
        scale.add(self.traps.handlers)
        scale.add(self.traps.outer)
        scale.add(self.specials.hashed)
        scale.add(self.directories)
        scale.add(self.definitions.aliases)
        scale.add(self.definitions.completions)
        scale.add(self.specials.last_argument)
        scale.add(self.specials.command_text)
        scale.add(self.fds)
        if scale.is_new(self.definitions.functions):
            for function in self.definitions.functions.values():
                if scale.is_new(function):
                    scale.total += function.weigh()

    def _initial_variables(self, environment: Mapping[str, str]) -> None:
        values, attributes = self.values, self.attributes
        for name, text in environment.items():
            if name.startswith("BASH_FUNC_") and name.endswith("%%"):
                self._import_function(name[10:-2], text)
                continue
            if not is_name(name):
                if name:
                    self.variables.passed_on = {**self.variables.passed_on, name: text}
                continue
            if name in READERS and name != "SECONDS":
                continue
            values[name] = text
            attributes[name] = EXPORT
        values["IFS"] = " \t\n"
        values.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
        values["BASH"] = "/bin/bash"
        values["BASH_VERSION"] = "5.2.15(1)-release"
        values["HOSTNAME"] = self.machine.host.hostname
        values["HOSTTYPE"] = "x86_64"
        values["MACHTYPE"] = "x86_64-pc-linux-gnu"
        values["OSTYPE"] = "linux-gnu"
        values["OPTIND"] = "1"
        values["OPTERR"] = "1"
        values["PS4"] = environment.get("PS4", "+ ")
        values["SHLVL"] = self._next_level(environment.get("SHLVL", "0"))
        attributes["SHLVL"] = EXPORT
        values["PWD"] = self.cwd
        attributes["PWD"] = EXPORT
        if "OLDPWD" not in environment:
            values["OLDPWD"] = UNSET
            attributes["OLDPWD"] = EXPORT
        for name, flags in SPECIAL_ATTRIBUTES.items():
            known = attributes.get(name, 0)
            attributes[name] = known | flags if known else flags  # the same number in all shells

    def _next_level(self, text: str) -> str:
        """Return SHLVL of this shell, given the one in its environment."""
        digits = text.removeprefix("-")
        if not (digits.isdigit() and digits.isascii() and len(digits) < 10):
            return "1"
        level = int(text) + 1
        if level >= 1000:
            problem = f"shell level ({level}) too high, resetting to 1"
            self.write(f"{self.invocation.name}: warning: {problem}\n", 2)
            return "1"
        return str(max(level, 0))

    def _import_function(self, name: str, text: str) -> None:
        from agentsandbox.shell.interpreter.frames import Function
        from agentsandbox.shell.syntax.nodes import FunctionDefinition
        from agentsandbox.shell.syntax.parser import parse

        try:
            commands = parse(f"{name} {text}").commands
        except ShellSyntaxError:
            return
        if len(commands) == 1 and isinstance(commands[0], FunctionDefinition):
            function = Function(commands[0], "environment")
            self.definitions = self.definitions.with_function(name, function).with_exported(name)
            self.values[f"BASH_FUNC_{name}%%"] = text
            self.attributes[f"BASH_FUNC_{name}%%"] = EXPORT

    if TYPE_CHECKING:  # for `specials`, which is read first
        machine: Machine
        variables: Variables
        traps: Traps
        invocation: Invocation
        process: ProcessState
        specials: SpecialState
        line: int

    def with_slots(self, text: str) -> str:
        """Return the text of a command with the words that are not in its tree, as written."""
        slots = self.slots
        if not slots or "\0" not in text:
            return text
        return _SLOT.sub(lambda match: slots[int(match[1])], text)

    # copies

    def fork(self, *, subshell: bool = False) -> Shell:
        """Return a copy: each part copies what is changed in place and shares what is replaced.

        The copy is exact, unless it is a subshell, which is a process of its own (POSIX 2.12). It
        shares the descriptors, and owns only those that it opens itself with `exec`.
        """
        twin = Shell.__new__(Shell)
        twin.machine = self.machine
        twin.fs = self.fs
        twin.budget = self.budget
        twin.policy = self.policy
        twin.options = self.options
        twin.invocation = self.invocation
        twin.variables = variables = self.variables.fork(twin)
        twin.values = variables.values
        twin.attributes = variables.attributes
        twin.definitions = self.definitions
        twin.traps = self.traps.fork()
        twin.fds = self.fds
        twin.descriptors = Descriptors(self.fds)
        twin.stack = self.stack.fork()
        twin.control = self.control.fork()
        twin.process = self.process.fork()
        twin.jobs = self.jobs.fork(subshell=subshell)
        twin.specials = self.specials.fork()
        twin.cwd = self.cwd
        twin.directories = self.directories.copy()
        twin.status = self.status
        twin.line = self.line
        twin.slots = self.slots
        twin.check = self.check
        twin.slow = self.slow
        if subshell:
            twin._become_subshell()
        return twin

    def _become_subshell(self) -> None:
        """Change what a new process has of its own."""
        self.process.level += 1
        self.process.parent = self.process.pid
        self.process.pid = self.machine.scheduler.new_pid()
        self.control.loops = 0
        self.control.own_depth = self.control.tail_depth = -1
        self.specials.random = UNSEEDED
        traps = self.traps
        if traps.pending:
            traps.pending = []
        traps.exit_depth = 1
        traps.of_functions = NOWHERE
        if traps.handlers:
            inherited = self._inherited_traps()
            traps.outer, traps.handlers = traps.handlers, inherited
            self.update_flags()

    def _inherited_traps(self) -> dict[str, str]:
        """Return a subshell's traps: ignored signals, and the inherited ERR, DEBUG and RETURN."""
        handlers, options = self.traps.handlers, self.options
        kept = self.traps.ignored()
        if options.errtrace and "ERR" in handlers:
            kept["ERR"] = handlers["ERR"]
        if options.functrace:
            kept.update((name, handlers[name]) for name in ("DEBUG", "RETURN") if name in handlers)
        return kept

    def settle(self) -> None:
        """Reset the RUNNING slots for when no command runs. Background jobs continue."""
        variables = self.variables
        if variables.scopes or variables.temporary:
            variables.settle()
        self.traps.settle()
        if self.options.noexec:  # no script could switch it off
            self.options = self.options.without("noexec")
            self.update_flags()
        self.descriptors.settle()
        self.stack.settle()
        self.control.settle()
        self.line = 1
        self.slots = ()

    def finish(self) -> None:
        """Release the streams that `exec` opened in this shell."""
        owned, self.descriptors.owned = self.descriptors.owned, NONE_OWNED
        for stream in owned.values():
            stream.release()

    # options

    def update_flags(self) -> None:
        """Compute `check` and `slow`, which compiled code reads."""
        options, handlers = self.options, self.traps.handlers
        self.check = options.errexit or "ERR" in handlers
        self.slow = (
            options.xtrace
            or "DEBUG" in handlers
            or self.policy is not None
            or bool(self.definitions.disabled)
            or options.noexec
            or options.allexport
            or options.shopt["extdebug"]
            or options.keyword
            or "ERR" in handlers  # it may look at BASH_COMMAND
            or "BASH_COMMAND" in handlers.get("EXIT", "")
            or not INLINED.isdisjoint(self.definitions.functions)
        )

    def use_options(self, options: Options) -> None:
        """Replace the options."""
        self.options = options
        self.update_flags()

    def keep_options(self) -> None:
        """`local -`: restore the present options of `set -o` when the function ends."""
        self.variables.scopes[-1]["-"] = (self.options.flags(), -1)

    def restore_options(self, flags: dict[str, bool]) -> None:
        """Go back to the options that `keep_options` noted."""
        self.use_options(self.options.replace(**flags))

    def option_letters(self) -> str:
        """The value of `$-`."""
        source = self.invocation.source
        return self.options.letters() + {"main": "s", "environment": "c"}.get(source, "")

    def set_option(self, name: str, on: bool) -> bool:
        """Set an option of `set -o`; return False if there is none of that name."""
        entry = OPTIONS.get(name)
        if entry is None:
            return False
        changes = {entry[1]: on}
        if on and name in ("vi", "emacs"):  # one editor at a time
            changes["emacs" if name == "vi" else "vi"] = False
        self.options = self.options.replace(
            errexit_is_default=False if name == "errexit" else None, **changes
        )
        if name == "posix":
            self.options = self.options.with_shopt("expand_aliases", on)
            if on:
                self.variables.assign("POSIXLY_CORRECT", "y")
        if name == "allexport":
            self.variables.export_all(on)
        if name == "ignoreeof":
            if on:
                self.variables.assign("IGNOREEOF", "10")
            else:
                self.variables.unset("IGNOREEOF")
        self.update_flags()
        return True

    def without_globbing(self, expand: Callable[[], T]) -> T:
        """Return the result of `expand()`, called without pathname expansion."""
        options = self.options
        self.options = options.replace(noglob=True)
        try:
            return expand()
        finally:
            self.options = options

    # words

    def arithmetic(self, text: str) -> int:
        """Return the value of an arithmetic expression whose expansions have been made."""
        from agentsandbox.shell.expansion.arithmetic import evaluate_text

        return evaluate_text(self, text)

    def key(self, name: str, text: str, *, associative: bool = False) -> str:
        """Expand a subscript given as a text: a word for associative arrays, else arithmetic."""
        if not any(char in text for char in "$`\"'\\"):
            return text
        if self.options.shopt["assoc_expand_once"] and (
            associative or self.variables.is_associative(name)
        ):
            return text
        from agentsandbox.shell.interpreter.words import expand_index, expand_key

        return (expand_key if associative or self.variables.is_associative(name) else expand_index)(
            self, text
        )

    def reference(self, text: str, *, assigns: bool = True) -> tuple[str, str | None, bool] | None:
        """Return the name and subscript of a builtin's operand, None for any other text.

        The third value tells whether the subscript is not to be expanded again: it stands in a word
        written as `a[$key]`. Builtins that assign go by that only under `assoc_expand_once`.
        """
        from agentsandbox.shell.expansion.references import ElementWord, split_reference

        if isinstance(text, ElementWord):
            once = not assigns or self.options.shopt["assoc_expand_once"]
            parts = text.parts if once else None
            if parts is not None:
                return *parts, True
        found = split_reference(text)
        return None if found is None else (*found, False)

    def element_key(self, text: str) -> tuple[str, str]:
        """Return the name and the expanded subscript of a builtin's operand `name[subscript]`."""
        base, _, rest = text.partition("[")
        found = self.reference(text)
        if found is not None and found[2]:
            return base, rest[:-1]
        return base, self.key(base, rest[:-1])

    def expand_text(self, text: str) -> str:
        """Expand a text as inside double quotes: a subscript, or PS4."""
        from agentsandbox.shell.interpreter.words import expand_quoted_text

        return expand_quoted_text(self, text)

    def active_aliases(self) -> Mapping[str, str] | None:
        """Return the aliases that the parser expands; None if it expands none."""
        return self.definitions.aliases if self.options.shopt["expand_aliases"] else None

    def shell_pid(self) -> int:
        """The value of `$$`."""
        return self.process.top_pid

    def background_pid(self) -> int | None:
        """The value of `$!`."""
        return self.jobs.latest_pid

    def function_names(self) -> list[str]:
        """The names of all functions, sorted."""
        return sorted(self.definitions.functions)

    def home_of(self, user: str) -> str | None:
        """Return the home directory of a user, of the shell's own user for ""."""
        if user in ("", self.machine.user):
            return f"/home/{self.machine.user}"
        try:
            passwd = self.fs.read_text("/etc/passwd")
        except OSError:
            return None
        for entry in passwd.splitlines():
            fields = entry.split(":")
            if len(fields) > 5 and fields[0] == user:
                return fields[5]
        return None

    def directory(self, number: str) -> str | None:
        """Return an entry of the directory stack: N, +N or -N of a tilde prefix."""
        stack = [self.cwd, *self.directories]
        index = int(number.lstrip("+-")) if len(number) < 9 else len(stack)
        if number.startswith("-"):
            index = len(stack) - 1 - index
        return stack[index] if 0 <= index < len(stack) else None

    def prompt(self, text: str) -> str:
        """Expand the escapes of prompts in a text."""
        from agentsandbox.shell.interpreter.prompts import expand_prompt

        return expand_prompt(self, text)

    # files

    def path(self, name: str) -> str:
        """Return the absolute path of a name."""
        if name.startswith("/"):
            return name
        if not name:
            raise FileNotFoundError(2, os.strerror(2), name)
        return f"{self.cwd}/{name}" if self.cwd != "/" else f"/{name}"

    def seen(self, text: str) -> str:
        """Return a text as the locale sees it: in C each byte is a character."""
        return bytewise(text) if self.variables.bytewise else text

    # output

    def write(self, text: str, descriptor: int = 1) -> None:
        """Write to a descriptor; EBADF if it is closed."""
        stream = self.fds.get(descriptor)
        if stream is None:
            raise OSError(9, os.strerror(9))
        stream.write(
            encode(text) if len(text) <= PIECE else encode_pieces(self.budget.pieces(text))
        )

    def show(self, text: str, descriptor: int = 2) -> None:
        """Write text that is no command's output, such as menus and times; ignore errors."""
        try:
            self.write(text, descriptor)
        except OSError:
            return

    def complain(self, message: str, line: int | None = None) -> None:
        """Report an error on stderr as bash words it: "bash: line 3: message"."""
        stream = self.fds.get(2)
        if stream is not None:
            try:
                shown = f"{self.error_prefix(line)}{message}\n"
                stream.write(encode_pieces(self.budget.pieces(shown)))
            except OSError:
                return

    def fault(self, message: str) -> None:
        """Report an error of the shell; under `set -e` it ends the shell, even in conditions."""
        self.complain(message)
        if self.options.errexit:
            raise self.stopped(1)

    def stopped(self, status: int, line: int | None = None) -> Stopped:
        """Return what ends the shell under `set -e` because the command at `line` failed."""
        return Stopped(status, self.line if line is None else line, self.error_name)

    def report(self, error: ExpansionError) -> None:
        """Report an error of an expansion with its place, unless it has been reported."""
        if not error.message:
            return
        if error.place is None:
            self.complain(error.message)
        else:
            stream = self.fds.get(2)
            if stream is not None:
                stream.write(encode(f"{error.place}{error.message}\n"))
        if error.readonly and self.options.errexit:
            raise self.stopped(1)

    def error_prefix(self, line: int | None = None) -> str:
        """Return the beginning of a message: "bash: line 3: "."""
        return f"{self.error_name}: line {self.line if line is None else line}: "

    @property
    def error_name(self) -> str:
        """The name at the beginning of messages: of the running file, or of the shell."""
        return self.stack.frames[-1].source if self.stack.frames else self.invocation.called

    def warn(self, message: str) -> None:
        """Report a warning."""
        self.complain(f"warning: {message}")

    # directories

    def change_directory(self, path: str) -> None:
        """Set the working directory and PWD."""
        self.cwd = path
        self.variables.values["PWD"] = path
        self.attributes["PWD"] = self.attributes.get("PWD", 0) | EXPORT
        self.variables.add("PWD", EXPORT)

    def logical_path(self, name: str) -> str:
        """Return an absolute path with "." and ".." resolved by text, as `cd` does without -P."""
        joined = name if name.startswith("/") else posixpath.join(self.cwd, name)
        return posixpath.normpath(joined)


_SLOT = lazily("\0([0-9]+)\0")
INLINED = frozenset(
    (":", "true", "false", "echo", "[", "test", "local", "break", "continue", "return", "read")
)
"""The builtins that have a shortcut (`shortcuts`)."""
