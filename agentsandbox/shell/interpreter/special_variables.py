"""Variables that the shell itself computes or listens to: RANDOM, SECONDS, FUNCNAME, IFS …

READERS compute a value when a script reads the name; `listing_variables` has those that show a
table of the shell. WRITERS run when a script
assigns or unsets it.
"""

from __future__ import annotations

from agentsandbox.shell.expansion.variables import (
    ARRAY,
    ASSOCIATIVE,
    INTEGER,
    READONLY,
    SPECIAL,
    IndexedArray,
)
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


def _list(name: str) -> Callable[[ShellParts], object]:
    """Return the reader of a variable that shows a table of the shell."""

    def read(shell: ShellParts) -> object:
        from agentsandbox.shell.interpreter.listing_variables import LISTS

        return LISTS[name](shell)

    return read


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
    "FUNCNAME": _list("FUNCNAME"),
    "BASH_SOURCE": _list("BASH_SOURCE"),
    "BASH_LINENO": _list("BASH_LINENO"),
    "BASH_ARGV": _list("BASH_ARGV"),
    "BASH_ARGC": _list("BASH_ARGC"),
    "BASH_ARGV0": lambda shell: shell.invocation.name,
    "DIRSTACK": _list("DIRSTACK"),
    "GROUPS": lambda shell: IndexedArray.of(["1000"]),
    "SHELLOPTS": _list("SHELLOPTS"),
    "BASHOPTS": _list("BASHOPTS"),
    "BASH_ALIASES": _list("BASH_ALIASES"),
    "BASH_CMDS": _list("BASH_CMDS"),
    "COMP_WORDBREAKS": lambda shell: " \t\n\"'><=;|&(:",
    "_": lambda shell: shell.specials.last_argument,
}


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
