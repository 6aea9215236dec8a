"""python -m tests.differential --cases N --seed S: any number of scripts, and every difference."""

from __future__ import annotations

import argparse
import sys

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.differential.comparison import difference, real_bash
from tests.differential.generator import scripts


def main() -> int:
    """The command line: 0, or 1 when something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    bash = real_bash()
    if bash is None:
        print("there is no bash 5.2 here")
        return 1
    found: dict[str, str] = {}

    @seed(options.seed)
    @settings(max_examples=options.cases, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(scripts())
    def look(script: str) -> None:
        shown = difference(script, bash)
        if shown is not None:
            found[script] = shown

    look()
    for shown in sorted(found.values(), key=len):
        print(f"{shown}\n")
    print(f"{options.cases} cases, {len(found)} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
