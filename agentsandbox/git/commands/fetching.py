"""`git fetch`, `pull`, `ls-remote`."""

from __future__ import annotations

from agentsandbox.git.branches import edit_config
from agentsandbox.git.commands.fetching_submodules import SubmoduleFetcher, checked_mode
from agentsandbox.git.errors import Fatal, GitError, MissingObject, Plain, Quit
from agentsandbox.git.history import is_ancestor
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.nested import enter, run_git
from agentsandbox.git.objects import is_object_name
from agentsandbox.git.options import Options, parse_options, refuse_absent
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.refs import is_ref_name
from agentsandbox.git.refspecs import Refspec, find_remote_ref, local_name, pretty
from agentsandbox.git.remotes import (
    Peer,
    Remote,
    default_remote,
    find_remote,
    remote_names,
    shallow_of,
    shown_url,
)
from agentsandbox.git.transports import open_peer
from agentsandbox.kernel.streams import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.commands.fetching_submodules import FetchIn

_FETCH_OPTIONS = """    -v, --verbose         say more
    -q, --quiet           say less
    --all                 fetch from all remotes
    -a, --append          append to FETCH_HEAD
    -f, --force           overwrite local references
    -t, --tags            fetch all tags
    -p, --prune           remove tracking branches that are gone on the remote
    --dry-run             say what would be done
    -k, --keep            keep the pack that is received
    --progress            show progress
    --depth <depth>       fetch only the last commits
    --unshallow           fetch all that is missing in a shallow repository
    --recurse-submodules[=<on-demand>]
                          fetch in submodules: yes, on-demand, no
    -j, --jobs <n>        ignored: one fetch after the other
"""
USAGES = {
    "fetch": """
git fetch [<options>] [<repository> [<refspec>...]]
   or: git fetch [<options>] <group>
   or: git fetch --multiple [<options>] [(<repository> | <group>)...]
   or: git fetch --all [<options>]

"""
    + _FETCH_OPTIONS
    + """    -m, --multiple        fetch from several remotes
    -n                    fetch no tags that are not asked for
    -P, --prune-tags      remove local tags that are gone on the remote
    -u, --update-head-ok  allow the current branch to be changed
    --set-upstream        let the current branch follow what is fetched
    --write-fetch-head    write FETCH_HEAD
    --refmap <refmap>     the refspec that tracks what is fetched
    --auto-gc             ignored: nothing is packed by itself
    --auto-maintenance    ignored: nothing is packed by itself
    --atomic              change all references or none
""",
    "pull": """
git pull [<options>] [<repository> [<refspec>...]]

Options related to merging
    -r, --rebase[=(false|true|merges|interactive)]
                          rebase instead of merging
    -n                    show no summary of the merge
    --stat                show a summary of the merge
    --squash              make one commit of what is merged, not a merge
    --commit              commit the merge
    --edit                edit the message
    --ff                  allow a fast-forward
    --ff-only             refuse what is not a fast-forward
    --autostash           stash local changes before
    -s, --strategy <strategy>
                          the strategy of the merge
    -X, --strategy-option <option>
                          an option of the strategy
    --allow-unrelated-histories
                          merge histories without a common commit
    --signoff             add a Signed-off-by trailer

Options related to fetching
"""
    + _FETCH_OPTIONS
    + """    --set-upstream        let the current branch follow what is fetched
""",
    "ls-remote": """
git ls-remote [--heads] [--tags] [--refs] [--upload-pack=<exec>]
                     [-q | --quiet] [--exit-code] [--get-url]
                     [--symref] [<repository> [<refs>...]]

    -q, --quiet           do not print the URL
    --upload-pack <exec>  the program on the other side
    -t, --tags            only tags
    -h, --heads           only branches
    --refs                neither HEAD nor what tags name
    --get-url             print the URL
    --sort <key>          the order
    --exit-code           exit with 2 if nothing matches
    --symref              show what HEAD names
""",
}


class Fetched:
    """One reference of the other side that is fetched."""

    __slots__ = ("force", "merge", "name", "oid", "opportunistic", "target")

    def __init__(self, name: str, oid: str, target: str, *, force: bool, merge: bool) -> None:
        self.name = name
        self.oid = oid
        self.target = target
        """The local reference, "" without one."""
        self.force = force
        self.merge = merge
        self.opportunistic = False
        """Whether it only updates a tracking branch, and is not in FETCH_HEAD."""


