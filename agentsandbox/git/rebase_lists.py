"""The list of a rebase, made from the commits that a branch has and its upstream lacks.

With merges (`--rebase-merges`) the tips of merged branches and the commits where branches begin get
labels. The list then makes one branch after the other: `reset` goes to where it begins, picks
follow, `label` notes its tip, and `merge` brings it in.
"""

from __future__ import annotations

import re

from agentsandbox.git.history import Walk, merge_bases
from agentsandbox.git.objects import EMPTY_TREE, is_object_name
from agentsandbox.git.patch_ids import equal_patches
from agentsandbox.git.pretty import Pretty
from agentsandbox.git.texts import subject_of
from agentsandbox.git.todo import COMMENT, Item
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.repository import Repository

NEW_ROOT = "[new root]"
_SKIPPED_HINT = """use --reapply-cherry-picks to include skipped commits
Disable this message with "git config advice.skippedCherryPicks false\""""


class _Labels:
    """Names for commits, each of them once."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self.by_oid: dict[str, str] = {}
        self._used: set[str] = set()

    def set(self, oid: str, name: str) -> None:
        """Give a commit a name."""
        self.by_oid[oid] = name
        self._used.add(name.lower())

    def of(self, oid: str, wanted: str | None = None) -> str:
        """Return the name of a commit, made from a text or, without one, its own name."""
        known = self.by_oid.get(oid)
        if known is not None:
            return known
        if wanted is None:
            length = len(self.repository.short(oid))
            while oid[:length] in self._used and length < 40:
                length += 1
            made = oid[:length]
        else:
            made = _as_label(wanted) or f"rev-{self.repository.short(oid)}"
            if is_object_name(made) or made.lower() in self._used:
                number = 2
                while f"{made}-{number}".lower() in self._used:
                    number += 1
                made = f"{made}-{number}"
        self.set(oid, made)
        return made


def _as_label(text: str) -> str:
    made: list[str] = []
    for character in text:
        if ord(character) >= 128 or character.isalnum():
            made.append(character)
        elif made and made[-1] != "-":
            made.append("-")
    return "".join(made)


def _label_text(subject: str) -> str:
    """Return the text that names the merged branch of a merge."""
    if subject.startswith("Merge "):
        pieces = subject[6:].split("'")
        if len(pieces) > 2:
            return pieces[1]
    if subject.startswith("Merge pull request ") and " from " in subject:
        return subject.partition(" from ")[2]
    return subject


class ListMaker:
    """Makes the list of a rebase of the commits from one to another."""

    def __init__(
        self, git: Invocation, base: str, head: str, restrict: str | None, *, keep_empty: bool,
        reapplies: bool,
    ) -> None:  # fmt: skip
        self.git = git
        self.repository = git.repository
        self.objects = git.repository.objects
        self.base = base
        self.head = head
        self.restrict = restrict
        """Another commit whose ancestors are left out."""
        self.keep_empty = keep_empty
        self.reapplies = reapplies
        """Whether commits are kept whose change is upstream already."""
        self._same: set[str] = set()
        self._labels = _Labels(self.repository)

    def picks(self) -> list[Item]:
        """Return the list without merges."""
        items = [item for oid in self._commits(1) if (item := self._pick(oid)) is not None]
        self._advise()
        return items or [Item("noop")]

    def _commits(self, most_parents: int | None) -> list[str]:
        walk = Walk(self.repository)
        walk.tips = [self.head]
        walk.hidden = [self.base, *([self.restrict] if self.restrict is not None else [])]
        walk.order = "topo"
        walk.reverse = True
        walk.most_parents = most_parents
        found = list(walk.run())
        if not self.reapplies:
            self._same = self._applied(found)
        return found

    def _applied(self, commits: list[str]) -> set[str]:
        """Return the commits whose change is upstream already."""
        walk = Walk(self.repository)
        walk.tips, walk.hidden = [self.base], [self.head]
        walk.most_parents = 1
        left = list(walk.run())
        if not left:
            return set()
        return equal_patches(self.repository, [*left, *commits], set(left)) & set(commits)

    def _advise(self) -> None:
        if any(not self._is_empty(oid) for oid in self._same):
            self.git.hint(_SKIPPED_HINT, "skippedCherryPicks")

    def _pick(self, oid: str) -> Item | None:
        """Return the item for a commit, None if it is left out."""
        empty = self._is_empty(oid)
        if not empty and oid in self._same:
            short = self.repository.short(oid)
            self.git.warn(f"skipped previously applied commit {short}")
            return None
        if empty and not self.keep_empty:
            return None
        return Item("pick", oid, self._subject(oid) + (" # empty" if empty else ""))

    def _subject(self, oid: str) -> str:
        """Return the text of a commit in the list."""
        commit = self.repository.readable(oid)
        format = self.git.config.get("rebase.instructionformat")
        if not format:
            return decode(subject_of(commit.message))
        format = re.sub(r"\At?format:", "", format)
        return Pretty(self.repository).expand(format, commit).partition("\n")[0]

    def _is_empty(self, oid: str) -> bool:
        """Whether a commit changes nothing."""
        parents = self.repository.parents(oid)
        before = self.objects.commit(parents[0]).tree if parents else EMPTY_TREE
        return self.objects.commit(oid).tree == before

    def with_merges(self, *, cousins: bool, root_onto: bool) -> list[Item]:
        """Return the list that makes merges anew.

        cousins    move commits that are not descendants of the base, too
        root_onto  root commits go onto the base
        """
        # long: git's three passes over the commits
        repository, labels = self.repository, self._labels
        commits = self._commits(None)
        for oid in merge_bases(repository, self.base, [self.head])[:1]:
            labels.set(oid, "onto")
        known = set(commits)
        items: dict[str, Item] = {}
        tips: list[str] = []
        for oid in commits:
            self.git.budget.step()
            parents = repository.parents(oid)
            if len(parents) < 2:
                item = self._pick(oid)
                if item is not None:
                    items[oid] = item
                continue
            subject = self._subject(oid)
            names = []
            for parent in parents[1:]:
                if parent in known:
                    tips.append(parent)
                names.append(labels.of(parent, _label_text(subject) if parent in known else None))
            items[oid] = Item("merge", oid, f"{' '.join(names)} # {subject}", "-C")
        seen: set[str] = set()
        for oid in commits:
            for parent in repository.parents(oid):
                if parent in known and parent in seen:
                    labels.of(parent, "branch-point")
                seen.add(parent)
        tips += commits[-1:]
        self._advise()
        made = [Item("label", argument="onto")]
        shown: set[str] = set()
        for tip in tips:
            if tip not in shown:
                made += self._branch(tip, known, shown, items, cousins, root_onto)
        return made

    def _branch(
        self, tip: str, known: set[str], shown: set[str], items: dict[str, Item], cousins: bool,
        root_onto: bool,
    ) -> list[Item]:  # fmt: skip
        """Return the items that make one branch."""
        labels = self._labels
        made = [Item(COMMENT)]
        if tip in labels.by_oid:
            made.append(Item(COMMENT, argument=f"# Branch {labels.by_oid[tip]}"))
        branch: list[str] = []
        here: str | None = tip
        while here is not None and here in known and here not in shown:
            self.git.budget.step()
            branch.append(here)
            parents = self.repository.parents(here)
            here = parents[0] if parents else None
        if here is None:
            has_onto = cousins or root_onto
            made.append(Item("reset", argument="onto" if has_onto else NEW_ROOT))
        else:
            target = labels.by_oid.get(here) or (None if cousins else labels.of(here))
            if target is None or target == "onto":
                made.append(Item("reset", argument="onto"))
            else:
                made.append(Item("reset", argument=f"{target} # {self._subject(here)}"))
        for oid in reversed(branch):
            if oid in items:
                made.append(items[oid])
            if oid in labels.by_oid:
                made.append(Item("label", argument=labels.by_oid[oid]))
            shown.add(oid)
        return made
