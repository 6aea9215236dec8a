"""`openssl`: digests, base64 and random bytes; no keys, certificates or ciphers."""

from __future__ import annotations

import binascii
import hashlib
import hmac
import os

from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.contract.usage import OptionParser
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.kernel.streams import ByteReader, ByteWriter

_DIGESTS = {
    "md5": "MD5", "sha1": "SHA1", "sha224": "SHA2-224", "sha256": "SHA2-256", "sha384": "SHA2-384",
    "sha512": "SHA2-512", "sha3-224": "SHA3-224", "sha3-256": "SHA3-256", "sha3-384": "SHA3-384",
    "sha3-512": "SHA3-512", "blake2b512": "BLAKE2B-512", "blake2s256": "BLAKE2S-256",
}  # fmt: skip
_HASHES = {"blake2b512": "blake2b", "blake2s256": "blake2s"}
_PLACES = """
      --in=FILE
      --out=FILE
"""
_DIGEST = f"""
      --hex
      --binary
      --r
      --hmac=KEY
      --out=FILE
{"".join(f"      --{name}{chr(10)}" for name in _DIGESTS)}"""
_ENCODE = f"{_PLACES}      --base64\n      --a\n      --d\n      --e\n      --A\n"
_RANDOM = f"{_PLACES}      --hex\n      --base64\n"


def _parse(command: str, usage: str, words: Sequence[str]) -> Arguments:
    """Options with one dash, as openssl has them."""
    given = [
        f"-{word}" if word.startswith("-") and len(word) > 1 and not word.startswith("--") else word
        for word in words
    ]
    try:
        return OptionParser(usage).parse(given)
    except UsageError as error:
        option = error.message.rpartition("'--")[2].rstrip("'")
        what = "Unknown option or message digest" if command == "dgst" else "Unknown option"
        raise CommandError(f"{what}: {option}\n{command}: Use -help for summary.") from None


class _Openssl:
    """One call."""

    def __init__(self, ctx: CommandContext) -> None:
        self.ctx = ctx

    def writer(self, args: Arguments) -> ByteWriter:
        name = args.value("out")
        if name is None:
            return self.ctx.stdout
        return self.ctx.keep(
            self.ctx.fs.open(self.ctx.path(name), "w", permissions=0o666 & ~self.ctx.umask)
        )

    def reader(self, args: Arguments) -> ByteReader:
        name = args.value("in")
        return self.ctx.stdin if name is None else self.open(name)

    def open(self, name: str) -> ByteReader:
        return self.ctx.keep(self.ctx.fs.open(self.ctx.path(name), "r"))

    def digest(self, name: str, words: Sequence[str]) -> int:
        args = _parse("dgst", _DIGEST, words)
        kind = args.last(*_DIGESTS) or (name if name != "dgst" else "sha256")
        shown = _DIGESTS[kind]
        if name == "dgst" and args.last(*_DIGESTS) is None:
            shown = "SHA256"
        output = self.writer(args)
        for operand in args.operands or [""]:
            try:
                source = self.open(operand) if operand else self.ctx.stdin
                result = self.compute(kind, args.value("hmac"), source)
            except OSError as error:
                self.ctx.stderr.write(encode(f"{operand}: {os.strerror(error.errno or 5)}\n"))
                self.ctx.status = 1
                continue
            if args.flag("binary"):
                output.write(result)
            elif args.flag("r"):
                output.write(encode(f"{result.hex()} *{operand or 'stdin'}\n"))
            else:
                prefix = "HMAC-" if args.flag("hmac") else ""
                output.write(encode(f"{prefix}{shown}({operand or 'stdin'})= {result.hex()}\n"))
        return self.ctx.status

    def compute(self, kind: str, key: str | None, source: ByteReader) -> bytes:
        algorithm = _HASHES.get(kind, kind.replace("-", "_"))
        hasher = (
            hashlib.new(algorithm, usedforsecurity=False)
            if key is None
            else hmac.new(encode(key), digestmod=algorithm)
        )
        for block in source.blocks():
            self.ctx.budget.step()
            hasher.update(block)
        return hasher.digest()

    def base64(self, words: Sequence[str], *, only_base64: bool) -> int:
        args = _parse("base64" if only_base64 else "enc", _ENCODE, words)
        if not only_base64 and not (args.flag("base64") or args.flag("a")):
            raise CommandError("ciphers are not available in this sandbox: only -base64")
        output = self.writer(args)
        data = self.reader(args).read()
        self.ctx.budget.charge(2 * len(data))
        if args.flag("d"):
            try:
                decoded = binascii.a2b_base64(data)
            except binascii.Error:
                decoded = b""
            output.write(decoded)
            return 0
        if args.flag("A"):
            output.write(binascii.b2a_base64(data, newline=False))
            return 0
        for at in range(0, len(data), 48):
            self.ctx.budget.step()
            output.write(binascii.b2a_base64(data[at : at + 48]))
        return 0

    def random(self, words: Sequence[str]) -> int:
        args = _parse("rand", _RANDOM, words)
        text = args.operands[0] if args.operands else ""
        if not (text.isascii() and text.isdigit()) or len(text) > 9:
            raise CommandError("Use -help for summary.")
        self.ctx.budget.charge(int(text))
        data = self.ctx.host.random.randbytes(int(text))
        output = self.writer(args)
        if args.flag("hex"):
            output.write(data.hex().encode("ascii") + b"\n")
        elif args.flag("base64"):
            for at in range(0, len(data), 48):
                output.write(binascii.b2a_base64(data[at : at + 48]))
        else:
            output.write(data)
        return 0


@command(
    "openssl",
    usage="""
    Usage: openssl COMMAND [OPTION]... [FILE]...
    Digests, base64 and random bytes. Keys, certificates, ciphers and connections are not available.

    openssl dgst [-sha256|-md5|…] [-r] [-hex|-binary] [-hmac KEY] [-out FILE] [FILE]...
    openssl md5, sha1, sha256, … [OPTION]... [FILE]...
    openssl base64 [-d] [-A] [-in FILE] [-out FILE]; also openssl enc -base64
    openssl rand [-hex|-base64] [-out FILE] NUM
    """,
    raw=True,
)
def openssl(ctx: CommandContext, args: Arguments) -> int:
    words = args.operands
    name = words[0] if words else "help"
    run = _Openssl(ctx)
    if name in ("help", "-help", "--help"):
        ctx.print(openssl.usage, end="")
        return 0
    if name == "version":
        ctx.print("OpenSSL 3.0 (digests, base64 and rand only)")
        return 0
    if name == "dgst" or name in _DIGESTS:
        return run.digest(name, words[1:])
    if name in ("base64", "enc"):
        return run.base64(words[1:], only_base64=name == "base64")
    if name == "rand":
        return run.random(words[1:])
    ctx.stderr.write(encode(f"Invalid command '{name}'; type \"help\" for a list.\n"))
    return 1
