"""With the real Semantic Kernel: a scripted chat model sees the tools, calls them, and gets their
answers.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

import pytest

pytest.importorskip("semantic_kernel", reason="the extra `semantic-kernel` is not installed")

from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.chat_completion_client_base import ChatCompletionClientBase
from semantic_kernel.connectors.ai.function_calling_utils import (
    update_settings_from_function_call_configuration,
)
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.prompt_execution_settings import PromptExecutionSettings
from semantic_kernel.contents import (
    AuthorRole,
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
)
from semantic_kernel.functions import KernelPlugin

from agentsandbox import AgentSkill, Sandbox
from agentsandbox.integrations.semantic_kernel import (
    create_functions,
    create_get_skill_function,
    create_sandbox_function,
    to_kernel_function,
)
from agentsandbox.profiles.toolbox import skill_tools
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.session.session import SkillSession


class Settings(PromptExecutionSettings):
    tools: list[dict[str, Any]] | None = None
    tool_choice: Any = None


class ScriptedModel(ChatCompletionClientBase):
    """Answers with the next message of its script and keeps what it was shown."""

    SUPPORTS_FUNCTION_CALLING: ClassVar[bool] = True
    replies: list[Any] = []
    seen: list[Any] = []

    def get_prompt_execution_settings_class(self) -> type[PromptExecutionSettings]:
        return Settings

    def _update_function_choice_settings_callback(self) -> Any:
        return update_settings_from_function_call_configuration

    def _reset_function_choice_settings(self, settings: Any) -> None:
        settings.tools = settings.tool_choice = None

    async def _inner_get_chat_message_contents(
        self, chat_history: ChatHistory, settings: Any
    ) -> list[ChatMessageContent]:
        self.seen.append((list(chat_history.messages), settings.tools))
        return [self.replies.pop(0)]


def calls(*wanted: tuple[str, dict[str, Any]]) -> ChatMessageContent:
    items = [
        FunctionCallContent(id=str(number), name=f"sandbox-{name}", arguments=json.dumps(arguments))
        for number, (name, arguments) in enumerate(wanted)
    ]
    return ChatMessageContent(role=AuthorRole.ASSISTANT, items=items)


def take_turn(
    sandbox: Sandbox, *replies: ChatMessageContent, functions: list[Any] | None = None
) -> ScriptedModel:
    """One turn of an agent: the model's replies are played until it answers in words."""
    kernel = Kernel()
    kernel.add_plugin(
        KernelPlugin(name="sandbox", functions=functions or create_functions(sandbox))
    )
    model = ScriptedModel(ai_model_id="scripted", service_id="scripted")
    model.replies = [*replies, ChatMessageContent(role=AuthorRole.ASSISTANT, content="done")]
    model.seen = []
    history = ChatHistory()
    history.add_user_message("Please.")
    settings = Settings(function_choice_behavior=FunctionChoiceBehavior.Auto())
    answer = asyncio.run(model.get_chat_message_contents(history, settings, kernel=kernel))
    assert str(answer[0]) == "done"
    return model


def results(model: ScriptedModel) -> list[Any]:
    """What the model was told, last call by last."""
    messages, _ = model.seen[-1]
    items = [
        item
        for message in messages
        for item in message.items
        if isinstance(item, FunctionResultContent)
    ]
    return [json.loads(str(item.result)) for item in items]


@pytest.fixture
def sandbox() -> Sandbox:
    return Sandbox(
        skills=[
            AgentSkill.from_package("skills_embedded", name)
            for name in ("python-dev", "git-workflow")
        ]
    )


@pytest.mark.row("S2-2", "S2-34", "S2-36", "S2-40", "S2-41", "V2-24")
def test_the_functions_a_model_sees(sandbox: Sandbox) -> None:
    model = take_turn(sandbox)
    _, tools = model.seen[0]
    shown = {tool["function"]["name"]: tool["function"] for tool in tools}
    assert set(shown) == {"sandbox-sandbox_execute", "sandbox-get_skill"}
    lines = shown["sandbox-get_skill"]["description"].splitlines()
    assert lines[:2] == ["Gets detailed information about an agent skill.", "Available skills:"]
    assert [line.split(":")[0] for line in lines[2:]] == ["  - python-dev", "  - git-workflow"]
    parameters = shown["sandbox-get_skill"]["parameters"]
    assert parameters["required"] == ["skillName"]
    assert parameters["properties"]["skillName"]["enum"] == ["python-dev", "git-workflow"]
    assert (
        parameters["properties"]["skillName"]["description"] == "The name of the skill to retrieve"
    )
    assert (
        shown["sandbox-sandbox_execute"]["parameters"]["properties"]["command"]["type"] == "string"
    )


