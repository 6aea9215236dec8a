"""Where `yq` writes its results: standard output, or a file for each."""

from __future__ import annotations

import re

from agentsandbox.commands.yq.evaluation import Context, Machine, YqError
from agentsandbox.commands.yq.formats import EXTENSIONS, Layout, encode_node
from agentsandbox.commands.yq.metadata import SEPARATOR, explode, leading_text
from agentsandbox.commands.yq.nodes import SCALAR, Node
from agentsandbox.commands.yq.parser import Expression
from agentsandbox.commands.yq.reader import YamlError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_HAS_EXTENSION = re.compile(r"\.[a-zA-Z0-9]+\Z")


class Printer:
    """Prints results with what divides them. `matched`: one of them was neither null nor false."""

    def __init__(
        self, machine: Machine, format: str, layout: Layout, write: Callable[[str], None]
    ) -> None:
        self.machine = machine
        self.format = format
        self.layout = layout
        self.write = write
        self.ends_with_nul = False
        self.matched = False
        self.split: Expression | None = None
        self.create: Callable[[str, str], None] | None = None
        """Writes the file of a name, where `split` names files."""
        self._index = 0
        self._first: Node | None = None
        self._previous = 0

    def print_all(self, nodes: list[Node]) -> None:
        """Write each result. Raises `YqError`."""
        for node in nodes:
            try:
                text = self._separator(node) + self._text(node)
            except YamlError as error:
                raise YqError(f"yaml: {error}") from None
            self.matched = self.matched or not (
                node.tag == "!!null" or (node.tag == "!!bool" and node.value == "false")
            )
            if self.create is None:
                self.write(text)
            else:
                self.create(self._name(node), text)

    def _separator(self, node: Node) -> str:
        root = node.root()
        if self._first is None:
            self._first = root
            self._previous = root.document
        apart = self._previous != root.document or self._first.file_index != root.file_index
        self._previous = root.document
        if (
            not apart
            or self.format != "yaml"
            or not self.layout.separators
            or node.leading.startswith(SEPARATOR)
        ):
            return ""
        return "---\n"

    def _text(self, node: Node) -> str:
        leading = ""
        if self.format == "yaml":
            leading = leading_text(node.leading, separators=self.layout.separators)
        else:
            node = node.copy(self.machine.meter)
            explode(self.machine, node)
        text = leading + encode_node(node, self.format, self.machine.budget, self.layout)
        if not self.ends_with_nul:
            return text
        text = text.removesuffix("\n")
        if "\0" in text:
            raise YqError(
                "can't serialise value because it contains NUL char and you are using NUL separated output"
            )
        return text + "\0"

    def _name(self, node: Node) -> str:
        index = Node(SCALAR, "!!int", str(self._index))
        self._index += 1
        context = Context([node], {"index": [index]}, creates=False)
        named = self.machine.evaluate(context, self.split).nodes
        name = named[0].value if named else ""
        return (
            name
            if _HAS_EXTENSION.search(name)
            else f"{name}.{EXTENSIONS.get(self.format, self.format)}"
        )
