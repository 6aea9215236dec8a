"""`git log`, `show`, `rev-list`, `whatchanged`."""

from __future__ import annotations

import re
from functools import partial
from itertools import islice

from agentsandbox.git.dates import approxidate, parse_style
from agentsandbox.git.diff.options import DiffOptions, wants_color
from agentsandbox.git.encodings import output_encoding, recoded
from agentsandbox.git.errors import BadUsage, Fatal, GitError
from agentsandbox.git.history import Walk
from agentsandbox.git.invocation import Invocation
from agentsandbox.git.logs import LogPrinter
from agentsandbox.git.notes import NoteOptions
from agentsandbox.git.paths import kind_of_mode
from agentsandbox.git.pathspecs import parse_pathspec
from agentsandbox.git.patterns import wildmatch
from agentsandbox.git.pretty import FORMATS, Mailmap, Person
from agentsandbox.git.revisions import Revisions, verify_filename, verify_not_filename
from agentsandbox.git.texts import text_search
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

USAGES = {
    "log": """
git log [<options>] [<revision-range>] [[--] <path>...]
   or: git show [<options>] <object>...

    -q, --quiet           print no diff
    --source              show by which reference a commit is reached
    --use-mailmap         use the mail map
    --decorate[=<style>]  show references: short, full, auto, no
    --decorate-refs <pattern>
                          show only references that match
    --decorate-refs-exclude <pattern>
                          do not show references that match
""",
    "rev-list": """
git rev-list [<options>] <commit>... [--] [<path>...]

  limiting output
    --max-count=<n>
    --max-age=<epoch>
    --min-age=<epoch>
    --no-merges
    --min-parents=<n>
    --max-parents=<n>
    --remove-empty
    --all
    --branches
    --tags
    --remotes
    --stdin
    --quiet
  ordering output
    --topo-order
    --date-order
    --reverse
  formatting output
    --parents
    --children
    --objects
    --timestamp
    --oneline | --format=<format>
    --abbrev=<n> | --no-abbrev
    --abbrev-commit
    --left-right
    --count
""",
}
USAGES["show"] = USAGES["whatchanged"] = USAGES["log"]
USAGES["reflog"] = """
git reflog [show] [<log-options>] [<ref>]
   or: git reflog exists <ref>
"""


