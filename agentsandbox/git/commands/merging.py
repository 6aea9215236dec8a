"""`git merge` and `merge-base`."""

from __future__ import annotations

from agentsandbox.git.autostash import apply_autostash, create_autostash, save_autostash
from agentsandbox.git.editor import edit
from agentsandbox.git.errors import BadUsage, Fatal, Plain, Quit
from agentsandbox.git.history import Walk, independent, is_ancestor, merge_bases
from agentsandbox.git.hooks import run_hook
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.merge_messages import Head, MergeMessage, fetched_heads, read_head
from agentsandbox.git.merge_state import (
    CUT,
    conflict_lines,
    print_change,
    print_texts,
    put_merge,
    refuse_staged,
    refuse_unmerged,
    refused,
    staged_paths,
)
from agentsandbox.git.merging import Merged, merge_commits
from agentsandbox.git.merging import Options as HowToMerge
from agentsandbox.git.objects import format_commit
from agentsandbox.git.octopus import Octopus, octopus_bases
from agentsandbox.git.options import parse_options
from agentsandbox.git.pretty import Person, Pretty
from agentsandbox.git.revisions import find_ref, resolve_commit
from agentsandbox.git.texts import clean_message, split_words
from agentsandbox.git.trailers import with_trailer
from agentsandbox.git.trees import write_index_tree
from agentsandbox.git.unpacking import switch_trees
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.objects import Commit

