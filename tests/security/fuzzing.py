"""Scripts by chance, each from a number: commands with odd options and operands, the scripts of the
specs mangled, and noise.

`python -m tests.security.fuzzing [KIND [COUNT [FIRST]]]` tries many; a few run with the tests
(`test_fuzzing`). The same number is always the same script, so that what was found can be tried
again: `python -m tests.security.fuzzing show KIND NUMBER`.
"""

from __future__ import annotations

import functools
import re
import sys
import tomllib
from pathlib import Path
from random import Random
from typing import NamedTuple

from agentsandbox.commands import find_command, names
from agentsandbox.contract.usage import parse_usage
from agentsandbox.kernel.streams import decode

__all__ = ["KINDS", "Case", "make_case"]

ROOT = Path(__file__).parents[2]


class Case(NamedTuple):
    """One script and what it reads."""

    script: str
    stdin: bytes


SETTING = r"""
mkdir -p d/e empty.d; echo hello world > a.txt; printf 'b\na\nc 3\n\n1 2\n' > b.txt; : > empty; seq 200 > numbers; printf 'x\0y\0\377\376\n' > bin
ln -s loop2 loop; ln -s loop loop2; ln -s nowhere dangling; ln -s d link; mkfifo p; printf '%070000d\n' 1 > line; printf 'a,b,"c\nd"\n1,2\n' > c.csv
printf '{"a":[1,2,{"b":null}],"c":"x"}\n' > j.json; printf 'a: 1\nb: [x, y]\n' > y.yaml; echo z > d/z; echo e > d/e/f; echo 1 > ./-rf; echo 1 > 'a b'; echo 1 > $'n\nl'; echo 1 > $'\377'
chmod 0 d/z; tar cf t.tar a.txt d/e; gzip -c b.txt > b.gz; zip -q z.zip a.txt b.txt; diff a.txt b.txt > p.diff; printf 's/a/b/\np\n' > s.sed; echo '{print $1}' > s.awk
"""
"""Files for fuzzed commands."""

FILES = """a.txt b.txt empty numbers bin loop dangling link line c.csv j.json y.yaml d d/e d/z empty.d nosuch nosuch/x a.txt/x ./-rf t.tar b.gz z.zip p.diff s.sed s.awk
/dev/null /dev/null /dev/full /dev/stdin /dev/fd/0 /dev/fd/9 /dev/tty /etc/passwd /etc /proc/self/status /proc /bin /bin/ls . .. / /tmp new new/ ../new ~ - - --""".split()
FILES += ["a b", "n\nl", "\udcff", "", "x" * 300, "d/" * 2000]
BLOCKING = ["/dev/zero", "p", "/dev/random", "/dev/urandom"]
NUMBERS = """0 1 2 3 5 10 -1 -5 +3 +0 007 0x1F 1e3 1.5 .5 -0 1K 2M 1G 3T 9E 9Y 1kB 1b 9223372036854775807 9223372036854775808 18446744073709551616 -9223372036854775809
99999999999999999999999999 1e308 1e999 nan inf -inf 100000 1000000 16777216 2147483648 1,3 1-3 -3 3- 1-,2 0-0 1/2 l/2 r/3 1~2 $ 5, ,5 1:2 0777 8 077777""".split()
NUMBERS += ["", " 3", "3 ", "3x", "٣", "9" * 5000]
TEXTS = """a b hello x , : ; | \\ / \\n \\t \\0 \\x \\u \\ud800 \\U110000 %s %d %5 %n %999999999d %*d %% %c %q %b %ld %y %N %-5s %'d %i {} {}{} * ? [ [] [^ ] ( ) \\( \\) (a+)+$ a* a*b a\\{2\\} a\\{99999\\} a{1,2} a{99999} ^ $ . .* \\1 \\(a\\)\\1
[[:alpha:]] [[:foo:]] [a-] [z-a] [=a=] (?=a) (?<x>a) \\b \\w+ s/a/b/ s/a/b/g s/x/&&&&/ s/\\(.\\)/\\1\\1/ y/abc/xyz/ p d 1d $d 2,3p /a/,/b/d :a;ba N;P;D 1!G;h;$!d {print} {print$1} BEGIN{x=1}
BEGIN{while(1);} BEGIN{getline;print} NR%2 $0~/a/ . .a .[] .a[0] keys length .. 'map(.)' [.[]] .a=1 'range(5)' @tsv @base64d input $x 1+1 2^99999 9/0 sqrt(-1) 1<<70 u8 x1 d4 c utf-8 latin1 utf-16 ascii
md5 sha256 none all auto always never other default words existing nil numbered full long iso +%Y +%s%N %a @0 @99999999999999 now yesterday 2020-02-30 1970-01-01 2024-01-01T00:00:00Z next-week -1day
u+x a=rwx 7777 0000 +x g-s X,Y root user 1000:1000 name size time none hup KILL 9 -9 SIGTERM 0 99 echo cat true nosuchcommand sh A=1 A -name -type f -size +1 -exec {} ; + -o ! -prune -print0 -printf -delete = != -eq -lt < > -n -z -e -a""".split()
TEXTS += [
    "",
    " ",
    "a b",
    "a\nb",
    "\n",
    "\udcff\udcfe",
    "é",
    "\u202e",
    "\U0001f600",
    "a" * 5000,
    "(" * 300,
    "[" * 300,
    "-" * 300,
    "'",
    '"',
    "$(id)",
    "`id`",
    "*" * 40,
    "\\" * 41,
    "%" * 99,
    "{" * 200,
    "\x1b[31m",
    "__class__",
    "{0.__class__}",
    "%(x)s",
]
BUILTINS = """alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill
let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt source . suspend test [ times trap true type typeset ulimit umask unalias unset wait :""".split()
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def quote(word: str) -> str:
    """A word in single quotes."""
    return (
        word
        if re.fullmatch(r"[\w./=:,@%+-]+", word, re.ASCII)
        else "'" + word.replace("'", "'\\''") + "'"
    )


