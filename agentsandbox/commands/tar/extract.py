"""Members of an archive become files: nothing outside the directory is touched through what the
archive itself brings.
"""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.commands._text.quoting import quote
from agentsandbox.commands.tar.names import SafeNames, show, show_in_message, strip_components
from agentsandbox.kernel.formats.strftime import format_date
from agentsandbox.kernel.fs.base import Timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.tar.format import Member
    from agentsandbox.commands.tar.names import Transformation
    from agentsandbox.commands.tar.stream import ArchiveReader
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.fs.base import Stat


class ExtractionOptions:
    """What the options ask of an extraction. `existing`: replace, keep, skip, newer or
    overwrite.
    """

    __slots__ = (
        "absolute", "existing", "keep_directories", "keep_links", "keep_mtime", "one_directory",
        "permissions", "strip", "to_stdout", "transformation", "unlink_first", "warn",
    )  # fmt: skip

    def __init__(self, transformation: Transformation) -> None:
        self.existing = "replace"
        self.keep_mtime = True
        self.permissions = False
        self.to_stdout = False
        self.strip = 0
        self.absolute = False
        self.one_directory = ""
        self.transformation = transformation
        self.unlink_first = False
        self.keep_links = False
        self.keep_directories = False
        self.warn: Callable[[str, str], None] = lambda keyword, message: None

    def shape(self, name: str, names: SafeNames, budget: Budget, kind: str = "r") -> str:
        """A name transformed, made safe and without its first directories; "" when nothing is left.
        `kind` as in transformations.
        """
        if kind == "s":
            return self.transformation.apply(name, budget, kind)
        safe = names.strip(self.transformation.apply(name, budget, kind), is_link=kind == "h")
        return (strip_components(safe, self.strip) or "") if self.strip else safe


