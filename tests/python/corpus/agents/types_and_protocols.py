from __future__ import annotations
import sys, json, abc, contextlib, operator, functools
from typing import Protocol, NamedTuple, TypedDict, Literal, Self, overload, Annotated, Generic


class Base(abc.ABC):
    @abc.abstractmethod
    def run(self) -> int: ...


class Impl(Base):
    def run(self):
        return 3


class N(NamedTuple):
    a: int
    b: str = "z"


class TD(TypedDict, total=False):
    k: int


try:
    Base()
except TypeError as e:
    print(e)
print(
    Impl().run(),
    N(1),
    N(1)._asdict(),
    TD(k=1),
    json.dumps({"a": 1, "b": [None, True]}, indent=2, sort_keys=True),
)


@functools.singledispatch
def f(x):
    return "obj"


@f.register
def _(x: int):
    return "int"


print(
    f(1),
    f(""),
    functools.reduce(operator.mul, [1, 2, 3]),
    f"{3.14159:.2f} {'x':>5} {42:#x} {1e6:,.0f} {'a'!r}",
)


def gen():
    x = yield 1
    yield x


g = gen()
print(next(g), g.send(5))
