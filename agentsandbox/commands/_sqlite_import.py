"""Rows of a text file for `.import`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentsandbox.limits import Budget

__all__ = ["read_rows"]


def read_rows(text: str, column: str, row: str, is_csv: bool, budget: Budget) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of each row; quotes mean something in CSV only."""
    if not is_csv or '"' not in text:
        separator = "\n" if is_csv or row in ("\n", "\r\n") else row
        for number, line in enumerate(text.split(separator), 1):
            budget.step()
            line = line.removesuffix("\r") if separator == "\n" else line
            if line or number == 1:
                yield number, line.split(column)
        return
    yield from _quoted_rows(text, column, budget)


def _quoted_rows(text: str, column: str, budget: Budget) -> Iterator[tuple[int, list[str]]]:
    at, size, line = 0, len(text), 1
    while at < size:
        fields: list[str] = []
        first = line
        while True:
            budget.step()
            field, at = _quoted(text, at) if text.startswith('"', at) else _bare(text, at, column)
            line += field.count("\n")
            fields.append(field)
            if text.startswith(column, at):
                at += len(column)
                continue
            break
        if text.startswith("\r\n", at):
            at += 2
        elif at < size:
            at += 1
        line += 1
        yield first, fields


def _quoted(text: str, at: int) -> tuple[str, int]:
    parts: list[str] = []
    at += 1
    while True:
        end = text.find('"', at)
        if end < 0:
            parts.append(text[at:])
            return "".join(parts), len(text)
        parts.append(text[at:end])
        if text.startswith('""', end):
            parts.append('"')
            at = end + 2
            continue
        return "".join(parts), end + 1


def _bare(text: str, at: int, column: str) -> tuple[str, int]:
    newline = text.find("\n", at)
    newline = len(text) if newline < 0 else newline
    end = text.find(column, at, newline)
    if end < 0:
        end = newline - 1 if text[newline - 1 : newline] == "\r" and newline > at else newline
    return text[at:end], end
