"""`Sandbox(on_command=policy)`: the host sees each simple command, its words resolved, before it
runs.

    def policy(request: CommandRequest) -> bool | str | None:
        ...  # True or None: run it;  False: refuse it;  a text: refuse it with this message

A policy may be `async` (to ask a human): it is then awaited in the event loop of `aexecute`.
"""

from __future__ import annotations

from agentsandbox.kernel.host_functions import HostAnswer, ask_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from agentsandbox.shell.interpreter.shell import Shell

    Answer = bool | str | None
    Policy = Callable[["CommandRequest"], Answer | Awaitable[Answer]]
    Rule = Callable[[Shell, Sequence[str], int], str | None]

__all__ = ["CommandRequest", "as_rule", "refusal_of", "request_of"]


class CommandRequest:
    """A command that is about to run: its words, its directory, the skill of its script or None.

    is_function  whether the name can only be one of the script's own functions; the commands in the
               function are requested in turn
    is_main      whether the sandbox's own shell runs it, which lasts from call to call, and not a
               subshell or a script file

    A command called by another name (a path, a link, a copy) is requested again by its own name.
    """

    __slots__ = ("argv", "cwd", "is_function", "is_main", "line", "skill")

    def __init__(
        self,
        argv: tuple[str, ...],
        cwd: str,
        line: int,
        skill: str | None,
        *,
        is_function: bool = False,
        is_main: bool = False,
    ) -> None:
        self.argv = argv
        self.is_function = is_function
        self.is_main = is_main
        self.cwd = cwd
        self.line = line
        self.skill = skill

    def __repr__(self) -> str:
        return (
            f"CommandRequest(argv={self.argv!r}, cwd={self.cwd!r}, line={self.line}, "
            f"skill={self.skill!r})"
        )


# TM-POLICY-1
def as_rule(policy: Policy, before: Rule | None = None) -> Rule:
    """Return the rule that a shell asks: `before` first, then the policy.

    A rule returns None, or the reason for a refusal.
    """

    def rule(shell: Shell, argv: Sequence[str], line: int) -> str | None:
        refusal = None if before is None else before(shell, argv, line)
        return refusal if refusal is not None else _ask(policy, shell, argv, line)

    return rule


def _ask(policy: Policy, shell: Shell, argv: Sequence[str], line: int) -> str | None:
    """Ask the policy about a command; return None to run it, otherwise the reason."""
    answer = ask_host(policy, request_of(shell, argv, line))
    if answer is not None and not isinstance(answer, (bool, str)):
        answer = shell.machine.scheduler.await_(HostAnswer(answer))
    return refusal_of(answer)


def refusal_of(answer: Answer) -> str | None:
    """Return the reason of a policy's answer, None if the command may run."""
    if answer is None or answer is True:
        return None
    return answer if isinstance(answer, str) else "not allowed by the host's policy"


def request_of(shell: Shell, argv: Sequence[str], line: int) -> CommandRequest:
    """Return what a policy is asked about a command of a shell."""
    skill = shell.values.get("SKILL_NAME")
    running = skill if isinstance(skill, str) and shell.invocation.source != "environment" else None
    main = not shell.process.level and shell.process.pid == shell.machine.scheduler.main.pid
    return CommandRequest(
        tuple(argv), shell.cwd, line, running, is_function=_is_function(shell, argv), is_main=main
    )


def _is_function(shell: Shell, argv: Sequence[str]) -> bool:
    from agentsandbox.commands import names

    name = argv[0] if argv else ""
    return (
        name in shell.definitions.functions
        and name not in names()
        and name not in shell.machine.commands
    )
