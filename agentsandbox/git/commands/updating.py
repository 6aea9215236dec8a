"""`git submodule update`: first all clones, then a checkout (or merge, or rebase) in each."""

from __future__ import annotations

import posixpath

from agentsandbox.git.commands.submodule_words import QUIET, Words, chosen_to_init, refused_usage
from agentsandbox.git.errors import Fatal, GitError
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.modules import Submodule, linked_part, set_in_file
from agentsandbox.git.nested import ask_git, enter, enter_path, run_git
from agentsandbox.git.superproject import CloneOptions, Superproject, remote_of
from agentsandbox.git.worktree import Worktree
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.index import Entry

_MODES = {
    "--checkout": "checkout", "-m": "merge", "--merge": "merge", "-r": "rebase",
    "--rebase": "rebase",
}  # fmt: skip
_DONE = {
    "checkout": "Submodule path '{path}': checked out '{oid}'",
    "merge": "Submodule path '{path}': merged in '{oid}'",
    "rebase": "Submodule path '{path}': rebased into '{oid}'",
    "command": "Submodule path '{path}': '{command} {oid}'",
}
_FAILED = {
    "checkout": "Unable to checkout '{oid}' in submodule path '{path}'",
    "merge": "Unable to merge '{oid}' in submodule path '{path}'",
    "rebase": "Unable to rebase '{oid}' in submodule path '{path}'",
    "command": "Execution of '{command} {oid}' failed in submodule path '{path}'",
}


class UpdateOptions:
    """What the command line of `update` says."""

    def __init__(self, git: Invocation, words: list[str]) -> None:
        given = Words(git, words, {
            **QUIET, **{word: f"mode {mode}" for word, mode in _MODES.items()},
            "--progress": "progress", "-i": "init", "--init": "init", "--require-init": "require",
            "--remote": "remote", "-N": "no-fetch", "--no-fetch": "no-fetch", "-f": "force",
            "--force": "force", "--reference": "reference=", "--dissociate": "dissociate",
            "--recursive": "recursive", "--recommend-shallow": "shallow",
            "--no-recommend-shallow": "deep", "--depth": "depth=", "-j": "jobs=",
            "--jobs": "jobs=", "--single-branch": "single", "--no-single-branch": "all-branches",
            "--filter": "filter=",
        })  # fmt: skip
        for name in ("reference", "dissociate", "filter"):
            if given.on(name):
                raise Fatal(f"git submodule update --{name} is not supported in this sandbox")
        for name in ("depth", "jobs"):
            if given.on(name) and not given.given[name].isdigit():
                text = f"error: option `{name}' expects a numerical value"
                raise refused_usage(git, text)
        self.words = given.operands
        self.quiet, self.force = given.on("quiet"), given.on("force")
        self.init = given.on("init") or given.on("require")
        self.remote, self.no_fetch = given.on("remote"), given.on("no-fetch")
        self.recursive = given.on("recursive")
        self.recommends = not given.on("deep")
        """Whether `submodule.NAME.shallow` counts."""
        modes = [name[5:] for name in given.given if name.startswith("mode ")]
        order = [mode for mode in ("checkout", "merge", "rebase") if mode in modes]
        self.mode = order[0] if order else ""
        self.clone = CloneOptions()
        self.clone.quiet = self.quiet
        self.clone.depth = given.given.get("depth", "")
        self.clone.require_init = given.on("require")
        if given.on("single") or given.on("all-branches"):
            self.clone.single = given.on("single")


def submodule_update(git: Invocation, words: list[str]) -> int:
    return Updater(Superproject(git), UpdateOptions(git, words)).run()


