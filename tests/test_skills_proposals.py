"""Changes that agents propose: checked, kept, decided by people, undone."""

from __future__ import annotations

import difflib
import errno
import json
import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsandbox.cli import main
from agentsandbox.errors import (
    InvalidSkillError,
    SkillError,
    SkillLimitError,
    SkillNotFoundError,
    SkillPathError,
    SkillPolicyError,
    SkillStateError,
)
from agentsandbox.profiles.toolbox import PROFILES, Toolbox, skill_tools
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.session.session import SkillSession
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.sources.files import SkillFile
from agentsandbox.skills.trust import proposals as module
from agentsandbox.skills.trust.patches import apply_patches, parse_diff
from agentsandbox.skills.trust.proposals import ProposalStore
from tests.test_skills_sources import BAD_PATHS

BODY = "---\nname: a\ndescription: About a\n---\n# A\n\nStep one.\nStep two.\n"
DIFF = "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -7,2 +7,2 @@\n Step one.\n-Step two.\n+Step 2.\n"
PIECES = [
    "## Diff\n\n```diff\nEVIL\n```",
    "````",
    "```",
    "\n",
    "---",
    "x",
    "## Evidence",
    "\x1b[2J",
    "é",
]
ADD = "--- /dev/null\n+++ b/scripts/new.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+echo new\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "skills" / "a"
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text(BODY)
    (folder / "references" / "r.md").write_text("reference\n")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> ProposalStore:
    return ProposalStore(tmp_path / "proposals")


def propose(store: ProposalStore, folder: Path, diff: str = DIFF) -> str:
    return store.propose(AgentSkill.from_path(folder), diff, "Clearer.", "a test failed").id


@pytest.mark.row("S3-34", "S3-35", "V3-15")
def test_a_proposal_is_a_text_with_three_sections(store: ProposalStore, folder: Path) -> None:
    id = propose(store, folder)
    text = (store.path / f"{id}.md").read_text()
    assert id.startswith("a-")
    assert [line for line in text.split("\n") if line.startswith("## ")] == [
        "## Diff",
        "## Justification",
        "## Evidence",
    ]
    assert (folder / "SKILL.md").read_text() == BODY
    (found,) = store.entries()
    assert (found.id, found.skill, found.diff, found.justification, found.evidence) == (
        id,
        "a",
        DIFF,
        "Clearer.",
        "a test failed",
    )
    assert store.show(id) == found


@pytest.mark.row("S3-36", "S3-42")
def test_approval_changes_the_skill_and_is_a_version(store: ProposalStore, folder: Path) -> None:
    before = AgentSkill.from_path(folder).package_digest
    version = store.approve(propose(store, folder, DIFF + ADD), folder, reviewer="kim")
    assert "Step 2." in (folder / "SKILL.md").read_text()
    assert os.access(folder / "scripts" / "new.sh", os.X_OK)
    assert (version.version, version.reviewer, version.before) == (1, "kim", before)
    assert version.after == AgentSkill.from_path(folder).package_digest != before
    assert store.history("a") == [version]
    assert [proposal.status for proposal in store.entries(None)] == ["approved"]
    with pytest.raises(SkillStateError, match="approved already"):
        store.approve(version.cause, folder, reviewer="kim")


@pytest.mark.row("S3-42")
def test_versions_are_undone(store: ProposalStore, folder: Path) -> None:
    store.approve(propose(store, folder), folder, reviewer="kim")
    store.approve(propose(store, folder, ADD), folder, reviewer="kim")
    undone = store.revert("a", 1, folder, reviewer="lee")
    assert (folder / "SKILL.md").read_text() == BODY
    assert not (folder / "scripts" / "new.sh").exists()
    assert (undone.version, undone.after) == (3, store.history("a")[0].before)
    assert store.revert("a", 3, folder, reviewer="lee").after == store.history("a")[1].after
    assert (folder / "scripts" / "new.sh").read_text() == "#!/bin/sh\necho new\n"
    with pytest.raises(SkillNotFoundError):
        store.revert("a", 9, folder, reviewer="lee")
    (folder / "SKILL.md").write_text(BODY + "more\n")
    with pytest.raises(SkillStateError, match="other means"):
        store.revert("a", 1, folder, reviewer="lee")


