"""Coprocesses: background jobs with a pipe for their input and one for their output."""

from __future__ import annotations

from agentsandbox.kernel.streams import Pipe, PipeReader
from agentsandbox.shell.expansion.variables import IndexedArray, is_name
from agentsandbox.shell.interpreter.dispatch import compiles
from agentsandbox.shell.interpreter.stages import compile_stage
from agentsandbox.shell.interpreter.subshells import start_subshell, text_of
from agentsandbox.shell.syntax.compound_nodes import Coproc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.shell.interpreter.shell import Run, Shell


@compiles(Coproc)
def _coproc(node: Coproc) -> Run:
    run = compile_stage(node.body)[1]
    name = node.name
    line = node.line

    def start(shell: Shell) -> int:
        if not is_name(name):
            shell.line = line
            shell.complain(f"`{name}': not a valid identifier")
            shell.status = 1
            return 1
        scheduler = shell.machine.scheduler
        to_child, from_child = Pipe(scheduler), Pipe(scheduler)
        child_input, our_input = PipeReader(to_child), PipeReader(from_child)
        text = text_of(node)
        process = start_subshell(
            shell,
            run,
            {**shell.fds, 0: child_input, 1: from_child},
            text,
            give_back=[child_input, from_child],
        )
        reading, writing = 63, 60
        while reading in shell.fds or writing in shell.fds:
            reading -= 1
            writing -= 1
        shell.fds = {**shell.fds, reading: our_input, writing: to_child}
        shell.descriptors.owned = {**shell.descriptors.owned, reading: our_input, writing: to_child}
        process.is_job = True
        shell.variables.replace(name, IndexedArray.of([str(reading), str(writing)]))
        shell.variables.assign(f"{name}_PID", str(process.pid))
        shell.jobs.latest_pid = process.pid
        shell.jobs.add(process, text).monitored = shell.options.monitor
        shell.status = 0
        return 0

    return start