class LogWords:
    """The command line of `log` and its kind."""

    # long: one attribute for each option
    def __init__(self, git: Invocation, name: str) -> None:
        self.git = git
        self.name = name
        self.repository = git.repository
        self.revisions = Revisions(git)
        self.walk = Walk(self.repository)
        self.options = DiffOptions()
        self.format = "medium" if name != "rev-list" else ""
        self.user_format = ""
        self.terminates = False
        self.abbrev_commit = False
        self.abbrev: int | None = None
        self.decorate = ""
        self.date = ""
        self.graph = False
        self.parents = False
        self.children = False
        self.left_right = False
        self.count = False
        self.objects = False
        self.timestamp = False
        self.follow = False
        self.reflogs = False
        self.merges = ""
        self.source = False
        self.mailmap: bool = git.config.flag("log.mailmap", True)
        self.encoding: str | None = None
        """The value of --encoding; "none" and "" are the encoding of each commit."""
        self.paths: list[str] = []
        self.greps: list[str] = []
        self.authors: list[str] = []
        self.committers: list[str] = []
        self.all_match = False
        self.invert = False
        self.ignore_case = False
        self.fixed = False
        self.perl = False
        self.extended = git.config.get("grep.patterntype") == "extended" or git.config.flag(
            "grep.extendedregexp"
        )
        self.negated = False
        self.cherry = ""
        self.default_head = True
        self.ranges: list[str] = []
        self.excluded_refs: list[str] = []
        self.no_merges_shown = True
        self.expand_tabs = 8
        self.quiet = False
        self.stdin = False
        self.objects_edge = False
        self.decorate_refs: list[str] = []
        self.decorate_excludes: list[str] = []
        self.show_signature = False
        self.notes = NoteOptions()
        self.pretty_given = False
        self.full_diff = False
        self.reflog_names: list[str] = []
        self.other: dict[str, str] = {}

    def read(self, words: list[str]) -> None:
        """Take the words of the command line."""
        pending = list(reversed(words))
        operands: list[str] = []
        dashed: list[str] | None = None
        while pending:
            word = pending.pop()
            if word == "--":
                dashed = list(reversed(pending))
                break
            if word.startswith("-") and word != "-":
                if word == "-h" and len(words) == 1:
                    raise BadUsage
                if not self._option(word, pending):
                    if self.options.take(word, lambda: pending.pop() if pending else None):
                        continue
                    raise self._unknown(word)
            else:
                operands.append(word)
                self._revision(word, dashed, words, operands)
                if self.paths:
                    self._rest(pending)
                    break
        if dashed is not None:
            if self.paths:
                raise Fatal(f"bad revision '{self.paths[0]}'")
            self.paths += dashed
        else:
            for number, path in enumerate(self.paths):
                verify_filename(self.git, path, first=number == 0)

    def _rest(self, pending: list[str]) -> None:
        """Take what follows the first path: more paths, and "--" as it is."""
        while pending:
            word = pending.pop()
            if word == "--":
                raise Fatal(f"bad revision '{self.paths[0]}'")
            self.paths.append(word)

    def _revision(
        self, word: str, dashed: list[str] | None, words: list[str], operands: list[str]
    ) -> None:
        del operands, dashed
        self.reflog_names.append(word)
        if self.revisions.add(word, negated=self.negated):
            if "--" not in words:
                verify_not_filename(self.git, word)
            return
        if "--" in words:
            raise Fatal(f"bad revision '{word}'")
        self.paths.append(word)

    def _unknown(self, word: str) -> Exception:
        if self.name == "rev-list":
            return BadUsage()
        return Fatal(f"unrecognized argument: {word}")

    def _option(self, word: str, pending: list[str]) -> bool:
        """Take an option of history; return whether it is one."""
        name, equals, value = word.partition("=")

        def needed() -> str:
            if equals:
                return value
            if not pending:
                raise Fatal(f"Option '{name}' requires a value")
            return pending.pop()

        if re.fullmatch(r"-[0-9]{1,9}", word):
            self.walk.most = int(word[1:])
            return True
        if word.startswith("-n") and not word.startswith("--"):
            text = word[2:] or (pending.pop() if pending else "")
            self.walk.most = self._number(text, "-n")
            return True
        action = _FLAGS.get(word)
        if action is not None:
            action(self)
            return True
        valued = _VALUED.get(name)
        if valued is not None:
            valued(self, needed())
            return True
        optional = _OPTIONAL.get(name)
        if optional is not None:
            optional(self, value if equals else None)
            return True
        if name == "-L" or word.startswith("-L"):
            raise Fatal(
                "git log -L is not supported in this sandbox; use git log -p, or git blame -L"
            )
        return False

    def _number(self, text: str, name: str) -> int | None:
        if not re.fullmatch(r"-?[0-9]{1,9}", text):
            raise Fatal(f"'{text}': not an integer")
        number = int(text)
        del name
        return None if number < 0 else number

    def set_format(self, text: str) -> None:
        """Choose the format that --pretty or --format names."""
        git = self.git
        for _ in range(10):
            alias = git.config.get(f"pretty.{text}")
            if not alias or text in FORMATS or "%" in text:
                break
            text = alias
        if text.startswith("format:"):
            self.format, self.user_format, self.terminates = "user", text[7:], False
        elif text.startswith("tformat:") or "%" in text:
            self.format, self.terminates = "user", True
            self.user_format = text.removeprefix("tformat:")
        else:
            matches = [key for key in FORMATS if key.startswith(text)] if text else ["medium"]
            if not matches:
                raise Fatal(f"invalid --pretty format: {text}")
            found = FORMATS[text if text in FORMATS else matches[0]]
            if found.startswith("tformat:"):
                self.set_format(found)
                if self.date == self.git.config.get("log.date"):
                    self.date = "short"
                return
            self.format = found
            self.terminates = found == "oneline"

    # what the options mean together

    def prepare(self) -> None:
        """Fill in the walk."""
        walk, revisions = self.walk, self.revisions
        if self.stdin:
            self._read_stdin()
        if not revisions.any and self.default_head and not self.reflogs:
            head = self.repository.head()
            if head is None:
                branch = self.repository.branch().removeprefix("refs/heads/")
                raise Fatal(f"your current branch '{branch}' does not have any commits yet")
            revisions.add("HEAD")
        walk.tips = list(dict.fromkeys(revisions.included))
        walk.hidden = list(dict.fromkeys(revisions.excluded))
        walk.left = set(revisions.left)
        if self.paths:
            walk.paths = parse_pathspec(self.git, self.paths)
        elif self.options.relative is not None and self.repository.prefix:
            walk.paths = parse_pathspec(self.git, ["."])
        if self.graph:
            if walk.order == "date":
                walk.order = "topo"
            walk.rewrite = True
        if self.parents or self.children:
            walk.rewrite = True
        walk.accepts = self._test()

    def _read_stdin(self) -> None:
        lines = decode(self.git.read_input()).split("\n")
        for number, line in enumerate(lines):
            if line == "--":
                self.paths += [each for each in lines[number + 1 :] if each]
                return
            if line and not self.revisions.add(line, negated=self.negated):
                raise Fatal(f"bad revision '{line}'")

    def _search(self, pattern: str) -> Callable[[bytes], bool]:
        return text_search(
            pattern, self.git.budget, extended=self.extended, fixed=self.fixed, perl=self.perl,
            ignore_case=self.ignore_case,
        )  # fmt: skip

    def _test(self) -> Callable[[str], bool] | None:
        if not (self.greps or self.authors or self.committers):
            return None
        authors = [self._search(each) for each in self.authors]
        committers = [self._search(each) for each in self.committers]
        greps = [self._search(each) for each in self.greps]
        objects = self.repository.objects
        encoding = output_encoding(self.repository.config)
        mailmap = Mailmap(self.repository) if self.mailmap and (authors or committers) else None

        def person(ident: bytes) -> bytes:
            if mailmap is None or not mailmap.rules:
                return _without_date(ident)
            found = mailmap.apply(Person(ident))
            return encode(f"{found.name} <{found.mail}>")

        def accepts(oid: str) -> bool:
            commit = recoded(objects.commit(oid), encoding)
            if authors and not any(test(person(commit.author)) for test in authors):
                return False
            if committers and not any(test(person(commit.committer)) for test in committers):
                return False
            if not greps:
                return True
            found = [test(commit.message) for test in greps]
            return (all(found) if self.all_match else any(found)) != self.invert

        return accepts


