"""What all shells of one sandbox share: files, clock, processes, commands, the host's policies."""

from __future__ import annotations

import os
from time import thread_time

from agentsandbox.shell.interpreter.state import DERIVED, HOST, KEPT, RUNNING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import ClassVar

    from agentsandbox.contract.command import Command, CommandTable
    from agentsandbox.contract.host import Host
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.fs.base import FileSystem, Mode
    from agentsandbox.kernel.fs.devices import Borrowed
    from agentsandbox.kernel.processes import Scheduler
    from agentsandbox.kernel.streams import Stream
    from agentsandbox.shell.interpreter.fifos import Fifos

_STANDARD = {"stdin": 0, "stdout": 1, "stderr": 2}


class Located:
    """What PATH has found for a name: the directories that were searched, as they were."""

    __slots__ = ("directories", "file", "path", "tool")

    def __init__(
        self, path: str, directories: tuple[tuple[str, object], ...], file: str, tool: Command
    ) -> None:
        self.path = path
        self.directories = directories
        self.file = file
        self.tool = tool


class Machine:
    """Everything that all shells of a sandbox share."""

    SLOTS: ClassVar[Mapping[str, str]] = {
        "accounts": HOST,
        "active_skills": HOST,
        "available": HOST,
        "budget": HOST,
        "commands": HOST,
        "cpu_base": HOST,
        "fifos": DERIVED,
        "fs": HOST,
        "hints": HOST,
        "history": KEPT,
        "host": HOST,
        "located": DERIVED,
        "on_skill_script": HOST,
        "scheduler": HOST,
        "script_errexit": HOST,
        "skill_mounts": HOST,
        "table": RUNNING,
        "user": HOST,
    }
    """What becomes of each slot in a copy: see `interpreter.state`."""
    __slots__ = tuple(SLOTS)

    if TYPE_CHECKING:  # for `specials`, which is read first
        host: Host

    def __init__(
        self,
        *,
        fs: FileSystem,
        host: Host,
        scheduler: Scheduler,
        budget: Budget,
        commands: Mapping[str, Command],
        available: CommandTable,
        script_errexit: str,
        user: str,
    ) -> None:
        self.fs = fs
        self.host = host
        self.scheduler = scheduler
        self.budget = budget
        self.accounts = budget.accounts
        self.table: Mapping[int, Stream] = {}
        """The descriptors of the shell whose builtin looks at one by its name."""
        self.commands = commands
        """The host's own commands."""
        self.available = available
        """All other commands, found by name."""
        self.located: dict[str, Located] = {}
        """The commands that PATH has found (`search.located_tool`)."""
        self.script_errexit = script_errexit
        """Which script files begin with errexit: "sh", "always" or "never"."""
        self.user = user
        self.fifos: Fifos | None = None
        """Made when the first script opens one."""
        self.cpu_base = thread_time()
        """What the thread had used before; `times` counts from here."""
        self.hints = True
        """Whether "command not found" says what there is instead."""
        self.history: list[str] = []
        self.accounts.holders[1] = self.history
        self.skill_mounts: tuple[tuple[str, str], ...] = ()
        """(path, name) of each mounted skill."""
        self.active_skills: list[str] = []
        """The mount paths of those that a session has mounted, the latest last."""
        self.on_skill_script: Callable[[str, str], None] | None = None

    def remember(self, script: str, most: int) -> None:
        """Add a script to the history, which keeps the last `most`."""
        history = self.history
        history.append(script)
        if len(history) > most:
            del history[: len(history) - most]

    def forget(self, count: int) -> None:
        """Drop the oldest `count` lines of the history."""
        if count > 0:
            del self.history[:count]

    def find_command(self, name: str) -> Command | None:
        """The command of that name: the host's, or ours."""
        found = self.commands.get(name)
        return self.available.find(name) if found is None else found

    def stops_at_errors(self, is_sh: bool) -> bool:
        """Whether a script file begins with errexit; `is_sh`: its shell is `sh`, or unnamed."""
        return self.script_errexit == "always" or (is_sh and self.script_errexit == "sh")

    def open_descriptor(self, path: str) -> Borrowed | None:
        """Return the stream of /dev/fd/N, /dev/stdin … of the running process; None for another
        path.

        Raise ENOENT for a closed one.
        """
        name = path.rpartition("/")[2]
        number = _STANDARD.get(name)
        if number is None:
            if not name.isdigit() or not name.isascii() or len(name) > 6:
                return None
            number = int(name)
        table = self.scheduler.current.descriptors or self.table
        stream = table.get(number) if table is not None else None
        if stream is None:
            raise FileNotFoundError(2, os.strerror(2), path)
        from agentsandbox.kernel.fs.devices import Borrowed

        return Borrowed(stream)

    def open_fifo(self, number: int, path: str, mode: Mode) -> Stream:
        """Open one side of a named pipe (`fifos.Fifos.open`)."""
        if self.fifos is None:
            from agentsandbox.shell.interpreter.fifos import Fifos

            self.fifos = Fifos(self.scheduler)
        return self.fifos.open(number, path, mode)

    def skill_at(self, path: str) -> tuple[str, str] | None:
        """(mount path, name) of the skill that a path belongs to."""
        for mount, name in self.skill_mounts:
            if path == mount or path.startswith(mount + "/"):
                return mount, name
        return None
