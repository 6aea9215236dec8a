"""git over HTTP: a real server, real git's http-backend, on the other side."""

from __future__ import annotations

import subprocess
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from agentsandbox import Sandbox
from tests.git_server import ENV, GIT, backend_for, policy, real, real_git, serving


@real_git
def test_fetching_from_a_real_server(tmp_path: Path) -> None:
    source = tmp_path / "s"
    source.mkdir()
    real(source, "init", "-q", "-b", "main")
    for number in range(4):
        (source / f"f{number}").write_text("line\n" * 1000 * (number + 1))
        real(source, "add", ".")
        real(source, "commit", "-qm", f"commit {number}")
    real(source, "tag", "-a", "-m", "one", "v1")
    real(tmp_path, "clone", "-q", "--bare", "s", "r.git")
    with serving(backend_for(tmp_path)) as port:
        network = policy(port, credentials={"git.test": "secret"})
        url = f"http://git.test:{port}/r.git"
        with Sandbox(cwd="/work", env=ENV, network=network) as sandbox:
            result = sandbox.execute(
                f"git clone -q {url} c && cd c && git log --format=%s && git describe --tags;"
                f"git ls-remote origin; git clone -q --depth 1 {url} ../d;"
                "git -C ../d log --format=%s;"
                "env | grep -c secret; git config -l | grep -c secret"
            )
            assert result.exit_code == 1, result.stderr
            head = real(source, "rev-parse", "HEAD").strip()
            expected = "commit 3\ncommit 2\ncommit 1\ncommit 0\nv1\n" + f"{head}\tHEAD\n"
            assert result.stdout.startswith(expected)
            assert result.stdout.endswith("commit 3\n0\n0\n")
            (source / "new").write_text("new\n")
            real(source, "add", ".")
            real(source, "commit", "-qm", "later")
            real(source, "push", "-q", "../r.git", "main")
            more = sandbox.execute("cd c; git pull -q && git log -1 --format=%s; git status -sb")
            assert more.stdout == "later\n## main...origin/main\n"
            missing = sandbox.execute(f"git clone -q http://git.test:{port}/no.git x; ls x")
            assert "not found" in missing.stderr
            sandbox.files.export(tmp_path / "out", "/work/c")
        assert "error" not in real(tmp_path / "out", "fsck", "--strict")
        with Sandbox(cwd="/work", env=ENV, network=policy(port)) as stranger:
            denied = stranger.execute(f"git clone {url} c")
            assert "Authentication failed" in denied.stderr


HOOKS = {
    "update": '[ "$1" != refs/heads/closed ] || { echo closed for now; exit 1; }',
    "pre-receive": 'echo "$GIT_PUSH_OPTION_COUNT options: $GIT_PUSH_OPTION_0"',
}
PUSHES = [
    "git push -u origin main",
    "git push origin main",
    "git commit -q --allow-empty -m 2; git tag -a -m v2 v2; git push origin HEAD:topic v2",
    "git push --porcelain origin main topic:topic",
    "git push origin main:closed main:open",
    "git push --atomic origin main:closed main:wide",
    "git push --atomic origin main:wide main:wider",
    "git push origin :open",
    "git push -q origin :not-there",
    "git commit -q --amend --allow-empty -m 2b; git push origin main",
    "git push -f origin main",
    "git push --force-with-lease=main:v2 origin main~0:main",
    "git push -o one -o two origin main:refs/notes/x",
    "git push origin main:refs/heads/wide/deeper",
    "git push --dry-run origin main:dry",
    "git push --all origin",
    "git push --tags origin",
    "for at in $(seq 150); do echo $at > f$at; done; git add .; git commit -qm many; git push",
    "git push origin HEAD:refs/heads/../x",
    "git push --mirror origin",
]


def served(folder: Path) -> Path:
    """Return a bare repository that takes pushes and has hooks."""
    repository = folder / "r.git"
    real(folder, "init", "-q", "--bare", "-b", "main", "r.git")
    for name, value in (
        ("http.receivepack", "true"),
        ("receive.advertisePushOptions", "true"),
        ("receive.denyDeletes", "false"),
    ):
        real(repository, "config", name, value)
    for name, text in HOOKS.items():
        hook = repository / "hooks" / name
        hook.write_text(f"#!/bin/sh\n{text}\n")
        hook.chmod(0o755)
    return repository


