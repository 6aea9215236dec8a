"""`cd` and `pwd`"""

from __future__ import annotations

import errno
import os

from agentsandbox.errors import CommandError
from agentsandbox.kernel.fs.base import PATH_MAX
from agentsandbox.kernel.quoting import ansi_quote, needs_ansi, whole
from agentsandbox.shell.builtins import define, parse_letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.quoting import Pieces
    from agentsandbox.shell.interpreter.shell import Shell


@define("cd", "cd [-L|[-P [-e]] [-@]] [dir]")
def cd(shell: Shell, words: list[str]) -> int:
    """Change the working directory."""
    options, position = parse_letters(words, "LPe")
    operands = words[position:]
    if len(operands) > 1:
        raise CommandError("too many arguments", 1)
    physical = shell.options.physical
    for word in words[1:position]:
        for letter in word[1:]:
            physical = letter == "P" if letter in "LP" else physical
    show = False
    if not operands:
        target = shell.variables.get("HOME")
        if target is None:
            raise CommandError("HOME not set", 1)
    else:
        target = operands[0]
        if target == "-":
            target = shell.variables.get("OLDPWD")
            if target is None:
                raise CommandError("OLDPWD not set", 1)
            show = True
    del options
    if target == "":
        if show:
            shell.write("\n")
        shell.variables.assign("OLDPWD", shell.variables.get("PWD") or shell.cwd)
        return 0
    found = _search_cdpath(shell, target)
    if found is not None:
        target, show = found, True
    try:
        change(shell, target, physical)
    except CommandError:
        named = (
            shell.variables.get(target)
            if shell.options.shopt["cdable_vars"] and target.isidentifier()
            else None
        )
        if named is None or not shell.fs.is_dir(shell.path(named)):
            raise
        change(shell, named, physical)
        show = True
    if show:
        shell.write(f"{shell.cwd}\n")
    return 0


def _search_cdpath(shell: Shell, target: str) -> str | None:
    """Return the directory that CDPATH leads to; None for a name that begins with / or a dot."""
    cdpath = shell.variables.get("CDPATH")
    if not cdpath or target.startswith("/") or target.split("/", 1)[0] in (".", ".."):
        return None
    shell.budget.charge(len(cdpath) + 64 * cdpath.count(":"))
    for base in cdpath.split(":"):
        shell.budget.step(4)
        candidate = f"{base}/{target}" if base else target
        if shell.fs.is_dir(shell.path(candidate)):
            return candidate if base else None
    return None


def change(shell: Shell, target: str, physical: bool) -> None:
    """Make `target` the working directory and set OLDPWD. Raise `CommandError` if that fails."""
    if len(target) >= PATH_MAX:
        shown = _shown(target, shell.budget.pieces)
        raise CommandError(f"{shown}: {os.strerror(errno.ENAMETOOLONG)}", 1)
    path = shell.logical_path(target)
    fs = shell.fs
    try:
        info = fs.stat(shell.path(target) if physical else _checked(shell, target, path))
        if not info.is_dir:
            raise CommandError(f"{_shown(target)}: {os.strerror(20)}", 1)
        if not fs.access(path, 1):
            raise CommandError(f"{_shown(target)}: {os.strerror(13)}", 1)
        if physical:
            path = fs.realpath(shell.path(target))
    except OSError as error:
        raise CommandError(f"{_shown(target)}: {os.strerror(error.errno or 5)}", 1) from None
    previous = shell.variables.get("PWD") or shell.cwd
    shell.variables.assign("OLDPWD", previous)
    shell.change_directory(path)


def _shown(target: str, pieces: Pieces = whole) -> str:
    """Return a path for a message: as $'…' if it does not print."""
    return ansi_quote(target, pieces) if needs_ansi(target, pieces) else target


def _checked(shell: Shell, target: str, path: str) -> str:
    """Return the logical path; each directory before a ".." must exist, as for the kernel."""
    if ".." in target.split("/"):
        before: list[str] = []
        for part in target.split("/"):
            if part == ".." and before and before[-1] not in ("", ".", ".."):
                if not shell.fs.stat(shell.logical_path("/".join(before))).is_dir:
                    raise NotADirectoryError(20, os.strerror(20))
            before.append(part)
    return path


@define("pwd", "pwd [-LP]")
def pwd(shell: Shell, words: list[str]) -> int:
    """Show the working directory."""
    parse_letters(words, "LP")
    physical = shell.options.physical
    for word in words[1:]:
        if word.startswith("-"):
            for letter in word[1:]:
                physical = letter == "P" if letter in "LP" else physical
    here = shell.cwd
    if physical:
        here = shell.fs.realpath(here)
        if shell.cwd.startswith("//"):  # POSIX leaves their meaning open, and bash keeps them
            here = "/" + here
    shell.write(here + "\n")
    return 0
