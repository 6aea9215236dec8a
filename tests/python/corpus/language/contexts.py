import contextlib
import io
import sys


class Room:
    def __init__(self, name, swallow=False):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("enter", self.name)
        return self

    def __exit__(self, kind, value, trace):
        print("exit", self.name, kind.__name__ if kind else None)
        return self.swallow


@contextlib.contextmanager
def tag(name):
    print(f"<{name}>")
    try:
        yield name.upper()
    finally:
        print(f"</{name}>")


with Room("a"), tag("b") as b:
    print(b)
with Room("c", swallow=True):
    1 / 0
with contextlib.suppress(KeyError), tag("d"):
    {}["x"]
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(sys.stdout):
    print("hidden")
print("captured", out.getvalue())
with contextlib.ExitStack() as stack:
    rooms = [stack.enter_context(Room(n)) for n in "xy"]
    stack.callback(print, "callback")
with contextlib.closing(io.StringIO("z")) as z:
    print(z.read())
print(z.closed)
with contextlib.nullcontext(5) as n, Room("last"):
    raise ValueError("through")
