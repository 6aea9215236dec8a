"""The list of what a rebase does: one command in each line, as `rebase -i` shows it in an editor.

    pick 1a2b3c4 subject        squash, fixup [-C | -c], reword, edit, drop take a commit too
    exec make test              label NAME, reset NAME, merge [-C | -c COMMIT] NAME take other words
    break                       noop takes nothing

Commands may be shortened to a letter. Lines that begin with `#` are comments. A line that is not
understood is kept, so that the list can be shown and edited again.
"""

from __future__ import annotations

import re

from agentsandbox.git.revisions import Resolver
from agentsandbox.git.texts import subject_of
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.repository import Repository

COMMANDS = {
    "pick": "p", "revert": "", "edit": "e", "reword": "r", "fixup": "f", "squash": "s",
    "exec": "x", "break": "b", "label": "l", "reset": "t", "merge": "m", "noop": "",
    "drop": "d",
}  # fmt: skip
"""The commands and their letters."""
COMMENT = "#"
INVALID = ""
_FIXUPS = ("fixup", "squash")
_PICKS = ("pick", "revert", "edit", "reword", "fixup", "squash")
HELP = """
Commands:
p, pick <commit> = use commit
r, reword <commit> = use commit, but edit the commit message
e, edit <commit> = use commit, but stop for amending
s, squash <commit> = use commit, but meld into previous commit
f, fixup [-C | -c] <commit> = like "squash" but keep only the previous
                   commit's log message, unless -C is used, in which case
                   keep only this commit's message; -c is same as -C but
                   opens the editor
x, exec <command> = run command (the rest of the line) using shell
b, break = stop here (continue rebase later with 'git rebase --continue')
d, drop <commit> = remove commit
l, label <label> = label current HEAD with a name
t, reset <label> = reset HEAD to a label
m, merge [-C <commit> | -c <commit>] <label> [# <oneline>]
        create a merge commit using the original merge commit's
        message (or the oneline, if no original merge commit was
        specified); use -c <commit> to reword the commit message
u, update-ref <ref> = track a placeholder for the <ref> to be updated
                      to this position in the new commits. The <ref> is
                      updated at the end of the rebase

These lines can be re-ordered; they are executed from top to bottom.
"""


class Item:
    """One line of the list."""

    __slots__ = ("argument", "command", "flag", "oid", "raw")

    def __init__(
        self, command: str, oid: str | None = None, argument: str = "", flag: str = "",
        raw: str | None = None,
    ) -> None:  # fmt: skip
        self.command = command
        """A key of COMMANDS, COMMENT or INVALID."""
        self.oid = oid
        self.argument = argument
        """What follows the commit; the whole line of a comment."""
        self.flag = flag
        """"-C" or "-c" of fixup and merge."""
        self.raw = raw
        """The line as it was read, without its end."""

    @property
    def is_fixup(self) -> bool:
        return self.command in _FIXUPS

    @property
    def is_pick(self) -> bool:
        """Whether it makes a commit from another one."""
        return self.command in _PICKS

    @property
    def is_idle(self) -> bool:
        """Whether it does nothing."""
        return self.command in ("noop", "drop", COMMENT, INVALID)

    def line(self, repository: Repository, *, short: bool, letters: bool = False) -> str:
        """Return the line, without its end."""
        if self.command in (COMMENT, INVALID):
            return self.argument
        word = (COMMANDS[self.command] if letters else "") or self.command
        parts = [word]
        if self.oid is not None:
            if self.command in ("fixup", "merge") and self.flag:
                parts.append(self.flag)
            parts.append(repository.short(self.oid) if short else self.oid)
        if self.argument:
            parts.append(self.argument)
        return " ".join(parts)


def parse_todo(
    git: Invocation, text: str, *, continued: bool
) -> tuple[list[Item], bool]:
    """Return the items of a text and whether all are valid; print what is wrong.

    continued  whether there are commits that a fixup in the first line can change
    """
    items: list[Item] = []
    valid = True
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        git.budget.step()
        line = line.removesuffix("\r")
        item = _parse_line(git, line)
        if item is None:
            git.error(f"invalid line {number}: {line}")
            valid = False
            item = Item(INVALID, argument=line)
        item.raw = line
        items.append(item)
        if continued:
            continue
        if item.is_fixup:
            git.error(f"cannot '{item.command}' without a previous commit")
            return items, False
        continued = not item.is_idle
    return items, valid


def _parse_line(git: Invocation, line: str) -> Item | None:
    text = line.lstrip(" \t")
    if not text or text.startswith(_comment(git)):
        return Item(COMMENT, argument=text)
    found = re.match(r"[a-zA-Z-]+", text)
    word = found[0] if found is not None else ""
    command = next((name for name, letter in COMMANDS.items() if word in (name, letter)), None)
    if not word or command is None:
        return None
    rest = text[len(word) :]
    padded = rest[:1] in (" ", "\t")
    rest = rest.lstrip(" \t")
    if command in ("noop", "break"):
        if rest:
            git.error(f"{command} does not accept arguments: '{rest}'")
            return None
        return Item(command)
    if not padded:
        git.error(f"missing arguments for {command}")
        return None
    if command in ("exec", "label", "reset"):
        return Item(command, argument=rest)
    flag = ""
    if command in ("fixup", "merge"):
        if re.match(r"-[Cc][ \t]", rest):
            flag, rest = rest[:2], rest[2:].lstrip(" \t")
        elif command == "merge":
            return Item(command, argument=rest, flag="-c")
    parts = re.split(r"[ \t]", rest, maxsplit=1)
    name, argument = parts[0], parts[1] if len(parts) > 1 else ""
    found_oid = Resolver(git).find(name, kind="commit") if name else None
    oid = git.repository.objects.peel(found_oid, "commit") if found_oid is not None else None
    if oid is None:
        git.error(f"could not parse '{name}'")
        return None
    return Item(command, oid, argument.lstrip(" \t"), flag)


