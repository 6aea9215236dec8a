"""`git merge` and `merge-base`."""

from __future__ import annotations

from agentsandbox.git.autostash import apply_autostash, create_autostash, save_autostash
from agentsandbox.git.editor import edit
from agentsandbox.git.errors import BadUsage, Fatal, Plain, Quit
from agentsandbox.git.history import Walk, independent, is_ancestor, merge_bases
from agentsandbox.git.hooks import run_hook
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.merge_state import (
    conflict_lines,
    print_change,
    print_texts,
    put_merge,
    refuse_staged,
    refuse_unmerged,
    refused,
)
from agentsandbox.git.merging import Merged, merge_commits
from agentsandbox.git.merging import Options as HowToMerge
from agentsandbox.git.objects import format_commit
from agentsandbox.git.options import parse_options
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.pretty import Person, Pretty
from agentsandbox.git.revisions import Resolver, find_ref, resolve_commit
from agentsandbox.git.texts import clean_message, split_words, subject_of
from agentsandbox.git.trailers import with_trailer
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "merge": """
git merge [<options>] [<commit>]
   or: git merge --abort
   or: git merge --continue
   or: git merge --quit

    -n                    show no diffstat
    --stat                show a diffstat (default)
    --summary             the same
    --log[=<n>]           add the subjects of at most <n> commits to the message
    --squash              merge the files, and make no commit
    --commit              make a commit (default)
    -e, --edit            edit the message
    --cleanup <mode>      how to clean the message
    --ff                  fast-forward where that is possible (default)
    --ff-only             only fast-forward
    --verify-signatures   check a signature
    -s, --strategy <strategy>
                          ort or ours
    -X, --strategy-option <option>
                          which side wins conflicts: ours or theirs
    -m, --message <message>
                          the message
    -F, --file <path>     take the message from a file
    --into-name <name>    another name of the branch in the message
    -q, --quiet           print no reports
    -v, --verbose         print more
    --abort               end the merge in progress and go back
    --quit                forget the merge in progress
    --continue            commit the merge in progress
    --allow-unrelated-histories
                          merge without a common ancestor
    --progress            show progress
    -S, --gpg-sign[=<key-id>]
                          sign the commit
    --autostash           stash local changes before
    --overwrite-ignore    overwrite ignored files
    --signoff             add a Signed-off-by trailer
    --verify              run the hooks (default)
""",
    "merge-base": """
git merge-base [-a | --all] <commit> <commit>...
   or: git merge-base [-a | --all] --octopus <commit>...
   or: git merge-base --is-ancestor <commit> <commit>
   or: git merge-base --independent <commit>...
   or: git merge-base --fork-point <ref> [<commit>]

    -a, --all             print all best common ancestors
    --octopus             the ancestors of all commits
    --independent         print the commits that no other one reaches
    --is-ancestor         whether the first one is an ancestor of the second one
    --fork-point          where a branch forked off, by the log of a reference
""",
}


def merge(git: Invocation, words: list[str]) -> int:
    return _Merging(git, words).run()


_IGNORED = " (no commit created; -m option ignored)"
_AUTOSTASH = "MERGE_AUTOSTASH"


