"""Crowds of processes that each hold much: how far they make the host's process grow together.

A generator puts a crowd together from what holds values (variables, words, here-documents, pipes, the
input that a command keeps, arrays, values of awk, jq, sqlite3 and guests), from what runs many of
them at once (background jobs, pipelines of many stages, coprocesses, process substitutions,
subshells that wait for each other), and from what they hold: bytes that are all different, because
equal blocks of a pipe may be one object.

`CROWDS` is the number of crowds; the same number is always the same crowd. `python -m
tests.security.test_crowds COUNT [FIRST]` prints how far each of them grows.
"""

from __future__ import annotations

import os
import random
import sys

import pytest

from tests.test_growth import MOST, grown

pytest.importorskip("resource")

COUNT = int(os.environ.get("CROWDS", "3"))
FIRST = int(os.environ.get("CROWDS_FIRST", "0"))
SECONDS = 8.0 if COUNT > 10 else 1.5
"""What a crowd may take; it has held the most long before."""

TEXTS = (
    "head -c {size} /dev/urandom | base64 -w 0",
    "base64 /dev/urandom | head -c {size}",
    "base64 -w 5000 /dev/urandom | head -c {size}",
    "seq {rows}",
    "head -c {size} /dev/zero | tr '\\0' a",
)
"""Commands that write what is held."""

KEEPERS = (
    "tac", "sort", "sort -u", "shuf", "tail -c 9000000", "tail -n 999999", "sed ':a;N;$!ba'", "sed -n 'H;$p'",
    "awk '{ a[NR] = $0 } END { print a[1] }'", "awk '{ s = s $0 } END { print s }'", "awk '{ a[$0]++ } END { print 1 }'",
    "jq -Rs .", "jq -R . | tac", "jq -Rn '[inputs]'", "jq -Rn 'reduce inputs as $x ([]; . + [$x])'", "column -t", "diff - /etc/passwd",
    "xargs -0 echo", "xargs echo", "head -n -9", "head -c -9", "paste -s", "join - /etc/passwd", "tsort", "patch", "ed -s file",
    "comm - /etc/passwd", "csplit - 3", "fmt -w 200", "pr", "bc", "file -", "yq .", "sqlite3 :memory:", "rev", "fold -w 99", "nl",
    "uniq -c", "cut -c 2", "tr a b", "grep -c x", "wc", "od -c", "xxd", "sponge x{i}", "iconv -t utf-16", "split - s{i}", "expand",
    "gzip", "xz -9", "zstd -19", "bzip2", "base64", "sha256sum", "openssl dgst", "git hash-object --stdin", "tar xf -", "tee x{i}",
    "read -r -d '' y", "mapfile y", "mapfile -t -n 0 y", "while read -r y; do z+=$y; done", "y=$(cat)", "y=$(tac)", "cat <(cat)",
    "bash -c 'y=$(cat); sleep 99'", "exec 5< <(cat); read -r -u 5 y", "sh -s", ". /dev/stdin", "node -e 'require(\"fs\").readFileSync(0)'",
)  # fmt: skip
"""What keeps its standard input, or a part of it, until its end."""

