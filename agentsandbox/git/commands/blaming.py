"""`git blame`, `annotate`."""

from __future__ import annotations

import re
import unicodedata

from agentsandbox.git.blame import Blame, Piece, Version, worktree_version
from agentsandbox.git.dates import DateStyle, approxidate, parse_style, show_date
from agentsandbox.git.diff.hunks import function_line
from agentsandbox.git.diff.xdiff import EXACT, Whitespace
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.options import Options, parse_options
from agentsandbox.git.paths import quote_path
from agentsandbox.git.pathspecs import normalized
from agentsandbox.git.pretty import Person, Pretty
from agentsandbox.git.revisions import Resolver, Revisions
from agentsandbox.git.texts import subject_of
from agentsandbox.git.trees import tree_entry
from agentsandbox.git.worktree import Worktree
from agentsandbox.kernel.regexps import RegexError, compile_posix
from agentsandbox.kernel.streams import decode, encode

USAGES = {
    "blame": """
git blame [<options>] [<rev-opts>] [<rev>] [--] <file>

    -b                    do not show object names of boundary commits (Default: off)
    --root                do not treat root commits as boundaries (Default: off)
    -f, --show-name       show original filename (Default: auto)
    -n, --show-number     show original linenumber (Default: off)
    -p, --porcelain       show in a format designed for machine consumption
    --line-porcelain      show porcelain format with per-line commit information
    -c                    use the same output mode as git-annotate (Default: off)
    -t                    show raw timestamp (Default: off)
    -l                    show long commit SHA1 (Default: off)
    -s                    suppress author name and timestamp (Default: off)
    -e, --show-email      show author email instead of name (Default: off)
    -w                    ignore whitespace differences
    --minimal             spend extra cycles to find better match
    --diff-algorithm <name>
                          how lines are compared
    -L <range>            process only line range <start>,<end> or function :<funcname>
    --abbrev[=<n>]        use <n> digits to display object names
    --date <format>       the form of dates
    --since <date>        ignore older changes
    --first-parent        follow only first parents
    --incremental         is not supported
    --reverse             is not supported
    --contents <file>     is not supported
    --ignore-rev <rev>    is not supported
    --ignore-revs-file <file>
                          is not supported
    --score-debug         is not supported
    --show-stats          is not supported
    --color-lines         is not supported
    --color-by-age        is not supported
    -S <file>             is not supported
    -M[<score>]           is not supported
    -C[<score>]           is not supported
""",
}
USAGES["annotate"] = USAGES["blame"]

_ABSENT = (
    "incremental", "reverse", "contents", "ignore-rev", "ignore-revs-file", "score-debug",
    "show-stats", "color-lines", "color-by-age", "S", "M", "C",
)  # fmt: skip
_WIDTHS = {
    "rfc": 31, "strict": 25, "iso": 25, "raw": 16, "unix": 10, "short": 10, "relative": 23,
    "human": 16, "default": 30,
}  # fmt: skip
_WORKTREE_NAME, _WORKTREE_MAIL = "Not Committed Yet", "not.committed.yet"


def blame(git: Invocation, words: list[str]) -> int:
    options = parse_options(USAGES["blame"], words)
    for name in _ABSENT:
        if options.given(name):
            dashes = "-" if len(name) == 1 else "--"
            raise Fatal(f"git {git.name} {dashes}{name} is not supported in this sandbox")
    word, revisions = _operands(git, options)
    try:
        path = normalized(git, word)
    except Fatal as error:
        raise Fatal(error.message.removeprefix(f"{word}: ")) from None
    included = [one for one in revisions.given if not one[2]]
    if len(included) > 1:
        raise Fatal(f"More than one commit to dig from {included[1][0]} and {included[0][0]}?")
    search = Blame(
        git,
        whitespace=Whitespace(all=True) if options.on("w") else EXACT,
        first_parent=options.on("first-parent"),
        since=approxidate(options.text("since"), git.now, git.tz) if options.get("since") else None,
        hidden=revisions.excluded,
        algorithm="minimal"
        if options.on("minimal")
        else options.get("diff-algorithm") or git.config.get("diff.algorithm", "myers"),
    )
    if included:
        start = _committed(git, search, path, included[0][0], revisions.included[0])
    else:
        start = _uncommitted(git, search, path)
    ranges = _ranges(git, options, start, word)
    pieces = search.run(start, ranges)
    printer = _Printer(git, options, search, start, path)
    if options.on("porcelain") or options.on("line-porcelain"):
        printer.porcelain(pieces, repeat=options.on("line-porcelain"))
    else:
        printer.lines(pieces)
    return 0


