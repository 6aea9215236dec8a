"""Built-in functions that need the run: splitting, matching, formats, sorting, time and chance."""

from __future__ import annotations

from agentsandbox.commands.awk.csv_input import csv_fields
from agentsandbox.commands.awk.layouts import matches
from agentsandbox.commands.awk.meter import ACCOUNTED
from agentsandbox.commands.awk.patterns import Pattern, splitter
from agentsandbox.commands.awk.values import NUMBER_STARTS, AwkFatal, to_number
from agentsandbox.kernel.expressions import lazily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    from agentsandbox.commands.awk.channels import Channels
    from agentsandbox.commands.awk.protocols import Run
    from agentsandbox.commands.awk.random_numbers import RandomNumbers
    from agentsandbox.commands.awk.values import Array, Value

    class Runtime(Run, Protocol):
        """A run of a program, as these functions use it."""

        FPAT: Any
        FS: Any
        RLENGTH: Any
        RSTART: Any
        splitters: dict[str, Callable[[str], list[str]]]

        def dynamic_pattern(self, source: str) -> Pattern: ...
        def from_input(self, text: str) -> Value: ...
        def record(self) -> str: ...
        def set_record_value(self, value: Any) -> Any: ...
        def splitter_of(self, separator: str) -> Callable[[str], list[str]]: ...
        def use_channels(self) -> Channels: ...


_NUMBERS = [str(number) for number in range(1, 65)]
_PIECE = 4096
_NO_CHARACTER = lazily("[\udc80-\udcff]")


def _quoted(character: str) -> str:
    """Return a regular expression for one character."""
    return f"\\{character}" if character in "^$.[]|()*+?{}\\/" else character


