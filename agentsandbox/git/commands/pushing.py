"""`git push`."""

from __future__ import annotations

from agentsandbox.git.branches import edit_config
from agentsandbox.git.errors import Fatal, Quit
from agentsandbox.git.history import is_ancestor
from agentsandbox.git.hooks import hook_path
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.modules import refuse_recursion
from agentsandbox.git.objects import NULL, is_object_name
from agentsandbox.git.options import Options, parse_options, refuse_absent
from agentsandbox.git.refs import is_ref_name
from agentsandbox.git.refspecs import Refspec, find_remote_ref, pretty
from agentsandbox.git.remotes import (
    Peer,
    Remote,
    Update,
    default_remote,
    find_remote,
    remote_names,
)
from agentsandbox.git.revisions import Resolver, find_ref, tracking_ref
from agentsandbox.git.transports import open_peer
from agentsandbox.kernel.streams import encode

USAGES = {
    "push": """
git push [<options>] [<repository> [<refspec>...]]

    -v, --verbose         say more
    -q, --quiet           say less
    --repo <repository>   the repository
    --all                 push all branches
    --mirror              push all references
    -d, --delete          delete references
    --tags                push tags
    -n, --dry-run         say what would be done
    --porcelain           print a report for scripts
    -f, --force           overwrite what is no ancestor
    --force-with-lease[=<refname>:<expect>]
                          overwrite what is as expected
    --force-if-includes   overwrite only what was integrated
    --thin                make a thin pack
    -u, --set-upstream    let the branches follow what is pushed
    --recurse-submodules[=<mode>]
                          only "no" is supported: submodules are pushed one by one
    --progress            show progress
    --prune               remove remote branches that are gone here
    --verify              run the pre-push hook
    --follow-tags         push annotated tags of what is pushed
    --atomic              change all references or none
    -o, --push-option <server-specific>
                          an option for the other side
""",
}
_NUMBERS = {
    "non-fast-forward": 2, "already exists": 3, "fetch first": 5, "needs force": 6,
    "stale info": 7,
}  # fmt: skip
"""The numbers of git for its reasons to reject."""
_SEE = "See the 'Note about fast-forwards' in 'git push --help' for details."
_HINTS = {
    "current": f"""Updates were rejected because the tip of your current branch is behind
its remote counterpart. Integrate the remote changes (e.g.
'git pull ...') before pushing again.
{_SEE}""",
    "other": f"""Updates were rejected because a pushed branch tip is behind its remote
counterpart. Check out this branch and integrate the remote changes
(e.g. 'git pull ...') before pushing again.
{_SEE}""",
    "fetch first": f"""Updates were rejected because the remote contains work that you do
not have locally. This is usually caused by another repository pushing
to the same ref. You may want to first integrate the remote changes
(e.g., 'git pull ...') before pushing again.
{_SEE}""",
    "already exists": "Updates were rejected because the tag already exists in the remote.",
    "needs force": """You cannot update a remote ref that points at a non-commit object,
or update a remote ref to make it point at a non-commit object,
without using the '--force' option.""",
}


def _refuse_recursion(git: Invocation, options: Options) -> None:
    """Refuse to check or push submodules along."""
    if options.given("recurse-submodules"):
        if options.on("recurse-submodules") and options.get("recurse-submodules") != "no":
            raise Fatal("git push --recurse-submodules is not supported in this sandbox")
        return
    if git.config.get("push.recursesubmodules", "no") not in ("no", "false", "off"):
        raise Fatal("push.recurseSubmodules is not supported in this sandbox; set it to no")
    refuse_recursion(git, "push")


def push(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["push"], words)
    refuse_absent(options, "push", ("force-if-includes",))
    repository = git.repository
    _refuse_recursion(git, options)
    operands = options.operands
    _check(options, operands)
    branch = repository.branch().removeprefix("refs/heads/")
    name = options.get("repo") or (
        operands[0] if operands else default_remote(git, branch, push=True)
    )
    remote = find_remote(git, name)
    if not operands and not remote.is_named and name == "origin" and not remote_names(git):
        raise Fatal(
            "No configured push destination.\nEither specify the URL from the command-line or "
            "configure a remote repository using\n\n    git remote add <name> <url>\n\n"
            "and then push using the remote name\n\n    git push <name>\n"
        )
    status = 0
    for url in remote.push_urls:
        status |= Pusher(git, remote, url, options).run(operands[1:])
    return status


