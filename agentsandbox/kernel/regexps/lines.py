"""The search for the lines of a block that match.

Most lines of most files do not match, so a block of lines is searched as one text, and the search
jumps from match to match: the line around a match is found by `rfind` and `find` of the newline,
and the search continues behind it. The patterns are *newline-safe*: nothing in them matches a
newline, and ^ and $ match at every line. What to search for depends on the pattern, from fast to
slow:

* a plain text (`_jump_literal`): its rarest character is searched first;
* a few plain texts, one by one, with the places merged (`_jump_all`);
* patterns rewritten to begin with plain text (`_jump_prefixed`, see `literal_prefixes`);
* a text that every match contains; only the lines that have it are searched (`_jump_required`);
* a pattern that is never empty, extended to the end of the line, by `finditer` (`_jump_lines`);
* any other pattern (`_jump`).

Where many lines match, jumping costs more than a test of each line. The share of matching lines is
estimated now and then (`_is_dense`), and the rest of the block, and all later blocks, are searched
line by line. Lines too long for the pattern's `safe_length` are searched line by line as well.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice
from operator import eq

from agentsandbox.kernel.caching import cache_short
from agentsandbox.kernel.regexps.limits import MAX_LENGTH, MAX_PLACES, RegexError
from agentsandbox.kernel.regexps.matcher import SPECIAL, PosixRegex
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from re import Pattern

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.regexps.perl_regex import PerlRegex

_SAMPLE, _MANY = 128, 512
"""The numbers of matches after which the share of matching lines is estimated, first and later."""
_MOST = 0.6
"""The share of matching lines above which each line is tested, for patterns of whole line ends."""


@cache_short(64)
def compile_lines(
    patterns: tuple[str, ...],
    *,
    extended: bool = True,
    fixed: bool = False,
    ignore_case: bool = False,
    whole_words: bool = False,
    whole_lines: bool = False,
    newline_safe: bool = True,
    bytewise: bool = False,
) -> list[PosixRegex]:
    """Compile grep's patterns: one for all, or one for each if there are back-references.

    A line is selected if any of them matches. Raises `RegexError`.
    """
    if len(patterns) > MAX_PLACES or sum(map(len, patterns)) > 20 * MAX_PLACES:
        raise RegexError("Regular expression too big")
    source = "\n".join(patterns)
    plain = fixed or all(map(SPECIAL.isdisjoint, patterns))
    if (
        plain
        and not (ignore_case or whole_words or whole_lines)
        and len(patterns) == 1
        and 0 < len(source) <= MAX_LENGTH
        and "\n" not in source
    ):
        return [
            PosixRegex(source, None, multiline=False, newline_safe=newline_safe, bytewise=bytewise)
        ]
    from agentsandbox.kernel.regexps.parser import bound_tree, fixed_tree, join_trees, parse

    if fixed or (plain and len(patterns) > 1):
        trees = [fixed_tree(patterns, ignore_case=ignore_case)]
    else:
        trees = [
            parse(
                pattern,
                extended=extended,
                dialect="grep",
                ignore_case=ignore_case,
                newline_safe=newline_safe,
            )
            for pattern in patterns
        ]
    if len(trees) > 1 and not any(tree.back_references for tree in trees):
        trees = [join_trees(trees)]
    if whole_lines or whole_words:
        before, after = "^$" if whole_lines else "()"
        trees = [bound_tree(tree, before, after) for tree in trees]
    return [
        PosixRegex(source, tree, multiline=False, newline_safe=newline_safe, bytewise=bytewise)
        for tree in trees
    ]


def compile_search(
    patterns: Sequence[str],
    matcher: str,
    budget: Budget,
    *,
    ignore_case: bool = False,
    whole_words: bool = False,
    whole_lines: bool = False,
    null_lines: bool = False,
    bytewise: bool = False,
    repeats_places: bool = False,
) -> LineSearch:
    """Return a search for lines that match any of the patterns; `matcher` is G, E, F or P.

    `bytewise` goes to `compile_posix`, `repeats_places` to `compile_perl`. Raises `RegexError`.
    """
    if matcher != "P":
        regexes = compile_lines(
            tuple(dict.fromkeys(patterns)),
            extended=matcher == "E",
            fixed=matcher == "F",
            ignore_case=ignore_case,
            whole_words=whole_words,
            whole_lines=whole_lines,
            newline_safe=not null_lines,
            bytewise=bytewise,
        )
        plain: list[str] = []
        if matcher == "F" and not (ignore_case or whole_words or whole_lines):
            plain = list(dict.fromkeys(patterns))
        if len(plain) > _FEW:
            plain = []
        return LineSearch(regexes, plain, budget, null_lines=null_lines)
    if len(patterns) != 1:
        raise RegexError("the -P option only supports a single pattern")
    from agentsandbox.kernel.regexps.perl import compile_perl  # few searches use -P

    source = patterns[0]
    if whole_lines:
        source = f"^(?:{source})$"
    elif whole_words:
        source = f"(?<![0-9A-Za-z_])(?:{source})(?![0-9A-Za-z_])"
    regex = compile_perl(
        source,
        ignore_case=ignore_case,
        newline_safe=not null_lines,
        utf8=not bytewise,
        bytewise=bytewise,
        repeats_places=repeats_places,
    )
    return LineSearch([regex], [], budget, null_lines=null_lines)


_WINDOW = 8192
"""The number of characters from which the length of lines is estimated."""
_LONG = 1 << 20
"""A block is longer only if it has a long line; then matches are taken one by one."""
_FEW = 6
"""The largest number of plain texts that are searched one by one."""
_PATIENCE = 16
"""How often the rarest character may be found outside the text, beyond once for each match, before
the whole text is searched instead."""
_EXAMINED = 64
"""The number of characters of a text among which the rarest is chosen."""
_BY_FREQUENCY = (
    " etsinoarldchpumf.g-)(b,y\"_=k`wv|/S:;x'$*#E01TI}{A"
    "R2LCONDPF[]M>3jU45\\6GBHq&+8Kz79<W!V?Y@%X^J~ZQ"
)
"""The characters of programs, prose and logs, the most frequent first."""


class LineSearch:
    """The search for lines that match. A text is many lines, without the last newline.

    With `null_lines` lines end in NUL, and newlines are ordinary characters.
    """

    def __init__(
        self,
        regexes: Sequence[PosixRegex | PerlRegex],
        plain: list[str],
        budget: Budget,
        *,
        null_lines: bool = False,
    ) -> None:
        self.regexes = regexes
        self.budget = budget
        self.end = "\0" if null_lines else "\n"
        self.dense = False
        """Whether many lines match, so that each is tested."""
        self._judged = False
        self._weighed = False
        self._sample = _SAMPLE
        first = regexes[0] if regexes else None
        self.regex = first if len(regexes) == 1 else None
        self.perl: PerlRegex | None = None
        """The Perl pattern; `regex` finds its lines in ASCII text."""
        if first is not None and not isinstance(first, PosixRegex) and not null_lines:
            if first.lines is not None:
                self.perl, self.regex = first, first.lines
        self.plain = plain
        self.lowered = ""
        self.required = ""
        if isinstance(self.regex, PosixRegex):
            if self.regex.literal is not None:
                self.plain = [self.regex.literal]
            elif self.regex.plain is not None and self.regex.plain.isascii():
                self.lowered = self.regex.plain.lower()
            elif self.regex.alternatives and len(self.regex.alternatives) <= _FEW:
                self.plain = self.regex.alternatives
            elif not plain:
                self.required = self.regex.required if len(self.regex.required) > 1 else ""
        needle = self.plain[0] if len(self.plain) == 1 else self.required
        self.needle = encode(needle)
        """Bytes that every selected line contains; empty if no such bytes are known."""
        self._rarest = {
            literal: _rarest(literal) for literal in (*self.plain, self.lowered, needle) if literal
        }
        self._mark = encode(needle[self._rarest[needle]]) if needle else b""
        self.quick_size = self.regex.safe_length if self.regex is not None else 0
        self.warnings = [warning for regex in regexes for warning in regex.warnings]

    def of(self, text: str) -> LineSearch:
        """Return the search that is used for a text."""
        return self

    def never_empty(self) -> bool:
        """Whether no empty line is ever selected."""
        return bool(self.needle or self.lowered) or not self.test("")

    def may_match(self, data: bytes) -> bool:
        """Whether the bytes contain the needle."""
        return self._mark in data and self.needle in data

    # one line

    def test(self, line: str) -> bool:
        """Whether the line matches."""
        budget = self.budget
        return any(regex.test(line, budget) for regex in self.regexes)

    def spans(self, line: str) -> Iterator[tuple[int, int]]:
        """Yield the matches in a line that are not empty; of several patterns the longest."""
        position = 0
        budget = self.budget
        while position <= len(line):
            budget.step()
            best: tuple[int, int] | None = None
            for regex in self.regexes:
                found = regex.search(line, position, budget)
                if found is None:
                    continue
                start, end = found.span()
                if best is None or start < best[0] or (start == best[0] and end > best[1]):
                    best = (start, end)
            if best is None:
                return
            if best[1] > best[0]:
                yield best
                position = best[1]
            else:
                position = best[1] + 1

    # many lines

    def quick_test(self) -> Callable[[bytes], object] | None:
        """Return a test of at most `quick_size` ASCII bytes: whether a line in them matches."""
        regex = self.regex
        if not isinstance(regex, PosixRegex) or self.end != "\n":
            return None
        search = regex.for_text("").search

        def test(data: bytes) -> object:
            return search(str(data.removesuffix(b"\n"), "ascii")) if data else None

        return test

    def matches(self, text: str) -> list[str] | None:
        """Return every match in the text, or None if lines must be searched one by one."""
        regex = self.regex
        if not isinstance(regex, PosixRegex) or self.end != "\n" or not regex.shortest:
            return None
        if not (regex.exact or self.perl):
            return None
        if len(text) > _LONG or regex.has_long_line(text) or (self.perl and not text.isascii()):
            return None
        found = (self.perl or regex).collect(text)
        self.budget.step(len(found) // 8 + 1)
        return found

    def flags(self, text: str) -> tuple[list[str], list[object]] | None:
        """Return the lines and a flag for each, or None if few lines match."""
        if not (self.dense or self._weighed):
            self._weighed = True
            self.places(text)
        if not self.dense:
            return None
        lines = text.split(self.end)
        self.budget.step(len(lines) // 16 + 1)
        return lines, self._flags(lines, text)

    def filter(self, text: str) -> list[str]:
        """Return the lines that match."""
        if self.dense:
            lines = text.split(self.end)
            self.budget.step(len(lines) // 16 + 1)
            return self._filter_lines(lines, text)
        return [text[start:end] for start, end in self.places(text)]

    def reject(self, text: str) -> list[str]:
        """Return the lines that do not match; neighbors may be in one piece."""
        places = [] if self.dense else self.places(text)
        if self.dense:  # perhaps only since the places were searched
            return self._reject_lines(text)
        pieces: list[str] = []
        position = 0
        for start, end in places:
            if start > position:
                pieces.append(text[position : start - 1])
            position = end + 1
        if position <= len(text):
            pieces.append(text[position:])
        return pieces

    def _reject_lines(self, text: str) -> list[str]:
        lines = text.split(self.end)
        self.budget.step(len(lines) // 16 + 1)
        if len(self.plain) == 1:
            literal = self.plain[0]
            return [line for line in lines if literal not in line]
        flags = self._flags(lines, text)
        return [line for line, flag in zip(lines, flags, strict=True) if not flag]

    def count(self, text: str) -> int:
        """Return the number of lines that match."""
        regex = self.regex
        simple = self.end == "\n" and not self.lowered and len(self.plain) < 2
        if isinstance(regex, PosixRegex) and simple and self._is_fit(regex, text):
            prefixed = regex.prefixed() if text.isascii() else []
            if len(prefixed) > 1:
                return len(self.places(text))
            if prefixed:
                found = len(prefixed[0].findall(text.lower() if regex.ignores_case else text))
            else:
                found = len(regex.for_lines(text).findall(text))
            self.budget.step(found // 8 + 1)
            return found
        return len(self.filter(text)) if self.dense else len(self.places(text))

    def _is_fit(self, regex: PosixRegex, text: str) -> bool:
        """Whether `findall` may search the whole text for lines."""
        if not regex.shortest or len(text) > _LONG or regex.has_long_line(text):
            return False
        return not self.perl or text.isascii()

    def places(self, text: str) -> list[tuple[int, int]]:
        """Return the places of the lines that match."""
        if self.dense or self.end != "\n":
            return self._places_of_lines(text, 0)
        if self.plain and all(self.plain):
            return self._jump_all(text)
        if self.lowered and text.isascii():
            return self._jump_literal(text, text.lower(), self.lowered)
        regex = self.regex
        if self.perl is not None and not text.isascii():
            regex = self.perl
        if regex is None or regex.has_long_line(text):
            return self._places_of_lines(text, 0)
        if isinstance(regex, PosixRegex):
            if regex.shortest and text.isascii() and (prefixed := regex.prefixed()):
                return self._jump_prefixed(text.lower() if regex.ignores_case else text, prefixed)
            if self.required and len(regex.prefix) < 2:
                return self._jump_required(text, self.required, regex.for_text(text).search)
            if regex.shortest:
                return self._jump_lines(text, regex.for_lines(text))
            return self._jump(text, regex.for_text(text).search)
        budget = self.budget
        return self._jump(text, lambda whole, position: regex.search(whole, position, budget))

    def pieces(self, text: str, ends: Callable[[], Sequence[int]]) -> list[int]:
        """Return the indices of the pieces of a text that have a line that matches.

        Each piece is empty or consists of whole lines; `ends` returns their ends.
        """
        if len(self.plain) == 1 and self.plain[0]:
            found: list[int] = []
            start = text.find(self.plain[0])
            limits = ends() if start >= 0 else ()
            while start >= 0:
                found.append(bisect_right(limits, start))
                start = text.find(self.plain[0], limits[found[-1]])
            self.budget.step(len(found) // 8 + 1)
            return found
        places = self.places(text)
        limits = ends() if places else ()
        return list(dict.fromkeys([bisect_right(limits, start) for start, _ in places]))

    def _jump_all(self, text: str) -> list[tuple[int, int]]:
        if len(self.plain) == 1:
            return self._jump_literal(text, text, self.plain[0])
        if not self._judged and len(text) > _SAMPLE * _SAMPLE:
            self._judged = True
            if sum([text.count(literal) for literal in self.plain]) * 6 > text.count("\n"):
                self.dense = True
                return self._places_of_lines(text, 0)
        return _merged([self._jump_literal(text, text, literal) for literal in self.plain])

    def _jump_literal(self, text: str, haystack: str, literal: str) -> list[tuple[int, int]]:
        places: list[tuple[int, int]] = []
        find, rfind, length = haystack.find, haystack.rfind, len(haystack)
        holds = haystack.startswith
        offset = self._rarest[literal]
        sought = literal[offset]  # one character is found ten times as fast as a text
        position = here = wrong = 0
        sample = self._sample
        while (found := find(sought, here + offset) - offset) >= 0:
            if sought is not literal and not holds(literal, found):
                here = found + 1
                wrong += 1
                if wrong > _PATIENCE + len(places):
                    sought, offset = literal, 0
                continue
            start = rfind("\n", position, found) + 1 or position
            end = find("\n", found)
            if end < 0:
                end = length
            places.append((start, end))
            here = position = end + 1
            if len(places) >= sample:
                sample *= 2
                if self._is_dense(text, places):
                    return places + self._places_of_lines(text, position)
        self.budget.step(len(places) // 8 + 1)
        return places

    def _jump_required(
        self, text: str, literal: str, search: Callable[[str, int, int], object]
    ) -> list[tuple[int, int]]:
        """Return the same as `_jump`; only lines with the required text are searched."""
        places: list[tuple[int, int]] = []
        find, rfind, length = text.find, text.rfind, len(text)
        position = tried = 0
        sample = self._sample
        while (found := find(literal, position)) >= 0:
            start = rfind("\n", position, found) + 1 or position
            end = find("\n", found)
            if end < 0:
                end = length
            if search(text, start, end):
                places.append((start, end))
            position = end + 1
            tried += 1
            if tried >= sample:
                sample *= 2
                self.budget.step(_SAMPLE // 8)
                if len(places) >= _SAMPLE and self._is_dense(text, places):
                    return places + self._places_of_lines(text, position)
        self.budget.step(tried // 8 + 1)
        return places

    def _jump(self, text: str, search: Callable[[str, int], object]) -> list[tuple[int, int]]:
        places: list[tuple[int, int]] = []
        find, rfind, length = text.find, text.rfind, len(text)
        position = 0
        sample = self._sample
        while position <= length and (found := search(text, position)):
            first = found.start()  # type: ignore[attr-defined]
            start = rfind("\n", position, first) + 1 or position
            end = find("\n", first)
            if end < 0:
                end = length
            places.append((start, end))
            position = end + 1
            if len(places) >= sample:
                sample *= 2
                self.budget.step(_SAMPLE // 8)
                if self._is_dense(text, places):
                    return places + self._places_of_lines(text, position)
        self.budget.step(len(places) // 8 + 1)
        return places

    def _jump_lines(self, text: str, pattern: Pattern[str]) -> list[tuple[int, int]]:
        """Return the same as `_jump`, for a pattern whose matches reach to the end of the line."""
        places: list[tuple[int, int]] = []
        rfind = text.rfind
        sample = self._sample
        for match in pattern.finditer(text):
            start, end = match.span()
            places.append((rfind("\n", 0, start) + 1, end))
            if len(places) >= sample:
                sample *= 2
                self.budget.step(_SAMPLE // 8)
                if self._is_dense(text, places, _MOST):
                    return places + self._places_of_lines(text, end + 1)
        self.budget.step(len(places) // 8 + 1)
        return places

    def _jump_prefixed(
        self, haystack: str, patterns: Sequence[Pattern[str]]
    ) -> list[tuple[int, int]]:
        """Return the same as `_jump_lines`, for several patterns."""
        found: list[list[tuple[int, int]]] = []
        for pattern in patterns:
            places: list[tuple[int, int]] = []
            start = 0
            for match in pattern.finditer(haystack):
                begin, end = match.span()
                start = haystack.rfind("\n", start, begin) + 1 or start
                places.append((start, end))
                start = end + 1
            self.budget.step(len(places) // 8 + 1)
            found.append(places)
        if len(found) > 1:
            return _merged(found)
        if len(found[0]) >= _MANY:
            self._is_dense(haystack, found[0], _MOST)
        return found[0]

    def _is_dense(self, text: str, places: list[tuple[int, int]], share: float = 0.18) -> bool:
        """Whether more than this share of the lines so far match; later blocks remember it."""
        self._sample = min(2 * self._sample, _MANY)
        end = places[-1][1]
        window = min(end, _WINDOW)
        lines = (text.count("\n", end - window, end) + 1) * end / window if window else 1
        self.dense = len(places) > lines * share
        return self.dense

    def _places_of_lines(self, text: str, position: int) -> list[tuple[int, int]]:
        """Return the same as `places`, line by line from `position` on."""
        if position > len(text):
            return []
        lines = (text[position:] if position else text).split(self.end)
        self.budget.step(len(lines) // 16 + 1)
        places: list[tuple[int, int]] = []
        for line, selected in zip(lines, self._flags(lines, text), strict=True):
            end = position + len(line)
            if selected:
                places.append((position, end))
            position = end + 1
        return places

    def _flags(self, lines: list[str], text: str) -> list[object]:
        """Return for each line whether it matches."""
        plain = self.plain
        if len(plain) == 1:
            literal = plain[0]
            return [literal in line for line in lines]
        if len(plain) == 2:
            one, two = plain
            return [one in line or two in line for line in lines]
        search = self._line_function(text)
        if search is not None:
            return list(map(search, lines))
        return [self.test(line) for line in self._counted(lines)]

    def _filter_lines(self, lines: list[str], text: str) -> list[str]:
        if len(self.plain) == 1:
            literal = self.plain[0]
            return [line for line in lines if literal in line]
        if len(self.plain) == 2:
            one, two = self.plain
            return [line for line in lines if one in line or two in line]
        if self.lowered and text.isascii():
            literal = self.lowered
            lows = text.lower().split(self.end)
            return [line for line, low in zip(lines, lows, strict=True) if literal in low]
        search = self._line_function(text)
        if search is not None:
            return list(filter(search, lines))
        return [line for line in self._counted(lines) if self.test(line)]

    def _line_function(self, text: str) -> Callable[[str], object] | None:
        """Return a fast test of a line, if all lines are short enough for it."""
        regex = self.regex
        if not isinstance(regex, PosixRegex) or (self.end == "\n" and regex.has_long_line(text)):
            return None
        if self.perl is not None and not text.isascii():
            return None
        if self.end != "\n" and len(text) > regex.safe_length:
            return None
        return regex.for_text(text).search

    def _counted(self, lines: list[str]) -> Iterator[str]:
        step = self.budget.step
        for line in lines:
            step()
            yield line


def _merged(found: list[list[tuple[int, int]]]) -> list[tuple[int, int]]:
    """Return the places in ascending order, each once."""
    places = [place for places in found for place in places]
    places.sort()
    if any(map(eq, places, islice(places, 1, None))):
        return sorted(set(places))
    return places


def _rarest(literal: str) -> int:
    """Return the index of the rarest character of a text."""
    return max(
        range(min(len(literal), _EXAMINED)),
        key=lambda at: _BY_FREQUENCY.find(literal[at]) % (len(_BY_FREQUENCY) + 1),
    )
