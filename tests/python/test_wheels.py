"""Wheels: what is read, what is refused and in which words; where wheels come from."""

from __future__ import annotations

import asyncio
import hashlib
import stat
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from packaging.requirements import Requirement

from agentsandbox import Limits, Sandbox
from agentsandbox.python.index import Packages, Wheelfile
from agentsandbox.python.pip import pip_commands
from agentsandbox.python.wheels import (
    Wheel,
    WheelError,
    applies,
    parse_requirement,
    read_name,
    read_record,
)
from tests.python.wheel_factory import (
    Shelf,
    digest_of,
    file_name,
    metadata,
    offered,
    wheel,
    zipped,
)


def wait(awaitable: object) -> object:
    return asyncio.run(awaitable)  # type: ignore[arg-type]


def read(data: bytes, name: str = "demo-1.0-py3-none-any.whl") -> Wheel:
    made = Wheel(name, data)
    made.verify()
    return made


def link(name: str, kind: int = stat.S_IFLNK) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (kind | 0o777) << 16
    return info


def test_a_wheel_says_what_it_is() -> None:
    made = read(
        wheel(
            files={"demo/__init__.py": "x = 1\n", "demo/data.txt": "…"},
            requires=["other>=2", "extra-only; extra == 'x'", "old; python_version < '3'"],
            scripts={"demo": "demo:main", "demo-2": "demo.cli:App.run [x]"},
            extra="Requires-Python: >=3.9\nSummary: A demo\n",
        )
    )
    assert (made.name, str(made.version), made.title) == ("demo", "1.0", "demo")
    assert [one.name for one in made.requires] == ["other", "extra-only", "old"]
    assert [one.name for one in made.requires if applies(one)] == ["other"]
    assert [one.name for one in made.requires if applies(one, ["x"])] == ["other", "extra-only"]
    assert made.console_scripts == {"demo": ("demo", "main"), "demo-2": ("demo.cli", "App.run")}
    assert str(made.requires_python) == ">=3.9"
    assert made.headers["Summary"] == "A demo"
    contents = {one.path: b"".join(made.blocks(one)) for one in made.files}
    assert contents["demo/data.txt"] == "…".encode()
    assert set(contents) == {
        "demo/__init__.py",
        "demo/data.txt",
        *(f"demo-1.0.dist-info/{one}" for one in ("METADATA", "WHEEL", "RECORD")),
        "demo-1.0.dist-info/entry_points.txt",
    }


def test_files_go_to_four_roots() -> None:
    data = {
        "demo.py": "",
        "demo-1.0.data/purelib/pure.py": "",
        "demo-1.0.data/platlib/plat.py": "",
        "demo-1.0.data/scripts/run": "#!python\n",
        "demo-1.0.data/headers/demo.h": "",
        "demo-1.0.data/data/share/demo.txt": "",
    }
    placed = {(one.root, one.path) for one in read(wheel(files=data)).files}
    assert {
        ("site", "demo.py"), ("site", "pure.py"), ("site", "plat.py"), ("scripts", "run"),
        ("headers", "demo.h"), ("data", "share/demo.txt"),
    } <= placed  # fmt: skip


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("demo-1.0-cp315-cp315-linux_x86_64.whl", "has native code (cp315-cp315-linux_x86_64)"),
        ("demo-1.0-py3-none-manylinux_2_17_x86_64.whl", "has native code"),
        ("demo-1.0-cp315-abi3-any.whl", "has native code"),
        ("demo-1.0-py2-none-any.whl", "is for another Python (py2-none-any)"),
        ("demo-1.0-py316-none-any.whl", "is for another Python"),
        ("demo.whl", "is not the name of a wheel"),
        ("demo-1.0.tar.gz", "is not the name of a wheel"),
        ("demo-x-py3-none-any.whl", "is not the name of a wheel"),
        ("../demo-1.0-py3-none-any.whl", "is not the name of a wheel"),
        ("demo-1.0-py3-none-any.whl\n", "is not the name of a wheel"),
        (f"demo-{'1' * 5000}-py3-none-any.whl", "is not the name of a wheel"),
        ("other-1.0-py3-none-any.whl", "is that of another wheel"),
        ("demo-2.0-py3-none-any.whl", "is that of another wheel"),
    ],
)
def test_names_that_are_refused(name: str, says: str) -> None:
    with pytest.raises(WheelError) as caught:
        read(wheel(), name)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert name[:4] in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["py3-none-any", "py2.py3-none-any", "py315-none-any", "cp315-none-any", "py30-none-any"],
)
def test_names_that_the_guest_can_use(name: str) -> None:
    assert read_name(f"demo-1.0-{name}.whl").problem() is None


