"""The YAML at the head of a SKILL.md, and what is said of it."""

# TM-SKILL-2

from __future__ import annotations

import json

import pytest

from agentsandbox.errors import InvalidSkillError
from agentsandbox.skills.frontmatter import FrontmatterError, parse_skill_text, split_frontmatter
from agentsandbox.skills.metadata import SkillMetadata, read_metadata
from agentsandbox.skills.validation import split_tools


def skill(**fields: str) -> str:
    lines = [
        f"{name.replace('_', '-')}: {value}"
        for name, value in {"name": "x", "description": "d", **fields}.items()
    ]
    return "\n".join(["---", *lines, "---", "", "# Body", ""])


def codes(text: str, directory: str | None = None, *, strict: bool = True) -> set[str]:
    return {
        found.code
        for found in read_metadata(text, directory=directory, strict=strict)[1]
        if found.severity == "error"
    }


@pytest.mark.row("V2-12", "S2-15", "S2-38")
def test_instructions_are_what_follows_the_front_matter() -> None:
    metadata = SkillMetadata.parse(
        "---\nname: my-skill\ndescription: My description\n---\n\n# Instructions\nDo this."
    )
    assert (metadata.name, metadata.description, metadata.instructions) == (
        "my-skill",
        "My description",
        "# Instructions\nDo this.",
    )
    assert metadata.raw_content is not None
    assert metadata.raw_content.startswith("---\nname: my-skill\n")


@pytest.mark.row("V2-13")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\ndescription: d\n---\n", "Missing required field in frontmatter: name"),
        ("---\nname: x\n---\n", "Missing required field in frontmatter: description"),
        ("# just Markdown\n", "SKILL.md must start with YAML frontmatter (---)"),
        ("---\nname: x\n", "SKILL.md frontmatter not properly closed with ---"),
        ("---\n- a\n---\n", "SKILL.md frontmatter must be a YAML mapping"),
        (
            "---\nname: x\ndescription: [a, b]\n---\n",
            "Field 'description' must be a non-empty string",
        ),
    ],
)
def test_what_is_missing_is_named(text: str, problem: str) -> None:
    with pytest.raises(InvalidSkillError) as caught:
        SkillMetadata.parse(text)
    assert problem in caught.value.problems


def test_every_problem_is_listed() -> None:
    with pytest.raises(InvalidSkillError) as caught:
        SkillMetadata.parse(
            "---\nname: -A_b-\ndescription: ''\ncompatibility: [x]\n---\n", strict=True
        )
    assert len(caught.value.problems) == 5


@pytest.mark.row("S0-24", "S0-25", "S0-26", "S0-27", "V0-18", "S4-8")
@pytest.mark.parametrize(
    "name",
    [
        "A",
        "PDF-Processing",
        "-pdf",
        "pdf-",
        "pdf--x",
        "a_b",
        "a b",
        "a/b",
        "../x",
        "con",
        "é",
        "x" * 65,
    ],
)
def test_bad_names_are_refused(name: str) -> None:
    assert codes(skill(name=name))


@pytest.mark.row("V0-18")
@pytest.mark.parametrize("name", ["a", "1", "a-1-b", "x" * 64])
def test_good_names_pass(name: str) -> None:
    assert not codes(skill(name=name))


@pytest.mark.row("S0-21", "S0-29", "V0-19", "S4-9")
def test_lengths_of_description_and_compatibility() -> None:
    assert not codes(skill(description="d" * 1024, compatibility="c" * 500))
    assert codes(skill(description="d" * 1025)) == {"description-too-long"}
    assert codes(skill(compatibility="c" * 501)) == {"compatibility-too-long"}
    assert codes(skill(description="''")) == {"empty-description"}


@pytest.mark.row("S0-28", "V0-20", "V4-3")
def test_the_directory_must_have_the_skills_name() -> None:
    assert codes(skill(), directory="y") == {"name-directory"}
    assert not codes(skill(), directory="y", strict=False)
    assert not codes(skill(), directory="x")


@pytest.mark.row("V3-3")
@pytest.mark.parametrize(
    ("title", "directory", "name"),
    [
        ("PDF Tools", "pdf-tools", "pdf-tools"),
        ("Company Portrait", "portrait", "portrait"),
        ("GrepTool", "GrepTool", "greptool"),
        ("my_skill", "my_skill", "my-skill"),
        ("-lead", None, "lead"),
        ("v1.2 notes", None, "v1-2-notes"),
        ("CI/CD Pipeline", "ci", "ci"),
        ("What's New & Why", None, "what-s-new-why"),
        ("公司画像", "公司画像", "skill-8c8f9224"),
        ("数据 analysis", None, "analysis-7f57fa56"),
        ("x" * 100, "a", "a"),
    ],
)
def test_lenient_takes_titles(title: str, directory: str | None, name: str) -> None:
    metadata, found = read_metadata(
        skill(name=json.dumps(title)), directory=directory, prefer_directory=True
    )
    assert metadata is not None
    assert (metadata.name, metadata.title) == (name, title)
    assert found
    assert read_metadata(skill(name=json.dumps(title)), directory=directory, strict=True)[0] is None