def _without_date(ident: bytes) -> bytes:
    return ident.rpartition(b"> ")[0] + b">"


def _flag(name: str, value: object = True) -> Callable[[LogWords], None]:
    return lambda line: setattr(line, name, value)


def _walk(name: str, value: object = True) -> Callable[[LogWords], None]:
    return lambda line: setattr(line.walk, name, value)


def _refs(prefix: str) -> Callable[[LogWords, str | None], None]:
    def add(line: LogWords, pattern: str | None) -> None:
        refs = line.repository.refs.all(prefix or "refs/")
        if prefix == "":
            head = line.repository.head()
            if head is not None:
                refs = {**refs, "HEAD": head}
        if pattern is not None:
            if not re.search(r"[*?\[]", pattern):
                pattern = pattern.rstrip("/") + "/*"
            full = pattern if prefix == "glob" else prefix + pattern
            refs = {
                name: oid
                for name, oid in refs.items()
                if wildmatch(encode(full), encode(name), pathname=False)
            }
        for excluded in line.excluded_refs:
            refs = {
                name: oid
                for name, oid in refs.items()
                if not wildmatch(encode(excluded), encode(name), pathname=False)
                and not wildmatch(encode(prefix + excluded), encode(name), pathname=False)
            }
        line.excluded_refs = []
        line.revisions.add_refs(refs, negated=line.negated)

    return add


def _glob(line: LogWords, pattern: str) -> None:
    if not pattern.startswith("refs/"):
        pattern = f"refs/{pattern}"
    if not re.search(r"[*?\[]", pattern):
        pattern = pattern.rstrip("/") + "/*"
    refs = {
        name: oid
        for name, oid in line.repository.refs.all().items()
        if wildmatch(encode(pattern), encode(name), pathname=False)
    }
    line.revisions.add_refs(refs, negated=line.negated)


def _since(line: LogWords, text: str) -> None:
    line.walk.since = approxidate(text, line.git.now, line.git.tz)


def _until(line: LogWords, text: str) -> None:
    line.walk.until = approxidate(text, line.git.now, line.git.tz)


