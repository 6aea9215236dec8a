"""Files become members of an archive."""

from __future__ import annotations

import os
import posixpath
import stat as stat_module

from agentsandbox.commands._files.owners import Owners
from agentsandbox.commands._time.times import nanoseconds
from agentsandbox.commands.tar.format import Member, build_headers
from agentsandbox.commands.tar.names import SafeNames, show, show_in_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.tar.options import TarOptions
    from agentsandbox.commands.tar.stream import ArchiveWriter
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import File, Stat

_KINDS = {
    stat_module.S_IFREG: "file",
    stat_module.S_IFDIR: "dir",
    stat_module.S_IFLNK: "link",
    stat_module.S_IFIFO: "fifo",
    stat_module.S_IFCHR: "char",
    stat_module.S_IFBLK: "block",
}
_PORTION = 262144


class Creation:
    """Writes files as members, one after the other."""

    def __init__(
        self,
        ctx: CommandContext,
        writer: ArchiveWriter,
        options: TarOptions,
        archive: Stat | None,
        tell: Callable[[Member, str], None] | None,
    ) -> None:
        self.ctx = ctx
        self.writer = writer
        self.options = options
        self._archive = archive.ino if archive is not None and archive.is_file else 0
        """The inode number of the archive, which is not archived; 0 if it is no file."""
        self._tell = tell
        """What -v prints of a member and the file's name."""
        self.recursive = True
        self.newer_than: Callable[[str, int | None], bool] | None = None
        """Whether -u adds a file of this name and time (seconds; None for a directory)."""
        self._names = SafeNames(options.warn, options.absolute)
        self._owners = Owners(ctx)
        self._linked: dict[int, str] = {}
        """The first name of each archived file with several names, by inode number."""
        self._removals: list[tuple[str, str, bool]] = []
        """Path, name in messages, and whether it is a directory."""

    def _fail(self, name: str, doing: str, error: OSError) -> None:
        """Report a file that cannot be archived and go on."""
        reason = os.strerror(error.errno or 5)
        self.ctx.warn(f"{show_in_message(name)}: Cannot {doing}: {reason}", 2)

    def add(self, name: str, directory: str) -> None:
        """Archive an operand and everything below it."""
        pending = [name.rstrip("/") or "/"]
        while pending:
            self.ctx.budget.step()
            here = pending.pop()
            if self.options.exclusions.match(here, self.ctx.budget):
                continue
            pending.extend(reversed(self._add_one(here, directory)))

    def _add_one(self, name: str, directory: str) -> list[str]:
        """Archive one file; return the names below a directory."""
        options = self.options
        path = posixpath.join(directory, name)
        shown = options.transformation.apply(self._names.strip(name), self.ctx.budget)
        try:
            info = self.ctx.fs.stat(path, follow=options.args.flag("dereference"))
        except OSError as error:
            self._fail(name, "stat", error)
            return []
        if options.newer is not None and not info.is_dir and self._is_old(info):
            if options.verbose:
                options.warn(f"{show_in_message(name)}: file is unchanged; not dumped")
            return []
        if self._archive and info.is_file and info.ino == self._archive:
            options.warn(f"{show_in_message(name)}: file is the archive; not dumped")
            return []
        below: list[str] = []
        if info.is_dir and self.recursive:
            try:
                below = [posixpath.join(name, entry) for entry in self.ctx.fs.listdir(path)]
            except OSError as error:
                self._fail(name, "open", error)
                return []
            if self._is_tagged(name, path):
                return []
        if self.newer_than is not None:
            mtime = None if info.is_dir else int(info.mtime)
            if not self.newer_than(name.rstrip("/"), mtime):
                return below
        member = self._member(name, shown, path, info)
        if member is None or not self._write(member, name, path):
            return []
        if options.args.flag("remove-files"):
            elsewhere = posixpath.normpath(directory) != self.ctx.cwd
            path = posixpath.normpath(path) if elsewhere else path
            self._removals.append((path, path if elsewhere else name, info.is_dir))
        return below

    def _is_tagged(self, name: str, path: str) -> bool:
        """Whether --exclude-tag-all leaves the directory out."""
        for tag in self.options.args.values("exclude-tag-all"):
            if self.ctx.fs.exists(posixpath.join(path, tag)):
                if self.options.verbose:
                    self.options.warn(
                        f"{show_in_message(name)}/: contains a cache directory tag {show(tag)}; "
                        "directory not dumped"
                    )
                return True
        return False

    def _member(self, name: str, shown: str, path: str, info: Stat) -> Member | None:
        options = self.options
        kind = _KINDS.get(stat_module.S_IFMT(info.mode))
        if kind is None:
            options.warn(f"{show_in_message(name)}: socket ignored")
            return None
        if kind == "dir" and not shown.endswith("/"):
            shown += "/"
        member = Member(shown, kind, mode=info.permissions, mtime=nanoseconds(info.mtime))
        if kind == "file":
            member.size = info.size
            self._link_to_earlier(member, name, info)
        elif kind == "link":
            target = self.ctx.fs.readlink(path)
            member.link = options.transformation.apply(target, self.ctx.budget, "s")
        elif kind in ("char", "block"):
            member.device = divmod(info.rdev, 256)
        self._own(member, info)
        if options.mtime is not None:
            member.mtime = options.mtime
        return member

    def _is_old(self, info: Stat) -> bool:
        """Whether --newer leaves the file out."""
        limit = self.options.newer or 0
        if nanoseconds(info.mtime) >= limit:
            return False
        return not (self.options.newer_status and nanoseconds(info.ctime) >= limit)

    def _link_to_earlier(self, member: Member, name: str, info: Stat) -> None:
        """Make the member a hard link if the archive already holds the file by another name."""
        if info.nlink < 2 or not info.ino:
            return
        earlier = self._linked.setdefault(info.ino, name)
        if earlier != name:
            member.kind, member.size = "hard", 0
            earlier = self._names.strip(earlier, is_link=True)
            member.link = self.options.transformation.apply(earlier, self.ctx.budget, "h")

    def _own(self, member: Member, info: Stat) -> None:
        options, owners = self.options, self._owners
        member.user, member.uid = options.owner or (owners.users.get(info.uid, ""), info.uid)
        member.group, member.gid = options.group or (owners.groups.get(info.gid, ""), info.gid)
        if options.numeric:
            member.user = member.group = ""

    def _write(self, member: Member, name: str, path: str) -> bool:
        source = None
        if member.kind == "file":
            try:
                source = self.ctx.fs.open(path, "r")
            except OSError as error:
                self._fail(name, "open", error)
                return False
        if self._tell is not None:
            is_bare = member.kind == "dir" and not name.endswith("/")
            self._tell(member, name + "/" if is_bare else name)
        self.writer.write(build_headers(member))
        if source is not None:
            self._write_content(member, name, source)
        return True

    def _write_content(self, member: Member, name: str, source: File) -> None:
        left = member.size
        try:
            while left and (block := source.read(min(left, _PORTION))):
                self.writer.write(block)
                left -= len(block)
        finally:
            source.release()
        if left:
            self.ctx.warn(
                f"{show_in_message(name)}: File shrank by {left} bytes; padding with zeros",
                max(self.ctx.status, 1),
            )
            while left:
                self.writer.write(bytes(min(left, _PORTION)))
                left -= min(left, _PORTION)
        self.writer.pad(member.size)

    def remove_added(self) -> None:
        """`--remove-files`: delete what was archived, directories last."""
        for path, name, is_dir in reversed(self._removals):
            self.ctx.budget.step()
            try:
                if is_dir:
                    self.ctx.fs.rmdir(path)
                else:
                    self.ctx.fs.unlink(path)
            except OSError as error:
                self._fail(name, "rmdir" if is_dir else "unlink", error)
