"""Simple commands without words: assignments, redirections, or both (POSIX 2.9.1)."""

from __future__ import annotations

from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.assignments import (
    bind_assignment,
    compile_assignment,
    written_literal,
)
from agentsandbox.shell.interpreter.failures import (
    RedirectionError,
    command_ended,
    expansion_failed,
    finish,
)
from agentsandbox.shell.interpreter.redirections import (
    compile_redirections,
    finishing,
    release_all,
)
from agentsandbox.shell.interpreter.subshells import in_subshell, text_of
from agentsandbox.shell.interpreter.traps import before_command
from agentsandbox.shell.syntax.nodes import (
    ArithmeticSubstitution,
    DoubleQuoted,
    Literal,
    Node,
    Parameter,
    Quoted,
    SimpleCommand,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.interpreter.assignments import Binder
    from agentsandbox.shell.interpreter.shell import Run, Shell


def compile_assignments(node: SimpleCommand) -> Run:
    """Compile assignments, redirections, or both."""
    assignments = [compile_assignment(assignment) for assignment in node.assignments]
    redirect = _opened_and_closed(node) if node.redirections else None
    line = node.line
    bound: list[Binder] = []
    """What binds the assignments under `set -x`, once that was on: compiled with the others, an
    assignment in a substitution in an assignment would be compiled twice for each level."""
    literals = [written_literal(assignment) for assignment in node.assignments]
    text: list[str] = []
    only = assignments[0] if len(assignments) == 1 else None

    def assign(shell: Shell) -> int:
        shell.line = line
        shell.control.substitution_status = None
        if shell.slow:
            if not text:
                text.append(text_of(node))
            if before_command(shell, text[0], line):
                return 0
        budget = shell.budget
        budget.whole = True
        try:
            if only is not None and not shell.options.xtrace:
                only(shell)
            elif shell.options.xtrace:
                if not bound:
                    bound.extend(bind_assignment(each) for each in node.assignments)
                _assign_traced(shell, bound, literals)
            else:
                for assignment in assignments:
                    assignment(shell)
            status = shell.control.substitution_status or 0
            if redirect is not None:
                redirect(shell)
        except ExpansionError as error:
            status = expansion_failed(shell, error)
        except RedirectionError:
            status = 1
        finally:
            budget.whole = False
        shell.specials.last_argument = ""
        return command_ended(shell, status, line)

    words = [
        word
        for assignment in node.assignments
        for word in (assignment.value, assignment.subscript)
        if word is not None
    ]
    if only is not None and redirect is None and all(map(_runs_no_command, words)):
        return _one_assignment(only, line, assign)
    return finishing(assign, [word for word in words if isinstance(word, Word)])


def _opened_and_closed(node: SimpleCommand) -> Callable[[Shell], object]:
    """Compile redirections without words. For `{fd}>file` bash forks: the variable is lost."""
    redirections = compile_redirections(node.redirections)

    def redirect(shell: Shell) -> int:
        _, opened = redirections(shell)
        release_all(opened)
        return 0

    if all(redirection.variable is None for redirection in node.redirections):
        return redirect
    return in_subshell(redirect, node.line, node)


def _runs_no_command(value: Node) -> bool:
    """Whether the expansion of a value runs no command, whose status would be the assignment's."""
    if isinstance(value, (Word, DoubleQuoted)):
        return all(_runs_no_command(part) for part in value.parts)
    if isinstance(value, ArithmeticSubstitution):
        return _runs_no_command(value.expression)
    if isinstance(value, Parameter):
        return value.subscript is None and all(
            _runs_no_command(operand) for operand in value.operands
        )
    return isinstance(value, (Literal, Quoted))


def _one_assignment(assign: Callable[[Shell], None], line: int, general: Run) -> Run:
    """Compile one assignment whose value runs no command: its status is 0."""

    def run(shell: Shell) -> int:
        if shell.slow:
            return general(shell)
        shell.line = line
        budget = shell.budget
        budget.whole = True
        try:
            assign(shell)
        except ExpansionError as error:
            budget.whole = False
            return finish(shell, expansion_failed(shell, error), line)
        budget.whole = False
        shell.specials.last_argument = ""
        shell.status = 0
        return 0

    return run


def _assign_traced(shell: Shell, bound: list[Binder], literals: list[str]) -> None:
    from agentsandbox.shell.interpreter.tracing import trace_text

    for bind, literal in zip(bound, literals, strict=True):
        if literal:  # shown as it was written, before anything in it is expanded
            trace_text(shell, literal)
            bind(shell).apply(shell)
            continue
        assignment = bind(shell)
        trace_text(shell, assignment.text())
        assignment.apply(shell)
