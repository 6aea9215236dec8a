"""From tokens to the syntax tree, by precedence climbing; messages are those of jq's own parser."""

from __future__ import annotations

from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.lexer import JqSyntaxError, tokenize
from agentsandbox.commands.jq.terms import Terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.commands._json.values import Value
    from agentsandbox.commands.jq.nodes import Node

_BINDING_POWER = {
    "//": 2,
    **dict.fromkeys(("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="), 3),
    "or": 4,
    "and": 5,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 6),
    "+": 7,
    "-": 7,
    "*": 8,
    "/": 8,
    "%": 8,
}
_RIGHT, _NONE = {2}, {3, 6}


def parse(source: str) -> nodes.Program:
    """The tree of a whole program or library. Raises `JqSyntaxError`."""
    return _Parser(source, tokenize(source)).program()


class _Parser(Terms):
    """Files, definitions and operators."""

    # files

    def program(self) -> nodes.Program:
        metadata: Value = None
        if self.is_keyword("module"):
            self.advance()
            metadata = self._metadata()
            self.expect(";", "';'")
        imports: list[nodes.Import] = []
        while self.is_keyword("import", "include"):
            imports.append(self._import())
        definitions: list[nodes.Definition] = []
        while self.is_keyword("def"):
            definitions.append(self.definition())
        if self.token.kind == "end":
            main: Node | None = None
        else:
            main = self.pipe()
            if self.token.kind != "end":
                self.fail("end of file" if isinstance(main, nodes.Define) or self.at else "")
        return nodes.Program(self.source, metadata, imports, definitions, main)

    def _import(self) -> nodes.Import:
        start = self.advance()
        if self.token.kind != "string":
            self.fail("FORMAT or QQSTRING_START")
        path_token = self.token
        path = self.string(None)
        if not isinstance(path, nodes.Constant):
            raise JqSyntaxError(
                "Import path must be constant",
                path_token.position,
                path_token.end - path_token.position,
            )
        name: str | None = None
        is_data = False
        if start.text == "import":
            self.expect("as", "as")
            if self.token.kind == "variable":
                name, is_data = self.advance().text[1:], True
            elif self.token.kind == "word":
                name = self.advance().text
            else:
                self.fail("IDENT or BINDING")
        metadata: Value = None
        if not self.is_sign(";"):
            metadata = self._metadata()
        self.expect(";", "';'")
        return nodes.Import(str(path.value), name, is_data, metadata, start.position)

    def _metadata(self) -> Value:
        first = self.token
        node = self.pipe()
        size = self.tokens[self.at - 1].end - first.position
        metadata = self._constant(node, first.position, size)
        if not isinstance(metadata, dict):
            raise JqSyntaxError("Module metadata must be an object", first.position, size)
        return metadata

    def _constant(self, node: Node, position: int, size: int) -> Value:
        if isinstance(node, nodes.Constant):
            return node.value
        if isinstance(node, nodes.ArrayOf):
            items: list[Node] = []
            body = node.body
            while isinstance(body, nodes.Comma):
                items.append(body.right)
                body = body.left
            return [
                self._constant(item, position, size)
                for item in ([*items, body][::-1] if body is not None else [])
            ]
        if isinstance(node, nodes.ObjectOf):
            return {
                str(self._constant(key, position, size)): self._constant(value, position, size)
                for key, value in node.entries
            }
        raise JqSyntaxError("Module metadata must be constant", position, size)

    def definition(self) -> nodes.Definition:
        self.expect("def")
        if self.token.kind not in ("word", "keyword"):
            self.fail("IDENT or __loc__" if self.token.kind == "end" else "")
        name = self.advance().text
        parameters: list[nodes.Parameter] = []
        if self.is_sign("("):
            self.advance()
            while True:
                if self.token.kind == "variable":
                    parameters.append(nodes.Parameter(self.advance().text[1:], is_value=True))
                elif self.token.kind in ("word", "keyword"):
                    parameters.append(nodes.Parameter(self.advance().text, is_value=False))
                else:
                    self.fail()
                if self.is_sign(")"):
                    self.advance()
                    break
                self.expect(";", "';' or ')'")
        self.expect(":", "'(' or ':'" if not parameters else "':'")
        self.enter()
        body = self.pipe()
        self.depth -= 1
        self.expect(";", "'|' or ',' or ';'")
        return nodes.Definition(name, parameters, body)

    # expressions, from the loosest binding to the tightest

    def pipe(self) -> Node:
        self.enter()
        try:
            if self.is_keyword("def"):
                definition = self.definition()
                return nodes.Define(definition, self.pipe())
            stages = [self.comma()]
            while self.is_sign("|"):
                self.advance()
                if self.is_keyword("def"):
                    stages.append(self.pipe())
                    break
                stages.append(self.comma())
            node = stages.pop()
            while stages:
                node = nodes.Pipe(stages.pop(), node)
            return node
        finally:
            self.depth -= 1

    def comma(self) -> Node:
        node = self.operand()
        while self.is_sign(","):
            self.advance()
            node = nodes.Comma(node, self.operand())
        return node

    def operand(self) -> Node:
        """What stands between "," and "|"; a definition, a label or a binding takes all that
        follows.
        """
        if self.is_keyword("def"):
            return self.pipe()
        if self.is_keyword("label"):
            return self._label()
        node = self.operators(1)
        if self.is_keyword("as"):
            self.advance()
            patterns = self.patterns()
            self.expect("|", "'|'")
            return nodes.Bind(node, patterns, self.pipe())
        return node

    def operators(self, minimum: int) -> Node:
        self.enter()
        left = self.postfix()
        while True:
            text = self.token.text
            power = _BINDING_POWER.get(text, 0) if self.token.kind in ("sign", "keyword") else 0
            if power < minimum:
                break
            self.advance()
            right = self.operators(power if power in _RIGHT else power + 1)
            left = _operation(text, left, right)
            if (
                power in _NONE
                and _BINDING_POWER.get(self.token.text) == power
                and self.token.kind == "sign"
            ):
                self.fail()
        self.depth -= 1
        return left

    def _label(self) -> Node:
        self.advance()
        if self.token.kind != "variable":
            self.fail("BINDING")
        name = self.advance().text[1:]
        self.expect("|", "'|'")
        return nodes.Label(name, self.pipe())


def _operation(text: str, left: Node, right: Node) -> Node:
    if text == "//":
        return nodes.Alternative(left, right)
    if text in ("and", "or"):
        return nodes.Logical(text, left, right)
    if _BINDING_POWER[text] == 3:
        return nodes.Assign(text, left, right)
    return nodes.Binary(text, left, right)
