"""The answer to a challenge of Digest authentication (RFC 7616: MD5 and SHA-256, qop=auth)."""

from __future__ import annotations

import hashlib
import re

from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["digest_answer"]

_PART = re.compile(
    r"(?<![A-Za-z-])([A-Za-z-]{1,40}+)\s*+=\s*+"
    r'(?:"((?:[^"\\]|\\.){0,2000}+)"|([^",\s]{0,2000}+))'
)
_ALGORITHMS: dict[str, Callable[[bytes], hashlib._Hash]] = {
    "MD5": hashlib.md5, "MD5-SESS": hashlib.md5,
    "SHA-256": hashlib.sha256, "SHA-256-SESS": hashlib.sha256,
}  # fmt: skip


def digest_answer(
    challenge: str, user: str, password: str, method: str, target: str, nonce: str
) -> str | None:
    """Return the header Authorization for a challenge, None for one that is not understood.

    `nonce` is the client's own.
    """
    scheme, _, rest = challenge.strip().partition(" ")
    if scheme.lower() != "digest":
        return None
    parts = {match[1].lower(): match[2] or match[3] or "" for match in _PART.finditer(rest)}
    algorithm = parts.get("algorithm", "MD5").upper()
    make = _ALGORITHMS.get(algorithm)
    qops = [word.strip().lower() for word in parts.get("qop", "").split(",")]
    if make is None or "nonce" not in parts or ("qop" in parts and "auth" not in qops):
        return None

    def hashed(text: str) -> str:
        return make(encode(text)).hexdigest()

    realm, given = parts.get("realm", ""), parts["nonce"]
    one, two = hashed(f"{user}:{realm}:{password}"), hashed(f"{method}:{target}")
    if algorithm.endswith("-SESS"):
        one = hashed(f"{one}:{given}:{nonce}")
    fields = f'username="{user}", realm="{realm}", nonce="{given}", uri="{target}", '
    if "qop" in parts:
        response = hashed(f"{one}:{given}:00000001:{nonce}:auth:{two}")
        fields += f'cnonce="{nonce}", nc=00000001, qop=auth, response="{response}"'
    else:
        fields += f'response="{hashed(f"{one}:{given}:{two}")}"'
    for key in ("opaque", "algorithm"):
        if key in parts:
            quote = '"' if key == "opaque" else ""
            fields += f", {key}={quote}{parts[key]}{quote}"
    return f"Digest {fields}"
