"""`rename`: change the names of files, by a Perl expression (Debian) or by plain texts (util-linux)."""

from __future__ import annotations

import posixpath
import re

from agentsandbox.command import Arguments, CommandContext, command
from agentsandbox.commands._iconv_names import find_encoding
from agentsandbox.commands._lines import read_all
from agentsandbox.commands._prompts import ask
from agentsandbox.commands._rename_expressions import ExpressionError, compile_expression, looks_like_perl
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.manners import Manners, Release
from agentsandbox.streams import bytewise, decode, encode
from agentsandbox.usage import OptionParser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NOTHING, _SOME_FAILED, _ALL_FAILED, _DIED = 4, 2, 1, 255
_WRONG = 2
_LEAST = 3
"""Operands of the form with plain texts."""
_WITH_VALUE = frozenset(("-e", "-E"))
_HIGH = re.compile(r"\\\\|\\x(?:\{([89a-fA-F][0-9a-fA-F])\}|([89a-fA-F][0-9a-fA-F]))")
_BYTES = {byte: 0xDC00 + byte for byte in range(0x80, 0x100)}
_NO_ENCODING = """-u|--unicode argument does not look like an encoding:
    either give an encoding or put -e as next option

"""


def _replaced(name: str, old: str, new: str, args: Arguments) -> str:
    """The name with the first, the last or every occurrence replaced."""
    if args.flag("all"):
        return name.replace(old, new)
    if args.flag("last"):
        head, found, tail = name.rpartition(old)
        return head + new + tail if found else name
    return name.replace(old, new, 1)


def _rename(ctx: CommandContext, args: Arguments, name: str, old: str, new: str) -> bool | None:
    """Rename one file, or its target with -s: whether it went well, None when there was nothing to do."""
    fs, path = ctx.fs, ctx.path(name)
    if args.flag("symlink"):
        if not fs.stat(path, follow=False).is_link:
            ctx.warn(f"{name}: not a symbolic link", _ALL_FAILED)
            return False
        text = fs.readlink(path)
        wanted = _replaced(text, old, new, args)
        if wanted == text:
            return None
        if not args.flag("nono"):
            fs.unlink(path)
            fs.symlink(wanted, path)
        if args.flag("verbose"):
            ctx.print(f"{name}: `{text}' -> `{wanted}'")
        return True
    fs.stat(path, follow=False)
    directory, base = ("", name) if "/" in old else posixpath.split(name)
    wanted = posixpath.join(directory, _replaced(base, old, new, args))
    if wanted == name:
        return None
    if args.flag("no-overwrite") and fs.exists(ctx.path(wanted), follow=False):
        if args.flag("verbose"):
            ctx.print(f"Skipping existing file: `{wanted}'")
        return None
    if args.flag("interactive") and fs.exists(ctx.path(wanted), follow=False) and not ask(ctx, f"{ctx.name}: overwrite `{wanted}'? "):
        return None
    if not args.flag("nono"):
        fs.rename(path, ctx.path(wanted))
    if args.flag("verbose"):
        ctx.print(f"`{name}' -> `{wanted}'")
    return True


@command(
    "rename",
    manners=Manners(Release("/usr/bin/NAME using File::Rename version 2.01", "-V, --version")),
    raw=True,
    usage="""
    Usage: rename [options] PERLEXPR [FILE]...
      or:  rename [options] -e PERLEXPR... [FILE]...
      or:  rename [options] EXPRESSION REPLACEMENT FILE...
    Rename files as Debian's does, by substitutions as Perl writes them: `rename 's/\\.htm$/.html/' *.htm`, several with
    semicolons between them. Of Perl it knows s///, tr///, y///, and $_ = lc, uc, lcfirst, ucfirst; s///e knows sprintf
    and sums. The names come from standard input if there are none. Or as util-linux's does: replace the first plain
    text EXPRESSION in the names by REPLACEMENT.

      -v, --verbose        tell what is renamed
      -n, --nono, --no-act  tell what would be renamed, change nothing
      -h, --help           display this help and exit

    With PERLEXPR:
      -0, --null           names on standard input end in NUL
      -f, --force          overwrite existing files
          --path, --fullpath  change the whole path (the default)
      -d, --filename, --nopath, --nofullpath  change the last part of the path only
      -u, --unicode[=ENCODING]  names are characters of ENCODING (also as the next word), not bytes
      -m, --man            display this help and exit
      -e PERLEXPR          an expression; several work together
      -E PERLEXPR          the same

    With EXPRESSION and REPLACEMENT:
      -s, --symlink        change the targets of symbolic links
      -a, --all            replace every occurrence
      -l, --last           replace the last occurrence
      -o, --no-overwrite   leave existing files alone
      -i, --interactive    ask before overwriting
    """,
)
def rename(ctx: CommandContext, args: Arguments) -> int:
    args = OptionParser(rename.usage, permute=False).parse(_with_encodings(args.operands))
    if re.search(r"[^\w. :-]", args.value("unicode") or ""):
        ctx.print(_NO_ENCODING + rename.usage, end="")
        return _DIED
    if args.flag("help") or args.flag("man"):
        ctx.print(rename.usage, end="")
        return 1
    if args.flag("version"):
        ctx.stdout.write(encode(rename.version()))
        return 0
    expressions = args.values("e") + args.values("E")
    if expressions or (args.operands and (looks_like_perl(args.operands[0]) or len(args.operands) < _LEAST)):
        return _rename_by_perl(ctx, args, expressions)
    return _rename_by_text(ctx, args)


