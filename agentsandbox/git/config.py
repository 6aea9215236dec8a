"""Configuration: git's ini-like files, `include`, `-c` and GIT_CONFIG_*.

A key is "section.name" or "section.subsection.name"; section and name are compared in lower case.
A key may have many values, and the last one counts. A file is edited in its text, so comments and
layout stay.
"""

from __future__ import annotations

import re

from agentsandbox.git.errors import Fatal, GitError
from agentsandbox.git.patterns import wildmatch
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentsandbox.kernel.fs.base import FileSystem

_MOST_INCLUDES = 10
_HEADER = re.compile(r'\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\.)*)")?[ \t]*\]')
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*")
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b", '"': '"', "\\": "\\"}
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class Value:
    """One value: None is a name without "=", which means true."""

    __slots__ = ("end", "key", "origin", "scope", "start", "text")

    def __init__(
        self, key: str, text: str | None, origin: str, scope: str, start: int, end: int
    ) -> None:
        self.key = key
        self.text = text
        self.origin = origin
        """Where it is from, in the form of `git config --show-origin`."""
        self.scope = scope
        self.start = start
        self.end = end
        """Where its lines are in the text of the file."""


def normal_key(key: str) -> str:
    """Return a key with section and name in lower case; GitError if it is not valid."""
    section, dot, rest = key.partition(".")
    if not dot or not section:
        raise GitError(f"key does not contain a section: {key}")
    subsection, dot, name = rest.rpartition(".")
    if not name:
        raise GitError(f"key does not contain variable name: {key}")
    if not re.fullmatch(r"[A-Za-z0-9-]+", section) or not re.fullmatch(
        r"[A-Za-z][A-Za-z0-9-]*", name
    ):
        raise GitError(f"invalid key: {key}")
    if "\n" in subsection:
        raise GitError(f"invalid key (newline): {key}")
    middle = f"{subsection}." if dot else ""
    return f"{section.lower()}.{middle}{name.lower()}"


class Section:
    """A section's header: where it begins, and where its last value ends."""

    __slots__ = ("end", "name", "start")

    def __init__(self, name: str, start: int, end: int) -> None:
        self.name = name
        self.start = start
        self.end = end


class ConfigFile:
    """The values of one text, with their places."""

    def __init__(self, text: str, origin: str, scope: str, shown: str) -> None:
        self.text = text
        self.values: list[Value] = []
        self.sections: list[Section] = []
        self._parse(origin, scope, shown)

    def _parse(self, origin: str, scope: str, shown: str) -> None:
        text, at, size = self.text, 0, len(self.text)
        section = ""
        if text.startswith("\ufeff"):
            at = 1
        while at < size:
            character = text[at]
            if character in " \t\r\n":
                at += 1
            elif character in "#;":
                at = self._line_end(at)
            elif character == "[":
                header = _HEADER.match(text, at)
                if header is None:
                    raise self._bad(at, shown)
                section = header[1].lower()
                if header[2] is not None:
                    section += "." + re.sub(r"\\(.)", r"\1", header[2])
                self.sections.append(Section(section, at, header.end()))
                at = header.end()
            else:
                name = _NAME.match(text, at)
                if name is None or not section:
                    raise self._bad(at, shown)
                start, at = at, name.end()
                value: str | None = None
                if at < size and text[at] == "=":
                    value, at = self._value(at + 1, shown)
                elif at < size and text[at] not in "\r\n#;":
                    raise self._bad(at, shown)
                else:
                    at = self._line_end(at)
                self.values.append(
                    Value(f"{section}.{name[1].lower()}", value, origin, scope, start, at)
                )
                self.sections[-1].end = at

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def _bad(self, at: int, shown: str) -> Fatal:
        line = self.text.count("\n", 0, at) + 1
        return Fatal(f"bad config line {line} in {shown}")

    def _value(self, at: int, shown: str) -> tuple[str, int]:
        """Return the value that begins behind "=", and where its line ends."""
        text, size = self.text, len(self.text)
        out: list[str] = []
        kept = 0
        quoted = False
        while at < size and text[at] in " \t":
            at += 1
        while at < size:
            character = text[at]
            if character == "\n" or text.startswith("\r\n", at):
                if quoted:
                    raise self._bad(at, shown)
                break
            if character == "\\":
                following = text[at + 1 : at + 2]
                if following == "\n":
                    at += 2
                    continue
                if following not in _ESCAPES:
                    raise self._bad(at, shown)
                out.append(_ESCAPES[following])
                kept = len(out)
                at += 2
                continue
            if character == '"':
                quoted = not quoted
                kept = len(out)
            elif not quoted and character in "#;":
                at = self._line_end(at)
                break
            else:
                out.append(character)
                if quoted or character not in " \t":
                    kept = len(out)
            at += 1
        if quoted:
            raise self._bad(at, shown)
        return "".join(out[:kept]), at


