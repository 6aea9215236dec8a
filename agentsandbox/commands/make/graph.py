"""The files that a makefile speaks of, its pattern rules and search paths.

A `Target` is an entry for one name: what it is made of, by which recipe, and what is known of it
while make runs. Names are those of the makefile, relative to make's directory.
"""

from __future__ import annotations

import posixpath

from agentsandbox.commands.make.functions import match_pattern
from agentsandbox.kernel.patterns.filenames import compile_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.make.options import Options
    from agentsandbox.commands.make.variables import Place, Scope, Surroundings

MISSING = -1.0
"""The time of a file that is not there: older than all that are."""
NEW = float("inf")
"""The time of a file that make has, or would have, just made."""

SUCCESS, NOTHING, QUESTION, FAILED = 0, 1, 2, 3
"""How the update of a target ended; NOTHING is "not begun"."""


class Recipe:
    """The lines of a recipe, and where they begin; `text` has a newline after each line."""

    __slots__ = ("place", "text")

    def __init__(self, text: str, place: Place | None) -> None:
        self.text = text
        self.place = place


class Need:
    """A prerequisite: its name, whether only its order counts, whether it is newer."""

    __slots__ = ("changed", "from_pattern", "name", "order_only", "target", "wait_second")

    def __init__(self, name: str, *, order_only: bool = False) -> None:
        self.name = name
        self.order_only = order_only
        self.changed = False
        self.from_pattern = False
        self.wait_second = False
        """Whether the name is expanded once more, when the target is considered."""
        self.target: Target | None = None


