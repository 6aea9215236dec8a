"""Archives that other programs made: `tar` writes GNU's format and reads those of POSIX too."""

from __future__ import annotations

import io
import tarfile

import pytest

from agentsandbox import Sandbox

_LONG = "d" * 90 + "/" + "é" * 60 + "/" + "f" * 90


def _archive(form: int, name: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        member = tarfile.TarInfo(name)
        member.size, member.mtime = 3, 1_700_000_000
        archive.addfile(member, io.BytesIO(b"ok\n"))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("form", "name"),
    [
        (tarfile.GNU_FORMAT, _LONG),
        (tarfile.USTAR_FORMAT, _LONG.replace("é", "e")),
        (tarfile.PAX_FORMAT, _LONG),
    ],
)
def test_long_names_are_read_in_every_format(form: int, name: str) -> None:
    sandbox = Sandbox(files={"/tmp/a.tar": _archive(form, name)})
    result = sandbox.execute(f"cd /tmp; tar tf a.tar; tar xf a.tar; cat {name}; stat -c %Y {name}")
    assert (result.stdout, result.stderr) == (f"{name}\nok\n1700000000\n", "")


def test_exclude_tag_all_leaves_the_directory_out() -> None:
    result = Sandbox().execute("mkdir -p d/e; touch d/a d/e/T; tar c --exclude-tag-all=T d | tar t")
    assert (result.stdout, result.exit_code) == ("d/\nd/a\n", 0)
