"""Native code in the cache: what is loaded, and what is refused with a sentence."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("wasmtime")

import wasmtime

from agentsandbox.wasm.engine import (
    Compiled,
    Engine,
    UnavailableError,
    compile_module,
    compiled_path,
    engine_of_process,
)
from tests.wasm.programs import module, sandbox_for


@pytest.fixture
def place(tmp_path: Path) -> Compiled:
    wasm = tmp_path / "small.wasm"
    wasm.write_bytes(module("(i32.const 3)"))
    found = compiled_path(tmp_path / "cache", "0" * 64)
    compile_module(wasm, found)
    return found


def test_compiled_code_is_private_and_loads(place: Compiled) -> None:
    assert place.path.parent.stat().st_mode & 0o777 == 0o700
    assert place.path.stat().st_mode & 0o777 == 0o600
    assert isinstance(Engine(signals=True).load(place), wasmtime.Module)


def refusal(place: Compiled) -> str:
    with pytest.raises(UnavailableError) as caught:
        Engine(signals=True).load(place)
    return str(caught.value)


# TM-GUEST-5
def test_code_that_others_can_write_is_refused(place: Compiled) -> None:
    place.path.chmod(0o666)
    assert refusal(place).endswith("can be written by other users")


def test_a_folder_that_others_can_write_is_refused(place: Compiled) -> None:
    place.path.parent.chmod(0o777)
    assert "can be written by other users" in refusal(place)


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_code_of_another_user_is_refused(place: Compiled) -> None:
    os.chown(place.path, 12345, 12345)
    assert refusal(place).endswith("belongs to another user")


def test_code_behind_a_link_is_refused(place: Compiled, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    place.path.rename(moved)
    place.path.symlink_to(moved)
    assert refusal(place).endswith("is not a regular file")


# TM-GUEST-5
def test_changed_code_is_refused(place: Compiled) -> None:
    data = bytearray(place.path.read_bytes())
    data[len(data) // 2] ^= 1
    place.path.write_bytes(data)
    os.utime(place.path, ns=(0, 0))
    assert refusal(place).endswith("was changed after it was compiled")


def test_copied_code_is_read_once_and_accepted(place: Compiled) -> None:
    os.utime(place.path, ns=(5, 5))
    assert Engine(signals=True).load(place)
    assert '"mtime_ns": 5' in place.note.read_text()


@pytest.mark.parametrize("note", ["", "{}", "[]", '{"sha256": 1}', "\0"])
def test_a_damaged_note_is_refused(place: Compiled, note: str) -> None:
    place.note.write_text(note)
    assert refusal(place).endswith("is damaged")


def test_code_of_another_wasmtime_is_refused(place: Compiled) -> None:
    data = b"not native code"
    place.path.write_bytes(data)
    place.note.unlink()
    assert refusal(place).endswith("is not there")


def test_a_file_that_is_no_webassembly(tmp_path: Path) -> None:
    wasm = tmp_path / "bad.wasm"
    wasm.write_bytes(b"hello")
    with pytest.raises(UnavailableError, match=r"bad\.wasm cannot be compiled"):
        compile_module(wasm, compiled_path(tmp_path / "cache", "0" * 64))


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    wasm = tmp_path / "small.wasm"
    wasm.write_bytes(module("(i32.const 3)"))
    code = f"""
import resource, pathlib
from agentsandbox.wasm.engine import *
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    folder = pathlib.Path({str(tmp_path)!r}) / "c"
    compile_module(pathlib.Path({str(wasm)!r}), compiled_path(folder, "0" * 64))
except UnavailableError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "cannot be written: File too large" in done.stdout
    assert list((tmp_path / "c").iterdir()) == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 100


# TM-GUEST-4
def test_faulthandler_after_the_first_guest_is_noticed() -> None:
    code = """
import faulthandler
from tests.wasm.programs import module, sandbox_for
sandbox = sandbox_for(module("(i32.const 3)"))
print(sandbox.execute("guest").exit_code)
faulthandler.enable()
try:
    print(sandbox.execute("guest"))
except Exception as error:
    print(type(error).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert lines[0] == "3"
    assert "3" not in lines[1:]


def test_faulthandler_before_the_first_guest_is_fine() -> None:
    code = """
import faulthandler
faulthandler.enable()
from tests.wasm.programs import module, sandbox_for
print(sandbox_for(module("(i32.const 3)")).execute("guest").exit_code)
print(sandbox_for(module("unreachable")).execute("guest").exit_code)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "3\n134\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_a_fork_has_its_own_engine(place: Compiled, tmp_path: Path) -> None:
    loop = tmp_path / "loop.wasm"
    loop.write_bytes(module("(loop $l (br $l)) (i32.const 0)"))
    endless = compiled_path(place.path.parent, "1" * 64)
    compile_module(loop, endless)
    engine = engine_of_process()
    assert sandbox_for(engine.load(place)).execute("guest").exit_code == 3
    pid = os.fork()
    if pid == 0:  # it loads modules; to compile one it would need the threads of its parent
        own = engine_of_process()
        result = sandbox_for(own.load(endless)).execute("guest", timeout=0.2)
        os._exit(0 if own is not engine and result.limit == "timeout" else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert engine_of_process() is engine
