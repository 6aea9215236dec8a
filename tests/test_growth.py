"""How far one call makes the process grow: every attack runs in a process of its own, whose largest
resident set is read.

The bar is `total_bytes` + 6 × `value_bytes` + 64 MiB. A script that would need more ends with the
limit `value_bytes`.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("resource")

MIB = 1 << 20
MOST = (128 + 6 * 16 + 64) * MIB
"""What the default limits allow a call to add to the process."""

CHILD = """
import ctypes, gc, json, resource, sys
unit = 1 if sys.platform == "darwin" else 1024
from agentsandbox import Sandbox
sandbox = Sandbox()
sandbox.execute("echo a | sort; x=$(echo b | cat); f() { :; }; f")
def resident():
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    except OSError:
        return 0
def peak():
    try:  # ru_maxrss begins with what the process that started this one had
        with open("/proc/self/status", "rb") as file:
            return next(int(l.split()[1]) << 10 for l in file if l.startswith(b"VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
before, resident_before = peak(), resident()
result = sandbox.execute(sys.stdin.read(), timeout=float(sys.argv[2]), state=sys.argv[1])
growth = peak() - before
gc.collect()
if hasattr(ctypes.CDLL(None), "malloc_trim"):  # glibc keeps freed memory below a block in use
    ctypes.CDLL(None).malloc_trim(0)
print(json.dumps({
    "status": result.exit_code, "limit": result.limit, "duration": result.duration,
    "stderr": result.stderr[-300:], "growth": growth, "kept": resident() - resident_before,
}))
"""

JOBS = (
    "seq 1700000 > f; for i in {1..12}; do { tr 0-9 a-j < f; sleep 5; } | ",
    " & done; wait",
)
"""What stands around a command that waits for the end of its input: 12 MB for each job. `tr` makes
them anew, while `yes` and `cat` would hand the same blocks to all."""
LEAST = 16 * MIB
"""What jobs hold at least when a limit ends them; else the row would show nothing."""

BIG = "printf -v big '%*s' 1000000 ''; "
"""A megabyte."""

ATTACKS = {
    "nested substitutions": BIG + (
        "s=':'; for i in {1..60}; do s='echo \"$big$big$big$big$big\" \"$('$s')\"'; done; "
        "eval \"$s\" | wc -c"
    ),
    "nested substitutions by recursion": BIG + 'f() { echo "$big$big$1$(f x$1)"; }; f | wc -c',
    "nested substitutions that print first": BIG + (
        'f() { printf %s "$big$big$big"; : "$(f)"; }; f | wc -c'
    ),
    "nested substitutions in a subshell": BIG + (
        'f() { local v="$big$big$1"; ( : "$(f x$1)" ); }; f | wc -c'
    ),
    "case in substitutions": BIG + 'f() { case "$big$big$1" in "$(f x$1)") ;; esac; }; f',
    "for in substitutions": BIG + 'f() { for i in "$big$big$1"; do : "$(f x$1)"; done; }; f',
    "assignments of substitutions": BIG + 'f() { local a=("$big$big$1" "$(f x$1)"); }; f',
    "pattern of a substitution": BIG + 'f() { local v=$big$1; : "${v/x/$(f x$1)}"; }; f',
    "conditions": BIG + 'f() { [[ $big$big$1 == "$(f x$1)" ]]; }; f',
    "here-strings on descriptors": BIG + 'for i in {1..2000}; do exec {fd}<<< "$big$i"; done',
    "here-documents on descriptors": BIG + 'for i in {1..2000}; do exec {fd}<<E\n$big$i\nE\ndone',
    "recursion with here-strings": BIG + 'f() { f x$1 <<< "$big$big$1"; }; f',
    "recursion with here-strings read": BIG + (
        'f() { while read -r v; do f x$1 <<< "$big$big$1"; done; }; f <<< a'
    ),
    "recursion with positional parameters": 'f() { f "$1$1x"; }; f x',
    "recursion with more parameters": BIG + 'f() { f "$@" "$big$#"; }; f',
    "recursion with locals": BIG + 'f() { local v="$big$1"; f x$1; }; f',
    "recursion of parameters": BIG + 'f() { f "$big$big${#1}$RANDOM"; }; f',
    "set --": BIG + 'for i in {1..2000}; do set -- "$@" "$big$i"; done',
    "functions": BIG + "for i in {1..600}; do eval \"f$i() { : '$big$i'; }\"; done",
    "printf -v": BIG + 'for i in {1..2000}; do printf -v "x$i" %s "$big$i"; done',
    "variables": BIG + 'for i in {1..2000}; do declare "x$i=$big$i"; done',
    "array": BIG + 'for i in {1..2000}; do a[i]=$big$i; done',
    "read -a": BIG + (
        'printf -v l "%0*d" 3000000 0; for i in {1..300}; do read -ra "a$i" <<< "${l//0/a }"; '
        'done'
    ),
    "mapfile": BIG + (
        'printf -v l "%0*d" 3000000 0; l=${l//0/a$\'\\n\'}; for i in {1..300}; '
        'do mapfile "a$i" <<< "$l"; done'
    ),
    "associative keys": BIG + 'declare -A a; for i in {1..4000}; do a[${big:0:400000}$i]=1; done',
    "aliases": BIG + 'for i in {1..2000}; do alias "x$i=$big$i"; done',
    "traps": BIG + 'f() { trap ": $big$1" EXIT USR1 USR2 TERM HUP; ( f x$1 ); }; f',
    "hash": BIG + 'for i in {1..2000}; do hash -p "/$big$i" "x$i"; done',
    "complete": BIG + 'for i in {1..2000}; do complete -W "$big$i" "x$i"; done',
    "history": BIG + 'set -o history; for i in {1..2000}; do history -s "$big$i"; done',
    "eval": BIG + 'f() { eval "f x$1; : \'$big$1\'"; }; f',
    "subshells": BIG + 'f() { ( v=$big$big$1; f x$1 ); }; f',
    "background jobs": BIG + 'for i in {1..200}; do { v=$big$big$big$i; sleep 9; } & done; wait',
    "jobs of sort": "sort".join(JOBS),
    "jobs of tac": "tac".join(JOBS),
    "jobs of awk": "awk '{ a[NR] = $0 } END { print a[1] }'".join(JOBS),
    "jobs of tail": "tail -n 9000000".join(JOBS),
    "jobs of sed": "sed ':a;N;$!ba'".join(JOBS),
    "jobs of shuf": "shuf".join(JOBS),
    "substitutions waiting": (
        "for i in {1..60}; do { v=$(yes aaaaaaaaaaaaaaaaaaaaa$i | head -c 12000000; sleep 5); "
        "} & done; wait"
    ),
    "xz compressors": (
        "for i in {1..30}; do { echo a; sleep 5; } | xz -9 -c & done > /dev/null; wait"
    ),
    "zstd compressors": (
        "for i in {1..40}; do { yes aaaaaaaaaaaaaaaaaaaaa$i | head -c 12000000; sleep 5; } | "
        "zstd -19 > /dev/null & done; wait"
    ),
    "coprocesses": BIG + (
        'for i in {1..100}; do eval "coproc c$i { v=\\$(cat); }; '
        'printf %s \\"\\$big\\$big\\$big\\" >&\\${c$i[1]}"; done'
    ),
    "fifos": BIG + (
        'for i in {1..100}; do mkfifo p$i; exec {fd}<> p$i; printf %s "$big$i" >&$fd & done; '
        'wait'
    ),
    "process substitutions": BIG + 'f() { : <(v=$big$big$1; sleep 9) "$(f x$1)"; }; f',
    "awk strings in recursion": (
        "awk 'function f(s, n) { return f(s s, n + 1) length(s) } BEGIN { f(\"x\", 0) }'"
    ),
    "awk locals in recursion": (
        "awk 'function f(n, s) { s = sprintf(\"%1000000s\", n); "
        "return f(n + 1) length(s) } BEGIN { f(0) }'"
    ),
    "awk array": "awk 'BEGIN { while (1) a[i++] = sprintf(\"%1000d\", i) }'",
    "awk keys": "awk 'BEGIN { while (1) a[sprintf(\"%1000d\", i++)] }'",
    "jq collection": "jq -n '[range(1e9)] | length'",
    "jq strings": "jq -n '[range(1e9) | tostring * 100] | length'",
    "substitution of a file": (
        "head -c 15000000 /dev/zero | tr '\\0' a > f; f() { : \"$(< f)\" \"$(f)\"; }; f"
    ),
}  # fmt: skip


ENDED = (
    "nested substitutions", "case in substitutions", "conditions", "here-strings on descriptors",
    "recursion with here-strings",
    "recursion with more parameters", "functions", "printf -v", "variables", "eval",
    "associative keys",
)  # fmt: skip
"""Attacks that are quick, and that nothing but the limit ends."""


def grown(script: str, state: str = "keep", timeout: float = 8) -> dict[str, object]:
    """What a script does to a process that runs nothing else."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD, state, str(timeout)],
        input=script,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, object] = json.loads(done.stdout)
    return found


# TM-MEM-1
@pytest.mark.parametrize("name", ATTACKS)
def test_growth_is_bounded(name: str) -> None:
    found = grown(ATTACKS[name])
    growth = found["growth"]
    assert isinstance(growth, int)
    assert growth <= MOST, found
    if sys.platform.startswith("linux"):
        assert growth >= LEAST or not name.startswith("jobs of"), found
    assert found["limit"] in ("value_bytes", "depth", "timeout", "processes", "output_bytes"), found


# TM-MEM-1
@pytest.mark.parametrize("name", ENDED)
def test_what_is_too_much_ends_the_script(name: str) -> None:
    found = grown(ATTACKS[name])
    assert (found["status"], found["limit"]) == (137, "value_bytes"), found


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the resident set is read from /proc"
)
@pytest.mark.parametrize("name", ENDED)
def test_memory_is_given_back(name: str) -> None:
    kept = grown(ATTACKS[name], "discard")["kept"]
    assert isinstance(kept, int)
    assert kept <= 40 * MIB
