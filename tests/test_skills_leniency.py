"""Front matters as authors write them: each of these loads, whatever it breaks, and says what is
odd about it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.skill import AgentSkill

READABLE = {  # what is odd → (directory, text before the body)
    "plain": ("plain", "name: plain\ndescription: Does things"),
    "crlf": ("crlf", "name: crlf\r\ndescription: Does things\r"),
    "no name": ("no-name", "description: Does things"),
    "empty name": ("empty-name", "name:\ndescription: Does things"),
    "a title": ("best-skill", "name: My Best Skill (beta)\ndescription: Does things"),
    "capitals": ("Capitals", "name: Capitals\ndescription: Does things"),
    "underscores": ("snake_case", "name: snake_case\ndescription: Does things"),
    "dots": ("node.js", "name: node.js\ndescription: Does things"),
    "spaces": ("two words", "name: two words\ndescription: Does things"),
    "another alphabet": ("навык", "name: навык\ndescription: Делает"),
    "an emoji": ("rocket", 'name: "🚀 Rocket"\ndescription: Does things'),
    "a slash": ("ci-cd-pipeline", "name: CI/CD Pipeline\ndescription: Does things"),
    "a title of its own": (
        "using-skills",
        "name: Getting Started with Skills\ndescription: Does things",
    ),
    "a title with none of its words": ("adapter", "name: Analyzing Code\ndescription: Does things"),
    "a title in another script": ("assistant", "name: 小红书助手\ndescription: Does things"),
    "a title in two scripts": ("formatter", "name: JSON 格式化助手\ndescription: Does things"),
    "a title with accents": ("cv", "name: Résumé Builder\ndescription: Does things"),
    "a command": ("commit", 'name: "/commit"\ndescription: Does things'),
    "a command of a family": ("security-dpo", 'name: "/hf:agent:dpo"\ndescription: Does things'),
    "a scope": ("ai-sdk-together", "name: @ai-sdk/together\ndescription: Does things"),
    "a word of its directory": (
        "research-agent",
        "name: company_research\ndescription: Does things",
    ),
    "another directory": ("elsewhere", "name: somewhere\ndescription: Does things"),
    "a long name": ("long", f"name: {'long-' * 20}name\ndescription: Does things"),
    "a longer directory": ("d" * 70, f"name: {'d' * 70}\ndescription: Does things"),
    "a colon": ("colon", "name: colon\ndescription: Use when: a thing is to be done"),
    "colons over lines": (
        "colons",
        "name: colons\ndescription: Use when: a thing\n  is to be done: now\n  and then",
    ),
    "a colon at the end": ("ends", "name: ends\ndescription: Does the following:"),
    "a folded text": ("folded", "name: folded\ndescription: >\n  Does things.\n  Use it."),
    "a stripped text": ("stripped", "name: stripped\ndescription: >-\n  Does things.\n\n  Use it."),
    "a literal text": (
        "literal",
        "name: literal\ndescription: |\n  Does things: many\n    indented\n  - and a list",
    ),
    "an indicator and text": ("indicator", "name: indicator\ndescription: > Does things: many"),
    "an indicator and lines": (
        "indicators",
        "name: indicators\ndescription: | Does things\n  and more",
    ),
    "quotes inside": ("quotes", 'name: quotes\ndescription: "Does "many" things"'),
    "quotes first": ("first", 'name: first\ndescription: "Many" things are done'),
    "an apostrophe": ("apostrophe", "name: apostrophe\ndescription: 'It's a thing'"),
    "an open quote": ("open", 'name: open\ndescription: "Does things'),
    "a quote over lines": (
        "over",
        'name: over\ndescription: "Does\n  things"\nargument-hint: [a] [b]',
    ),
    "an asterisk": ("asterisk", "name: asterisk\ndescription: *Does* things"),
    "an at sign": ("at", "name: at\ndescription: @someone does things"),
    "a backtick": ("backtick", "name: backtick\ndescription: `make` does things"),
    "a percent sign": ("percent", "name: percent\ndescription: %s is formatted"),
    "a bracket": ("bracket", "name: bracket\ndescription: [Beta] does things"),
    "a brace": ("brace", "name: brace\ndescription: {Beta} does things"),
    "a hash": ("hash", "name: hash\ndescription: Does C# and F#"),
    "a comment": (
        "comment",
        "# about\nname: comment # the name\ndescription: Does things # and more",
    ),
    "a question mark": ("question", "name: question\ndescription: ? does things"),
    "a hyphen": ("hyphen", "name: hyphen\ndescription: - does things"),
    "an arrow": ("arrow", "name: arrow\ndescription: a -> b: c => d"),
    "an address": (
        "address",
        (
            "name: address\ndescription: See https://example.com: it does\n"
            "homepage: https://example.com"
        ),
    ),
    "no space after the colon": ("nospace", "name:nospace\ndescription:Does things"),
    "space before the colon": ("before", "name : before\ndescription : Does things"),
    "a tab after the colon": ("tab", "name:\ttab\ndescription:\tDoes things"),
    "a tab before a line": ("tabs", "name: tabs\ndescription: Does\n\tthings\ntags:\n\t- a"),
    "lines that are not indented": (
        "lines",
        "name: lines\ndescription: Does things\nand more things\nlicense: MIT",
    ),
    "globs": ("globs", "name: globs\ndescription: Does things\nglobs: *.py, *.md"),
    "globs in a list": (
        "globlist",
        "name: globlist\ndescription: Does things\npaths: [*.py, *.md]",
    ),
    "globs in lines": (
        "globlines",
        "name: globlines\ndescription: Does things\npaths:\n  - *.py\n  - **/*.md",
    ),
    "hints": (
        "hints",
        "name: hints\ndescription: Does things\nargument-hint: [--input=path] [--restart]",
    ),
    "hints with bars": (
        "bars",
        "name: bars\ndescription: Does things\nargument-hint: [a|b|c] <path> [--out <path>]",
    ),
    "hints in angles": (
        "angles",
        "name: angles\ndescription: Does things\nargument-hint: <what> [why]",
    ),
    "phrases in lines": (
        "phrases",
        (
            'name: phrases\ndescription: Does things\ntriggers:\n  - "do it" or "do that"\n'
            "  - do: it: now"
        ),
    ),
    "tools in a list": (
        "tool-list",
        "name: tool-list\ndescription: Does things\nallowed-tools:\n  - Read\n  - Bash(git:*)",
    ),
    "tools in brackets": (
        "tool-flow",
        "name: tool-flow\ndescription: Does things\nallowed-tools: [Read, Write]",
    ),
    "tools with quotes": (
        "tool-quotes",
        'name: tool-quotes\ndescription: Does things\nallowed-tools: ["Bash(x ${Y}/z.sh)"]',
    ),
    "tools with commas": (
        "tool-commas",
        (
            "name: tool-commas\ndescription: Does things\n"
            "allowed-tools: Read, Bash(a:*, b:*), mcp__x__*"
        ),
    ),
    "tools with a star": (
        "tool-star",
        "name: tool-star\ndescription: Does things\nallowed-tools: *",
    ),
    "no tools": ("tool-none", "name: tool-none\ndescription: Does things\nallowed-tools:"),
    "metadata in one line": (
        "json",
        (
            "name: json\ndescription: Does things\nmetadata: "
            '{"openclaw":{"emoji":"🔧","requires":{"bins":["jq"]}}}'
        ),
    ),
    "metadata over lines": (
        "jsons",
        (
            'name: jsons\ndescription: Does things\nmetadata:\n  {\n    "openclaw":\n'
            '      { "emoji": "🔧", },\n  }'
        ),
    ),
    "metadata at the margin": (
        "margin",
        'name: margin\ndescription: Does things\nmetadata:\n{\n  "openclaw": {"always": true}\n}',
    ),
    "metadata beside a mistake": (
        "beside",
        'name: beside\ndescription: Use when: now\nmetadata: {\n  "a": "b: c"\n}',
    ),
    "metadata with all kinds": (
        "kinds",
        (
            "name: kinds\ndescription: Does things\nmetadata:\n  a: [1, 2]\n"
            "  b: {c: 2024-01-01}\n  d: null\n  e: true"
        ),
    ),
    "metadata that is a list": (
        "metalist",
        "name: metalist\ndescription: Does things\nmetadata:\n  - a\n  - b",
    ),
    "metadata that is a text": (
        "metatext",
        "name: metatext\ndescription: Does things\nmetadata: internal",
    ),
    "a license that is a list": (
        "licenses",
        "name: licenses\ndescription: Does things\nlicense: [MIT, Apache-2.0]",
    ),
    "compatibility as a list": (
        "compat",
        "name: compat\ndescription: Does things\ncompatibility:\n  - a\n  - b",
    ),
    "a number as version": (
        "version",
        "name: version\ndescription: Does things\nversion: 1.0\ndate: 2024-01-01\nactive: yes",
    ),
    "unknown fields": (
        "unknown",
        (
            "name: unknown\ndescription: Does things\nmodel: opus\nhooks:\n  Stop:\n"
            "    - command: echo: hi"
        ),
    ),
    "a key twice": ("twice", "name: twice\ndescription: Does nothing\ndescription: Does things"),
    "a key with a space": (
        "key-space",
        "name: key-space\ndescription: Does things\nRead when: asked",
    ),
    "a key in quotes": ("key-quotes", '"name": key-quotes\n"description": "Does things"'),
    "a number as name": ("42", "name: 42\ndescription: Does things"),
    "a long description": ("wordy", f"name: wordy\ndescription: {'Does things. ' * 200}"),
    "empty lines": ("empty-lines", "\nname: empty-lines\n\ndescription: Does things\n\n"),
    "indented": ("indented", "  name: indented\n  description: Does things"),
    "spaces after the fence": ("fence", "name: fence\ndescription: Does things"),
    "an ellipsis": ("ellipsis", "name: ellipsis\ndescription: Does things ... and more"),
    "a no-break space": ("nbsp", "name: nbsp\ndescription: Does\u00a0things"),
    "dashes in a value": ("dashes", "name: dashes\ndescription: before --- after"),
}
REFUSED = {
    "no description": "name: x",
    "empty description": 'name: x\ndescription: ""',
    "a list": "- a\n- b",
    "a sentence": "just words",
    "an alias": "name: &x x\ndescription: *x",
    "a tag": "name: x\ndescription: !!python/name:os.system d",
    "a merge": "name: x\n<<: {description: d}",
    "a bomb": (
        "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nname: x\ndescription: d"
    ),
    "depth": f"name: x\ndescription: d\nmetadata: {'[' * 1000}",
    "a control character": "name: x\ndescription: a\x1bb",
    "a path as name": "name: ../../etc\ndescription: d",
}


def write(tmp_path: Path, directory: str, head: str) -> None:
    folder = tmp_path / directory
    folder.mkdir()
    fence = "---  " if directory == "fence" else "---"
    (folder / "SKILL.md").write_bytes(f"{fence}\n{head}\n{fence}\n# Body of it\n".encode())


@pytest.mark.row("S4-5", "S4-30", "S0-2")
@pytest.mark.parametrize("odd", READABLE)
def test_a_readable_front_matter_loads(tmp_path: Path, odd: str) -> None:
    directory, head = READABLE[odd]
    write(tmp_path, directory, head)
    catalog = SkillCatalog.discover(tmp_path)
    (record,) = catalog.values()
    skill = record.load()
    assert skill.name == record.name
    assert skill.metadata.instructions == "# Body of it"
    assert record.description.replace("\u00a0", " ").strip("\"'") != ""
    assert AgentSkill.from_path(tmp_path / directory).description == record.description
    for found in catalog.diagnostics:
        assert found.severity == "warning"


@pytest.mark.row("S4-16", "V4-2", "V4-7")
@pytest.mark.parametrize("bad", REFUSED)
def test_what_cannot_be_read_is_said_and_hides_no_other(tmp_path: Path, bad: str) -> None:
    write(tmp_path, "bad", REFUSED[bad])
    write(tmp_path, "good", "name: good\ndescription: d")
    catalog = SkillCatalog.discover(tmp_path)
    assert list(catalog) == ["good"]
    assert [found.path for found in catalog.diagnostics if found.severity == "error"][:1] == [
        "bad/SKILL.md"
    ]


def test_descriptions_are_what_their_authors_meant(tmp_path: Path) -> None:
    wanted = {
        "colon": "Use when: a thing is to be done",
        "colons over lines": "Use when: a thing is to be done: now and then",
        "an indicator and text": "Does things: many",
        "quotes inside": 'Does "many" things',
        "quotes first": '"Many" things are done',
        "an apostrophe": "It's a thing",
        "an asterisk": "*Does* things",
        "a bracket": "[Beta] does things",
        "no space after the colon": "Does things",
        "a key twice": "Does things",
        "hints": "Does things",
    }
    for odd, description in wanted.items():
        directory, head = READABLE["a colon" if odd == "colon" else odd]
        write(tmp_path, directory, head)
        assert AgentSkill.from_path(tmp_path / directory).description == description, odd
    metadata = AgentSkill.from_path(tmp_path / "hints").metadata
    assert metadata.argument_hint == "[--input=path] [--restart]"
