"""What the operators of ${…} do to a text: cut, replace, change case, slice, quote."""

from __future__ import annotations

from agentsandbox.kernel.patterns.matchers import compile_shell_pattern
from agentsandbox.kernel.quoting import (
    declare_quote_double,
    has_metacharacters,
    needs_ansi,
    shell_quote_single,
)
from agentsandbox.kernel.streams import bytewise, decode, encode
from agentsandbox.shell.expansion.errors import ExpansionError
from agentsandbox.shell.expansion.variables import (
    ARRAY,
    ASSOCIATIVE,
    CAPITALIZE,
    EXPORT,
    INTEGER,
    LOWER,
    NAMEREF,
    READONLY,
    TRACE,
    UPPER,
    AssociativeArray,
    IndexedArray,
    NameReference,
    is_name,
)
from agentsandbox.shell.syntax.ansi_c import decode_ansi_c

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agentsandbox.kernel.patterns.matchers import ShellPattern
    from agentsandbox.shell.expansion.host import ExpansionHost

    Operator = Callable[[ExpansionHost, str, str, str], str]


def _compiled(host: ExpansionHost, pattern: str) -> ShellPattern:
    return compile_shell_pattern(pattern, host.options.shopt["nocasematch"], host.options.extglob)


def _prefix(longest: bool) -> Operator:
    def cut(host: ExpansionHost, text: str, pattern: str, _: str) -> str:
        end = compile_shell_pattern(pattern, False, host.options.extglob).prefix_end(
            text, longest=longest, step=host.budget.step
        )
        return text[end:] if end > 0 else text

    return cut


def _suffix(longest: bool) -> Operator:
    def cut(host: ExpansionHost, text: str, pattern: str, _: str) -> str:
        start = compile_shell_pattern(pattern, False, host.options.extglob).suffix_start(
            text, longest=longest, step=host.budget.step
        )
        return text[:start] if start >= 0 else text

    return cut


def _template(host: ExpansionHost, template: str) -> str:
    """Return the replacement in the form that `_replacement` reads; `&` may be text."""
    if host.options.shopt["patsub_replacement"] or "&" not in template:
        return template
    return template.replace("\\&", "&").replace("&", "\\&")


def _replacement(template: str, matched: str) -> str:
    """Return the replacement with each unquoted & replaced by the match."""
    if "&" not in template and "\\" not in template:
        return template
    pieces: list[str] = []
    position = 0
    while position < len(template):
        char = template[position]
        if char == "\\" and template[position + 1 : position + 2] in ("&", "\\"):
            position += 1
            pieces.append(template[position])
        elif char == "&":
            pieces.append(matched)
        else:
            pieces.append(char)
        position += 1
    return "".join(pieces)


def _substitute(everywhere: bool) -> Operator:
    def substitute(host: ExpansionHost, text: str, pattern: str, template: str) -> str:
        if not pattern:
            return text
        template = _template(host, template)
        compiled = _compiled(host, pattern)
        if compiled.is_miscounted():
            return text
        simple = "&" not in template and "\\" not in template
        if compiled.literal is not None and simple:
            count = text.count(compiled.literal) if everywhere else 1
            host.budget.charge(len(text) + count * len(template))
            return text.replace(compiled.literal, template, -1 if everywhere else 1)
        pieces: list[str] = []
        position = size = 0
        if not text and compiled.match(text):
            return _replacement(template, "")
        for start, end in compiled.spans(text, host.budget.step):
            piece = _replacement(template, text[start:end])
            size += start - position + len(piece)
            host.budget.charge(size)
            host.budget.step()
            pieces.append(text[position:start])
            pieces.append(piece)
            position = end
            if not everywhere:
                break
        pieces.append(text[position:])
        return "".join(pieces)

    return substitute


def _substitute_prefix(host: ExpansionHost, text: str, pattern: str, template: str) -> str:
    compiled = _compiled(host, pattern)
    end = compiled.prefix_end(text, longest=True, step=host.budget.step)
    return (
        text
        if end < 0 or compiled.is_miscounted()
        else _replacement(template, text[:end]) + text[end:]
    )


def _substitute_suffix(host: ExpansionHost, text: str, pattern: str, template: str) -> str:
    compiled = _compiled(host, pattern)
    start = compiled.suffix_start(text, longest=True, step=host.budget.step)
    return (
        text
        if start < 0 or compiled.is_miscounted()
        else text[:start] + _replacement(template, text[start:])
    )


def _case(change: Callable[[str], str], first_only: bool) -> Operator:
    def convert(host: ExpansionHost, text: str, pattern: str, _: str) -> str:
        if not pattern:
            return change(text[:1]) + text[1:] if first_only else _all_changed(host, change, text)
        compiled = compile_shell_pattern(pattern, False, host.options.extglob)
        if first_only:
            return change(text[:1]) + text[1:] if text and compiled.match(text[0]) else text
        pieces = []
        for start in range(0, len(text), _PIECE):
            host.budget.step(_PIECE >> 3)
            pieces.append(
                "".join(
                    [
                        change(char) if compiled.match(char) else char
                        for char in text[start : start + _PIECE]
                    ]
                )
            )
        return "".join(pieces)

    return convert


_PIECE = 16384
"""Characters between two looks at the clock."""


def _all_changed(host: ExpansionHost, change: Callable[[str], str], text: str) -> str:
    pieces = []
    for start in range(0, len(text), _PIECE):
        piece = text[start : start + _PIECE]
        # the only letter whose lower case depends on its neighbours
        changed = piece if "Σ" in piece else change(piece)
        if changed == piece and not piece.isascii():
            host.budget.step(_PIECE >> 3)
            changed = "".join(map(change, piece))
        pieces.append(changed)
    return "".join(pieces)


