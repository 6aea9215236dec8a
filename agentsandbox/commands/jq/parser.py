"""From tokens to the syntax tree: recursive descent for terms, precedence climbing for operators.

Messages are those of jq's own parser, which bison generates: "unexpected" names the token at hand,
"expecting" lists the tokens that bison's state allows when they are few.
"""

from __future__ import annotations

from agentsandbox.commands._json.json_text import parse_number
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.lexer import JqSyntaxError, Token, tokenize
from agentsandbox.commands.jq.operations import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from agentsandbox.commands.jq.nodes import Node, Pattern

_DEPTH = 500
"""How deeply the expressions of one program may nest."""
_TOKEN_NAMES = {
    "number": "LITERAL",
    "word": "IDENT",
    "field": "FIELD",
    "variable": "BINDING",
    "format": "FORMAT",
    "string": "QQSTRING_START",
    "invalid": "INVALID_CHARACTER",
}
_KEYWORD_TERMS = frozenset(("if", "reduce", "foreach", "try"))
_CONSTANTS = {"true": True, "false": False, "null": None}
_BINDING_POWER = {
    "//": 2,
    **dict.fromkeys(("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="), 3),
    "or": 4,
    "and": 5,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), 6),
    **dict.fromkeys(("+", "-"), 7),
    **dict.fromkeys(("*", "/", "%"), 8),
}
_RIGHT_ASSOCIATIVE, _NOT_ASSOCIATIVE = {2}, {3, 6}
_END_OF_GROUP = "'|' or ',' or ')'"


def parse(source: str) -> tuple[list[nodes.Definition], Node | None]:
    """Return the definitions at the start of a program and its main expression, if it has one.

    Raises `JqSyntaxError`.
    """
    return _Parser(source, tokenize(source)).program()


def _describe(token: Token) -> str:
    """Return what the messages of jq's parser call a token."""
    if token.kind == "end":
        return "end of file" if not token.text else "QQSTRING_INTERP_END"
    if token.kind in _TOKEN_NAMES:
        return _TOKEN_NAMES[token.kind]
    if token.kind == "sign" and len(token.text) == 1:
        return f"'{token.text}'"
    return token.text


def _piped(stages: list[Node]) -> Node:
    """Return `a | b | c` for several expressions, grouped from the right."""
    node = stages[-1]
    for stage in reversed(stages[:-1]):
        node = nodes.Pipe(stage, node)
    return node


