#!/usr/bin/env python3
"""Run the test cases of gawk's source inside the sandbox.

    tests/differential/gawk_suite.py FOLDER [NAME]...     FOLDER is `test/` of gawk's source

Nothing of the suite is in this repository. Its own makefile decides how a case runs and is compared
with the expected output; the sandbox's `make` reads it. A case passes if the comparison left
nothing behind. Cases whose command line or script asks for lint, profiles or the debugger are left
out, and so are those that need extensions, MPFR or another locale's language; how many, is printed.
With names, what differs is shown.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agentsandbox import Limits, Sandbox

COUNTED = ("BASIC_TESTS", "UNIX_TESTS", "GAWK_EXT_TESTS", "MACHINE_TESTS", "LOCALE_CHARSET_TESTS")
LEFT_OUT = ("NEED_DEBUG", "NEED_LINT", "NEED_LINT_OLD", "NEED_PRETTY", "NEED_MPFR", "NEED_PMA")
TOOLING = re.compile(
    r"(?:^|\s)(?:-[LpdDotg]\S*|--(?:lint|profile|debug|pretty-print|dump-variables|gen-pot)\b)"
    r"|\bLINT *="
)
"""What asks for lint, a profile or the debugger."""
OTHER_OPTIONS = re.compile(r"--(?:load|bignum)\b|(?:^|\s)-[lM]\s|@load\b")
SECONDS = 20.0


def lists_of(text: str) -> dict[str, list[str]]:
    """Return the lists of names in a makefile."""
    joined = text.replace("\\\n", " ")
    return {
        found[1]: found[2].split() for found in re.finditer(r"(?m)^([A-Z_0-9]+) *=(.*)$", joined)
    }


def rule_of(name: str, text: str) -> str:
    """Return the recipe of a case."""
    found = re.search(rf"(?m)^{re.escape(name)}::?.*\n((?:\t.*\n|\n)*)", text)
    return found[1] if found else ""


def asks_of(name: str, text: str, folder: Path) -> str:
    """Return how gawk is called in a case, and what its script asks for."""
    commands = [line for line in rule_of(name, text).splitlines() if "AWK" in line]
    shell, script = folder / f"{name}.sh", folder / f"{name}.awk"
    if shell.is_file():
        lines = shell.read_text(encoding="latin-1").splitlines()
        commands += [line for line in lines if re.search(r"awk|AWK", line)]
    found = "\n".join(commands)
    if script.is_file():
        lines = re.sub(r"#.*", "", script.read_text(encoding="latin-1")).splitlines()
        found += "\n".join(line for line in lines if re.search(r"\bLINT\b|@load", line))
    return found


def makefile_of(folder: Path) -> str:
    """Return the rules of the suite, with the variables that its configuration would set."""
    rules = (folder / "Makefile.am").read_text(encoding="latin-1")
    cases = (folder / "Maketests").read_text(encoding="latin-1")
    return (
        "srcdir = .\nabs_srcdir = $(CURDIR)\nabs_builddir = $(CURDIR)\nAWKPROG = gawk\n"
        "top_srcdir = ..\nPATH_SEPARATOR = :\n"
        + re.sub(r"(?m)^(include|@|if |else|endif).*\n", "", rules).replace("$(AWKPROG)", "gawk")
        + "\nAWK = LC_ALL=$${GAWKLOCALE:-C} LANG=$${GAWKLOCALE:-C} $(VALGRIND) gawk\n"
        + cases
    )


def main() -> int:
    """Print what passes; 0."""
    folder, chosen = Path(sys.argv[1]), sys.argv[2:]
    text = makefile_of(folder)
    lists = lists_of(text)
    left_out = {name for key in LEFT_OUT for name in lists.get(key, ())}
    listed = dict.fromkeys(name for key in COUNTED for name in lists.get(key, ()))
    asked = {
        name: asks_of(name, text, folder)
        for name in listed
        if name not in left_out and (folder / f"{name}.ok").exists()
    }
    tooling = [name for name, asks in asked.items() if TOOLING.search(asks)]
    names = [
        name
        for name, asks in asked.items()
        if name not in tooling and not OTHER_OPTIONS.search(asks)
    ]
    print(f"left out for lint, profiles or the debugger: {len(tooling)}")
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    passed, failed = [], []
    with Sandbox(
        cwd="/test", files={**files, "Suite.mk": text, "Makefile": text}, limits=Limits(timeout=SECONDS)
    ) as sandbox:
        for name in files:
            if name.endswith(".sh"):
                sandbox.fs.chmod(f"/test/{name}", 0o755)
        sandbox.fs.write_bytes("/gawk", b'#!/bin/bash\nexec gawk "$@"\n', permissions=0o755)
        start = sandbox.snapshot()
        for name in chosen or names:
            sandbox.restore(start)
            result = sandbox.execute(f"make -f Suite.mk {name}")
            left = sandbox.fs.exists(f"/test/_{name}") or result.limit is not None
            (failed if left else passed).append(name)
            if chosen:
                print(result.stderr[:300])
                print(f"=== {name}", sandbox.execute(f"diff {name}.ok _{name}").stdout[:700])
    print("failed:", " ".join(failed))
    print(f"passed: {len(passed)} of {len(chosen or names)}"
          f" ({100 * len(passed) / len(chosen or names):.1f} %)")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
