"""Skills chosen for a message before the model is called: by keywords, by a router, or by both.

No model is called here. A router is a function of the host: it gets the message and the skills and
returns names.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from agentsandbox.errors import SkillStateError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence
    from typing import Literal

    from agentsandbox.skills.catalog.records import SkillRecord
    from agentsandbox.skills.session.session import SkillSession

    Router = Callable[[str, Sequence[SkillRecord]], "Iterable[str] | Awaitable[Iterable[str]]"]

MAX_ROUTED = 3
SHORTLIST = 8
CERTAIN = 0.5
LEAD = 1.5
"""No router is needed if the best score is at least `CERTAIN` and `LEAD` times the next one."""

_WORD = re.compile(r"[^\W_]{2,}")
_COMMON = frozenset(
    """
    about all also an and any are as ask at be by can do does for from get has have help how if in
    into is it its make me my need not of on or our out please should skill so some task than that
    the them then there this to up use used user uses using want what when where which who will with
    work you your
    """.split()
)


@dataclass(frozen=True, slots=True)
class Match:
    """How well a skill fits a message, from 0 to 1."""

    name: str
    score: float


class Matcher(Protocol):
    """Finds the skills that fit a message."""

    def match(self, message: str, skills: Sequence[SkillRecord]) -> list[Match]:
        """Return the skills that fit, best first."""
        ...


class KeywordMatcher:
    """Scores the words that a message shares with a skill; rare words count more."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, dict[str, float]]] = {}

    def match(self, message: str, skills: Sequence[SkillRecord]) -> list[Match]:
        words = _stems(message)
        if not words:
            return []
        texts = [(record, self._weights(record)) for record in skills]
        spread = {word: sum(word in weights for _, weights in texts) for word in words}
        found = []
        for record, weights in texts:
            score = sum(weights[word] / spread[word] ** 0.5 for word in words if word in weights)
            if score:
                found.append(Match(record.name, round(score / (score + 2), 4)))
        return sorted(found, key=lambda match: (-match.score, match.name))

    def _weights(self, record: SkillRecord) -> dict[str, float]:
        known = self._known.get(record.name)
        if known is None or known[0] is not record.metadata:
            known = self._known[record.name] = (record.metadata, _weights(record))
        return known[1]


@dataclass(frozen=True, slots=True)
class Routing:
    """The decision for a message.

    loaded     skills that are active now because of it
    shortlist  skills that the model may want to load
    asked      whether the router was called
    unknown    names that the router returned and that are not skills
    """

    loaded: tuple[str, ...] = ()
    shortlist: tuple[str, ...] = ()
    asked: bool = False
    unknown: tuple[str, ...] = ()


class SkillRouter:
    """Chooses skills for each message of a session.

    activation  "tool": only "/name" at the start of a message loads a skill; "router": the router
                decides which are loaded; "hybrid": keywords make a shortlist for the model, and the
                router is called only if they leave it unclear
    router      (message, skills) → names, or an awaitable of names (`aroute`)
    max_skills  the most skills that the router may have loaded; further names are left out
    shortlist   the most skills of a shortlist

    A skill that was loaded for a message and is not chosen for the next one is unloaded.
    """

    def __init__(
        self,
        session: SkillSession,
        activation: Literal["tool", "router", "hybrid"] = "hybrid",
        router: Router | None = None,
        *,
        matcher: Matcher | None = None,
        max_skills: int = MAX_ROUTED,
        shortlist: int = SHORTLIST,
    ) -> None:
        if activation == "router" and router is None:
            raise SkillStateError(
                'the activation "router" needs a router: (message, skills) -> names'
            )
        self.session = session
        self.activation = activation
        self.router = router
        self.matcher = matcher or KeywordMatcher()
        self.max_skills = max_skills
        self.shortlist = shortlist
        self._routed: tuple[str, ...] = ()

    def route(self, message: str) -> Routing:
        """Choose for a message. Raises `SkillStateError` if the router is asynchronous."""
        done, candidates = self._begin(message)
        if done is not None or self.router is None:
            return done or Routing()
        names = self.router(message, candidates)
        if inspect.isawaitable(names):
            if inspect.iscoroutine(names):
                names.close()
            raise SkillStateError("the router is asynchronous: use aroute")
        return self._finish(names, candidates)

    async def aroute(self, message: str) -> Routing:
        """Choose for a message, in the running event loop."""
        done, candidates = self._begin(message)
        if done is not None or self.router is None:
            return done or Routing()
        names = self.router(message, candidates)
        return self._finish(await names if inspect.isawaitable(names) else names, candidates)

    def _begin(self, message: str) -> tuple[Routing | None, Sequence[SkillRecord]]:
        """Return the decision if it needs no router, else the skills to choose from."""
        if self.session.invoke(message) is not None:
            return Routing(loaded=self.session.active[-1:]), ()
        if self.activation == "tool":
            return Routing(), ()
        skills = self.session.search()
        if self.activation == "router":
            return None, skills
        matches = self.matcher.match(message, skills)[: self.shortlist]
        names = tuple(match.name for match in matches)
        if self.router is None or _is_clear(matches):
            self._replace(())
            return Routing(shortlist=names), ()
        by_name = {record.name: record for record in skills}
        return None, [by_name[name] for name in names] or skills

    def _finish(self, names: Iterable[str], candidates: Sequence[SkillRecord]) -> Routing:
        known = {record.name for record in candidates}
        wanted = list(dict.fromkeys(str(name) for name in names))
        loaded = self._replace([name for name in wanted if name in known][: self.max_skills])
        shortlist = [record.name for record in candidates] if self.activation == "hybrid" else []
        unknown = tuple(name for name in wanted if name not in known)
        return Routing(loaded, tuple(shortlist[: self.shortlist]), True, unknown)

    def _replace(self, chosen: Sequence[str]) -> tuple[str, ...]:
        """Load the chosen skills in place of those chosen before, as many as the session allows."""
        session = self.session
        session.unload([name for name in self._routed if name not in chosen])
        room = session.max_active - len([name for name in session.active if name not in chosen])
        loaded = tuple(chosen[: max(0, room)])
        before = session.active
        session.load(loaded, "add")
        self._routed = tuple(name for name in loaded if name in self._routed or name not in before)
        return loaded


def _is_clear(matches: Sequence[Match]) -> bool:
    """Whether the best match is good, and much better than the next."""
    if not matches or matches[0].score < CERTAIN:
        return False
    return len(matches) == 1 or matches[0].score >= LEAD * matches[1].score


def _stems(text: str) -> dict[str, None]:
    """Return the words of a text without stop words and common endings, each once."""
    return dict.fromkeys(
        _stem(word) for word in _WORD.findall(text.casefold()[:20_000]) if word not in _COMMON
    )


def _stem(word: str) -> str:
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _weights(record: SkillRecord) -> dict[str, float]:
    """Return word → weight for a skill: words of its name and tags weigh twice as much."""
    metadata = record.metadata
    weights = dict.fromkeys(_stems(f"{record.description} {metadata.when_to_use or ''}"), 1.0)
    weights |= dict.fromkeys(_stems(" ".join((record.name.replace("-", " "), *metadata.tags))), 2.0)
    return weights
