"""Variables that the shell itself computes or listens to: RANDOM, SECONDS, FUNCNAME, IFS …

READERS compute a value when a script reads the name. WRITERS run when a script assigns or unsets
it.
"""

from __future__ import annotations

from agentsandbox.shell.expansion.variables import (
    ARRAY,
    ASSOCIATIVE,
    INTEGER,
    READONLY,
    SPECIAL,
    AssociativeArray,
    IndexedArray,
)
from agentsandbox.shell.interpreter.options import OPTIONS
from agentsandbox.shell.interpreter.state import UNSEEDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.interpreter.parts import ShellParts


class PipelineStatus(int):
    """`$?` right after a pipeline, with the status of each stage for PIPESTATUS."""

    statuses: list[int]


NOTHING_RUN = PipelineStatus(0)
"""`$?` before the first command."""
NOTHING_RUN.statuses = []


def _random(shell: ShellParts) -> int:
    """Park and Miller's generator and the folding of its halves, as bash has had them since 5.1."""
    if shell.specials.random == UNSEEDED:
        shell.specials.random = shell.machine.host.random.randrange(32768)
    while True:
        shell.specials.random = 16807 * (shell.specials.random or 123459876) % 0x7FFFFFFF
        number = ((shell.specials.random >> 16) ^ (shell.specials.random & 0xFFFF)) & 0x7FFF
        if number != shell.specials.last_random:
            shell.specials.last_random = number
            return number


def _pipestatus(shell: ShellParts) -> IndexedArray:
    status = shell.status
    statuses = status.statuses if isinstance(status, PipelineStatus) else [int(status)]
    return IndexedArray.of([str(each) for each in statuses])


def _is_file(shell: ShellParts) -> bool:
    """Whether the shell runs a script file, which is "main" at the bottom of the call stack."""
    return shell.invocation.source not in ("environment", "main")


def _functions(shell: ShellParts) -> IndexedArray | None:
    if not any(frame.is_function for frame in shell.stack.frames):
        return None
    names = [frame.name for frame in reversed(shell.stack.frames)]
    return IndexedArray.of([*names, "main"] if _is_file(shell) else names)


def _sources(shell: ShellParts) -> IndexedArray:
    listed = [frame.source for frame in reversed(shell.stack.frames)]
    return IndexedArray.of([*listed, shell.invocation.source] if _is_file(shell) else listed)


def _call_lines(shell: ShellParts) -> IndexedArray:
    listed = [str(frame.call_line) for frame in reversed(shell.stack.frames)]
    return IndexedArray.of([*listed, "0"] if _is_file(shell) else listed)


def _argument_stack(shell: ShellParts) -> list[tuple[str, ...]]:
    """Return the arguments of the script and of recorded calls, and the names of sourced files."""
    recorded = dict(shell.stack.recorded)
    stack: list[tuple[str, ...]] = []
    for depth, frame in reversed(list(enumerate(shell.stack.frames, 1))):
        if depth in recorded:
            stack.append(recorded[depth])
        elif not frame.is_function and not frame.has_arguments:
            stack.append((frame.source,))
    return [*stack, shell.invocation.arguments]


def _arguments(shell: ShellParts) -> IndexedArray:
    return IndexedArray.of([text for entry in _argument_stack(shell) for text in reversed(entry)])


def _argument_counts(shell: ShellParts) -> IndexedArray:
    return IndexedArray.of([str(len(entry)) for entry in _argument_stack(shell)])


class _HashedPaths(AssociativeArray):
    """BASH_CMDS: the paths that `hash` knows; an assignment adds one."""

    __slots__ = ("hashed",)

    def __init__(self, shell: ShellParts) -> None:
        super().__init__({name: entry[0] for name, entry in shell.specials.hashed.items()})
        self.hashed = shell.specials.hashed

    def set(self, key: str, value: str) -> None:
        super().set(key, value)
        self.hashed[key] = (value, 0)

    def keys(self, buckets: int = 256) -> list[str]:
        """The keys in the order of bash's table of commands."""
        return super().keys(buckets)


