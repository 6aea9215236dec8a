"""`sandbox.files`: what a host program may do with the files of a sandbox, and how it says no."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentsandbox import (
    AgentSkill,
    ClosedError,
    FileInfo,
    Limits,
    Match,
    Sandbox,
    SandboxError,
    SandboxFiles,
)
from agentsandbox.contract.command import Arguments, CommandContext, command
from agentsandbox.kernel.fs.host import HostFileSystem
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.fs.overlay import OverlayFileSystem

SKILL = "---\nname: brand\ndescription: Colours\n---\nUse blue.\n"
SPECIAL = {
    "zeros": "ln -s /dev/zero zeros",
    "random": "ln -s /dev/urandom random",
    "full": "ln -s /dev/full full",
    "null": "ln -s /dev/null null",
    "input": "ln -s /dev/stdin input",
    "descriptor": "ln -s /proc/self/fd/1 descriptor",
    "fifo": "mkfifo fifo",
    "link-to-fifo": "mkfifo f; ln -s f link-to-fifo",
}
"""What a script may put where the host expects a file."""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(limits=Limits(timeout=20, file_bytes=100_000, total_bytes=200_000)) as made:
        yield made


@pytest.fixture
def files(sandbox: Sandbox) -> SandboxFiles:
    return sandbox.files


def number_of(call: Callable[[], object]) -> int | None:
    """The errno that a call ends with."""
    with pytest.raises(OSError) as caught:
        call()
    assert caught.value.filename
    return caught.value.errno


# reading and writing


def test_what_is_written_is_read(files: SandboxFiles) -> None:
    files.write("notes/today.txt", "café\r\n")
    assert files.read("notes/today.txt") == "café\r\n"
    assert files.read_bytes("/workspace/notes/today.txt") == b"caf\xc3\xa9\r\n"
    files.write("notes/today.txt", b"\xff\0")
    assert files.read_bytes("notes/today.txt") == b"\xff\0"


def test_a_text_in_another_encoding(files: SandboxFiles) -> None:
    files.write("latin", "é".encode("latin-1"))
    with pytest.raises(UnicodeDecodeError):
        files.read("latin")
    assert files.read("latin", encoding="latin-1") == "é"
    assert files.read("latin", errors="replace") == "\ufffd"
    text = files.read("latin", errors="surrogateescape")
    files.write("copy", text)
    assert files.read_bytes("copy") == b"\xe9"


def test_writing_appends_on_request(files: SandboxFiles) -> None:
    files.write("log", "one\n", append=True)
    files.write("log", "two\n", append=True)
    assert files.read("log") == "one\ntwo\n"


def test_writing_sets_permissions_on_request(files: SandboxFiles) -> None:
    files.write("run.sh", "echo hi\n", mode=0o755)
    assert files.stat("run.sh").mode == 0o755
    files.write("run.sh", "echo ho\n")
    assert files.stat("run.sh").mode == 0o755
    files.write("run.sh", "echo he\n", mode=0o600)
    assert files.stat("run.sh").mode == 0o600


def test_missing_directories_are_made_unless_the_host_says_no(files: SandboxFiles) -> None:
    files.write("a/b/c", "")
    assert number_of(lambda: files.write("x/y", "", parents=False)) == errno.ENOENT
    files.write("p/../q", "")
    assert files.is_dir("p")
    assert files.is_file("q")


@pytest.mark.parametrize("append", [False, True])
def test_a_write_that_does_not_fit_changes_nothing(files: SandboxFiles, append: bool) -> None:
    files.write("old", "as it was")
    files.write("rest", b"x" * 90_000)
    files.write("more", b"x" * 60_000)
    assert number_of(lambda: files.write("old", b"y" * 70_000, append=append)) == errno.ENOSPC
    assert number_of(lambda: files.write("new", b"y" * 70_000, append=append)) == errno.ENOSPC
    assert number_of(lambda: files.write("old", b"y" * 100_001, append=append)) == errno.EFBIG
    assert files.read("old") == "as it was"
    assert not files.exists("new")


def test_scripts_and_the_host_see_the_same_files(sandbox: Sandbox) -> None:
    sandbox.files.write("in.txt", "b\na\n")
    sandbox.execute("sort in.txt > out.txt; mkdir d; cd d")
    assert sandbox.files.read("../out.txt") == "a\nb\n"
    sandbox.files.write("here", "")
    assert sandbox.execute("ls /workspace/d").stdout == "here\n"


# editing


def test_an_edit_replaces_the_one_occurrence(files: SandboxFiles) -> None:
    files.write("a.py", b"x = 1\ny = 2  # \xff\n", mode=0o755)
    assert files.edit("a.py", "x = 1\ny", "x = 3\nz") == 1
    assert files.read_bytes("a.py") == b"x = 3\nz = 2  # \xff\n"
    assert files.stat("a.py").mode == 0o755


def test_an_edit_of_what_occurs_several_times_says_where(files: SandboxFiles) -> None:
    files.write("a", "one\ntwo\none\n")
    with pytest.raises(
        ValueError, match=r"^old occurs 2 times in /workspace/a, in lines 1, 3: .*all=True"
    ):
        files.edit("a", "one", "1")
    assert files.read("a") == "one\ntwo\none\n"
    assert files.edit("a", "one", "1", all=True) == 2
    assert files.read("a") == "1\ntwo\n1\n"


def test_occurrences_that_overlap_are_not_one(files: SandboxFiles) -> None:
    files.write("a", "aaa")
    with pytest.raises(ValueError, match="old occurs 2 times"):
        files.edit("a", "aa", "b")
    assert files.edit("a", "aa", "b", all=True) == 1
    assert files.read("a") == "ba"


@pytest.mark.parametrize(
    ("content", "old", "message"),
    [
        ("x\n", "y", r"^old does not occur in /workspace/a$"),
        ("a\n  if x:\n    go()\n", "if x:\n  go()", r"beginning of its text occurs in line 2$"),
        ("a\r\nb\r\n", "a\nb", r"line ends of that file, \\r\\n$"),
        ("x\n", "", r"^old must not be empty"),
    ],
)
def test_an_edit_that_finds_nothing(
    files: SandboxFiles, content: str, old: str, message: str
) -> None:
    files.write("a", content)
    with pytest.raises(ValueError, match=message):
        files.edit("a", old, "new")
    assert files.read("a") == content


def test_an_edit_that_does_not_fit_changes_nothing(files: SandboxFiles) -> None:
    files.write("a", "x" * 10_000)
    assert number_of(lambda: files.edit("a", "x", "y" * 11, all=True)) == errno.EFBIG
    files.write("rest", b"x" * 100_000)
    files.write("more", b"x")
    assert number_of(lambda: files.edit("a", "x", "y" * 10, all=True)) == errno.ENOSPC
    assert files.read("a") == "x" * 10_000


# what is not a file


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize("name", SPECIAL)
def test_nothing_but_files_is_read_or_written(sandbox: Sandbox, name: str, root: bool) -> None:
    assert sandbox.execute(SPECIAL[name]).exit_code == 0
    files = sandbox.files.as_root() if root else sandbox.files
    assert number_of(lambda: files.read(name)) == errno.EINVAL
    assert number_of(lambda: files.write(name, "x")) == errno.EINVAL
    assert number_of(lambda: files.write(name, "x", append=True)) == errno.EINVAL
    assert number_of(lambda: files.edit(name, "x", "y")) == errno.EINVAL
    assert number_of(lambda: files.grep("x", name)) == errno.EINVAL
    assert number_of(lambda: files.export_archive(name)) == errno.EINVAL
    assert number_of(lambda: files.copy(name, "copy")) == errno.EINVAL
    assert files.grep("x") == []
    assert not files.is_file(name)
    assert files.exists(name)


@pytest.mark.parametrize("path", ["/dev/stdin", "/dev/stdout", "/dev/fd/0", "/proc/self/fd/2"])
def test_descriptors_of_scripts_are_not_the_hosts(sandbox: Sandbox, path: str) -> None:
    sandbox.execute("exec 5< /etc/passwd; cat <&0", stdin="secret")
    assert number_of(lambda: sandbox.files.read(path)) == errno.EINVAL
    assert number_of(lambda: sandbox.files.write(path, "x")) == errno.EINVAL
    assert not sandbox.files.exists("/dev/fd/5")


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("nope", errno.ENOENT),
        ("dir", errno.EISDIR),
        (".", errno.EISDIR),
        ("file/below", errno.ENOTDIR),
        ("file/", errno.ENOTDIR),
        ("loop", errno.ELOOP),
        ("x" * 256, errno.ENAMETOOLONG),
        ("x/" * 2100, errno.ENAMETOOLONG),
        ("~", errno.ENOENT),
        ("~/notes", errno.ENOENT),
    ],
)
def test_errors_are_those_of_a_kernel(sandbox: Sandbox, path: str, number: int) -> None:
    sandbox.execute("mkdir dir; touch file; ln -s loop loop")
    assert number_of(lambda: sandbox.files.read(path)) == number


# looking


def test_a_file_is_described(sandbox: Sandbox) -> None:
    sandbox.execute("echo hi > a; chmod 640 a; touch -d @5 a; ln -s a l; mkdir d; mkfifo p")
    files = sandbox.files
    assert files.stat("a") == FileInfo("/workspace/a", "file", size=3, mode=0o640, mtime=5.0)
    assert files.stat("l").kind == "file"
    link = files.stat("l", follow=False)
    assert (link.kind, link.target, link.size, link.is_link, link.name) == (
        "link",
        "a",
        0,
        True,
        "l",
    )
    assert (files.stat("d").is_dir, files.stat("p").kind, files.stat("/").name) == (
        True,
        "other",
        "/",
    )


def test_values_are_frozen_and_show_what_they_are() -> None:
    info = FileInfo("/a", "file", size=1, mode=0o600, mtime=2.0)
    assert (
        repr(info) == "FileInfo(path='/a', kind='file', size=1, mode=0o600, mtime=2.0, target=None)"
    )
    assert {info, FileInfo("/a", "file", size=1, mode=0o600, mtime=2.0)} == {info}
    match = Match("/a", 1, "x")
    assert repr(match) == "Match(path='/a', line=1, text='x', before=(), after=())"
    assert match != info
    with pytest.raises(AttributeError, match="immutable"):
        info.size = 2
    with pytest.raises(AttributeError, match="immutable"):
        match.line = 2


def test_a_directory_is_listed(sandbox: Sandbox) -> None:
    sandbox.execute("mkdir -p b/c; touch b/c/z b/x .hidden a; ln -s /etc link; ln -s b/x l2")
    files = sandbox.files
    assert [info.name for info in files.list()] == [".hidden", "a", "b", "l2", "link"]
    assert [info.name for info in files.list(hidden=False)] == ["a", "b", "l2", "link"]
    found = [info.path for info in files.list("b", recursive=True)]
    assert found == ["/workspace/b/c", "/workspace/b/x", "/workspace/b/c/z"]
    assert "/workspace/link/passwd" not in [info.path for info in files.list(recursive=True)]
    assert "passwd" in [info.name for info in files.list("link")]
    assert number_of(lambda: files.list("a")) == errno.ENOTDIR
    assert number_of(lambda: files.list("a", recursive=True)) == errno.ENOTDIR
    assert number_of(lambda: files.list("nope")) == errno.ENOENT


def test_a_directory_that_may_not_be_read_does_not_spoil_the_listing(sandbox: Sandbox) -> None:
    sandbox.execute("mkdir -p a b/c; touch b/c/x z; chmod 0 b")
    names = [info.name for info in sandbox.files.list(recursive=True)]
    assert names == ["a", "b", "z"]
    sandbox.execute("chmod 400 b")
    assert [info.name for info in sandbox.files.list(recursive=True)] == names
    assert sandbox.files.grep("x") == sandbox.files.glob("b/c/*") == []
    sandbox.execute("chmod 0 b")
    assert number_of(lambda: sandbox.files.list("b")) == errno.EACCES
    assert [info.name for info in sandbox.files.as_root().list("b", recursive=True)] == ["c", "x"]


def test_existence(sandbox: Sandbox) -> None:
    sandbox.execute("touch f; mkdir d; ln -s nowhere dangling; ln -s d to-d")
    files = sandbox.files
    assert [files.exists(name) for name in ("f", "d", "dangling", "to-d", "no", "f/x")] == [
        True,
        True,
        False,
        True,
        False,
        False,
    ]
    assert [files.is_file(name) for name in ("f", "d", "dangling")] == [True, False, False]
    assert [files.is_dir(name) for name in ("f", "d", "to-d")] == [False, True, True]


TREE = """
mkdir -p src/lib/deep .git/hooks; cd src
touch a.py b.txt lib/c.py lib/deep/d.py; cd ..; touch .git/e.py .f.py top.py 'br[1].py'
ln -s src code; ln -s top.py link.py; ln -s /dev/zero zero.py
"""


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", [".f.py", "br[1].py", "link.py", "top.py", "zero.py"]),
        ("src/*.py", ["src/a.py"]),
        ("src/**/*.py", ["src/a.py", "src/lib/c.py", "src/lib/deep/d.py"]),
        ("**/d.py", ["src/lib/deep/d.py"]),
        ("**/**/**/d.py", ["src/lib/deep/d.py"]),
        (
            "src/**",
            [
                "src/a.py",
                "src/b.txt",
                "src/lib",
                "src/lib/c.py",
                "src/lib/deep",
                "src/lib/deep/d.py",
            ],
        ),
        ("src/**/", ["src/lib", "src/lib/deep"]),
        ("*/", [".git", "code", "src"]),
        ("code/*.py", ["code/a.py"]),
        ("*/lib/c.py", ["src/lib/c.py"]),
        ("src/*.{py,txt}", ["src/a.py", "src/b.txt"]),
        ("src/[ab].*", ["src/a.py", "src/b.txt"]),
        (r"br\[1\].py", ["br[1].py"]),
        ("src/lib/../a.py", ["src/lib/../a.py"]),
        ("nope/*", []),
        ("top.py/*", []),
        ("*.rs", []),
    ],
)
def test_globs(sandbox: Sandbox, pattern: str, found: list[str]) -> None:
    assert sandbox.execute(TREE).exit_code == 0
    assert sandbox.files.glob(pattern) == [f"/workspace/{path}" for path in found]


def test_a_glob_may_be_absolute_and_may_leave_out_what_is_hidden(sandbox: Sandbox) -> None:
    sandbox.execute(TREE)
    assert sandbox.files.glob("/etc/pass*") == ["/etc/passwd"]
    assert sandbox.files.glob("**/*e.py", hidden=False) == []
    assert sandbox.files.glob("*.py", hidden=False)[0] == "/workspace/br[1].py"
    assert sandbox.files.glob(".*.py", hidden=False) == ["/workspace/.f.py"]


def test_lines_are_found(sandbox: Sandbox) -> None:
    files = sandbox.files
    files.write("a.py", "import os\n\nprint(os)\n")
    files.write("lib/b.txt", "OS\nnothing\nos, os")
    assert files.grep(r"\bos\b") == [
        Match("/workspace/a.py", 1, "import os"),
        Match("/workspace/a.py", 3, "print(os)"),
        Match("/workspace/lib/b.txt", 3, "os, os"),
    ]
    assert [match.line for match in files.grep("os", "lib", ignore_case=True)] == [1, 3]
    assert [match.text for match in files.grep("(os)", fixed=True)] == ["print(os)"]
    assert [match.path for match in files.grep("os", glob="*.py")] == ["/workspace/a.py"] * 2
    assert [match.path for match in files.grep("os", glob="lib/*")] == ["/workspace/lib/b.txt"]
    assert [match.path for match in files.grep("nothing", "lib/b.txt")] == ["/workspace/lib/b.txt"]
    assert [match.line for match in files.grep("^$", "a.py")] == [2]
    assert len(files.grep("os", limit=2)) == 2


def test_lines_come_with_their_context(files: SandboxFiles) -> None:
    files.write("a", "1\n2\n3 x\n4 x\n5\n6\n")
    assert files.grep("x", context=2) == [
        Match("/workspace/a", 3, "3 x", before=("1", "2"), after=("4 x", "5")),
        Match("/workspace/a", 4, "4 x", before=("2", "3 x"), after=("5", "6")),
    ]


def test_the_last_line_may_lack_its_end_and_lines_may_be_no_utf8(files: SandboxFiles) -> None:
    files.write("a", b"\xff\xe9 x\n\xc3\xa9 x\nlast x")
    found = files.grep("x", context=1)
    assert [(match.line, match.text) for match in found] == [
        (1, "\ufffd\ufffd x"),
        (2, "é x"),
        (3, "last x"),
    ]
    assert found[2].before == ("é x",)
    files.write("empty", "")
    assert files.grep("^", "empty") == []


def test_a_search_gives_the_same_as_one_line_by_line(files: SandboxFiles) -> None:
    lines = [
        f"{'é' if number % 7 == 0 else 'e'}{number} {'x' * (number % 50)}" for number in range(3000)
    ]
    files.write("big", "\n".join(lines))
    found = files.grep(r"x{40,}$|é14", "big", limit=10_000)
    expected = [
        number for number, line in enumerate(lines, 1) if line.endswith("x" * 40) or "é14" in line
    ]
    assert [match.line for match in found] == expected
    assert [match.text for match in found] == [lines[number - 1] for number in expected]


def test_what_is_no_text_or_may_not_be_read_has_no_lines(sandbox: Sandbox) -> None:
    sandbox.files.write("binary", b"needle\n\0")
    sandbox.execute(
        "echo needle > shut; chmod 0 shut; ln -s /etc link; mkdir d; echo needle > d/f; chmod 0 d"
    )
    assert sandbox.files.grep("needle") == []
    assert number_of(lambda: sandbox.files.grep("needle", "shut")) == errno.EACCES
    assert [match.path for match in sandbox.files.as_root().grep("needle")] == [
        "/workspace/shut",
        "/workspace/d/f",
    ]


def test_hidden_files_are_searched_unless_the_host_says_no(files: SandboxFiles) -> None:
    files.write(".env", "KEY=1\n")
    assert len(files.grep("KEY")) == len(files.grep("KEY", glob="*")) == 1
    assert files.grep("KEY", hidden=False) == files.grep("KEY", glob="*", hidden=False) == []


# names


def test_directories_are_made(files: SandboxFiles) -> None:
    files.mkdir("a/b")
    files.mkdir("a/b", exist_ok=True)
    assert number_of(lambda: files.mkdir("a/b")) == errno.EEXIST
    assert number_of(lambda: files.mkdir("x/y", parents=False)) == errno.ENOENT
    files.write("f", "")
    assert number_of(lambda: files.mkdir("f", exist_ok=True)) == errno.EEXIST


def test_names_are_removed(sandbox: Sandbox) -> None:
    sandbox.execute("mkdir -p d/e empty; touch f d/e/x; ln -s d link")
    files = sandbox.files
    files.remove("f")
    files.remove("empty")
    files.remove("link", recursive=True)
    assert number_of(lambda: files.remove("d")) == errno.ENOTEMPTY
    files.remove("d", recursive=True)
    assert files.list() == []
    assert number_of(lambda: files.remove("f")) == errno.ENOENT
    assert number_of(lambda: files.as_root().remove("/", recursive=True)) == errno.EBUSY
    assert (
        number_of(lambda: files.as_root().remove("/workspace/../", recursive=True)) == errno.EBUSY
    )
    assert sandbox.execute("cat /etc/hostname").exit_code == 0


def test_files_and_directories_are_moved(files: SandboxFiles) -> None:
    files.write("a/f", "f")
    files.write("taken", "t")
    files.move("a", "b")
    assert number_of(lambda: files.move("b/f", "taken")) == errno.EEXIST
    files.move("b/f", "taken", overwrite=True)
    assert files.read("taken") == "f"
    assert number_of(lambda: files.move("taken", "b", overwrite=True)) == errno.EEXIST
    assert number_of(lambda: files.move("b", "b/c")) == errno.EINVAL


def test_files_and_directories_are_copied(sandbox: Sandbox) -> None:
    sandbox.execute("mkdir -p a/b; echo x > a/b/f; chmod 750 a/b/f; ln -s b/f a/l; ln -s a/l top")
    files = sandbox.files
    files.copy("a", "c")
    assert files.stat("c/b/f").mode == 0o750
    assert files.stat("c/l", follow=False).target == "b/f"
    files.copy("top", "d")
    assert files.stat("d", follow=False).is_file
    assert number_of(lambda: files.copy("d", "c/b/f")) == errno.EEXIST
    assert number_of(lambda: files.copy("a", "a/b/again")) == errno.EINVAL
    files.copy("d", "top", overwrite=True)
    assert files.stat("top", follow=False).is_file
    files.copy("d", "d", overwrite=True)
    assert files.read("d") == "x\n"


def test_copies_and_moves_across_mounts() -> None:
    with Sandbox(mounts={"/data": MemoryFileSystem()}) as sandbox:
        files = sandbox.files
        files.write("a/f", "f")
        files.write("/data/old", "o")
        files.copy("a", "/data/a")
        files.move("/data/old", "new")
        files.move("a/f", "/data/f")
        assert [info.path for info in files.list("/data", recursive=True)] == [
            "/data/a",
            "/data/f",
            "/data/a/f",
        ]
        assert (files.read("new"), files.exists("a/f")) == ("o", False)


def test_a_tree_with_a_pipe_in_it_is_not_copied(sandbox: Sandbox) -> None:
    sandbox.execute("mkdir d; mkfifo d/p; touch d/a")
    assert number_of(lambda: sandbox.files.copy("d", "e")) == errno.EINVAL
    assert not sandbox.files.exists("e")


def test_touch() -> None:
    now = [100.0]
    with Sandbox(clock=lambda: now[0]) as sandbox:
        sandbox.files.touch("a")
        now[0] = 200.0
        sandbox.files.touch("a")
        assert sandbox.files.stat("a") == FileInfo("/workspace/a", "file", mode=0o644, mtime=200.0)


# who asks


def test_the_agents_permissions_hold_unless_the_host_asks_for_root(sandbox: Sandbox) -> None:
    files = sandbox.files
    assert number_of(lambda: files.write("/etc/motd", "hi")) == errno.EACCES
    files.as_root().write("/etc/motd", "hi")
    assert files.read("/etc/motd") == "hi"
    assert number_of(lambda: files.write("/etc/motd", "ho")) == errno.EACCES
    files.as_root().write("given/rules", "keep")
    assert sandbox.execute("echo x >> given/rules; touch given/x; cat given/rules").stdout == "keep"
    sandbox.execute("echo secret > shut; chmod 0 shut")
    assert number_of(lambda: files.read("shut")) == errno.EACCES
    assert number_of(lambda: files.export_archive()) == errno.EACCES
    assert files.as_root().read("shut") == "secret\n"
    assert (files.is_root, files.as_root().is_root) == (False, True)
    assert sandbox.fs.uid == 0, "the host's own filesystem is as it was"


@pytest.mark.parametrize("root", [False, True])
def test_skills_are_read_only_for_everybody(root: bool) -> None:
    with Sandbox(skills=[AgentSkill.from_files({"SKILL.md": SKILL})]) as sandbox:
        where = "/.sandbox/skills/brand"
        files = sandbox.files.as_root() if root else sandbox.files
        assert number_of(lambda: files.write(f"{where}/SKILL.md", "obey me")) == errno.EROFS
        assert number_of(lambda: files.edit(f"{where}/SKILL.md", "blue", "red")) == errno.EROFS
        assert number_of(lambda: files.import_archive(archive(), where)) == errno.EROFS
        with pytest.raises(OSError):
            files.remove(where, recursive=True)
        assert files.read(f"{where}/SKILL.md") == SKILL


def archive() -> bytes:
    with Sandbox(files={"a": "x"}) as other:
        return other.files.export_archive()


def test_a_closed_sandbox_has_no_files_any_more(sandbox: Sandbox, tmp_path: Path) -> None:
    files = sandbox.files
    sandbox.close()
    calls: list[Callable[[], object]] = [
        lambda: files.read("a"),
        lambda: files.write("a", ""),
        lambda: files.exists("a"),
        lambda: files.import_folder(tmp_path),
        lambda: files.export(tmp_path),
    ]
    for call in calls:
        with pytest.raises(ClosedError):
            call()
    assert issubclass(ClosedError, SandboxError)


@command("stamp", usage="Usage: stamp\nAdd a line to the log.\n")
def stamp(ctx: CommandContext, args: Arguments) -> int:
    made = SANDBOXES[-1].files
    made.write("log", f"{len(made.glob('*'))}\n", append=True)
    with pytest.raises(PermissionError):
        made.write("/etc/motd", "")
    made.as_root().write("/etc/motd", "")
    return 0


SANDBOXES: list[Sandbox] = []


def test_a_command_of_the_host_sees_the_files_as_they_are() -> None:
    with Sandbox(commands=[stamp]) as sandbox:
        SANDBOXES.append(sandbox)
        result = sandbox.execute("touch a; stamp; touch b; stamp; cat log; rm /etc/motd")
    assert result.stdout == "1\n3\n"
    assert "cannot remove '/etc/motd'" in result.stderr, "the script is the agent again"


def test_another_thread_waits_for_the_execution(sandbox: Sandbox) -> None:
    seen: list[str] = []
    reader = threading.Thread(target=lambda: seen.append(sandbox.files.read("f")))

    def begin(stream: str, data: bytes) -> None:
        reader.start()
        time.sleep(0.05)

    sandbox.execute("echo 1 > f; echo started; echo 2 > f", on_output=begin)
    reader.join()
    assert seen == ["2\n"]


def test_a_task_of_the_loop_works_on_the_files_of_a_running_script(sandbox: Sandbox) -> None:
    async def both() -> str:
        script = "echo 1 > f; sleep 0.1; echo x > /etc/x; cat f; id -u"
        running = asyncio.create_task(sandbox.aexecute(script))
        while not sandbox.files.exists("f"):
            await asyncio.sleep(0.01)
        sandbox.files.as_root().write("/etc/given", "")
        sandbox.files.write("f", "2\n")
        result = await running
        return result.stdout + result.stderr

    assert asyncio.run(both()) == "2\n1000\nbash: line 1: /etc/x: Permission denied\n"


# time


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$", r"(a|aa)+$", r"^(a|a)+$", r"(.*)*(.*)*x", "(x+x+)+y"]
)
def test_no_pattern_explodes(files: SandboxFiles, pattern: str) -> None:
    files.write("f", "a" * 20_000 + "!\n" + "b" * 20_000 + "\n")
    assert files.grep(pattern) == []


def test_a_back_reference_that_takes_too_long_is_a_timeout() -> None:
    with Sandbox(limits=Limits(timeout=0.2)) as sandbox:
        sandbox.files.write("f", "a" * 3000 + "\n")
        with pytest.raises(TimeoutError, match="took longer than"):
            sandbox.files.grep(r"(a|aa)+(?!a)\1b")


def test_many_stars_visit_each_directory_once(sandbox: Sandbox) -> None:
    sandbox.execute(
        "p=.; for i in {1..300}; do p=$p/a; done; mkdir -p $p; for i in {1..40}; "
        "do ln -s . l$i; done"
    )
    assert len(sandbox.files.glob("**/a/**/a/**/a/**/a")) == 297
    assert len(sandbox.files.glob("*/*/*/*/*")) == 1
    with pytest.raises(ValueError, match="pattern expands to more than 100 patterns"):
        sandbox.files.glob("{a,b}" * 10)


# arguments


def misuses(files: SandboxFiles) -> list[tuple[str, Callable[[], Any]]]:
    """Calls with one wrong argument, and what the error says first."""
    any_: Any = files
    return [
        ("path must not be empty", lambda: files.read("")),
        ("path must not hold a NUL", lambda: files.read("a\0b")),
        ("path must not hold a NUL", lambda: files.exists("a\0b")),
        ("path must be a str or os.PathLike, not bytes", lambda: any_.read(b"a")),
        ("path must be a str or os.PathLike, not NoneType", lambda: any_.stat(None)),
        ("source must be a str or os.PathLike, not int", lambda: any_.copy(1, "b")),
        ("target must not be empty", lambda: files.move("a", "")),
        ("encoding is not known: 'utf-9'", lambda: files.read("a", encoding="utf-9")),
        ("encoding is not known: 'hex'", lambda: files.read("a", encoding="hex")),
        ("errors is not known: 'loud'", lambda: files.read("a", errors="loud")),
        ("content must be a str or bytes, not PosixPath", lambda: any_.write("a", Path("b"))),
        ("content must be a str or bytes, not int", lambda: any_.write("a", 5)),
        ("mode must be an int such as 0o644, not str", lambda: any_.write("a", "", mode="0644")),
        ("mode must be between 0 and 0o7777", lambda: files.write("a", "", mode=0o10000)),
        ("old must be a str, not bytes", lambda: any_.edit("a", b"x", "y")),
        ("new must be a str, not NoneType", lambda: any_.edit("a", "x", None)),
        ("pattern must not be empty", lambda: files.glob("")),
        ("pattern must be a str, not list", lambda: any_.glob(["a"])),
        ("pattern has '..' behind a wildcard", lambda: files.glob("*/../a")),
        ("pattern must not be longer than 4096 characters", lambda: files.grep("a" * 5000)),
        (
            "pattern is not a regular expression: missing closing parenthesis",
            lambda: files.grep("(a"),
        ),
        ("glob must not be empty", lambda: files.grep("a", glob="")),
        ("context must be at least 0, not -1", lambda: files.grep("a", context=-1)),
        ("limit must be at least 1, not 0", lambda: files.grep("a", limit=0)),
        ("limit must be an int, not NoneType", lambda: any_.grep("a", limit=None)),
        ("host_folder must not be empty", lambda: files.import_folder("")),
        (
            "ignore must be a pattern, a list of patterns or a function, not int",
            lambda: any_.import_folder(".", ignore=5),
        ),
        ("to must not hold a NUL", lambda: files.import_folder(".", "a\0")),
        ("host_folder must be a str or os.PathLike, not NoneType", lambda: any_.export(None)),
        ("unsafe must be 'refuse' or 'skip', not True", lambda: any_.export("x", unsafe=True)),
        (
            "source must be bytes, a binary file or a path of the host, not dict",
            lambda: any_.import_archive({}),
        ),
        (
            "source must be a binary file, but its read() returned str",
            lambda: any_.import_archive(io.StringIO("a")),
        ),
        (
            "format must be one of 'tar', 'tar.gz', 'zip', not 'rar'",
            lambda: any_.export_archive(format="rar"),
        ),
        (
            "file must be a binary file that is open for writing, not str",
            lambda: any_.export_archive(file="x.tgz"),
        ),
    ]


def test_a_wrong_argument_is_named(files: SandboxFiles) -> None:
    files.write("a", "x")
    for message, call in misuses(files):
        with pytest.raises((TypeError, ValueError)) as caught:
            call()
        assert str(caught.value).startswith(message)


def test_paths_may_be_path_objects(files: SandboxFiles) -> None:
    files.write(PurePosixPath("a") / "b", "x")
    assert files.read(PurePosixPath("/workspace/a/b")) == "x"
    assert files.stat("./a//./b").path == "/workspace/a/b"


# in and out


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "main.py").write_text("print(1)\n")
    (root / "src" / "main.pyc").write_bytes(b"\0\1")
    (root / "src" / "deep" / "x").write_bytes(b"")
    (root / "run.sh").write_text("echo hi\n")
    (root / "run.sh").chmod(0o755)
    os.utime(root / "run.sh", (1000, 1000))
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref")
    (root / "latest").symlink_to("src/main.py")
    return root


def test_a_folder_is_imported(files: SandboxFiles, project: Path) -> None:
    written = files.import_folder(project, "work", ignore=["*.pyc", ".git"])
    assert written == [
        "/workspace/work/latest",
        "/workspace/work/run.sh",
        "/workspace/work/src/main.py",
        "/workspace/work/src/deep/x",
    ]
    assert files.stat("work/run.sh") == FileInfo(
        "/workspace/work/run.sh", "file", size=8, mode=0o755, mtime=1000.0
    )
    assert files.stat("work/latest", follow=False).target == "src/main.py"
    assert files.read("work/latest") == "print(1)\n"


@pytest.mark.parametrize(
    ("ignore", "left"),
    [
        ((), [".git/HEAD", "latest", "run.sh", "src/deep/x", "src/main.py", "src/main.pyc"]),
        ("src", [".git/HEAD", "latest", "run.sh"]),
        (["src/*.py*", ".git/"], ["latest", "run.sh", "src/deep/x"]),
        ({"s*", "*t"}, ["run.sh"]),
        (
            lambda path: path.endswith(("x", ".py")) or path == ".git",
            ["latest", "run.sh", "src/main.pyc"],
        ),
    ],
)
def test_what_is_ignored(files: SandboxFiles, project: Path, ignore: Any, left: list[str]) -> None:
    written = files.import_folder(project, "/tmp/in", ignore=ignore)
    assert sorted(path.removeprefix("/tmp/in/") for path in written) == left


def test_a_folder_is_exported(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.execute(
        "mkdir -p out/d; cd out; echo hi > a; chmod 750 a; touch -d @7 a; ln -s ../a d/l; "
        "ln -s $PWD/a abs; cd .."
    )
    target = tmp_path / "new" / "target"
    written = sandbox.files.export(target, "out")
    assert sorted(written) == [f"{target}/a", f"{target}/abs", f"{target}/d/l"]
    assert (target / "a").read_text() == "hi\n"
    assert (target / "a").stat().st_mtime == 7
    assert (target / "a").stat().st_mode & 0o100
    assert os.readlink(target / "d" / "l") == "../a"
    assert os.readlink(target / "abs") == "a"


def test_one_file_is_exported(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.execute("mkdir d; echo hi > d/result; ln -s d/result link")
    assert sandbox.files.export(tmp_path, "d/result") == [f"{tmp_path}/result"]
    assert sandbox.files.export(tmp_path, "link") == [f"{tmp_path}/link"]
    assert (tmp_path / "link").read_text() == "hi\n"
    assert not (tmp_path / "link").is_symlink()


def test_an_export_overwrites_nothing_unasked(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.execute("echo new > b; echo new > a; mkdir d; echo new > d/c")
    (tmp_path / "b").write_text("mine")
    (tmp_path / "d").mkdir()
    with pytest.raises(FileExistsError) as caught:
        sandbox.files.export(tmp_path)
    assert caught.value.filename == str(tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "d"]
    sandbox.files.export(tmp_path, overwrite=True)
    assert [(tmp_path / name).read_text() for name in ("a", "b", "d/c")] == ["new\n"] * 3
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".part")]


def test_host_errors_name_the_path_on_the_host(files: SandboxFiles, project: Path) -> None:
    with pytest.raises(FileNotFoundError, match=str(project / "nope")):
        files.import_folder(project / "nope")
    with pytest.raises(FileNotFoundError, match=str(project / "nope")):
        files.import_archive(project / "nope")
    with pytest.raises(NotADirectoryError):
        files.import_folder(project / "run.sh")
    with pytest.raises(OSError):
        files.export(project / "run.sh")


def test_what_is_in_the_way_of_an_import_is_replaced(sandbox: Sandbox, project: Path) -> None:
    sandbox.execute(
        "mkdir -p src; ln -s /etc src/deep; ln -s /etc/passwd run.sh; mkfifo latest; "
        "echo old > src/main.py"
    )
    sandbox.files.as_root().import_folder(project)
    assert sandbox.files.read("run.sh") == "echo hi\n"
    assert sandbox.files.read("src/main.py") == "print(1)\n"
    assert not sandbox.files.exists("/etc/x")
    assert "root" in sandbox.files.read("/etc/passwd")
    sandbox.files.as_root().remove("src", recursive=True)
    sandbox.files.as_root().remove(".git", recursive=True)
    sandbox.execute("rm -rf *; mkdir run.sh")
    assert number_of(lambda: sandbox.files.import_folder(project)) == errno.EISDIR
    sandbox.execute("rm -rf * .git; echo > src")
    assert number_of(lambda: sandbox.files.import_folder(project)) == errno.ENOTDIR
    assert number_of(lambda: sandbox.files.import_folder(project, "/etc/hostname")) == errno.ENOTDIR


@pytest.mark.parametrize("format", ["tar", "tar.gz", "zip"])
def test_an_archive_is_made_and_unpacked(sandbox: Sandbox, tmp_path: Path, format: Any) -> None:
    sandbox.execute(
        "mkdir -p d/empty; echo hi > d/a; chmod 750 d/a; touch -d @1000000000 d/a; "
        "ln -s d/a l; echo é > 'ü n'"
    )
    data = sandbox.files.export_archive(format=format)
    assert data == sandbox.files.export_archive("/workspace", format=format)
    target = io.BytesIO()
    sandbox.files.export_archive(format=format, file=target)
    assert target.getvalue() == data
    (tmp_path / "archive").write_bytes(data)
    sources: list[Any] = [
        data,
        memoryview(data),
        io.BytesIO(data),
        tmp_path / "archive",
        str(tmp_path / "archive"),
    ]
    for source in sources:
        with Sandbox() as other:
            written = other.files.import_archive(source, "x")
            assert written == [f"/workspace/x/{name}" for name in ("d/a", "l", "ü n")]
            assert other.files.stat("x/d/a") == FileInfo(
                "/workspace/x/d/a", "file", size=3, mode=0o750, mtime=1e9
            )
            assert other.files.stat("x/l", follow=False).target == "d/a"
            assert other.files.list("x/d/empty") == []
    other_tools = {"tar": "tar tf f", "tar.gz": "tar tzf f", "zip": "unzip -Z1 f"}
    sandbox.files.write("/tmp/f", data)
    assert sandbox.execute(f"cd /tmp; {other_tools[format]}").stdout.split("\n")[:3] == [
        "d/",
        "l",
        "ü n",
    ]


@pytest.mark.parametrize("option", ["", "z", "j", "J"])
def test_archives_of_the_sandboxes_own_tar(sandbox: Sandbox, option: str) -> None:
    sandbox.execute(f"mkdir d; echo hi > d/a; ln d/a d/b; ln -s a d/c; tar c{option}f /tmp/x.tar d")
    with Sandbox() as other:
        other.files.import_archive(sandbox.files.read_bytes("/tmp/x.tar"))
        assert [other.files.read(f"d/{name}") for name in "abc"] == ["hi\n"] * 3


@pytest.mark.parametrize("kind", ["host", "overlay"])
def test_a_write_to_a_mount_that_does_not_fit_changes_nothing(project: Path, kind: str) -> None:
    limits = Limits(file_bytes=1000, total_bytes=1500)
    host = HostFileSystem(project, read_only=kind == "overlay", limits=limits)
    mount = host if kind == "host" else OverlayFileSystem(host, MemoryFileSystem(limits))
    with Sandbox(mounts={"/host": mount}) as sandbox:
        files = sandbox.files
        files.write("/host/old", "as it was")
        assert number_of(lambda: files.write("/host/old", bytes(1200))) == errno.EFBIG
        assert number_of(lambda: files.write("/host/old", bytes(1200), append=True)) == errno.EFBIG
        assert number_of(lambda: files.write("/host/new", bytes(1200))) == errno.EFBIG
        files.write("/host/more", bytes(900))
        assert number_of(lambda: files.write("/host/old", bytes(800))) == errno.ENOSPC
        assert files.read("/host/old") == "as it was"
        assert not files.exists("/host/new")
        assert files.edit("/host/src/main.py", "print", "show") == 1
    expected = "show(1)\n" if kind == "host" else "print(1)\n"
    assert (project / "src" / "main.py").read_text() == expected


def test_folders_of_the_host_that_are_mounted_are_files_too(project: Path, tmp_path: Path) -> None:
    (project / "out").symlink_to("/etc/passwd")
    with Sandbox(mounts={"/host": HostFileSystem(project)}) as sandbox:
        assert sandbox.files.read("/host/src/main.py") == "print(1)\n"
        assert sandbox.files.grep("print", "/host")[0].path == "/host/src/main.py"
        assert number_of(lambda: sandbox.files.read("/host/out")) == errno.EACCES
        assert number_of(lambda: sandbox.files.as_root().write("/host/a", "x")) == errno.EROFS
        assert number_of(lambda: sandbox.files.export(tmp_path / "x", "/host")) == errno.EACCES


names = st.text(st.sampled_from("aB.é-\udcff\n "), min_size=1, max_size=6).filter(
    lambda name: name not in (".", "..")
)
trees = st.recursive(
    st.binary(max_size=40) | st.sampled_from(["x", "../a", "a/b"]),
    lambda below: st.dictionaries(names, below, max_size=4),
    max_leaves=12,
).filter(lambda tree: isinstance(tree, dict))


def build(files: SandboxFiles, tree: Any, path: str) -> None:
    files.mkdir(path)
    for name, content in tree.items():
        below = f"{path}/{name}"
        if isinstance(content, dict):
            build(files, content, below)
        elif isinstance(content, bytes):
            files.write(below, content, mode=0o755 if len(content) % 2 else 0o644)
        elif path != "/workspace/in" or not content.startswith(".."):
            files._owner.fs.symlink(content, below)


def content_of(files: SandboxFiles, path: str) -> dict[str, object]:
    return {
        info.path.removeprefix(path): (
            info.kind,
            info.mode,
            info.target,
            info.is_file and files.read_bytes(info.path),
        )
        for info in files.list(path, recursive=True)
    }


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(trees)
def test_what_goes_out_comes_in_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, tree: Any
) -> None:
    with Sandbox(clock=lambda: 1e9) as sandbox:
        files = sandbox.files
        build(files, tree, "/workspace/in")
        expected = content_of(files, "/workspace/in")
        folder = tmp_path_factory.mktemp("out")
        files.export(folder, "in")
        files.import_folder(folder, "folder")
        assert content_of(files, "/workspace/folder") == expected
        files.import_archive(files.export_archive("in", format="tar"), "tar")
        assert content_of(files, "/workspace/tar") == expected
        if "\udcff" not in "".join(expected):
            files.import_archive(files.export_archive("in", format="zip"), "zip")
            assert content_of(files, "/workspace/zip") == expected
