"""Rules for mounts beside each other, and calls into mounted filesystems."""

from __future__ import annotations

import errno

from agentsandbox.errors import MountError
from agentsandbox.kernel.fs.base import os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import ParamSpec, TypeVar

    from agentsandbox.kernel.fs.base import FileSystem

    P = ParamSpec("P")
    T = TypeVar("T")


def check_mount(
    path: str, filesystem: FileSystem, mounted: Iterable[tuple[str, FileSystem]]
) -> None:
    """Raise `MountError` if a folder of the host would be mounted twice and once writable.

    Through the writable mount a script could change directories and links under the other one.
    """
    folders = inside(path, filesystem.host_folders)
    if not folders:
        return
    for other_path, other in mounted:
        try:
            others = other.host_folders()
        except OSError as error:
            if error.errno != errno.EBADF:
                raise os_error(error.errno or errno.EIO, other_path) from None
            continue  # the host has closed it: nothing can be reached there any more
        if any(folder.endangers(known) for folder in folders for known in others):
            raise MountError(
                f"{path!r} and {other_path!r} could show the same folder of the host, or one "
                "within the other, and one of them is writable: mount the outer folder only, or "
                "make both read-only (an overlay counts as read-only)"
            )


def inside(path: str, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call a method of a mounted filesystem; its errors name `path`, which the caller knows."""
    try:
        return call(*arguments, **options)
    except OSError as error:
        raise os_error(error.errno or errno.EIO, path) from None
