"""Many sandboxes by their ids."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from agentsandbox import SandboxError, SandboxManager, SandboxOptions


def test_create_get_and_destroy() -> None:
    with SandboxManager() as manager:
        first = manager.create("a")
        assert manager.get("a") is first
        assert manager.get("b") is None
        assert manager.get_or_create("a") is first
        second = manager.get_or_create("b")
        assert manager.list() == ("a", "b")
        assert len(manager) == 2
        assert manager.destroy("a")
        assert not manager.destroy("a")
        assert first.closed
        assert set(manager.stats()) == {"b"}
    assert second.closed


def test_a_taken_id_leaves_its_owner_alone() -> None:
    manager = SandboxManager()
    first = manager.create("a")
    first.execute("echo x > f")
    with pytest.raises(SandboxError, match="already exists"):
        manager.create("a")
    assert manager.get("a") is first
    assert first.execute("cat f").stdout == "x\n"


def test_a_closed_sandbox_is_forgotten() -> None:
    manager = SandboxManager()
    manager.create("a").close()
    assert manager.list() == ()
    assert manager.create("a").execute("echo hi").stdout == "hi\n"


def test_inactive_sandboxes_are_closed_on_request() -> None:
    manager = SandboxManager(inactivity_timeout=0.0)
    sandbox = manager.create()
    assert manager.cleanup_inactive() == 1
    assert sandbox.closed
    assert SandboxManager().cleanup_inactive() == 0


def test_a_sandbox_that_works_is_not_inactive() -> None:
    manager = SandboxManager(inactivity_timeout=0.2)
    sandbox, idle = manager.create("busy"), manager.create("idle")
    time.sleep(0.25)
    sandbox.execute("true")
    assert manager.cleanup_inactive() == 1
    assert (sandbox.closed, idle.closed) == (False, True)
    thread = threading.Thread(target=lambda: sandbox.execute("sleep 0.6"))
    thread.start()
    time.sleep(0.3)
    assert manager.cleanup_inactive() == 0
    thread.join()
    assert manager.cleanup_inactive() == 0
    time.sleep(0.25)
    assert manager.cleanup_inactive() == 1


def test_there_may_be_a_cap() -> None:
    manager = SandboxManager(max_sandboxes=1)
    manager.create("a")
    with pytest.raises(SandboxError):
        manager.create("b")
    manager.destroy("a")
    manager.create("b")


def test_threads() -> None:
    manager = SandboxManager()
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(manager.get_or_create("same")))
        for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(map(id, found))) == 1


def test_closed_sandboxes_do_not_pile_up() -> None:
    manager = SandboxManager()
    for _ in range(500):
        manager.create().close()
    assert len(manager._sandboxes) <= 128
    assert len(manager) == 0


def test_a_closed_sandbox_makes_room() -> None:
    manager = SandboxManager(max_sandboxes=1)
    manager.create("a").close()
    assert manager.create("b").id == "b"
    assert ("a" in manager, "b" in manager, 5 in manager) == (False, True, False)


def test_finding_one_does_not_look_at_the_others() -> None:
    def calls(manager: SandboxManager) -> int:
        """How many functions of Python `get` calls."""
        count = 0

        def note(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(note)
        try:
            manager.get("a")
        finally:
            sys.setprofile(None)
        return count

    with SandboxManager() as one, SandboxManager() as many:
        for manager in (one, many):
            manager.create("a")
        for _ in range(1000):
            many.create()
        assert 0 < calls(many) == calls(one) < 10


def test_an_observer_may_ask_the_manager() -> None:
    seen: list[object] = []
    manager = SandboxManager(SandboxOptions(on_event=lambda event: seen.append(manager.get("a"))))
    manager.create("a")
    assert seen == [None]
