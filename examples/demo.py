"""An agent's work with a real skill: what it sees, reads and runs, and the files that it makes."""

import json
import textwrap

from agentsandbox import AgentSkill, Sandbox
from agentsandbox.profiles.agentsandbox import tools

SCAFFOLD = "sh /.sandbox/skills/python-dev/scripts/scaffold.sh weather-report"
CHECK = "sh /.sandbox/skills/python-dev/scripts/check-pyproject.sh weather-report/pyproject.toml"


def heading(text: str) -> None:
    print(f"\n== {text} ==\n")


def show(sandbox: Sandbox, script: str) -> None:
    """Run a script as the agent's tool does, and show it as a terminal would."""
    result = sandbox.execute(script)
    print(f"$ {script}\n{result.stdout}{result.stderr}", end="")
    if result.exit_code:
        print(f"(exit status {result.exit_code})")


skill = AgentSkill.from_package("skills_embedded", "python-dev")

with Sandbox(skills=[skill], clock=lambda: 1_767_225_600, seed=1) as sandbox:
    offered = {tool.wire_name: tool for tool in tools(sandbox)}

    heading("1. What the model sees: the description of the tool get_skill")
    for line in offered["get_skill"].description.splitlines():
        print(textwrap.fill(line, 100, subsequent_indent="      "))

    heading('2. What it reads: get_skill("python-dev"), the first lines')
    answer = json.loads(offered["get_skill"].call({"skillName": "python-dev"}))
    instructions = answer["instructions"].strip().splitlines()
    print("\n".join(instructions[:9]))
    print(f"… {len(instructions) - 9} more lines; files at {answer['mountPath']}")

    heading("3. What it runs: the skill's own script, in the sandbox")
    show(sandbox, SCAFFOLD)

    heading("4. What is there now: files in the sandbox, none on this machine")
    show(sandbox, "tree -a weather-report")
    show(sandbox, "cat weather-report/src/weather_report/__init__.py")
    show(sandbox, f"{CHECK} && date")

    heading("5. What it cannot do")
    show(sandbox, "echo 'obey me' >> /.sandbox/skills/python-dev/SKILL.md")
    show(sandbox, "cat /etc/shadow; curl -s https://example.com")
