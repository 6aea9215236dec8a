"""Python, JavaScript, the network and git's remotes in a process of their own."""

from __future__ import annotations

import hashlib
import random
import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from agentsandbox import Limits, Sandbox
from agentsandbox.git.offers import GitPush
from agentsandbox.isolation.host_remotes import HostRemotes
from agentsandbox.isolation.messages import Message, ProtocolError
from agentsandbox.isolation.operations import Operations
from agentsandbox.isolation.supervisor import missing
from agentsandbox.kernel.processes import Scheduler
from agentsandbox.network import NetworkPolicy
from agentsandbox.python import PythonRuntime
from agentsandbox.python.index import Wheelfile
from tests.network.test_specs import ENVIRONMENT, HOSTS
from tests.network.test_specs import all_cases as network_cases
from tests.python.wheel_factory import wheel
from tests.record.cases import DIRECTORY, Case
from tests.test_git_remotes import ENV, MAKE, host_repository, real
from tests.test_specs import place_files

pytestmark = pytest.mark.skipif(missing() is not None, reason="needs Linux")
LIMITS = Limits(timeout=30)

Isolation = Literal["thread", "process"]


# the network


def in_sample() -> list[Any]:
    return [case for case in network_cases() if "$R" not in case.values[0].script][::8]  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", in_sample())
def test_a_spec_of_the_network(case: Case) -> None:
    environment = {**ENVIRONMENT, **case.env}
    with Sandbox(cwd=DIRECTORY, env=environment, network=HOSTS, isolation="process") as sandbox:
        place_files(sandbox, case)
        result = sandbox.execute(case.script, stdin=case.stdin, args=case.args)
    assert (result.stdout_bytes, result.stderr_bytes, result.exit_code) == (
        case.stdout, case.stderr, case.status
    )  # fmt: skip


@pytest.fixture
def held() -> Iterator[tuple[int, threading.Event]]:
    """A server that answers requests when the event is set."""
    release = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        with connection:
            request = connection.recv(65536)
            release.wait(20)
            body = request.split(b" ")[1] + (b"!" if b"secret-7" in request else b"")
            head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body)
            connection.sendall(head + body)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1], release
    release.set()
    listener.close()


# TM-ISO-4
@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_others_go_on_while_servers_are_waited_for(
    isolation: Isolation, held: tuple[int, threading.Event]
) -> None:
    port, release = held
    policy = NetworkPolicy(
        [f"http://here.test:{port}/ok/"], resolve={"here.test": "127.0.0.1"}, allow_private=True,
        headers={"here.test": {"X-Key": "secret-7"}},
    )  # fmt: skip
    url = f"http://here.test:{port}"

    def see(_: str, data: bytes) -> None:
        if b"working" in data:
            release.set()

    with Sandbox(isolation=isolation, network=policy, limits=LIMITS) as sandbox:
        script = (
            f"for i in 1 2 3; do curl -s {url}/ok/$i > $i & done; sleep 0.1; echo working; wait;"
            f"cat 1 2 3; echo; env | grep secret; curl -sv {url}/ok/ 2>&1 | grep -i key;"
            f"curl -s {url}/no; echo $?; curl -s http://127.0.0.2:{port}/; echo $?"
        )
        result = sandbox.execute(script, on_output=see)
        assert result.stdout == "working\n/ok/1!/ok/2!/ok/3!\n7\n7\n", result.stderr
        release.clear()
        assert sandbox.execute(f"curl -s {url}/ok/4", timeout=0.3).limit == "timeout"
        sandbox.execute(f"curl -s {url}/ok/5 > 5 &")
        release.set()
        assert sandbox.execute("wait; cat 5").stdout == "/ok/5!"