class Fetcher:
    """One fetch from one remote."""

    def __init__(self, git: Invocation, remote: Remote, options: Options, action: str) -> None:
        self.git = git
        self.remote = remote
        self.options = options
        self.action = action
        self.repository = git.repository
        self.quiet = options.on("quiet")
        self.verbose = options.on("verbose") and not self.quiet
        self.dry = options.on("dry-run")
        self.failed = False
        self.url = remote.urls[0]
        self.lines: list[str] = []
        self.fetched: list[Fetched] = []
        self._said = False

    def run(self, words: list[str], *, head_ok: bool) -> None:
        """Fetch what the words (refspecs) or the configuration ask for."""
        peer = open_peer(self.git, self.url)
        refs = peer.refs()
        self.fetched = self._plan(peer, refs, words)
        local = peer.local()
        for each in self.fetched:
            if is_object_name(each.name) and local is not None and each.oid not in local.objects:
                text = f"upload-pack: not our ref {each.oid}"
                raise Plain(f"fatal: git {text}\nfatal: remote error: {text}", 128)
        if not head_ok and not self.options.on("update-head-ok"):
            self._check_current()
        depth = self._depth()
        if self._prunes():
            self._prune(refs, words)
        objects = self.repository.objects
        wanted = [each.oid for each in self.fetched if depth or each.oid not in objects]
        if wanted and not self.dry:
            peer.fetch(self.repository, list(dict.fromkeys(wanted)), depth)
        elif wanted:
            self._fetch_apart(peer, wanted)
        if not words or not self.options.off("tags"):
            self._follow_tags(peer, refs)
        width = self._width()
        for is_merge in (True, False, None):
            for each in self.fetched:
                kind = None if each.opportunistic else each.merge
                if kind is not is_merge:
                    continue
                self._note(each)
                if each.target:
                    self._update(each, width)
                elif not self.quiet and not each.opportunistic:
                    kind_shown = _kind(each.name)
                    self._say("*", kind_shown or "branch", pretty(each.name), "FETCH_HEAD", width)

    def _fetch_apart(self, peer: Peer, wanted: list[str]) -> None:
        """Do as if for --dry-run: git fetches the objects all the same."""
        peer.fetch(self.repository, list(dict.fromkeys(wanted)), None)

    def _depth(self) -> int | None:
        if self.options.on("unshallow"):
            if not shallow_of(self.repository):
                raise Fatal("--unshallow on a complete repository does not make sense")
            return 1 << 30
        text = self.options.get("depth")
        if text is None:
            return None
        if not text.isdigit() or not int(text[:9]):
            raise Fatal(f"depth {text} is not a positive number")
        return int(text[:9])

    # what is fetched

    def _plan(self, peer: Peer, refs: dict[str, str], words: list[str]) -> list[Fetched]:
        # long: refspecs of the command line, of the configuration, or HEAD
        found: list[Fetched] = []
        if words:
            specs = [Refspec(word, fetch=True) for word in _with_tags(words)]
            for spec in specs:
                found += self._matching(refs, spec, merge=not spec.is_pattern)
            excluded = [spec for spec in specs if spec.excludes]
            refmap = self.options.get("refmap")
            tracking = (
                self.remote.fetch
                if refmap is None
                else [Refspec(refmap, fetch=True)]
                if refmap
                else []
            )
            for each in list(found):
                for spec in tracking:
                    target = None if spec.excludes else spec.maps(each.name)
                    if target and target != each.target:
                        extra = Fetched(
                            each.name, each.oid, local_name(target), force=spec.force, merge=False
                        )
                        extra.opportunistic = True
                        found.append(extra)
        elif self.remote.fetch:
            merges = self._configured_merges()
            excluded = [spec for spec in self.remote.fetch if spec.excludes]
            for spec in self.remote.fetch:
                if not spec.excludes:
                    found += self._matching(refs, spec, merge=False)
            has_merge = False
            for each in found:
                if each.name in merges:
                    each.merge = has_merge = True
            if merges:
                for name in merges:
                    if name in refs and all(each.name != name for each in found):
                        found.append(Fetched(name, refs[name], "", force=False, merge=True))
                        has_merge = True
            elif found and not has_merge and not self.remote.fetch[0].is_pattern:
                found[0].merge = True
        else:
            merges = self._configured_merges()
            excluded = []
            names = [name for name in merges if name in refs] or ["HEAD"]
            for name in names:
                if name not in refs:
                    raise Fatal("couldn't find remote ref HEAD")
                found.append(Fetched(name, refs[name], "", force=False, merge=True))
        found = [
            each for each in found if not any(spec.maps(each.name) is not None for spec in excluded)
        ]
        if self.options.on("tags"):
            known = {each.target for each in found}
            for name, oid in refs.items():
                if name.startswith("refs/tags/") and name not in known:
                    found.append(
                        Fetched(name, oid, name, force=self.options.on("force"), merge=False)
                    )
        return self._checked(found)

    def _checked(self, found: list[Fetched]) -> list[Fetched]:
        """Refuse invalid names of references, and two sources for one target."""
        targets: dict[str, str] = {}
        kept: dict[tuple[str, str], Fetched] = {}
        for each in found:
            if each.target and not is_ref_name(each.target):
                self.git.error(f"* Ignoring funny ref '{each.target}' locally")
                continue
            if each.target:
                other = targets.setdefault(each.target, each.name)
                if other != each.name:
                    raise Fatal(f"Cannot fetch both {other} and {each.name} to {each.target}")
            first = kept.setdefault((each.name, each.target), each)
            first.force |= each.force
        return list(kept.values())

    def _matching(self, refs: dict[str, str], spec: Refspec, *, merge: bool) -> list[Fetched]:
        if spec.excludes:
            return []
        force = spec.force or self.options.on("force")
        if spec.is_pattern:
            return [
                Fetched(name, oid, target or "", force=force, merge=merge)
                for name, oid in refs.items()
                if name != "HEAD" and (target := spec.maps(name)) is not None
            ]
        source = spec.source or "HEAD"
        if is_object_name(source):
            name: str | None = source
            oid = source
        else:
            name = find_remote_ref(refs, source)
            if name is None:
                raise Fatal(f"couldn't find remote ref {source}")
            oid = refs[name]
        assert name is not None
        target = ""
        if spec.target:
            target = spec.target
            if not target.startswith("refs/") and name.startswith("refs/tags/"):
                target = f"refs/tags/{target}"
            target = local_name(target)
        return [Fetched(name, oid, target, force=force, merge=merge)]

    def _configured_merges(self) -> list[str]:
        branch = self.repository.branch().removeprefix("refs/heads/")
        config = self.git.config
        if not branch or config.get(f"branch.{branch}.remote") != self.remote.name:
            return []
        return [
            local_name(name) if "/" not in name else name
            for name in config.get_all(f"branch.{branch}.merge")
        ]

    def _check_current(self) -> None:
        repository = self.repository
        if repository.worktree is None:
            return
        current = repository.branch()
        for each in self.fetched:
            if each.target and each.target == current and repository.head() is not None:
                raise Fatal(
                    f"refusing to fetch into branch '{current}' checked out at "
                    f"'{repository.worktree}'"
                )

    def _follow_tags(self, peer: Peer, refs: dict[str, str]) -> None:
        """Add the tags of what is fetched, unless that is not wanted."""
        choice = self.options
        if (self.git.name == "fetch" and choice.on("n")) or choice.off("tags") or choice.on("tags"):
            return
        if self.remote.tags == "--no-tags":
            return
        if self.remote.tags != "--tags" and not any(
            each.target and not each.opportunistic for each in self.fetched
        ):
            return
        objects = self.repository.objects
        known = {each.target for each in self.fetched}
        wanted: list[str] = []
        before = len(self.fetched)
        for name, oid in refs.items():
            if not name.startswith("refs/tags/") or name in known:
                continue
            if self.repository.refs.read(name) is not None and self.remote.tags != "--tags":
                continue
            behind = peer.peeled(name, oid) or oid
            if self.remote.tags == "--tags" or behind in objects:
                self.fetched.append(Fetched(name, oid, name, force=False, merge=False))
                if oid not in objects:
                    wanted.append(oid)
        if self.dry and self.remote.tags != "--tags":
            self.fetched += self.fetched[before:]  # git finds them again, and prints them twice
        if wanted:
            peer.fetch(self.repository, wanted, None)

    # pruning

    def _prunes(self) -> bool:
        if self.options.given("prune"):
            return self.options.on("prune")
        if self.remote.prune is not None:
            return self.remote.prune
        return self.git.config.flag("fetch.prune")

    def _prune(self, refs: dict[str, str], words: list[str]) -> None:
        specs = [Refspec(word, fetch=True) for word in words] or list(self.remote.fetch)
        if self.options.on("prune-tags"):
            specs.append(Refspec("+refs/tags/*:refs/tags/*", fetch=True))
        for name in stale_refs(self.repository.refs.all(), refs, specs):
            if not self.dry:
                self.repository.refs.delete(name)
            if not self.quiet:
                self._say("-", "[deleted]", "(none)", pretty(name), self._width())

    # reports

    def _width(self) -> int:
        width = 10
        for each in self.fetched:
            if not each.target or each.name == "HEAD":
                continue
            if not self.verbose and self.repository.refs.read(each.target) == each.oid:
                continue
            one, two = len(pretty(each.name)), len(pretty(each.target))
            if 21 + one + 4 + two < 80:
                width = max(width, one)
        return width

    def _say(
        self, flag: str, summary: str, name: str, target: str, width: int, reason: str = ""
    ) -> None:
        if not self._said:
            self._said = True
            self.git.say(f"From {shown_url(self.url)}")
        end = f"  ({reason})" if reason else ""
        self.git.say(f" {flag} {summary:<17} {name:<{width}} -> {target}{end}")

    def _note(self, each: Fetched) -> None:
        """Add a line for FETCH_HEAD."""
        if each.opportunistic:
            return
        kind = _kind(each.name)
        what = pretty(each.name) if kind else ("" if each.name == "HEAD" else each.name)
        text = (f"{kind} '{what}' of " if kind else f"'{what}' of " if what else "") + shown_url(
            self.url
        )
        self.lines.append(f"{each.oid}\t{'' if each.merge else 'not-for-merge'}\t{text}\n")

    def _update(self, each: Fetched, width: int) -> None:
        # long: one kind of change after the other
        repository = self.repository
        before = repository.refs.read(each.target)
        name, target = pretty(each.name), pretty(each.target)

        def say(flag: str, summary: str, reason: str = "") -> None:
            if not self.quiet or flag == "!":
                self._say(flag, summary, name, target, width, reason)

        if before == each.oid:
            if self.verbose:
                say("=", "[up to date]")
            return
        short = repository.short
        if before is None:
            kind = (
                "tag"
                if each.name.startswith("refs/tags/")
                else "head"
                if each.name.startswith("refs/heads/")
                else "ref"
            )
            shown = {"tag": "[new tag]", "head": "[new branch]", "ref": "[new ref]"}[kind]
            self._store(each, f"storing {kind}", say, "*", shown)
            return
        if each.target.startswith("refs/tags/"):
            if each.force:
                self._store(each, "updating tag", say, "t", "[tag update]")
            else:
                say("!", "[rejected]", "would clobber existing tag")
                self.failed = True
            return
        objects = repository.objects
        old, new = objects.peel(before, "commit"), objects.peel(each.oid, "commit")
        if old is None or new is None:
            self._store(each, "storing ref", say, "*", "[new ref]")
        elif is_ancestor(repository, old, new):
            self._store(each, "fast-forward", say, " ", f"{short(old)}..{short(new)}")
        elif each.force:
            self._store(
                each, "forced-update", say, "+", f"{short(old)}...{short(new)}", "forced update"
            )
        else:
            say("!", "[rejected]", "non-fast-forward")
            self.failed = True

    def _store(
        self, each: Fetched, what: str, say: Callable[..., None], flag: str, summary: str,
        reason: str = "",
    ) -> None:  # fmt: skip
        if not self.dry:
            repository = self.repository
            if (
                each.target.startswith("refs/heads/")
                and repository.objects.peel(each.oid, "commit") is None
            ):
                self.git.error(
                    f"cannot update ref '{each.target}': trying to write non-commit object "
                    f"{each.oid} to branch '{each.target}'"
                )
                self.failed = True
                say("!", summary, "unable to update local ref")
                return
            repository.refs.write(each.target, each.oid, f"{self.action}: {what}", deref=False)
        say(flag, summary, reason)


