"""Scripts reach nothing of the host, and sandboxes nothing of each other."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import tracemalloc
import weakref
from pathlib import Path

from agentsandbox import Limits, Sandbox

ROOT = Path(__file__).parents[2]

AUDITED = r"""
import sys, zoneinfo
from agentsandbox import Sandbox
from tests.security.attack_scripts import ATTACKS
watched = []
allowed = tuple(sys.path[1:]) + (sys.prefix, sys.base_prefix)
def hook(event, arguments):
    if not active:
        return
    if event == "open":
        path = arguments[0]
        if isinstance(path, int) or "zoneinfo" in str(path) or str(path).endswith((".py", ".pyc", ".so", "tzdata.zi", ".json", ".pem", ".md", ".crt")) or "/__pycache__" in str(path):
            return
        watched.append((event, str(path)))
    elif event.startswith(("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.spawn", "os.posix_spawn", "ctypes.", "pty.", "shutil.", "ftplib.", "urllib.", "http.")):
        watched.append((event, repr(arguments)[:100]))
    elif event in ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.chmod", "os.chown", "os.link", "os.symlink", "os.truncate", "os.utime", "os.kill", "os.putenv", "os.unsetenv"):
        watched.append((event, repr(arguments)[:100]))
active = False
sys.addaudithook(hook)
for attack in ATTACKS:
    if attack.family in ("esc", "info", "graph", "inj", "poison") and "/zero" not in attack.script:
        sandbox = Sandbox()
        active = True
        sandbox.execute(attack.script, timeout=0.3)
        active = False
        sandbox.close()
print(sorted(set(watched)))
"""


# TM-HOST-1
def test_no_script_touches_the_host() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", AUDITED],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "[]"), ran.stderr[-500:]


# TM-HOST-2
def test_the_environment_of_the_host_is_not_visible(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("AS_SECRET", "canary-7431")
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    with Sandbox() as sandbox:
        result = sandbox.execute(
            "env; set; declare -p; date +%Z; pwd; whoami; hostname; awk 'BEGIN{for(k in ENVIRON)print k,ENVIRON[k]}'; jq -n env; ps aux"
        )
    assert "canary-7431" not in result.stdout
    assert "UTC" in result.stdout
    assert str(Path.cwd()) not in result.stdout


def test_threads_share_one_sandbox() -> None:
    sandbox = Sandbox()
    sandbox.execute("echo 0 > n")

    def work() -> None:
        for _ in range(20):
            sandbox.execute("read x < n; echo $((x + 1)) > n")

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sandbox.execute("cat n").stdout == "160\n"


# TM-NEXT-4
def test_threads_with_sandboxes_of_their_own_do_not_mix() -> None:
    wrong: list[str] = []

    def work(name: str) -> None:
        with Sandbox() as sandbox:
            for _ in range(20):
                got = sandbox.execute(
                    f"x={name}; for i in {{1..50}}; do echo $x; done | sort -u; yes | head -1 >/dev/null"
                ).stdout
                if got != f"{name}\n":
                    wrong.append(got)

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_closing_leaves_nothing_running() -> None:
    threads = threading.active_count()
    sandbox = Sandbox()
    sandbox.execute("sleep 1000 & yes > /dev/null & coproc cat; exec 3< <(yes)", timeout=0.3)
    sandbox.close()
    assert threading.active_count() == threads
    with Sandbox() as other:
        assert other.execute("jobs; echo alive").stdout == "alive\n"


# TM-NEXT-5
def test_many_sandboxes_leave_no_memory() -> None:
    def use() -> None:
        with Sandbox() as sandbox:
            sandbox.execute("x=1; f() { echo $x; }; f | cat > out; cat out | tr a b")

    for _ in range(50):
        use()
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(50):
            use()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(400):
            use()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 200_000
    finally:
        tracemalloc.stop()


def test_a_closed_sandbox_is_freed() -> None:
    sandbox = Sandbox()
    sandbox.execute("x=1; echo a | cat; f() { :; }; f")
    sandbox.close()
    reference = weakref.ref(sandbox)
    del sandbox
    gc.collect()
    assert reference() is None


def test_every_value_together_is_limited() -> None:
    with Sandbox(limits=Limits(value_bytes=1_000_000, timeout=5)) as sandbox:
        result = sandbox.execute(
            "x=$(head -c 900000 /dev/zero | tr '\\0' a); while :; do a+=(\"$((++i))$x\"); done"
        )
        assert (result.limit, result.exit_code) == ("value_bytes", 137)
        assert sandbox.execute("echo alive").stdout == "alive\n"
