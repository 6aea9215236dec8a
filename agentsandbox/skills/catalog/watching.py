"""Changes in the folders of a catalog, by file-system events. Needs the extra `watch`.

The system collects the events. Asking for them takes a millisecond or two, however large the
folders are.
"""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING

from agentsandbox.errors import SkillStateError
from agentsandbox.skills.sources.stores import HostSkills, PackageSkills, VirtualSkills, ZipSkills

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agentsandbox.skills.catalog.roots import SkillRoot

MILLISECONDS = 1


class RootWatch:
    """Watches the folders and archives of roots; roots of other kinds always count as changed."""

    def __init__(self, roots: Sequence[SkillRoot]) -> None:
        try:
            import watchfiles
        except ImportError:
            raise SkillStateError(
                'watching skills needs the extra "watch": pip install "agentsandbox[watch]"'
            ) from None
        stores = [store for root in roots for store in root.stores()]
        self._watch = watchfiles.watch
        self._paths = [store.path for store in stores if isinstance(store, (HostSkills, ZipSkills))]
        self._blind = any(
            not isinstance(store, (HostSkills, ZipSkills, PackageSkills, VirtualSkills))
            for store in stores
        )
        self._there: frozenset[str] = frozenset()
        self._events: Any = None
        self._begin()

    def changed(self) -> bool:
        """Whether anything changed since the last call."""
        if self._existing() != self._there:
            self._begin()
            return True
        return self._blind or (self._events is not None and bool(next(self._events)))

    def close(self) -> None:
        """Stop watching."""
        if self._events is not None:
            self._events.close()
            self._events = None

    def _existing(self) -> frozenset[str]:
        return frozenset(
            path for path in self._paths if os.path.isdir(path) or zipfile.is_zipfile(path)
        )

    def _begin(self) -> None:
        self.close()
        self._there = self._existing()
        if self._there:
            events = self._watch(
                *sorted(self._there),
                debounce=MILLISECONDS,
                step=MILLISECONDS,
                rust_timeout=MILLISECONDS,
                yield_on_timeout=True,
            )
            next(events)  # the system begins to collect with the first call
            self._events = events
