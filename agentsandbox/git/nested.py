"""Repositories within the worktree of another one: where they are, and running git in them."""

from __future__ import annotations

import posixpath

from agentsandbox.git.errors import Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.modules import linked_part, set_in_file
from agentsandbox.git.remotes import LOCAL_VARIABLES
from agentsandbox.git.repository import nested_folder
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentsandbox.git.repository import Repository


def folder_of(repository: Repository, path: str) -> str | None:
    """Return the `.git` folder of the repository in a directory of the worktree, None without."""
    return nested_folder(repository.fs, repository.work_path(encode(path)))


def uses_file(repository: Repository, path: str) -> bool:
    """Whether `.git` in a directory is a file that names a folder elsewhere."""
    dot = f"{repository.work_path(encode(path))}/.git"
    return repository.fs.is_file(dot) and folder_of(repository, path) is not None


def enter(
    git: Invocation, folder: str, env: Mapping[str, str] | None = None, *, quiet: bool = False,
    searches: bool = False,
) -> Invocation:  # fmt: skip
    """Return an invocation in the repository whose worktree is a folder.

    Of the environment, only what is not about this repository holds there. With `searches` the
    repository may also be above the folder.
    """
    git.flush()
    kept = {
        name: value
        for name, value in git.env.items()
        if name not in LOCAL_VARIABLES or name.startswith("GIT_CONFIG_")
    }
    if not searches:
        kept["GIT_DIR"] = ".git"
    made = Invocation(git.ctx, {**kept, **(env or {})}, folder)
    made.settings = git.settings
    made.accepts = git.accepts
    made.sink = [] if quiet else git.sink
    return made


def enter_path(git: Invocation, path: str) -> Invocation:
    """Return an invocation in the submodule at a path; Fatal if there is no repository."""
    if folder_of(git.repository, path) is None:
        raise Fatal(f"could not get a repository handle for submodule '{path}'")
    return enter(git, git.repository.work_path(encode(path)))


def run_git(made: Invocation, words: Sequence[str]) -> int:
    """Run a command line of git in an invocation and return its status; errors are printed."""
    from agentsandbox.git.command import guarded, run_subcommand

    return made.budget.nested(lambda: guarded(made, lambda: run_subcommand(made, list(words))))


def ask_git(git: Invocation, folder: str, *words: str) -> str | None:
    """Return what git prints in a folder, without the last newline; None if it fails."""
    made = enter(git, folder, quiet=True)
    status = run_git(made, words)
    return decode(b"".join(made.sink or [])).removesuffix("\n") if status == 0 else None


def connect(git: Invocation, path: str, folder: str) -> None:
    """Let the worktree of a submodule and its folder below `.git/modules` name each other."""
    repository = git.repository
    problem = linked_part(repository, path)
    if problem:
        git.say(problem)
        raise Fatal(f"could not connect '{path}'")
    where = repository.work_path(encode(path))
    git.fs.makedirs(where, 0o777 & ~git.ctx.umask)
    dot = f"{where}/.git"
    if git.fs.exists(dot, follow=False) and git.fs.stat(dot, follow=False).is_link:
        git.fs.unlink(dot)
    git.fs.write_bytes(
        dot, encode(f"gitdir: {posixpath.relpath(folder, where)}\n"),
        permissions=0o666 & ~git.ctx.umask,
    )  # fmt: skip
    set_in_file(git, f"{folder}/config", "core.worktree", posixpath.relpath(where, folder))
