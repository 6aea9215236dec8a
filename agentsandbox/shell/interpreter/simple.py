"""Simple commands (POSIX 2.9.1): assignments, words and redirections.

`ways` chooses what runs a command. Here are the last two ways:

* A plain name and nothing but words: `_call` looks for a function of that name, and `_Program` for
  a program.
* All others, and all when a trace, a trap or a policy needs a look (`shell.slow`): `_Command`,
  which follows POSIX step by step.

`_Command.run` expands the words first, then makes the redirections, then the assignments, and then
runs the fields (`run_words`): a function, a builtin, or a program in PATH, in this order.
Afterwards it takes the redirections back, sets `$?` and handles a failure.

Bash differs from POSIX in the details, and so does this module. The arguments of `declare` and its
kin may be assignments, which are neither split nor globbed, and array literals among them are
assigned while the other words are still being expanded. A redirection of a program is made in the
child, so the variables that it assigns are lost, and an error in it ends only the child. If the
words expand to nothing, the assignments last and the status is that of the last command
substitution.
"""

from __future__ import annotations

from agentsandbox.errors import CommandError, Exit
from agentsandbox.kernel.accounts import is_large
from agentsandbox.kernel.caching import lru_cache
from agentsandbox.kernel.expressions import lazily
from agentsandbox.shell.builtins import NAMES, SPECIAL, find_builtin
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import (
    CONVERTING,
    EXPORT,
    INTEGER,
    READONLY,
    NameReference,
)
from agentsandbox.shell.interpreter.constants import PlainWords, constants_of, plain_words
from agentsandbox.shell.interpreter.ends import child_ended
from agentsandbox.shell.interpreter.failures import (
    RedirectionError,
    command_ended,
    expansion_failed,
)
from agentsandbox.shell.interpreter.programs import (
    SHORT_LIST,
    refusal_of,
    run_external,
    run_tool,
)
from agentsandbox.shell.interpreter.search import located_tool
from agentsandbox.shell.interpreter.words import WORDS
from agentsandbox.shell.syntax.nodes import (
    Assignment,
    HereDocument,
    Redirection,
    SimpleCommand,
    Word,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import ModuleType

    from agentsandbox.kernel.streams import Stream
    from agentsandbox.shell.interpreter.assignments import Binder, BoundAssignment
    from agentsandbox.shell.interpreter.frames import Function
    from agentsandbox.shell.interpreter.shell import Run, Shell

    Table = dict[int, Stream]
    Redirect = Callable[[Shell], tuple[Table, list[Stream]]]
    ArgumentBinder = Callable[[Shell, bool], Iterable[BoundAssignment]]

_FUNCTION_NAME = lazily(r"[A-Za-z_][A-Za-z0-9_.:-]*")


def compile_general(node: SimpleCommand) -> Run:
    """Compile a command that has words and no shortcut."""
    if any("BASH_COMMAND" in word.source for word in node.words):
        return _with_own_text(node)
    if node.assignments or node.redirections:
        return _Command(node).run
    return _call(node) or _Command(node).run


def compile_by_all_rules(node: SimpleCommand) -> Run:
    """Compile a command that has words for when anything needs a look."""
    return _Command(node).run


def _with_own_text(node: SimpleCommand) -> Run:
    """Compile a command that reads BASH_COMMAND: outside of traps, its own text."""
    general = _Command(node).run
    text = _subshells().text_of(node)

    def run(shell: Shell) -> int:
        if not shell.traps.active:
            shell.specials.command_text = text
        return general(shell)

    return run


_LONGEST_NAME = 4096
"""Characters of a name that may be a function's, without a look at the general way."""


def _call(node: SimpleCommand) -> Run | None:
    """Compile a command of plain words, which may be the call of a function; None for others."""
    name = node.words[0].source
    if len(name) > _LONGEST_NAME:
        return None
    if not (name.isalpha() and name.isascii()) and _FUNCTION_NAME.fullmatch(name) is None:
        return None
    for word in node.words:
        if "<(" in word.source or ">(" in word.source or not isinstance(word, Word):
            return None
    line = node.line
    arguments: list[Callable[[Shell, list[str]], None]] | None = None
    command: Run | None = None
    run_function: Callable[[Shell, Function, list[str]], int]

    def call(shell: Shell) -> int:
        nonlocal arguments, command, run_function
        function = shell.definitions.functions.get(name)
        if function is None or shell.slow:
            if command is None:  # most commands never name a function, and many never run
                command = _Command(node).run
            return command(shell)
        if arguments is None:
            from agentsandbox.shell.interpreter.functions import call_function as run_function

            arguments = [WORDS.fields(word) for word in node.words[1:] if isinstance(word, Word)]
        shell.line = line
        words: list[str] = []
        traps = shell.traps.handlers
        budget = shell.budget
        larges, budget.whole = budget.larges, True
        try:
            for argument in arguments:
                argument(shell, words)
        except ExpansionError as error:
            budget.whole = False
            status = expansion_failed(shell, error)
        else:
            kept = budget.keep(words) if budget.larges != larges and is_large(words) else None
            budget.whole = False
            try:
                status = run_function(shell, function, words)
            finally:
                if kept is not None:
                    kept.release()
            shell.specials.last_argument = words[-1] if words else name
            if type(status) is not int:
                status = int(status)  # PIPESTATUS is the function's
        if shell.traps.pending or (status and shell.check):
            return command_ended(shell, status, line, traps)
        shell.status = status
        return status

    return call if name in NAMES else _Program(node, name, call).run


_ELEMENT = lazily(r"""(?s)[A-Za-z_]\w*+\[[^$`'"\\]*+[$`'"\\].*\]\Z""")
"""A word with the form of an element, whose subscript has quotes or expansions."""
_TAKING_ELEMENTS = frozenset(("unset", "read", "printf", "test", "[", "wait"))


def _takes_elements(node: SimpleCommand) -> bool:
    """Whether a command is a builtin that takes elements as operands, also behind `command`."""
    words = iter(node.words)
    return next((word.source for word in words if word.source != "command"), "") in _TAKING_ELEMENTS


def _element_fields(word: Word) -> Callable[[Shell, list[str]], None]:
    """Compile an operand like `a[$key]`, whose subscript is not expanded again."""
    from agentsandbox.shell.expansion.references import ElementWord

    fields = WORDS.fields(word)

    def append(shell: Shell, out: list[str]) -> None:
        before = len(out)
        fields(shell, out)
        if len(out) == before + 1:
            out[before] = ElementWord(out[before])

    return append


@lru_cache(maxsize=None)
def _redirections() -> ModuleType:
    """Load what few commands need; an import statement takes a microsecond at each run."""
    import agentsandbox.shell.interpreter.redirections

    return agentsandbox.shell.interpreter.redirections


@lru_cache(maxsize=None)
def _functions() -> ModuleType:
    """Load what calls functions, likewise."""
    import agentsandbox.shell.interpreter.functions

    return agentsandbox.shell.interpreter.functions


@lru_cache(maxsize=None)
def _subshells() -> ModuleType:
    """Load what shows a command, and says that a signal ended it, likewise."""
    import agentsandbox.shell.interpreter.subshells

    return agentsandbox.shell.interpreter.subshells


@lru_cache(maxsize=None)
def _declarations() -> ModuleType:
    """Load what expands the words of `declare` and its kin, likewise."""
    import agentsandbox.shell.interpreter.declarations

    return agentsandbox.shell.interpreter.declarations


class _Command:
    """A simple command with words, compiled to run by all the rules.

    constants  the words, if all of them are constant
    words      closures that append the fields of the words that are no assignments
    order      for each word its binder if it is an assignment (`declare x=1`), else None
    alone      binders of the assignments in front, for when no field is left: they last
    binders    the same for when there is a command: they hold only for it
    assigns    whether a redirection may assign a variable
    text       the command as BASH_COMMAND shows it, once somebody asked
    moved      the command under `set -k`, once that was on
    """

    __slots__ = (
        "alone", "assigns", "binders", "constants", "moved", "node", "order", "redirect", "text",
        "words",
    )  # fmt: skip

    def __init__(self, node: SimpleCommand) -> None:
        self.node = node
        self.text = ""
        self.moved: Run | None = None
        self.alone: list[Binder] = []
        self.binders: list[Binder] = []
        if node.assignments:
            from agentsandbox.shell.interpreter.assignments import bind_assignment, bind_prefix

            self.alone = [bind_assignment(assignment) for assignment in node.assignments]
            self.binders = [
                bind_prefix(assignment) or bind
                for assignment, bind in zip(node.assignments, self.alone, strict=True)
            ]
        self.redirect: Redirect | None = None
        self.assigns = False
        if node.redirections:
            self.redirect = _redirections().compile_redirections(node.redirections)
            self.assigns = any(map(_may_assign, node.redirections))
        self.constants = constants_of(node.words)
        self.words: list[Callable[[Shell, list[str]], None]] = []
        self.order: list[ArgumentBinder | None] = []
        if self.constants is None:
            self.words = [
                _element_fields(word)
                if _ELEMENT.match(word.source) and _takes_elements(node)
                else WORDS.fields(word)
                for word in node.words
                if not isinstance(word, Assignment)
            ]
            self.order = [
                _declarations().bind_argument(word) if isinstance(word, Assignment) else None
                for word in node.words
            ]

    def run(self, shell: Shell) -> int:
        """Expand, redirect, assign, run, and undo the redirections."""
        if shell.options.keyword and (run := self._under_keyword()) is not None:
            return run(shell)
        shell.line = self.node.line
        mark, saved = len(shell.descriptors.process_files), shell.fds
        traps = shell.traps.handlers
        table: Table | None = None
        opened: list[Stream] = []
        argv: list[str] = []
        budget, kept = shell.budget, None
        try:
            if shell.slow and self._announce(shell):
                return 0
            shell.control.substitution_status = None
            larges, budget.whole = budget.larges, True
            constants = self.constants
            if constants is not None:
                argv += constants
                declared = None
            else:
                declared = self._expand(shell, argv)
            bound: list[BoundAssignment] | None = None
            if self.redirect is not None:
                if shell.options.xtrace and argv:
                    bound = self._trace(shell, declared or argv)
                table, opened = self._redirected(shell, self.redirect, argv)
                shell.fds = table
            if budget.larges != larges and is_large(argv):
                kept = budget.keep(argv)
            budget.whole = False
            status = self._run(shell, argv, declared, bound)
        except ExpansionError as error:
            status = expansion_failed(shell, error)
        except RedirectionError:
            if shell.options.posix and argv and argv[0] in SPECIAL:
                raise Exit(1) from None
            status = 1
            if argv:
                shell.specials.last_argument = argv[-1]
        finally:
            budget.whole = False
            if kept is not None:
                kept.release()
            descriptors = shell.descriptors
            if table is not None or descriptors.keep or len(descriptors.process_files) > mark:
                _redirections().take_back(shell, table, saved, opened, mark)
        if shell.traps.pending or (status and shell.check):
            return command_ended(shell, status, self.node.line, traps)
        shell.status = status
        return status

    def _under_keyword(self) -> Run | None:
        """The command as `set -k` reads it, where that makes a difference."""
        if self.moved is None:
            moved = _keywords_moved(self.node)
            self.moved = self.run if moved is self.node else _Command(moved).run
        return None if self.moved == self.run else self.moved

    def _announce(self, shell: Shell) -> bool:
        """Run the DEBUG trap; whether it forbids the command."""
        if not self.text:
            self.text = _subshells().text_of(self.node)
        from agentsandbox.shell.interpreter.traps import before_command

        return before_command(shell, self.text, self.node.line)

    def _expand(self, shell: Shell, argv: list[str]) -> list[str | BoundAssignment] | None:
        """Put the fields into `argv`; return them with assignments as such where there are any."""
        if len(self.words) == len(self.order):
            for word in self.words:
                word(shell, argv)
            return None
        declared: list[str | BoundAssignment]
        declared = _declarations().declared_words(shell, self.order, self.words)
        argv += [item if isinstance(item, str) else item.word() for item in declared]
        return declared

    def _trace(self, shell: Shell, words: Sequence[str | BoundAssignment]) -> list[BoundAssignment]:
        """Trace the command where standard error goes before the redirections."""
        from agentsandbox.shell.interpreter.tracing import trace_words

        bound = _bind_in_turn(shell, self.binders) if self.binders else []
        trace_words(shell, bound, words)
        return bound

    def _redirected(
        self, shell: Shell, redirect: Redirect, argv: list[str]
    ) -> tuple[Table, list[Stream]]:
        """Return the new table of descriptors; a child opens those of a program."""
        is_program = (
            bool(argv)
            and argv[0] not in shell.definitions.functions
            and find_builtin(argv[0]) is None
        )
        if not is_program:
            shell.line = self.node.line
            return redirect(shell)
        try:
            if not self.assigns:
                shell.line = self.node.line
                return redirect(shell)
            child = shell.fork(subshell=True)
            table, opened = redirect(child)
        except ExpansionError as error:
            ends = (
                shell.process.level
                or shell.options.errexit
                or shell.invocation.source != "environment"
            )
            status = 1 if ends else error.status
            raise ExpansionError(error.message, fatal=False, status=status) from None
        opened.extend(child.descriptors.owned.values())
        return table, opened

    def _run(
        self,
        shell: Shell,
        argv: list[str],
        declared: list[str | BoundAssignment] | None,
        bound: list[BoundAssignment] | None,
    ) -> int:
        """Run the fields; `bound` are the assignments where they have been traced already."""
        if not argv:
            for bind in self.alone:
                bind(shell).apply(shell)
            return shell.control.substitution_status or 0
        traced = bound is not None
        if bound is None:
            bound = _bind_in_turn(shell, self.binders) if self.binders else []
        status = int(run_words(shell, argv, bound, declared=declared, traced=traced))
        if shell.control.killed is not None:
            _subshells().child_killed(shell, self.node, self.node.line)
        return status


class _Program:
    """A command of plain words that no builtin runs; `called` is for when it is a function.

    It does what `_Command` does and asks less.
    """

    __slots__ = ("called", "is_compiled", "name", "node", "path", "plain", "words")

    def __init__(self, node: SimpleCommand, name: str, called: Run) -> None:
        self.node = node
        self.name = name
        self.path = f"/usr/bin/{name}"
        self.called = called
        self.is_compiled = False
        self.plain: PlainWords | None = None
        self.words: list[Callable[[Shell, list[str]], None]] = []

    def _compile(self) -> None:
        """Compile the words at the first run: many commands never run.

        Threads share the command of a text that both run, so the mark comes last.
        """
        words = self.node.words
        plain = plain_words(words)
        if plain is None:
            self.words = [WORDS.fields(word) for word in words if isinstance(word, Word)]
        self.plain = plain
        self.is_compiled = True

    def run(self, shell: Shell) -> int:
        """Expand the words and run the program that PATH finds."""
        if shell.slow or self.name in shell.definitions.functions:
            return self.called(shell)
        control = shell.control
        shell.line = line = self.node.line
        traps = shell.traps.handlers
        control.substitution_status = None
        budget, kept = shell.budget, None
        try:
            if not self.is_compiled:
                self._compile()
            if self.plain is not None:
                argv = self.plain.fields(shell)
            else:
                argv = []
                larges, budget.whole = budget.larges, True
                for word in self.words:
                    word(shell, argv)
                if budget.larges != larges and is_large(argv):
                    kept = budget.keep(argv)
                budget.whole = False
            environment = shell.variables.environment().copy()
            environment["_"] = self.path
            size = shell.variables.environment_size + len(self.path)
            name, length = self.name, sum(map(len, argv))
            tool = (
                located_tool(shell, name)
                if size + length < SHORT_LIST and name not in shell.machine.commands
                else None
            )
            try:
                status = (
                    run_external(shell, argv, environment, size=size)
                    if tool is None
                    else run_tool(shell, tool, argv, environment, length)
                )
            except CommandError as error:
                shell.complain(error.message)
                status = error.status
            finally:
                if kept is not None:
                    kept.release()
                if shell.jobs.jobs or traps:
                    _child_ended(shell)
        except ExpansionError as error:
            budget.whole = False
            status = expansion_failed(shell, error)
        else:
            shell.specials.last_argument = argv[-1]
            if control.killed is not None:
                _subshells().child_killed(shell, self.node, line)
        if shell.traps.pending or (status and shell.check):
            return command_ended(shell, status, line, traps)
        shell.status = status
        return status


_KEYWORD = lazily(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^]]*\])?\+?=")


