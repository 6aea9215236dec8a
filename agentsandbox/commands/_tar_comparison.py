"""`tar -d`: what differs between a member and the file of its name."""

from __future__ import annotations

import errno
import os
import posixpath
import stat as stat_module

from agentsandbox.commands._tar_names import show, show_in_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.command import CommandContext
    from agentsandbox.commands._tar_format import Member
    from agentsandbox.commands._tar_stream import ArchiveReader
    from agentsandbox.fs.base import Stat

__all__ = ["compare_member"]


def _differences(ctx: CommandContext, archive: ArchiveReader, member: Member, path: str, info: Stat) -> list[str]:
    found: list[str] = []
    if stat_module.S_IFMT(info.mode) != stat_module.S_IFMT(member.type_bits()):
        return ["File type differs"]
    if member.kind == "link":
        return ["Symlink differs"] if ctx.fs.readlink(path) != member.link else []
    if member.kind == "rest":
        if info.size != member.size + member.done:
            return ["Size differs"]
        return [] if _same_content(ctx, archive, path, member.done) else ["Contents differ"]
    if info.permissions != member.mode:
        found.append("Mode differs")
    if member.kind == "dir":
        return found
    if info.uid != member.uid:
        found.append("Uid differs")
    if info.gid != member.gid:
        found.append("Gid differs")
    if info.mtime // 1 != member.mtime // 1_000_000_000:
        found.append("Mod time differs")
    if info.size != member.size:
        found.append("Size differs")
    elif not _same_content(ctx, archive, path):
        found.append("Contents differ")
    return found


def _same_content(ctx: CommandContext, archive: ArchiveReader, path: str, start: int = 0) -> bool:
    """Whether the rest of a file is as in the archive."""
    file = ctx.fs.open(path, "r")
    try:
        file.seek(start)
        for block in archive.content():
            at = 0
            while at < len(block):
                part = file.read(len(block) - at)
                if not part or part != block[at : at + len(part)]:
                    return False
                at += len(part)
    finally:
        file.release()
    return True


def compare_member(ctx: CommandContext, archive: ArchiveReader, member: Member, directory: str) -> None:
    """Print each difference as "name: what differs"; the status becomes 1."""
    path = posixpath.join(directory, member.name.rstrip("/"))
    try:
        info = ctx.fs.stat(path, follow=False)
        if member.kind == "hard":
            target = ctx.fs.stat(posixpath.join(directory, member.link), follow=False)
            differences = [] if info.ino == target.ino else [f"Not linked to {show(member.link)}"]
        elif member.kind == "link" and not info.is_link:
            ctx.warn(f"{show_in_message(member.name)}: Cannot readlink: {os.strerror(errno.EINVAL)}", 2)
            archive.failed = True
            return
        else:
            differences = _differences(ctx, archive, member, path, info)
    except OSError as error:
        if member.kind == "rest":
            archive.begin_content(0)  # what is not skipped is no header
        failed = "readlink" if member.kind == "link" else "stat"
        name = show_in_message(member.name.rstrip("/") or "/")
        ctx.warn(f"{name}: Warning: Cannot {failed}: {os.strerror(error.errno or 5)}", max(ctx.status, 1))
        return
    for difference in differences:
        ctx.print(f"{show_in_message(member.name.rstrip('/') or '/')}: {difference}")
        ctx.status = max(ctx.status, 1)