def _kind(name: str) -> str:
    if name.startswith("refs/heads/"):
        return "branch"
    if name.startswith("refs/tags/"):
        return "tag"
    return "remote-tracking branch" if name.startswith("refs/remotes/") else ""


def _with_tags(words: list[str]) -> list[str]:
    """Return refspecs in which "tag NAME" is written out."""
    found, at = [], 0
    while at < len(words):
        if words[at] == "tag":
            at += 1
            if at >= len(words):
                raise Fatal("You need to specify a tag name.")
            found.append(f"refs/tags/{words[at]}:refs/tags/{words[at]}")
        else:
            found.append(words[at])
        at += 1
    return found


def stale_refs(local: dict[str, str], refs: dict[str, str], specs: list[Refspec]) -> list[str]:
    """Return the local references whose source is gone on the other side."""
    found = []
    for name in local:
        sources = [
            source
            for spec in specs
            if spec.target and not spec.excludes and (source := spec.maps_back(name)) is not None
        ]
        if sources and name.split("/")[-1] != "HEAD" and not any(each in refs for each in sources):
            found.append(name)
    return found


def write_fetch_head(git: Invocation, lines: list[str], *, append: bool) -> None:
    """Write FETCH_HEAD."""
    before = (git.repository.read_file("FETCH_HEAD") or "") if append else ""
    git.repository.write_file("FETCH_HEAD", before + "".join(lines))


