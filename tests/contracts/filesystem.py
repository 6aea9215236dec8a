"""What every filesystem does. A test class inherits `FileSystemContract` and gives the fixture
`fs`: an empty one.
"""

from __future__ import annotations

import errno

import pytest

from agentsandbox.kernel.fs.base import FileSystem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def number_of(call: Callable[..., object], *arguments: object, **options: object) -> str:
    """The name of the error that a call raises."""
    with pytest.raises(OSError) as caught:
        call(*arguments, **options)
    assert caught.value.errno is not None
    return errno.errorcode[caught.value.errno]


def tree(fs: FileSystem, path: str = "/") -> dict[str, object]:
    """All that is below a path: None a directory, bytes a file, "-> text" a link."""
    found: dict[str, object] = {}
    for here, directories, others in fs.walk(path):
        prefix = here if here.endswith("/") else f"{here}/"
        found.update(dict.fromkeys([prefix + name for name in directories]))
        for name in others:
            info = fs.stat(prefix + name, follow=False)
            found[prefix + name] = (
                f"-> {fs.readlink(prefix + name)}" if info.is_link else fs.read_bytes(prefix + name)
            )
    return found


class FileSystemContract:
    """Errors are given by name, as the kernel gives them."""

    depth = 1000
    """How deep a tree is tried."""

    @pytest.fixture
    def fs(self) -> FileSystem:
        raise NotImplementedError

    # reading and writing

    def test_what_was_written_is_read(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"\x00\xff\n")
        assert fs.read_bytes("/f") == b"\x00\xff\n"
        assert fs.stat("/f").size == 3
        assert fs.stat("/f").is_file

    def test_writing_again_replaces_the_content_and_keeps_the_permissions(
        self, fs: FileSystem
    ) -> None:
        fs.write_bytes("/f", b"long content", permissions=0o600)
        fs.write_bytes("/f", b"new", permissions=0o644)
        assert fs.read_bytes("/f") == b"new"
        assert fs.stat("/f").permissions == 0o600

    def test_reading_what_is_not_there(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"")
        assert number_of(fs.open, "/none") == "ENOENT"
        assert number_of(fs.open, "/none/f") == "ENOENT"
        assert number_of(fs.open, "/f/below") == "ENOTDIR"
        assert number_of(fs.open, "/f/") == "ENOTDIR"
        assert number_of(fs.stat, "/f/.") == "ENOTDIR"
        assert number_of(fs.stat, "") == "ENOENT"

    def test_a_directory_is_not_opened(self, fs: FileSystem) -> None:
        fs.mkdir("/d")
        for mode in ("r", "w", "a", "r+"):
            assert number_of(fs.open, "/d", mode) == "EISDIR"
        assert number_of(fs.open, "/d", "x") == "EEXIST"

    def test_creating_with_a_trailing_slash(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"")
        assert number_of(fs.open, "/new/", "w") == "EISDIR"
        assert number_of(fs.open, "/f/", "w") == "EISDIR"
        assert number_of(fs.open, "/f/", "r+") == "ENOTDIR"
        assert number_of(fs.open, "/none/", "r") == "ENOENT"

    def test_creating_without_the_parent(self, fs: FileSystem) -> None:
        for mode in ("w", "a", "x"):
            assert number_of(fs.open, "/none/f", mode) == "ENOENT"
        assert not fs.exists("/none")

    def test_exclusive_creation(self, fs: FileSystem) -> None:
        with fs.open("/f", "x") as file:
            file.write(b"1")
        assert number_of(fs.open, "/f", "x") == "EEXIST"
        fs.symlink("nowhere", "/l")
        assert number_of(fs.open, "/l", "x") == "EEXIST"

    def test_update_needs_a_file(self, fs: FileSystem) -> None:
        assert number_of(fs.open, "/f", "r+") == "ENOENT"
        fs.write_bytes("/f", b"abcdef")
        with fs.open("/f", "r+") as file:
            assert file.read(2) == b"ab"
            file.write(b"XY")
            assert file.read() == b"ef"
        assert fs.read_bytes("/f") == b"abXYef"

    def test_append_goes_to_the_end_wherever_the_position_is(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"one\n")
        with fs.open("/f", "a") as first, fs.open("/f", "a") as second:
            first.write(b"two\n")
            second.write(b"three\n")
            first.seek(0)
            first.write(b"four\n")
        assert fs.read_bytes("/f") == b"one\ntwo\nthree\nfour\n"

    def test_a_file_has_one_position(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"one\ntwo\nthree")
        with fs.open("/f") as file:
            assert file.readline() == b"one\n"
            assert file.read(2) == b"tw"
            assert file.readline() == b"o\n"
            assert file.seek(-5, 2) == 8
            assert file.readline() == b"three"
            assert file.readline() == b""
            assert file.read() == b""
            assert file.seek(1) == 1
            assert file.seek(2, 1) == 3
            assert number_of(file.seek, -1) == "EINVAL"
            assert number_of(file.seek, 0, 9) == "EINVAL"

    def test_lines_end_where_the_caller_says(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"a\0b\0c")
        with fs.open("/f") as file:
            assert list(file.lines(b"\0")) == [b"a\0", b"b\0", b"c"]

    def test_writing_beyond_the_end_leaves_zeros(self, fs: FileSystem) -> None:
        with fs.open("/f", "w") as file:
            file.write(b"ab")
            file.seek(4)
            file.write(b"c")
        assert fs.read_bytes("/f") == b"ab\0\0c"

    def test_seeking_beyond_the_end_alone_changes_nothing(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"ab")
        with fs.open("/f", "r+") as file:
            file.seek(10)
            assert file.read() == b""
            file.write(b"")
        assert fs.read_bytes("/f") == b"ab"

    def test_truncating(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"abcdef")
        with fs.open("/f", "r+") as file:
            file.truncate(3)
            assert file.stat().size == 3
            file.truncate(5)
        assert fs.read_bytes("/f") == b"abc\0\0"

    def test_a_writer_sees_a_file_that_another_emptied(self, fs: FileSystem) -> None:
        with fs.open("/f", "w") as file:
            file.write(b"abc")
            fs.write_bytes("/f", b"")
            file.write(b"d")
        assert fs.read_bytes("/f") == b"\0\0\0d"

    def test_reading_is_refused_to_a_writer_and_the_other_way_round(self, fs: FileSystem) -> None:
        with fs.open("/f", "w") as file:
            assert number_of(file.read) == "EBADF"
        with fs.open("/f") as file:
            assert number_of(file.write, b"x") == "EBADF"
            assert number_of(file.truncate, 0) == "EINVAL"

    def test_an_open_file_outlives_its_name(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"abc")
        with fs.open("/f", "r+") as file:
            fs.unlink("/f")
            assert not fs.exists("/f")
            fs.write_bytes("/f", b"another")
            assert file.read() == b"abc"
            file.write(b"def")
            file.seek(0)
            assert file.read() == b"abcdef"
            assert file.stat().size == 6
        assert fs.read_bytes("/f") == b"another"

    def test_an_open_file_follows_its_name(self, fs: FileSystem) -> None:
        with fs.open("/f", "w") as file:
            fs.rename("/f", "/g")
            file.write(b"moved")
        assert fs.read_bytes("/g") == b"moved"
        assert not fs.exists("/f")

    # directories

    def test_listing_is_sorted_by_code_point(self, fs: FileSystem) -> None:
        for name in ("b", "a", "B", "ä", ".h", "10", "9"):
            fs.write_bytes(f"/{name}", b"")
        assert fs.listdir("/") == [".h", "10", "9", "B", "a", "b", "ä"]

    def test_listing_what_is_no_directory(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"")
        assert number_of(fs.listdir, "/f") == "ENOTDIR"
        assert number_of(fs.listdir, "/none") == "ENOENT"
        assert fs.listdir("/") == ["f"]

    def test_scanning_tells_types(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"")
        fs.mkdir("/d")
        fs.symlink("d", "/l")
        assert fs.scan("/") == (["d", "f", "l"], [0o040000, 0o100000, 0o120000])

    def test_making_directories(self, fs: FileSystem) -> None:
        fs.mkdir("/d", 0o750)
        assert fs.stat("/d").is_dir
        assert fs.stat("/d").permissions == 0o750
        fs.mkdir("/slash/")
        assert fs.is_dir("/slash")
        fs.write_bytes("/f", b"")
        fs.symlink("none", "/l")
        assert number_of(fs.mkdir, "/d") == "EEXIST"
        assert number_of(fs.mkdir, "/f") == "EEXIST"
        assert number_of(fs.mkdir, "/l") == "EEXIST"
        assert number_of(fs.mkdir, "/l/") == "EEXIST"
        assert number_of(fs.mkdir, "/") == "EEXIST"
        assert number_of(fs.mkdir, "/d/.") == "EEXIST"
        assert number_of(fs.mkdir, "/d/..") == "EEXIST"
        assert number_of(fs.mkdir, "/none/d") == "ENOENT"
        assert number_of(fs.mkdir, "/f/d") == "ENOTDIR"

    def test_making_directories_with_their_parents(self, fs: FileSystem) -> None:
        fs.makedirs("/a/b/c")
        fs.makedirs("/a/b/c")
        fs.makedirs("/a/b/c/")
        assert fs.is_dir("/a/b/c")
        fs.write_bytes("/f", b"")
        assert number_of(fs.makedirs, "/f") == "EEXIST"
        assert number_of(fs.makedirs, "/f/d") in ("ENOTDIR", "EEXIST")

    def test_removing_directories(self, fs: FileSystem) -> None:
        fs.makedirs("/d/e")
        fs.write_bytes("/f", b"")
        fs.symlink("d/e", "/l")
        assert number_of(fs.rmdir, "/d") == "ENOTEMPTY"
        assert number_of(fs.rmdir, "/f") == "ENOTDIR"
        assert number_of(fs.rmdir, "/l") == "ENOTDIR"
        assert number_of(fs.rmdir, "/l/") == "ENOTDIR"
        assert number_of(fs.rmdir, "/none") == "ENOENT"
        assert number_of(fs.rmdir, "/d/e/.") == "EINVAL"
        assert number_of(fs.rmdir, "/d/e/..") == "ENOTEMPTY"
        fs.rmdir("/d/e")
        fs.rmdir("/d/")
        assert fs.listdir("/") == ["f", "l"]

    def test_unlinking(self, fs: FileSystem) -> None:
        fs.mkdir("/d")
        fs.write_bytes("/f", b"")
        fs.symlink("d", "/l")
        assert number_of(fs.unlink, "/d") == "EISDIR"
        assert number_of(fs.unlink, "/f/") == "ENOTDIR"
        assert number_of(fs.unlink, "/l/") == "ENOTDIR"
        assert number_of(fs.unlink, "/none") == "ENOENT"
        fs.unlink("/l")
        fs.unlink("/f")
        assert fs.listdir("/") == ["d"]

    # renaming

    def test_renaming_moves(self, fs: FileSystem) -> None:
        fs.makedirs("/a/b")
        fs.mkdir("/c")
        fs.write_bytes("/a/b/f", b"1")
        fs.rename("/a/b", "/c/d")
        fs.rename("/c/d/f", "/c/g")
        assert tree(fs) == {"/a": None, "/c": None, "/c/d": None, "/c/g": b"1"}

    def test_renaming_replaces_a_file(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"1")
        fs.write_bytes("/g", b"2")
        fs.symlink("g", "/l")
        fs.rename("/f", "/l")
        assert tree(fs) == {"/g": b"2", "/l": b"1"}

    def test_renaming_replaces_an_empty_directory_only(self, fs: FileSystem) -> None:
        fs.makedirs("/full/x")
        fs.makedirs("/empty")
        fs.makedirs("/d/y")
        assert number_of(fs.rename, "/d", "/full") == "ENOTEMPTY"
        fs.rename("/d", "/empty")
        assert tree(fs) == {"/empty": None, "/empty/y": None, "/full": None, "/full/x": None}

    def test_renaming_between_kinds(self, fs: FileSystem) -> None:
        fs.mkdir("/d")
        fs.write_bytes("/f", b"")
        fs.symlink("d", "/l")
        assert number_of(fs.rename, "/f", "/d") == "EISDIR"
        assert number_of(fs.rename, "/d", "/f") == "ENOTDIR"
        assert number_of(fs.rename, "/d", "/l") == "ENOTDIR"
        assert number_of(fs.rename, "/f", "/new/") == "ENOTDIR"
        assert number_of(fs.rename, "/f/", "/new") == "ENOTDIR"
        assert number_of(fs.rename, "/none", "/new") == "ENOENT"
        assert number_of(fs.rename, "/f", "/none/new") == "ENOENT"
        fs.rename("/d", "/e/")
        assert fs.listdir("/") == ["e", "f", "l"]

    def test_renaming_into_itself(self, fs: FileSystem) -> None:
        fs.makedirs("/d/e")
        assert number_of(fs.rename, "/d", "/d/e/f") == "EINVAL"
        assert number_of(fs.rename, "/d", "/d/e") == "EINVAL"
        assert number_of(fs.rename, "/d/e", "/d") == "ENOTEMPTY"
        assert number_of(fs.rename, "/d/.", "/x") == "EBUSY"
        assert number_of(fs.rename, "/d", "/d/..") == "EBUSY"
        fs.rename("/d", "/d")
        assert tree(fs) == {"/d": None, "/d/e": None}

    def test_renaming_one_of_two_names_to_the_other_does_nothing(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"1")
        fs.link("/f", "/g")
        fs.rename("/f", "/g")
        assert fs.listdir("/") == ["f", "g"]

    # links

    def test_symbolic_links_are_followed(self, fs: FileSystem) -> None:
        fs.makedirs("/a/b")
        fs.write_bytes("/a/b/f", b"1")
        fs.symlink("a/b", "/relative")
        fs.symlink("../b/f", "/a/b/up")
        assert fs.read_bytes("/relative/f") == b"1"
        assert fs.read_bytes("/relative/up") == b"1"
        assert fs.readlink("/relative") == "a/b"
        assert fs.stat("/relative").is_dir
        assert fs.stat("/relative", follow=False).is_link
        assert fs.stat("/relative", follow=False).size == 3
        assert fs.realpath("/relative/../b/up") == "/a/b/f"

    def test_absolute_links_begin_at_the_root(self, fs: FileSystem) -> None:
        fs.makedirs("/a/b")
        fs.write_bytes("/a/f", b"1")
        fs.symlink("/a/f", "/a/b/l")
        fs.symlink("/", "/root")
        assert fs.read_bytes("/a/b/l") == b"1"
        assert fs.readlink("/a/b/l") == "/a/f"
        assert fs.listdir("/root") == ["a", "root"]

    def test_dot_dot_is_where_the_link_leads(self, fs: FileSystem) -> None:
        fs.makedirs("/a/b/c")
        fs.symlink("a/b/c", "/l")
        fs.write_bytes("/l/../f", b"1")
        assert tree(fs) == {
            "/a": None,
            "/a/b": None,
            "/a/b/c": None,
            "/a/b/f": b"1",
            "/l": "-> a/b/c",
        }

    def test_dangling_links(self, fs: FileSystem) -> None:
        fs.symlink("target", "/l")
        assert not fs.exists("/l")
        assert fs.exists("/l", follow=False)
        assert number_of(fs.open, "/l") == "ENOENT"
        assert number_of(fs.stat, "/l") == "ENOENT"
        fs.write_bytes("/l", b"through")
        assert fs.read_bytes("/target") == b"through"

    def test_links_in_a_circle(self, fs: FileSystem) -> None:
        fs.symlink("b", "/a")
        fs.symlink("a", "/b")
        fs.symlink("self/x", "/self")
        for path in ("/a", "/b/c", "/self"):
            assert number_of(fs.open, path) == "ELOOP"
            assert number_of(fs.stat, path) == "ELOOP"
        assert number_of(fs.open, "/a", "w") == "ELOOP"
        fs.unlink("/a")
        assert fs.listdir("/") == ["b", "self"]

    def test_forty_links_are_followed_and_no_more(self, fs: FileSystem) -> None:
        fs.write_bytes("/0", b"end")
        for number in range(1, 42):
            fs.symlink(str(number - 1), f"/{number}")
        assert fs.read_bytes("/40") == b"end"
        assert number_of(fs.read_bytes, "/41") == "ELOOP"

    def test_making_links(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"")
        assert number_of(fs.symlink, "x", "/f") == "EEXIST"
        assert number_of(fs.symlink, "x", "/none/l") == "ENOENT"
        assert number_of(fs.symlink, "x", "/l/") == "ENOENT"
        assert number_of(fs.symlink, "", "/l") == "ENOENT"
        assert number_of(fs.readlink, "/f") == "EINVAL"
        assert number_of(fs.readlink, "/none") == "ENOENT"

    def test_a_link_with_a_trailing_slash(self, fs: FileSystem) -> None:
        fs.mkdir("/d")
        fs.write_bytes("/f", b"")
        fs.symlink("d/", "/l")
        fs.symlink("f", "/m")
        assert fs.stat("/l/", follow=False).is_dir
        assert fs.stat("/l", follow=False).is_link
        assert number_of(fs.stat, "/m/") == "ENOTDIR"
        assert number_of(fs.open, "/m/") == "ENOTDIR"

    def test_hard_links_are_one_file(self, fs: FileSystem) -> None:
        fs.mkdir("/d")
        fs.write_bytes("/f", b"1")
        fs.link("/f", "/d/g")
        assert fs.stat("/f").nlink == 2
        assert fs.stat("/f").ino == fs.stat("/d/g").ino
        fs.write_bytes("/d/g", b"changed")
        assert fs.read_bytes("/f") == b"changed"
        fs.chmod("/f", 0o600)
        assert fs.stat("/d/g").permissions == 0o600
        fs.unlink("/f")
        assert fs.stat("/d/g").nlink == 1
        assert fs.read_bytes("/d/g") == b"changed"

    def test_making_hard_links(self, fs: FileSystem) -> None:
        fs.mkdir("/d")
        fs.write_bytes("/f", b"1")
        fs.symlink("none", "/l")
        assert number_of(fs.link, "/d", "/e") == "EPERM"
        assert number_of(fs.link, "/none", "/e") == "ENOENT"
        assert number_of(fs.link, "/f", "/d") == "EEXIST"
        assert number_of(fs.link, "/f", "/none/e") == "ENOENT"
        fs.link("/l", "/m")
        assert fs.readlink("/m") == "none"
        assert fs.stat("/m", follow=False).nlink == 2

    def test_a_directory_counts_its_subdirectories(self, fs: FileSystem) -> None:
        fs.makedirs("/d/a")
        fs.mkdir("/d/b")
        fs.write_bytes("/d/f", b"")
        assert fs.stat("/d").nlink == 4
        fs.rename("/d/b", "/e")
        assert fs.stat("/d").nlink == 3
        fs.rmdir("/d/a")
        assert fs.stat("/d").nlink == 2

    # attributes

    def test_permissions(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"", permissions=0o640)
        assert fs.stat("/f").permissions == 0o640
        fs.chmod("/f", 0o755)
        assert fs.stat("/f").permissions == 0o755
        fs.symlink("f", "/l")
        fs.chmod("/l", 0o600)
        assert fs.stat("/f").permissions == 0o600
        assert fs.stat("/l", follow=False).permissions == 0o777
        fs.mkdir("/d")
        fs.chmod("/d/.", 0o700)
        assert fs.stat("/d").permissions == 0o700
        assert number_of(fs.chmod, "/none", 0o600) == "ENOENT"

    def test_all_twelve_bits_are_kept(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"")
        fs.chmod("/f", 0o107755)
        assert fs.stat("/f").permissions == 0o7755

    def test_times(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"")
        fs.utime("/f", 1_000_000_000.25)
        assert fs.stat("/f").mtime == 1_000_000_000.25
        fs.symlink("f", "/l")
        fs.utime("/l", 5.0)
        assert fs.stat("/f").mtime == 5.0
        fs.utime("/l", 7.0, follow=False)
        assert fs.stat("/f").mtime == 5.0
        assert fs.stat("/l", follow=False).mtime == 7.0
        fs.write_bytes("/f", b"new")
        assert fs.stat("/f").mtime > 1_000_000
        fs.mkdir("/d")
        fs.utime("/d", 5.0)
        fs.write_bytes("/d/f", b"")
        assert fs.stat("/d").mtime > 1_000_000

    # names

    def test_names_may_hold_anything_but_slash_and_nul(self, fs: FileSystem) -> None:
        names = [" ", "\n", "*", "-r", "x y", "é", "e\u0301", "\udcff", "\\", '"']
        for name in names:
            fs.write_bytes(f"/{name}", name.encode("utf-8", "surrogateescape"))
        assert sorted(fs.listdir("/")) == sorted(names)
        for name in names:
            assert fs.read_bytes(f"/{name}") == name.encode("utf-8", "surrogateescape")
        assert number_of(fs.write_bytes, "/a\0b", b"") in ("EINVAL", "ENOENT")

    def test_names_have_255_bytes(self, fs: FileSystem) -> None:
        fs.write_bytes("/" + "x" * 255, b"1")
        assert fs.read_bytes("/" + "x" * 255) == b"1"
        for name in ("x" * 256, "ä" * 128):
            assert number_of(fs.open, f"/{name}", "w") == "ENAMETOOLONG"
            assert number_of(fs.open, f"/{name}") == "ENAMETOOLONG"
            assert number_of(fs.stat, f"/{name}/x") == "ENAMETOOLONG"
            assert number_of(fs.mkdir, f"/{name}") == "ENAMETOOLONG"
            assert number_of(fs.symlink, "x", f"/{name}") == "ENAMETOOLONG"

    def test_paths_have_4095_bytes(self, fs: FileSystem) -> None:
        assert number_of(fs.stat, "/x" * 2048) == "ENAMETOOLONG"

    def test_paths_are_read_as_the_kernel_reads_them(self, fs: FileSystem) -> None:
        fs.makedirs("/a/b")
        fs.write_bytes("//a///b/./f", b"1")
        for path in ("/a/b/f", "/a/b/../b/f", "/./a//b/f", "/a/b/../../a/b/f"):
            assert fs.read_bytes(path) == b"1"
        assert number_of(fs.stat, "/a/none/..") == "ENOENT"
        assert number_of(fs.stat, "/a/b/f/..") == "ENOTDIR"
        assert fs.stat("/").is_dir

    # trees

    def test_walking(self, fs: FileSystem) -> None:
        fs.makedirs("/a/b")
        fs.write_bytes("/a/f", b"")
        fs.symlink("b", "/a/l")
        fs.mkdir("/c")
        assert list(fs.walk("/")) == [
            ("/", ["a", "c"], []),
            ("/a", ["b"], ["f", "l"]),
            ("/a/b", [], []),
            ("/c", [], []),
        ]

    def test_walking_goes_where_the_caller_lets_it(self, fs: FileSystem) -> None:
        fs.makedirs("/a/b")
        fs.makedirs("/c/d")
        seen = []
        for here, directories, _ in fs.walk("/"):
            seen.append(here)
            if "a" in directories:
                directories.remove("a")
        assert seen == ["/", "/c", "/c/d"]

    def test_walking_what_is_no_directory(self, fs: FileSystem) -> None:
        fs.write_bytes("/f", b"")
        assert number_of(list, fs.walk("/f")) == "ENOTDIR"
        assert number_of(list, fs.walk("/none")) == "ENOENT"

    def test_copying_a_tree(self, fs: FileSystem) -> None:
        fs.makedirs("/a/b")
        fs.write_bytes("/a/b/f", b"1", permissions=0o700)
        fs.symlink("b/f", "/a/l")
        fs.copy_tree("/a", "/copy")
        fs.write_bytes("/copy/b/f", b"2")
        assert tree(fs, "/a") == {"/a/b": None, "/a/b/f": b"1", "/a/l": "-> b/f"}
        assert tree(fs, "/copy") == {"/copy/b": None, "/copy/b/f": b"2", "/copy/l": "-> b/f"}
        assert fs.stat("/copy/b/f").permissions == 0o700
        assert number_of(fs.copy_tree, "/a", "/copy") == "EEXIST"
        assert number_of(fs.copy_tree, "/a", "/a/b/inside") == "EINVAL"
        assert number_of(fs.copy_tree, "/none", "/x") == "ENOENT"
        fs.copy_tree("/a/l", "/l")
        assert fs.readlink("/l") == "b/f"

    def test_removing_a_tree(self, fs: FileSystem) -> None:
        fs.makedirs("/a/b/c")
        fs.mkdir("/kept")
        fs.write_bytes("/kept/f", b"1")
        fs.write_bytes("/a/b/f", b"1")
        fs.symlink("../../kept", "/a/b/l")
        fs.remove_tree("/a")
        assert tree(fs) == {"/kept": None, "/kept/f": b"1"}
        fs.remove_tree("/kept/f")
        assert number_of(fs.remove_tree, "/none") == "ENOENT"

    def test_deep_trees(self, fs: FileSystem) -> None:
        path = ""
        for _ in range(self.depth):
            path += "/d"
            fs.mkdir(path)
        assert sum(1 for _ in fs.walk("/")) == self.depth + 1
        fs.copy_tree("/d", "/e")
        assert sum(1 for _ in fs.walk("/")) == 2 * self.depth + 1
        fs.remove_tree("/d")
        assert fs.listdir("/") == ["e"]
        fs.remove_tree("/e")
