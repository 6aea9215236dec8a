#!/usr/bin/env python3
"""Compare the options of the real tools' help with ours.

    tests/record/options.py [COMMAND...]         what is missing, command by command
    tests/record/options.py --table docs/options.md   write the table of all commands

An option counts as accepted when our command takes it, as specified when a recorded case of its
spec uses it, and as refused when our command answers as GNU answers to an unknown option; anything
else would be an option that is taken and ignored.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shlex
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agentsandbox import Sandbox  # noqa: E402 (the tree of this file, not an installed one)
from agentsandbox.contract.command import Command  # noqa: E402

FIRST = (
    "ls cp mv rm mkdir ln cat head tail sort uniq cut tr wc grep sed find xargs date stat "
    "touch du tee diff tar"
).split()
COMMANDS = ROOT / "agentsandbox" / "commands"
SPECS = ROOT / "tests" / "specs" / "commands"
HELP = SPECS / "help.toml"
"""Cases of --help and --version of all commands."""

LINE = re.compile(r"^ {1,12}(-.*)$")
SPELLING = re.compile(
    r"(--[A-Za-z0-9][A-Za-z0-9-]*|-[A-Za-z0-9?@#%:$.])"
    r"(?:(\[=?[^\]]*\])|[= ]?(?![ -])([A-Z][A-Z_0-9-]*|<[^>]+>|'[^']+'))?"
    r"(?=[\s,=]|$)"
)
PREDICATE = re.compile(r"(?<![\w-])-[a-zA-Z][A-Za-z0-9]*\b")
REFUSED = re.compile(
    r"unrecognized option|[Ii]nvalid option|[Uu]nknown option|unknown predicate|"
    r"[Uu]nknown argument|[Ii]llegal option|Invalid argument [-`]"
    r"|kill: invalid argument|option '.*' not supported"
)
NO_HELP = frozenset({"true", "false", "echo", "test", "printf", "pwd", "yq", "curl", "wget"})
"""Their help is no list of options, or (`yq`) that of another program of this name, or they do
nothing here (`curl`, `wget`)."""
WORDS_OF_HELP = frozenset({"-D", "-O", "-N", "-M"})
"""What looks like an option in a help text: `-N` in "a number like -N", …"""


@dataclass
class Audit:
    """The options of one command by what becomes of them here."""

    command: str
    real: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unspecified: list[str] = field(default_factory=list)


def main() -> int:
    """The command line: 0, or 1 if a command has no such option as the real one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=Path, metavar="FILE", help="write a table of all commands")
    parser.add_argument("commands", nargs="*")
    options = parser.parse_args()
    names = options.commands or FIRST + sorted(set(everything()) - set(FIRST))
    audits = [audit for audit in map(compare, names) if audit.real]
    if options.table:
        options.table.write_text(table(audits), encoding="utf-8")
    for audit in audits:
        if audit.missing:
            print(f"{audit.command}: refused: {' '.join(audit.missing)}")
        if audit.unspecified and not options.table:
            print(f"{audit.command}: no case: {' '.join(audit.unspecified)}")
    return int(any(audit.missing for audit in audits))


def everything() -> list[str]:
    """The commands that are files of their own."""
    return [path.stem for path in COMMANDS.glob("*.py") if not path.stem.startswith("_")]


def compare(name: str) -> Audit:
    """The real options of a command, and which of them ours takes."""
    audit = Audit(name)
    if name in NO_HELP:
        return audit
    cases = specified(name)
    for spellings, takes in real_options(name):
        shown = ", ".join(spellings)
        audit.real.append(shown)
        if not all(accepts(name, spelling, takes) for spelling in spellings):
            audit.missing.append(shown)
        elif not any(used(cases, spelling) for spelling in spellings):
            audit.unspecified.append(shown)
    return audit


def real_options(name: str) -> list[tuple[list[str], bool]]:
    """The options that the help of the real tool names: the spellings of each, and whether it takes
    a value.
    """
    text = real_help(name)
    if name == "find":
        words = dict.fromkeys(
            PREDICATE.findall(text.partition("Operators")[2].partition("Valid arguments")[0])
        )
        return [([word], False) for word in words if word not in WORDS_OF_HELP]
    options = []
    for line in text.splitlines():
        found = LINE.match(line)
        if found is None:
            continue
        declaration = re.split(r" {2,}(?!-)|\t(?!-)", found[1])[0]
        spellings, takes = [], False
        for match in SPELLING.finditer(declaration):
            if match.start() and declaration[match.start() - 1] not in " ,\t|":
                continue
            if match[1] in WORDS_OF_HELP and f"{match[1]}," not in line:
                continue
            spellings.append(match[1])
            takes = takes or bool(match[3]) or declaration[match.end() :].startswith("=")
        if spellings and "TYPE-" in spellings[0]:
            kinds = ("old", "new", "unchanged", "changed")[: 4 if "GTYPE" in spellings[0] else 3]
            options += [([re.sub("[GL]TYPE", kind, spellings[0])], True) for kind in kinds]
        elif spellings:
            options.append((list(dict.fromkeys(spellings)), takes))
    return options


