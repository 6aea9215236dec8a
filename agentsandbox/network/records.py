"""Responses that are kept in a file of the host and replayed: tests without a network.

The file is JSON: a list of exchanges, each with method, URL, the digest of the request's body, and
the response. Headers of requests are not written at all. The values that the policy injects are
replaced where a server sends them back, and so are the values of cookies.

Equal requests are replayed in the order in which they were recorded; the last response repeats.
"""

from __future__ import annotations

import hashlib
import os
from base64 import b64decode, b64encode

from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agentsandbox.network.policy import NetworkPolicy

    Pairs = Sequence[tuple[str, str]]

__all__ = ["Records"]

_VERSION = 1
_HIDDEN = "[secret]"


class Records:
    """The file of a policy. ValueError for a file that is not one of ours."""

    def __init__(self, policy: NetworkPolicy) -> None:
        assert policy.records is not None
        self.path = os.fspath(policy.records)
        self.mode = policy.record
        self._secrets = [
            encode(part)
            for fields in policy._injected.values()
            for value in fields.values()
            for part in {value, value.rpartition(" ")[2]}
            if len(part) >= 4
        ]
        self._places: dict[tuple[str, str, str], int] = {}
        self._written: set[tuple[str, str, str]] = set()

    def replay(self, method: str, url: str, body: bytes) -> tuple[int, str, Pairs, bytes] | None:
        """Return (status, reason, headers, body) of the next recorded response, or None."""
        key = _key(method, url, body)
        if self.mode == "always" or key in self._written:
            return None
        found = [entry for entry in self._load() if _key_of(entry) == key]
        if not found:
            return None
        place = self._places.get(key, 0)
        self._places[key] = min(place + 1, len(found) - 1)
        entry = found[place]
        content = encode(entry["text"]) if "text" in entry else b64decode(entry["base64"])
        return entry["status"], entry["reason"], [(k, v) for k, v in entry["headers"]], content

    def add(
        self, method: str, url: str, body: bytes, answer: tuple[int, str, Pairs, bytes]
    ) -> None:
        """Write a response. The file is replaced at once, never half written."""
        import json

        key = _key(method, url, body)
        status, reason, headers, content = answer
        entries = self._load()
        if self.mode == "always" and key not in self._written:
            entries = [entry for entry in entries if _key_of(entry) != key]
        self._written.add(key)
        entry: dict[str, Any] = {
            "method": method,
            "url": decode(self._without_secrets(encode(url))),
            "body_sha256": key[2],
            "status": status,
            "reason": reason,
            "headers": [[name, self._shown(name, value)] for name, value in headers],
        }
        content = self._without_secrets(content)
        try:
            entry["text"] = str(content, "utf-8")
        except UnicodeDecodeError:
            entry["base64"] = decode(b64encode(content))
        entries.append(entry)
        text = json.dumps({"version": _VERSION, "exchanges": entries}, indent=1)
        temporary = f"{self.path}.{os.getpid()}.new"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.replace(temporary, self.path)

    def _load(self) -> list[dict[str, Any]]:
        import json

        try:
            with open(self.path, encoding="utf-8") as file:
                value = json.load(file)
        except FileNotFoundError:
            return []
        if not isinstance(value, dict) or value.get("version") != _VERSION:
            raise ValueError(f"{self.path} does not hold records of responses")
        entries: list[dict[str, Any]] = value["exchanges"]
        return entries

    def _shown(self, name: str, value: str) -> str:
        if name.lower() == "set-cookie":
            cookie, mark, _ = value.partition("=")
            attributes = value.partition(";")
            return f"{cookie}{mark}{_HIDDEN}{attributes[1]}{attributes[2]}"
        return decode(self._without_secrets(encode(value)))

    def _without_secrets(self, data: bytes) -> bytes:
        for secret in self._secrets:
            data = data.replace(secret, encode(_HIDDEN))
        return data


def _key(method: str, url: str, body: bytes) -> tuple[str, str, str]:
    return method, url, hashlib.sha256(body).hexdigest()


def _key_of(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["method"], entry["url"], entry["body_sha256"]
