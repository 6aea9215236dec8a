"""Shell variables: values, attributes, arrays, name references, dynamic scope.

`values` maps a name to a str, an int (results of arithmetic stay numbers until somebody needs
text), an `IndexedArray`, an `AssociativeArray`, a `NameReference` or UNSET (declared without a
value). `attributes` maps a name to its flags.

Compiled code writes `values[name] = value` itself, because that is what scripts do most. It may do
so only if the name is not in `attributes`. So every name that needs care when it is assigned to has
an entry there: readonly, integer and exported variables, arrays, and SPECIAL ones, whose assignment
has an effect (`writers`: IFS, PATH …) or whose value is computed (`readers`: RANDOM, LINENO …).

Scope is dynamic: a function sees the locals of its callers. `local x` notes the value and the flags
that x has now in the function's scope and then changes x itself; at the end of the function they
are put back. Assignments before a command (`x=1 f`) work the same way in `temporary`.
"""

from __future__ import annotations

from agentsandbox.errors import LimitReached
from agentsandbox.kernel.caching import cache_short
from agentsandbox.kernel.streams import encode
from agentsandbox.shell.expansion.errors import ExpansionError

_LONGEST_IFS = 1 << 18
"""Characters of IFS."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, ClassVar

    from agentsandbox.kernel.accounts import Scale

    Value = "str | int | IndexedArray | AssociativeArray | NameReference | Unset"

EXPORT, READONLY, INTEGER, LOWER, UPPER, CAPITALIZE, NAMEREF, ARRAY, ASSOCIATIVE, TRACE, SPECIAL = (
    1 << n for n in range(11)
)
GIVEN = 1 << 11
"""Marks a local that took the place of an assignment before its function."""


class Unset:
    """The value of a declared name without a value."""

    __slots__ = ()


CASES = LOWER | UPPER | CAPITALIZE
"""Attributes that change letters."""
CONVERTING = INTEGER | CASES
"""Attributes that change what is assigned."""
UNSET = Unset()


HIDDEN = "\0"
"""Before the name of a global variable to which a local name reference of the same name refers."""


class NameReference:
    """The value of a `declare -n` name: another name, perhaps with a subscript."""

    __slots__ = ("target",)

    def __init__(self, target: str) -> None:
        self.target = target

    @property
    def shown(self) -> str:
        """The name as the script gave it."""
        return self.target.removeprefix(HIDDEN)


class IndexedArray:
    """A sparse array. `items` maps indices to text; iteration is in the order of indices."""

    __slots__ = ("_ordered", "_top", "items")

    def __init__(self, items: dict[int, str] | None = None) -> None:
        self.items: dict[int, str] = items if items is not None else {}
        self._ordered = items is None
        self._top = -1 if not items else max(items)

    @classmethod
    def of(cls, values: list[str]) -> IndexedArray:
        """The array with these values from index 0 on."""
        array = cls()
        array.items = dict(enumerate(values))
        array._top = len(values) - 1
        return array

    def copy(self) -> IndexedArray:
        """An independent copy."""
        twin = IndexedArray.__new__(IndexedArray)
        twin.items = self.items.copy()
        twin._ordered, twin._top = self._ordered, self._top
        return twin

    def get(self, index: int) -> str | None:
        """The element, negative indices from the end."""
        return self.items.get(index if index >= 0 else self._top_index() + 1 + index)

    def set(self, index: int, value: str) -> None:
        """Set an element; the index must not be negative."""
        if index > self._top:
            self._top = index
        elif index not in self.items:
            self._ordered = False
        self.items[index] = value

    def fill(self, index: int, values: list[str]) -> None:
        """Set the elements from `index` on, which must not be negative."""
        if values:
            self._ordered = self._ordered and index > self._top
            self._top = max(self._top, index + len(values) - 1)
            self.items.update(enumerate(values, index))

    def append(self, value: str) -> None:
        """Set the element behind the last one."""
        top = self._top_index() + 1
        self._top = top
        self.items[top] = value

    def remove(self, index: int) -> None:
        """Unset an element."""
        if self.items.pop(index, None) is not None and index == self._top:
            self._top = -2  # found again when needed

    def _top_index(self) -> int:
        if self._top == -2:
            self._top = max(self.items, default=-1)
        return self._top

    def end(self) -> int:
        """The index behind the last element."""
        return self._top_index() + 1

    def _order(self) -> None:
        if not self._ordered:
            self.items = dict(sorted(self.items.items()))
            self._ordered = True

    def keys(self) -> list[str]:
        """The indices in order, as text."""
        self._order()
        return [str(index) for index in self.items]

    def values(self) -> list[str]:
        """The elements in the order of their indices."""
        self._order()
        return list(self.items.values())

    def pairs(self) -> list[tuple[str, str]]:
        """(index, element) in order."""
        self._order()
        return [(str(index), value) for index, value in self.items.items()]

    def weigh(self, scale: Scale) -> None:
        scale.add(self.items)

    def __len__(self) -> int:
        return len(self.items)


def _hash(key: str) -> int:
    """Return bash's hash of a key (32-bit FNV-1), which orders associative arrays."""
    number = 2166136261
    for byte in encode(key):
        number = ((number * 16777619) & 0xFFFFFFFF) ^ (byte if byte < 128 else byte | 0xFFFFFF00)
    return number


