"""`analyze`: what a script would do, seen before it runs."""

from __future__ import annotations

import pytest

from agentsandbox import ShellSyntaxError, analyze


def commands(script: str) -> list[tuple[str | None, tuple[str | None, ...], int]]:
    return [(found.name, found.arguments, found.line) for found in analyze(script).commands]


def redirections(script: str) -> list[tuple[str, str | None]]:
    return [(found.mode, found.path) for found in analyze(script).redirections]


def test_commands_come_in_order_with_known_arguments() -> None:
    assert commands("grep -n 'a b' \"c\"d\nls $x && rm *.py") == [
        ("grep", ("-n", "a b", "cd"), 1),
        ("ls", (None,), 2),
        ("rm", (None,), 2),
    ]


@pytest.mark.parametrize(
    "script",
    [
        "f() { rm x; }",
        "echo $(rm x)",
        "echo `rm x`",
        'echo "${a:-$(rm x)}"',
        "cat <(rm x)",
        "if true; then rm x; fi",
        "for i in 1; do rm x; done",
        "while rm x; do :; done",
        "case a in a) rm x ;; esac",
        "( rm x ) &",
        "! time rm x",
        "[[ -n $(rm x) ]]",
        "(( $(rm x) ))",
        "a=($(rm x))",
        "a[$(rm x)]=1",
        "a=([$(rm x)]=1)",
        "declare a=($(rm x))",
        "for ((i=$(rm x); i<1; i++)); do :; done",
        "for ((; i<$(rm x); )); do :; done",
        "case a in $(rm x)) ;; esac",
        "echo $((1 + $(rm x)))",
        "echo ${a:$(rm x)}",
        "echo ${a[$(rm x)]}",
        "echo ${a/$(rm x)/b}",
        "[[ a =~ $(rm x) ]]",
        "select i in $(rm x); do :; done",
        "cat <<E\n$(rm x)\nE",
        "coproc rm x",
        "echo > $(rm x)",
    ],
)
def test_commands_are_found_wherever_they_hide(script: str) -> None:
    assert ("rm", ("x",)) in [(name, arguments) for name, arguments, _ in commands(script)]


def test_redirections_have_mode_and_path() -> None:
    script = 'a < in > out 2>> "the log" <> both >| $unknown &> all; { b; } > group'
    assert sorted(redirections(script), key=str) == sorted(
        [
            ("read", "in"),
            ("write", "out"),
            ("append", "the log"),
            ("read-write", "both"),
            ("write", None),
            ("write", "all"),
            ("write", "group"),
        ],
        key=str,
    )
    assert redirections("a 2>&1 <<< text") == []


def test_functions_are_named() -> None:
    assert analyze("f() { :; }; function g { h() { :; }; }").functions == ["f", "g", "h"]


@pytest.mark.parametrize("script", ['eval "$x"', "$tool a", "source ./x", ". x", "$(pick) a", "trap 'rm x' EXIT", 'bash -c "$x"'])
def test_what_cannot_be_told_is_opaque(script: str) -> None:
    found = analyze(f"true\n{script}").opaque
    assert [entry.line for entry in found] == [2]
    assert found[0].reason


def test_plain_scripts_have_nothing_opaque() -> None:
    assert analyze("cd /tmp && ls | wc -l > n").opaque == []


@pytest.mark.parametrize(("script", "line"), [("if true", 1), ("true\n)", 2), ("echo 'a", 1)])
def test_what_is_no_grammar_is_refused_with_its_line(script: str, line: int) -> None:
    with pytest.raises(ShellSyntaxError) as caught:
        analyze(script)
    assert caught.value.line >= line


@pytest.mark.parametrize("opening", ["(", "echo $(", "${x:-", "$((", "{ ", "if ", "[[ ( ", '"$("'])
def test_deep_nesting_is_refused(opening: str) -> None:
    with pytest.raises(ShellSyntaxError):
        analyze(opening * 20_000)


@pytest.mark.parametrize("script", ["", "#\n", "\0", "!" * 5000 + " x", "a|" * 5000 + "b", "é\udcff"])
def test_odd_scripts_are_read(script: str) -> None:
    assert analyze(script) is not None
