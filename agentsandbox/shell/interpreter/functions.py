"""Function definitions and calls."""

from __future__ import annotations

from agentsandbox.errors import Exit, Return
from agentsandbox.shell.builtins import SPECIAL
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import EXPORT
from agentsandbox.shell.interpreter.dispatch import compile_command, compiles
from agentsandbox.shell.interpreter.failures import command_failed
from agentsandbox.shell.interpreter.frames import Function
from agentsandbox.shell.interpreter.traps import before_command, run_trap
from agentsandbox.shell.syntax.nodes import FunctionDefinition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Run, Shell


@compiles(FunctionDefinition)
def _define(node: FunctionDefinition) -> Run:
    def refused(shell: Shell) -> int:
        shell.status = 1
        if shell.check:
            command_failed(shell, 1, node.line)
        return 1

    def define(shell: Shell) -> int:
        name = node.name
        if shell.options.posix and name in SPECIAL:
            shell.line = node.line
            shell.complain(f"`{name}': is a special builtin")
            raise Exit(2)
        if "$" in name or "`" in name or "'" in name or '"' in name or "\\" in name:
            shell.line = node.line
            shell.complain(f"`{name}': not a valid identifier")
            return refused(shell)
        if name in shell.definitions.readonly_functions:
            shell.line = node.line
            shell.fault(f"{name}: readonly function")
            return refused(shell)
        source = shell.stack.frames[-1].source if shell.stack.frames else shell.invocation.source
        shell.definitions = shell.definitions.with_function(name, Function(node, source))
        if shell.options.allexport or name in shell.definitions.exported_functions:
            export_function(shell, name)
        shell.update_flags()
        shell.status = 0
        return 0

    return define


def export_function(shell: Shell, name: str) -> None:
    """Put a function into the environment, where bash looks for functions to inherit."""
    from agentsandbox.shell.syntax.printer import print_function

    shell.definitions = shell.definitions.with_exported(name)
    text = print_function(shell.definitions.functions[name].node)
    key = f"BASH_FUNC_{name}%%"
    shell.values[key] = "() " + text.partition("\n")[2].lstrip()
    shell.variables.add(key, EXPORT)


def _compile_body(function: Function) -> Run:
    """Compile the body of a function at its first call."""
    node = function.node
    run: Run | None = node.compiled
    if run is None:
        run = node.compiled = compile_command(node.body)
    function.compiled = run
    return run


def call_function(shell: Shell, function: Function, arguments: list[str]) -> int:
    """Run a function with its own positional parameters and locals."""
    budget = shell.budget
    depth = budget.depth
    if depth >= budget.stack_end:
        return budget.enter(lambda: call_function(shell, function, arguments))
    budget.left -= 1
    if budget.left < 0:
        budget.tick()
    values = shell.values
    if "FUNCNEST" in values:
        _check_nesting(shell, values["FUNCNEST"], function)
    stack, control, specials = shell.stack, shell.control, shell.specials
    frames = stack.frames
    frames.append(function.frames.get(shell.line) or function.frame(shell.line))
    variables = shell.variables
    scopes = variables.scopes
    scope: dict[str, tuple[object, int]] = {}
    scopes.append(scope)
    positional, loops, getopts = stack.positional, control.loops, specials.getopts_position
    if positional:
        stack.outer.append(positional)
    stack.positional = arguments
    control.loops = 0
    budget.depth = depth + 1
    try:
        if shell.traps.handlers:
            return _trapped_body(shell, function)
        status = (function.compiled or _compile_body(function))(shell)
        if shell.traps.of_functions:
            _return_trap(shell)
        return status
    except Return:
        if shell.traps.handlers:
            _return_trap(shell)
        return shell.status
    except ExpansionError as error:
        error.place = error.place or shell.error_prefix()
        raise
    finally:
        budget.depth = depth
        scopes.pop()
        if scope:
            attributes = shell.attributes
            missing = variables.missing
            for name, (value, flags) in scope.items():
                if flags or name in attributes:
                    variables.restore({name: (value, flags)})
                elif value is missing:
                    values.pop(name, None)
                else:
                    values[name] = value
        control.loops = loops
        stack.positional = positional
        if positional:
            stack.outer.pop()
        specials.getopts_position = getopts
        frames.pop()
        if shell.traps.of_functions:
            _leave_traps(shell, len(frames) + 1)


def call_recorded(shell: Shell, function: Function, arguments: list[str]) -> int:
    """Call a function under `extdebug`, which records the arguments for BASH_ARGV and BASH_ARGC."""
    before = shell.stack.recorded
    shell.stack.recorded = (*before, (len(shell.stack.frames) + 1, tuple(arguments)))
    try:
        return call_function(shell, function, arguments)
    finally:
        shell.stack.recorded = before


def _check_nesting(shell: Shell, nest: object, function: Function) -> None:
    text = str(nest)
    limit = int(text) if text.isdigit() and text.isascii() and len(text) < 10 else 0
    depth = sum(1 for frame in shell.stack.frames if frame.is_function)
    if 0 < limit <= depth:
        raise ExpansionError(f"{function.name}: maximum function nesting level exceeded ({limit})")


def _trapped_body(shell: Shell, function: Function) -> int:
    """Run the body of a function while traps are set; DEBUG and RETURN need functrace in it."""
    body, line = function.compiled or _compile_body(function), function.node.opening
    is_traced = "DEBUG" in shell.traps.handlers
    if not is_traced or shell.options.functrace:
        if is_traced:
            before_command(shell, shell.specials.command_text, line)
        status = body(shell)
        shell.line = line
        _return_trap(shell)
        return status
    text = shell.traps.handlers["DEBUG"]
    shell.traps.handlers = shell.traps.without("DEBUG")
    shell.update_flags()
    try:
        return body(shell)
    finally:
        shell.traps.handlers = {"DEBUG": text, **shell.traps.handlers}
        shell.update_flags()


def _leave_traps(shell: Shell, depth: int) -> None:
    """End the RETURN trap of a function; its ERR trap (negative depths) passes to the caller."""
    depths = shell.traps.of_functions
    if -depth in depths:
        depths = depths | {1 - depth}
    shell.traps.of_functions = depths - {depth, -depth}


def _return_trap(shell: Shell) -> None:
    """Run the RETURN trap if this function set it or functions inherit it."""
    if "RETURN" in shell.traps.handlers and (
        shell.options.functrace or len(shell.stack.frames) in shell.traps.of_functions
    ):
        run_trap(shell, "RETURN")
