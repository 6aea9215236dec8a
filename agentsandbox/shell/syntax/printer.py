"""Trees back to text, as bash prints them for `declare -f` and `jobs`."""

from __future__ import annotations

import re

from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.syntax.ansi_c import decode_ansi_c
from agentsandbox.shell.syntax.compound_nodes import (
    ArithmeticFor,
    Case,
    CondAnd,
    CondBinary,
    CondGroup,
    Conditional,
    CondNot,
    CondOr,
    CondTest,
    CondUnary,
    CondWord,
    Coproc,
    For,
    If,
    Select,
    While,
)
from agentsandbox.shell.syntax.nodes import (
    AndOr,
    ArithmeticCommand,
    ArithmeticSubstitution,
    ArrayLiteral,
    Assignment,
    Background,
    Command,
    CommandList,
    CommandSubstitution,
    DoubleQuoted,
    FunctionDefinition,
    Group,
    HereDocument,
    Node,
    Parameter,
    Part,
    Pipeline,
    ProcessSubstitution,
    Redirection,
    SimpleCommand,
    Subshell,
    Unreadable,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

INDENT = "    "


class _Printer:
    """Collects text; here-documents wait until their line ends.

    exact          print text that parses to an equal tree; other text is bash's
    inline         bash's other way of printing, outside of functions: lists and groups on one line
    substitution   inside a substitution: commands from different lines are on different lines
    """

    def __init__(
        self, *, exact: bool = False, inline: bool = False, substitution: bool = False
    ) -> None:
        self.exact = exact
        self.inline = inline
        self.substitution = substitution
        self.out: list[str] = []
        self.level = 0
        self.after_document = False
        self.documented = False
        self.documents: list[HereDocument] = []

    def text(self) -> str:
        """All that was printed, with the here-documents that still wait."""
        self.flush_documents()
        return "".join(self.out)

    def write(self, text: str) -> None:
        self.out.append(text)

    def newline(self) -> None:
        """End the line and indent the next one."""
        if self.documents:
            self.flush_documents()
            self.write(INDENT * self.level if self.exact else "\n" + INDENT * self.level)
            return
        self.write("\n" + INDENT * self.level)

    def flush_documents(self) -> None:
        """Write the bodies of the here-documents of this line."""
        if not self.documents:
            return
        documents, self.documents = self.documents, []
        self.documented = True
        self.write("\n")
        for document in documents:
            self.write(document.body.source)
            self.write(document.delimiter + "\n")

    # lists

    def sequence(self, command: Command, *, last: str = ";", header: bool = False) -> None:
        """Print the commands of a body, one a line; a `header` leaves here-documents waiting."""
        commands = command.commands if isinstance(command, CommandList) else (command,)
        for number, each in enumerate(commands):
            if number:
                waiting = bool(self.documents) and not isinstance(commands[number - 1], Background)
                self.between(commands[number - 1], each)
                if waiting and number > 1:
                    self.documented = False  # the semicolon left out was the one right behind it
            self.command(each)
            final = number == len(commands) - 1
            if isinstance(each, Background) or (self.documents and not (final and header)):
                continue
            # bash leaves out one semicolon behind a here-document
            if self.documented and not self.exact and not final:
                self.documented = False
                continue
            self.write(last if final else ";")
        if not header:
            self.flush_line_documents()

    def between(self, before: Command, after: Command) -> None:
        """Return what separates two commands of a list, besides the semicolon."""
        if self.exact or (self.documents and not isinstance(before, Background)):
            self.newline()
        elif isinstance(before, Background):
            if self.documents:
                self.flush_documents()
                self.write(" ")
            self.write(" ")
        elif not self.inline:
            self.newline()
        elif self.substitution and line_of(after) > line_of(before) > 0:
            if self.out[-1] == ";":
                self.out.pop()
            self.write("\n")
        else:
            self.write(" ")

    def flush_line_documents(self) -> None:
        """End the line before a body if a here-document waits."""
        self.after_document = bool(self.documents)
        if self.documents:
            self.flush_documents()
            if self.exact:
                self.out[-1] = self.out[-1].rstrip("\n")

    def body(self, command: Command, *, last: str = ";") -> None:
        """An indented body on lines of its own."""
        self.level += 1
        if self.exact:
            self.newline()
        else:
            self.write("\n" + INDENT * self.level)
        self.sequence(command, last=last)
        self.level -= 1
        self.newline()

    # commands

    def command(self, node: Command) -> None:
        if self.exact and isinstance(node, Conditional):
            self.documents.extend(_outside(node))
        _PRINTERS[type(node)](self, node)
        if not isinstance(node, SimpleCommand):
            self.redirections(node.redirections)

    def redirections(self, nodes: tuple[Redirection, ...]) -> None:
        if nodes:
            self.documented = False
        for node in nodes:
            self.write(" " + self.redirection(node))

    def redirection(self, node: Redirection) -> str:
        prefix = (
            f"{{{node.variable}}}"
            if node.variable is not None
            else ("" if node.descriptor is None else str(node.descriptor))
        )
        target = node.target
        if isinstance(target, HereDocument):
            self.documents.append(target)
            quote = "'" if target.quoted else ""
            if self.exact:
                escaped = target.delimiter.replace("'", "'\\''") if quote else target.delimiter
                return f"{prefix}{node.operator} {quote}{escaped}{quote}"
            return f"{prefix}{node.operator}{quote}{target.delimiter}{quote}"
        if node.operator in (">&", "<&"):
            if self.exact:
                return f"{prefix}{node.operator}{target.source}"
            default = 1 if node.operator == ">&" else 0
            plain = target.source.removesuffix("-")
            shown = prefix or (
                str(default) if not plain or (plain.isdigit() and plain.isascii()) else ""
            )
            return f"{shown}{node.operator if plain else '>&'}{self.word(target)}"
        if not self.exact and node.descriptor == (
            0 if node.operator[0] == "<" and node.operator != "<>" else 1
        ):
            prefix = ""
        elif node.operator == "<>" and not self.exact:
            prefix = prefix or "0"
        return f"{prefix}{node.operator} {self.word(target)}"

    def word(self, word: Word) -> str:
        if not self.exact:
            return shown_word(word)
        if "<<" in word.source:
            self.documents.extend(_outside(word))
        return word.source

    def assignment(self, node: Assignment) -> str:
        if self.exact:
            if "<<" in node.source:
                self.documents.extend(_outside(node))
            return node.source
        operator = "+=" if node.append else "="
        subscript = f"[{shown_word(node.subscript)}]" if node.subscript is not None else ""
        return f"{node.name}{subscript}{operator}{_value(node.value)}"

    def simple(self, node: SimpleCommand) -> None:
        pieces = [self.assignment(assignment) for assignment in node.assignments]
        pieces.extend(
            self.word(word) if isinstance(word, Word) else self.assignment(word)
            for word in node.words
        )
        if node.redirections:
            self.documented = False
        pieces.extend(self.redirection(redirection) for redirection in node.redirections)
        self.write(" ".join(pieces))

    def pipeline(self, node: Pipeline) -> None:
        if node.timed:
            self.write(node.timed + " ")
        if node.negated:
            self.write("! ")
        elif not node.timed and len(node.commands) == 1:
            self.write("! ! ")
        for number, command in enumerate(node.commands):
            if number:
                self.write(" |")
                if self.documents:
                    self.flush_documents()
                    self.write(" ")
                self.write(" ")
            self.command(command)
        if number and not self.exact:
            self.flush_documents()

    def and_or(self, node: AndOr) -> None:
        self.command(node.first)
        for operator, command in node.rest:
            self.write(f" {operator} ")
            if self.documents and not self.exact:
                self.flush_documents()
                self.write(" ")
            self.command(command)
        if not self.exact:
            self.flush_documents()

    def background(self, node: Background) -> None:
        self.command(node.command)
        self.write(" &")

    def command_list(self, node: CommandList) -> None:
        if not self.exact and self.inline:
            self.sequence(node, last="")
            return
        for number, each in enumerate(node.commands):
            if number:
                self.write(" " if isinstance(node.commands[number - 1], Background) else "; ")
            self.command(each)

    def subshell(self, node: Subshell) -> None:
        self.write("( ")
        self.sequence(node.body, last="")
        self.write("\n)" if self.exact and self.after_document else " )")

    def group(self, node: Group) -> None:
        self.write("{ ")
        if self.inline:
            self.sequence(node.body)
            self.write(" ")
        else:
            self.body(node.body, last="")
        self.write("}")

    def if_(self, node: If) -> None:
        for number, (condition, body) in enumerate(node.clauses):
            if number:
                self.write("el" if self.exact else "else")
                if not self.exact:
                    self.level += 1
                    self.newline()
            self.write("if ")
            self.condition(condition)
            self.write(" then")
            self.body(body)
        if node.otherwise is not None:
            self.write("else")
            self.body(node.otherwise)
        self.write("fi")
        for _ in () if self.exact else node.clauses[1:]:
            self.write(";")
            self.level -= 1
            self.newline()
            self.write("fi")

    def condition(self, node: Command) -> None:
        """The commands before `then` or `do`, which cannot stand on the line of a delimiter."""
        if not self.exact:
            self.sequence(node, header=True)
            return
        self.sequence(node)
        if self.after_document:
            self.write("\n" + INDENT * self.level)

    def while_(self, node: While) -> None:
        self.write("until " if node.until else "while ")
        if self.exact:
            self.condition(node.condition)
        else:
            self.sequence(node.condition)
        self.write(" do")
        self.body(node.body)
        self.write("done")

    def for_(self, node: For) -> None:
        keyword = "select" if isinstance(node, Select) else "for"
        words = (
            ("" if self.exact else ' in "$@"')
            if node.words is None
            else " in " + " ".join(self.word(word) for word in node.words)
        )
        self.write(f"{keyword} {node.name}{words};")
        self.newline()
        self.write("do")
        self.body(node.body)
        self.write("done")

    def arithmetic_for(self, node: ArithmeticFor) -> None:
        parts = (node.start, node.condition, node.step)
        shown = [part.source if self.exact else shown_word(part) or "1" for part in parts]
        self.write(f"for (({'; '.join(shown)}))")
        self.newline()
        self.write("do")
        self.body(node.body)
        self.write("done")

    def case(self, node: Case) -> None:
        self.write(f"case {self.word(node.word)} in ")
        self.level += 1
        for clause in node.clauses:
            self.newline()
            self.write("(" if self.exact else "")
            self.write(" | ".join(self.word(pattern) for pattern in clause.patterns) + ")")
            self.level += 1
            if clause.body is not None:
                self.newline()
                self.sequence(clause.body, last="")
            else:
                self.write("\n")
            self.level -= 1
            self.newline()
            self.write(clause.terminator)
        self.level -= 1
        self.newline()
        self.write("esac")

    def function(self, node: FunctionDefinition) -> None:
        self.write(f"function {node.name} () ")
        self.newline()
        if self.exact:
            self.command(node.body)
        else:
            self.function_body(node)

    def function_body(self, node: FunctionDefinition) -> None:
        """The body in braces, as `declare -f` shows any kind of body."""
        body = node.body
        inline, self.inline = self.inline, False
        self.write("{ ")
        if isinstance(body, Group):
            self.body(body.body, last="")
        else:
            self.level += 1
            self.newline()
            self.command(body)
            self.level -= 1
            self.newline()
        self.write("}")
        if isinstance(body, Group):
            self.redirections(body.redirections)
        self.inline = inline
        self.documented = False

    def arithmetic(self, node: ArithmeticCommand) -> None:
        self.write(f"(({self.word(node.expression)}))")

    def conditional(self, node: Conditional) -> None:
        self.write(f"[[ {_condition(node.test, self.exact)} ]]")

    def unreadable(self, node: Unreadable) -> None:
        self.write(node.source_line or "")

    def coproc(self, node: Coproc) -> None:
        plain = self.exact and node.name == "COPROC" and isinstance(node.body, SimpleCommand)
        self.write("coproc " if plain else f"coproc {node.name} ")
        self.command(node.body)


def _condition(node: CondTest, exact: bool) -> str:
    if isinstance(node, CondWord):
        return node.word.source if exact else f"-n {shown_word(node.word)}"
    if isinstance(node, CondUnary):
        return f"{node.operator} {node.operand.source if exact else shown_word(node.operand)}"
    if isinstance(node, CondBinary):
        left, right = (
            word.source if exact else shown_word(word) for word in (node.left, node.right)
        )
        return f"{left} {node.operator} {right}"
    if isinstance(node, CondGroup):
        return f"( {_condition(node.test, exact)} )"
    if isinstance(node, CondNot):
        return f"! {_condition(node.test, exact)}"
    if isinstance(node, CondAnd):
        return f"{_condition(node.left, exact)} && {_condition(node.right, exact)}"
    if isinstance(node, CondOr):
        return f"{_condition(node.left, exact)} || {_condition(node.right, exact)}"
    raise TypeError(node)


def line_of(node: Command) -> int:
    """Return the line of a command, 0 if unknown."""
    while isinstance(node, (AndOr, Pipeline, Background)):
        node = (
            node.first
            if isinstance(node, AndOr)
            else node.command
            if isinstance(node, Background)
            else node.commands[0]
        )
    line: int = getattr(node, "line", 0)
    return line


def _value(value: Word | ArrayLiteral) -> str:
    if isinstance(value, Word):
        return shown_word(value)
    shown = []
    for element in value.elements:
        key = (
            f"[{shown_word(element.subscript)}]{'+=' if element.append else '='}"
            if element.subscript is not None
            else ""
        )
        shown.append(key + shown_word(element.value))
    return f"({' '.join(shown)})"


_PATTERN_OPERATION = lazily(r"\$\{!?(?:\w+|[@*?$!-]|#(?!\w))(?:\[[^]]*\])?[%#/^,]")
_ANSI = lazily(
    r"\\.|`(?:[^`\\]|\\.)*`|'[^']*'|\$'((?:[^'\\]|\\.)*)'|\$(?=\")|\"|\$?[({]|[)}]", re.DOTALL
)


def shown_word(word: Word) -> str:
    """Return a word as bash keeps it: $'…' as '…'; $(…) and <(…) printed from their trees."""
    source = word.source
    if source.endswith("\\") and _LONE_BACKSLASH.search(source):
        source += "\\"
    substitutions = list(_substitutions(word.parts)) if "(" in source else []
    if not substitutions and "\\\n" not in source and "$'" not in source and '$"' not in source:
        return source
    pieces: list[str] = []
    end = 0
    for substitution in substitutions:
        start = source.find(substitution.source, end)
        if start < 0:
            continue
        pieces += [
            _without_ansi(_joined(source[end:start]), "".join(pieces)),
            _substituted(substitution),
        ]
        end = start + len(substitution.source)
    return "".join(pieces) + _without_ansi(_joined(source[end:]), "".join(pieces))


_LONE_BACKSLASH = lazily(r"(?<!\\)(?:\\\\)*+\\\Z")
"""A backslash with nothing behind it, at the end of a script, which bash keeps as two."""


def _joined(text: str) -> str:
    """Return the text with joined lines joined."""
    return _JOINED.sub(_join, text) if "\\\n" in text else text


_JOINED = lazily(r"""\\(.)|'[^']*'|"((?:[^"\\]|\\.)*)\"""", re.DOTALL)


def _join(match: re.Match[str]) -> str:
    """Return a backslash or a quoted text with joined lines joined."""
    if match[1] == "\n":
        return ""
    return (
        re.sub(
            r"\\(.)", lambda inner: "" if inner[1] == "\n" else inner[0], match[0], flags=re.DOTALL
        )
        if match[2]
        else match[0]
    )


def _substitutions(parts: tuple[Part, ...]) -> Iterator[CommandSubstitution | ProcessSubstitution]:
    """Return the substitutions that have a source, in the order of the text."""
    for part in parts:
        if isinstance(part, (CommandSubstitution, ProcessSubstitution)):
            if part.source:
                yield part
        elif isinstance(part, DoubleQuoted):
            yield from _substitutions(part.parts)
        elif isinstance(part, ArithmeticSubstitution):
            yield from _substitutions(part.expression.parts)
        elif isinstance(part, Parameter):
            for operand in (part.subscript, *part.operands):
                if operand is not None:
                    yield from _substitutions(operand.parts)


def _outside(node: Node) -> Iterator[HereDocument]:
    """Return the here-documents in substitutions whose bodies begin behind the line."""
    if isinstance(node, (CommandSubstitution, ProcessSubstitution)):
        yield from node.outside
        return
    for name in node.__slots__:
        value = getattr(node, name) if name != "redirections" else ()
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Node) and not isinstance(each, _APART):
                yield from _outside(each)


