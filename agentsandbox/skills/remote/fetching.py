"""Skills from elsewhere: archives and indexes over HTTP, repositories over git.

Needs the extra `remote`.

A `NetworkPolicy` decides which addresses may be reached. The IP address that a name resolved to is
checked before a byte is sent. Content is identified by its sha256, which the host gives, an index
names, or the cache pins at the first fetch. Different content under the same address is refused.
Content is cached by its digest; nothing is unpacked to disk and nothing is run.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from agentsandbox.errors import (
    InvalidSkillError,
    SkillError,
    SkillLimitError,
    SkillNotFoundError,
    SkillPolicyError,
    SkillStateError,
)
from agentsandbox.kernel.streams import encode
from agentsandbox.skills.paths import is_skill_name
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.sources.archives import skills_in, unpack
from agentsandbox.skills.sources.files import SkillFile
from agentsandbox.skills.trust.host_files import locked, replace_file
from agentsandbox.skills.validation import Diagnostic

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator
    from typing import Any

    from agentsandbox.network import NetworkPolicy

WELL_KNOWN = "/.well-known/agent-skills/index.json"
MAX_INDEX_ENTRIES = 1000
PINS = "pins.json"
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class FetchedSkills:
    """The result of reading an index: the valid skills, and what is wrong with the others."""

    skills: tuple[AgentSkill, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


class RemoteSkills:
    """Fetches skills, to be given to `SkillCatalog(skills=…)`, and caches them.

    policy          which addresses may be reached, and the size and time of one request
    cache           a directory of the host for contents and pins
    require_digest  refuse content without a given digest, instead of pinning it at the first fetch

    Every method that fetches raises `SkillPolicyError` for an address or content that is refused,
    `SkillLimitError` for too much, `SkillNotFoundError` for what the server does not have,
    `SkillStateError` for a connection that fails, and `InvalidSkillError` for what is not a skill.
    """

    def __init__(
        self, policy: NetworkPolicy, cache: str | os.PathLike[str], *, require_digest: bool = False
    ) -> None:
        self.policy = policy
        self.cache = Path(cache)
        self.require_digest = require_digest

    def archive(
        self, url: str, digest: str | None = None, *, name: str | None = None, below: str = ""
    ) -> list[AgentSkill]:
        """Return the skills of an archive: one at its top, called `name`, or one per directory.

        `digest` is "sha256:" and 64 digits; `below` names a directory of the archive to look in.
        """
        return self._checked(url, digest, lambda data: skills_in(unpack(data), name, below))

    def document(self, url: str, digest: str | None = None) -> AgentSkill:
        """Return the skill that consists of a single SKILL.md."""
        (skill,) = self._checked(
            url, digest, lambda data: [AgentSkill([SkillFile("SKILL.md", data)])]
        )
        return skill

    def index(self, origin: str) -> FetchedSkills:
        """Return the skills that a site lists in `/.well-known/agent-skills/index.json`.

        A bad entry does not hide the others.
        """
        url = origin if origin.endswith(".json") else urljoin(origin, WELL_KNOWN)
        try:
            listing = json.loads(self.get(url))
        except (ValueError, RecursionError):
            raise InvalidSkillError("the index is not JSON") from None
        entries = listing.get("skills") if isinstance(listing, dict) else None
        if not isinstance(entries, list):
            raise InvalidSkillError("the index lists no skills")
        if len(entries) > MAX_INDEX_ENTRIES:
            raise SkillLimitError(f"the index lists more than {MAX_INDEX_ENTRIES} skills")
        skills: dict[str, AgentSkill] = {}
        problems = []
        for entry in entries:
            try:
                skill = self._entry(url, entry)
                if skill.name in skills:
                    raise InvalidSkillError("the index lists the name twice")
                skills[skill.name] = skill
            except SkillError as error:
                name = entry.get("name") if isinstance(entry, dict) else None
                path = name[:100] if isinstance(name, str) else ""
                problems.append(Diagnostic("remote", "error", "", str(error), path))
        return FetchedSkills(tuple(skills.values()), tuple(problems))

    def git(self, url: str, ref: str = "HEAD", *, below: str = "") -> list[AgentSkill]:
        """Return the skills of a repository at a commit, a branch or a tag.

        The commit that a branch or a tag names is pinned at the first fetch.
        """
        from agentsandbox.skills.remote.repositories import fetch_tree, local_path

        local = local_path(url)
        if local is None and (
            refusal := self.policy.refusal(url, "GET") or self.policy.refusal(url, "POST")
        ):
            raise SkillPolicyError(f"{url}: {refusal}")
        key = f"{url}@{ref}"
        pinned = ref if COMMIT.fullmatch(ref) else self._pins().get(key)
        if pinned is None and self.require_digest:
            raise SkillPolicyError(f"{url}: name a commit of 40 digits")
        name = re.split(r"[/:]", url.rstrip("/").removesuffix(".git"))[-1]
        part = hashlib.sha256(encode(below.strip("/"))).hexdigest()[:8]
        kept = self.cache / f"git-{pinned}-{part}.zip" if pinned else None
        if kept is not None and kept.exists():
            return skills_in(unpack(kept.read_bytes()), name, below)
        commit, data = fetch_tree(
            url if local is None else local,
            pinned or ref,
            self.policy,
            local=local is not None,
            below=below,
        )
        skills = skills_in(unpack(data), name, below)
        self._keep(f"git-{commit}-{part}.zip", data)
        if not COMMIT.fullmatch(ref):
            self._pin(key, commit)
        return skills

    def forget(self, url: str, ref: str | None = None) -> None:
        """Remove the pin of an address, so that the next fetch accepts any content."""
        with self._changing() as pins:
            pins.pop(f"{url}@{ref}" if ref else url, None)

    def get(self, url: str) -> bytes:
        """Return the content of an address, within the policy."""
        from agentsandbox.skills.remote.transport import open_client

        with open_client(self.policy) as client:
            _, answer, content = client.get(url)
        if answer.status_code != 200:
            raise SkillNotFoundError(f"{url}: the server answered {answer.status_code}")
        return content

    # the parts

    def _entry(self, base: str, entry: Any) -> AgentSkill:
        """Return the skill of one entry of an index."""
        if not isinstance(entry, dict):
            raise InvalidSkillError("an entry of the index is not an object")
        name, kind, where, digest = (entry.get(key) for key in ("name", "type", "url", "digest"))
        if not isinstance(name, str) or not is_skill_name(name) or not isinstance(where, str):
            raise InvalidSkillError("an entry of the index has no name, or no url")
        if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
            raise InvalidSkillError(f"{name}: the index gives no digest")
        url = urljoin(base, where)
        if kind == "skill-md":
            skill = self.document(url, digest)
        elif kind == "archive":
            found = self.archive(url, digest, name=name)
            if len(found) != 1:
                raise InvalidSkillError(f"{name}: the archive holds {len(found)} skills")
            skill = found[0]
        else:
            raise InvalidSkillError(f"{name}: unknown type {str(kind)[:50]!r}")
        if skill.name != name:
            raise InvalidSkillError(f"{name}: the skill is called {skill.name!r}")
        return skill

    def _checked(
        self, url: str, digest: str | None, make: Callable[[bytes], list[AgentSkill]]
    ) -> list[AgentSkill]:
        """Return what `make` returns for an address; only what it accepts is cached."""
        if digest is not None and not DIGEST.fullmatch(digest):
            raise SkillPolicyError('a digest is "sha256:" and 64 digits')
        wanted = digest or self._pins().get(url)
        if wanted is None and self.require_digest:
            raise SkillPolicyError(f"{url}: a digest is required")
        content = self._kept(wanted) if wanted else None
        if content is not None:
            return make(content)
        content = self.get(url)
        found = f"sha256:{hashlib.sha256(content).hexdigest()}"
        if wanted is not None and found != wanted:
            raise SkillPolicyError(f"{url}: the content has changed: {found} instead of {wanted}")
        skills = make(content)
        self._keep(found.replace(":", "-"), content)
        if digest is None:
            self._pin(url, found)
        return skills

    def _kept(self, digest: str) -> bytes | None:
        """Return the cached content of a digest, None if there is none or it was changed."""
        try:
            content = (self.cache / digest.replace(":", "-")).read_bytes()
        except FileNotFoundError:
            return None
        return content if f"sha256:{hashlib.sha256(content).hexdigest()}" == digest else None

    def _keep(self, name: str, content: bytes) -> None:
        replace_file(self.cache / name, content)

    def _pins(self) -> dict[str, str]:
        try:
            pins = json.loads((self.cache / PINS).read_bytes())
            return {str(key): str(value) for key, value in pins.items()}
        except FileNotFoundError:
            return {}
        except (ValueError, AttributeError, RecursionError):
            raise SkillStateError(f"{PINS} in the cache is damaged: the pins are lost") from None

    def _pin(self, key: str, digest: str) -> None:
        """Pin a digest; `SkillPolicyError` if another process has pinned another one meanwhile."""
        with self._changing() as pins:
            pinned = pins.setdefault(key, digest)
            if pinned != digest:
                changed = "another process was given other content"
                raise SkillPolicyError(f"{key}: {changed}: {digest} instead of {pinned}")

    @contextmanager
    def _changing(self) -> Iterator[dict[str, str]]:
        """Yield the pins to be changed, while no other process can change them."""
        with locked(self.cache / ".lock"):
            pins = self._pins()
            yield pins
            self._keep(PINS, encode(json.dumps(dict(sorted(pins.items())), indent=2)))
