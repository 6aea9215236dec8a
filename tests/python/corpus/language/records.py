from dataclasses import (
    KW_ONLY,
    asdict,
    astuple,
    dataclass,
    field,
    fields,
    replace,
    FrozenInstanceError,
    InitVar,
)
from typing import ClassVar, NamedTuple, TypedDict


@dataclass
class Base:
    name: str
    tags: list[str] = field(default_factory=list)
    count: ClassVar[int] = 0

    def __post_init__(self):
        Base.count += 1


@dataclass(order=True, frozen=True, slots=True)
class Version:
    major: int
    minor: int = 0
    _: KW_ONLY
    pre: str = field(default="", compare=False)

    def __str__(self):
        return f"{self.major}.{self.minor}{self.pre}"


@dataclass
class Child(Base):
    size: float = 1.5
    secret: str = field(default="s", repr=False)
    scale: InitVar[int] = 1

    def __post_init__(self, scale):
        super().__post_init__()
        self.size *= scale


class Point(NamedTuple):
    x: int
    y: int = 0


class Movie(TypedDict, total=False):
    title: str
    year: int


c = Child("c", ["t"], scale=4)
print(c, asdict(c), astuple(c), [f.name for f in fields(c)], Base.count)
print(
    sorted([Version(2, 1), Version(1, 9), Version(2)])[0],
    Version(1) == Version(1, pre="a"),
    hash(Version(1)) == hash(Version(1)),
)
print(
    replace(Version(1, 2), minor=5),
    Point(1),
    Point(1)._replace(y=3),
    Point._fields,
    Movie(title="x"),
    Movie.__annotations__,
)
match Point(3, 4):
    case Point(x=0):
        print("on axis")
    case Point(x, y) if x < y:
        print("above", x, y)
for make in (
    lambda: Version(),
    lambda: setattr(Version(1), "major", 2),
    lambda: Version(1, 2, "a"),
    lambda: Point(),
    lambda: Version(1) < 2,
):
    try:
        make()
    except (TypeError, FrozenInstanceError) as e:
        print(type(e).__name__, e)


@dataclass
class Bad:
    a: int = 1
    b: str
