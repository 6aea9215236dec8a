"""Differences as git prints them: raw, names, statistics, patches."""

from __future__ import annotations

from agentsandbox.git.attributes import Attributes, is_binary
from agentsandbox.git.diff.hunks import function_line
from agentsandbox.git.diff.renames import MOST, RenameFinder
from agentsandbox.git.errors import CorruptObject, MissingObject
from agentsandbox.git.modules import IgnoreRules, checked_rule
from agentsandbox.git.objects import NULL, SUBMODULE, object_name
from agentsandbox.git.paths import mode_text, quote_path
from agentsandbox.git.trees import Delta
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol

    from agentsandbox.git.diff.hunks import FindFunction, Hunk
    from agentsandbox.git.diff.options import DiffOptions
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.repository import Repository
    from agentsandbox.git.worktree import Worktree

    class HasAttributes(Protocol):
        """What knows the attributes of paths."""

        def of(self, path: bytes) -> Mapping[str, str | bool | None]:
            """Return the attributes of a path."""

COLORS = {
    "meta": b"\x1b[1m", "frag": b"\x1b[36m", "func": b"", "old": b"\x1b[31m", "new": b"\x1b[32m",
    "context": b"", "commit": b"\x1b[33m", "whitespace": b"\x1b[41m", "reset": b"\x1b[m",
}  # fmt: skip


class FileStat:
    """The lines that a file gained and lost; bytes for a binary one."""

    __slots__ = ("added", "binary", "comment", "deleted", "name", "unmerged")

    def __init__(self, name: str) -> None:
        self.name = name
        self.added = self.deleted = 0
        self.binary = self.unmerged = False
        self.comment = ""