class Library:
    """The functions of one run."""

    def __init__(self, rt: Runtime) -> None:
        self.rt = rt
        self._seed = 1.0
        self._random: RandomNumbers | None = None

    def sprintf(self, template: str, values: Sequence[object]) -> str:
        """`sprintf`."""
        rt = self.rt
        from agentsandbox.commands.awk.formats import as_bytes, check_format, format_values

        if rt.mode.traditional:
            check_format(template, rt.mode)
        made = format_values(template, values, rt.text, rt.budget.charge, self.sound)
        if rt.bytewise:
            made = as_bytes(made)
        if len(made) > ACCOUNTED:
            rt.account(len(made))
        return made

    def sound(self, text: str) -> str:
        """Return the text up to a byte that is no character, where `printf` stops to pad or cut."""
        if self.rt.bytewise or text.isascii():
            return text
        found = _NO_CHARACTER.search(text)
        return text if found is None else text[: found.start()]

    def index(self, text: str, sought: str) -> float:
        """`index` in a program that uses IGNORECASE."""
        if self.rt.IGNORECASE:
            text, sought = text.casefold(), sought.casefold()
        return float(text.find(sought) + 1)

    def split_into(
        self, text: str, array: Array, separator: Pattern | str | None, typed: bool
    ) -> float:
        """`split`. If not `typed`, nothing depends on which elements look like numbers."""
        rt = self.rt
        step = rt.budget.step
        if isinstance(separator, Pattern):
            pieces = splitter(separator, step)(text)
        else:
            by = rt.text(rt.FS) if separator is None else separator
            split = csv_fields if rt.csv and separator is None else rt.splitters.get(by)
            if split is None:
                split = rt.splitters[by] = rt.splitter_of(by)
            pieces = split(text)
        from_input = rt.from_input
        step(len(pieces) // 4 + 1)
        if len(text) > ACCOUNTED:
            rt.account(len(text))
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
        rt.budget.charge(len(pieces) * 16)
        for start in range(0, len(pieces), _PIECE):
            part = pieces[start : start + _PIECE]
            step(len(part))
            numbers = map(str, range(start + 1, start + len(part) + 1))
            array.update(zip(numbers, map(from_input, part), strict=True))
        return float(len(pieces))

    def split_apart(
        self, text: str, array: Array, separator: Pattern | str | None, between: Array | None
    ) -> float:
        """`split` with a fourth argument, which gets the separators."""
        rt = self.rt
        by = rt.text(rt.FS) if separator is None else separator
        if by == "":
            return self._fill_arrays(array, list(text), between, [""] * max(0, len(text) - 1), 1)
        trims = by == " "
        if isinstance(by, str):
            is_single = len(by) == 1 and not trims
            by = rt.dynamic_pattern("[ \t\n]+" if trims else _quoted(by) if is_single else by)
        pieces: list[str] = []
        gaps: list[str] = []
        start = at = 0
        while text and at <= len(text):
            rt.budget.step()
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
        rt = self.rt
        pattern = rt.text(rt.FPAT) if separator is None else separator
        if isinstance(pattern, str):
            pattern = rt.dynamic_pattern(pattern)
        gaps: list[str] = []
        pieces = matches(pattern, text, rt.budget.step, gaps)
        return self._fill_arrays(array, pieces, between, gaps, 0)

    def _fill_arrays(
        self, array: Array, pieces: list[str], between: Array | None, gaps: list[str], first: int
    ) -> float:
        """Put pieces and what is between them into two arrays."""
        rt = self.rt
        if between is array:
            raise AwkFatal("split: cannot use the same array for second and fourth args")
        rt.budget.charge((len(pieces) + len(gaps)) * 16)
        rt.budget.step(len(pieces) + 1)
        array.clear()
        array.update((str(at), rt.from_input(piece)) for at, piece in enumerate(pieces, 1))
        if between is not None:
            between.clear()
            between.update((str(at), gap) for at, gap in enumerate(gaps, first))
        return float(len(pieces))

    def call_by_name(self, name: str, values: list[Any]) -> Any:
        """`@name(…)`: call a function of the program, or a built-in one."""
        name = name.removeprefix("awk::")
        found = self.rt.functions.get(name)
        if found is not None:
            function, kinds = found
            return function(*values[: len(kinds)])
        from agentsandbox.commands.awk.indirect import call_builtin

        return call_builtin(self, name, values)

    def substitute(self, pattern: Pattern, replacement: str, text: str, every: bool) -> float:
        """`sub` and `gsub`: put the new text in `got`, return the number of replacements."""
        rt = self.rt
        from agentsandbox.commands.awk.substitution import substitute

        rt.got, count = substitute(
            pattern, replacement, text, every, rt.budget, posix=rt.mode.posix
        )
        if count and len(rt.got) > ACCOUNTED:
            rt.account(len(rt.got))
        return float(count)

    def substituter(
        self, pattern: Pattern, replacement: str, every: bool
    ) -> Callable[[str], float]:
        """Return `substitute` for a constant pattern and a constant replacement."""
        from agentsandbox.commands.awk.substitution import substituter

        def general(text: str) -> float:
            return self.substitute(pattern, replacement, text, every)

        return substituter(self.rt, pattern, replacement, every, general)

    def gensub(self, pattern: Pattern, replacement: str, how: Value, text: str) -> str:
        """`gensub`."""
        rt = self.rt
        which = rt.text(how)
        number = 0
        if which[:1] not in ("g", "G"):
            count = to_number(how)
            number = int(min(max(count, 1.0), 1e9)) if count == count else 10**9
            if count <= 0:
                rt.warn(f"gensub: third argument `{which}' treated as 1")
        from agentsandbox.commands.awk.substitution import general_substitute

        result = general_substitute(pattern, replacement, text, number, rt.budget)
        if len(result) > ACCOUNTED:
            rt.account(len(result))
        return result

    def match(self, text: str, pattern: Pattern, captures: Array | None) -> float:
        """`match`: set RSTART, RLENGTH and the array of groups."""
        rt = self.rt
        found = pattern.search(text)
        if captures is not None:
            captures.clear()
        if found is None:
            rt.RSTART, rt.RLENGTH = 0.0, -1.0
            return 0.0
        start, end = found.span()
        rt.RSTART, rt.RLENGTH = start + 1.0, float(end - start)
        if captures is not None:
            for number in range(len(found.groups()) + 1):
                left, right = found.span(number)
                if left >= 0:
                    captures[str(number)] = rt.from_input(text[left:right])
                    captures[f"{number}{rt.SUBSEP}start"] = left + 1.0
                    captures[f"{number}{rt.SUBSEP}length"] = float(right - left)
        return rt.RSTART  # type: ignore[no-any-return]

    def sort(self, source: Array, target: Array | None, how: str | None, by_index: bool) -> float:
        """`asort` and `asorti`."""
        from agentsandbox.commands.awk.sorting import sort_elements

        values = sort_elements(self.rt, source, how, by_index)
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
        self._seed = float(int(self.rt.ctx.host.clock())) if seed is None else seed + 0.0
        self._random = None
        return before

    def systime(self) -> float:
        """`systime`."""
        return float(int(self.rt.ctx.host.clock()))

    def strftime(
        self, template: str | None = None, when: float | None = None, utc: object = 0.0
    ) -> str:
        """`strftime`."""
        rt = self.rt
        from agentsandbox.commands.awk.times import format_time

        if template is None:
            template = "%a %b %e %H:%M:%S %Z %Y"
        return format_time(
            template,
            self.systime() if when is None else when,
            bool(utc),
            rt.ctx.env,
            rt.budget.charge,
        )

    def mktime(self, text: str, utc: bool) -> float:
        """`mktime`."""
        from agentsandbox.commands.awk.times import make_time

        return make_time(text, utc, self.rt.ctx.env)


def functions(rt: Runtime) -> dict[str, Callable[..., Any]]:
    """Return the functions of the run, by their names in a program."""
    made = Library(rt)
    methods: tuple[Callable[..., Any], ...] = (
        made.call_by_name, made.gensub, made.index, made.match, made.mktime, made.patsplit,
        made.rand, made.sort, made.sound, made.split_apart, made.split_into, made.sprintf,
        made.srand, made.strftime, made.substitute, made.substituter, made.systime,
    )  # fmt: skip
    return {method.__name__: method for method in methods}
