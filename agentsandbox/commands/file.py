"""`file` (version 5.44): what kind of file each is, by what is in it."""

from __future__ import annotations

import stat

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._magic_binary import identify_binary
from agentsandbox.commands._magic_text import find_charset, identify_text
from agentsandbox.commands._times import LocalTime
from agentsandbox.commands._widths import text_width
from agentsandbox.errors import CommandError
from agentsandbox.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.fs.base import Stat

_READ = 1 << 20
_SPECIAL = {
    stat.S_IFIFO: ("fifo (named pipe)", "inode/fifo"),
    stat.S_IFSOCK: ("socket", "inode/socket"),
}


class _Kind:
    """What was found out: words, MIME type, charset ("" if none is said)."""

    __slots__ = ("charset", "mime", "words")

    def __init__(self, words: str, mime: str, charset: str = "binary") -> None:
        self.words = words
        self.mime = mime
        self.charset = charset


@command(
    "file",
    usage="""
    Usage: file [OPTION]... FILE...
    Tell what kind of file each FILE is.

      -b, --brief              do not print names
      -E                       errors are errors: status 1
      -f, --files-from=FILE    read names from FILE
      -F, --separator=STRING   STRING instead of ":"
      -h, --no-dereference     do not follow links (default)
      -i, --mime               MIME type and charset
          --mime-type          MIME type
          --mime-encoding      charset
      -L, --dereference        follow links
      -N, --no-pad             do not align the answers
      -0, --print0             NUL after names
          --help               display this help and exit
    """,
)
def file(ctx: CommandContext, args: Arguments) -> int:
    names: list[str] = []
    for listed in args.values("files-from"):
        source = ctx.open_input(listed)
        names += [decode(line.rstrip(b"\n")) for line in source.lines()]
    names += args.operands
    if not names:
        raise CommandError("missing FILE operand; see file --help")
    brief = args.flag("brief")
    separator = args.value("separator") or ":"
    width = 0 if args.flag("no-pad") else max(text_width(_shown(name)) for name in names)
    for name in names:
        ctx.budget.step()
        answer = _answer(ctx, args, name)
        if brief:
            ctx.print(answer)
            continue
        shown = _shown(name)
        padding = " " * max(0, width - text_width(shown))
        end = "\0" if args.flag("print0") else ""
        ctx.stdout.write(encode(f"{shown}{end}{separator}{padding} {answer}\n"))
    return ctx.status


def _shown(name: str) -> str:
    return "/dev/stdin" if name == "-" else name


def _answer(ctx: CommandContext, args: Arguments, name: str) -> str:
    try:
        kind = _identify(ctx, name, follow=args.last("dereference", "no-dereference") == "dereference")
    except OSError as error:
        if args.flag("E"):
            ctx.status = 1
            return f"ERROR: cannot stat `{name}' ({describe_os_error(error, '')})"
        return f"cannot open `{name}' ({describe_os_error(error, '')})"
    if args.flag("mime-type"):
        return kind.mime
    if args.flag("mime-encoding"):
        return kind.charset or "binary"
    if args.flag("mime"):
        return f"{kind.mime}; charset={kind.charset}" if kind.charset else kind.mime
    return kind.words


def _identify(ctx: CommandContext, name: str, *, follow: bool) -> _Kind:
    if name == "-":
        return _identify_content(ctx, ctx.stdin.read(_READ))
    path = ctx.path(name)
    info = ctx.fs.stat(path, follow=False)
    if info.is_link and not follow:
        text = ctx.fs.readlink(path)
        if ctx.fs.exists(path):
            return _Kind(f"symbolic link to {text}", "inode/symlink")
        return _Kind(f"broken symbolic link to {text}", "inode/symlink", "")
    info = ctx.fs.stat(path)
    prefix = "".join([word for bit, word in ((stat.S_ISUID, "setuid "), (stat.S_ISGID, "setgid ")) if info.mode & bit])
    if info.is_dir:
        sticky = "sticky, " if info.mode & stat.S_ISVTX else ""
        return _Kind(f"{prefix.replace(' ', ', ')}{sticky}directory", "inode/directory")
    special = _identify_special(info)
    if special is not None:
        return special
    if not info.size:
        return _Kind(f"{prefix}empty", "inode/x-empty")
    try:
        source = ctx.fs.open(path, "r")
    except PermissionError:
        return _Kind(f"{prefix}regular file, no read permission", "application/x-unreadable" if not prefix else "inode/x-unreadable")
    try:
        kind = _identify_content(ctx, source.read(_READ))
    finally:
        source.release()
    kind.words = prefix + kind.words
    return kind


def _identify_special(info: Stat) -> _Kind | None:
    kind = stat.S_IFMT(info.mode)
    if kind in (stat.S_IFCHR, stat.S_IFBLK):
        which, mime = ("character", "inode/chardevice") if kind == stat.S_IFCHR else ("block", "inode/blockdevice")
        return _Kind(f"{which} special ({info.rdev >> 8}/{info.rdev & 255})", mime)
    if kind in _SPECIAL:
        return _Kind(*_SPECIAL[kind])
    return None


def _identify_content(ctx: CommandContext, data: bytes) -> _Kind:
    if not data:
        return _Kind("empty", "inode/x-empty")
    ctx.budget.step(len(data) // 4096)
    binary = identify_binary(data, LocalTime(ctx))
    if binary is not None:
        return _Kind(*binary, find_charset(data))
    if len(data) == 1:
        return _Kind("very short file (no magic)", "application/octet-stream")
    text = identify_text(data)
    if text is not None:
        return _Kind(*text)
    return _Kind("data", "application/octet-stream")
