"""How far one call makes the process grow: every attack runs in a process of its own, whose largest resident set is read.

The bar is `total_bytes` + 6 × `value_bytes` + 64 MiB. A script that would need more ends with the limit `value_bytes`.
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
import json, resource, sys
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
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
before, resident_before = peak(), resident()
result = sandbox.execute(sys.stdin.read(), timeout=8)
print(json.dumps({
    "status": result.exit_code, "limit": result.limit, "duration": result.duration,
    "stderr": result.stderr[-300:], "growth": peak() - before, "kept": resident() - resident_before,
}))
"""

BIG = "printf -v big '%*s' 1000000 ''; "
"""A megabyte."""

ATTACKS = {
    "nested substitutions": BIG + "s=':'; for i in {1..60}; do s='echo \"$big$big$big$big$big\" \"$('$s')\"'; done; eval \"$s\" | wc -c",
    "nested substitutions by recursion": BIG + 'f() { echo "$big$big$1$(f x$1)"; }; f | wc -c',
    "nested substitutions that print first": BIG + 'f() { printf %s "$big$big$big"; : "$(f)"; }; f | wc -c',
    "nested substitutions in a subshell": BIG + 'f() { local v="$big$big$1"; ( : "$(f x$1)" ); }; f | wc -c',
    "case in substitutions": BIG + 'f() { case "$big$big$1" in "$(f x$1)") ;; esac; }; f',
    "for in substitutions": BIG + 'f() { for i in "$big$big$1"; do : "$(f x$1)"; done; }; f',
    "assignments of substitutions": BIG + 'f() { local a=("$big$big$1" "$(f x$1)"); }; f',
    "pattern of a substitution": BIG + 'f() { local v=$big$1; : "${v/x/$(f x$1)}"; }; f',
    "conditions": BIG + 'f() { [[ $big$big$1 == "$(f x$1)" ]]; }; f',
    "arithmetic": BIG + 'f() { : "$big$big$1$(( $(f x$1) ))"; }; f',
    "here-strings on descriptors": BIG + 'for i in {1..2000}; do exec {fd}<<< "$big$i"; done',
    "here-documents on descriptors": BIG + 'for i in {1..2000}; do exec {fd}<<E\n$big$i\nE\ndone',
    "recursion with here-strings": BIG + 'f() { f x$1 <<< "$big$big$1"; }; f',
    "recursion with here-strings read": BIG + 'f() { while read -r v; do f x$1 <<< "$big$big$1"; done; }; f <<< a',
    "recursion with positional parameters": 'f() { f "$1$1x"; }; f x',
    "recursion with more parameters": BIG + 'f() { f "$@" "$big$#"; }; f',
    "recursion with locals": BIG + 'f() { local v="$big$1"; f x$1; }; f',
    "recursion of parameters": BIG + 'f() { f "$big$big${#1}$RANDOM"; }; f',
    "set --": BIG + 'for i in {1..2000}; do set -- "$@" "$big$i"; done',
    "functions": BIG + "for i in {1..600}; do eval \"f$i() { : '$big$i'; }\"; done",
    "functions of many commands": "b=; for i in {1..3000}; do b+='a b;'; done; for i in {1..600}; do eval \"f$i() { $b }\"; done",
    "functions called": "b=; for i in {1..1500}; do b+='a=b;'; done; for i in {1..600}; do eval \"f$i() { $b }\"; f$i; done",
    "printf -v": BIG + 'for i in {1..2000}; do printf -v "x$i" %s "$big$i"; done',
    "variables": BIG + 'for i in {1..2000}; do declare "x$i=$big$i"; done',
    "array": BIG + 'for i in {1..2000}; do a[i]=$big$i; done',
    "array of short values": "for ((i = 0; i < 6000000; i++)); do a[i]=x$i; done",
    "read -a": BIG + 'printf -v l "%0*d" 3000000 0; for i in {1..300}; do read -ra "a$i" <<< "${l//0/a }"; done',
    "mapfile": BIG + 'printf -v l "%0*d" 3000000 0; l=${l//0/a$\'\\n\'}; for i in {1..300}; do mapfile "a$i" <<< "$l"; done',
    "associative keys": BIG + 'declare -A a; for i in {1..4000}; do a[${big:0:400000}$i]=1; done',
    "aliases": BIG + 'for i in {1..2000}; do alias "x$i=$big$i"; done',
    "traps": BIG + 'f() { trap ": $big$1" EXIT USR1 USR2 TERM HUP; ( f x$1 ); }; f',
    "hash": BIG + 'for i in {1..2000}; do hash -p "/$big$i" "x$i"; done',
    "complete": BIG + 'for i in {1..2000}; do complete -W "$big$i" "x$i"; done',
    "history": BIG + 'set -o history; for i in {1..2000}; do history -s "$big$i"; done',
    "eval": BIG + 'f() { eval "f x$1; : \'$big$1\'"; }; f',
    "eval of texts": 's=:; for i in {1..16}; do printf -v s "eval %q" "$s"; done; eval "$s"',
    "subshells": BIG + 'f() { ( v=$big$big$1; f x$1 ); }; f',
    "background jobs": BIG + 'for i in {1..200}; do { v=$big$big$big$i; sleep 9; } & done; wait',
    "pipeline of sort": "q='yes aaaaaaaaaaaaaaaaaaaaaaa | head -c 14000000'; for i in {1..40}; do q+=' | sort'; done; eval \"$q\" | wc -c",
    "jobs of sort": "for i in {1..40}; do { yes aaaaaaaaaaaaaaaaaaaaa$i | head -c 12000000; sleep 5; } | sort & done; wait",
    "jobs of sort -k": "for i in {1..40}; do { seq -f '%.0f aaaaa' 1000000; sleep 5; } | sort -k2 & done; wait",
    "jobs of tac": "for i in {1..40}; do { yes aaaaaaaaaaaaaaaaaaaaa$i | head -c 12000000; sleep 5; } | tac & done; wait",
    "jobs of awk": "for i in {1..40}; do { yes aaaaaaaaaaaaaaaaaaaaa$i | head -c 12000000; sleep 5; } | awk '{ a[NR] = $0 } END { print a[1] }' & done; wait",
    "jobs of jq": "for i in {1..40}; do { yes '[1,2,3]' | head -c 4000000; sleep 5; } | jq -s length & done; wait",
    "jobs of jq strings": "for i in {1..40}; do { yes '\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"' | head -c 12000000; sleep 5; } | jq -s length & done; wait",
    "jobs of tail": "for i in {1..40}; do { yes aaaaaaaaaaaaaaaaaaaaa$i | head -c 12000000; sleep 5; } | tail -n 9000000 & done; wait",
    "jobs of sponge": "for i in {1..40}; do { yes aaaaaaaaaaaaaaaaaaaaa$i | head -c 12000000; sleep 5; } | sed ':a;N;$!ba' & done; wait",
    "jobs of python-like text": "for i in {1..40}; do { yes aaaaaaaaaaaaaaaaaaaaa$i | head -c 12000000; sleep 5; } | shuf & done; wait",
    "jobs of column": "for i in {1..40}; do { yes aaaaaaaaaaaaaaaaaaaaa$i | head -c 9000000; sleep 5; } | column -t & done; wait",
    "substitutions waiting": "for i in {1..60}; do { v=$(yes aaaaaaaaaaaaaaaaaaaaa$i | head -c 12000000; sleep 5); } & done; wait",
    "xz windows": "head -c 1000 /dev/zero > z; for i in {1..4}; do xz -9 -k -c z > z$i.xz; done; for i in {1..30}; do { cat z1.xz; sleep 5; } | xz -dc & done; wait",
    "xz compressors": "for i in {1..30}; do { echo a; sleep 5; } | xz -9 -c & done > /dev/null; wait",
    "zstd windows": "head -c 1000 /dev/zero > z; zstd --ultra -22 --long=31 -c z > z.zst; for i in {1..30}; do { cat z.zst; sleep 5; } | zstd -dc --long=31 & done; wait",
    "zstd compressors": "for i in {1..30}; do { head -c 9000000 /dev/zero; sleep 5; } | zstd --ultra -22 --long=31 -c & done > /dev/null; wait",
    "bzip2": "for i in {1..60}; do { echo a; sleep 5; } | bzip2 -9 -c & done > /dev/null; wait",
    "coprocesses": BIG + 'for i in {1..100}; do eval "coproc c$i { v=\\$(cat); }"; eval "printf %s \\"$big$big$big\\" >&\\${c$i[1]}"; done 2> /dev/null; wait',
    "fifos": BIG + 'for i in {1..100}; do mkfifo p$i; exec {fd}<> p$i; printf %s "$big$i" >&$fd & done; wait',
    "process substitutions": BIG + 'f() { : <(v=$big$big$1; sleep 9) "$(f x$1)"; }; f',
    "dirs": 'd=/; printf -v n "%0200d" 0; for i in {1..15}; do d+="$n/"; done; mkdir -p "$d"; cd "$d"; for i in {1..300000}; do pushd -n "$d$i" > /dev/null; done',
    "regular expressions": 'for i in {1..400}; do printf -v p "%0*d" 60000 $i; [[ x =~ $p ]]; done',
    "expressions of sed": 'for i in {1..300}; do printf -v p "%0*d" 60000 $i; echo | sed "s/$p/a/"; done',
    "awk strings in recursion": "awk 'function f(s, n) { return f(s s, n + 1) length(s) } BEGIN { f(\"x\", 0) }'",
    "awk locals in recursion": "awk 'function f(n, s) { s = sprintf(\"%1000000s\", n); return f(n + 1) length(s) } BEGIN { f(0) }'",
    "awk arrays in recursion": "awk 'function f(n, a, i) { for (i = 0; i < 100000; i++) a[i] = i; return f(n + 1) length(a) } BEGIN { f(0) }'",
    "awk array": "awk 'BEGIN { while (1) a[i++] = sprintf(\"%1000d\", i) }'",
    "awk keys": "awk 'BEGIN { while (1) a[sprintf(\"%1000d\", i++)] }'",
    "jq collection": "jq -n '[range(1e9)] | length'",
    "jq strings": "jq -n '[range(1e9) | tostring * 100] | length'",
    "jq objects": "jq -n 'reduce range(1e9) as $i ({}; .[\"k\\($i)\"] = {a: [$i]})'",
    "files": "for i in {1..40}; do head -c 8000000 /dev/zero > f$i; done",
    "substitution of a file": "head -c 15000000 /dev/zero | tr '\\0' a > f; f() { : \"$(< f)\" \"$(f)\"; }; f",
    "xargs": BIG + 'f() { printf "%s\\n" "$big" | xargs -s 2000000 bash -c "$(declare -f f); f"; }; f',
    "bash -c": BIG + 'export big; f() { bash -c \'v=$big$big$1; f x$1\' - "x$1"; }; export -f f; f',
}  # fmt: skip


def grown(script: str) -> dict[str, object]:
    """What a script does to a process that runs nothing else."""
    done = subprocess.run([sys.executable, "-c", CHILD], input=script, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", ATTACKS)
def test_growth_is_bounded(name: str) -> None:
    found = grown(ATTACKS[name])
    growth = found["growth"]
    assert isinstance(growth, int)
    assert growth <= MOST, found
    assert found["limit"] in (None, "value_bytes", "depth", "timeout", "processes", "output_bytes", "steps"), found
    assert found["status"] != 70, found


