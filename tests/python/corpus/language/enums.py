import enum


class Colour(enum.Enum):
    RED = 1
    GREEN = enum.auto()
    CRIMSON = 1

    @property
    def pretty(self):
        return self.name.title()


class Access(enum.Flag):
    READ = enum.auto()
    WRITE = enum.auto()
    RW = READ | WRITE


class Level(enum.IntEnum):
    LOW = 10
    HIGH = 20


class Kind(enum.StrEnum):
    A = enum.auto()
    B = "bee"


print(list(Colour), Colour(2), Colour["RED"], Colour.CRIMSON is Colour.RED, Colour.GREEN.pretty)
print(
    Access.RW,
    Access.READ in Access.RW,
    ~Access.READ,
    list(Access.RW),
    Access(0),
    Access.READ | Access.WRITE,
)
print(
    Level.LOW < Level.HIGH,
    Level.LOW + 1,
    f"{Level.LOW}",
    str(Kind.A),
    Kind.B == "bee",
    f"{Kind.B:>5}",
)
print(Colour.__members__.keys(), repr(Kind.A), enum.Enum("Animal", "CAT DOG").DOG)
try:

    @enum.unique
    class Twice(enum.Enum):
        A = 1
        B = 1
except ValueError as e:
    print(e)
try:
    Colour.RED = 5
except AttributeError as e:
    print(e)
Colour(9)
