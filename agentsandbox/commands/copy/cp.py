"""`cp` (POSIX 1003.1-2017, GNU coreutils): copy files and directories."""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.commands._files.backups import Backups
from agentsandbox.commands._files.copying import Copier, CopyOptions, base_name, join, strip_slashes
from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.choices import choose
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.commands.copy.targets import check_single_directory, name_in, split_operands
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.fs.base import Stat

_ATTRIBUTES = (("mode",), ("timestamps",), ("ownership",), ("links",), ("xattr",), ("all",))


@command(
    "cp",
    manners=Manners(
        COREUTILS,
        bytewise=True,
        long_options="""
            archive attributes-only backup copy-contents dereference force interactive
            link no-clobber no-dereference no-preserve no-target-directory
            one-file-system parents path preserve recursive remove-destination sparse
            reflink strip-trailing-slashes suffix symbolic-link target-directory update
            verbose context help version
        """,
        read_error=("NAME: error closing file", 1),
        closed_read_error=("NAME: error closing file: REASON", 1),
    ),
    check=check_single_directory,
    values={
        "preserve": lambda text: _attributes(text, "--preserve"),
        "no-preserve": lambda text: _attributes(text, "--no-preserve"),
    },
    usage="""
    Usage: cp [OPTION]... [-T] SOURCE DEST
      or:  cp [OPTION]... SOURCE... DIRECTORY
      or:  cp [OPTION]... -t DIRECTORY SOURCE...
    Copy SOURCE to DEST, or SOURCE(s) into DIRECTORY.

      -a, --archive                same as -dR --preserve=all
          --attributes-only        do not copy the content of files
          --backup[=CONTROL]       back up what is replaced: none, simple, existing, numbered
      -b                           like --backup
      -d                           same as --no-dereference --preserve=links
      -f, --force                  remove a destination that cannot be opened and try again
      -i, --interactive            ask before overwriting (overrides an earlier -n)
      -H                           follow links that are operands
      -l, --link                   make hard links instead of copies
      -L, --dereference            follow all links in SOURCE
      -n, --no-clobber             do not overwrite (overrides an earlier -i)
      -P, --no-dereference         never follow links in SOURCE
      -p                           same as --preserve=mode,ownership,timestamps
          --preserve[=ATTRS]       keep attributes: mode, ownership, timestamps, links, xattr, all
          --no-preserve=ATTRS      do not keep these attributes
          --parents, --path        put the full path of SOURCE under DIRECTORY
      -R, -r, --recursive          copy directories and everything below them
          --remove-destination     remove each destination before it is written
      -s, --symbolic-link          make symbolic links instead of copies
      -S, --suffix=SUFFIX          the suffix of backups
      -t, --target-directory=DIRECTORY  copy all SOURCEs into DIRECTORY
      -T, --no-target-directory    DEST is not a directory to copy into
      -u, --update                 copy only what is newer than its destination, or missing there
      -v, --verbose                print what is done
      -x, --one-file-system        stay on this filesystem (there is one)
          --help                   display this help and exit
    """,
)
def cp(ctx: CommandContext, args: Arguments) -> int:
    options = _read_options(ctx, args)
    sources, target, into = split_operands(ctx, args)
    parents = args.flag("parents")
    if parents and not into:
        raise UsageError("with --parents, the destination must be a directory")
    if (
        options.force
        and options.backups
        and not into
        and sources[0] == target
        and ctx.fs.is_file(ctx.path(target))
    ):
        target = options.backups.name(target)  # a backup is all that is asked for
        options.backups.control = "none"
    copier = Copier(ctx, options)
    for source in sources:
        if not parents:
            copier.copy(source, _name_in(target, source) if into else target)
            continue
        made = _make_parents(ctx, source, target, options)
        if made is not None:
            copier.copy(source, join(target, strip_slashes(source).lstrip("/")))
            _finish_parents(ctx, made, options)
    return ctx.status


def _name_in(directory: str, source: str) -> str:
    """Return the place of a source; `source/..` is copied as `.`, not beside the directory."""
    return join(directory, ".") if base_name(source) == ".." else name_in(directory, source)


