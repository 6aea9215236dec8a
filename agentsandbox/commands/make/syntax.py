"""The syntax of single lines: assignments, comments, joined lines, quoted characters."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"(?<!\\)(\\*+)#")
KEYWORD = re.compile(r"[ \t\v\f\r]*+([^ \t\v\f\r]*+)[ \t\v\f\r]*+")
_MODIFIERS = ("export", "override", "private", "define", "undefine")
_STOPS = re.compile(r"[$:=#?+!\\ \t]")
OPERATORS = re.compile(r"(:::=|::=|:=|\?=|\+=|!=|=)")
BLANKS = " \t\n\v\f\r"


class Assignment:
    """`[override] [export] [private] NAME OPERATOR VALUE`, or a `define` or `undefine`."""

    __slots__ = ("kind", "modifiers", "name", "operator", "value")

    def __init__(self, name: str, operator: str, value: str, modifiers: frozenset[str]) -> None:
        self.name = name
        self.operator = operator
        self.value = value
        self.modifiers = modifiers


def parse_assignment(line: str, *, in_target: bool = False) -> Assignment | None:
    """Return the assignment that a line is, None for another line."""
    modifiers: set[str] = set()
    rest = line.strip(BLANKS) if not line.endswith((" ", "\t")) else line.lstrip(BLANKS)
    while True:
        found = _split_definition(rest)
        if found is not None:
            return Assignment(*found, frozenset(modifiers))
        word = KEYWORD.match(rest)
        if word is None or word[1] not in _MODIFIERS:
            return None
        after = rest[word.end() :]
        if word[1] in ("define", "undefine"):
            if in_target:
                return None
            modifiers.add(word[1])
            return Assignment(after.strip(BLANKS), "", "", frozenset(modifiers))
        if not after:
            return None
        modifiers.add(word[1])
        rest = after


def _split_definition(text: str) -> tuple[str, str, str] | None:
    """Return (name, operator, value) of `NAME OPERATOR VALUE`; the name may hold references."""
    at, end, blank = 0, len(text), -1
    while at < end:
        found = _STOPS.search(text, at)
        if found is None:
            return None
        letter, at = found[0], found.start()
        if blank >= 0 and at > blank and text[blank:at].strip(BLANKS):
            return None
        if letter in " \t":
            blank = at if blank < 0 else blank
            at += 1
            continue
        if letter == "#":
            return None
        if letter == "$":
            if blank >= 0:
                return None
            at = after_reference(text, at)
            continue
        operator = OPERATORS.match(text, at)
        if operator is not None:
            name = text[: blank if blank >= 0 else at]
            return name, operator[0], text[operator.end() :].lstrip(BLANKS)
        if letter == ":":
            return None
        if blank >= 0:
            return None
        at += 1
    return None


def after_reference(text: str, at: int) -> int:
    """Return where the reference that begins at a `$` ends."""
    opening = text[at + 1 : at + 2]
    if opening not in ("(", "{"):
        return at + 2
    closing = ")" if opening == "(" else "}"
    level, at = 1, at + 2
    for found in re.compile(f"[{re.escape(opening + closing)}]").finditer(text, at):
        level += 1 if found[0] == opening else -1
        if not level:
            return found.end()
    return len(text)


def find_unquoted(text: str, letters: str, start: int = 0) -> int:
    """Return where one of the letters is outside references and not after a backslash, or -1."""
    pattern = re.compile(f"[{re.escape(letters)}$]")
    at = start
    while True:
        found = pattern.search(text, at)
        if found is None:
            return -1
        at = found.start()
        if found[0] == "$":
            at = after_reference(text, at)
            continue
        if backslashes_before(text, at) % 2 == 0:
            return at
        at += 1


def backslashes_before(text: str, at: int) -> int:
    """Return how many backslashes are directly before a place."""
    start = at
    while start and text[start - 1] == "\\":
        start -= 1
    return at - start


def join_lines(line: str) -> str:
    """Replace each backslash-newline, with the blanks around it, by one blank."""
    if "\n" not in line:
        return line
    *pieces, last = line.split("\n")
    out: list[str] = []
    for number, piece in enumerate(pieces):
        count = backslashes_before(piece, len(piece))
        body = piece[: len(piece) - count].rstrip(" \t") + "\\" * (count // 2)
        out += (body.lstrip(BLANKS) if number else body, " " if count % 2 else "\n")
    return "".join([*out, last.lstrip(BLANKS)])


def strip_comment(line: str) -> str:
    """Remove an unquoted `#` and what follows; `\\#` becomes `#`."""
    if "#" not in line:
        return line
    out: list[str] = []
    start = 0
    for found in _COMMENT.finditer(line):
        count = len(found[1])
        out.append(line[start : found.start()] + "\\" * (count // 2))
        if count % 2 == 0:
            return "".join(out)
        out.append("#")
        start = found.end()
    return "".join([*out, line[start:]])
