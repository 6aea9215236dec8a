"""One run of make: its options, variables, files, and the order in which things happen."""

from __future__ import annotations

import posixpath

from agentsandbox.commands.make.builtin import RULES, SUFFIX_RULES, SUFFIXES, VARIABLES
from agentsandbox.commands.make.expansion import Expander
from agentsandbox.commands.make.graph import MISSING, Graph, Need, PatternRule, Recipe, Target
from agentsandbox.commands.make.options import Options
from agentsandbox.commands.make.reader import Reader, read_source
from agentsandbox.commands.make.recipes import Recipes, removal_line
from agentsandbox.commands.make.rules import convert_suffix_rules
from agentsandbox.commands.make.updating import Updater
from agentsandbox.commands.make.variables import (
    AUTOMATIC,
    COMMAND,
    DEFAULT,
    ENVIRONMENT,
    ENVIRONMENT_OVERRIDE,
    FILE,
    FatalError,
    Scope,
    Variable,
    words_of,
)
from agentsandbox.kernel.streams import Buffer, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.commands.make.variables import Place
    from agentsandbox.contract.command import CommandContext
    from agentsandbox.kernel.streams import ByteWriter

_FEATURES = (
    "target-specific order-only second-expansion else-if shortest-stem undefine oneshell "
    "nocomment grouped-target extra-prereqs"
)
_MOST_INCLUDES = 200


