"""git on hostile repositories and remotes: errors in its words, nothing outside, limits hold."""

from __future__ import annotations

import hashlib
import os
import struct
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from agentsandbox import HostFileSystem, Limits, Sandbox
from tests.git_server import ENV, policy, serving

WHO = b"A U Thor <a@example.com> 1700000000 +0000"


class Objects:
    """Writes loose objects into a repository of a sandbox, whatever they contain."""

    def __init__(self, sandbox: Sandbox, folder: str) -> None:
        self.files, self.folder = sandbox.files, folder

    def put(self, kind: str, data: bytes, *, size: int | None = None) -> str:
        head = f"{kind} {len(data) if size is None else size}\0".encode()
        oid = hashlib.sha1(head + data).hexdigest()
        self.files.write(f"{self.folder}/objects/{oid[:2]}/{oid[2:]}", zlib.compress(head + data))
        return oid

    def tree(self, *entries: tuple[str, bytes, str]) -> str:
        return self.put(
            "tree",
            b"".join(
                mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid)
                for mode, name, oid in entries
            ),
        )

    def commit(self, tree: str) -> str:
        text = f"tree {tree}\n".encode() + b"author " + WHO + b"\ncommitter " + WHO + b"\n\nx\n"
        return self.put("commit", text)


@contextmanager
def hostile() -> Iterator[tuple[Sandbox, Objects]]:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        made = "git init -q -b main r; cd r; echo a > a; git add a; git commit -qm first"
        assert sandbox.execute(made, state="discard").exit_code == 0
        yield sandbox, Objects(sandbox, "/work/r/.git")


NAMES = [
    b".git", b".GIT", b".Git", b"..", b".", b"git~1", b"GIT~1", b".git ", b".git.", b".git...",
    b".git\\x", b".git::$INDEX_ALLOCATION", b".g\xe2\x80\x8cit", b"\xe2\x80\x8e.git",
    b".git\xef\xbb\xbf",
]  # fmt: skip


# TM-GIT-1
@pytest.mark.parametrize("name", NAMES, ids=repr)
@pytest.mark.parametrize("how", ["checkout evil", "reset --hard evil", "merge evil", "clone"])
def test_hostile_names_in_trees_are_refused(name: bytes, how: str) -> None:
    with hostile() as (sandbox, objects):
        hook = objects.put("blob", b"#!/bin/sh\ntouch /tmp/ran\n")
        inner = objects.tree(("100755", b"post-checkout", hook))
        hooks = objects.tree(("40000", b"hooks", inner))
        evil = objects.commit(objects.tree(("40000", name, hooks)))
        sandbox.execute(f"cd r && git update-ref refs/heads/evil {evil}", state="discard")
        if how == "clone":
            result = sandbox.execute("git clone -b evil r c; ls -d c/.git/hooks/post-checkout")
        else:
            result = sandbox.execute(
                f"cd r && git {how} --allow-unrelated-histories -m x 2>&1 || git {how}"
                if how.startswith("merge") else f"cd r && git {how}"
            )  # fmt: skip
        assert result.exit_code != 0
        assert "invalid path" in result.output
        found = sandbox.execute("find / -name post-checkout -o -path /tmp/ran 2>/dev/null").stdout
        assert found == ""


@pytest.mark.parametrize("name", [b"a/../../x", b"/tmp/x", b"a\0b", b""])
def test_names_that_are_no_names_are_refused(name: bytes) -> None:
    with hostile() as (sandbox, objects):
        blob = objects.put("blob", b"evil\n")
        evil = objects.commit(objects.tree(("100644", name, blob)))
        result = sandbox.execute(f"cd r && git checkout -q {evil}")
        assert result.exit_code != 0
        assert sandbox.execute("ls /tmp /work /x 2>&1 | grep -c evil").stdout == "0\n"
        assert not sandbox.files.exists("/tmp/x")
        assert not sandbox.files.exists("/work/x")


def test_control_characters_are_quoted() -> None:
    with hostile() as (sandbox, objects):
        blob = objects.put("blob", b"x\n")
        evil = objects.commit(objects.tree(("100644", b"\x1b[2Jx\ny", blob)))
        result = sandbox.execute(f"cd r && git checkout -q {evil}; git ls-files; git show --stat")
        assert "\x1b" not in result.output
        assert r'"\033[2Jx\ny"' in result.stdout


