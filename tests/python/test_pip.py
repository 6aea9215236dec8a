"""`pip` in a sandbox: what it installs, finds, removes and refuses, in pip's words."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentsandbox import Limits, Sandbox
from agentsandbox.python.index import Packages, Wheelfile
from agentsandbox.python.pip import pip_commands
from tests.python.wheel_factory import (
    WHEEL,
    Shelf,
    digest_of,
    file_name,
    metadata,
    offered,
    wheel,
    zipped,
)

SITE = "/home/agent/.local/lib/python3.15/site-packages"
DEFAULT = "Defaulting to user installation because normal site-packages is not writeable\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip file of an artifact with numpy and six."""
    path = tmp_path_factory.mktemp("artifact") / "python-stdlib.zip"
    path.write_bytes(
        zipped(
            [
                ("os.pyc", b""),
                ("numpy-2.5.2.dist-info/METADATA", metadata("numpy", "2.5.2")),
                ("six-1.17.0.dist-info/METADATA", metadata("six", "1.17.0")),
            ]
        )
    )
    return path


@pytest.fixture
def shelf() -> Shelf:
    made = Shelf()
    made.add("a", requires=["b>=1", "c; extra == 'x'"], scripts={"a-run": "a:main"})
    made.add("b").add("b", "2.0").add("c", "3").add("d", requires=["b<2", "a"])
    return made.add("old", extra="Requires-Python: <3\n").add("six", "1.99")


@pytest.fixture
def box(shelf: Shelf, library: Path) -> Iterator[Sandbox]:
    with Sandbox(commands=pip_commands(Packages((), shelf, library))) as sandbox:
        yield sandbox


def output(sandbox: Sandbox, script: str, status: int = 0) -> str:
    result = sandbox.execute(script)
    assert result.exit_code == status, result
    return result.stdout + result.stderr


def test_install_takes_the_newest_and_what_it_requires(box: Sandbox, shelf: Shelf) -> None:
    assert output(box, "pip install --no-warn-script-location a") == (
        f"{DEFAULT}Collecting a\n  Downloading a-1.0-py3-none-any.whl (988 bytes)\n"
        "Collecting b>=1 (from a)\n  Downloading b-2.0-py3-none-any.whl (788 bytes)\n"
        "Installing collected packages: b, a\nSuccessfully installed a-1.0 b-2.0\n"
    ).replace("988 bytes", f"{_size(shelf, 'a')}").replace("788 bytes", f"{_size(shelf, 'b')}")
    assert shelf.asked == ["a", "b"]
    assert output(box, f"cat {SITE}/a.py; cat ~/.local/bin/a-run; ls -l ~/.local/bin") .startswith(
        "VERSION = '1.0'\n#!/usr/bin/python3\nimport sys\n\nfrom a import main\n"
    )  # fmt: skip
    assert output(box, "test -x ~/.local/bin/a-run && echo yes") == "yes\n"
    assert output(box, f"cd {SITE}; cat {{a,b}}-*/INSTALLER; ls -d */REQUESTED") == (
        "pip\npip\na-1.0.dist-info/REQUESTED\n"
    )


def _size(shelf: Shelf, name: str) -> str:
    data = shelf.wheels[name][-1].data
    assert isinstance(data, bytes)
    return f"{len(data) / 1000:.1f} kB" if len(data) > 1000 else f"{len(data)} bytes"


def test_the_record_lists_every_file_with_its_digest(box: Sandbox) -> None:
    output(box, "pip install -q a b==1")
    for row in csv.reader(output(box, f"cat {SITE}/a-1.0.dist-info/RECORD").splitlines()):
        if row[0].endswith("RECORD"):
            assert row[1:] == ["", ""]
            continue
        data = box.fs.read_bytes(f"{SITE}/{row[0]}")
        assert row[1:] == [digest_of(data), str(len(data))]


def test_what_is_there_is_not_installed_again(box: Sandbox, shelf: Shelf) -> None:
    output(box, "pip install -q a")
    shelf.asked.clear()
    assert output(box, "pip install a numpy 'six>1'") == (
        f"{DEFAULT}Requirement already satisfied: a in {SITE} (1.0)\n"
        "Requirement already satisfied: numpy in /usr/local/lib/python315.zip (2.5.2)\n"
        "Requirement already satisfied: six>1 in /usr/local/lib/python315.zip (1.17.0)\n"
        f"Requirement already satisfied: b>=1 in {SITE} (from a) (2.0)\n"
    )
    assert shelf.asked == []


