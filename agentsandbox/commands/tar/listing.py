"""How `tar` lists members: `-t`, `-tv`, and what `-v` prints during other actions."""

from __future__ import annotations

from agentsandbox.commands._files.modes import format_mode
from agentsandbox.commands.tar.names import show
from agentsandbox.kernel.formats.strftime import format_date
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.tar.format import Member
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.streams import ByteWriter


class Listing:
    """Writes one line for each member. The columns widen as needed and stay wide."""

    def __init__(
        self, ctx: CommandContext, stream: ByteWriter, verbose: int, *, numeric: bool
    ) -> None:
        self._stream = stream
        self._verbose = verbose
        self._zone = ctx.env.get("TZ", "")
        self._numeric = numeric
        self._width = 19
        self._last_time = (0, "")
        """The second of the last member and its text: many members have the same."""

    def write(self, member: Member, name: str) -> None:
        """Write the line of a member under the given name."""
        line = show(name)
        if self._verbose > 0:
            line = self._details(member) + line + self._link(member)
        self._stream.write(encode(line + "\n"))

    def _link(self, member: Member) -> str:
        if member.kind == "link":
            return f" -> {show(member.link)}"
        if member.kind == "label":
            return "--Volume Header--"
        return f" link to {show(member.link)}" if member.kind == "hard" else ""

    def _details(self, member: Member) -> str:
        mode = format_mode(member.type_bits())
        if member.kind == "hard":
            mode = "h" + mode[1:]
        elif member.kind == "label":
            mode = "V" + mode[1:]
        user = member.user if member.user and not self._numeric else str(member.uid)
        group = member.group if member.group and not self._numeric else str(member.gid)
        size = (
            f"{member.device[0]},{member.device[1]}"
            if member.kind in ("char", "block")
            else str(member.size)
        )
        owner = f"{user}/{group}"
        self._width = max(self._width, len(owner) + 1 + len(size))
        return f"{mode} {owner} {size.rjust(self._width - len(owner) - 1)} {self._time(member)} "

    def _time(self, member: Member) -> str:
        second, text = self._last_time
        if member.mtime // 1_000_000_000 != second or not text:
            second = member.mtime // 1_000_000_000
            text = format_date(member.mtime, "%Y-%m-%d %H:%M", self._zone)
            self._last_time = second, text
        return text
