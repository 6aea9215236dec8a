"""`git remote`."""

from __future__ import annotations

from agentsandbox.git.branches import edit_config
from agentsandbox.git.commands.fetching import USAGES as FETCH_USAGES
from agentsandbox.git.commands.fetching import fetch_from, stale_refs
from agentsandbox.git.config import normal_key, read_text, rename_section, with_value
from agentsandbox.git.errors import BadUsage, Fatal, GitError, Quit
from agentsandbox.git.history import is_ancestor
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.refs import is_ref_name
from agentsandbox.git.refspecs import pretty
from agentsandbox.git.remotes import Remote, find_remote, remote_names
from agentsandbox.git.transports import open_peer
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# ruff: noqa: E501  the usage text is as wide as git's
USAGES = {
    "remote": """
git remote [-v | --verbose]
   or: git remote add [-t <branch>] [-m <master>] [-f] [--tags | --no-tags] [--mirror=<fetch|push>] <name> <url>
   or: git remote rename [--[no-]progress] <old> <new>
   or: git remote remove <name>
   or: git remote set-head <name> (-a | --auto | -d | --delete | <branch>)
   or: git remote [-v | --verbose] show [-n] <name>
   or: git remote prune [-n | --dry-run] <name>
   or: git remote [-v | --verbose] update [-p | --prune] [(<group> | <remote>)...]
   or: git remote set-branches [--add] <name> <branch>...
   or: git remote get-url [--push] [--all] <name>
   or: git remote set-url [--push] <name> <newurl> [<oldurl>]
   or: git remote set-url --add <name> <newurl>
   or: git remote set-url --delete <name> <url>

    -v, --verbose         be verbose; must be placed before a subcommand
""",
}
_ADD = """
git remote add [<options>] <name> <url>

    -f, --fetch           fetch the remote branches
    --tags                import all tags and associated objects when fetching
                          or do not fetch any tag at all (--no-tags)
    -t, --track <branch>  branch(es) to track
    -m, --master <branch>
                          master branch
    --mirror[=(push|fetch)]
                          set up remote as a mirror to push to or fetch from
"""
_RENAME = """
git remote rename [--[no-]progress] <old> <new>

    --progress            force progress reporting
"""
_REMOVE = "git remote remove <name>"
_SET_HEAD = """
git remote set-head <name> (-a | --auto | -d | --delete | <branch>)

    -a, --auto            set refs/remotes/<name>/HEAD according to remote
    -d, --delete          delete refs/remotes/<name>/HEAD
"""
_SHOW = """
git remote show [<options>] <name>

    -n                    do not query remotes
"""
_PRUNE = """
git remote prune [<options>] <name>

    -n, --dry-run         dry run
"""
_UPDATE = """
git remote update [<options>] [<group> | <remote>]...

    -p, --prune           prune remotes after fetching
"""
_SET_BRANCHES = """
git remote set-branches <name> <branch>...
   or: git remote set-branches --add <name> <branch>...

    --add                 add branch
"""
_GET_URL = """
git remote get-url [--push] [--all] <name>

    --push                query push URLs rather than fetch URLs
    --all                 return all URLs
"""
_SET_URL = """
git remote set-url [--push] <name> <newurl> [<oldurl>]
   or: git remote set-url --add <name> <newurl>
   or: git remote set-url --delete <name> <url>

    --push                manipulate push URLs
    --add                 add URL
    --delete              delete URLs
"""


def remote(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["remote"], words, stop=True)
    operands = options.operands
    git.repository  # noqa: B018  a repository is needed
    if not operands:
        return _list(git, verbose=options.on("verbose"))
    found = _SUBCOMMANDS.get(operands[0])
    if found is None:
        raise BadUsage(f"unknown subcommand: `{operands[0]}'")
    usage, function = found
    try:
        chosen = parse_options(usage, operands[1:])
        if options.on("verbose"):
            chosen.counts["verbose"] = 1
        return function(git, chosen)
    except BadUsage as error:
        from agentsandbox.git.options import table_of

        if error.message:
            git.error(error.message)
        if error.usage:
            git.say(table_of(usage).text().rstrip("\n") + ("\n" if "\n    " in usage else ""))
        raise Quit(129) from None


