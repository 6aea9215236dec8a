"""Reading a makefile: conditionals, assignments, includes and rules.

A logical line is what backslashes at line ends join. A line that begins with a tab belongs to the
recipe of the rule above. Of all others the first thing that fits decides: a conditional, an
assignment, `define`, `export`, `vpath`, `include`, a rule. A rule is recorded when the next line
that is no recipe comes.
"""

from __future__ import annotations

import re

from agentsandbox.commands.make.rules import PendingRule, record_rule, set_target_variable
from agentsandbox.commands.make.syntax import (
    BLANKS,
    KEYWORD,
    OPERATORS,
    find_unquoted,
    join_lines,
    parse_assignment,
    strip_comment,
)
from agentsandbox.commands.make.variables import FILE, OVERRIDE, names_of, words_of
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.make.contract import Build
    from agentsandbox.commands.make.syntax import Assignment
    from agentsandbox.commands.make.variables import FatalError, Place, Scope

_CONDITIONALS = ("ifdef", "ifndef", "ifeq", "ifneq", "else", "endif")


class Reader:
    """Reads one text: a makefile, or what `$(eval …)` gives."""

    def __init__(self, build: Build, text: str, name: str, line: int = 1) -> None:
        self.build = build
        self.budget = build.ctx.budget
        self.name = name
        self.lines = text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()
        self.at = 0
        self.first_line = line
        self.conditions: list[tuple[int, bool]] = []
        """(state, whether `else` was seen): 0 reads, 1 ignores until `else`, 2 to the end."""
        self.pending: PendingRule | None = None
        self.no_targets = False
        self.is_fixed_place = False

    @property
    def scope(self) -> Scope:
        """The variables of the makefile."""
        return self.build.scope

    def fatal(self, message: str, place: Place | None = None) -> FatalError:
        """Return the error that ends make, with the place of the current line."""
        return self.build.fatal(message, place or self.place)

    def expand(self, text: str) -> str:
        """Expand text of the current line."""
        expander = self.build.expander
        saved, expander.place = expander.place, self.place
        value = expander.expand(text, self.scope)
        expander.place = saved
        return value

    def read(self) -> None:
        """Read all of the text."""
        while (line := self._next_line()) is not None:
            self._read_line(line)
        if self.conditions:
            place = (self.name, self.first_line + len(self.lines))
            raise self.fatal("missing 'endif'", place if not self.is_fixed_place else None)
        self.record()

    def _next_line(self) -> str | None:
        if self.at >= len(self.lines):
            return None
        if not self.is_fixed_place:
            self.place: Place = (self.name, self.first_line + self.at)
        first = self.at
        while True:
            self.budget.step()
            line = self.lines[self.at]
            self.at += 1
            backslashes = len(line) - len(line.rstrip("\\"))
            if backslashes % 2 == 0 or self.at >= len(self.lines):
                break
        if self.at - first == 1:
            return self.lines[first]
        return "\n".join(self.lines[first : self.at])

    @property
    def is_ignoring(self) -> bool:
        """Whether a condition is false here."""
        return any(state for state, _ in self.conditions)

    def _read_line(self, line: str) -> None:
        if not line:
            return
        is_recipe = line.startswith(self.build.recipe_prefix)
        if is_recipe:
            if self.no_targets:
                return
            if self.pending is not None:
                if not self.is_ignoring:
                    self.pending.add_recipe(line[1:], self.place)
                return
        whole = line
        line = strip_comment(join_lines(line))
        if not line.strip(BLANKS):
            return
        if self._assign(line):
            return
        word = KEYWORD.match(line)
        keyword = "" if word is None else word[1]
        after = "" if word is None else line[word.end() :]
        keyword, after = self._cut_keyword(keyword, after)
        if keyword in _CONDITIONALS:
            self._condition(keyword, after)
            return
        if self.is_ignoring:
            return
        if keyword in ("export", "unexport"):
            self._export(after, is_exported=keyword == "export")
        elif keyword == "vpath":
            self._vpath(after)
        elif keyword in ("include", "-include", "sinclude"):
            self._include(after, is_optional=keyword != "include")
        elif keyword in ("load", "-load"):
            raise self.fatal("'load' is not available in this sandbox")
        elif is_recipe:
            raise self.fatal("recipe commences before first target")
        else:
            self._rule(whole)

    def _cut_keyword(self, keyword: str, after: str) -> tuple[str, str]:
        """Split `ifeq(a,b)`, which make accepts."""
        for name in ("ifeq", "ifneq"):
            if keyword.startswith((f"{name}(", f'{name}"', f"{name}'")):
                return name, f"{keyword[len(name) :]} {after}"
        return keyword, after

    # Conditionals

    def _condition(self, keyword: str, text: str) -> None:
        if keyword == "endif":
            if not self.conditions:
                raise self.fatal("extraneous 'endif'")
            if text.strip(BLANKS):
                self._warn("extraneous text after 'endif' directive")
            self.conditions.pop()
        elif keyword == "else":
            self._else(text)
        else:
            is_outer = self.is_ignoring
            self.conditions.append((2, False))
            if not is_outer:
                self.conditions[-1] = (0 if self._holds(keyword, text) else 1, False)

    def _else(self, text: str) -> None:
        if not self.conditions:
            raise self.fatal("extraneous 'else'")
        state, seen = self.conditions[-1]
        if seen:
            raise self.fatal("only one 'else' per conditional")
        if not text.strip(BLANKS):
            self.conditions[-1] = (2 if state == 0 else 0 if state == 1 else state, True)
            return
        word = KEYWORD.match(text)
        assert word is not None
        keyword, after = self._cut_keyword(word[1], text[word.end() :])
        if keyword not in _CONDITIONALS[:4]:
            self._warn("extraneous text after 'else' directive")
            self.conditions[-1] = (2 if state == 0 else 0 if state == 1 else state, True)
        elif state != 1:
            self.conditions[-1] = (2, False)
        else:
            self.conditions[-1] = (2, False)
            outer = any(state for state, _ in self.conditions[:-1])
            holds = not outer and self._holds(keyword, after)
            self.conditions[-1] = (0 if holds else 1, False)

    def _warn(self, message: str) -> None:
        self.build.say_at(self.place, message)

    def _holds(self, keyword: str, text: str) -> bool:
        if keyword in ("ifdef", "ifndef"):
            name = self.expand(text).strip(BLANKS)
            if not name or len(words_of(name)) > 1:
                raise self.fatal("invalid syntax in conditional")
            variable = self.scope.find(name)
            return (variable is not None and variable.value != "") is (keyword == "ifdef")
        first, second = self._compared(text)
        return (self.expand(first) == self.expand(second)) is (keyword == "ifeq")

    def _compared(self, text: str) -> tuple[str, str]:
        text = text.strip(BLANKS)
        if text.startswith("("):
            level, comma = 0, -1
            for found in re.finditer(r"[(),]", text):
                self.budget.step()
                if found[0] == "(":
                    level += 1
                elif found[0] == ",":
                    comma = found.start() if level == 1 and comma < 0 else comma
                else:
                    level -= 1
                    if not level and comma >= 0:
                        self._check_end(text[found.end() :])
                        first, second = text[1:comma], text[comma + 1 : found.start()]
                        return first.rstrip(BLANKS), second.lstrip(BLANKS)
            raise self.fatal("invalid syntax in conditional")
        parts: list[str] = []
        for _ in range(2):
            quote = text[:1]
            end = text.find(quote, 1) if quote in ('"', "'") else -1
            if end < 0:
                raise self.fatal("invalid syntax in conditional")
            parts.append(text[1:end])
            text = text[end + 1 :].lstrip(BLANKS)
        self._check_end(text)
        return parts[0], parts[1]

    def _check_end(self, text: str) -> None:
        if text.strip(BLANKS):
            self._warn("extraneous text after 'ifeq' directive")

    # Variables

    def _assign(self, line: str) -> bool:
        """Carry out an assignment; whether the line is one."""
        found = parse_assignment(line)
        if found is None:
            return False
        if self.is_ignoring:
            if "define" in found.modifiers:
                self._definition(skip=True)
            return True
        self.record()
        origin = OVERRIDE if "override" in found.modifiers else FILE
        if "undefine" in found.modifiers:
            name = self._name(found.name, "undefine")
            known = self.scope.variables.get(name)
            if known is not None and known.origin <= origin:
                del self.scope.variables[name]
            return True
        if "define" in found.modifiers:
            self._define(found, origin)
            return True
        variable = self.build.assign(
            self.scope, self._name(found.name), found.operator, found.value, origin, self.place
        )
        self._mark(variable.name, found.modifiers)
        return True

    def _mark(self, name: str, modifiers: frozenset[str]) -> None:
        variable = self.scope.variables[name]
        if "export" in modifiers:
            variable.exported = True
        if "private" in modifiers:
            variable.private = True

    def _name(self, text: str, purpose: str = "") -> str:
        name = self.expand(text).strip(BLANKS)
        if not name:
            raise self.fatal("empty variable name")
        return name

    def _define(self, found: Assignment, origin: int) -> None:
        operator = "="
        text = found.name
        match = OPERATORS.search(text)
        place = self.place
        if match is not None:
            operator = match[0]
            rest = text[match.end() :]
            text = text[: match.start()]
            if rest.strip(BLANKS):
                self._warn("extraneous text after 'define' directive")
        name = self._name(text)
        value = self._definition()
        self.build.assign(self.scope, name, operator, value, origin, place)
        self._mark(name, found.modifiers)

    def _definition(self, *, skip: bool = False) -> str:
        """Return the lines up to the `endef` of a `define`."""
        place, level = self.place, 1
        lines: list[str] = []
        while self.at < len(self.lines):
            line = self._next_line()
            assert line is not None
            if not line.startswith(self.build.recipe_prefix):
                words = words_of(strip_comment(join_lines(line)))
                if words[:1] == ["define"] and len(words) > 1:
                    level += 1
                elif words[:1] == ["endef"]:
                    level -= 1
                    if not level:
                        return "\n".join(lines)
            lines.append(line)
        if skip:
            return ""
        raise self.fatal("missing 'endef', unterminated 'define'", place)

    def _export(self, text: str, *, is_exported: bool) -> None:
        self.record()
        if not text.strip(BLANKS):
            self.build.export_all = is_exported
            return
        for name in words_of(self.expand(text)):
            found = self.scope.variables.get(name)
            if found is None:
                found = self.scope.set(name, "", FILE, place=self.place)
            found.exported = is_exported

    def _vpath(self, text: str) -> None:
        words = words_of(self.expand(text))
        paths = self.build.graph.paths
        if not words:
            paths.clear()
            return
        directories = [each for word in words[1:] for each in word.split(":") if each]
        if not directories:
            paths[:] = [each for each in paths if each[0] != words[0]]
        else:
            paths.append((words[0], directories))

    def _include(self, text: str, *, is_optional: bool) -> None:
        self.record()
        for word in words_of(self.expand(text)):
            for name in self.build.graph.wildcard(word):
                self.budget.nested(
                    lambda name=name: self.build.read_file(  # type: ignore[misc]
                        name, included=self.place, is_optional=is_optional
                    )
                )

    # Rules

    def record(self) -> None:
        """Record the rule above, which ends here."""
        pending, self.pending = self.pending, None
        self.no_targets = False
        if pending is not None:
            record_rule(self.build, pending)

    def _rule(self, whole: str) -> None:
        """Read a line with targets."""
        self.record()
        semicolon = find_unquoted(whole, ";#")
        recipe: str | None = None
        line = whole
        if semicolon >= 0:
            if whole[semicolon] == ";":
                recipe = whole[semicolon + 1 :]
            line = whole[:semicolon]
        line = strip_comment(join_lines(line))
        colon = find_unquoted(line, ":")
        if colon >= 0:
            left, right = self.expand(line[:colon]), line[colon:]
            inner = find_unquoted(left, ":")
            if inner >= 0:  # the colon is part of a variable's value
                left, right = left[:inner], f"{left[inner:]}{right}"
        else:
            text = self.expand(line)
            if recipe is None and (found := find_unquoted(text, ";")) >= 0:
                text, recipe = text[:found], text[found + 1 :]
            inner = find_unquoted(text, ":")
            if inner < 0:
                self._no_colon(whole, text, recipe)
                return
            left, right = text[:inner], text[inner:].replace("$", "$$")
        grouped = left.endswith("&") and left[-2:-1] in ("", " ", "\t")
        left = left[:-1] if grouped else left
        targets = [
            name.replace("\\:", ":").replace("\\#", "#")
            for word in names_of(left)
            for name in self.build.graph.wildcard(word)
        ]
        if not targets:
            self.no_targets = True
            return
        double = right.startswith("::") and not right.startswith("::=")
        right = right[2 if double else 1 :]
        variable = parse_assignment(right, in_target=True)
        if variable is not None:
            if recipe is not None:
                variable.value += f";{recipe}"
            set_target_variable(self.build, targets, variable, self.place)
            return
        self._prerequisites(targets, right, recipe, double=double, grouped=grouped)

    def _no_colon(self, whole: str, text: str, recipe: str | None) -> None:
        if not text.strip(BLANKS):
            if recipe is not None and not whole[: whole.find(";")].strip(BLANKS):
                raise self.fatal("missing rule before recipe")
            return
        if whole.startswith("        "):
            raise self.fatal("missing separator (did you mean TAB instead of 8 spaces?)")
        raise self.fatal("missing separator")

    def _prerequisites(
        self, targets: list[str], right: str, recipe: str | None, *, double: bool, grouped: bool
    ) -> None:
        is_second = self.build.second_expansion
        text = self.expand(right)
        if recipe is None and (found := find_unquoted(text, ";")) >= 0 and not is_second:
            text, recipe = text[:found], text[found + 1 :]
        pattern: str | None = None
        colon = find_unquoted(text, ":")
        if colon >= 0:
            patterns, text = words_of(text[:colon]), text[colon + 1 :]
            if not patterns:
                raise self.fatal("missing target pattern")
            if len(patterns) > 1:
                raise self.fatal("multiple target patterns")
            pattern = patterns[0]
            if "%" not in pattern:
                raise self.fatal("target pattern contains no '%'")
        self.pending = PendingRule(
            targets, text, pattern, self.place, double=double, grouped=grouped
        )
        if recipe is not None:
            self.pending.add_recipe(recipe.lstrip(" \t"), self.place)


def read_source(build: Build, path: str) -> str:
    """Return the text of a makefile, "" of an empty one."""
    if path == "-":
        data = build.ctx.stdin.read()
    else:
        data = build.ctx.fs.read_bytes(build.ctx.path(path))
    build.ctx.budget.charge(len(data))
    text = decode(data)
    return text.replace("\r\n", "\n") if "\r\n" in text else text
