"""Catalogs: discovery in ordered roots, what is read, what is reported, what a refresh sees."""

from __future__ import annotations

import os
import shutil
import time
import zipfile
from pathlib import Path

import pytest

from agentsandbox import Sandbox
from agentsandbox.errors import InvalidSkillError, SkillNotFoundError
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.catalog.discovery import read_head
from agentsandbox.skills.catalog.roots import SkillRoot
from agentsandbox.skills.prompts import render_catalog
from agentsandbox.skills.session.session import SkillSession
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.sources.stores import PackageSkills, VirtualSkills, ZipSkills

BODY_MARKER = "BODY_MARKER"


def write(
    root: Path, name: str, text: str | None = None, directory: str | None = None, **fields: str
) -> Path:
    folder = root / (directory or name)
    folder.mkdir(parents=True, exist_ok=True)
    head = {"name": name, "description": f"About {name}", **fields}
    lines = [f"{key.replace('_', '-')}: {value}" for key, value in head.items()]
    (folder / "SKILL.md").write_text(
        text if text is not None else "\n".join(["---", *lines, "---", f"# {BODY_MARKER}", ""])
    )
    return folder


@pytest.mark.row("S0-51", "S0-52", "S1-3", "S1-4", "S1-5", "S1-6", "S1-7", "S1-8", "V0-1", "V1-1")
def test_records(tmp_path: Path) -> None:
    write(tmp_path, "a", license="MIT")
    write(tmp_path, "b")
    catalog = SkillCatalog.discover(tmp_path)
    assert list(catalog) == ["a", "b"]
    record = catalog["a"]
    assert (record.name, record.description, record.metadata.license) == ("a", "About a", "MIT")
    assert (record.location, record.root_dir) == (
        str(tmp_path / "a" / "SKILL.md"),
        str(tmp_path / "a"),
    )


@pytest.mark.row(
    "S0-30", "S0-31", "S0-86", "S0-87", "S1-9", "S3-14", "V0-2", "V0-4", "V0-5", "V1-1", "V3-10"
)
def test_bodies_are_read_only_when_loaded(tmp_path: Path) -> None:
    write(tmp_path, "a")
    catalog = SkillCatalog.discover(tmp_path)
    record = catalog["a"]
    assert (record.body, record.digest, record.metadata.instructions) == (None, None, None)
    assert BODY_MARKER not in str(render_catalog(catalog))
    record.load()
    assert record.body == f"# {BODY_MARKER}"
    assert str(record.digest).startswith("sha256:")


@pytest.mark.row("S0-86", "V0-2")
def test_nothing_after_the_front_matter_is_asked_for() -> None:
    class Counting:
        def __init__(self, lines: list[bytes]) -> None:
            self.lines = lines
            self.given = 0

        def readline(self, size: int = -1, /) -> bytes:
            self.given += 1
            return self.lines[self.given - 1] if self.given <= len(self.lines) else b""

        def close(self) -> None: ...

    file = Counting([b"---\n", b"name: a\n", b"---\n", b"body\n"])
    assert read_head(file) == b"---\nname: a\n---\n"
    assert file.given == 3
    file = Counting([b"# no front matter\n", b"body\n"])
    read_head(file)
    assert file.given == 1


@pytest.mark.row("S4-5", "S4-16", "V4-7", "S4-33")
def test_one_bad_skill_hides_no_other(tmp_path: Path) -> None:
    write(tmp_path, "good")
    write(tmp_path, "bad", text="no front matter")
    write(tmp_path, "empty", text="")
    write(tmp_path, "evil", text="---\nname: ../evil\ndescription: d\n---\n")
    (tmp_path / "nothing").mkdir()
    (tmp_path / "binary").mkdir()
    (tmp_path / "binary" / "SKILL.md").write_bytes(b"---\n\xff\xfe\n---\n")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")
    (tmp_path / "large").mkdir()
    with open(tmp_path / "large" / "SKILL.md", "wb") as file:
        file.truncate(100 << 20)
    (tmp_path / "secret").write_text("---\nname: link\ndescription: s3cret\n---\n")
    (tmp_path / "link").mkdir()
    os.symlink("../secret", tmp_path / "link" / "SKILL.md")
    (tmp_path / "file").write_text("x")
    os.symlink("/", tmp_path / "root")
    os.symlink("loop", tmp_path / "loop")
    catalog = SkillCatalog.discover(tmp_path)
    assert list(catalog) == ["good"]
    errors = {
        diagnostic.path.split("/")[0]: diagnostic.code
        for diagnostic in catalog.diagnostics
        if diagnostic.severity == "error"
    }
    assert set(errors) == {"bad", "empty", "evil", "binary", "pipe", "large", "link"}
    assert not [
        diagnostic for diagnostic in catalog.diagnostics if str(tmp_path) in str(diagnostic)
    ]


