"""What an observer is told, in order."""

from __future__ import annotations

from typing import Any

import pytest

from agentsandbox import AgentSkill, Limits, Sandbox
from agentsandbox.errors import LimitReached, PipeClosed
from agentsandbox.events import CommandExecuted, FileChanged, Lifecycle, SkillInvoked


@pytest.mark.row("S0-77")
def test_the_events_of_a_sandbox() -> None:
    told: list[Any] = []
    skill = AgentSkill.from_files(
        {"SKILL.md": "---\nname: x\ndescription: d\n---\n", "run.sh": "echo hi > made\n"}
    )
    with Sandbox(skills=[skill], on_event=told.append, clock=lambda: 5.0) as sandbox:
        sandbox.execute("sh /.sandbox/skills/x/run.sh; mkdir d; echo err >&2; false")
        snapshot = sandbox.snapshot()
        sandbox.restore(snapshot)
        sandbox.fork()
        sandbox.skills.load(["x"])
    kinds = [type(event) for event in told]
    assert kinds == [
        Lifecycle,
        SkillInvoked,
        FileChanged,
        FileChanged,
        CommandExecuted,
        Lifecycle,
        Lifecycle,
        SkillInvoked,
        Lifecycle,
    ]
    created, script, directory, file, executed, restored, forked, loaded, closed = told
    assert [event.stage for event in (created, restored, forked, closed)] == [
        "created",
        "restored",
        "forked",
        "closed",
    ]
    assert (script.skill, script.action, script.path) == ("x", "run", "/.sandbox/skills/x/run.sh")
    assert (directory.path, directory.change, directory.is_directory) == (
        "/workspace/d",
        "created",
        True,
    )
    assert (file.path, file.change, file.size) == ("/workspace/made", "created", 3)
    assert (executed.exit_code, executed.stderr, executed.cwd, executed.timestamp) == (
        1,
        "err\n",
        "/workspace",
        5.0,
    )
    assert (loaded.action, loaded.sandbox_id) == ("load", sandbox.id)


def test_without_an_observer_nothing_is_looked_for() -> None:
    import sys

    sys.modules.pop("agentsandbox.runtime.observation", None)
    with Sandbox() as sandbox:
        sandbox.execute("echo hi > f")
    assert "agentsandbox.runtime.observation" not in sys.modules


# TM-OUT-3
@pytest.mark.parametrize("error", [KeyError, SystemExit, LimitReached])
def test_an_observer_that_raises_breaks_nothing(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    told = []

    def observer(event: object) -> None:
        told.append(type(event))
        raise error("observer")

    skill = AgentSkill.from_files(
        {"SKILL.md": "---\nname: x\ndescription: d\n---\n", "run.sh": "echo hi > made\n"}
    )
    with Sandbox(skills=[skill], on_event=observer) as sandbox:
        result = sandbox.execute("sh /.sandbox/skills/x/run.sh; cat made; exit 7")
        assert (result.stdout, result.stderr, result.exit_code) == ("hi\n", "", 7)
        snapshot = sandbox.snapshot()
        sandbox.restore(snapshot)
        with sandbox.fork() as twin:
            assert twin.execute("cat made").stdout == "hi\n"
        sandbox.skills.load(["x"])
    assert set(told) == {Lifecycle, SkillInvoked, FileChanged, CommandExecuted}
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [
        error
    ] * 3  # sandbox, twin, session
    assert "on_event" in caplog.text


@pytest.mark.parametrize("error", [KeyError, SystemExit, LimitReached])
def test_a_listener_that_raises_breaks_nothing(
    error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    def listener(stream: str, data: bytes) -> None:
        raise error("listener")

    with Sandbox(limits=Limits(timeout=0.2)) as sandbox:
        result = sandbox.execute("echo a; echo b >&2; (exit 3) | cat; echo c", on_output=listener)
        assert (result.stdout, result.stderr, result.exit_code) == ("a\nc\n", "b\n", 0)
        assert sandbox.execute("while :; do :; done", on_output=listener).limit == "timeout"
    assert len([record for record in caplog.records if record.exc_info]) == 2


def test_a_listener_may_say_that_nobody_reads() -> None:
    """By `PipeClosed`, as the command line does; the sandbox's own last line meets it as well."""

    def listener(stream: str, data: bytes) -> None:
        raise PipeClosed

    with Sandbox(limits=Limits(timeout=0.2)) as sandbox:
        assert sandbox.execute("echo a; echo b", on_output=listener).exit_code == 141
        assert sandbox.execute("while :; do :; done", on_output=listener).limit == "timeout"


def test_an_interrupt_of_the_host_passes() -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    with Sandbox() as sandbox:
        with pytest.raises(KeyboardInterrupt):
            sandbox.execute("echo a; echo b", on_output=interrupt)
        assert sandbox.execute("echo alive").stdout == "alive\n"
