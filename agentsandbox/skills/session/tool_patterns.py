"""Patterns of `allowed-tools`: of commands, `git add *`, and of paths, `/data/**`.

A pattern of a command is a list of words. `*` as a word is any number of words, `*` inside a word
any characters. `:*` or ` *` at the end allows any further arguments, and so does a `*` that ends
the last word, unless that word is a path: then all further arguments must be such paths. A word
with a "/" is a path: it is compared as an absolute one without "..", relative to the working
directory or to the skill's. No regular expression is used, so matching takes linear time.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from agentsandbox.skills.session.rendering import split_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Fits = Callable[[str, str], bool]

MAX_WORDS = 64
"""A pattern with more words allows nothing."""
_SUBCOMMAND = re.compile(r"([\w.+-]+):([\w-]+\*?)")
_ENDS = frozenset(("&&", "||", ";", "|"))
_REDIRECTION = re.compile(r"\d*(?:[<>]|&>)")
_VARIABLE = re.compile(r"[A-Za-z_]\w*=")
_SKILL_DIRECTORY = re.compile(
    r"\$\{?(?:CLAUDE_SKILL_DIR|SKILL_DIR|SKILL_ROOT)\b\}?|\{baseDir\}"
    r"|(?:~|\$\{?HOME\b\}?)/\.[\w-]+/skills/[\w.-]+(?=/)"
)


def fits(pattern: str, text: str) -> bool:
    """Whether a text has the form of a pattern, in which `*` is any characters."""
    first, *rest = pattern.split("*")
    if not rest:
        return pattern == text
    *middle, last = rest
    end = len(text) - len(last)
    if end < len(first) or not text.startswith(first) or not text.endswith(last):
        return False
    at = len(first)
    for piece in middle:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def fit_all(pattern: Sequence[str], items: Sequence[str], star: str, least: int, fit: Fits) -> int:
    """Return how many items a pattern takes from the beginning, or -1.

    `star` stands for any number of items, at least `least`. A pattern that ends with it takes all.
    """
    pieces: list[list[str]] = [[]]
    for each in pattern:
        if each == star:
            pieces.append([])
        else:
            pieces[-1].append(each)
    at = 0
    for number, piece in enumerate(pieces):
        starts = range(at, at + 1) if not number else range(at + least, len(items) + 1)
        if number and number == len(pieces) - 1:  # the last piece is at the end
            starts = range(max(len(items) - len(piece), at + least), len(items) + 1)
        at = next((start for start in starts if _is_at(piece, items, start, fit)), -1)
        if at < 0:
            return -1
        at += len(piece)
    return at


def _is_at(piece: Sequence[str], items: Sequence[str], start: int, fit: Fits) -> bool:
    return start + len(piece) <= len(items) and all(
        fit(each, items[start + number]) for number, each in enumerate(piece)
    )


class CommandPattern:
    """The form of a command: `git add *`, `./scripts/*.sh *`."""

    __slots__ = ("name", "takes_more", "words")

    def __init__(self, words: Sequence[str], *, takes_more: bool) -> None:
        self.words = tuple(words)
        last = self.words[-1] if self.words else ""
        glued = last.endswith("*") and last != "*" and "/" not in last
        self.takes_more = takes_more or glued
        first = self.words[0] if self.words else "*"
        self.name = None if "*" in first or "/" in first else first
        """The name of the only command of that form; None if there may be several."""

    def allows(self, argv: Sequence[str], cwd: str, root: str) -> bool:
        """Whether a command has that form; relative paths are below `cwd` or `root`."""
        words = self.words
        if not words:
            return False
        name = argv[0] if "/" in words[0] else posixpath.basename(argv[0])
        items = [name, *argv[1:]]

        def fit(pattern: str, word: str) -> bool:
            return _fits_path(pattern, word, cwd, root) if "/" in pattern else fits(pattern, word)

        taken = fit_all(words, items, "*", 1, fit)
        if taken < 0 and not self.takes_more:
            return False
        if taken < 0:
            return fit_all([*words, "*"], items, "*", 1, fit) >= 0
        if taken == len(items) or self.takes_more:
            return True
        last = words[-1]
        return "/" in last and "*" in last and all(fit(last, word) for word in items[taken:])


def _fits_path(pattern: str, word: str, cwd: str, root: str) -> bool:
    if "/" not in word:
        return False
    text = posixpath.normpath(posixpath.join(cwd, word))
    return any(
        fits(posixpath.normpath(posixpath.join(base, pattern)), text) for base in (cwd, root)
    )


def command_patterns(text: str, root: str) -> list[CommandPattern]:
    """Return the patterns in the parentheses of `Bash(…)`, in `root`, the skill's directory."""
    text = _SKILL_DIRECTORY.sub(lambda _: root or "/", text.strip())
    takes_more = False
    while text.endswith((":*", " *")):
        text, takes_more = text[:-2].rstrip(), True
    if not text:
        return []
    found: list[CommandPattern] = []
    commands: list[list[str]] = [[]]
    for word in split_words(text):
        if word in _ENDS:
            commands.append([])
        else:
            commands[-1].append(word)
    for number, words in enumerate(commands):
        more = takes_more and number == len(commands) - 1
        found += _patterns_of(words, more)
    return found


def _patterns_of(words: list[str], takes_more: bool) -> list[CommandPattern]:
    """Return the patterns of one command, without variables before it and redirections after."""
    while words and _VARIABLE.match(words[0]):
        words = words[1:]
    end = next((at for at, word in enumerate(words) if _REDIRECTION.match(word)), len(words))
    words = [word.removesuffix(":*") for word in words[:end]]
    if not words or len(words) > MAX_WORDS:
        return []
    found = [CommandPattern(words, takes_more=takes_more)]
    if parts := _SUBCOMMAND.fullmatch(words[0]):  # `git:status` is often written for `git status`
        found.append(CommandPattern([*parts.groups(), *words[1:]], takes_more=takes_more))
    return found


class PathPattern:
    """The form of a path: `/data/**`, `src/*.py`, `*.md`; a directory is also what is in it."""

    __slots__ = ("text",)

    def __init__(self, text: str, root: str, home: str) -> None:
        text = _SKILL_DIRECTORY.sub(lambda _: root or "/", text.strip())
        if text.startswith("~/"):
            text = home + text[1:]
        self.text = text

    def allows(self, path: str, cwd: str, root: str) -> bool:
        """Whether an absolute path has that form."""
        text = self.text
        if not text:
            return False
        if "/" not in text:  # a name, in any directory
            text = f"/**/{text}"
        parts = path.strip("/").split("/")
        for base in (cwd, root) if not text.startswith("/") else ("",):
            pattern = posixpath.normpath(posixpath.join(base, text)).strip("/").split("/")
            if len(pattern) > MAX_WORDS:
                continue
            if pattern[-1] != "**" and fit_all([*pattern, "**"], parts, "**", 1, fits) >= 0:
                return True
            taken = fit_all(pattern, parts, "**", 0, fits)
            if taken == len(parts):
                return True
        return False
