"""A script that ends at any step of its budget leaves a whole sandbox: a generator makes the scripts.

A run without interruption counts the ticks. Then the same script is ended at one of them, chosen by
a seed, in one of these ways: `cancel`, the cancelled task of an `aexecute`, the timeout, the limit of
steps, no memory, Ctrl-C. There is a tick every few steps here, instead of every thousand.

`CANCEL_COUNT` is the number of scripts; the same number is always the same script.
"""

from __future__ import annotations

import importlib.util
import os
import random
from collections.abc import Callable, Iterator
from functools import partial

import anyio
import pytest

from agentsandbox import CommandContext, ExecutionResult, Limits, NetworkPolicy, Sandbox
from agentsandbox.contract.command import Arguments, command
from agentsandbox.kernel import budget as budget_module
from agentsandbox.kernel.budget import Budget
from tests.security.whole import problems_of

COUNT = int(os.environ.get("CANCEL_COUNT", "40"))
FIRST = int(os.environ.get("CANCEL_FIRST", "0"))
STEPS = 5
"""Steps between two ticks."""
WITH_PYTHON = "CANCEL_PYTHON" in os.environ
"""Whether Python guests take part, which take half a second each."""
WITH_GIT = importlib.util.find_spec("dulwich") is not None
WITH_NETWORK = importlib.util.find_spec("h11") is not None

