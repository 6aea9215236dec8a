"""docs/threat-model.md, the comments in the code and the tests name the same threats."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
ID = re.compile(r"\bTM-[A-Z]+-[0-9]+\b")


def rows() -> dict[str, tuple[set[str], set[str]]]:
    """Return id → (files of the package, files of the tests) that the page names."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for line in (ROOT / "docs/threat-model.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("| TM-"):
            name, _, _, where, shown = (cell.strip() for cell in line.strip("|").split("|"))
            assert name not in found, f"{name} stands twice"
            found[name] = (
                set(re.findall(r"`([^`]+)`", where)),
                set(re.findall(r"`([^`]+)`", shown)),
            )
    return found


def marks(folder: str) -> dict[str, set[str]]:
    """Return id → the files below a folder with a comment that names it."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / folder).rglob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.lstrip().startswith("# TM-"):
                for name in ID.findall(line):
                    found[name].add(path.relative_to(ROOT / folder).as_posix())
    return found


def test_every_threat_is_marked_where_it_is_met_and_nowhere_else() -> None:
    assert {name: where for name, (where, _) in rows().items()} == marks("agentsandbox")


def test_every_threat_has_the_tests_that_the_page_names() -> None:
    assert {name: shown for name, (_, shown) in rows().items()} == marks("tests")


def test_every_mark_of_a_test_is_above_a_test_or_for_the_whole_module() -> None:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            if line.startswith("# TM-") and not lines[number + 2].startswith("from __future__"):
                rest = lines[number:]
                following = next(each for each in rest if each.startswith(("def ", "async def ")))
                assert following.split("def ")[1].startswith("test_"), (path, line)
