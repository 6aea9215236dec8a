"""No construct takes a time that doubles with each level it nests, in any language of the package.

What goes wrong: a compiler that compiles an operand twice (as a key and as an index), a reader that
tries one reading and then another, a matcher that tries both. Each is right and quick for one
level; twenty levels never end, and no budget is asked while a text is parsed or compiled.

`GRAMMARS` has the constructs of each language with a hole for another. One or two of them take turns
until the text is `LEVELS` deep; the calls of Python functions that running it takes are counted.
`NESTINGS` is the number of texts (0: every construct and every pair).
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Iterator

import greenlet
import pytest

from agentsandbox import Limits, Sandbox

COUNT = int(os.environ.get("NESTINGS", "150"))
SEED = int(os.environ.get("NESTINGS_SEED", "1"))
LEVELS = 24
CALLS = 150_000
"""Calls that a text may take: the worst of those that do not double take a quarter of it."""

Grammar = dict[str, list[tuple[str, str]]]
"""For each kind of text: templates with a hole `@`, and the kind that the hole takes."""

SHELL: Grammar = {
    "word": [
        ("${v:-@}", "word"), ("${x:-@}", "word"), ("${x:+@}", "word"), ("${v:=@}", "word"), ("${v-\"@\"}", "word"), ("${v:?@}", "word"), ("${x#@}", "word"), ("${x%%@}", "word"),
        ("${x/@/y}", "word"), ("${x/y/@}", "word"), ("${x//@}", "word"), ("${x^^@}", "word"), ("${x:@}", "sum"), ("${x:0:@}", "sum"), ("${x:@:1}", "sum"),
        ("${c[@]}", "word"), ("${m[@]}", "word"), ("${n[@]}", "word"), ("${#c[@]}", "word"), ("${#m[@]}", "word"), ("${!c[@]}", "word"), ("${c[@]:-y}", "word"), ("${n[@]:=y}", "word"), ("${m[@]#y}", "word"),
        ("${m[@]@Q}", "word"), ("${c['@']}", "word"), ("${c[\\@]}", "word"), ("${m[\\@]}", "word"), ('${m["@"]}', "word"), ("${c[~@]}", "word"), ("${c[1+@]}", "sum"), ("${c[$'@']}", "word"), ("${c[`echo 1`@]}", "word"),
        ("${c[@", "word"), ("${x:-@", "word"), ("${x/@", "word"), ("$((@", "sum"), ("$(@", "command"), ("${c[@}", "word"), ("${!x@}", "word"), ("${@}", "word"), ("${x@", "word"),
        ('"@"', "word"), ("a'b'@", "word"), ("{@,y}", "word"), ("{1..@}", "word"), ("y{@}", "word"), ("@(@|y)", "word"), ("!(@)", "word"), ("+(@)", "word"), ("*(?(@))", "word"), ("[@]*", "word"), ("~@", "word"),
        ("$(@)", "command"), ("$(< @)", "word"), ("<(@)", "command"), ("$((@))", "sum"), ("$[@]", "sum"), ("$( (@) )", "command"), ("$((@) )", "command"), ("$(echo @)", "word"),
    ],
    "sum": [
        ("(@)", "sum"), ("1+@", "sum"), ("@*2", "sum"), ("-@", "sum"), ("!@", "sum"), ("x?@:0", "sum"), ("0?1:@", "sum"), ("@?1:0", "sum"), ("1,@", "sum"), ("0||@", "sum"), ("1&&@", "sum"), ("2**@", "sum"), ("i=@", "sum"), ("i+=@", "sum"),
        ("c[@]", "sum"), ("m[@]", "word"), ("c[@]++", "sum"), ("++c[@]", "sum"), ("c[@]+=1", "sum"), ("c[@]=1", "sum"), ("m[@]=1", "word"), ("n[@]", "sum"), ("${c[@]}", "sum"), ("$((@))", "sum"), ("$(@)", "command"), ('"@"', "sum"), ("@", "word"),
        ("(@", "sum"), ("c[@", "sum"), ("x?@", "sum"), ("1 + (@))", "sum"),
    ],
    "command": [
        ("echo @", "word"), ("v=@", "word"), ("((@))", "sum"), ("( @ )", "command"), ("{ @; }", "command"), ("! @", "command"), ("time @", "command"), ("@ && :", "command"), (": || @", "command"), ("@ | cat", "command"), ("@ > /dev/null", "command"), ("echo y > @", "word"), ("cat <<< @", "word"),
        ("if @; then :; fi", "command"), ("if :; then @; fi", "command"), ("if ! :; then :; else @; fi", "command"), ("if ! :; then :; elif @; then :; fi", "command"), ("while @; do break; done", "command"), ("until ! :; do @; break; done", "command"), ("for i in 1; do @; done", "command"), ("for i in @; do :; done", "word"),
        ("for ((; @; )); do break; done", "sum"), ("for ((i=@; 0; )); do :; done", "sum"), ("case @ in y) ;; esac", "word"), ("case y in @) ;; esac", "word"), ("case y in y) @;; esac", "command"), ("select i in @; do break; done", "word"),
        ("[[ @ == y ]]", "word"), ("[[ y == @ ]]", "word"), ("[[ y =~ @ ]]", "word"), ("[[ ( @ ) ]]", "word"), ("[[ ! y -eq @ ]]", "sum"), ("[[ -v c[@] ]]", "word"), ("[ @ = y ]", "word"), ("test -n @ -a y", "word"),
        ("c[@]=1", "word"), ("m[@]=1", "word"), ("c[@]+=1", "word"), ("c=([@]=1)", "word"), ("c+=(@)", "word"), ("m=([@]=y)", "word"), ("m=(@ y)", "word"), ("c=(['@']=1)", "word"), ("c=([\\@]=1)", "word"), ("declare c[@]=1", "word"), ("declare -a c=(@)", "word"), ("declare -A o=([@]=1)", "word"), ("local -i i=@", "sum"), ("export v=@", "word"), ("readonly c[1]=@", "word"),
        ("let @", "sum"), ("let 'i=@'", "sum"), ("unset 'c[@]'", "word"), ("read c[1] <<< @", "word"), ("printf -v 'c[@]' y", "word"), ("eval @", "command"), ("eval '@'", "command"), ("trap '@' EXIT", "command"), ("f() { @; }", "command"), ("f() { @; }; f", "command"), ("f() ( @ ); f", "command"), ("function f if :; then @; fi", "command"), ("coproc { @; }; wait", "command"), ("{ @; } &", "command"),
        ("cat <<E\n@\nE\n", "word"), ("cat <<'E'\n@\nE\n", "word"), ("exec 3< <(@)", "command"), ("echo `@`", "command"), ("if @", "command"), ("( @", "command"), ("case @", "word"), ("[[ ( @", "word"), ("((@", "sum"), ("c=(@", "word"), ("y=1 @", "command"), ("&> /dev/null @", "command"), ("command @", "command"), ("alias y='@'; y", "command"),
    ],
}  # fmt: skip
AWK: Grammar = {
    "value": [
        ("(@)", "value"), ("a[@]", "value"), ("a[1,@]", "value"), ("a[@]++", "value"), ("--a[@]", "value"), ("a[@] += 1", "value"), ("(a[@] = 1)", "value"), ("f(@)", "value"), ("f(1, @)", "value"), ("(1 ? @ : 0)", "value"), ("(0 ? 1 : @)", "value"), ("(@ ? 1 : 0)", "value"), ("!@", "value"), ("-@", "value"), ("$(@)", "value"), ("$(@)++", "value"), ("($(@) = 1)", "value"),
        ("2 ^ @", "value"), ("@ ^ 2", "value"), ("(1 @)", "value"), ("(@ 1)", "value"), ("(@ ~ 1)", "value"), ("(1 ~ @)", "value"), ("(@ in a)", "value"), ("((1, @) in a)", "value"), ("(1 < @)", "value"), ("(1 && @)", "value"), ("(@ || 0)", "value"), ("substr(@, 1)", "value"), ("length(@)", "value"), ("sub(/x/, @)", "value"), ("sub(@, 1)", "value"), ("sub(/x/, 1, a[@])", "value"), ("gsub(1, @, $1)", "value"), ("sprintf(\"%s\", @)", "value"), ("split(@, b)", "value"), ("match(@, 1)", "value"), ("index(@, 1)", "value"), ("tolower(@)", "value"), ("int(@)", "value"), ("(getline a[@] < 1)", "value"), ("(getline < @)", "value"), ("gensub(/x/, @, 1, 2)", "value"), ("strftime(@)", "value"), ("@a[@]", "value"), ("f(@", "value"), ("(@", "value"), ("a[@", "value"), ("(x = @)", "value"), ("(x += @)", "value"),
    ],
    "rule": [
        ("x = @", "value"), ("print @", "value"), ("print 1 > @", "value"), ("printf \"%s\", @", "value"), ("{ @ }", "rule"), ("if (@) x = 1", "value"), ("if (1) @", "rule"), ("if (0) x; else @", "rule"), ("while (0) @", "rule"), ("while (@) break", "value"), ("do { @ } while (0)", "rule"), ("for (i in a) @", "rule"), ("for (;;) { @; break }", "rule"), ("for (; @; ) break", "value"), ("for (i = @; 0; ) x", "value"), ("delete a[@]", "value"), ("switch (@) { case 1: x }", "value"), ("switch (1) { default: @ }", "rule"), ("return @", "value"), ("a[@] = a[1]", "value"), ("$(@) = 1", "value"), ("getline a[@]", "value"), ("if (1) { @", "rule"),
    ],
}  # fmt: skip
JQ: Grammar = {
    "filter": [
        (template, "filter")
        for template in (
            "(@)", "[@]", "{a: @}", "{(@): 1}", ".[@]?", ".[@:]?", "try (@)", "try 1 catch (@)", "(@)?", "-(@)", "(@) // 1", "1 // (@)", "1, (@)", "(@) | 1", "1 | (@)", "(@) + 1", "1 + (@)", "(@) and true", "(@) == 1", '"\\(@)"', '@json "\\(@)"', "if (@) then 1 else 2 end", "if 1 then (@) else 2 end", "if 1 then 2 else (@) end", "if 1 then 2 elif (@) then 3 else 4 end", "reduce (@) as $x (0; 1)", "reduce 1 as $x (@; 1)", "reduce 1 as $x (0; @)", "foreach (@) as $x (0; 1)", "foreach 1 as $x (0; 1; @)", "def f: @; f", "def f(g): g; f(@)", "def f($y): $y; f(@)",
            "(@) as $x | $x", "1 as [$x, {a: $y}] | (@)", "(@) as [$x] ?// $x | 1", "label $l | (@)", "first(@)", "limit(1; @)", "[limit(1; @)]", "isempty(@)", "map(@)?", "select(@)", "path(@)?", "[paths(@)?]", "(@) |= 1", ".a |= (@)", ".a = (@)", ".a += (@)", "(.a | (@)?) = 1", "del(@)?", "to_entries? // (@)", "sort_by(@)?", "group_by(@)?", "any(@; .)?", "all(.[]?; @)", "with_entries(@)?", "until(true; @)", "[recurse(@; false)]", "input? // (@)", "test(@)?", "sub(@; 1)?", "sub(\"a\"; @)?", "splits(@)?", "getpath(@)?", "error(@)?", "env | (@)", "$__loc__ | (@)", ". as $y | (@)", "(@", "[@", "{a: @", "if @", "def f: @",
        )
    ]
}  # fmt: skip
SED: Grammar = {
    "command": [
        ("{ @ }", "command"), ("1 { @ }", "command"), ("/x/,/y/ { @ }", "command"), ("1! { @ }", "command"), ("/@/ p", "basic"), ("s/@/y/", "basic"), ("s/x/@/", "new"), ("/@/,/y/ d", "basic"), ("{ @", "command"), ("b y; { @ }; :y", "command"), ("y/@/x/", "new"), ("\\,@,d", "basic"),
    ],
    "basic": [("\\(@\\)", "basic"), ("\\(@\\)*", "basic"), ("x\\|\\(@\\)", "basic"), ("\\(@\\)\\{1,2\\}", "basic"), ("\\(@\\)\\?", "basic"), ("\\(@", "basic"), ("[@]", "basic"), ("\\(x@\\)\\+", "basic")],
    "new": [("\\U@", "new"), ("&@", "new"), ("\\n@", "new"), ("[@]", "new")],
}  # fmt: skip
EXTENDED: Grammar = {
    "regexp": [
        (template, "regexp")
        for template in ("(@)", "(@)*", "(@)+", "(@)?", "(@){1,2}", "(@){0,3}", "(a|@)", "(@|@)"[:4] + "|b)", "(@a)*", "(a*@)*", "^(@)$", "(@", "[@]", "(|@)", "(@)(\\1)", "((@)*)+", "(@){2}")
    ]
}  # fmt: skip
PERL: Grammar = {
    "regexp": [
        *EXTENDED["regexp"],
        *[(template, "regexp") for template in ("(?:@)", "(?:@)*?", "(?=@)", "(?!@)", "(?<=@)", "(?<n@>x)", "(?i:@)", "(?>@)", "(?(1)@|b)", "(?(?=@)a)", "(?|@)", "\\Q@\\E", "(?#@)")],
    ]
}  # fmt: skip
FIND: Grammar = {
    "test": [(template, "test") for template in ("( @ )", "! @", "-true @", "@ -o -true", "-false , @", "( ! @ )", "( @", "-true -a @")]
}  # fmt: skip
TEST: Grammar = {
    "test": [(template, "test") for template in ("( @ )", "! @", "x -a @", "@ -o x", "( ! @ )", "( @")]
}  # fmt: skip
EXPR: Grammar = {
    "expr": [(template, "expr") for template in ("( @ )", "1 + @", "@ * 2", "( @ ) | 1", "1 & ( @ )", "length @", "( @ ) : x", "x : ( @ )", "substr ( @ ) 1 2", "( @")]
}  # fmt: skip
MAKE: Grammar = {
    "text": [
        (template, "text")
        for template in ("$(@)", "$(v$(@))", "$(if @,x)", "$(if x,@)", "$(or @,x)", "$(and x,@)", "$(foreach i,@,$i)", "$(foreach i,x,@)", "$(call f,@)", "$(eval y := @)", "$(subst x,@,xx)", "$(patsubst %,@,x)", "$(v:x=@)", "$(strip @)", "$(sort @ @)"[:8] + ")", "$(shell echo @)", "$(info @)", "$(filter @,x)", "$(word 1,@)", "$(value @)", "${@}", "$(@", "$(wildcard @)")
    ]
}  # fmt: skip
BC: Grammar = {
    "sum": [(template, "sum") for template in ("(@)", "1+(@)", "-(@)", "a[@]", "a[@]++", "a[@]+=1", "f(@)", "sqrt(@)", "length(@)", "(@)^2", "x=(@)", "!(@)", "(@)<1", "(1&&(@))", "(@")],
    "step": [("@", "sum"), ("{ @ }", "step"), ("if (1) { @ }", "step"), ("if (0) 1 else { @ }", "step"), ("while (0) { @ }", "step"), ("for (;0;) { @ }", "step"), ("if (@) 1", "sum"), ("{ @", "step"), ("print @", "sum")],
}  # fmt: skip
YQ: Grammar = {
    "filter": [
        (template, "filter")
        for template in ("(@)", "[@]", "{\"a\": @}", ".[@]", "(@) // 1", "1, (@)", "(@) | 1", "(@) + 1", "select(@)", ".a |= (@)", ".a = (@)", "map(@)", "with(.a; @)", "del(@)", ". as $x | (@)", ".a as $x ireduce (0; @)", "with_entries(@)", "any_c(@)", "sort_by(@)", "group_by(@)", "(@")
    ]
}  # fmt: skip
YAML: Grammar = {
    "node": [(template, "node") for template in ("[@]", "{a: @}", "[x, @]", "{? @ : y}", "&a [@]", "!t [@]", "{@}", "[@", "'x': {b: @}", "[[@], @]"[:4] + "]", "- @", "? @", "a: @"[:0] + "[? @]")]
}  # fmt: skip

LANGUAGES: dict[str, tuple[Grammar, str, str, str]] = {
    "shell": (SHELL, "command", ":", "eval \"$1\""),
    "shell read": (SHELL, "command", ":", "@"),
    "awk": (AWK, "rule", "x", "timeout 5 awk 'function f(p, q) { '\"$1\"'; return 1 } BEGIN { f(1) }' < /dev/null"),
    "awk read": (AWK, "rule", "x", "awk \"BEGIN { $1 }\" < /dev/null"),
    "jq": (JQ, "filter", ".", "jq -c \"$1\" <<< '[1]'"),
    "sed": (SED, "command", "p", "sed -n \"$1\" <<< 'xxy'"),
    "grep -E": (EXTENDED, "regexp", "a", "grep -E \"$1\" <<< 'aaab'"),
    "awk's regexps": (EXTENDED, "regexp", "a", "awk -v r=\"$1\" '{ x = $0 ~ r; sub(r, \"<&>\") } 1' <<< 'aaab'"),
    "the shell's regexps": (EXTENDED, "regexp", "a", "[[ aaab =~ $1 ]]"),
    "jq's regexps": (PERL, "regexp", "a", "jq --arg r \"$1\" 'test($r)' <<< '\"aaab\"'"),
    "grep -P": (PERL, "regexp", "a", "grep -P \"$1\" <<< 'aaab'"),
    "rg": (PERL, "regexp", "a", "rg \"$1\" <<< 'aaab'"),
    "find": (FIND, "test", "-true", "find . -maxdepth 0 $1"),
    "test": (TEST, "test", "x", "test $1"),
    "expr": (EXPR, "expr", "x", "set -f; expr $1"),
    "make": (MAKE, "text", "v", "printf 'v = x\\nf = $1\\nx = %s\\nall:\\n\\techo $(x)\\n' \"$1\" > Makefile; make -s"),
    "bc": (BC, "step", "1", "printf 'define f(x) { return x }\\n%s\\n' \"$1\" | bc"),
    "yq": (YQ, "filter", ".", "yq \"$1\" <<< 'a: [1]'"),
    "yaml": (YAML, "node", "x", "yq . <<< \"$1\""),
}  # fmt: skip


def nestings() -> Iterator[tuple[str, str]]:
    """Yield a language and a text of it: each construct in itself, and each pair in turns."""
    for language, (grammar, start, leaf, _) in LANGUAGES.items():
        for kind, templates in grammar.items():
            for first, inner in templates:
                if inner == kind:
                    yield language, _nest(grammar, start, kind, leaf, [first])
                for second, back in grammar[inner]:
                    if back == kind:
                        yield language, _nest(grammar, start, kind, leaf, [first, second])


def _nest(grammar: Grammar, start: str, kind: str, leaf: str, turns: list[str]) -> str:
    """Return `turns` in turns, `LEVELS` deep, in what leads from `start` to their kind."""
    text = leaf
    for level in reversed(range(LEVELS)):
        text = turns[level % len(turns)].replace("@", text, 1)
    while kind != start:
        template = next(
            (template, outer)
            for outer in (start, *grammar)
            for template, inner in grammar[outer]
            if inner == kind and outer != kind
        )
        text, kind = template[0].replace("@", text, 1), template[1]
    return text


class _TooManyCalls(BaseException):
    """The text takes more calls than one that does not double."""


def calls_of(work: Callable[[], object]) -> int:
    """Return the number of calls that `work` takes, of functions in Python and C; stop at `CALLS`."""
    count = 0

    def profile(frame: object, event: str, arg: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1
            if count > CALLS:
                raise _TooManyCalls

    def follow(*_: object) -> None:
        sys.setprofile(profile if count <= CALLS else None)

    before = greenlet.settrace(follow)
    sys.setprofile(profile)
    try:
        work()
    except _TooManyCalls:
        pass
    finally:
        sys.setprofile(None)
        greenlet.settrace(before)
    return count


SETTING = "shopt -s extglob; x=xxy i=0 c=(1 2 3); declare -A m=([x]=1)"


def growth_of(language: str, text: str) -> int:
    """Return the calls that a text takes in a sandbox of its own."""
    script = LANGUAGES[language][3]
    limits = Limits(timeout=10, steps=4_000)
    with Sandbox(limits=limits, jobs="kill") as sandbox:
        sandbox.execute(SETTING)
        if script == "@":
            return calls_of(lambda: sandbox.execute(text))
        return calls_of(lambda: sandbox.execute(script, args=(text,)))


# TM-TIME-7
def test_no_construct_doubles_the_time_with_each_level() -> None:
    every = list(nestings())
    chosen = random.Random(SEED).sample(every, COUNT) if COUNT else every
    for language in LANGUAGES:  # loads what the language needs
        growth_of(language, LANGUAGES[language][2])
    wrong = [(language, text) for language, text in chosen if growth_of(language, text) > CALLS]
    assert wrong == []


@pytest.mark.parametrize("doubles", [True, False])
def test_a_function_that_doubles_is_seen(doubles: bool) -> None:
    def visit(level: int) -> None:
        if level:
            visit(level - 1)
            if doubles:
                visit(level - 1)

    assert (calls_of(lambda: visit(LEVELS)) > CALLS) is doubles