# TM-GIT-7
@real_git
def test_pushing_to_a_real_server_as_real_git_does(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    served(ours)
    served(theirs)
    begin = "git init -q -b main . && git commit -q --allow-empty -m 1; git remote add origin "
    with serving(backend_for(ours)) as one, serving(backend_for(theirs)) as two:
        work = tmp_path / "work"
        work.mkdir()
        settings = {
            "http.curloptResolve": f"git.test:{two}:127.0.0.1",
            "http.extraHeader": "Authorization: Bearer secret",
        }
        env = {"PATH": f"{Path(str(GIT)).parent}:/usr/bin:/bin", "HOME": str(tmp_path), **ENV}
        env["GIT_CONFIG_COUNT"] = str(len(settings))
        for at, (name, value) in enumerate(settings.items()):
            env |= {f"GIT_CONFIG_KEY_{at}": name, f"GIT_CONFIG_VALUE_{at}": value}
        network = policy(one, credentials={"git.test": "secret"})
        with Sandbox(cwd="/work", env=ENV, network=network) as sandbox:
            sandbox.execute(begin + f"http://git.test:{one}/r.git")
            subprocess.run(
                ["bash", "-c", begin + f"http://git.test:{two}/r.git"],
                cwd=work,
                env=env,
                check=True,
            )
            for line in PUSHES:
                got = sandbox.execute(line)
                want = subprocess.run(
                    ["bash", "-c", line], cwd=work, env=env, check=False,
                    capture_output=True, text=True,
                )  # fmt: skip
                stderr = want.stderr.replace(f":{two}/", f":{one}/")
                stdout = want.stdout.replace(f":{two}/", f":{one}/")
                assert (got.stdout, got.exit_code) == (stdout, want.returncode), line
                assert got.stderr == stderr, line
                refs = [real(each / "r.git", "for-each-ref") for each in (ours, theirs)]
                assert refs[0] == refs[1], line
    assert "error" not in real(ours / "r.git", "fsck", "--strict")


@real_git
def test_a_server_that_takes_no_pushes(tmp_path: Path) -> None:
    repository = served(tmp_path)
    real(repository, "config", "http.receivepack", "false")
    real(repository, "config", "receive.advertisePushOptions", "false")
    with serving(backend_for(tmp_path)) as port:
        network = policy(port, credentials={"git.test": "secret"})
        push = f"git push http://git.test:{port}/r.git main"
        with Sandbox(cwd="/work", env=ENV, network=network) as sandbox:
            sandbox.execute("git init -q -b main . && git commit -q --allow-empty -m 1")
            refused = sandbox.execute(push)
            assert refused.stderr == (
                f"fatal: unable to access 'http://git.test:{port}/r.git/': "
                "The requested URL returned error: 403\n"
            )
            real(repository, "config", "http.receivepack", "true")
            plain = sandbox.execute(push.replace("push", "push -o one"))
            assert plain.stderr.startswith("fatal: the receiving end does not support push options")
        small = policy(port, credentials={"git.test": "secret"}, max_request_bytes=1 << 10)
        with Sandbox(cwd="/work", env=ENV, network=small) as sandbox:
            sandbox.execute("git init -q -b main .; head -c 9000 /dev/urandom > f; git add f")
            refused = sandbox.execute(f"git commit -qm 1; {push}")
            assert "the request has more than 1024 bytes" in refused.stderr
    assert real(repository, "for-each-ref") == ""


class Liar(BaseHTTPRequestHandler):
    """Says what the path names about a push: too little, too much, or nonsense."""

    ANSWERS = {
        "silent": b"0000",
        "other": b"000eunpack ok\n0019ok refs/heads/other\n0000",
        "broken": b"zzzz",
        "short": b"00ffok",
        "failed": b"0016unpack \x1b[31mbroken\n0000",
        "refused": b"000eunpack ok\n0025ng refs/heads/main \x1b]0;title\x07no\n0000",
    }

    def do_GET(self) -> None:
        line = b"0" * 40 + b" capabilities^{}\0report-status delete-refs\n"
        data = b"001f# service=git-receive-pack\n0000" + b"%04x" % (len(line) + 4) + line + b"0000"
        self.reply(data)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.reply(self.ANSWERS[self.path.split("/")[1]])

    def reply(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


# TM-GIT-7
@pytest.mark.parametrize("answer", Liar.ANSWERS)
def test_what_a_server_says_of_a_push_is_not_believed(answer: str) -> None:
    with (
        serving(Liar) as port,
        Sandbox(cwd="/work", env=ENV, network=policy(port)) as sandbox,
    ):
        sandbox.execute("git init -q -b main . && git commit -q --allow-empty -m 1")
        result = sandbox.execute(f"git push http://git.test:{port}/{answer}/r main")
        assert result.exit_code in (1, 128)
        assert "\x1b" not in result.stderr and "\x07" not in result.stderr
        assert "! [remote " in result.stderr or "fatal: protocol error" in result.stderr
