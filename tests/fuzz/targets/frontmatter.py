"""Front matter of skills: a text is a skill, or the documented error says why not."""

from __future__ import annotations

from agentsandbox.skills.frontmatter import FrontmatterError, parse_skill_text
from tests.fuzz.judge import Problem, judged
from tests.fuzz.target import Target

WORDS = (
    b"---\n", b"\n---\n", b"name: ", b"description: ", b"license: ", b"metadata:\n  a: b\n",
    b"allowed-tools: Bash(ls:*) Read\n", b"compatibility: ", b"&a ", b"*a", b"!!python/object:", b"!!str ",
    b"<<: ", b"|\n", b">-\n", b"? ", b"- ", b"[", b"]", b"{", b"}", b"\t", b"\r\n", b"%YAML 1.2\n", b"...\n",
    b"'", b'"', b"\\u0000", b"# ", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"0o17", b"yes", b"null", b"~", b"1e3", b"2001-01-01",
)  # fmt: skip

SEEDS = (
    b"---\nname: a-b\ndescription: what it does\n---\n# Body\n",
    b"---\nname: x\ndescription: >-\n  folded\n  text\nmetadata:\n  version: '1'\nallowed-tools: Read, Bash(git:*)\n---\n",
    b'---\r\nname: x\r\ndescription: "a: b"\r\n---\r\ntext',
    b"---\nname: &n x\ndescription: *n\n---\n",
)


def run(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    found = judged(lambda: parse_skill_text(text), (FrontmatterError,))
    if found is not None:
        for value in found.fields.values() if hasattr(found, "fields") else ():  # type: ignore[attr-defined]
            if not isinstance(value, (str, dict, list, int, float, bool, type(None))):
                raise Problem("an object", "frontmatter", repr(value))


TARGET = Target("frontmatter", run, lambda count: list(SEEDS), WORDS)
