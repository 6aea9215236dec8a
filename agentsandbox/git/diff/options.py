"""The options that all commands with differences share: `-p`, `--stat`, `-M`, `-U3`, `-w` …"""

from __future__ import annotations

import re

from agentsandbox.git.diff.hunks import LineDiff
from agentsandbox.git.diff.renames import MOST
from agentsandbox.git.diff.xdiff import Whitespace
from agentsandbox.git.errors import BadUsage, Fatal
from agentsandbox.git.modules import checked_rule
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.git.invocation import Invocation

_FILTER = "ACDMRTUXB"
_SWITCHES: dict[str, tuple[str, object]] = {
    "--full-index": ("full_index", True),
    "--binary": ("binary", True),
    "-a": ("as_text", True), "--text": ("as_text", True),
    "-R": ("reverse", True),
    "-z": ("nul", True),
    "--exit-code": ("exit_code", True),
    "--quiet": ("quiet", True),
    "--no-ext-diff": ("external", False),
    "--no-textconv": ("textconv", False), "--textconv": ("textconv", True),
    "-W": ("whole_functions", True), "--function-context": ("whole_functions", True),
    "--no-function-context": ("whole_functions", False),
    "--no-renames": ("renames", 0),
    "--no-rename-empty": ("rename_empty", False), "--rename-empty": ("rename_empty", True),
    "-w": ("space", "all"), "--ignore-all-space": ("space", "all"),
    "-b": ("space", "change"), "--ignore-space-change": ("space", "change"),
    "--ignore-space-at-eol": ("space", "at_end"),
    "--ignore-cr-at-eol": ("space", "cr_at_end"),
    "--ignore-blank-lines": ("blank_lines", True),
    "--minimal": ("algorithm", "minimal"), "--patience": ("algorithm", "patience"),
    "--histogram": ("algorithm", "histogram"),
    "--indent-heuristic": ("indent", True), "--no-indent-heuristic": ("indent", False),
    "--no-abbrev": ("abbrev", 40),
    "--no-prefix": ("prefixes", ("", "")),
    "--default-prefix": ("prefixes", ("a/", "b/")),
    "--no-color": ("color", "never"),
    "--relative": ("relative", ""), "--no-relative": ("relative", None),
    "--pickaxe-all": ("pickaxe_all", True), "--pickaxe-regex": ("pickaxe_regex", True),
    "--find-copies-harder": ("renames", 3),
    "-D": ("irreversible", True), "--irreversible-delete": ("irreversible", True),
    "-c": ("combined", "c"), "--cc": ("combined", "cc"),
    "--compact-summary": ("compact_summary", True),
    "--ita-visible-in-index": ("intends_visible", True),
    "--no-indent": ("indent", False),
}  # fmt: skip
_FORMATS = {
    "-p": "patch", "-u": "patch", "--patch": "patch", "--raw": "raw", "--numstat": "numstat",
    "--shortstat": "shortstat", "--summary": "summary", "--name-only": "name-only",
    "--name-status": "name-status", "--check": "check",
}  # fmt: skip
_SYNTAXES = {
    "add": "A", "delete": "D",
}  # fmt: skip
_NUMBERED = {
    "--inter-hunk-context": "between", "--stat-width": "stat_width",
    "--stat-name-width": "stat_name_width", "--stat-graph-width": "stat_graph_width",
    "--stat-count": "stat_count",
}  # fmt: skip


