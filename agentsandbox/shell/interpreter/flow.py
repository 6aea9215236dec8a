"""Lists, conditions and loops."""

from __future__ import annotations

from agentsandbox.errors import Break, Continue, Exit
from agentsandbox.kernel.accounts import LARGE, is_large
from agentsandbox.kernel.patterns.matchers import compile_shell_pattern
from agentsandbox.kernel.quoting import quote_glob
from agentsandbox.kernel.streams import bytewise
from agentsandbox.shell.expansion.compiling import compiled_later
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import NAMEREF, NameReference, is_name
from agentsandbox.shell.interpreter.dispatch import compile_command, compiles
from agentsandbox.shell.interpreter.failures import expansion_failed
from agentsandbox.shell.interpreter.redirections import finishing, redirected
from agentsandbox.shell.interpreter.traps import before_command, run_pending_traps
from agentsandbox.shell.interpreter.words import WORDS
from agentsandbox.shell.syntax.compound_nodes import (
    ArithmeticFor,
    Case,
    Conditional,
    For,
    If,
    While,
)
from agentsandbox.shell.syntax.nodes import (
    AndOr,
    ArithmeticCommand,
    Command,
    CommandList,
    Group,
    Literal,
    Quoted,
    SimpleCommand,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.expansion.compiling import Fields
    from agentsandbox.shell.interpreter.shell import Run, Shell


@compiles(CommandList)
def _list(node: CommandList) -> Run:
    commands = [compile_command(command) for command in node.commands]
    if len(commands) == 2:
        first, second = commands

        def run_two(shell: Shell) -> int:
            first(shell)
            return second(shell)

        return run_two
    *most, last = commands

    def run_list(shell: Shell) -> int:
        for command in most:
            command(shell)
        return last(shell)

    return run_list


_PLAIN_TESTS = frozenset(("[", "test", ":", "true", "false", "read"))


def _is_plain_test(node: Command) -> bool:
    """Whether a condition runs no other code of the script, so that `set -e` needs no care."""
    if isinstance(node, (ArithmeticCommand, Conditional)):
        return True
    if not isinstance(node, SimpleCommand) or not node.words:
        return False
    if node.redirections or node.assignments:
        return False
    first = node.words[0]
    return isinstance(first, Word) and first.source in _PLAIN_TESTS


def compile_condition(node: Command) -> Run:
    """Compile a command in a condition: `set -e` and ERR do not apply inside it."""
    run = compile_command(node)
    is_plain = _is_plain_test(node)

    def condition(shell: Shell) -> int:
        if is_plain and not shell.check:
            return run(shell)
        shell.control.ignore += 1
        try:
            return run(shell)
        finally:
            shell.control.ignore -= 1

    return condition


@compiles(AndOr)
def _and_or(node: AndOr) -> Run:
    last = len(node.rest) - 1
    first = compile_condition(node.first)
    rest = [
        (
            operator == "&&",
            compile_command(command) if number == last else compile_condition(command),
        )
        for number, (operator, command) in enumerate(node.rest)
    ]

    def run_and_or(shell: Shell) -> int:
        status = first(shell)
        for wants_success, command in rest:
            if (status == 0) == wants_success:
                status = command(shell)
        return status

    return run_and_or


@compiles(Group)
def _group(node: Group) -> Run:
    return redirected(node.redirections, compile_command(node.body))


@compiles(If)
def _if(node: If) -> Run:
    clauses = [
        (compile_condition(condition), compile_command(body)) for condition, body in node.clauses
    ]
    otherwise = compile_command(node.otherwise) if node.otherwise is not None else None

    def run_if(shell: Shell) -> int:
        for condition, body in clauses:
            if condition(shell) == 0:
                return body(shell)
        if otherwise is not None:
            return otherwise(shell)
        shell.status = 0
        return 0

    return redirected(node.redirections, run_if)


def leave_loop(shell: Shell) -> bool:
    """Count one loop as left by `break` or `continue`; return whether an outer one is meant."""
    shell.control.break_levels -= 1
    return shell.control.break_levels > 0


@compiles(While)
def _while(node: While) -> Run:
    condition = compile_condition(node.condition)
    body = compile_command(node.body)
    wanted_zero = not node.until

    def run_while(shell: Shell) -> int:
        budget = shell.budget
        status = 0
        shell.control.loops += 1
        try:
            while True:
                try:
                    if (condition(shell) == 0) is not wanted_zero:
                        break
                except Continue:
                    if leave_loop(shell):
                        raise Continue from None
                    budget.step()
                    continue
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                    if shell.traps.pending:
                        run_pending_traps(shell)
                try:
                    status = body(shell)
                except Continue:
                    if leave_loop(shell):
                        raise Continue from None
                    status = 0
        except Break:
            if leave_loop(shell):
                raise Break from None
            status = int(shell.status)
        finally:
            shell.control.loops -= 1
        shell.status = status
        return status

    return redirected(node.redirections, run_while)


@compiles(For)
def _for(node: For) -> Run:
    name = node.name
    body = compile_command(node.body)
    words = [WORDS.fields(word) for word in node.words] if node.words is not None else None
    line = node.line
    valid = is_name(name)

    def run_for(shell: Shell) -> int:
        if not valid:
            return refuse_name(shell, name, line)
        shell.line = line
        budget = shell.budget
        try:
            items = _items(shell, words)
        except ExpansionError as error:
            shell.status = expansion_failed(shell, error)
            return shell.status
        kept = budget.keep(items) if is_large(items) else None
        values, attributes = shell.values, shell.attributes
        status = 0
        shell.control.loops += 1
        try:
            for item in items:
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                    if shell.traps.pending:
                        run_pending_traps(shell)
                if name not in attributes:
                    values[name] = item
                elif not _assign_loop_variable(shell, name, item):
                    status = 1
                    break
                if shell.slow:
                    trace_loop(shell, "for", node)
                try:
                    status = body(shell)
                except Continue:
                    if leave_loop(shell):
                        raise Continue from None
                    status = 0
        except Break:
            if leave_loop(shell):
                raise Break from None
            status = int(shell.status)
        finally:
            shell.control.loops -= 1
            if kept is not None:
                kept.release()
        shell.status = status
        return status

    return redirected(node.redirections, finishing(run_for, node.words or ()))


def _items(shell: Shell, words: list[Fields] | None) -> list[str]:
    """Return what a loop goes over: the fields of its words, else the positional parameters."""
    if words is None:
        return list(shell.stack.positional)
    items: list[str] = []
    shell.budget.whole = True
    try:
        for word in words:
            word(shell, items)
    finally:
        shell.budget.whole = False
    return items


def refuse_name(shell: Shell, name: str, line: int) -> int:
    """Report a loop variable that is no name; in POSIX mode that ends the shell."""
    shell.line = line
    shell.complain(f"`{name}': not a valid identifier")
    if shell.options.posix:
        raise Exit(2)
    shell.status = 1
    return 1


def _assign_loop_variable(shell: Shell, name: str, item: str) -> bool:
    """Assign the variable of a loop that has attributes; whether it takes the value."""
    is_reference = shell.attributes.get(name, 0) & NAMEREF
    try:
        if not is_reference:
            shell.variables.assign(name, item)
        elif item.isascii() and item.replace("[", "").replace("]", "").isidentifier():
            shell.values[name] = NameReference(item)
        else:
            raise ExpansionError(f"`{item}': invalid variable name for name reference", fatal=False)
    except ExpansionError as error:
        if error.ends:
            raise
        shell.report(error)
        return False
    return True


def trace_loop(shell: Shell, keyword: str, node: For) -> None:
    """Trace and run the DEBUG trap before each round of `for`, and before `select`."""
    from agentsandbox.shell.syntax.printer import shown_word

    text = f"{keyword} {node.name} in " + (
        " ".join(map(shown_word, node.words)) if node.words is not None else '"$@"'
    )
    if shell.options.xtrace:
        from agentsandbox.shell.interpreter.tracing import trace_text

        trace_text(shell, shell.with_slots(text))
    before_command(shell, text, node.line)


@compiles(ArithmeticFor)
def _arithmetic_for(node: ArithmeticFor) -> Run:
    start, condition, step = map(_number, (node.start, node.condition, node.step))
    announced_start, announced_condition, announced_step = (
        _announced(word, node.line) for word in (node.start, node.condition, node.step)
    )
    body = compile_command(node.body)
    line = node.line

    def run_arithmetic_for(shell: Shell) -> int:
        budget = shell.budget
        status = 0
        in_body = False
        shell.line = line
        shell.control.loops += 1
        try:
            (announced_start if shell.slow else start)(shell)
            while True:
                if not (announced_condition(shell) if shell.slow else condition(shell)):
                    break
                budget.left -= 1
                if budget.left < 0:
                    budget.tick()
                    if shell.traps.pending:
                        run_pending_traps(shell)
                in_body = True
                try:
                    status = body(shell)
                except Continue:
                    if leave_loop(shell):
                        raise Continue from None
                    status = 0
                in_body = False
                if shell.slow:
                    announced_step(shell)
                else:
                    step(shell)
        except Break:
            if leave_loop(shell):
                raise Break from None
            status = int(shell.status)
        except ExpansionError as error:
            if error.status == 1 and error.fatal and not in_body:
                shell.complain(f"((: {error.message}")
                status = 1
            else:
                raise
        finally:
            shell.control.loops -= 1
        shell.status = status
        return status

    return redirected(node.redirections, run_arithmetic_for)


def _number(word: Word) -> Callable[[Shell], int]:
    """Compile one of the three expressions of an arithmetic `for`; an empty one is 1."""
    return WORDS.arithmetic(word) if word.parts else (lambda shell: 1)


def _announced(word: Word, line: int) -> Callable[[Shell], int]:
    """Compile the same with the DEBUG trap and the trace before it."""
    text = compiled_later(lambda: WORDS.subscript(word)) if word.parts else (lambda shell: "1")

    def evaluate(shell: Shell) -> int:
        from agentsandbox.shell.interpreter.conditions import traced_number

        expanded = text(shell)
        before_command(shell, f"(({expanded}))", line)
        return (
            traced_number(shell, expanded) if shell.options.xtrace else shell.arithmetic(expanded)
        )

    return evaluate


def _constant_pattern(word: Word) -> str | None:
    """Return the pattern of a constant word; None if it depends on the shell."""
    texts: list[str] = []
    for part in word.parts:
        if isinstance(part, Literal) and "~" not in part.text:
            texts.append(part.text)
        elif isinstance(part, Quoted):
            texts.append(quote_glob(part.text))
        else:
            return None
    return "".join(texts)


@compiles(Case)
def _case(node: Case) -> Run:
    subject = WORDS.string(node.word, in_word=True)
    line = node.line
    clauses: list[tuple[list[Callable[[Shell], str]], Run | None, str]] = [
        (
            [WORDS.pattern(pattern) for pattern in clause.patterns],
            compile_command(clause.body) if clause.body is not None else None,
            clause.terminator,
        )
        for clause in node.clauses
    ]
    constants: list[list[str | None]] = [
        [_constant_pattern(pattern) for pattern in clause.patterns] for clause in node.clauses
    ]

    def run_case(shell: Shell) -> int:
        shell.line = line
        if shell.slow:
            _trace_case(shell, node)
        kept = None
        try:
            text = bytewise(subject(shell)) if shell.variables.bytewise else subject(shell)
            kept = shell.budget.keep(text) if len(text) > LARGE else None
            ignore_case = shell.options.shopt["nocasematch"]
            matched = fall_through = False
            status = 0
            for number, (patterns, body, terminator) in enumerate(clauses):
                if not fall_through:
                    for position, pattern in enumerate(patterns):
                        source = constants[number][position]
                        if source is None:
                            source = pattern(shell)
                        if shell.variables.bytewise:
                            source = bytewise(source)
                        if compile_shell_pattern(source, ignore_case, shell.options.extglob).match(
                            text, shell.budget.step
                        ):
                            break
                    else:
                        continue
                matched, fall_through = True, False
                if body is not None:
                    status = body(shell)
                else:
                    status = 0
                    shell.status = 0
                if terminator == ";;":
                    break
                fall_through = terminator == ";&"
        except ExpansionError as error:
            status = expansion_failed(shell, error)
            matched = False
        finally:
            if kept is not None:
                kept.release()
        if not matched:
            shell.status = status
        return status

    return redirected(node.redirections, finishing(run_case, [node.word]))


def _trace_case(shell: Shell, node: Case) -> None:
    from agentsandbox.shell.syntax.printer import shown_word

    text = f"case {shown_word(node.word)} in"
    if shell.options.xtrace:
        from agentsandbox.shell.interpreter.tracing import trace_text

        trace_text(shell, text)
    before_command(shell, f"{text} ", node.line)
