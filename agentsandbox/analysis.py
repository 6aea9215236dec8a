"""`analyze`: what a script would do, without running it."""

from __future__ import annotations

from agentsandbox.errors import LimitReached, ShellSyntaxError
from agentsandbox.shell.builtins import find_builtin
from agentsandbox.shell.syntax.compound_nodes import (
    ArithmeticFor,
    Case,
    Conditional,
    Coproc,
    For,
    If,
    While,
)
from agentsandbox.shell.syntax.nodes import (
    AndOr,
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
    Literal,
    Node,
    Parameter,
    Part,
    Pipeline,
    ProcessSubstitution,
    Quoted,
    Redirection,
    SimpleCommand,
    Subshell,
    Word,
)
from agentsandbox.shell.syntax.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Analysis", "FoundCommand", "FoundRedirection", "Opaque", "analyze"]

_MODES = {
    "<": "read",
    ">": "write",
    ">|": "write",
    ">>": "append",
    "<>": "read-write",
    "&>": "write",
    "&>>": "append",
    ">&": "write",
}
_RUNS_TEXT = frozenset(("eval", "source", ".", "trap"))
_SHELLS = frozenset(("sh", "bash", "dash"))


class FoundCommand:
    """A simple command: its name and arguments, each None if it is only known at run time."""

    __slots__ = ("arguments", "line", "name")

    def __init__(self, name: str | None, arguments: tuple[str | None, ...], line: int) -> None:
        self.name = name
        self.arguments = arguments
        self.line = line

    def __repr__(self) -> str:
        return f"FoundCommand(name={self.name!r}, arguments={self.arguments!r}, line={self.line})"


class FoundRedirection:
    """A redirection of a file: mode "read", "write", "append" or "read-write", and its path.

    The path is None if it is only known at run time.
    """

    __slots__ = ("line", "mode", "path")

    def __init__(self, mode: str, path: str | None, line: int) -> None:
        self.mode = mode
        self.path = path
        self.line = line

    def __repr__(self) -> str:
        return f"FoundRedirection(mode={self.mode!r}, path={self.path!r}, line={self.line})"


class Opaque:
    """Something with an unpredictable effect: a command named by a variable, `eval`, sourcing."""

    __slots__ = ("line", "reason", "text")

    def __init__(self, reason: str, text: str, line: int) -> None:
        self.reason = reason
        self.text = text
        self.line = line

    def __repr__(self) -> str:
        return f"Opaque(reason={self.reason!r}, text={self.text!r}, line={self.line})"


class Analysis:
    """The result of `analyze`, in the order of the script, with functions and substitutions."""

    __slots__ = ("commands", "functions", "opaque", "redirections")

    def __init__(self) -> None:
        self.commands: list[FoundCommand] = []
        self.redirections: list[FoundRedirection] = []
        self.functions: list[str] = []
        self.opaque: list[Opaque] = []

    def __repr__(self) -> str:
        return (
            f"Analysis(commands={self.commands!r}, redirections={self.redirections!r}, "
            f"functions={self.functions!r}, opaque={self.opaque!r})"
        )

    def missing(self, known: Iterable[str]) -> list[str]:
        """Return the commands that are not in `known`, which is `Sandbox.command_names()`.

        So `python3` is among them if the sandbox has no Python. Functions of the script, builtins,
        paths, and names that are known only when the script runs are left out.
        """
        found = {*known, *self.functions}
        names = dict.fromkeys([command.name or "/" for command in self.commands])
        return [
            name
            for name in names
            if "/" not in name and name not in found and find_builtin(name) is None
        ]


def analyze(script: str) -> Analysis:
    """Return the commands, redirections and functions of a script, and what is opaque.

    Raises `ShellSyntaxError` if it is not shell grammar or is nested too deeply to read.
    """
    if not isinstance(script, str):
        raise TypeError(f"script must be a str, not {type(script).__name__}")
    analysis = Analysis()
    try:
        pending: list[Node] = [parse(script, extglob="extglob" in script)]
    except (RecursionError, LimitReached):
        raise ShellSyntaxError("nested too deeply") from None
    while pending:
        node = pending.pop()
        if isinstance(node, SimpleCommand):
            _note_command(analysis, node)
        elif isinstance(node, FunctionDefinition):
            analysis.functions.append(node.name)
        if isinstance(node, Command):
            for redirection in node.redirections:
                _note_redirection(analysis, redirection)
        pending.extend(reversed(list(_children(node))))
    return analysis


def known_text(word: Word) -> str | None:
    """Return the text of a word that depends on nothing and stays one word; otherwise None."""
    texts: list[tuple[str, bool]] = []
    return _joined(texts) if _collect(word.parts, texts, quoted=False) else None


def _collect(parts: Iterable[Part], texts: list[tuple[str, bool]], *, quoted: bool) -> bool:
    """Add (text, whether it is quoted) for each part; return False for one that is not known."""
    for part in parts:
        if isinstance(part, (Quoted, Literal)):
            texts.append((part.text, quoted or isinstance(part, Quoted)))
        elif not isinstance(part, DoubleQuoted) or not _collect(part.parts, texts, quoted=True):
            return False
    return True


