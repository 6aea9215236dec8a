"""What the host says about one call, besides its script and its time."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from agentsandbox.host_input import HostInput
    from agentsandbox.policy import Policy, Rule

    State = Literal["keep", "discard", "new"]


class Terms:
    """The terms of one call, which most calls do without.

    stdin      what the script reads; None for nothing
    env, cwd   for this call only; `cwd` is a directory
    args       $1, $2 …
    state      "keep" what the script leaves in the shell, "discard" it, or run in a "new" shell
               and discard that
    on_output  called with "stdout" or "stderr" and each chunk as it appears
    policy     asked before each command, after the sandbox's own
    rule       what the shell asks, in place of the session's rule: made of both policies
    """

    __slots__ = ("args", "cwd", "env", "on_output", "policy", "rule", "state", "stdin")

    def __init__(
        self,
        stdin: str | bytes | HostInput | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        args: Sequence[str] = (),
        state: State = "keep",
        on_output: Callable[[str, bytes], None] | None = None,
        policy: Policy | None = None,
        rule: Rule | None = None,
    ) -> None:
        self.stdin = stdin
        self.env = env
        self.cwd = cwd
        self.args = args
        self.state = state
        self.on_output = on_output
        self.policy = policy
        self.rule = rule
