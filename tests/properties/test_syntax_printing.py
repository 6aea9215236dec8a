"""A script that is parsed, printed and parsed again has an equal tree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from agentsandbox import ShellSyntaxError
from agentsandbox.shell.syntax.nodes import CommandList
from agentsandbox.shell.syntax.parser import parse
from agentsandbox.shell.syntax.printer import print_script
from tests.differential.generator import scripts
from tests.record.cases import load

ROOT = Path(__file__).resolve().parents[2]
CONFORMANCE = ROOT.parent / "shared" / "conformance" / "cases"


def tree(script: str) -> CommandList | None:
    try:
        return parse(script, extglob=True)
    except ShellSyntaxError:
        return None


def differing(texts: list[str]) -> list[str]:
    bad = []
    for text in texts:
        first = tree(text)
        if first is not None and tree(print_script(first)) != first:
            bad.append(text)
    return bad


@pytest.mark.parametrize("folder", ["shell", "commands"])
def test_every_spec(folder: str) -> None:
    texts = [
        case.script
        for path in sorted((ROOT / "tests" / "specs" / folder).glob("*.toml"))
        for case in load(path)
    ]
    assert len(texts) > 500
    assert differing(texts) == []


@pytest.mark.skipif(
    not CONFORMANCE.is_dir(), reason="the conformance cases are not beside the repository"
)
def test_every_conformance_case() -> None:
    lines = [
        line
        for path in sorted(CONFORMANCE.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    texts = [json.loads(line).get("script", "") for line in lines]
    assert differing(texts) == []


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(scripts())
def test_random_scripts(script: str) -> None:
    assert differing([script]) == []