HOSTILE = {
    "../evil.py": "is not a path inside the wheel",
    "demo/../../evil.py": "is not a path inside the wheel",
    "/etc/passwd": "is not a path inside the wheel",
    "//evil.py": "is not a path inside the wheel",
    "demo//x.py": "is not a path inside the wheel",
    "./evil.py": "is not a path inside the wheel",
    "demo/./x.py": "is not a path inside the wheel",
    "..": "is not a path inside the wheel",
    "../": "is not a path inside the wheel",
    "..\\evil.py": "is not a path inside the wheel",
    "C:evil.py": "is not a path inside the wheel",
    "evil\n.py": "is not a path inside the wheel",
    "evil\x1b[2J.py": "is not a path inside the wheel",
    "x" * 300 + ".py": "is not a path inside the wheel",
    "d/" * 600 + "x.py": "is not a path inside the wheel",
    "demo/fast.so": "has native code (demo/fast.so)",
    "demo/fast.cpython-315-x86_64-linux-gnu.so": "has native code",
    "demo.libs/libz.so.1": "has native code",
    "demo/fast.PYD": "has native code",
    "demo/fast.dylib": "has native code",
    "demo/fast.dll": "has native code",
    "other-1.0.dist-info/RECORD": "it has demo-1.0.dist-info and other-1.0.dist-info",
    "other-1.0.data/scripts/ls": "other-1.0.data belongs to another wheel",
    "demo-1.0.data/evil/x": "has no place to go to",
    "demo-1.0.data/scripts/a/b": "is in a directory",
    "demo.py/x": "it has 'demo.py' twice",
    "demo-1.0.data/purelib/demo.py": "it has 'demo.py' twice",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_members_that_are_refused(name: str) -> None:
    with pytest.raises(WheelError) as caught:
        read(wheel(more=[(name, b"")]))
    assert HOSTILE[name] in str(caught.value)
    assert str(caught.value).startswith("demo-1.0-py3-none-any.whl ")
    assert "\n" not in str(caught.value)


def test_a_nul_in_a_name_is_no_end_of_the_name() -> None:
    for name in (b"evil\0.py", b"\0vilA.py"):
        data = wheel(more=[("evilA.py", b"")]).replace(b"evilA.py", name)
        with pytest.raises(WheelError, match="is not a path inside the wheel"):
            read(data)


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (stat.S_IFLNK, "is a symbolic link"),
        (stat.S_IFIFO, "is a special file"),
        (stat.S_IFCHR, "is a special file"),
        (stat.S_IFSOCK, "is a special file"),
    ],
)
def test_links_and_devices_are_refused(kind: int, says: str) -> None:
    with pytest.raises(WheelError, match=says):
        read(wheel(more=[(link("demo_link", kind), b"/etc/passwd")]))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_twice_is_refused() -> None:
    with pytest.raises(WheelError, match=r"'demo.py' is in it twice"):
        read(wheel(more=[("demo.py", b"other")], listed=False))


