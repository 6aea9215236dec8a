#!/usr/bin/env python3
"""Record what real node does with the scripts of `tests/javascript/scripts`.

    tests/record/javascript.py          write tests/javascript/expected.json

Each script runs in a fresh copy of `tests/javascript/work`. The first lines of a script may say
`// args: WORDS` and `// stdin: TEXT` (with \\n for a line's end). Needs node 20.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "javascript"
SECONDS = 20


def header(path: Path) -> tuple[list[str], str]:
    """Return arguments and standard input of a script."""
    words, stdin = [], ""
    for line in path.read_text().splitlines()[:2]:
        if line.startswith("// args: "):
            words = shlex.split(line.removeprefix("// args: "))
        elif line.startswith("// stdin: "):
            stdin = line.removeprefix("// stdin: ").replace("\\n", "\n")
    return words, stdin


def contents(folder: Path) -> dict[str, str]:
    """Return the text files of a folder by name."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def main() -> int:
    """The command line."""
    recorded = {}
    before = contents(HERE / "work")
    for script in sorted((HERE / "scripts").iterdir()):
        words, stdin = header(script)
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            shutil.copytree(HERE / "work", root / "work")
            shutil.copytree(HERE / "scripts", root / "scripts")
            done = subprocess.run(
                ["node", str(root / "scripts" / script.name), *words],
                cwd=root / "work", input=stdin, capture_output=True, text=True, timeout=SECONDS,
                env={"PATH": os.environ["PATH"], "HOME": folder, "TZ": "UTC"}, check=False,
            )  # fmt: skip
            after = contents(root / "work")
        lines = done.stderr.strip().splitlines()
        recorded[script.name] = {
            "status": done.returncode,
            "stdout": done.stdout,
            "stderr_last": lines[-1] if lines else "",
            "written": {name: text for name, text in after.items() if before.get(name) != text},
        }
    (HERE / "expected.json").write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
