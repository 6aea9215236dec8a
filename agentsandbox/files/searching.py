"""Names by pattern, lines by regular expression, directories with all below them.

The patterns may come from a model, and the trees come from a script. So a glob is matched component
by component while the tree is walked once: each directory is visited with the set of positions in
the pattern that lead to it, and more `**` make that set larger, not the walk longer. Regular
expressions run on the engine of `grep`: in linear time where it can, under a time limit where it
cannot. A link to a directory is entered only where the pattern names it without a wildcard.
"""

from __future__ import annotations

import errno
import itertools
import posixpath
import re
import stat as stat_module

from agentsandbox.errors import LimitReached
from agentsandbox.files.contents import check_regular, read_regular
from agentsandbox.files.values import Match
from agentsandbox.kernel.patterns.filenames import glob_matcher
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.fs.memory import MemoryFileSystem
    from agentsandbox.kernel.regexps.lines import LineSearch

_MAGIC = re.compile(r"[*?\[]|[?*+@!]\(")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_QUOTED = re.compile(r"(\\.)", re.DOTALL)
_LOOKS_AROUND = re.compile(r"\(\?<?[=!]")
_MOST_ALTERNATIVES = 100
"""Patterns that one pattern with braces may expand to."""
_BLOCK = 1 << 18
"""Bytes of a file that are searched at once."""


def tree_of(
    fs: MemoryFileSystem, top: str, budget: Budget, *, hidden: bool
) -> Iterator[tuple[str, int]]:
    """Yield (path, type as in `stat.S_IFMT`) for all that is below a directory.

    Each directory comes before what is in it. What is in one that may not be read is left out;
    `top` itself must be readable.
    """
    pending = [top]
    while pending:
        here = pending.pop()
        try:
            names, kinds = fs.scan(here)
        except PermissionError:
            if here == top:
                raise
            continue
        budget.step(1 + len(names))
        directories: list[str] = []
        for name, kind in zip(names, kinds, strict=True):
            if hidden or not name.startswith("."):
                path = posixpath.join(here, name)
                if stat_module.S_ISDIR(kind):
                    directories.append(path)
                yield path, kind
        pending.extend(reversed(directories))


# names


class _Component:
    """One component of a glob: `test` is None for `**`, `literal` a name without wildcards."""

    __slots__ = ("literal", "shows_hidden", "test")

    def __init__(self, text: str, *, hidden: bool) -> None:
        self.literal = None if _MAGIC.search(text) else _ESCAPED.sub(r"\1", text)
        self.shows_hidden = hidden or text.startswith((".", "\\."))
        self.test: Callable[[str], object] | None = None if text == "**" else glob_matcher(text)
        if self.literal is not None:
            self.test = self.literal.__eq__


def find_paths(
    fs: MemoryFileSystem, top: str, pattern: str, budget: Budget, *, hidden: bool
) -> list[str]:
    """Return the paths that a glob matches from `top` on, sorted. Raises `ValueError`."""
    try:
        found = {
            path
            for each in _alternatives(pattern, budget)
            for path in _matching(fs, top, each, budget, hidden=hidden)
        }
    except LimitReached as end:
        if end.limit == "timeout":
            raise
        raise ValueError(f"pattern is too complex: {pattern[:100]!r}") from None
    return sorted(found)


def _alternatives(pattern: str, budget: Budget) -> list[str]:
    """Return the patterns that one with braces, as in `*.{ts,tsx}`, expands to."""
    if "{" not in pattern:
        return [pattern]
    from agentsandbox.shell.expansion.braces import expand_braces
    from agentsandbox.shell.syntax.nodes import Literal, Quoted

    pieces = _QUOTED.split(pattern)
    parts = tuple(
        Quoted(piece) if number % 2 else Literal(piece)
        for number, piece in enumerate(pieces)
        if piece
    )
    expanded = list(itertools.islice(expand_braces(parts, budget), _MOST_ALTERNATIVES + 1))
    if len(expanded) > _MOST_ALTERNATIVES:
        raise ValueError(
            f"pattern expands to more than {_MOST_ALTERNATIVES} patterns: {pattern[:100]!r}"
        )
    return [
        "".join([part.text for part in each if isinstance(part, (Literal, Quoted))])
        for each in expanded
    ]