_APART = (Command, HereDocument)
"""Nodes with lines of their own."""


def _substituted(node: CommandSubstitution | ProcessSubstitution) -> str:
    start = "$(" if isinstance(node, CommandSubstitution) else f"{node.direction}("
    if node.body is None or isinstance(node.body, Unreadable):
        return f"{start})" if node.body is None else node.source
    printer = _Printer(inline=True, substitution=True)
    printer.command(node.body)
    text = printer.text()
    return f"{start}{' ' if text.startswith('(') else ''}{text})"


def _without_ansi(text: str, before: str) -> str:
    """Return the text with $'…' turned to '…' and $"…" to "…"; `before` says which quotes it is in.

    In double quotes $'…' counts only inside of ${…}, and gets quotes of its own in a pattern.
    """
    if "$'" not in text and '$"' not in text:
        return text
    quoted = len(re.findall(r'(?<!\\)"', before)) % 2 == 1
    braces: list[bool] = []
    """For each open brace whether quotes are dropped in it."""
    pieces: list[str] = []
    end = 0
    for found in _ANSI.finditer(text):
        token = found[0]
        if quoted and not braces and token[0] == "'":
            continue
        pieces.append(text[end : found.start()])
        end = found.end()
        if token == '"':
            quoted = not quoted
            pieces.append(token)
        elif found[1] is not None and (not quoted or braces):
            value = decode_ansi_c(found[1])
            pieces.append(
                value if quoted and braces[-1] else "'" + value.replace("'", "'\\''") + "'"
            )
        elif token == "$" and not quoted:
            continue
        else:
            if token == "${":
                braces.append(_PATTERN_OPERATION.match(text, found.start()) is None)
            elif token == "}" and braces:
                braces.pop()
            pieces.append(token)
    return "".join(pieces) + text[end:]