def _read_options(ctx: CommandContext, args: Arguments) -> CopyOptions:
    if args.last("interactive", "no-clobber") == "no-clobber" and args.last(
        "backup", "b", "suffix"
    ):
        raise UsageError("options --backup and --no-clobber are mutually exclusive")
    options = CopyOptions(Backups(ctx, args))
    archive = args.flag("archive")
    options.recursive = archive or args.flag("recursive")
    options.hard_link = args.flag("link")
    options.symbolic_link = args.flag("symbolic-link")
    options.force = args.flag("force")
    options.attributes_only = args.flag("attributes-only")
    options.remove_destination = args.flag("remove-destination")
    options.update = args.flag("update")
    options.verbose = args.flag("verbose")
    options.interactive = {"interactive": "ask", "no-clobber": "never"}.get(
        args.last("interactive", "no-clobber") or "", ""
    )
    if options.hard_link and options.symbolic_link:
        raise UsageError("cannot make both hard and symbolic links")
    _choose_dereference(args, options)
    _choose_attributes(args, options)
    return options


def _choose_dereference(args: Arguments, options: CopyOptions) -> None:
    effects = {
        "dereference": "always",
        "no-dereference": "never",
        "H": "operands",
        "archive": "never",
        "d": "never",
    }
    given = args.last(*effects)
    if given:
        options.dereference = effects[given]
    elif options.recursive and not options.hard_link:
        options.dereference = "never"


def _attributes(text: str, option: str) -> set[str]:
    return {choose(word, option, _ATTRIBUTES) for word in text.split(",")}


def _choose_attributes(args: Arguments, options: CopyOptions) -> None:
    """Read the options in order: later ones override earlier ones."""
    kept: set[str] = set()
    for key, value in args.given:
        if key == "archive":
            kept |= {"mode", "timestamps", "links"}
        elif key == "d":
            kept.add("links")
        elif key == "p" or (key == "preserve" and value is None):
            kept |= {"mode", "timestamps"}
        elif key in ("preserve", "no-preserve"):
            words = _attributes(value or "", f"--{key}")
            if "all" in words:
                words = {"mode", "timestamps", "links", "ownership"}
            if key == "preserve":
                kept |= words
                if "mode" in words:
                    options.default_mode = False
            else:
                kept -= words
                options.default_mode = options.default_mode or "mode" in words
    options.preserve_mode = "mode" in kept
    options.preserve_times = "timestamps" in kept
    options.preserve_links = "links" in kept


def _make_parents(
    ctx: CommandContext, source: str, target: str, options: CopyOptions
) -> list[tuple[str, Stat, int | None]] | None:
    """Make the directories of `source` under `target`; return None after an error.

    Return for each its name, the `Stat` of the one it stands for, and its mode if it is new.
    """
    found: list[tuple[str, Stat, int | None]] = []
    path = ""
    parts = posixpath.dirname(strip_slashes(source)).split("/")
    for part in parts:
        path = f"{path}/{part}" if path else part or "/"
        if part in ("", "."):
            continue
        made = join(target, path.lstrip("/"))
        try:
            exists = ctx.fs.exists(ctx.path(made))
            if exists and not ctx.fs.is_dir(ctx.path(made)):
                raise FileExistsError
            info = ctx.fs.stat(ctx.path(path))
            if not info.is_dir:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            if exists:
                found.append((made, info, None))
                continue
            mode = (0o777 if options.default_mode else info.permissions & 0o777) & ~ctx.umask
            ctx.fs.mkdir(ctx.path(made), mode | 0o700)
        except FileExistsError:
            ctx.warn(f"{quote_always(made)} exists but is not a directory")
            return None
        except (FileNotFoundError, NotADirectoryError) as error:
            what = f"failed to get attributes of {quote_always(path)}"
            ctx.warn(f"{what}: {describe_os_error(error, '')}")
            return None
        found.append((made, info, mode))
        if options.verbose:
            ctx.stdout.write(encode(f"{path} -> {made}\n"))
    return found


def _finish_parents(
    ctx: CommandContext, made: Sequence[tuple[str, Stat, int | None]], options: CopyOptions
) -> None:
    """Give the directories above a copy the attributes to preserve, also those that existed."""
    for name, info, mode in reversed(made):
        if options.preserve_times:
            ctx.fs.utime(ctx.path(name), info.mtime, atime=info.atime)
        if options.preserve_mode:
            ctx.fs.chmod(ctx.path(name), info.permissions)
        elif mode is not None:
            ctx.fs.chmod(ctx.path(name), mode)