# TM-GIT-2
def test_a_link_in_a_tree_leads_nobody_out() -> None:
    with hostile() as (sandbox, objects):
        out = objects.put("blob", b"/tmp")
        file = objects.put("blob", b"evil\n")
        inner = objects.tree(("100644", b"x", file))
        both = objects.commit(objects.tree(("120000", b"d", out), ("40000", b"d", inner)))
        link = objects.commit(objects.tree(("120000", b"d", out)))
        folder = objects.commit(objects.tree(("40000", b"d", inner)))
        result = sandbox.execute(
            f"cd r; git checkout -q {both}; git checkout -qf {link}; git checkout -qf {folder};"
            f"git checkout -qf {link}; git reset -q --hard {folder}; git checkout -qf {link};"
            f"git checkout {folder} -- d/x; git stash -q; git checkout -qf {link};"
            "git apply 2>/dev/null < /dev/null; ls /tmp"
        )
        assert "x" not in result.stdout.split()
        assert not sandbox.files.exists("/tmp/x")


def test_submodules_with_hostile_names_write_nothing() -> None:
    with hostile() as (sandbox, objects):
        text = b'[submodule "../../x"]\n\tpath = s\n\turl = -u./evil\n[submodule "y"]\npath=../o\n'
        modules = objects.put("blob", text)
        commit = objects.commit(
            objects.tree(("100644", b".gitmodules", modules), ("160000", b"s", "1" * 40))
        )
        sandbox.execute(f"cd r && git update-ref refs/heads/evil {commit}", state="discard")
        before = sandbox.snapshot()
        result = sandbox.execute(
            "git clone -q -b evil --recurse-submodules r c; cd r; git checkout -q evil;"
            "git submodule update --init; git submodule status; git status -s"
        )
        assert result.limit is None
        outside = [
            change.path for change in sandbox.diff(before)
            if not change.path.startswith(("/work/r", "/work/c"))
        ]  # fmt: skip
        assert not outside


# TM-GIT-3
@pytest.mark.parametrize(
    "ref",
    ["refs/heads/../../x", "refs/heads/a..b", "refs/heads/.x", "refs/heads/x.lock", "../x",
     "refs/heads/x/", "refs//heads", "refs/heads/a b", "refs/heads/\x7f", "refs/heads/@{x"],
)  # fmt: skip
def test_references_are_no_paths(ref: str) -> None:
    with hostile() as (sandbox, _):
        before = sandbox.snapshot()
        script = """cd r; git update-ref "$1" HEAD; git symbolic-ref "$1" refs/heads/main
        git branch "${1#refs/heads/}"; git tag "$1"; git push . "HEAD:$1"; git fetch . "main:$1"
        git rev-parse "$1"; cat ".git/$1"
        """
        result = sandbox.execute(script, args=[ref])
        assert result.exit_code != 0
        paths = [change.path for change in sandbox.diff(before) if change.change == "created"]
        assert not [path for path in paths if path.endswith(("/x", "x.lock", "/.x", "a b"))
                    and "tags/refs" not in path]  # fmt: skip


def test_a_reference_file_that_is_a_link_or_a_loop() -> None:
    with hostile() as (sandbox, _):
        result = sandbox.execute(
            "cd r; echo secret > /tmp/s; ln -s /tmp/s .git/refs/heads/s; git rev-parse s;"
            "echo 'ref: refs/heads/b' > .git/refs/heads/a; echo 'ref: refs/heads/a' >"
            ".git/refs/heads/b; git rev-parse a; git branch -v; git log --all | head -n 1;"
            "echo 'ref: ../../../tmp/s' > .git/HEAD; git status"
        )
        assert result.limit is None
        assert "secret" not in result.output


def bomb(size: int) -> bytes:
    return zlib.compress(bytes(size), 9)


def pack(*entries: tuple[int, int, bytes]) -> bytes:
    """Return a pack of (type, claimed size, bytes after the header)."""
    out = b"PACK" + struct.pack(">LL", 2, len(entries))
    for kind, size, data in entries:
        first = (kind << 4) | (size & 15)
        size >>= 4
        head = []
        while size:
            head.append(first | 0x80)
            first, size = size & 0x7F, size >> 7
        out += bytes([*head, first]) + data
    return out + hashlib.sha1(out).digest()


def varint(number: int) -> bytes:
    out = []
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


