"""From tokens to the syntax tree, by precedence climbing; messages are those of jq's own parser."""

from __future__ import annotations

from agentsandbox.languages.jq import nodes
from agentsandbox.languages.jq.json_text import parse_number
from agentsandbox.languages.jq.lexer import JqSyntaxError, Token, tokenize
from agentsandbox.languages.jq.operations import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from agentsandbox.languages.jq.nodes import Node, Pattern
    from agentsandbox.languages.jq.values import Value

__all__ = ["parse"]

_DEPTH = 500
"""Nesting of one program."""

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
_KEYWORD_TERMS = frozenset(("if", "reduce", "foreach", "try"))


def parse(source: str) -> nodes.Program:
    """The tree of a whole program or library. Raises `JqSyntaxError`."""
    return _Parser(source, tokenize(source)).program()


class _Parser:
    def __init__(self, source: str, tokens: list[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.at = 0
        self.token = tokens[0]
        self.depth = 0
        self.opened = 0
        """How many parentheses, brackets and braces are open: an error in them is not one of what they are in."""

    # moving through the tokens

    def advance(self) -> Token:
        token = self.token
        self.at += 1
        self.token = self.tokens[self.at]
        return token

    def is_sign(self, *texts: str) -> bool:
        return self.token.kind == "sign" and self.token.text in texts

    def is_keyword(self, *texts: str) -> bool:
        return self.token.kind == "keyword" and self.token.text in texts

    def fail(self, expecting: str = "", token: Token | None = None) -> NoReturn:
        token = token or self.token
        message = f"syntax error, unexpected {_describe(token)}" + (f", expecting {expecting}" if expecting else "")
        if token.kind == "end" and token.end > token.position and self.at:
            raise JqSyntaxError(message, token.position, token.end - token.position)  # at the blanks before it
        if token.kind == "end" and self.at:
            token = self.tokens[self.at - 1]
            if token.kind == "string":  # at its closing quote
                raise JqSyntaxError(message, token.end - 1, 1)
        raise JqSyntaxError(message, token.position, 1 if token.kind == "string" else max(1, token.end - token.position))

    def expect(self, text: str, expecting: str = "") -> Token:
        if self.token.text != text or self.token.kind not in ("sign", "keyword"):
            self.fail(expecting)
        return self.advance()

    def enter(self) -> None:
        self.depth += 1
        if self.depth > _DEPTH:
            raise JqSyntaxError("syntax error, memory exhausted", self.token.position, 1)

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
            raise JqSyntaxError("Import path must be constant", path_token.position, path_token.end - path_token.position)
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
            return [self._constant(item, position, size) for item in ([*items, body][::-1] if body is not None else [])]
        if isinstance(node, nodes.ObjectOf):
            return {str(self._constant(key, position, size)): self._constant(value, position, size) for key, value in node.entries}
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
        """What stands between "," and "|"; a definition, a label or a binding takes all that follows."""
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
            if power in _NONE and _BINDING_POWER.get(self.token.text) == power and self.token.kind == "sign":
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

    def postfix(self) -> Node:
        node = self.term()
        if self.is_sign("?"):
            self.advance()
            node = nodes.Try(node, None)
        while True:
            following = self.suffix(node)
            if following is not None:
                node = following
                if self.is_sign("?"):
                    self.advance()
                    node = _optional(node)
            elif self.is_sign("?"):
                self.advance()
                node = nodes.Try(node, None)
            else:
                return node

    def suffix(self, target: Node) -> Node | None:
        """The next index, slice or iteration of a term; None if nothing of the kind follows."""
        token = self.token
        if token.kind == "field":
            self.advance()
            return nodes.Index(target, nodes.Constant(token.text[1:]))
        if token.kind != "sign":
            return None
        if token.text == "[":
            self.advance()
            return self.brackets(target)
        if token.text == ".":
            following = self.tokens[self.at + 1]
            if following.kind == "string":
                self.advance()
                return nodes.Index(target, self.string(None))
            if following.kind == "sign" and following.text == "[":
                self.advance()
                self.advance()
                return self.brackets(target)
            self.advance()
            self.fail("FORMAT or QQSTRING_START or '['")
        return None

    def brackets(self, target: Node) -> Node:
        """What follows "[" after a term: nothing, an index, a slice."""
        if self.is_sign("]"):
            self.advance()
            return nodes.Iterate(target)
        if self.is_sign(":"):
            self.advance()
            end = self.pipe()
            self.expect("]", "'|' or ',' or ']'")
            return nodes.Slice(target, None, end)
        start = self.pipe()
        if self.is_sign("]"):
            self.advance()
            return nodes.Index(target, start)
        self.expect(":", "'|' or ',' or ':' or ']'")
        if self.is_sign("]"):
            self.advance()
            return nodes.Slice(target, start, None)
        end = self.pipe()
        self.expect("]", "'|' or ',' or ']'")
        return nodes.Slice(target, start, end)

    def term(self) -> Node:
        token = self.token
        kind, text = token.kind, token.text
        if kind == "number":
            self.advance()
            return nodes.Constant(parse_number(text))
        if kind == "string":
            return self.string(None)
        if kind == "format":
            self.advance()
            if self.token.kind == "string":
                return self.string(text[1:])
            return nodes.Format(text[1:])
        if kind == "field":
            self.advance()
            return nodes.Index(nodes.Identity(), nodes.Constant(text[1:]))
        if kind == "variable":
            self.advance()
            if text == "$__loc__":
                return self.location(token)
            return nodes.Variable(text[1:], token.position)
        if kind == "word":
            return self.call()
        if kind == "keyword" and text in _KEYWORD_TERMS:
            return self.keyword_term(text)
        if kind == "sign":
            return self.sign_term(token)
        return self.fail("" if self.at or kind == "end" else "end of file")

    def location(self, token: Token) -> Node:
        line = self.source.count("\n", 0, token.position) + 1
        return nodes.Constant({"file": "<top-level>", "line": line})

    def sign_term(self, token: Token) -> Node:
        text = token.text
        if text == ".":
            self.advance()
            following = self.token
            if following.kind == "string":
                return nodes.Index(nodes.Identity(), self.string(None))
            if following.kind in ("number", "variable", "format") or self.is_sign("{", "("):
                try:
                    self.fail()
                except JqSyntaxError as error:
                    advice = 'try .["field"] instead of .field for unusually named fields'
                    error.reports.append((advice, token.position, following.end - token.position))
                    raise
            return nodes.Identity()
        if text == "..":
            self.advance()
            return nodes.Call("recurse", [], token.position)
        if text == "$":
            self.advance()
            self.fail("'$'")
        if text == "(":
            self.advance()
            self.opened += 1
            node = self.pipe()
            self.expect(")", "'|' or ',' or ')'")
            self.opened -= 1
            return node
        if text == "[":
            self.advance()
            if self.is_sign("]"):
                self.advance()
                return nodes.ArrayOf(None)
            self.opened += 1
            node = self.pipe()
            self.expect("]", "'|' or ',' or ']'")
            self.opened -= 1
            return nodes.ArrayOf(node)
        if text == "{":
            return self.object()
        if text == "-":
            self.advance()
            self.enter()
            negated = nodes.Negate(self.postfix())
            self.depth -= 1
            return negated
        return self.fail("" if self.at else "end of file")

    def call(self) -> Node:
        token = self.advance()
        text = token.text
        if text in ("true", "false", "null"):
            return nodes.Constant({"true": True, "false": False, "null": None}[text])
        if text == "break" and self.token.kind == "variable":
            return nodes.Break(self.advance().text[1:], token.position)
        if text == "break":
            raise JqSyntaxError("break requires a label to break to", token.position, 5)
        arguments: list[Node] = []
        if self.is_sign("("):
            self.advance()
            while True:
                arguments.append(self.pipe())
                if self.is_sign(")"):
                    self.advance()
                    break
                self.expect(";", "';' or ')'")
        return nodes.Call(text, arguments, token.position)

    def keyword_term(self, text: str) -> Node:
        self.enter()
        try:
            if text == "if":
                return self.condition()
            if text == "try":
                self.advance()
                body = self.postfix()
                handler: Node = nodes.Constant(None)
                if self.is_keyword("catch"):
                    self.advance()
                    handler = self.postfix()
                    return nodes.Try(body, handler)
                return nodes.Try(body, None)
            return self.fold(text)
        finally:
            self.depth -= 1

    def condition(self, first: Token | None = None) -> Node:
        """What follows `if`, or `elif`: `first` is then the `if`."""
        word = self.advance()
        start = first or word
        condition = self.pipe()
        if not self.is_keyword("then"):
            self.fail("then or '|' or ','")
        self.advance()
        consequence = self.branch(start)
        alternative: Node = nodes.Identity()
        if self.is_keyword("elif"):
            return nodes.If(condition, consequence, self.condition(start))
        if self.is_keyword("else"):
            self.advance()
            alternative = self.branch(start)
            if not self.is_keyword("end"):
                self.unterminated(start, "end or '|' or ','")
        elif not self.is_keyword("end"):
            self.unterminated(start, "")
        self.advance()
        return nodes.If(condition, consequence, alternative)

    def branch(self, start: Token) -> Node:
        """What follows `then` or `else`: where the program ends in it, the `if` is named as well."""
        try:
            return self.pipe()
        except JqSyntaxError as error:
            if self.token.kind == "end" and not self.opened and len(error.reports) == 1:
                end = self.tokens[self.at - 1].end
                error.reports.append(("Possibly unterminated 'if' statement", start.position, end - start.position))
            raise

    def unterminated(self, start: Token, expecting: str) -> NoReturn:
        try:
            self.fail(expecting)
        except JqSyntaxError as error:
            end = self.tokens[self.at - 1].end if self.token.kind == "end" else self.token.end
            error.reports.append(("Possibly unterminated 'if' statement", start.position, end - start.position))
            raise

    def fold(self, text: str) -> Node:
        self.advance()
        source = self.operators(1)
        self.expect("as")
        patterns = self.patterns()
        self.expect("(", "'('")
        start = self.pipe()
        self.expect(";", "'|' or ',' or ';'")
        update = self.pipe()
        if text == "reduce":
            self.expect(")", "'|' or ',' or ')'")
            return nodes.Reduce(source, patterns, start, update)
        extract: Node | None = None
        if self.is_sign(";"):
            self.advance()
            extract = self.pipe()
        self.expect(")", "'|' or ',' or ')'")
        return nodes.Foreach(source, patterns, start, update, extract)

    # patterns, objects, strings

    def patterns(self) -> list[Pattern]:
        found = [self.pattern()]
        while self.is_sign("?//"):
            self.advance()
            found.append(self.pattern())
        return found

    def pattern(self) -> Pattern:
        self.enter()
        try:
            if self.token.kind == "variable":
                return nodes.VariablePattern(self.advance().text[1:])
            if self.is_sign("["):
                self.advance()
                items = [self.pattern()]
                while self.is_sign(","):
                    self.advance()
                    items.append(self.pattern())
                self.expect("]", "',' or ']'")
                return nodes.ArrayPattern(items)
            if self.is_sign("{"):
                return self.object_pattern()
            self.fail("BINDING or '[' or '{'")
        finally:
            self.depth -= 1

    def object_pattern(self) -> Pattern:
        self.advance()
        entries: list[tuple[str | None, Node, Pattern | None]] = []
        while True:
            variable: str | None = None
            token = self.token
            key: Node
            if token.kind == "variable":
                self.advance()
                variable = token.text[1:]
                key = nodes.Constant(variable)
            elif token.kind in ("word", "keyword"):
                self.advance()
                key = nodes.Constant(token.text)
            elif token.kind == "string":
                key = self.string(None)
            elif self.is_sign("("):
                self.advance()
                key = self.pipe()
                self.expect(")", "'|' or ',' or ')'")
                self.check_key(key, token)
            else:
                self.fail()
            inner: Pattern | None = None
            if self.is_sign(":"):
                self.advance()
                inner = self.pattern()
            elif variable is None:
                self.fail("':'")
            entries.append((variable, key, inner))
            if self.is_sign("}"):
                self.advance()
                return nodes.ObjectPattern(entries)
            self.expect(",", "',' or '}'")

    def object(self) -> Node:
        self.advance()
        self.opened += 1
        node = self.object_entries()
        self.opened -= 1
        return node

    def object_entries(self) -> Node:
        entries: list[tuple[Node, Node]] = []
        first = self.token
        while not self.is_sign("}"):
            entries.append(self.entry())
            if not self.is_sign(","):
                break
            self.advance()
        if not self.is_sign("}"):
            self.bad_key(first, "'}'")
        self.advance()
        return nodes.ObjectOf(entries)

    def entry(self) -> tuple[Node, Node]:
        token = self.token
        kind, text = token.kind, token.text
        identity = nodes.Identity()
        if kind == "variable":
            self.advance()
            if text == "$__loc__":
                return nodes.Constant("__loc__"), self.location(token)
            variable = nodes.Variable(text[1:], token.position)
            if self.is_sign(":"):
                self.advance()
                return variable, self.object_value()
            return nodes.Constant(text[1:]), variable
        key: Node
        short = True
        if kind in ("word", "keyword"):
            self.advance()
            key = nodes.Constant(text)
        elif kind == "string":
            key = self.string(None)
        elif kind == "format":
            self.advance()
            if self.token.kind == "string":
                key = self.string(text[1:])
            else:
                key = nodes.Constant(text)
        elif self.is_sign("("):
            self.advance()
            key = self.pipe()
            self.expect(")", "'|' or ',' or ')'")
            short = False
            self.check_key(key, token)
        else:
            self.bad_key(token)
        if short and not self.is_sign(":"):
            return key, nodes.Index(identity, key)
        self.expect(":", "':'")
        return key, self.object_value()

    def check_key(self, key: Node, token: Token) -> None:
        if isinstance(key, nodes.Constant) and not isinstance(key.value, str):
            first = self.tokens[self.tokens.index(token) + 1]
            raise JqSyntaxError(f"Cannot use {describe(key.value)} as object key", first.position, first.end - first.position)

    def bad_key(self, token: Token, expecting: str = "") -> NoReturn:
        """Fail in an entry that began at `token`: if there is a ":" further on, what is before it may be meant as the key."""
        try:
            self.fail(expecting)
        except JqSyntaxError as error:
            end = token.end
            following = self.tokens[self.at :]
            for number, later in enumerate(following):
                if later.text in (":", "}", ",") or later.kind in ("end", "invalid"):
                    is_key = later.text == ":" and following[number + 1].text not in ("}", ")", "]", ",", ":")
                    break
                end = later.end
            else:
                is_key = False
            if token.kind == "number" or is_key:
                error.reports.append(("May need parentheses around object key expression", token.position, end - token.position))
            raise

    def object_value(self) -> Node:
        """A value in an object: terms joined by "|", each perhaps negated."""
        node = self.object_term()
        stages = [node]
        while self.is_sign("|"):
            self.advance()
            stages.append(self.object_term())
        node = stages.pop()
        while stages:
            node = nodes.Pipe(stages.pop(), node)
        return node

    def object_term(self) -> Node:
        return self.operators(2)

    def string(self, format: str | None) -> Node:
        token = self.advance()
        assert token.parts is not None
        parts: list[str | Node] = []
        for part in token.parts:
            if isinstance(part, str):
                if part:
                    parts.append(part)
                continue
            inner = _Parser(self.source, part)
            inner.depth = self.depth + 1
            if inner.depth > _DEPTH:
                raise JqSyntaxError("syntax error, memory exhausted", token.position, 1)
            node = inner.pipe()
            if inner.token.kind != "end":
                inner.fail("QQSTRING_INTERP_END or '|' or ','")
            parts.append(node)
        if all(isinstance(part, str) for part in parts):
            return nodes.Constant("".join(str(part) for part in parts))
        return nodes.Text(format, parts)


_KEY, _END = "[key]", "[end]"
"""Variables that no program can name."""


def _optional(node: Node) -> Node:
    """An index, a slice or an iteration that may fail; what it is applied to and its keys may not."""
    if isinstance(node, nodes.Iterate):
        return nodes.Pipe(node.body, nodes.Try(nodes.Iterate(nodes.Identity()), None))
    if isinstance(node, nodes.Index):
        if isinstance(node.key, nodes.Constant):
            return nodes.Pipe(node.target, nodes.Try(nodes.Index(nodes.Identity(), node.key), None))
        access: Node = nodes.Index(nodes.Identity(), nodes.Variable(_KEY, -1))
        return nodes.Bind(node.key, [nodes.VariablePattern(_KEY)], nodes.Pipe(node.target, nodes.Try(access, None)))
    assert isinstance(node, nodes.Slice)
    start = None if node.start is None else nodes.Variable(_KEY, -1)
    end = None if node.end is None else nodes.Variable(_END, -1)
    body: Node = nodes.Pipe(node.target, nodes.Try(nodes.Slice(nodes.Identity(), start, end), None))
    if node.end is not None:
        body = nodes.Bind(node.end, [nodes.VariablePattern(_END)], body)
    return body if node.start is None else nodes.Bind(node.start, [nodes.VariablePattern(_KEY)], body)


def _operation(text: str, left: Node, right: Node) -> Node:
    if text == "//":
        return nodes.Alternative(left, right)
    if text in ("and", "or"):
        return nodes.Logical(text, left, right)
    if _BINDING_POWER[text] == 3:
        return nodes.Assign(text, left, right)
    return nodes.Binary(text, left, right)


_NAMES = {
    "number": "LITERAL",
    "word": "IDENT",
    "field": "FIELD",
    "variable": "BINDING",
    "format": "FORMAT",
    "string": "QQSTRING_START",
    "invalid": "INVALID_CHARACTER",
}


def _describe(token: Token) -> str:
    """A token as the messages of jq's parser call it."""
    if token.kind == "end":
        return "end of file" if not token.text else "QQSTRING_INTERP_END"
    if token.kind in _NAMES:
        return _NAMES[token.kind]
    if token.kind == "sign" and len(token.text) == 1:
        return f"'{token.text}'"
    return token.text