class DiffPrinter:
    """Prints changes of files."""

    def __init__(
        self, git: Invocation, options: DiffOptions, *, worktree: Worktree | None = None,
        old_worktree: bool = False, mnemonic: tuple[str, str] | None = None,
        attributes: HasAttributes | None = None,
    ) -> None:  # fmt: skip
        self.git = git
        self.options = options
        self.worktree = worktree
        self.old_worktree = old_worktree
        """Whether the worktree is the old side (with -R)."""
        self.attributes: HasAttributes = attributes or (
            worktree.attributes if worktree is not None else Attributes(self.repository)
        )
        self.high = git.config.flag("core.quotepath", True)
        self.color = options.uses_color(git)
        self.found = self.failed_check = self.has_patch = False
        """Whether any difference was printed, any error of whitespace, and any patch."""
        prefixes = options.prefixes
        if prefixes is None:
            on = git.config.flag("diff.mnemonicprefix")
            prefixes = mnemonic if on and mnemonic is not None else ("a/", "b/")
        self.prefixes = prefixes
        self.prefix = self._relative_prefix()
        self._oids: dict[bytes, str] = {}
        self._warned: set[bytes] = set()
        """The files whose ends of lines were looked at."""
        self._drivers: dict[str, tuple[bool | None, FindFunction]] = {}

    @property
    def repository(self) -> Repository:
        """Return the repository; Fatal outside of one."""
        return self.git.repository

    def _relative_prefix(self) -> bytes:
        relative = self.options.relative
        if relative is None:
            if not self.git.config.flag("diff.relative"):
                return b""
            relative = ""
        return encode(relative) if relative else self.repository.prefix

    # contents

    def sides(self, delta: Delta) -> tuple[bytes, bytes]:
        """Return the contents of both sides of a change."""
        return (
            self.content(delta.old_mode, delta.old_oid, delta.old_path, delta.old_dirt),
            self.content(delta.new_mode, delta.new_oid, delta.new_path, delta.dirt),
        )

    def content(self, mode: int, oid: str, path: bytes, dirt: int = 0) -> bytes:
        """Return the content of one side of a change."""
        if not mode:
            return b""
        if mode & 0o170000 == SUBMODULE:
            head = oid or (self.worktree.head_of_nested(path) if self.worktree else None) or NULL
            return encode(f"Subproject commit {head}{'-dirty' if dirt else ''}\n")
        if not oid:
            assert self.worktree is not None
            info = self.worktree.stat(path)
            if info is None:
                return b""
            warns = path not in self._warned
            self._warned.add(path)
            return self.worktree.read(path, info, warns=warns, stores=False)
        try:
            return self.repository.objects.blob(oid)
        except CorruptObject as error:
            self.git.say(error.reasons)
            raise MissingObject(oid) from None

    def _oid(self, mode: int, oid: str, path: bytes) -> str:
        if oid or not mode:
            return oid or NULL
        if mode & 0o170000 == SUBMODULE:
            assert self.worktree is not None
            return self.worktree.head_of_nested(path) or NULL
        found = self._oids.get(path)
        if found is None:
            found = self._oids[path] = object_name("blob", self.content(mode, oid, path))
        return found

    def prepare(self, deltas: list[Delta], others: list[Delta] | None = None) -> list[Delta]:
        """Return the changes to print: swapped, with renames, filtered."""
        options = self.options
        deltas = self._without_ignored(deltas)
        if self.prefix:
            deltas = [one for one in deltas if one.path.startswith(self.prefix)]
        if options.reverse:
            deltas = [_swapped(one) for one in deltas]
        if options.renames > 0 and len(deltas) > 1:
            finder = RenameFinder(
                lambda mode, oid, path, new: self.content(mode, oid, path),
                self.git.budget,
                least=options.least,
                limit=options.rename_limit,
                copies=options.renames > 1,
                empty=options.rename_empty,
            )
            deltas = finder.find(deltas, others)
        if options.pickaxe_kind:
            from agentsandbox.git.diff.pickaxe import pick

            deltas = pick(options, self.content, deltas, self.git.budget)
        if options.filter:
            kept = [one for one in deltas if one.status in options.filter]
            deltas = deltas if "*" in options.filter and kept else kept
        return deltas

    def _without_ignored(self, deltas: list[Delta]) -> list[Delta]:
        """Return the changes without those of submodules that are not to be looked at."""
        if not any(SUBMODULE in (one.old_mode, one.new_mode) for one in deltas):
            return deltas
        rule = self.options.ignore_submodules
        default = self.git.config.get("diff.ignoresubmodules", "untracked")
        rules = IgnoreRules(self.git, checked_rule(rule or default), fixed=bool(rule))
        return [
            one for one in deltas if not one.is_submodule or rules.rule_for(one.new_path) != "all"
        ]

    def has_changes(self, deltas: Sequence[Delta]) -> bool:
        """Whether there are changes, printed before; ignored lines make none."""
        options = self.options
        if not (options.spaces or options.ignore_matching):
            return bool(deltas)
        if options.formats and not options.quiet:
            return self.has_patch
        for delta in deltas:
            stat = self.stat_of(delta)
            if stat.added or stat.deleted or stat.binary or delta.old_mode != delta.new_mode:
                return True
            if delta.dirt or delta.old_dirt:
                return True
        return False

    # the parts of the output

    def print(self, deltas: Sequence[Delta]) -> None:
        """Print prepared changes in all chosen formats."""
        options = self.options
        formats = options.formats
        if deltas:
            self.found = True
        if options.quiet:
            return
        parts = 0
        if formats & {"raw", "name-only", "name-status", "check"}:
            for delta in deltas:
                self._print_name(delta)
            parts += bool(deltas)
        if formats & {"stat", "numstat", "shortstat"}:
            pairs = [(delta, self.stat_of(delta)) for delta in deltas]
            pairs = [
                (delta, one)
                for delta, one in pairs
                if one.added
                or one.deleted
                or delta.dirt
                or delta.old_dirt
                or one.binary
                or one.unmerged
                or delta.status != "M"
                or delta.old_mode != delta.new_mode
            ]
            stats = [one for _, one in pairs]
            if "numstat" in formats:
                self._print_numbers([delta for delta, _ in pairs], stats)
            if "stat" in formats:
                self._print_stats(stats)
            if "shortstat" in formats:
                self._print_short(stats)
            parts += bool(deltas)
        if "summary" in formats:
            parts += self.print_summary(deltas)
        if "patch" in formats:
            if parts and deltas:
                self.write(b"\n")
            for delta in deltas:
                self.print_patch(delta)

    def write(self, data: bytes) -> None:
        """Write text, with the prefix of lines if there is one."""
        prefix = self.options.line_prefix
        if prefix:
            lines = data.split(b"\n")
            last = lines.pop()
            data = b"".join([prefix + line + b"\n" for line in lines])
            if last:
                data += prefix + last
        self.git.write(data)

    def shown(self, path: bytes) -> str:
        """Return a path as it is printed."""
        path = path.removeprefix(self.prefix)
        return quote_path(path, high=self.high)

    def abbreviated(self, oid: str, *, patch: bool = False) -> str:
        """Return an object's name in its length for raw lines, or for patches."""
        options = self.options
        if patch:
            if options.full_index:
                return oid
            length = options.abbrev if options.abbrev is not None else self.repository.abbrev
        else:
            length = options.abbrev if options.abbrev is not None else self.repository.abbrev
        if oid == NULL:
            return oid[:length]
        return self.repository.objects.abbreviate(oid, length)

    def _print_name(self, delta: Delta) -> None:
        formats, nul = self.options.formats, self.options.nul
        end = "\0" if nul else "\n"

        def name(path: bytes) -> str:
            if nul:
                return decode(path[len(self.prefix) :] if self.prefix else path)
            return self.shown(path)

        if "name-only" in formats:
            self.write(encode(name(delta.new_path) + end))
            return
        if "check" in formats:
            self._check(delta)
            return
        status = delta.status
        if status in "RC" or delta.score:
            status += f"{delta.score * 100 // MOST:03d}"
        between = "\0" if nul else "\t"
        paths = name(delta.old_path if delta.unmerged else delta.new_path)
        if delta.status in "RC":
            paths = name(delta.old_path) + between + paths
        if "raw" in formats:
            status = (
                f":{mode_text(delta.old_mode)} {mode_text(delta.new_mode)} "
                f"{self.abbreviated(delta.old_oid or NULL)} "
                f"{self.abbreviated(delta.new_oid or delta.hashed or NULL)} "
                f"{status}"
            )
        self.write(encode(status + between + paths + end))

    def _check(self, delta: Delta) -> None:
        """Print the errors of whitespace in a change."""
        from agentsandbox.git.diff.whitespace import check

        if not delta.new_mode or delta.unmerged:
            return
        before = self.content(delta.old_mode, delta.old_oid, delta.old_path)
        after = self.content(delta.new_mode, delta.new_oid, delta.new_path)
        if not self.is_binary(delta, before, after) and check(
            self.shown(delta.new_path),
            before,
            after,
            self.options.line_diff(),
            self.git.budget,
            self.write,
        ):
            self.failed_check = True

    # statistics

    def stat_of(self, delta: Delta) -> FileStat:
        """Return the statistics of a change."""
        old, new = self.shown(delta.old_path), self.shown(delta.new_path)
        if delta.unmerged:
            found = FileStat(old)
            found.unmerged = True
            return found
        found = FileStat(renamed_name(old, new) if old != new else new)
        if self.options.compact_summary:
            found.comment = _mode_comment(delta)
        same = delta.old_oid == delta.new_oid != ""
        if same and SUBMODULE in (delta.old_mode, delta.new_mode):
            return found
        before, after = self.sides(delta)
        if self.is_binary(delta, before, after):
            found.binary = True
            if not same:  # git does not compare what it did not hash
                found.added, found.deleted = len(after), len(before)
            return found
        if same:
            return found
        lines = self.options.line_diff()
        lines.context, lines.whole_functions = 0, False
        for hunk in lines.hunks(before, after, self.git.budget):
            for sign, _ in hunk.lines:
                if sign == b"+":
                    found.added += 1
                elif sign == b"-":
                    found.deleted += 1
        return found

    def _print_numbers(self, deltas: Sequence[Delta], stats: Sequence[FileStat]) -> None:
        nul = self.options.nul
        for delta, stat in zip(deltas, stats, strict=True):
            head = "-\t-\t" if stat.binary else f"{stat.added}\t{stat.deleted}\t"
            if not nul:
                self.write(encode(f"{head}{stat.name}\n"))
            elif delta.status in "RC":
                self.write(encode(head) + b"\0" + delta.old_path + b"\0" + delta.new_path + b"\0")
            else:
                self.write(encode(head) + delta.new_path[len(self.prefix) :] + b"\0")

    def _print_short(self, stats: Sequence[FileStat]) -> None:
        if stats:
            self.write(encode(totals(stats) + "\n"))

    def _print_stats(self, stats: Sequence[FileStat]) -> None:
        if stats:
            for line in stat_lines(self, stats):
                self.write(line + b"\n")

    def print_summary(self, deltas: Sequence[Delta]) -> bool:
        """Print created, deleted and renamed files and changes of modes; return whether any."""
        any_line = False
        for delta in deltas:
            line = ""
            if delta.status == "A":
                line = f" create mode {mode_text(delta.new_mode)} {self.shown(delta.new_path)}"
            elif delta.status == "D":
                line = f" delete mode {mode_text(delta.old_mode)} {self.shown(delta.old_path)}"
            elif delta.status in "RC":
                name = renamed_name(self.shown(delta.old_path), self.shown(delta.new_path))
                word = "rename" if delta.status == "R" else "copy"
                line = f" {word} {name} ({delta.score * 100 // MOST}%)"
                if delta.old_mode != delta.new_mode:
                    line += f"\n mode change {mode_text(delta.old_mode)} => " + (
                        mode_text(delta.new_mode)
                    )
            elif delta.old_mode != delta.new_mode and not delta.unmerged:
                line = (
                    f" mode change {mode_text(delta.old_mode)} => {mode_text(delta.new_mode)} "
                    f"{self.shown(delta.new_path)}"
                )
            if line:
                any_line = True
                self.write(encode(line + "\n"))
        return any_line

    # patches

    def driver(self, path: bytes) -> tuple[bool | None, FindFunction]:
        """Return (whether binary, None if unknown; the finder of functions) for a path."""
        state = self.attributes.of(path).get("diff")
        if state is None:
            return None, function_line
        if state is True:
            return False, function_line
        if state is False:
            return True, function_line
        if state not in self._drivers:
            from agentsandbox.git.diff.functions import finder_of

            self._drivers[state] = (
                self.git.config.maybe(f"diff.{state}.binary"), finder_of(self.git.config, state),
            )  # fmt: skip
        return self._drivers[state]

    def is_binary(self, delta: Delta, before: bytes, after: bytes) -> bool:
        """Whether a change is not shown as lines."""
        if self.options.as_text:
            return False
        known = [self.driver(path)[0] for path in {delta.old_path, delta.new_path}]
        if any(known):
            return True
        if all(one is False for one in known):
            return False
        return is_binary(before) or is_binary(after)

    def colored(self, slot: str, text: bytes) -> bytes:
        """Return a line without its end in the colour of a kind of line."""
        color = COLORS[slot]
        return color + text + COLORS["reset"] if self.color and color else text

    def print_patch(self, delta: Delta) -> None:
        """Print the patch of a change."""
        if delta.unmerged:
            self.write(encode(f"* Unmerged path {self.shown(delta.old_path)}\n"))
            return
        if delta.status == "T" and delta.old_mode & 0o170000 != delta.new_mode & 0o170000:
            gone = Delta(delta.old_path, delta.old_mode, delta.old_oid, 0, NULL)
            made = Delta(delta.new_path, 0, NULL, delta.new_mode, delta.new_oid)
            made.dirt = delta.dirt
            self.print_patch(gone)
            self.print_patch(made)
        elif self.options.submodule in ("log", "diff") and not (
            {delta.old_mode, delta.new_mode} - {0, SUBMODULE}
        ):
            from agentsandbox.git.diff.submodules import print_submodule

            print_submodule(self, delta)
        else:
            self._print_pair(delta)

    def _names(self, delta: Delta) -> tuple[str, str]:
        one, two = self.prefixes
        if self.options.reverse and self.options.prefixes is None:
            one, two = two, one
        old, new = delta.old_path[len(self.prefix) :], delta.new_path[len(self.prefix) :]
        return (
            quote_path(encode(one) + old, high=self.high),
            quote_path(encode(two) + new, high=self.high),
        )

    def header(self, delta: Delta) -> tuple[list[bytes], bool]:
        """Return the lines above the hunks, and whether they are printed without any."""
        old, new = self._names(delta)
        lines = [f"diff --git {old} {new}"]
        must = False
        if not delta.old_mode:
            lines.append(f"new file mode {mode_text(delta.new_mode)}")
            must = True
        elif not delta.new_mode:
            lines.append(f"deleted file mode {mode_text(delta.old_mode)}")
            must = True
        elif delta.old_mode != delta.new_mode:
            lines.append(f"old mode {mode_text(delta.old_mode)}")
            lines.append(f"new mode {mode_text(delta.new_mode)}")
            must = True
        if delta.status in "RC":
            word = "rename" if delta.status == "R" else "copy"
            lines.append(f"similarity index {delta.score * 100 // MOST}%")
            lines.append(f"{word} from {self.shown(delta.old_path)}")
            lines.append(f"{word} to {self.shown(delta.new_path)}")
            must = True
        one = self._oid(delta.old_mode, delta.old_oid, delta.old_path)
        two = self._oid(delta.new_mode, delta.new_oid, delta.new_path)
        if one != two:
            full = self.options.binary and self._is_binary_delta(delta)
            short = (lambda oid: oid) if full else (lambda oid: self.abbreviated(oid, patch=True))
            line = f"index {short(one)}..{short(two)}"
            if delta.old_mode == delta.new_mode:
                line += f" {mode_text(delta.old_mode)}"
            lines.append(line)
        return [encode(line) for line in lines], must

    def _is_binary_delta(self, delta: Delta) -> bool:
        return self.is_binary(
            delta,
            self.content(delta.old_mode, delta.old_oid, delta.old_path),
            self.content(delta.new_mode, delta.new_oid, delta.new_path),
        )

    def _print_pair(self, delta: Delta) -> None:
        header, must = self.header(delta)
        before, after = self.sides(delta)
        head = b"".join([self.colored("meta", line) + b"\n" for line in header])
        old, new = self._names(delta)
        one = old if delta.old_mode else "/dev/null"
        two = new if delta.new_mode else "/dev/null"
        if self.is_binary(delta, before, after):
            self.has_patch = True
            if before == after:
                self.write(head if must else b"")
            elif self.options.binary:
                from agentsandbox.git.diff.binary import binary_patch

                self.write(head + binary_patch(before, after))
            else:
                self.write(head + encode(f"Binary files {one} and {two} differ\n"))
            return
        if must:
            self.has_patch = True
            self.write(head)
        if before == after:
            return
        if self.options.irreversible and not delta.new_mode:
            return
        lines = self.options.line_diff()
        lines.find_function = self.driver(delta.old_path)[1]
        marked = [
            f"{word} {name}" + ("\t" if " " in name and not name.startswith('"') else "")
            for word, name in (("---", one), ("+++", two))
        ]
        names = b"".join([self.colored("meta", encode(line)) + b"\n" for line in marked])
        show = self.hunk_writer(delta)
        first = True
        for hunk in lines.hunks(before, after, self.git.budget):
            if first:
                self.has_patch = True
                self.write((b"" if must else head) + names)
                first = False
            show(hunk)

    def hunk_writer(self, delta: Delta):  # type: ignore[no-untyped-def]
        """Return the function that prints a hunk: by lines, or by words."""
        if not self.options.words:
            return self.print_hunk
        from agentsandbox.git.diff.words import WordWriter

        return WordWriter(
            self.options,
            self.hunk_header,
            self.write,
            self.git.budget,
            color=self.color,
        ).print_hunk

    def hunk_header(self, hunk: Hunk) -> bytes:
        """Return the line above a hunk, with its end."""
        head = self.colored("frag", hunk.header())
        if hunk.function:
            if self.color:
                head += b" " + COLORS["reset"] + hunk.function + COLORS["reset"]
            else:
                head += b" " + hunk.function
        return head + b"\n"

    def print_hunk(self, hunk: Hunk) -> None:
        """Print a hunk."""
        out = [self.hunk_header(hunk)]
        plus, minus, space = self.options.output_indicators
        signs = {b"+": plus, b"-": minus, b" ": space}
        for sign, line in hunk.lines:
            body = line[:-1] if line.endswith(b"\n") else line
            if self.color:
                out.append(self._colored_line(sign, signs[sign], body))
            else:
                out.append(signs[sign] + body)
            out.append(b"\n" if line.endswith(b"\n") else b"\n\\ No newline at end of file\n")
        self.write(b"".join(out))

    def _colored_line(self, kind: bytes, sign: bytes, body: bytes) -> bytes:
        if kind == b" ":
            return sign + body + COLORS["reset"]
        if kind == b"-":
            return COLORS["old"] + sign + body + COLORS["reset"]
        from agentsandbox.git.diff.whitespace import highlighted

        new, reset = COLORS["new"], COLORS["reset"]
        return new + sign + reset + highlighted(body, new, COLORS["whitespace"], reset)


