"""`file` (version 5.44): what kind of file each is, by what is in it."""

from __future__ import annotations

import errno
import os
import re
import stat

from agentsandbox.command import Arguments, CommandContext, command, describe_os_error
from agentsandbox.commands._compression import CompressionError, Source, decompress, detect
from agentsandbox.commands._magic_binary import extensions_of, identify_binary, identify_tar
from agentsandbox.commands._magic_entries import FileError, read_entries
from agentsandbox.commands._magic_matching import Magic
from agentsandbox.commands._magic_text import encoding_of, find_charset, identify_script, identify_text, kind_of_data, with_encoding
from agentsandbox.commands._times import LocalTime
from agentsandbox.commands._widths import text_width
from agentsandbox.errors import CommandError
from agentsandbox.manners import SILENT, Manners, Release
from agentsandbox.streams import BytesReader, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands._magic_entries import Entry
    from agentsandbox.commands._magic_matching import Finding
    from agentsandbox.fs.base import Stat

_READ, _ENCODED = 1 << 20, 65536
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

    __slots__ = ("apple", "around", "charset", "extensions", "mime", "words")

    def __init__(self, words: str, mime: str, charset: str = "binary") -> None:
        self.words = words
        self.mime = mime
        self.charset = charset
        self.extensions = self.apple = ""
        """What a magic file says of them."""
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
      -k, --keep-going         tell all that the files of -m find; what is built in stops at the first
      -l, --list               list what the files of -m look for, and how much each counts
      -L, --dereference        follow links
      -m, --magic-file=LIST    look for what these files say (also those in $MAGIC), with colons between them, as magic(5) has it:
                               numbers, texts, search, regex, default, clear, name and use; not what is built in
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
    listed = args.value("magic-file") or ctx.env.get("MAGIC")
    if listed:
        look.magic = _read_magic(ctx, listed, tells=args.flag("list"))
        if not look.magic:
            return 1
    if args.flag("list"):
        return _list_magic(ctx, look.magic)
    if args.flag("keep-going") and look.magic is None:
        raise CommandError("-k goes with -m here: what is built in stops at the first match", 1)
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

    __slots__ = ("excluded", "expand", "follow", "going_on", "looks_behind", "magic", "read", "report", "special")

    def __init__(self, args: Arguments) -> None:
        self.excluded = frozenset(args.values("exclude") + args.values("exclude-quiet"))
        unknown = sorted(set(args.values("exclude")) - _TESTS)
        if unknown:
            raise CommandError("unknown test; see file --help")
        self.expand = args.flag("uncompress") or args.flag("uncompress-noreport")
        self.report = args.last("uncompress", "uncompress-noreport") == "uncompress"
        self.follow = args.last("dereference", "no-dereference") == "dereference"
        self.looks_behind = args.flag("extension") or args.flag("apple")
        """Whether links that lead somewhere are followed in any case."""
        self.special = args.flag("special-files")
        self.magic: list[Magic] | None = None
        self.going_on = "\n- " if args.flag("keep-going") else ""
        """What stands between answers, if there may be several."""
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
    return name if raw else _escaped(name)


def _escaped(text: str) -> str:
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() else "".join([f"\\{byte:03o}" for byte in encode(c)]) for c in text])


def _answer(ctx: CommandContext, args: Arguments, look: _Look, name: str) -> str:
    if name == "-" and ctx.stdin.unreadable:
        ctx.status = 1
        return f"ERROR: cannot read `/dev/stdin' ({os.strerror(ctx.stdin.unreadable)})"
    try:
        kind = _identify(ctx, look, name)
        if look.magic is not None and not args.flag("raw"):
            kind.words, kind.mime = _escaped(kind.words), _escaped(kind.mime)
    except OSError as error:
        if args.flag("E"):
            ctx.status = 1
            return f"ERROR: cannot stat `{name}' ({describe_os_error(error, '')})"
        return f"cannot open `{name}' ({describe_os_error(error, '')})"
    if kind.mime == "inode/x-broken":
        if look.looks_behind:
            return kind.words
        kind.mime = "inode/symlink"
    if kind.mime == "application/x-unreadable" and args.last("mime", "mime-type", "mime-encoding", "extension"):
        return kind.words
    if kind.mime == "inode/directory" and (args.flag("extension") or args.flag("apple")):
        ctx.status = 1
        return f"ERROR: cannot read `{name}' (Is a directory)"
    if args.flag("extension"):
        more = f"{_escaped(look.going_on)}???" if look.going_on else ""
        return (
            f"{kind.extensions}{more}" if kind.extensions else ("???" if look.magic is not None else extensions_of(kind.words, kind.mime))
        )
    if args.flag("apple"):
        return kind.apple or ("UNKNUNKN" if look.magic is not None else _APPLE.get(kind.mime, "UNKNUNKN"))
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
        there = ctx.fs.exists(path)
        if there and not look.looks_behind:
            return _Kind(f"symbolic link to {text}", "inode/symlink")
        if not there:
            return _Kind(f"broken symbolic link to {text}", "inode/x-broken", "")
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
    if look.magic is not None:
        return _identify_by_magic(look, look.magic, data)
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


