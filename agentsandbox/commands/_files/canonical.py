"""Canonical paths, as `realpath`, `readlink -f` and `ln -r` need them."""

from __future__ import annotations

import errno
import os

from agentsandbox.kernel.fs.base import MAX_LINKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import CommandContext


def canonicalize(
    ctx: CommandContext, name: str, missing: str = "last", *, links: bool = True
) -> str:
    """Return an absolute path without links, "." and "..".

    `missing` says which components may be missing: "none", the "last" one, or any ("missing"). With
    links=False, links are kept.
    """
    if not links:
        return _without_links(ctx, name, missing)
    todo = [part for part in ctx.path(name).split("/") if part][::-1]
    done: list[str] = []
    hops = 0
    gone = False
    """Whether the path so far does not exist."""
    while todo:
        ctx.budget.step()
        part = todo.pop()
        if part == "." or part == "..":
            if part == "..":
                del done[-1:]
                gone = False
            continue
        done.append(part)
        if gone:
            continue
        here = "/" + "/".join(done)
        try:
            info = ctx.fs.stat(here, follow=False)
        except OSError as error:
            is_last = error.errno == errno.ENOENT and all(part == "." for part in todo)
            if missing == "missing" or (missing == "last" and is_last):
                gone = True
                continue
            raise
        hops += info.is_link
        if hops > MAX_LINKS or not (info.is_link or info.is_dir):
            if missing == "missing":
                gone = True
            elif hops > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
            elif todo or name.endswith("/"):
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
        elif info.is_link:
            text = ctx.fs.readlink(here)
            done = [] if text.startswith("/") else done[:-1]
            todo.extend([piece for piece in text.split("/") if piece][::-1])
    return "/" + "/".join(done)


def _without_links(ctx: CommandContext, name: str, missing: str) -> str:
    """Return an absolute path that keeps links: a component must be a directory only if a slash,
    "." or ".." follows it.
    """
    todo = [part for part in ctx.path(name).split("/") if part][::-1]
    done: list[str] = []
    slashed = name.endswith("/")
    while todo:
        ctx.budget.step()
        part = todo.pop()
        if part == "..":
            if done:
                done.pop()
            continue
        if part == ".":
            continue
        done.append(part)
        if missing == "missing":
            continue
        here = "/" + "/".join(done)
        try:
            if todo[-1:] in (["."], [".."]) or (not todo and slashed):
                ctx.fs.stat(here + "/")
            elif not todo:
                ctx.fs.stat(here)
        except OSError as error:
            if missing == "last" and error.errno == errno.ENOENT and not todo:
                continue
            raise OSError(
                error.errno or errno.ENOENT, os.strerror(error.errno or errno.ENOENT), name
            ) from None
    return "/" + "/".join(done)


def relative_to(path: str, directory: str) -> str:
    """Return a canonical path relative to a canonical directory."""
    parts = [part for part in path.split("/") if part]
    base = [part for part in directory.split("/") if part]
    shared = 0
    while shared < min(len(parts), len(base)) and parts[shared] == base[shared]:
        shared += 1
    return "/".join([".."] * (len(base) - shared) + parts[shared:]) or "."
