"""An agent's turn in git: clone what the host offers, commit, push; the host reviews and merges.

The agent is a list of scripts, so that the example runs without a model. The host's repository is
a folder that real git could use as well; here the sandbox's git makes it.
"""

import tempfile
from pathlib import Path

from agentsandbox import AgentSkill, Sandbox

PEOPLE = {
    "GIT_AUTHOR_NAME": "Agent", "GIT_AUTHOR_EMAIL": "agent@example.com",
    "GIT_COMMITTER_NAME": "Agent", "GIT_COMMITTER_EMAIL": "agent@example.com",
}  # fmt: skip
SKILL = "/.sandbox/skills/git-workflow/scripts"


def make_repository(folder: Path) -> None:
    """Make the host's repository: a bare one with one commit."""
    with Sandbox(env=PEOPLE, clock=lambda: 1_700_000_000) as sandbox:
        sandbox.execute(
            "git init -q -b main work && cd work && echo '# Greeter' > README.md && git add . && "
            "git commit -qm 'feat: begin' && cd .. && git clone -q --bare work greeter.git"
        ).check()
        sandbox.files.export(folder, "greeter.git")


TURN = [
    f"git clone -q origin greeter && cd greeter && sh {SKILL}/install-hooks.sh",
    "git switch -q -c feat/greet && echo 'echo \"Hello $1\"' > greet.sh && git add greet.sh",
    "git commit -qm 'Added a script.'",
    "git commit -qm 'feat: greet by name' && echo 'sh greet.sh NAME' >> README.md",
    f"git commit -qam 'docs: say how to call it' && sh {SKILL}/check-commits.sh main..HEAD",
    "git push -q origin feat/greet",
]

with tempfile.TemporaryDirectory() as folder:
    repository = Path(folder) / "greeter.git"
    make_repository(repository)
    skill = AgentSkill.from_package("skills_embedded", "git-workflow")
    with Sandbox(
        env=PEOPLE, skills=[skill], git_remotes={"origin": repository}, clock=lambda: 1_700_000_000
    ) as sandbox:
        for script in TURN:
            result = sandbox.execute(script)
            print(f"$ {script.rpartition('&& ')[2]}\n{result.stdout}{result.stderr}", end="")

        print("The host reviews:")
        base = sandbox.git.commits(head="origin/main")[0].id
        for commit in sandbox.git.commits(base):
            print(f"  {commit.id[:7]} {commit.subject} ({commit.author.name})")
        for change in sandbox.git.diff(base, "HEAD").files:
            print(f"  {change.status} {change.path}: +{change.added} -{change.deleted}")
        print([patch.name for patch in sandbox.git.format_patches(base)])
    waiting = repository / "refs" / "quarantine" / "heads" / "feat" / "greet"
    print("in quarantine:", waiting.exists())