class _Parser:
    """A place among the tokens, and how deeply what is being read there is nested."""

    def __init__(self, source: str, tokens: list[Token], *, depth: int | None = None) -> None:
        self.source = source
        self.tokens = tokens
        self.at = 0
        self.token = tokens[0]
        self.depth = depth or 0
        self.interpolated = depth is not None
        """Whether the tokens are those of an expression in a string."""
        self.opened = 0
        """How many parentheses, brackets and braces are open."""

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

    def take_sign(self, text: str) -> bool:
        """Pass a sign if it comes next; return whether it did."""
        found = self.is_sign(text)
        if found:
            self.advance()
        return found

    def take_keyword(self, text: str) -> bool:
        """Pass a keyword if it comes next; return whether it did."""
        found = self.is_keyword(text)
        if found:
            self.advance()
        return found

    def expect(self, text: str, expecting: str = "") -> Token:
        if self.token.text != text or self.token.kind not in ("sign", "keyword"):
            self.fail(expecting)
        return self.advance()

    def enter(self) -> None:
        self.depth += 1
        if self.depth > _DEPTH:
            raise JqSyntaxError("syntax error, memory exhausted", self.token.position, 1)

    # errors

    def fail(self, expecting: str = "") -> NoReturn:
        raise self.error(expecting)

    def error(self, expecting: str = "") -> JqSyntaxError:
        """Return the error that the present token does not fit."""
        token = self.token
        message = f"syntax error, unexpected {_describe(token)}"
        if expecting:
            message += f", expecting {expecting}"
        if token.kind == "end" and token.end > token.position and self.at:
            # at the blanks before the end
            return JqSyntaxError(message, token.position, token.end - token.position)
        if token.kind == "end" and self.at:
            token = self.tokens[self.at - 1]
            if token.kind == "string":  # at its closing quote
                return JqSyntaxError(message, token.end - 1, 1)
        length = 1 if token.kind == "string" else max(1, token.end - token.position)
        return JqSyntaxError(message, token.position, length)

    def fail_with_advice(self, advice: str, start: int, end: int, expecting: str = "") -> NoReturn:
        """Raise the error of the present token with a second report on a range of the source."""
        error = self.error(expecting)
        error.reports.append((advice, start, end - start))
        raise error

    # definitions

    def program(self) -> tuple[list[nodes.Definition], Node | None]:
        definitions: list[nodes.Definition] = []
        while self.is_keyword("def"):
            definitions.append(self.definition())
        if self.token.kind == "end":
            return definitions, None
        main = self.pipe()
        if self.token.kind != "end":
            self.fail("end of file" if isinstance(main, nodes.Define) or self.at else "")
        return definitions, main

    def definition(self) -> nodes.Definition:
        self.expect("def")
        if self.token.kind not in ("word", "keyword"):
            self.fail("IDENT or __loc__" if self.token.kind == "end" else "")
        name = self.advance().text
        parameters: list[nodes.Parameter] = []
        if self.take_sign("("):
            while True:
                if self.token.kind not in ("variable", "word", "keyword"):
                    self.fail()
                is_value = self.token.kind == "variable"
                parameters.append(nodes.Parameter(self.advance().text.lstrip("$"), is_value))
                if self.take_sign(")"):
                    break
                self.expect(";", "';' or ')'")
        self.expect(":", "'(' or ':'" if not parameters else "':'")
        body = self.pipe()
        self.expect(";", "'|' or ',' or ';'")
        return nodes.Definition(name, parameters, body)

    # expressions, from the loosest binding to the tightest

    def pipe(self) -> Node:
        self.enter()
        stages: list[Node] = []
        while True:
            if self.is_keyword("def"):
                definition = self.definition()
                stages.append(nodes.Define(definition, self.pipe()))
                break
            stages.append(self.comma())
            if not self.take_sign("|"):
                break
        self.depth -= 1
        return _piped(stages)

    def comma(self) -> Node:
        node = self.operand()
        while self.take_sign(","):
            node = nodes.Comma(node, self.operand())
        return node

    def operand(self) -> Node:
        """Read a part of a comma; a definition, a label or a binding takes all that follows."""
        if self.is_keyword("def"):
            return self.pipe()
        if self.take_keyword("label"):
            if self.token.kind != "variable":
                self.fail("BINDING")
            name = self.advance().text[1:]
            self.expect("|", "'|'")
            return nodes.Label(name, self.pipe())
        node = self.operators(1)
        if self.take_keyword("as"):
            patterns = self.patterns()
            self.expect("|", "'|'")
            return nodes.Bind(node, patterns, self.pipe())
        return node

    def operators(self, minimum: int) -> Node:
        """Read operators that bind at least as tightly as `minimum`."""
        self.enter()
        left = self.postfix()
        while True:
            power = self.binding_power()
            if power < minimum:
                break
            sign = self.advance().text
            right = self.operators(power if power in _RIGHT_ASSOCIATIVE else power + 1)
            left = _operation(sign, left, right)
            if power in _NOT_ASSOCIATIVE and self.binding_power() == power:
                self.fail()
        self.depth -= 1
        return left

    def binding_power(self) -> int:
        """Return how tightly the operator at hand binds; 0 for what is no operator."""
        is_operator = self.token.kind in ("sign", "keyword")
        return _BINDING_POWER.get(self.token.text, 0) if is_operator else 0

    # terms

    def postfix(self) -> Node:
        """Read a term with the indexes, slices, iterations and `?` that follow it."""
        node = self.term()
        while True:
            if self.take_sign("?"):
                node = nodes.Try(node, None)
                continue
            following = self.suffix(node)
            if following is None:
                return node
            node = following
            if self.take_sign("?"):
                node = _optional(node)

    def suffix(self, target: Node) -> Node | None:
        """Read an index, slice or iteration of a term; return None if none follows."""
        token = self.token
        if token.kind == "field":
            self.advance()
            return nodes.Index(target, nodes.Constant(token.text[1:]))
        if self.take_sign("["):
            return self.brackets(target)
        if self.take_sign("."):
            if self.token.kind == "string":
                return nodes.Index(target, self.string(None))
            if self.take_sign("["):
                return self.brackets(target)
            self.fail("FORMAT or QQSTRING_START or '['")
        return None

    def brackets(self, target: Node) -> Node:
        """Read what follows "[" after a term: nothing, an index, or a slice."""
        if self.take_sign("]"):
            return nodes.Iterate(target)
        start: Node | None = None
        if not self.is_sign(":"):
            start = self.pipe()
            if self.take_sign("]"):
                return nodes.Index(target, start)
        self.expect(":", "'|' or ',' or ':' or ']'")
        if start is not None and self.take_sign("]"):
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
            return self.string(text[1:]) if self.token.kind == "string" else nodes.Format(text[1:])
        if kind == "field":
            self.advance()
            return nodes.Index(nodes.Identity(), nodes.Constant(text[1:]))
        if kind == "variable":
            self.advance()
            return self.location(token) if text == "$__loc__" else _variable(token)
        if kind == "word":
            return self.call()
        if kind == "keyword" and text in _KEYWORD_TERMS:
            self.enter()
            node = self.keyword_term(text)
            self.depth -= 1
            return node
        if kind == "sign" and text in _SIGN_TERMS:
            return _SIGN_TERMS[text](self)
        return self.fail("" if self.at or self.interpolated or kind == "end" else "end of file")

    def location(self, token: Token) -> Node:
        line = self.source.count("\n", 0, token.position) + 1
        return nodes.Constant({"file": "<top-level>", "line": line})

    def dot(self) -> Node:
        """Read `.` or `."name"`."""
        dot = self.advance()
        following = self.token
        if following.kind == "string":
            return nodes.Index(nodes.Identity(), self.string(None))
        if following.kind in ("number", "variable", "format") or self.is_sign("{", "("):
            advice = 'try .["field"] instead of .field for unusually named fields'
            self.fail_with_advice(advice, dot.position, following.end)
        return nodes.Identity()

    def recursion(self) -> Node:
        return nodes.Call("recurse", [], self.advance().position)

    def bare_dollar(self) -> Node:
        self.advance()
        self.fail("'$'")

    def parenthesized(self) -> Node:
        self.advance()
        self.opened += 1
        node = self.pipe()
        self.expect(")", _END_OF_GROUP)
        self.opened -= 1
        return node

    def array(self) -> Node:
        self.advance()
        if self.take_sign("]"):
            return nodes.ArrayOf(None)
        self.opened += 1
        node = self.pipe()
        self.expect("]", "'|' or ',' or ']'")
        self.opened -= 1
        return nodes.ArrayOf(node)

    def negated(self) -> Node:
        self.advance()
        self.enter()
        node = nodes.Negate(self.postfix())
        self.depth -= 1
        return node

    def call(self) -> Node:
        token = self.advance()
        text = token.text
        if text in _CONSTANTS:
            return nodes.Constant(_CONSTANTS[text])
        if text == "break" and self.token.kind == "variable":
            return nodes.Break(self.advance().text[1:], token.position)
        if text == "break":
            end = token.end if self.token.kind == "end" else self.token.end
            advice = "break requires a label to break to"
            self.fail_with_advice(advice, token.position, end, "BINDING")
        arguments: list[Node] = []
        if self.take_sign("("):
            arguments.append(self.pipe())
            while not self.take_sign(")"):
                self.expect(";", "';' or ')'")
                arguments.append(self.pipe())
        return nodes.Call(text, arguments, token.position)

    # keywords

    def keyword_term(self, text: str) -> Node:
        start = self.advance()
        if text == "if":
            return self.condition(start)
        if text == "try":
            body = self.postfix()
            return nodes.Try(body, self.postfix() if self.take_keyword("catch") else None)
        return self.fold(text)

    def condition(self, start: Token) -> Node:
        test = self.test()
        opened = self.opened
        try:
            return self.branches(test)
        except JqSyntaxError as error:
            if self.opened == opened and len(error.reports) == 1:
                length = self.token.end - start.position
                advice = "Possibly unterminated 'if' statement"
                error.reports.append((advice, start.position, length))
            raise

    def test(self) -> Node:
        """Read what stands between `if` or `elif` and `then`."""
        node = self.pipe()
        if not self.take_keyword("then"):
            self.fail("then or '|' or ','")
        return node

    def branches(self, test: Node) -> Node:
        """Read what follows `then`."""
        consequence = self.pipe()
        if self.take_keyword("elif"):
            return nodes.If(test, consequence, self.branches(self.test()))
        alternative: Node = nodes.Identity()
        expecting = ""
        if self.take_keyword("else"):
            alternative = self.pipe()
            expecting = "end or '|' or ','"
        if not self.take_keyword("end"):
            self.fail(expecting)
        return nodes.If(test, consequence, alternative)

    def fold(self, text: str) -> Node:
        """Read `reduce` or `foreach` behind its keyword."""
        source = self.operators(1)
        self.expect("as")
        patterns = self.patterns()
        self.expect("(", "'('")
        start = self.pipe()
        self.expect(";", "'|' or ',' or ';'")
        update = self.pipe()
        extract: Node = nodes.Identity()
        if text == "foreach" and self.take_sign(";"):
            extract = self.pipe()
        self.expect(")", _END_OF_GROUP)
        if text == "reduce":
            return nodes.Reduce(source, patterns, start, update)
        return nodes.Foreach(source, patterns, start, update, extract)

    # patterns

    def patterns(self) -> list[Pattern]:
        found = [self.pattern()]
        while self.take_sign("?//"):
            found.append(self.pattern())
        return found

    def pattern(self) -> Pattern:
        self.enter()
        found: Pattern
        if self.token.kind == "variable":
            found = nodes.VariablePattern(self.advance().text[1:])
        elif self.take_sign("["):
            items = [self.pattern()]
            while self.take_sign(","):
                items.append(self.pattern())
            self.expect("]", "',' or ']'")
            found = nodes.ArrayPattern(items)
        elif self.take_sign("{"):
            entries = [self.pattern_entry()]
            while not self.take_sign("}"):
                self.expect(",", "',' or '}'")
                entries.append(self.pattern_entry())
            found = nodes.ObjectPattern(entries)
        else:
            self.fail("BINDING or '[' or '{'")
        self.depth -= 1
        return found

    def pattern_entry(self) -> tuple[str | None, Node, Pattern | None]:
        token = self.token
        variable: str | None = None
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
            key = self.computed_key()
        else:
            self.fail()
        if self.take_sign(":"):
            return variable, key, self.pattern()
        if variable is None:
            self.fail("':'")
        return variable, key, None

    # objects

    def object(self) -> Node:
        self.advance()
        self.opened += 1
        entries: list[tuple[Node, Node]] = []
        first = self.token
        while not self.is_sign("}"):
            entries.append(self.entry())
            if not self.take_sign(","):
                break
        if not self.take_sign("}"):
            self.bad_key(first, "'}'")
        self.opened -= 1
        return nodes.ObjectOf(entries)

    def entry(self) -> tuple[Node, Node]:
        token = self.token
        kind, text = token.kind, token.text
        key: Node
        if kind == "variable":
            self.advance()
            if text == "$__loc__":
                return nodes.Constant("__loc__"), self.location(token)
            if self.take_sign(":"):
                return _variable(token), self.object_value()
            return nodes.Constant(text[1:]), _variable(token)
        if self.is_sign("("):
            key = self.computed_key()
            self.expect(":", "':'")
            return key, self.object_value()
        if kind in ("word", "keyword"):
            self.advance()
            key = nodes.Constant(text)
        elif kind == "string":
            key = self.string(None)
        elif kind == "format":
            self.advance()
            is_string = self.token.kind == "string"
            key = self.string(text[1:]) if is_string else nodes.Constant(text)
        else:
            self.bad_key(token)
        if self.take_sign(":"):
            return key, self.object_value()
        return key, nodes.Index(nodes.Identity(), key)

    def computed_key(self) -> Node:
        """Read `(expression)`, the key of a pattern or of an object."""
        self.advance()
        first = self.token
        key = self.pipe()
        self.expect(")", _END_OF_GROUP)
        if isinstance(key, nodes.Constant) and not isinstance(key.value, str):
            message = f"Cannot use {describe(key.value)} as object key"
            raise JqSyntaxError(message, first.position, first.end - first.position)
        return key

    def bad_key(self, token: Token, expecting: str = "") -> NoReturn:
        """Fail in an entry that began at `token`.

        If a ":" follows further on, or the entry is a number, jq gives advice on parentheses.
        """
        end = token.end
        is_key = False
        for later, following in zip(
            self.tokens[self.at :], self.tokens[self.at + 1 :], strict=False
        ):
            if later.text in (":", "}", ",") or later.kind in ("end", "invalid"):
                is_key = later.text == ":" and following.text not in ("}", ")", "]", ",", ":")
                break
            end = later.end
        if token.kind == "number" or is_key:
            advice = "May need parentheses around object key expression"
            self.fail_with_advice(advice, token.position, end, expecting)
        self.fail(expecting)

    def object_value(self) -> Node:
        """Read a value in an object: operators other than "," joined by "|"."""
        stages = [self.operators(2)]
        while self.take_sign("|"):
            stages.append(self.operators(2))
        return _piped(stages)

    def string(self, format: str | None) -> Node:
        token = self.advance()
        parts: list[str | Node] = []
        for part in token.parts:
            if isinstance(part, str):
                if part:
                    parts.append(part)
                continue
            inner = _Parser(self.source, part, depth=self.depth)
            inner.enter()
            parts.append(inner.pipe())
            if inner.token.kind != "end" or not inner.token.text:
                inner.fail("QQSTRING_INTERP_END or '|' or ','")
        if token.error is not None:
            raise token.error
        if all(isinstance(part, str) for part in parts):
            return nodes.Constant("".join(str(part) for part in parts))
        return nodes.Text(format, parts)


