"""Whatever a store, an embedder or an observer of the host raises while a model uses skills: the call
raises it or answers, also through the MCP server, and the next calls answer as if nothing had been.

A case is made of three tables: where the host's functions are called, what they raise, and at which
of their calls. Its oracle is a session in which nothing raises.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agentsandbox import Sandbox
from agentsandbox.kernel.host_functions import passes_to_host
from agentsandbox.profiles.toolbox import Toolbox, skill_tools
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.catalog.roots import SkillRoot
from agentsandbox.skills.search.index import SkillIndex
from agentsandbox.skills.session.session import SkillSession
from agentsandbox.skills.sources.stores import Candidate, HostSkills
from tests.security.test_host_exceptions import RAISED, Fault, Returned

COUNT = int(os.environ.get("HOST_SKILLS", "60"))
FIRST = int(os.environ.get("HOST_SKILLS_FIRST", "0"))
WITH_MCP = importlib.util.find_spec("mcp") is not None
PLACES = (
    "candidates", "open", "readline", "close", "files", "embed", "on_event", "where", "uses",
)  # fmt: skip
EXCEPTIONS = [name for name in RAISED if not isinstance(RAISED[name](), Returned)]
STEPS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("skill_list", {}),
    ("skill_list", {"query": "say hello"}),
    ("skill_activate", {"names": ["hello"], "mode": "add"}),
    ("skill_files", {"skill": "hello"}),
    ("skill_read", {"skill": "hello", "path": "notes.md"}),
    ("skill_run", {"skill": "hello", "path": "scripts/run.sh", "args": ["you"]}),
    ("shell", {"command": "cat /.sandbox/skills/hello/notes.md; ls -A /.sandbox/skills/hello"}),
    ("skill_activate", {"names": ["other"], "mode": "replace"}),
    ("skill_deactivate", {"all": True}),
)


class Place:
    """The functions of a host, of which one may raise."""

    def __init__(self, root: str, fault: Fault, name: str) -> None:
        self.store = HostSkills(root)
        self.fault = fault
        self.name = name

    def at(self, name: str) -> None:
        """Raise if it is the turn of the function of that name."""
        if name == self.name:
            self.fault()

    def candidates(self) -> Iterator[Candidate]:
        self.at("candidates")
        for found in self.store.candidates():
            yield replace(
                found,
                open=lambda found=found: self._open(found),  # type: ignore[misc]
                source=_Source(self, found),
            )
            self.at("candidates")

    def _open(self, found: Candidate) -> Any:
        self.at("open")
        return _Lines(self, found.open())

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.at("embed")
        return [[float(len(text) % 7 + 1), float(text.count("e")), 1.0] for text in texts]

    def on_event(self, _: object) -> None:
        self.at("on_event")

    def where(self, _: object) -> bool:
        self.at("where")
        return True


class _Source:
    def __init__(self, place: Place, found: Candidate) -> None:
        self.place, self.source = place, found.source

    def files(self) -> Iterator[Any]:
        for file in self.source.files():
            self.place.at("files")
            yield file


class _Lines:
    def __init__(self, place: Place, file: Any) -> None:
        self.place, self.file = place, file

    def readline(self, size: int = -1, /) -> bytes:
        self.place.at("readline")
        return self.file.readline(size)  # type: ignore[no-any-return]

    def close(self) -> None:
        self.file.close()
        self.place.at("close")


class _Uses(dict[str, int]):
    """The host's counts of how often skills are used."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def __setitem__(self, name: str, count: int) -> None:
        self.place.at("uses")
        super().__setitem__(name, count)


class Case(NamedTuple):
    """One case."""

    place: str
    raised: str
    spared: int
    """Calls that do not raise before the first that does."""
    by_server: bool