def test_other_methods_and_encryption_are_refused() -> None:
    info = zipfile.ZipInfo("demo/big.txt")
    info.compress_type = zipfile.ZIP_BZIP2
    with pytest.raises(WheelError, match="another method than deflate"):
        read(wheel(more=[(info, b"x" * 1000)]))
    data = bytearray(wheel(more=[("last.py", b"x")]))
    start = data.index(b"PK\x01\x02")
    data[start + 8] |= 1
    with pytest.raises(WheelError, match="is encrypted"):
        read(bytes(data))


# TM-GUEST-6
def test_bombs_are_refused_before_they_are_unpacked() -> None:
    zeros = bytes(16 << 20)
    files = {f"z{number}.bin": zeros for number in range(17)}
    with pytest.raises(WheelError, match="unpacks to more than 256 MiB"):
        read(wheel(files=files))


def test_a_size_that_is_a_lie_is_found() -> None:
    """The directory says 10 bytes, and the data unpacks to a megabyte."""
    big = b"a" * (1 << 20)
    data = bytearray(zipped([("demo.py", big)]))
    entry = data.index(b"PK\x01\x02")
    for place in (entry + 24, 22):
        data[place : place + 4] = (10).to_bytes(4, "little")
    for place in (entry + 16, 14):
        data[place : place + 4] = zlib.crc32(b"a" * 10).to_bytes(4, "little")
    with pytest.raises(WheelError):
        read(bytes(data))


def test_data_that_unpacks_to_nothing_is_refused() -> None:
    """Empty deflate blocks take time and give no bytes: nobody's budget would see them."""
    empty = b"\x00\x00\x00\xff\xff" * 100_000 + b"\x01\x00\x00\xff\xff"
    data = bytearray(wheel(more=[(zipfile.ZipInfo("slow.py"), empty)]))
    for sign, place in ((b"PK\x01\x02", 10), (b"PK\x03\x04", 8)):
        at = data.index(b"slow.py", data.index(sign)) if sign == b"PK\x03\x04" else -1
        at = data.rindex(b"slow.py") - 46 if at < 0 else data.index(b"slow.py") - 30
        data[at + place : at + place + 2] = (8).to_bytes(2, "little")
        size = at + (24 if sign == b"PK\x01\x02" else 22)
        data[size : size + 4] = bytes(4)
    with pytest.raises(WheelError, match="is larger packed than unpacked"):
        read(bytes(data))


def test_a_directory_of_too_many_entries_is_not_read() -> None:
    many = zipped([(f"directory/of/a/package/module_{number}.py", b"") for number in range(20_000)])
    with pytest.raises(WheelError, match="too many entries"):
        read(many)


