"""`ln` (POSIX 1003.1-2017, GNU coreutils): make links."""

from __future__ import annotations

import errno
import posixpath

from agentsandbox.commands._files.backups import Backups
from agentsandbox.commands._files.canonical import canonicalize, relative_to
from agentsandbox.commands._files.copying import base_name, is_one_name, same_file
from agentsandbox.commands._files.prompts import ask
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.commands.copy.targets import (
    check_directory,
    check_single_directory,
    directory_given,
    name_in,
)
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import Stat


_UNRELATED = frozenset((errno.EEXIST, errno.EROFS, errno.ENOSPC, errno.EDQUOT))
"""Errors that are not about the file that is linked to."""


class _Linker:
    """Makes links, one after the other. A problem is reported, and the next link made."""

    def __init__(self, ctx: CommandContext, args: Arguments) -> None:
        self.ctx = ctx
        self.symbolic = args.flag("symbolic")
        self.relative = args.flag("relative")
        self.replace = args.last("force", "interactive")
        self.verbose = args.flag("verbose")
        self.logical = args.last("logical", "physical") == "logical"
        self.backups = Backups(ctx, args)
        self.directories = args.flag("directory")
        self._made: set[str] = set()

    def link(self, source: str, target: str) -> None:
        ctx, fs = self.ctx, self.ctx.fs
        if not self.symbolic:
            try:
                info = fs.stat(ctx.path(source), follow=self.logical)
            except OSError as error:
                ctx.warn(f"failed to access {quote_always(source)}: {describe_os_error(error, '')}")
                return
            if info.is_dir and not self.directories:
                ctx.warn(f"{source}: hard link not allowed for directory")
                return
        else:
            info = None
        text = self._relative_text(source, target) if self.relative else source
        existing, backup = None, ""
        if (self.replace or self.backups) and target and base_name(source):
            try:
                existing = fs.stat(ctx.path(target), follow=False)
            except FileNotFoundError:
                pass
            except OSError as error:
                ctx.warn(f"failed to access {quote_always(target)}: {describe_os_error(error, '')}")
                return
        if existing is not None:
            kept = self._keep(source, target, info, existing)
            if kept is None:
                return
            backup = kept
        self._make(text, source, target, backup, replace=existing is not None)

    def _keep(self, source: str, target: str, info: Stat | None, existing: Stat) -> str | None:
        """Prepare to replace a target: return its backup's name (or ""), None to leave it."""
        ctx = self.ctx
        shown = quote_always(target)
        if (
            target in self._made
            and self.replace == "force"
            and not self.symbolic
            and self.backups.control != "numbered"
        ):
            ctx.warn(f"will not overwrite just-created {shown} with {quote_always(source)}")
            return None
        if existing.is_dir:
            ctx.warn(f"{target}: cannot overwrite directory")
            return None
        if self._is_same(source, target, info, existing):
            ctx.warn(f"{quote_always(source)} and {shown} are the same file")
            return None
        if self.replace == "interactive" and not ask(ctx, f"replace {shown}?"):
            return None
        try:
            return self.backups.make(target) if self.backups else ""
        except OSError as error:
            ctx.warn(f"cannot backup {shown}: {describe_os_error(error, '')}")
            return None

    def _is_same(self, source: str, target: str, info: Stat | None, existing: Stat) -> bool:
        """Whether the target is the source itself. A backup lets a symbolic link replace it."""
        if (self.backups and self.symbolic) or (self.replace == "interactive" and not self.backups):
            return False
        fs, ctx = self.ctx.fs, self.ctx
        try:
            here = fs.stat(ctx.path(source)) if info is None else info
            one, other = (
                fs.realpath(ctx.path(posixpath.dirname(name) or ".")) for name in (source, target)
            )
        except OSError:
            return False
        return same_file(here, existing) and (
            here.nlink == 1 or (base_name(source) == base_name(target) and one == other)
        )

    def _make(self, text: str, source: str, target: str, backup: str, *, replace: bool) -> None:
        ctx = self.ctx
        kind = "symbolic" if self.symbolic else "hard"
        try:
            path = ctx.path(target)
            origin = ctx.path(source) if source else ""
            if self.logical and not self.symbolic:
                origin = ctx.fs.realpath(origin)
                if replace and is_one_name(ctx, origin, target):
                    return  # the link to be followed leads to the target
            if replace and ctx.fs.exists(path, follow=False):
                ctx.fs.unlink(path)
            if self.symbolic:
                ctx.fs.symlink(text, path)
            else:
                ctx.fs.link(origin, path)
        except OSError as error:
            arrow = "" if error.errno in _UNRELATED else f" => {quote_always(source)}"
            if self.symbolic:
                arrow = (
                    f" -> {quote_always(source)}"
                    if not source or error.errno == errno.ENAMETOOLONG
                    else ""
                )
            what = f"failed to create {kind} link {quote_always(target)}{arrow}"
            ctx.warn(f"{what}: {describe_os_error(error, '')}")
            return
        self._made.add(target)
        if self.verbose:
            before = f"{quote_always(backup)} ~ " if backup else ""
            arrow = "->" if self.symbolic else "=>"
            ctx.print(f"{before}{quote_always(target)} {arrow} {quote_always(text)}")

    def _relative_text(self, source: str, target: str) -> str:
        """Return the source as a path from the directory of the link."""
        ctx = self.ctx
        try:
            directory = canonicalize(ctx, posixpath.dirname(target) or ".", "missing")
            return relative_to(canonicalize(ctx, source, "missing"), directory)
        except OSError:
            return source


