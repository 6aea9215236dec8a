"""Commits as text: the formats of `--pretty` and the placeholders of `--format`."""

from __future__ import annotations

import re

from agentsandbox.git.dates import DEFAULT, DateStyle, parse_style, parse_zone, show_date
from agentsandbox.git.errors import Fatal
from agentsandbox.git.objects import Commit, seconds_of
from agentsandbox.git.texts import body_of, sanitized_subject, subject_of, text_width, wrap_text
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.repository import Repository

FORMATS = {
    "raw": "raw", "medium": "medium", "short": "short", "email": "email", "mboxrd": "email",
    "full": "full", "fuller": "fuller", "oneline": "oneline",
    "reference": "tformat:%C(auto)%h (%s, %ad)",
}  # fmt: skip
_COLORS = {
    "normal": "", "black": "30", "red": "31", "green": "32", "yellow": "33", "blue": "34",
    "magenta": "35", "cyan": "36", "white": "37", "default": "39",
}  # fmt: skip
_ATTRIBUTES = {"bold": "1", "dim": "2", "italic": "3", "ul": "4", "blink": "5", "reverse": "7",
               "strike": "9"}  # fmt: skip
RESET = "\x1b[m"


def color_code(text: str) -> str | None:
    """Return the escape sequence of a colour such as "bold red", None if it is not one."""
    if text == "reset":
        return RESET
    codes: list[str] = []
    place = 0
    for word in text.lower().split():
        base = 3 if place == 0 else 4
        if word == "reset":
            codes.append("")
        elif word.removeprefix("no").lstrip("-") in _ATTRIBUTES and word.startswith("no"):
            codes.append(
                "2"
                + {"1": "2"}.get(
                    _ATTRIBUTES[word.removeprefix("no").lstrip("-")],
                    _ATTRIBUTES[word.removeprefix("no").lstrip("-")],
                )
            )
        elif word in _ATTRIBUTES:
            codes.append(_ATTRIBUTES[word])
        elif word in _COLORS:
            if _COLORS[word]:
                codes.append(f"{base}{_COLORS[word][1]}")
            place += 1
        elif word.startswith("bright") and word[6:] in _COLORS and _COLORS[word[6:]]:
            codes.append(f"{9 if place == 0 else 10}{_COLORS[word[6:]][1]}")
            place += 1
        elif re.fullmatch(r"[0-9]{1,3}", word) and int(word) < 256:
            number = int(word)
            codes.append(f"{base}{number}" if number < 8 else f"{base}8;5;{number}")
            place += 1
        elif re.fullmatch(r"#[0-9a-f]{6}", word):
            red, green, blue = (int(word[at : at + 2], 16) for at in (1, 3, 5))
            codes.append(f"{base}8;2;{red};{green};{blue}")
            place += 1
        else:
            return None
    order = sorted(codes, key=lambda code: code[:1] in "34" and len(code) > 1)
    return f"\x1b[{';'.join(order)}m" if codes else ""


class Person:
    """An ident line in parts."""

    __slots__ = ("mail", "name", "seconds", "zone")

    def __init__(self, ident: bytes) -> None:
        name, _, rest = ident.partition(b" <")
        if ident.startswith(b"<"):
            name, rest = b"", ident[1:]
        mail, _, when = rest.partition(b">")
        self.name = decode(name.strip())
        self.mail = decode(mail)
        self.seconds = seconds_of(ident)
        words = when.split()
        self.zone = parse_zone(decode(words[1])) if len(words) > 1 else 0


