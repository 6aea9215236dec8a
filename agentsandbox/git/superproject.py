"""A repository with submodules, at one level of a command that goes into them.

A command on submodules starts in some directory of a repository, and its paths are relative to
that (`shown`). If it goes on into a submodule, the same happens there at the top of its worktree,
and paths are shown with that of the submodule before them (`above`).
"""

from __future__ import annotations

import posixpath

from agentsandbox.git.branches import edit_config
from agentsandbox.git.errors import Fatal, Plain, Quit
from agentsandbox.git.modules import (
    Modules,
    Submodule,
    is_relative_url,
    module_folder,
    read_modules,
    refuse_inner_folder,
    refuse_linked_path,
    relative_url,
    set_in_file,
)
from agentsandbox.git.nested import connect, enter, folder_of, run_git
from agentsandbox.git.objects import SUBMODULE
from agentsandbox.git.paths import relative_to
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.repository import is_repository
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.git.index import Entry
    from agentsandbox.git.invocation import Invocation


class Superproject:
    """The repository whose submodules a command works on."""

    def __init__(self, git: Invocation, above: str = "") -> None:
        self.git = git
        self.repository = git.repository
        self.prefix = self.repository.prefix
        self.above = above
        self.top = self.repository.need_worktree()

    @property
    def modules(self) -> Modules:
        """Return what `.gitmodules` says now."""
        return read_modules(self.git)

    def shown(self, path: str) -> str:
        """Return a path as it is printed."""
        return self.above + decode(relative_to(encode(path), self.prefix)).removesuffix("/")

    def place(self, path: str) -> str:
        """Return the absolute path of a submodule."""
        return self.repository.work_path(encode(path))

    def listed(self, words: Sequence[str]) -> list[Entry]:
        """Return the entries of the submodules that the words name; all without words.

        A submodule with a conflict is listed once. Quit, after complaints, for words that match
        nothing.
        """
        index = self.repository.index()
        wanted = parse_pathspec(self.git, words)
        found: list[Entry] = []
        for entry in index:
            self.git.budget.step()
            if wanted and not wanted.matches(entry.path, True):
                continue
            if entry.mode == SUBMODULE and not (found and found[-1].path == entry.path):
                found.append(entry)
        missing = [item for item in wanted.items if not item.matched]
        for item in missing:
            self.git.error(f"pathspec '{item.given}' did not match any file(s) known to git")
        if missing:
            raise Quit(1)
        return found

    def module_at(self, path: str) -> Submodule:
        """Return the submodule at a path; Fatal if `.gitmodules` has none."""
        module = self.modules.at(path)
        if module is None:
            raise Fatal(f"No url found for submodule path '{self.shown(path)}' in .gitmodules")
        return module

    def is_populated(self, path: str) -> bool:
        """Whether the submodule is checked out."""
        return folder_of(self.repository, path) is not None

    def configure(self, key: str, value: str) -> None:
        """Set a key of the repository's configuration."""
        edit_config(self.git, key, value)
        self.git.forget_config()

    def below(self, path: str) -> Superproject:
        """Return the submodule at a path as a repository with submodules of its own."""
        return Superproject(enter(self.git, self.place(path)), f"{self.shown(path)}/")

    # URLs

    def default_remote(self) -> str:
        """Return the remote of the current branch; "origin" if nothing else is configured."""
        return remote_of(self.git)

    def resolved(self, url: str, up: str = "", *, quiet: bool) -> str:
        """Return a URL of `.gitmodules`: relative ones are relative to that of the remote."""
        if not is_relative_url(url):
            return url
        key = f"remote.{self.default_remote()}.url"
        found = self.repository.config.find(key)
        if found is None or not found.text:
            if not quiet:
                self.git.warn(
                    f"could not look up configuration '{key}'. Assuming this repository is its "
                    "own authoritative upstream."
                )
            return relative_url(self.top, url, up)
        return relative_url(found.text, url, up)

    # the steps of several commands

    def initialize(self, path: str, *, quiet: bool) -> None:
        """Register a submodule in the repository's configuration."""
        module = self.module_at(path)
        if not self.modules.is_active(path):
            self.configure(f"submodule.{module.name}.active", "true")
        if self.modules.setting(module, "url") is None:
            if module.url is None:
                raise Fatal(f"No url found for submodule path '{self.shown(path)}' in .gitmodules")
            url = self.resolved(module.url, quiet=False)
            self.configure(f"submodule.{module.name}.url", url)
            if not quiet:
                self.git.say(
                    f"Submodule '{module.name}' ({url}) registered for path '{self.shown(path)}'"
                )
        if self.modules.setting(module, "update") is None and module.update is not None:
            self.configure(f"submodule.{module.name}.update", module.update)

    def clone(self, module: Submodule, url: str, options: CloneOptions) -> None:
        """Clone a submodule into `.git/modules/NAME`, and connect it with its path."""
        git, repository, path = self.git, self.repository, module.path or ""
        refuse_linked_path(git, path)
        folder = module_folder(repository, module.name)
        refusal = "refusing to create/use '{}' in another submodule's git dir"
        refuse_inner_folder(repository, module.name, refusal)
        where = self.place(path)
        if not git.fs.exists(folder):
            if options.require_init and git.fs.is_dir(where) and git.fs.listdir(where):
                raise Fatal(f"directory not empty: '{where}'")
            git.fs.makedirs(posixpath.dirname(folder), 0o777 & ~git.ctx.umask)
            words = ["clone", "--no-checkout", *options.words(), "--separate-git-dir", folder]
            made = enter(git, self.top)
            if run_git(made, [*words, "--", url, where]):
                raise Fatal(f"clone of '{url}' into submodule path '{where}' failed")
        else:
            if options.require_init and git.fs.is_dir(where) and git.fs.listdir(where):
                raise Fatal(f"directory not empty: '{where}'")
            git.fs.makedirs(posixpath.dirname(where), 0o777 & ~git.ctx.umask)
            if git.fs.exists(f"{folder}/index"):
                git.fs.unlink(f"{folder}/index")
        refuse_inner_folder(repository, module.name, refusal)
        connect(git, path, folder)
        if folder_of(repository, path) != folder:
            name = posixpath.relpath(folder, where).rstrip("\r\n")
            raise Fatal(f"not a git repository: {where}/{name}")


