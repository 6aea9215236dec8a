"""What an expansion asks of the shell it happens in: the only way from here to the interpreter."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.limits import Budget
    from agentsandbox.shell.expansion.variables import Variables

    class ExpansionHost(Protocol):
        """The state of a shell, as far as words depend on it."""

        values: dict[str, object]
        attributes: dict[str, int]
        variables: Variables
        positional: list[str]
        name: str
        status: int
        line: int
        ifs: str
        default_ifs: bool
        plain_ifs: bool
        nounset: bool
        posix: bool
        noglob: bool
        braceexpand: bool
        bytewise: bool
        extglob: bool
        shopt: Mapping[str, bool]
        cwd: str
        fs: FileSystem
        budget: Budget
        expressions: int

        def complain(self, message: str) -> None: ...
        def fault(self, message: str) -> None: ...
        def option_letters(self) -> str: ...
        def shell_pid(self) -> int: ...
        def background_pid(self) -> int | None: ...
        def prompt(self, text: str) -> str: ...
        def seen(self, text: str) -> str: ...
        def home_of(self, user: str) -> str | None: ...
        def directory(self, number: str) -> str | None: ...
        def expand_text(self, text: str) -> str: ...
        def key(self, name: str, text: str) -> str: ...
        def arithmetic(self, text: str) -> int: ...
        def function_names(self) -> list[str]: ...
