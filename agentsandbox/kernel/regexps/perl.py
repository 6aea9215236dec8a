"""Perl-compatible patterns (`grep -P`) in the syntax of the `regex` package.

The two syntaxes are nearly the same. `_Translator` goes through the pattern once and rewrites what
differs: classes (in PCRE as grep 3.8 uses it they are ASCII, though letter case folds in all
scripts), escapes for codes, `$`, `\\Z`, `\\R` and others. It also refuses what PCRE refuses, in
PCRE's words.

The package has a timeout for searches, but none for compiling, and no limit for recursion. So
`_Meter` follows the groups: it refuses patterns whose counted repeats grow too large when written
out, and recursive calls that may happen before anything was matched.

For a block of lines (`newline_safe`), negated classes exclude the newline. A pattern that names a
newline, as in `a\\nb`, cannot be made safe that way (`names_newline`).
"""

from __future__ import annotations

import re

from agentsandbox.kernel.caching import cache_short
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.regexps.matcher import PerlRegex
from agentsandbox.kernel.regexps.parser import RegexError
from agentsandbox.kernel.regexps.perl_tree import read_perl
from agentsandbox.kernel.regexps.timed import RegexTooLarge, compile_timed
from agentsandbox.kernel.regexps.translate import ASCII_CLASSES

_MAX_LENGTH = 50_000
_SAFE_LENGTH = 100_000
"""The longest line that may be searched in a block: the time limit is one for the block."""
_POSIX_CLASSES = {**ASCII_CLASSES, "ascii": "\\x00-\\x7f"}
_HORIZONTAL = "\\t\\x20\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000"
_VERTICAL = "\\n\\x0b\\x0c\\r\\x85\\u2028\\u2029"
_SHORTHANDS = {"d": "0-9", "w": "0-9A-Za-z_", "s": "\\t-\\r\\x20", "h": _HORIZONTAL, "v": _VERTICAL}
_WITHOUT_NEWLINE = {"s": "\\t\\x0b-\\r\\x20", "v": "\\x0b\\x0c\\r\\x85\\u2028\\u2029"}
_WORD = "[0-9A-Za-z_]"
_BOUNDARY = f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))"
_NO_BOUNDARY = f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))"
_POSIX_ELEMENT = lazily(r"\[([:.=])(?:\\[\]\\]|(?!\[\1|\1\]|\\[\]\\])[^\]])*+\1\]")
_CONTROLS = {"a": "\\x07", "e": "\\x1b", "f": "\\x0c", "n": "\\n", "r": "\\r", "t": "\\t"}
_PLAIN = {
    "K": "\\K",
    "G": "\\G",
    "A": "\\A",
    "z": "\\Z",
    "Z": "(?=\\n?\\Z)",
    "X": "\\X",
    "R": "(?:\\r\\n|[" + _VERTICAL + "])",
    "N": "[^\\n]",
    "b": _BOUNDARY,
    "B": _NO_BOUNDARY,
}
_PLACES = frozenset("bBAzZGK")
_NEWLINE = "\\U0000000a"
_INVALID = "\\udc80-\\udcff"
"""Bytes that are not UTF-8, as `decode` represents them."""
_NO_CASE = "PCRE2 does not support \\F, \\L, \\l, \\N{name}, \\U, or \\u"
_REFUSED = {
    "F": _NO_CASE,
    "L": _NO_CASE,
    "l": _NO_CASE,
    "U": _NO_CASE,
    "u": _NO_CASE,
    "c": "\\c at end of pattern",
}
_COUNTS = lazily(r"\{(\d+)(?:,(\d*))?\}")
_CALL = lazily(r"\(\?(?:R|0|[+-]?\d+|&\w+|P>\w+)\)")
_GROUP = lazily(r"(?<!\\)\((?![?*])|\(\?(?:P?<|')\w")
_NAMED = lazily(r"\(\?(?:P?<|')(\w+)[>']")
_HEAD = lazily(r"\(\?(?:[a-zA-Z-]*:|>|\|)")
_MAX_SIZE = 20_000
_MAX_COUNT = 65_535
_MAX_NESTING = 200
_CODE = lazily(r"x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{0,2})|o\{([0-7]+)\}|(0[0-7]{0,2})|c([ -~])")
_CODE_IN_BRACES = lazily(r"x\{[0-9A-Fa-f]+\}|o\{[0-7]+\}")
_OCTAL = lazily(r"[1-7][0-7]{0,2}")
_REFERENCE = lazily(r"(\d+)|g\{?(-?\d+)\}?|g\{(\w+)\}|k(?:\{(\w+)\}|<(\w+)>|'(\w+)')")
_PROPERTY = lazily(r"[pP](?:\{\^?\w+\}|\w)")
_VARYING_LOOK_BEHIND = lazily(
    r"""\(\?<[=!]
    (?: \\(?:[pPxoN]\{[^}]*\}|[^RX]) | \[\^?\]?(?:\[:\w+:\]|\\.|[^\]\\])*+\]
      | \{\d+\} | [^\\()\[*+?{] )*+
    (?: [*+?{] | \\[RX] )""",
    re.VERBOSE,
)
"""A look-behind that repeats an atom any number of times before its first group."""
_VERB_START = lazily(r"\(\*[a-zA-Z]")
_CASES = frozenset(
    f"{letter}{{{case}}}" for letter in "pP" for case in ("Lu", "Ll", "Lt", "^Lu", "^Ll", "^Lt")
)
"""Properties of letter case, which count even if case is ignored."""
_VERB = lazily(r"\(\*(?:UTF8?|UCP|LIMIT_\w+=\d+|NO_\w+|CRLF|LF|ANYCRLF|ANY|CR|BSR_\w+)\)")


