"""select: a menu on stderr, an answer from stdin."""

from __future__ import annotations

import os

from agentsandbox.errors import Break, Continue
from agentsandbox.kernel.streams import decode
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import is_name
from agentsandbox.shell.interpreter.dispatch import compile_command, compiles
from agentsandbox.shell.interpreter.flow import leave_loop, refuse_name, trace_loop
from agentsandbox.shell.interpreter.redirections import redirected
from agentsandbox.shell.interpreter.words import WORDS
from agentsandbox.shell.syntax.compound_nodes import Select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agentsandbox.kernel.budget import Budget
    from agentsandbox.shell.interpreter.shell import Run, Shell


@compiles(Select)
def _select(node: Select) -> Run:
    words = [WORDS.fields(word) for word in node.words] if node.words is not None else None
    body = compile_command(node.body)
    name, line = node.name, node.line
    valid = is_name(name)

    def run(shell: Shell) -> int:
        if not valid:
            return refuse_name(shell, name, line)
        items: list[str] = []
        if words is None:
            items.extend(shell.stack.positional)
        else:
            for word in words:
                word(shell, items)
        if shell.slow:
            trace_loop(shell, "select", node)
        if not items:
            shell.status = 0
            return 0
        status = 0
        menu, show = _menu(items, _columns(shell), shell.budget), True
        shell.control.loops += 1
        try:
            while True:
                reply = _ask(shell, menu, show=show)
                show = False
                if reply is None:
                    status = 1
                    break
                chosen = reply.strip()
                is_number = chosen.isdigit() and chosen.isascii() and len(chosen) < 10
                number = int(chosen) if is_number else 0
                try:
                    shell.variables.assign(
                        name, items[number - 1] if 1 <= number <= len(items) else ""
                    )
                except ExpansionError as error:
                    shell.report(error)
                    status = 1
                    break
                try:
                    status = body(shell)
                except Continue:
                    if leave_loop(shell):
                        raise Continue from None
        except Break:
            if leave_loop(shell):
                raise Break from None
            status = int(shell.status)
        finally:
            shell.control.loops -= 1
        shell.status = status
        return status

    return redirected(node.redirections, run)


def _ask(shell: Shell, menu: str, *, show: bool) -> str | None:
    """Ask until there is an answer, which becomes REPLY; None at the end of the input."""
    while True:
        shell.budget.step()
        if show:
            shell.show(menu)
        shell.show(shell.variables.get("PS3") or "#? ")
        stream = shell.fds.get(0)
        try:
            answer = stream.readline() if stream is not None else b""
        except OSError as error:
            shell.complain(f"read error: 0: {os.strerror(error.errno or 5)}")
            answer = b""
        if not answer:
            shell.show("\n", 1)
            return None
        reply = decode(answer).rstrip("\n")
        shell.variables.assign("REPLY", reply)
        if reply.strip():
            return reply
        show = True


def _columns(shell: Shell) -> int:
    text = shell.variables.get("COLUMNS")
    return (
        int(text)
        if text and text.isdigit() and text.isascii() and len(text) < 6
        else shell.machine.host.columns
    )


def _gap(at: int, to: int) -> str:
    """Return the tabs and blanks from one column of a line to another."""
    gap = ""
    while at < to:
        if to // 8 > at // 8:
            gap += "\t"
            at += 8 - at % 8
        else:
            gap += " "
            at += 1
    return gap


def _menu(items: list[str], width: int, budget: Budget) -> str:
    """Return the numbered items, in columns as bash arranges them."""
    digits = len(str(len(items)))
    longest = max(map(len, items)) + digits + 2
    column = longest + 2
    columns = max(1, width // column)
    rows = len(items) // columns + (len(items) % columns != 0)
    columns = len(items) // rows + (len(items) % rows != 0)
    if rows == 1:
        rows, columns = columns, 1
    first_digits = len(str(rows))
    lines: list[str] = []
    for row in range(rows):
        pieces: list[str] = []
        for at in range(row, len(items), rows):
            budget.step(2)
            used = first_digits if at < rows else digits
            entry = f"{at + 1:>{used}}) {items[at]}"
            place = at // rows * column
            pieces.append(
                entry
                if at + rows >= len(items)
                else entry + _gap(place + len(entry), place + column)
            )
        lines.append("".join(pieces))
    return "\n".join(lines) + "\n"
