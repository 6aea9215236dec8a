"""Filesystems over messages: what a worker sees of a mount is what the contract demands."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from contracts.filesystem import FileSystemContract, number_of
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsandbox.isolation.messages import Message, ProtocolError
from agentsandbox.isolation.mounted import _TYPES, MountedFiles
from agentsandbox.isolation.proxies import Mounts
from agentsandbox.kernel.fs.base import FileSystem
from agentsandbox.kernel.fs.host import HostFileSystem
from agentsandbox.kernel.fs.memory import MemoryFileSystem


def over_messages(filesystem: FileSystem) -> FileSystem:
    """Return the proxy of a filesystem; what passes between them is JSON and bytes."""
    mounted = MountedFiles()

    def ask(kind: str, head: dict[str, Any], *blobs: bytes) -> Message:
        answer = mounted.answer(Message(kind, json.loads(json.dumps(head)), list(blobs)))
        data = answer.pop("data", None)
        return Message("answer", json.loads(json.dumps(answer)), [] if data is None else [data])

    return Mounts(ask).proxy(mounted.number_of(filesystem))


class TestMemory(FileSystemContract):
    depth = 200

    @pytest.fixture
    def fs(self) -> FileSystem:
        return over_messages(MemoryFileSystem())


class TestHost(FileSystemContract):
    depth = 200

    @pytest.fixture
    def fs(self) -> Iterator[FileSystem]:  # type: ignore[override]
        top = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        yield over_messages(HostFileSystem(top, read_only=False))
        shutil.rmtree(top)


    def test_absolute_links_begin_at_the_root(self, fs: FileSystem) -> None:
        """They are refused, as without messages."""
        assert number_of(fs.symlink, "/etc", "/l") == "EPERM"

    def test_all_twelve_bits_are_kept(self, fs: FileSystem) -> None:
        """Nine are, as without messages."""
        fs.write_bytes("/f", b"")
        fs.chmod("/f", 0o7755)
        assert fs.stat("/f").permissions == 0o755


VALUES = st.one_of(
    st.integers(), st.text(max_size=5), st.none(), st.booleans(), st.floats(), st.lists(st.none())
)


@settings(deadline=None)
@given(
    st.sampled_from([*_TYPES, "close", "__class__", "host_folders"]),
    st.lists(VALUES, max_size=4),
    st.one_of(st.integers(-1, 3), VALUES),
    VALUES,
)
def test_a_hostile_request_is_refused_or_an_answer(
    name: str, arguments: list[object], of: object, released: object
) -> None:
    mounted = MountedFiles()
    mounted.number_of(MemoryFileSystem())
    head = {"call": name, "args": arguments, "of": of, "released": released}
    try:
        answer = mounted.answer(Message("mounted", head, [b"x"]))
    except (ProtocolError, ValueError, OverflowError, UnicodeEncodeError):
        return
    assert isinstance(answer, dict)
