"""Where skills come from, and what cannot come along."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsandbox.errors import InvalidSkillError, SkillNotFoundError, SkillPathError
from agentsandbox.skills import (
    AgentSkill,
    FileSystemSkillSource,
    InMemorySkillSource,
    PackageSkillSource,
    SkillFile,
)
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.paths import clean_path, contained
from agentsandbox.skills.session.reading import find_file

HEAD = "---\nname: test-skill\ndescription: Test skill for unit tests\n---\n# Test Skill\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "test-skill"
    (root / "scripts").mkdir(parents=True)
    (root / "SKILL.md").write_text(HEAD)
    (root / "scripts" / "hello.sh").write_text("echo Hello from skill\n")
    return root


def paths(skill: AgentSkill) -> list[str]:
    return sorted(file.relative_path for file in skill.files)


@pytest.mark.row("S2-7", "S2-8", "S2-11", "S0-17", "S0-18")
def test_from_a_folder(folder: Path) -> None:
    (folder / "assets").mkdir()
    (folder / "assets" / "logo.bin").write_bytes(bytes(range(256)))
    skill = AgentSkill.from_path(folder)
    assert (skill.name, skill.description) == ("test-skill", "Test skill for unit tests")
    assert paths(skill) == ["SKILL.md", "assets/logo.bin", "scripts/hello.sh"]
    assert skill.tree.files()["/assets/logo.bin"] == bytes(range(256))


@pytest.mark.row("S2-10", "S2-13", "V2-10")
def test_from_memory(folder: Path) -> None:
    source = InMemorySkillSource().add("SKILL.md", HEAD).add("a.bin", b"\xff\x00")
    assert [type(file) for file in source.files()] == [SkillFile, SkillFile]
    assert AgentSkill.from_source(source) == AgentSkill.from_files(
        {"SKILL.md": HEAD, "a.bin": b"\xff\x00"}
    )
    assert AgentSkill.from_source(FileSystemSkillSource(folder)) == AgentSkill.from_path(folder)


@pytest.mark.row("S2-9", "S2-12")
def test_from_a_package() -> None:
    skill = AgentSkill.from_package("skills_embedded", "git-workflow")
    assert skill == AgentSkill.from_source(PackageSkillSource("skills_embedded", "git-workflow"))
    assert "scripts/check-branch.sh" in paths(skill)


@pytest.mark.row("S2-9")
def test_from_a_package_in_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "wheel.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped_skills/__init__.py", "")
        file.writestr("zipped_skills/deep/test-skill/SKILL.md", HEAD)
        file.writestr("zipped_skills/deep/test-skill/assets/.gitignore", "*.pyc\n")
        file.writestr("zipped_skills/deep/test-skill/a.test.js", b"\xff\x00")
        file.writestr("zipped_skills/deep/test-skill/run.sh", "#!/bin/sh\necho hi\n")
    monkeypatch.syspath_prepend(str(archive))
    skill = AgentSkill.from_package("zipped_skills", "deep/test-skill")
    assert paths(skill) == ["SKILL.md", "a.test.js", "assets/.gitignore", "run.sh"]
    assert [file.relative_path for file in skill.files if file.executable] == ["run.sh"]
    sys.modules.pop("zipped_skills", None)


@pytest.mark.row("S2-14", "S2-22", "V2-11")
def test_the_hosts_name_wins(folder: Path) -> None:
    assert AgentSkill.from_path(folder, name="override-name").name == "override-name"
    assert AgentSkill.from_files({"SKILL.md": HEAD}, name="other").name == "other"
    assert AgentSkill.from_path(folder).name == "test-skill"


@pytest.mark.parametrize("name", ["../x", "a/b", "", "..", "A", "con", "a\0b"])
def test_the_hosts_name_is_checked_too(name: str) -> None:
    with pytest.raises(InvalidSkillError):
        AgentSkill.from_files({"SKILL.md": HEAD}, name=name)


@pytest.mark.row("S2-21", "V2-13", "V2-27", "V2-28")
def test_skill_md_is_found_in_any_case_and_must_say_something() -> None:
    for name in ("SKILL.md", "skill.md", "Skill.MD"):
        assert paths(AgentSkill.from_files({name: HEAD})) == ["SKILL.md"]
    for files in (
        {},
        {"README.md": HEAD},
        {"SKILL.md": ""},
        {"SKILL.md": " \n"},
        {"docs/SKILL.md": HEAD},
    ):
        with pytest.raises(InvalidSkillError, match=r"Skill must contain a SKILL\.md file"):
            AgentSkill.from_files(files)
    with pytest.raises(InvalidSkillError, match="two files"):
        AgentSkill.from_files({"SKILL.md": HEAD, "skill.md": HEAD})


@pytest.mark.row("S2-23", "S2-43", "V2-27")
def test_backslashes_separate_and_dotfiles_survive() -> None:
    skill = AgentSkill.from_files({"SKILL.md": HEAD, "assets\\.gitignore": "x", "./a//b": "y"})
    assert paths(skill) == ["SKILL.md", "a/b", "assets/.gitignore"]


BAD_PATHS = [
    "", ".", "..", "../SKILL.md", "/etc/passwd", "~/x", "~root/x",
    "references/../../../../etc/passwd", "references/../SKILL.md",
    "..\\SKILL.md",
    "references\\..\\..\\x", "C:\\x", "c:x", "\\\\server\\share", "a\0b", "a\nb", "references/",
    "a/.", "x/" * 40 + "y", "n" * 300,
]  # fmt: skip


@pytest.mark.row("V0-21", "V1-11", "S0-66", "S0-68", "S3-47", "S4-25")
@pytest.mark.parametrize("path", BAD_PATHS)
def test_paths_that_are_refused(path: str) -> None:
    with pytest.raises(SkillPathError) as caught:
        clean_path(path)
    assert caught.value.reason in {"absolute", "home", "traversal", "is_directory", "invalid"}
    with pytest.raises(InvalidSkillError):
        AgentSkill.from_files({"SKILL.md": HEAD, path: "x"})


@pytest.mark.row("V0-21")
@pytest.mark.parametrize(
    ("path", "clean"),
    [("references/REFERENCE.md", "references/REFERENCE.md"), ("./references/x", "references/x"),
     ("a..b.md", "a..b.md"),
     ("with space/ü.md", "with space/ü.md"), ("%2e%2e/x", "%2e%2e/x"), ("...", "...")],
)  # fmt: skip
def test_paths_that_are_accepted(path: str, clean: str) -> None:
    assert clean_path(path) == clean


def test_a_file_cannot_be_a_directory_too() -> None:
    with pytest.raises(InvalidSkillError):
        AgentSkill.from_files({"SKILL.md": HEAD, "a": "x", "a/b": "y"})


@pytest.mark.row("S0-67", "V0-13", "S4-27")
@pytest.mark.parametrize("target", ["/etc/passwd", "../../secret", "..", "scripts/../../secret"])
def test_links_that_leave_the_folder_are_refused(folder: Path, target: str) -> None:
    (folder.parent / "secret").write_text("s3cret")
    os.symlink(target, folder / "escape")
    with pytest.raises(InvalidSkillError, match="escape: the link leaves the skill") as caught:
        AgentSkill.from_path(folder)
    assert str(folder.parent) not in str(caught.value)


@pytest.mark.row("S0-67", "V0-13", "S4-5")
def test_a_catalog_leaves_out_what_leaves_the_folder(folder: Path) -> None:
    (folder.parent / "secret").write_text("s3cret")
    (folder / "escape").symlink_to("../secret")
    (folder / "~$draft.docx").write_text("x")
    os.mkfifo(folder / "pipe")
    skill = SkillCatalog.discover(folder.parent)["test-skill"].load()
    assert paths(skill) == ["SKILL.md", "scripts/hello.sh"]
    assert [found.message.split(":")[1].strip(" '") for found in skill.diagnostics] == [
        "escape",
        "pipe",
        "~$draft.docx",
    ]
    for place in ("escape", "pipe"):
        with pytest.raises(SkillPathError, match="there is no file"):
            find_file(skill, place)


def test_links_inside_the_folder_stay_links(folder: Path) -> None:
    os.symlink("scripts/hello.sh", folder / "run.sh")
    assert ("run.sh", "scripts/hello.sh") in [
        (file.relative_path, file.link) for file in AgentSkill.from_path(folder).files
    ]
    assert contained("a/b", "../c")
    assert not contained("a", "../c")


def test_a_linked_skill_md_counts_when_it_stays_inside(folder: Path) -> None:
    (folder / "SKILL.md").rename(folder / "README.md")
    os.symlink("README.md", folder / "SKILL.md")
    assert AgentSkill.from_path(folder).name == "test-skill"
    (folder / "SKILL.md").unlink()
    os.symlink("SKILL.md", folder / "SKILL.md")
    with pytest.raises(InvalidSkillError):
        AgentSkill.from_path(folder)


def test_special_files_are_refused_without_being_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(InvalidSkillError, match="pipe: not a regular file"):
        AgentSkill.from_path(folder)


def test_what_is_not_part_of_a_skill_is_left_out(folder: Path) -> None:
    for name in (".git", "node_modules", "__pycache__"):
        (folder / name).mkdir()
        (folder / name / "x").write_text("x")
    assert paths(AgentSkill.from_path(folder)) == ["SKILL.md", "scripts/hello.sh"]


def test_caps(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentsandbox.skills.sources.files.MAX_BYTES", 1000)
    with open(folder / "sparse", "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InvalidSkillError, match="holds more than"):
        AgentSkill.from_path(folder)


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(SkillNotFoundError) as caught:
        AgentSkill.from_path(tmp_path / "nope")
    assert str(tmp_path) not in str(caught.value)
    for package, resource in (("no_such_package", "x"), ("skills_embedded", "nope")):
        with pytest.raises(SkillNotFoundError):
            AgentSkill.from_package(package, resource)
    with pytest.raises(SkillPathError):
        AgentSkill.from_package("skills_embedded", "../agentsandbox")


@pytest.mark.row("S2-49", "S1-13")
def test_a_skill_is_a_value(folder: Path) -> None:
    skill = AgentSkill.from_path(folder)
    (folder / "SKILL.md").write_text(HEAD + "changed")
    changed = AgentSkill.from_path(folder)
    assert skill != changed
    assert skill.digest != changed.digest
    assert skill.package_digest.startswith("sha256:")
    with pytest.raises(AttributeError):
        skill.name = "other"


@pytest.mark.row("S2-7", "S2-54")
def test_any_object_with_files_is_a_source() -> None:
    class Fetched:
        def files(self) -> Iterator[SkillFile]:
            yield SkillFile("SKILL.md", HEAD.encode())

    assert AgentSkill.from_source(Fetched()).name == "test-skill"


@pytest.mark.row("S2-48")
@pytest.mark.parametrize("name", ["python-dev", "git-workflow", "skills-system-validation"])
def test_embedded_skills_keep_the_specification(name: str) -> None:
    skill = AgentSkill.from_package("skills_embedded", name, strict=True)
    assert not skill.diagnostics
    assert skill.metadata.license == "Apache-2.0"
