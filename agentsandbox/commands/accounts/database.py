"""Users and groups of the sandbox, from /etc/passwd and /etc/group."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext

_OWN_ID = 1000


class Account:
    """A user: numbers and names, `groups` as (number, name) with the user's own group first."""

    __slots__ = ("groups", "name", "uid")

    def __init__(self, name: str, uid: int, groups: list[tuple[int, str]]) -> None:
        self.name = name
        self.uid = uid
        self.groups = groups


def _table(ctx: CommandContext, path: str) -> list[list[str]]:
    try:
        lines = ctx.fs.read_text(path).splitlines()
    except OSError:
        return []
    ctx.budget.step(len(lines))
    return [line.split(":") for line in lines]


def _digits(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 11 else None


def find_account(ctx: CommandContext, name: str) -> Account | None:
    """Return the user of that name or number, None for an unknown one."""
    groups = _table(ctx, "/etc/group")
    names = {_digits(fields[2]): fields[0] for fields in groups if len(fields) > 2}
    wanted = _digits(name.removeprefix("+"))
    rows = [
        fields
        for fields in _table(ctx, "/etc/passwd")
        if len(fields) > 3 and _digits(fields[2]) is not None
    ]
    for fields in [row for row in rows if row[0] == name] or [
        row for row in rows if _digits(row[2]) == wanted
    ]:
        gid = _digits(fields[3]) or 0
        mine = [(gid, names.get(gid, str(gid)))]
        for row in groups:
            number = _digits(row[2]) if len(row) > 3 else None
            if number is not None and number != gid and fields[0] in row[3].split(","):
                mine.append((number, row[0]))
        return Account(fields[0], _digits(fields[2]) or 0, mine)
    return None


def own_account(ctx: CommandContext) -> Account:
    """Return the user that everything in the sandbox runs as."""
    found = find_account(ctx, str(_OWN_ID))
    return found or Account(ctx.host.user, _OWN_ID, [(_OWN_ID, ctx.host.user)])
