"""Removing files and trees, for `rm`, and for `mv` between filesystems."""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.commands._files.copying import join, single_slash, strip_slashes
from agentsandbox.commands._files.modes import describe_type
from agentsandbox.commands._files.prompts import ask
from agentsandbox.commands._text.quoting import quote_always
from agentsandbox.contract.command import describe_os_error
from agentsandbox.kernel.fs.base import os_error
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import Stat


class _Open:
    """A directory whose content is being removed. `kept` if something in it stays."""

    __slots__ = ("kept", "name", "names", "parent")

    def __init__(self, name: str, names: list[str], parent: _Open | None) -> None:
        self.name = name
        self.names = names
        self.parent = parent
        self.kept = False

    def keep(self) -> None:
        """Note that something in the directory stays, and so the directory and all above it."""
        here: _Open | None = self
        while here is not None and not here.kept:
            here.kept = True
            here = here.parent


class Remover:
    """Removes operands, one after the other. A problem is reported, and the rest is removed."""

    def __init__(
        self,
        ctx: CommandContext,
        *,
        recursive: bool = False,
        empty_directories: bool = False,
        force: bool = False,
        interactive: bool = False,
        verbose: bool = False,
    ) -> None:
        self.ctx = ctx
        self.recursive = recursive
        self.empty_directories = empty_directories
        self.force = force
        self.interactive = interactive
        self.verbose = verbose

    def remove(self, name: str) -> None:
        """Remove one operand; with `recursive`, everything below it too."""
        name = single_slash(name)
        try:
            info = self.ctx.fs.stat(self.ctx.path(name), follow=False)
        except OSError as error:
            is_link = not self.interactive and self._is_link_with_slash(name)
            self._fail(name, os_error(errno.ENOTDIR) if is_link else error)
            return
        if not info.is_dir:
            self._remove_file(name, info)
        elif self.recursive:
            self._remove_tree(name)
        elif not self.empty_directories:
            self.ctx.warn(f"cannot remove {quote_always(name)}: Is a directory")
        elif not self._is_empty(name):
            self.ctx.warn(f"cannot remove {quote_always(name)}: Directory not empty")
        elif not self.interactive or self._ask(name, "remove"):
            self._remove_directory(name)

    def _is_link_with_slash(self, name: str) -> bool:
        try:
            return (
                name.endswith("/")
                and self.ctx.fs.stat(self.ctx.path(strip_slashes(name)), follow=False).is_link
            )
        except OSError:
            return False

    def _is_empty(self, name: str) -> bool:
        try:
            return not self.ctx.fs.listdir(self.ctx.path(name))
        except OSError:
            return False

    def _remove_tree(self, top: str) -> None:
        """Remove a tree, depth first. Trees may be too deep for recursion."""
        root = self._enter(top, None)
        stack = [] if root is None else [root]
        while stack:
            here = stack[-1]
            if not here.names:
                stack.pop()
                self._leave(here)
                continue
            self.ctx.budget.step()
            name = join(here.name, here.names.pop())
            try:
                info = self.ctx.fs.stat(self.ctx.path(name), follow=False)
            except OSError as error:
                self._fail(name, error)
                if not self.interactive:
                    here.keep()
                continue
            if info.is_dir:
                entered = self._enter(name, here)
                if entered is not None:
                    stack.append(entered)
                continue
            if not self._remove_file(name, info):
                here.keep()

    def _enter(self, name: str, parent: _Open | None) -> _Open | None:
        """Begin to remove a directory; return None if it is already removed, or stays."""
        unread: OSError | None = None
        try:
            names = self.ctx.fs.listdir(self.ctx.path(name))
        except OSError as error:
            names, unread = [], error
        asks = self.interactive and (names or unread is not None)
        if asks and not self._ask(name, "descend into"):
            if parent is not None:
                parent.keep()
            return None
        if unread is not None:
            if not self._remove_unread(name, unread) and parent is not None:
                parent.keep()
            return None
        names.reverse()
        return _Open(name, names, parent)

    def _remove_unread(self, name: str, reason: OSError) -> bool:
        """Remove a directory that cannot be listed, which works if it is empty."""
        if self.interactive and not self._ask(name, "remove"):
            return False
        try:
            self.ctx.fs.rmdir(self.ctx.path(strip_slashes(name)))
        except OSError:
            self._fail(name, reason)
            return False
        if self.verbose:
            self.ctx.stdout.write(encode(f"removed directory {quote_always(name)}\n"))
        return True

    def _leave(self, here: _Open) -> None:
        """Remove a directory whose content is removed."""
        if here.kept and self.interactive:
            return
        if self.interactive and not self._ask(here.name, "remove"):
            if here.parent is not None:
                here.parent.keep()
            return
        if here.kept or not self._remove_directory(here.name):
            if here.parent is not None:
                here.parent.keep()

    def _remove_directory(self, name: str) -> bool:
        try:
            self.ctx.fs.rmdir(self.ctx.path(strip_slashes(name)))
        except OSError as error:
            self._fail(name, error)
            return False
        if self.verbose:
            self.ctx.stdout.write(encode(f"removed directory {quote_always(name)}\n"))
        return True

    def _ask(self, name: str, doing: str, kind: str = "directory") -> bool:
        """Ask whether to remove a file, or to enter a directory."""
        shown = self._kind(name, kind) if kind != "symbolic link" else kind
        return ask(self.ctx, f"{doing} {shown} {quote_always(name)}?")

    def _kind(self, name: str, kind: str) -> str:
        """Return a kind of file in the words of questions."""
        writable = self.ctx.fs.access(self.ctx.path(name), os.W_OK)
        return kind if writable else f"write-protected {kind}"

    def _remove_file(self, name: str, info: Stat) -> bool:
        if self.interactive:
            if not self._ask(name, "remove", describe_type(info.mode, info.size)):
                return False
        try:
            self.ctx.fs.unlink(self.ctx.path(name))
        except OSError as error:
            self._fail(name, error)
            return False
        if self.verbose:
            self.ctx.stdout.write(encode(f"removed {quote_always(name)}\n"))
        return True

    def _fail(self, name: str, error: OSError) -> None:
        if self.force and error.errno in (errno.ENOENT, errno.ENOTDIR):
            return
        self.ctx.warn(f"cannot remove {quote_always(name)}: {describe_os_error(error, '')}")


def is_dot(name: str) -> bool:
    """Whether the operand ends in "." or ".."."""
    return posixpath.basename(name.rstrip("/")) in (".", "..")
