"""The words of an expression.

A word is what the first rule says that fits, not the longest: so `keys`, `key` and `kind` stand in
this order, and names need no blank after them.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 65_536
_MOST = 4_000
"""Words of an expression."""


class ExpressionError(Exception):
    """An expression is not understood."""


class Token:
    """A word: an operator with its text and options, or a bracket.

    `assigns` is what it becomes before "="; `joins` says that a path that follows at once goes on
    from it.
    """

    __slots__ = ("assigns", "joins", "name", "options", "text", "value")

    def __init__(
        self, name: str, text: str = "", value: str = "", options: frozenset[str] = frozenset()
    ) -> None:
        self.name = name
        self.text = text
        self.value = value
        self.options = options
        self.assigns = ""
        self.joins = name in _JOINING


_JOINING = frozenset((
    ")", "]", "}", "variable", "path", "to_entries", "first", "from_entries", "parent", "env", "keys", "decode",
    "unique", "sort", "reverse", "flatten", "get_path", "split_doc",
))  # fmt: skip
_WORDS = (
    ("get_comment", "line", "line_?comment|lineComment"),
    ("get_comment", "head", "head_?comment|headComment"),
    ("get_comment", "foot", "foot_?comment|footComment"),
    ("(", "", r"\("),
    (")", "", r"\)"),
    (".[", "", r"\.\["),
    ("[", "", r"\["),
    ("]", "", r"\]\??"),
    ("{", "", r"\{"),
    ("}", "", r"\}"),
    ("recurse", "keys", r"\.\.\."),
    ("recurse", "", r"\.\."),
    ("variable", "", r"\$[a-zA-Z_\-0-9]+"),
    ("as", "", "as(?!cii)"),
    ("create_map", "", r":\s*"),
    ("length", "", "length"),
    ("to_number", "", "to_?number"),
    ("map_values", "", "map_?values"),
    ("map", "", "map"),
    ("filter", "", "filter"),
    ("pick", "", "pick"),
    ("omit", "", "omit"),
    ("flatten", "", r"flatten\([0-9]+\)|flatten"),
    ("error", "", "error"),
    ("sort_keys", "", "sortKeys|sort_?keys"),
    ("encode", "yaml", r"to_?yaml\([0-9]+\)"),
    ("encode", "json", r"to_?json\([0-9]+\)"),
    ("decode", "yaml", "from_?yaml|@yamld|from_?json|@jsond"),
    ("encode", "yaml", "to_?yaml|@yaml"),
    ("encode", "json", "to_?json|@json"),
    ("decode", "base64", "@base64d"),
    ("encode", "base64", "@base64"),
    ("load", "str", "load_?str|str_?load"),
    ("load", "yaml", "load"),
    ("split_doc", "", "splitDoc|split_?doc"),
    ("select", "", "select"),
    ("has", "", "has"),
    ("unique_by", "", "unique_?by"),
    ("unique", "", "unique"),
    ("group_by", "", "group_?by"),
    ("explode", "", "explode"),
    ("or", "", "or"),
    ("and", "", "and"),
    ("not", "", "not"),
    ("ireduce", "", "ireduce"),
    ("join", "", "join"),
    ("sub", "", "sub"),
    ("match", "", "match"),
    ("capture", "", "capture"),
    ("test", "", "test"),
    ("sort_by", "", "sort_?by"),
    ("sort", "", "sort"),
    ("first", "", "first"),
    ("reverse", "", "reverse"),
    ("any_c", "", "any_c"),
    ("any", "", "any"),
    ("all_c", "", "all_c"),
    ("all", "", "all"),
    ("contains", "", "contains"),
    ("split", "", "split"),
    ("parent", "", r"parent\(-?[0-9]+\)|parent"),
    ("keys", "", "keys"),
    ("key", "", "key"),
    ("filename", "", "file_?name|fileName"),
    ("file_index", "", "file_?index|fileIndex|fi"),
    ("get_path", "", "path"),
    ("to_entries", "", "to_?entries|toEntries"),
    ("from_entries", "", "from_?entries|fromEntries"),
    ("with_entries", "", "with_?entries|withEntries"),
    ("with", "", "with"),
    ("delete", "", "del"),
    ("get_style", "", "style"),
    ("get_tag", "", "tag|type"),
    ("kind", "", "kind"),
    ("get_anchor", "", "anchor"),
    ("get_alias", "", "alias"),
    ("assign_comment", "all", r"comments\s*="),
    ("assign_comment", "all update", r"comments\s*\|="),
    ("block", "", ";"),
    ("alternative", "", "//"),
    ("document_index", "", "documentIndex|document_?index|di"),
    ("upcase", "", "upcase|ascii_?upcase"),
    ("downcase", "", "downcase|ascii_?downcase"),
    ("trim", "", "trim"),
    ("to_string", "", "to_?string"),
    ("number", "int", "0[xX][0-9A-Fa-f]+"),
    ("number", "float", r"-?[1-9](?:\.[0-9]+)?[Ee][-+]?[0-9]+"),
    ("number", "float", r"-?[0-9]+(?:\.[0-9]+)"),
    ("number", "int", "-?[0-9]+"),
    ("value", "bool true", "[Tt][Rr][Uu][Ee]"),
    ("value", "bool", "[Ff][Aa][Ll][Ss][Ee]"),
    ("value", "null", "[Nn][Uu][Ll][Ll]|~"),
    ("string", "", r'"(?:[^"\\]*(?:\\.[^"\\]*)*)"'),
    ("env", "string", r"strenv\([^)]+\)"),
    ("env", "", r"env\([^)]+\)"),
    ("envsubst", "", "envsubst"),
    ("equals", "", r"\s*==\s*"),
    ("not_equals", "", r"\s*!=\s*"),
    ("compare", "greater equal", r"\s*>=\s*"),
    ("compare", "equal", r"\s*<=\s*"),
    ("compare", "greater", r"\s*>\s*"),
    ("compare", "", r"\s*<\s*"),
    ("min", "", "min"),
    ("max", "", "max"),
    ("assign", "update", r"\|=c*"),
    ("assign", "", "=c*"),
    ("", "", r"[ \t\n]+"),
    ("path", "quoted", r'\."[^ "]+"\??'),
    ("path", "", r"\.[^ ;}{:\[\],|.\[()=\n!]+\??"),
    ("pipe", "", r"\|"),
    ("self", "", r"\."),
    ("union", "", ","),
    ("multiply_assign", "", r"\*=[+|?cdn]*"),
    ("multiply", "", r"\*[+|?cdn]*"),
    ("divide", "", "/"),
    ("modulo", "", "%"),
    ("add_assign", "", r"\+="),
    ("add", "", r"\+"),
    ("subtract_assign", "", "-="),
    ("subtract", "", "-"),
    ("", "", "#.*"),
)
_RULES = re.compile("|".join(f"({pattern})" for _name, _options, pattern in _WORDS))
_DIGITS = re.compile(r"-?[0-9]+")
_ASSIGNED = {
    "get_comment": "assign_comment", "get_style": "assign_style", "get_tag": "assign_tag",
}  # fmt: skip
_ESCAPES = {
    '"': '"',
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "f": "\f",
    "v": "\v",
    "b": "\b",
    "a": "\a",
    "\\": "\\",
}
_ESCAPE = re.compile(r'\\\\\(|\\(["ntrfvba\\])')


def tokens_of(expression: str) -> list[Token]:
    """The words, with those put in that are only implied. Raises `ExpressionError`."""
    return list(_completed(list(_scan(expression))))


def _scan(expression: str) -> Iterator[Token]:
    if len(expression) > _LONGEST:
        raise ExpressionError("the expression is too long (D-yq)")
    at, count = 0, 0
    while at < len(expression):
        found = _RULES.match(expression, at)
        if found is None or found.end() == at:
            raise _unreadable(expression, at)
        at = found.end()
        rule = found.lastindex
        assert rule is not None
        name, options, _pattern = _WORDS[rule - 1]
        if name:
            count += 1
            if count > _MOST:
                raise ExpressionError("the expression is too long (D-yq)")
            yield _token(name, found[0], frozenset(options.split()))


def _unreadable(expression: str, at: int) -> ExpressionError:
    before = expression[:at]
    line = before.count("\n") + 1
    column = at - (before.rfind("\n") + 1) + 1
    rest = expression[at:]
    if len(rest) > 16:
        rest = rest[:16] + "..."
    return ExpressionError(f"{line}:{column}: invalid input text {quoted(rest)}")


def quoted(text: str) -> str:
    """A text as Go's %q shows it."""
    parts = ['"']
    for c in text:
        if c in '"\\':
            parts.append("\\" + c)
        elif c in "\n\t\r\a\b\f\v":
            parts.append("\\" + "ntrabfv"["\n\t\r\a\b\f\v".index(c)])
        elif c.isprintable():
            parts.append(c)
        else:
            code = ord(c)
            parts.append(
                f"\\x{code:02x}"
                if code < 0x80
                else f"\\u{code:04x}"
                if code < 0x10000
                else f"\\U{code:08x}"
            )
    return "".join(parts) + '"'


