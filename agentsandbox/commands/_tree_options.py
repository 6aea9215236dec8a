"""The options of `tree`, which are parsed in its own way: letters in clusters, values in the next word."""

from __future__ import annotations

from agentsandbox.errors import CommandError
from agentsandbox.globs import compile_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentsandbox.globs import GlobMatcher

__all__ = ["TreeOptions"]

_USAGE_LINE = "usage: tree [OPTION]... [DIRECTORY]...; see tree --help"
_FLAGS = {
    "a": "all", "d": "directories_only", "f": "full_path", "l": "follow", "i": "no_indent", "p": "permissions", "u": "user",
    "g": "group", "s": "sizes", "D": "times", "F": "classify", "q": "question_marks", "N": "raw_names", "Q": "quotes",
    "C": "colors", "r": "reverse",
}  # fmt: skip
_FORMS = {"J": "json", "X": "xml", "H": "html"}
_SORTS = {"v": "version", "U": "none"}
_LONG_FLAGS = {
    "noreport": "no_report", "dirsfirst": "directories_first", "filesfirst": "files_first", "matchdirs": "match_directories",
    "ignore-case": "ignore_case", "prune": "prune", "inodes": "inodes", "metafirst": "facts_first", "du": "usage",
    "gitignore": "git_ignore", "fromfile": "from_file", "info": "info", "device": "device", "nolinks": "no_links", "fflinks": "link_lines",
}  # fmt: skip
_LONG_VALUES = ("sort", "timefmt", "charset", "gitfile", "infofile", "filelimit", "hintro", "houtro")
_SORT_NAMES = ("name", "version", "mtime", "ctime", "size", "none")


