"""rg on its own; what the real one answers is in tests/specs/commands/rg.toml."""

from __future__ import annotations

import pytest

from tests.support import run_command

FILES: dict[str, str | bytes] = {
    "a.py": "import os\ndef foo():\n    return Foo\n",
    "src/b.js": "const foo = 1;\nfoo(); foo()\n",
    ".hidden": "foo\n",
    ".ignore": "*.log\nbuild/\n!keep.log\n",
    "x.log": "foo\n",
    "keep.log": "none\n",
    "build/z.py": "foo\n",
    "bin.dat": b"a\0foo\n",
    "sub/c.md": "# Foo\nfoo bar\n  indented foo\n",
}


@pytest.mark.parametrize(
    ("words", "stdout", "status"),
    [
        (
            ["foo"],
            (
                "a.py:def foo():\nsrc/b.js:const foo = 1;\nsrc/b.js:foo(); foo()\n"
                "sub/c.md:foo bar\nsub/c.md:  indented foo\n"
            ),
            0,
        ),
        (["-n", "foo", "a.py"], "2:def foo():\n", 0),
        (["-ic", "foo"], "a.py:2\nsrc/b.js:2\nsub/c.md:3\n", 0),
        (["-l", "-t", "py", "foo"], "a.py\n", 0),
        (["-lT", "py", "foo"], "src/b.js\nsub/c.md\n", 0),
        (["-lu", "foo"], "a.py\nbuild/z.py\nsrc/b.js\nsub/c.md\nx.log\n", 0),
        (["-l", "-g", "!*.md", "foo"], "a.py\nsrc/b.js\n", 0),
        (["-g", "*.md", "-o", "fo+"], "sub/c.md:foo\nsub/c.md:foo\n", 0),
        (["(\\w+) = (\\d)", "-r", "$2=${1}", "src"], "src/b.js:const 1=foo;\n", 0),
        (["-S", "Foo"], "a.py:    return Foo\nsub/c.md:# Foo\n", 0),
        (["--files"], "a.py\nbin.dat\nkeep.log\nsrc/b.js\nsub/c.md\n", 0),
        (["foo", "bin.dat"], 'binary file matches (found "\\0" byte around offset 1)\n', 0),
        (["-F", "foo()", "src"], "src/b.js:foo(); foo()\n", 0),
        (["--max-depth", "1", "-l", "foo"], "a.py\n", 0),
        (["nothing"], "", 1),
    ],
)
def test_rg(words: list[str], stdout: str, status: int) -> None:
    ran = run_command("rg", *words, files=FILES)
    assert (ran.stdout.decode(), ran.status) == (stdout, status)


@pytest.mark.parametrize("pattern", ["*a" * 200 + "b", "**/a/" * 100 + "b", "{a,b}" * 150])
def test_rules_of_an_ignore_file_take_linear_time(pattern: str) -> None:
    files = {".gitignore": f"{pattern}\n", "a" * 250: "foo\n"}
    ran = run_command("rg", "-l", "foo", files=files)
    assert (ran.stdout.decode(), ran.status) == ("a" * 250 + "\n", 0)
