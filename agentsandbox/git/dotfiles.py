"""What `git fsck` checks of `.gitmodules` and of links with the names of git's own files.

A name counts in all forms in which HFS+ and NTFS know it: other case, characters that are ignored,
short names such as `GITMOD~1`.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from agentsandbox.git.config import ConfigFile
from agentsandbox.git.errors import GitError
from agentsandbox.git.modules import is_safe_name, looks_like_option
from agentsandbox.git.objects import LINK
from agentsandbox.kernel.streams import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Problem = tuple[str, str, str]
    """"error", "warning" or "info"; the name of the check; the text."""

_IGNORED = re.compile(
    rb"\xe2\x80[\x8c-\x8f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf"
)
_SHORT = {
    "gitmodules": rb"gitmod~[1-4]|gi7eba~[1-9]", "gitattributes": rb"gitatt~[1-4]|gi7d29~[1-9]",
    "gitignore": rb"gitign~[1-4]|gi250a~[1-9]", "mailmap": rb"mailma~[1-4]|maba30~[1-9]",
}  # fmt: skip
_NAMES = {
    name: re.compile(rb"(?:\.%s|%s)(?=[. ]*(?:\Z|:))" % (encode(name), short), re.IGNORECASE)
    for name, short in _SHORT.items()
}
_CURL = re.compile(r"(?:https?|ftps?)::|(?=(?:https?|ftps?)://)")


def _is(name: str, part: bytes) -> bool:
    if not part.isascii():
        part = _IGNORED.sub(b"", part)
    return _NAMES[name].match(part) is not None


def tree_problems(
    entries: Iterable[tuple[bytes, int, str]]
) -> tuple[list[Problem], list[str]]:
    """Return the problems of a tree's names, and the objects that are `.gitmodules`."""
    problems: list[Problem] = []
    found: list[str] = []
    for path, mode, oid in entries:
        is_link = mode & 0o170000 == LINK
        names = [path, *(path.split(b"\\")[1:] if b"\\" in path else ())]
        for part in names:
            if not _is("gitmodules", part):
                continue
            if is_link:
                text = ".gitmodules is a symbolic link"
                problems.append(("error", "gitmodulesSymlink", text))
            else:
                found.append(oid)
        for name in ("gitattributes", "gitignore", "mailmap"):
            if is_link and _is(name, path):
                problems.append(("info", f"{name}Symlink", f".{name} is a symlink"))
    return problems, found


def modules_problems(data: bytes) -> list[Problem]:
    """Return the problems of a `.gitmodules`."""
    problems: list[Problem] = []
    try:
        values = ConfigFile(decode(data), "", "", "").values
    except GitError:
        return [("info", "gitmodulesParse", "could not parse gitmodules blob")]
    for value in values:
        if not value.key.startswith("submodule.") or value.key.count(".") < 2:
            continue
        name, _, item = value.key[10:].rpartition(".")
        if not is_safe_name(name):
            problems.append(("error", "gitmodulesName", f"disallowed submodule name: {name}"))
        text = value.text
        if text is None:
            continue
        if item == "url" and is_bad_url(text):
            problems.append(("error", "gitmodulesUrl", f"disallowed submodule url: {text}"))
        if item == "path" and looks_like_option(text):
            problems.append(("error", "gitmodulesPath", f"disallowed submodule path: {text}"))
        if item == "update" and text.startswith("!"):
            problems.append(
                ("error", "gitmodulesUpdate", f"disallowed submodule update setting: {text}")
            )
    return problems


def is_bad_url(url: str) -> bool:
    """Whether the address of a submodule could become an option, or lead to another host."""
    if looks_like_option(url):
        return True
    if url.startswith(("./", "../", ".\\", "..\\", "git://")):
        if "\n" in unquote(url):
            return True
        rest, above = url, 0
        while rest.startswith(("./", ".\\", "../", "..\\")):
            above += rest.startswith("..")
            rest = rest[3:] if rest.startswith("..") else rest[2:]
        return above > 0 and rest.startswith((":", "/"))
    found = _CURL.match(url)
    if found is None:
        return False
    rest = url[found.end() :]
    scheme, separator, _ = rest.partition("://")
    if not separator or not re.fullmatch(r"[A-Za-z0-9+.-]+", scheme) or "\n" in unquote(rest):
        return True
    try:
        return not urlsplit(rest).netloc.rpartition("@")[2]
    except ValueError:
        return True
