"""`tr` (POSIX 1003.1-2017, GNU coreutils): translate, squeeze and delete bytes."""

from __future__ import annotations

import re

from agentsandbox.commands._suites import COREUTILS
from agentsandbox.commands._text.lines import blocks
from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands.tr.sets import ByteSet, parse_set
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.manners import Manners
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.caching import Kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_BLOCK = 1 << 16
_PROGRAMS = Kept(64)
"""What short operands mean: scripts use the same few again and again."""
_SHORT = 128
"""Characters of operands whose meaning is kept."""


def _operands(args: Arguments, *, delete: bool, squeeze: bool) -> list[str]:
    """Return STRING1, and STRING2 if the options ask for it."""
    words = args.operands
    least = 1 if delete != squeeze else 2
    most = 1 if delete and not squeeze else 2
    if len(words) < least:
        if not words:
            raise UsageError("missing operand")
        reason = "when both deleting and squeezing repeats" if squeeze else "when translating"
        raise UsageError(
            f"missing operand after {quote(words[-1])}\nTwo strings must be given {reason}."
        )
    if len(words) > most:
        message = f"extra operand {quote(words[most])}"
        if len(words) == 2:
            message += "\nOnly one string may be given when deleting without squeezing repeats."
        raise UsageError(message)
    return words


def _translation(
    first: ByteSet, second: ByteSet, *, complement: bool, truncate: bool
) -> tuple[bytes, bytes]:
    """Return (from, to) of equal length."""
    if second.equivalents:
        raise CommandError("[=c=] expressions may not appear in string2 when translating")
    if second.other_classes:
        raise CommandError(
            "when translating, the only character classes that may appear in\n"
            "string2 are 'upper' and 'lower'"
        )
    source = first.content()
    if complement:
        source = bytes([byte for byte in range(256) if byte not in source])
    if second.fills:
        second.fill(len(source))
    if not complement and (first.has_class or second.has_class):
        first.check_cases(second, source)
    target = second.content()
    if not truncate and source and not target:
        raise CommandError("when not truncating set1, string2 must be non-empty")
    even = len(set(target)) == 1 and not (truncate and len(target) < len(source))
    if len(target) < len(source):
        if truncate:
            source = source[: len(target)]
        else:
            if second.ends_with_class:
                raise CommandError(
                    "when translating with string1 longer than string2,\n"
                    "the latter string must not end with a character class"
                )
            target += target[-1:] * (len(source) - len(target))
    if complement and first.has_class and not even:
        raise CommandError(
            "when translating with complemented character classes,\n"
            "string2 must map all characters in the domain to one"
        )
    return source, target[: len(source)]


def _squeezer(squeezed: bytes) -> Callable[[bytes], bytes]:
    """Return a function that squeezes runs in blocks, and runs across two blocks."""
    if not squeezed:
        return lambda block: block
    letters = b"".join([b"\\x%02x" % byte for byte in sorted(set(squeezed))])
    pattern = re.compile(rb"([" + letters + rb"])\1+", re.DOTALL)
    one = bytes(squeezed[:1]) if len(set(squeezed)) == 1 else None
    last = b""
    members = frozenset(squeezed)

    def squeeze(block: bytes) -> bytes:
        nonlocal last
        if last and block.startswith(last) and last[0] in members:
            block = block.lstrip(last)
        if not block:
            return block
        last = block[-1:]
        if one is not None:
            return _squeeze_one(block, one)
        return pattern.sub(rb"\1", block)

    return squeeze


_WHITE = tuple(bytes([byte]) for byte in b" \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0")
"""The bytes that `str.split` takes for white space in Latin-1 text."""

_MARKS = tuple(
    bytes([mark])
    for mark in (*range(1, 9), *range(14, 28), *range(127, 256))
    if bytes([mark]) not in _WHITE
)


def _hiding(block: bytes, byte: bytes) -> tuple[bytes, bytes] | None:
    """Return a translation (from, to) after which `byte` is the only white space of a block.

    None if the block leaves too few byte values free.
    """
    hidden = [white for white in _WHITE if white != byte and white in block]
    free = [mark for mark in _MARKS if mark not in block and mark != byte][: len(hidden)]
    if len(free) < len(hidden):
        return None
    return b"".join([*hidden, byte]), b"".join([*free, b" "])


