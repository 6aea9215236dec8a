"""Remotes: their configuration, and the repositories behind their URLs (`Peer`).

`transports.py` finds the one for a URL.
"""

from __future__ import annotations

import posixpath
import re

from agentsandbox.git.errors import Fatal
from agentsandbox.git.history import is_ancestor
from agentsandbox.git.hooks import hook_path
from agentsandbox.git.objects import NULL
from agentsandbox.git.packing import Missing, copy_objects
from agentsandbox.git.ref_transactions import Change, change_refs
from agentsandbox.git.refspecs import Refspec
from agentsandbox.git.repository import Repository, is_repository
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.git.invocation import Invocation

LOCAL_VARIABLES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX",
    "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_COMMON_DIR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
)  # fmt: skip
"""The variables that are about one repository, and do not hold in another."""


class Remote:
    """A remote as the configuration describes it, or a bare URL."""

    def __init__(self, name: str, urls: list[str], push_urls: list[str]) -> None:
        self.name = name
        self.urls = urls
        self.push_urls = push_urls or urls
        self.fetch: list[Refspec] = []
        self.push: list[Refspec] = []
        self.is_named = False
        self.tags = ""
        """"--tags" or "--no-tags" if remote.NAME.tagOpt says so."""
        self.mirror = False
        self.prune: bool | None = None


def remote_names(git: Invocation, *, ordered: bool = False) -> list[str]:
    """Return the names of the configured remotes, sorted, or in the order of the configuration."""
    names = dict.fromkeys(
        key.rpartition(".")[0] for key in git.config.below("remote.") if "." in key
    )
    offered = {
        name: None for name in git.ctx.host.git_remotes if "/" not in name and ":" not in name
    }
    found = [name for name in names | offered if name]
    return found if ordered else sorted(found)


def find_remote(git: Invocation, name: str) -> Remote:
    """Return the remote with a name; a name that is not configured is a URL."""
    config = git.config
    urls = [value for value in config.get_all(f"remote.{name}.url") if value]
    if not urls and name in git.ctx.host.git_remotes:
        remote = Remote(name, [name], [])
        remote.is_named = "/" not in name and ":" not in name
        if remote.is_named:
            remote.fetch = [Refspec(f"+refs/heads/*:refs/remotes/{name}/*", fetch=True)]
        return remote
    if not urls:
        return Remote(name, [_rewritten(git, name)], [_rewritten(git, name, push=True)])
    remote = Remote(
        name,
        [_rewritten(git, url) for url in urls],
        [_rewritten(git, url) for url in config.get_all(f"remote.{name}.pushurl")]
        or [_rewritten(git, url, push=True) for url in urls],
    )
    remote.is_named = True
    remote.fetch = [
        Refspec(text, fetch=True) for text in config.get_all(f"remote.{name}.fetch") if text
    ]
    remote.push = [
        Refspec(text, fetch=False) for text in config.get_all(f"remote.{name}.push") if text
    ]
    remote.tags = config.get(f"remote.{name}.tagopt")
    remote.mirror = config.flag(f"remote.{name}.mirror")
    remote.prune = config.maybe(f"remote.{name}.prune")
    return remote


def _rewritten(git: Invocation, url: str, *, push: bool = False) -> str:
    """Return a URL with url.BASE.insteadOf (or pushInsteadOf) applied; the longest match counts."""
    for kind in ("pushinsteadof", "insteadof") if push else ("insteadof",):
        best, base = "", ""
        for value in git.config.values:
            if value.key.startswith("url.") and value.key.endswith(f".{kind}"):
                text = value.text or ""
                if text and url.startswith(text) and len(text) > len(best):
                    best, base = text, value.key[4 : -len(kind) - 1]
        if best:
            return base + url[len(best) :]
    return url


