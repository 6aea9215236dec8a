"""YAML texts as yq takes and gives them: what stands before and after a document is kept aside."""

from __future__ import annotations

import re

from agentsandbox.commands.yq.metadata import SEPARATOR, leading_text
from agentsandbox.commands.yq.nodes import SCALAR, Node
from agentsandbox.commands.yq.reader import read_documents
from agentsandbox.commands.yq.writer import write_yaml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.kernel.budget import Budget

_LEADING = re.compile(r"\s*(?:#|%YA)")
_PEEK = 4


def _split_leading(text: str) -> tuple[str, str]:
    """The comments and separators at the beginning, and the rest."""
    parts: list[str] = []
    at = 0
    while at + _PEEK <= len(text):
        if text[at] == "\n":
            parts.append("\n")
            at += 1
        elif text.startswith(("--- ", "---\n"), at):
            parts.append(SEPARATOR + "\n")
            at += _PEEK
        elif _LEADING.match(text[at : at + _PEEK]):
            end = text.find("\n", at) + 1 or len(text)
            parts.append(text[at:end])
            at = end
        else:
            break
    return "".join(parts), text[at:]


def read_yaml(text: str, budget: Budget, *, keep_leading: bool = True) -> Iterator[Node]:
    """Each document, the first with the text before it; a null if there are only comments. Raises
    `YamlError`.
    """
    leading, rest = _split_leading(text) if keep_leading else ("", text)
    index = 0
    for node in read_documents(rest, budget):
        node.document = index
        if index == 0:
            node.leading = leading
        index += 1
        yield node
    if index == 0 and (leading or (text and not keep_leading)):
        node = Node(SCALAR, "!!null")
        node.leading = leading or text
        yield node


def yaml_text(
    node: Node, indent: int, budget: Budget, *, unwrap: bool, separators: bool = True
) -> str:
    """A result with its newline; `unwrap` prints a scalar alone as it is. What stands before the
    document is not in it.
    """
    if node.kind == SCALAR and unwrap:
        ending = "\r\n" if "\r\n" in node.leading else "\n"
        return node.value + ending if node.value or not node.leading else ""
    foot, node.foot = node.foot, ""
    try:
        text = write_yaml(node, indent, budget)
    finally:
        node.foot = foot
    return text + leading_text(foot, separators=separators)