class Run:
    """All that one run of make knows; what it reads is thrown away when makefiles were remade."""

    def __init__(self, ctx: CommandContext, options: Options, restarts: int = 0) -> None:
        self.ctx = ctx
        self.options = options
        self.restarts = restarts
        self.level = options.level
        self.prefix = "make" if not self.level else f"make[{self.level}]"
        self.jobs = options.jobs
        self.scope = Scope()
        self.expander = Expander(self)
        self.graph = Graph(self, options)
        self.runner = Recipes(self)
        self.walker = Updater(self)
        self.suffixes: list[str] = [] if options.no_rules else SUFFIXES.split()
        self.precious: list[str] = []
        self.export_all = self.second_expansion = self.one_shell = False
        self.is_posix = self.not_parallel = False
        self.makefiles: list[Target] = []
        self.missing: list[tuple[Place, Target, str, bool]] = []
        """Included files that are not there: place, entry, reason, whether that is fine."""
        self.depth = 0

    # Messages

    def say(self, text: str) -> None:
        """Write "make: text" to standard error."""
        self.ctx.budget.step()
        self.ctx.stderr.write(encode(f"{self.prefix}: {text}\n"))

    def say_plain(self, text: str) -> None:
        """Write "make: text" to standard output."""
        self.ctx.stdout.write(encode(f"{self.prefix}: {text}\n"))

    def say_at(self, place: Place | None, text: str) -> None:
        """Write a message with the place in a makefile."""
        if place is None:
            self.say(text)
        else:
            self.ctx.budget.step()
            self.ctx.stderr.write(encode(f"{place[0]}:{place[1]}: {text}\n"))

    def fatal(self, message: str, place: Place | None = None) -> FatalError:
        """Return the error that ends make with a message."""
        where = self.prefix if place is None else f"{place[0]}:{place[1]}"
        return FatalError(f"{where}: *** {message}.  Stop.")

    # What the parts ask for

    @property
    def warns_undefined(self) -> bool:
        """Whether unknown variables are reported."""
        return self.options.warn_undefined

    def wildcard(self, pattern: str, *, only_existing: bool = False) -> list[str]:
        """Return the files that match a pattern."""
        return self.graph.wildcard(pattern, only_existing=only_existing)

    def run_command(
        self,
        text: str,
        environment: Mapping[str, str],
        scope: Scope,
        *,
        stdout: ByteWriter | None = None,
    ) -> int:
        """Run a line as recipes do and return its status."""
        return self.runner.run_command(text, environment, scope, stdout=stdout)

    # Variables

    @property
    def recipe_prefix(self) -> str:
        """The character before the lines of recipes."""
        found = self.scope.variables.get(".RECIPEPREFIX")
        return found.value[:1] if found is not None and found.value else "\t"

    def expand(self, text: str) -> str:
        """Expand text with the variables of the makefile."""
        return self.expander.expand(text, self.scope)

    def expand_at(self, text: str, place: Place | None) -> str:
        """Expand text that is written at a place."""
        saved, self.expander.place = self.expander.place, place
        value = self.expand(text)
        self.expander.place = saved
        return value

    def assign(
        self,
        scope: Scope,
        name: str,
        operator: str,
        value: str,
        origin: int,
        place: Place | None,
        *,
        in_target: bool = False,
    ) -> Variable:
        """Carry out `name operator value` in a scope and return the variable."""
        found = scope.variables.get(name)
        if operator == "?=":
            known = found if not in_target else scope.find(name)
            if known is not None:
                return scope.variables.setdefault(name, known)
            operator = "="
        if operator in (":=", "::="):
            value = self.expand_in(value, scope, place)
            return scope.set(name, value, origin, recursive=False, place=place)
        if operator == "!=":
            value = self._output_of(self.expand_in(value, scope, place))
            return scope.set(name, value, origin, place=place)
        if operator == "+=":
            return self._append(scope, name, value, origin, place, found, in_target=in_target)
        return scope.set(name, value, origin, place=place)

    def expand_in(self, text: str, scope: Scope, place: Place | None) -> str:
        """Expand text in a scope."""
        saved, self.expander.place = self.expander.place, place
        value = self.expander.expand(text, scope)
        self.expander.place = saved
        return value

    def _append(
        self,
        scope: Scope,
        name: str,
        value: str,
        origin: int,
        place: Place | None,
        found: Variable | None,
        *,
        in_target: bool,
    ) -> Variable:
        if found is None:
            outer = scope.find(name) if in_target else None
            recursive = outer is None or outer.recursive
            if not recursive:
                value = self.expand_in(value, scope, place)
            new = scope.set(name, value, origin, recursive=recursive, place=place)
            new.append = in_target
            return new
        if not found.recursive:
            value = self.expand_in(value, scope, place)
        self.ctx.budget.charge(len(found.value) + len(value))
        value = f"{found.value} {value}" if found.value else value
        append = found.append
        new = scope.set(name, value, max(origin, FILE), recursive=found.recursive, place=place)
        new.append = append
        return new

    def _output_of(self, text: str) -> str:
        output = Buffer(self.ctx.budget.value_bytes)
        status = self.run_command(text, self.ctx.env, self.scope, stdout=output)
        self.scope.set(".SHELLSTATUS", str(status), FILE, recursive=False)
        lines = decode(output.getvalue()).removesuffix("\n")
        return lines.replace("\n", " ").replace("$", "$$")

    def define_first_variables(self) -> None:
        """Define what is there before the first makefile is read."""
        scope, options = self.scope, self.options
        if not options.no_variables:
            for name, value in VARIABLES.items():
                scope.set(name, value, DEFAULT)
        for name, value in (
            ("MAKE_COMMAND", "make"), ("MAKE", "$(MAKE_COMMAND)"), ("SHELL", "/bin/sh"),
            (".SHELLFLAGS", "-c"), ("MAKE_VERSION", "4.3"), ("MAKE_HOST", "x86_64-pc-linux-gnu"),
            (".FEATURES", _FEATURES), (".INCLUDE_DIRS", "/usr/include"),
            ("MAKEFILE_LIST", ""), (".RECIPEPREFIX", ""), ("SUFFIXES", " ".join(self.suffixes)),
        ):  # fmt: skip
            scope.set(name, value, FILE if name == "MAKEFILE_LIST" else DEFAULT)
        strength = ENVIRONMENT_OVERRIDE if options.environment_overrides else ENVIRONMENT
        for name, value in self.ctx.env.items():
            if name not in ("SHELL", "MAKELEVEL", "MAKEFLAGS", "MFLAGS", "MAKEFILES"):
                variable = Variable(name, value, strength)
                variable.value = value
                scope.variables[name] = variable
        if self.restarts:
            scope.set("MAKE_RESTARTS", str(self.restarts), ENVIRONMENT)
        scope.set("CURDIR", self.ctx.cwd, FILE, recursive=False)
        scope.set("MAKELEVEL", str(self.level), ENVIRONMENT, recursive=False)
        scope.set("MAKECMDGOALS", " ".join(options.goals), ENVIRONMENT, recursive=False)
        scope.variables["MAKECMDGOALS"].exported = False
        if not options.goals:
            del scope.variables["MAKECMDGOALS"]
        for name, operator, value in options.variables:
            self.assign(scope, name, operator, value, COMMAND, None)
        self.define_flags()

    def define_flags(self) -> None:
        """Define MAKEFLAGS and what belongs to it."""
        flags, letters = self.options.flags(), self.options.letters()
        for name, value in (("MAKEFLAGS", flags), ("MFLAGS", f"-{letters}" if letters else "")):
            variable = Variable(name, value.replace("$", "$$"), ENVIRONMENT, recursive=True)
            variable.origin = FILE if name == "MAKEFLAGS" else ENVIRONMENT
            variable.exported = True
            self.scope.variables[name] = variable
        overrides = self.options.override_text()
        if overrides:
            self.scope.set("-*-command-variables-*-", overrides, AUTOMATIC, recursive=False)
            self.scope.set("MAKEOVERRIDES", "${-*-command-variables-*-}", ENVIRONMENT)

    # Makefiles

    def read_all(self) -> None:
        """Read the makefiles of the command line, or the one that is here."""
        self.define_first_variables()
        names = self.options.makefiles
        for text in self.options.evaluated:
            self.read_text(text, None)
        if not names:
            for name in ("GNUmakefile", "makefile", "Makefile"):
                if self.graph.exists(name):
                    self.read_file(name)
                    break
        for name in names:
            if name != "-" and not self.graph.exists(name):
                self._note_missing(("", 0), name, "No such file or directory", is_optional=False)
                continue
            self.read_file(name)
        self._read_flags()
        self._finish_reading()

    def _read_flags(self) -> None:
        """Take the options that the makefile added to MAKEFLAGS."""
        value = self.expander.value_of("MAKEFLAGS", self.scope)
        self.options.add_flags(value)
        self.jobs = 1 if self.not_parallel else self.options.jobs
        exported = self.options.flags()
        self.scope.variables["MAKEFLAGS"].value = exported.replace("$", "$$")

    def read_file(
        self, name: str, *, included: Place | None = None, is_optional: bool = False
    ) -> None:
        """Read a makefile; a missing one is noted, because it may be made."""
        path = name
        if included is not None and not name.startswith("/") and not self.graph.exists(name):
            for directory in [*self.options.include_directories, "/usr/include"]:
                if self.graph.exists(posixpath.join(directory, name)):
                    path = posixpath.join(directory, name)
                    break
        try:
            text = read_source(self, path)
        except OSError as error:
            reason = error.strerror or "Input/output error"
            self._note_missing(included or ("", 0), name, reason, is_optional=is_optional)
            return
        self.depth += 1
        if self.depth > _MOST_INCLUDES:
            raise self.fatal(f"{name}: Too many open files", included)
        entry = self.graph.enter(path)
        if path != "-" and entry not in self.makefiles:
            self.makefiles.append(entry)
        known = self.scope.variables["MAKEFILE_LIST"]
        known.value = f"{known.value} {path}"
        saved, self.expander.place = self.expander.place, None
        Reader(self, text, path).read()
        self.expander.place = saved
        self.depth -= 1

    def _note_missing(self, place: Place, name: str, reason: str, *, is_optional: bool) -> None:
        entry = self.graph.enter(name)
        entry.dont_care = is_optional
        self.missing.append((place, entry, reason, is_optional))

    def read_text(self, text: str, place: Place | None) -> None:
        """Read what `$(eval …)` gives."""
        if not text:
            return
        self.depth += 1
        if self.depth > _MOST_INCLUDES:
            raise self.fatal("eval: nested too deeply", place)
        name, line = place or (self.prefix, 1)
        reader = Reader(self, text, name, line)
        reader.place = (name, line)
        reader.is_fixed_place = place is not None
        saved = self.expander.place
        reader.read()
        self.expander.place = saved
        self.depth -= 1

    def _finish_reading(self) -> None:
        """Add the rules that every makefile has, and what special targets say of files."""
        if not self.options.no_rules:
            self._add_builtin_rules()
        else:
            convert_suffix_rules(self)
        for name in (".PHONY", ".PRECIOUS", ".INTERMEDIATE", ".SECONDARY"):
            special = self.graph.find(name)
            for entry in [] if special is None else special.chain():
                for need in entry.needs:
                    for each in self.graph.enter(need.name).chain():
                        _mark_special(each, name)
        goal = self.scope.variables.get(".DEFAULT_GOAL")
        if goal is not None and goal.value:
            names = words_of(self.expander.value_of(".DEFAULT_GOAL", self.scope))
            if len(names) > 1 and not self.options.goals:
                raise self.fatal(".DEFAULT_GOAL contains more than one target")
            if names:
                self.graph.default = self.graph.enter(names[0])

    def _add_builtin_rules(self) -> None:
        own = list(self.graph.pattern_rules)
        self.graph.pattern_rules = []
        convert_suffix_rules(self)
        known = {(rule.targets[0], rule.needs[0].name if rule.needs else "") for rule in own} | {
            (rule.targets[0], rule.needs[0].name) for rule in self.graph.pattern_rules
        }
        suffixes = set(self.suffixes)
        targets = self.graph.targets
        for source, made, text in SUFFIX_RULES:
            if source not in suffixes or (made and made not in suffixes):
                continue
            explicit = targets.get(source + made)
            if explicit is not None and explicit.recipe is not None:
                continue
            if (f"%{made}", f"%{source}") not in known:
                self.graph.pattern_rules.append(
                    PatternRule([f"%{made}"], [Need(f"%{source}")], _builtin_recipe(text))
                )
        for target, needs, text in RULES:
            if (target, needs.split()[0]) not in known:
                self.graph.pattern_rules.append(
                    PatternRule(
                        [target], [Need(each) for each in needs.split()], _builtin_recipe(text)
                    )
                )
        converted = self.graph.pattern_rules
        self.graph.pattern_rules = own + converted

    def is_special(self, name: str, target: Target) -> bool:
        """Whether a special target without prerequisites is there, or names the target."""
        special = self.graph.targets.get(name)
        if special is None or not special.is_target:
            return False
        return not special.needs or any(need.name == target.name for need in special.needs)

    # Remaking makefiles

    def remake_makefiles(self) -> bool:
        """Bring the makefiles up to date; whether any changed, so that all is read again."""
        goals = [
            entry
            for entry in [*self.makefiles, *(entry for _, entry, _, _ in self.missing)]
            if not entry.phony and not (entry.double_colon and not entry.needs)
        ]
        before = {entry.name: self.graph.time_of_file(entry.name) for entry in goals}
        self.walker.for_makefiles = True
        flags = self.options
        saved = (flags.just_print, flags.question, flags.touch, flags.always_make)
        flags.just_print = flags.question = flags.touch = False
        flags.always_make = flags.always_make and not self.restarts
        self.walker.update_goals([entry.name for entry in goals])
        flags.just_print, flags.question, flags.touch, flags.always_make = saved
        self.walker.for_makefiles = False
        changed = any(self.graph.time_of_file(name) != time for name, time in before.items())
        is_broken = self._report_missing()
        if is_broken:
            raise FatalError("")
        return changed

    def _report_missing(self) -> bool:
        """Report makefiles that are needed and not there."""
        broken = False
        for place, entry, reason, is_optional in self.missing:
            if is_optional or self.graph.exists(entry.name):
                continue
            broken = True
            if place[0]:
                self.say_at(place, f"{entry.name}: {reason}")
            else:
                self.say(f"{entry.name}: {reason}")
            if entry.recipe is None:
                stop = "" if self.options.keep_going else "  Stop."
                self.say(f"*** No rule to make target '{entry.name}'.{stop}")
            else:
                self.say(f"Failed to remake makefile '{entry.name}'.")
        return broken

    def remove_intermediates(self) -> None:
        """Remove the intermediate files that this run made."""
        names: list[str] = []
        secondary = self.graph.find(".SECONDARY")
        if secondary is not None and not secondary.needs:
            return
        for target in self.graph.targets.values():
            if not target.intermediate or target.precious or target.secondary:
                continue
            if not target.updated or target.recipe is None or target.name in self.options.goals:
                continue
            if not target.ran or target.phony:
                continue
            path = self.ctx.path(target.name)
            if not self.options.just_print:
                if not self.ctx.fs.exists(path, follow=False):
                    continue
                self.ctx.fs.unlink(path)
            names.append(target.name)
        if names and not self.options.silent:
            self.ctx.stdout.write(removal_line(names))


def _builtin_recipe(text: str) -> Recipe:
    lines = [line.lstrip() for line in text.split("\n")]
    return Recipe("\n".join(lines) + "\n", None)


def _mark_special(target: Target, name: str) -> None:
    """Note that a target is a prerequisite of a special one."""
    if name == ".PHONY":
        target.phony = target.is_target = True
        target.time = MISSING
    elif name == ".PRECIOUS":
        target.precious = True
    else:
        target.intermediate = True
        target.secondary = target.precious = name == ".SECONDARY"
