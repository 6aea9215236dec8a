"""The parser: recursive descent over bash's grammar, one complete command at a time.

Each rule of the grammar is a method that begins at the cursor and returns a node:

    next_command → command_list → _and_or → _pipeline → command → _simple_command
                                                          ↳ compounds, conditions: if, for, [[ …

`next_command` reads up to the next newline at the top level, as bash does before it runs anything.
So what comes before a syntax error still runs, and an alias or `shopt -s extglob` counts from the
next line on. `parse` reads a whole script.

The parser is four classes on top of each other, because their methods call each other at every
step: `Lexer` has the cursor, `BracedReader` reads ${…}, `WordReader` words, `Parser` commands, also
those inside the $(…) of a word. Compound commands are functions in `compounds` and `conditions`,
which get the parser as an argument (`protocols`).

An agent never sends the same text twice, but it uses the same words and commands. Most words read
the same wherever they stand (`words.known_word`), and so does a command of such words in one line:
`match_known` finds it with one expression, and `known_command` reads it once for all scripts that
have it on the same line. Everything else (redirections, substitutions, several lines, aliases)
takes the way through the grammar. Shared nodes are never changed, and what is compiled of them
knows no sandbox. The first texts of a process take that way with all their commands, because it
takes longer to compile the expressions than to read these texts (`Lexer.shares`).

Errors are worded as bash words them. Bash reads some constructs with a parser of their own, whose
errors end more or less than the others: a `ShellSyntaxError` says so in its attributes (`in_array`,
`in_substitution`, `is_quote`, `status`).
"""

from __future__ import annotations

from agentsandbox.errors import ShellSyntaxError
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.contexts import ARITHMETIC
from agentsandbox.shell.syntax.lexer import BETWEEN, SKIPPED, SPACE
from agentsandbox.shell.syntax.nodes import (
    AndOr,
    Assignment,
    Background,
    Command,
    CommandList,
    Literal,
    Part,
    Pipeline,
    Redirection,
    SimpleCommand,
    Word,
)
from agentsandbox.shell.syntax.plain_commands import ASSIGNING, NOT_KNOWN, RESERVED, TAKING_LISTS
from agentsandbox.shell.syntax.words import BARE_WORD, KNOWN_WORD, WordReader, known_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping
    from types import ModuleType

_CLOSERS = frozenset("then else elif fi do done esac }".split())

_SURELY_NOT_KNOWN = tuple(
    f"{word} " for word in sorted(NOT_KNOWN - {"then", "elif", "else", "fi", "do", "done", "esac"})
)
"""How a text begins that need not be matched; a list is quicker than an expression."""

_END = r"(?:[ \t]*+(?=[\n;|)]|&(?!>)|\Z)|[ \t]++(?=#))"
_ENDS = r"(?=[\n;|)#]|&(?!>)|\Z)"
_BARE_COMMAND = lazily(rf"(?:{BARE_WORD}[ \t]*+)++{_ENDS}")
_KNOWN_COMMAND = lazily(rf"(?:{KNOWN_WORD}[ \t]*+)++{_ENDS}")
"""Commands of one line without redirections, whose words read the same wherever they stand. A word
takes all that belongs to it, so blanks are between two of them, and before a comment."""
_KNOWN_WORDS = lazily(KNOWN_WORD)
_KNOWN_ASSIGNMENT = lazily(rf"(([A-Za-z_][A-Za-z0-9_]*+)(\+?)=({KNOWN_WORD})?){_END}")
"""The same for one assignment alone."""
_LONGEST_KNOWN, _LONGEST_MATCHED = 256, 4096
"""Characters of a command that is kept, and of one that is read without a look at the clock."""