class Config:
    """All values that hold, from the most general file to the command line."""

    def __init__(self, fs: FileSystem, home: str, folder: str, branch: Callable[[], str]) -> None:
        self.fs = fs
        self.home = home
        self.folder = folder
        """The repository's folder, "" outside of one: for includeIf."""
        self.branch = branch
        self.values: list[Value] = []
        self._last: dict[str, Value] | None = None
        self._depth = 0

    def add_file(self, path: str, scope: str, shown: str, *, includes: bool = True) -> bool:
        """Add the values of a file and of those it includes; return whether it exists."""
        try:
            text = self.fs.read_text(path)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, PermissionError):
            return False
        self.add_text(text, f"file:{shown}", scope, f"file {shown}", path, includes=includes)
        return True

    def add_text(
        self, text: str, origin: str, scope: str, shown: str, path: str, *, includes: bool
    ) -> None:
        """Add the values of a text in the format of a file."""
        for value in ConfigFile(text, origin, scope, shown).values:
            self.values.append(value)
            if includes:
                self._include(value, path)
        self._last = None

    def add(self, key: str, text: str | None, scope: str = "command") -> None:
        """Add a value of the command line."""
        self.values.append(Value(normal_key(key), text, "command line:", scope, 0, 0))
        self._last = None

    def keep(self, accepts: Callable[[str], bool]) -> None:
        """Forget the values of all other keys."""
        self.values = [value for value in self.values if accepts(value.key)]
        self._last = None

    def _include(self, value: Value, path: str) -> None:
        section, _, rest = value.key.partition(".")
        if section not in ("include", "includeif") or not value.key.endswith(".path"):
            return
        if section == "includeif" and not self._holds(rest.removesuffix(".path"), path):
            return
        target = self.expand(value.text or "")
        if not target.startswith("/"):
            target = f"{path.rpartition('/')[0]}/{target}"
        self._depth += 1
        try:
            if self._depth > _MOST_INCLUDES:
                raise Fatal(
                    f"exceeded maximum include depth ({_MOST_INCLUDES}) while including\n"
                    f"\t{target}\nfrom\n\t{path}\nThis might be due to circular includes."
                )
            self.add_file(target, value.scope, target)
        finally:
            self._depth -= 1

    def _holds(self, condition: str, path: str) -> bool:
        kind, _, pattern = condition.partition(":")
        if kind in ("gitdir", "gitdir/i"):
            pattern = self.expand(pattern)
            if pattern.startswith("./"):
                pattern = path.rpartition("/")[0] + pattern[1:]
            elif not pattern.startswith("/"):
                pattern = f"**/{pattern}"
            if pattern.endswith("/"):
                pattern += "**"
            return bool(self.folder) and wildmatch(
                encode(pattern), encode(self.folder), ignore_case=kind.endswith("i")
            )
        if kind == "onbranch":
            if pattern.endswith("/"):
                pattern += "**"
            branch = self.branch()
            return bool(branch) and wildmatch(encode(pattern), encode(branch))
        return False

    def expand(self, path: str) -> str:
        """Return a path with "~/" replaced by the home directory."""
        if path == "~" or path.startswith("~/"):
            return self.home.rstrip("/") + path[1:]
        return path

    # looking up

    def _index(self) -> dict[str, Value]:
        if self._last is None:
            self._last = {value.key: value for value in self.values}
        return self._last

    def find(self, key: str) -> Value | None:
        """Return the value of a key (in normal form) that counts."""
        return self._index().get(key)

    def get(self, key: str, default: str = "") -> str:
        """Return the text of a key."""
        found = self._index().get(key)
        return default if found is None or found.text is None else found.text

    def get_all(self, key: str) -> list[str]:
        """Return all texts of a key."""
        return [value.text or "" for value in self.values if value.key == key]

    def below(self, prefix: str) -> dict[str, str]:
        """Return the keys that begin with a prefix, without it, and their texts."""
        return {
            key[len(prefix) :]: value.text or ""
            for key, value in self._index().items()
            if key.startswith(prefix)
        }

    def flag(self, key: str, default: bool = False) -> bool:
        """Return the value as a boolean; Fatal if it does not spell one."""
        found = self._index().get(key)
        return default if found is None else as_bool(found.text, key)

    def number(self, key: str, default: int) -> int:
        """Return the value as an integer; Fatal if it does not spell one."""
        found = self._index().get(key)
        return default if found is None else as_int(found.text or "", key, found.origin)

    def maybe(self, key: str) -> bool | None:
        """Return a boolean, None if the key has no value or another word."""
        found = self._index().get(key)
        return None if found is None else word_as_bool(found.text)


