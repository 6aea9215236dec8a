"""Zip archives, read by scripts and by the host."""

from __future__ import annotations

import io
import zipfile

from agentsandbox.errors import ArchiveError
from tests.fuzz.judge import judged, judged_script, sandbox_with
from tests.fuzz.target import Target
from tests.fuzz.targets.tar import check_whole

SCRIPT = """unzip -l a; unzip -t a; unzip -Z -v a | head -c 2000; unzip -o a -d x; unzip -p a | head -c 9; unzip -jo a -d y; zip -T a; zip a f; zip -d a f; zip -r b x; zip -F a --out c
bsdtar tf a; zipgrep a a; funzip a | head -c 9; ls -lR > list"""

WORDS = (
    b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07", b"PK\x07\x08", b"\xff\xff\xff\xff", b"\xff\xff",
    b"\x01\x00\x10\x00", b"up", b"UT", b"ux", b"../", b"/", b"\\", b"\x08\x00", b"\x00\x08", b"\x09\x00", b"\x0c\x00", b"\x0e\x00", b"\x63\x00",
)  # fmt: skip


def archive(method: int, *, comment: bytes = b"") -> bytes:
    """Return an archive with a file, a directory and a link."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        made.comment = comment
        stamp = (2024, 2, 29, 12, 0, 0)
        made.writestr(zipfile.ZipInfo("d/a", stamp), b"text\n" * 20, method)
        made.writestr(zipfile.ZipInfo("d/", stamp), b"")
        link = zipfile.ZipInfo("l", stamp)
        link.create_system, link.external_attr = 3, 0o120777 << 16
        made.writestr(link, b"d/a")
        made.writestr(zipfile.ZipInfo("é", stamp), b"")
    return out.getvalue()


def run(data: bytes) -> None:
    sandbox = sandbox_with({})
    judged(lambda: sandbox.files.import_archive(data, "imported"), (OSError, ArchiveError))
    check_whole(sandbox.fs)
    sandbox.close()
    judged_script(sandbox_with({"a": data, "f": b"x\n"}), SCRIPT)


TARGET = Target(
    "zip",
    run,
    lambda count: [
        archive(zipfile.ZIP_STORED), archive(zipfile.ZIP_DEFLATED, comment=b"hello"),
        archive(zipfile.ZIP_BZIP2), archive(zipfile.ZIP_LZMA),
    ],
    WORDS,
)  # fmt: skip
