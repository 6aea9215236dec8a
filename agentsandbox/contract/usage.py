"""The help text is the option specification.

`parse_usage` reads lines such as "  -w, --number-width=NUM   columns for the number" from a
command's usage text. `OptionParser.parse` then parses words by them exactly as GNU getopt_long
does: clusters, attached and separate values, "=", permutation, unambiguous abbreviations, "--". An
option that the text does not name is refused by name.

Forms in the text, at the start of an indented line:

    -n, --lines=[-]NUM      a value is required ("=" or a blank before the placeholder)
    -s SUFFIX               the same for a short option alone
    --color[=WHEN]          the value is optional and must be attached
    -q, --quiet, --silent   several spellings of one option
    -NUM                    digits alone are short for the option named in `@command(...,
    digits="lines")`

The key of an option is its first long spelling, or its letter if it has none. A command may give a
function for the values of an option. It is called for each value in turn, so an error in one is
reported before errors in later words, even if a later value replaces it. A function with the key
"-" + key reads the value of the option's letter. The function `check` is called after each word and
raises an error for options that contradict each other.
"""

from __future__ import annotations

from agentsandbox.errors import CommandError, UsageError
from agentsandbox.kernel.expressions import lazily
from agentsandbox.kernel.streams import bytewise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_NONE, _REQUIRED, _OPTIONAL = 0, 1, 2
_FEW = 64
"""Options up to this number are searched one by one."""
_SHORT_LINE, _SHORT_TEXT, _KEPT = 8, 256, 64
"""Command lines with fewer words and characters than these are remembered, at most `_KEPT`."""

_DIGITS = lazily(r"-(\d+)")
_SPELLING = lazily(
    r"(?P<name>--[A-Za-z0-9][A-Za-z0-9-]*|-[A-Za-z0-9?@#%:,.])"
    r"(?P<value>\[=[^\]]*\]|=\S+|\[[A-Z][^\]\s]*\]"
    r"| (?![ -])(?:[A-Z][A-Z0-9_.:,|-]*|<[^>]+>|\[[^\]]+\]|'[^']+')(?=\s|,|$))?"
)


class Option:
    """An option: its key, its spellings and whether it takes a value."""

    __slots__ = ("key", "spellings", "takes")

    def __init__(self, key: str, spellings: tuple[str, ...], takes: int) -> None:
        self.key = key
        self.spellings = spellings
        self.takes = takes


class Arguments:
    """A parsed command line: options in order, and operands."""

    __slots__ = ("_asks", "_counted", "_places", "given", "operands")

    def __init__(self) -> None:
        self.given: list[tuple[str, str | None]] = []
        """(key, value) in the order given; the value is None for an option without one."""
        self.operands: list[str] = []
        self._asks = False
        """Whether options ask for help or the version."""
        self._places: dict[str, list[int]] | None = None
        """The positions of each key in `given`, built when there are many: commands may ask
        often."""
        self._counted = 0

    def _copy(self) -> Arguments:
        twin = Arguments.__new__(Arguments)
        twin.given = self.given.copy()
        twin.operands = self.operands.copy()
        twin._asks = self._asks
        twin._places = None
        twin._counted = 0
        return twin

    def _indexed(self) -> dict[str, list[int]]:
        places = self._places
        if places is None or self._counted != len(self.given):
            self._counted = len(self.given)
            places = self._places = {}
            for place, (key, _) in enumerate(self.given):
                places.setdefault(key, []).append(place)
        return places

    def flag(self, key: str) -> bool:
        """Whether the option was given."""
        if len(self.given) > _FEW:
            return key in self._indexed()
        for name, _ in self.given:  # noqa: SIM110 - any() costs three times as much
            if name == key:
                return True
        return False

    def value(self, key: str, default: str | None = None) -> str | None:
        """Return the last value of the option, `default` if not given; "" for an omitted value."""
        for name, value in reversed(self.given):
            if name == key:
                return "" if value is None else value
        return default

    def values(self, key: str) -> list[str]:
        """Return every value of the option, in order."""
        if len(self.given) > _FEW:
            return [self.given[place][1] or "" for place in self._indexed().get(key, ())]
        return [value or "" for name, value in self.given if name == key]

    def last(self, *keys: str) -> str | None:
        """Return the one of these keys that was given last, or None."""
        for name, _ in reversed(self.given):
            if name in keys:
                return name
        return None


def parse_usage(text: str) -> list[Option]:
    """Return the options that a usage text declares."""
    options: list[Option] = []
    for line in text.splitlines():
        stripped = line.lstrip()
        if len(line) == len(stripped) or not stripped.startswith("-"):
            continue
        option = _simple_option(stripped)
        if option is not None:
            options.append(option)
            continue
        spellings: list[str] = []
        takes = _NONE
        position = 0
        while found := _SPELLING.match(stripped, position):
            spellings.append(found["name"])
            value = found["value"]
            if value:
                takes = _OPTIONAL if value.startswith("[") else _REQUIRED
            position = found.end()
            if not stripped.startswith((", -", ",-"), position):
                break
            position = stripped.index("-", position)
        if spellings and (position == len(stripped) or stripped[position] in " \t"):
            options.append(_option(spellings, takes))
    return options


