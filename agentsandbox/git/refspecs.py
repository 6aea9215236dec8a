"""Refspecs: which references of one repository become which of another."""

from __future__ import annotations

from agentsandbox.git.errors import Fatal
from agentsandbox.git.objects import is_object_name
from agentsandbox.git.refs import is_ref_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_RULES = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}")


class Refspec:
    """One refspec: `[+]SOURCE[:TARGET]`, with one "*" on both sides or none; `^SOURCE` excludes."""

    __slots__ = ("excludes", "force", "has_target", "is_pattern", "source", "target", "text")

    def __init__(self, text: str, *, fetch: bool) -> None:
        self.text = text
        rest = text
        self.excludes = fetch and rest.startswith("^")
        self.force = rest.startswith("+")
        if self.force or self.excludes:
            rest = rest[1:]
        self.source, colon, self.target = rest.rpartition(":") if ":" in rest else (rest, "", "")
        self.has_target = bool(colon)
        self.is_pattern = "*" in self.source
        if not self._is_valid(fetch):
            raise Fatal(f"invalid refspec '{text}'")

    def _is_valid(self, fetch: bool) -> bool:
        if self.has_target and ("*" in self.target) != self.is_pattern and self.target:
            return False
        for name in (self.source, self.target):
            if name.count("*") > 1:
                return False
        source = self.source.replace("*", "x")
        target = self.target.replace("*", "x")
        if target and not is_ref_name(target, one_level=True):
            return False
        if fetch and source and not is_object_name(source):
            return is_ref_name(source, one_level=True) or source == "@"
        return not self.is_pattern or is_ref_name(source, one_level=True)

    def maps(self, name: str) -> str | None:
        """Return the target of a full name, None if this is not about it."""
        return _mapped(name, self.source, self.target)

    def maps_back(self, name: str) -> str | None:
        """Return the source of a target, None if this is not about it."""
        return _mapped(name, self.target, self.source)


def _mapped(name: str, one: str, two: str) -> str | None:
    if "*" not in one:
        return two if name == one else None
    before, _, after = one.partition("*")
    if name.startswith(before) and name.endswith(after) and len(name) >= len(one) - 1:
        return two.replace("*", name[len(before) : len(name) - len(after)], 1)
    return None


def find_remote_ref(names: Iterable[str], name: str) -> str | None:
    """Return the full name among some that a short one means, None if there is no such one."""
    known = set(names)
    if name == "@":
        name = "HEAD"
    for rule in (*_RULES, "refs/remotes/{}/HEAD"):
        before, _, after = rule.partition("{}")
        full = before + name + after
        if full in known:
            return full
    return None


def local_name(name: str) -> str:
    """Return the full name of the reference that a fetch stores to."""
    if name.startswith("refs/") or name == "HEAD":
        return name
    if name.startswith(("heads/", "tags/", "remotes/")):
        return f"refs/{name}"
    return f"refs/heads/{name}"


def pretty(name: str) -> str:
    """Return a name as reports show it."""
    for prefix in ("refs/heads/", "refs/tags/", "refs/remotes/"):
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name