_CLOSING_BRACKETS = lazily(r"\]\](?=[ \t\n|&;()<>]|\Z)")
_RESERVED_WORD = lazily(r"(?:[a-z]+|[{}!]|\[\[)(?=[ \t\n|&;()<>]|\Z|\\\n)")
_RESERVED_STARTS = tuple(sorted({word[:3] for word in RESERVED}))
"""How a reserved word begins; most words of commands begin otherwise, and need no expression."""
_PREFIXES = ("!", "time")
_LONGEST_RESERVED = 16
"""Characters of a text in which a reserved word is sought; a longer word is none."""
_ASSIGNMENT = lazily(r"([A-Za-z_][A-Za-z0-9_]*+(?:\\\n[A-Za-z0-9_]*+)*+)(\[|\+?(?:\\\n)*=)")
_REDIRECTION_STARTS = tuple("0123456789{<>&")
_OPEN_SUBSCRIPT = lazily(r"[A-Za-z_][A-Za-z0-9_]*\[[^]]*\Z")
_FUNCTION = lazily(r"([^\s|&;()<>$`\\\"'=]+)[ \t]*\([ \t]*\)")
_OPERATOR = lazily(r"&&|\|\||;;&|;;|;&|\|&|&>>|&>|<<<|<<-|<<|>>|<&|>&|<>|>\||[|&;()<>\n]")


@lru_cache(maxsize=None)
def _redirections() -> ModuleType:
    """Load what reads redirections; an import statement takes a microsecond at each of them."""
    import agentsandbox.shell.syntax.redirections

    return agentsandbox.shell.syntax.redirections


@lru_cache(maxsize=None)
def _assignments() -> ModuleType:
    """Load what reads assignments, likewise."""
    import agentsandbox.shell.syntax.assignments

    return agentsandbox.shell.syntax.assignments


@lru_cache(maxsize=None)
def _compounds() -> ModuleType:
    """Load what reads compound commands, likewise."""
    import agentsandbox.shell.syntax.compounds

    return agentsandbox.shell.syntax.compounds


@lru_cache(maxsize=None)
def _aliases() -> ModuleType:
    """Load what expands aliases, likewise."""
    import agentsandbox.shell.syntax.aliases

    return agentsandbox.shell.syntax.aliases