class CloneOptions:
    """What of the options of `add` and `update` the clone gets."""

    def __init__(self) -> None:
        self.quiet = False
        self.depth = ""
        self.single: bool | None = None
        self.require_init = False

    def words(self) -> list[str]:
        """Return the options of `git clone`."""
        words = ["--quiet"] * self.quiet
        if self.depth:
            words += ["--depth", self.depth]
        if self.single is not None:
            words.append("--single-branch" if self.single else "--no-single-branch")
        return words


def remote_of(git: Invocation) -> str:
    """Return the remote of the current branch of a repository."""
    branch = git.repository.branch().removeprefix("refs/heads/")
    return git.config.get(f"branch.{branch}.remote", "origin") if branch else "origin"


# absorbing


def absorb(git: Invocation, path: str, above: str = "") -> None:
    """Move the `.git` folder of a submodule, and of those within, below `.git/modules`."""
    repository = git.repository
    refuse_linked_path(git, path)
    folder = folder_of(repository, path)
    dot = f"{repository.work_path(encode(path))}/.git"
    if folder is None:
        if not git.fs.exists(dot, follow=False):
            return
        module = read_modules(git).at(path)
        if module is None:
            raise Fatal(f"could not lookup name for submodule '{path}'")
        place = module_folder(repository, module.name)
        if not is_repository(git.fs, place):
            raise Fatal(f"not a git repository: {dot}")
        connect(git, path, place)
    elif not git.fs.realpath(folder).startswith(repository.common):
        if git.fs.is_dir(dot):
            _relocate(git, path, above)
    inner = Superproject(enter(git, repository.work_path(encode(path))), f"{above}{path}/")
    for entry in inner.listed(()):
        name = decode(entry.path)
        git.budget.nested(lambda name=name: absorb(inner.git, name, inner.above))  # type: ignore[misc]


def _relocate(git: Invocation, path: str, above: str) -> None:
    repository, fs = git.repository, git.fs
    where = repository.work_path(encode(path))
    old = f"{where}/.git"
    if fs.stat(old, follow=False).is_link:
        raise Fatal(f"'{path}/.git' is a symbolic link, which is not followed in this sandbox")
    if fs.is_dir(f"{old}/worktrees") and fs.listdir(f"{old}/worktrees"):
        raise Fatal(
            f"relocate_gitdir for submodule '{path}' with more than one worktree not supported"
        )
    module = read_modules(git).at(path)
    if module is None:
        raise Fatal(f"could not lookup name for submodule '{path}'")
    new = module_folder(repository, module.name)
    refuse_inner_folder(
        repository, module.name, f"refusing to move '{fs.realpath(old)}' into an existing git dir"
    )
    fs.makedirs(posixpath.dirname(new), 0o777 & ~git.ctx.umask)
    git.say(f"Migrating git directory of '{above}{path}' from\n'{fs.realpath(old)}' to\n'{new}'")
    if fs.exists(new, follow=False):
        raise Fatal(f"could not migrate git directory from '{old}' to '{new}'")
    try:
        fs.rename(old, new)
    except OSError as error:
        raise Plain(
            f"fatal: could not migrate git directory from '{old}' to '{new}': {error.strerror}",
            128,
        ) from None
    connect(git, path, new)


def unset_worktree(git: Invocation, module: Submodule) -> None:
    """Let the repository of a submodule have no worktree: it is no longer checked out."""
    place = f"{module_folder(git.repository, module.name)}/config"
    if not git.fs.is_file(place) or not set_in_file(git, place, "core.worktree", None):
        git.warn(f"Could not unset core.worktree setting in submodule '{module.path}'")
