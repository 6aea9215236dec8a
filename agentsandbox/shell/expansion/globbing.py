"""Pathname expansion (POSIX 2.13.3): the matching names, sorted by code point."""

from __future__ import annotations

import re

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.patterns.filenames import compile_glob, glob_matcher
from agentsandbox.shell.expansion.errors import ExpansionError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.fs.base import FileSystem
    from agentsandbox.shell.expansion.host import ExpansionHost

_MAGIC = lazily(r"[*?\[]|[?*+@!]\(")
_BASIC_MAGIC = lazily(r"[*?\[]")
_ESCAPE = lazily(r"\\(.)", re.DOTALL)
_ESCAPED_SLASH = lazily(r"(\\[^/])|\\(/)", re.DOTALL)
_CLOSED_MAGIC = lazily(r"[*?]|(?:^|/)[^/\[]*+\[[^/\]]*+\]|[+@!]\(")
"""What makes a word a pattern of pathname expansion: a bracket only when it is closed."""
_CLOSED_BASIC_MAGIC = lazily(r"[*?]|(?:^|/)[^/\[]*+\[[^/\]]*+\]")
_GLOBIGNORE = lazily(r"(?:\\.|\[[!^]?\]?(?:\[:\w*:\]|[^\]])*+(?:\]|\Z)|[^:\[\\]+)++", re.DOTALL)
"""One pattern of GLOBIGNORE: a colon inside a bracket expression, even one without its end, does
not end it."""
_COMPILED = 32
"""Steps for a pattern, which is compiled, beside those for its characters."""
_LONGEST_GLOBIGNORE = 65_536
"""Characters of GLOBIGNORE."""


def expand_glob(host: ExpansionHost, pattern: str) -> list[str] | None:
    """Pathname expansion by the shell's options; None where the word stays as it is."""
    shopt = host.options.shopt
    magic = _CLOSED_MAGIC if host.options.extglob else _CLOSED_BASIC_MAGIC
    if not magic.search(pattern):
        return None
    if "\\" in pattern and not magic.search(_ESCAPE.sub("_", pattern)):
        return None
    host.budget.step(_COMPILED + len(pattern))
    ignored = host.values.get("GLOBIGNORE")
    if not isinstance(ignored, str):
        ignored = ""
    if len(ignored) > _LONGEST_GLOBIGNORE:
        raise LimitReached("value_bytes", "GLOBIGNORE is too long")
    found = glob_paths(
        pattern,
        host.fs,
        host.cwd,
        host.budget,
        dotglob=shopt["dotglob"] or bool(ignored),
        globstar=shopt["globstar"],
        ignore_case=shopt["nocaseglob"],
        skipdots=shopt["globskipdots"] or bool(ignored),
        extglob=host.options.extglob,
    )
    if ignored:
        is_ignored = [
            _ignoring(piece, shopt["nocaseglob"], host.options.extglob)
            for piece in _GLOBIGNORE.findall(ignored)
        ]
        found = [name for name in found if not any(test(name) for test in is_ignored)]
    if found:
        return found
    if shopt["failglob"]:
        raise ExpansionError("no match: " + pattern.replace("\\", ""))
    return [] if shopt["nullglob"] else None


def _ignoring(pattern: str, ignore_case: bool, extglob: bool) -> Callable[[str], object]:
    """A test by one pattern of GLOBIGNORE, in which only an asterisk at the end matches a slash."""
    compiled = compile_glob(pattern, pathname=True, ignore_case=ignore_case, extglob=extglob)
    if not pattern.endswith("*") or pattern.endswith("\\*"):
        return compiled.match
    start = compile_glob(
        pattern.rstrip("*"), pathname=True, ignore_case=ignore_case, extglob=extglob
    )
    return lambda name: (
        compiled.match(name) or any(start.match(name[:at]) for at in range(len(name) + 1))
    )


def glob_paths(
    pattern: str,
    fs: FileSystem,
    cwd: str,
    budget: Budget,
    *,
    dotglob: bool = False,
    globstar: bool = False,
    ignore_case: bool = False,
    skipdots: bool = True,
    extglob: bool = True,
) -> list[str]:
    """Return every path that the pattern matches, as it would be written from `cwd`."""
    # long: one case for each kind of component
    if "\\/" in pattern:
        pattern = _ESCAPED_SLASH.sub(r"\1\2", pattern)
    root = pattern[: len(pattern) - len(pattern.lstrip("/"))]
    found = [(root, "/" if root else cwd)]
    matched = False  # after the first pattern there is one slash between names
    components = _components(pattern[len(root) :], extglob)
    magic = _MAGIC if extglob else _BASIC_MAGIC
    for number, (component, slashes) in enumerate(components):
        last = number == len(components) - 1
        separator = "/" if slashes and matched else slashes
        if not found:
            return []
        if globstar and component == "**":
            bare, matched = matched, True
            if last or components[number + 1][0] != "**":  # the next one would mean the same
                separator = "/" if slashes else ""
                found = _descend(found, fs, budget, dotglob, separator, bare=bare, links=last)
        elif magic.search(component):
            matches = glob_matcher(component, ignore_case=ignore_case, extglob=extglob)
            dotted = _dotted(component) if extglob else _plain_dotted(component)
            hidden = (
                matches
                if dotted == [component]
                else _any_of([glob_matcher(each, ignore_case=ignore_case) for each in dotted])
            )
            entered = _entered(
                found,
                matches,
                matches if dotglob else hidden,
                fs,
                budget,
                dots=None if skipdots else hidden,
            )
            if last and not slashes:
                shown = [before + name for before, _, names in entered for name in names]
                return sorted(set(shown) if globstar else shown)
            found = [
                (f"{shown}{name}/", f"{real.rstrip('/')}/{name}")
                for shown, real, names in entered
                for name in names
                if fs.is_dir(f"{real.rstrip('/')}/{name}")
            ]
            matched = True
        else:
            name = _ESCAPE.sub(r"\1", component)
            found = [
                (shown + name + separator, path)
                for shown, path in [(shown, f"{real.rstrip('/')}/{name}") for shown, real in found]
                if (fs.is_dir(path) if slashes else fs.exists(path, follow=False))
            ]
    names = [shown for shown, _ in found]
    return sorted(set(filter(None, names)) if globstar else names)