@cache_short(256)
def compile_perl(
    pattern: str,
    *,
    ignore_case: bool = False,
    newline_safe: bool = False,
    utf8: bool = False,
    bytewise: bool = False,
    repeats_places: bool = False,
) -> PerlRegex:
    """Compile a pattern in Perl's syntax; raises `RegexError`.

    newline_safe    nothing matches a newline, as in `compile_posix`; if the pattern names a
                    newline, `safe_length` is 0.
    utf8            \\D, \\S and \\W outside brackets match ASCII only, and nothing matches bytes
                    that are not UTF-8, as in the PCRE2 10.42 of grep -P.
    bytewise        pattern and texts have one character for each byte.
    repeats_places  ^, $, \\b and the like may be repeated, as in Rust.
    """
    import regex  # only grep -P needs it

    if len(pattern) > _MAX_LENGTH:
        raise RegexError("regular expression is too large")
    translator = _Translator(pattern, newline_safe=newline_safe, utf8=utf8, bytewise=bytewise)
    translator.repeats_places = repeats_places
    source = translator.translate()
    flags = regex.V1 | (regex.I if ignore_case else 0)
    flags |= regex.M if newline_safe else 0
    try:
        compiled = compile_timed(source, flags)
    except RegexTooLarge:
        raise RegexError("regular expression is too large") from None
    except (
        regex.error,
        RecursionError,
        MemoryError,
        ArithmeticError,
        ValueError,
        LookupError,
    ) as error:
        raise RegexError(_describe(error)) from None
    tree = read_perl(pattern, ignore_case=ignore_case) if newline_safe else None
    return PerlRegex(pattern, compiled, 0 if translator.names_newline else _SAFE_LENGTH, tree)


def _describe(error: BaseException) -> str:
    """Return the message of PCRE for an error of the `regex` package."""
    message = str(getattr(error, "msg", "")) or "internal error"
    for ours, theirs in _MESSAGES.items():
        if ours in message:
            return theirs
    return message


