"""Expansion: `$(name)`, `$(name:a=b)`, `$(function arguments)`.

The end of a reference is found first, by counting the brackets of its own kind; then what is inside
is expanded. Each level of a variable inside a variable is a level of nesting of the budget.
"""

from __future__ import annotations

import re

from agentsandbox.commands.make.functions import FUNCTIONS, substitute_pattern
from agentsandbox.commands.make.variables import AUTOMATIC, ORIGINS, FatalError, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands.make.variables import Place, Scope, Surroundings, Variable

_CLOSING = {"(": ")", "{": "}"}
_BRACKETS = {"(": re.compile(r"[()]"), "{": re.compile(r"[{}]")}
_SEPARATORS = {"(": re.compile(r"[(),]"), "{": re.compile(r"[{},]")}
_FUNCTION = re.compile(r"([a-z-]+)[ \t\n]+")
_OF_PARTS = re.compile(r"([@%<^+?*|])([DF])\Z")


class Expander:
    """Expands text for one run of make."""

    def __init__(self, build: Surroundings) -> None:
        self.build = build
        self.budget = build.ctx.budget
        self.place: Place | None = None
        """Where the text that is being expanded is written, for messages."""

    def fatal(self, message: str) -> FatalError:
        """Return the error that ends make with this message and the place."""
        return self.build.fatal(message, self.place)

    def expand(self, text: str, scope: Scope) -> str:
        """Return the text with all references replaced."""
        at = text.find("$")
        if at < 0:
            return text
        self.budget.step(1 + (len(text) >> 6))
        out: list[str] = []
        start = size = 0
        while at >= 0:
            piece, end = self._reference(text, at + 1, scope)
            out += (text[start:at], piece)
            size += len(piece)
            self.budget.charge(size)
            start = end
            at = text.find("$", start)
        out.append(text[start:])
        return "".join(out)

    def _reference(self, text: str, at: int, scope: Scope) -> tuple[str, int]:
        """Return the value of the reference after a `$`, and where it ends."""
        first = text[at : at + 1]
        if first == "$" or not first:
            return "$", at + 1
        if first not in _CLOSING:
            return ("$" + first if first.isspace() else self.value_of(first, scope)), at + 1
        name = _FUNCTION.match(text, at + 1)
        if name is not None and name[1] in FUNCTIONS:
            arguments, end = self._arguments(text, name.end(), first, name[1])
            return self.budget.nested(lambda: self.call(name[1], arguments, scope)), end
        end = text.find(_CLOSING[first], at + 1)
        if end >= 0 and "$" in text[at + 1 : end]:
            end = self._closing(text, at + 1, first)
            if end >= 0:
                inside = text[at + 1 : end]
                inner = self.budget.nested(lambda: self.expand(inside, scope))
                return self._value(inner, scope), end + 1
        if end < 0:
            raise self.fatal("unterminated variable reference")
        return self._value(text[at + 1 : end], scope), end + 1

    def _closing(self, text: str, start: int, opening: str) -> int:
        """Return where the bracket that was opened before `start` closes, -1 if it does not."""
        level = 1
        for found in _BRACKETS[opening].finditer(text, start):
            self.budget.step()
            level += 1 if found[0] == opening else -1
            if not level:
                return found.start()
        return -1

    def _arguments(self, text: str, start: int, opening: str, name: str) -> tuple[list[str], int]:
        """Return the unexpanded arguments of a function, and where the call ends."""
        _, most, _ = FUNCTIONS[name]
        arguments: list[str] = []
        level, begin = 1, start
        for found in _SEPARATORS[opening].finditer(text, start):
            self.budget.step()
            if found[0] == opening:
                level += 1
            elif found[0] == ",":
                if level == 1 and len(arguments) + 1 != most:
                    arguments.append(text[begin : found.start()])
                    begin = found.end()
            else:
                level -= 1
                if not level:
                    arguments.append(text[begin : found.start()])
                    return arguments, found.end()
        closing = _CLOSING[opening]
        raise self.fatal(f"unterminated call to function '{name}': missing '{closing}'")

    def call(self, name: str, arguments: list[str], scope: Scope) -> str:
        """Return the value of a function of make."""
        least, _, function = FUNCTIONS[name]
        if len(arguments) < least:
            raise self.fatal(
                f"insufficient number of arguments ({len(arguments)}) to function '{name}'"
            )
        return function(self, arguments, scope)

    def _value(self, name: str, scope: Scope) -> str:
        """Return the value of `name` or of `name:from=to`."""
        colon = name.find(":")
        equals = name.find("=", colon) if colon > 0 else -1
        if equals < 0:
            return self.value_of(name, scope)
        before, after = name[colon + 1 : equals], name[equals + 1 :]
        value = self.value_of(name[:colon], scope)
        if "%" not in before:
            before, after = f"%{before}", f"%{after}"
        return " ".join([substitute_pattern(before, after, word) for word in self.counted(value)])

    def counted(self, text: str) -> list[str]:
        """Return the words of a text, a step each."""
        words = words_of(text)
        self.budget.step(len(words) + 1)
        return words

    def value_of(self, name: str, scope: Scope) -> str:
        """Return the expanded value of a variable, "" for an unknown one."""
        variable = scope.find(name)
        if variable is None:
            return self._unknown(name, scope)
        if variable.append:
            return self._appended(variable, scope)
        if not variable.recursive or "$" not in variable.value:
            return variable.value
        return self.recursive(variable, variable.value, scope)

    def recursive(self, variable: Variable, text: str, scope: Scope) -> str:
        """Expand a value of a variable, which must not refer to itself."""
        if variable.expanding == 1:
            if variable.place is not None:
                self.place = variable.place
            raise self.fatal(f"Recursive variable '{variable.name}' references itself (eventually)")
        place = self.place
        if variable.place is not None and variable.origin != AUTOMATIC:
            self.place = variable.place
        variable.expanding += 1
        value = self.budget.nested(lambda: self.expand(text, scope))
        variable.expanding -= 1
        self.place = place
        return value

    def _appended(self, variable: Variable, scope: Scope) -> str:
        outer = scope.beyond(variable)
        before = "" if outer is None else self.value_of(variable.name, outer)
        value = variable.value
        if variable.recursive:
            value = self.recursive(variable, value, scope)
        return f"{before} {value}" if before else value

    def _unknown(self, name: str, scope: Scope) -> str:
        """Return what is computed when it is asked for, or warn of an unknown variable."""
        if name == ".VARIABLES":
            return " ".join(dict.fromkeys(n for each in scope.chain() for n in each.variables))
        part = _OF_PARTS.match(name)
        if part is not None and scope.find(part[1]) is not None:
            found = self.call("dir" if part[2] == "D" else "notdir", [f"$({part[1]})"], scope)
            if part[2] == "F":
                return found
            return " ".join([word.rstrip("/") or "/" for word in words_of(found)])
        if self.build.warns_undefined and name:
            self.build.say_at(self.place, f"warning: undefined variable '{name}'")
        return ""

    def origin_of(self, name: str, scope: Scope) -> str:
        """Return the words of `$(origin name)`."""
        variable = scope.find(name)
        return "undefined" if variable is None else ORIGINS[variable.origin]