def _components(pattern: str, extglob: bool) -> list[tuple[str, str]]:
    """Return (name, slashes behind it) for each component; a slash in brackets is text."""
    if not extglob or "(" not in pattern:
        return re.findall(r"([^/]+)(/*)", pattern)
    parts: list[tuple[str, str]] = []
    depth = 0
    start = position = 0
    while position < len(pattern):
        char = pattern[position]
        depth += (char == "(" and position > 0 and pattern[position - 1] in "?*+@!") - (
            char == ")" and depth > 0
        )
        end = position
        position += 1
        if char == "/" and not depth:
            while pattern.startswith("/", position):
                position += 1
            parts.append((pattern[start:end], pattern[end:position]))
            start = position
    if start < len(pattern):
        parts.append((pattern[start:], ""))
    return parts


def _plain_dotted(pattern: str) -> list[str]:
    return [pattern] if pattern.startswith((".", "\\.")) else []


def _dotted(pattern: str, depth: int = 0) -> list[str]:
    """Return patterns for the names with a leading dot that a pattern matches.

    Only a dot that is written at the beginning matches such a dot: also one that begins an
    alternative of @(…), +(…), *(…) and ?(…) there, or what follows a group that may be left out.
    """
    if pattern[1:2] != "(" or pattern[0] not in "@+*?" or depth > _DEEPEST:
        return _plain_dotted(pattern)
    alternatives, end = _alternatives(pattern)
    if not end:
        return []
    again = f"*{pattern[1:end]}" if pattern[0] in "+*" else ""
    rest = pattern[end:]
    found = [
        each + again + rest
        for alternative in alternatives
        for each in _dotted(alternative, depth + 1)
    ]
    if pattern[0] in "*?" or "" in alternatives:
        found += _dotted(rest, depth + 1)
    return found


_DEEPEST = 20
"""Groups inside one another that are looked at for a leading dot."""


def _alternatives(pattern: str) -> tuple[list[str], int]:
    """Return the alternatives of the group at the beginning, and where it ends; 0 if it is open."""
    depth = 0
    start = 2
    found: list[str] = []
    position = 1
    while position < len(pattern):
        char = pattern[position]
        if char == "\\":
            position += 1
        elif char == "(":
            depth += 1
        elif char == "|" and depth == 1:
            found.append(pattern[start:position])
            start = position + 1
        elif char == ")":
            depth -= 1
            if not depth:
                return [*found, pattern[start:position]], position + 1
        position += 1
    return [], 0


def _any_of(matchers: list[Callable[[str], object]]) -> Callable[[str], object] | None:
    """Return a test that is true where one of the matchers is; None without any."""
    if not matchers:
        return None
    return lambda name: any(matches(name) for matches in matchers)


def _entered(
    found: list[tuple[str, str]],
    matches: Callable[[str], object],
    hidden: Callable[[str], object] | None,
    fs: FileSystem,
    budget: Budget,
    *,
    dots: Callable[[str], object] | None,
) -> list[tuple[str, str, list[str]]]:
    """Return (displayed prefix, real path, matching names) for each directory.

    `hidden` is what the names that begin with a dot must match, `dots` what "." and ".." must; None
    excludes them.
    """
    entered: list[tuple[str, str, list[str]]] = []
    for shown, real in found:
        try:
            names = fs.listdir(real)
        except OSError:
            continue
        budget.step(1 + len(names) // 64)
        if hidden is matches:
            matching = list(filter(matches, names))
        else:
            matching = [
                name
                for name in names
                if (hidden is not None and hidden(name) if name[0] == "." else matches(name))
            ]
        if dots is not None:
            matching = [*filter(dots, (".", "..")), *matching]
        entered.append((shown, real, matching))
    return entered


def _descend(
    found: list[tuple[str, str]],
    fs: FileSystem,
    budget: Budget,
    dotglob: bool,
    separator: str,
    *,
    bare: bool,
    links: bool,
) -> list[tuple[str, str]]:
    """`**`: return every directory below, and without a `separator` every file too.

    `bare` says that the directory itself comes without its slash. With a separator, `links` to
    directories count, but nothing below them.
    """
    reached: list[tuple[str, str]] = []
    for shown, real in found:
        pending = [(shown, real)]
        if separator:
            reached.append((shown, real))
        elif shown:
            reached.append((shown.rstrip("/") if bare else shown, real))
        while pending:
            prefix, directory = pending.pop()
            try:
                names = fs.listdir(directory)
            except OSError:
                continue
            budget.step(1 + len(names) // 16)
            for name in names:
                if name.startswith(".") and not dotglob:
                    continue
                path = f"{directory.rstrip('/')}/{name}"
                info = fs.stat(path, follow=False)
                if info.is_dir:
                    pending.append((f"{prefix}{name}/", path))
                    reached.append((prefix + name + separator, path))
                elif not separator or (links and info.is_link and fs.is_dir(path)):
                    reached.append((prefix + name + separator, path))
    return reached