HOLDERS = (
    "y=$x$i; {wait}", "set -- \"$x$i\" \"$i$x\"; {wait}", "y=(\"$x$i\"); {wait}", "declare -A y=([$x$i]=1); {wait}", "export y=$x$i; bash -c '{wait}'",
    "{wait} <<< \"$x$i\"", "{wait} 5<<< \"$x$i\" 6<<< \"$i$x\"", "f() {{ local y=$1; {wait}; }}; f \"$x$i\"", "{wait} \"$x$i\" 2> /dev/null", "eval \"f() {{ : $x$i; }}\"; {wait}",
    "trap \": $x$i\" EXIT; {wait}", "alias y=\"$x$i\"; {wait}", "echo \"$x$i\" | {{ {wait}; cat; }}", "printf '%s' \"$x$i\" | {{ {wait}; cat; }}", "printf -v y '%s%s' \"$x\" \"$i\"; {wait}",
    "for y in \"$x$i\"; do {wait}; done", "case $x$i in \"$({wait})\") ;; esac", "[[ $x$i == \"$({wait})\" ]]", ": \"$x$i\" \"$({wait})\"", ": \"${{x/b/$({wait})}}$i\"",
    "awk -v y=\"$x$i\" 'BEGIN {{ system(\"{wait}\") }}'", "awk 'BEGIN {{ y = sprintf(\"%9000000d\", 1); system(\"{wait}\") }}'", "jq -n --arg y \"$x$i\" '[range(1e9)]'", "env \"y=$x$i\" bash -c '{wait}'", "find . -maxdepth 0 -exec sh -c '{wait}' \"$x$i\" \\;",
    "history -s \"$x$i\"; {wait}", "complete -W \"$x$i\" y; {wait}", "y=${{x^^}}; z=${{x//a/b}}; {wait}", "y=$(echo \"$x$i\"); {wait}", "read -r y <<< \"$x$i\"; {wait}", "mapfile y <<< \"$x$i\"; {wait}",
    "printf '%s' \"$x$i\" > f$i; exec 7< f$i; rm f$i; {wait}", "tac <<< \"$x$i\" | {{ {wait}; cat; }}", "sort <<< \"$x$i\" | {wait}", "cat <<E | {{ {wait}; cat; }}\n$x$i\nE\n", "python3 -c 'x = \"a\" * 9000000; input()' < <({wait})",
)  # fmt: skip
"""What a process does to hold a value while it waits."""


def make_crowd(number: int) -> str:
    """Return a script of many processes that hold much at the same time."""
    chance = random.Random(f"crowd {number}")
    size = chance.choice((100_000, 1_000_000, 4_000_000, 10_000_000, 15_000_000))
    count = min(240, chance.choice((20, 60, 240)), 3_000_000_000 // size)
    text = chance.choice(TEXTS).format(size=size, rows=size // 7)
    wait = chance.choice(("sleep 99", "read z < fifo", "wait"))
    if number % 2:
        one = chance.choice(HOLDERS).format(wait=wait)
        script = f"x=$({text}); "
    else:
        keeper = chance.choice(KEEPERS).replace("{i}", "$i")
        one = f"{{ {text}; {wait}; }} | {{ {keeper}; {wait}; }}"
        script = ""
    script = f"mkfifo fifo; exec 9<> fifo; {script}"
    kind = chance.randrange(6)
    if kind == 0:
        return f"{script}for i in {{1..{count}}}; do ( {one} ) & done > /dev/null; wait"
    if kind == 1:  # a pipeline of many stages
        stage = f"{{ i=$i$i; {one}; }}"
        return f"{script}i=1; {' | '.join([stage] * min(count, 40))} > /dev/null"
    if kind == 2:
        nested = f"f() {{ i=$i$1; if (($1)); then cat <({one}) <(f $(($1 - 1))); fi; }}"
        return f"{script}{nested}; i=1; f {min(count, 60)} > /dev/null"
    if kind == 3:
        each = f'eval "coproc c$i {{ {one.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34)).replace("$", chr(92) + "$")}; }}"'
        return f"{script}for i in {{1..{min(count, 60)}}}; do {each}; done 2> /dev/null; wait"
    return f"{script}for i in {{1..{count}}}; do {{ {one}; }} & done > /dev/null; wait"


# TM-MEM-1
@pytest.mark.parametrize("number", range(FIRST, FIRST + COUNT))
def test_a_crowd_grows_no_further_than_the_limits_allow(number: int) -> None:
    script = make_crowd(number)
    found = grown(script, timeout=SECONDS)
    growth = found["growth"]
    assert isinstance(growth, int)
    assert growth <= MOST, (found, script)


def _main(arguments: list[str]) -> None:
    count, first = (*map(int, arguments), *(100, 0)[len(arguments) :])
    for number in range(first, first + count):
        script = make_crowd(number)
        found = grown(script, timeout=8)
        growth = found["growth"]
        assert isinstance(growth, int)
        shown = " OVER" if growth > MOST else ""
        print(
            f"{growth >> 20:5} MiB {found['limit']}{shown}  {number}  {script!r:.200}", flush=True
        )


if __name__ == "__main__":
    _main(sys.argv[1:])
