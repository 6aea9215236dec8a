"""Recording the rules of a makefile: explicit, static pattern, pattern and suffix rules."""

from __future__ import annotations

from agentsandbox.commands.make.functions import match_pattern, split_pattern
from agentsandbox.commands.make.graph import Need, PatternRule, Recipe, Target
from agentsandbox.commands.make.variables import FILE, OVERRIDE, Scope, names_of, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.make.contract import Build
    from agentsandbox.commands.make.syntax import Assignment
    from agentsandbox.commands.make.variables import Place


class PendingRule:
    """A rule whose recipe is still being read."""

    __slots__ = ("double", "grouped", "lines", "needs", "pattern", "place", "recipe_place",
                 "targets")  # fmt: skip

    def __init__(
        self,
        targets: list[str],
        needs: str,
        pattern: str | None,
        place: Place,
        *,
        double: bool,
        grouped: bool,
    ) -> None:
        self.targets = targets
        self.needs = needs
        self.pattern = pattern
        self.place = place
        self.double = double
        self.grouped = grouped
        self.lines: list[str] = []
        self.recipe_place = place

    def add_recipe(self, line: str, place: Place) -> None:
        """Add a line of the recipe."""
        if not self.lines:
            self.recipe_place = place
        self.lines.append(line)

    def recipe(self) -> Recipe | None:
        """Return the recipe; None for a rule without one."""
        if not self.lines:
            return None
        return Recipe("\n".join(self.lines) + "\n", self.recipe_place)


def parse_needs(build: Build, text: str) -> list[Need]:
    """Return the prerequisites that a text names; those after `|` matter only for the order."""
    if build.second_expansion and "$" in text:
        need = Need(text)
        need.wait_second = True
        return [need]
    found: list[Need] = []
    order_only = False
    for word in names_of(text.replace("|", " | ") if "|" in text else text):
        if word == "|" and not order_only:
            order_only = True
            continue
        for name in build.graph.wildcard(word):
            found.append(Need(build.graph.plain_name(name), order_only=order_only))
    return found


def record_rule(build: Build, rule: PendingRule) -> None:
    """Enter a rule that was read."""
    _special_targets(build, rule)
    patterns = [name for name in rule.targets if "%" in name]
    if rule.pattern is None and patterns:
        if len(patterns) != len(rule.targets):
            raise build.fatal("mixed implicit and normal rules", rule.place)
        _record_pattern(build, rule)
        return
    if rule.pattern is not None and patterns:
        raise build.fatal("mixed implicit and static pattern rules", rule.place)
    if rule.grouped and rule.recipe() is None:
        raise build.fatal("grouped targets must provide a recipe", rule.place)
    recipe, group = rule.recipe(), []
    for name in rule.targets:
        build.ctx.budget.step()
        group.append(_record_target(build, rule, build.graph.plain_name(name), recipe))
    if rule.grouped:
        for target in group:
            target.also_made = [other for other in group if other is not target]


def _record_pattern(build: Build, rule: PendingRule) -> None:
    needs: list[Need] = []
    order_only = False
    if build.second_expansion and "$" in rule.needs:
        needs = parse_needs(build, rule.needs)
    else:
        for word in names_of(rule.needs.replace("|", " | ")):
            if word == "|" and not order_only:
                order_only = True
            else:
                needs.append(Need(build.graph.plain_name(word), order_only=order_only))
    build.graph.add_pattern_rule(
        PatternRule(
            [build.graph.plain_name(name) for name in rule.targets],
            needs,
            rule.recipe(),
            terminal=rule.double,
        )
    )


def _record_target(build: Build, rule: PendingRule, name: str, recipe: Recipe | None) -> Target:
    target = build.graph.enter(name)
    if (
        target.is_target
        and target.double_colon != rule.double
        and (target.recipe is not None or recipe is not None or target.needs)
    ):
        raise build.fatal(f"target file '{name}' has both : and :: entries", rule.place)
    if rule.double and target.is_target:
        last = target.chain()[-1]
        last.next_double = Target(name)
        target = last.next_double
    target.double_colon = rule.double
    target.is_target = True
    stem: str | None = None
    if rule.pattern is not None:
        stem = match_pattern(rule.pattern, name)
        if stem is None:
            build.say_at(rule.place, f"target '{name}' doesn't match the target pattern")
    needs = _needs_for(build, rule, stem)
    if recipe is not None:
        _give_recipe(build, target, recipe, rule.place)
        target.stem = stem or ""
        # The prerequisites of the rule with the recipe come first: $< is the first of them.
        target.needs = [*needs, *target.needs]
    else:
        target.needs += needs
    _consider_default(build, target)
    return target