@pytest.mark.parametrize(
    ("replace", "says"),
    [
        ({"RECORD": None}, "it has no demo-1.0.dist-info/RECORD"),
        ({"WHEEL": None}, "it has no demo-1.0.dist-info/WHEEL"),
        ({"METADATA": None}, "it has no demo-1.0.dist-info/METADATA"),
        ({"RECORD": b"\n"}, "its RECORD has no digest for demo.py"),
        ({"RECORD": b"demo.py,md5=aaaa,1\n"}, "its RECORD uses 'md5', not sha256"),
        ({"RECORD": b"demo.py,sha1=aaaa,1\n"}, "its RECORD uses 'sha1', not sha256"),
        ({"RECORD": b"demo.py,,\n"}, "its RECORD has no digest for demo.py"),
        ({"RECORD": b"demo.py,sha256=aa,\ndemo.py,sha256=aa,\n"}, "lists 'demo.py' twice"),
        ({"RECORD": b"demo.py,sha256=\xff\xff,\n"}, "its RECORD cannot be read"),
        ({"RECORD": b'"' + b"x" * 200_000}, "its RECORD cannot be read"),
        ({"RECORD": b"demo.py,sha256=a,\n"}, "its RECORD cannot be read"),
        ({"WHEEL": b"Wheel-Version: 2.0\n"}, "its Wheel-Version is '2.0', not 1.x"),
        ({"WHEEL": b""}, "its Wheel-Version is '', not 1.x"),
        ({"METADATA": metadata("other", "1.0")}, "its METADATA is that of 'other' '1.0'"),
        ({"METADATA": metadata("demo", "9")}, "its METADATA is that of 'demo' '9'"),
        ({"METADATA": b"\x00\xff"}, "its METADATA is that of 'None' 'None'"),
        ({"METADATA": metadata("demo", "1.0", ["no such thing!"])}, "Invalid requirement"),
        ({"METADATA": metadata("demo", "1.0", ["a; " + "(" * 99])}, "too deeply nested"),
        ({"METADATA": metadata("demo", "1.0", ["a"] * 3000)}, "it has 3000 requirements"),
        ({"METADATA": metadata("demo", "1.0", extra="Requires-Python: x\n")}, "Requires-Python"),
        ({"METADATA": metadata("demo", "1.0") + b"x" * (2 << 20)}, "bytes"),
        ({"entry_points.txt": b"[console_scripts]\n../x = a:b\n"}, "is not a program"),
        ({"entry_points.txt": b"[console_scripts]\na/b = a:b\n"}, "is not a program"),
        ({"entry_points.txt": b"[console_scripts]\n-x = a:b\n"}, "is not a program"),
        ({"entry_points.txt": b"[console_scripts]\nx = a:b();evil\n"}, "is not a program"),
        ({"entry_points.txt": b"[console_scripts]\nx = a\n"}, "is not a program"),
        ({"entry_points.txt": b"[x]\na" + b" " * 5000 + b"b\n"}, "is too long"),
        ({"entry_points.txt": b"no section\n"}, "its entry_points.txt cannot be read"),
    ],
)
def test_bad_metadata_is_refused(replace: dict[str, bytes | None], says: str) -> None:
    with pytest.raises(WheelError) as caught:
        read(wheel(replace=replace))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_wrong_digests_are_found() -> None:
    good = f"demo.py,{digest_of(b'something else')},5\n"
    for name in ("METADATA", "WHEEL"):
        good += f"demo-1.0.dist-info/{name},sha256=aaaa,\n"
    made = Wheel("demo-1.0-py3-none-any.whl", wheel(replace={"RECORD": good.encode()}))
    with pytest.raises(WheelError, match=r"demo\.py does not have the digest that RECORD gives"):
        made.verify()


def test_files_that_record_does_not_know_and_the_other_way_round() -> None:
    with pytest.raises(WheelError, match=r"its RECORD has no digest for extra\.py"):
        read(wheel(more=[("extra.py", b"")], listed=False))
    lines = "".join(
        f"{name},{digest_of(b'')},0\n"
        for name in (
            "demo.py",
            "gone.py",
            "demo-1.0.dist-info/METADATA",
            "demo-1.0.dist-info/WHEEL",
        )
    )
    with pytest.raises(WheelError, match=r"RECORD lists gone\.py, which is not in it"):
        read(wheel(replace={"RECORD": lines.encode()}))


def test_stronger_digests_are_read() -> None:
    assert read_record("a,sha512=AAAA,1\nb,,\n", "x") == {
        "a": ("sha512", b"\0\0\0"),
        "b": ("", b""),
    }


def test_no_zip_file_and_damaged_ones() -> None:
    for data in (b"", b"PK", b"no zip file", wheel()[:-10], b"\0" * 70_000):
        with pytest.raises(WheelError, match=r"is damaged or no zip file .* get the wheel again"):
            read(data)


@given(st.data())
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_changed_bytes_never_raise_anything_else(data: st.DataObject) -> None:
    made = bytearray(wheel(scripts={"demo": "demo:main"}, requires=["a>1"]))
    for _ in range(data.draw(st.integers(1, 8))):
        made[data.draw(st.integers(0, len(made) - 1))] = data.draw(st.integers(0, 255))
    try:
        read(bytes(made))
    except WheelError as error:
        assert str(error).startswith("demo-1.0-py3-none-any.whl ")


