"""Users and groups by name and number, from /etc/passwd and /etc/group of the sandbox."""

from __future__ import annotations

from agentsandbox.commands._files.names import quote
from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext

_SANDBOX_ID = 1000
_LARGEST_ID = 2**32 - 1


class Owners:
    """The users and groups, read once for a command."""

    __slots__ = ("groups", "users")

    def __init__(self, ctx: CommandContext) -> None:
        self.users = self._read(ctx, "/etc/passwd")
        """Names by number, as in `groups`."""
        self.groups = self._read(ctx, "/etc/group")
        for table in (self.users, self.groups):
            table.setdefault(_SANDBOX_ID, ctx.host.user)
            table.setdefault(0, "root")

    @staticmethod
    def _read(ctx: CommandContext, path: str) -> dict[int, str]:
        table: dict[int, str] = {}
        try:
            text = ctx.fs.read_text(path)
        except OSError:
            return table
        for line in text.splitlines():
            ctx.budget.step()
            fields = line.split(":")
            if len(fields) > 2 and fields[2].isdecimal() and len(fields[2]) <= 10:
                table.setdefault(int(fields[2]), fields[0])
        return table

    def user(self, number: int) -> str:
        """Return the user's name, or the number in digits."""
        return self.users.get(number) or str(number)

    def group(self, number: int) -> str:
        """Return the group's name, or the number in digits."""
        return self.groups.get(number) or str(number)

    def has_user(self, number: int) -> bool:
        """Whether the user has a name."""
        return number in self.users

    def has_group(self, number: int) -> bool:
        """Whether the group has a name."""
        return number in self.groups

    def user_number(self, text: str) -> int | None:
        """Return the number of a user given by name or in digits, None if there is none."""
        return self._number(self.users, text)

    def group_number(self, text: str) -> int | None:
        """Return the number of a group given by name or in digits, None if there is none."""
        return self._number(self.groups, text)

    @staticmethod
    def _number(table: dict[int, str], text: str) -> int | None:
        for number, name in table.items():
            if name == text:
                return number
        digits = text.removeprefix("+")
        if (
            digits.isascii()
            and digits.isdecimal()
            and len(digits) <= 10
            and int(digits) < _LARGEST_ID
        ):
            return int(digits)
        return None


def parse_owner(owners: Owners, text: str) -> tuple[int | None, int | None]:
    """Return (user, group) of `OWNER[:[GROUP]]` as `chown` takes it, None for a missing part."""
    name, colon, group_name = text.partition(":")
    dotted = not colon and "." in text and owners.user_number(text) is None
    if dotted:  # the old form; if it is wrong, all of it was a user
        name, colon, group_name = text.partition(".")
    user = group = None
    if name:
        user = owners.user_number(name)
        if colon and not group_name and not dotted and (user is None or owners.user(user) != name):
            raise CommandError(f"invalid spec: {quote(text)}")  # a number has no login group
        if user is None:
            raise CommandError(f"invalid user: {quote(text)}")
    if group_name:
        group = owners.group_number(group_name)
        if group is None:
            raise CommandError(f"invalid {'user' if dotted else 'group'}: {quote(text)}")
    elif colon and user is not None:
        if owners.user(user) != name:
            raise CommandError(f"invalid user: {quote(text)}")
        group = user
    return user, group
