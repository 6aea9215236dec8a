"""Attributes of paths (.gitattributes), and the conversion of line ends that they choose."""

from __future__ import annotations

import re

from agentsandbox.git.paths import unquote_path
from agentsandbox.git.patterns import IgnoreRule
from agentsandbox.kernel.fs.base import raise_failure
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentsandbox.git.index import Index
    from agentsandbox.git.repository import Repository

    State = bool | str | None

_BINARY = {"diff": False, "merge": False, "text": False}
_MOST = 1_000_000


class AttributeRule:
    """A line of an attribute file."""

    __slots__ = ("rule", "states")

    def __init__(self, rule: IgnoreRule, states: list[tuple[str, State]]) -> None:
        self.rule = rule
        self.states = states


class Attributes:
    """The attributes of the paths of a repository, read when first needed."""

    def __init__(
        self, repository: Repository, *, from_index: bool = False, index: Index | None = None
    ) -> None:
        self.repository = repository
        self._levels: dict[bytes, list[AttributeRule]] = {}
        self._macros: dict[str, dict[str, State]] = {"binary": dict(_BINARY)}
        self._strong: list[AttributeRule] | None = None
        self._weak: list[AttributeRule] = []
        self._from_index = from_index
        self._index = index

    def _read(self, data: bytes, base: bytes, origin: str) -> list[AttributeRule]:
        found: list[AttributeRule] = []
        for number, line in enumerate(data[:_MOST].split(b"\n"), 1):
            self.repository.git.budget.step()
            line = line.strip()
            if not line or line.startswith(b"#"):
                continue
            if line.startswith(b'"'):
                quoted = re.match(rb'"(?:[^"\\]|\\.)*"', line)
                if quoted is None:
                    continue
                pattern, words = unquote_path(quoted[0]), decode(line[quoted.end() :]).split()
            else:
                pattern, *rest = line.split()
                words = [decode(word) for word in rest]
            states = [_state(word) for word in words]
            if pattern.startswith(b"[attr]"):
                self._macros[decode(pattern[6:])] = dict(states)
            elif not pattern.startswith(b"!"):
                rule = IgnoreRule(line, pattern, base, origin, number)
                found.append(AttributeRule(rule, states))
        return found[::-1]

    def _file(self, path: str, base: bytes, origin: str) -> list[AttributeRule]:
        try:
            return self._read(self.repository.fs.read_bytes(path), base, origin)
        except OSError as error:
            raise_failure(error)
            return []

    def _level(self, base: bytes) -> list[AttributeRule]:
        """Return the rules of the file in a directory ("" or with a final "/")."""
        found = self._levels.get(base)
        if found is None:
            found = []
            repository = self.repository
            name = base + b".gitattributes"
            if repository.worktree is not None and not self._from_index:
                path = repository.work_path(name)
                if repository.fs.is_file(path):
                    found = self._file(path, base, decode(name))
                else:
                    found = self._indexed(name, base)
            else:
                found = self._indexed(name, base)
            self._levels[base] = found
        return found

    def _indexed(self, name: bytes, base: bytes) -> list[AttributeRule]:
        if self._index is None:
            self._index = self.repository.index()
        entry = self._index.get(name)
        if entry is None:
            return []
        return self._read(self.repository.objects.blob(entry.oid), base, decode(name))

    def _rules(self, path: bytes) -> list[list[AttributeRule]]:
        if self._strong is None:
            repository = self.repository
            self._strong = self._file(
                f"{repository.common}/info/attributes", b"", ".git/info/attributes"
            )
            config = repository.config
            place = config.get("core.attributesfile") or f"{config.home}/.config/git/attributes"
            self._weak = self._file(config.expand(place), b"", place)
        levels = [self._strong]
        at = path.rfind(b"/")
        while at >= 0:
            levels.append(self._level(path[: at + 1]))
            at = path.rfind(b"/", 0, at)
        levels += [self._level(b""), self._weak]
        return [level for level in levels if level]

    def of(self, path: bytes) -> dict[str, State]:
        """Return the attributes of a path: True, False or a text; unspecified ones are missing."""
        levels = self._rules(path)
        if not levels:
            return {}
        found: dict[str, State] = {}
        name = path.rpartition(b"/")[2]
        for level in levels:
            for item in level:
                if not item.rule.matches(path, name, False, False):
                    continue
                for key, value in reversed(item.states):
                    if key not in found:
                        found[key] = value
                    if value is True and key in self._macros:
                        for inner, state in self._macros[key].items():
                            found.setdefault(inner, state)
        return {key: value for key, value in found.items() if value is not None}

    def in_order(self, path: bytes, names: Iterable[str]) -> list[str]:
        """Return names of attributes in the order in which git came to know them."""
        seen = dict.fromkeys(("binary", "diff", "merge", "text"))
        for level in reversed(self._rules(path)):
            for item in reversed(level):
                seen.update(dict.fromkeys([name for name, _ in item.states]))
        for macro in self._macros.values():
            seen.update(dict.fromkeys(macro))
        return [name for name in seen if name in names]

    # conversion

    def _ends(self, path: bytes) -> tuple[bool, bool, bool]:
        """Return (LF on the way in, CRLF on the way out, only if it looks like text)."""
        config = self.repository.config
        found = self.of(path)
        text, eol = found.get("text"), found.get("eol")
        if text is None and "crlf" in found:
            text = found["crlf"]
        auto = text == "auto"
        setting = config.get("core.autocrlf").lower()
        crlf = setting == "true" or (
            config.find("core.autocrlf") is not None and config.find("core.autocrlf").text is None  # type: ignore[union-attr]
        )
        if text is False:
            return False, False, False
        if text is None and eol is None:
            if crlf or setting == "input":
                return True, crlf, True
            return False, False, False
        if eol is not None:
            return True, eol == "crlf", auto
        out = crlf or (setting != "input" and config.get("core.eol") == "crlf")
        return True, out, auto

    def to_git(self, path: bytes, data: bytes, *, known: bytes | None = None) -> bytes:
        """Return a file of the worktree as it is stored; `known` is what the index has."""
        if b"\r\n" not in data:
            return data
        normalize, _, auto = self._ends(path)
        if not normalize or (auto and (_is_no_text(data) or _has_ends(known))):
            return data
        return data.replace(b"\r\n", b"\n")

    def writes_pairs(self, path: bytes) -> bool:
        """Whether a file gets CRLF when it is written."""
        return self._ends(path)[1]

    def lost_ends(self, path: bytes, data: bytes, *, known: bytes | None = None) -> str:
        """Return which ends of lines a file loses when it is stored and written again.

        "CRLF will be replaced by LF", the opposite, or "" if the file stays as it is.
        """
        normalize, writes, auto = self._ends(path)
        if not normalize or (auto and _is_no_text(data)):
            return ""
        pairs = b"\r\n" in data
        lone = data.count(b"\n") > data.count(b"\r\n")
        kept = pairs and auto and _has_ends(known)
        becomes_pairs = writes and not (auto and kept)
        if pairs and not kept and not becomes_pairs:
            return "CRLF will be replaced by LF"
        return "LF will be replaced by CRLF" if lone and becomes_pairs else ""

    def to_worktree(self, path: bytes, data: bytes) -> bytes:
        """Return a stored file as it is written to the worktree."""
        if b"\n" not in data:
            return data
        _, crlf, auto = self._ends(path)
        if not crlf or (auto and (is_binary(data) or b"\r" in data)):
            return data
        return re.sub(rb"(?<!\r)\n", b"\r\n", data)


def _state(word: str) -> tuple[str, State]:
    if word.startswith("-"):
        return word[1:], False
    if word.startswith("!"):
        return word[1:], None
    name, equals, value = word.partition("=")
    return name, value if equals else True


def _has_ends(data: bytes | None) -> bool:
    """Whether what is stored is a text that has CRLF already."""
    return data is not None and b"\r\n" in data and not _is_no_text(data)


def _is_no_text(data: bytes) -> bool:
    """Whether a content is no text to those who look for ends of lines."""
    if b"\0" in data or data.count(b"\r") > data.count(b"\r\n"):
        return True
    odd = len(data) - len(data.translate(None, _ODD)) - data.endswith(b"\x1a")
    return (len(data) - odd) >> 7 < odd


_ODD = bytes([code for code in (*range(32), 127) if code not in b"\b\t\n\x0c\r\x1b"])


def is_binary(data: bytes) -> bool:
    """Whether a content is not text: it has a NUL near its beginning."""
    return b"\0" in data[:8000]
