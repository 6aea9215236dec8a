"""What a request of `curl` and a question to the policy cost. Run: python benchmarks/network.py

A server in another process answers on 127.0.0.1. CPU time is that of this process: what the sandbox
itself needs, also on a busy machine. The figures are the least and the median of many calls.
"""

from __future__ import annotations

import functools
import multiprocessing
import socket
import statistics
import time

from agentsandbox import NetworkPolicy, Sandbox
from agentsandbox.network import Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

CALLS = 300
RULES = 1000
BAR_GET_MS, BAR_POLICY_US = 2.0, 50.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nhello\n"

POLICIES = {
    "a host each": [f"https://host{number}.example.com/v1/" for number in range(RULES)],
    "sub-domains of a host each": [f"https://*.host{number}.example" for number in range(RULES)],
    "a path each": [f"https://api.example.com/v{number}/" for number in range(RULES)],
    "methods each": [f"GET,POST https://api.example.com/v{number}/" for number in range(RULES)],
}
QUESTIONS = {
    "a host each": "https://host999.example.com/v1/users?q=1",
    "sub-domains of a host each": "https://a.b.c.host999.example/users",
    "a path each": "https://api.example.com/v999/users",
    "methods each": "https://api.example.com/v999/users",
}


def serve(ready: Connection) -> None:
    """Answer each connection with the same response, for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        ready.send(listening.getsockname()[1])
        while True:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(ANSWER)


def answer(request: Request) -> str:
    """Answer as a function of the host."""
    return "hello\n"


def main() -> None:
    """Print a row for each kind of request and of policy."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("fork").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    policy = NetworkPolicy(
        [*POLICIES["a host each"], f"http://app.test:{port}"],
        resolve={"app.test": "127.0.0.1"},
        allow_private=["127.0.0.1"],
        hosts={"api.test": answer},
    )
    print(f"{'':44} {'CPU, least':>12} {'median':>10} {'elapsed':>10}")
    try:
        with Sandbox(network=policy) as sandbox:
            for name, url in (
                ("curl, a server on 127.0.0.1", f"http://app.test:{port}/hello"),
                ("curl, a function of the host", "http://api.test/hello"),
            ):
                script = f"curl -s {url}"
                assert sandbox.execute(script).stdout == "hello\n"
                row(name, "ms", 1e3, functools.partial(sandbox.execute, script), BAR_GET_MS)
    finally:
        server.terminate()
        server.join()
    for name, rules in POLICIES.items():
        ask_policy(name, NetworkPolicy(rules), QUESTIONS[name])


def ask_policy(name: str, policy: NetworkPolicy, url: str) -> None:
    """Print the rows of an allowed and of a refused URL."""
    refused = url.replace("9/", "9x/").replace("999.example", "999x.example")
    assert policy.refusal(url) is None
    assert policy.refusal(refused) is not None
    title = f"{RULES:,} rules, {name}"
    row(title, "µs", 1e6, lambda: policy.refusal(url), BAR_POLICY_US)
    row(f"{title}, refused", "µs", 1e6, lambda: policy.refusal(refused), BAR_POLICY_US)


def row(name: str, unit: str, scale: float, call: Callable[[], object], bar: float) -> None:
    """Measure a call and print its row."""
    for _ in range(20):
        call()
    used: list[float] = []
    elapsed: list[float] = []
    for _ in range(CALLS):
        began, cpu = time.perf_counter(), time.process_time()
        call()
        used.append((time.process_time() - cpu) * scale)
        elapsed.append((time.perf_counter() - began) * scale)
    print(
        f"{name:44} {min(used):9.2f} {unit} {statistics.median(used):7.2f} {unit}"
        f" {statistics.median(elapsed):7.2f} {unit}   (bar {bar:.0f})"
    )


if __name__ == "__main__":
    main()