def _token(name: str, text: str, options: frozenset[str]) -> Token:
    if name == "path":
        if text[-1] == "?":
            options |= {"optional"}
            text = text[:-1]
        value = text[2:-1] if "quoted" in options else text[1:]
        return Token(name, value, value, options)
    if name == "]" and text == "]?":
        options |= {"optional"}
    if name == "string":
        value = _ESCAPE.sub(lambda found: _ESCAPES[found[1]] if found[1] else found[0], text[1:-1])
        return Token(name, value, value)
    if name == "variable":
        return Token(name, text[1:], text[1:])
    if name == "env":
        return Token(name, text, text[text.index("(") + 1 : -1], options)
    if name in ("multiply", "multiply_assign", "assign"):
        options |= frozenset(text.lstrip("*|="))
    value = text
    if name in ("encode", "flatten", "parent"):
        digits = _DIGITS.search(text.partition("(")[2])
        value = digits[0][:6] if digits else ""
        if name == "encode" and not value:
            value = "0" if text == "@json" else "2"
    token = Token(name, text, value, options)
    token.assigns = _ASSIGNED.get(name, "")
    return token


def _completed(tokens: list[Token]) -> Iterator[Token]:
    """The words, with the operators that stand unwritten between them."""
    skip = False
    for at, token in enumerate(tokens):
        if skip:
            skip = False
            continue
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        before = tokens[at - 1] if at else None
        if token.name == ".[":
            yield Token("self", ".")
            yield Token("traverse_array", "[")
            token = Token("[", "[")
        if token.name == "create_map" and before is not None and before.name in (".[", "["):
            yield Token("number", "0", "0", frozenset(("int",)))
        if token.assigns and following is not None and following.name == "assign":
            token = Token(token.assigns, token.text, token.value, token.options | following.options)
            skip = True
        if token.name == "first" and (following is None or following.name != "("):
            token = Token("first_of", token.text)
            token.joins = True
        yield token
        if following is None:
            return
        if token.name == "create_map" and following.name == "]":
            yield Token("length", "length")
        if (token.name, following.name) in (("[", "]"), ("{", "}")):
            yield Token("empty")
        if token.joins:
            if following.name in ("path", ".["):
                yield Token("short_pipe", ".")
            elif following.name == "[":
                yield Token("traverse_array", "[")
