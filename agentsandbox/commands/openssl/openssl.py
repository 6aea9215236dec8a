"""`openssl` (3.0): digests, base64, random bytes, ciphers; no certificates and key pairs."""

from __future__ import annotations

import binascii
import hashlib
import hmac
import os

from agentsandbox.commands._text.lines import read_all
from agentsandbox.commands.openssl.ciphers import (
    MAGIC,
    NAMES,
    Cipher,
    DecryptError,
    derive,
    derive_slowly,
    joined,
)
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
_ENCRYPT = f"""{_ENCODE}
      --pass=SOURCE
      --k=PASSWORD
      --kfile=FILE
      --K=KEY
      --iv=VECTOR
      --S=SALT
      --salt
      --nosalt
      --nopad
      --md=DIGEST
      --pbkdf2
      --iter=NUM
      --p
      --P
{"".join(f"      --{name}{chr(10)}" for name in (*NAMES, "aes128", "aes192", "aes256"))}"""
_ITERATIONS = 10_000
_OLD_WAY = (
    "*** WARNING : deprecated key derivation used.\nUsing -iter or -pbkdf2 would be better.\n"
)
_REFUSED = frozenset(
    "asn1parse ca ciphers cmp cms crl crl2pkcs7 dhparam dsa dsaparam ec ecparam engine errstr"
    " fipsinstall gendsa genpkey genrsa info kdf list mac nseq ocsp passwd pkcs12 pkcs7 pkcs8 pkey"
    " pkeyparam pkeyutl prime rehash req rsa rsautl s_client s_server s_time sess_id smime speed"
    " spkac srp storeutl ts verify x509".split()
)
"""The commands of the real one that are not here."""
_RANDOM = f"{_PLACES}      --hex\n      --base64\n"