@cache_short(1024)
def _bucket(name: str) -> int:
    """Return the bucket of a name in bash's table of variables, which orders the environment."""
    return _hash(name) & 1023


class AssociativeArray:
    """An associative array; iteration is in the order of bash's hash table."""

    __slots__ = ("_order", "items")

    def __init__(self, items: dict[str, str] | None = None) -> None:
        self.items: dict[str, str] = items if items is not None else {}
        self._order: list[str] | None = None

    def copy(self) -> AssociativeArray:
        """An independent copy."""
        twin = AssociativeArray.__new__(AssociativeArray)
        twin.items = self.items.copy()
        twin._order = self._order
        return twin

    def get(self, key: str) -> str | None:
        """The element, None if there is none."""
        return self.items.get(key)

    def set(self, key: str, value: str) -> None:
        """Set an element."""
        if key not in self.items:
            self._order = None
        self.items[key] = value

    def remove(self, key: str) -> None:
        """Unset an element."""
        if self.items.pop(key, None) is not None:
            self._order = None

    def keys(self, buckets: int = 1024) -> list[str]:
        """The keys in bash's order."""
        if self._order is None or len(self._order) != len(self.items):
            while len(self.items) > 2 * buckets:
                buckets *= 4
            # newest first within a bucket
            self._order = sorted(reversed(self.items), key=lambda key: _hash(key) & (buckets - 1))
        return self._order

    def values(self) -> list[str]:
        """The elements in the order of the keys."""
        return [self.items[key] for key in self.keys()]

    def pairs(self) -> list[tuple[str, str]]:
        """(key, element) in order."""
        return [(key, self.items[key]) for key in self.keys()]

    def weigh(self, scale: Scale) -> None:
        scale.add(self.items)
        if self._order is not None:
            scale.add(self._order)

    def __len__(self) -> int:
        return len(self.items)


_ARRAYS = frozenset((IndexedArray, AssociativeArray))
_MISSING = object()


def _upper(text: str) -> str:
    """Convert to upper case character by character, as C does; never to two characters."""
    upper = text.upper()
    return (
        upper
        if len(upper) == len(text)
        else "".join([char.upper() if len(char.upper()) == 1 else char for char in text])
    )


