"""One conversation's skills: which are active, in which order, what may be read and run.

Several sessions share one catalog and nothing else. What is kept of a session is names, and digests
on request: never the skills' texts.
"""

from __future__ import annotations

import posixpath
import time
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agentsandbox.errors import SkillError, SkillLimitError, SkillPolicyError, SkillStateError
from agentsandbox.skills.metadata import as_mapping
from agentsandbox.skills.paths import clean_path
from agentsandbox.skills.prompts import (
    base_rules,
    one_line,
    parse_invocation,
    render_active,
    render_catalog,
    render_skill_content,
)
from agentsandbox.skills.session.allowed_tools import AllowedTools
from agentsandbox.skills.session.reading import ReadingRules, read_file, read_instructions, truncate
from agentsandbox.skills.session.rendering import render_body
from agentsandbox.skills.session.scripts import INTERPRETERS, ScriptRun, check_files, plan_script

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
        MutableMapping,
        Sequence,
    )
    from typing import Any, Literal

    from agentsandbox.events import SkillInvoked
    from agentsandbox.skills.catalog.catalog import CatalogView, SkillCatalog
    from agentsandbox.skills.catalog.records import SkillRecord
    from agentsandbox.skills.search.index import SkillIndex
    from agentsandbox.skills.session.allowed_tools import Rule
    from agentsandbox.skills.session.reading import SkillContent
    from agentsandbox.skills.session.scripts import ScriptResult, Workplace
    from agentsandbox.skills.skill import AgentSkill
    from agentsandbox.skills.trust.proposals import Proposal, ProposalStore

    Action = Literal["load", "unload", "read", "run", "propose"]

__all__ = ["SkillSession"]

MAX_ACTIVE = 8
MAX_WARNINGS = 100
COMMAND_SECONDS = 10.0
"""What the commands of one skill's instructions may take, all together."""
MAX_COMMAND_OUTPUT = 50_000
"""Bytes that they may print, all together."""