@pytest.mark.row("S3-36")
def test_another_base_is_refused(store: ProposalStore, folder: Path) -> None:
    id = propose(store, folder)
    (folder / "references" / "r.md").write_text("changed\n")
    with pytest.raises(SkillStateError, match="changed since"):
        store.approve(id, folder, reviewer="kim")
    assert (folder / "SKILL.md").read_text() == BODY
    assert store.show(id).status == "pending"
    assert store.reject(id).id == id
    assert store.entries() == []
    with pytest.raises(SkillStateError, match="rejected already"):
        store.reject(id)


@pytest.mark.parametrize("path", [path for path in BAD_PATHS if "\n" not in path and path.strip()])
def test_paths_that_are_refused(store: ProposalStore, folder: Path, path: str) -> None:
    for diff in (
        f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n",
        f"--- {path}\n+++ {path}\n@@ -0,0 +1 @@\n+x\n",
    ):
        with pytest.raises(SkillError):
            store.propose(AgentSkill.from_path(folder), diff, "because")


@pytest.mark.parametrize(
    "diff",
    [
        "",
        "nothing here",
        "--- a/SKILL.md\n+++ b/SKILL.md\n",
        "@@ -1 +1 @@\n-not there\n+x\n",
        "@@ -7,9 +7,9 @@\n Step one.\n",
        "@@ nonsense @@\n",
        "--- a/SKILL.md\n+++ b/other.md\n@@ -1 +1 @@\n-x\n+y\n",
        "--- a/gone.md\n+++ b/gone.md\n@@ -1 +1 @@\n-x\n+y\n",
        "--- /dev/null\n+++ b/references/r.md\n@@ -0,0 +1 @@\n+x\n",
        "--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+x\n",
        "--- /dev/null\n+++ b/references/r.md/below\n@@ -0,0 +1 @@\n+x\n",
        "--- a/SKILL.md\n+++ /dev/null\n@@ -7 +0,0 @@\n-Step one.\n",
        "@@ -2 +2 @@\n-name: a\n+name: b\n",
        "@@ -3 +0,0 @@\n-description: About a\n",
        "rename from SKILL.md\nrename to x\n",
        "x" * 100_000,
        "\ud800",
    ],
)
def test_diffs_that_are_refused(store: ProposalStore, folder: Path, diff: str) -> None:
    with pytest.raises((InvalidSkillError, SkillLimitError, SkillPathError)):
        store.propose(AgentSkill.from_path(folder), diff, "because")
    assert store.entries() == []
    assert (folder / "SKILL.md").read_text() == BODY


def test_lines_are_found_at_another_place_if_that_is_clear() -> None:
    def patched(old: str, diff: str) -> str:
        changed = apply_patches({"SKILL.md": SkillFile("SKILL.md", old.encode())}, parse_diff(diff))
        return str(changed["SKILL.md"], "utf-8")  # type: ignore[arg-type]

    assert patched("a\nb\nc\n", "@@ -1 +1 @@\n-b\n+x\n") == "a\nx\nc\n"
    with pytest.raises(InvalidSkillError, match="not apply"):
        patched("a\nb\nb\n", "@@ -9 +9 @@\n-b\n+x\n")
    assert patched("a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n") == "a\nc\n"
    assert patched("a\r\nb\r\n", "@@ -1 +1 @@\n-a\r\n+x\r\n") == "x\r\nb\r\n"


@settings(max_examples=200, deadline=None)
@given(
    old=st.lists(st.sampled_from("abc"), max_size=12),
    new=st.lists(st.sampled_from("abcd"), max_size=12),
    end=st.booleans(),
)
def test_what_difflib_writes_applies(old: list[str], new: list[str], end: bool) -> None:
    before, after = ("\n".join(lines) + ("\n" if lines and end else "") for lines in (old, new))
    if before == after or not before or not after:
        return
    texts = [text.splitlines(keepends=True) for text in (before, after)]
    lines = difflib.unified_diff(*texts, "a/x", "b/x")
    diff = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    changed = apply_patches({"x": SkillFile("x", before.encode())}, parse_diff(diff))
    assert changed == {"x": after.encode()}


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.lists(st.sampled_from(PIECES)).map("\n".join))
def test_no_text_passes_for_another_section(store: ProposalStore, folder: Path, text: str) -> None:
    proposal = store.propose(AgentSkill.from_path(folder), DIFF, f"because {text}", text)
    found = store.show(proposal.id)
    assert (found.diff, found.justification, found.evidence) == (DIFF, f"because {text}", text)
    (store.path / f"{proposal.id}.md").unlink()