def _keywords_moved(node: SimpleCommand) -> SimpleCommand:
    """Return the command as `set -k` reads it: every word that looks like an assignment is one."""
    from agentsandbox.shell.syntax.parser import parse

    assignments, words = list(node.assignments), []
    for word in node.words:
        read = (
            parse(word.source).commands[0]
            if isinstance(word, Word) and _KEYWORD.match(word.source)
            else None
        )
        if isinstance(read, SimpleCommand) and read.assignments:
            assignments += read.assignments
        else:
            words.append(word)
    return (
        SimpleCommand(tuple(assignments), tuple(words), node.redirections, node.line)
        if len(words) < len(node.words)
        else node
    )


def _may_assign(node: Redirection) -> bool:
    if node.variable is not None:
        return True
    source = (node.target.body if isinstance(node.target, HereDocument) else node.target).source
    return "$" in source and any(mark in source for mark in ("=", "++", "--"))


def _bind_in_turn(shell: Shell, binders: list[Binder]) -> list[BoundAssignment]:
    """Expand the assignments in front of a command: each sees those before it."""
    if len(binders) == 1:
        return [binders[0](shell)]
    variables = shell.variables
    scope: dict[str, tuple[object, int]] = {}
    bound: list[BoundAssignment] = []
    try:
        for bind in binders:
            assignment = bind(shell)
            bound.append(assignment)
            if assignment.subscript is not None:  # to be refused
                continue
            variables.save_in(scope, assignment.name)
            variables.hide_array(assignment.name)
            if not shell.attributes.get(assignment.name, 0) & READONLY:
                assignment.apply(shell)
    finally:
        variables.restore(scope)
    return bound