NAMES = st.lists(
    st.sampled_from(["..", ".", "", "demo", "a.py", "demo-1.0.data", "scripts", "data", "purelib",
                     "headers", "bin", "lib", "python3.15", "site-packages", "~", "$HOME", "x\\y",
                     "demo-1.0.dist-info", "RECORD", "INSTALLER", "etc", "\u2025", "a\0b"]),
    min_size=1, max_size=7,
).map("/".join).filter(bool)  # fmt: skip


# TM-GUEST-6
@given(
    names=st.lists(st.tuples(NAMES, st.booleans()), max_size=4),
    programs=st.lists(NAMES, max_size=2),
    target=st.sampled_from(["", "--target /workspace/t"]),
)
@settings(max_examples=150, deadline=None)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_no_wheel_writes_outside_its_target(
    names: list[tuple[str, bool]], programs: list[str], target: str
) -> None:
    """However the members are called and linked, all that changes is below the target."""
    more: list[tuple[str | zipfile.ZipInfo, bytes]] = [
        (link(name) if linked else name, b"/etc") for name, linked in names
    ]
    made = wheel(more=more, scripts=dict.fromkeys(programs, "demo:main") or None)
    with Sandbox(
        commands=pip_commands(Packages()), files={"/workspace/w/demo-1.0-py3-none-any.whl": made}
    ) as sandbox:
        before = sandbox.execute("find / -path /proc -prune -o -print 2>/dev/null").stdout
        result = sandbox.execute(f"pip install -q {target} w/demo-1.0-py3-none-any.whl")
        after = sandbox.execute("find / -path /proc -prune -o -print 2>/dev/null").stdout
    root = "/workspace/t" if target else "/home/agent/.local"
    new = set(after.splitlines()) - set(before.splitlines())
    assert set(before.splitlines()) <= set(after.splitlines())
    assert all(path == root or path.startswith(f"{root}/") for path in new), new
    assert result.exit_code == 0 or not new, result.stderr
    assert "Traceback" not in result.stderr


# requirements


def test_requirements_are_bounded() -> None:
    assert parse_requirement("A[x,y]>=1; python_version > '3'").name == "A"
    for text in ("", "a b", "a" * 3000, "a; " + "(" * 20 + "x", "-e .", f"a=={'1' * 1500}.x"):
        with pytest.raises(ValueError, match=r"requirement|Invalid"):
            parse_requirement(text)


@pytest.mark.parametrize(
    ("marker", "holds"),
    [
        ("python_version == '3.15'", True),
        ("python_full_version >= '3.15.0'", True),
        ("sys_platform == 'linux'", True),
        ("platform_machine == 'x86_64'", False),
        ("platform_system == 'Windows'", False),
        ("os_name == 'posix' and implementation_name == 'cpython'", True),
        ("python_version < '3.11' or extra == 'x'", False),
    ],
)
def test_markers_are_those_of_the_guest(marker: str, holds: bool) -> None:
    assert applies(Requirement(f"a; {marker}")) is holds


# indexes


def test_a_folder_is_an_index(tmp_path: Path) -> None:
    (tmp_path / file_name()).write_bytes(wheel())
    (tmp_path / "Demo").mkdir()
    (tmp_path / "Demo" / file_name("demo", "2.0")).write_bytes(wheel(version="2.0"))
    (tmp_path / "Demo" / "note.txt").write_text("x")
    (tmp_path / file_name("other")).write_bytes(wheel("other"))
    packages = Packages(index=tmp_path)
    found = packages.find("demo", wait)
    assert [one.name for one in found] == [file_name(), file_name("demo", "2.0")]
    assert packages.fetch(found[1], wait) == wheel(version="2.0")
    assert packages.find("none", wait) == []


