"""The arguments of `parallel`: where they come from, how they are combined and replaced."""

from __future__ import annotations

import itertools
import re

from agentsandbox.commands._text.lines import lines
from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.regexps import RegexError, compile_perl
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.contract.command import Arguments, CommandContext
    from agentsandbox.kernel.regexps.perl_regex import PerlRegex

_SAFE = re.compile(r"[-_.+a-zA-Z0-9/]+\Z", re.ASCII)
_EXTENSION = re.compile(r"\.[^/.]*\Z")
_READ_AT_ONCE = 1 << 16
_MOST_COMBINED = 1_000_000


def shell_quote(text: str) -> str:
    """Quote a text for the shell, as parallel does."""
    if _SAFE.match(text):
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


class Source:
    """A list of arguments: words of the command line, or the lines of a file."""

    def __init__(
        self,
        ctx: CommandContext,
        words: list[str] | None,
        file: str,
        end: bytes,
        *,
        linked: bool = False,
    ) -> None:
        self.ctx = ctx
        self.linked = linked
        self.wraps = False
        self.name = ""
        self._values = iter(words) if words is not None else self._lines(file, end)

    def _lines(self, file: str, end: bytes) -> Iterator[str]:
        try:
            source = self.ctx.open_input(file)
        except OSError as error:
            raise CommandError(f"Cannot open input file `{file}': {error.strerror}.", 255) from None
        for line in lines(self.ctx.budget, source, end):
            yield decode(line)

    def take_name(self) -> None:
        """Take the first argument as the name of the source."""
        self.name = next(self._values, "")

    def __iter__(self) -> Iterator[str]:
        return self._values


def _combined(sources: list[Source]) -> Iterator[tuple[str, ...]]:
    """Yield one argument of each source, in all combinations but of linked sources."""
    if len(sources) == 1:
        return ((value,) for value in sources[0])
    groups: list[list[tuple[str, ...]]] = []
    for source in sources:
        values = list(source)
        if source.linked and groups:
            before = groups[-1]
            if source.wraps and before and values:
                count = max(len(before), len(values))
                groups[-1] = [
                    (*before[at % len(before)], values[at % len(values)]) for at in range(count)
                ]
            else:
                groups[-1] = [(*a, b) for a, b in zip(before, values, strict=False)]
        else:
            groups.append([(value,) for value in values])
    return (tuple(itertools.chain.from_iterable(parts)) for parts in itertools.product(*groups))


def records_of(ctx: CommandContext, args: Arguments, sources: list[Source]) -> Iterator[list[str]]:
    """Yield the arguments of each combination, split into columns and trimmed."""
    separator = args.value("colsep")
    trim = args.value("trim", "n") or "n"
    pattern = None
    if separator is not None:
        try:
            pattern = compile_perl(separator)
        except RegexError as error:
            raise UsageError(f"--colsep: {error}", 255) from None
    for combination in _combined(sources):
        ctx.budget.step()
        values = list(combination)
        if pattern is not None:
            values = [part for value in values for part in _split(ctx, pattern, value)]
        if "l" in trim:
            values = [value.lstrip(" \t\n") for value in values]
        if "r" in trim:
            values = [value.rstrip(" \t\n") for value in values]
        yield values


