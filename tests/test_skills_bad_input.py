"""What must not harm: each bad skill is said to be bad, every other one keeps working, and nothing
waits or fills the memory.
"""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from agentsandbox import Sandbox
from agentsandbox.errors import InvalidSkillError, SkillError
from agentsandbox.profiles.toolbox import Toolbox, skill_tools
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.session.session import SkillSession
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.sources.stores import VirtualSkills

GOOD = "---\nname: {}\ndescription: d\n---\nbody\n"


def good(folder: Path, name: str) -> None:
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "SKILL.md").write_text(GOOD.format(name))


def write(data: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data) and None


def sparse(path: Path) -> None:
    path.write_bytes(GOOD.format("bad").encode())
    os.truncate(path, 100 << 20)


def listening(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the name of a socket must be short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


BAD: dict[str, Callable[[Path], None]] = {
    "empty": write(b" "),
    "binary": write(bytes(range(256)) * 20),
    "zeros": write(bytes(100_000)),
    "one long line": write(b"-" * 900_000),
    "blank lines": write(b"\n" * 900_000),
    "a head without end": write(b"---\nname: bad\ndescription: " + b"a" * 900_000),
    "100 MB": sparse,
    "a pipe": os.mkfifo,
    "a directory": os.mkdir,
    "a socket": listening,
    "a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to("SKILL.md"),
    "a link to a secret": lambda path: path.symlink_to("/etc/passwd"),
    "a link to nothing": lambda path: path.symlink_to("nope"),
}


# TM-SKILL-1
@pytest.mark.row("S4-5", "S4-16", "V4-7")
@pytest.mark.parametrize("kind", BAD)
def test_one_bad_skill_hides_no_other(tmp_path: Path, kind: str) -> None:
    good(tmp_path, "good")
    (tmp_path / "bad").mkdir()
    BAD[kind](tmp_path / "bad" / "SKILL.md")
    started = time.monotonic()
    tracemalloc.start()
    catalog = SkillCatalog.discover(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert list(catalog) == ["good"]
    (found,) = [found for found in catalog.diagnostics if found.severity == "error"]
    assert found.path == "bad/SKILL.md"
    assert str(tmp_path) not in str(found)
    with pytest.raises(SkillError):
        AgentSkill.from_path(tmp_path / "bad")
    assert peak < 4 << 20
    assert time.monotonic() - started < 5


def test_what_goes_away_before_it_is_loaded(tmp_path: Path) -> None:
    good(tmp_path / "folder", "good")
    with zipfile.ZipFile(tmp_path / "skills.zip", "w") as archive:
        archive.writestr("zipped/SKILL.md", "---\nname: zipped\ndescription: d\n---\n")
    with Sandbox() as sandbox:
        sandbox.fs.makedirs("/skills/virtual")
        sandbox.fs.write_bytes(
            "/skills/virtual/SKILL.md", b"---\nname: virtual\ndescription: d\n---\n"
        )
        catalog = SkillCatalog.discover(tmp_path / "folder", tmp_path / "skills.zip")
        virtual = SkillCatalog.discover(VirtualSkills(sandbox.fs, "/skills"))
        records = [catalog["good"], catalog["zipped"], virtual["virtual"]]
        shutil.rmtree(tmp_path / "folder")
        (tmp_path / "skills.zip").write_bytes(b"PK\x05\x06")
        sandbox.fs.remove_tree("/skills/virtual")
    for record in records:
        with pytest.raises(SkillError) as raised:
            record.load()
        assert str(tmp_path) not in str(raised.value)
    answer = Toolbox(skill_tools(SkillSession(catalog))).call(
        "skill_activate", {"names": ["zipped"]}
    )
    assert answer["error"]["type"] == "invalid"


def test_an_archive_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "skills.zip")
    assert [found.code for found in SkillCatalog.discover(tmp_path / "skills.zip").diagnostics] == [
        "unreadable-root"
    ]


def test_invalid_roots(tmp_path: Path) -> None:
    good(tmp_path, "good")
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to("loop")
    catalog = SkillCatalog.discover(
        tmp_path / "file",
        tmp_path / "nowhere",
        tmp_path / "loop",
        tmp_path / "file" / "below",
        tmp_path,
    )
    assert list(catalog) == ["good"]
    assert {found.code for found in catalog.diagnostics} == {"unreadable-root"}
    assert str(tmp_path) not in str(catalog.diagnostics)


def test_an_unreadable_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good(tmp_path, "good")
    closed = tmp_path / "closed"
    closed.mkdir()
    scandir = os.scandir

    def refusing(path: str) -> object:
        if str(path) == str(closed):
            raise PermissionError(13, "Permission denied", str(closed))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    catalog = SkillCatalog.discover(closed, tmp_path)
    assert list(catalog) == ["good"]
    assert [found.message for found in catalog.diagnostics] == [
        "a skills directory cannot be read: Permission denied"
    ]


def test_links_that_go_in_circles(tmp_path: Path) -> None:
    good(tmp_path, "good")
    for name, target in (
        ("self", "self"),
        ("root", str(tmp_path)),
        ("again", "good"),
        ("etc", "/etc"),
    ):
        (tmp_path / name).symlink_to(target)
    (tmp_path / "good" / "here").symlink_to(".")
    (tmp_path / "good" / "up").symlink_to("..")
    catalog = SkillCatalog.discover(tmp_path)
    assert list(catalog) == ["again", "good"]
    for skill in catalog.skills():
        assert [(file.relative_path, file.link) for file in skill.files] == [
            ("SKILL.md", None),
            ("here", "."),
        ]


def test_a_directory_that_changes_while_it_is_read(tmp_path: Path) -> None:
    good(tmp_path, "good")
    over = threading.Event()

    def change() -> None:
        turn = 0
        while not over.is_set():
            turn += 1
            try:
                good(tmp_path, "bad")
                (tmp_path / "bad" / "sub").mkdir(exist_ok=True)
                (tmp_path / "bad" / "sub" / "file").write_text("x" * turn)
                if turn % 2:
                    (tmp_path / "bad" / "SKILL.md").unlink()
                if turn % 3 == 0:
                    shutil.rmtree(tmp_path / "bad")
            except OSError:
                pass

    thread = threading.Thread(target=change)
    thread.start()
    try:
        catalog = SkillCatalog.discover(tmp_path)
        until = time.monotonic() + 1
        while time.monotonic() < until:
            catalog.refresh()
            assert "good" in [skill.name for skill in catalog.skills()]
            for make in (
                lambda: AgentSkill.from_path(tmp_path / "bad"),
                lambda: SkillSession(catalog).load(["bad"]),
            ):
                try:
                    make()
                except SkillError as error:
                    assert str(tmp_path) not in str(error)
    finally:
        over.set()
        thread.join()


def test_archives_that_lie(tmp_path: Path) -> None:
    archive = tmp_path / "skills.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("bomb/SKILL.md", GOOD.format("bomb"))
        file.writestr("bomb/zeros", bytes(80 << 20))
        file.writestr("good/SKILL.md", GOOD.format("good"))
    catalog = SkillCatalog.discover(archive)
    with pytest.raises(InvalidSkillError, match="holds more than"):
        catalog["bomb"].load()
    assert [skill.name for skill in catalog.skills()] == ["good"]
    whole = archive.read_bytes()
    for change in (
        lambda data: data[:100],
        lambda data: data[:-40],
        lambda data: data[:45] + b"\xff" * 20 + data[65:],
    ):
        archive.write_bytes(change(whole))
        catalog = SkillCatalog.discover(archive)
        catalog.skills()
        assert catalog.diagnostics


# TM-MEM-3
def test_archives_that_unpack_more_than_they_say(tmp_path: Path) -> None:
    """Bzip2 and LZMA in zip: `zipfile` unpacks all of a block, however little is asked for."""
    archive = tmp_path / "skills.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_BZIP2) as file:
        file.writestr("bomb/SKILL.md", GOOD.format("bomb"))
        file.writestr("bomb/zeros", bytes(40 << 20))
    tracemalloc.start()
    try:
        catalog = SkillCatalog.discover(archive)
        assert not catalog.skills()
        assert "deflate" in str(catalog.diagnostics)
        assert tracemalloc.get_traced_memory()[1] < 10 << 20
    finally:
        tracemalloc.stop()


def test_what_an_agent_writes() -> None:
    with Sandbox() as sandbox:
        sandbox.execute(
            "mkdir -p /skills/good /skills/many /skills/loop /skills/link; cd /skills; "
            "ln -s /skills self; ln -s loop loop/loop"
        )
        sandbox.execute(
            "mkdir $'a\\nb'; ln -s SKILL.md loop/SKILL.md; "
            "ln -s /etc/passwd link/SKILL.md; mkfifo good/pipe; ln -s / good/root"
        )
        for name in ("good", "many", "a\nb"):
            sandbox.fs.write_text(
                f"/skills/{name}/SKILL.md", GOOD.format("good" if name == "a\nb" else name)
            )
        sandbox.execute("cd /skills/many; for i in {1..5001}; do : > f$i; done")
        catalog = SkillCatalog.discover(VirtualSkills(sandbox.fs, "/skills"))
        assert list(catalog) == ["good", "many"]
        assert [skill.name for skill in catalog.skills()] == ["good"]
        box = Toolbox(skill_tools(SkillSession(catalog, sandbox)))
        assert box.call("skill_activate", {"names": ["many"]})["error"]["type"] == "invalid"
        assert (
            box.call("skill_read", {"skill": "good", "path": "root/etc/passwd"})["error"]["type"]
            == "path"
        )
        assert box.call("skill_read", {"skill": "good", "path": "pipe"})["error"]["type"] == "path"
