"""Shell patterns. Fields: a pattern, a text. All that matches with patterns must agree, and no
match may take long.
"""

from __future__ import annotations

from agentsandbox.kernel.streams import decode, encode
from tests.fuzz.judge import Problem, judged_script, sandbox_with
from tests.fuzz.seeds import matches_in_scripts
from tests.fuzz.target import SEPARATOR, Target, fields, joined

WORDS = """* ? ** [a] [!a] [^a] [a-z] [z-a] [] []a] [[:alpha:]] [[:x:]] [[.a.]] [[=a=]] [a-] [!-] \\ \\* *a*a*b @(a|b) +(a) *(a|ab) ?(b) !(a) !(*a) +(+(a)) *(*(a)b) @(|a) ( | ) !( *( +( aaaaaaaa abababab . .. / é \\xff ab""".split()

SCRIPT = r"""shopt -s extglob; p=$1 t=$2
case $t in $p) echo case;; esac
[[ $t == $p ]] && echo test
[[ $t != $p ]] || echo unequal
[[ ! ${t/#$p} || ! $t ]] && [[ ! ${t##$p} ]] && [[ ! ${t%%$p} ]] && echo whole
r=${t#$p}; r=${t%$p}; r=${t//$p/x}; r=${t/%$p/&}; r=${t^^$p}; r=${t,$p}
big=$t$t$t$t$t$t$t$t; big=$big$big$big$big$big$big$big$big; big=$big$big$big$big
[[ $big == $p ]]; r=${big##$p}; r=${big%%$p}; r=${big//$p}; r=${big%$p}
shopt -s globstar nullglob dotglob nocasematch; IFS=; : $p d/$p **/$p; [[ $t == $p ]]; compgen -G "$p"
find . -name "$p" -o -path "$p"; GLOBIGNORE=$p; : *
"""


def run(data: bytes) -> None:
    pattern, text = (decode(part.replace(b"\0", b"")) for part in fields(data, 2))
    files = {"a": b"", "ab": b"", "b": b"", "d/a": b"", "d/d/ab": b"", ".h": b""}
    result = judged_script(sandbox_with(files), SCRIPT, args=(pattern[:200], text[:300]))
    seen = set(result.stdout.split()[:4])
    agree = {"case", "test", "unequal"}
    if result.limit is None and seen & agree and not agree <= seen:
        raise Problem("matchers disagree", "patterns", f"{seen} {pattern!r} {text!r}")


def seeds(count: int) -> list[bytes]:
    found = matches_in_scripts(r"==? (\S*[*?\[][^\s;]*) \]\]", count // 2)
    found += matches_in_scripts(r"\$\{\w+[#%/]+([^}\s]+)\}", count // 2)
    return [joined(each, "aXbaab") for each in found]


TARGET = Target("patterns", run, seeds, tuple(encode(word) for word in WORDS) + (SEPARATOR,))