class _Openssl:
    """One call."""

    def __init__(self, ctx: CommandContext) -> None:
        self.ctx = ctx

    def parse(self, command: str, usage: str, words: Sequence[str]) -> Arguments:
        """Return options with one dash, as openssl has them."""
        given = [
            f"-{word}"
            if word.startswith("-") and len(word) > 1 and not word.startswith("--")
            else word
            for word in words
        ]
        try:
            return OptionParser(usage).parse(given)
        except UsageError as error:
            option = error.message.partition("'--")[2].partition("'")[0]
            if "requires an argument" in error.message:
                message = f"Option -{option} needs a value"
            elif command == "rand":
                message = f"Unknown option: -{option}"
            else:
                what = (
                    "cipher" if command in ("enc", "base64", *NAMES) else "option or message digest"
                )
                message = f"Unknown {what}: {option}"
            message = f"{command}: {message}\n{command}: Use -help for summary."
            raise self._failure(message) from None

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
        args = self.parse(name, _DIGEST, words)
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

    def base64(self, words: Sequence[str]) -> int:
        """`openssl base64`."""
        args = self.parse("base64", _ENCODE, words)
        return self.transcode(args, self.reader(args).read())

    def transcode(self, args: Arguments, data: bytes) -> int:
        """Write data in base64, or what base64 means with `-d`."""
        if args.flag("d"):
            self.writer(args).write(self.decoded(data))
            return 0
        self.write_base64(args, data)
        return 0

    def decoded(self, data: bytes) -> bytes:
        """Return what base64 means; nothing if it is wrong."""
        self.ctx.budget.charge(2 * len(data))
        try:
            return binascii.a2b_base64(data)
        except binascii.Error:
            return b""

    def write_base64(self, args: Arguments, data: bytes) -> None:
        """Write data in base64, in lines of 64 characters or in one (`-A`)."""
        self.ctx.budget.charge(2 * len(data))
        output = self.writer(args)
        if args.flag("A"):
            output.write(binascii.b2a_base64(data, newline=False))
            return
        for at in range(0, len(data), 48):
            self.ctx.budget.step()
            output.write(binascii.b2a_base64(data[at : at + 48]))

    # ciphers

    def encipher(self, name: str, words: Sequence[str]) -> int:
        """`openssl enc`, and the name of a cipher as a command."""
        args = self.parse(name, _ENCRYPT, words)
        chosen = args.last(*NAMES, "aes128", "aes192", "aes256") or (name if name != "enc" else "")
        if chosen.startswith("aes") and "-" not in chosen:
            chosen = f"aes-{chosen[3:]}-cbc"
        in_base64 = args.flag("base64") or args.flag("a")
        source = self.input(args)
        data = read_all(self.ctx.budget, source)
        if not chosen:
            if in_base64:
                return self.transcode(args, data)
            self.writer(args).write(data)
            return 0
        if args.flag("d") and in_base64:
            data = self.decoded(data)
        try:
            return self._crypt(args, Cipher(chosen), data, in_base64=in_base64)
        except DecryptError as error:
            self.ctx.stderr.write(encode(f"{error}\n"))
            return 1

    def input(self, args: Arguments) -> ByteReader:
        """Return the input; a file that cannot be opened is an error in openssl's words."""
        try:
            return self.reader(args)
        except OSError as error:
            name, reason = args.value("in"), os.strerror(error.errno or 5)
            self.ctx.stderr.write(encode(f'Can\'t open "{name}" for reading, {reason}\n'))
            raise CommandError("", 1) from None

    def _crypt(self, args: Arguments, cipher: Cipher, data: bytes, *, in_base64: bool) -> int:
        budget, decrypts = self.ctx.budget, args.flag("d")
        key, iv, header, data = self._key(args, cipher, data)
        budget.charge(2 * len(data))
        pads = not args.flag("nopad")
        if args.flag("P"):
            return 0
        if decrypts:
            output = self.writer(args)
            for piece in joined(budget, cipher.decrypt(data, key, iv, pads=pads)):
                output.write(piece)
            return 0
        pieces = joined(budget, cipher.encrypt(data, key, iv, pads=pads))
        if in_base64:
            self.write_base64(args, b"".join([header, *pieces]))
            return 0
        output = self.writer(args)
        for piece in (header, *pieces):
            output.write(piece)
        return 0

    def _key(
        self, args: Arguments, cipher: Cipher, data: bytes
    ) -> tuple[bytes, bytes, bytes, bytes]:
        """Return key, initial vector, what goes before encrypted data, and the rest of the data."""
        salt, header, iv, given = b"", b"", args.value("iv"), args.value("K")
        password = None if given is not None else self._password(args, cipher)
        key = b""
        if password is not None:
            salt, header, data = self._salt(args, data)
            made = self._derived(args, password, salt, cipher.key_size + cipher.iv_size)
            key, vector = made[: cipher.key_size], made[cipher.key_size :]
        else:
            vector = b""
        if iv is not None and cipher.iv_size:
            vector = self._hexadecimal(iv, cipher.iv_size, "iv")
        if len(vector) < cipher.iv_size:
            raise self._failure("iv undefined")
        if given is not None:
            key = self._hexadecimal(given, cipher.key_size, "key")
        if args.flag("p") or args.flag("P"):
            if salt:
                self.ctx.print(f"salt={salt.hex().upper()}")
            self.ctx.print(f"key={key.hex().upper()}")
            if cipher.iv_size:
                self.ctx.print(f"iv ={vector.hex().upper()}")
        return key, vector, header, data

    def _salt(self, args: Arguments, data: bytes) -> tuple[bytes, bytes, bytes]:
        """Return the salt, what goes before encrypted data, and the rest of the data."""
        if args.value("S") is not None:
            return self._hexadecimal(args.value("S") or "", 8, "salt"), b"", data
        if args.flag("nosalt"):
            return b"", b"", data
        if not args.flag("d"):
            salt = self.ctx.host.random.randbytes(8)
            return salt, MAGIC + salt, data
        if len(data) < 16:
            raise self._failure("error reading input file")
        if not data.startswith(MAGIC):
            raise self._failure("bad magic number")
        return data[8:16], b"", data[16:]

    def _derived(self, args: Arguments, password: bytes, salt: bytes, size: int) -> bytes:
        digest = args.value("md", "sha256") or ""
        if digest not in _DIGESTS:
            message = f"enc: Unknown option or message digest: {digest}"
            raise self._failure(f"{message}\nenc: Use -help for summary.")
        algorithm = _HASHES.get(digest, digest.replace("-", "_"))
        if not (args.flag("pbkdf2") or args.flag("iter")):
            self.ctx.stderr.write(encode(_OLD_WAY))
            return derive(algorithm, password, salt, size)
        rounds = args.value("iter", str(_ITERATIONS)) or ""
        if not (rounds.isascii() and rounds.isdigit()) or len(rounds) > 9 or not int(rounds):
            message = f'enc: Can\'t parse "{rounds}" as a number'
            raise self._failure(f"{message}\nenc: Use -help for summary.")
        return derive_slowly(self.ctx.budget, algorithm, password, salt, int(rounds), size)

    def _hexadecimal(self, text: str, size: int, what: str) -> bytes:
        """Return bytes that are given in hexadecimal, filled up or cut."""
        if len(text) > 2 * size:
            self.ctx.stderr.write(b"hex string is too long, ignoring excess\n")
            text = text[: 2 * size]
        elif len(text) < 2 * size:
            self.ctx.stderr.write(b"hex string is too short, padding with zero bytes to length\n")
        try:
            found = bytes.fromhex(text + "0" * (len(text) % 2))
        except ValueError:
            raise self._failure(f"non-hex digit\ninvalid hex {what} value") from None
        return found.ljust(size, b"\0")

    def _password(self, args: Arguments, cipher: Cipher) -> bytes:
        """Return the password that the options name."""
        if args.value("k") is not None:
            return encode(args.value("k") or "")
        if args.value("kfile") is not None:
            return self._first_line(f"file:{args.value('kfile')}")
        source = args.value("pass")
        if source is None:
            message = f"enter {cipher.name.upper()} encryption password:\nbad password read"
            raise self._failure(message)
        kind, colon, text = source.partition(":")
        if source == "stdin" or (kind == "file" and colon):
            return self._first_line(source)
        if kind == "pass" and colon:
            return encode(text)
        if kind == "env" and colon:
            if text not in self.ctx.env:
                raise self._failure(f"No environment variable {text}\nError getting password")
            return encode(self.ctx.env[text])
        message = "Invalid password argument, missing ':' within the first 5 chars"
        if colon:
            message = f'Invalid password argument, starting with "{kind}:"'
        raise self._failure(f"{message}\nError getting password")

    def _first_line(self, source: str) -> bytes:
        if source == "stdin":
            return self.ctx.stdin.readline().rstrip(b"\r\n")
        name = source.partition(":")[2]
        try:
            return self.open(name).readline().rstrip(b"\r\n")
        except OSError:
            raise self._failure(f"Can't open file {name}\nError getting password") from None

    def _failure(self, message: str) -> CommandError:
        """Write a message as openssl does, without the name; return the error that ends it."""
        self.ctx.stderr.write(encode(f"{message}\n"))
        return CommandError("", 1)

    def random(self, words: Sequence[str]) -> int:
        args = self.parse("rand", _RANDOM, words)
        text = args.operands[0] if args.operands else "0"
        if not (text.isascii() and text.isdigit()) or len(text) > 9:
            message = f'rand: Can\'t parse "{text}" as a number'
            raise self._failure(f"{message}\nrand: Use -help for summary.")
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
    Digests, base64, random bytes and ciphers. Certificates, pairs of keys and connections are not
    available.

    openssl dgst [-sha256|-md5|…] [-r] [-hex|-binary] [-hmac KEY] [-out FILE] [FILE]...
    openssl md5, sha1, sha256, … [OPTION]... [FILE]...
    openssl enc -aes-256-cbc [-d] [-a [-A]] [-pbkdf2] [-iter NUM] [-md DIGEST] [-in FILE]
        [-out FILE] [-pass pass:PASSWORD|env:VAR|file:FILE|stdin] [-k PASSWORD] [-kfile FILE]
        [-K KEY -iv VECTOR] [-S SALT|-nosalt] [-nopad] [-p|-P]; also openssl aes-256-cbc
        the ciphers are aes-128, aes-192 and aes-256 with -cbc, -ctr and -ecb
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
        ctx.print("OpenSSL 3.0.15 3 Sep 2024 (Library: OpenSSL 3.0.15 3 Sep 2024)")
        return 0
    if name == "dgst" or name in _DIGESTS:
        return run.digest(name, words[1:])
    if name == "base64":
        return run.base64(words[1:])
    if name == "enc" or name in NAMES:
        return run.encipher(name, words[1:])
    if name == "rand":
        return run.random(words[1:])
    if name in _REFUSED:
        message = f"{name} is not available here: no certificates, pairs of keys and connections"
        raise CommandError(message, 1)
    ctx.stderr.write(encode(f"Invalid command '{name}'; type \"help\" for a list.\n"))
    return 1
