"""Fields: how the pieces of a word become words (POSIX 2.6.5), and which of them are patterns."""

from __future__ import annotations

from agentsandbox.kernel.caching import cache_short, lru_cache
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.quoting import quote_glob
from agentsandbox.shell.expansion.magic import has_magic

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator
    from types import ModuleType

    from agentsandbox.kernel.accounts import Scale
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.shell.expansion.host import ExpansionHost

_DEFAULT_FIELDS = lazily(r"[^ \t\n]+")
_MANY = 4096
"""Characters of IFS from which on each is removed everywhere once it was seen."""


def _different(text: str) -> list[str]:
    """Return the different characters of a text in order."""
    found: list[str] = []
    while len(text) > _MANY and len(found) < 16:
        found.append(text[0])
        text = text.replace(text[0], "")
    return list(dict.fromkeys([*found, *text]))


@cache_short(64)
def _delimiters(ifs: str) -> re.Pattern[str]:
    """Matches one delimiter: blanks of IFS around at most one other character of it."""
    import re

    different = _different(ifs)
    blanks = "".join(re.escape(char) for char in different if char in " \t\n")
    others = "".join(re.escape(char) for char in different if char not in " \t\n")
    if not others:
        return re.compile(f"[{blanks}]+")
    if not blanks:
        return re.compile(f"(?P<hard>[{others}])")
    # it begins with a set of characters, which `re` seeks quickly
    return re.compile(
        f"[{blanks}{others}](?:(?<=[{others}])(?P<hard>)[{blanks}]*+"
        f"|[{blanks}]*+(?:(?P<later>[{others}])[{blanks}]*+)?)"
    )


_LONG = 65536
"""Characters from which on the fields of a text are counted before they are made."""


def _delimiters_in(text: str, ifs: str, budget: Budget) -> Iterator[re.Match[str]]:
    """Yield the delimiters in a long text, with looks at the clock."""
    import re

    seek = re.compile(f"[{re.escape(ifs)}]").search
    delimiter = _delimiters(ifs).match
    position = 0
    while position < len(text):
        budget.step()
        found = seek(text, position, position + _LONG)
        if found is None:
            position += _LONG
            budget.work(8 * _LONG)
            continue
        match = delimiter(text, found.start())
        assert match is not None
        yield match
        position = match.end()


def split_fields(text: str, ifs: str, budget: Budget | None = None) -> list[str]:
    """Split an unquoted expansion that is a whole word into fields.

    With a budget, it draws steps for what it passes over.
    """
    if ifs == " \t\n":
        return _DEFAULT_FIELDS.findall(text)
    if not ifs:
        return [text] if text else []
    fields: list[str] = []
    start = 0
    for match in (
        _delimiters(ifs).finditer(text) if budget is None else _delimiters_in(text, ifs, budget)
    ):
        if (
            match.lastgroup
            or match.start() > start
            or (match.start() > 0 and fields and start < match.start())
        ):
            if match.lastgroup or match.start() > start:
                fields.append(text[start : match.start()])
        start = match.end()
    if start < len(text):
        fields.append(text[start:])
    return fields


def split_read(text: str, ifs: str, count: int, escaped: set[int], budget: Budget) -> list[str]:
    """Split a line for `read` into at most `count` fields (-1: no bound); the last one takes the
    rest.

    Characters at `escaped` positions never split.
    """
    import re

    blanks = "".join([char for char in " \t\n" if char in ifs])
    others = re.escape("".join([char for char in _different(ifs) if char not in blanks]))
    seek = re.compile(f"[{re.escape(blanks)}{others}]").search
    between = re.compile(
        (f"[{blanks}]*+" if blanks else "") + (f"(?:[{others}]" if others else "(?:(?!)")
        + (f"[{blanks}]*+" if blanks else "") + ")?"
    ).match  # fmt: skip
    seen = _masked(text, escaped, ifs) if escaped else text
    fields: list[str] = []
    position, size = 0, len(text)
    if blanks and size <= _LONG:
        position = size - len(seen.lstrip(blanks))
    elif blanks:
        leading = re.compile(f"[{blanks}]*+").match(seen)
        position = 0 if leading is None else leading.end()
    while position < size:
        if count >= 0 and len(fields) == count - 1:
            fields.append(text[position : _last_end(seen, position, blanks, others)])
            return fields
        start = position
        while (found := seek(seen, position, position + _LONG)) is None and position + _LONG < size:
            position += _LONG
            budget.work(8 * _LONG)
        position = size if found is None else found.start()
        fields.append(text[start:position])
        budget.step()
        delimiter = between(seen, position)
        assert delimiter is not None
        position = delimiter.end()
    return fields


