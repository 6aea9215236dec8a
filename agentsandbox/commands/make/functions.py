"""The functions of GNU make that a makefile may call.

`FUNCTIONS` has for each name the fewest and the most arguments (0 for any number) and the function.
It gets the unexpanded arguments, because `if`, `or`, `and` and `foreach` expand only some of them.
"""

from __future__ import annotations

import posixpath
import re

from agentsandbox.commands.make.variables import AUTOMATIC, OVERRIDE, Variable, words_of
from agentsandbox.kernel.streams import Buffer, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from agentsandbox.commands.make.variables import FatalError, Place, Scope, Surroundings
    from agentsandbox.kernel.budget import Budget

    class Expander(Protocol):
        """What functions ask of the expansion that calls them (see `expansion`)."""

        build: Surroundings
        budget: Budget
        place: Place | None

        def fatal(self, message: str) -> FatalError: ...
        def expand(self, text: str, scope: Scope) -> str: ...
        def call(self, name: str, arguments: list[str], scope: Scope) -> str: ...
        def counted(self, text: str) -> list[str]: ...
        def recursive(self, variable: Variable, text: str, scope: Scope) -> str: ...
        def origin_of(self, name: str, scope: Scope) -> str: ...

    Function = Callable[[Expander, list[str], Scope], str]
    Plain = Callable[..., str]

_BLANKS = " \t\n\v\f\r"
_PERCENT = re.compile(r"(?<!\\)(\\*+)%")