class _Aliases(AssociativeArray):
    """BASH_ALIASES: an element is an alias."""

    __slots__ = ("shell",)

    def __init__(self, shell: ShellParts) -> None:
        super().__init__(dict(shell.definitions.aliases))
        self.shell = shell

    def set(self, key: str, value: str) -> None:
        super().set(key, value)
        self.shell.definitions = self.shell.definitions.replace(aliases=dict(self.items))

    def keys(self, buckets: int = 64) -> list[str]:
        """The keys in the order of bash's table of aliases."""
        return super().keys(buckets)

    def remove(self, key: str) -> None:
        super().remove(key)
        self.shell.definitions = self.shell.definitions.replace(aliases=dict(self.items))


class _DirectoryStack(IndexedArray):
    """DIRSTACK: the stack of `pushd`; all entries but the first may be changed."""

    __slots__ = ("shell",)

    def __init__(self, shell: ShellParts) -> None:
        super().__init__(dict(enumerate([shell.cwd, *shell.directories])))
        self.shell = shell

    def set(self, index: int, text: str) -> None:
        super().set(index, text)
        if 0 < index <= len(self.shell.directories):
            self.shell.directories[index - 1] = text


def _options(shell: ShellParts) -> str:
    return ":".join(sorted(name for name in OPTIONS if shell.options.is_on(name)))


def _now(shell: ShellParts) -> str:
    micros = int(shell.machine.host.clock() * 1_000_000)
    return f"{micros // 1_000_000}.{micros % 1_000_000:06d}"


READERS: dict[str, Callable[[ShellParts], object]] = {
    "RANDOM": _random,
    "SRANDOM": lambda shell: shell.machine.host.random.getrandbits(32),
    "SECONDS": lambda shell: int(shell.machine.host.clock() - shell.specials.seconds_base),
    "EPOCHSECONDS": lambda shell: int(shell.machine.host.clock()),
    "EPOCHREALTIME": _now,
    "LINENO": lambda shell: shell.line if shell.traps.line is None else shell.traps.line,
    "BASHPID": lambda shell: shell.process.pid,
    "PPID": lambda shell: shell.process.top_parent,
    "UID": lambda shell: 1000,
    "EUID": lambda shell: 1000,
    "HISTCMD": lambda shell: 0,
    "BASH_SUBSHELL": lambda shell: shell.process.level,
    "BASH_COMMAND": lambda shell: shell.specials.command_text,
    "BASH_VERSINFO": lambda shell: IndexedArray.of(
        ["5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"]
    ),
    "PIPESTATUS": _pipestatus,
    "FUNCNAME": _functions,
    "BASH_SOURCE": _sources,
    "BASH_LINENO": _call_lines,
    "BASH_ARGV": _arguments,
    "BASH_ARGC": _argument_counts,
    "BASH_ARGV0": lambda shell: shell.invocation.name,
    "DIRSTACK": _DirectoryStack,
    "GROUPS": lambda shell: IndexedArray.of(["1000"]),
    "SHELLOPTS": _options,
    "BASHOPTS": lambda shell: ":".join(
        sorted(name for name, on in shell.options.shopt.items() if on)
    ),
    "BASH_ALIASES": _Aliases,
    "BASH_CMDS": _HashedPaths,
    "COMP_WORDBREAKS": lambda shell: " \t\n\"'><=;|&(:",
    "_": lambda shell: shell.specials.last_argument,
}

_UNLISTED = frozenset(
    """BASHPID BASH_ARGV0 BASH_COMMAND BASH_SUBSHELL COMP_WORDBREAKS EPOCHREALTIME EPOCHSECONDS
    HISTCMD LINENO RANDOM SECONDS SRANDOM""".split()
)
_LISTED_EMPTY = frozenset(("BASH_ARGC", "BASH_ARGV", "DIRSTACK", "GROUPS"))