def real_help(name: str) -> str:
    """What the real tool prints for --help; "" if it is not here."""
    try:
        environment = {**os.environ, "LC_ALL": "C"}
        done = subprocess.run(
            [name, "--help"],
            capture_output=True,
            timeout=5,
            stdin=subprocess.DEVNULL,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout or done.stderr).decode(errors="replace")


def accepts(name: str, spelling: str, takes: bool) -> bool:
    """Whether our command takes the option."""
    ours = getattr(importlib.import_module(f"agentsandbox.commands.{name}"), name)
    assert isinstance(ours, Command)
    if not ours.raw:
        known = ours.parser()
        if spelling.lstrip("-") in (known.long if spelling.startswith("--") else known.short):
            return True
    return tried(name, spelling, takes)


def tried(name: str, spelling: str, takes: bool) -> bool:
    """Whether our command answers to the option with something else than a refusal."""
    forms = (
        [f"{spelling}=1", f"{spelling} 1"]
        if takes and spelling.startswith("--")
        else [f"{spelling}{1 if takes else ''}"]
    )
    for form in forms:
        with Sandbox(cwd="/work") as sandbox:
            sandbox.fs.write_bytes("/work/a", b"1\n")
            result = sandbox.execute(
                f"timeout 1 {name} {shlex.join(form.split(' '))} </dev/null | head -c 100000"
            )
        if not REFUSED.search(result.stderr + result.stdout):
            return True
    return False


def specified(name: str) -> str:
    """The scripts of the recorded cases of the command: of its own file, of `NAME_options.toml`, of
    those for all commands.
    """
    paths = [SPECS / f"{name}.toml", *sorted(SPECS.glob(f"{name}_*.toml"))]
    found = [case["script"] for path in paths if path.exists() for case in cases_of(path)]
    found += [
        case["script"]
        for case in cases_of(HELP)
        if re.match(rf"{re.escape(name)} ", case["script"])
    ]
    if is_second_name(name):
        found += [call for call in all_calls() if re.match(rf"{re.escape(name)}\s", call)]
    return "\n".join(found)


def is_second_name(name: str) -> bool:
    """Whether it is another name of a command: its cases stand among that command's."""
    return f"import {name}\n" in (COMMANDS / f"{name}.py").read_text(encoding="utf-8")


@cache
def all_calls() -> list[str]:
    """The simple commands of all recorded scripts, roughly: what stands between operators."""
    scripts = [
        case["script"]
        for path in sorted(SPECS.glob("*.toml"))
        for case in cases_of(path)
        if "divergence" not in case
    ]
    return [
        call.strip()
        for script in scripts
        for call in re.split(r"[;|&\n`()]+|\bdo\b|\bthen\b", script)
    ]


def cases_of(path: Path) -> list[dict[str, str]]:
    """The cases of a spec file."""
    found: list[dict[str, str]] = tomllib.loads(path.read_text(encoding="utf-8")).get("case", [])
    return found


def used(scripts: str, spelling: str) -> bool:
    """Whether a script uses the option: by its long name, its letter, or the letter in a
    cluster.
    """
    if len(spelling) > 2:
        return re.search(rf"(?<![\w-]){re.escape(spelling)}(?![\w-])", scripts) is not None
    return re.search(rf"(?<![\w-])-[A-Za-z0-9]*{re.escape(spelling[1])}", scripts) is not None


def table(audits: list[Audit]) -> str:
    """The document: a line for each command, and the names of what is refused."""
    lines = [
        "# Options",
        "",
        (
            "Written by `tests/record/options.py --table docs/options.md` from the real tools' "
            "`--help` (Debian 12). *Accepted* options"
        ),
        (
            "do what the real tool's do; *recorded* ones are compared with the real tool by a "
            "case of `tests/specs/commands`; *refused*"
        ),
        "ones are answered as GNU answers to an option it does not know, by name.",
        "",
        "| command | options | accepted | recorded | refused by name |",
        "|---|---:|---:|---:|---|",
    ]
    for audit in audits:
        total, accepted = len(audit.real), len(audit.real) - len(audit.missing)
        recorded = accepted - len(audit.unspecified)
        refused = "; ".join(f"`{name}`" for name in audit.missing).replace("|", "\\|")
        lines.append(f"| {audit.command} | {total} | {accepted} | {recorded} | {refused} |")
    total = sum(len(audit.real) for audit in audits)
    accepted = total - sum(len(audit.missing) for audit in audits)
    recorded = accepted - sum(len(audit.unspecified) for audit in audits)
    lines.append(f"| **all** | {total} | {accepted} | {recorded} | |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
