"""How long catalogs and their search take, of a thousand and ten thousand skills. Run: python
benchmarks/skills.py

Processor time, the least of several calls, beside what the project asks of itself.
"""

from __future__ import annotations

import random
import string
import tempfile
import time
from pathlib import Path

from agentsandbox import Sandbox
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.catalog.records import SkillRecord
from agentsandbox.skills.metadata import SkillMetadata
from agentsandbox.skills.prompts import render_catalog
from agentsandbox.skills.search.index import SkillIndex
from agentsandbox.skills.search.vectors import Directions
from agentsandbox.skills.session.session import SkillSession

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DESCRIPTION = "A description of some length that says when to use this skill"
FORMS = ("xml", "json", "tool_description", "bullets", "agent_skills")
QUERIES = ("extract tables from pdf", "use the data", "kubernets", "skill")
LENGTH = 384
"""Of a vector of meaning."""


def main() -> None:
    """Every figure on a line: what, milliseconds, the bar."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        for number in range(1000):
            write(root / f"skill-{number}")
        show("1,000 skills: discovered", 600, lambda: SkillCatalog.discover(root))
        catalog = SkillCatalog.discover(root)
        show("1,000 skills: refreshed", 30, catalog.refresh)
        for form in FORMS:
            show(
                f"1,000 skills: listed as {form}",
                10,
                lambda form=form: render_catalog(catalog, form, maximum=None),
            )
        names = iter(catalog)
        with Sandbox() as sandbox:
            session = SkillSession(catalog, sandbox)
            show("a skill: loaded", 1, lambda: session.load([next(names)]), times=20)
    index, chance = SkillIndex(), random.Random(7)
    words = [
        "".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 9))) for _ in range(5000)
    ]
    index.update(
        [record(number, " ".join(chance.choices(words, k=20))) for number in range(10_000)]
    )
    for query in (*QUERIES, words[0]):
        show(f"10,000 skills: {query!r}", 20, lambda query=query: index.search(query))
    directions = Directions()
    directions.put((f"skill-{number}", vector(chance)) for number in range(10_000))
    wanted = vector(chance)
    show("10,000 skills: by meaning", 20, lambda: directions.nearest(wanted, 200))


def write(folder: Path) -> None:
    """A skill with a script."""
    folder.mkdir()
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\ndescription: {DESCRIPTION}\n---\n")
    (folder / "run.sh").write_text("echo done\n" * 50)


def record(number: int, description: str) -> SkillRecord:
    """What a catalog knows of one."""
    return SkillRecord(
        SkillMetadata(name=f"skill-{number}", description=f"{description} use the data"),
        "project",
        None,
        (),
    )


def vector(chance: random.Random) -> list[float]:
    """The meaning of some text."""
    return [chance.gauss(0, 1) for _ in range(LENGTH)]


def show(what: str, bar: float, function: Callable[[], object], *, times: int = 5) -> None:
    """A line; `bar` in milliseconds."""
    print(f"{what:44}{milliseconds(function, times):>10.2f} ms (bar {bar:g})", flush=True)


def milliseconds(function: Callable[[], object], times: int) -> float:
    """The least processor time of several calls: what the machine does besides is not counted."""
    found = []
    for _ in range(times):
        started = time.process_time()
        function()
        found.append(time.process_time() - started)
    return min(found) * 1e3


if __name__ == "__main__":
    main()
