"""Statements that control others, and `delete`, from tokens into nodes."""

from __future__ import annotations

from agentsandbox.commands.awk import flow_nodes, nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.commands.awk.nodes import Expression, Statement
    from agentsandbox.commands.awk.terms import Terms


def if_statement(parser: Terms) -> Statement:
    line = parser.advance().line
    parser.expect("(")
    condition = parser.expression()
    parser.expect(")")
    yes = _read_body(parser)
    ahead = 0
    while parser.peek(ahead).kind in ("NEWLINE", ";"):
        ahead += 1
    if parser.peek(ahead).kind != "else":
        return flow_nodes.If(line, condition, yes, None)
    while parser.token.kind != "else":
        parser.advance()
    parser.advance()
    return flow_nodes.If(line, condition, yes, _read_body(parser))


def _read_body(parser: Terms) -> Statement:
    """Read the statement behind a condition, which may be on the next line, or empty."""
    parser.newlines()
    if parser.token.kind == ";":
        return nodes.Block(parser.advance().line, [])
    if parser.token.kind in ("}", "EOF"):
        raise parser.unexpected()
    return parser.statement()


def while_statement(parser: Terms) -> Statement:
    line = parser.advance().line
    parser.expect("(")
    condition = parser.expression()
    parser.expect(")")
    return flow_nodes.While(line, condition, _loop_body(parser))


def _loop_body(parser: Terms) -> Statement:
    parser.in_loop += 1
    body = _read_body(parser)
    parser.in_loop -= 1
    return body


def do_statement(parser: Terms) -> Statement:
    line = parser.advance().line
    body = _loop_body(parser)
    while parser.token.kind in ("NEWLINE", ";"):
        parser.advance()
    parser.expect("while")
    parser.expect("(")
    condition = parser.expression()
    parser.expect(")")
    parser.terminate()
    return flow_nodes.DoWhile(line, body, condition)


def for_statement(parser: Terms) -> Statement:
    line = parser.advance().line
    parser.expect("(")
    if parser.token.kind == "NAME" and parser.peek().kind == "in" and parser.peek(2).kind == "NAME":
        saved = parser.position
        variable = parser.variable(parser.advance())
        parser.advance()
        array = parser.name_or_index()
        if parser.token.kind == ")":
            parser.advance()
            return flow_nodes.ForIn(line, variable, array, _loop_body(parser))
        parser.position = saved
        parser.token = parser.tokens[saved]
    start = None if parser.token.kind == ";" else parser.simple()
    parser.expect(";")
    parser.newlines()
    condition = None if parser.token.kind == ";" else parser.expression()
    parser.expect(";")
    parser.newlines()
    step = None if parser.token.kind == ")" else parser.simple()
    parser.expect(")")
    return flow_nodes.For(line, start, condition, step, _loop_body(parser))


def switch_statement(parser: Terms) -> Statement:
    line = parser.advance().line
    parser.expect("(")
    subject = parser.expression()
    parser.expect(")")
    parser.newlines()
    parser.expect("{")
    cases: list[tuple[Expression | None, list[Statement]]] = []
    parser.in_switch += 1
    while True:
        while parser.token.kind in ("NEWLINE", ";"):
            parser.advance()
        if parser.token.kind == "}":
            break
        value: Expression | None = None
        if parser.token.kind == "case":
            parser.advance()
            value = _case_value(parser)
        else:
            parser.expect("default")
        parser.expect(":")
        cases.append((value, parser.statements()))
    parser.in_switch -= 1
    parser.advance()
    return flow_nodes.Switch(line, subject, cases)


def _case_value(parser: Terms) -> Expression:
    token = parser.token
    if token.kind in ("-", "+") and parser.peek().kind == "NUMBER":
        parser.advance()
        return nodes.Unary(token.line, token.kind, parser.operand())
    if token.kind == "TYPED":
        return parser.regex()
    if token.kind not in ("NUMBER", "STRING", "ERE"):
        raise parser.unexpected()
    return parser.operand()


def jump(parser: Terms) -> Statement:
    token = parser.advance()
    kind = token.kind
    if kind == "break" and not (parser.in_loop or parser.in_switch):
        raise parser.twice("error: `break' is not allowed outside a loop or switch")
    if kind == "continue" and not parser.in_loop:
        raise parser.twice("error: `continue' is not allowed outside a loop")
    if kind in ("next", "nextfile") and parser.rule_kind in (
        "BEGIN",
        "END",
        "BEGINFILE",
        "ENDFILE",
    ):
        if not (kind == "nextfile" and parser.rule_kind == "BEGINFILE"):
            raise parser.error(f"error: `{kind}' used in {parser.rule_kind} action")
    parser.terminate()
    return flow_nodes.Jump(token.line, kind)


def return_statement(parser: Terms) -> Statement:
    token = parser.token
    if not parser.in_function:
        raise parser.pointed(token.position, "`return' used outside function context")
    parser.advance()
    value = None if parser.token.kind in (";", "NEWLINE", "}", "EOF") else parser.expression()
    parser.terminate()
    return flow_nodes.Return(token.line, value)


def exit_statement(parser: Terms) -> Statement:
    line = parser.advance().line
    value = None if parser.token.kind in (";", "NEWLINE", "}", "EOF") else parser.expression()
    parser.terminate()
    return flow_nodes.Exit(line, value)


def delete(parser: Terms) -> Statement:
    line = parser.advance().line
    if parser.token.kind == "(":
        if parser.mode.traditional:
            message = "error: `delete(array)' is a non-portable tawk extension"
            parser.complaints += parser.error(message, line).lines
        parser.advance()
        target = parser.name_or_index()
        parser.expect(")")
    else:
        target = parser.name_or_index()
    base = target.base if isinstance(target, nodes.Index) else target
    if isinstance(base, nodes.Name) and base.name in ("FUNCTAB", "SYMTAB"):
        at = parser.tokens[parser.position - 1].line
        if base is target:  # gawk has read on
            at = parser.token.line + (parser.token.kind == "NEWLINE")
        raise parser.error(f"fatal: `delete' is not allowed with {base.name}", at)
    return flow_nodes.Delete(line, target)


STATEMENTS: dict[str, Callable[[Terms], Statement]] = {
    "if": if_statement, "while": while_statement, "do": do_statement, "for": for_statement,
    "switch": switch_statement, "return": return_statement, "exit": exit_statement,
    **dict.fromkeys(("break", "continue", "next", "nextfile"), jump),
}  # fmt: skip
"""What reads the statement that begins with each word."""
