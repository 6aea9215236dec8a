"""Which filesystems may be mounted beside each other, and calls into them."""

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
    """Raise `MountError` if `filesystem` shares a folder of the host with a mounted one and either
    may write to it.

    Through the writable one a script would change what the other one shows, its directories and
    links included.
    """
    folders = inside(path, filesystem.host_folders)
    if not folders:
        return
    for other_path, other in mounted:
        try:
            others = other.host_folders()
        except OSError:  # the host has closed it: nothing can be reached there any more
            continue
        if any(folder.endangers(known) for folder in folders for known in others):
            raise MountError(
                f"{path!r} and {other_path!r} would show the same folder of the host, or one within the other, and one of"
                " them is writable: mount the outer folder only, or make both read-only (an overlay counts as read-only)"
            )


def inside(path: str, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call a mounted filesystem's method; its errors name `path`, the one that the caller knows."""
    try:
        return call(*arguments, **options)
    except OSError as error:
        raise os_error(error.errno or errno.EIO, path) from None
