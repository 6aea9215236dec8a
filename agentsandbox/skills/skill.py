"""`AgentSkill`: read once, checked, immutable, shared by every sandbox that mounts it."""

from __future__ import annotations

import hashlib
import posixpath
from typing import TYPE_CHECKING

from agentsandbox.errors import InvalidSkillError, SkillPathError
from agentsandbox.kernel.fs.trees import build_tree
from agentsandbox.kernel.streams import encode
from agentsandbox.skills.frontmatter import FrontmatterError, read_utf8
from agentsandbox.skills.metadata import read_metadata
from agentsandbox.skills.paths import clean_path, is_skill_name
from agentsandbox.skills.sources import files as sources
from agentsandbox.skills.sources.files import (
    FileSystemSkillSource,
    InMemorySkillSource,
    PackageSkillSource,
    SkillFile,
)
from agentsandbox.skills.validation import (
    USUAL,
    Acceptance,
    error,
    errors_of,
    identify,
    warning,
)

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from agentsandbox.kernel.fs.trees import FrozenTree
    from agentsandbox.skills.metadata import SkillMetadata
    from agentsandbox.skills.sources.files import SkillSource
    from agentsandbox.skills.validation import Diagnostic

SKILL_FILE = "SKILL.md"
AGENT = 1000
"""The owner of a skill's files: the sandbox's user, who may change them in a writable mount."""
MAX_PROBLEMS = 20
NO_SKILL_FILE = "Skill must contain a SKILL.md file"