def _pretty(line: LogWords, value: str | None) -> None:
    line.set_format(value or "medium")
    line.pretty_given = True


def _oneline(line: LogWords) -> None:
    line.set_format("oneline")
    line.abbrev_commit = line.pretty_given = True


def _merges(kind: str) -> Callable[[LogWords], None]:
    def choose(line: LogWords) -> None:
        line.merges = kind
        if kind != "off" and kind != "" and kind != "separate":
            line.options.combined = kind if kind in ("c", "cc") else line.options.combined
        if kind in ("c", "cc") and not line.options.formats and not line.options.no_patch:
            line.other["implied_patch"] = "1"

    return choose


def _diff_merges(line: LogWords, value: str) -> None:
    kinds = {
        "off": "off", "none": "off", "on": "separate", "m": "separate", "separate": "separate",
        "first-parent": "first", "1": "first", "combined": "c", "c": "c",
        "dense-combined": "cc", "cc": "cc",
    }  # fmt: skip
    if value not in kinds:
        raise Fatal(f"invalid value for '--diff-merges': '{value}'")
    _merges(kinds[value])(line)


def _follow(line: LogWords) -> None:
    line.follow = True


def _number_of(name: str) -> Callable[[LogWords, str], None]:
    def take(line: LogWords, text: str) -> None:
        setattr(line.walk, name, line._number(text, name))

    return take


def _not(line: LogWords) -> None:
    line.negated = not line.negated


def _abbrev(line: LogWords, value: str | None) -> None:
    line.abbrev = line.options.abbrev = int(value[:4]) if value and value.isdigit() else None


def _skip(line: LogWords, text: str) -> None:
    line.walk.skip = line._number(text, "--skip") or 0


def _refused(name: str) -> Callable[[LogWords], None]:
    def refuse(line: LogWords) -> None:
        raise Fatal(f"{name} is not supported in this sandbox")

    return refuse


def _encoding(line: LogWords, text: str) -> None:
    line.encoding = text


def _show_notes(line: LogWords, value: str | None) -> None:
    """Take `--show-notes`, which adds to the notes that are shown anyway."""
    if value is not None and line.notes.default is None:
        line.notes.default = True
    line.notes.show(value)


def _no_standard_notes(line: LogWords) -> None:
    line.notes.default = False