def _give_recipe(build: Build, target: Target, recipe: Recipe, place: Place) -> None:
    old = target.recipe
    if old is not None and old.place is not None and not target.double_colon:
        build.say_at(recipe.place, f"warning: overriding recipe for target '{target.name}'")
        build.say_at(old.place, f"warning: ignoring old recipe for target '{target.name}'")
    if target.name == ".DEFAULT" and not recipe.text.strip():
        target.recipe = None
        return
    target.recipe = recipe


def _needs_for(build: Build, rule: PendingRule, stem: str | None) -> list[Need]:
    needs = parse_needs(build, rule.needs)
    if rule.pattern is None:
        return needs
    found: list[Need] = []
    for need in needs:
        if need.wait_second:
            twin = Need(need.name.replace("%", "$*"))
            twin.wait_second = True
            found.append(twin)
            continue
        before, after = split_pattern(need.name)
        name = before if after is None else f"{before}{stem or ''}{after}"
        found.append(Need(build.graph.plain_name(name), order_only=need.order_only))
    return found


def _consider_default(build: Build, target: Target) -> None:
    """Make the first target the default goal, but not one like `.PHONY`."""
    goal = build.scope.variables.get(".DEFAULT_GOAL")
    if goal is not None and goal.value:
        return
    name = target.name
    if name.startswith(".") and "/" not in name:
        return
    if _is_suffix_rule(build, name):
        return
    build.scope.set(".DEFAULT_GOAL", name, FILE, recursive=False)


def _is_suffix_rule(build: Build, name: str) -> bool:
    suffixes = build.suffixes
    return name in suffixes or any(
        name.startswith(first) and name[len(first) :] in suffixes for first in suffixes
    )


def _special_targets(build: Build, rule: PendingRule) -> None:
    """Carry out what the names of special targets mean."""
    for name in rule.targets:
        if not name.startswith("."):
            continue
        words = words_of(rule.needs)
        if name == ".SUFFIXES":
            build.suffixes = [*build.suffixes, *words] if words else []
        elif name == ".PRECIOUS":
            build.precious += words
        elif name == ".SECONDEXPANSION":
            build.second_expansion = True
        elif name == ".ONESHELL":
            build.one_shell = True
        elif name == ".POSIX":
            build.is_posix = True
            build.scope.set(".SHELLFLAGS", "-ec", FILE, recursive=False)
        elif name == ".EXPORT_ALL_VARIABLES":
            build.export_all = True
        elif name == ".NOTPARALLEL":
            build.not_parallel = True
        elif name in (".LOW_RESOLUTION_TIME", ".LIBPATTERNS"):
            continue


def set_target_variable(
    build: Build, targets: list[str], assignment: Assignment, place: Place
) -> None:
    """Set a variable for some targets, or for all that match a pattern."""
    origin = OVERRIDE if "override" in assignment.modifiers else FILE
    name = build.expand_at(assignment.name, place).strip()
    if not name:
        raise build.fatal("empty variable name", place)
    for target in targets:
        build.ctx.budget.step()
        plain = build.graph.plain_name(target)
        if "%" in plain:
            scope = Scope(build.scope)
            build.graph.pattern_variables.append((plain, scope))
        else:
            entry = build.graph.enter(plain)
            if entry.variables is None:
                entry.variables = Scope(build.scope)
            scope = entry.variables
        stronger = build.scope.variables.get(name)
        variable = build.assign(
            scope, name, assignment.operator, assignment.value, origin, place, in_target=True
        )
        if stronger is not None and stronger.origin > variable.origin:
            del scope.variables[name]  # the command line decides for targets, too
            continue
        variable.private = "private" in assignment.modifiers
        if "export" in assignment.modifiers:
            variable.exported = True


def convert_suffix_rules(build: Build) -> None:
    """Make pattern rules of the rules whose target is one suffix or two."""
    rules: list[PatternRule] = []
    suffixes = build.suffixes
    targets = build.graph.targets
    for first in suffixes:
        for second in ["", *suffixes]:
            build.ctx.budget.step()
            found = targets.get(first + second)
            if found is None or found.recipe is None or found.double_colon:
                continue
            if not found.needs or build.is_posix:
                rules.append(PatternRule([f"%{second}"], [Need(f"%{first}")], found.recipe))
    for rule in rules:
        build.graph.add_pattern_rule(rule)