class Target:
    """A file, or a name that is only a goal."""

    __slots__ = (
        "also_made", "commanded", "dont_care", "double_colon", "intermediate", "is_target", "name",
        "needs", "next_double", "parent", "path", "phony", "precious", "ran", "recipe", "running",
        "scope", "secondary", "status", "stem", "time", "tried_implicit", "updated", "updating",
        "variables", "waiting",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.path = name
        """Where it was found, by VPATH in another directory."""
        self.needs: list[Need] = []
        self.recipe: Recipe | None = None
        self.is_target = self.phony = self.precious = self.secondary = False
        self.intermediate = self.tried_implicit = self.commanded = self.dont_care = False
        self.double_colon = False
        self.next_double: Target | None = None
        self.also_made: list[Target] = []
        self.stem = ""
        self.time: float | None = None
        self.variables: Scope | None = None
        """The variables that the makefile sets for it."""
        self.scope: Scope | None = None
        """Those, in front of its parent's."""
        self.parent: Target | None = None
        self.updating = self.updated = self.running = self.waiting = self.ran = False
        self.status = NOTHING

    def chain(self) -> list[Target]:
        """Return the entry and, of a double-colon target, its further rules."""
        found, entry = [self], self.next_double
        while entry is not None:
            found.append(entry)
            entry = entry.next_double
        return found


class PatternRule:
    """A rule for all targets that match a pattern."""

    __slots__ = ("in_use", "needs", "recipe", "second", "targets", "terminal")

    def __init__(
        self,
        targets: list[str],
        needs: list[Need],
        recipe: Recipe | None,
        *,
        terminal: bool = False,
        second: bool = False,
    ) -> None:
        self.targets = targets
        self.needs = needs
        self.recipe = recipe
        self.terminal = terminal
        self.second = second
        self.in_use = False


class Graph:
    """All that a makefile says about files."""

    def __init__(self, build: Surroundings, options: Options) -> None:
        self.build = build
        self.options = options
        self.targets: dict[str, Target] = {}
        self.pattern_rules: list[PatternRule] = []
        self.pattern_variables: list[tuple[str, Scope]] = []
        self.paths: list[tuple[str, list[str]]] = []
        """(pattern, directories) of the `vpath` lines."""
        self.default: Target | None = None
        """The goal if none is given."""
        self.impossible: set[str] = set()
        """Names that no chain of pattern rules makes."""

    def enter(self, name: str) -> Target:
        """Return the entry of a name, which is made if there is none."""
        name = self.plain_name(name)
        found = self.targets.get(name)
        if found is None:
            self.build.ctx.budget.step()
            found = self.targets[name] = Target(name)
        return found

    def plain_name(self, name: str) -> str:
        """Return a name without "./" before it."""
        while name.startswith("./") and len(name) > 2:
            name = name[2:].lstrip("/") or name
        return name

    def find(self, name: str) -> Target | None:
        """Return the entry of a name, or None."""
        return self.targets.get(self.plain_name(name))

    def add_pattern_rule(self, rule: PatternRule) -> None:
        """Add a rule; one of the same patterns replaces or, without a recipe, cancels it."""
        for at, old in enumerate(self.pattern_rules):
            self.build.ctx.budget.step()
            if old.targets == rule.targets and [n.name for n in old.needs] == [
                n.name for n in rule.needs
            ]:
                del self.pattern_rules[at]
                break
        if rule.recipe is not None:
            self.pattern_rules.append(rule)

    # Files

    def time_of(self, target: Target) -> float:
        """Return the time of a target's file, searching VPATH; MISSING without one."""
        if target.time is None:
            target.time = self._look(target)
        return target.time

    def _look(self, target: Target) -> float:
        if target.phony:
            return MISSING
        found = self.time_of_file(target.path)
        if found == MISSING and not target.name.startswith("/") and target.path == target.name:
            other = self.search(target.name)
            if other is not None:
                target.path = other
                found = self.time_of_file(other)
        if self.options.new_files and target.name in self.options.new_files:
            return NEW
        if self.options.old_files and target.name in self.options.old_files:
            return 0.0 if found != MISSING else found
        return found

    def time_of_file(self, name: str) -> float:
        """Return the time of a file, MISSING without one."""
        ctx = self.build.ctx
        ctx.budget.step()
        if not name:
            return MISSING
        try:
            return ctx.fs.stat(ctx.path(name)).mtime
        except OSError:
            return MISSING

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        return self.time_of_file(name) != MISSING

    def search(self, name: str) -> str | None:
        """Return where VPATH or a `vpath` line finds a file, or None."""
        build = self.build
        if name.startswith("/"):
            return None
        places = [each for pattern, each in self.paths if match_pattern(pattern, name) is not None]
        general = build.scope.find("VPATH")
        if general is not None:
            value = build.expand(general.value)
            places.append([word for word in value.replace(":", " ").split() if word])
        for directories in places:
            for directory in directories:
                path = posixpath.join(directory, name)
                known = self.find(path)
                if self.exists(path) or (known is not None and known.is_target):
                    return self.plain_name(path)
        return None

    def wildcard(self, pattern: str, *, only_existing: bool = False) -> list[str]:
        """Return the files that match a pattern, sorted; without a match the pattern itself, or
        nothing with `only_existing`.
        """
        pattern = self._home(pattern)
        if not any(letter in pattern for letter in "*?["):
            plain = pattern.replace("\\", "") if only_existing else pattern
            return [] if only_existing and not self.exists(plain) else [plain]
        found = [""]
        parts = pattern.split("/")
        for at, part in enumerate(parts):
            found = self._step(found, part, is_last=at == len(parts) - 1)
        if not found and not only_existing:
            return [pattern]
        return sorted(found)

    def _home(self, pattern: str) -> str:
        if pattern == "~" or pattern.startswith("~/"):
            return self.build.ctx.env.get("HOME", "~") + pattern[1:]
        return pattern

    def _step(self, bases: list[str], part: str, *, is_last: bool) -> list[str]:
        """Return the bases with one more part of a pattern."""
        ctx = self.build.ctx
        after = "" if is_last else "/"
        if not any(letter in part for letter in "*?["):
            joined = [f"{base}{part}{after}" for base in bases]
            return [each for each in joined if not is_last or not part or self.exists(each)]
        found: list[str] = []
        matcher = compile_glob(part, period=True, pathname=True, extglob=False)
        for base in bases:
            try:
                names = ctx.fs.listdir(ctx.path(base or "."))
            except OSError:
                continue
            ctx.budget.step(len(names) + 1)
            matching = sorted(name for name in names if matcher.match(name))
            if not is_last:
                matching = [name for name in matching if ctx.fs.is_dir(ctx.path(base + name))]
            found += [f"{base}{name}{after}" for name in matching]
            ctx.budget.charge(len(found) * 16)
        return found