def _matching(
    fs: MemoryFileSystem, top: str, pattern: str, budget: Budget, *, hidden: bool
) -> Iterator[str]:
    texts = [text for text in pattern.split("/") if text not in ("", ".")]
    here = "/" if pattern.startswith("/") else top
    while texts and not _MAGIC.search(texts[0]):
        here = posixpath.join(here, _ESCAPED.sub(r"\1", texts.pop(0)))
    if not texts:
        if fs.is_dir(here) if pattern.endswith("/") else fs.exists(here, follow=False):
            yield here
        return
    if ".." in texts:
        raise ValueError(f"pattern has '..' behind a wildcard: {pattern[:100]!r}")
    components: list[_Component] = []
    for text in texts:
        if text != "**" or not components or components[-1].test is not None:
            components.append(_Component(text, hidden=hidden))
    yield from _Walk(fs, components, budget, directories_only=pattern.endswith("/")).paths(here)


class _Walk:
    """One walk through a tree for one glob; a position is the number of a component."""

    def __init__(
        self,
        fs: MemoryFileSystem,
        components: list[_Component],
        budget: Budget,
        *,
        directories_only: bool,
    ) -> None:
        self.fs = fs
        self.components = components
        self.budget = budget
        self.directories_only = directories_only

    def paths(self, top: str) -> Iterator[str]:
        pending = [(top, self._with_empty({0}))]
        while pending:
            here, positions = pending.pop()
            try:
                names, kinds = self.fs.scan(here)
            except OSError:
                continue
            self.budget.step(1 + len(names) * len(positions))
            for name, kind in zip(names, kinds, strict=True):
                is_found, following, named = self._advance(name, positions)
                if not is_found and not following:
                    continue
                path = posixpath.join(here, name)
                is_directory = stat_module.S_ISDIR(kind)
                if (
                    stat_module.S_ISLNK(kind)
                    and (following or self.directories_only)
                    and self.fs.is_dir(path)
                ):
                    is_directory, following = True, named
                if is_found and (is_directory or not self.directories_only):
                    yield path
                if is_directory and following:
                    pending.append((path, self._with_empty(following)))

    def _advance(self, name: str, positions: frozenset[int]) -> tuple[bool, set[int], set[int]]:
        """Return what a name leads to.

        That is (whether a match ends here, the positions for what is below, those of them that
        follow a literal name).
        """
        last = len(self.components) - 1
        is_found = False
        following: set[int] = set()
        named: set[int] = set()
        for position in positions:
            component = self.components[position]
            if name.startswith(".") and not component.shows_hidden:
                continue
            if component.test is None:
                is_found = is_found or position == last
                following.add(position)
            elif component.test(name):
                if position == last:
                    is_found = True
                else:
                    (named if component.literal is not None else following).add(position + 1)
        return is_found, following | named, named

    def _with_empty(self, positions: set[int]) -> frozenset[int]:
        """Return the positions and those behind each `**`, which also matches no directory."""
        reached = set(positions)
        for position in sorted(positions):
            while position < len(self.components) - 1 and self.components[position].test is None:
                position += 1
                reached.add(position)
        return frozenset(reached)


# lines


class Search:
    """Which lines of a text match.

    `linear` finds them in ASCII text where the pattern could explode: an automaton, which sees each
    character once. What it does not know (other text, back-references, look-around) is left to
    `general`, which ends with the budget.
    """

    def __init__(self, general: LineSearch, linear: LineSearch | None) -> None:
        self.budget = general.budget
        self.may_match = general.may_match
        self._general = general
        self._linear = linear

    def places(self, text: str) -> list[tuple[int, int]]:
        """Return where the lines that match begin and end."""
        search = self._general if self._linear is None or not text.isascii() else self._linear
        return search.places(text)


