"""How patch calls the originals that it keeps."""

from __future__ import annotations

import posixpath

from agentsandbox.commands._backups import CONTROLS, highest_backup
from agentsandbox.commands._choices import choose
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.command import Arguments, CommandContext

__all__ = ["Originals"]

_TROUBLE = 2
_AFFIXES = ("prefix", "basename-prefix", "suffix")


class Originals:
    """What -B, -Y, -z and -V, or the environment, say about names."""

    __slots__ = ("affixes", "control", "suffix")

    def __init__(self, args: Arguments, env: Mapping[str, str]) -> None:
        for key, value in args.given:
            if key in _AFFIXES and not value:
                raise CommandError(f"**** backup {key.replace('-', ' ')} is empty", _TROUBLE)
        self.affixes = [args.value(key) or "" for key in _AFFIXES]
        self.suffix = env.get("SIMPLE_BACKUP_SUFFIX") or ".orig"
        source, control = "--version-control or -V option", args.value("version-control")
        for name in ("PATCH_VERSION_CONTROL", "VERSION_CONTROL"):
            if control is None and env.get(name):
                source, control = f"${name}", env[name]
        try:
            self.control = choose(control, source, CONTROLS) if control else "existing"
        except UsageError as error:
            raise CommandError(error.message.replace("\u2018", "'").replace("\u2019", "'"), _TROUBLE) from None

    def name(self, ctx: CommandContext, target: str) -> str:
        """What the original of a file is called."""
        prefix, before, suffix = self.affixes
        if prefix or before or suffix:
            directory, slash, base = target.rpartition("/")
            return f"{prefix}{directory}{slash}{before}{base}{suffix}"
        highest = highest_backup(ctx, target) if self.control != "simple" else 0
        return f"{target}.~{highest + 1}~" if highest or self.control == "numbered" else target + self.suffix

    def keep(self, ctx: CommandContext, target: str, original: bytes, permissions: int) -> None:
        """Write the original under its new name."""
        name = self.name(ctx, target)
        path = ctx.path(name)
        parent = posixpath.dirname(path)
        if any(self.affixes[:2]) and not ctx.fs.is_dir(parent):
            ctx.fs.makedirs(parent)
        try:
            ctx.fs.write_bytes(path, original, permissions=permissions)
        except OSError as error:
            raise CommandError(f"**** Can't rename file {target} to {name} : {error.strerror}", _TROUBLE) from None
        ctx.fs.chmod(path, permissions)
