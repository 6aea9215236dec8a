import functools
import time


def logged(function=None, *, prefix="call"):
    if function is None:
        return functools.partial(logged, prefix=prefix)

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print(prefix, function.__name__, args, kwargs)
        return function(*args, **kwargs)

    return wrapper


def retry(times, *errors):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args):
            for attempt in range(1, times + 1):
                try:
                    return function(*args, attempt)
                except errors as e:
                    print(f"attempt {attempt}: {e!r}")
            raise RuntimeError(f"gave up after {times}") from None

        return wrapper

    return decorate


@logged(prefix="->")
def area(w, h=2):
    """Return an area."""
    return w * h


@retry(3, ValueError)
def flaky(limit, attempt):
    if attempt < limit:
        raise ValueError(attempt)
    return f"ok at {attempt}"


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.singledispatch
def show(value):
    return f"? {value}"


@show.register
def _(value: int | float):
    return f"number {value}"


@show.register(list)
def _(value):
    return "list of " + ", ".join(map(show, value))


class Lazy:
    @functools.cached_property
    def value(self):
        print("computing")
        return 42

    @staticmethod
    def s():
        return "static"

    @classmethod
    def c(cls):
        return cls.__name__


@functools.total_ordering
class Size:
    def __init__(self, n):
        self.n = n

    def __eq__(self, o):
        return self.n == o.n

    def __lt__(self, o):
        return self.n < o.n


print(area(3), area.__doc__, area.__wrapped__(2, h=5), flaky(2), fib(80), fib.cache_info())
lazy = Lazy()
print(lazy.value, lazy.value, Lazy.s(), Lazy.c(), show([1, "x", 2.5]), Size(1) >= Size(0))
print(functools.reduce(lambda a, b: a * b, range(1, 6)), functools.partial(int, base=2)("101"))
flaky(9)