class Pretty:
    """Formats commits."""

    def __init__(
        self, repository: Repository, *, date: DateStyle | None = None, color: bool = False
    ) -> None:
        self.repository = repository
        self.git = repository.git
        self.style = date or self._configured_date()
        self.color = color
        self.full = False
        """Whether references are shown with their full names."""
        self.decorations: dict[str, list[tuple[str, str]]] | None = None
        """(kind, name) by object, for %d."""
        self.mark: Callable[[str], str] = lambda oid: ">"
        self.log_entry: Callable[[str, str], str] | None = None
        """Returns %gd and such of a reflog walk."""
        self.source: Callable[[str], str] = lambda oid: ""
        self.note_of: Callable[[str], str] = lambda oid: ""
        self.describe: Callable[[str, str], str | None] | None = None
        """Returns %(describe:OPTIONS) of a commit, None for wrong options."""
        self.uses_mailmap = repository.config.flag("log.mailmap", True)
        """Whether headers show names and addresses by the mail map."""
        self.graph_width = 0
        """The columns that a graph takes at the left."""
        self.abbrev = repository.abbrev
        self._compiled: dict[str, list[str | tuple[str, str]]] = {}
        self._mailmap: Mailmap | None = None

    def _configured_date(self) -> DateStyle:
        text = self.repository.config.get("log.date")
        if not text:
            return DEFAULT
        found = parse_style(text)
        if found is None:
            raise Fatal(f"unknown date format {text}")
        return found

    def date(self, person: Person, style: DateStyle | None = None) -> str:
        """Return the date of a person in a style, the chosen one by default."""
        return show_date(
            person.seconds, person.zone, style or self.style, self.git.now, self.git.tz
        )

    @property
    def mailmap(self) -> Mailmap:
        if self._mailmap is None:
            self._mailmap = Mailmap(self.repository)
        return self._mailmap

    # the built-in formats

    def header(self, commit: Commit, format: str) -> list[str]:
        """Return the lines between "commit …" and the message."""
        author, committer = Person(commit.author), Person(commit.committer)
        if format != "raw" and self.uses_mailmap:
            author, committer = self.mailmap.apply(author), self.mailmap.apply(committer)
        parents = self.repository.parents(commit.oid)
        lines = []
        if format == "raw":
            lines.append(f"tree {commit.tree}")
            lines += [f"parent {parent}" for parent in commit.parents]
            lines += [f"author {decode(commit.author)}", f"committer {decode(commit.committer)}"]
            if commit.shown_encoding:
                lines.append(f"encoding {decode(commit.shown_encoding)}")
            for key, value in commit.extra:
                lines.append(f"{decode(key)} " + decode(value).replace("\n", "\n "))
            return lines
        if len(parents) > 1:
            lines.append("Merge: " + " ".join([self.short(parent) for parent in parents]))
        wide = format == "fuller"
        lines.append(f"Author: {'    ' if wide else ''}{author.name} <{author.mail}>")
        if format == "medium":
            lines.append(f"Date:   {self.date(author)}")
        elif format == "full":
            lines.append(f"Commit: {committer.name} <{committer.mail}>")
        elif wide:
            lines.append(f"AuthorDate: {self.date(author)}")
            lines.append(f"Commit:     {committer.name} <{committer.mail}>")
            lines.append(f"CommitDate: {self.date(committer)}")
        return lines

    def short(self, oid: str) -> str:
        """Return the abbreviation of a name."""
        return self.repository.objects.abbreviate(oid, self.abbrev)

    def message(self, commit: Commit, format: str, *, indent: int = 4, tabs: int = 8) -> str:
        """Return the message as a built-in format shows it, indented."""
        lines = commit.message.split(b"\n")
        while lines and not lines[0].strip():
            lines.pop(0)
        shown: list[str] = []
        space = " " * indent
        for line in lines:
            text = decode(line.rstrip(b" \t\r\v\f"))
            if format == "short" and not text:
                break
            if tabs and format != "raw" and "\t" in text:
                text = text.expandtabs(tabs)
            shown.append(space + text)
        body = "\n".join(shown).rstrip()
        return body + "\n" if body else ""

    # user formats

    def expand(self, format: str, commit: Commit) -> str:
        """Return a user's format, expanded."""
        return _Expansion(self, commit).run(format)

    def decoration(self, oid: str) -> list[tuple[str, str]]:
        """Return the references that name a commit, as (kind, name)."""
        if self.decorations is None:
            self.decorations = find_decorations(self.repository)
        return self.decorations.get(oid, [])

    def decoration_text(self, oid: str, *, full: bool = False, color: bool = False) -> str:
        """Return "HEAD -> main, tag: v1", "" without references."""
        found = self.decoration(oid)
        parts = []
        branch = self.repository.branch()
        for kind, name in found:
            shown = name if full else shorten_ref(name)
            text = f"tag: {shown}" if kind == "tag" else shown
            if kind == "HEAD" and branch and any(each[1] == branch for each in found):
                here = branch if full else shorten_ref(branch)
                if color:
                    text = f"{_KINDS['HEAD']}HEAD -> {RESET}{_KINDS['branch']}{here}{RESET}"
                else:
                    text = f"HEAD -> {here}"
            elif name == branch and any(each[0] == "HEAD" for each in found):
                continue
            elif color:
                text = f"{_KINDS[kind]}{text}{RESET}"
            parts.append(text)
        if not color:
            return ", ".join(parts)
        comma = f"\x1b[33m, {RESET}"
        return comma.join(parts)

    def decorated(self, oid: str, *, full: bool = False) -> str:
        """Return the decorations with a space and parentheses, "" without any."""
        text = self.decoration_text(oid, full=full, color=self.color)
        if not text:
            return ""
        if self.color:
            return f"\x1b[33m ({RESET}{text}\x1b[33m){RESET}"
        return f" ({text})"


