"""The way out, against real servers on the loopback of this machine, most of them hostile."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentsandbox import NetworkPolicy, Sandbox
from tests.network.server import serving

HERE = "127.0.0.1"
PEM = Path(__file__).with_name("server.pem")
Answer = Callable[[socket.socket], object]


@contextmanager
def server(answer: Answer, *, tls: bool = False) -> Iterator[int]:
    """Answer each connection in a thread of its own; yield the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if tls else None
    if context is not None:
        context.load_cert_chain(PEM)

    def serve(made: socket.socket) -> None:
        try:
            with context.wrap_socket(made, server_side=True) if context else made as connection:
                answer(connection)
        except OSError:
            pass  # the client went away, as most of these tests want

    with socket.create_server((HERE, 0), backlog=64) as listener:
        threads: list[threading.Thread] = []

        def accept() -> None:
            while True:
                try:
                    made, _ = listener.accept()
                except OSError:
                    return
                threads.append(threading.Thread(target=serve, args=(made,), daemon=True))
                threads[-1].start()

        accepting = threading.Thread(target=accept, daemon=True)
        accepting.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join(10)
                assert not thread.is_alive(), "a connection was left open"


def head_of(connection: socket.socket) -> bytes:
    head = b""
    while b"\r\n\r\n" not in head:
        block = connection.recv(65536)
        if not block:
            break
        head += block
    return head


def saying(*blocks: bytes) -> Answer:
    """Send the blocks and close."""

    def answer(connection: socket.socket) -> None:
        head_of(connection)
        for block in blocks:
            connection.sendall(block)

    return answer


def policy(port: int, **more: Any) -> NetworkPolicy:
    more = {"resolve": {"server.test": HERE, "other.test": HERE}, "allow_private": [HERE], **more}
    allow = [f"http://server.test:{port}", f"http://other.test:{port}/echo"]
    return NetworkPolicy(more.pop("allow", allow), **more)


def run(port: int, script: str, *, seconds: float = 20, **more: Any) -> tuple[str, str, int]:
    with Sandbox(network=policy(port, **more), env={"U": f"http://server.test:{port}"}) as sandbox:
        result = sandbox.execute(script, timeout=seconds)
        return result.stdout, result.stderr, result.exit_code


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture(scope="module")
def site() -> Iterator[int]:
    with serving() as port:
        yield port


def test_requests_arrive(site: int) -> None:
    out, err, status = run(
        site, "curl -sS $U/hello; curl -sS -d a=b $U/echo | tail -n 1", methods=["GET", "POST"]
    )
    assert (out, err, status) == ("hello\na=b\n", "", 0)


def test_what_is_not_on_the_list(site: int) -> None:
    for url, why, number in (
        ("http://else.test/", "http://else.test is not on the list of allowed addresses", 6),
        (f"https://server.test:{site}/", "is not on the list of allowed addresses", 6),
        (f"http://other.test:{site}/hello", "addresses with this path", 7),
        (f"-X DELETE http://server.test:{site}/", "the method DELETE is not allowed", 7),
        (f"-H 'Host: else.test' http://server.test:{site}/", "Host must name the host", 7),
        (f"-H $'A: b\\r\\nC: d' http://server.test:{site}/", "must be one line", 7),
    ):
        out, err, status = run(site, f"curl -sS {url}")
        assert (out, status) == ("", number), url
        assert why in err.splitlines()[-1]
        assert "refuses this" in err


def test_the_loopback_of_the_machine_is_not_reached(site: int) -> None:
    """Not even if the policy names it: these names are the sandbox."""
    for host in (
        "127.0.0.1",
        "localhost",
        "[::1]",
        "0.0.0.0",
        "2130706433",
        "0x7f.1",
        "a.localhost",
    ):
        url = f"http://{host}:{site}"
        allow = [url] if host != "0x7f.1" else []
        out, err, status = run(site, f"curl -sS '{url}/hello'", allow=allow, allow_private=True)
        assert (out, status) == ("", 7), host
        assert "Couldn't connect to server" in err


