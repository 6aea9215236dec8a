#!/usr/bin/env python3
"""Compare the options that people use with those that commands here accept.

    tests/record/options.py EVIDENCE [--table docs/options.md]

EVIDENCE is a folder with `commands.tsv` (command, status, total, …) and `options.tsv` (command,
option, total): how often each stands in a collection of scripts. A use counts if the real tool's
`--help` names the option, or if the tool is not installed. An option is accepted if the command
takes it, and refused if the command answers as GNU tools answer to an unknown option.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agentsandbox import Sandbox  # noqa: E402 (the tree of this file, not an installed one)

SPELLING = re.compile(
    r"(?<![\w-])(--[A-Za-z0-9][A-Za-z0-9-]*|-[A-Za-z0-9?@#%:$.]|-[a-z]{3,})(?=\W|$)"
)
PREDICATE = re.compile(r"(?<![\w-])-[a-zA-Z][A-Za-z0-9]*\b")
REFUSED = re.compile(
    r"unrecognized option|[Ii]nvalid option|[Uu]nknown option|unknown predicate|[Uu]nknown argument"
    r"|[Ii]llegal option|Invalid argument [-`]|kill: invalid argument|option '.*' not supported"
)

NETWORK = frozenset({"curl", "wget"})
"""Commands that only say that there is no network."""


@dataclass
class Coverage:
    """The options of one command, by the number of their uses."""

    command: str
    calls: int = 0
    accepted: int = 0
    refused: dict[str, int] = field(default_factory=dict)


def main() -> int:
    """Print the options that are used and refused, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("evidence", type=Path)
    parser.add_argument("--table", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    found = measure(arguments.evidence)
    for coverage in found:
        for option, uses in coverage.refused.items():
            print(f"{coverage.command} {option}: {uses}")
    if arguments.table:
        arguments.table.write_text(table(found), encoding="utf-8")
    return 0


def measure(evidence: Path) -> list[Coverage]:
    """Return the coverage of each command that is here, the most used first."""
    with Sandbox() as sandbox:
        here = set(sandbox.command_names())
    calls = {row[0]: int(row[2]) for row in rows(evidence / "commands.tsv") if row[0] in here}
    uses: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows(evidence / "options.tsv"):
        uses[row[0]][row[1]] = int(row[-1])
    found = []
    for command, number in sorted(calls.items(), key=lambda item: -item[1]):
        if command in NETWORK:
            continue
        coverage = Coverage(command, number)
        known = real_options(command)
        for option, total in uses[command].items():
            if known and not is_real(option, known):
                continue
            if accepts(command, option):
                coverage.accepted += total
            else:
                coverage.refused[option] = total
        found.append(coverage)
    return found


def rows(path: Path) -> list[list[str]]:
    """Return the rows of a table, without its head."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return [row for row in (line.split("\t") for line in lines) if len(row) > 2]


def real_options(name: str) -> frozenset[str]:
    """Return the options that the real tool's help names; none if the tool is not here."""
    try:
        done = subprocess.run(
            [name, "--help"],
            capture_output=True,
            timeout=5,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    text = (done.stdout or done.stderr).decode(errors="replace")
    return frozenset((PREDICATE if name == "find" else SPELLING).findall(text))


def is_real(option: str, known: frozenset[str]) -> bool:
    """Whether an option, or each letter of a cluster up to one of a value, is one of `known`."""
    name = option.partition("=")[0]
    if name in known or option.startswith("--"):
        return name in known
    return all(f"-{letter}" in known for letter in name[1:])


def accepts(name: str, option: str) -> bool:
    """Whether our command does not refuse the option."""
    for form in (option, f"{option} 1", f"{option} a", f"{option}=1"):
        with Sandbox(cwd="/work", files={"a": "1\n"}) as sandbox:
            result = sandbox.execute(f"timeout 1 {name} {form} </dev/null | head -c 100000")
        if not REFUSED.search(result.stderr + result.stdout):
            return True
    return False


def table(found: list[Coverage]) -> str:
    """Return the page: a line for each command of which options are used."""
    lines = [
        "# Options",
        "",
        "How often people, agents and skills use the options of the commands that are here, and",
        "how many of these uses a command accepts. Counted in 28,000 one-liners, sessions and",
        "scripts by `tests/record/options.py`, which tries each option. A use counts if the real",
        "tool's `--help` names the option. *Refused* options are answered as an unknown option is.",
        "",
        "| command | calls | uses of options | accepted | refused, with their uses |",
        "|---|---:|---:|---:|---|",
    ]
    everything = accepted = 0
    for coverage in found:
        total = coverage.accepted + sum(coverage.refused.values())
        if not total:
            continue
        everything, accepted = everything + total, accepted + coverage.accepted
        refused = ", ".join(f"`{option}` {uses}" for option, uses in coverage.refused.items())
        share = f"{100 * coverage.accepted / total:.1f} %"
        lines.append(f"| {coverage.command} | {coverage.calls} | {total} | {share} | {refused} |")
    share = f"{100 * accepted / everything:.2f} %" if everything else ""
    lines.append(f"| **all** | | {everything} | {share} | |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
