"""`git branch`."""

from __future__ import annotations

from agentsandbox.git.branches import create_branch, remove_branch_config, set_upstream
from agentsandbox.git.commands.tagging import LIST_FILTERS, with_defaults
from agentsandbox.git.diff.options import wants_color
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.history import is_ancestor
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.progress import detached_text, rebase_folder
from agentsandbox.git.ref_format import RefFilter, RefFormat, sort_refs
from agentsandbox.git.refs import is_branch_name
from agentsandbox.git.revisions import branch_named, find_ref, upstream_of
from agentsandbox.git.worktrees import checked_out_elsewhere, linked_names, list_worktrees
from agentsandbox.kernel.streams import encode

USAGES = {
    "branch": """
git branch [<options>] [-r | -a] [--merged] [--no-merged]
   or: git branch [<options>] [-f] [--recurse-submodules] <branch-name> [<start-point>]
   or: git branch [<options>] [-l] [<pattern>...]
   or: git branch [<options>] [-r] (-d | -D) <branch-name>...
   or: git branch [<options>] (-m | -M) [<old-branch>] <new-branch>
   or: git branch [<options>] (-c | -C) [<old-branch>] <new-branch>
   or: git branch [<options>] [-r | -a] [--points-at]
   or: git branch [<options>] [-r | -a] [--format]

Generic options
    -v, --verbose         show commits and subjects; twice: upstreams too
    -q, --quiet           print nothing
    -t, --track[=(direct|inherit)]
                          set the upstream
    -u, --set-upstream-to <upstream>
                          change the upstream
    --unset-upstream      remove the upstream
    --color[=<when>]      use colours
    -r, --remotes         list remote-tracking branches
    --contains <commit>   only branches that reach a commit
    --no-contains <commit>
                          only branches that do not reach a commit
    --abbrev[=<n>]        shorten objects

Specific git-branch actions:
    -a, --all             list remote-tracking and local branches
    -d, --delete          delete a branch that is merged
    -D                    delete a branch
    -m, --move            rename a branch
    -M                    rename a branch, even if the target exists
    -c, --copy            copy a branch
    -C                    copy a branch, even if the target exists
    -l, --list            list branches
    --show-current        print the current branch
    --create-reflog       make a log
    --edit-description    edit the description
    -f, --force           create, move, rename, delete by force
    --merged <commit>     only branches that are merged
    --no-merged <commit>  only branches that are not merged
    --column[=<style>]    list branches in columns
    --sort <key>          the order
    --points-at <object>  only branches of an object
    -i, --ignore-case     compare without case
    --format <format>     the format
""",
}


def branch(git: Invocation, words: list[str]) -> int:
    # long: one action after the other
    options = parse_options(USAGES["branch"], with_defaults(words, LIST_FILTERS))
    operands = options.operands
    repository = git.repository
    if options.on("edit-description"):
        raise Fatal(
            "git branch --edit-description is not supported in this sandbox; use git config"
        )
    if options.on("show-current"):
        name = repository.branch()
        if name:
            git.print(name.removeprefix("refs/heads/"))
        return 0
    force = options.on("force")
    if options.on("delete") or options.on("D"):
        if not operands:
            raise Fatal("branch name required")
        return _delete(
            git,
            operands,
            force=force or options.on("D"),
            remotes=options.on("remotes"),
            quiet=options.on("quiet"),
        )
    if options.on("move") or options.on("M") or options.on("copy") or options.on("C"):
        copies = options.on("copy") or options.on("C")
        return _rename(
            git, operands, copies=copies, force=force or options.on("M") or options.on("C")
        )
    if options.given("set-upstream-to"):
        if len(operands) > 1:
            raise Fatal("too many arguments to set new upstream")
        return _set_upstream(git, operands, options)
    if options.on("unset-upstream"):
        if len(operands) > 1:
            raise Fatal("too many arguments to unset upstream")
        return _unset_upstream(git, operands)
    listing = (
        options.on("list")
        or not operands
        or any(
            options.given(name)
            for name in ("contains", "no-contains", "merged", "no-merged", "points-at")
        )
    )
    if listing:
        return _list(git, options)
    if options.on("all") or options.on("remotes"):
        raise Fatal(
            "the '-a', and '-r', options to 'git branch' do not take a branch name.\n"
            "Did you mean to use: -a|-r --list <pattern>?"
        )
    if len(operands) > 2:
        raise BadUsage
    current = git.repository.branch().removeprefix("refs/heads/")
    start = operands[1] if len(operands) > 1 else current or "HEAD"
    if options.get("track") == "inherit":
        raise Fatal("git branch --track=inherit is not supported in this sandbox")
    track = True if options.on("track") else False if options.off("track") else None
    create_branch(git, operands[0], start, force=force, track=track, quiet=options.on("quiet"))
    return 0


