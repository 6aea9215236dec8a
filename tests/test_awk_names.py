"""The names of an awk program never meet those of the Python that it is compiled to."""

# TM-HOST-4

from __future__ import annotations

import ast
import builtins
import keyword
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentsandbox import Sandbox
from agentsandbox.commands.awk.codegen import Compiled, compile_program
from agentsandbox.commands.awk.functions import GROUPS, makers, namespace
from agentsandbox.commands.awk.parser import parse
from agentsandbox.commands.awk.runtime import Runtime
from agentsandbox.commands.awk.tokens import BUILTINS, KEYWORDS, AwkSyntaxError, Source
from agentsandbox.kernel.budget import Budget

ROOT = Path(__file__).parents[1]
MANGLED = re.compile(r"[vlfyw]_.*", re.ASCII)
GENERAL = """
function NAME_f(zz1, NAME_a, zz2) {
    NAME_a[zz1] = zz1; for (zz2 in NAME_a) zz1 = zz1 zz2; return zz1
}
BEGIN { NAME = 1; NAME++; print NAME, NAME_f(NAME) }
{
    NAME += $2; NAME_t[$1]++; NAME_t[$2] = NAME; zz3 = (NAME_t["x" NR] = NAME_s)
    sub(/a/, "b", NAME_s); zz4 = split($0, NAME_p)
    "echo got" | getline NAME_g; gsub(/o/, "0", NAME_p[1])
    for (NAME_k in NAME_p) zz5 += length(NAME_k)
    switch (NAME) { case 1: print "one"; break; default: print NAME_s, zz3, NAME_g, NAME_p[1] }
    while (NAME_i++ < 3) if (NAME_i == 2) continue; else printf "%s ", NAME_i
}
function NAME_e(NAME_l) { NAME_l["x"] = 1; return length(NAME_l) + NAME_f(3) }
END { print NAME, NAME_e(NAME_o), zz5, zz4, NAME_t["a"], substr(NAME_s, 1, 2), toupper(NAME_s), NR }
"""
ALONE = [
    (
        'BEGIN { NAME[1] = 2; NAME["x"]++; for (zz1 in NAME) print zz1, NAME[zz1]; '
        "delete NAME[1]; print length(NAME), (1 in NAME) }"
    ),
    (
        "function NAME(zz1, zz2) { zz1 = zz1 zz2; return zz1 length(zz1) } BEGIN { print "
        "NAME(1, NAME(3)); print NAME(7, 1) }"
    ),
    (
        "function zz1(NAME, zz2) { zz2[1] = NAME; NAME = NAME zz2[1]; "
        "return NAME } { print zz1($1), zz1($2) } END { print NAME }"
    ),
    (
        "function zz1(NAME) { NAME[1]++; NAME[$1] = $2; "
        "return length(NAME) } { print zz1(zz2), zz2[1] }"
    ),
    (
        '{ zz1[$1] += $2; zz2 = (zz1["k" NR] = NAME); '
        'print zz2, NAME, zz1["k" NR], -NAME, NAME ~ /5/, NAME "t" } END { NAME++; print NAME }'
    ),
    (
        'BEGIN { ARGV[1] = "NAME=9"; ARGC = 2; getline zz1 < "/dev/stdin"; '
        'print zz1 } END { print NAME, (zz2["k"] = NAME) }'
    ),
]


@cache
def runtime() -> Runtime:
    """The runtime of a program that awk has run."""
    seen: list[Runtime] = []

    def look(rt: Runtime, functions: Any) -> dict[str, Any]:
        seen.append(rt)
        return namespace(rt, functions)

    with pytest.MonkeyPatch.context() as patch, Sandbox() as sandbox:
        patch.setattr("agentsandbox.commands.awk.runtime.namespace", look)
        assert sandbox.execute("awk 'BEGIN { print 1 }'").stdout == "1\n"
    return seen[0]


@cache
def globals_of_the_runtime() -> frozenset[str]:
    """The names that a generated program can find: those of all groups."""
    everything = frozenset[str]().union(*GROUPS.values())
    return frozenset(namespace(runtime(), makers(everything)))


def test_a_group_has_the_names_that_it_is_said_to_have() -> None:
    before = frozenset(namespace(runtime(), []))
    for names in GROUPS.values():
        for name in names:
            (make,) = makers([name])
            assert frozenset(make(runtime())) == names
        assert not names & before
    assert not makers(before)


