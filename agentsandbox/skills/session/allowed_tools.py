"""The commands that a skill's `allowed-tools` allow its scripts.

The sandbox asks before every simple command of a script. `Bash` allows all commands, `Bash(git:*)`
the command git, `Bash(git add:*)` commands that start with these words, `Bash(make test)` only that
command, `Bash(./scripts/*.sh *)` scripts at such paths (`tool_patterns` has the rules). `Read`,
`Grep`, `Glob`, `Write` and `Edit` allow the commands that do the same work, `Read(/data/**)` only
with such files as operands. The shell's builtins are always allowed, because they reach nothing
themselves; each command that they run is asked for again. So are the skill's own scripts.

A skill without the field is allowed nothing else.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from agentsandbox.skills.session.tool_patterns import PathPattern, command_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from typing import Any

    from agentsandbox.skills.session.tool_patterns import CommandPattern

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
TAKES_A_PROGRAM = frozenset(("grep", "egrep", "fgrep", "rg", "sed"))
"""Commands whose first operand is no file."""
READS_HERE = frozenset(("ls", "find", "tree", "du", "rg"))
"""Commands that read the working directory if they are given no file."""
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


# TM-SKILL-5
class AllowedTools:
    """The tools that a skill may use: the words of its `allowed-tools`.

    root  the skill's directory in the sandbox, for relative paths and `${CLAUDE_SKILL_DIR}`
    home  the directory for `~` in paths
    """

    __slots__ = ("_any_name", "_by_name", "_everything", "_files", "_home", "_root", "tools")

    def __init__(self, tools: Iterable[str], root: str = "", home: str = "/home/agent") -> None:
        self.tools = tuple(tools)
        self._root = root
        self._home = home
        self._everything = False
        self._by_name: dict[str, list[CommandPattern]] = {}
        self._any_name: list[CommandPattern] = []
        self._files: dict[str, list[PathPattern] | None] = {}
        """Command → the files that it may be given; None for all."""
        for tool in self.tools:
            self._allow(tool)

    def refusal(
        self,
        argv: Sequence[str],
        *,
        function: bool = False,
        cwd: str = "/",
        resolve: Callable[[str], str] = posixpath.normpath,
    ) -> str | None:
        """Return why a command must not run, None if it may; a `function` is the script's own.

        `resolve` returns the real path of an absolute one.
        """
        if self._everything or function or not argv:
            return None
        name = posixpath.basename(argv[0])
        if name in BUILTINS:
            return None
        patterns = (*self._by_name.get(name, ()), *self._any_name)
        if any(pattern.allows(argv, cwd, self._root) for pattern in patterns):
            return None
        if name in self._files and self._may_use_files(name, argv, cwd, resolve):
            return None
        return f"not among the skill's allowed tools: {' '.join(self.tools) or 'none'}"

    def rule(
        self,
        skill: str,
        is_own: Callable[[str], bool],
        interpreters: Collection[str],
        resolve: Callable[[str], str],
        note: Callable[[str], None] | None = None,
    ) -> Rule:
        """Return the policy for a sandbox: it returns why a command must not run, or None.

        is_own        whether a path leads to a file of the skill that is as it was loaded: such a
                      script may be run, and the commands of a shell script are asked for again
        interpreters  commands that may run such a script: it must be their first argument
        resolve       path → its real path
        note          called with what would be refused; then nothing is
        """

        def runs_own_script(request: Any) -> bool:
            words, is_interpreter = request.argv, request.argv[0] in interpreters
            if is_interpreter:
                words = words[1:]
            if not words or words[0].startswith("-") or not (is_interpreter or "/" in words[0]):
                return False
            return is_own(posixpath.join(request.cwd, words[0]))

        def ask(request: Any) -> str | None:
            if runs_own_script(request):
                return None
            refusal = self.refusal(
                request.argv, function=request.is_function, cwd=request.cwd, resolve=resolve
            )
            if refusal is not None and note is not None:
                note(f"{skill}: {request.argv[0]}: {refusal}")
                return None
            return refusal

        return ask

    def _may_use_files(
        self, name: str, argv: Sequence[str], cwd: str, resolve: Callable[[str], str]
    ) -> bool:
        words = argv[1:]
        if name in WRITING and any(WRITING[name].fullmatch(word) for word in words):
            return False
        patterns = self._files[name]
        if patterns is None:
            return True
        paths = (resolve(posixpath.join(cwd, word)) for word in file_words(name, words))
        return all(any(each.allows(path, cwd, self._root) for each in patterns) for path in paths)

    def _allow(self, tool: str) -> None:
        match = _BASH.fullmatch(tool)
        if match is not None:
            for text in match["pattern"].split(","):
                self._everything |= text.strip() == "*"
                for pattern in command_patterns(text, self._root):
                    if pattern.name is None:
                        self._any_name.append(pattern)
                    else:
                        self._by_name.setdefault(pattern.name, []).append(pattern)
            return
        self._everything |= tool.lower() in ("bash", "shell", "*")
        kind, opening, rest = tool.partition("(")
        names = [*WRITERS.get(kind.lower(), ()), *READERS.get(kind.lower(), ())]
        texts = rest.removesuffix(")").split(",") if opening and rest.strip() != "*)" else None
        for name in names:
            if texts is None:
                self._files[name] = None
            elif (known := self._files.setdefault(name, [])) is not None:
                known += [PathPattern(text, self._root, self._home) for text in texts]


def file_words(name: str, words: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of a command that may name a file; too many rather than too few."""
    skips_first = name in TAKES_A_PROGRAM and not any(
        word.startswith(("-e", "-f", "--regexp", "--file", "--expression")) for word in words
    )
    found = after_option = only_files = False
    for word in words:
        if word == "--" and not only_files:
            only_files = True
        elif word.startswith("-") and word != "-" and not only_files:
            if name == "find" and word not in ("-H", "-L", "-P"):
                break  # the expression
            value = word.partition("=")[2] if word.startswith("--") else word
            if "/" in value:
                yield value if word.startswith("--") else value[value.index("/") :]
            after_option = True
        elif after_option and word.isdigit():
            after_option = False
        elif skips_first:
            skips_first = after_option = False
        elif word != "-":
            after_option, found = False, True
            yield word
    if not found and name in READS_HERE:
        yield "."
