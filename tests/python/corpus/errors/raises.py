"""End with an uncaught exception of the kind that is asked for."""

import sys


class AppError(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code

    def __str__(self):
        return f"[{self.code}] {self.args[0]}"


class Silent(Exception):
    pass


def deep(n):
    return deep(n - 1) if n else 1 / 0


def chained():
    try:
        {}["key"]
    except KeyError as e:
        raise AppError(7, "while looking up") from e


def during():
    try:
        int("x")
    except ValueError:
        [][1]


def hidden():
    try:
        int("x")
    except ValueError:
        raise RuntimeError("clean") from None


def noted():
    e = ValueError("with notes")
    e.add_note("first note")
    e.add_note("second\nnote")
    raise e


def grouped():
    raise ExceptionGroup(
        "several",
        [ValueError(1), TypeError("t"), ExceptionGroup("inner", [OSError(2, "No such", "f")])],
    )


def partly():
    try:
        raise ExceptionGroup("g", [ValueError("v"), KeyError("k")])
    except* ValueError as g:
        print("handled", g.exceptions)


def recursion():
    return recursion()


def multiline():
    raise ValueError("one\ntwo\nthree")


def hook():
    sys.excepthook = lambda kind, value, trace: print(
        "hooked", kind.__name__, value, file=sys.stderr
    )
    raise LookupError("x")


def unraisable():
    class Bad:
        def __del__(self):
            raise ValueError("in del")

    Bad()
    print("went on")


def generator():
    def g():
        yield 1
        raise StopIteration("inside")

    list(g())


KINDS = {
    "zero": lambda: 1 / 0,
    "name": lambda: undefined_name,
    "near": lambda: sys.exicutable,
    "type": lambda: "a" + 1,
    "call": lambda: deep(),
    "index": lambda: [1][2],
    "key": lambda: {"a": 1}["b"],
    "attribute": lambda: None.x,
    "value": lambda: int("abc"),
    "import": lambda: __import__("no_such_module"),
    "from": lambda: exec("from json import lods"),
    "assert": lambda: exec("assert 1 == 2, 'they differ'"),
    "unicode": lambda: b"\xff".decode(),
    "os": lambda: open("/no/such/file"),
    "stop": lambda: next(iter([])),
    "overflow": lambda: 2.0**5000,
    "memory": lambda: [0] * (2**60),
    "app": lambda: (_ for _ in ()).throw(AppError(1, "own")),
    "silent": lambda: exec("raise S", {"S": Silent}),
    "deep": lambda: deep(30),
    "chained": chained,
    "during": during,
    "hidden": hidden,
    "noted": noted,
    "group": grouped,
    "partly": partly,
    "recursion": recursion,
    "multiline": multiline,
    "hook": hook,
    "unraisable": unraisable,
    "generator": generator,
    "iter": lambda: iter(5),
    "unpack": lambda: exec("a, b = 1, 2, 3"),
    "unhashable": lambda: {[]},
    "notimpl": lambda: exec("raise NotImplementedError"),
    "kwarg": lambda: deep(m=1),
    "sub": lambda: (lambda n: n[0])(5),
    "cmp": lambda: 1 < "a",
    "fmt": lambda: f"{'x':d}",
    "eof": lambda: input(),
    "base": lambda: exec("raise BaseException('base')"),
    "notexc": lambda: exec("raise 5"),
    "timeout": lambda: exec("raise TimeoutError('slow')"),
    "unbound": lambda: exec("def f():\n print(q)\n q = 1\nf()"),
    "syntax": lambda: eval("1 +* 2"),
    "with": lambda: exec("with 5: pass"),
    "warn": lambda: exec("import warnings; warnings.warn('w')"),
    "surrogate": lambda: print("\udc80"),
}
print("before")
KINDS[sys.argv[1]]()
print("after")
