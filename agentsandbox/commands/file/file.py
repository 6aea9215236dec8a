"""`file` (version 5.44): what kind of file each is, by what is in it."""

from __future__ import annotations

import os
import stat

from agentsandbox.commands._files.compression import CompressionError, Source, decompress, detect
from agentsandbox.commands._text.widths import text_width
from agentsandbox.commands._time.times import LocalTime
from agentsandbox.commands.file.binary import extensions_of, identify_binary
from agentsandbox.commands.file.text import find_charset, identify_script, identify_text
from agentsandbox.contract.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.contract.manners import SILENT, Manners, Release
from agentsandbox.kernel.streams import BytesReader, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.fs.base import Stat

_READ = 1 << 20

_SPECIAL = {
    stat.S_IFIFO: ("fifo (named pipe)", "inode/fifo"),
    stat.S_IFSOCK: ("socket", "inode/socket"),
}


class _Kind:
    """What was found out: words, MIME type, charset ("" if none is said)."""

    __slots__ = ("around", "charset", "mime", "words")

    def __init__(self, words: str, mime: str, charset: str = "binary") -> None:
        self.words = words
        self.mime = mime
        self.charset = charset
        self.around = ""
        """The MIME type of the compressed file that this is in."""


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
    Tell what kind of file each FILE is.

      -b, --brief              do not print names
          --extension          the extensions that such files have
      -f, --files-from=FILE    read names from FILE
      -F, --separator=STRING   STRING instead of ":"
      -h, --no-dereference     do not follow links (default)
      -i, --mime               MIME type and charset
          --mime-type          MIME type
          --mime-encoding      charset
      -L, --dereference        follow links
      -n, --no-buffer          accepted: nothing is held back
      -N, --no-pad             do not align the answers
      -p, --preserve-date      accepted: reading changes no time here
      -r, --raw                do not show unprintable characters as \\ooo
      -s, --special-files      read devices as if they were files
      -z, --uncompress         look into compressed files
      -0, --print0             NUL after names
          --help               display this help and exit
    """,
)
def file(ctx: CommandContext, args: Arguments) -> int:
    names: list[str] = []
    for listed in args.values("files-from"):
        for line in ctx.open_input(listed).lines():
            ctx.budget.step(10)  # its width is looked at, too, before the first answer
            names.append(decode(line.rstrip(b"\n")))
    names += args.operands
    if not names:
        ctx.stderr.write(b"Usage: file [OPTION]... FILE...\n")
        return 1
    raw = args.flag("raw")
    width = 0 if args.flag("no-pad") else max(text_width(_shown(name, raw=raw)) for name in names)
    end = "\0" if args.flag("print0") else ""
    for name in names:
        ctx.budget.step()
        answer = _answer(ctx, args, name)
        if not args.flag("brief") and name:
            shown = _shown(name, raw=raw)
            separator = args.value("separator") or ":"
            padding = " " * max(0, width - text_width(shown))
            answer = f"{shown}{end}{separator}{padding} {answer}"
        ctx.print(answer)
    return ctx.status


def _shown(name: str, *, raw: bool) -> str:
    """A name as it is printed: what does not print in octal."""
    if name == "-":
        return "/dev/stdin"
    return name if raw else _escaped(name)


def _escaped(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(
        [c if c.isprintable() else "".join([f"\\{byte:03o}" for byte in encode(c)]) for c in text]
    )


def _answer(ctx: CommandContext, args: Arguments, name: str) -> str:
    if name == "-" and ctx.stdin.unreadable:
        ctx.status = 1
        return f"ERROR: cannot read `/dev/stdin' ({os.strerror(ctx.stdin.unreadable)})"
    try:
        kind = _identify(ctx, args, name)
    except OSError as error:
        return f"cannot open `{name}' ({describe_os_error(error, '')})"
    if kind.mime == "inode/x-broken":
        if args.flag("extension"):
            return kind.words
        kind.mime = "inode/symlink"
    if kind.mime == "application/x-unreadable" and args.last(
        "mime", "mime-type", "mime-encoding", "extension"
    ):
        return kind.words
    if args.flag("extension"):
        if kind.mime == "inode/directory":
            ctx.status = 1
            return f"ERROR: cannot read `{name}' (Is a directory)"
        return extensions_of(kind.words, kind.mime)
    if args.flag("mime-type") and not args.last("mime-encoding", "mime"):
        return kind.mime
    if args.flag("mime-encoding") and not args.last("mime-type", "mime"):
        return kind.charset or "binary"
    if args.flag("mime") or args.flag("mime-type"):
        inside = f" compressed-encoding={kind.around}; charset=binary" if kind.around else ""
        return f"{kind.mime}; charset={kind.charset}{inside}" if kind.charset else kind.mime
    return kind.words


def _identify(ctx: CommandContext, args: Arguments, name: str) -> _Kind:
    expand = args.flag("uncompress")
    if name == "-":
        return _identify_content(ctx, ctx.stdin.read(_READ), expand=expand)
    path = ctx.path(name)
    info = ctx.fs.stat(path, follow=False)
    if info.is_link and args.last("dereference", "no-dereference") != "dereference":
        text = ctx.fs.readlink(path)
        there = ctx.fs.exists(path)
        if there and not args.flag("extension"):
            return _Kind(f"symbolic link to {text}", "inode/symlink")
        if not there:
            return _Kind(f"broken symbolic link to {text}", "inode/x-broken", "")
    info = ctx.fs.stat(path)
    prefix = "".join(
        [
            word
            for bit, word in ((stat.S_ISUID, "setuid "), (stat.S_ISGID, "setgid "))
            if info.mode & bit
        ]
    )
    if info.is_dir:
        sticky = "sticky, " if info.mode & stat.S_ISVTX else ""
        return _Kind(f"{prefix.replace(' ', ', ')}{sticky}directory", "inode/directory")
    is_device = stat.S_ISCHR(info.mode) or stat.S_ISBLK(info.mode)
    special = None if args.flag("special-files") and is_device else _identify_special(info)
    if special is not None:
        return special
    if not info.size and not is_device:
        return _Kind(
            f"{prefix}empty",
            "application/x-empty" if args.flag("special-files") else "inode/x-empty",
        )
    try:
        source = ctx.fs.open(path, "r")
    except PermissionError:
        return _Kind(
            f"{prefix}regular file, no read permission",
            "application/x-unreadable" if not prefix else "inode/x-unreadable",
        )
    try:
        kind = _identify_content(ctx, source.read(_READ), expand=expand)
    finally:
        source.release()
    kind.words = prefix + kind.words
    return kind


def _identify_special(info: Stat) -> _Kind | None:
    kind = stat.S_IFMT(info.mode)
    if kind in (stat.S_IFCHR, stat.S_IFBLK):
        which, mime = (
            ("character", "inode/chardevice")
            if kind == stat.S_IFCHR
            else ("block", "inode/blockdevice")
        )
        return _Kind(f"{which} special ({info.rdev >> 8}/{info.rdev & 255})", mime)
    if kind in _SPECIAL:
        return _Kind(*_SPECIAL[kind])
    return None


def _identify_content(ctx: CommandContext, data: bytes, *, expand: bool = False) -> _Kind:
    if not data:
        return _Kind("empty", "inode/x-empty")
    ctx.budget.step(len(data) // 4096)
    format = detect(data) if expand else None
    if format is not None:
        return _identify_inside(ctx, data, format)
    binary = identify_binary(data, LocalTime(ctx))
    if binary is not None:
        return _Kind(*binary, find_charset(data))
    if len(data) == 1:
        return _Kind("very short file (no magic)", "application/octet-stream")
    text = identify_text(data)
    if text is not None:
        return _Kind(*text)
    return _Kind(*(identify_script(data) or ("data", "application/octet-stream")))


def _identify_inside(ctx: CommandContext, data: bytes, format: str) -> _Kind:
    """What compressed data expands to, and what it is itself."""
    inside = b""
    try:
        for block in decompress(Source(BytesReader(data)), format, ctx.budget):
            inside += block
            if len(inside) >= _READ:
                break
    except CompressionError:
        pass
    outside = identify_binary(data, LocalTime(ctx)) or ("data", "application/octet-stream")
    kind = _identify_content(ctx, inside)
    kind.words += f" ({outside[0].partition(', original size')[0]})"
    kind.around = outside[1]
    return kind
