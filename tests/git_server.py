"""Repositories behind real git's http-backend on 127.0.0.1, for tests of fetching and pushing."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agentsandbox import NetworkPolicy

GIT = shutil.which("git")
BACKEND = Path("/usr/lib/git-core/git-http-backend")
ENV = {
    "GIT_AUTHOR_NAME": "A U Thor", "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "C O Mitter", "GIT_COMMITTER_EMAIL": "c@example.com",
    "GIT_AUTHOR_DATE": "1700000000 +0000", "GIT_COMMITTER_DATE": "1700000000 +0000",
}  # fmt: skip
real_git = pytest.mark.skipif(GIT is None or not BACKEND.exists(), reason="needs git")


def real(folder: Path, *words: str, stdin: bytes = b"") -> str:
    done = subprocess.run(
        [str(GIT), "-C", str(folder), "-c", "safe.directory=*", *words],
        capture_output=True, check=False, input=stdin,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), **ENV},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def policy(port: int, **more: object) -> NetworkPolicy:
    return NetworkPolicy(
        [f"http://git.test:{port}"], methods=("GET", "POST"), resolve={"git.test": "127.0.0.1"},
        allow_private=["127.0.0.1"], **more,  # type: ignore[arg-type]
    )  # fmt: skip


def backend_for(root: Path) -> type[BaseHTTPRequestHandler]:
    """Return a server of the repositories in a folder, by real git's http-backend."""

    class Backend(BaseHTTPRequestHandler):
        def answer(self) -> None:
            if self.headers.get("Authorization") != "Bearer secret":
                self.send_error(401)
                return
            path, _, query = self.path.partition("?")
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            ran = subprocess.run(
                [str(BACKEND)], input=body, capture_output=True, check=False,
                env={"GIT_PROJECT_ROOT": str(root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
                     "QUERY_STRING": query, "REQUEST_METHOD": self.command, "HOME": str(root),
                     "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                     "CONTENT_LENGTH": str(len(body)), "PATH": "/usr/bin:/bin",
                     "REMOTE_ADDR": "127.0.0.1", "GIT_CONFIG_COUNT": "1",
                     "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"},
            )  # fmt: skip
            head, _, rest = ran.stdout.partition(b"\r\n\r\n")
            lines = [line.split(b": ", 1) for line in head.split(b"\r\n") if b": " in line]
            status = next((value[:3] for key, value in lines if key == b"Status"), b"200")
            self.send_response(int(status))
            for key, value in lines:
                if key != b"Status":
                    self.send_header(key.decode(), value.decode())
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest)

        do_GET = do_POST = answer

        def log_message(self, *_: object) -> None:
            return

    return Backend