def _comment(git: Invocation) -> str:
    found = git.config.get("core.commentchar", "#")
    return found if len(found) == 1 else "#"


def format_todo(
    repository: Repository, items: Sequence[Item], *, short: bool, letters: bool = False
) -> str:
    """Return the list as a text."""
    return "".join([item.line(repository, short=short, letters=letters) + "\n" for item in items])


def count(items: Sequence[Item]) -> int:
    """Return the number of commands."""
    return sum(item.command != COMMENT for item in items)


def help_text(git: Invocation, number: int, *, revisions: str = "", onto: str = "") -> str:
    """Return the comments below the list; without `revisions` those of `--edit-todo`."""
    lines: list[str] = []
    if revisions:
        word = "command" if number == 1 else "commands"
        lines += ["", f"Rebase {revisions} onto {onto} ({number} {word})"]
    lines += HELP.rstrip("\n").split("\n")
    if check_level(git, quiet=True) == "error":
        lines += ["", "Do not remove any line. Use 'drop' explicitly to remove a commit."]
    else:
        lines += ["", "If you remove a line here THAT COMMIT WILL BE LOST."]
    if revisions:
        lines += ["", "However, if you remove everything, the rebase will be aborted.", ""]
    else:
        lines += [
            "",
            "You are editing the todo file of an ongoing interactive rebase.",
            "To continue rebase after editing, run:",
            "    git rebase --continue",
            "",
        ]
    mark = _comment(git)
    shown = [f"{mark} {line}" if line else mark for line in lines]
    if revisions:
        shown[0] = ""
    return "".join([f"{line}\n" for line in shown])


def check_level(git: Invocation, *, quiet: bool = False) -> str:
    """Return what happens to a list with fewer commits: "ignore", "warn" or "error"."""
    level = git.config.get("rebase.missingcommitscheck")
    if level.lower() in ("", "ignore"):
        return "ignore"
    if level.lower() in ("warn", "error"):
        return level.lower()
    if not quiet:
        git.warn(f"unrecognized setting {level} for option rebase.missingCommitsCheck. Ignoring.")
    return "ignore"


# making


def autosquash(git: Invocation, items: list[Item]) -> list[Item]:
    """Return the items with each fixup!, squash! and amend! commit behind the one it is for."""
    # long: git's search for the commit, then the new order
    repository = git.repository
    subjects: list[str | None] = []
    by_subject: dict[str, int] = {}
    by_oid: dict[str, int] = {}
    after = [-1] * len(items)
    last = [-1] * len(items)
    moved: set[int] = set()
    for number, item in enumerate(items):
        git.budget.step()
        if item.oid is None or item.command == "drop":
            subjects.append(None)
            continue
        subject = decode(subject_of(repository.readable(item.oid).message))
        subjects.append(subject)
        found = re.match(r"(?:(?:fixup|amend|squash)! \s*+)++", subject)
        target = None
        if found is not None:
            target = _target(git, subject[found.end() :], subjects[:-1], by_subject, by_oid)
        by_oid[item.oid] = number
        if target is None:
            by_subject.setdefault(subject, number)
            continue
        if subject.startswith("squash!"):
            item.command = "squash"
        else:
            item.command = "fixup"
            item.flag = "-C" if subject.startswith("amend!") else ""
        behind = target if last[target] < 0 else last[target]
        after[number], after[behind] = after[behind], number
        last[target] = number
        moved.add(number)
    made: list[Item] = []
    for number in range(len(items)):
        here = -1 if number in moved else number
        while here >= 0:
            made.append(items[here])
            here = after[here]
    return made


def _target(
    git: Invocation, wanted: str, subjects: Sequence[str | None], by_subject: dict[str, int],
    by_oid: dict[str, int],
) -> int | None:  # fmt: skip
    """Return the number of the item that a fixup is for, None without one."""
    if wanted in by_subject:
        return by_subject[wanted]
    if wanted and " " not in wanted:
        found = Resolver(git).find(wanted, kind="commit")
        if found in by_oid:
            return by_oid[found]
    git.budget.step(len(subjects))
    for number, subject in enumerate(subjects):
        if subject is not None and subject.startswith(wanted):
            return number
    return None


def add_commands(items: Sequence[Item], commands: Sequence[str]) -> list[Item]:
    """Return the items with commands of `--exec` behind each commit and its fixups."""
    extra = [Item("exec", argument=command) for command in commands]
    made: list[Item] = []
    waits = False
    for item in items:
        if waits and not item.is_fixup:
            made += extra
            waits = False
        made.append(item)
        waits = waits or item.command in ("pick", "merge")
    if waits or len(made) == len(items):
        made += extra
    return made


def dropped_commits(before: Sequence[Item], after: Sequence[Item]) -> list[Item]:
    """Return the items whose commits are not in the new list, the newest first."""
    kept = {item.oid for item in after}
    found: list[Item] = []
    for item in reversed(before):
        if item.oid is not None and item.oid not in kept:
            kept.add(item.oid)
            found.append(item)
    return found