class _Merging:
    """One call of `git merge`."""

    def __init__(self, git: Invocation, words: list[str]) -> None:
        self.git = git
        branch = git.repository.branch().removeprefix("refs/heads/")
        settings = git.config.get(f"branch.{branch}.mergeoptions") or "" if branch else ""
        try:
            always = split_words(settings)
        except ValueError as error:
            raise Fatal(f"Bad branch.{branch}.mergeoptions string: {error}") from None
        if words != ["-h"]:
            words = [*always, *words]
        self.options = parse_options(USAGES["merge"], words)
        self.repository = git.repository
        self.repository.need_worktree()
        self.favor = ""

    def run(self) -> int:
        # long: one mode after the other, in git's order
        git, options, repository = self.git, self.options, self.repository
        for name in ("abort", "quit", "continue"):
            if options.on(name):
                if len(options.counts) > 1 or options.operands:
                    raise BadUsage(f"--{name} expects no arguments")
                return {"abort": self._abort, "quit": self._quit, "continue": self._continue}[
                    name
                ]()
        self._check()
        refuse_unmerged(git, "Merging")
        if repository.read_file("MERGE_HEAD") is not None:
            raise Fatal(
                "You have not concluded your merge (MERGE_HEAD exists).\n"
                "Please, commit your changes before you merge."
            )
        if repository.read_file("CHERRY_PICK_HEAD") is not None:
            raise Fatal(
                "You have not concluded your cherry-pick (CHERRY_PICK_HEAD exists).\n"
                "Please, commit your changes before you merge."
            )
        names = options.operands or self._upstream()
        if len(names) > 1:
            raise Fatal("a merge of more than one branch is not supported in this sandbox")
        self.name = names[0]
        named = Resolver(git).find(self.name, kind="commit")
        found = repository.objects.peel(named, "commit") if named is not None else None
        if found is None:
            raise Plain(f"merge: {self.name} - not something we can merge", 1)
        self.other = found
        head = repository.head()
        if head is None:
            return self._into_nothing()
        self.head = head
        self.bases = merge_bases(repository, head, [found])
        if not self.bases and not options.on("allow-unrelated-histories"):
            raise Fatal("refusing to merge unrelated histories")
        repository.refs.write("ORIG_HEAD", head, "")
        if found in self.bases:
            if not options.on("quiet"):
                git.print("Already up to date.")
            return 0
        tag = self._is_tag()
        forward = head in self.bases and not self._never_forward(tag)
        if forward and not self.options.given("strategy"):
            return self._forward()
        if self._only_forward():
            raise Fatal("Not possible to fast-forward, aborting.")
        return self._three_way()

    def _check(self) -> None:
        options = self.options
        if options.on("gpg-sign") or options.on("verify-signatures"):
            raise Fatal("commits are not signed in this sandbox: it keeps no keys")
        for text in options.all("strategy"):
            if text not in ("ort", "recursive", "ours"):
                raise Fatal(f"the merge strategy {text} is not supported in this sandbox")
        for text in options.all("strategy-option"):
            if text not in ("ours", "theirs"):
                raise Fatal(f"the strategy option {text} is not supported in this sandbox")
            self.favor = text
        if options.on("squash"):
            if options.off("ff"):
                raise Fatal("options '--squash' and '--no-ff.' cannot be used together")
            if options.on("commit"):
                raise Fatal("options '--squash' and '--commit.' cannot be used together")

    def _upstream(self) -> list[str]:
        branch = self.repository.branch().removeprefix("refs/heads/")
        if not branch:
            raise Fatal("No current branch.")
        if not self.git.config.get(f"branch.{branch}.remote"):
            raise Fatal("No remote for the current branch.")
        return ["@{upstream}"]

    def _is_tag(self) -> bool:
        ref = find_ref(self.repository, self.name)
        return ref is not None and ref[0].startswith("refs/tags/") and (
            self.repository.objects.type_of(ref[1]) == "tag"
        )  # fmt: skip

    def _setting(self) -> str:
        return self.git.config.get("merge.ff", "").lower()

    def _never_forward(self, tag: bool) -> bool:
        options = self.options
        for name, _, negated in reversed(options.order):
            if name == "ff":
                return negated
            if name == "ff-only":
                return False
        return tag or self._setting() in ("false", "no", "off")

    def _only_forward(self) -> bool:
        for name, _, negated in reversed(self.options.order):
            if name == "ff":
                return False
            if name == "ff-only":
                return not negated
        return self._setting() == "only"

    def _shows_stat(self) -> bool:
        options = self.options
        if options.on("quiet"):
            return False
        for name, _, negated in reversed(options.order):
            if name in ("stat", "summary"):
                return not negated
            if name == "n":
                return False
        return self.git.config.flag("merge.stat", True)

    def _into_nothing(self) -> int:
        git, repository = self.git, self.repository
        if self.options.on("squash"):
            raise Fatal("Squash commit into empty head not supported yet")
        tree = repository.objects.commit(self.other).tree
        switch_trees(git, None, tree, action="merge")
        repository.refs.write("HEAD", self.other, "initial pull")
        return 0

    def _forward(self) -> int:
        git, repository, objects = self.git, self.repository, self.repository.objects
        quiet = self.options.on("quiet")
        if not quiet:
            git.print(f"Updating {repository.short(self.head)}..{repository.short(self.other)}")
            git.flush()
        self._stash()
        try:
            switch_trees(
                git, objects.commit(self.head).tree, objects.commit(self.other).tree,
                action="merge", overwrite_ignored=not self.options.off("overwrite-ignore"),
            )  # fmt: skip
        except Plain as error:
            git.say(error.message)
            apply_autostash(git, _AUTOSTASH)
            raise Quit(1) from None
        if not quiet:
            ignored = self.options.given("message") or self.options.given("file")
            git.print("Fast-forward" + _IGNORED * ignored)
        if self.options.on("squash"):
            self._write_squash()
        else:
            repository.refs.write("HEAD", self.other, self._action("Fast-forward"), old=self.head)
        if self._shows_stat():
            print_change(git, self.head, self.other)
        self._after(squash=self.options.on("squash"))
        return 0

    def _after(self, *, squash: bool) -> None:
        run_hook(self.repository, "post-merge", "1" if squash else "0")
        if not squash:
            apply_autostash(self.git, _AUTOSTASH)

    def _stash(self) -> None:
        """Stash local changes, if that is asked for."""
        if self.options.on("autostash", self.git.config.flag("merge.autostash")):
            create_autostash(self.git, _AUTOSTASH)

    def _action(self, text: str) -> str:
        action = self.git.env.get("GIT_REFLOG_ACTION", f"merge {self.name}")
        return f"{action}: {text}"

    def _three_way(self) -> int:
        git, repository, options = self.git, self.repository, self.options
        ours = repository.objects.commit(self.head).tree
        self._stash()
        merged = Merged()
        strategy = options.text("strategy", "ort")
        if strategy == "ours":
            merged.tree = ours
        else:
            try:
                refuse_staged(git, ours)
            except Plain as error:
                raise refused(git, error, 2, f"Merge with strategy {strategy} failed.") from None
            how = HowToMerge(repository)
            how.favor = self.favor
            merged = merge_commits(
                repository, self.head, self.other, ("HEAD", self.name), how, self.bases
            )
            try:
                put_merge(git, ours, merged)
            except Plain as error:
                print_texts(git, merged)
                git.flush()
                raise refused(git, error, 2, f"Merge with strategy {strategy} failed.") from None
            print_texts(git, merged)
        if options.on("squash"):
            self._write_squash()
        else:
            self._write_state()
        if not merged.is_clean:
            text = repository.read_file("MERGE_MSG") or ""
            repository.write_file("MERGE_MSG", text + conflict_lines(list(merged.stages)))
            git.print("Automatic merge failed; fix conflicts and then commit the result.")
            if repository.read_file(_AUTOSTASH) is not None:
                git.print("When finished, apply stashed changes with `git stash pop`")
            return 1
        if options.on("squash") or options.off("commit"):
            git.flush()
            git.say("Automatic merge went well; stopped before committing as requested")
            return 0
        return self._commit(merged.tree, strategy)

    # messages and files

    def _message(self) -> str:
        options = self.options
        if options.given("message") or options.given("file"):
            if options.given("file"):
                name = options.text("file")
                data = (
                    self.git.read_input() if name == "-"
                    else self.git.fs.read_bytes(self.git.path(name))
                )  # fmt: skip
                text = decode(data)
            else:
                text = "\n\n".join(options.all("message"))
            text = text.rstrip("\n") + "\n"
        else:
            text = self._title() + "\n"
        if options.given("log") and options.on("log"):
            text += self._shortlog()
        if options.on("signoff"):
            ident = self.repository.ident("committer").rpartition(b">")[0] + b">"
            text = decode(with_trailer(encode(text), b"Signed-off-by: " + ident))
        return text

    def _title(self) -> str:
        repository, name = self.repository, self.name
        ref = find_ref(repository, name)
        body = ""
        base = _without_steps(name)
        is_early = base not in ("", name)
        if ref is None and is_early and find_ref(repository, f"refs/heads/{base}") is not None:
            shown = f"branch '{base}' (early part)"
        elif ref is None:
            shown = f"commit '{name}'"
        elif ref[0].startswith("refs/heads/"):
            shown = f"branch '{ref[0][11:]}'"
        elif ref[0].startswith("refs/remotes/"):
            shown = f"remote-tracking branch '{ref[0][13:]}'"
        elif ref[0].startswith("refs/tags/"):
            shown = f"tag '{ref[0][10:]}'"
            if repository.objects.type_of(ref[1]) == "tag":
                body = decode(repository.objects.tag(ref[1]).message).rstrip("\n")
        else:
            shown = f"commit '{name}'"
        branch = repository.branch().removeprefix("refs/heads/") or "HEAD"
        branch = self.options.get("into-name") or branch
        into = "" if self._is_suppressed(branch) else f" into {branch}"
        return f"Merge {shown}{into}" + (f"\n\n{body}" if body else "")

    def _is_suppressed(self, branch: str) -> bool:
        """Whether a message does not name this branch (merge.suppressDest)."""
        patterns = ["main", "master"]
        given = self.git.config.get_all("merge.suppressdest")
        if given:
            patterns = given[len(given) - given[::-1].index("") :] if "" in given else given
        return any(wildmatch(encode(pattern), encode(branch)) for pattern in patterns)

    def _shortlog(self) -> str:
        walk = Walk(self.repository)
        walk.tips, walk.hidden = [self.other], [self.head]
        walk.most_parents = 1
        commits = list(walk.run())
        most = int(self.options.text("log") or "20")
        head = self.name
        title = f"\n* {head}:" + (f" ({len(commits)} commits)" if len(commits) > 1 else "")
        objects = self.repository.objects
        lines = [f"  {decode(subject_of(objects.commit(oid).message))}" for oid in commits[:most]]
        if len(commits) > most:
            lines.append("  ...")
        return "\n".join([title, *lines]) + "\n"

    def _write_state(self) -> None:
        repository = self.repository
        repository.write_file("MERGE_HEAD", f"{self.other}\n")
        forward = self._never_forward(False)
        repository.write_file("MERGE_MODE", "no-ff" if forward else "")
        repository.write_file("MERGE_MSG", self._message())

    def _write_squash(self) -> None:
        git = self.git
        if not self.options.on("quiet"):
            git.print("Squash commit -- not updating HEAD")
        walk = Walk(self.repository)
        walk.tips, walk.hidden = [self.other], [self.head]
        walk.most_parents = 1
        pretty = Pretty(self.repository)
        lines = ["Squashed commit of the following:\n"]
        for oid in walk.run():
            commit = self.repository.objects.commit(oid)
            author = Person(commit.author)
            body = decode(commit.message).rstrip("\n").split("\n")
            lines.append(
                f"\ncommit {oid}\nAuthor: {author.name} <{author.mail}>\n"
                f"Date:   {pretty.date(author)}\n\n"
                + "".join([f"    {line}".rstrip(" ") + "\n" if line else "\n" for line in body])
            )
        self.repository.write_file("SQUASH_MSG", "".join(lines))

    def _commit(self, tree: str, strategy: str) -> int:
        git, repository, options = self.git, self.repository, self.options
        if not options.off("verify") and run_hook(repository, "pre-merge-commit"):
            return 1
        if options.on("edit"):
            edit(git, repository.file("MERGE_MSG"), ".git/MERGE_MSG")
        mode = options.text("cleanup", "strip" if options.on("edit") else "whitespace")
        if run_hook(repository, "prepare-commit-msg", ".git/MERGE_MSG", "merge"):
            return 1
        if not options.off("verify") and run_hook(repository, "commit-msg", ".git/MERGE_MSG"):
            return 1
        message = clean_message(encode(repository.read_file("MERGE_MSG") or ""), mode)
        if not message.strip():
            git.error("Empty commit message.")
            git.say("Not committing merge; use 'git commit' to complete the merge.")
            return 1
        parents = [self.head, self.other]
        oid = repository.objects.write(
            "commit",
            format_commit(
                tree, parents, repository.ident("author"), repository.ident("committer"), message
            ),
        )
        text = f"Merge made by the '{strategy}' strategy."
        repository.refs.write("HEAD", oid, self._action(text), old=self.head)
        repository.remove_file("MERGE_HEAD", "MERGE_MODE", "MERGE_MSG")
        if not options.on("quiet"):
            git.print(text)
        if self._shows_stat():
            print_change(git, self.head, oid)
        self._after(squash=False)
        return 0

    # a merge in progress

    def _abort(self) -> int:
        from agentsandbox.git.commands.resetting import reset

        if self.repository.read_file("MERGE_HEAD") is None:
            raise Fatal("There is no merge to abort (MERGE_HEAD missing).")
        stashed = self.repository.read_file(_AUTOSTASH)
        self.repository.remove_file(_AUTOSTASH)
        status = reset(self.git, ["--merge"])
        if stashed is not None:
            self.repository.write_file(_AUTOSTASH, stashed)
            apply_autostash(self.git, _AUTOSTASH)
        return status

    def _quit(self) -> int:
        save_autostash(self.git, _AUTOSTASH)
        self.repository.remove_file(
            "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "MERGE_RR", "SQUASH_MSG"
        )
        return 0

    def _continue(self) -> int:
        from agentsandbox.git.commands.committing import commit

        if self.repository.read_file("MERGE_HEAD") is None:
            raise Fatal("There is no merge in progress (MERGE_HEAD missing).")
        return commit(self.git, [])


