"""What an archive cannot make `unzip` do."""

from __future__ import annotations

import io
import zipfile

import pytest

from agentsandbox import Sandbox


# TM-MOUNT-6
@pytest.mark.parametrize("name", ["../x", "/../x", "a/../../x", ".\1./x", "..\x7f/x", "/x"])
def test_a_member_stays_in_the_directory(name: str) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(name, "evil")
    with Sandbox() as sandbox:
        sandbox.fs.write_bytes("/tmp/z.zip", data.getvalue())
        sandbox.execute("mkdir -p /tmp/in/side; cd /tmp/in/side; unzip -o /tmp/z.zip")
        found = sandbox.execute("find /tmp/in /x -name x 2>/dev/null").stdout
    assert found in ("/tmp/in/side/x\n", "/tmp/in/side/a/x\n")