def fetch_from(
    git: Invocation, name: str, words: list[str], options: Options, action: str, *,
    head_ok: bool = False, append: bool = False,
) -> Fetcher:  # fmt: skip
    """Fetch from one remote and write FETCH_HEAD."""
    fetcher = Fetcher(git, find_remote(git, name), options, action)
    try:
        fetcher.run(words, head_ok=head_ok)
    except MissingObject as error:
        raise Plain(
            f"fatal: bad object {error.oid}\nerror: {fetcher.url} did not send all necessary "
            "objects\n",
            1,
        ) from None
    if not fetcher.dry and not options.off("write-fetch-head"):
        lines = sorted(fetcher.lines, key=lambda line: "\tnot-for-merge\t" in line)
        write_fetch_head(git, lines, append=append or options.on("append"))
    return fetcher


def _action(git: Invocation) -> str:
    return git.env.get("GIT_REFLOG_ACTION") or " ".join([git.name, *git.arguments])


def fetch(git: Invocation, words: list[str]) -> int:
    return fetch_recursively(git, words, words)


def fetch_recursively(
    git: Invocation, words: list[str], passed: list[str], prefix: str = "",
    default: str = "on-demand",
) -> int:  # fmt: skip
    """Fetch, then fetch in submodules.

    `passed` are the words whose options hold there too, `prefix` is shown before paths of
    submodules, `default` is the mode if nothing is configured.
    """
    options = parse_options(USAGES["fetch"], words)
    refuse_absent(options, "fetch", ("keep", "atomic"))
    inner = submodule_fetcher(git, options, prefix, default)
    fetched: list[str] = []
    status = _fetch_all(git, options, fetched)
    if inner is None or status:
        return status
    kept = [
        word
        for word in passed
        if word in _PASSED or word.split("=")[0] == "--recurse-submodules"
    ]

    return inner.run(_fetch_there(kept), quiet=options.on("quiet"), new=fetched)


