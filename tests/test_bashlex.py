"""A second opinion: bashlex, which is bash's own grammar in Python, sees the same commands, words
and redirections.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bashlex
import pytest

from agentsandbox import ShellSyntaxError
from agentsandbox.shell.syntax.compound_nodes import If, While
from agentsandbox.shell.syntax.nodes import (
    AndOr,
    Background,
    Command,
    CommandList,
    FunctionDefinition,
    Group,
    Pipeline,
    SimpleCommand,
    Subshell,
)
from agentsandbox.shell.syntax.parser import parse
from tests.record.cases import load

SPECS = Path(__file__).parent / "specs"
UNKNOWN = (
    "[[", "((", "$((", "${", "$[", "coproc", "select", "time", "<(", ">(", "<<", "$'", '$"', "`",
    "function", "|&", "!", "case",
    "\\\n", "=(", "for ((", "declare", ";#", "}>", "}<",
    "[()", '"()',
)  # fmt: skip
"""What bashlex does not know, or reads otherwise than bash: such scripts are not compared.

[[ (( coproc select: no grammar for them; time and !: pipelines lose them; << : bodies end at wrong
places; ${ $(( $[ `: expansions of operands are not separate words; $' $": kept with their quotes;
case: only the newest releases; line joins: positions shift; =( and declare: arrays are words with
parentheses; function: the keyword's form without parentheses is refused ;#: a comment behind a
semicolon is read as a word; }> }<: {fd}> is read as a word; [(): a name with an open bracket, which
for bash begins an assignment; "(): the name of a function without its quotes.
"""


def ours(node: Command) -> Any:
    """The tree in small: lists of kinds and texts."""
    if isinstance(node, CommandList):
        return ["list", *[ours(each) for each in node.commands]]
    if isinstance(node, Background):
        return ours(node.command)
    if isinstance(node, AndOr):
        return [
            "and-or",
            ours(node.first),
            *[part for operator, each in node.rest for part in (operator, ours(each))],
        ]
    if isinstance(node, Pipeline):
        return ["pipe", *[ours(each) for each in node.commands]]
    if isinstance(node, SimpleCommand):
        words = [each.source for each in (*node.assignments, *node.words)]
        return ["command", words, [each.operator for each in node.redirections]]
    if isinstance(node, Subshell):
        return ["subshell", ours(node.body)]
    if isinstance(node, Group):
        return ["group", ours(node.body)]
    if isinstance(node, If):
        return ["if"]
    if isinstance(node, While):
        return ["while"]
    if isinstance(node, FunctionDefinition):
        return ["function", node.name]
    return [type(node).__name__.lower()]


def theirs(node: Any, text: str) -> Any:
    """The same of bashlex's tree."""
    if node.kind == "list":
        parts = [(part.kind, part) for part in node.parts]
        operators = [part.op for kind, part in parts if kind == "operator"]
        commands = [theirs(part, text) for kind, part in parts if kind != "operator"]
        return joined(commands, operators)
    if node.kind == "pipeline":
        return [
            "pipe",
            *[
                theirs(part, text)
                for part in node.parts
                if part.kind not in ("pipe", "reservedword")
            ],
        ]
    if node.kind == "command":
        words = [
            text[part.pos[0] : part.pos[1]]
            for part in node.parts
            if part.kind in ("word", "assignment")
        ]
        return ["command", words, [part.type for part in node.parts if part.kind == "redirect"]]
    if node.kind == "compound":
        first = node.list[0]
        if first.kind == "reservedword" and first.word in ("(", "{"):
            return ["subshell" if first.word == "(" else "group", theirs(node.list[1], text)]
        return [{"until": "while"}.get(first.kind, first.kind)]
    if node.kind == "function":
        return ["function", node.name.word]
    return [node.kind]


def joined(commands: list[Any], operators: list[str]) -> Any:
    """A flat list with its operators as and-or lists within a list."""
    groups: list[list[Any]] = [["and-or", commands[0]]]
    for operator, command in zip(operators, commands[1:], strict=False):
        if operator in ("&&", "||"):
            groups[-1] += [operator, command]
        else:
            groups.append(["and-or", command])
    made = [group[1] if len(group) == 2 else group for group in groups]
    return made[0] if len(made) == 1 else ["list", *made]


def scripts() -> list[Any]:
    found = []
    for path in sorted(SPECS.rglob("*.toml")):
        texts = sorted(
            {case.script for case in load(path) if not any(word in case.script for word in UNKNOWN)}
        )
        found.append(pytest.param(texts, id=path.stem))
    return found


@pytest.mark.parametrize("texts", scripts())
def test_bashlex_sees_the_same_tree(texts: list[str]) -> None:
    differing = []
    for text in texts:
        try:
            tree = bashlex.parse(text)
        except (
            bashlex.errors.ParsingError,
            NotImplementedError,
            AssertionError,
            AttributeError,
            IndexError,
            KeyError,
            TypeError,
        ):
            continue
        try:
            mine = [ours(each) for each in parse(text).commands]
        except ShellSyntaxError:
            differing.append((text, "refused", tree))
            continue
        other = [theirs(each, text) for each in tree]
        if mine != other:
            differing.append((text, mine, other))
    assert differing == []
