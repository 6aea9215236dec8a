"""`SandboxFiles`, the public class behind `sandbox.files`."""

from __future__ import annotations

import errno
import itertools
import os
import posixpath
import stat as stat_module

from agentsandbox.files.arguments import (
    check_codec,
    check_count,
    check_mode,
    content_bytes,
    path_text,
    pattern_text,
    pattern_texts,
    skips_unsafe,
    text_bytes,
)
from agentsandbox.files.contents import (
    check_regular,
    make_directories,
    read_regular,
    replaced,
    stat_or_none,
    store,
)
from agentsandbox.files.turns import Guard, Turn, time_budget
from agentsandbox.files.values import FileInfo
from agentsandbox.kernel.fs.base import os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    import builtins
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO, Literal, overload

    from agentsandbox.files.archives import ArchiveFormat
    from agentsandbox.files.arguments import StrPath
    from agentsandbox.files.members import Member
    from agentsandbox.files.turns import Owner
    from agentsandbox.files.values import Kind, Match
    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.fs.memory import MemoryFileSystem
    from agentsandbox.limits import Limits

_KINDS: dict[int, Kind] = {
    stat_module.S_IFREG: "file",
    stat_module.S_IFDIR: "directory",
    stat_module.S_IFLNK: "link",
}

_SENT = 1 << 20
"""The bytes of an archive that are written to the host's file at once."""


