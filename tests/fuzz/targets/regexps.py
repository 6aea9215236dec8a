"""Regular expressions of every dialect. Fields: a dialect (its number), a pattern, a text.

The text is also pumped: repeated and closed with a character that no pattern expects. The time
between two looks at the clock is measured by the judge; besides, the work of what runs on `re`
without a look is counted in steps (`tests.security.pumping`), which is the same on every machine.
"""

from __future__ import annotations

import re

from agentsandbox.kernel.regexps.limits import UNBOUNDED, RegexError
from agentsandbox.kernel.regexps.matcher import PosixRegex, compile_posix
from agentsandbox.kernel.streams import decode, encode
from tests.fuzz.judge import Problem, judged, judged_script, sandbox_with
from tests.fuzz.seeds import seen_words
from tests.fuzz.target import SEPARATOR, Target, fields, joined
from tests.security.pumping import MANY, STEEP, worst

SCRIPTS = (
    'grep -E -e "$1" t; grep -oE -e "$1" t | head -c 5000; grep -cE -e "$1" big',
    'grep -G -e "$1" t; grep -wo -e "$1" t | head -c 5000; grep -xc -e "$1" big',
    'grep -P -e "$1" t; grep -oP -e "$1" t | head -c 5000; grep -cP -e "$1" big',
    'sed -E -n "s\x01$1\x01<&>\x01gp" t; sed -En "\x01$1\x01p" big | wc -c',
    'sed "s\x01$1\x01[&]\x012" t; sed -z -n "s\x01$1\x01\x01gp" big | wc -c',
    'awk -v r="$1" \'{ print match($0, r), RSTART, gsub(r, "x") }\' t big; awk -F "$1" \'{ print NF }\' t',
    'jq -R --arg r "$1" \'[match($r; "g").string], test($r), sub($r; "x"), [splits($r)]\' t; jq -Rs --arg r "$1" \'test($r; "x"), [scan($r)] | length\' big',
    'rg -- "$1" t; rg -o -- "$1" t | head -c 5000; rg -c -- "$1" big; rg -U -- "$1" t',
    '[[ $(<t) =~ $1 ]]; echo "${BASH_REMATCH[@]}" | head -c 5000; [[ $(<big) =~ $1 ]]; echo $?',
    'expr "$(<t)" : "$1"; expr "$(<big)" : "$1"; nl -bp"$1" t; csplit -s t "/$1/"',
    'find . -regex "$1"; find . -regextype posix-extended -regex "$1"; less -p "$1" t; git grep -n "$1" 2>&1',
    'yq -p=props --arg 2>/dev/null; r=$1 yq -n \'"aab" | test(strenv(r)), match(strenv(r)), sub(strenv(r), "x")\'',
    'perl -ne "print if /$1/" t; rename "s\x01$1\x01x\x01" t; sort -t: -k1 t | uniq | grep -E -v -f <(echo "$1")',
)
"""For each dialect: the pattern is `$1`, the text is `t`, and what is pumped `big`."""


WORDS = r"""\( \) ( ) (?: (?= (?! (?<= (?<! (?> (?i) (?<n> (?P<n> \1 \2 \k<n> (?1) (?R) (?(1) | * + ? {2} {1,} {,3} {2,5} {1000} \{2\} \{1,\} *? +? ?? *+ ++ ^ $ \b \B \< \> \w \W \s \S \d \D \h \R \K \A \z \Z \G \` \' . [a] [^a] [a-z] [[:alpha:]] [[:foo:]] [[.a.]] [[=a=]] []a] [a-] \x41 \x{263a} \u00e9 \n \t \Q \E (a*)*b (a|ab)*c (a+)+$ .*.*x (.)\1 a aa ab b é \pL \p{Lu} \cA \0 \ [""".split()


def _check_steps(pattern: str, *, extended: bool) -> None:
    """Whether what is searched with `re` at any length takes linear work."""
    try:
        compiled = compile_posix(pattern, extended=extended)
    except (RegexError, RecursionError):
        return
    if not isinstance(compiled, PosixRegex) or compiled.safe_length < UNBOUNDED:
        return
    if any(int(bound) > MANY for bound in re.findall(r"[{,](\d+)", pattern)):
        return  # counts as no bound for the machine
    fast = compiled.fast
    if fast is not None and len(fast.pattern) < 60:
        growth = worst(fast)
        if growth.factor > STEEP:
            raise Problem("steep", "analysis.py:analyze", f"{pattern!r} {fast.pattern!r} {growth}")


def run(data: bytes) -> None:
    number, pattern, text = fields(data.replace(b"\0", b""), 3)
    dialect = len(number) and number[0] % len(SCRIPTS)
    shown = decode(pattern)[:300]
    if dialect in (0, 1):
        judged(lambda: _check_steps(shown, extended=dialect == 0), (re.error,))
    files = {"t": text[:2000], "big": text[:50] * (40_000 // max(1, len(text[:50]))) + b"\x02\n"}
    judged_script(sandbox_with(files), SCRIPTS[dialect], args=(shown,))


def seeds(count: int) -> list[bytes]:
    found = []
    for program, first in (("grep", 0), ("sed", 3), ("rg", 7)):
        for words, content in seen_words((program,), count // 3):
            pattern = next((word for word in words[1:] if not word.startswith("-")), "")
            found.append(
                joined(chr(first), pattern.removeprefix("s/").partition("/")[0], content[:200])
            )
    for dialect in range(len(SCRIPTS)):
        found += [
            joined(chr(dialect), pattern, "aaaab\n") for pattern in ("(a*)*b", "a|ab", "(a)\\1")
        ]
    return found


TARGET = Target("regexps", run, seeds, tuple(encode(word) for word in WORDS) + (SEPARATOR,))