def _rename_by_perl(ctx: CommandContext, args: Arguments, expressions: list[str]) -> int:
    names = args.operands if expressions else args.operands[1:]
    for wrong in ("symlink", "all", "last", "no-overwrite", "interactive"):
        if args.flag(wrong):
            raise CommandError(f"--{wrong} goes with plain texts, not with a Perl expression", _WRONG)
    try:
        change = _change(ctx, args, ";".join(expressions or args.operands[:1]))
    except ExpressionError as error:
        ctx.stderr.write(encode(f"{error}\n"))
        return _WRONG
    if change is None:
        return _DIED
    if not names:
        end = b"\0" if args.flag("null") else b"\n"
        names = [decode(name) for name in read_all(ctx.budget, ctx.stdin).split(end) if name]
    only_base = args.last("path", "filename") == "filename"
    for name in names:
        ctx.budget.step()
        head = name[: name.rstrip("/").rfind("/") + 1] if only_base else ""
        wanted = head + change(name[len(head) :])
        if wanted != name:
            _move(ctx, args, name, wanted)
    return 0


def _change(ctx: CommandContext, args: Arguments, expression: str) -> Callable[[str], str] | None:
    """What the expression makes of a name: its bytes, unless -u says that they are characters of an encoding."""
    encoding = args.value("unicode")
    if encoding is None:
        change = compile_expression(_HIGH.sub(_byte, bytewise(expression)), ctx.budget)
        return lambda name: decode(encode(change(bytewise(name)).translate(_BYTES)))
    codec = "latin-1" if not encoding else find_encoding(encoding)
    if codec is None:
        ctx.stderr.write(encode(f"Unknown encoding '{encoding}' at /usr/share/perl5/File/Rename/Unicode.pm line 19.\n"))
        return None
    change = compile_expression(str(encode(expression), "latin-1"), ctx.budget)

    def by_characters(name: str) -> str:
        given = str(encode(name), codec, "replace")
        made = change(given)
        return name if made == given else decode(made.encode(codec if encoding else "utf-8", "replace"))

    return by_characters


def _byte(found: re.Match[str]) -> str:
    digits = found[1] or found[2]
    return found[0] if digits is None else chr(0xDC00 + int(digits, 16))


def _with_encodings(words: Sequence[str]) -> list[str]:
    """The words with the value of -u, which may be left out, at the option."""
    changed: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "--":
        word = rest.pop(0)
        if word in _WITH_VALUE and rest:
            changed += [word, rest.pop(0)]
        elif word in ("-u", "--unicode") and rest and not rest[0].startswith("-"):
            changed.append(f"--unicode={rest.pop(0)}")
        else:
            changed.append(word)
    return changed + rest


def _move(ctx: CommandContext, args: Arguments, name: str, wanted: str) -> None:
    if not args.flag("force") and wanted and ctx.fs.exists(ctx.path(wanted)):
        mark = "'" if re.search(r"\s", name + wanted) else ""
        ctx.stderr.write(encode(f"{mark}{name}{mark} not renamed: {mark}{wanted}{mark} already exists\n"))
        return
    if args.flag("nono"):
        ctx.print(f"rename({name}, {wanted})")
        return
    try:
        ctx.fs.rename(ctx.path(name), ctx.path(wanted))
    except OSError as error:
        ctx.stderr.write(encode(f"Can't rename {name} {wanted}: {error.strerror}\n"))
        return
    if args.flag("verbose"):
        ctx.print(f"{name} renamed as {wanted}")


def _rename_by_text(ctx: CommandContext, args: Arguments) -> int:
    if len(args.operands) < _LEAST:
        raise UsageError("not enough arguments")
    old, new, *names = args.operands
    done = failed = 0
    for name in names:
        ctx.budget.step()
        try:
            result = _rename(ctx, args, name, old, new) if old else None
        except OSError as error:
            ctx.warn(f"{name}: not accessible: {error.strerror}")
            result = False
        done += result is True
        failed += result is False
    if failed:
        return _SOME_FAILED if done else _ALL_FAILED
    return 0 if done else _NOTHING
