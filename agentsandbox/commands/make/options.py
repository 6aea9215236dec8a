"""The options of one run of make, from the command line, the environment and the makefile."""

from __future__ import annotations

from agentsandbox.commands.make.variables import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.contract.command import Arguments

_LETTERS = {
    "always-make": "B", "environment-overrides": "e", "ignore-errors": "i", "keep-going": "k",
    "just-print": "n", "question": "q", "no-builtin-rules": "r", "no-builtin-variables": "R",
    "silent": "s", "touch": "t", "print-directory": "w",
}  # fmt: skip
"""The options that MAKEFLAGS has as letters."""
_KEYS = {letter: key for key, letter in _LETTERS.items()}
_MANY = 1000
"""How many recipes run at once for `-j` without a number."""
_MOST_JOBS = 64


class Options:
    """What the options say."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.switches: set[str] = set()
        self.goals: list[str] = []
        self.variables: list[tuple[str, str, str]] = []
        """(name, operator, value) of the command line."""
        self.makefiles: list[str] = []
        self.include_directories: list[str] = []
        self.evaluated: list[str] = []
        self.old_files: set[str] = set()
        self.new_files: set[str] = set()
        self.wanted_jobs = 1
        self.no_print_directory = self.warn_undefined = False
        self.just_print = self.question = self.touch = self.always_make = False
        self.silent = self.keep_going = self.ignore = False
        self.no_rules = self.no_variables = self.environment_overrides = False

    @property
    def jobs(self) -> int:
        """How many recipes run at once: a sandbox has a ceiling for its processes."""
        return min(self.wanted_jobs, _MOST_JOBS)

    @property
    def shows_directory(self) -> bool:
        """Whether make says which directory it enters."""
        if self.no_print_directory:
            return False
        return "print-directory" in self.switches or (self.level > 0 and not self.silent)

    def take(self, args: Arguments) -> None:
        """Take options of a command line, in order."""
        for key, value in args.given:
            self._take(key, value or "", has_value=value is not None)
        self._set_flags()

    def _take(self, key: str, value: str, *, has_value: bool) -> None:
        if key in _LETTERS:
            self.switches.add(key)
        elif key == "no-keep-going":
            self.switches.discard("keep-going")
        elif key == "no-silent":
            self.switches.discard("silent")
        elif key == "jobs":
            self.wanted_jobs = int(value) if has_value else _MANY
        elif key == "file":
            self.makefiles.append(value)
        elif key == "include-dir":
            self.include_directories.append(value)
        elif key == "eval":
            self.evaluated.append(value)
        elif key == "old-file":
            self.old_files.add(value)
        elif key == "what-if":
            self.new_files.add(value)
        elif key == "no-print-directory":
            self.no_print_directory = True
        elif key == "warn-undefined-variables":
            self.warn_undefined = True

    def _set_flags(self) -> None:
        has = self.switches.__contains__
        self.just_print, self.question, self.touch = (
            has("just-print"),
            has("question"),
            has("touch"),
        )
        self.always_make, self.silent = has("always-make"), has("silent")
        self.keep_going, self.ignore = has("keep-going"), has("ignore-errors")
        self.no_variables = has("no-builtin-variables")
        self.no_rules = has("no-builtin-rules") or self.no_variables
        self.environment_overrides = has("environment-overrides")

    def add_flags(self, text: str) -> None:
        """Take what MAKEFLAGS says: letters first, then options, then variables after `--`."""
        words = words_of(text)
        if words and not words[0].startswith("-") and "=" not in words[0]:
            words[0] = f"-{words[0]}"
        for word in words:
            if word == "--":
                break
            if word.startswith("-j") and word[2:].isdecimal():
                self.wanted_jobs = int(word[2:])
            elif word == "-j":
                self.wanted_jobs = _MANY
            elif word.startswith("--"):
                key = word[2:]
                aliases = {"quiet": "silent", "dry-run": "just-print", "recon": "just-print"}
                self._take(aliases.get(key, key), "", has_value=False)
            elif word.startswith("-"):
                for letter in word[1:]:
                    if letter in _KEYS:
                        self.switches.add(_KEYS[letter])
        self._set_flags()

    def letters(self) -> str:
        """Return the options that are letters."""
        return "".join([letter for key, letter in _ORDER if key in self.switches])

    def override_text(self) -> str:
        """Return the variables of the command line, as MAKEFLAGS has them."""
        return " ".join(
            [
                f"{name}{operator}{value}".replace("\\", "\\\\").replace(" ", "\\ ")
                for name, operator, value in reversed(self.variables)
            ]
        )

    def flags(self) -> str:
        """Return the value of MAKEFLAGS."""
        words = []
        if self.wanted_jobs > 1:
            words.append("-j" if self.wanted_jobs == _MANY else f"-j{self.wanted_jobs}")
        words += [f"-I{each}" for each in self.include_directories]
        if self.no_print_directory:
            words.append("--no-print-directory")
        if self.warn_undefined:
            words.append("--warn-undefined-variables")
        text = " ".join([self.letters(), *words]) if words else self.letters()
        overrides = self.override_text()
        return f"{text} -- {overrides}" if overrides else text


_ORDER = sorted(_LETTERS.items(), key=lambda each: "BeiknqrRstw".index(each[1]))
