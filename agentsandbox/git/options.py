"""Options of the subcommands: a usage text in git's layout is the parser.

    git add [<options>] [--] <pathspec>...

        -n, --dry-run         only say what would be added
        -m, --message <text>  takes a value
        --abbrev[=<n>]        may take a value; <n> is a number
        --[no-]edit           both

A long option may be shortened while it is unique, `--no-NAME` takes NAME back, short options may be
joined. Errors are worded as git's parse-options words them; what is not in the text is refused.
"""

from __future__ import annotations

import functools
import re

from agentsandbox.git.errors import BadUsage, Fatal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE = re.compile(
    r"    (?P<names>-[^\s-](?:, --[\w\[\]-]+)?|--[\w\[\]-]+)"
    r"(?P<value>\[?=?(?:\(.*?\)|<.*?>(?:\[.*?\])?)\]?| <.*?>| \(.*?\)| \[.*?\])?\S*"
    r"(?:\s|$)"
)


class Option:
    """One option of a usage text."""

    __slots__ = ("is_number", "name", "short", "takes")

    def __init__(self, name: str, short: str, takes: str, is_number: bool) -> None:
        self.name = name
        """The long name, or the letter of an option without one."""
        self.short = short
        self.takes = takes
        """"" for no value, "value" for one, "maybe" for one that may be missing."""
        self.is_number = is_number


class Table:
    """The options of a usage text, and the text as git prints it."""

    def __init__(self, usage: str) -> None:
        self.usage = usage.strip("\n") + "\n"
        self.long: dict[str, Option] = {}
        self.short: dict[str, Option] = {}
        for line in self.usage.split("\n"):
            found = _LINE.match(line)
            if found is not None:
                self._add(found["names"], found["value"] or "")

    def _add(self, names: str, value: str) -> None:
        short = name = ""
        for word in names.split(", "):
            if word.startswith("--"):
                name = word[2:].replace("[no-]", "")
                if name.endswith("["):
                    name, value = name[:-1], "[" + value
            else:
                short = word[1]
        takes = "" if not value else "maybe" if value.startswith("[") else "value"
        option = Option(name or short, short, takes, "<n>" in value or "<num>" in value)
        if name:
            self.long[name] = option
        if short:
            self.short[short] = option

    def text(self) -> str:
        """Return the usage as it is printed."""
        first, _, rest = self.usage.partition("\n")
        return f"usage: {first}\n{rest}" + ("\n" if rest.strip() else "")


@functools.lru_cache(maxsize=128)
def table_of(usage: str) -> Table:
    """Return the table of a usage text."""
    return Table(usage)


class Options:
    """The options and operands of a command line."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.values: dict[str, list[str | None]] = {}
        self.order: list[tuple[str, str | None, bool]] = []
        """(name, value, whether negated), as given."""
        self.operands: list[str] = []
        self.has_dashes = False
        """Whether "--" was given; `after_dashes` is the number of operands before it."""
        self.before_dashes = 0

    def on(self, name: str, default: bool = False) -> bool:
        """Whether an option was given, and not taken back."""
        return self.counts[name] > 0 if name in self.counts else default

    def given(self, name: str) -> bool:
        """Whether an option or its negation was given."""
        return name in self.counts

    def off(self, name: str) -> bool:
        """Whether the negation of an option was given last."""
        return self.counts.get(name) == 0

    def count(self, name: str) -> int:
        """Return how often an option was given."""
        return self.counts.get(name, 0)

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return the last value of an option."""
        values = self.values.get(name)
        return values[-1] if values else default

    def text(self, name: str, default: str = "") -> str:
        """Return the last value of an option, as text."""
        found = self.get(name)
        return default if found is None else found

    def number(self, name: str, default: int) -> int:
        """Return the last value of a numeric option."""
        found = self.get(name)
        return default if found is None else int(found)

    def all(self, name: str) -> list[str]:
        """Return all values of an option."""
        return [value or "" for value in self.values.get(name, ())]

    def _add(self, option: Option, value: str | None, *, negated: bool = False) -> None:
        name = option.name
        self.order.append((name, value, negated))
        if negated:
            self.counts[name] = 0
            self.values.pop(name, None)
            return
        self.counts[name] = self.counts.get(name, 0) + 1
        if option.takes:
            self.values.setdefault(name, []).append(value)


