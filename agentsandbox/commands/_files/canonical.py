"""Canonical paths: what `realpath`, `readlink -f` and `ln -r` make of names."""

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
    """An absolute path without links, "." and "..".

    `missing` says which components may be missing: "none", the "last" one, or any ("missing"). With
    links=False, links are left as they are.
    """
    if not links:
        return _without_links(ctx, name, missing)
    path = ctx.path(name)
    must_be_dir = name.endswith("/") and missing == "none"
    todo = [part for part in path.split("/") if part][::-1]
    done: list[str] = []
    hops = 0
    gone = False
    while todo:
        ctx.budget.step()
        part = todo.pop()
        if part == ".":
            continue
        if part == "..":
            if done:
                done.pop()
            gone = False
            continue
        here = "/" + "/".join([*done, part])
        if gone:
            done.append(part)
            continue
        try:
            info = ctx.fs.stat(here, follow=False)
        except OSError as error:
            if missing == "missing" or (
                missing == "last"
                and error.errno == errno.ENOENT
                and not any(p != "." for p in todo)
            ):
                done.append(part)
                gone = True
                continue
            raise
        if info.is_link:
            hops += 1
            if hops > MAX_LINKS:
                if missing == "missing":
                    done.append(part)
                    gone = True
                    continue
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name)
            text = ctx.fs.readlink(here)
            if text.startswith("/"):
                done.clear()
            todo.extend([piece for piece in text.split("/") if piece][::-1])
            continue
        if (
            not info.is_dir
            and not info.is_link
            and (todo or must_be_dir or (name.endswith("/") and missing == "last"))
        ):
            if missing != "missing":
                raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), name)
            gone = True
        done.append(part)
    return "/" + "/".join(done)


def _without_links(ctx: CommandContext, name: str, missing: str) -> str:
    """Links stay as they are: a component must be a directory only where a slash, "." or ".."
    follows it.
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
    """A canonical path as seen from a canonical directory."""
    parts = [part for part in path.split("/") if part]
    base = [part for part in directory.split("/") if part]
    shared = 0
    while shared < min(len(parts), len(base)) and parts[shared] == base[shared]:
        shared += 1
    return "/".join([".."] * (len(base) - shared) + parts[shared:]) or "."
