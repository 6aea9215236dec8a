"""What an observer is told, in order."""

from __future__ import annotations

from typing import Any

import pytest

from agentsandbox import AgentSkill, Sandbox
from agentsandbox.events import CommandExecuted, FileChanged, Lifecycle, SkillInvoked


@pytest.mark.row("S0-77")
def test_the_events_of_a_sandbox() -> None:
    told: list[Any] = []
    skill = AgentSkill.from_files({"SKILL.md": "---\nname: x\ndescription: d\n---\n", "run.sh": "echo hi > made\n"})
    with Sandbox(skills=[skill], on_event=told.append, clock=lambda: 5.0) as sandbox:
        sandbox.execute("sh /.sandbox/skills/x/run.sh; mkdir d; echo err >&2; false")
        snapshot = sandbox.snapshot()
        sandbox.restore(snapshot)
        sandbox.fork()
        sandbox.skills.load(["x"])
    kinds = [type(event) for event in told]
    assert kinds == [Lifecycle, SkillInvoked, FileChanged, FileChanged, CommandExecuted, Lifecycle, Lifecycle, SkillInvoked, Lifecycle]
    created, script, directory, file, executed, restored, forked, loaded, closed = told
    assert [event.stage for event in (created, restored, forked, closed)] == ["created", "restored", "forked", "closed"]
    assert (script.skill, script.action, script.path) == ("x", "run", "/.sandbox/skills/x/run.sh")
    assert (directory.path, directory.change, directory.is_directory) == ("/workspace/d", "created", True)
    assert (file.path, file.change, file.size) == ("/workspace/made", "created", 3)
    assert (executed.exit_code, executed.stderr, executed.cwd, executed.timestamp) == (1, "err\n", "/workspace", 5.0)
    assert (loaded.action, loaded.sandbox_id) == ("load", sandbox.id)


def test_without_an_observer_nothing_is_looked_for() -> None:
    import sys

    sys.modules.pop("agentsandbox.observation", None)
    with Sandbox() as sandbox:
        sandbox.execute("echo hi > f")
    assert "agentsandbox.observation" not in sys.modules


def test_what_an_observer_raises_reaches_the_caller_and_the_sandbox_lives() -> None:
    def observer(event: object) -> None:
        if isinstance(event, CommandExecuted) and event.exit_code == 7:
            raise KeyError("observer")

    sandbox = Sandbox(on_event=observer)
    with pytest.raises(KeyError):
        sandbox.execute("exit 7")
    assert sandbox.execute("echo alive").stdout == "alive\n"