_PRINTERS: dict[type, Callable[..., None]] = {
    SimpleCommand: _Printer.simple,
    Pipeline: _Printer.pipeline,
    AndOr: _Printer.and_or,
    Background: _Printer.background,
    CommandList: _Printer.command_list,
    Subshell: _Printer.subshell,
    Group: _Printer.group,
    If: _Printer.if_,
    While: _Printer.while_,
    For: _Printer.for_,
    Select: _Printer.for_,
    ArithmeticFor: _Printer.arithmetic_for,
    Case: _Printer.case,
    FunctionDefinition: _Printer.function,
    ArithmeticCommand: _Printer.arithmetic,
    Conditional: _Printer.conditional,
    Coproc: _Printer.coproc,
    Unreadable: _Printer.unreadable,
}


def print_command(node: Command) -> str:
    """Return a command as bash prints it."""
    printer = _Printer(inline=True)
    printer.command(node)
    return printer.text()


def print_script(node: CommandList) -> str:
    """Return a whole script as text that parses to an equal tree."""
    texts: list[str] = []
    for command in node.commands:
        printer = _Printer(exact=True)
        printer.command(command)
        text = printer.text()
        texts.append(text if text.endswith("\n") else text + "\n")
    return "".join(texts)


def print_function(node: FunctionDefinition) -> str:
    """Return a function as `declare -f` prints it, without the final newline."""
    printer = _Printer()
    printer.write(f"{node.name} () ")
    printer.newline()
    printer.function_body(node)
    return printer.text()
