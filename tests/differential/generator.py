"""Random scripts of the kind that agents write, small enough to read when one of them differs.

A form is a text in which `<word>` and its kin stand for something that is drawn in their place.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

    Choose = Callable[[list[str]], str]

__all__ = ["scripts", "write_script"]

FORMS: dict[str, list[str]] = {
    "name": "x y z n".split(),
    "array": "a b".split(),
    "table": ["m"],
    "key": ["k", "'k 2'", "$x", '"$y"', "$n", "q/r"],
    "number": "0 1 2 3 7 10 -1 -4 100".split(),
    "plain": "abc a.b foo/bar.txt 42 -n -- a=b x,y,z é Hello_World ab12 aaa . {a,b} {1..3} [a] a:b %s ~ {x,y}{1,2} +x a-b !x ? a#b 0x1F 010".split(),
    "quoted": ["'a b'", '"c  d"', "''", '""', "$'t\\tn\\n'", "'*'", '"it\'s"', "'$x'", "\\*", "a\\ b", "'  pad '", "'a\\b'", '"q\\"\\$x"', "$'\\x41\\u00e9'", "'%d\\n'"],
    "pattern": [
        "a*", "*a", "?", "[a-c]", "*", "b", "*[0-9]", "[!a]*", "*.", "'*'", "a?", "[[:alpha:]]", "*/", '"$y"', "$x", "[^a-z]", "??", "*b*", "\\*",
        "[[:space:]]", "[]a]", "[a-]", "*'b'*", '"a"*', "l1*", "[[:upper:][:digit:]]", "$z", "é",
    ],
    "regex": ["^a", "[0-9]+", "(a|b)+", "^(.)(.*)$", "a.c", "x?y*", "^$", "[[:alpha:]]+", '"."', "$x", "(é|b)", "l1.l2", "([a-z]+)[^a-z]*([a-z]*)"],
    "operator": "+ - * / % < > == != && || & | ^ << >> <= >= **".split(),
    "setter": "= += -= *= /= %= <<= >>= &= |= ^=".split(),
    "filter": [
        "cat", "tr a-c A-C", "sort", "head -n 2", "wc -l", "sed 's/a/<&>/'", "cut -c1-3", "grep a", "rev", "uniq", "tail -n 1", "cat -A",
        "sort -r | uniq -c", "awk '{print $1}'", "tr -d '\\n'", "nl", "paste -s -d,", "xargs echo", "while read -r x; do echo \"<$x>\"; done",
        "{ read x; echo $x; cat; }", "grep -c .", "tac",
    ],
    "jump": ["continue", "break", ":", "continue 2", "break 1", "[[ $x ]] && break"],
    "status": ["0", "1", "3"],
    "signal": ["EXIT", "ERR", "EXIT ERR", "0"],
    "attribute": "-i -u -l -a -r -x -c -ix -n -A -t".split(),
    "parameter": [
        "$<name>", "${<name>}", "${#<name>}", "${<name>:-<inner>}", "${<name>-<inner>}", "${<name>:+<inner>}", "${<name>+<inner>}",
        "${<name>#<pattern>}", "${<name>##<pattern>}", "${<name>%<pattern>}", "${<name>%%<pattern>}", "${<name>/<pattern>/<inner>}",
        "${<name>//<pattern>/<inner>}", "${<name>/#<pattern>/<inner>}", "${<name>/%<pattern>/<inner>}", "${<name>//<pattern>}", "${<name>^^}",
        "${<name>,}", "${<name>^}", "${<name>,,}", "${<name>~~}", "${<name>^^[a-c]}", "${<name>: <number>}", "${<name>: <number>:<number>}",
        "${<name>:<operand>}", "${<array>[@]}", "${<array>[*]}", "${#<array>[@]}", "${!<array>[@]}", "${<array>[1]}", "${<array>[<operand>]}",
        "${<array>[-1]}", "${<array>[@]:1:2}", "${<array>[@]: <number>}", "${<array>[*]: <number>:<number>}", "${<array>[@]/<pattern>/<inner>}",
        "${<array>[@]#<pattern>}", "${<array>[*]%%<pattern>}", "${<array>[@]:-<inner>}", "${<array>[*]^}", "${#<array>[1]}", "$@", "$*", "$#", "$1",
        "${2}", "$?", "${@:2}", "${*: -1}", "${@#<pattern>}", "${*/<pattern>/<inner>}", "${<name>@Q}", "${<array>[@]@Q}", "$<array>",
        "${<array>[@]+<inner>}", "${<name>@U}", "${<name>@u}", "${<name>@L}", "${<name>@E}", "${<name>@A}", "${<name>@a}", "${<array>[@]@A}",
        "${<array>[@]@K}", "${@@Q}", "${!<name>}", "${!<name>:-<inner>}", "${!x@}", "${<table>[<key>]}", "${<table>[<key>]:-<inner>}",
        "${#<table>[@]}", "${<table>[<key>]+<inner>}", "${<name>:=<inner>}", "${<array>[0]:=<inner>}", "${<name>:-${<name>:+<inner>}}",
        "${<name>#\"${<name>%%<pattern>}\"}", "${<name>?}", "${#}", "${#@}", "$-x",
    ],
    "operand": [
        "<number>", "<name>", "a[0]", "a[n]", "b[-1]", "${#x}", "$n", "0x1f", "2#101", "(<number> <operator> <name>)", "n++", "--n", "a[1]++",
        "$((<number>))", "m[k]", "m[$x]", "$1", "010", "${#a[@]}", "~<number>", "-n", "16#ff",
    ],
    "expression": [
        "<operand>", "<operand> <operator> <operand>", "(<operand> <operator> <operand>) <operator> <operand>", "-<operand>", "!<operand>",
        "<operand> ? <operand> : 5", "<operand> <operator> <operand> <operator> <operand>", "<name> <setter> <operand>", "a[<number>] <setter> <operand>",
        "<name> = <operand>, <name> <operator> 2", "<operand>?<name>=1:(<name>=2)", "<operand> +", "<operand> <operand>", "08", "<operand> = 3", "1/0",
        "<operand> ** <number>", "m[<key>] <setter> <operand>",
    ],
    "inner": ["<plain>", "<quoted>", "$<name>", '"$<name>"', "${<name>}-", "$((<operand>))", "$(echo <plain>)"],
    "word": [
        "<plain>", "<plain>", "<quoted>", "<parameter>", '"<parameter>"', '"<parameter>"', "p<parameter>s", '"<<parameter>>"',
        "<plain><parameter>", "$((<expression>))", "$(<simple>)", '"$(<simple>)"', "<parameter><parameter>", "'<quoted>'<plain>", "`echo <plain>`",
        "<plain>{<inner>,<plain>}", "<quoted><parameter>\"<parameter>\"",
    ],
    "condition": [
        "[[ x<parameter> == <pattern> ]]", "[[ x<parameter> != <word> ]]", "[[ -z <word> ]]", "[[ -n $<name> && <word> < b ]]", "[ <word> = x ]",
        "[ -n <word> ]", "[[ $n -gt <number> ]]", "((<expression>))", "true", "false", "! <simple>", "[ -e f ]", "[[ x<word> =~ [a-c]+(.)? ]]",
        "[[ -v <name> ]]", "[ $# -gt 1 ]", "<simple>", "[[ x<word> =~ <regex> ]]", "[[ -v <array>[<number>] ]]", "[[ -v m[<key>] ]]",
        "[[ ( x<word> == <pattern> || -n <word> ) && ! x<word> == <pattern> ]]", "[[ $n -eq <number> ]]", "[ <word> -lt <number> ]",
        "[ <word> != <word> -a <word> ]", "test <word> = <word>", "[[ <word> ]]", "grep -q <plain> f", "[[ $n -lt 3 || x ]]",
    ],
    "target": ["> f", ">> f", "2> e", "> f 2>&1", "&> f", "2>&1", ">&2", "2>/dev/null", "< f", "<<< <word>", "3>&1 >&3", "> \"$x\"", ">| f", "2>&1 > f", "< nofile"],
    "simple": [
        "echo <word> <word>", "echo <word>", "printf '<%s>\\n' <word> <word>", "printf '%s|%d\\n' <word> <number>", "<name>=<word>",
        "<name>+=<word>", "<array>=(<word> <word>)", "<array>+=(<word>)", "<array>[3]=<word>", "<name>=$((<expression>))",
        "((<name> += <number>))", "((n <operator>= <operand>))", "((n++))", "((<expression>))", ": ${<name>:=<inner>}", "set -- <word> <word>", "shift",
        "unset <name>", "unset '<array>[0]'", "unset '<array>[-1]'", "unset 'm[k]'", "read <name> <<< <word>",
        "read -r <name> z <<< <word>", "IFS=, read -ra <array> <<< <word>", "read -n 2 <name> <<< <word>", "read -d b <name> <<< <word>",
        "IFS=<plain> read -r x y z <<< <word>", "declare -i n=<number>+1", "export <name>=<word>",
        "declare -p <name> <array>", "f <word> <word>", "echo $? $#", "echo <word> > f", "cat f", "echo <word> >> f",
        "printf '%q\\n' <word>", "<name>=<word> <array>[1]=<word>", "false", ":", "let <name>=<number>+2", "mapfile -t <array> <<< <word>",
        "echo <word> | <filter>", "test <word>", "eval 'echo $<name>'", "nosuchcommand <word>", "cat nosuchfile",
        "case <word> in <pattern>) echo m;; *) echo o;; esac", "<name>=<word> f $<name>", "IFS=<plain>; echo $<name> $*; IFS=$' \\t\\n'",
        "IFS=<plain>; set -- $<name>; echo $# \"$*\"; unset IFS", "printf -v <name> '%3s' <word>", "echo ${BASH_REMATCH[@]}", "type -t <plain> f",
        "getopts ab: <name> -b <word>; echo $OPTARG", "m[<key>]=<word>", "m[<key>]+=<word>", "declare -p m", "for k in \"${!m[@]}\"; do echo \"$k:${m[$k]}\"; done",
        "m=([k]=<word> [<plain>]=<word>)", "declare <attribute> <name>", "declare <attribute> <name>=<word>", "declare <attribute> q; q=<word>; declare -p q; unset -n q; unset q",
        "local <name>=<word>", "readonly r=<word>; r=2; echo no", "echo <word> <target>", "f <word> <target>", "cat <target>", "printf '%5s|%-5s|%.2s\\n' <word> <word> <word>",
        "printf '%x %o %e\\n' <number> <number> <number>", "printf '%b|' <word> <word>", "printf '%s %s\\n' <word> <word> <word>", "printf '%d\\n' <word>",
        "eval \"<name>=<plain>\"", "eval <quoted>", "echo $'<plain>\\n' \"<plain> $<name>\"", "mapfile -d , -t <array> <<< <word>", "(( <array>[<operand>] <setter> <operand> ))",
        "<array>=(\"${<array>[@]}\" <word>)", "<array>=([<operand>]=<word> <word>)", "<array>=(${<array>[@]<pattern>})", "set -- \"${<array>[@]}\"", "echo \"${<array>[*]}\" | <filter>",
        "shift <number>", "return <number>", "getopts :xy:z <name>; echo $? $<name> $OPTIND ${OPTARG-no}", "alias q=echo; unalias q", "hash -r", "set -f; echo *; set +f",
        "export -n <name>", "env | grep '^[xyz]='", "type f", "command -v f echo nope", "declare -f f", "compgen -W 'ab abc x' a", "echo * <pattern>", "touch <plain> 2>/dev/null; ls",
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
        "case <word> in <pattern>) <deeper>;& <pattern>) <deeper>;;& *) <deeper>;; esac",
        "( <deeper>; <deeper> )", "{ <deeper>; <deeper>; }", "<condition> && <deeper> || <deeper>", "<deeper> || <deeper>",
        "{ <deeper>; } | <filter>", "<simple> | <filter> | <filter>", "{ <deeper>; } 2>&1 | <filter>",
        "<function>() { <deeper>; echo in $1; return <status>; }; <function> <word>; echo $?",
        "<function>() { local <name>=<word>; <deeper>; echo $<name>; }; <function> <word>; <deeper>",
        "<function>() { local <name> <array>; <deeper>; local -p; }; <function> <word>; echo \"$<name>\"",
        "<function>() { local -n v=$1; v=<word>; <deeper>; }; <function> <name>; echo \"$<name>\"",
        "<function>() { local -a a=(<word>); local -i n=<operand>; <deeper>; declare -p a n; }; <function> <word>",
        "<function>() { set -- <word> \"$@\"; shift; <deeper>; [[ $1 ]] && return; echo late; }; <function> <word>; echo $?",
        "while read -r <name>; do <deeper>; done <<< <word>", "{ <deeper>; } > g; cat g", "{ <deeper>; <deeper>; } > g 2>&1; wc -l < g",
        "while IFS=<plain> read -r x y; do echo \"[$x][$y]\"; <jump>; done <<< <word>",
        'x=$(<deeper>); echo "$x"', "cat <<END\n<name> <plain> $<name> ${<name>} $((<expression>)) ${#<array>[@]}\nEND\n:", "( <deeper> ); echo $?",
        "cat <<'END'\n$x <plain> `date` \\\nEND\n:", "cat <<-END | <filter>\n\t<parameter> <plain>\n\t\"<parameter>\" $(<simple>)\n\tEND\n:",
        "( set -e; <deeper>; <deeper>; echo end ); echo $?", "( set -u; <deeper>; <deeper> ); echo $?", "( set -eu; <function>() { <deeper>; <deeper>; }; <function> <word>; echo end ); echo $?",
        "( set -e; <condition> && <deeper>; <function>() { <condition>; <deeper>; }; <function> || <deeper>; echo end ); echo $?",
        "( set -e; x=$(<deeper>); echo \"$x\"; if <deeper>; then <deeper>; fi; echo end ); echo $?",
        "( trap 'echo bye $?' EXIT; <simple> )", "( trap 'echo trap $? $x' <signal>; <deeper>; <deeper> ); echo $?",
        "( trap 'echo err $LINENO' ERR; set -E; <function>() { <deeper>; }; <function> <word>; <condition>; <deeper> )",
        "( trap 'echo ret' RETURN; <function>() { <deeper>; }; <function>; f x )",
        "set -o pipefail; <simple> | cat; echo $? ${PIPESTATUS[@]}; set +o pipefail",
        "( shopt -s extglob; <deeper>; echo ${<name>//@(a|b)/-} ${<name>##+([!.])} ${<name>%%*(c|d)}; [[ x<word> == !(a*) ]]; echo $? )",
        "( shopt -s nocasematch; [[ x<word> == <pattern> ]]; echo $?; case <word> in ABC) echo up;; <pattern>) echo p;; esac )",
        "( shopt -s nullglob; echo <word> <pattern>; <deeper> )", "( shopt -s lastpipe; <simple> | read x; echo \"$x\" )",
        "( set -x; echo <word> <word> )", "( set -x; <simple>; <condition> )", "paste -d: <(<simple>) <(<simple>)", "time_=1; ! <simple>; echo $?",
        "<simple> & wait $!; echo $?", "{ <deeper>; } & wait; echo $?", "select s in <word> <word>; do echo \"$REPLY:$s\"; break; done <<< 2",
        "diff <(<simple>) <(<simple>)", "{ <deeper>; } <target>", "if <condition>; then <deeper>; fi <target>", "<condition>; echo $?",
        "OPTIND=1; while getopts 'ab:c' o -a -b <word> -z; do echo \"$o=$OPTARG\"; done", "eval \"echo <plain>; <name>=<plain>\"; echo \"$<name>\"",
        "declare -f <function>; <function>() { <deeper>; <deeper>; }; declare -f <function>",
    ],
}  # fmt: skip
STARTS = [
    "x=abc y='a b  c' n=3 a=(one 'two 2' '') b=([2]=q [5]='r s')",
    "x=a/b/c.txt y= n=10 a=(3 1 2) b=()",
    "unset x; y='*' n=0 a=('a b' c) b=(x)",
    "x=$'l1\\nl2' y='-n' n=-7 a=(é ü) b=(1 2 3 4)",
    "x=y y=z z=end n=2 a=(x 'y z') b=([1]=10 [3]=30)",
    "declare -i n=4; declare -u x=Mixed; y=$'\\t a\\tb ' z='a:b::c' a=(1 22 333) b=(a.c b.c)",
]
HOLE = re.compile(r"<([a-z]+)>")
OTHER = ("deeper", "loop", "function")


def fill(choose: Choose, kind: str, depth: int, words: int) -> str:
    """A text of a kind. `depth` bounds how compound commands nest, `words` how substitutions do."""
    if kind == "deeper":
        kind, depth = ("command", depth - 1) if depth > 0 else ("simple", 0)
    elif kind in (
        "loop",
        "function",
    ):  # names of their own at each depth, so that every script ends
        return f"{kind[0]}{depth}"
    if kind in ("word", "simple") and words <= 0:
        if kind == "simple":
            return choose(["echo $x", "echo <quoted>", "false", "cat f"]).replace(
                "<quoted>", "'a b'"
            )
        kind = "inner" if words > -2 else "plain"
    form = choose(FORMS[kind])
    less = words - (kind in ("word", "simple", "condition", "inner", "expression", "parameter"))
    return HOLE.sub(
        lambda hole: (
            fill(choose, hole[1], depth, less) if hole[1] in FORMS or hole[1] in OTHER else hole[0]
        ),
        form,
    )


def write_script(choose: Choose) -> str:
    """A script of a few lines, with variables that have values; `choose` takes one of a list."""
    lines = [
        choose(STARTS),
        "declare -A m=([k]=v ['k 2']=5); set -- 'p 1' q; f() { echo \"f:$#:$1\"; }",
    ]
    lines += [fill(choose, "command", 1, 2) for _ in choose(["1", "12", "123"])]
    return "\n".join(lines) + "\n"


@st.composite
def scripts(draw: Callable[[st.SearchStrategy[str]], str]) -> str:
    """The same for hypothesis."""
    return write_script(lambda options: draw(st.sampled_from(options)))