class DiffOptions:
    """What is compared how, and printed how."""

    # long: one attribute for each option
    def __init__(self) -> None:
        self.formats: set[str] = set()
        self.no_patch = False
        self.context = 3
        self.between = 0
        self.whole_functions = False
        self.algorithm = "myers"
        self.indent = True
        self.space = ""
        self.spaces: set[str] = set()
        self.blank_lines = False
        self.anchors: list[bytes] = []
        self.renames = -1
        """0 no, 1 renames, 2 copies, 3 copies from unchanged files; -1 as configured."""
        self.least = MOST // 2
        self.rename_limit = -1
        self.rename_empty = True
        self.full_index = False
        self.binary = False
        self.as_text = False
        self.reverse = False
        self.nul = False
        self.exit_code = False
        self.quiet = False
        self.external = True
        self.textconv = True
        self.abbrev: int | None = None
        self.abbreviates = False
        """Whether the names of objects are to be short, with `abbrev` None: as usual."""
        self.prefixes: tuple[str, str] | None = None
        self.color = ""
        self.relative: str | None = None
        self.stat_width = self.stat_name_width = self.stat_graph_width = self.stat_count = 0
        self.compact_summary = False
        self.filter = ""
        self.pickaxe = ""
        self.pickaxe_kind = ""
        self.pickaxe_all = False
        self.pickaxe_regex = False
        self.irreversible = False
        self.combined = ""
        self.words = ""
        """"" or "plain", "color", "porcelain"."""
        self.word_pattern = ""
        self.output_indicators = (b"+", b"-", b" ")
        self.line_prefix = b""
        self.intends_visible = False
        self.order: list[str] = []
        self.output = ""
        self.submodule = ""
        """"short", "log" or "diff"; "" if the command line says nothing."""
        self.ignore_submodules = ""
        """"all", "dirty", "untracked" or "none"; "" if the command line says nothing."""
        self.ignore_matching: list[str] = []
        """Patterns of -I."""
        self._is_ignored: Callable[[bytes], bool] | None = None

    def take(self, word: str, following: Callable[[], str | None]) -> bool:
        """Take an option; return whether it is one. `following` returns and uses the next word."""
        if word in _FORMATS:
            self.formats.add(_FORMATS[word])
            if word in ("-p", "-u", "--patch"):
                self.no_patch = False
            return True
        if word in _SWITCHES:
            name, value = _SWITCHES[word]
            if name == "compact_summary":
                self.formats.add("stat")
            if name == "space":
                self.spaces.add(str(value))
            else:
                setattr(self, name, value)
            return True
        if word == "--ext-diff":
            raise Fatal("--ext-diff is not supported in this sandbox")
        if word.startswith("-I") and not word.startswith("--"):
            self.ignore_matching.append(word[2:] or following() or "")
            return True
        if word in ("-s", "--no-patch"):
            self.formats.clear()
            self.no_patch = True
            return True
        if word == "--patch-with-stat":
            self.formats |= {"patch", "stat"}
            return True
        if word == "--patch-with-raw":
            self.formats |= {"patch", "raw"}
            return True
        return self._take_valued(word, following)

    def _take_valued(self, word: str, following: Callable[[], str | None]) -> bool:
        name, equals, value = word.partition("=")

        def needed() -> str:
            if equals:
                return value
            found = following()
            if found is None:
                raise BadUsage(f"option `{name[2:]}' requires a value", usage=False)
            return found

        if name == "--unified" or (word.startswith("-U") and not word.startswith("--")):
            text = needed() if name == "--unified" else word[2:] or following() or ""
            if not text.isdigit() or len(text) > 9:
                raise BadUsage(
                    f"{'option `unified' if name == '--unified' else 'switch `U'}"
                    "' expects a numerical value",
                    usage=False,
                )
            self.context = int(text)
            self.formats.add("patch")
            return True
        if name in (
            "--stat",
            "--color",
            "--abbrev",
            "--relative",
            "--word-diff",
            "--color-words",
            "--find-renames",
            "--find-copies",
            "--color-moved",
            "--submodule",
            "--ignore-submodules",
        ):
            self._take_optional(name, value if equals else None)
            return True
        if name in _NUMBERED:
            text = needed()
            if not text.isdigit() or len(text) > 9:
                raise BadUsage(f"option `{name[2:]}' expects a numerical value", usage=False)
            setattr(self, _NUMBERED[name], int(text))
            if name.startswith("--stat"):
                self.formats.add("stat")
            return True
        if re.match(r"-[MC](?:\d|$)", word):
            self._take_renames(word[1], word[2:])
            return True
        if re.match(r"-l\d+\Z", word):
            self.rename_limit = int(word[2:12])
            return True
        if word[:2] in ("-S", "-G") and not word.startswith("--"):
            self.pickaxe_kind = word[1]
            self.pickaxe = word[2:] or following() or ""
            return True
        return self._take_named(name, needed)

    def _take_named(self, name: str, needed: Callable[[], str]) -> bool:
        if name == "--diff-algorithm":
            value = needed()
            names = {"default": "myers"}
            self.algorithm = names.get(value, value)
            if self.algorithm not in ("myers", "minimal", "patience", "histogram"):
                raise BadUsage(
                    'option diff-algorithm accepts "myers", "minimal", "patience" and "histogram"',
                    usage=False,
                )
        elif name == "--anchored":
            self.algorithm = "patience"
            self.anchors.append(encode(needed()))
        elif name == "--diff-filter":
            self._take_filter(needed())
        elif name == "--src-prefix":
            self.prefixes = (needed(), (self.prefixes or ("a/", "b/"))[1])
        elif name == "--dst-prefix":
            self.prefixes = ((self.prefixes or ("a/", "b/"))[0], needed())
        elif name == "--word-diff-regex":
            self.word_pattern = needed()
            self.words = self.words or "plain"
        elif name == "--line-prefix":
            self.line_prefix = encode(needed())
        elif name == "--ignore-matching-lines":
            self.ignore_matching.append(needed())
        elif name == "--output":
            self.output = needed()
        elif name in (
            "--output-indicator-new",
            "--output-indicator-old",
            "--output-indicator-context",
        ):
            at = ("new", "old", "context").index(name.rpartition("-")[2])
            signs = list(self.output_indicators)
            signs[at] = encode(needed())[:1]
            self.output_indicators = (signs[0], signs[1], signs[2])
        else:
            return False
        return True

    def _take_filter(self, value: str) -> None:
        for letter in value:
            if letter.upper() not in _FILTER + "*":
                raise BadUsage(
                    f"unknown change class '{letter}' in --diff-filter={value}", usage=False
                )
        if self.filter == "" and value[:1].islower():
            self.filter = "".join(each for each in "ACDMRTUXB")
        for letter in value:
            if letter.islower():
                self.filter = self.filter.replace(letter.upper(), "")
            else:
                self.filter += letter

    def _take_optional(self, name: str, value: str | None) -> None:
        if name == "--stat":
            self.formats.add("stat")
            parts = (value or "").split(",")
            for key, part in zip(
                ("stat_width", "stat_name_width", "stat_count"), parts, strict=False
            ):
                if part.isdigit():
                    setattr(self, key, int(part[:9]))
                elif part:
                    raise BadUsage(f"invalid --stat value: {value}", usage=False)
        elif name == "--color":
            self.color = value or "always"
            if self.color not in ("always", "never", "auto"):
                raise BadUsage('option `color\' expects "always", "auto", or "never"', usage=False)
        elif name == "--abbrev":
            self.abbreviates = True
            self.abbrev = max(4, min(40, int(value))) if value and value.isdigit() else None
        elif name == "--relative":
            self.relative = value or ""
        elif name in ("--word-diff", "--color-words"):
            kind = value or "plain"
            if name == "--color-words":
                self.words, self.color = "color", self.color or "always"
                self.word_pattern = value or self.word_pattern
            elif kind not in ("plain", "color", "porcelain", "none"):
                raise BadUsage(f"bad --word-diff argument: {kind}", usage=False)
            else:
                self.words = "" if kind == "none" else kind
                if kind == "color":
                    self.color = self.color or "always"
        elif name == "--color-moved":
            if value != "no":
                raise Fatal("--color-moved is not supported in this sandbox")
        elif name == "--submodule":
            self.submodule = "log" if value is None else value
            if self.submodule not in ("short", "log", "diff"):
                raise BadUsage(
                    f"failed to parse --submodule option parameter: '{value}'", usage=False
                )
        elif name == "--ignore-submodules":
            self.ignore_submodules = checked_rule("all" if value is None else value)
        else:
            self._take_renames("M" if name == "--find-renames" else "C", value or "")

    def _take_renames(self, letter: str, value: str) -> None:
        if letter == "C" and self.renames == 2:
            self.renames = 3
        else:
            self.renames = max(self.renames, 1 if letter == "M" else 2)
        if value:
            self.least = parse_score(value)

    # what follows

    def configure(self, git: Invocation, *, porcelain: bool = True) -> None:
        """Fill in what the configuration says and the command line does not."""
        config = git.config
        if porcelain and self.renames < 0:
            text = config.get("diff.renames", "true").lower()
            self.renames = (
                2 if text in ("copies", "copy") else int(config.flag("diff.renames", True))
            )
        self.renames = max(self.renames, 0)
        if not self.submodule:
            self.submodule = config.get("diff.submodule", "short") if porcelain else "short"
            if self.submodule not in ("short", "log", "diff"):
                git.warn(
                    f"Unknown value for 'diff.submodule' config variable: '{self.submodule}'"
                )
                self.submodule = "short"
        if self.ignore_matching:
            self._is_ignored = _matcher(self.ignore_matching, git)
        if self.rename_limit < 0:
            self.rename_limit = config.number("diff.renamelimit", 1000)
        if porcelain and self.context == 3 and config.find("diff.context"):
            self.context = config.number("diff.context", 3)
        if porcelain and self.between == 0:
            self.between = config.number("diff.interhunkcontext", 0)
        if self.algorithm == "myers" and config.get("diff.algorithm"):
            name = config.get("diff.algorithm")
            self.algorithm = "myers" if name == "default" else name
        if self.prefixes is None and porcelain and config.flag("diff.noprefix"):
            self.prefixes = ("", "")
        if not config.flag("diff.indentheuristic", True):
            self.indent = False

    def line_diff(self) -> LineDiff:
        """Return how lines are compared."""
        return LineDiff(
            algorithm=self.algorithm,
            whitespace=Whitespace(
                all="all" in self.spaces, change="change" in self.spaces,
                at_end="at_end" in self.spaces, cr_at_end="cr_at_end" in self.spaces,
                blank_lines=self.blank_lines,
            ),
            context=self.context,
            between=self.between,
            whole_functions=self.whole_functions,
            indent=self.indent,
            anchors=self.anchors,
            is_ignored=self._is_ignored,
        )  # fmt: skip

    def uses_color(self, git: Invocation) -> bool:
        """Whether the output has colours."""
        choice = self.color
        if not choice:
            choice = git.config.get("color.diff", git.config.get("color.ui", "auto"))
        return wants_color(git, choice)


