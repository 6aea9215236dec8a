"""Many skills: names in schemas, and the tool that lists and searches skills."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentsandbox.skills.prompts import CATALOG_CHARACTERS, fit_entries, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.skills.prompts import CatalogEntry
    from agentsandbox.skills.search.index import SkillIndex
    from agentsandbox.skills.session.session import SkillSession

__all__ = ["LIST", "QUERY", "Listing", "name_schema", "shorten"]

LIST = "Lists the skills that fit the query, or all skills."
QUERY = {"type": "string", "description": "Words of a name, a tag or a description"}
MAX_LOADED = 4000
MAX_NAMED = 800
"""The characters of names that the tool that loads skills lists in its schema, and others."""


def name_schema(names: Sequence[str], description: str = "", *, loads: bool = False) -> Any:
    """Return the schema of a skill's name, with all names unless they are too many."""
    schema: dict[str, Any] = {"type": "string"}
    if description:
        schema["description"] = description
    size = sum(len(name) + 4 for name in names)
    return (
        schema | {"enum": list(names)}
        if 0 < size <= (MAX_LOADED if loads else MAX_NAMED)
        else schema
    )


def shorten(entries: Sequence[CatalogEntry]) -> tuple[list[CatalogEntry], int]:
    """Return entries that fit into an answer, and how many are left out."""

    def size(kept: Sequence[CatalogEntry]) -> int:
        return sum(len(entry.name) + len(entry.description) + 30 for entry in kept)

    kept = fit_entries(entries, CATALOG_CHARACTERS, size, {})
    return kept, len(entries) - len(kept)


class Listing:
    """The skills of a session for a tool that lists them.

    Where the catalog `is_cut` and no name or tag has the query, all words of the skills are
    searched.
    """

    def __init__(self, session: SkillSession, *, is_cut: bool = False) -> None:
        self.session = session
        self.is_cut = is_cut
        self._index: SkillIndex | None = None

    def find(self, query: str) -> tuple[list[CatalogEntry], int]:
        """Return the skills that fit a query, and how many are left out."""
        found: Sequence[CatalogEntry] = self.session.search(query)
        if not found and self.is_cut and query.strip():
            from agentsandbox.skills.search.index import SkillIndex

            shown = {record.name: record for record in self.session.search()}
            self._index = self._index or SkillIndex()
            self._index.update(shown.values())
            found = [shown[name] for name in self._index.search(query, uses=self.session.uses)]
        return shorten(found)

    def plain(self, query: str) -> dict[str, Any]:
        """Return the answer as JSON-able values."""
        found, more = self.find(query)
        answer: dict[str, Any] = {
            "skills": [
                {"name": each.name, "description": one_line(each.description)} for each in found
            ]
        }
        return answer | ({"not_shown": more} if more else {})
