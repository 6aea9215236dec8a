"""The shell's parser and printer: a text is a tree or a syntax error, and a tree that is printed and
parsed again is the same tree.
"""

from __future__ import annotations

from agentsandbox import ShellSyntaxError
from agentsandbox.errors import LimitReached
from agentsandbox.kernel.streams import decode, encode
from agentsandbox.shell.syntax.nodes import CommandList, Node, SimpleCommand
from agentsandbox.shell.syntax.parser import parse
from agentsandbox.shell.syntax.plain_commands import RESERVED
from agentsandbox.shell.syntax.printer import print_script
from tests.fuzz.judge import Problem, judged
from tests.fuzz.seeds import scripts
from tests.fuzz.target import Target
from tests.security.fuzzing import FRAGMENTS

NESTED = (ShellSyntaxError, LimitReached, RecursionError)
"""The boundary makes a limit of a `RecursionError`: syntax nests as deep as the stack allows."""


def _begins_with_reserved(node: object) -> bool:
    """Whether a redirection stands before a word that is reserved at the beginning of a command.

    bash prints redirections last, so `>f if` becomes `if >f`, and so does ours.
    """
    if isinstance(node, SimpleCommand) and node.redirections and node.words:
        if node.words[0].source in RESERVED:
            return True
    if isinstance(node, Node):
        return any(_begins_with_reserved(getattr(node, name)) for name in node.__slots__)
    return isinstance(node, tuple) and any(map(_begins_with_reserved, node))


def run(data: bytes) -> None:
    text = decode(data.replace(b"\0", b""))
    tree = judged(lambda: parse(text, extglob=True), NESTED)
    if not isinstance(tree, CommandList):
        return

    if _begins_with_reserved(tree):
        return

    def again() -> None:
        printed = print_script(tree)
        if text.endswith("\\"):  # with nothing behind it: no joined line
            printed = printed.removesuffix("\n")
        try:
            other = parse(printed, extglob=True)
        except ShellSyntaxError as error:
            raise Problem("printed text is no script", "printer", f"{printed!r}: {error}") from None
        if other != tree:
            raise Problem("another tree", "printer", repr(printed))

    judged(again, (RecursionError,))


TARGET = Target(
    "parser",
    run,
    lambda count: [encode(script) for script in scripts(count)],
    tuple(encode(word) for word in FRAGMENTS),
)
