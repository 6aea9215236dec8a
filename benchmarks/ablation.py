"""What each fast path is worth. Run: python benchmarks/ablation.py [WORD...]

A row switches one fast path off by replacing the function that chooses it, and runs a script that
people write (see the one-liners of question-and-answer sites and the scripts of public skills).
Every sample is a process of its own, on and off by turns, and the ratio is that of the quickest. A
fast path stays only with a ratio of at least 1.5 in one of its rows, or if a row of `shell.py` gets
more than 1.05 times slower without it (one assignment).
"""

from __future__ import annotations

import gc
import importlib
import json
import subprocess
import sys
import time
from functools import partial

from agentsandbox import Limits, Sandbox

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Switch = Callable[[], None]

SAMPLES = 3
BAR = 1.5


def put(module: str, name: str, value: object) -> None:
    """Replace a name of a module, which must be there."""
    found = importlib.import_module(f"agentsandbox.{module}")
    if not hasattr(found, name):
        raise SystemExit(f"agentsandbox.{module} has no {name}: repair the table")
    setattr(found, name, value)


def give(module: str, name: str, value: object) -> Switch:
    """Switch off by making a function return the same value always."""
    return partial(put, module, name, lambda *_arguments, **_options: value)


def forget(module: str, table: str, *names: str) -> Switch:
    """Switch off by taking names out of a table."""

    def switch() -> None:
        found = getattr(importlib.import_module(f"agentsandbox.{module}"), table)
        for name in names:
            del found[name]

    return switch


def gather_lines() -> None:
    give("commands.sed.compiler", "_repeats_to_end", False)()


def forget_words() -> None:
    for module, name in (("words", "_known_words"), ("words", "known_word"), ("parser", "known_word")):
        give(f"shell.syntax.{module}", name, None)()


def forget_tools() -> None:
    for module in ("simple", "programs"):
        give(f"shell.interpreter.{module}", "located_tool", None)()


INLINE = "shell.interpreter.shortcuts"
NEW = "for ((i = 0; i < 1000; i++)); do eval \": v$i=; {}\"; done"
"""Texts of which no two have one shape."""
LOOP = "for ((i = 0; i < 20000; i++)); do {}; done"
ROWS: tuple[tuple[str, Switch, str], ...] = (
    ("echo of constants", give(INLINE, "_echo_constant", None), LOOP.format("echo ok") + " > /dev/null"),
    ("echo of other words", forget(INLINE, "_INLINES", "echo"), LOOP.format('echo "line $i" $i') + " > /dev/null"),
    ("true and :", forget(INLINE, "_INLINES", ":", "true", "false"), LOOP.format("if true; then :; fi")),
    ("[ ] of numbers", give("shell.interpreter.test_shortcuts", "_compare_numbers", None), "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"),
    ("[ ] of texts", give("shell.interpreter.test_shortcuts", "_compare_texts", None), LOOP.format('[ "$i" = x ]')),
    ("[ -z ]", give("shell.interpreter.test_shortcuts", "compile_test", None), LOOP.format('[ -z "$i" ]')),
    ("local name=value", forget(INLINE, "_INLINES", "local"), 'f() { local a="x$1"; }; ' + LOOP.format("f $i")),
    ("break, continue", forget(INLINE, "_INLINES", "break", "continue"), LOOP.format("continue")),
    ("return", forget(INLINE, "_INLINES", "return"), "f() { return 0; }; " + LOOP.format("f")),
    ("read", give(INLINE, "_read", None), "seq 20000 | while read -r line; do x=$line; done"),
    ("read of fields", partial(put, "shell.interpreter.variable_shortcuts", "_read_fields", lambda *words: words[-1]), "seq 20000 | sed 's/$/ b c/' | while read -r a b; do x=$b; done"),
    ("call of a function", partial(put, "shell.interpreter.simple", "_call", lambda _node: None), "f() { :; }; " + LOOP.format("f $i")),
    ("one assignment", partial(put, "shell.interpreter.assignment_only", "_one_assignment", lambda _one, _line, run: run), LOOP.format("x=$i")),
    ("$(echo …)", partial(put, "shell.interpreter.substitutions", "_echoed", lambda _body, run: run), LOOP.format('x=$(echo "$i")')),
    ("$(…) without a subshell", give("shell.interpreter.substitutions", "leaves_no_trace", False), LOOP.format("x=$(basename /a/$i)")),
    ("texts of known shapes", give("shell.interpreter.shapes", "find_plan", None), "for ((i = 0; i < 3000; i++)); do eval \"echo 'a $i' b$i \\\"\\$i\\\"\"; done"),
    ("commands of known words", give("shell.syntax.parser", "match_known", None), NEW.format('if [ a = b ]; then echo x; elif [ \\"\\$x\\" = b ]; then echo \\"got \\$x\\" \\$y; elif [ -n \\"\\$x\\" ]; then cat f; else echo ok; fi')),
    ("words of known texts", forget_words, NEW.format("for x in a$i b 'c d'; do echo 'a $i' b$i \\\"\\$i\\\"; done; x=a$i; x=$x")),
    ("texts of plain words", partial(put, "shell.syntax.plain_commands", "PLAIN", ""), "for ((i = 0; i < 3000; i++)); do eval \"echo a b$i -$i\"; done"),
    ("tools found before", forget_tools, LOOP.format("basename /a/$i").replace("20000", "3000")),
    ("awk: loop over fields", give("commands.awk.field_loops", "field_loop", None), "awk '{for (i = 1; i <= NF; i++) n += length($i)} END {print n}' log.txt"),
    ("awk: arrays by number", give("commands.awk.numbered", "numbered_arrays", frozenset()), "awk '{a[NR] = $0} END {for (i = NR; i > 0; i--) print a[i]}' log.txt"),
    ("sed: blocks of lines", give("commands.sed.sed", "compile_blocks", None), "sed 's/ERROR/error/' log.txt"),
    ("sed: idle lines", give("commands.sed.compiler", "_busy_lines", (None, False)), "sed -n '50000,50010p' log.txt"),
    ("sed: all lines into one", gather_lines, "sed ':a;N;$!ba;s/\\n/,/g' n.txt"),
    ("jq: updates along a path", give("commands.jq.expressions.assignments", "change_of", None), "jq 'map(.a += 1)' small.json"),
    ("jq: folds in place", give("commands.jq.expressions.bindings", "step_of", None), "jq 'reduce .[:9000][] as $x ({}; .[\"\\($x.a)\"] = $x)' small.json"),
    ("regexps: text first", give("kernel.regexps.literal_prefixes", "prefixed_sources", []), "grep -c '[0-9]* ERROR' log.txt"),
    ("regexps: all matches", give("kernel.regexps.literal_prefixes", "match_collector", None), "grep -oE '[0-9]+ms' log.txt"),
    ("regexps: runs at an edge", give("kernel.regexps.literal_prefixes", "edge_run", None), "sed 's/[ \\t]*$//' log.txt"),
)  # fmt: skip
"""A title, how to switch the path off, and a script."""