def _delete(git: Invocation, names: list[str], *, force: bool, remotes: bool, quiet: bool) -> int:
    repository = git.repository
    status = 0
    prefix = "refs/remotes/" if remotes else "refs/heads/"
    head = repository.head()
    for word in names:
        name = word
        if not remotes:
            name = branch_named(repository, "@{-1}" if word == "-" else word)
        full = prefix + name
        if not remotes and full == repository.branch():
            git.error(f"Cannot delete branch '{name}' checked out at '{repository.worktree}'")
            status = 1
            continue
        elsewhere = None if remotes else checked_out_elsewhere(repository, full)
        if elsewhere is not None:
            git.error(f"Cannot delete branch '{name}' checked out at '{elsewhere.path}'")
            status = 1
            continue
        oid = repository.refs.read(full)
        target = repository.refs.symbolic(full)
        if oid is None and target is None:
            kind = "remote-tracking branch" if remotes else "branch"
            git.error(f"{kind} '{name}' not found.")
            status = 1
            continue
        if oid is not None and not force and not remotes and not _is_merged(git, name, oid, head):
            git.error(
                f"The branch '{name}' is not fully merged.\n"
                f"If you are sure you want to delete it, run 'git branch -D {name}'."
            )
            status = 1
            continue
        repository.refs.delete(full)
        if not remotes:
            remove_branch_config(git, name)
        if not quiet:
            kind = "remote-tracking branch" if remotes else "branch"
            was = target if target is not None else repository.short(oid or "")
            if target is not None:
                was = target
            git.print(f"Deleted {kind} {name} (was {was}).")
    return status


def _is_merged(git: Invocation, name: str, oid: str, head: str | None) -> bool:
    repository = git.repository
    upstream = upstream_of(repository, name)
    reference = repository.refs.read(upstream) if upstream is not None else None
    base = reference or head
    merged = base is not None and is_ancestor(repository, oid, base)
    if reference is not None and head is not None and reference != head:
        in_head = is_ancestor(repository, oid, head)
        if merged and not in_head:
            git.warn(
                f"deleting branch '{name}' that has been merged to\n"
                f"         '{upstream}', but not yet merged to HEAD."
            )
        elif not merged and in_head:
            git.warn(
                f"not deleting branch '{name}' that is not yet merged to\n"
                f"         '{upstream}', even though it is merged to HEAD."
            )
    return merged


def _rename(git: Invocation, operands: list[str], *, copies: bool, force: bool) -> int:
    # long: checks, references, configuration
    repository = git.repository
    if not 1 <= len(operands) <= 2:
        raise Fatal(
            "branch name required"
            if not operands
            else f"too many arguments for a {'copy' if copies else 'rename'} operation"
        )
    current = repository.branch()
    if len(operands) == 1:
        if not current:
            word = "copy" if copies else "rename"
            raise Fatal(f"cannot {word} the current branch while not on any.")
        old, new = current.removeprefix("refs/heads/"), operands[0]
    else:
        old, new = operands
    if not is_branch_name(old) and repository.refs.read(f"refs/heads/{old}") is None:
        raise Fatal(f"Invalid branch name: '{old}'")
    if not is_branch_name(new):
        raise Fatal(f"'{new}' is not a valid branch name")
    full, target = f"refs/heads/{old}", f"refs/heads/{new}"
    unborn = repository.refs.read(full) is None
    if unborn and current == full and not copies:
        repository.refs.write_symbolic("HEAD", target)
        return 0
    if unborn:
        if current == full:
            raise Fatal(f"No commit on branch '{old}' yet.")
        raise Fatal(f"No branch named '{old}'.")
    if repository.refs.read(target) is not None and old != new and not force:
        raise Fatal(f"a branch named '{new}' already exists")
    if target == current and old != new and repository.refs.read(target) is not None:
        raise Fatal(
            f"cannot force update the branch '{new}' checked out at '{repository.worktree}'"
        )
    if copies:
        oid = repository.refs.read(full) or ""
        repository.refs.write(target, oid, f"Branch: copied {full} to {target}")
    else:
        repository.refs.rename(full, target, f"Branch: renamed {full} to {target}")
        elsewhere = checked_out_elsewhere(repository, full)
        if elsewhere is not None:
            git.fs.write_text(f"{elsewhere.folder}/HEAD", f"ref: {target}\n")
    from agentsandbox.git.branches import rename_branch_config

    if old != new:
        rename_branch_config(git, old, new, copies=copies)
    return 0


