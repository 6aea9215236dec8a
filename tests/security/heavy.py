"""Heavy scripts from the list of commands: each command with much input of its kind, by chance.

`python -m tests.security.heavy [COUNT [FIRST]]` runs many with a deadline of half a second, and
prints by how much they overshoot it: the median, the 99th percentile, the maximum, and the worst
ten. Time is CPU time of the thread, for the deadline as well, so that a busy machine changes
nothing. A few run with the tests (`test_heavy`). The same number is always the same script:
`python -m tests.security.heavy show NUMBER`.
"""

from __future__ import annotations

import bz2
import functools
import gzip
import io
import json
import lzma
import sys
import tarfile
import zipfile
from random import Random
from time import thread_time
from unittest import mock

from agentsandbox import Limits, Sandbox
from agentsandbox.commands import names
from tests.security.fuzzing import options_of, quote

__all__ = ["DEADLINE", "base_sandbox", "make_script", "overshoot"]

DEADLINE = 0.5
"""Seconds of CPU."""

_WAITING = frozenset("nc sleep watch flock less more zless zmore curl wget git".split())
"""Commands that wait for something, or have nothing to read here."""
_TEXTS = "lines same line fields numbers blank wide bytes stars".split()
_ARCHIVES = "zeros.gz zeros.bz2 zeros.xz tar tar.gz zip lines.gz".split()
_TREES = ["tree", "."]

