"""Whatever a script does, `execute` comes back in time, says what stopped it, keeps the output and
leaves a usable sandbox.
"""

from __future__ import annotations

import ast
import copy
import pickle
import re
from pathlib import Path
from time import monotonic

import pytest

from agentsandbox import ExecutionResult, Limits, Sandbox
from agentsandbox.kernel.budget import CANCELLED

ROOT = Path(__file__).parents[1]
TIMEOUT = 0.3
LATEST = 0.5
ATTEMPTS = 4  # a machine that runs many tests at once may be slow for a moment

ENDLESS = {
    "null bytes": "x=$(< /dev/zero)",
    "a while loop": "while :; do :; done",
    "a for loop": "for ((;;)); do ((n += 1)); done",
    "a sleep": "sleep 9",
    "a catastrophic regular expression": (
        "x=$(printf 'a%.0s' {1..60})b; while :; do [[ $x =~ ^(a+)+$ ]]; "
        "grep -cE '^(a|aa)+$' <<< $x; done"
    ),
    "a catastrophic regular expression of Perl": (
        "x=$(printf 'a%.0s' {1..60}); while :; do echo ${x}b | grep -cP '^(a+)+$'; done"
    ),
    "sort": "seq 1000000 | sort -r | sort -n | sort -k1,1 | sort -R | sort",
    "a device without an end": "cat /dev/zero > /dev/null",
    "awk": "awk 'BEGIN { while (1) n++ }'",
    "large numbers in awk": "awk 'BEGIN { x = 3; while (1) x = x * x % 1000003 }'",
    "jq": "jq -n '[range(1000000000)] | add'",
    "recursion in jq": "jq -n 'def f: f; f'",
    "large numbers in bc": "bc <<< '9^9^9'",
    "braces": "for i in {1..100000000}; do :; done",
    "a pipe": "yes | while read x; do :; done",
    "substitutions": "while x=$(echo y); do :; done",
    "globs": "while :; do echo /usr/bin/* > /dev/null; done",
    "a named pipe": "mkfifo p; cat p",
    "reading": "read x < <(sleep 9)",
    "waiting": "sleep 9 & wait",
    "find": "while :; do find / > /dev/null; done",
    "sed": "yes | sed -n 's/y/x/g'",
}  # fmt: skip

FILLING = (ENDLESS["jq"], ENDLESS["large numbers in bc"], ENDLESS["braces"])
"""What also grows without end."""


@pytest.mark.parametrize("script", ENDLESS.values(), ids=ENDLESS)
def test_a_timeout_is_kept(script: str) -> None:
    took = []
    with Sandbox() as sandbox:
        for _ in range(ATTEMPTS):
            began = monotonic()
            result = sandbox.execute(f"echo begun; rm -f p; {script}", timeout=TIMEOUT)
            took.append(monotonic() - began)
            ends = [(124, "timeout")]
            if script in FILLING:  # whichever is reached first
                ends.append((137, "value_bytes"))
            assert (result.exit_code, result.limit) in ends
            assert result.stdout[:6] == "begun\n"
            assert sandbox.execute("echo alive").stdout == "alive\n"
            if took[-1] < LATEST:
                break
    assert min(took) < LATEST


def test_a_value_without_an_end_reaches_its_own_limit() -> None:
    with Sandbox() as sandbox:
        result = sandbox.execute("echo begun; x=$(tr '\\0' x < /dev/zero)", timeout=5)
        assert (result.exit_code, result.limit, result.stdout) == (137, "value_bytes", "begun\n")


RECURSIVE = {
    "functions": "f() { f; }; f",
    "functions in substitutions": "f() { echo $(f); }; f",
    "functions in pipes": "f() { f | cat; }; f",
    "subshells": "f() { (f); }; f",
    "eval": 'e=\'eval "$e"\'; eval "$e"',
    "sourced files": "echo '. ./s' > s; . ./s",
    "scripts": "echo 'bash s' > s; bash s",
    "traps": "f() { g; }; g() { f; }; trap f USR1; kill -USR1 $$",
    "debug traps": "f() { f; }; (trap f DEBUG; :)",
    "aliases": "shopt -s expand_aliases\nalias a='b ' b='f '\nf() { a; }\na",
    "arithmetic": "f() { (($(f) + 1)); }; f",
    "xargs": "echo 'echo | xargs bash s' > s; bash s",
}


@pytest.mark.parametrize("script", RECURSIVE.values(), ids=RECURSIVE)
def test_recursion_ends_at_a_depth(script: str) -> None:
    with Sandbox() as sandbox:
        result = sandbox.execute(f"echo begun\n{script}\necho never", timeout=20)
        assert (result.exit_code, result.limit, result.stdout[:6]) == (137, "depth", "begun\n")
        assert sandbox.execute("echo alive").stdout == "alive\n"


