"""What the parts of one run of make ask of each other.

`Run` (in `build`) holds the parts; each part knows the others by these protocols only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from agentsandbox.commands.make.expansion import Expander
    from agentsandbox.commands.make.graph import Graph, Recipe, Target
    from agentsandbox.commands.make.options import Options
    from agentsandbox.commands.make.variables import FatalError, Place, Scope, Variable
    from agentsandbox.contract.command import CommandContext

    class Runner(Protocol):
        """Runs recipes (see `recipes`)."""

        def is_recursive(self, recipe: Recipe) -> bool: ...
        def set_automatic(
            self, scope: Scope, target: Target, *, stem: str | None = None
        ) -> None: ...
        def start(self, target: Target) -> None: ...
        def reap(self) -> None: ...

    class Walker(Protocol):
        """Walks over the targets (see `updating`)."""

        started: int
        for_makefiles: bool

        def scope_of(self, target: Target) -> Scope: ...
        def finish(self, target: Target, *, ran: bool) -> None: ...

    class Build(Protocol):
        """One run of make (see `build`)."""

        ctx: CommandContext
        options: Options
        scope: Scope
        graph: Graph
        expander: Expander
        level: int
        prefix: str
        jobs: int
        suffixes: list[str]
        precious: list[str]
        export_all: bool
        second_expansion: bool
        one_shell: bool
        is_posix: bool
        not_parallel: bool

        @property
        def runner(self) -> Runner: ...
        @property
        def walker(self) -> Walker: ...
        @property
        def recipe_prefix(self) -> str: ...
        def say(self, text: str) -> None: ...
        def say_plain(self, text: str) -> None: ...
        def say_at(self, place: Place | None, text: str) -> None: ...
        def fatal(self, message: str, place: Place | None = None) -> FatalError: ...
        def expand(self, text: str) -> str: ...
        def expand_at(self, text: str, place: Place | None) -> str: ...
        def is_special(self, name: str, target: Target) -> bool: ...
        def read_file(
            self, name: str, *, included: Place | None = None, is_optional: bool = False
        ) -> None: ...
        def assign(
            self,
            scope: Scope,
            name: str,
            operator: str,
            value: str,
            origin: int,
            place: Place | None,
            *,
            in_target: bool = False,
        ) -> Variable: ...
