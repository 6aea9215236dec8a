"""Which lines begin a function (the text behind "@@"), by the driver of a file's attribute `diff`.

`diff.NAME.xfuncname` and `diff.NAME.funcname` are lists of patterns, one a line: "!" in front of
one means that its lines do not count. The text of the first group is shown, else the whole match.
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

_S = "[ \t]"
_BUILT_IN = {
    "python": rf"^{_S}*((class|def|async{_S}+def){_S}.*)",
    "bash": rf"^{_S}*([[:alpha:]_]\w*{_S}*\(\)|function{_S}+[[:alpha:]_]\w*({_S}*\(\))?)",
    "markdown": rf"^ ? ? ?#{{1,6}}{_S}.*",
    "golang": rf"^{_S}*func.*\n^{_S}*type{_S}.*(struct|interface).*".replace(r"\n", "\n"),
    "rust": rf"^{_S}*((pub(\([^)]*\))?{_S}+)?"
    rf"((async|const|unsafe|extern({_S}+\"[^\"]*\")?){_S}+)*"
    rf"(struct|enum|union|mod|trait|fn|impl|macro_rules!)[<{_S[1:-1]}][^;]*)$",
    "html": rf"^{_S}*(<[hH][1-6][ \t>].*)",
}
"""Lines that begin a part of a file, for the drivers of common languages."""


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
