"""The wheel and the source distribution hold everything, and skills are found in them, installed or
zipped.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

for needed in ("build", "hatchling"):
    if importlib.util.find_spec(needed) is None:
        pytest.skip(f"`{needed}` is not installed", allow_module_level=True)

ROOT = Path(__file__).parents[1]
PROBE = """
import json, sys
import agentsandbox, skills_embedded
from agentsandbox import AgentSkill, Sandbox
skill = AgentSkill.from_package("skills_embedded", "python-dev")
with Sandbox(skills=[skill]) as sandbox:
    scaffold = "/.sandbox/skills/python-dev/scripts/scaffold.sh"
    made = sandbox.execute(f"sh {scaffold} a-b && cat a-b/.gitignore")
    pipeline = "sort | awk '{ print NR, $0 }' | jq -R . | sed 1d"
    tools = sandbox.execute(f"printf 'b\\\\na\\\\n' | {pipeline}")
files = [agentsandbox.__file__, skills_embedded.__file__]
print(json.dumps([*files, made.exit_code, made.stdout, tools.stdout, tools.stderr]))
"""


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the wheel and the source distribution, the wheel made from the source
    distribution.
    """
    directory = tmp_path_factory.mktemp("dist")
    built = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(directory), str(ROOT)],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    return directory


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    (path,) = distributions.glob("*.whl")
    return path


def files_of(package: str) -> Iterator[str]:
    for path in (ROOT / package).rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(ROOT).as_posix()


def run_probe(python: str, paths: list[str], cwd: Path) -> list[object]:
    import json

    environment = {"PATH": os.defpath, "PYTHONPATH": os.pathsep.join(paths)}
    ran = subprocess.run(
        [python, "-c", PROBE], capture_output=True, text=True, check=False, env=environment, cwd=cwd
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    result: list[object] = json.loads(ran.stdout)
    return result


def dependencies(tmp_path: Path) -> str:
    """A directory with this environment's packages, but without the project itself."""
    import greenlet

    directory = tmp_path / "dependencies"
    directory.mkdir()
    for entry in Path(greenlet.__file__).parents[1].iterdir():
        if "agentsandbox" not in entry.name and entry.suffix != ".pth":
            (directory / entry.name).symlink_to(entry)
    return str(directory)


def test_the_wheel_holds_every_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        licence = [name for name in archive.namelist() if name.endswith("LICENSE")]
        entry_points = next(
            archive.read(name) for name in archive.namelist() if name.endswith("entry_points.txt")
        )
    assert held == {*files_of("agentsandbox"), *files_of("skills_embedded")}
    assert {"agentsandbox/py.typed", "skills_embedded/python-dev/assets/.gitignore"} <= held
    assert licence
    assert b"agentsandbox = agentsandbox.cli:main" in entry_points


def test_the_source_distribution_holds_what_is_needed(distributions: Path) -> None:
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        *files_of("agentsandbox"),
        *files_of("skills_embedded"),
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "Makefile",
    } <= held
    assert not {name for name in held if name.startswith(".venv")}


def test_skills_in_an_installed_wheel(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    python = str(home / "bin" / "python")
    site = next((home / "lib").glob("python*")) / "site-packages"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    package, skills, status, made, tools, errors = run_probe(
        python, [dependencies(tmp_path)], tmp_path
    )
    assert str(package).startswith(str(site))
    assert str(skills).startswith(str(site))
    assert (status, errors) == (0, "")
    assert "Made a-b:" in str(made)
    assert "__pycache__/" in str(made)
    assert tools == '"2 b"\n'


def test_skills_in_a_zipped_package(wheel: Path, tmp_path: Path) -> None:
    archive = tmp_path / "app.zip"
    archive.write_bytes(wheel.read_bytes())
    package, skills, status, made, tools, errors = run_probe(
        sys.executable, [str(archive), dependencies(tmp_path)], tmp_path
    )
    assert str(package).startswith(str(archive))
    assert str(skills).startswith(str(archive))
    assert (status, errors) == (0, "")
    assert "Made a-b:" in str(made)
    assert tools == '"2 b"\n'


def test_the_console_script(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": os.pathsep.join([str(site), dependencies(tmp_path)]),
    }
    script = site / "bin" / "agentsandbox"
    ran = subprocess.run(
        [sys.executable, str(script), "run", "echo $((6 * 7)); exit 3"], capture_output=True,
         env=environment, check=False, cwd=tmp_path,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, b"42\n", b"")
