"""What `fetch` does after the repository itself: it fetches in the submodules.

By default ("on-demand") only in those whose commits, as the new commits of the superproject name
them, are not there yet; with "yes" in all that are checked out.
"""

from __future__ import annotations

from functools import partial

from agentsandbox.git.config import word_as_bool
from agentsandbox.git.errors import Fatal
from agentsandbox.git.history import Walk
from agentsandbox.git.modules import (
    linked_part,
    module_folder,
    read_modules,
)
from agentsandbox.git.nested import ask_git, enter, folder_of
from agentsandbox.git.objects import SUBMODULE
from agentsandbox.git.repository import is_repository
from agentsandbox.git.trees import diff_trees
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.invocation import Invocation

    FetchIn = Callable[[Invocation, list[str], str, str], int]
    """Fetches in a submodule: from an invocation there, the words, the prefix of shown paths and
    the mode for submodules within; returns the status."""


def checked_mode(text: str, key: str = "--recurse-submodules") -> str:
    """Return "yes", "no" or "on-demand"; Fatal for another value of an option or a key."""
    if text == "on-demand":
        return text
    found = word_as_bool(text)
    if found is None:
        raise Fatal(f"bad {key.removeprefix('--')} argument: {text}")
    return "yes" if found else "no"


class Changed:
    """A submodule that new commits name, with the commits that it should have."""

    def __init__(self, path: str, commit: str) -> None:
        self.path = path
        self.commit = commit
        """The commit of the superproject in which it was found first."""
        self.oids: list[str] = []


