"""The runtime of a compiled program: its special variables, and how it begins."""

from __future__ import annotations

from types import FunctionType

from agentsandbox.commands.awk.functions import conversions, namespace
from agentsandbox.commands.awk.input import Input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agentsandbox.commands.awk.channels import Channels
    from agentsandbox.commands.awk.codegen import Compiled
    from agentsandbox.commands.awk.modes import Mode
    from agentsandbox.contract.command import CommandContext


class Runtime(Input):
    """One run of one program. Generated code reads and writes the attributes."""

    def __init__(
        self,
        ctx: CommandContext,
        warn: Callable[[str, int], None],
        mode: Mode,
        *,
        bytewise: bool,
    ) -> None:
        super().__init__(ctx, warn, mode, bytewise=bytewise)
        self.ORS = "\n"
        self.SUBSEP = "\x1c"
        self.CONVFMT = "%.6g"
        self.OFMT = "%.6g"
        self.RSTART: Any = 0.0
        self.RLENGTH: Any = 0.0
        self.BINMODE: Any = 0.0
        self.LINT: Any = 0.0
        self.status = 0
        self.told_of_bytes = False
        """Whether a warning of bytes that are no characters was given."""
        self.functions: dict[str, tuple[Callable[..., Any], str]] = {}
        self.in_end = False
        self.conversions = conversions(self)
        self.text = self.conversions["text"]
        self.key = self.conversions["key"]
        self.names: dict[str, Any] = {}
        """The global names of the compiled program; no other code has them."""
        self._choose_splitter()

    def run(self, compiled: Compiled) -> None:
        """Run the program to its end."""
        self.uses_terminator = "rt.RT" in compiled.source
        if "rt.channels" in compiled.source:
            self.use_channels()
        self.names = namespace(self, compiled.functions)
        FunctionType(compiled.code, self.names)(self)

    def use_channels(self) -> Channels:
        """Return the files and pipes, made when first needed."""
        if self.channels is None:
            from agentsandbox.commands.awk.channels import Channels

            self.channels = Channels(self)
        return self.channels

    def set_status(self, number: float) -> None:
        """`exit number`."""
        self.status = int(number) & 255 if number - number == 0.0 else 0