BASE = b"x" * 64
COPIES = varint(64) + varint(1 << 30) + (b"\x90\x40" * (1 << 20))
PACKS = {
    "a bomb": pack((3, 1 << 30, bomb(1 << 24))),
    "a bomb that lies about its size": pack((3, 10, bomb(1 << 24))),
    "a size that is not there": pack((3, 1 << 40, zlib.compress(b"x"))),
    "a delta without a base": pack((7, 5, b"\1" * 20 + zlib.compress(b"\1\1\1a"))),
    "a delta that is its own base": pack((6, 5, b"\0" + zlib.compress(b"\1\1\1a"))),
    "a delta bomb": pack(
        (3, 64, zlib.compress(BASE)),
        (7, len(COPIES), hashlib.sha1(b"blob 64\0" + BASE).digest() + zlib.compress(COPIES)),
    ),
    "a delta beyond its base": pack(
        (3, 64, zlib.compress(BASE)),
        (7, 7, hashlib.sha1(b"blob 64\0" + BASE).digest()
         + zlib.compress(varint(64) + varint(99) + b"\xb1\x50\x60\x60")),
    ),
    "more objects than there are": b"PACK" + struct.pack(">LL", 2, 1 << 31) + bytes(40),
    "no deflated data": pack((3, 5, b"\xff\xff\xff")),
    "an unknown type": pack((5, 5, zlib.compress(b"hello"))),
    "a wrong checksum": pack((3, 5, zlib.compress(b"hello")))[:-1] + b"\0",
}  # fmt: skip


# TM-GIT-4
@pytest.mark.parametrize("data", PACKS.values(), ids=PACKS)
def test_hostile_packs_are_refused(data: bytes) -> None:
    limits = Limits(value_bytes=4 << 20, timeout=20)
    with Sandbox(cwd="/work", env=ENV, limits=limits) as sandbox:
        head = b"# v2 git bundle\n" + b"1" * 40 + b" refs/heads/main\n\n"
        sandbox.files.write("x.bundle", head + data)
        result = sandbox.execute("git clone -q x.bundle c")
        assert result.exit_code != 0
        assert result.limit in (None, "value_bytes")
        assert not sandbox.files.exists("c/.git/refs/heads/main")


def test_corrupt_objects_end_in_an_error() -> None:
    with hostile() as (sandbox, objects):
        kinds = {
            "bomb": objects.put("blob", bytes(1 << 20), size=10),
            "short": objects.put("blob", b"x", size=1 << 40),
            "tree": objects.put("tree", b"100644 a\0short"),
            "mode": objects.put("tree", b"99x644 a\0" + bytes(20)),
            "commit": objects.put("commit", b"tree zz\nparent \n\n"),
            "loop": objects.put("tag", b"object " + b"1" * 40 + b"\ntype tag\ntag x\n\n"),
        }
        for name, oid in kinds.items():
            result = sandbox.execute(
                f"cd r; git cat-file -p {oid}; git ls-tree -r {oid}; git log {oid};"
                f"git checkout {oid}; git diff HEAD {oid}; git tag x {oid}; git merge {oid};"
                f"git rev-list --objects {oid}; git show {oid}", state="discard",
            )  # fmt: skip
            assert result.exit_code != 0
            assert "literal" not in result.output
            assert result.limit == ("value_bytes" if name == "short" else None)
            assert "Traceback" not in result.output
            assert "internal error" not in result.output