_FLAGS: dict[str, Callable[[LogWords], None]] = {
    "--oneline": _oneline,
    "--abbrev-commit": _flag("abbrev_commit"), "--no-abbrev-commit": _flag("abbrev_commit", False),
    "--graph": _flag("graph"), "--no-graph": _flag("graph", False),
    "--parents": _flag("parents"), "--children": _flag("children"),
    "--left-right": _flag("left_right"), "--count": _flag("count"),
    "--timestamp": _flag("timestamp"), "--objects": _flag("objects"),
    "--objects-edge": _flag("objects"), "--stdin": _flag("stdin"),
    "--follow": _follow, "--full-diff": _flag("full_diff"),
    "--walk-reflogs": _flag("reflogs"), "-g": _flag("reflogs"),
    "--no-decorate": _flag("decorate", "no"),
    "--source": _flag("source"), "--use-mailmap": _flag("mailmap"),
    "--mailmap": _flag("mailmap"), "--no-use-mailmap": _flag("mailmap", False),
    "--no-mailmap": _flag("mailmap", False),
    "--all-match": _flag("all_match"), "--invert-grep": _flag("invert"),
    "-i": _flag("ignore_case"), "--regexp-ignore-case": _flag("ignore_case"),
    "-E": _flag("extended"), "--extended-regexp": _flag("extended"),
    "-F": _flag("fixed"), "--fixed-strings": _flag("fixed"),
    "-P": _flag("perl"), "--perl-regexp": _flag("perl"),
    "--basic-regexp": _flag("extended", False),
    "--not": _not,
    "--no-expand-tabs": _flag("expand_tabs", 0),
    "-q": _flag("quiet"), "--quiet": _flag("quiet"),
    "--cherry-pick": _flag("cherry", "pick"), "--cherry-mark": _flag("cherry", "mark"),
    "--left-only": _flag("other", {"side": "left"}),
    "--right-only": _flag("other", {"side": "right"}),
    "--reverse": _walk("reverse"), "--first-parent": _walk("first_parent"),
    "--topo-order": _walk("order", "topo"), "--date-order": _walk("order", "date-topo"),
    "--author-date-order": _walk("order", "author-topo"),
    "--merges": _walk("least_parents", 2), "--no-merges": _walk("most_parents", 1),
    "--no-min-parents": _walk("least_parents", 0), "--no-max-parents": _walk("most_parents", None),
    "--full-history": _walk("full_history"), "--dense": _walk("dense"),
    "--sparse": _walk("dense", False), "--boundary": _walk("boundary"),
    "--no-walk": _walk("no_walk"), "--no-walk=sorted": _walk("no_walk"),
    "--no-walk=unsorted": _walk("no_walk"), "--do-walk": _walk("no_walk", False),
    "--ancestry-path": _walk("ancestry"), "--simplify-merges": _refused("--simplify-merges"),
    "--simplify-by-decoration": _flag("other", {"decorated": "1"}),
    "-m": _merges("separate"), "-c": _merges("c"), "--cc": _merges("cc"),
    "--no-diff-merges": _merges("off"),
    "--show-signature": _refused("--show-signature"), "--no-show-signature": lambda line: None,
    "--no-notes": lambda line: line.notes.hide(),
    "--standard-notes": lambda line: line.notes.show(None),
    "--no-standard-notes": _no_standard_notes,
    "--no-commit-id": lambda line: None, "--ignore-missing": lambda line: None,
}  # fmt: skip
_VALUED: dict[str, Callable[[LogWords, str], None]] = {
    "--max-count": lambda line, text: setattr(line.walk, "most", line._number(text, "")),
    "--skip": _skip, "--since": _since, "--after": _since, "--until": _until, "--before": _until,
    "--since-as-filter": _since,
    "--max-age": lambda line, text: setattr(line.walk, "since", int(text) if text.isdigit() else 0),
    "--min-age": lambda line, text: setattr(line.walk, "until", int(text) if text.isdigit() else 0),
    "--min-parents": _number_of("least_parents"), "--max-parents": _number_of("most_parents"),
    "--author": lambda line, text: line.authors.append(text),
    "--committer": lambda line, text: line.committers.append(text),
    "--grep": lambda line, text: line.greps.append(text),
    "--date": lambda line, text: setattr(line, "date", text),
    "--glob": _glob,
    "--exclude": lambda line, text: line.excluded_refs.append(text),
    "--decorate-refs": lambda line, text: line.decorate_refs.append(text),
    "--decorate-refs-exclude": lambda line, text: line.decorate_excludes.append(text),
    "--diff-merges": _diff_merges,
    "--encoding": _encoding,
}  # fmt: skip
_OPTIONAL: dict[str, Callable[[LogWords, str | None], None]] = {
    "--pretty": _pretty, "--format": _pretty,
    "--all": _refs(""), "--branches": _refs("refs/heads/"), "--tags": _refs("refs/tags/"),
    "--remotes": _refs("refs/remotes/"),
    "--decorate": lambda line, value: setattr(line, "decorate", value or "short"),
    "--abbrev": _abbrev,
    "--notes": lambda line, value: line.notes.show(value),
    "--show-notes": _show_notes,
    "--expand-tabs": lambda line, value: setattr(
        line, "expand_tabs", int(value) if value and value.isdigit() else 8),
    "--show-linear-break": lambda line, value: None,
}  # fmt: skip


