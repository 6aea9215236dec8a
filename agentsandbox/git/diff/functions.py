"""Which lines begin a function (the text behind "@@"), by the driver of a file's attribute `diff`.

`diff.NAME.xfuncname` and `diff.NAME.funcname` are lists of patterns, one a line: "!" in front of one
means that its lines do not count. The text of the first group is shown, else the whole match.
"""

from __future__ import annotations

from agentsandbox.git.diff.hunks import function_line
from agentsandbox.git.errors import Fatal
from agentsandbox.kernel.regexps import RegexError, compile_posix
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.config import Config
    from agentsandbox.git.diff.hunks import FindFunction

_BUILT_IN = {
    "python": r"^[ 	]*((class|(async[ 	]+)?def)[ 	].*)$",
    "bash": r"^[ 	]*((([a-zA-Z_][a-zA-Z0-9_]*[ 	]*\(\))|(function[ 	]+[a-zA-Z_][a-zA-Z0-9_]*)).*)$",
    "markdown": r"^ {0,3}#{1,6}[ 	].*",
    "golang": "^[ \t]*(func[ \t]*.*(\\{[ \t]*)?)\n^[ \t]*(type[ \t].*(struct|interface)[ \t]*(\\{[ \t]*)?)",
    "rust": r"^[	 ]*((pub(\([^\)]+\))?[	 ]+)?((async|const|unsafe|extern([	 ]+\"[^\"]+\"))[	 ]+)?"
    r"(struct|enum|union|mod|trait|fn|impl|macro_rules!)[< 	]+[^;]*)$",
    "html": "^[ \t]*(<[Hh][1-6]([ \t].*)?>.*)$",
}


def finder_of(config: Config, name: str) -> FindFunction:
    """Return the function that finds what a line shows behind "@@"."""
    extended = bool(config.get(f"diff.{name}.xfuncname"))
    text = config.get(f"diff.{name}.xfuncname") or config.get(f"diff.{name}.funcname")
    if not text:
        text, extended = _BUILT_IN.get(name, ""), True
    if not text:
        return function_line
    patterns = []
    for line in text.split("\n"):
        negated = line.startswith("!")
        try:
            patterns.append((negated, compile_posix(line[negated:], extended=extended)))
        except RegexError:
            raise Fatal(f"Invalid regexp to look for hunk header: {line}") from None

    def find(line: bytes) -> bytes | None:
        shown = decode(line.rstrip(b"\n"))
        for negated, regex in patterns:
            found = regex.search(shown)
            if found is None:
                continue
            if negated:
                return None
            part = found.group(1) if regex.groups and found.group(1) is not None else found.group()
            return encode(part)[:80].rstrip(b" \t\r\n\v\f")
        return None

    return find
