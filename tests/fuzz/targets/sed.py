"""Sed scripts and options."""

from tests.fuzz.target import commands

WORDS = r"""s/a/b/ s/\(a\)/\1/g s/a/&&/2p s/x/y/w s/a/\U&\E/ y/abc/xyz/ /a/,/b/ 1~2 0,/a/ $! 1,+3 2,~4 /a/I \,a, {p;d} } : ba b ta t T D d G g H h N n P p x = l l5 q q5 Q r w R W e F z i\ a\ c\ i a c v # -n -E -r -i -i.bak -s -z -u -l -e -f --posix --expression= \n \t \x41 \o101 \d065 \cA \w \+ \? \| ;""".split()

TARGET = commands(
    "sed", ("sed",), WORDS, ("sed", "-n", "/a/,$p"), ("sed", ":a;N;$!ba;s/\\n/,/g"),
    ("sed", "-E", "s/(.)(.)/\\2\\1/g;ta;s/$/x/;:a"), ("sed", "-i", "1d", "f", "in"),
)  # fmt: skip
