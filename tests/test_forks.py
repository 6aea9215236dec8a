"""Forks: the same files and the same shell, from then on apart, made without starting a shell."""

from __future__ import annotations

from agentsandbox import Sandbox
from agentsandbox.contract.command import Arguments, CommandContext, command

STATE = """x=1; declare -A map=([a]=1); list=(1 2); f() { echo "f $1 $x"; }; set -f; shopt -s extglob; alias ll='ls -l'; set -- p q
IFS=:; umask 077; mkdir -p /workspace/d; pushd /workspace/d > /dev/null"""
SHOW = """echo "$x ${map[a]} ${list[0]} $1 $2 $PWD $(umask) $-"; f y; dirs; [[ aab == +(a)b ]] && alias ll
v=a:b; set +f; printf '<%s>' $v"""


def test_a_fork_has_the_shells_state() -> None:
    with Sandbox() as sandbox:
        sandbox.execute(STATE)
        fork = sandbox.fork()
        of_fork = fork.fork()
        assert fork.cwd == of_fork.cwd == "/workspace/d"
        expected = sandbox.execute(SHOW).stdout
        assert expected.startswith("1 1 1 p q /workspace/d 0077 f")
        assert of_fork.execute(SHOW).stdout == expected
        assert fork.execute(SHOW).stdout == expected


def test_forks_are_apart() -> None:
    with Sandbox() as sandbox:
        sandbox.execute(STATE)
        fork, other = sandbox.fork(), sandbox.fork()
        sandbox.execute("x=2; map[a]=2; list[0]=2; set -- z; echo 2 > file; cd /")
        fork.execute("x=3; map[a]=3; list+=(3); unalias ll; unset -f f; echo 3 > file")
        assert other.execute('echo "$x ${map[a]} ${list[*]} $1"; alias ll; ls').stdout == "1 1 1:2 p\nalias ll='ls -l'\n"
        assert sandbox.execute('echo "$x ${map[a]} ${list[*]} $1"; cat /workspace/d/file').stdout == "2 2 2:2 z\n2\n"
        assert fork.execute('echo "$x ${map[a]} ${list[*]} $1"; cat file; f').stdout == "3 3 1:2:3 p\n3\n"


def test_each_fork_has_the_state_of_its_moment() -> None:
    twins: list[Sandbox] = []

    @command("twin", usage="Usage: twin\nFork the sandbox in the middle of a script.")
    def twin(ctx: CommandContext, args: Arguments) -> int:
        twins.append(sandbox.fork())
        return 0

    with Sandbox(commands=[twin]) as sandbox:
        sandbox.execute("x=1")
        before, first = sandbox.snapshot(), sandbox.fork()
        sandbox.execute("x=2; mkdir d; cd d; twin; x=3")
        second = sandbox.fork()
        sandbox.restore(before)
        forks = [first, *twins, second, sandbox.fork()]
        shown = [fork.execute("echo $x $PWD").stdout for fork in forks]
        assert shown == ["1 /workspace\n", "2 /workspace/d\n", "3 /workspace/d\n", "3 /workspace\n"]
        first.execute("x=4")
        assert first.fork().execute("echo $x").stdout == "4\n"


def test_a_fork_of_an_unused_sandbox() -> None:
    with Sandbox(env={"A": "1"}, files={"a": "x"}) as sandbox:
        assert sandbox.fork().execute("echo $A; cat a").stdout == "1\nx"


def test_a_fork_goes_back_to_a_snapshot() -> None:
    with Sandbox() as sandbox:
        before = sandbox.snapshot()
        sandbox.execute("mkdir d; cd d; x=1")
        fork = sandbox.fork()
        fork.restore(before)
        assert fork.execute("pwd; echo $PWD $x; ls").stdout == "/workspace\n/workspace 1\n"
        assert sandbox.execute("pwd").stdout == "/workspace/d\n"


def test_the_environment_of_a_fork() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("export A=1")
        assert sandbox.fork().env["A"] == "1"


def test_a_subshell_has_every_attribute() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("trap : EXIT; x=1")
        shell = sandbox._shell
        assert shell is not None
        twin = shell.fork()
        assert [name for name in type(shell).__slots__ if hasattr(shell, name) and not hasattr(twin, name)] == []
