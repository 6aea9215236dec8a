"""The sandbox as an object: what a call leaves behind, what its options do, and snapshots, forks
and differences.
"""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc

import pytest

from agentsandbox import Change, ClosedError, Limits, Sandbox, SandboxError, SandboxOptions, Stats


def test_one_terminal() -> None:
    with Sandbox() as sandbox:
        sandbox.execute(
            "x=1; cd /tmp; f() { echo f$x; }; set -- a b; alias q=echo; export E=e; "
            "shopt -s nullglob; exec 3> log; umask 077"
        )
        result = sandbox.execute("f; pwd; echo $# $E; shopt nullglob; umask; echo x >&3; cat log")
        assert result.stdout == "f1\n/tmp\n2 e\nnullglob       \ton\n0077\nx\n"
        assert (sandbox.cwd, sandbox.env["E"]) == ("/tmp", "e")


def test_an_isolated_call_leaves_no_trace_but_files() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("x=1; set -- a")
        assert (
            sandbox.execute(
                "echo $x; x=2; cd /tmp; f() { :; }; set -- b c; set -u; echo kept > /tmp/f",
                state="discard",
            ).stdout
            == "1\n"
        )
        assert sandbox.execute("echo $x $1 $-; pwd; type -t f; cat /tmp/f").stdout.split() == [
            "1",
            "a",
            "hBc",
            "/workspace",
            "kept",
        ]


def test_a_fresh_shell_knows_nothing_of_what_ran_before() -> None:
    with Sandbox(env={"HOST": "h"}) as sandbox:
        sandbox.execute(
            "x=1; export E=e PATH=/nowhere; f() { :; }; ls() { echo mine; }; alias q=echo; "
            "trap 'echo t' EXIT; cd /tmp; set -u"
        )
        script = 'echo "$x${E-} $HOST $- $1"; pwd; type f; ls; echo kept > f; cd /; exec 3> /tmp/g'
        result = sandbox.execute(script, state="new", args=["a"])
        assert result.stdout == " h hBc a\n/tmp\n"
        assert result.stderr == "bash: line 1: type: f: not found\n"
        assert (
            sandbox.execute("echo $x; pwd; cat /tmp/f; type -t f").stdout == "1\n/tmp\nfunction\n"
        )


def test_neither_leaves_anything_in_the_history() -> None:
    with Sandbox() as sandbox:
        sandbox.execute("set -o history; history -c")
        sandbox.execute("history -s secret", state="discard")
        sandbox.execute("history -s secret", state="new")
        assert "secret" not in sandbox.execute("history").stdout


def test_variables_for_one_call_are_what_the_host_says() -> None:
    with Sandbox() as sandbox:
        sandbox.execute(
            "readonly r=1; declare -i i; declare -u u; declare -n n='a[$(echo ran >&2)]'; "
            "declare -a l; declare -A m"
        )
        names = ["r", "i", "u", "n", "l", "m", "IFS"]
        result = sandbox.execute(
            'echo "$r-$i-$u-$n-$l-$m $IFS"; printenv r i u n l m | wc -l',
            env=dict.fromkeys(names, "a.b"),
            state="discard",
        )
        assert (result.stdout, result.stderr) == ("a.b-a.b-a.b-a.b-a.b-a.b a.b\n6\n", "")
        sandbox.execute("true", env=dict.fromkeys(names, "a.b"))
        assert sandbox.execute("r=2; echo $r").stderr == "bash: line 1: r: readonly variable\n"


def test_what_is_for_one_call() -> None:
    with Sandbox() as sandbox:
        result = sandbox.execute(
            "read x; echo $x $Y $1 $#; pwd; env | grep ^Y",
            stdin=b"in\n",
            env={"Y": "y"},
            cwd="/tmp",
            args=["a b", "c"],
        )
        assert result.stdout == "in y a b 2\n/tmp\nY=y\n"
        assert (
            sandbox.execute("echo ${Y-none} $#; pwd; read x; echo $?").stdout
            == "none 0\n/workspace\n1\n"
        )
        with pytest.raises(FileNotFoundError):
            sandbox.execute("pwd", cwd="/nowhere")


def test_an_exit_ends_the_call_only() -> None:
    with Sandbox() as sandbox:
        assert sandbox.execute("x=1; echo a; exit 3; echo b").exit_code == 3
        assert sandbox.execute("echo $x").stdout == "1\n"
        assert sandbox.execute("set -e; false; echo never").exit_code == 1


def test_output_in_order() -> None:
    chunks: list[tuple[str, bytes]] = []
    with Sandbox() as sandbox:
        result = sandbox.execute(
            "echo a; echo b >&2; echo c",
            on_output=lambda stream, data: chunks.append((stream, data)),
        )
    assert chunks == [("stdout", b"a\n"), ("stderr", b"b\n"), ("stdout", b"c\n")]
    assert result.output == "a\nb\nc\n"


