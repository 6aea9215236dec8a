"""The cursor over a script: position, line numbers, blanks, comments, here-documents.

There is no list of tokens. The grammar of a shell decides what the next characters are: `]]` is a
word in a simple command and the end of a condition in `[[ … ]]`. So the parser holds a cursor
(`text` and `position`) and asks for what it expects there: blanks to be skipped, a word, an
operator, a reserved word. Looking ahead is a match at the cursor; going back is an assignment to
`position`.

Two things do not stand where they belong:

* The body of a here-document begins on the line after its redirection. Redirections wait in
  `pending`, and the next newline that the parser passes over reads their bodies (`skip_newline`).
* The text of an alias takes the place of its name. The parser puts it into `text`, so lines must be
  counted without the newlines that it brought (`alias_texts`), and messages show the line as it was
  `written`.

Line numbers are counted on demand, from the place that was asked for last.
"""

from __future__ import annotations

import itertools

from agentsandbox.errors import LimitReached, ShellSyntaxError
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.accounts import Held
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.shell.syntax.nodes import HereDocument

MAX_NESTING = 300
"""Constructs inside one another before the limit `depth` is reached."""

MAX_READ_AGAIN = 20_000
"""Characters read more than once, besides four times the text, before it is reached."""

_NODE = 200
"""Bytes that a word or a part of one takes, with its text and what is compiled of it."""

_BLANKS = lazily(r"[ \t]*(?:(?:\\\n)+[ \t]*)*")


SPACE = lazily(r"[ \t\n]*+(?:(?:(?<=[ \t\n;&|()<>])|\A)#[^\n]*+[ \t\n]*+)*+(?!\\\n)")
"""Blanks, newlines and comments, if no joined line follows."""
_SPLIT_OPERATOR = lazily(r"([&|;<>(]++)((?:\\\n)++)(?=[&|;<>(!-])")
_ANY_SPLIT_OPERATOR = lazily(r"[&|;<>(](?:\\\n)++(?=[&|;<>(!-])")
SKIPPED = (" ", "\t", "\\", "#")
"""What blanks, a joined line or a comment can begin with."""
BETWEEN = (*SKIPPED, "\n")
"""The same with newlines."""

_TEXTS = itertools.count()
"""Counts the texts that this process reads."""
_FIRST_TEXTS, _LONG_TEXT = 2, 2048
"""Texts that are read without the expressions for known words, unless one has more characters:
compiling these expressions takes as long as reading a hundred commands."""