def parse_options(
    usage: str,
    words: Sequence[str],
    *,
    stop: bool = False,
    keep_unknown: bool = False,
    bare: Sequence[str] = (),
    number: str = "",
) -> Options:
    """Return the options of a command line; BadUsage with git's words for a wrong one.

    stop          the first operand ends the options
    keep_unknown  unknown options are operands
    bare          words that are options without dashes
    number        the option that -NUMBER stands for
    """
    table = table_of(usage)
    found = Options()
    pending = list(words)
    pending.reverse()
    while pending:
        word = pending.pop()
        if word == "--":
            found.has_dashes = True
            found.before_dashes = len(found.operands)
            found.operands += reversed(pending)
            break
        if word in bare:
            found.order.append((word, None, False))
        elif number and word[:1] == "-" and word[1:].isdecimal() and len(word) < 10:
            found._add(table.long[number], word[1:])
        elif word == "-" or not word.startswith("-"):
            found.operands.append(word)
            if stop:
                found.operands += reversed(pending)
                break
        elif word.startswith("--"):
            if not _long(table, found, word, pending) and not _unknown(
                found, word, keep_unknown, f"unknown option `{word[2:]}'"
            ):
                break
        elif not _cluster(table, found, word, pending, keep_unknown):
            break
    if not found.has_dashes:
        found.before_dashes = len(found.operands)
    return found


def _unknown(found: Options, word: str, keep: bool, message: str) -> bool:
    if keep:
        found.operands.append(word)
        return True
    raise BadUsage(message)


def _long(table: Table, found: Options, word: str, pending: list[str]) -> bool:
    name, equals, value = word[2:].partition("=")
    matches = _matches(table, name)
    if not matches:
        return False
    if len(matches) > 1:
        first, second = matches[:2]
        raise BadUsage(
            f"ambiguous option: {name} (could be --{_spelled(first)} or --{_spelled(second)})"
        )
    option, negated = matches[0]
    if negated:
        if equals:
            raise BadUsage(f"option `no-{option.name}' takes no value", usage=False)
        found._add(option, None, negated=True)
    elif option.takes == "":
        if equals:
            raise BadUsage(f"option `{option.name}' takes no value", usage=False)
        found._add(option, None)
    elif equals:
        found._add(option, _checked(option, value, f"option `{option.name}'"))
    elif option.takes == "maybe":
        found._add(option, None)
    elif pending:
        found._add(option, _checked(option, pending.pop(), f"option `{option.name}'"))
    else:
        raise BadUsage(f"option `{option.name}' requires a value", usage=False)
    return True


def _spelled(match: tuple[Option, bool]) -> str:
    return f"no-{match[0].name}" if match[1] else match[0].name


def _matches(table: Table, name: str) -> list[tuple[Option, bool]]:
    exact = table.long.get(name)
    if exact is not None:
        return [(exact, False)]
    if name.startswith("no-") and name[3:] in table.long:
        return [(table.long[name[3:]], True)]
    if not name:
        return []
    found = [(option, False) for long, option in table.long.items() if long.startswith(name)]
    for long, option in table.long.items():
        if long.startswith("no-"):
            if len(name) and long[3:].startswith(name):
                found.append((option, True))
        elif (name.startswith("no-") and long.startswith(name[3:])) or (
            "no-".startswith(name) and name != ""
        ):
            found.append((option, True))
    return found


def _checked(option: Option, value: str, shown: str) -> str:
    if option.is_number and not re.fullmatch(r"[+-]?[0-9]{1,9}", value):
        raise BadUsage(f"{shown} expects a numerical value", usage=False)
    return value


def _cluster(
    table: Table, found: Options, word: str, pending: list[str], keep_unknown: bool
) -> bool:
    at = 1
    while at < len(word):
        letter = word[at]
        option = table.short.get(letter)
        if option is None:
            if letter == "h" and len(word) == 2:
                raise BadUsage
            return _unknown(
                found,
                word if at == 1 else f"-{word[at:]}",
                keep_unknown,
                f"unknown switch `{letter}'",
            )
        rest = word[at + 1 :]
        if option.takes == "":
            found._add(option, None)
            at += 1
            continue
        if rest:
            found._add(option, _checked(option, rest, f"switch `{letter}'"))
        elif option.takes == "maybe":
            found._add(option, None)
        elif pending:
            found._add(option, _checked(option, pending.pop(), f"switch `{letter}'"))
        else:
            raise BadUsage(f"switch `{letter}' requires a value", usage=False)
        return True
    return True


def refuse_absent(options: Options, command: str, names: Sequence[str]) -> None:
    """Refuse, by name, options that are known to git and absent here."""
    for name in names:
        if options.given(name):
            raise Fatal(f"git {command} --{name} is not supported in this sandbox")


def favored_side(options: Options) -> str:
    """Return "ours", "theirs" or "" by `-X`; Fatal for signatures and other strategies than ort."""
    if options.on("gpg-sign"):
        raise Fatal("commits are not signed in this sandbox: it keeps no keys")
    if options.text("strategy", "ort") not in ("ort", "recursive"):
        raise Fatal(f"the strategy {options.text('strategy')} is not supported in this sandbox")
    favor = ""
    for text in options.all("strategy-option"):
        if text not in ("ours", "theirs"):
            raise Fatal(f"the strategy option {text} is not supported in this sandbox")
        favor = text
    return favor
