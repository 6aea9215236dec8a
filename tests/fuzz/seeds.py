"""Beginnings of the fuzzers, taken from the specs: scripts, and the words of commands that ran."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Sequence

from agentsandbox import CommandRequest, Limits, Sandbox
from tests.record.cases import DIRECTORY, ENVIRONMENT, Case, load
from tests.test_specs import SPECS, place_files

__all__ = ["cases_about", "matches_in_scripts", "scripts", "seen_words"]

SEED = 21


@functools.cache
def cases_about(*words: str) -> tuple[Case, ...]:
    """Return the cases of the specs of commands whose file bears one of the names."""
    found: list[Case] = []
    for path in sorted((SPECS / "commands").glob("*.toml")):
        if path.stem.partition("_")[0] in words:
            found += load(path)
    return tuple(found)


@functools.cache
def shell_cases() -> tuple[Case, ...]:
    """Return the cases of the shell's specs."""
    return tuple(case for path in sorted((SPECS / "shell").glob("*.toml")) for case in load(path))


def scripts(count: int) -> list[str]:
    """Return scripts of the shell's specs."""
    cases = [case.script for case in shell_cases() if len(case.script) < 1500]
    return random.Random(SEED).sample(cases, min(count, len(cases)))


def matches_in_scripts(pattern: str, count: int) -> list[str]:
    """Return different matches of a pattern (its first group) in the shell's scripts."""
    found = sorted(
        {match[1] for case in shell_cases() for match in re.finditer(pattern, case.script)}
    )
    return random.Random(SEED).sample(found, min(count, len(found)))


def seen_words(programs: Sequence[str], count: int) -> list[tuple[tuple[str, ...], bytes]]:
    """Return the words that the specs call the programs with, and an input.

    The cases run, and a policy sees the words of each command.
    """
    cases = list(cases_about(*programs))
    random.Random(SEED).shuffle(cases)
    found: dict[tuple[str, ...], bytes] = {}
    for case in cases[: 4 * count]:
        seen: list[tuple[str, ...]] = []

        def policy(request: CommandRequest, seen: list[tuple[str, ...]] = seen) -> None:
            if request.argv[0] in programs and sum(map(len, request.argv)) < 800:
                seen.append(request.argv)

        limits = Limits(timeout=1, steps=100_000)
        with Sandbox(
            cwd=DIRECTORY, env={**ENVIRONMENT, **case.env}, limits=limits, on_command=policy
        ) as sandbox:
            place_files(sandbox, case)
            sandbox.execute(case.script, stdin=case.stdin, args=case.args)
        small = [file.content for file in case.files if 0 < len(file.content) < 400]
        for words in seen[:2]:
            found.setdefault(words, (small or [case.stdin[:400]])[0])
        if len(found) >= count:
            break
    return list(found.items())[:count]
