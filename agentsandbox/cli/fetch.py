"""`agentsandbox skills fetch`: skills from an address into a folder of the host, and into the
lock.
"""

from __future__ import annotations

import os
import shutil
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
    """A skill in its folder: "added", "replaced" or "unchanged"."""

    skill: AgentSkill
    folder: Path
    outcome: str


def run_fetch(options: argparse.Namespace) -> int:
    """Fetch, install and lock; the exit status. Nothing is installed unless everything can be."""
    try:
        skills, problems = _fetch(options)
        outcomes = [
            _outcome(skill, Path(options.directory), update=options.update) for skill in skills
        ]
        lock = _lock(options.lock, skills, options.url, update=options.update)
        for each in outcomes:
            _install(each)
        lock.write(options.lock)
    except (SkillError, OSError) as error:
        return report([words_of(error)])
    if options.json:
        print_json([_plain(each, options.url) for each in outcomes])
    else:
        rows = [
            (each.skill.name, each.outcome, str(each.folder), each.skill.package_digest)
            for each in outcomes
        ]
        print_table(("skill", "is", "folder", "digest"), rows)
    return report(problems)


def _plain(installed: Installed, source: str) -> dict[str, str]:
    skill = installed.skill
    return {
        "name": skill.name,
        "outcome": installed.outcome,
        "path": str(installed.folder),
        "digest": skill.package_digest,
        "source": source,
    }


def _fetch(options: argparse.Namespace) -> tuple[list[AgentSkill], list[str]]:
    """The skills at the address, and what is wrong with others that an index lists."""
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
        return remote.archive(
            options.url, options.digest, name=options.name, below=options.below
        ), []
    found = remote.index(options.url)
    return list(found.skills), [f"{each.path}: {each.message}" for each in found.diagnostics]


def _policy(options: argparse.Namespace, kind: str) -> NetworkPolicy:
    """What may be reached: the address's own host, and where `--allow` says that it may lead."""
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
        f"{url}: the address does not tell what it is: say --as archive, document, git or index"
    )


def _check(options: argparse.Namespace, kind: str) -> None:
    """Raise for an option that means nothing for that kind of address."""
    meant = {
        "digest": ("archive", "document"),
        "ref": ("git",),
        "below": ("archive", "git"),
        "name": ("archive",),
    }
    given = {
        "digest": options.digest,
        "ref": options.ref,
        "below": options.below,
        "name": options.name,
    }
    for name, kinds in meant.items():
        if given[name] and kind not in kinds:
            raise SkillStateError(
                f"--{name} means nothing for {'an' if kind[0] in 'ai' else 'a'} {kind}"
            )


def _outcome(skill: AgentSkill, directory: Path, *, update: bool) -> Installed:
    """What installing a skill will do; `SkillStateError` when another one is there."""
    folder = directory / skill.name
    if not os.path.lexists(folder):
        return Installed(skill, folder, "added")
    try:
        there = AgentSkill.from_path(folder)
    except SkillError:
        there = None
    if (
        there is not None
        and there.package_digest == skill.package_digest
        and not folder.is_symlink()
    ):
        return Installed(skill, folder, "unchanged")
    if not update or folder.is_symlink():
        raise SkillStateError(
            f"{folder} is there already, and is not what was fetched; --update replaces it"
        )
    return Installed(skill, folder, "replaced")


def _lock(path: str, skills: Sequence[AgentSkill], source: str, *, update: bool) -> SkillLock:
    """The lock with the skills in it; `SkillPolicyError` when it says otherwise of one of them."""
    known = SkillLock.read(path).skills if os.path.exists(path) else {}
    fresh = SkillLock.of(skills, dict.fromkeys((skill.name for skill in skills), source)).skills
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