def case_of(number: int) -> Case:
    """Return a case: each place in turn, the rest by chance."""
    chance = random.Random(f"skills {number}")
    by_server = WITH_MCP and chance.random() < 0.3
    names = EXCEPTIONS
    if by_server:  # what ends the host's event loop is its own affair
        names = [name for name in EXCEPTIONS if not passes_to_host(RAISED[name]())]
    spared = chance.choice((0, 0, 1, 2, 3, chance.randrange(20)))
    return Case(PLACES[number % len(PLACES)], chance.choice(names), spared, by_server)


def make_skills(root: str) -> None:
    """Write two skills."""
    for name, body in {
        "hello/SKILL.md": "---\nname: hello\ndescription: Say hello\n---\nRun it.\n",
        "hello/scripts/run.sh": "echo Hello $1\n",
        "hello/notes.md": "Notes.\n",
        "other/SKILL.md": "---\nname: other\ndescription: Something else\n---\nDo.\n",
    }.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(body)


def answers(place: Place, *, by_server: bool) -> tuple[list[Any], list[Any]]:
    """Return what the tools say while a function raises, and what they say after it."""
    with Sandbox() as sandbox:
        place.fault.is_armed = False
        catalog = SkillCatalog.discover(SkillRoot(place), reload="mtime")
        session = SkillSession(
            catalog.view(where=place.where),
            sandbox,
            index=SkillIndex(place),
            uses=_Uses(place),
            on_event=place.on_event,
        )
        if by_server:
            return asyncio.run(asyncio.wait_for(_by_server(place, session), 60))
        return _directly(place, session)


def _directly(place: Place, session: SkillSession) -> tuple[list[Any], list[Any]]:
    rounds: list[list[Any]] = [[], []]
    for said in rounds:
        place.fault.is_armed = said is rounds[0]
        for name, arguments in STEPS:
            try:
                said.append(Toolbox(skill_tools(session)).call(name, arguments))
            except BaseException as error:  # noqa: BLE001 - what comes out is compared
                said.append(error)
    return rounds[0], rounds[1]


async def _by_server(place: Place, session: SkillSession) -> tuple[list[Any], list[Any]]:
    from mcp import Client

    from agentsandbox.integrations.mcp import create_server

    rounds: list[list[Any]] = [[], []]
    async with Client(create_server(lambda: skill_tools(session))) as client:
        for said in rounds:
            place.fault.is_armed = said is rounds[0]
            for name, arguments in STEPS:
                try:
                    result = await client.call_tool(name, dict(arguments))
                    said.append(result.structured_content)
                except Exception as error:  # noqa: BLE001 - the protocol's own, with the text
                    said.append(error)
    return rounds[0], rounds[1]


def wrong_with(case: Case, root: str) -> str | None:
    """Return what is wrong in a case, None if nothing is."""
    make = RAISED[case.raised]
    made: list[BaseException] = []

    def raised() -> BaseException:
        made.append(make())
        return made[-1]

    place = Place(root, Fault(raised, case.spared), case.place)
    said, after = answers(place, by_server=case.by_server)
    expected, again = answers(Place(root, Fault(make), ""), by_server=case.by_server)
    if after != again:
        differing = [pair for pair in zip(after, again, strict=True) if pair[0] != pair[1]]
        return f"afterwards the tools say {differing!r}"
    for answer in said:
        if not isinstance(answer, BaseException) or case.by_server:  # the protocol's has a text
            if "Traceback" in str(answer):
                return f"says {answer!r}"
        elif not any(error is answer or error is answer.__cause__ for error in made):
            return f"raised {answer!r}"
    if not made and said != expected:
        return "other answers although nothing was raised"
    return None


# TM-OUT-3
def test_what_a_host_raises_behind_skills_leaves_the_session_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL + 1)
    make_skills(str(tmp_path))
    wrong = []
    for number in range(FIRST, FIRST + COUNT):
        case = case_of(number)
        problem = wrong_with(case, str(tmp_path))
        if problem is not None:
            wrong.append((number, case, problem))
    assert wrong == []
