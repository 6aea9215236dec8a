"""[[ … ]] and (( … ))."""

from __future__ import annotations

from agentsandbox.kernel.accounts import LARGE
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.formats.predicates import NUMERIC
from agentsandbox.kernel.patterns.matchers import compile_shell_pattern
from agentsandbox.kernel.streams import bytewise
from agentsandbox.shell.expansion.compiling import compiled_later
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import (
    READONLY,
    AssociativeArray,
    IndexedArray,
    NameReference,
)
from agentsandbox.shell.interpreter.dispatch import compiles
from agentsandbox.shell.interpreter.failures import command_failed, expansion_failed
from agentsandbox.shell.interpreter.options import OPTIONS
from agentsandbox.shell.interpreter.redirections import finishing, redirected
from agentsandbox.shell.interpreter.traps import before_command
from agentsandbox.shell.interpreter.words import WORDS
from agentsandbox.shell.syntax.compound_nodes import (
    CondAnd,
    CondBinary,
    CondGroup,
    Conditional,
    CondNot,
    CondOr,
    CondTest,
    CondUnary,
    CondWord,
)
from agentsandbox.shell.syntax.nodes import (
    ArithmeticCommand,
    DoubleQuoted,
    Literal,
    Part,
    Quoted,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.shell.interpreter.shell import Run, Shell

    Test = Callable[[Shell], bool]
    Sign = tuple[str, ...]


class ShellTests:
    """The shell as the operators of `test` and [[ ]] see it."""

    __slots__ = ("fs", "shell")

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.fs: FileSystem = shell.fs

    def path(self, name: str) -> str:
        """The absolute path of an operand."""
        if name.startswith("/dev/"):
            self.shell.machine.table = self.shell.fds
        return self.shell.path(name)

    def is_terminal(self, descriptor: int) -> bool:
        """`-t`: no descriptor of a sandbox is a terminal."""
        stream = self.shell.fds.get(descriptor)
        return stream is not None and stream.is_terminal

    def is_set(self, name: str, *, expanded: bool = False) -> bool:
        """`-v`: whether a variable or an element is set; `expanded` is for the subscript."""
        variables = self.shell.variables
        found: tuple[str, str | None] | None = (name, None)
        if "[" in name:
            base, _, rest = name.partition("[")
            if expanded and rest.endswith("]"):
                found = base, rest[:-1]
            else:
                reference = self.shell.reference(name, assigns=False)
                found = None if reference is None else reference[:2]
                expanded = reference is not None and reference[2]
        if found is None:
            return False
        base, subscript = found
        if subscript is None:
            if name.isdigit() and name.isascii():
                return 0 < int(name) <= len(self.shell.stack.positional) or name == "0"
            value = variables.lookup(name)
            if isinstance(value, IndexedArray):
                return 0 in value.items
            if isinstance(value, AssociativeArray):
                return "0" in value.items
            return value is not None
        if subscript in ("@", "*"):
            value = variables.lookup(base)
            if isinstance(value, AssociativeArray):
                return subscript in value.items
            return len(variables.elements(base)) > 0
        key = subscript if expanded else self.shell.key(base, subscript)
        if variables.is_associative(base):
            value = variables.lookup(base)
            return isinstance(value, AssociativeArray) and key in value.items
        return variables.element(base, key) is not None

    def is_reference(self, name: str) -> bool:
        """`-R`: whether a name is a name reference with a target."""
        value = self.shell.values.get(name)
        return isinstance(value, NameReference) and bool(value.target)

    def option_on(self, name: str) -> bool:
        """`-o`: whether an option of `set -o` is on."""
        return name in OPTIONS and self.shell.options.is_on(name)


@compiles(Conditional)
def _conditional(node: Conditional) -> Run:
    test = _test(node.test)
    line = node.line

    def run(shell: Shell) -> int:
        shell.line = line
        if shell.slow:
            if shell.options.noexec:
                return 0
            _before(shell, node)
        budget = shell.budget
        budget.whole = True
        try:
            status = 0 if test(shell) else 1
        except ExpansionError as error:
            status = expansion_failed(shell, error)
        finally:
            budget.whole = False
        shell.status = status
        if status and shell.check:
            command_failed(shell, status, line)
        return status

    return redirected(node.redirections, finishing(run, _words(node.test)))


def _words(test: object) -> list[Word]:
    """The words of a condition."""
    if isinstance(test, Word):
        return [test]
    return [word for name in getattr(test, "__slots__", ()) for word in _words(getattr(test, name))]


def _before(shell: Shell, node: Conditional) -> None:
    from agentsandbox.shell.syntax.printer import print_command

    before_command(shell, print_command(node), node.line)


def _test(node: CondTest) -> Test:
    if isinstance(node, CondGroup):
        return _test(node.test)
    if isinstance(node, CondNot):
        build = _TESTS.get(type(node.test))
        inner = _test(node.test) if build is None else build(node.test, ("!",))
        return lambda shell: not inner(shell)
    if isinstance(node, CondAnd):
        left, right = _test(node.left), _test(node.right)
        return lambda shell: left(shell) and right(shell)
    if isinstance(node, CondOr):
        left, right = _test(node.left), _test(node.right)
        return lambda shell: left(shell) or right(shell)
    return _TESTS[type(node)](node, ())


def _traced(shell: Shell, *words: str) -> None:
    if shell.options.xtrace:
        from agentsandbox.shell.interpreter.tracing import trace_text

        trace_text(shell, f"[[ {' '.join(words)} ]]")


def _shown(text: str) -> str:
    return text or "''"


def _word(node: CondWord, sign: Sign) -> Test:
    text = WORDS.string(node.word)

    def test(shell: Shell) -> bool:
        value = text(shell)
        if shell.slow:
            _traced(shell, *sign, "-n", _shown(value))
        return value != ""

    return test


_ELEMENT = lazily(r'"?[A-Za-z_][A-Za-z0-9_]*\[')


def _expands(parts: tuple[Part, ...]) -> bool:
    return any(
        _expands(part.parts)
        if isinstance(part, DoubleQuoted)
        else not isinstance(part, (Literal, Quoted))
        for part in parts
    )


def _unary(node: CondUnary, sign: Sign) -> Test:
    operator = node.operator
    text = WORDS.string(node.operand)
    if operator in ("-z", "-n"):
        wants_empty = operator == "-z"

        def empty(shell: Shell) -> bool:
            value = text(shell)
            if shell.slow:
                _traced(shell, *sign, operator, _shown(value))
            return (value == "") is wants_empty

        return empty
    if operator == "-v":
        expanded = _ELEMENT.match(node.operand.source) is not None and _expands(node.operand.parts)

        def is_set(shell: Shell) -> bool:
            value = text(shell)
            if shell.slow:
                _traced(shell, *sign, operator, _shown(value))
            return ShellTests(shell).is_set(value, expanded=expanded)

        return is_set

    def unary(shell: Shell) -> bool:
        from agentsandbox.kernel.formats.predicates import TestError, evaluate_unary

        value = text(shell)
        if shell.slow:
            _traced(shell, *sign, operator, _shown(value))
        try:
            return evaluate_unary(operator, value, ShellTests(shell))
        except TestError as error:
            raise ExpansionError(f"[[: {error.message}", fatal=False, status=2) from None

    return unary


def _binary(node: CondBinary, sign: Sign) -> Test:
    operator = node.operator
    left = WORDS.string(node.left, in_word=True)
    if operator in ("==", "=", "!="):
        return _matches(node, left, sign)
    if operator == "=~":
        return _regular(node, left, sign)
    if operator in NUMERIC:
        compare = NUMERIC[operator]
        right = WORDS.string(node.right)

        def compare_numbers(shell: Shell) -> bool:
            try:
                if shell.options.xtrace:
                    first_text, second_text = _in_turn(shell, left, right)
                    _traced(shell, *sign, _shown(first_text), operator, _shown(second_text))
                    return compare(_evaluate(shell, first_text), _evaluate(shell, second_text))
                first = _evaluate(shell, left(shell))
                return compare(first, _evaluate(shell, right(shell)))
            except ExpansionError as error:
                if error.status == 127:
                    raise
                shell.complain(f"[[: {error.message}")  # only this comparison is false
                return False

        return compare_numbers
    right = WORDS.string(node.right)
    if operator in ("<", ">"):
        less = operator == "<"

        def order(shell: Shell) -> bool:
            first, second = _in_turn(shell, left, right)
            if shell.slow:
                _traced(shell, *sign, _shown(first), operator, _shown(second))
            return first < second if less else first > second

        return order

    def files(shell: Shell) -> bool:
        from agentsandbox.kernel.formats.predicates import compare_files

        first, second = left(shell), right(shell)
        if shell.slow:
            _traced(shell, *sign, _shown(first), operator, _shown(second))
        return compare_files(operator, first, second, ShellTests(shell))

    return files


def _in_turn(
    shell: Shell, left: Callable[[Shell], str], right: Callable[[Shell], str]
) -> tuple[str, str]:
    """Return both texts; the first one is held on the budget if it is large."""
    first = left(shell)
    kept = shell.budget.keep(first) if len(first) > LARGE else None
    second = right(shell)
    if kept is not None:
        kept.release()
    return first, second


def _evaluate(shell: Shell, value: str) -> int:
    if (
        value.isdigit()
        and len(value) < 19
        and value.isascii()
        and (value[0] != "0" or value == "0")
    ):
        return int(value)
    return shell.arithmetic(value) if value else 0


def _matches(node: CondBinary, left: Callable[[Shell], str], sign: Sign) -> Test:
    wanted = node.operator != "!="
    pattern = WORDS.pattern(node.right)

    def matches(shell: Shell) -> bool:
        text = left(shell)
        kept = shell.budget.keep(text) if len(text) > LARGE else None
        if shell.options.xtrace:
            source = WORDS.traced_pattern(node.right)(shell)
            _traced(shell, *sign, _shown(text), node.operator, _shown(source))
        else:
            source = pattern(shell)
        if kept is not None:
            kept.release()
        if shell.variables.bytewise:
            text, source = bytewise(text), bytewise(source)
        return (
            compile_shell_pattern(source, shell.options.shopt["nocasematch"]).match(
                text, shell.budget.step
            )
            is wanted
        )

    return matches


def _regular(node: CondBinary, left: Callable[[Shell], str], sign: Sign) -> Test:
    expression = WORDS.regular_expression(node.right)

    def search(shell: Shell) -> bool:
        from agentsandbox.kernel.regexps import RegexError, compile_posix

        text = left(shell)
        kept = shell.budget.keep(text) if len(text) > LARGE else None
        source = expression(shell)
        if kept is not None:
            kept.release()
        if shell.slow:
            _traced(shell, *sign, _shown(text), "=~", source)
        shell.budget.step(1 + (len(source) >> 3))
        try:
            regex = compile_posix(
                source, extended=True, ignore_case=shell.options.shopt["nocasematch"]
            )
        except RegexError:
            raise ExpansionError("", fatal=False, status=2) from None
        match = regex.search(text, 0, shell.budget)
        if match is None:
            _remember(shell, [])
            return False
        groups = [match.group(number) for number in range(regex.groups + 1)]
        _remember(shell, [group or "" for group in groups])
        return True

    return search


def _remember(shell: Shell, groups: list[str]) -> None:
    """Assign BASH_REMATCH, unless it is readonly."""
    if not shell.attributes.get("BASH_REMATCH", 0) & READONLY:
        shell.variables.replace("BASH_REMATCH", IndexedArray.of(groups))


_TESTS: dict[type, Callable[..., Test]] = {CondWord: _word, CondUnary: _unary, CondBinary: _binary}


@compiles(ArithmeticCommand)
def _arithmetic(node: ArithmeticCommand) -> Run:
    number = WORDS.arithmetic(node.expression)
    text = compiled_later(lambda: WORDS.subscript(node.expression))
    line = node.line

    def run(shell: Shell) -> int:
        shell.line = line
        try:
            if shell.slow:
                _before_arithmetic(shell, node)
            status = (
                0
                if (
                    number(shell) if not shell.options.xtrace else traced_number(shell, text(shell))
                )
                else 1
            )
        except ExpansionError as error:
            if error.status == 127 or error.ends:
                raise
            if error.readonly:
                shell.report(error)
            else:
                shell.complain(f"((: {error.message}")
            status = 1
        shell.status = status
        if status and shell.check:
            command_failed(shell, status, line)
        return status

    return redirected(node.redirections, run)


def _before_arithmetic(shell: Shell, node: ArithmeticCommand) -> None:
    from agentsandbox.shell.syntax.printer import shown_word

    before_command(shell, f"(({shown_word(node.expression)}))", node.line)


def traced_number(shell: Shell, expanded: str) -> int:
    """Trace an expanded expression and return its value."""
    from agentsandbox.shell.interpreter.tracing import trace_text

    trace_text(shell, f"(( {expanded} ))")
    return shell.arithmetic(expanded)
