"""Files become members of an archive."""

from __future__ import annotations

import os
import posixpath
import stat as stat_module

from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands._time.times import nanoseconds
from agentsandbox.commands.tar.format import HeaderStyle, Member, NameTooLongError, build_headers
from agentsandbox.commands.tar.names import Exclusions, SafeNames, show, show_in_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.tar.names import Transformation
    from agentsandbox.commands.tar.stream import ArchiveWriter
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import Stat

_CACHE_TAG = b"Signature: 8a477f597d28d172789f06886806bc55"


class CreationOptions:
    """What the options ask of members that are written."""

    __slots__ = (
        "absolute", "clamp", "dereference", "exclusions", "forgiving", "group", "hard_links",
        "mode", "mtime", "newer", "newer_status", "numeric", "owner", "recursive", "remove",
        "style", "tags", "told", "transformation", "verbose", "warn",
    )  # fmt: skip

    def __init__(self, exclusions: Exclusions, transformation: Transformation) -> None:
        self.exclusions = exclusions
        self.transformation = transformation
        self.absolute = False
        self.dereference = False
        self.recursive = True
        self.remove = False
        self.owner: tuple[str, int] | None = None
        self.group: tuple[str, int] | None = None
        self.numeric = False
        self.mode: Callable[[int, bool], int] | None = None
        self.mtime: int | None = None
        self.verbose: Callable[[Member, str], None] = lambda member, name: None
        self.warn: Callable[[str, str], None] = lambda keyword, message: None
        self.style = HeaderStyle()
        self.told = False
        self.clamp = False
        self.forgiving = False
        self.hard_links = True
        self.newer: int | None = None
        self.newer_status = False
        self.tags: list[tuple[str, str]] = []


