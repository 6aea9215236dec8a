"""Pool initializer."""

from multiprocessing import Pool
import os

cfg = None


def init(c):
    global cfg
    cfg = c


def w(x):
    return cfg * x


def boom(x):
    if x == 2:
        raise ValueError("two")
    return x


if __name__ == "__main__":
    with Pool(2, initializer=init, initargs=(10,)) as p:
        print(p.map(w, [1, 2, 3]), cfg)
    with Pool(2) as p:
        r = []
        p.apply_async(w_ok := boom, (1,), callback=r.append).wait()
        print(r)
        try:
            p.map(boom, [1, 2, 3])
        except ValueError as e:
            print("E", e)
