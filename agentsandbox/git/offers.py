"""What a function of the host gets when the sandbox pushes to a remote that it offers."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GitPush", "GitUpdate"]


class GitUpdate(NamedTuple):
    """One reference of a push."""

    ref: str
    """The full name, "refs/heads/main"."""
    old: str
    """The commit that the sandbox believes the remote to have; forty zeros for a new reference."""
    new: str
    """The commit to store; forty zeros to delete the reference."""


class GitPush(NamedTuple):
    """A push that waits for the host's answer. Everything in it comes from the sandbox.

    A host that accepts it gives `pack` to `git index-pack --stdin --fix-thin` or to dulwich, in a
    repository of its own, and looks at it there.
    """

    remote: str
    """The name or URL under which the remote is offered."""
    updates: tuple[GitUpdate, ...]
    pack: bytes
    """The objects, in git's pack format; without objects if references are only deleted."""
