"""The search for a pattern rule that can make a file.

A rule fits when one of its target patterns matches the name and all its prerequisites exist or are
named by the makefile. Rules with shorter stems come first, then earlier ones. If none fits, the
search is repeated with prerequisites that other rules can make: these files are intermediate, and
make removes them at the end. A rule is not used twice in one chain.
"""

from __future__ import annotations

import posixpath

from agentsandbox.commands.make.functions import match_pattern, split_pattern
from agentsandbox.commands.make.graph import Need, PatternRule, Target
from agentsandbox.commands.make.variables import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.make.contract import Build

_Candidate = tuple[int, PatternRule, int, str, str]
"""Length of the stem, the rule, the number of the pattern, the stem, the directory before it."""


def find_rule(build: Build, target: Target, *, in_chain: bool = False) -> bool:
    """Give a target the prerequisites and the recipe of a pattern rule; whether one was found."""
    return build.ctx.budget.nested(lambda: _search(build, target, in_chain=in_chain))


def _candidates(build: Build, name: str, *, in_chain: bool) -> list[_Candidate]:
    found: list[_Candidate] = []
    directory, slash, base = name.rpartition("/")
    directory += slash
    specific = False
    for rule in build.graph.pattern_rules:
        build.ctx.budget.step()
        if rule.in_use:
            continue
        for number, pattern in enumerate(rule.targets):
            in_place = "/" not in pattern and bool(directory)
            stem = match_pattern(pattern, base if in_place else name)
            if not stem or (in_chain and pattern == "%" and not rule.terminal):
                continue
            if pattern != "%":
                specific = True
            found.append((len(stem), rule, number, stem, directory if in_place else ""))
            break
    if specific:
        found = [each for each in found if each[1].targets[each[2]] != "%" or each[1].terminal]
    return sorted(found, key=lambda each: each[0])


def need_names(need: Need, stem: str, directory: str) -> str:
    """Return a prerequisite of a pattern rule for a stem."""
    before, after = split_pattern(need.name)
    if after is None:
        return before
    return f"{directory}{before}{stem}{after}"


def _needs_of(build: Build, target: Target, candidate: _Candidate) -> list[Need]:
    _, rule, _, stem, directory = candidate
    found: list[Need] = []
    for need in rule.needs:
        if need.wait_second:
            text = need.name.replace("%", "$*")
            found += second_needs(build, target, text, directory + stem)
            continue
        new = Need(need_names(need, stem, directory), order_only=need.order_only)
        new.from_pattern = "%" in need.name
        names = build.graph.wildcard(new.name) if not new.from_pattern else [new.name]
        for name in names:
            twin = Need(name, order_only=new.order_only)
            twin.from_pattern = new.from_pattern
            found.append(twin)
    return found


def second_needs(build: Build, target: Target, text: str, stem: str) -> list[Need]:
    """Expand prerequisites a second time, when the target and its stem are known."""
    scope = build.walker.scope_of(target)
    inner = type(scope)(scope, inherits_private=True)
    build.runner.set_automatic(inner, target, stem=stem)
    found: list[Need] = []
    order_only = False
    for word in words_of(build.expander.expand(text, inner)):
        if word == "|":
            order_only = True
            continue
        found += [Need(name, order_only=order_only) for name in build.graph.wildcard(word)]
    return found


def _search(build: Build, target: Target, *, in_chain: bool) -> bool:
    candidates = _candidates(build, target.name, in_chain=in_chain)
    for chained in (False, True):
        for candidate in candidates:
            rule = candidate[1]
            if chained and rule.terminal:
                continue
            rule.in_use = True
            try:
                made = _try(build, target, candidate, chained=chained)
            finally:
                rule.in_use = False
            if made is not None:
                _apply(build, target, candidate, *made)
                return True
    return False


def _try(
    build: Build, target: Target, candidate: _Candidate, *, chained: bool
) -> tuple[list[Need], list[Target]] | None:
    """Return the prerequisites and the intermediate files of a rule that fits."""
    rule = candidate[1]
    needs = _needs_of(build, target, candidate)
    own = {need.name for need in target.needs}
    intermediates: list[Target] = []
    for need in needs:
        build.ctx.budget.step()
        known = build.graph.find(need.name)
        mentioned = known is not None and not rule.terminal
        if need.name in own or mentioned or build.graph.exists(need.name):
            continue
        if build.graph.search(need.name) is not None:
            continue
        if not chained:
            return None
        intermediate = Target(need.name)
        if need.name in build.graph.impossible or not find_rule(build, intermediate, in_chain=True):
            build.graph.impossible.add(need.name)
            return None
        intermediate.intermediate = True
        intermediates.append(intermediate)
    return needs, intermediates


def _apply(
    build: Build,
    target: Target,
    candidate: _Candidate,
    needs: list[Need],
    intermediates: list[Target],
) -> None:
    _, rule, number, stem, directory = candidate
    for intermediate in intermediates:
        known = build.graph.targets.setdefault(intermediate.name, intermediate)
        if known is intermediate:
            known.tried_implicit = True
            known.precious = any(
                match_pattern(pattern, known.name) is not None for pattern in build.precious
            )
    target.needs = [*needs, *target.needs]
    target.recipe = rule.recipe
    target.stem = directory + stem
    if len(rule.targets) > 1:
        for at, pattern in enumerate(rule.targets):
            if at != number:
                before, after = split_pattern(pattern)
                other = build.graph.enter(posixpath.join(directory, f"{before}{stem}{after}"))
                target.also_made.append(other)