def _option(spellings: list[str], takes: int) -> Option:
    long = [name[2:] for name in spellings if name.startswith("--")]
    return Option(long[0] if long else spellings[0][1:], tuple(spellings), takes)


def _simple_option(line: str) -> Option | None:
    """Return the option of a line of the usual form; None for a line that the pattern reads.

    The usual form has two blanks before the description, and a value behind "=" or in brackets.
    Most texts need no other, and to compile the pattern takes longer than to read some of them.
    """
    spellings: list[str] = []
    takes = _NONE
    words = line.partition("  ")[0].split(", ")
    for word in words:
        name, equals, value = word.partition("=")
        if name.endswith("[") and equals:
            name, takes = name[:-1], _OPTIONAL
            if not value or value.find("]") != len(value) - 1:
                return None
        elif equals:
            takes = _REQUIRED
            if not value or word is not words[-1] or not value.isprintable() or " " in value:
                return None
        elif name.endswith("]"):
            name, _, value = name.partition("[")
            takes = _OPTIONAL
            if not "A" <= value[:1] <= "Z" or not value[:-1].isalnum():
                return None
        letters = name[2:].replace("-", "") if name.startswith("--") else name[1:]
        if not (letters.isalnum() and letters.isascii() and name[0] == "-"):
            return None
        if name[2:3] == "-" or (name[1] != "-" and len(letters) != 1):
            return None
        spellings.append(name)
    return _option(spellings, takes)


