"""One file of a listing of `ls` or `tree`: its indicator and its colour."""

from __future__ import annotations

import stat

from agentsandbox.commands._files.names import quote
from agentsandbox.errors import CommandError
from agentsandbox.kernel.patterns.filenames import compile_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentsandbox.kernel.fs.base import Stat
    from agentsandbox.kernel.patterns.filenames import GlobMatcher


class Entry:
    """One file of a listing. `info` is None if it cannot be read or is not needed."""

    __slots__ = ("info", "kind", "name", "path", "target", "target_info")

    def __init__(self, name: str, path: str, info: Stat | None = None) -> None:
        self.name = name
        self.path = path
        self.info = info
        self.kind = "?"
        """The letter of the type, which may be all that is known."""
        self.target: str | None = None
        """The text of a symbolic link, if it is shown."""
        self.target_info: Stat | None = None


def indicator(info: Stat | None, style: str) -> str:
    """Return the character after a name for `ls -F` ("classify"), `--file-type`, `-p`."""
    if info is None or style == "none":
        return ""
    mode = info.mode
    if stat.S_ISDIR(mode):
        return "/"
    if style == "slash":
        return ""
    if stat.S_ISREG(mode):
        return "*" if style == "classify" and mode & 0o111 else ""
    return {stat.S_IFLNK: "@", stat.S_IFIFO: "|", stat.S_IFSOCK: "="}.get(stat.S_IFMT(mode), "")


_DEFAULTS = dict(
    pair.split("=")
    for pair in """
        lc=\x1b[ rc=m rs=0 di=01;34 ln=01;36 pi=33 so=01;35 bd=01;33 cd=01;33 ex=01;32 do=01;35
        su=37;41 sg=30;43 st=37;44 ow=34;42 tw=30;42
    """.split()
)
_LABELS = frozenset(
    "lc rc ec rs no fi di ln pi so bd cd mi or ex do su sg st ow tw ca mh cl".split()
)
_TERMINALS = """
    Eterm ansi *color* con[0-9]*x[0-9]* cons25 console cygwin *direct* dtterm gnome hurd jfbterm
    konsole kterm linux linux-c mlterm putty rxvt* screen* st terminator tmux* vt100 xterm*
"""
_UNPARSABLE = "unparsable value for LS_COLORS environment variable"


def knows_colors(env: Mapping[str, str]) -> bool:
    """Whether `ls` uses colours on this terminal."""
    if env.get("LS_COLORS") or env.get("COLORTERM"):
        return True
    return any(compile_glob(name).match(env.get("TERM", "")) for name in _TERMINALS.split())


class Colors:
    """Escape sequences by file type and name, from `LS_COLORS` over GNU's defaults."""

    __slots__ = ("_codes", "_patterns", "_started")

    def __init__(self, env: Mapping[str, str]) -> None:
        self._codes = dict(_DEFAULTS)
        self._patterns: list[tuple[GlobMatcher, str]] = []
        self._started = False
        for item in env.get("LS_COLORS", "").split(":"):
            key, equals, code = item.partition("=")
            if not item:
                continue
            if not equals or not key:
                raise CommandError(_UNPARSABLE)
            if key.startswith("*"):
                self._patterns.append((compile_glob(key, ignore_case=True, extglob=False), code))
            elif key in _LABELS:
                self._codes[key] = code
            else:
                raise CommandError(f"unrecognized prefix: {quote(key)}\nls: {_UNPARSABLE}")
        self._patterns.reverse()

    def code(self, entry: Entry, info: Stat | None, name: str) -> str:
        """Return the colour of a file, "" for none."""
        if info is None:
            return self._codes.get("mi", "")
        mode = info.mode
        kind = stat.S_IFMT(mode)
        if kind == stat.S_IFREG:
            if mode & stat.S_ISUID and self._codes["su"]:
                return self._codes["su"]
            if mode & stat.S_ISGID and self._codes["sg"]:
                return self._codes["sg"]
            if mode & 0o111:
                return self._codes["ex"]
            if info.nlink > 1 and self._codes.get("mh"):
                return self._codes["mh"]
            for pattern, code in self._patterns:
                if pattern.match(name):
                    return code
            return self._codes.get("fi", "")
        if kind == stat.S_IFDIR:
            sticky, others = mode & stat.S_ISVTX, mode & stat.S_IWOTH
            key = "tw" if sticky and others else "ow" if others else "st" if sticky else "di"
            return self._codes[key]
        if kind == stat.S_IFLNK:
            if entry.target_info is None and self._codes.get("or"):
                return self._codes["or"]
            if self._codes["ln"] == "target":
                return self.code(entry, entry.target_info, name)
            return self._codes["ln"]
        key = {stat.S_IFIFO: "pi", stat.S_IFSOCK: "so", stat.S_IFBLK: "bd", stat.S_IFCHR: "cd"}.get(
            kind, "or"
        )
        return self._codes.get(key, "")

    def paint(self, text: str, code: str) -> str:
        """Return the text in its colour."""
        if not code or code in ("0", "00"):
            return text
        left, right, reset = self._codes["lc"], self._codes["rc"], self._codes["rs"]
        return f"{left}{code}{right}{text}{left}{reset}{right}"

    def begin(self, line: str) -> str:
        """Return the line to write: the terminal is reset before the first colour."""
        if self._started:
            return line
        left, right, reset = self._codes["lc"], self._codes["rc"], self._codes["rs"]
        before, found, after = line.partition(left)
        if not found:
            return line
        self._started = True
        return f"{before}{left}{reset}{right}{left}{after}"

    @property
    def shows_targets(self) -> bool:
        """Whether the targets of links are coloured in any case."""
        return bool(self._codes.get("or") or self._codes.get("mi") or self._codes["ln"] == "target")