def _joined(texts: list[tuple[str, bool]]) -> str | None:
    """Return the text, or None if it is a pattern, a brace expansion or has a tilde to expand.

    `[` alone and `{}` are themselves.
    """
    bare = "".join("_" * len(text) if quoted else text for text, quoted in texts)
    if bare.startswith("~") or any(mark in bare for mark in ("=~", ":~", "*", "?", "(")):
        return None
    if "[" in bare and "]" in bare[bare.index("[") + 2 :]:
        return None
    if "{" in bare and ("," in bare or ".." in bare) and "}" in bare[bare.index("{") :]:
        return None
    return "".join(text for text, _ in texts)


def _note_command(analysis: Analysis, node: SimpleCommand) -> None:
    if not node.words:
        return
    texts = [known_text(word) if isinstance(word, Word) else word.source for word in node.words]
    name, arguments = texts[0], tuple(texts[1:])
    analysis.commands.append(FoundCommand(name, arguments, node.line))
    shown = " ".join(word.source for word in node.words)
    if name is None:
        analysis.opaque.append(
            Opaque("the command's name is only known when it runs", shown, node.line)
        )
    elif name in _RUNS_TEXT and (name != "trap" or len(arguments) > 1):
        analysis.opaque.append(
            Opaque(f"`{name}` runs text that is not part of the script", shown, node.line)
        )
    elif name in _SHELLS and "-c" in arguments:
        analysis.opaque.append(
            Opaque(f"`{name} -c` runs text as a script of its own", shown, node.line)
        )


def _note_redirection(analysis: Analysis, redirection: Redirection) -> None:
    if isinstance(redirection.target, HereDocument) or redirection.operator == "<<<":
        return
    path = known_text(redirection.target)
    if redirection.operator in (">&", "<&") and (
        path is None or path.rstrip("-").isdigit() or path == "-"
    ):
        return
    analysis.redirections.append(
        FoundRedirection(_MODES[redirection.operator], path, redirection.line)
    )


def _children(node: Node) -> Iterator[Node]:
    """Yield what is directly inside a node: commands, and nodes that may hold a substitution."""
    if isinstance(node, CommandList):
        yield from node.commands
    elif isinstance(node, SimpleCommand):
        for assignment in node.assignments:
            yield from _value_parts(assignment)
        for word in node.words:
            yield from _value_parts(word) if isinstance(word, Assignment) else iter(word.parts)
    elif isinstance(node, Pipeline):
        yield from node.commands
    elif isinstance(node, AndOr):
        yield node.first
        for _, command in node.rest:
            yield command
    elif isinstance(node, Background):
        yield node.command
    elif isinstance(node, (Subshell, Group, FunctionDefinition, Coproc)):
        yield node.body
    elif isinstance(node, ArithmeticFor):
        for expression in (node.start, node.condition, node.step):
            yield from expression.parts
        yield node.body
    elif isinstance(node, If):
        for condition, body in node.clauses:
            yield condition
            yield body
        if node.otherwise is not None:
            yield node.otherwise
    elif isinstance(node, While):
        yield node.condition
        yield node.body
    elif isinstance(node, For):
        for word in node.words or ():
            yield from word.parts
        yield node.body
    elif isinstance(node, Case):
        yield from node.word.parts
        for clause in node.clauses:
            for pattern in clause.patterns:
                yield from pattern.parts
            if clause.body is not None:
                yield clause.body
    elif isinstance(node, Conditional):
        yield node.test
    elif isinstance(node, Part):
        yield from _inside_part(node)
    else:
        for name in node.__slots__:
            value = getattr(node, name)
            if isinstance(value, Word):
                yield from value.parts
            elif isinstance(value, Node):
                yield value
    if isinstance(node, Command):
        for redirection in node.redirections:
            target = redirection.target
            yield from target.body.parts if isinstance(target, HereDocument) else target.parts


def _value_parts(assignment: Assignment) -> Iterator[Node]:
    if assignment.subscript is not None:
        yield from assignment.subscript.parts
    if isinstance(assignment.value, ArrayLiteral):
        for element in assignment.value.elements:
            if element.subscript is not None:
                yield from element.subscript.parts
            yield from element.value.parts
    else:
        yield from assignment.value.parts


def _inside_part(part: Part) -> Iterator[Node]:
    if isinstance(part, DoubleQuoted):
        yield from part.parts
    elif isinstance(part, (CommandSubstitution, ProcessSubstitution)):
        if part.body is not None:
            yield part.body
    elif isinstance(part, Parameter):
        for operand in part.operands:
            yield from operand.parts
        if part.subscript is not None:
            yield from part.subscript.parts
    else:
        expression = getattr(part, "expression", None)
        if isinstance(expression, Word):
            yield from expression.parts