def run_words(
    shell: Shell,
    argv: list[str],
    assignments: Sequence[BoundAssignment] = (),
    *,
    declared: list[str | BoundAssignment] | None = None,
    functions: bool = True,
    traced: bool = False,
) -> int:
    """Run expanded words: a function, a builtin or a command of the PATH, in this order."""
    name = argv[0]
    if shell.slow:
        denied = _check_policy(shell, argv, assignments, None if traced else declared or argv)
        if denied is not None:
            return denied
    if functions and name in shell.definitions.functions:
        calls = _functions()
        recorded = shell.options.shopt["extdebug"]
        call: Callable[[Shell, Function, list[str]], int]
        call = calls.call_recorded if recorded else calls.call_function
        if not assignments:
            status = call(shell, shell.definitions.functions[name], argv[1:])
        else:
            function = shell.definitions.functions[name]
            status = _with_assignments(
                shell, assignments, lambda: call(shell, function, argv[1:]), level=1
            )
        shell.specials.last_argument = argv[-1]
        return status
    builtin = find_builtin(name) if name not in shell.definitions.disabled else None
    if builtin is None:
        status = _run_external(shell, argv, assignments)
        shell.specials.last_argument = argv[-1]
        return status
    arguments = declared if declared is not None and builtin.declares else argv
    if not assignments:
        status = builtin.call(shell, arguments)
    elif shell.options.posix and name in SPECIAL:
        for assignment in assignments:
            assignment.apply(shell)
            if assignment.subscript is None:
                target = shell.variables.resolve(assignment.name)
                shell.variables.keep(target)
                shell.variables.add(target, EXPORT)
        status = builtin.call(shell, arguments)
    else:
        status = _with_assignments(shell, assignments, lambda: builtin.call(shell, arguments))
    last = arguments[-1]
    shell.specials.last_argument = (
        argv[-1] if isinstance(last, str) or not isinstance(last.value, list) else last.name
    )
    return status


