"""The parser of POSIX basic and extended regular expressions, with GNU's extensions.

One pass over the pattern builds the tree, with a stack of open groups (`_Level`), so that nesting
takes no recursion. GNU's tools give one parser different switches (`re_set_syntax`); the tables
`_EXTENDED` and `_BASIC` have them for each dialect. Messages are those of regcomp.
"""

from __future__ import annotations

from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.regexps.limits import MAX_LENGTH, RegexError
from agentsandbox.kernel.regexps.tree import (
    CLASS_NAMES,
    Alternation,
    Assertion,
    BackReference,
    CharSet,
    Concatenation,
    Group,
    Node,
    Repeat,
)

MAX_NESTING = 100
MAX_REPEAT = 32767
MAX_SIZE = 1_000_000
_MANY = 12

_TOO_BIG = "Regular expression too big"
_UNMATCHED_BRACKET = "Unmatched [, [^, [:, [., or [="
_SED_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_AWK_ESCAPES = {**_SED_ESCAPES, "b": "\b"}
_INTERVAL = lazily(r"(\d*)(,?)(\d*)")


class Syntax:
    """The switches of a dialect.

    `leading`        the meaning of `*` without anything to repeat: "literal", "error", "drop".
    `bad_interval`   whether `{` is an ordinary character if no interval follows.
    `lone_close`     whether `)` is an ordinary character if no group is open.
    `double`         whether `a**` is allowed in a basic expression.
    `escapes`        whose escapes for control characters and codes are known: "", "sed" or "awk".
    `plus`           whether + and ? are operators in a basic expression (emacs).
    """

    __slots__ = ("bad_interval", "double", "escapes", "leading", "lone_close", "plus")

    def __init__(
        self,
        leading: str,
        *,
        bad_interval: bool,
        lone_close: bool,
        double: bool = True,
        escapes: str = "",
        plus: bool = False,
    ) -> None:
        self.leading = leading
        self.bad_interval = bad_interval
        self.lone_close = lone_close
        self.double = double
        self.escapes = escapes
        self.plus = plus


_EXTENDED = {
    "posix": Syntax("error", bad_interval=False, lone_close=True),
    "grep": Syntax("drop", bad_interval=True, lone_close=True),
    "sed": Syntax("error", bad_interval=False, lone_close=False, escapes="sed"),
    "awk": Syntax("literal", bad_interval=True, lone_close=True, escapes="awk"),
}
_BASIC = {
    "posix": Syntax("literal", bad_interval=False, lone_close=False),
    "grep": Syntax("literal", bad_interval=False, lone_close=False),
    "sed": Syntax("literal", bad_interval=False, lone_close=False, double=False, escapes="sed"),
    "emacs": Syntax("literal", bad_interval=True, lone_close=False, plus=True),
}


class Tree:
    """A parsed pattern, with the warnings of GNU's dfa."""

    __slots__ = ("back_references", "groups", "ignore_case", "root", "warnings")

    def __init__(
        self,
        root: Node,
        groups: int,
        warnings: list[str],
        *,
        back_references: bool,
        ignore_case: bool,
    ) -> None:
        self.root = root
        self.groups = groups
        self.back_references = back_references
        self.warnings = warnings
        self.ignore_case = ignore_case


def parse(
    pattern: str,
    *,
    extended: bool,
    dialect: str = "posix",
    ignore_case: bool = False,
    newline_safe: bool = False,
    empty_ranges: bool = False,
) -> Tree:
    """Parse a pattern. Raises `RegexError`."""
    if len(pattern) > MAX_LENGTH:
        raise RegexError(_TOO_BIG)
    table = _EXTENDED if extended else _BASIC
    parser = _Parser(
        pattern, extended, dialect, table.get(dialect, table["posix"]), ignore_case, newline_safe
    )
    parser.empty_ranges = parser.empty_ranges or empty_ranges
    return parser.parse()


def join_trees(trees: list[Tree]) -> Tree:
    """Return the alternation of patterns without back-references."""
    warnings = [warning for tree in trees for warning in tree.warnings]
    groups = sum(tree.groups for tree in trees)
    return Tree(
        Alternation([tree.root for tree in trees]),
        groups,
        warnings,
        back_references=False,
        ignore_case=trees[0].ignore_case,
    )


def bound_tree(tree: Tree, before: str, after: str) -> Tree:
    """Return the pattern between two assertions."""
    inner = tree.root.parts if isinstance(tree.root, Concatenation) else (tree.root,)
    root = Concatenation([Assertion(before), *inner, Assertion(after)])
    return Tree(
        root,
        tree.groups,
        tree.warnings,
        back_references=tree.back_references,
        ignore_case=tree.ignore_case,
    )