@functools.cache
def options_of(name: str) -> tuple[tuple[tuple[str, ...], bool, str], ...]:
    """What a usage text offers: spellings, whether a value follows, and the line."""
    command = find_command(name)
    if command is None:
        return ()
    found = []
    for option in parse_usage(command.usage):
        line = next(
            (line for line in command.usage.splitlines() if option.spellings[-1] in line), ""
        )
        found.append((option.spellings, option.takes == 1, line))
    return tuple(found)


def operand(rng: Random, hint: str = "") -> str:
    kinds = [FILES, NUMBERS, TEXTS]
    if rng.random() < 0.7:
        for pattern, kind in (
            (r"FILE|DIR|PATH", FILES),
            (r"NUM|SIZE|BYTES|N\b|COUNT|WIDTH|COLS|LIST|POS|MODE", NUMBERS),
            (r"SEP|STRING|FORMAT|CHAR|PATTERN|REGEX|WHEN|STYLE|WORD|EXPR|PROGRAM", TEXTS),
        ):
            if re.search(pattern, hint):
                kinds = [kind]
                break
    if rng.random() < 0.01:
        return rng.choice(BLOCKING)
    if rng.random() < 0.02:
        return noise(rng, rng.randrange(20)).replace("\0", "")
    return rng.choice(rng.choice(kinds))


def noise(rng: Random, size: int) -> str:
    """Bytes, most of which mean something to a shell."""
    alphabet = b"(){}[]$`\"'\\;|&<>#\n a1=*?!~-+@%^,.:/eofinxdwhltcsz0\t\xff\xc3\xa9"
    return decode(
        bytes(
            rng.choice(alphabet) if rng.random() < 0.93 else rng.randrange(256) for _ in range(size)
        )
    )