class SkillSession:
    """The active skills of one conversation, in the order of loading: a later one takes precedence.

    catalog         where skills are found
    place           the sandbox in which they are mounted and their scripts run; None to read only
    max_active      how many may be active at a time
    require_active  whether a skill must be active before its files are read and its scripts run
    scripts         how scripts run: by the "tool" `run_script`, in the "shell" that tools offer, by
                    "both", or not at all: "off"
    script_workdir  what `workdir` is relative to: the sandbox's working directory, or the skill's
                    own
    interpreters    extension or "#!" name → a command of the sandbox
    allowed_tools   whether the skills' `allowed-tools` are ignored, or asked for every command of
                    their scripts: what they do not allow is noted in `warnings`, or refused
    script_allowlist  names of skills that are not asked
    secrets         skill → variables for the environment of its scripts, and of no other's: such a
                    script runs only as it was loaded, in a new shell
    run_commands    whether !`command` and ```! blocks in instructions are run, in the sandbox, when
                    they are shown
    requires        skills that a skill requires: a "hint" to the model, loaded "auto"matically
                    before it, or "ignore"d
    delivery        where tools that load put the instructions: in the answer, in `system_prompt`,
                    in both; None as each profile does
    index           what `search` asks; without one it looks for the query in names and tags
    uses            counts every activation by name, for ranking; sessions may share one
    proposals       where `propose_update` writes; None when agents may not propose
    on_event        told of every activation, read, run and proposal, of those that fail as well
    """

    def __init__(
        self,
        catalog: SkillCatalog | CatalogView,
        place: Workplace | None = None,
        *,
        id: str | None = None,
        mount_path: str = "/.sandbox/skills",
        max_active: int = MAX_ACTIVE,
        require_active: bool = False,
        rules: ReadingRules | None = None,
        scripts: Literal["shell", "tool", "both", "off"] = "both",
        script_workdir: Literal["sandbox", "skill"] = "sandbox",
        interpreters: Mapping[str, str] = INTERPRETERS,
        allowed_tools: Literal["ignore", "warn", "enforce"] = "ignore",
        script_allowlist: Collection[str] | None = None,
        secrets: Mapping[str, Mapping[str, str]] | None = None,
        run_commands: bool = False,
        requires: Literal["hint", "auto", "ignore"] = "hint",
        delivery: Literal["tool_result", "instructions", "both"] | None = None,
        index: SkillIndex | None = None,
        uses: MutableMapping[str, int] | None = None,
        proposals: ProposalStore | None = None,
        on_event: Callable[[SkillInvoked], None] | None = None,
    ) -> None:
        self.catalog = catalog
        self.id = id or uuid.uuid4().hex[:12]
        self.max_active = max_active
        self.require_active = require_active
        self.rules = rules or ReadingRules()
        self.has_scripts = scripts in ("tool", "both")
        self.has_shell = place is not None and scripts in ("shell", "both")
        self.script_workdir = script_workdir
        self.interpreters = interpreters
        self.allowed_tools = allowed_tools
        self.script_allowlist = script_allowlist
        self.run_commands = run_commands
        self.requires = requires
        self.delivery = delivery
        self.index = index
        self.uses = {} if uses is None else uses
        self.proposals = proposals
        self._secrets = dict(secrets or {})
        self.warnings: list[str] = []
        self.place = place
        self._mount_path = mount_path
        self._on_event = on_event
        if on_event is not None:
            from agentsandbox.events import guarded

            self._on_event = guarded(on_event, "the observer of a skill session (on_event)")
        self._active: dict[str, AgentSkill] = {}
        self._stamps: dict[str, object] = {}
        self._shown: dict[str, str] = {}
        """The active skills' instructions as they were shown first: their commands run once."""

    # state

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the active skills, the most recent last."""
        return tuple(self._active)

    @property
    def active_skill_name(self) -> str | None:
        """The most recently loaded skill."""
        return next(reversed(self._active), None)

    def load(
        self, names: Iterable[str], mode: Literal["replace", "add"] = "replace"
    ) -> list[AgentSkill]:
        """Make skills active, all or none: in place of the active ones, or after them. Those
        already active stay where they are.
        """
        if mode not in ("replace", "add"):
            raise SkillStateError(f'the mode is "replace" or "add", not {str(mode)[:100]!r}')
        wanted = list(dict.fromkeys(self.catalog.find(name).name for name in names))
        if self.requires == "auto":
            wanted = self._with_required(wanted)
        kept = list(self._active) if mode == "add" else []
        order = list(dict.fromkeys([*kept, *wanted]))
        if len(order) > self.max_active:
            raise SkillLimitError(
                f"Too many skills: requested {len(order)}, maximum {self.max_active}. Load fewer skills."
            )
        loaded = {name: self._active[name] if name in kept else self._load(name) for name in order}
        for skill in loaded.values():
            self._mount(skill)
        self._active = loaded
        self._shown = {name: text for name, text in self._shown.items() if name in kept}
        self._stamps = {
            name: self._stamps[name] if name in kept else self.catalog[name].stamp for name in order
        }
        for name in wanted:
            if name not in kept:
                self.uses[name] = self.uses.get(name, 0) + 1
            self._tell(name, "load")
        return [loaded[name] for name in wanted]

    def activate(self, name: str) -> list[AgentSkill]:
        """Make one skill active as well: the skill, after those that it requires and that were not
        active before.
        """
        before = set(self._active)
        *required, skill = self.load([name], "add")
        return [each for each in required if each.name not in before] + [skill]

    def unload(self, names: Iterable[str] = (), *, all: bool = False) -> None:
        """Make skills inactive; names that are not active are no mistake."""
        gone = set(self._active) if all else {name.casefold() for name in names}
        for name in [name for name in self._active if name in gone or name.casefold() in gone]:
            del self._active[name]
            self._shown.pop(name, None)
            self._tell(name, "unload")

    def stale(self, name: str) -> bool:
        """Whether an active skill changed in its source, or went away, since it was loaded."""
        record = self.catalog.get(name)
        if record is None:
            return True
        return record.stamp != self._stamps[name] and record.digest != self._active[name].digest

    def receipt(self) -> dict[str, Any]:
        """What is active, for a model: names, places, digests, properties; no instructions."""
        return {"active_skills": [self._receipt(skill) for skill in self._active.values()]}

    def to_dict(self, *, include_digests: bool = False) -> dict[str, Any]:
        """The session as JSON-able values: names, never texts."""
        state: dict[str, Any] = {"session_id": self.id, "active_skills": list(self._active)}
        if include_digests:
            state["active_skill_digests"] = {
                name: skill.digest for name, skill in self._active.items()
            }
        return state

    def restore(self, state: Mapping[str, Any]) -> tuple[str, ...]:
        """Load again what `to_dict` kept; the names of skills that are gone or changed (by their
        digests) are returned.
        """
        digests = state.get("active_skill_digests", {})
        there: list[str] = []
        missing: list[str] = []
        for name in state["active_skills"]:
            (there if name in self.catalog else missing).append(name)
        self.load(there)
        changed = [
            name for name in there if name in digests and self._active[name].digest != digests[name]
        ]
        return (*missing, *changed)

    # reading and running

    def search(self, query: str = "") -> list[SkillRecord]:
        """The skills that a model may see: all, or those that fit `query`, by the index the best
        first.
        """
        shown = [record for record in self.catalog.values() if record.metadata.model_invocable]
        wanted = query.strip().casefold()
        if not wanted:
            return shown
        if self.index is not None:
            self.index.update(shown)
            by_name = {record.name: record for record in shown}
            return [by_name[name] for name in self.index.search(query, uses=self.uses)]
        return [
            record
            for record in shown
            if any(wanted in word.casefold() for word in (record.name, *record.metadata.tags))
        ]

    def files(self, skill: str | None = None, directory: str = "") -> list[str]:
        """The paths of a skill's files, below one of its directories."""
        chosen = self.skill(skill)
        prefix = (
            f"{self._clean(directory.rstrip('/'))}/" if directory not in ("", ".", "./") else ""
        )
        return sorted(
            file.relative_path for file in chosen.files if file.relative_path.startswith(prefix)
        )

    def skill(self, name: str | None = None) -> AgentSkill:
        """The skill that an operation is about: the one named, else the most recently loaded."""
        if name is None:
            if not self._active:
                raise SkillStateError("No skill is loaded. Load one first.")
            return self._active[next(reversed(self._active))]
        for known, skill in self._active.items():
            if known.casefold() == name.casefold():
                return skill
        if self.require_active:
            shown = ", ".join(self._active) or "none"
            raise SkillStateError(
                f"The skill {name[:100]!r} is not loaded. Loaded skills: {shown}."
            )
        return self._load(self.catalog.find(name).name)

    def read(self, path: str, skill: str | None = None) -> SkillContent:
        """A file of a skill, by its path below the skill's root."""
        chosen = self.skill(skill)
        with self._telling(chosen.name, "read", path):
            content = read_file(chosen, path, self.rules)
        if content.truncated:
            self._warn_of_cut(chosen.name, content.path)
        self._tell(chosen.name, "read", content.path)
        return content

    def propose_update(
        self, skill: str, diff: str, justification: str, evidence: str = ""
    ) -> Proposal:
        """Write a proposal to change a skill; nothing changes until somebody at the host approves
        it.
        """
        if self.proposals is None:
            raise SkillPolicyError("Skills cannot be changed here.")
        chosen = self._load(self.catalog.find(skill).name)
        with self._telling(chosen.name, "propose"):
            proposal = self.proposals.propose(chosen, diff, justification, evidence)
        self._tell(chosen.name, "propose", proposal.id)
        return proposal

    def run_script(
        self,
        path: str,
        args: Sequence[str] = (),
        *,
        skill: str | None = None,
        env: Mapping[str, str] | None = None,
        workdir: str = ".",
        timeout: float | None = None,
    ) -> ScriptResult:
        """Run a script of a skill in the sandbox, by its path below the skill's root."""
        run, ended = self._begin(path, args, skill, env, workdir)
        return ended(run.execute(timeout) if isinstance(run, ScriptRun) else run)

    async def arun_script(
        self,
        path: str,
        args: Sequence[str] = (),
        *,
        skill: str | None = None,
        env: Mapping[str, str] | None = None,
        workdir: str = ".",
        timeout: float | None = None,
    ) -> ScriptResult:
        """As `run_script`, in the running event loop."""
        run, ended = self._begin(path, args, skill, env, workdir)
        return ended(await run.aexecute(timeout) if isinstance(run, ScriptRun) else run)

    def _begin(
        self,
        path: str,
        args: Sequence[str],
        skill: str | None,
        env: Mapping[str, str] | None,
        workdir: str,
    ) -> tuple[ScriptRun | ScriptResult, Callable[[ScriptResult], ScriptResult]]:
        """A script about to run (or the result that nothing can run it), and what tells of its
        end.
        """
        started = time.monotonic()
        with self._telling(skill or self.active_skill_name or "", "run", path):
            if self.place is None or not self.has_scripts:
                raise SkillPolicyError("Scripts cannot be run here.")
            chosen = self.skill(skill)
            plan = self._plan(self.place, chosen, path, args, env, workdir)

        def ended(result: ScriptResult) -> ScriptResult:
            self._tell(
                chosen.name,
                "run",
                path,
                duration=time.monotonic() - started,
                success=result.exit_code == 0,
            )
            return result

        return plan, ended

    def _plan(
        self,
        place: Workplace,
        skill: AgentSkill,
        path: str,
        args: Sequence[str],
        env: Mapping[str, str] | None,
        workdir: str,
    ) -> ScriptRun | ScriptResult:
        root = self._mount(skill)
        if skill.name in self._secrets:
            check_files(place, skill, root)
        return plan_script(
            place,
            skill,
            root,
            self._clean(path),
            args=args,
            env=env,
            secrets=self._secrets.get(skill.name),
            workdir=workdir,
            from_skill=self.script_workdir == "skill",
            interpreters=self.interpreters,
            policy=self._policy(skill),
        )

    def _policy(self, skill: AgentSkill) -> Rule | None:
        """What is asked before each command of a script: the skill's `allowed-tools`, as the
        session takes them.
        """
        if self.allowed_tools == "ignore" or (
            self.script_allowlist is not None and skill.name in self.script_allowlist
        ):
            return None
        note = self._warn if self.allowed_tools == "warn" else None
        return AllowedTools(skill.metadata.allowed_tools).rule(
            skill.name, self.root_of(skill.name), frozenset(self.interpreters.values()), note
        )

    # prompts

    def system_prompt(
        self,
        *,
        load: str = "skills_load",
        read: str | None = "skills_read",
        run: str | None = "skills_run_script",
    ) -> str:
        """The skills' part of the instructions for the next model call: rules, catalog, active
        skills.
        """
        catalog = render_catalog(self.search(), "xml", places=self.places())
        if catalog is None:
            return ""
        parts = [
            base_rules(load, read, run if self.has_scripts else None),
            catalog,
            self.render_active(),
        ]
        return "\n\n".join(part for part in parts if part)

    def render_active(self) -> str | None:
        """The active skills' instructions, None when there are none."""
        for name in self._active:
            if name not in self._shown:
                self._shown[name] = self.body(name)
        return render_active((name, self._shown[name]) for name in self._active)

    def content(self, name: str, arguments: str = "") -> str:
        """A skill's instructions in the wrapping of the client guide, with its directory and files,
        its places filled in.
        """
        skill = self.skill(name)
        root = self.root_of(skill.name)
        files = [
            posixpath.join(root, file.relative_path)
            for file in skill.files
            if file.relative_path != "SKILL.md"
        ]
        text = "\n\n".join(
            part for part in (self.body(name, arguments), self.required(skill)) if part
        )
        return render_skill_content(skill.name, text, root, files, digest=skill.digest)

    def required(self, skill: AgentSkill) -> str | None:
        """What a model is told about the skills that a skill requires; None where there is nothing
        to be told.
        """
        if not skill.metadata.requires or self.requires != "hint":
            return None
        return f"This skill requires: {', '.join(map(one_line, skill.metadata.requires))}. Load it first if you haven't already."

    def instructions(self, skill: AgentSkill, *, full: bool = False) -> str:
        """A skill's instructions as its author wrote them, or its whole SKILL.md; cut off past the
        soft size, which is noted.
        """
        text = read_instructions(skill, self.rules, full=full)
        if text != ((skill.metadata.raw_content if full else skill.metadata.instructions) or ""):
            self._warn_of_cut(skill.name, "SKILL.md")
        return text

    def body(self, name: str, arguments: str = "") -> str:
        """A skill's instructions for `arguments`; commands in them are run only where the session
        says `run_commands`.
        """
        skill = self.skill(name)
        return render_body(
            self.instructions(skill),
            arguments=arguments,
            names=skill.metadata.arguments,
            directory=self.root_of(skill.name),
            session_id=self.id,
            run=self._command_runner(skill)
            if self.run_commands and self.place is not None
            else None,
        )

    def invoke(self, message: str) -> str | None:
        """Load the skill that a message of the form "/skill arguments" names; its content, None for
        any other message.
        """
        names = {record.name for record in self.catalog.values() if record.metadata.user_invocable}
        found = parse_invocation(message, names)
        if found is None:
            return None
        self.load([found[0]], "add")
        return self.content(*found)

    def _command_runner(self, skill: AgentSkill) -> Callable[[str], str]:
        """What runs the commands in a skill's instructions and gives their output, as long as there
        is time and room.
        """
        assert self.place is not None
        place, root = self.place, self._mount(skill)
        variables = {"SKILL_ROOT": root, "SKILL_NAME": skill.name, "CLAUDE_SKILL_DIR": root}
        until, room = time.monotonic() + COMMAND_SECONDS, MAX_COMMAND_OUTPUT

        def run(command: str) -> str:
            nonlocal room
            seconds = until - time.monotonic()
            if seconds <= 0 or room <= 0:
                return "[not run: the commands before took too long, or printed too much]"
            result = place.execute(
                command,
                env=variables,
                state="discard",
                timeout=seconds,
                on_command=self._policy(skill),
            )
            output = result.stdout_bytes + result.stderr_bytes
            text = truncate(str(output, "utf-8", "replace"), room, "output")
            room -= len(output)
            return text if result.exit_code == 0 else f"{text}[exit status {result.exit_code}]"

        return run

    def root_of(self, name: str) -> str:
        """Where the sandbox has the skill's directory, once it is loaded."""
        record = self.catalog.get(name)
        return (record.mount_path if record else None) or posixpath.join(self._mount_path, name)

    def places(self) -> dict[str, str]:
        """The directories of the skills that the sandbox has, by name."""
        mounted = (
            {info.mount_path for info in self.place.get_mounted_skills()}
            if self.place is not None
            else ()
        )
        return (
            {name: path for name in self.catalog if (path := self.root_of(name)) in mounted}
            if mounted
            else {}
        )

    # the parts

    def _clean(self, path: str) -> str:
        return clean_path(path, internal_dotdot=self.rules.allow_internal_dotdot)

    def _load(self, name: str) -> AgentSkill:
        return self.catalog[name].load()

    def _with_required(self, names: Iterable[str]) -> list[str]:
        """The skills, each after those that it requires; what is not there is noted."""
        order: list[str] = []
        begun: set[str] = set()
        todo = [(name, False) for name in names][::-1]
        while todo:
            name, complete = todo.pop()
            if complete:
                order.append(name)
            elif name not in begun:
                begun.add(name)
                todo.append((name, True))
                requires = self.catalog[name].metadata.requires
                todo += [
                    (required, False) for required in reversed(requires) if required in self.catalog
                ]
                for missing in (required for required in requires if required not in self.catalog):
                    self._warn(f"{name} requires {one_line(missing, 100)}, which is not there")
        return order

    def _warn_of_cut(self, skill: str, path: str) -> None:
        limit = (
            self.rules.max_skill_md_bytes if path == "SKILL.md" else self.rules.max_resource_bytes
        )
        self._warn(f"{skill}: {path} is longer than {limit} bytes and was cut off")

    def _warn(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)
            del self.warnings[:-MAX_WARNINGS]

    def _mount(self, skill: AgentSkill) -> str:
        """Have the skill in the sandbox, if there is one; where it is."""
        path = self.root_of(skill.name)
        if self.place is None:
            return path
        record = self.catalog.get(skill.name)
        return self.place.mount_skill(
            skill, path, written=record is not None and record.mount_path is not None
        )

    def _receipt(self, skill: AgentSkill) -> dict[str, Any]:
        root = self.root_of(skill.name)
        entry: dict[str, Any] = {
            "name": skill.name,
            "location": f"{root}/SKILL.md",
            "root_dir": root,
            "digest": skill.digest,
            "properties": dict(as_mapping(skill.metadata)),
        }
        if self.stale(skill.name):
            entry["stale"] = True
        return entry

    @contextmanager
    def _telling(self, skill: str, action: Action, path: str | None = None) -> Iterator[None]:
        """An operation that is told of when it is refused."""
        try:
            yield
        except SkillError:
            self._tell(skill, action, path, success=False)
            raise

    def _tell(
        self,
        skill: str,
        action: Action,
        path: str | None = None,
        *,
        duration: float | None = None,
        success: bool = True,
    ) -> None:
        if self._on_event is not None:
            from agentsandbox.events import SkillInvoked

            self._on_event(
                SkillInvoked(
                    self.id,
                    time.time(),
                    skill=skill,
                    action=action,
                    path=path,
                    duration=duration,
                    success=success,
                )
            )