_MESSAGES = {
    "missing )": "missing closing parenthesis",
    "unbalanced parenthesis": "unmatched closing parenthesis",
    "nothing to repeat": "quantifier does not follow a repeatable item",
    "multiple repeat": "quantifier does not follow a repeatable item",
    "unterminated character set": "missing terminating ] for character class",
    "bad character range": "range out of order in character class",
    "bad escape (end of pattern)": "\\ at end of pattern",
    "min repeat greater than max repeat": "numbers out of order in {} quantifier",
    "unknown extension": "unrecognized character after (? or (?-",
    "unknown property": "unknown property after \\P or \\p",
    "unknown verb": "(*VERB) not recognized or malformed",
    "invalid group reference": "reference to non-existent subpattern",
    "unknown group": "reference to non-existent subpattern",
}


class _Frame:
    """The measures of an open group.

    `size`      the number of atoms so far, with counted repeats written out.
    `last`      the size of the last atom.
    `consumes`  whether the current branch has an atom that must match a character.
    `every`     whether all branches before it have one.
    """

    __slots__ = ("consumes", "every", "is_atom", "last", "size")

    def __init__(self, *, is_atom: bool) -> None:
        self.size = 1
        self.last = 1
        self.consumes = False
        self.every = True
        self.is_atom = is_atom


class _Meter:
    """The measures of all open groups; refuses what would grow without bound."""

    def __init__(self) -> None:
        self.frames = [_Frame(is_atom=True)]

    def atom(self, *, consumes: bool) -> None:
        """Add an atom."""
        frame = self.frames[-1]
        frame.size += 1
        frame.last = 1
        if consumes:
            frame.consumes = True

    def open(self, *, is_atom: bool) -> None:
        """Begin a group; look-arounds and the like are no atoms."""
        if len(self.frames) > _MAX_NESTING:
            raise RegexError("parentheses are too deeply nested")
        self.frames.append(_Frame(is_atom=is_atom))

    def looks_around(self) -> bool:
        """Whether this place is inside a look-around."""
        return not all(frame.is_atom for frame in self.frames)

    def branch(self) -> None:
        """End a branch at "|"."""
        frame = self.frames[-1]
        frame.every = frame.every and frame.consumes
        frame.consumes = False

    def close(self, *, optional: bool) -> None:
        """End a group; `optional`: a repeat that may be zero follows."""
        if len(self.frames) == 1:
            return
        frame = self.frames.pop()
        outer = self.frames[-1]
        outer.size += frame.size
        outer.last = frame.size
        if frame.is_atom and frame.every and frame.consumes and not optional:
            outer.consumes = True

    def repeat(self, count: int) -> None:
        """Repeat the last atom `count` times."""
        frame = self.frames[-1]
        frame.size += frame.last * max(count - 1, 0)
        if frame.size > _MAX_SIZE:
            raise RegexError("regular expression is too large")

    def recurse(self) -> None:
        """Add a call of a group: something must have been matched before it."""
        if not any(frame.consumes for frame in self.frames):
            raise RegexError("recursive call could loop indefinitely")
        self.atom(consumes=False)


