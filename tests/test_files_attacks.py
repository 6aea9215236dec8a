"""Attacks on what `sandbox.files` copies in and out: hostile archives, planted links, on a real
folder of the host.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentsandbox import ArchiveError, Limits, Sandbox

LIMITS = Limits(timeout=10, file_bytes=100_000, total_bytes=300_000, files=200)
SECRET = "s3cret-of-the-host"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(limits=LIMITS) as made:
        yield made


def entry(
    name: str, kind: bytes = tarfile.REGTYPE, *, size: int = 0, link: str = "", **more: Any
) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.size, made.linkname = kind, size, link
    for key, value in more.items():
        setattr(made, key, value)
    return made


def tar(*entries: tarfile.TarInfo, format: int = tarfile.PAX_FORMAT) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w", format=format) as archive:
        for each in entries:
            archive.addfile(each, io.BytesIO(bytes(each.size)))
    return target.getvalue()


def zipped(
    *members: tuple[str, bytes, int], method: int = zipfile.ZIP_DEFLATED, system: int = 3
) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr, info.compress_type, info.create_system = mode << 16, method, system
            archive.writestr(info, content)
    return target.getvalue()


def files_of(sandbox: Sandbox) -> list[str]:
    return [info.path for info in sandbox.files.list("/", recursive=True)]


FILE = stat.S_IFREG | 0o644
LINK = stat.S_IFLNK | 0o777

HOSTILE: dict[str, bytes] = {
    "dots": tar(entry("../evil", size=1)),
    "dots inside": tar(entry("a/../../evil", size=1)),
    "dots that stay": tar(entry("a/../evil", size=1)),
    "absolute": tar(entry("/tmp/evil", size=1)),
    "slashes": tar(entry("//tmp/evil", size=1)),
    "no name": tar(entry(".", size=1)),
    "long name": tar(entry("x" * 300, size=1)),
    "long path": tar(entry("x/" * 3000 + "y", size=1)),
    "absolute link": tar(entry("a", tarfile.SYMTYPE, link="/etc/passwd")),
    "link out": tar(entry("d/a", tarfile.SYMTYPE, link="../../b")),
    "link by a link": tar(
        entry("d/up", tarfile.SYMTYPE, link=".."), entry("l", tarfile.SYMTYPE, link="d/up/../x")
    ),
    "link to nothing": zipped(("a", b"", LINK)),
    "write through a link": tar(entry("d", tarfile.SYMTYPE, link="."), entry("d/evil", size=1)),
    "write through a later link": tar(
        entry("d/evil", size=1), entry("d", tarfile.SYMTYPE, link=".")
    ),
    "below a file": tar(entry("f", size=1), entry("f/x", size=1)),
    "file over directory": tar(entry("f/x", size=1), entry("f", size=1)),
    "twice": tar(entry("a", size=1), entry("b", size=1), entry("./a", size=1)),
    "directory twice": tar(entry("a", tarfile.DIRTYPE), entry("a/", tarfile.DIRTYPE)),
    "hard link to nothing": tar(entry("a", tarfile.LNKTYPE, link="b")),
    "hard link out": tar(entry("a", tarfile.LNKTYPE, link="/etc/passwd")),
    "hard link to a link": tar(
        entry("l", tarfile.SYMTYPE, link="a"), entry("h", tarfile.LNKTYPE, link="l")
    ),
    "device": tar(entry("a", tarfile.CHRTYPE, devmajor=1, devminor=5)),
    "block device": tar(entry("a", tarfile.BLKTYPE)),
    "fifo": tar(entry("a", tarfile.FIFOTYPE)),
    "unknown type": tar(entry("a", b"Z")),
    "truncated": tar(entry("a", size=5000))[:2000],
    "damaged": tar(entry("a", size=1))[:100] + b"\xff" + tar(entry("a", size=1))[101:],
    "zip dots": zipped(("../evil", b"x", FILE)),
    "zip absolute": zipped(("/tmp/evil", b"x", FILE)),
    "zip link out": zipped(("a", b"../../x", LINK)),
    "zip absolute link": zipped(("a", b"/etc/passwd", LINK)),
    "zip twice": zipped(("a", b"x", FILE), ("./a", b"y", FILE)),
    "zip fifo": zipped(("a", b"x", stat.S_IFIFO | 0o644)),
    "zip device": zipped(("a", b"x", stat.S_IFCHR | 0o644)),
    "zip directory with a file's name": zipped(("a", b"x", stat.S_IFDIR | 0o755)),
    "zip with bzip2": zipped(("a", b"x", FILE), method=zipfile.ZIP_BZIP2),
    "zip with lzma": zipped(("a", b"x", FILE), method=zipfile.ZIP_LZMA),
    "zip truncated": zipped(("a", b"x" * 100, FILE))[:-30],
    "zip with a NUL": zipped(("aXb", b"x", FILE)).replace(b"aXb", b"a\0b"),
    "zip damaged": zipped(("a", b"x" * 100, FILE), method=zipfile.ZIP_STORED).replace(
        b"xxxx", b"xxxy", 1
    ),
    "empty": b"",
    "text": b"hello\n" * 200,
    "gzip of nothing": gzip.compress(b""),
    "gzip cut off": gzip.compress(tar(entry("a", size=1)))[:-20],
    "gzip with more": gzip.compress(tar(entry("a", size=1))) + b"more",
    "xz cut off": lzma.compress(tar(entry("a", size=1)))[:-20],
    "xz of much memory": lzma.compress(
        b"", filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30}]
    ),
    "bzip2 damaged": bz2.compress(tar(entry("a", size=1)))[:20] + b"\xff" * 30,
}


# TM-MOUNT-5
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_is_refused_and_leaves_no_trace(sandbox: Sandbox, name: str) -> None:
    before = files_of(sandbox)
    with pytest.raises(ArchiveError):
        sandbox.files.as_root().import_archive(HOSTILE[name], "/workspace/in")
    assert files_of(sandbox) == before


def raw_header(name: bytes, size: bytes, kind: bytes = b"0") -> bytes:
    """A header of tar with a size field of one's own."""
    block = (
        name.ljust(100, b"\0")
        + b"0000644\0"
        + b"0000000\0" * 2
        + size.ljust(12, b"\0")
        + b"00000000000\0"
        + b" " * 8
        + kind
    )
    block = block.ljust(512, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def negative(number: int) -> bytes:
    return b"\xff" + (number + (1 << 88)).to_bytes(11, "big")


def pax(text: bytes) -> bytes:
    return raw_header(b"x", b"%011o" % len(text), b"x") + text.ljust(
        -(-len(text) // 512) * 512, b"\0"
    )


def record(key: bytes, value: bytes) -> bytes:
    body = b" " + key + b"=" + value + b"\n"
    length = len(body) + len(str(len(body) + 3))
    return str(length).encode() + body


END = bytes(1024)
STRANGE: dict[str, bytes] = {
    "negative size": raw_header(b"a", negative(-512)) + END,
    "negative size that goes back": raw_header(b"a", negative(-1024))
    + raw_header(b"b", negative(-2048))
    + END,
    "negative extended header": raw_header(b"a", negative(-512), b"x") + END,
    "huge extended header": raw_header(b"a", b"%011o" % (1 << 32), b"x") + END,
    "huge long name": raw_header(b"a", b"%011o" % (1 << 32), b"L") + END,
    "large extended header": pax(record(b"comment", b"x" * 20_000)) + raw_header(b"a", b"0") + END,
    "negative size by record": pax(record(b"size", b"-512")) + raw_header(b"a", b"0") + END,
    "record of length nothing": pax(b"0 a=b\n") + raw_header(b"a", b"0") + END,
    "sparse": pax(
        record(b"GNU.sparse.major", b"1")
        + record(b"GNU.sparse.minor", b"0")
        + record(b"GNU.sparse.name", b"a")
    )
    + raw_header(b"a", b"00000001000")
    + b"9" * 512
    + END,
    "old sparse": raw_header(b"a", b"0", b"S")[:482] + b"\1" + bytes(29) + END,
    "path by record": pax(record(b"path", b"../evil")) + raw_header(b"a", b"0") + END,
    "path with a NUL": pax(record(b"path", b"a\0b")) + raw_header(b"a", b"0") + END,
    "long chain of extended headers": pax(record(b"comment", b"x")) * 900
    + raw_header(b"a", b"0")
    + END,
    "multi-volume": raw_header(b"a", b"0", b"M") + END,
    "gzip of a huge header": gzip.compress(
        raw_header(b"a", b"%011o" % (1 << 30), b"x") + bytes(1 << 20)
    ),
    "chain of extended headers": pax(record(b"comment", b"x")) * 500 + raw_header(b"a", b"0") + END,
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_header_ends_the_reading(sandbox: Sandbox, name: str) -> None:
    before = files_of(sandbox)
    with pytest.raises((ArchiveError, OSError)):
        sandbox.files.import_archive(STRANGE[name])
    assert files_of(sandbox) == before


SENSELESS = {
    "digits": pax(b"1" * 10_000) + raw_header(b"a", b"0") + END,
    "chain of extended headers": pax(record(b"comment", b"x")) * 20 + raw_header(b"a", b"0") + END,
    "no size by record": pax(record(b"size", b"nan")) + raw_header(b"a", b"0") + END,
}


@pytest.mark.parametrize("name", SENSELESS)
def test_a_header_that_says_nothing_is_passed_over(sandbox: Sandbox, name: str) -> None:
    assert sandbox.files.import_archive(SENSELESS[name]) == ["/workspace/a"]


def test_headers_that_take_long_end_with_the_timeout() -> None:
    data = (
        b"".join([pax(b"1" * 10_000) + raw_header(b"%d" % number, b"0") for number in range(150)])
        + END
    )
    with Sandbox(limits=Limits(timeout=0.3)) as sandbox:
        try:
            sandbox.files.import_archive(data)
        except TimeoutError:
            assert sandbox.files.list() == []
        else:  # a Python whose pattern for them takes no quadratic time
            assert len(sandbox.files.list()) == 150


def test_an_impossible_time_is_ignored(sandbox: Sandbox) -> None:
    for value in (b"nan", b"inf", b"-1", b"1e300"):
        sandbox.files.import_archive(pax(record(b"mtime", value)) + raw_header(b"a", b"0") + END)
        assert sandbox.files.stat("a").mtime == 0.0
    assert sandbox.execute("ls -l a; stat a; find a -newer /etc/passwd").exit_code == 0


BOMBS: dict[str, tuple[Callable[[], bytes], set[int]]] = {
    "one large file": (lambda: tar(entry("a", size=100_001)), {errno.EFBIG}),
    "a large file that is declared": (
        lambda: raw_header(b"a", b"%011o" % (1 << 32)) + END,
        {errno.EFBIG},
    ),
    "large files together": (
        lambda: tar(*[entry(str(number), size=90_000) for number in range(4)]),
        {errno.ENOSPC},
    ),
    "many files": (lambda: tar(*[entry(str(number)) for number in range(201)]), {errno.ENOSPC}),
    "many directories": (lambda: tar(entry("/".join("x" * 250), size=1)), {errno.ENOSPC}),
    "gzip": (lambda: gzip.compress(bytes(20_000_000)), {errno.ENOSPC}),
    "bzip2": (lambda: bz2.compress(bytes(20_000_000)), {errno.ENOSPC}),
    "xz": (lambda: lzma.compress(bytes(20_000_000)), {errno.ENOSPC}),
    "gzip again and again": (lambda: gzip.compress(bytes(200_000)) * 100, {errno.ENOSPC}),
    "gzip of a tar": (
        lambda: gzip.compress(tar(entry("a", size=400_000))),
        {errno.EFBIG, errno.ENOSPC},
    ),
    "hard links": (
        lambda: tar(
            entry("a", size=90_000),
            *[entry(str(number), tarfile.LNKTYPE, link="a") for number in range(3)],
        ),
        {errno.ENOSPC},
    ),
    "zip": (lambda: zipped(("a", bytes(5_000_000), FILE)), {errno.EFBIG}),
    "zip, many": (
        lambda: zipped(*[(str(number), b"", FILE) for number in range(201)]),
        {errno.ENOSPC},
    ),
    "zip, together": (
        lambda: zipped(*[(str(number), bytes(90_000), FILE) for number in range(4)]),
        {errno.ENOSPC},
    ),
    "a large archive": (lambda: bytes(2_000_000), {errno.ENOSPC, errno.EFBIG}),
}


# TM-MEM-3
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_does_not_go_off(sandbox: Sandbox, name: str) -> None:
    make, numbers = BOMBS[name]
    data = make()
    before = files_of(sandbox)
    for source in (data, io.BytesIO(data)):
        if name == "a large archive" and source is data:
            continue  # zeros are an archive of nothing; as a file they are not even read
        with pytest.raises(OSError) as caught:
            sandbox.files.import_archive(source)
        assert caught.value.errno in numbers
    assert files_of(sandbox) == before


def test_a_zip_that_lies_about_sizes_is_refused(sandbox: Sandbox) -> None:
    data = zipped(("a", bytes(90_000), FILE))
    where = data.index(b"PK\1\2")
    for size in (10, 95_000):
        changed = data[: where + 24] + struct.pack("<L", size) + data[where + 28 :]
        with pytest.raises(ArchiveError):
            sandbox.files.import_archive(changed)
    assert not sandbox.files.exists("a")


def test_members_of_a_zip_that_share_their_data_count_each(sandbox: Sandbox) -> None:
    data = zipped(("aaa", bytes(90_000), FILE))
    central = data.index(b"PK\1\2")
    end = data.index(b"PK\5\6")
    one = data[central:end]
    many = [one.replace(b"aaa", b"%03d" % number) for number in range(50)]
    directory = b"".join(many)
    fields = struct.unpack("<4s4H2LH", data[end:])
    tail = struct.pack("<4s4H2LH", fields[0], 0, 0, 50, 50, len(directory), central, 0)
    with pytest.raises((OSError, ArchiveError)):
        sandbox.files.import_archive(data[:central] + directory + tail)


ARCHIVES = [
    tar(
        entry("d", tarfile.DIRTYPE),
        entry("d/a", size=700),
        entry("l", tarfile.SYMTYPE, link="d/a"),
        entry("é" * 120, size=3),
    ),
    tar(
        entry("d/a", size=700),
        entry("h", tarfile.LNKTYPE, link="d/a"),
        entry("x" * 120, size=3),
        format=tarfile.GNU_FORMAT,
    ),
    zipped(
        ("d/", b"", stat.S_IFDIR | 0o755),
        ("d/a", b"hello " * 50, FILE),
        ("l", b"d/a", LINK),
        ("é", b"", FILE),
    ),
    gzip.compress(tar(entry("a", size=10))),
]


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 3),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=6),
    st.booleans(),
)
def test_a_damaged_archive_is_an_error_that_the_host_can_catch(
    which: int, changes: list[tuple[int, int]], cut: bool
) -> None:
    changed = bytearray(ARCHIVES[which])
    for place, value in changes:
        changed[place % len(changed)] = value
    if cut:
        del changed[changes[0][0] % len(changed) :]
    with Sandbox(limits=LIMITS) as sandbox:
        before = files_of(sandbox)
        try:
            sandbox.files.as_root().import_archive(bytes(changed), "/workspace/in")
        except (ArchiveError, OSError):
            assert files_of(sandbox) == before
        else:
            assert all(
                path.startswith("/workspace/in") for path in set(files_of(sandbox)) - set(before)
            )


