"""The sparse checkout: which files of the index are in the worktree.

`core.sparseCheckout` limits the worktree to the paths that `info/sparse-checkout` of its `.git`
folder names. An entry of the index that is not among them has the bit "skip-worktree": its file is
missing, and counts as unchanged.

The file has lines like an ignore file; the last one that matches decides, and what none matches
goes with the directory above it. In cone mode (`core.sparseCheckoutCone`) only some
lines are allowed, and they are read as two sets of directories:

    /*          the files at the top are in the worktree,
    !/*/        and no directory;
    /a/         but the files of a ("parent")
    !/a/*/      without its directories,
    /a/b/       and all that is below a/b ("recursive").

A file is in the cone if it is at the top, its directory is a parent, or a directory above it is
recursive. Lines of another form switch the cone off, with a warning: they are patterns then.
"""

from __future__ import annotations

from agentsandbox.git.patterns import IgnoreRule, find_rule, has_glob
from agentsandbox.kernel.streams import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentsandbox.kernel.budget import Budget

_SPECIAL = b"*?[\\"
_LONGEST = 2048


class Pattern:
    """A line of the file: "!", the text, and "/" for directories only."""

    __slots__ = ("is_directory", "negated", "text")

    def __init__(self, line: bytes) -> None:
        self.negated = line.startswith(b"!")
        text = line[1:] if self.negated else line
        self.is_directory = text.endswith(b"/")
        self.text = text[:-1] if self.is_directory else text

    @property
    def line(self) -> bytes:
        """Return the line as it is written."""
        return b"!" * self.negated + self.text + b"/" * self.is_directory