def _swapped(one: Delta) -> Delta:
    if one.unmerged and not one.old_mode:
        return one  # a mark, of which there is only one side
    status = {"A": "D", "D": "A"}.get(one.status, one.status)
    made = Delta(one.new_path, one.new_mode, one.new_oid, one.old_mode, one.old_oid, status)
    made.new_path = one.old_path
    made.unmerged = one.unmerged
    made.old_dirt, made.dirt = one.dirt, one.old_dirt
    return made


def renamed_name(old: str, new: str) -> str:
    """Return two names as "folder/{old => new}/file"."""
    if old.startswith('"') or new.startswith('"'):
        return f"{old} => {new}"
    start = 0
    for at in range(min(len(old), len(new))):
        if old[at] != new[at]:
            break
        if old[at] == "/":
            start = at + 1
    end = 0
    adjust = 1 if start else 0
    at = 1
    while (
        at <= len(old) - start + adjust and at <= len(new) - start + adjust and old[-at] == new[-at]
    ):
        if old[-at] == "/":
            end = at
        at += 1
    if old == new:
        return old
    middle_old = old[start : max(len(old) - end, start)]
    middle_new = new[start : max(len(new) - end, start)]
    if start + end == 0:
        return f"{old} => {new}"
    return f"{old[:start]}{{{middle_old} => {middle_new}}}{old[len(old) - end :] if end else ''}"


