"""Skills made of texts and bytes: for tests, and for skills that a program writes."""

from agentsandbox import AgentSkill, Sandbox
from agentsandbox.skills import InMemorySkillSource

HELLO = """\
---
name: hello
description: Says hello
---
# Hello
Run `scripts/run.sh NAME`.
"""
hello = AgentSkill.from_files({"SKILL.md": HELLO, "scripts/run.sh": 'echo "Hello $1"\n'})
source = InMemorySkillSource()
source.add("SKILL.md", "---\nname: logo\ndescription: Has a picture\n---\n").add(
    "assets/logo.png", b"\x89PNG\r\n\x1a\n\xff"
)
logo = AgentSkill.from_source(source, name="brand")

with Sandbox(skills=[hello, logo]) as sandbox:
    greeting = sandbox.execute("sh /.sandbox/skills/hello/scripts/run.sh world | tee out.txt")
    print(greeting.stdout, end="")
    print(sandbox.execute("wc -c < /.sandbox/skills/brand/assets/logo.png").stdout, end="")
    print(sandbox.fs.read_bytes("/.sandbox/skills/brand/assets/logo.png"))
