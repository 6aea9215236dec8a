"""Skills from elsewhere: a real HTTP server and real git repositories on this machine, and archives
that lie.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import json
import lzma
import multiprocessing
import os
import socket
import subprocess
import tarfile
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("httpx", reason="the extra `remote` is not installed")
pytest.importorskip("dulwich", reason="the extra `remote` is not installed")

from agentsandbox import NetworkPolicy
from agentsandbox.errors import (
    InvalidSkillError,
    SkillError,
    SkillLimitError,
    SkillNotFoundError,
    SkillPolicyError,
    SkillStateError,
)
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.remote.fetching import RemoteSkills
from agentsandbox.skills.remote.repositories import check_pack
from agentsandbox.skills.sources.archives import skills_in, unpack

HEAD = "---\nname: {0}\ndescription: About {0}\n---\nBody of {0}\n"
Answer = tuple[int, dict[str, str], bytes]


def head(name: str) -> bytes:
    return HEAD.replace("{0}", name).encode()


def pin_from_another_process(cache: str, key: str, digest: str) -> str:
    try:
        for number in range(20):
            RemoteSkills(NetworkPolicy(), cache)._pin(f"{key}-{number}", digest)
    except SkillPolicyError:
        return "refused"
    return "pinned"


def digest_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def tarred(
    files: dict[str, bytes], change: Callable[[tarfile.TarInfo], None] = lambda info: None
) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            change(info)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


class Server:
    """Answers GET by a table of paths, and counts."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer | Callable[[], Iterator[bytes]]] = {}
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                answer = outer.answers.get(self.path, (404, {}, b"no"))
                if callable(answer):
                    self.send_response(200)
                    self.end_headers()
                    try:
                        for chunk in answer():
                            self.wfile.write(chunk)
                    except OSError:
                        pass
                    return
                status, fields, body = answer
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **fields}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def serve(self, path: str, body: bytes, status: int = 200, **fields: str) -> str:
        self.answers[path] = (
            status,
            {name.replace("_", "-"): value for name, value in fields.items()},
            body,
        )
        return self.url + path