def _check_policy(
    shell: Shell,
    argv: list[str],
    assignments: Sequence[BoundAssignment],
    shown: Sequence[str | BoundAssignment] | None,
) -> int | None:
    """Trace the command and ask the host's policy; return a status if the command must not run."""
    if shell.options.xtrace and shown is not None:
        from agentsandbox.shell.interpreter.tracing import trace_words

        trace_words(shell, assignments, shown)
    if shell.options.noexec:
        return 0
    if shell.policy is None:
        return None
    return refusal_of(shell, argv)


def _with_assignments(
    shell: Shell, assignments: Sequence[BoundAssignment], run: Callable[[], int], *, level: int = 0
) -> int:
    """Run with exported variables that hold only meanwhile. Functions are a `level` deeper."""
    variables = shell.variables
    scope: dict[str, tuple[object, int]] = {}
    for assignment in assignments:
        if assignment.subscript is not None:
            shell.complain(f"`{assignment.name}[{assignment.subscript}]': not a valid identifier")
            continue
        variables.save_in(scope, assignment.name)
        variables.hide_array(assignment.name)
        if isinstance(shell.values.get(assignment.name), NameReference):
            variables.save_in(scope, variables.resolve(assignment.name))
        if shell.attributes.get(assignment.name, 0) & CONVERTING and not assignment.append:
            variables.drop(assignment.name, CONVERTING)
        try:
            assignment.apply(shell)
        except ExpansionError as error:
            if not error.readonly:
                raise
            shell.report(error)
            continue
        target = variables.resolve(assignment.name)
        variables.add(target if target and "[" not in target else assignment.name, EXPORT)
    variables.temporary.append((len(variables.scopes) + level, scope))
    try:
        return run()
    finally:
        variables.temporary = [entry for entry in variables.temporary if entry[1] is not scope]
        variables.restore(scope)


