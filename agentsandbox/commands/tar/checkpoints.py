"""What `tar` says while it is at work: `--checkpoint` and `--checkpoint-action`."""

from __future__ import annotations

import re

from agentsandbox.errors import CommandError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from agentsandbox.contract.command import Arguments, CommandContext

    class Options(Protocol):
        """What the options of `tar` say of checkpoints."""

        ctx: CommandContext
        args: Arguments
        record: int


_FATAL = "Error is not recoverable: exiting now"
_USUAL = 10


class Checkpoints:
    """Counts records; `doing` is "Read" or "Write". Without --checkpoint nothing is said."""

    def __init__(self, options: Options, doing: str) -> None:
        self.ctx = options.ctx
        self.doing = doing
        self.record = options.record
        self.done = 0
        self.every = 0
        self.actions: list[str] = []
        for key, value in options.args.given:
            if key == "checkpoint":
                self._read_number(value or str(_USUAL))
            elif key == "checkpoint-action":
                self._read_action(value or "")

    def _read_number(self, text: str) -> None:
        if text.startswith("."):
            self.actions.append("dot")
            text = text[1:]
        if not re.fullmatch(r"[0-9]{1,12}", text) or not int(text):
            raise CommandError(f"--checkpoint value is not an integer\ntar: {_FATAL}", 2)
        self.every = int(text)

    def _read_action(self, text: str) -> None:
        if text not in ("echo", "dot", ".") and not text.startswith("echo="):
            raise CommandError(f"{text}: unknown checkpoint action\ntar: {_FATAL}", 2)
        self.actions.append(text)
        self.every = self.every or _USUAL

    def reach(self, size: int) -> None:
        """So many bytes have been read or written."""
        if not self.every:
            return
        while self.done * self.record < size:
            self.done += 1
            if not self.done % self.every:
                self.ctx.budget.step()
                for action in self.actions or ["echo"]:
                    self._tell(action)

    def _tell(self, action: str) -> None:
        if action in ("dot", "."):
            self.ctx.stdout.write(b".")
        else:
            text = action[5:] if action.startswith("echo=") else "%s checkpoint %u"
            values = {
                "%s": self.doing if action == "echo" else self.doing.lower(),
                "%u": str(self.done),
                "%%": "%%",
            }
            self.ctx.stderr.write(
                encode(f"tar: {re.sub('%.', lambda found: values.get(found[0], found[0]), text)}\n")
            )