class Updater:
    """Updates the submodules of one repository, and those within."""

    def __init__(self, top: Superproject, options: UpdateOptions, *, nested: bool = False) -> None:
        self.top = top
        self.git = top.git
        self.options = options
        self.words = [] if nested else options.words

    def run(self) -> int:
        """Update and return the status."""
        options, top = self.options, self.top
        entries = top.listed(self.words)
        if options.init:
            for path in chosen_to_init(top, self.words):
                top.initialize(path, quiet=options.quiet)
        found: list[tuple[Entry, Submodule, bool]] = []
        failed: list[tuple[Entry, Submodule]] = []
        for entry in entries:
            module = self._wanted(entry)
            if module is None:
                continue
            needed = not self.git.fs.exists(f"{top.place(decode(entry.path))}/.git")
            found.append((entry, module, needed))
            if needed and not self._clone(module, "Retry scheduled"):
                failed.append((entry, module))
        for _, module in failed:
            if not self._clone(module, ""):
                return 1
        status = 0
        for entry, module, cloned in found:
            code = self._update_guarded(entry, module, cloned)
            status = code or status
            if code == 128:
                break
        return status

    # clones

    def _wanted(self, entry: Entry) -> Submodule | None:
        """Return the submodule of an entry if it is to be updated; say why not."""
        top, git, path = self.top, self.git, decode(entry.path)
        if entry.stage:
            git.say(f"Skipping unmerged submodule {top.shown(path)}")
            return None
        module = top.modules.at(path)
        if module is not None:
            setting = top.modules.setting(module, "update")
            mode = setting if setting is not None else module.update
            if not self.options.mode and mode == "none":
                git.say(f"Skipping submodule '{top.shown(path)}'")
                return None
        if module is None or not top.modules.is_active(path):
            if self.words:
                git.say(
                    f"Submodule path '{top.shown(path)}' not initialized\n"
                    "Maybe you want to use 'update --init'?"
                )
            return None
        return module

    def _clone(self, module: Submodule, comfort: str) -> bool:
        """Clone a submodule; return whether that succeeded."""
        top = self.top
        url = top.modules.setting(module, "url")
        options = self.options.clone
        if self.options.recommends and module.shallow:
            options = CloneOptions()
            options.quiet, options.single = self.options.quiet, self.options.clone.single
            options.depth = "1"
        try:
            if url is None:
                url = top.resolved(module.url or "", quiet=False)
            top.clone(module, url, options)
        except GitError as error:
            if error.message:
                self.git.say(f"{error.prefix}{error.message}")
            end = f". {comfort}" if comfort else " a second time, aborting"
            self.git.say(f"Failed to clone '{module.path}'{end}")
            return False
        return True

    # updates

    def _update_guarded(self, entry: Entry, module: Submodule, cloned: bool) -> int:
        try:
            return self._update(entry, module, cloned)
        except GitError as error:
            if error.message:
                self.git.say(f"{error.prefix}{error.message}")
            return error.status

    def _update(self, entry: Entry, module: Submodule, cloned: bool) -> int:
        top, path = self.top, decode(entry.path)
        problem = linked_part(top.repository, path)
        if problem:
            self.git.say(problem)
            return 128
        shown = top.shown(path)
        self._connect(path)
        mode = self._mode(module, cloned)
        head = None if cloned else Worktree(top.repository).head_of_nested(entry.path)
        if head is None and not cloned:
            raise Fatal(f"Unable to find current revision in submodule path '{shown}'")
        oid = self._remote_oid(module) if self.options.remote else entry.oid
        if oid != head or self.options.force:
            code = self._change(module, oid, mode, force=head is None or self.options.force)
            if code:
                return code
        if not self.options.recursive:
            return 0
        code = self.git.budget.nested(
            lambda: Updater(top.below(path), self.options, nested=True).run()
        )
        if code:
            self.git.say(f"fatal: Failed to recurse into submodule path '{shown}'")
        return code

    def _connect(self, path: str) -> None:
        """Let `core.worktree` be right even if the folder was moved."""
        made = enter_path(self.git, path)
        folder = made.repository.common
        if made.config.find("core.worktree") is not None and "core.worktree" not in (
            key for key, _ in made.settings
        ):
            where = posixpath.relpath(self.top.place(path), folder)
            set_in_file(self.git, f"{folder}/config", "core.worktree", where)

    def _mode(self, module: Submodule, cloned: bool) -> str:
        """Return "checkout", "merge", "rebase", "none" or "!COMMAND"."""
        mode: str = self.options.mode
        if not mode:
            setting = self.top.modules.setting(module, "update")
            mode = module.update or "checkout" if setting is None else setting
            if mode not in ("checkout", "merge", "rebase", "none") and not mode.startswith("!"):
                raise Fatal(
                    f"Invalid update mode '{mode}' configured for submodule path '{module.path}'"
                )
        return "checkout" if cloned and mode in ("merge", "rebase", "none") else mode

    def _remote_oid(self, module: Submodule) -> str:
        """Return the commit of the remote's branch that a submodule follows."""
        path = module.path or ""
        made = enter_path(self.git, path)
        remote = remote_of(made)
        branch = self.top.modules.setting(module, "branch") or module.branch or "HEAD"
        if branch == ".":
            current = self.top.repository.branch()
            if not current:
                raise Fatal(
                    f"Submodule ({module.name}) branch configured to inherit branch from "
                    "superproject, but the superproject is not on any branch"
                )
            branch = current.removeprefix("refs/heads/")
        name = f"refs/remotes/{remote}/{branch}"
        if not self.options.no_fetch and self._fetch(path, quiet=False):
            raise Fatal(f"Unable to fetch in submodule path '{path}'")
        oid = enter_path(self.git, path).repository.refs.read(name)
        if oid is None:
            raise Fatal(f"Unable to find {name} revision in submodule path '{path}'")
        return oid

    def _fetch(self, path: str, *, quiet: bool, oid: str = "") -> int:
        words = ["fetch", *["--quiet"] * quiet]
        if self.options.clone.depth:
            words.append(f"--depth={self.options.clone.depth}")
        if oid:
            words += [self.top.default_remote(), oid]
        return run_git(enter(self.git, self.top.place(path)), words)

    def _is_reachable(self, path: str, oid: str) -> bool:
        found = ask_git(
            self.git, self.top.place(path), "rev-list", "-n", "1", oid, "--not", "--all"
        )
        return found == ""

    def _change(self, module: Submodule, oid: str, mode: str, *, force: bool) -> int:
        """Fetch a commit if it is missing, and move the submodule to it."""
        path, quiet = module.path or "", self.options.quiet
        shown = self.top.shown(path)
        if not self.options.no_fetch and not self._is_reachable(path, oid):
            if self._fetch(path, quiet=quiet) and not quiet:
                self.git.say(
                    f"Unable to fetch in submodule path '{shown}'; trying to directly fetch {oid}:"
                )
            if not self._is_reachable(path, oid) and self._fetch(path, quiet=quiet, oid=oid):
                raise Fatal(
                    f"Fetched in submodule path '{shown}', but it did not contain {oid}. "
                    "Direct fetching of that commit failed."
                )
        command = mode[1:] if mode.startswith("!") else ""
        kind = "command" if command else mode
        made = enter(self.git, self.top.place(path))
        if command:
            code, _ = made.run(["sh", "-c", f'{command} "$@"', command, oid])
        else:
            words = {"checkout": ["checkout", "-q", *["-f"] * force]}.get(
                kind, [kind, *["--quiet"] * quiet]
            )
            code = run_git(made, [*words, oid])
        values = {"{path}": shown, "{oid}": oid, "{command}": command}
        text = _FAILED[kind] if code else _DONE[kind]
        for mark, value in values.items():
            text = text.replace(mark, value)
        if code:
            self.git.say(f"fatal: {text}")
            return code if kind == "checkout" else 128
        if not quiet:
            self.git.print(text)
            self.git.flush()
        return 0
