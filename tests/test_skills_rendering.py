"""Filling in instructions, and checking skills for their authors."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsandbox.skills import validate_skill
from agentsandbox.skills.session.rendering import render_body


@pytest.mark.parametrize(
    ("body", "arguments", "shown"),
    [
        ("Fix $ARGUMENTS now", "issue 7", "Fix issue 7 now"),
        ("$ARGUMENTS[1] and $0 and $5", "a 'b c'", "b c and a and $5"),
        ("file $file in $mode", "x.py", "file x.py in "),
        (r"costs \$5 or \$ARGUMENTS", "", "costs $5 or $ARGUMENTS"),
        (
            "${CLAUDE_SKILL_DIR}/a {baseDir}/b ${CLAUDE_SESSION_ID} ${HOME} $HOME",
            "",
            "/s/a /s/b s1 ${HOME} $HOME",
        ),
        ("$ARGUMENTS, then $HOME", "a", "a, then $HOME"),
        (
            r"\$file \$name \${SKILL_DIR} \$1",
            "a b",
            "$file \\$name ${SKILL_DIR} $1\n\nARGUMENTS: a b",
        ),
        (r"grep '\.ts\$' \$HOME \${HOME} \$1st \$", "", r"grep '\.ts\$' \$HOME \${HOME} \$1st \$"),
        (r'awk "{print \$NF}" \$(date) \{baseDir}', "", r'awk "{print \$NF}" \$(date) \/s'),
        ("nothing asked", "x y", "nothing asked\n\nARGUMENTS: x y"),
        ("unbalanced $0", "it's", "unbalanced it's"),
        ("$1st place", "a b", "$1st place\n\nARGUMENTS: a b"),
    ],
)
def test_places(body: str, arguments: str, shown: str) -> None:
    assert (
        render_body(
            body, arguments=arguments, names=("file", "mode"), directory="/s", session_id="s1"
        )
        == shown
    )


def test_a_number_is_a_place_only_where_there_are_arguments() -> None:
    body = r'ps | awk "{print \$1}"'
    assert render_body(body) == body
    assert render_body(f"{body} $ARGUMENTS") == 'ps | awk "{print $1}" '
    assert render_body(f"$0 {body}", arguments="a") == 'a ps | awk "{print $1}"'


def test_commands_run_only_where_allowed_and_before_anything_is_filled_in() -> None:
    ran: list[str] = []

    def run(command: str) -> str:
        ran.append(command)
        return "$0 out\n"

    body = "!`date`\nx !`pwd` a!`no`\n```!\nls\n```\n$0"
    assert render_body(body, arguments="`id`") == "!`date`\nx !`pwd` a!`no`\n```!\nls\n```\n`id`"
    assert render_body(body, arguments="!`id`", run=run) == "$0 out\nx $0 out a!`no`\n$0 out\n!`id`"
    assert ran == ["ls\n", "date", "pwd"]


def test_validate_skill(tmp_path: Path) -> None:
    root = tmp_path / "x"
    (root / "references" / "deep").mkdir(parents=True)
    (root / "references" / "deep" / "a.md").write_text("a")
    (root / "SKILL.md").write_text(
        "---\nname: x\ndescription: d\n---\nSee references/deep/a.md and "
        "`scripts/none.sh`, references/.\n"
    )
    found = {(found.code, found.severity) for found in validate_skill(root)}
    assert found == {("missing-reference", "warning"), ("deep-reference", "warning")}
    (root / "SKILL.md").write_text("---\nname: y\n---\n")
    assert {found.code for found in validate_skill(root)} == {
        "missing-description",
        "name-directory",
    }
    assert [found.code for found in validate_skill(tmp_path / "nope")] == ["missing"]
    (root / "SKILL.md").unlink()
    assert [found.code for found in validate_skill(root)] == ["missing-skill-file"]