def test_a_folder_with_sums_vouches_for_what_it_lists(tmp_path: Path) -> None:
    data = wheel()
    (tmp_path / file_name()).write_bytes(data)
    (tmp_path / file_name("demo", "2.0")).write_bytes(wheel(version="2.0"))
    (tmp_path / "SHA256SUMS").write_text(f"{hashlib.sha256(data).hexdigest()}  {file_name()}\n")
    packages = Packages(index=str(tmp_path))
    good, unlisted = packages.find("demo", wait)
    assert packages.fetch(good, wait) == data
    with pytest.raises(WheelError, match="does not have the digest that the index gives"):
        packages.fetch(unlisted, wait)
    (tmp_path / file_name()).write_bytes(wheel(files={"demo.py": "evil"}))
    with pytest.raises(WheelError, match="does not have the digest that the index gives"):
        packages.fetch(packages.find("demo", wait)[0], wait)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WheelError, match=r"cannot be read \(No such file or directory\)"):
        Packages(index=tmp_path / "gone").find("demo", wait)


def test_functions_are_indexes() -> None:
    shelf = Shelf().add("demo")
    packages = Packages(index=shelf)
    assert packages.fetch(packages.find("demo", wait)[0], wait) == wheel()

    async def late(name: str) -> list[Wheelfile]:
        async def data() -> bytes:
            return wheel()

        return [Wheelfile(file_name(), data, hashlib.sha256(wheel()).hexdigest())]

    packages = Packages(index=late)
    assert packages.fetch(packages.find("demo", wait)[0], wait) == wheel()


def test_what_a_function_of_the_host_does_wrong_is_one_line() -> None:
    def fails(name: str = "") -> bytes:
        raise KeyError("/host/secret")

    with pytest.raises(WheelError, match=r"The index of the sandbox failed for x: KeyError$"):
        Packages(index=fails).find("x", wait)  # type: ignore[arg-type]
    with pytest.raises(WheelError, match="returned int for x"):
        Packages(index=lambda name: 5).find("x", wait)  # type: ignore[arg-type]
    with pytest.raises(WheelError, match="returned list for x, not a sequence of Wheelfile"):
        Packages(index=lambda name: ["a"]).find("x", wait)  # type: ignore[arg-type]
    for data, says in ((fails, "failed for a.whl: KeyError"), (lambda: "text", "returned str")):
        with pytest.raises(WheelError, match=says):
            Packages().fetch(Wheelfile("a.whl", data, "0" * 64), wait)  # type: ignore[arg-type]


def test_a_digest_that_does_not_match_is_refused() -> None:
    with pytest.raises(WheelError, match=r"a\.whl is refused: it does not have the digest"):
        Packages().fetch(Wheelfile("a.whl", b"x", "0" * 64), wait)


@pytest.mark.parametrize(
    "arguments",
    [
        {"packages": "pytest"},
        {"packages": [5]},
        {"index": 5},
        {"index": ["a"]},
    ],
)
def test_values_of_other_types_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="takes"):
        Packages(**arguments)  # type: ignore[arg-type]
    for parts in (("a", "text", "0"), (5, b"", "0"), ("a", b"", None)):
        with pytest.raises(TypeError):
            Wheelfile(*parts)


# packages of the host


def test_pytest_is_a_package_with_what_it_requires() -> None:
    packages = Packages(["pytest"])
    files = packages.files()
    assert {one.name for one in packages.mounted()} >= {"pytest", "pluggy", "iniconfig", "pygments"}
    assert b"def " in files["_pytest/config/__init__.py"]
    assert not [path for path in files if path.startswith(("/", "..")) or path.endswith(".pyc")]
    assert packages.files() is files
    assert packages.programs()["pytest"].startswith("#!/usr/bin/python3\nimport sys\n")


