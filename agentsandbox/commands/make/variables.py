"""Variables of a makefile, and the scopes in which they are looked up.

A variable belongs to the makefile, to a target or to all targets that match a pattern. A target
sees its own variables, then those of the target that it is made for, and so on up to the makefile's
(`Scope`). An origin of a higher rank is not replaced by one of a lower rank: what the command line
sets is stronger than what the makefile says.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Protocol

    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.streams import ByteWriter

    class Surroundings(Protocol):
        """What expansion and the table of files ask of the run of make that they belong to."""

        ctx: CommandContext
        scope: Scope

        @property
        def warns_undefined(self) -> bool: ...
        def fatal(self, message: str, place: Place | None = None) -> FatalError: ...
        def say_at(self, place: Place | None, text: str) -> None: ...
        def expand(self, text: str) -> str: ...
        def read_text(self, text: str, place: Place | None) -> None: ...
        def wildcard(self, pattern: str, *, only_existing: bool = False) -> list[str]: ...
        def run_command(
            self,
            text: str,
            environment: Mapping[str, str],
            scope: Scope,
            *,
            stdout: ByteWriter | None = None,
        ) -> int: ...


DEFAULT, ENVIRONMENT, FILE, ENVIRONMENT_OVERRIDE, COMMAND, OVERRIDE, AUTOMATIC = range(7)
ORIGINS = (
    "default", "environment", "file", "environment override", "command line", "override",
    "automatic",
)  # fmt: skip
"""What `$(origin …)` says, by rank."""

_NAME = re.compile(r"(?:\\.|[^ \t\n\v\f\r\\]|\\)++")
_QUOTED_BLANK = re.compile(r"\\([ \t])")
_WORD = re.compile(r"[^ \t\n\v\f\r]+")
_SHELL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)

Place = tuple[str, int]
"""A makefile's name and a line number in it."""


class FatalError(Exception):
    """What ends make at once: one whole line for standard error, and the status."""

    def __init__(self, line: str, status: int = 2) -> None:
        super().__init__(line)
        self.line = line
        self.status = status


def words_of(text: str) -> list[str]:
    """Split at blanks as make does: the blanks of ASCII, no others."""
    return _WORD.findall(text)


def names_of(text: str) -> list[str]:
    """Split at blanks that no backslash quotes: the names of files."""
    if "\\" not in text:
        return _WORD.findall(text)
    return [_QUOTED_BLANK.sub(r"\1", found) for found in _NAME.findall(text)]


class Variable:
    """A variable: its text, and whether that is expanded at each use (`recursive`)."""

    __slots__ = (
        "append", "expanding", "exported", "name", "origin", "place", "private", "recursive",
        "value",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        value: str,
        origin: int,
        *,
        recursive: bool = True,
        place: Place | None = None,
    ) -> None:
        self.name = name
        self.value = value
        self.origin = origin
        self.recursive = recursive
        self.place = place
        self.exported: bool | None = None
        """Whether recipes get it; None: by its origin."""
        self.private = False
        self.append = False
        """Whether the value of the outer scope comes before this one (`target: X += …`)."""
        self.expanding = 0


class Scope:
    """The variables of a target, in front of those of an outer scope."""

    __slots__ = ("inherits_private", "outer", "variables")

    def __init__(self, outer: Scope | None = None, *, inherits_private: bool = False) -> None:
        self.variables: dict[str, Variable] = {}
        self.outer = outer
        self.inherits_private = inherits_private
        """Whether the outer scope is of the same target, so that its private variables count."""

    def find(self, name: str) -> Variable | None:
        """Return the variable that a reference here means."""
        scope: Scope | None = self
        own = True
        while scope is not None:
            found = scope.variables.get(name)
            if found is not None and (own or not found.private):
                return found
            own = own and scope.inherits_private
            scope = scope.outer
        return None

    def beyond(self, variable: Variable) -> Scope | None:
        """Return the scope outside the one that holds this variable."""
        scope: Scope | None = self
        while scope is not None and scope.variables.get(variable.name) is not variable:
            scope = scope.outer
        return None if scope is None else scope.outer

    def chain(self) -> Iterator[Scope]:
        """Yield this scope and the outer ones."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def set(
        self,
        name: str,
        value: str,
        origin: int,
        *,
        recursive: bool = True,
        place: Place | None = None,
    ) -> Variable:
        """Set a variable here, unless it has a stronger origin; return the one that counts."""
        found = self.variables.get(name)
        if found is None:
            found = self.variables[name] = Variable(
                name, value, origin, recursive=recursive, place=place
            )
        elif origin >= found.origin:
            found.value, found.origin, found.recursive = value, origin, recursive
            found.place, found.append = place, False
        return found


def is_shell_name(name: str) -> bool:
    """Whether a shell can have a variable of this name, so that it may be exported."""
    return _SHELL_NAME.match(name) is not None