def test_snapshot_restore_and_difference() -> None:
    with Sandbox(files={"a": "1", "b": "2"}) as sandbox:
        before = sandbox.snapshot()
        sandbox.execute("rm a; echo 3 > b; mkdir d; echo 4 > d/c; cd d")
        assert {change.path for change in sandbox.diff(before)} >= {
            "/workspace/a",
            "/workspace/b",
            "/workspace/d/c",
        }
        sandbox.restore(before)
        assert sandbox.execute("pwd; cat a b; ls").stdout == "/workspace\n12a\nb\n"
        assert sandbox.diff(before) == []


def test_a_fork_is_independent() -> None:
    with Sandbox(files={"a": "1"}) as sandbox:
        sandbox.execute("x=1; f() { echo f; }; set -u; cd /tmp; shopt -s extglob")
        with sandbox.fork() as twin:
            assert (
                twin.execute("f; echo $x; pwd; shopt -q extglob; echo $? $-").stdout
                == "f\n1\n/tmp\n0 huBc\n"
            )
            twin.execute("x=2; echo 2 > /workspace/a; unset -f f")
            assert twin.id != sandbox.id
        assert sandbox.execute("f; echo $x; cat /workspace/a").stdout == "f\n1\n1"


def test_history_and_closing() -> None:
    sandbox = Sandbox()
    for number in range(120):
        sandbox.execute(f"echo {number}")
    assert len(sandbox.history) == 100
    assert sandbox.history[-1].script == "echo 119"
    sandbox.close()
    sandbox.close()
    with pytest.raises(ClosedError):
        sandbox.execute("echo")


def test_an_observer_cannot_execute_in_an_execution() -> None:
    with Sandbox() as sandbox:

        def listener(stream: str, data: bytes) -> None:
            with pytest.raises(SandboxError, match="executing"):
                sandbox.execute("echo b")
            heard.append(data)

        heard: list[bytes] = []
        assert sandbox.execute("echo a", on_output=listener).stdout == "a\n"
        assert heard == [b"a\n"]
        assert sandbox.execute("echo alive").stdout == "alive\n"


def test_a_script_is_a_text() -> None:
    with Sandbox() as sandbox, pytest.raises(TypeError):
        sandbox.execute(b"echo")  # type: ignore[arg-type]


def test_figures_and_changes_are_values() -> None:
    with Sandbox("a", files={"f": "12345"}) as sandbox:
        before = sandbox.snapshot()
        sandbox.execute("touch g; cd /tmp")
        stats = sandbox.stats()
        assert isinstance(stats, Stats)
        assert (stats.id, stats.bytes, stats.executions, stats.is_executing, stats.cwd) == (
            "a",
            5,
            1,
            False,
            "/tmp",
        )
        assert stats.age >= 0
        assert repr(stats).startswith("Stats(id='a', files=3, bytes=5, executions=1,")
        with pytest.raises(AttributeError, match="immutable"):
            stats.files = 0
        (change,) = sandbox.diff(before)[-1:]
        assert (type(change), change.kind, change.path) == (Change, "added", "/workspace/g")


def test_a_notebook_shows_a_result() -> None:
    with Sandbox() as sandbox:
        shown = sandbox.execute("echo '<b>&\"'; echo '<script>' >&2; exit 3")._repr_html_()
        assert "&lt;b&gt;&amp;&quot;\n" in shown
        assert '<span style="color:#b00020">&lt;script&gt;\n</span>' in shown
        assert "exit code 3" in shown
        assert "<script>" not in shown
        assert (
            "limit cancelled"
            in sandbox.execute(
                "echo a; while :; do :; done", on_output=lambda *_: sandbox.cancel()
            )._repr_html_()
        )
        assert (
            len(sandbox.execute("head -c 1000000 /dev/zero | tr '\\0' '<'")._repr_html_()) < 300_000
        )


def test_options_as_a_value() -> None:
    options = SandboxOptions(env={"TOKEN": "secret"}, limits=Limits(timeout=5))
    assert (
        options
        == SandboxOptions(limits=Limits(timeout=5), env={"TOKEN": "secret"})
        != options.clone(seed=1)
    )
    assert options.clone(env={}).limits is options.limits
    assert "secret" not in repr(options)
    assert repr(options).startswith("SandboxOptions(env={'TOKEN': …}, limits=Limits(")
    assert repr(SandboxOptions()) == "SandboxOptions()"
    assert copy.deepcopy(options) == pickle.loads(pickle.dumps(options)) == options
    assert Sandbox(**options.as_dict()).execute("echo $TOKEN").stdout == "secret\n"
    assert Sandbox(options=options, env={"A": "b"}).execute("echo $A$TOKEN").stdout == "b\n"


def test_help_shows_the_options() -> None:
    text = pydoc.render_doc(Sandbox, renderer=pydoc.plaintext)
    assert "limits: 'Limits' = " in text
    assert "seed: 'int | None' = None" in text
    assert list(inspect.signature(Sandbox).parameters)[:3] == ["id", "options", "skills"]


def test_a_new_sandbox_has_no_history() -> None:
    sandbox = Sandbox()
    assert sandbox.history == ()
    sandbox.execute("echo a")
    assert (len(sandbox.history), Sandbox().history, sandbox.fork().history) == (1, (), ())