def test_upgrade_replaces_what_is_named_only(box: Sandbox) -> None:
    output(box, "pip install -q a b==1")
    assert "already satisfied: b>=1" in output(box, "pip install -U a")
    text = output(box, "pip install --upgrade b")
    assert text.endswith(
        "Installing collected packages: b\n  Attempting uninstall: b\n"
        "    Found existing installation: b 1.0\n    Uninstalling b-1.0:\n"
        "      Successfully uninstalled b-1.0\nSuccessfully installed b-2.0\n"
    )
    assert output(box, f"ls -d {SITE}/b-*") == f"{SITE}/b-2.0.dist-info\n"
    assert "already satisfied" in output(box, "pip install -U six")


def test_an_upgrade_that_breaks_others_is_told(box: Sandbox) -> None:
    output(box, "pip install -q d")
    assert output(box, "pip freeze --user") == "a==1.0\nb==1.0\nd==1.0\n"
    result = box.execute("pip install -q 'b>=2'")
    assert result.exit_code == 0
    assert result.stderr.startswith("ERROR: pip's dependency resolver does not currently take")
    assert result.stderr.endswith(
        "\nd 1.0 requires b<2, but you have b 2.0 which is incompatible.\n"
    )
    assert output(box, "pip check", 1) == "d 1.0 has requirement b<2, but you have b 2.0.\n"
    output(box, "pip uninstall -qy b")
    assert output(box, "pip check", 1) == (
        "a 1.0 requires b, which is not installed.\nd 1.0 requires b, which is not installed.\n"
    )
    output(box, "pip install -q b==1")
    assert output(box, "pip check") == "No broken requirements found.\n"


def test_dependencies_narrow_what_was_chosen_first(box: Sandbox) -> None:
    """a takes b 2.0 until d says that it must be older."""
    assert "Successfully installed a-1.0 b-1.0 d-1.0\n" in output(box, "pip install a d")


def test_contradictions_are_told_with_both_sides(box: Sandbox) -> None:
    assert output(box, "pip install d 'b>=2'", 1).endswith(
        "ERROR: Cannot install b>=2 and d==1.0 because these package versions have conflicting "
        "dependencies.\n\nThe conflict is caused by:\n    The user requested b>=2\n"
        "    d 1.0 depends on b<2\n\nTo fix this you could try to:\n"
        "1. loosen the range of package versions you've specified\n"
        "2. name the versions of what requires them (NAME==VERSION)\n\n"
        "ERROR: ResolutionImpossible: no version of b satisfies all of these\n"
    )


def test_extras(box: Sandbox) -> None:
    assert "Successfully installed a-1.0 b-2.0 c-3" in output(box, "pip install 'a[x]'")
    assert "WARNING: a 1.0 does not provide the extra 'y'" in output(box, "pip install 'a[y]'")


@pytest.mark.parametrize(
    ("asked", "versions"), [("nope", "none"), ("a==9", "1.0"), ("'b>2'", "1.0, 2.0")]
)
def test_names_that_the_index_does_not_have(box: Sandbox, asked: str, versions: str) -> None:
    plain = asked.strip("'")
    assert output(box, f"pip install -q {asked}", 1) == (
        f"ERROR: Could not find a version that satisfies the requirement {plain} "
        f"(from versions: {versions})\nERROR: No matching distribution found for {plain}\n"
        "ERROR: Only the index that the host of the sandbox supplies is asked, not PyPI.\n"
    )


def test_without_an_index_it_says_so() -> None:
    with Sandbox(commands=pip_commands(Packages())) as sandbox:
        assert output(sandbox, "pip3 install requests", 1).endswith(
            "ERROR: No matching distribution found for requests\n"
            "ERROR: The sandbox has no package index: 'pip list' shows what is there.\n"
        )


