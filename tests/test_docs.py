"""What the documentation shows is what happens: its programs run, its outputs are compared, its
links lead somewhere.
"""

from __future__ import annotations

import ast
import importlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentsandbox import Sandbox
from agentsandbox.cli import make_parser
from agentsandbox.limits import Limits
from agentsandbox.options import DEFAULTS

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "DESIGN.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
RUN = [
    "README.md", "docs/getting-started.md", "docs/embedding.md", "docs/limits-and-security.md",
    "docs/network.md",
]  # fmt: skip
"""Pages whose programs run; the text that follows a program is what it prints."""
CONTINUED = ["docs/filesystem.md", "docs/skills.md"]
"""Pages whose programs go on from one another, in a folder with the skills of this repository and a
project."""
NETWORK = "https://"
"""What a program that is not run has in it: its names are looked up, that is all."""
SESSIONS = ["docs/shell.md"]
"""Pages with sessions in a sandbox: a line after "$ " is a command, what follows is its output."""

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """(language, text, the text block that follows at once, or "") of each block of a page."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        after = re.match(r"\n```text\n(.*?)^```\n", text[match.end() :], re.MULTILINE | re.DOTALL)
        found.append((match[1], match[2], after[1] if after else ""))
    return found


def programs() -> list[tuple[str, int, str, str]]:
    return [
        (page, number, text, output)
        for page in RUN
        for number, (language, text, output) in enumerate(blocks(ROOT / page))
        if language == "python"
    ]


@pytest.mark.parametrize(
    ("page", "number", "text", "output"),
    programs(),
    ids=lambda value: value if str(value).endswith(".md") else "",
)
def test_programs_run(page: str, number: int, text: str, output: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", output)


@pytest.mark.parametrize("page", CONTINUED)
def test_programs_that_go_on(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "skills_embedded", tmp_path / "skills_embedded")
    (tmp_path / "path" / "to" / "project").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    names: dict[str, object] = {"__name__": "docs"}
    shown, printed = [], []
    for language, text, output in blocks(ROOT / page):
        if language == "python" and NETWORK not in text:
            exec(compile(text, page, "exec"), names)
            shown.append(output)
            printed.append(capsys.readouterr().out)
    assert len(shown) > 1
    assert printed == shown


def test_programs_have_the_types_that_they_need(tmp_path: Path) -> None:
    """What the pages and the examples show passes a strict type checker: the names that the package
    exports have types.
    """
    pytest.importorskip("mypy")
    for page in PAGES:
        texts = [text for language, text, _ in blocks(page) if language == "python"]
        for number, text in enumerate(
            ["\n".join(texts)] if page.relative_to(ROOT).as_posix() in CONTINUED else texts
        ):
            (tmp_path / f"{page.stem.replace('-', '_')}_{number}.py").write_text(
                text, encoding="utf-8"
            )
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--scripts-are-modules",
        *map(str, tmp_path.glob("*.py")),
        "examples",
    ]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=300
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def commands() -> list[str]:
    """The command lines of ours that are shown."""
    found = []
    for page in PAGES:
        for line in page.read_text(encoding="utf-8").splitlines():
            words = line.removeprefix("    ").split("#")[0].strip()
            if re.match(r"agentsandbox (run|shell|mcp|skills [a-z]+) ", words) and not re.search(
                r"[|…]", words
            ):
                found.append(words)
    return found


@pytest.mark.parametrize("line", commands())
def test_command_lines_are_understood(line: str) -> None:
    options = make_parser().parse_args(shlex.split(line)[1:])
    assert callable(options.start)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_programs_exist(page: Path) -> None:
    for language, text, _ in blocks(page):
        for node in ast.walk(ast.parse(text)) if language == "python" else ():
            if isinstance(node, ast.ImportFrom) and node.module:
                module = importlib.import_module(node.module)
                assert not {alias.name for alias in node.names if not hasattr(module, alias.name)}


@pytest.mark.parametrize("page", SESSIONS)
def test_sessions(page: str) -> None:
    shown, happened = [], []
    for language, text, _ in blocks(ROOT / page):
        if language != "console":
            continue
        with Sandbox(clock=lambda: 1_767_225_600, seed=1) as sandbox:
            for command in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                lines = command.splitlines(keepends=True)
                length = 1
                while lines[length - 1].endswith("\\\n") or (
                    length < len(lines) and lines[length].startswith("> ")
                ):
                    length += 1
                script = "".join(line.removeprefix("> ") for line in lines[:length])
                result = sandbox.execute(script)
                shown.append((script, "".join(lines[length:]).strip("\n")))
                happened.append((script, (result.stdout + result.stderr).strip("\n")))
    assert shown
    assert shown == happened


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = {
        target for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in target
    }
    assert not {target for target in targets if not (page.parent / target).exists()}


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert not {
        page.name
        for page in (ROOT / "docs").glob("*.md")
        if page.name != "README.md" and f"({page.name})" not in index
    }


def test_the_readme_shows_the_demo() -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"<!-- demo -->\n```text\n{ran.stdout.strip(chr(10))}\n```\n" in readme


def test_the_reference_of_commands_is_up_to_date() -> None:
    program = (
        "import sys; sys.path.insert(0, 'docs'); import generate; sys.stdout.write(generate.page())"
    )
    made = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT, timeout=60
    ).stdout.decode()
    assert made == (ROOT / "docs" / "commands.md").read_text(encoding="utf-8"), "run `make docs`"


def test_every_option_and_limit_is_documented() -> None:
    embedding = (ROOT / "docs" / "embedding.md").read_text(encoding="utf-8")
    assert not {name for name in DEFAULTS if f"`{name}`" not in embedding}
    limits = (ROOT / "docs" / "limits-and-security.md").read_text(encoding="utf-8")
    assert not {name for name in Limits().as_dict() if f"`{name}`" not in limits}


def test_the_changelog_has_this_version() -> None:
    from agentsandbox import __version__

    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {__version__}" in text or f"\n## [{__version__}]" in text
