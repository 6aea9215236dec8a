"""Write docs/commands.md from what the commands say of themselves. Run: python docs/generate.py"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from agentsandbox import Sandbox
from agentsandbox.commands import find_command, names
from agentsandbox.commands._unavailable import GROUPS
from agentsandbox.shell.builtins import NAMES

PAGE = Path(__file__).with_name("commands.md")

INTRODUCTION = """\
# Commands

Made by `docs/generate.py` (`make docs`) from the commands' own usage texts; do not edit.

An option that a text does not name is refused by name, as GNU tools refuse options that they do
not know. Every text is also the output of `NAME --help` in a sandbox. The commands behave as
bash 5.2 and the tools of Debian 12 (coreutils 9.1, grep 3.8, sed 4.9, gawk 5.2, findutils 4.9,
diffutils 3.8, tar 1.34, jq 1.8); [differences](differences.md) lists where one differs on purpose.
"""


def summary_of(usage: str) -> str:
    """The first sentence after the lines that show the forms of the command."""
    lines = usage.strip().splitlines()
    while lines and re.match(r"Usage:|\s+or:|\s*$", lines[0]):
        lines.pop(0)
    text: list[str] = []
    for line in lines:
        if not line.strip() or line.startswith("  "):
            break
        text.append(line.strip())
    return re.split(r"(?<=[.])\s", " ".join(text))[0].removesuffix(".").removesuffix(":")


def in_table(text: str) -> str:
    """A text for a cell of a table: bars and angle brackets mean nothing there."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def groups() -> list[tuple[list[str], str]]:
    """The commands by usage text: names of one command stand together."""
    by_text: dict[str, list[str]] = {}
    for name in sorted(names()):
        command = find_command(name)
        assert command is not None, name
        by_text.setdefault(command.usage.strip("\n"), []).append(name)
    return sorted((found, text) for text, found in by_text.items())


def builtins() -> list[tuple[str, str]]:
    """The shell's builtins and what they do, as `help` lists them."""
    with Sandbox() as sandbox:
        listed = re.findall(
            r"^  (\S+) +([A-Z].*)\.$", sandbox.execute("help").check().stdout, re.MULTILINE
        )
    return [(name, text) for name, text in listed if name in NAMES]


def page() -> str:
    """The whole page."""
    tools = groups()
    lines = [
        INTRODUCTION,
        "## Builtins of the shell\n",
        "`help NAME` tells more about one.\n",
        "| name | |",
        "|---|---|",
    ]
    lines += [f"| `{name}` | {in_table(text)} |" for name, text in builtins()]
    lines += ["\n## Tools\n", "| name | |", "|---|---|"]
    for found, text in tools:
        linked = ", ".join(f"[`{name}`](#{found[0]})" for name in found)
        lines.append(f"| {linked} | {in_table(summary_of(text))} |")
    lines += [
        "\n## Not in a sandbox\n",
        "Status 127, with a sentence on what to do instead:\n",
        "| called | answer |",
        "|---|---|",
    ]
    lines += [
        f"| {' '.join(f'`{name}`' for name in called.split())} | {in_table(answer)} |"
        for answer, called in GROUPS.items()
    ]
    lines += ["\n## Usage texts"]
    for found, text in tools:
        also = f"\n\nAlso as {', '.join(f'`{name}`' for name in found[1:])}." if found[1:] else ""
        lines.append(f"\n### {found[0]}{also}\n\n```text\n{text}\n```")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE.name}\n")
