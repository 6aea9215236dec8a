"""Fork bombs: processes that start processes, by all that starts them.

A generator puts a bomb together from a body that starts itself again (as a function, as a file, as a
text for `bash -c`) and from what starts it: jobs, pipelines, subshells, substitutions, coprocesses,
traps, `xargs -P`, `parallel`, `make -j`, `find -exec`, hooks of git. It runs in a thread with a small
stack in a process of its own, because what it may break is the C stack of the host. The calls after
it must be as cheap as any: their steps are counted, since a clock says little on a busy machine.

`BOMBS` is the number of bombs; the same number is always the same bomb. `python -m
tests.security.test_bombs COUNT [FIRST]` prints what each of them costs.
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import subprocess
import sys
import threading
from time import process_time

import pytest

from agentsandbox import ExecutionResult, Limits, Sandbox
from agentsandbox.kernel.budget import SLICE, Budget
from agentsandbox.kernel.processes import Process, Scheduler

COUNT = int(os.environ.get("BOMBS", "9"))
FIRST = int(os.environ.get("BOMBS_FIRST", "0"))
LIMITS = Limits(timeout=0.5 if COUNT < 10 else 2, steps=1_000_000)
MOST_STEPS = 120 * SLICE
"""What a call of one `echo` may draw: jobs get a hundred slices after its end."""

SPAWNS = (
    "{S} &", "{S} & {S} &", "{S} | {S} &", "({S}) & ({S}) &", "( ({S}) & ({S}) & )", "{{ {S}; }} & {{ {S}; }} &", "coproc {S}; {S} &", ": <({S}) <({S})", "x=$({S}) & y=$({S}) &",
    ": $({S} > /dev/null &) $({S} > /dev/null &)", "cat <({S}) <({S}) > /dev/null &", "{S} > >({S}) &", "while :; do {S} & done", "for i in {{1..9}}; do {S} & done", "{S} & {S} & wait", "{S} & wait; {S} &",
    "trap '{S} & {S} &' EXIT", "trap '{S} &' CHLD; : & wait", "trap '{S} & {S} &' USR1; kill -USR1 $BASHPID", "trap '{S} &' DEBUG; :; :", "trap '{S} & {S} &' ERR; false", "mapfile < <({S}; {S}) &", "{S} | {S} | {S}", "{S} <<< a | {S} &",
    "until {S} & do :; done &", "set -m; {S} & {S} &", "{S} & disown; {S} & disown", "{S} &> /dev/null & {S} |& {S} &", "while read -r l; do {S} & done < <(yes) &", "exec 5> >({S}); exec 6> >({S})", "! {S} & time {S} &", "yes | {S} | {S} &", "cat fifo | {S} & {S} &",
)  # fmt: skip
"""What starts `{S}` again."""

FILE_SPAWNS = (
    "printf '%s\\n' b b b | xargs -P 4 -n 1 bash &", "yes b | xargs -P 0 -n 1 bash &", "parallel bash ::: b b b &", "make -s -j 9 -f m &", "find b -exec bash {{}} \\; &", "find b -exec bash {{}} \\; & bash b &",
    "awk 'BEGIN {{ system(\"bash b & bash b &\") }}'", "awk 'BEGIN {{ while ((\"bash b &\" | getline) > 0) n++ }}' & bash b &", "git commit -q --allow-empty -m x &", "git -c alias.b='!bash b & bash b &' b", "timeout 9 bash b & bash b &", "nohup bash b & nohup bash b &",
    "env bash b & env -i bash b &", "./b & ./b &", ". ./b & . ./b &", "sh b & sh b &", "exec bash b & exec ./b &", "setsid bash b & nice bash b &", "printf '!bash b &\\n!bash b &\\nq\\n' | ed -s", "flock lock bash b & flock -n lock2 bash b &", "time bash b & command bash b &",
    "xargs -I{{}} -P 3 bash {{}} <<< $'b\\nb\\nb' &", "stdbuf -o0 bash b & stdbuf -i0 bash b &", "tar cf - --checkpoint=1 --checkpoint-action=exec='bash b &' b > /dev/null & bash b &", "sed '1e bash b &' b > /dev/null; bash b &", "sort --compress-program=./b -S 1 b b & ./b &", "split --filter='bash b &' -l 1 b; :",
)  # fmt: skip
"""What starts the file `b` again."""

WORK = (
    "", "", "", "sleep 0", "sleep 0.01", "sleep 0.1", "echo a | tr a b", "yes | head -c 99999 > /dev/null", "x=$(echo a)", "seq 2000 | sort > /dev/null", "read -t 0.01 z", "echo $$ >> log", "cat <<< a", ": {1..50}", "trap '' TERM",
)  # fmt: skip
AFTER = ("", "", "", "wait", "sleep 0.05", "sleep 9", "read z < fifo", "yes > /dev/null", "sleep 0.01; kill $!", "while :; do :; done")
MAKEFILE = "all: x y z\nx y z:\n\tbash b & bash b &\n.PHONY: all x y z\n"
HOOK = "#!/bin/bash\nbash b & bash b &\n"


def make_bomb(number: int) -> tuple[dict[str, str], str]:
    """Return the files that a bomb needs, and the script that sets it off."""
    chance = random.Random(f"bomb {number}")
    kind = ("function", "file", "text")[number % 3]
    again = {"function": "f", "file": "bash b", "text": 'bash -c "$B"'}[kind]
    spawns = SPAWNS + FILE_SPAWNS * (kind == "file")
    spawn = chance.choice(spawns).format(S=again)
    lines = [chance.choice(WORK), spawn, chance.choice(AFTER)]
    if chance.random() < 0.3:
        lines.insert(1, chance.choice(SPAWNS).format(S=again))
    body = "\n".join(line for line in lines if line)
    files = {"m": MAKEFILE, "hook": HOOK, "b": f"#!/bin/bash\n{body}\n"}
    start = again
    if kind == "function":
        start = f"f() {{\n{body}\n}}\nf"
    elif kind == "text":
        files["t"] = body
        start = f'export B="$(< t)"\n{again}'
    if "git commit" in body:
        start = f"git init -q; install -m 755 hook .git/hooks/post-commit\n{start}"
    end = chance.choice(("", "", "", " &", "; echo over", "; wait", "; sleep 0.2", "; exit 3"))
    return files, f"mkfifo fifo; chmod +x b\n{start}{end}"


def processes_of(sandbox: Sandbox) -> int:
    """Return how many processes there are besides the shell."""
    return len(sandbox._shell_session.machine.scheduler.processes)  # type: ignore[union-attr]


def steps_of(sandbox: Sandbox) -> int:
    """Return how many steps the last call has drawn, its jobs included."""
    budget = sandbox._shell_session.machine.budget  # type: ignore[union-attr]
    return budget.spent + SLICE - budget.left


def problem_of(sandbox: Sandbox, bombed: ExecutionResult, *, calls: int = 4) -> str:
    """Return what is wrong with the calls after a bomb, or an empty text."""
    if bombed.exit_code == 70 or "Traceback" in bombed.stderr:
        return f"internal error: {bombed.stderr[-300:]}"
    for call in range(calls):
        result = sandbox.execute("echo next", state="new")  # traps of the bomb are no part of it
        steps = steps_of(sandbox)
        if result.exit_code == 70 or "next" not in result.stdout or result.limit is not None:
            return f"call {call}: {result.exit_code} {result.limit} {result.stderr[-300:]}"
        if steps > MOST_STEPS:
            return f"call {call}: {steps} steps"
        if processes_of(sandbox) >= 256:
            return f"call {call}: the table is full"
    after = "kill -9 $(ps -e -o pid= | sed 1d) 2> /dev/null; sleep 0 & wait $!; echo =$?="
    result = sandbox.execute(after, state="new")
    if "=0=" not in result.stdout:
        return f"no process can be started: {result!r:.300}"
    return ""


def greenlets() -> int:
    """Return how many stacks there are."""
    from greenlet import greenlet

    gc.collect()
    return sum(isinstance(each, greenlet) for each in gc.get_objects())


def work(first: int, count: int, *, shows: bool = False) -> None:
    """Set off the bombs; print the number of one that leaves something behind."""
    before = greenlets()
    for number in range(first, first + count):
        files, script = make_bomb(number)
        print(number, flush=True)
        began = process_time()
        with Sandbox(limits=LIMITS, files=files) as sandbox:
            bombed = sandbox.execute(script)
            ended = process_time()
            problem = problem_of(sandbox, bombed)
            left = processes_of(sandbox)
        after = process_time()
        if shows:
            steps = [ended - began, after - ended]
            print("  ", bombed.limit, *(f"{each:.2f}" for each in steps), left, bombed.stderr[-70:])
        del sandbox
        stacks = greenlets() - before
        if stacks > 2:
            problem = problem or f"{stacks} stacks are left"
        if problem:
            print(f"problem of {number}: {problem}\n{script}\n{files['b']}", flush=True)
            if not shows:
                return


def pass_on(length: int) -> None:
    """Run processes that each start the next one and end; they are kept, and freed at once."""
    budget = Budget(Limits(depth=length + 1, timeout=60))
    scheduler = Scheduler(budget)
    scheduler.begin(budget)
    kept: list[Process] = []

    def start_another() -> int:
        if len(kept) < length:
            kept.append(scheduler.start(start_another, "next"))
        return 0

    start_another()
    scheduler.block(lambda: not scheduler.processes)
    scheduler.end()
    assert len(kept) == length


CHILD = """
import sys, threading
sys.path.insert(0, sys.argv[1])
from tests.security.test_bombs import *
threading.stack_size(int(sys.argv[2]) << 10)
thread = threading.Thread(target=eval(sys.argv[3]))
thread.start()
thread.join()
print("survived")
"""


def on_small_stack(kilobytes: int, call: str, timeout: float) -> str:
    """Call a function of this module in a process of its own; return what it prints."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    ran = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", CHILD, top, str(kilobytes), f"lambda: {call}"],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    last = ran.stdout.splitlines()[-1:]
    assert (ran.returncode, last) == (0, ["survived"]), (ran.stdout[-900:], ran.stderr[-900:])
    assert not ran.stderr, ran.stderr
    return ran.stdout