# what leaves


@pytest.fixture
def host(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "target").mkdir()
    return tmp_path


LEAVING = {
    "absolute": "ln -s /etc/passwd l",
    "dots": "ln -s ../x l",
    "many dots": "mkdir -p a/b; ln -s ../../../x a/b/l",
    "behind a name": "mkdir d; ln -s d/../../x l",
    "by a link to here": "ln -s . s; ln -s s/../x l",
    "by a link upwards": "mkdir d; ln -s .. d/up; ln -s d/up/../x l",
    "the top's neighbour": "ln -s /workspace-other/x l",
    "absolute with dots": "ln -s /workspace/../x l",
}


# TM-MOUNT-5
@pytest.mark.parametrize("name", LEAVING)
def test_links_that_lead_out_do_not_leave(sandbox: Sandbox, host: Path, name: str) -> None:
    assert sandbox.execute(LEAVING[name] + "; echo fine > file").exit_code == 0
    for export in (sandbox.files.export, sandbox.files.as_root().export):
        with pytest.raises(PermissionError, match="leads out"):
            export(host / "target")
        assert os.listdir(host / "target") == []
    with pytest.raises(PermissionError, match="leads out"):
        sandbox.files.export_archive()
    written = sandbox.files.export(host / "target", unsafe="skip")
    assert f"{host}/target/file" in written
    top = (host / "target").resolve()
    for path in (host / "target").rglob("*"):
        assert path.resolve() == top or top in path.resolve().parents
    with Sandbox() as other:
        other.files.import_archive(sandbox.files.export_archive(unsafe="skip"))
        assert other.files.read("file") == "fine\n"