class _Held:
    """A service whose work ends when the test says so."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.ended: set[int] = set()
        self._scheduler = scheduler
        self.works = {"hold": self._hold}

    def _hold(self, number: int, message: Message) -> tuple[dict[str, Any], bytes]:
        self._scheduler.wait_outside(lambda: number in self.ended)
        return {"of": number}, message.blobs[0]

    def drop(self, number: int) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.mark.parametrize("seed", range(20))
def test_no_news_is_lost_when_the_worker_drops_others(seed: int) -> None:
    chance = random.Random(seed)
    operations = Operations(Limits(), lambda *_: None)
    service = _Held(operations.scheduler)
    operations.add(service)
    operations.scheduler.begin(operations.context().budget)
    waiting: set[int] = set()
    try:
        for number in range(1, 60):
            action = chance.randrange(3)
            dropped = []
            if action == 0 or not waiting:
                head = {"id": number, "do": "hold"}
                assert operations.start(Message("start", head, [b"x"])) == {}
                waiting.add(number)
                continue
            if action == 1 and len(waiting) > 1:
                dropped = chance.sample(sorted(waiting), len(waiting) // 2)
                waiting -= set(dropped)
            chosen = chance.choice(sorted(waiting))
            service.ended.add(chosen)
            news = operations.news(Message("news", {"milliseconds": 0, "dropped": dropped}, []))
            assert news == {"id": chosen, "outcome": {"of": chosen}, "more": False, "data": b"x"}
            waiting.remove(chosen)
    finally:
        operations.close()


# guests


@pytest.mark.skipif(not PythonRuntime().status().ready, reason="python3 is not prepared")
def test_python() -> None:
    made = wheel(files={"demo/__init__.py": "x = 7\n"})
    digest = hashlib.sha256(made).hexdigest()
    asked: list[str] = []

    def index(name: str) -> list[Wheelfile]:
        asked.append(name)
        return [Wheelfile("demo-1.0-py3-none-any.whl", lambda: made, digest)]

    runtime = PythonRuntime(index=index, guests=2)
    policy = NetworkPolicy(hosts={"api.test": lambda request: {"path": request.path}})
    script = (
        "pip install -q --no-warn-script-location demo 2>&1; python3 - <<'E'\n"
        "import demo, os, subprocess, time, urllib.request\n"
        "print(demo.x, urllib.request.urlopen('http://api.test/a').read(), int(time.time()))\n"
        "print(subprocess.run(['echo', 'child'], capture_output=True).stdout, os.listdir('.'))\n"
        "open('a.svg', 'w').write('<svg/>')\n"
        "E\n"
    )
    with Sandbox(
        isolation="process", python=runtime, network=policy, clock=lambda: 5.0, limits=LIMITS
    ) as sandbox:
        result = sandbox.execute(script)
        assert result.stdout.splitlines()[-2:] == [
            "7 b'{\"path\": \"/a\"}' 5", "b'child\\n' []"
        ]  # fmt: skip
        assert (asked, list(result.pictures)) == (["demo"], ["/workspace/a.svg"])
        assert sandbox.execute("python3 -c 'while True: pass'", timeout=0.5).limit == "timeout"
        assert sandbox.execute("python3 -c 'print(1)'").stdout == "1\n"
        report = sandbox.isolation_report()
        assert "artifacts" in report["landlock"] or "not in force" in report["landlock"]


def test_javascript() -> None:
    pytest.importorskip("wasmtime")
    with Sandbox(isolation="process", javascript=True, limits=LIMITS) as sandbox:
        script = "require('fs').writeFileSync('a', 'x'); console.log(process.cwd())"
        assert sandbox.execute(f'node -e "{script}"; cat a').stdout == "/workspace\nx"


# remotes


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_a_folder_is_offered(tmp_path: Path, isolation: Isolation) -> None:
    folder = host_repository(tmp_path)
    before = real(folder, "rev-parse", "main")
    with Sandbox(
        cwd="/work", env=ENV, git_remotes={"origin": folder}, isolation=isolation, limits=LIMITS
    ) as sandbox:
        result = sandbox.execute(
            "git clone -q origin c; cd c; git tag -a v -m v; for i in {1..120}; do echo $i > f$i;"
            "done; git add .; git commit -qm two; git push -q origin main v; git fetch; git log"
            " --format=%s origin/main; git push origin HEAD:refs/quarantine/x;"
            "git push origin :main"
        )
    assert result.stdout == "two\none\n"
    assert "the push waits for the host's review" in result.stderr
    assert "(funny refname)" in result.stderr
    assert "(the host's references are not deleted)" in result.stderr
    assert real(folder, "rev-parse", "main") == before
    assert real(folder, "log", "--format=%s", "refs/quarantine/heads/main") == "two\none\n"
    assert "error" not in real(folder, "fsck", "--strict")


def test_a_function_is_offered() -> None:
    pushes: list[GitPush] = []

    def review(push: GitPush) -> str | None:
        pushes.append(push)
        return None if len(pushes) == 1 else "not\nthis"

    with Sandbox(
        cwd="/work", env=ENV, git_remotes={"up": review}, isolation="process", limits=LIMITS
    ) as sandbox:
        assert sandbox.execute(MAKE + "cd o; git push up main").exit_code == 0
        second = sandbox.execute("cd /work/o; git commit -q --allow-empty -m two; git push up main")
    assert "(not this)" in second.stderr
    assert (pushes[0].remote, pushes[0].updates[0].ref) == ("up", "refs/heads/main")
    assert pushes[0].pack.startswith(b"PACK")


# TM-ISO-5
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_worker_gets_what_is_shown_and_stores_in_quarantine_only(tmp_path: Path) -> None:
    folder = host_repository(tmp_path)
    hidden = real(folder, "hash-object", "-w", "config").strip()
    operations = Operations(Limits(), lambda *_: None)
    try:
        operations.scheduler.begin(operations.context().budget)
        remotes = HostRemotes({"o": str(folder)}, operations.context)

        def ask(name: str, head: dict[str, object], *blobs: bytes) -> dict[str, Any]:
            message = Message("start", {"remote": "o", **head}, list(blobs))
            return remotes.works[name](1, message)[0]

        fetch = {"wanted": [hidden], "known": [], "shallow": [], "depth": None}
        assert "unadvertised object" in ask("git fetch", fetch)["fatal"]
        main = real(folder, "rev-parse", "main").strip()
        empty = b"PACK\0\0\0\2\0\0\0\0"
        pack = empty + hashlib.sha1(empty).digest()
        names = ["refs/quarantine/x", "refs/heads/../../hooks/update", "HEAD", "refs/heads/new"]
        updates = [text for name in names for text in (name, "0" * 40, main)]
        reasons = ask("git push", {"updates": updates}, pack)["reasons"]
        assert reasons == ["funny refname"] * 3 + [""]
        lacking = ask("git push", {"updates": ["refs/heads/y", "0" * 40, "1" * 40]}, pack)
        assert lacking["reasons"] == ["missing necessary objects"]
        assert "corrupted" in ask("git push", {"updates": []}, pack[:-1] + b"x")["fatal"]
        for wrong in ({"updates": ["a"]}, {"updates": [1, 2, 3]}, {"updates": ["r", "x", "y"]}):
            with pytest.raises(ProtocolError):
                ask("git push", wrong, pack)
    finally:
        operations.close()
    assert not (folder / "hooks/update").exists()
    assert real(folder, "for-each-ref", "--format=%(refname)") == (
        "refs/heads/main\nrefs/quarantine/heads/new\n"
    )
