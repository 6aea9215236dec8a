"""The three-way merge of texts agrees with that of real git."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsandbox.git.diff.merge import TextMerge
from agentsandbox.kernel.budget import Budget

GIT = shutil.which("git")
LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"}\n", b"\n"]), max_size=10)
EDITS = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 3), LINES), max_size=3)


def edited(lines: list[bytes], edits: list[tuple[int, int, list[bytes]]]) -> bytes:
    made = list(lines)
    for at, size, new in edits:
        made[at : at + size] = new
    return b"".join(made)


@pytest.mark.skipif(GIT is None, reason="needs git")
@settings(max_examples=80, deadline=None)
@given(LINES, EDITS, EDITS, st.sampled_from(["merge", "diff3", "zdiff3"]))
def test_texts_merge_as_in_git(
    base: list[bytes],
    one: list[tuple[int, int, list[bytes]]],
    two: list[tuple[int, int, list[bytes]]],
    style: str,
) -> None:
    texts = {"ours": edited(base, one), "base": b"".join(base), "theirs": edited(base, two)}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in texts.items():
            (Path(folder) / name).write_bytes(data)
        flags = [] if style == "merge" else [f"--{style}"]
        real = subprocess.run(
            [str(GIT), "merge-file", "-p", "-q", *flags, "ours", "base", "theirs"],
            cwd=folder, capture_output=True, check=False,
        )  # fmt: skip
    work = TextMerge(
        Budget(), labels=("ours", "base", "theirs"), style=style, algorithm="myers",
        join_signs=True,
    )  # fmt: skip
    assert work.merge(texts["base"], texts["ours"], texts["theirs"]) == real.stdout
    assert work.conflicts == real.returncode
