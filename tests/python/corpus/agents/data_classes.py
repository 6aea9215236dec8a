import dataclasses, typing, enum, functools, itertools, collections


@dataclasses.dataclass(order=True, slots=True)
class P:
    x: int
    y: float = 1.5
    tags: list[str] = dataclasses.field(default_factory=list, compare=False)


class C(enum.StrEnum):
    A = enum.auto()
    B = "b"


print(
    P(1),
    dataclasses.asdict(P(2, tags=["q"])),
    P(1) < P(2),
    C.A,
    list(C),
    dataclasses.replace(P(1), y=3),
)


@functools.cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(
    fib(90),
    fib.cache_info(),
    list(itertools.batched("abcdefg", 3)),
    collections.Counter("abracadabra").most_common(2),
)
T = typing.TypeVar("T")


def f(x: int | None) -> list[T]: ...


print(typing.get_type_hints(f))
match {"k": [1, 2, {"z": 3}]}:
    case {"k": [a, *_, {"z": z}]}:
        print(a, z)