def default_remote(git: Invocation, branch: str, *, push: bool = False) -> str:
    """Return the name of the remote that a branch uses: its own, the only one, or origin."""
    config = git.config
    if push:
        chosen = config.get(f"branch.{branch}.pushremote") or config.get("remote.pushdefault")
        if chosen:
            return chosen
    chosen = config.get(f"branch.{branch}.remote") if branch else ""
    if chosen:
        return chosen
    names = remote_names(git)
    return names[0] if len(names) == 1 else "origin"


def shown_url(url: str) -> str:
    """Return a URL as reports of fetch show it."""
    text = re.sub(r"(://)[^/@]*@", r"\1", url.rstrip("/") or url)
    return text[:-4] if len(text) > 4 and text.endswith(".git") else text


# the other side


class Update:
    """One reference to change on the other side, and what became of it."""

    def __init__(self, source: str, name: str, old: str, new: str) -> None:
        self.source = source
        """What the user wrote, or the full name of the local reference; "" deletes."""
        self.name = name
        self.old = old
        self.new = new
        self.force = False
        self.status = "ok"
        """"ok", "up to date", "rejected", "remote rejected" or "remote failure"."""
        self.reason = ""
        self.is_forced = False


class Peer:
    """A repository at the end of a URL."""

    url = ""

    def refs(self) -> dict[str, str]:
        """Return HEAD, if it names a commit, and all references."""
        raise NotImplementedError

    def head(self) -> str:
        """Return the full name of the branch of HEAD, "" if there is none."""
        return ""

    def peeled(self, name: str, oid: str) -> str | None:
        """Return the object behind an annotated tag, None for other references."""
        raise NotImplementedError

    def fetch(self, target: Repository, wanted: list[str], depth: int | None) -> None:
        """Copy what is reached from some objects."""
        raise NotImplementedError

    def push(
        self, git: Invocation, updates: list[Update], options: list[str], *, atomic: bool = False
    ) -> None:
        """Send objects and change references; each update gets its status.

        `options` are texts for the other side, if it takes any. If `atomic`, all references change
        or none does.
        """
        raise Fatal(f"pushing to '{self.url}' is not supported in this sandbox")

    def takes_options(self) -> bool:
        """Whether a push may have options for the other side (`--push-option`)."""
        return False

    def local(self) -> Repository | None:
        """Return the repository if it is in the sandbox."""
        return None


class LocalPeer(Peer):
    """A repository of the sandbox."""

    def __init__(self, repository: Repository, url: str) -> None:
        self.repository = repository
        self.url = url

    def local(self) -> Repository | None:
        return self.repository

    def takes_options(self) -> bool:
        return self.repository.config.flag("receive.advertisepushoptions")

    def refs(self) -> dict[str, str]:
        repository = self.repository
        head = repository.head()
        found = {} if head is None else {"HEAD": head}
        hidden = tuple(
            name.rstrip("/")
            for name in repository.config.get_all("transfer.hiderefs")
            if name.startswith("refs/")
        )
        for name, oid in repository.refs.all().items():
            if not any(name == each or name.startswith(f"{each}/") for each in hidden):
                found[name] = oid
        return found

    def head(self) -> str:
        return self.repository.branch()

    def peeled(self, name: str, oid: str) -> str | None:
        objects = self.repository.objects
        if oid not in objects or objects.type_of(oid) != "tag":
            return None
        return objects.peel(oid)

    def fetch(self, target: Repository, wanted: list[str], depth: int | None) -> None:
        missing = Missing(self.repository, target.objects)
        missing.add(wanted, depth)
        copy_objects(self.repository.objects, target, missing.names())
        edge = set(missing.shallow)
        if depth is None:
            edge |= shallow_of(self.repository) & {*missing.commits}
        change_shallow(target, edge, missing.deepened - edge)

    def push(
        self, git: Invocation, updates: list[Update], options: list[str], *, atomic: bool = False
    ) -> None:
        receive(git, self.repository, updates, options, atomic=atomic)


def shallow_of(repository: Repository) -> set[str]:
    """Return the commits whose parents were left out."""
    return set((repository.read_file("shallow") or "").split())


