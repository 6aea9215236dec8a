"""Digests of files, printed and checked: `md5sum` and its family, `cksum` and `shasum`."""

from __future__ import annotations

import re

from agentsandbox.commands._text.lines import blocks, inputs, lines, shown_name
from agentsandbox.commands._text.quoting import quote, quote_always, quote_as
from agentsandbox.commands._text.sizes import parse_size
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import BLOCK, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.kernel.streams import ByteReader

NAMES = {
    "md5": "MD5",
    "sha1": "SHA1",
    "sha224": "SHA224",
    "sha256": "SHA256",
    "sha384": "SHA384",
    "sha512": "SHA512",
    "blake2b": "BLAKE2b",
    "sm3": "SM3",
}
"""Algorithms by the names of `cksum -a`, and as --tag prints them."""

_DIGITS = {
    "md5": 32,
    "sha1": 40,
    "sha224": 56,
    "sha256": 64,
    "sha384": 96,
    "sha512": 128,
    "blake2b": 128,
    "sm3": 64,
}
_TAGGED = re.compile(
    r"[ \t]*+(\\?)([A-Za-z0-9]++)(?:-([0-9]++))?[ ]?\((.*)\) = ([0-9a-fA-F]+)\Z", re.DOTALL
)
_PLAIN = re.compile(r"[ \t]*+(\\?)([0-9a-fA-F]++)[ \t](?:[ *])?(.+)\Z", re.DOTALL)
_ESCAPED = re.compile(r"(?:[^\\]+|\\[\\nr])*+", re.DOTALL)
_CHECK_ONLY = ("ignore-missing", "status", "warn", "quiet", "strict")