def _operands(git: Invocation, options: Options) -> tuple[str, Revisions]:
    """Return the path and the revisions of the command line."""
    operands, revisions = list(options.operands), Revisions(git)
    if options.has_dashes:
        revs, paths = operands[: options.before_dashes], operands[options.before_dashes :]
        if not revs and len(paths) == 2:
            revs, paths = paths[1:], paths[:1]
        if len(paths) != 1:
            raise BadUsage
    else:
        if not operands:
            raise BadUsage
        if len(operands) == 2 and Resolver(git).find(operands[1]) is not None:
            operands.reverse()
        revs, paths = operands[:-1], operands[-1:]
    for each in revs:
        if not revisions.add(each):
            raise Fatal(f"bad revision '{each}'")
    return paths[0], revisions


def _committed(git: Invocation, search: Blame, path: bytes, name: str, oid: str) -> Version:
    objects = git.repository.objects
    commit = objects.peel(oid, "commit")
    if commit is None:
        raise Fatal(f"Non commit {name}?")
    found = tree_entry(objects, objects.commit(commit).tree, path)
    if found is None or objects.type_of(found[1]) != "blob":
        raise Fatal(f"no such path {decode(path)} in {name}")
    return search.version(commit, path, found[1])


def _uncommitted(git: Invocation, search: Blame, path: bytes) -> Version:
    repository = git.repository
    repository.need_worktree()
    head = repository.head()
    if head is None:
        raise Fatal("no such ref: HEAD")
    parents = [head]
    for line in (repository.read_file("MERGE_HEAD") or "").split("\n"):
        if line:
            parents.append(repository.objects.peel(line[:40], "commit") or line[:40])
    objects = repository.objects
    known = [tree_entry(objects, objects.commit(each).tree, path) for each in parents]
    if all(
        one is None or one[0] & 0o170000 == 0o40000 for one in known
    ) and not repository.index().has_path(path):
        raise Fatal(f"no such path '{decode(path)}' in HEAD")
    tree = Worktree(repository)
    info = tree.stat(path)
    if info is None:
        raise Fatal(f"Cannot lstat '{decode(path)}': No such file or directory")
    data = tree.read(path, info)
    search.worktree_parents = parents
    version = worktree_version(path, data)
    search.add(version)
    return version


# -L


def _ranges(
    git: Invocation, options: Options, version: Version, word: str
) -> list[tuple[int, int]]:
    """Return the ranges to show, as (first, end) from 0, in order and without overlaps."""
    total = len(version.lines)
    texts = options.all("L")
    if not texts:
        return [(0, total)]
    found: list[tuple[int, int]] = []
    anchor = 1
    for text in texts:
        first, last = _Range(git, version.lines, anchor, decode(version.path)).parse(text)
        if (total and first > total) or total < 0 or (not total and (first or last)):
            raise Fatal(f"file {word} has only {total} line{'' if total == 1 else 's'}")
        if not first:
            first = 1
        if not last or last > total:
            last = total
        anchor = last + 1
        found.append((first - 1, last))
    merged: list[tuple[int, int]] = []
    for first, end in sorted(found):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    return merged


