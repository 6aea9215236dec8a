"""What a process pays before the first script: modules are loaded when something needs them, and
not before.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentsandbox.commands import module_of, names
from agentsandbox.kernel import expressions
from agentsandbox.shell.syntax import words

ROOT = Path(__file__).parents[1]

HEAVY = {
    "asyncio", "trio", "anyio", "pydantic", "yaml", "regex", "greenlet", "typing", "dataclasses",
    "inspect", "ast", "pathlib",
    "logging", "json", "decimal", "fractions", "tempfile", "subprocess", "socket", "ssl", "urllib",
    "http", "email", "argparse",
    "pkgutil", "zlib", "datetime", "string",
}  # fmt: skip
"""What takes milliseconds to import and a first `echo` has no use for."""


def loaded_by(program: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after a program, beyond those it starts
    with.
    """
    probe = (
        f"import sys; before = set(sys.modules)\n{program}\n"
        "print('\\0' + ' '.join(set(sys.modules) - before))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ran.stderr == ""
    return set(ran.stdout.rpartition("\0")[2].split())


def executing(script: str) -> set[str]:
    return loaded_by(
        f"from agentsandbox import Sandbox\nassert Sandbox().execute({script!r}).exit_code == 0"
    )


def test_importing_the_package_loads_one_module() -> None:
    assert loaded_by("import agentsandbox") == {"agentsandbox"}


def test_a_sandbox_without_a_script_loads_no_shell() -> None:
    loaded = loaded_by("from agentsandbox import Sandbox; Sandbox()")
    assert not loaded & HEAVY
    assert not {
        name
        for name in loaded
        if name.startswith(
            (
                "agentsandbox.shell.interpreter",
                "agentsandbox.shell.expansion",
                "agentsandbox.shell.syntax",
            )
        )
    }


def ours(loaded: set[str]) -> set[str]:
    return {name for name in loaded if name.split(".")[0] == "agentsandbox"}


def source_bytes(loaded: set[str]) -> int:
    """The bytes of the sources of those modules that are ours."""
    files = [ROOT / Path(*name.split(".")) for name in ours(loaded)]
    return sum(
        (file / "__init__.py" if file.is_dir() else file.with_suffix(".py")).stat().st_size
        for file in files
    )


def test_a_first_echo_loads_few_modules_and_none_that_only_other_commands_need() -> None:
    loaded = executing("echo hi")
    assert not loaded & (HEAVY | {"re", "enum", "functools", "collections", "operator", "types"})
    assert len(ours(loaded)) <= 50
    assert source_bytes(loaded) <= 430_000
    assert not loaded & {
        f"agentsandbox.{name}"
        for name in (
            "contract.command", "contract.usage", "kernel.fs.devices", "kernel.fs.handles",
            "kernel.fs.mounts", "kernel.fs.opening", "kernel.fs.removing", "kernel.fs.subtrees",
            "kernel.quoting", "kernel.stacks", "shell.builtins", "shell.expansion.splitting",
            "shell.expansion.words", "shell.interpreter.assignments", "shell.interpreter.fifos",
            "shell.interpreter.functions", "shell.interpreter.jobs",
            "shell.interpreter.last_commands", "shell.interpreter.listing_variables",
            "shell.interpreter.programs", "shell.interpreter.redirections",
            "shell.interpreter.shapes", "shell.interpreter.simple", "shell.interpreter.subshells",
            "shell.interpreter.traps", "shell.syntax.lexer",
            "shell.syntax.parser", "shell.syntax.compound_nodes",
        )
    }  # fmt: skip


def test_a_second_plain_command_loads_nothing_more() -> None:
    program = (
        "import sys\nfrom agentsandbox import Sandbox\nsandbox = Sandbox()\n"
        "sandbox.execute('echo hi')\nseen = set(sys.modules)\n"
        "assert sandbox.execute('echo ho -n x/y.txt').exit_code == 0\n"
        "assert not set(sys.modules) - seen, set(sys.modules) - seen"
    )
    assert "agentsandbox" in loaded_by(program)


FIVE_TOOLS = "printf 'b\\na\\nb\\n' | sort | uniq -c | sed s/a/x/ | awk '{print $1}' | wc -l"


def test_a_pipeline_loads_what_its_tools_do_and_nothing_for_what_they_could_do() -> None:
    loaded = executing(FIVE_TOOLS)
    assert not loaded & (HEAVY | {"weakref", "greenlet", "contextvars", "math"})
    assert not loaded & {"re", "enum", "functools", "collections", "operator", "types"}
    assert len(ours(loaded)) <= 110
    assert source_bytes(loaded) <= 1_000_000
    assert not loaded & {
        f"agentsandbox.{name}"
        for name in (
            "commands.awk.assignments", "commands.awk.calls", "commands.awk.channels",
            "commands.awk.field_loops", "commands.awk.formats", "commands.awk.numbered",
            "commands.awk.sorting", "commands.awk.substitution", "commands.awk.times",
            "commands._files.names", "commands._text.counts", "commands._text.quoting",
            "commands.awk.call_parser", "commands.awk.flow_nodes", "commands.awk.function_parser",
            "commands.awk.library", "commands.awk.patterns", "commands.awk.texts",
            "commands.sed.compiler", "commands.sed.editor",
            "commands.sed.in_place", "commands.sed.steps", "commands.sed.substitution",
            "commands.sort.key_runs", "commands.sort.keys", "commands.sort.packed_runs",
            "commands.sort.values", "kernel.formats.conversions", "kernel.formats.directives",
            "kernel.formats.long_double", "kernel.formats.strftime", "kernel.formats.timezones",
            "kernel.regexps.analysis", "kernel.regexps.lines", "kernel.regexps.literal_prefixes",
            "kernel.regexps.parser", "kernel.regexps.translate", "kernel.regexps.tree",
            "shell.interpreter.assignments", "shell.interpreter.children",
            "shell.interpreter.declarations",
            "shell.interpreter.functions", "shell.interpreter.redirections",
            "shell.interpreter.script_files", "shell.interpreter.shortcuts",
            "shell.interpreter.subshells", "shell.interpreter.substitutions",
            "shell.interpreter.timing", "shell.interpreter.traps",
            "shell.syntax.compound_nodes",
        )
    }  # fmt: skip


def test_the_flags_of_expressions_are_those_of_re() -> None:
    assert (expressions.IGNORE_CASE, expressions.MULTILINE) == (re.IGNORECASE, re.MULTILINE)
    assert (expressions.DOTALL, expressions.ASCII) == (re.DOTALL, re.ASCII)


@given(st.sampled_from(sorted(words._STOPS)), st.text("ab$`\\\"'}/:<>[] \t\n|&;()?*+@!{é"))
def test_the_first_texts_are_split_as_by_the_expressions(mode: int, text: str) -> None:
    for start in range(len(text) + 1):
        found = words._RUN[mode].match(text, start, start + 5)
        first = words._FIRST_RUN[mode].match(text, start, start + 5)
        assert (found and (found[0], found.end())) == (first and (first[0], first.end()))


def test_a_first_script_loads_nothing_heavy_and_no_command() -> None:
    loaded = executing("echo hi")
    assert not loaded & (HEAVY | {"re", "enum"})
    assert not {name for name in loaded if name.startswith("agentsandbox.commands.")}
    assert not {name.split(".")[1] for name in loaded if name.startswith("agentsandbox.")} & {
        "languages", "regexps", "skills", "tools", "manager", "validation", "network", "cli",
        "integrations", "events", "driver",
        "patterns", "stars",
    }  # fmt: skip
    assert not loaded & {
        "agentsandbox.shell.expansion.arithmetic", "agentsandbox.shell.expansion.braces",
        "agentsandbox.shell.expansion.globbing",
        "agentsandbox.shell.expansion.parameters", "agentsandbox.shell.syntax.arithmetic",
        "agentsandbox.shell.syntax.compounds",
        "agentsandbox.shell.syntax.conditions", "agentsandbox.shell.syntax.printer",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("script", "commands"),
    [
        ("printf '1\\n2\\n' | cat | rev", {"cat", "rev"}),
        ("seq 3 | tac > out; basename out", {"seq", "tac", "basename"}),
        ("for i in 1 2 3; do [[ $i == 2 ]] && break; done; x=$(pwd)", set()),
    ],
)
def test_a_script_loads_the_commands_that_it_runs(script: str, commands: set[str]) -> None:
    loaded = executing(script)
    found = {name for name in names() if f"agentsandbox.commands.{module_of(name)}" in loaded}
    assert found == commands
    assert not loaded & {"pydantic", "yaml", "asyncio", "trio"}


def test_pydantic_and_yaml_come_with_skills() -> None:
    skill = "---\nname: x\ndescription: y\n---\n"
    loaded = loaded_by(
        f"from agentsandbox import AgentSkill; AgentSkill.from_files({{'SKILL.md': {skill!r}}})"
    )
    assert {"pydantic", "yaml"} <= loaded
    assert "agentsandbox.shell.interpreter" not in loaded


def test_the_files_of_a_sandbox_load_nothing_heavy() -> None:
    calls = "files.write('a', 'x'); files.edit('a', 'x', 'y'); files.read('a'); files.list()"
    loaded = loaded_by(f"from agentsandbox import Sandbox; files = Sandbox().files; {calls}")
    assert not loaded & (HEAVY | {"tarfile", "zipfile"})
    rooms = (
        "agentsandbox.shell.interpreter",
        "agentsandbox.kernel.regexps",
        "agentsandbox.shell.expansion",
        "agentsandbox.kernel.patterns.filenames",
    )
    assert not {name for name in loaded if name.startswith(rooms)}