def _matcher(patterns: list[str], git: Invocation) -> Callable[[bytes], bool]:
    """Return a test of whether a line matches one of the patterns of -I."""
    from agentsandbox.kernel.regexps import RegexError, compile_posix

    tests = []
    for pattern in patterns:
        try:
            tests.append(compile_posix(pattern, extended=True, newline_anchors=True))
        except RegexError:
            raise BadUsage(f"invalid regex given to -I: '{pattern}'", usage=False) from None

    def matches(line: bytes) -> bool:
        text = decode(line)
        return any(test.test(text, git.budget) for test in tests)

    return matches


def refuse_drivers(options: DiffOptions, git: Invocation) -> None:
    """Refuse a comparison that would need an external program of the configuration."""
    if "patch" not in options.formats:
        return
    for value in git.config.values:
        section, _, key = value.key.rpartition(".")
        if not section.startswith("diff"):
            continue
        if options.external and (value.key == "diff.external" or key == "command"):
            raise Fatal(f"{value.key} is not supported in this sandbox; use --no-ext-diff")
        if options.textconv and key == "textconv":
            raise Fatal(f"{value.key} is not supported in this sandbox; use --no-textconv")
    if options.external and git.env.get("GIT_EXTERNAL_DIFF"):
        raise Fatal("GIT_EXTERNAL_DIFF is not supported in this sandbox; use --no-ext-diff")


def wants_color(git: Invocation, choice: str) -> bool:
    """Whether a setting of colours means that the output has them."""
    if choice == "always":
        return True
    if choice in ("never", "false", "no", "off"):
        return False
    return git.is_terminal() and git.env.get("TERM", "dumb") != "dumb"


def parse_score(text: str) -> int:
    """Return a similarity such as "50%", "5" (50 %) or "075" in 60,000ths."""
    found = re.fullmatch(r"(\d{1,9})(?:\.(\d{1,9}))?(%?)", text)
    if found is None:
        raise BadUsage(f"invalid argument to find-renames: {text}", usage=False)
    digits, percent = found[1] + (found[2] or ""), bool(found[3])
    scale: int = 10 ** (len(found[2] or "") if percent else len(digits))
    if percent:
        scale *= 100
    return min(MOST, MOST * int(digits) // scale)