def word_as_bool(text: str | None) -> bool | None:
    """Return the boolean that a text means, None if it means none."""
    if text is None:
        return True
    word = text.lower()
    if word in ("true", "yes", "on"):
        return True
    if word in ("false", "no", "off", ""):
        return False
    if number := re.fullmatch(r"([+-]?[0-9]{1,9})[kmg]?", word):
        return int(number[1]) != 0
    return None


def as_bool(text: str | None, key: str) -> bool:
    """Return the boolean that a text means; Fatal if it means none."""
    found = word_as_bool(text)
    if found is None:
        raise Fatal(f"bad boolean config value '{text}' for '{key}'")
    return found


def as_int(text: str, key: str, origin: str = "") -> int:
    """Return the integer that a text means, with the units k, m and g; Fatal if it means none."""
    found = re.fullmatch(r"([+-]?[0-9]{1,18})([kKmMgG]?)", text.strip())
    if found is None:
        where = f" in file {origin[5:]}" if origin.startswith("file:") else ""
        raise Fatal(f"bad numeric config value '{text}' for '{key}'{where}: invalid unit")
    return int(found[1]) * _UNITS[found[2].lower()]


# editing


def quoted_value(text: str) -> str:
    """Return a value as it is written to a file."""
    body = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    needs = text[:1] == " " or text[-1:] == " " or ";" in text or "#" in text
    return f'"{body}"' if needs else body


def header_of(section: str) -> str:
    """Return the line that begins a section."""
    name, dot, subsection = section.partition(".")
    if not dot:
        return f"[{name}]\n"
    escaped = subsection.replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{escaped}"]\n'


def with_value(
    text: str,
    key: str,
    value: str | None,
    matches: Callable[[str], bool],
    *,
    replace_all: bool = False,
    add: bool = False,
    spelling: str = "",
) -> tuple[str, int]:
    """Return a file's text with a key set (or unset, with None), and how many values it had.

    The number counts those that `matches` accepts. With several of them nothing changes, unless
    `replace_all`. `spelling` is the key as the user wrote it: new lines keep its case.
    """
    file = ConfigFile(text, "", "", "")
    section, _, _name = key.rpartition(".")
    shown = (spelling or key).rpartition(".")[2]
    shown_section = (spelling or key).rpartition(".")[0]
    found = (
        [item for item in file.values if item.key == key and matches(item.text or "")]
        if not add
        else []
    )
    if len(found) > 1 and not replace_all:
        return text, len(found)
    line = "" if value is None else f"\t{shown} = {quoted_value(value)}\n"
    if found:
        out, at = [], 0
        for number, item in enumerate(found, 1):
            start, end = _line_of(text, item)
            head = text[at:start]
            out.append(head)
            if number == len(found) and value is not None:
                if head and not head.endswith("\n"):
                    out.append("\n")
                out.append(line)
            at = end
        out.append(text[at:])
        result = "".join(out)
        return (_without_empty_section(result, section) if value is None else result), len(found)
    if value is None:
        return text, 0
    holders = [item for item in file.sections if item.name == section]
    if holders:
        end = text.find("\n", holders[-1].end)
        if end < 0:
            return f"{text}\n{line}", 0
        return text[: end + 1] + line + text[end + 1 :], 0
    if text and not text.endswith("\n"):
        text += "\n"
    lowered, dot, rest = shown_section.partition(".")
    return text + header_of(lowered + dot + rest) + line, 0


