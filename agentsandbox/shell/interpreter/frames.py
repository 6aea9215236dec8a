"""Functions of a shell, and the frames of their calls and of sourced files."""

from __future__ import annotations

import sys

from agentsandbox.shell.syntax.nodes import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.shell.syntax.nodes import FunctionDefinition

_COMPILED = 3
"""A tree that is compiled as well takes this many times as much."""


_OBJECT = 64
"""Bytes of a node of a syntax tree without its texts."""


def _weigh_tree(root: object) -> int:
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


class Function:
    """A shell function; its body is compiled when it is first called."""

    __slots__ = ("compiled", "frames", "line", "name", "node", "source", "weight")

    def __init__(self, node: FunctionDefinition, source: str) -> None:
        self.name = node.name
        self.node = node
        self.line = node.line
        self.source = source
        self.compiled: Callable[..., int] | None = None
        self.frames: dict[int, Frame] = {}
        self.weight = 0
        """Bytes of the tree, once it was weighed."""

    def frame(self, call_line: int) -> Frame:
        """Return the entry of the call stack for calls from a line, which all of them share."""
        frame = self.frames.get(call_line)
        if frame is None:
            frame = self.frames[call_line] = Frame(
                self.name, self.source, call_line, is_function=True, function=self
            )
        return frame

    def weigh(self) -> int:
        """Return the bytes of the tree and of the compiled body."""
        if not self.weight:  # the tree never changes
            self.weight = _weigh_tree(self.node)
        return self.weight * (_COMPILED if self.compiled is not None else 1)


class Frame:
    """An active function or sourced file, for `caller`, FUNCNAME, BASH_LINENO and `return`."""

    __slots__ = ("call_line", "function", "has_arguments", "is_function", "name", "source")

    def __init__(
        self,
        name: str,
        source: str,
        call_line: int,
        *,
        is_function: bool,
        function: Function | None = None,
        has_arguments: bool = False,
    ) -> None:
        self.name = name
        self.source = source
        self.call_line = call_line
        self.is_function = is_function
        self.function = function
        self.has_arguments = has_arguments