_KINDS = {
    "HEAD": "\x1b[1;36m", "branch": "\x1b[1;32m", "remote": "\x1b[1;31m", "tag": "\x1b[1;33m",
    "stash": "\x1b[1;35m", "other": "",
}  # fmt: skip


def shorten_ref(name: str) -> str:
    """Return a full name as git shows it in decorations."""
    for prefix in ("refs/heads/", "refs/tags/", "refs/remotes/", "refs/"):
        if name.startswith(prefix) and name != prefix:
            return name[len(prefix) :] if prefix != "refs/" or name != "refs/stash" else name
    return name


def find_decorations(repository: Repository) -> dict[str, list[tuple[str, str]]]:
    """Return the references that name each object, in the order of git."""
    found: dict[str, list[tuple[str, str]]] = {}

    def add(oid: str, kind: str, name: str) -> None:
        found.setdefault(oid, []).insert(0, (kind, name))

    for name, oid in repository.refs.all().items():
        kind = "other"
        if name.startswith("refs/heads/"):
            kind = "branch"
        elif name.startswith("refs/remotes/"):
            kind = "remote"
        elif name.startswith("refs/tags/"):
            kind = "tag"
        elif name == "refs/stash":
            kind = "stash"
        if kind == "other":
            continue
        peeled = repository.objects.peel(oid) if oid in repository.objects else None
        add(oid, kind, name)
        if peeled is not None and peeled != oid:
            add(peeled, kind, name)
    head = repository.head()
    if head is not None:
        add(head, "HEAD", "HEAD")
    return found


class Mailmap:
    """Names and addresses as they should be shown (gitmailmap(5)).

    They come from `.mailmap`, then from mailmap.blob (`HEAD:.mailmap` in a bare repository) and
    mailmap.file; what comes later holds.
    """

    def __init__(self, repository: Repository) -> None:
        self.rules: dict[tuple[str, str], tuple[str, str]] = {}
        self.repository = repository
        config = repository.config
        blob = config.get("mailmap.blob")
        if repository.worktree is not None:
            path = f"{repository.worktree.rstrip('/')}/.mailmap"
            try:
                if repository.fs.stat(path, follow=False).is_file:
                    self._read(repository.fs.read_text(path))
            except OSError:
                pass
        elif not blob:
            blob = "HEAD:.mailmap"
        if blob:
            self._read_blob(blob)
        if file := config.get("mailmap.file"):
            try:
                self._read(repository.fs.read_text(repository.git.path(config.expand(file))))
            except OSError:
                pass

    def _read_blob(self, name: str) -> None:
        from agentsandbox.git.invocation import Invocation
        from agentsandbox.git.revisions import Resolver

        git, objects = self.repository.git, self.repository.objects
        oid = Resolver(git).find(name) if isinstance(git, Invocation) else None
        if oid is None or oid not in objects:
            return
        if objects.type_of(oid) != "blob":
            git.error(f"mailmap is not a blob: {name}")
            return
        self._read(decode(objects.blob(oid)))

    def _read(self, text: str) -> None:
        for line in text.split("\n"):
            self.repository.git.budget.step()
            if line.startswith("#"):
                continue
            found = re.match(r"([^<]*+)<([^<>]*+)>(?:([^<]*+)<([^<>]*+)>)?+", line)
            if found is None:
                continue
            name, mail, old_name, old_mail = found.groups()
            name, old_name = name.strip(), (old_name or "").strip()
            if old_mail is None:
                self._add("", mail, name, "")
            else:
                self._add(old_name, old_mail, name, mail)

    def _add(self, old_name: str, old_mail: str, name: str, mail: str) -> None:
        """Note a rule; what it leaves open stays as an earlier one says."""
        key = (old_name.lower(), old_mail.strip().lower())
        before = self.rules.get(key, ("", ""))
        self.rules[key] = (name or before[0], mail.strip() or before[1])

    def apply(self, person: Person) -> Person:
        """Return a person with the name and address to show."""
        if not self.rules:
            return person
        mail = person.mail.lower()
        found = self.rules.get((person.name.lower(), mail)) or self.rules.get(("", mail))
        if found is None:
            return person
        person.name, person.mail = found[0] or person.name, found[1] or person.mail
        return person


