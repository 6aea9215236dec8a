"""Pathname expansion (POSIX 2.13.3): the names in the filesystem that a pattern matches, sorted by code point."""

from __future__ import annotations

import re

from agentsandbox.expansion.errors import ExpansionError
from agentsandbox.patterns import compile_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.expansion.host import ExpansionHost
    from agentsandbox.fs.base import FileSystem
    from agentsandbox.limits import Budget

__all__ = ["expand_glob", "glob_paths"]

_MAGIC = re.compile(r"[*?\[]|[?*+@!]\(")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_CLOSED_MAGIC = re.compile(r"[*?]|(?:^|/)[^/\[]*+\[[^/\]]*+\]|[+@!]\(")
"""What makes a word a pattern of pathname expansion: a bracket only when it is closed."""
_CLOSED_BASIC_MAGIC = re.compile(r"[*?]|(?:^|/)[^/\[]*+\[[^/\]]*+\]")
_GLOBIGNORE = re.compile(r"(?:\[[!^]?\]?(?:\[:\w*:\]|[^\]])*\]|[^:])+")
"""One pattern of GLOBIGNORE: a colon inside a bracket expression does not end it."""


def expand_glob(host: ExpansionHost, pattern: str) -> list[str] | None:
    """Pathname expansion by the shell's options; None where the word stays as it is."""
    shopt = host.shopt
    if not (_CLOSED_MAGIC if host.extglob else _CLOSED_BASIC_MAGIC).search(pattern):
        return None
    found = glob_paths(
        pattern,
        host.fs,
        host.cwd,
        host.budget,
        dotglob=shopt["dotglob"],
        globstar=shopt["globstar"],
        ignore_case=shopt["nocaseglob"],
        skipdots=shopt["globskipdots"],
    )
    ignored = host.values.get("GLOBIGNORE")
    if ignored and isinstance(ignored, str):
        patterns = [compile_glob(piece, pathname=True) for piece in _GLOBIGNORE.findall(ignored)]
        found = glob_paths(pattern, host.fs, host.cwd, host.budget, dotglob=True, globstar=shopt["globstar"])
        found = [name for name in found if not any(test.fullmatch(name) for test in patterns)]
    if found:
        return found
    if shopt["failglob"]:
        raise ExpansionError("no match: " + pattern.replace("\\", ""))
    return [] if shopt["nullglob"] else None


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
) -> list[str]:
    """Every path that the pattern matches, as it would be written from `cwd`; `.` and `..` only without `skipdots`."""
    absolute = pattern.startswith("/")
    components = _components(pattern)
    found = [("/" if absolute else "", "/" if absolute else cwd)]
    for number, component in enumerate(components):
        last = number == len(components) - 1
        if not found:
            return []
        if component == "":
            if last:
                found = [(shown if shown.endswith("/") else shown + "/", real) for shown, real in found if shown and fs.is_dir(real)]
            continue
        if globstar and component == "**":
            found = _descend(found, fs, budget, dotglob, last)
        elif _MAGIC.search(component):
            found = _match_component(component, found, fs, budget, dotglob, ignore_case, last, skipdots)
        else:
            name = _ESCAPE.sub(r"\1", component)
            found = [
                (shown + name + ("" if last else "/"), f"{real.rstrip('/')}/{name}")
                for shown, real in found
                if (fs.exists(f"{real.rstrip('/')}/{name}", follow=False) if last else fs.is_dir(f"{real.rstrip('/')}/{name}"))
            ]
    return sorted({shown for shown, _ in found}) if globstar else sorted(shown for shown, _ in found)


def _components(pattern: str) -> list[str]:
    """Split at slashes that no bracket expression or extended pattern holds."""
    if "(" not in pattern:
        return pattern.lstrip("/").split("/") if pattern.startswith("/") else re.split(r"/+", pattern)
    parts: list[str] = []
    depth = 0
    current: list[str] = []
    for position, char in enumerate(pattern):
        depth += (char == "(" and position > 0 and pattern[position - 1] in "?*+@!") - (char == ")" and depth > 0)
        if char == "/" and not depth:
            parts.append("".join(current))
            current = []
        else:
            current.append(char)
    parts.append("".join(current))
    return parts[1:] if pattern.startswith("/") else parts


def _match_component(
    component: str,
    found: list[tuple[str, str]],
    fs: FileSystem,
    budget: Budget,
    dotglob: bool,
    ignore_case: bool,
    last: bool,
    skipdots: bool,
) -> list[tuple[str, str]]:
    fullmatch = compile_glob(component, ignore_case=ignore_case).fullmatch
    dots = component.startswith((".", "\\."))
    matched: list[tuple[str, str]] = []
    for shown, real in found:
        try:
            names = fs.listdir(real)
        except OSError:
            continue
        budget.step(1 + len(names) // 64)
        base = real.rstrip("/")
        for name in names if skipdots or not dots else (".", "..", *names):
            if name.startswith(".") and not dots and not dotglob:
                continue
            if fullmatch(name):
                if last:
                    matched.append((shown + name, f"{base}/{name}"))
                elif fs.is_dir(f"{base}/{name}"):
                    matched.append((f"{shown}{name}/", f"{base}/{name}"))
    return matched


def _descend(found: list[tuple[str, str]], fs: FileSystem, budget: Budget, dotglob: bool, last: bool) -> list[tuple[str, str]]:
    """`**`: every directory below, and every file too when it comes last."""
    reached: list[tuple[str, str]] = []
    for shown, real in found:
        pending = [(shown, real)]
        if not last or shown:
            reached.append((shown, real))
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
                    reached.append((prefix + name + ("" if last else "/"), path))
                elif last:
                    reached.append((prefix + name, path))
    return reached
