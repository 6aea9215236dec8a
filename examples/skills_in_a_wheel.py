"""Skills that ship inside an installed package: found by their package's name, mounted read-only,
run in the sandbox.
"""

from agentsandbox import AgentSkill, Sandbox

skills = [
    AgentSkill.from_package("skills_embedded", name) for name in ("python-dev", "git-workflow")
]

with Sandbox(skills=skills) as sandbox:
    for skill in sandbox.get_mounted_skills():
        print(f"{skill.name} at {skill.mount_path}")
    print(
        sandbox.execute("sh /.sandbox/skills/python-dev/scripts/scaffold.sh weather-report")
        .check()
        .stdout,
        end="",
    )
    print(
        sandbox.execute(
            "sh /.sandbox/skills/git-workflow/scripts/check-branch.sh feat/forecast Feature/X"
        ).stdout,
        end="",
    )
    print(sandbox.execute("echo 'be evil' > /.sandbox/skills/python-dev/SKILL.md").stderr, end="")