def invocation(rng: Random, name: str) -> str:
    """A command with a few of its options and operands of all kinds."""
    words = [name]
    offered = options_of(name)
    for _ in range(rng.choice((0, 0, 1, 1, 1, 2, 2, 3, 4))):
        if not offered or rng.random() < 0.1:
            words.append(
                "-" + "".join(rng.choice(LETTERS) for _ in range(rng.choice((1, 1, 1, 2))))
            )
            continue
        spellings, takes, line = rng.choice(offered)
        if spellings[-1] in ("--help", "--version"):
            continue
        spelling = rng.choice(spellings)
        if not takes and (rng.random() < 0.95 or not spelling.startswith("--")):
            words.append(spelling)
        elif rng.random() < 0.5:
            words += [spelling, operand(rng, line)]
        else:
            words.append(spelling + ("=" if spelling.startswith("--") else "") + operand(rng, line))
    first = {
        "awk": TEXTS,
        "sed": TEXTS,
        "grep": TEXTS,
        "jq": TEXTS,
        "tr": TEXTS,
        "expr": TEXTS,
        "date": TEXTS,
        "seq": NUMBERS,
        "rg": TEXTS,
        "find": FILES,
        "yq": TEXTS,
        "printf": TEXTS,
    }.get(name)
    if first is not None and rng.random() < 0.8:
        words.append(rng.choice(first))
        if name in ("tr", "seq", "expr", "printf"):
            words += [rng.choice(first) for _ in range(rng.randrange(3))]
    words += [
        operand(rng) if rng.random() < 0.5 else rng.choice(FILES)
        for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 5)))
    ]
    if name in ("tail", "yes", "sleep", "top", "watch"):
        words = ["timeout", "0.1", *words]
    return " ".join(quote(word) for word in words)


def stdin_of(rng: Random) -> bytes:
    kind = rng.randrange(9)
    if kind < 3:
        return b""
    if kind == 3:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(400)))
    if kind == 4:
        return b"x" * 300_000
    if kind == 5:
        return b"a b\n" * 20_000
    if kind == 6:
        return b'{"a": [1, 2.5, "x\\u0000", null], "b": {}}\n[]\n'
    if kind == 7:
        return "\n".join(rng.choice(TEXTS) for _ in range(20)).encode("utf-8", "surrogateescape")
    return "\n".join(rng.choice(NUMBERS) for _ in range(20)).encode()


@functools.cache
def command_names() -> list[str]:
    return sorted(names())


def command_case(number: int) -> Case:
    """A few invocations, of one command mostly: for each command in turn."""
    rng = Random(f"command {number}")
    every = command_names()
    name = every[number % len(every)]
    lines = [invocation(rng, name) for _ in range(4)]
    if rng.random() < 0.2:
        lines.append(
            f"{invocation(rng, rng.choice(every))} | {invocation(rng, name)} | {invocation(rng, rng.choice(every))}"
        )
    return Case(SETTING + "\n".join(lines) + "\n", stdin_of(rng))


def builtin_case(number: int) -> Case:
    """Builtins of the shell with odd words."""
    rng = Random(f"builtin {number}")
    lines = ["x=1 a=(1 2) v='a[0]'; declare -A m=([k]=v); f() { :; }; set -- 1 2 3"]
    for _ in range(8):
        words = [BUILTINS[number % len(BUILTINS)] if rng.random() < 0.6 else rng.choice(BUILTINS)]
        for _ in range(rng.randrange(5)):
            if rng.random() < 0.4:
                words.append(
                    "-" + "".join(rng.choice(LETTERS) for _ in range(rng.choice((1, 1, 2))))
                )
            else:
                words.append(
                    rng.choice(
                        (
                            operand(rng),
                            rng.choice(
                                (
                                    "x",
                                    "a",
                                    "a[0]",
                                    "a[@]",
                                    "m[k]",
                                    "m",
                                    "f",
                                    "x=2",
                                    "a=(3)",
                                    "1",
                                    "$x",
                                    "EXIT",
                                    "DEBUG",
                                    "USR1",
                                    "a[-9]",
                                    "a[x",
                                    "PATH",
                                    "IFS= ",
                                    "RANDOM",
                                )
                            ),
                        )
                    )
                )
        lines.append(
            " ".join(words[0:1] + [quote(word) for word in words[1:]])
            + rng.choice(("", "", "", " &", " | cat", " > new", " < a.txt", " 2>&1", "; echo $?"))
        )
    return Case(
        SETTING + "\n".join(f"( {line}\n)" if rng.random() < 0.7 else line for line in lines),
        stdin_of(rng),
    )


