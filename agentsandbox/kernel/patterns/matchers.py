"""Shell patterns (POSIX 2.13, bash's extglob) as compiled matchers.

In a pattern a backslash quotes the next character; text that a script quoted arrives here quoted
so. There are four kinds, each with its own means (`ShellPattern`):

* no wildcards: a comparison of texts (`literal`);
* a short pattern: a Python regular expression (`translate`). Each star but the last is atomic and
  lazy, so that nothing backtracks: the first place of a piece is as good as any other;
* a long pattern: its pieces between the stars, found one after the other (`wildcards.Stars`);
* an extended pattern, with ?( *( +( @( !( : a machine over sets of positions (`ExtendedPattern`).
  A position is a place in the text that the elements so far can reach; since a set holds each place
  once, the time is bounded by the length of the text times that of the pattern.

Functions take `step`, the method of a budget; without it, `Patience` sets a limit.
"""

from __future__ import annotations

import functools
import re

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.patterns.wildcards import Stars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Step = Callable[[int], None]
    Element = re.Pattern[str] | None | tuple[str, list[list["Element"]] | re.Pattern[str]]

CLASSES = {
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"!-~\xa1-\U0010ffff",
    "print": r" -~\xa0-\U0010ffff",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\s",
    "word": r"\w",
    "xdigit": "0-9A-Fa-f",
}
WIDE_CLASSES = {
    "alnum": r"[^\W_]",
    "alpha": r"[^\W\d_]",
    "lower": "(?-i:[a-zß-öø-ÿ])",  # also if case is ignored
    "upper": "(?-i:[A-ZÀ-ÖØ-Þ])",
}
"""Classes that need a regular expression of their own."""
_SPECIAL = frozenset("*?[\\")
MAX_PATTERN = 16384
"""The largest length of a pattern with operators."""
SHORT = 512
"""The largest length of a pattern in a cache: the caches belong to no sandbox and stay small."""
_MISCOUNTED = lazily(r"(?<!\\)\[(?:[!^]\]|\[:[^]]*\Z)")
EXTENDED = lazily(r"[?*+@!]\(")


class ShellPattern:
    """A compiled pattern, for `case`, ${x#…} (`prefix_end`), ${x%…} (`suffix_start`) and ${x/…}."""

    __slots__ = ("_regex", "_stars", "extended", "flags", "literal", "source")

    def __init__(self, source: str, flags: int, literal: str | None, extended: bool) -> None:
        self.source = source
        self.flags = flags
        self.literal = literal
        self.extended = extended
        self._stars: Stars | None = None
        self._regex: re.Pattern[str] | None = None
        if not extended and literal is None and len(source) <= SHORT:
            self._regex = re.compile(translate(source, extglob=False), flags)

    @property
    def stars(self) -> Stars:
        """The pattern as pieces between stars."""
        if self._stars is None:
            self._stars = Stars(_Translator(self.source, False, False).pieces(), self.flags)
        return self._stars

    def match(self, text: str, step: Step | None = None) -> bool:
        """Whether the pattern matches all of `text`."""
        if self.literal is not None:
            return text == self.literal
        if self._regex is not None:
            return self._regex.fullmatch(text) is not None
        self._draw(step)
        if self.extended:
            machine = ExtendedPattern.of(self.source, self.flags)
            return len(text) in machine.ends(text, 0, step or Patience())
        return self.stars.match(text)

    def _draw(self, step: Step | None) -> None:
        """Count the steps of a long pattern, which is compiled for each use."""
        if step is not None and len(self.source) > SHORT:
            step(len(self.source) >> 2)

    def is_miscounted(self) -> bool:
        """Whether ${x/…} never matches, because bash miscounts a bracket expression."""
        if self.extended or "*" in self.source:
            return False
        return _MISCOUNTED.search(self.source) is not None

    def spans(self, text: str, step: Step | None = None) -> Iterator[tuple[int, int]]:
        """Yield each longest match from left to right; only extended patterns match empty text."""
        self._draw(step)
        if not self.extended:
            yield from self.stars.spans(text)
            return
        pattern, step = ExtendedPattern.of(self.source, self.flags), step or Patience()
        start = 0
        while start < len(text):
            ends = pattern.ends(text, start, step)
            end = start
            if ends:
                end = ends[-1] if isinstance(ends, range) else max(ends)
                yield start, end
            start = max(end, start + 1)

    def prefix_end(self, text: str, *, longest: bool, step: Step | None = None) -> int:
        """Return the end of the shortest or longest prefix that matches, or -1."""
        if self.literal is not None:
            return len(self.literal) if text.startswith(self.literal) else -1
        self._draw(step)
        if self.extended:
            ends = ExtendedPattern.of(self.source, self.flags).ends(text, 0, step or Patience())
            if isinstance(ends, range):
                return -1 if not ends else ends[-1] if longest else ends[0]
            return (max if longest else min)(ends, default=-1)
        return self.stars.prefix_end(text, longest=longest)

    def suffix_start(self, text: str, *, longest: bool, step: Step | None = None) -> int:
        """Return the start of the shortest or longest suffix that matches, or -1."""
        if self.literal is not None:
            return len(text) - len(self.literal) if text.endswith(self.literal) else -1
        self._draw(step)
        if self.extended:
            pattern, step = ExtendedPattern.of(self.source, self.flags), step or Patience()
            starts = range(len(text) + 1) if longest else range(len(text), -1, -1)
            return next(
                (start for start in starts if len(text) in pattern.ends(text, start, step)), -1
            )
        return self.stars.suffix_start(text, longest=longest)


