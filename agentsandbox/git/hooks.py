"""Hooks: programs of a repository that git runs, in the sandbox's shell.

Hooks in a folder of the host are the host's programs, written for the host's machine by people who
did not think of a sandbox. They run only if the configuration of the command line or the user says
`agentsandbox.hostHooks=true`, never by the word of the repository itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentsandbox.git.repository import Repository


# TM-GIT-5
def hook_path(repository: Repository, name: str) -> str | None:
    """Return the path of a hook that may run, None without one."""
    git, config = repository.git, repository.config
    folder = config.get("core.hookspath")
    if folder:
        folder = config.expand(folder)
        if not folder.startswith("/"):
            folder = f"{repository.worktree or repository.folder}/{folder}"
    else:
        folder = f"{repository.common}/hooks"
    path = f"{folder}/{name}"
    if not git.fs.is_file(path):
        return None
    if not git.fs.access(path, 1):
        shown = path
        if repository.shown_folder == ".git" and path.startswith(f"{repository.folder}/"):
            shown = ".git" + path[len(repository.folder) :]
        if config.flag("advice.ignoredhook", True):
            git.say(
                f"hint: The '{shown}' hook was ignored because it's not set as executable.\n"
                "hint: You can disable this warning with `git config advice.ignoredHook false`."
            )
        return None
    if git.fs.is_on_host(path) and not _host_hooks(repository):
        return None
    return path


def _host_hooks(repository: Repository) -> bool:
    found = [
        value
        for value in repository.config.values
        if value.key == "agentsandbox.hosthooks" and value.scope in ("global", "command")
    ]
    return bool(found) and found[-1].text in (None, "true", "yes", "on", "1")


def run_hook(
    repository: Repository,
    name: str,
    *arguments: str,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    extra: Sequence[str] = (),
) -> int:
    """Run a hook and return its status; 0 if there is none."""
    path = hook_path(repository, name)
    if path is None:
        return 0
    git = repository.git
    shown = path
    if path.startswith(f"{repository.folder}/") and repository.worktree is not None:
        shown = path
    settings = {"GIT_DIR": repository.folder if repository.worktree is None else ".git"}
    if repository.folder != f"{(repository.worktree or '').rstrip('/')}/.git":
        settings["GIT_DIR"] = repository.folder
    del extra
    status, _ = git.run(
        [shown, *arguments],
        cwd=repository.worktree or repository.folder,
        env={**settings, **(env or {})},
        stdin=b"" if stdin is None else stdin,
        out_to_err=True,
    )
    return status
