"""Files of the host that several processes write: whole or not at all, one process at a time."""

from __future__ import annotations

import errno
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agentsandbox.errors import SkillPolicyError, SkillStateError
from agentsandbox.skills.paths import clean_path

if TYPE_CHECKING:
    from collections.abc import Iterator

WAIT_SECONDS = 5.0


def write_new(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a new file; `FileExistsError` if there is one."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def replace_file(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a file, new or not, so that nobody ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.urandom(6).hex()}.new")
    try:
        write_new(temporary, content, mode)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def put_file(root: Path, path: str, content: bytes | None) -> None:
    """Write a file of a skill, or remove it for None. Raises `SkillPolicyError` for a link."""
    target = root / clean_path(path)
    above = [parent for parent in target.parents if parent != root and root in parent.parents]
    if target.is_symlink() or any(parent.is_symlink() for parent in above):
        raise SkillPolicyError(f"{path}: a link is on the way")
    if content is None:
        target.unlink(missing_ok=True)
        return
    try:
        mode = target.stat().st_mode & 0o777
    except FileNotFoundError:
        mode = 0o755 if content.startswith(b"#!") else 0o644
    replace_file(target, content, mode)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock file; raises `SkillStateError` after five seconds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        until = time.monotonic() + WAIT_SECONDS
        while not _lock(descriptor):
            if time.monotonic() > until:
                raise SkillStateError(f"another process holds {path.parent.name}/{path.name}")
            time.sleep(0.02)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":

    def _lock(descriptor: int) -> bool:
        import msvcrt

        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            return _is_held(error)
        return True

else:

    def _lock(descriptor: int) -> bool:
        """Whether this process has the lock now."""
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            return _is_held(error)
        return True


def _is_held(error: OSError) -> bool:
    """Return False for a lock that another process holds; raise any other error."""
    if error.errno not in (errno.EAGAIN, errno.EACCES):
        raise error
    return False