RECIPES: dict[str, list[str]] = {
    "awk": [
        "'{{ n[$1]++ }} END {{ for (k in n) print k, n[k] }}' {text}", "'{{ $3 = 1; print NF }}' {text}", "'{{ gsub(/a|b/, \"xyz\"); print length }}' {text}", "'{{ n = split($0, a, /[ ,a]+/); s += n }} END {{ print s }}' {text}",
        "-F, '{{ print $2, toupper($0), substr($0, 2, 5), index($0, \"zz\"), match($0, /z+x/) }}' {text}", "'BEGIN {{ while (1) s = s \"aaaaaaaaaaaaaaaa\" }}'", "'{{ a[NR] = $0 }} END {{ n = asort(a); print n, a[1] }}' {text}", "'BEGIN {{ RS = \"\" }} {{ print NF, $NF }}' {text}",
        "'BEGIN {{ RS = \"[0-9]+\" }} {{ s = s $1 }} END {{ print length(s) }}' {text}", "'BEGIN {{ for (i = 0; i < 9999999; i++) a[i] = i \"x\" }}'", "'BEGIN {{ while ((\"cat {text}\" | getline x) > 0) n++; print n }}'",
    ],
    "sed": ["'s/a/b/g' {text}", "-E 's/(a|b)+c?/<&>/g' {text}", "-n '$p' {text}", "':a;N;$!ba;s/\\n/,/g' {text}", "'1!G;h;$!d' {text}", "-n 'H;${{x;s/\\n/;/g;p}}' {text}", "y/abc/xyz/ {text}", "-i 's/1/2/' {text}", "-n l {text}", "'s/.*/&&&&/' {text}"],
    "grep": ["-c a {text}", "-E '(a|b)*c$' {text}", "-o '[a-z0-9]*' {text}", "-P '(?i)(x+x+)+y' {text}", "-F -f numbers {text}", "-rn zz tree", "-w 77 {text}", "-vn q {text}", "-i -c ABC {text}", "-C 3 zz {text}"],
    "rg": ["-c a {text}", "'(a|b)*c$' {text}", "-o '[a-z0-9]*' {text}", "zz tree", "-i --json abc {text}"],
    "sort": ["{text}", "-n {text}", "-u {text}", "-V {text}", "-h {text}", "-k2,2n -t, {text}", "-R {text}", "-f -r {text}", "-M {text}", "-g {text}", "-s -k1,1 {text} {text}"],
    "jq": [". json", "-c '.[]' json", "'map(.id) | add' json", "'group_by(.n) | length' json", "'[.[] | tojson] | length' json", "-R 'length' {text}", "-Rs 'split(\"a\") | length' {text}", "-Rs '[scan(\"a\")] | length' {text}", "-Rs 'gsub(\"a\"; \"b\") | length' {text}", "-s length jsonl",
        "-n '[range(9999999)] | sort | length'", "-n 'reduce range(9999999) as $i ([]; . + [$i]) | length'", "-n '[range(300000) | tostring] | unique | length'", "-n 'def f: [., .] | f; 1 | f'", "'tojson | fromjson | length' json", "-n '[limit(99999999; repeat(1))] | length'", "'[paths] | length' json", "-S . json", "'sort_by(.s, .n) | .[0]' json", "-Rs @base64 {text}", "-Rs 'explode | implode | length' {text}", "-Rs 'ascii_upcase | ltrimstr(\"A\") | test(\"zzz$\")' {text}", ". deep"],
    "yq": [". yaml", "'.[0]' json", "-o json . yaml", "'length' json"],
    "find": [". -name '*9*' -size +0", "tree -printf '%p %s %T@\\n'", "tree -exec cat {{}} +", "tree -exec echo {{}} \\;", "tree -regex '.*\\(a\\|b\\)*9'", "tree -type f -newer lines -o -empty -print0", "tree -delete"],
    "xargs": ["-n 1 echo < {text}", "echo < {text}", "-I {{}} echo {{}} {{}} < {text}", "-d , -n 9 true < {text}", "-P 4 -n 2 echo < {text}", "-0 echo < {text}"],
    "sqlite3": [":memory: 'with recursive c(x) as (select 1 union all select x + 1 from c) select count(*), sum(x) from c'", ":memory: \"create table t(a); .import lines t\" 'select count(*) from t'", ":memory: '.import lines t' 'select * from t order by 1 desc'", ":memory: \"select length(replace(hex(zeroblob(7000000)), '0', 'ab'))\"", ":memory: \"select sum(a.value) from generate_series(1,99999) a, generate_series(1,99999) b\"",
        ":memory: \"with recursive c(x) as (select 1 union all select x+1 from c limit 400000) select group_concat(x order by x desc) from c\"", "-csv :memory: '.import --csv fields t' 'select * from t a join t b on a.rowid < b.rowid'", ":memory: < sql", "db < sql"],
    "tr": ["a-z A-Z < {text}", "-d a < {text}", "-s ' ' < {text}", "-cd 0-9 < {text}", "-c a b < {text}"],
    "cut": ["-d, -f2,3 {text}", "-c 2-5 {text}", "-b 1,3,5- {text}", "-d ' ' -f 2- --output-delimiter=zz {text}", "-c 1-9,20-7000000 {text}"],
    "printf": ["'%s\\n' {{1..400000}}", "'%09999999d' 1", "'%q' \"$(cat {text})\"", "'%b' \"$(cat {text})\"", "\"$(cat {text})\"", "'%s' $(cat {text})"],
    "diff": ["{text} {text}", "lines numbers", "-u fields lines", "-w lines same", "-r tree .", "-y lines numbers", "-i -B same blank"],
    "comm": ["lines lines", "{text} {text}", "-12 numbers lines"],
    "join": ["lines lines", "-t, fields fields", "same same"],
    "uniq": ["-c {text}", "-i {text}", "-D {text}", "-f 1 {text}"],
    "tar": ["cf x.tar tree", "czf x.tgz lines tree", "xf tar", "tzf tar.gz", "cJf x.txz {text}", "cjf x.tbz {text}", "--zstd -cf x.zst {text}", "xf tar -O"],
    "gzip": ["-c {text}", "-9 -c {text}", "-dc zeros.gz", "-l zeros.gz", "-t zeros.gz"],
    "bzip2": ["-c {text}", "-dc zeros.bz2"], "xz": ["-c {text}", "-9e -c {text}", "-dc zeros.xz", "-l zeros.xz"], "zstd": ["-c {text}", "-19 -c {text}", "--ultra -22 -c {text}"],
    "zip": ["x.zip {text} tree", "-r x.zip tree", "-9 - {text}"], "unzip": ["-p zip", "-o zip", "-l zip", "-t zip"], "zipinfo": ["zip"],
    "zcat": ["zeros.gz", "lines.gz"], "zgrep": ["zz zeros.gz", "-c 1 lines.gz"], "zdiff": ["zeros.gz lines.gz"], "zcmp": ["zeros.gz zeros.gz"],
    "bc": ["<<< '2^9999999'", "<<< 'scale=200000; 4*a(1)'", "<<< 'while (1) x += 1'", "<<< 'scale=99999; e(2)'", "<<< \"$(head -c 900000 numbers | tr '\\n' '+') 1\"", "-l <<< 'sqrt(2^999999)'", "<<< '9^99999 % 7^99998; obase=3; 9^99999'"],
    "dc": ["-e '2 9999999 ^ p'", "-e '[la 1 + sa lb x] sb 0 sa lb x'", "-e '9 99999 ^ 3 o p'", "-e '40000 k 2 v p'"],
    "factor": ["{{1..300000}}", "179769313486231570814527423731704356798070", "$(cat numbers)", "100000000000000000000000000000000000000000000000000000000000000000000003"],
    "seq": ["999999999", "-w 1 0.1 99999999", "-s, 99999999", "-f %099999g 99999"], "expr": ["\"$(cat {text})\" : '\\(.*\\)*b'", "length \"$(cat {text})\"", "index \"$(cat {text})\" qz", "9999999999 '*' 99999999999"],
    "date": ["-f lines", "-d \"$(cat {text})\"", "+\"$(cat {text})\""], "od": ["-c {text}", "-A x -t x1z {text}", "-t f8 -v bytes", "-j 7000000 {text}"], "hexdump": ["-C {text}", "-e '1/1 \"%02x\"' {text}"], "xxd": ["{text}", "-p {text}", "-r hex", "-b {text}"],
    "split": ["-l 1000 {text} z", "-b 1000 {text} z", "-n 77 {text}", "-C 900 {text}", "-n l/7 {text}"], "csplit": ["-z lines '/99$/' '{{*}}'", "numbers 2 4 1000 '{{99}}'"], "head": ["-n -1 {text}", "-c 7000000 {text}", "-n 999999 {text}"], "tail": ["-n +2 {text}", "-n 900000 {text}", "-c 6000000 {text}"],
    "column": ["-t {text}", "-t -s, {text}", "{text}", "-x {text}"], "fold": ["-w 1 {text}", "-s -w 60 {text}"], "fmt": ["{text}", "-w 10 {text}"], "pr": ["{text}", "-3 {text}", "-m {text} {text}"], "nl": ["-ba {text}"], "paste": ["-s {text}", "{text} {text} {text}", "-d, - - - < {text}"],
    "expand": ["{text}"], "unexpand": ["-a {text}"], "rev": ["{text}"], "tac": ["{text}", "-s a {text}", "-r -s '[0-9]' {text}"], "shuf": ["{text}", "-n 9 {text}", "-i 1-9999999", "-e $(cat {text})", "-r -n 9999999 {text}"], "tsort": ["{text}"],
    "numfmt": ["--to=iec < numbers", "--field=- --from=auto < fields", "--grouping < numbers"], "base64": ["{text}", "-d b64", "-w 0 {text}", "-di {text}"], "base32": ["{text}", "-d b64"], "uuencode": ["{text} x"], "iconv": ["-f utf-8 -t utf-16 {text}", "-f latin1 -t utf-8 {text}", "-c -t ascii {text}"],
    "patch": ["-p0 < diff", "-R lines diff", "--dry-run lines < diff"], "cmp": ["-l {text} {text}", "{text} {text}", "lines lines"], "file": ["{text} tree/*", "-z *"], "strings": ["{text}", "-n 2 bytes"], "dd": ["if={text} of=x bs=1", "if={text} bs=7M conv=ucase", "if=/dev/zero of=x bs=1M count=60", "if={text} conv=swab,block cbs=80"],
    "envsubst": ["< {text}", "< dollars"], "getopt": ["-o a:b -- $(cat {text})"], "man": ["{text}"], "make": ["-f {text}"], "parallel": ["echo ::: {{1..9999}}", "echo < {text}"], "rename": ["s/a/b/ tree/*"], "truncate": ["-s 60M x"], "ls": ["-laR", "-lS tree", "-R tree", "-d tree/*"], "du": ["-a", "-sh tree"], "tree": [".", "-s tree"],
    "cp": ["-r tree copy", "-a . /tmp/copy", "{text} x"], "mv": ["tree moved", "tree/* /tmp"], "rm": ["-rf tree", "-r tree/*"], "ln": ["-s tree/* /tmp"], "chmod": ["-R 700 tree", "644 tree/*"], "chown": ["-R 0 tree"], "chgrp": ["-R 0 tree"], "touch": ["tree/*", "n{{1..90000}}"], "stat": ["tree/*", "-c %n%s tree/*"],
    "mkdir": ["-p m{{1..90000}}", "m{{1..300}}/{{1..300}}"], "realpath": ["tree/*"], "readlink": ["-f tree/*"], "basename": ["-a tree/*"], "dirname": ["tree/*"], "test": ["\"$(cat {text})\" = \"$(cat {text})\""], "install": ["-D tree/* /tmp/in"], "md5sum": ["{text} tree/*", "-c lines"], "sha256sum": ["{text}", "tree/*"], "sha512sum": ["{text} {text} {text}"],
    "openssl": ["dgst -sha256 {text}", "base64 -in {text}", "enc -base64 -d -in b64", "rand -hex 9999999"], "timeout": ["9 sort {text}"], "env": ["-S \"$(cat {text})\"", "x=\"$(cat line)\" sort {text}"], "yes": ["", "\"$(cat {text})\""], "wc": ["{text}", "-L {text}", "-m {text} {text}", "-w tree/*"], "tee": ["x y < {text}"], "cat": ["-A {text}", "-n {text}", "-s {text} {text}"], "shred": ["-n 9 {text}"], "cal": ["{{1..9999}}"],
}  # fmt: skip
"""Arguments for commands; {text} is any of the files with text. Other commands get files."""

