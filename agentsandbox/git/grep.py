"""The expressions and the output of `git grep`.

An expression is a tree of patterns (--and, --or, --not, parentheses). Each pattern is searched in a
whole content, which yields the set of its lines; the tree combines sets. So the fast search for
blocks of lines serves every form, and a file without the text of a pattern costs one `find`.
"""

from __future__ import annotations

from agentsandbox.git.errors import Fatal
from agentsandbox.kernel.regexps import RegexError
from agentsandbox.kernel.regexps.lines import LineSearch, compile_search
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentsandbox.git.diff.hunks import FindFunction
    from agentsandbox.git.invocation import Invocation

_RESET = b"\x1b[m"
_COLORS = {
    "filename": b"\x1b[35m", "linenumber": b"\x1b[32m", "column": b"\x1b[32m",
    "match": b"\x1b[1;31m", "separator": b"\x1b[36m",
}  # fmt: skip


class Style:
    """How patterns are read and how matches are printed."""

    def __init__(self) -> None:
        self.matcher = "G"
        self.ignore_case = self.whole_words = self.invert = self.all_match = False
        self.names = True
        self.heading = self.breaks = self.numbers = self.columns = self.nul = False
        self.only_matching = self.color = False
        self.mode = "lines"
        """"lines", "names" (-l), "others" (-L), "count" or "quiet"."""
        self.before = self.after = 0
        self.functions = self.bodies = False
        self.binary = "say"
        """"say" that a binary file matches, "text" or "skip"."""
        self.most = -1


class Text:
    """A content as lines."""

    def __init__(self, data: bytes) -> None:
        self.text = decode(data).removesuffix("\n")
        self._lines: list[str] | None = None

    @property
    def lines(self) -> list[str]:
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines

    def numbers_of(self, search: LineSearch) -> set[int]:
        """Return the numbers, from 0, of the lines that match."""
        found: set[int] = set()
        number = position = 0
        text = self.text
        for start, _ in search.places(text):
            number += text.count("\n", position, start)
            position = start
            found.add(number)
        return found


class Atom:
    """Patterns of which a line has at least one."""

    def __init__(self, search: LineSearch) -> None:
        self.search = search

    def select(self, text: Text) -> set[int]:
        return text.numbers_of(self.search)

    def searches(self) -> Iterator[LineSearch]:
        yield self.search


class Combined:
    """Two parts of an expression, or one that is negated."""

    def __init__(self, kind: str, parts: list[Atom | Combined]) -> None:
        self.kind = kind
        self.parts = parts

    def select(self, text: Text) -> set[int]:
        sets = [part.select(text) for part in self.parts]
        if self.kind == "and":
            return sets[0].intersection(*sets[1:])
        if self.kind == "or":
            return sets[0].union(*sets[1:])
        return set(range(len(text.lines))) - sets[0]

    def searches(self) -> Iterator[LineSearch]:
        for part in self.parts:
            yield from part.searches()


Expression = Atom | Combined