def _split(ctx: CommandContext, pattern: PerlRegex, value: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for found in pattern.finditer(value, 0, ctx.budget):
        if found.start() < found.end():
            parts.append(value[start : found.start()])
            start = found.end()
    return [*parts, value[start:]]


def _without_extension(text: str) -> str:
    return _EXTENSION.sub("", text)


def _base(text: str) -> str:
    return text.rpartition("/")[2]


def _directory(text: str) -> str:
    head, slash, _ = text.rpartition("/")
    return head or (slash or ".")


_CHANGES: dict[str, Callable[[str], str]] = {
    "": str,
    ".": _without_extension,
    "/": _base,
    "//": _directory,
    "/.": lambda text: _without_extension(_base(text)),
}
_STRING = re.compile(r"\{(-?[0-9]{0,4}|[A-Za-z_][A-Za-z0-9_]*)(|\.|/|//|/\.)\}|\{(#|%)\}|\{=")


class Replacements:
    """Puts arguments into a line of shell."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.pattern = re.compile(f"{re.escape(mark)}|{_STRING.pattern}")
        self.names: list[str] = []
        self.repeats_context = False
        self.joins_all = False

    def completed(self, template: str) -> str:
        """Return the line with {} at its end, unless it says where arguments go."""
        found = [m for m in self.pattern.finditer(template) if m[0] not in ("{#}", "{%}")]
        for match in found:
            if match[0] == "{}" != self.mark:
                continue
            if match[0] == "{=":
                raise UsageError("{= perl expressions =} are not available in this sandbox", 255)
            if match[1] and match[1].lstrip("-").isalpha() and match[1] not in self.names:
                continue
            return template
        return f"{template} {self.mark}"

    def fill(self, template: str, record: list[str], seq: int, slot: int) -> str:
        """Return the line with the arguments, quoted."""
        if self.repeats_context and self.mark in template:
            return " ".join(
                [
                    " ".join([self._replace(word, [value], seq, slot) for value in record])
                    if self.mark in word
                    else self._replace(word, record, seq, slot)
                    for word in template.split(" ")
                ]
            )
        return self._replace(template, record, seq, slot)

    def _replace(self, text: str, record: list[str], seq: int, slot: int) -> str:
        return self._substitute(text, record, seq, slot, quote=True)

    def fill_plain(self, template: str, record: list[str], seq: int, slot: int) -> str:
        """Return a text with the arguments as they are."""
        return self._substitute(template, record, seq, slot, quote=False)

    def _substitute(self, text: str, record: list[str], seq: int, slot: int, *, quote: bool) -> str:
        def value(found: re.Match[str]) -> str:
            if found[3]:
                return str(seq if found[3] == "#" else slot)
            if found[0] == "{=" or (found[0] == "{}" != self.mark):
                return found[0]
            change = _CHANGES[found[2] or ""]
            values = record
            if found[1]:
                at = self._position(found[1], len(record))
                if at is None:
                    return found[0]
                values = record[at : at + 1]
            changed = [change(each) for each in values]
            if not quote:
                return " ".join(changed)
            return " ".join([shell_quote(each) for each in changed])

        return self.pattern.sub(value, text)

    def _position(self, name: str, count: int) -> int | None:
        if name in self.names:
            return self.names.index(name)
        if not name.lstrip("-").isdigit():
            return None
        number = int(name)
        return number - 1 if number > 0 else max(0, count + number)


def split_records(ctx: CommandContext, size: int, count: int, end: bytes) -> Iterator[bytes]:
    """Yield blocks of standard input of about `size` bytes, or of `count` records."""
    if count:
        batch: list[bytes] = []
        for line in lines(ctx.budget, ctx.stdin, end[-1:]):
            batch.append(line + end[-1:])
            if len(batch) == count:
                yield b"".join(batch)
                batch = []
        if batch:
            yield b"".join(batch)
        return
    rest = b""
    while block := ctx.stdin.read(min(size, _READ_AT_ONCE)):
        ctx.budget.step()
        rest += block
        ctx.budget.charge(len(rest))
        if len(rest) < size:
            continue
        cut = rest.rfind(end, 0, size) + len(end)
        if cut < len(end):
            cut = rest.find(end) + len(end)
        if cut >= len(end):
            yield rest[:cut]
            rest = rest[cut:]
    while rest:
        cut = rest.rfind(end, 0, size) + len(end) if len(rest) > size else len(rest)
        cut = len(rest) if cut < len(end) else cut
        yield rest[:cut]
        rest = rest[cut:]