@functools.cache
def spec_scripts() -> list[str]:
    """The scripts of the specs: all of the shell's, and of every sixth command's."""
    specs = ROOT / "tests" / "specs"
    scripts = []
    for path in [
        *sorted((specs / "shell").glob("*.toml")),
        *sorted((specs / "commands").glob("*.toml"))[::6],
    ]:
        scripts += [
            case["script"]
            for case in tomllib.loads(path.read_text()).get("case", [])
            if len(case["script"]) < 2000
        ]
    return scripts


TOKEN = re.compile(
    r"\s+|[A-Za-z0-9_]+|\$\(\(?|\$\{|<<-?|<<<|>>|&&|\|\||;;&?|;&|\(\(|\)\)|\[\[|\]\]|.", re.DOTALL
)


def mutated_case(number: int) -> Case:
    """A script of the specs with tokens and bytes deleted, inserted, doubled and swapped."""
    rng = Random(f"mutated {number}")
    scripts = spec_scripts()
    tokens = TOKEN.findall(rng.choice(scripts))
    for _ in range(rng.choice((1, 1, 2, 3, 5, 8))):
        if not tokens:
            break
        at = rng.randrange(len(tokens))
        change = rng.randrange(7)
        if change == 0:
            del tokens[at]
        elif change == 1:
            tokens.insert(at, rng.choice(tokens))
        elif change == 2:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif change == 3:
            tokens.insert(at, noise(rng, rng.randrange(1, 4)))
        elif change == 4:
            tokens[at : at + rng.randrange(1, 6)] = TOKEN.findall(rng.choice(scripts))[
                : rng.randrange(1, 12)
            ]
        elif change == 5:
            tokens[at] = rng.choice(TEXTS + NUMBERS)
        else:
            end = min(len(tokens), at + rng.randrange(1, 8))
            tokens[at:end] = tokens[at:end] * rng.randrange(2, 4)
    return Case("".join(tokens), stdin_of(rng))


FRAGMENTS = r"""if then else elif fi for while until do done case in esac select function time coproc ! { } ( ) (( )) [[ ]] ; ;; ;& && & || | |& < > << <<- <<< <& >& &> >| <> <( >( $( ` $(( ${ } $ " ' $' \ # * ? [ ] ~ = +=
a b x 1 -1 0x 08 $x ${x} ${x ${x:-} ${x/ ${!x} ${#x} ${x[ ${x@Q} ${@:2} $@ "$@" @ % ^ , : echo cat eval exec exit return break continue trap set -e shift read local declare -A -n unset wait kill printf %s EOF <<EOF {1..9} {a,b} =~ == -eq 2>&1 {fd}> /dev/null f() a=(1 2) a[1]=2
=( [0]= $((x++)) $[1] ?(a) *(a|b) !(x) x+=1 ++ -- **= ?: >>= &0 0<&- $_ $- $! $RANDOM $LINENO exec 3>f coproc true mapfile""".split()


def noise_case(number: int) -> Case:
    """No script at all: fragments of the grammar, or bytes."""
    rng = Random(f"noise {number}")
    if rng.random() < 0.4:
        return Case(noise(rng, rng.randrange(1, 200)), stdin_of(rng))
    return Case(
        "".join(
            rng.choice(FRAGMENTS) + rng.choice((" ", " ", " ", "\n", "", "\t", ";"))
            for _ in range(rng.randrange(2, 50))
        ),
        stdin_of(rng),
    )


KINDS = {
    "command": command_case,
    "builtin": builtin_case,
    "mutated": mutated_case,
    "noise": noise_case,
}


def make_case(kind: str, number: int) -> Case:
    """The case of that kind and number, always the same."""
    return KINDS[kind](number)


if __name__ == "__main__":
    if sys.argv[1:2] == ["show"]:
        shown = make_case(sys.argv[2], int(sys.argv[3]))
        print(shown.script)
        print(repr(shown.stdin[:200]))
    else:
        from tests.security.fuzz_trial import run_many

        kinds = [sys.argv[1]] if len(sys.argv) > 1 else list(KINDS)
        sys.exit(
            run_many(
                kinds,
                int(sys.argv[2]) if len(sys.argv) > 2 else 2000,
                int(sys.argv[3]) if len(sys.argv) > 3 else 0,
            )
        )