def test_pipes_do_not_leave(sandbox: Sandbox, host: Path) -> None:
    assert sandbox.execute("mkfifo p; echo fine > file").exit_code == 0
    with pytest.raises(OSError) as caught:
        sandbox.files.export(host / "target")
    assert caught.value.errno == errno.EINVAL
    assert sandbox.files.export(host / "target", unsafe="skip") == [f"{host}/target/file"]


def test_devices_do_not_leave(sandbox: Sandbox, host: Path) -> None:
    with pytest.raises(OSError) as caught:
        sandbox.files.as_root().export(host / "target", "/dev")
    assert caught.value.errno in (errno.EINVAL, errno.EPERM)
    sandbox.files.as_root().export(host / "target", "/dev", unsafe="skip")
    assert os.listdir(host / "target") == ["shm"]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("link", ["../outside", "..", "."])
def test_links_in_the_target_are_never_passed(
    sandbox: Sandbox, host: Path, overwrite: bool, link: str
) -> None:
    (host / "target" / "d").symlink_to(link)
    sandbox.execute("mkdir d; echo evil > d/secret; echo evil > d/new; echo first > a")
    with pytest.raises(OSError):
        sandbox.files.export(host / "target", overwrite=overwrite)
    assert (host / "secret").read_text() == SECRET
    assert os.listdir(host / "outside") == []
    assert os.listdir(host / "target") == ["d"], "nothing was written at all"