WORK = {
    "sort": "seq 300 | sort -r | sort -n > sorted; sort -u -o sorted sorted numbers",
    "jq": "jq -n '[range(300)] | map(. * 2) | add' > sum; jq -c '.[]' data.json > lines",
    "yq": "yq '.a' data.yaml; yq -i '.b = 2' data.yaml",
    "tar": "tar czf t.tgz tree; mkdir -p out; tar xzf t.tgz -C out; rm -rf out",
    "zip": "zip -qr t.zip tree; unzip -qo t.zip -d unzipped; rm -r unzipped",
    "sqlite3": (
        "sqlite3 db 'CREATE TABLE IF NOT EXISTS t(x); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL"
        " SELECT x + 1 FROM c WHERE x < 500) INSERT INTO t SELECT x FROM c; SELECT count(*) FROM t'"
    ),
    "sleep": "sleep 0.002; sleep 0.001 & wait; timeout 0.001 sleep 1",
    "awk": "awk '{ a[$1] += NR } END { for (k in a) print k, a[k] | \"sort\" }' numbers > totals",
    "sed": "sed -i 's/1/one/;h;G' numbers; sed -n '$=' numbers",
    "find": "find tree -type f -exec cat {} + | wc -l; find . -name '*.none' -delete",
    "copies": "cp -r tree tree2; mv tree2 tree3; ln -s tree3 l; cp -rL l tree4; rm -rf tree3 tree4 l",
    "links": "for i in 1 2 3 4 5 6 7 8 9; do echo $i > f$i; ln f$i g$i; mv g$i h$i; done; rm f? h?",
    "open files": "exec {fd}> o; rm o; echo text >&$fd; exec {fd}>&-; : > o; rm o",
    "loops": 'x=; for i in {1..60}; do x+=$i; case $x in *77*) y=${x//7/_} ;; esac; done; echo "$y"',
    "arrays": "mapfile -t a < numbers; declare -A m; for k in ${a[@]}; do m[$k]=$k; done; echo ${#m[@]}",
    "substitutions": 'f() { [ $1 -gt 0 ] && echo "$(f $(($1 - 1)))x"; }; f 6; diff <(seq 9) <(seq 8)',
    "jobs": "(seq 50 > j1) & (seq 60 > j2) & wait; cat j1 j2 | tee j3 | wc -l; rm j1 j2 j3",
    "coprocess": 'coproc cat; echo hi >&"${COPROC[1]}"; read -r l <&"${COPROC[0]}"; eval "exec ${COPROC[1]}>&-"; wait',
    "read": "while read -r l; do printf '%s\\n' \"$l\"; done < numbers > copied; rm copied",
    "xargs": "seq 20 | xargs -n 3 echo | xargs -I{} printf '<%s>' {}",
    "compress": "gzip -k numbers; zcat numbers.gz | head -n 2; rm numbers.gz; xz -k numbers; rm numbers.xz",
    "make": "printf 'all: a\\na:\\n\\techo built > a\\n' > Makefile; make -s; rm -f a Makefile",
    "mount": "cp -r tree shared/; mv shared/tree shared/t2; sed -i 's/t/T/' shared/t2/a/f; rm -r shared/t2",
    "traps": "trap 'echo usr' USR1; kill -USR1 $$; trap 'echo debug > /dev/null' DEBUG; :; trap - DEBUG USR1",
    "waiting": "patient; patient & wait",
    "regexps": "grep -E '(1|2)+$' numbers; [[ $(< numbers) =~ (1.*2)+ ]]; rg 1 numbers | wc -l",
    "patch": "seq 9 > p; sed 5d p > q; diff -u p q > d; patch -s p d; rm -f p q d",
    "git": (
        "(git init -q r; cd r; seq 30 > n; git add .; git -c user.name=a -c user.email=b commit -qm one;"
        " seq 25 > n; git stash -q; git log --oneline | wc -l; git checkout -q -b x); rm -rf r"
    ),
    "curl": "curl -s http://api.test/data -o got; curl -sd x=1 http://api.test/post | jq .size; rm -f got",
    "python": 'python3 -c \'import os; print(sum(range(1000)), file=open("py", "w")); os.remove("py")\'',
}
AROUND = {
    "alone": "{}",
    "group": "{{ {}; }} > log 2>&1",
    "subshell": "( {} )",
    "function": "f0() {{ local y=1; {}; }}; f0",
    "substitution": "v=$( {} )",
    "pipe": "{{ {}; }} | cat | tail -n 3",
    "reader": "seq 3 | while read -r n0; do {}; done",
    "job": "{{ {}; }} & wait",
    "trap": "t0() {{ {}; }}; trap t0 EXIT",
    "signal": "t0() {{ {}; }}; trap t0 USR2; kill -USR2 $$; :",
    "exit trap": "trap 'echo late > late' EXIT; {}; trap - EXIT",
    "error trap": "trap 'echo failed' ERR; {}; false; trap - ERR",
    "errexit": "( set -eu -o pipefail; {} )",
    "descriptors": "exec 8> held 9< numbers; {}; exec 8>&- 9<&-; rm -f held",
    "xtrace": "( set -x; {} ) 2> /dev/null",
}
WAYS = ("cancel", "task", "timeout", "steps", "memory", "interrupt")
SETTING = (
    "mkdir -p tree/a tree/b; for i in 1 2 3 4; do echo text$i > tree/a/f$i; done; echo text > tree/a/f;"
    " ln tree/a/f tree/b/g; ln -s ../a/f tree/b/l; seq 40 > numbers; echo '[1,{\"a\":2}]' > data.json;"
    " echo 'a: 1' > data.yaml; echo kept > kept; echo kept > shared/kept"
)
END_JOBS = "pkill -KILL -P $$; wait"
"""Background jobs of an ended call go on in the next ones; their output is not the question here."""
NEXT = "cat kept shared/kept; [ ! -e late ]; echo $?; trap -p EXIT; x=$(echo new | tr n N); echo $x > new; cat new; rm new"
EXPECTED = "kept\nkept\n0\nNew\n"


@command("patient", usage="Usage: patient")
async def patient(ctx: CommandContext, args: Arguments) -> int:
    """Wait in the event loop, as a command of a host may."""
    await anyio.sleep(0.002)
    return 0


def _answer(request: object) -> dict[str, object]:
    return {"size": len(getattr(request, "body", b"")), "list": list(range(50))}


def _sandbox() -> Sandbox:
    from agentsandbox.kernel.fs.memory import MemoryFileSystem

    runtime = {"python": True} if WITH_PYTHON else {}
    network = NetworkPolicy(hosts={"api.test": _answer}) if WITH_NETWORK else None
    sandbox = Sandbox(
        limits=Limits(timeout=20),
        commands=[patient],
        network=network,
        mounts={"/workspace/shared": MemoryFileSystem()},
        seed=1,
        **runtime,  # type: ignore[arg-type]
    )
    result = sandbox.execute(SETTING)
    assert (result.exit_code, result.stderr) == (0, "")
    return sandbox