class SubmoduleFetcher:
    """Fetches in submodules after the references of their superproject changed."""

    def __init__(self, git: Invocation, choice: str, default: str, prefix: str) -> None:
        self.git = git
        self.repository = git.repository
        self.choice = choice
        """The mode of the command line, "" for none."""
        self.default = default
        self.prefix = prefix
        self.before: list[str] = []
        self.status = 0
        self.failed: list[str] = []

    def is_needed(self) -> bool:
        """Whether there may be anything to fetch in."""
        repository = self.repository
        if repository.worktree is None or self.choice == "no":
            return False
        if any(entry.mode == SUBMODULE for entry in repository.index()):
            return True
        return self.git.fs.is_dir(f"{repository.folder}/modules")

    def note_before(self) -> None:
        """Remember the references before the fetch."""
        self.before = list(self.repository.refs.all().values())

    def run(self, fetch: FetchIn, *, quiet: bool, new: list[str]) -> int:
        """Fetch in the submodules and return the status."""
        changed = self._changed(new)
        modules = read_modules(self.git)
        seen: set[str] = set()
        for entry in self.repository.index():
            if entry.mode != SUBMODULE:
                continue
            path = decode(entry.path)
            module = modules.at(path)
            name = module.name if module is not None else path
            mode = self._mode(name, changed)
            if not mode or name in seen:
                continue
            seen.add(name)
            if linked_part(self.repository, path):
                raise Fatal(linked_part(self.repository, path).removeprefix("error: "))
            where = self.repository.work_path(entry.path)
            if folder_of(self.repository, path) is None:
                if self.git.fs.is_dir(where) and self.git.fs.listdir(where):
                    self.status = 1
                    self.git.say(f"Could not access submodule '{path}'")
                continue
            if not quiet:
                self.git.say(f"Fetching submodule {self.prefix}{path}")
            self._fetch(fetch, partial(enter, self.git, where), name, path, mode, changed)
        for name in sorted(changed.keys() - seen):
            self._fetch_hidden(fetch, name, changed, quiet=quiet)
        if self.failed:
            lines = "".join(f"\t{name}\n" for name in self.failed)
            self.git.say_raw(f"Errors during submodule fetch:\n{lines}")
        return self.status

    def _mode(self, name: str, changed: dict[str, Changed]) -> str:
        """Return the mode for what is within a submodule, "" if it is not fetched."""
        mode = self.choice
        if not mode:
            key = f"submodule.{name}.fetchrecursesubmodules"
            found = self.repository.config.find(key)
            text = read_modules(self.git).fetches.get(name) if found is None else found.text
            mode = self.default if text is None else checked_mode(text, key)
        if mode == "on-demand":
            return mode if name in changed else ""
        return "" if mode == "no" else mode

    def _fetch_hidden(
        self, fetch: FetchIn, name: str, changed: dict[str, Changed], *, quiet: bool
    ) -> None:
        """Fetch in a submodule that is cloned, but not checked out now."""
        one = changed[name]
        if not read_modules(self.git).is_active(one.path) or not self._mode(name, changed):
            return
        folder = module_folder(self.repository, name)
        if not is_repository(self.git.fs, folder):
            return
        if not quiet:
            short = self.repository.short(one.commit)
            self.git.say(f"Fetching submodule {self.prefix}{one.path} at commit {short}")
        env = {"GIT_DIR": ".", "GIT_WORK_TREE": "."}
        self._fetch(fetch, partial(enter, self.git, folder, env), name, one.path, "on-demand",
                    changed)  # fmt: skip

    def _fetch(
        self, fetch: FetchIn, start: Callable[[], Invocation], name: str, path: str, mode: str,
        changed: dict[str, Changed],
    ) -> None:  # fmt: skip
        prefix = f"{self.prefix}{path}/"
        made = start()
        more: list[str] = []
        status: int = self.git.budget.nested(lambda: fetch(made, more, prefix, mode))
        if status:
            self.status = 1
            self.failed.append(name)
        one = changed.get(name)
        if one is None:
            return
        objects = start().repository.objects
        missing = [oid for oid in one.oids if oid not in objects]
        if not missing:
            return
        more = ["origin", *missing]
        status = self.git.budget.nested(lambda: fetch(start(), more, prefix, "on-demand"))
        if status:
            self.status = 1
            self.failed.append(name)

    # what changed

    def _changed(self, new: list[str]) -> dict[str, Changed]:
        """Return the submodules that lack commits which the new commits name, by name."""
        repository = self.repository
        objects = repository.objects
        walk = Walk(repository)
        walk.tips = list(dict.fromkeys(self._commits(new)))
        walk.hidden = list(dict.fromkeys(self._commits(self.before)))
        modules = read_modules(self.git)
        found: dict[str, Changed] = {}
        for commit in walk.run():
            self.git.budget.step()
            tree = objects.commit(commit).tree
            parents = repository.parents(commit)
            common: dict[bytes, str] | None = None
            trees: list[str | None] = [objects.commit(each).tree for each in parents]
            for old in trees or [None]:
                links = {
                    delta.new_path: delta.new_oid
                    for delta in diff_trees(objects, old, tree)
                    if delta.new_mode == SUBMODULE
                }
                common = (
                    links
                    if common is None
                    else {path: oid for path, oid in common.items() if path in links}
                )
            for link, oid in (common or {}).items():
                path = decode(link)
                module = modules.at(path)
                name = module.name if module is not None else path
                if module is None and folder_of(repository, path) is None:
                    continue
                found.setdefault(name, Changed(path, commit)).oids.append(oid)
        return {name: one for name, one in found.items() if not self._has_all(name, one)}

    def _commits(self, oids: list[str]) -> list[str]:
        objects = self.repository.objects
        return [
            commit
            for oid in oids
            if oid in objects and (commit := objects.peel(oid, "commit")) is not None
        ]

    def _has_all(self, name: str, one: Changed) -> bool:
        """Whether all commits are in the submodule, and reached from its references."""
        where = self.repository.work_path(encode(one.path))
        if linked_part(self.repository, one.path) or folder_of(self.repository, one.path) is None:
            return False
        objects = enter(self.git, where).repository.objects
        if any(oid not in objects for oid in one.oids):
            return False
        del name
        return ask_git(self.git, where, "rev-list", "-n", "1", *one.oids, "--not", "--all") == ""