def fixed_tree(texts: tuple[str, ...], *, ignore_case: bool) -> Tree:
    """Return a pattern for any of these texts. Many texts make a tree of common prefixes."""

    def literal(character: str) -> Node:
        return CharSet(((ord(character), ord(character)),), ignore_case=ignore_case)

    words = sorted(set(texts))
    if len(words) < _MANY or max(map(len, words)) > MAX_NESTING // 2:
        branches = [_join([literal(character) for character in word]) for word in words]
        return Tree(
            branches[0] if len(branches) == 1 else Alternation(branches),
            0,
            [],
            back_references=False,
            ignore_case=ignore_case,
        )

    def share(group: list[str], depth: int) -> Node:
        optional = len(group[0]) == depth
        if optional:
            group = group[1:]
            if not group:
                return Concatenation([])
        by_first: dict[str, list[str]] = {}
        for word in group:
            by_first.setdefault(word[depth], []).append(word)
        branches = [
            _join([literal(first), share(rest, depth + 1)]) for first, rest in by_first.items()
        ]
        node = branches[0] if len(branches) == 1 else Alternation(branches)
        return Repeat(node, 0, 1) if optional else node

    return Tree(share(words, 0), 0, [], back_references=False, ignore_case=ignore_case)


class _Level:
    """An open group: its complete branches and the parts of the current one.

    `known`  the number of groups that were closed before it began.
    `aside`  the groups in its complete branches: the current branch cannot refer to them.
    """

    __slots__ = ("aside", "branches", "known", "number", "parts")

    def __init__(self, number: int, known: int = 0) -> None:
        self.number = number
        self.known = known
        self.aside: dict[int, Node] = {}
        self.branches: list[Node] = []
        self.parts: list[Node] = []

    def close(self) -> Node:
        last = _join(self.parts)
        if not self.branches:
            return last
        return Alternation([*self.branches, last])


