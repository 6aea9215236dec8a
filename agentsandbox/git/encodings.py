"""Commits whose text is not in UTF-8: their header names the encoding (git-log(1), --encoding).

Text is shown in the encoding of i18n.logOutputEncoding, UTF-8 by default. A commit that cannot be
converted is shown as it is. Only encodings of text that Python knows by the names of iconv count.
"""

from __future__ import annotations

import codecs
import copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.git.config import Config
    from agentsandbox.git.objects import Commit


def find_codec(name: str) -> str | None:
    """Return Python's name of an encoding of text, None for an unknown one."""
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):
        return None
    return found.name if found._is_text_encoding else None


def output_encoding(config: Config) -> str:
    """Return the encoding in which logs are shown, by the configuration."""
    return config.get("i18n.logoutputencoding") or config.get("i18n.commitencoding") or "UTF-8"


def recoded(commit: Commit, target: str) -> Commit:
    """Return a commit with its text in an encoding, the same commit if it is or cannot be."""
    if not commit.encoding and target in ("UTF-8", "utf-8"):
        return commit
    source = find_codec(commit.encoding.decode("ascii", "replace") or "UTF-8")
    wanted = find_codec(target)
    if source is None or wanted is None or source == wanted:
        return commit
    made = copy.copy(commit)
    try:
        made.author = str(commit.author, source).encode(wanted)
        made.committer = str(commit.committer, source).encode(wanted)
        made.message = str(commit.message, source).encode(wanted)
    except UnicodeError:
        return commit
    made.shown_encoding = b"" if wanted == "utf-8" else target.encode("ascii", "replace")
    return made