def test_wheels_for_others_are_passed_over_with_the_reason() -> None:
    native = Wheelfile("fast-2.0-cp315-cp315-linux_x86_64.whl", b"", "0" * 64)
    packages = Packages(index={"fast": [native]}.__getitem__)
    with Sandbox(commands=pip_commands(packages)) as sandbox:
        text = output(sandbox, "pip install fast", 1)
    assert text.endswith(
        "ERROR: fast-2.0-cp315-cp315-linux_x86_64.whl has native code (cp315-cp315-linux_x86_64), "
        "which the sandbox cannot run: use a pure wheel (py3-none-any) or a package that "
        "'pip list' shows\n"
    )


def test_another_python_is_told(box: Sandbox) -> None:
    assert output(box, "pip install old", 1).endswith(
        "ERROR: old-1.0-py3-none-any.whl requires Python <3, and the sandbox has 3.15.0\n"
    )


def test_a_newer_version_for_another_python_is_passed_over() -> None:
    shelf = Shelf().add("x").add("x", "2.0", extra="Requires-Python: >=4\n")
    with Sandbox(commands=pip_commands(Packages(index=shelf))) as sandbox:
        assert "Successfully installed x-1.0" in output(sandbox, "pip install x")


def test_prereleases_need_to_be_asked_for() -> None:
    shelf = Shelf().add("x").add("x", "2.0rc1")
    with Sandbox(commands=pip_commands(Packages(index=shelf))) as sandbox:
        assert "installed x-1.0" in output(sandbox, "pip install x")
        assert "installed x-2.0rc1" in output(sandbox, "pip install --pre -U x")


def test_what_the_artifact_has_cannot_be_replaced(box: Sandbox) -> None:
    text = output(box, "pip install -q 'six>=1.99'", 1)
    assert text == (
        "ERROR: Cannot install six>=1.99: six 1.17.0 is part of the sandbox's Python and comes "
        "first; use it, or install into a directory of your own (--target DIR, then "
        "PYTHONPATH=DIR)\n"
    )
    assert "Successfully installed six-1.99" in output(box, "pip install --target t 'six>=1.99'")
    assert output(box, "ls t") == "six-1.99.dist-info\nsix.py\n"
    assert "is part of the sandbox's Python" in output(box, "pip uninstall -y numpy", 1)


def test_a_wheel_of_the_sandbox(box: Sandbox) -> None:
    name = file_name()
    box.files.write(f"/workspace/{name}", wheel(requires=["numpy"]))
    assert output(box, f"pip install ./{name}") == (
        f"{DEFAULT}Processing ./{name}\nRequirement already satisfied: numpy in "
        "/usr/local/lib/python315.zip (from demo) (2.5.2)\n"
        "Installing collected packages: demo\nSuccessfully installed demo-1.0\n"
    )
    assert (
        "demo is already installed with the same version as the provided wheel. Use "
        "--force-reinstall to force an installation of the wheel.\n"
    ) in output(box, f"pip install file:///workspace/{name}")
    assert "Successfully installed demo-1.0" in output(box, f"pip install --force-reinstall {name}")
    assert output(box, f"pip install -q 'demo @ file:///workspace/{name}'") == ""
    assert "names another distribution" in output(box, f"pip install 'x@file:///w/{name}'", 1)


def test_a_wheel_that_is_not_there(box: Sandbox) -> None:
    assert output(box, "pip install -q ./gone-1-py3-none-any.whl", 1) == (
        "WARNING: Requirement './gone-1-py3-none-any.whl' looks like a filename, but the file does "
        "not exist\nERROR: Could not install packages due to an OSError: [Errno 2] No such file or "
        "directory: '/workspace/gone-1-py3-none-any.whl'\n"
    )


def test_a_wheel_that_is_refused_writes_nothing(box: Sandbox) -> None:
    """The first one is good, the second one has a wrong digest: neither is installed."""
    bad = wheel("bad", replace={"RECORD": b"bad.py,sha256=aaaa,\n"}, files={"bad.py": ""})
    box.files.write("/workspace/bad-1.0-py3-none-any.whl", bad)
    text = output(box, "pip install a ./bad-1.0-py3-none-any.whl", 1)
    assert "bad-1.0-py3-none-any.whl is refused: its RECORD has no digest for" in text
    lines = [f"bad.py,{digest_of(b'other')},"]
    lines.append(f"bad-1.0.dist-info/METADATA,{digest_of(metadata('bad', '1.0'))},")
    lines.append(f"bad-1.0.dist-info/WHEEL,{digest_of(WHEEL)},")
    bad = wheel("bad", replace={"RECORD": "\n".join(lines).encode()}, files={"bad.py": ""})
    box.files.write("/workspace/bad-1.0-py3-none-any.whl", bad)
    text = output(box, "pip install a ./bad-1.0-py3-none-any.whl", 1)
    assert "bad.py does not have the digest that RECORD gives" in text
    assert output(box, "ls -A ~") == ""


