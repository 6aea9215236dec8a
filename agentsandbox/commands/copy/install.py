"""`install` (GNU coreutils): copy files and set their permissions."""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.commands._files.backups import Backups
from agentsandbox.commands._files.copying import Copier, CopyOptions, join, strip_slashes
from agentsandbox.commands._files.modes import compile_mode
from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.quoting import quote, quote_always
from agentsandbox.commands.copy.targets import (
    check_directory,
    check_single_directory,
    directory_given,
    name_in,
    split_operands,
)
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.fs.base import os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_DIRECTORY = True


@command(
    "install",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            backup compare context directory group mode no-target-directory owner
            preserve-timestamps preserve-context strip strip-program suffix
            target-directory verbose help version
        """,
    ),
    check=check_single_directory,
    usage="""
    Usage: install [OPTION]... [-T] SOURCE DEST
      or:  install [OPTION]... SOURCE... DIRECTORY
      or:  install [OPTION]... -t DIRECTORY SOURCE...
      or:  install [OPTION]... -d DIRECTORY...
    Copy SOURCE to DEST, or SOURCE(s) into DIRECTORY, with permissions rwxr-xr-x; with -d, make
    DIRECTORY(ies).

          --backup[=CONTROL]       back up what is replaced: none, simple, existing, numbered
      -b                           like --backup
      -c                           accepted: for old scripts
      -d, --directory              all operands are directories to make
      -D                           make the missing directories of DEST, or of the -t DIRECTORY
      -g, --group=GROUP            set the group, which must be the user's own
      -m, --mode=MODE              permissions as for chmod, not rwxr-xr-x
      -o, --owner=OWNER            set the owner, who must be the user
      -p, --preserve-timestamps    keep the times of SOURCE
      -S, --suffix=SUFFIX          the suffix of backups
      -t, --target-directory=DIRECTORY  copy all SOURCEs into DIRECTORY
      -T, --no-target-directory    DEST is a normal file
      -v, --verbose                print what is done
          --help                   display this help and exit
    """,
)
def install(ctx: CommandContext, args: Arguments) -> int:
    directory = directory_given(args)
    if args.flag("directory"):
        if directory is not None:
            raise CommandError("target directory not allowed when installing a directory")
        if not args.operands:
            raise UsageError("missing file operand")
        if args.flag("no-target-directory") and len(args.operands) > 2:
            raise UsageError(f"extra operand {quote_always(args.operands[2])}")
        change, foreign = _read_mode(args), _is_foreign(ctx, args)
        for name in args.operands:
            ctx.budget.step()
            _install_directory(
                ctx, name, change(0, _DIRECTORY), foreign=foreign, verbose=args.flag("verbose")
            )
        return ctx.status
    backups = Backups(ctx, args)
    sources, target, into = _split(ctx, args)
    change = _read_mode(args)
    foreign = _is_foreign(ctx, args)
    if args.flag("D"):
        parents = posixpath.dirname(strip_slashes(target))
        if into:
            parents = "" if ctx.fs.is_dir(ctx.path(target)) else target
        if parents and not _make_directories(
            ctx, parents, verbose=args.flag("verbose"), shown=quote_always
        ):
            return 1
    copier = _make_copier(ctx, args, backups)
    for source in sources:
        ctx.budget.step()
        place = name_in(target, source) if into else target
        if foreign and not _is_missing(ctx, source):
            if copier.copy(source, place):
                ctx.fs.chmod(ctx.path(place), 0o600)
                ctx.warn(
                    f"cannot change ownership of {quote_always(place)}: Operation not permitted"
                )
        else:
            _install(ctx, copier, source, place, change(0, False))
    return ctx.status


def _read_mode(args: Arguments) -> Callable[[int, bool], int]:
    text = args.value("mode", "0755") or ""
    change = compile_mode(text, 0)
    if change is None:
        raise CommandError(f"invalid mode {quote(text)}")
    return change


def _split(ctx: CommandContext, args: Arguments) -> tuple[list[str], str, bool]:
    """Return what `split_operands` does, but with -D the directory of -t may be missing."""
    directory = directory_given(args)
    if directory is None or args.flag("no-target-directory") or not args.operands:
        return split_operands(ctx, args)
    try:
        check_directory(ctx, directory, f"failed to access {quote_always(directory)}")
    except CommandError:
        if not args.flag("D") or not _may_be_made(ctx, directory):
            raise
    return args.operands, directory, True


def _may_be_made(ctx: CommandContext, name: str) -> bool:
    try:
        ctx.fs.stat(ctx.path(name))
    except OSError as error:
        return error.errno == errno.ENOENT
    return False


def _install_directory(
    ctx: CommandContext, name: str, mode: int, *, foreign: bool, verbose: bool
) -> None:
    if not _make_directories(ctx, name, verbose=verbose, shown=quote, operand=True):
        return
    if foreign:
        ctx.warn(f"cannot change owner and permissions of {quote(name)}: Operation not permitted")
        return
    try:
        ctx.fs.chmod(ctx.path(name), mode)
    except OSError as error:
        ctx.warn(f"cannot change permissions of {quote(name)}: {describe_os_error(error, '')}")


def _is_missing(ctx: CommandContext, source: str) -> bool:
    return not source or not ctx.fs.is_file(ctx.path(source))


def _make_copier(ctx: CommandContext, args: Arguments, backups: Backups) -> Copier:
    options = CopyOptions(backups)
    options.remove_destination = True
    options.preserve_times = args.flag("preserve-timestamps")
    options.verbose = args.flag("verbose")
    options.allow_repetition = True
    return Copier(ctx, options)


def _install(ctx: CommandContext, copier: Copier, source: str, target: str, mode: int) -> None:
    try:
        if ctx.fs.stat(ctx.path(source)).is_dir:
            ctx.warn(f"omitting directory {quote_always(source)}")
            return
    except OSError as error:
        ctx.warn(f"cannot stat {quote_always(source)}: {describe_os_error(error, '')}")
        return
    if copier.copy(source, target):
        try:
            ctx.fs.chmod(ctx.path(target), mode)
        except OSError as error:
            what = f"cannot change permissions of {quote_always(target)}"
            ctx.warn(f"{what}: {describe_os_error(error, '')}")


def _make_directories(
    ctx: CommandContext,
    name: str,
    *,
    verbose: bool,
    shown: Callable[[str], str],
    operand: bool = False,
) -> bool:
    """Make a directory and its missing parents; whether that succeeded. An `operand` itself may
    fail later, when its permissions are set.
    """
    if not name:
        ctx.warn(f"cannot create directory {shown(name)}: {os.strerror(errno.ENOENT)}")
        return False
    here = "/" if name.startswith("/") else ""
    parts = [part for part in name.split("/") if part]
    for number, part in enumerate(parts, 1):
        here = join(here, part) if here else part
        path = ctx.path(here)
        last = operand and number == len(parts)
        try:
            if ctx.fs.is_dir(path):
                if not last and not ctx.fs.access(path, os.X_OK):
                    raise os_error(errno.EACCES)
                continue
            ctx.fs.mkdir(path, 0o755)
        except OSError as error:
            if last and not ctx.fs.exists(path) and not name.endswith("/"):
                return True  # reported when the permissions are set
            reason = error if last or error.errno != errno.EEXIST else _why_not_entered(ctx, path)
            what = f"cannot create directory {shown(name if last else here)}"
            ctx.warn(f"{what}: {describe_os_error(reason, '')}")
            return False
        if verbose:
            ctx.print(f"{ctx.name}: creating directory {quote_always(name if last else here)}")
    return True


def _why_not_entered(ctx: CommandContext, path: str) -> OSError:
    """Return why an existing file is not a directory to enter."""
    try:
        ctx.fs.stat(path)
    except OSError as error:
        return error if error.errno == errno.ELOOP else os_error(errno.EEXIST)
    return os_error(errno.ENOTDIR)


def _is_foreign(ctx: CommandContext, args: Arguments) -> bool:
    """Whether the options ask for another owner or group than files have in any case."""
    owners = Owners(ctx)
    foreign = False
    for key, number in (("owner", owners.user_number), ("group", owners.group_number)):
        text = args.value(key)
        if text is None:
            continue
        found = number(text)
        if found is None:
            raise CommandError(f"invalid {'user' if key == 'owner' else 'group'} {quote(text)}")
        if found != ctx.fs.stat("/tmp" if not ctx.fs.exists(ctx.cwd) else ctx.cwd).uid:
            foreign = True
    return foreign