class Lexer:
    """Reads `text` from `position` on. `first_line` is the number of its first line."""

    def __init__(self, text: str, *, first_line: int = 1) -> None:
        self.text = self.written = text
        self.position = 0
        self.first_line = first_line
        self.pending: list[tuple[HereDocument, bool]] = []
        self.warnings: list[tuple[int, str]] = []
        self.nesting = 0
        self.left_open: tuple[HereDocument, ...] = ()
        """The here-documents of the last substitution whose bodies it does not hold."""
        self.in_substitution = False
        """Whether a $(…) or <(…) is open: its here-documents may end with `EOF)`."""
        self.joins = "\\\n" in text and _ANY_SPLIT_OPERATOR.search(text) is not None
        self.shares = next(_TEXTS) >= _FIRST_TEXTS or len(text) > _LONG_TEXT
        """Whether to look for words and commands that other texts have read already."""
        self.has_lines = "\n" in text
        """Whether there is more than one line, of which messages must tell."""
        self.alias_texts: list[tuple[int, int]] = []
        """From where to where the texts of several lines stand that replaced names: their newlines
        are no lines of the script."""
        self.meter: Budget | None = None
        """Drawn on by each word and part of a word, where the text may be long."""
        self.held: Held | None = None
        """Counts the nodes of the command that is read, where the text may be long."""
        self.substitutions: list[tuple[int, int]] | None = None
        """Where $(…) begin and end in the text, if somebody asks: `set -v` does not show the lines
        that begin in them."""
        self.again = 4 * len(text) + MAX_READ_AGAIN
        """Characters that may still be read more than once."""
        self._counted = 0, 0
        """A place in `_counted_text`, and how many newlines stand before it."""
        self._counted_text = text

    # places

    def line_at(self, position: int) -> int:
        """Return the number of the line that contains `position`."""
        text = self.text
        if self._counted_text is not text:
            self._counted_text, self._counted = text, (0, 0)
        known, newlines = self._counted
        newlines += (
            text.count("\n", known, position)
            if position >= known
            else -text.count("\n", position, known)
        )
        self._counted = position, newlines
        done = 0
        if self.alias_texts:
            for start, end in sorted(self.alias_texts):  # they may stand in one another
                start, end = max(start, done), min(end, position)
                if start < end:
                    newlines -= text.count("\n", start, end)
                    done = end
        return newlines + self.first_line

    def line_text(self, position: int) -> str:
        """Return the line that contains `position`, without the texts of aliases."""
        if self.text is not self.written:
            return self.written.split("\n")[self.line_at(position) - self.first_line]
        start = self.text.rfind("\n", 0, position) + 1
        end = self.text.find("\n", position)
        return self.text[start : end if end >= 0 else len(self.text)]

    # errors

    def error(
        self, message: str, position: int | None = None, *, show_line: bool = False
    ) -> ShellSyntaxError:
        """Return a syntax error at `position`."""
        at = self.position if position is None else position
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return ShellSyntaxError(
            message, self.line_at(at), column, source_line=self.line_text(at) if show_line else None
        )

    def unexpected(self, token: str, position: int | None = None) -> ShellSyntaxError:
        """Return the error for an unexpected token."""
        if not token:
            return self.unexpected_end()
        from agentsandbox.kernel.quoting import ansi_quote, needs_ansi

        shown = "newline" if token == "\n" else ansi_quote(token) if needs_ansi(token) else token
        return self.error(f"syntax error near unexpected token `{shown}'", position, show_line=True)

    def unexpected_end(self) -> ShellSyntaxError:
        """Return the error for a script that ends inside a construct."""
        return ShellSyntaxError("syntax error: unexpected end of file", self.last_line(), 1)

    def unclosed(self, closer: str, opened_at: int, *, at_end: bool = False) -> ShellSyntaxError:
        """Return the error for a quote, brace or parenthesis without its end."""
        line = self.last_line() if at_end else self.line_at(opened_at)
        error = ShellSyntaxError(f"unexpected EOF while looking for matching `{closer}'", line, 1)
        error.is_quote = not at_end
        return error

    def last_line(self) -> int:
        """Return the number of the last line, as bash counts it in errors."""
        text = self.text
        return self.line_at(len(text)) + (0 if text.endswith("\n") else 1)

    def enter(self) -> None:
        """Count one more level of nesting, up to the limit."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise LimitReached("depth", "the script nests too deeply")

    # TM-TIME-7
    def read_again(self, start: int, end: int) -> None:
        """Count a text that is read anew, as it was not what it began like, up to the limit.

        Readings inside readings double with each level.
        """
        self.again -= end - start
        if self.again < 0:
            raise LimitReached("depth", "the script nests too deeply")

    def count_nodes(self, count: int) -> None:
        """Charge nodes of the tree before there are many of them."""
        if self.held is not None and self.meter is not None:
            self.held.grow(_NODE * count)
            self.meter.make(_NODE * count)

    # blanks and newlines

    def skip_blanks(self) -> None:
        """Pass over blanks, joined lines and a comment."""
        text, position = self.text, self.position
        if text.startswith(SKIPPED, position):
            if text[position] == " " and not text.startswith(SKIPPED, position + 1):
                self.position = position + 1
            else:
                self._skip_more()
        if self.joins:
            self._join_operator()

    def _join_operator(self) -> None:
        """Move a joined line (backslash, newline) inside an operator such as && before it."""
        while match := _SPLIT_OPERATOR.match(self.text, self.position):
            self.text = self.text[: self.position] + match[2] + match[1] + self.text[match.end() :]
            self.position += len(match[2])

    def _skip_more(self) -> None:
        text = self.text
        position = _BLANKS.match(text, self.position).end()  # type: ignore[union-attr]
        if text[position : position + 1] == "#" and (
            position == 0 or text[position - 1] in " \t\n;&|()<>"
        ):
            end = text.find("\n", position)
            position = end if end >= 0 else len(text)
        self.position = position

    def skip_newline(self) -> None:
        """Pass over one newline and read the here-documents that wait for it."""
        self.position += 1
        if self.pending:
            self.read_here_documents()

    def skip_newlines(self) -> None:
        """Pass over blanks, comments and newlines."""
        if not self.pending and not self.joins:
            if not self.text.startswith(BETWEEN, self.position):
                return
            match = SPACE.match(self.text, self.position)
            if match is not None:
                if self.meter is not None:
                    self.meter.step(self.text.count("\n", self.position, match.end()))
                self.position = match.end()
                return
        while True:
            self.skip_blanks()
            if self.text[self.position : self.position + 1] != "\n":
                return
            if self.meter is not None:
                self.meter.step()
            self.skip_newline()

    def read_here_documents(self) -> None:
        """Read the here-documents that wait for the newline before the cursor; the parser does."""
        raise NotImplementedError
