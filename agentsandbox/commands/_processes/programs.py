"""Finding a program as `execvp` does, for commands that run others."""

from __future__ import annotations

import errno
import os
import posixpath

from agentsandbox.errors import CommandError
from agentsandbox.kernel.fs.shebang import shebang_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.contract.command import CommandContext

_DEFAULT_PATH = "/bin:/usr/bin"


def _problem_of_file(ctx: CommandContext, path: str) -> int:
    content = ctx.fs.program(path)
    if content is None:
        try:
            info = ctx.fs.stat(path)
        except OSError as error:
            return error.errno or errno.ENOENT
        if not (info.is_file and info.permissions & 0o111):
            return errno.EACCES
        content = ctx.fs.read_bytes(path)
    line = shebang_of(content)
    return 0 if line is None or ctx.fs.exists(posixpath.join(ctx.cwd, line[0])) else errno.ENOENT


def find_problem(
    ctx: CommandContext, name: str, env: Mapping[str, str] | None = None, cwd: str | None = None
) -> int:
    """Return why `name` cannot be run (an errno), 0 if it can.

    `name` is a path, or a file on the PATH of `env`.
    """
    base = ctx.cwd if cwd is None else cwd
    if not name:
        return errno.ENOENT
    if "/" in name:
        return _problem_of_file(ctx, posixpath.join(base, name))
    directories = (ctx.env if env is None else env).get("PATH", _DEFAULT_PATH).split(":")
    problem = errno.ENOENT
    for directory in directories:
        found = _problem_of_file(ctx, posixpath.join(base, directory, name))
        if not found:
            return 0
        if found == errno.EACCES:
            problem = errno.EACCES
        elif found not in (errno.ENOENT, errno.ENOTDIR):
            return found
    if ("/bin" in directories or "/usr/bin" in directories) and name in ctx.host.commands():
        return 0
    return problem


def problem_status(problem: int) -> tuple[str, int]:
    """Return (reason, status): 127 for a missing program, 126 for one that cannot be run."""
    return os.strerror(problem), 127 if problem == errno.ENOENT else 126


def check_program(ctx: CommandContext, name: str, complaint: str) -> None:
    """Raise `CommandError`, the complaint and the reason, when `name` cannot be run."""
    problem = find_problem(ctx, name)
    if problem:
        reason, status = problem_status(problem)
        raise CommandError(f"{complaint}: {reason}", status)
