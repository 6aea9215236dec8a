"""python -m tests.differential --cases N --seed S: any number of scripts, and every difference."""

from __future__ import annotations

import argparse
import random
import sys

from tests.differential.comparison import difference, real_bash, smallest
from tests.differential.generator import write_script


def main() -> int:
    """The command line: 0, or 1 when something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--output", action="store_true", help="only what differs in stdout or status"
    )
    options = parser.parse_args()
    bash = real_bash()
    if bash is None:
        print("there is no bash 5.2 here")
        return 1
    choose = random.Random(options.seed).choice
    found: set[str] = set()
    for _ in range(options.cases):
        script = write_script(choose)
        shown = difference(script, bash)
        if shown is None or (
            options.output and "  stdout of bash" not in shown and "  status of bash" not in shown
        ):
            continue
        shown = difference(smallest(script, bash), bash) or shown
        if shown not in found:
            found.add(shown)
            print(f"{shown}\n", flush=True)
    print(f"{options.cases} cases, {len(found)} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
