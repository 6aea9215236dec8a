"""The host's threads, as objects that end with them.

A greenlet lives and ends in one thread; what it refers to is freed only if that thread ends it. A
number does not tell whether a thread lives: the system gives it to the next one. So each thread
that starts processes has a `Home`, kept where only that thread looks, which is freed when the
thread ends, and by it. Others know it by its weak reference, which is empty from then on.

    thread ──▶ Home ──at the end, or when asked──▶ `_leave` of each tenant, in the thread itself
                 ▲ ref
    process.home ┘

A tenant that others have closed meanwhile is *left behind*: it is kept until the thread comes by
again (`clear`) or ends.
"""

from __future__ import annotations

import sys
from _thread import _local
from _weakref import ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Tenant(Protocol):
        """What has greenlets in a thread."""

        def _leave(self, home: ref[Home]) -> None:
            """End what lives there. It is called by that thread."""
            ...


_own = _local()


class Home:
    """What a thread has to end before it ends: its `tenants`, and those that are left behind."""

    __slots__ = ("__weakref__", "left_behind", "ref", "tenants")

    def __init__(self) -> None:
        self.tenants: set[ref[Tenant]] = set()
        self.left_behind: list[Tenant] = []
        self.ref = ref(self)

    def let(self, tenant: Tenant) -> None:
        """Note a tenant, which is not kept alive."""
        self.tenants.add(ref(tenant, self.tenants.discard))

    def clear(self) -> None:
        """End what others left behind here."""
        while self.left_behind:
            self.left_behind.pop()._leave(self.ref)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing():
            return
        self.clear()
        for each in list(self.tenants):
            tenant = each()
            if tenant is not None:
                tenant._leave(self.ref)


def home() -> Home:
    """Return the home of the running thread."""
    try:
        found: Home = _own.home
    except AttributeError:
        found = _own.home = Home()
    return found
