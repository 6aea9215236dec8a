"""The skills of one conversation: which are active, in which order, what may be read and run.

Several sessions share one catalog and nothing else. The saved state of a session (`to_dict`) holds
names, and digests on request, but never the skills' texts.
"""

from __future__ import annotations

import posixpath
import time
import uuid
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from agentsandbox.errors import SkillError, SkillLimitError, SkillPolicyError, SkillStateError
from agentsandbox.skills.catalog.records import find_record
from agentsandbox.skills.metadata import as_mapping
from agentsandbox.skills.paths import clean_path
from agentsandbox.skills.prompts import (
    CATALOG_CHARACTERS,
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
from agentsandbox.skills.session.scripts import (
    INTERPRETERS,
    ScriptRun,
    check_files,
    is_own_file,
    plan_script,
    real_path,
)

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

MAX_ACTIVE = 8
MAX_WARNINGS = 100
COMMAND_SECONDS = 10.0
"""The time for all commands in one skill's instructions together."""
MAX_COMMAND_OUTPUT = 50_000
"""The bytes that all these commands together may print."""


class SkillSession:
    """The active skills of one conversation, in the order of loading; later ones take precedence.

    catalog         where skills are found
    place           the sandbox in which skills are mounted and scripts run; None to only read
    id              the name of the session in events and `${CLAUDE_SESSION_ID}`; random by default
    mount_path      the directory of the sandbox in which skills are mounted
    max_active      the most skills that are active at a time
    require_active  a skill must be active before its files are read and its scripts run
    rules           how files are read
    scripts         scripts run by the "tool" `run_script`, in the "shell" that tools offer, by
                    "both", or not at all: "off"
    script_workdir  `workdir` is relative to the working directory of the "sandbox", or to the
                    directory of the "skill"
    interpreters    extension or "#!" name → command of the sandbox
    allowed_tools   "ignore" the skills' `allowed-tools`; or check every command of their scripts,
                    and "warn" in `warnings` or "enforce" them
    script_allowlist  names of skills whose `allowed-tools` are not checked
    secrets         skill → variables for the environment of its scripts only; such a script runs in
                    a new shell, and only if its files are as they were loaded
    run_commands    run !`command` and ```! blocks of instructions in the sandbox when the
                    instructions are shown
    requires        skills that a skill requires are a "hint" to the model, loaded "auto"matically
                    before it, or "ignore"d
    delivery        tools that load put the instructions into their answer ("tool_result"), into
                    `system_prompt` ("instructions") or "both"; None for each profile's own way
    index           the index of `search`; without one, names and tags are searched
    uses            name → number of activations, for ranking; sessions may share it
    proposals       where `propose_update` writes; None if agents may not propose changes
    on_event        called for every activation, read, run and proposal, also for failed ones
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
        self.mount_path = mount_path
        self._on_event = on_event
        if on_event is not None:
            from agentsandbox.events import guarded

            self._on_event = guarded(on_event, "the observer of a skill session (on_event)")
        self._active: dict[str, AgentSkill] = {}
        self._stamps: dict[str, object] = {}
        self._shown: dict[str, str] = {}
        """Name → instructions as they were first shown, so that their commands run only once."""

    # state

    @property
    def active(self) -> tuple[str, ...]:
        """The names of the active skills, the most recent last."""
        return tuple(self._active)

    @property
    def active_skill_name(self) -> str | None:
        """The name of the most recently loaded skill, or None."""
        return next(reversed(self._active), None)

    def load(
        self, names: Iterable[str], mode: Literal["replace", "add"] = "replace"
    ) -> list[AgentSkill]:
        """Activate skills, all or none, and return them.

        They "replace" the active skills, or are added after them; a skill that is already active
        keeps its place. Raises `SkillLimitError` for more than `max_active`, and what
        `SkillRecord.load` raises.
        """
        if mode not in ("replace", "add"):
            raise SkillStateError(f'the mode is "replace" or "add", not {str(mode)[:100]!r}')
        records = dict(self.catalog.items())
        wanted = list(dict.fromkeys(find_record(records, name).name for name in names))
        if self.requires == "auto":
            wanted = self._with_required(wanted, records)
        kept = list(self._active) if mode == "add" else []
        order = list(dict.fromkeys([*kept, *wanted]))
        if len(order) > self.max_active:
            numbers = f"requested {len(order)}, maximum {self.max_active}"
            raise SkillLimitError(f"Too many skills: {numbers}. Load fewer skills.")
        loaded = {
            name: self._active[name] if name in kept else records[name].load() for name in order
        }
        for skill in loaded.values():
            self._mount(skill)
        self._active = loaded
        self._shown = {name: text for name, text in self._shown.items() if name in kept}
        self._stamps = {
            name: self._stamps[name] if name in kept else records[name].stamp for name in order
        }
        for name in wanted:
            if name not in kept:
                self.uses[name] = self.uses.get(name, 0) + 1
            self._tell(name, "load")
        return [loaded[name] for name in wanted]

    def activate(self, name: str) -> list[AgentSkill]:
        """Add one skill to the active ones; return the newly active skills it requires, then it."""
        before = set(self._active)
        *required, skill = self.load([name], "add")
        return [each for each in required if each.name not in before] + [skill]

    def unload(self, names: Iterable[str] = (), *, all: bool = False) -> None:
        """Deactivate skills; names that are not active are ignored."""
        gone = set(self._active) if all else {name.casefold() for name in names}
        for name in [name for name in self._active if name in gone or name.casefold() in gone]:
            del self._active[name]
            self._shown.pop(name, None)
            self._tell(name, "unload")

    def stale(self, name: str) -> bool:
        """Whether an active skill was changed in its source, or removed, since it was loaded."""
        record = self.catalog.get(name)
        if record is None:
            return True
        return record.stamp != self._stamps[name] and record.digest != self._active[name].digest

    def receipt(self) -> dict[str, Any]:
        """Return the active skills for a model: names, paths, digests, properties."""
        return {"active_skills": [self._receipt(skill) for skill in self._active.values()]}

    def to_dict(self, *, include_digests: bool = False) -> dict[str, Any]:
        """Return the session's state as JSON-able values: names, never texts."""
        state: dict[str, Any] = {"session_id": self.id, "active_skills": list(self._active)}
        if include_digests:
            digests = {name: skill.digest for name, skill in self._active.items()}
            state["active_skill_digests"] = digests
        return state

    def restore(self, state: Mapping[str, Any]) -> tuple[str, ...]:
        """Load the skills of `to_dict`; return the names of those that are missing or changed.

        Changes are noticed only if the state has digests.
        """
        names = state["active_skills"]
        digests = state.get("active_skill_digests", {})
        self.load([name for name in names if name in self.catalog])
        missing = [name for name in names if name not in self.catalog]
        changed = [
            name
            for name, skill in self._active.items()
            if digests.get(name, skill.digest) != skill.digest
        ]
        return (*missing, *changed)

    # reading and running

    def search(self, query: str = "") -> list[SkillRecord]:
        """Return the skills that a model may see, or those that fit `query`.

        With an index the best come first. Without one, the query must occur in a name or a tag.
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
        """Return the paths of a skill's files, sorted, or of those below one of its directories."""
        chosen = self.skill(skill)
        prefix = ""
        if directory not in ("", ".", "./"):
            prefix = f"{self._clean(directory.rstrip('/'))}/"
        paths = [file.relative_path for file in chosen.files]
        return sorted(path for path in paths if path.startswith(prefix))

    def skill(self, name: str | None = None) -> AgentSkill:
        """Return the skill of that name, or the most recently loaded one.

        Raises `SkillStateError` if none is loaded, or with `require_active` if that one is not.
        """
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
        return self.catalog.find(name).load()

    def read(self, path: str, skill: str | None = None) -> SkillContent:
        """Read a file of a skill, by its path below the skill's root.

        Raises `SkillPathError`, `SkillLimitError` and what `skill` raises.
        """
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
        """Write a proposal to change a skill; nothing changes until the host approves it."""
        if self.proposals is None:
            raise SkillPolicyError("Skills cannot be changed here.")
        chosen = self.catalog.find(skill).load()
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
        """Run a script of a skill in the sandbox, by its path below the skill's root.

        `timeout` is in seconds. Raises `SkillPathError` and `SkillPolicyError`.
        """
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
        """Prepare a script; return it, or its result, and a function to report the result."""
        started = time.monotonic()
        with self._telling(skill or self.active_skill_name or "", "run", path):
            if self.place is None or not self.has_scripts:
                raise SkillPolicyError("Scripts cannot be run here.")
            chosen = self.skill(skill)
            root = self._mount(chosen)
            secrets = self._secrets.get(chosen.name)
            if secrets is not None:
                check_files(self.place, chosen, root)
            plan = plan_script(
                self.place,
                chosen,
                root,
                self._clean(path),
                args=args,
                env=env,
                secrets=secrets,
                workdir=workdir,
                from_skill=self.script_workdir == "skill",
                interpreters=self.interpreters,
                policy=self._policy(chosen),
            )

        def ended(result: ScriptResult) -> ScriptResult:
            seconds = time.monotonic() - started
            success = result.exit_code == 0
            self._tell(chosen.name, "run", path, duration=seconds, success=success)
            return result

        return plan, ended

    def _policy(self, skill: AgentSkill) -> Rule | None:
        """Return the policy for a skill's scripts, by its `allowed-tools`; None without one."""
        if self.allowed_tools == "ignore" or skill.name in (self.script_allowlist or ()):
            return None
        assert self.place is not None
        root, fs = self.root_of(skill.name), self.place.fs
        note = self._warn if self.allowed_tools == "warn" else None
        is_own = partial(is_own_file, self.place, skill, root)
        allowed = AllowedTools(skill.metadata.allowed_tools, root)
        names = frozenset(self.interpreters.values())
        return allowed.rule(skill.name, is_own, names, partial(real_path, fs), note)

    # prompts

    def system_prompt(
        self,
        *,
        load: str = "skills_load",
        read: str | None = "skills_read",
        run: str | None = "skills_run_script",
        listing: str | None = "skills_list",
    ) -> str:
        """Return the instructions about skills for the next model call; "" without skills.

        They are the rules, the catalog and the active skills. The arguments are names of tools.
        """
        catalog = render_catalog(
            self.search(),
            "xml",
            maximum=None,
            characters=CATALOG_CHARACTERS,
            places=self.places(),
            list_tool=listing,
        )
        if catalog is None:
            return ""
        rules = base_rules(load, read, run if self.has_scripts else None)
        return "\n\n".join(filter(None, (rules, catalog, self.render_active())))

    def render_active(self) -> str | None:
        """Return the active skills' instructions, None if no skill is active."""
        for name in self._active:
            if name not in self._shown:
                self._shown[name] = self.body(name)
        return render_active((name, self._shown[name]) for name in self._active)

    def content(self, name: str, arguments: str = "") -> str:
        """Return a skill's instructions for `arguments` in a block with its directory and files.

        The form is that of the guide for clients of the Agent Skills specification.
        """
        skill = self.skill(name)
        root = self.root_of(skill.name)
        paths = [file.relative_path for file in skill.files if file.relative_path != "SKILL.md"]
        files = [posixpath.join(root, path) for path in paths]
        text = "\n\n".join(filter(None, (self.body(name, arguments), self.required(skill))))
        return render_skill_content(skill.name, text, root, files, digest=skill.digest)

    def required(self, skill: AgentSkill) -> str | None:
        """Return a hint to the skills that a skill requires, None if there is nothing to say."""
        if not skill.metadata.requires or self.requires != "hint":
            return None
        names = ", ".join(map(one_line, skill.metadata.requires))
        return f"This skill requires: {names}. Load it first if you haven't already."

    def instructions(self, skill: AgentSkill, *, full: bool = False) -> str:
        """Return a skill's instructions as written, or its whole SKILL.md.

        Beyond the soft size they are truncated, with a warning in `warnings`.
        """
        text = read_instructions(skill, self.rules, full=full)
        if text != ((skill.metadata.raw_content if full else skill.metadata.instructions) or ""):
            self._warn_of_cut(skill.name, "SKILL.md")
        return text

    def body(self, name: str, arguments: str = "") -> str:
        """Return a skill's instructions with its placeholders filled in for `arguments`.

        Commands in them are run only with the session's `run_commands`.
        """
        skill = self.skill(name)
        runs = self.run_commands and self.place is not None
        return render_body(
            self.instructions(skill),
            arguments=arguments,
            names=skill.metadata.arguments,
            directory=self.root_of(skill.name),
            session_id=self.id,
            run=self._command_runner(skill) if runs else None,
        )

    def invoke(self, message: str) -> str | None:
        """Load the skill of a message "/skill arguments" and return its content.

        Return None for any other message.
        """
        names = {record.name for record in self.catalog.values() if record.metadata.user_invocable}
        found = parse_invocation(message, names)
        if found is None:
            return None
        self.load([found[0]], "add")
        return self.content(*found)

    def _command_runner(self, skill: AgentSkill) -> Callable[[str], str]:
        """Return a function that runs a command of a skill's instructions and returns its output.

        All commands share `COMMAND_SECONDS` and `MAX_COMMAND_OUTPUT`.
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
        """Return the path of the skill's directory in the sandbox, where loading mounts it."""
        record = self.catalog.get(name)
        return (record.mount_path if record else None) or posixpath.join(self.mount_path, name)

    def places(self) -> dict[str, str]:
        """Return name → directory for the skills that are mounted in the sandbox."""
        infos = self.place.get_mounted_skills() if self.place is not None else ()
        mounted = {info.mount_path for info in infos}
        if not mounted:
            return {}
        return {name: path for name in self.catalog if (path := self.root_of(name)) in mounted}

    # the parts

    def _clean(self, path: str) -> str:
        return clean_path(path, internal_dotdot=self.rules.allow_internal_dotdot)

    def _with_required(
        self, names: Iterable[str], records: Mapping[str, SkillRecord]
    ) -> list[str]:
        """Return the skills, each after those that it requires; warn of missing ones."""
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
                for required in reversed(records[name].metadata.requires):
                    if required in records:
                        todo.append((required, False))
                    else:
                        self._warn(f"{name} requires {one_line(required, 100)}, which is not there")
        return order

    def _warn_of_cut(self, skill: str, path: str) -> None:
        rules = self.rules
        limit = rules.max_skill_md_bytes if path == "SKILL.md" else rules.max_resource_bytes
        self._warn(f"{skill}: {path} is longer than {limit} bytes and was cut off")

    def _warn(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)
            del self.warnings[:-MAX_WARNINGS]

    def _mount(self, skill: AgentSkill) -> str:
        """Mount the skill in the sandbox, if there is one, and return the path of its directory."""
        path = self.root_of(skill.name)
        if self.place is None:
            return path
        record = self.catalog.get(skill.name)
        written = record is not None and record.mount_path is not None
        return self.place.mount_skill(skill, path, written=written)

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
        """Report an operation to the observer if it is refused."""
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
