"""The state of a shell apart from its machine: what `Sandbox.fork` takes along, and a store will
save.

`kept_of` makes a copy of an idle shell that belongs to no machine: of its slots (`state`) only the
KEPT ones and what is DERIVED from them count. `resume` makes a shell of it on another machine,
which gives the HOST slots.

Descriptors have a rule of their own, as streams belong to a machine. The fork opens files of the
filesystem on its own, at the same position; here-documents continue where they were read; the three
standard streams become the fork's. Pipes, fifos, coprocesses and process substitutions cannot be
forked, since somebody else holds their other end: their descriptors are closed in the fork, and a
script that uses one there gets "Bad file descriptor".
"""

from __future__ import annotations

from agentsandbox.kernel.fs.devices import NullDevice, RandomDevice, ZeroDevice
from agentsandbox.kernel.fs.handles import MemoryFile
from agentsandbox.kernel.streams import BytesReader, Null, Stream
from agentsandbox.shell.expansion.variables import Variables
from agentsandbox.shell.interpreter.machine import Machine
from agentsandbox.shell.interpreter.redirections import Directory
from agentsandbox.shell.interpreter.shell import Shell
from agentsandbox.shell.interpreter.special_variables import WRITERS
from agentsandbox.shell.interpreter.state import HOST, KEPT, Descriptors, ProcessState
from agentsandbox.shell.interpreter.traps import SignalHandler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.kernel.fs.memory import MemoryFileSystem

    Table = Mapping[int, Stream | int]


def _named(owner: type[Shell | Machine | ProcessState | Variables], kind: str) -> list[str]:
    return [name for name, each in owner.SLOTS.items() if each == kind]


_OF_HOST = _named(Shell, HOST)
_OF_PROCESS = _named(ProcessState, HOST)
_OF_VARIABLES = _named(Variables, HOST)
_OF_MACHINE = _named(Machine, KEPT)
_STANDARD = {0: 0, 1: 1, 2: 2}


# TM-NEXT-4
class Kept:
    """The state of a sandbox's shell at one moment. Nothing in it changes, since many shells may be
    made of it.

    shell         a copy of the shell, without a machine
    machine       the KEPT slots of its machine
    table         its descriptors: a stream, or the number of a standard one
    has_streams   whether any of them is not a standard one
    last_pid      the number that its machine gave to the last process
    random_state  the state of a seeded generator of random numbers, None for an unseeded one
    """

    __slots__ = ("has_streams", "last_pid", "machine", "random_state", "shell", "table")

    def __init__(
        self,
        shell: Shell,
        machine: Mapping[str, object],
        table: Table,
        last_pid: int,
        random_state: tuple[object, ...] | None,
    ) -> None:
        self.shell = shell
        self.machine = machine
        self.table = table
        self.has_streams = any(isinstance(stream, Stream) for stream in table.values())
        self.last_pid = last_pid
        self.random_state = random_state

    def on(self, fs: MemoryFileSystem, origin: MemoryFileSystem) -> Kept:
        """Return the same state for `fs`, a fork of `origin`, with its open files on it."""
        if not self.has_streams:
            return self
        return Kept(
            self.shell,
            self.machine,
            _reopened(self.table, fs, origin),
            self.last_pid,
            self.random_state,
        )


def kept_of(shell: Shell, standard: Mapping[int, Stream], *, running: bool, seeded: bool) -> Kept:
    """Return the state of a sandbox's main shell as it is now.

    standard   its standard streams, by number
    running    whether a call is running: then the redirections of its commands are left out
    seeded     whether its random numbers are repeatable, and so continue in a copy
    """
    machine = shell.machine
    table: Table = _STANDARD
    if shell.fds is not standard:
        fds = {**shell.descriptors.base, **shell.descriptors.owned} if running else shell.fds
        numbers = {id(stream): number for number, stream in standard.items()}
        table = {number: numbers.get(id(stream), stream) for number, stream in fds.items()}
    twin = shell.fork()
    for name in _OF_HOST:
        setattr(twin, name, None)
    for part, names in ((twin.process, _OF_PROCESS), (twin.variables, _OF_VARIABLES)):
        for name in names:
            setattr(part, name, None)
    twin.fds = {}
    twin.descriptors = Descriptors(twin.fds)
    twin.variables.owner = None
    twin.jobs.settle()
    if running:
        twin.settle()
    of_machine = {name: _copied(getattr(machine, name)) for name in _OF_MACHINE}
    random_state = machine.host.random_state() if seeded else None
    return Kept(twin, of_machine, table, machine.scheduler.last_pid, random_state)