def _upper(char: str) -> str:
    upper = char.upper()
    return upper if len(upper) == len(char) else char


def _lower(char: str) -> str:
    lower = char.lower()
    return lower if len(lower) == len(char) else lower[0]


def _swap(text: str) -> str:
    swapped = text.swapcase()
    return swapped if len(swapped) == len(text) else text


def _in_locale(operator: Operator) -> Operator:
    """Apply the operator to characters, or to bytes in the locale C."""

    def apply(host: ExpansionHost, text: str, pattern: str, replacement: str) -> str:
        if not host.variables.bytewise or text.isascii():
            return operator(host, text, pattern, replacement)
        return decode(
            encode(operator(host, bytewise(text), bytewise(pattern), bytewise(replacement)))
        )

    return apply


_OPERATORS: dict[str, Operator] = {
    "#": _prefix(False),
    "##": _prefix(True),
    "%": _suffix(False),
    "%%": _suffix(True),
    "/": _substitute(False),
    "//": _substitute(True),
    "/#": _substitute_prefix,
    "/%": _substitute_suffix,
    "^": _case(_upper, True),
    "^^": _case(_upper, False),
    ",": _case(_lower, True),
    ",,": _case(_lower, False),
    "~": _case(_swap, True),
    "~~": _case(_swap, False),
}
OPERATORS = {symbol: _in_locale(operator) for symbol, operator in _OPERATORS.items()}


def slice_text(text: str, start: int, length: int | None, length_source: str) -> str:
    """${x:start:length}"""
    size = len(text)
    if start < 0:
        start += size
        if start < 0:
            return ""
    if length is None:
        return text[start:]
    if length < 0:
        end = size + length
        if end < start:
            if start > size:
                return ""
            raise ExpansionError(f"{length_source.strip()}: substring expression < 0")
        return text[start:end]
    return text[start : start + length]


def slice_list(items: list[str], start: int, length: int | None, size: int) -> list[str]:
    """${@:start:length}; negative starts count from the end."""
    if start < 0:
        start += size
        if start < 0:
            return []
    return items[start:] if length is None else items[start : start + length]


def attribute_letters(flags: int) -> str:
    """Return attributes as `${x@a}` and `declare -p` show them."""
    letters = (
        (ARRAY, "a"),
        (ASSOCIATIVE, "A"),
        (INTEGER, "i"),
        (NAMEREF, "n"),
        (READONLY, "r"),
        (TRACE, "t"),
        (EXPORT, "x"),
        (CAPITALIZE, "c"),
        (LOWER, "l"),
        (UPPER, "u"),
    )
    return "".join(letter for flag, letter in letters if flags & flag)


def transform(
    host: ExpansionHost, name: str, text: str | None, letter: str, *, whole: bool = False
) -> str | None:
    """${name@letter}"""
    if letter in "aA":
        host.variables.settle_exports()
    if letter == "A":
        return _assignment(host, name, text, whole)
    if letter == "a":
        resolved = host.variables.resolve(name) or name
        return (
            ""
            if isinstance(host.values.get(resolved), NameReference)
            else attribute_letters(host.attributes.get(resolved, 0))
        )
    if text is None:
        return None
    if len(text) > 65536:
        host.budget.charge(8 * len(text))
        host.budget.make(len(text))
    return _TRANSFORMATIONS[letter](host, text)


_TRANSFORMATIONS: dict[str, Callable[[ExpansionHost, str], str]] = {
    "U": lambda host, text: "".join(map(_upper, text)),
    "u": lambda host, text: _upper(text[:1]) + text[1:],
    "L": lambda host, text: "".join(map(_lower, text)),
    "Q": lambda host, text: shell_quote_single(host.seen(text), host.budget.pieces),
    "E": lambda host, text: decode_ansi_c(text),
    "P": lambda host, text: host.prompt(text),
    "K": lambda host, text: shell_quote_single(host.seen(text), host.budget.pieces),
    "k": lambda host, text: shell_quote_single(host.seen(text), host.budget.pieces),
}


def _assignment(host: ExpansionHost, name: str, text: str | None, whole: bool) -> str | None:
    if name in ("@", "*"):
        return (
            "set -- " + " ".join(map(shell_quote_single, host.stack.positional))
            if host.stack.positional
            else ""
        )
    if not is_name(name):
        return ""
    resolved = host.variables.resolve(name) or name
    flags = host.attributes.get(resolved, 0)
    letters = attribute_letters(flags)
    value = host.values.get(resolved)
    if whole and isinstance(value, (IndexedArray, AssociativeArray)):
        return f"declare -{letters} {resolved}={format_array(value)}"
    if isinstance(value, NameReference):  # it leads nowhere
        return None
    if text is None:
        return f"declare -{letters} {resolved}" if letters else None
    return (
        f"declare -{letters} " if letters else ""
    ) + f"{resolved}={shell_quote_single(host.seen(text), host.budget.pieces)}"


def quote_key(key: str) -> str:
    """Return a key of an associative array as `declare -p` shows it."""
    return (
        declare_quote_double(key)
        if key == "@" or has_metacharacters(key) or needs_ansi(key)
        else key
    )


def format_array(value: IndexedArray | AssociativeArray) -> str:
    """Return an array as `declare -p` shows it."""
    if isinstance(value, AssociativeArray):
        return (
            "("
            + "".join(
                f"[{quote_key(key)}]={declare_quote_double(text)} " for key, text in value.pairs()
            )
            + ")"
        )
    return (
        "(" + " ".join(f"[{key}]={declare_quote_double(text)}" for key, text in value.pairs()) + ")"
    )