class TreeOptions:
    """Every option as an attribute of a plain name; `given` holds those that are just on or off."""

    def __init__(self, words: Sequence[str]) -> None:
        self.operands: list[str] = []
        self.given: set[str] = set()
        self.level = 0
        self.file_limit = 0
        self.time_format = ""
        self.output: str | None = None
        self.sort = "name"
        self.human = self.si = self.use_ctime = False
        self.charset: str | None = None
        self.ansi = False
        self.form = ""
        """"json", "xml" or "html"; a drawing if empty."""
        self.base = ""
        """What the addresses in HTML begin with."""
        self.title = "Directory Tree"
        self.intro: str | None = None
        self.outro: str | None = None
        self.info_files: list[str] = []
        self.plain = False
        self.ignore_files: list[str] = []
        self._patterns: list[str] = []
        self._ignored: list[str] = []
        self._words = list(words)
        self._position = 0
        self._parse()
        if "again" in self.given and self.level:  # it would write a page of HTML into each directory
            raise CommandError(f"Invalid argument -`R'.\n{_USAGE_LINE}")
        self.all = "all" in self.given
        self.directories_only = "directories_only" in self.given
        self.full_path = "full_path" in self.given
        self.follow = "follow" in self.given
        self.no_indent = "no_indent" in self.given
        self.permissions = "permissions" in self.given
        self.user = "user" in self.given
        self.group = "group" in self.given
        self.usage = "usage" in self.given
        self.sizes = "sizes" in self.given or self.human or self.usage
        self.times = "times" in self.given
        self.classify = "classify" in self.given and not self.directories_only
        self.question_marks = "question_marks" in self.given
        self.raw_names = "raw_names" in self.given
        self.quotes = "quotes" in self.given
        self.colors = "colors" in self.given
        self.reverse = "reverse" in self.given
        self.info = "info" in self.given or bool(self.info_files)
        self.device = "device" in self.given
        self.links = "no_links" not in self.given
        self.link_lines = "link_lines" in self.given
        self.report = "no_report" not in self.given
        self.directories_first = "directories_first" in self.given
        self.files_first = "files_first" in self.given
        self.match_directories = "match_directories" in self.given
        self.prune = "prune" in self.given
        self.inodes = "inodes" in self.given
        self.facts_first = "facts_first" in self.given
        self.git_ignore = "git_ignore" in self.given or bool(self.ignore_files)
        self.from_file = "from_file" in self.given
        self.ignore_case = "ignore_case" in self.given
        self.patterns = _compile(self._patterns, ignore_case=self.ignore_case)
        self.ignored = _compile(self._ignored, ignore_case=self.ignore_case)

    def _parse(self) -> None:
        options = True
        while self._position < len(self._words):
            word = self._words[self._position]
            self._position += 1
            if options and word == "--":
                options = False
            elif options and word.startswith("--"):
                self._long(word[2:])
            elif options and word.startswith("-") and len(word) > 1:
                self._cluster(word)
            else:
                self.operands.append(word)

    def _next(self, option: str) -> str:
        if self._position >= len(self._words):
            raise CommandError(f"Missing argument to {option}{'' if option.startswith('--') else ' option.'}")
        self._position += 1
        return self._words[self._position - 1]

    def _cluster(self, word: str) -> None:
        for letter in word[1:]:
            if letter in _FLAGS:
                self.given.add(_FLAGS[letter])
            elif letter == "L":
                self._read_level(self._next("-L"))
            elif letter in "PI":
                (self._patterns if letter == "P" else self._ignored).append(self._next(f"-{letter}"))
            elif letter == "o":
                self.output = self._next("-o")
            elif letter == "h":
                self.human = True
            elif letter in _SORTS:
                self.sort = _SORTS[letter]
            elif letter in "tc":
                self.sort = "mtime" if letter == "t" else "ctime"
                self.use_ctime = self.use_ctime or letter == "c"
            elif letter == "n":
                self.given.discard("colors")
                self.plain = True
            elif letter == "A":
                self.ansi = True
            elif letter == "S":
                self.charset = "IBM437"
            elif letter in _FORMS:
                self.form = _FORMS[letter]
                if letter == "H":
                    base = self._next("-H")
                    self.base = base[:-1] if len(base) > 1 and base.endswith("/") else base
            elif letter == "T":
                self.title = self._next("-T")
            elif letter == "R":
                self.given.add("again")
            elif letter != "x":  # there is one filesystem
                raise CommandError(f"Invalid argument -`{letter}'.\n{_USAGE_LINE}")

    def _read_level(self, text: str) -> None:
        digits = len(text) - len(text.lstrip("0123456789"))
        self.level = int(text[: min(digits, 9)] or 0)
        if self.level < 1:
            raise CommandError("Invalid level, must be greater than 0.")

    def _long(self, text: str) -> None:
        name, equals, value = text.partition("=")
        if name in _LONG_FLAGS and not equals:
            if name in ("dirsfirst", "filesfirst"):
                self.given -= {"directories_first", "files_first"}
            self.given.add(_LONG_FLAGS[name])
        elif name == "si":
            self.human = self.si = True
        elif name in _LONG_VALUES:
            if equals and not value:
                raise CommandError(f"Missing argument to --{name}=")
            self._long_value(name, value if equals else self._next(f"--{name}"))
        else:
            raise CommandError(f"Invalid argument `--{text}'.\n{_USAGE_LINE}")

    def _long_value(self, name: str, value: str) -> None:
        if name == "sort":
            self.sort = value
            if self.sort not in _SORT_NAMES:
                listed = ",".join(_SORT_NAMES)
                raise CommandError(f"Sort type '{self.sort}' not valid, should be one of: {listed}")
        elif name in ("gitfile", "infofile"):
            (self.ignore_files if name == "gitfile" else self.info_files).append(value)
        elif name == "filelimit":
            self.file_limit = int(value) if value.isascii() and value.isdecimal() and len(value) < 10 else 0
        elif name == "timefmt":
            self.time_format = value
            self.given.add("times")
        elif name == "charset":
            self.charset = value
        elif name == "hintro":
            self.intro = value
        else:
            self.outro = value


def _compile(patterns: list[str], *, ignore_case: bool) -> list[tuple[GlobMatcher, bool]]:
    """(matcher, whether for directories alone) of each alternative."""
    compiled: list[tuple[GlobMatcher, bool]] = []
    for pattern in patterns:
        for alternative in pattern.split("|"):
            only_directories = alternative.endswith("/")
            text = alternative.rstrip("/")
            compiled.append((compile_glob(text, ignore_case=ignore_case, extglob=False), only_directories))
    return compiled