MANY = 10_000
NESTED = {
    "parentheses": "(" * MANY + "echo" + ")" * MANY,
    "arithmetic": "echo $((" + "(" * MANY + "1" + ")" * MANY + "))",
    "braces": "{ " * MANY + "echo;" + " }" * MANY,
    "substitutions": "echo " + "$(" * MANY + "echo" + ")" * MANY,
    "quoted substitutions": "echo " + '"$(echo ' * MANY + "x" + ')"' * MANY,
    "defaults": "echo " + "${x:-" * MANY + "y" + "}" * MANY,
    "conditions": "[[ " + "( " * MANY + "a" + " )" * MANY + " ]]",
    "if": "if true; then " * MANY + ":; " + "fi;" * MANY,
    "while": "while true; do " * MANY + ":; " + "done;" * MANY,
    "patterns": "shopt -s extglob; x="
    + "a" * 100
    + "; echo ${x##"
    + "@(" * MANY
    + "a"
    + ")" * MANY
    + "}",
}


@pytest.mark.parametrize("script", NESTED.values(), ids=NESTED)
def test_a_text_that_nests_too_deeply_is_refused(script: str) -> None:
    with Sandbox() as sandbox:
        result = sandbox.execute(script, timeout=20)
        assert result.exit_code != 0 and result.limit in ("depth", "value_bytes", None)
        assert sandbox.execute("echo alive").stdout == "alive\n"


@pytest.mark.parametrize(
    "script",
    ["echo " + "a" * 5_000_000, "echo " + "a " * 2_500_000, ":;" * 2_500_000,
     "echo '" + "a" * 5_000_000, "x=" + "$x" * 2_500_000,
    "#" * 5_000_000],
    ids=["a word", "words", "commands", "a quote", "expansions", "a comment"],
)  # fmt: skip
def test_a_script_of_five_megabytes(script: str) -> None:
    with Sandbox() as sandbox:
        began = monotonic()
        sandbox.execute(script, timeout=1)
        assert monotonic() - began < 10
        assert sandbox.execute("echo alive").stdout == "alive\n"


def reached(result: ExecutionResult) -> tuple[int, str | None]:
    return result.exit_code, result.limit


def test_steps() -> None:
    with Sandbox(limits=Limits(steps=5000)) as sandbox:
        result = sandbox.execute("echo begun; while :; do :; done")
        assert (reached(result), result.stdout) == ((137, "steps"), "begun\n")
        assert sandbox.execute("echo alive").stdout == "alive\n"


@pytest.mark.parametrize(
    "writer", ["cat gen", 'while IFS= read -r line; do echo "$line"; done < gen', "sed -u '' gen"]
)
def test_a_function_on_standard_input_is_not_read_anew_with_each_line(writer: str) -> None:
    body = "".join(f'  if [ $# -gt {number} ]; then echo "$1"; fi\n' for number in range(400))
    limits = Limits(steps=400_000)  # a reading of all lines at each line takes 2.5 million
    with Sandbox(limits=limits, files={"gen": f"f() {{\n{body}}}\nf; echo end\n"}) as sandbox:
        result = sandbox.execute(f"{writer} | bash")
    assert (result.stdout, result.limit) == ("end\n", None)


def test_output() -> None:
    with Sandbox(limits=Limits(output_bytes=1000)) as sandbox:
        result = sandbox.execute("echo begun; yes")
        assert reached(result) == (137, "output_bytes")
        assert result.stdout.startswith("begun\ny\n")
        assert len(result.stdout) <= 1000
        assert sandbox.execute("echo alive").stdout == "alive\n"


def test_values() -> None:
    with Sandbox(limits=Limits(value_bytes=10_000)) as sandbox:
        for script in (
            "x=a; while :; do x+=$x$x; done",
            "printf -v x %99999d 1",
            "x=$(yes)",
            "echo {1..100000} > f",
            "read -r x < /dev/zero",
        ):
            result = sandbox.execute(f"echo begun; {script}", timeout=10)
            assert (reached(result), result.stdout) == ((137, "value_bytes"), "begun\n"), script
        assert sandbox.execute("echo alive").stdout == "alive\n"