class _Range:
    """Reads the argument of -L; lines count from 1."""

    def __init__(self, git: Invocation, lines: list[bytes], anchor: int, path: str) -> None:
        self.git = git
        self.lines = lines
        self.anchor = min(max(anchor, 1), len(lines) + 1)
        self.path = path

    def parse(self, text: str) -> tuple[int, int]:
        """Return (first, last); 0 for one that is open."""
        if text.startswith((":", "^:")):
            return self._function(text)
        whole = text
        first, text = self._place(text, -self.anchor)
        last = 0
        if text.startswith(","):
            last, text = self._place(text[1:], first + 1)
        elif not whole:
            raise BadUsage
        if text:
            raise BadUsage
        if first and last and last < first:
            first, last = last, first
        return first, last

    def _place(self, text: str, begin: int) -> tuple[int, str]:
        """Return a line and the rest of the text. `begin` is negative for the first place."""
        if begin >= 1 and text[:1] in ("+", "-"):
            found = re.match(r"[0-9]{1,9}", text[1:])
            if found is None:
                return 0, text
            count = int(found[0])
            if not count:
                raise Fatal("-L invalid empty range")
            rest = text[1 + found.end() :]
            if text[0] == "+":
                return begin + count - 2, rest
            return max(begin - count, 1), rest
        found = re.match(r"[0-9]{1,9}", text)
        if found is not None:
            if int(found[0]) <= 0 and begin < 0:
                raise Fatal(f"-L invalid line number: {int(found[0])}")
            return int(found[0]), text[found.end() :]
        if begin < 0:
            if text.startswith("^"):
                begin, text = 1, text[1:]
            else:
                begin = -begin
        if not text.startswith("/"):
            return 0, text
        end = 1
        while end < len(text) and text[end] != "/":
            end += 2 if text[end] == "\\" else 1
        if end >= len(text):
            return 0, text
        return self._search(text[1:end], begin), text[end + 1 :]

    def _search(self, pattern: str, begin: int) -> int:
        try:
            regex = compile_posix(pattern, newline_safe=True)
        except RegexError as error:
            raise Fatal(f"-L parameter '{pattern}' starting at line {begin}: {error}") from None
        for number in range(begin, len(self.lines) + 1):
            self.git.budget.step()
            line = decode(self.lines[number - 1]).removesuffix("\n")
            if regex.test(line, self.git.budget):
                return number
        raise Fatal(f"-L parameter '{pattern}' starting at line {begin}: No match")

    def _function(self, text: str) -> tuple[int, int]:
        anchor = self.anchor
        if text.startswith("^"):
            anchor, text = 1, text[1:]
        pattern = text[1:]
        if not pattern:
            raise BadUsage
        try:
            regex = compile_posix(pattern, newline_safe=True)
        except RegexError as error:
            raise Fatal(f"-L parameter '{pattern}': {error}") from None
        attributes = Worktree(self.git.repository).attributes if not (
            self.git.repository.is_bare
        ) else None  # fmt: skip
        driver = attributes.of(encode(self.path)).get("diff") if attributes is not None else None
        find = function_line
        if isinstance(driver, str):
            from agentsandbox.git.diff.functions import finder_of

            find = finder_of(self.git.config, driver)  # type: ignore[assignment]
        for number in range(anchor, len(self.lines) + 1):
            self.git.budget.step()
            line = self.lines[number - 1]
            if find(line) is None or not regex.test(
                decode(line).removesuffix("\n"), self.git.budget
            ):
                continue
            end = number + 1
            while end <= len(self.lines) and find(self.lines[end - 1]) is None:
                end += 1
            return number, end - 1
        raise Fatal(f"-L parameter '{pattern}' starting at line {anchor}: no match")


# output


class _Author:
    """What is shown of a commit."""

    __slots__ = ("author", "committer", "summary")

    def __init__(self, author: Person, committer: Person, summary: str) -> None:
        self.author = author
        self.committer = committer
        self.summary = summary


