"""Archives of tar, plain and compressed, read by scripts and by the host."""

from __future__ import annotations

import errno
import gzip
import io
import tarfile

from agentsandbox.errors import ArchiveError
from agentsandbox.kernel.fs.base import FileSystem
from tests.fuzz.judge import Problem, judged, judged_script, sandbox_with
from tests.fuzz.target import Target

SCRIPT = """mkdir x y; tar tvf a > list; tar xf a -C x; tar xpPf a -C y --strip-components=1; tar df a -C x
tar xOf a | head -c 9; tar rf a list; tar uf a list; tar --delete -f a list; tar cf b x; tar czf c y; gzip -dc a; ls -lR > list"""

WORDS = (
    b"ustar\x0000", b"ustar  \x00", b"././@LongLink", b"../", b"/", b"0000644\x00", b"\x80\x00\x00\x00", b"\xff" * 8,
    b"00000000001", b"77777777777", b"11 path=/x\n", b"15 linkpath=../\n", b"22 GNU.sparse.size=9\n",
    b"12 size=99\n", b"0", b"1", b"2", b"5", b"6", b"L", b"K", b"x", b"g", b"S", b"\x1f\x8b", b"BZh9", b"\xfd7zXZ\x00", b"(\xb5/\xfd",
)  # fmt: skip


def member(
    name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname, info.mode = len(content), kind, link, 0o644
    return info, content


def archive(form: int) -> bytes:
    """Return an archive with members of most kinds."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as made:
        for info, content in (
            member("d/", kind=tarfile.DIRTYPE), member("d/a", b"text\n"), member("l", kind=tarfile.SYMTYPE, link="d/a"),
            member("h", kind=tarfile.LNKTYPE, link="d/a"), member("p", kind=tarfile.FIFOTYPE), member("é" * 60 + "/x", b"long"),
        ):  # fmt: skip
            made.addfile(info, io.BytesIO(content))
    return out.getvalue()[:8192]


def run(data: bytes) -> None:
    sandbox = sandbox_with({})
    judged(
        lambda: sandbox.files.import_archive(data, "imported"),
        (OSError, ArchiveError),
    )
    check_whole(sandbox.fs)
    sandbox.close()
    judged_script(sandbox_with({"a": data}), SCRIPT)


def check_whole(fs: FileSystem) -> None:
    """Whether all that is there can be looked at."""
    try:
        for here, directories, others in fs.walk("/"):
            for name in directories + others:
                fs.stat(f"{here.rstrip('/')}/{name}", follow=False)
    except OSError as error:
        if error.errno != errno.EACCES:
            raise Problem("no whole tree", "walk", str(error)) from None


def seeds(count: int) -> list[bytes]:
    plain = [
        archive(form) for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)
    ]
    return [*plain, gzip.compress(plain[0], mtime=0), plain[1][:1536] + bytes(1024)]


TARGET = Target("tar", run, seeds, WORDS)
