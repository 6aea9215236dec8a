"""Trees back to text: as bash prints them for `declare -f` and `jobs`. Words appear as they were written."""

from __future__ import annotations

from agentsandbox.syntax.nodes import (
    AndOr,
    ArithmeticCommand,
    ArithmeticFor,
    Background,
    Case,
    Command,
    CommandList,
    CondAnd,
    CondBinary,
    Conditional,
    CondNot,
    CondOr,
    CondTest,
    CondUnary,
    CondWord,
    Coproc,
    For,
    FunctionDefinition,
    Group,
    HereDocument,
    If,
    Pipeline,
    Redirection,
    Select,
    SimpleCommand,
    Subshell,
    Unreadable,
    While,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["print_command", "print_function", "print_script"]

INDENT = "    "


class _Printer:
    """Collects text; here-documents wait until their line ends. `exact` text parses to an equal tree, other text is bash's."""

    def __init__(self, *, exact: bool = False) -> None:
        self.exact = exact
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

    def sequence(self, command: Command, *, last: str = ";") -> None:
        """The commands of a body, one a line, each ended."""
        commands = command.commands if isinstance(command, CommandList) else (command,)
        for number, each in enumerate(commands):
            if number:
                self.newline()
            self.documented = False
            self.command(each)
            final = number == len(commands) - 1
            if not isinstance(each, Background):
                ending = last if final else ";"
                if isinstance(each, FunctionDefinition) and final:
                    ending = last
                if self.documents or (self.documented and not self.exact and not final):
                    continue
                self.write(ending)
        self.flush_line_documents()

    def flush_line_documents(self) -> None:
        """A body must not go on on the line of a delimiter."""
        self.after_document = bool(self.documents)
        if self.documents:
            self.flush_documents()
            if self.exact:
                self.out[-1] = self.out[-1].rstrip("\n")

    def body(self, command: Command, *, last: str = ";") -> None:
        """An indented body on lines of its own."""
        self.level += 1
        self.newline()
        self.sequence(command, last=last)
        self.level -= 1
        self.newline()

    # commands

    def command(self, node: Command) -> None:
        _PRINTERS[type(node)](self, node)
        if not isinstance(node, SimpleCommand):
            self.redirections(node.redirections)

    def redirections(self, nodes: tuple[Redirection, ...]) -> None:
        for node in nodes:
            self.write(" " + self.redirection(node))

    def redirection(self, node: Redirection) -> str:
        prefix = f"{{{node.variable}}}" if node.variable is not None else ("" if node.descriptor is None else str(node.descriptor))
        target = node.target
        if isinstance(target, HereDocument):
            self.documents.append(target)
            quote = "'" if target.quoted else ""
            if self.exact:
                delimiter = target.delimiter.replace("'", "'\\''")
                return f"{prefix}{node.operator} {quote}{delimiter if quote else target.delimiter}{quote}"
            return f"{prefix}{node.operator}{quote}{target.delimiter}{quote}"
        if node.operator in (">&", "<&"):
            if self.exact:
                return f"{prefix}{node.operator}{target.source}"
            default = 1 if node.operator == ">&" else 0
            shown = prefix or (str(default) if target.source.isdigit() or target.source.startswith("$") or target.source == "-" else "")
            return f"{shown}{node.operator}{target.source}"
        return f"{prefix}{node.operator} {target.source}"

    def simple(self, node: SimpleCommand) -> None:
        pieces = [assignment.source for assignment in node.assignments]
        pieces.extend(word.source for word in node.words)
        pieces.extend(self.redirection(redirection) for redirection in node.redirections)
        self.write(" ".join(pieces))

    def pipeline(self, node: Pipeline) -> None:
        if node.timed:
            self.write(node.timed + " ")
        if node.negated:
            self.write("! ")
        for number, command in enumerate(node.commands):
            if number:
                operator = node.operators[number - 1]
                self.write(" 2>&1 |" if operator == "|&" and not self.exact else f" {operator}")
                if self.documents:
                    self.flush_documents()
                    self.write(" ")
                self.write(" ")
            self.command(command)

    def and_or(self, node: AndOr) -> None:
        self.command(node.first)
        for operator, command in node.rest:
            self.write(f" {operator} ")
            if self.documents and not self.exact:
                self.flush_documents()
                self.write(" ")
            self.command(command)

    def background(self, node: Background) -> None:
        self.command(node.command)
        self.write(" &")

    def command_list(self, node: CommandList) -> None:
        for number, each in enumerate(node.commands):
            if number:
                self.write(" " if isinstance(node.commands[number - 1], Background) else "; ")
            self.command(each)

    def subshell(self, node: Subshell) -> None:
        self.write("( ")
        self.sequence(node.body, last="")
        self.write(" )")

    def group(self, node: Group) -> None:
        self.write("{ ")
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
        self.sequence(node)
        if self.after_document and self.exact:
            self.write("\n" + INDENT * self.level)

    def while_(self, node: While) -> None:
        self.write("until " if node.until else "while ")
        self.condition(node.condition)
        self.write(" do")
        self.body(node.body)
        self.write("done")

    def for_(self, node: For) -> None:
        keyword = "select" if isinstance(node, Select) else "for"
        words = ("" if self.exact else ' in "$@"') if node.words is None else " in " + " ".join(word.source for word in node.words)
        self.write(f"{keyword} {node.name}{words};")
        self.newline()
        self.write("do")
        self.body(node.body)
        self.write("done")

    def arithmetic_for(self, node: ArithmeticFor) -> None:
        self.write(f"for (({node.start.source}; {node.condition.source}; {node.step.source}))")
        self.newline()
        self.write("do")
        self.body(node.body)
        self.write("done")

    def case(self, node: Case) -> None:
        self.write(f"case {node.word.source} in ")
        self.level += 1
        for clause in node.clauses:
            self.newline()
            self.write("(" if self.exact else "")
            self.write(" | ".join(pattern.source for pattern in clause.patterns) + ")")
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

    def arithmetic(self, node: ArithmeticCommand) -> None:
        self.write(f"(({node.expression.source}))")

    def conditional(self, node: Conditional) -> None:
        self.write(f"[[ {_condition(node.test, self.exact)} ]]")

    def unreadable(self, node: Unreadable) -> None:
        self.write(node.source_line or "")

    def coproc(self, node: Coproc) -> None:
        name = f"{node.name} " if node.name != "COPROC" or not isinstance(node.body, SimpleCommand) else ""
        self.write(f"coproc {name}")
        self.command(node.body)


def _condition(node: CondTest, exact: bool) -> str:
    if isinstance(node, CondWord):
        return node.word.source if exact else f"-n {node.word.source}"
    if isinstance(node, CondUnary):
        return f"{node.operator} {node.operand.source}"
    if isinstance(node, CondBinary):
        return f"{node.left.source} {node.operator} {node.right.source}"
    if isinstance(node, CondNot):
        inner = _condition(node.test, exact)
        return f"! ( {inner} )" if isinstance(node.test, (CondAnd, CondOr)) else f"! {inner}"
    if isinstance(node, CondAnd):
        left = f"( {_condition(node.left, exact)} )" if isinstance(node.left, (CondAnd, CondOr)) else _condition(node.left, exact)
        right = f"( {_condition(node.right, exact)} )" if isinstance(node.right, CondOr) else _condition(node.right, exact)
        return f"{left} && {right}"
    if isinstance(node, CondOr):
        left = f"( {_condition(node.left, exact)} )" if isinstance(node.left, CondOr) else _condition(node.left, exact)
        return f"{left} || {_condition(node.right, exact)}"
    raise TypeError(node)


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
    """A command as bash shows it."""
    printer = _Printer()
    printer.command(node)
    return printer.text()


def print_script(node: CommandList) -> str:
    """A whole script as text that parses to an equal tree, each complete command on lines of its own."""
    texts: list[str] = []
    for command in node.commands:
        printer = _Printer(exact=True)
        printer.command(command)
        text = printer.text()
        texts.append(text if text.endswith("\n") else text + "\n")
    return "".join(texts)


def print_function(node: FunctionDefinition) -> str:
    """A function as `declare -f` prints it, without a final newline."""
    printer = _Printer()
    printer.write(f"{node.name} () ")
    printer.newline()
    printer.function_body(node)
    return printer.text()