class _Printer:
    def __init__(
        self, git: Invocation, options: Options, search: Blame, start: Version, path: bytes
    ) -> None:
        self.git = git
        self.options = options
        self.search = search
        self.start = start
        self.path = path
        self.pretty = Pretty(git.repository)
        self.annotates = git.name == "annotate" or options.on("c")
        self.root = options.on("root") or git.config.flag("blame.showroot")
        self.style = self._date_style()
        self._infos: dict[str, _Author] = {}

    def _date_style(self) -> DateStyle:
        text = self.options.get("date") or self.git.config.get("blame.date") or "iso"
        found = parse_style(text)
        if found is None:
            raise Fatal(f"unknown date format {text}")
        return found

    def _info(self, commit: str) -> _Author:
        found = self._infos.get(commit)
        if found is None:
            if commit:
                parsed = self.git.repository.objects.commit(commit)
                apply = self.pretty.mailmap.apply
                found = _Author(
                    apply(Person(parsed.author)),
                    apply(Person(parsed.committer)),
                    decode(subject_of(parsed.message)) or f"({commit})",
                )
            else:
                from agentsandbox.git.dates import local_zone

                person = Person(b"")
                person.name, person.mail = _WORKTREE_NAME, _WORKTREE_MAIL
                person.seconds = self.git.now
                person.zone = local_zone(self.git.now, self.git.tz)
                shown = decode(self.path)
                found = _Author(person, person, f"Version of {shown} from {shown}")
            self._infos[commit] = found
        return found

    def _is_boundary(self, commit: str) -> bool:
        if self.search.is_boundary(commit):
            return True
        return bool(commit) and not self.root and not self.git.repository.parents(commit)

    def _date(self, person: Person) -> str:
        if self.options.on("t"):
            return f"{person.seconds} {person.zone:+05d}"
        text = show_date(person.seconds, person.zone, self.style, self.git.now, self.git.tz)
        kind = self.style.kind
        width = (
            len(show_date(0, 0, self.style, self.git.now, self.git.tz))
            if kind == "format"
            else _WIDTHS[kind]
        )
        return text.ljust(width)

    def lines(self, pieces: list[Piece]) -> None:
        """Print the lines with their commits in front."""
        # long: the columns of a line
        options, repository = self.options, self.git.repository
        mail = options.on("show-email") or (
            self.git.config.flag("blame.showemail") and not options.off("show-email")
        )
        names = {
            piece.version.commit: f"<{person.mail}>" if mail else person.name
            for piece in pieces
            for person in [self._info(piece.version.commit).author]
        }
        commits = list(names)
        if options.get("abbrev"):
            length = min(int(options.text("abbrev")) + 1, 40)
        else:
            length = 1 + max(
                [len(repository.short(each)) if each else 7 for each in commits], default=7
            )
        if options.on("l"):
            length = 40
        longest = max([_width(name) for name in names.values()], default=0)
        shows_name = options.on("show-name") or any(
            piece.version.path != self.path for piece in pieces
        )
        widest = max([len(piece.version.path) for piece in pieces], default=0)
        digits = len(str(max([piece.line + piece.size for piece in pieces], default=0)))
        old_digits = len(str(max([piece.origin + piece.size for piece in pieces], default=0)))
        last = b"\n"
        for piece in pieces:
            commit = piece.version.commit
            person = self._info(commit).author
            name, date = names[commit], self._date(person)
            mark = self._mark(commit, length)
            for number in range(piece.size):
                self.git.budget.step()
                line = piece.line + number + 1
                if self.annotates:
                    padding = " " * (10 - len(encode(name)))
                    head = f"{mark}\t({padding}{name}\t{date:>10}\t{line})"
                else:
                    head = mark
                    if shows_name:
                        head += f" {decode(piece.version.path):<{widest}}"
                    if options.on("show-number"):
                        head += f" {piece.origin + number + 1:>{old_digits}}"
                    if not options.on("s"):
                        head += f" ({name}{' ' * (longest - _width(name))} {date:>10}"
                    head += f" {line:>{digits}}) "
                last = self.start.lines[line - 1]
                self.git.write(encode(head) + last)
            if not last.endswith(b"\n"):
                self.git.write(b"\n")

    def _mark(self, commit: str, length: int) -> str:
        text = (commit or "0" * 40)[:length]
        if not self._is_boundary(commit):
            return text
        if self.options.on("b") or self.git.config.flag("blame.blankboundary"):
            return " " * length
        return text if self.annotates else f"^{text[: length - 1]}"

    def porcelain(self, pieces: list[Piece], *, repeat: bool) -> None:
        """Print the form for programs."""
        paths: dict[str, set[bytes]] = {}
        for piece in pieces:
            paths.setdefault(piece.version.commit, set()).add(piece.version.path)
        shown: set[str] = set()
        for piece in pieces:
            version = piece.version
            name = version.commit or "0" * 40
            for number in range(piece.size):
                self.git.budget.step()
                origin, line = piece.origin + number + 1, piece.line + number + 1
                count = f" {piece.size}" if not number else ""
                self.git.print(f"{name} {origin} {line}{count}")
                if not number or repeat:
                    is_new = repeat or version.commit not in shown
                    if is_new:
                        shown.add(version.commit)
                        self._details(version.commit)
                    if is_new or len(paths[version.commit]) > 1:
                        self._file(version)
                text = self.start.lines[line - 1]
                self.git.write(b"\t" + text)
            if not text.endswith(b"\n"):
                self.git.write(b"\n")

    def _details(self, commit: str) -> None:
        info = self._info(commit)
        for who, person in (("author", info.author), ("committer", info.committer)):
            self.git.print(f"{who} {person.name}")
            self.git.print(f"{who}-mail <{person.mail}>")
            self.git.print(f"{who}-time {person.seconds}")
            self.git.print(f"{who}-tz {person.zone:+05d}")
        self.git.print(f"summary {info.summary}")
        if self._is_boundary(commit):
            self.git.print("boundary")

    def _file(self, version: Version) -> None:
        previous = version.previous
        if previous is not None:
            self.git.print(f"previous {previous.commit} {quote_path(previous.path)}")
        self.git.print(f"filename {quote_path(version.path)}")


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text)


COMMANDS = {"blame": blame, "annotate": blame}