def test_a_digest_of_the_index_that_does_not_match(library: Path) -> None:
    def index(name: str) -> list[Wheelfile]:
        return [Wheelfile(file_name(name), wheel(name), "0" * 64)]

    with Sandbox(commands=pip_commands(Packages(index=index))) as sandbox:
        text = output(sandbox, "pip install demo; ls -A ~", 0)
    assert "ERROR: demo-1.0-py3-none-any.whl is refused: it does not have the digest" in text


def test_errors_of_the_host_are_one_line() -> None:
    def index(name: str) -> list[Wheelfile]:
        raise ConnectionError("/host/path: no")

    with Sandbox(commands=pip_commands(Packages(index=index))) as sandbox:
        assert output(sandbox, "pip install -q demo", 1) == (
            "ERROR: The index of the sandbox failed for demo: ConnectionError\n"
        )


async def _late_index(name: str) -> list[Wheelfile]:
    import asyncio

    await asyncio.sleep(0)
    return [offered(file_name(name), wheel(name))]


def test_an_index_may_be_async() -> None:
    import asyncio

    commands = pip_commands(Packages(index=_late_index))
    with Sandbox(commands=commands) as sandbox:
        assert "aexecute" in output(sandbox, "pip install demo", 126)
        result = asyncio.run(sandbox.aexecute("pip install demo"))
        assert "Successfully installed demo-1.0" in result.stdout


# files of requirements


def test_a_file_of_requirements(box: Sandbox) -> None:
    box.files.write(
        "/workspace/r.txt",
        "# what we need\na  # the newest\n\nb \\\n  ==1.0\n-r more/s.txt\n--constraint=c.txt\n"
        "c; python_version < '3'\n",
    )
    box.files.write("/workspace/more/s.txt", "numpy>=2\nd\n")
    box.files.write("/workspace/c.txt", "a<2\nunused==7\n")
    text = output(box, "pip install -r r.txt")
    assert "Ignoring c: markers 'python_version < \"3\"' don't match your environment" in text
    assert "Collecting a (from -r r.txt (line 2))\n" in text
    assert "Collecting b==1.0 (from -r r.txt (line 4))\n" in text
    assert "(from -r more/s.txt (line 1)) (2.5.2)" in text
    assert text.count("Successfully installed a-1.0 b-1.0 d-1.0") == 1


def test_hashes_in_a_file_of_requirements(box: Sandbox, shelf: Shelf) -> None:
    good = shelf.wheels["b"][0].sha256
    box.files.write("/workspace/r.txt", f"b --hash=sha256:{good} --hash=sha256:{'1' * 64}\n")
    assert "Successfully installed b-1.0" in output(box, "pip install -r r.txt")
    box.files.write("/workspace/r.txt", f"c \\\n    --hash=sha256:{'0' * 64}\n")
    assert "DO NOT MATCH THE HASHES" in output(box, "pip install -r r.txt", 1)
    data = wheel()
    box.files.write(f"/workspace/{file_name()}", data)
    box.files.write("/workspace/r.txt", f"./{file_name()} --hash=sha256:{'0' * 64}\n")
    assert "DO NOT MATCH THE HASHES" in output(box, "pip install -r r.txt", 1)
    digest = hashlib.sha256(data).hexdigest()
    box.files.write("/workspace/r.txt", f"./{file_name()} --hash=sha256:{digest}\n")
    assert "Successfully installed demo-1.0" in output(box, "pip install -r r.txt")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("-e .", "-r r.txt (line 1): -e is not possible: nothing can be built"),
        ("--index-url https://x.invalid", "--index-url is not possible: the host of the sandbox"),
        ("--find-links x", "--find-links is not possible: give the paths of the wheels"),
        ("--odd", "--odd is not possible here"),
        ("a b", "Invalid requirement: 'a b'"),
        ("a --config-settings=x", "only --hash=sha256:DIGEST may follow a name"),
        ("git+https://x.invalid/y", "pip has no network here"),
        ("https://x.invalid/y-1-py3-none-any.whl", "pip has no network here"),
        ("x @ https://x.invalid/y.whl", "pip has no network here"),
        ("./source", "is a source tree or a source archive"),
        ("x-1.0.tar.gz", "is a source tree or a source archive"),
        ("-r r.txt", "include each other too deeply"),
        ("-r gone.txt", "Could not open requirements file: [Errno 2] No such file or directory"),
    ],
)
def test_lines_that_are_refused(box: Sandbox, line: str, says: str) -> None:
    box.files.write("/workspace/r.txt", line)
    text = output(box, "pip install -r r.txt", 1)
    assert says in text
    assert text.startswith("ERROR: ")
    assert text.count("\n") == 1