_SIGN_TERMS: dict[str, Callable[[_Parser], Node]] = {
    ".": _Parser.dot,
    "..": _Parser.recursion,
    "$": _Parser.bare_dollar,
    "(": _Parser.parenthesized,
    "[": _Parser.array,
    "{": _Parser.object,
    "-": _Parser.negated,
}


def _variable(token: Token) -> Node:
    return nodes.Variable(token.text[1:], token.position)


def _operation(sign: str, left: Node, right: Node) -> Node:
    if sign == "//":
        return nodes.Alternative(left, right)
    if sign in ("and", "or"):
        return nodes.Logical(sign, left, right)
    if _BINDING_POWER[sign] == 3:
        return nodes.Assign(sign, left, right)
    return nodes.Binary(sign, left, right)


_KEY, _END = "[key]", "[end]"
"""Variables that no program can name."""


def _optional(node: Node) -> Node:
    """Return an access whose errors count for nothing; those of its target and keys do count."""
    if isinstance(node, nodes.Iterate):
        return nodes.Pipe(node.body, nodes.Try(nodes.Iterate(nodes.Identity()), None))
    if isinstance(node, nodes.Index):
        if isinstance(node.key, nodes.Constant):
            return nodes.Pipe(node.target, nodes.Try(nodes.Index(nodes.Identity(), node.key), None))
        access: Node = nodes.Index(nodes.Identity(), nodes.Variable(_KEY, -1))
        return _bound(node.key, _KEY, nodes.Pipe(node.target, nodes.Try(access, None)))
    assert isinstance(node, nodes.Slice)
    start = None if node.start is None else nodes.Variable(_KEY, -1)
    end = None if node.end is None else nodes.Variable(_END, -1)
    access = nodes.Slice(nodes.Identity(), start, end)
    body: Node = nodes.Pipe(node.target, nodes.Try(access, None))
    body = body if node.end is None else _bound(node.end, _END, body)
    return body if node.start is None else _bound(node.start, _KEY, body)


def _bound(source: Node, name: str, body: Node) -> Node:
    return nodes.Bind(source, [nodes.VariablePattern(name)], body)