def split_pattern(pattern: str) -> tuple[str, str | None]:
    """Return what is before and after the first `%` that no backslash quotes; None without one."""
    if "\\" not in pattern:
        before, percent, after = pattern.partition("%")
        return before, after if percent else None
    out: list[str] = []
    start = 0
    for found in _PERCENT.finditer(pattern):
        count = len(found[1])
        out.append(pattern[start : found.start()] + "\\" * (count // 2))
        if count % 2 == 0:
            return "".join(out), pattern[found.end() :]
        out.append("%")
        start = found.end()
    return "".join([*out, pattern[start:]]), None


def match_pattern(pattern: str, word: str) -> str | None:
    """Return the stem of a word that matches a pattern ("" for one without `%`), or None."""
    before, after = split_pattern(pattern)
    if after is None:
        return "" if word == before else None
    if len(word) < len(before) + len(after):
        return None
    if word.startswith(before) and word.endswith(after):
        return word[len(before) : len(word) - len(after)]
    return None


def substitute_pattern(pattern: str, replacement: str, word: str) -> str:
    """Return the word with the pattern replaced, or as it is."""
    _, after = split_pattern(pattern)
    stem = match_pattern(pattern, word)
    if stem is None:
        return word
    if after is None:
        return replacement
    first, last = split_pattern(replacement)
    return first if last is None else f"{first}{stem}{last}"


def _expanded(function: Plain) -> Function:
    """Make a function of expanded arguments and the expander one of unexpanded arguments."""

    def call(expander: Expander, arguments: list[str], scope: Scope) -> str:
        return function(expander, *[expander.expand(each, scope) for each in arguments])

    return call


def _subst(expander: Expander, old: str, new: str, text: str) -> str:
    if not old:
        return text + new
    expander.budget.charge(len(text) + text.count(old) * len(new))
    return text.replace(old, new)


def _patsubst(expander: Expander, pattern: str, replacement: str, text: str) -> str:
    pattern, replacement = pattern.strip(_BLANKS), replacement.strip(_BLANKS)
    return " ".join(
        [substitute_pattern(pattern, replacement, word) for word in expander.counted(text)]
    )


def _strip(expander: Expander, text: str) -> str:
    return " ".join(expander.counted(text))


def _findstring(expander: Expander, part: str, text: str) -> str:
    expander.budget.step(1 + (len(text) >> 10))
    return part if part in text else ""


def _filtered(expander: Expander, patterns: str, text: str, keep: bool) -> str:
    found = expander.counted(patterns)
    plain = {each for each in found if "%" not in each and "\\" not in each}
    others = [each for each in found if each not in plain]

    def matches(word: str) -> bool:
        expander.budget.step(1 + len(others))
        return word in plain or any(match_pattern(each, word) is not None for each in others)

    return " ".join([word for word in words_of(text) if matches(word) is keep])


def _sort(expander: Expander, text: str) -> str:
    return " ".join(sorted(set(expander.counted(text)), key=encode))


def _number(expander: Expander, text: str, place: str, name: str) -> int:
    digits = text.strip(_BLANKS)
    if not (digits.isascii() and digits.isdigit()):
        shown = digits or ""
        raise expander.fatal(f"non-numeric {place} argument to '{name}' function: '{shown}'")
    return int(digits[:12])


def _word(expander: Expander, number: str, text: str) -> str:
    at = _number(expander, number, "first", "word")
    if not at:
        raise expander.fatal("first argument to 'word' function must be greater than 0")
    words = expander.counted(text)
    return words[at - 1] if at <= len(words) else ""


def _wordlist(expander: Expander, first: str, last: str, text: str) -> str:
    start = _number(expander, first, "first", "wordlist")
    end = _number(expander, last, "second", "wordlist")
    if not start:
        raise expander.fatal(f"invalid first argument to 'wordlist' function: '{start}'")
    return " ".join(expander.counted(text)[start - 1 : end])


def _words(expander: Expander, text: str) -> str:
    return str(len(expander.counted(text)))


def _firstword(expander: Expander, text: str) -> str:
    return (expander.counted(text) or [""])[0]


def _lastword(expander: Expander, text: str) -> str:
    return (expander.counted(text) or [""])[-1]


def _each(change: Callable[[str], str | None]) -> Function:
    """Make a function that changes each word, or leaves it out."""

    def call(expander: Expander, text: str) -> str:
        found = [change(word) for word in expander.counted(text)]
        return " ".join([word for word in found if word is not None])

    return _expanded(call)


def _dir(word: str) -> str:
    head, slash, _ = word.rpartition("/")
    return head + slash if slash else "./"


def _notdir(word: str) -> str:
    return word.rpartition("/")[2]


def _suffix(word: str) -> str | None:
    _, dot, suffix = _notdir(word).rpartition(".")
    return f".{suffix}" if dot else None


def _basename(word: str) -> str:
    suffix = _suffix(word)
    return word if suffix is None else word[: len(word) - len(suffix)]


def _addsuffix(expander: Expander, suffix: str, text: str) -> str:
    return " ".join([word + suffix for word in expander.counted(text)])


def _addprefix(expander: Expander, prefix: str, text: str) -> str:
    return " ".join([prefix + word for word in expander.counted(text)])


def _join(expander: Expander, first: str, second: str) -> str:
    left, right = expander.counted(first), expander.counted(second)
    most = max(len(left), len(right))
    left += [""] * (most - len(left))
    right += [""] * (most - len(right))
    return " ".join([a + b for a, b in zip(left, right, strict=True)])


def _wildcard(expander: Expander, text: str) -> str:
    found: list[str] = []
    for pattern in expander.counted(text):
        found += expander.build.wildcard(pattern, only_existing=True)
    return " ".join(found)


def _realpath(expander: Expander, text: str) -> str:
    ctx, found = expander.build.ctx, []
    for word in expander.counted(text):
        try:
            path = ctx.fs.realpath(ctx.path(word))
            if ctx.fs.exists(path):
                found.append(path)
        except OSError:
            continue
    return " ".join(found)


def _abspath(expander: Expander, text: str) -> str:
    ctx = expander.build.ctx
    found = [posixpath.normpath(ctx.path(word)) for word in expander.counted(text)]
    return " ".join([path[1:] if path.startswith("//") else path for path in found])


def _if(expander: Expander, arguments: list[str], scope: Scope) -> str:
    if expander.expand(arguments[0].strip(_BLANKS), scope):
        return expander.expand(arguments[1], scope)
    return expander.expand(arguments[2], scope) if len(arguments) > 2 else ""


def _or(expander: Expander, arguments: list[str], scope: Scope) -> str:
    for argument in arguments:
        value = expander.expand(argument.strip(_BLANKS), scope)
        if value:
            return value
    return ""


def _and(expander: Expander, arguments: list[str], scope: Scope) -> str:
    value = ""
    for argument in arguments:
        value = expander.expand(argument.strip(_BLANKS), scope)
        if not value:
            return ""
    return value


def _inner(scope: Scope) -> Scope:
    return type(scope)(scope, inherits_private=True)


def _foreach(expander: Expander, arguments: list[str], scope: Scope) -> str:
    name = expander.expand(arguments[0], scope).strip(_BLANKS)
    words = expander.counted(expander.expand(arguments[1], scope))
    inner = _inner(scope)
    out: list[str] = []
    size = 0
    for word in words:
        inner.variables[name] = Variable(name, word, AUTOMATIC, recursive=False)
        out.append(expander.expand(arguments[2], inner))
        size += len(out[-1]) + 1
        expander.budget.charge(size)
    return " ".join(out)


def _call(expander: Expander, arguments: list[str], scope: Scope) -> str:
    values = [expander.expand(each, scope) for each in arguments]
    name = values[0].strip(_BLANKS)
    if name in FUNCTIONS:
        _, most, _ = FUNCTIONS[name]
        given = values[1:]
        if most and len(given) > most:
            given[most - 1 :] = [",".join(given[most - 1 :])]
        return expander.call(name, [each.replace("$", "$$") for each in given], scope)
    variable = scope.find(name)
    if variable is None:
        return ""
    inner = _inner(scope)
    for number, value in enumerate([name, *values[1:]]):
        inner.variables[str(number)] = Variable(str(number), value, AUTOMATIC, recursive=False)
    number = len(values)
    while scope.find(str(number)) is not None:
        inner.variables[str(number)] = Variable(str(number), "", AUTOMATIC, recursive=False)
        number += 1
    # A function may call itself, so it is not "a variable that refers to itself".
    saved, variable.expanding = variable.expanding, 2
    value = expander.recursive(variable, variable.value, inner)
    variable.expanding = saved
    return value


def _value(expander: Expander, arguments: list[str], scope: Scope) -> str:
    variable = scope.find(expander.expand(arguments[0], scope))
    return "" if variable is None else variable.value


def _origin(expander: Expander, arguments: list[str], scope: Scope) -> str:
    return expander.origin_of(expander.expand(arguments[0], scope), scope)


def _flavor(expander: Expander, arguments: list[str], scope: Scope) -> str:
    variable = scope.find(expander.expand(arguments[0], scope))
    if variable is None:
        return "undefined"
    return "recursive" if variable.recursive else "simple"


def _eval(expander: Expander, text: str) -> str:
    expander.build.read_text(text, expander.place)
    return ""


def _error(expander: Expander, text: str) -> str:
    raise expander.fatal(text)


def _warning(expander: Expander, text: str) -> str:
    expander.build.say_at(expander.place, text)
    return ""


def _info(expander: Expander, text: str) -> str:
    expander.build.ctx.print(text)
    return ""


def _shell(expander: Expander, text: str) -> str:
    build = expander.build
    output = Buffer(build.ctx.budget.value_bytes)
    if text.strip(_BLANKS):
        status = build.run_command(text, build.ctx.env, build.scope, stdout=output)
        build.scope.set(".SHELLSTATUS", str(status), OVERRIDE, recursive=False)
    return decode(output.getvalue()).rstrip("\n").replace("\r\n", "\n").replace("\n", " ")


def _file(expander: Expander, name: str, *texts: str) -> str:
    build, name = expander.build, name.strip(_BLANKS)
    ctx = build.ctx
    operator = ">>" if name.startswith(">>") else name[:1] if name[:1] in "<>" else ""
    path = name[len(operator) :].strip(_BLANKS)
    if not operator:
        raise expander.fatal(f"file: invalid file operation: {name}")
    if not path:
        raise expander.fatal("file: missing filename")
    try:
        if operator == "<":
            if texts:
                raise expander.fatal("file: too many arguments")
            if not ctx.fs.exists(ctx.path(path)):
                return ""
            return decode(ctx.fs.read_bytes(ctx.path(path))).removesuffix("\n")
        with ctx.fs.open(ctx.path(path), "a" if operator == ">>" else "w") as target:
            for text in texts:
                target.write(encode(text if text.endswith("\n") else f"{text}\n"))
    except OSError as error:
        reason = error.strerror or "Input/output error"
        raise expander.fatal(f"{'read' if operator == '<' else 'open'}: {path}: {reason}") from None
    return ""


FUNCTIONS: dict[str, tuple[int, int, Function]] = {
    "abspath": (0, 1, _expanded(_abspath)),
    "addprefix": (2, 2, _expanded(_addprefix)),
    "addsuffix": (2, 2, _expanded(_addsuffix)),
    "and": (1, 0, _and),
    "basename": (0, 1, _each(_basename)),
    "call": (1, 0, _call),
    "dir": (0, 1, _each(_dir)),
    "error": (0, 1, _expanded(_error)),
    "eval": (0, 1, _expanded(_eval)),
    "file": (1, 2, _expanded(_file)),
    "filter": (
        2,
        2,
        _expanded(lambda expander, patterns, text: _filtered(expander, patterns, text, True)),
    ),
    "filter-out": (
        2,
        2,
        _expanded(lambda expander, patterns, text: _filtered(expander, patterns, text, False)),
    ),
    "findstring": (2, 2, _expanded(_findstring)),
    "firstword": (0, 1, _expanded(_firstword)),
    "flavor": (0, 1, _flavor),
    "foreach": (3, 3, _foreach),
    "if": (2, 3, _if),
    "info": (0, 1, _expanded(_info)),
    "join": (2, 2, _expanded(_join)),
    "lastword": (0, 1, _expanded(_lastword)),
    "notdir": (0, 1, _each(_notdir)),
    "or": (1, 0, _or),
    "origin": (0, 1, _origin),
    "patsubst": (3, 3, _expanded(_patsubst)),
    "realpath": (0, 1, _expanded(_realpath)),
    "shell": (0, 1, _expanded(_shell)),
    "sort": (0, 1, _expanded(_sort)),
    "strip": (0, 1, _expanded(_strip)),
    "subst": (3, 3, _expanded(_subst)),
    "suffix": (0, 1, _each(_suffix)),
    "value": (0, 1, _value),
    "warning": (0, 1, _expanded(_warning)),
    "wildcard": (0, 1, _expanded(_wildcard)),
    "word": (2, 2, _expanded(_word)),
    "wordlist": (3, 3, _expanded(_wordlist)),
    "words": (0, 1, _expanded(_words)),
}
