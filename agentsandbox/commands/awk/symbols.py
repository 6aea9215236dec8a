"""SYMTAB and FUNCTAB: the variables and the functions of a program as arrays.

The global variables of a compiled program are variables of Python. An element of SYMTAB is read and
assigned through two functions that the compiler makes for each of them; it makes them only for
programs that name SYMTAB. The keys are those that gawk knows before the program runs: no other can
be read, assigned or deleted.
"""

from __future__ import annotations

from agentsandbox.commands.awk.tokens import BUILTINS
from agentsandbox.commands.awk.values import UNSET, Array, AwkFatal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, NoReturn, Protocol

    from agentsandbox.commands.awk.protocols import Run

    class Runtime(Run, Protocol):
        """A run of a program, as the table of its variables uses it."""

        def array(self, name: str) -> Array: ...
        def assign(self, name: str, value: Any) -> Any: ...
        def nf(self) -> float: ...


SPECIAL_ORDER = (
    "ARGIND BINMODE CONVFMT ERRNO FIELDWIDTHS FILENAME FNR FS FPAT IGNORECASE LINT PREC NF NR"
    " OFMT OFS ORS RLENGTH ROUNDMODE RS RSTART RT SUBSEP TEXTDOMAIN PROCINFO ENVIRON ARGC ARGV"
).split()
"""The variables of awk's own, in the order in which gawk makes them."""
CONSTANT = {"PREC": 53.0, "ROUNDMODE": "N", "TEXTDOMAIN": "messages"}
"""Those that change nothing here, and their values."""


class _Table(Array):
    """An array with fixed keys; `where` is its name."""

    __slots__ = ()

    def __missing__(self, key: Any) -> NoReturn:
        raise AwkFatal(
            f'reference to uninitialized element `{self.where}["{key}"] is not allowed\''
        )

    def forget(self, key: Any) -> NoReturn:
        raise AwkFatal(f"`delete' is not allowed with {self.where}")

    def forget_all(self) -> NoReturn:
        raise AwkFatal(f"`delete' is not allowed with {self.where}")

    def clear(self) -> NoReturn:
        raise AwkFatal(f"cannot assign to elements of {self.where}")

    def update(self, *values: Any, **named: Any) -> NoReturn:
        raise AwkFatal(f"cannot assign to elements of {self.where}")


class Functions(_Table):
    """FUNCTAB: the name of each function by its name."""

    __slots__ = ()

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__("FUNCTAB")
        for name in (*BUILTINS, *names):
            dict.__setitem__(self, name, name)

    def __setitem__(self, key: str, value: Any) -> NoReturn:
        raise AwkFatal("cannot assign to elements of FUNCTAB")


class Symbols(_Table):
    """SYMTAB: the global variables by their names."""

    __slots__ = ("_variables",)

    def __init__(self) -> None:
        super().__init__("SYMTAB")
        self._variables: dict[str, tuple[Callable[[], Any], Callable[[Any], object]]] = {}

    def add(self, name: str, read: Callable[[], Any], assign: Callable[[Any], object]) -> None:
        """Add a variable, or replace it."""
        dict.__setitem__(self, name, UNSET)
        self._variables[name] = (read, assign)

    def add_array(self, name: str, array: Array) -> None:
        """Add an array."""

        def assign(value: object) -> None:
            raise AwkFatal(f'attempt to use array `SYMTAB["{name}"]\' in a scalar context')

        self.add(name, lambda: array, assign)

    def add_value(self, name: str, value: object) -> None:
        """Add a variable that only SYMTAB reads and assigns."""
        held = [value]
        self.add(name, lambda: held[0], lambda new: held.__setitem__(0, new))

    def __getitem__(self, key: str) -> Any:
        found = self._variables.get(key)
        return self.__missing__(key) if found is None else found[0]()

    def get(self, key: str, default: Any = None) -> Any:
        found = self._variables.get(key)
        return default if found is None else found[0]()

    def __setitem__(self, key: str, value: Any) -> None:
        found = self._variables.get(key)
        if found is None:
            raise AwkFatal("cannot assign to arbitrary elements of SYMTAB")
        found[1](value)

    def values(self) -> Any:
        """Return the values of all variables."""
        return [read() for read, _ in self._variables.values()]

    def items(self) -> Any:
        """Return the names and the values of all variables."""
        return [(name, read()) for name, (read, _) in self._variables.items()]

    def sub(self, key: str) -> Array:
        """Return the array of that name."""
        found = self[key]
        if isinstance(found, Array):
            return found
        raise AwkFatal(f'attempt to use scalar `SYMTAB["{key}"]\' as an array')


def _symbols(rt: Runtime) -> Array:
    """Return SYMTAB with the variables of awk's own."""

    def variable(name: str) -> None:
        def read() -> Any:
            return rt.nf() if name == "NF" else getattr(rt, name)

        table.add(name, read, lambda value: rt.assign(name, value))

    table = Symbols()
    for name in SPECIAL_ORDER:
        if name in ("PROCINFO", "ENVIRON", "ARGV"):
            table.add_array(name, rt.array(name))
        elif name in CONSTANT:
            table.add_value(name, CONSTANT[name])
        else:
            variable(name)
    for name, value in rt.variables.items():
        table.add_value(name, value)  # by `-v`; those of the program are replaced
    return table


def functions(rt: Runtime) -> dict[str, Callable[..., Array]]:
    """Return what makes the two arrays for a program."""
    return {"symbols": lambda: _symbols(rt), "function_table": Functions}
