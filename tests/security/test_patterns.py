"""No regular expression of ours backtracks badly: no limit can stop a call into `re`.

Every pattern that the package compiles is found in its source, pumped (see `pumping`) and must take work that grows
with the text and no faster. Patterns that are built while a script runs are listed by place, with what
bounds them.
"""

from __future__ import annotations

import ast
import importlib
import os
import random
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentsandbox import Limits, Sandbox
from tests.record.cases import DIRECTORY, ENVIRONMENT, load
from tests.security.pumping import STEEP, worst
from tests.security.runtime_patterns import collecting
from tests.test_specs import SPECS, place_files

PACKAGE = Path(__file__).parents[2] / "agentsandbox"

GUESTS = ("python/prelude", "javascript/prelude")
"""Code of guests: an epoch of theirs ends it."""

FUNCTIONS = {
    "compile", "match", "fullmatch", "search", "sub", "subn", "split", "finditer", "findall",
}  # fmt: skip

FROM_BEGINNING = {"match", "fullmatch"}

ONLY_MATCHED = {"commands/jq/dates.py": "the values of a table, which are used with `match`"}

OPEN = {
    "a fixed text, or a class of characters, around escaped text": (
        "commands/_files/backups.py commands/columns/column.py commands/encodings/bases.py"
        " commands/sqlite3/database.py commands/sqlite3/importing.py commands/tr/tr.py"
        " shell/expansion/splitting.py shell/syntax/words.py commands/dumps/strings.py"
        " commands/jq/dates.py commands/tr/sets.py commands/pages/fold.py"
        " commands/_files/names.py commands/make/syntax.py commands/running/parallel_arguments.py"
    ),
    "possessive pieces, one for each field": (
        "commands/cut.py commands/sort/keys.py commands/uniq.py commands/rename/expressions.py"
        " commands/tar/names.py"
    ),
    "patterns of a table, on the first bytes of a file": (
        "commands/file/languages.py commands/file/text.py"
    ),
    "patterns of a table, on texts that the host gives": "skills/trust/audit.py",
    "patterns of a table without repeats that meet": ("git/commands/verifying.py git/dotfiles.py"),
    "patterns of other modules, which are checked where they stand": "kernel/expressions.py",
    "patterns of scripts, which the engines translate and bound": (
        "commands/_files/ignore_rules.py commands/_json/regexes.py commands/awk/records.py"
        " commands/jq/regexes.py commands/yq/operators.py"
        " git/patterns.py kernel/caching.py kernel/patterns/filenames.py kernel/patterns/matchers.py"
        " kernel/patterns/wildcards.py kernel/regexps/automaton.py"
        " kernel/regexps/literal_prefixes.py kernel/regexps/matcher.py"
        " kernel/regexps/perl_regex.py"
    ),
}
"""What bounds the patterns that a module builds while it runs, and the modules."""


