"""Copying files and trees, for `cp`, for `install`, and for `mv` between filesystems.

A tree is walked with a list of pending pairs (source, target) instead of recursion. A `_Directory`
follows the content of each directory in the list: when it is reached, everything in the directory
is copied, and its mode and times are set.

A copy may be made into its own source (`cp -r . sub`). Then the target is copied last, so that its
new content is not copied again, and each directory made in one that was there before is remembered:
where it is found again, the copy stops with an error, as GNU's does. Links that are followed may
lead back to a directory whose content is being copied: that one is not entered a second time.
"""

from __future__ import annotations

import errno
import posixpath
import stat

from agentsandbox.commands._files.modes import format_mode
from agentsandbox.commands._files.prompts import ask
from agentsandbox.commands._text.lines import shown_name
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import describe_os_error
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands._files.backups import Backups
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import File, Mode, Stat


class CopyOptions:
    """The options of GNU cp."""

    def __init__(self, backups: Backups) -> None:
        self.backups = backups
        self.recursive = False
        self.dereference = "always"  # or "operands", "never"
        self.interactive = ""  # or "ask", "never"
        self.force = False
        self.update = False
        self.verbose = False
        self.remove_destination = False
        self.allow_repetition = False
        """Whether an operand may be copied twice."""
        self.hard_link = False
        self.symbolic_link = False
        self.preserve_mode = False
        self.preserve_times = False
        self.preserve_links = False
        self.attributes_only = False
        """Whether files that exist keep their content, and new ones are empty."""
        self.default_mode = False
        """Whether new files get the default permissions (`--no-preserve=mode`)."""


def base_name(path: str) -> str:
    """Return the last component, without trailing slashes."""
    return posixpath.basename(path.rstrip("/"))


def strip_slashes(path: str) -> str:
    """Return a name without trailing slashes."""
    return path.rstrip("/") or path[:1]


def single_slash(path: str) -> str:
    """Return a name with at most one trailing slash, as tools that walk trees print an operand."""
    return path.rstrip("/") + "/" if path.endswith("//") and len(path) > 2 else path


def join(directory: str, name: str) -> str:
    """Return the operand for `name` in `directory`."""
    return directory + name if directory.endswith("/") else f"{directory}/{name}"


def same_file(one: Stat, other: Stat) -> bool:
    """Whether two results of `stat` are of the same file."""
    return one.ino == other.ino != 0 and (one.mode, one.size, one.mtime) == (
        other.mode,
        other.size,
        other.mtime,
    )


def is_one_name(ctx: CommandContext, one: str, other: str) -> bool:
    """Whether two operands are the same entry of the same directory."""
    if base_name(one) != base_name(other):
        return False
    try:
        first, second = (
            ctx.fs.realpath(ctx.path(posixpath.dirname(name.rstrip("/")) or "."))
            for name in (one, other)
        )
    except OSError:
        return False
    return first == second


class _Directory:
    """A directory whose content is being copied: mode and times are still to be set."""

    __slots__ = ("created", "info", "source", "target")

    def __init__(self, source: str, target: str, info: Stat, created: bool) -> None:
        self.source = source
        self.target = target
        self.info = info
        self.created = created


