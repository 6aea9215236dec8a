"""Scripts in the style of skills: the same output, status and files as from real node.

`tests/record/javascript.py` recorded `expected.json`.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from agentsandbox import Sandbox
from tests.record.javascript import contents, header

pytest.importorskip("wasmtime")

from agentsandbox.javascript import JavaScriptRuntime

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text())
RUNTIME = JavaScriptRuntime()


def run(name: str) -> dict[str, object]:
    """Return what a script of the corpus does in a sandbox."""
    files = {f"/base/{folder}/{path}": text for folder in ("work", "scripts")
             for path, text in contents(HERE / folder).items()}  # fmt: skip
    sandbox = Sandbox(files=files, commands=[RUNTIME.node], cwd="/base/work", env={"TZ": "UTC"})
    words, stdin = header(HERE / "scripts" / name)
    command = shlex.join(["node", f"/base/scripts/{name}", *words])
    result = sandbox.execute(command, stdin=stdin)
    before = contents(HERE / "work")
    written = {}
    for folder, _, names in sandbox.fs.walk("/base/work"):
        for name in names:
            path = f"{folder}/{name}"
            if sandbox.fs.is_file(path):
                text = sandbox.fs.read_text(path)
                short = path.removeprefix("/base/work/")
                if before.get(short) != text:
                    written[short] = text
    lines = result.stderr.strip().splitlines()
    return {
        "status": result.exit_code,
        "stdout": result.stdout,
        "stderr_last": lines[-1] if lines else "",
        "written": written,
    }


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_script_does_what_it_does_under_node(name: str) -> None:
    assert run(name) == EXPECTED[name]
