"""Commits as `log` and `show` print them: header, message, differences, graph."""

from __future__ import annotations

from agentsandbox.git.diff.options import DiffOptions
from agentsandbox.git.diff.printing import DiffPrinter
from agentsandbox.git.encodings import find_codec, output_encoding, recoded
from agentsandbox.git.objects import Commit
from agentsandbox.git.paths import Pathspec
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.pretty import Pretty, find_decorations
from agentsandbox.git.texts import subject_of
from agentsandbox.git.trees import Delta, diff_trees
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agentsandbox.git.dates import DateStyle
    from agentsandbox.git.graph import Graph
    from agentsandbox.git.history import Walk
    from agentsandbox.git.invocation import Invocation
    from agentsandbox.git.notes import NoteOptions, NoteTexts


class LogPrinter:
    """Prints commits, one after the other."""

    # long: one attribute for each option
    def __init__(
        self,
        git: Invocation,
        walk: Walk,
        options: DiffOptions,
        *,
        format: str,
        user_format: str = "",
        terminates: bool = False,
        date: DateStyle | None = None,
        color: bool = False,
    ) -> None:
        self.git = git
        self.repository = git.repository
        self.walk = walk
        self.options = options
        self.format = format
        self.user_format = user_format
        self.terminates = terminates
        self.pretty = Pretty(self.repository, date=date, color=color)
        self.pretty.mark = self._mark
        self.abbreviates = False
        self.length: int | None = None
        self.decorate = ""
        self.shows_parents = False
        self.left_right = False
        self.merges = ""
        self.tabs = 8
        self.followed: dict[str, list[Delta]] = {}
        """The changes of the file that is followed, by commit."""
        self.source = False
        self.encoding = output_encoding(self.repository.config)
        """The encoding of what is printed."""
        self.always = False
        """Whether commits without differences are shown in spite of a pickaxe and such."""
        self.graph: Graph | None = None
        self.notes: NoteTexts | None = None
        self.shown_one = False
        self.found = False
        self.rev_list = False
        self.missing_newline = False
        self.extra_header: list[str] = []
        self.reflog: tuple[str, str] | None = None
        """(selector, message) of the entry of a reflog."""

    def take_notes(self, chosen: NoteOptions, *, given: bool) -> None:
        """Take the notes to show; without a choice only with the default format."""
        from agentsandbox.git.notes import NoteTexts

        if self.repository.refs.all("refs/notes/"):
            shows = chosen.shows or (chosen.shows is None and not given)
            if shows or "%N" in self.user_format:
                texts = NoteTexts(self.repository, chosen)
                self.pretty.note_of = lambda oid: decode(texts.of(oid))
                self.notes = texts if shows else None

    def filter_decorations(self, included: list[str], excluded: list[str]) -> None:
        """Show only the references that match."""

        def matches(pattern: str, name: str) -> bool:
            full = (
                pattern if pattern.startswith("refs/") or pattern == "HEAD" else f"refs/{pattern}"
            )
            if not any(each in pattern for each in "*?["):
                return (
                    name == full
                    or name.startswith(f"{full.rstrip('/')}/")
                    or any(
                        name == f"refs/{kind}/{pattern}" for kind in ("heads", "tags", "remotes")
                    )
                )
            return wildmatch(encode(full), encode(name), pathname=False)

        found = find_decorations(self.repository)
        self.pretty.decorations = {
            oid: kept
            for oid, names in found.items()
            if (kept := [
                (kind, name) for kind, name in names
                if (not included or any(matches(each, name) for each in included))
                and not any(matches(each, name) for each in excluded)
            ])
        }  # fmt: skip

    def _mark(self, oid: str) -> str:
        if oid in self.walk.boundaries:
            return "-"
        return "<" if oid in self.walk.left else ">"

    def show_all(self, commits: Iterable[str]) -> None:
        """Print commits."""
        for oid in commits:
            self.git.budget.step()
            self.show(oid)

    # one commit

    def show(self, oid: str) -> None:
        """Print one commit with its differences."""
        commit = recoded(self.repository.objects.commit(oid), self.encoding)
        if self.graph is not None:
            self.graph.update(oid)
        if not self.options.formats:
            if self.options.pickaxe_kind or self.options.filter:
                if not any(deltas for _, deltas, _ in self._differences(commit)):
                    return
            self._header(commit)
            return
        parents = self.repository.parents(oid)
        if len(parents) > 1 and self._merge_kind() in ("c", "cc"):
            self._combined(commit)
            return
        shown = False
        for parent, deltas, printer in self._differences(commit):
            if not deltas:
                continue
            self.found = True
            self._header(commit, parent)
            shown = True
            self._separate(printer)
            self._print_deltas(printer, deltas)
        if not shown and self._shows_empty():
            self._header(commit)

    def _shows_empty(self) -> bool:
        return not (self.options.pickaxe_kind or self.options.filter) or (
            self.always and not (self.options.pickaxe_kind or self.options.filter)
        )

    def _merge_kind(self) -> str:
        if self.merges:
            return self.merges
        return "first" if self.walk.first_parent else "off"

    def _differences(self, commit: Commit) -> list[tuple[str | None, list[Delta], DiffPrinter]]:
        """Return (parent if it must be named, changes, their printer) for the parents shown."""
        repository = self.repository
        parents = repository.parents(commit.oid)
        if len(parents) > 1:
            kind = self._merge_kind()
            if kind == "off":
                return []
            if kind == "first":
                parents = parents[:1]
        if not parents and not self.git.config.flag("log.showroot", True):
            return []
        named = len(parents) > 1
        found: list[tuple[str | None, list[Delta], DiffPrinter]] = []
        for parent in parents or (None,):
            old = repository.objects.commit(parent).tree if parent is not None else None
            printer = DiffPrinter(self.git, self.options, mnemonic=("c/", "c/"))
            wanted: Pathspec | None = self.walk.paths
            if commit.oid in self.followed:
                found.append((None, self.followed[commit.oid], printer))
                continue
            deltas = printer.prepare(
                diff_trees(repository.objects, old, commit.tree, wanted or None)
            )
            found.append((parent if named else None, deltas, printer))
        return found

    def follow(self, commits: Iterable[str], path: bytes) -> Iterator[str]:
        """Yield the commits that change a file, under its earlier names too."""
        repository = self.repository
        options = DiffOptions()
        options.configure(self.git)
        options.renames = max(options.renames, 1)
        options.least = self.options.least
        for oid in commits:
            self.git.budget.step()
            parents = repository.parents(oid)
            if len(parents) > 1:
                continue
            old = repository.objects.commit(parents[0]).tree if parents else None
            deltas = diff_trees(repository.objects, old, repository.objects.commit(oid).tree)
            here = [one for one in deltas if one.new_path == path]
            if here and here[0].status == "A":
                found = DiffPrinter(self.git, options).prepare(deltas)
                here = [one for one in found if one.new_path == path]
            if not here:
                continue
            self.followed[oid] = here
            yield oid
            if here[0].status == "R":
                path = here[0].old_path

    def _combined(self, commit: Commit) -> None:
        from agentsandbox.git.diff.combined import combined_deltas, print_combined

        parents = self.repository.parents(commit.oid)
        trees = [self.repository.objects.commit(parent).tree for parent in parents]
        found = combined_deltas(
            self.git,
            self.options,
            trees,
            commit.tree,
            self.walk.paths,
            dense=self._merge_kind() == "cc",
        )
        self._header(commit)
        printer = DiffPrinter(self.git, self.options)
        self._separate(printer, combined=True)
        if not found and not (self.options.formats & {"stat", "shortstat", "numstat", "summary"}):
            return
        print_combined(
            printer,
            found,
            trees,
            commit.tree,
            dense=self._merge_kind() == "cc",
            wanted=self.walk.paths,
        )

    def _separate(self, printer: DiffPrinter, *, combined: bool = False) -> None:
        """Print the blank line between the message and the differences."""
        del printer
        if (
            (self.format == "oneline" and not combined)
            or self.format == ""
            or (self.format == "user" and not self.user_format)
        ):
            return
        if self.graph is not None:
            self.git.write(encode(self.graph.padding()))
        formats = self.options.formats
        if {"stat", "patch"} <= formats and not combined:
            self.git.write(b"---")
        self.git.write(b"\n")

    def _print_deltas(self, printer: DiffPrinter, deltas: list[Delta]) -> None:
        if self.graph is None:
            printer.print(deltas)
            return
        before = self.options.line_prefix
        self.options.line_prefix = before + encode(self.graph.padding())
        try:
            printer.print(deltas)
        finally:
            self.options.line_prefix = before

    # the header

    def _shown_name(self, oid: str) -> str:
        if not self.abbreviates:
            return oid
        return self.repository.short(oid, self.length)

    def _header(self, commit: Commit, parent: str | None = None) -> None:
        """Print what comes before the differences."""
        git = self.git
        if self.shown_one and not self.terminates:
            if self.graph is not None and not self.missing_newline:
                git.write(encode(self.graph.padding()))
            git.write(b"\0" if self.options.nul else b"\n")
        self.shown_one = True
        if self.graph is not None:
            left = self.graph.commit_lines()
            git.write(encode(left))
            self.pretty.graph_width = len(left.rpartition("\n")[2])
        if self.format == "user":
            body = self._expanded(commit.oid)
            if self.rev_list:
                git.write(encode(f"commit {self._shown_name(commit.oid)}\n"))
                if not self.user_format:
                    return
            self._message(body, is_user=True)
            return
        git.write(encode(self._first_line(commit, parent)))
        if self.format == "oneline":
            text = decode(subject_of(commit.message))
            if self.reflog is not None:
                selector, message = self.reflog
                self.git.write(encode(f"{selector}: {message}\n"))
                return
            if self.notes is not None:
                text += self.notes.shown(commit.oid)
            self._message(text, is_user=True)
            return
        git.write(b"\n")
        if self.graph is not None:
            git.write(encode(self.graph.next_line()))
        lines = [*self.extra_header, *self.pretty.header(commit, self.format)]
        message = self.pretty.message(commit, self.format, tabs=self.tabs)
        body = "\n".join(lines) + "\n"
        if message:
            body += "\n" + message
        elif self.format != "raw":
            body += "\n"
        if self.notes is not None:
            body += self.notes.shown(commit.oid)
        self._message(body)

    def _expanded(self, oid: str) -> str:
        """Return a user's format, expanded as UTF-8 and then put into the encoding of the log."""
        commit = self.repository.objects.commit(oid)
        text = self.pretty.expand(self.user_format, recoded(commit, "UTF-8"))
        codec = find_codec(self.encoding) if self.encoding != "UTF-8" else None
        if codec in (None, "utf-8"):
            return text
        try:
            return decode(text.encode(codec))
        except UnicodeError:
            return text

    def _first_line(self, commit: Commit, parent: str | None) -> str:
        text = "" if self.format == "oneline" else "commit "
        if self.graph is None and self.left_right:
            text += f"{self._mark(commit.oid)} "
        elif self.graph is None and commit.oid in self.walk.boundaries:
            text += "-"
        text += self._shown_name(commit.oid)
        if self.shows_parents:
            parents = self.walk.parents.get(commit.oid, self.repository.parents(commit.oid))
            text += "".join([f" {self._shown_name(each)}" for each in parents])
        if parent is not None:
            text += f" (from {self._shown_name(parent)})"
        if self.pretty.color:
            text = f"\x1b[33m{text}\x1b[m"
        if self.source:
            text += f"\t{self.pretty.source(commit.oid)}"
        if self.decorate:
            text += self.pretty.decorated(commit.oid, full=self.decorate == "full")
        return text + (" " if self.format == "oneline" else "")

    def _message(self, body: str, *, is_user: bool = False) -> None:
        """Print a message, with the graph at its left."""
        del is_user
        git = self.git
        self.missing_newline = bool(body) and not body.endswith("\n")
        if self.graph is None:
            git.write(encode(body))
        else:
            git.write(encode(self.graph.beside(body)))
            if not self.graph.is_finished():
                rest = self.graph.remainder()
                ends = body.endswith("\n")
                git.write(encode(f"{rest}\n" if ends else f"\n{rest}"))
        if self.terminates and not (self.format == "user" and not self.user_format):
            if self.graph is not None and not self.missing_newline:
                git.write(encode(self.graph.padding()))
            git.write(b"\0" if self.options.nul else b"\n")
