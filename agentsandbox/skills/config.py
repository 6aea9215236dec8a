"""`SkillsConfig`: where a host has its skills, and how they are shown, read and run.

A preset has the settings that another system uses.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agentsandbox.skills.catalog.catalog import SkillCatalog
from agentsandbox.skills.catalog.roots import SkillRoot, installed_roots
from agentsandbox.skills.prompts import CATALOG_CHARACTERS, plan_catalog, render_catalog
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

Profile = Literal[
    "native", "remcochat", "runtime", "agentsandbox", "agentsandbox-head", "yodoca", "mux"
]


class SkillsConfig(BaseModel):
    """The settings of a host; immutable. Sizes are in bytes.

    `SkillsConfig.preset("runtime")` starts from the settings of another system.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    directories: tuple[str, ...] = ()
    search_up: tuple[str, ...] = ()
    """Directories of `directories` that are also looked up in the directories above."""
    installed: bool = False
    """Whether the skills of installed packages are offered too, after those of the directories."""
    profile: Profile | tuple[Profile, ...] = "native"
    """The tools' vocabulary, or several; prompts use the first."""
    name_style: Literal["snake", "camel", "dotted"] | None = None
    """How names of tools are written; None for the profile's own style."""
    delivery: Literal["tool_result", "instructions", "both"] | None = None
    """Where instructions go: answers of tools, the prompt, or both; None for the profile's own."""
    requires: Literal["hint", "auto", "ignore"] = "hint"
    """Skills that a skill requires are named to the model, loaded automatically, or ignored."""
    on_invalid: Literal["skip", "raise"] = "skip"
    on_collision: Literal["first", "error"] = "first"
    activation: Literal["tool", "router", "hybrid"] = "tool"
    """What chooses skills: the model, the host's router, or keywords and then the router."""
    max_router_skills: int = Field(default=3, gt=0)
    search: Literal["substring", "index"] = "substring"
    """Search in names and tags, or in an index of all words (`SkillIndex`)."""
    proposals: str | None = None
    """The directory for changes that agents propose; without one they cannot propose any."""
    lock: str | None = None
    """The path of a `skills.lock`; only what it lists is loaded."""
    validation: Literal["strict", "lenient"] = "lenient"
    disabled: tuple[str, ...] = ()
    max_skills: int | None = Field(default=200, gt=0)
    max_active: int = Field(default=8, gt=0)
    unicode_names: bool = False
    """Whether names may have letters of any script."""
    max_skill_md_bytes: int = Field(default=200_000, gt=0)
    hard_skill_md_bytes: int = Field(default=1024 * 1024, gt=0)
    """A SKILL.md beyond this size is refused; one beyond the soft size is shown truncated."""
    max_resource_bytes: int = Field(default=2_000_000, gt=0)
    hard_resource_bytes: int = Field(default=16 * 1024 * 1024, gt=0)
    overflow: Literal["truncate", "error"] = "truncate"
    resource_scope: Literal["root", "references_assets"] = "root"
    allow_internal_dotdot: bool = False
    """Whether a path may contain ".." as long as it stays in the skill."""
    binary: Literal["base64", "describe", "error"] = "base64"
    catalog_format: Literal["xml", "json", "tool_description", "bullets", "agent_skills"] = "xml"
    catalog_location: Literal["virtual", "host"] | None = "virtual"
    """Which path of SKILL.md the catalog shows: in the sandbox, on the host, or none."""
    catalog_order: Literal["name", "discovery"] = "name"
    catalog_max: int | None = Field(default=50, gt=0)
    catalog_characters: int | None = Field(default=CATALOG_CHARACTERS, gt=0)
    """The longest catalog, None for no limit; descriptions are shortened, then left out."""
    require_active: bool = False
    reload: Literal["manual", "mtime", "poll", "watch"] = "manual"
    poll_interval: float = Field(default=5.0, gt=0)
    scripts: Literal["shell", "tool", "both", "off"] = "both"
    script_workdir: Literal["sandbox", "skill"] = "sandbox"
    allowed_tools: Literal["ignore", "warn", "enforce"] = "ignore"
    script_allowlist: tuple[str, ...] | None = None
    """Names of skills whose `allowed-tools` are not enforced."""

    @model_validator(mode="before")
    @classmethod
    def _name_the_nearest(cls, values: Any) -> Any:
        """Raise for an unknown key; the error names the nearest known one."""
        if isinstance(values, dict):
            for key in sorted(set(values) - set(cls.model_fields)):
                near = difflib.get_close_matches(str(key), cls.model_fields, 1)
                raise ValueError(
                    f"unknown setting {key!r}" + (f"; did you mean {near[0]!r}?" if near else "")
                )
        return values

    @classmethod
    def preset(cls, name: str, /, **changes: Any) -> SkillsConfig:
        """Return the settings of another system, with changes."""
        if name not in PRESETS:
            raise ValueError(f"unknown preset {name!r}; there are: {', '.join(PRESETS)}")
        return cls(**{**PRESETS[name], **changes})

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> SkillsConfig:
        """Read the table `[app.skills]` of a file.

        Skills are off unless it says `enabled = true`. The other settings start from its `preset`.
        """
        values: Any = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        for key in ("app", "skills"):
            values = values.get(key, {})
            if not isinstance(values, dict):
                raise ValueError(f"[app.skills]: {key} is not a table")
        name = values.pop("preset", "default")
        return cls.preset(name, **{"enabled": False, **values})

    def discover(self) -> SkillCatalog:
        """Return the catalog of the directories; an empty one when skills are off."""
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
        """Return a session with these settings; `options` are those of `SkillSession`."""
        settings: dict[str, Any] = {name: getattr(self, name) for name in _SESSION_SETTINGS}
        settings["rules"] = self.reading_rules()
        if self.search == "index":
            settings["index"] = SkillIndex()
        if self.proposals is not None:
            settings["proposals"] = ProposalStore(self.proposals, self.acceptance())
        return SkillSession(catalog, place, **{**settings, **options})

    def router(
        self, session: SkillSession, router: Router | None = None, *, matcher: Matcher | None = None
    ) -> SkillRouter:
        """Return what chooses skills for each message, by `activation`.

        The host's `router` is called where `activation` says so.
        """
        return SkillRouter(
            session, self.activation, router, matcher=matcher, max_skills=self.max_router_skills
        )

    def acceptance(self) -> Acceptance:
        """Return which names and sizes are accepted."""
        return Acceptance(self.unicode_names, self.hard_skill_md_bytes)

    def reading_rules(self) -> ReadingRules:
        """Return how files are read."""
        return ReadingRules(
            **{each.name: getattr(self, each.name) for each in fields(ReadingRules)}
        )

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """`profile` as a tuple."""
        return self.profile if isinstance(self.profile, tuple) else (self.profile,)

    def render_catalog(
        self,
        session: SkillSession,
        *,
        read_tool: str | None = None,
        file_tool: str | None = None,
        list_tool: str | None = None,
    ) -> str | None:
        """Return the catalog as this host shows it, None without skills.

        The other arguments are the names of the tools that load a skill, read its files and list
        all skills.
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
            list_tool=list_tool,
            places=session.places(),
        )

    def cuts_catalog(self, session: SkillSession) -> bool:
        """Whether the catalog of a session does not have every skill with its description."""
        return plan_catalog(
            session.search(),
            self.catalog_format,
            maximum=self.catalog_max,
            characters=self.catalog_characters,
        )[1]


def _scope(directory: str) -> Literal["project", "user"]:
    return "user" if directory.startswith("~") else "project"


_SESSION_SETTINGS = (
    "max_active require_active scripts script_workdir allowed_tools script_allowlist requires "
    "delivery"
).split()
"""Settings that are options of `SkillSession` under the same names."""
_PROJECT_AND_HOME = ("./.skills", "./.agents/skills", "~/.agents/skills", "~/.remcochat/skills")
_IN_A_TOOL: dict[str, Any] = {
    "catalog_location": None,
    "catalog_order": "discovery",
    "catalog_max": None,
}
"""The catalog of systems whose tools list all skills as they are found."""
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
        **_IN_A_TOOL,
    },
    "yodoca": {
        "directories": ("sandbox/skills",),
        "profile": "yodoca",
        "catalog_format": "bullets",
        **_IN_A_TOOL,
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