@dataclass(frozen=True)
class Use:
    """A pattern, and where it is compiled."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(GUESTS):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


@cache
def methods_by_module() -> dict[str, dict[str, set[str]]]:
    """Return module → name → the methods that are looked up on it, here or where it is imported."""
    used: dict[str, dict[str, set[str]]] = {}
    imports: list[tuple[str, str, str]] = []
    for module, tree in modules():
        found: dict[str, set[str]] = defaultdict(set)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS:
                owner = node.value
                if isinstance(owner, (ast.Name, ast.Attribute)):
                    found[owner.id if isinstance(owner, ast.Name) else owner.attr].add(node.attr)
            elif isinstance(node, ast.ImportFrom) and node.module:
                source = node.module.removeprefix("agentsandbox").strip(".").replace(".", "/")
                imports += [(module, source, alias.name) for alias in node.names]
        used[module] = found
    for module, source, name in imports:
        for home in (f"{source}.py", f"{source}/__init__.py"):
            if home in used and name in used[module]:
                used[home][name] |= used[module][name]
    return used


def calls(module: str, tree: ast.Module) -> Iterator[tuple[ast.Call, str, set[str]]]:
    """Yield (a call that takes a pattern, its function, the methods that its result is used with)."""
    names: dict[int, set[str]] = {}
    methods = methods_by_module()[module]
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    names[id(node.value)] = methods.get(target.id, set())
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            names[id(node.value)] = {node.attr}
    anything = set().union(*methods.values()) if methods else set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
            if function.value.id == "re" and function.attr in FUNCTIONS:
                yield node, function.attr, names.get(id(node)) or anything
        elif isinstance(function, ast.Name) and function.id in (
            "compile_pattern",
            "lazily",
            "lazily_bytes",
        ):
            yield node, "compile", names.get(id(node)) or anything


def collect() -> tuple[list[Use], list[str]]:
    """Return the patterns of the package, and the places whose pattern a script decides."""
    uses, open_places = [], []
    for name, tree in modules():
        module = (
            importlib.import_module(
                "agentsandbox."
                + name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            )
            if name != "__init__.py" and name != "__main__.py"
            else None
        )
        for call, function, methods in calls(name, tree):
            place = f"{name}:{call.lineno}"
            flags_at = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(function, 2)
            flags = call.args[flags_at] if len(call.args) > flags_at else None
            for keyword in call.keywords:
                if keyword.arg == "flags":
                    flags = keyword.value
            try:
                source = evaluate(call.args[0], module)
                chosen = evaluate(flags, module) if flags is not None else 0
            except NameError:
                open_places.append(place)
                continue
            kinds = {function} if function != "compile" else methods
            uses.append(Use(place, re.compile(source, chosen), frozenset(kinds)))
    return uses, open_places


def evaluate(node: ast.expr, module: object) -> Any:
    """Return the value of an expression of names of its module; NameError for others."""
    code = compile(ast.Expression(node), "pattern", "eval")
    return eval(code, dict(vars(module)) if module is not None else {"re": re})


def growth_of(use: Use) -> Any:
    matched = use.place.partition(":")[0] in ONLY_MATCHED
    if matched or (use.methods and use.methods <= FROM_BEGINNING):
        results = [worst(use.pattern, search=False, full="fullmatch" in use.methods)]
    else:
        results = [worst(use.pattern)]
        if "fullmatch" in use.methods or not use.methods:
            results.append(worst(use.pattern, search=False, full=True))
    return max(results, key=lambda growth: growth.factor)


USES, OPEN_PLACES = collect()


# TM-TIME-2
@pytest.mark.parametrize("use", USES, ids=lambda use: use.place)
def test_a_pattern_of_ours_takes_work_in_proportion_to_the_text(use: Use) -> None:
    growth = growth_of(use)

    assert growth.factor <= STEEP, (use.pattern.pattern, growth)


def test_each_module_that_builds_patterns_says_what_bounds_them() -> None:
    listed = {module for names in OPEN.values() for module in names.split()}

    assert {place.partition(":")[0] for place in OPEN_PLACES} == listed


COUNTED = {"commands/cut.py", "commands/sort/keys.py"}
"""Modules whose patterns are used on whole lines with as many delimiters as they ask for, which are
counted before: they fail nowhere."""

SHORT = {
    rb"module(?:\.|\[[\"'])exports[^\n]*=": "8 KiB: 12 ms of CPU",
    rb"^\s{0,50}def {1,50}[_a-zA-Z]{1,100}": "at most 50 blanks",
    r"\s*(?:;|\Z)": "of the words of a command, and only matched",
}
"""Steep patterns, and what bounds their texts."""


# TM-TIME-2
def test_patterns_that_are_built_at_run_time_are_known_and_flat() -> None:
    """Listen to what modules compile while cases of their commands run.

    `PATTERN_SPECS` is the number of cases (0: all of the specs).
    """
    most = int(os.environ.get("PATTERN_SPECS", "60"))
    paths = sorted(SPECS.rglob("*.toml"))
    chance = random.Random(f"patterns {most}")
    cases = [case for path in (chance.sample(paths, 30) if most else paths) for case in load(path)]
    with collecting() as found:
        for case in chance.sample(cases, min(most, len(cases))) if most else cases:
            with Sandbox(cwd=DIRECTORY, env={**ENVIRONMENT, **case.env}) as sandbox:
                place_files(sandbox, case)
                sandbox.execute(case.script, stdin=case.stdin, args=case.args)
    known = {(use.pattern.pattern, use.pattern.flags) for use in USES}
    listed = {module for names in OPEN.values() for module in names.split()}
    of_scripts = {module for text, names in OPEN.items() if "scripts" in text for module in names.split()}
    wrong = []
    pumped = set(chance.sample(list(found), min(len(found), 150)) if most else found)
    for (text, flags), (module, pattern) in found.items():
        if not module or (text, flags) in known or module.startswith(GUESTS):
            continue
        if module not in listed:
            wrong.append((module, text, "is compiled where no list says so"))
        elif module not in of_scripts | COUNTED and text not in SHORT and (text, flags) in pumped:
            growth = worst(pattern)
            if growth.factor > STEEP:
                wrong.append((module, text, repr(growth)))
    assert wrong == []


def test_the_machine_knows_steep_patterns_from_flat_ones() -> None:
    steep = [
        r"\s+$", r"\s*\s*x", r"(a+)+x", r"(a|a)*b", r"[0-9]*\.?[0-9]*z", r"x.*y", r'"(?:[^"]|\\.)*"',
    ]  # fmt: skip
    flat = [r"^\s+$", r"\A[0-9]++(?:\.[0-9]*+)?z", r"(?<!\s)\s++x", r"[^b]", "abc|abd"]

    assert [p for p in steep if worst(re.compile(p)).factor <= STEEP] == []
    assert [p for p in flat if worst(re.compile(p)).factor > STEEP] == []


SCRIPT_PATTERNS = (
    "(a*)*b", "(a|ab)*c", "(a+)+$", "[ab]*[bc]*d", "(.*)(.*)c", "a{1,20}a{1,20}b", "(^a|b)*c",
    "a{1000}b", "(a|b){500}c",
)  # fmt: skip
"""Extended regular expressions that explode, or grow like a square, in an engine that backtracks."""

SCRIPTS = (
    "grep -E {} f", "grep -oE {} f", "grep -P {} f", "grep -wE {} f", "sed -E {} f", "rg {} f",
    "awk {} f", "jq -R {} f", "[[ $(<f) =~ {} ]]", "find . -regextype posix-extended -regex {}",
    "csplit -s f {}", "expr $(head -c 90000 f) : {}", "yq -p=props {} f", "awk -F{} 1 f",
)  # fmt: skip

SHELL_PATTERNS = (
    "*a*a*b",
    "+(a)b",
    "*(a|ab)c",
    "+(+(a))b",
    "!(a*)b",
    "*([ab])*([bc])d",
    "@(a|a*)*b",
)

SHELL_SCRIPTS = (
    "case $x in {}) ;; esac", ": ${{x%%{}}}", ": ${{x##{}}}", ": ${{x//{}}}", "[[ $x == {} ]]",
    "IFS=a; for f in $x{}; do :; done", "find . -name '{}'",
)  # fmt: skip

FORMS = {
    "sed": "s/{}/x/g",
    "awk": "/{}/",
    "jq": 'test("{}")',
    "yq": '.. | test("{}")',
    "csplit": "/{}/",
}
"""How a pattern is written for a command."""


def write(script: str, pattern: str) -> str:
    form = FORMS.get(script.split()[0], "{}")
    if script.startswith("[["):
        return script.format(pattern)
    return script.format(f"'{form.format(pattern)}'" if "-F" not in script else f"'{pattern}'")


SCRIPTS_WITH_PATTERNS = [
    *(write(script, pattern) for script in SCRIPTS for pattern in SCRIPT_PATTERNS),
    *(
        f"shopt -s extglob; x=$(<f)\n{script.format(pattern)}"
        for script in SHELL_SCRIPTS
        for pattern in SHELL_PATTERNS
    ),
]

TIMEOUT = 0.2
MOST_OVERSHOOT = 1.0
"""Seconds of CPU past the limit. One step of a steep pattern takes minutes on this text."""


# TM-TIME-3
@pytest.mark.parametrize("script", SCRIPTS_WITH_PATTERNS)
def test_a_pattern_of_a_script_ends_with_the_limit(script: str) -> None:
    text = "a" * 200_000 + "\n"
    with Sandbox(files={"f": text}, limits=Limits(timeout=TIMEOUT)) as sandbox:
        begin = time.process_time()
        result = sandbox.execute(script)
        taken = time.process_time() - begin
        after = sandbox.execute("echo next")

    assert taken < TIMEOUT + MOST_OVERSHOOT
    assert result.limit in (None, "timeout")
    assert after.stdout == "next\n"
