"""Calls into a mounted filesystem."""

from __future__ import annotations

import errno

from agentsandbox.fs.base import os_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    T = TypeVar("T")

__all__ = ["inside"]


def inside(path: str, call: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call a mounted filesystem's method; its errors name `path`, the one that the caller knows."""
    try:
        return call(*arguments, **options)
    except OSError as error:
        raise os_error(error.errno or errno.EIO, path) from None
