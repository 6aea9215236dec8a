"""The engine: atheris if it is installed, which follows what is covered, else mutations by chance.

A problem does not end a run. Its input is kept in the folder of findings, one for each kind and
place, and the run goes on; what ends the process (a crash of the interpreter, two minutes
without an answer) is kept by libFuzzer there.
"""

from __future__ import annotations

import hashlib
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, process_time

from tests.fuzz import judge
from tests.fuzz.judge import DOUBTFUL, Problem
from tests.fuzz.target import Target

__all__ = ["Findings", "mutants", "problem_of", "run_atheris", "run_plain"]

LONGEST = 4096
"""Bytes of an input, unless a seed is longer."""
SLOWNESS = 6.0
"""How much slower the package runs while atheris counts its branches, at most."""
HANG = 120
"""Seconds after which libFuzzer ends the process."""
MEMORY = 2500
"""MiB of the process at which libFuzzer ends it."""


class Findings:
    """A folder with an input for each problem, and a text that says what it is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = 0
        folder.mkdir(parents=True, exist_ok=True)

    def try_input(self, target: Target, data: bytes) -> Problem | None:
        """Run one input, twice if its problem is doubtful; keep and return the problem."""
        self.runs += 1
        problem = problem_of(target, data)
        if problem is not None and problem.kind in DOUBTFUL:
            problem = problem_of(target, data)
        if problem is not None:
            self.keep(data, problem)
        return problem

    def keep(self, data: bytes, problem: Problem) -> None:
        """Keep an input, if it is shorter than the one that shows the same."""
        name = re.sub(r"[^\w.]+", "_", f"{problem.kind}-{problem.place}")[:100]
        path = self.folder / f"{name}.bin"
        if not path.exists() or path.stat().st_size > len(data):
            path.write_bytes(data)
            path.with_suffix(".txt").write_text(f"{problem}\n", encoding="utf-8", errors="replace")


def problem_of(target: Target, data: bytes) -> Problem | None:
    """Return what is wrong with one input."""
    try:
        target.run(data)
    except Problem as problem:
        return problem
    return None


def run_atheris(target: Target, seconds: float, findings: Findings, corpus: Path) -> None:
    """Fuzz for about `seconds`, then leave the process: libFuzzer does not return."""
    import atheris

    judge.prepare(SLOWNESS)
    corpus.mkdir(parents=True, exist_ok=True)
    longest = LONGEST
    for seed in target.seeds(300):
        (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
        longest = max(longest, 2 * len(seed))
    words = findings.folder.parent / f"{target.name}.dict"
    words.write_text("".join(f'"{_quoted(word)}"\n' for word in target.words if 0 < len(word) < 60))

    def one_input(data: bytes) -> None:
        findings.try_input(target, data)

    arguments = [
        sys.argv[0], f"-max_total_time={int(seconds)}", f"-timeout={HANG}", "-len_control=0",
        f"-rss_limit_mb={MEMORY}", f"-max_len={longest}", "-print_final_stats=1", "-verbosity=1",
        f"-artifact_prefix={findings.folder}/", "-reload=0", str(corpus),
    ]  # fmt: skip
    if target.words:
        arguments.insert(1, f"-dict={words}")
    atheris.Setup(arguments, one_input)
    atheris.Fuzz()


def _quoted(word: bytes) -> str:
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02x}" for byte in word
    )


def run_plain(target: Target, seconds: float, findings: Findings, seed: int = 0) -> None:
    """Fuzz with mutations by chance until `seconds` of CPU are used."""
    judge.prepare()
    began, wall = process_time(), monotonic()
    for data in mutants(target, seed):
        findings.try_input(target, data)
        if process_time() - began > seconds or monotonic() - wall > 20 * seconds:
            return


def mutants(target: Target, seed: int = 0, count: int = 100) -> Iterator[bytes]:
    """Yield the seeds of a target and then mutations of them, without end."""
    beginnings = target.seeds(count)
    yield from beginnings
    chance = random.Random(f"{target.name} {seed}")
    while True:
        data = bytearray(chance.choice(beginnings))
        for _ in range(chance.choice((1, 1, 2, 3, 5, 8))):
            _mutate(data, chance, target.words, beginnings)
        yield bytes(data[: max(LONGEST, len(beginnings[0]))])


def _mutate(
    data: bytearray, chance: random.Random, words: tuple[bytes, ...], beginnings: list[bytes]
) -> None:
    at = chance.randrange(len(data) + 1)
    end = min(len(data), at + chance.choice((1, 1, 2, 4, 16)))
    change = chance.randrange(7)
    if change <= 1 and words:
        data[at : end if change else at] = chance.choice(words)
    elif change == 2:
        del data[at:end]
    elif change == 3:
        data[at:at] = data[at:end] * chance.choice((1, 2, 30))
    elif change == 4 and data:
        data[at % len(data)] = chance.choice((0, 255, 128, 10, 32, chance.randrange(256)))
    elif change == 5:
        other = chance.choice(beginnings)
        first = chance.randrange(len(other) + 1)
        data[at:end] = other[first : first + chance.choice((3, 10, 40))]
    else:
        data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 4)))
