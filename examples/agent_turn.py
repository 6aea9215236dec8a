"""A whole agent turn: the model sees the tools, reads a skill and follows it.

The model is a script, so that the example runs without one.
"""

import asyncio
import json
from typing import Any

from agentsandbox import AgentSkill, Sandbox
from agentsandbox.profiles.agentsandbox import tools

CHECK = "sh /.sandbox/skills/git-workflow/scripts/check-message.sh"
SCRIPT: list[tuple[str, dict[str, Any]] | str] = [
    ("get_skill", {"skillName": "git-workflow"}),
    ("sandbox_execute", {"command": f"echo 'Fixed the parser.' | {CHECK}"}),
    ("sandbox_execute", {"command": f"echo 'fix: read empty files' | {CHECK}"}),
    "The message is now: fix: read empty files",
]


class ScriptedModel:
    """Answers with the next entry of a script: a tool call or a final text."""

    def __init__(self, script: list[tuple[str, dict[str, Any]] | str]) -> None:
        self.script = iter(script)

    def reply(
        self, messages: list[dict[str, str]], declarations: list[dict[str, Any]]
    ) -> tuple[str, dict[str, Any]] | str:
        assert messages and {tool["name"] for tool in declarations} == {
            "sandbox_execute",
            "get_skill",
        }
        return next(self.script)


async def turn(sandbox: Sandbox, model: ScriptedModel, question: str) -> str:
    """Call the tools that the model asks for until it answers in words."""
    offered = {tool.wire_name: tool for tool in tools(sandbox)}
    print(offered["get_skill"].description)
    messages = [{"role": "user", "content": question}]
    while True:
        reply = model.reply(messages, [tool.as_function() for tool in offered.values()])
        if isinstance(reply, str):
            return reply
        name, arguments = reply
        answer = await offered[name].acall(arguments)
        messages.append({"role": "tool", "content": answer})
        shown = {key: value for key, value in json.loads(answer).items() if key != "instructions"}
        print(f"{name} -> {json.dumps(shown)}")


with Sandbox(skills=[AgentSkill.from_package("skills_embedded", "git-workflow")]) as sandbox:
    question = "Please write the commit message for the parser fix."
    print(asyncio.run(turn(sandbox, ScriptedModel(SCRIPT), question)))
