"""Ciphers of `openssl enc`: AES by `cryptography`, keys from passwords by `hashlib`.

Data that was encrypted with a password begins with `Salted__` and eight bytes of salt, unless the
salt was given. Key and initial vector are made of password and salt: by PBKDF2, or by the older way
of openssl, which hashes once.
"""

from __future__ import annotations

import hashlib
import hmac

from agentsandbox.errors import CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from agentsandbox.kernel.budget import Budget

MAGIC = b"Salted__"
_BLOCK = 16
_PIECE = 1 << 16
_AT_ONCE = 100_000
"""Iterations that are left to one call of the library, which nothing can interrupt."""
NAMES = tuple(f"aes-{size}-{mode}" for size in (128, 192, 256) for mode in ("cbc", "ctr", "ecb"))
"""The ciphers."""


class DecryptError(Exception):
    """What was decrypted does not end as it should."""


class Cipher:
    """A cipher by its name; sizes in bytes."""

    def __init__(self, name: str) -> None:
        _, bits, self.mode = name.split("-")
        self.name = name
        self.key_size = int(bits) // 8
        self.iv_size = 0 if self.mode == "ecb" else _BLOCK

    def _context(self, key: bytes, iv: bytes, *, decrypts: bool) -> Any:
        try:
            from cryptography.hazmat.primitives.ciphers import Cipher as Library
            from cryptography.hazmat.primitives.ciphers.algorithms import AES
            from cryptography.hazmat.primitives.ciphers.modes import CBC, CTR, ECB
        except ImportError:
            message = (
                "enc: ciphers need the Python package cryptography, which is not installed"
                " (`agentsandbox[crypto]`)"
            )
            raise CommandError(message, 1) from None
        mode = {"cbc": CBC, "ctr": CTR}[self.mode](iv) if self.iv_size else ECB()
        made: Any = Library(AES(key), mode)
        return made.decryptor() if decrypts else made.encryptor()

    def encrypt(self, data: bytes, key: bytes, iv: bytes, *, pads: bool) -> Iterator[bytes]:
        """Yield the data encrypted."""
        if self.mode != "ctr":
            if pads:
                missing = _BLOCK - len(data) % _BLOCK
                data += bytes([missing]) * missing
            elif len(data) % _BLOCK:
                raise DecryptError("bad encrypt")
        context = self._context(key, iv, decrypts=False)
        for start in range(0, len(data), _PIECE):
            yield context.update(data[start : start + _PIECE])

    def decrypt(self, data: bytes, key: bytes, iv: bytes, *, pads: bool) -> Iterator[bytes]:
        """Yield the data decrypted. Raises `DecryptError`, also after a part of it."""
        context = self._context(key, iv, decrypts=True)
        if self.mode == "ctr":
            for start in range(0, len(data), _PIECE):
                yield context.update(data[start : start + _PIECE])
            return
        whole = len(data) // _BLOCK * _BLOCK
        last = whole - _BLOCK if pads and whole else whole
        for start in range(0, last, _PIECE):
            yield context.update(data[start : min(start + _PIECE, last)])
        if whole != len(data) or (pads and not whole):
            raise DecryptError("bad decrypt")
        if pads:
            block = context.update(data[last:])
            count = block[-1]
            if not 1 <= count <= _BLOCK or block[-count:] != bytes([count]) * count:
                raise DecryptError("bad decrypt")
            yield block[:-count]


def derive(digest: str, password: bytes, salt: bytes, size: int) -> bytes:
    """Return bytes made of a password by the older way of openssl (EVP_BytesToKey, one round)."""
    made = block = b""
    while len(made) < size:
        block = hashlib.new(digest, block + password + salt, usedforsecurity=False).digest()
        made += block
    return made[:size]


def derive_slowly(
    budget: Budget, digest: str, password: bytes, salt: bytes, iterations: int, size: int
) -> bytes:
    """Return bytes made of a password by PBKDF2."""
    if iterations <= _AT_ONCE:
        budget.step(iterations // 16 + 1)
        return hashlib.pbkdf2_hmac(digest, password, salt, iterations, size)
    keyed = hmac.new(password, digestmod=digest)
    made = b""
    number = 0
    while len(made) < size:
        number += 1
        made += _round(budget, keyed, salt + number.to_bytes(4, "big"), iterations)
    return made[:size]


def _round(budget: Budget, keyed: hmac.HMAC, start: bytes, iterations: int) -> bytes:
    block = start
    total = 0
    for _ in range(iterations):
        budget.step()
        turn = keyed.copy()
        turn.update(block)
        block = turn.digest()
        total ^= int.from_bytes(block, "big")
    return total.to_bytes(len(block), "big")


def joined(budget: Budget, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield pieces, each of which draws on the budget."""
    for piece in pieces:
        budget.step(len(piece) // 64 + 1)
        yield piece