def _mode_comment(delta: Delta) -> str:
    executable = delta.new_mode & 0o111 and delta.new_mode & 0o170000 == 0o100000
    if delta.status == "A":
        if delta.new_mode & 0o170000 == 0o120000:
            return "new +l"
        return "new +x" if executable else "new"
    if delta.status == "D":
        return "gone"
    if delta.old_mode & 0o170000 != delta.new_mode & 0o170000:
        return "mode +l" if delta.new_mode & 0o170000 == 0o120000 else "mode -l"
    if delta.old_mode == 0o100644 and delta.new_mode == 0o100755:
        return "mode +x"
    return "mode -x" if delta.old_mode == 0o100755 and delta.new_mode == 0o100644 else ""


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def totals(stats: Sequence[FileStat]) -> str:
    """Return the line " 2 files changed, 3 insertions(+)"."""
    added = sum(one.added for one in stats if not one.binary)
    deleted = sum(one.deleted for one in stats if not one.binary)
    return summary_line(sum(not one.unmerged for one in stats), added, deleted)


def summary_line(files: int, added: int, deleted: int) -> str:
    """Return the line " 2 files changed, 3 insertions(+)"."""
    if not files:
        return " 0 files changed"
    line = f" {_counted(files, 'file')} changed"
    if added or not deleted:
        line += f", {_counted(added, 'insertion')}(+)"
    if deleted or not added:
        line += f", {_counted(deleted, 'deletion')}(-)"
    return line