def test_agents_cannot_write_without_end(
    store: ProposalStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_PENDING", 2)
    for _ in range(2):
        propose(store, folder)
    with pytest.raises(SkillLimitError, match="undecided"):
        propose(store, folder)
    with pytest.raises(SkillLimitError):
        store.propose(AgentSkill.from_path(folder), DIFF, "x" * 100_000)
    with pytest.raises(InvalidSkillError):
        store.propose(AgentSkill.from_path(folder), DIFF, " ")


def decide(
    path: Path, folder: Path, id: str, name: str, answers: multiprocessing.Queue[tuple[str, str]]
) -> None:
    try:
        answers.put(("done", ProposalStore(path).approve(id, folder, reviewer=name).reviewer))
    except SkillError as error:
        answers.put(("refused", str(error)))


def test_two_processes_approve_and_one_wins(store: ProposalStore, folder: Path) -> None:
    id = propose(store, folder)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    both = [
        context.Process(target=decide, args=(store.path, folder, id, name, answers))
        for name in ("kim", "lee")
    ]
    for process in both:
        process.start()
    found = sorted(answers.get(timeout=30)[0] for _ in both)
    for process in both:
        process.join(30)
    assert found == ["done", "refused"]
    assert len(store.history("a")) == 1
    assert not [name for name in os.listdir(folder) if name.endswith(".new")]


def die_at(monkeypatch: pytest.MonkeyPatch, name: str, call: int) -> None:
    """Have the process die at that call of a function: nothing of its own is run any more."""
    calls = []
    function = getattr(module, name)

    def dying(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == call:
            monkeypatch.setattr(module.ProposalStore, "_settle", lambda self: None)
            raise KeyboardInterrupt
        function(*arguments)

    monkeypatch.setattr(module, name, dying)


@pytest.mark.parametrize("call", [1, 2])
def test_what_a_dead_process_left_is_undone(
    store: ProposalStore, folder: Path, monkeypatch: pytest.MonkeyPatch, call: int
) -> None:
    id = propose(store, folder, DIFF + ADD)
    die_at(monkeypatch, "put_file", call)
    with pytest.raises(KeyboardInterrupt):
        store.approve(id, folder, reviewer="kim")
    assert (store.path / "journal.json").exists()
    monkeypatch.undo()
    store.approve(id, folder, reviewer="lee")
    assert [version.reviewer for version in store.history("a")] == ["lee"]
    assert "Step 2." in (folder / "SKILL.md").read_text()
    assert not (store.path / "journal.json").exists()


def test_what_a_dead_process_had_done_stays_done(
    store: ProposalStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = propose(store, folder)
    monkeypatch.setattr(
        module.ProposalStore, "_decide", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.raises(KeyboardInterrupt):
        store.approve(id, folder, reviewer="kim")
    monkeypatch.undo()
    with pytest.raises(SkillStateError, match="approved already"):
        store.approve(id, folder, reviewer="lee")
    assert [version.reviewer for version in store.history("a")] == ["kim"]
    assert store.show(id).status == "approved"


def test_a_change_that_fails_is_undone_at_once(
    store: ProposalStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = propose(store, folder, DIFF + ADD)
    put, calls = module.put_file, []

    def full(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        put(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "put_file", full)
    with pytest.raises(OSError, match="No space left"):
        store.approve(id, folder, reviewer="kim")
    assert (folder / "SKILL.md").read_text() == BODY
    assert store.history("a") == []
    assert [each.id for each in store.entries()] == [id]


def test_what_was_damaged_is_said(store: ProposalStore, folder: Path) -> None:
    store.approve(propose(store, folder), folder, reviewer="kim")
    (store.path / "history" / "a.jsonl").write_text("{}\n")
    with pytest.raises(SkillStateError, match="the history of a is damaged"):
        store.history("a")
    (store.path / "journal.json").write_text("{")
    with pytest.raises(SkillStateError, match=r"journal.json is damaged"):
        store.reject("x")


def test_links_are_not_written_through(store: ProposalStore, folder: Path, tmp_path: Path) -> None:
    (folder / "link.md").symlink_to("references/r.md")
    (folder / "inside").symlink_to("references")
    skill = AgentSkill.from_path(folder)
    for path in ("link.md", "inside/r.md", "inside/new.md"):
        with pytest.raises(SkillPathError):
            store.propose(skill, f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n", "because")
    id = store.propose(skill, ADD, "because").id
    (tmp_path / "elsewhere").mkdir()
    (folder / "scripts").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SkillError):
        store.approve(id, folder, reviewer="kim")
    assert os.listdir(tmp_path / "elsewhere") == []


@pytest.mark.row("S3-34", "S3-36", "V3-15")
def test_an_agent_proposes_and_never_approves(store: ProposalStore, folder: Path) -> None:
    events = []
    session = SkillSession(
        SkillCatalog.discover(folder.parent), proposals=store, on_event=events.append
    )
    box = Toolbox(skill_tools(session, *PROFILES))
    answer = box.call(
        "skill_propose_update",
        {"skill": "a", "diff": DIFF, "justification": "clearer", "evidence": "e"},
    )
    assert answer["status"] == "pending"
    assert box.call(
        "propose_skill_update", {"skill_id": "a", "diff": DIFF, "justification": "clearer"}
    ).startswith("Proposed: a-")
    assert (
        box.call("skill_propose_update", {"skill": "a", "diff": "bad", "justification": "x"})[
            "error"
        ]["type"]
        == "invalid"
    )
    assert (folder / "SKILL.md").read_text() == BODY
    assert not [tool.name for tool in box.tools if "approve" in tool.name or "revert" in tool.name]
    assert not [name for name in dir(session) if "approve" in name]
    assert [(event.action, event.success) for event in events] == [
        ("propose", True),
        ("propose", True),
        ("propose", False),
    ]
    quiet = SkillSession(SkillCatalog.discover(folder.parent))
    assert not [tool.name for tool in skill_tools(quiet, *PROFILES) if "propose" in tool.name]
    with pytest.raises(SkillPolicyError):
        quiet.propose_update("a", DIFF, "x")


@pytest.mark.row("S3-36")
def test_the_command_line(
    store: ProposalStore, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    id = store.propose(AgentSkill.from_path(folder), DIFF, "fine \x1b[2J\u202e").id
    where = ["--store", str(store.path)]

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["skills", "proposals", *words])
        return status, *capsys.readouterr()

    assert id in json.loads(run("list", *where, "--json")[1])[0]["id"]
    assert run("list", *where)[0] == 0
    shown = run("show", *where, id)[1]
    assert "\\u{1B}[2J\\u{202E}" in shown
    assert "\x1b" not in shown
    status, out, _ = run("approve", *where, id, str(folder.parent), "--reviewer", "kim")
    assert status == 0
    assert out.startswith("a: version 1, sha256:")
    assert run("approve", *where, id, str(folder))[0] == 1
    assert json.loads(run("history", *where, "a", "--json")[1])[0]["reviewer"] == "kim"
    assert run("revert", *where, "a", "1", str(folder), "--reviewer", "kim")[0] == 0
    assert (folder / "SKILL.md").read_text() == BODY
    assert run("reject", *where, propose(store, folder))[0] == 0
    for id in ("nope", "../../etc/passwd"):
        assert run("show", *where, id)[0] == 1


@pytest.mark.parametrize(
    "head", ["name: other\ndescription: d", "name: PDF Tools\ndescription: d", "description: d"]
)
def test_a_skill_that_its_directory_names(tmp_path: Path, head: str) -> None:
    folder = tmp_path / "pdf"
    folder.mkdir()
    (folder / "SKILL.md").write_text(f"---\n{head}\n---\nold\n")
    store = ProposalStore(tmp_path / "store")
    skill = SkillCatalog.discover(tmp_path)["pdf"].load()
    line = head.count("\n") + 4
    first, second = (
        store.propose(skill, f"@@ -{line} +{line} @@\n-old\n+new\n", "why") for _ in "ab"
    )
    assert store.approve(first.id, folder, reviewer="kim").skill == "pdf"
    assert (folder / "SKILL.md").read_text().endswith("new\n")
    with pytest.raises(SkillStateError, match="was changed since"):
        store.approve(second.id, folder, reviewer="kim")
    store.revert("pdf", 1, folder, reviewer="kim")
    assert (folder / "SKILL.md").read_text().endswith("old\n")
