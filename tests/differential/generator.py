"""Random scripts of the kind that agents write, small enough to read when one of them differs.

A form is a text in which `<word>` and its kin stand for something that is drawn in their place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    Draw = Callable[[st.SearchStrategy[str]], str]

__all__ = ["scripts"]

FORMS: dict[str, list[str]] = {
    "name": "x y z n".split(),
    "array": "a b".split(),
    "number": "0 1 2 3 7 10 -1 -4 100".split(),
    "plain": "abc a.b foo/bar.txt 42 -n -- a=b x,y,z é Hello_World ab12 aaa . {a,b} {1..3} [a] a:b %s".split(),
    "quoted": ["'a b'", '"c  d"', "''", '""', "$'t\\tn\\n'", "'*'", '"it\'s"', "'$x'", "\\*", "a\\ b", "'  pad '"],
    "pattern": ["a*", "*a", "?", "[a-c]", "*", "b", "*[0-9]", "[!a]*", "*.", "'*'", "a?", "[[:alpha:]]", "*/", '"$y"', "$x"],
    "operator": "+ - * / % < > == != && || & | ^ <<".split(),
    "filter": [
        "cat", "tr a-c A-C", "sort", "head -n 2", "wc -l", "sed 's/a/<&>/'", "cut -c1-3", "grep a", "rev", "uniq", "tail -n 1", "cat -A",
        "sort -r | uniq -c", "awk '{print $1}'", "tr -d '\\n'", "nl", "paste -s -d,", "xargs echo",
    ],
    "jump": ["continue", "break", ":"],
    "status": ["0", "1", "3"],
    "parameter": [
        "$<name>", "${<name>}", "${#<name>}", "${<name>:-<inner>}", "${<name>-<inner>}", "${<name>:+<inner>}",
        "${<name>#<pattern>}", "${<name>##<pattern>}", "${<name>%<pattern>}", "${<name>%%<pattern>}", "${<name>/<pattern>/<inner>}",
        "${<name>//<pattern>/<inner>}", "${<name>/#<pattern>/<inner>}", "${<name>^^}", "${<name>,}", "${<name>^}", "${<name>: <number>}",
        "${<name>: <number>:<number>}", "${<array>[@]}", "${<array>[*]}", "${#<array>[@]}", "${!<array>[@]}", "${<array>[1]}",
        "${<array>[-1]}", "${<array>[@]:1:2}", "${<array>[@]/<pattern>/<inner>}", "${<array>[@]#<pattern>}", "${<array>[@]:-<inner>}",
        "${<array>[*]^}", "$@", "$*", "$#", "$1", "${2}", "$?", "${@:2}", "${*: -1}", "${<name>@Q}", "${<array>[@]@Q}", "$<array>",
        "${<array>[@]+<inner>}", "${<name>@U}",
    ],
    "operand": ["<number>", "<name>", "a[0]", "${#x}", "$n", "0x1f", "2#101", "(<number> <operator> <name>)"],
    "expression": [
        "<operand>", "<operand> <operator> <operand>", "(<operand> <operator> <operand>) <operator> <operand>", "-<operand>", "!<operand>",
        "<operand> ? <operand> : 5", "<operand> <operator> <operand> <operator> <operand>",
    ],
    "inner": ["<plain>", "<quoted>", "$<name>", '"$<name>"', "${<name>}-"],
    "word": [
        "<plain>", "<plain>", "<quoted>", "<parameter>", '"<parameter>"', '"<parameter>"', "p<parameter>s", '"<<parameter>>"',
        "<plain><parameter>", "$((<expression>))", "$(<simple>)", '"$(<simple>)"', "<parameter><parameter>",
    ],
    "condition": [
        "[[ <word> == <pattern> ]]", "[[ <word> != <word> ]]", "[[ -z <word> ]]", "[[ -n $<name> && <word> < b ]]", "[ <word> = x ]",
        "[ -n <word> ]", "[[ $n -gt <number> ]]", "((<expression>))", "true", "false", "! <simple>", "[ -e f ]", "[[ <word> =~ [a-c]+(.)? ]]",
        "[[ -v <name> ]]", "[ $# -gt 1 ]", "<simple>",
    ],
    "simple": [
        "echo <word> <word>", "echo <word>", "printf '<%s>\\n' <word> <word>", "printf '%s|%d\\n' <word> <number>", "<name>=<word>",
        "<name>+=<word>", "<array>=(<word> <word>)", "<array>+=(<word>)", "<array>[3]=<word>", "<name>=$((<expression>))",
        "((<name> += <number>))", "((n <operator>= <operand>))", "((n++))", ": ${<name>:=<inner>}", "set -- <word> <word>", "shift", "unset <name>", "unset '<array>[0]'", "read <name> <<< <word>",
        "read -r <name> z <<< <word>", "IFS=, read -ra <array> <<< <word>", "declare -i n=<number>+1", "export <name>=<word>",
        "declare -p <name> <array>", "f <word> <word>", "echo $? $#", "echo <word> > f", "cat f", "echo <word> >> f",
        "printf '%q\\n' <word>", "<name>=<word> <array>[1]=<word>", "false", ":", "let <name>=<number>+2", "mapfile -t <array> <<< <word>",
        "echo <word> | <filter>", "test <word>", "eval 'echo $<name>'", "nosuchcommand <word>", "cat nosuchfile",
        "case <word> in <pattern>) echo m;; *) echo o;; esac", "<name>=<word> f $<name>", "IFS=<plain>; echo $<name> $*; IFS=$' \\t\\n'",
        "printf -v <name> '%3s' <word>", "echo ${BASH_REMATCH[@]}", "type -t <plain> f", "getopts ab: <name> -b <word>; echo $OPTARG",
    ],
    "command": [
        "<simple>", "<simple>", "<simple>",
        "if <condition>; then <deeper>; else <deeper>; fi",
        "if <condition>; then <deeper>; elif <condition>; then echo elif; fi",
        "for <name> in <word> <word>; do <deeper>; done",
        'for <name> in "${<array>[@]}" <word>; do <deeper>; <deeper>; done',
        "for ((<loop>=0; <loop><3; <loop>++)); do <deeper>; <jump>; <deeper>; done",
        "<loop>=0; while ((<loop>++ < 3)) && <condition>; do <deeper>; done",
        "<loop>=0; until ((++<loop> > 2)); do <deeper>; <jump>; <deeper>; done",
        "case <word> in <pattern>|abc) <deeper>;; *) <deeper>;; esac",
        "( <deeper>; <deeper> )", "{ <deeper>; <deeper>; }", "<condition> && <deeper> || <deeper>", "<deeper> || <deeper>",
        "{ <deeper>; } | <filter>", "<simple> | <filter> | <filter>", "{ <deeper>; } 2>&1 | <filter>",
        "<function>() { <deeper>; echo in $1; return <status>; }; <function> <word>; echo $?",
        "<function>() { local <name>=<word>; <deeper>; echo $<name>; }; <function> <word>; <deeper>",
        "while read -r <name>; do <deeper>; done <<< <word>", "{ <deeper>; } > g; cat g", "{ <deeper>; <deeper>; } > g 2>&1; wc -l < g",
        'x=$(<deeper>); echo "$x"', "cat <<END\n<name> <plain> $<name> ${<name>} $((<expression>)) ${#<array>[@]}\nEND\n:", "( <deeper> ); echo $?",
        "( set -e; <deeper>; <deeper>; echo end ); echo $?", "( set -u; <deeper>; <deeper> ); echo $?",
        "( trap 'echo bye $?' EXIT; <simple> )", "set -o pipefail; <simple> | cat; echo $? ${PIPESTATUS[@]}; set +o pipefail",
        "( set -x; echo <word> <word> )", "paste -d: <(<simple>) <(<simple>)", "time_=1; ! <simple>; echo $?",
    ],
}  # fmt: skip
STARTS = [
    "x=abc y='a b  c' n=3 a=(one 'two 2' '') b=([2]=q [5]='r s')",
    "x=a/b/c.txt y= n=10 a=(3 1 2) b=()",
    "unset x; y='*' n=0 a=('a b' c) b=(x)",
    "x=$'l1\\nl2' y='-n' n=-7 a=(é ü) b=(1 2 3 4)",
]
HOLE = re.compile(r"<([a-z]+)>")


def fill(draw: Draw, kind: str, depth: int, words: int) -> str:
    """A text of a kind. `depth` bounds how compound commands nest, `words` how substitutions do."""
    if kind == "deeper":
        kind, depth = ("command", depth - 1) if depth > 0 else ("simple", 0)
    elif kind in ("loop", "function"):  # names of their own at each depth, so that every script ends
        return f"{kind[0]}{depth}"
    if kind in ("word", "simple") and words <= 0:
        if kind == "simple":
            return draw(st.sampled_from(["echo $x", "echo <quoted>", "false", "cat f"])).replace("<quoted>", "'a b'")
        kind = "inner"
    form = draw(st.sampled_from(FORMS[kind]))
    less = words - (kind in ("word", "simple", "condition"))
    return HOLE.sub(lambda hole: fill(draw, hole[1], depth, less) if hole[1] in FORMS or hole[1] in OTHER else hole[0], form)


OTHER = ("deeper", "loop", "function")


@st.composite
def scripts(draw: Draw) -> str:
    """A script of a few lines, with variables that have values."""
    lines = [draw(st.sampled_from(STARTS)), "set -- 'p 1' q; f() { echo \"f:$#:$1\"; }"]
    lines += [fill(draw, "command", 2, 3) for _ in draw(st.sampled_from(["1", "12", "123"]))]
    return "\n".join(lines) + "\n"
