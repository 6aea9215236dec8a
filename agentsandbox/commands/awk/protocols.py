"""The run of a program as its channels and its built-in functions use it.

`Runtime` is made of parts that call it back; they know it only by this protocol.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from agentsandbox.commands.awk.modes import Mode
    from agentsandbox.commands.awk.records import RecordReader
    from agentsandbox.commands.awk.values import Array, Value
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.budget import Budget

    class Run(Protocol):
        """A run of a program, as its channels and its built-in functions use it."""

        CONVFMT: str
        ERRNO: Any
        IGNORECASE: Any
        OFMT: str
        SUBSEP: str
        arrays: dict[str, Array]
        budget: Budget
        bytewise: bool
        conversions: dict[str, Callable[..., Any]]
        csv: bool
        ctx: CommandContext
        functions: dict[str, tuple[Callable[..., Any], str]]
        got: str
        line: int
        mode: Mode
        numbers: dict[str, Callable[..., Any]]
        out: list[str]
        text: Callable[[object], str]
        told_of_bytes: bool
        variables: dict[str, Value]

        def account(self, size: int) -> None: ...
        def flush_output(self) -> None: ...
        def other_field(self, number: float, record: str) -> str: ...
        def other_value(self, number: float, record: str) -> Value: ...
        def read_record(self, reader: RecordReader) -> float: ...
        def split_fields(self, text: str) -> list[str]: ...
        def warn(self, message: str) -> None: ...
        def write(self, text: str) -> None: ...
