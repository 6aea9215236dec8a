"""Nested data in a thread with a small stack: no reader recurses as deep as its input.

A segmentation fault would end the host, so the scripts run in a process of their own. A generator puts
them together from what nests (brackets of all languages) and from what reads, compares, copies,
prints, sorts and frees it. `NESTED` is the number of scripts for each size of stack.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from agentsandbox import Limits, Sandbox

COUNT = int(os.environ.get("NESTED", "8"))
FIRST = int(os.environ.get("NESTED_FIRST", "0"))
DEPTHS = (300, 900, 3_000, 9_000, 40_000)

NESTS = {
    "list": ("[", "1", "]"), "object": ('{"a":', "1", "}"), "both": ('[{"a":', "[]", "}]"), "flow": ("{a: [", "b", "]}"),
    "yaml": ("- ", "a", ""), "paren": ("(", "1", ")"), "group": ("(a|", "b", ")*"), "minus": ("-(", "1", ")"), "not": ("!(", "1", ")"),
    "brace": ("{a,", "b", "}"), "block": ("{ ", ":", "; }"), "subshell": ("( ", ":", " )"), "substitution": ("$(", "echo", ")"),
    "quoted": ('"$(', "echo", ')"'), "parameter": ("${x:-", "a", "}"), "arithmetic": ("$((", "1", "))"), "subscript": ("a[", "0", "]"),
    "if": ("if :; then ", ":", "; fi"), "case": ("case a in a) ", ":", ";; esac"), "extglob": ("@(a|", "b", ")"), "sed": ("{", "p", "}"),
    "awk": ("if (1) {", "x = 1", "}"), "regexp": ("(?:a", "b", ")?"), "class": ("[[:alpha:]", "a", "]"), "unary": ("-", "1", ""), "pipes": (": | ", ":", ""),
    "jq": ("[.[] | ", ".", "]"), "jqif": ("if . then ", ".", " else . end"), "sql": ("(select ", "1", ")"), "find": ("( ", "-true", " )"), "tilde": ("\\(", "a", "\\)"),
    "and": (": && ", ":", ""), "or": ("! : || ", ":", ""), "sequence": (": ; ", ":", ""), "lines": (":\n", ":", ""), "elif": ("if ! :; then :; el", "if :; then :; fi", ""), "bang": ("! ", ":", ""), "time": ("time ", ":", ""), "jobs": (": & ", ":", ""),
    "plus": ("1 + ", "1", ""), "comma": ("1, ", "1", ""), "ternary": ("0 ? 1 : ", "2", ""), "assign": ("x = ", "1", ""), "power": ("2 ** ", "1", ""), "less": ("1 < ", "1", ""), "conjunction": ("a && ", "a", ""), "words": ("$x", "$x", ""), "redirect": ("< n ", ":", ""), "prefix": ("a=1 ", ":", ""),
    "jqpipe": (". | ", ".", ""), "jqor": ("true or ", "true", ""), "jqalt": (". // ", ".", ""), "jqas": (". as $x | ", ".", ""), "jqdef": ("def f: 1; ", ".", ""), "jqpath": (".a?", ".", ""), "awkelse": ("if (0) 1; else ", "1", ""), "concat": ('"a" ', '"a"', ""), "awkrules": ("1 { x = 1 } ", "1", ""), "union": ("select 1 union ", "select 1", ""),
    "testand": ("a -a ", "a", ""), "findor": ("-true -o ", "-true", ""), "alternatives": ("a|", "a", ""), "optional": ("a?", "b", ""), "commands": ("p;", "p", ""), "anchors": ("&a", "b", ""), "then": ("", "a", " and a"), "dots": ("a.", "b", ""), "keys": ("a: 1\n", "b: 1", ""), "option": ("-x", "a", " -y"),
    "xml": ("<a>", "b", "</a>"), "assoc": ("x ? 1 : (", "2", ")"), "paths": ("a/", "b", ""), "string": ('"\\(', '"a"', ')"'),
}  # fmt: skip
READERS = (
    "jq . n", "jq -c . n", "jq 'tojson | fromjson' n", "jq '[paths] | length' n", "jq '[., .] | unique | length' n", "jq '. == .' n", "jq '.. | numbers' n", "jq 'flatten' n",
    "jq --slurpfile a n '$a | length' n", "jq --stream -c . n", "jq -n 'input as $x | [$x, $x] | sort | group_by(.) | length' n", "jq 'getpath([paths][-1])' n", "jq -f n n", "jq -n \"$(cat n)\"", "jq 'walk(.)' n",
    "jq 'del(..)' n", "jq '@text, @html, @json' n", "jq 'tostream' n", "jq 'ltrimstr(1), contains(.), inside(.)' n", "yq . n", "yq -o json . n", "yq -p json . n", "yq '.. | length' n", "yq -i '.z = 1' n", "yq n n",
    "bash n", "bash -n n", ". ./n", "eval \"$(cat n)\"", "x=$(cat n); echo $((x))", "x=$(cat n); echo ${x@P}", "x=$(cat n); [[ a == $x ]]", "x=$(cat n); [[ a =~ $x ]]", "shopt -s extglob; x=$(cat n); echo ${y//$x/}", "echo $(cat n)", "x=$(cat n); declare -n y=$x; echo $y",
    "f() { source n; }; type f", "trap \"$(cat n)\" EXIT", "alias q=\"$(cat n)\"", "coproc eval \"$(cat n)\"; wait", "complete -W \"$(cat n)\" y", "expr $(cat n)", "test $(cat n)", "[ $(cat n) ]", "find . $(cat n)", "let \"$(cat n)\"", "printf \"$(cat n)\"",
    "bc < n", "dc < n", "awk -f n n", "awk \"BEGIN { $(cat n) }\"", "awk \"/$(cat n)/\" n", "sed -f n n", "sed -nE \"/$(cat n)/p\" n", "grep -E \"$(cat n)\" n", "grep -P \"$(cat n)\" n", "grep \"$(cat n)\" n", "rg \"$(cat n)\" n", "ed -s n < n", "expr a : \"$(cat n)\"", "csplit n \"/$(cat n)/\"",
    "sqlite3 :memory: \"$(cat n)\"", "sqlite3 :memory: \"select json(readfile('n'))\"", "sqlite3 :memory: \"select json_extract('$(cat n)', '$.a')\"", "file n", "column -J n", "mkdir -p \"$(cat n)\"; rm -r a; ls -R; find .", "tar cf t n; tar tf t", "diff n n", "make -f n", "patch < n", "date -d \"$(cat n)\"",
    "xargs < n", "env -S \"$(cat n)\"", "envsubst < n", "numfmt < n", "tr \"$(cat n)\" b < n", "git config -f n -l", "git log \"$(cat n)\"", "curl \"http://$(cat n)\"", "find . -regex \"$(cat n)\"", "find . -name \"$(cat n)\"", "bash -c 'x() { bash n; }; declare -f x'",
)  # fmt: skip


def make_case(number: int) -> tuple[str, str]:
    """Return the content of the file `n`, and a script that reads it."""
    chance = random.Random(f"nested {number}")
    depth = chance.choice(DEPTHS)
    opening, middle, closing = NESTS[chance.choice(sorted(NESTS))]
    if chance.random() < 0.2:
        closing = ""
    script = READERS[number % len(READERS)]
    if chance.random() < 0.3:
        script = chance.choice(
            ("f() {{ {}; }}; f", "( {} )", "x=$({})", "{} | cat", "{{ {}; }} & wait")
        ).format(script)
    return f"{opening * depth}{middle}{closing * depth}\n", script


def work(first: int, count: int) -> None:
    """Run the scripts; print the number of one that is an internal error."""
    for number in range(first, first + count):
        content, script = make_case(number)
        print(number, flush=True)
        with Sandbox(limits=Limits(timeout=2), files={"n": content}) as sandbox:
            result = sandbox.execute(script)
            if result.exit_code == 70 or "Traceback" in result.stderr:
                print("internal error", flush=True)
                return


CHILD = """
import sys, threading
sys.path.insert(0, sys.argv[4])
from tests.security.test_native_stacks import work
threading.stack_size(int(sys.argv[1]) << 10)
thread = threading.Thread(target=work, args=(int(sys.argv[2]), int(sys.argv[3])))
thread.start()
thread.join()
print("survived")
"""


# TM-MEM-4
@pytest.mark.skipif(sys.platform == "win32", reason="its threads take no stack of that size")
@pytest.mark.parametrize("stack", [256, 1024])
def test_nested_data_in_a_thread_with_a_small_stack(stack: int) -> None:
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    first = FIRST + (COUNT if stack == 1024 else 0)
    ran = subprocess.run(
        [sys.executable, "-c", CHILD, str(stack), str(first), str(COUNT), top],
        capture_output=True,
        text=True,
        timeout=60 + 20 * COUNT,
        check=False,
    )
    said = ran.stdout.split()
    last = next((word for word in reversed(said) if word.isdigit()), "0")
    assert (ran.returncode, said[-1:]) == (0, ["survived"]), (
        make_case(int(last))[1],
        ran.stderr[-300:],
    )
    assert "internal" not in said, make_case(int(last))[1]
