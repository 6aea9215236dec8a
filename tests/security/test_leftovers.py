"""What a call leaves does not run by itself in the next one, and what is dropped leaves nothing.

Three generators:

* whatever a script can have called without naming it (the traps of all conditions and signals,
  PS4) is made endless; the call ends by a limit or is cancelled, and the next one is as usual
* a builtin with odd arguments, in a call whose state is dropped ("discard", "new"): a picture of
  the shell is the same before and after
* input that was half read, processes that wait, descriptors, timers of an ended call: the next one
  has its own

`LEFTOVERS` is the number of builtin calls.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Callable

import pytest

from agentsandbox import ExecutionResult, Limits, Sandbox
from agentsandbox.kernel.processes import SIGNALS
from tests.security.fuzzing import BUILTINS, SETTING, TEXTS, invocation, quote

COUNT = int(os.environ.get("LEFTOVERS", "150"))
FIRST = int(os.environ.get("LEFTOVERS_FIRST", "0"))

ENDLESS = "echo ran >> ran; while :; do :; done"
TRIGGERS = {
    "EXIT": "exit", "ERR": "false", "DEBUG": ":", "RETURN": "g() { :; }; set -T; g",
    **{
        name: f"kill -{name} $$; :"
        for number, name in SIGNALS.items()
        if name not in ("KILL", "STOP") and number < 36
    },
}  # fmt: skip
"""What makes each trap run."""
SETTING_UP = {
    "text": "trap '{endless}' {name}; {trigger}",
    "function": "h() {{ {endless}; }}; trap h {name}; {trigger}",
    "in a function": "set -ET; k() {{ trap '{endless}' {name}; {trigger}; }}; k; {trigger}",
    "in a loop": "trap '{endless}' {name}; for i in 1 2; do {trigger}; done",
    "in a pipeline": "shopt -s lastpipe; set +m; trap '{endless}' {name}; echo | {{ {trigger}; }}; {trigger}",
    "with eval": "eval \"trap '{endless}' {name}; {trigger}\"",
    "of two": "trap 'echo first >> ran' EXIT; trap '{endless}' {name}; {trigger}",
}
NEXT = "echo alive; false; g() { :; }; g; true | cat; x=$(echo 1); :"


def by_timeout(sandbox: Sandbox, script: str) -> ExecutionResult:
    return sandbox.execute(script, timeout=0.05)


def by_cancelling(sandbox: Sandbox, script: str) -> ExecutionResult:
    async def run() -> ExecutionResult:
        task = asyncio.ensure_future(sandbox.aexecute(script))
        await asyncio.sleep(0.02)
        sandbox.cancel()
        return await task

    return asyncio.run(run())


def by_steps(sandbox: Sandbox, script: str) -> ExecutionResult:
    return sandbox.execute(script)


ENDS: dict[str, Callable[[Sandbox, str], ExecutionResult]] = {
    "timeout": by_timeout, "cancel": by_cancelling, "steps": by_steps,
}  # fmt: skip


def _endless() -> list[object]:
    found: list[object] = []
    for number, (name, trigger) in enumerate(TRIGGERS.items()):
        for at, (form, text) in enumerate(SETTING_UP.items()):
            if name not in ("EXIT", "ERR", "DEBUG", "RETURN") and (number + at) % 9:
                continue
            script = text.format(endless=ENDLESS, name=name, trigger=trigger)
            end = list(ENDS)[(number + at) % len(ENDS)]
            found.append(pytest.param(script, end, id=f"{name} {form} {end}"))
    for at, prompt in enumerate(
        ("$(while :; do :; done)", "`while :; do :; done`", "${x:$(for ((;;)); do :; done)}")
    ):
        script = f"PS4='{prompt}'; x=1; set -x; :"
        found.append(pytest.param(script, list(ENDS)[at], id=f"PS4 {at}"))
    return found


# TM-NEXT-1
@pytest.mark.parametrize(("script", "end"), _endless())
def test_nothing_runs_by_itself_in_the_next_call(script: str, end: str) -> None:
    with Sandbox(limits=Limits(timeout=20, steps=30_000 if end == "steps" else 10**9)) as sandbox:
        assert ENDS[end](sandbox, script).limit is not None
        sandbox.execute("rm -f ran")
        after = sandbox.execute(NEXT)
        assert (after.stdout, after.limit) == ("alive\n", None)
        assert not sandbox.fs.exists("/workspace/ran")


def test_a_trap_that_does_not_use_up_a_limit_stays() -> None:
    with Sandbox() as sandbox:
        sandbox.execute(
            "trap 'echo debug' DEBUG; trap 'echo usr' USR1; while :; do :; done", timeout=0.05
        )
        assert sandbox.execute("trap -p USR1").stdout == "debug\ntrap -- 'echo usr' SIGUSR1\n"


PICTURE = r"""
{ declare -p; declare -f; set -o; shopt; trap -p; umask; ulimit -a; pwd; alias; hash; dirs -p; jobs; complete; enable;
  printf '<%s>' "$@" "$-" "$0" "$OPTIND"; ls -l /proc/self/fd; declare -F; type -a echo cat printf;
} 2>&1 | sed 's/pipe:.*/pipe/' | grep -vE '^declare [^ ]* (RANDOM|SECONDS|SRANDOM|EPOCH[A-Z]*|BASH[A-Z_]*|_|LINENO|PIPESTATUS|PPID|HISTCMD|FUNCNAME|OLDPWD)='
"""
"""Prints what a shell has, in a subshell of its own."""


def builtin_call(number: int) -> str:
    """Return a script of builtins with odd arguments, which may fail."""
    chance = random.Random(f"leftovers {number}")
    calls = [invocation(chance, chance.choice(BUILTINS)) for _ in range(chance.choice((1, 2, 4)))]
    more = [
        f"v{chance.randrange(3)}={quote(chance.choice(TEXTS))}",
        "exec 7> seven 8< /dev/null; exec 2>&-", "set -eux -o pipefail", "shopt -s extglob dotglob nullglob lastpipe",
        "f() { echo mine; }; export -f f; declare -A m=([a]=b); readonly r=1", "alias ls=rm; shopt -s expand_aliases",
        "trap 'echo trapped' EXIT DEBUG ERR RETURN USR1 CHLD", "cd /tmp; pushd /; umask 077; ulimit -n 20; ulimit -f 1",
        "set -- x y; shift; OPTIND=3; getopts ab o; IFS=,; unset PATH HOME", "sleep 0.01 & sleep 0.02 & coproc cat",
        "enable -n echo; hash -p /x cat; complete -W a ls; set -o vi; set -n", "exec < /dev/zero; exec > /dev/full",
    ]  # fmt: skip
    calls.insert(chance.randrange(len(calls) + 1), chance.choice(more))
    return "\n".join(calls)


def _picture(sandbox: Sandbox) -> str:
    result = sandbox.execute(PICTURE, args=["one"], state="keep")
    assert result.limit is None
    return result.stdout


# TM-NEXT-1
@pytest.mark.parametrize("state", ["discard", "new"])
def test_a_state_that_is_dropped_leaves_nothing(state: str) -> None:
    wrong = []
    with Sandbox(limits=Limits(timeout=20), jobs="kill", seed=1) as sandbox:
        sandbox.execute(SETTING)
        sandbox.execute(
            "v0=kept; kept() { :; }; alias k=kept; trap 'echo kept >&2' USR2; exec 6< a.txt"
        )
        before = _picture(sandbox)
        for number in range(FIRST, FIRST + COUNT // 2):
            script = builtin_call(number)
            result = sandbox.execute(script, state=state, timeout=0.3)  # type: ignore[arg-type]
            after = _picture(sandbox)
            if after != before or result.exit_code == 70:
                lines = set(before.splitlines()) ^ set(after.splitlines())
                wrong.append((number, script, sorted(lines)[:6]))
                before = after
    assert wrong == []


WAITING = {
    "half read input": "read -r a; while :; do :; done",
    "a pipe": "yes | while :; do :; done",
    "a reader": "exec 5< <(yes); read -u 5 x; while :; do :; done",
    "a writer": "exec 5> >(cat > /dev/null); while :; do echo x >&5; done",
    "a named pipe": "mkfifo p; cat p & while :; do :; done",
    "a coprocess": "coproc { while read -r l; do echo $l; done; }; while :; do :; done",
    "a timer": "timeout 0.06 sleep 9 & (sleep 0.06; kill -USR1 $$) & while :; do :; done",
    "a signal": "trap 'echo late' USR1; (while :; do kill -USR1 $$; done) & while :; do :; done",
    "its own signal": "trap 'echo late' USR1; f() { kill -USR1 $$; while :; do :; done; }; x=$(f)",
    "a stopped job": "sleep 9 & kill -STOP $!; while :; do :; done",
    "a lock": "(exec 9> lock; flock 9; while :; do :; done)",
    "a wait": "sleep 9 & wait",
    "a read with a time": "read -t 5 x < <(sleep 9)",
    "a select": "select x in a b; do while :; do :; done; done <<< 1",
    "getopts": "set -- -ab; getopts ab o; while :; do :; done",
    "a heredoc": "cat <<END | while :; do :; done\n$(seq 20000)\nEND",
    "a port": "nc -l 8000 & while :; do :; done",
    "depth": "f() { f; }; f",
}


# TM-NEXT-1
@pytest.mark.parametrize("name", WAITING)
@pytest.mark.parametrize("end", ["timeout", "cancel"])
def test_what_was_in_the_middle_is_over(name: str, end: str) -> None:
    with Sandbox(limits=Limits(timeout=20), jobs="kill") as sandbox:
        script = f"first() {{ {WAITING[name]}\n}}; first"
        if end == "timeout":
            result = sandbox.execute(script, timeout=0.05, stdin=b"one\ntwo\n")
        else:
            result = by_cancelling(sandbox, script)
        assert result.limit is not None
        after = sandbox.execute(
            'read -r line; echo "$line"; jobs; sleep 0.1; echo "${PIPESTATUS[@]}"; wait; echo $?;'
            " flock -n lock true && echo free; exec 9> lock; flock -n 9 && echo mine",
            stdin=b"next\n",
        )
        assert (after.stdout, after.limit) == ("next\n0\n0\nfree\nmine\n", None)
        assert sandbox._shell is not None
        assert sandbox._shell.machine.scheduler.processes == []