def test_lenient_takes_nothing_that_could_be_an_attack() -> None:
    for name in (
        "../evil",
        "/etc",
        "..",
        "a/../b",
        "~root",
        '"\\u202egood"',
        "con",
        '"good\'; rm -rf /"',
        "<skill>",
        "`id`",
        "$HOME",
        '"\\e[2J"',
    ):
        assert read_metadata(skill(name=name), directory="good")[0] is None, name


@pytest.mark.row("S3-5", "S3-6", "S3-7", "V3-4")
def test_block_scalars_flow_lists_and_comments() -> None:
    text = (
        "---\nname: x # why\ndescription: >\n  one\n  two\ntags: [a, b]\nrequires: []\n"
        "license: 'it''s'\n---\n"
    )
    metadata = SkillMetadata.parse(text)
    assert metadata.description == "one two"
    assert (metadata.tags, metadata.requires, metadata.license) == (("a", "b"), (), "it's")


@pytest.mark.row("S0-20", "S0-22", "S0-23", "S4-7")
def test_optional_fields_and_unknown_ones_are_kept() -> None:
    metadata = SkillMetadata.parse(
        skill(
            license="MIT",
            allowed_tools="Bash(git:*) Read",
            metadata="{a: 1, b: {c: [d]}}",
            foo="[1, true]",
        )
    )
    assert metadata.license == "MIT"
    assert metadata.allowed_tools == ("Bash(git:*)", "Read")
    assert metadata.metadata == {"a": "1", "b": '{"c": ["d"]}'}
    assert metadata.extra == {"foo": ["1", "true"]}


@pytest.mark.row("V4-4")
def test_unknown_fields_are_no_errors() -> None:
    assert not codes(skill(foo="1", allowed_tools="Bash(git:*) Read"))


def test_byte_order_mark_and_crlf() -> None:
    head, body = split_frontmatter("\ufeff---\r\nname: x\r\ndescription: d\r\n---\r\n\r\nbody\r\n")
    assert (head, body) == ("name: x\ndescription: d", "body")


def test_an_unquoted_colon_is_mended_and_reported() -> None:
    metadata, found = read_metadata(
        skill(description="use it when: always\n  and: everywhere", globs="*.md")
    )
    assert metadata is not None
    assert metadata.description == "use it when: always and: everywhere"
    assert [diagnostic.code for diagnostic in found if diagnostic.severity == "warning"] == [
        "repaired-yaml",
        "unknown-field",
    ]


@pytest.mark.parametrize(
    ("value", "tools"),
    [
        ("Bash(git:*) Read", ("Bash(git:*)", "Read")),
        (
            "Bash(git add:*, git commit:*), Read,Write",
            ("Bash(git add:*, git commit:*)", "Read", "Write"),
        ),
        (["Read", " Bash "], ("Read", "Bash")),
        ({"a": "b"}, None),
        ("", ()),
    ],
)
def test_allowed_tools_in_all_their_forms(value: object, tools: tuple[str, ...] | None) -> None:
    assert split_tools(value) == tools