USAGES = {
    "merge": """
git merge [<options>] [<commit>...]
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
                          ort, octopus or ours
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
_MOST_SUBJECTS = 20
_EDITED = """# Please enter a commit message to explain why this merge is necessary,
# especially if it merges an updated upstream into a topic branch.
#
"""
_EDITED_CUT = "# An empty message aborts the commit.\n"
_EDITED_STRIPPED = """# Lines starting with '#' will be ignored, and an empty message aborts
# the commit.
"""


class _Merging:
    """One call of `git merge`."""

    def __init__(self, git: Invocation, words: list[str]) -> None:
        self.git = git
        self.repository = git.repository
        own = [] if words == ["-h"] else self._own_options()
        self.options = parse_options(USAGES["merge"], [*own, *words])
        self._given = len(words)
        self.repository.need_worktree()
        self.favor = ""
        self.heads: list[Head] = []
        self.keeps_head = True
        """Whether HEAD is a parent of the merge: no other head reaches it."""
        self.never = False
        """Whether a merge is always a commit."""
        self.message = ""

    def _own_options(self) -> list[str]:
        """Return the options that the configuration has for the branch."""
        branch = self.repository.branch().removeprefix("refs/heads/")
        if not branch:
            return []
        try:
            return split_words(self.git.config.get(f"branch.{branch}.mergeoptions"))
        except ValueError as error:
            raise Fatal(f"Bad branch.{branch}.mergeoptions string: {error}") from None

    def run(self) -> int:
        # long: one mode after the other, in git's order
        git, options, repository = self.git, self.options, self.repository
        for name in ("abort", "quit", "continue"):
            if options.on(name):
                if self._given > 1 or options.operands:
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
        if names == ["-"]:
            names = ["@{-1}"]
        heads = self._named(names)
        head = repository.head()
        if head is None:
            return self._into_nothing(heads, names[0])
        self.head = head
        self.heads = self._reduced(heads)
        repository.refs.write("ORIG_HEAD", head, "")
        if not self.heads:
            if not options.on("quiet"):
                git.print("Already up to date.")
            return 0
        self.name, self.other = self.heads[0].name, self.heads[0].commit
        commits = [each.commit for each in self.heads]
        self.bases = (
            merge_bases(repository, head, commits) if len(commits) == 1
            else octopus_bases(repository, [head, *commits])
        )  # fmt: skip
        if not self.bases and not options.on("allow-unrelated-histories"):
            raise Fatal("refusing to merge unrelated histories")
        self.never = self._never_forward(any(map(self._is_throwaway_tag, self.heads)))
        forward = head in self.bases and len(commits) == 1 and not self.never
        strategy = options.text("strategy", "ort" if len(commits) == 1 else "octopus")
        self.never = self.never or strategy == "ours"
        if forward and not self.never:
            return self._forward()
        if self._only_forward():
            raise Fatal("Not possible to fast-forward, aborting.")
        return self._merge(strategy)

    def _named(self, names: list[str]) -> list[Head]:
        """Return the heads that the operands name."""
        git = self.git
        if names == ["FETCH_HEAD"]:
            return fetched_heads(self.repository)
        heads = []
        for name in names:
            found = read_head(git, name)
            if found is None:
                raise Plain(f"merge: {name} - not something we can merge{self._guess(name)}", 1)
            heads.append(found)
        return heads

    def _guess(self, name: str) -> str:
        """Return a question for a name that only remote branches have."""
        refs = self.repository.refs
        found = []
        for ref in refs.all("refs/remotes/"):
            if ref.split("/", 3)[3:] == [name] and refs.symbolic(ref) is None:
                short = ref.removeprefix("refs/remotes/")
                is_taken = any(
                    refs.read(f"{start}{short}") is not None
                    for start in ("refs/heads/", "refs/tags/")
                )
                found.append(f"remotes/{short}" if is_taken else short)
        if not found:
            return ""
        question = "Did you mean this?" if len(found) == 1 else "Did you mean one of these?"
        return f"\n\n{question}\n" + "\n".join([f"\t{each}" for each in found])

    def _reduced(self, heads: list[Head]) -> list[Head]:
        """Return the heads that no other one reaches, HEAD included in the comparison."""
        kept = independent(self.repository, [self.head, *[each.commit for each in heads]])
        self.keeps_head = self.head in kept
        found: dict[str, Head] = {}
        for each in heads:
            if each.commit in kept and each.commit != self.head:
                found.setdefault(each.commit, each)
        return list(found.values())

    def _check(self) -> None:
        options = self.options
        if options.on("gpg-sign") or options.on("verify-signatures"):
            raise Fatal("commits are not signed in this sandbox: it keeps no keys")
        if len(options.all("strategy")) > 1:
            raise Fatal("more than one merge strategy is not supported in this sandbox")
        for text in options.all("strategy"):
            if text not in ("ort", "recursive", "ours", "octopus"):
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

    def _is_throwaway_tag(self, head: Head) -> bool:
        """Whether a head is an annotated tag that the repository does not have by its own name."""
        objects = self.repository.objects
        if objects.type_of(head.oid) != "tag":
            return False
        name = decode(objects.tag(head.oid).name)
        return self.repository.refs.read(f"refs/tags/{name}") != head.oid

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

    def _into_nothing(self, heads: list[Head], name: str) -> int:
        git, repository = self.git, self.repository
        if self.options.on("squash"):
            raise Fatal("Squash commit into empty head not supported yet")
        if self._never_forward(False):
            raise Fatal("Non-fast-forward commit does not make sense into an empty head")
        kept = independent(repository, [each.commit for each in heads])
        if not kept:
            raise Fatal(f"{name} - not something we can merge")
        if len(kept) > 1:
            raise Fatal("Can merge only exactly one commit into empty head")
        tree = repository.objects.commit(kept[0]).tree
        switch_trees(git, None, tree, action="merge")
        repository.refs.write("HEAD", kept[0], "initial pull")
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
        ignored = self.options.given("message") or self.options.given("file")
        if not quiet:
            git.print("Fast-forward" + _IGNORED * ignored)
        if self.options.on("squash"):
            self._write_squash()
        else:
            action = self._action("Fast-forward" + _IGNORED * ignored)
            repository.refs.write("HEAD", self.other, action, old=self.head)
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
        names = " ".join([each.name for each in self.heads])
        action = self.git.env.get("GIT_REFLOG_ACTION", f"merge {names}")
        return f"{action}: {text}"

    def _merge(self, strategy: str) -> int:
        self._stash()
        merged = Merged()
        merged.tree = self.repository.objects.commit(self.head).tree
        staged = bool(staged_paths(self.git, merged.tree))
        try:
            if strategy == "octopus":
                self._octopus(merged)
            elif strategy != "ours":
                self._three_way(merged, strategy)
            elif staged:
                self.git.say("Merge with strategy ours failed.")
                raise Quit(2)
        except Quit:
            if staged:  # git stashes and restores what was staged
                self._note_restored()
            apply_autostash(self.git, _AUTOSTASH)
            raise
        return self._conclude(merged, strategy)

    def _note_restored(self) -> None:
        """Leave the traces of the `git stash apply --index` after a merge that failed."""
        refs = self.repository.refs
        refs.write("ORIG_HEAD", self.head, "")
        refs.write("HEAD", self.head, self._action("updating HEAD"))

    def _octopus(self, merged: Merged) -> None:
        """Merge all heads one after the other; the index has the result."""
        from agentsandbox.git.commands.stashing import apply_quietly, make_stash

        git, repository = self.git, self.repository
        stash = make_stash(git, "")
        status = Octopus(git, self.head).merge(self.heads)
        git.flush()
        if status == 2:
            tree = repository.objects.commit(self.head).tree
            switch_trees(git, None, tree, action="reset", reset=True, one_way=True)
            if stash:
                apply_quietly(git, stash)
            git.say("Merge with strategy octopus failed.")
            raise Quit(2)
        index = repository.index()
        merged.is_split = status == 1
        if status == 0:
            merged.tree = write_index_tree(repository, index)
        for path in index.unmerged():
            merged.stages[path] = {}

    def _three_way(self, merged: Merged, strategy: str) -> None:
        """Merge one head; `merged` gets the result, index and worktree have it."""
        git, repository = self.git, self.repository
        failed = f"Merge with strategy {strategy} failed."
        if len(self.heads) > 1:
            git.error("Not handling anything other than two heads merge.")
            git.say(failed)
            raise Quit(2)
        ours = repository.objects.commit(self.head).tree
        try:
            refuse_staged(git, ours)
        except Plain as error:
            raise refused(git, error, 2, failed) from None
        how = HowToMerge(repository)
        how.favor = self.favor
        found = merge_commits(
            repository, self.head, self.other, ("HEAD", self.name), how, self.bases
        )
        try:
            put_merge(git, ours, found)
        except Plain as error:
            print_texts(git, found)
            git.flush()
            raise refused(git, error, 2, failed) from None
        print_texts(git, found)
        merged.tree, merged.stages, merged.is_split = found.tree, found.stages, found.is_split

    def _conclude(self, merged: Merged, strategy: str) -> int:
        git, repository, options = self.git, self.repository, self.options
        if options.on("squash"):
            self._write_squash()
        else:
            self._write_state()
        if not merged.is_clean:
            text = repository.read_file("MERGE_MSG") or ""
            mode = options.text("cleanup") or git.config.get("commit.cleanup")
            lines = conflict_lines(list(merged.stages), cut=mode == "scissors")
            repository.write_file("MERGE_MSG", text + lines)
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
        """Return the message, without a newline at the end of one that git makes."""
        options, git = self.options, self.git
        text = ""
        if options.given("file"):
            name = options.text("file")
            text = decode(
                git.read_input() if name == "-" else git.fs.read_bytes(git.path(name))
            )
        elif options.given("message"):
            text = "\n\n".join(options.all("message"))
        is_given = options.given("file") or options.given("message")
        most = self._most_subjects()
        if is_given and not most:
            return text
        message = MergeMessage(self.repository, self.heads, options.text("into-name"))
        text += "" if is_given else message.title() + "\n"
        text += message.tags()
        if most:
            text += "" if text.endswith("\n") or not text else "\n"
            text += message.shortlog(most, self.head)
        return text.removesuffix("\n")

    def _most_subjects(self) -> int:
        """Return how many subjects the message lists of each head (--log, merge.log)."""
        if self.options.off("log"):
            return 0
        text = self.options.get("log") if self.options.given("log") else (
            self.git.config.get("merge.log") or self.git.config.get("merge.summary", "false")
        )  # fmt: skip
        if text is None or text.lower() in ("true", "yes", "on"):
            return _MOST_SUBJECTS
        return int(text) if text.isdigit() and len(text) < 9 else 0

    def _write_state(self) -> None:
        repository = self.repository
        heads = "".join([f"{each.oid}\n" for each in self.heads])
        repository.write_file("MERGE_HEAD", heads)
        repository.write_file("MERGE_MODE", "no-ff" if self.never else "")
        self.message = self._message()
        repository.write_file("MERGE_MSG", self.message + "\n")

    def _write_squash(self) -> None:
        git = self.git
        git.print("Squash commit -- not updating HEAD")
        walk = Walk(self.repository)
        walk.tips, walk.hidden = [each.commit for each in self.heads], [self.head]
        pretty = Pretty(self.repository)
        lines = ["Squashed commit of the following:\n"]
        for oid in walk.run():
            commit = self.repository.objects.commit(oid)
            author = Person(commit.author)
            body = decode(commit.message).rstrip("\n").split("\n")
            lines.append(
                f"\ncommit {oid}\n{self._merge_line(commit)}Author: {author.name} <{author.mail}>\n"
                f"Date:   {pretty.date(author)}\n\n"
                + "".join([f"    {line}".rstrip(" ") + "\n" if line else "\n" for line in body])
            )
        self.repository.write_file("SQUASH_MSG", "".join(lines))

    def _merge_line(self, commit: Commit) -> str:
        if len(commit.parents) < 2:
            return ""
        return f"Merge: {' '.join(map(self.repository.short, commit.parents))}\n"

    def _cleanup(self, edits: bool) -> str:
        """Return how the message is cleaned."""
        mode = self.options.text("cleanup") or self.git.config.get("commit.cleanup", "default")
        if mode == "default" or (mode == "scissors" and not edits):
            return "strip" if edits else "whitespace"
        return mode

    def _draft(self, edits: bool) -> str:
        """Return the message before it is edited."""
        text = self.message
        if edits:
            cuts = self._cleanup(edits) == "scissors"
            text += "\n" + (CUT if cuts else "")
            text += _EDITED + (_EDITED_CUT if cuts else _EDITED_STRIPPED)
        if self.options.on("signoff"):
            ident = self.repository.ident("committer").rpartition(b">")[0] + b">"
            text = decode(with_trailer(encode(text), b"Signed-off-by: " + ident))
        return text

    def _not_committed(self) -> int:
        self.git.say("Not committing merge; use 'git commit' to complete the merge.")
        self.repository.write_file("MERGE_MSG", self.message + "\n")
        return 1

    def _commit(self, tree: str, strategy: str) -> int:
        git, repository, options = self.git, self.repository, self.options
        if not options.off("verify") and run_hook(repository, "pre-merge-commit"):
            return self._not_committed()
        edits = options.on("edit")
        repository.write_file("MERGE_MSG", self._draft(edits))
        if run_hook(repository, "prepare-commit-msg", ".git/MERGE_MSG", "merge"):
            return self._not_committed()
        if edits:
            edit(git, repository.file("MERGE_MSG"), ".git/MERGE_MSG")
        if not options.off("verify") and run_hook(repository, "commit-msg", ".git/MERGE_MSG"):
            return self._not_committed()
        written = encode(repository.read_file("MERGE_MSG") or "")
        message = clean_message(written, self._cleanup(edits))
        if not message.strip():
            git.error("Empty commit message.")
            return self._not_committed()
        parents = [each.commit for each in self.heads]
        if self.keeps_head or self.never:
            parents.insert(0, self.head)
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
        bases = octopus_bases(repository, found)
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
