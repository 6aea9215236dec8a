"""The sandbox's own loopback: nc, curl, and what must not happen on it."""

from __future__ import annotations

import pytest

from agentsandbox import Sandbox

ONLY_OWN = "this sandbox has no network; only its own ports can be reached"
CASES = {
    "nc -l 9000 > got & echo hello | nc -N localhost 9000; wait; cat got": ("hello\n", "", 0),
    "echo page | nc -l -p 9001 -q 0 & nc -d localhost 9001; wait": ("page\n", "", 0),
    "nc -z 127.0.0.1 9000": ("", "", 1),
    "nc -zv localhost 1": (
        "", "nc: connect to localhost port 1 (tcp) failed: Connection refused\n", 1,
    ),
    "nc -l 9000 & nc -zv localhost 9000; wait": (
        "", "Connection to localhost 9000 port [tcp/*] succeeded!\n", 0,
    ),
    "nc example.com 80": (
        "",
        f"nc: connect to example.com port 80 (tcp) failed: {ONLY_OWN}\n",
        1,
    ),
    "printf 'HTTP/1.0 200 OK\\r\\n\\r\\nok\\n' | nc -lN 9002 > req & "
    "curl -s localhost:9002/x; wait; head -n 1 req": ("ok\nGET /x HTTP/1.1\r\n", "", 0),
    "nc -lk 9003 > all & for i in 1 2 3; do echo $i | nc -N localhost 9003; done; "
    "kill $!; wait; cat all": ("1\n2\n3\n", "", 0),
    "nc -w 1 -l 9005": ("", "", 1),
    "nc -l 9006 & sleep 0.01; nc -l 9006; kill $!": ("", "nc: Address already in use\n", 0),
    "seq 100000 | nc -N -l 9007 & nc -d localhost 9007 | tail -n 1; wait": ("100000\n", "", 0),
    "(sleep 0.05; echo late) | nc -Nl 9008 & nc -d localhost 9008": ("late\n", "", 0),
    "nc -lkd 9009 > /dev/null & timeout 0.1 nc localhost 9009 < /dev/zero; echo $?; kill $!": (
        "124\n", "", 0,
    ),
    "nc -l 99999": ("", "nc: port number too large: 99999\n", 1),
    "yes | nc -l 9010 & nc -d sandbox 9010 | head -n 1; kill $!": ("y\n", "", 0),
}  # fmt: skip


@pytest.mark.parametrize("script", CASES)
def test_nc(script: str) -> None:
    with Sandbox() as sandbox:
        result = sandbox.execute(script, timeout=10)
    assert (result.stdout, result.stderr, result.exit_code) == CASES[script]


def test_a_listener_of_one_call_is_there_in_the_next() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("nc -lk 9000 > got &")
        sandbox.execute("echo one | nc -N localhost 9000; echo two | nc -N localhost 9000")
        assert sandbox.execute("cat got").stdout == "one\ntwo\n"


def test_sandboxes_have_loopbacks_of_their_own() -> None:
    with Sandbox() as one, Sandbox() as other:
        one.execute("nc -lk 9000 &")
        assert one.execute("nc -z localhost 9000").exit_code == 0
        assert other.execute("nc -z localhost 9000").exit_code == 1
        with one.fork() as fork:
            assert fork.execute("nc -z localhost 9000").exit_code == 1


def test_functions_are_hosts() -> None:
    def wsgi(environ, start_response):  # type: ignore[no-untyped-def]
        start_response("201 Created", [("Content-Type", "text/x")])
        return [environ["PATH_INFO"].encode(), environ["wsgi.input"].read()]

    async def asgi(scope, receive, send):  # type: ignore[no-untyped-def]
        message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": message["body"] + b"!"})

    hosts = {
        "text.example": lambda request: f"{request.method} {request.path} {request.params}",
        "json.example": lambda request: {"got": request.json()},
        "bytes.example": lambda request: b"\x00\xff",
        "port.example:8080": lambda request: "8080",
        "localhost:3000": lambda request: request.headers["x-a"],
        "wsgi.example": wsgi,
    }
    with Sandbox(network=hosts) as sandbox:

        def run(script: str) -> str:
            return sandbox.execute(script).stdout

        assert run("curl -s 'https://text.example/a?b=1'") == "GET /a {'b': ['1']}"
        assert run("curl -s -d '[1]' https://json.example | jq -c .") == '{"got":[1]}\n'
        assert run("curl -s http://bytes.example | xxd -p") == "00ff\n"
        assert run("curl -s http://port.example:8080") == "8080"
        assert sandbox.execute("curl -s http://port.example").exit_code == 6
        assert run("curl -s -H 'X-A: b' 127.0.0.1:3000") == "b"
        assert run("curl -s -w ' %{http_code}' -d x wsgi.example/p%20q") == "/p qx 201"
        assert run("wget -qO- http://text.example/w") == "GET /w {}"

    async def main() -> str:
        with Sandbox(network={"asgi.example": asgi}) as sandbox:
            return (await sandbox.aexecute("curl -s -d hi asgi.example")).stdout

    import asyncio

    assert asyncio.run(main()) == "hi!"


def test_an_error_of_a_function_ends_the_script_and_no_more() -> None:
    def broken(request: object) -> str:
        raise RuntimeError("a secret of the host")

    with Sandbox(network={"broken.example": broken, "none.example": lambda r: 5}) as sandbox:
        for host in ("broken.example", "none.example"):
            result = sandbox.execute(f"curl -s {host}")
            assert result.exit_code == 70
            assert "secret" not in result.stderr and "Traceback" not in result.stderr
        assert sandbox.execute("echo on").stdout == "on\n"
