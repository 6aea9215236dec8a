"""Members of an archive become files.

An archive is untrusted, so nothing outside the directory may be touched through what the archive
itself brings:

* names lose leading slashes, and members whose names contain ".." are refused (`SafeNames`, and the
  caller's check), unless -P says that names are absolute;
* files are created exclusively (open mode "x"): what exists is removed first and not written
  through, so a symbolic link from the archive is replaced and not followed;
* a symbolic link whose target leads out ("/…" or "..") is made only at the end. Until then an empty
  file of mode 0 keeps its place, so no later member can be written through the link.

Modes and times of directories are set at the end too, the deepest first: a directory without write
permission could not be filled otherwise, and filling it changes its time.
"""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands.tar.names import SafeNames, show, show_in_message
from agentsandbox.kernel.formats.strftime import format_date
from agentsandbox.kernel.fs.base import Timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.tar.format import Member
    from agentsandbox.commands.tar.options import TarOptions
    from agentsandbox.commands.tar.stream import ArchiveReader
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import File, Stat

_IN_THE_WAY = (errno.EEXIST, errno.ENOENT, errno.EISDIR, errno.ENOTEMPTY)
_NOT_HERE = "sparse files, dumps and volumes are not available in this sandbox"


class Extraction:
    """Extracts members, one after the other; `finish` completes links and directories."""

    def __init__(self, ctx: CommandContext, archive: ArchiveReader, options: TarOptions) -> None:
        self.ctx = ctx
        self.archive = archive
        self.options = options
        self.directory = options.directory
        self._keep_mtime = not options.args.flag("touch")
        self._names = SafeNames(options.warn, options.absolute)
        self._directories: list[tuple[str, Member, str]] = []
        self._delayed: dict[str, tuple[str, Member, str]] = {}

    # names

    def target_name(self, member: Member) -> str:
        """Return the member's name in the directory, "" if --strip-components leaves nothing."""
        name = self.options.shape(member.name, self._names)
        top = self.options.one_directory
        if not name or not top:
            return name
        inner = name.lstrip("./")
        if not inner:
            return top
        is_there = f"{inner}/".startswith(f"{top}/")
        return name if is_there else posixpath.normpath(posixpath.join(top, name))

    def _path(self, name: str) -> str:
        return posixpath.join(self.directory, name)

    def fail(self, name: str, problem: str) -> None:
        """Report a member that cannot be extracted and go on."""
        self.ctx.warn(f"{show_in_message(name)}: {problem}", 2)
        self.archive.failed = True

    def _fail_os(self, name: str, doing: str, error: OSError) -> None:
        self.fail(name, f"Cannot {doing}: {os.strerror(error.errno or errno.EIO)}")

    # members

    def extract(self, member: Member, name: str) -> None:
        """Make the file that the member describes, under its final name."""
        if self.options.to_stdout:
            if member.kind == "file":
                for block in self.archive.content():
                    self.ctx.stdout.write(block)
            return
        if member.kind == "label":
            return
        makers = {
            "file": self._file,
            "dir": self._directory,
            "link": self._link,
            "hard": self._hard_link,
            "fifo": self._fifo,
        }
        maker = makers.get(member.kind)
        stripped = name.rstrip("/") or name
        if maker is None and member.kind in ("char", "block"):
            self.fail(stripped, "Cannot mknod: Operation not permitted")
        elif maker is None:
            self.fail(name, _NOT_HERE)
        else:
            if member.kind != "file":
                self.archive.begin_content(0)  # whatever size the header gives
            if self.options.existing != "skip" or self._existing(stripped) is None:
                maker(member, stripped)

    def _existing(self, name: str) -> Stat | None:
        try:
            return self.ctx.fs.stat(self._path(name), follow=False)
        except OSError:
            return None

    def _attempt(self, name: str, doing: str, make: Callable[[], object]) -> bool:
        """Call `make`, once more after making room; report a failure and return False."""
        try:
            make()
        except OSError as error:
            if error.errno not in _IN_THE_WAY or not self._make_room(name):
                self._fail_os(name, doing, error)
                return False
            try:
                make()
            except OSError as second:
                self._fail_os(name, doing, second)
                return False
        return True

    def _make_room(self, name: str) -> bool:
        """Make a missing parent directory, or remove the file in the way; whether that helped."""
        fs = self.ctx.fs
        path = self._path(name)
        existing = self._existing(name)
        if existing is None:
            parent = posixpath.dirname(path)
            if fs.exists(parent, follow=False):
                return False
            try:
                fs.makedirs(parent, 0o777 & ~self.ctx.umask)
            except OSError as error:
                self._fail_os(posixpath.dirname(name), "mkdir", error)
                return False
            return True
        if self.options.existing == "keep":
            return False
        try:
            if existing.is_dir:
                fs.rmdir(path)
            else:
                fs.unlink(path)
        except OSError:
            return False
        self._delayed.pop(path, None)
        return True

    def _permissions(self, member: Member) -> int:
        return member.mode if self.options.permissions else member.mode & 0o777 & ~self.ctx.umask

    def _check_time(self, member: Member, name: str) -> None:
        """Warn of a time before 1970 or in the future."""
        now = int(self.ctx.host.clock() * 1_000_000_000)
        if 0 <= member.mtime <= now:
            return
        shown = show_in_message(name)
        when = format_date(member.mtime, "%Y-%m-%d %H:%M:%S", self.ctx.env.get("TZ", ""))
        if member.mtime < 0:
            self.options.warn(f"{shown}: implausibly old time stamp {when}")
            return
        seconds, fraction = divmod(member.mtime - now, 1_000_000_000)
        distance = f"{seconds}.{fraction:09d}".rstrip("0").rstrip(".")
        self.options.warn(f"{shown}: time stamp {when} is {distance} s in the future")

    def _set_time(self, path: str, member: Member, name: str = "", *, follow: bool = True) -> None:
        if self._keep_mtime:
            if name:
                self._check_time(member, name)
            self.ctx.fs.utime(path, Timestamp.from_ns(member.mtime), follow=follow)

    def _file(self, member: Member, name: str) -> None:
        fs, path = self.ctx.fs, self._path(name)
        opened: list[File] = []
        mode = self._permissions(member)

        def make() -> None:
            in_place = (
                self.options.existing == "overwrite"
                and fs.is_file(path)
                and not fs.stat(path, follow=False).is_link
            )
            opened.append(fs.open(path, "w" if in_place else "x", permissions=mode))

        if not self._attempt(name, "open", make):
            return
        file = opened[0]
        try:
            for block in self.archive.content():
                file.write(block)
        except OSError as error:
            self._fail_os(name, "write", error)
            return
        finally:
            file.release()
        fs.chmod(path, mode)
        self._set_time(path, member, name)

    def _directory(self, member: Member, name: str) -> None:
        fs, path = self.ctx.fs, self._path(name)
        existing = self._existing(name)
        if existing is None or not existing.is_dir:
            if existing is not None and name == "." and fs.is_dir(path):
                return
            plain = posixpath.normpath(path) if "/." in name else path  # "d/." is d
            is_new = plain == path or not fs.is_dir(plain)
            if is_new and not self._attempt(
                posixpath.normpath(name), "mkdir", lambda: fs.mkdir(plain, 0o755)
            ):
                return
        elif self.options.existing in ("keep", "skip"):
            return
        self._directories.append((path, member, name))

    def _place_for_link(self, path: str) -> None:
        """Make the empty file that keeps a delayed link's place."""
        self.ctx.fs.open(path, "x", permissions=0).release()

    def _link(self, member: Member, name: str) -> None:
        fs, path = self.ctx.fs, self._path(name)
        text = self.options.shape(member.link, self._names, "s")
        leads_out = text.startswith("/") or ".." in text.split("/")
        doing = f"create symlink to {quote(show(text))}"
        if leads_out and not self.options.absolute:
            if self._attempt(name, doing, lambda: self._place_for_link(path)):
                self._delayed[path] = (text, member, name)
        elif self._attempt(name, doing, lambda: fs.symlink(text, path)):
            self._set_time(path, member, name, follow=False)

    def _hard_link(self, member: Member, name: str) -> None:
        fs, path = self.ctx.fs, self._path(name)
        text = self.options.shape(member.link, self._names, "h")
        source = self._path(text)
        existing, target = self._existing(name), self._existing(text)
        if existing is not None and target is not None and existing.ino == target.ino:
            return
        doing = f"hard link to {quote(show(text))}"
        delayed = self._delayed.get(source)
        if delayed is None:
            self._attempt(name, doing, lambda: fs.link(source, path))
        elif self._attempt(name, doing, lambda: self._place_for_link(path)):
            self._delayed[path] = delayed

    def _fifo(self, member: Member, name: str) -> None:
        path = self._path(name)
        mode = self._permissions(member)
        if self._attempt(name, "mkfifo", lambda: self.ctx.fs.mkfifo(path, mode)):
            self._set_time(path, member, name)

    def finish(self) -> None:
        """Make the links that lead out, then set modes and times of directories."""
        fs = self.ctx.fs
        for path, (text, member, name) in self._delayed.items():
            self.ctx.budget.step()
            try:
                if fs.stat(path, follow=False).is_file:
                    fs.unlink(path)
                    fs.symlink(text, path)
                    self._set_time(path, member, name, follow=False)
            except OSError as error:
                self._fail_os(name, f"create symlink to {quote(show(text))}", error)
        for path, member, name in sorted(self._directories, key=lambda found: -found[0].count("/")):
            self.ctx.budget.step()
            try:
                fs.chmod(path, self._permissions(member))
                self._set_time(path, member, name)
            except OSError as error:
                self._fail_os(name, "change mode", error)
