"""The text tools on 100,000 lines beside the real ones and other shells inside the process. Run:
python benchmarks/text.py [WORD...]

Each line of `SCRIPTS` writes to a file; with words only the scripts that hold one of them run.
Samples are interleaved and the figures are the quickest of each, in milliseconds; real tools pay
for one `bash -c`, as a tool of an agent does.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from agentsandbox import Limits, Sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[[str], bytes]

LINES = 100_000

SCRIPTS = (
    "awk '{n[$3]++; s+=length($0)} END {for (k in n) print k, n[k]; print s}' log.txt | sort",
    "awk -F, '{s[$3]+=$4} END {for (k in s) print k, s[k]}' d.csv | sort",
    "awk '{s+=$1} END {print s}' n.txt",
    "awk '{print $3}' log.txt",
    "awk '{print $1, $3}' log.txt",
    "awk '{print $NF}' log.txt",
    "awk '/ERROR/' log.txt",
    "awk '/ERROR/ {print $1, $2}' log.txt",
    "awk '$3 == \"ERROR\" {print $1}' log.txt",
    "awk '$6 ~ /items\\/1/ {c++} END {print c}' log.txt",
    "awk '{gsub(/o/,\"0\"); print}' log.txt",
    "awk '{sub(/status=/,\"S:\"); print}' log.txt",
    "awk -F, '{gsub(/e/,\"E\",$2); print $2}' d.csv",
    "awk '{printf \"%s %s\\n\", $1, $4}' log.txt",
    "awk -F, '{printf \"%-10s %8.2f\\n\", $2, $5}' d.csv",
    "awk -F, -v OFS=';' '{$1=$1; print}' d.csv",
    'awk \'BEGIN{FS=",";OFS="\\t"} {$2="x"; print}\' d.csv',
    "awk -F, '{print $2}' d.csv",
    "awk -F, '$4 > 50000 {print $2 \",\" $4}' d.csv",
    "awk -F'\\t' '{print $2, $4}' d.tsv",
    "awk 'NR%10==0' log.txt",
    "awk '{print NR \": \" $0}' log.txt",
    "awk 'length($0) > 90' log.txt",
    "awk '!seen[$0]++' words.txt",
    "awk '$1 > m {m=$1} END {print m}' n.txt",
    "awk '{split($6,a,\"/\"); c[a[4]]++} END {print length(c)}' log.txt",
    "awk '{print substr($1,1,7)}' log.txt",
    "awk '{print toupper($3)}' log.txt",
    "awk 'match($0,/id=[0-9a-f]+/) {print substr($0,RSTART+3,RLENGTH-3)}' log.txt",
    "awk '{for(i=1;i<=NF;i++) c[$i]++} END {for (w in c) print c[w], w}' t.txt | sort",
    "awk 'NR==FNR {a[$1]=$2; next} $1 in a {print $0, a[$1]}' b.txt a.txt",
    "awk -F, 'NR>1 {s+=$5; n++} END {printf \"%.2f\\n\", s/n}' d.csv",
    "awk -F'[ =]' '{print $7}' log.txt",
    "awk '/WARN/,/ERROR/' log.txt",
    'awk \'{if ($3=="ERROR") e++; else if ($3=="WARN") w++} END {print e, w}\' log.txt',
    'awk \'{print ($1 % 2 == 0) ? "even" : "odd"}\' n.txt',
    "awk 'END {print NR}' log.txt",
    "sed 's/o/0/g' log.txt",
    "sed 's/ERROR/error/' log.txt",
    "sed 's/status=\\([0-9]*\\)/S:\\1/' log.txt",
    "sed -E 's/([0-9]+)-([0-9]+)-([0-9]+)/\\3.\\2.\\1/' log.txt",
    "sed -E 's/[0-9]+/N/g' log.txt",
    "sed -e 's/INFO/I/' -e 's/WARN/W/' -e 's/ERROR/E/' log.txt",
    "sed -n '/ERROR/p' log.txt",
    "sed -n 's/.*path=\\([^ ]*\\).*/\\1/p' log.txt",
    "sed '/DEBUG/d' log.txt",
    "sed -n '50000,50010p' log.txt",
    "sed '1,10d' log.txt",
    "sed -n '$p' log.txt",
    "sed 'y/abc/xyz/' log.txt",
    "sed 's/[ \\t]*$//' t.txt",
    "sed 's/^[ \\t]*//' t.txt",
    "sed 's/^/> /' log.txt",
    "sed 's/$/;/' log.txt",
    "sed '/^$/d' t.txt",
    "sed '/ERROR/s/status/STATUS/' log.txt",
    "sed -n '/WARN/,/ERROR/p' log.txt",
    "cp log.txt c.txt; sed -i 's/INFO/info/' c.txt; cat c.txt",
    "sed 10q log.txt",
    "sed 's/error/X/I' log.txt",
    "sed 's/\\b./\\u&/g' t.txt",
    "sed 'N;s/\\n/ /' t.txt",
    "sed 's/#.*//;/^$/d' t.txt",
    "sed 's/[a-z]*/(&)/' t.txt",
    "grep ERROR log.txt",
    "grep -c 'ERROR.*status=500' log.txt",
    "grep -i error log.txt",
    "grep -ic 'error.*500' log.txt",
    "grep -v INFO log.txt",
    "grep -n ERROR log.txt",
    "grep -o 'status=[0-9]*' log.txt",
    "grep -oE '[0-9]+ms' log.txt",
    "grep -oE '[a-z]+=[0-9a-f]+' log.txt",
    "grep -oE '\\w+' t.txt",
    "grep '[0-9][0-9]:[0-9]5:[0-9][0-9]' log.txt",
    "grep -E '(ERROR|WARN).*status=(404|500)' log.txt",
    "grep -E 'ERROR|WARN' log.txt",
    "grep -E 'id=[0-9]{6} ' log.txt",
    "grep -E '[5-9]00ms$' log.txt",
    "grep -w 404 log.txt",
    "grep -x alpha words.txt",
    "grep -F 'status=404' log.txt",
    "grep -Ff p.txt words.txt",
    "grep -wf p.txt words.txt",
    "grep -P '\\d{3}ms' log.txt",
    "grep -oP 'id=\\K\\w+' log.txt",
    "grep zzzz log.txt",
    "grep '^2024-05' log.txt",
    "grep 'E.R.R' log.txt",
    "grep -A1 ERROR log.txt",
    "grep -vE '^(#|$)' t.txt",
    "grep -c . log.txt",
    "grep -E '([0-9])\\1\\1' log.txt",
    "cat log.txt | grep 404 | wc -l",
    "sort log.txt",
    "sort words.txt",
    "sort -n n.txt",
    "sort -rn n.txt",
    "sort -r log.txt",
    "sort -u words.txt",
    "sort -k3,3 log.txt",
    "sort -t, -k3,3 -k4,4n d.csv",
    "sort -t, -k4,4nr d.csv",
    "sort -t, -k5,5n d.csv",
    "sort -V v.txt",
    "sort -h h.txt",
    "sort -f t.txt",
    "sort -k2 t.txt",
    "sort -s -k1,1 t.txt",
    "sort words.txt | uniq -c | sort -rn | head -5",
    "sort -t- -k2,2 log.txt",
    "uniq s.txt",
    "uniq -c s.txt",
    "uniq -d s.txt",
    "uniq -u words.txt",
    "uniq -c words.txt",
    "uniq log.txt",
    "uniq -i words.txt",
    "uniq -f1 log.txt",
    "cut -d, -f1 d.csv",
    "cut -d, -f2 d.csv",
    "cut -d, -f2,4 d.csv",
    "cut -d, -f2-4 d.csv",
    "cut -d, -f3- d.csv",
    "cut -f2 d.tsv",
    "cut -d' ' -f4 log.txt",
    "cut -c1-10 log.txt",
    "cut -c5 log.txt",
    "cut -c1-4,6-7 log.txt",
    "cut -c12- log.txt",
    "cut -d= -s -f2 log.txt",
    "tr a-z A-Z < log.txt",
    "tr '[:lower:]' '[:upper:]' < log.txt",
    "tr -d '0-9' < log.txt",
    "tr -d '\\r' < log.txt",
    "tr -s ' ' < t.txt",
    "tr -cs 'A-Za-z' '\\n' < log.txt",
    "tr -cs '[:alnum:]' '\\n' < t.txt",
    "tr ' ' '\\n' < t.txt",
    "tr -s ' ' '\\n' < t.txt",
    "tr '\\n' ',' < words.txt",
    "tr -cd '0-9\\n' < log.txt",
    "tr -s '[:space:]' ' ' < t.txt",
    "numfmt --to=iec < n.txt",
    "cut -f1 h.txt | numfmt --from=iec",
    "join a.txt b.txt",
    "join -a1 -e- -o auto a.txt b.txt",
    "comm a.txt b.txt",
    "paste a.txt b.txt",
    "paste -d, a.txt b.txt",
    "paste -sd, n.txt",
    "wc log.txt",
    "wc -w t.txt",
    "head -n 50000 log.txt",
    "tail -n 50000 log.txt",
    "tac log.txt",
    "rev log.txt",
    "nl log.txt",
    "nl -ba log.txt",
    "fold -w 40 log.txt",
    "fold -s -w 40 t.txt",
    "fmt -w 60 t.txt",
    "column -t -s, d.csv",
    "expand d.tsv",
    "unexpand -a t.txt",
    "cat -n log.txt",
    "cat -A log.txt",
)


def make_files() -> dict[str, str]:
    """Logs, words, tables, prose, numbers: what agents look through."""
    chance = random.Random(7)
    pool = [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        *[f"w{number}" for number in range(1000)],
    ]
    words = chance.choices(pool, k=LINES)
    prose = "the Quick brown fox jumps over lazy dog and then runs away again far".split()
    levels = chance.choices(("INFO", "WARN", "ERROR", "DEBUG"), (70, 15, 5, 10), k=LINES)
    log = [
        f"2024-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d} "
        f"{chance.randint(0, 23):02d}:{chance.randint(0, 59):02d}:00 {level} "
        f"[w{chance.randint(1, 16)}] id={chance.getrandbits(24):06x} "
        f"path=/api/v{chance.randint(1, 3)}/items/{chance.randint(1, 9999)} "
        f"status={chance.choice((200, 200, 200, 404, 500))} {chance.randint(0, 900)}ms"
        for level in levels
    ]
    table = [
        f"{number},name{chance.randint(1, 5000)},"
        f"{chance.choice(('red', 'green', 'blue', ''))},{chance.randint(1, 100000)},"
        f"{chance.random() * 1000:.2f},{chance.choice(('a b', 'x;y', 'zz'))}"
        for number in range(LINES)
    ]
    found = {
        "log.txt": log,
        "words.txt": words,
        "s.txt": sorted(words),
        "d.csv": table,
        "d.tsv": [line.replace(",", "\t") for line in table],
        "n.txt": [str(chance.randint(1, 10**9)) for _ in range(LINES)],
        "t.txt": [
            " ".join(chance.choices(prose, k=chance.randint(3, 14)))
            + chance.choice((".", "!", "", ","))
            for _ in range(LINES)
        ],
        "v.txt": [
            f"v{chance.randint(0, 20)}.{chance.randint(0, 30)}.{chance.randint(0, 99)}"
            for _ in range(LINES)
        ],
        "h.txt": [
            (
                f"{chance.randint(1, 999)}{chance.choice(('', 'K', 'M', 'G'))}\tdir"
                f"{chance.randint(1, 9999)}"
            )
            for _ in range(LINES)
        ],
        "a.txt": [f"k{number:06d} v{number % 7}" for number in range(LINES)],
        "b.txt": [f"k{number:06d} w{number % 9}" for number in range(0, LINES, 2)],
        "p.txt": chance.sample(words, 20),
    }
    return {name: "\n".join(lines) + "\n" for name, lines in found.items()}


def real_bash(files: dict[str, str]) -> Run:
    directory = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    for name, text in files.items():
        Path(directory, name).write_text(text, "ascii")
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

    def run(script: str) -> bytes:
        if not script:
            shutil.rmtree(directory)
            return b""
        return subprocess.run(
            ["bash", "-c", script], cwd=directory, env=env, stdout=subprocess.PIPE, check=False
        ).stdout

    return run


def ours(files: dict[str, str]) -> Run:
    sandbox = Sandbox(limits=Limits(total_bytes=1 << 29))
    place = sandbox.execute("pwd").stdout.strip()
    for name, text in files.items():
        sandbox.fs.write_text(f"{place}/{name}", text)
    return lambda script: sandbox.execute(script).stdout_bytes


def bashkit(files: dict[str, str]) -> Run:
    import bashkit

    ceiling = 10**9
    profile = bashkit.ExecutionProfile.Interactive
    limits = {
        "max_commands": ceiling,
        "max_loop_iterations": ceiling,
        "timeout_seconds": 600,
        "max_memory": ceiling,
    }
    shell = bashkit.Bash(cwd="/home/user", profile=profile, **limits)
    for name, text in files.items():
        shell.fs().write_file(f"/home/user/{name}", text.encode())
    return lambda script: shell.execute_sync(script).stdout.encode()


def measure(runs: dict[str, Run], script: str, repeat: int = 5) -> None:
    """One line of the table; a shell whose output differs from that of the real tool is marked."""
    whole = f"{{ {script}; }} > out.txt"
    best: dict[str, float] = {}
    sums: dict[str, bytes] = {}
    for name, run in runs.items():
        run(whole)
        sums[name] = run("md5sum out.txt")
    for _ in range(repeat):
        for name, run in runs.items():
            gc.collect()
            began = time.perf_counter()
            run(whole)
            best[name] = min(best.get(name, 1e9), time.perf_counter() - began)
    mine = best["agentsandbox"]
    cells = [
        (
            f"{best[name] * 1e3:9.1f}{' ' if sums[name] == sums['bash'] else '!'}"
            f"{mine / best[name]:7.2f}"
        )
        for name in runs
    ]
    print(f"{script:60.60}" + "".join(cells), flush=True)


def main(words: list[str]) -> None:
    files = make_files()
    runs = {"agentsandbox": ours(files), "bash": real_bash(files)}
    if importlib.util.find_spec("bashkit") is not None:
        runs["bashkit"] = bashkit(files)
    print(
        f"{'script (ms, and how many times as long we take)':60}"
        + "".join(f"{name:>17}" for name in runs)
    )
    for script in SCRIPTS:
        if not words or any(word in script for word in words):
            measure(runs, script)
    runs["bash"]("")


if __name__ == "__main__":
    main(sys.argv[1:])
