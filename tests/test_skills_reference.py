"""The verdicts and the prompt of the reference library `skills-ref`, beside ours: where they differ
is written down here.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from agentsandbox.skills import SkillCatalog, SkillRoot
from agentsandbox.skills.checking import validate_skill
from agentsandbox.skills.metadata import as_mapping
from agentsandbox.skills.prompts import render_catalog
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.sources.stores import HostSkills
from tests.test_skills_leniency import READABLE

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    reference = pytest.importorskip("skills_ref", reason="the reference library is not installed")

EMBEDDED = Path(__file__).parents[1] / "skills_embedded"


def text(name: str, description: str = "d", *more: str) -> str:
    return "\n".join(
        ["---", f"name: {name}", f"description: {description}", *more, "---", "Body", ""]
    )


def plain(name: str, *more: str, description: str = "d") -> tuple[str, str]:
    return name, text(name, description, *more)


AGREED = [
    plain("plain"),
    ("empty", ""),
    ("nofm", "# x"),
    ("unclosed", "---\nname: unclosed\n"),
    ("noname", "---\ndescription: d\n---\n"),
    ("nodesc", "---\nname: nodesc\n---\n"),
    plain("emptydesc", description='""'),
    plain("nulldesc", description=""),
    plain("spaces", description='"   "'),
    ("mismatch", text("other")),
    plain("Upper"),
    plain("under_score"),
    ("-lead", text('"-lead"')),
    plain("trail-"),
    plain("dou--ble"),
    plain("a" * 64),
    plain("b" * 65),
    plain("fits", description="x" * 1024),
    plain("long", description="x" * 1025),
    plain("comp", "compatibility: " + "x" * 500),
    plain("comp-long", "compatibility: " + "x" * 501),
    plain("meta", "metadata:", "  a: b", "  n: 1"),
    plain("tools", "allowed-tools: Bash(git:*) Read"),
    plain("license", "license: MIT"),
    plain("colon", description="Use when: x"),
    plain("quoted", description='"a: b"'),
    plain("folded", description=">\n  one\n  two"),
    plain("literal", description="|\n  one\n  two"),
    ("crlf", text("crlf").replace("\n", "\r\n")),
    plain("dup", "description: e"),
    plain("anchor", "license: *a", description="&a d"),
    plain("tag", description="!!str d"),
    ("list", "---\n- a\n---\n"),
    plain("date", description="2024-01-01"),
    plain("yes", description="yes"),
    ("123", text("123")),
    ("leading", "\n" + text("leading")),
    ("comment", "<!-- c -->\n" + text("comment")),
    ("block", "```skill\n" + text("block") + "```\n"),
    ("padded", text('"padded "')),
    plain("tool-list", "allowed-tools:", "  - Read"),
    plain("tool-commas", "allowed-tools: Read, Write"),
]
DIFFERENT = [  # directory, text, whether the reference says it is valid, whether we do; why
    (
        *plain("unknown", "foo: bar"),
        False,
        True,
    ),  # the specification says nothing about other fields
    (
        *plain("flow", "metadata: {a: b}"),
        False,
        True,
    ),  # YAML, which the reference reads only part of
    (*plain("tags", "tags: [a, b]"), False, True),
    ("tabs", "---\nname:\ttabs\ndescription: d\n---\n", False, True),
    ("bom", "\ufeff" + text("bom"), False, True),  # some editors write it
    (*plain("café"), True, False),  # "a-z, 0-9": a name that looks like another one is a trap
    (*plain("中文"), True, False),
    (*plain("con"), True, False),  # no file of that name on some systems
    (*plain("comp-empty", 'compatibility: ""'), True, False),  # "1-500 characters"
    (*plain("meta-text", "metadata: x"), True, False),  # "a map"
    (*plain("tool-map", "allowed-tools:", "  a: b"), True, False),  # "a string"
    (*plain("license-list", "license:", "  - MIT"), True, False),  # a name
    (
        "fence",
        "---\nname: fence\ndescription: d\n ----\n",
        True,
        False,
    ),  # any "---" ends it there, a line of its own here
    (*plain("dashes", description="--- d"), False, True),
    (*plain("tab-inside", description="a\tb"), False, True),
]


def write(tmp_path: Path, name: str, content: str) -> Path:
    folder = tmp_path / name
    folder.mkdir()
    (folder / "SKILL.md").write_bytes(content.encode())
    return folder


def ours(folder: Path) -> bool:
    return not any(finding.severity == "error" for finding in validate_skill(folder))


@pytest.mark.row("S0-37", "V0-18", "V0-19", "V0-20")
@pytest.mark.parametrize(("name", "content"), AGREED, ids=[name[:20] for name, _ in AGREED])
def test_the_same_verdict(tmp_path: Path, name: str, content: str) -> None:
    folder = write(tmp_path, name, content)
    assert (not reference.validate(folder)) is ours(folder)


@pytest.mark.parametrize(
    ("name", "content", "theirs", "mine"), DIFFERENT, ids=[row[0] for row in DIFFERENT]
)
def test_where_the_verdicts_differ(
    tmp_path: Path, name: str, content: str, theirs: bool, mine: bool
) -> None:
    folder = write(tmp_path, name, content)
    assert (not reference.validate(folder), ours(folder)) == (theirs, mine)


LENIENT = {
    "unknown fields": {"hints in angles", "a number as version", "a key with a space"},
    "flow style": {
        "tools in brackets",
        "tools with quotes",
        "metadata in one line",
        "metadata over lines",
        "metadata with all kinds",
    },
    "tabs": {"a tab after the colon"},
    "other letters": {"another alphabet"},
    "metadata that is no map": {"metadata that is a list", "metadata that is a text"},
}
"""Why verdicts on the front matters of test_skills_leniency.py differ; docs/skills.md says the
same."""


@pytest.mark.row("S0-37")
def test_odd_front_matters_get_the_same_verdict_but_for_what_is_listed(tmp_path: Path) -> None:
    differing = set()
    for odd, (directory, head) in READABLE.items():
        folder = write(tmp_path, directory, f"---\n{head}\n---\n# Body\n")
        if (not reference.validate(folder)) is not ours(folder):
            differing.add(odd)
    assert differing == set().union(*LENIENT.values())


@pytest.mark.row("S0-38")
def test_the_same_properties() -> None:
    for folder in sorted(EMBEDDED.iterdir()):
        if (folder / "SKILL.md").exists():
            theirs = reference.read_properties(folder).to_dict()
            mine = dict(as_mapping(AgentSkill.from_path(folder).metadata))
            assert {key: mine[key] for key in theirs} == theirs


@pytest.mark.row("S0-39", "S1-22")
def test_the_same_prompt() -> None:
    folders = sorted(folder for folder in EMBEDDED.iterdir() if (folder / "SKILL.md").exists())
    catalog = SkillCatalog.discover(*(SkillRoot(HostSkills(folder)) for folder in folders))
    assert not reference.validate(folders[0])
    places = {record.name: str(record.root_dir) for record in catalog.values()}
    assert render_catalog(
        catalog, "xml", layout="skills-ref", order="discovery", maximum=None, places=places
    ) == reference.to_prompt(folders)