class ExpressionParser:
    """Reads the options of an expression: ("e", pattern), ("and", ""), ("not", ""), "(" and ")"."""

    def __init__(self, git: Invocation, style: Style, tokens: list[tuple[str, str, str]]) -> None:
        self.git = git
        self.style = style
        self.tokens = tokens
        """(kind, pattern, where it comes from)."""
        self.at = 0

    def parse(self) -> Expression:
        """Return the expression; Fatal for one that is not complete."""
        if all(kind == "e" for kind, _, _ in self.tokens):
            return self._simple()
        depth = 0
        for kind, _, _ in self.tokens:
            depth += {"(": 1, ")": -1}.get(kind, 0)
        if self._next() == "and":
            raise Fatal("--and not preceded by pattern expression")
        if depth > 0:
            raise Fatal("unmatched parenthesis")
        found = self._or()
        if found is None or self.at < len(self.tokens):
            _, pattern, _ = self.tokens[min(self.at, len(self.tokens) - 1)]
            raise Fatal(f"incomplete pattern expression group: {pattern}")
        return found

    def terms(self) -> list[Expression]:
        """Return the parts of which every file must have a line (--all-match)."""
        found: list[Expression] = []
        self.at = 0
        while self.at < len(self.tokens):
            term = self._and()
            if term is None:
                break
            found.append(term)
        return found

    def _simple(self) -> Expression:
        """Return a choice of patterns, joined to one search where that is possible."""
        patterns = [pattern for _, pattern, _ in self.tokens]
        if self.style.matcher == "P" and len(patterns) > 1:
            return Combined("or", [self._atom([each], origin) for _, each, origin in self.tokens])
        if len(patterns) > 1:
            for _, each, origin in self.tokens:
                self._atom([each], origin)  # which checks them one by one
        return self._atom(patterns, self.tokens[0][2])

    def _atom(self, patterns: list[str], origin: str) -> Atom:
        style = self.style
        try:
            return Atom(
                compile_search(
                    patterns,
                    style.matcher,
                    self.git.budget,
                    ignore_case=style.ignore_case,
                    whole_words=style.whole_words,
                )
            )
        except RegexError as error:
            raise Fatal(f"{origin}, '{patterns[-1]}': {error}") from None

    def _next(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def _or(self) -> Expression | None:
        parts: list[Atom | Combined] = []
        while self._next() not in ("", ")"):
            part = self._and()
            if part is None:
                break
            parts.append(part)
        if not parts:
            return None
        return parts[0] if len(parts) == 1 else Combined("or", parts)

    def _and(self) -> Expression | None:
        parts: list[Atom | Combined] = []
        while True:
            part = self._not()
            if part is None:
                if parts:
                    raise Fatal("--and not followed by pattern expression")
                return None
            parts.append(part)
            if self._next() != "and":
                return parts[0] if len(parts) == 1 else Combined("and", parts)
            self.at += 1

    def _not(self) -> Expression | None:
        if self._next() != "not":
            return self._single()
        self.at += 1
        if not self._next():
            raise Fatal("--not not followed by pattern expression")
        part: Expression | None = self.git.budget.nested(self._not)
        if part is None:
            raise Fatal("--not followed by non pattern expression")
        return Combined("not", [part])

    def _single(self) -> Expression | None:
        kind = self._next()
        if kind == "e":
            _, pattern, origin = self.tokens[self.at]
            self.at += 1
            return self._atom([pattern], origin)
        if kind != "(":
            return None
        self.at += 1
        found: Expression | None = self.git.budget.nested(self._or)
        if found is None or self._next() != ")":
            raise Fatal("unmatched parenthesis")
        self.at += 1
        return found


class GrepPrinter:
    """Searches contents one after the other and prints what is found."""

    def __init__(
        self, git: Invocation, style: Style, expression: Expression, terms: list[Expression],
        driver: Callable[[bytes], tuple[bool | None, FindFunction]],
    ) -> None:  # fmt: skip
        self.git = git
        self.style = style
        self.expression = expression
        self.terms = terms
        self.driver = driver
        self.searches = list(expression.searches())
        self.needle = (
            self.searches[0].needle
            if isinstance(expression, Atom) and not style.invert and style.mode != "others"
            else b""
        )
        self.marks = style.before or style.after or style.breaks or style.bodies
        self.shown_any = False
        """Whether a line of an earlier content was printed."""
        self.last = 0
        self.name = b""
        self.text = Text(b"")

    def show(self, name: bytes, path: bytes, data: bytes) -> bool:
        """Search a content, print what is found, and return whether something was."""
        # long: the forms of the output, in git's order
        self.git.budget.step(1 + len(data) // 4096)
        if self.needle and self.needle not in data:
            return False
        style, write = self.style, self.git.write
        binary, find = self.driver(path)
        if binary is None:
            binary = b"\0" in data[:8000]
        if binary and style.binary == "skip":
            return False
        self.name, self.find, self.last = name, find, 0
        self.text = text = Text(data)
        found = self.expression.select(text) if data else set()
        if style.all_match and not all(term.select(text) for term in self.terms):
            found = set()
        if style.invert:
            found = set(range(len(text.lines) if data else 0)) - found
        end = b"\0" if style.nul else b"\n"
        if style.mode == "others":
            if not found:
                write(self._colored("filename", name) + end)
            return not found
        if style.most >= 0 and len(found) > style.most:
            found = set(sorted(found)[: style.most])
        if not found:
            return False
        if style.mode == "names":
            write(self._colored("filename", name) + end)
        elif style.mode == "count":
            head = b""
            if style.names:
                head = self._colored("filename", name) + (b"\0" if style.nul else self._mark(b":"))
            write(head + b"%d\n" % len(found))
        elif style.mode == "lines" and binary and style.binary == "say":
            write(b"Binary file " + self._colored("filename", name) + b" matches\n")
        elif style.mode == "lines":
            self._lines(sorted(found))
            self.shown_any = self.shown_any or self.last > 0
        return True

    def _colored(self, kind: str, data: bytes) -> bytes:
        return _COLORS[kind] + data + _RESET if self.style.color and data else data

    def _mark(self, sign: bytes) -> bytes:
        return self._colored("separator", sign)

    # lines

    def _begins_function(self, number: int) -> bool:
        return self.find(encode(self.text.lines[number])) is not None

    def _lines(self, found: list[int]) -> None:
        """Print the lines that were found, with their context."""
        style, lines = self.style, self.text.lines
        for place, number in enumerate(found):
            self.git.budget.step()
            if style.before or style.bodies:
                self._context_before(number)
            elif style.functions:
                self._function_before(number)
            self._line(number, b":")
            following = found[place + 1] if place + 1 < len(found) else len(lines)
            self._context_after(number, following)

    def _context_after(self, number: int, following: int) -> None:
        style, lines = self.style, self.text.lines
        in_body = style.bodies
        peeked = -1
        for at in range(number + 1, following):
            if not in_body and at > number + style.after:
                return
            self.git.budget.step()
            if in_body and peeked < at:
                peeked = at
                while peeked < len(lines) and not lines[peeked].strip():
                    peeked += 1
                if peeked >= len(lines) or self._begins_function(peeked):
                    in_body = False
            if in_body or at <= number + style.after:
                self._line(at, b"-")

    def _context_before(self, number: int) -> None:
        style = self.style
        start = max(number - style.before, self.last)
        first = start
        wants_function, wants_comment, function = style.functions, False, -1
        if style.bodies:
            if self._begins_function(number):
                wants_comment = True
            else:
                wants_function = True
            start = self.last
        here = number
        while here > start:
            self.git.budget.step()
            here -= 1
            if wants_comment and (not self.text.lines[here].strip() or self._begins_function(here)):
                wants_comment = False
                start = first
                if here < start:
                    here += 1
                    break
            if wants_function and self._begins_function(here):
                function, wants_function = here, False
                if style.bodies:
                    wants_comment = True
                else:
                    start = first
        if style.functions and wants_function:
            self._function_before(here)
        for at in range(here, number):
            self._line(at, b"=" if at == function else b"-")

    def _function_before(self, number: int) -> None:
        for at in range(number - 1, self.last - 1, -1):
            self.git.budget.step()
            if self._begins_function(at):
                self._line(at, b"=")
                return

    def _line(self, number: int, sign: bytes) -> None:
        style, write = self.style, self.git.write
        if style.breaks and not self.last:
            if self.shown_any:
                write(b"\n")
        elif style.before or style.after or style.bodies:
            if (not self.last and self.shown_any) or (self.last and number > self.last):
                write(self._mark(b"--") + b"\n")
        line = self.text.lines[number]
        only_matches = style.only_matching and not style.invert
        column = 0
        if style.columns and sign == b":" and not style.invert:
            column = self._column(line)
        if not only_matches:
            self._head(number, column, sign)
            if not style.color or sign != b":":
                write(encode(line) + b"\n")
                return
        position = 0
        for start, end in self._spans(line) if sign == b":" and not style.invert else ():
            if only_matches:
                self._head(number, column, sign)
                write(self._colored("match", encode(line[start:end])) + b"\n")
            else:
                matched = self._colored("match", encode(line[start:end]))
                write(encode(line[position:start]) + matched)
            if column:
                column += len(encode(line[position:end]))
            position = end
        if not only_matches:
            write(encode(line[position:]) + b"\n")

    def _head(self, number: int, column: int, sign: bytes) -> None:
        style, write = self.style, self.git.write
        if style.heading and not self.last:
            write(self._colored("filename", self.name) + b"\n")
        self.last = number + 1
        if style.names and not style.heading:
            write(self._colored("filename", self.name))
            write(b"\0" if style.nul else self._mark(sign))
        if style.numbers:
            write(self._colored("linenumber", b"%d" % (number + 1)) + self._mark(sign))
        if column:
            write(self._colored("column", b"%d" % column) + self._mark(sign))

    def _column(self, line: str) -> int:
        starts = [
            found.start()
            for search in self.searches
            for regex in search.regexes
            if (found := regex.search(line, 0, self.git.budget)) is not None
        ]
        return len(encode(line[: min(starts)])) + 1 if starts else 1

    def _spans(self, line: str) -> Iterator[tuple[int, int]]:
        """Yield the matches, up to an empty one."""
        if len(self.searches) == 1:
            yield from self.searches[0].spans(line)
            return
        regexes = [regex for search in self.searches for regex in search.regexes]
        yield from LineSearch(regexes, [], self.git.budget).spans(line)
