"""Running recipes: their lines, what is printed, and the processes.

A line without characters that mean something to a shell is run as a program of its own, as make
does; all others by `$(SHELL) $(.SHELLFLAGS)`. All lines of a recipe are expanded before the first
one runs. With one job a recipe runs to its end at once; with several each line is a process, and
`reap` waits for the next one that ends.
"""

from __future__ import annotations

import os

from agentsandbox.commands._processes.programs import find_problem
from agentsandbox.commands.make.graph import FAILED, MISSING, QUESTION, SUCCESS, Recipe, Target
from agentsandbox.commands.make.syntax import after_reference, join_lines
from agentsandbox.commands.make.variables import (
    AUTOMATIC,
    COMMAND,
    DEFAULT,
    ENVIRONMENT,
    ENVIRONMENT_OVERRIDE,
    FatalError,
    Scope,
    Variable,
    is_shell_name,
)
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.commands.make.contract import Build
    from agentsandbox.kernel.processes import Process
    from agentsandbox.kernel.streams import ByteWriter

_SPECIAL = frozenset('#;"*?[]&|<>(){}$`^~!')
_SHELL_WORDS = frozenset(
    ". : alias bg break case cd command continue eval exec exit export fc fg for getopts hash if "
    "jobs login logout read readonly return set shift test times trap type ulimit umask unalias "
    "unset wait while".split()
)
_PREFIXES = " \t\n\v\f\r@+-"


class Line:
    """A line of a recipe, expanded, with what its prefixes say."""

    __slots__ = ("always", "ignore", "number", "silent", "text")

    def __init__(self, text: str, prefixes: str, number: int) -> None:
        self.text = text
        self.silent = "@" in prefixes
        self.ignore = "-" in prefixes
        self.always = "+" in prefixes
        self.number = number


class Job:
    """The recipe of one target, as it runs."""

    __slots__ = ("at", "environment", "lines", "process", "target")

    def __init__(self, target: Target, lines: list[Line], environment: dict[str, str]) -> None:
        self.target = target
        self.lines = lines
        self.environment = environment
        self.at = 0
        self.process: Process | None = None


def split_lines(text: str) -> list[str]:
    """Return the lines of a recipe; a backslash at the end joins two."""
    lines: list[str] = []
    begun: list[str] = []
    for part in text.split("\n")[:-1]:
        begun.append(part)
        if (len(part) - len(part.rstrip("\\"))) % 2 == 0:
            lines.append("\n".join(begun))
            begun = []
    return lines + (["\n".join(begun)] if begun else [])


def _split_prefixes(line: str) -> tuple[str, str]:
    body = line.lstrip(_PREFIXES)
    return line[: len(line) - len(body)], body


def plain_words(text: str) -> list[str] | None:
    """Return the words of a command that needs no shell, None for one that does."""
    words: list[str] = []
    word: list[str] | None = None
    at, end = 0, len(text)
    while at < end:
        letter = text[at]
        at += 1
        if letter in " \t":
            words += [] if word is None else ["".join(word)]
            word = None
            continue
        word = [] if word is None else word
        if letter == "'":
            close = text.find("'", at)
            if close < 0:
                return None
            word.append(text[at:close].replace("\\\n", ""))
            at = close + 1
        elif letter == "\\":
            if at >= end:
                return None
            if text[at] != "\n":
                word.append(text[at])
            elif not word:
                word = None
            at += 1
        elif letter in _SPECIAL or letter == "\n" or (letter == "=" and not words):
            return None
        else:
            word.append(letter)
    words += [] if word is None else ["".join(word)]
    return None if words and words[0] in _SHELL_WORDS else words


def collapse_references(line: str) -> str:
    """Join lines inside references, and remove the tab at the beginning of further lines."""
    if "\n" not in line:
        return line
    out: list[str] = []
    at = 0
    while True:
        start = line.find("$", at)
        if start < 0:
            out.append(line[at:].replace("\\\n\t", "\\\n"))
            return "".join(out)
        end = min(after_reference(line, start), len(line))
        out += (line[at:start].replace("\\\n\t", "\\\n"), join_lines(line[start:end]))
        at = end