def script_of(number: int) -> tuple[str, str, random.Random]:
    """Return a script, the way in which it ends, and what chooses the tick."""
    chance = random.Random(f"cancel {number}")
    names = [
        name
        for name in WORK
        if (name != "python" or WITH_PYTHON)
        and (name != "git" or WITH_GIT)
        and (name != "curl" or WITH_NETWORK)
    ]
    chosen = [names[number % len(names)], *chance.sample(names, chance.choice((0, 0, 1, 2)))]
    body = "; ".join(WORK[name] for name in chosen)
    around = AROUND[chance.choice(list(AROUND))]
    script = around.format(body)
    return script, WAYS[number % len(WAYS)], chance


class Ticks:
    """Counts looks at the clock, and does something at one of them."""

    def __init__(self) -> None:
        self.count = 0
        self.number = 0
        self.act: Callable[[Budget], object] = lambda budget: None
        check_time = Budget.check_time

        def check(budget: Budget) -> None:
            self.count += 1
            if self.count == self.number:
                self.act(budget)
            check_time(budget)

        self.check = check

    def begin(self, number: int, act: Callable[[Budget], object]) -> None:
        self.count, self.number, self.act = 0, number, act

    @property
    def reached(self) -> bool:
        return self.number and self.count >= self.number


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ticks]:
    found = Ticks()
    monkeypatch.setattr(Budget, "check_time", found.check)
    monkeypatch.setattr(budget_module, "SLICE", STEPS)
    monkeypatch.setattr(budget_module, "_MADE_IN_SLICE", 64 * STEPS)
    yield found


def _expire(budget: Budget) -> None:
    budget.deadline = float("-inf")


def _spend(budget: Budget) -> None:
    budget.spent = budget.limits.steps + 1


def _raise(error: type[BaseException], budget: Budget) -> None:
    raise error


def _run(sandbox: Sandbox, script: str) -> ExecutionResult:
    return anyio.run(sandbox.aexecute, script)


def _run_to_tick(sandbox: Sandbox, script: str, way: str, number: int, ticks: Ticks) -> None:
    """Run the script, ended at a tick in some way, and check how it ended."""
    if way == "task":

        async def run() -> None:
            with anyio.CancelScope() as scope:
                ticks.begin(number, lambda budget: scope.cancel())
                await sandbox.aexecute(script)

        anyio.run(run)
        assert sandbox.history[-1].limit in ("cancelled", None)
        return
    acts: dict[str, tuple[Callable[[Budget], object], tuple[str, int]]] = {
        "cancel": (lambda budget: sandbox.cancel(), ("cancelled", 130)),
        "timeout": (_expire, ("timeout", 124)),
        "steps": (_spend, ("steps", 137)),
        "memory": (partial(_raise, MemoryError), ("value_bytes", 137)),
        "interrupt": (partial(_raise, KeyboardInterrupt), ("", 0)),
    }
    act, expected = acts[way]
    ticks.begin(number, act)
    try:
        result = _run(sandbox, script)
    except KeyboardInterrupt:
        assert way == "interrupt"
        return
    if ticks.reached and way not in ("steps", "interrupt"):
        assert (result.limit, result.exit_code) == expected, result
    assert result.exit_code != 70, result.stderr


@pytest.mark.parametrize("number", range(FIRST, FIRST + COUNT))
def test_a_script_that_ends_anywhere_leaves_a_whole_sandbox(number: int, ticks: Ticks) -> None:
    script, way, chance = script_of(number)
    with _sandbox() as sandbox:
        ticks.begin(0, lambda budget: None)
        result = _run(sandbox, script)
        assert (result.limit, result.exit_code == 70) == (None, False), result
        total = ticks.count
    tick = min(total, int(total ** chance.random()) + chance.randrange(3)) or 1
    with _sandbox() as sandbox:
        _run_to_tick(sandbox, script, way, tick, ticks)
        ticks.begin(0, lambda budget: None)
        assert problems_of(sandbox) == [], (script, way, tick)
        assert sandbox.execute(END_JOBS).limit is None, (script, way, tick)
        result = sandbox.execute(NEXT)
        assert (result.stdout, result.stderr, result.limit) == (EXPECTED, "", None), (
            script,
            way,
            tick,
        )
        assert problems_of(sandbox) == [], (script, way, tick)
