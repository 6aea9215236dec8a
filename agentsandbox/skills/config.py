"""How a host uses skills, as one value: where they are, how they are shown, read and run. Presets
are other systems' habits.
"""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.catalog.roots import SkillRoot, installed_roots
from agentsandbox.skills.prompts import render_catalog
from agentsandbox.skills.search.index import SkillIndex
from agentsandbox.skills.search.matching import SkillRouter
from agentsandbox.skills.session.reading import ReadingRules
from agentsandbox.skills.session.session import SkillSession
from agentsandbox.skills.trust.lockfile import SkillLock
from agentsandbox.skills.trust.proposals import ProposalStore
from agentsandbox.skills.validation import Acceptance

if TYPE_CHECKING:
    import os

    from agentsandbox.skills.search.matching import Matcher, Router
    from agentsandbox.skills.session.scripts import Workplace

__all__ = ["PRESETS", "SkillsConfig"]

Profile = Literal[
    "native", "remcochat", "runtime", "agentsandbox", "agentsandbox-head", "yodoca", "mux"
]


class SkillsConfig(BaseModel):
    """Settings of a host; immutable. `SkillsConfig.preset("runtime")` starts from another system's
    habits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    directories: tuple[str, ...] = ()
    search_up: tuple[str, ...] = ()
    """Those of the directories that are looked for in the directories above, too."""
    installed: bool = False
    """Whether the skills of installed packages are offered as well, after those of the
    directories."""
    profile: Profile | tuple[Profile, ...] = "native"
    """The vocabulary of the tools, or several; the first is the one that prompts speak."""
    name_style: Literal["snake", "camel", "dotted"] | None = None
    """How names of tools are written: None as each profile does."""
    delivery: Literal["tool_result", "instructions", "both"] | None = None
    """Where instructions go: into the answers of tools, into the prompt, both; None as the profile
    does."""
    requires: Literal["hint", "auto", "ignore"] = "hint"
    """What becomes of the skills that a skill requires."""
    on_invalid: Literal["skip", "raise"] = "skip"
    on_collision: Literal["first", "error"] = "first"
    activation: Literal["tool", "router", "hybrid"] = "tool"
    """Who chooses skills: the model, the host's router before it, or keywords and the router when
    they leave it unclear."""
    max_router_skills: int = Field(default=3, gt=0)
    search: Literal["substring", "index"] = "substring"
    """Where a query is looked for: in names and tags, or in an index of all words
    (`SkillIndex`)."""
    proposals: str | None = None
    """The directory for changes that agents propose; without one they cannot."""
    lock: str | None = None
    """A `skills.lock`: nothing else is loaded."""
    validation: Literal["strict", "lenient"] = "lenient"
    disabled: tuple[str, ...] = ()
    max_skills: int | None = Field(default=200, gt=0)
    max_active: int = Field(default=8, gt=0)
    unicode_names: bool = False
    """Whether names may have letters of any script."""
    max_skill_md_bytes: int = Field(default=200_000, gt=0)
    hard_skill_md_bytes: int = Field(default=1024 * 1024, gt=0)
    """A SKILL.md that is larger is refused when it is found; one larger than the soft size is cut
    off when it is shown."""
    max_resource_bytes: int = Field(default=2_000_000, gt=0)
    hard_resource_bytes: int = Field(default=16 * 1024 * 1024, gt=0)
    overflow: Literal["truncate", "error"] = "truncate"
    resource_scope: Literal["root", "references_assets"] = "root"
    allow_internal_dotdot: bool = False
    """Whether a path may go back by ".." without leaving the skill."""
    binary: Literal["base64", "describe", "error"] = "base64"
    catalog_format: Literal["xml", "json", "tool_description", "bullets", "agent_skills"] = "xml"
    catalog_location: Literal["virtual", "host"] | None = "virtual"
    """Whether the catalog says where SKILL.md is: in the sandbox, or on the host, or not at all."""
    catalog_order: Literal["name", "discovery"] = "name"
    catalog_max: int | None = Field(default=50, gt=0)
    catalog_characters: int | None = Field(default=None, gt=0)
    """How long the catalog may be: the least used skills lose their descriptions first."""
    require_active: bool = False
    reload: Literal["manual", "mtime", "poll", "watch"] = "manual"
    poll_interval: float = Field(default=5.0, gt=0)
    scripts: Literal["shell", "tool", "both", "off"] = "both"
    script_workdir: Literal["sandbox", "skill"] = "sandbox"
    allowed_tools: Literal["ignore", "warn", "enforce"] = "ignore"
    script_allowlist: tuple[str, ...] | None = None
    """Skills whose scripts run whatever their `allowed-tools` say."""

    @model_validator(mode="before")
    @classmethod
    def _name_the_nearest(cls, values: Any) -> Any:
        """An unknown key is an error that names the key that was meant."""
        if isinstance(values, dict):
            for key in sorted(set(values) - set(cls.model_fields)):
                near = difflib.get_close_matches(str(key), cls.model_fields, 1)
                raise ValueError(
                    f"unknown setting {key!r}" + (f"; did you mean {near[0]!r}?" if near else "")
                )
        return values

    @classmethod
    def preset(cls, name: str, **changes: Any) -> SkillsConfig:
        """The habits of another system, with changes."""
        if name not in PRESETS:
            raise ValueError(f"unknown preset {name!r}; there are: {', '.join(PRESETS)}")
        return cls(**{**PRESETS[name], **changes})

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> SkillsConfig:
        """The table `[app.skills]` of a file; skills are off unless it says `enabled = true`,
        settings start from its `preset`.
        """
        values: Any = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        for key in ("app", "skills"):
            values = values.get(key, {})
            if not isinstance(values, dict):
                raise ValueError(f"[app.skills]: {key} is not a table")
        start = PRESETS.get(values.get("preset", "default"))
        if start is None:
            raise ValueError(
                f"unknown preset {values['preset']!r}; there are: {', '.join(PRESETS)}"
            )
        return cls(
            **{
                "enabled": False,
                **start,
                **{key: value for key, value in values.items() if key != "preset"},
            }
        )

    def discover(self) -> SkillCatalog:
        """The catalog of the directories; an empty one when skills are off."""
        directories = self.directories if self.enabled else ()
        roots = [
            SkillRoot(directory, _scope(directory), directory in self.search_up)
            for directory in directories
        ]
        roots += installed_roots() if self.enabled and self.installed else []
        return SkillCatalog.discover(
            *roots,
            strict=self.validation == "strict",
            max_skills=self.max_skills,
            disabled=self.disabled,
            on_invalid=self.on_invalid,
            on_collision=self.on_collision,
            reload=self.reload,
            poll_interval=self.poll_interval,
            lock=SkillLock.read(self.lock) if self.lock is not None else None,
            accept=self.acceptance(),
        )

    def session(
        self, catalog: SkillCatalog, place: Workplace | None = None, **options: Any
    ) -> SkillSession:
        """A session on the catalog by these settings; `options` go to `SkillSession`."""
        settings = {
            "max_active": self.max_active,
            "require_active": self.require_active,
            "rules": self.reading_rules(),
            "scripts": self.scripts,
            "script_workdir": self.script_workdir,
            "allowed_tools": self.allowed_tools,
            "script_allowlist": self.script_allowlist,
            "requires": self.requires,
            "delivery": self.delivery,
            "index": SkillIndex() if self.search == "index" else None,
            "proposals": ProposalStore(self.proposals, self.acceptance())
            if self.proposals is not None
            else None,
        }
        return SkillSession(catalog, place, **{**settings, **options})

    def router(
        self, session: SkillSession, router: Router | None = None, *, matcher: Matcher | None = None
    ) -> SkillRouter:
        """What chooses skills for each message, by `activation`; the host's `router` is asked where
        that says so.
        """
        return SkillRouter(
            session, self.activation, router, matcher=matcher, max_skills=self.max_router_skills
        )

    def acceptance(self) -> Acceptance:
        """Which names and sizes are taken."""
        return Acceptance(self.unicode_names, self.hard_skill_md_bytes)

    def reading_rules(self) -> ReadingRules:
        """How files are read."""
        return ReadingRules(
            max_skill_md_bytes=self.max_skill_md_bytes,
            max_resource_bytes=self.max_resource_bytes,
            hard_resource_bytes=self.hard_resource_bytes,
            resource_scope=self.resource_scope,
            allow_internal_dotdot=self.allow_internal_dotdot,
            overflow=self.overflow,
            binary=self.binary,
        )

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """The profiles, one or several."""
        return self.profile if isinstance(self.profile, tuple) else (self.profile,)

    def render_catalog(
        self, session: SkillSession, *, read_tool: str | None = None, file_tool: str | None = None
    ) -> str | None:
        """The catalog as this host shows it; the names are those of the tools that load a skill and
        read its files.
        """
        return render_catalog(
            session.search(),
            self.catalog_format,
            location=self.catalog_location,
            order=self.catalog_order,
            maximum=self.catalog_max,
            characters=self.catalog_characters,
            uses=session.uses,
            read_tool=read_tool,
            file_tool=file_tool,
            places=session.places(),
        )


def _scope(directory: str) -> Literal["project", "user"]:
    return "user" if directory.startswith("~") else "project"


_PROJECT_AND_HOME = ("./.skills", "./.agents/skills", "~/.agents/skills", "~/.remcochat/skills")
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "remcochat": {
        "directories": _PROJECT_AND_HOME,
        "search_up": ("./.agents/skills",),
        "profile": "remcochat",
        "validation": "strict",
        "catalog_format": "json",
        "catalog_location": None,
        "catalog_order": "discovery",
        "catalog_max": 200,
        "scripts": "off",
        "allowed_tools": "enforce",
    },
    "runtime": {
        "profile": "runtime",
        "require_active": True,
        "catalog_order": "discovery",
        "catalog_max": None,
        "delivery": "instructions",
        "scripts": "tool",
    },
    "agentsandbox": {
        "profile": "agentsandbox",
        "on_invalid": "raise",
        "scripts": "shell",
        "catalog_format": "tool_description",
        "catalog_location": None,
        "catalog_order": "discovery",
        "catalog_max": None,
    },
    "yodoca": {
        "directories": ("sandbox/skills",),
        "profile": "yodoca",
        "catalog_format": "bullets",
        "catalog_location": None,
        "catalog_order": "discovery",
        "catalog_max": None,
        "reload": "poll",
        "scripts": "off",
    },
    "mux": {
        "directories": (".mux/skills", "~/.mux/skills"),
        "profile": "mux",
        "validation": "strict",
        "catalog_format": "agent_skills",
        "catalog_location": None,
        "max_skill_md_bytes": 1024 * 1024,
        "max_resource_bytes": 1024 * 1024,
        "hard_resource_bytes": 1024 * 1024,
        "overflow": "error",
        "reload": "mtime",
        "scripts": "off",
    },
}
