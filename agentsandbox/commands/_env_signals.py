"""What `env` does about signals: which ones the program ignores, takes as usual, or never gets."""

from __future__ import annotations

from agentsandbox.commands._quoting import quote
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.processes import SIGNAL_NUMBERS, SIGNALS
from agentsandbox.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import Arguments, CommandContext

__all__ = ["SignalPlan", "read_signals"]

_NUMBERS = SIGNAL_NUMBERS | {"CLD": SIGNAL_NUMBERS["CHLD"], "IOT": SIGNAL_NUMBERS["ABRT"], "POLL": SIGNAL_NUMBERS["IO"]}
_NAMES = SIGNALS | {SIGNAL_NUMBERS["IO"]: "POLL"}
_UNCATCHABLE = frozenset((SIGNAL_NUMBERS["KILL"], SIGNAL_NUMBERS["STOP"]))
_OPTIONS = ("default-signal", "ignore-signal", "block-signal")


def _number(text: str) -> int:
    """The number of a signal by its name, its number or the status of what it killed."""
    if text.isascii() and text.isdecimal() and len(text) < 10:
        status = int(text)
        number = status & (0xFF if status >= 0xFF else 0x7F)
    else:
        number = _NUMBERS.get(text.upper().removeprefix("SIG"), 0)
    if number not in SIGNALS:
        raise UsageError(f"{quote(text)}: invalid signal")
    return number


def read_signals(text: str) -> list[int]:
    """The numbers of the signals in a list with commas."""
    return [_number(part) for part in text.split(",") if part]


class SignalPlan:
    """The signals that the options name, and what becomes of them."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        process = ctx.host.scheduler.current
        self.ignored = process.ignored()
        self.blocked = set(process.blocked)
        self.actions: dict[int, tuple[str, bool]] = {}
        """(the option, whether it names the signal itself)."""
        self.masks: dict[int, str] = {}
        for key, value in args.given:
            if key in _OPTIONS:
                named = value is not None
                for number in read_signals(value or "") if named else SIGNALS:
                    self._take(key, number, named=named)
        self.is_changed = bool(self.actions or self.masks)

    def _take(self, key: str, number: int, *, named: bool) -> None:
        if key == "block-signal":
            self.masks[number] = "BLOCK"
            return
        self.actions[number] = (key, named)
        if key == "default-signal":
            self.masks[number] = "UNBLOCK"

    def carry_out(self) -> list[str]:
        """What -v says of it."""
        said: list[str] = []
        for number, (key, named) in sorted(self.actions.items()):
            if number in _UNCATCHABLE:
                if named:
                    raise CommandError(f"failed to set signal action for signal {number}: Invalid argument", 125)
                continue
            ignores = key == "ignore-signal"
            (self.ignored.add if ignores else self.ignored.discard)(number)
            said.append(f"Reset signal {_NAMES[number]} ({number}) to {'IGNORE' if ignores else 'DEFAULT'}\n")
        for number, mask in sorted(self.masks.items()):
            if number not in _UNCATCHABLE:
                (self.blocked.add if mask == "BLOCK" else self.blocked.discard)(number)
            said.append(f"signal {_NAMES[number]} ({number}) mask set to {mask}\n")
        return said

    def tell(self, ctx: CommandContext) -> None:
        """Say which signals are handled in another way than usual."""
        for number, name in _NAMES.items():
            handling = [word for word, numbers in (("BLOCK", self.blocked), ("IGNORE", self.ignored)) if number in numbers]
            if handling:
                ctx.stderr.write(encode(f"{name:<10} ({number:2}): {','.join(handling)}\n"))