small_stacks = pytest.mark.skipif(
    sys.platform == "win32", reason="its threads take no stack of that size"
)


# TM-MEM-5
@small_stacks
def test_a_bomb_costs_the_calls_after_it_nothing() -> None:
    said = on_small_stack(512, f"work({FIRST}, {COUNT})", 120 + 20 * COUNT)
    assert "problem" not in said, said[-2000:]


# TM-MEM-4
@small_stacks
def test_processes_that_start_one_another_take_no_stack() -> None:
    on_small_stack(256, "pass_on(10_000)", 120)


def test_an_event_loop_and_its_other_sandboxes_go_on_beside_a_bomb() -> None:
    async def run() -> tuple[list[str | None], list[str]]:
        bombs = [Sandbox(limits=Limits(timeout=20)) for _ in range(2)]
        other = Sandbox()
        calls = [asyncio.ensure_future(bomb.aexecute(":(){ :|:& };:; sleep 9")) for bomb in bombs]
        beside = []
        while not all(call.done() for call in calls):
            beside.append((await other.aexecute("echo beside")).stdout)
            await asyncio.sleep(0)
        after = [(await bomb.aexecute("echo next")).stdout for bomb in bombs]
        for sandbox in (*bombs, other):
            sandbox.close()
        assert after == ["next\n"] * 2
        return [call.result().limit for call in calls], beside

    limits, beside = asyncio.run(run())
    assert limits == ["processes"] * 2
    assert len(beside) > 1
    assert set(beside) == {"beside\n"}


def test_a_bomb_in_another_thread_leaves_the_jobs_of_this_one() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("{ sleep 0.1; echo late > f; } &")
        thread = threading.Thread(target=sandbox.execute, args=("while :; do sleep 99 & done",))
        thread.start()
        thread.join()
        assert sandbox.execute("wait; cat f").stdout == "late\n"


if __name__ == "__main__":
    count, first = (*map(int, sys.argv[1:]), *(100, 0)[len(sys.argv) - 1 :])
    threading.stack_size(1 << 19)
    thread = threading.Thread(target=work, args=(first, count), kwargs={"shows": True})
    thread.start()
    thread.join()