class Creation:
    """Writes members one after the other."""

    def __init__(
        self,
        ctx: CommandContext,
        writer: ArchiveWriter,
        options: CreationOptions,
        archive_path: str | None,
    ) -> None:
        self.ctx = ctx
        self.writer = writer
        self.options = options
        self.archive_path = archive_path
        self.names = SafeNames(lambda message: ctx.warn(message, ctx.status), options.absolute)
        self.owners = Owners(ctx)
        self.linked: dict[int, str] = {}
        self.newer_than: Callable[[str, int], bool] | None = None
        self.removals: list[tuple[str, bool]] = []

    def fail(self, name: str, doing: str, error: OSError) -> None:
        """Report a file that cannot be archived and go on."""
        if self.options.forgiving and doing in ("open", "stat"):
            self.options.warn(
                "failed-read",
                f"{show_in_message(name)}: Warning: Cannot {doing}: {os.strerror(error.errno or 5)}",
            )
            return
        self.ctx.warn(
            f"{show_in_message(name)}: Cannot {doing}: {os.strerror(error.errno or 5)}", 2
        )

    def add(self, name: str, directory: str) -> None:
        """Archive an operand, with all that is below it."""
        pending = [name.rstrip("/") or "/"]
        while pending:
            self.ctx.budget.step()
            here = pending.pop()
            if self.options.exclusions.match(here, self.ctx.budget):
                continue
            pending.extend(reversed(self._add_one(here, directory)))

    def _add_one(self, name: str, directory: str) -> list[str]:
        """Archive one file; the names below a directory."""
        path = posixpath.join(directory, name)
        shown = self.names.strip(self.options.transformation.apply(name, self.ctx.budget))
        try:
            info = self.ctx.fs.stat(path, follow=self.options.dereference)
        except OSError as error:
            self.fail(name, "stat", error)
            return []
        if self.options.newer is not None and not info.is_dir and self._is_old(info):
            if self.options.told:
                self.options.warn(
                    "file-unchanged", f"{show_in_message(name)}: file is unchanged; not dumped"
                )
            return []
        if self.archive_path is not None and posixpath.normpath(path) == self.archive_path:
            self.options.warn(
                "ignore-archive", f"{show_in_message(name)}: file is the archive; not dumped"
            )
            return []
        below: list[str] = []
        if info.is_dir and self.options.recursive:
            try:
                below = [posixpath.join(name, entry) for entry in self.ctx.fs.listdir(path)]
            except OSError as error:
                self.fail(name, "open", error)
                return []
            kept = self._tagged(name, path, below)
            if kept is None:
                return []
            below = kept
        if self.newer_than is not None and not self.newer_than(name.rstrip("/"), int(info.mtime)):
            return below
        member = self._member(name, shown, path, info)
        if member is None or not self._write(member, name, path):
            return []
        if self.options.remove:
            self.removals.append((path, info.is_dir))
        return below

    def _member(self, name: str, shown: str, path: str, info: Stat) -> Member | None:
        options = self.options
        kind = {
            stat_module.S_IFREG: "file",
            stat_module.S_IFDIR: "dir",
            stat_module.S_IFLNK: "link",
            stat_module.S_IFIFO: "fifo",
            stat_module.S_IFCHR: "char",
            stat_module.S_IFBLK: "block",
        }.get(stat_module.S_IFMT(info.mode))
        if kind is None:
            self.ctx.warn(f"{show_in_message(name)}: socket ignored", self.ctx.status)
            return None
        if kind == "dir" and not shown.endswith("/"):
            shown += "/"
        member = Member(shown, kind, mode=info.permissions, mtime=nanoseconds(info.mtime))
        member.atime, member.ctime = nanoseconds(info.atime), nanoseconds(info.ctime)
        if kind == "file":
            member.size = info.size
            self._link_to_earlier(member, info)
        elif kind == "link":
            member.link = options.transformation.apply(
                self.ctx.fs.readlink(path), self.ctx.budget, "s"
            )
        elif kind in ("char", "block"):
            member.device = divmod(info.rdev, 256)
        self._own(member, info)
        if options.mode is not None and kind != "link":
            member.mode = options.mode(member.mode, kind == "dir")
        if options.mtime is not None and not (options.clamp and member.mtime <= options.mtime):
            member.mtime = options.mtime
        return member

    def _is_old(self, info: Stat) -> bool:
        limit = self.options.newer or 0
        if nanoseconds(info.mtime) >= limit:
            return False
        return not (self.options.newer_status and nanoseconds(info.ctime) >= limit)

    def _tagged(self, name: str, path: str, below: list[str]) -> list[str] | None:
        """What of a directory is archived when it holds a tag; None when not even the directory
        itself.
        """
        for kind, tag in self.options.tags:
            tag_path = posixpath.join(path, tag)
            if not self.ctx.fs.exists(tag_path) or (
                tag == "CACHEDIR.TAG" and not self._is_cache_tag(tag_path)
            ):
                continue
            if self.options.told:
                what = "directory" if kind == "all" else "contents"
                self.options.warn(
                    "cachedir",
                    f"{show_in_message(name)}/: contains a cache directory tag {show(tag)}; {what} not dumped",
                )
            if kind == "all":
                return None
            return [posixpath.join(name, tag)]
        return below

    def _is_cache_tag(self, path: str) -> bool:
        try:
            source = self.ctx.fs.open(path, "r")
        except OSError:
            return False
        try:
            return source.read(len(_CACHE_TAG)) == _CACHE_TAG
        finally:
            source.release()

    def _link_to_earlier(self, member: Member, info: Stat) -> None:
        """A further name of a file that is already in the archive becomes a hard link."""
        if info.nlink < 2 or not info.ino or not self.options.hard_links:
            return
        earlier = self.linked.setdefault(info.ino, member.name)
        if earlier != member.name:
            member.kind, member.size = "hard", 0
            member.link = self.names.strip(earlier, is_link=True)

    def _own(self, member: Member, info: Stat) -> None:
        options = self.options
        member.user, member.uid = options.owner or (
            self.owners.user(info.uid) if self.owners.has_user(info.uid) else "",
            info.uid,
        )
        member.group, member.gid = options.group or (
            self.owners.group(info.gid) if self.owners.has_group(info.gid) else "",
            info.gid,
        )
        if options.numeric:
            member.user = member.group = ""

    def _write(self, member: Member, name: str, path: str) -> bool:
        source = None
        if member.kind == "file":
            try:
                source = self.ctx.fs.open(path, "r")
            except OSError as error:
                self.fail(name, "open", error)
                return False
        try:
            headers = build_headers(member, self.options.style)
        except NameTooLongError as error:
            self.ctx.warn(f"{show_in_message(member.name)}: {error}", 2)
            if source is not None:
                source.release()
            return False
        self.options.verbose(
            member, name + "/" if member.kind == "dir" and not name.endswith("/") else name
        )
        self.writer.write(headers)
        if source is not None:
            left = member.size
            try:
                while left and (block := source.read(min(left, 262144))):
                    self.writer.write(block)
                    left -= len(block)
            finally:
                source.release()
            if left:
                self.options.warn(
                    "file-shrank",
                    f"{show_in_message(name)}: File shrank by {left} bytes; padding with zeros",
                )
                self.ctx.status = max(self.ctx.status, 1)
                while left:
                    self.writer.write(bytes(min(left, 262144)))
                    left -= min(left, 262144)
            self.writer.pad(member.size)
        return True

    def remove_added(self) -> None:
        """`--remove-files`: delete what was archived, directories last."""
        for path, is_dir in reversed(self.removals):
            self.ctx.budget.step()
            try:
                if is_dir:
                    self.ctx.fs.rmdir(path)
                else:
                    self.ctx.fs.unlink(path)
            except OSError as error:
                self.fail(path, "rmdir" if is_dir else "unlink", error)
