import copyreg
import io
import json
import marshal
import pickle
import shelve
from collections import namedtuple
from dataclasses import dataclass

P = namedtuple("P", "x y")


@dataclass
class Node:
    value: int
    next: "Node | None" = None

    def __reduce__(self):
        return (Node, (self.value, self.next))


class Conn:
    def __init__(self):
        self.socket, self.name = object(), "c"

    def __getstate__(self):
        return {"name": self.name}

    def __setstate__(self, state):
        self.__dict__.update(state, socket=None)


values = [
    1,
    2.5,
    "ü",
    b"x",
    None,
    {1: [2, (3,)]},
    {4},
    P(1, 2),
    Node(1, Node(2)),
    complex(1, 2),
    range(3),
    10**30,
]
for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
    assert pickle.loads(pickle.dumps(values, protocol)) == values
print(pickle.HIGHEST_PROTOCOL, pickle.dumps([1, "a"], 2), pickle.loads(pickle.dumps(Conn())).socket)
a = [1]
a.append(a)
b = pickle.loads(pickle.dumps(a))
print(b[1] is b, marshal.loads(marshal.dumps({"a": (1, 2)})))
with open("v.pickle", "wb") as f:
    pickle.dump(values[:3], f, protocol=4)
    pickle.dump("second", f, 4)
with open("v.pickle", "rb") as f:
    print(pickle.load(f), pickle.load(f))


class Safe(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name} is not allowed")


for bad in (
    lambda: pickle.loads(b"junk"),
    lambda: pickle.loads(b""),
    lambda: Safe(io.BytesIO(pickle.dumps(P(1, 2)))).load(),
    lambda: pickle.dumps(open("v.pickle")),
    lambda: pickle.loads(b"\x80\xff."),
):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, e)
pickle.dumps((i for i in ()))