def _printer(line: LogWords) -> LogPrinter:
    """Return what prints the commits of a command line."""
    git = line.git
    style = None
    if line.date:
        style = parse_style(line.date)
        if style is None:
            raise Fatal(f"unknown date format {line.date}")
    color = wants_color(
        git, line.options.color or git.config.get("color.diff", git.config.get("color.ui", "auto"))
    )
    printer = LogPrinter(
        git,
        line.walk,
        line.options,
        format=line.format,
        user_format=line.user_format,
        terminates=line.terminates,
        date=style,
        color=color,
    )
    printer.abbreviates = line.abbrev_commit or git.config.flag("log.abbrevcommit")
    if line.abbrev is not None:
        printer.pretty.abbrev = line.abbrev
        printer.length = line.abbrev
    printer.shows_parents = line.parents
    printer.left_right = line.left_right
    line.walk.marks_sides = line.left_right
    printer.merges = line.merges
    printer.tabs = line.expand_tabs
    decorate = line.decorate or git.config.get("log.decorate", "auto")
    if decorate == "auto":
        decorate = "short" if git.is_terminal() else "no"
    if decorate in ("true", "yes"):
        decorate = "short"
    printer.pretty.full = decorate == "full"
    printer.decorate = "" if decorate in ("no", "false") else decorate
    if line.decorate_refs or line.decorate_excludes:
        printer.filter_decorations(line.decorate_refs, line.decorate_excludes)
    printer.source = line.source
    printer.pretty.uses_mailmap = line.mailmap
    if line.encoding is not None:
        printer.encoding = "" if line.encoding == "none" else line.encoding
    if line.source or "%S" in line.user_format:
        printer.pretty.source = _sources(line)
    printer.pretty.describe = lambda oid, options: _described(git, oid, options)
    printer.take_notes(line.notes, given=line.pretty_given or line.name == "rev-list")
    if line.graph:
        from agentsandbox.git.graph import Graph

        if line.walk.reverse:
            raise Fatal("options '--reverse' and '--graph' cannot be used together")
        printer.graph = Graph(line.walk, color=color)
    return printer


def _sources(line: LogWords) -> Callable[[str], str]:
    """Return by which name of the command line each commit was reached."""
    found: dict[str, str] = {}
    repository = line.repository
    for text, oid, excluded in line.revisions.given:
        peeled = repository.objects.peel(oid, "commit")
        if peeled is not None and not excluded:
            found.setdefault(peeled, text)
    probe = Walk(repository)
    probe.tips, probe.hidden = line.walk.tips, line.walk.hidden
    for oid in probe.run():
        name = found.setdefault(oid, "HEAD")
        for parent in repository.parents(oid):
            found.setdefault(parent, name)
    return lambda oid: found.get(oid, "")


_DESCRIBE = re.compile(r"tags(?:=(?:true|false|1|0|yes|no|on|off)?)?|abbrev=[0-9]{1,3}|"
                       r"(?:match|exclude)=[^,]*+")  # fmt: skip


def _described(git: Invocation, oid: str, options: str) -> str | None:
    """Return %(describe:OPTIONS) of a commit, "" without a name."""
    from agentsandbox.git.commands.naming import describe

    words = []
    for option in options.split(",") if options else []:
        if not _DESCRIBE.fullmatch(option):
            return None
        name, _, value = option.partition("=")
        if name == "tags":
            words += ["--tags"] * (value not in ("false", "0", "no", "off"))
        else:
            words.append(f"--{option}")
    child = git.child(quiet=True)
    try:
        describe(child, [*words, oid])
    except GitError:
        return ""
    child.flush()
    return decode(b"".join(child.sink or [])).strip()


def log(git: Invocation, words: list[str]) -> int:
    line = LogWords(git, "log")
    format = git.config.get("format.pretty")
    if format:
        line.set_format(format)
    line.date = git.config.get("log.date")
    line.read(words)
    return _run_log(git, line)


def _run_log(git: Invocation, line: LogWords) -> int:
    line.options.configure(git)
    if line.quiet:
        line.options.formats.clear()
    if line.other.get("implied_patch") and not line.options.formats:
        line.options.formats.add("patch")
    if line.follow and len(line.paths) != 1:
        raise Fatal("--follow requires exactly one pathspec")
    line.prepare()
    printer = _printer(line)
    if line.reflogs:
        return _walk_reflogs(git, line, printer)
    if line.cherry or line.other:
        _select_sides(line)
    if line.follow:
        walk = line.walk
        path = walk.paths.items[0].path.rstrip(b"/") if walk.paths is not None else b""
        walk.paths = None
        most, skip, walk.most, walk.skip = walk.most, walk.skip, None, 0
        stop = None if most is None else most + skip
        printer.show_all(islice(printer.follow(walk.run(), path), skip, stop))
        return 0
    printer.show_all(line.walk.run())
    return 1 if line.options.exit_code and printer.found else 0


