"""`mv` (POSIX 1003.1-2017, GNU coreutils): move files."""

from __future__ import annotations

import errno
import os

from agentsandbox.commands._files.backups import Backups
from agentsandbox.commands._files.copying import (
    Copier,
    CopyOptions,
    is_one_name,
    same_file,
    strip_slashes,
)
from agentsandbox.commands._files.modes import format_mode
from agentsandbox.commands._files.prompts import ask
from agentsandbox.commands._files.removal import Remover
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.commands.copy.targets import check_single_directory, name_in, split_operands
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import Stat


class _Mover:
    """Moves operands, one after the other. A problem is reported, and the next operand moved."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.backups = Backups(ctx, args)
        self.interactive = args.last("force", "interactive", "no-clobber")
        self.update = args.flag("update")
        self.verbose = args.flag("verbose")
        self._made: set[int] = set()
        if self.interactive == "no-clobber" and args.last("backup", "b", "suffix"):
            raise UsageError("options --backup and --no-clobber are mutually exclusive")

    def move(self, source: str, target: str) -> None:
        """Move a source to the target."""
        fs, ctx = self.ctx.fs, self.ctx
        try:
            info = fs.stat(ctx.path(source), follow=False)
        except OSError as error:
            ctx.warn(f"cannot stat {quote_always(source)}: {describe_os_error(error, '')}")
            return
        backup = ""
        try:
            existing = fs.stat(ctx.path(target), follow=False)
        except FileNotFoundError:
            existing = None
        except OSError as error:
            if not self._is_spared(target):
                ctx.warn(f"cannot stat {quote_always(target)}: {describe_os_error(error, '')}")
            return
        if existing is None and self._is_spared(target):
            return
        if existing is not None:
            if not self._settle(source, target, info, existing):
                return
            if self.backups:
                if self.backups.destroys(source, target):
                    shown = quote_always(source)
                    what = f"backing up {quote_always(target)} might destroy source"
                    ctx.warn(f"{what};  {shown} not moved")
                    return
                try:
                    backup = self.backups.make(target)
                except OSError as error:
                    ctx.warn(
                        f"cannot backup {quote_always(target)}: {describe_os_error(error, '')}"
                    )
                    return
        self._rename(source, target, info, backup)

    def _is_spared(self, target: str) -> bool:
        """Whether -n or -b ends the move to a name with a slash behind what is no directory."""
        if not target.endswith("/"):
            return False
        path = self.ctx.path(strip_slashes(target))
        try:
            is_link = self.ctx.fs.stat(path, follow=False).is_link
        except OSError:
            return False
        if is_link and self.backups:
            self.ctx.warn(f"cannot backup {quote_always(target)}: {os.strerror(errno.ENOTDIR)}")
            return True
        return self.interactive == "no-clobber"

    def _settle(self, source: str, target: str, info: Stat, existing: Stat) -> bool:
        """Whether an existing target may be replaced."""
        ctx = self.ctx
        shown_source, shown = quote_always(source), quote_always(target)
        if self.interactive == "no-clobber" and not info.is_dir:
            return False
        if self._is_same(source, target, info, existing):
            ctx.warn(f"{shown_source} and {shown} are the same file")
            return False
        if self.update and not info.is_dir and existing.mtime >= info.mtime:
            return False
        if self.interactive == "no-clobber" or (
            self.interactive == "interactive" and not self._may_overwrite(target, existing)
        ):
            return False
        if self.backups:
            return True
        if info.is_dir and not existing.is_dir:
            ctx.warn(f"cannot overwrite non-directory {shown} with directory {shown_source}")
            return False
        if existing.is_dir and not info.is_dir:
            ctx.warn(f"cannot overwrite directory {shown} with non-directory")
            return False
        if existing.ino in self._made and not existing.is_dir:
            ctx.warn(f"will not overwrite just-created {shown} with {shown_source}")
            return False
        return True

    def _is_same(self, source: str, target: str, info: Stat, existing: Stat) -> bool:
        """Whether the move would lose the file: both names mean it. The rules are GNU's."""
        ctx, one_node = self.ctx, same_file(info, existing)
        if self.backups:
            return one_node and is_one_name(ctx, source, target)
        if existing.is_link:  # it is removed, not followed
            return one_node
        if not info.is_link:
            return one_node
        if existing.nlink > 1:
            try:
                behind = ctx.fs.realpath(ctx.path(source))
            except OSError:
                return False
            return is_one_name(ctx, behind, target)
        try:
            return same_file(ctx.fs.stat(ctx.path(source)), existing)
        except OSError:
            return False

    def _may_overwrite(self, target: str, existing: Stat) -> bool:
        shown = quote_always(target)
        if existing.is_link or self.ctx.fs.access(self.ctx.path(target), 2):
            return ask(self.ctx, f"overwrite {shown}?")
        mode = f"{existing.permissions:04o} ({format_mode(existing.mode)[1:]})"
        return ask(self.ctx, f"replace {shown}, overriding mode {mode}?")

    def _rename(self, source: str, target: str, info: Stat, backup: str) -> None:
        ctx = self.ctx
        shown_source, shown = quote_always(source), quote_always(target)
        try:
            if source.endswith("/"):
                if not ctx.fs.stat(ctx.path(strip_slashes(source)), follow=False).is_dir:
                    raise NotADirectoryError(errno.ENOTDIR, "")
            ctx.fs.rename(ctx.path(source), ctx.path(target))
        except OSError as error:
            if error.errno == errno.EXDEV:
                self._copy(source, target)
            elif error.errno == errno.EINVAL and info.is_dir:
                ctx.warn(f"cannot move {shown_source} to a subdirectory of itself, {shown}")
            elif error.errno == errno.ENOTDIR and info.is_dir and not source.endswith("/"):
                ctx.warn(f"cannot overwrite non-directory {shown} with directory {shown_source}")
            else:
                ctx.warn(f"cannot move {shown_source} to {shown}: {describe_os_error(error, '')}")
            if backup and error.errno != errno.EXDEV:
                self.backups.undo(backup, target, verbose=self.verbose)
            return
        self._made.add(info.ino)
        if self.verbose:
            ending = f" (backup: {quote_always(backup)})" if backup else ""
            ctx.stdout.write(encode(f"renamed {shown_source} -> {shown}{ending}\n"))

    def _copy(self, source: str, target: str) -> None:
        """Move to another filesystem: copy everything, then remove the source."""
        options = CopyOptions(Backups(self.ctx, Arguments()))
        options.recursive = True
        options.dereference = "never"
        options.preserve_mode = options.preserve_times = options.preserve_links = True
        options.remove_destination = True
        if self.verbose:
            self.ctx.stdout.write(
                encode(f"copied {quote_always(source)} -> {quote_always(target)}\n")
            )
        if Copier(self.ctx, options).copy(source, target):
            Remover(self.ctx, recursive=True, force=True, verbose=self.verbose).remove(source)