def files() -> dict[str, str]:
    """The files of `text.py`, and one of small objects."""
    from text import make_files  # beside this file

    small = json.dumps([{"a": number, "b": f"k{number % 50}"} for number in range(60_000)])
    made = make_files()
    return {"log.txt": made["log.txt"], "n.txt": made["n.txt"], "small.json": small}


def measure(title: str, *, on: bool) -> float:
    """Seconds of one row's script in this process."""
    switch, script = next((switch, script) for known, switch, script in ROWS if known == title)
    sandbox = Sandbox(
        limits=Limits(total_bytes=1 << 29, steps=10**9, timeout=600.0, output_bytes=1 << 28)
    )
    place = sandbox.execute("pwd").stdout.strip()
    if ".txt" in script or ".json" in script:
        for name, text in files().items():
            sandbox.fs.write_text(f"{place}/{name}", text)
    if not on:
        switch()
    script = f"{{ {script}; }} > /dev/null"
    sandbox.execute(script)
    gc.collect()
    began = time.perf_counter()
    ran = sandbox.execute(script)
    seconds = time.perf_counter() - began
    if ran.stderr:
        raise SystemExit(ran.stderr)
    return seconds


def compare(title: str) -> float:
    """Print a row; the ratio of off to on."""
    best = {"on": float("inf"), "off": float("inf")}
    for _ in range(SAMPLES):
        for state in best:
            command = [sys.executable, __file__, "--one", title, state]
            ran = subprocess.run(command, capture_output=True, text=True, check=True)
            best[state] = min(best[state], float(ran.stdout))
    ratio = best["off"] / best["on"]
    verdict = "" if ratio >= BAR else "  below the bar"
    print(
        f"{title:28}{best['on'] * 1e3:9.1f} ms{best['off'] * 1e3:9.1f} ms{ratio:7.2f}{verdict}",
        flush=True,
    )
    return ratio


def main(arguments: list[str]) -> int:
    """Compare all rows, or those with one of these words in their title; 1 if one is below the
    bar.
    """
    if arguments[:1] == ["--one"]:
        print(measure(arguments[1], on=arguments[2] == "on"))
        return 0
    print(f"{'fast path':28}{'on':>12}{'off':>12}{'ratio':>7}")
    titles = [
        title for title, _, _ in ROWS if not arguments or any(word in title for word in arguments)
    ]
    return 1 if min(map(compare, titles)) < BAR else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
