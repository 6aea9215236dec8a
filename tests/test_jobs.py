"""Background jobs across calls: detached, waited for or ended, and with nothing of the host held
between calls.
"""

# TM-TIME-5, TM-MEM-5

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

import pytest

from agentsandbox import Limits, Sandbox


def test_a_detached_job_goes_on_during_later_calls() -> None:
    with Sandbox() as sandbox:
        assert sandbox.execute("(sleep 0.05; echo late > f) & echo started").stdout == "started\n"
        assert sandbox.execute("cat f").exit_code == 1
        assert sandbox.execute("sleep 0.2; cat f").stdout == "late\n"


def test_a_detached_job_can_be_waited_for_and_killed_later() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("(exit 7) & p=$!; sleep 60 & q=$!")
        result = sandbox.execute(
            "wait $p; echo $?; jobs | wc -l; kill $q; wait $q 2> /dev/null; echo $?; jobs"
        )
        assert result.stdout == "7\n1\n143\n"


@pytest.mark.parametrize("words", ["/proc/*/environ", "/usr/bin/*", "{1..3000}"])
def test_a_job_that_mostly_expands_words_lets_others_run(words: str) -> None:
    with Sandbox() as sandbox:
        script = f"while [ ! -e f ]; do : {words}; done & sleep 0.05; echo > f; wait; echo done"
        assert sandbox.execute(script).stdout == "done\n"


def test_jobs_wait() -> None:
    with Sandbox(jobs="wait") as sandbox:
        assert sandbox.execute("(sleep 0.05; echo late) & echo started").stdout == "started\nlate\n"


def test_jobs_wait_no_longer_than_the_timeout() -> None:
    with Sandbox(jobs="wait") as sandbox:
        began = monotonic()
        result = sandbox.execute("sleep 60 & echo started", timeout=0.2)
        assert (result.exit_code, result.limit, result.stdout) == (124, "timeout", "started\n")
        assert monotonic() - began < 5


def test_jobs_kill() -> None:
    with Sandbox(jobs="kill") as sandbox:
        sandbox.execute("(sleep 0.05; echo late > f) &")
        assert sandbox.execute("sleep 0.2; ls").stdout == ""


def test_nothing_is_held_between_calls() -> None:
    threads = threading.active_count()
    descriptors = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with Sandbox() as sandbox:
        sandbox.execute("sleep 60 & yes > /dev/null & coproc cat")
        assert threading.active_count() == threads
        if descriptors:
            assert len(os.listdir("/proc/self/fd")) == descriptors


def test_closing_ends_the_jobs() -> None:
    sandbox = Sandbox()
    sandbox.execute("sleep 60 &")
    sandbox.close()
    assert sandbox.closed


def test_a_script_with_jobs_prints_the_same_every_time() -> None:
    script = """
for i in 6 2 4; do (sleep 0.$i; echo $i) & done; wait
seq 5 | xargs -P 3 -n 1 sh -c 'echo $0' | sort
{ echo a; echo b; } | while read x; do echo $x & wait; done
tail -f log & p=$!; echo line >> log; sleep 0.3; kill $p
"""
    outputs = set()
    for _ in range(3):
        with Sandbox(files={"log": "first\n"}) as sandbox:
            outputs.add(sandbox.execute(script).stdout)
    assert len(outputs) == 1


def test_eight_threads_queue_on_one_sandbox() -> None:
    with Sandbox() as sandbox:
        results: list[int] = []

        def work(number: int) -> None:
            for _ in range(20):
                results.append(sandbox.execute(f"n=$((n + 1)); echo {number} >> log").exit_code)

        workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(30)
        assert results == [0] * 160
        assert sandbox.execute("echo $n; wc -l < log").stdout == "160\n160\n"


def test_a_job_of_another_thread_waits_for_a_call_from_there() -> None:
    with Sandbox() as sandbox, ThreadPoolExecutor(1) as pool:
        pool.submit(sandbox.execute, "(sleep 0.01; echo late > f) & p=$!").result()
        for waiting in ("wait", "wait -n", "wait $p", "wait %1"):
            result = sandbox.execute(f"{waiting}; echo $?", timeout=5)
            assert (result.stdout, result.limit) == ("127\n", None)
            assert "goes on only in the thread that started it (D-threads)" in result.stderr
        assert pool.submit(sandbox.execute, "wait; cat f").result().stdout == "late\n"


def test_jobs_end_with_the_thread_that_started_them() -> None:
    """The system gives the number of a thread to the next one: that must not continue them."""
    numbers, seen = [], []

    def work(script: str) -> None:
        numbers.append(threading.get_ident())
        seen.append(sandbox.execute(script, timeout=5))

    with Sandbox() as sandbox:
        for script in (
            "(trap 'echo trapped > f' EXIT; sleep 30) & p=$!; sleep 40 & exec 3< <(sleep 50)",
            "wait $p; echo $?; wait; jobs; echo $?",
            "sleep 60 & mkfifo q; cat q & echo started",
            "wait; cat <&3; echo $?",
        ):
            thread = threading.Thread(target=work, args=(script,))
            thread.start()
            thread.join(10)
        assert [(each.stdout, each.stderr, each.limit) for each in seen] == [
            ("", "", None),
            ("137\n0\n", "", None),
            ("started\n", "", None),
            ("0\n", "", None),
        ]
        assert sandbox.execute("echo alive | cat; ls").stdout == "alive\nq\n"
    assert len(set(numbers)) < len(numbers), "no number was given twice: the test shows nothing"


@pytest.mark.parametrize("jobs", ["detach", "wait", "kill"])
def test_a_limit_does_not_break_what_follows(jobs: str) -> None:
    with Sandbox(jobs=jobs) as sandbox:
        assert sandbox.execute("sleep 60 & while :; do :; done", timeout=0.1).limit == "timeout"
        assert sandbox.execute("kill %1 2> /dev/null; echo alive").stdout == "alive\n"


@pytest.mark.parametrize(
    "job",
    [
        "yes > /dev/null",
        "while :; do :; done",
        "seq 100000000 | sort > /dev/null",
        "awk 'BEGIN { while (1) n++ }'",
        "while sleep 0.01; do :; done",
    ],
)
def test_a_job_does_not_keep_the_time_of_the_call_that_started_it(job: str) -> None:
    with Sandbox() as sandbox:
        sandbox.execute(f"{job} &", timeout=1)
        sandbox._shell_session.machine.budget.deadline = 0.0  # type: ignore[union-attr]
        for _ in range(2):
            result = sandbox.execute("sleep 0.01; for i in {1..2000}; do :; done; echo next")
            assert (result.stdout, result.limit) == ("next\n", None)
        assert sandbox.execute("jobs -r | grep -c Running; kill %1").stdout.strip() == "1"


def test_a_job_in_the_middle_of_a_pipeline_goes_on_in_the_next_calls() -> None:
    """The reader of a job's pipe may start in a later call than the writer."""
    with Sandbox(limits=Limits(steps=30_000)) as sandbox:
        sandbox.execute(":(){ :|:& };:", timeout=0.3)
        for _ in range(3):
            result = sandbox.execute("diff <(echo a) <(echo b); while :; do :; done", timeout=0.3)
            assert result.exit_code != 70
    with Sandbox() as sandbox:
        sandbox.execute(
            "{ for i in {1..30}; do sleep 0.001; printf %s $i; done | cat > f; echo over > g; } &"
        )
        for _ in range(40):
            result = sandbox.execute("sleep 0.002; x=$(echo a | tr a b); echo $x")
            assert (result.stdout, result.limit) == ("b\n", None)
        assert sandbox.execute("wait; cat g").stdout == "over\n"