@command(
    "mv",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            backup context force interactive no-clobber no-target-directory
            strip-trailing-slashes suffix target-directory update verbose help version
        """,
        read_error=("NAME: error closing file", 1),
        closed_read_error=("NAME: error closing file: REASON", 1),
    ),
    check=check_single_directory,
    usage="""
    Usage: mv [OPTION]... [-T] SOURCE DEST
      or:  mv [OPTION]... SOURCE... DIRECTORY
      or:  mv [OPTION]... -t DIRECTORY SOURCE...
    Rename SOURCE to DEST, or move SOURCE(s) into DIRECTORY.

          --backup[=CONTROL]       back up what is replaced: none, simple, existing, numbered
      -b                           like --backup
      -f, --force                  do not ask before overwriting
      -i, --interactive            ask before overwriting
      -n, --no-clobber             do not overwrite; the last of -f, -i and -n counts
      -S, --suffix=SUFFIX          the suffix of backups
      -t, --target-directory=DIRECTORY  move all SOURCEs into DIRECTORY
      -T, --no-target-directory    DEST is not a directory to move into
      -u, --update                 move only what is newer than its destination, or missing there
      -v, --verbose                print what is done
          --help                   display this help and exit
    """,
)
def mv(ctx: CommandContext, args: Arguments) -> int:
    sources, target, into = split_operands(ctx, args)
    mover = _Mover(ctx, args)
    for source in sources:
        ctx.budget.step()
        mover.move(source, name_in(target, source) if into else target)
    return ctx.status