def test_a_link_in_place_of_a_file_is_replaced_not_followed(sandbox: Sandbox, host: Path) -> None:
    (host / "target" / "a").symlink_to("../secret")
    sandbox.execute("echo evil > a")
    with pytest.raises(FileExistsError):
        sandbox.files.export(host / "target")
    sandbox.files.export(host / "target", overwrite=True)
    assert (host / "secret").read_text() == SECRET
    assert not (host / "target" / "a").is_symlink()
    assert (host / "target" / "a").read_text() == "evil\n"


def test_two_exports_do_not_plant_a_way_out(sandbox: Sandbox, host: Path) -> None:
    """The first leaves a link where the second has a directory, with a link in it that is right one
    level deeper only.
    """
    sandbox.execute("ln -s . p")
    sandbox.files.export(host / "target")
    sandbox.execute("rm p; mkdir p; ln -s ../secret p/l")
    with pytest.raises(NotADirectoryError):
        sandbox.files.export(host / "target", overwrite=True)
    assert os.listdir(host / "target") == ["p"]


def test_permissions_on_the_host_are_the_owners_to_keep(sandbox: Sandbox, host: Path) -> None:
    sandbox.execute("mkdir d; touch d/f s; chmod 4777 s; chmod 0 d/f; chmod 500 d")
    mask = os.umask(0o022)
    try:
        sandbox.files.as_root().export(host / "target")
    finally:
        os.umask(mask)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (host / "target").rglob("*")}
    assert modes == {"d": 0o700, "f": 0o600, "s": 0o755}


