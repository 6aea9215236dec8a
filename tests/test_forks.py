"""Forks: the same files and the same shell, from then on apart, made without starting a shell."""

from __future__ import annotations

from agentsandbox import Sandbox
from agentsandbox.contract.command import Arguments, CommandContext, command

STATE = """x=1; declare -A map=([a]=1); list=(1 2); f() { echo "f $1 $x"; }
set -f; shopt -s extglob; alias ll='ls -l'
set -- p q; IFS=:; umask 077; mkdir -p /workspace/d; pushd /workspace/d > /dev/null"""
SHOW = """echo "$x ${map[a]} ${list[0]} $1 $2 $PWD $(umask) $-"; f y; dirs
[[ aab == +(a)b ]] && alias ll; v=a:b; set +f; printf '<%s>' $v"""


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


# TM-NEXT-4
def test_forks_are_apart() -> None:
    with Sandbox() as sandbox:
        sandbox.execute(STATE)
        fork, other = sandbox.fork(), sandbox.fork()
        sandbox.execute("x=2; map[a]=2; list[0]=2; set -- z; echo 2 > file; cd /")
        fork.execute("x=3; map[a]=3; list+=(3); unalias ll; unset -f f; echo 3 > file")
        assert (
            other.execute('echo "$x ${map[a]} ${list[*]} $1"; alias ll; ls').stdout
            == "1 1 1:2 p\nalias ll='ls -l'\n"
        )
        assert (
            sandbox.execute('echo "$x ${map[a]} ${list[*]} $1"; cat /workspace/d/file').stdout
            == "2 2 2:2 z\n2\n"
        )
        assert (
            fork.execute('echo "$x ${map[a]} ${list[*]} $1"; cat file; f').stdout
            == "3 3 1:2:3 p\n3\n"
        )


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


PREPARE = r"""
umask 027; ulimit -n 64 2> /dev/null; ulimit -S -f 100 2> /dev/null
shopt -s extglob nullglob; set -o noclobber -o pipefail; set -- one 'two words'
x=1; declare -i n=5; declare -r ro=fixed; declare -A map=([k]=v [l]=w); list=(a b [7]=c)
declare -n ref=x; export E=exported
f() { echo "f $LINENO $1"; }; g() { echo g; }; readonly -f f; export -f g
alias ll='ls -l' la='ls -a'
trap 'echo caught' USR1; trap '' HUP; trap 'echo err' ERR
mkdir -p d/e; pushd d > /dev/null; pushd e > /dev/null
printf '%s\n' line1 line2 line3 line4 > /workspace/in; exec 3< /workspace/in
read -r first <&3; exec 4> out; echo begun >&4
exec 5<<< "here
string"; read -r -u 5 here; hash -p /opt/tool tool; ls > /dev/null
complete -W 'a b' cmd; enable -n let
RANDOM=42; : $RANDOM; OPTIND=1; getopts ab opt -ab; SECONDS=100
history -s 'an entry'; (exit 3) | (exit 4)
"""
PROBE = r"""
echo "$? ${PIPESTATUS[*]} $_"; declare -p; declare -f; declare -F; set -o; shopt; hash; alias
trap; umask; ulimit -a; dirs -v; complete -p; read -r -u 3 next; echo "$next"; echo more >&4
cat out
read -r -u 5 rest; echo "$rest"; echo $RANDOM $RANDOM
echo $LINENO $BASHPID $$ $- $# "$@" ${BASH_ALIASES[ll]} ${BASH_CMDS[tool]}
getopts ab opt -ab; echo $opt $OPTIND; f 1; g
enable -n; history; fc -l; export -p; pwd; jobs; [[ aab == +(a)b ]] && echo matched
kill -USR1 $$; echo ${DIRSTACK[@]}
(echo $RANDOM $BASHPID) > /dev/null; echo $BASHPID $SECONDS
"""


def test_a_fork_and_its_original_cannot_be_told_apart() -> None:
    with Sandbox(seed=1, clock=lambda: 1_000_000.0) as sandbox:
        assert sandbox.execute(PREPARE).stderr == ""
        fork = sandbox.fork()
        of_fork = fork.fork()
        expected = sandbox.execute(PROBE)
        for expectation in (
            "line2\n",
            "begun\nmore\n",
            "string\n",
            "declare -ir RO".replace("RO", "UID"),
            "caught\n",
            "let",
        ):
            assert expectation in expected.stdout
        for twin in (fork, of_fork):
            result = twin.execute(PROBE)
            assert result.output == expected.output
            assert (result.exit_code, twin.cwd, twin.env) == (
                expected.exit_code,
                sandbox.cwd,
                sandbox.env,
            )


