import sys


def shape(v):
    match v:
        case None | True | False:
            return "constant"
        case int(n) if n > 100:
            return f"large {n}"
        case int() | float():
            return "number"
        case "":
            return "empty"
        case str(s):
            return f"text of {len(s)}"
        case []:
            return "nothing"
        case [x]:
            return f"one: {shape(x)}"
        case [first, *_, last]:
            return f"{first}…{last}"
        case {"type": "circle", "r": r, **rest}:
            return f"circle {r} {sorted(rest)}"
        case {"type": ("a" | "b") as t}:
            return f"kind {t}"
        case {}:
            return "mapping"
    return "other"


for v in (
    None,
    101,
    2.5,
    "",
    "abc",
    [],
    [[]],
    (1, 2, 3),
    {"type": "circle", "r": 2, "x": 1},
    {"type": "b"},
    {},
    object,
):
    print(shape(v))
word = sys.argv[1] if len(sys.argv) > 1 else "go north"
match word.split():
    case ["go", ("north" | "south") as way]:
        print("walking", way)
    case ["quit"]:
        sys.exit(0)
    case other:
        sys.exit(f"what is {other}?")
