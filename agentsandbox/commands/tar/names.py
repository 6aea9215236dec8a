"""Names in archives: made safe, transformed, chosen and excluded."""

from __future__ import annotations

import re

from agentsandbox.commands._text.quoting import quote_as
from agentsandbox.errors import UsageError
from agentsandbox.kernel.patterns.filenames import compile_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentsandbox.kernel.budget import Budget
    from agentsandbox.kernel.patterns.filenames import ExtendedGlob
    from agentsandbox.kernel.regexps import PosixRegex

VCS = (
    "CVS RCS SCCS .git .gitignore .gitattributes .gitmodules .cvsignore .svn .arch-ids {arch} "
    "=RELEASE-ID =meta-update =update .bzr .bzrignore .bzrtags .hg .hgignore .hgtags _darcs"
).split()
"""What --exclude-vcs leaves out."""


def show(name: str) -> str:
    """Return a name as listings show it."""
    return name if name.isprintable() and "\\" not in name else quote_as(name, "escape")


def show_in_message(name: str) -> str:
    """Return a name as messages show it, its colons escaped."""
    return show(name).replace(":", "\\:")


class SafeNames:
    """Removes what leads out of the directory: leading slashes, all up to the last ".."."""

    def __init__(self, warn: Callable[[str], None], absolute: bool) -> None:
        self._warn = warn
        self._absolute = absolute
        self._warned: set[tuple[str, bool]] = set()

    def strip(self, name: str, *, is_link: bool = False) -> str:
        """Return the safe part of a name or hard link; warn once of each removed prefix."""
        if self._absolute:
            return name
        prefix = 0
        at = 0
        for part in name.split("/"):
            at += len(part) + 1
            if part == "..":
                prefix = min(at, len(name))
        while name[prefix : prefix + 1] == "/":
            prefix += 1
        if not name:
            what = "hard link target" if is_link else "member name"
            self._warn(f"Substituting `.' for empty {what}")
        if not prefix:
            return name or "."
        removed = name[:prefix]
        if (removed, is_link) not in self._warned:
            self._warned.add((removed, is_link))
            what = "hard link targets" if is_link else "member names"
            self._warn(f"Removing leading `{show(removed)}' from {what}")
        return name[prefix:] or "."


def strip_components(name: str, count: int) -> str:
    """Return the name without its first `count` directories, "" if nothing is left."""
    for _ in range(count):
        found = re.match(r"[^/]*/+", name)
        if found is None:
            return ""
        name = name[found.end() :]
    return name


def _variants(name: str) -> Sequence[str]:
    """Return the directories above a name, the outermost first, and the name."""
    name = name.rstrip("/")
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


class Exclusions:
    """The patterns of --exclude. A pattern matches a name or a directory above it; one that is not
    anchored may begin after any "/".
    """

    def __init__(self) -> None:
        self._patterns: list[tuple[re.Pattern[str] | ExtendedGlob, bool]] = []
        self._names: dict[str, bool] = {}
        """Patterns without special characters, and whether each is anchored."""

    def add(self, pattern: str, *, anchored: bool) -> None:
        """Add a pattern."""
        if not re.search(r"[*?\[\\]", pattern):
            self._names[pattern] = anchored and self._names.get(pattern, True)
        else:
            self._patterns.append((compile_glob(pattern, extglob=False), anchored))

    def match(self, name: str, budget: Budget) -> bool:
        """Whether the name is excluded."""
        if not self._patterns and not self._names:
            return False
        whole = _variants(name)
        if self._names and any(self._has_name(variant) for variant in whole):
            return True
        for pattern, anchored in self._patterns:
            budget.step(len(whole))
            for variant in whole:
                if pattern.match(variant):
                    return True
                if not anchored and any(
                    pattern.match(variant[at.end() :]) for at in re.finditer("/", variant)
                ):
                    return True
        return False

    def _has_name(self, name: str) -> bool:
        """Whether a pattern without special characters is the name, or its end if not anchored."""
        if name in self._names:
            return True
        return any(
            self._names.get(name[at.end() :], True) is False for at in re.finditer("/", name)
        )