@pytest.mark.row("V4-2")
@pytest.mark.parametrize(
    ("head", "code"),
    [
        ("name: &a x\ndescription: *a", "yaml-alias"),
        ("name: x\ndescription: !!python/object/apply:os.system [id]", "yaml-tag"),
        ("name: !!str x\ndescription: d", "yaml-tag"),
        ("a: &m {name: evil}\n<<: *m\nname: x", "yaml-alias"),
        ("<<: {name: evil}\nname: x", "yaml-merge"),
        ("%YAML 1.1\n--- \nname: x", "unclosed"),
        ("? [a]\n: b", "yaml-key"),
        ("a: " + "[" * 50, "yaml-too-large"),
        ("\n".join(f"k{number}: v" for number in range(3000)), "yaml-too-large"),
        ("a: " + "x" * 70_000, "frontmatter-too-large"),
        ("name: \x00", "invalid-yaml"),
        ("\tname: x", "invalid-yaml"),
    ],
)
def test_yaml_that_is_no_plain_text_is_refused(head: str, code: str) -> None:
    if code == "unclosed":
        with pytest.raises(FrontmatterError):
            parse_skill_text(f"---\n{head}\n---\n")
        return
    with pytest.raises(FrontmatterError) as caught:
        parse_skill_text(f"---\n{head}\n---\n")
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("head", "fields"),
    [
        ("name: x\n? [a]\n: b\ndescription: d", {"name": "x", "description": "d"}),
        ("name: x\n[a, b]: c\n  more\ndescription: d", {"name": "x", "description": "d"}),
        ("name: x\n{a: b}: c\ndescription: d", {"name": "x", "description": "d"}),
        ("name: x\ndescription: d\nmetadata: {[a, b]: c}", {"name": "x", "description": "d"}),
        ("name: x\ndescription: d\ntags: [[a]: b]\nz: 1",
         {"name": "x", "description": "d", "z": "1"}),
        ("name: x\ndescription: {{what}} it", {"name": "x", "description": "{{what}} it"}),
        ("name: x\ndescription: d\nallowed-tools: {[Bash]: a}", {"name": "x", "description": "d"}),
        ("name: x\ndescription: d\nargument-hint: {[a]: b}",
         {"name": "x", "description": "d", "argument-hint": "{[a]: b}"}),
    ],
)  # fmt: skip
def test_a_list_as_a_key_refuses_its_field_alone(head: str, fields: dict[str, str]) -> None:
    front = parse_skill_text(f"---\n{head}\n---\n")
    assert front.fields == fields
    assert front.oddities


def test_what_is_mended_is_an_error_only_to_the_strict() -> None:
    for text, code in (
        ("---\nname: y\nname: x\ndescription: d\n---\n", "yaml-duplicate"),
        ("\n\n---\nname: x\ndescription: d\n---\n", "late-start"),
        ("<!-- (c)\nsomebody -->\n\n---\nname: x\ndescription: d\n---\n", "late-start"),
        ("````skill\n---\nname: x\ndescription: d\n---\n````\n", "late-start"),
        ("  ---\nname: x\ndescription: d\n---\n", "late-start"),
        ("---\nname: x\ndescription: d\n -----\n", "loose-fence"),
        ("---\nname: x\ndescription: d: e\n---\n", "repaired-yaml"),
    ):
        metadata, found = read_metadata(text)
        assert metadata is not None
        assert metadata.name == "x"
        assert [each.code for each in found] == [code]
        assert codes(text) == {code}


def test_a_code_block_around_a_skill_is_not_part_of_its_instructions() -> None:
    for text in (
        "```skill\n---\nname: x\ndescription: d\n---\n# Body\n```sh\nls\n```\n```\n",
        "```yaml\n---\nname: x\ndescription: d\n---\n```\n# Body\n```sh\nls\n```\n",
        "<!-- --> \n---\nname: x\ndescription: d\n---\n# Body\n```sh\nls\n```\n",
    ):
        assert SkillMetadata.parse(text).instructions == "# Body\n```sh\nls\n```"


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n---\nname: x\ndescription: d\n---\n",
        "<!-- a --> b\n---\nname: x\ndescription: d\n---\n",
    ],
)
def test_text_before_the_front_matter_is_ignored(text: str) -> None:
    assert codes(text, strict=False) == {"no-frontmatter"}


@pytest.mark.parametrize("name", ["[x]", "{x: y}", "\n  - x"])
def test_a_name_that_is_no_text_is_the_directory_s(name: str) -> None:
    metadata, found = read_metadata(f"---\nname: {name}\ndescription: d\n---\n", directory="x")
    assert metadata is not None
    assert (metadata.name, metadata.title) == ("x", "")
    assert [each.code for each in found] == ["empty-name"]


def test_values_keep_their_spelling() -> None:
    fields = parse_skill_text(
        "---\na: yes\nb: 1.0\nc: 2024-01-01\nd: null\ne: 0x10\nf:\n---\n"
    ).fields
    assert fields == {"a": "yes", "b": "1.0", "c": "2024-01-01", "d": "null", "e": "0x10", "f": ""}


def test_fields_of_other_runtimes_are_understood() -> None:
    needs = '{openclaw: {requires: {bins: [jq], env: ["TOKEN"]}}}'
    text = skill(
        disable_model_invocation="true",
        user_invocable="false",
        argument_hint="'[file]'",
        arguments="[a, b]",
        metadata=needs,
    )
    metadata = SkillMetadata.parse(text)
    assert not metadata.model_invocable
    assert not metadata.user_invocable
    assert (metadata.argument_hint, metadata.arguments) == ("[file]", ("a", "b"))
    assert metadata.needs == {"bins": ["jq"], "env": ["TOKEN"]}
