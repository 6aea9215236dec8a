import ast
import dis
import importlib
import inspect
import io
import keyword
import os
import pkgutil
import platform
import pprint
import sys
import sysconfig
import tokenize
import types


def sample(a, b: int = 2, *args, c, d=4, **kw) -> str:
    """Say something."""
    return f"{a}{b}"


print(
    inspect.signature(sample),
    inspect.getdoc(sample),
    inspect.getsource(sample).count("\n"),
    sample.__code__.co_varnames,
    sample.__defaults__,
    sample.__kwdefaults__,
    sample.__annotations__,
)
tree = ast.parse("x = 1 + 2 * 3\nprint(x)")
print(
    ast.dump(tree.body[0]),
    ast.unparse(tree),
    ast.literal_eval("{'a': [1, -2.5, None]}"),
    [type(n).__name__ for n in ast.walk(tree.body[1])],
)
print(
    [t.string for t in tokenize.generate_tokens(io.StringIO("a+=f(1)  # c\n").readline)][:6],
    keyword.iskeyword("match"),
    keyword.issoftkeyword("match"),
)
pprint.pprint({"key": list(range(20)), "other": {"nested": ["x" * 30, "y" * 30]}}, width=60)
space = {}
exec(compile("def f(n):\n    return n * k\nk = 3", "<made>", "exec"), space)
print(
    space["f"](4),
    eval("a + 1", {"a": 1}),
    callable(importlib.import_module("json").dumps),
    sys.version_info >= (3, 13),
    sys.implementation.name,
    sys.maxsize > 2**31 - 2,
    sys.getrecursionlimit(),
)
frame = inspect.currentframe()
print(
    frame.f_code.co_name,
    __name__,
    __file__,
    sys.argv,
    inspect.isgeneratorfunction(sample),
    [n for n, _ in inspect.getmembers(types.SimpleNamespace(q=1)) if not n.startswith("_")],
)
print(
    type("Made", (), {"x": 1})().x,
    sys.getsizeof(0) > 0,
    id(1) == id(1),
    hash("a") == hash("a"),
    vars(types.SimpleNamespace(a=1)),
    dir(types.SimpleNamespace(b=1))[-1],
    sys.path[0],
)
print(
    importlib.util.find_spec("no_such_module") if hasattr(importlib, "util") else None,
    "json" in sys.modules,
    platform.python_implementation(),
    os.name,
    os.sep,
    os.linesep.encode(),
)
for bad in (
    lambda: ast.literal_eval("f()"),
    lambda: eval("1 +"),
    lambda: exec("x = ="),
    lambda: inspect.signature(5),
    lambda: importlib.import_module("no_such"),
    lambda: compile("a", "f", "bad"),
    lambda: globals()["nope"],
    lambda: ast.parse("def"),
):
    try:
        bad()
    except Exception as e:
        print(type(e).__name__, str(e).partition(": ")[0])