def _fetch_there(kept: list[str]) -> FetchIn:
    """Return the function that fetches in a submodule with the options of this fetch."""

    def fetch_in(made: Invocation, more: list[str], prefix: str, mode: str) -> int:
        from agentsandbox.git.command import guarded

        made.name, made.arguments = "fetch", [*kept, *more]
        return guarded(made, lambda: fetch_recursively(made, made.arguments, kept, prefix, mode))

    return fetch_in


_PASSED = ("-q", "--quiet", "-v", "--verbose", "-f", "--force", "-p", "--prune", "-t", "--tags",
           "--dry-run")  # fmt: skip


def submodule_fetcher(
    git: Invocation, options: Options, prefix: str, default: str
) -> SubmoduleFetcher | None:
    """Return what fetches in submodules after this fetch, None if nothing does."""
    config, choice = git.config, ""
    if options.given("recurse-submodules"):
        choice = "no"
        if options.on("recurse-submodules"):
            choice = checked_mode(options.get("recurse-submodules") or "yes")
    elif config.find("fetch.recursesubmodules") is not None:
        default = checked_mode(
            config.get("fetch.recursesubmodules", "true"), "fetch.recurseSubmodules"
        )
    elif config.find("submodule.recurse") is not None:
        default = "yes" if config.flag("submodule.recurse") else "no"
    if git.find_repository() is None:
        return None
    found = SubmoduleFetcher(git, choice, default, prefix)
    if not found.is_needed():
        return None
    found.note_before()
    return found


