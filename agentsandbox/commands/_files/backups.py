"""Backups that `cp`, `mv`, `ln` and `install` make of the files they replace."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.commands._text.choices import choose
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import describe_os_error
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Arguments, CommandContext

CONTROLS = (("none", "off"), ("simple", "never"), ("existing", "nil"), ("numbered", "t"))


def highest_backup(ctx: CommandContext, path: str) -> int:
    """Return the highest number of a numbered backup of `path`, 0 without one."""
    directory, base = posixpath.split(path)
    highest = 0
    pattern = re.compile(re.escape(base) + r"\.~([1-9][0-9]{0,17})~")
    try:
        names = ctx.fs.listdir(ctx.path(directory or "."))
    except OSError:
        names = []
    for name in names:
        ctx.budget.step()
        found = pattern.fullmatch(name)
        if found:
            highest = max(highest, int(found[1]))
    return highest


class Backups:
    """The options of backups: `control` is none, simple, existing or numbered."""

    __slots__ = ("control", "ctx", "suffix")

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        suffix = args.value("suffix")
        if suffix is None:
            suffix = ctx.env.get("SIMPLE_BACKUP_SUFFIX") or "~"
        self.suffix = suffix if suffix and "/" not in suffix else "~"
        self.control = "none"
        if args.last("backup", "b", "suffix"):
            control = args.value("backup") or ""
            if control:
                self.control = choose(control, "backup type", CONTROLS)
            else:
                control = ctx.env.get("VERSION_CONTROL", "")
                self.control = (
                    choose(control, "$VERSION_CONTROL", CONTROLS) if control else "existing"
                )

    def __bool__(self) -> bool:
        return self.control != "none"

    def name(self, path: str) -> str:
        """Return the name of a backup of `path`, an operand."""
        path = path.rstrip("/") or path
        if self.control == "simple":
            return path + self.suffix
        highest = highest_backup(self.ctx, path)
        if self.control == "existing" and not highest:
            return path + self.suffix
        return f"{path}.~{highest + 1}~"

    def destroys(self, source: str, target: str) -> bool:
        """Whether the backup of `target` would take the place of `source`."""
        backup = target.rstrip("/") + self.suffix
        if self.control in ("none", "numbered") or (
            posixpath.basename(backup) != posixpath.basename(source.rstrip("/"))
        ):
            return False
        fs, path = self.ctx.fs, self.ctx.path
        try:
            return fs.stat(path(backup)).ino == fs.stat(path(source)).ino != 0
        except OSError:
            return False

    def make(self, path: str) -> str:
        """Rename `path` to the name of its backup, and return that."""
        name = self.name(path)
        self.ctx.fs.rename(self.ctx.path(path), self.ctx.path(name))
        return name

    def undo(self, backup: str, path: str, *, verbose: bool) -> None:
        """Rename the backup to `path` again, after what was to replace it failed."""
        try:
            self.ctx.fs.rename(self.ctx.path(backup), self.ctx.path(path))
        except OSError as error:
            shown = quote_always(path)
            self.ctx.warn(f"cannot un-backup {shown}: {describe_os_error(error, '')}")
            return
        if verbose:
            shown = f"{quote_always(backup)} -> {quote_always(path)} (unbackup)\n"
            self.ctx.stdout.write(encode(shown))
