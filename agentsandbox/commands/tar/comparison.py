"""`tar -d`: how the members of an archive differ from the files of their names."""

from __future__ import annotations

import errno
import os
import posixpath
import stat as stat_module

from agentsandbox.commands.tar.names import show, show_in_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.tar.format import Member
    from agentsandbox.commands.tar.stream import ArchiveReader
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.fs.base import Stat


def _same_content(ctx: CommandContext, archive: ArchiveReader, path: str) -> bool:
    """Whether a file has the content of the current member."""
    file = ctx.fs.open(path, "r")
    try:
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


def _differences(
    ctx: CommandContext,
    archive: ArchiveReader,
    member: Member,
    path: str,
    directory: str,
    info: Stat,
) -> list[str]:
    if member.kind == "hard":
        target = ctx.fs.stat(posixpath.join(directory, member.link), follow=False)
        return [] if info.ino == target.ino else [f"Not linked to {show(member.link)}"]
    if stat_module.S_IFMT(info.mode) != stat_module.S_IFMT(member.type_bits()):
        return ["File type differs"]
    if member.kind == "link":
        return ["Symlink differs"] if ctx.fs.readlink(path) != member.link else []
    found = ["Mode differs"] if info.permissions != member.mode else []
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


def compare_member(
    ctx: CommandContext, archive: ArchiveReader, member: Member, directory: str
) -> None:
    """Print each difference of a member from its file; the exit status becomes 1."""
    path = posixpath.join(directory, member.name.rstrip("/"))
    name = show_in_message(member.name.rstrip("/") or "/")
    try:
        info = ctx.fs.stat(path, follow=False)
        if member.kind == "link" and not info.is_link:
            ctx.warn(f"{name}: Cannot readlink: {os.strerror(errno.EINVAL)}", 2)
            archive.failed = True
            return
        differences = _differences(ctx, archive, member, path, directory, info)
    except OSError as error:
        failed = "readlink" if member.kind == "link" else "stat"
        message = f"{name}: Warning: Cannot {failed}: {os.strerror(error.errno or 5)}"
        ctx.warn(message, max(ctx.status, 1))
        return
    for difference in differences:
        ctx.print(f"{name}: {difference}")
        ctx.status = max(ctx.status, 1)