def _fetch_all(git: Invocation, options: Options, fetched: list[str]) -> int:
    """Fetch from the remotes that are named; add the objects of all references."""
    operands = options.operands
    repository = git.repository
    action = _action(git)
    branch = repository.branch().removeprefix("refs/heads/")
    specs: list[str] = []
    if options.on("all"):
        if operands:
            raise Fatal(
                "fetch --all does not take a repository argument"
                if len(operands) == 1
                else "fetch --all does not make sense with refspecs"
            )
        names = remote_names(git, ordered=True)
    elif options.on("multiple"):
        names = operands
    elif operands:
        names, specs = operands[:1], operands[1:]
        group = git.config.get_all(f"remotes.{names[0]}")
        if group and not specs:
            names = [name for text in group for name in text.split()]
    else:
        names = [default_remote(git, branch)]
    failed = False
    for number, name in enumerate(names):
        if (len(names) > 1 or options.on("multiple")) and not options.on("quiet"):
            git.print(f"Fetching {name}")
            git.flush()
        if not name:
            raise Fatal("no path specified; see 'git help pull' for valid url syntax")
        fetcher = fetch_from(git, name, specs, options, action, append=number > 0)
        failed = failed or fetcher.failed
        fetched += [each.oid for each in fetcher.fetched]
        if options.on("set-upstream") and branch:
            merging = [each for each in fetcher.fetched if each.merge]
            if len(merging) == 1 and merging[0].name.startswith("refs/heads/"):
                edit_config(git, f"branch.{branch}.remote", name)
                edit_config(git, f"branch.{branch}.merge", merging[0].name)
    return 1 if failed else 0


# pull

_DIVERGENT = """You have divergent branches and need to specify how to reconcile them.
You can do so by running one of the following commands sometime before
your next pull:

  git config pull.rebase false  # merge
  git config pull.rebase true   # rebase
  git config pull.ff only       # fast-forward only

You can replace "git config" with "git config --global" to set a default
preference for all repositories. You can also pass --rebase, --no-rebase,
or --ff-only on the command line to override the configured default per
invocation."""


def pull(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["pull"], words)
    status = _pull(git, options)
    recurse = options.on("recurse-submodules") and (
        checked_mode(options.get("recurse-submodules") or "yes") != "no"
    )
    if not options.given("recurse-submodules"):
        recurse = git.config.flag("submodule.recurse")
    if status or not recurse or not git.config.below("submodule."):
        return status
    branch = git.repository.branch().removeprefix("refs/heads/")
    how = "--rebase" if _rebases(git, options, branch) else "--checkout"
    made = enter(git, git.repository.need_worktree())
    return run_git(made, ["submodule", "update", "--recursive", how])


def _pull(git: Invocation, options: Options) -> int:
    # long: fetch, then one of four ways on
    repository = git.repository
    repository.need_worktree()
    if repository.index().unmerged():
        git.error("Pulling is not possible because you have unmerged files.")
        git.hint(
            "Fix them up in the work tree, and then use 'git add/rm <file>'\n"
            "as appropriate to mark resolution and make a commit.",
            "resolveConflict",
        )
        raise Fatal("Exiting because of an unresolved conflict.")
    if repository.read_file("MERGE_HEAD") is not None:
        git.error("You have not concluded your merge (MERGE_HEAD exists).")
        git.hint("Please, commit your changes before merging.", "resolveConflict")
        raise Fatal("Exiting because of unfinished merge.")
    branch = repository.branch().removeprefix("refs/heads/")
    rebases = _rebases(git, options, branch)
    if rebases and not options.on("autostash", git.config.flag("rebase.autostash")):
        from agentsandbox.git.autostash import demand_clean

        if not demand_clean(git, "pull with rebase", "please commit or stash them."):
            raise Quit(128)
    operands = options.operands
    name = operands[0] if operands else default_remote(git, branch)
    action = _action(git)
    head = repository.head()
    inner = submodule_fetcher(git, options, "", "on-demand")
    try:
        fetcher = fetch_from(git, name, operands[1:], options, action, head_ok=True)
    except GitError as error:
        error.status = 1
        raise
    if fetcher.failed:
        return 1
    if inner is not None:
        fetched = [each.oid for each in fetcher.fetched]
        kept = ["--quiet"] * options.on("quiet")
        if inner.run(_fetch_there(kept), quiet=options.on("quiet"), new=fetched):
            return 1
    if fetcher.dry:
        return 0
    merging = list(dict.fromkeys(each.oid for each in fetcher.fetched if each.merge))
    if not merging:
        _say_nothing_to_merge(git, name, branch, operands)
        return 1
    tips = [oid for each in merging if (oid := repository.objects.peel(each, "commit")) is not None]
    if head is None:
        return _take_first(git, tips, action)
    if len(tips) > 1:
        return _merge(git, options, tips)
    tip = tips[0]
    only = options.on("ff-only") or (
        not options.given("ff") and not options.given("rebase") and _ff_only(git)
    )
    if is_ancestor(repository, tip, head):
        git.print(
            "Already up to date." if not rebases else f"Current branch {branch} is up to date."
        )
        return 0
    is_tag = repository.objects.type_of(merging[0]) == "tag" and not rebases
    if is_tag and rebases is None and is_ancestor(repository, head, tip):
        return _merge(git, options, tips)
    if is_ancestor(repository, head, tip) and not options.off("ff"):
        if _must_stash(git, options):
            return _merge(git, options, tips)
        return fast_forward(git, head, tip, action, options=options)
    if only:
        raise Fatal("Not possible to fast-forward, aborting.")
    if rebases:
        how = {"merges": ["-r"], "m": ["-r"], "interactive": ["-i"], "i": ["-i"]}
        words = [*_passed(options), *how.get(_rebase_mode(git, options, branch), [])]
        return _other(git, "rebase", [*words, tip], action)
    if rebases is None and not options.given("ff") and git.config.find("pull.ff") is None:
        git.hint(_DIVERGENT, "divergingPull")
        raise Fatal("Need to specify how to reconcile divergent branches.")
    return _merge(git, options, tips)