# what comes in


@pytest.fixture
def project(host: Path) -> Path:
    folder = host / "project"
    folder.mkdir()
    (folder / "file").write_text("fine")
    return folder


@pytest.mark.parametrize(
    "target", ["../secret", "../outside", "/etc/passwd", "../project/../secret", "sub/../../secret"]
)
def test_links_that_lead_out_do_not_come_in(sandbox: Sandbox, project: Path, target: str) -> None:
    (project / "sub").mkdir()
    (project / "link").symlink_to(target)
    with pytest.raises(PermissionError, match="leads out") as caught:
        sandbox.files.import_folder(project)
    assert caught.value.filename == str(project / "link")
    assert sandbox.files.list() == []
    assert sandbox.files.import_folder(project, ignore="link") == ["/workspace/file"]


def test_links_are_followed_on_request(sandbox: Sandbox, project: Path, host: Path) -> None:
    (host / "outside" / "deep").mkdir()
    (host / "outside" / "deep" / "x").write_text("x")
    (project / "link").symlink_to("../secret")
    (project / "folder").symlink_to("../outside")
    sandbox.files.import_folder(project, follow_symlinks=True)
    assert sandbox.files.read("link") == SECRET
    assert sandbox.files.read("folder/deep/x") == "x"
    (project / "round").symlink_to(".")
    with pytest.raises(OSError) as caught:
        sandbox.files.import_folder(project, follow_symlinks=True)
    assert caught.value.errno == errno.ELOOP
    (project / "round").unlink()
    (project / "nothing").symlink_to("nowhere")
    with pytest.raises(FileNotFoundError):
        sandbox.files.import_folder(project, follow_symlinks=True)


