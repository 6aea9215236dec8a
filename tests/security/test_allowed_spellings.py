"""A skill's script runs what its `allowed-tools` name and its own files, however it is spelled.

* Every module of the package that runs other commands is in `RUNNERS`, with a script in which it
  does; its command is allowed, what it runs is not. A new one is missing there and fails the test.
* A script of the skill may be run by an interpreter: its path, the words before it and what
  surrounds the call are put together, while a background job changes the links on the way.

`SPELLINGS` is the number of calls of an interpreter.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest

from agentsandbox import AgentSkill, CommandContext, Limits, Sandbox
from agentsandbox.contract.command import Arguments, Command, command
from agentsandbox.skills import SkillCatalog, SkillSession

PACKAGE = Path(__file__).parents[2] / "agentsandbox"
COUNT = int(os.environ.get("SPELLINGS", "60"))
FIRST = int(os.environ.get("SPELLINGS_FIRST", "0"))

RUNS_OTHERS = re.compile(r"\bctx\.(?:run|start)\b")
RUNNERS = {
    "commands/awk/channels.py": ("awk", "awk 'BEGIN { system(\"marker\"); print | \"marker\"; \"marker\" | getline; print |& \"marker\" }'"),
    "commands/diff/zdiff.py": ("zdiff", "ln -s /bin/marker diff; export PATH=.:$PATH; zdiff f f; zcmp f f"),
    "commands/ed/files.py": ("ed", "printf '!marker\\nr !marker\\nw !marker\\n' | ed -s f"),
    "commands/find/actions.py": ("find", "find . -maxdepth 0 -exec marker {} \\; -exec marker {} + -execdir marker \\; -okdir marker \\;"),
    "commands/make/recipes.py": ("make", "printf 'x := $(shell marker)\\na:\\n\\tmarker\\n\\t@+-marker\\n' > Makefile; make; make SHELL=/bin/marker"),
    "commands/pagers/zless.py": ("zless", "PAGER=marker zless f; LESSOPEN='|marker %s' zless f"),
    "commands/processes/watch.py": ("watch", "timeout 0.2 watch -n 0.1 marker; timeout 0.2 watch -xn 0.1 marker"),
    "commands/running/env.py": ("env", "env marker; env -i PATH=$PATH marker; env -S marker; env -C / marker; env -u X marker"),
    "commands/running/flock.py": ("flock", "flock f marker; flock f -c marker; flock -o f marker"),
    "commands/running/ionice.py": ("ionice", "ionice -c 3 marker"),
    "commands/running/nice.py": ("nice", "nice marker; nice -n 3 marker; nice -3 marker"),
    "commands/running/nohup.py": ("nohup", "nohup marker"),
    "commands/running/parallel.py": ("parallel", "parallel marker ::: a; parallel ::: marker; echo marker | parallel"),
    "commands/running/setsid.py": ("setsid", "setsid marker; setsid -w marker"),
    "commands/running/stdbuf.py": ("stdbuf", "stdbuf -oL marker"),
    "commands/running/time.py": ("time", "command time marker; /usr/bin/time -p marker"),
    "commands/running/timeout.py": ("timeout", "timeout 5 marker; timeout -k 1 5 marker"),
    "commands/running/xargs.py": ("xargs", "echo a | xargs marker; echo marker | xargs; xargs -I{} {} <<< marker; xargs -P2 -n1 marker <<< 'a b'"),
    "commands/script.py": ("script", "script -qc marker /dev/null; SHELL=/bin/marker script -q /dev/null"),
    "commands/split/pieces.py": ("split", "split --filter=marker f"),
    "commands/sqlite3/shell.py": ("sqlite3", "printf '.shell marker\\n.system marker\\n' | sqlite3"),
    "commands/sqlite3/targets.py": ("sqlite3", "printf '.once |marker\\nselect 1;\\n.output |marker\\nselect 1;\\n' | sqlite3; sqlite3 :memory: '.import |marker t'"),
    "commands/tar/stream.py": ("tar", "tar cf t f; tar xf t --to-command=marker; tar cf t -I marker f; tar xf t -I marker; tar cf t --use-compress-program=marker f"),
    "commands/zip/archive.py": ("zip", "ln -s /bin/marker unzip; export PATH=.:$PATH; zip -qT z f"),
    "git/surroundings.py": ("git", (
        "git init -q r; cd r; git config user.name a; git config user.email b; git config alias.x '!marker'; git x; "
        "for h in pre-commit post-commit commit-msg post-checkout; do printf '#!/bin/sh\\nmarker\\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done; "
        "echo 1 > f; git add f; GIT_EDITOR=marker git commit; git commit -qm x; git checkout -q -b y; git config core.pager marker; git log; "
        "GIT_PAGER=marker git -p log; git bisect start; git bisect run marker; git submodule foreach marker; git rebase -x marker HEAD; "
        "git config diff.external marker; GIT_EXTERNAL_DIFF=marker git diff; git config core.fsmonitor marker; git status; "
        "git filter-branch --tree-filter marker; git difftool -x marker; git mergetool; git -c core.sshCommand=marker fetch ssh://h/x"
    )),
    "commands/_optional/aliases.py": ("shown", "shown"),
    "commands/_optional/sudo.py": ("sudo", "sudo marker; sudo -u agent marker; sudo -- marker; sudo sh -c marker"),
}  # fmt: skip
"""Module → (the command that is allowed, a script in which it tries to run `marker`)."""
GUESTS = {"javascript/door.py", "python/door.py", "python/uv.py"}
"""Guests ask for a child process through `ctx.run` as well: `python/test_policy.py` has them."""
SHELL = [
    "marker", "command marker", "command -p marker", "exec marker", "eval marker", "builtin command marker", "\\marker", "'marker'",
    "/bin/marker", "/usr/bin/../bin/marker", "//bin//marker", "(exec -a env marker)", "exec -a bash marker", "x=$(marker)", "marker &", "coproc marker; wait",
    "f() { marker; }; f", "marker() { command marker; }; marker", "trap marker EXIT", "trap marker DEBUG; :", "alias ls=marker; shopt -s expand_aliases; eval ls",
    "hash -p /bin/marker env; env", "hash -p /bin/marker cat; cat f", "ln -s /bin/marker env; ./env", "ln -s /bin/marker sh; ./sh f", "cp /bin/marker bash; ./bash -c x",
    "cp /bin/marker test; ./test", "printf '#!/bin/marker\\n' > s; chmod +x s; ./s", "printf '#!/usr/bin/env marker\\n' > time; chmod +x time; ./time",
    "printf '#!/usr/bin/env -S marker\\n' > true; chmod +x true; ./true", "printf '#!/bin/marker\\n' > env; chmod +x env; PATH=.:$PATH; env x",
    "printf 'marker\\n' > sh; chmod +x sh; ./sh", "printf 'marker\\n' | sh", "sh <<< marker", "bash -s <<< marker", "bash --rcfile f -ic marker", "BASH_ENV=<(echo marker) bash -c :",
    ". /dev/stdin <<< marker", "source <(echo marker)", "bash <(echo marker)", "mapfile -C marker -c 1 < f", "complete -C marker x; compgen -C marker x", "PROMPT_COMMAND=marker bash -ic :",
    "PS4='$(marker)'; set -x; :", "echo ${x:-$(marker)}", "(( $(marker) + 1 ))", "[[ -n $(marker) ]]", "cat <(marker)", "command_not_found_handle() { marker; }; nosuch",
    "enable -n echo; marker", "time marker", "! marker", "sh -c 'exec marker'", "sh -ec marker", "bash -xc marker", "bash +x -c marker", "bash -c 'marker' marker",
    "env -S 'sh -c marker'", "env bash -c marker", "exec env marker", "nohup sh -c marker", "timeout 5 sh -c marker", "echo marker | xargs -I{} sh -c {}", "bash -O extglob -c marker",
    "bind -x '\"a\":marker'", "fc -s marker", "history -s marker; fc -e marker", "let 'x=$(marker)'; declare x=$(marker)", "printf -v x %s $(marker)", "read x < <(marker)",
    "select x in $(marker); do break; done <<< 1", "case $(marker) in *) ;; esac", "exec 3> >(marker)", "disown; bg; marker", "set -- marker; $1", "x=(marker); ${x[0]}", "m{a..a}rker; marke[r]",
]  # fmt: skip


def _marker(seen: list[str]) -> Command:
    @command("marker", usage="Usage: marker [WORD]...\nNote that it ran.\n")
    def marker(ctx: CommandContext, args: Arguments) -> int:
        seen.append(ctx.name)
        return 0

    return marker


def _run(script: str, tools: str, seen: list[str], **options: object) -> str:
    text = f"---\nname: n\ndescription: d\nallowed-tools: {tools}\n---\n"
    skill = AgentSkill.from_files({"SKILL.md": text, "x.sh": f"set +e\n{script}\n"})
    with Sandbox(
        files={"/workspace/f": "a\nb\n"},
        commands=[_marker(seen)],
        **options,  # type: ignore[arg-type]
    ) as sandbox:
        session = SkillSession(SkillCatalog(skills=[skill]), sandbox, allowed_tools="enforce")
        result = session.run_script("x.sh", skill="n")
        assert result.exit_code != 70, result.stderr
        return result.stderr


def test_every_module_that_runs_others_is_listed() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for folder in ("commands", "git", "python", "javascript")
        for path in (PACKAGE / folder).rglob("*.py")
        if "prelude" not in path.parts and RUNS_OTHERS.search(path.read_text(encoding="utf-8"))
    }
    assert found == {*RUNNERS, *GUESTS}


# TM-SKILL-5, TM-POLICY-1
@pytest.mark.parametrize("module", RUNNERS)
def test_what_an_allowed_command_runs_is_asked_about(module: str) -> None:
    name, script = RUNNERS[module]
    seen: list[str] = []
    options = {"sudo": True, "aliases": {"shown": "marker -x"}}
    tools = f"Bash({name}:*, cp:*, ln:*, chmod:*, printf:*, diff:*, unzip:*, less:*, cat:*)"
    stderr = _run(script, tools, seen, **options)
    assert seen == []
    _run(script, "Bash(*)", seen, **options)
    assert seen or "allowed tools" in stderr, "the script does not try"


# TM-SKILL-5, TM-POLICY-1
@pytest.mark.parametrize("script", SHELL)
def test_no_spelling_of_the_shell_runs_what_is_not_named(script: str) -> None:
    seen: list[str] = []
    _run(script, "Bash(cat:*, cp:*, ln:*, chmod:*)", seen)
    assert seen == []


STARTING = (
    "(echo a) & wait; cat <(echo b); exec 3>&1; echo c >&3; coproc cat; x=$(yes | head -n 9); echo d 2>&1 >&2 | cat;"
    " yes | head -n 90000 | tail -n 1; read -r l; exec 4<&0; (sleep 0.01; echo e) & : > >(cat); wait"
)


# TM-OUT-1
@pytest.mark.parametrize("module", RUNNERS)
def test_what_a_command_runs_may_start_processes(module: str) -> None:
    script = RUNNERS[module][1].replace("/bin/marker", "/workspace/marker")
    options = {"sudo": True, "aliases": {"shown": "marker -x"}}
    with Sandbox(files={"f": "a\nb\n"}, jobs="kill", **options) as sandbox:  # type: ignore[arg-type]
        sandbox.execute(f"printf '%s\\n' '{STARTING}' > marker; chmod +x marker")
        result = sandbox.execute(f"PATH=$PATH:/workspace; {script}", timeout=3, stdin=b"in\n")
    assert result.exit_code != 70, result.stderr
    assert "internal error" not in result.stderr


OWN = "own text\n"
ROOT = "/.sandbox/skills/n"
PATHS = [
    "l", "./l", "dl/own.py", "d/up/own.py", "here/l", "here/here/l",
    f"{ROOT}/own.py", f"/{ROOT}/own.py", f"{ROOT}//own.py", f"{ROOT}/./own.py", f"{ROOT}/d/../own.py", f"{ROOT}/x/../own.py",
    "l", "./l", "dl/own.py", "dl/../own.py", "d/l2", "d/../l", "d/up/own.py", "here/l", "here/here/../l", "own.py", "./own.py", "OWN.PY",
    "hard", "/workspace/own.py", f"/workspace/up{ROOT}/own.py", f"d/../..{ROOT}/own.py", f"dl/../..{ROOT}/own.py", f"here/../..{ROOT}/own.py",
    f"{ROOT}/own.py/", f"{ROOT}/own.py/.", f" {ROOT}/own.py", f"{ROOT}/own.py ", f"{ROOT}/ow?.py", f"~/..{ROOT}/own.py", "/dev/stdin", "-", "/dev/fd/5", "/proc/self/fd/5",
    f"@{ROOT}/own.py", f"file://{ROOT}/own.py", "", "d", "p", "e\u0301.py", "\u00e9.py",
]  # fmt: skip
BEFORE = [
    "", "", "", "-u ", "-c ", "-cevil ", "-m ", "-mevil ", "-", "-- ", "-I ", "-W ignore ", "--option ", "--option=", "-X dev evil ", "evil ", "+x ", "@", "-e", "-r evil ",
]  # fmt: skip
AROUND = [
    "{}", "command {}", "exec {}", "env {}", "env -i PATH=$PATH {}", "env A=b {}", "A=b {}", "nice {}", "timeout 5 {}", "nohup {}", "xargs {} < /dev/null", "echo a | xargs -I% {}", "sh -c '{}'",
    "eval '{}'", "( {} )", "{} &\nwait", "x=$({})", "find . -maxdepth 0 -exec {} \\;", "cd {root}; {}", "cd d; {}", "cd dl; {}", "f() {{ {}; }}; f", "{} < evil.py", "{} 5< evil.py", "bash -c 'exec {}'",
    "runner() {{ command runner evil.py; }}; {}", "alias runner='runner evil.py'; shopt -s expand_aliases; eval '{}'", "PATH=.:$PATH; {}", "hash -p /workspace/runner runner; {}", "set -- evil.py; {} \"$@\"",
]  # fmt: skip
RACE = (
    "(while :; do ln -sfn {root}/own.py l; ln -sfn {root} dl; ln -sfn ..{root} d/up; ln -sfn . here; :;"
    " ln -sfn evil.py l; ln -sfn e dl; ln -sfn e d/up; ln -sfn e here; :; done) 2> /dev/null &"
)


def _spelling(number: int) -> str:
    chance = random.Random(f"spelling {number}")
    path, before = chance.choice(PATHS), chance.choice(BEFORE)
    call = chance.choice(AROUND).format(f"runner {before}{path}", root=ROOT)
    race = RACE.format(root=ROOT) if chance.random() < 0.5 else ""
    return f"{race}\nfor i in 1 2 3 4; do\n{call}\ndone\nkill $! 2> /dev/null"


def _files_around() -> dict[str, str]:
    evil = "evil text\n"
    names = "evil.py own.py OWN.PY e/own.py d/own.py d/e/own.py d/l2 e/l e/e/own.py hard runner e\u0301.py"
    found = dict.fromkeys(names.split(), evil)
    found[f"up{ROOT}/own.py"] = evil
    return {f"/workspace/{name}": text for name, text in found.items()}


# TM-SKILL-5
def test_an_interpreter_runs_nothing_but_own_files_however_they_are_named() -> None:
    ran: list[str] = []

    @command("runner", usage="Usage: runner FILE\nNote what it runs.\n", raw=True)
    def runner(ctx: CommandContext, args: Arguments) -> int:
        for _ in range(chance.choice((0, 1, 3))):  # it starts slowly, and others run meanwhile
            ctx.budget.step(1001)
        for word in ctx.words:
            if not word.startswith("-"):
                ran.append(ctx.fs.read_text(ctx.path(word)) if word else "")
                return 0
        ran.append("an option")
        return 0

    wrong = []
    for number in range(FIRST, FIRST + COUNT):
        chance = random.Random(f"runner {number}")
        script = _spelling(number)
        files = {
            "SKILL.md": "---\nname: n\ndescription: d\nallowed-tools: Bash(ln:*, kill:*, cat:*, find:*)\n---\n",
            "x.sh": f"set +e\n{script}\n", "own.py": OWN, "d/own.txt": "text\n",
        }  # fmt: skip
        ran.clear()
        with Sandbox(
            files=_files_around(), commands=[runner], jobs="kill", limits=Limits(timeout=1)
        ) as sandbox:
            sandbox.execute(
                f"ln -s {ROOT}/own.py l; ln -s {ROOT} dl; ln -s ..{ROOT} d/up; ln -s . here; mkfifo p"
            )
            session = SkillSession(
                SkillCatalog(skills=[AgentSkill.from_files(files)]),
                sandbox,
                allowed_tools="enforce",
                interpreters={".py": "runner", ".sh": "sh"},
            )
            session.run_script("x.sh", skill="n")
        if any(text != OWN for text in ran):
            wrong.append((number, script, ran.copy()))
    assert wrong == []


# TM-SKILL-5
@pytest.mark.parametrize("path", ["l", "dl/own.py", "d/up/own.py", "here/l"])
def test_a_link_that_changes_while_an_interpreter_starts(path: str) -> None:
    ran: list[str] = []

    @command("runner", usage="Usage: runner FILE\nNote what it runs.\n", raw=True)
    def runner(ctx: CommandContext, args: Arguments) -> int:
        ctx.fs.unlink("/workspace/l")  # as a background job would
        ran.append(ctx.fs.read_text(ctx.path(ctx.words[0])))
        return 0

    files = {
        "SKILL.md": "---\nname: n\ndescription: d\nallowed-tools: Bash(ln:*)\n---\n",
        "x.sh": f"set +e\nrunner {path}\nrunner $SKILL_ROOT/own.py\n",
        "own.py": OWN,
    }
    with Sandbox(files=_files_around(), commands=[runner]) as sandbox:
        sandbox.execute(
            f"ln -s {ROOT}/own.py l; ln -s {ROOT} dl; ln -s ..{ROOT} d/up; ln -s . here"
        )
        session = SkillSession(
            SkillCatalog(skills=[AgentSkill.from_files(files)]),
            sandbox,
            allowed_tools="enforce",
            interpreters={".py": "runner", ".sh": "sh"},
        )
        result = session.run_script("x.sh", skill="n")
    assert ran == [OWN]
    assert result.stderr.count("allowed tools") == 1
