"""`uv` in a sandbox: `uv pip`, and programs with what they require."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentsandbox import Limits, Sandbox
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.python.index import Packages
from agentsandbox.python.inline_metadata import MetadataError, needs_of_script
from agentsandbox.python.uv import uv_commands
from tests.python.wheel_factory import Shelf, file_name, metadata, wheel, zipped
from tests.support import Caller

SITE = "/home/agent/.local/lib/python3.15/site-packages"


@command("python3", "Usage: python3\n", raw=True)
def python3(ctx: CommandContext, args: Arguments) -> int:
    """Show what a guest would be given: words, the variables that count, standard input."""
    ctx.print(" ".join(["python3", *ctx.words]))
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        if ctx.env.get(name):
            ctx.print(f"{name}={ctx.env[name]}")
    if ctx.words[:1] == ["-"]:
        ctx.stdout.write(ctx.stdin.read())
    return 7


@pytest.fixture
def shelf() -> Shelf:
    made = Shelf().add("a", requires=["b>=1"], scripts={"a-run": "a:main"})
    return made.add("b").add("b", "2.0").add("c", "3").add("d", requires=["b<2"])


@pytest.fixture
def box(shelf: Shelf, tmp_path: Path) -> Iterator[Sandbox]:
    library = tmp_path / "python-stdlib.zip"
    library.write_bytes(zipped([("numpy-2.5.2.dist-info/METADATA", metadata("numpy", "2.5.2"))]))
    commands = [*uv_commands(Packages((), shelf, library)), python3]
    with Sandbox(commands=commands) as sandbox:
        yield sandbox


def output(sandbox: Sandbox, script: str, status: int = 0) -> str:
    result = sandbox.execute(script)
    assert result.exit_code == status, result
    return re.sub(r"in \d+ms", "in 1ms", result.stdout + result.stderr)


def script(*lines: str) -> str:
    return "\n".join(["#!/usr/bin/env python3", "# /// script", *lines, "# ///", "print(1)", ""])


# uv run


def test_a_script_gets_what_it_requires(box: Sandbox) -> None:
    box.files.write(
        "/workspace/s.py",
        script(
            "# requires-python = '>=3.11'", "# dependencies = [", "#   'a',  # why", "# 'numpy>2']"
        ),
    )
    text = output(box, "uv run s.py one --two", 7)
    found = re.fullmatch(
        "python3 s.py one --two\nPYTHONPATH=(/home/agent/.cache/uv/environments/[0-9a-f]{16})\n"
        "Installed 2 packages in 1ms\n",
        text,
    )
    assert found, text
    assert output(box, f"(cd {found[1]}; ls; cat */INSTALLER)") == (
        "a-1.0.dist-info\na.py\nb-2.0.dist-info\nb.py\nbin\nuv\nuv\n"
    )
    assert "Installed" not in output(box, "uv run s.py", 7)
    assert output(box, "ls -A ~") == ".cache\n"
    assert "Installed 2 packages" in output(box, f"rm -r {found[1]}/a-*; uv run s.py", 7)


def test_a_script_on_standard_input(box: Sandbox) -> None:
    box.files.write("/workspace/s.py", script("# dependencies = ['b==1']"))
    text = output(box, "uv run - < s.py", 7)
    assert text.startswith("python3 -\nPYTHONPATH=/home/agent/.cache/uv/environments/")
    assert script("# dependencies = ['b==1']") in text


def test_what_is_there_needs_no_folder(box: Sandbox) -> None:
    box.files.write("/workspace/s.py", script("# dependencies = ['numpy']"))
    box.files.write("/workspace/plain.py", "print(1)\n")
    assert output(box, "uv run s.py", 7) == "python3 s.py\n"
    assert output(box, "uv run -q plain.py -x", 7) == "python3 plain.py -x\n"
    assert output(box, "uv run --with numpy plain.py", 7) == "python3 plain.py\n"


def test_with_adds_packages_before_the_path(box: Sandbox) -> None:
    box.files.write("/workspace/s.py", "")
    box.files.write("/workspace/r.txt", "d\n")
    text = output(
        box, "PYTHONPATH=/mine uv run --with 'b<2,>=1,c' --with-requirements r.txt s.py", 7
    )
    folder = re.search("PYTHONPATH=(.*):/mine\n", text)
    assert folder, text
    assert output(box, f"ls {folder[1]}") == (
        "b-1.0.dist-info\nb.py\nc-3.dist-info\nc.py\nd-1.0.dist-info\nd.py\n"
    )
    assert "PYTHONPATH" not in output(box, "uv run --no-sync --with c s.py", 7)


def test_programs_of_packages_are_found(box: Sandbox) -> None:
    """`uv run --with a a-run` runs the program that a brings, by its first line."""
    assert "python3 /home/agent/.cache/uv/environments/" in output(
        box, "uv run --with a a-run x", 7
    )


def test_modules_programs_and_python_itself(box: Sandbox) -> None:
    assert output(box, "uv run -m json.tool x", 7) == "python3 -m json.tool x\n"
    assert output(box, "uv run python -c 'x'", 7) == "python3 -c x\n"
    assert output(box, "uv run echo hello --with me") == "hello --with me\n"
    box.files.write("/workspace/tool", "x")
    assert output(box, "uv run -s tool", 7) == "python3 tool\n"


def test_a_virtual_environment_is_used(box: Sandbox) -> None:
    output(box, "mkdir -p .venv/bin deep/er; touch .venv/pyvenv.cfg")
    box.files.write("/workspace/deep/er/s.py", "")
    box.files.write("/workspace/m.py", script("# dependencies = []"))
    assert "VIRTUAL_ENV=/workspace/.venv" in output(box, "cd deep/er; uv run s.py", 7)
    assert "VIRTUAL_ENV" not in output(box, "cd deep/er; uv run --isolated s.py", 7)
    assert "VIRTUAL_ENV" not in output(box, "cd /workspace; uv run m.py", 7)
    output(box, "ln -s /usr/bin/python3 .venv/bin/python3")
    assert "VIRTUAL_ENV=/workspace/.venv" in output(box, "uv run python -V", 7)


def test_a_project_gets_what_it_requires(box: Sandbox) -> None:
    box.files.write(
        "/workspace/pyproject.toml",
        "[project]\nname = 'p'\ndependencies = ['b<2']\n[dependency-groups]\ndev = ['c']\n",
    )
    box.files.write("/workspace/tests/t.py", "")
    text = output(box, "cd tests; uv run t.py", 7)
    assert "Installed 2 packages" in text
    assert "Installed" not in output(box, "uv run --no-project t.py", 7)
    box.files.write(
        "/workspace/pyproject.toml",
        "[build-system]\nrequires = []\n[project]\nname = 'p'\n"
        "[project.scripts]\nmine = 'p:main'\n",
    )
    assert "PYTHONPATH=/workspace\n" in output(box, "uv run t.py", 7)
    output(box, "mkdir -p /workspace/src")
    assert "PYTHONPATH=/workspace/src\n" in output(box, "uv run t.py", 7)
    assert "mine is a program of the project" in output(box, "uv run mine", 2)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[project", "the metadata of pyproject.toml is not TOML"),
        ("[project]\ndependencies = 'b'", "dependencies of pyproject.toml must be a list of texts"),
        ("[project]\ndependencies = [1]", "dependencies of pyproject.toml must be a list of texts"),
        ("project = 1", "project of pyproject.toml must be a table"),
        ("[project]\nrequires-python = '<3'", "Python <3 is required, and the sandbox has"),
        ("[project]\nrequires-python = 'x'", "requires-python is no specifier: 'x'"),
        ("[project]\n[dependency-groups]\ndev = [{include-group = 'x'}]", "include-group in"),
        ("[project]\n[dependency-groups]\ndev = 1", "dev of pyproject.toml must be a list"),
        ("[project]\n[tool.uv.sources]\nb = {path = 'b'}", "tool.uv.sources of pyproject.toml"),
        ("[project]\nx = " + "[" * 5000, "the metadata of pyproject.toml is not TOML"),
        ("# " + "x" * 300_000, "/workspace/pyproject.toml is too large"),
        ("[project]\ndependencies = ['b @ https://x.invalid/b.whl']", "pip has no network here"),
        ("[project]\ndependencies = ['./b']", "is a source tree"),
    ],
)
def test_projects_that_are_refused(box: Sandbox, text: str, says: str) -> None:
    box.files.write("/workspace/pyproject.toml", text)
    box.files.write("/workspace/t.py", "")
    told = output(box, "uv run t.py", 2)
    assert told.startswith("error: ")
    assert says in told


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (script("# requires-python = '<3.15'"), "Python <3.15 is required, and the sandbox has"),
        (script("# requires-python = 3"), "requires-python of s.py must be a text"),
        (script("# dependencies = 'a'"), "dependencies of s.py must be a list of texts"),
        (script("# dependencies = ['a b']"), "Invalid requirement: 'a b'"),
        (script("# not toml"), "the metadata of s.py is not TOML"),
        (script("# x = " + "[" * 5000), "the metadata of s.py is not TOML"),
        (script("# x = 1", "# " + "#" * 70_000), "s.py has more metadata than 65536 characters"),
        (script("# a = 1") + script("# a = 1"), "s.py has several blocks of script metadata"),
    ],
)
def test_metadata_of_scripts_that_is_refused(box: Sandbox, text: str, says: str) -> None:
    box.files.write("/workspace/s.py", text)
    told = output(box, "uv run s.py", 2)
    assert told.startswith("error: ")
    assert says in told
    assert told.count("\n") == 1


REFERENCE = re.compile(r"(?m)^# /// (?P<type>[a-zA-Z0-9-]+)$\s(?P<content>(^#(| .*)$\s)+)^# ///$")
"""The expression of the specification."""

LINES = st.sampled_from(
    [
        "# /// script",
        "# ///",
        "#",
        "# a = 1",
        "# b = '# ///'",
        "x",
        "",
        "# /// other",
        "#x",
        "#  c = 2",
    ]
)


@given(st.lists(LINES, max_size=9))
@example(["# /// script", "# a = 1", "# ///", "# b = 2", "# ///", "x"])
@example(["# /// script", "# a = 1"])
@example(["# /// other", "# /// script", "# ///", "# ///"])
def test_blocks_are_found_as_the_specification_says(lines: list[str]) -> None:
    text = "\n".join([*lines, "x", ""])
    blocks = [one for one in REFERENCE.finditer(text) if one["type"] == "script"]
    ctx = _context()
    try:
        found = needs_of_script(ctx, text.encode(), "s.py")
    except MetadataError as error:
        assert len(blocks) > 1 or "not TOML" in str(error)
        return
    assert (found is not None) == (len(blocks) == 1), (blocks, found)


def _context() -> CommandContext:
    from agentsandbox.kernel.fs.memory import MemoryFileSystem

    caller = Caller(MemoryFileSystem(), {}, b"", 0.0)
    return CommandContext(
        "uv", [], stdin=caller.stdin, stdout=caller.stdout, stderr=caller.stderr, fs=caller.fs,
        cwd="/", env={}, budget=caller.budget, host=caller.host,
        run=caller.run, start=caller.start,  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize(
    "which", ["3", "3.15", "3.15.0", "python3", "python3.15", "cpython@3.15", ">=3.11", ">=3.11,<4"]
)
def test_pythons_that_the_sandbox_has(box: Sandbox, which: str) -> None:
    assert output(box, f"uv run --python '{which}' python x", 7) == "python3 x\n"


@pytest.mark.parametrize(
    "which", ["3.12", "2", "3.15.1", "pypy", "<3.15", "/opt/python", "1" * 5000]
)
def test_other_pythons_are_refused(box: Sandbox, which: str) -> None:
    assert "No interpreter found for" in output(box, f"uv run -p '{which}' python x", 2)


def test_packages_that_are_not_there(box: Sandbox) -> None:
    assert output(box, "uv run --with nope python x", 1) == (
        "  × No solution found when resolving dependencies:\n  ╰─▶ There is no version of nope. "
        "Only the index that the host of the sandbox supplies is asked, not PyPI.\n"
    )


# uv pip


def test_install_needs_an_environment(box: Sandbox) -> None:
    assert output(box, "uv pip install a", 2) == (
        "error: No virtual environment found; run `uv venv` to create an environment, or pass "
        "`--system` to install into a non-virtual environment\n"
    )
    assert output(box, "uv pip install --system a") == (
        "Resolved 2 packages in 1ms\nPrepared 2 packages in 1ms\nInstalled 2 packages in 1ms\n"
        " + a==1.0\n + b==2.0\n"
    )
    assert output(box, f"cat {SITE}/a-1.0.dist-info/INSTALLER") == "uv\n"
    assert output(box, "uv pip install --system a") == "Audited 2 packages in 1ms\n"


def test_the_environment_of_the_directory_is_used(box: Sandbox) -> None:
    output(box, "mkdir -p .venv sub; touch .venv/pyvenv.cfg")
    assert output(box, "cd sub; uv pip install 'b<2'").startswith(
        "Using Python 3.15.0 environment at: ../.venv\nResolved 1 package in 1ms\n"
    )
    assert output(box, "uv pip install -q -U b; uv pip freeze") == "b==2.0\nnumpy==2.5.2\n"
    assert output(box, "ls -A ~") == ""


def test_upgrades_show_what_went_and_what_came(box: Sandbox) -> None:
    output(box, "uv pip install -q --system b==1")
    assert output(box, "uv pip install --system --dry-run -U b").endswith(
        "Would install 1 packages\n - b==1.0\n + b==2.0\n"
    )
    assert output(box, "uv pip install --system -U b").endswith(
        "Uninstalled 1 package in 1ms\nInstalled 1 package in 1ms\n - b==1.0\n + b==2.0\n"
    )
    assert output(box, "uv pip install --system --reinstall b").endswith(" - b==2.0\n + b==2.0\n")


def test_uninstall_list_show_and_check(box: Sandbox) -> None:
    output(box, "uv pip install -q --system a c")
    assert output(box, "uv pip list --format json") == (
        '[{"name": "a", "version": "1.0"}, {"name": "b", "version": "2.0"}, '
        '{"name": "c", "version": "3"}, {"name": "numpy", "version": "2.5.2"}]\n'
    )
    assert output(box, "uv pip uninstall --system b nope") == (
        "warning: Skipping nope as it is not installed\nUninstalled 1 package in 1ms\n - b==2.0\n"
    )
    assert output(box, "uv pip check", 1) == (
        "Checked 3 packages in 1ms\nFound 1 incompatibility\n"
        "The package `a` requires `b>=1`, but it's not installed\n"
    )
    output(box, "uv pip install -q --system b d c -U --no-deps")
    assert "The package `d` requires `b<2`, but `2.0` is installed" in output(
        box, "uv pip check", 1
    )
    assert "Required-by: d" not in output(box, "uv pip show c")
    assert output(box, "uv pip show nope", 1) == "warning: Package(s) not found for: nope\n"
    assert "is part of the sandbox's Python" in output(box, "uv pip uninstall --system numpy", 1)
    assert "No packages to uninstall" in output(box, "uv pip uninstall --system zzz")
    assert output(box, "uv pip check -q; uv pip uninstall -q --system d; uv pip check").endswith(
        "All installed packages are compatible\n"
    )


def test_a_target_and_files(box: Sandbox) -> None:
    box.files.write("/workspace/r.txt", "b\n")
    box.files.write("/workspace/c.txt", "b<2\n")
    box.files.write(f"/workspace/{file_name()}", wheel())
    output(box, f"uv pip install -q --target t -r r.txt -c c.txt ./{file_name()}")
    assert output(box, "ls t") == "b-1.0.dist-info\nb.py\ndemo-1.0.dist-info\ndemo.py\n"


def test_a_wheel_that_is_refused(box: Sandbox) -> None:
    box.files.write(f"/workspace/{file_name()}", wheel(more=[("../evil", b"")]))
    assert output(box, f"uv pip install --system ./{file_name()}", 2).startswith(
        "error: demo-1.0-py3-none-any.whl is refused: '../evil' is not a path inside the wheel\n"
    )


def test_conflicts(box: Sandbox) -> None:
    text = output(box, "uv pip install --system d 'b>=2'", 1)
    assert text.startswith("  × No solution found when resolving dependencies:\n  ╰─▶ ")
    assert "The user requested b>=2; d 1.0 depends on b<2" in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("add a", "`uv add` is not possible here: write the requirement into pyproject.toml"),
        ("sync", "`uv sync` is not possible here"),
        ("tool run x", "use 'uv run --with PKG COMMAND'"),
        ("python install 3.12", "the sandbox has Python 3.15 only"),
        ("build", "nothing can be built"),
        ("pip compile r.txt", "`uv pip compile` is not possible here"),
        ("pip", "`uv pip` takes a command"),
        ("nonsense", "unrecognized subcommand 'nonsense'"),
        ("pip nonsense", "unrecognized subcommand 'pip nonsense'"),
        ("run", "Provide a command or script to invoke"),
        ("run --nonsense x", "unexpected argument '--nonsense' found"),
        ("run gone.py", "Failed to read `gone.py`: No such file or directory"),
        ("run --with-requirements gone x", "Failed to read `gone`: No such file or directory"),
        ("run --index-url x y", "the host of the sandbox chooses the index"),
        ("pip install", "the following required arguments were not provided"),
        ("pip install --system -e .", "--editable is not possible"),
        ("pip install --system --index x b", "the host of the sandbox chooses the index"),
        ("pip install --system -r gone", "Failed to read `gone`: No such file or directory"),
        ("pip uninstall", "the following required arguments were not provided"),
        ("pip list x", "unexpected argument 'x' found"),
        ("pip list --format=xml", "invalid choice: 'xml'"),
    ],
)
def test_what_is_refused(box: Sandbox, words: str, says: str) -> None:
    text = output(box, f"uv {words}", 2)
    assert text.startswith("error: ")
    assert says in text


def test_help_version_and_venv(box: Sandbox) -> None:
    assert output(box, "uv --version").startswith("uv 0.9.11\n")
    assert output(box, "uv") == output(box, "uv --help")
    assert "--with PKG" in output(box, "uv run --help")
    assert output(box, "uv venv", 7) == "python3 -m venv .venv\n"
    assert output(box, "uv venv v", 7) == "python3 -m venv v\n"


def test_a_large_script_draws_on_the_budget() -> None:
    commands = [*uv_commands(Packages()), python3]
    source = "# /// script\n" + "# \n" * 1_000_000
    with Sandbox(commands=commands, files={"s.py": source}, limits=Limits(steps=20_000)) as sandbox:
        assert sandbox.execute("uv run s.py").limit == "steps"
        assert output(sandbox, "echo next") == "next\n"