SHELL = [
    'x=$(cat {text}); for i in $x; do :; done', 'x=$(cat {text}); set -- $x; echo $#', 'x=$(cat {text}); a=($x); echo ${{#a[@]}}', 'while read -r l; do n=$((n + ${{#l}})); done < {text}', 'mapfile -t a < {text}; echo "${{a[@]: -3}}"', 'while read -ra a; do :; done < {text}', 'x=$(cat {text}); echo "${{x//a/bb}}" | wc -c', 'x=$(cat {text}); echo "${{x//[0-9]*a/}}" | wc -c',
    'x=$(cat {text}); echo "${{x%%*b}}${{x##*b}}${{x^^}}" | wc -c', 'x=$(cat {text}); [[ $x =~ (a|b)*c$ ]]', 'x=$(cat {text}); [[ $x == *q*z ]]', 'x=$(cat {text}); case $x in *q*z) :;; *) echo no;; esac', 'x=$(cat {text}); eval "$x"', 'x=$(cat {text}); eval "y=\'$x\'"', 'bash {text}', '. ./{text}', 'bash < {text}', 'x=$(cat {text}); trap "$x" EXIT', 'x=$(cat {text}); y=$x$x', 'while :; do x+=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done',
    'for ((i = 0; ; i++)); do a[i]=$i; done', 'declare -A m; while read -r k v; do m[$k]=$v; done < {text}', 'x=1; while :; do x=$((x * 7 + 1)); done', 'f() {{ f; }}; f', 'f() {{ f | f; }}; f', 'echo {{1..9999999}} | wc', 'echo {{a..z}}{{a..z}}{{a..z}}{{a..z}}{{a..z}} | wc', 'echo tree/* tree/*/* **/*9* | wc', 'shopt -s globstar; echo **/* | wc', 'x=$(cat {text}); IFS=$x; y="a b c"; set -- $y', 'x=$(cat {text}); echo $((x))', 'x=$(cat {text}); cd "$x"; ls "$x"; echo > "$x"',
    'x=$(cat {text}); HOME=$x; echo ~ | wc', 'x=$(cat {text}); PATH=$x; foo', 'x=$(cat {text}); declare -p x | wc; set | wc', 'x=$(cat {text}); echo "${{x@Q}}${{x@E}}" | wc', 'x=$(cat {text}); export x; env | wc; bash -c :', 'x=$(cat {text}); while :; do y=${{x:1}}; done', 'x=$(cat {text}); while :; do cat <<< "$x" > /dev/null; done', 'x=$(cat {text}); while :; do y=$x; y+=a; done', 'x=$(cat {text}); while :; do : "$x$x$x"; done', 'x=$(cat {text}); compgen -W "$x" a | wc', 'x=$(cat {text}); shopt -s extglob; echo "${{x//+([0-9])/}}" | wc', 'x=$(cat {text}); printf -v y %q "$x"; read -r z <<< "$x"; echo ${{#y}}${{#z}}',
    'for i in {{1..99999}}; do (echo $i) | cat; done | wc', 'for i in {{1..99999}}; do sleep 9 & done', 'x=$(cat {text}); mapfile -d a y <<< "$x"; echo ${{#y[@]}}', 'x=$(cat {text}); IFS=a read -rd "" -a y <<< "$x"; echo ${{#y[@]}}', 'x=$(cat {text}); alias foo="$x"; shopt -s expand_aliases\nfoo', 'x=$(cat {text}); $x', 'select i in $(cat {text}); do break; done <<< 1', 'x=$(cat {text}); getopts "$x" y -a; [ "$x" -eq 1 ]; test "$x" -nt "$x"', 'x=$(cat {text}); y="${{x//$x/$x}}"; [[ $x == "$x" && $x < $x ]]', 'history -s "$(cat {text})"; type "$(cat {text})"; hash "$(cat {text})"', 'x=$(cat {text}); a=("$x" "$x"); echo "${{a[*]//a}}" "${{a[@]/%a/b}}" | wc',
]  # fmt: skip
"""Scripts without a command of their own."""