def _must_stash(git: Invocation, options: Options) -> bool:
    return options.on("autostash") or options.on("squash")


def _ff_only(git: Invocation) -> bool:
    return git.config.get("pull.ff") == "only"


def _rebase_mode(git: Invocation, options: Options, branch: str) -> str:
    """Return how to rebase: "true", "false", "merges" …; "" if nobody said."""
    if options.given("rebase"):
        return (options.get("rebase") or "true") if options.on("rebase") else "false"
    for key in (f"branch.{branch}.rebase", "pull.rebase"):
        if git.config.find(key) is not None:
            return git.config.get(key).lower() or "true"
    return ""


def _rebases(git: Invocation, options: Options, branch: str) -> bool | None:
    """Return whether to rebase; None if nobody said."""
    mode = _rebase_mode(git, options, branch)
    return mode not in ("false", "no", "off", "0") if mode else None


def _passed(options: Options) -> list[str]:
    found = []
    if options.on("quiet"):
        found.append("-q")
    if options.on("autostash"):
        found.append("--autostash")
    for value in options.all("strategy"):
        found += ["-s", value]
    for value in options.all("strategy-option"):
        found += ["-X", value]
    return found


def _merge(git: Invocation, options: Options, tips: list[str]) -> int:
    words = _passed(options)
    for name in ("squash", "commit", "edit", "ff", "stat", "signoff", "allow-unrelated-histories"):
        if options.given(name):
            words.append(f"--{'' if options.on(name) else 'no-'}{name}")
    return _other(git, "merge", [*words, "FETCH_HEAD"], _action(git))


def _other(git: Invocation, name: str, words: list[str], action: str) -> int:
    """Run the subcommand that ends a pull."""
    from agentsandbox.git.command import find_subcommand

    found = find_subcommand(name)
    if found is None:
        raise Fatal(f"'git {name}' is not available in this sandbox")
    git.env["GIT_REFLOG_ACTION"] = action
    git.name, git.arguments = name, words
    return found(git, words)


def _take_first(git: Invocation, tips: list[str], action: str) -> int:
    """Take what was fetched as the first commit of a branch."""
    from agentsandbox.git.unpacking import switch_trees

    if len(tips) > 1:
        raise Fatal("Cannot merge multiple branches into empty head.")
    repository = git.repository
    switch_trees(git, None, repository.objects.commit(tips[0]).tree, action="merge")
    repository.refs.write("HEAD", tips[0], action or "initial pull")
    return 0


def fast_forward(git: Invocation, head: str, tip: str, action: str, *, options: Options) -> int:
    """Move the current branch and the worktree to a descendant, and print what changed."""
    from agentsandbox.git.commands.comparing import diff
    from agentsandbox.git.hooks import run_hook
    from agentsandbox.git.unpacking import switch_trees

    repository = git.repository
    quiet = options.on("quiet")
    stat = not quiet and not options.on("n") and not options.off("stat")
    if not quiet:
        git.print(f"Updating {repository.short(head)}..{repository.short(tip)}")
        git.flush()
    objects = repository.objects
    try:
        switch_trees(git, objects.commit(head).tree, objects.commit(tip).tree, action="merge")
    except Plain as error:
        error.status = 1
        raise
    repository.write_file("ORIG_HEAD", f"{head}\n")
    if not quiet:
        git.print("Fast-forward")
    repository.refs.write("HEAD", tip, f"{action}: Fast-forward")
    if stat and git.config.flag("merge.stat", True):
        diff(git, ["--stat", "--summary", "-M", head, tip])
    run_hook(repository, "post-merge", "0")
    return 0