class Patterns:
    """The lines of a sparse checkout, and which paths they let in."""

    def __init__(self, lines: Iterable[bytes], budget: Budget) -> None:
        self.list = [Pattern(line) for line in lines]
        self.budget = budget
        self.rules = [IgnoreRule(one.line, one.line, b"", "", 0) for one in self.list][::-1]
        self.rules = [rule for rule in self.rules if len(rule.text) <= _LONGEST]
        self._folders: dict[bytes, bool] = {b"": False}

    is_cone = False

    def has(self, path: bytes) -> bool:
        """Whether a file (with a final "/": a directory) is in the sparse checkout."""
        folder = path.endswith(b"/")
        if folder:
            return self._has_folder(path[:-1])
        return self._decide(path, is_dir=False)

    def _decide(self, path: bytes, *, is_dir: bool) -> bool:
        self.budget.step(1 + len(self.rules) // 4)
        rule = find_rule([self.rules], path, is_dir)
        if rule is not None:
            return not rule.negated
        return self._has_folder(path.rpartition(b"/")[0])

    def _has_folder(self, folder: bytes) -> bool:
        pending: list[bytes] = []
        while folder not in self._folders:
            pending.append(folder)
            folder = folder.rpartition(b"/")[0]
        for path in reversed(pending):
            self._folders[path] = self._decide(path, is_dir=True)
            folder = path
        return self._folders[folder]

    def lines(self) -> list[bytes]:
        """Return the lines as they are written to the file."""
        return [one.line for one in self.list]


class Cone(Patterns):
    """The directories of a sparse checkout in cone mode; their names begin with "/"."""

    is_cone = True

    def __init__(self, budget: Budget) -> None:
        super().__init__((), budget)
        self.recursive: set[bytes] = set()
        self.parents: set[bytes] = set()
        self.is_full = False
        """Whether everything is in it: the file has no line "!/*/"."""

    def add(self, folder: bytes) -> None:
        """Let in all that is below a directory, and the files of those above it."""
        self.recursive.add(folder)
        self._folders = {b"": False}
        at = folder.rfind(b"/")
        while at > 0:
            self.parents.add(folder[:at])
            at = folder.rfind(b"/", 0, at)

    def has(self, path: bytes) -> bool:
        if self.is_full:
            return True
        name = b"/" + path + (b"-" if path.endswith(b"/") else b"")
        if name in self.recursive:
            return True
        folder = name.rpartition(b"/")[0]
        known = self._folders.get(folder)
        if known is None:
            self.budget.step()
            known = not folder or folder in self.parents or self._is_below(folder)
            self._folders[folder] = known
        return known or not folder

    def _is_below(self, folder: bytes) -> bool:
        while folder:
            if folder in self.recursive:
                return True
            folder = folder.rpartition(b"/")[0]
        return False

    def has_above(self, folder: bytes) -> bool:
        """Whether a directory above a directory is recursive."""
        return self._is_below(folder.rpartition(b"/")[0])

    def lines(self) -> list[bytes]:
        found = [b"/*", b"!/*/"]
        for folder in sorted(self.parents - self.recursive):
            if not self.has_above(folder) and folder:
                name = _escaped(folder)
                found += [name + b"/", b"!" + name + b"/*/"]
        found += [
            _escaped(folder) + b"/"
            for folder in sorted(self.recursive)
            if not self.has_above(folder)
        ]
        return found

    def take(self, pattern: Pattern) -> str:
        """Read a line; return what is wrong with it, "" if it is a line of a cone."""
        text, negated = pattern.text, pattern.negated
        shown = decode(text)
        if text == b"/*":
            if negated and pattern.is_directory:
                self.is_full = False
                return ""
            if not negated and not pattern.is_directory:
                self.is_full = True
                return ""
        if not text.startswith(b"/") or len(text) < 2 or b"**" in text:
            return f"unrecognized pattern: '{shown}'"
        if (not pattern.is_directory and text != b"/*") or not _is_plain(text):
            return f"unrecognized pattern: '{shown}'"
        if len(text) > 2 and text.endswith(b"/*"):
            folder = _unescaped(text)
            if not negated:
                return f"unrecognized pattern: '{shown}'"
            if folder not in self.recursive:
                return f"unrecognized negative pattern: '{shown}'"
            self.parents.add(folder)
            self.recursive.discard(folder)
            return ""
        if negated:
            return f"unrecognized negative pattern: '{shown}'"
        folder = _unescaped(text)
        self.recursive.add(folder)
        if folder in self.parents:
            return (
                f"your sparse-checkout file may have issues: pattern '{shown}' is repeated"
            )
        return ""


def _is_plain(text: bytes) -> bool:
    """Whether all special characters are escaped, but for "*" as the last part."""
    for at in range(1, len(text)):
        here, before, after = text[at : at + 1], text[at - 1 : at], text[at + 1 : at + 2]
        if here not in (b"*", b"?", b"[", b"\\") or before == b"\\":
            continue
        if here == b"\\" and after and after in _SPECIAL:
            continue
        if before == b"/" and here == b"*" and not after:
            continue
        return False
    return True


def _escaped(folder: bytes) -> bytes:
    if not has_glob(folder):
        return folder
    return b"".join(
        [b"\\" + bytes((byte,)) if byte in _SPECIAL else bytes((byte,)) for byte in folder]
    )


def _unescaped(text: bytes) -> bytes:
    """Return the directory that a line names, without a final "/*"."""
    out = bytearray()
    at = 0
    while at < len(text):
        at += text[at : at + 1] == b"\\"
        out += text[at : at + 1]
        at += 1
    if len(out) > 2 and out.endswith(b"/*"):
        del out[-2:]
    return bytes(out)


def parse_patterns(
    data: bytes, budget: Budget, *, cone: bool, warn: Callable[[str], None]
) -> Patterns:
    """Return the patterns of a file; `warn` takes what keeps it from being a cone."""
    lines: list[bytes] = []
    budget.step(1 + len(data) // 16)
    for line in data.split(b"\n"):
        line = _without_final_spaces(line.removesuffix(b"\r"))
        if line and not line.startswith(b"#"):
            lines.append(line)
    if cone:
        made = Cone(budget)
        for line in lines:
            problem = made.take(Pattern(line))
            if problem:
                warn(problem)
                warn("disabling cone pattern matching")
                break
        else:
            return made
    return Patterns(lines, budget)


def _without_final_spaces(line: bytes) -> bytes:
    end = len(line)
    while end and line[end - 1 : end] == b" " and line[end - 2 : end - 1] != b"\\":
        end -= 1
    return line[:end]
