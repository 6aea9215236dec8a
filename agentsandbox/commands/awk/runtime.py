"""The runtime of a compiled program: special variables and functions that need its state."""

from __future__ import annotations

from types import FunctionType

from agentsandbox.commands.awk.arrays import Array
from agentsandbox.commands.awk.csv_input import csv_fields
from agentsandbox.commands.awk.fields import matches
from agentsandbox.commands.awk.functions import conversions, namespace
from agentsandbox.commands.awk.input import Input
from agentsandbox.commands.awk.meter import ACCOUNTED
from agentsandbox.commands.awk.patterns import Pattern
from agentsandbox.commands.awk.records import split_text
from agentsandbox.commands.awk.values import NUMBER_STARTS, AwkFatal, Unset, to_number
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from agentsandbox.commands.awk.channels import Channels
    from agentsandbox.commands.awk.codegen import Compiled
    from agentsandbox.commands.awk.modes import Mode
    from agentsandbox.commands.awk.random_numbers import RandomNumbers
    from agentsandbox.commands.awk.values import Value
    from agentsandbox.contract.command import CommandContext

_NUMBERS = [str(number) for number in range(1, 65)]
_PIECE = 4096
_NO_CHARACTER = lazily("[\udc80-\udcff]")


def _quoted(character: str) -> str:
    """Return a regular expression for one character."""
    return f"\\{character}" if character in "^$.[]|()*+?{}\\/" else character


