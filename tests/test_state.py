"""The one list of slots: every part of a shell classifies its slots, and every copy of a shell
follows the list.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

import pytest

from agentsandbox import Limits, Sandbox
from agentsandbox.shell.interpreter.machine import Machine
from agentsandbox.shell.interpreter.shell import Shell
from agentsandbox.shell.interpreter.state import DERIVED, HOST, KEPT, RUNNING

KINDS = {KEPT, DERIVED, HOST, RUNNING}
VALUES = ("Options",)
"""What is replaced as a whole, so that no slot of it can be left out of a copy."""


@pytest.fixture
def shell() -> Iterator[Shell]:
    with Sandbox() as sandbox:
        sandbox.execute(
            "x=1; f() { :; }; trap : USR1; set -- a b; pushd / > /dev/null; ls > /dev/null"
        )
        assert sandbox._shell is not None
        yield sandbox._shell


def parts(shell: Shell) -> dict[str, object]:
    """The shell, its machine and all parts that have slots of their own, by name."""
    found = {
        name: getattr(shell, name)
        for name in Shell.SLOTS
        if name not in ("fs", "budget", "machine")
    }
    ours = {
        name: part
        for name, part in found.items()
        if type(part).__module__.startswith("agentsandbox.")
    }
    return {"shell": shell, "machine": shell.machine, **ours}


def state_of(part: object) -> dict[str, object]:
    """Return the values of all slots as they are now: lists and dictionaries are copied."""
    values = {name: getattr(part, name) for name in type(part).SLOTS}  # type: ignore[attr-defined]
    return {
        name: copy(value) if isinstance(value, (list, dict, set)) else value
        for name, value in values.items()
    }


def test_every_slot_of_every_part_has_a_kind(shell: Shell) -> None:
    assert set(parts(shell)) >= {
        "shell",
        "machine",
        "variables",
        "definitions",
        "traps",
        "descriptors",
        "stack",
    }
    for name, part in parts(shell).items():
        kind = type(part)
        if kind.__name__ in VALUES:
            continue
        slots = [slot for base in kind.__mro__ for slot in base.__dict__.get("__slots__", ())]
        assert not hasattr(part, "__dict__"), name
        assert sorted(slots) == sorted(kind.SLOTS), name  # type: ignore[attr-defined]
        assert set(kind.SLOTS.values()) <= KINDS, name  # type: ignore[attr-defined]


def test_a_shell_has_few_attributes() -> None:
    assert len(Shell.SLOTS) <= 25


def test_a_copy_has_every_slot_and_shares_no_container_that_changes(shell: Shell) -> None:
    twin = shell.fork()
    originals = parts(shell)
    for name, part in parts(twin).items():
        if name == "machine" or type(part).__name__ in VALUES:
            continue
        original = originals[name]
        for slot, value in state_of(part).items():
            before = getattr(original, slot)
            if isinstance(value, list) and slot != "positional":  # which is replaced
                assert value == before, f"{name}.{slot}"
                assert value is not before, f"{name}.{slot}"
            elif isinstance(value, (str, int, float, tuple, type(None), frozenset)):
                assert value == before, f"{name}.{slot}"
    for table in ("values", "attributes", "scopes"):
        assert getattr(twin.variables, table) is not getattr(shell.variables, table)
    assert twin.specials.hashed is not shell.specials.hashed
    assert twin.jobs.processes is not shell.jobs.processes


def marked(part: object, slots: list[str]) -> None:
    """Give slots values that nothing else has."""
    for slot in slots:
        setattr(part, slot, f"the {slot}")


@pytest.mark.parametrize("name", ["traps", "stack", "control", "process", "jobs", "specials"])
def test_no_slot_of_a_part_is_forgotten_when_it_is_copied(shell: Shell, name: str) -> None:
    """A value for every slot: a container for those that are copied, a text for all others."""
    part = getattr(shell, name)
    for slot, value in state_of(part).items():
        setattr(
            part, slot, type(value)() if isinstance(value, (list, set, dict)) else f"the {slot}"
        )
    twin = part.fork()
    assert state_of(twin) == state_of(part)


def test_a_shell_at_rest_has_first_values(shell: Shell) -> None:
    """RUNNING slots, after calls that ended in every bad way, are what they are in a new shell."""
    with Sandbox(limits=Limits(timeout=5, depth=40, steps=20_000)) as sandbox:
        sandbox.execute(":")
        assert sandbox._shell is not None
        first = {
            name: state_of(part)
            for name, part in parts(sandbox._shell).items()
            if type(part).__name__ not in VALUES
        }
        for script in (
            "f() { local x=1; for i in 1 2; do while :; do f; done; done; }; set -- a; f b",
            "f() { for i in 1; do while :; do :; done; done; }; f",
            "trap 'f() { return; }; for i in 1; do while :; do :; done; done' EXIT; exit 3",
            "trap 'for i in 1; do exit 4; done' USR1; kill -USR1 $$; f() { ! { exit 5; }; }; f",
            "f() { if { kill -TERM $$; }; then :; fi; }; x=1 f",
            (
                "cat <(echo a) <(exit 3) | while read x; do exit; done; eval 'for i in 1; "
                "do exit; done'"
            ),
            "set -x -T; trap 'echo $LINENO' DEBUG RETURN ERR; . /dev/stdin <<< 'exit 7'",
            "shopt -s extdebug; f() { g $1; }; g() { exit; }; f 1 2; exit",
            "(( x = 'x' )); f() { echo $(( f )); }; f='1 + f'; f; : ${x?y}",
        ):
            sandbox.execute(script)
        shell = sandbox._shell
        for name, part in parts(shell).items():
            if type(part).__name__ in VALUES or name in ("jobs", "machine"):
                continue
            for slot, kind in type(part).SLOTS.items():  # type: ignore[attr-defined]
                if kind == RUNNING and slot != "control":
                    assert getattr(part, slot) == first[name][slot], f"{name}.{slot}"


def test_a_fork_gets_what_the_host_gives_from_its_own_machine() -> None:
    with Sandbox(on_command=lambda request: None) as sandbox:
        sandbox.execute("x=1; ls > /dev/null")
        fork = sandbox.fork()
        fork.execute(":")
        shell, twin = sandbox._shell, fork._shell
        assert shell is not None
        assert twin is not None
        for name, part in parts(twin).items():
            for slot, kind in getattr(type(part), "SLOTS", {}).items():
                value = getattr(part, slot)
                if kind == HOST and (name, slot) != ("machine", "on_skill_script"):
                    assert value is not None, f"{name}.{slot}"
        for slot in ("machine", "fs", "policy"):
            assert getattr(twin, slot) is not getattr(shell, slot)
        assert twin.process.task is twin.machine.scheduler.main
        assert twin.variables.owner is twin
        assert twin.machine.history[0] == shell.machine.history[0]
        assert {name for name, kind in Machine.SLOTS.items() if kind == KEPT} == {
            "history",
        }