MAX_STEPS = 500_000
"""The steps that one use of an extended pattern may take without a budget."""


MAX_TEXT = 1 << 20
"""The longest text for a pattern with several extended operators, which keeps sets of positions."""


class Patience:
    """A `step` without a budget: it ends the script after `MAX_STEPS`."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MAX_STEPS

    def __call__(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise LimitReached("steps", "the pattern takes too long to match")


# TM-TIME-3
class ExtendedPattern:
    """A pattern with ?( *( +( @( !( as a machine over sets of positions.

    An element is a regular expression for one character, None for `*`, or (operator, alternatives).
    If all alternatives of `*(` or `+(` are single characters, they are one regular expression for a
    run of them.
    """

    __slots__ = ("sequence",)

    def __init__(self, sequence: list[Element]) -> None:
        self.sequence = sequence

    @staticmethod
    def of(source: str, flags: int) -> ExtendedPattern:
        """Return the machine of a pattern."""
        return (_cached_machine if len(source) <= SHORT else _make_machine)(source, flags)

    def ends(self, text: str, start: int, step: Step) -> set[int] | range:
        """Return all ends of matches that begin at `start`."""
        if len(self.sequence) == 1 and isinstance(self.sequence[0], tuple):
            operator, run = self.sequence[0]
            if not isinstance(run, list):
                match = run.match(text, start)
                assert match is not None
                step(1 + ((match.end() - start) >> 6))
                return range(start + (operator == "+"), match.end() + 1)
        if len(text) - start > MAX_TEXT:
            raise LimitReached("value_bytes", "the text is too long for such a pattern")
        return _run(self.sequence, text, {start}, step)


def _make_machine(source: str, flags: int) -> ExtendedPattern:
    if len(source) > MAX_PATTERN // 4:
        raise LimitReached("value_bytes", "the pattern is too long")
    return ExtendedPattern(_ElementReader(source, flags).sequence(""))


_cached_machine = functools.lru_cache(maxsize=512)(_make_machine)


def _run(sequence: list[Element], text: str, positions: set[int], step: Step) -> set[int]:
    for element in sequence:
        if not positions:
            break
        step(1 + len(positions))
        if element is None:
            low = min(positions)
            step((len(text) - low) >> 4)
            positions = set(range(low, len(text) + 1))
        elif isinstance(element, tuple):
            operator, alternatives = element
            if isinstance(alternatives, list):
                positions = _extended(operator, alternatives, text, positions, step)
            else:
                positions = _run_on(operator, alternatives, text, positions, step)
        else:
            match = element.match
            positions = {
                found.end()
                for position in positions
                if (found := match(text, position)) is not None
            }
    return positions


def _run_on(
    operator: str, run: re.Pattern[str], text: str, positions: set[int], step: Step
) -> set[int]:
    result: set[int] = set()
    end = -1
    for position in sorted(positions):
        if position > end:  # otherwise the run before covers it
            match = run.match(text, position)
            assert match is not None
            end = match.end()
            step((end - position) >> 4)
            result.update(range(position + 1, end + 1))
    return result if operator == "+" else result | positions


def _extended(
    operator: str, alternatives: list[list[Element]], text: str, positions: set[int], step: Step
) -> set[int]:
    if operator == "!":
        result: set[int] = set()
        for position in positions:
            step(1 + ((len(text) - position) >> 4))
            result |= set(range(position, len(text) + 1)) - _either(
                alternatives, text, {position}, step
            )
        return result
    reached = _either(alternatives, text, positions, step)
    if operator == "@":
        return reached
    if operator == "?":
        return positions | reached
    total = reached | positions if operator == "*" else set(reached)
    frontier = reached
    while frontier:
        step(1)
        frontier = _either(alternatives, text, frontier, step) - total
        total |= frontier
    return total


def _either(
    alternatives: list[list[Element]], text: str, positions: set[int], step: Step
) -> set[int]:
    result: set[int] = set()
    for alternative in alternatives:
        result |= _run(alternative, text, positions, step)
    return result


class _ElementReader:
    """A reader that splits an extended pattern into elements."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.translator = _Translator(pattern, False, False)
        self.pattern = pattern
        self.flags = flags & ~re.UNICODE
        self.closes = _Translator(pattern, False, True)._closes
        self.depth = 0

    def sequence(self, stop: str) -> list[Element]:
        """Read elements up to a character of `stop`."""
        elements: list[Element] = []
        reader = self.translator
        pattern = self.pattern
        nested = 0  # parentheses that are text
        while reader.position < len(pattern):
            char = pattern[reader.position]
            if char in stop and not nested:
                break
            group = char in "?*+@!" and pattern.startswith("(", reader.position + 1)
            if group and self.closes(reader.position + 1):
                reader.position += 2
                elements.append((char, self._simple_run(char, self._alternatives())))
                continue
            if stop:
                nested += (char == "(") - (char == ")")
            reader.position += 1
            if char == "*":
                elements.append(None)
            else:
                elements.append(re.compile(self._one(char), self.flags))
        return elements

    def _one(self, char: str) -> str:
        reader = self.translator
        if char == "?":
            return "."
        if char == "[":
            return reader._bracket()
        if char == "\\":
            following = self.pattern[reader.position : reader.position + 1]
            reader.position += 1
            return re.escape(following) if following else r"\\"
        return re.escape(char)

    def _simple_run(
        self, operator: str, alternatives: list[list[Element]]
    ) -> list[list[Element]] | re.Pattern[str]:
        if operator not in "*+":
            return alternatives
        single: list[str] = []
        for alternative in alternatives:
            if len(alternative) != 1 or not isinstance(alternative[0], re.Pattern):
                return alternatives
            single.append(alternative[0].pattern)
        return re.compile(f"(?:{'|'.join(single)})*", self.flags)

    def _alternatives(self) -> list[list[Element]]:
        self.depth += 1
        if self.depth > 50:
            raise LimitReached("depth", "the pattern nests too deeply")
        alternatives: list[list[Element]] = []
        while True:
            alternatives.append(self.sequence("|)"))
            ended = self.pattern[self.translator.position : self.translator.position + 1] != "|"
            self.translator.position += 1
            if ended:
                self.depth -= 1
                return alternatives


def compile_shell_pattern(
    pattern: str, ignore_case: bool = False, extglob: bool = True
) -> ShellPattern:
    """Return a pattern of `case`, [[ == ]] or ${x#…}."""
    make = _cached_pattern if len(pattern) <= SHORT else _compile_pattern
    return make(pattern, ignore_case, extglob)


def _compile_pattern(pattern: str, ignore_case: bool, extglob: bool) -> ShellPattern:
    literal = None
    extended = extglob and "(" in pattern and EXTENDED.search(pattern) is not None
    if not ignore_case and not extended:
        literal = _literal(pattern)
    if literal is None and len(pattern) > MAX_PATTERN:
        raise LimitReached("value_bytes", "the pattern is too long")
    flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
    return ShellPattern(pattern, flags, literal, extended)


def _literal(pattern: str) -> str | None:
    """Return the text that a pattern without operators matches; None for any other pattern.

    Everything is a search or replacement in C: a pattern may have millions of characters.
    """
    if "\\" not in pattern:
        return None if "*" in pattern or "?" in pattern or "[" in pattern else pattern
    pieces = pattern.split("\\\\")  # a run of backslashes begins with a quoting one: pairs match
    if pieces[-1].endswith("\\"):
        return None
    for operator in "*?[":
        if sum([piece.count(operator) for piece in pieces]) > sum(
            [piece.count(f"\\{operator}") for piece in pieces]
        ):
            return None
    return "\\".join([piece.replace("\\", "") for piece in pieces])


_cached_pattern = functools.lru_cache(maxsize=2048)(_compile_pattern)


def translate(
    pattern: str, *, pathname: bool = False, period: bool = False, extglob: bool = True
) -> str:
    """Return the pattern as a Python regular expression without anchors."""
    if len(pattern) > (MAX_PATTERN // 4 if extglob and EXTENDED.search(pattern) else MAX_PATTERN):
        raise LimitReached("value_bytes", "the pattern is too long")
    return _Translator(pattern, pathname, extglob).translate(period)


_UNCLOSED = 100
"""The number of unclosed brackets that are searched to the end; all others are plain text."""


class _Translator:
    def __init__(self, pattern: str, pathname: bool, extglob: bool) -> None:
        self.pattern = pattern
        self.unclosed = 0
        self.position = 0
        self.any = "[^/]" if pathname else "."
        self.pathname = pathname
        self.extglob = extglob
        self.depth = 0
        self.last_close = pattern.rfind("]")

    def translate(self, period: bool) -> str:
        prefix = r"(?!\.)" if period and not self.pattern.startswith((".", "\\.")) else ""
        return prefix + self._sequence("")

    def _sequence(self, stop: str) -> str:
        """Translate up to an unquoted character of `stop`."""
        pieces, simple = self._pieces(stop)
        return self._join(["".join(piece) for piece in pieces], simple and not stop)

    def pieces(self) -> list[list[str]]:
        """Return the pieces between the stars, with a regular expression for each character."""
        return self._pieces("")[0]

    def _pieces(self, stop: str) -> tuple[list[list[str]], bool]:
        pieces: list[list[str]] = []
        fixed: list[str] = []
        simple = True
        nested = 0  # parentheses that are text
        pattern, size = self.pattern, len(self.pattern)
        while self.position < size:
            char = pattern[self.position]
            if char in stop and not nested:
                break
            following = pattern[self.position + 1 : self.position + 2]
            group = self.extglob and following == "(" and char in "?*+@!"
            if group and self._closes(self.position + 1):
                fixed.append(self._extended(char))
                simple = False
                continue
            if stop:
                nested += (char == "(") - (char == ")")
            self.position += 1
            if char == "*":
                pieces.append(fixed)
                fixed = []
            elif char == "?":
                fixed.append(self.any)
            elif char == "[":
                fixed.append(self._bracket())
            elif char == "\\":
                fixed.append(re.escape(following) if following else r"\\")
                self.position += 1
            else:
                fixed.append(re.escape(char))
        pieces.append(fixed)
        return pieces, simple

    def _join(self, pieces: list[str], atomic: bool) -> str:
        first, *rest = pieces
        if not rest:
            return first
        star = f"{self.any}*"
        if not atomic:
            return first + "".join(star + piece for piece in rest if piece or piece is rest[-1])
        *middle, last = rest
        found = "".join(f"(?>{self.any}*?{piece})" for piece in middle if piece)
        return f"{first}{found}{star}{last}"

    def _closes(self, start: int) -> bool:
        """Whether the parenthesis at `start` is closed."""
        depth = 0
        position = start
        while position < len(self.pattern):
            char = self.pattern[position]
            if char == "\\":
                position += 1
            elif char == "(":
                depth += 1
            elif char == ")":
                depth -= 1
                if not depth:
                    return True
            position += 1
        return False

    def _extended(self, operator: str) -> str:
        self.position += 2
        self.depth += 1
        if self.depth > 50:
            raise LimitReached("depth", "the pattern nests too deeply")
        alternatives: list[str] = []
        while True:
            alternatives.append(self._sequence("|)"))
            ended = self.pattern[self.position : self.position + 1] != "|"
            self.position += 1
            if ended:
                break
        self.depth -= 1
        body = "|".join(alternatives)
        if operator == "!":
            rest_start = self.position
            rest = self._peek_rest()
            self.position = rest_start
            return f"(?:(?!(?:{body}){rest}){self.any}*)"
        return f"(?:{body})" + {"@": "", "?": "?", "*": "*", "+": "+"}[operator]

    def _peek_rest(self) -> str:
        """Return what follows a !(…): the alternatives must not match with it behind them."""
        inner = _Translator(self.pattern, self.pathname, self.extglob)
        inner.position = self.position
        inner.depth = self.depth + 1
        if inner.depth > 10:
            return r"\Z"
        rest = inner._sequence(")|" if self.depth else "")
        return rest + (r"\Z" if not self.depth else "")

    def _bracket(self) -> str:
        """Translate a bracket expression; the position is behind "["."""
        # long: one pass over the characters of a bracket expression
        pattern = self.pattern
        if self.position > self.last_close or self.unclosed > _UNCLOSED:
            return re.escape("[")
        start = self.position
        position = start
        negated = pattern[position : position + 1] in ("!", "^") and position < len(pattern)
        if negated:
            position += 1
        items: list[str] = []
        classes: list[str] = []
        wide: list[str] = []
        first = True
        range_of = ""
        while True:
            char = pattern[position : position + 1]
            if not char or (char == "/" and self.pathname):
                self.unclosed += 1
                return re.escape("[")  # an unclosed bracket is plain text
            if char == "]" and not first:
                position += 1
                break
            first = False
            if char == "[" and pattern[position + 1 : position + 2] in (":", "=", "."):
                kind = pattern[position + 1]
                end = pattern.find(kind + "]", position + 2)
                if end >= 0:
                    name = pattern[position + 2 : end]
                    position = end + 2
                    if kind == ":":
                        if name in WIDE_CLASSES:
                            wide.append(WIDE_CLASSES[name])
                        elif name in CLASSES:
                            classes.append(CLASSES[name])
                        continue
                    char = name if kind == "=" else COLLATING.get(name, name)
                    if len(char) != 1:  # no such symbol
                        items.append("")
                        continue
                    if not pattern.startswith("-", position):
                        items.append(_escape_item(char))
                        continue
                    position -= 1
                    range_of = char
            if range_of:
                char, range_of = range_of, ""
            elif char == "\\" and position + 1 < len(pattern):
                position += 1
                char = pattern[position]
            position += 1
            following = pattern[position + 1 : position + 2]
            if pattern.startswith("-", position) and following not in ("]", ""):
                high, position = _range_end(pattern, position + 1)
                if char <= high:
                    items.append(f"{_escape_item(char)}-{_escape_item(high)}")
                continue
            items.append(_escape_item(char))
        self.position = position
        inside = "".join(items) + "".join(classes)
        if wide:
            either = "|".join([f"[{inside}]", *wide] if inside else wide)
            return f"(?!{either}){self.any}" if negated else f"(?:{either})"
        if not inside:
            return self.any if negated else r"(?!)"
        slash = "/" if self.pathname and negated else ""
        body = f"[{'^' if negated else ''}{inside}{slash}]"
        return f"(?!/){body}" if self.pathname and not negated else body


COLLATING = {
    name: chr(int(code))
    for name, _, code in (
        entry.partition("=")
        for entry in """
    NUL=0 SOH=1 STX=2 ETX=3 EOT=4 ENQ=5 ACK=6 alert=7 BS=8 backspace=8 HT=9 tab=9 LF=10
    newline=10 VT=11 vertical-tab=11 FF=12 form-feed=12 CR=13 carriage-return=13 SO=14 SI=15
    DLE=16 DC1=17 DC2=18 DC3=19 DC4=20 NAK=21 SYN=22 ETB=23 CAN=24 EM=25 SUB=26 ESC=27
    IS4=28 FS=28 IS3=29 GS=29 IS2=30 RS=30 IS1=31 US=31 space=32 exclamation-mark=33
    quotation-mark=34 number-sign=35 dollar-sign=36 percent-sign=37 ampersand=38
    apostrophe=39 left-parenthesis=40 right-parenthesis=41 asterisk=42 plus-sign=43 comma=44
    hyphen=45 hyphen-minus=45 minus=45 dash=45 period=46 full-stop=46 slash=47 solidus=47
    zero=48 one=49 two=50 three=51 four=52 five=53 six=54 seven=55 eight=56 nine=57 colon=58
    semicolon=59 less-than-sign=60 equals-sign=61 greater-than-sign=62 question-mark=63
    commercial-at=64 left-square-bracket=91 backslash=92 reverse-solidus=92
    right-square-bracket=93 circumflex=94 circumflex-accent=94 underscore=95 grave-accent=96
    left-brace=123 left-curly-bracket=123 vertical-line=124 right-brace=125
    right-curly-bracket=125 tilde=126 DEL=127
    """.split()
    )
}
"""Characters by the names of POSIX 6.1, as in [[.hyphen.]]."""


def _range_end(pattern: str, position: int) -> tuple[str, int]:
    """Return the last character of a range, which is at `position`, and the position behind it."""
    high = pattern[position]
    if high == "\\" and position + 1 < len(pattern):
        position += 1
        high = pattern[position]
    elif pattern.startswith("[.", position):
        end = pattern.find(".]", position)
        if end >= 0:
            name = pattern[position + 2 : end]
            high = COLLATING.get(name, name) or high
            position = end + 1
    return high, position + 1


def _escape_item(char: str) -> str:
    if len(char) != 1:
        return char[:1]
    return "\\" + char if char in r"\]^-[&~|" else re.escape(char)