def _lower(text: str) -> str:
    """Convert to lower case character by character, as C does."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join([char.lower()[0] for char in text])


class Variables:
    """All variables of one shell.

    owner     the shell they belong to: evaluates arithmetic for integer variables and subscripts
    readers   names computed when read (RANDOM, SECONDS …), from the owner; replaced, never changed
    writers   names with a side effect when assigned (IFS, OPTIND …)
    ifs       IFS as it splits; `default_ifs` whether it is space, tab and newline, `plain_ifs`
              whether no letter, digit or "-" is in it
    passed_on exported texts whose names are no names of variables (`v.x`); replaced, never changed
    bytewise  whether the locale is C, in which each byte is a character
    """

    missing = _MISSING
    """Stands in a scope for a name that had no value."""

    SLOTS: ClassVar[Mapping[str, str]] = {
        "values": "kept",
        "attributes": "kept",
        "readers": "kept",
        "before_export_all": "kept",
        "passed_on": "kept",
        "scopes": "running",
        "temporary": "running",
        "writers": "host",
        "limit": "host",
        "owner": "derived",
        "ifs": "derived",
        "default_ifs": "derived",
        "plain_ifs": "derived",
        "bytewise": "derived",
        "_environment": "derived",
        "environment_size": "derived",
    }
    """What becomes of each slot in a copy: see `interpreter.state`."""
    __slots__ = tuple(SLOTS)

    def __init__(
        self,
        limit: int,
        owner: Any,
        readers: Mapping[str, Callable[[Any], object]],
        writers: Mapping[str, Callable[[Any, str | None], None]],
    ) -> None:
        self.values: dict[str, object] = {}
        self.attributes: dict[str, int] = {}
        self.readers = readers
        self.writers = writers
        self.limit = limit
        self.owner = owner
        self._environment: dict[str, str] | None = None
        self.environment_size = 0
        """The characters of the names and values that `environment` returned last."""
        self.before_export_all: dict[str, object] | None = None
        self.passed_on: Mapping[str, str] = {}
        self.settle()
        self.bytewise = False
        self.set_ifs(None)

    def settle(self) -> None:
        """Forget the scopes of running functions and commands."""
        self.scopes: list[dict[str, tuple[object, int]]] = []
        """One for each active function: what its local names were before."""
        self.temporary: list[tuple[int, dict[str, tuple[object, int]]]] = []
        """Assignments before a running builtin or function: what the names were before, and the
        number of scopes that the function has."""

    def set_ifs(self, value: str | None) -> None:
        """Take over a new value of IFS; None is the default."""
        if value is not None and len(value) > _LONGEST_IFS:
            raise LimitReached("value_bytes", "IFS is too long")
        self.ifs = (
            " \t\n"
            if value is None
            else value
            if len(value) < 256
            else "".join(dict.fromkeys(value))
        )
        self.default_ifs = self.ifs == " \t\n"
        self.plain_ifs = not any(char.isalnum() or char == "-" for char in self.ifs)

    def choose_locale(self) -> None:
        """Apply LC_ALL, LC_CTYPE or LANG: UTF-8, or bytes as characters in the locale C."""
        locale = next(
            (value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := self.get(name))), ""
        )
        self.bytewise = locale in ("C", "POSIX")

    def evaluate(self, text: str) -> int:
        """Evaluate a subscript."""
        try:
            number: int = self.owner.arithmetic(text)
        except ExpansionError as error:
            error.ends = True
            raise
        return number

    def integer(self, text: str) -> int:
        """Evaluate a value for a variable with the integer attribute."""
        try:
            return self.evaluate(text)
        except ExpansionError as error:
            error.named = True
            raise

    def fork(self, owner: Any = None) -> Variables:
        """A copy for another shell."""
        twin = Variables.__new__(Variables)
        twin.owner = owner
        twin.readers = self.readers
        twin.writers = self.writers
        twin.limit = self.limit
        twin.ifs = self.ifs
        twin.default_ifs = self.default_ifs
        twin.plain_ifs = self.plain_ifs
        twin.bytewise = self.bytewise
        twin.values = values = self.values.copy()
        twin.attributes = self.attributes.copy()
        if not _ARRAYS.isdisjoint(map(type, values.values())):
            for name, value in self.values.items():
                if type(value) is not str and isinstance(value, (IndexedArray, AssociativeArray)):
                    values[name] = value.copy()
        twin.scopes = [scope.copy() for scope in self.scopes] if self.scopes else []
        twin.temporary = []
        twin._environment = self._environment
        twin.environment_size = self.environment_size
        twin.before_export_all = self.before_export_all
        twin.passed_on = self.passed_on
        return twin

    # reading

    def resolve(self, name: str) -> str:
        """Follow name references; return the name at the end, or "" for a circle."""
        value = self.values.get(name)
        hops = 0
        while isinstance(value, NameReference):
            target = value.target
            if not target:
                return name
            if "[" in target:
                return target
            hops += 1
            if hops > 8 or target == name:
                return ""
            if target[0] == HIDDEN:
                self.owner.warn(f"{name}: circular name reference")
            name = target
            value = self.values.get(name)
        return name

    def _target(self, reference: str) -> tuple[str, str]:
        """Return the name and the expanded subscript of name[subscript]."""
        name, _, subscript = reference.partition("[")
        return name, self.owner.key(name, subscript[:-1])

    def get(self, name: str) -> str | None:
        """Return the text of a name, of element 0 for an array; None if unset."""
        value = self.values.get(name)
        if type(value) is str:
            return value
        return self.text_of(name, value)

    def text_of(self, name: str, value: object) -> str | None:
        """As `get`, for a value already fetched."""
        if value is None:
            reader = self.readers.get(name)
            return None if reader is None else self.text_of("", reader(self.owner))
        if isinstance(value, str):
            return value
        if isinstance(value, int):
            return str(value)
        if isinstance(value, IndexedArray):
            return value.items.get(0)
        if isinstance(value, AssociativeArray):
            return value.items.get("0")
        if isinstance(value, NameReference):
            target = self.resolve(name)
            if not target:
                self.owner.warn(f"{name}: circular name reference")
            if not target or target == name:
                return None
            if "[" in target:
                return self.element(*self._target(target))
            return self.get(target)
        return None

    def lookup(self, name: str) -> object:
        """Return the value behind references and special names: str, int, array or None."""
        value = self.values.get(name)
        if isinstance(value, NameReference):
            target = self.resolve(name)
            if not target or target == name:
                return None
            if "[" in target:
                return self.element(*self._target(target))
            return self.lookup(target)
        if value is None and name in self.readers:
            return self.readers[name](self.owner)
        return None if value is UNSET else value

    def is_set(self, name: str) -> bool:
        """Whether the name has a value."""
        return self.get(name) is not None

    def element(self, name: str, subscript: str) -> str | None:
        """Return an element by its expanded subscript."""
        value = self.lookup(name)
        if isinstance(value, AssociativeArray):
            return value.items.get(subscript)
        if subscript in ("@", "*"):
            return " ".join(self.elements(name)) or None
        index = self.evaluate(subscript)
        if isinstance(value, IndexedArray):
            return value.get(index)
        return self.get(name) if index in (0, -1) else None

    def is_associative(self, name: str) -> bool:
        """Whether its subscripts are keys rather than numbers."""
        return (
            isinstance(self.lookup(name), AssociativeArray)
            or self.attributes.get(name, 0) & ASSOCIATIVE != 0
        )

    def elements(self, name: str) -> list[str]:
        """Return all elements; a scalar is an array of one."""
        value = self.lookup(name)
        if isinstance(value, (IndexedArray, AssociativeArray)):
            return value.values()
        text = None if value is None else str(value)
        return [] if text is None else [text]

    def keys(self, name: str) -> list[str]:
        """Return all subscripts."""
        if "[" in self.resolve(name):
            return []
        value = self.lookup(name)
        if isinstance(value, (IndexedArray, AssociativeArray)):
            return list(value.keys())
        return [] if value is None else ["0"]

    # writing

    def assign(self, name: str, value: str | int) -> None:
        """Make name=value, with all that the attributes ask for."""
        flags = self.attributes.get(name)
        if flags is None:
            self.values[name] = value
            return
        if flags & NAMEREF:
            self._assign_reference(name, value)
            return
        if flags & READONLY:
            raise ExpansionError(f"{name}: readonly variable", readonly=True)
        if flags & CONVERTING:
            value = self._convert(value, flags)
        if flags & EXPORT:
            self._environment = None
        if flags & (ARRAY | ASSOCIATIVE):
            current = self.values.get(name)
            if isinstance(current, AssociativeArray):
                current.set("0", str(value))
            elif isinstance(current, IndexedArray):
                current.set(0, str(value))
            else:
                self.values[name] = (
                    AssociativeArray({"0": str(value)})
                    if flags & ASSOCIATIVE
                    else IndexedArray.of([str(value)])
                )
            return
        if flags & SPECIAL:
            writer = self.writers.get(name)
            if writer is not None:
                if name not in self.readers:
                    self.values[name] = value
                writer(self.owner, str(value))
                return
            if name in self.readers:
                return
        self.values[name] = value

    def _assign_reference(self, name: str, value: str | int) -> None:
        reference = self.values.get(name)
        if not isinstance(reference, NameReference) or not reference.target:
            text = str(value)
            from agentsandbox.shell.expansion.references import split_reference

            if split_reference(text) is None:
                raise ExpansionError(f"`{text}': not a valid identifier")
            self.values[name] = self.reference(name, text)
            return
        target = self.resolve(name)
        if not target:
            raise ExpansionError(f"warning: {name}: circular name reference")
        if target[0] == HIDDEN:
            self.owner.warn(f"{name}: circular name reference")  # looked for twice
        if "[" in target:
            self.assign_element(*self._target(target), str(value))
        else:
            self.assign(target, value)

    def _convert(self, value: str | int, flags: int) -> str | int:
        if flags & INTEGER:
            return value if isinstance(value, int) else self.integer(value)
        text = str(value)
        if flags & LOWER:
            return _lower(text)
        if flags & UPPER:
            return _upper(text)
        return _upper(text[:1]) + _lower(text[1:])

    def reference(self, name: str, target: str) -> NameReference:
        """Return a name reference; the attributes of `name` may change the case of its target."""
        flags = self.attributes.get(name, 0) & CASES
        return NameReference(str(self._convert(target, flags)) if flags else target)

    def converted(self, name: str, text: str) -> str:
        """Return a text as an element of the array `name`, whose attributes may change it."""
        flags = self.attributes.get(name, 0)
        return str(self._convert(text, flags)) if flags & CONVERTING else text

    def append(self, name: str, value: str | int) -> None:
        """Make name+=value."""
        name = self.resolve(name) or name
        if "[" in name:
            self.append_element(*self._target(name), str(value))
            return
        flags = self.attributes.get(name, 0)
        if flags & READONLY:
            raise ExpansionError(f"{name}: readonly variable", readonly=True)
        current = self.get(name)
        if flags & INTEGER:
            added = value if isinstance(value, int) else self.integer(value)
            base_value = self.integer(current) if current else 0
            self.assign(name, _wrap(base_value + added))
            return
        text = (current or "") + str(value)
        if len(text) > self.limit:
            self._too_large()
        self.assign(name, text)

    def _too_large(self) -> None:
        raise LimitReached("value_bytes")

    def array_for_writing(
        self, name: str, *, associative: bool = False
    ) -> IndexedArray | AssociativeArray:
        """Return the array of that name; a scalar becomes its element 0."""
        name = self.resolve(name) or name
        value = self.values.get(name)
        flags = self.attributes.get(name, 0)
        if flags & READONLY:
            raise ExpansionError(f"{name}: readonly variable", readonly=True)
        if isinstance(value, (IndexedArray, AssociativeArray)):
            return value
        if value is None and name in self.readers:
            computed = self.readers[name](self.owner)
            if isinstance(computed, (IndexedArray, AssociativeArray)):
                return computed
            if flags & ARRAY:
                return IndexedArray()  # what is written there is lost
        array: IndexedArray | AssociativeArray
        if associative or flags & ASSOCIATIVE:
            array = AssociativeArray()
            flags |= ASSOCIATIVE
        else:
            array = IndexedArray()
            flags |= ARRAY
        if isinstance(value, (str, int)):
            first = "0" if isinstance(array, AssociativeArray) else 0
            array.set(first, str(value))  # type: ignore[arg-type]
        self.values[name] = array
        self.attributes[name] = flags
        self._environment = None
        return array

    def assign_element(self, name: str, subscript: str, value: str) -> None:
        """Make name[subscript]=value; the subscript is expanded, but not yet evaluated."""
        name = self.resolve(name) or name
        if name not in self.values and name not in self.attributes:
            index = self.index(name, IndexedArray(), subscript)  # a wrong one makes no array
            array = self.array_for_writing(name)
            assert isinstance(array, IndexedArray)  # nothing says otherwise
            array.set(index, value)
            return
        if subscript in ("@", "*") and not self.is_associative(name):
            raise ExpansionError(f"{name}[{subscript}]: bad array subscript")
        array = self.array_for_writing(name)
        value = self.converted(name, value)
        if isinstance(array, AssociativeArray):
            array.set(subscript, value)
        else:
            array.set(self.index(name, array, subscript), value)

    def append_element(self, name: str, subscript: str, value: str) -> None:
        """Make name[subscript]+=value."""
        name = self.resolve(name) or name
        array = self.array_for_writing(name)
        if isinstance(array, AssociativeArray):
            current = array.get(subscript) or ""
            key: str | int = subscript
        else:
            key = self.index(name, array, subscript)
            current = array.get(key) or ""
        if self.attributes.get(name, 0) & INTEGER:
            value = str(_wrap((self.integer(current) if current else 0) + self.integer(value)))
        else:
            value = current + value
        if len(value) > self.limit:
            self._too_large()
        if self.attributes.get(name, 0) & CASES:
            value = str(self._convert(value, self.attributes[name]))
        array.set(key, value)  # type: ignore[arg-type]

    def index(self, name: str, array: IndexedArray, subscript: str) -> int:
        """Evaluate a subscript to an index; negative ones count from the end."""
        if subscript in ("@", "*"):
            raise ExpansionError(f"{name}[{subscript}]: bad array subscript")
        index = self.evaluate(subscript)
        if index < 0:
            index += array.end()
            if index < 0:
                raise ExpansionError(f"{name}[{subscript}]: bad array subscript")
        return index

    def replace(self, name: str, value: object) -> None:
        """Set the value itself (an array), keeping attributes except for the kind of array."""
        flags = self.attributes.get(name, 0) & ~(ARRAY | ASSOCIATIVE)
        if flags & READONLY:
            raise ExpansionError(f"{name}: readonly variable", readonly=True)
        if isinstance(value, IndexedArray):
            flags |= ARRAY
        elif isinstance(value, AssociativeArray):
            flags |= ASSOCIATIVE
        self.values[name] = value
        self._environment = None
        if flags:
            self.attributes[name] = flags

    def unset(self, name: str) -> None:
        """Remove a variable. If it is a caller's local, the value that it hid comes back."""
        flags = self.attributes.get(name, 0)
        if flags & READONLY:
            raise ExpansionError(f"{name}: cannot unset: readonly variable", readonly=True)
        if flags & EXPORT:
            self._environment = None
        for level in range(len(self.scopes) - 1, -1, -1):
            scope = self.scopes[level]
            if name in scope:
                if level == len(self.scopes) - 1:
                    self.values[name] = UNSET
                    self.attributes[name] = flags & EXPORT if flags & GIVEN else 0
                    if name in self.writers:
                        self.writers[name](self.owner, None)
                    return
                self._restore(name, *scope.pop(name))
                return
        for _, scope in reversed(self.temporary):
            if name in scope:
                self._restore(name, *scope.pop(name))
                return
        if flags & SPECIAL:
            self.readers = {reader: read for reader, read in self.readers.items() if reader != name}
        self.values.pop(name, None)
        self.attributes.pop(name, None)
        writer = self.writers.get(name)
        if writer is not None:
            writer(self.owner, None)
            self.attributes[name] = SPECIAL

    # attributes

    def add(self, name: str, flags: int) -> None:
        """Add attributes."""
        self.attributes[name] = self.attributes.get(name, 0) | flags
        if flags & EXPORT:
            self._environment = None
        if name not in self.values and name not in self.readers:
            self.values[name] = UNSET

    def drop(self, name: str, flags: int) -> None:
        """Remove attributes."""
        if name in self.attributes:
            left = self.attributes[name] & ~flags
            if left:
                self.attributes[name] = left
            else:
                del self.attributes[name]
        if flags & EXPORT:
            self._environment = None

    def environment(self) -> dict[str, str]:
        """Return the exported variables. The caller must not change the result."""
        if self._environment is None:
            self.settle_exports()
            exported = {
                name: text
                for name, flags in self.attributes.items()
                if flags & EXPORT
                and not flags & (ARRAY | ASSOCIATIVE)
                and (text := self._exported(name)) is not None
            }
            if self.scopes:
                self._export_hidden(exported)
            environment = {name: exported[name] for name in sorted(reversed(exported), key=_bucket)}
            environment.update(self.passed_on)
            self.environment_size = sum(map(len, (*environment, *environment.values())))
            if self.before_export_all is not None:
                return environment
            self._environment = environment
        return self._environment

    def _export_hidden(self, exported: dict[str, str]) -> None:
        """Add exported variables that locals without a value hide: programs get them."""
        given = self.temporary[-1][1] if self.temporary else {}
        for scope in reversed(self.scopes):
            for name, (value, flags) in scope.items():
                if name in exported or name in given or self.values.get(name) is not UNSET:
                    continue
                is_text = isinstance(value, (str, int))
                if is_text and flags & EXPORT and not flags & (ARRAY | ASSOCIATIVE):
                    exported[name] = str(value)

    def export_all(self, on: bool) -> None:
        """`set -a`: export whatever is assigned from now on."""
        if on and self.before_export_all is None:
            self.before_export_all = self.values.copy()
        elif not on:
            self.settle_exports()
            self.before_export_all = None
        self._environment = None

    def settle_exports(self) -> None:
        """Export what was assigned since `set -a`."""
        before = self.before_export_all
        if before is None:
            return
        for name, value in self.values.items():
            if before.get(name, _MISSING) is not value and not self.attributes.get(name, 0) & (
                ARRAY | ASSOCIATIVE | NAMEREF
            ):
                self.attributes[name] = self.attributes.get(name, 0) | EXPORT

    def _exported(self, name: str) -> str | None:
        """Return the exported text of a variable; for a name reference that is the name."""
        value = self.values.get(name)
        return value.shown if isinstance(value, NameReference) else self.get(name)

    def forget_environment(self) -> None:
        """Note that exported variables have changed."""
        self._environment = None

    def names(self, prefix: str = "") -> list[str]:
        """Return the sorted names of all variables, even unset ones, that begin with `prefix`."""
        return sorted(
            name
            for name in {*self.values, *self.readers}
            if name.startswith(prefix) and name[0] != HIDDEN and name[-1] != "%"
        )

    def names_with_value(self, prefix: str = "") -> list[str]:
        """As `names`, without names that are only declared and hide no outer value."""
        values = self.values
        return [
            name
            for name in self.names(prefix)
            if (
                self._hides_value(name)
                if (value := values.get(name)) is UNSET
                else not (isinstance(value, NameReference) and not value.target)
            )
        ]

    def _hides_value(self, name: str) -> bool:
        return any(
            name in scope and scope[name][0] not in (UNSET, _MISSING) for scope in self.scopes
        )

    # scope

    def unmake_local(self, name: str) -> None:
        """Forget that a name was made local in the current scope."""
        self._restore(name, *self.scopes[-1].pop(name))

    def make_local(self, name: str) -> bool:
        """Save the name's state in the current scope; return False if it is local already."""
        return self.save_in(self.scopes[-1], name)

    def save_in(self, scope: dict[str, tuple[object, int]], name: str) -> bool:
        """Save the name's present state in `scope`; return False if that has been done."""
        if name in scope:
            return False
        scope[name] = (self.values.get(name, _MISSING), self.attributes.get(name, 0))
        return True

    def hide_array(self, name: str) -> None:
        """Remove an array to make room for a scalar of the same name, until it is restored."""
        flags = self.attributes.get(name, 0)
        is_array = isinstance(self.values.get(name), (IndexedArray, AssociativeArray)) or flags & (
            ARRAY | ASSOCIATIVE
        )
        if is_array and not flags & (READONLY | SPECIAL):
            self.values.pop(name, None)
            self.attributes.pop(name, None)

    def keep(self, name: str) -> None:
        """Make an assignment before the running function last, as `export` in it does."""
        for _, scope in self.temporary:
            scope.pop(name, None)
        if self.attributes.get(name, 0) & GIVEN:
            self.drop(name, GIVEN)
            for scope in reversed(self.scopes):
                if scope.pop(name, None) is not None:
                    break

    def restore(self, scope: dict[str, tuple[object, int]]) -> None:
        """Restore everything that `save_in` saved."""
        for name, (value, flags) in scope.items():
            self._restore(name, value, flags)

    def _restore(self, name: str, value: object, flags: int) -> None:
        if name == "-":
            self.owner.restore_options(value)
            return
        if (flags | self.attributes.get(name, 0)) & EXPORT:
            self._environment = None
        reference = self.values.get(name)
        if isinstance(reference, NameReference) and reference.target == HIDDEN + name:
            value, flags = self._uncovered(name, value, flags)
        if value is _MISSING:
            self.values.pop(name, None)
        else:
            self.values[name] = value
        if flags:
            self.attributes[name] = flags
        else:
            self.attributes.pop(name, None)
        writer = self.writers.get(name)
        if writer is not None:
            if not flags:
                self.attributes[name] = SPECIAL
            writer(self.owner, value if isinstance(value, str) else None)

    def refer_to_global(self, name: str) -> None:
        """`local -n x=x`: refer to the global name, which gets a hidden name meanwhile."""
        hidden = HIDDEN + name
        scope = self.globals_scope(name)
        if scope is not None and not any(
            self._refers(saved.get(name), hidden) for saved in self.scopes
        ):
            value, flags = scope[name]
            if value is not _MISSING:
                self.values[hidden] = value
            if flags:
                self.attributes[hidden] = flags
        self.values[name] = NameReference(hidden)

    @staticmethod
    def _refers(saved: tuple[object, int] | None, hidden: str) -> bool:
        return (
            saved is not None and isinstance(saved[0], NameReference) and saved[0].target == hidden
        )

    def _uncovered(self, name: str, value: object, flags: int) -> tuple[object, int]:
        """Return the outer value of a name whose reference to its global ends, as assigned."""
        hidden = HIDDEN + name
        if self._refers((value, flags), hidden) or any(
            self._refers(saved.get(name), hidden) for saved in self.scopes
        ):
            return value, flags
        current = self.values.pop(hidden, _MISSING), self.attributes.pop(hidden, 0)
        scope = self.globals_scope(name)
        if scope is None:
            return current
        scope[name] = current
        return value, flags

    def globals_scope(self, name: str) -> dict[str, tuple[object, int]] | None:
        """Return the outermost scope that hides a global of that name, None if it is visible."""
        depth, found = next(
            ((at, scope) for at, scope in enumerate(self.scopes, 1) if name in scope), (0, None)
        )
        for at, scope in self.temporary:
            if name in scope and (found is None or at < depth):
                return scope
        return found

    def local_names(self) -> Iterator[str]:
        """Yield the locals of the current function, sorted."""
        return iter(sorted(self.scopes[-1].keys() - {"-"})) if self.scopes else iter(())


def is_name(text: str) -> bool:
    """Whether a text is a name as POSIX defines it (3.235)."""
    return text.isidentifier() and text.isascii()


def _wrap(number: int) -> int:
    return ((number + 0x8000000000000000) & 0xFFFFFFFFFFFFFFFF) - 0x8000000000000000