class Runtime(Input):
    """One run of one program. Generated code reads and writes the attributes."""

    def __init__(
        self,
        ctx: CommandContext,
        warn: Callable[[str, int], None],
        mode: Mode,
        *,
        bytewise: bool,
    ) -> None:
        super().__init__(ctx, warn, mode, bytewise=bytewise)
        self.ORS = "\n"
        self.SUBSEP = "\x1c"
        self.CONVFMT = "%.6g"
        self.OFMT = "%.6g"
        self.RSTART: Any = 0.0
        self.RLENGTH: Any = 0.0
        self.BINMODE: Any = 0.0
        self.LINT: Any = 0.0
        self.status = 0
        self.told_of_bytes = False
        """Whether a warning of bytes that are no characters was given."""
        self.functions: dict[str, tuple[Callable[..., Any], str]] = {}
        self.in_end = False
        self.conversions = conversions(self)
        self.text = self.conversions["text"]
        self.key = self.conversions["key"]
        self._seed = 1.0
        self._random: RandomNumbers | None = None
        self.names: dict[str, Any] = {}
        """The global names of the compiled program; no other code has them."""
        self._choose_splitter()

    # running

    def symbols(self) -> Array:
        """Return SYMTAB with the variables of awk's own."""
        from agentsandbox.commands.awk.symbols import CONSTANT, SPECIAL_ORDER, Symbols

        def variable(name: str) -> None:
            def read() -> Any:
                return self.nf() if name == "NF" else getattr(self, name)

            table.add(name, read, lambda value: self.assign(name, value))

        table = Symbols()
        for name in SPECIAL_ORDER:
            if name in ("PROCINFO", "ENVIRON", "ARGV"):
                table.add_array(name, self.array(name))
            elif name in CONSTANT:
                table.add_value(name, CONSTANT[name])
            else:
                variable(name)
        for name, value in self.variables.items():
            table.add_value(name, value)  # by `-v`; those of the program are replaced
        return table

    def function_table(self, names: Sequence[str]) -> Array:
        """Return FUNCTAB, for a program with these functions."""
        from agentsandbox.commands.awk.symbols import Functions

        return Functions(names)

    def run(self, compiled: Compiled) -> None:
        """Run the program to its end."""
        self.uses_terminator = "rt.RT" in compiled.source
        if "rt.channels" in compiled.source:
            self.use_channels()
        self.names = namespace(self)
        FunctionType(compiled.code, self.names)(self)

    def use_channels(self) -> Channels:
        """Return the files and pipes, made when first needed."""
        if self.channels is None:
            from agentsandbox.commands.awk.channels import Channels

            self.channels = Channels(self)
        return self.channels

    def set_status(self, number: float) -> None:
        """`exit number`."""
        self.status = int(number) & 255 if number - number == 0.0 else 0

    def sprintf(self, template: str, values: Sequence[object]) -> str:
        """`sprintf`."""
        from agentsandbox.commands.awk.formats import as_bytes, check_format, format_values

        if self.mode.traditional:
            check_format(template, self.mode)
        made = format_values(template, values, self.text, self.budget.charge, self.sound)
        if self.bytewise:
            made = as_bytes(made)
        if len(made) > ACCOUNTED:
            self.account(len(made))
        return made

    def sound(self, text: str) -> str:
        """Return the text up to a byte that is no character, where `printf` stops to pad or cut."""
        if self.bytewise or text.isascii():
            return text
        found = _NO_CHARACTER.search(text)
        return text if found is None else text[: found.start()]

    def index(self, text: str, sought: str) -> float:
        """`index` in a program that uses IGNORECASE."""
        if self.IGNORECASE:
            text, sought = text.casefold(), sought.casefold()
        return float(text.find(sought) + 1)

    def _order(self) -> str | None:
        """Return PROCINFO["sorted_in"], None if it is not set."""
        knows = "PROCINFO" in self.arrays and not self.mode.traditional
        how = self.arrays["PROCINFO"].get("sorted_in") if knows else None
        return None if how is None or isinstance(how, Unset) else self.text(how)

    def walk(self, array: Array) -> Iterable[str]:
        """Return the keys for `for (key in array)`."""
        self.budget.step(len(array) // 8 + 1)
        how = self._order()
        if how is None:
            return array.walk(self.budget.step)
        from agentsandbox.commands.awk.sorting import sorted_keys

        return sorted_keys(self, array, how)

    def split_into(
        self, text: str, array: Array, separator: Pattern | str | None, typed: bool
    ) -> float:
        """`split`. If not `typed`, nothing depends on which elements look like numbers."""
        step = self.budget.step
        if isinstance(separator, Pattern):
            pieces = split_text(separator, text, step)
        else:
            by = self.text(self.FS) if separator is None else separator
            splitter = csv_fields if self.csv and separator is None else self._splitters.get(by)
            if splitter is None:
                splitter = self._splitters[by] = self._splitter_of(by)
            pieces = splitter(text)
        from_input = self.from_input
        step(len(pieces) // 4 + 1)
        if len(text) > ACCOUNTED:
            self.account(len(text))
        array.clear()
        if len(pieces) <= len(_NUMBERS):
            if typed:
                values = [
                    piece if piece[:1] not in NUMBER_STARTS else from_input(piece)
                    for piece in pieces
                ]
                array.update(zip(_NUMBERS, values))  # noqa: B905 - as many as there are pieces
            else:
                array.update(zip(_NUMBERS, pieces))  # noqa: B905
            return float(len(pieces))
        self.budget.charge(len(pieces) * 16)
        for start in range(0, len(pieces), _PIECE):
            part = pieces[start : start + _PIECE]
            step(len(part))
            numbers = map(str, range(start + 1, start + len(part) + 1))
            array.update(zip(numbers, map(from_input, part), strict=True))
        return float(len(pieces))

    def is_nonfatal(self, name: str) -> bool:
        """Whether PROCINFO says that an output that cannot be opened does not end the program."""
        info = () if self.mode.traditional else self.arrays.get("PROCINFO", ())
        return "NONFATAL" in info or f"{name}{self.SUBSEP}NONFATAL" in info

    def _fill_arrays(
        self, array: Array, pieces: list[str], between: Array | None, gaps: list[str], first: int
    ) -> float:
        """Put pieces and what is between them into two arrays."""
        if between is array:
            raise AwkFatal("split: cannot use the same array for second and fourth args")
        self.budget.charge((len(pieces) + len(gaps)) * 16)
        self.budget.step(len(pieces) + 1)
        array.clear()
        array.update((str(at), self.from_input(piece)) for at, piece in enumerate(pieces, 1))
        if between is not None:
            between.clear()
            between.update((str(at), gap) for at, gap in enumerate(gaps, first))
        return float(len(pieces))

    def split_apart(
        self, text: str, array: Array, separator: Pattern | str | None, between: Array | None
    ) -> float:
        """`split` with a fourth argument, which gets the separators."""
        by = self.text(self.FS) if separator is None else separator
        if by == "":
            return self._fill_arrays(array, list(text), between, [""] * max(0, len(text) - 1), 1)
        trims = by == " "
        if isinstance(by, str):
            is_single = len(by) == 1 and not trims
            by = self.dynamic_pattern("[ \t\n]+" if trims else _quoted(by) if is_single else by)
        pieces: list[str] = []
        gaps: list[str] = []
        start = at = 0
        while text and at <= len(text):
            self.budget.step()
            found = by.search(text, at)
            if found is None:
                break
            left, right = found.span()
            if left == right:
                at = left + 1
                continue
            pieces.append(text[start:left])
            gaps.append(text[left:right])
            start = at = right
        pieces += [text[start:]] if text else []
        if not trims:
            return self._fill_arrays(array, pieces, between, gaps, 1)
        before = after = ""
        if gaps and not pieces[0]:
            pieces, before, gaps = pieces[1:], gaps[0], gaps[1:]
        if gaps and not pieces[-1]:
            pieces, after, gaps = pieces[:-1], gaps[-1], gaps[:-1]
        pieces = [] if pieces == [""] else pieces
        count = self._fill_arrays(array, pieces, between, gaps, 1)
        if between is not None and before:
            between["0"] = before
        if between is not None and after:
            between[str(len(pieces))] = after
        return count

    def patsplit(
        self, text: str, array: Array, separator: Pattern | str | None, between: Array | None
    ) -> float:
        """`patsplit`: the elements are what matches, the fourth argument what is between."""
        pattern = self.text(self.FPAT) if separator is None else separator
        if isinstance(pattern, str):
            pattern = self.dynamic_pattern(pattern)
        gaps: list[str] = []
        pieces = matches(pattern, text, self.budget.step, gaps)
        return self._fill_arrays(array, pieces, between, gaps, 0)

    def call_by_name(self, name: str, values: list[Any]) -> Any:
        """`@name(…)`: call a function of the program, or a built-in one."""
        name = name.removeprefix("awk::")
        found = self.functions.get(name)
        if found is not None:
            function, kinds = found
            return function(*values[: len(kinds)])
        from agentsandbox.commands.awk.indirect import call_builtin

        return call_builtin(self, name, values)

    def substitute(self, pattern: Pattern, replacement: str, text: str, every: bool) -> float:
        """`sub` and `gsub`: put the new text in `got`, return the number of replacements."""
        from agentsandbox.commands.awk.substitution import substitute

        self.got, count = substitute(
            pattern, replacement, text, every, self.budget, posix=self.mode.posix
        )
        if count and len(self.got) > ACCOUNTED:
            self.account(len(self.got))
        return float(count)

    def substituter(
        self, pattern: Pattern, replacement: str, every: bool
    ) -> Callable[[str], float]:
        """Return `substitute` for a constant pattern and a constant replacement."""
        from agentsandbox.commands.awk.substitution import substituter

        return substituter(self, pattern, replacement, every)

    def gensub(self, pattern: Pattern, replacement: str, how: Value, text: str) -> str:
        """`gensub`."""
        which = self.text(how)
        number = 0
        if which[:1] not in ("g", "G"):
            number = int(min(max(to_number(how), 0.0), 1e9))
            if number < 1:
                self.warn(f"gensub: third argument `{which}' treated as 1")
                number = 1
        from agentsandbox.commands.awk.substitution import general_substitute

        result = general_substitute(pattern, replacement, text, number, self.budget)
        if len(result) > ACCOUNTED:
            self.account(len(result))
        return result

    def match(self, text: str, pattern: Pattern, captures: Array | None) -> float:
        """`match`: set RSTART, RLENGTH and the array of groups."""
        found = pattern.search(text)
        if captures is not None:
            captures.clear()
        if found is None:
            self.RSTART, self.RLENGTH = 0.0, -1.0
            return 0.0
        start, end = found.span()
        self.RSTART, self.RLENGTH = start + 1.0, float(end - start)
        if captures is not None:
            for number in range(len(found.groups()) + 1):
                left, right = found.span(number)
                if left >= 0:
                    captures[str(number)] = self.from_input(text[left:right])
                    captures[f"{number}{self.SUBSEP}start"] = left + 1.0
                    captures[f"{number}{self.SUBSEP}length"] = float(right - left)
        return self.RSTART  # type: ignore[no-any-return]

    def sort(self, source: Array, target: Array | None, how: str | None, by_index: bool) -> float:
        """`asort` and `asorti`."""
        from agentsandbox.commands.awk.sorting import sort_elements

        values = sort_elements(self, source, how, by_index)
        into = source if target is None else target
        into.clear()
        for number, value in enumerate(values, 1):
            into[str(number)] = value
        return float(len(values))

    def rand(self) -> float:
        """`rand`."""
        if self._random is None:
            from agentsandbox.commands.awk.random_numbers import RandomNumbers

            self._random = RandomNumbers(int(self._seed) if abs(self._seed) < 1e18 else 0)
        return self._random.next()

    def srand(self, seed: float | None = None) -> float:
        """`srand`: set a seed, return the previous one."""
        before = self._seed
        self._seed = float(int(self.ctx.host.clock())) if seed is None else seed + 0.0
        self._random = None
        return before

    def systime(self) -> float:
        """`systime`."""
        return float(int(self.ctx.host.clock()))

    def strftime(
        self, template: str | None = None, when: float | None = None, utc: object = 0.0
    ) -> str:
        """`strftime`."""
        from agentsandbox.commands.awk.times import format_time

        if template is None:
            template = "%a %b %e %H:%M:%S %Z %Y"
        return format_time(
            template,
            self.systime() if when is None else when,
            bool(utc),
            self.ctx.env,
            self.budget.charge,
        )

    def mktime(self, text: str, utc: bool) -> float:
        """`mktime`."""
        from agentsandbox.commands.awk.times import make_time

        return make_time(text, utc, self.ctx.env)