@pytest.mark.row("S2-4", "S2-38", "S2-40", "V2-25", "V2-26")
def test_a_whole_turn(sandbox: Sandbox) -> None:
    check = "/.sandbox/skills/git-workflow/scripts/check-branch.sh"
    model = take_turn(
        sandbox,
        calls(("get_skill", {"skillName": "Git-Workflow"})),
        calls(("sandbox_execute", {"command": f"sh {check} feat/login Bad/Name"})),
        calls(("sandbox_execute", {"command": "echo feat/login > branch && cat branch"})),
    )
    skill, bad, good = results(model)
    assert list(skill) == ["name", "description", "mountPath", "instructions"]
    assert skill["mountPath"] == "/.sandbox/skills/git-workflow"
    assert "scripts/check-branch.sh" in skill["instructions"]
    assert bad == {
        "exitCode": 1,
        "output": "feat/login: ok\nBad/Name: upper-case letters\n",
        "error": None,
    }
    assert good == {"exitCode": 0, "output": "feat/login\n", "error": None}
    assert sandbox.fs.read_text("/workspace/branch") == "feat/login\n"


def test_parallel_calls_of_one_reply(sandbox: Sandbox) -> None:
    wanted = [
        ("sandbox_execute", {"command": f"echo {number} >> log; sleep 0.01; wc -l < log"})
        for number in range(4)
    ]
    model = take_turn(sandbox, calls(*wanted, ("get_skill", {"skillName": "python-dev"})))
    answers = results(model)
    assert sorted(answer["output"] for answer in answers if "output" in answer) == [
        "1\n",
        "2\n",
        "3\n",
        "4\n",
    ]
    assert [answer["name"] for answer in answers if "name" in answer] == ["python-dev"]


def test_a_models_mistakes_come_back_as_text(sandbox: Sandbox) -> None:
    model = take_turn(
        sandbox,
        calls(("get_skill", {"skillName": "nope"})),
        calls(("sandbox_execute", {"command": "if"})),
        calls(("sandbox_execute", {"command": 17})),
    )
    unknown, syntax, wrong = results(model)
    assert unknown == {"error": "Skill 'nope' not found"}
    assert syntax["exitCode"] == 2
    assert "syntax error" in syntax["error"]
    assert wrong["error"]


def test_the_other_profiles_answer_in_json_too(sandbox: Sandbox) -> None:
    session = SkillSession(
        SkillCatalog(skills=[AgentSkill.from_package("skills_embedded", "git-workflow")]), sandbox
    )
    model = take_turn(
        sandbox,
        calls(("skill_activate", {"names": ["git-workflow"]})),
        calls(
            (
                "skill_run",
                {
                    "path": "scripts/check-branch.sh",
                    "args": ["feat/x"],
                    "env": {"A": "b"},
                    "timeout": 5,
                },
            )
        ),
        calls(("skill_read", {"path": "../x"})),
        functions=[to_kernel_function(tool, "sandbox") for tool in skill_tools(session)],
    )
    active, ran, refused = results(model)
    assert active["active_skills"][0]["name"] == "git-workflow"
    assert (ran["exit_code"], ran["stdout"]) == (0, "feat/x: ok\n")
    assert refused["error"]["type"] == "path"


def test_the_event_loop_is_not_held_up(sandbox: Sandbox) -> None:
    function = create_sandbox_function(sandbox)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.005)

    async def main() -> None:
        ticker = asyncio.create_task(tick())
        await function.invoke(
            Kernel(), command="i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.1"
        )
        ticker.cancel()

    asyncio.run(main())
    assert ticks > 5


@pytest.mark.row("S2-35")
def test_without_skills() -> None:
    function = create_get_skill_function(Sandbox())
    assert (
        function.metadata.description
        == "Gets detailed information about an agent skill. No skills are currently available."
    )