class OptionParser:
    """Parses a command's words by its usage text. `manners` explains the last two options."""

    __slots__ = (
        "_parsed", "_wrong", "check", "digits", "fatal_options", "long", "long_options", "name",
        "permute", "short", "usage_status", "values",
    )  # fmt: skip

    def __init__(
        self,
        usage: str,
        *,
        name: str = "",
        permute: bool = True,
        digits: str | None = None,
        usage_status: int = 1,
        values: Mapping[str, Callable[[str], object]] | None = None,
        check: Callable[[Sequence[tuple[str, str | None]]], object] | None = None,
        long_options: str = "",
        fatal_options: tuple[str, ...] | None = None,
    ) -> None:
        self.name = name
        self.long_options = long_options
        self.fatal_options = fatal_options
        self.values = values
        self.check = check
        self.short: dict[str, Option] = {}
        self.long: dict[str, Option] = {}
        self.permute = permute
        self.digits = digits
        self.usage_status = usage_status
        self._wrong: list[str] = []
        """Errors in the words so far."""
        self._parsed: dict[tuple[str, ...], Arguments] = {}
        """Results for a few short command lines, because scripts repeat themselves."""
        for option in parse_usage(usage):
            for spelling in option.spellings:
                if spelling.startswith("--"):
                    self.long[spelling[2:]] = option
                else:
                    self.short[spelling[1:]] = option

    def parse(
        self, words: Sequence[str], *, in_order: bool = False, posix: bool = False
    ) -> Arguments:
        """Return the options and operands of `words`, which do not include the command's name.

        Raises `UsageError` in GNU's words. With `posix` options end at the first operand, as with
        POSIXLY_CORRECT. With `in_order` operands enter `given` too, with the key "": the options of
        `tar` apply to the operands after them.
        """
        line = tuple(words)
        plain = not in_order and not posix
        known = self._parsed.get(line) if plain and len(line) < _SHORT_LINE else None
        if known is not None:
            return known._copy()
        try:
            arguments = self._parse(words, in_order=in_order, permute=self.permute and not posix)
        except CommandError as error:
            error.message = f"\n{self.name}: ".join([*self._wrong, error.message])
            raise
        given = arguments.given
        if given:
            arguments._asks = any(key in ("help", "version") for key, _ in given)
        if plain and len(line) < _SHORT_LINE and sum(map(len, line)) < _SHORT_TEXT:
            if len(self._parsed) >= _KEPT:
                self._parsed.clear()
            self._parsed[line] = arguments._copy()
        return arguments

    def _parse(self, words: Sequence[str], *, in_order: bool, permute: bool) -> Arguments:
        arguments = Arguments()
        given, operands = arguments.given, arguments.operands
        self._wrong = []
        position, count, read = 0, len(words), 0
        last_dash = _place_of_last_dash(words) if count >= _SHORT_LINE else count
        while position < count:
            word = words[position]
            position += 1
            if len(word) < 2 or word[0] != "-":
                if not permute:
                    operands.append(word)
                    break
                operands.append(word)
                if in_order:
                    given.append(("", word))
                elif position >= last_dash:
                    break
            elif word == "--":
                break
            elif word[1] == "-":
                position = self._long(word, words, position, given)
            elif self.digits and word[1].isdecimal() and word[1] not in self.short:
                position = self._cluster_of_digits(word, words, position, given)
            else:
                position = self._cluster(word[1:], words, position, given)
            if self.check is not None and len(given) > read:
                self.check(given)
            if self.values is not None and len(given) > read:
                self._read_values(self.values, given[read:], "" if word.startswith("--") else "-")
                read = len(given)
        if self._wrong:
            raise UsageError(self._wrong.pop(), self.usage_status)
        operands.extend(words[position:])
        if in_order:
            given.extend([("", word) for word in words[position:]])
        return arguments

    def _read_values(
        self,
        readers: Mapping[str, Callable[[str], object]],
        given: list[tuple[str, str | None]],
        dash: str,
    ) -> None:
        for key, value in given:
            reader = readers.get(dash + key) or readers.get(key)
            if reader is None or value is None:
                continue
            try:
                reader(value)
            except UsageError as error:
                if self.fatal_options is None or key in self.fatal_options:
                    raise
                self._wrong.append(error.message)

    def _refuse(self, wrong: str) -> None:
        if self.fatal_options is None:
            raise UsageError(wrong, self.usage_status)
        self._wrong.append(wrong)

    def _cluster_of_digits(
        self, word: str, words: Sequence[str], position: int, given: list[tuple[str, str | None]]
    ) -> int:
        digits = _DIGITS.match(word)
        assert digits is not None and self.digits is not None
        reader = self.values.get(self.digits) if self.values is not None else None
        if reader is not None:
            reader(digits[1])
        given.append((self.digits, digits[1]))
        rest = word[digits.end() :]
        return self._cluster(rest, words, position, given) if rest else position

    def _cluster(
        self, letters: str, words: Sequence[str], position: int, given: list[tuple[str, str | None]]
    ) -> int:
        for at, letter in enumerate(letters):
            option = self.short.get(letter)
            if option is None and self.digits is not None and letter.isdecimal():
                return self._cluster_of_digits(f"-{letters[at:]}", words, position, given)
            if option is None:
                self._refuse(f"invalid option -- '{bytewise(letter)[0]}'")
                continue
            if option.takes == _NONE:
                given.append((option.key, None))
                continue
            rest = letters[at + 1 :]
            if option.takes == _OPTIONAL:
                given.append((option.key, rest or None))
                return position
            if rest:
                given.append((option.key, rest))
                return position
            if position < len(words):
                given.append((option.key, words[position]))
                return position + 1
            self._refuse(f"option requires an argument -- '{letter}'")
        return position

    def _long(
        self, word: str, words: Sequence[str], position: int, given: list[tuple[str, str | None]]
    ) -> int:
        try:
            return self._read_long(word, words, position, given)
        except UsageError as error:
            self._refuse(error.message)
            return position

    def _read_long(
        self, word: str, words: Sequence[str], position: int, given: list[tuple[str, str | None]]
    ) -> int:
        name, equals, value = word[2:].partition("=")
        option = self._find_long(name, word)
        full = next(s for s in option.spellings if s.startswith("--") and s[2:].startswith(name))
        if self.long.get(name) is option:
            full = f"--{name}"
        if option.takes == _NONE:
            if equals:
                raise UsageError(f"option '{full}' doesn't allow an argument", self.usage_status)
            given.append((option.key, None))
        elif equals:
            given.append((option.key, value))
        elif option.takes == _OPTIONAL:
            given.append((option.key, None))
        elif position >= len(words):
            raise UsageError(f"option '{full}' requires an argument", self.usage_status)
        else:
            given.append((option.key, words[position]))
            position += 1
        return position

    def _find_long(self, name: str, word: str) -> Option:
        option = self.long.get(name)
        if option is not None:
            return option
        candidates = [full for full in self.long if name and full.startswith(name)]
        if candidates and name in self.long_options.split():
            candidates = []  # an option of its own that is not here, no abbreviation
        found = {id(self.long[full]) for full in candidates}
        order = self.long_options.split() if not name or len(found) > 1 else []
        if order and not name:
            possible = " ".join([f"'--{full}'" for full in order])
            raise UsageError(
                f"option '{word}' is ambiguous; possibilities: {possible}", self.usage_status
            )
        if not candidates:
            raise UsageError(
                f"unrecognized option '--{name}'"
                if "=" not in word
                else f"unrecognized option '{word}'",
                self.usage_status,
            )
        if len(found) > 1:
            first, *others = sorted(
                candidates, key=lambda full: order.index(full) if full in order else -1
            )
            others = [other for other in others if self.long[other] is not self.long[first]]
            possible = " ".join(f"'--{full}'" for full in [first, *others])
            raise UsageError(
                f"option '{word}' is ambiguous; possibilities: {possible}", self.usage_status
            )
        return self.long[candidates[0]]


def _place_of_last_dash(words: Sequence[str]) -> int:
    """Return the number of words up to the last one that may be an option."""
    text = "\0".join(["", *words])
    return text.count("\0", 0, text.rfind("\0-") + 1)