def test_a_file_that_is_no_text(box: Sandbox) -> None:
    box.files.write("/workspace/r.txt", b"\xff\xfe\0a")
    assert output(box, "pip install -r r.txt", 1).startswith("ERROR: Invalid requirement")


# where


def test_a_virtual_environment_is_used_by_variable_and_by_path(box: Sandbox) -> None:
    output(box, "mkdir -p v/bin && echo 'home = /usr/bin' > v/pyvenv.cfg")
    output(box, "ln -s /usr/bin/pip v/bin/pip && ln -s /usr/bin/python3 v/bin/python3")
    assert "Defaulting" not in output(box, "v/bin/pip install --no-warn-script-location a")
    site = "/workspace/v/lib/python3.15/site-packages"
    assert output(box, f"ls {site}/a.py v/bin/a-run; head -n 1 v/bin/a-run; ls -A ~") == (
        f"{site}/a.py\nv/bin/a-run\n#!/workspace/v/bin/python3\n"
    )
    text = output(box, "VIRTUAL_ENV=/workspace/v pip install a")
    assert f"Requirement already satisfied: a in {site} (1.0)" in text
    assert "a==1.0" not in output(box, "pip freeze")
    assert "a==1.0" in output(box, "VIRTUAL_ENV=/workspace/v pip freeze")
    assert "Can not perform a '--user' install" in output(box, "v/bin/pip install --user c", 1)


def test_programs_that_are_not_on_the_path_are_told(box: Sandbox) -> None:
    assert output(box, "pip install -q a") == (
        "  WARNING: The script a-run is installed in '/home/agent/.local/bin' which is not on "
        "PATH.\n  Consider adding this directory to PATH or, if you prefer to suppress this "
        "warning, use --no-warn-script-location.\n"
    )
    assert output(box, "PATH=~/.local/bin:$PATH pip install -q --force-reinstall a") == ""


def test_options_that_change_nothing_that_is_not_so_anyway(box: Sandbox) -> None:
    assert output(
        box,
        "pip --disable-pip-version-check install --no-cache-dir --break-system-packages -q --user "
        "--no-input --progress-bar off --root-user-action=ignore --only-binary :all: "
        "--prefer-binary --no-color --upgrade-strategy only-if-needed b",
    ) == ""  # fmt: skip
    assert output(box, "pip freeze --user --all") == "b==2.0\n"


