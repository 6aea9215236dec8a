"""Branches: making them, and what the configuration says about them."""

from __future__ import annotations

from agentsandbox.git.config import read_text, rename_section, with_value
from agentsandbox.git.errors import Fatal
from agentsandbox.git.refs import is_branch_name
from agentsandbox.git.revisions import Resolver, branch_named, count_refs, find_ref
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation


def _change(git: Invocation, before: str, after: str) -> None:
    path = f"{git.repository.common}/config"
    if before != after:
        git.fs.write_bytes(path, encode(after), permissions=0o666 & ~git.ctx.umask)
        git.forget_config()


def edit_config(git: Invocation, key: str, value: str | None) -> None:
    """Set or remove a key of the repository's configuration."""
    before = read_text(git.fs, f"{git.repository.common}/config")
    after, _ = with_value(before, key, value, lambda text: True, replace_all=True)
    _change(git, before, after)


def remove_branch_config(git: Invocation, name: str) -> None:
    """Remove what the configuration says about a branch."""
    before = read_text(git.fs, f"{git.repository.common}/config")
    after, _ = rename_section(before, f"branch.{name}", None)
    _change(git, before, after)


def rename_branch_config(git: Invocation, old: str, new: str, *, copies: bool) -> None:
    """Let what the configuration says about a branch hold for another name."""
    before = read_text(git.fs, f"{git.repository.common}/config")
    after, count = rename_section(before, f"branch.{old}", f"branch.{new}")
    if copies and count:
        for key, value in git.config.below(f"branch.{old}.").items():
            before_key = read_text(git.fs, f"{git.repository.common}/config")
            text, _ = with_value(before_key, f"branch.{new}.{key}", value, lambda text: True)
            _change(git, before_key, text)
        return
    _change(git, before, after)


def set_upstream(git: Invocation, name: str, upstream: str, *, quiet: bool = False) -> bool:
    """Let a branch follow a reference; False if it is not a branch."""
    way = ""
    found = _remote_of(git, upstream)
    if found is not None:
        remote, merge = found
    elif upstream.startswith("refs/heads/"):
        remote, merge = ".", upstream
    else:
        return False
    edit_config(git, f"branch.{name}.remote", remote)
    edit_config(git, f"branch.{name}.merge", merge)
    if git.config.get("branch.autosetuprebase") in (
        "always",
        "remote" if remote != "." else "local",
    ):
        edit_config(git, f"branch.{name}.rebase", "true")
        way = " by rebasing"
    if not quiet:
        shown = merge.removeprefix("refs/heads/")
        if remote != ".":
            shown = f"{remote}/{shown}"
        git.print(f"branch '{name}' set up to track '{shown}'{way}.")
    return True


def _remote_of(git: Invocation, ref: str) -> tuple[str, str] | None:
    """Return (remote, its reference) that a remote-tracking reference follows."""
    for key in git.config.below("remote."):
        if not key.endswith(".fetch"):
            continue
        remote = key.removesuffix(".fetch")
        for spec in git.config.get_all(f"remote.{remote}.fetch"):
            source, _, target = spec.removeprefix("+").partition(":")
            if target == ref:
                return remote, source
            before, star, after = target.partition("*")
            if star and ref.startswith(before) and ref.endswith(after):
                middle = ref[len(before) : len(ref) - len(after)]
                return remote, source.replace("*", middle, 1)
    return None


def create_branch(
    git: Invocation,
    name: str,
    start: str,
    *,
    force: bool = False,
    track: bool | None = None,
    quiet: bool = False,
    current_too: bool = False,
) -> str:
    """Make a branch at a start point and return the commit.

    track        set the upstream; None if the start is a remote-tracking branch
    current_too  whether the current branch may be moved
    """
    repository = git.repository
    name = branch_named(repository, name)
    if not is_branch_name(name):
        raise Fatal(f"'{name}' is not a valid branch name")
    full = f"refs/heads/{name}"
    exists = repository.refs.read(full) is not None
    if exists and not force:
        raise Fatal(f"a branch named '{name}' already exists")
    if exists and repository.branch() == full and not current_too:
        raise Fatal(
            f"cannot force update the branch '{name}' checked out at '{repository.worktree}'"
        )
    if count_refs(repository, start) > 1:
        repository.git.warn(f"refname '{start}' is ambiguous.")
        raise Fatal(f"ambiguous object name: '{start}'")
    found = Resolver(git).find(start, kind="commit")
    commit = repository.objects.peel(found, "commit") if found is not None else None
    if found is None:
        shown = start
        if start == "HEAD" and repository.head() is None:
            shown = repository.branch().removeprefix("refs/heads/")
        raise Fatal(f"not a valid object name: '{shown}'")
    if commit is None:
        raise Fatal(f"not a valid branch point: '{start}'")
    ref = find_ref(repository, start)
    message = f"branch: {'Reset to' if exists else 'Created from'} {start}"
    repository.refs.write(full, commit, message)
    if ref is not None and track is not False:
        auto = git.config.get("branch.autosetupmerge", "true")
        is_remote = ref[0].startswith("refs/remotes/")
        if (
            track
            or (is_remote and auto != "false")
            or (auto == "always" and ref[0].startswith("refs/heads/"))
        ):
            base = ref[0]
            if base == "HEAD":
                base = repository.branch()
            if not set_upstream(git, name, base, quiet=quiet) and track:
                raise Fatal(
                    f"cannot set up tracking information; starting point '{start}' is not a branch"
                )
    elif track:
        raise Fatal(f"cannot set up tracking information; starting point '{start}' is not a branch")
    return commit