def _check(options: Options, operands: list[str]) -> None:
    modes = [name for name in ("delete", "tags", "all", "mirror") if options.on(name)]
    if "delete" in modes and len(modes) > 1:
        raise Fatal("options '--delete' and '--all/--mirror/--tags' cannot be used together")
    if options.on("delete") and len(operands) < 2:
        raise Fatal("--delete doesn't make sense without any refs")
    for name in ("all", "mirror"):
        if options.on(name) and len(operands) > 1:
            raise Fatal(f"--{name} can't be combined with refspecs")
    if options.on("all") and options.on("tags"):
        raise Fatal("options '--all' and '--tags' cannot be used together")
    if options.on("all") and options.on("mirror"):
        raise Fatal("options '--all' and '--mirror' cannot be used together")
    if options.on("mirror") and options.on("tags"):
        raise Fatal("options '--mirror' and '--tags' cannot be used together")


class Pusher:
    """One push to one URL."""

    def __init__(self, git: Invocation, remote: Remote, url: str, options: Options) -> None:
        self.git = git
        self.remote = remote
        self.url = url
        self.options = options
        self.repository = git.repository
        self.branch = self.repository.branch()
        self.porcelain = options.on("porcelain")
        self.verbose = options.on("verbose")
        self.said = False

    def run(self, words: list[str]) -> int:
        """Push and report; return the status."""
        # long: the order of git's steps
        git, options = self.git, self.options
        specs = self._specs(words)
        if self.verbose:
            git.say(f"Pushing to {self.url}")
        peer = open_peer(git, self.url, push=True)
        refs = {name: oid for name, oid in peer.refs().items() if name != "HEAD"}
        updates = self._plan(refs, specs)
        if options.on("prune"):
            updates += self._pruned(refs, specs, updates)
        for update in updates:
            self._decide(update, peer)
        rejected = [update for update in updates if update.status == "rejected"]
        if options.on("atomic") and rejected:
            number = _NUMBERS.get(rejected[0].reason, 2)
            git.error(f"atomic push failed for ref {rejected[0].name}. status: {number}\n")
            git.say("fatal: the remote end hung up unexpectedly")
            for update in updates:
                if update.status == "ok":
                    update.status, update.reason = "rejected", "atomic push failed"
        wanted = [update for update in updates if update.status == "ok"]
        if not options.off("verify") and wanted + rejected:
            self._run_hook(wanted)
        if wanted and not options.on("dry-run"):
            texts = options.all("push-option")
            if texts and not peer.takes_options():
                git.say("fatal: the receiving end does not support push options")
                raise Fatal("the remote end hung up unexpectedly")
            peer.push(git, updates, texts, atomic=options.on("atomic"))
        failed = self._report(updates)
        if not options.on("dry-run"):
            self._track(updates)
        if options.on("set-upstream"):
            self._set_upstream(updates)
        if self.porcelain:
            git.print("Done")
        elif not failed and not wanted and not options.on("quiet") and not self.porcelain:
            git.say("Everything up-to-date")
        if failed:
            git.error(f"failed to push some refs to '{self.url}'")
            self._hint(updates)
        return 1 if failed else 0

    def _run_hook(self, wanted: list[Update]) -> None:
        lines = "".join(
            f"{update.source or '(delete)'} {update.new} {update.name} {update.old}\n"
            for update in wanted
        )
        name = self.remote.name
        path = hook_path(self.repository, "pre-push")
        if path is None:
            return
        where = self.repository.worktree or self.repository.folder
        status, _ = self.git.run([path, name, self.url], cwd=where, stdin=encode(lines))
        if status:
            self.git.error(f"failed to push some refs to '{self.url}'")
            raise Quit(1)

    # what is pushed

    def _specs(self, words: list[str]) -> list[Refspec]:
        options = self.options
        if options.on("delete"):
            for word in words:
                if word.startswith(":") or not word:
                    raise Fatal("--delete only accepts plain target ref names")
            return [Refspec(f":{word}", fetch=False) for word in words]
        specs = []
        at = 0
        while at < len(words):
            word = words[at]
            if word == "tag":
                at += 1
                if at >= len(words):
                    raise Fatal("tag shorthand without <tag>")
                word = f"refs/tags/{words[at]}"
            specs.append(Refspec(word, fetch=False))
            at += 1
        if options.on("all"):
            specs.append(Refspec("refs/heads/*:refs/heads/*", fetch=False))
        if options.on("mirror") or (self.remote.mirror and not words):
            specs.append(Refspec("+refs/*:refs/*", fetch=False))
        if options.on("tags"):
            specs.append(Refspec("refs/tags/*:refs/tags/*", fetch=False))
        if not specs:
            specs = list(self.remote.push) or self._default()
        return specs

    def _default(self) -> list[Refspec]:
        """Return what push.default says."""
        # long: each mode has its own refusals
        git, branch = self.git, self.branch.removeprefix("refs/heads/")
        mode = git.config.get("push.default", "simple").lower()
        if mode == "nothing":
            raise Fatal('You didn\'t specify any refspecs to push, and push.default is "nothing".')
        if mode == "matching":
            return [Refspec(":", fetch=False)]
        name = self.remote.name
        if not branch:
            raise Fatal(
                "You are not currently on a branch.\n"
                "To push the history leading to the current (detached HEAD)\nstate now, use\n\n"
                f"    git push {name} HEAD:<name-of-remote-branch>\n"
            )
        config = git.config
        followed = config.get(f"branch.{branch}.remote")
        merge = config.get(f"branch.{branch}.merge")
        triangular = default_remote(git, branch) != name
        if self.options.on("set-upstream") and not merge:
            triangular = triangular or not followed
        if mode == "current" or (mode == "simple" and triangular):
            return [Refspec(f"{self.branch}:{self.branch}", fetch=False)]
        if mode not in ("simple", "upstream", "tracking"):
            raise Fatal(f"bad config variable 'push.default': malformed value: {mode}")
        if triangular:
            raise Fatal(
                f"You are pushing to remote '{name}', which is not the upstream of\nyour current "
                f"branch '{branch}', without telling me what to push\n"
                "to update which remote branch."
            )
        if not followed or not merge:
            if config.flag("push.autosetupremote"):
                self.options.counts["set-upstream"] = 1
                return [Refspec(f"{self.branch}:{self.branch}", fetch=False)]
            raise Fatal(_no_upstream(name, branch))
        if mode == "simple" and merge != self.branch:
            raise Fatal(_other_name(name, pretty(merge)))
        return [Refspec(f"{self.branch}:{merge}", fetch=False)]

    def _plan(self, refs: dict[str, str], specs: list[Refspec]) -> list[Update]:
        found: dict[str, Update] = {}
        failed = False
        for spec in specs:
            for update in self._matching(refs, spec):
                if isinstance(update, str):
                    text, _, hint = update.partition("\0")
                    self.git.error(text)
                    if hint:
                        self.git.hint(hint, "pushUnqualifiedRefName")
                    failed = True
                elif update.name in found and found[update.name].new != update.new:
                    self.git.error(f"dst ref {update.name} receives from more than one src")
                    failed = True
                else:
                    update.force = spec.force or self.options.on("force")
                    found[update.name] = update
        if self.options.on("mirror"):
            ours = self.repository.refs.all()
            for name, oid in refs.items():
                if name not in ours:
                    update = Update("", name, oid, NULL)
                    update.force = True
                    found.setdefault(name, update)
        if self.options.on("follow-tags") or (
            self.git.config.flag("push.followtags") and not self.options.off("follow-tags")
        ):
            self._follow_tags(refs, found)
        if failed:
            self.git.error(f"failed to push some refs to '{self.url}'")
            raise Quit(1)
        # references that the other side has come first, in its order
        known = list(refs)
        return sorted(
            found.values(),
            key=lambda update: known.index(update.name) if update.name in refs else len(known),
        )

    def _follow_tags(self, refs: dict[str, str], found: dict[str, Update]) -> None:
        objects = self.repository.objects
        tips = [update.new for update in found.values() if update.new != NULL]
        for name, oid in self.repository.refs.all("refs/tags/").items():
            if name in refs or name in found or objects.type_of(oid) != "tag":
                continue
            commit = objects.peel(oid, "commit")
            if commit is not None and any(
                (tip := objects.peel(each, "commit")) is not None
                and is_ancestor(self.repository, commit, tip)
                for each in tips
            ):
                found[name] = Update(name, name, NULL, oid)

    def _matching(self, refs: dict[str, str], spec: Refspec) -> list[Update | str]:
        # long: one form of refspec after the other
        ours = self.repository.refs
        if spec.has_target and not spec.source and not spec.target:  # ":" pushes what both have
            local = ours.all("refs/heads/")
            return [
                Update(name, name, refs[name], oid) for name, oid in local.items() if name in refs
            ]
        if spec.is_pattern:
            target_of = spec.maps if spec.has_target else lambda name: (
                name if Refspec(f"{spec.source}:{spec.source}", fetch=False).maps(name) else None
            )  # fmt: skip
            return [
                Update(name, target, refs.get(target, NULL), oid)
                for name, oid in ours.all().items()
                if (target := target_of(name))
            ]
        if not spec.source:
            full = find_remote_ref(refs, spec.target)
            if full is None and spec.target.startswith("refs/"):
                if not self.options.on("delete"):
                    return [Update("", spec.target, NULL, NULL)]
            if full is None:
                return [f"unable to delete '{spec.target}': remote ref does not exist"]
            return [Update("", full, refs[full], NULL)]
        source = "HEAD" if spec.source == "@" else spec.source
        local_ref = find_ref(self.repository, source)
        oid = local_ref[1] if local_ref is not None else Resolver(self.git).find(source)
        if oid is None or oid not in self.repository.objects:
            return [f"src refspec {spec.source} does not match any"]
        name = local_ref[0] if local_ref is not None else ""
        target = spec.target
        if not spec.has_target:
            target = self.branch if name == "HEAD" and self.branch else name
            if not target or target == "HEAD":
                return [_unqualified(spec.source, spec.source)]
            configured = self._configured_target(target)
            target = configured or target
        elif not target.startswith("refs/"):
            full = find_remote_ref(refs, target)
            if full is None:
                prefix = self._guessed_prefix(name)
                if not prefix:
                    return [
                        _unqualified(spec.source, target)
                        + "\0"
                        + _suggested(spec.source, target, self.repository.objects.type_of(oid))
                    ]
                full = f"{prefix}{target}"
            target = full
        if not is_ref_name(target):
            return [f"invalid refspec '{spec.text}'"]
        shown = name if name and name != "HEAD" else spec.source
        return [Update(shown, target, refs.get(target, NULL), oid)]

    def _configured_target(self, name: str) -> str:
        """Return where remote.NAME.push, or an upstream with push.default=upstream, sends a ref."""
        for spec in self.remote.push:
            target = spec.maps(name)
            if target:
                return target
        if self.git.config.get("push.default").lower() in ("upstream", "tracking"):
            branch = name.removeprefix("refs/heads/")
            if self.git.config.get(f"branch.{branch}.remote") == self.remote.name:
                return self.git.config.get(f"branch.{branch}.merge")
        return ""

    def _guessed_prefix(self, name: str) -> str:
        if name == "HEAD":
            name = self.branch
        if name.startswith("refs/heads/"):
            return "refs/heads/"
        return "refs/tags/" if name.startswith("refs/tags/") else ""

    def _pruned(
        self, refs: dict[str, str], specs: list[Refspec], updates: list[Update]
    ) -> list[Update]:
        known = {update.name for update in updates}
        ours = self.repository.refs.all()
        found = []
        for name, oid in refs.items():
            for spec in specs:
                if spec.is_pattern:
                    source = spec.maps_back(name) if spec.has_target else None
                    if source is not None and source not in ours and name not in known:
                        found.append(Update("", name, oid, NULL))
                        break
        return found

    # what is allowed

    def _decide(self, update: Update, peer: Peer) -> None:
        # long: git's rules in their order
        objects, repository = self.repository.objects, self.repository
        if update.old == update.new:
            update.status = "up to date"
            return
        lease = self._lease(update)
        if lease is not None:
            if lease != update.old:
                update.status, update.reason = "rejected", "stale info"
                return
            update.is_forced = update.new != NULL and update.old != NULL
        force = update.force or lease is not None
        if NULL in (update.old, update.new):
            update.is_forced = False
            return
        reason = ""
        if update.name.startswith("refs/tags/"):
            reason = "already exists"
        elif update.old not in objects:
            reason = "fetch first"
        else:
            old, new = (objects.peel(each, "commit") for each in (update.old, update.new))
            if old is None or new is None:
                reason = "needs force"
            elif not is_ancestor(repository, old, new):
                reason = "non-fast-forward"
        update.is_forced = bool(reason) and force
        if reason and not force:
            update.status, update.reason = "rejected", reason

    def _lease(self, update: Update) -> str | None:
        """Return what --force-with-lease expects of a reference, None if it does not say."""
        options = self.options
        if not options.on("force-with-lease"):
            return None
        for value in reversed(options.values.get("force-with-lease", [])):
            if value is None:
                return self._tracked(update.name) or "unknown"
            name, colon, expected = value.partition(":")
            if find_remote_ref([update.name], name) is None:
                continue
            if not colon:
                return self._tracked(update.name) or "unknown"
            if not expected:
                return NULL
            found = expected if is_object_name(expected) else Resolver(self.git).find(expected)
            if found is None:
                raise Fatal(f"cannot parse expected object name '{expected}'")
            return found
        return None

    def _tracked(self, name: str) -> str | None:
        ref = tracking_ref(self.repository, self.remote.name, name)
        return self.repository.refs.read(ref) if ref is not None else None

    # afterwards

    def _track(self, updates: list[Update]) -> None:
        """Let tracking branches know what was pushed."""
        for update in updates:
            if update.status not in ("ok", "up to date"):
                continue
            for spec in self.remote.fetch:
                ref = None if spec.excludes else spec.maps(update.name)
                if not ref:
                    continue
                refs = self.repository.refs
                if self.verbose:
                    self.git.say(f"updating local tracking ref '{ref}'")
                if update.new == NULL:
                    refs.delete(ref)
                elif refs.read(ref) != update.new:
                    refs.write(ref, update.new, "update by push", deref=False)

    def _set_upstream(self, updates: list[Update]) -> None:
        for update in updates:
            if update.status not in ("ok", "up to date") or update.new == NULL:
                continue
            source = self.branch if update.source in ("HEAD", "@") else update.source
            if not source.startswith("refs/heads/") or not update.name.startswith("refs/heads/"):
                continue
            branch = source.removeprefix("refs/heads/")
            target = f"{self.remote.name}/{update.name.removeprefix('refs/heads/')}"
            if self.options.on("dry-run"):
                self.git.print(f"Would set upstream of '{branch}' to '{pretty(update.name)}' of "
                               f"'{self.remote.name}'")  # fmt: skip
                continue
            edit_config(self.git, f"branch.{branch}.remote", self.remote.name)
            edit_config(self.git, f"branch.{branch}.merge", update.name)
            if not self.options.on("quiet"):
                shown = target
                if not self.remote.is_named:
                    shown = f"{self.remote.name}/{pretty(update.name)}"
                self.git.print(f"branch '{branch}' set up to track '{shown}'.")

    def _report(self, updates: list[Update]) -> bool:
        """Print what became of each reference and return whether one failed."""
        failed = False
        for update in updates:
            if update.status == "up to date" and (self.verbose or self.porcelain):
                self._line("=", "[up to date]", update)
        for update in updates:
            if update.status == "ok":
                self._line(*self._summary(update), update)
        for update in updates:
            if update.status in ("rejected", "remote rejected", "remote failure"):
                failed = True
                self._line("!", f"[{update.status}]", update, update.reason)
        return failed

    def _summary(self, update: Update) -> tuple[str, str]:
        if update.new == NULL:
            return "-", "[deleted]"
        if update.old == NULL:
            if update.name.startswith("refs/tags/"):
                return "*", "[new tag]"
            kind = "branch" if update.name.startswith("refs/heads/") else "reference"
            return "*", f"[new {kind}]"
        dots, flag = ("...", "+") if update.is_forced else ("..", " ")
        one, two = self.repository.short(update.old), self.repository.short(update.new)
        return flag, f"{one}{dots}{two}"

    def _line(self, flag: str, summary: str, update: Update, reason: str = "") -> None:
        git = self.git
        is_failure = flag == "!"
        if self.options.on("quiet") and not is_failure and not self.porcelain:
            return
        if flag == "+":
            reason = "forced update"
        if not self.said:
            self.said = True
            text = f"To {self.url}"
            if self.porcelain:
                git.print(text)
            else:
                git.say(text)
        end = f" ({reason})" if reason else ""
        deletes = update.new == NULL
        if self.porcelain:
            source = "" if deletes else update.source
            git.print(f"{flag}\t{source}:{update.name}\t{summary}{end}")
            return
        names = (
            pretty(update.name) if deletes else f"{pretty(update.source)} -> {pretty(update.name)}"
        )
        git.say(f" {flag} {summary:<17} {names}{end}")

    def _hint(self, updates: list[Update]) -> None:
        reasons = [update.reason for update in updates if update.status == "rejected"]
        if "non-fast-forward" in reasons:
            current = any(
                update.reason == "non-fast-forward" and update.source in (self.branch, "HEAD")
                for update in updates
            )
            key = "current" if current else "other"
            if self.git.config.flag("advice.pushupdaterejected", True):
                setting = "pushNonFFCurrent" if current else "pushNonFFMatching"
                self.git.hint(_HINTS[key], setting)
            return
        for reason, setting in (
            ("already exists", "pushAlreadyExists"), ("fetch first", "pushFetchFirst"),
            ("needs force", "pushNeedsForce"),
        ):  # fmt: skip
            if reason in reasons:
                if self.git.config.flag("advice.pushupdaterejected", True):
                    self.git.hint(_HINTS[reason], setting)
                return