def test_no_name_of_the_runtime_is_one_of_a_program() -> None:
    names = (
        globals_of_the_runtime()
        | frozenset(dir(Runtime))
        | frozenset(dir(builtins))
        | frozenset(keyword.kwlist)
    )
    assert len(names) > 250
    assert not [name for name in names if MANGLED.fullmatch(name)]


def compiled(text: str, operands: frozenset[str] = frozenset()) -> tuple[Compiled, set[str]]:
    """The program, and every name in its text."""
    program = parse([Source("test", text)], lambda message: None, Budget())
    return compile_program(program, operands, operands, Budget()), set(
        re.findall(r"[A-Za-z_]\w*", text)
    ) | operands


def identifiers(source: str) -> set[str]:
    tree = ast.parse(source)
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    found |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return found | {
        name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Nonlocal, ast.Global))
        for name in node.names
    }


def programs() -> list[str]:
    """All that the specs give to awk as a text, one word of the command line each."""
    found = [*ALONE, GENERAL]
    for path in ("tests/specs/commands/awk.toml", "tests/specs/commands/awk_options.toml"):
        for case in tomllib.loads((ROOT / path).read_text(encoding="utf-8"))["case"]:
            try:
                words = shlex.split(case["script"])
            except ValueError:
                continue
            found += [word for word in words if "{" in word]
    return found


@cache
def generated() -> tuple[frozenset[str], int]:
    """The names in what the compiler makes of all programs, but for mangled ones, and how many
    programs that were.
    """
    found: set[str] = set()
    count = 0
    for text in programs():
        try:
            program, own = compiled(text, frozenset(("element", "NAME", "total")))
        except AwkSyntaxError:
            continue
        count += 1
        for name in identifiers(program.source):
            if not MANGLED.fullmatch(name):
                found.add(name)
            else:
                assert name[2:].split("\u01c3")[-1] in own, (
                    f"{name} is mangled, but no name of {text}"
                )
    return frozenset(found), count


def test_what_is_generated_is_mangled_or_the_compilers_own() -> None:
    """A name that is not mangled is there without the program: of the runtime, or one of few of the
    compiler's.
    """
    names, count = generated()
    assert count > 300
    own = "r rv f nf k b q rt run pad sep begin_file end_file value".split()
    assert not [
        name
        for name in names - globals_of_the_runtime() - set(own)
        if not re.fullmatch(r"[a-z]\d+", name)
    ]


def dangerous() -> list[str]:
    """Names of the runtime, what is behind their underscores, and generated names, as names of an
    awk program.
    """
    names = (
        globals_of_the_runtime()
        | generated()[0]
        | frozenset(keyword.kwlist)
        | {"eval", "exec", "open", "super", "__builtins__"}
    )
    names |= {name.partition("_")[2] for name in names} | {
        f"{kind}_{name}" for kind in "vlfyw" for name in ("zz1", "x")
    }
    names |= {"set_zz1", "__class__", "_", "__", "v_", "w_zz2"}
    awks = KEYWORDS | frozenset(BUILTINS)
    return sorted(
        name
        for name in names
        if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) and name not in awks and not name.isupper()
    )


def run(sandbox: Sandbox, text: str, name: str, operands: list[str]) -> list[object]:
    words = ["awk", text, *operands, "-"]
    result = sandbox.execute(
        shlex.join([word.replace("NAME", name) for word in words]), stdin="a 5\nb 7\n"
    )
    return [result.exit_code, result.stdout, result.stderr]


@pytest.mark.parametrize("part", range(4))
def test_no_name_changes_what_a_program_does(part: int) -> None:
    names = dangerous()
    assert len(names) > 150
    assert {
        "element",
        "set_element",
        "eval",
        "v_x",
        "rt",
        "k",
        "write",
        "__builtins__",
        "lambda",
    } <= set(names)
    with Sandbox() as sandbox:
        ways = [
            (GENERAL, ["NAME_s=abc", "NAME=5"]),
            *((text, ["NAME=5"] if "NAME(" not in text else []) for text in ALONE),
        ]
        ways += [
            (text, ["NAME=5"])
            for text in (
                '{ print NAME; zz1[NAME] = $2; zz2 = (zz1["k"] = NAME NR) } END { print zz2 }',
            )
        ]
        expected = [run(sandbox, text, "zqzq", operands) for text, operands in ways]
        assert [outcome[0] for outcome in expected] == [0, 0, 0, 0, 0, 0, 0, 0]
        for name in names[part::4]:
            for (text, operands), right in zip(ways, expected, strict=True):
                assert run(sandbox, text, name, operands) == right, (name, text)
