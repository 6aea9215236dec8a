"""Protocols of objects: operators, descriptors, metaclasses, abstract classes, multiple inheritance."""

import abc
import sys
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable, get_type_hints

T = TypeVar("T")


class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, owner=None):
        return self if obj is None else getattr(obj, self.name)

    def __set__(self, obj, value):
        if value <= 0:
            raise ValueError(f"{self.name[1:]} must be positive, not {value}")
        setattr(obj, self.name, value)


class Registry(type):
    known: dict[str, type] = {}

    def __new__(mcs, name, bases, ns, **kw):
        cls = super().__new__(mcs, name, bases, ns)
        mcs.known[kw.get("key", name.lower())] = cls
        return cls


class Shape(metaclass=Registry, key="base"):
    side = Positive()

    def __init__(self, side):
        self.side = side

    def __init_subclass__(cls, **kw):
        print("subclass", cls.__name__)

    def __repr__(self):
        return f"{type(self).__name__}({self.side})"

    def __add__(self, other):
        return (
            NotImplemented if not isinstance(other, Shape) else type(self)(self.side + other.side)
        )

    def __len__(self):
        return self.side

    def __getitem__(self, i):
        return [self.side][i]

    def __contains__(self, x):
        return x == self.side

    def __call__(self, *a):
        return a

    def __getattr__(self, name):
        if name.startswith("dyn_"):
            return name[4:]
        raise AttributeError(f"no {name} here")


class Square(Shape):
    __match_args__ = ("side",)


class A(abc.ABC):
    @abc.abstractmethod
    def go(self): ...


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, x: T) -> "Stack[T]":
        self.items.append(x)
        return self


@runtime_checkable
class Sized(Protocol):
    def __len__(self) -> int: ...


class L:
    def who(self):
        return ["L"]


class X(L):
    def who(self):
        return ["X", *super().who()]


class Y(L):
    def who(self):
        return ["Y", *super().who()]


class Z(X, Y):
    pass


s = Square(3)
print(
    s + Square(2),
    len(s),
    s[0],
    3 in s,
    s(1),
    s.dyn_x,
    sorted(Registry.known),
    Z().who(),
    [c.__name__ for c in Z.__mro__],
)
print(
    isinstance(s, Sized),
    Stack[int]().push(1).items,
    get_type_hints(Stack.push),
    bool(Square(1)),
    callable(s),
)
match s:
    case Square(side) if side > 2:
        print("big", side)
for f in (
    lambda: Square(-1),
    lambda: s + 1,
    lambda: s.nope,
    lambda: A(),
    lambda: s[5],
    lambda: s.side.nope,
    lambda: {}[s],
    lambda: s < s,
):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


def f[K, V: int](x: dict[K, V], /, *, y: Any = None) -> list[V]:
    return list(x.values())


type Pair[T] = tuple[T, T]
print(f({1: 2}), f.__type_params__, Pair.__name__)
f(x={})