@pytest.mark.row("S0-45", "S4-1", "S4-2", "S4-31", "V0-26", "V4-6", "S0-94")
def test_the_first_root_wins_and_collisions_are_reported(tmp_path: Path) -> None:
    for root in ("project", "user"):
        write(tmp_path / root, "same", description=root)
        write(tmp_path / root, root)
    catalog = SkillCatalog.discover(
        SkillRoot(tmp_path / "project"), SkillRoot(tmp_path / "user", "user")
    )
    assert list(catalog) == ["project", "same", "user"]
    assert catalog["same"].description == "project"
    assert [record.scope for record in catalog.values()] == ["project", "project", "user"]
    (collision,) = catalog.collisions
    assert collision.losers == (str(tmp_path / "user" / "same" / "SKILL.md"),)


def test_directories_with_one_title_are_all_kept(tmp_path: Path) -> None:
    write(tmp_path, "good")
    write(tmp_path, "good", directory="good2", description="EVIL")
    write(tmp_path, "good", directory="a", description="EVIL")
    catalog = SkillCatalog.discover(tmp_path)
    assert list(catalog) == ["a", "good", "good2"]
    assert catalog["good"].description == "About good"
    assert catalog.find("Good").description == "About good"
    assert catalog.collisions == ()
    with pytest.raises(SkillNotFoundError):
        SkillCatalog.discover(tmp_path).view(exclude=["good"]).find("good")


@pytest.mark.row("S3-16", "V3-3")
def test_a_skill_is_known_by_its_directory(tmp_path: Path) -> None:
    write(tmp_path, "Extension Development", directory="extension-development")
    catalog = SkillCatalog.discover(tmp_path)
    assert list(catalog) == ["extension-development"]
    assert "`extension-development`" in str(render_catalog(catalog, "bullets"))
    assert catalog.find("Extension-Development").metadata.title == "Extension Development"
    assert not SkillCatalog.discover(tmp_path, strict=True)


@pytest.mark.row("S0-4", "V0-27")
def test_a_root_is_searched_upwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / ".agents" / "skills", "above")
    write(tmp_path / "a" / ".agents" / "skills", "near")
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b" / "c")
    assert list(
        SkillCatalog.discover(SkillRoot(".agents/skills", search_up=True, stop_at=tmp_path))
    ) == ["near", "above"]
    assert list(
        SkillCatalog.discover(SkillRoot(".agents/skills", search_up=True, stop_at=tmp_path / "a"))
    ) == ["near"]
    assert not SkillCatalog.discover(".agents/skills")


@pytest.mark.row("S0-45")
def test_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "skills", "mine")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert list(SkillCatalog.discover("~/skills")) == ["mine"]


@pytest.mark.row("S0-46", "V0-28", "S4-16")
def test_caps_and_missing_roots(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path, f"s{number}")
    catalog = SkillCatalog.discover(tmp_path, max_skills=3)
    assert list(catalog) == ["s0", "s1", "s2"]
    assert [diagnostic.code for diagnostic in catalog.diagnostics] == ["too-many-skills"]
    assert not SkillCatalog.discover(tmp_path / "nope").diagnostics
    (tmp_path / "file").write_text("")
    assert [
        diagnostic.code for diagnostic in SkillCatalog.discover(tmp_path / "file").diagnostics
    ] == ["unreadable-root"]


@pytest.mark.row("S3-44", "V3-12")
def test_a_very_long_skill_is_reported(tmp_path: Path) -> None:
    write(tmp_path, "long", text="---\nname: long\ndescription: d\n---\n" + "x" * 40_000)
    catalog = SkillCatalog.discover(tmp_path)
    assert [diagnostic.code for diagnostic in catalog.diagnostics] == ["many-tokens"]
    assert catalog["long"].load()