def test_no_deps_and_dry_run(box: Sandbox) -> None:
    assert output(box, "pip install --dry-run a").endswith("Would install a-1.0 b-2.0\n")
    assert output(box, "ls -A ~") == ""
    assert "Successfully installed a-1.0\n" in output(box, "pip install --no-deps a")


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        ("install", 1, 'ERROR: You must give at least one requirement to install (see "pip help'),
        ("uninstall", 1, "ERROR: You must give at least one requirement to uninstall"),
        ("install -e .", 1, "ERROR: --editable is not possible: nothing can be built"),
        ("install .", 1, "ERROR: . is a source tree or a source archive"),
        ("install -i https://x.invalid a", 1, "ERROR: --index-url is not possible: the host of"),
        ("install --extra-index-url x a", 1, "ERROR: --extra-index-url is not possible"),
        ("install -f . a", 1, "ERROR: --find-links is not possible: give the paths of the wheels"),
        (
            "install --upgrade-strategy eager a",
            1,
            "ERROR: --upgrade-strategy eager is not possible",
        ),
        ("install --only-binary :none: a", 1, "ERROR: --only-binary :none: is not possible"),
        ("install --nonsense a", 2, "no such option: --nonsense"),
        ("install -Z a", 2, "no such option: -Z"),
        ("download a", 1, "ERROR: pip download is not possible here: pip has no network"),
        ("config list", 1, "ERROR: pip config is not possible here: pip has no settings"),
        ("wheel .", 1, "ERROR: pip wheel is not possible here: nothing can be built"),
        ("instal a", 1, 'ERROR: unknown command "instal" - maybe you meant "install"'),
        ("frobnicate", 1, 'ERROR: unknown command "frobnicate"'),
        ("--frobnicate", 1, "ERROR: no such option: --frobnicate"),
        ("list a", 1, "ERROR: pip list takes no operand: a"),
        ("list --format=xml", 2, "option --format: invalid choice: 'xml'"),
        ("list -o", 2, "no such option: -o"),
        ("show", 1, "WARNING: ERROR: Please provide a package name or names."),
        ("show nope", 1, "WARNING: Package(s) not found: nope"),
        ("install 'a; ((((((((((((((((((x'", 1, "too deeply nested"),
        ("install \"$(printf 'a\\001b')\"", 1, "ERROR: Invalid requirement"),
        ("install -r .", 1, "Could not open requirements file: [Errno 21] Is a directory"),
    ],
)
def test_what_is_refused(box: Sandbox, words: str, status: int, says: str) -> None:
    assert says in output(box, f"pip {words}", status)


def test_help_and_version(box: Sandbox) -> None:
    assert output(box, "pip --version").startswith(
        "pip 25.3 from /usr/local/lib/python315.zip/pip (python 3.15)\n"
    )
    assert output(box, "pip3 -V") == output(box, "pip --version")
    assert output(box, "pip") == output(box, "pip --help") == output(box, "pip help")
    assert "--no-deps" in output(box, "pip install --help")
    assert output(box, "pip help install") == output(box, "pip install -h")


# uninstall


def test_uninstall_removes_all_that_was_installed(box: Sandbox) -> None:
    output(box, "pip install -q a")
    output(box, f"mkdir {SITE}/__pycache__; touch {SITE}/__pycache__/{{a,keep}}.cpython-315.pyc")
    assert output(box, "pip uninstall -y a b nope") == (
        "Found existing installation: a 1.0\nUninstalling a-1.0:\n  Successfully uninstalled "
        "a-1.0\nFound existing installation: b 2.0\nUninstalling b-2.0:\n  Successfully "
        "uninstalled b-2.0\nWARNING: Skipping nope as it is not installed.\n"
    )
    assert output(box, "find ~/.local -type f") == f"{SITE}/__pycache__/keep.cpython-315.pyc\n"


def test_uninstall_asks(box: Sandbox) -> None:
    output(box, "pip install -q b")
    assert "Proceed (Y/n)? " in output(box, "echo n | pip uninstall b")
    assert "use pip uninstall -y" in output(box, "pip uninstall b < /dev/null", 1)
    assert output(box, "pip freeze --user") == "b==2.0\n"
    assert "Successfully uninstalled b-2.0" in output(box, "yes | pip uninstall b")
    assert output(box, "pip freeze --user") == ""


def test_uninstall_stays_inside_the_site(box: Sandbox) -> None:
    """A RECORD that a script has written names files of its own choice."""
    output(box, "pip install -q b; echo keep > keep; mkdir -p ~/.local/d")
    record = f"{SITE}/b-2.0.dist-info/RECORD"
    output(box, f"for f in /workspace/keep ../../../../../../workspace/keep ../../../../x ''; do "
                f"echo \"$f,,\" >> {record}; done")  # fmt: skip
    output(box, "pip uninstall -y b")
    assert output(box, "cat keep; ls -d ~/.local") == "keep\n/home/agent/.local\n"