class Recipes:
    """Runs the recipes of one run of make."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.options = build.options
        self.running: list[Job] = []
        self.is_dying = False

    def is_recursive(self, recipe: Recipe) -> bool:
        """Whether lines of a recipe run even with -n, -q and -t."""
        return any(
            "+" in _split_prefixes(line)[0] or "$(MAKE)" in line or "${MAKE}" in line
            for line in split_lines(recipe.text)
        )

    # Automatic variables

    def set_automatic(self, scope: Scope, target: Target, *, stem: str | None = None) -> None:
        """Set `$@`, `$<` and the like."""
        graph = self.build.graph
        normal: list[str] = []
        ordered: list[str] = []
        newer: list[str] = []
        for need in target.needs:
            if need.wait_second:
                continue
            name = need.name if need.target is None else need.target.path
            if need.order_only:
                ordered.append(name)
                continue
            normal.append(name)
            if need.changed:
                newer.append(name)
        unique = list(dict.fromkeys(normal))
        values = {
            "@": target.name,
            "%": "",
            "*": target.stem if stem is None else stem,
            "<": normal[0] if normal else "",
            "^": " ".join(unique),
            "+": " ".join(normal),
            "?": " ".join(dict.fromkeys(newer)),
            "|": " ".join([name for name in dict.fromkeys(ordered) if name not in set(normal)]),
        }
        if not values["*"] and stem is None:
            values["*"] = self._suffix_stem(target.name)
        if (
            target.recipe is graph.targets.get(".DEFAULT", target).recipe
            and target.name != (".DEFAULT")
            and ".DEFAULT" in graph.targets
            and target.recipe is not None
        ):
            values["<"] = target.name
        for name, value in values.items():
            scope.variables[name] = Variable(name, value, AUTOMATIC, recursive=False)

    def _suffix_stem(self, name: str) -> str:
        for suffix in self.build.suffixes:
            if name.endswith(suffix) and len(name) > len(suffix):
                return name[: len(name) - len(suffix)]
        return ""

    # The environment

    def environment(self, scope: Scope) -> dict[str, str]:
        """Return what recipes get in the environment."""
        build = self.build
        found: dict[str, str] = {}
        seen: set[str] = set()
        for layer in scope.chain():
            for name, variable in layer.variables.items():
                if name in seen:
                    continue
                build.ctx.budget.step()
                seen.add(name)
                if not self._is_exported(variable):
                    continue
                if variable.origin in (ENVIRONMENT, ENVIRONMENT_OVERRIDE):
                    found[name] = variable.value
                else:
                    place, build.expander.place = build.expander.place, None
                    found[name] = build.expander.value_of(name, scope)
                    build.expander.place = place
        if "SHELL" not in found and "SHELL" in build.ctx.env:
            found["SHELL"] = build.ctx.env["SHELL"]
        found["MAKELEVEL"] = str(build.level + 1)
        return found

    def _is_exported(self, variable: Variable) -> bool:
        exported = variable.exported
        if exported is None:
            outer = self.build.scope.variables.get(variable.name)
            exported = outer.exported if outer is not None else None
        if exported is not None:
            return exported
        if variable.origin in (DEFAULT, AUTOMATIC) or variable.name == "SHELL":
            return False
        if variable.origin in (COMMAND, ENVIRONMENT, ENVIRONMENT_OVERRIDE):
            return is_shell_name(variable.name) or variable.name in self.build.ctx.env
        if variable.name in self.build.ctx.env:
            return True
        return self.build.export_all and is_shell_name(variable.name)

    # Running

    def start(self, target: Target) -> None:
        """Run the recipe of a target, or begin to."""
        recipe = target.recipe
        assert recipe is not None
        if not recipe.text.strip(_PREFIXES):
            target.status = SUCCESS
            self.build.walker.finish(target, ran=True)
            return
        while self.running and len(self.running) >= self.build.jobs:
            self.reap()
        scope = self.build.walker.scope_of(target)
        inner = Scope(scope, inherits_private=True)
        self.set_automatic(inner, target)
        target.running = True
        lines = self._expanded(recipe, inner)
        job = Job(target, lines, self.environment(inner))
        target.scope = scope
        self.running.append(job)
        self._advance(job, inner)

    def _expanded(self, recipe: Recipe, scope: Scope) -> list[Line]:
        expander = self.build.expander
        saved = expander.place
        texts = split_lines(recipe.text)
        if self.build.one_shell:
            texts = ["\n".join(texts)]
        lines: list[Line] = []
        for number, text in enumerate(texts):
            if recipe.place is not None:
                expander.place = (recipe.place[0], recipe.place[1] + number)
            prefixes, _ = _split_prefixes(text)
            value = expander.expand(collapse_references(text), scope)
            more, body = _split_prefixes(value)
            if "$(MAKE)" in text or "${MAKE}" in text:
                prefixes += "+"
            if self.build.one_shell:
                body = "\n".join([_split_prefixes(each)[1] for each in body.split("\n")])
                lines.append(Line(body, prefixes + more, number))
                continue
            for part in split_lines(f"{value}\n"):
                more, body = _split_prefixes(part)
                lines.append(Line(body, prefixes + more, number))
        expander.place = saved
        return lines

    def _is_silent(self, job: Job, line: Line) -> bool:
        return line.silent or self.options.silent or self.build.is_special(".SILENT", job.target)

    def _advance(self, job: Job, scope: Scope) -> None:
        """Run the lines up to the end, or up to one that runs as a process."""
        build, target = self.build, job.target
        while job.at < len(job.lines):
            line = job.lines[job.at]
            job.at += 1
            build.ctx.budget.step()
            if not line.text.strip():
                continue
            if self.options.question and not line.always:
                target.status = QUESTION
                self._end(job)
                return
            if self.options.touch and not line.always:
                continue
            if self.options.just_print or not self._is_silent(job, line):
                build.ctx.print(line.text)
            build.walker.started += 1
            if (self.options.just_print and not line.always) or line.text == ":":
                continue
            if build.jobs > 1:
                job.process = self.start_command(line.text, job.environment, scope)
                if job.process is not None:
                    return
                status = 127
            else:
                status = self.run_command(line.text, job.environment, scope)
            if status and not self._failed(job, line, status):
                return
        target.status = SUCCESS
        self._end(job)

    def _end(self, job: Job) -> None:
        self.running.remove(job)
        self.build.walker.finish(job.target, ran=True)

    def _failed(self, job: Job, line: Line, status: int) -> bool:
        """Report that a line failed; whether the recipe goes on."""
        build, target = self.build, job.target
        recipe = target.recipe
        place = None if recipe is None else recipe.place
        where = "<builtin>" if place is None else f"{place[0]}:{place[1] + line.number}"
        ignored = line.ignore or self.options.ignore or build.is_special(".IGNORE", target)
        after = " (ignored)" if ignored else ""
        stars = "" if ignored else "*** "
        if not (target.dont_care and build.walker.for_makefiles and not ignored):
            build.say(f"{stars}[{where}: {target.name}] Error {status}{after}")
        if ignored:
            return True
        target.status = FAILED
        if ".DELETE_ON_ERROR" in build.graph.targets:
            self._delete(target)
        self._end(job)
        if not (self.options.keep_going or self.is_dying or target.dont_care):
            raise FatalError("")
        return False

    def _delete(self, target: Target) -> None:
        build = self.build
        for name in [target.name, *[other.name for other in target.also_made]]:
            before = target.time if target.time is not None else MISSING
            now = build.graph.time_of_file(name)
            if target.phony or target.precious or now in (MISSING, before):
                continue
            build.say(f"*** Deleting file '{name}'")
            build.ctx.fs.unlink(build.ctx.path(name))

    def reap(self) -> None:
        """Wait until a process of a recipe ends, and go on with that recipe."""
        running = [job for job in self.running if job.process is not None]
        if not running:
            return
        scheduler = self.build.ctx.host.scheduler
        scheduler.block(lambda: any(job.process.finished() for job in running if job.process))
        for job in running:
            process = job.process
            if process is None or not process.finished():
                continue
            job.process = None
            line = job.lines[job.at - 1]
            status = process.status or 0
            if status and not self._failed(job, line, status):
                continue
            inner = Scope(self.build.walker.scope_of(job.target), inherits_private=True)
            self._advance(job, inner)

    def wait_for_all(self) -> None:
        """Wait for all recipes that run, when make ends because of an error."""
        self.is_dying = True
        if any(job.process is not None for job in self.running):
            self.build.say("*** Waiting for unfinished jobs....")
        while any(job.process is not None for job in self.running):
            for job in self.running:
                job.lines = job.lines[: job.at]
            self.reap()

    def _words(self, text: str, scope: Scope) -> list[str]:
        """Return the words of the program that runs a line."""
        value_of = self.build.expander.value_of
        shell = value_of("SHELL", scope) or "/bin/sh"
        flags = value_of(".SHELLFLAGS", scope).split()
        if shell in ("/bin/sh", "sh") and flags in (["-c"], ["-ec"]) and not self.build.one_shell:
            words = plain_words(text)
            if words is not None:
                return words
        return [*shell.split(), *flags, text]

    def _prepared(self, text: str, environment: Mapping[str, str], scope: Scope) -> list[str] | int:
        """Return the words of the program, or the status if it is not there."""
        words = self._words(text, scope)
        if not words:
            return 0
        problem = find_problem(self.build.ctx, words[0], environment)
        if not problem:
            return words
        self.build.say(f"{words[0]}: {os.strerror(problem)}")
        return 127

    def run_command(
        self,
        text: str,
        environment: Mapping[str, str],
        scope: Scope,
        *,
        stdout: ByteWriter | None = None,
    ) -> int:
        """Run a line and return its status."""
        words = self._prepared(text, environment, scope)
        if isinstance(words, int):
            return words
        ctx = self.build.ctx
        return ctx.run(words, env=environment, cwd=ctx.cwd, stdout=stdout)

    def start_command(
        self, text: str, environment: Mapping[str, str], scope: Scope
    ) -> Process | None:
        """Start a line as a process; None if its program is not there."""
        words = self._prepared(text, environment, scope)
        if isinstance(words, int):
            return None
        ctx = self.build.ctx
        return ctx.start(words, env=environment, cwd=ctx.cwd)


def removal_line(names: list[str]) -> bytes:
    """Return what make prints when it removes intermediate files."""
    return encode(f"rm {' '.join(names)}\n")
