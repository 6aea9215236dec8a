"""The state of a shell, and of the machine its shells share."""

from __future__ import annotations

import os
import posixpath
from types import MappingProxyType

from agentsandbox.errors import Exit
from agentsandbox.kernel.streams import Stream, bytewise, encode
from agentsandbox.shell.expansion.variables import ARRAY, EXPORT, READONLY, UNSET, IndexedArray, Variables, is_name
from agentsandbox.shell.interpreter.forking import take_over
from agentsandbox.shell.interpreter.jobs import JobTable
from agentsandbox.shell.interpreter.special_variables import NOTHING_RUN, READERS, SPECIAL_ATTRIBUTES, UNSEEDED, WRITERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from agentsandbox.kernel.accounts import Scale
    from agentsandbox.kernel.processes import Process
    from agentsandbox.shell.expansion.errors import ExpansionError
    from agentsandbox.shell.interpreter.machine import Machine
    from agentsandbox.shell.syntax.nodes import FunctionDefinition

    Run = Callable[["Shell"], int]
    Policy = Callable[["Shell", Sequence[str], int], str | None]

__all__ = ["OPTIONS", "SHOPT_DEFAULTS", "Frame", "Function", "Shell"]

OPTIONS: dict[str, tuple[str, str]] = {
    "allexport": ("a", "allexport"),
    "braceexpand": ("B", "braceexpand"),
    "emacs": ("", "emacs"),
    "errexit": ("e", "errexit"),
    "errtrace": ("E", "errtrace"),
    "functrace": ("T", "functrace"),
    "hashall": ("h", "hashall"),
    "histexpand": ("H", "histexpand"),
    "history": ("", "history"),
    "ignoreeof": ("", "ignoreeof"),
    "interactive-comments": ("", "interactive_comments"),
    "keyword": ("k", "keyword"),
    "monitor": ("m", "monitor"),
    "noclobber": ("C", "noclobber"),
    "noexec": ("n", "noexec"),
    "noglob": ("f", "noglob"),
    "nolog": ("", "nolog"),
    "notify": ("b", "notify"),
    "nounset": ("u", "nounset"),
    "onecmd": ("t", "onecmd"),
    "physical": ("P", "physical"),
    "pipefail": ("", "pipefail"),
    "posix": ("", "posix"),
    "privileged": ("p", "privileged"),
    "verbose": ("v", "verbose"),
    "vi": ("", "vi"),
    "xtrace": ("x", "xtrace"),
}
"""Options of `set -o`: (letter, attribute of Shell)."""

_SHOPT_ON = """
checkwinsize cmdhist complete_fullquote extquote force_fignore globasciiranges globskipdots hostcomplete interactive_comments
patsub_replacement progcomp promptvars sourcepath
""".split()
_SHOPT_OFF = """
autocd assoc_expand_once cdable_vars cdspell checkhash checkjobs compat31 compat32 compat40 compat41 compat42 compat43 compat44 direxpand
dirspell dotglob execfail expand_aliases extdebug extglob failglob globstar gnu_errfmt histappend histreedit histverify huponexit
inherit_errexit lastpipe lithist localvar_inherit localvar_unset login_shell mailwarn no_empty_cmd_completion nocaseglob nocasematch
noexpand_translation nullglob progcomp_alias restricted_shell shift_verbose varredir_close xpg_echo
""".split()
SHOPT_DEFAULTS: Mapping[str, bool] = MappingProxyType({**dict.fromkeys(_SHOPT_ON, True), **dict.fromkeys(_SHOPT_OFF, False)})
"""Options of `shopt` in a shell that runs a script."""


class Function:
    """A shell function; `run` compiles its body when first called."""

    __slots__ = ("compiled", "frames", "line", "name", "node", "source", "weight")

    def __init__(self, node: FunctionDefinition, source: str) -> None:
        self.name = node.name
        self.node = node
        self.line = node.line
        self.source = source
        self.compiled: Run | None = None
        self.frames: dict[int, Frame] = {}
        self.weight = 0
        """Bytes of the tree, once it was weighed."""

    def frame(self, call_line: int) -> Frame:
        """What stands on the stack while it is called from that line; calls from one line share it."""
        frame = self.frames.get(call_line)
        if frame is None:
            frame = self.frames[call_line] = Frame(self.name, self.source, call_line, is_function=True, function=self)
        return frame

    def body(self) -> Run:
        """The compiled body."""
        if self.compiled is None:
            from agentsandbox.shell.interpreter.dispatch import compile_command

            self.compiled = compile_command(self.node.body)
        return self.compiled


