"""The editor of messages: a command of the sandbox, found as git finds it."""

from __future__ import annotations

from agentsandbox.git.errors import Quit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation


def find_editor(git: Invocation, *, sequence: bool = False) -> str:
    """Return the command line of the editor, "" if there is none."""
    env, config = git.env, git.config
    found = ""
    if sequence:
        found = env.get("GIT_SEQUENCE_EDITOR") or config.get("sequence.editor")
    found = found or env.get("GIT_EDITOR") or config.get("core.editor")
    dumb = env.get("TERM", "dumb") == "dumb"
    if not found and not dumb:
        found = env.get("VISUAL", "")
    return found or env.get("EDITOR", "")


def edit(git: Invocation, path: str, shown: str, *, sequence: bool = False,
         message: bool = True) -> None:  # fmt: skip
    """Let the editor change a file; an error ends the command."""
    command = find_editor(git, sequence=sequence)
    if not command:
        git.error("Terminal is dumb, but EDITOR unset")
        if message and not sequence:
            git.say("Please supply the message using either -m or -F option.")
        raise Quit(1)
    if command == ":":
        return
    worktree = git.repository.worktree or git.cwd
    status, _ = git.run(["sh", "-c", f'{command} "$@"', command, path], cwd=worktree)
    del shown
    if status:
        git.error(f"There was a problem with the editor '{command}'.")
        if message and not sequence:
            git.say("Please supply the message using either -m or -F option.")
        raise Quit(1)