CONSUMERS = ["cat", "wc", "sort", "tail -n 1", "head -n 3", "md5sum", "sed 's/a/b/'", "grep -c a", "awk '{ s += NF } END { print s }'", "tr a b", "cut -c 1-5", "tac", "uniq", "gzip", "xargs -n 9 true", "jq -Rs length", "while read -r l; do :; done"]  # fmt: skip


def _tar(members: int) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for number in range(members):
            info = tarfile.TarInfo(f"member/{number}")
            info.size = 2000
            archive.addfile(info, io.BytesIO(bytes(2000)))
    return buffer.getvalue()


def _zip(size: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(2000):
            archive.writestr(f"member/{number}", bytes(3000))
        archive.writestr("large", bytes(size))
    return buffer.getvalue()


def _files(share: int) -> dict[str, bytes]:
    rng = Random(1)
    lines = b"".join(
        b"%d %x a%d,b c\n" % (number, rng.getrandbits(40), number % 97)
        for number in range(300_000 // share)
    )
    rows = [
        {"id": number, "n": number % 7, "s": f"name {number}", "tags": ["a", {"b": None}]}
        for number in range(80_000 // share)
    ]
    zeros = bytes(60_000_000 // share)
    return {
        "lines": lines,
        "same": b"a\n" * (3_000_000 // share),
        "line": lines[:9_000_000].replace(b"\n", b" "),
        "fields": lines[:7_000_000].replace(b" ", b","),
        "numbers": b"".join(b"%d\n" % rng.getrandbits(30) for _ in range(500_000 // share)),
        "blank": b" \n\t\n" * (1_500_000 // share),
        "wide": "é日 ".encode() * (1_000_000 // share),
        "bytes": rng.randbytes(6_000_000 // share),
        "stars": b"*?[a" * 4000 + b"(" * 3000,
        "dollars": b"$HOME ${x} $$" * (400_000 // share),
        "json": json.dumps(rows).encode(),
        "jsonl": b"".join(json.dumps(row).encode() + b"\n" for row in rows),
        "deep": b"[" * 5000 + b"]" * 5000,
        "yaml": b"".join(
            b"- id: %d\n  name: [a, 'b c', \"d\"]\n" % n for n in range(40_000 // share)
        ),
        "hex": rng.randbytes(3_000_000 // share).hex().encode(),
        "b64": b"QUJD" * (2_000_000 // share),
        "sql": b"create table t(a, b);\n"
        + b"".join(b"insert into t values(%d, 'x');\n" % n for n in range(100_000 // share)),
        "diff": b"--- lines\n+++ lines\n"
        + b"".join(b"@@ -%d +%d @@\n-x\n+y\n" % (n, n) for n in range(1, 100_000 // share)),
        "zeros.gz": gzip.compress(zeros, 1),
        "zeros.bz2": bz2.compress(zeros, 1),
        "zeros.xz": lzma.compress(zeros, preset=0),
        "lines.gz": gzip.compress(lines, 1),
        "tar": _tar(3000 // share),
        "tar.gz": gzip.compress(_tar(3000 // share), 1),
        "zip": _zip(40_000_000 // share),
    }


@functools.cache
def base_sandbox(share: int = 1) -> Sandbox:
    """Return a sandbox with the files, to be forked for each script. `share` divides their sizes."""
    sandbox = Sandbox(cwd="/data", limits=Limits(timeout=60))
    for name, content in _files(share).items():
        sandbox.files.write(f"/data/{name}", content)
    for folder in range(150 // share):
        for number in range(80):
            sandbox.files.write(f"/data/tree/d{folder}/f{number}", b"%d\n" % number)
    return sandbox


def _arguments(rng: Random, name: str) -> str:
    """Arguments of a command: from its recipes, or options by chance and files."""
    recipes = RECIPES.get(name)
    if recipes is not None and rng.random() < 0.8:
        text = rng.choice(_TEXTS)
        return rng.choice(recipes).format(text=text)
    words = []
    offered = options_of(name)
    for _ in range(rng.choice((0, 1, 1, 2)) if offered else 0):
        spellings, takes, _ = rng.choice(offered)
        if spellings[-1] not in ("--help", "--version"):
            words += [rng.choice(spellings), *([rng.choice(("1", "a", "9", ","))] if takes else [])]
    files = [
        rng.choice(rng.choice((_TEXTS, _TEXTS, _ARCHIVES, _TREES)))
        for _ in range(rng.choice((1, 1, 2)))
    ]
    shown = " ".join(map(quote, [*words, *files]))
    return f"{shown} < {rng.choice(_TEXTS)}" if rng.random() < 0.5 else shown


def make_script(number: int) -> str:
    """Return a heavy script: each command in turn, and after each three of them the shell."""
    rng = Random(f"heavy {number}")
    if number % 4 == 3:
        return rng.choice(SHELL).format(text=rng.choice(_TEXTS))
    commands = sorted(names() - _WAITING)
    command = (
        f"{(name := commands[(number - number // 4) % len(commands)])} {_arguments(rng, name)}"
    )
    kind = rng.randrange(8)
    if kind == 0:
        return f'x=$({command}); echo "${{#x}}"'
    if kind == 1 or kind > 4:
        return f"while :; do {command}; done > /dev/null"
    if kind == 2:
        return f"{command} | {rng.choice(CONSUMERS)} | wc"
    if kind == 3:
        return f"{command} > x; {rng.choice(CONSUMERS)} < x | wc"
    return f"{command} | wc"


def overshoot(script: str, deadline: float = DEADLINE, share: int = 1) -> float:
    """Return the seconds of CPU by which a script outlived the deadline; 0.0 if it ended before."""
    with base_sandbox(share).fork() as sandbox:
        began = thread_time()
        with mock.patch("agentsandbox.kernel.budget.monotonic", thread_time):
            sandbox.execute(script, timeout=deadline, stdin=b"1\n")
        return max(0.0, thread_time() - began - deadline)


def _main(arguments: list[str]) -> None:
    if arguments[:1] == ["show"]:
        print(make_script(int(arguments[1])))
        return
    count, first = (*map(int, arguments), *(300, 0)[len(arguments) :])
    overshoot("awk 1 /dev/null; sort /dev/null; jq -n 1; sed p /dev/null")  # loads modules
    found = []
    for number in range(first, first + count):
        script = make_script(number)
        found.append((overshoot(script), number, script))
        if found[-1][0] > 0.05:
            print(f"{found[-1][0] * 1000:.0f} ms  {number}  {script}", flush=True)
    found.sort()
    times = [over * 1000 for over, _, _ in found]
    p50, p99 = times[len(times) // 2], times[min(len(times) - 1, len(times) * 99 // 100)]
    reached = sum(over > 0 for over in times)
    print(
        f"{count} scripts, {reached} to the deadline: p50 {p50:.0f} ms, p99 {p99:.0f} ms, max {times[-1]:.0f} ms"
    )
    for over, number, script in found[-10:]:
        print(f"{over * 1000:6.0f} ms  {number}  {script[:200]}")


if __name__ == "__main__":
    _main(sys.argv[1:])
