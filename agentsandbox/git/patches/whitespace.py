"""Rules of whitespace (`core.whitespace`): finding errors in lines of a patch, and mending them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.attributes import Attributes
    from agentsandbox.git.config import Config

_BLANKS = b" \t\r\v\f\n"
_NAMES = (
    "trailing-space", "space-before-tab", "indent-with-non-tab", "cr-at-eol", "blank-at-eol",
    "blank-at-eof", "tab-in-indent",
)  # fmt: skip
_DEFAULT = ("blank-at-eol", "blank-at-eof", "space-before-tab")
_TEXTS = {
    "blank-at-eol": "trailing whitespace",
    "blank-at-eof": "new blank line at EOF",
    "space-before-tab": "space before tab in indent",
    "indent-with-non-tab": "indent with spaces",
    "tab-in-indent": "tab in indent",
}


class Rules:
    """The rules for one file."""

    def __init__(self, names: frozenset[str] = frozenset(_DEFAULT), width: int = 8) -> None:
        self.names = names
        self.width = width
        """The columns of a tab."""

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def with_rule(self, name: str) -> Rules:
        """Return the rules and one more."""
        return Rules(self.names | {name}, self.width)

    def errors(self, line: bytes) -> list[str]:
        """Return the names of the errors of a line."""
        found = []
        line = line.removesuffix(b"\n")
        if "cr-at-eol" in self:
            line = line.removesuffix(b"\r")
        end = len(line.rstrip(_BLANKS)) if "blank-at-eol" in self else len(line)
        if end < len(line):
            found.append("blank-at-eol")
        at = written = 0
        while at < end and line[at : at + 1] in (b" ", b"\t"):
            if line[at : at + 1] == b"\t":
                if "space-before-tab" in self and written < at:
                    found.append("space-before-tab")
                elif "tab-in-indent" in self:
                    found.append("tab-in-indent")
                written = at + 1
            at += 1
        if "indent-with-non-tab" in self and at - written >= self.width:
            found.append("indent-with-non-tab")
        return found

    def mended(self, line: bytes) -> bytes:
        """Return a line without its errors."""
        tail = b""
        if "blank-at-eol" in self:
            if line.endswith(b"\n"):
                line, tail = line[:-1], b"\n"
                if line.endswith(b"\r"):
                    line, tail = line[:-1], b"\r\n" if "cr-at-eol" in self else b"\n"
            line = line.rstrip(_BLANKS)
        last_tab = last_space = -1
        spaces = False
        for at, byte in enumerate(line):
            if byte == 9:
                last_tab = at
                spaces = spaces or ("space-before-tab" in self and last_space >= 0)
            elif byte == 32:
                last_space = at
                spaces = spaces or (
                    "indent-with-non-tab" in self and self.width <= at - last_tab
                )
            else:
                break
        if spaces:
            end = last_tab + 1
            if "indent-with-non-tab" in self:
                end = max(last_tab, last_space) + 1
            return self._with_tabs(line[:end]) + line[end:] + tail
        if "tab-in-indent" in self and last_tab >= 0:
            return line[: last_tab + 1].expandtabs(self.width) + line[last_tab + 1 :] + tail
        return line + tail

    def _with_tabs(self, indent: bytes) -> bytes:
        made = bytearray()
        pending = 0
        for byte in indent:
            if byte != 32:
                pending = 0
                made.append(byte)
                continue
            pending += 1
            if pending == self.width:
                made.append(9)
                pending = 0
        return bytes(made) + b" " * pending


def describe(errors: list[str]) -> str:
    """Return the text of errors."""
    return ", ".join([text for name, text in _TEXTS.items() if name in errors])


def parse_rules(text: str) -> Rules:
    """Return the rules of a setting such as "-blank-at-eol,tabwidth=4"."""
    names = set(_DEFAULT)
    width = 8
    for word in text.replace(",", " ").split():
        negated, name = word.startswith("-"), word.lstrip("-")
        if name.startswith("tabwidth="):
            number = name[9:]
            if number.isdigit() and 0 < int(number[:4]) < 64:
                width = int(number)
            continue
        for known in _NAMES:
            if name and known.startswith(name):
                which = {"blank-at-eol", "blank-at-eof"} if known == "trailing-space" else {known}
                names = names - which if negated else names | which
                break
    return Rules(frozenset(names), width)


def rules_for(path: bytes, config: Config, attributes: Attributes | None) -> Rules:
    """Return the rules for a file, by its attribute `whitespace` or the configuration."""
    value = attributes.of(path).get("whitespace") if attributes is not None else None
    if value is True:
        return Rules(frozenset((*_DEFAULT, "indent-with-non-tab")))
    if value is False:
        return Rules(frozenset())
    return parse_rules(value if isinstance(value, str) else config.get("core.whitespace"))