class _Translator:
    """A translator of one pattern."""

    def __init__(self, pattern: str, *, newline_safe: bool, utf8: bool, bytewise: bool) -> None:
        self.utf8 = utf8
        self.bytewise = bytewise
        self.never = ("\\n" if newline_safe else "") + (_INVALID if utf8 else "")
        """The characters that no negated class matches."""
        self.pattern = pattern
        self.newline_safe = newline_safe
        self.names_newline = False
        self.position = 0
        self.groups = 0
        self.names: set[str] = set()
        self.out: list[str] = []
        self.meter = _Meter()
        self.repeatable = False
        """Whether the last item can be repeated; an assertion cannot."""
        self.repeats_places = False
        self.misplaced = False
        """Whether \\K is in a look-around; this error comes after all others."""

    def translate(self) -> str:
        pattern = self.pattern
        while found := _VERB.match(pattern, self.position):
            self.position = found.end()
        while self.position < len(pattern):
            character = pattern[self.position]
            counts = _COUNTS.match(pattern, self.position) if character == "{" else None
            if (counts or character in "*+?") and not self.repeatable:
                raise RegexError("quantifier does not follow a repeatable item")
            self.repeatable = (
                character not in "(|^$" or _VERB_START.match(pattern, self.position) is not None
            )
            self.repeatable |= self.repeats_places and character in "^$"
            if character == "\\":
                self.repeatable = (
                    pattern[self.position + 1 : self.position + 2] not in _PLACES
                    or self.repeats_places
                )
                self._measure_atom(self.position + 2)
                self._escape()
            elif character == "[":
                self._set()
                self.meter.atom(consumes=not self._is_optional(self.position))
            elif character == "(":
                self._group()
            elif character == ")":
                self.position += 1
                self.meter.close(optional=self._is_optional(self.position))
                self.out.append(character)
            elif counts is not None:
                count = int((counts[2] or counts[1])[:9])
                if count > _MAX_COUNT:
                    raise RegexError("number too big in {} quantifier")
                self.meter.repeat(count)
                self.position = counts.end()
                self.out.append(counts[0])
            elif character == "." and self.never:
                self.position += 1
                self.meter.atom(consumes=not self._is_optional(self.position))
                self.out.append(f"[^{self.never}]" if self.newline_safe else self._valid("."))
            elif character == "$" and not self.newline_safe:
                self.position += 1
                self.out.append("(?=\\n?\\Z)")
            else:
                self.position += 1
                if character == "|":
                    self.meter.branch()
                elif character not in "^$*+?":
                    self._measure_atom(self.position)
                self.out.append("\\{" if character == "{" else character)
        if self.misplaced:
            raise RegexError(
                "\\K is not allowed in lookarounds (but see PCRE2_EXTRA_ALLOW_LOOKAROUND_BSK)"
            )
        return "".join(self.out)

    def _is_optional(self, position: int) -> bool:
        """Whether a repeat that may be zero begins here."""
        return self.pattern.startswith(("*", "?", "{0", "{,"), position)

    def _measure_atom(self, position: int) -> None:
        """Count the character or escape that ends at `position`."""
        escaped = self.pattern[position - 2 : position]
        empty = escaped[:1] == "\\" and (
            escaped[1:] in "bBAzZGKEQ" or escaped[1:].isdigit() or escaped[1:] in "gk"
        )
        self.meter.atom(consumes=not empty and not self._is_optional(position))

    def _group(self) -> None:
        pattern, start = self.pattern, self.position
        if not pattern.startswith("(?", start):
            self.groups += not pattern.startswith("(*", start)
            self.meter.open(is_atom=not pattern.startswith("(*", start))
            self.out.append("(")
            self.position += 1
            return
        named = _NAMED.match(pattern, start)
        if named is not None:
            self._name(named[1])
            self.meter.open(is_atom=True)
            self.out.append(f"(?P<{named[1]}>")
            self.position = named.end()
            return
        call = _CALL.match(pattern, start)
        if call is not None:
            if not self._is_known(call[0]):
                raise RegexError("reference to non-existent subpattern")
            self.meter.recurse()
            self.position = call.end()
            self.out.append(call[0])
            return
        comment = re.compile(r"\(\?(?:#[^)]*|[a-zA-Z-]+)\)").match(pattern, start)
        if comment is not None:
            self.position = comment.end()
            self.out.append(comment[0])
            return
        if pattern.startswith("(?#", start):
            raise RegexError("missing ) after (?# comment")
        if _VARYING_LOOK_BEHIND.match(pattern, start):
            raise RegexError("lookbehind assertion is not fixed length")
        if start + 2 == len(pattern):
            raise RegexError("missing closing parenthesis")
        head = _HEAD.match(pattern, start)
        self.meter.open(is_atom=head is not None)
        taken = head[0] if head is not None else "(?"
        self.out.append(taken)
        self.position += len(taken)

    def _name(self, name: str) -> None:
        if name[0].isdigit():
            raise RegexError("subpattern name must start with a non-digit")
        if name in self.names:
            raise RegexError("two named subpatterns have the same name (PCRE2_DUPNAMES not set)")
        self.names.add(name)
        self.groups += 1

    def _is_known(self, call: str) -> bool:
        """Whether the pattern has the group that (?1) or (?&name) calls."""
        name = call[2:-1].lstrip("&P>")
        if name.isdigit():
            return int(name[:9]) <= len(_GROUP.findall(self.pattern))
        return name[0] in "R+-" or any(found[1] == name for found in _NAMED.finditer(self.pattern))

    def _escape(self) -> None:
        pattern = self.pattern
        start = self.position + 1
        if start >= len(pattern):
            raise RegexError("\\ at end of pattern")
        character = pattern[start]
        self.position = start + 1
        if character == "Q":
            end = pattern.find("\\E", start)
            end = len(pattern) if end < 0 else end
            self.out.append(re.escape(pattern[start + 1 : end]))
            self.position = end + 2
        elif character == "E":
            pass
        elif character in "AZz" and self.newline_safe:
            self.out.append("^" if character == "A" else "$")
        elif character == "K" and self.meter.looks_around():
            self.misplaced = True
        elif character in _PLAIN:
            named = character == "N" and pattern.startswith("{", start + 1)
            if named and not _COUNTS.match(pattern, start + 1):
                raise RegexError(_NO_CASE)
            self.names_newline |= character in "RXG"
            plain = _PLAIN[character]
            self.out.append(self._valid(plain) if character in "NX" else plain)
        elif character.lower() in _SHORTHANDS:
            self.out.append(self._shorthand(character))
        else:
            self._other_escape(start)

    def _shorthand(self, character: str) -> str:
        inside = _SHORTHANDS[character.lower()]
        if character.isupper():
            beyond = "\\x80-\\U0010ffff" if self.utf8 and character in "DSW" else ""
            return f"[^{beyond}{self.never}{inside}]"
        return f"[{_WITHOUT_NEWLINE.get(character, inside) if self.newline_safe else inside}]"

    def _valid(self, source: str) -> str:
        """Return a pattern for one character that excludes bytes that are not UTF-8."""
        return f"(?:(?![{_INVALID}]){source})" if self.utf8 else source

    def _other_escape(self, start: int) -> None:
        pattern = self.pattern
        character = pattern[start]
        if found := _PROPERTY.match(pattern, start):
            self.names_newline |= character == "P"
            source = f"(?-i:\\{found[0]})" if found[0] in _CASES else "\\" + found[0]
            self.out.append(self._valid(source))
        elif pattern.startswith(("x{", "o{"), start) and not _CODE_IN_BRACES.match(pattern, start):
            kind = "hex" if character == "x" else "octal"
            raise RegexError(f"non-{kind} character in \\{character}{{}} (closing brace missing?)")
        elif found := _CODE.match(pattern, start):
            piece = _coded(found, bytewise=self.bytewise)
            self.names_newline |= piece == _NEWLINE
            self.out.append(piece)
        elif (found := _OCTAL.match(pattern, start)) and not self._is_group(pattern, start):
            piece = _character(int(found[0], 8), bytewise=self.bytewise)
            self.names_newline |= piece == _NEWLINE
            self.out.append(piece)
        elif found := _REFERENCE.match(pattern, start):
            self.out.append(self._reference(found))
        elif character in _REFUSED:
            raise RegexError(_REFUSED[character])
        else:
            found = None
            self.names_newline |= character == "n"
            self.out.append(_CONTROLS.get(character) or re.escape(character))
        if found is not None:
            self.position = found.end()

    def _is_group(self, pattern: str, start: int) -> bool:
        """Whether the number here refers to a group, and is not the code of a character."""
        digits = re.compile(r"\d+").match(pattern, start)
        return digits is not None and int(digits[0][:9]) <= max(9, len(_GROUP.findall(pattern)))

    def _reference(self, found: re.Match[str]) -> str:
        number, relative, *names = found.groups()
        if number is not None:
            return f"(?:\\{number})"
        if relative is not None:
            value = int(relative[:10])
            return f"(?:\\{value if value > 0 else self.groups + 1 + value})"
        return f"(?P={next(name for name in names if name)})"

    def _set(self) -> None:
        """Translate a character class; the position is at its "["."""
        pattern = self.pattern
        _refuse_posix(pattern, self.position, named=False)
        position = self.position + 1
        pieces = ["["]
        if pattern.startswith("^", position):
            pieces.append("^" + self.never)
            position += 1
        first = True
        while True:
            if position >= len(pattern):
                raise RegexError("missing terminating ] for character class")
            character = pattern[position]
            if character == "]" and not first:
                break
            first = False
            if character == "[":
                _refuse_posix(pattern, position, named=True)
            if character == "[" and (
                found := re.compile(r"\[:(\^?)(\w+):\]").match(pattern, position)
            ):
                pieces.append(_posix_class(found))
                position = found.end()
            elif character == "\\" and position + 1 < len(pattern):
                shorthand = pattern[position + 1].lower() in _SHORTHANDS
                if shorthand and pieces[-1] == "-" and len(pieces) > 2:
                    raise RegexError("invalid range in character class")
                piece, position = _set_escape(pattern, position + 1, bytewise=self.bytewise)
                pieces.append(piece)
                if (
                    shorthand
                    and pattern.startswith("-", position)
                    and not pattern.startswith("-]", position)
                ):
                    raise RegexError("invalid range in character class")
            else:
                pieces.append("\\" + character if character in "[]&|~^\\" else character)
                position += 1
        source = "".join(pieces) + "]"
        if self.never and source[1] != "^" and ("\\" in source or "[^" in source):
            source = f"(?:(?![{self.never}]){source})"
        self.out.append(source)
        self.position = position + 1


