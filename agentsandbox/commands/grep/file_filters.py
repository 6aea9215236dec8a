"""The files that a recursive search visits: --include, --exclude and --exclude-dir of grep."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class FileFilter:
    """Rules in the order given: the last that matches decides, or the opposite of the first."""

    def __init__(self) -> None:
        self._rules: list[tuple[bool, Callable[[str], object]]] = []
        self._directories: list[Callable[[str], object]] = []

    def add(self, pattern: str, *, include: bool) -> None:
        """Add a rule for files."""
        self._rules.append((include, _matcher(pattern)))

    def add_directory(self, pattern: str) -> None:
        """Add a pattern of directories that are not entered."""
        self._directories.append(_matcher(pattern.rstrip("/") or pattern))

    @property
    def names_files(self) -> bool:
        """Whether there are rules for files."""
        return bool(self._rules)

    def is_empty(self) -> bool:
        """Whether there are no rules."""
        return not (self._rules or self._directories)

    def admits(self, name: str, *, operand: bool = False) -> bool:
        """Whether a file is searched. The name of an operand is compared from every "/" on too."""
        if not self._rules:
            return True
        forms = _suffixes(name) if operand else [name.rpartition("/")[2]]
        for include, match in reversed(self._rules):
            if any(match(form) for form in forms):
                return include
        return not self._rules[0][0]

    def enters(self, name: str, *, operand: bool = False) -> bool:
        """Whether a directory is entered."""
        if not self._directories:
            return True
        forms = _suffixes(name) if operand else [name.rpartition("/")[2]]
        return not any(match(form) for match in self._directories for form in forms)


def _matcher(pattern: str) -> Callable[[str], object]:
    """Return what matches names with a pattern; its module is loaded for those who need it."""
    from agentsandbox.kernel.patterns.filenames import glob_matcher

    return glob_matcher(pattern, extglob=False)


def _suffixes(name: str) -> list[str]:
    """Return the name and its parts behind each slash."""
    parts = name.split("/")
    return (
        ["/".join(parts[at:]) for at in range(len(parts))] if len(parts) < 64 else [name, parts[-1]]
    )
