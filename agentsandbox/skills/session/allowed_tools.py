"""The commands that a skill's `allowed-tools` allow its scripts.

The sandbox asks before every simple command of a script. `Bash` allows all commands, `Bash(git:*)`
the command git, `Bash(git add:*)` commands that start with these words, `Bash(make test)` only that
command. `Read`, `Grep`, `Glob`, `Write` and `Edit` allow the commands that do the same work. The
shell's builtins are always allowed, because they reach nothing themselves; each command that they
run is asked for again.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from agentsandbox.skills.session.rendering import split_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from typing import Any

    Rule = Callable[[Any], str | None]

_BASH = re.compile(r"(?:Bash|Shell)\((?P<pattern>.*)\)", re.IGNORECASE | re.DOTALL)

READERS = {
    "read": (
        "basename cat cmp diff dirname du file head ls md5sum nl od readlink realpath sha256sum "
        "stat tac tail tree wc"
    ).split(),
    "grep": ["grep", "egrep", "fgrep", "rg"],
    "glob": ["find", "ls"],
}
WRITING = {
    "find": re.compile(r"-(?:delete|fprint0?|fprintf|fls)"),
    "tree": re.compile(r"-[^-]*o.*|--o.*", re.DOTALL),
}
"""Options with which some of these commands write."""
WRITERS = {
    "write": ["cp", "install", "ln", "mkdir", "mktemp", "mv", "rm", "rmdir", "tee", "touch"],
    "edit": ["sed", "patch", "ed", "tee"],
}
BUILTINS = frozenset(
    """
    . : [ [[ alias bg bind break builtin caller cd command compgen complete compopt continue coproc
    declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs
    let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt
    source suspend test times trap true type typeset ulimit umask unalias unset wait
    env nice nohup sh bash time timeout xargs
    """.split()
)
"""Builtins, and commands that only run other commands."""


class AllowedTools:
    """The tools that a skill may use: the words of its `allowed-tools`."""

    __slots__ = ("_everything", "_exact", "_prefixes", "_readers", "tools")

    def __init__(self, tools: Iterable[str]) -> None:
        self.tools = tuple(tools)
        self._everything = False
        self._exact: list[list[str]] = []
        self._prefixes: list[list[str]] = []
        self._readers: list[str] = []
        for tool in self.tools:
            self._allow(tool)

    def refusal(self, argv: Sequence[str], *, function: bool = False) -> str | None:
        """Return why a command must not run, None if it may; a `function` is the script's own."""
        if self._everything or function or not argv:
            return None
        name = argv[0].rsplit("/", 1)[-1]
        words = [name, *argv[1:]]
        if name in BUILTINS or words in self._exact:
            return None
        if any(words[: len(prefix)] == prefix for prefix in self._prefixes):
            return None
        if name in self._readers and not (
            name in WRITING and any(WRITING[name].fullmatch(word) for word in words[1:])
        ):
            return None
        return f"not among the skill's allowed tools: {' '.join(self.tools) or 'none'}"

    def rule(
        self,
        skill: str,
        root: str,
        interpreters: Collection[str],
        note: Callable[[str], None] | None = None,
    ) -> Rule:
        """Return the policy for a sandbox: it returns why a command must not run, or None.

        Scripts below `root`, the skill's directory, may be run, by themselves or by the commands
        `interpreters`; the commands of such a script are asked for again. With `note` nothing is
        refused: `note` is called with what would be.
        """

        def runs_own_script(request: Any) -> bool:
            words = request.argv[1:] if request.argv[0] in interpreters else request.argv
            return "/" in "".join(words[:1]) and posixpath.normpath(
                posixpath.join(request.cwd, words[0])
            ).startswith(f"{root}/")

        def ask(request: Any) -> str | None:
            if runs_own_script(request):
                return None
            refusal = self.refusal(request.argv, function=request.is_function)
            if refusal is not None and note is not None:
                note(f"{skill}: {request.argv[0]}: {refusal}")
                return None
            return refusal

        return ask

    def _allow(self, tool: str) -> None:
        match = _BASH.fullmatch(tool)
        if match is None:
            self._everything |= tool.lower() in ("bash", "shell", "*")
            kind = tool.partition("(")[0].lower()
            self._prefixes += [[name] for name in WRITERS.get(kind, ())]
            self._readers += READERS.get(kind, ())
            return
        for pattern in match["pattern"].split(","):
            text, star, _ = pattern.strip().partition(":*")
            if not star and text.endswith(" *"):
                text, star = text[:-2], "*"
            if text in ("*", ""):
                self._everything |= text == "*"
                continue
            (self._prefixes if star else self._exact).append(split_words(text))