class Frame:
    """An active function or sourced file, for `caller`, FUNCNAME, BASH_LINENO and `return`."""

    __slots__ = ("call_line", "function", "has_arguments", "is_function", "name", "source")

    def __init__(
        self,
        name: str,
        source: str,
        call_line: int,
        *,
        is_function: bool,
        function: Function | None = None,
        has_arguments: bool = False,
    ) -> None:
        self.name = name
        self.source = source
        self.call_line = call_line
        self.is_function = is_function
        self.function = function
        self.has_arguments = has_arguments


_NOTHING: frozenset[str] = frozenset()
"""CPython makes an empty one anew each time."""


class Shell:
    """One shell: the main one, a subshell, or a script's."""

    __slots__ = (
        "aliases",
        "allexport",
        "announced",
        "arguments",
        "attributes",
        "background",
        "base_fds",
        "braceexpand",
        "break_levels",
        "budget",
        "bytewise",
        "call_arguments",
        "ceilings",
        "check",
        "command_text",
        "completions",
        "cwd",
        "default_ifs",
        "directories",
        "disabled",
        "emacs",
        "errexit",
        "errexit_is_default",
        "errtrace",
        "exit_status",
        "exported_functions",
        "expressions",
        "extglob",
        "fds",
        "frames",
        "fs",
        "function_traps",
        "functions",
        "functrace",
        "getopts_position",
        "hashall",
        "hashed",
        "histexpand",
        "history",
        "ifs",
        "ignore",
        "ignoreeof",
        "in_trap",
        "interactive_comments",
        "invocation",
        "jobs",
        "keeps_fds",
        "keyword",
        "killed",
        "last_argument",
        "last_random",
        "level",
        "line",
        "loops",
        "machine",
        "monitor",
        "name",
        "noclobber",
        "noexec",
        "noglob",
        "nolog",
        "notify",
        "nounset",
        "onecmd",
        "outer_positional",
        "outer_traps",
        "own_depth",
        "owned",
        "pending_traps",
        "physical",
        "pid",
        "pipefail",
        "plain_ifs",
        "policy",
        "positional",
        "posix",
        "privileged",
        "process",
        "process_files",
        "random",
        "readonly_functions",
        "seconds_base",
        "shopt",
        "slow",
        "source",
        "status",
        "substitution_status",
        "tells_signals",
        "top_pid",
        "trace_level",
        "trap_depth",
        "trap_line",
        "traps",
        "umask",
        "values",
        "variables",
        "verbose",
        "vi",
        "xtrace",
    )

    def __init__(self, machine: Machine, environment: Mapping[str, str], cwd: str, fds: dict[int, Stream], name: str = "bash") -> None:
        self.machine = machine
        self.fs = machine.fs
        self.budget = machine.budget
        self.name = name
        self.source = "environment"
        """Where function definitions come from: a file, "environment" for the text of `execute`, "main" for standard input."""
        self.invocation = "bash"
        """What error messages begin with."""
        self.cwd = cwd
        self.fds = fds
        self.base_fds = fds
        """The descriptors this shell began with."""
        self.owned: dict[int, Stream] = {}
        """Streams that `exec` opened in this shell, by descriptor."""
        self.positional: list[str] = []
        self.outer_positional: list[list[str]] = []
        """Those of the callers of the function at work, the nearest last."""
        self.arguments: tuple[str, ...] = ()
        """What the shell was started with, which `set` and `shift` leave alone."""
        self.process_files: list[tuple[int, Stream, Process]] = []
        """Process substitutions in use: descriptor, our end of the pipe, process."""
        self.status: int = NOTHING_RUN
        self.exit_status: int | None = None
        """What the shell ends with, while its EXIT trap runs."""
        self.substitution_status: int | None = None
        self.line = 1
        self.umask = 0o022
        self.ceilings: dict[str, tuple[int | None, int | None]] = {}  # replaced, never changed
        """Soft and hard limits that `ulimit` set, by its letters."""
        self.functions: dict[str, Function] = {}  # replaced, never changed
        self.readonly_functions = self.exported_functions = _NOTHING
        self.function_traps: set[int] = set()
        """Depths of the functions that set a RETURN trap themselves."""
        self.aliases: dict[str, str] = {}
        self.hashed: dict[str, tuple[str, int]] = {}
        self.traps: dict[str, str] = {}
        self.outer_traps: dict[str, str] = {}
        self.pending_traps: list[str] = []
        self.in_trap = 0
        self.trap_depth = 0
        """How much deeper the EXIT trap is traced than the shell's commands."""
        self.trap_line: int | None = None
        self.trace_level = 0
        self.killed: tuple[int, int] | None = None
        """Signal and pid of the child that was run last, when a signal ended it."""
        self.tells_signals = True
        self.announced = False
        """Whether the DEBUG trap of the next command has run already."""
        """Command substitutions around this shell, shown by `set -x`."""
        self.call_arguments: tuple[tuple[int, tuple[str, ...]], ...] = ()
        """The arguments of the functions and sourced files at work that began under `extdebug`, by their depth."""
        self.frames: list[Frame] = []
        self.directories: list[str] = []
        self.disabled = _NOTHING
        self.loops = 0
        self.own_depth = -1
        self.break_levels = 0
        self.ignore = 0
        self.level = 0
        self.history = False
        self.getopts_position = 0, 0
        """The argument whose letters `getopts` is reading, and how far; zeros between arguments."""
        self.expressions = 0
        """Nesting of arithmetic expressions that are values of variables."""
        self.last_argument = name
        self.keeps_fds = False
        self.command_text = ""
        self.completions: dict[str, str] = {}
        self.background: Process | None = None
        self.jobs: JobTable = JobTable()
        self.process: Process = machine.scheduler.main
        self.top_pid = self.pid = self.process.pid
        self.policy: Policy | None = None
        """Asked before each simple command: None allows it, a text denies it. What this shell starts is asked too."""
        self.random = UNSEEDED
        self.last_random = 0
        self.seconds_base = machine.host.clock()
        for _, attribute in OPTIONS.values():
            setattr(self, attribute, attribute in ("braceexpand", "hashall", "interactive_comments"))
        self.shopt: Mapping[str, bool] = SHOPT_DEFAULTS
        self.extglob = False
        self.check = self.slow = self.errexit_is_default = False
        self.set_ifs(None)
        self.variables = Variables(machine.budget.value_bytes, self, READERS, WRITERS)
        self.values = self.variables.values
        self.attributes = self.variables.attributes
        self._initial_variables(environment)
        self.choose_locale()
        self.update_flags()

    if TYPE_CHECKING:
        machine: Machine
        name: str
        cwd: str
        line: int
        pid: int
        top_pid: int
        level: int
        command_text: str
        last_argument: str
        seconds_base: float
        allexport: bool
        braceexpand: bool
        bytewise: bool
        emacs: bool
        errexit: bool
        errexit_is_default: bool
        errtrace: bool
        functrace: bool
        hashall: bool
        histexpand: bool
        ignoreeof: bool
        interactive_comments: bool
        keyword: bool
        monitor: bool
        noclobber: bool
        noexec: bool
        noglob: bool
        nolog: bool
        notify: bool
        nounset: bool
        onecmd: bool
        physical: bool
        pipefail: bool
        posix: bool
        privileged: bool
        verbose: bool
        vi: bool
        xtrace: bool

    def weigh(self, scale: Scale) -> None:
        """Put on the scale all that this shell holds."""
        from agentsandbox.shell.interpreter.weight import weigh_shell

        weigh_shell(self, scale)

    def _initial_variables(self, environment: Mapping[str, str]) -> None:
        values, attributes = self.values, self.attributes
        for name, text in environment.items():
            if name.startswith("BASH_FUNC_") and name.endswith("%%"):
                self._import_function(name[10:-2], text)
                continue
            if not is_name(name) or (name in READERS and name != "SECONDS"):
                continue
            values[name] = text
            attributes[name] = EXPORT
        values["IFS"] = " \t\n"
        values.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
        values["BASH"] = "/bin/bash"
        values["BASH_VERSION"] = "5.2.15(1)-release"
        values["BASH_VERSINFO"] = IndexedArray.of(["5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"])
        attributes["BASH_VERSINFO"] = ARRAY | READONLY
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
        """SHLVL of a shell by the one it is given."""
        digits = text.removeprefix("-")
        if not (digits.isdigit() and digits.isascii() and len(digits) < 10):
            return "1"
        level = int(text) + 1
        if level >= 1000:
            self.write(f"{self.name}: warning: shell level ({level}) too high, resetting to 1\n", 2)
            return "1"
        return str(max(level, 0))

    def _import_function(self, name: str, text: str) -> None:
        from agentsandbox.errors import ShellSyntaxError
        from agentsandbox.shell.syntax.nodes import FunctionDefinition
        from agentsandbox.shell.syntax.parser import parse

        try:
            commands = parse(f"{name} {text}").commands
        except ShellSyntaxError:
            return
        if len(commands) == 1 and isinstance(commands[0], FunctionDefinition):
            self.functions = {**self.functions, name: Function(commands[0], "environment")}
            self.exported_functions |= {name}
            self.values[f"BASH_FUNC_{name}%%"] = text
            self.attributes[f"BASH_FUNC_{name}%%"] = EXPORT

    # subshells

    def fork(self) -> Shell:
        """A subshell's copy. Descriptors are shared: what it opens with `exec` it owns alone."""
        twin = Shell.__new__(Shell)
        take_over(twin, self)
        twin.variables = self.variables.fork(twin)
        twin.values = twin.variables.values
        twin.attributes = twin.variables.attributes
        twin.owned = {}
        twin.base_fds = self.fds
        twin.frames = self.frames.copy()
        twin.directories = self.directories.copy()
        twin.aliases = self.aliases.copy()
        twin.hashed = self.hashed.copy()
        twin.process_files = []
        twin.function_traps = set()
        twin.pending_traps = []
        twin.jobs = self.jobs.copy()
        twin.level = self.level + 1
        twin.trap_depth = 1
        twin.loops = 0
        twin.random = UNSEEDED
        twin.own_depth = -1
        twin.pid = self.machine.scheduler.new_pid()
        if self.traps:
            kept: dict[str, str] = {name: text for name, text in self.traps.items() if not text}
            twin.outer_traps = self.traps
            if self.errtrace and "ERR" in self.traps:
                kept["ERR"] = self.traps["ERR"]
            if self.functrace:
                kept.update((name, self.traps[name]) for name in ("DEBUG", "RETURN") if name in self.traps)
            twin.traps = kept
            twin.update_flags()
        else:
            twin.traps = {}
        return twin

    def finish(self) -> None:
        """Give back what `exec` opened in this shell."""
        owned, self.owned = self.owned, {}
        for stream in owned.values():
            stream.release()

    # options

    def update_flags(self) -> None:
        """Recompute what compiled code looks at."""
        self.check = self.errexit or "ERR" in self.traps
        self.slow = (
            self.xtrace
            or "DEBUG" in self.traps
            or self.policy is not None
            or bool(self.disabled)
            or self.noexec
            or self.allexport
            or self.shopt["extdebug"]
            or self.keyword
            or "ERR" in self.traps  # it may look at BASH_COMMAND
            or "BASH_COMMAND" in self.traps.get("EXIT", "")
            or not _INLINED.isdisjoint(self.functions)
        )
        self.extglob = self.shopt["extglob"]

    def keep_options(self) -> None:
        """`local -`: the options come back as they are now when the function ends."""
        options = {attribute: getattr(self, attribute) for _, attribute in OPTIONS.values()}
        self.variables.scopes[-1]["-"] = (options, -1)

    def restore_options(self, options: dict[str, bool]) -> None:
        """The options that `keep_options` noted."""
        for attribute, on in options.items():
            setattr(self, attribute, on)
        self.update_flags()

    def option_letters(self) -> str:
        """The value of `$-`."""
        letters = "".join(
            sorted(
                (letter for letter, attribute in OPTIONS.values() if letter and getattr(self, attribute)),
                key=lambda letter: (letter.isupper(), letter),
            )
        )
        if self.source == "main":
            return letters + "s"
        return letters + ("c" if self.source == "environment" else "")

    def set_option(self, name: str, on: bool) -> bool:
        """Set an option of `set -o`; false if there is none of that name."""
        entry = OPTIONS.get(name)
        if entry is None:
            return False
        setattr(self, entry[1], on)
        if on and name in ("vi", "emacs"):  # one editor at a time
            setattr(self, OPTIONS["emacs" if name == "vi" else "vi"][1], False)
        if name == "errexit":
            self.errexit_is_default = False
        if name == "posix":
            self.shopt = {**self.shopt, "expand_aliases": on}
            if on:
                self.variables.assign("POSIXLY_CORRECT", "y")
        if name == "allexport":
            self.variables.export_all(on)
        self.update_flags()
        return True

    # words

    def set_ifs(self, value: str | None) -> None:
        """Take over a new IFS; None is the default."""
        self.ifs = " \t\n" if value is None else value if len(value) < 256 else "".join(dict.fromkeys(value))
        self.default_ifs = self.ifs == " \t\n"
        self.plain_ifs = not any(char.isalnum() or char == "-" for char in self.ifs)

    def choose_locale(self) -> None:
        """Take over LC_ALL, LC_CTYPE or LANG: characters are bytes in the locale C, UTF-8 in every other."""
        locale = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := self.variables.get(name))), "")
        self.bytewise = locale in ("C", "POSIX")

    def arithmetic(self, text: str) -> int:
        """The value of an arithmetic expression, whose expansions have been made."""
        from agentsandbox.shell.expansion.arithmetic import evaluate_text

        return evaluate_text(self, text)

    def key(self, name: str, text: str, *, associative: bool = False) -> str:
        """What is between the brackets of a name that a builtin was given as text, or that a name reference holds.

        It is a word for an associative array, as in arithmetic for any other.
        """
        if not any(char in text for char in "$`\"'\\"):
            return text
        from agentsandbox.shell.interpreter.substitutions import expand_index, expand_key

        return (expand_key if associative or self.variables.is_associative(name) else expand_index)(self, text)

    def expand_text(self, text: str) -> str:
        """A text expanded as inside double quotes: subscripts, PS4, here-documents built at run time."""
        from agentsandbox.shell.interpreter.substitutions import expand_quoted_text

        return expand_quoted_text(self, text)

    def shell_pid(self) -> int:
        """The value of `$$`."""
        return self.top_pid

    def background_pid(self) -> int | None:
        """The value of `$!`."""
        return self.background.pid if self.background is not None else None

    def function_names(self) -> list[str]:
        """The names of all functions, sorted."""
        return sorted(self.functions)

    def home_of(self, user: str) -> str | None:
        """The home directory of a user, of the shell's own for ""."""
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
        """~N, ~+N, ~-N: an entry of the directory stack."""
        stack = [self.cwd, *self.directories]
        index = int(number.lstrip("+-")) if len(number) < 9 else len(stack)
        if number.startswith("-"):
            index = len(stack) - 1 - index
        return stack[index] if 0 <= index < len(stack) else None

    def prompt(self, text: str) -> str:
        """A text with the escapes of prompts expanded."""
        from agentsandbox.shell.interpreter.prompts import expand_prompt

        return expand_prompt(self, text)

    # files

    def path(self, name: str) -> str:
        """The absolute path that a name means here."""
        if name.startswith("/"):
            return name
        if not name:
            raise FileNotFoundError(2, os.strerror(2), name)
        return f"{self.cwd}/{name}" if self.cwd != "/" else f"/{name}"

    def seen(self, text: str) -> str:
        """The text as the locale sees it: in C every byte is a character, and those that are not ASCII are not printable."""
        return bytewise(text) if self.bytewise else text

    # output

    def write(self, text: str, descriptor: int = 1) -> None:
        """Write to a descriptor; EBADF if it is closed."""
        stream = self.fds.get(descriptor)
        if stream is None:
            raise OSError(9, os.strerror(9))
        stream.write(encode(text))

    def show(self, text: str, descriptor: int = 2) -> None:
        """Write what is nobody's output, as menus and times: that it cannot be written counts for nothing."""
        try:
            self.write(text, descriptor)
        except OSError:
            return

    def complain(self, message: str, line: int | None = None) -> None:
        """Report an error on stderr as bash words it: "bash: line 3: message"."""
        stream = self.fds.get(2)
        if stream is not None:
            try:
                stream.write(encode(f"{self.error_prefix(line)}{message}\n"))
            except OSError:
                return

    def fault(self, message: str) -> None:
        """Report an error of the shell itself: `set -e` ends with it, whatever the command stands in."""
        self.complain(message)
        if self.errexit:
            raise Exit(1)

    def report(self, error: ExpansionError) -> None:
        """Report an error of an expansion at the place where it happened, unless that has been done."""
        if not error.message:
            return
        if error.place is None:
            self.complain(error.message)
        else:
            stream = self.fds.get(2)
            if stream is not None:
                stream.write(encode(f"{error.place}{error.message}\n"))
        if error.readonly and self.errexit:
            raise Exit(1)

    def error_prefix(self, line: int | None = None) -> str:
        """ "bash: line 3: " """
        return f"{self.error_name}: line {self.line if line is None else line}: "

    @property
    def error_name(self) -> str:
        """The name that errors begin with: of the file that is run, or of the shell."""
        return self.frames[-1].source if self.frames else self.invocation

    def warn(self, message: str) -> None:
        """As `complain`, for warnings."""
        self.complain(f"warning: {message}")

    # directories

    def change_directory(self, path: str) -> None:
        """Set the working directory and PWD."""
        self.cwd = path
        self.variables.values["PWD"] = path
        self.attributes["PWD"] = self.attributes.get("PWD", 0) | EXPORT
        self.variables.add("PWD", EXPORT)

    def logical_path(self, name: str) -> str:
        """A path from here, "." and ".." resolved by text, as `cd` does without -P."""
        joined = name if name.startswith("/") else posixpath.join(self.cwd, name)
        return posixpath.normpath(joined)


_INLINED = frozenset((":", "true", "false", "echo", "[", "test", "local", "break", "continue", "return", "read"))
