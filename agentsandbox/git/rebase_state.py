"""The files of a rebase in progress, in `.git/rebase-merge`: those that real git reads and writes.

`git-rebase-todo` is what is left and `done` what is not; `head-name`, `onto` and `orig-head` say
where it began; empty files stand for options. While it stops at a commit, `stopped-sha`,
`message`, `patch` and `author-script` describe it, and `amend` says that HEAD is to be amended.
"""

from __future__ import annotations

import re

from agentsandbox.git.pretty import Person
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.invocation import Invocation

FOLDER = "rebase-merge"
AUTOSTASH = f"{FOLDER}/autostash"


class RebaseState:
    """The options of a rebase and its files."""

    def __init__(self, git: Invocation) -> None:
        self.git = git
        self.repository = git.repository
        self.head_name = ""
        """The branch, "detached HEAD" without one."""
        self.onto = ""
        self.orig_head = ""
        self.quiet = self.verbose = self.signoff = False
        self.drop_redundant = self.keep_redundant = False
        self.author_dates = False
        """Whether the committer's date is the author's."""
        self.ignore_date = False
        self.reschedules = False
        self.forces = False
        """Whether commits are made anew that could stay."""
        self.favor = ""
        self.strategy = ""
        self.squash_onto = ""
        """The empty commit that stands in for the parent of a root commit."""
        self.fixups: list[str] = []
        """The commands of the current chain: "fixup OID" …"""

    # files

    def exists(self, name: str) -> bool:
        """Whether there is a file."""
        return self.repository.fs.exists(self.repository.file(f"{FOLDER}/{name}"))

    def read(self, name: str) -> str | None:
        """Return the text of a file, None without it."""
        return self.repository.read_file(f"{FOLDER}/{name}")

    def line(self, name: str) -> str:
        """Return the text of a file without its end, "" without it."""
        return (self.read(name) or "").rstrip("\n")

    def write(self, name: str, data: bytes | str) -> None:
        """Replace a file."""
        self.repository.write_file(f"{FOLDER}/{name}", data)

    def append(self, name: str, text: str) -> None:
        """Add text to a file."""
        self.write(name, (self.read(name) or "") + text)

    def remove(self, *names: str) -> None:
        """Remove files that may be there."""
        self.repository.remove_file(*[f"{FOLDER}/{name}" for name in names])

    def remove_all(self) -> None:
        """End the rebase: remove all files, and the labels."""
        for name in self.line("refs-to-delete").split("\n"):
            if name.startswith("refs/rewritten/"):
                self.repository.refs.delete(name)
        self.repository.remove_file(FOLDER)

    # options

    def save(self) -> None:
        """Write the files that say where it began, and its options."""
        self.write("head-name", f"{self.head_name}\n")
        self.write("onto", f"{self.onto}\n")
        self.write("orig-head", f"{self.orig_head}\n")
        for file, is_on in {
            "quiet": self.quiet, "verbose": self.verbose,
            "drop_redundant_commits": self.drop_redundant,
            "keep_redundant_commits": self.keep_redundant,
            "cdate_is_adate": self.author_dates, "ignore_date": self.ignore_date,
        }.items():  # fmt: skip
            if is_on:
                self.write(file, "")
        if self.signoff:
            self.write("signoff", "--signoff\n")
        if self.strategy:
            self.write("strategy", f"{self.strategy}\n")
        if self.favor:
            self.write("strategy_opts", f" --{self.favor}\n")
        self.write(f"{'' if self.reschedules else 'no-'}reschedule-failed-exec", "")

    def load(self) -> None:
        """Read what `save` wrote."""
        self.head_name = self.line("head-name")
        self.onto = self.line("onto")
        self.orig_head = self.line("orig-head")
        self.quiet, self.verbose = self.exists("quiet"), self.exists("verbose")
        self.drop_redundant = self.exists("drop_redundant_commits")
        self.keep_redundant = self.exists("keep_redundant_commits")
        self.author_dates = self.exists("cdate_is_adate")
        self.ignore_date = self.exists("ignore_date")
        self.signoff = self.exists("signoff")
        self.reschedules = self.exists("reschedule-failed-exec")
        self.forces = self.signoff or self.author_dates or self.ignore_date
        self.strategy = self.line("strategy")
        found = re.search(r"--(ours|theirs)", self.line("strategy_opts"))
        self.favor = found[1] if found is not None else ""
        self.squash_onto = self.line("squash-onto")
        self.fixups = [line for line in self.line("current-fixups").split("\n") if line]

    def save_fixups(self) -> None:
        """Write the commands of the current chain."""
        self.write("current-fixups", "\n".join(self.fixups))

    def forget_fixups(self) -> None:
        """End the current chain."""
        self.remove("message-fixup", "message-squash", "current-fixups")
        self.fixups = []

    # the author of a commit

    def save_author(self, ident: bytes) -> None:
        """Write an author as settings for a shell."""
        person = Person(ident)
        when = decode(ident.rpartition(b"> ")[2])
        self.write(
            "author-script",
            f"GIT_AUTHOR_NAME={quoted(person.name)}\nGIT_AUTHOR_EMAIL={quoted(person.mail)}\n"
            f"GIT_AUTHOR_DATE={quoted('@' + when)}\n",
        )

    def author(self) -> dict[str, str] | None:
        """Return the settings that `save_author` wrote, None if they are not well-formed."""
        return parse_author(self.line("author-script"))


def parse_author(text: str) -> dict[str, str] | None:
    """Return the settings of an `author-script`, None if they are not well-formed."""
    found = {}
    for line in text.rstrip("\n").split("\n"):
        key, _, value = line.partition("=")
        plain = unquoted(value)
        if plain is None:
            return None
        found[key] = plain
    names = {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE"}
    return found if found.keys() == names else None


def quoted(text: str) -> str:
    """Return a text in single quotes, for a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def unquoted(text: str) -> str | None:
    """Return what stands in single quotes, None if it is not well-formed."""
    pieces = text.split("'\\''")
    whole = "'".join(pieces)
    if len(whole) < 2 or whole[0] != "'" or whole[-1] != "'":
        return None
    return whole[1:-1]
