"""Skills in an installed package: found by its name, mounted read-only, run in the sandbox."""

from agentsandbox import AgentSkill, Sandbox

skills = [
    AgentSkill.from_package("skills_embedded", name) for name in ("python-dev", "git-workflow")
]

with Sandbox(skills=skills) as sandbox:
    for skill in sandbox.get_mounted_skills():
        print(f"{skill.name} at {skill.mount_path}")
    made = sandbox.execute("sh /.sandbox/skills/python-dev/scripts/scaffold.sh weather-report")
    print(made.check().stdout, end="")
    checker = "/.sandbox/skills/git-workflow/scripts/check-branch.sh"
    print(sandbox.execute(f"sh {checker} feat/forecast Feature/X").stdout, end="")
    print(sandbox.execute("echo 'be evil' > /.sandbox/skills/python-dev/SKILL.md").stderr, end="")