def _no_upstream(remote: str, branch: str) -> str:
    return (
        f"The current branch {branch} has no upstream branch.\n"
        "To push the current branch and set the remote as upstream, use\n\n"
        f"    git push --set-upstream {remote} {branch}\n\n"
        "To have this happen automatically for branches without a tracking\n"
        "upstream, see 'push.autoSetupRemote' in 'git help config'.\n"
    )


def _other_name(remote: str, merge: str) -> str:
    return (
        "The upstream branch of your current branch does not match\n"
        "the name of your current branch.  To push to the upstream branch\n"
        f"on the remote, use\n\n    git push {remote} HEAD:{merge}\n\n"
        "To push to the branch of the same name on the remote, use\n\n"
        f"    git push {remote} HEAD\n\n"
        "To choose either option permanently, see push.default in 'git help config'.\n\n"
        "To avoid automatically configuring an upstream branch when its name\n"
        "won't match the local branch, see option 'simple' of branch.autoSetupMerge\n"
        "in 'git help config'.\n"
    )


def _unqualified(source: str, target: str) -> str:
    return (
        "The destination you provided is not a full refname (i.e.,\n"
        'starting with "refs/"). We tried to guess what you meant by:\n\n'
        f"- Looking for a ref that matches '{target}' on the remote side.\n"
        f"- Checking if the <src> being pushed ('{source}')\n"
        '  is a ref in "refs/{heads,tags}/". If so we add a corresponding\n'
        "  refs/{heads,tags}/ prefix on the remote side.\n\n"
        "Neither worked, so we gave up. You must fully qualify the ref."
    )


def _suggested(source: str, target: str, kind: str) -> str:
    what = {"commit": "create a new branch", "tag": "create a new tag"}.get(
        kind, f"tag a new {kind}"
    )
    folder = "heads" if kind == "commit" else "tags"
    return (
        f"The <src> part of the refspec is a {kind} object.\nDid you mean to {what} by pushing to\n"
        f"'{source}:refs/{folder}/{target}'?"
    )


COMMANDS = {"push": push}