def _new(algorithm: str, bits: int) -> Any:
    """Return a hash object."""
    import hashlib  # only here: it loads OpenSSL

    if algorithm == "blake2b":
        return hashlib.blake2b(digest_size=bits // 8)
    try:
        return hashlib.new(algorithm, usedforsecurity=False)
    except ValueError:
        raise CommandError(f"the algorithm {algorithm} is not available here") from None


def digest_file(ctx: CommandContext, source: ByteReader, algorithm: str, bits: int) -> str:
    """Return the digest of all of `source`, in hexadecimal."""
    state = _new(algorithm, bits)
    for block in blocks(ctx.budget, source, 4 * BLOCK):
        state.update(block)
    return str(state.hexdigest())


def _escape(name: str) -> tuple[str, str]:
    """Return ("\\" if anything is escaped, the name with newlines and backslashes escaped)."""
    if not re.search(r"[\\\n\r]", name):
        return "", name
    return "\\", name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _unescape(name: str) -> str | None:
    if not _ESCAPED.fullmatch(name):
        return None
    return re.sub(r"\\([\\nr])", lambda found: {"n": "\n", "r": "\r"}.get(found[1], "\\"), name)


class _Printer:
    """Prints the digests of files."""

    def __init__(
        self, ctx: CommandContext, args: Arguments, algorithm: str, bits: int, *, tag: bool
    ) -> None:
        self.ctx = ctx
        self.algorithm = algorithm
        self.bits = bits
        self.end = "\0" if args.flag("zero") else "\n"
        self.tag = ""
        self.binary = "*" if args.last("binary", "text") == "binary" else " "
        if tag:
            shorter = algorithm == "blake2b" and bits != 512
            self.tag = NAMES[algorithm] + (f"-{bits}" if shorter else "")

    def compute(self, names: Sequence[str]) -> int:
        """Print the digest of each file."""
        for name, source in inputs(self.ctx, names):
            digest = digest_file(self.ctx, source, self.algorithm, self.bits)
            mark, shown = ("", name) if self.end == "\0" else _escape(name)
            text = f"{self.tag} ({shown}) = {digest}" if self.tag else None
            self.ctx.print(mark + (text or f"{digest} {self.binary}{shown}"), self.end)
        return self.ctx.status


class Check:
    """`--check`: one list of digests, and what was found wrong."""

    label = ""
    """The name of the digests in messages, if it is always the same."""

    def __init__(
        self, ctx: CommandContext, args: Arguments, algorithm: str | None, bits: int, name: str
    ) -> None:
        self.ctx = ctx
        self.args = args
        self.algorithm = algorithm
        self.bits = bits
        self.name = "standard input" if name == "-" else name
        self.failed = self.improper = self.formatted = self.matched = self.unreadable = 0

    def parse(self, line: str) -> tuple[str, int, str, str] | None:
        """Return (algorithm, bits, digest, file) of one line, None if it is improper."""
        found = _TAGGED.match(line)
        if found is not None:
            mark, label, bits_text, name, digest = found.groups()
            algorithm = next((key for key, shown in NAMES.items() if shown == label), None)
            if algorithm is None or self.algorithm not in (None, algorithm):
                return None
            bits = 4 * _DIGITS[algorithm]
            if algorithm == "blake2b":
                bits = int((bits_text or "512")[:9])
                if not bits or bits % 8 or bits > 512:
                    return None
            wanted = bits // 4
        else:
            found = _PLAIN.match(line)
            if found is None or self.algorithm is None:
                return None
            algorithm, mark, digest, name = self.algorithm, *found.groups()
            bits, wanted = self.bits, _DIGITS[algorithm]
            if algorithm == "blake2b":
                if len(digest) % 2 or len(digest) > 128:
                    return None
                bits = 4 * len(digest)
                wanted = len(digest)
        if len(digest) != wanted:
            return None
        plain = _unescape(name) if mark else name
        return None if plain is None else (algorithm, bits, digest, plain)

    def run(self, source: ByteReader) -> bool:
        """Verify all files of the list; whether all are good."""
        number = 0
        latest = ""
        for data in lines(self.ctx.budget, source):
            number += 1
            line = decode(data).removesuffix("\r")
            if not line or line.startswith("#"):
                continue
            parsed = self.parse(line)
            if parsed is None or (parsed[3] == "-" and self.name == "standard input"):
                self.improper += 1
                if _talk(self.args) == "warn":
                    label = self.label or NAMES.get(self.algorithm or latest, "CRC")
                    shown = quote_as(self.name, "shell-escape")
                    self.ctx.warn(
                        f"{shown}: {number}: improperly formatted {label} checksum line",
                        self.ctx.status,
                    )
                continue
            self.formatted += 1
            latest = parsed[0]
            self._verify(*parsed)
        return self._summary()

    def _verify(self, algorithm: str, bits: int, digest: str, name: str) -> None:
        ctx, args = self.ctx, self.args
        mark, shown = _escape(name) if "\n" in name or "\r" in name else ("", name)
        try:
            source = ctx.open_input(name)
        except OSError as error:
            if error.errno == 2 and args.flag("ignore-missing"):
                return
            self.unreadable += 1
            ctx.warn_os(error, shown_name(name))
            if _talk(args) != "status":
                ctx.print(f"{mark}{shown}: FAILED open or read")
            return
        result = "OK"
        if digest_file(ctx, source, algorithm, bits) == digest.lower():
            self.matched += 1
        else:
            self.failed += 1
            result = "FAILED"
        if _talk(args) != "status" and not (_talk(args) == "quiet" and result == "OK"):
            ctx.print(f"{mark}{shown}: {result}")

    def _summary(self) -> bool:
        ctx, args = self.ctx, self.args
        shown = quote_as(self.name, "shell-escape")
        if not self.formatted:
            what = f"{self.label} checksum".lstrip()
            ctx.warn(f"{shown}: no properly formatted {what} lines found")
            return False
        unverified = args.flag("ignore-missing") and not self.matched
        if _talk(args) != "status":
            self._count(self.improper, "line is", "lines are", "improperly formatted")
            self._count(self.unreadable, "listed file", "listed files", "could not be read")
            self._count(self.failed, "computed checksum", "computed checksums", "did NOT match")
            if unverified:
                ctx.warn(f"{shown}: no file was verified", ctx.status)
        good = not (self.failed or self.unreadable or unverified)
        return good and not (args.flag("strict") and self.improper)

    def _count(self, count: int, one: str, several: str, what: str) -> None:
        if count:
            message = f"WARNING: {count} {one if count == 1 else several} {what}"
            self.ctx.warn(message, self.ctx.status)


def _check_options(args: Arguments, *, tag: bool) -> None:
    """Refuse options that contradict each other."""
    check = args.flag("check")
    if tag and args.last("binary", "text", "tag") == "text":
        raise UsageError("--tag does not support --text mode")
    if args.flag("zero") and check:
        raise UsageError("the --zero option is not supported when verifying checksums")
    if args.flag("tag") and check:
        raise UsageError("the --tag option is meaningless when verifying checksums")
    if args.last("binary", "text") and check:
        raise UsageError("the --binary and --text options are meaningless when verifying checksums")
    if not check:
        refuse_check_options(args)


def _talk(args: Arguments) -> str | None:
    """Return the last option for the messages of --check; it overrides the others."""
    return args.last("status", "warn", "quiet")


def refuse_check_options(args: Arguments) -> None:
    """Refuse options that are for --check only."""
    talk = _talk(args)
    for option in _CHECK_ONLY:
        if option == talk or (args.flag(option) and option in ("ignore-missing", "strict")):
            raise UsageError(f"the --{option} option is meaningful only when verifying checksums")


def read_bits(name: str, text: str) -> int:
    """Return a digest length in bits, for the command `name`."""
    bits = parse_size(text, "length", suffixes="")
    if bits % 8:
        raise CommandError(f"invalid length: {quote(text)}\n{name}: length is not a multiple of 8")
    return bits


def blake_bits(ctx: CommandContext, args: Arguments, most: int | None = 512) -> int:
    """Return the digest length of BLAKE2b in bits, 0 without --length."""
    text = args.value("length", "0") or ""
    bits = read_bits(ctx.name, text)
    if most is not None and bits > most:
        ctx.warn(f"invalid length: {quote(text)}")
        raise CommandError(f"maximum digest length for {quote('BLAKE2b')} is 512 bits")
    return bits


def run_checksum(ctx: CommandContext, args: Arguments, algorithm: str | None, *, tag: bool) -> int:
    """Print or verify digests. `algorithm` is None if the lines to verify name theirs."""
    _check_options(args, tag=tag)
    bits = (blake_bits(ctx, args) or 512) if algorithm == "blake2b" else 0
    if not args.flag("check"):
        assert algorithm is not None
        return _Printer(ctx, args, algorithm, bits, tag=tag).compute(args.operands)
    good = True
    for name in args.operands or ["-"]:
        try:
            source = ctx.open_input(name)
        except IsADirectoryError:
            ctx.warn(f"{quote_always('standard input') if name == '-' else name}: read error")
            good = False
            continue
        except OSError as error:
            ctx.warn_os(error, shown_name(name))
            good = False
            continue
        if source.unreadable:
            ctx.warn(f"{quote_always('standard input')}: read error")
            ctx.warn(f"standard input: {source.input_error().strerror}")
            good = False
            continue
        good = Check(ctx, args, algorithm, bits, name).run(source) and good
    return 0 if good else 1
