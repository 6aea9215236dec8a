"""Generated attacks on every operation that takes a path, a name or a text of a skill."""

from __future__ import annotations

import json
import xml.dom.minidom
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsandbox.errors import InvalidSkillError, SkillError
from agentsandbox.fs.memory import MemoryFileSystem
from agentsandbox.skills.catalog import SkillCatalog
from agentsandbox.skills.metadata import read_metadata
from agentsandbox.skills.mount import mount_skills
from agentsandbox.skills.prompts import render_active, render_catalog
from agentsandbox.skills.session import SkillSession
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.sources import SkillFile

SECRET = "s3cret-of-the-host"
HEAD = "---\nname: skill\ndescription: d\n---\nbody"
PIECES = [
    "..", ".", "", "/", "\\", "~", "~root", "etc", "passwd", "references", "skill-evil", "skill", "SKILL.md", "C:",
    "%2e%2e", "\0", "a", "ｅ", "\u2025", "\u202e",
]  # fmt: skip
TAGS = ["</", "<", ">", "skill", "skill>", "active_skills>", "name", "description", "]]>", "&", '"', "\n", "- ", "\u2028", "x"]
paths = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=8).map("/".join),
    st.lists(st.sampled_from(PIECES), max_size=6).map("\\".join),
    st.text(max_size=30),
)
texts = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(TAGS)).map("".join),
)
quick = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("host")
    (base / "secret").write_text(SECRET)
    root = base / "skill"
    (root / "references").mkdir(parents=True)
    (root / "SKILL.md").write_text(HEAD)
    (root / "references" / "a").write_text("reference")
    return root


@quick
@given(path=paths, name=paths)
def test_reading_gives_a_file_of_the_skill_or_an_error_without_host_paths(folder: Path, path: str, name: str) -> None:
    session = SkillSession(SkillCatalog.discover(folder.parent))
    for skill in ("skill", name):
        try:
            content = session.read(path, skill)
        except SkillError as error:
            assert str(folder.parent) not in str(error)
        else:
            assert content.content in (HEAD, "reference")


@quick
@given(path=paths, link=st.one_of(st.none(), paths))
def test_nothing_is_mounted_outside_of_its_skill(path: str, link: str | None) -> None:
    fs = MemoryFileSystem()
    files = [SkillFile("SKILL.md", HEAD.encode()), SkillFile(path, b"evil", link=link)]
    before = {(here, *names) for here, _, names in fs.walk("/")}
    try:
        mount_skills(fs, [AgentSkill(files)], "/.sandbox/skills", writable=False)
    except InvalidSkillError:
        pass
    after = {(here, *names) for here, _, names in fs.walk("/") if not here.startswith("/.sandbox/skills/skill")}
    assert {entry for entry in after - before if not entry[0].startswith("/.sandbox")} == set()


@quick
@given(name=st.one_of(paths, texts))
def test_names_are_names(name: str) -> None:
    try:
        skill = AgentSkill.from_files({"SKILL.md": f"---\nname: {json.dumps(name)}\ndescription: d\n---\n"})
    except InvalidSkillError:
        return
    assert not set(skill.name) & set("/\\\0. ")


@quick
@given(text=st.one_of(texts, st.binary(max_size=200).map(lambda data: data.decode("latin-1"))))
def test_front_matter_never_raises(text: str) -> None:
    heads = ("", "name: x\ndescription: ", "name: x\ndescription: d\nmetadata: ")
    for whole in (text, *(f"---\n{head}{text}\n---\n" for head in heads)):
        metadata, found = read_metadata(whole, directory="x")
        assert metadata is not None or found


@quick
@given(description=texts, body=texts)
def test_no_text_breaks_out_of_its_block(description: str, body: str) -> None:
    class Entry:
        name = "x"
        mount_path = None

    entry = Entry()
    entry.description = description  # type: ignore[attr-defined]
    shown = str(render_catalog([entry], "xml"))  # type: ignore[list-item]
    assert xml.dom.minidom.parseString(shown).getElementsByTagName("skill").length == 1
    assert len(json.loads(str(render_catalog([entry], "json")))["available_skills"]) == 1  # type: ignore[list-item]
    assert len(str(render_catalog([entry], "tool_description")).splitlines()) == 3  # type: ignore[list-item]
    active = str(render_active([("x", body)]))
    assert active.lower().count("</skill") == 1
    assert active.lower().count("<skill ") == 1