def _temporary_value(shell: Shell, assignment: BoundAssignment, before: str | None) -> str:
    """Return the value for a program of an assignment before it; `before` is an earlier one."""
    if not assignment.append:
        return str(assignment.value)
    current = before or shell.variables.get(assignment.name) or ""
    if shell.attributes.get(assignment.name, 0) & INTEGER:
        return str(shell.arithmetic(f"({current or 0})+({assignment.value})"))
    return f"{current}{assignment.value}"


def _run_external(shell: Shell, argv: list[str], assignments: Sequence[BoundAssignment]) -> int:
    name = argv[0]
    environment = shell.variables.environment().copy()
    environment["_"] = name if "/" in name else f"/usr/bin/{name}"
    if assignments:
        temporary: dict[str, str] = {}
        for assignment in assignments:
            if shell.attributes.get(assignment.name, 0) & READONLY:
                shell.complain(f"{assignment.name}: readonly variable")
            elif assignment.subscript is not None:
                shell.complain(
                    f"`{assignment.name}[{assignment.subscript}]': not a valid identifier"
                )
            else:
                target = shell.variables.resolve(assignment.name)
                exported = target if target and "[" not in target else assignment.name
                temporary[exported] = _temporary_value(shell, assignment, temporary.get(exported))
        environment = {**temporary, **environment, **temporary}
    try:
        return run_external(
            shell, argv, environment, path=environment.get("PATH") if assignments else None
        )
    except CommandError as error:
        shell.complain(error.message)
        return error.status
    finally:
        _child_ended(shell)


def _child_ended(shell: Shell) -> None:
    """Report jobs that have ended, and note the signal, after a program."""
    if shell.jobs.jobs:
        from agentsandbox.shell.interpreter.notices import tell_jobs

        tell_jobs(shell)
    if shell.traps.handlers:
        child_ended(shell)
