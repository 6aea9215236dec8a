"""`analyze`: what a script would do, without running it."""

from __future__ import annotations

import pytest

from agentsandbox import Sandbox, ShellSyntaxError, analyze


def commands(script: str) -> list[tuple[str | None, tuple[str | None, ...]]]:
    return [(found.name, found.arguments) for found in analyze(script).commands]


def test_commands_and_their_arguments() -> None:
    assert commands('ls -l \'a b\' "c" d\\ e; rm -rf $x *.py ~/z pre"$y"') == [
        ("ls", ("-l", "a b", "c", "d e")),
        ("rm", ("-rf", None, None, None, None)),
    ]


@pytest.mark.parametrize(
    "script",
    [
        "(rm f)", "{ rm f; }", "if rm f; then :; fi", "if :; then rm f; fi",
        "while rm f; do :; done", "for x in $(rm f); do :; done",
        "f() { rm f; }",
        "case x in x) rm f;; esac", "echo \"$(rm f)\"", "echo `rm f`", "x=$(rm f)", "a=($(rm f))",
        "echo ${x:-$(rm f)}",
        "echo $(($(rm f)))",
        "cat <(rm f)", "cat <<END\n$(rm f)\nEND", "cat <<< $(rm f)", "echo > $(rm f)",
        "true | rm f", "true && rm f", "rm f &",
        "! rm f", "time rm f",
        "coproc rm f", "[[ -n $(rm f) ]]", "(( $(rm f) ))", "for ((i=$(rm f);;)); do :; done",
        "select x in a; do rm f; done",
        "declare x=$(rm f)",
        "echo ${a[$(rm f)]}", "until :; do rm f; done", "echo ${x/$(rm f)/y}",
        "case $(rm f) in x) ;; esac",
        "case x in $(rm f)) ;; esac", "a[$(rm f)]=1",
    ],
)  # fmt: skip
def test_commands_are_found_wherever_they_stand(script: str) -> None:
    assert ("rm", ("f",)) in commands(script)


def test_redirections() -> None:
    found = analyze("a > f 2>> g < h <> i &> j 2>&1 <<< k\n{ b; } > $x")
    assert [(each.mode, each.path, each.line) for each in found.redirections] == [
        ("write", "f", 1), ("append", "g", 1), ("read", "h", 1), ("read-write", "i", 1),
         ("write", "j", 1), ("write", None, 2),
    ]  # fmt: skip


def test_functions_and_lines() -> None:
    found = analyze("f() { a; }\nfunction g { b; }\nc")
    assert found.functions == ["f", "g"]
    assert [(each.name, each.line) for each in found.commands] == [("a", 1), ("b", 2), ("c", 3)]


@pytest.mark.parametrize(
    "script",
    ["eval x", "$cmd a", ". ./f", "source f", "bash -c x", "trap 'rm f' EXIT", "$(which ls) -l"],
)
def test_what_is_opaque(script: str) -> None:
    assert analyze(script).opaque


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ('[ -n "$x" ]', "["),
        ("'[ab]' x", "[ab]"),
        ("\\*x y", "*x"),
        ("{} x", "{}"),
        ("a~ x", "a~"),
        ("[ab] x", None),
        ("a{b,c} d", None),
        ("a{1..3} d", None),
        ("~/bin/x", None),
        ("l? x", None),
    ],
)
def test_which_names_are_known(script: str, name: str | None) -> None:
    found = analyze(script)
    assert found.commands[0].name == name
    assert bool(found.opaque) is (name is None)


def test_nothing_runs_and_syntax_errors_are_reported() -> None:
    assert analyze("").commands == []
    with pytest.raises(ShellSyntaxError, match="unexpected end of file"):
        analyze("if x; then")


@pytest.mark.parametrize("opening", ["(", "echo $(", "${x:-", "$((", "{ ", "if ", "[[ ( ", '"$("'])
def test_deep_nesting_is_refused(opening: str) -> None:
    with pytest.raises(ShellSyntaxError):
        analyze(opening * 20_000)


@pytest.mark.parametrize(
    "script", ["", "#\n", "\0", "!" * 5000 + " x", "a|" * 5000 + "b", "é\udcff"]
)
def test_odd_scripts_are_read(script: str) -> None:
    assert analyze(script) is not None


def test_what_a_sandbox_has_not() -> None:
    script = "f() { python3 a.py; }; cd /; f; ls | gcc $x; ./run; $cmd; pip list; python3 -V"
    found = analyze(script)
    with Sandbox() as sandbox:
        assert found.missing(sandbox.command_names()) == ["python3", "gcc", "pip"]
    assert found.missing(["ls", "python3", "pip"]) == ["gcc"]