def _set_upstream(git: Invocation, operands: list[str], options: Options) -> int:
    repository = git.repository
    if operands:
        name = operands[0]
    else:
        current = repository.branch()
        if not current:
            raise Fatal(
                "could not set upstream of HEAD to "
                f"{options.text('set-upstream-to')} when it does not point to any branch."
            )
        name = current.removeprefix("refs/heads/")
    if repository.refs.read(f"refs/heads/{name}") is None:
        if repository.branch() == f"refs/heads/{name}":
            raise Fatal(f"no commit on branch '{name}' yet")
        raise Fatal(f"branch '{name}' does not exist")
    upstream = options.text("set-upstream-to")
    found = find_ref(repository, upstream)
    if found is None:
        raise Fatal(
            f"the requested upstream branch '{upstream}' does not exist\n"
            "hint: \nhint: If you are planning on basing your work on an upstream\n"
            "hint: branch that already exists at the remote, you may need to\n"
            'hint: run "git fetch" to retrieve it.\nhint: \n'
            "hint: If you are planning to push out a new local branch that\n"
            "hint: will track its remote counterpart, you may want to use\n"
            'hint: "git push -u" to set the upstream config as you push.\n'
            'hint: Disable this message with "git config advice.setUpstreamFailure '
            'false"'
        )
    full = found[0]
    if full == f"refs/heads/{name}":
        git.warn(f"not setting branch '{name}' as its own upstream")
        return 0
    if not set_upstream(git, name, full, quiet=options.on("quiet")):
        raise Fatal(
            f"cannot set up tracking information; starting point '{upstream}' is not a branch"
        )
    return 0


def _unset_upstream(git: Invocation, operands: list[str]) -> int:
    repository = git.repository
    current = repository.branch()
    if not operands and not current:
        raise Fatal("could not unset upstream of HEAD when it does not point to any branch.")
    name = operands[0] if operands else current.removeprefix("refs/heads/")
    if not git.config.get(f"branch.{name}.merge"):
        raise Fatal(f"Branch '{name}' has no upstream information")
    from agentsandbox.git.branches import edit_config

    edit_config(git, f"branch.{name}.remote", None)
    edit_config(git, f"branch.{name}.merge", None)
    return 0


# listing


def _list(git: Invocation, options: Options) -> int:
    # long: what is listed, then how
    if options.on("column"):
        raise Fatal("git branch --column is not supported in this sandbox")
    repository = git.repository
    chosen = RefFilter(git)
    chosen.read(options)
    ignore = options.on("ignore-case")
    kinds = ["refs/heads/"] if not options.on("remotes") or options.on("all") else []
    if options.on("remotes") or options.on("all"):
        kinds.append("refs/remotes/")

    def wanted(name: str) -> bool:
        short = name.removeprefix("refs/heads/").removeprefix("refs/remotes/")
        return not options.operands or any(
            wildmatch(encode(pattern), encode(short), pathname=False, ignore_case=ignore)
            for pattern in options.operands
        )

    items: list[tuple[str, str]] = []
    keys = options.all("sort") or git.config.get_all("branch.sort") or ["refname"]
    for prefix in kinds:
        items += [
            (name, oid)
            for name, oid in repository.refs.all(prefix).items()
            if wanted(name) and chosen.accepts(name, oid)
        ]
    items = sort_refs(git, items, keys, ignore_case=ignore)
    head = repository.head()
    detached = ""
    if (
        not repository.branch()
        and head is not None
        and "refs/heads/" in kinds
        and (not options.operands and chosen.accepts("HEAD", head))
    ):
        detached = _detached_name(git)
        items.insert(0, ("HEAD", head))
    color = wants_color(
        git,
        options.get("color", "always" if options.given("color") else None)
        or git.config.get("color.branch", git.config.get("color.ui", "auto")),
    )
    if options.get("format") is not None:
        format = RefFormat(git, options.text("format"), color=color)
        for name, oid in items:
            text = format.expand(name, oid)
            if name == "HEAD":
                text = RefFormat(
                    git,
                    options.text("format")
                    .replace("%(refname:short)", detached)
                    .replace("%(refname)", detached),
                    color=color,
                ).expand(name, oid)
            git.write(encode(text + "\n"))
        return 0
    lister = _Lister(git, items, options, detached, color, mixed=len(kinds) > 1)
    for name, oid in items:
        git.write(encode(lister.line(name, oid) + "\n"))
    return 0