def test_what_the_artifact_has_is_not_mounted_again(tmp_path: Path) -> None:
    library = tmp_path / "python-stdlib.zip"
    library.write_bytes(
        zipped(
            [
                ("os.pyc", b""),
                ("packaging-26.3.dist-info/METADATA", metadata("packaging", "26.3")),
                ("pygments-2.0.dist-info/METADATA", metadata("Pygments", "2.0")),
            ]
        )
    )
    packages = Packages(["pytest"], standard_library=library)
    assert [(one.title, one.version) for one in packages.bundled()] == [
        ("packaging", "26.3"),
        ("Pygments", "2.0"),
    ]
    assert {one.name for one in packages.mounted()} == {"pytest", "pluggy", "iniconfig"}


def test_the_guest_can_run_the_mounted_pytest(tmp_path: Path) -> None:
    """What is given is complete: the host's Python runs it from nothing else."""
    for path, content in Packages(["pytest"]).files().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "test_it.py").write_text("def test_it(): assert 1 + 1 == 2\n")
    script = "import sys; sys.path.insert(0, sys.argv.pop(1)); import pytest; pytest.main()"
    words = [str(tmp_path), "-q", "-p", "no:cacheprovider", str(tmp_path / "test_it.py")]
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, *words],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the host's sys.path, with the distribution `hostdemo` in it."""
    monkeypatch.syspath_prepend(str(tmp_path))
    info = tmp_path / "hostdemo-1.0.dist-info"
    info.mkdir()
    (tmp_path / "hostdemo.py").write_text("x = 1\n")
    (info / "METADATA").write_bytes(metadata("hostdemo", "1.0"))
    rows = [f"hostdemo.py,{digest_of(b'x = 1' + bytes([10]))},6", "hostdemo-1.0.dist-info/RECORD,,"]
    rows.append(f"hostdemo-1.0.dist-info/METADATA,{digest_of(metadata('hostdemo', '1.0'))},")
    rows += ["../../../bin/hostdemo,sha256=x,", "__pycache__/hostdemo.cpython-311.pyc,,"]
    (info / "RECORD").write_text("\n".join(rows))
    return tmp_path


def test_an_installed_distribution_is_taken_by_its_record(site: Path) -> None:
    (site / "stray.py").write_text("not of this distribution")
    assert set(Packages(["HostDemo"]).files()) == {
        "hostdemo.py",
        "hostdemo-1.0.dist-info/RECORD",
        "hostdemo-1.0.dist-info/METADATA",
    }


def test_an_installed_distribution_that_was_changed(site: Path) -> None:
    (site / "hostdemo.py").write_text("x = 2\n")
    with pytest.raises(WheelError, match=r"hostdemo was changed: hostdemo\.py does not have"):
        Packages(["hostdemo"]).files()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("hostdemo.so,sha256=x,", "has native code"),
        ("gone.py,sha256=x,", "lacks gone.py: No such file"),
        ("stray.py,,", "has no digest for stray.py"),
        ("stray.py,md5=x,", "has a md5 digest"),
    ],
)
def test_an_installed_distribution_with_a_bad_record(site: Path, row: str, says: str) -> None:
    (site / "stray.py").write_text("")
    with (site / "hostdemo-1.0.dist-info" / "RECORD").open("a") as file:
        file.write(f"\n{row}\n")
    with pytest.raises(WheelError, match=says):
        Packages(["hostdemo"]).files()


def test_an_editable_installation_is_refused(site: Path) -> None:
    (site / "hostdemo-1.0.dist-info" / "direct_url.json").write_text(
        '{"url": "file:///x", "dir_info": {"editable": true}}'
    )
    with pytest.raises(WheelError, match="is an editable installation: build a wheel"):
        Packages(["hostdemo"]).files()


