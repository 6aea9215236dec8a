"""Deciding what is out of date, from the goals to what they need.

`update` looks at a target: it updates the prerequisites, compares times, and runs the recipe if the
target is missing or older than one of them. An intermediate file that is missing does not count:
what it is made of is compared in its place (`_check`). With several jobs a recipe is only started;
the walk returns with "running" and is repeated when a job has ended, until nothing runs.
"""

from __future__ import annotations

from agentsandbox.commands.make.functions import match_pattern
from agentsandbox.commands.make.graph import (
    FAILED,
    MISSING,
    NEW,
    NOTHING,
    QUESTION,
    SUCCESS,
    Need,
    Target,
)
from agentsandbox.commands.make.implicit import find_rule, second_needs
from agentsandbox.commands.make.variables import FatalError, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.make.contract import Build


class Updater:
    """Brings targets up to date."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.budget = build.ctx.budget
        self.options = build.options
        self.started = 0
        """How many commands were started."""
        self.for_makefiles = False
        """Whether the goals are the makefiles themselves."""

    def update_goals(self, goals: list[str]) -> int:
        """Update the goals in turn and return SUCCESS, QUESTION or FAILED."""
        build, status = self.build, SUCCESS
        waiting = [(build.graph.enter(name), [False]) for name in goals]
        waiting = list({id(entry): (entry, noted) for entry, noted in waiting}.values())
        while waiting:
            rest = []
            for goal, noted in waiting:
                before = self.started
                result, is_running = SUCCESS, False
                for entry in goal.chain():
                    entry.dont_care = entry.dont_care or self.for_makefiles
                    result = max(result, self._update(entry, 0))
                    is_running = is_running or self._is_open(entry)
                    if result > NOTHING and not self.options.keep_going:
                        break
                noted[0] = noted[0] or self.started > before
                if is_running:
                    rest.append((goal, noted))
                    continue
                result = max([result, *(e.status for e in goal.chain() if e.status > NOTHING)])
                if result > NOTHING:
                    status = max(status, result)
                    if not self.options.keep_going and not self.for_makefiles:
                        return status
                elif not noted[0] and not self.for_makefiles:
                    self._nothing_done(goal)
            waiting = rest
            if waiting:
                build.runner.reap()
        return status

    def _is_open(self, entry: Target) -> bool:
        return entry.running or (entry.waiting and not entry.updated)

    def _nothing_done(self, goal: Target) -> None:
        if self.options.silent or self.options.question:
            return
        self.build.say_plain(
            f"Nothing to be done for '{goal.name}'."
            if goal.phony or goal.recipe is None
            else f"'{goal.name}' is up to date."
        )

    def scope_of(self, target: Target) -> Scope:
        """Return the variables as a target sees them."""
        if target.scope is not None:
            return target.scope
        outer = self.build.scope if target.parent is None else self.scope_of_parent(target)
        inherits = target.parent is None
        for pattern, scope in sorted(
            self.build.graph.pattern_variables, key=lambda each: -len(each[0])
        ):
            if match_pattern(pattern, target.name) is not None:
                layer = Scope(outer, inherits_private=inherits)
                layer.variables = scope.variables
                outer, inherits = layer, True
        found = Scope(outer, inherits_private=inherits)
        named = target.variables or self._variables_of_name(target)
        if named is not None:
            found.variables = named.variables
        target.scope = found
        return found

    def scope_of_parent(self, target: Target) -> Scope:
        """Return the scope of the target for which this one is made."""
        parent = target.parent
        assert parent is not None
        return self.budget.nested(lambda: self.scope_of(parent))

    def _variables_of_name(self, target: Target) -> Scope | None:
        entry = self.build.graph.find(target.name)
        return None if entry is None else entry.variables

    def _update(self, target: Target, depth: int) -> int:
        """Update a target and return its status, SUCCESS while it runs."""
        if target.updated:
            return target.status if target.status > NOTHING else SUCCESS
        if target.running:
            return SUCCESS
        return self.budget.nested(lambda: self._update_one(target, depth))

    def _needs(self, target: Target) -> list[Need]:
        """Return the prerequisites, those of a second expansion expanded."""
        if any(need.wait_second for need in target.needs):
            found: list[Need] = []
            for need in target.needs:
                if need.wait_second:
                    self.scope_of(target)
                    found += second_needs(self.build, target, need.name, target.stem)
                else:
                    found.append(need)
            target.needs = found
        for need in target.needs:
            if need.target is None:
                self.budget.step()
                need.target = self.build.graph.enter(need.name)
        return target.needs

    def _find_recipe(self, target: Target) -> None:
        """Search a pattern rule for a target without a recipe, or take that of `.DEFAULT`."""
        if target.phony or target.recipe is not None or target.tried_implicit:
            return
        target.tried_implicit = True
        if find_rule(self.build, target):
            return
        default = self.build.graph.find(".DEFAULT")
        if not target.is_target and default is not None and default.recipe is not None:
            target.recipe = default.recipe

    def _update_one(self, target: Target, depth: int) -> int:
        graph = self.build.graph
        target.updating = True
        time = graph.time_of(target)
        self._find_recipe(target)
        status, must_make, running = self._update_needs(target, depth, time)
        if must_make or self.options.always_make:
            more, still = self._update_intermediates(target, depth, status)
            status, running = max(status, more), running or still
        target.updating = False
        if running:
            target.waiting = True
            return status
        target.waiting = False
        if status > NOTHING:
            target.status = status
            self.finish(target, ran=False)
            if (
                depth == 0
                and self.options.keep_going
                and not (self.options.just_print or self.options.question or target.dont_care)
            ):
                self.build.say(f"Target '{target.name}' not remade because of errors.")
            return status
        if not self._is_out_of_date(target, time, must_make=must_make):
            target.status = SUCCESS
            self.finish(target, ran=False)
            return SUCCESS
        self._remake(target)
        return target.status if target.updated and target.status > NOTHING else SUCCESS

    def _drop_circular(self, target: Target, need: Need) -> bool:
        entry = need.target
        assert entry is not None
        if not entry.updating:
            return False
        self.build.say(f"Circular {target.name} <- {entry.name} dependency dropped.")
        target.needs = [each for each in target.needs if each is not need]
        return True

    def _update_needs(self, target: Target, depth: int, time: float) -> tuple[int, bool, bool]:
        """Update the prerequisites: (status, whether the target must be made, whether any runs)."""
        graph, status, running = self.build.graph, SUCCESS, False
        must_make = time == MISSING
        for need in list(self._needs(target)):
            if self._drop_circular(target, need):
                continue
            entry = need.target
            assert entry is not None
            before = graph.time_of(entry)
            for part in entry.chain():
                part.parent = target if part.parent is None else part.parent
                part.dont_care = target.dont_care
                more, newer = self._check(part, depth + 1, time, must_make=must_make)
                status = max(status, more)
                if not need.order_only:
                    must_make = newer
                running = running or self._is_open(part)
            if status > NOTHING and not self.options.keep_going:
                break
            if not running:
                after = graph.time_of(entry)
                need.changed = need.changed or after != before or before == MISSING
        return status, must_make, running

    def _update_intermediates(self, target: Target, depth: int, status: int) -> tuple[int, bool]:
        graph, running = self.build.graph, False
        for need in list(target.needs):
            entry = need.target
            if entry is None or not entry.intermediate:
                continue
            if status > NOTHING and not self.options.keep_going:
                break
            before = graph.time_of(entry)
            entry.parent = target if entry.parent is None else entry.parent
            status = max(status, self._update(entry, depth + 1))
            running = running or self._is_open(entry)
            need.changed = need.changed or graph.time_of(entry) != before or target.phony
        return status, running

    def _check(
        self, target: Target, depth: int, time: float, *, must_make: bool
    ) -> tuple[int, bool]:
        """Return (status, whether a file of this time must be made because of the target)."""
        graph = self.build.graph
        if target.phony or not target.intermediate:
            status = self._update(target, depth)
            found = graph.time_of(target)
            return status, must_make or found == MISSING or found > time
        self._find_recipe(target)
        found = graph.time_of(target)
        if found != MISSING and found > time:
            return SUCCESS, True
        target.updating = True
        status = SUCCESS
        for need in list(self._needs(target)):
            if self._drop_circular(target, need):
                continue
            entry = need.target
            assert entry is not None
            entry.parent = target if entry.parent is None else entry.parent
            more, newer = self.budget.nested(
                lambda entry=entry, must=must_make: self._check(  # type: ignore[misc]
                    entry, depth + 1, time, must_make=must
                )
            )
            status = max(status, more)
            if not need.order_only:
                must_make = newer
            if self._is_open(entry):
                target.waiting = True
            if status > NOTHING and not self.options.keep_going:
                break
        target.updating = False
        return status, must_make

    def _is_out_of_date(self, target: Target, time: float, *, must_make: bool) -> bool:
        graph, changed = self.build.graph, False
        for need in target.needs:
            entry = need.target
            assert entry is not None
            found = graph.time_of(entry)
            if not need.order_only:
                must_make = must_make or (found == MISSING and not entry.intermediate)
                changed = changed or need.changed
            need.changed = need.changed or time == MISSING or found > time
        if target.double_colon and not target.needs:
            return True
        if time != MISSING and target.is_target and not changed and target.recipe is None:
            return False
        if not must_make and target.recipe is not None and self.options.always_make:
            return True
        return must_make

    def _remake(self, target: Target) -> None:
        recipe = target.recipe
        if target.path != target.name:
            target.path = target.name  # it will be made here, not where VPATH found it
        if recipe is None:
            if target.phony or target.is_target:
                target.status = SUCCESS
                self.finish(target, ran=False)
                return
            if not (self.for_makefiles and target.dont_care):
                self._no_rule(target)
            target.status = FAILED
            self.finish(target, ran=False)
            return
        if self.options.touch and not self.build.runner.is_recursive(recipe):
            target.status = SUCCESS
            self._touch(target)
            self.finish(target, ran=True)
            return
        self.scope_of(target)
        self.build.runner.start(target)

    def _no_rule(self, target: Target) -> None:
        parent = target.parent
        needed = "" if parent is None else f", needed by '{parent.name}'"
        text = f"*** No rule to make target '{target.name}'{needed}."
        if not self.options.keep_going:
            raise FatalError(f"{self.build.prefix}: {text}  Stop.")
        self.build.say(text)

    def _touch(self, target: Target) -> None:
        if target.phony or target.recipe is None:
            return
        if not target.recipe.text.strip(" \t\n@+-"):
            return
        ctx = self.build.ctx
        self.started += 1
        if not self.options.silent:
            self.build.ctx.print(f"touch {target.name}")
        if self.options.just_print or self.options.question:
            return
        path = ctx.path(target.name)
        if not ctx.fs.exists(path):
            ctx.fs.write_bytes(path, b"")
        now = ctx.host.clock()
        ctx.fs.utime(path, now)

    def finish(self, target: Target, *, ran: bool) -> None:
        """Note that a target is done, with its status, and what is known of its time now."""
        target.updated, target.running, target.waiting = True, False, False
        if target.status == NOTHING:
            target.status = SUCCESS
        target.ran = ran
        if not ran or target.phony:
            return
        recipe = target.recipe
        only_said = self.options.question or self.options.just_print or self.options.touch
        if only_said and recipe is not None and not self.build.runner.is_recursive(recipe):
            target.time = NEW
        else:
            target.time = None
        for other in target.also_made:
            other.updated, other.status = True, target.status
            other.time = target.time


__all__ = ["QUESTION", "Updater"]