def line_search(pattern: str, budget: Budget, *, ignore_case: bool, fixed: bool) -> Search:
    """Compile what `grep` is given; ValueError for a pattern that is wrong or too large."""
    from agentsandbox.kernel.regexps import RegexError
    from agentsandbox.kernel.regexps.lines import compile_search

    try:
        general = compile_search([pattern], "F" if fixed else "P", budget, ignore_case=ignore_case)
        needs_automaton = not fixed and general.perl is None
        linear = _automaton_search(pattern, budget, ignore_case) if needs_automaton else None
        return Search(general, linear)
    except RegexError as error:
        raise ValueError(
            f"pattern is not a regular expression: {error.message}: {pattern[:100]!r}"
        ) from None
    except LimitReached:
        raise ValueError(f"pattern is too complex: {pattern[:100]!r}") from None


def _automaton_search(pattern: str, budget: Budget, ignore_case: bool) -> LineSearch | None:
    """Return the search for a Perl pattern by an automaton; None if it cannot run the pattern."""
    from agentsandbox.kernel.regexps import PosixRegex
    from agentsandbox.kernel.regexps.lines import LineSearch
    from agentsandbox.kernel.regexps.parser import Tree
    from agentsandbox.kernel.regexps.perl_tree import read_perl

    known = None if _LOOKS_AROUND.search(pattern) else read_perl(pattern, ignore_case=ignore_case)
    if known is None:
        return None
    tree = Tree(known.root, 0, [], back_references=False, ignore_case=known.ignore_case)
    return LineSearch([PosixRegex(pattern, tree, multiline=False, newline_safe=True)], [], budget)


def find_lines(
    fs: MemoryFileSystem, paths: Iterable[str], search: Search, *, context: int, skips: bool
) -> Iterator[Match]:
    """Yield the lines that match; `skips` leaves out files that cannot be read as text."""
    for path in paths:
        search.budget.step()
        try:
            check_regular(fs.stat(path), path)
            data = read_regular(fs, path)
        except OSError as error:
            if skips and error.errno != errno.EFBIG:
                continue
            raise
        if b"\0" not in data and search.may_match(data):
            yield from _Lines(path, data, context).matches(search)


class _Lines:
    """The text of one file; each line is decoded once, also where contexts overlap."""

    def __init__(self, path: str, data: bytes, context: int) -> None:
        self.path = path
        self.data = data
        self.context = context
        self._texts: dict[int, str] = {}

    def matches(self, search: Search) -> Iterator[Match]:
        number, counted = 1, 0
        for start in self._places(search):
            number += self.data.count(b"\n", counted, start)
            counted = start
            text = self._text(start)
            yield Match(
                self.path, number, text, before=self._before(start), after=self._after(start)
            )

    def _places(self, search: Search) -> Iterator[int]:
        """Yield where each line that matches begins, in bytes."""
        start = 0
        while start < len(self.data):
            end = self._end(min(start + _BLOCK, len(self.data) - 1)) + 1
            text = decode(self.data[start:end].removesuffix(b"\n"))
            search.budget.step(1 + len(text) // 256)
            offset, seen = start, 0
            for place, _ in search.places(text):
                offset += place - seen if text.isascii() else len(encode(text[seen:place]))
                seen = place
                yield offset
            start = end

    def _end(self, start: int) -> int:
        """Return where the line with this byte ends."""
        found = self.data.find(b"\n", start)
        return len(self.data) if found < 0 else found

    def _text(self, start: int) -> str:
        text = self._texts.get(start)
        if text is None:
            text = str(self.data[start : self._end(start)], "utf-8", "replace")
            if self.context:
                self._texts[start] = text
        return text

    def _before(self, start: int) -> tuple[str, ...]:
        lines: list[str] = []
        while start > 0 and len(lines) < self.context:
            start = self.data.rfind(b"\n", 0, start - 1) + 1
            lines.append(self._text(start))
        return tuple(reversed(lines))

    def _after(self, start: int) -> tuple[str, ...]:
        lines: list[str] = []
        start = self._end(start) + 1
        while start < len(self.data) and len(lines) < self.context:
            lines.append(self._text(start))
            start = self._end(start) + 1
        return tuple(lines)
