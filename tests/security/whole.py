"""Whether a sandbox is whole: its files as the account says, its shell at rest."""

from __future__ import annotations

import os

from agentsandbox import Sandbox
from agentsandbox.kernel.fs.memory import MemoryFileSystem
from agentsandbox.kernel.fs.nodes import DIR, FILE, HARD, LINK

__all__ = ["problems_of_files"]


def problems_of_files(fs: MemoryFileSystem) -> list[str]:
    """Return what is wrong with a filesystem: its account, and the numbers of links."""
    problems = []
    size, names = sum(len(node.data) for node in fs.orphans), 0
    links: dict[int, int] = {}
    pending, seen = [fs._root], set()
    while pending:
        for name, entry in pending.pop().entries.items():
            names += 1
            if not name or "/" in name or "\0" in name or name in (".", ".."):
                problems.append(f"a name {name!r}")
            if entry.kind == HARD:
                links[entry.number] = links.get(entry.number, 0) + 1
                if entry.number not in fs._hard:
                    problems.append(f"{name!r} leads to no node")
                    continue
            node = fs._hard[entry.number] if entry.kind == HARD else entry
            if id(node) in seen:
                continue
            seen.add(id(node))
            if node.kind == FILE:
                size += len(node.data)
            elif node.kind == LINK:
                size += len(os.fsencode(node.text))
            elif node.kind == DIR:
                pending.append(node)
    if (size, names) != (fs.used, fs.nodes):
        problems.append(f"the account says {(fs.used, fs.nodes)}, there are {(size, names)}")
    if forgotten := set(fs._hard) - set(links):
        open_nodes = {id(node) for node in fs.orphans}
        if any(id(fs._hard[number]) not in open_nodes for number in forgotten):
            problems.append(f"nodes without a name: {forgotten}")
    return problems


def problems_of(sandbox: Sandbox) -> list[str]:
    """Return what is wrong with a sandbox after an execution."""
    found = problems_of_files(sandbox.fs)
    if sandbox.stats().is_executing:
        found.append("it says that it executes")
    return found