@pytest.mark.row("S0-93", "S3-41", "V3-16")
def test_disabled_names_and_views(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        write(tmp_path, name)
    catalog = SkillCatalog.discover(tmp_path, disabled=["c"])
    assert list(catalog) == ["a", "b"]
    view = catalog.view(include=["b", "c"])
    assert list(view) == ["b"]
    assert list(catalog.view(exclude=["a"], where=lambda record: record.scope == "project")) == [
        "b"
    ]
    with pytest.raises(SkillNotFoundError):
        view.find("a")
    with pytest.raises(KeyError):
        view["a"]


@pytest.mark.row("S3-24", "V3-11", "S0-54")
def test_a_refresh_sees_what_changed_and_reads_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a")
    write(tmp_path, "b")
    catalog = SkillCatalog.discover(tmp_path)
    kept = catalog["a"]
    opened = []
    real = os.open
    monkeypatch.setattr(
        os,
        "open",
        lambda path, *rest, **more: opened.append(str(path)) or real(path, *rest, **more),
    )
    catalog.refresh()
    assert not opened
    assert catalog["a"] is kept
    write(tmp_path, "b", description="changed")
    write(tmp_path, "c")
    os.remove(tmp_path / "a" / "SKILL.md")
    catalog.refresh()
    assert list(catalog) == ["b", "c"]
    assert catalog["b"].description == "changed"
    write(tmp_path, "b", text="---\nname: ../x\n")
    catalog.refresh()
    assert list(catalog) == ["c"]


@pytest.mark.row("S3-24", "S3-25", "S4-17", "V3-11")
def test_reload_modes(tmp_path: Path) -> None:
    write(tmp_path, "a")
    manual = SkillCatalog.discover(tmp_path)
    mtime = SkillCatalog.discover(tmp_path, reload="mtime")
    poll = SkillCatalog.discover(tmp_path, reload="poll", poll_interval=0.05)
    write(tmp_path, "b")
    assert list(manual) == ["a"]
    assert list(mtime) == ["a", "b"]
    time.sleep(0.06)
    assert list(poll) == ["a", "b"]


@pytest.mark.row("S3-33", "S4-34", "V3-14", "V4-13")
def test_skills_in_the_sandboxes_own_filesystem() -> None:
    fs = MemoryFileSystem()
    catalog = SkillCatalog.discover(VirtualSkills(fs, "/skills"))
    assert not catalog
    fs.write_text("/skills", "a file in the way")
    assert not catalog
    fs.unlink("/skills")
    fs.makedirs("/skills/new-one/references")
    fs.write_text("/skills/new-one/SKILL.md", "---\nname: new-one\ndescription: d\n---\nbody")
    fs.write_text("/skills/new-one/references/x.md", "x")
    fs.symlink("/etc/passwd", "/skills/new-one/link")
    assert list(catalog) == ["new-one"]
    assert "<location>/skills/new-one/SKILL.md</location>" in str(render_catalog(catalog))
    fs.unlink("/skills/new-one/link")
    assert [file.relative_path for file in catalog["new-one"].load().files] == [
        "SKILL.md",
        "references/x.md",
    ]


def test_skills_in_packages_and_archives(tmp_path: Path) -> None:
    assert set(SkillCatalog.discover(PackageSkills("skills_embedded"))) == {
        "git-workflow",
        "data-report",
        "python-dev",
        "skills-system-validation",
    }
    archive = tmp_path / "skills.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("repo-main/one/SKILL.md", "---\nname: one\ndescription: d\n---\nbody")
        file.writestr("repo-main/one/run.sh", "#!/bin/sh\necho hi\n")
        file.writestr("repo-main/one/../../evil", "x")
        file.writestr("../two/SKILL.md", "---\nname: two\ndescription: d\n---\n")
    catalog = SkillCatalog.discover(str(archive))
    assert "one" in catalog
    assert [root.path for root in catalog.roots] == [str(archive)]
    with pytest.raises(Exception, match="traversal"):
        catalog["one"].load()
    assert ZipSkills(tmp_path / "none.zip").candidates is not None
    (tmp_path / "bad.zip").write_text("no archive")
    assert [
        diagnostic.code for diagnostic in SkillCatalog.discover(tmp_path / "bad.zip").diagnostics
    ] == ["unreadable-root"]


def test_a_folder_that_is_a_skill_itself(tmp_path: Path) -> None:
    assert list(SkillCatalog.discover(write(tmp_path, "single"))) == ["single"]


@pytest.mark.row("S2-37")
def test_finding() -> None:
    skill = AgentSkill.from_files({"SKILL.md": "---\nname: python-dev\ndescription: d\n---\n"})
    catalog = SkillCatalog(skills=[skill])
    assert catalog.find("PYTHON-Dev").load() is skill
    assert catalog["python-dev"].scope == "explicit"
    with pytest.raises(SkillNotFoundError, match="Available skills: python-dev"):
        catalog.find("../python-dev")


@pytest.mark.row("S2-51", "S3-43")
def test_a_thousand_skills(tmp_path: Path) -> None:
    for number in range(1000):
        folder = write(
            tmp_path,
            f"skill-{number}",
            description="A description of some length that says when to use this skill",
        )
        (folder / "run.sh").write_text("echo done\n" * 50)
    catalog = SkillCatalog.discover(tmp_path)
    assert len(catalog) == 1000
    before = dict(catalog)
    catalog.refresh()
    assert all(catalog[name] is found for name, found in before.items())
    for form in ("xml", "json", "tool_description", "bullets", "agent_skills"):
        assert (
            render_catalog(catalog, form, maximum=None).count("A description of some length")
            == 1000
        ), form
    with Sandbox() as sandbox:
        SkillSession(catalog, sandbox).load(["skill-7"])
        assert sorted(sandbox.fs.listdir("/.sandbox/skills")) == ["skill-7"]


def test_skills_of_installed_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    from agentsandbox.skills.catalog import roots as module
    from agentsandbox.skills.config import SkillsConfig

    found = [
        EntryPoint("ours", "skills_embedded", module.ENTRY_POINTS),
        EntryPoint("gone", "no_such_package:skills", module.ENTRY_POINTS),
    ]
    monkeypatch.setattr(
        module, "entry_points", lambda group: found if group == module.ENTRY_POINTS else []
    )
    catalog = SkillCatalog.discover(*module.installed_roots())
    assert {record.scope for record in catalog.values()} == {"builtin"}
    assert "python-dev" in catalog
    assert list(SkillsConfig(installed=True).discover()) == list(catalog)
    assert not SkillsConfig().discover()
    assert not SkillsConfig(installed=True, enabled=False).discover()


@pytest.mark.row("S0-55", "S0-92", "S3-24", "V3-11")
def test_file_system_events(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles", reason="the extra `watch` is not installed")
    write(tmp_path / "one", "a")
    catalog = SkillCatalog.discover(tmp_path / "one", tmp_path / "later", reload="watch")

    def names_become(*names: str) -> bool:
        until = time.monotonic() + 10
        while list(catalog) != list(names) and time.monotonic() < until:
            time.sleep(0.01)
        return list(catalog) == list(names)

    assert names_become("a")
    index = catalog._index
    assert list(catalog) == ["a"]
    assert catalog._index is index
    write(tmp_path / "one", "b")
    assert names_become("a", "b")
    write(tmp_path / "later", "c")
    assert names_become("a", "b", "c")
    write(tmp_path / "one", "a", description="changed")
    os.remove(tmp_path / "one" / "b" / "SKILL.md")
    assert names_become("a", "c")
    assert catalog["a"].description == "changed"


def test_a_change_that_a_refresh_refuses_stays_one(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles", reason="the extra `watch` is not installed")
    write(tmp_path, "a")
    catalog = SkillCatalog.discover(tmp_path, reload="watch", on_invalid="raise")
    assert list(catalog) == ["a"]
    (tmp_path / "a" / "SKILL.md").write_text("no front matter")
    until = time.monotonic() + 10
    with pytest.raises(InvalidSkillError):
        while list(catalog) and time.monotonic() < until:
            time.sleep(0.01)
    for _ in range(3):
        with pytest.raises(InvalidSkillError):
            list(catalog)
    write(tmp_path, "a")
    assert list(catalog) == ["a"]


def test_skills_that_go_while_they_are_listed_are_no_errors(tmp_path: Path) -> None:
    for name in "abc":
        write(tmp_path, name)
    catalog = SkillCatalog.discover(tmp_path, reload="mtime")
    seen = []
    for name, record in catalog.view(exclude=["b"]).items():
        shutil.rmtree(tmp_path / "c", ignore_errors=True)
        seen.append((name, record.name))
    assert seen == [("a", "a"), ("c", "c")]
    for skills in (catalog, catalog.view()):
        assert [record.name for record in skills.values()] == list(skills) == ["a", "b"]
        assert len(skills) == 2