def _squeeze_one(block: bytes, byte: bytes) -> bytes:
    """Squeeze the runs of one byte, by `split` if there are many and else by `replace`."""
    pairs = block.count(byte + byte)
    if not pairs:
        return block
    if pairs * 32 > len(block) and (hiding := _hiding(block, byte)) is not None:
        shown, hidden = hiding
        text = str(block.translate(bytes.maketrans(shown, hidden)), "latin-1")
        words = text.split()  # short texts are made faster than bytes
        if not words:
            return byte
        between = " ".join(words).encode("latin-1").translate(bytes.maketrans(hidden, shown))
        before = byte if block.startswith(byte) else b""
        return before + between + (byte if block.endswith(byte) else b"")
    long_run = byte * 16
    while long_run in block:
        block = block.replace(long_run, byte)
    pair = byte + byte
    while pair in block:
        block = block.replace(pair, byte)
    return block


@command(
    "tr",
    manners=Manners(
        COREUTILS,
        pure=True,
        long_options="complement delete squeeze-repeats truncate-set1 help version",
        read_error=("NAME: read error: REASON", 1),
    ),
    permute=False,
    usage="""
    Usage: tr [OPTION]... STRING1 [STRING2]
    Translate, squeeze or delete bytes of standard input, writing to standard output.

      -c, -C, --complement    use the complement of STRING1
      -d, --delete            delete the bytes in STRING1
      -s, --squeeze-repeats   replace each run of a byte that is in the last STRING by one
      -t, --truncate-set1     first truncate STRING1 to the length of STRING2
          --help              display this help and exit

    Strings are bytes, ranges and classes:

      \\NNN \\\\ \\a \\b \\f \\n \\r \\t \\v    a byte by its octal value, or by its name
      a-z                           all bytes from a to z, ascending
      [a*] [a*5]                    in STRING2: a as often as needed, or five times
      [:alnum:] [:alpha:] [:blank:] [:cntrl:] [:digit:] [:graph:]
      [:lower:] [:print:] [:punct:] [:space:] [:upper:] [:xdigit:]
      [=a=]                         the bytes equivalent to a
    """,
)
def tr(ctx: CommandContext, args: Arguments) -> int:
    key = (*args.given, *args.operands)
    table, deleted, squeezed = _PROGRAMS.get(key) or _program(ctx, args, key)
    squeezer = _squeezer(squeezed) if args.given and args.flag("squeeze-repeats") else None
    try:
        for block in blocks(ctx.budget, ctx.stdin, _BLOCK):
            if table is not None or deleted:
                block = block.translate(table, deleted)
            if squeezer is not None:
                block = squeezer(block)
            if block:
                ctx.stdout.write(block)
    except IsADirectoryError as error:
        raise CommandError(f"read error: {error.strerror}") from None
    return ctx.status


def _program(
    ctx: CommandContext, args: Arguments, key: tuple[object, ...]
) -> tuple[bytes | None, bytes, bytes]:
    """Return the table of the translation, the bytes to delete, and those to squeeze.

    key  the options and operands, under which the result is kept
    """
    given = dict(args.given)
    delete, squeeze = "delete" in given, "squeeze-repeats" in given
    complement, truncate = "complement" in given, "truncate-set1" in given
    words = _operands(args, delete=delete, squeeze=squeeze)
    first = parse_set(ctx, words[0])
    second = parse_set(ctx, words[1]) if len(words) > 1 else None
    warned = first.warned or (second is not None and second.warned)
    if second is not None and second.fills > 1:
        raise CommandError("only one [c*] repeat construct may appear in string2")
    if first.fills:
        raise CommandError("the [c*] repeat construct may not appear in string1")
    if second is not None and second.fills and delete:
        raise CommandError("the [c*] construct may appear in string2 only when translating")
    chosen = first.content()
    if complement:
        chosen = bytes([byte for byte in range(256) if byte not in chosen])
    table: bytes | None = None
    deleted = squeezed = b""
    if delete:
        deleted = chosen
        if squeeze and second is not None:
            squeezed = second.content()
    elif second is None:
        squeezed = chosen
    else:
        source, target = _translation(first, second, complement=complement, truncate=truncate)
        table = bytes.maketrans(source, target)  # the last translation of a byte counts
        if squeeze:
            squeezed = second.content()
    program = table, deleted, squeezed
    if not warned and sum(map(len, words)) <= _SHORT:
        _PROGRAMS.put(key, program)
    return program