def _without_steps(name: str) -> str:
    """Return a revision without the `^` and `~N` at its end."""
    end = len(name)
    while end:
        at = end
        while name[at - 1 : at].isdigit():
            at -= 1
        if name[at - 1 : at] == "~" or (at == end and name[at - 1] == "^"):
            end = at - 1
        else:
            break
    return name[:end]


def merge_base(git: Invocation, words: list[str]) -> int:
    # long: one mode after the other
    options = parse_options(USAGES["merge-base"], words)
    repository = git.repository

    def commit(text: str) -> str:
        return resolve_commit(git, text, f"Not a valid object name {text}")

    operands = options.operands
    if options.on("is-ancestor"):
        if options.on("all"):
            raise Fatal("options '--is-ancestor' and '--all' cannot be used together")
        if len(operands) != 2:
            raise (
                Fatal("--is-ancestor takes exactly two commits")
                if len(operands) > 2
                else BadUsage()
            )
        return 0 if is_ancestor(repository, commit(operands[0]), commit(operands[1])) else 1
    if options.on("independent"):
        found = [commit(each) for each in operands]
        for oid in independent(repository, found):
            git.print(oid)
        return 0 if found else 1
    if options.on("fork-point"):
        return _fork_point(git, operands)
    if options.on("octopus"):
        found = [commit(each) for each in operands]
        if not found:
            raise BadUsage
        bases = [found[0]]
        for oid in found[1:]:
            bases = independent(
                repository,
                [base for each in bases for base in merge_bases(repository, each, [oid])],
            )
        for base in bases if options.on("all") else bases[:1]:
            git.print(base)
        return 0 if bases else 1
    if len(operands) < 2:
        raise BadUsage
    first, *others = [commit(each) for each in operands]
    bases = merge_bases(repository, first, others)
    for base in bases if options.on("all") else bases[:1]:
        git.print(base)
    return 0 if bases else 1


def _fork_point(git: Invocation, operands: list[str]) -> int:
    from agentsandbox.git.reflogs import fork_point

    if not 1 <= len(operands) <= 2:
        raise BadUsage
    if find_ref(git.repository, operands[0]) is None:
        raise Fatal(f"No such ref: '{operands[0]}'")
    commit = resolve_commit(git, operands[1] if len(operands) > 1 else "HEAD")
    found = fork_point(git.repository, operands[0], commit)
    if found is None:
        return 1
    git.print(found)
    return 0


COMMANDS = {"merge": merge, "merge-base": merge_base}