def listed_value(shell: ShellParts, name: str) -> object:
    """Return the value in a listing of all variables, where some computed ones show none."""
    if name not in shell.values:
        if name in _UNLISTED:
            return None
        if name in _LISTED_EMPTY:
            return IndexedArray()
    return shell.variables.lookup(name)


def _seed(shell: ShellParts, value: str | None) -> None:
    shell.specials.random = (shell.arithmetic(value) if value else 0) & 0xFFFFFFFF
    shell.specials.last_random = 0


def _reset_seconds(shell: ShellParts, value: str | None) -> None:
    shell.specials.seconds_base = shell.machine.host.clock() - (
        shell.arithmetic(value) if value else 0
    )


def _reset_getopts(shell: ShellParts, value: str | None) -> None:
    number = (value or "").lstrip("0")
    # otherwise getopts continues inside the current cluster (-abc)
    if number in ("", "1") or not (number.isdigit() and number.isascii()):
        shell.specials.getopts_position = 0, 0


def _rename(shell: ShellParts, value: str | None) -> None:
    shell.invocation = shell.invocation.renamed(value or shell.invocation.name)


def _forget_paths(shell: ShellParts, value: str | None) -> None:
    del value
    shell.specials.hashed.clear()


def _posix(shell: ShellParts, value: str | None) -> None:
    shell.options = shell.options.replace(posix=value is not None)


def _choose_locale(shell: ShellParts, value: str | None) -> None:
    del value
    shell.variables.choose_locale()


def _check_trace(shell: ShellParts, value: str | None) -> None:
    """Refuse a BASH_XTRACEFD that is no open descriptor; the trace then goes to standard error."""
    if value and not (
        value.isdigit() and value.isascii() and len(value) < 10 and int(value) in shell.fds
    ):
        shell.complain(f"BASH_XTRACEFD: {value}: invalid value for trace file descriptor")


def _ignore(shell: ShellParts, value: str | None) -> None:
    """Forget what was assigned to FUNCNAME: the shell computes it."""
    if value is not None:
        shell.values.pop("FUNCNAME", None)


def _ignore_end(shell: ShellParts, value: str | None) -> None:
    """IGNOREEOF turns the option of that name on, and off when it is unset."""
    shell.options = shell.options.replace(ignoreeof=value is not None)


WRITERS: dict[str, Callable[[ShellParts, str | None], None]] = {
    "IFS": lambda shell, value: shell.variables.set_ifs(value),
    "FUNCNAME": _ignore,
    "IGNOREEOF": _ignore_end,
    "RANDOM": _seed,
    "SECONDS": _reset_seconds,
    "OPTIND": _reset_getopts,
    "BASH_ARGV0": _rename,
    "PATH": _forget_paths,
    "POSIXLY_CORRECT": _posix,
    "BASH_XTRACEFD": _check_trace,
    "LC_ALL": _choose_locale,
    "LC_CTYPE": _choose_locale,
    "LANG": _choose_locale,
}

SPECIAL_ATTRIBUTES: dict[str, int] = dict.fromkeys((*READERS, *WRITERS), SPECIAL)
for _name in ("PPID", "UID", "EUID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO"):
    SPECIAL_ATTRIBUTES[_name] |= READONLY
for _name in """
PIPESTATUS FUNCNAME BASH_SOURCE BASH_LINENO BASH_ARGV BASH_ARGC BASH_VERSINFO DIRSTACK GROUPS
""".split():
    SPECIAL_ATTRIBUTES[_name] |= ARRAY
for _name in "PPID UID EUID RANDOM SRANDOM BASHPID HISTCMD OPTIND SECONDS".split():
    SPECIAL_ATTRIBUTES[_name] |= INTEGER
for _name in ("BASH_ALIASES", "BASH_CMDS"):
    SPECIAL_ATTRIBUTES[_name] |= ASSOCIATIVE