@command(
    "ln",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            backup directory no-dereference no-target-directory force interactive suffix
            target-directory logical physical relative symbolic verbose help version
        """,
        macos={"h": "-h is macOS's; GNU ln does not follow a link to a directory with -n"},
    ),
    check=check_single_directory,
    usage="""
    Usage: ln [OPTION]... [-T] TARGET LINK_NAME
      or:  ln [OPTION]... TARGET
      or:  ln [OPTION]... TARGET... DIRECTORY
      or:  ln [OPTION]... -t DIRECTORY TARGET...
    Make LINK_NAME a link to TARGET; without it, a link of the same name in the current directory.

          --backup[=CONTROL]       back up what is replaced: none, simple, existing, numbered
      -b                           like --backup
      -d, -F, --directory          try to make hard links to directories (it never succeeds)
      -f, --force                  remove existing destination files
      -i, --interactive            ask whether to remove destinations
      -L, --logical                follow TARGETs that are symbolic links
      -n, --no-dereference         a LINK_NAME that is a link to a directory is a normal file
      -P, --physical               make hard links to symbolic links themselves (default)
      -r, --relative               with -s, make links relative to where they are
      -s, --symbolic               make symbolic links
      -S, --suffix=SUFFIX          the suffix of backups
      -t, --target-directory=DIRECTORY  make the links in DIRECTORY
      -T, --no-target-directory    LINK_NAME is a normal file always
      -v, --verbose                print the name of each link
          --help                   display this help and exit
    """,
)
def ln(ctx: CommandContext, args: Arguments) -> int:
    if not args.operands:
        raise UsageError("missing file operand")
    if args.flag("relative") and not args.flag("symbolic"):
        raise CommandError("cannot do --relative without --symbolic")
    sources, target, into = _split(ctx, args)
    linker = _Linker(ctx, args)
    for source in sources:
        ctx.budget.step()
        linker.link(source, name_in(target, source) if into else target)
    return ctx.status


def _split(ctx: CommandContext, args: Arguments) -> tuple[list[str], str, bool]:
    """Return (files to link to, target, whether the target is a directory)."""
    operands = args.operands
    directory = directory_given(args)
    if args.flag("no-target-directory"):
        if directory is not None:
            raise CommandError("cannot combine --target-directory and --no-target-directory")
        if len(operands) < 2:
            raise UsageError(f"missing destination file operand after {quote_always(operands[0])}")
        if len(operands) > 2:
            raise UsageError(f"extra operand {quote_always(operands[2])}")
        return operands[:1], operands[1], False
    if directory is not None:
        try:
            is_dir = ctx.fs.stat(ctx.path(directory)).is_dir
        except OSError as error:
            raise CommandError(
                f"failed to access {quote_always(directory)}: {describe_os_error(error, '')}"
            ) from None
        if not is_dir:
            raise CommandError(f"target {quote_always(directory)} is not a directory")
        return operands, directory, True
    if len(operands) == 1:
        return operands, ".", True
    *sources, target = operands
    if _is_directory(ctx, target, follow=not args.flag("no-dereference")):
        return sources, target, True
    if len(sources) > 1:
        what = f"target {quote_always(target)}"
        check_directory(ctx, target, what, follow=not args.flag("no-dereference"))
    return sources, target, False


def _is_directory(ctx: CommandContext, name: str, *, follow: bool) -> bool:
    try:
        return ctx.fs.stat(ctx.path(name), follow=follow).is_dir
    except OSError:
        return False
