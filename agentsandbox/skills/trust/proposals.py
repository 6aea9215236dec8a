"""Changes of skills that agents propose and people decide on.

An agent can only write a proposal: a text in a directory of the host. Only the host approves,
rejects and reverts; no tool and no session does. A decision is made once. It takes effect
completely or not at all, and the contents before and after it are kept.

A change is written in this order: the contents before and after, by their digests, to `objects/`; a
journal with what to restore; the files of the skill; a line of the history; then the journal is
removed. A process that finds a journal undoes the change, unless the history already has it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agentsandbox.errors import (
    InvalidSkillError,
    SkillLimitError,
    SkillNotFoundError,
    SkillStateError,
)
from agentsandbox.kernel.streams import encode
from agentsandbox.skills.paths import is_skill_name
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.sources.files import SkillFile
from agentsandbox.skills.trust.host_files import locked, put_file, replace_file, write_new
from agentsandbox.skills.trust.patches import apply_patches, parse_diff
from agentsandbox.skills.validation import USUAL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agentsandbox.skills.validation import Acceptance

    Status = Literal["pending", "approved", "rejected"]

MAX_TEXT_BYTES = 64 * 1024
MAX_PENDING = 200
JOURNAL = "journal.json"
STATUSES: tuple[Status, ...] = ("pending", "approved", "rejected")

_ID = re.compile(r"([\w-]{1,64})-(\d{8}T\d{6}\d{6}Z(?:-\d+)?)")
_SECTION = re.compile(r"^## (Diff|Justification|Evidence)\n\n(`{3,}+)(?:diff|text)\n", re.MULTILINE)
_TICKS = re.compile("`{3,}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed change of a skill.

    id       "<skill>-<time>"
    diff     a unified diff
    base     the `package_digest` of the skill that the diff was made for
    created  the time in UTC, "2026-01-31T12:00:00Z"
    """

    id: str
    skill: str
    diff: str
    justification: str
    evidence: str
    base: str
    created: str
    status: Status = "pending"


@dataclass(frozen=True, slots=True)
class SkillVersion:
    """One decided change of a skill.

    version   counts from 1
    time      in UTC, "2026-01-31T12:00:00Z"
    cause     the proposal's id, or "revert of N"
    reviewer  who decided
    before    the skill's `package_digest` before the change, and `after` it
    files     path → (sha256 before, sha256 after), None where there is no file
    """

    version: int
    skill: str
    time: str
    cause: str
    reviewer: str
    before: str
    after: str
    files: Mapping[str, tuple[str | None, str | None]]