@pytest.mark.parametrize("content", ["", '"' + "x" * 200_000, "a" * 3000, "\0,,\n"])
def test_records_that_scripts_have_spoilt(box: Sandbox, content: str) -> None:
    output(box, "pip install -q b")
    box.fs.write_text(f"{SITE}/b-2.0.dist-info/RECORD", content)
    result = box.execute("pip uninstall -y b; pip show -f b; pip list; pip check")
    assert "Traceback" not in result.stderr
    output(box, f"rm {SITE}/b-2.0.dist-info/RECORD")
    assert "has no RECORD file" in output(box, "pip uninstall -y b", 1)


@pytest.mark.parametrize(
    "content",
    [
        "", "Name: b", "Name: \nVersion: \n", "Name: b\nVersion: not one\n",
        "Name: b\x1b[2J\nVersion: 1\n", "Name: b\nVersion: 1\nRequires-Dist: (((\n",
        "Name: b\nVersion: " + "1" * 100_000 + "\n", "\xff\0" * 1000,
        "Content-Type: multipart/mixed; boundary=x\n\n" + "--x\nContent-Type: multipart/mixed; "
        "boundary=x\n\n" * 5000, "Name: b\nVersion: 1\n" + "Requires-Dist: b\n" * 20_000,
    ],
)  # fmt: skip
def test_metadata_that_scripts_have_spoilt(box: Sandbox, content: str) -> None:
    output(box, "pip install -q b")
    box.fs.write_bytes(f"{SITE}/b-2.0.dist-info/METADATA", content.encode("latin-1"))
    result = box.execute(
        "pip list; pip freeze; pip check; pip show b; pip install b; pip install -U b"
    )
    assert "Traceback" not in result.stdout + result.stderr
    assert "\x1b" not in result.stdout
    assert result.limit is None


# list, freeze, show


def test_list_shows_what_the_artifact_has_too(box: Sandbox) -> None:
    output(box, "pip install -q b")
    assert output(box, "pip list") == (
        "Package Version\n------- -------\nb       2.0\nnumpy   2.5.2\nsix     1.17.0\n"
    )
    assert output(box, "pip list --format=freeze") == output(box, "pip freeze")
    assert output(box, "pip freeze") == "b==2.0\nnumpy==2.5.2\nsix==1.17.0\n"
    assert json.loads(output(box, "pip list --user --format json")) == [
        {"name": "b", "version": "2.0"}
    ]
    assert output(box, "pip list --user -q").startswith("Package Version\n")


def test_show(box: Sandbox) -> None:
    output(box, "pip install -q a")
    assert output(box, "pip show B nope a numpy") == (
        "Name: b\nVersion: 2.0\nSummary: \nHome-page: \nAuthor: \nAuthor-email: \nLicense: \n"
        f"Location: {SITE}\nRequires: \nRequired-by: a\n---\n"
        "Name: a\nVersion: 1.0\nSummary: \nHome-page: \nAuthor: \nAuthor-email: \nLicense: \n"
        f"Location: {SITE}\nRequires: b\nRequired-by: \n---\n"
        "Name: numpy\nVersion: 2.5.2\nSummary: \nHome-page: \nAuthor: \nAuthor-email: \n"
        "License: \nLocation: /usr/local/lib/python315.zip\nRequires: \nRequired-by: \n"
        "WARNING: Package(s) not found: nope\n"
    )
    assert output(box, "pip show -f b").endswith(
        "Files:\n  b-2.0.dist-info/INSTALLER\n  b-2.0.dist-info/METADATA\n"
        "  b-2.0.dist-info/RECORD\n  b-2.0.dist-info/WHEEL\n  b.py\n"
    )


def test_packages_of_the_runtime_are_listed_and_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / file_name("b")
    path.write_bytes(wheel("b"))
    shelf = Shelf().add("b", "2.0")
    with Sandbox(commands=pip_commands(Packages([path], shelf))) as sandbox:
        assert output(sandbox, "pip install b").endswith(
            "already satisfied: b in /usr/local/lib/python3.15/site-packages (1.0)\n"
        )
        assert "Cannot uninstall b 1.0" in output(sandbox, "pip uninstall -y b", 1)
        assert output(sandbox, "pip install -U b").endswith("Successfully installed b-2.0\n")
        assert output(sandbox, "pip freeze") == "b==2.0\n"
        assert output(sandbox, "pip uninstall -qy b; pip freeze") == "b==1.0\n"