def _list(git: Invocation, *, verbose: bool) -> int:
    for name in remote_names(git):
        if not verbose:
            git.print(name)
            continue
        found = find_remote(git, name)
        git.print(f"{name}\t{found.urls[0]} (fetch)")
        for url in found.push_urls:
            git.print(f"{name}\t{url} (push)")
    return 0


def _named(git: Invocation, name: str, *, mark: str = ": ", status: int = 2) -> Remote:
    found = find_remote(git, name)
    if not found.is_named:
        raise GitError(f"No such remote{mark}'{name}'", status)
    return found


class _Config:
    """The text of the repository's configuration while it is changed."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.path = f"{git.repository.common}/config"
        self.text = read_text(git.fs, self.path)

    def add(self, key: str, value: str) -> None:
        self.text, _ = with_value(
            self.text, normal_key(key), value, lambda text: True, add=True, spelling=key
        )

    def set(self, key: str, value: str | None, matches: Callable[[str], bool]) -> None:
        self.text, _ = with_value(
            self.text, normal_key(key), value, matches, replace_all=True, spelling=key
        )

    def save(self) -> None:
        git = self.git
        git.fs.write_bytes(self.path, encode(self.text), permissions=0o666 & ~git.ctx.umask)
        git.forget_config()


def _add(git: Invocation, options: Options) -> int:
    if len(options.operands) != 2:
        raise BadUsage
    name, url = options.operands
    mirror = options.on("mirror")
    kind = options.get("mirror") or ("both" if mirror else "")
    if mirror and kind == "both":
        git.warn(
            "--mirror is dangerous and deprecated; please\n\t use --mirror=fetch or "
            "--mirror=push instead"
        )
    if kind not in ("", "both", "fetch", "push"):
        raise BadUsage(f"unknown --mirror argument: {kind}")
    if mirror and options.given("master"):
        raise Fatal("specifying a master branch makes no sense with --mirror")
    if mirror and kind == "push" and options.given("track"):
        raise Fatal("specifying branches to track makes sense only with fetch mirrors")
    if name in {key.rpartition(".")[0] for key in git.config.below("remote.")}:
        raise GitError(f"remote {name} already exists.", 3)
    if not is_ref_name(f"refs/remotes/{name}/test"):
        raise Fatal(f"'{name}' is not a valid remote name")
    config = _Config(git)
    config.add(f"remote.{name}.url", url)
    if kind != "push":
        for branch in options.all("track") or ["*"]:
            config.add(f"remote.{name}.fetch", _tracking_spec(name, branch, mirror=mirror))
    if kind in ("push", "both"):
        config.add(f"remote.{name}.mirror", "true")
    if options.given("tags"):
        config.add(f"remote.{name}.tagOpt", "--tags" if options.on("tags") else "--no-tags")
    config.save()
    if options.on("fetch"):
        git.print(f"Updating {name}")
        git.flush()
        if fetch_from(git, name, [], parse_options(FETCH_USAGES["fetch"], []), "remote").failed:
            git.error(f"Could not fetch {name}")
            return 1
    master = options.get("master")
    if master:
        git.repository.refs.write_symbolic(
            f"refs/remotes/{name}/HEAD", f"refs/remotes/{name}/{master}", "remote add"
        )
    return 0


def _tracking_spec(name: str, branch: str, *, mirror: bool = False) -> str:
    if mirror:
        return f"+refs/{branch}:refs/{branch}"
    return f"+refs/heads/{branch}:refs/remotes/{name}/{branch}"


def _rename(git: Invocation, options: Options) -> int:
    if len(options.operands) != 2:
        raise BadUsage
    old, new = options.operands
    _named(git, old)
    if find_remote(git, new).is_named:
        raise GitError(f"remote {new} already exists.", 3)
    if not is_ref_name(f"refs/remotes/{new}/test"):
        raise Fatal(f"'{new}' is not a valid remote name")
    config = _Config(git)
    config.text, _ = rename_section(config.text, f"remote.{old}", f"remote.{new}")
    specs = git.config.get_all(f"remote.{old}.fetch")
    config.set(f"remote.{new}.fetch", None, lambda text: True)
    for spec in specs:
        config.add(
            f"remote.{new}.fetch", spec.replace(f":refs/remotes/{old}/", f":refs/remotes/{new}/")
        )
    for key, value in git.config.below("branch.").items():
        if key.endswith((".remote", ".pushremote")) and value == old:
            config.set(f"branch.{key}", new, lambda text: True)
    config.save()
    refs = git.repository.refs
    prefix = f"refs/remotes/{old}/"
    links = [name for name in refs.all(prefix) if refs.symbolic(name) is not None]
    for name in [*(each for each in refs.all(prefix) if each not in links), *links]:
        target = f"refs/remotes/{new}/{name[len(prefix) :]}"
        link = refs.symbolic(name)
        message = f"remote: renamed {name} to {target}"
        if link is not None:
            refs.delete(name)
            moved = link
            if link.startswith(prefix):
                moved = f"refs/remotes/{new}/{link[len(prefix) :]}"
            refs.write_symbolic(target, moved, message)
        else:
            refs.rename(name, target, message)
    return 0


def _remove(git: Invocation, options: Options) -> int:
    if len(options.operands) != 1:
        raise BadUsage
    name = options.operands[0]
    found = _named(git, name)
    repository = git.repository
    config = _Config(git)
    for key, value in git.config.below("branch.").items():
        branch, _, kind = key.rpartition(".")
        if value != name:
            continue
        if kind == "remote":
            config.set(f"branch.{branch}.remote", None, lambda text: True)
            config.set(f"branch.{branch}.merge", None, lambda text: True)
        elif kind == "pushremote":
            config.set(f"branch.{branch}.pushRemote", None, lambda text: True)
    for ref in list(repository.refs.all("refs/remotes/")):
        if ref == f"refs/remotes/{name}/HEAD" or any(
            not spec.excludes and spec.target and spec.maps_back(ref) is not None
            for spec in found.fetch
        ):
            repository.refs.delete(ref)
    config.text, _ = rename_section(config.text, f"remote.{name}", None)
    config.save()
    return 0


def _set_head(git: Invocation, options: Options) -> int:
    # long: what to set it to
    operands = options.operands
    if not operands:
        raise BadUsage
    name = operands[0]
    refs = git.repository.refs
    full = f"refs/remotes/{name}/HEAD"
    branch = ""
    if options.on("auto") and len(operands) == 1 and not options.on("delete"):
        head = open_peer(git, find_remote(git, name).urls[0]).head()
        if not head:
            return git.error("Cannot determine remote HEAD")
        branch = head.removeprefix("refs/heads/")
    elif options.on("delete") and len(operands) == 1 and not options.on("auto"):
        if not refs.delete(full):
            return git.error(f"Could not delete {full}")
        return 0
    elif len(operands) == 2 and not options.on("auto") and not options.on("delete"):
        branch = operands[1]
    else:
        raise BadUsage
    target = f"refs/remotes/{name}/{branch}"
    if refs.read(target) is None:
        return git.error(f"Not a valid ref: {target}")
    refs.write_symbolic(full, target, "remote set-head")
    if options.on("auto"):
        git.print(f"{name}/HEAD set to {branch}")
    return 0


def _show(git: Invocation, options: Options) -> int:
    if not options.operands:
        return _list(git, verbose=options.on("verbose"))
    for name in options.operands:
        _show_one(git, name, ask=not options.on("n"))
    return 0


def _show_one(git: Invocation, name: str, *, ask: bool) -> None:
    # long: one list after the other
    found = find_remote(git, name)
    repository = git.repository
    git.print(f"* remote {name}")
    git.print(f"  Fetch URL: {found.urls[0]}")
    for url in found.push_urls:
        git.print(f"  Push  URL: {url}")
    prefix = f"refs/remotes/{name}/"
    tracked = {
        ref[len(prefix) :]: oid
        for ref, oid in repository.refs.all(prefix).items()
        if ref != f"{prefix}HEAD"
    }
    refs: dict[str, str] = {}
    if ask:
        peer = open_peer(git, found.urls[0])
        refs = peer.refs()
        head = peer.head().removeprefix("refs/heads/")
        git.print(f"  HEAD branch: {head if head and 'HEAD' in refs else '(unknown)'}")
    else:
        git.print("  HEAD branch: (not queried)")
    rows: list[tuple[str, str]] = []
    if ask:
        for ref in refs:
            if not ref.startswith("refs/heads/"):
                continue
            target = next(
                (t for spec in found.fetch if not spec.excludes and (t := spec.maps(ref))), ""
            )
            branch = pretty(ref)
            if not target:
                continue
            known = repository.refs.read(target) is not None
            rows.append((branch, "tracked" if known else
                         f"new (next fetch will store in remotes/{name})"))  # fmt: skip
        for ref in stale_refs(repository.refs.all(), refs, found.fetch):
            rows.append((ref, "stale (use 'git remote prune' to remove)"))
    else:
        rows = [(branch, "") for branch in tracked]
    rows.sort()
    if rows:
        end = "" if ask else " (status not queried)"
        git.print(f"  Remote branch{'es' if len(rows) > 1 else ''}:{end}")
        width = max(len(row[0]) for row in rows)
        for branch, state in rows:
            git.print(f"    {branch:<{width}} {state}" if state else f"    {branch}")
    _show_pulls(git, name)
    _show_pushes(git, found, refs, ask=ask)


def _show_pulls(git: Invocation, name: str) -> None:
    rows = []
    config = git.config
    for key, value in sorted(config.below("branch.").items()):
        branch, _, kind = key.rpartition(".")
        merge = config.get(f"branch.{branch}.merge")
        if kind == "remote" and value == name and merge:
            rebases = config.get(f"branch.{branch}.rebase").lower() in ("true", "yes", "1", "on")
            rows.append((branch, pretty(merge), rebases))
    if not rows:
        return
    git.print(f"  Local branch{'es' if len(rows) > 1 else ''} configured for 'git pull':")
    width = max(len(row[0]) for row in rows)
    any_rebase = any(row[2] for row in rows)
    for branch, merge, rebases in rows:
        if rebases:
            text = f"rebases onto remote {merge}"
        else:
            text = f"{' ' if any_rebase else ''}merges with remote {merge}"
        git.print(f"    {branch:<{width}} {text}")


def _show_pushes(git: Invocation, found: Remote, refs: dict[str, str], *, ask: bool) -> None:
    repository = git.repository
    if not ask:
        git.print("  Local ref configured for 'git push' (status not queried):")
        git.print("    (matching) pushes to (matching)")
        return
    rows: list[tuple[str, str, str]] = []
    if found.mirror:
        git.print("  Local refs will be mirrored by 'git push'")
        return
    for ref, oid in repository.refs.all("refs/heads/").items():
        if ref not in refs:
            continue
        theirs = refs[ref]
        if theirs == oid:
            state = "up to date"
        elif theirs in repository.objects and is_ancestor(repository, theirs, oid):
            state = "fast-forwardable"
        else:
            state = "local out of date"
        rows.append((pretty(ref), pretty(ref), state))
    if not rows:
        return
    git.print(f"  Local ref{'s' if len(rows) > 1 else ''} configured for 'git push':")
    width = max(len(row[0]) for row in rows)
    other = max(len(row[1]) for row in rows)
    for one, two, state in rows:
        git.print(f"    {one:<{width}} pushes to {two:<{other}} ({state})")


def _prune(git: Invocation, options: Options) -> int:
    if not options.operands:
        raise BadUsage
    for name in options.operands:
        found = find_remote(git, name)
        refs = git.repository.refs
        stale = stale_refs(refs.all(), open_peer(git, found.urls[0]).refs(), found.fetch)
        if stale:
            git.print(f"Pruning {name}\nURL: {found.urls[0]}")
        for ref in stale:
            dry = options.on("dry-run")
            if not dry:
                refs.delete(ref)
            git.print(f" * [{'would prune' if dry else 'pruned'}] {pretty(ref)}")
    return 0


def _update(git: Invocation, options: Options) -> int:
    names = options.operands
    config = git.config
    if not names:
        names = config.get("remotes.default").split() or remote_names(git, ordered=True)
    words = ["--prune"] if options.on("prune") else []
    failed = False
    several = len(names) > 1
    for number, name in enumerate(names):
        group = config.get(f"remotes.{name}").split() or [name]
        for each in group:
            if several or len(group) > 1:
                git.print(f"Fetching {each}")
            chosen = parse_options(FETCH_USAGES["fetch"], words)
            failed |= fetch_from(git, each, [], chosen, "remote update", append=number > 0).failed
    return 1 if failed else 0


def _set_branches(git: Invocation, options: Options) -> int:
    if not options.operands:
        git.error("no remote specified")
        raise BadUsage
    name, *branches = options.operands
    _named(git, name, mark=" ")
    config = _Config(git)
    key = f"remote.{name}.fetch"
    if not options.on("add"):
        config.set(key, None, lambda text: True)
    for branch in branches:
        config.add(key, _tracking_spec(name, branch))
    config.save()
    return 0


def _get_url(git: Invocation, options: Options) -> int:
    if len(options.operands) != 1:
        raise BadUsage
    found = _named(git, options.operands[0], mark=" ")
    urls = found.push_urls if options.on("push") else found.urls
    for url in urls if options.on("all") else urls[:1]:
        git.print(url)
    return 0


def _set_url(git: Invocation, options: Options) -> int:
    # long: four forms
    operands = options.operands
    adds, deletes = options.on("add"), options.on("delete")
    if adds and deletes:
        raise Fatal("--add --delete doesn't make sense")
    if not 2 <= len(operands) <= (2 if adds or deletes else 3):
        raise BadUsage
    name, new = operands[:2]
    _named(git, name, mark=" ")
    key = f"remote.{name}.{'pushurl' if options.on('push') else 'url'}"
    known = git.config.get_all(key)
    if not adds and not deletes and len(operands) == 2:
        if len(known) > 1:
            config = _Config(git)
            config.set(key, new, lambda text: text == known[0])
            config.save()
        else:
            edit_config(git, key, new)
        return 0
    config = _Config(git)
    if adds:
        config.add(key, new)
        config.save()
        return 0
    from agentsandbox.git.texts import text_search

    old = new if deletes else operands[2]
    matches = text_search(old, git.budget, extended=True)
    found = [url for url in known if matches(encode(url))]
    if not found:
        raise Fatal(f"No such URL found: {old}")
    if deletes and not options.on("push") and len(found) == len(known):
        raise Fatal("Will not delete all non-push URLs")
    config.set(key, None if deletes else new, lambda text: text in found)
    config.save()
    return 0


_SUBCOMMANDS: dict[str, tuple[str, Callable[[Invocation, Options], int]]] = {
    "add": (_ADD, _add),
    "rename": (_RENAME, _rename),
    "remove": (_REMOVE, _remove),
    "rm": (_REMOVE, _remove),
    "set-head": (_SET_HEAD, _set_head),
    "show": (_SHOW, _show),
    "prune": (_PRUNE, _prune),
    "update": (_UPDATE, _update),
    "set-branches": (_SET_BRANCHES, _set_branches),
    "get-url": (_GET_URL, _get_url),
    "set-url": (_SET_URL, _set_url),
}
COMMANDS = {"remote": remote}
