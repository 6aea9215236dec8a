import traceback, sys


def f():
    g()


def g():
    raise KeyError("x")


try:
    f()
except KeyError:
    traceback.print_exc(file=sys.stdout)
try:
    try:
        f()
    except KeyError as e:
        raise RuntimeError("outer") from e
except RuntimeError as e:
    print("".join(traceback.format_exception(e)))


class E(Exception):
    pass


raise E("end")