class SandboxFiles:
    """The files of a sandbox, for the program that owns it: `sandbox.files`.

    It acts with the permissions of the agent, user 1000: it may read and write only what the agent
    may. `as_root()` may do everything except change what is mounted read-only, such as skills.

    Paths are texts or `os.PathLike`. Relative ones start at the shell's working directory,
    `sandbox.cwd`; "~" is an ordinary character. All returned paths are absolute. Links are
    followed, but links to directories neither by wildcards nor by operations on a whole tree.

    Raises `OSError` with `errno` and `filename` for what the filesystem refuses, `ValueError` and
    `TypeError` for an argument that cannot be used, `ClosedError` (a `SandboxError`) when the
    sandbox is closed. Only regular files are read and written: a device or a named pipe, which a
    script may have put in a file's place, is `EINVAL`. No file beyond `limits.file_bytes` is read
    (`EFBIG`), and nothing takes longer than `limits.timeout` (`TimeoutError`).

    Every call takes the sandbox's lock. A call from another thread waits until a running execution
    ends. A call from the same thread, from a command of the host for example, sees the files as
    they are at that moment.
    """

    __slots__ = ("_owner", "_root")

    def __init__(self, sandbox: Owner, *, root: bool = False) -> None:
        self._owner = sandbox
        self._root = root

    def as_root(self) -> SandboxFiles:
        """Return the same files without permission checks; new files belong to root."""
        return SandboxFiles(self._owner, root=True)

    @property
    def is_root(self) -> bool:
        """Whether permissions are not checked."""
        return self._root

    def __repr__(self) -> str:
        return f"<SandboxFiles of {self._owner!r}{' as root' if self._root else ''}>"

    # one file

    def read(self, path: StrPath, *, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return a file as text; line ends stay as they are.

        Raises `UnicodeDecodeError`, a `ValueError`, for bytes that are not in that encoding.
        `errors="replace"` and `errors="surrogateescape"` accept them; `read_bytes` returns bytes.
        """
        check_codec(encoding, errors)
        return str(self.read_bytes(path), encoding, errors)

    def read_bytes(self, path: StrPath) -> bytes:
        """Return all bytes of a file."""
        with self._turn() as turn:
            return read_regular(turn.fs, turn.path(path))

    def write(
        self,
        path: StrPath,
        content: str | bytes,
        *,
        parents: bool = True,
        mode: int | None = None,
        append: bool = False,
    ) -> None:
        """Write a text as UTF-8, or bytes: all of it, or nothing if that fails.

        parents  make missing directories
        mode     the permission bits; by default 0o644 for a new file, unchanged for another
        append   write at the end of the file
        """
        data = content_bytes(content)
        if mode is not None:
            check_mode(mode)
        with self._turn() as turn:
            full = turn.path(path)
            if parents:
                make_directories(turn.fs, posixpath.dirname(full.rstrip("/")))
            store(turn.fs, full, data, mode=mode, append=append)

    def edit(self, path: StrPath, old: str, new: str, *, all: bool = False) -> int:
        """Replace a text in a file by another, exactly as given; return the number of replacements.

        Without `all` the text must occur exactly once; the `ValueError` says how often it occurs
        and in which lines, and the file does not change. Bytes that are not UTF-8 are kept.
        """
        before, after = text_bytes(old, "old"), text_bytes(new, "new")
        if not before:
            raise ValueError("old must not be empty: `write` replaces all of a file")
        with self._turn() as turn:
            full = turn.path(path)
            data = read_regular(turn.fs, full)
            edited, count = replaced(
                data, before, after, full, every=all, most=turn.fs.limits.file_bytes
            )
            store(turn.fs, full, edited)
            return count

    def touch(self, path: StrPath) -> None:
        """Create an empty file, or set an existing file's time of change to now."""
        with self._turn() as turn:
            full = turn.path(path)
            if stat_or_none(turn.fs, full) is None:
                store(turn.fs, full, b"")
            else:
                turn.fs.utime(full, turn.fs.clock())

    # looking

    def stat(self, path: StrPath, *, follow: bool = True) -> FileInfo:
        """Describe a file or directory; with `follow=False` a link itself."""
        with self._turn() as turn:
            full = turn.path(path)
            return _describe(turn.fs, full, turn.fs.stat(full, follow=follow))

    def exists(self, path: StrPath) -> bool:
        """Whether the path exists; a link that leads nowhere does not count."""
        with self._turn() as turn:
            return turn.fs.exists(turn.path(path))

    def is_file(self, path: StrPath) -> bool:
        """Whether it is a regular file, or a link to one."""
        with self._turn() as turn:
            return turn.fs.is_file(turn.path(path))

    def is_dir(self, path: StrPath) -> bool:
        """Whether it is a directory, or a link to one."""
        with self._turn() as turn:
            return turn.fs.is_dir(turn.path(path))

    def list(
        self, path: StrPath = ".", *, recursive: bool = False, hidden: bool = True
    ) -> builtins.list[FileInfo]:
        """Describe the entries of a directory, sorted by name. Links are not followed.

        recursive  also describe everything below, each directory before its entries; a directory
                   that may not be read is described without its entries
        hidden     include names that begin with a dot
        """
        with self._turn() as turn:
            full = turn.path(path)
            if recursive:
                from agentsandbox.files.searching import tree_of

                return [*_described(turn.fs, tree_of(turn.fs, full, turn.budget(), hidden=hidden))]
            names = turn.fs.listdir(full)
            paths = [posixpath.join(full, name) for name in names if hidden or name[0] != "."]
            return [_describe(turn.fs, each, turn.fs.stat(each, follow=False)) for each in paths]

    def glob(self, pattern: str, *, hidden: bool = True) -> builtins.list[str]:
        """Return the paths that a pattern matches, sorted.

        `*`, `?` and `[…]` match within a name, `**` any number of directories, `{a,b}` both; a
        slash at the end matches directories only. With `hidden=False` wildcards do not match names
        that begin with a dot. A backslash quotes.
        """
        from agentsandbox.files.searching import find_paths

        text = pattern_text(pattern, "pattern")
        with self._turn() as turn:
            return find_paths(turn.fs, turn.path("."), text, turn.budget(), hidden=hidden)

    def grep(
        self,
        pattern: str,
        path: StrPath = ".",
        *,
        glob: str | None = None,
        ignore_case: bool = False,
        fixed: bool = False,
        context: int = 0,
        limit: int = 1000,
        hidden: bool = True,
    ) -> builtins.list[Match]:
        r"""Return the lines that match a regular expression: in a file, or below a directory.

        The syntax is that of `grep -P` (Perl's: \d, \b, (?:…), look-around); with `fixed` the
        pattern is a plain text. Files with a NUL are not text and are left out. Below a directory,
        files that may not be read are left out too.

        glob     only files that match this pattern, by name, or if it has a slash by the path below
                 `path`
        context  the number of lines before and after each match to return with it
        limit    stop after this number of matches
        hidden   include names that begin with a dot
        """
        from agentsandbox.files.searching import find_lines, line_search

        text = pattern_text(pattern, "pattern")
        names = None if glob is None else pattern_text(glob, "glob")
        check_count(context, "context", 0)
        check_count(limit, "limit", 1)
        with self._turn() as turn:
            full = turn.path(path)
            search = line_search(text, turn.budget(), ignore_case=ignore_case, fixed=fixed)
            is_tree = turn.fs.stat(full).is_dir
            paths = _files_below(turn, full, names, hidden=hidden) if is_tree else iter((full,))
            matches = find_lines(turn.fs, paths, search, context=context, skips=is_tree)
            return [*itertools.islice(matches, limit)]

    # names

    def mkdir(self, path: StrPath, *, parents: bool = True, exist_ok: bool = False) -> None:
        """Make a directory, with `parents` also the missing ones above it.

        Raises `FileExistsError` if the path exists, with `exist_ok` only if it is not a directory.
        """
        with self._turn() as turn:
            full = turn.path(path)
            if exist_ok and turn.fs.is_dir(full):
                return
            if parents:
                make_directories(turn.fs, posixpath.dirname(full.rstrip("/")))
            turn.fs.mkdir(full)

    def remove(self, path: StrPath, *, recursive: bool = False) -> None:
        """Remove a file, a link itself, or an empty directory; with `recursive` any directory."""
        with self._turn() as turn:
            full = turn.path(path)
            if not turn.fs.stat(full, follow=False).is_dir:
                turn.fs.unlink(full)
            elif not recursive:
                turn.fs.rmdir(full)
            elif turn.fs.realpath(full) == "/":
                raise os_error(errno.EBUSY, full)
            else:
                turn.fs.remove_tree(full)

    def move(self, source: StrPath, target: StrPath, *, overwrite: bool = False) -> None:
        """Move a file or directory to the path `target`; a link itself is moved.

        Raises `FileExistsError` if `target` exists, even as a directory; with `overwrite` a file is
        replaced.
        """
        with self._turn() as turn:
            old, new = turn.path(source, "source"), turn.path(target, "target")
            _check_free(turn.fs, new, overwrite=overwrite)
            try:
                turn.fs.rename(old, new)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                _copy(turn, old, new)
                turn.fs.remove_tree(old)

    def copy(self, source: StrPath, target: StrPath, *, overwrite: bool = False) -> None:
        """Copy a file, or a directory with all below it, to the path `target`.

        A link at `source` is followed, links below it are copied as links. Raises `FileExistsError`
        if `target` exists, even as a directory; with `overwrite` a file is replaced.
        """
        with self._turn() as turn:
            old, new = turn.path(source, "source"), turn.path(target, "target")
            real = turn.fs.realpath(old)
            _check_free(turn.fs, new, overwrite=overwrite)
            _copy(turn, real, new)

    # in and out

    def import_folder(
        self,
        host_folder: StrPath,
        to: StrPath = ".",
        *,
        ignore: str | Sequence[str] | Callable[[str], object] = (),
        follow_symlinks: bool = False,
    ) -> builtins.list[str]:
        """Copy the contents of a folder of the host to the directory `to`.

        Returns the paths of the files and links in the sandbox. Existing files are replaced, but a
        directory only by a directory. Everything is read before anything is written, and no more
        than the sandbox's limits allow (`ENOSPC`, `EFBIG`).

        ignore           patterns of files to leave out, by name ("*.pyc", ".git"), or with a slash
                         by the path below the folder ("build/*.o"); or a function of that path
        follow_symlinks  copy the targets of links, wherever they are on the host. Without it links
                         are copied as links, and one that leads out of the folder is refused
                         (`EPERM`)
        """
        from agentsandbox.files.folders import read_folder

        folder = path_text(host_folder, "host_folder")
        left_out = ignore if callable(ignore) else pattern_texts(ignore, "ignore")
        limits, target = self._limits_and_target(to)
        budget = time_budget(limits)
        with Guard():
            members = read_folder(
                folder, limits, budget, ignore=left_out, follow_symlinks=follow_symlinks
            )
        return self._place(members, target)

    def export(
        self,
        host_folder: StrPath,
        path: StrPath = ".",
        *,
        overwrite: bool = False,
        unsafe: Literal["refuse", "skip"] = "refuse",
    ) -> builtins.list[str]:
        """Copy the contents of a directory, or one file, into a folder of the host.

        Returns the paths of the files and links on the host. The folder is made if it is missing.
        Nothing outside it is ever written, whatever links it contains, and each file is written
        completely or not at all.

        overwrite  replace existing files; without it nothing is written if there are any
                   (`FileExistsError`)
        unsafe     what to do with links that lead out of the directory, devices and named pipes:
                   refuse the whole export, or leave them out. Links that stay inside are copied as
                   links
        """
        from agentsandbox.files.folders import write_folder

        folder = path_text(host_folder, "host_folder")
        skip = skips_unsafe(unsafe)
        with self._turn() as turn:
            members, read = _outgoing(turn, turn.path(path), skip_unsafe=skip)
            return write_folder(folder, members, read, overwrite=overwrite)

    def import_archive(
        self, source: StrPath | bytes | BinaryIO, to: StrPath = "."
    ) -> builtins.list[str]:
        """Unpack a tar archive (plain, gzip, bzip2, xz) or a zip archive into the directory `to`.

        Returns the paths of the files and links. `source` is bytes, a binary file, or a path on the
        host. An archive need not be trusted: it is read and checked completely before anything is
        written. Existing files are replaced, but a directory only by a directory.

        Raises `ArchiveError` (a `SandboxError`) for names and links that lead out, names that occur
        twice, devices, and damage; `OSError` (`ENOSPC`, `EFBIG`) for more than the sandbox's limits
        allow.
        """
        from agentsandbox.files.archives import most_bytes, read_archive
        from agentsandbox.files.folders import read_file

        limits, target = self._limits_and_target(to)
        most, kind = most_bytes(limits), type(source).__name__
        if isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
        elif isinstance(source, (str, os.PathLike)):
            data = read_file(path_text(source, "source"), most)
        elif hasattr(source, "read"):
            data = read_file(source, most)
        else:
            raise TypeError(
                f"source must be bytes, a binary file or a path of the host, not {kind}"
            )
        with Guard():
            members = read_archive(data, limits, time_budget(limits))
        return self._place(members, target)

    if TYPE_CHECKING:

        @overload
        def export_archive(
            self,
            path: StrPath = ...,
            *,
            format: ArchiveFormat = ...,
            file: None = ...,
            unsafe: Literal["refuse", "skip"] = ...,
        ) -> bytes: ...
        @overload
        def export_archive(
            self,
            path: StrPath = ...,
            *,
            format: ArchiveFormat = ...,
            file: BinaryIO,
            unsafe: Literal["refuse", "skip"] = ...,
        ) -> None: ...

    def export_archive(
        self,
        path: StrPath = ".",
        *,
        format: ArchiveFormat = "tar.gz",
        file: BinaryIO | None = None,
        unsafe: Literal["refuse", "skip"] = "refuse",
    ) -> bytes | None:
        """Pack the contents of a directory, or one file, into an archive.

        Returns the bytes of the archive, or writes them to a binary `file`. The format is "tar",
        "tar.gz" or "zip". Names in it are relative to the directory, in order; the same files with
        the same times give the same archive. `unsafe` is that of `export`.
        """
        from agentsandbox.files.archives import FORMATS, write_archive

        if format not in FORMATS:
            known = ", ".join(map(repr, FORMATS))
            raise ValueError(f"format must be one of {known}, not {format!r}")
        if file is not None and not hasattr(file, "write"):
            kind = type(file).__name__
            raise TypeError(f"file must be a binary file that is open for writing, not {kind}")
        skip = skips_unsafe(unsafe)
        with self._turn() as turn:
            members, read = _outgoing(turn, turn.path(path), skip_unsafe=skip)
            data = write_archive(members, read, format)
        if file is None:
            return data
        for start in range(0, len(data), _SENT):
            file.write(data[start : start + _SENT])
        return None

    # the machine

    def _turn(self) -> Turn:
        return Turn(self._owner, self._root)

    def _limits_and_target(self, to: StrPath) -> tuple[Limits, str]:
        """The limits, and the absolute path to copy to, before anything of the host is read."""
        with self._turn() as turn:
            return turn.fs.limits, turn.path(to, "to")

    def _place(self, members: Sequence[Member], to: str) -> builtins.list[str]:
        from agentsandbox.files.transfer import place

        with self._turn() as turn:
            return place(turn.fs, members, to, turn.budget())


def _describe(fs: MemoryFileSystem, path: str, info: Stat) -> FileInfo:
    kind = _KINDS.get(stat_module.S_IFMT(info.mode), "other")
    target = fs.readlink(path) if kind == "link" else None
    size = info.size if kind == "file" else 0
    return FileInfo(
        path, kind, size=size, mode=info.permissions, mtime=float(info.mtime), target=target
    )


def _described(fs: MemoryFileSystem, paths: Iterable[tuple[str, int]]) -> Iterator[FileInfo]:
    """Describe the paths; those whose status the user may not see are left out."""
    for path, _ in paths:
        try:
            yield _describe(fs, path, fs.stat(path, follow=False))
        except PermissionError:
            continue


def _files_below(turn: Turn, top: str, glob: str | None, *, hidden: bool) -> builtins.list[str]:
    """Return the regular files below a directory, or those that a pattern matches."""
    from agentsandbox.files.searching import find_paths, tree_of

    fs, budget = turn.fs, turn.budget()
    if glob is None:
        tree = tree_of(fs, top, budget, hidden=hidden)
        return [path for path, kind in tree if stat_module.S_ISREG(kind)]
    pattern = glob.lstrip("/") if "/" in glob else f"**/{glob}"
    found = [
        (path, stat_or_none(fs, path, follow=False))
        for path in find_paths(fs, top, pattern, budget, hidden=hidden)
    ]
    return [path for path, info in found if info is not None and info.is_file]


def _check_free(fs: MemoryFileSystem, path: str, *, overwrite: bool) -> None:
    """Raise `FileExistsError` for a target that must not be replaced."""
    info = stat_or_none(fs, path, follow=False)
    if info is not None and (info.is_dir or not overwrite):
        raise os_error(errno.EEXIST, path)


def _copy(turn: Turn, source: str, target: str) -> None:
    """Copy a file, a link or a tree (EINVAL for anything else) to where there is no directory."""
    from agentsandbox.files.searching import tree_of

    fs = turn.fs
    info = fs.stat(source, follow=False)
    if info.is_dir:
        for path, kind in tree_of(fs, source, turn.budget(), hidden=True):
            if not (stat_module.S_ISDIR(kind) or stat_module.S_ISLNK(kind)):
                check_regular(fs.stat(path, follow=False), path)
        fs.copy_tree(source, target)
        return
    data = b"" if info.is_link else read_regular(fs, source)
    there = stat_or_none(fs, target, follow=False)
    if there is not None and (info.is_link or not there.is_file):
        fs.unlink(target)
    if info.is_link:
        fs.symlink(fs.readlink(source), target)
    else:
        store(fs, target, data, mode=info.permissions)


def _outgoing(
    turn: Turn, path: str, *, skip_unsafe: bool
) -> tuple[builtins.list[Member], Callable[[Member], bytes]]:
    """Return the members to copy out, and a function that reads the content of one."""
    from agentsandbox.files.transfer import outgoing

    budget = turn.budget()
    top, members = outgoing(turn.fs, path, budget, skip_unsafe=skip_unsafe)

    def read(member: Member) -> bytes:
        budget.check_time()
        return read_regular(turn.fs, posixpath.join(top, member.path))

    return members, read
