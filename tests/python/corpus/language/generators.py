import itertools
from collections.abc import Generator


def countdown(n):
    while n:
        step = yield n
        n -= step or 1
    return "lift-off"


def chain():
    result = yield from countdown(2)
    print("got", result)
    yield result


def averager() -> Generator[float, float, None]:
    total, n, value = 0.0, 0, 0.0
    try:
        while True:
            got = yield value
            total, n = total + got, n + 1
            value = total / n
    finally:
        print("closed after", n)


def flatten(x):
    for item in x:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item


print(list(chain()), list(flatten([1, [2, (3, [4])]])))
a = averager()
next(a)
print(a.send(10), a.send(20))
a.close()
g = countdown(5)
print(next(g), g.send(3), list(g))
primes = (n for n in itertools.count(2) if all(n % d for d in range(2, int(n**0.5) + 1)))
print(list(itertools.islice(primes, 10)), sum(x * x for x in range(5)))
print(
    [(a, b) for a in range(3) for b in "xy" if a],
    {k: v for k, v in zip("abc", range(3))},
    {c for c in "hello"} == set("ehlo"),
)
it = iter([1, 2, 3])
print(next(it), next(it, "none"), list(it), next(it, "none"))
first, *rest = "abcd"
print(first, rest, [*range(2), *"z"], {**{"a": 1}, "b": 2})
print([y := 3, y**2], (lambda *a, k=1, **kw: (a, k, kw))(1, 2, k=3, z=4))
print(
    list(zip([1, 2], "ab", strict=True)),
    list(map(max, [1, 5], [3, 2])),
    sorted("bA", key=str.lower),
)
list(zip([1], "ab", strict=True))