def _line_of(text: str, item: Value) -> tuple[int, int]:
    """Return where the lines of a value begin and end."""
    start = text.rfind("\n", 0, item.start) + 1
    if text[start : item.start].strip():  # "[section] name = value" on one line
        start = len(text[: item.start].rstrip(" \t"))
    end = text.find("\n", item.end)
    return start, len(text) if end < 0 else end + 1


def _without_empty_section(text: str, section: str) -> str:
    """Remove the header of a section that has neither values nor comments any more."""
    file = ConfigFile(text, "", "", "")
    for number, item in enumerate(file.sections):
        following = (
            file.sections[number + 1].start if number + 1 < len(file.sections) else len(text)
        )
        body = text[item.start : following]
        before = text[: item.start].rpartition("\n")[2]
        rest = body.partition("]")[2]
        if item.name == section and not rest.strip() and not before.strip():
            above = text[: item.start].rstrip(" \t").rsplit("\n", 2)
            if len(above) > 1 and above[-2].lstrip().startswith(("#", ";")):
                continue  # a comment belongs to it
            return text[: item.start] + text[following:]
    return text


def rename_section(text: str, old: str, new: str | None) -> tuple[str, int]:
    """Return a text in which a section has another name, or is gone, and how many there were."""
    file = ConfigFile(text, "", "", "")
    count = 0
    for number in range(len(file.sections) - 1, -1, -1):
        item = file.sections[number]
        if item.name != old:
            continue
        count += 1
        following = (
            file.sections[number + 1].start if number + 1 < len(file.sections) else len(text)
        )
        if new is None:
            text = text[: item.start] + text[following:]
            continue
        end = text.index("]", item.start)
        header = _HEADER.match(text, item.start)
        end = header.end() if header else end + 1
        rest = text[end:]
        rest = rest[1:] if rest.startswith("\n") else "\t" + rest.lstrip(" \t")
        text = text[: item.start].rstrip(" \t") + header_of(new) + rest
    return text, count


def environment_values(env: Mapping[str, str]) -> list[tuple[str, str | None]]:
    """Return the keys and values of GIT_CONFIG_PARAMETERS and GIT_CONFIG_COUNT."""
    found: list[tuple[str, str | None]] = []
    for piece in re.findall(
        r"'((?:[^']|'\\'')*)'(=?)(?:'((?:[^']|'\\'')*)')?", env.get("GIT_CONFIG_PARAMETERS", "")
    ):
        name, equals, value = (part.replace("'\\''", "'") for part in piece)
        if equals:
            found.append((name, value))
        else:
            key, equals, value = name.partition("=")
            found.append((key, value if equals else None))
    count = env.get("GIT_CONFIG_COUNT", "")
    if count:
        if not re.fullmatch(r"[0-9]{1,4}", count):
            raise GitError("bogus count in GIT_CONFIG_COUNT", 128)
        for number in range(int(count)):
            key, value = env.get(f"GIT_CONFIG_KEY_{number}"), env.get(f"GIT_CONFIG_VALUE_{number}")
            if key is None:
                raise GitError(f"missing config key GIT_CONFIG_KEY_{number}", 128)
            if value is None:
                raise GitError(f"missing config value GIT_CONFIG_VALUE_{number}", 128)
            found.append((key, value))
    return found


def read_text(fs: FileSystem, path: str) -> str:
    """Return the text of a configuration file, "" if it is missing."""
    try:
        return decode(fs.read_bytes(path))
    except FileNotFoundError:
        return ""