def _masked(text: str, escaped: set[int], ifs: str) -> str:
    """Return the text with characters that never split in place of the escaped ones."""
    different = _different(ifs)
    filler = next(char for char in map(chr, range(len(different) + 1)) if char not in different)
    parts: list[str] = []
    start = 0
    for position in sorted(escaped):
        parts += text[start:position], filler
        start = position + 1
    return "".join([*parts, text[start:]])


def _last_end(seen: str, start: int, blanks: str, others: str) -> int:
    """Return where the last field of `read` ends: before the delimiters at the end of the line.

    A delimiter that is no blank is left out only if it is the only one of them and no blank is
    within the field.
    """
    kept = seen[start:].rstrip(blanks) if blanks else seen[start:]
    import re

    if kept and others and re.match(f"[{others}]", kept[-1]):
        before = kept[:-1].rstrip(blanks) if blanks else kept[:-1]
        inner = f"[{re.escape(blanks)}{others}]"
        if re.search(f"[{others}]", kept[:-1]) is None and re.search(inner, before) is None:
            return start + len(before)
    return start + len(kept)


def glob_field(host: ExpansionHost, pattern: str) -> list[str] | None:
    """Return the names of files that match; None where the pattern stays as it is."""
    names: list[str] | None = _globbing().expand_glob(host, pattern)
    return names


@lru_cache(maxsize=None)
def _globbing() -> ModuleType:
    """Load what finds files; an import statement takes a microsecond at each field."""
    import agentsandbox.shell.expansion.globbing

    return agentsandbox.shell.expansion.globbing


class FieldBuilder:
    """Collects the fields of one word."""

    __slots__ = ("had_none", "host", "keeps", "magic", "opened", "out", "pattern", "text")

    def __init__(self, host: ExpansionHost, out: list[str]) -> None:
        self.host = host
        self.out = out
        self.text: list[str] = []
        self.pattern: list[str] = []
        self.opened = False
        self.had_none = False
        """Whether the quotes at work had a "$@" without elements."""
        self.keeps = False
        """Whether the quotes at work make a field even if all in them is empty."""
        self.magic = False

    def weigh(self, scale: Scale) -> None:
        scale.add(self.text)
        scale.add(self.pattern)
        scale.add(self.out)

    def quoted(self, text: str) -> None:
        """Add text that neither splits nor matches; even an empty one makes a field."""
        self.opened = True
        if text:
            self.text.append(text)
            self.pattern.append(quote_glob(text))

    def quoted_elements(self, items: list[str]) -> None:
        """ "$@": the first element continues the field, the last one begins what follows."""
        if not items:
            self.had_none = True
            return
        self.quoted(items[0])
        for item in items[1:]:
            self.end()
            self.quoted(item)

    def expanded_elements(self, items: list[str]) -> None:
        """Add unquoted $@ or $*, whose elements split again."""
        keeps_empty = self.host.variables.ifs[:1].strip(" \t\n") != ""
        for number, item in enumerate(items):
            if number:
                self.opened = self.opened or keeps_empty
                self.end()
            self.expanded(item)

    def literal(self, text: str) -> None:
        """Unquoted text of the script: it may be a pattern, but does not split."""
        if text:
            self.opened = True
            self.text.append(text)
            self.pattern.append(text)
            if not self.magic and has_magic(text):
                self.magic = True

    def expanded(self, text: str) -> None:
        """The result of an unquoted expansion: splits, and may be a pattern."""
        if not text:
            return
        host = self.host
        ifs = host.variables.ifs
        if not ifs:
            self._piece(text)
            return
        position = 0
        if len(text) > _LONG:
            host.budget.make(len(text))
            host.budget.charge(16 * sum(map(text.count, set(ifs))))
        for match in (
            _delimiters(ifs).finditer(text)
            if len(text) <= _LONG
            else _delimiters_in(text, ifs, host.budget)
        ):
            start = match.start()
            if start > position:
                self._piece(text[position:start])
            if match.lastgroup:
                self.opened = True
                self.end()
            elif self.opened:
                self.end()
            position = match.end()
        if position < len(text):
            self._piece(text[position:])

    def _piece(self, text: str) -> None:
        self.opened = True
        self.text.append(text)
        if "\\" in text:
            self.pattern.append(
                text if self._active_backslash(text) else text.replace("\\", "\\\\")
            )
        else:
            self.pattern.append(text)
        if not self.magic and has_magic(text):
            self.magic = True

    @staticmethod
    def _active_backslash(text: str) -> bool:
        """A backslash in an expansion quotes only inside a pattern."""
        return has_magic(text)

    def end(self) -> None:
        """Close the field, if one is open."""
        if not self.opened:
            return
        text = "".join(self.text)
        if self.magic and not self.host.options.noglob:
            names = glob_field(self.host, "".join(self.pattern))
            if names is None:
                self.out.append(text)
            else:
                self.out.extend(names)
        else:
            self.out.append(text)
        self.text.clear()
        self.pattern.clear()
        self.opened = self.magic = False
