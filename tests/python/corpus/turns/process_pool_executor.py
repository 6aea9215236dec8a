"""Process pool executor."""

from concurrent.futures import ProcessPoolExecutor


def sq(x):
    return x * x


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as ex:
        print(list(ex.map(sq, range(5))))
    with ProcessPoolExecutor() as ex:
        f = ex.submit(sq, 7)
        print(f.result(), f.done())
