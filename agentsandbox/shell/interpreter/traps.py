"""Traps: EXIT, ERR, DEBUG, RETURN and signals.

Signals arrive between two steps of a script. The scheduler asks the process for its handler
(`SignalHandler`), which notes the name in `Traps.pending`. The commands of the trap run when the
current command has ended: simple commands, pipelines and loops look at `pending`
(`run_pending_traps`).

The other traps are called where their event happens:

    EXIT     run_in_shell, when a shell ends; it may be a subshell's own
    ERR      failures.command_failed, after a command whose failure counts
    DEBUG    before_command, before each simple command and each round of a loop
    RETURN   functions and `source`, when a function or a file ends

DEBUG, ERR and RETURN do not hold in functions that did not set them, unless `set -T` or `set -E`
says so (`inherited`). None of them traps itself: while it runs, a marker that is no text of the
script takes its place. `$?` and LINENO are the same after a trap as before. A trap that a limit
ends is removed: the next call would spend its time in it as well.
"""

from __future__ import annotations

from agentsandbox.errors import Exit, LimitReached, Return, Unwind
from agentsandbox.kernel.processes import SIGNALS
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.interpreter.texts import run_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Shell


class _InProgress(str):
    """The marker in the place of a trap's commands while they run."""

    __slots__ = ()


_IN_PROGRESS = _InProgress()
_ORIGINS = {"DEBUG": "debug trap: ", "ERR": "error trap: ", "RETURN": "return trap: "}
"""How a syntax error names the text of a trap."""


def run_trap(shell: Shell, name: str, line: int | None = None) -> int:
    """Run a trap's commands and return their status; `$?` stays as it was."""
    text = shell.traps.handlers.get(name)
    if not text:
        return shell.status
    status = shell.status
    saved_line, saved_trap = shell.line, shell.traps.line
    shell.traps.active += 1
    shell.control.trace_level += 1
    if name in _ORIGINS:  # a trap does not trap itself
        shell.traps.handlers = {**shell.traps.handlers, name: _IN_PROGRESS}
        shell.update_flags()
    first_line, origin = saved_line if line is None else line, _ORIGINS.get(name, "trap: ")
    try:
        return shell.budget.nested(
            lambda: run_commands(shell, text, first_line=first_line, origin=origin)
        )
    except BaseException as end:
        if isinstance(end, LimitReached) or not isinstance(end, (Exception, Unwind)):
            # the time of the next call is not for it
            shell.traps.handlers = shell.traps.without(name)
            shell.update_flags()
        raise
    finally:
        shell.traps.active -= 1
        shell.control.trace_level -= 1
        shell.line, shell.traps.line = saved_line, saved_trap
        shell.status = status
        if shell.traps.handlers.get(name) is _IN_PROGRESS:
            shell.traps.handlers = {**shell.traps.handlers, name: text}
            shell.update_flags()


def run_exit_trap(shell: Shell, status: int) -> int:
    """Run the EXIT trap of a shell that ends with `status`; return its final status."""
    if shell.traps.pending:
        run_pending_traps(shell)
    text = shell.traps.handlers.get("EXIT")
    if not text:
        return status
    shell.traps.handlers = shell.traps.without("EXIT")
    shell.status = status
    shell.traps.active += 1
    shell.control.trace_level += shell.traps.exit_depth
    shell.traps.exit_status = status
    try:
        run_commands(shell, text, origin="exit trap: ")
    except Exit as end:
        return end.status
    except Return:
        return shell.status
    except ExpansionError as error:
        shell.report(error)
    finally:
        shell.traps.active -= 1
        shell.control.trace_level -= shell.traps.exit_depth
        shell.traps.exit_status = None
    return status


def inherited(shell: Shell, name: str) -> bool:
    """Whether a trap holds here: functions must inherit or set ERR, DEBUG and RETURN."""
    depth = len(shell.stack.frames)
    if name not in ("ERR", "DEBUG", "RETURN") or not any(
        frame.is_function for frame in shell.stack.frames
    ):
        return True
    if name == "ERR":
        return shell.options.errtrace or -depth in shell.traps.of_functions
    return shell.options.functrace or depth in shell.traps.of_functions


def before_command(shell: Shell, text: str, line: int) -> bool:
    """Set BASH_COMMAND and run the DEBUG trap. Return whether the command must be skipped.

    Under `extdebug` the status of the trap decides that, and 2 returns from the function.
    """
    if not shell.traps.active:
        shell.specials.command_text = shell.with_slots(text)
    # the DEBUG trap of a stage of a pipeline has run before the stage was started
    if shell.traps.announced:
        shell.traps.announced = False
        return False
    if not shell.traps.handlers.get("DEBUG"):
        return False
    shell.line = line
    status = run_trap(shell, "DEBUG", line)
    if not status or not shell.options.shopt["extdebug"]:
        return False
    if status == 2 and shell.stack.frames:
        raise Return
    return True


class SignalHandler:
    """What a process does with a signal: run commands, ignore it (""), or end as usual (None).

    outer  that of the shell which runs this one on its own stack
    """

    __slots__ = ("outer", "shell")

    def __init__(self, shell: Shell, outer: object = None) -> None:
        self.shell = shell
        self.outer = outer if isinstance(outer, SignalHandler) else None

    def of_shell(self, pid: int) -> SignalHandler | None:
        """Return the handler of the shell with this pid, if it is further out on the stack."""
        handler = self.outer
        while handler is not None and handler.shell.process.pid != pid:
            handler = handler.outer
        return handler

    def __call__(self, signal: int) -> str | None:
        """Take a signal; return its commands, which run when the current command has ended."""
        name = SIGNALS.get(signal, "")
        text = self.shell.traps.handlers.get(name)
        if text is None or name in ("KILL", "STOP"):
            return None
        if text:
            self.shell.traps.pending.append(name)
        return text

    def ignores(self, signal: int) -> bool:
        """Whether a signal is ignored."""
        return self.shell.traps.handlers.get(SIGNALS.get(signal, "")) == ""


def run_pending_traps(shell: Shell) -> None:
    """Run the traps of signals that have arrived."""
    while shell.traps.pending:
        name = shell.traps.pending.pop(0)
        run_trap(shell, name, 1)
