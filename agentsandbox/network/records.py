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
from agentsandbox.network.errors import RefusedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Literal, TypeAlias

    RecordMode: TypeAlias = Literal["new", "always", "never"]

    Pairs = Sequence[tuple[str, str]]

__all__ = ["Records", "load_records"]

_VERSION = 1
_HIDDEN = "[secret]"
_SHORTEST_SECRET = 4


class Records:
    """The file of a policy; `secrets` are the values that are not written."""

    def __init__(self, path: str, mode: RecordMode, secrets: Iterable[str]) -> None:
        self.path = path
        self.mode = mode
        self._secrets = [
            encode(part)
            for value in secrets
            for part in sorted({value, value.rpartition(" ")[2]}, key=len, reverse=True)
            if len(part) >= _SHORTEST_SECRET
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
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                file.write(text + "\n")
            os.replace(temporary, self.path)
        except OSError:
            raise RefusedError("the response cannot be recorded") from None

    def _load(self) -> list[dict[str, Any]]:
        try:
            return load_records(self.path)
        except (OSError, ValueError):
            raise RefusedError("the recorded responses cannot be read") from None

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


def load_records(path: str) -> list[dict[str, Any]]:
    """Return the exchanges of a file, none if there is no file; ValueError for another file."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except FileNotFoundError:
        return []
    except ValueError:
        value = None
    entries = value.get("exchanges") if isinstance(value, dict) else None
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        raise ValueError(f"{path} does not hold records of responses")
    return entries


def _is_entry(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(key), str) for key in ("method", "url", "reason"))
        and isinstance(entry.get("body_sha256"), str)
        and isinstance(entry.get("status"), int)
        and isinstance(entry.get("headers"), list)
        and (isinstance(entry.get("text"), str) or isinstance(entry.get("base64"), str))
    )


def _key(method: str, url: str, body: bytes) -> tuple[str, str, str]:
    return method, url, hashlib.sha256(body).hexdigest()


def _key_of(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["method"], entry["url"], entry["body_sha256"]
