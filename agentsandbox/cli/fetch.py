"""`agentsandbox skills fetch`: fetch skills into a folder of the host and add them to the lock."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agentsandbox.cli.printing import print_json, print_table, report, words_of
from agentsandbox.errors import SkillError, SkillPolicyError, SkillStateError
from agentsandbox.network import NetworkPolicy
from agentsandbox.skills.remote.fetching import RemoteSkills
from agentsandbox.skills.skill import AgentSkill
from agentsandbox.skills.trust.lockfile import SkillLock

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from agentsandbox.skills.sources.files import SkillFile

MAX_BYTES = 64 * 1024 * 1024
ARCHIVES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")


@dataclass(frozen=True, slots=True)
class Installed:
    """A skill and its folder; the outcome is "added", "replaced" or "unchanged"."""

    skill: AgentSkill
    folder: Path
    outcome: str


def run_fetch(options: argparse.Namespace) -> int:
    """Fetch, install and lock skills, all or none; return the exit status."""
    try:
        skills, problems = _fetch(options)
        target, update = Path(options.directory), options.update
        _check_names(skills)
        outcomes = [_outcome(skill, target, update=update) for skill in skills]
        lock = _lock(options.lock, skills, options.url, update=update)
        for each in outcomes:
            _install(each)
        lock.write(options.lock)
    except (SkillError, OSError) as error:
        return report([words_of(error)])
    if options.json:
        print_json([_plain(each, options.url) for each in outcomes])
    else:
        rows = [
            (each.skill.catalog_name, each.outcome, str(each.folder), each.skill.package_digest)
            for each in outcomes
        ]
        print_table(("skill", "is", "folder", "digest"), rows)
    return report(problems)


def _plain(installed: Installed, source: str) -> dict[str, str]:
    skill = installed.skill
    return {
        "name": skill.catalog_name,
        "outcome": installed.outcome,
        "path": str(installed.folder),
        "digest": skill.package_digest,
        "source": source,
    }


def _fetch(options: argparse.Namespace) -> tuple[list[AgentSkill], list[str]]:
    """Return the skills at the address, and the problems of other skills in an index."""
    kind = options.kind or _kind_of(options.url)
    _check(options, kind)
    remote = RemoteSkills(_policy(options, kind), os.path.expanduser(options.cache))
    ref = options.ref or "HEAD"
    if options.update:
        remote.forget(options.url, ref if kind == "git" else None)
    if kind == "git":
        return remote.git(options.url, ref, below=options.below), []
    if kind == "document":
        return [remote.document(options.url, options.digest)], []
    if kind == "archive":
        name, below = options.name, options.below
        return remote.archive(options.url, options.digest, name=name, below=below), []
    found = remote.index(options.url)
    return list(found.skills), [f"{each.path}: {each.message}" for each in found.diagnostics]


def _policy(options: argparse.Namespace, kind: str) -> NetworkPolicy:
    """Return the policy: the address's own host and those of `--allow`."""
    parts = urlsplit(options.url)
    remote = parts.scheme not in ("", "file")
    try:
        return NetworkPolicy(
            [f"{parts.scheme}://{parts.netloc}", *options.allow] if remote else (),
            methods=("GET", "POST") if kind == "git" else ("GET",),
            allow_private=options.allow_private,
            max_bytes=MAX_BYTES,
            timeout=options.timeout,
        )
    except ValueError as error:
        raise SkillPolicyError(str(error)) from None


def _kind_of(url: str) -> str:
    path = urlsplit(url).path.lower()
    if path.endswith(".git"):
        return "git"
    if path.endswith(ARCHIVES):
        return "archive"
    if path.endswith(".md"):
        return "document"
    if path in ("", "/") or path.endswith(".json"):
        return "index"
    raise SkillStateError(
        f"{url}: the address does not show its kind: use --as archive, document, git or index"
    )


def _check(options: argparse.Namespace, kind: str) -> None:
    """Raise for an option that has no meaning for that kind of address."""
    for name, given, kinds in (
        ("digest", options.digest, ("archive", "document")),
        ("ref", options.ref, ("git",)),
        ("below", options.below, ("archive", "git")),
        ("name", options.name, ("archive",)),
    ):
        if given and kind not in kinds:
            article = "an" if kind[0] in "ai" else "a"
            raise SkillStateError(f"--{name} means nothing for {article} {kind}")


def _check_names(skills: Sequence[AgentSkill]) -> None:
    """Raise for skills that would share a folder."""
    counts = Counter(skill.catalog_name for skill in skills)
    if shared := [name for name, count in counts.items() if count > 1]:
        raise SkillStateError(f"several skills are named {', '.join(shared)}")


def _outcome(skill: AgentSkill, directory: Path, *, update: bool) -> Installed:
    """Return what installing a skill would do; `SkillStateError` if its folder has another one."""
    folder = directory / skill.catalog_name
    if not os.path.lexists(folder):
        return Installed(skill, folder, "added")
    try:
        digest = AgentSkill.from_path(folder).package_digest
    except SkillError:
        digest = ""
    is_link = folder.is_symlink()
    if digest == skill.package_digest and not is_link:
        return Installed(skill, folder, "unchanged")
    if not update or is_link:
        raise SkillStateError(
            f"{folder} exists already, and is not what was fetched; --update replaces it"
        )
    return Installed(skill, folder, "replaced")


def _lock(path: str, skills: Sequence[AgentSkill], source: str, *, update: bool) -> SkillLock:
    """Return the lock with the skills added; `SkillPolicyError` if it has another digest of one."""
    known = SkillLock.read(path).skills if os.path.exists(path) else {}
    fresh = SkillLock.of(skills, [source] * len(skills)).skills
    for name, entry in fresh.items():
        if name in known and known[name].digest != entry.digest and not update:
            raise SkillPolicyError(f"{name} is not what {path} says; --update accepts it")
    return SkillLock(dict(sorted({**known, **fresh}.items())))


def _install(installed: Installed) -> None:
    """Write the skill's folder, whole or not at all."""
    if installed.outcome == "unchanged":
        return
    folder = installed.folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    mark = os.urandom(6).hex()
    fresh, old = (folder.with_name(f".{folder.name}.{mark}.{kind}") for kind in ("new", "old"))
    try:
        for file in installed.skill.files:
            _write(fresh / file.relative_path, file)
        if installed.outcome == "replaced":
            os.rename(folder, old)
        os.rename(fresh, folder)
    except OSError:
        if old.exists() and not folder.exists():
            os.rename(old, folder)
        raise
    finally:
        for left in (fresh, old):
            shutil.rmtree(left, ignore_errors=True)


def _write(path: Path, file: SkillFile) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if file.link is not None:
        path.symlink_to(file.link)
        return
    path.write_bytes(file.content)
    path.chmod(0o755 if file.executable else 0o644)