class Choice:
    """The operands of -t and -x, and the members that they choose."""

    def __init__(self, names: Sequence[str], *, wildcards: bool, alone: frozenset[int]) -> None:
        self.names = [name.rstrip("/") or name for name in names]
        self._shown = list(names)
        self._wildcards = wildcards
        self._patterns = (
            [compile_glob(name, extglob=False) for name in self.names] if wildcards else []
        )
        self._exact = {} if wildcards else {name: at for at, name in enumerate(self.names)}
        self._alone = alone
        """Operands that do not choose what is below them (--no-recursion)."""
        self._found = [False] * len(names)
        self.last = -1
        """The operand that chose the last member."""

    def match(self, name: str) -> bool:
        """Whether the member is chosen; every member is when there is no operand."""
        if not self.names:
            return True
        chosen = False
        variants = _variants(name)
        for variant in variants:
            below = variant is not variants[-1]
            for at in self._matching(variant):
                if not (below and at in self._alone):
                    self.last, self._found[at], chosen = at, True, True
        return chosen

    def _matching(self, name: str) -> list[int]:
        """Return the operands that match a name."""
        if self._wildcards:
            return [at for at, pattern in enumerate(self._patterns) if pattern.match(name)]
        at = self._exact.get(name)
        return [] if at is None else [at]

    def missing(self) -> list[str]:
        """Return the operands that matched no member."""
        return [name for name, found in zip(self._shown, self._found, strict=True) if not found]

    def looks_like_pattern(self) -> bool:
        """Whether an operand contains wildcards without --wildcards."""
        return not self._wildcards and any(re.search(r"[*?\[]", name) for name in self.names)


class _Replacement:
    """One `s/REGEXP/REPLACEMENT/FLAGS`."""

    def __init__(self, regex: PosixRegex, parts: list[str | int], flags: str, number: int) -> None:
        self.regex = regex
        self.parts = parts
        self.every = "g" in flags
        self.kinds = {kind for kind in "rsh" if kind in flags} | {
            kind for kind in "rsh" if kind.upper() not in flags
        }
        self.number = number

    def apply(self, name: str, budget: Budget) -> str:
        pieces: list[str] = []
        end = count = 0
        for found in self.regex.finditer(name, 0, budget):
            count += 1
            if count < self.number:
                continue
            pieces.append(name[end : found.start()])
            for part in self.parts:
                pieces.append(part if isinstance(part, str) else found.group(part) or "")
            end = found.end()
            if not self.every:
                break
        pieces.append(name[end:])
        return "".join(pieces)


class Transformation:
    """`--transform`: sed's replacements, applied to every name."""

    def __init__(self) -> None:
        self._replacements: list[_Replacement] = []

    def add(self, text: str) -> None:
        """Add one or several replacements, separated by ";"."""
        at = 0
        while at < len(text):
            at = self._read(text, at)
            if text[at : at + 1] == ";":
                at += 1

    def _read(self, text: str, at: int) -> int:
        from agentsandbox.kernel.regexps import (  # only --transform needs them
            RegexError,
            compile_posix,
        )

        invalid = UsageError("Invalid transform expression", 2)
        if text[at] != "s" or len(text) < at + 2:
            raise invalid
        mark = re.escape(text[at + 1])
        part = rf"((?:\\.|(?!{mark})[^\\])*){mark}"
        found = re.compile(rf"s{mark}{part}{part}([gixrRsShH0-9]*)", re.DOTALL).match(text, at)
        if found is None:
            raise invalid
        pattern, replacement, flags = found.groups()
        pattern = pattern.replace("\\" + text[at + 1], text[at + 1])
        try:
            regex = compile_posix(pattern, extended="x" in flags, ignore_case="i" in flags)
        except RegexError as error:
            raise UsageError(f"Invalid transform expression: {error.message}", 2) from None
        digits = re.sub("[^0-9]", "", flags)[:6]
        self._replacements.append(
            _Replacement(regex, _parts(replacement, text[at + 1]), flags, int(digits or "1"))
        )
        return found.end()

    def apply(self, name: str, budget: Budget, kind: str = "r") -> str:
        """Return the new name; `kind` is r for members, s and h for targets of links."""
        for replacement in self._replacements:
            if kind in replacement.kinds:
                name = replacement.apply(name, budget)
        return name


def _parts(text: str, mark: str) -> list[str | int]:
    """Return a replacement as text and group numbers."""
    parts: list[str | int] = []
    for token in re.findall(r"\\.|&|[^\\&]+", text, re.DOTALL):
        if token == "&":
            parts.append(0)
        elif token[0] != "\\":
            parts.append(token)
        elif token[1] == mark:
            parts.append(mark)
        elif token[1].isdecimal():
            parts.append(int(token[1]))
        elif token[1] in "LUluE":
            raise UsageError(f"Invalid transform expression: {token} is not available here", 2)
        else:
            parts.append({"n": "\n", "t": "\t"}.get(token[1], token[1]))
    return parts