def test_traps_of_a_fork_get_its_signals() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("trap 'echo $x caught' USR1; x=original")
        fork = sandbox.fork()
        fork.execute("x=fork")
        for twin, name in ((fork, "fork"), (sandbox, "original")):
            assert twin.execute("kill -USR1 $$ & wait; wait").stdout == f"{name} caught\n"
        sandbox.execute(
            "x=discarded; trap 'echo other' USR2; kill -USR1 $$ & wait", state="discard"
        )
        assert sandbox.execute("kill -USR1 $$ & wait; trap; kill -USR1 $$ & wait").stdout == (
            "original caught\ntrap -- 'echo $x caught' SIGUSR1\noriginal caught\n"
        )
        assert sandbox.execute("trap; kill -USR1 $$ & wait", state="new").exit_code == 128 + 10
        assert sandbox.execute("kill -USR1 $$ & wait").stdout == "original caught\n"


def test_descriptors_of_a_fork_are_its_own() -> None:
    with Sandbox() as sandbox:
        sandbox.execute(
            "printf 'a\\nb\\nc\\n' > in; exec 3< in 4> out 6>&4; read -u 3 x; echo 1 >&4; rm out"
        )
        fork = sandbox.fork()
        assert fork.execute("read -u 3 x; echo $x; echo fork >&4; echo also >&6").output == "b\n"
        assert (
            sandbox.execute("read -u 3 x; echo $x; read -u 3 x; echo $x; ls").output == "b\nc\nin\n"
        )
        used = sandbox.fs.used_bytes
        sandbox.execute("exec 4>&- 6>&-")
        assert sandbox.fs.used_bytes == used - len("1\n")
        assert fork.fs.used_bytes == used + len("fork\nalso\n")
        fork.execute("exec 4>&- 6>&- 3<&-")
        assert fork.fs.used_bytes == sandbox.fs.used_bytes


def test_what_the_host_writes_before_a_fork_starts_is_what_it_reads() -> None:
    with Sandbox(files={"in": "one\ntwo\n"}) as sandbox:
        sandbox.execute("exec 3< in; read -u 3 x")
        fork = sandbox.fork()
        sandbox.fs.write_bytes("/workspace/in", b"ONE\nTWO\n")
        fork.fs.write_bytes("/workspace/in", b"one\nfork\n")
        assert fork.execute("read -u 3 x; echo $x").output == "fork\n"
        assert sandbox.execute("read -u 3 x; echo $x").output == "TWO\n"


def test_pipes_and_coprocesses_are_closed_in_a_fork() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("coproc cat; exec 3< <(echo x); exec 2>&1")
        number = sandbox.execute("echo ${COPROC[0]}").stdout.strip()
        fork = sandbox.fork()
        assert fork.execute(
            f"read -u 3 x; read -u {number} y; jobs; echo $! | grep -c ."
        ).stdout == (
            "bash: line 1: read: 3: invalid file descriptor: Bad file descriptor\n"
            f"bash: line 1: read: {number}: invalid file descriptor: Bad file descriptor\n1\n"
        )
        assert sandbox.execute("read -u 3 x; echo $x").stdout == "x\n"


def test_a_fork_during_a_call_has_none_of_its_redirections() -> None:
    twins: list[Sandbox] = []

    @command("twin", usage="Usage: twin\nFork the sandbox in the middle of a script.")
    def twin(ctx: CommandContext, args: Arguments) -> int:
        twins.append(sandbox.fork())
        return 0

    with Sandbox(commands=[twin], files={"in": "1\n2\n"}) as sandbox:
        sandbox.execute(
            "exec 3< in; f() { for i in 1; do twin > log < in; done; }; f a b; set -- x; exec 3<&-"
        )
        assert twins[0].execute(
            "read -u 3 x; echo $x $#; read y; echo $y; continue; echo ${FUNCNAME[0]}; return"
        ).output == (
            "1 2\n\nbash: line 1: continue: only meaningful in a `for', `while', or "
            "`until' loop\n\n"
            "bash: line 1: return: can only `return' from a function or sourced script\n"
        )


def test_random_numbers_without_a_seed_part() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("shuf -i 1-1000000 -n 1")
        shown = {sandbox.fork().execute("shuf -i 1-1000000 -n 1").stdout for _ in range(4)}
        assert len(shown) > 1
    with Sandbox(seed=3) as sandbox:
        sandbox.execute("shuf -i 1-1000000 -n 1")
        assert sandbox.fork().execute("shuf -i 1-1000000 -n 2; echo $RANDOM").stdout == (
            sandbox.execute("shuf -i 1-1000000 -n 2; echo $RANDOM").stdout
        )
