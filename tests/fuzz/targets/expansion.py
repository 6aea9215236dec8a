"""Expansions of all kinds: the input is a script that is run, and whose words are printed."""

from __future__ import annotations

from agentsandbox.kernel.streams import decode, encode
from tests.fuzz.judge import judged_script, sandbox_with
from tests.fuzz.seeds import matches_in_scripts
from tests.fuzz.target import FILES, Target

BEFORE = """shopt -s extglob; x='a b'; y=; n=3 r=x a=(1 '2 3' '') b=([5]=x [9]=y); declare -A m=([k]=v ['a b']=c)
set -- 1 'two words' '' 4; f() { echo "$@"; }
printf '<%s>' """

WORDS = r"""${ } ${x ${x} ${#x} ${!x} ${!r} ${x:-w} ${x:=w} ${x:?w} ${x:+w} ${x#*} ${x##a} ${x%b} ${x%%*} ${x/a/b} ${x//a} ${x/#a/} ${x/%b/} ${x^} ${x^^} ${x,} ${x,,}
${x:1} ${x:1:2} ${x: -1} ${@} ${*} ${@:2} ${*:1:2} ${a[@]} ${a[*]} ${a[-1]} ${!a[@]} ${#a[@]} ${a[@]:1} ${m[k]} ${!m[@]} ${x@Q} ${x@E} ${x@P} ${x@A} ${x@a} ${x@U} ${a[@]@K} ${!x*} ${!x@}
$( ) $(echo ` `echo` $(< f) <(echo) $(( ${x+ )) $[ ] " ' $' $" \ \x41 \u00e9 \0 ~ ~+ ~root {a,b} {1..3} {a..e..2} {01..10} * ? [a-z] [!a] [[:alpha:]] @(a|b) +(a) !(x) *(z) $@ $* $# $? $- $$ $! $0 $1 ${10} $_ $RANDOM $LINENO $IFS IFS=: ; n++ , = += :- [ ]""".split()


def run(data: bytes) -> None:
    script = BEFORE + decode(data.replace(b"\0", b""))
    judged_script(sandbox_with(FILES), script)


TARGET = Target(
    "expansion",
    run,
    lambda count: [
        encode(each)
        for each in matches_in_scripts(r"(\$\{[^}\n]+\}|\{\S+\.\.\S+\}|\$'[^']+')", count)
    ],
    tuple(encode(word) for word in WORDS),
)