class ProposalStore:
    """Proposals, decisions and versions in a directory of the host, which no sandbox may see.

    Pending proposals are `<skill>-<time>.md`; decided ones are in `approved/` and `rejected/`,
    versions in `history/`. A changed skill must be valid under `accept`.
    """

    def __init__(self, path: str | os.PathLike[str], accept: Acceptance = USUAL) -> None:
        self.path = Path(path)
        self.accept = accept

    def propose(
        self, skill: AgentSkill, diff: str, justification: str, evidence: str = ""
    ) -> Proposal:
        """Write a proposal. The diff must apply and leave a valid skill of the same name.

        Raises `InvalidSkillError`, `SkillPathError` or `SkillLimitError`.
        """
        texts = {"diff": diff, "justification": justification, "evidence": evidence}
        for name, text in texts.items():
            try:
                size = len(encode(text))
            except UnicodeEncodeError:  # a lone surrogate
                raise InvalidSkillError(f"the {name} is not a text") from None
            if size > MAX_TEXT_BYTES:
                raise SkillLimitError(f"the {name} is larger than {MAX_TEXT_BYTES} bytes")
        if not justification.strip():
            raise InvalidSkillError("a proposal needs a justification")
        self._patched(skill, diff)
        self.path.mkdir(parents=True, exist_ok=True)
        if len(self._ids("pending")) >= MAX_PENDING:
            raise SkillLimitError(
                f"there are {MAX_PENDING} undecided proposals; decide on some of them first"
            )
        now = time.time()
        created, digest = _utc(now), skill.package_digest
        stamp = re.sub("[-:Z]", "", created) + f"{int(now % 1 * 1_000_000):06d}Z"
        for turn in range(1000):
            id = f"{skill.name}-{stamp}{f'-{turn}' if turn else ''}"
            proposal = Proposal(id, skill.name, diff, justification, evidence, digest, created)
            try:
                write_new(self._file(proposal.id, "pending"), encode(_page(proposal)))
            except FileExistsError:
                continue
            return proposal
        raise SkillStateError("no name is left for the proposal")

    def entries(self, status: Status | None = "pending") -> list[Proposal]:
        """Return proposals, oldest first. `None` returns all; other files are skipped."""
        found = []
        for each in STATUSES if status is None else (status,):
            for name in self._ids(each):
                try:
                    found.append(_parse(name, self._file(name, each).read_bytes(), each))
                except (OSError, InvalidSkillError):
                    continue
        return sorted(found, key=lambda proposal: (proposal.created, proposal.id))

    def show(self, id: str) -> Proposal:
        """Return one proposal. Raises `SkillNotFoundError`."""
        if _ID.fullmatch(id):
            for status in STATUSES:
                try:
                    return _parse(id, self._file(id, status).read_bytes(), status)
                except FileNotFoundError:
                    continue
        raise SkillNotFoundError(f"there is no proposal {id[:120]!r}")

    def approve(self, id: str, folder: str | os.PathLike[str], *, reviewer: str) -> SkillVersion:
        """Apply a proposal to the skill in a folder of the host.

        Raises `SkillNotFoundError` for an unknown proposal, `SkillStateError` if it is already
        decided or the skill is not the one that it was made for.
        """
        with self._alone():
            proposal = self._pending(id)
            skill = AgentSkill.from_path(folder, proposal.skill, accept=self.accept)
            if skill.package_digest != proposal.base:
                problem = f"{skill.name} was changed since the proposal was made; propose it again"
                found = {skill.metadata.title, Path(folder).resolve().name}
                if proposal.skill not in found:
                    problem = f"the folder holds the skill {min(found)!r}"
                    problem += f", the proposal is about {proposal.skill!r}"
                raise SkillStateError(problem)
            changed, after = self._patched(skill, proposal.diff)
            return self._change(skill, folder, changed, after, cause=proposal.id, reviewer=reviewer)

    def reject(self, id: str) -> Proposal:
        """Reject a proposal, which is kept as rejected. Raises what `approve` raises."""
        with self._alone():
            proposal = self._pending(id)
            self._decide(id, "rejected")
        return proposal

    def history(self, skill: str) -> list[SkillVersion]:
        """Return all versions of a skill, oldest first."""
        if not is_skill_name(skill, unicode=True):
            raise SkillNotFoundError(f"unknown skill: {skill[:100]!r}")
        try:
            lines = (self.path / "history" / f"{skill}.jsonl").read_bytes().splitlines()
        except FileNotFoundError:
            return []
        try:
            return [_version(json.loads(line)) for line in lines]
        except (ValueError, TypeError, KeyError):
            raise SkillStateError(f"the history of {skill} is damaged") from None

    def revert(
        self, skill: str, version: int, folder: str | os.PathLike[str], *, reviewer: str
    ) -> SkillVersion:
        """Undo a version and all later ones; that is a new version.

        Raises `SkillNotFoundError` for an unknown version, `SkillStateError` if the skill was
        changed by other means.
        """
        with self._alone():
            history = self.history(skill)
            if not 1 <= version <= len(history):
                raise SkillNotFoundError(
                    f"{skill} has no version {version}; there are {len(history)}"
                )
            now = AgentSkill.from_path(folder, skill, accept=self.accept)
            if now.package_digest != history[-1].after:
                raise SkillStateError(
                    f"{skill} was changed by other means since version {len(history)}"
                )
            changed: dict[str, bytes | None] = {}
            for entry in reversed(history[version - 1 :]):
                for path, (before, _) in entry.files.items():
                    changed[path] = self._object(before)
            after = self._with(now, changed)
            cause = f"revert of {version}"
            return self._change(now, folder, changed, after, cause=cause, reviewer=reviewer)

    # the parts

    def _patched(self, skill: AgentSkill, diff: str) -> tuple[dict[str, bytes | None], AgentSkill]:
        """Apply a diff to a skill; return the changed files, and the changed skill."""
        files = {file.relative_path: file for file in skill.files}
        changed = apply_patches(files, parse_diff(diff))
        return changed, self._with(skill, changed)

    def _with(self, skill: AgentSkill, changed: Mapping[str, bytes | None]) -> AgentSkill:
        """Return the skill with changed files. Raises `InvalidSkillError` for another name too."""
        files = {file.relative_path: file for file in skill.files}
        for path, content in changed.items():
            before = files.pop(path, None)
            if content is not None:
                runs = before.executable if before else content.startswith(b"#!")
                files[path] = SkillFile(path, content, runs)
        after = AgentSkill(files.values(), name=skill.name, accept=self.accept)
        if after.metadata.title != skill.metadata.title:
            raise InvalidSkillError("a proposal cannot give a skill another name")
        return after

    def _pending(self, id: str) -> Proposal:
        proposal = self.show(id)
        if proposal.status != "pending":
            raise SkillStateError(f"the proposal was {proposal.status} already")
        return proposal

    def _decide(self, id: str, status: Status) -> None:
        target = self._file(id, status)
        target.parent.mkdir(exist_ok=True)
        os.replace(self._file(id, "pending"), target)

    def _file(self, id: str, status: Status) -> Path:
        return (self.path if status == "pending" else self.path / status) / f"{id}.md"

    def _ids(self, status: Status) -> list[str]:
        folder = self.path if status == "pending" else self.path / status
        try:
            return sorted(
                name[:-3]
                for name in os.listdir(folder)
                if name.endswith(".md") and _ID.fullmatch(name[:-3])
            )
        except FileNotFoundError:
            return []

    def _change(
        self,
        skill: AgentSkill,
        folder: str | os.PathLike[str],
        changed: Mapping[str, bytes | None],
        after: AgentSkill,
        *,
        cause: str,
        reviewer: str,
    ) -> SkillVersion:
        """Write files of a skill and its new version, and mark the proposal as approved."""
        root = Path(folder).resolve()
        names = _names_on_disk(root)
        old = {file.relative_path: file for file in skill.files}
        files = {}
        for path, content in changed.items():
            before = self._keep(old[path].content) if path in old else None
            files[path] = (before, None if content is None else self._keep(content))
        history = self.history(skill.name)
        entry = SkillVersion(
            len(history) + 1,
            skill.name,
            _utc(time.time()),
            cause,
            reviewer,
            skill.package_digest,
            after.package_digest,
            files,
        )
        undo = {names.get(path, path): before for path, (before, _) in files.items()}
        journal = {
            "folder": str(root),
            "skill": skill.name,
            "version": entry.version,
            "cause": cause,
            "files": undo,
        }
        replace_file(self.path / JOURNAL, encode(json.dumps(journal)))
        try:
            for path, content in changed.items():
                put_file(root, names.get(path, path), content)
            lines = [encode(json.dumps(asdict(each))) for each in (*history, entry)]
            replace_file(self.path / "history" / f"{skill.name}.jsonl", b"\n".join(lines) + b"\n")
        finally:
            self._settle()
        return entry

    def _settle(self) -> None:
        """Finish the change in the journal: approve its proposal, or undo it without a version."""
        journal = self.path / JOURNAL
        try:
            begun = json.loads(journal.read_bytes())
        except FileNotFoundError:
            return
        except ValueError:
            damaged = f"{JOURNAL} is damaged: a change was begun, and cannot be undone"
            raise SkillStateError(damaged) from None
        if len(self.history(begun["skill"])) >= begun["version"]:
            if self._file(begun["cause"], "pending").exists():
                self._decide(begun["cause"], "approved")
        elif os.path.isdir(begun["folder"]):
            for path, digest in begun["files"].items():
                put_file(Path(begun["folder"]), path, self._object(digest))
        journal.unlink()

    def _keep(self, content: bytes) -> str:
        """Store a content under its sha256 and return that."""
        digest = hashlib.sha256(content).hexdigest()
        target = self.path / "objects" / digest
        if not target.exists():
            replace_file(target, content)
        return digest

    def _object(self, digest: str | None) -> bytes | None:
        """Return the content with that sha256; None for None, where there was no file."""
        if digest is None:
            return None
        content = (self.path / "objects" / digest).read_bytes()
        if hashlib.sha256(content).hexdigest() != digest:
            raise SkillStateError("a stored version is damaged")
        return content

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the lock of the store; first finish what another process left unfinished."""
        if not self.path.is_dir():
            raise SkillNotFoundError("there are no proposals")
        with locked(self.path / ".lock"):
            self._settle()
            yield


def _utc(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _names_on_disk(root: Path) -> dict[str, str]:
    """Return the name of SKILL.md as the author wrote it, if it is another one."""
    spelt = [name for name in os.listdir(root) if name.lower() == "skill.md"]
    return {"SKILL.md": spelt[0]} if spelt else {}


def _page(proposal: Proposal) -> str:
    head = [
        "---",
        f"skill: {proposal.skill}",
        f"created: {proposal.created}",
        f"base: {proposal.base}",
        "---",
        "",
    ]
    sections = [("Diff", "diff", proposal.diff), ("Justification", "text", proposal.justification)]
    sections += [("Evidence", "text", proposal.evidence)] if proposal.evidence else []
    parts = ["\n".join([*head, f"# Proposal for {proposal.skill}"])]
    for title, kind, text in sections:
        longest = max([2, *map(len, _TICKS.findall(text))])
        fence = "`" * (longest + 1)  # so that nothing in the text closes it
        parts.append(f"## {title}\n\n{fence}{kind}\n{text}\n{fence}")
    return "\n\n".join(parts) + "\n"


def _parse(id: str, data: bytes, status: Status) -> Proposal:
    text = str(data, "utf-8", "surrogateescape")
    head, _, rest = text.removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.split("\n") if ": " in line)
    sections = _sections(rest)
    match = _ID.fullmatch(id)
    is_named = match is not None and fields.get("skill") == match[1]
    if not is_named or "Diff" not in sections or "base" not in fields:
        raise InvalidSkillError(f"{id}.md is not a proposal")
    return Proposal(
        id,
        fields["skill"],
        sections["Diff"],
        sections.get("Justification", ""),
        sections.get("Evidence", ""),
        fields["base"],
        fields.get("created", ""),
        status,
    )


def _sections(text: str) -> dict[str, str]:
    """Return title → text; each section is searched after the end of the one before."""
    found: dict[str, str] = {}
    at = 0
    text += "\n"
    while (match := _SECTION.search(text, at)) is not None:
        end = text.find(f"\n{match[2]}\n", match.end())
        if end < 0:
            at = match.end()
            continue
        found.setdefault(match[1], text[match.end() : end])
        at = end + 1 + len(match[2])
    return found


def _version(entry: Mapping[str, Any]) -> SkillVersion:
    files = {path: (before, after) for path, (before, after) in entry["files"].items()}
    return SkillVersion(**{**entry, "files": files})
