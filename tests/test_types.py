"""Type checkers know the public names: right calls pass, misspelt options and wrong types do
not.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SAMPLE = ROOT / "tests" / "typing_samples" / "face.py"
REFUSED = {
    number
    for number, line in enumerate(SAMPLE.read_text(encoding="utf-8").splitlines(), 1)
    if line.endswith("# refused")
}


def run(*words: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=300,
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    return ran.stdout


def test_mypy() -> None:
    pytest.importorskip("mypy")
    output = run("mypy", "--strict", "--no-warn-unreachable", str(SAMPLE))
    found = {int(number) for number in re.findall(r"face\.py:(\d+): error", output)}
    assert found == REFUSED, output


def test_pyright(tmp_path: Path) -> None:
    pytest.importorskip("basedpyright")
    config = {
        "include": [str(SAMPLE)],
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "standard",
        "pythonVersion": "3.11",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    output = run("basedpyright", "--project", str(tmp_path), "--outputjson")
    found = {
        entry["range"]["start"]["line"] + 1
        for entry in json.loads(output)["generalDiagnostics"]
        if entry["severity"] == "error"
    }
    assert found == REFUSED, output
