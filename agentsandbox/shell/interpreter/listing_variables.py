"""Variables that show a table of the shell: the call stack, the options, aliases, hashed paths.

An assignment to an element of BASH_ALIASES, BASH_CMDS or DIRSTACK changes the table.
"""

from __future__ import annotations

from agentsandbox.shell.expansion.variables import AssociativeArray, IndexedArray
from agentsandbox.shell.interpreter.options import OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.interpreter.parts import ShellParts


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


LISTS: dict[str, Callable[[ShellParts], object]] = {
    "FUNCNAME": _functions,
    "BASH_SOURCE": _sources,
    "BASH_LINENO": _call_lines,
    "BASH_ARGV": _arguments,
    "BASH_ARGC": _argument_counts,
    "DIRSTACK": _DirectoryStack,
    "SHELLOPTS": _options,
    "BASHOPTS": lambda shell: ":".join(
        sorted(name for name, on in shell.options.shopt.items() if on)
    ),
    "BASH_ALIASES": _Aliases,
    "BASH_CMDS": _HashedPaths,
}
"""The readers of `special_variables.READERS`."""

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
