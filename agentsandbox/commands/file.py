"""`file` (version 5.44): what kind of file each is, by what is in it."""

from __future__ import annotations

import os
import re
import stat

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._compression import CompressionError, Source, decompress, detect
from agentsandbox.commands._magic_binary import extensions_of, identify_binary
from agentsandbox.commands._magic_text import find_charset, identify_script, identify_text
from agentsandbox.commands._times import LocalTime
from agentsandbox.commands._widths import text_width
from agentsandbox.errors import CommandError
from agentsandbox.streams import BytesReader, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.fs.base import Stat

_READ = 1 << 20
_BOTH = 2
"""So often is -0 given for names and answers to end with NUL."""

_TESTS = frozenset("apptype ascii cdf compress csv elf encoding soft tar json text tokens".split())
_PARAMETERS = frozenset("bytes elf_notes elf_phnum elf_shnum encoding indir name regex".split())
_APPLE = {"image/gif": "8BIMGIFf", "image/jpeg": "8BIMJPEG", "image/bmp": "????BMPp", "text/rtf": "????RTF"}
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
    usage="""
    Usage: file [OPTION]... FILE...
    Tell what kind of file each FILE is.

          --apple              creator and type as an Apple names them
      -b, --brief              do not print names
      -e, --exclude=TEST       do not make this test: apptype, ascii, cdf, compress, csv, elf, encoding, soft, tar, json, text, tokens
          --exclude-quiet=TEST  the same, of which the name may be unknown
          --extension          the extensions that such files have
      -E                       errors are errors: status 1
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
      -P, --parameter=NAME=VALUE  look at so many "bytes"; the other parameters limit what does not grow here
      -r, --raw                do not show unprintable characters as \\ooo
      -s, --special-files      read devices as if they were files
      -S, --no-sandbox         accepted: this is a sandbox
      -z, --uncompress         look into compressed files
      -Z, --uncompress-noreport  tell only what is in compressed files
      -0, --print0             NUL after names
          --help               display this help and exit
    """,
)
def file(ctx: CommandContext, args: Arguments) -> int:
    look = _Look(args)
    names: list[str] = []
    for listed in args.values("files-from"):
        source = ctx.open_input(listed)
        names += [decode(line.rstrip(b"\n")) for line in source.lines()]
    names += args.operands
    if not names:
        ctx.stderr.write(b"Usage: file [OPTION]... FILE...\n")
        return 1
    raw = args.flag("raw")
    width = 0 if args.flag("no-pad") else max(text_width(_shown(name, raw=raw)) for name in names)
    nulls = sum(key == "print0" for key, _ in args.given)
    for name in names:
        ctx.budget.step()
        answer = _answer(ctx, args, look, name)
        end = "\n" if nulls < _BOTH else "\0"
        if not args.flag("brief") and name:
            shown = _shown(name, raw=raw)
            separator = args.value("separator") or ":"
            padding = " " * max(0, width - text_width(shown))
            answer = f"{shown}\0{answer}" if nulls >= _BOTH else f"{shown}{chr(0) * nulls}{separator}{padding} {answer}"
        ctx.stdout.write(encode(answer + end))
    return ctx.status


class _Look:
    """How files are looked at: which tests are not made, how much is read, whether compressed data is expanded."""

    __slots__ = ("excluded", "expand", "follow", "read", "report", "special")

    def __init__(self, args: Arguments) -> None:
        self.excluded = frozenset(args.values("exclude") + args.values("exclude-quiet"))
        unknown = sorted(set(args.values("exclude")) - _TESTS)
        if unknown:
            raise CommandError("unknown test; see file --help")
        self.expand = args.flag("uncompress") or args.flag("uncompress-noreport")
        self.report = args.last("uncompress", "uncompress-noreport") == "uncompress"
        self.follow = args.last("dereference", "no-dereference") == "dereference"
        self.special = args.flag("special-files")
        self.read = _READ
        for text in args.values("parameter"):
            name, equals, value = text.partition("=")
            if not equals or name not in _PARAMETERS:
                raise CommandError(f"Unknown param {text}")
            if name == "bytes":
                self.read = min(_READ, int(value)) if re.fullmatch("[0-9]{1,9}", value) else 0


def _shown(name: str, *, raw: bool) -> str:
    """A name as it is printed: what does not print in octal."""
    if name == "-":
        return "/dev/stdin"
    if raw or name.isprintable():
        return name
    return "".join([c if c.isprintable() else "".join([f"\\{byte:03o}" for byte in encode(c)]) for c in name])