def _identify_by_magic(look: _Look, magic: list[Magic], data: bytes) -> _Kind:
    """What the files of -m say, after what is no matter of theirs."""
    encoding = encoding_of(data[:_ENCODED]) if "encoding" not in look.excluded else None
    text = None if encoding is None or look.excluded & {"ascii", "text"} else encoding
    kind = _Kind("", "", "binary" if encoding is None else encoding[1])
    fixed = identify_tar(data) if "tar" not in look.excluded else None
    fixed = fixed or (kind_of_data(encoding[2], look.excluded) if encoding is not None else None)
    if fixed is not None and not look.going_on:
        kind.words, kind.mime = fixed
        return kind
    found = [] if "soft" in look.excluded else _found(magic, data, in_text=False, looks_text=encoding is not None)
    below = _found(magic, text[2], in_text=True, looks_text=True) if text is not None and "soft" not in look.excluded else []
    for finding in [*found, *below]:
        kind.extensions = kind.extensions or finding.extensions
        kind.apple = kind.apple or finding.apple
    words = ([fixed[0]] if fixed is not None else []) + [finding.words for finding in found]
    if not look.going_on and words:
        kind.words = words[0]
    elif text is not None:
        inside = look.going_on.join([finding.words for finding in (below if look.going_on else below[:1])])
        before = look.going_on.join([*words, inside]) if words else inside
        kind.words = (
            before + ", " + with_encoding("", text[0], text[2]) if words and not inside else with_encoding(before, text[0], text[2])
        )
    else:
        kind.words = look.going_on.join(words if found and look.excluded & {"ascii", "text"} else [*words, "data"])
    kind.mime = _mime(look, fixed, found, below, is_text=text is not None)
    return kind


def _mime(look: _Look, fixed: tuple[str, str] | None, found: list[Finding], below: list[Finding], *, is_text: bool) -> str:
    """The MIME type: the first that there is, and with -k that of what is behind it."""
    first = fixed[1] if fixed is not None else found[0].mime if found else ""
    inside = next((finding.mime for finding in below if finding.mime), "")
    if not look.going_on:
        return first or ("" if found else inside) or ("text/plain" if is_text else "application/octet-stream")
    if is_text:
        return look.going_on.join([first, inside]) if inside and (first or found) else first or inside or "text/plain"
    return look.going_on.join([*([first] if first else []), "application/octet-stream"])


def _found(magic: list[Magic], data: bytes, *, in_text: bool, looks_text: bool) -> list[Finding]:
    return [finding for each in magic for finding in each.find(data, in_text=in_text, looks_text=looks_text)]


def _read_magic(ctx: CommandContext, listed: str, *, tells: bool) -> list[Magic]:
    """The entries of all files in a list; none, with a message, if no file has any. `tells`: each file is told of."""
    magic: list[Magic] = []
    problem = os.strerror(errno.ENOENT)
    for number, name in enumerate(listed.split(":")):
        try:
            path = ctx.path(name)
            names = [f"{name}/{each}" for each in sorted(ctx.fs.listdir(path))] if ctx.fs.is_dir(path) else [name]
            if number or tells:
                ctx.stderr.write(encode(f"Warning: using regular magic file `{name}'\n"))
            entries: list[Entry] = []
            for each in names:
                data = ctx.fs.read_bytes(ctx.path(each))
                ctx.budget.step(len(data) // 64)
                warnings: list[str] = []
                entries += read_entries(decode(data[:_READ]), warnings)
                ctx.stderr.write(encode("".join([f"{each}, {warning}\n" for warning in warnings])))
                if warnings and warnings[-1].partition("Warning: ")[2].startswith(("Unparsable", "Overflow")):
                    problem = ""
        except FileError as error:
            ctx.stderr.write(encode(f"file: {error} ({os.strerror(errno.ENOENT)})\n"))
            return []
        except OSError:
            continue
        if entries:
            magic.append(Magic(entries, ctx.budget, LocalTime(ctx)))
    if not magic:
        ctx.stderr.write(encode(f"file: could not find any valid magic files!{f' ({problem})' if problem else ''}\n"))
    return magic


def _list_magic(ctx: CommandContext, magic: list[Magic] | None) -> int:
    """`-l`: what is looked for, the best first."""
    if magic is None:
        raise CommandError("-l goes with -m here: what is built in has no strength", 1)
    ctx.print("Set 0:")
    for kind, in_text in (("Binary", False), ("Text", True)):
        ctx.print(f"{kind} patterns:")
        for entry in [entry for each in magic for entry in each.entries]:
            if entry.is_binary_test() is not in_text:
                ctx.print(f"Strength = {entry.rank():3d}@{entry.line}: {entry.told()} [{entry.mime}]")
    ctx.print("Set 1:\nBinary patterns:\nText patterns:")
    return 0


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