def _join(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Concatenation(parts)


class _Parser:
    """One pass over the pattern with a stack of open groups: nesting costs no recursion."""

    def __init__(
        self,
        pattern: str,
        extended: bool,
        dialect: str,
        syntax: Syntax,
        ignore_case: bool,
        newline_safe: bool,
    ) -> None:
        self.pattern = pattern
        self.position = 0
        self.extended = extended
        self.dialect = dialect
        self.syntax = syntax
        self.ignore_case = ignore_case
        self.newline = self.across = not newline_safe
        """Whether anything may match a newline, and whether `.` and `[^…]` may."""
        self.empty_ranges = dialect == "emacs"
        """Whether ranges such as [z-a] are empty, and not errors."""
        self.levels = [_Level(0)]
        self.groups = 0
        self.closed: dict[int, Node] = {}
        self.back_references = False
        self.warnings: list[str] = []
        self.repeatable = False
        """Whether the last part can be repeated."""
        self.after_repeat = False

    def parse(self) -> Tree:
        pattern = self.pattern
        end = len(pattern)
        while self.position < end:
            character = pattern[self.position]
            if character == "\\":
                self._escape()
            elif character == "[":
                self._add(self._bracket())
            elif character == ".":
                self.position += 1
                self._add(CharSet((), negated=True, newline=self.across))
            elif character == "*":
                self.position += 1
                self._repeat("*", 0, None)
            elif character == "^":
                self._caret()
            elif character == "$":
                self._dollar()
            elif self.extended:
                self._extended(character)
            elif self.syntax.plus and character in "+?":
                self.position += 1
                self._quantify(character)
            else:
                self.position += 1
                self._literal(character)
        if len(self.levels) > 1:
            raise RegexError("Unmatched ( or \\(")
        root = self.levels[0].close()
        if root.size > MAX_SIZE:
            raise RegexError(_TOO_BIG)
        return Tree(
            root,
            self.groups,
            self.warnings,
            back_references=self.back_references,
            ignore_case=self.ignore_case,
        )

    # parts

    def _add(self, node: Node) -> None:
        self.levels[-1].parts.append(node)
        self.repeatable = True
        self.after_repeat = False

    def _literal(self, character: str) -> None:
        code = ord(character)
        self._add(CharSet(((code, code),), newline=self.newline, ignore_case=self.ignore_case))

    def _assert(self, kind: str) -> None:
        self.levels[-1].parts.append(Assertion(kind))
        self.after_repeat = False
        self.repeatable = self.dialect == "grep" or kind not in "^$"

    def _extended(self, character: str) -> None:
        self.position += 1
        if character == "(":
            self._open()
        elif character == ")" and (len(self.levels) > 1 or not self.syntax.lone_close):
            self._close()
        elif character == "|":
            self._branch()
        elif character in "+?":
            self._quantify(character)
        elif character == "{":
            self._interval("}")
        else:
            self._literal(character)

    def _open(self) -> None:
        if len(self.levels) > MAX_NESTING:
            raise RegexError(_TOO_BIG)
        self.groups += 1
        self.levels.append(_Level(self.groups, len(self.closed)))
        self.repeatable = False

    def _close(self) -> None:
        if len(self.levels) == 1:
            raise RegexError("Unmatched ) or \\)")
        level = self.levels.pop()
        group = Group(level.number, level.close())
        self.closed.update(level.aside)
        self.closed[level.number] = group
        self._add(group)

    def _branch(self) -> None:
        level = self.levels[-1]
        level.branches.append(_join(level.parts))
        level.parts = []
        while len(self.closed) > level.known:
            number, group = self.closed.popitem()
            level.aside[number] = group
        self.repeatable = False

    def _at_start(self) -> bool:
        """Whether the current branch is still empty."""
        return not self.levels[-1].parts

    def _caret(self) -> None:
        self.position += 1
        if self.extended or self._at_start():
            self._assert("^")
            if not self.extended:
                self.repeatable = False
        else:
            self._literal("^")

    def _dollar(self) -> None:
        self.position += 1
        rest = self.pattern[self.position : self.position + 2]
        if self.extended or not rest or rest in ("\\)", "\\|"):
            self._assert("$")
        else:
            self._literal("$")

    # repeats

    def _quantify(self, operator: str) -> None:
        """Apply "+" or "?"."""
        if operator == "+":
            self._repeat(operator, 1, None)
        else:
            self._repeat(operator, 0, 1)

    def _repeat(self, operator: str, least: int, most: int | None) -> None:
        level = self.levels[-1]
        if not self.repeatable:
            self._leading(operator)
            return
        if not self.extended and not self.syntax.double and self.after_repeat and operator in "*{":
            raise RegexError("Invalid preceding regular expression")
        last = level.parts[-1]
        at_start = isinstance(last, Assertion) and last.kind == "^"
        if at_start and self.dialect == "grep" and self.extended:
            self._warn_start(operator)
        repeat = Repeat(level.parts.pop(), least, most)
        if repeat.size > MAX_SIZE:
            raise RegexError(_TOO_BIG)
        level.parts.append(repeat)
        self.after_repeat = True

    def _leading(self, operator: str) -> None:
        """Read an operator without anything to repeat."""
        if self.extended and self.syntax.leading == "error":
            raise RegexError("Invalid preceding regular expression")
        if self.extended and self.syntax.leading == "drop":
            self._warn_start(operator)
            return
        if operator == "{":
            if not self.extended and not self.syntax.double:
                raise RegexError("Invalid preceding regular expression")
            if self.dialect == "grep":
                self._warn_start(operator)
        self._literal(operator)

    def _warn_start(self, operator: str) -> None:
        self.warnings.append(f"{'{...}' if operator == '{' else operator} at start of expression")

    def _interval(self, closing: str) -> None:
        """Read what follows `{`: an interval, or what the dialect makes of it."""
        start = self.position
        if not self.repeatable and (self.syntax.leading != "drop" or not self.extended):
            self._leading("{")
            return
        found = _INTERVAL.match(self.pattern, start)
        assert found is not None
        low, comma, high = found.groups()
        after = found.end()
        if not self.pattern.startswith(closing, after):
            if self.syntax.bad_interval:
                self._literal("{")
                return
            unfinished = after >= len(self.pattern) or self.pattern.find(closing, after) < 0
            raise RegexError("Unmatched \\{" if unfinished else "Invalid content of \\{\\}")
        if not low and not comma:
            raise RegexError("Invalid content of \\{\\}")
        if any(len(count) > 5 or int(count or 0) > MAX_REPEAT for count in (low, high)):
            raise RegexError(_TOO_BIG)
        least = int(low or 0)
        most = (int(high) if high else None) if comma else least
        if most is not None and most < least:
            raise RegexError("Invalid content of \\{\\}")
        self.position = after + len(closing)
        self._repeat("{", least, most)

    # escapes

    def _escape(self) -> None:
        pattern = self.pattern
        if self.position + 1 >= len(pattern):
            if self.syntax.escapes == "awk":
                self.position += 1
                self._literal("\\")
                return
            raise RegexError("Trailing backslash")
        character = pattern[self.position + 1]
        self.position += 2
        if not self.extended and self._basic_operator(character):
            return
        if self.syntax.escapes and self._control(character):
            return
        if character in "123456789" and self.dialect != "awk":
            self._back_reference(int(character))
        elif character in "wWsS":
            name = "word" if character in "wW" else "space"
            self._add(CharSet((), (name,), negated=character in "WS", newline=self.newline))
        elif character in "`'<>B":
            self._assert(character)
        elif character == ("y" if self.dialect == "awk" else "b"):
            self._assert("b")
        else:
            self._literal(character)

    def _basic_operator(self, character: str) -> bool:
        """Read an operator that a basic expression writes with a backslash, if it is one."""
        if character == "(":
            self._open()
        elif character == ")":
            self._close()
        elif character == "|":
            self._branch()
        elif character == "{" and not self.syntax.plus:
            self._interval("\\}")
        elif character in "+?" and not self.syntax.plus:
            self._quantify(character)
        else:
            return False
        return True

    def _control(self, character: str) -> bool:
        """Read an escape of sed or awk for one character, if it is one."""
        awk = self.syntax.escapes == "awk"
        named = (_AWK_ESCAPES if awk else _SED_ESCAPES).get(character)
        if named is not None:
            self._literal(named)
            return True
        found = _coded_escape(self.pattern, self.position - 1) if awk else None
        if found is None:
            return False
        text, self.position = found
        self._literal(text)
        return True

    def _back_reference(self, number: int) -> None:
        group = self.closed.get(number)
        if group is None:
            raise RegexError("Invalid back reference")
        self.back_references = True
        self._add(BackReference(number, group))

    # brackets

    def _bracket(self) -> CharSet:
        """Read a bracket expression; the position is at its "["."""
        pattern = self.pattern
        position = self.position + 1
        negated = pattern.startswith("^", position)
        position += negated
        if position >= len(pattern):
            raise RegexError("Invalid regular expression")
        start = position
        ranges: list[tuple[int, int]] = []
        classes: list[str] = []
        while True:
            if position >= len(pattern):
                raise RegexError(_UNMATCHED_BRACKET)
            if pattern[position] == "]" and position > start:
                break
            low, position = self._bracket_element(position, classes)
            if self._is_range(position):
                if low < 0 or pattern.startswith("=]", position - 2):
                    raise RegexError("Invalid range end")
                high, position = self._bracket_element(position + 1, classes)
                if high < low and (high < 0 or not self.empty_ranges):
                    raise RegexError("Invalid range end")
                ranges += [(low, high)] if low <= high else []
                if self._is_range(position):
                    raise RegexError("Invalid range end")
            elif low >= 0:
                ranges.append((low, low))
        content = pattern[start:position]
        colons = len(content) > 2 and content[0] == content[-1] == ":"
        if colons and not classes and self.dialect in ("grep", "sed"):
            raise RegexError("character class syntax is [[:space:]], not [:space:]")
        self.position = position + 1
        return CharSet(
            ranges,
            classes,
            negated=negated,
            newline=self.across if negated else self.newline,
            ignore_case=self.ignore_case,
        )

    def _is_range(self, position: int) -> bool:
        """Whether a "-" at this position stands between two characters."""
        following = self.pattern[position + 1 : position + 2]
        return self.pattern.startswith("-", position) and following not in ("", "]")

    def _bracket_element(self, position: int, classes: list[str]) -> tuple[int, int]:
        """Return (code point, position after it); add a class to `classes` and return -1 for it."""
        pattern = self.pattern
        character = pattern[position]
        if character == "[" and position + 1 < len(pattern) and pattern[position + 1] in ":.=":
            return self._bracket_class(position, classes)
        if character == "\\" and self.syntax.escapes and position + 1 < len(pattern):
            return self._bracket_escape(position)
        return ord(character), position + 1

    def _bracket_class(self, position: int, classes: list[str]) -> tuple[int, int]:
        pattern = self.pattern
        kind = pattern[position + 1]
        end = pattern.find(kind + "]", position + 2)
        if end < 0:
            raise RegexError(_UNMATCHED_BRACKET)
        name = pattern[position + 2 : end]
        if kind == ":":
            if name not in CLASS_NAMES:
                raise RegexError("Invalid character class name")
            if self.ignore_case and name in ("upper", "lower"):
                name = "alpha"
            classes.append(name)
            return -1, end + 2
        if len(name) != 1:
            raise RegexError("Invalid collation character")
        return ord(name), end + 2

    def _bracket_escape(self, position: int) -> tuple[int, int]:
        character = self.pattern[position + 1]
        if self.syntax.escapes == "awk":
            named = _AWK_ESCAPES.get(character)
            if named is not None:
                return ord(named), position + 2
            found = _coded_escape(self.pattern, position + 1)
            if found is not None:
                return ord(found[0]), found[1]
            return ord(character), position + 2
        named = _SED_ESCAPES.get(character)
        if named is not None:
            return ord(named), position + 2
        return 92, position + 1


_CODES = ((lazily(r"([0-7]{1,3})"), 8), (lazily(r"x([0-9A-Fa-f]{1,2})"), 16))


def _coded_escape(pattern: str, position: int) -> tuple[str, int] | None:
    r"""Return the character of awk's \NNN or \xHH, and the position after it."""
    for form, base in _CODES:
        found = form.match(pattern, position)
        if found is not None:
            code = int(found[1], base) & 255
            return chr(code) if code < 128 else chr(0xDC00 + code), found.end()
    return None