class Copier:
    """Copies operands, one after the other. A problem is reported, and the rest is copied."""

    def __init__(self, ctx: CommandContext, options: CopyOptions) -> None:
        self.ctx = ctx
        self.fs = ctx.fs
        self.options = options
        self._made: set[tuple[str, int]] = set()
        """(name, inode) of files made for operands: another operand must not overwrite them."""
        self._directories: dict[int, str] = {}
        """Targets by inode: of operands, and of directories made in one that was there before."""
        self._made_above = 0
        """How many of the targets that are being filled were made for this operand."""
        self._entered: list[int] = []
        """Inodes of the directories whose content is being copied, from the outside in."""
        self._own: list[str] = []
        """Real paths of the directories made in one that was there before."""
        self._seen: set[tuple[int, str]] = set()
        self._links: dict[int, str] = {}
        self._into_itself = False
        self._places: list[str] = []
        """Real paths of targets inside the source: these are copied last."""
        self._top = ("", "")

    def copy(self, source: str, target: str) -> bool:
        """Copy one operand to an exact place; whether everything was copied."""
        self._top = (source, target)
        self._into_itself = False
        self._places = self._inner_places(source, target)
        good = True
        pending: list[tuple[str, str] | _Directory] = [(source, target)]
        operand = True
        while pending:
            item = pending.pop()
            self.ctx.budget.step()
            if isinstance(item, _Directory):
                good &= self._finish_directory(item)
                continue
            children = self._copy_one(*item, operand=operand)
            if self._into_itself:
                pending = [each for each in pending if isinstance(each, _Directory)]
            if children is None:
                good = False
            else:
                pending.extend(reversed(children))
            operand = False
        return good

    def _inner_places(self, source: str, target: str) -> list[str]:
        """Return the real paths inside the source of the target, and of what operands made."""
        try:
            exists = self.fs.exists(self.ctx.path(target))
            place = target if exists else posixpath.dirname(target)
            outer = self.fs.realpath(self.ctx.path(source))
            inner = self.fs.realpath(self.ctx.path(place or "."))
        except OSError:
            return []
        within = outer.rstrip("/") + "/"
        return [place for place in (inner, *self._own) if f"{place}/".startswith(within)]

    # one file

    def _copy_one(
        self, source: str, target: str, *, operand: bool
    ) -> list[tuple[str, str] | _Directory] | None:
        """Copy one file or directory; return what to copy next, None after an error."""
        follow = self.options.dereference == "always" or (
            operand and self.options.dereference == "operands"
        )
        try:
            info = self.fs.stat(self.ctx.path(source), follow=follow)
        except OSError as error:
            self._fail(f"cannot stat {quote_always(source)}", error)
            return None
        if info.is_dir and not self.options.recursive:
            self._fail(f"-r not specified; omitting directory {quote_always(source)}")
            return None
        if operand and self._is_repeated(source, target, info):
            return []
        existing = self._stat_target(target, info)
        if isinstance(existing, OSError):
            self._fail(f"cannot stat {quote_always(target)}", existing)
            return None
        if existing is not None:
            settled = self._settle(source, target, info, existing, operand=operand)
            if settled is not True:
                return None if settled is False else []
        backup = ""
        if existing is not None and not existing.is_dir:
            cleared = self._clear(target, info, existing)
            if cleared is None:
                return None
            backup, existing = cleared
        if info.is_dir:
            return self._copy_directory(source, target, info, existing)
        if operand and not backup and self._is_made_link(target):
            shown = f"{quote_always(source)} through just-created symlink {quote_always(target)}"
            self._refuse(f"will not copy {shown}")
            return None
        if self.options.verbose:
            self._say(f"{quote_always(source)} -> {quote_always(target)}", backup)
        if not self._make(source, target, info, existing, follow=follow, operand=operand):
            if backup and not self.fs.exists(self.ctx.path(target), follow=False):
                self.options.backups.undo(backup, target, verbose=self.options.verbose)
            return None
        if operand:
            self._remember(target)
        return []

    def _is_repeated(self, source: str, target: str, info: Stat) -> bool:
        """Whether this file was copied to the same place before; reports it."""
        if info.is_dir:
            return False  # see `_is_copied`
        key = (info.ino, base_name(target))
        if not info.ino or key not in self._seen or self.options.allow_repetition:
            self._seen.add(key)
            return False
        if self.options.backups:
            return False
        what = f"warning: source file {quote_always(source)} specified more than once"
        self.ctx.warn(what, self.ctx.status)
        return True

    def _stat_target(self, target: str, info: Stat) -> Stat | OSError | None:
        """Return the `stat` of the target, None if there is none, or the error."""
        options = self.options
        look_at_link = info.is_dir or info.is_link or options.symbolic_link or options.hard_link
        look_at_link = look_at_link or bool(options.backups) or options.remove_destination
        try:
            return self.fs.stat(self.ctx.path(target), follow=not look_at_link)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.ELOOP or not options.force:
                return error
        try:
            return self.fs.stat(self.ctx.path(target), follow=False)
        except OSError:
            return None  # reported when the target is made

    def _settle(
        self, source: str, target: str, info: Stat, existing: Stat, *, operand: bool
    ) -> bool | None:
        """Return whether to replace the target: None to skip it silently, False after an error."""
        options = self.options
        identity = self._identity(source, target, info, existing)
        if identity == "same" and options.interactive != "never":
            return self._refuse(
                f"{quote_always(source)} and {quote_always(target)} are the same file"
            )
        if not info.is_dir:
            if options.update and existing.mtime >= info.mtime:
                return self._settle_older(target, info, operand=operand)
            if options.interactive == "never" or (
                options.interactive == "ask" and not self._may_overwrite(target, existing)
            ):
                return None
        if identity == "linked":
            return None
        shown_source, shown = quote_always(source), quote_always(target)
        if existing.is_dir and not info.is_dir:
            return self._refuse(f"cannot overwrite directory {shown} with non-directory")
        if existing.is_dir:
            return True
        if info.is_dir:
            what = f"non-directory {shown} with directory {shown_source}"
            return self._refuse(f"cannot overwrite {what}")
        numbered = bool(options.backups) and options.backups.control == "numbered"
        if operand and (target, existing.ino) in self._made and not numbered:
            return self._refuse(f"will not overwrite just-created {shown} with {shown_source}")
        if not existing.is_dir and options.backups.destroys(source, target):
            what = f"backing up {shown} might destroy source;  {shown_source} not copied"
            return self._refuse(what)
        return True

    def _settle_older(self, target: str, info: Stat, *, operand: bool) -> bool | None:
        """Leave a newer target, unless it has to become a link to an earlier copy."""
        earlier = self._earlier(target, info, operand=operand)
        return None if not earlier or self._link_earlier(earlier, target) else False

    def _identity(self, source: str, target: str, info: Stat, existing: Stat) -> str:
        """Return "same" if copying would destroy the source, "linked" if a link is there already.

        Return "" for different files. The rules are those of GNU's cp, in its order.
        """
        options = self.options
        same = same_file(info, existing)
        if same and options.hard_link:
            return "linked"
        here, there = info, existing
        if options.dereference == "never":
            if info.is_link and existing.is_link:
                if is_one_name(self.ctx, source, target):
                    return "same"
                return "linked" if same and not options.backups else ""
        else:
            if not same:
                return ""
            try:
                here, there = (
                    self.fs.stat(self.ctx.path(name), follow=False) for name in (source, target)
                )
            except OSError:
                return ""
            if here.is_link and there.is_link and options.remove_destination:
                return ""
        is_link_to_target = here.is_link and not there.is_link
        one_node = same_file(here, there)
        if options.backups:  # the target moves aside
            if not one_node:
                return "same" if is_link_to_target and options.dereference != "never" else ""
            return "same" if is_one_name(self.ctx, source, target) else ""
        if options.remove_destination and (
            there.is_link
            or (one_node and there.nlink > 1 and not is_one_name(self.ctx, source, target))
        ):
            return ""
        if not (here.is_link or there.is_link or one_node):
            return ""
        if options.symbolic_link and there.is_link:
            return ""
        if options.dereference != "never":
            return "same"
        return self._identity_behind(source, target, here, there)

    def _identity_behind(self, source: str, target: str, here: Stat, there: Stat) -> str:
        """Return what `_identity` does for files of which one may be a link to the other."""
        try:
            here = self.fs.stat(self.ctx.path(source)) if here.is_link else here
            behind = self.fs.stat(self.ctx.path(target)) if there.is_link else there
        except OSError:
            return ""
        if not same_file(here, behind):
            return ""
        if self.options.hard_link:
            return "" if there.is_link else "linked"
        return "same"

    def _may_overwrite(self, target: str, existing: Stat) -> bool:
        if self.fs.access(self.ctx.path(target), 2):
            return ask(self.ctx, f"overwrite {quote_always(target)}?")
        mode = f"{existing.permissions:04o}"
        letters = format_mode(existing.mode)[1:]
        shown = quote_always(target)
        if self.options.force or self.options.remove_destination:
            return ask(self.ctx, f"replace {shown}, overriding mode {mode} ({letters})?")
        return ask(self.ctx, f"unwritable {shown} (mode {mode}, {letters}); try anyway?")

    def _clear(self, target: str, info: Stat, existing: Stat) -> tuple[str, Stat | None] | None:
        """Make room; return (backup's name, what still exists), None after an error."""
        options = self.options
        try:
            if options.backups and not info.is_dir:
                return options.backups.make(target), None
            by_content = info.is_file or self._copies_content(info)
            replaced = info.is_link or not by_content
            replaced = replaced or (options.preserve_links and existing.nlink > 1)
            if options.remove_destination or (replaced and not options.attributes_only):
                self.fs.unlink(self.ctx.path(target))
                if options.verbose:
                    self._say(f"removed {quote_always(target)}")
                return "", None
        except OSError as error:
            self._fail(
                f"cannot {'backup' if options.backups else 'remove'} {quote_always(target)}", error
            )
            return None
        return "", existing

    def _copies_content(self, info: Stat) -> bool:
        """Whether a special file is read instead of made again."""
        return not self.options.recursive and not info.is_link

    def _earlier(self, target: str, info: Stat, *, operand: bool) -> str:
        """Return the earlier copy of the same file that the target is to be a link to, or ""."""
        dereference = self.options.dereference
        may_repeat = (
            info.nlink > 1 or dereference == "always" or (operand and dereference == "operands")
        )
        if not (self.options.preserve_links and may_repeat and info.ino):
            return ""
        earlier = self._links.setdefault(info.ino, target)
        return "" if earlier == target else earlier

    def _link_earlier(self, earlier: str, target: str) -> bool:
        """Make the target a link to an earlier copy, in the place of what is there."""
        message = f"cannot create hard link {quote_always(target)} to {quote_always(earlier)}"
        origin, path = self.ctx.path(earlier), self.ctx.path(target)
        try:
            there = self.fs.stat(path, follow=False)
        except OSError:
            return self._try(message, self.fs.link, origin, path)
        if there.ino == self.fs.stat(origin, follow=False).ino:
            return True
        return self._try(message, self.fs.unlink, path) and self._try(
            message, self.fs.link, origin, path
        )

    def _make(
        self,
        source: str,
        target: str,
        info: Stat,
        existing: Stat | None,
        *,
        follow: bool,
        operand: bool,
    ) -> bool:
        options = self.options
        if options.symbolic_link:
            return self._make_symbolic_link(source, target, existing)
        if options.hard_link:
            return self._make_hard_link(source, target, existing, follow=follow)
        earlier = self._earlier(target, info, operand=operand)
        if earlier:
            return self._link_earlier(earlier, target)
        if info.is_link:
            return self._copy_link(source, target, info)
        if not info.is_file and not self._copies_content(info):
            return self._copy_special(target, info)
        return self._copy_content(source, target, info, existing)

    def _copy_link(self, source: str, target: str, info: Stat) -> bool:
        text = self.fs.readlink(self.ctx.path(source))
        path = self.ctx.path(target)
        if not self._try(
            f"cannot create symbolic link {quote_always(target)}", self.fs.symlink, text, path
        ):
            return False
        if self.options.preserve_times:
            self.fs.utime(path, info.mtime, atime=info.atime, follow=False)
        return True

    def _copy_special(self, target: str, info: Stat) -> bool:
        path = self.ctx.path(target)
        mode = info.permissions & ~(0 if self.options.preserve_mode else self.ctx.umask)
        if stat.S_ISFIFO(info.mode):
            return self._try(
                f"cannot create fifo {quote_always(target)}", self.fs.mkfifo, path, mode
            )
        return self._refuse(
            f"cannot create special file {quote_always(target)}: Operation not permitted"
        )

    def _make_symbolic_link(self, source: str, target: str, existing: Stat | None) -> bool:
        path = self.ctx.path(target)
        here = posixpath.dirname(target)
        if not source.startswith("/") and here not in ("", ".") and self._is_elsewhere(here):
            return self._refuse(
                f"{shown_name(target)}: can make relative symbolic links only in current directory"
            )
        message = f"cannot create symbolic link {quote_always(target)} to {quote_always(source)}"
        if (
            existing is not None
            and self.options.force
            and not self._try(message, self.fs.unlink, path)
        ):
            return False
        return self._try(message, self.fs.symlink, source, path)

    def _is_elsewhere(self, directory: str) -> bool:
        """Whether a directory is not the current one."""
        try:
            return self.fs.realpath(self.ctx.path(directory)) != self.fs.realpath(self.ctx.cwd)
        except OSError:
            return False

    def _make_hard_link(
        self, source: str, target: str, existing: Stat | None, *, follow: bool
    ) -> bool:
        path, origin = self.ctx.path(target), self.ctx.path(source)
        message = f"cannot create hard link {quote_always(target)} to {quote_always(source)}"
        if follow:
            try:
                origin = self.fs.realpath(origin)
            except OSError as error:
                self._fail(message, error)
                return False
        replaces = existing is not None and (
            self.options.force or self.options.interactive == "ask"
        )
        if replaces and not self._try(message, self.fs.unlink, path):
            return False
        return self._try(message, self.fs.link, origin, path)

    # content

    def _copy_content(self, source: str, target: str, info: Stat, existing: Stat | None) -> bool:
        path = self.ctx.path(target) if target else ""
        umask = self.ctx.umask
        permissions = (0o666 if self.options.default_mode else info.permissions & 0o777) & ~umask
        if self.options.attributes_only:
            writer = self._open_target(target, path, permissions, existing)
            if writer is not None:
                writer.release()
                self._keep_attributes(path, info)
            return writer is not None
        try:
            reader = self.fs.open(self.ctx.path(source), "r")
        except OSError as error:
            return self._refuse(
                f"cannot open {quote_always(source)} for reading: {describe_os_error(error, '')}"
            )
        try:
            writer = self._open_target(target, path, permissions, existing)
            if writer is None:
                return False
            try:
                if info.is_file:
                    # at once: the filesystem shares the bytes until one of the files changes
                    writer.write(reader.read())
                else:
                    for block in reader.blocks():
                        self.ctx.budget.step()
                        writer.write(block)
            except OSError as error:
                return self._refuse(
                    f"error writing {quote_always(target)}: {describe_os_error(error, '')}"
                )
            finally:
                writer.release()
        finally:
            reader.release()
        self._keep_attributes(path, info)
        return True

    def _open_target(
        self, target: str, path: str, permissions: int, existing: Stat | None
    ) -> File | None:
        """Open the target for writing; return None after an error."""
        if existing is None and self._is_dangling(path):
            self._refuse(f"not writing through dangling symlink {quote_always(target)}")
            return None
        mode: Mode = "a" if self.options.attributes_only else "w"
        try:
            return self.fs.open(path, mode, permissions=permissions)
        except OSError as error:
            failure = error
        if self.options.force and (existing is not None or failure.errno == errno.ELOOP):
            try:
                self.fs.unlink(path)
            except OSError as error:
                self._fail(f"cannot remove {quote_always(target)}", error)
                return None
            try:
                if self.options.verbose:
                    self._say(f"removed {quote_always(target)}")
                return self.fs.open(path, "w", permissions=permissions)
            except OSError as error:
                failure = error
        if failure.errno == errno.EISDIR and target.endswith("/"):
            failure = NotADirectoryError(errno.ENOTDIR, "")
        self._fail(f"cannot create regular file {quote_always(target)}", failure)
        return None

    def _is_dangling(self, path: str) -> bool:
        try:
            return self.fs.stat(path, follow=False).is_link
        except OSError:
            return False

    def _keep_attributes(self, path: str, info: Stat) -> None:
        if self.options.preserve_times:
            self.fs.utime(path, info.mtime, atime=info.atime)
        if self.options.preserve_mode:
            self.fs.chmod(path, info.permissions)

    # directories

    def _copy_directory(
        self, source: str, target: str, info: Stat, existing: Stat | None
    ) -> list[tuple[str, str] | _Directory] | None:
        if (copied := self._is_copied(source, target, info)) is not None:
            return [] if copied else None
        path = self.ctx.path(target)
        if existing is None:
            if not self._try(
                f"cannot create directory {quote_always(target)}",
                self.fs.mkdir,
                path,
                info.permissions & 0o777 | 0o700,
            ):
                return None
            if not self._made_above:
                if ino := self.fs.stat(path).ino:
                    self._directories.setdefault(ino, target)
                place = self.fs.realpath(path)
                self._own.append(place)
                if self._places:
                    self._places.append(place)
            if self.options.verbose:
                self._say(f"{quote_always(source)} -> {quote_always(target)}")
        try:
            names = self.fs.listdir(self.ctx.path(source))
        except OSError as error:
            self._fail(f"cannot access {quote_always(source)}", error)
            names = []
        if self._places:
            here = self.fs.realpath(self.ctx.path(source))
            names.sort(
                key=lambda name: any(
                    f"{place}/".startswith(join(here, name) + "/") for place in self._places
                )
            )
        children: list[tuple[str, str] | _Directory] = [
            (join(source, name), join(target, name)) for name in names
        ]
        children.append(_Directory(source, target, info, existing is None))
        self._entered.append(info.ino)
        self._made_above += existing is None
        return children

    def _is_copied(self, source: str, target: str, info: Stat) -> bool | None:
        """Whether a directory needs no copy (True) or must not be copied (False), else None."""
        if info.ino and info.ino in self._entered:
            return self._refuse(f"cannot copy cyclic symbolic link {quote_always(source)}")
        is_operand = (source, target) == self._top
        earlier = self._directories.get(info.ino) if info.ino else None
        if earlier is None:
            if is_operand and info.ino:
                self._directories[info.ino] = target
            return None
        top_source, top_target = map(quote_always, self._top)
        if is_one_name(self.ctx, source, earlier):
            self._into_itself = True
            return self._refuse(f"cannot copy a directory, {top_source}, into itself, {top_target}")
        if is_one_name(self.ctx, target, earlier):
            what = f"warning: source directory {top_source} specified more than once"
            self.ctx.warn(what, self.ctx.status)
            return True
        dereference = self.options.dereference
        if dereference == "always" or (dereference == "operands" and is_operand):
            return None
        return self._refuse(
            f"will not create hard link {quote_always(target)} to directory {quote_always(earlier)}"
        )

    def _finish_directory(self, directory: _Directory) -> bool:
        path = self.ctx.path(directory.target)
        options = self.options
        self._entered.pop()
        self._made_above -= directory.created
        try:
            if options.preserve_times:
                self.fs.utime(path, directory.info.mtime, atime=directory.info.atime)
            if options.preserve_mode:
                self.fs.chmod(path, directory.info.permissions)
            elif directory.created:
                mode = 0o777 if options.default_mode else directory.info.permissions & 0o1777
                self.fs.chmod(path, mode & ~self.ctx.umask)
        except OSError as error:
            self._fail(f"setting attributes of {quote_always(directory.target)}", error)
            return False
        return True

    # words

    def _is_made_link(self, target: str) -> bool:
        """Whether the target is a symbolic link that an earlier operand made."""
        if not self._made:
            return False
        try:
            there = self.fs.stat(self.ctx.path(target), follow=False)
        except OSError:
            return False
        return there.is_link and (target, there.ino) in self._made

    def _remember(self, target: str) -> None:
        try:
            made = self.fs.stat(self.ctx.path(target), follow=False)
        except OSError:
            return
        self._made.add((target, made.ino))

    def _try(self, message: str, call: Callable[..., object], *arguments: object) -> bool:
        """Call `call`; whether it succeeded. Its error is reported after `message`."""
        try:
            call(*arguments)
        except OSError as error:
            self._fail(message, error)
            return False
        return True

    def _refuse(self, message: str) -> bool:
        self.ctx.warn(message)
        return False

    def _fail(self, message: str, error: OSError | None = None) -> None:
        self.ctx.warn(message if error is None else f"{message}: {describe_os_error(error, '')}")

    def _say(self, message: str, backup: str = "") -> None:
        ending = f" (backup: {quote_always(backup)})" if backup else ""
        self.ctx.stdout.write(encode(f"{message}{ending}\n"))