def test_a_distribution_without_record_and_one_that_is_not_there(site: Path) -> None:
    with pytest.raises(WheelError, match="the package nosuchthing is not installed"):
        Packages(["nosuchthing"]).files()
    (site / "hostdemo-1.0.dist-info" / "METADATA").write_bytes(
        metadata("hostdemo", "1.0", ["nosuchthing>=1"])
    )
    text = (site / "hostdemo-1.0.dist-info" / "RECORD").read_text()
    old, new = (
        digest_of(metadata("hostdemo", "1.0")),
        digest_of(metadata("hostdemo", "1.0", ["nosuchthing>=1"])),
    )
    (site / "hostdemo-1.0.dist-info" / "RECORD").write_text(text.replace(old, new))
    with pytest.raises(WheelError, match="nosuchthing, which hostdemo requires, is not installed"):
        Packages(["hostdemo"]).files()
    (site / "hostdemo-1.0.dist-info" / "RECORD").unlink()
    with pytest.raises(WheelError, match="has no RECORD"):
        Packages(["hostdemo"]).files()


def test_wheels_are_packages(tmp_path: Path) -> None:
    path = tmp_path / file_name()
    path.write_bytes(wheel(scripts={"demo": "demo:main"}))
    packages = Packages([path])
    assert packages.files()["demo.py"] == b"VERSION = '1.0'\n"
    assert set(packages.programs()) == {"demo"}
    assert Packages([str(path)]).files() == packages.files()
    with pytest.raises(WheelError, match="a package of the runtime already"):
        Packages([path, str(path)]).files()
    with pytest.raises(WheelError, match=r"gone\.whl cannot be read: No such file"):
        Packages([tmp_path / "gone.whl"]).files()
    native = tmp_path / "demo-1.0-cp311-cp311-linux_x86_64.whl"
    native.write_bytes(wheel())
    with pytest.raises(WheelError, match="has native code"):
        Packages([native]).files()


def test_two_packages_with_one_file(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / file_name(name)).write_bytes(wheel(name, files={"same.py": ""}))
    with pytest.raises(WheelError, match=r"has a file same\.py, which another package has too"):
        Packages([tmp_path / file_name("one"), tmp_path / file_name("two")]).files()


def test_a_wheel_of_a_build_backend_is_read(tmp_path: Path) -> None:
    """A package built by hatchling, as strangers build theirs."""
    source = tmp_path / "source"
    (source / "src" / "built").mkdir(parents=True)
    (source / "src" / "built" / "__init__.py").write_text("def main(): print('built')\n")
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "Built.Thing"\nversion = "1.2.3"\ndependencies = ["six"]\n'
        '[project.scripts]\nbuilt = "built:main"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["src/built"]\n'
    )
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(tmp_path), "."],
        cwd=source, check=True, capture_output=True,
    )  # fmt: skip
    (path,) = tmp_path.glob("*.whl")
    made = Wheel(path.name, path.read_bytes())
    made.verify()
    assert (made.name, str(made.version)) == ("built-thing", "1.2.3")
    assert made.console_scripts == {"built": ("built", "main")}
    assert [one.name for one in made.requires] == ["six"]


def test_small_limits_hold_while_a_wheel_is_installed() -> None:
    made = wheel(files={"big.txt": b"x" * 3_000_000})
    commands = pip_commands(Packages(index=lambda name: [offered(file_name(), made)]))
    with Sandbox(commands=commands, limits=Limits(file_bytes=1 << 20)) as sandbox:
        result = sandbox.execute("pip install demo; find ~/.local -type f")
        assert "ERROR: Could not install packages due to an OSError: [Errno 27]" in result.stderr
        assert ".py" not in result.stdout.replace("demo-1.0-py3", "")
    with Sandbox(commands=commands, limits=Limits(total_bytes=1 << 20)) as sandbox:
        result = sandbox.execute("pip install demo; find ~/.local -type f")
        assert "[Errno 28] No space left on device" in result.stderr
        assert "big.txt" not in result.stdout
    with Sandbox(commands=commands, limits=Limits(steps=5000)) as sandbox:
        assert sandbox.execute(
            "for i in 1 2 3 4 5 6 7 8 9; do pip install --force-reinstall demo; done"
        ).limit
