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
    from agentsandbox.kernel.regexps import Match, PosixRegex

_VCS_NAMES = (
    "CVS RCS SCCS .git .gitignore .gitattributes .gitmodules .cvsignore .svn .arch-ids {arch} =RELEASE-ID =meta-update =update "
    ".bzr .bzrignore .bzrtags .hg .hgignore .hgtags _darcs"
)
_CASE = "\0"
"""Marks a change of case among the parts of a replacement: no name holds a NUL."""
VCS = _VCS_NAMES.split()
"""What --exclude-vcs leaves out."""


BACKUPS = (".#*", "*~", "#*#")
"""What --exclude-backups leaves out."""


def show(name: str) -> str:
    """A name as listings show it."""
    return name if name.isprintable() and "\\" not in name else quote_as(name, "escape")


def show_in_message(name: str) -> str:
    """A name as messages show it: a ":" in it is not the one after it."""
    return show(name).replace(":", "\\:")


class SafeNames:
    """Takes away what would lead out of the directory: "/" at the beginning, everything up to the
    last "..".
    """

    def __init__(self, warn: Callable[[str], None], absolute: bool) -> None:
        self._warn = warn
        self._absolute = absolute
        self._told: set[tuple[str, bool]] = set()

    def strip(self, name: str, *, is_link: bool = False) -> str:
        """The safe part of a member's name, or of a hard link's target."""
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
            self._warn(
                f"Substituting `.' for empty {'hard link target' if is_link else 'member name'}"
            )
        if not prefix:
            return name or "."
        shown = name[:prefix]
        if (shown, is_link) not in self._told:
            self._told.add((shown, is_link))
            self._warn(
                f"Removing leading `{show(shown)}' from {'hard link targets' if is_link else 'member names'}"
            )
        return name[prefix:] or "."


def strip_components(name: str, count: int) -> str | None:
    """The name without its first directories; None when nothing is left."""
    for _ in range(count):
        found = re.match(r"[^/]*/+", name)
        if found is None:
            return None
        name = name[found.end() :]
    return name or None


def _variants(name: str) -> Sequence[str]:
    """The name and each directory above it."""
    name = name.rstrip("/")
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


class Exclusions:
    """The patterns of --exclude: they match a name, or a directory above it; unless anchored, from
    any "/" on.
    """

    def __init__(self) -> None:
        self._patterns: list[tuple[re.Pattern[str] | ExtendedGlob | str, bool]] = []

    def add(
        self, pattern: str, *, anchored: bool, wildcards: bool, ignore_case: bool, match_slash: bool
    ) -> None:
        """One more pattern, with the matching options in force where it stands."""
        compiled: re.Pattern[str] | ExtendedGlob | str = pattern
        if wildcards or ignore_case:
            text = pattern if wildcards else re.sub(r"([*?\[\\])", r"\\\1", pattern)
            compiled = compile_glob(
                text, ignore_case=ignore_case, pathname=not match_slash, extglob=False
            )
        self._patterns.append((compiled, anchored))

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def match(self, name: str, budget: Budget) -> bool:
        """Whether the member is excluded."""
        if not self._patterns:
            return False
        whole = _variants(name)
        for pattern, anchored in self._patterns:
            budget.step(len(whole))
            for variant in whole:
                if _matches(pattern, variant):
                    return True
                if not anchored and any(
                    _matches(pattern, variant[at.end() :]) for at in re.finditer("/", variant)
                ):
                    return True
        return False


def _matches(pattern: re.Pattern[str] | ExtendedGlob | str, text: str) -> bool:
    return pattern == text if isinstance(pattern, str) else pattern.match(text) is not None


class Choice:
    """The operands of -t, -x and --delete: which members are meant, and which operands found
    none.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        wildcards: bool,
        anchored: bool,
        ignore_case: bool,
        alone: frozenset[int],
    ) -> None:
        self.names = [name.rstrip("/") or name for name in names]
        self._shown = list(names)
        self._patterns = [
            compile_glob(name, ignore_case=ignore_case, extglob=False) if wildcards else None
            for name in self.names
        ]
        self._anchored = anchored
        self._alone = alone
        """The names that do not stand for what is below them."""
        self._found = [False] * len(names)
        self.last = -1
        """Which operand the last member fitted."""
        self._exact = {name: at for at, name in enumerate(self.names)} if not wildcards else {}

    def match(self, name: str) -> bool:
        """Whether the member is meant; all are when there is no operand."""
        if not self.names:
            return True
        chosen = False
        variants = _variants(name)
        for variant in variants:
            below = variant is not variants[-1]
            at = self._exact.get(variant)
            if at is not None and not (below and at in self._alone):
                self.last, self._found[at], chosen = at, True, True
            for at, pattern in enumerate(self._patterns):
                if (
                    pattern is not None
                    and not (below and at in self._alone)
                    and self._fits(pattern, variant)
                ):
                    self.last, self._found[at], chosen = at, True, True
        return chosen

    def _fits(self, pattern: re.Pattern[str] | ExtendedGlob, name: str) -> bool:
        if pattern.match(name):
            return True
        return not self._anchored and any(
            pattern.match(name[at.end() :]) for at in re.finditer("/", name)
        )

    def missing(self) -> list[str]:
        """The operands that matched no member."""
        return [name for name, found in zip(self._shown, self._found, strict=True) if not found]

    def looks_like_pattern(self) -> bool:
        """Whether an operand holds wildcards, though they are not special."""
        return any(
            pattern is None and re.search(r"[*?\[]", name)
            for name, pattern in zip(self.names, self._patterns, strict=True)
        )


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
            pieces += (name[end : found.start()], self._converted(found))
            end = found.end()
            if not self.every:
                break
        pieces.append(name[end:])
        return "".join(pieces)

    def _converted(self, found: Match) -> str:
        """The replacement with its \\U \\L \\u \\l \\E at work."""
        lasting, once = "E", ""
        pieces = []
        for part in self.parts:
            if isinstance(part, str) and part[:1] == _CASE:
                if part[1] in "ul":
                    once = part[1]
                else:
                    lasting, once = part[1], ""
                continue
            text = part if isinstance(part, str) else found.group(part) or ""
            if once and text:  # the rest of the piece stays as it is: so does tar
                text = (text[0].upper() if once == "u" else text[0].lower()) + text[1:]
                once = ""
            else:
                text = {"U": text.upper(), "L": text.lower(), "E": text}[lasting]
            pieces.append(text)
        return "".join(pieces)


class Transformation:
    """`--transform`: sed's replacements, applied to every name. For r regular names, s links'
    targets, h hard links' targets.
    """

    def __init__(self) -> None:
        self._replacements: list[_Replacement] = []

    def add(self, text: str) -> None:
        """One or several replacements, with ";" between them."""
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
        """The name as it becomes; `kind` is r, s or h."""
        for replacement in self._replacements:
            if kind in replacement.kinds:
                name = replacement.apply(name, budget)
        return name

    def __bool__(self) -> bool:
        return bool(self._replacements)


def _parts(text: str, mark: str) -> list[str | int]:
    """A replacement as text and group numbers."""
    parts: list[str | int] = []
    for token in re.findall(r"\\.|&|[^\\&]+", text, re.DOTALL):
        if token == "&":
            parts.append(0)
        elif token[0] == "\\" and token[1:].isdecimal():
            parts.append(int(token[1]))
        elif token[0] == "\\":
            if token[1] in "LUluE":
                parts.append(_CASE + token[1])
                continue
            parts.append(
                {"n": "\n", "t": "\t"}.get(token[1], token[1]) if token[1] != mark else mark
            )
        else:
            parts.append(token)
    return parts
