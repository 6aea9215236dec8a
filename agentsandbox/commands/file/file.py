"""`file` (version 5.44): the kind of each file, by its content."""

from __future__ import annotations

import os
import stat

from agentsandbox.commands._text.widths import text_width
from agentsandbox.commands._time.times import LocalTime
from agentsandbox.commands.file.binary import identify_binary
from agentsandbox.commands.file.text import find_charset, identify_script, identify_text
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.kernel.streams import decode, encode

_READ = 1 << 20

_SPECIAL = {
    stat.S_IFIFO: ("fifo (named pipe)", "inode/fifo"),
    stat.S_IFSOCK: ("socket", "inode/socket"),
}


class _Kind:
    """The result for a file: description, MIME type, charset ("" for none)."""

    __slots__ = ("charset", "mime", "words")

    def __init__(self, words: str, mime: str, charset: str = "binary") -> None:
        self.words = words
        self.mime = mime
        self.charset = charset


@command(
    "file",
    manners=Manners(
        Release("file-5.44", "-v, --version"),
        long_options="""
            help version magic-file uncompress uncompress-noreport brief
            checking-printout exclude exclude-quiet files-from separator mime apple
            extension mime-type mime-encoding keep-going list dereference no-dereference
            no-buffer no-pad print0 preserve-date parameter raw special-files no-sandbox
            compile debug
        """,
        write_error=SILENT,
    ),
    usage="""
    Usage: file [OPTION]... FILE...
    Print what kind of file each FILE is.

      -b, --brief              do not print names
      -f, --files-from=FILE    read names from FILE
      -F, --separator=STRING   STRING instead of ":"
      -h, --no-dereference     do not follow links (default)
      -i, --mime               MIME type and charset
          --mime-type          MIME type
          --mime-encoding      charset
      -L, --dereference        follow links
      -n, --no-buffer          accepted: output is not buffered
      -N, --no-pad             do not align the answers
      -p, --preserve-date      accepted: reading changes no time here
          --help               display this help and exit
    """,
)
def file(ctx: CommandContext, args: Arguments) -> int:
    names: list[str] = []
    for listed in args.values("files-from"):
        for line in ctx.open_input(listed).lines():
            ctx.budget.step(10)  # also for the width of its name
            names.append(decode(line.rstrip(b"\n")))
    names += args.operands
    if not names:
        ctx.stderr.write(b"Usage: file [OPTION]... FILE...\n")
        return 1
    width = 0 if args.flag("no-pad") else max(text_width(_shown(name)) for name in names)
    for name in names:
        ctx.budget.step()
        answer = _answer(ctx, args, name)
        if not args.flag("brief") and name:
            shown = _shown(name)
            separator = args.value("separator") or ":"
            padding = " " * max(0, width - text_width(shown))
            answer = f"{shown}{separator}{padding} {answer}"
        ctx.print(answer)
    return ctx.status


def _shown(name: str) -> str:
    """Return a name as it is printed; unprintable characters are in octal."""
    if name == "-":
        return "/dev/stdin"
    if name.isprintable():
        return name
    return "".join(
        [c if c.isprintable() else "".join([f"\\{byte:03o}" for byte in encode(c)]) for c in name]
    )


def _answer(ctx: CommandContext, args: Arguments, name: str) -> str:
    if name == "-" and ctx.stdin.unreadable:
        ctx.status = 1
        return f"ERROR: cannot read `/dev/stdin' ({os.strerror(ctx.stdin.unreadable)})"
    try:
        kind = _identify(ctx, args, name)
    except OSError as error:
        return f"cannot open `{name}' ({describe_os_error(error, '')})"
    if kind.mime == "application/x-unreadable" and args.last("mime", "mime-type", "mime-encoding"):
        return kind.words
    if args.flag("mime-type") and not args.last("mime-encoding", "mime"):
        return kind.mime
    if args.flag("mime-encoding") and not args.last("mime-type", "mime"):
        return kind.charset or "binary"
    if args.flag("mime") or args.flag("mime-type"):
        return f"{kind.mime}; charset={kind.charset}" if kind.charset else kind.mime
    return kind.words


def _identify(ctx: CommandContext, args: Arguments, name: str) -> _Kind:
    if name == "-":
        return _identify_content(ctx, ctx.stdin.read(_READ))
    path = ctx.path(name)
    info = ctx.fs.stat(path, follow=False)
    if info.is_link and args.last("dereference", "no-dereference") != "dereference":
        target = ctx.fs.readlink(path)
        if ctx.fs.exists(path):
            return _Kind(f"symbolic link to {target}", "inode/symlink")
        return _Kind(f"broken symbolic link to {target}", "inode/symlink", "")
    info = ctx.fs.stat(path)
    prefix = "setuid " if info.mode & stat.S_ISUID else ""
    prefix += "setgid " if info.mode & stat.S_ISGID else ""
    if info.is_dir:
        sticky = "sticky, " if info.mode & stat.S_ISVTX else ""
        return _Kind(f"{prefix.replace(' ', ', ')}{sticky}directory", "inode/directory")
    kind = stat.S_IFMT(info.mode)
    if kind in (stat.S_IFCHR, stat.S_IFBLK):
        which = "character" if kind == stat.S_IFCHR else "block"
        mime = "inode/chardevice" if kind == stat.S_IFCHR else "inode/blockdevice"
        return _Kind(f"{which} special ({info.rdev >> 8}/{info.rdev & 255})", mime)
    if kind in _SPECIAL:
        return _Kind(*_SPECIAL[kind])
    if not info.size:
        return _Kind(f"{prefix}empty", "inode/x-empty")
    try:
        source = ctx.fs.open(path, "r")
    except PermissionError:
        mime = "inode/x-unreadable" if prefix else "application/x-unreadable"
        return _Kind(f"{prefix}regular file, no read permission", mime)
    try:
        found = _identify_content(ctx, source.read(_READ))
    finally:
        source.release()
    found.words = prefix + found.words
    return found


def _identify_content(ctx: CommandContext, data: bytes) -> _Kind:
    if not data:
        return _Kind("empty", "inode/x-empty")
    ctx.budget.step(20 + (len(data) >> 10))
    binary = identify_binary(data, LocalTime(ctx))
    if binary is not None:
        return _Kind(*binary, find_charset(data))
    if len(data) == 1:
        return _Kind("very short file (no magic)", "application/octet-stream")
    text = identify_text(data)
    if text is not None:
        return _Kind(*text)
    return _Kind(*(identify_script(data) or ("data", "application/octet-stream")))
