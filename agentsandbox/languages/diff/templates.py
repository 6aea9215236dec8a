"""The output that `diff --changed-group-format` and its like describe: templates for groups of lines and for lines."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agentsandbox.languages.diff.comparison import Change
    from agentsandbox.languages.diff.formats import Pair
    from agentsandbox.limits import Budget

__all__ = ["Templates"]

_NUMBER = re.compile(rb"%([-'0]*)([0-9]{0,4})(?:\.([0-9]{0,4}))?([doxX])(.)", re.DOTALL)
_CHARACTER = re.compile(rb"%c'(?:\\([0-7]{1,3})|([^\\']))'", re.DOTALL)
_CONDITION = re.compile(rb"%\(([0-9]{1,9}|[eflmnEFLMN])=([0-9]{1,9}|[eflmnEFLMN])\?")
_TEXT = re.compile(rb"[^%]+|%%")


class _Group:
    """A run of lines that are the same or differ: from and upto in both files, counted from 0."""

    __slots__ = ("new", "old", "pair")

    def __init__(self, pair: Pair, old: tuple[int, int], new: tuple[int, int]) -> None:
        self.pair = pair
        self.old = old
        self.new = new

    def value(self, letter: bytes) -> int | None:
        """What a letter counts: lower case in the old file, upper case in the new one."""
        start, upto = self.old if letter.islower() else self.new
        values = {b"e": start, b"f": start + 1, b"l": upto, b"m": upto + 1, b"n": upto - start}
        return values.get(letter.lower())


class Templates:
    """`groups` has templates for old, new, unchanged and changed; `lines` for old, new and unchanged."""

    def __init__(self, write: Callable[[bytes], None], budget: Budget, groups: Mapping[str, bytes], lines: Mapping[str, bytes]) -> None:
        self.write = write
        self.budget = budget
        self.lines = {kind: lines.get(kind, b"%l\n") for kind in ("old", "new", "unchanged")}
        changed = groups.get("changed")
        self.groups = {
            "old": groups.get("old", b"%<" if changed is None else changed),
            "new": groups.get("new", b"%>" if changed is None else changed),
            "unchanged": groups.get("unchanged", b"%="),
        }
        self.groups["changed"] = self.groups["old"] + self.groups["new"] if changed is None else changed

    def print(self, pair: Pair, changes: list[Change]) -> None:
        """The whole output for two files."""
        old = new = 0
        for change in changes:
            if change.old > old:
                self._print_group("unchanged", _Group(pair, (old, change.old), (new, change.new)))
            old, new = change.old + change.deleted, change.new + change.inserted
            kind = "changed" if change.deleted and change.inserted else "old" if change.deleted else "new"
            self._print_group(kind, _Group(pair, (change.old, old), (change.new, new)))
        if old < len(pair.old):
            self._print_group("unchanged", _Group(pair, (old, len(pair.old)), (new, len(pair.new))))

    def _print_group(self, kind: str, group: _Group) -> None:
        self._print_template(self.groups[kind], 0, b"", group)

    def _print_template(self, text: bytes, at: int, end: bytes, group: _Group, *, silent: bool = False) -> int:
        """Print up to the character `end` (b"": the end of the template); where it stands."""
        self.budget.deeper()
        while at < len(text) and (not end or text[at : at + 1] != end):
            self.budget.step()
            if text[at : at + 1] != b"%":
                self._put(text[at : at + 1], silent)
                at += 1
                continue
            at = self._print_directive(text, at, group, silent)
        self.budget.shallower()
        return at

    def _print_directive(self, text: bytes, at: int, group: _Group, silent: bool) -> int:
        word = text[at : at + 2]
        if word == b"%%":
            self._put(b"%", silent)
            return at + 2
        if word in (b"%<", b"%>", b"%="):
            if not silent:
                self._print_lines(word, group)
            return at + 2
        if found := _CONDITION.match(text, at):
            return self._print_choice(text, found, group, silent)
        if found := _CHARACTER.match(text, at):
            self._put(bytes([int(found[1], 8) & 255]) if found[1] else found[2], silent)
            return found.end()
        if found := _NUMBER.match(text, at):
            value = group.value(found[5])
            if value is not None:
                self._put(_formatted(found, value), silent)
                return found.end()
        self._put(b"%", silent)
        return at + 1

    def _print_choice(self, text: bytes, found: re.Match[bytes], group: _Group, silent: bool) -> int:
        """`%(A=B?T:E)`."""
        one, other = (int(word) if word.isdigit() else group.value(word) for word in (found[1], found[2]))
        same = one == other
        at = self._print_template(text, found.end(), b":", group, silent=silent or not same)
        if at < len(text):
            at = self._print_template(text, at + 1, b")", group, silent=silent or same)
        return at + 1

    def _put(self, data: bytes, silent: bool) -> None:
        if not silent:
            self.write(data)

    def _print_lines(self, word: bytes, group: _Group) -> None:
        kind = {b"%<": "old", b"%>": "new", b"%=": "unchanged"}[word]
        lines, (start, upto) = (group.pair.new, group.new) if word == b"%>" else (group.pair.old, group.old)
        template = self.lines[kind]
        if template in (b"%L", b"%l\n"):
            self.budget.step((upto - start) // 16 + 1)
            for line in lines[start:upto]:
                self.write(line if template == b"%L" or line.endswith(b"\n") else line + b"\n")
            return
        for number in range(start, upto):
            self.budget.step()
            self.write(_line_by(template, lines[number], number + 1))


def _line_by(template: bytes, line: bytes, number: int) -> bytes:
    parts: list[bytes] = []
    at = 0
    while at < len(template):
        word = template[at : at + 2]
        if found := _TEXT.match(template, at):
            parts.append(b"%" if word == b"%%" else found[0])
            at = found.end()
        elif word in (b"%l", b"%L"):
            parts.append(line if word == b"%L" else line.removesuffix(b"\n"))
            at += 2
        elif found := _CHARACTER.match(template, at):
            parts.append(bytes([int(found[1], 8) & 255]) if found[1] else found[2])
            at = found.end()
        elif (found := _NUMBER.match(template, at)) and found[5] == b"n":
            parts.append(_formatted(found, number))
            at = found.end()
        else:
            parts.append(b"%")
            at += 1
    return b"".join(parts)


def _formatted(found: re.Match[bytes], value: int) -> bytes:
    """A number as printf would show it."""
    flags, width, precision, letter = found[1], int(found[2] or b"0"), found[3], found[4]
    digits = {b"d": b"%d", b"o": b"%o", b"x": b"%x", b"X": b"%X"}[letter] % value
    if precision is not None:
        digits = digits.rjust(int(precision or b"0"), b"0")
    if b"-" in flags:
        return digits.ljust(width)
    return digits.rjust(width, b"0" if b"0" in flags and precision is None else b" ")