def _say_nothing_to_merge(git: Invocation, name: str, branch: str, operands: list[str]) -> None:
    config = git.config
    followed = config.get(f"branch.{branch}.remote") if branch else ""
    rebases = config.get("pull.rebase").lower() in ("true", "yes", "1")
    verb = "rebase against" if rebases else "merge with"
    if len(operands) > 1:
        git.say(
            "There are no candidates for "
            + ("rebasing against" if rebases else "merging")
            + " among the refs that you just fetched.\nGenerally this means that you provided a "
            "wildcard refspec which had no\nmatches on the remote end."
        )
    elif operands and branch and name != followed:
        git.say(
            f"You asked to pull from the remote '{name}', but did not specify\n"
            "a branch. Because this is not the default configured remote\n"
            "for your current branch, you must specify a branch on the command line."
        )
    elif not branch or not config.get(f"branch.{branch}.merge"):
        first = (
            "You are not currently on a branch."
            if not branch
            else "There is no tracking information for the current branch."
        )
        remotes = remote_names(git)
        shown = remotes[0] if len(remotes) == 1 else "<remote>"
        git.say(
            f"{first}\nPlease specify which branch you want to {verb}.\n"
            "See git-pull(1) for details.\n\n    git pull <remote> <branch>\n"
        )
        if branch:
            git.say(
                "If you wish to set tracking information for this branch you can do so with:\n\n"
                f"    git branch --set-upstream-to={shown}/<branch> {branch}\n"
            )
    else:
        merge = config.get(f"branch.{branch}.merge")
        git.say(
            f"Your configuration specifies to {verb} the ref '{merge}'\n"
            "from the remote, but no such ref was fetched."
        )
    raise Quit(1)


# ls-remote


def ls_remote(git: Invocation, words: list[str]) -> int:
    # long: which references, and how each is printed
    options = parse_options(USAGES["ls-remote"], words)
    refuse_absent(options, "ls-remote", ("upload-pack",))
    operands = options.operands
    name = operands[0] if operands else ""
    if not name:
        repository = git.find_repository()
        branch = repository.branch().removeprefix("refs/heads/") if repository is not None else ""
        name = default_remote(git, branch)
        if name == "origin" and not find_remote(git, name).is_named:
            raise Fatal("No remote configured to list refs from.")
    remote = find_remote(git, name)
    url = remote.urls[0]
    if options.on("get-url"):
        git.print(url)
        return 0
    peer = open_peer(git, url)
    refs = peer.refs()
    if not operands and not options.on("quiet"):
        git.say(f"From {url}")
    rows: list[tuple[str, str]] = []
    for ref, oid in refs.items():
        rows.append((ref, oid))
        behind = peer.peeled(ref, oid) if ref.startswith("refs/tags/") else None
        if behind is not None and behind != oid and not options.on("refs"):
            rows.append((f"{ref}^{{}}", behind))
    kinds = [f"refs/{kind}/" for kind in ("heads", "tags") if options.on(kind)]
    patterns = operands[1:]
    shown = 0
    if options.get("sort") is not None:
        rows = _sorted(rows, options.text("sort"))
    for ref, oid in rows:
        if kinds and not ref.startswith(tuple(kinds)):
            continue
        if options.on("refs") and ref == "HEAD":
            continue
        if patterns and not any(
            wildmatch(encode(f"*/{pattern}"), encode(f"/{ref}"), pathname=False)
            for pattern in patterns
        ):
            continue
        if options.on("symref") and ref == "HEAD" and peer.head():
            git.print(f"ref: {peer.head()}\tHEAD")
        git.print(f"{oid}\t{ref}")
        shown += 1
    return 2 if options.on("exit-code") and not shown else 0


def _sorted(rows: list[tuple[str, str]], key: str) -> list[tuple[str, str]]:
    from agentsandbox.git.ref_format import version_key

    backwards, name = key.startswith("-"), key.removeprefix("-")
    if name == "refname":
        return sorted(rows, reverse=backwards)
    if name == "objectname":
        return sorted(rows, key=lambda row: row[1], reverse=backwards)
    if name in ("v:refname", "version:refname"):
        return sorted(rows, key=lambda row: version_key(row[0]), reverse=backwards)
    raise Fatal(f"git ls-remote --sort={key} is not supported in this sandbox")


COMMANDS = {"fetch": fetch, "pull": pull, "ls-remote": ls_remote}
