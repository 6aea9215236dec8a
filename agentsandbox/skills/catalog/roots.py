"""Where a catalog looks for skills: the host's folders and archives, packages, sandboxes' files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from agentsandbox.skills.sources.stores import HostSkills, PackageSkills, ZipSkills

if TYPE_CHECKING:
    from typing import Literal

    from agentsandbox.skills.sources.stores import SkillStore

    Scope = Literal["project", "user", "builtin", "explicit"]

ENTRY_POINTS = "agentsandbox.skills"


@dataclass(frozen=True, slots=True)
class SkillRoot:
    """A place to look for skills: a folder or a zip file of the host, or any `SkillStore`.

    With `search_up` a relative path is looked up in the working directory and in every directory
    above it, up to and including `stop_at`.
    """

    path: str | os.PathLike[str] | SkillStore
    scope: Scope = "project"
    search_up: bool = False
    stop_at: str | os.PathLike[str] | None = None

    def stores(self) -> list[SkillStore]:
        """Return the stores to look in, the nearest first."""
        path = self.path
        if not isinstance(path, (str, os.PathLike)):
            return [path]
        text = os.path.expanduser(os.fspath(path))
        if not self.search_up or os.path.isabs(text):
            return [_store(text)]
        stop = self.stop_at and os.path.abspath(os.path.expanduser(os.fspath(self.stop_at)))
        here, places = os.path.abspath(os.curdir), []
        while True:
            places.append(os.path.join(here, text))
            above = os.path.dirname(here)
            if here in (stop, above):
                return [_store(place) for place in places]
            here = above


def _store(path: str) -> SkillStore:
    return ZipSkills(path) if path.lower().endswith(".zip") else HostSkills(path)


def installed_roots() -> list[SkillRoot]:
    """Return a root for each entry point "package:directory" of the group `agentsandbox.skills`."""
    found = sorted(entry_points(group=ENTRY_POINTS), key=lambda entry: entry.name)
    return [SkillRoot(PackageSkills(*entry.value.split(":", 1)), "builtin") for entry in found]