_PIECE = re.compile(
    r"%(?P<sign>[-+ ])?(?:"
    r"(?P<hex>x[0-9a-fA-F]{2})|C\((?P<color>[^()]{0,1000}+)\)|C(?P<simple>red|green|blue|reset)"
    r"|w\((?P<wrap>[^()]{0,100}+)\)|(?P<pad><\||>>|><|<|>)\|?\((?P<padding>[^()]{0,100}+)\)"
    r"|\((?P<long>[^()]{0,1000}+)\)|(?P<two>[ac][nNeElLdDrtiIsh]|g[dDnNeEs]|G[?GSKFPT])|(?P<one>[a-zA-Z%])"
    r")"
)
_DATES = {
    "d": None, "D": "rfc", "r": "relative", "t": "unix", "i": "iso", "I": "iso-strict",
    "s": "short", "h": "human",
}  # fmt: skip


class _Expansion:
    def __init__(self, pretty: Pretty, commit: Commit) -> None:
        self.pretty = pretty
        self.commit = commit
        self.auto = False
        self.out: list[str] = []

    def run(self, format: str) -> str:
        # long: padding, wrapping and signs change how the next piece is added
        out = self.out
        at = 0
        padding: _Padding | None = None
        wraps: list[tuple[int, tuple[int, int, int]]] = []
        for found in _PIECE.finditer(format):
            if found.start() < at:
                continue
            out.append(format[at : found.start()])
            at = found.end()
            if found["pad"]:
                padding = self._padding(found)
                if padding is None:
                    out.append(found[0])
                continue
            if found["wrap"] is not None:
                self._finish_wrap(wraps)
                numbers = [
                    int(each) if each.strip().isdigit() else 0 for each in found["wrap"].split(",")
                ] + [0, 0, 0]
                wraps.append((len(out), (numbers[0], numbers[1], numbers[2])))
                continue
            text = self._piece(found)
            if text is None:
                out.append(found[0])
                continue
            if padding is not None and not found["color"]:
                before = "".join(out)
                joined = _padded(text, padding, before, self.pretty.graph_width)
                mark = {"+": "\n", " ": " "}.get(found["sign"] or "", "")
                at_sign = min(len(before), len(joined))
                out[:] = [joined[:at_sign] + mark + joined[at_sign:] if text else joined]
                padding = None
                continue
            sign = found["sign"]
            if sign == "-" and not text:
                joined = "".join(out).rstrip("\n")
                out[:] = [joined]
            elif text and sign == "+":
                text = "\n" + text
            elif text and sign == " ":
                text = " " + text
            out.append(text)
        out.append(format[at:])
        self._finish_wrap(wraps)
        return "".join(out)

    def _finish_wrap(self, wraps: list[tuple[int, tuple[int, int, int]]]) -> None:
        if wraps:
            start, (width, first, others) = wraps.pop()
            text = "".join(self.out[start:])
            self.out[start:] = [wrap_text(text, width, first, others)] if text else []

    def _padding(self, found: re.Match[str]) -> _Padding | None:
        width, _, cut = found["padding"].partition(",")
        if not re.fullmatch(r" *-?[0-9]{1,4} *", width):
            return None
        if cut.strip() not in ("", "trunc", "ltrunc", "mtrunc"):
            return None
        kind = found["pad"].rstrip("|")
        to_column = found[0].startswith(f"%{kind}|") or found["pad"].endswith("|")
        number = int(width)
        if number < 0:
            if not to_column:
                return None
            columns = self.pretty.git.env.get("COLUMNS", "")
            number += int(columns) if columns.isdigit() and len(columns) < 5 else _COLUMNS
        if number <= 0 and not to_column:
            return None
        return _Padding(kind, number, cut.strip(), to_column)

    def _piece(self, found: re.Match[str]) -> str | None:
        if found["hex"]:
            return decode(bytes([int(found["hex"][1:], 16)]))
        if found["simple"]:
            if not self.pretty.color:
                return ""
            return RESET if found["simple"] == "reset" else color_code(found["simple"])
        if found["color"] is not None:
            return self._color(found["color"])
        if found["long"] is not None:
            return self._long(found["long"])
        if found["two"]:
            return self._two(found["two"])
        return self._one(found["one"])

    def _color(self, text: str) -> str | None:
        if text == "auto":
            self.auto = self.pretty.color
            return ""
        always = text.startswith("always,")
        name = text.removeprefix("always,").removeprefix("auto,")
        code = color_code(name)
        if code is None:
            raise Fatal("unable to parse --pretty format")
        self.auto = False
        return code if always or self.pretty.color else ""

    def _painted(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}{RESET}" if self.auto and text else text

    def _one(self, letter: str) -> str | None:
        # long: a table of short answers
        commit, pretty = self.commit, self.pretty
        parents = pretty.repository.parents(commit.oid)
        if letter == "H":
            return self._painted("33", commit.oid)
        if letter == "h":
            return self._painted("33", pretty.short(commit.oid))
        if letter == "T":
            return commit.tree
        if letter == "t":
            return pretty.short(commit.tree)
        if letter == "P":
            return " ".join(parents)
        if letter == "p":
            return " ".join([pretty.short(parent) for parent in parents])
        if letter == "s":
            return decode(subject_of(commit.message))
        if letter == "f":
            return sanitized_subject(commit.message)
        if letter == "b":
            return decode(body_of(commit.message))
        if letter == "B":
            return decode(commit.message.lstrip(b"\n"))
        if letter == "n":
            return "\n"
        if letter == "%":
            return "%"
        if letter == "m":
            return pretty.mark(commit.oid)
        if letter == "e":
            return decode(commit.encoding)
        if letter == "N":
            return pretty.note_of(commit.oid)
        if letter == "S":
            return pretty.source(commit.oid)
        if letter in "dD":
            return self._decorations(letter)
        return None

    def _decorations(self, letter: str) -> str:
        pretty = self.pretty
        text = pretty.decoration_text(self.commit.oid, full=pretty.full, color=self.auto)
        if not text:
            return ""
        if letter == "D":
            return text
        if self.auto:
            return f"\x1b[33m ({RESET}{text}\x1b[33m){RESET}"
        return f" ({text})"

    def _two(self, name: str) -> str | None:
        commit, pretty = self.commit, self.pretty
        if name[0] == "G":
            return "N" if name[1] == "?" else ""
        if name[0] == "g":
            return pretty.log_entry(commit.oid, name) if pretty.log_entry else ""
        person = Person(commit.author if name[0] == "a" else commit.committer)
        letter = name[1]
        if letter in "NEL":
            person = pretty.mailmap.apply(person)
            letter = letter.lower()
        if letter == "n":
            return person.name
        if letter == "e":
            return person.mail
        if letter == "l":
            return person.mail.partition("@")[0]
        style = _DATES[letter]
        if letter == "I":
            return pretty.date(person, parse_style("iso-strict"))
        return pretty.date(person, None if style is None else parse_style(style))

    def _long(self, text: str) -> str | None:
        name, _, rest = text.partition(":")
        if name == "trailers":
            from agentsandbox.git.trailers import format_trailers

            return format_trailers(self.commit.message, rest)
        if name == "describe" and self.pretty.describe is not None:
            return self.pretty.describe(self.commit.oid, rest)
        return None


