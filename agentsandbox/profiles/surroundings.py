"""What a model has to know about a sandbox before it writes a script: places, programs, limits."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentsandbox.sandbox import Sandbox

__all__ = ["describe"]

MAX_MOUNTS = 10
"""Mounts that are named; the others are counted."""
MAX_PLACES = 10
"""Rules and hosts of the network policy that are named; the others are counted."""


def describe(sandbox: Sandbox, max_output: int, *, skills: str = "") -> str:
    """Return the sentences of a tool's description, each after a blank.

    max_output  the characters of output that an answer has
    skills      the directory of skills that are not mounted yet
    """
    if sandbox.get_mounted_skills():
        skills = sandbox.options.skills_mount_path
    found = []
    if skills:
        access = "writable" if sandbox.options.skills_writable else "read-only"
        found.append(f"Skills are in {skills} ({access}).")
    if mounts := _mounts(sandbox):
        found.append(f"Mounted: {mounts}.")
    found += [*_languages(sandbox), *_reachable(sandbox), *_absent(sandbox)]
    seconds = sandbox.options.limits.timeout
    found.append(f"A call ends after {seconds:g} s; output beyond {max_output} characters is cut.")
    return "".join(f" {sentence}" for sentence in found)


def _mounts(sandbox: Sandbox) -> str:
    shown = [
        f"{posixpath.normpath(path)} (read-only)" if getattr(mount, "read_only", False) else path
        for path, mount in sandbox.options.mounts.items()
    ]
    more = [f"{len(shown) - MAX_MOUNTS} more"] if len(shown) > MAX_MOUNTS else []
    return ", ".join([*shown[:MAX_MOUNTS], *more])


def _languages(sandbox: Sandbox) -> list[str]:
    """Return a sentence for each language that scripts can use."""
    options, found = sandbox.options, []
    if options.python is not None and (status := options.python.status()).ready:
        found.append(
            f"python3 is CPython {status.python} with numpy, pandas, matplotlib and more "
            "(`pip list`), on the same files."
        )
    if options.javascript is not None:
        found.append("node runs JavaScript on the same files.")
    return found


def _reachable(sandbox: Sandbox) -> list[str]:
    """Return the sentence about the hosts that scripts can reach."""
    policy = sandbox.options.network
    if policy is None or not (places := [*policy.allow, *policy.hosts]):
        return []
    more = [f"{len(places) - MAX_PLACES} more"] if len(places) > MAX_PLACES else []
    shown = ", ".join([*places[:MAX_PLACES], *more])
    methods = f" ({', '.join(sorted(policy.methods))})" if policy.allow else ""
    clients = "curl, wget and Python" if sandbox.options.python is not None else "curl and wget"
    return [f"{clients} reach by HTTP only: {shown}{methods}."]


def _absent(sandbox: Sandbox) -> list[str]:
    """Return the sentences about what scripts often expect and the sandbox lacks."""
    options, names = sandbox.options, sandbox.command_names()
    ready = options.python is not None and options.python.status().ready
    absent = [
        name
        for name, is_there in (
            ("python3", ready or "python3" in names),
            ("node", options.javascript is not None or "node" in names),
            ("git", "git" in names),
            ("network", bool(_reachable(sandbox))),
        )
        if not is_there
    ]
    return [f"Not available: {', '.join(absent)}."] if absent else []