def resume(kept: Kept, machine: Machine, standard: dict[int, Stream]) -> Shell:
    """Return a shell on another machine with the kept state."""
    shell = kept.shell.fork()
    shell.machine = machine
    shell.fs = machine.fs
    shell.budget = machine.budget
    shell.policy = None
    shell.variables.owner = shell
    shell.variables.writers = WRITERS
    shell.variables.limit = machine.budget.value_bytes
    shell.process.attach(machine.scheduler.main)
    shell.fds = standard
    shell.descriptors = Descriptors(standard)
    if kept.table is not _STANDARD:
        _take_descriptors(shell, kept.table)
    for name, value in kept.machine.items():
        setattr(machine, name, _copied(value))
    machine.scheduler.last_pid = kept.last_pid
    if kept.random_state is not None:
        machine.host.random.setstate(kept.random_state)
    if shell.traps.handlers:
        shell.process.task.on_signal = SignalHandler(shell)
    shell.update_flags()
    return shell


def _take_descriptors(shell: Shell, table: Table) -> None:
    """Give a shell these descriptors besides the standard ones, and hold their streams."""
    standard = shell.fds
    shell.fds = {
        number: standard[stream] if isinstance(stream, int) else stream
        for number, stream in table.items()
    }
    owned = {
        number: stream for number, stream in shell.fds.items() if standard.get(number) is not stream
    }
    for stream in owned.values():
        stream.acquire()
    shell.descriptors.owned = owned


def _copied(value: object) -> object:
    """Copy a list for another machine; all other values are never changed, and shared."""
    return value.copy() if isinstance(value, list) else value


def _reopened(table: Table, fs: MemoryFileSystem, origin: MemoryFileSystem) -> Table:
    """Return a fork's descriptors on its own filesystem, without those that cannot be forked."""
    twins: dict[int, Stream | None] = {}
    found: dict[int, Stream | int] = {}
    for number, stream in table.items():
        if isinstance(stream, int):
            found[number] = stream
            continue
        if id(stream) not in twins:
            twins[id(stream)] = twin = _twin_of(stream, fs, origin)
            if twin is not None:
                twin.references = 0  # the shell will hold it, once for each number
        other = twins[id(stream)]
        if other is not None:
            found[number] = other
    return found


def _twin_of(stream: Stream, fs: MemoryFileSystem, origin: MemoryFileSystem) -> Stream | None:
    """Return the same open file or device for a fork; None for one that cannot be forked."""
    if isinstance(stream, MemoryFile) and stream.fs is origin:
        return fs.adopt(stream)
    if isinstance(stream, BytesReader):
        copy = BytesReader(stream.data)
        copy.position = stream.position
        return copy
    if isinstance(stream, (NullDevice, RandomDevice, ZeroDevice)):
        return fs.open(stream.path or "", "r+")
    if isinstance(stream, (Null, Directory)):
        return type(stream)()
    from agentsandbox.kernel.fs.host import HostFile

    if isinstance(stream, (HostFile, MemoryFile)):  # of a mounted filesystem, which the fork shares
        twin = stream.reopened("a" if stream.append else "r+" if stream.writable else "r")
        assert isinstance(twin, (HostFile, MemoryFile))
        twin.readable, twin.offset = stream.readable, stream.offset
        return twin
    return None