def test_packages_that_cannot_be_used_are_told(tmp_path: Path) -> None:
    with Sandbox(commands=pip_commands(Packages([tmp_path / "gone.whl"]))) as sandbox:
        assert "cannot be read: No such file" in output(sandbox, "pip list", 1)


# like pip


def test_it_installs_the_files_that_pip_installs(tmp_path: Path) -> None:
    pytest.importorskip("pip")
    data = wheel(
        files={
            "demo/__init__.py": "def main(): ...\n",
            "demo/data.bin": bytes(range(256)),
            "demo-1.0.data/scripts/run": "#!python -u\nprint(1)\n",
            "demo-1.0.data/scripts/plain": "#!/bin/sh\necho 1\n",
            "demo-1.0.data/data/share/demo.txt": "text\n",
            "demo-1.0.data/purelib/pure.py": "",
        },
        scripts={"demo": "demo:main"},
    )
    path = tmp_path / file_name()
    path.write_bytes(data)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile",
         "--disable-pip-version-check", "--target", str(tmp_path / "t"), str(path)],
        check=True, capture_output=True,
    )  # fmt: skip
    real = {
        found.relative_to(tmp_path / "t").as_posix(): found.read_bytes()
        for found in (tmp_path / "t").rglob("*")
        if found.is_file()
    }
    commands = pip_commands(Packages())
    with Sandbox(commands=commands, files={f"/workspace/{file_name()}": data}) as sandbox:
        output(sandbox, f"pip install -q --no-warn-script-location --target t {file_name()}")
        ours = {
            name.removeprefix("t/"): sandbox.fs.read_bytes(f"/workspace/{name}")
            for name in output(sandbox, "find t -type f").split()
        }
    for files in (real, ours):
        for name in ("bin/run", "bin/demo", "demo-1.0.dist-info/RECORD"):
            assert name in files
        assert files.pop("bin/run").endswith(b"print(1)\n")
        del files["bin/demo"], files["demo-1.0.dist-info/RECORD"]
        files.pop("demo-1.0.dist-info/direct_url.json", None)
    assert ours == real


# limits


def test_many_packages_draw_on_the_budget() -> None:
    shelf = Shelf()
    for number in range(60):
        shelf.add(f"p{number}", requires=[f"p{number + 1}"] if number < 59 else [])
    commands = pip_commands(Packages(index=shelf))
    with Sandbox(commands=commands) as sandbox:
        assert "p59-1.0" in output(sandbox, "pip install p0")
    with Sandbox(commands=commands, limits=Limits(steps=2000)) as sandbox:
        assert sandbox.execute("pip install p0").limit == "steps"
        assert output(sandbox, "echo next") == "next\n"


def test_requirements_without_an_end_are_limited() -> None:
    def index(name: str) -> list[Wheelfile]:
        number = int(name.removeprefix("p"))
        made = wheel(name, requires=[f"p{number + 1}"])
        return [offered(file_name(name), made)]

    commands = pip_commands(Packages(index=index))
    with Sandbox(commands=commands, limits=Limits(timeout=0.5)) as sandbox:
        assert sandbox.execute("pip install p0").limit in ("timeout", "steps")
        assert output(sandbox, "echo next") == "next\n"


def test_circles_of_requirements_end() -> None:
    shelf = Shelf().add("a", requires=["b"]).add("b", requires=["a"])
    with Sandbox(commands=pip_commands(Packages(index=shelf))) as sandbox:
        assert "Successfully installed a-1.0 b-1.0" in output(sandbox, "pip install a")


def test_one_factory_serves_sandboxes_in_threads(shelf: Shelf, library: Path) -> None:
    commands = pip_commands(Packages(["pytest"], shelf, library))
    said: list[str] = []

    def work() -> None:
        with Sandbox(commands=commands) as sandbox:
            sandbox.execute("pip install -q a")
            said.append(sandbox.execute("pip freeze").stdout)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 4
    assert len(set(said)) == 1
    assert "pytest==" in said[0]


def test_runtimes_do_not_share_what_they_offer(shelf: Shelf) -> None:
    with (
        Sandbox(commands=pip_commands(Packages(index=shelf))) as one,
        Sandbox(commands=pip_commands(Packages())) as other,
    ):
        assert "Successfully" in output(one, "pip install b")
        assert "no package index" in output(other, "pip install b", 1)
