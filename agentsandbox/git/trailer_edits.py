"""Adding trailers to messages, as `git interpret-trailers` does it.

A new trailer goes to a place ("end", "start", "after" or "before" the ones with its key) unless a
rule about the trailers that are there says otherwise. The configuration names keys (trailer.ALIAS.
key) and has rules for each.
"""

from __future__ import annotations

import re

from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation

_VALUES = {
    "where": ("after", "before", "end", "start"),
    "if-exists": ("addIfDifferent", "addIfDifferentNeighbor", "add", "replace", "doNothing"),
    "if-missing": ("doNothing", "add"),
}
_DEFAULTS = {"where": "end", "if-exists": "addIfDifferentNeighbor", "if-missing": "add"}
_GENERATED = ("Signed-off-by: ", "(cherry picked from commit ")


def _rule_value(name: str, text: str) -> str | None:
    return next((each for each in _VALUES[name] if each.lower() == text.lower()), None)


class TrailerOptions:
    """What the command line asks for."""

    def __init__(self) -> None:
        self.trims = self.only_trailers = self.only_input = self.unfolds = False
        self.divides = True
        self.rules: dict[str, str] = {}
        self.new: list[tuple[str, dict[str, str]]] = []
        """(text, rules that the command line had set by then)."""

    def set_rule(self, name: str, text: str, *, negated: bool) -> None:
        """Set a rule for the trailers that follow on the command line."""
        if negated:
            self.rules.pop(name, None)
            return
        value = _rule_value(name, text)
        if value is None:
            raise BadUsage(f"option `{name}' requires a value", usage=False) if not text else (
                BadUsage("", usage=True)
            )  # fmt: skip
        self.rules[name] = value

    def add(self, text: str) -> None:
        """Add a trailer."""
        self.new.append((text, dict(self.rules)))


class _Item:
    __slots__ = ("key", "lines", "value")

    def __init__(self, key: str, value: str, lines: str = "") -> None:
        self.key = key
        """"" for a line that is no trailer, which is in `value`."""
        self.value = value
        self.lines = lines


class _Alias:
    """What the configuration says about a kind of trailer."""

    __slots__ = ("key", "name", "rules")

    def __init__(self, name: str) -> None:
        self.name = name
        self.key = ""
        self.rules: dict[str, str] = {}