class Parser(WordReader):
    """Parses a script. `aliases` maps names to their texts; None where aliases are not expanded."""

    def __init__(
        self,
        text: str,
        *,
        first_line: int = 1,
        extglob: bool = False,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(text, first_line=first_line)
        self.extglob = extglob
        self.aliases = aliases
        """Set only between two complete commands."""
        self.alias_ends: list[tuple[int, str]] = []  # (where the text of an alias ends, its name)
        self.unplaced: list[Redirection] = []
        """Redirections of compound commands that wait for their line (`place_redirections`)."""
        self.last_opening = 0
        """The line of the last `{` that began the body of a function; 0 if there was none."""
        self._may_assign = "=" in text or "[" in text
        """Whether there may be an assignment in the text, or a subscript."""
        self._searched, self._searched_from, self._opening = "", 0, 0
        """A text, a place in it, and where the first opening parenthesis from there on is."""

    def skip_line(self) -> None:
        """Continue at the next line, as after an error in the list of an array."""
        end = self.text.find("\n", self.position)
        self.position = len(self.text) if end < 0 else end + 1
        self.nesting = 0
        self.pending = []

    def skip_to_command(self) -> None:
        """Pass over blanks, comments, newlines and aliases that expand to nothing else."""
        if not (self.pending or self.joins or self.aliases or self.meter is not None):
            text, position = self.text, self.position
            if not text.startswith(BETWEEN, position):
                return
            if not text.startswith(BETWEEN, position + 1) and text[position] in " \n":
                self.position = position + 1
                return
            match = SPACE.match(text, position)
            if match is not None:
                self.position = match.end()
                return
        self.skip_newlines()
        while self.aliases and self._expand_alias():
            self.skip_newlines()

    # lists

    def next_command(self) -> Command | None:
        """Return the next complete command; None at the end of the script."""
        self.skip_to_command()
        if self.position >= len(self.text):
            return None
        try:
            command = self.command_list(until_newline=True)
        finally:
            if self.pending and self.position >= len(self.text):
                self.read_here_documents()
        if self.unplaced:
            at_newline = self.text.endswith("\n", 0, self.position)
            self.place_redirections(0, self.line_at(self.position - at_newline))
        return command

    def command_list(self, *, until_newline: bool) -> Command:
        """Parse and-or lists with ; & or newlines between them."""
        commands: list[Command] = []
        while True:
            start = self.position
            command = self._and_or()
            text = self.text
            char = text[self.position : self.position + 1]
            if char == "&" and text[self.position + 1 : self.position + 2] != "&":
                self.position += 1
                command = Background(command, self.line_at(start))
                commands.append(command)
            elif char == ";" and text[self.position + 1 : self.position + 2] not in (";", "&"):
                self.position += 1
                commands.append(command)
            elif char == "\n":
                commands.append(command)
                if until_newline:
                    self.skip_newline()
                    break
            else:
                commands.append(command)
                if char and until_newline:
                    raise self.unexpected(self.token())
                break
            if until_newline:
                self.skip_blanks()
                while self.aliases and self._expand_alias():
                    pass
                following = self.text[self.position : self.position + 1]
                if following == "\n":
                    self.skip_newline()
                    break
                if not following:
                    break
            else:
                self.skip_to_command()
                if self.at_list_end():
                    break
        return commands[0] if len(commands) == 1 else CommandList(tuple(commands))

    def at_list_end(self) -> bool:
        """Whether the next token closes the construct around a list."""
        text, position = self.text, self.position
        if position >= len(text):
            return True
        char = text[position : position + 1]
        if char == ")" or (char == ";" and text[position + 1 : position + 2] in (";", "&")):
            return True
        if char in "tefd}":
            match = _RESERVED_WORD.match(text, position, position + _LONGEST_RESERVED)
            return match is not None and match[0] in _CLOSERS
        return False

    def reserved_match(self) -> re.Match[str] | None:
        """Match what may be a reserved word at the cursor."""
        return _RESERVED_WORD.match(self.text, self.position, self.position + _LONGEST_RESERVED)

    def _and_or(self) -> Command:
        """Parse pipelines with && or || between them, and pass over the blanks behind them."""
        first = self._pipeline()
        rest: list[tuple[str, Command]] = []
        while True:
            if not self.text.startswith(("&&", "||"), self.position):
                break
            operator = self.text[self.position : self.position + 2]
            self.position += 2
            self.skip_to_command()
            rest.append((operator, self._pipeline()))
        return AndOr(first, tuple(rest)) if rest else first

    def _known_command(self) -> SimpleCommand | None:
        """Read a command of known words, as most are; return None, and read nothing, for others."""
        if not self.shares:
            return None
        text, start = self.text, self.position
        match = match_known(text, start)
        if match is None:
            return None
        command = known_command(
            match[0], self.line_at(start) if self.has_lines else self.first_line
        )
        if command is None:
            return None
        if self.meter is not None:
            self.meter.step(4 * len(command.words or command.assignments))
        self.position = match.end()
        if text.startswith("#", self.position):
            self.skip_blanks()
        return command

    def known_words(self) -> list[Word]:
        """Read the known words of a list that ends in this line; none of any other list."""
        end = self.position + _LONGEST_MATCHED + 1
        match = (
            None
            if self.joins or not self.shares
            else _KNOWN_COMMAND.match(self.text, self.position, end)
        )
        if match is None or match.end() - self.position > _LONGEST_MATCHED:
            return []
        words = [known_word(source) for source in _KNOWN_WORDS.findall(match[0])]
        known = [word for word in words if word is not None]
        if len(known) < len(words):
            return []
        if self.meter is not None:
            self.meter.step(4 * len(known))
        self.position = match.end()
        return known

    def _pipeline(self) -> Command:
        """Parse commands with | between them, and pass over the blanks behind them."""
        if self.text.startswith(SKIPPED, self.position) or self.joins:
            self.skip_blanks()
        start = self.position
        quick = None if self.aliases or self.joins else self._known_command()
        if quick is not None:
            text, position = self.text, self.position
            if not text.startswith("|", position) or text.startswith("||", position):
                return quick
            return self._stages([quick], start)
        negated = prefixed = False
        timed = ""
        while True:
            if self.aliases:
                self._expand_alias()
            if not self.text.startswith(_PREFIXES, self.position):
                break
            match = self.reserved_match()
            word = match[0] if match is not None else ""
            if word == "!":
                self.position += 1
                negated = not negated
                prefixed = True
            elif word == "time":
                self.position += 4
                self.skip_blanks()
                timed = timed or "time"
                while option := _TIME_OPTION.match(self.text, self.position):
                    self.position = option.end()
                    timed = "time -p"
            else:
                break
            self.skip_blanks()
        if (prefixed or timed) and self.text[self.position : self.position + 1] in ("&", "|"):
            raise self.unexpected(self.token())
        if (prefixed or timed) and self._at_command_end():
            empty = SimpleCommand((), (), (), self.line_at(start))
            return Pipeline((empty,), negated, timed, self.line_at(start))
        return self._stages([self.command()], start, negated, timed)

    def _stages(
        self, commands: list[Command], start: int, negated: bool = False, timed: str = ""
    ) -> Command:
        """Read what follows the first stage of a pipeline, if anything does."""
        while True:
            self.skip_blanks()
            text = self.text
            if (
                text[self.position : self.position + 1] != "|"
                or text[self.position + 1 : self.position + 2] == "|"
            ):
                break
            self.position += 1
            if text[self.position : self.position + 1] == "&":
                self.position += 1
                commands[-1] = _redirections().with_errors(self, commands[-1])
            self.skip_to_command()
            quick = None if self.aliases or self.joins else self._known_command()
            commands.append(quick or self.command())
        if len(commands) == 1 and not negated and not timed:
            return commands[0]
        return Pipeline(tuple(commands), negated, timed, self.line_at(start))

    def _at_command_end(self) -> bool:
        return self.position >= len(self.text) or self.text[self.position] in "\n;)"

    # commands

    def command(self) -> Command:
        """Parse one command: simple, compound or the definition of a function."""
        text, position = self.text, self.position
        if position >= len(text):
            raise self.unexpected_end()
        char = text[position]
        if char == "(":
            self.enter()
            command = _compounds().read_parenthesis(self)
            self.nesting -= 1
            return self._redirected(command)
        if char.islower() or char in "{[}!":
            if self.aliases and self._expand_alias():
                return self.command()
            text, position = self.text, self.position
            match = (
                _RESERVED_WORD.match(text, position, position + _LONGEST_RESERVED)
                if text.startswith(_RESERVED_STARTS, position)
                else None
            )
            if match is not None and match[0] in RESERVED:
                word = match[0]
                if word == "time":
                    return self._simple_command()
                reader = _reader_of(word)
                if reader is None:
                    raise self.unexpected(word)
                self.position = match.end()
                self.enter()
                command = reader(self, position)
                self.nesting -= 1
                if word in ("function", "coproc"):
                    return command
                return self._redirected(command)
        elif char == "]" and _CLOSING_BRACKETS.match(text, position):
            raise self.unexpected("]]")
        elif self._expand_alias():
            return self.command()
        if char not in "<>&|;\n)" and self._parenthesis_ahead():
            match = _FUNCTION.match(text, position)
            if match is not None and not _OPEN_SUBSCRIPT.match(match[1]):
                defined: Command = _compounds().define_function(
                    self, match[1], match.end(), position
                )
                return defined
        return self._simple_command()

    def _redirected(self, command: Command) -> Command:
        """Return a compound command with the redirections behind it."""
        self.skip_blanks()
        if self.text.startswith(_REDIRECTION_STARTS, self.position):
            _redirections().add_redirections(self, command)
        return command

    def place_redirections(self, first: int, line: int) -> None:
        """Give a line to the redirections of compound commands that wait for it, from the number
        `first` on.

        Bash records no line for most compound commands. While it redirects one, it keeps the line
        of the construct around it: the function's `{`, the word `for`, `select` or `case`, or the
        subshell's `)`. At the top level it keeps the last line that it has read.
        """
        for redirection in self.unplaced[first:]:
            redirection.line = line
        del self.unplaced[first:]

    def _parenthesis_ahead(self) -> bool:
        """Whether any opening parenthesis is ahead; without one there is no function definition."""
        text, position = self.text, self.position
        if (
            self._searched is not text
            or position < self._searched_from
            or 0 <= self._opening < position
        ):
            self._searched, self._searched_from, self._opening = (
                text,
                position,
                text.find("(", position),
            )
        return self._opening >= 0

    def token(self) -> str:
        """Return the token at the cursor, for messages."""
        self.skip_blanks()
        if self.position >= len(self.text):
            return ""
        match = _OPERATOR.match(self.text, self.position)
        if match is not None:
            return match[0]
        saved = self.position
        word = self.read_word()
        self.position = saved
        return word.source if word is not None else self.text[saved]

    def at_operator(self) -> bool:
        """Whether an operator is at the cursor."""
        return _OPERATOR.match(self.text, self.position) is not None

    def reserved_word(self) -> str:
        """Return the text at the cursor that may be a reserved word, "" if there is none."""
        match = self.reserved_match()
        return match[0] if match is not None else ""

    # simple commands

    def _simple_command(self) -> Command:
        start = self.position
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        redirections: list[Redirection] = []
        declaring = taking = False
        second = -1  # where the second element ends, or a redirection in its place begins
        while True:
            if second < 0 and len(words) + len(assignments) == 2:
                second = self.position
            self.skip_blanks()
            text, position = self.text, self.position
            if position >= len(text):
                break
            char = text[position]
            if char in "\n;|()" or (char == "&" and text[position + 1 : position + 2] != ">"):
                break
            if char in _REDIRECTION_STARTS:
                redirection = _redirections().read_redirection(self)
                if redirection is not None:
                    second = (
                        position
                        if second < 0 and (words or assignments or redirections)
                        else second
                    )
                    redirections.append(redirection)
                    continue
            if (not words or declaring) and (self._may_assign or self.aliases):
                assignment = self._assignment(first=not words)
                if isinstance(assignment, Word):
                    words.append(assignment)
                    continue
                if assignment is not None:
                    (words or assignments).append(assignment)
                    continue
            if not words and position != start and self._expand_alias():
                continue
            word = (self._list_as_text() if taking else None) or self.read_word()
            if word is None:
                break
            if not words:
                declaring, taking = word.source in ASSIGNING, word.source in TAKING_LISTS
            words.append(word)
            if self.alias_ends and _aliases().after_blank_alias(self):
                self._expand_alias()
        if not words and not assignments and not redirections:
            raise self.unexpected(self.token())
        if self.text[self.position : self.position + 1] == "(":
            if len(words) > 1 or assignments or redirections:
                raise self.unexpected("(")
            defined: Command = _compounds().define_without_name(self, words[0].source, start)
            return defined
        line = self.line_at(start)
        if self.text.find("\n", start, self.position) < 0:
            return SimpleCommand(tuple(assignments), tuple(words), tuple(redirections), line)
        line = self.line_at(self.position if second < 0 else second)
        return SimpleCommand(tuple(assignments), tuple(words), tuple(redirections), line, True)

    def read_here_documents(self) -> None:
        _redirections().read_here_documents(self)

    def parse_text(self, text: str, first_line: int) -> Command | None:
        inner = Parser(text, first_line=first_line, extglob=self.extglob, aliases=self.aliases)
        inner.pairs_quotes = self.pairs_quotes
        inner.nesting = self.nesting
        inner.meter, inner.held = self.meter, self.held
        inner.again = self.again
        commands: list[Command] = []
        try:
            while (command := inner.next_command()) is not None:
                commands.append(command)
        finally:
            self.again = inner.again
        self.warnings.extend(inner.warnings)
        if not commands:
            return None
        return commands[0] if len(commands) == 1 else CommandList(tuple(commands))

    def _assignment(self, *, first: bool) -> Assignment | Word | None:
        """Read an assignment, or a word like `test[ -f x ]`; return None where neither begins."""
        match = _ASSIGNMENT.match(self.text, self.position, self.position + _LONGEST_MATCHED)
        read: Assignment | Word | None = (
            None if match is None else _assignments().read_assignment(self, match, first=first)
        )
        return read

    def _list_as_text(self) -> Word | None:
        """Read a word like `x=(1 + 2)*3`; return None, and read nothing, for any other."""
        match = _ASSIGNMENT.match(self.text, self.position, self.position + _LONGEST_MATCHED)
        word: Word | None = None if match is None else _assignments().list_as_text(self, match)
        return word

    def _expand_alias(self) -> bool:
        """Replace the alias name at the cursor by its text; return whether there was one."""
        return bool(self.aliases) and _aliases().expand_alias(self)


def match_known(text: str, position: int) -> re.Match[str] | None:
    """Match a short command of known words, and the blanks behind it."""
    if text.startswith(_SURELY_NOT_KNOWN, position):
        return None
    end = position + _LONGEST_MATCHED + 1
    match = _BARE_COMMAND.match(text, position, end) or _KNOWN_COMMAND.match(text, position, end)
    return None if match is None or match.end() - position > _LONGEST_MATCHED else match


def known_command(source: str, line: int) -> SimpleCommand | None:
    """Return the command of a text that `match_known` has matched, shared by all scripts that have
    it on this line; None if the words must be read where they stand.
    """
    if len(source) > _LONGEST_KNOWN:
        return _read_known_command(source, line, "")
    return _known_commands(source, line)


def _read_known_command(source: str, line: int, key: str | None = None) -> SimpleCommand | None:
    key = source if key is None else key
    assignment = _KNOWN_ASSIGNMENT.match(source) if "=" in source else None
    if assignment is not None:
        written, name, plus, text = assignment.groups()
        value = Word((), "") if text is None else known_word(text)
        if value is None:
            return None
        assigned = Assignment(name, value, None, plus == "+", written)
        return SimpleCommand((assigned,), (), (), line, False, key)
    words: list[Word | Assignment] = []
    is_bare = "'" not in source and '"' not in source and "$" not in source and source.isascii()
    for each in source.split() if is_bare else _KNOWN_WORDS.findall(source):
        word = known_word(each)
        if word is None:
            return None
        words.append(word)
    name = words[0].source
    if name in NOT_KNOWN or name[0] == "]" or "=" in name or ("[" in name and name != "["):
        return None
    return SimpleCommand((), tuple(words), (), line, False, key)


_known_commands = lru_cache(maxsize=1024)(_read_known_command)


@lru_cache(maxsize=None)
def _reader_of(word: str) -> Callable[[Parser, int], Command] | None:
    """Return what reads the compound command of a reserved word; None if it begins none."""
    if word == "[[":
        from agentsandbox.shell.syntax.conditions import read_condition

        return read_condition
    reader: Callable[[Parser, int], Command] | None = _compounds().READERS.get(word)
    return reader


_TIME_OPTION = lazily(r"(?:-p|--)(?=[ \t\n;]|\Z)[ \t]*")
"""Options of `time`: bash takes the end of options for -p too."""


def read_arithmetic(text: str) -> tuple[Part, ...]:
    """Return the parts of an arithmetic expression; an unfinished expansion in it is text."""
    try:
        return Parser(text).scan(ARITHMETIC, "")
    except ShellSyntaxError:
        return (Literal(text),)


def parse(
    text: str, *, extglob: bool = False, aliases: Mapping[str, str] | None = None
) -> CommandList:
    """Return the whole script as a tree. Raise `ShellSyntaxError` where it breaks the grammar."""
    parser = Parser(text, extglob=extglob, aliases=aliases)
    commands: list[Command] = []
    while (command := parser.next_command()) is not None:
        commands.append(command)
    return CommandList(tuple(commands))