def test_addresses_are_checked(site: int) -> None:
    def refused(**more: Any) -> str:
        out, err, status = run(site, "curl -sS $U/hello", **more)
        assert (out, status) == ("", 7)
        return err

    assert "127.0.0.1 is a private or reserved address" in refused(allow_private=False)
    assert "169.254.169.254 is a private" in refused(
        allow_private=True, resolve={"server.test": "169.254.169.254"}
    )
    both = {"server.test": ["127.0.0.2", HERE]}
    assert "127.0.0.1 is a private" in refused(allow_private=["127.0.0.2"], resolve=both)
    assert "::ffff:127.0.0.1 is a private" in refused(
        allow_private=False, resolve={"server.test": "::ffff:127.0.0.1"}
    )


def test_a_name_is_resolved_once_for_each_connection(site: int) -> None:
    """Rebinding: the address that is checked is the one that is connected to."""
    answers = [["127.0.0.1"], ["127.0.0.9"], ["127.0.0.1"]]
    asked = []

    def resolve(host: str) -> list[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    out, err, status = run(
        site, "curl -sS $U/hello; curl -sS $U/hello; curl -sS $U/hello", resolve=resolve
    )
    assert (out, status) == ("hello\nhello\n", 0)
    assert "127.0.0.9 is a private or reserved address" in err
    assert asked == ["server.test"] * 3


def test_secrets_go_to_their_host_and_are_not_shown(site: int) -> None:
    secrets = {"headers": {"server.test": {"X-Key": "s3cr3t"}},
               "credentials": {f"server.test:{site}": "t0k3n"}}  # fmt: skip
    out, _, _ = run(site, "curl -sS $U/echo -H 'X-Key: mine'", **secrets)
    assert "X-Key: s3cr3t\n" in out and "Authorization: Bearer t0k3n\n" in out
    assert "mine" not in out
    out, err, status = run(
        site,
        f"curl -vsSL '$U/goto/302?http://other.test:{site}/echo' -D heads -w '%{{json}}'; "
        "cat heads; set".replace("'$U", "$U'"),
        **secrets,
    )
    assert status == 0 and "GET /echo" in out
    assert "s3cr3t" not in out + err and "t0k3n" not in out + err


def test_every_redirection_is_checked(site: int) -> None:
    for place, why in (
        ("http://else.test/", "else.test is not on the list"),
        (f"http://other.test:{site}/hello", "with this path"),
        (f"http://server.test:{site}/a/%2e%2e/b", ""),
        ("http://169.254.169.254/latest/", "169.254.169.254 is not on the list"),
        (f"http://user@else.test:{site}/", "is not on the list"),
    ):
        out, err, status = run(site, f"curl -sSL $U/goto/302?'{place}'")
        assert why in err
        assert "hello" not in out
        assert status in (0, 3, 6, 7)
    out, err, status = run(site, f"curl -sSL $U/goto/302?http://127.0.0.1:{site}/hello")
    assert (out, status) == ("", 7)


HOSTILE = {
    "no colon": (OK + b"nonsense\r\n\r\n", 8),
    "control characters": (OK + b"A: b\0c\r\n\r\n", 8),
    "a name with blanks": (OK + b"A b : c\r\n\r\n", 8),
    "two lengths": (OK + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 8),
    "a length that is none": (OK + b"Content-Length: -5\r\n\r\nabcd", 8),
    "a huge length": (OK + b"Content-Length: 99999999999999\r\n\r\nabcd", 63),
    "many headers": (OK + b"A: b\r\n" * 40_000 + b"\r\n", 8),
    "a long header": (OK + b"A: " + b"b" * 300_000 + b"\r\n\r\n", 8),
    "a long first line": (b"HTTP/1.1 200 " + b"O" * 300_000 + b"\r\n\r\n", 8),
    "no end of information": (b"HTTP/1.1 103 Early\r\n\r\n" * 100, 8),
    "switching protocols": (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", 8),
    "not HTTP": (b"220 mail.example ESMTP\r\n", 1),
    "nothing": (b"", 52),
    "cut": (OK + b"Content-Length: 10\r\n\r\nabc", 18),
    "chunk of garbage": (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 56),
    "chunk of 2**64": (OK + b"Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\nab", 18),
    "both framings": (
        OK + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\na\r\n0\r\n\r\n", 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_responses(name: str) -> None:
    data, wanted = HOSTILE[name]
    with server(saying(data)) as port:
        _, err, status = run(port, "curl -sS -o out $U/")
    assert status == wanted, err
    assert "Traceback" not in err


def test_responses_without_an_end() -> None:
    def endless(connection: socket.socket) -> None:
        head = head_of(connection)
        connection.sendall(OK + b"\r\n")
        block = b"\r\n" if b"/lines" in head else b"x" * 65536
        while True:
            connection.sendall(block)

    with server(endless) as port:
        assert run(port, "curl -sS -o out $U/", max_bytes=300_000)[2] == 63
        assert run(port, "curl -sS $U/ | head -c 100 | wc -c", max_bytes=10**9)[0] == "100\n"
        result = run(port, "curl -sS -o out $U/", max_bytes=10**12)
        assert result[1].startswith("curl: (23)")  # the sandbox's disk is full

    def headers(connection: socket.socket) -> None:
        head_of(connection)
        connection.sendall(OK)
        while True:
            connection.sendall(b"A: b\r\n" * 1000)

    with server(headers) as port:
        assert run(port, "curl -sS -o out $U/")[2] == 8


def test_bombs() -> None:
    data = gzip.compress(b"\0" * 50_000_000)
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(data)
    with server(saying(head, data)) as port:
        assert run(port, "curl -sS --compressed -o out $U/", max_bytes=10_000_000)[2] == 63
        assert run(port, "curl -sS --compressed $U/ | wc -c", max_bytes=10**8)[0] == "50000000\n"


def test_slow_servers_are_left_in_time() -> None:
    left = threading.Event()

    def slow(connection: socket.socket) -> None:
        head_of(connection)
        connection.sendall(OK + b"Content-Length: 1000\r\n\r\n")
        while not left.wait(0.02):
            connection.sendall(b"x")

    with server(slow) as port:
        _, err, status = run(port, "curl -sS -m 0.3 -o out $U/")
        assert status == 28 and " out of 1000 bytes received" in err
        _, err, status = run(port, "curl -sS -o out $U/", timeout=0.3)
        assert status == 28
        _, err, status = run(port, "curl -sS -o out $U/", seconds=0.3)
        assert status == 124
        assert run(port, "timeout 0.3 curl -sS -o out $U/")[2] == 124
        left.set()


def test_a_server_that_does_not_accept() -> None:
    with socket.create_server((HERE, 0), backlog=1) as listener:
        port = listener.getsockname()[1]
        held = []
        for _ in range(4):
            made = socket.socket()
            made.setblocking(False)
            made.connect_ex((HERE, port))
            held.append(made)
        _, err, status = run(port, "curl -sS --connect-timeout 0.3 $U/")
        assert status == 28 and "Timeout was reached" in err
        for made in held:
            made.close()


def test_cancel_and_the_event_loop() -> None:
    arrived, left = threading.Event(), threading.Event()

    def silent(connection: socket.socket) -> None:
        head_of(connection)
        arrived.set()
        connection.recv(1)  # until the client closes
        left.set()

    async def main(port: int) -> int:
        turns = 0
        with Sandbox(network=policy(port)) as sandbox:
            task = asyncio.create_task(sandbox.aexecute(f"curl -sS http://server.test:{port}/"))
            while not arrived.is_set():
                await asyncio.sleep(0.001)
                turns += 1
            for _ in range(20):
                await asyncio.sleep(0.001)
                turns += 1
            assert not task.done()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await sandbox.aexecute("echo on")).stdout == "on\n"
        return turns

    with server(silent) as port:
        assert asyncio.run(main(port)) > 20
        assert left.wait(10)
        arrived.clear()
        left.clear()
        with Sandbox(network=policy(port)) as sandbox:
            threading.Thread(target=lambda: arrived.wait(10) and sandbox.cancel()).start()
            result = sandbox.execute(f"curl -sS http://server.test:{port}/")
        assert result.limit == "cancelled"
        assert left.wait(10)


def test_requests_run_beside_each_other() -> None:
    """No request is answered before all have arrived."""
    everybody = threading.Barrier(20, timeout=15)

    def together(connection: socket.socket) -> None:
        head_of(connection)
        everybody.wait()
        connection.sendall(OK + b"Content-Length: 3\r\n\r\nok\n")

    with server(together) as port:
        out, _, _ = run(port, "for n in {1..20}; do curl -sS $U/ & done; wait")
    assert out == "ok\n" * 20


def test_async_functions_are_hosts() -> None:
    async def handler(request: Any) -> dict[str, str]:
        await asyncio.sleep(0)
        return {"path": request.path}

    async def main() -> str:
        with Sandbox(network={"api.example": handler}) as sandbox:
            return (await sandbox.aexecute("curl -s https://api.example/a | jq -r .path")).stdout

    assert asyncio.run(main()) == "/a\n"


def test_tls() -> None:
    with server(saying(OK + b"Content-Length: 3\r\n\r\nok\n"), tls=True) as port:
        allow = {"allow": [f"https://server.test:{port}"]}
        url = f"https://server.test:{port}/"
        _, err, status = run(port, f"curl -sS {url}", **allow)
        assert status == 60
        assert err.startswith("curl: (60) SSL certificate problem: self-signed certificate\n")
        assert run(port, f"curl -sSk {url}", **allow) == ("ok\n", "", 0)
    with server(lambda connection: connection.sendall(OK + b"\r\n")) as port:
        allow = {"allow": [f"https://server.test:{port}"]}
        assert run(port, f"curl -sS https://server.test:{port}/", **allow)[2] == 35

    def silent(connection: socket.socket) -> None:
        while connection.recv(100_000):
            pass

    with server(silent) as port:
        allow = {"allow": [f"https://server.test:{port}"]}
        assert run(port, f"curl -sS -m 0.3 https://server.test:{port}/", **allow)[2] == 28


def test_responses_are_recorded_and_replayed(tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    more: dict[str, Any] = {
        "records": file,
        "methods": ["GET", "POST", "HEAD"],
        "headers": {"server.test": {"X-Key": "Bearer s3cr3t-value"}},
    }
    script = (
        "curl -sS $U/hello; curl -sS $U/echo; curl -sS -d a=1 $U/form; curl -sS -d a=2 $U/form; "
        "curl -sS -o /dev/null -c jar '$U/cookies/set?id=hidden'; curl -sS $U/echo -o e; "
        "curl -sSI $U/hello; curl -sS --compressed $U/packed/gzip | md5sum"
    ).replace("'$U", "$U'")
    with serving() as port:
        first = run(port, script, **more)
        assert first[2] == 0
    assert "s3cr3t" in first[0]
    text = file.read_text()
    assert "s3cr3t" not in text and "hidden" not in text.replace("id=hidden", "")
    again = run(port, script, **more, record="never")
    assert again == (first[0].replace("Bearer s3cr3t-value", "[secret]"), "", 0)
    out, err, status = run(port, "curl -sS $U/new", **more, record="never")
    assert (out, status) == ("", 7) and "is recorded" in err


def test_a_file_that_holds_no_records(tmp_path: Path) -> None:
    file = tmp_path / "records.json"
    file.write_text("[]")
    with pytest.raises(ValueError, match="does not hold records"):
        NetworkPolicy(["https://a.example"], records=file)