# TM-MEM-2
def test_files() -> None:
    limits = Limits(file_bytes=1000, total_bytes=5000, files=20)
    with Sandbox(limits=limits) as sandbox:
        result = sandbox.execute("head -c 2000 /dev/zero > f; echo $?; wc -c < f")
        assert "File too large" in result.stderr
        assert result.limit is None
        result = sandbox.execute(
            "for i in 1 2 3 4 5 6 7; do head -c 900 /dev/zero > g$i || break; done; echo $i"
        )
        assert "No space left on device" in result.stderr
        result = sandbox.execute(
            "rm -f g*; for ((i = 0; i < 30; i++)); do : > n$i || break; done; echo $i"
        )
        assert "No space left on device" in result.stderr
        assert sandbox.execute("rm -f n* f; echo alive > f; cat f").stdout == "alive\n"


def test_the_timeout_of_a_call_never_passes_the_sandboxes() -> None:
    with Sandbox(limits=Limits(timeout=0.2)) as sandbox:
        began = monotonic()
        assert reached(sandbox.execute("sleep 9", timeout=60)) == (124, "timeout")
        assert monotonic() - began < 5


# TM-LIMIT-1
@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan")])
def test_limits_are_positive_and_finite(value: float) -> None:
    with pytest.raises(ValueError, match="timeout"):
        Limits(timeout=value)


def test_limits_do_not_change() -> None:
    limits = Limits(depth=5)
    with pytest.raises(AttributeError):
        limits.depth = 6
    assert limits.replace(depth=6) == Limits(depth=6) != limits
    assert hash(limits) == hash(Limits(depth=5))


def test_a_script_of_nothing_but_nul() -> None:
    with Sandbox() as sandbox:
        assert sandbox.execute("\0" * 1000, timeout=5).exit_code in (0, 126, 127)
        assert sandbox.execute("echo alive").stdout == "alive\n"


def test_a_script_with_the_line_ends_of_windows_fails_as_in_bash_with_a_hint() -> None:
    with Sandbox() as sandbox:
        result = sandbox.execute("echo a\r\nnope\r\n")
        assert result.stdout_bytes == b"a\r\n"
        assert result.stderr.splitlines()[0] == "bash: line 2: $'nope\\r': command not found"
        assert "line ends of Windows" in result.stderr


OPENERS = (
    "cat f", "head -1 f", "tail -1 f", "wc f", "sort f", "uniq f", "grep -c x f", "sed -n 1p f",
    "awk 1 f", "cut -c1 f", "tac f",
    "md5sum f", "od f", "cmp f /dev/null", "base64 f", "strings f", "shuf f", "rev f", "column f",
    "openssl md5 f", "cat <(cat f)",
    "diff f /dev/null", "comm f /dev/null", "join f /dev/null", "paste f", "xargs -a f",
    "cat /dev/stdin < f", "jq -R . f", "fold f",
)  # fmt: skip


@pytest.mark.parametrize("script", OPENERS)
def test_a_file_that_was_read_and_removed_gives_its_bytes_back(script: str) -> None:
    sandbox = Sandbox()
    before = sandbox.fs.used_bytes
    sandbox.execute(f"printf '%s\\n' {{1..99}} > f; {script} > /dev/null 2>&1; rm f")
    assert sandbox.fs.used_bytes == before


def limit_names() -> set[str]:
    """The first argument of every `LimitReached(…)` in the package."""
    found = set()
    for path in (ROOT / "agentsandbox").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "LimitReached"
            ):
                argument = node.args[0]
                found.add(
                    argument.value if isinstance(argument, ast.Constant) else ast.unparse(argument)
                )
    return {CANCELLED if name == "CANCELLED" else name for name in found}


def documented_names() -> set[str]:
    """What `LimitName` lists."""
    source = (ROOT / "agentsandbox" / "errors.py").read_text(encoding="utf-8")
    literal = re.search(r"LimitName = Literal\[(.*?)\]", source, re.DOTALL)
    assert literal
    return set(re.findall(r'"(\w+)"', literal[1]))


def test_every_name_of_a_limit_is_documented() -> None:
    lost = {"process"}  # of an isolated worker: the host says so, nothing is raised
    repeated = {"answer.head['limit']"}  # a worker raises again what the host reached
    assert (limit_names() - repeated) | lost == documented_names()
    assert documented_names() - set(Limits.__slots__) == {"processes", "cancelled"} | lost
    page = (ROOT / "docs" / "limits-and-security.md").read_text(encoding="utf-8")
    assert not {name for name in documented_names() if f"`{name}`" not in page}
    assert not {
        name for name in documented_names() if f'"{name}"' not in (ExecutionResult.__doc__ or "")
    }
    assert not {name for name in Limits.__slots__ if f"`{name}`" not in page}


def test_limits_can_be_copied() -> None:
    limits = Limits(timeout=5)
    assert copy.deepcopy(limits) == pickle.loads(pickle.dumps(limits)) == limits