class TrailerEdits:
    """Applies the options and the configuration to messages."""

    def __init__(self, git: Invocation, options: TrailerOptions) -> None:
        self.git = git
        self.options = options
        config = git.config
        self.separators = config.get("trailer.separators", ":")
        self.rules = dict(_DEFAULTS)
        for name in _VALUES:
            text = config.get(f"trailer.{name.replace('-', '')}")
            self.rules[name] = _rule_value(name, text) or self.rules[name]
        self.aliases = self._aliases()
        self.comment = config.get("core.commentchar", "#")

    def _aliases(self) -> list[_Alias]:
        found: dict[str, _Alias] = {}
        for value in self.git.config.values:
            parts = value.key.split(".")
            if parts[0] != "trailer" or len(parts) < 3:
                continue
            name, variable = ".".join(parts[1:-1]), parts[-1]
            alias = found.setdefault(name.lower(), _Alias(name))
            if variable == "key":
                alias.key = value.text or ""
            elif variable in ("where", "ifexists", "ifmissing"):
                rule = {"ifexists": "if-exists", "ifmissing": "if-missing"}.get(variable, variable)
                chosen = _rule_value(rule, value.text or "")
                if chosen is not None:
                    alias.rules[rule] = chosen
            elif variable in ("command", "cmd"):
                raise Fatal(f"trailer.{name}.{variable} is not supported in this sandbox")
        return list(found.values())

    def _alias_of(self, key: str) -> _Alias | None:
        for alias in self.aliases:
            for own in (alias.name, alias.key):
                bare = own.rstrip(self.separators + " ")
                if bare and bare.lower().startswith(key.lower()) and key:
                    return alias
        return None

    def _new(self) -> list[tuple[_Item, dict[str, str]]]:
        found = []
        for text, given in self.options.new:
            place = min(
                [at for at in (text.find(mark) for mark in f"={self.separators}") if at >= 0],
                default=-1,
            )
            key, value = (text[:place], text[place + 1 :]) if place >= 0 else (text, "")
            key, value = key.strip(), value.strip()
            if not key:
                self.git.error(f"empty trailer token in trailer '{text}'")
                continue
            alias = self._alias_of(key)
            rules = {**self.rules, **(alias.rules if alias is not None else {}), **given}
            shown = alias.key or alias.name if alias is not None else key
            found.append((_Item(shown, value), rules))
        return found

    # the message

    def apply(self, data: bytes) -> bytes:
        """Return a message with the trailers."""
        text = decode(data)
        if text and not text.endswith("\n"):
            text += "\n"
        self.git.budget.step(1 + len(text) // 64)
        lines = [f"{line}\n" for line in text.split("\n")[:-1]]
        end = self._end_of_message(lines)
        last = end
        while last and (not lines[last - 1].strip() or lines[last - 1].startswith(self.comment)):
            last -= 1
        start = self._start_of_trailers(lines, last)
        head, block, tail = lines[:start], lines[start:last], lines[last:]
        items = self._items(block)
        if not self.options.only_input:
            for item, rules in self._new():
                self._place(items, item, rules)
        shown = "".join([self._text(item) for item in items if self._is_shown(item)])
        if self.options.only_trailers:
            return encode(shown)
        before = "".join(head)
        if not self._ends_blank(head):
            before += "\n"
        return encode(before + shown + "".join(tail))

    def _ends_blank(self, head: list[str]) -> bool:
        return bool(head) and not head[-1].strip()

    def _end_of_message(self, lines: list[str]) -> int:
        if self.options.divides:
            for at, line in enumerate(lines):
                if line.startswith("---") and (len(line) == 3 or line[3].isspace()):
                    return at
        return len(lines)

    def _start_of_trailers(self, lines: list[str], end: int) -> int:
        """Return where the last paragraph begins if it consists of trailers, else the end."""
        title = 0
        while title < end and lines[title].startswith(self.comment):
            title += 1
        while title < end and lines[title].strip():
            title += 1
        trailers = others = 0
        known = False
        pending = 0
        only_spaces = True
        for at in range(end - 1, title - 1, -1):
            line = lines[at]
            if line.startswith(self.comment):
                others += pending
                pending = 0
                continue
            if not line.strip():
                if only_spaces:
                    continue
                others += pending
                if (known and trailers * 3 >= others) or (trailers and not others):
                    return at + 1
                return end
            only_spaces = False
            if line.startswith(_GENERATED):
                known = True
                trailers += 1
                pending = 0
            elif self._separator(line) >= 1 and not line[0].isspace():
                trailers += 1
                pending = 0
                if self._is_configured(line):
                    known = True
            elif line[0].isspace():
                pending += 1
            else:
                others += 1 + pending
                pending = 0
        return end

    def _is_configured(self, line: str) -> bool:
        key = line[: self._separator(line)].strip()
        return self._alias_of(key) is not None

    def _separator(self, line: str) -> int:
        """Return where the separator of a trailer is, -1 without one."""
        spaces = False
        for at, character in enumerate(line):
            if character in self.separators:
                return at
            if not spaces and (character.isalnum() or character == "-") and character.isascii():
                continue
            if at and character in " \t":
                spaces = True
                continue
            return -1
        return -1

    def _items(self, block: list[str]) -> list[_Item]:
        items: list[_Item] = []
        for line in block:
            if line.startswith(self.comment):
                continue
            at = self._separator(line)
            if line[:1].isspace() and items and items[-1].key:
                items[-1].value += "\n" + line.rstrip()
                items[-1].lines += line
            elif at >= 1:
                value = line[at + 1 :].strip()
                items.append(_Item(line[:at].strip(), value, line))
            else:
                items.append(_Item("", line.rstrip("\n"), line))
        if self.options.unfolds:
            for item in items:
                if item.key:
                    item.value = re.sub(r"\n\s*+", " ", item.value)
        return items

    def _is_shown(self, item: _Item) -> bool:
        if not item.key:
            return not self.options.only_trailers
        return not (self.options.trims and not item.value)

    def _text(self, item: _Item) -> str:
        if not item.key:
            return item.value + "\n"
        key = item.key.rstrip()
        if key[-1:] and key[-1] in self.separators:
            return f"{item.key}{item.value}\n"
        return f"{key}{self.separators[:1] or ':'} {item.value}\n"

    # new ones

    def _place(self, items: list[_Item], new: _Item, rules: dict[str, str]) -> None:
        where = rules["where"]
        same = [at for at, item in enumerate(items) if item.key and self._same_key(item, new)]
        if not same:
            if rules["if-missing"] == "add":
                if where in ("end", "after"):
                    items.append(new)
                else:
                    items.insert(0, new)
            return
        neighbor = same[-1] if where in ("end", "after") else same[0]
        action = rules["if-exists"]
        at = {
            "end": len(items), "after": neighbor + 1, "before": neighbor, "start": 0,
        }[where]  # fmt: skip
        if action == "doNothing":
            return
        if action == "replace":
            items.insert(at, new)
            items.pop(neighbor + 1 if at <= neighbor else neighbor)
            return
        if action == "addIfDifferent" and any(items[each].value == new.value for each in same):
            return
        if action == "addIfDifferentNeighbor":
            beside = {"end": len(items) - 1, "start": 0}.get(where, neighbor)
            one = items[beside]
            if one.key and self._same_key(one, new) and one.value == new.value:
                return
        items.insert(at, new)

    def _same_key(self, one: _Item, two: _Item) -> bool:
        marks = self.separators + " "
        first, second = one.key.rstrip(marks).lower(), two.key.rstrip(marks).lower()
        return first == second