def test_an_absolute_link_inside_does_not_tell_where_the_folder_is(
    sandbox: Sandbox, project: Path
) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "link").symlink_to(project / "file")
    sandbox.files.import_folder(project)
    assert sandbox.files.stat("sub/link", follow=False).target == "../file"


def test_pipes_and_sockets_do_not_come_in(sandbox: Sandbox, project: Path) -> None:
    os.mkfifo(project / "pipe")
    with pytest.raises(OSError) as caught:
        sandbox.files.import_folder(project)
    assert (caught.value.errno, caught.value.filename) == (errno.EINVAL, str(project / "pipe"))
    (project / "pipe").unlink()
    (project / "zero").symlink_to("/dev/zero")
    with pytest.raises(OSError) as caught:
        sandbox.files.import_folder(project, follow_symlinks=True)
    assert caught.value.errno == errno.EINVAL


@pytest.mark.parametrize(
    ("make", "number"),
    [
        (lambda folder: (folder / "big").write_bytes(bytes(100_001)), errno.EFBIG),
        (
            lambda folder: [(folder / str(n)).write_bytes(bytes(90_000)) for n in range(4)],
            errno.ENOSPC,
        ),
        (lambda folder: [(folder / str(n)).touch() for n in range(201)], errno.ENOSPC),
        (lambda folder: [(folder / str(n)).mkdir() for n in range(201)], errno.ENOSPC),
    ],
)
def test_a_folder_that_is_too_large_is_not_begun(
    sandbox: Sandbox, project: Path, make: Callable[[Path], object], number: int
) -> None:
    make(project)
    with pytest.raises(OSError) as caught:
        sandbox.files.import_folder(project)
    assert caught.value.errno == number
    assert sandbox.files.list() == []


def test_no_descriptor_stays_open(sandbox: Sandbox, project: Path, host: Path) -> None:
    (project / "link").symlink_to("/etc")
    sandbox.execute("mkdir -p a/b/c; touch a/b/c/d; ln -s /etc out")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with pytest.raises(PermissionError):
            sandbox.files.import_folder(project)
        with pytest.raises(PermissionError):
            sandbox.files.export(host / "target")
        sandbox.files.export(host / "target", unsafe="skip", overwrite=True)
    assert len(os.listdir("/proc/self/fd")) == before