def change_shallow(repository: Repository, edge: set[str], deepened: set[str]) -> None:
    """Note at which commits the history of a repository ends."""
    before = shallow_of(repository)
    after = (before - deepened) | edge
    if after != before:
        if after:
            text = "".join(f"{oid}\n" for oid in sorted(after))
            repository.write_file("shallow", text)
        else:
            repository.remove_file("shallow")
        repository.forget_grafts()


# receiving what is pushed to a repository of the sandbox


def receive(
    git: Invocation, repository: Repository, updates: list[Update], options: list[str], *,
    atomic: bool = False,
) -> None:  # fmt: skip
    """Take a push into a repository of the sandbox, as git-receive-pack does."""
    source = git.repository
    wanted = [update for update in updates if update.status == "ok"]
    missing = Missing(source, repository.objects)
    missing.add([update.new for update in wanted if update.new != NULL])
    cut = shallow_of(source) & {*missing.commits}
    for update in wanted:
        if cut and update.new != NULL:
            update.status, update.reason = "remote rejected", "shallow update not allowed"
    wanted = [update for update in wanted if update.status == "ok"]
    if any(update.new != NULL for update in wanted):
        copy_objects(source.objects, repository, missing.names())
    env = {f"GIT_PUSH_OPTION_{at}": option for at, option in enumerate(options)}
    if options:
        env["GIT_PUSH_OPTION_COUNT"] = str(len(options))
    lines = _lines(wanted)
    if wanted and _run_hook(git, repository, "pre-receive", (), lines, env):
        for update in wanted:
            update.status, update.reason = "remote rejected", "pre-receive hook declined"
        return
    reasons: list[str] = []
    for update in wanted:
        reason = _refusal(git, repository, update) or (
            "hook declined"
            if _run_hook(git, repository, "update", (update.name, update.old, update.new), b"", env)
            else ""
        )
        reasons.append(reason)
    changes = [Change(update.name, update.new, update.old, deref=True) for update in wanted]
    reasons = change_refs(repository, changes, reasons, atomic=atomic)
    for update, reason in zip(wanted, reasons, strict=True):
        if reason:
            update.status, update.reason = "remote rejected", reason
    done = [update for update in wanted if update.status == "ok"]
    if done:
        _run_hook(git, repository, "post-receive", (), _lines(done), env)
        _run_hook(git, repository, "post-update", [update.name for update in done], b"", env)


def _lines(updates: list[Update]) -> bytes:
    return encode("".join(f"{each.old} {each.new} {each.name}\n" for each in updates))


def say_remote(git: Invocation, text: str) -> None:
    """Write lines that come from the other side."""
    for line in text.split("\n"):
        git.say(f"remote: {line}        " if line else "remote: ")


def _run_hook(
    git: Invocation, repository: Repository, name: str, words: object, stdin: bytes,
    env: Mapping[str, str],
) -> int:  # fmt: skip
    """Run a hook of the receiving repository; what it prints comes from the other side."""
    path = hook_path(repository, name)
    if path is None:
        return 0
    status, out = git.run(
        ["sh", "-c", '"$0" "$@" 2>&1', path, *words],  # type: ignore[misc]
        cwd=repository.folder, stdin=stdin, capture=True, env={**env, "GIT_DIR": "."},
    )  # fmt: skip
    if out:
        say_remote(git, decode(out).removesuffix("\n"))
    return status


_CURRENT = """By default, updating the current branch in a non-bare repository
is denied, because it will make the index and work tree inconsistent
with what you pushed, and will require 'git reset --hard' to match
the work tree to HEAD.

You can set the 'receive.denyCurrentBranch' configuration variable
to 'ignore' or 'warn' in the remote repository to allow pushing into
its current branch; however, this is not recommended unless you
arranged to update its work tree to match what you pushed in some
other way.

To squelch this message and still keep the default behaviour, set
'receive.denyCurrentBranch' configuration variable to 'refuse'."""
_DELETED = """By default, deleting the current branch is denied, because the next
'git clone' won't result in any file checked out, causing confusion.

You can set 'receive.denyDeleteCurrent' configuration variable to
'warn' or 'ignore' in the remote repository to allow deleting the
current branch, with or without a warning message.

To squelch this message, you can set it to 'refuse'."""


