"""`command &`: a copy of the shell that runs as a process, and a job of the shell."""

from __future__ import annotations

from agentsandbox.shell.interpreter.dispatch import compiles
from agentsandbox.shell.interpreter.stages import announced, compile_stage
from agentsandbox.shell.interpreter.subshells import start_subshell, text_of
from agentsandbox.shell.syntax.nodes import AndOr, Background, Pipeline, SimpleCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Run, Shell


@compiles(Background)
def _background(node: Background) -> Run:
    command = node.command
    # bash forgets the ! of an asynchronous pipeline
    if isinstance(command, Pipeline) and command.negated:
        command = Pipeline(command.commands, False, command.timed, command.line)
    run = compile_stage(command)[1]
    if isinstance(command, SimpleCommand):
        run = announced(run, command)
    text: list[str] = []
    simple = not isinstance(node.command, AndOr) or len(node.command.rest) < 100

    def start(shell: Shell) -> int:
        if not text:
            text.append(text_of(node.command) if simple else "…")
        if shell.slow and isinstance(command, SimpleCommand):
            from agentsandbox.shell.interpreter.traps import before_command

            before_command(shell, text[0], command.line)
        process = start_subshell(
            shell, run, shell.fds, text[0], detach_input=not shell.control.input_given
        )
        process.is_job = True
        shell.jobs.latest_pid = process.pid
        shell.jobs.add(process, text[0]).monitored = shell.options.monitor
        shell.status = 0
        return 0

    return start