_COLUMNS = 80
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


class _Padding:
    """A placeholder that gives the next one a width, or a column to reach."""

    __slots__ = ("cut", "kind", "to_column", "width")

    def __init__(self, kind: str, width: int, cut: str, to_column: bool) -> None:
        self.kind = kind
        """"<", ">", ">>" (takes blanks at the left) or "><"."""
        self.width = width
        self.cut = cut
        self.to_column = to_column


def _shown_width(text: str) -> int:
    return text_width(_ESCAPE.sub("", text))


def _padded(text: str, padding: _Padding, before: str, graph_width: int) -> str:
    """Return what is there already with a text behind it, padded or cut."""
    width = padding.width
    if padding.to_column:
        width -= _shown_width(before.rpartition("\n")[2]) + graph_width
    length = _shown_width(text)
    if padding.kind == ">>":
        free = len(before) - len(before.rstrip(" "))
        taken = min(free, max(0, length - width))
        before, width = before[: len(before) - taken], width + taken
    if length > width:
        return before + (_cut(text, width, length, padding.cut) if padding.cut else text)
    blanks = width - length
    left = {"<": 0, "><": blanks // 2}.get(padding.kind, blanks)
    return before + " " * left + text + " " * (blanks - left)


def _cut(text: str, width: int, length: int, where: str) -> str:
    """Return a text that is cut to a width, with ".." in the place of what is missing."""
    gone = length - (width - 2)
    start = {"trunc": width - 2, "ltrunc": 0}.get(where, width // 2 - 1)
    start = max(start, 0)
    column, kept = 0, [""]
    for letter in text:
        size = text_width(letter)
        if column == start and len(kept) == 1:
            kept.append("..")
            kept.append("")
        if len(kept) == 1 or column >= start + gone:
            kept[-1] += letter
        column += size
    return "".join(kept)


def expand_to_bytes(pretty: Pretty, format: str, commit: Commit) -> bytes:
    """Return a user's format, expanded, as bytes."""
    return encode(pretty.expand(format, commit))