def _select_sides(line: LogWords) -> None:
    """Leave out one side of A...B, commits with equal patches, or those without a reference."""
    walk = line.walk
    side = line.other.get("side")
    before = walk.accepts
    equal: set[str] = set()
    if line.cherry:
        from agentsandbox.git.patch_ids import equal_patches

        probe = Walk(line.repository)
        probe.tips, probe.hidden, probe.left = walk.tips, walk.hidden, set(walk.left)
        commits = list(probe.run())
        equal = equal_patches(line.repository, commits, probe.left)
    decorated: set[str] | None = None
    if line.other.get("decorated"):
        from agentsandbox.git.pretty import find_decorations

        decorated = set(find_decorations(line.repository))

    def accepts(oid: str) -> bool:
        if side == "left" and oid not in walk.left:
            return False
        if side == "right" and oid in walk.left:
            return False
        if line.cherry == "pick" and oid in equal:
            return False
        if decorated is not None and oid not in decorated:
            return False
        return before is None or before(oid)

    walk.accepts = accepts
    line.other["equal"] = " ".join(equal)


def _walk_reflogs(git: Invocation, line: LogWords, printer: LogPrinter) -> int:
    from agentsandbox.git.reflogs import walk_reflog

    return walk_reflog(
        git, line.reflog_names, printer, most=line.walk.most, skip=line.walk.skip,
        explicit_date=bool(line.date) and line.date != git.config.get("log.date"),
        accepts=line.walk.accepts,
    )  # fmt: skip


def whatchanged(git: Invocation, words: list[str]) -> int:
    line = LogWords(git, "whatchanged")
    line.read(words)
    if not line.options.formats:
        line.options.formats.add("raw")
    return _run_log(git, line)


def show(git: Invocation, words: list[str]) -> int:
    line = LogWords(git, "show")
    format = git.config.get("format.pretty")
    if format:
        line.set_format(format)
    line.date = git.config.get("log.date")
    line.walk.no_walk = True
    line.merges = "cc"
    line.read(words)
    options = line.options
    options.configure(git)
    if line.quiet:
        options.no_patch = True
        options.formats.clear()
    if not options.formats and not options.no_patch:
        options.formats.add("patch")
    given = list(line.revisions.given)
    if not given and not line.revisions.any:
        head = git.repository.head()
        if head is None:
            branch = git.repository.branch().removeprefix("refs/heads/")
            raise Fatal(f"your current branch '{branch}' does not have any commits yet")
        line.revisions.add("HEAD")
        given = list(line.revisions.given)
    if any(excluded for _, _, excluded in given) and len(given) > 1:
        line.walk.no_walk = False
        line.prepare()
        printer = _printer(line)
        printer.always = True
        printer.show_all(line.walk.run())
        return 0
    line.prepare()
    printer = _printer(line)
    printer.always = True
    shower = _Shower(git, printer)
    for text, oid, _ in given:
        shower.show(text, oid)
    return 0


class _Shower:
    """Shows objects of all types, with blank lines where git has them."""

    def __init__(self, git: Invocation, printer: LogPrinter) -> None:
        self.git = git
        self.printer = printer

    def show(self, text: str, oid: str) -> None:
        git, printer = self.git, self.printer
        objects = git.repository.objects
        kind = objects.type_of(oid)
        if kind == "commit":
            printer.show(oid)
        elif kind == "tag":
            tag = objects.tag(oid)
            if printer.shown_one:
                git.print()
            printer.shown_one = True
            color = printer.pretty.color
            head = f"tag {decode(tag.name)}"
            git.print(f"\x1b[33m{head}\x1b[m" if color else head)
            from agentsandbox.git.pretty import Person

            if tag.tagger:
                person = Person(tag.tagger)
                git.print(f"Tagger: {person.name} <{person.mail}>")
                git.print(f"Date:   {printer.pretty.date(person)}")
            git.print()
            git.write(tag.message)
            self.show(text, tag.object)
        elif kind == "tree":
            if printer.shown_one:
                git.print()
            head = f"tree {text}"
            git.print(f"\x1b[33m{head}\x1b[m\n" if printer.pretty.color else f"{head}\n")
            printer.shown_one = True
            from agentsandbox.git.paths import quote_path

            for name, mode, _ in objects.tree(oid):
                slash = "/" if kind_of_mode(mode) == "tree" else ""
                git.print(quote_path(name) + slash)
        else:
            git.write(objects.blob(oid))