def _detached_name(git: Invocation) -> str:
    repository = git.repository
    folder = rebase_folder(repository)
    if folder:
        branch = (repository.read_file(f"{folder}/head-name") or "").strip()
        branch = branch.removeprefix("refs/heads/")
        if branch and branch != "detached HEAD":
            return f"(no branch, rebasing {branch})"
    start = repository.read_file("BISECT_START")
    if start is not None:
        return f"(no branch, bisect started on {start.strip().removeprefix('refs/heads/')})"
    text = detached_text(repository)
    return f"(HEAD detached {text})" if text else "(no branch)"


class _Lister:
    def __init__(
        self, git: Invocation, items: list[tuple[str, str]], options: Options, detached: str,
        color: bool, *, mixed: bool,
    ) -> None:  # fmt: skip
        self.git = git
        self.verbose = options.count("verbose")
        self.detached = detached
        self.color = color
        self.mixed = mixed
        self.length = options.number("abbrev", -1) if options.given("abbrev") else -1
        self.full = options.off("abbrev")
        self.width = max((len(self._name(name)) for name, _ in items), default=0)
        self.format = RefFormat(git, "")
        repository = git.repository
        self.elsewhere: dict[str, str] = {}
        """The paths of other worktrees by their branches."""
        if repository.common != repository.folder or linked_names(repository):
            self.elsewhere = {
                tree.branch: tree.path
                for tree in list_worktrees(repository)
                if tree.branch and not tree.bare
            }

    def _name(self, name: str) -> str:
        if name == "HEAD":
            return self.detached
        if name.startswith("refs/heads/"):
            return name[11:]
        return name[5:] if self.mixed else name[13:]

    def line(self, name: str, oid: str) -> str:
        """Return the line of a branch."""
        repository = self.git.repository
        current = name in ("HEAD", repository.branch())
        shown = self._name(name)
        padded = shown.ljust(self.width) if self.verbose else shown
        if self.color:
            code = "\x1b[32m" if current else "\x1b[31m" if name.startswith("refs/remotes/") else ""
            if not current and name in self.elsewhere:
                code = "\x1b[36m"
            if code:
                padded = f"{code}{padded}\x1b[m"
        line = f"{'*' if current else '+' if name in self.elsewhere else ' '} {padded}"
        target = repository.refs.symbolic(name) if name != "HEAD" else None
        if target is not None:
            return f"{line} -> {self.format._name(target, 'short')}"
        if not self.verbose:
            return line
        short = (
            oid if self.full else repository.short(oid, self.length if self.length > 0 else None)
        )
        line += f" {short}"
        if name.startswith("refs/heads/"):
            if self.verbose > 1 and not current and name in self.elsewhere:
                path = self.elsewhere[name]
                line += f" (\x1b[36m{path}\x1b[m)" if self.color else f" ({path})"
            upstream = self.format.atom("upstream:short", name, oid)
            if self.verbose > 1 and upstream:
                track = self.format.atom("upstream:track,nobracket", name, oid)
                if self.color:
                    upstream = f"\x1b[34m{upstream}\x1b[m"
                line += f" [{upstream}{f': {track}' if track else ''}]"
            elif self.verbose == 1:
                track = self.format.atom("upstream:track", name, oid)
                line += f" {track}" if track else ""
        return f"{line} {self.format.atom('contents:subject', name, oid)}"


COMMANDS = {"branch": branch}