@contextmanager
def served() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(
        target=made.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
        thread.join(5)


@pytest.fixture
def server() -> Iterator[Server]:
    with served() as made:
        yield made


def remote(server: Server, tmp_path: Path, **options: object) -> RemoteSkills:
    policy = NetworkPolicy(
        [server.url],
        allow_private=True,
        methods=("GET", "POST"),
        **{"timeout": 5.0, "max_bytes": 1 << 20, **options},
    )  # type: ignore[arg-type]
    return RemoteSkills(policy, tmp_path / "cache")


@pytest.mark.row("S2-54")
def test_an_archive_is_fetched_once_and_pinned(server: Server, tmp_path: Path) -> None:
    url = server.serve(
        "/a.zip",
        zipped(
            {"a/SKILL.md": head("a"), "a/scripts/x.sh": b"#!/bin/sh\n", "b/SKILL.md": head("b")}
        ),
    )
    source = remote(server, tmp_path)
    skills = source.archive(url)
    assert list(SkillCatalog(skills=skills)) == ["a", "b"]
    assert source.archive(url) == skills
    assert server.asked == ["/a.zip"]
    server.serve("/a.zip", zipped({"a/SKILL.md": head("a") + b"evil"}))
    for kept in (tmp_path / "cache").glob("sha256-*"):
        kept.write_bytes(b"changed on the disk")
    with pytest.raises(SkillPolicyError, match="the content has changed"):
        source.archive(url)
    source.forget(url)
    assert "evil" in str(source.archive(url)[0].metadata.instructions)


def test_pins_of_several_processes_are_all_kept_and_the_first_stays(tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    work = [(cache, key, f"sha256:{number}") for number, key in enumerate(("a", "b", "c", "c"))]
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        found = pool.starmap(pin_from_another_process, work)
    assert found[:2] == ["pinned", "pinned"]
    assert sorted(found[2:]) == ["pinned", "refused"]
    pins = json.loads((tmp_path / "cache" / "pins.json").read_bytes())
    assert len([key for key in pins if key[0] in "ab"]) == 40
    assert len({pin for key, pin in pins.items() if key.startswith("c")}) == 1


def test_damaged_pins_are_no_reason_to_trust(server: Server, tmp_path: Path) -> None:
    url = server.serve("/a.zip", zipped({"a/SKILL.md": head("a")}))
    source = remote(server, tmp_path)
    source.archive(url)
    for damage in (b"{", b"[]", b"\xff"):
        (tmp_path / "cache" / "pins.json").write_bytes(damage)
        with pytest.raises(SkillStateError, match=r"pins.json in the cache is damaged"):
            source.archive(url)


@pytest.mark.row("S2-54")
@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress, bz2.compress, lzma.compress])
def test_tar_archives(server: Server, tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    url = server.serve("/a.tar", pack(tarred({"./SKILL.md": head("a"), "./references/r.md": b"r"})))
    (skill,) = remote(server, tmp_path).archive(url, name="a")
    assert [file.relative_path for file in skill.files] == ["SKILL.md", "references/r.md"]


def test_digests(server: Server, tmp_path: Path) -> None:
    data = zipped({"SKILL.md": head("a")})
    url = server.serve("/a.zip", data)
    source = remote(server, tmp_path)
    with pytest.raises(SkillPolicyError, match="the content has changed"):
        source.archive(url, "sha256:" + "0" * 64)
    with pytest.raises(SkillPolicyError, match="64 digits"):
        source.archive(url, "md5:1")
    assert source.archive(url, digest_of(data))[0].name == "a"
    strict = RemoteSkills(source.policy, tmp_path / "other", require_digest=True)
    with pytest.raises(SkillPolicyError, match="required"):
        strict.archive(url)
    assert strict.archive(url, digest_of(data))[0].name == "a"


def test_what_is_invalid_leaves_nothing(server: Server, tmp_path: Path) -> None:
    source = remote(server, tmp_path)
    for body in (
        b"",
        b"no archive",
        zipped({"x": b""}),
        zipped({"SKILL.md": b"no front matter"}),
        zipped({"../SKILL.md": head("a")}),
    ):
        with pytest.raises(InvalidSkillError):
            source.archive(server.serve("/bad", body))
    assert not (tmp_path / "cache").exists()
    assert source.archive(server.serve("/bad", zipped({"SKILL.md": head("a")})))[0].name == "a"


@pytest.mark.row("S2-54")
def test_an_index(server: Server, tmp_path: Path) -> None:
    document, archive = head("one"), zipped({"SKILL.md": head("two"), "x.txt": b"x"})
    server.serve("/s/one.md", document)
    server.serve("/s/two.zip", archive)
    entries = [
        {
            "name": "one",
            "type": "skill-md",
            "description": "d",
            "url": "/s/one.md",
            "digest": digest_of(document),
        },
        {
            "name": "two",
            "type": "archive",
            "description": "d",
            "url": f"{server.url}/s/two.zip",
            "digest": digest_of(archive),
        },
        {"name": "three", "type": "skill-md", "url": "/s/one.md", "digest": digest_of(document)},
        {"name": "four", "type": "skill-md", "url": "/s/one.md"},
        {
            "name": "five",
            "type": "skill-md",
            "url": "http://elsewhere.example/x",
            "digest": digest_of(b""),
        },
        {"name": "six", "type": "skill-md", "url": "/s/one.md", "digest": digest_of(b"")},
        {"name": "../seven", "type": "skill-md", "url": "/s/one.md", "digest": digest_of(document)},
        {"name": "eight", "type": "magic", "url": "/s/one.md", "digest": digest_of(document)},
        "nine",
        {"name": "one", "type": "skill-md", "url": "/s/one.md", "digest": digest_of(document)},
    ]
    server.serve("/.well-known/agent-skills/index.json", json.dumps({"skills": entries}).encode())
    found = remote(server, tmp_path).index(server.url)
    assert [skill.name for skill in found.skills] == ["one", "two"]
    assert len(found.diagnostics) == 8
    assert not [each for each in found.diagnostics if str(tmp_path) in str(each)]
    for body in (
        b"",
        b"[]",
        b"{}",
        b'{"skills": 1}',
        b"[" * 100_000,
        b'{"skills": [' + b"1," * 2000 + b"1]}",
    ):
        server.serve("/.well-known/agent-skills/index.json", body)
        with pytest.raises(SkillError):
            remote(server, tmp_path).index(server.url)


def test_the_policy_decides(server: Server, tmp_path: Path) -> None:
    url = server.serve("/a.zip", zipped({"SKILL.md": head("a")}))
    denied = RemoteSkills(NetworkPolicy(), tmp_path / "cache")
    with pytest.raises(SkillPolicyError, match="not on the list"):
        denied.archive(url)
    private = RemoteSkills(NetworkPolicy([server.url]), tmp_path / "cache")
    with pytest.raises(SkillPolicyError, match="private or reserved"):
        private.archive(url)
    for wrong in (
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "http://user:pw@127.0.0.1/x",
        "nothing",
    ):
        with pytest.raises(SkillPolicyError):
            remote(server, tmp_path).archive(wrong)
    assert server.asked == []


def test_redirections_are_asked_about_too(server: Server, tmp_path: Path) -> None:
    url = server.serve("/here", b"", 302, Location="/there")
    server.serve("/there", zipped({"SKILL.md": head("a")}))
    source = remote(server, tmp_path)
    assert source.archive(url)[0].name == "a"
    with pytest.raises(SkillPolicyError, match="not on the list"):
        source.archive(server.serve("/out", b"", 302, Location="http://elsewhere.example/x"))
    with pytest.raises(SkillPolicyError):
        source.archive(server.serve("/file", b"", 302, Location="file:///etc/passwd"))
    with pytest.raises(SkillLimitError, match="redirections"):
        source.archive(server.serve("/loop", b"", 302, Location="/loop"))
    with pytest.raises(SkillNotFoundError, match="404"):
        source.archive(f"{server.url}/gone")


def test_a_server_that_never_comes_to_the_point(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def dribble() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 200 OK\r\n")
                try:
                    for number in range(100):
                        connection.sendall(b"X-%d: x\r\n" % number)
                        time.sleep(0.05)
                except OSError:
                    pass

        threading.Thread(target=dribble, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        source = RemoteSkills(
            NetworkPolicy([url], allow_private=True, timeout=0.4), tmp_path / "cache"
        )
        started = time.monotonic()
        with pytest.raises(SkillLimitError, match=r"took longer than 0\.4 seconds"):
            source.archive(f"{url}/a.zip")
        assert time.monotonic() - started < 3


def test_size_and_time_are_limited(server: Server, tmp_path: Path) -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 65536

    def slow() -> Iterator[bytes]:
        while True:
            yield b"x"
            time.sleep(0.05)

    server.answers |= {"/endless": endless, "/slow": slow}
    with pytest.raises(SkillLimitError, match="more than"):
        remote(server, tmp_path).archive(f"{server.url}/endless")
    started = time.monotonic()
    with pytest.raises(SkillLimitError, match="longer"):
        remote(server, tmp_path, timeout=0.5).archive(f"{server.url}/slow")
    assert time.monotonic() - started < 4
    with pytest.raises(SkillPolicyError, match="compressed"):
        remote(server, tmp_path).archive(
            server.serve("/gzip", gzip.compress(b"x"), Content_Encoding="gzip")
        )


def test_secrets_go_where_they_belong(server: Server, tmp_path: Path) -> None:
    url = server.serve("/a.zip", zipped({"SKILL.md": head("a")}))
    source = remote(
        server,
        tmp_path,
        headers={"127.0.0.1": {"Authorization": "Bearer t"}, "elsewhere.example": {"X": "y"}},
    )
    assert source.archive(url)[0].name == "a"


def link(info: tarfile.TarInfo) -> None:
    if info.name == "l":
        info.type, info.linkname, info.size = tarfile.SYMTYPE, "/etc/passwd", 0


def device(info: tarfile.TarInfo) -> None:
    if info.name == "l":
        info.type, info.size = tarfile.CHRTYPE, 0


def hard_link(info: tarfile.TarInfo) -> None:
    if info.name == "l":
        info.type, info.linkname, info.size = tarfile.LNKTYPE, "SKILL.md", 0


def extended(data: bytes, kind: bytes = b"x") -> bytes:
    """A tar archive whose first header says more about the second."""
    info = tarfile.TarInfo("PaxHeader")
    info.size, info.type = len(data), kind
    return info.tobuf() + data + bytes(-len(data) % 512) + tarred({"SKILL.md": head("a")})


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(tarred({"SKILL.md": head("a"), "l": b""}, link), id="link out"),
        pytest.param(tarred({"SKILL.md": head("a"), "l": b""}, device), id="device"),
        pytest.param(tarred({"SKILL.md": head("a"), "../x": b""}), id="traversal"),
        pytest.param(tarred({"SKILL.md": head("a"), "/etc/x": b""}), id="absolute"),
        pytest.param(zipped({"SKILL.md": head("a"), "C:\\x": b""}), id="drive"),
        pytest.param(zipped({"SKILL.md": head("a"), "bomb": bytes(80 << 20)}), id="zip bomb"),
        pytest.param(
            gzip.compress(tarred({"SKILL.md": head("a"), "bomb": bytes(80 << 20)})), id="tar bomb"
        ),
        pytest.param(
            zipped({"SKILL.md": head("a"), "x": b"x"}, zipfile.ZIP_BZIP2), id="zip with bzip2"
        ),
        pytest.param(
            zipped({"SKILL.md": head("a"), "x": b"x"}, zipfile.ZIP_LZMA), id="zip with lzma"
        ),
        pytest.param(
            zipped({"SKILL.md": head("a"), "XYZ": b"x"}).replace(b"XYZ", b"\0YZ"), id="no name"
        ),
        pytest.param(zipped({f"f{number}": b"" for number in range(6000)}), id="many files"),
        pytest.param(zipped({"SKILL.md": head("a")})[:-10], id="cut"),
        pytest.param(gzip.compress(tarred({"SKILL.md": head("a")}))[:-300], id="cut tar"),
        pytest.param(extended(b"5 aa\n" * 24_000 + b"="), id="large pax header"),
        pytest.param(extended(b"1" * 1_000_000, b"g"), id="large global header"),
        pytest.param(extended(b"x" * 1_000_000, b"L"), id="long name"),
        pytest.param(extended(b"11 path=ab\n" * 500) * 300, id="many headers"),
        pytest.param(extended(b"abc\0", b"L")[:1024] * 3000, id="headers of headers"),
        pytest.param(
            zipped({"a/SKILL.md": head("x"), "b/SKILL.md": head("x")}).replace(b"q", b"q"),
            id="one name twice",
        ),
    ],
)
def test_archives_that_are_refused(data: bytes) -> None:
    began = time.monotonic()
    with pytest.raises(SkillError):
        skills_in(unpack(data))
    assert time.monotonic() - began < 5


def test_a_hard_link_is_a_copy() -> None:
    (skill,) = skills_in(unpack(tarred({"SKILL.md": head("a"), "l": b""}, hard_link)))
    assert {file.relative_path: file.content for file in skill.files}["l"] == head("a")


def test_what_extended_headers_are_for() -> None:
    name = "references/" + "x" * 200 + "/é.md"
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        target = io.BytesIO()
        with tarfile.open(
            fileobj=target,
            mode="w",
            format=form,
            pax_headers={"comment": "c" * 40} if form == tarfile.PAX_FORMAT else {},
        ) as archive:
            for path, content in (("SKILL.md", head("a")), (name, b"x")):
                info = tarfile.TarInfo(path)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
        (skill,) = skills_in(unpack(target.getvalue()))
        assert [file.relative_path for file in skill.files] == ["SKILL.md", name]


def test_many_skills_in_one_archive() -> None:
    files = {f"d{number}/SKILL.md": head(f"s{number}") for number in range(2000)}
    began = time.monotonic()
    assert len(skills_in(unpack(zipped({**files, "other/x": b""})))) == 2000
    assert time.monotonic() - began < 10
    nested = {
        "a/SKILL.md": head("a"),
        "a/b/SKILL.md": head("b"),
        "c/d/SKILL.md": head("d"),
        "c/d/x": b"",
        "e/f/g/SKILL.md": head("g"),
    }
    assert [skill.name for skill in skills_in(unpack(zipped(nested)))] == ["a", "d"]


def git(folder: Path, *words: str) -> str:
    where = [
        "git",
        "-C",
        str(folder),
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.com",
        "-c",
        "commit.gpgsign=false",
    ]
    return subprocess.run(
        [*where, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    (folder / "skills" / "a" / "scripts").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "skills" / "a" / "SKILL.md").write_bytes(head("a"))
    (folder / "skills" / "a" / "scripts" / "run.sh").write_text("#!/bin/sh\n")
    (folder / "skills" / "a" / "link.md").symlink_to("SKILL.md")
    hook = folder / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/executed\n")
    hook.chmod(0o755)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    git(folder, "tag", "-a", "v1", "-m", "v1")
    return folder


@pytest.mark.row("S2-54")
def test_a_local_repository(repository: Path, tmp_path: Path) -> None:
    source = RemoteSkills(NetworkPolicy(), tmp_path / "cache")
    (skill,) = source.git(str(repository), "main", below="skills")
    assert [file.relative_path for file in skill.files] == ["SKILL.md", "link.md", "scripts/run.sh"]
    (repository / "skills" / "a" / "SKILL.md").write_bytes(head("a") + b"two\n")
    git(repository, "commit", "-qam", "two")
    assert source.git(str(repository), "main", below="skills") == [skill]
    assert source.git(str(repository), "v1", below="skills") == [skill]
    source.forget(str(repository), "main")
    (changed,) = source.git(str(repository), "main", below="skills")
    assert changed != skill
    assert source.git(
        f"file://{repository}", git(repository, "rev-parse", "HEAD~1"), below="skills"
    ) == [skill]
    for wrong in ("nope", "0" * 40, "../../etc/passwd"):
        with pytest.raises(SkillError):
            source.git(str(repository), wrong, below="skills")
    with pytest.raises(InvalidSkillError):
        source.git(str(repository), "main", below="nothing")
    with pytest.raises(SkillNotFoundError):
        source.git(str(tmp_path), "main")
    assert not (tmp_path / "executed").exists()


MOVED = {
    "/old/repo": "/repo/.git",
    "/away": "http://elsewhere.example",
    "/file": "file:///etc",
    "/loop": "/loop",
}


class GitBackend(BaseHTTPRequestHandler):
    """git's own server for HTTP."""

    root = ""

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        for moved, place in MOVED.items():
            if path.startswith(moved):
                self.send_response(301)
                self.send_header("Location", f"{place}{self.path.removeprefix(moved)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        length = int(self.headers.get("Content-Length") or 0)
        environment = {
            **os.environ,
            "GIT_PROJECT_ROOT": self.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(length),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        ran = subprocess.run(
            ["git", "http-backend"],
            input=self.rfile.read(length),
            env=environment,
            capture_output=True,
            check=False,
        )
        head, _, body = ran.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in {**fields, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *arguments: object) -> None: ...


@pytest.fixture(params=["git", "dulwich"])
def git_url(request: pytest.FixtureRequest, repository: Path) -> Iterator[str]:
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    from dulwich.repo import Repo
    from dulwich.server import DictBackend
    from dulwich.web import make_wsgi_chain

    class Quiet(WSGIRequestHandler):
        def log_message(self, *arguments: object) -> None: ...

    class Backend(GitBackend):
        root = str(repository.parent)

    server: HTTPServer
    if request.param == "git":
        server, path = HTTPServer(("127.0.0.1", 0), Backend), "/repo/.git"
    else:
        application = make_wsgi_chain(DictBackend({"/repo.git": Repo(str(repository))}))
        server, path = make_server("127.0.0.1", 0, application, handler_class=Quiet), "/repo.git"
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}{path}"
    server.shutdown()
    server.server_close()
    thread.join(5)


@pytest.mark.row("S2-54")
@pytest.mark.filterwarnings("ignore")
def test_a_repository_over_http(git_url: str, repository: Path, tmp_path: Path) -> None:
    policy = NetworkPolicy([git_url], methods=("GET", "POST"), allow_private=True, timeout=10)
    source = RemoteSkills(policy, tmp_path / "cache")
    (skill,) = source.git(git_url, "main", below="skills")
    assert (skill.name, len(skill.files)) == ("a", 3)
    assert source.git(git_url, "v1", below="skills") == [skill]
    assert source.git(git_url, below="skills") == [skill]
    assert source.git(git_url, git(repository, "rev-parse", "HEAD"), below="skills") == [skill]
    with pytest.raises(SkillNotFoundError):
        source.git(git_url, "nope")
    with pytest.raises(SkillPolicyError):
        RemoteSkills(NetworkPolicy([git_url], allow_private=True), tmp_path / "x").git(
            git_url, "main"
        )
    with pytest.raises(SkillPolicyError, match="private"):
        RemoteSkills(NetworkPolicy([git_url], methods=("GET", "POST")), tmp_path / "x").git(
            git_url, "main"
        )
    with pytest.raises(SkillLimitError):
        small = NetworkPolicy([git_url], methods=("GET", "POST"), allow_private=True, max_bytes=100)
        RemoteSkills(small, tmp_path / "x").git(git_url, "main")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("git_url", ["git"], indirect=True)
def test_a_repository_that_moved(git_url: str, tmp_path: Path) -> None:
    host = git_url.removesuffix("/repo/.git")
    policy = NetworkPolicy([host], methods=("GET", "POST"), allow_private=True, timeout=10)
    (skill,) = RemoteSkills(policy, tmp_path / "cache").git(
        f"{host}/old/repo", "main", below="skills"
    )
    assert skill.name == "a"
    for place, error in (
        ("away", "not on the list"),
        ("file", "not an http or https URL"),
        ("loop", "redirections"),
    ):
        with pytest.raises((SkillPolicyError, SkillLimitError), match=error):
            RemoteSkills(policy, tmp_path / "x").git(f"{host}/{place}/repo", "main")
    narrow = NetworkPolicy(
        [f"{host}/old/"], methods=("GET", "POST"), allow_private=True, timeout=10
    )
    with pytest.raises(SkillPolicyError, match="not on the list"):
        RemoteSkills(narrow, tmp_path / "x").git(f"{host}/old/repo", "main")


def packed(*objects: tuple[int, int, bytes]) -> bytes:
    out = b"PACK" + (2).to_bytes(4, "big") + len(objects).to_bytes(4, "big")
    for kind, size, content in objects:
        low, size = size & 15, size >> 4
        header = bytearray([kind << 4 | low | (128 if size else 0)])
        while size:
            header.append(size & 127 | (128 if size > 127 else 0))
            size >>= 7
        out += bytes(header) + zlib.compress(content)
    return out + hashlib.sha1(out).digest()


def test_packs_are_measured_before_they_are_unpacked(repository: Path) -> None:
    check_pack(packed((3, 5, b"hello"), (3, 0, b""), (3, 100_000, bytes(100_000))))
    git(repository, "gc", "-q")
    for path in (repository / ".git" / "objects" / "pack").glob("*.pack"):
        check_pack(path.read_bytes())
    for bad in (
        b"",
        b"PACK" + bytes(40),
        packed((3, 4, b"hello")),
        packed((3, 6, b"hello")),
        packed((3, 5, b"hello"))[:-24],
        packed((3, 1 << 40, b"x")),
        packed(*[(3, 60 << 20, b"x")] * 5),
        packed((7, 3, b"\x01\x80\x80")),
    ):
        if bad == b"PACK" + bytes(40):
            check_pack(bad)  # no objects is no harm
            continue
        with pytest.raises((InvalidSkillError, SkillLimitError)):
            check_pack(bad)