# TM-GIT-5
def test_programs_of_a_mounted_repository_do_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    folder.mkdir()
    with Sandbox(cwd="/work", env=ENV) as maker:
        maker.execute("git init -q -b main r; cd r; echo a > a; git add a; git commit -qm one")
        maker.files.export(folder, "/work/r")
    hook = "#!/bin/sh\necho ran > /tmp/ran\n"
    for name in ("pre-commit", "post-commit", "post-checkout", "commit-msg", "pre-push"):
        (folder / ".git" / "hooks").mkdir(exist_ok=True)
        (folder / ".git" / "hooks" / name).write_text(hook)
        (folder / ".git" / "hooks" / name).chmod(0o755)
    with (folder / ".git" / "config").open("a") as config:
        config.write("[agentsandbox]\n\thostHooks = true\n[core]\n\tfsmonitor = touch /tmp/ran\n"
                     "\tpager = touch /tmp/ran\n\tsshCommand = touch /tmp/ran\n"
                     "[filter \"x\"]\n\tclean = touch /tmp/ran\n\tsmudge = touch /tmp/ran\n"
                     "[diff \"x\"]\n\tcommand = touch /tmp/ran\n"
                     f"[include]\n\tpath = {tmp_path}/secret\n")  # fmt: skip
    (tmp_path / "secret").write_text("[user]\n\tname = from-the-host\n")
    (folder / ".git" / "info" / "attributes").write_text("* filter=x diff=x\n")
    mounts = {"/work/r": HostFileSystem(folder, read_only=False)}
    if os.geteuid() == 0:
        for path in (tmp_path, *tmp_path.rglob("*")):
            os.chown(path, 1000, 1000)
    with Sandbox(cwd="/work/r", env=ENV, mounts=mounts) as sandbox:
        result = sandbox.execute(
            "echo b > b; git add b; git commit -qm two; git switch -qc n; git diff HEAD~1;"
            "git config -l; git log --oneline; ls /tmp"
        )
        assert "ran" not in result.stdout.split()
        assert "from-the-host" not in result.stdout
        assert result.stdout.count("two") == 1
        asked = sandbox.execute(
            "git -c agentsandbox.hostHooks=true commit -q --allow-empty -m three; cat /tmp/ran"
        )
        assert asked.stdout == "ran\n", asked


def test_alternates_lead_to_files_of_the_sandbox_only(tmp_path: Path) -> None:
    with hostile() as (sandbox, _):
        result = sandbox.execute(
            f"cd r; mkdir -p .git/objects/info; printf '{tmp_path}\\n/proc/self\\n"
            "../objects\\n../../../r/.git/objects\\n' > .git/objects/info/alternates;"
            "git log --oneline; git count-objects 2>/dev/null; git rev-parse 1234567"
        )
        assert result.limit is None
        assert result.stdout.count("first") == 1


# TM-GIT-6
def test_a_command_that_was_ended_leaves_no_lock() -> None:
    with Sandbox(cwd="/work", env=ENV) as sandbox:
        sandbox.execute("git init -q -b main; for i in {1..200}; do seq $i > f$i; done")
        for part in range(1, 9):
            with sandbox.fork() as twin:
                timer = threading.Timer(0.01 * part, twin.cancel)
                timer.start()
                twin.execute("git add . && git commit -qm x && git checkout -qb y && git gc -q")
                timer.cancel()
                after = twin.execute("git add . && git commit -qm y --allow-empty; git status -s")
                assert after.exit_code == 0, after.stderr
                assert after.stdout == ""
                assert twin.execute("find .git -name '*.lock'").stdout == ""


# servers


class Endless(BaseHTTPRequestHandler):
    """Lists one reference, and sends a pack that does not end."""

    def do_GET(self) -> None:
        lines = b"001e# service=git-upload-pack\n0000"
        line = b"1" * 40 + b" refs/heads/main\0side-band-64k ofs-delta\n"
        self.reply(lines + b"%04x" % (len(line) + 4) + line + b"0000")

    def reply(self, data: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        try:
            self.wfile.write(b"0008NAK\n")
            for _ in range(100_000):
                self.wfile.write(b"fff0\1" + bytes(0xFFF0 - 5))
        except OSError:
            return

    def log_message(self, *_: object) -> None:
        return


class Slow(Endless):
    """Sends its pack a byte at a time."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        try:
            for _ in range(600):
                self.wfile.write(b"0")
                time.sleep(0.05)
        except OSError:
            return


class Liar(Endless):
    """Lists references that would be paths, and a line that is longer than the answer."""

    def do_GET(self) -> None:
        out = b"001e# service=git-upload-pack\n0000"
        for name in (b"refs/heads/../../../x", b"/tmp/x", b"refs/heads/.lock", b"refs/heads/ok"):
            line = b"1" * 40 + b" " + name + b"\n"
            out += b"%04x" % (len(line) + 4) + line
        self.reply(out + b"ffff")


# TM-GIT-7
@pytest.mark.parametrize("handler", [Endless, Slow, Liar])
def test_hostile_servers_are_left(handler: type[BaseHTTPRequestHandler]) -> None:
    with serving(handler) as port:
        network = policy(port, max_bytes=1 << 20, timeout=2)
        with Sandbox(cwd="/work", env=ENV, network=network) as sandbox:
            result = sandbox.execute(f"git clone -q http://git.test:{port}/r c", timeout=15)
            assert result.exit_code != 0
            assert "fatal: " in result.stderr
            assert sandbox.execute("ls -A").stdout == ""
