"""Nearest vectors by direction, in milliseconds and without a library for numbers.

Each vector has a sketch: three bits for each coordinate, which say in what quarter of the usual
values the coordinate is. A search counts the bits in which the sketches differ from that of the
query, and then compares the vectors of the nearest few hundred exactly.
"""

from __future__ import annotations

import heapq
import math
from array import array
from itertools import islice
from operator import gt, mul
from typing import TYPE_CHECKING

from agentsandbox.errors import SkillStateError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EXACT = 200_000
"""At most this many coordinates are compared without sketches: two milliseconds' work."""
CANDIDATES = 400
SAMPLE = 1000
"""Vectors from which the usual values are estimated."""
QUARTER = 0.6745
"""The quartiles of a normal distribution, in standard deviations from its mean."""
_DIGITS = bytes.maketrans(b"\0\1", b"01")


class Directions:
    """Vectors by name, all of the same length; only their directions count."""

    def __init__(self) -> None:
        self._vectors: dict[str, array[float]] = {}
        self._sketches: dict[str, int] = {}
        self._marks: tuple[array[float], ...] = ()
        self._marked = 0

    def __len__(self) -> int:
        return len(self._vectors)

    def put(self, vectors: Iterable[tuple[str, Sequence[float]]]) -> None:
        """Add vectors; each replaces the one of the same name."""
        fresh = {name: _unit(vector) for name, vector in vectors}
        known = next(iter(self._vectors.values()), None)
        if len({len(vector) for vector in (*fresh.values(), *([known] if known else ()))}) > 1:
            raise SkillStateError("the embedder's vectors have different lengths")
        self._vectors |= fresh
        if len(self._vectors) >= 2 * self._marked:  # the marks of many are good for some more
            self._marks = _marks(list(islice(self._vectors.values(), SAMPLE)))
            self._marked = len(self._vectors)
            fresh = self._vectors
        self._sketches |= {name: self._sketch(vector) for name, vector in fresh.items()}

    def remove(self, name: str) -> None:
        """Remove the vector of that name, if there is one."""
        self._vectors.pop(name, None)
        self._sketches.pop(name, None)

    def nearest(self, vector: Sequence[float], limit: int) -> list[str]:
        """Return the names of vectors at less than a right angle, nearest first, up to `limit`."""
        wanted = _unit(vector)
        names = list(self._vectors)
        if names and len(wanted) != len(self._marks[0]):
            raise SkillStateError("the embedder's vectors have different lengths")
        if len(names) * len(wanted) > EXACT:
            sketch = self._sketch(wanted)
            apart = [(sketch ^ other).bit_count() for other in self._sketches.values()]
            names = list(self._sketches)
            most = max(CANDIDATES, limit)
            nearest = heapq.nsmallest(most, range(len(names)), key=apart.__getitem__)
            names = [names[at] for at in nearest]
        scores = {name: sum(map(mul, self._vectors[name], wanted)) for name in names}
        near = [name for name in names if scores[name] > 0]
        return sorted(near, key=lambda name: -scores[name])[:limit]

    def _sketch(self, vector: array[float]) -> int:
        above = b"".join(bytes(map(gt, vector, mark)) for mark in self._marks)
        return int(above.translate(_DIGITS) or b"0", 2)


def _unit(vector: Sequence[float]) -> array[float]:
    length = math.hypot(*vector) or 1.0
    return array("f", [value / length for value in vector])


def _marks(vectors: Sequence[array[float]]) -> tuple[array[float], ...]:
    """Return three marks for each coordinate, the quartiles of its values if they are normal."""
    count = len(vectors)
    columns = list(zip(*vectors, strict=True))
    middle = [math.fsum(column) / count for column in columns]
    spread = [
        math.sqrt(sum((value - mean) ** 2 for value in column) / count)
        for column, mean in zip(columns, middle, strict=True)
    ]
    shifts = (-QUARTER, 0.0, QUARTER)
    return tuple(
        array("f", [mean + shift * width for mean, width in zip(middle, spread, strict=True)])
        for shift in shifts
    )
