"""${…}: names, subscripts, operators and their operands."""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.contexts import BRACE, BRACE_H, BRACE_Q, ESCAPABLE, HERE, SUBSCRIPT
from agentsandbox.shell.syntax.lexer import Lexer
from agentsandbox.shell.syntax.nodes import TRANSFORMATIONS, Literal, Parameter, Part, Quoted, Word

NAME = lazily(r"[A-Za-z_][A-Za-z0-9_]*")
"""Of a variable."""
SPECIAL = frozenset("@*#?-$!0123456789_")
"""What is a parameter by itself."""
_PARAMETER = lazily(r"[A-Za-z_][A-Za-z0-9_]*(?:\\\n[A-Za-z0-9_]*)*+|[0-9]+(?:\\\n[0-9]*)*+")
"""A name or a number, whose line may be joined."""
_OPERATORS = lazily(r":[-=?+]|[-=?+]|##?|%%?|//|/[#%]|/|\^\^?|,,?|~~?|@|:")


_NOT_OF_COUNT = frozenset(("+", "=", "/", "%"))
"""Operators that `${#` cannot have without an operand."""


class BracedReader(Lexer):
    """Reads ${…}. The word reader scans the operands."""

    has_bad = False
    """Whether an invalid ${…} was read."""
    _open_bracket = False
    """Whether its subscript was not closed."""

    def scan(self, mode: int, stop: str) -> tuple[Part, ...]:
        """The parts up to one of the characters of `stop`, which is left unread."""
        raise NotImplementedError

    def read_braced(self, mode: int) -> Part:
        """Read the ${…} at the cursor."""
        start = self.position
        self.position += 2
        self.enter()
        inside = BRACE_H if mode in (HERE, BRACE_H) else BRACE_Q
        part = self._braced_parameter(start, inside if mode in ESCAPABLE else BRACE)
        self.nesting -= 1
        if part is None:  # not a parameter expansion: an error when it is expanded, not before
            self._skip_bad_braces(start)
            self.has_bad = True
            opened, self._open_bracket = self._open_bracket, False
            return Parameter(
                "",
                prefix="[" if opened else "",
                operator="bad",
                source=self.text[start : self.position],
            )
        part.source = self.text[start : self.position]
        return part

    def _skip_bad_braces(self, start: int) -> None:
        self.read_again(start, self.position)
        self.position = start + 2
        self.scan(BRACE, "}")
        while self.position < len(self.text) and self.text[self.position] != "}":
            self.position += 1
            self.scan(BRACE, "}")
        if self.position >= len(self.text):
            raise self.unclosed("}", start)
        self.position += 1

    def _braced_parameter(self, start: int, mode: int) -> Parameter | None:
        text = self.text
        prefix = ""
        self._skip_joints()
        char = text[self.position : self.position + 1]
        after = self._behind_joints(self.position + 1)
        following = text[after : after + 1]
        if char == "#" and following != "}" and (following in SPECIAL or NAME.match(following)):
            if not (following in "-?#@" and text[after + 1 : after + 2] != "}"):
                prefix = "#"
                self.position += 1
        elif char == "!" and following and (following in SPECIAL or NAME.match(following)):
            if not (following in "-?" and text[after + 1 : after + 2] != "}"):
                prefix = "!"
                self.position += 1
        self._skip_joints()
        name = self._parameter_name()
        if name is None:
            return None
        # bash joins with blanks in a here-document, whatever IFS is
        if name == "*" and mode == BRACE_H:
            name = "@"
        self._skip_joints()
        subscript: Word | None = None
        if text[self.position : self.position + 1] == "[" and (NAME.match(name) is not None):
            nesting = self.nesting
            try:
                subscript = self.read_subscript()
            except ShellSyntaxError:  # the brace may be closed all the same
                self.nesting = nesting
                self._open_bracket = not prefix
                return None
        if (
            prefix == "!"
            and subscript is None
            and text[self.position : self.position + 2] in ("*}", "@}")
        ):
            if NAME.match(name) is None:
                return None
            operator = "names" + text[self.position]
            self.position += 2
            return Parameter(name, None, "!", operator)
        return self._operation(start, mode, name, subscript, prefix)

    def _skip_joints(self) -> None:
        """Pass over joined lines (a backslash and a newline)."""
        self.position = self._behind_joints(self.position)

    def _behind_joints(self, position: int) -> int:
        while self.text.startswith("\\\n", position):
            position += 2
        return position

    def _operation(
        self, start: int, mode: int, name: str, subscript: Word | None, prefix: str
    ) -> Parameter | None:
        text = self.text
        self._skip_joints()
        if text[self.position : self.position + 1] == "}":
            self.position += 1
            return Parameter(name, subscript, prefix)
        match = _OPERATORS.match(text, self.position)
        if match is None or prefix == "#":
            if self.position >= len(text):
                raise self.unclosed("}", start)
            return None
        operator = match[0]
        self.position = match.end()
        if name == "#" and operator in _NOT_OF_COUNT and text.startswith("}", self.position):
            return None
        if operator == ":":
            operands = self._operands(start, mode, ":")
            if len(operands) == 1 and not operands[0].source:
                return None
        elif operator[0] == "/":
            if operator == "//" and text[self.position : self.position + 1] == "/":
                return Parameter(name, subscript, prefix, operator, self._slash_operands(start))
            operands = self._operands(start, BRACE, "/")
        elif operator[0] in "^,~" and name in "?-#":
            return None
        elif operator[0] in "#%^,~" or operator in ("@", "?", ":?"):
            operands = self._operands(start, BRACE, "")
            self.has_bad |= operator == "@" and operands[0].source not in TRANSFORMATIONS
        else:
            operands = self._operands(start, mode, "")
        return Parameter(name, subscript, prefix, operator, operands)

    def _slash_operands(self, start: int) -> tuple[Word, ...]:
        """The operands of ${x///…}: the pattern begins with the third slash."""
        self.position += 1
        first, *rest = self._operands(start, BRACE, "/")
        return (Word((Literal("/"), *first.parts), "/" + first.source), *rest)

    def _operands(self, start: int, mode: int, separator: str) -> tuple[Word, ...]:
        """The operand up to }, or the two operands around the first `separator`."""
        words: list[Word] = []
        stop = "}" + separator
        while True:
            at = self.position
            parts = list(self.scan(mode, stop))
            while separator == ":" and self._inside_ternary(at):
                self.position += 1
                parts.append(Literal(":") if mode == BRACE else Quoted(":"))
                parts.extend(self.scan(mode, stop))
            words.append(Word(tuple(parts), self.text[at : self.position]))
            if self.position >= len(self.text):
                raise self.unclosed("}", start)
            self.position += 1
            if self.text[self.position - 1] == "}":
                return tuple(words)
            stop = "}"

    def _inside_ternary(self, at: int) -> bool:
        """Whether the colon here belongs to an open ? of an arithmetic expression."""
        text = self.text
        if text[self.position : self.position + 1] != ":":
            return False
        before = text[at : self.position]
        return before.count("?") > before.count(":")

    def _parameter_name(self) -> str | None:
        text = self.text
        match = _PARAMETER.match(text, self.position)
        if match is not None:
            self.position = match.end()
            return match[0].replace("\\\n", "")
        char = text[self.position : self.position + 1]
        if char and char in "@*#?-$!":
            self.position += 1
            return char
        return None

    def read_subscript(self) -> Word:
        """Read the […] at the cursor."""
        opened = self.position
        self.position += 1
        self.enter()
        parts = self.scan(SUBSCRIPT, "]")
        self.nesting -= 1
        if self.position >= len(self.text):
            raise self.unclosed("]", opened)
        source = self.text[opened + 1 : self.position]
        self.position += 1
        return Word(parts, source)
