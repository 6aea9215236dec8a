"""Arithmetic: the same expression in `$(( ))`, `let`, a subscript, a slice and a `for`."""

from __future__ import annotations

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.shell.syntax.arithmetic import ArithmeticSyntaxError, parse_arithmetic
from tests.fuzz.judge import Problem, judged, judged_script, sandbox_with
from tests.fuzz.seeds import matches_in_scripts
from tests.fuzz.target import Target

WORDS = """+ - * / % ** << >> & | ^ && || ! ~ ? : , = += -= *= /= %= <<= >>= &= ^= |= ++ -- == != < > <= >= ( ) [ ] a[0] a[i++] m[k] x y 0x 0xff 077 08 2#101 64#@_ 36#Z 37#a 1# 9223372036854775807 9223372036854775808 -9223372036854775808 1e3 $x ${x} $((1)) $(echo 1) ' " \\ # ; x=y y=x self""".split()

SCRIPT = """self=self x=1 y=x+1 a=(1 2 3) i=0; declare -A m=([k]=1); declare -i n
echo $(( SANDBOX ))
let "$1"; echo "$?"
echo "${a[$1]}" "${x:$1}" $(( $1 ))
n="$1"; echo "$n"; [[ $1 -eq 1 ]]; for ((k = 0; k < 3 && ($1); k++)); do :; done; (( $1 )) && echo yes"""


def run(data: bytes) -> None:
    text = decode(data.replace(b"\0", b""))
    judged(lambda: parse_arithmetic(text), (ArithmeticSyntaxError, LimitReached, RecursionError))
    script = SCRIPT.replace("SANDBOX", text)
    result = judged_script(sandbox_with({}), script, args=(text,))
    for line in result.stdout.splitlines():
        word = line.strip()
        if word.lstrip("-").isdigit() and len(word) < 40 and word.isascii():
            if not -(1 << 63) <= int(word) < 1 << 63 and word not in script and word not in text:
                raise Problem("a number of more than 64 bits", "arithmetic", word)


TARGET = Target(
    "arithmetic",
    run,
    lambda count: [
        encode(each)
        for each in matches_in_scripts(r"\(\(([^()\n]+(?:\([^()\n]*\)[^()\n]*)*)\)\)", count)
    ],
    tuple(encode(word) for word in WORDS),
)