class Extraction:
    """Extracts members one after the other; times of directories and links that lead out come
    last.
    """

    def __init__(
        self,
        ctx: CommandContext,
        archive: ArchiveReader,
        options: ExtractionOptions,
        directory: str,
    ) -> None:
        self.ctx = ctx
        self.archive = archive
        self.options = options
        self.directory = directory
        self.names = SafeNames(lambda message: ctx.warn(message, ctx.status), options.absolute)
        self.directories: list[tuple[str, Member, str]] = []
        self.delayed: dict[str, tuple[str, Member, str]] = {}

    # names

    def target_name(self, member: Member) -> str | None:
        """The name that the member gets, None when --strip-components leaves nothing."""
        name = self.options.shape(member.name, self.names, self.ctx.budget)
        return (
            posixpath.join(self.options.one_directory, name)
            if name and self.options.one_directory
            else name or None
        )

    def path(self, name: str) -> str:
        """The absolute path of a member's name."""
        return posixpath.join(self.directory, name)

    def fail(self, message: str) -> None:
        """Report a member that cannot be extracted and go on."""
        self.ctx.warn(message, 2)
        self.archive.failed = True

    def fail_os(self, name: str, doing: str, error: OSError) -> None:
        self.fail(
            f"{show_in_message(name)}: Cannot {doing}: {os.strerror(error.errno or errno.EIO)}"
        )

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
        if maker is None:
            if member.kind in ("char", "block"):
                self.fail(
                    f"{show_in_message(name.rstrip('/'))}: Cannot mknod: Operation not permitted"
                )
            else:
                self.fail(
                    f"{show_in_message(name)}: sparse files, dumps and volumes are not available in this sandbox"
                )
            return
        stripped = name.rstrip("/") or name
        if member.kind != "file":
            self.archive.begin_content(0)  # what a size promises there is no content
        if self._may_replace(member, stripped):
            maker(member, stripped)

    def _existing(self, name: str) -> Stat | None:
        try:
            return self.ctx.fs.stat(self.path(name), follow=False)
        except OSError:
            return None

    def _may_replace(self, member: Member, name: str) -> bool:
        policy = self.options.existing
        if policy in ("replace", "overwrite", "keep"):
            return True
        existing = self._existing(name)
        if existing is None:
            return True
        if policy == "skip":
            return False
        if existing.mtime >= member.mtime / 1e9 and not existing.is_dir:
            self.ctx.warn(f"Current {quote(show(name))} is newer or same age", self.ctx.status)
            return False
        return True

    def _make_room(self, name: str) -> bool:
        """Whether a refused creation is worth a second try: a missing parent was made, or what was
        in the way is gone.
        """
        fs = self.ctx.fs
        path = self.path(name)
        existing = self._existing(name)
        if existing is None:
            parent = posixpath.dirname(path)
            if fs.exists(parent, follow=False):
                return False
            try:
                fs.makedirs(parent, 0o777 & ~self.ctx.umask)
            except OSError as error:
                self.fail_os(posixpath.dirname(name), "mkdir", error)
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
        self.delayed.pop(path, None)
        return True

    def _attempt(self, name: str, doing: str, make: object) -> bool:
        assert callable(make)
        try:
            make()
        except OSError as error:
            if error.errno not in (
                errno.EEXIST,
                errno.ENOENT,
                errno.EISDIR,
                errno.ENOTEMPTY,
            ) or not self._make_room(name):
                self.fail_os(name, doing, error)
                return False
            try:
                make()
            except OSError as second:
                self.fail_os(name, doing, second)
                return False
        return True

    def _mode(self, member: Member) -> int:
        return member.mode if self.options.permissions else member.mode & 0o777 & ~self.ctx.umask

    def _check_time(self, member: Member, name: str) -> None:
        """Tell of a time that cannot be."""
        now = int(self.ctx.host.clock() * 1_000_000_000)
        if 0 <= member.mtime <= now:
            return
        when = format_date(member.mtime, "%Y-%m-%d %H:%M:%S", self.ctx.env.get("TZ", ""))
        if member.mtime < 0:
            self.options.warn(
                "timestamp", f"{show_in_message(name)}: implausibly old time stamp {when}"
            )
            return
        seconds, fraction = divmod(member.mtime - now, 1_000_000_000)
        distance = f"{seconds}.{fraction:09d}".rstrip("0").rstrip(".")
        self.options.warn(
            "timestamp", f"{show_in_message(name)}: time stamp {when} is {distance} s in the future"
        )

    def _set_time(self, path: str, member: Member, name: str = "", *, follow: bool = True) -> None:
        if self.options.keep_mtime:
            if name:
                self._check_time(member, name)
            self.ctx.fs.utime(path, Timestamp.from_ns(member.mtime), follow=follow)

    def _file(self, member: Member, name: str) -> None:
        fs, path = self.ctx.fs, self.path(name)
        opened = []
        mode = self._mode(member)

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
            self.fail(
                f"{show_in_message(name)}: Cannot write: {os.strerror(error.errno or errno.EIO)}"
            )
            return
        finally:
            file.release()
        fs.chmod(path, mode)
        self._set_time(path, member, name)

    def _directory(self, member: Member, name: str) -> None:
        fs, path = self.ctx.fs, self.path(name)
        existing = self._existing(name)
        if existing is None or not existing.is_dir:
            if (
                existing is not None
                and (name == "." or self.options.keep_links)
                and fs.is_dir(path)
            ):
                return
            if not self._attempt(name, "mkdir", lambda: fs.mkdir(path, 0o755)):
                return
        elif self.options.unlink_first:
            if not self._replace_directory(name, path):
                return
        elif self.options.keep_directories or self.options.existing in ("keep", "skip", "newer"):
            return
        self.directories.append((path, member, name))

    def _replace_directory(self, name: str, path: str) -> bool:
        """`-U`: an existing directory is removed first, which fails unless it is empty."""
        fs = self.ctx.fs
        if fs.listdir(path):
            self.ctx.warn(
                f"{show_in_message(name.rstrip('/'))}: Cannot unlink: Directory not empty", 2
            )
            return False
        fs.rmdir(path)
        return self._attempt(name, "mkdir", lambda: fs.mkdir(path, 0o755))

    def _link(self, member: Member, name: str) -> None:
        fs, path = self.ctx.fs, self.path(name)
        text = self.options.shape(member.link, self.names, self.ctx.budget, "s")
        leads_out = text.startswith("/") or ".." in text.split("/")
        if leads_out and not self.options.absolute:
            if self._attempt(
                name,
                f"create symlink to {quote(show(text))}",
                lambda: fs.open(path, "x", permissions=0).release(),
            ):
                self.delayed[path] = (text, member, name)
            return
        if self._attempt(
            name, f"create symlink to {quote(show(text))}", lambda: fs.symlink(text, path)
        ):
            self._set_time(path, member, name, follow=False)

    def _hard_link(self, member: Member, name: str) -> None:
        fs, path = self.ctx.fs, self.path(name)
        text = self.options.shape(member.link, self.names, self.ctx.budget, "h")
        source = self.path(text)
        existing, target = self._existing(name), self._existing(text)
        if existing is not None and target is not None and existing.ino == target.ino:
            return
        delayed = self.delayed.get(source)
        if delayed is not None:
            if self._attempt(
                name,
                f"hard link to {quote(show(text))}",
                lambda: fs.open(path, "x", permissions=0).release(),
            ):
                self.delayed[path] = delayed
            return
        self._attempt(name, f"hard link to {quote(show(text))}", lambda: fs.link(source, path))

    def _fifo(self, member: Member, name: str) -> None:
        path = self.path(name)
        if self._attempt(name, "mkfifo", lambda: self.ctx.fs.mkfifo(path, self._mode(member))):
            self._set_time(path, member, name)

    def finish(self) -> None:
        """Make the links that lead out, then set modes and times of directories, the deepest
        first.
        """
        fs = self.ctx.fs
        for path, (text, member, name) in self.delayed.items():
            self.ctx.budget.step()
            try:
                if fs.stat(path, follow=False).is_file:
                    fs.unlink(path)
                    fs.symlink(text, path)
                    self._set_time(path, member, name, follow=False)
            except OSError as error:
                self.fail_os(name, f"create symlink to {quote(show(text))}", error)
        for path, member, name in sorted(self.directories, key=lambda found: -found[0].count("/")):
            self.ctx.budget.step()
            try:
                fs.chmod(path, self._mode(member))
                self._set_time(path, member, name)
            except OSError as error:
                self.fail_os(name, "change mode", error)
