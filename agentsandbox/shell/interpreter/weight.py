"""The size of a syntax tree in memory, as the budget counts it."""

from __future__ import annotations

import sys

from agentsandbox.shell.syntax.nodes import Node

_OBJECT = 64
"""Bytes of a node of a syntax tree without its texts."""


def weigh_tree(root: object) -> int:
    """Return about how many bytes a tree of nodes takes, with its texts."""
    total = 0
    pending = [root]
    while pending:
        here = pending.pop()
        if isinstance(here, str):
            total += sys.getsizeof(here)
        elif isinstance(here, (tuple, list)):
            total += _OBJECT + 8 * len(here)
            pending.extend(here)
        elif isinstance(here, Node):
            total += _OBJECT
            pending.extend(
                [
                    getattr(here, name, None)
                    for base in type(here).__mro__
                    for name in base.__dict__.get("__slots__", ())
                ]
            )
    return total
