"""The pathspecs of a command line, from the words of the user."""

from __future__ import annotations

import posixpath

from agentsandbox.git.errors import Fatal
from agentsandbox.git.objects import SUBMODULE
from agentsandbox.git.paths import Pathspec, PathspecItem
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentsandbox.git.invocation import Invocation

_MAGIC = {"top", "literal", "glob", "icase", "exclude"}


def normalized(git: Invocation, word: str, *, top: bool = False) -> bytes:
    """Return a word as a path from the top of the worktree; Fatal outside of it."""
    repository = git.repository
    prefix = b"" if top else repository.prefix
    worktree = repository.worktree
    data = encode(word)
    final = b"/" if data.endswith(b"/") and data.strip(b"/") else b""
    if data.startswith(b"/"):
        root = encode((worktree or repository.folder).rstrip("/")) + b"/"
        whole = posixpath.normpath(data)
        if whole + b"/" == root:
            return b""
        if not whole.startswith(root):
            try:  # through a link
                real = encode(git.fs.realpath(decode(whole.rpartition(b"/")[0]) or "/"))
                whole = real.rstrip(b"/") + b"/" + whole.rpartition(b"/")[2]
            except OSError:
                pass
            if whole + b"/" == root:
                return b""
            if not whole.startswith(root):
                raise Fatal(
                    f"{word}: '{word}' is outside repository at '{worktree or repository.folder}'"
                )
        return whole[len(root) :] + final
    parts: list[bytes] = []
    for part in (prefix + data).split(b"/"):
        if part in (b"", b"."):
            continue
        if part == b"..":
            if not parts:
                raise Fatal(
                    f"{word}: '{word}' is outside repository at '{worktree or repository.folder}'"
                )
            parts.pop()
        else:
            parts.append(part)
    path = b"/".join(parts)
    return path + final if path else path


def parse_pathspec(git: Invocation, words: Iterable[str], *, literal: bool = False) -> Pathspec:
    """Return the pathspec of the words of a command line."""
    env = git.env
    literal = literal or env.get("GIT_LITERAL_PATHSPECS", "0").lower() in ("1", "true")
    always = set()
    if env.get("GIT_GLOB_PATHSPECS", "0") == "1":
        always.add("glob")
    if env.get("GIT_ICASE_PATHSPECS", "0") == "1":
        always.add("icase")
    items = []
    for word in words:
        if not word:
            raise Fatal(
                "empty string is not a valid pathspec. please use . instead if you meant to match "
                "all paths"
            )
        magic, rest = (set(), word) if literal else _magic(word)
        magic = magic | always
        path = normalized(git, rest, top="top" in magic)
        if path.endswith(b"/") and git.repository.worktree is not None:
            entry = git.repository.index().get(path[:-1])
            if entry is not None and entry.mode == SUBMODULE:
                path = path[:-1]
        items.append(PathspecItem(word, path, magic, not literal and "literal" not in magic))
    if items and all(item.excludes for item in items):
        whole = PathspecItem(".", git.repository.prefix.rstrip(b"/"), set(), False)
        whole.matched = True
        items.append(whole)
    return Pathspec(items)


def advise_outside(git: Invocation, words: Iterable[str]) -> None:
    """Say that words were left alone because what they match is outside of a sparse checkout."""
    git.say(
        "The following paths and/or pathspecs matched paths that exist\n"
        "outside of your sparse-checkout definition, so will not be\n"
        "updated in the index:\n" + "\n".join(words)
    )
    git.hint(
        "If you intend to update such entries, try one of the following:\n"
        "* Use the --sparse option.\n"
        "* Disable or modify the sparsity rules.\n"
        "Disable this message with \"git config advice.updateSparsePath false\"",
        "updateSparsePath",
    )


def _magic(word: str) -> tuple[set[str], str]:
    """Return the magic of a pathspec and what is left of it."""
    if not word.startswith(":"):
        return set(), word
    if word.startswith(":("):
        names, closed, rest = word[2:].partition(")")
        if not closed:
            raise Fatal(f"Missing ')' at the end of pathspec magic in '{word}'")
        magic = set()
        for name in names.split(","):
            if not name:
                continue
            if name.startswith("attr:"):
                raise Fatal(f"Unsupported pathspec magic 'attr' in '{word}'")
            if name not in _MAGIC:
                raise Fatal(f"Invalid pathspec magic '{name}' in '{word}'")
            magic.add(name)
        if {"glob", "literal"} <= magic:
            raise Fatal(f"{word}: 'literal' and 'glob' are incompatible")
        return magic, rest
    magic = set()
    at = 1
    while at < len(word):
        character = word[at]
        if character == ":":
            at += 1
            break
        if character in "!^":
            magic.add("exclude")
        elif character == "/":
            magic.add("top")
        elif character.isalnum() or character in ".*?[\\ _-" or ord(character) > 127:
            break
        else:
            raise Fatal(f"Unimplemented pathspec magic '{character}' in '{word}'")
        at += 1
    return magic, word[at:]
