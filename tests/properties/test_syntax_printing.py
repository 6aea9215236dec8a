"""A script that is parsed, printed and parsed again has an equal tree."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from agentsandbox import ShellSyntaxError
from agentsandbox.shell.syntax.nodes import CommandList, HereDocument, Node
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


DELIMITERS = ("E", "'E'", "E}a", '"O)"', "-E", "E;")
BEHIND = ("\n", "\nx\n", "\nE\n", "\nO)\n", ";", "\nx\nE}a\n")


def documented(chance: random.Random, depth: int = 0) -> str:
    """Return a command with here-documents in substitutions, most of which end outside of them."""

    def document() -> str:
        return "<<" + chance.choice(DELIMITERS)

    def inner() -> str:
        return documented(chance, depth + 1)

    choices: list[Callable[[], str]] = [
        lambda: "a",
        lambda: f"cat {document()}",
        lambda: f"echo $({inner()}{chance.choice(['', ';', chr(10)])})b",
        lambda: f'echo "$({inner()}{chance.choice(["", chr(10)])})"',
        lambda: f"cat <({inner()}) {chance.choice(['', document()])}",
        lambda: f"[[ $({inner()}) == a ]]",
        lambda: f"for i in $({inner()}); do\n{inner()}\ndone",
        lambda: f"x=$({inner()}) {inner()}",
        lambda: f"case $({inner()}) in\n a) {inner()} ;; esac",
        lambda: f"{{ {inner()}; }} {chance.choice(['', document(), f'>$({inner()})'])}",
    ]
    return choices[chance.randrange(2 if depth > 3 else len(choices))]()


def documents_in(node: object) -> Iterator[HereDocument]:
    if isinstance(node, HereDocument):
        yield node
    if isinstance(node, Node):
        for name in node.__slots__:
            yield from documents_in(getattr(node, name))
    elif isinstance(node, tuple):
        for each in node:
            yield from documents_in(each)


def test_here_documents_that_substitutions_leave_open() -> None:
    bad, seen = [], 0
    for seed in range(int(os.environ.get("DOCUMENTS", "400"))):
        chance = random.Random(seed)
        text = "".join(
            documented(chance)
            + chance.choice(["\n", "\nx\n", "\nE\n", "\nO)\n", ";", "\nx\nE}a\n"])
            for _ in range(chance.randrange(1, 4))
        )
        first = tree(text)
        # a body that holds further ones, because nothing ended it, is a text of its own
        if first is not None and not any("<<" in each.body.source for each in documents_in(first)):
            seen += 1
            if tree(print_script(first)) != first:
                bad.append(text)
    assert bad == []
    assert seen > 50