class AgentSkill:
    """A skill, ready to be mounted.

    Make one with `from_path`, `from_package`, `from_files` or `from_source`. A skill has at most
    5,000 files and 64 MiB.

    name    replaces the name in the front matter
    strict  require everything that the specification requires
    accept  which names and sizes are accepted

    Raises `InvalidSkillError`, whose `problems` lists every problem, or `SkillNotFoundError` if the
    folder or the package does not exist.
    """

    __slots__ = (
        "catalog_name",
        "diagnostics",
        "digest",
        "files",
        "metadata",
        "name",
        "package_digest",
        "tree",
    )

    if TYPE_CHECKING:
        name: str
        catalog_name: str
        """The name by which catalogs and locks know it: `name=`, else its directory's if that is
        one, else its own. Skills with one title in different directories have different ones."""
        metadata: SkillMetadata
        files: tuple[SkillFile, ...]
        """The files; SKILL.md has that name even if the author wrote `skill.md`."""
        diagnostics: tuple[Diagnostic, ...]
        """The warnings about it."""
        digest: str
        """The sha256 of SKILL.md, "sha256:…"."""
        package_digest: str
        """The sha256 of all paths and contents, "sha256:…"."""
        tree: FrozenTree
        """The files as filesystems share them."""

    def __init__(
        self,
        files: Iterable[SkillFile],
        *,
        name: str | None = None,
        directory: str | None = None,
        strict: bool = False,
        accept: Acceptance = USUAL,
    ) -> None:
        kept, problems = _clean(files)
        if name is not None and not is_skill_name(name, unicode=accept.unicode_names):
            rule = "lower-case letters, digits and single hyphens, at most 64"
            problems.append(f"the name {name!r} is not a skill's: {rule}")
        skill_file = _skill_file(kept)
        if skill_file is None or not skill_file.content.strip():
            problems.append(NO_SKILL_FILE)
        elif len(skill_file.content) > accept.hard_skill_md_bytes:
            problems.append(f"SKILL.md exceeds {accept.hard_skill_md_bytes} bytes")
        if problems or skill_file is None:
            raise InvalidSkillError("; ".join(problems), problems)
        try:
            text = read_utf8(skill_file.content)
            metadata, diagnostics = read_metadata(
                text, directory=directory, name=name, strict=strict, accept=accept
            )
        except FrontmatterError as problem:
            metadata, diagnostics = None, [error(problem.code, str(problem))]
        if metadata is None:
            problems = errors_of(diagnostics)
            raise InvalidSkillError("; ".join(problems), problems)
        self._set(
            name=metadata.name,
            catalog_name=_catalog_name(metadata, directory, name, strict=strict, accept=accept),
            metadata=metadata,
            files=tuple(kept.values()),
            diagnostics=tuple(diagnostics),
            digest=f"sha256:{hashlib.sha256(skill_file.content).hexdigest()}",
            package_digest=_package_digest(kept),
            tree=_tree(kept),
        )

    @classmethod
    def from_path(
        cls,
        path: str | os.PathLike[str],
        name: str | None = None,
        *,
        strict: bool = False,
        accept: Acceptance = USUAL,
    ) -> AgentSkill:
        """Read the skill in a folder of the host."""
        return cls.from_source(FileSystemSkillSource(path), name, strict=strict, accept=accept)

    @classmethod
    def from_package(
        cls,
        package: str,
        resource: str,
        name: str | None = None,
        *,
        strict: bool = False,
        accept: Acceptance = USUAL,
    ) -> AgentSkill:
        """Read the skill in a directory of an installed package.

        For example `AgentSkill.from_package("skills_embedded", "git-workflow")`.
        """
        return cls.from_source(
            PackageSkillSource(package, resource), name, strict=strict, accept=accept
        )

    @classmethod
    def from_files(
        cls,
        files: Mapping[str, str | bytes],
        name: str | None = None,
        *,
        strict: bool = False,
        accept: Acceptance = USUAL,
    ) -> AgentSkill:
        """Make a skill of files: path → text or bytes."""
        return cls.from_source(InMemorySkillSource(files), name, strict=strict, accept=accept)

    @classmethod
    def from_source(
        cls,
        source: SkillSource,
        name: str | None = None,
        *,
        strict: bool = False,
        accept: Acceptance = USUAL,
    ) -> AgentSkill:
        """Make a skill of the files of a source.

        The source's `directory`, if it has one, is the name of the skill's directory. What it lists
        in `left_out` becomes warnings.
        """
        directory = getattr(source, "directory", None)
        folder = directory if isinstance(directory, str) else None
        skill = cls(source.files(), name=name, directory=folder, strict=strict, accept=accept)
        left_out = [f"left out: {problem}" for problem in getattr(source, "left_out", ())]
        found = (warning("left-out", message) for message in left_out)
        skill._set(diagnostics=(*skill.diagnostics, *found))
        return skill

    @property
    def description(self) -> str:
        """What the skill does and when to use it."""
        return self.metadata.description

    def _set(self, **values: object) -> None:
        for slot, value in values.items():
            object.__setattr__(self, slot, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a skill is immutable: {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AgentSkill) and (self.name, self.package_digest) == (
            other.name,
            other.package_digest,
        )

    def __hash__(self) -> int:
        return hash((self.name, self.package_digest))

    def __repr__(self) -> str:
        return f"AgentSkill({self.name!r}, {len(self.files)} files)"


def _catalog_name(
    metadata: SkillMetadata,
    directory: str | None,
    name: str | None,
    *,
    strict: bool,
    accept: Acceptance,
) -> str:
    known = identify(
        {"name": metadata.title},
        directory=directory,
        name=name,
        prefer_directory=True,
        strict=strict,
        unicode_names=accept.unicode_names,
    )
    return known or metadata.name


def _clean(files: Iterable[SkillFile]) -> tuple[dict[str, SkillFile], list[str]]:
    """Return the files by their cleaned paths, and what is wrong with them."""
    kept: dict[str, SkillFile] = {}
    problems: list[str] = []
    left = sources.MAX_BYTES
    for file in files:
        left -= len(file.content)
        if left < 0 or len(kept) + len(problems) >= sources.MAX_FILES:
            return kept, [*problems[:MAX_PROBLEMS], sources.too_much()]
        try:
            path = clean_path(file.relative_path)
        except SkillPathError as error:
            problems.append(f"{file.relative_path!r}: {error}")
            continue
        if path.lower() == SKILL_FILE.lower():
            path = SKILL_FILE
        if path in kept:
            problems.append(f"{path}: there are two files of this name")
        kept[path] = SkillFile(path, file.content, file.executable, file.link, file.modified)
    for path in kept:
        parent = posixpath.dirname(path)
        while parent:
            if parent in kept:
                problems.append(f"{path}: {parent} is a file")
            parent = posixpath.dirname(parent)
    return kept, problems


def _skill_file(files: Mapping[str, SkillFile]) -> SkillFile | None:
    """Return SKILL.md, or the file that it is a link to."""
    file = files.get(SKILL_FILE)
    for _ in range(8):
        if file is None or file.link is None:
            return file
        path = posixpath.join(posixpath.dirname(file.relative_path), file.link)
        file = files.get(posixpath.normpath(path))
    return None


def _package_digest(files: Mapping[str, SkillFile]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(b"%s\0%s\n" % (encode(path), encode(files[path].sha256())))
    return f"sha256:{digest.hexdigest()}"


def _tree(files: Mapping[str, SkillFile]) -> FrozenTree:
    """Return the files as a tree that any number of filesystems can share."""
    contents = {
        path: (file.content, 0o755 if file.executable else 0o644)
        for path, file in files.items()
        if file.link is None
    }
    links = {path: file.link for path, file in files.items() if file.link is not None}
    return build_tree(contents, uid=AGENT, links=links)
