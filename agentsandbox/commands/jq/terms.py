"""The terms of the grammar: what binds more tightly than any operator, patterns and objects
included.
"""

from __future__ import annotations

from agentsandbox.commands._json.json_text import parse_number
from agentsandbox.commands.jq import nodes
from agentsandbox.commands.jq.cursor import Cursor
from agentsandbox.commands.jq.lexer import JqSyntaxError, Token
from agentsandbox.commands.jq.operations import describe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from agentsandbox.commands.jq.nodes import Node, Pattern

_KEYWORD_TERMS = frozenset(("if", "reduce", "foreach", "try"))


class Terms(Cursor):
    """The part of the parser that reads terms; the expressions in them are read by the whole."""

    def pipe(self) -> Node:
        """An expression."""
        raise NotImplementedError

    def operators(self, minimum: int) -> Node:
        """An expression of operators that bind at least so tightly."""
        raise NotImplementedError

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
        if kind == "sign" and text in _SIGN_TERMS:
            return _SIGN_TERMS[text](self)
        return self.fail("" if self.at or self.interpolated or kind == "end" else "end of file")

    def location(self, token: Token) -> Node:
        line = self.source.count("\n", 0, token.position) + 1
        return nodes.Constant({"file": "<top-level>", "line": line})

    def dot(self) -> Node:
        """`.`, and `."name"`; a name that is no word needs brackets."""
        dot = self.advance()
        following = self.token
        if following.kind == "string":
            return nodes.Index(nodes.Identity(), self.string(None))
        if following.kind in ("number", "variable", "format") or self.is_sign("{", "("):
            try:
                self.fail()
            except JqSyntaxError as error:
                advice = 'try .["field"] instead of .field for unusually named fields'
                error.reports.append((advice, dot.position, following.end - dot.position))
                raise
        return nodes.Identity()

    def all_below(self) -> Node:
        return nodes.Call("recurse", [], self.advance().position)

    def bare_dollar(self) -> Node:
        self.advance()
        self.fail("'$'")

    def parenthesized(self) -> Node:
        self.advance()
        self.opened += 1
        node = self.pipe()
        self.expect(")", "'|' or ',' or ')'")
        self.opened -= 1
        return node

    def array(self) -> Node:
        self.advance()
        if self.is_sign("]"):
            self.advance()
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
        if text in ("true", "false", "null"):
            return nodes.Constant({"true": True, "false": False, "null": None}[text])
        if text == "break" and self.token.kind == "variable":
            return nodes.Break(self.advance().text[1:], token.position)
        if text == "break":
            error = self.error("BINDING")
            end = token.end if self.token.kind == "end" else self.token.end
            error.reports.append(
                ("break requires a label to break to", token.position, end - token.position)
            )
            raise error
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

    def condition(self) -> Node:
        start = self.advance()
        test = self.test()
        opened = self.opened
        try:
            return self.branches(test)
        except JqSyntaxError as error:
            if self.opened == opened and len(error.reports) == 1:
                error.reports.append(
                    (
                        "Possibly unterminated 'if' statement",
                        start.position,
                        self.token.end - start.position,
                    )
                )
            raise

    def test(self) -> Node:
        """What stands between `if` or `elif` and `then`."""
        node = self.pipe()
        if not self.is_keyword("then"):
            self.fail("then or '|' or ','")
        self.advance()
        return node

    def branches(self, test: Node) -> Node:
        """What follows `then`."""
        consequence = self.pipe()
        if self.is_keyword("elif"):
            self.advance()
            return nodes.If(test, consequence, self.branches(self.test()))
        alternative: Node = nodes.Identity()
        expecting = ""
        if self.is_keyword("else"):
            self.advance()
            alternative = self.pipe()
            expecting = "end or '|' or ','"
        if not self.is_keyword("end"):
            self.fail(expecting)
        self.advance()
        return nodes.If(test, consequence, alternative)

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
            raise JqSyntaxError(
                f"Cannot use {describe(key.value)} as object key",
                first.position,
                first.end - first.position,
            )

    def bad_key(self, token: Token, expecting: str = "") -> NoReturn:
        """Fail in an entry that began at `token`: if there is a ":" further on, what is before it
        may be meant as the key.
        """
        try:
            self.fail(expecting)
        except JqSyntaxError as error:
            end = token.end
            following = self.tokens[self.at :]
            for number, later in enumerate(following):
                if later.text in (":", "}", ",") or later.kind in ("end", "invalid"):
                    is_key = later.text == ":" and following[number + 1].text not in (
                        "}",
                        ")",
                        "]",
                        ",",
                        ":",
                    )
                    break
                end = later.end
            else:
                is_key = False
            if token.kind == "number" or is_key:
                error.reports.append(
                    (
                        "May need parentheses around object key expression",
                        token.position,
                        end - token.position,
                    )
                )
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
        parts: list[str | Node] = []
        for part in token.parts or ():
            if isinstance(part, str):
                if part:
                    parts.append(part)
                continue
            inner = type(self)(self.source, part)
            inner.depth, inner.interpolated = self.depth, True
            inner.enter()
            node = inner.pipe()
            if inner.token.kind != "end" or not inner.token.text:
                inner.fail("QQSTRING_INTERP_END or '|' or ','")
            parts.append(node)
        if token.error is not None:
            raise token.error
        if all(isinstance(part, str) for part in parts):
            return nodes.Constant("".join(str(part) for part in parts))
        return nodes.Text(format, parts)


_SIGN_TERMS: dict[str, Callable[[Terms], Node]] = {
    ".": Terms.dot,
    "..": Terms.all_below,
    "$": Terms.bare_dollar,
    "(": Terms.parenthesized,
    "[": Terms.array,
    "{": Terms.object,
    "-": Terms.negated,
}

_KEY, _END = "[key]", "[end]"
"""Variables that no program can name."""


def _optional(node: Node) -> Node:
    """An index, a slice or an iteration that may fail; what it is applied to and its keys may
    not.
    """
    if isinstance(node, nodes.Iterate):
        return nodes.Pipe(node.body, nodes.Try(nodes.Iterate(nodes.Identity()), None))
    if isinstance(node, nodes.Index):
        if isinstance(node.key, nodes.Constant):
            return nodes.Pipe(node.target, nodes.Try(nodes.Index(nodes.Identity(), node.key), None))
        access: Node = nodes.Index(nodes.Identity(), nodes.Variable(_KEY, -1))
        return nodes.Bind(
            node.key,
            [nodes.VariablePattern(_KEY)],
            nodes.Pipe(node.target, nodes.Try(access, None)),
        )
    assert isinstance(node, nodes.Slice)
    start = None if node.start is None else nodes.Variable(_KEY, -1)
    end = None if node.end is None else nodes.Variable(_END, -1)
    body: Node = nodes.Pipe(node.target, nodes.Try(nodes.Slice(nodes.Identity(), start, end), None))
    if node.end is not None:
        body = nodes.Bind(node.end, [nodes.VariablePattern(_END)], body)
    return (
        body if node.start is None else nodes.Bind(node.start, [nodes.VariablePattern(_KEY)], body)
    )