def _refuse_posix(pattern: str, position: int, *, named: bool) -> None:
    """Refuse POSIX elements that PCRE lacks; named classes are allowed inside a class."""
    found = _POSIX_ELEMENT.match(pattern, position)
    if found is not None and found[1] != ":":
        raise RegexError("POSIX collating elements are not supported")
    if found is not None and not named:
        raise RegexError("POSIX named classes are supported only within a class")


def _posix_class(found: re.Match[str]) -> str:
    inside = _POSIX_CLASSES.get(found[2])
    if inside is None:
        raise RegexError("unknown POSIX class name")
    return f"[^{inside}]" if found[1] else inside


def _set_escape(pattern: str, start: int, *, bytewise: bool) -> tuple[str, int]:
    """Return an escape inside a class, and the position after it."""
    character = pattern[start]
    if character == "b":
        return "\\x08", start + 1
    if character.lower() in _SHORTHANDS:
        inside = _SHORTHANDS[character.lower()]
        return (f"[^{inside}]" if character.isupper() else inside), start + 1
    if character in _CONTROLS:
        return _CONTROLS[character], start + 1
    if found := _PROPERTY.match(pattern, start):
        return "\\" + found[0], found.end()
    if found := _CODE.match(pattern, start):
        return _coded(found, bytewise=bytewise), found.end()
    if found := re.compile(r"[0-7]{1,3}").match(pattern, start):
        return _character(int(found[0], 8), bytewise=bytewise), found.end()
    return "\\" + character if not character.isalnum() else character, start + 1


def _coded(found: re.Match[str], *, bytewise: bool) -> str:
    """Return a character given by its code."""
    wide, narrow, octal, zero, control = found.groups()
    if control is not None:
        code = ord(control.upper()) ^ 64
    elif octal is not None or zero is not None:
        code = int((octal or zero)[:12], 8)
    else:
        code = int((wide if wide is not None else narrow or "0")[:12], 16)
    return _character(code, bytewise=bytewise)


def _character(code: int, *, bytewise: bool) -> str:
    if code > (0xFF if bytewise else 0x10FFFF):
        raise RegexError("character code point value in \\x{} or \\o{} is too large")
    return f"\\U{code + 0xDC00 if bytewise and code > 127 else code:08x}"