def _answer(ctx: CommandContext, args: Arguments, look: _Look, name: str) -> str:
    if name == "-" and ctx.stdin.unreadable:
        ctx.status = 1
        return f"ERROR: cannot read `/dev/stdin' ({os.strerror(ctx.stdin.unreadable)})"
    try:
        kind = _identify(ctx, look, name)
    except OSError as error:
        if args.flag("E"):
            ctx.status = 1
            return f"ERROR: cannot stat `{name}' ({describe_os_error(error, '')})"
        return f"cannot open `{name}' ({describe_os_error(error, '')})"
    if kind.mime == "application/x-unreadable" and args.last("mime", "mime-type", "mime-encoding", "extension"):
        return kind.words
    if kind.mime == "inode/directory" and args.flag("extension"):
        ctx.status = 1
        return f"ERROR: cannot read `{name}' (Is a directory)"
    if args.flag("extension"):
        return extensions_of(kind.words, kind.mime)
    if args.flag("apple"):
        return _APPLE.get(kind.mime, "UNKNUNKN")
    if args.flag("mime-type") and not args.last("mime-encoding", "mime"):
        return kind.mime
    if args.flag("mime-encoding") and not args.last("mime-type", "mime"):
        return kind.charset or "binary"
    if args.flag("mime") or args.flag("mime-type"):
        inside = f" compressed-encoding={kind.around}; charset=binary" if kind.around else ""
        return f"{kind.mime}; charset={kind.charset}{inside}" if kind.charset else kind.mime
    return kind.words


def _identify(ctx: CommandContext, look: _Look, name: str) -> _Kind:
    if name == "-":
        return _identify_content(ctx, look, ctx.stdin.read(look.read))
    path = ctx.path(name)
    info = ctx.fs.stat(path, follow=False)
    if info.is_link and not look.follow:
        text = ctx.fs.readlink(path)
        if ctx.fs.exists(path):
            return _Kind(f"symbolic link to {text}", "inode/symlink")
        return _Kind(f"broken symbolic link to {text}", "inode/symlink", "")
    info = ctx.fs.stat(path)
    prefix = "".join([word for bit, word in ((stat.S_ISUID, "setuid "), (stat.S_ISGID, "setgid ")) if info.mode & bit])
    if info.is_dir:
        sticky = "sticky, " if info.mode & stat.S_ISVTX else ""
        return _Kind(f"{prefix.replace(' ', ', ')}{sticky}directory", "inode/directory")
    is_device = stat.S_ISCHR(info.mode) or stat.S_ISBLK(info.mode)
    special = None if look.special and is_device else _identify_special(info)
    if special is not None:
        return special
    if not info.size and not is_device:
        return _Kind(f"{prefix}empty", "application/x-empty" if look.special else "inode/x-empty")
    try:
        source = ctx.fs.open(path, "r")
    except PermissionError:
        return _Kind(f"{prefix}regular file, no read permission", "application/x-unreadable" if not prefix else "inode/x-unreadable")
    try:
        kind = _identify_content(ctx, look, source.read(look.read))
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


def _identify_content(ctx: CommandContext, look: _Look, data: bytes) -> _Kind:
    if not data:
        return _Kind("empty", "inode/x-empty")
    ctx.budget.step(len(data) // 4096)
    format = detect(data) if look.expand and "compress" not in look.excluded else None
    if format is not None:
        return _identify_inside(ctx, look, data, format)
    charset = "binary" if "encoding" in look.excluded and "ascii" in look.excluded else find_charset(data)
    binary = identify_binary(data, LocalTime(ctx)) if "soft" not in look.excluded else None
    if binary is not None:
        return _Kind(*binary, charset)
    if len(data) == 1:
        return _Kind("very short file (no magic)", "application/octet-stream")
    text = identify_text(data, look.excluded)
    if text is not None:
        return _Kind(*text)
    script = identify_script(data) if "soft" not in look.excluded else None
    return _Kind(*(script or ("data", "application/octet-stream")))


def _identify_inside(ctx: CommandContext, look: _Look, data: bytes, format: str) -> _Kind:
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
    plain = _Look(Arguments())
    plain.excluded = look.excluded
    kind = _identify_content(ctx, plain, inside)
    if look.report:
        kind.words += f" ({outside[0].partition(', original size')[0]})"
        kind.around = outside[1]
    return kind