def _choice(repository: Repository, key: str) -> str:
    text = repository.config.get(key).lower()
    if text in ("false", "no", "off", "ignore"):
        return "ignore"
    if text in ("true", "yes", "on", "refuse"):
        return "refuse"
    return text


def _refusal(git: Invocation, repository: Repository, update: Update) -> str:
    """Return why a repository does not take an update, "" if it does."""
    # long: one rule after the other
    config, name = repository.config, update.name
    if not name.startswith("refs/") or (update.new != NULL and name.count("/") < 2):
        return "funny refname"
    is_current = repository.branch() == name
    if is_current and update.new != NULL and repository.worktree is not None:
        choice = _choice(repository, "receive.denycurrentbranch")
        if choice == "warn":
            say_remote(git, "warning: updating the current branch")
        elif choice == "updateinstead":
            return "updateInstead is not supported in this sandbox"
        elif choice != "ignore":
            say_remote(git, f"error: refusing to update checked out branch: {name}")
            if choice != "refuse":
                say_remote(git, f"error: {_CURRENT}")
            return "branch is currently checked out"
    if update.new != NULL and update.new not in repository.objects:
        return "bad pack"
    if update.old != NULL and update.new == NULL and name.startswith("refs/heads/"):
        if config.flag("receive.denydeletes"):
            say_remote(git, f"error: denying ref deletion for {name}")
            return "deletion prohibited"
        if is_current:
            choice = _choice(repository, "receive.denydeletecurrent")
            if choice == "warn":
                say_remote(git, "warning: deleting the current branch")
            elif choice != "ignore":
                if choice != "refuse":
                    say_remote(git, f"error: {_DELETED}")
                say_remote(git, f"error: refusing to delete the current branch: {name}")
                return "deletion of the current branch prohibited"
    if (
        config.flag("receive.denynonfastforwards")
        and name.startswith("refs/heads/")
        and NULL not in (update.old, update.new)
        and not is_ancestor(repository, update.old, update.new)
    ):
        say_remote(git, f"error: denying non-fast-forward {name} (you should pull first)")
        return "non-fast-forward"
    return ""


# finding the other side


def find_repository_at(git: Invocation, path: str) -> Repository | None:
    """Return the repository at a path of the sandbox, None if there is none."""
    base = git.path(path) if path else ""
    if not base:
        return None
    for ending in ("/.git", "", ".git/.git", ".git"):
        place = posixpath.normpath(base + ending)
        if git.fs.is_file(place) and ending.endswith("/.git"):
            text = git.fs.read_text(place).removeprefix("gitdir: ").rstrip("\n")
            target = text if text.startswith("/") else f"{posixpath.dirname(place)}/{text}"
            if is_repository(git.fs, target):
                return open_repository(git, posixpath.normpath(target), posixpath.dirname(place))
        if git.fs.is_dir(place) and is_repository(git.fs, place):
            place = git.fs.realpath(place)
            top = posixpath.dirname(place) if place.endswith("/.git") else None
            return open_repository(git, place, top)
    return None


def open_repository(git: Invocation, folder: str, worktree: str | None) -> Repository:
    """Return another repository of the sandbox, without what the environment says about ours."""
    from agentsandbox.git.invocation import Invocation

    env = {name: value for name, value in git.env.items() if name not in LOCAL_VARIABLES}
    other = Invocation(git.ctx, env, folder)
    repository = Repository(other, folder, worktree, folder)
    if worktree is not None and repository.config.maybe("core.bare"):
        repository = Repository(other, folder, None, folder)
    repository.settle(repository.config)
    other.use(repository)
    return repository
