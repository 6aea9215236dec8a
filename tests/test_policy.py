"""`on_command`: the host sees each simple command before it runs, and decides."""

# TM-POLICY-1

from __future__ import annotations

import pytest

from agentsandbox import AgentSkill, Sandbox
from agentsandbox.policy import CommandRequest


class Watch:
    """Remembers what it was asked; refuses the names it was given."""

    def __init__(self, *refused: str, answer: object = False) -> None:
        self.asked: list[CommandRequest] = []
        self.refused = refused
        self.answer = answer

    def __call__(self, request: CommandRequest) -> object:
        self.asked.append(request)
        return self.answer if request.argv[0] in self.refused else None

    @property
    def words(self) -> list[tuple[str, ...]]:
        return [request.argv for request in self.asked]


def test_words_are_resolved_and_the_place_is_given() -> None:
    watch = Watch()
    with Sandbox(on_command=watch) as sandbox:
        sandbox.execute('x="a b"; cd /tmp\necho $x "$x" $(echo in) *.none')
    assert watch.words == [
        ("cd", "/tmp"),
        ("echo", "in"),
        ("echo", "a", "b", "a b", "in", "*.none"),
    ]
    assert [request.cwd for request in watch.asked] == ["/workspace", "/tmp", "/tmp"]
    assert [request.line for request in watch.asked] == [1, 2, 2]


def test_a_refused_command_does_not_run() -> None:
    with Sandbox(on_command=Watch("rm"), files={"f": "x"}) as sandbox:
        result = sandbox.execute("rm f; echo $?; cat f")
        assert result.stdout == "126\nx"
        assert result.stderr == "bash: line 1: rm: not allowed by the host's policy\n"


def test_a_text_is_the_reason() -> None:
    with Sandbox(on_command=Watch("rm", answer="ask the owner first")) as sandbox:
        assert sandbox.execute("rm f").stderr == "bash: line 1: rm: ask the owner first\n"


@pytest.mark.parametrize(
    "script",
    [
        "rm f", "command rm f", "\\rm f", "r=rm; $r f", "eval rm f", "echo f | xargs rm",
        "find . -name f -exec rm {} ';'", "env rm f",
        "bash -c 'rm f'", "(rm f)", "x=$(rm f)", "rm f &\nwait", "true | rm f", "timeout 1 rm f",
        "g() { rm f; }; g", "cat <(rm f)",
        "/bin/rm f", "cp /bin/rm r; ./r f", "ln -s /bin/rm r; ./r f", "trap 'rm f' EXIT",
        "nohup rm f", "exec rm f",
        "awk 'BEGIN { system(\"rm f\") }'",
        "for i in 1; do rm f; done", "if rm f; then :; fi",
        "find . -name f | while read x; do rm $x; done", "coproc rm f; wait",
        "alias q=rm; shopt -s expand_aliases\nq f", "sed '1e rm f' /etc/passwd",
        "echo 'rm f' > s; . ./s", "nice rm f",
        "builtin command rm f",
    ],
)  # fmt: skip
def test_no_way_around(script: str) -> None:
    with Sandbox(on_command=Watch("rm"), files={"f": "kept\n"}) as sandbox:
        sandbox.execute(script, timeout=5)
        assert sandbox.fs.read_bytes("/workspace/f") == b"kept\n"


def test_a_policy_of_one_call_comes_after_the_sandboxes_own() -> None:
    own, call = Watch("rm"), Watch("touch")
    with Sandbox(on_command=own) as sandbox:
        result = sandbox.execute("touch f; rm f; echo on", on_command=call)
        assert result.stdout == "on\n"
        assert call.words == [("touch", "f"), ("echo", "on")]
        assert sandbox.execute("touch f; ls").stdout == "f\n"


def test_the_skill_of_a_script_is_given() -> None:
    watch = Watch()
    skill = AgentSkill.from_files(
        {"SKILL.md": "---\nname: s\ndescription: d\n---\n", "run.sh": "echo in\n"}
    )
    with Sandbox(skills=[skill], on_command=watch) as sandbox:
        sandbox.execute("sh /.sandbox/skills/s/run.sh; echo out")
    assert [(request.argv[0], request.skill) for request in watch.asked] == [
        ("sh", None),
        ("echo", "s"),
        ("echo", None),
    ]


def test_what_a_policy_raises_does_not_end_the_program() -> None:
    def policy(request: CommandRequest) -> bool:
        raise PermissionError("closed")

    with Sandbox(on_command=policy) as sandbox:
        assert sandbox.execute("echo never").stdout == ""