def stat_lines(printer: DiffPrinter, stats: Sequence[FileStat]) -> list[bytes]:
    """Return the lines of --stat."""
    # long: the widths depend on each other
    options = printer.options
    if options.stat_width:
        width = options.stat_width
    else:
        columns = printer.git.env.get("COLUMNS", "")
        width = int(columns) if columns.isdigit() and int(columns[:6]) > 0 else 80
        width -= len(options.line_prefix)
    limit = options.stat_count
    shown = list(stats[:limit]) if limit else list(stats)
    names = {}
    most = bin_width = number_width = longest = 0
    for one in shown:
        name = one.name + (f" ({one.comment})" if one.comment else "")
        names[id(one)] = name
        longest = max(longest, _width(name))
        if one.unmerged:
            bin_width = max(bin_width, 8)
        elif one.binary:
            bin_width = max(bin_width, 14 + len(str(one.added)) + len(str(one.deleted)))
            number_width = 3
        else:
            most = max(most, one.added + one.deleted)
    number_width = max(number_width, len(str(most)))
    width = max(width, 16 + 6 + number_width)
    graph = bin_width - 4 if most + 4 <= bin_width else most
    if options.stat_graph_width:
        graph = min(graph, options.stat_graph_width)
    name_width = longest
    if 0 < options.stat_name_width < longest:
        name_width = options.stat_name_width
    if name_width + number_width + 6 + graph > width:
        if graph > width * 3 // 8 - number_width - 6:
            graph = max(width * 3 // 8 - number_width - 6, 6)
        if options.stat_graph_width:
            graph = min(graph, options.stat_graph_width)
        if name_width > width - number_width - 6 - graph:
            name_width = width - number_width - 6 - graph
        else:
            graph = width - number_width - 6 - name_width
    lines = []
    open_line = b""  # git writes no newline after "Unmerged"
    for one in shown:
        name, prefix = names[id(one)], ""
        if _width(name) > name_width:
            prefix = "..."
            keep = max(name_width - 3, 0)
            while _width(name) > keep:
                name = name[1:]
            slash = name.find("/")
            if slash >= 0:
                name = name[slash:]
        pad = " " * max(0, name_width - len(prefix) - _width(name))
        head = f" {prefix}{name}{pad} |"
        if one.unmerged:
            open_line += encode(f"{head} {'Unmerged':>{number_width}}")
            continue
        if one.binary:
            line = f"{head} {'Bin':>{number_width}}"
            if one.added or one.deleted:
                del_, add = str(one.deleted), str(one.added)
                if printer.color:
                    del_ = decode(printer.colored("old", encode(del_)))
                    add = decode(printer.colored("new", encode(add)))
                line += f" {del_} -> {add} bytes"
            lines.append(open_line + encode(line))
        else:
            lines.append(
                open_line + encode(head) + _graph(printer, one, number_width, graph, most)
            )
        open_line = b""
    if limit and len(stats) > limit:
        lines.append(open_line + b" ...")
        open_line = b""
    lines.append(open_line + encode(totals(stats)))
    return lines


def _graph(printer: DiffPrinter, one: FileStat, number_width: int, width: int, most: int) -> bytes:
    add, delete = one.added, one.deleted
    if width <= most:
        total = _scaled(add + delete, width, most)
        if total < 2 and add and delete:
            total = 2
        if add < delete:
            add = _scaled(add, width, most)
            delete = total - add
        else:
            delete = _scaled(delete, width, most)
            add = total - delete
    count = one.added + one.deleted
    line = encode(f" {count:>{number_width}}{' ' if count else ''}")
    if add:
        line += printer.colored("new", b"+" * add)
    if delete:
        line += printer.colored("old", b"-" * delete)
    return line


def _scaled(value: int, width: int, most: int) -> int:
    return 1 + value * (width - 1) // most if value else 0


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in text
    )
