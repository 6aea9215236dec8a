"""The types that dot commands need from the shell that runs them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from agentsandbox.commands.sqlite3.database import Database
    from agentsandbox.commands.sqlite3.output import Printer
    from agentsandbox.contract.command import CommandContext

    class Output(Protocol):
        """The target of output: a file or a command."""

        def write(self, data: bytes) -> object: ...
        def release(self) -> None: ...

    class Shell(Protocol):
        """One run of `sqlite3`."""

        ctx: CommandContext
        once: bool
        output: Output | None
        printer: Printer

        @property
        def database(self) -> Database: ...
        def end_output(self) -> None: ...
        def flush(self) -> None: ...
        def query(self, sql: str) -> list[tuple[object, ...]]: ...
        def write(self, text: str) -> None: ...
