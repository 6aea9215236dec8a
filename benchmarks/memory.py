"""How much memory commands take over their input. Run on Linux: python benchmarks/memory.py [MIB
[COMMAND...]]

Each command runs in a process of its own on a file of MIB megabytes (50), and its output is
dropped. The figure is the highest resident set while it ran, less the one before: the file itself,
which the sandbox holds, does not count.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from agentsandbox import Limits, Sandbox

MIB = 1 << 20

STREAMING = {
    "cat": "cat log.txt",
    "cat -n": "cat -n log.txt",
    "grep": "grep ERROR log.txt",
    "grep -v": "grep -v ERROR log.txt",
    "grep -c": "grep -c 'ERROR.*500' log.txt",
    "sed": "sed 's/status=/S:/' log.txt",
    "sed -n": "sed -n '/ERROR/p' log.txt",
    "cut": "cut -d' ' -f4 log.txt",
    "tr": "tr a-z A-Z < log.txt",
    "head": "head -n 500000 log.txt",
    "wc": "wc log.txt",
    "uniq": "uniq -c log.txt",
    "nl": "nl log.txt",
    "tee": "tee /dev/null < log.txt",
    "cat | grep | wc": "cat log.txt | grep 404 | wc -l",
}
HOLDING = {
    "sort": "sort log.txt",
    "sort -k": "sort -k4 log.txt",
    "sort -n": "sort -t= -k3,3n log.txt",
    "tac": "tac log.txt",
    "awk print": "awk '{print $3}' log.txt",
    "awk count": "awk '{n[$3]++} END {for (k in n) print k, n[k]}' log.txt",
    "awk hold": "awk '{line[NR] = $0} END {print NR}' log.txt",
    "jq .": "jq . data.json",
    "jq length": "jq length data.json",
    "jq map": "jq 'map(.owner)' data.json",
}

# small objects as dicts: DESIGN.md says why jq does not pack them
OBJECTS = {
    "jq objects": "jq 'map(select(.a > 4))' small.json",
    "jq -s": "jq -s 'group_by(.a) | map(length)' lines.json",
    "jq inputs": "jq -n '[inputs]' lines.json",
}


def make_log(size: int) -> bytes:
    """Log lines of about 90 bytes, all different."""
    chance = random.Random(7)
    lines: list[bytes] = []
    have = 0
    while have < size:
        level = chance.choices(("INFO", "WARN", "ERROR", "DEBUG"), (70, 15, 5, 10))[0]
        line = (
            f"2024-{chance.randint(1, 12):02d}-{chance.randint(1, 28):02d} "
            f"{chance.randint(0, 23):02d}:{chance.randint(0, 59):02d} {level} "
            f"[w{chance.randint(1, 16)}] id={chance.getrandbits(48):012x} "
            f"path=/api/items/{chance.randint(1, 9999)} "
            f"status={chance.choice((200, 404, 500))} {chance.randint(0, 900)}ms\n"
        )
        lines.append(line.encode())
        have += len(line)
    return b"".join(lines)


def make_json(size: int) -> bytes:
    """An array of records, as a service on the web returns it."""
    chance = random.Random(7)
    parts: list[str] = []
    have = 0
    while have < size:
        words = " ".join(chance.choices(("alpha", "beta", "gamma", "delta", "epsilon"), k=12))
        owner = {
            "login": f"user{chance.getrandbits(16)}",
            "team": f"t{chance.randint(0, 9)}",
            "active": True,
        }
        record = {
            "id": len(parts),
            "title": f"item-{chance.getrandbits(40)}",
            "body": words,
            "score": chance.random(),
            "owner": owner,
        }
        parts.append(json.dumps(record, indent=2))
        have += len(parts[-1]) + 2
    return f"[{', '.join(parts)}]\n".encode()


def make_small(size: int) -> bytes:
    """An array of objects that are hardly longer than their keys."""
    return b"[%s]\n" % make_lines(size)[:-1].replace(b"\n", b",")


def make_lines(size: int) -> bytes:
    """A small object on each line."""
    chance = random.Random(7)
    return b"".join(
        b'{"a":%d,"b":%d}\n' % (chance.randint(0, 9), chance.randint(0, 9))
        for _ in range(size // 14)
    )


MAKERS = {
    "log.txt": make_log,
    "data.json": make_json,
    "small.json": make_small,
    "lines.json": make_lines,
}


def file_of(script: str) -> str:
    """The name of the file that a script reads."""
    return next(name for name in MAKERS if name in script)


def resident(field: str) -> int:
    """A figure of this process in bytes: VmRSS now, or VmHWM, the highest since `reset`."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise SystemExit("this benchmark needs Linux's /proc")


def measure(script: str, mib: int, file: str) -> None:
    """In a process of its own: print the bytes that the script took over what was there before."""
    large = 40 * mib * MIB
    limits = Limits(
        file_bytes=large, total_bytes=large, value_bytes=large, steps=10**10, timeout=600.0
    )
    with Sandbox(limits=limits) as sandbox:
        place = sandbox.execute("pwd").stdout.strip()
        name = file_of(script)
        sandbox.fs.write_bytes(f"{place}/{name}", MAKERS[name](64 * 1024))
        sandbox.execute(
            f"{script} > /dev/null"
        )  # what a command loads is not what it needs for its input
        sandbox.fs.write_bytes(f"{place}/{name}", Path(file).read_bytes())
        Path("/proc/self/clear_refs").write_text("5", "ascii")
        before = resident("VmRSS")
        result = sandbox.execute(f"{script} > /dev/null")
        peak = resident("VmHWM")
        print(
            json.dumps(
                {
                    "before": before,
                    "peak": peak,
                    "status": result.exit_code,
                    "stderr": result.stderr[:200],
                }
            )
        )


def report(name: str, script: str, mib: int, bar: int, file: Path) -> bool:
    """Measure one command and print its figures; whether it keeps to its bar."""
    command = [sys.executable, __file__, "--one", str(mib), script, str(file)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    used = max(0, found["peak"] - found["before"])
    good = used <= bar and not found["stderr"]
    verdict = "ok" if good else found["stderr"].strip() or "OVER"
    print(
        (
            f"{name:18}{used / MIB:12.1f} MiB{used / (mib * MIB):9.2f}  {verdict} (<= "
            f"{bar / MIB:.0f} MiB)"
        ),
        flush=True,
    )
    return good


def main(arguments: list[str]) -> int:
    """Measure all commands, or those named; the status is 1 if one is over its bar."""
    if arguments[:1] == ["--one"]:
        measure(arguments[2], int(arguments[1]), arguments[3])
        return 0
    mib = int(arguments[0]) if arguments else 50
    over = 0
    print(f"{'command':18}{'over the input':>16}{'x input':>9}  bar")
    with TemporaryDirectory() as folder:
        for name, make in MAKERS.items():
            Path(folder, name).write_bytes(make(mib * MIB))
        for scripts, bar in (
            (STREAMING, 4 * MIB),
            (HOLDING, 6 * mib * MIB),
            (OBJECTS, 18 * mib * MIB),
        ):
            for name, script in scripts.items():
                if not arguments[1:] or name in arguments[1:]:
                    file = Path(folder, file_of(script))
                    over += not report(name, script, mib, bar, file)
    return 1 if over else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