def rev_list(git: Invocation, words: list[str]) -> int:
    # long: the forms of the output
    line = LogWords(git, "rev-list")
    line.default_head = False
    line.read(words)
    if not line.revisions.any and not line.stdin:
        raise BadUsage
    line.options.configure(git, porcelain=False)
    line.prepare()
    walk = line.walk
    if line.cherry or line.other:
        _select_sides(line)
    commits = walk.run()
    if line.quiet:
        for _ in commits:
            pass
        return 0
    if line.count:
        found = list(commits)
        if line.left_right:
            left = sum(oid in walk.left for oid in found)
            git.print(f"{left}\t{len(found) - left}")
        else:
            git.print(str(len(found)))
        return 0
    if line.format:
        printer = _printer(line)
        printer.rev_list = True
        printer.terminates = True
        printer.options.formats.clear()
        printer.show_all(commits)
        return 0
    children: dict[str, list[str]] = {}
    listed = list(commits) if line.children or line.objects or walk.boundary else None
    if line.children and listed is not None:
        for oid in listed:
            for parent in walk.parents.get(oid, git.repository.parents(oid)):
                children.setdefault(parent, []).insert(0, oid)
    graph = None
    if line.graph:
        from agentsandbox.git.graph import Graph

        graph = Graph(walk, color=False)
    del graph
    for oid in listed if listed is not None else commits:
        git.print(_rev_list_line(git, line, oid, children))
    if line.objects and listed is not None:
        _print_objects(git, listed, walk.hidden)
    return 0


def _rev_list_line(
    git: Invocation, line: LogWords, oid: str, children: dict[str, list[str]]
) -> str:
    walk = line.walk
    mark = ""
    if oid in walk.boundaries:
        mark = "-"
    elif line.left_right:
        mark = "<" if oid in walk.left else ">"
    elif line.cherry == "mark":
        mark = "=" if oid in line.other.get("equal", "").split() else "+"

    def short(name: str) -> str:
        return git.repository.short(name, line.abbrev) if line.abbrev_commit else name

    text = mark + short(oid)
    if line.timestamp:
        text = f"{git.repository.objects.commit(oid).time} {text}"
    if line.parents:
        parents = walk.parents.get(oid, git.repository.parents(oid))
        text += "".join([f" {short(parent)}" for parent in parents])
    if line.children:
        text += "".join([f" {short(child)}" for child in children.get(oid, ())])
    return text


def _print_objects(git: Invocation, commits: list[str], hidden: list[str]) -> None:
    objects = git.repository.objects
    seen: set[str] = set()
    for commit in hidden:
        pending = [objects.commit(commit).tree]
        while pending:
            tree = pending.pop()
            if tree in seen:
                continue
            seen.add(tree)
            for _, mode, oid in objects.tree(tree):
                if kind_of_mode(mode) == "tree":
                    pending.append(oid)
                else:
                    seen.add(oid)

    def walk(tree: str, base: bytes) -> None:
        if tree in seen:
            return
        seen.add(tree)
        git.write(encode(f"{tree} ") + base.rstrip(b"/") + b"\n")
        for name, mode, oid in objects.tree(tree):
            kind = kind_of_mode(mode)
            if kind == "tree":
                git.budget.nested(partial(walk, oid, base + name + b"/"))
            elif kind == "blob" and oid not in seen:
                seen.add(oid)
                if oid not in objects:
                    raise Fatal(f"missing blob object '{oid}'")
                git.write(encode(f"{oid} ") + base + name + b"\n")

    for commit in commits:
        walk(objects.commit(commit).tree, b"")


def reflog(git: Invocation, words: list[str]) -> int:
    if words[:1] == ["exists"]:
        if len(words) != 2:
            raise BadUsage
        refs = git.repository.refs
        return 0 if git.fs.is_file(refs.log_path(words[1])) else 1
    if words[:1] in (["expire"], ["delete"]):
        from agentsandbox.git.commands.expiring import change_reflogs

        return change_reflogs(git, words[0], words[1:])
    line = LogWords(git, "log")
    line.reflogs = True
    line.set_format("oneline")
    line.abbrev_commit = True
    line.date = git.config.get("log.date")
    line.read(words[1:] if words[:1] == ["show"] else words)
    return _run_log(git, line)


COMMANDS = {
    "reflog": reflog,
    "log": log,
    "show": show,
    "rev-list": rev_list,
    "whatchanged": whatchanged,
}
