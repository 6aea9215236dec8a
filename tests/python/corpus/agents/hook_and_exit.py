import contextvars, gc, weakref, atexit, sys


class A:
    pass


a = A()
r = weakref.ref(a)
del a
print(r() is None)
atexit.register(lambda: print("exit"))
sys.excepthook = lambda t, v, tb: print("hook", t.__name__, v)
raise ValueError("x")
